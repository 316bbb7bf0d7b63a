/*
 * Tokens and trees as text, for `dflc dump`, for tests and for comparing two trees. A line of a tree is one node:
 * its kind, its own words, and `line:column-line:column`; what stands below it is indented.
 */
#ifndef DFL_SYNTAX_DUMP_H
#define DFL_SYNTAX_DUMP_H

#include "support/strbuf.h"
#include "syntax/syntax.h"

/* One token a line: place, kind, text. White space and comments are not listed. */
void dfl_dump_tokens(dfl_strbuf *out, const dfl_source_map *sources, const dfl_syntax *syntax);
/* Without `sources` no places are printed: two trees that say the same print the same. */
void dfl_dump_ast(dfl_strbuf *out, const dfl_source_map *sources, const dfl_intern *names, const dfl_ast_file *file);

const char *dfl_ast_kind_text(dfl_ast_kind kind);
const char *dfl_expr_kind_text(dfl_expr_kind kind);

#endif
