/* Paths through members of families: `s[k - 1].Z`. */
#ifndef DFL_SEMA_EXPR_MEMBERS_H
#define DFL_SEMA_EXPR_MEMBERS_H

#include "sema/names/scope.h"

/* The path with the values of its indices, which `scope` gives: the names of `s[k - 1].Z` are "s[2]" and "Z". A path without
   an index is returned as it is. NULL if an index is unknown, or after reporting. */
const dfl_ast_path *dfl_path_resolve(dfl_sema *sema, dfl_scope *scope, const dfl_ast_path *path);

#endif
