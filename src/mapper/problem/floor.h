/*
 * What every mapping of an einsum on a unit costs at least, whatever its skeleton and its tiles: rules B30 to B33 of SEARCH.md.
 * The floor takes microseconds, so it is there where skeletons are too many to bound.
 */
#ifndef DFL_MAPPER_PROBLEM_FLOOR_H
#define DFL_MAPPER_PROBLEM_FLOOR_H

#include "mapper/problem/einsum_problem.h"
#include "mapper/problem/objective.h"

typedef struct {
    double joules, seconds;   /* without leakage */
} dfl_floor;

/* Steps of the busiest instance, at least (B30). */
double dfl_floor_steps(const dfl_problem *problem);
/* Energy and time of the einsum of the problem, each at least. */
dfl_floor dfl_floor_make(const dfl_problem *problem);
/* Lower bound of the energy, in J, that memories take for all transfers of one operand, wherever its keeps are (B31, B32). */
double dfl_floor_joules_of(const dfl_problem *problem, uint32_t operand);
/* The same bound with keeps of the operand in exactly the places of a mask, all inside of its home (B59). No window slides. */
double dfl_floor_joules_at(const dfl_problem *problem, uint32_t operand, uint32_t places);
/* The objective of an einsum by its floors, with a leakage in W: the least of its problems, one for each unit that can run it. */
double dfl_floor_value(const dfl_objective *objective, double leakage, const dfl_problem *const *problems, uint32_t n_problems);
/* The same among other einsums, which may move operands between their homes and inner memories, too: those operands that are not
   in the mask `alone`. The time is that of the unit, of `steps` (dfl_floor_steps), and of what it reads and writes. */
dfl_floor dfl_floor_among(const dfl_problem *problem, double steps, uint32_t alone);

#endif
