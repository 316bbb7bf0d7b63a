/* A skeleton of one einsum as a mapping that is prepared once, and evaluated by the model with other amounts each time. */
#ifndef DFL_MAPPER_FIRST_PREPARED_H
#define DFL_MAPPER_FIRST_PREPARED_H

#include "mapper/first/skeleton.h"
#include "mapper/problem/objective.h"

typedef struct {
    const dfl_intern *names;
    const dfl_mapping *given;       /* the mapping with the hole: its target, options and written homes */
    const dfl_objective *objective; /* native */
    dfl_budget *budget;             /* NULL = no limit */
    double deadline;                /* of dfl_deadline_clock, in s: shortly before it long evaluations are left out; 0 = none */
} dfl_prepared_for;

typedef struct dfl_prepared dfl_prepared;

/* Prepares the lines for the einsum of the problem, which must be the only one of its workload. A result that the model takes in
   no case has the value INFINITY always. The caller frees it. */
dfl_prepared *dfl_prepared_new(const dfl_prepared_for *what, const dfl_problem *problem, const dfl_skeleton *lines);
void dfl_prepared_free(dfl_prepared *p);
/* The first term of the objective with settled amounts of the same lines; INFINITY if the model refuses them, or a requirement is
   not met. `joules` and `seconds`, which may be NULL, get those of the result. */
double dfl_prepared_value(dfl_prepared *p, const dfl_problem *problem, const dfl_skeleton *settled, double *joules,
                          double *seconds);
/* Steps that the last evaluation took of the model. */
uint64_t dfl_prepared_steps(const dfl_prepared *p);
/* A mapping with the lines as they stand, in `arena`; homes that nobody has written are added. */
dfl_mapping *dfl_skeleton_mapping(dfl_arena *arena, const dfl_mapping *given, const dfl_problem *problem,
                                  const dfl_skeleton *lines);

#endif
