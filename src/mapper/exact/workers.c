/* Pieces of work, their workspaces, and what is left of them. */
#include "mapper/exact/workers.h"

#include <math.h>
#include <string.h>

#include "mapper/divisors/pareto_set.h"
#include "mapper/exact/pattern_bounds.h"
#include "mapper/problem/limits.h"
#include "support/pool.h"

struct dfl_workers_space {
    dfl_budget budget;           /* of the piece that is at work in it */
    dfl_arena *arena, *scratch;
    dfl_workers_space *next;
};

enum { FEWEST = 64 };            /* evaluations that a piece is begun for */

typedef enum { FIND_LEAST, FIND_ROWS, FIND_ANY } task;

/* A pattern of a class. */
typedef struct {
    uint32_t class, pattern;
    bool left_out;               /* there are too few evaluations for all */
    bool done;                   /* else it waits to be done, or to be done again */
    dfl_stop why;
    uint64_t evaluated, pruned;
    dfl_pattern_bound least;     /* after the last round, or any */
    const dfl_pmapping **list;   /* of rows: copies */
    uint32_t n_list;
} piece;

struct dfl_workers_shift {
    dfl_workers *crew;
    piece *pieces;
    uint32_t n;
    task task;
    uint32_t round;              /* of the least */
    double ceiling;
    uint64_t most;               /* evaluations of a piece, 0 = any number */
    double patience;             /* of any: until then, of dfl_deadline_clock, 0 = for ever */
    dfl_lock *lock;              /* of the idle workspaces, and the arenas that results are copied to */
};

typedef dfl_workers_shift shift;

static dfl_workers_space *take_space(shift *s)
{
    dfl_workers_space *space;

    dfl_lock_take(s->lock);
    space = s->crew->idle;
    if (space != NULL)
        s->crew->idle = space->next;
    else
        space = DFL_NEW(s->crew->arena, dfl_workers_space);
    dfl_lock_leave(s->lock);
    space->budget = dfl_budget_fresh(dfl_arena_budget(s->crew->arena));
    space->budget.work = NULL; /* pieces run at the same time: their work counts when all have ended */
    if (space->arena == NULL) {
        space->arena = dfl_arena_new(&space->budget);
        space->scratch = dfl_arena_new(&space->budget);
    }
    return space;
}

static void leave_space(shift *s, dfl_workers_space *space)
{
    dfl_arena_reset(space->arena);
    dfl_arena_reset(space->scratch);
    dfl_lock_take(s->lock);
    space->next = s->crew->idle;
    s->crew->idle = space;
    dfl_lock_leave(s->lock);
}

/* Rows of the candidates of the pattern, with what else each needs at least. */
static void find_rows(shift *s, piece *p, dfl_workers_space *space, dfl_deadline *halt)
{
    const dfl_workers *k = s->crew;
    const dfl_einsum_class *c = &k->classes->at.at[p->class];
    dfl_pareto_set *rows = dfl_pareto_set_new(space->arena, space->scratch);
    dfl_tile_goal goal = *k->goal;
    const dfl_pmapping *const *list;

    dfl_deadline_count(halt, &rows->evaluated);
    goal.halt = halt;
    goal.filter = &c->filter;
    dfl_einsum_classes_aim(c, p->pattern, &goal);
    for (size_t i = 0; i < c->candidates.n && !dfl_deadline_passed(halt); i++) {
        const dfl_candidate *x = &c->candidates.at[i];
        uint64_t before = dfl_pareto_set_evaluated(rows);
        if (x->pattern != p->pattern || !dfl_tile_useful(&goal, x->joules, x->seconds))
            continue;
        (void)dfl_tile_search(rows, x->problem, x->form, &goal);
        dfl_progress_add(k->progress, dfl_pareto_set_evaluated(rows) - before);
    }
    p->evaluated = dfl_pareto_set_evaluated(rows);
    p->pruned = dfl_pareto_set_pruned(rows);
    list = dfl_pareto_set_list(rows, &p->n_list);
    dfl_lock_take(s->lock);
    p->list = DFL_NEW_ARRAY(k->rows, const dfl_pmapping *, (size_t)p->n_list + 1);
    for (uint32_t i = 0; i < p->n_list; i++)
        p->list[i] = dfl_pmapping_copy(k->rows, list[i]);
    dfl_lock_leave(s->lock);
}

