/* The inside of a set of rows, for those that fill it. */
#ifndef DFL_MAPPER_ROWS_H
#define DFL_MAPPER_ROWS_H

#include "mapper/tile.h"
#include "support/vec.h"

struct dfl_rows {
    dfl_arena *arena, *scratch;
    dfl_row **at;
    uint32_t n;
    size_t cap;
    uint32_t *slots, n_slots, ways; /* by the way to share: 1 + index of the last row of it */
    uint64_t evaluated, pruned;
};

/* Whether no row of the same way is at most `row` in everything. */
bool dfl_rows_wants(dfl_rows *rows, const dfl_row *row, const dfl_tile_goal *goal);
/* Whether some row of the way costs at most this. */
bool dfl_rows_cheaper(dfl_rows *rows, const dfl_way *way, uint64_t hash, double joules, double seconds,
                      const dfl_tile_goal *goal);
/* Takes a copy of a row that is wanted, and drops those that it undercuts. */
void dfl_rows_add(dfl_rows *rows, const dfl_row *row, const dfl_tile_goal *goal);

#endif
