#include "mapper/branches/part_boxes.h"

#include <math.h>

#include "mapper/problem/criteria.h"
#include "mapper/problem/evaluate.h"
#include "mapper/problem/limits.h"
#include "mapper/single/single.h"

/* Searches of all parts: the tangent moves with the mapping. */
enum { ROUNDS = 2 };

/* Values that differ by less are equal. */
static const double ROUNDING = 1e-9;

/* Sets the tangent of the objective at a mapping; false if the model does not take the mapping. */
static bool find_tangent(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *m, const dfl_objective *objective,
                         dfl_objective *out)
{
    const dfl_result *costs = dfl_mapping_costs(arena, names, m);
    double per_joule, per_second;

    if (costs == NULL)
        return false;
    dfl_objective_slopes(objective, 0, costs->joules, costs->seconds, &per_joule, &per_second);
    *out = dfl_objective_line(objective, per_joule, per_second);
    out->n_required = 0; /* which are of all parts together */
    return true;
}

void dfl_part_boxes_improve(dfl_arena *arena, const dfl_intern *names, const dfl_branches *tree, const dfl_mapping **found,
                            const dfl_map_options *options, dfl_map_result *out)
{
    const dfl_first_result none = { .value = INFINITY };
    dfl_objective tangent;
    dfl_map_options each = { .objective = &tangent, .limits = options->limits,
                             .space = { .any_spread = options->space.any_spread } };
    double value = dfl_mapping_value(dfl_arena_budget(arena), names, out->mapping, options->objective);
    bool is_better = true;

    each.limits.gap = 0;
    for (uint32_t round = 0; round < ROUNDS && is_better; round++) {
        is_better = false;
        if (value <= dfl_value_times(out->lower_bound, 1 + ROUNDING) ||
            !find_tangent(arena, names, out->mapping, options->objective, &tangent))
            return;
        for (uint32_t p = 0; p < tree->n; p++) {
            const dfl_mapping *before = found[p];
            const dfl_map_result *r;
            dfl_mapping *all;
            double now;
            each.limits.evaluations = dfl_evaluations_left(options->limits.evaluations, out->evaluated);
            if (each.limits.evaluations == 0 || each.limits.evaluations > DFL_SIZES_NODES)
                each.limits.evaluations = DFL_SIZES_NODES;
            r = tree->parts[p].n == 1 ? dfl_single_search(arena, names, tree->parts[p].problem, &each, &none) : NULL;
            if (r == NULL)
                continue;
            out->evaluated += r->evaluated;
            out->pruned += r->pruned;
            found[p] = r->mapping;
            all = dfl_branches_put(arena, tree, found);
            now = dfl_mapping_value(dfl_arena_budget(arena), names, all, options->objective);
            if (now >= value * (1 - ROUNDING)) {
                found[p] = before;
                continue;
            }
            value = now;
            out->mapping = all;
            is_better = true;
        }
    }
}
