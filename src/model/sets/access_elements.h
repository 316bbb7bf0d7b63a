/* Elements of an access. */
#ifndef DFL_MODEL_SETS_ACCESS_ELEMENTS_H
#define DFL_MODEL_SETS_ACCESS_ELEMENTS_H

#include "model/sets/nest.h"

/* Distinct elements of the access over the whole run, inside the shape; false on overflow (E0608). */
bool dfl_flow_distinct(dfl_setting *set, const dfl_access *access, dfl_i128 *out);
/* Whether all elements of an access, over the whole run and inside the shape, are among those of another one. */
bool dfl_flow_within(dfl_setting *set, const dfl_access *access, const dfl_access *made);

#endif
