/* Bounds of all templates, by several threads: each takes every so manieth. */
#include <stdlib.h>
#include <string.h>

#include "mapper/exact/skeleton_bounds.h"

#include "mapper/exact/einsum_classes.h"
#include "support/pool.h"

enum { FEW = 64, MOST = 16 };   /* templates that a thread is worth, threads */

typedef struct {
    dfl_candidate **at;
    size_t n;
    uint32_t step;
    bool plain;
    double deadline;
    atomic_bool *cancel;
    dfl_stop why[MOST];
    dfl_lock *lock;         /* of the arena of times */
    dfl_arena *arena;
} bounding;

/* The times of a candidate: those of the one before if they are equal. */
static const dfl_candidate_times *keep_times(bounding *b, const dfl_candidate_times *before, const dfl_candidate_times *times)
{
    dfl_candidate_times *out;

    if (before != NULL && memcmp(before, times, sizeof *times) == 0)
        return before;
    dfl_lock_take(b->lock);
    out = DFL_NEW(b->arena, dfl_candidate_times);
    *out = *times;
    dfl_lock_leave(b->lock);
    return out;
}

static void bound_some(void *context, size_t first)
{
    bounding *b = context;
    dfl_budget budget = { .cancel = b->cancel };
    dfl_deadline halt = { .budget = &budget, .at = b->deadline };
    dfl_arena *arena = dfl_arena_new(NULL), *scratch = dfl_arena_new(NULL);
    dfl_pareto_set *rows = dfl_pareto_set_new(arena, scratch);
    const dfl_candidate_times *last = NULL;

    for (size_t i = first; i < b->n && !dfl_deadline_passed(&halt); i += b->step) {
        dfl_candidate *x = b->at[i];
        halt.polls = 0; /* the next poll reads the clock: one skeleton takes long enough */
        dfl_candidate_times times = { .busy = { 0 } };
        dfl_tile_bound(rows, x->problem, x->form, &x->roomy_joules, &x->roomy_seconds, times.busy, times.below);
        x->times = last = keep_times(b, last, &times);
        x->joules = x->roomy_joules;
        x->seconds = x->roomy_seconds;
        if (!b->plain)
            dfl_tile_squeeze(rows, &x->joules, &x->seconds);
    }
    b->why[first] = halt.why;
    dfl_arena_free(arena);
    dfl_arena_free(scratch);
}

static int by_joules(const void *a, const void *b)
{
    const dfl_candidate *x = a, *y = b;

    if (x->joules != y->joules)
        return x->joules < y->joules ? -1 : 1;
    if (x->form->turned != y->form->turned)
        return x->form->turned ? 1 : -1;
    return x->at < y->at ? -1 : x->at > y->at;
}

void dfl_einsum_classes_bound(dfl_arena *arena, dfl_arena *scratch, dfl_einsum_classes *k, bool plain, uint32_t threads,
                              dfl_deadline *halt)
{
    const bool is_counted = halt->budget != NULL && halt->budget->work != NULL; /* whose clock threads do not share */
    bounding b = { .plain = plain, .deadline = is_counted ? 0 : halt->at, .cancel = halt->budget ? halt->budget->cancel : NULL,
                   .lock = dfl_lock_new(scratch), .arena = arena };

    for (size_t c = 0; c < k->at.n; c++)
        b.n += k->at.at[c].candidates.n;
    b.at = dfl_arena_alloc(scratch, b.n + 1, sizeof *b.at, _Alignof(dfl_candidate *));
    b.n = 0;
    for (size_t c = 0; c < k->at.n; c++)
        for (size_t i = 0; i < k->at.at[c].candidates.n; i++)
            b.at[b.n++] = &k->at.at[c].candidates.at[i];
    b.step = threads < 1 ? 1 : threads > MOST ? MOST : threads;
    while (b.step > 1 && b.n < (size_t)FEW * b.step)
        b.step--;
    dfl_pool_run(b.step, b.step, bound_some, &b);
    for (uint32_t i = 0; i < b.step && halt->why == DFL_STOP_NONE; i++)
        halt->why = b.why[i];
    for (size_t c = 0; c < k->at.n; c++)
        if (k->at.at[c].candidates.n > 0)
            qsort(k->at.at[c].candidates.at, k->at.at[c].candidates.n, sizeof *k->at.at[c].candidates.at, by_joules);
}
