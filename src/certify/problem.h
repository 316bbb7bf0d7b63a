/*
 * One einsum on one unit, as the checker sees it: the operands (the inputs, then the output), the memory levels (the
 * memories that the unit sees, outermost first) and the axes (arrays around the unit, outermost first). Built from the
 * intermediate representation alone. Sets of ranks, levels, axes and operands are bit masks over their positions in the
 * problem.
 */
#ifndef DFL_CERTIFY_PROBLEM_H
#define DFL_CERTIFY_PROBLEM_H

#include "certify/limits.h"
#include "ir/mapping.h"

typedef struct {
    const dfl_access *access;
    uint32_t tensor;           /* of the workload */
    bool output;
    bool shared;               /* an intermediate: it may be exchanged further in than its home */
    bool settled;              /* its home is written in the mapping */
    uint32_t ranks;            /* mask: ranks that occur in some index */
    uint32_t plain;            /* mask: ranks that are the whole index of a dimension */
    uint32_t home;             /* outermost level that may hold the operand; DFL_NONE: shared, and exchanged in one of `levels` */
    uint32_t levels;           /* mask: levels inside of the home that may hold the operand; all levels if the home is DFL_NONE */
    uint32_t common;           /* mask, subset of `levels`: where one keep may serve several einsums that read the operand */
    double bits;               /* of all elements that the einsum touches */
} dfl_certify_operand;

typedef struct {
    uint32_t einsum, unit;
    uint32_t n_ranks, n_operands, n_levels, n_axes;
    uint32_t rank[DFL_CERTIFY_RANKS];   /* rank of the workload */
    int64_t extent[DFL_CERTIFY_RANKS];
    dfl_certify_operand operand[DFL_CERTIFY_OPERANDS];
    uint32_t memory[DFL_CERTIFY_LEVELS];
    uint32_t axes_around[DFL_CERTIFY_LEVELS]; /* mask: axes around the memory */
    uint32_t axis[DFL_CERTIFY_AXES];    /* axis of the system */
    uint32_t shares[DFL_CERTIFY_AXES];  /* mask: operands that the axis multicasts, or reduces for the output */
    uint32_t spread[DFL_CERTIFY_AXES];  /* mask: ranks that may be spread over the axis */
} dfl_certify_problem;

/* Whether the memory in which other einsums find the operand is a choice. */
static inline bool dfl_certify_is_exchanged(const dfl_certify_operand *operand)
{
    return operand->shared || operand->common != 0;
}
/* The operand that accesses this tensor, n_operands if there is none. */
uint32_t dfl_certify_operand_of(const dfl_certify_problem *problem, uint32_t tensor);
/* By memory: whether it holds nothing but tensors with their home there, and either has no size or holds all of them at
   once. */
const bool *dfl_certify_ample_memories(dfl_arena *arena, const dfl_mapping *m);
/* Builds the problem. False if the unit cannot run the einsum, or if the einsum does not fit the limits of a problem;
   then `*fine` is cleared. */
bool dfl_certify_problem_make(const dfl_intern *names, const dfl_mapping *m, const bool *ample, uint32_t einsum, uint32_t unit,
                              dfl_certify_problem *out, bool *fine);
/* Whether two problems have the same choices; names may differ. `exactly`: also the same shapes of tensors and offsets of
   indices, and so the same costs. */
bool dfl_certify_problem_is_alike(const dfl_intern *names, const dfl_mapping *m, const dfl_certify_problem *a,
                                  const dfl_certify_problem *b, bool exactly);
/* The dimension of the operand that a loop over the rank goes along, -1 = none. */
int dfl_certify_dimension_of(const dfl_certify_problem *problem, uint32_t operand, uint32_t rank);
/* Bits of the operand's tile, as a bounding box, for `piece[r]` consecutive values of each rank r. */
double dfl_certify_tile_bits(const dfl_mapping *m, const dfl_certify_problem *problem, uint32_t operand, const int64_t *piece);

#endif
