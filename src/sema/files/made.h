/* What a declaration becomes with values for its parameters, a workload or a system, made once for equal values. */
#ifndef DFL_SEMA_FILES_MADE_H
#define DFL_SEMA_FILES_MADE_H

#include "sema/files/room.h"

/* Makes it from the parameters in `args`, of which `missing` has no value; `*broken` after reporting. Never NULL. */
typedef void *dfl_make(dfl_sema *s, dfl_decl *decl, dfl_scope *args, const dfl_ast_node *missing,
                       const dfl_lint_levels *lints, bool *broken);

/* What `make` makes of a declaration at its defaults, with lints; broken or not, unless the defaults are wrong. */
void *dfl_made_default(dfl_sema *s, dfl_decl *decl, dfl_make *make);
/* The same with the arguments of `ref`, evaluated in `from`. NULL after reporting, and for a `decl` that is NULL. */
void *dfl_made_of(dfl_sema *s, dfl_decl *decl, dfl_scope *from, const dfl_ast_ref *ref, dfl_make *make);

#endif
