/* Translates the public search options into the limits and the search space that the mapper takes. */
#ifndef DFL_SOLVE_SEARCH_OPTIONS_H
#define DFL_SOLVE_SEARCH_OPTIONS_H

#include "dfl/dfl.h"
#include "mapper/mapper.h"

/* The limits of a search that starts at time `now` (in seconds of dfl_deadline_clock). `progress` may be NULL. */
dfl_search_limits dfl_search_options_limits(const dfl_search_options *options, double now, dfl_progress_meter *progress);
/* The limits of a search over tile sizes alone: without a limit on evaluations it has the default one. */
dfl_search_limits dfl_search_options_tile_limits(dfl_search_limits limits);
/* The search space that the options ask for. */
dfl_search_space dfl_search_options_space(const dfl_search_options *options);

#endif
