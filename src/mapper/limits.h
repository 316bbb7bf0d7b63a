/*
 * Tuning numbers of the mapper: name, unit, reason, and what the number trades. None of them changes the value of a search that
 * ends by itself.
 */
#ifndef DFL_MAPPER_LIMITS_H
#define DFL_MAPPER_LIMITS_H

/* Relative difference below which the search by boxes takes two values for equal: the bound of a point is computed in another
   order than its value. */
#define DFL_BOX_ROUNDING 1e-12

/* Relative difference below which a sum of coefficients is zero: positive and negative coefficients of a count cancel but for
   rounding. */
#define DFL_FORM_ROUNDING 1e-12

/* Share of the time that the search over all tile sizes gets before the searches that follow it if it does not end: they find
   mappings where its dives find no good ones. */
#define DFL_BOX_TIME 0.75

enum {
    /* Splits of a search of one einsum without a limit on evaluations, some seconds. More proves more, and takes more memory. */
    DFL_BOX_NODES = 1 << 23,
    /* Splits between two dives to a point. Fewer splits find good mappings earlier; more evaluate fewer points. */
    DFL_BOX_DIVE = 64,
};

#endif
