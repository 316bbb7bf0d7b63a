/*
 * Sets of integers as sorted, disjoint, non-touching half-open intervals: the part of a tensor's dimension that a
 * tile covers. Almost always one interval; strides above the window, dilation and instances far apart make more.
 */
#ifndef DFL_MODEL_SETS_INTERVAL_SET_H
#define DFL_MODEL_SETS_INTERVAL_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "support/arena.h"

typedef struct { int64_t lo, hi; } dfl_interval; /* [lo, hi) */

typedef struct {
    dfl_interval *at;
    size_t n, cap;
    bool sorted; /* sorted, disjoint and merged */
} dfl_interval_set;

void dfl_interval_set_clear(dfl_interval_set *s);
/* Adds an interval; nothing for hi <= lo. */
void dfl_interval_set_add(dfl_arena *arena, dfl_interval_set *s, int64_t lo, int64_t hi);
void dfl_interval_set_normalise(dfl_interval_set *s);
/* All of `b` into `a`. */
void dfl_interval_set_unite(dfl_arena *arena, dfl_interval_set *a, const dfl_interval_set *b);
/* out = a & b, out = a \ b; both inputs normalised, `out` distinct from them. */
void dfl_interval_set_intersect(dfl_arena *arena, dfl_interval_set *out, const dfl_interval_set *a, const dfl_interval_set *b);
void dfl_interval_set_subtract(dfl_arena *arena, dfl_interval_set *out, const dfl_interval_set *a, const dfl_interval_set *b);
/* out = { x + coef * y : x in a, y in b }; `out` distinct from them. Spends the arena's budget. */
void dfl_interval_set_sum(dfl_arena *arena, dfl_interval_set *out, const dfl_interval_set *a, int64_t coef,
                          const dfl_interval_set *b);
bool dfl_interval_set_equal(const dfl_interval_set *a, const dfl_interval_set *b);
/* Number of integers in a normalised set. */
int64_t dfl_interval_set_count(const dfl_interval_set *s);

#endif
