/*
 * Tokens and trees as text, for `dflc dump`, for tests and for comparing two trees. Each line of a tree is one node: its
 * kind, its own words, and `line:column-line:column`. Children are indented.
 */
#ifndef DFL_SYNTAX_DUMP_H
#define DFL_SYNTAX_DUMP_H

#include "support/strbuf.h"
#include "syntax/syntax.h"

/* Writes one token per line: place, kind, text. White space and comments are left out. */
void dfl_dump_tokens(dfl_strbuf *out, const dfl_source_map *sources, const dfl_syntax *syntax);
/* Writes a tree. If `sources` is NULL, places are left out, so that equal trees give equal texts. */
void dfl_dump_ast(dfl_strbuf *out, const dfl_source_map *sources, const dfl_intern *names, const dfl_ast_file *file);

const char *dfl_ast_kind_text(dfl_ast_kind kind);
const char *dfl_expr_kind_text(dfl_expr_kind kind);

#endif
