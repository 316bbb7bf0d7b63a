/*
 * The training step of a workload: its forward einsums, the gradients of its weights, and the steps of the optimizer, as one
 * workload. For `Z[i] op= f(A[g], ...)` the gradient of A at g is the sum over all points of grad.Z[i] times the derivative of f.
 * Names: `grad.T`, `update.W`, `moment1.W`, `moment2.W`, `master.W`; for a tensor of a `repeat` or an `apply`, behind the name
 * of the instance: `layer.grad.T`. The files of this folder:
 *
 *   derive      the backward einsums, in the reverse order of the forward ones
 *   chain_rule  the derivative of the right side of one einsum by one operand
 *   covered     whether the readers of a tensor leave a gradient of each element
 *   tables      tables, of which `gather` reads rows
 *   optimizer   the update of every weight, and the states of the optimizer
 *   draft       the training step under construction: names, tensors, accesses
 */
#ifndef DFL_TRAIN_TRAIN_H
#define DFL_TRAIN_TRAIN_H

#include "diag/diag.h"
#include "ir/workload.h"

typedef enum { DFL_OPTIMIZER_ADAM, DFL_OPTIMIZER_SGD, DFL_OPTIMIZER_MOMENTUM } dfl_optimizer;

/* The FLOP of the op `name` with `n_args` arguments; `over`: number of elements of the rank that the op takes whole, or 0 for
   an op of one point. False if no such op is declared. */
typedef bool dfl_op_cost(void *context, dfl_sym name, uint32_t n_args, int64_t over, dfl_i128 *flops);

typedef struct {
    dfl_sym name;            /* name of the training step */
    dfl_span span;           /* place of `train(...)` */
    dfl_optimizer optimizer;
    dfl_dtype moments;       /* data type of moments and of the master copy: `adam(fp32)` */
    dfl_dtype gradients;     /* data type of the gradients of weights; bits 0 = that of the weight */
    uint32_t loss;           /* tensor whose gradient is 1 everywhere; DFL_NONE = every output */
    dfl_op_cost *op_cost;    /* costs of the ops in scope: derivatives (`gelu_d`) and optimizers (`adam`) */
    void *context;           /* first argument of `op_cost` */
} dfl_training;

/* The training step. Its first ranks, tensors and einsums are those of `forward`, with the same ids. NULL after a report: a
   function without a derivative, or a construct that has none. */
const dfl_workload *dfl_training_derive(dfl_arena *arena, dfl_sink *sink, dfl_intern *names, const dfl_workload *forward,
                                        const dfl_training *training);

#endif
