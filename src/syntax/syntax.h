/*
 * Parsing: from text to tree. The tree does not keep white space and comments. The formatter and `dump` scan the tokens of
 * a source again and find white space and comments in the gaps between tokens.
 */
#ifndef DFL_SYNTAX_SYNTAX_H
#define DFL_SYNTAX_SYNTAX_H

#include "diag/diag.h"
#include "syntax/ast.h"
#include "support/limits.h"

typedef struct {
    dfl_span span;
    dfl_sym sym;               /* symbol of a name or keyword that the parser reads; else 0 */
    uint16_t kind;             /* DFL_TOK_* of the grammar, or a character */
} dfl_token;

typedef struct {
    const dfl_source *source;
    dfl_ast_file *file;        /* the tree, without the declarations that could not be read; never NULL */
    const dfl_span *stray_docs;/* doc comments that no declaration follows */
    uint32_t n_stray_docs;
    bool ok;                   /* no error was reported */
    bool whole;                /* the tree is complete: each error was a missing `;` that the parser inserted */
} dfl_syntax;

/* Parses a source. Reports E01xx and a stopped budget. The tree lives in `arena`, its names in `names`. */
dfl_syntax dfl_syntax_parse(dfl_arena *arena, dfl_intern *names, dfl_sink *sink, const dfl_source *source);

/*
 * All `*n` tokens of a source; the last one is the end of the file. Reports nothing: a mistake becomes a token of kind
 * DFL_TOK_DFL_YYerror. The text between two tokens, and before the first one, is white space and comments.
 */
dfl_token *dfl_syntax_tokens(dfl_arena *arena, const dfl_source *source, uint32_t *n);

/* Whether a token of this kind is a word that may also be a name. */
bool dfl_token_is_name(int kind);

#endif
