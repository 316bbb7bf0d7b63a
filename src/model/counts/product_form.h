/*
 * Product form: counts of a delta that are products. It applies to a footprint if at most one rank decides each group
 * and no index falls outside the shape. If every loop also divides the piece that it cuts, tiles at different positions
 * and coordinates of the loops of a dimension are disjoint and equally large. A load is a step at which the tile
 * differs from the previous one. A load moves the whole tile. The number of loads does not depend on the sharing of
 * transfers; sharing multiplies the size by a factor. So each count is the product of size and loads (MODEL.md, section
 * 2). If some loop leaves a ragged tile, the counts are products of rank chains (rank_chain.h), provided that these
 * products are below 2^62.
 */
#ifndef DFL_MODEL_COUNTS_PRODUCT_FORM_H
#define DFL_MODEL_COUNTS_PRODUCT_FORM_H

#include "model/counts/delta.h"

/* Finds the parts of a footprint's product form that do not depend on the sizes. The footprint must be split into
   groups. */
void dfl_product_form_find(dfl_nest *nest, dfl_footprint *footprint);
/* Determines whether the counts of a delta can be products, and finds its rank chains. */
void dfl_product_form_share(dfl_nest *nest, dfl_delta *delta);
/* Copies the present sizes to all footprints, and counts all deltas that are products at these sizes. */
void dfl_product_form_fill_all(dfl_nest *nest);
/* The result of dfl_delta_disjoint, from products or chains. False, with nothing reported, if neither applies. */
bool dfl_product_form_disjoint(dfl_nest *nest, const dfl_delta *delta, dfl_i128 *out);
/* Counts a delta from rank chains. False, with nothing reported, if the rank chains do not apply. */
bool dfl_product_form_fill_ragged(dfl_nest *nest, dfl_delta *delta);

#endif
