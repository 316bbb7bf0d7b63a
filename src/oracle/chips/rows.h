/*
 * Points that go to rows. `gather T[x, d] by ids[b, k]` selects `x` by data: a line over `x` divides the rows of `T`, and each
 * point of `b` and `k` is computed where its row is. This file finds the einsums whose points go to rows, and the chips of their
 * points, and counts the pairs of points and elements that an exchange moves.
 */
#ifndef DFL_ORACLE_CHIPS_ROWS_H
#define DFL_ORACLE_CHIPS_ROWS_H

#include "oracle/chips/chips_internal.h"

/* Whether a line is for an einsum: `for T` also names what the backward pass derives from T. */
bool dfl_chips_is_named(const chips *c, const dfl_line *line, uint32_t einsum);
/* Finds which einsums go by the rows of which lines. False after a report. */
bool dfl_chips_find_goes(chips *c);
/* Whether an einsum goes by the rows of a line. */
bool dfl_chips_goes(const chips *c, const dfl_line *line, uint32_t einsum);
/* Whether a line over rows stands for an einsum in the place of `line`, a line without `for`. */
bool dfl_chips_is_replaced(const chips *c, const dfl_line *line, uint32_t einsum);
/* Notes that the points of an einsum go by the rows of a line, which divides them among the chips of a group. False after a
   report. */
bool dfl_chips_go(chips *c, const dfl_line *line, uint32_t einsum, uint32_t group);
/* Whether no line further in divides the parts of a line that rows replace, which differ with rows. False after a report. */
bool dfl_chips_check_nesting(chips *c);

/* Whether a chip computes the present point of an einsum whose points go to rows. */
bool dfl_chips_takes(const chips *c, uint32_t einsum, uint32_t chip);
/* Whether a chip has `row` of the table of `rows`, a tensor of gathered rows, for an einsum. If no line divides the table, each
   chip has all rows. */
bool dfl_chips_has_row(const chips *c, uint32_t einsum, uint32_t chip, uint32_t rows, int64_t row);
/* Whether an index of an access has a rank. */
bool dfl_chips_has_rank(const dfl_access *a, uint32_t rank);
/* Whether an access has a rank of the positions of an einsum. */
bool dfl_chips_varies_by_rows(const chips *c, uint32_t einsum, const dfl_access *a);
/* Number of points in a pass that use each element of an access: values of the ranks of the positions that the access lacks. */
int64_t dfl_chips_uses(const chips *c, uint32_t einsum, const dfl_access *a);
/* Number of chips among which the points of an einsum go. */
int64_t dfl_chips_instances(const chips *c, uint32_t einsum);

/* Enumerates the blocks of points from which a chip may compute: its own, and those of the chips whose points may come to it. A
   block is named by its chip. Returns the one after `block`, the first one for DFL_NONE; DFL_NONE = none is left. */
uint32_t dfl_chips_next_block(const chips *c, uint32_t einsum, uint32_t chip, uint32_t block);
/* Whether two chips take the same points of the same blocks. */
bool dfl_chips_takes_alike(const chips *c, uint32_t einsum, uint32_t a, uint32_t b);

/* Notes that the present point of an einsum reads an element, or adds to it (`reading` = behind the last one). */
void dfl_chips_note_pair(chips *c, uint32_t einsum, uint32_t chip, uint32_t reading, uint32_t element);
/* Empties the notes of an einsum before a pass. */
void dfl_chips_start_pairs(chips *c, uint32_t einsum);
/* Pairs of points and elements that go out from a chip or come back to it in a pass, of the chip with most. */
uint64_t dfl_chips_most_pairs(const chips *c, uint32_t einsum, uint32_t reading);
/* Elements that the chips among which the points go have touched together in a pass, of the chips with most. */
uint64_t dfl_chips_most_joint(const chips *c, uint32_t einsum, uint32_t reading);
/* Pairs of a reading that a chip has got in a pass. */
uint32_t dfl_chips_pairs_of(const chips *c, uint32_t einsum, uint32_t reading, uint32_t chip);
/* Elements of a reading that a chip has got in a pass: those that the chips among which the points go have touched together. */
uint32_t dfl_chips_joint_of(const chips *c, uint32_t einsum, uint32_t reading, uint32_t chip);

/* Whether the gradient of a table has alone the rows to which points add: no zeros stand before them. */
bool dfl_chips_has_rows_alone(const chips *c, uint32_t tensor);
/* The access at which an expression gathers a tensor of rows; NULL = it gathers none of it. */
const dfl_access *dfl_chips_find_gather(const dfl_einsum *e, const dfl_eop *node, uint32_t rows);
/* Index of the element that the access `rows_at` of an einsum reads at the current values of its ranks. */
int64_t dfl_chips_position_of(const chips *c, const chip_einsum *e);

#endif
