/*
 * Conditions of a `where` clause: the number of points that satisfy all of them. Conditions that share ranks form a set, and the
 * numbers of different sets multiply. Within a set, the positions of all ranks but the longest are visited; the positions of
 * the longest rank that satisfy the conditions are an interval.
 */
#ifndef DFL_IR_CONDITIONS_H
#define DFL_IR_CONDITIONS_H

#include "ir/workload.h"

/* Number of positions that a count visits; INT64_MAX if it is larger, or if the einsum has more than 64
   ranks or conditions. The other functions need a smaller number. */
int64_t dfl_conditions_visits(const dfl_workload *w, const dfl_einsum *e);
/* Number of combinations of the ranks in the conditions that satisfy all of them, 1 without conditions. True on overflow. */
bool dfl_conditions_count(const dfl_workload *w, const dfl_einsum *e, dfl_i128 *out);
/* The same for the combinations of the ranks in `keep` [rank] (NULL: all) for which some combination of the others satisfies the
   conditions. No rank has an extent of 0. Adds the number of positions that the count visits to `*visits`. If this makes
   `*visits` larger than `most`, no position is visited and `*out` is 0. */
bool dfl_conditions_count_kept(const dfl_workload *w, const dfl_einsum *e, const bool *keep, int64_t most, int64_t *visits,
                               dfl_i128 *out);
/* Whether two einsums have the same conditions in the same order. */
bool dfl_conditions_equal(const dfl_einsum *a, const dfl_einsum *b);
/* Whether a rank occurs in some condition. */
bool dfl_conditions_have_rank(const dfl_einsum *e, uint32_t rank);
/* Whether a condition states an end of a dimension for an index: `index >= 0` or `index <= extent - 1`. */
bool dfl_conditions_is_end(const dfl_index *sum, const dfl_index *index, int64_t extent);
/* Whether conditions that have a rank of an index state more than the ends of its dimension, as those of the gradient of a window
   do: they may leave out elements. */
bool dfl_conditions_cut(const dfl_workload *w, const dfl_einsum *e, const dfl_access *a, uint32_t dim);

#endif
