/*
 * What moves between chips: an exchange for every change from the layout in which a tensor lies to the one in which an einsum
 * asks for it, and for every sum whose parts lie on several chips.
 *
 *   from         to          exchange
 *   split a      replicated  all-gather; broadcast if a pass reads one element along a
 *   split a      split b     all-to-all
 *   replicated   any         none: each chip takes its part
 *   parts of sum replicated  all-reduce
 *   parts of sum split       reduce-scatter
 *   split a      split a, and neighbouring elements
 *                            point to point: a message from each neighbour (plan/layout/halos.h)
 *   any          rows        all-to-all: points go to the instances that have their rows (plan/layout/rows.h)
 *   rows         split       all-to-all: and come back
 *   rows         replicated  all-gather
 *   sums of what each instance has of the points of an element, fewer points than instances
 *                split       all-to-all of the points
 */
#ifndef DFL_PLAN_EXCHANGE_EXCHANGES_H
#define DFL_PLAN_EXCHANGE_EXCHANGES_H

#include "plan/layout/layouts.h"

/* Where an exchange stands in the order of work. */
typedef enum {
    DFL_EXCHANGE_BEFORE, /* before `einsum`, which asks for the tensor */
    DFL_EXCHANGE_AFTER,  /* after `einsum`, the last that adds to the tensor, in every pass */
    DFL_EXCHANGE_ONCE,   /* after the last pass of the step: sums over all micro-batches */
} dfl_exchange_place;

typedef struct {
    dfl_collective_kind kind;
    dfl_exchange_place place;
    uint32_t tensor, einsum;
    dfl_phase phase;
    uint64_t slots;              /* mask of the slots of the group */
    bool is_halo;                /* elements that an instance lacks beside its part, from one neighbour */
    bool is_tied;                /* a sum over the first and the last stage, which both use the tensor */
    dfl_i128 bits;               /* of one exchange, as in dfl_collective */
    dfl_i128 most_bits;          /* the same if all ranks had as much as the one with most points; 0 = all have equally much */
    bool has_parts;              /* `part_bits` is the largest part that one rank sends to another one, and `most_bits` as if all
                                    were so large */
    dfl_i128 part_bits;
    dfl_i128 room_bits;          /* points that go to rows: of the instance that gets most of them; else 0 */
    const dfl_access *access;    /* BEFORE: the operand for which the copy was made first; else NULL */
    dfl_layout *asked;           /* BEFORE: [slot], the layout asked for */
    uint32_t *readers; uint32_t n_readers; /* BEFORE: the einsums that read the copy */
    int64_t parts;               /* the einsum runs in as many parts, and each part has an exchange of its own; else 1 */
    dfl_collective_cost cost;
} dfl_plan_exchange;

typedef struct {
    dfl_plan_exchange *at;
    uint32_t n;
} dfl_plan_exchanges;

/* The exchanges of a plan, in workload order, with their costs; those of `before`, of another iteration (NULL: none), have known
   costs. False after a report. */
bool dfl_exchanges_find(const dfl_frame *f, const dfl_layouts *layouts, const dfl_plan_exchanges *before,
                        dfl_plan_exchanges *out);
/* Number of ranks of the group of an exchange. */
int64_t dfl_exchange_group(const dfl_frame *f, const dfl_plan_exchange *exchange);

#endif
