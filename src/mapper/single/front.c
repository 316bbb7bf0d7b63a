/* Mappings of one einsum that no other undercuts in energy and latency: the least energy below limits on the latency. */
#include <math.h>

#include "mapper/problem/limits.h"
#include "mapper/single/single.h"
#include "support/vec.h"

/* Searches of a front: the widest steps between its points come first. */
enum { SEARCHES = 24 };

/* Ratio of two latencies above which a search looks in the middle between them, and not just below the upper one. */
static const double WIDE = 1.1;

/* Latencies, s, between which there may be points: above `low`, below `high`. */
typedef struct {
    double low, high;
} interval;
typedef DFL_VEC(interval) intervals;

/* The requirements of an objective, and a limit on the latency behind them. */
typedef struct {
    const dfl_objective *base;
    double below;             /* s */
} limited;

static bool meets(void *context, uint32_t requirement, const dfl_result *result)
{
    const limited *k = context;

    return requirement < k->base->n_required ? k->base->meets(k->base->context, requirement, result)
                                             : result->seconds < k->below;
}

/* The mapping of the least energy, or of the least latency for INFINITY, with a latency below the limit. */
static const dfl_box_result *search(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *m, const dfl_problems *problems,
                                    const dfl_map_options *options, double below, bool by_latency)
{
    limited context = { options->objective, below };
    dfl_objective o = dfl_objective_line(options->objective, by_latency ? 0 : 1, by_latency ? 1 : 0);
    const dfl_search_limits limits = { .evaluations = DFL_KIND_NODES, .deadline = options->limits.deadline };
    dfl_box_start start = dfl_single_start(m);

    o.n_required = options->objective->n_required + 1;
    o.meets = meets;
    o.context = &context;
    start.seconds_below = below;
    return dfl_box_search(arena, names, m, dfl_problems_list(problems), (uint32_t)problems->n, &o, &limits, &start);
}

static size_t find_widest(const intervals *all)
{
    size_t widest = 0;

    for (size_t i = 1; i < all->n; i++)
        if (all->at[i].high * all->at[widest].low > all->at[widest].high * all->at[i].low)
            widest = i;
    return widest;
}

static void take_point(const dfl_box_result *found, dfl_map_point *out)
{
    *out = (dfl_map_point){ .mapping = found->mapping, .joules = found->joules, .seconds = found->seconds };
}

uint32_t dfl_single_front(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping, const dfl_map_options *options,
                          dfl_map_point *out)
{
    intervals all = { .n = 0 };
    dfl_problems problems;
    const dfl_box_result *first, *last;
    uint32_t n = 0;

    if (!dfl_single_is_one(mapping) || !options->objective->native || options->space.imperfect ||
        !dfl_single_problems(arena, names, mapping, true, options->space.any_spread, &problems))
        return 0;
    first = search(arena, names, mapping, &problems, options, INFINITY, true);
    last = first->mapping != NULL ? search(arena, names, mapping, &problems, options, INFINITY, false) : first;
    if (last->mapping == NULL)
        return 0;
    take_point(first, &out[n++]);
    take_point(last, &out[n++]);
    DFL_PUSH(arena, &all, ((interval){ first->seconds, last->seconds }));
    for (uint32_t i = 0; i < SEARCHES && all.n > 0; i++) {
        const size_t at = find_widest(&all);
        const interval step = all.at[at];
        const double below = step.high > step.low * WIDE ? sqrt(step.low * step.high) : step.high;
        const dfl_box_result *found;
        all.at[at] = all.at[--all.n];
        if (!(step.high > step.low))
            continue;
        found = search(arena, names, mapping, &problems, options, below, false);
        if (below < step.high)
            DFL_PUSH(arena, &all, ((interval){ below, step.high }));
        if (found->mapping != NULL && found->seconds > step.low) {
            take_point(found, &out[n++]);
            DFL_PUSH(arena, &all, ((interval){ step.low, found->seconds }));
        }
        if (found->stopped != DFL_STOP_NONE && found->stopped != DFL_STOP_EVALUATIONS)
            break;
    }
    return n;
}
