/* Distribution of the evaluations over the skeletons. */
#ifndef DFL_CERTIFY_SAMPLING_H
#define DFL_CERTIFY_SAMPLING_H

#include "certify/certify_internal.h"

/* Checks that no evaluated tile choice of any skeleton costs less than a claimed bound (E0806) or less than the rows
   (E0807). Checks skeletons in parallel; the report and the counts do not depend on the number of threads, unless a
   stop ends the check early. */
bool dfl_certify_sampling(dfl_certify_run *run);

#endif
