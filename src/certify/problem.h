/*
 * One einsum on one unit as the checker of certificates sees it: its operands (the inputs, then the output), the memories
 * that the unit sees (places, outer first) and the arrays around it (axes, outer first). Made from the intermediate
 * representation alone. Sets of ranks, places, axes and operands are bit masks over their numbers here.
 */
#ifndef DFL_CERTIFY_PROBLEM_H
#define DFL_CERTIFY_PROBLEM_H

#include "ir/mapping.h"

enum {
    DFL_FRAME_RANKS = 12,
    DFL_FRAME_OPERANDS = 5,
    DFL_FRAME_PLACES = 8,
    DFL_FRAME_AXES = 6,
};

typedef struct {
    const dfl_access *access;
    uint32_t tensor;
    bool output;
    bool shared;               /* an intermediate: it may be exchanged further in than its home */
    bool settled;              /* unless its home is written */
    uint32_t ranks, plain;     /* that index it; alone in their dimension, as they are */
    uint32_t home;             /* place of the outermost memory that may hold it; DFL_NONE: shared, and always exchanged in a */
    uint32_t places;           /* place further in, or any */
    uint32_t common;           /* of them: where a keep may serve several einsums that read it */
    double bits;               /* of all that the einsum touches */
} dfl_frame_operand;

typedef struct {
    uint32_t einsum, unit;
    uint32_t n_ranks, n_operands, n_places, n_axes;
    uint32_t rank[DFL_FRAME_RANKS];
    int64_t extent[DFL_FRAME_RANKS];
    dfl_frame_operand operand[DFL_FRAME_OPERANDS];
    uint32_t memory[DFL_FRAME_PLACES], around[DFL_FRAME_PLACES]; /* of a place, and the axes around it */
    uint32_t axis[DFL_FRAME_AXES], shares[DFL_FRAME_AXES];       /* operands whose transfers instances share */
    uint32_t spread[DFL_FRAME_AXES];                             /* ranks that may be spread over the axis */
} dfl_frame;

/* Whether where other einsums find the operand is a choice. */
static inline bool dfl_frame_exchanged(const dfl_frame_operand *o) { return o->shared || o->common != 0; }
/* Number of the operand that is this tensor, or n_operands. */
uint32_t dfl_frame_operand_of(const dfl_frame *f, uint32_t tensor);
/* By memory: nothing is there but what has its home there, and all of that fits at once; or it has no size. */
const bool *dfl_frame_ample(dfl_arena *arena, const dfl_mapping *m);
/* False if the unit cannot run the einsum, or it is none that a search takes (`*fine` is cleared then). */
bool dfl_frame_make(const dfl_intern *names, const dfl_mapping *m, const bool *ample, uint32_t einsum, uint32_t unit,
                    dfl_frame *out, bool *fine);
/* Whether all that can be chosen for two einsums is the same but for names; `exactly`: also the shapes of the tensors and the
   offsets of the indices, that is all that it costs. */
bool dfl_frame_alike(const dfl_intern *names, const dfl_mapping *m, const dfl_frame *a, const dfl_frame *b, bool exactly);
/* Dimension of the operand that a loop over the rank goes along, -1 = none. */
int dfl_frame_dimension(const dfl_frame *f, uint32_t operand, uint32_t rank);
/* Bits of the operand's tile when rank r has pieces of piece[r]. */
double dfl_frame_tile(const dfl_mapping *m, const dfl_frame *f, uint32_t operand, const int64_t *piece);

#endif
