/*
 * Sensitivity: the change of the costs of a mapping with the numbers of its system: bandwidths, rates, energies per
 * action, and leakage.
 *
 * Counts do not depend on these numbers. Energy is a sum of `value * actions`, so it is linear in each value without
 * limits. Latency is a function of bits over bandwidths and of operations over rates, composed of sums and maxima. As a
 * function of u = (present value / value) of one parameter, latency is convex, never decreases, and consists of
 * straight pieces. On the piece around the present value
 *
 *     seconds = fixed + waited / value,
 *
 * where `waited` is the number of bits or operations of the parameter that bounds the latency. With the latency of a memory
 * or network, the time is a function of the same kind, with u = value / present value. On a piece, it is
 * fixed + waited * value, where `waited` is the number of times that the work waits. A piece ends at a wall.
 * Beyond the wall, another parameter bounds the latency.
 *
 * The pieces are found by evaluations of the time model. If three points of a convex function lie on a line, the
 * function is that line between them. From a point off the line, the tangent is followed back to the line. The step is
 * repeated from the function at the meeting point until the meeting point lies on the function. The procedure is
 * Newton's method, which ends after finitely many pieces. A point counts as on the line within DFL_LATENCY_TOLERANCE of
 * its latency and DFL_LATENCY_ROUNDING of the present latency. The search for an end stops at 4^DFL_FARTHEST_POWER
 * times the value. If the method has not ended after DFL_NEWTON_STEPS steps, the reported piece is the part that was
 * proven straight (`proven` is false).
 */
#ifndef DFL_MODEL_SENSITIVITY_H
#define DFL_MODEL_SENSITIVITY_H

#include "ir/path/unroll.h"
#include "model/model.h"

/* Numbers of a system that affect costs. */
typedef enum {
    /* Parameters of time: bandwidth of a memory, and of a link of a network, bit/s; rate of a unit, MAC/s or FLOP/s. */
    DFL_PARAM_BANDWIDTH, DFL_PARAM_READ_BANDWIDTH, DFL_PARAM_WRITE_BANDWIDTH, DFL_PARAM_NETWORK_BANDWIDTH, DFL_PARAM_RATE,
    /* Parameters of time: latency of a memory, and of a link of a network, s. */
    DFL_PARAM_MEMORY_LATENCY, DFL_PARAM_NETWORK_LATENCY,
    /* Parameters of energy: energy of a memory, J/bit; of a unit, J/MAC and J/FLOP; of a network, J/bit. Leakage power,
       W per instance. */
    DFL_PARAM_ENERGY, DFL_PARAM_READ_ENERGY, DFL_PARAM_WRITE_ENERGY, DFL_PARAM_DRAIN_ENERGY, DFL_PARAM_MAC_ENERGY,
    DFL_PARAM_FLOP_ENERGY, DFL_PARAM_NETWORK_ENERGY, DFL_PARAM_MEMORY_LEAKAGE, DFL_PARAM_UNIT_LEAKAGE,
} dfl_param_kind;

/* The straight piece of the latency on one side of the present value: seconds = fixed + waited / value, or with a parameter that
   is a latency, fixed + waited * value. */
typedef struct {
    double fixed, waited;
    double until;  /* value at the end of the piece; 0 (towards slower) or INFINITY (towards faster) without an end */
    bool wall;     /* the piece has an end within the range of the search */
    bool proven;   /* the end is exact; if false, it lies beyond `until` */
    uint32_t next; /* parameter whose waiting time increases most beyond the end; DFL_NONE if no waiting time increases */
} dfl_rate_piece;

/* Sensitivity of the costs to one number of the system. */
typedef struct {
    dfl_param_kind kind;
    uint32_t part;                 /* id of the memory, unit or network */
    uint32_t rate;                 /* DFL_PARAM_RATE: index among the rates of the unit */
    double value;
    /* The following members are those of a parameter of time. The two pieces lie on one line unless the present value
       is a wall. */
    dfl_rate_piece faster, slower; /* piece towards larger values; piece towards smaller values */
    /* The following members are those of a parameter of energy. */
    dfl_i128 actions;              /* number of bits, MACs or FLOPs; for leakage, number of instances */
    bool over;                     /* `actions` exceeds 2^127 and is undefined */
    double per_value;              /* d joules / d value at the present latency */
} dfl_param;

/* The parameter that bounds one einsum. */
typedef struct {
    uint32_t param;        /* parameter that the einsum waits for most; DFL_NONE if the einsum takes no time */
    bool looked;           /* the einsum is one of the slowest; the following members are set only for these */
    double share;          /* elasticity of its latency to `param`, towards faster */
    dfl_rate_piece faster; /* piece of its latency, towards faster */
} dfl_einsum_bound;

/* Number of the slowest einsums with a piece of their own. */
enum { DFL_SENSITIVITY_EINSUMS = 16 };

/* Sensitivities of one result. */
typedef struct {
    const dfl_result *result;
    dfl_param *params; uint32_t n_params; /* parameters of time, then parameters of energy, each in the order of the parts of
                                             the system */
    uint32_t n_timed;
    dfl_einsum_bound *einsums;
    double leakage; /* leakage power of the whole system (in W), which equals d joules / d seconds */
} dfl_sensitivity;

/* Tells whether a parameter is one of time (a bandwidth, a rate or a latency); all other parameters are of energy. */
bool dfl_param_is_timed(dfl_param_kind kind);
/* Tells whether a parameter is the latency of a memory or network: a larger value takes longer. */
bool dfl_param_is_latency(dfl_param_kind kind);
/* Finds the sensitivities of the last run of a model. Afterwards, the model again has the result of that run. The einsums are
   those of the given mapping, each with all of its copies in `unrolled`; NULL = the model runs the given mapping. The result is
   allocated in `arena`. */
const dfl_sensitivity *dfl_sensitivity_find(dfl_arena *arena, dfl_model *model, const dfl_unrolled *unrolled,
                                            const dfl_result *result);

#endif
