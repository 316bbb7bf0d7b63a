/*
 * Sets of integers as sorted, disjoint, non-touching half-open intervals: the part of a tensor's dimension that a
 * tile covers. Almost always one interval; strides above the window, dilation and instances far apart make more.
 */
#ifndef DFL_MODEL_SETS_INTERVAL_SET_H
#define DFL_MODEL_SETS_INTERVAL_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "support/arena.h"

typedef struct { int64_t lo, hi; } dfl_run; /* [lo, hi) */

typedef struct {
    dfl_run *at;
    size_t n, cap;
    bool sorted; /* sorted, disjoint and merged */
} dfl_runs;

void dfl_runs_clear(dfl_runs *s);
/* Adds an interval; nothing for hi <= lo. */
void dfl_runs_add(dfl_arena *arena, dfl_runs *s, int64_t lo, int64_t hi);
void dfl_runs_normalise(dfl_runs *s);
/* All of `b` into `a`. */
void dfl_runs_unite(dfl_arena *arena, dfl_runs *a, const dfl_runs *b);
/* out = a & b, out = a \ b; both inputs normalised, `out` distinct from them. */
void dfl_runs_intersect(dfl_arena *arena, dfl_runs *out, const dfl_runs *a, const dfl_runs *b);
void dfl_runs_subtract(dfl_arena *arena, dfl_runs *out, const dfl_runs *a, const dfl_runs *b);
/* out = { x + coef * y : x in a, y in b }; `out` distinct from them. Spends the arena's budget. */
void dfl_runs_sum(dfl_arena *arena, dfl_runs *out, const dfl_runs *a, int64_t coef, const dfl_runs *b);
bool dfl_runs_equal(const dfl_runs *a, const dfl_runs *b);
/* Number of integers in a normalised set. */
int64_t dfl_runs_count(const dfl_runs *s);

#endif
