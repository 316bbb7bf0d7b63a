/*
 * Ranks of loops above branches. A loop may stand above einsums that lack its rank: one reads what is made along it, or makes
 * what a later one reads, also through windows (ir/path/path.h: FOLLOW, NEED). Then the loop cuts other ranks of this einsum,
 * too.
 */
#ifndef DFL_MAPPER_IMPROVE_TREE_RANKS_H
#define DFL_MAPPER_IMPROVE_TREE_RANKS_H

#include "ir/mapping.h"
#include "support/arena.h"

/* Elements of a full tile of the rank that the lines above line `at` of the body leave. */
int64_t dfl_tree_tile(const dfl_mapping *m, const dfl_body *b, uint32_t at, uint32_t rank);
/* Whether all einsums of the body have the rank. */
bool dfl_tree_has_rank(const dfl_mapping *m, const dfl_body *b, uint32_t rank);
/* Whether a loop over the rank may stand in the body: some einsum has the rank, and all others go along. */
bool dfl_tree_may_loop(const dfl_mapping *m, const dfl_body *b, uint32_t rank);
/* The ranks of the workload, as long as their largest pieces below the lines above line `at` of a body, in `arena`. */
dfl_rank *dfl_tree_pieces(dfl_arena *arena, const dfl_mapping *m, const dfl_body *b, uint32_t at);
/* Takes loops away, or makes them shorter, that stand behind line `at` of the body or inside of it, and ask for more than is
   left there. */
void dfl_tree_fit(dfl_arena *arena, dfl_mapping *m, dfl_body *b, uint32_t at);

#endif
