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

/* Traffic of one tensor in one memory: the sum over its keeps in the memory. */
typedef struct {
    uint32_t memory, tensor;
    dfl_counts counts;
    dfl_counts first;          /* counts of the instance at coordinate 0 of every axis, which determine the time */
    bool rough;                /* `first` is partly an estimate (MODEL.md, section 4) */
    dfl_i128 peak_bits;        /* largest number of bits that the tensor occupies in one instance, buffers included */
    double joules;
} dfl_traffic;

typedef struct {
    dfl_i128 macs;             /* points of `+=` over a product of two tensors */
    dfl_i128 flops;            /* all operations except MACs */
    dfl_i128 padding;          /* MACs with an operand outside of the tensor's declared shape */
    dfl_i128 extra;            /* operations in excess of the workload's, by `recompute` and `online` */
    dfl_i128 points;           /* executed points, `extra` included */
    dfl_i128 steps;            /* steps that the busiest instance takes */
    uint32_t compute;
    double compute_seconds;    /* time that the unit spends computing the einsum (in s) */
    double seconds, joules;
    const char *bound_by;      /* the bottleneck: "mac", "sram.read", ... */
} dfl_einsum_cost;

typedef struct {
    uint32_t memory;
    dfl_i128 peak_bits;        /* largest sum of live tiles in one instance (in bits) */
    dfl_span peak_at;          /* line of the mapping at which the peak occurs */
    double read_seconds, write_seconds; /* port time of the busiest instance (in s) */
    double read_joules, write_joules;
    dfl_i128 instances;
} dfl_memory_cost;

typedef struct {
    uint32_t axis;
    dfl_i128 forwarded;        /* elements that links transfer between neighbours */
} dfl_link_cost;

typedef struct {
    const dfl_mapping *mapping;
    const dfl_traffic *traffic; uint32_t n_traffic; /* by memory, then by tensor; contains only pairs with a keep */
    const dfl_einsum_cost *einsums;                 /* [einsum], n_einsums costs */
    const dfl_memory_cost *memories;                /* [memory], n_memories costs */
    const dfl_link_cost *links;                     /* [axis], n_axes costs */
    double *compute_joules;                         /* [compute unit]: energy of the unit (in J) */
    double *network_joules;                         /* [network]: energy of the network (in J) */
    double leakage_joules;
    dfl_i128 macs, flops, padding, extra;
    double seconds, joules, watts, area;
    double utilization;                             /* fraction of the peak MAC (or FLOP) rate of the units in use, 0 .. 1 */
    const char *bound_by;
} dfl_result;

#endif
