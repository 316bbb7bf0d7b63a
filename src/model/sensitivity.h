/*
 * How the costs of a mapping change with the numbers of its system: bandwidths, rates, energies of an action,
 * leakage.
 *
 * Counts depend on none of them. So energy is a sum of `value * actions`, and linear in each without end. Latency is
 * made of bits over bandwidths and operations over rates by sums and maxima: in u = (present value / value) of one of
 * them it is convex, never falls, and consists of straight pieces. On the piece around the present value
 *
 *     seconds = fixed + waited / value
 *
 * `waited` being the bits or operations that everything waits for. Where the piece ends, at a wall, something else
 * becomes what is waited for. Pieces are found by evaluating the time model: three points of a convex function that
 * lie on a line have nothing but that line between them; from a point off the line, the tangent there is followed to
 * where it meets the line, until the meeting point lies on the function (Newton's method, which ends after finitely
 * many pieces). Points count as on the line within 1e-12 of it, and 1e-14 of the present latency; ends are looked for
 * up to 4^16 times the value. If the method has not ended after 200 steps, the piece is told as far as it was proven
 * straight (`proven`).
 */
#ifndef DFL_MODEL_SENSITIVITY_H
#define DFL_MODEL_SENSITIVITY_H

#include "model/model.h"

typedef enum {
    /* of time: of a memory, bit/s; of a unit, MAC/s or FLOP/s */
    DFL_PARAM_BANDWIDTH, DFL_PARAM_READ_BANDWIDTH, DFL_PARAM_WRITE_BANDWIDTH, DFL_PARAM_RATE,
    /* of energy: of a memory, J/bit; of a unit, J/MAC and J/FLOP; J/bit; W per instance */
    DFL_PARAM_ENERGY, DFL_PARAM_READ_ENERGY, DFL_PARAM_WRITE_ENERGY, DFL_PARAM_MAC_ENERGY, DFL_PARAM_FLOP_ENERGY,
    DFL_PARAM_NETWORK_ENERGY, DFL_PARAM_MEMORY_LEAKAGE, DFL_PARAM_UNIT_LEAKAGE,
} dfl_param_kind;

/* The straight piece on one side of the present value. */
typedef struct {
    double fixed, waited;
    double until;             /* value at its end; without one 0 (slower) or INFINITY (faster) */
    bool wall;                /* it has an end */
    bool proven;              /* false: the end was not found, and lies beyond `until` */
    uint32_t next;            /* what is waited for more beyond it: a parameter of time, or DFL_NONE */
} dfl_rate_piece;

typedef struct {
    dfl_param_kind kind;
    uint32_t part;            /* id of the memory, unit or network */
    uint32_t rate;            /* RATE: number among those of the unit */
    double value;
    /* of time; both pieces are parts of one line, unless the present value is itself a wall */
    dfl_rate_piece faster, slower; /* with larger values, with smaller ones */
    /* of energy */
    dfl_i128 actions;         /* bits, MACs, FLOPs; leakage: instances */
    bool over;                /* `actions` pass 2^127: not known */
    double per_value;         /* d joules / d value with the latency as it is */
} dfl_param;

/* What bounds an einsum by itself. */
typedef struct {
    uint32_t param;           /* what it waits for most, DFL_NONE for an einsum that takes no time */
    bool looked;              /* it is one of the slowest, and so has the following */
    double share;             /* elasticity of its latency to that, when it gets faster */
    dfl_rate_piece faster;         /* of its latency */
} dfl_einsum_bound;

enum { DFL_SENSITIVITY_EINSUMS = 16 };

typedef struct {
    const dfl_result *result;
    dfl_param *params; uint32_t n_params;  /* of time, then of energy; by the system's parts */
    uint32_t n_timed;
    dfl_einsum_bound *einsums;
    double leakage;           /* W of the whole system: d joules / d seconds */
} dfl_sensitivity;

bool dfl_param_is_timed(dfl_param_kind kind);
/* Of the last run of the model, which has its result again afterwards. */
const dfl_sensitivity *dfl_sensitivity_find(dfl_arena *arena, dfl_model *model, const dfl_result *result);

#endif
