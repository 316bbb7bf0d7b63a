/*
 * The search of branches: an open brace of several einsums is divided into the groups that take the least time one after
 * another (groups/groups.h).
 */
#ifndef DFL_PLAN_PASS_GROUPING_H
#define DFL_PLAN_PASS_GROUPING_H

#include "plan/pass/chunk.h"

/* Divides all open braces into branches that keep copies of a result with its einsum, and sets the times of the einsums to them.
   Each pass and each repeat in a brace is divided by itself, into at most `option groups` branches. False after a report: a
   written branch does not fit, no division does, or the search is too large to be proven. */
bool dfl_grouping_find(const dfl_plan_work *work, dfl_plan_branches *branches, dfl_chip_time *times);

#endif
