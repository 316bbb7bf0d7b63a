/*
 * Orders in which the einsums of a workload can run: two that touch a tensor which one of them makes stay in the order they
 * are declared in. Orders are found from the declared one by swapping neighbours, those with fewer swaps first.
 */
#ifndef DFL_MAPPER_PROBLEM_EINSUM_ORDERS_H
#define DFL_MAPPER_PROBLEM_EINSUM_ORDERS_H

#include "ir/workload.h"
#include "support/arena.h"

enum { DFL_ORDERS_MOST = 64 };

typedef struct {
    const uint32_t *at[DFL_ORDERS_MOST];   /* [place]: einsum; the declared order is the first */
    uint32_t n;
    bool all;                              /* there are no others */
} dfl_einsum_orders;

const dfl_einsum_orders *dfl_einsum_orders_find(dfl_arena *arena, const dfl_workload *w);

#endif
