/*
 * The least cost of a skeleton as sums of products of powers, over all tile sizes that divide.
 *
 * Let the *point* of a keep be just below the innermost loop with a second iteration that moves the tile of the keep, or at
 * the root. From there to the keep no loop changes the tile, so each combination of iterations of the loops above the point
 * fills it once. A skeleton lists keeps in the order of their points. For a rank r and keep i, A_i(r) is the product of the
 * iterations of the loops over r above the point of keep i, and p_a(r) the number of parts of r on axis a. Then, for a keep of
 * operand o in a memory inside of the axes S,
 *
 *     bits that enter on the coordinates of axes T = bits of o * product over ranks r outside of o of A_i(r) * p_T(r)
 *     tile in one instance of the memory           = bits of o / product over ranks r of o of A_i(r) * p_S(r)
 *
 * with p_T the product of the p_a over a in T. These are the counts of MODEL.md, sections 2.2 to 2.4, for pieces that are all
 * full. A_i(r) does not fall from a keep to the next, and at the unit A(r) * p(r) is the extent, p over all axes. So a rank
 * outside of operand o of keep i may as well have the A of the keep before, which has fewer transfers and the same tiles, and a
 * rank of o that of the keep behind, which has smaller tiles and the same transfers. What is left is one variable for each
 * place in the order where a keep that the rank moves precedes one that it does not move.
 */
#ifndef DFL_CERTIFY_BOX_TERMS_H
#define DFL_CERTIFY_BOX_TERMS_H

#include "certify/certify_internal.h"

/* Capacities; a skeleton with more is not proven by boxes. */
enum {
    DFL_BOX_VARIABLES = 48,    /* iterations of ranks above keeps, and parts on axes */
    DFL_BOX_POWERS = 40,       /* variables of one count */
    DFL_BOX_TERMS = 160,       /* counts of one skeleton */
};

/* scale * product of value[var[i]] ^ (inverse[i] ? -1 : 1) */
typedef struct {
    double scale;
    uint32_t n;
    uint8_t var[DFL_BOX_POWERS];
    bool inverse[DFL_BOX_POWERS];
} dfl_box_monomial;

typedef struct {
    dfl_box_monomial bits;     /* bits that move */
    double joules;             /* J per bit; negative for what a result does not read back */
    double sure;               /* J per bit without what depends on negative terms; not negative */
    uint32_t port;             /* or the port that is busy: 2 * level, + 1 for writes of their own; DFL_NONE = none */
    double seconds;            /* s per bit */
} dfl_box_term;

typedef struct {
    uint32_t rank;
    uint32_t axis;             /* parts on this axis; DFL_NONE: iterations above a point */
} dfl_box_variable;

typedef struct {
    const dfl_certify_problem *problem;
    dfl_box_variable var[DFL_BOX_VARIABLES]; /* by rank: the iterations from the outermost point inwards, then the parts */
    uint32_t n_vars;
    dfl_box_term term[DFL_BOX_TERMS];
    uint32_t n_terms;
    dfl_box_monomial tile[DFL_CLAIM_KEEPS];  /* bits of each keep's tiles in one instance, all buffers together */
    uint32_t level[DFL_CLAIM_KEEPS], n_keeps;
    dfl_box_monomial work;     /* s: points of one instance times the time of a point */
    double joules;             /* J: of all points */
    bool is_useless;           /* some keep saves nothing: the skeleton without it costs no more (SEARCH.md, D50) */
    bool is_sure;              /* fewer entries into some keep of the result can cost more: only the terms `sure` bound mappings
                                  whose variables are not those of the skeleton */
} dfl_box_terms;

/* Whether the costs of the einsum on this unit have the form above: each dimension of a tensor is one rank, and the unit reads
   each operand at each point. */
bool dfl_box_terms_apply(const dfl_certify_run *run, const dfl_certify_problem *problem);
/* The terms of a skeleton; false if it has more variables or terms than the capacities. */
bool dfl_box_terms_make(const dfl_certify_run *run, const dfl_certify_problem *problem, const dfl_claim_form *form,
                        dfl_box_terms *out);

#endif
