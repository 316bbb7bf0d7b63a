/* The best mapping of each family of skeletons of one einsum. */
#include <math.h>
#include <stdlib.h>

#include "ir/mapping_open.h"
#include "mapper/divisors/signature.h"
#include "mapper/problem/criteria.h"
#include "mapper/problem/limits.h"
#include "mapper/single/single.h"
#include "support/vec.h"

typedef struct {
    double bound;
    uint32_t problem, number;    /* number: in the order of the list */
    dfl_family family;
} bounded_family;
typedef DFL_VEC(bounded_family) families;

/* Lists the families with the memories of `from`, and all memories of the other operands. */
static void list_families(dfl_arena *arena, const dfl_problem *problem, uint32_t number, const dfl_objective *objective,
                          double leakage, const dfl_family *from, families *out)
{
    const dfl_problem_operand *o = &problem->operand[from->n];
    dfl_family next = *from;
    uint32_t rest;

    if (from->n == problem->n_operands) {
        const bounded_family family = { dfl_family_bound(problem, objective, leakage, from), number, (uint32_t)out->n, *from };

        DFL_PUSH(arena, out, family);
        return;
    }
    rest = o->places & ~((2u << o->home) - 1);
    next.n++;
    for (uint32_t sub = rest;; sub = (sub - 1) & rest) {
        next.kept[from->n] = sub;
        list_families(arena, problem, number, objective, leakage, &next, out);
        if (sub == 0)
            return;
    }
}

static int by_bound(const void *a, const void *b)
{
    const bounded_family *x = a, *y = b;

    if (x->bound != y->bound)
        return x->bound < y->bound ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Adds a mapping in its place; of one kind the best stays, and of all at most `most`. Returns the number of kinds. */
static uint32_t add_kind(dfl_map_point *kinds, double *values, uint32_t n, uint32_t most, dfl_map_point found, double value)
{
    const uint64_t kind = dfl_signature_of_mapping(found.mapping);
    uint32_t same = 0, at;

    while (same < n && dfl_signature_of_mapping(kinds[same].mapping) != kind)
        same++;
    if (same < n && values[same] <= value)
        return n;
    if (same == n && n < most)
        n++;
    for (at = same < n ? same : n - 1; at > 0 && values[at - 1] > value; at--) {
        kinds[at] = kinds[at - 1];
        values[at] = values[at - 1];
    }
    kinds[at] = found;
    values[at] = value;
    return n;
}

uint32_t dfl_single_kinds(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping, const dfl_map_options *options,
                          dfl_map_point *out)
{
    dfl_problems problems;
    families all = { .n = 0 };
    double values[DFL_MAP_TOP];
    uint32_t n = 0;

    if (!dfl_mapping_all_lines_open(mapping) || !dfl_single_knows(mapping, options) ||
        !dfl_single_problems(arena, names, mapping, true, options->space.any_spread, &problems))
        return 0;
    for (uint32_t i = 0; i < problems.n; i++) {
        if (!dfl_family_handles(problems.at[i]))
            return 0;
        list_families(arena, problems.at[i], i, options->objective, dfl_system_leakage(mapping->system), &(dfl_family){ .n = 0 },
                      &all);
    }
    qsort(all.at, all.n, sizeof *all.at, by_bound);
    for (size_t i = 0; i < all.n && all.at[i].bound < (n < options->top ? INFINITY : values[n - 1]); i++) {
        const dfl_problem *problem = problems.at[all.at[i].problem];
        const dfl_search_limits limits = { .evaluations = DFL_KIND_NODES, .deadline = options->limits.deadline };
        dfl_box_start start = { .value = INFINITY, .divides = true, .family = &all.at[i].family };
        const dfl_box_result *found;
        if (n == options->top) /* only what is better counts */
            start = (dfl_box_start){ .mapping = out[n - 1].mapping, .value = values[n - 1], .joules = out[n - 1].joules,
                                     .seconds = out[n - 1].seconds, .divides = true, .family = &all.at[i].family };
        found = dfl_box_search(arena, names, mapping, &problem, 1, options->objective, &limits, &start);
        if (found->mapping != NULL && found->mapping != start.mapping)
            n = add_kind(out, values, n, options->top,
                         (dfl_map_point){ .mapping = found->mapping, .joules = found->joules, .seconds = found->seconds },
                         found->value);
        if (found->stopped != DFL_STOP_NONE && found->stopped != DFL_STOP_EVALUATIONS)
            break;
    }
    return n;
}
