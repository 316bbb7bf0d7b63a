/* Lower bounds from exchange patterns. */
#ifndef DFL_CERTIFY_PATTERN_BOUNDS_H
#define DFL_CERTIFY_PATTERN_BOUNDS_H

#include "certify/certify_internal.h"

/* Checks that the claimed least energy and time of all einsums do not exceed the bounds from the patterns; false after
   E0805. Sets `others_joules` and `others_seconds` of the run. */
bool dfl_certify_pattern_bounds(dfl_certify_run *run);

#endif
