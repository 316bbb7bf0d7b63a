/*
 * Sizes of the loops above an einsum, by step: the only input that changes between two runs of one model. Counts in
 * closed form read these arrays; they need no division and no access to the lines.
 */
#ifndef DFL_MODEL_SETS_LOOP_SIZES_H
#define DFL_MODEL_SETS_LOOP_SIZES_H

#include "ir/path/path.h"
#include "support/arena.h"

/* Sizes of the loops above one einsum. */
typedef struct {
    int64_t *trips;    /* [step]: iterations of a temporal loop or instances of a spatial one, ceil(nominal / tile); 1 if the
                          step binds no rank of the einsum */
    int64_t *tile;     /* [step]: elements per tile, > 0 */
    uint64_t *steps;   /* [step]: product of the iterations of all earlier temporal steps, modulo 2^64 */
    uint64_t temporal; /* bit set of temporal steps */
    uint64_t ragged;   /* bit set of steps whose last tile is shorter than the others */
    uint64_t moving;   /* bit set of steps with more than one iteration or instance */
} dfl_loop_sizes;

/* Allocates the sizes of all einsums of a mapping, indexed by einsum id, in `arena`. */
dfl_loop_sizes *dfl_loop_sizes_new(dfl_arena *arena, const dfl_paths *paths);
/* Reads the present sizes of all paths. */
void dfl_loop_sizes_read(const dfl_paths *paths, dfl_loop_sizes *sizes);

#endif
