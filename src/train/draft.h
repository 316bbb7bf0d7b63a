/* The training step under construction: the forward workload, followed by what is derived from it. */
#ifndef DFL_TRAIN_DRAFT_H
#define DFL_TRAIN_DRAFT_H

#include "support/vec.h"
#include "train/train.h"

typedef struct {
    dfl_arena *arena;
    dfl_sink *sink;
    dfl_intern *names;
    const dfl_workload *forward;   /* with tables apart from their rows; see train/tables.h */
    const dfl_training *training;
    DFL_VEC(dfl_rank) ranks;       /* those of `forward` first; so are the following */
    DFL_VEC(dfl_tensor) tensors;
    DFL_VEC(dfl_einsum) einsums;
    DFL_VEC(dfl_carry) carries;
    DFL_VEC(uint32_t) written;     /* [tensor]: number of einsums that produce it so far */
    bool *wanted;                  /* [forward tensor]: a weight, or computed from one */
    /* Gradients, DFL_NONE so far none. `gradient`: [forward tensor]; of the result of a `repeat`, that of the last iteration.
       `inside`: [result of a repeat]: that of all iterations, if they read it. `start`: [carry]: what the iterations leave as
       the gradient of the tensor that they start from, with the rank of the repeat as a leading dimension. */
    uint32_t *gradient, *inside, *start;
    bool failed;                   /* an error has been reported */
} dfl_train_draft;

/* An einsum under construction. */
typedef struct {
    dfl_train_draft *draft;
    DFL_VEC(dfl_access) inputs;
} dfl_train_body;

/* The name of a derived part of a tensor: `kind` before the last component of the tensor's name, "layer.grad.T". */
dfl_sym dfl_train_name(dfl_train_draft *draft, const char *kind, dfl_sym tensor);
/* Adds a tensor; its producers and consumers are linked at the end. */
uint32_t dfl_train_add_tensor(dfl_train_draft *draft, dfl_tensor tensor);
/* Adds an einsum with the tree `root` and the inputs of `body`: counts its operations, and names it after its result. The
   caller sets `output`, `reduce`, `ranks`, `where`, `over_rank` and `flops_per_output` in `einsum`. */
void dfl_train_add_einsum(dfl_train_body *body, dfl_einsum einsum, const dfl_eop *root);
/* Reports E0609: a construct without a derivative. */
void dfl_train_refuse(dfl_train_draft *draft, dfl_span span, const char *what, const char *help);

/* ---- nodes of trees; constants are folded ---- */
const dfl_eop *dfl_train_constant(dfl_train_draft *draft, double value);
/* The node that reads an access, which becomes an input unless an equal one is an input. */
const dfl_eop *dfl_train_access(dfl_train_body *body, dfl_access access);
const dfl_eop *dfl_train_negate(dfl_train_draft *draft, const dfl_eop *a);
const dfl_eop *dfl_train_operate(dfl_train_draft *draft, dfl_eop_kind kind, const dfl_eop *a, const dfl_eop *b);
/* A value that is added to the row at a position. */
const dfl_eop *dfl_train_scatter(dfl_train_draft *draft, const dfl_eop *value, const dfl_eop *position);
const dfl_eop *dfl_train_call(dfl_train_draft *draft, dfl_sym op, dfl_i128 flops, const dfl_eop *const *args, uint32_t n_args);

#endif
