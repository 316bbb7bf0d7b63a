/*
 * From counts to time and energy. Sections 4 and 5 of MODEL.md give the meaning; every function here is a sum, a
 * maximum or a product of counts and attributes of the system. A plan holds the attributes, and the room for what is
 * in between.
 */
#ifndef DFL_MODEL_COST_TIME_PLAN_H
#define DFL_MODEL_COST_TIME_PLAN_H

#include "model/counts/traffic_plan.h"

/* What is read from a memory and what is written to it, in bits or seconds, side by side. */
typedef double dfl_ports __attribute__((vector_size(2 * sizeof(double))));
enum { DFL_READ, DFL_WRITE };

/* Bits per second, and whether reads and writes share one port. */
typedef struct { dfl_ports rates; bool one_port; } dfl_port_rates;

/* Of all loops together. */
typedef struct {
    dfl_ports here, there;
    double seconds;
    uint64_t lasting;         /* loops that take time */
} dfl_transfer_totals;

/* Bits at each end, and how long they take. */
typedef struct { dfl_ports here, there; double seconds; } dfl_transfer_slot;

/* What moves between a keep and the next outer one, by the loop whose advance causes it; behind the loops there is
   a slot [step] for the first tile in and a slot [step + 1] for the last one out. */
typedef struct {
    uint32_t keep, step, tensor;
    uint32_t inner, outer;    /* memories */
    dfl_port_rates inner_ports, outer_ports;
    double bits;              /* of an element */
    dfl_delta *mine, *theirs; /* of one instance at each end */
    const uint64_t *steps;    /* of the sizes of the loops around them */
    bool written;             /* else nothing leaves: what is there was there before */
    bool stream;
    bool waited;              /* one buffer: the work below cannot go on while it is refilled */
    uint32_t among;           /* number of the tensor among those that keeps of the body move */
    uint32_t chain[2];        /* and among those that move when its first tile comes in, and its last one goes out */
    /* of the present sizes */
    dfl_transfer_slot *slots;
    dfl_transfer_totals all;
    uint64_t stops;           /* loops at which the work below cannot go on meanwhile */
} dfl_transfer;

/* An operand or the result of an einsum (a number in the traffic plan) at its innermost keep. */
typedef struct {
    uint32_t operand, keep, memory;
    bool output;
    double bits;              /* of an element */
    dfl_ports moved;          /* bits, of the present sizes */
} dfl_operand_port;

typedef struct {
    dfl_operand_port *ports;  /* by memory */
    uint32_t n_ports;
    double footprint;             /* seconds that the unit takes for a point */
    double instances;         /* of the unit */
} dfl_einsum_time;

/* Its transfers; before them, from `below` on, those inside; tensors that its own move. */
typedef struct { uint32_t first, n, below, chains; } dfl_body_time;

/* Transfers whose first tiles come in side by side, or whose last ones go out; tensors that they move. */
typedef struct { uint32_t *at, n, chains; } dfl_transfer_ends;

typedef struct {
    dfl_transfer *transfers;  /* those of inner bodies before those of the bodies around */
    uint32_t n_transfers;
    dfl_body_time *bodies;    /* by id */
    dfl_transfer_ends *ends[2];        /* where a child of a branch begins, and where one ends (MODEL.md, section 4) */
    uint32_t n_ends[2];
    dfl_einsum_time *einsums;
    const char *(*names)[2];  /* per memory: read port, write port */
    dfl_port_rates *rates;    /* per memory */
    uint32_t *memory;         /* per keep */
    double *bits;             /* per keep: of an element */
    dfl_ports *rows;          /* scratch: per loop, or for all together in the first row, bits per memory and then seconds
                                 ([0]) per tensor that is moved */
    const char **bound;       /* per body: scratch */
} dfl_time_plan;

/* False after E0609. */
bool dfl_time_plan_make(dfl_nest *nest, dfl_keep_tree *keeps, dfl_time_plan *out);
/* Takes bandwidths and rates from a system alike. */
void dfl_time_plan_set_rates(const dfl_nest *nest, const dfl_system *like, dfl_time_plan *out);

#endif
