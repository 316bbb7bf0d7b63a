/*
 * Templates with pass-through loops, counted by hand: an einsum U[i, j] = P * Q[i, j] with an outer memory and a memory
 * on the chip. The chip may keep Q; it may keep P, which another einsum makes, or exchange P. Q is read inwards as
 * often as it enters, so a keep of Q is useful only above the exchange of P. That leaves, from outer to inner, P
 * exchanged; Q kept, P exchanged; nothing; P kept.
 */
#include <math.h>

#include "tests/harness/check.h"

#include "mapper/skeleton/template.h"

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

int main(void)
{
    return CHECK_TABLE("mapper.template", cases, has_templates);
}
