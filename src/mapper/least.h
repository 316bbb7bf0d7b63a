/*
 * The least that one pattern of a class costs, each measure (cost.h) by itself: what every mapping of the einsum with that
 * pattern costs at least. First a short look at some templates, which finds a limit, then all of them with growing effort: what
 * takes long in one may be needless once others have been looked at, and a little too low is good enough. Where the effort has
 * not come to the end of a template, its own bound counts.
 */
#ifndef DFL_MAPPER_LEAST_H
#define DFL_MAPPER_LEAST_H

#include "mapper/classes.h"
#include "mapper/teller.h"

enum { DFL_LEAST_ENOUGH = 1 << 24 };

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
    uint32_t *left, n_left;      /* candidates that a look has not come to the end of */
} dfl_least;

/* Sets `least` of the pattern. */
void dfl_least_find(dfl_least *k);

#endif
