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

/* Size of the set of one reference in a group of several references. */
static int64_t measure_one(dfl_nest *nest, const dfl_footprint *whole, const dfl_group *group, uint32_t reference)
{
    dfl_footprint part = *whole;
    dfl_group alone = *group;

    part.references = &whole->references[reference];
    part.n_references = 1;
    alone.references = &group->references[reference];
    return measure(nest, &part, &alone);
}

/* Tells whether the union of the references is the product of their unions in the groups: the references differ in one
   group at most, or one reference touches everything. */
static bool is_product(dfl_nest *nest, const dfl_footprint *whole)
{
    uint32_t n_unequal = 0;
    bool *covers = DFL_NEW_ARRAY(nest->arena, bool, whole->n_references), any = false;

    for (uint32_t v = 0; v < whole->n_references; v++)
        covers[v] = true;
    for (uint32_t g = 0; g < whole->n_groups; g++) {
        int64_t all = measure(nest, whole, &whole->groups[g]);
        bool equal = true;
        for (uint32_t v = 0; v < whole->n_references; v++) {
            bool is_all = measure_one(nest, whole, &whole->groups[g], v) == all;
            equal &= is_all;
            covers[v] &= is_all;
        }
        n_unequal += !equal;
    }
    for (uint32_t v = 0; v < whole->n_references; v++)
        any |= covers[v];
    return n_unequal < 2 || any;
}

bool dfl_whole_access_count(dfl_nest *nest, const dfl_reference *references, uint32_t n, dfl_i128 *out)
{
    if (n == 1 && !is_connected(nest, references))
        return dfl_access_elements_count(nest, references->access, out);
    dfl_footprint *whole = make_whole(nest, references, n);
    bool over = false;
    if (whole && !is_product(nest, whole)) {
        dfl_nest_refuse(nest, references[n - 1].access->span, "producers of one tensor that make parts of several dimensions",
                        "give each result a name of its own");
        return false;
    }
    *out = 1;
    for (uint32_t g = 0; whole && g < whole->n_groups; g++)
        over |= dfl_mul(*out, measure(nest, whole, &whole->groups[g]), out);
    if (!dfl_budget_ok(dfl_arena_budget(nest->arena)))
        return dfl_report_stop(nest->sink, dfl_arena_budget(nest->arena));
    return over ? dfl_nest_report_overflow(nest, references->access->span) : whole != NULL;
}

bool dfl_whole_access_within(dfl_nest *nest, const dfl_reference *reference, const dfl_reference *made, uint32_t n)
{
    if (n == 1 && !is_connected(nest, reference) && !is_connected(nest, made))
        return dfl_access_elements_within(nest, reference->access, made->access);
    dfl_reference *all = DFL_NEW_ARRAY(nest->arena, dfl_reference, n + 1);
    for (uint32_t k = 0; k < n; k++)
        all[k] = made[k];
    all[n] = *reference;
    dfl_footprint *whole = make_whole(nest, all, n + 1);
    bool within = whole != NULL, none = false;
    for (uint32_t g = 0; whole && g < whole->n_groups; g++) {
        /* the union of the producers, in the groups of all references */
        dfl_footprint part = *whole;
        part.n_references = n;
        within &= measure(nest, &part, &whole->groups[g]) == measure(nest, whole, &whole->groups[g]);
        none |= measure_one(nest, whole, &whole->groups[g], n) == 0;
    }
    return within || none;
}
