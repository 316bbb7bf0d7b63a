/*
 * One einsum on one unit, as the checker represents it. The operands are the inputs, then the output. The memory levels
 * are the memories that the unit sees, outermost first. The axes are the arrays around the unit, outermost first. A
 * problem is built from the intermediate representation alone. Sets of ranks, levels, axes and operands are bit masks
 * over their positions in the problem.
 */
#ifndef DFL_CERTIFY_PROBLEM_H
#define DFL_CERTIFY_PROBLEM_H

#include "support/limits.h"
#include "ir/mapping.h"

typedef struct {
    const dfl_access *access;
    uint32_t tensor;           /* tensor of the workload */
    bool output;
    bool shared;               /* the operand is an intermediate, which may be exchanged further in than its home */
    bool settled;              /* the mapping states the home of the operand */
    uint32_t ranks;            /* mask: ranks that occur in an index of the operand */
    uint32_t plain;            /* mask: ranks that are the whole index of a dimension */
    uint32_t home;             /* home: outermost level that may hold the operand; DFL_NONE: the operand is shared, and
                                  exchanged in one of `levels` */
    uint32_t levels;           /* mask: levels inside of the home that may hold the operand; all permitted levels if `home` is
                                  DFL_NONE */
    uint32_t common;           /* mask, subset of `levels`: levels with keeps that may hold the operand for several einsums */
    double bits;               /* bits of all elements that the einsum touches */
} dfl_certify_operand;

typedef struct {
    uint32_t einsum, unit;
    uint32_t n_ranks, n_operands, n_levels, n_axes;
    uint32_t rank[DFL_CERTIFY_RANKS];   /* [rank of the problem]: rank of the workload */
    int64_t extent[DFL_CERTIFY_RANKS];
    dfl_certify_operand operand[DFL_CERTIFY_OPERANDS];
    uint32_t memory[DFL_CERTIFY_LEVELS];
    uint32_t axes_around[DFL_CERTIFY_LEVELS]; /* [level]: mask of the axes around the memory */
    uint32_t axis[DFL_CERTIFY_AXES];    /* [axis of the problem]: axis of the system */
    uint32_t shares[DFL_CERTIFY_AXES];  /* [axis]: mask of the operands that the axis multicasts, or reduces for the output */
    uint32_t spread[DFL_CERTIFY_AXES];  /* [axis]: mask of the ranks that may be spread over the axis */
} dfl_certify_problem;

/* Whether the memory in which the einsum exchanges the operand with other einsums is a choice. */
static inline bool dfl_certify_is_exchanged(const dfl_certify_operand *operand)
{
    return operand->shared || operand->common != 0;
}
/* The operand that accesses tensor `tensor`, n_operands if there is none. */
uint32_t dfl_certify_operand_of(const dfl_certify_problem *problem, uint32_t tensor);
/* By memory: whether it holds only tensors with their home in it, and either has no size limit or holds all of these
   tensors at the same time. */
const bool *dfl_certify_ample_memories(dfl_arena *arena, const dfl_mapping *m);
/* Builds the problem of one einsum on one unit. False if the unit cannot run the einsum. Also false if the einsum
   exceeds the limits of a problem; then `*fine` is cleared. */
bool dfl_certify_problem_make(const dfl_intern *names, const dfl_mapping *m, const bool *ample, uint32_t einsum, uint32_t unit,
                              dfl_certify_problem *out, bool *fine);
/* Whether two problems have the same choices; names may differ. `exactly`: the shapes of tensors and the offsets of
   indices must also be equal, so that the costs are equal. */
bool dfl_certify_problem_is_alike(const dfl_intern *names, const dfl_mapping *m, const dfl_certify_problem *a,
                                  const dfl_certify_problem *b, bool exactly);
/* The dimension of the operand that a loop over the rank moves along, -1 = none. */
int dfl_certify_dimension_of(const dfl_certify_problem *problem, uint32_t operand, uint32_t rank);
/* Bits of the operand's tile, as a bounding box, for `piece[r]` consecutive values of each rank r. */
double dfl_certify_tile_bits(const dfl_mapping *m, const dfl_certify_problem *problem, uint32_t operand, const int64_t *piece);

#endif
