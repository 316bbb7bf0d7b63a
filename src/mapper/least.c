/* Looks at the templates of a pattern. */
#include "mapper/least.h"

#include <math.h>

#include "mapper/measures.h"

enum {
    GLANCE = 8,                /* nodes of a template that a first look goes through, */
    FIRST = 32,                /* of so many templates */
};

/* Looks at a candidate for one value, whose best makes limits for the others, too; false if that has not come to the end. */
static bool look_at(dfl_least *k, uint32_t aim, const dfl_candidate *x)
{
    dfl_least_aim *a = &k->aim[aim];
    dfl_tile_goal *goal = k->goal;
    uint64_t before = dfl_rows_evaluated(k->rows);
    bool whole;

    goal->of = (dfl_goal){ .value = a->value, .objective = a->objective };
    goal->by_time = a->by_time;
    goal->limit = a->limit;
    goal->best = aim == 0 ? &k->best : NULL;
    goal->best_joules = goal->best_seconds = goal->seen_seconds = INFINITY;
    whole = dfl_tile_search(k->rows, x->job, x->form, goal);
    a->limit = goal->limit;
    for (uint32_t i = 0; i < k->n_aims && goal->best_seconds < INFINITY; i++)
        k->aim[i].limit = fmin(k->aim[i].limit, k->aim[i].value(k->aim[i].objective, goal->best_joules, goal->best_seconds));
    k->aim[k->n_aims - 1].limit = fmin(k->aim[k->n_aims - 1].limit, goal->seen_seconds);
    a->evaluated += dfl_rows_evaluated(k->rows) - before;
    dfl_teller_add(k->teller, dfl_rows_evaluated(k->rows) - before);
    return whole;
}

static bool is_useful(const dfl_least_aim *a, const dfl_candidate *x)
{
    return a->value(a->objective, x->joules, x->seconds) < a->limit;
}

/* A short look at the first candidates, for some mapping, whatever the time. */
static void glance(dfl_least *k)
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
        if (x->pattern != k->pattern || !is_useful(&k->aim[0], x))
            continue;
        first -= k->aim[0].limit < INFINITY;
        (void)look_at(k, 0, x);
    }
}

/* Looks at candidate `x`, the i-th of those left, for a value, and leaves it if that has not come to the end. */
static void look_again(dfl_least *k, uint32_t aim, uint32_t i)
{
    dfl_least_aim *a = &k->aim[aim];
    const dfl_candidate *x = &k->class->candidates.at[i];

    if (is_useful(a, x) && (a->evaluated > k->enough || !look_at(k, aim, x)))
        a->left[a->n_left++] = i;
}

/* Looks at all candidates, and leaves those that it has not come to the end of. */
static void look_at_all(dfl_least *k)
{
    /* by trial: little for a limit, enough for most templates, and as much as one may take; any will do */
    static const uint64_t efforts[] = { 1 << 5, 1 << 12, 1 << 18 };
    const dfl_einsum_class *c = k->class;

    k->goal->halt = k->halt;
    k->goal->effort = efforts[0];
    for (uint32_t i = 0; i < c->candidates.n && !dfl_halted(k->halt); i++)
        for (uint32_t a = 0; a < k->n_aims && c->candidates.at[i].pattern == k->pattern; a++)
            look_again(k, a, i);
    for (size_t e = 1; e < sizeof efforts / sizeof *efforts; e++)
        for (uint32_t a = 0; a < k->n_aims; a++) {
            uint32_t n = k->aim[a].n_left;
            k->goal->effort = efforts[e];
            k->aim[a].n_left = 0;
            for (uint32_t i = 0; i < n && !dfl_halted(k->halt); i++)
                look_again(k, a, k->aim[a].left[i]);
        }
}

static void add_aim(dfl_least *k, double (*value)(const void *objective, double joules, double seconds), const void *objective,
                    bool by_time)
{
    k->aim[k->n_aims++] = (dfl_least_aim){ .value = value, .objective = objective, .by_time = by_time, .limit = INFINITY,
                                           .left = DFL_NEW_ARRAY(k->arena, uint32_t, k->class->candidates.n + 1) };
}

/* The least of a value, or a little less; INFINITY if there is no mapping. */
static double least_of(const dfl_least *k, const dfl_least_aim *a)
{
    double least = a->limit;

    for (uint32_t i = 0; i < a->n_left; i++) {
        const dfl_candidate *x = &k->class->candidates.at[a->left[i]];
        least = fmin(least, a->value(a->objective, x->joules, x->seconds));
    }
    return least;
}

/* Of energy mixed with time, at every rate, and of time, or of energy and of time. In the former case the least energy is that of
   the templates, which only counts where it goes together with much time. */
void dfl_least_find(dfl_least *k)
{
    dfl_cost *least = &k->class->patterns.at[k->pattern].least;
    const dfl_goal of = k->goal->of;

    k->rows = dfl_rows_new(k->arena, k->scratch);
    dfl_halt_count(k->halt, k->rows);
    k->goal->best_only = true;
    k->goal->n_tracks = 0;
    for (uint32_t i = 0; i < of.n_mixes; i++)
        add_aim(k, dfl_value_mixed, &of.rate[i], k->goal->by_time);
    if (of.n_mixes == 0)
        add_aim(k, dfl_value_joules, NULL, false);
    add_aim(k, dfl_value_seconds, NULL, true);
    glance(k);
    look_at_all(k);
    for (uint32_t i = 0; i < of.n_mixes; i++)
        least->at[DFL_COST_MIXED + i] = least_of(k, &k->aim[i]);
    if (of.n_mixes == 0)
        least->at[DFL_COST_JOULES] = least_of(k, &k->aim[0]);
    for (size_t i = 0; i < k->class->candidates.n && of.n_mixes > 0; i++)
        if (k->class->candidates.at[i].pattern == k->pattern)
            least->at[DFL_COST_JOULES] = fmin(least->at[DFL_COST_JOULES], k->class->candidates.at[i].joules);
    least->at[DFL_COST_SECONDS] = least_of(k, &k->aim[k->n_aims - 1]);
    k->evaluated = dfl_rows_evaluated(k->rows);
    k->pruned = dfl_rows_pruned(k->rows);
    if (k->halt->why != DFL_STOP_NONE)
        dfl_measures_pattern(k->class, k->pattern, &of);
    else if (!(least->at[DFL_COST_SECONDS] < INFINITY))
        *least = dfl_cost_none();
}
