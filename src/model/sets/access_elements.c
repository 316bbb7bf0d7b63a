/* Elements of accesses. */
#include "model/sets/access_elements.h"

#include "support/vec.h"

/* The indices of one dimension of an access over the whole run, inside the shape. */
static void whole_index(const dfl_setting *set, const dfl_access *a, uint32_t d, dfl_runs *out)
{
    dfl_runs all = { 0 }, next = { 0 }, rank = { 0 }, shape = { 0 };

    dfl_runs_add(set->arena, &all, a->index[d].offset, a->index[d].offset + 1);
    for (uint32_t k = 0; k < a->index[d].n_terms; k++) {
        dfl_runs_clear(&rank);
        dfl_runs_add(set->arena, &rank, 0, set->w->ranks[a->index[d].terms[k].rank].extent);
        dfl_runs_sum(set->arena, &next, &all, a->index[d].terms[k].coef, &rank);
        dfl_runs swap = all;
        all = next;
        next = swap;
    }
    dfl_runs_add(set->arena, &shape, 0, set->w->tensors[a->tensor].extents[d]);
    dfl_runs_intersect(set->arena, out, &all, &shape);
}

bool dfl_flow_distinct(dfl_setting *set, const dfl_access *a, dfl_i128 *out)
{
    dfl_runs index = { 0 };
    bool over = false;

    *out = 1;
    for (uint32_t d = 0; d < a->n_dims; d++) {
        whole_index(set, a, d, &index);
        over |= dfl_mul(*out, dfl_runs_count(&index), out);
    }
    if (!dfl_budget_ok(dfl_arena_budget(set->arena)))
        return dfl_report_stop(set->sink, dfl_arena_budget(set->arena));
    return over ? dfl_flow_too_big(set, a->span) : true;
}

bool dfl_flow_within(dfl_setting *set, const dfl_access *a, const dfl_access *made)
{
    dfl_runs inner = { 0 }, outer = { 0 }, rest = { 0 };
    bool some = false;

    for (uint32_t d = 0; d < a->n_dims; d++) {
        whole_index(set, a, d, &inner);
        if (inner.n == 0)
            return true; /* nothing of it is inside the shape */
        whole_index(set, made, d, &outer);
        dfl_runs_subtract(set->arena, &rest, &inner, &outer);
        some |= rest.n > 0;
    }
    return !some;
}
