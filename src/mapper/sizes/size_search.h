/*
 * The search for the amounts of loops in a mapping whose lines are all written: exact, and the same on every machine.
 *
 * The holes are filled in the order of the text, each with the amounts that its lattice or its set gives for what is
 * left of the rank at that line, depth first. A choice is cut when the loops below cannot go with it (a fixed tile that
 * is larger, a rank that stays unfinished), when the parts on an axis are too many, when the tiles that are already known
 * do not fit, and when bounds of time and energy say that it cannot be better than the best so far. The others are
 * evaluated by the model, with one plan for all of them. Among equals the first in the order of the text is the best:
 * the one with the smaller amounts. A search for the Pareto set cuts a choice if a point of the set is at most its bounds in all
 * terms (SEARCH.md, D15); of points with equal terms it keeps the first.
 */
#ifndef DFL_MAPPER_SIZES_SIZE_SEARCH_H
#define DFL_MAPPER_SIZES_SIZE_SEARCH_H

#include "ir/path/path.h"
#include "mapper/problem/request.h"

typedef struct {
    dfl_mapping *mapping;      /* a copy without holes, on the real system; NULL: nothing is better than what is known */
    double joules, seconds;
    double objective;          /* its first term */
    const dfl_front_point *front; /* FRONT: the Pareto set in place of the best mapping, in ascending order of the first term */
    uint32_t n_front;
    double lower_bound;        /* of the first term; NAN = not known */
    bool optimal;              /* nothing in the space is better; FRONT: the set is complete */
    dfl_stop stopped;          /* why the search ended early; NONE also when it was the limit on evaluations */
    uint64_t evaluated, pruned;/* mappings, choices that were cut with all that is below them */
    uint64_t refused;          /* mappings that are legal, but that the model does not evaluate */
    const char *space;         /* what was searched, in words */
} dfl_size_search_result;

/* What is known where no filling fits. */
typedef struct dfl_size_search_conflict {
    bool fits;                 /* false: nothing fits, and the rest is set */
    uint64_t refused, illegal; /* fillings that the model does not evaluate, or that are not legal */
    dfl_paths *paths;          /* of the mapping with the amounts of the first one refused, or else of the first illegal one */
    const dfl_line *line;      /* the deepest loop for which no amount goes with the other loops; NULL = nothing is open */
} dfl_size_search_conflict;

/* Repeated questions whether anything fits. */
typedef struct {
    dfl_budget *session;
    const dfl_intern *names;
    const dfl_search_request *request;
    uint64_t *looks;           /* choices that are left for all questions together */
} dfl_size_search_question;

/* The best filling in `arena`, or with mode FRONT the Pareto set. NULL after reporting what is wrong with all, or with
   `nothing->fits` false where nothing fits. The limit on evaluations must not be 0. Of the space only `imperfect` counts: all
   tiles that differ in their number, not only divisors. */
const dfl_size_search_result *dfl_size_search_run(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names,
                                                  const dfl_mapping *mapping,
                                                  const dfl_search_request *options, dfl_size_search_conflict *nothing);
/* Whether anything fits when the requirements in `waived` do not count. With a memory that is `measured`: whatever its size, and
   the least size in bits, and the line at which it is live. */
dfl_answer dfl_size_search_ask(const dfl_size_search_question *question, const dfl_mapping *m, const bool *waived,
                               uint32_t measured,
                               int64_t *bits, dfl_span *at);

#endif
