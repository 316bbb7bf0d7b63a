/*
 * What a caller sets for a search: its limits and its space. Both are passed from the command down to every search below.
 */
#ifndef DFL_MAPPER_OPTIONS_H
#define DFL_MAPPER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "dfl/dfl.h"
#include "support/progress.h"

/* Steps, memory and cancellation are limits of the arena of the search (support/budget.h). */
typedef struct {
    uint64_t evaluations;         /* about the most, 0 = any number */
    double deadline;              /* seconds of dfl_deadline_clock, 0 = none */
    uint32_t threads;             /* 0 = one; no result depends on the number */
    dfl_progress_meter *progress; /* NULL = no progress reports */
} dfl_search_limits;

typedef struct {
    bool imperfect;               /* also tile sizes that do not divide */
    bool any_spread;              /* any rank over any axis, also where others share transfers */
    uint32_t extensions;          /* DFL_SEARCH_... of dfl/search.h: kinds of mappings outside of the proven space */
    uint32_t max_shared_loops;    /* loops that einsums share, DFL_NONE = any number up to DFL_MAP_SHARED_LOOPS */
} dfl_search_space;

/* Evaluations that are left of a limit, at least 1; 0 = any number. */
static inline uint64_t dfl_evaluations_left(uint64_t limit, uint64_t evaluated)
{
    return limit == 0 ? 0 : limit > evaluated ? limit - evaluated : 1;
}

#endif
