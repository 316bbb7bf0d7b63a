/* Product form. */
#ifndef DFL_MODEL_COUNTS_PRODUCT_FORM_H
#define DFL_MODEL_COUNTS_PRODUCT_FORM_H

#include "model/counts/delta.h"

/* Whether the counts of a footprint can be products. */
void dfl_product_form_find(dfl_nest *nest, dfl_footprint *footprint);
/* Whether the counts of a delta can be products. */
void dfl_product_form_share(dfl_nest *nest, dfl_delta *m);
/* Fills all. */
void dfl_product_form_fill_all(dfl_nest *nest);
/* Apart. */
bool dfl_product_form_disjoint(dfl_nest *nest, const dfl_delta *m, dfl_i128 *out);
/* Chains. */
bool dfl_product_form_fill_ragged(dfl_nest *nest, dfl_delta *m);

#endif
