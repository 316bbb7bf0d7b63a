/*
 * From text to tree. What stands between the tokens, white space and comments, is not kept: the formatter and `dump`
 * read the tokens of a source again and find the rest in the gaps, so that nothing is lost.
 */
#ifndef DFL_SYNTAX_SYNTAX_H
#define DFL_SYNTAX_SYNTAX_H

#include "diag/diag.h"
#include "syntax/ast.h"

typedef struct {
    dfl_span span;
    dfl_sym sym;               /* of a name or a keyword, while it is parsed; else 0 */
    uint16_t kind;             /* DFL_TOK_* of the grammar */
} dfl_token;

typedef struct {
    const dfl_source *source;
    dfl_ast_file *file;        /* what could be read; never NULL */
    const dfl_span *stray_docs;/* doc comments that document nothing */
    uint32_t n_stray_docs;
    bool ok;                   /* nothing was wrong: no error was reported */
    bool whole;                /* the tree lacks nothing: what was wrong, if anything, was a missing `;` that was put in */
} dfl_syntax;

/* Reports E01xx and stopped budgets. The tree lives in `arena`, its names in `names`. */
dfl_syntax dfl_syntax_parse(dfl_arena *arena, dfl_intern *names, dfl_sink *sink, const dfl_source *source);

/*
 * All tokens of a source, the last one the end of the file. Reports nothing: what is wrong becomes a token of kind
 * DFL_TOK_DFL_YYerror. Text before the first token or between two is white space and comments.
 */
dfl_token *dfl_syntax_tokens(dfl_arena *arena, const dfl_source *source, uint32_t *n);

/* Whether a token of this kind is a word that may also be a name. */
bool dfl_token_is_name(int kind);

/* Deepest nesting of brackets and of expressions. */
enum { DFL_MAX_DEPTH = 200 };
/* Longest name, characters. */
enum { DFL_MOST_NAME = 255 };
/* Largest file, bytes. */
enum { DFL_MAX_FILE = 16 << 20 };

#endif
