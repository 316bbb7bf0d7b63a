/*
 * The chain rule on the tree of a right side. For the operands a, b of an operator with the result z, and the derivative g of
 * the loss by z, the derivatives by the operands are
 *
 *   a + b: g, g    a - b: g, -g    a * b: g b, g a    a / b: g / b, -(g a / (b b))    -a: -g
 *   f(a): g f_d(a)    f(a, b): g f_d1(a, b), g f_d2(a, b)    hold(a): none
 *   gather T by p: g, scattered to the positions p
 *
 * with the op `f_d` of std.ops or of the file that declares f.
 */
#ifndef DFL_TRAIN_CHAIN_RULE_H
#define DFL_TRAIN_CHAIN_RULE_H

#include "train/draft.h"

/* Whether the value of a tree changes with operand `operand`, other than through `hold` or as the position of a gather. */
bool dfl_train_depends(const dfl_train_draft *draft, const dfl_eop *tree, uint32_t operand);
/* The derivative of the tree by one operand, times `outer`; as a tree over the inputs of `body`. NULL if there is none or after a
   report. */
const dfl_eop *dfl_train_differentiate(dfl_train_body *body, const dfl_einsum *einsum, const dfl_eop *tree, uint32_t operand,
                                       const dfl_eop *outer);
/* A copy of a tree of a forward einsum, over the inputs of `body`. */
const dfl_eop *dfl_train_copy(dfl_train_body *body, const dfl_einsum *einsum, const dfl_eop *tree);
/* The op with the suffix `suffix`, "gelu_d", and its cost. 0 after a report that there is none. `over` as in dfl_op_cost. */
dfl_sym dfl_train_derivative_op(dfl_train_draft *draft, const dfl_einsum *einsum, dfl_sym op, const char *suffix,
                                uint32_t n_args, int64_t over, dfl_i128 *flops);

#endif
