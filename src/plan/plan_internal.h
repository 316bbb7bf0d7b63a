/* What the evaluation of a plan knows after each of its steps; shared by plan.c and record.c. */
#ifndef DFL_PLAN_PLAN_INTERNAL_H
#define DFL_PLAN_PLAN_INTERNAL_H

#include "ir/result.h"
#include "pipeline/pipeline.h"
#include "plan/memory/held.h"
#include "plan/plan.h"

struct dfl_plan_memo {
    dfl_memo *groups;               /* of dfl_groups (plan/pass/grouping.c) */
    dfl_memo *pipelines;            /* of dfl_pipeline_times (plan/plan.c) */
};

/* A kind of micro-batches: equal work and times (plan/kinds.h). */
typedef struct {
    int64_t count;                  /* number of micro-batches */
    bool is_first;                  /* it starts the sums over all micro-batches, too */
    dfl_plan_work work;
    const dfl_chunk_time **forward, **backward; /* [chunk * stages + stage]; backward NULL without a backward pass */
    const dfl_chunk_time **weights; /* [chunk * stages + stage]: zero_bubble, the weights' gradients; else NULL */
    dfl_i128 message_bits;          /* what a stage sends to the next one for one micro-batch */
    dfl_collective_cost message;    /* from a stage to the next one, or back */
    dfl_collective_cost closing;    /* from the last stage to the first one, or back; costs nothing without an interleave */
} dfl_plan_kind;

typedef struct {
    dfl_frame frame;
    dfl_layouts layouts;
    dfl_plan_exchanges exchanges;
    dfl_plan_branches branches;
    dfl_plan_work work;
    dfl_chip_time *times, *again; /* [einsum]; `again`: of those that the backward pass recomputes */
    uint32_t stages, interleave;
    int64_t layers;                 /* iterations of the repeat with stages; 0 without stages */
    int64_t *chunk_layers;          /* [chunk * stages + stage] */
    dfl_plan_kind *kinds; uint32_t n_kinds;
    const uint32_t *kind_of;        /* [micro-batch]; NULL = all are of kind 0 */
    const dfl_chunk_time *update[3]; /* on the first, a middle and the last stage */
    dfl_pipeline_times pipeline;
    double *exchanged;              /* [stage]: end of the exchange of its gradients (in s) */
    double *moved;                  /* [network]: bits that one chip of each stage sends over it in a step */
    dfl_plan_memo *memo;            /* NULL = no results of other plans are used */
    dfl_plan_result out;
} dfl_plan_state;

/* The step of the optimizer on a stage; NULL = the plan has none. */
static inline const dfl_chunk_time *dfl_plan_update(const dfl_plan_state *p, uint32_t stage)
{
    return p->update[stage == 0 ? 0 : stage + 1 == p->stages ? 2 : 1];
}
/* What chunk number `chunk` of all stages sends to the next one, or with `back` to the one before: the last stage sends to the
   first one, which is a longer way on some networks. */
static inline const dfl_collective_cost *dfl_plan_message(const dfl_plan_state *p, const dfl_plan_kind *kind, uint32_t chunk,
                                                          bool back)
{
    const uint32_t behind = back ? chunk : chunk + 1; /* the two chunks are behind - 1 and behind */

    return behind > 0 && behind < p->stages * p->interleave && behind % p->stages == 0 ? &kind->closing : &kind->message;
}
/* The end of a stage: of its gradients and its step of the optimizer. */
static inline double dfl_plan_end(const dfl_plan_state *p, uint32_t stage)
{
    return p->exchanged[stage] + (dfl_plan_update(p, stage) ? dfl_plan_update(p, stage)->seconds : 0);
}
/* The latency of a plan: the latest end of a stage. */
static inline double dfl_plan_latency(const dfl_plan_state *p) { return dfl_plan_end(p, p->out.last_stage); }
/* The kind of the last micro-batch. */
static inline const dfl_plan_kind *dfl_plan_last_kind(const dfl_plan_state *p)
{
    return &p->kinds[p->kind_of != NULL ? p->kind_of[p->frame.micro_batches - 1] : 0];
}
/* Opens the frame and refuses lines and options that are not evaluated. False after a report, or without a chip. */
bool dfl_plan_start(dfl_plan_state *p, dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping);
bool dfl_plan_has_phase(const dfl_workload *w, dfl_phase phase);
/* Divides the layers among the chunks: consecutive layers, the first chunks one more. */
void dfl_plan_divide_layers(dfl_plan_state *p);
/* Finds the stages in time, the layouts being known; `known`: the exchanges, else NULL. Memories are not looked at. False after a
   report, or if the budget of the arena is stopped. */
bool dfl_plan_find_step(dfl_plan_state *p, const dfl_plan_exchanges *known);
/* What the memory of a stage depends on. */
dfl_stage_shape dfl_plan_shape(const dfl_plan_state *p, uint32_t stage);
/* Records the exchanges, the links, the groups of chips and the shares of the peak rate in `p->out`. False after a report. */
bool dfl_plan_record(dfl_plan_state *p);
/* The result with the costs of einsums, memories and networks; the sums of the whole system. NULL after a report. */
const dfl_result *dfl_plan_result_of(dfl_plan_state *p);

#endif
