/* Which loops stay open between the einsums of a joined mapping. */
#include "mapper/exact/open_loops.h"

#include "mapper/exact/join.h"
#include "mapper/exact/shared_inputs.h"

/* The einsum behind `e` that reads the tensor next, or `e`. */
static uint32_t next_reader(const dfl_tensor *t, uint32_t e)
{
    for (uint32_t i = 0; i < t->n_consumers; i++)
        if (t->consumers[i] > e)
            return t->consumers[i];
    return e;
}

bool dfl_join_goes_on(const dfl_join_result *r, const dfl_problem *problem, uint32_t einsum, uint32_t o)
{
    const dfl_pmapping *row = r->rows[einsum];

    return problem->operand[o].common != 0 && dfl_shared_input_served(row->problem, row->form, o) && !(r->ends[einsum] >> o & 1);
}

uint32_t dfl_join_depth(const dfl_join_result *r, uint32_t einsum, uint32_t depth)
{
    uint32_t k = 0;

    for (uint32_t own = 0; own < depth; k++)
        own += !(r->skipped[einsum] >> k & 1);
    return k;
}

void dfl_join_find_open(const dfl_workload *w, const dfl_join_step *steps, dfl_join_result *r)
{
    for (uint32_t e = 0; e < w->n_einsums; e++) {
        const dfl_problem *problem = steps[e].problem;
        for (uint32_t o = 0; o < problem->n_operands; o++) {
            const dfl_tensor *t = &w->tensors[problem->operand[o].tensor];
            if (!dfl_join_goes_on(r, problem, e, o) && !(problem->operand[o].output && problem->operand[o].shared))
                continue;
            uint32_t last = problem->operand[o].output ? t->consumers[t->n_consumers - 1] : next_reader(t, e);
            for (uint32_t f = e, depth = dfl_join_depth(r, e, r->rows[e]->way.depth[o]); f < last; f++)
                r->open[f] = depth > r->open[f] ? depth : r->open[f];
        }
    }
}
