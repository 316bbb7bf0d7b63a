/* Elements that an access touches over the whole run of its einsum, with conditions of `where` and with ranks that index
   several dimensions. The numbers are independent of the mapping. */
#ifndef DFL_MODEL_COUNTS_WHOLE_ACCESS_H
#define DFL_MODEL_COUNTS_WHOLE_ACCESS_H

#include "model/counts/footprint.h"

/* Number of distinct elements inside the shape of the tensor that `n` > 0 references touch. False after E0602, E0608 or
   E0609. */
bool dfl_whole_access_count(dfl_nest *nest, const dfl_reference *references, uint32_t n, dfl_i128 *out);
/* Tells whether all elements that `reference` touches are among those that the `n` > 0 references `made` touch. False also
   after E0609. */
bool dfl_whole_access_within(dfl_nest *nest, const dfl_reference *reference, const dfl_reference *made, uint32_t n);

#endif
