/*
 * Choice of the ranks of a matrix product for an axis. An axis that shares transfers takes the ranks that share some,
 * and other ranks only if they put more instances to work. The masks of a problem are computed by hand; all spreads of a
 * search are compared with the rule.
 */
#include <math.h>
#include "tests/unit/mapper/job.h"

#include "mapper/divisors/divisors_internal.h"

enum { M = 1, N = 2, K = 4, ALL = M | N | K };
typedef enum { DEFAULT, ANY, PLAIN } limits_of;

typedef struct {
    const char *name;
    unsigned m, n, k, size;
    const char *shares;          /* of the network */
    limits_of limits;
    uint32_t ranks, others, filled; /* of the axis: masks, and how many instances the rest fill if there are others */
} filled_case;

/* A[m, k] and B[k, n] are the same along n and m, Z[m, n] along k. */
static const filled_case cases[] = {
    { "no network", 4, 4, 4, 4, "", DEFAULT, ALL, 0, 0 },
    { "results are shared", 8, 8, 4, 4, "reduce = x;", DEFAULT, K, 0, 0 },
    { "too few to share results", 8, 8, 2, 4, "reduce = x;", DEFAULT, ALL, M | N, 2 },
    { "none to share results", 8, 8, 1, 4, "reduce = x;", DEFAULT, ALL, M | N, 1 },
    { "others fill no more", 1, 3, 2, 4, "reduce = x;", DEFAULT, ALL, M | N, 2 },
    { "others are too few", 1, 2, 3, 4, "reduce = x;", DEFAULT, K, 0, 0 },
    { "others fill more only with all", 1, 3, 2, 6, "reduce = x;", DEFAULT, ALL, M | N, 2 },
    { "operands are shared", 4, 2, 8, 8, "multicast = x;", DEFAULT, M | N, 0, 0 },
    { "two ranks fill more than one", 2, 3, 8, 8, "multicast = x;", DEFAULT, ALL, K, 6 },
    { "others fill no more than two ranks", 2, 3, 8, 7, "multicast = x;", DEFAULT, M | N, 0, 0 },
    { "two ranks fill less than the larger with a third", 3, 3, 4, 4, "multicast = x;", DEFAULT, ALL, K, 3 },
    { "divisors fill what extents do not", 12, 1, 4, 5, "multicast = x;", DEFAULT, M | N, 0, 0 },
    { "a prime that does not fit", 7, 1, 4, 6, "multicast = x;", DEFAULT, ALL, K, 1 },
    { "all share some", 4, 4, 4, 4, "multicast = x; reduce = x;", DEFAULT, ALL, 0, 0 },
    { "one operand is shared", 2, 4, 4, 4, "multicast = x(B);", DEFAULT, ALL, N | K, 2 },
    { "any", 8, 8, 4, 4, "reduce = x;", ANY, ALL, 0, 0 },
    { "any, too few to share", 8, 8, 2, 4, "reduce = x;", ANY, ALL, 0, 0 },
    { "of a certificate", 8, 8, 2, 4, "reduce = x;", PLAIN, K, 0, 0 },
    { "as large as it can be", 64, 64, 2, 4096, "reduce = x;", DEFAULT, ALL, M | N, 2 },
    { "too large to find out", 64, 64, 2, 4097, "reduce = x;", DEFAULT, K, 0, 0 },
};

/* Number of visited spreads over axis 0, and number of spreads that break the rule. */
static void look(dfl_search *s)
{
    const dfl_problem_axis *axis = &s->problem->axis[0];
    double at_work = 1;
    bool any = false, others = false;

    for (uint32_t r = 0; r < s->problem->n_ranks; r++) {
        at_work *= (double)s->parts[0][r];
        any |= s->parts[0][r] > 1 && !(axis->ranks >> r & 1);
        others |= s->parts[0][r] > 1 && (axis->others >> r & 1);
    }
    s->rows->evaluated = s->rows->evaluated / 1000000 * 1000000 + 1000000; /* counts the spreads */
    assert_false(any);
    assert_false(others && at_work <= dfl_problem_filled(s->problem, 0, s->whole[0]));
}

/* Spreads that are allowed, from rank `r` on. */
static uint32_t spreads(const dfl_problem *problem, uint32_t r, int64_t at_work, bool others)
{
    const dfl_problem_axis *axis = &problem->axis[0];
    uint32_t n = 0;

    if (r == problem->n_ranks)
        return !others || (double)at_work > dfl_problem_filled(problem, 0, (const double[]){ 1, 1, 1 });
    for (int64_t d = 1; d * at_work <= axis->size && (d == 1 || (axis->ranks >> r & 1)); d++)
        if (problem->extent[r] % d == 0)
            n += spreads(problem, r + 1, at_work * d, others || (d > 1 && (axis->others >> r & 1)));
    return n;
}

static void fills(void **state)
{
    const filled_case *c = *state;
    dfl_session *s = dfl_session_new(NULL);
    const char *text = dfl_arena_printf(s->arena,
        "workload mm : i8 { rank m = %u, n = %u, k = %u; input A[m, k], B[k, n]; output Z[m, n] += A[m, k] * B[k, n]; }\n"
        "system chip {\n    memory dram { size = unlimited; bandwidth = 1B/s; energy = 9pJ/bit; }\n%s%s%s    array x[%u]%s {\n"
        "        compute mac { rate { mac = 1MAC/s; } energy { mac = 1pJ/MAC; } }\n    }\n}\n"
        "mapping m for mm on chip { ...; minimize energy; }\n", c->m, c->n, c->k, c->shares[0] ? "    network links = bus { "
            : "",
        c->shares, c->shares[0] ? " }\n" : "", c->size, c->shares[0] ? " over links" : "");
    dfl_deadline halt = { .budget = dfl_arena_budget(s->arena) };
    dfl_tile_goal goal = { .of = { .value = dfl_value_joules }, .by_energy = true, .by_time = true, .limit = INFINITY,
                           .halt = &halt };
    const dfl_problem_limits limits = { .spread = c->limits == ANY, .plain = c->limits == PLAIN };
    const dfl_tiling_template form = { .allow = { ALL }, .innermost = { -1, -1, -1 } };
    dfl_arena *scratch = dfl_arena_new(NULL);
    dfl_pareto_set *rows = dfl_pareto_set_new(s->arena, scratch);
    dfl_problem problem;

    (void)open_problem(s, text, &limits, &problem);
    assert_int_equal(problem.axis[0].ranks, c->ranks);
    assert_int_equal(problem.axis[0].others, c->others);
    assert_int_equal(dfl_problem_filled(&problem, 0, (const double[]){ 1, 1, 1 }), c->filled);
    assert_true(dfl_tile_search(rows, &problem, &form, &goal)); /* prepares it */
    rows->evaluated = 0;
    dfl_spatials_each(rows->search, look);
    assert_int_equal(rows->evaluated / 1000000, spreads(&problem, 0, 1, false));
    dfl_arena_free(scratch);
    dfl_session_free(s);
}

int main(void) { return CHECK_TABLE("mapper.filled", cases, fills); }
