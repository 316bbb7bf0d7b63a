#include "mapper/join/exchange_bound.h"

#include <math.h>

#include "ir/mapping_open.h"
#include "mapper/join/lines.h"
#include "mapper/join/pattern_search.h"
#include "mapper/problem/limits.h"

/* Lines: energy alone, time alone, and mixtures. */
enum { LINES = 2 + DFL_EXCHANGE_MIXES };

typedef struct {
    dfl_arena *arena;
    dfl_classes *classes;
    const dfl_objective *objective;
    double leakage;                      /* W */
    dfl_deadline *deadline;
    uint64_t programs;
    dfl_line_bound lines[LINES];
    uint32_t n_lines;
} exchange;

/* Adds the least sum of the leasts of patterns for a line. The slot is one of time for a line of time alone, since fetches of
   shared inputs are energy. */
static void add_sum(exchange *x, dfl_arena *work, uint32_t slot, double per_joule, double per_second)
{
    x->lines[x->n_lines++] = (dfl_line_bound){ per_joule, per_second,
                                               dfl_bounds_all(dfl_classes_bounds(work, x->classes)).at[slot] };
}

/* Adds the lines of energy alone and of time alone, by the bounds of skeletons whatever the room. */
static void add_ends(exchange *x)
{
    dfl_arena *work = dfl_arena_new(dfl_arena_budget(x->arena));

    for (uint32_t end = 0; end < 2; end++) {
        const uint32_t slot = end == 0 ? DFL_COST_JOULES : DFL_COST_SECONDS;
        for (size_t c = 0; c < x->classes->at.n; c++) {
            dfl_einsum_class *class = &x->classes->at.at[c];
            for (uint32_t p = 0; p < class->patterns.n; p++) {
                class->patterns.at[p].least = dfl_cost_zero();
                class->patterns.at[p].least.at[slot] = INFINITY;
            }
            for (size_t i = 0; i < class->candidates.n; i++) {
                const dfl_candidate *k = &class->candidates.at[i];
                double *least = &class->patterns.at[k->pattern].least.at[slot];
                *least = fmin(*least, end == 0 ? k->roomy_joules : k->roomy_seconds);
            }
        }
        add_sum(x, work, slot, end == 0, end == 1);
    }
    dfl_arena_free(work);
}

/* Counts programs to be solved. False if the limit on evaluations does not allow them. */
static bool count_programs(exchange *x, uint64_t n)
{
    if (x->deadline->most_evaluations > 0 && x->programs + n > x->deadline->most_evaluations)
        x->deadline->why = DFL_STOP_EVALUATIONS;
    else
        x->programs += n;
    return !dfl_deadline_passed(x->deadline);
}

/* Adds the lower bound of per_joule * J + per_second * S: the least sum of the bounds of patterns. False if the
   deadline passed. */
static bool add_line(exchange *x, double per_joule, double per_second)
{
    const uint32_t slot = per_joule > 0 ? DFL_COST_JOULES : DFL_COST_SECONDS;
    const dfl_objective line = dfl_objective_line(x->objective, per_joule, per_second);
    dfl_arena *work = dfl_arena_new(dfl_arena_budget(x->arena)), *scratch = dfl_arena_new(NULL);

    for (size_t c = 0; c < x->classes->at.n && count_programs(x, x->classes->at.at[c].candidates.n); c++) {
        dfl_einsum_class *class = &x->classes->at.at[c];
        dfl_pattern_forms *forms = dfl_pattern_forms_new(work, scratch, class, &line, DFL_FORMS_BOUND);
        for (uint32_t p = 0; p < class->patterns.n; p++) {
            dfl_pattern_search *s = dfl_pattern_search_open(forms, p, NULL, x->deadline);
            class->patterns.at[p].least = dfl_cost_zero();
            class->patterns.at[p].least.at[slot] = dfl_pattern_search_state(s)->bound;
            dfl_pattern_search_close(s);
        }
    }
    if (x->deadline->why == DFL_STOP_NONE)
        add_sum(x, work, slot, per_joule, per_second);
    dfl_arena_free(scratch);
    dfl_arena_free(work);
    return x->deadline->why == DFL_STOP_NONE;
}

/* Slope of the objective in energy without leakage and in time. */
static void find_slope(const exchange *x, double joules, double seconds, double *per_joule, double *per_second)
{
    dfl_objective_slopes(x->objective, 0, joules + x->leakage * seconds, seconds, per_joule, per_second);
    *per_second += x->leakage * *per_joule;
}

/* Adds lines: the ends, the one that touches the objective at the mapping that is known, and those through the vertex of least
   value, as long as they raise it. */
static double add_lines(exchange *x, double joules, double seconds)
{
    double per_joule, per_second, value = 0;

    find_slope(x, joules, seconds, &per_joule, &per_second);
    add_ends(x);
    while (x->n_lines < LINES && add_line(x, per_joule > 0 ? 1 : 0, per_joule > 0 ? per_second / per_joule : 1)) {
        const dfl_lines_vertex vertex = dfl_lines_least(x->objective, x->leakage, x->lines, x->n_lines);
        if (vertex.value < value * (1 + DFL_EXCHANGE_RAISE))
            return fmax(value, vertex.value);
        value = vertex.value;
        find_slope(x, vertex.joules, vertex.seconds, &per_joule, &per_second);
    }
    return fmax(value, dfl_lines_least(x->objective, x->leakage, x->lines, x->n_lines).value);
}

dfl_exchange_result dfl_exchange_bound(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping,
                                       const dfl_objective *objective, double joules, double seconds,
                                       const dfl_search_limits *limits)
{
    const dfl_job_limits all = { .spread = true };
    dfl_deadline deadline = { .budget = dfl_arena_budget(arena), .at = limits->deadline };
    dfl_arena *work = dfl_arena_new(dfl_arena_budget(arena));
    dfl_sink *quiet = dfl_sink_new(work, NULL);
    dfl_classes classes;
    exchange x = { .arena = work, .classes = &classes, .objective = objective, .deadline = &deadline,
                   .leakage = dfl_system_leakage(mapping->system) };
    dfl_exchange_result out = { 0 };

    deadline.counter = &x.programs;
    deadline.most_evaluations = limits->evaluations;
    dfl_sink_limit(quiet, 0);
    if (objective->native && dfl_mapping_all_lines_open(mapping) &&
        dfl_classes_make_within(work, work, quiet, names, mapping, &all, limits, &classes, &deadline.why))
        out.value = add_lines(&x, joules, seconds);
    out.programs = x.programs;
    out.stopped = deadline.why;
    dfl_arena_free(work);
    return out;
}
