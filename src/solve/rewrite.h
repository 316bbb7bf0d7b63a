/*
 * Writes the results of searches into the text of a file: tile sizes for `?`, lines for `...`, and further mappings after
 * the first. Only the holes change; a mapping whose holes cannot be replaced in place gets a new declaration.
 */
#ifndef DFL_SOLVE_REWRITE_H
#define DFL_SOLVE_REWRITE_H

#include "fmt/text_edit.h"
#include "ir/program.h"
#include "solve/filled.h"

typedef struct {
    const dfl_edited_file *file;
    const dfl_program *program;    /* program of the file; further mappings repeat its `require` checks */
    const dfl_filled *filled;      /* filled mappings in the order of the file */
    size_t n_filled;
    const dfl_text_edit *constants; /* edits of the values of constants, none of them inside a mapping */
    size_t n_constants;
} dfl_rewrite;

/* The new text of the whole file, `*len` bytes. */
const char *dfl_rewrite_text(const dfl_rewrite *rewrite, size_t *len);

#endif
