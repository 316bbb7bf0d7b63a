/*
 * Work on the classes by several threads: the least of every pattern, and the rows of every pattern within a limit. A pattern is
 * a piece of work of its own, since rows of different patterns exchange in different memories and so never compete. A piece has
 * a workspace while it is at work, which the next one takes over; what it has found is copied. Results are put together in the
 * order of patterns, whatever the number of threads. Of a limit on evaluations all pieces get the same part, or, if that is next
 * to nothing, the first patterns of every class; those that it stops are begun anew while others have left more for each of them.
 */
#ifndef DFL_MAPPER_EXACT_WORKERS_H
#define DFL_MAPPER_EXACT_WORKERS_H

#include "mapper/exact/einsum_classes.h"
#include "support/progress.h"

typedef struct dfl_workers_space dfl_workers_space;
typedef struct dfl_workers_shift dfl_workers_shift;

typedef struct {
    dfl_arena *arena;            /* its budget is the limit of every piece */
    dfl_einsum_classes *classes;
    const dfl_tile_goal *goal;   /* of the present search */
    dfl_progress_meter *progress;          /* NULL = nobody listens */
    uint32_t threads;            /* threads */
    double deadline;             /* of dfl_deadline_clock, 0 = none */
    uint64_t limit;              /* evaluations, about the most; 0 = any number */
    /* found: */
    dfl_stop stopped;            /* some piece was */
    uint64_t evaluated, pruned;  /* so far */
    /* inside: */
    dfl_workers_space *idle;
    dfl_workers_shift *least;    /* what the rounds so far know */
    dfl_arena *rows;             /* of the present search */
} dfl_workers;

/* A round (pattern_bounds.h) of all patterns: sets `least` of them, and `apart` of all classes, even if it is stopped: then
   within a grace budget of support/deadline.h. Whether another one may find more. With a `ceiling` only what can be part of a
   mapping of that value counts, and the bounds of everything else have to be there. */
bool dfl_workers_least(dfl_workers *k, uint32_t round, double ceiling);
/* Sets the lists of the `n` classes to their rows within the limit, by pattern. False if some piece was stopped. */
bool dfl_workers_rows(dfl_workers *k, const uint32_t *classes, uint32_t n);
/* Frees all rows. */
void dfl_workers_forget(dfl_workers *k);
/* Frees the rest. */
void dfl_workers_end(dfl_workers *k);

#endif
