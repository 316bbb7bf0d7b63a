/* The best combination of the claimed rows. */
#ifndef DFL_CERTIFY_JOIN_H
#define DFL_CERTIFY_JOIN_H

#include "certify/certify_internal.h"

/* Checks that the best combination of rows has the claimed value, and that the lower bound does not exceed this value.
   False after E0805. */
bool dfl_certify_join(dfl_certify_run *run);

#endif
