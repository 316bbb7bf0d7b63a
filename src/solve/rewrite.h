/*
 * The text of a file with what searches found: amounts for `?`, lines for `...`, and further mappings behind the first. Only
 * what was open changes; a mapping whose holes cannot be filled in place is written anew.
 */
#ifndef DFL_SOLVE_REWRITE_H
#define DFL_SOLVE_REWRITE_H

#include "fmt/text_edit.h"
#include "ir/program.h"
#include "solve/filled.h"

typedef struct {
    const dfl_edited_file *file;
    const dfl_program *program;    /* of the file: its checks are written into further mappings */
    const dfl_filled *filled;      /* in the order of the file */
    size_t n_filled;
} dfl_rewrite;

/* The new text of the whole file, `*len` bytes. */
const char *dfl_rewrite_text(const dfl_rewrite *rewrite, size_t *len);

#endif
