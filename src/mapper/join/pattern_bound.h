/*
 * Lower bounds of one einsum with one exchange pattern: the least bound by the geometric programs of all skeletons of the pattern
 * (SEARCH.md, B41), also where the tiles that the einsum exchanges have given ranges (B43). The cost is a line of energy and
 * time, per_joule * J + per_second * S, with J without leakage.
 *
 * The latency is a mean of the time of the work and of the times of ports, with weights that a pattern gets when it is bounded.
 *
 * At first each skeleton has a bound that ignores the room of memories. Its program is solved only while this bound is no proof
 * that another skeleton has the least. Programs of given ranges of tiles are kept, each with a plane (B20) that also bounds other
 * ranges without a new solution.
 */
#ifndef DFL_MAPPER_JOIN_PATTERN_BOUND_H
#define DFL_MAPPER_JOIN_PATTERN_BOUND_H

#include "mapper/exact/einsum_classes.h"
#include "mapper/problem/objective.h"

typedef struct dfl_pattern_bounds dfl_pattern_bounds;

/* Ranges of the exchanged tiles, by operand and dimension: elements of a full tile below the loops above its keep. Operands that
   are exchanged in their home have none. */
typedef struct {
    int64_t low[DFL_PROBLEM_OPERANDS][DFL_PROBLEM_DIMS], high[DFL_PROBLEM_OPERANDS][DFL_PROBLEM_DIMS];
} dfl_exchanged_tiles;

/* The tiles of the skeleton with the least bound, about, as logarithms; NAN = none, or not known. */
typedef struct {
    double at[DFL_PROBLEM_OPERANDS][DFL_PROBLEM_DIMS];
} dfl_exchanged_point;

/* The bounds of a class for a line. The class and `scratch`, which is reset, must live as long. `programs` counts the programs
   that are solved. */
dfl_pattern_bounds *dfl_pattern_bounds_new(dfl_arena *arena, dfl_arena *scratch, const dfl_einsum_class *class,
                                           const dfl_objective *line, dfl_deadline *deadline, uint64_t *programs);
/* A bound of a pattern whatever the room, without programs. */
double dfl_pattern_bounds_roomy(const dfl_pattern_bounds *bounds, uint32_t pattern);
/* The bound of a pattern; INFINITY = nothing fits. 0 if the deadline passes meanwhile. */
double dfl_pattern_bounds_least(dfl_pattern_bounds *bounds, uint32_t pattern);
/* The bound with ranges of tiles, after dfl_pattern_bounds_least of the pattern. `taken`: bits by memory of the system that tiles
   of other einsums take meanwhile (SEARCH.md, B48); NULL = none. Sets `point`. */
double dfl_pattern_bounds_within(dfl_pattern_bounds *bounds, uint32_t pattern, const dfl_exchanged_tiles *tiles,
                                 const double *taken, dfl_exchanged_point *point);

#endif
