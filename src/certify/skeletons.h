/* Completeness of the claimed skeletons. */
#ifndef DFL_CERTIFY_SKELETONS_H
#define DFL_CERTIFY_SKELETONS_H

#include "certify/certify_internal.h"

/* Checks that the claimed skeletons of every class are exactly those of the space; false after E0804. */
bool dfl_certify_skeletons(dfl_certify_run *run);

#endif
