/*
 * Reading the accesses of one einsum, from text such as `T1[m, n1: p + r]` or from maps. The reader collects accesses and rank
 * variables in order of appearance; the extents of the variables are found later (workload.c).
 */
#ifndef DFL_IMPORT_ACCELFORGE_ACCESS_H
#define DFL_IMPORT_ACCELFORGE_ACCESS_H

#include "import/accelforge/specification.h"

typedef struct {
    const char *name;
    dfl_span span;
} dfl_af_word;

/* A position in text that is read from left to right. `span` is the place of the text in the source. */
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

/* Reports the first error of a reader, and no further one. Returns false. */
bool dfl_af_wrong(dfl_af_reader *r, dfl_code code, dfl_span span, const char *what);

/* Skips blanks and returns the next character without consuming it. */
char dfl_af_next(dfl_af_cursor *c);
/* Consumes a name; reports if no name follows. */
dfl_af_word dfl_af_take_name(dfl_af_cursor *c);

/* Reads an einsum given as text: `Z[m, n] = A[m, k] * B[k, n]`. */
void dfl_af_take_einsum(dfl_af_reader *r, const dfl_yaml *at);
/* Reads accesses given as a list of maps with `name`, `projection` and optionally `output`. */
void dfl_af_read_accesses(dfl_af_reader *r, const dfl_yaml *list);

#endif
