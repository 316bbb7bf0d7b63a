/*
 * Lower bound of the objective over a node: over all amounts in one box per rank. Lemmas B1 to B9 of SEARCH.md prove it.
 *
 * The values of the products of a node are products over ranks. A child differs from its parent in one rank, so the caller
 * multiplies the values of the other ranks once for both children (dfl_box_multiply).
 */
#ifndef DFL_MAPPER_TILING_BOX_BOUND_H
#define DFL_MAPPER_TILING_BOX_BOUND_H

#include "mapper/problem/objective.h"
#include "mapper/tiling/box.h"
#include "mapper/tiling/ramp.h"

typedef struct {
    const dfl_objective *objective;
    double leakage;             /* W */
    double seconds_below;       /* only mappings that take less count, s; 0 = all */
    bool is_whole;              /* short pieces do not stay: no bound of mappings in which they do */
    const dfl_ramp *ramp;       /* of the form; NULL = nothing before the first step and after the last one counts */
} dfl_box_costs;

/* Sets `out`, by product, to the product over all ranks but `without`. False if some of these boxes is impossible. */
bool dfl_box_multiply(const dfl_form *form, dfl_box *const *boxes, uint32_t without, double *out);
/* Largest shares of the elements of a count that may stay during the loops of its `stay`, which are DFL_FORM_STAYS at most
   (lemmas B4, B11). */
void dfl_box_shares(const dfl_form *form, dfl_box *const *boxes, uint32_t count, double *out);
/* Lower bound of the objective over a node; INFINITY if no amounts of the node are legal. `others` are the values of the other
   ranks, by product, from dfl_box_multiply with `rank`. */
double dfl_box_bound(const dfl_box_costs *costs, const dfl_form *form, dfl_box *const *boxes, uint32_t rank,
                     const double *others);

#endif
