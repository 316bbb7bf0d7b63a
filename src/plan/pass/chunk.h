/*
 * The work of one pass through some layers in time: einsums and exchanges in workload order. Each unit and each network does
 * one thing at a time. An einsum starts when its unit is free and its operands have arrived; an exchange starts when its
 * tensor is there and its network is free. Nothing is reordered.
 */
#ifndef DFL_PLAN_PASS_CHUNK_H
#define DFL_PLAN_PASS_CHUNK_H

#include "ir/plan_result.h"
#include "plan/exchange/exchanges.h"
#include "plan/layout/offload.h"
#include "plan/pass/chip_time.h"
#include "support/memo.h"

/* The einsums of the backward phase that a chunk runs. With `zero_bubble`, those of weights' gradients have their own passes. */
typedef enum { DFL_CHUNK_ALL, DFL_CHUNK_WITHOUT_WEIGHTS, DFL_CHUNK_WEIGHTS } dfl_chunk_part;

/* One pass of a phase through consecutive layers. */
typedef struct {
    dfl_phase phase;
    dfl_chunk_part part;      /* of the backward phase; else DFL_CHUNK_ALL */
    int64_t layers;           /* iterations of the repeat with stages, or of every repeat without stages */
    bool has_first, has_last; /* the einsums before the repeat belong to it, and those behind the repeat */
    bool is_later;            /* of a micro-batch behind the first one, which has started the sums over all of them */
} dfl_chunk;

/* When a tensor is there. */
typedef struct {
    uint32_t exchange;        /* an exchange after the last pass (DFL_EXCHANGE_ONCE) */
    double seconds;           /* time since the start of the chunk at which its parts are there */
} dfl_arrival;

typedef struct {
    double seconds;           /* from the start to the end of the last einsum or exchange */
    double step[DFL_N_STEP_PARTS]; /* exposed time by part; sums to `seconds` */
    double *exposed;          /* [exchange]: exposed time of the exchange */
    int64_t *count;           /* [exchange]: number of times that it runs */
    dfl_arrival *arrivals; uint32_t n_arrivals; /* gradients, in the order in which they are made */
    double *moved;            /* [2 * memory + (write ? 1 : 0)]: bits that pass the port of a memory outside of the chips; NULL =
                                 none */
} dfl_chunk_time;

typedef struct dfl_plan_work {
    const struct dfl_plan_work *of_iteration; /* [iteration of a repeat], if they differ; else NULL (plan/pass/iterations.h) */
    int64_t n_iterations;
    const dfl_frame *frame;
    const dfl_chip_time *times;
    const dfl_chip_time *again; /* [einsum]: where the backward pass recomputes it */
    const dfl_plan_exchanges *exchanges;
    const bool *is_recomputed; /* [tensor]: made again in the backward pass */
    const dfl_plan_branches *branches; /* what runs together on a chip */
    const dfl_offload *offload; /* tensors outside of the chips; NULL = none */
    dfl_memo *memo;           /* groups that searches have found (plan/pass/grouping.c); NULL = none are kept */
} dfl_plan_work;

/* The time of a chunk. */
dfl_chunk_time dfl_chunk_run(const dfl_plan_work *work, const dfl_chunk *chunk);

/* The transfers of a pass through `n` einsums to and from the memories outside of the chips, which a chunk makes `iterations`
   times; `is_first`: it is that of the first layer of the chunk. Adds their data to `out`, and returns the time of the busiest
   port in one pass (in s). */
double dfl_chunk_transfers(const dfl_plan_work *work, const dfl_chunk *chunk, bool is_first, const uint32_t *einsums, size_t n,
                           int64_t iterations, dfl_chunk_time *out);
/* Whether an einsum runs in a chunk. */
bool dfl_chunk_has(const dfl_frame *f, const dfl_chunk *chunk, uint32_t einsum);
/* Whether `zero_bubble` runs two einsums of the backward phase in different passes: one makes the gradient of a weight. */
bool dfl_chunk_splits(const dfl_frame *f, uint32_t a, uint32_t b);
/* Iterations in a chunk of the repeat that an einsum belongs to; 1 outside of repeats. */
int64_t dfl_chunk_iterations(const dfl_frame *f, const dfl_chunk *chunk, uint32_t einsum);
/* Whether an exchange stands before or behind an einsum in a chunk. */
bool dfl_chunk_exchanges(const dfl_frame *f, const dfl_chunk *chunk, uint32_t einsum, const dfl_plan_exchange *exchange);
/* The backward einsum before whose part of the pass the recomputed einsums outside of repeats run: the first one outside of
   repeats, or of a repeat that reads what they make; if there is none, the first of the pass. DFL_NONE = no backward pass. */
uint32_t dfl_chunk_again_outside(const dfl_frame *f);

#endif
