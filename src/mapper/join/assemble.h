/*
 * Writes the mapping of a workload from forms of its einsums with their amounts. Groups of einsums run one after another. The
 * einsums of a group run one after another below its shared loops, and exchange tensors in one memory there.
 */
#ifndef DFL_MAPPER_JOIN_ASSEMBLE_H
#define DFL_MAPPER_JOIN_ASSEMBLE_H

#include "mapper/tiling/form.h"

/* The choice for one einsum. `problem` is that of the einsum itself, the form may be one of an equal einsum. */
typedef struct {
    const dfl_problem *problem;
    const dfl_form *form;
    const int64_t *amounts[DFL_PROBLEM_RANKS]; /* by rank of the problem and cut */
} dfl_chosen_form;

typedef struct {
    uint32_t first, n;                      /* einsums, in workload order; n = 1 has nothing shared */
    uint32_t memory;                        /* where the tensors inside are exchanged */
    uint32_t n_tensors;
    const uint32_t *tensors;                /* those that are exchanged inside */
    uint32_t n_loops;                       /* shared loops, outer first */
    uint32_t rank[DFL_PROBLEM_RANKS];       /* of the workload */
    int64_t tile[DFL_PROBLEM_RANKS];
} dfl_fused_group;

/* `chosen` is by einsum. `mapping` is the mapping that is searched, with all lines open. */
dfl_mapping *dfl_assemble(dfl_arena *arena, const dfl_mapping *mapping, const dfl_chosen_form *chosen,
                          const dfl_fused_group *groups, uint32_t n_groups);
/* A copy of a mapping in which the einsums of a group, which are children of the root by themselves, run as the group. NULL if
   some are not, or if there are no others. `chosen` is by einsum, of the group. */
dfl_mapping *dfl_assemble_into(dfl_arena *arena, const dfl_mapping *from, const dfl_chosen_form *chosen,
                               const dfl_fused_group *group);
/* A copy of a mapping with a group, in which one einsum of the group has the lines that it has in `from`, where it stands alone,
   without those that have no place below the shared loops. */
dfl_mapping *dfl_assemble_leaf(dfl_arena *arena, const dfl_mapping *grouped, const dfl_fused_group *group,
                               const dfl_mapping *from, uint32_t e);

#endif
