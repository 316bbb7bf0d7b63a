/*
 * Changes of single lines of a mapping with branches (tree_climb.h): what a change is, where lines may stand, and how it is done.
 * A change may make a mapping that is not legal; the model judges that.
 */
#ifndef DFL_MAPPER_IMPROVE_TREE_MOVES_H
#define DFL_MAPPER_IMPROVE_TREE_MOVES_H

#include "ir/mapping.h"
#include "support/arena.h"

/* A place for a line: before line `at` of a body. */
typedef struct { uint32_t body, at; } dfl_tree_place;

typedef enum {
    DFL_TREE_SCALE,        /* the tile that loop `from` leaves, times `factor` */
    DFL_TREE_SWAP,         /* line `from` and the one below it */
    DFL_TREE_DROP,         /* line `from` */
    DFL_TREE_SHIFT,        /* line `from` to `to`; from there inwards no other keep of its tensor in its memory stays */
    DFL_TREE_SINK,         /* keep `from` of a branch: to the top of each child that touches its tensor */
    DFL_TREE_REPLACE,      /* keep `from`: in `memory` */
    DFL_TREE_TURN,         /* loop `from`: over `rank` */
    DFL_TREE_ADD_KEEP,     /* at `from`: of `tensor` in `memory` */
    DFL_TREE_ADD_LOOP,     /* at `from`: over `rank`, that leaves `factor` times the tile above */
    DFL_TREE_ADD_AXIS,     /* at `from`: over `rank` on `axis`, that leaves `factor` times the tile above */
    DFL_TREE_MERGE,        /* child `from` of a branch and the one behind it: in a new brace, below a loop over `rank` that leaves
                              `factor` times the tile above; intermediates of these two are kept in `memory` there */
    DFL_TREE_SPLIT,        /* the brace `from`: its lines come to its children, which take its place */
} dfl_tree_change;

typedef struct {
    dfl_tree_change kind;
    dfl_tree_place from, to;
    uint32_t tensor, memory, rank, axis;
    double factor;
    bool fits;             /* loops further in that ask for more than a new one leaves go on with that */
} dfl_tree_move;

/* Makes the change; new lines lie in `arena`. False if it does not apply: then the mapping may be changed in part. */
bool dfl_tree_apply(dfl_arena *arena, dfl_mapping *m, const dfl_tree_move *move);
/* Scales the tile that a loop leaves. False if that changes nothing. A loop with one iteration goes away. */
bool dfl_tree_scale(const dfl_mapping *m, dfl_body *b, uint32_t at, double factor);

/* Whether some einsum of the body touches the tensor. */
bool dfl_tree_touches(const dfl_mapping *m, const dfl_body *b, uint32_t tensor);
bool dfl_tree_may_hold(const dfl_mapping *m, uint32_t tensor, uint32_t memory);
/* Whether a keep before line `at` is the first or the last one between two loops; all between are otherwise the same. */
bool dfl_tree_is_end(const dfl_body *b, uint32_t at);
/* Whether a keep of the tensor at this place may come, go or change. Homes of inputs and outputs and keeps of the file stay. */
bool dfl_tree_is_free(const dfl_mapping *m, const dfl_body *b, uint32_t at, uint32_t tensor);
/* The first place of a body behind all homes of inputs and outputs. */
uint32_t dfl_tree_after_homes(const dfl_mapping *m, const dfl_body *b);

#endif
