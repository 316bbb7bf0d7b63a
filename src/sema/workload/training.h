/* Training steps of workloads: `workload step = train(W, ...)`. */
#ifndef DFL_SEMA_WORKLOAD_TRAINING_H
#define DFL_SEMA_WORKLOAD_TRAINING_H

#include "sema/expr/memo.h"
#include "sema/workload/elaborate.h"

/* Elaborates a declaration that is a training step, directly or through `A = B(...)`. `elaborate` elaborates its forward
   workload. `*broken` is set if an error has been
   reported. NULL if the declaration is no training step. */
dfl_elaborated_workload *dfl_workload_elaborate_training(dfl_sema *sema, dfl_decl *decl, dfl_scope *args,
                                                         const dfl_ast_node *missing, dfl_elaborate *elaborate, bool *broken);

#endif
