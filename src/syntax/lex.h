/*
 * The scanner: the tokens of a file, one by one. The text is first validated as UTF-8; outside of strings and comments only
 * ASCII is legal. The scanner reports a mistake and makes it a YYerror token, which the parser accepts without a second
 * report. Lines of doc comments are kept with the position of the token that follows them.
 */
#ifndef DFL_SYNTAX_LEX_H
#define DFL_SYNTAX_LEX_H

#include <string.h>

#include "support/vec.h"
#include "syntax/parser.h"
#include "syntax/syntax.h"

typedef struct {
    dfl_span span;             /* the comment */
    uint32_t before;           /* position of the token that follows, 0 until it is scanned */
    bool used;                 /* a declaration has used the comment */
} dfl_doc_line;

/* A word of up to eight letters in a direct-mapped cache: most words are found without hashing their text. */
typedef struct {
    uint64_t letters;
    dfl_sym sym;
    uint16_t kind;             /* token of a keyword, or IDENT */
} dfl_word;

enum {
    DFL_WORD_BITS = 9,          /* the cache has 512 words: more than a usual file, within the first-level cache */
    DFL_MOST_LEX_REPORTS = 256, /* most reports of one scanner; further mistakes are silent */
    DFL_LEX_AHEAD = 32,         /* tokens that flex scans in one call; their mistakes are reported when they are taken */
};

typedef struct {
    dfl_arena *arena;
    dfl_intern *names;
    dfl_sink *sink;            /* NULL = scan silently */
    const dfl_source *source;
    void *scanner;             /* scanner of flex, NULL after the end of the file */
    const char *text;          /* copy of the source that flex scans */
    uint32_t taken, given;     /* number of tokens taken from `ahead`; number of tokens scanned into `ahead` */
    dfl_token ahead[DFL_LEX_AHEAD];
    dfl_code wrong[DFL_LEX_AHEAD]; /* code of the mistake, for tokens of kind DFL_YYerror */
    const uint16_t *keyword;   /* token kind by symbol, 0 for a plain name */
    uint32_t n_keyword;
    dfl_word *words;           /* 1 << DFL_WORD_BITS entries, by a hash of the letters */
    dfl_word long_word;        /* entry of the present word if it does not fit the cache */
    DFL_VEC(dfl_doc_line) docs;
    size_t first_open_doc;     /* index of the first doc line whose token is not scanned yet */
    size_t reports;
} dfl_lexer;

/* All data lives in `arena`, except the state of flex, which dfl_lexer_close frees. */
void dfl_lexer_open(dfl_lexer *lexer, dfl_arena *arena, dfl_intern *names, dfl_sink *sink, const dfl_source *source);
void dfl_lexer_close(dfl_lexer *lexer);
/* Scans the next tokens into `ahead`. */
void dfl_lexer_scan(dfl_lexer *lexer);
void dfl_lexer_report(dfl_lexer *lexer, dfl_span at, dfl_code code);

/* Takes the next token; at the end of the file always END. */
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
/* Assigns the pending doc lines to the token that starts at `position`. */
void dfl_lex_docs_end(dfl_lexer *lexer, uint32_t position);

static inline void dfl_lex_give(dfl_lexer *lexer, int kind, dfl_sym sym, const char *text, size_t len)
{
    uint32_t start = lexer->source->base + (uint32_t)(text - lexer->text);

    lexer->ahead[lexer->given++] = (dfl_token){ { start, start + (uint32_t)len }, sym, (uint16_t)kind };
    if (lexer->first_open_doc < lexer->docs.n)
        dfl_lex_docs_end(lexer, start);
}

/* Scans blanks and tokens of one character from `at` on that start no longer token, until another character or a full `ahead`.
   flex has replaced the character at `at`, which is `first`. Returns the position of the rest. */
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

/* Up to eight letters as a number. Different words give different numbers, since words contain no NUL. */
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

/* Looks up a word that is long or not in the cache. */
const dfl_word *dfl_lex_new_word(dfl_lexer *lexer, const char *text, size_t len);

/* Looks up a word; eight bytes from `text` on must be readable. */
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

/* Whether the text is a unit, with or without a prefix. Which prefixes a unit takes is checked with its value. */
bool dfl_lex_is_unit(const char *text, size_t len);
/* Length of a literal up to its last unit: 3 for `4GB/n`, all of `4GB/s`. */
size_t dfl_lex_unit_end(const char *text, size_t len);
/* Token of a literal before a slash: QUANTITY, or NUMBER where the apparent unit is an exponent, as in `1e9/m`. */
int dfl_lex_amount(const char *text, size_t len);

#endif
