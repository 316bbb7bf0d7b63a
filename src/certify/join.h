/* The best combination of the claimed rows. */
#ifndef DFL_CERTIFY_JOIN_H
#define DFL_CERTIFY_JOIN_H

#include "certify/certify_internal.h"

/* Whether the best combination of rows has the value that is claimed, and this value is not below the lower bound: else
   E0805. */
bool dfl_certify_join(dfl_certify_run *run);

#endif
