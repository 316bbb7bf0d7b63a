/* Files that `import` names: `std.a.b` is a/b.dfl of the standard library, a quoted path starts at the importing file. */
#ifndef DFL_API_IMPORTS_H
#define DFL_API_IMPORTS_H

#include "sema/sema.h"

/* The loader of analyses (sema/sema.h); its context is the session. */
bool dfl_imports_load(void *context, const dfl_source *from, const char *target, bool quoted, dfl_sema_file *out,
                      const char **why, const char **near);
/* The reader of tables of analyses; its context is the session. */
bool dfl_imports_read(void *context, const dfl_source *from, const char *target, const dfl_source **out, const char **why);

#endif
