/*
 * Sensitivity: how the costs of a mapping change with the numbers of its system, which are bandwidths, rates, energies of
 * an action, and leakage.
 *
 * Counts depend on none of these numbers. Energy is a sum of `value * actions`, so it is linear in each value without
 * limits. Latency is made of bits over bandwidths and operations over rates by sums and maxima. As a function of
 * u = (present value / value) of one parameter it is convex, never falls, and consists of straight pieces. On the piece
 * around the present value
 *
 *     seconds = fixed + waited / value,
 *
 * `waited` being the bits or operations of the parameter that the whole waits for. A piece ends at a wall. Beyond it the
 * whole waits for another parameter.
 *
 * Pieces are found by evaluations of the time model. If three points of a convex function lie on a line, the function is
 * that line between them. From a point off the line, the tangent there is followed back to the line, and again from the
 * function there, until the meeting point lies on the function. This is Newton's method, which ends after finitely many
 * pieces. Points count as on the line within DFL_LATENCY_TOLERANCE of their latency and DFL_LATENCY_ROUNDING of the present
 * one. Ends are looked for up to 4^DFL_FARTHEST_POWER times the value. If the method has not ended after DFL_NEWTON_STEPS
 * steps, the piece is given as far as it was proven straight (`proven` is false).
 */
#ifndef DFL_MODEL_SENSITIVITY_H
#define DFL_MODEL_SENSITIVITY_H

#include "model/model.h"

/* Numbers of a system that costs depend on. */
typedef enum {
    /* Of time: bandwidth of a memory, bit/s; rate of a unit, MAC/s or FLOP/s. */
    DFL_PARAM_BANDWIDTH, DFL_PARAM_READ_BANDWIDTH, DFL_PARAM_WRITE_BANDWIDTH, DFL_PARAM_RATE,
    /* Of energy: of a memory, J/bit; of a unit, J/MAC and J/FLOP; of a network, J/bit. Leakage: W per instance. */
    DFL_PARAM_ENERGY, DFL_PARAM_READ_ENERGY, DFL_PARAM_WRITE_ENERGY, DFL_PARAM_MAC_ENERGY, DFL_PARAM_FLOP_ENERGY,
    DFL_PARAM_NETWORK_ENERGY, DFL_PARAM_MEMORY_LEAKAGE, DFL_PARAM_UNIT_LEAKAGE,
} dfl_param_kind;

/* The straight piece of the latency on one side of the present value: seconds = fixed + waited / value. */
typedef struct {
    double fixed, waited;
    double until;  /* value at the end of the piece; 0 (towards slower) or INFINITY (towards faster) without an end */
    bool wall;     /* the piece has an end */
    bool proven;   /* the end is exact; if false, it lies beyond `until` */
    uint32_t next; /* parameter of time that is waited for more beyond the end; DFL_NONE if there is none */
} dfl_rate_piece;

/* Sensitivity of the costs to one number of the system. */
typedef struct {
    dfl_param_kind kind;
    uint32_t part;                 /* id of the memory, unit or network */
    uint32_t rate;                 /* DFL_PARAM_RATE: index among the rates of the unit */
    double value;
    /* Of time. Both pieces are on one line unless the present value is a wall. */
    dfl_rate_piece faster, slower; /* towards larger values; towards smaller values */
    /* Of energy. */
    dfl_i128 actions;              /* number of bits, MACs or FLOPs; for leakage: of instances */
    bool over;                     /* `actions` passes 2^127 and is not known */
    double per_value;              /* d joules / d value at the present latency */
} dfl_param;

/* What bounds one einsum. */
typedef struct {
    uint32_t param;        /* parameter that it waits for most; DFL_NONE if it takes no time */
    bool looked;           /* it is one of the slowest einsums; only then the following members are set */
    double share;          /* elasticity of its latency to `param`, towards faster */
    dfl_rate_piece faster; /* piece of its latency, towards faster */
} dfl_einsum_bound;

/* Number of the slowest einsums that get a piece of their own. */
enum { DFL_SENSITIVITY_EINSUMS = 16 };

/* Sensitivities of one result. */
typedef struct {
    const dfl_result *result;
    dfl_param *params; uint32_t n_params; /* parameters of time, then those of energy, by the parts of the system */
    uint32_t n_timed;
    dfl_einsum_bound *einsums;
    double leakage; /* W of the whole system, which is d joules / d seconds */
} dfl_sensitivity;

/* Tells whether a parameter is one of time (a bandwidth or a rate); the others are of energy. */
bool dfl_param_is_timed(dfl_param_kind kind);
/* Finds the sensitivities of the last run of a model. The model has the result of that run again afterwards. Lives in
   `arena`. */
const dfl_sensitivity *dfl_sensitivity_find(dfl_arena *arena, dfl_model *model, const dfl_result *result);

#endif
