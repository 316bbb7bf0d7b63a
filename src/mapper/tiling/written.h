/*
 * Amounts of an einsum whose lines are all written (rule D7 of SEARCH.md): each temporal loop and each axis of a skeleton
 * (skeleton/fixed_lines.h) that has no place for further lines is a cut of its own. The line of a cut says which amounts the cut
 * may have. Tiles that do not divide follow from written amounts, and from sets of amounts.
 */
#ifndef DFL_MAPPER_TILING_WRITTEN_H
#define DFL_MAPPER_TILING_WRITTEN_H

#include "mapper/skeleton/fixed_lines.h"
#include "mapper/tiling/chain.h"

/* Amounts that the cuts of an einsum may have, whatever the others are: none is left out, and some may not go with the others. */
typedef struct dfl_written_amounts {
    bool imperfect;           /* an open tile size need not divide what is left of its rank */
    dfl_amounts at[DFL_PROBLEM_RANKS][DFL_CHAIN_CUTS];  /* ascending; n = 0: any amount */
} dfl_written_amounts;

/* Whether no further lines may stand in the skeleton. */
bool dfl_written_is_whole(const dfl_tiling_template *t);
/* The cuts of a rank. False if a keep stands above an axis around it, and the cuts cannot say so. */
bool dfl_written_chain(const dfl_problem *problem, const dfl_tiling_template *t, uint32_t rank, dfl_chain *out);
/* The amounts of every cut; NULL if a line has a form that is not known here. */
const dfl_written_amounts *dfl_written_list(dfl_arena *arena, const dfl_problem *problem, const dfl_tiling_template *t,
                                            bool imperfect);
/* Whether the lines of a rank may have these amounts, by cut. */
bool dfl_written_admits(const dfl_problem *problem, const dfl_tiling_template *t, uint32_t rank, const int64_t *amounts,
                        bool imperfect);
/* Sets the amounts of the lines of a rank in a copy `m` of the mapping, whose body had the lines `from`. */
void dfl_written_set(const dfl_problem *problem, const dfl_tiling_template *t, uint32_t rank, const int64_t *amounts,
                     const dfl_line *from, dfl_mapping *m);

#endif
