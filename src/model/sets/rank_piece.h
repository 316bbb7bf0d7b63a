/*
 * Pieces of ranks: the indices of a rank that some loops have cut out, at one position of these loops. A position
 * assigns an iteration or coordinate to every step of a path, by step number (step_numbers.h). Paths that share a
 * prefix of lines share its step numbers. The piece of a rank is an interval [lo, hi): the whole extent, cut by each
 * loop bound to the rank in turn. The piece of a restricted producer starts at a branch with the demand of that branch
 * (MODEL.md, rule 11): the indices that its consumers read and that no earlier iteration has computed. Loops below the
 * branch cut the hull of the demand.
 */
#ifndef DFL_MODEL_SETS_RANK_PIECE_H
#define DFL_MODEL_SETS_RANK_PIECE_H

#include "model/sets/nest.h"

/* Piece of `rank` of einsum `e` below its first `n` steps at position `pos`; the hull of the piece if the piece has
   gaps. The piece is empty if hi <= lo. */
dfl_interval dfl_rank_piece(const dfl_nest *nest, uint32_t e, uint32_t rank, uint32_t n, const int64_t *pos);
/* The piece as a normalised set, without the indices that a restricted producer omits. */
void dfl_rank_piece_set(const dfl_nest *nest, uint32_t e, uint32_t rank, uint32_t n, const int64_t *pos, dfl_interval_set *out);
/* Tells whether the piece of a rank may have gaps. */
bool dfl_rank_piece_has_gaps(const dfl_nest *nest, uint32_t e, uint32_t rank);
/* Number of iterations of temporal step `i` at a position of the earlier steps, for the instance with the largest piece
   (coordinate 0). The number is at least 1; the einsum may be idle in this iteration. */
int64_t dfl_rank_piece_trips(const dfl_nest *nest, uint32_t e, uint32_t i, const int64_t *pos);
/* Bit set: steps < n of einsum `e` that cut the rank. */
uint64_t dfl_rank_piece_cuts(const dfl_nest *nest, uint32_t e, uint32_t rank, uint32_t n);
/* Adds the steps < n that decide the piece of a rank to a bit set of steps. */
void dfl_rank_piece_steps(const dfl_nest *nest, uint32_t e, uint32_t rank, uint32_t n, uint64_t *bits);

#endif
