/* How many points of an einsum read nothing outside a declared shape: what a report shows as padding is the rest. */
#ifndef DFL_MODEL_COUNTS_PADDING_H
#define DFL_MODEL_COUNTS_PADDING_H

#include "ir/workload.h"
#include "support/arena.h"

/* False on overflow or a stopped budget. */
bool dfl_padding_points_inside(dfl_arena *arena, const dfl_workload *w, const dfl_einsum *e, dfl_i128 *out);

#endif
