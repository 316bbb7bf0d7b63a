/* Distinct elements that an access touches over the whole run. */
#include "model/sets/access_elements.h"

#include "support/vec.h"

/* Adds to `out` the indices of dimension `d` that an access touches over the whole run, clipped to the shape. */
static void whole_index(const dfl_nest *nest, const dfl_access *a, uint32_t d, dfl_interval_set *out)
{
    dfl_interval_set all = { 0 }, next = { 0 }, rank = { 0 }, shape = { 0 };

    dfl_interval_set_add(nest->arena, &all, a->index[d].offset, a->index[d].offset + 1);
    for (uint32_t k = 0; k < a->index[d].n_terms; k++) {
        dfl_interval_set_clear(&rank);
        dfl_interval_set_add(nest->arena, &rank, 0, nest->workload->ranks[a->index[d].terms[k].rank].extent);
        dfl_interval_set_sum(nest->arena, &next, &all, a->index[d].terms[k].coef, &rank);
        dfl_interval_set swap = all;
        all = next;
        next = swap;
    }
    dfl_interval_set_add(nest->arena, &shape, 0, nest->workload->tensors[a->tensor].extents[d]);
    dfl_interval_set_intersect(nest->arena, out, &all, &shape);
}

bool dfl_access_elements_count(dfl_nest *nest, const dfl_access *a, dfl_i128 *out)
{
    dfl_interval_set index = { 0 };
    bool over = false;

    *out = 1;
    for (uint32_t d = 0; d < a->n_dims; d++) {
        whole_index(nest, a, d, &index);
        over |= dfl_mul(*out, dfl_interval_set_count(&index), out);
    }
    if (!dfl_budget_ok(dfl_arena_budget(nest->arena)))
        return dfl_report_stop(nest->sink, dfl_arena_budget(nest->arena));
    return over ? dfl_nest_report_overflow(nest, a->span) : true;
}

bool dfl_access_elements_within(dfl_nest *nest, const dfl_access *a, const dfl_access *made)
{
    dfl_interval_set inner = { 0 }, outer = { 0 }, rest = { 0 };
    bool some = false;

    for (uint32_t d = 0; d < a->n_dims; d++) {
        whole_index(nest, a, d, &inner);
        if (inner.n == 0)
            return true; /* no element of the access is inside the shape */
        whole_index(nest, made, d, &outer);
        dfl_interval_set_subtract(nest->arena, &rest, &inner, &outer);
        some |= rest.n > 0;
    }
    return !some;
}

