/*
 * Lints: warnings that a user can switch by name, with `-A no-energy` (allow), `-W no-energy` (warn) and `-D no-energy` (deny).
 * lints.def has one row for each lint: its name, code, default level and summary.
 */
#ifndef DFL_DIAG_LINTS_H
#define DFL_DIAG_LINTS_H

#include <stddef.h>

#include "diag/codes.h"
#include "support/arena.h"

typedef enum {
#define DFL_LINT(lint, name, code, level, summary) DFL_LINT_##lint,
#include "diag/lints.def"
#undef DFL_LINT
    DFL_N_LINTS
} dfl_lint;

/* ALLOW reports nothing, WARN a warning, DENY an error. */
typedef enum { DFL_LEVEL_ALLOW, DFL_LEVEL_WARN, DFL_LEVEL_DENY } dfl_level;

typedef struct {
    const char *name;
    dfl_code code;
    dfl_level level; /* the default */
    const char *summary;
} dfl_lint_info;

/* The levels that a user has set. A struct that is all zero means the defaults. */
typedef struct {
    unsigned char set[DFL_N_LINTS]; /* by dfl_lint: 0 for the default, else 1 + dfl_level */
} dfl_lint_levels;

/* The row of lints.def. The rows are in order of name. */
const dfl_lint_info *dfl_lint_at(dfl_lint lint);
/* The row of the lint with the name; NULL for an unknown name. */
const dfl_lint_info *dfl_lint_find(const char *name);
/* The level of a lint; `levels` may be NULL, which means the defaults. */
dfl_level dfl_lint_level(const dfl_lint_levels *levels, dfl_lint lint);
/* Sets the level of one lint, or of all for the name "all". False when `name` is neither. */
bool dfl_lint_set(dfl_lint_levels *levels, const char *name, dfl_level level);
/* The lint whose name is nearest to `name`, for "did you mean"; NULL when none is near. */
const char *dfl_lint_suggest(dfl_arena *arena, const char *name);

#endif
