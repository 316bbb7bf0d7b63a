/* Files that a session reads. Each is read once: the same file is one source, by whatever name it is opened or imported. */
#ifndef DFL_API_LOAD_H
#define DFL_API_LOAD_H

#include "dfl/dfl.h"
#include "syntax/syntax.h"

typedef struct {
    const char *path;          /* path for opening it and for files beside it; "" for text without a file */
    const char *key;           /* equal for all names of the same file; NULL for text without a file */
    const dfl_source *source;  /* its text, and its name in diagnostics */
    const dfl_syntax *syntax;  /* NULL until dfl_loaded_syntax parses it */
} dfl_loaded;

/* Reads `path` and adds it under the name `shown`. NULL after reporting E0605 or E0615 at `at`. If there is no such file and
   `missing` is not NULL, *missing is set instead of a report. */
dfl_loaded *dfl_load_path(dfl_session *s, const char *path, const char *shown, dfl_span at, bool *missing);
/* Adds a text that the caller has read; imports in it are relative to `path`. */
dfl_loaded *dfl_load_text(dfl_session *s, const char *shown, const char *path, const char *text, size_t len);
/* The syntax tree of a file, parsed at the first call. */
const dfl_syntax *dfl_loaded_syntax(dfl_session *s, dfl_loaded *file);

#endif
