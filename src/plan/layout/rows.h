/*
 * Gathers from tables that a spatial line divides. `gather T[x, d] by ids[b]` selects the row x by data, so x is no rank of the
 * einsum. `spatial x/8 on gpu` divides the rows of T, and each point of the einsum goes to the instance that has its row. A
 * result of such an einsum stays where its points are while only einsums that go by the same rows read it.
 */
#ifndef DFL_PLAN_LAYOUT_ROWS_H
#define DFL_PLAN_LAYOUT_ROWS_H

#include "plan/layout/frame.h"

/* The access to the positions by which an einsum reads or adds to rows along a rank; NULL = it does not select the rank. */
const dfl_access *dfl_rows_positions(const dfl_workload *w, uint32_t einsum, uint32_t rank);
/* The access to the positions at which an einsum gathers `rows`; NULL if it does not gather them. */
const dfl_access *dfl_rows_gathered_at(const dfl_einsum *e, uint32_t rows);
/* Sets `goes` of the frame: which einsums go by rows on which lines. */
void dfl_rows_find(dfl_frame *f);
/* The dimension of a table that a rank divides, of which a tensor is the rows: replicated (-1) if there is none. */
int32_t dfl_rows_dimension(const dfl_tensor *rows, uint32_t rank);
/* The spatial line in whose place a line stands for an einsum that goes by its rows; NULL = there is none. */
const dfl_line *dfl_rows_replaced(const dfl_frame *f, const dfl_line *line, uint32_t einsum);
/* Sets the points of an einsum: how many of one pass the instance with most of them has. False after a report. */
bool dfl_rows_set_points(dfl_frame *f, uint32_t einsum);
/* Leading dimensions of an access to gathered rows that stand for the positions; 0 for other accesses. */
uint32_t dfl_rows_leading(const dfl_frame *f, uint32_t einsum, const dfl_access *access);
/* Whether a dimension of an access stands for positions: a leading one of gathered rows, or one with a rank of the positions by
   which the points of the einsum go. */
bool dfl_rows_is_position(const dfl_frame *f, uint32_t einsum, const dfl_access *access, uint32_t dim, uint32_t leading);
/* Layers of which each has rows of its own of a table. */
int64_t dfl_rows_layers(const dfl_frame *f, const dfl_tensor *rows);
/* The number of different rows that an access to gathered rows touches in one pass on one chip, if `positions` rows are read. */
dfl_i128 dfl_rows_touched(const dfl_frame *f, uint32_t einsum, const dfl_access *rows, dfl_i128 positions);
/* Whether an instance has more points of a pass than the others. */
bool dfl_rows_are_uneven(const dfl_frame *f, uint32_t einsum);
/* Values of the ranks of the positions that an access lacks, in one pass: how many points use each of its elements. */
int64_t dfl_rows_uses(const dfl_frame *f, uint32_t einsum, const dfl_access *access);
/* Whether a rank is one of the positions of an einsum. */
bool dfl_rows_has_position(const dfl_frame *f, uint32_t einsum, uint32_t rank);
/* Whether an access has a rank of the positions of its einsum. */
bool dfl_rows_varies(const dfl_frame *f, uint32_t einsum, const dfl_access *access);

#endif
