/*
 * Plans over chips. A plan is a mapping on chips that hold the tensors in their own memories: lines over axes of chips divide
 * ranks and layers among chips. This room derives the layouts, the exchanges between chips, the time of a step and what each
 * memory holds.
 *
 *   slots      the axes of chips as groups: which einsum divides which rank on which group
 *   layouts    how each tensor lies on the groups, and how each einsum asks for it
 *   exchanges  what moves between two layouts, and what it costs
 *   chip_time  what an einsum takes on one chip: operations over rates, beside operands over the port of their memory
 *   chunk      the einsums and exchanges of some layers in time, a list schedule
 *   held       what a stage holds in its memory
 *   plan       the stages in time, the exchange of gradients, the optimizer, the result
 */
#ifndef DFL_PLAN_PLAN_H
#define DFL_PLAN_PLAN_H

#include "diag/diag.h"
#include "ir/plan_result.h"
#include "ir/result.h"

/* Whether a plan has open amounts, as the `?` of `spatial b/? on node`. */
bool dfl_plan_is_open(const dfl_mapping *mapping);
/* Whether a plan gives work to all chips. False if it does not, and after a report: a group passes its axis. */
bool dfl_plan_uses_all(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping);
/* The costs of a plan, with `plan` set in the result. NULL after a report. */
const dfl_result *dfl_plan_evaluate(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping);

#endif
