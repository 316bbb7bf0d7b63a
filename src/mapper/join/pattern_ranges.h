/*
 * Lower bounds of one einsum with one exchange pattern where the tiles that it exchanges have given ranges (SEARCH.md, B43).
 * Programs are kept, each with a plane (B20) that also bounds other ranges without a new solution.
 */
#ifndef DFL_MAPPER_JOIN_PATTERN_RANGES_H
#define DFL_MAPPER_JOIN_PATTERN_RANGES_H

#include "mapper/join/pattern_bound.h"

/* Ranges of the exchanged tiles, by operand and dimension: elements of a full tile below the loops above its keep. Operands that
   are exchanged in their home have none. */
typedef struct {
    int64_t low[DFL_PROBLEM_OPERANDS][DFL_PROBLEM_DIMS], high[DFL_PROBLEM_OPERANDS][DFL_PROBLEM_DIMS];
    double held[DFL_PROBLEM_OPERANDS]; /* bits of held keeps above the exchange of an operand, at most (B62); INFINITY = any */
} dfl_exchanged_tiles;

/* The tiles of the skeleton with the least bound, about, as logarithms; NAN = none, or not known. */
typedef struct {
    double at[DFL_PROBLEM_OPERANDS][DFL_PROBLEM_DIMS];
    double held[DFL_PROBLEM_OPERANDS];      /* bits of keeps above the exchange of an operand that may be held (B62) */
    double room[DFL_PROBLEM_PLACES];        /* bits that all tiles take, by place */
} dfl_exchanged_point;

/* The bound with ranges of tiles, after dfl_pattern_bounds_least of the pattern. `taken`: bits by memory of the system that tiles
   of other einsums take meanwhile (SEARCH.md, B48); NULL = none. Sets `point`. */
double dfl_pattern_bounds_within(dfl_pattern_bounds *bounds, uint32_t pattern, const dfl_exchanged_tiles *tiles,
                                 const double *taken, dfl_exchanged_point *point);

#endif
