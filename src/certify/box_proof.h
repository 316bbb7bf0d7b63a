/*
 * Proof of the lower bound by boxes: branch and bound over the tile sizes of each skeleton, by the counts of box_terms.h.
 *
 * A box gives each variable an interval of divisors of its extent. Each count is a product of variables and of their inverses,
 * so it is least, and largest, at the ends of the intervals. The sum of the least costs bounds the energy of the box, the
 * largest of the work and of the busy times of the ports bounds its time, and the sum of the least tiles shows whether anything
 * fits. A box is done if nothing fits, if its variables do not divide what they must, or if the objective of both bounds is at
 * least the claimed lower bound. Other boxes are cut in two. If all boxes of all skeletons are done, no mapping of the space
 * costs less than the lower bound.
 */
#ifndef DFL_CERTIFY_BOX_PROOF_H
#define DFL_CERTIFY_BOX_PROOF_H

#include "certify/certify_internal.h"

enum {
    DFL_BOX_LEAST = 256,       /* boxes of the first attempt at a skeleton: enough for most, few for one that needs many */
    DFL_BOX_GROWTH = 16,       /* boxes of an attempt over those of the attempt before; more attempts repeat less of the work */
    DFL_BOX_ROUNDS = 6,        /* attempts at each skeleton */
    DFL_BOX_POLL = 4096,       /* boxes between two polls of the deadline, some milliseconds */
    /* Divisor of the effort of samples where boxes prove all skeletons: samples then only test the claims of the search. */
    DFL_BOX_PROVEN_PART = 64,
};

/* Error of a sum of DFL_BOX_TERMS products of DFL_BOX_POWERS powers over the sum without signs: each product takes
   DFL_BOX_POWERS + 2 operations, and the sum DFL_BOX_TERMS, of at most 2^-53 each; this is more than twice as much. */
#define DFL_BOX_ROUNDING 0x1p-44

/* Sets how many skeletons boxes prove (`n_proven`), out of how many (`n_boxed`; 0 = the costs have another form). The number of
   boxes is at most about the effort of the task. False after a stop. */
bool dfl_certify_boxes(dfl_certify_run *run);

#endif
