/*
 * The system of some einsums that are searched as a workload of their own. It selects their tensors by name: a tensor may have
 * another role there than in the whole workload. Tensors have the outermost memories that the whole workload gives them, and
 * homes of tensors of other einsums take room.
 */
#ifndef DFL_SOLVE_OWN_SYSTEM_H
#define DFL_SOLVE_OWN_SYSTEM_H

#include "ir/system.h"

typedef struct {
    dfl_arena *arena;               /* owns what is made */
    const dfl_workload *workload;   /* the whole */
    const dfl_system *system;
    const uint32_t *home;           /* [tensor of the whole]: its outermost memory (solve/homes.h), DFL_NONE = any; NULL = any */
    uint32_t first, last;           /* first and last of the einsums */
} dfl_own_source;

typedef struct {
    dfl_system *exact;
    dfl_system *mapped;             /* the same without what the mapper does not support: forwarding, `operand_reuse` */
    bool is_narrowed;               /* some memory does not hold a tensor there that it may hold in the whole: that nothing fits
                                       proves nothing about the whole */
} dfl_own_systems;

/* Makes the systems of the workload `own`, whose tensors stand for those of the whole by `tensor_of`. */
dfl_own_systems dfl_own_systems_make(const dfl_own_source *source, const dfl_workload *own, const uint32_t *tensor_of);

#endif
