/* Product form. */
#ifndef DFL_MODEL_COUNTS_PRODUCT_FORM_H
#define DFL_MODEL_COUNTS_PRODUCT_FORM_H

#include "model/counts/delta.h"

/* Whether the counts of a footprint can be products. */
void dfl_closed_find(dfl_setting *set, dfl_point *point);
/* Whether the counts of a delta can be products. */
void dfl_closed_share(dfl_setting *set, dfl_moves *m);
/* Fills all. */
void dfl_closed_fill(dfl_setting *set);
/* Apart. */
bool dfl_closed_apart(dfl_setting *set, const dfl_moves *m, dfl_i128 *out);
/* Chains. */
bool dfl_closed_chains(dfl_setting *set, dfl_moves *m);

#endif
