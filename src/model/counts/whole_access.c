/* Whole accesses as footprints above all lines. */
#include "model/counts/whole_access.h"

#include "model/counts/group_sums.h"
#include "model/sets/access_elements.h"
#include "support/vec.h"

/* Tells whether the touched indices of one dimension depend on those of another one. */
static bool is_connected(const dfl_nest *nest, const dfl_reference *reference)
{
    const dfl_access *access = reference->access;

    if (nest->workload->einsums[reference->einsum].n_where > 0)
        return true;
    for (uint32_t d = 0; d < access->n_dims; d++)
        for (uint32_t t = 0; t < access->index[d].n_terms; t++)
            for (uint32_t other = d + 1; other < access->n_dims; other++)
                for (uint32_t u = 0; u < access->index[other].n_terms; u++)
                    if (access->index[d].terms[t].rank == access->index[other].terms[u].rank)
                        return true;
    return false;
}

/* The footprint of references above all lines, split into groups. NULL after E0609. */
static dfl_footprint *make_whole(dfl_nest *nest, const dfl_reference *references, uint32_t n)
{
    dfl_footprint *footprint = DFL_NEW(nest->arena, dfl_footprint);

    *footprint = (dfl_footprint){ .einsum = references[0].einsum, .tensor = references[0].access->tensor,
                                  .references = references, .n_references = n, .span = references[0].access->span };
    return dfl_footprint_split(nest, footprint) ? footprint : NULL;
}

static int64_t measure(dfl_nest *nest, const dfl_footprint *footprint, const dfl_group *group)
{
    const dfl_sharing how = { .forward = DFL_NONE };
    const int64_t start[DFL_MAX_STEPS] = { 0 };

    return dfl_group_sums_size(nest, footprint, group, &how, start);
}

bool dfl_whole_access_count(dfl_nest *nest, const dfl_reference *reference, dfl_i128 *out)
{
    if (!is_connected(nest, reference))
        return dfl_access_elements_count(nest, reference->access, out);
    dfl_footprint *whole = make_whole(nest, reference, 1);
    bool over = false;
    *out = 1;
    for (uint32_t g = 0; whole && g < whole->n_groups; g++)
        over |= dfl_mul(*out, measure(nest, whole, &whole->groups[g]), out);
    if (!dfl_budget_ok(dfl_arena_budget(nest->arena)))
        return dfl_report_stop(nest->sink, dfl_arena_budget(nest->arena));
    return over ? dfl_nest_report_overflow(nest, reference->access->span) : whole != NULL;
}

bool dfl_whole_access_within(dfl_nest *nest, const dfl_reference *reference, const dfl_reference *made)
{
    if (!is_connected(nest, reference) && !is_connected(nest, made))
        return dfl_access_elements_within(nest, reference->access, made->access);
    dfl_reference *both = DFL_NEW_ARRAY(nest->arena, dfl_reference, 2);
    both[0] = *made;
    both[1] = *reference;
    dfl_footprint *whole = make_whole(nest, both, 2);
    bool within = whole != NULL, none = false;
    for (uint32_t g = 0; whole && g < whole->n_groups; g++) {
        dfl_footprint part = *whole;
        int64_t all = measure(nest, whole, &whole->groups[g]);
        dfl_group alone = whole->groups[g];
        /* the references one by one, in the groups of both */
        part.n_references = 1;
        within &= measure(nest, &part, &alone) == all;
        part.references = &both[1];
        alone.references = &whole->groups[g].references[1];
        none |= measure(nest, &part, &alone) == 0;
    }
    return within || none;
}
