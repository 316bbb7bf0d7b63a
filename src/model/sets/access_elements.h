/* Elements that an access touches over the whole run of its einsum, independent of the mapping. */
#ifndef DFL_MODEL_SETS_ACCESS_ELEMENTS_H
#define DFL_MODEL_SETS_ACCESS_ELEMENTS_H

#include "model/sets/nest.h"

/* Number of distinct elements of an access inside the shape of its tensor. False after E0608 (more than 2^127) or
   E0602. */
bool dfl_access_elements_count(dfl_nest *nest, const dfl_access *access, dfl_i128 *out);
/* Tells whether all elements that `access` touches inside the shape are among those that `made` touches. */
bool dfl_access_elements_within(dfl_nest *nest, const dfl_access *access, const dfl_access *made);

#endif
