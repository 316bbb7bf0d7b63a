/*
 * One einsum while it is read: its accesses and rank variables in order of appearance. access.c takes them
 * from text such as `T1[m, n1: p + r]` or from maps; workload.c then finds the extents.
 */
#ifndef DFL_IMPORT_ACCELFORGE_ACCESS_H
#define DFL_IMPORT_ACCELFORGE_ACCESS_H

#include "import/accelforge/specification.h"

typedef struct {
    const char *name;
    dfl_span span;
} dfl_af_word;

/* Text that is read from left to right; `span` covers it as it stands in the source. */
typedef struct {
    struct dfl_af_reader *r;
    const char *text, *at;
    dfl_span span;
} dfl_af_cursor;

typedef struct dfl_af_reader {
    dfl_af_file *f;
    DFL_VEC(dfl_af_access) list;
    DFL_VEC(dfl_af_var) vars;
    bool ok;
} dfl_af_reader;

/* Reports the first error of a reader; false. */
bool dfl_af_wrong(dfl_af_reader *r, dfl_code code, dfl_span span, const char *what);

/* The next character that is no blank. */
char dfl_af_next(dfl_af_cursor *c);
dfl_af_word dfl_af_take_name(dfl_af_cursor *c);

/* `Z[m, n] = A[m, k] * B[k, n]` */
void dfl_af_take_einsum(dfl_af_reader *r, const dfl_yaml *at);
/* A list of maps with `name`, `projection` and perhaps `output`. */
void dfl_af_read_accesses(dfl_af_reader *r, const dfl_yaml *list);

#endif
