/*
 * The least that one pattern of a class costs, each measure (cost.h) by itself: what every mapping of the einsum with that
 * pattern costs at least. First a short look at some templates, which finds limits, then all of them with growing effort: what
 * takes long in one may be needless once others have been looked at, and a little too low is good enough. Where the effort has
 * not come to the end of a template, its own bound counts. To open a template takes long, so that it is looked at for all
 * measures then.
 */
#ifndef DFL_MAPPER_LEAST_H
#define DFL_MAPPER_LEAST_H

#include "mapper/classes.h"
#include "mapper/teller.h"

enum { DFL_LEAST_ENOUGH = 1 << 24 };

/* One measure: the least of a value. */
typedef struct {
    double (*value)(const void *objective, double joules, double seconds);
    const void *objective;
    bool by_time;
    double limit;                /* of the best so far */
    uint32_t *left, n_left;      /* candidates that looks have not come to the end of */
    uint64_t evaluated;
} dfl_least_aim;

typedef struct {
    dfl_einsum_class *class;
    uint32_t pattern;
    dfl_tile_goal *goal;         /* of the whole search; changed */
    dfl_halt *halt;              /* until it stops; then the bounds of the templates count */
    dfl_teller *teller;
    uint64_t enough;             /* nodes that are looked at for one measure: behind them the bounds of the templates count */
    dfl_arena *arena, *scratch;
    /* found: */
    dfl_row best;                /* one that shares no loops, and exchanges all in the outermost memory, form NULL = none */
    uint64_t evaluated, pruned;
    /* inside: */
    dfl_rows *rows;
    dfl_least_aim aim[DFL_MIXES + 1];
    uint32_t n_aims;
} dfl_least;

/* Sets `least` of the pattern. */
void dfl_least_find(dfl_least *k);

#endif
