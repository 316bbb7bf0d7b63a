/*
 * One einsum of a network as a workload of its own, on a system of its own, so that the mapper accepts it. The workload has no
 * conditions and one tensor for each access. The system has no forwarding and no reuse of operands.
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
} dfl_lone_source;

/* One einsum alone, and the parts of the network that its ranks and tensors stand for. */
typedef struct {
    dfl_workload *workload;
    dfl_workload *exact; /* the same with the conditions of `where`; NULL = there are none */
    dfl_system *system;
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