static void find_least(shift *s, piece *p, dfl_workers_space *space, dfl_deadline *halt)
{
    const dfl_workers *k = s->crew;
    dfl_tile_goal goal = *k->goal, within = *k->goal;
    dfl_pattern_bound least = p->least;
    dfl_pattern_bound_work work = { .goal = &goal, .halt = halt, .progress = k->progress, .arena = space->arena,
                                    .scratch = space->scratch };

    if (s->ceiling < INFINITY) {
        dfl_einsum_classes_aim(&k->classes->at.at[p->class], p->pattern, &within);
        within.limit = s->ceiling;
        work.within = &within;
    }
    if (s->task == FIND_LEAST)
        dfl_pattern_bound_round(&least, s->round, &work);
    else
        dfl_pattern_bound_any(&least, &work);
    p->evaluated = work.evaluated;
    p->pruned = work.pruned;
    dfl_lock_take(s->lock);
    dfl_pattern_bound_keep(k->arena, &least);
    dfl_lock_leave(s->lock);
    p->least = least;
}

static void work(void *context, size_t i)
{
    shift *s = context;
    const dfl_workers *k = s->crew;
    piece *p = &s->pieces[i];
    dfl_workers_space *space;
    dfl_deadline halt = { .at = k->deadline, .most_evaluations = s->most,
                          .why = p->left_out ? DFL_STOP_EVALUATIONS : DFL_STOP_NONE };
    dfl_budget patient;

    if (p->done)
        return;
    space = take_space(s);
    halt.budget = &space->budget;
    if (s->task == FIND_ANY) {
        dfl_deadline_grace(&halt, &patient, k->stopped, 0, dfl_arena_budget(k->arena));
        patient.work = NULL;
        halt.at = s->patience;
    }
    if (s->task == FIND_ROWS)
        find_rows(s, p, space, &halt);
    else
        find_least(s, p, space, &halt);
    p->why = halt.why;
    leave_space(s, space);
}

/* Runs the pieces that wait; the number of those that the limit on evaluations has stopped. */
static uint32_t run_waiting(shift *s)
{
    dfl_workers *k = s->crew;
    uint64_t evaluated = 0, pruned = 0;
    uint32_t stopped = 0;

    dfl_pool_run(k->threads > 0 ? k->threads : 1, s->n, work, s);
    for (uint32_t i = 0; i < s->n; i++) {
        piece *p = &s->pieces[i];
        if (p->done)
            continue;
        evaluated += p->evaluated;
        pruned += p->pruned;
        p->done = p->why != DFL_STOP_EVALUATIONS || p->left_out;
        stopped += !p->done;
    }
    k->evaluated += evaluated;
    k->pruned += pruned;
    dfl_budget_work(dfl_arena_budget(k->arena), (evaluated + pruned) * DFL_WORK_ROW);
    return stopped;
}

/* Of few evaluations the first patterns of every class get enough to begin with, and the others none. Returns how many the former
   are. */
static uint32_t choose_pieces(shift *s, uint32_t waiting)
{
    const dfl_workers *k = s->crew;
    uint64_t left = k->limit > k->evaluated ? k->limit - k->evaluated : 0;
    uint32_t most = k->limit == 0 || left / FEWEST >= waiting ? waiting : (uint32_t)((left + FEWEST - 1) / FEWEST), n = 0;

    for (uint32_t i = 0; i < s->n; i++)
        s->pieces[i].left_out = true;
    for (uint32_t pattern = 0; n < most; pattern++)
        for (uint32_t i = 0; i < s->n && n < most; i++)
            if (!s->pieces[i].done && s->pieces[i].pattern == pattern) {
                s->pieces[i].left_out = false;
                n++;
            }
    return n;
}

static void run(shift *s)
{
    dfl_workers *k = s->crew;
    uint32_t waiting = 0;
    uint64_t left;

    for (uint32_t i = 0; i < s->n; i++)
        waiting += !s->pieces[i].done;
    if (waiting == 0)
        return;
    waiting = choose_pieces(s, waiting);
    s->lock = dfl_lock_new(k->arena);
    do {
        left = k->limit > k->evaluated ? k->limit - k->evaluated : 0;
        s->most = waiting > 0 ? left / waiting : 0;
        s->most += k->limit > 0 && s->most == 0;
        waiting = run_waiting(s);
    } while (waiting > 0 && k->evaluated < k->limit && (k->limit - k->evaluated) / waiting > s->most);
    for (uint32_t i = 0; i < s->n; i++)
        if (k->stopped == DFL_STOP_NONE)
            k->stopped = s->pieces[i].why;
}

/* Every pattern of the classes, one behind the other. */
static shift make_shift(dfl_workers *k, const uint32_t *classes, uint32_t n, task what)
{
    shift s = { .crew = k, .task = what };
    uint32_t all = 0;

    for (uint32_t i = 0; i < n; i++)
        all += (uint32_t)k->classes->at.at[classes[i]].patterns.n;
    s.pieces = DFL_NEW_ARRAY(k->arena, piece, (size_t)all + 1);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t p = 0; p < k->classes->at.at[classes[i]].patterns.n; p++)
            s.pieces[s.n++] = (piece){ .class = classes[i], .pattern = p };
    return s;
}

