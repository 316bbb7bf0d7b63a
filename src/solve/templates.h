/*
 * Lines that exist for every einsum. Ranks of the result are spread over the arrays around the unit, by divisors of their
 * extents. Below the arrays stand either single elements, with each operand kept in the innermost memory above the loops that do
 * not touch it, or a block of every operand that fits the innermost memories.
 */
#ifndef DFL_SOLVE_TEMPLATES_H
#define DFL_SOLVE_TEMPLATES_H

#include "solve/line_search.h"

/* Tries templates for each unit that can run the einsum. */
void dfl_templates_try(dfl_line_search *search);

#endif
