/*
 * The sizes of the loops as numbers: all that changes between two runs of one plan. Kept by einsum and step, so that
 * whatever is counted in closed form needs neither a division nor a look at the lines.
 */
#ifndef DFL_MODEL_SETS_LOOP_SIZES_H
#define DFL_MODEL_SETS_LOOP_SIZES_H

#include "ir/path/path.h"
#include "support/arena.h"

typedef struct {
    int64_t *trips;    /* per step: iterations or parts, ceil(nominal / tile); 1 where no rank is bound */
    int64_t *tile;     /* per step */
    uint64_t *steps;   /* per step: positions of the temporal steps before it, modulo 2^64 */
    uint64_t temporal; /* temporal steps */
    uint64_t ragged;   /* steps whose last tile is shorter than the others */
    uint64_t moving;   /* steps with more than one iteration or part */
} dfl_loop_sizes;

/* Room for the sizes of every path, by einsum. */
dfl_loop_sizes *dfl_loop_sizes_new(dfl_arena *arena, const dfl_paths *paths);
void dfl_loop_sizes_read(const dfl_paths *paths, dfl_loop_sizes *sizes);

#endif