static dfl_pattern_bound least_of(const dfl_workers *k, const piece *p)
{
    return dfl_pattern_bound_start(&k->classes->at.at[p->class], p->pattern, &k->goal->of, k->goal->by_time, DFL_LEAST_ENOUGH);
}

static double value_of(const dfl_workers *k, const dfl_pmapping *row)
{
    const dfl_goal *of = &k->goal->of;

    return of->value(of->objective, row->joules + of->leakage * row->seconds, row->seconds);
}

/* Of the rows that stand by themselves the best of each class. */
static void take_apart(const shift *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const dfl_pmapping *row = &s->pieces[i].least.best;
        dfl_einsum_class *c = &s->crew->classes->at.at[s->pieces[i].class];
        if (row->form != NULL && (c->apart == NULL || value_of(s->crew, row) < value_of(s->crew, c->apart)))
            c->apart = row;
    }
}

/* Some row of the classes that have none when the search is stopped. */
static void find_any(dfl_workers *k)
{
    shift *s = DFL_NEW(k->arena, shift);
    dfl_budget budget;
    dfl_deadline patient;

    *s = (shift){ .crew = k, .task = FIND_ANY, .ceiling = INFINITY, .lock = dfl_lock_new(k->arena),
                  .pieces = DFL_NEW_ARRAY(k->arena, piece, k->classes->at.n + 1) };
    for (uint32_t c = 0; c < k->classes->at.n; c++)
        if (k->classes->at.at[c].apart == NULL) {
            s->pieces[s->n] = (piece){ .class = c };
            s->pieces[s->n].least = least_of(k, &s->pieces[s->n]);
            s->n++;
        }
    dfl_deadline_grace(&patient, &budget, k->stopped, k->deadline, NULL);
    s->patience = patient.at;
    (void)run_waiting(s);
    take_apart(s);
}

static shift *start_least(dfl_workers *k)
{
    uint32_t n = (uint32_t)k->classes->at.n, *all = DFL_NEW_ARRAY(k->arena, uint32_t, (size_t)n + 1);
    shift *s = DFL_NEW(k->arena, shift);

    for (uint32_t c = 0; c < n; c++)
        all[c] = c;
    *s = make_shift(k, all, n, FIND_LEAST);
    for (uint32_t i = 0; i < s->n; i++)
        s->pieces[i].least = least_of(k, &s->pieces[i]);
    return s;
}

bool dfl_workers_least(dfl_workers *k, uint32_t round, double ceiling)
{
    shift *s = round == 0 ? k->least = start_least(k) : k->least;
    bool open = false;

    s->round = round;
    s->ceiling = ceiling;
    for (uint32_t i = 0; i < s->n; i++)
        s->pieces[i].done = round > 0 && !dfl_pattern_bound_open(&s->pieces[i].least);
    run(s);
    for (uint32_t i = 0; i < s->n; i++) {
        const dfl_pattern_bound *least = &s->pieces[i].least;
        dfl_pattern_bound_tell(least, &k->goal->of);
        open |= dfl_pattern_bound_open(least);
    }
    for (size_t c = 0; c < k->classes->at.n; c++)
        k->classes->at.at[c].apart = NULL;
    take_apart(s);
    if (k->stopped != DFL_STOP_NONE)
        find_any(k);
    return open && round + 1 < DFL_LEAST_ROUNDS && k->stopped == DFL_STOP_NONE;
}

bool dfl_workers_rows(dfl_workers *k, const uint32_t *classes, uint32_t n)
{
    shift s;
    uint32_t at = 0;

    if (k->rows == NULL)
        k->rows = dfl_arena_new(dfl_arena_budget(k->arena));
    s = make_shift(k, classes, n, FIND_ROWS);
    run(&s);
    for (uint32_t i = 0; i < n; i++) {
        dfl_einsum_class *c = &k->classes->at.at[classes[i]];
        uint32_t first = at;
        const dfl_pmapping **list;
        c->n_list = 0;
        for (; at < s.n && s.pieces[at].class == classes[i]; at++)
            c->n_list += s.pieces[at].n_list;
        c->list = list = DFL_NEW_ARRAY(k->rows, const dfl_pmapping *, (size_t)c->n_list + 1);
        for (uint32_t p = first; p < at; p++) {
            if (s.pieces[p].n_list > 0)
                memcpy(list, s.pieces[p].list, s.pieces[p].n_list * sizeof *list);
            list += s.pieces[p].n_list;
        }
    }
    return k->stopped == DFL_STOP_NONE;
}

void dfl_workers_forget(dfl_workers *k)
{
    if (k->rows != NULL)
        dfl_arena_reset(k->rows);
}

void dfl_workers_end(dfl_workers *k)
{
    for (dfl_workers_space *s = k->idle; s != NULL; s = s->next) {
        dfl_arena_free(s->arena);
        dfl_arena_free(s->scratch);
    }
    dfl_arena_free(k->rows);
    k->idle = NULL;
    k->rows = NULL;
}
