/*
 * The scanner: a file's text, token by token. The text is validated as UTF-8 first; outside of strings and comments
 * everything is ASCII. A mistake is reported here and becomes a YYerror token, which the parser takes without a second
 * report. Lines of doc comments are kept with the place of the token that follows them.
 */
#ifndef DFL_SYNTAX_LEX_H
#define DFL_SYNTAX_LEX_H

#include "support/vec.h"
#include "syntax/parser.h"
#include "syntax/syntax.h"

typedef struct {
    dfl_span span;             /* the comment */
    uint32_t before;           /* where the next token starts, 0 as long as there is none */
    bool used;                 /* some declaration has taken it */
} dfl_doc_line;

/* Words of up to eight letters, which most are, found without hashing their text. */
typedef struct {
    uint64_t letters;
    dfl_sym sym;
} dfl_word;

enum { DFL_N_WORDS = 512, DFL_MOST_LEX_REPORTS = 256 };

typedef struct {
    dfl_arena *arena;
    dfl_intern *names;
    dfl_sink *sink;            /* NULL: scan silently */
    const dfl_source *source;
    void *scanner;             /* of flex */
    uint32_t start, end;       /* global positions of the present token */
    dfl_sym sym;               /* of the present word */
    const uint16_t *keyword;   /* token by symbol, 0 for a plain name */
    uint32_t n_keyword;
    dfl_word *words;           /* DFL_N_WORDS of them, by a hash of the letters */
    DFL_VEC(dfl_doc_line) docs;
    size_t first_open_doc;     /* docs from here on wait for their token */
    size_t reports;
} dfl_lexer;

/* Everything lives in `arena`; dfl_lexer_close frees what flex has allocated. */
void dfl_lexer_open(dfl_lexer *lexer, dfl_arena *arena, dfl_intern *names, dfl_sink *sink, const dfl_source *source);
/* The next token; END again and again at the end. */
dfl_token dfl_lexer_next(dfl_lexer *lexer);
void dfl_lexer_close(dfl_lexer *lexer);

/* ---- for the rules of dfl.l, about the present token ---- */

void dfl_lex_error(dfl_lexer *lexer, dfl_code code);
void dfl_lex_doc(dfl_lexer *lexer);
/* Token of a word. Eight bytes behind `text` must be readable. */
int dfl_lex_word(dfl_lexer *lexer, const char *text, size_t len);
bool dfl_lex_is_unit(const char *text, size_t len);
/* Length of a literal without what follows its last unit: 5 for `4GB/n`, the whole for `4GB/s`. */
size_t dfl_lex_unit_end(const char *text, size_t len);
/* QUANTITY, or NUMBER where what looked like a unit before a slash is an exponent: `1e9/m`. */
int dfl_lex_amount(const char *text, size_t len);

#endif
