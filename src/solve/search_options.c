#include "solve/search_options.h"

#include "support/limits.h"

dfl_search_limits dfl_search_options_limits(const dfl_search_options *options, double now, dfl_progress_meter *progress)
{
    return (dfl_search_limits){ .evaluations = options->evaluations,
                                .deadline = options->seconds > 0 ? now + options->seconds : 0,
                                .gap = options->gap, .threads = options->jobs,
                                .progress = progress };
}

dfl_search_limits dfl_search_options_tile_limits(dfl_search_limits limits)
{
    if (limits.evaluations == 0)
        limits.evaluations = DFL_DEFAULT_EVALUATIONS;
    return limits;
}

dfl_search_space dfl_search_options_space(const dfl_search_options *options)
{
    return (dfl_search_space){ .imperfect = options->imperfect,
                               .perfect = options->perfect,
                               .any_spread = options->spread,
                               .extensions = options->beyond,
                               .max_shared_loops = options->max_fused > 0 ? options->max_fused - 1 : DFL_NONE };
}
