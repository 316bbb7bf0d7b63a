/*
 * Execution of a plan over chips. Each chip computes its part of every einsum with the elements that it holds. What it lacks must
 * come from chips of the same group. It follows sections 2, 3 and 5 of src/plan/PLAN.md with explicit sets of elements, and
 * shares no code with the folder `plan`. It finds the exchanges, what each chip holds, and whether the results equal those of
 * one chip that has everything.
 */
#ifndef DFL_ORACLE_CHIPS_CHIPS_H
#define DFL_ORACLE_CHIPS_CHIPS_H

#include "diag/diag.h"
#include "ir/plan_result.h"

typedef struct {
    const char *kind;          /* the word of a report: "all_gather" */
    uint32_t tensor;
    uint32_t einsum;           /* asks for the exchange, or made the tensor */
    int64_t group;             /* number of chips that exchange with each other */
    uint32_t side;             /* message from a neighbour: 1 + 2 * group of chips + 1 if it stands behind; else 0 */
    dfl_i128 bits;             /* as the key `bits` of a report */
    dfl_i128 all_bits;         /* of all of them in a step, of any stage */
    dfl_i128 part;             /* most bits that one chip gets from one other chip in one exchange; -1 = not found */
    dfl_i128 *count;           /* [stage]: exchanges in a step; of messages between stages, those that it sends */
    dfl_i128 *received;        /* [stage]: messages between stages that it receives in a step */
} dfl_chips_exchange;

/* What the chip with most does in a pass of an einsum, summed over the iterations of its repeat. */
typedef struct {
    dfl_i128 points;
    dfl_i128 *read;            /* [operand]: elements that it touches */
    dfl_i128 made;             /* elements of the result */
} dfl_chips_work;

typedef struct {
    dfl_chips_work *work;      /* [einsum] */
    dfl_chips_exchange *exchanges; uint32_t n_exchanges;
    uint32_t n_stages;
    dfl_i128 *held;            /* [(memory * n_stages + stage) * DFL_N_HELD + part]: bits of the chip that holds most */
    uint64_t n_chips, n_values; /* number of chips; number of elements, over all chips, whose values were compared */
    uint64_t missing;          /* elements that a chip needs and that no chip of the group has */
    uint32_t missing_tensor, missing_einsum; /* the first of them */
    uint64_t wrong;            /* elements with another value than on one chip */
    uint32_t wrong_tensor;     /* the first of them */
} dfl_chips_result;

/* Executes a plan. NULL after a report: the sizes are too large, or the plan has what is not executed. */
const dfl_chips_result *dfl_chips_run(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping);

/* The chips that the lines of a plan use along each axis of its system, into `of_axis`; 1 along other axes. False after a
   report. */
bool dfl_chips_count(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping, int64_t *of_axis);

#endif
