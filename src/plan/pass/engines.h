/*
 * The engines of a chip that a branch occupies in one pass: its units, the ports of its memories, and the networks. With `option
 * overlap = perfect` the branch takes as long as the busiest of them.
 */
#ifndef DFL_PLAN_PASS_ENGINES_H
#define DFL_PLAN_PASS_ENGINES_H

#include "plan/pass/chunk.h"

typedef struct {
    double *units, *ports, *nets; /* [compute], [2 * memory + is_write], [network]: busy time */
    double *exchanges;            /* [exchange]: its share of the time of its network */
    const dfl_chip_time **divided; /* einsums that run on whole units at the same time; their work is not in `units` */
    uint32_t n_divided;
    const double **on_units;      /* [einsum of `divided`]: scratch: its times by number of units (chip_time.h) */
    int64_t *taken;               /* [einsum of `divided`]: scratch of dfl_allotment_divide */
    bool has_started;             /* the start of the kernel counts already */
    size_t n;                     /* numbers behind `units` */
} dfl_engines;

dfl_engines dfl_engines_new(const dfl_plan_work *work);
void dfl_engines_clear(dfl_engines *busy);
/* Adds the operations and the transfers of an einsum. The first one that no other kernel takes over starts the kernel.
   `is_again` as for dfl_branch_writes. */
void dfl_engines_add(const dfl_plan_work *work, const uint32_t *branch_of, bool is_again, uint32_t einsum,
                     dfl_engines *busy);
/* Seconds of an exchange in one pass. An exchange that runs once in a step counts with its time over the number of micro-batches.
   */
double dfl_engines_exchange_seconds(const dfl_plan_work *work, uint32_t exchange);
/* Adds an exchange of one pass. */
void dfl_engines_add_exchange(const dfl_plan_work *work, uint32_t exchange, dfl_engines *busy);
/* The time of the busiest unit or memory, and of the busiest network. */
double dfl_engines_chip(const dfl_plan_work *work, const dfl_engines *busy);
double dfl_engines_network(const dfl_plan_work *work, const dfl_engines *busy);

#endif
