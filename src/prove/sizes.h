/*
 * The sizes at which `prove` executes a design. Ranks of one class (ir/shrink.h) index the same dimension of a tensor
 * and have one extent. Ranks that the user did not fix are halved, the largest first, until the execution is short
 * enough. The tiles of the mapping are halved with their ranks.
 */
#ifndef DFL_PROVE_SIZES_H
#define DFL_PROVE_SIZES_H

#include "dfl/dfl.h"
#include "ir/mapping.h"

typedef struct {
    const dfl_mapping *mapping;   /* mapping as written */
    const dfl_intern *names;
    int64_t *extents;             /* [rank]: extent to execute, from 1 to the written extent */
    unsigned *halvings;           /* [rank]: number of halvings of its tile sizes */
    bool *fixed;                  /* [rank]: the user set its extent, so it is not halved */
    uint32_t *class_of;           /* [rank]: smallest rank of its class */
} dfl_proof_sizes;

/* Sets the written sizes of the mapping, and the user's extent for each rank that `sizes` names. Sets used[i] if
   sizes[i] names a rank. */
dfl_proof_sizes dfl_proof_sizes_make(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping,
                                     const dfl_size *sizes, size_t n_sizes, bool *used);
/* Number of points of all einsums together at the present extents; INT64_MAX on overflow. */
int64_t dfl_proof_sizes_points(const dfl_proof_sizes *sizes);
/* Halves the largest rank that is not fixed until at most `most` points remain. False if no rank can be halved, or the
   budget is used up. */
bool dfl_proof_sizes_shrink(dfl_proof_sizes *sizes, int64_t most, dfl_budget *budget);
/* Restores three properties of the written sizes that halving may destroy: a last tile that is smaller than the others, tiles
   that divide the extent, and results as large as their consumers read. */
void dfl_proof_sizes_keep_character(dfl_proof_sizes *sizes);
/* Lets ranks of results grow, so that they are as large as their consumers read. */
void dfl_proof_sizes_cover_reads(dfl_proof_sizes *sizes);

#endif
