/*
 * The training step of a workload: its forward einsums, the gradients of its weights, and the steps of the optimizer, as one
 * workload. For `Z[i] op= f(A[g], ...)` the gradient of A at g is the sum over all points of grad.Z[i] times the derivative of f.
 * Names: `grad.T`, `update.W`, `moment1.W`, `moment2.W`, `master.W`.
 */
#ifndef DFL_TRAIN_TRAIN_H
#define DFL_TRAIN_TRAIN_H

#include "diag/diag.h"
#include "ir/workload.h"

typedef enum { DFL_OPTIMIZER_ADAM, DFL_OPTIMIZER_SGD, DFL_OPTIMIZER_MOMENTUM } dfl_optimizer;

typedef struct {
    dfl_span span;            /* place of `train(...)` */
    dfl_optimizer optimizer;
    dfl_dtype moments;        /* data type of moments and of the master copy: `adam(fp32)` */
    dfl_dtype gradients;      /* data type of the gradients of weights; bits 0 = that of the weight */
    uint32_t loss;            /* tensor whose gradient is 1 everywhere; DFL_NONE = every output */
} dfl_training;

/* The training step. NULL after a report: a function without a derivative, or a construct that has none. */
const dfl_workload *dfl_training_derive(dfl_arena *arena, dfl_sink *sink, dfl_intern *names, const dfl_workload *forward,
                                        const dfl_training *training);

#endif
