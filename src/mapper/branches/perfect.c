/* The search over tiles that divide, under either way to count time. */
#include <math.h>

#include "ir/mapping_open.h"
#include "mapper/branches/branches.h"
#include "mapper/branches/perfect.h"
#include "mapper/exact/weights.h"
#include "mapper/problem/criteria.h"
#include "mapper/problem/evaluate.h"

static const double ROUNDING = 1 + 1e-9;

static dfl_map_result *search(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                              const dfl_map_options *options, bool *fits)
{
    return dfl_mapping_has_open_branches(mapping) ? dfl_branches_search(arena, sink, names, mapping, options, fits)
                                                  : dfl_mapper_alone(arena, sink, names, mapping, options, fits);
}

bool dfl_mapper_counts_waits(const dfl_mapping *m, const dfl_map_options *options)
{
    dfl_tile_goal goal = { .of = { .leakage = dfl_system_leakage(m->system) } };

    dfl_weights_look(options->objective, options->front, &goal);
    return goal.by_time && !m->options.overlap_perfect;
}

/* Whether a search can count that, too. */
static bool may_wait(const dfl_mapping *m, const dfl_map_options *options)
{
    return dfl_mapper_counts_waits(m, options) && !options->overlapped && !options->certificate && options->top == 0;
}

/* What is proven is proven as if transfers waited for nothing, which no mapping undercuts. Where they do, another search counts
   what is waited for, and the better of the two mappings is taken; a front is only looked for so, and not said to be complete. */
dfl_map_result *dfl_mapper_perfect(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                                   const dfl_map_options *options, bool *fits)
{
    dfl_map_options with = *options;
    dfl_budget *budget = dfl_arena_budget(arena);
    dfl_map_result *out, *other = NULL;
    dfl_sink *quiet;
    bool other_fits = true;

    with.overlapped = !options->waits && (!options->front || !may_wait(mapping, options));
    if (!with.overlapped)
        with.limits.gap = 0; /* the bound is none of mappings that wait otherwise */
    out = search(arena, sink, names, mapping, &with, fits);
    if (out != NULL && !with.overlapped)
        out->optimal = false;
    if (out == NULL || options->front || out->mapping == NULL || out->stopped != DFL_STOP_NONE || !may_wait(mapping, options))
        return out;
    double value = dfl_mapping_value(budget, names, out->mapping, options->objective);
    if (value > dfl_value_times(out->lower_bound, ROUNDING)) {
        quiet = dfl_sink_quiet(arena);
        with.overlapped = false;
        with.limits.gap = 0;
        with.limits.evaluations = dfl_evaluations_left(options->limits.evaluations, out->evaluated);
        other = search(arena, quiet, names, mapping, &with, &other_fits);
    }
    if (other == NULL)
        return out;
    out->evaluated += other->evaluated;
    out->pruned += other->pruned;
    out->stopped = other->stopped;
    if (other->mapping != NULL && dfl_mapping_value(budget, names, other->mapping, options->objective) < value)
        out->mapping = other->mapping;
    return out;
}
