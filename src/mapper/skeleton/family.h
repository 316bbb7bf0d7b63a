/*
 * A family of skeletons: all skeletons of an einsum alone whose operands are kept in the same memories, in any order. A search
 * bounds a family before it lists the skeletons. Families make a tree: a node has chosen the memories of the first `n` operands;
 * behind these, the outermost keeps, one after the other.
 */
#ifndef DFL_MAPPER_SKELETON_FAMILY_H
#define DFL_MAPPER_SKELETON_FAMILY_H

#include "mapper/problem/einsum_problem.h"
#include "mapper/problem/objective.h"

typedef struct {
    uint32_t n;                           /* operands whose memories are chosen */
    uint32_t kept[DFL_PROBLEM_OPERANDS];  /* mask of places inside of the home, by operand */
    uint32_t n_first;                     /* keeps whose order is chosen, the outermost ones: */
    uint8_t first[DFL_PROBLEM_KEEPS];     /* their operands; those of one operand stand from outer to inner places */
} dfl_family;

/* Whether families of the problem have bounds: all its lines are open, no window slides, and it exchanges nothing. */
bool dfl_family_handles(const dfl_problem *problem);
/* Lower bound of the objective over all skeletons of a family (lemma B25 of SEARCH.md). `leakage`, W, is part of the energy. */
double dfl_family_bound(const dfl_problem *problem, const dfl_objective *objective, double leakage, const dfl_family *family);

#endif
