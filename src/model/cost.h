/*
 * From counts to time and energy. Sections 4 and 5 of MODEL.md give the meaning; every function here is a sum, a
 * maximum or a product of counts and attributes of the system. A plan holds the attributes, and the room for what is
 * in between.
 */
#ifndef DFL_MODEL_COST_H
#define DFL_MODEL_COST_H

#include "model/traffic.h"

/* Bits at a memory, or names of its ports. */
typedef struct { double read, write; } dfl_ports;

/* Of all loops together. */
typedef struct {
    dfl_ports here, there;
    double seconds;
    uint64_t lasting;         /* loops that take time */
} dfl_totals;

/* What moves between a keep and the next outer one, by the loop whose advance causes it; behind the loops the arrays have
   a slot [step] for the first tile in and a slot [step + 1] for the last one out. */
typedef struct {
    uint32_t keep, step, tensor;
    uint32_t inner, outer;    /* memories */
    const dfl_memory *inner_memory, *outer_memory;
    double bits;              /* of an element */
    dfl_moves *mine, *theirs; /* of one instance at each end */
    bool stream;
    bool waited;              /* one buffer: the work below cannot go on while it is refilled */
    uint32_t chain;           /* number of the tensor among those that are moved */
    /* of the present sizes */
    dfl_ports *here, *there;  /* bits at each end */
    double *seconds;
    dfl_totals all;
    uint64_t active;          /* loops with anything to move */
    uint64_t waits;           /* loops at which the work below cannot go on meanwhile */
} dfl_transfer;

/* An operand or the result of an einsum (a number in the traffic plan) at its innermost keep. */
typedef struct { uint32_t operand, keep, memory; bool output; } dfl_operand_port;

typedef struct {
    dfl_operand_port *ports;  /* by memory */
    uint32_t n_ports;
    double point;             /* seconds that the unit takes for a point */
    double instances;         /* of the unit */
} dfl_einsum_time;

typedef struct { uint32_t first, n, below; } dfl_body_time; /* its transfers; before them, from `below` on, those inside */

typedef struct {
    dfl_transfer *transfers;  /* those of inner bodies before those of the bodies around */
    uint32_t n_transfers;
    dfl_body_time *bodies;    /* by id */
    dfl_einsum_time *einsums;
    const char *(*names)[2];  /* per memory: read port, write port */
    dfl_ports *busy;          /* per memory: scratch */
    double *chain;            /* per tensor that is moved: scratch */
    uint32_t n_chains;
    const char **bound;       /* per body: scratch */
} dfl_time_plan;

typedef struct {
    uint32_t **networks;      /* per keep: networks between it and the outer keep */
    uint32_t *n_networks;
    double *each;             /* per einsum: J per point */
    double leakage, area;     /* of the whole system, W and m2 */
} dfl_energy_plan;

/* False after E0609. */
bool dfl_time_plan_make(dfl_setting *set, dfl_keeps *keeps, dfl_time_plan *out);
/* Latency of every einsum and of the whole, and what bounds them; false when the budget stopped. */
bool dfl_time_count(dfl_setting *set, const dfl_keeps *keeps, const dfl_time_plan *plan, const dfl_traffic_sums *sums,
                    dfl_result *result, dfl_einsum_cost *einsums, dfl_memory_cost *memories);
void dfl_energy_plan_make(const dfl_setting *set, const dfl_keeps *keeps, dfl_energy_plan *out);
/* Energy by component and tensor, area and power. `traffic` are the rows of the result. */
void dfl_energy_count(const dfl_setting *set, const dfl_keeps *keeps, const dfl_energy_plan *plan,
                      const dfl_traffic_sums *sums, dfl_result *result, dfl_traffic *traffic, dfl_einsum_cost *einsums,
                      dfl_memory_cost *memories);

#endif
