/*
 * Descent over the amounts of a skeleton: one loop at a time takes the size with the least value by the model, until none is
 * better.
 *
 * A size is tried with all that follows from it. Loops inside of it that cut nothing go on cutting nothing: else no loop could
 * become larger than those inside of it ask for. Loops outside of it grow where it needs more than they leave. Where a memory is
 * full, two loops change against each other.
 */
#ifndef DFL_MAPPER_FIRST_DESCENT_H
#define DFL_MAPPER_FIRST_DESCENT_H

#include "mapper/first/prepared.h"
#include "support/deadline.h"

/* A loop with this wish cuts nothing. */
#define DFL_FIRST_WHOLE INT64_MAX

/* How sizes are judged. */
typedef enum {
    DFL_FIRST_COARSE,    /* by the estimate, sizes a factor of two apart */
    DFL_FIRST_NEAR,      /* by the estimate, and the next sizes that change a number of iterations */
    DFL_FIRST_JUDGED,    /* the same sizes; what the estimate finds no worse than the best by `slack` is judged by the model */
} dfl_first_mode;

typedef struct {
    const dfl_prepared_for *what;
    double leakage;               /* W of the system */
    dfl_deadline *halt;
    uint64_t evaluated, most;     /* evaluations by the model so far, and their limit */
    bool is_first;                /* no limit ends a coarse descent: without it there is no mapping at all */
    double hopeless;              /* an estimate above which a coarse descent ends after its first round */
    uint64_t estimated;           /* estimates so far; DFL_FIRST_ESTIMATES count as an evaluation */
} dfl_first_effort;

/* Lines with wishes, and what they are worth. */
typedef struct {
    const dfl_problem *problem;
    dfl_skeleton lines;
    double estimate;              /* value by the estimate; INFINITY = not known */
    double value, joules, seconds; /* by the model; INFINITY: not judged, or the model refuses the lines */
} dfl_first_point;

/* Whether a limit ends the search. */
bool dfl_first_over(dfl_first_effort *effort);
/* Sets what the model says of the point. */
void dfl_first_judge(dfl_first_effort *effort, dfl_first_point *point);
/* Improves the point. With DFL_FIRST_JUDGED the value is set, else only the estimate. */
void dfl_first_descend(dfl_first_effort *effort, dfl_first_point *point, dfl_first_mode mode, double slack);

#endif
