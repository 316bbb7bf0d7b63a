/*
 * Where the ranks of an einsum are at one position of the loops above a point.
 *
 * A position assigns an index to every loop of a path, temporal or spatial, by step number (step_numbers.h); paths that share a
 * prefix of lines share its step numbers. A rank's piece is an interval [lo, hi): the whole extent, cut by each loop bound to
 * it in turn. The rank of a restricted producer (MODEL.md, rule 11) starts at a branch from what its consumers read
 * there and nothing before has computed; loops below the branch cut the hull of that.
 */
#ifndef DFL_MODEL_SETS_RANK_PIECE_H
#define DFL_MODEL_SETS_RANK_PIECE_H

#include "model/sets/nest.h"

/* Piece of `rank` of einsum `e` below its first `n` steps at position `pos`. Empty for hi <= lo. */
dfl_interval dfl_rank_piece(const dfl_nest *nest, uint32_t e, uint32_t rank, uint32_t n, const int64_t *pos);
/* The same without what a restricted producer leaves out of it: a set, normalised. */
void dfl_rank_piece_set(const dfl_nest *nest, uint32_t e, uint32_t rank, uint32_t n, const int64_t *pos, dfl_interval_set *out);
/* Whether the piece of a rank may be more than an interval. */
bool dfl_rank_piece_has_gaps(const dfl_nest *nest, uint32_t e, uint32_t rank);
/* Iterations of temporal step `i` at a position of the loops above it, for the largest instance: at least 1, in which
   the einsum may be idle. */
int64_t dfl_rank_piece_trips(const dfl_nest *nest, uint32_t e, uint32_t i, const int64_t *pos);
uint64_t dfl_rank_piece_cuts(const dfl_nest *nest, uint32_t e, uint32_t rank, uint32_t n);
/* Adds the steps < n that decide the piece of a rank to a bit set of steps. */
void dfl_rank_piece_steps(const dfl_nest *nest, uint32_t e, uint32_t rank, uint32_t n, uint64_t *bits);

#endif
