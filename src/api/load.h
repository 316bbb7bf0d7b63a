/* Files that a session reads. A session reads each file once: two names of one file lead to the same source. */
#ifndef DFL_API_LOAD_H
#define DFL_API_LOAD_H

#include "dfl/dfl.h"
#include "syntax/syntax.h"

typedef struct {
    const char *path;          /* path of the file, to which its imports are relative; "" for text without a file */
    const char *key;           /* device and inode, equal for all names of one file; NULL for text without a file */
    const dfl_source *source;  /* text of the file, and its name in diagnostics */
    const dfl_syntax *syntax;  /* syntax tree; NULL until dfl_loaded_syntax parses the file */
} dfl_loaded;

/* Reads `path` and adds it under the name `shown`. NULL after reporting E0605 or E0615 at `at`. If the file does not exist
   and `missing` is not NULL, sets *missing instead of reporting. */
dfl_loaded *dfl_load_path(dfl_session *s, const char *path, const char *shown, dfl_span at, bool *missing);
/* Adds a text that the caller has read, under the name `shown`; imports in the text are relative to `path`. */
dfl_loaded *dfl_load_text(dfl_session *s, const char *shown, const char *path, const char *text, size_t len);
/* The syntax tree of a file, parsed at the first call. */
const dfl_syntax *dfl_loaded_syntax(dfl_session *s, dfl_loaded *file);

#endif
