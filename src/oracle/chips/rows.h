/*
 * Points that go to rows. `gather T[x, d] by ids[b, k]` selects `x` by data: a line over `x` divides the rows of `T`, and each
 * point of `b` and `k` is computed where its row is. Which einsums do so, where their points are, and the data that select rows.
 */
#ifndef DFL_ORACLE_CHIPS_ROWS_H
#define DFL_ORACLE_CHIPS_ROWS_H

#include "oracle/chips/chips_internal.h"

/* Finds which einsums go by the rows of which lines. False after a report. */
bool dfl_chips_find_goes(chips *c);
/* Whether an einsum goes by the rows of a line. */
bool dfl_chips_goes(const chips *c, const dfl_line *line, uint32_t einsum);
/* Whether such a line stands for an einsum in the place of a line without `for`. */
bool dfl_chips_is_replaced(const chips *c, const dfl_line *line, uint32_t einsum);
/* Notes that an einsum goes by the rows of a line that is on a group. False after a report. */
bool dfl_chips_go(chips *c, const dfl_line *line, uint32_t einsum, uint32_t group);
/* Whether no line divides the parts of a line that rows replace further: these parts would differ from those before. */
bool dfl_chips_check_nesting(chips *c);
/* Chooses the data at the positions of all such einsums: equal shares of the points for each part of a table, but for the `load`
   that an einsum states of its largest part. */
void dfl_chips_deal_rows(chips *c);

/* Whether a chip computes the present point of an einsum whose points go to rows. */
bool dfl_chips_takes(const chips *c, uint32_t einsum, uint32_t chip);
/* Whether a chip has a row that a tensor of gathered rows selects for an einsum; all of them if no line divides them. */
bool dfl_chips_has_row(const chips *c, uint32_t einsum, uint32_t chip, uint32_t rows, int64_t row);
/* Whether an access has a rank of the positions of an einsum. */
bool dfl_chips_varies_by_rows(const chips *c, uint32_t einsum, const dfl_access *a);
/* Values in a pass of those ranks of the positions that an access lacks: how many points use each of its elements. */
int64_t dfl_chips_uses(const chips *c, uint32_t einsum, const dfl_access *a);
/* The chips among which the points of an einsum go. */
int64_t dfl_chips_instances(const chips *c, uint32_t einsum);

/* The blocks of points that a chip looks at: its own, and those of the chips whose points may come to it. The next one after
   `block` (DFL_NONE: the first); DFL_NONE = none is left. Returned are chips, of which the block is. */
uint32_t dfl_chips_next_block(const chips *c, uint32_t einsum, uint32_t chip, uint32_t block);
/* Whether two chips take the same points of the same blocks. */
bool dfl_chips_takes_alike(const chips *c, uint32_t einsum, uint32_t a, uint32_t b);

/* Notes that the present point of an einsum reads an element, or adds to it (`reading` = behind the last one). */
void dfl_chips_note_pair(chips *c, uint32_t einsum, uint32_t chip, uint32_t reading, uint32_t element);
/* Empties the notes of the pass before. */
void dfl_chips_start_pairs(chips *c, uint32_t einsum);
/* The most pairs of points and elements that a chip has before they go, or after they came back. */
uint64_t dfl_chips_most_pairs(const chips *c, uint32_t einsum, uint32_t reading);
/* Elements that the chips among which the points go have touched together in the pass; of the chips with most. */
uint64_t dfl_chips_most_joint(const chips *c, uint32_t einsum, uint32_t reading);
/* What a chip has got of a reading: pairs, or elements that the chips have touched together. */
uint32_t dfl_chips_pairs_of(const chips *c, uint32_t einsum, uint32_t reading, uint32_t chip);
uint32_t dfl_chips_joint_of(const chips *c, uint32_t einsum, uint32_t reading, uint32_t chip);

#endif
