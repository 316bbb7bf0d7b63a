/* Looks at the templates of a pattern. */
#include "mapper/exact/pattern_bounds.h"

#include <math.h>
#include <string.h>

#include "mapper/divisors/pareto_set.h"

enum {
    GLANCE = 8,                /* nodes of a template that a first look goes through, */
    FIRST = 32,                /* of so many templates; of more nodes where so many looks have found nothing */
    MORE = 4,                  /* times as many */
};

/* By round; by trial: little for a limit, enough for most templates, and as much as one may take; any will do. */
static const uint64_t EFFORT[DFL_LEAST_ROUNDS] = { 1 << 5, 1 << 12, 1 << 18 };

typedef struct {
    dfl_pattern_bound *known;
    dfl_pattern_bound_work *work;
    dfl_pareto_set *rows;
} look;

/* Looks at a candidate for one value, whose best makes limits for the others, too; false if that has not come to the end. */
static bool look_at(look *l, uint32_t aim, const dfl_candidate *x)
{
    dfl_pattern_bound *k = l->known;
    dfl_pattern_bound_aim *a = &k->aim[aim];
    dfl_tile_goal *goal = l->work->goal;
    uint64_t before = dfl_pareto_set_evaluated(l->rows);
    bool whole;

    goal->of = (dfl_goal){ .value = a->value, .objective = a->objective };
    goal->by_time = a->by_time;
    goal->limit = a->limit;
    goal->best = aim == 0 ? &k->best : NULL;
    goal->best_joules = goal->best_seconds = goal->seen_seconds = INFINITY;
    whole = dfl_tile_search(l->rows, x->problem, x->form, goal);
    a->limit = goal->limit;
    for (uint32_t i = 0; i < k->n_aims && goal->best_seconds < INFINITY; i++)
        k->aim[i].limit = fmin(k->aim[i].limit, k->aim[i].value(k->aim[i].objective, goal->best_joules, goal->best_seconds));
    k->aim[k->n_aims - 1].limit = fmin(k->aim[k->n_aims - 1].limit, goal->seen_seconds);
    a->evaluated += dfl_pareto_set_evaluated(l->rows) - before;
    dfl_progress_add(l->work->progress, dfl_pareto_set_evaluated(l->rows) - before);
    return whole && goal->halt->why == DFL_STOP_NONE;
}

static bool is_useful(const look *l, const dfl_pattern_bound_aim *a, const dfl_candidate *x)
{
    return a->value(a->objective, x->joules, x->seconds) < a->limit &&
           (l->work->within == NULL || dfl_tile_useful(l->work->within, x->joules, x->seconds));
}

/* A short look at the first candidates, for some mapping. */
static void glance(look *l)
{
    const dfl_pattern_bound *k = l->known;
    const dfl_einsum_class *c = k->class;
    uint32_t first = FIRST, vain = 0;

    l->work->goal->effort = GLANCE;
    for (size_t i = 0; i < c->candidates.n && first > 0 && !dfl_deadline_passed(l->work->halt); i++) {
        const dfl_candidate *x = &c->candidates.at[i];
        if (x->pattern != k->pattern || !is_useful(l, &k->aim[0], x))
            continue;
        first -= k->aim[0].limit < INFINITY;
        (void)look_at(l, 0, x);
        if (k->aim[0].limit == INFINITY && ++vain % FIRST == 0 && l->work->goal->effort < EFFORT[1])
            l->work->goal->effort *= MORE;
    }
}

/* Looks at candidate `i` for a value, unless that is enough or it is stopped, and leaves it if that has not come to the end. */
static void look_again(look *l, uint32_t aim, uint32_t i)
{
    dfl_pattern_bound_aim *a = &l->known->aim[aim];
    const dfl_candidate *x = &l->known->class->candidates.at[i];

    if (is_useful(l, a, x) && (a->evaluated > l->known->enough || dfl_deadline_passed(l->work->halt) || !look_at(l, aim, x)))
        a->left[a->n_left++] = i;
}

/* Looks at all candidates. */
static void look_at_all(look *l)
{
    dfl_pattern_bound *k = l->known;
    const dfl_einsum_class *c = k->class;
    size_t n = 0;

    for (size_t i = 0; i < c->candidates.n; i++)
        n += c->candidates.at[i].pattern == k->pattern;
    for (uint32_t a = 0; a < k->n_aims; a++) {
        k->aim[a].left = DFL_NEW_ARRAY(l->work->arena, uint32_t, n + 1);
        k->aim[a].n_left = 0;
    }
    glance(l);
    l->work->goal->effort = EFFORT[0];
    for (uint32_t i = 0; i < c->candidates.n; i++)
        for (uint32_t a = 0; a < k->n_aims && c->candidates.at[i].pattern == k->pattern; a++)
            look_again(l, a, i);
}

/* Looks at those that were left. */
static void look_at_left(look *l, uint64_t effort)
{
    dfl_pattern_bound *k = l->known;

    l->work->goal->effort = effort;
    for (uint32_t a = 0; a < k->n_aims; a++) {
        const uint32_t *left = k->aim[a].left, n = k->aim[a].n_left;
        k->aim[a].left = DFL_NEW_ARRAY(l->work->arena, uint32_t, (size_t)n + 1);
        k->aim[a].n_left = 0;
        for (uint32_t i = 0; i < n; i++)
            look_again(l, a, left[i]);
    }
}

