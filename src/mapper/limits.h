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

/*
 * program/interior.c: the solver of geometric programs. Measured on the 1,100 programs of the skeletons of two GEMMs with 11 to
 * 15 variables, for a precision of 0.1 %; on these programs a factor of 3 in any of the numbers changes the mean number of steps
 * by less than a fifth.
 */
/* slack * multiplier at a cold start, in units of ln (objective): smaller starts spend steps at walls, larger ones on the way. */
#define DFL_GEOMETRIC_COLD_PRODUCT 0.3
/* Least slack of a limit at a cold start, in logarithms: exceeded limits start as if they had this room. */
#define DFL_GEOMETRIC_COLD_SLACK 0.3
/* slack * multiplier from the solution of a neighbour box: what changed is small, but its multipliers must be free to move. */
#define DFL_GEOMETRIC_WARM_PRODUCT 0.003
/* Share of a range that a warm start keeps from its ends: 0.02 takes a fifth more steps. */
#define DFL_GEOMETRIC_WARM_MARGIN 0.005
/* Share of the way to the first slack or multiplier of 0: below 1, for none may become 0; 0.95 takes a twentieth more steps. */
#define DFL_GEOMETRIC_STEP_SHARE 0.99
/* Longest change of a logarithm in a step: without one, 2 of 600 random programs circle; 1 takes a tenth more steps. */
#define DFL_GEOMETRIC_STEP_LENGTH 2

#endif
