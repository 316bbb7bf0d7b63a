/*
 * Lower bounds of one einsum with one exchange pattern: the least bound by the geometric programs of all skeletons of the pattern
 * (SEARCH.md, B41). The cost is a line of energy and time, per_joule * J + per_second * S, with J without leakage.
 *
 * The latency is a mean of the time of the work and of the times of ports, with weights that a pattern gets when it is bounded.
 *
 * At first each skeleton has a bound that ignores the room of memories. Skeletons with the same keeps make a tree by the order of
 * these (skeleton_tree.h): a program is solved, of a node or a skeleton, only while its bound is no proof that another skeleton
 * has the least.
 */
#ifndef DFL_MAPPER_JOIN_PATTERN_BOUND_H
#define DFL_MAPPER_JOIN_PATTERN_BOUND_H

#include "mapper/exact/einsum_classes.h"
#include "mapper/problem/objective.h"
#include "mapper/tiling/form_program.h"

typedef struct dfl_pattern_bounds dfl_pattern_bounds;

/* The bounds of a class for a line. The class and `scratch`, which is reset, must live as long. `programs` counts the programs
   that are solved. */
dfl_pattern_bounds *dfl_pattern_bounds_new(dfl_arena *arena, dfl_arena *scratch, const dfl_einsum_class *class,
                                           const dfl_objective *line, dfl_deadline *deadline, uint64_t *programs);
/* Makes all bounds count first tiles (SEARCH.md, B60). To be called before the first bound. */
void dfl_pattern_bounds_first_tiles(dfl_pattern_bounds *bounds, const dfl_form_firsts *firsts);
/* Makes all bounds that follow count whole numbers of parts on axes (SEARCH.md, B57): some times more programs. With
   `has_lengths`, they count whole lengths, too, for an einsum that shares no loop (B58): some tens of times more programs.
   `known` is the value of the line at a mapping: with `has_lengths`, no bound is raised above it. */
void dfl_pattern_bounds_whole_parts(dfl_pattern_bounds *bounds, bool has_lengths, double known);
/* Makes bounds with ranges count the room of keeps of the operands in this mask (SEARCH.md, B62). To be called at first. */
void dfl_pattern_bounds_limit_keeps(dfl_pattern_bounds *bounds, uint32_t operands);
/* A bound of a pattern whatever the room, without programs. */
double dfl_pattern_bounds_roomy(const dfl_pattern_bounds *bounds, uint32_t pattern);
/* The bound of a pattern; INFINITY = nothing fits. 0 if the deadline passes meanwhile. */
double dfl_pattern_bounds_least(dfl_pattern_bounds *bounds, uint32_t pattern);
/* The skeletons of a pattern with the least bounds so far, best first, at most `most`: numbers of candidates of the class.
   Returns how many there are. */
uint32_t dfl_pattern_bounds_best(dfl_pattern_bounds *bounds, uint32_t pattern, uint32_t *skeletons, uint32_t most);

#endif
