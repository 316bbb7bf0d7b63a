/*
 * The part of an einsum that one instance of some arrays computes. These are the arrays around the outermost memories of the
 * tensors. Each axis of them splits one rank of the result among its instances; a tensor without this rank is replicated.
 * What is left is an einsum whose outermost memories stand outside of arrays, so that the mapper accepts it.
 */
#ifndef DFL_SOLVE_ONE_INSTANCE_H
#define DFL_SOLVE_ONE_INSTANCE_H

#include "ir/mapping.h"
#include "solve/lone_einsum.h"

typedef struct {
    dfl_lone_einsum one;    /* the part of one instance, on a system in which the arrays have one instance */
    const dfl_line *lines;  /* `spatial` lines that split the einsum */
    uint32_t n_lines;
} dfl_one_instance;

/* Where einsums are split. */
typedef struct {
    dfl_arena *arena;       /* owns what is made */
    const dfl_lone_einsum *one;
    const bool *around;     /* [axis]: axis around an outermost memory */
    uint32_t over;          /* own rank that an operation takes whole; DFL_NONE = there is none */
    dfl_span span;          /* of the lines */
} dfl_instance_source;

/* Number of different ways to split the einsum: one rank of the result for each axis, at most DFL_INSTANCE_WAYS ways. It is 1,
   without a split, if there is nothing to split. */
uint32_t dfl_one_instance_count(const dfl_instance_source *source);
/* The way `way`, less than the count. Without `uneven`, an axis has the largest number of parts that divides the rank. False if
   the parts of an axis would be one, although another rank has more. */
bool dfl_one_instance_make(const dfl_instance_source *source, uint32_t way, bool uneven, dfl_one_instance *out);

#endif
