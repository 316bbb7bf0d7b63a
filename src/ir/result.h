/*
 * The result of the model: the costs of a mapping. Counts are elements over all instances, with the names of MODEL.md.
 * Times are in seconds, energies in joules. Arrays are indexed by the ids of the workload and the system.
 */
#ifndef DFL_IR_RESULT_H
#define DFL_IR_RESULT_H

#include "ir/plan_result.h"

/* Transfers of a keep, in elements. Reads: serve (to inner keeps and operands), drain (to the outer keep), accumulate
   (before an update). Writes: fill (from the outer keep), update (from inside). */
typedef struct {
    dfl_i128 serve, drain, accumulate, fill, update;
} dfl_counts;

/* Rows that a memory with `access` reads for the inside, drains, is filled with, and is updated with. */
typedef struct {
    dfl_i128 read, drain, fill, update;
} dfl_row_counts;

/* Traffic of one tensor in one memory: the sum over its keeps in the memory. */
typedef struct {
    uint32_t memory, tensor;
    dfl_counts counts;
    dfl_counts first;          /* counts of the instance at coordinate 0 of every axis, which determine the time */
    bool rough;                /* `first` is partly an estimate (MODEL.md, section 4) */
    dfl_row_counts rows;       /* in a memory with `access`: its accesses, over all instances */
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
    double bandwidth_required; /* bits of the busiest port of one instance over the time that the mapping takes if the port
                                  has no limit (in bit/s); 0 = not found, or the mapping then takes no time */
    double drain_joules;       /* of drains that have an energy of their own; else they are reads like all others */
} dfl_memory_cost;

typedef struct {
    uint32_t axis;
    dfl_i128 forwarded;        /* elements that links transfer between neighbours */
} dfl_link_cost;

/* Link class of a network: links with the same part in transfers (MODEL.md, section 2.9). `bits` is the number of bits on
   the busiest link of the class, in the instance of the network at coordinate 0 of the axes outside. */
typedef struct {
    const char *name;          /* "medium", "outer_down", ..., or "AXIS.down", "AXIS.up", "AXIS.forward" */
    dfl_i128 bits;
    double seconds;            /* bits / bandwidth (in s); 0 without a declared bandwidth */
    bool rough;                /* `bits` is an estimate (MODEL.md, section 2.9) */
} dfl_link_class;

/* Transfers over one network. The four numbers of bits are sums over all instances of the network. */
typedef struct {
    uint32_t network;
    dfl_i128 injected_bits, delivered_bits;  /* down: from the outer side; to the instances, forwarded bits included */
    dfl_i128 collected_bits, arriving_bits;  /* up: from the instances; at the outer side, after reduction */
    dfl_link_class *classes; uint32_t n_classes;
    bool rough;                /* some class is an estimate */
    double seconds;            /* time of the longest class (in s) */
    double bandwidth_required; /* bandwidth of a link with which the network bounds nothing (in bit/s); 0 if nothing crosses */
} dfl_network_cost;

typedef struct {
    const dfl_mapping *mapping;
    const dfl_traffic *traffic; uint32_t n_traffic; /* by memory, then by tensor; contains only pairs with a keep */
    const dfl_einsum_cost *einsums;                 /* [einsum], n_einsums costs */
    const dfl_memory_cost *memories;                /* [memory], n_memories costs */
    const dfl_link_cost *links;                     /* [axis], n_axes costs */
    const dfl_network_cost *networks;               /* [network], n_networks costs */
    double *compute_joules;                         /* [compute unit]: energy of the unit (in J) */
    double *network_joules;                         /* [network]: energy of the network (in J) */
    double leakage_joules;
    dfl_i128 macs, flops, padding, extra;
    double seconds, joules, watts, area;
    double utilization;                             /* fraction of the peak MAC (or FLOP) rate of the units in use, 0 .. 1 */
    const dfl_plan_result *plan;                    /* a plan over chips; NULL = a mapping of one chip */
    const char *bound_by;
} dfl_result;

#endif
