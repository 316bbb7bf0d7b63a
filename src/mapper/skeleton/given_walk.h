/* All skeletons of an einsum that go along with written lines. */
#ifndef DFL_MAPPER_SKELETON_GIVEN_WALK_H
#define DFL_MAPPER_SKELETON_GIVEN_WALK_H

#include "mapper/skeleton/given.h"

/* Like dfl_templates_each, for a job with lines. The form is good during the call. */
void dfl_given_each(const dfl_job *job, dfl_deadline *halt, bool (*use)(void *context, const dfl_tiling_template *t),
                    void *context);
const dfl_given_form *dfl_given_form_copy(dfl_arena *arena, const dfl_given_form *f);

#endif
