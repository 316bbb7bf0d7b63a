/*
 * A point evaluates mappings of one form: the mapping has a line for every cut of the form. The mapping is resolved and prepared
 * for the model once; each evaluation sets the amounts and runs the model. The model alone decides what a mapping is worth.
 */
#ifndef DFL_MAPPER_TILING_POINT_H
#define DFL_MAPPER_TILING_POINT_H

#include "mapper/problem/objective.h"
#include "mapper/tiling/form.h"

typedef struct dfl_point dfl_point;

/* Prepares the mappings of a form. `mapping` is the mapping that is searched: one einsum, all lines open; its homes stay. The
   point uses the memory of `arena` and memory of its own (dfl_point_free). In each gap the loops over windows come last, and
   `last` is the rank of the innermost of them, or any number above. */
dfl_point *dfl_point_make(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping, const dfl_form *form,
                          uint32_t last);
void dfl_point_free(dfl_point *point);
/* The first term of the objective at amounts by rank and cut; INFINITY for amounts that the mapping language or the model does
   not accept, or that violate a requirement. Reports nothing. */
double dfl_point_value(dfl_point *point, const dfl_objective *objective, const int64_t *const *amounts);
/* Energy in J and latency in s of the last evaluation, if its value was finite. */
void dfl_point_costs(const dfl_point *point, double *joules, double *seconds);
/* A copy of the mapping with the amounts of the last evaluation, without loops of one iteration. */
dfl_mapping *dfl_point_copy(dfl_arena *arena, const dfl_point *point);

/* Place of a rank in the order of the loops of a gap, outermost first: ranks without windows, ranks with windows, main ranks. */
uint32_t dfl_point_order(const dfl_problem *problem, uint32_t rank);

#endif
