/* Looks at the templates of a pattern. */
#include "mapper/least.h"

#include <math.h>

#include "mapper/measures.h"

enum {
    GLANCE = 8,                /* nodes of a template that a first look goes through, */
    FIRST = 32,                /* of so many templates */
};

/* Looks at a candidate; false if that has not come to the end of it. */
static bool look_at(dfl_least *k, dfl_rows *rows, const dfl_candidate *x)
{
    uint64_t before = dfl_rows_evaluated(rows);
    bool whole = dfl_tile_search(rows, x->job, x->form, k->goal);

    dfl_teller_add(k->teller, dfl_rows_evaluated(rows) - before);
    return whole;
}

/* A short look at the first candidates, for some mapping, whatever the time. */
static void glance(dfl_least *k, dfl_rows *rows)
{
    const dfl_einsum_class *c = k->class;
    dfl_budget none = { 0 };
    dfl_halt patient = { .budget = &none };
    uint32_t first = FIRST;

    k->goal->effort = GLANCE;
    for (size_t i = 0; i < c->candidates.n && first > 0; i++) {
        const dfl_candidate *x = &c->candidates.at[i];
        k->goal->halt = k->halt;
        if (dfl_halted(k->halt)) {
            if (patient.deadline == 0)
                patient.deadline = dfl_halt_clock() + DFL_HALT_PATIENCE;
            if (k->best.form != NULL || dfl_halted(&patient))
                break;
            k->goal->halt = &patient;
        }
        if (x->pattern != k->pattern || !dfl_tile_useful(k->goal, x->joules, x->seconds))
            continue;
        first -= k->goal->limit < INFINITY;
        (void)look_at(k, rows, x);
    }
}

/* Looks at all candidates, and leaves those that it has not come to the end of. */
static void look_at_all(dfl_least *k, dfl_rows *rows)
{
    static const uint64_t efforts[] = { 1 << 12, 1 << 18 };
    const dfl_einsum_class *c = k->class;

    k->goal->halt = k->halt;
    k->n_left = 0;
    for (size_t i = 0; i < c->candidates.n; i++)
        if (c->candidates.at[i].pattern == k->pattern)
            k->left[k->n_left++] = (uint32_t)i;
    for (size_t e = 0; e < sizeof efforts / sizeof *efforts; e++) {
        uint32_t n = k->n_left;
        k->goal->effort = efforts[e];
        k->n_left = 0;
        for (uint32_t i = 0; i < n && !dfl_halted(k->halt); i++) {
            const dfl_candidate *x = &c->candidates.at[k->left[i]];
            bool enough = dfl_rows_evaluated(rows) > k->enough;
            if (dfl_tile_useful(k->goal, x->joules, x->seconds) && (enough || !look_at(k, rows, x)))
                k->left[k->n_left++] = k->left[i];
        }
    }
}

/* The least of a value, or a little less; INFINITY if there is no mapping. */
static double find_value(dfl_least *k, double (*value)(const void *objective, double joules, double seconds),
                         const void *objective)
{
    dfl_rows *rows = dfl_rows_new(k->arena, k->scratch);
    double least;

    dfl_halt_count(k->halt, rows);
    k->goal->of = (dfl_goal){ .value = value, .objective = objective };
    if (!(k->goal->limit < INFINITY))
        glance(k, rows);
    look_at_all(k, rows);
    k->evaluated += dfl_rows_evaluated(rows);
    k->pruned += dfl_rows_pruned(rows);
    least = k->goal->limit;
    for (uint32_t i = 0; i < k->n_left; i++) {
        const dfl_candidate *x = &k->class->candidates.at[k->left[i]];
        least = fmin(least, value(objective, x->joules, x->seconds));
    }
    return least;
}

/* Energy mixed with time, at every rate; the best for one sets a limit for the next. The least energy is that of the templates,
   which only counts where it goes together with much time. */
static void find_mixed(dfl_least *k, const dfl_goal *of, dfl_cost *least)
{
    dfl_tile_goal *goal = k->goal;
    const dfl_einsum_class *c = k->class;

    for (uint32_t i = 0; i < of->n_mixes; i++) {
        goal->limit = i == 0 ? INFINITY : dfl_value_mixed(&of->rate[i], goal->best_joules, goal->best_seconds);
        least->at[DFL_COST_MIXED + i] = find_value(k, dfl_value_mixed, &of->rate[i]);
        goal->best = NULL;
    }
    for (size_t i = 0; i < c->candidates.n; i++)
        if (c->candidates.at[i].pattern == k->pattern)
            least->at[DFL_COST_JOULES] = fmin(least->at[DFL_COST_JOULES], c->candidates.at[i].joules);
}

void dfl_least_find(dfl_least *k)
{
    dfl_cost *least = &k->class->patterns.at[k->pattern].least;
    dfl_tile_goal *goal = k->goal;
    const dfl_goal of = goal->of;

    k->left = DFL_NEW_ARRAY(k->arena, uint32_t, k->class->candidates.n + 1);
    goal->best_only = true;
    goal->n_tracks = 0;
    goal->limit = goal->best_joules = goal->best_seconds = goal->seen_seconds = INFINITY;
    goal->best = &k->best;
    if (of.n_mixes > 0) {
        find_mixed(k, &of, least);
    } else {
        goal->by_time = false;
        least->at[DFL_COST_JOULES] = find_value(k, dfl_value_joules, NULL);
        goal->by_time = true;
        goal->best = NULL;
    }
    goal->limit = goal->seen_seconds;
    least->at[DFL_COST_SECONDS] = find_value(k, dfl_value_seconds, NULL);
    if (k->halt->why != DFL_STOP_NONE)
        dfl_measures_pattern(k->class, k->pattern, &of);
    else if (!(least->at[DFL_COST_SECONDS] < INFINITY))
        *least = dfl_cost_none();
}
