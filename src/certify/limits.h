/* Limits on the size of certificates and on the effort of a check. A certificate beyond the size limits is refused; the
   check never covers only a part of it. */
#ifndef DFL_CERTIFY_LIMITS_H
#define DFL_CERTIFY_LIMITS_H

#include <stdint.h>

/* Default limit on tile choices that the model evaluates for all skeletons together; such a check takes some
   seconds. */
#define DFL_CERTIFY_EFFORT UINT64_C(1000000)

/* Limits of one einsum problem. Sets of ranks, operands, levels and axes are masks of 32 bits, and a set of pairs
   (operand, level) is a mask of 64 bits: OPERANDS * LEVELS <= 64. The search has equal limits, so a larger einsum has
   no certificate. */
enum {
    DFL_CERTIFY_RANKS = 12,    /* ranks of one einsum */
    DFL_CERTIFY_OPERANDS = 5,  /* inputs and output of one einsum */
    DFL_CERTIFY_LEVELS = 8,    /* memories that one compute unit sees */
    DFL_CERTIFY_AXES = 6,      /* axes of more than one instance around one unit */
};

/* Limits of the claims. The search has equal limits. */
enum {
    DFL_CLAIM_KEEPS = 16,      /* keeps of one skeleton */
    DFL_CLAIM_LOOPS = 4,       /* loops that an einsum shares with others */
    DFL_CLAIM_TRACKS = 3,      /* tracked memories: those whose occupancy a row states */
};

/* Limits of the join of rows. */
enum {
    DFL_CERTIFY_LIVE = 16,     /* tensors live between two einsums, the capacity of a state's key; a join with more fails with
                                  E0805 */
};

/* Limits of the enumeration of tile choices. */
enum {
    DFL_CERTIFY_LISTED = 1 << 16, /* factorizations of one extent in a list, at most 12 MB a rank; beyond this limit, the check
                                     draws a sample */
    DFL_CERTIFY_VISITS = 8, /* combinations of factorizations visited per evaluation; bounds the time if no combination is
                               legal */
    DFL_CERTIFY_DRAWS = 8, /* attempts to draw one legal choice; after these, the sample omits the choice */
    DFL_CERTIFY_POLL = 64, /* evaluations between two polls of the deadline, a few milliseconds */
    DFL_CERTIFY_USELESS_PART = 8, /* divisor: 1 / 8 of the effort is for choices with loops that cannot help */
    DFL_CERTIFY_USELESS_MOST = 2500, /* limit on evaluations of such choices per skeleton */
};

#endif
