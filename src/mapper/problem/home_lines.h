/* The keeps at home of the only einsum of a mapping: those that the file writes, and those of all other operands. */
#ifndef DFL_MAPPER_PROBLEM_HOME_LINES_H
#define DFL_MAPPER_PROBLEM_HOME_LINES_H

#include "mapper/problem/einsum_problem.h"

/* Adds a line whose amount has an empty span of its own: a loop without one is bare, and may not follow a loop that finishes its
   rank. `body->lines` has room for it. */
dfl_line *dfl_body_add_line(dfl_body *body, dfl_line line, dfl_span span);
/* Adds the keeps at home. `from`: the body of the mapping that is searched; `body->lines` has room for its homes and for one line
   of each operand. */
void dfl_body_add_homes(const dfl_problem *problem, const dfl_body *from, dfl_span span, dfl_body *body);

#endif
