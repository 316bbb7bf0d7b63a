/*
 * The search for the amounts of loops in a mapping whose lines are all written: exact, and the same on every machine.
 *
 * The holes are filled in the order of the text, each with the amounts that its lattice or its set gives for what is
 * left of the rank at that line, depth first. A choice is cut when the loops below cannot go with it (a fixed tile that
 * is larger, a rank that stays unfinished), when the parts on an axis are too many, when the tiles that are already known
 * do not fit, and when bounds of time and energy say that it cannot be better than the best so far. The others are
 * evaluated by the model, with one plan for all of them. Among equals the first in the order of the text is the best:
 * the one with the smaller amounts.
 */
#ifndef DFL_MAPPER_HOLES_H
#define DFL_MAPPER_HOLES_H

#include "mapper/objective.h"
#include "support/progress.h"

typedef struct {
    const dfl_objective *objective;
    bool imperfect;            /* all tiles that differ in their number, not only divisors */
    uint64_t most_evaluations; /* > 0 */
    double time_limit;         /* seconds; 0 = none */
    dfl_progress_meter *progress;        /* NULL = nobody listens */
    const double *known;       /* terms of the objective: nothing that is no better is of use; NULL = everything is */
} dfl_holes_options;

typedef struct {
    dfl_mapping *mapping;      /* a copy without holes, on the real system; NULL: nothing is better than what is known */
    double joules, seconds;
    double objective;          /* its first term */
    double lower_bound;        /* of the first term; NAN = not known */
    bool optimal;              /* nothing in the space is better */
    dfl_stop stopped;          /* why the search ended early; NONE also when it was the limit on evaluations */
    uint64_t evaluated, pruned;/* mappings, choices that were cut with all that is below them */
    uint64_t refused;          /* mappings that are legal, but that the model does not evaluate */
    const char *space;         /* what was searched, in words */
} dfl_holes_result;

/* Default of most_evaluations. */
#define DFL_HOLES_EVALUATIONS UINT64_C(20000000)

/* The best filling in `arena`; NULL after reporting: E0618 when nothing fits, or what is wrong with every filling. */
const dfl_holes_result *dfl_holes_run(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names,
                                      const dfl_mapping *mapping, const dfl_holes_options *options);

#endif
