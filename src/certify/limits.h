/* Sizes and effort of the check of certificates. Larger certificates are refused, none is checked in part. */
#ifndef DFL_CERTIFY_LIMITS_H
#define DFL_CERTIFY_LIMITS_H

#include <stdint.h>

/* Tile choices that the model evaluates for all skeletons together, unless the caller says otherwise: some seconds. */
#define DFL_CERTIFY_EFFORT UINT64_C(1000000)

/* Shape of one einsum problem. Sets of ranks, operands, levels and axes are masks of 32 bits, and a set of pairs
   (operand, level) is a mask of 64 bits: OPERANDS * LEVELS <= 64. The search has the same sizes, so a larger einsum has
   no certificate. */
enum {
    DFL_CERTIFY_RANKS = 12,    /* ranks of one einsum */
    DFL_CERTIFY_OPERANDS = 5,  /* inputs and output of one einsum */
    DFL_CERTIFY_LEVELS = 8,    /* memories that one unit sees */
    DFL_CERTIFY_AXES = 6,      /* axes of more than one instance around one unit */
};

/* Shape of the claims. The search has the same sizes. */
enum {
    DFL_CLAIM_KEEPS = 16,      /* keeps of one skeleton */
    DFL_CLAIM_LOOPS = 4,       /* loops that an einsum shares with others */
    DFL_CLAIM_TRACKS = 3,      /* memories whose occupancy a row tells */
};

/* Join of rows. */
enum {
    DFL_CERTIFY_LIVE = 16,     /* tensors alive between two einsums; more are E0805. The key of a state holds as many */
};

/* Choices of tiles. */
enum {
    DFL_CERTIFY_LISTED = 1 << 16, /* factorizations of one extent that are listed, at most 12 MB a rank; else a sample is drawn */
    DFL_CERTIFY_VISITS = 8, /* combinations of factorizations visited per evaluation: bounds the time without a legal one */
    DFL_CERTIFY_DRAWS = 8, /* attempts to draw one legal choice, before the sample does without it */
    DFL_CERTIFY_POLL = 64, /* evaluations between two polls of the deadline: a few milliseconds */
    DFL_CERTIFY_USELESS_PART = 8, /* 1 / 8 of the effort goes to choices with loops that cannot help */
    DFL_CERTIFY_USELESS_MOST = 2500, /* and at most as many evaluations per skeleton */
};

#endif
