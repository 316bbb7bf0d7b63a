/*
 * The names under which warnings are switched: `-A no-energy`, `-W no-energy`, `-D no-energy`, or in the source.
 * Each lint has one code and a default level. A set of levels starts as { 0 }, which means the defaults.
 */
#ifndef DFL_DIAG_LINTS_H
#define DFL_DIAG_LINTS_H

#include "diag/diag.h"

typedef struct {
    const char *name;
    dfl_code code;
    dfl_level level; /* unless set otherwise */
    const char *summary;
} dfl_lint_info;

enum { DFL_LINT_ROOM = 64 };

typedef struct {
    unsigned char set[DFL_LINT_ROOM]; /* by index of the lint: 0 for the default, else 1 + dfl_level */
} dfl_lint_levels;

size_t dfl_lint_count(void);
/* In order of name. */
const dfl_lint_info *dfl_lint_at(size_t i);
/* NULL for a name that is no lint. */
const dfl_lint_info *dfl_lint_find(const char *name);
/* `levels` may be NULL. A name that is no lint is a mistake of the caller and is allowed (silent). */
dfl_level dfl_lint_level(const dfl_lint_levels *levels, const char *name);
/* False when `name` is neither a lint nor "all". */
bool dfl_lint_set(dfl_lint_levels *levels, const char *name, dfl_level level);
/* The lint whose name is nearest to `name`, for "did you mean"; NULL when none is near. */
const char *dfl_lint_suggest(dfl_arena *arena, const char *name);

#endif
