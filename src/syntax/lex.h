/*
 * The scanner: a file's text, token by token. The text is validated as UTF-8 first; outside of strings and comments
 * everything is ASCII. A mistake is reported here and becomes a YYerror token, which the parser takes without a second
 * report. Lines of doc comments are kept with the place of the token that follows them.
 */
#ifndef DFL_SYNTAX_LEX_H
#define DFL_SYNTAX_LEX_H

#include <string.h>

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
    uint16_t kind;             /* token of a keyword, or IDENT */
} dfl_word;

enum { DFL_WORD_BITS = 9, DFL_MOST_LEX_REPORTS = 256 };
/* Tokens that flex finds in one go; what is wrong with them is reported when they are asked for. */
enum { DFL_LEX_AHEAD = 32 };

typedef struct {
    dfl_arena *arena;
    dfl_intern *names;
    dfl_sink *sink;            /* NULL: scan silently */
    const dfl_source *source;
    void *scanner;             /* of flex, NULL behind the end */
    const char *text;          /* what it scans, a copy of the source */
    uint32_t taken, given;     /* of `ahead` */
    dfl_token ahead[DFL_LEX_AHEAD];
    dfl_code wrong[DFL_LEX_AHEAD]; /* what is wrong with those of kind DFL_YYerror */
    const uint16_t *keyword;   /* token by symbol, 0 for a plain name */
    uint32_t n_keyword;
    dfl_word *words;           /* 1 << DFL_WORD_BITS of them, by a hash of the letters */
    dfl_word long_word;        /* the present one, if it has more letters */
    DFL_VEC(dfl_doc_line) docs;
    size_t first_open_doc;     /* docs from here on wait for their token */
    size_t reports;
} dfl_lexer;

/* Everything lives in `arena`; dfl_lexer_close frees what flex has allocated. */
void dfl_lexer_open(dfl_lexer *lexer, dfl_arena *arena, dfl_intern *names, dfl_sink *sink, const dfl_source *source);
void dfl_lexer_close(dfl_lexer *lexer);
/* Finds the next tokens, `ahead`. */
void dfl_lexer_scan(dfl_lexer *lexer);
void dfl_lexer_report(dfl_lexer *lexer, dfl_span at, dfl_code code);

/* The next token; END again and again at the end. */
static inline dfl_token dfl_lexer_next(dfl_lexer *lexer)
{
    dfl_token token;

    if (lexer->taken == lexer->given)
        dfl_lexer_scan(lexer);
    token = lexer->ahead[lexer->taken];
    if (token.kind == DFL_TOK_DFL_YYerror)
        dfl_lexer_report(lexer, token.span, lexer->wrong[lexer->taken]);
    lexer->taken++;
    return token;
}

/* ---- for the rules of dfl.l, about the present token ---- */

void dfl_lex_doc(dfl_lexer *lexer, const char *text, size_t len);
/* Docs before the token that starts at `position` have found it. */
void dfl_lex_docs_end(dfl_lexer *lexer, uint32_t position);

static inline void dfl_lex_give(dfl_lexer *lexer, int kind, dfl_sym sym, const char *text, size_t len)
{
    uint32_t start = lexer->source->base + (uint32_t)(text - lexer->text);

    lexer->ahead[lexer->given++] = (dfl_token){ { start, start + (uint32_t)len }, sym, (uint16_t)kind };
    if (lexer->first_open_doc < lexer->docs.n)
        dfl_lex_docs_end(lexer, start);
}

/* Gives the tokens of one character from `at` on that begin no longer one, up to another or as many as there is room for;
   `first` belongs at `at`. The rest of the text. */
static inline char *dfl_lex_skip(dfl_lexer *lexer, char *at, char first)
{
    static const bool alone[256] = { [';'] = true, [','] = true, [':'] = true, ['('] = true, [')'] = true,
                                     ['['] = true, [']'] = true, ['{'] = true, ['}'] = true };

    *at = first;
    for (;; at++) {
        if (*at == ' ' || *at == '\n')
            continue;
        if (!alone[(unsigned char)*at] || lexer->given == DFL_LEX_AHEAD)
            return at;
        dfl_lex_give(lexer, *at, 0, at, 1);
    }
}

/* Up to eight letters as a number; words hold no NUL, so that different words give different numbers. */
static inline uint64_t dfl_letters_of(const char *text, size_t len)
{
    uint64_t letters = 0;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(&letters, text, sizeof letters);
    return letters & (UINT64_MAX >> (64 - 8 * len));
#else
    memcpy(&letters, text, len);
    return letters;
#endif
}

/* A word that is long or new. */
const dfl_word *dfl_lex_new_word(dfl_lexer *lexer, const char *text, size_t len);

/* Eight bytes behind `text` must be readable. */
static inline const dfl_word *dfl_lex_word(dfl_lexer *lexer, const char *text, size_t len)
{
    if (len <= sizeof(uint64_t)) {
        uint64_t letters = dfl_letters_of(text, len);
        const dfl_word *word = &lexer->words[(letters * 0x9e3779b97f4a7c15u) >> (64 - DFL_WORD_BITS)];

        if (word->letters == letters)
            return word;
    }
    return dfl_lex_new_word(lexer, text, len);
}

bool dfl_lex_is_unit(const char *text, size_t len);
/* Length of a literal without what follows its last unit: 5 for `4GB/n`, the whole for `4GB/s`. */
size_t dfl_lex_unit_end(const char *text, size_t len);
/* QUANTITY, or NUMBER where what looked like a unit before a slash is an exponent: `1e9/m`. */
int dfl_lex_amount(const char *text, size_t len);

#endif
