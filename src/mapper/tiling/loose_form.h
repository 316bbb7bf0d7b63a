/*
 * A loose form bounds skeletons with the same keeps in any order (SEARCH.md, B49): the first keeps stand as in a skeleton, with
 * their loops and axes; all others follow without a loop between them, and take no room; any loops stand above the unit.
 */
#ifndef DFL_MAPPER_TILING_LOOSE_FORM_H
#define DFL_MAPPER_TILING_LOOSE_FORM_H

#include "mapper/skeleton/family.h"
#include "mapper/tiling/box_bound.h"
#include "mapper/tiling/form_program.h"

/* The loose form, in `arena`, in which the outermost `kept` keeps stand as in the skeleton. `terms`: scratch memory. NULL where
   dfl_form_make has no form. */
dfl_form *dfl_loose_form_make(dfl_arena *arena, const dfl_problem *problem, const dfl_tiling_template *skeleton, uint32_t kept,
                              dfl_terms *terms);

/* What bounds of families need, and what is theirs meanwhile. */
typedef struct {
    const dfl_form_goal *goal;
    const dfl_box_costs *costs;       /* the same objective; without a ramp */
    bool has_whole_parts;             /* no axis stands for several (merge.h) */
    dfl_arena *scratch;               /* reset by each bound */
    dfl_geometric_draft *draft;
    dfl_geometric_solution *solution;
    dfl_terms *terms;
} dfl_loose_solver;

/* Lower bound of the objective over all mappings of a family with the places of all operands (lemmas B55, B56, B76), as far as it
   takes to exceed `value`; 0 = none is known, INFINITY = there is no skeleton. */
double dfl_loose_family_bound(const dfl_loose_solver *solver, const dfl_problem *problem, const dfl_family *family, double value);

#endif