static void add_aim(dfl_pattern_bound *k, double (*value)(const void *objective, double joules, double seconds),
                    const void *objective,
                    bool by_time)
{
    k->aim[k->n_aims++] = (dfl_pattern_bound_aim){ .value = value, .objective = objective, .by_time = by_time,
                                                   .limit = INFINITY };
}

/* Of energy mixed with time, at every rate, and of time, or of energy and of time. */
dfl_pattern_bound dfl_pattern_bound_start(dfl_einsum_class *class, uint32_t pattern, const dfl_goal *of, bool by_time,
                                          uint64_t enough)
{
    dfl_pattern_bound k = { .class = class, .pattern = pattern, .enough = enough };

    for (uint32_t i = 0; i < of->n_mixes; i++)
        add_aim(&k, dfl_value_mixed, &of->rate[i], by_time);
    if (of->n_mixes == 0)
        add_aim(&k, dfl_value_joules, NULL, false);
    add_aim(&k, dfl_value_seconds, NULL, true);
    return k;
}

static look begin(dfl_pattern_bound *k, dfl_pattern_bound_work *work)
{
    look l = { .known = k, .work = work, .rows = dfl_pareto_set_new(work->arena, work->scratch) };

    dfl_deadline_count(work->halt, &l.rows->evaluated);
    work->goal->halt = work->halt;
    work->goal->best_only = true;
    work->goal->n_tracks = 0;
    return l;
}

static void end(const look *l)
{
    l->work->evaluated = dfl_pareto_set_evaluated(l->rows);
    l->work->pruned = dfl_pareto_set_pruned(l->rows);
}

void dfl_pattern_bound_round(dfl_pattern_bound *k, uint32_t round, dfl_pattern_bound_work *work)
{
    look l = begin(k, work);

    if (round == 0)
        look_at_all(&l);
    else
        look_at_left(&l, EFFORT[round]);
    end(&l);
}

/* Whether all that is exchanged is as far out as it can be. */
static bool is_apart(const dfl_candidate *x)
{
    for (uint32_t o = 0; o < x->problem->n_operands; o++)
        if (x->form->exchange[o] != dfl_problem_outermost(&x->problem->operand[o]))
            return false;
    return true;
}

void dfl_pattern_bound_any(dfl_pattern_bound *k, dfl_pattern_bound_work *work)
{
    const dfl_einsum_class *c = k->class;
    look l = begin(k, work);

    work->goal->effort = GLANCE;
    for (size_t i = 0; i < c->candidates.n && k->best.form == NULL && !dfl_deadline_passed(work->halt); i++)
        if (is_apart(&c->candidates.at[i]))
            (void)look_at(&l, 0, &c->candidates.at[i]);
    end(&l);
}

bool dfl_pattern_bound_open(const dfl_pattern_bound *k)
{
    bool open = false;

    for (uint32_t a = 0; a < k->n_aims; a++)
        open |= k->aim[a].n_left > 0 && k->aim[a].evaluated <= k->enough;
    return open;
}

void dfl_pattern_bound_keep(dfl_arena *arena, dfl_pattern_bound *k)
{
    if (k->best.form != NULL)
        k->best = *dfl_pmapping_copy(arena, &k->best);
    for (uint32_t a = 0; a < k->n_aims; a++) {
        uint32_t *left = DFL_NEW_ARRAY(arena, uint32_t, (size_t)k->aim[a].n_left + 1);
        if (k->aim[a].n_left > 0)
            memcpy(left, k->aim[a].left, k->aim[a].n_left * sizeof *left);
        k->aim[a].left = left;
    }
}

/* The least of a value, or a little less; INFINITY if there is no mapping. */
static double least_of(const dfl_pattern_bound *k, const dfl_pattern_bound_aim *a)
{
    double least = a->limit;

    for (uint32_t i = 0; i < a->n_left; i++) {
        const dfl_candidate *x = &k->class->candidates.at[a->left[i]];
        least = fmin(least, a->value(a->objective, x->joules, x->seconds));
    }
    return least;
}

/* With mixes the least energy is that of the templates, which only counts where it goes together with much time. */
void dfl_pattern_bound_tell(const dfl_pattern_bound *k, const dfl_goal *of)
{
    dfl_criteria *least = &k->class->patterns.at[k->pattern].least;

    for (uint32_t i = 0; i < DFL_COST_BUSY; i++)
        least->at[i] = INFINITY;
    least->at[DFL_COST_SECONDS] = least_of(k, &k->aim[k->n_aims - 1]);
    if (!(least->at[DFL_COST_SECONDS] < INFINITY))
        return;
    for (uint32_t i = 0; i < of->n_mixes; i++)
        least->at[DFL_COST_MIXED + i] = least_of(k, &k->aim[i]);
    if (of->n_mixes == 0)
        least->at[DFL_COST_JOULES] = least_of(k, &k->aim[0]);
    for (size_t i = 0; i < k->class->candidates.n && of->n_mixes > 0; i++)
        if (k->class->candidates.at[i].pattern == k->pattern)
            least->at[DFL_COST_JOULES] = fmin(least->at[DFL_COST_JOULES], k->class->candidates.at[i].joules);
}
