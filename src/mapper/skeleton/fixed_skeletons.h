/* All skeletons of an einsum that go along with written lines. */
#ifndef DFL_MAPPER_SKELETON_FIXED_SKELETONS_H
#define DFL_MAPPER_SKELETON_FIXED_SKELETONS_H

#include "mapper/skeleton/fixed_lines.h"

/* Like dfl_templates_each, for a problem with lines. The form is good during the call. */
void dfl_fixed_lines_each(const dfl_problem *problem, dfl_deadline *halt,
                          bool (*use)(void *context, const dfl_tiling_template *t),
                          void *context);
const dfl_fixed_skeleton *dfl_fixed_skeleton_copy(dfl_arena *arena, const dfl_fixed_skeleton *f);

#endif
