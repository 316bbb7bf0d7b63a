/*
 * Bounds of the cost behind an einsum of one period and of a later period, by hand. A0 and B0 are made by einsums 0 and
 * 1, read by 2; A1 and B1 by 3 and 4, read by 5. All are exchanged in memory 0 or 1, and reading costs the joules of a
 * table, by the memories of A and of B. Making is free. The bound behind einsum 2 is the cost of einsum 2 plus the
 * least cost of einsum 5.
 */
#include "tests/harness/check.h"

#include "mapper/exact/cost_to_go.h"

enum { EINSUMS = 6, TENSORS = 6, READERS = 2, WAYS = 4 };

typedef struct {
    const char *name;
    uint32_t a1, b1;             /* numbers of A1 and B1; A0 is 0, B0 is 1 */
    double first[WAYS], second[WAYS]; /* joules of the readers: memory of A + 2 * memory of B */
    double by;
    bool fall;
} bounds_case;

static const bounds_case cases[] = {
    { "the same costs, no less than the second reader", 2, 3, { 1, 2, 4, 8 }, { 1, 2, 4, 8 }, 1, true },
    { "a little less", 2, 3, { 1, 2, 4, 8 }, { 1, 2, 4, 8 }, 0.99, false },
    { "in another order", 3, 2, { 1, 2, 4, 8 }, { 1, 2, 4, 8 }, 1, true },
    { "in another order, a little less", 3, 2, { 1, 2, 4, 8 }, { 1, 2, 4, 8 }, 0.99, false },
    /* with A in memory 1 and B in 0: 2 and the least of the second reader, 1, to 4; then 4 and 1 to 2 */
    { "what costs more elsewhere is enough", 2, 3, { 1, 2, 4, 8 }, { 1, 4, 4, 8 }, 1, true },
    { "other costs", 2, 3, { 1, 4, 4, 8 }, { 1, 2, 4, 8 }, 2.9, false },
    { "other costs, enough", 2, 3, { 1, 4, 4, 8 }, { 1, 2, 4, 8 }, 3, true },
    /* with A in memory 0 and B in 1: 4 and 1 to 2; by the order of the numbers it would be 2 and 1 to 2 */
    { "other costs in another order", 3, 2, { 1, 2, 4, 8 }, { 1, 4, 2, 8 }, 1, false },
    { "other costs in another order, enough", 3, 2, { 1, 2, 4, 8 }, { 1, 4, 2, 8 }, 3, true },
};

static uint32_t later(const void *context, uint32_t tensor)
{
    const bounds_case *c = context;

    return tensor == 0 ? c->a1 : tensor == 1 ? c->b1 : DFL_NONE;
}

static void falls(void **state)
{
    const bounds_case *c = *state;
    const uint32_t makes[EINSUMS] = { 0, 1, 4, c->a1, c->b1, 5 };
    uint32_t producer[TENSORS], consumer[TENSORS];
    dfl_tensor tensors[TENSORS] = { { .n_dims = 0 } };
    dfl_workload w = { .n_einsums = EINSUMS, .n_tensors = TENSORS, .tensors = tensors };
    dfl_problem *problems;
    dfl_pattern patterns[EINSUMS][WAYS];
    dfl_bound_step steps[EINSUMS];
    const dfl_later pairs = { later, c };
    dfl_arena *arena = dfl_arena_new(NULL);
    const dfl_cost_to_go *b;
    dfl_criteria by = dfl_criteria_zero();

    problems = DFL_NEW_ARRAY(arena, dfl_problem, EINSUMS);
    for (uint32_t e = 0; e < EINSUMS; e++) {
        uint32_t t = makes[e];
        bool reads = e == 2 || e == 5;
        producer[t] = e;
        consumer[t] = e < 3 ? 2 : 5;
        tensors[t].producers = &producer[t];
        tensors[t].n_producers = 1;
        tensors[t].consumers = &consumer[t];
        tensors[t].n_consumers = reads ? 0 : 1;
        problems[e].n_operands = reads ? 3 : 1;
        if (reads) {
            problems[e].operand[0] = (dfl_problem_operand){ .tensor = e == 2 ? 0 : c->a1, .shared = true };
            problems[e].operand[1] = (dfl_problem_operand){ .tensor = e == 2 ? 1 : c->b1, .shared = true };
        }
        problems[e].operand[reads ? 2 : 0] = (dfl_problem_operand){ .tensor = t, .output = true, .shared = !reads };
        for (uint32_t i = 0; i < WAYS; i++) {
            patterns[e][i] = (dfl_pattern){ .memory = { i % 2, reads ? i / 2 : 0 }, .least = dfl_criteria_zero() };
            if (reads)
                patterns[e][i].least.at[DFL_COST_JOULES] = (e == 2 ? c->first : c->second)[i];
        }
        steps[e] = (dfl_bound_step){ .problem = &problems[e], .patterns = patterns[e], .n = reads ? WAYS : 2 };
    }
    b = dfl_cost_to_go_make(arena, &w, steps);
    by.at[DFL_COST_JOULES] = c->by;
    assert_int_equal(dfl_cost_to_go_fall_by(b, 2, 5, &pairs, &by), c->fall);
    dfl_arena_free(arena);
}

int main(void)
{
    return CHECK_TABLE("mapper.bounds", cases, falls);
}
