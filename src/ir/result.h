/*
 * The result of the model: the costs of a mapping. Counts are elements over all instances, with the names of MODEL.md.
 * Times are in seconds, energies in joules. Arrays are indexed by the ids of the workload and the system.
 */
#ifndef DFL_IR_RESULT_H
#define DFL_IR_RESULT_H

#include "ir/mapping.h"

/* Transfers of a keep, in elements. Reads: serve (to inner keeps and operands), drain (to the outer keep), accumulate
   (before an update). Writes: fill (from the outer keep), update (from inside). */
typedef struct {
    dfl_i128 serve, drain, accumulate, fill, update;
} dfl_counts;

/* One tensor in one memory: the sum over its keeps there. */
typedef struct {
    uint32_t memory, tensor;
    dfl_counts counts;
    dfl_counts first;          /* counts of the instance at coordinate 0 of every axis, which determine the time */
    bool rough;                /* `first` is an estimate in part (MODEL.md, section 4) */
    dfl_i128 peak_bits;        /* largest room that the tensor takes in one instance, buffers included */
    double joules;
} dfl_traffic;

typedef struct {
    dfl_i128 macs;             /* points of `+=` over a two-tensor product */
    dfl_i128 flops;            /* all other operations */
    dfl_i128 padding;          /* MACs with an operand outside its shape */
    dfl_i128 extra;            /* operations beyond the workload's, by `recompute` and `online` */
    dfl_i128 points;           /* executed points, `extra` included */
    dfl_i128 steps;            /* steps that the busiest instance takes */
    uint32_t compute;
    double compute_seconds;    /* time that the unit computes */
    double seconds, joules;
    const char *bound_by;      /* the bottleneck: "mac", "sram.read", ... */
} dfl_einsum_cost;

typedef struct {
    uint32_t memory;
    dfl_i128 peak_bits;        /* largest sum of live tiles in one instance */
    dfl_span peak_at;          /* the line of the mapping with the peak */
    double read_seconds, write_seconds; /* port time of the busiest instance */
    double read_joules, write_joules;
    dfl_i128 instances;
} dfl_memory_cost;

typedef struct {
    uint32_t axis;
    dfl_i128 forwarded;        /* link transfers between neighbours */
} dfl_link_cost;

typedef struct {
    const dfl_mapping *mapping;
    const dfl_traffic *traffic; uint32_t n_traffic; /* by memory, then tensor; only pairs with a keep */
    const dfl_einsum_cost *einsums;                 /* n_einsums */
    const dfl_memory_cost *memories;                /* n_memories */
    const dfl_link_cost *links;                     /* n_axes */
    double *compute_joules;                         /* per compute unit */
    double *network_joules;                         /* per network */
    double leakage_joules;
    dfl_i128 macs, flops, padding, extra;
    double seconds, joules, watts, area;
    double utilization;                             /* of the peak MAC (or FLOP) rate of the units used */
    const char *bound_by;
} dfl_result;

#endif
