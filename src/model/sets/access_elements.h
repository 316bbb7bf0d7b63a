/* Elements of an access. */
#ifndef DFL_MODEL_SETS_ACCESS_ELEMENTS_H
#define DFL_MODEL_SETS_ACCESS_ELEMENTS_H

#include "model/sets/nest.h"

/* Distinct elements of the access over the whole run, inside the shape; false on overflow (E0608). */
bool dfl_access_elements_count(dfl_nest *nest, const dfl_access *access, dfl_i128 *out);
/* Whether all elements of an access, over the whole run and inside the shape, are among those of another one. */
bool dfl_access_elements_within(dfl_nest *nest, const dfl_access *access, const dfl_access *made);

#endif
