/*
 * A plan is a skeleton in a form that is easy to change: groups of keeps, with loops over all ranks above each group, and a
 * choice of axes. The canonical plan keeps every operand in every memory that may hold it. The lines of a plan are, for each
 * group, its loops, then the spatial loops of the axes around its keeps that no group before has entered, then the keeps;
 * behind the last group stand the other spatial loops, and loops over single elements.
 */
#ifndef DFL_MAPPER_FIRST_PLAN_H
#define DFL_MAPPER_FIRST_PLAN_H

#include "mapper/first/fan.h"
#include "mapper/first/skeleton.h"

enum { DFL_PLAN_GROUPS = 12 };

typedef struct {
    uint8_t order[DFL_PROBLEM_RANKS]; /* ranks of the loops, outer first */
    int64_t tile[DFL_PROBLEM_RANKS]; /* by rank: wished elements below the loop */
    uint32_t n_keeps;
    struct { uint8_t operand, place; } keep[DFL_PROBLEM_KEEPS];
} dfl_plan_group;

typedef struct {
    const dfl_problem *problem;
    dfl_fan fan;
    uint32_t n;
    dfl_plan_group group[DFL_PLAN_GROUPS];
    uint8_t order[DFL_PROBLEM_RANKS]; /* of the loops over single elements */
} dfl_plan;

/* All operands in all memories, the smallest tiles: below each loop what the axes inside of it spread. Sums are innermost in
   their loops, so that results stay while elements are added. `lean`: of memories in the same place between arrays, results use
   the innermost alone and inputs the outermost alone. Where one element of each does not fit, the first operands that fit are
   kept, or the last ones if lean. */
void dfl_plan_make(const dfl_problem *problem, const dfl_fan *fan, bool lean, dfl_plan *out);
/* The lines of the plan. False if there are too many. */
bool dfl_plan_lines(const dfl_plan *plan, dfl_skeleton *out);
/* Takes the wishes of lines that dfl_plan_lines made of the plan. */
void dfl_plan_take(dfl_plan *plan, const dfl_skeleton *lines);

/*
 * Changes of a plan. Each leaves what others of its amounts say, so that lines of one iteration come in between. False if there
 * is nothing to change.
 */
/* Without the keep; the loops above stay if they are above others, else those inside of it take their place. */
bool dfl_plan_drop(dfl_plan *plan, uint32_t group, uint32_t keep);
/* The keep in a group of its own, above or below the others of its group. */
bool dfl_plan_split(dfl_plan *plan, uint32_t group, uint32_t keep, bool above);
/* The loop over the rank is the innermost of its group. `group` = n: of the loops over single elements. */
bool dfl_plan_turn(dfl_plan *plan, uint32_t group, uint32_t rank);
/* One more keep of the operand, in the group of others of the memory, or in the first group where it can stand. False if it is
   kept there already, or no memory of the kind may hold it. */
bool dfl_plan_add(dfl_plan *plan, uint32_t operand, uint32_t place);
/* Whether both have the same keeps in the same groups. */
bool dfl_plan_alike(const dfl_plan *a, const dfl_plan *b);
/* Groups change places; the loops stay where they are. False if keeps of an operand would stand in the wrong order. */
bool dfl_plan_swap(dfl_plan *plan, uint32_t group);

#endif
