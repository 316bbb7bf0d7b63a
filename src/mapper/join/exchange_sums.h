/*
 * Least sum over einsums of choices that agree on every tensor: dynamic programming over the tensors that are alive. A choice of
 * an einsum takes one *way* for each tensor that it exchanges; ways are numbers that the caller gives out for each tensor.
 */
#ifndef DFL_MAPPER_JOIN_EXCHANGE_SUMS_H
#define DFL_MAPPER_JOIN_EXCHANGE_SUMS_H

#include "mapper/problem/einsum_problem.h"
#include "support/deadline.h"

typedef struct {
    double value;
    uint32_t way[DFL_PROBLEM_OPERANDS]; /* of operands that are exchanged, else 0 */
    double fetch[DFL_PROBLEM_OPERANDS]; /* added where no einsum before has taken the same way of the tensor */
} dfl_exchange_choice;

/* An einsum: the n choices at[0], at[1] ... that lie `size` bytes apart. */
typedef struct {
    const dfl_problem *problem;
    const dfl_exchange_choice *choices;
    size_t size;
    uint32_t n;
} dfl_exchange_step;

/*
 * The least sum; INFINITY = no choices agree; 0 if the deadline passes meanwhile. `steps` and `path` are by einsum, `ways` by
 * tensor: the number of its ways. Sets `path` to the choices of a least sum that was found. If there are too many states, some
 * tensors are left out: then einsums need not agree on them, and the sum is no greater.
 */
double dfl_exchange_sums(dfl_arena *arena, const dfl_workload *w, const dfl_exchange_step *steps, const uint32_t *ways,
                         dfl_deadline *deadline, uint32_t *path);

#endif
