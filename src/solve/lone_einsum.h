/*
 * One einsum of a network as a workload of its own, on a system of its own, so that the mapper accepts it. The workload has no
 * conditions, no operation over a whole rank, and one tensor for each access. The system for the mapper has no forwarding and no
 * reuse of operands, which boxes alone know.
 */
#ifndef DFL_SOLVE_LONE_EINSUM_H
#define DFL_SOLVE_LONE_EINSUM_H

#include "ir/system.h"

/* Where the einsums come from. */
typedef struct {
    dfl_arena *arena;               /* owns what is made */
    const dfl_workload *workload;
    const dfl_system *system;
    const bool *is_carried;         /* [rank]: rank of a repeat that carries a tensor */
    const uint32_t *home;           /* [tensor]: its outermost memory (solve/homes.h), which takes room of it; NULL = any */
} dfl_lone_source;

/* One einsum alone, and the parts of the network that its ranks and tensors stand for. */
typedef struct {
    dfl_workload *workload;
    dfl_workload *whole; /* the same with the operation over a whole rank; equal to `workload` if there is none */
    dfl_workload *exact; /* `whole` with the conditions of `where`, and with one tensor for all accesses of a tensor; NULL =
                            that is no other einsum */
    bool has_where;      /* `exact` has conditions */
    uint32_t *same;      /* [own tensor]: the own tensor that stands for it in `exact` */
    dfl_system *system;  /* the system, which selects tensors by their names */
    bool is_narrowed;    /* some memory does not hold a tensor there that it may hold in the network: that nothing fits proves
                            nothing about the network */
    dfl_system *mapped;  /* the same without forwarding and without reuse of operands, for the mapper */
    uint32_t *rank_of;   /* [own rank] */
    uint32_t *tensor_of; /* [own tensor] */
    uint32_t *own_rank;  /* [rank of the network]: own rank, DFL_NONE = none */
} dfl_lone_einsum;

/* Makes the workload and the system of one einsum. */
dfl_lone_einsum dfl_lone_einsum_take(const dfl_lone_source *source, const dfl_einsum *einsum);
/* Text that is equal for einsums that have the same best lines: extents, accesses, types, places where tensors may be, and
   the operations. */
const char *dfl_lone_einsum_key(const dfl_lone_source *source, const dfl_lone_einsum *one, const dfl_einsum *given);

#endif
