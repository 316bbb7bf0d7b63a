/* Costs that several steps of the check compute. */
#ifndef DFL_CERTIFY_COST_H
#define DFL_CERTIFY_COST_H

#include "certify/certify_internal.h"

/* Objective value for `joules` without leakage and `seconds`; adds the energy that leaks in `seconds`. */
double dfl_certify_value(const dfl_certify_run *run, double joules, double seconds);
/* Whether two costs are equal within the relative rounding of the task. */
bool dfl_certify_is_same(const dfl_certify_run *run, double a, double b);
/* Number of buffers of the tile that an operand exchanges at a memory level: the memory's `buffers` for an input that a
   keep may hold for several einsums, since such an input is fetched; else 1. */
double dfl_certify_buffers(const dfl_certify_run *run, const dfl_certify_problem *problem, uint32_t operand, uint32_t level);
/* Energy to fetch all elements of an operand once from its home into `memory` (in J); 0 if `memory` is the home, or if no
   keep may hold the operand for several einsums. */
double dfl_certify_fetch_joules(const dfl_certify_run *run, const dfl_certify_problem *problem, uint32_t operand,
                                uint32_t memory);

#endif
