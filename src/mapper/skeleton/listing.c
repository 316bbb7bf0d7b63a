/* The limit of an enumeration of skeletons. */
#include "mapper/skeleton/listing.h"

#include "mapper/problem/limits.h"

void dfl_listing_begin(dfl_listing *out, dfl_deadline *halt, uint64_t evaluations)
{
    const uint64_t most = evaluations > DFL_CLASSES_STEPS / DFL_CLASSES_STEPS_EACH ? evaluations * DFL_CLASSES_STEPS_EACH
                                                                                   : DFL_CLASSES_STEPS;

    *out = (dfl_listing){ .session = halt->budget, .few = dfl_budget_fresh(halt->budget) };
    out->is_short = evaluations > 0 && evaluations <= UINT64_MAX / DFL_CLASSES_STEPS_EACH &&
                    most < dfl_deadline_left(halt, UINT64_MAX);
    if (!out->is_short)
        return;
    out->few.steps_limit = most;
    halt->budget = &out->few;
}

void dfl_listing_end(dfl_listing *listing, dfl_deadline *halt)
{
    if (!listing->is_short)
        return;
    halt->budget = listing->session;
    dfl_budget_add_steps(listing->session, listing->few.steps_used);
    if (halt->why == DFL_STOP_STEPS)
        halt->why = DFL_STOP_EVALUATIONS;
}
