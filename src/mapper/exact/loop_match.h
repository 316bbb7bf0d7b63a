/*
 * How the loops of a row lie among the loops that are open before its einsum. Open loop k of a state is
 *   - a loop of the row, its own or one that goes along with the loop through a tensor: through an operand that an einsum
 *     below the loop made along it, or through the result, if all that read it below the loop index it there by the loop's rank;
 *   - or skipped: the einsum has no rank of that name, follows nothing, and what it makes is read below the loop, whole in every
 *     iteration. Then it runs in the first iteration only.
 * Behind the open loops come those that the row opens. What goes along by its result, or is skipped, owes a reader: below
 * the loop there must be one.
 */
#ifndef DFL_MAPPER_EXACT_LOOP_MATCH_H
#define DFL_MAPPER_EXACT_LOOP_MATCH_H

#include "mapper/exact/dp_states.h"

typedef struct {
    uint32_t n;                  /* loops around the einsum */
    uint32_t skipped, owes;      /* masks of them */
    uint32_t bound;              /* open loops that are the row's */
    uint8_t at[DFL_ROW_LOOPS];   /* by loop of the row: which of them it is */
    int8_t own[DFL_ROW_LOOPS];   /* the other way round, -1 = skipped */
} dfl_loop_match;

/* Open loops that any row of the einsum may skip. */
uint32_t dfl_loop_match_may_skip(const dfl_problem *problem, const dfl_join_way *w);
/* Open loops are skipped, or the next one of the row; false if it has too few, or opens too many. */
bool dfl_loop_match_set(const dfl_join_way *w, const dfl_pmapping *row, uint32_t skipped, dfl_loop_match *out);
/* Whether the row can stand there so; sets what it owes. */
bool dfl_loop_match_fits(const dfl_joiner *j, const dfl_join_way *w, const dfl_pmapping *row, dfl_loop_match *a);
/* Loops around a home that stands below `depth` loops of the row. */
uint32_t dfl_loop_match_depth(const dfl_loop_match *a, uint32_t depth);
/* Loops of the row among the first `depth` around it. */
uint32_t dfl_loop_match_own(const dfl_loop_match *a, uint32_t depth);
/* What dfl_join_alive says of operand o and loop k, for a home below `depth` of all loops. */
int8_t dfl_loop_match_dimension(const dfl_problem *problem, const dfl_pmapping *row, const dfl_loop_match *a, uint32_t o,
                                uint32_t k, uint32_t depth);
/* Masks of the memories that the row keeps operand o in for itself, and of those just above loop `k`, if that is its own. */
uint32_t dfl_loop_match_kept(const dfl_pmapping *row, const dfl_loop_match *a, uint32_t o, uint32_t k, uint32_t *above);
const dfl_join_alive *dfl_join_find(const dfl_join_way *w, uint32_t tensor);
/* Whether no einsum behind the present one reads the tensor. */
bool dfl_join_is_last(const dfl_joiner *j, uint32_t tensor);

#endif
