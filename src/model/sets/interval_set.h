/*
 * A set of integers, stored as half-open intervals: the indices of one dimension of a tensor that a tile covers. Most
 * sets have one interval. A stride larger than the window, dilation, or distant instances make several intervals.
 * The intervals lie in the arena that the caller passes. All operations are linear in the number of intervals, except
 * sorting, which costs n log n.
 */
#ifndef DFL_MODEL_SETS_INTERVAL_SET_H
#define DFL_MODEL_SETS_INTERVAL_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "support/arena.h"

/* Half-open interval: all i with lo <= i < hi. */
typedef struct { int64_t lo, hi; } dfl_interval;

/* Interval set. */
typedef struct {
    dfl_interval *at;
    size_t n, cap;
    bool sorted; /* intervals are in ascending order, disjoint, and do not touch */
} dfl_interval_set;

/* Makes a set empty. The set keeps its memory. */
void dfl_interval_set_clear(dfl_interval_set *set);
/* Adds [lo, hi). An interval with hi <= lo is empty and adds nothing. */
void dfl_interval_set_add(dfl_arena *arena, dfl_interval_set *set, int64_t lo, int64_t hi);
/* Sorts the intervals and merges those that overlap or touch. */
void dfl_interval_set_normalise(dfl_interval_set *set);
/* Adds all elements of `b` to `a`. `a` need not be normalised afterwards. */
void dfl_interval_set_unite(dfl_arena *arena, dfl_interval_set *a, const dfl_interval_set *b);
/* Intersection (out = a & b) and difference (out = a \ b). Both inputs must be normalised, and `out` must be distinct
   from them. */
void dfl_interval_set_intersect(dfl_arena *arena, dfl_interval_set *out, const dfl_interval_set *a, const dfl_interval_set *b);
void dfl_interval_set_subtract(dfl_arena *arena, dfl_interval_set *out, const dfl_interval_set *a, const dfl_interval_set *b);
/* Minkowski sum: out = { x + coef * y : x in a, y in b }. `out` must be distinct from both inputs, and is normalised.
   Each interval that the function adds one by one spends budget of the arena. */
void dfl_interval_set_sum(dfl_arena *arena, dfl_interval_set *out, const dfl_interval_set *a, int64_t coef,
                          const dfl_interval_set *b);
/* Tells whether two normalised sets have the same elements. */
bool dfl_interval_set_equal(const dfl_interval_set *a, const dfl_interval_set *b);
/* Number of elements of a normalised set. */
int64_t dfl_interval_set_count(const dfl_interval_set *set);

#endif
