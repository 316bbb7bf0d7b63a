/*
 * Plan of the time of a mapping: attributes of the system that affect the time, and buffers for intermediate sums. The
 * plan is allocated once for a mapping.
 */
#ifndef DFL_MODEL_COST_TIME_PLAN_H
#define DFL_MODEL_COST_TIME_PLAN_H

#include "model/counts/traffic_plan.h"

/* A pair of numbers for the reads and the writes of a memory, in bits, elements or seconds. */
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

/* Bits at the inner end and at the outer end of a transfer; its time (in s). */
typedef struct { dfl_ports here, there; double seconds; } dfl_transfer_slot;

/* Transfer: the elements that move between a keep and the next outer one, in one slot for each loop whose advance moves
   them. Slot [step] is for the first tile to enter, slot [step + 1] for the last tile to leave. */
typedef struct {
    uint32_t keep, step, tensor;
    uint32_t inner, outer;    /* memories at the inner and the outer end */
    dfl_port_rates inner_ports, outer_ports;
    const dfl_efficiency *inner_share, *outer_share; /* share of the bandwidths at either end; NULL = the whole bandwidth */
    double bits;              /* bits of one element */
    dfl_delta *mine, *theirs; /* deltas of one instance of the inner memory, and of one instance of the outer memory */
    const uint64_t *steps;    /* [step]: number of positions, from the sizes of the loops (loop_sizes.h) */
    bool written;             /* an einsum below writes the tensor; if false, no element is drained */
    bool stream;
    bool waited;              /* the memory has a single buffer, so the work below stops during a refill */
    uint32_t among;           /* index of the tensor among the tensors that the keeps of the body move */
    uint32_t chain[2];        /* index of the tensor in two groups: tensors whose first tiles enter together, and tensors whose
                                 last tiles leave together */
    /* The following members hold values of the present sizes. */
    dfl_transfer_slot *slots;
    dfl_transfer_totals all;
    uint64_t stops;           /* bit set: loops whose advance stops the work below */
} dfl_transfer;

/* Port of an operand or of the result of an einsum, in the memory of the tensor's innermost keep. */
typedef struct {
    uint32_t operand, keep, memory;
    bool output;
    double bits;     /* bits of one element */
    dfl_ports moved; /* bits read and written at the present sizes */
} dfl_operand_port;

/* Time of one einsum without the transfers of keeps. */
typedef struct {
    dfl_operand_port *ports; /* ports of the operands, sorted by memory */
    uint32_t n_ports;
    const dfl_compute *unit; /* the unit, with the rates that count */
    double point_seconds;    /* seconds of the unit for one point at full rate */
    double instances;        /* number of instances of the unit */
} dfl_einsum_time;

/* Transfers of a body: `n` transfers from index `first` on. The transfers of inner bodies have the indices from
   `below` to `first` - 1. `chains`: number of tensors that the body's own transfers move. */
typedef struct { uint32_t first, n, below, chains; } dfl_body_time;

/* Transfers whose first tiles enter together, or whose last tiles leave together; number of tensors that these
   transfers move. */
typedef struct { uint32_t *at, n, chains; } dfl_transfer_ends;

/* Plan of the time of a mapping. */
typedef struct {
    dfl_transfer *transfers;    /* transfers; those of inner bodies precede those of the bodies around them */
    uint32_t n_transfers;
    dfl_body_time *bodies;      /* [body id]: transfers of the body */
    dfl_transfer_ends *ends[2]; /* groups of first tiles that enter together, and of last tiles that leave together (MODEL.md,
                                   section 4) */
    uint32_t n_ends[2];
    dfl_einsum_time *einsums;
    const char *(*names)[2];    /* [memory]: names of its read port and of its write port */
    dfl_port_rates *rates;      /* [memory]: bandwidths of the memory */
    uint32_t *memory;           /* [keep]: memory of the keep */
    double *bits;               /* [keep]: bits of one element */
    dfl_ports *rows;            /* rows of the evaluation at hand: one for each loop, or one for all loops; a row has the bits of
                                   each memory, then the seconds ([0]) of each tensor */
    const char **bound;         /* [body]: name of the port or unit that bounds the body in the evaluation at hand */
} dfl_time_plan;

/* Plans the time of a mapping. False after E0609. */
bool dfl_time_plan_make(dfl_nest *nest, dfl_keep_tree *keeps, dfl_time_plan *out);
/* Replaces the bandwidths and rates by those of `like`, a system with the same parts. */
void dfl_time_plan_set_rates(const dfl_nest *nest, const dfl_system *like, dfl_time_plan *out);

#endif
