/*
 * Plan of the time of a mapping: attributes of the system that time depends on, and room for intermediate sums.
 * Allocated once for a mapping.
 */
#ifndef DFL_MODEL_COST_TIME_PLAN_H
#define DFL_MODEL_COST_TIME_PLAN_H

#include "model/counts/traffic_plan.h"

/* Reads and writes of a memory side by side, in bits, elements or seconds. */
typedef double dfl_ports __attribute__((vector_size(2 * sizeof(double))));
enum { DFL_READ, DFL_WRITE };

/* Bandwidths of a memory in bit/s. With `one_port` reads and writes share one port. */
typedef struct { dfl_ports rates; bool one_port; } dfl_port_rates;

/* Sums over all loops of a transfer. */
typedef struct {
    dfl_ports here, there;
    double seconds;
    uint64_t lasting; /* bit set: loops whose advance takes time */
} dfl_transfer_totals;

/* Bits at the inner end and at the outer end of a transfer, and its seconds. */
typedef struct { dfl_ports here, there; double seconds; } dfl_transfer_slot;

/* Transfer: the elements that move between a keep and the next outer one, in one slot for each loop whose advance moves
   them. Slot [step] is the first tile in, slot [step + 1] the last tile out. */
typedef struct {
    uint32_t keep, step, tensor;
    uint32_t inner, outer;    /* memories at the two ends */
    dfl_port_rates inner_ports, outer_ports;
    double bits;              /* bits of an element */
    dfl_delta *mine, *theirs; /* deltas of one instance of the inner memory; of the outer memory */
    const uint64_t *steps;    /* positions by step, from the sizes of the loops (loop_sizes.h) */
    bool written;             /* an einsum below writes the tensor; if false, nothing is drained */
    bool stream;
    bool waited;              /* the memory has a single buffer: the work below stops while it is refilled */
    uint32_t among;           /* number of the tensor among those that the keeps of the body move */
    uint32_t chain[2];        /* number of the tensor among those whose first tiles come in together; and among those
                                 whose last tiles go out together */
    /* Of the present sizes. */
    dfl_transfer_slot *slots;
    dfl_transfer_totals all;
    uint64_t stops;           /* bit set: loops whose advance stops the work below */
} dfl_transfer;

/* Port of an operand or of the result of an einsum, at its innermost keep. */
typedef struct {
    uint32_t operand, keep, memory;
    bool output;
    double bits;     /* bits of an element */
    dfl_ports moved; /* bits read and written, of the present sizes */
} dfl_operand_port;

/* Time of one einsum, without the transfers of keeps. */
typedef struct {
    dfl_operand_port *ports; /* ports of the operands, sorted by memory */
    uint32_t n_ports;
    double point_seconds;    /* seconds of the unit for one point */
    double instances;        /* number of instances of the unit */
} dfl_einsum_time;

/* Transfers of a body: `n` from `first` on. Those of the bodies inside stand from `below` to `first`. `chains` is the
   number of tensors that its own transfers move. */
typedef struct { uint32_t first, n, below, chains; } dfl_body_time;

/* Transfers whose first tiles come in together, or whose last tiles go out together; number of tensors that they move. */
typedef struct { uint32_t *at, n, chains; } dfl_transfer_ends;

/* Plan of the time of a mapping. */
typedef struct {
    dfl_transfer *transfers;    /* transfers, those of inner bodies before those of the bodies around */
    uint32_t n_transfers;
    dfl_body_time *bodies;      /* by body id */
    dfl_transfer_ends *ends[2]; /* groups of first tiles in, and groups of last tiles out (MODEL.md, section 4) */
    uint32_t n_ends[2];
    dfl_einsum_time *einsums;
    const char *(*names)[2];    /* by memory: names of its read port and its write port */
    dfl_port_rates *rates;      /* by memory */
    uint32_t *memory;           /* by keep */
    double *bits;               /* by keep: bits of an element */
    dfl_ports *rows;            /* scratch: one row for each loop, or one for all; a row has the bits of each memory,
                                   then the seconds ([0]) of each tensor */
    const char **bound;         /* scratch, by body: the port or unit that bounds it */
} dfl_time_plan;

/* Plans the time of a mapping. False after E0609. */
bool dfl_time_plan_make(dfl_nest *nest, dfl_keep_tree *keeps, dfl_time_plan *out);
/* Takes over the bandwidths and rates of `like`, a system with the same parts. */
void dfl_time_plan_set_rates(const dfl_nest *nest, const dfl_system *like, dfl_time_plan *out);

#endif
