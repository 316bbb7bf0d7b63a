/*
 * The limits and the search space of a request. A search passes both to every search that it starts. The default of
 * evaluations is in support/limits.h, that of shared loops in request.h; solve/search_options.c applies them.
 */
#ifndef DFL_MAPPER_PROBLEM_OPTIONS_H
#define DFL_MAPPER_PROBLEM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "dfl/dfl.h"
#include "support/limits.h"
#include "support/progress.h"

/* Steps, memory and cancellation are limits of the arena of the search (support/budget.h). */
typedef struct {
    uint64_t evaluations;         /* approximate limit on evaluations; 0 = no limit */
    double deadline;              /* time of the deadline (in seconds of dfl_deadline_clock); 0 = no deadline */
    double gap;                   /* a search may stop when its value is at most 1 + gap times its lower bound; 0 = at the least
                                     value alone */
    uint32_t threads;             /* number of threads, 0 = 1; no result depends on the number */
    dfl_progress_meter *progress; /* NULL = no progress reports */
} dfl_search_limits;

typedef struct {
    bool imperfect;               /* search also tile sizes that do not divide the extent of their rank */
    bool perfect;                 /* asked for by name: nothing else than tile sizes that divide, also where these are proven */
    bool any_spread;              /* map any rank to any axis, also if other ranks share transfers there */
    uint32_t extensions;          /* extensions of the search space, DFL_SEARCH_... of dfl/search.h; no result in an extension
                                     is proven */
    uint32_t max_shared_loops;    /* largest number of loops that einsums share; DFL_NONE = DFL_MAP_SHARED_LOOPS */
} dfl_search_space;

/* Whether a value is so close to the lower bound that a search may stop. A value below the bound is not: the mapping is none
   of the space that has the bound. */
static inline bool dfl_gap_reached(const dfl_search_limits *limits, double value, double lower_bound)
{
    return limits->gap > 0 && value <= (1 + limits->gap) * lower_bound && value >= lower_bound * (1 - DFL_VALUE_TOLERANCE);
}

/* Remaining evaluations of a limit, at least 1; 0 = no limit. */
static inline uint64_t dfl_evaluations_left(uint64_t limit, uint64_t evaluated)
{
    return limit == 0 ? 0 : limit > evaluated ? limit - evaluated : 1;
}

#endif
