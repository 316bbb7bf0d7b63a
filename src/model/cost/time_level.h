/* Time of one level of keeps around the work below it (MODEL.md, sections 4.3 and 4.4). */
#ifndef DFL_MODEL_COST_TIME_LEVEL_H
#define DFL_MODEL_COST_TIME_LEVEL_H

#include "model/cost/time_transfer.h"

/* Time of the work below a level without stalls: that of all iterations, and an upper limit, as if all tiles were full.
   The two are equal if every loop divides the piece that it cuts. `even`: the part of the seconds that is equal in all
   iterations of each loop. `ratio`: a lower limit of (seconds - even) / (full - even) that does not depend on rates. */
typedef struct { double seconds, full, ratio, even; } dfl_work_time;

/* Adds the transfers of a level to the work below it. Stalls at loops around the level remain apart, in the stalls of the
   body. Returns the seconds for which transfers of the level stop the work. */
double dfl_keep_level_add(const dfl_time_plan *plan, dfl_body_time *body, const dfl_keep_level *level, dfl_work_time *work);
/* Adds the stalls at the loops from step `from` on to the work, and removes them from the stalls. */
void dfl_keep_level_fold(dfl_body_time *body, uint32_t from, dfl_work_time *work);
/* Seconds in which the first tiles of some transfers enter (DFL_IN), or their last tiles leave (DFL_OUT). */
double dfl_keep_level_ends(const dfl_time_plan *plan, const dfl_keep_level *level, uint32_t way);

#endif
