/*
 * Templates with pass-through loops, counted by hand: an einsum U[i, j] = P * Q[i, j] with an outer memory and a memory
 * on the chip. The chip may keep Q; it may keep P, which another einsum makes, or exchange P. Q is read inwards as
 * often as it enters, so a keep of Q is useful only above the exchange of P. That leaves, from outer to inner, P
 * exchanged; Q kept, P exchanged; nothing; P kept.
 */
#include <math.h>

#include "tests/harness/check.h"

#include "mapper/skeleton/fixed_skeletons.h"

enum { I = 1, J = 2, OUTER = 0, INNER = 1, P = 0, Q = 1, U = 2 };

typedef struct {
    const char *name;
    uint32_t ranks;              /* of P */
    bool through, keeps;
    uint32_t n, above;           /* number of templates; number of those with Q above the exchange */
} template_case;

static const template_case cases[] = {
    { "without loops of others", I, false, false, 4, 1 },
    { "without loops of others, a single element", 0, false, false, 4, 1 },
    { "each has one gap for them", I, true, false, 4, 1 },
    { "and behind a keep another one", I, true, true, 5, 1 },
    /* no loop can be shared for P, so the lower bound of the einsum contains the transfers of Q */
    { "not below a keep that is above no loop", 0, true, false, 3, 0 },
    { "unless that does not matter", 0, true, true, 5, 1 },
};

typedef struct { uint32_t n, above; } counts;

static bool count(void *context, const dfl_tiling_template *t)
{
    counts *k = context;

    k->n++;
    k->above += t->n_keeps == 2 && t->keep[0].operand == Q && t->keep[1].home;
    return true;
}

static void has_templates(void **state)
{
    const template_case *c = *state;
    dfl_problem problem = { .n_ranks = 2, .n_operands = 3, .n_places = 2, .extent = { 4, 4 }, .points = 16 };
    counts k = { 0 };

    for (uint32_t p = OUTER; p <= INNER; p++)
        problem.place[p] = (dfl_problem_place){ .memory = p, .bits = INFINITY, .buffers = 1 };
    problem.operand[P] = (dfl_problem_operand){ .shared = true, .ranks = c->ranks, .plain = c->ranks, .places = 1u << INNER };
    problem.operand[Q] = (dfl_problem_operand){ .ranks = I | J, .plain = I | J, .places = 1u << INNER };
    problem.operand[U] = (dfl_problem_operand){ .output = true, .ranks = I | J, .plain = I | J };
    if (c->through)
        dfl_templates_through(&problem, NULL, c->keeps, count, &k);
    else
        dfl_templates_each(&problem, NULL, count, &k);
    assert_int_equal(k.n, c->n);
    assert_int_equal(k.above, c->above);
}

/*
 * Orders of keeps end early where all templates that begin so are left out, but not where windows slide. Without axes and sums of
 * ranks the flag of windows changes nothing else, so with it the same templates come in the same order.
 */
enum { DRAWN = 200, LISTED = 20000 };

typedef struct { uint32_t n; uint64_t sum; } listed;

static bool add(void *context, const dfl_tiling_template *t)
{
    listed *k = context;

    k->sum = k->sum * 31 + t->needs + t->shared_gaps;
    for (uint32_t i = 0; i < t->n_keeps; i++)
        k->sum = k->sum * 31 + t->keep[i].operand + 8u * t->keep[i].place + 64u * t->keep[i].home + 128u * t->allow[i];
    return ++k->n < LISTED;
}

static uint32_t draw(uint32_t *seed, uint32_t n)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 16) % n;
}

static dfl_problem draw_problem(uint32_t *seed)
{
    dfl_problem out = { .n_ranks = 1 + draw(seed, 3), .n_operands = 2 + draw(seed, 3), .n_places = 2 + draw(seed, 2),
                        .points = 64, .waits = draw(seed, 2) == 0 };

    for (uint32_t p = 0; p < out.n_places; p++)
        out.place[p] = (dfl_problem_place){ .memory = p, .bits = draw(seed, 4) == 0 ? 1 : INFINITY, .buffers = 1,
                                            .waits = draw(seed, 2) == 0 };
    for (uint32_t o = 0; o < out.n_operands; o++) {
        const uint32_t ranks = draw(seed, 1u << out.n_ranks), inner = (1u << out.n_places) - 2;
        out.operand[o] = (dfl_problem_operand){ .shared = draw(seed, 3) == 0, .output = o + 1 == out.n_operands, .bits = 1,
                                                .ranks = ranks, .plain = ranks, .places = inner };
    }
    return out;
}

static void ends_early(void **state)
{
    uint32_t seed = 1, n = 0;
    (void)state;

    for (uint32_t i = 0; i < DRAWN; i++) {
        dfl_problem problem = draw_problem(&seed);
        listed early = { 0 }, whole = { 0 };

        dfl_templates_each(&problem, NULL, add, &early);
        problem.windows = true;
        dfl_templates_each(&problem, NULL, add, &whole);
        assert_int_equal(early.n, whole.n);
        assert_true(early.sum == whole.sum);
        n += early.n;
    }
    assert_true(n > 10 * DRAWN); /* so many skeletons that the test says something */
}

/* One place for lines: the chip may keep Q[i, j], each element of which goes inwards as often as it comes in. A keep with a second
   buffer, filled beside the work, spares the unit the reads of the outer memory (rule D6). */
typedef struct {
    const char *name;
    bool waits, waits_inside;    /* transfers take time besides the work; the work waits for what fills the chip */
    uint32_t n;                  /* templates */
} written_case;

static const written_case written_cases[] = {
    { "nothing waits", false, false, 1 },
    { "the work waits for the keep, too", true, true, 1 },
    { "the keep is filled beside the work", true, false, 2 },
};

static void has_written(void **state)
{
    const written_case *c = *state;
    const dfl_fixed_lines given = { .n = 1, .at = { { .kind = DFL_GIVEN_ANY } } };
    dfl_problem problem = { .n_ranks = 2, .n_operands = 3, .n_places = 2, .extent = { 4, 4 }, .points = 16, .waits = c->waits,
                            .given = &given };
    counts k = { 0 };

    problem.place[OUTER] = (dfl_problem_place){ .memory = OUTER, .bits = INFINITY, .buffers = 1 };
    problem.place[INNER] = (dfl_problem_place){ .memory = INNER, .bits = INFINITY, .buffers = 1, .waits = c->waits_inside };
    for (uint32_t o = P; o <= U; o++)
        problem.operand[o] = (dfl_problem_operand){ .ranks = I | J, .plain = I | J, .output = o == U };
    problem.operand[Q].places = 1u << INNER;
    dfl_fixed_lines_each(&problem, NULL, count, &k);
    assert_int_equal(k.n, c->n);
}

int main(void)
{
    static const struct CMUnitTest drawn[] = { cmocka_unit_test(ends_early) };

    return CHECK_TABLE("mapper.template", cases, has_templates) +
           CHECK_TABLE("mapper.template.written", written_cases, has_written) + CHECK_GROUP("mapper.template.drawn", drawn);
}
