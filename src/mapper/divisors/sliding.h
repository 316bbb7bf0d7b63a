/*
 * What keeps bring in where windows slide: when a loop above a keep advances, only elements that were not there before come in
 * (MODEL.md, section 2). What decides is the innermost gap with a loop over a rank of the operand: along the innermost loop, any
 * of that gap, most of the tile stays; when another loop advances all of it comes in anew. Of the loops of the gap the one counts
 * that spares most, and is written as the last one. Loops further out may spare something, too, which is not counted: this is no
 * bound of what mappings cost.
 */
#ifndef DFL_MAPPER_DIVISORS_SLIDING_H
#define DFL_MAPPER_DIVISORS_SLIDING_H

#include "mapper/divisors/divisors_internal.h"

/* How much of its elements a group moves for each iteration of the other ranks before loops cut any; 1 where no windows slide. */
double dfl_sliding_least(const dfl_search *s, uint32_t group);
/* How much more than that it moves when the first `depth` ranks of the order are cut. */
double dfl_sliding_overlap(const dfl_search *s, uint32_t group, uint32_t depth);
/* The rank of the loop in a gap of the row that should be the innermost there for the sake of windows; DFL_NONE: any may. */
uint32_t dfl_sliding_innermost(const dfl_pmapping *row, uint32_t gap);
/* How much more than its elements the parts of an operand on a set of axes hold together. */
double dfl_sliding_parts(const dfl_search *s, const dfl_problem_operand *o, uint32_t axes);

#endif
