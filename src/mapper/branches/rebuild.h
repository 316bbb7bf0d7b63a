/* The bodies of a mapping with written branches (branches.h), for those that take it apart. */
#ifndef DFL_MAPPER_BRANCHES_REBUILD_H
#define DFL_MAPPER_BRANCHES_REBUILD_H

#include "mapper/branches/branches.h"

/* Whether something in the lines of a brace is open. */
bool dfl_branches_has_holes(const dfl_body *b);
/* The next einsums of a branch, from number `*i` on, for which it has no brace; `*end` is behind them. */
bool dfl_branches_run(const dfl_body *b, uint32_t *i, uint32_t *end);
/* The mapping with nothing but loops in its parts, which are told without problems. */
dfl_mapping *dfl_branches_bare(dfl_arena *arena, const dfl_mapping *m, dfl_branch_part **parts, uint32_t *n);
/* A mapping of all einsums of `m`, with nothing but loops in their braces, which are like `at`, below these lines. */
dfl_mapping *dfl_branches_bare_part(dfl_arena *arena, const dfl_mapping *m, const dfl_body *at, dfl_line *lines,
                                    uint32_t n_lines);

#endif
