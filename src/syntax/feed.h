/*
 * The feed of the parser: the present token, the tokens before and after it, the open brackets, and the start of the present
 * statement. Repairs and messages use it.
 */
#ifndef DFL_SYNTAX_FEED_H
#define DFL_SYNTAX_FEED_H

#include "syntax/lex.h"

typedef struct dfl_feed {
    dfl_lexer lexer;
    dfl_token before, now, next;
    dfl_token statement;       /* first token of the present statement; kind END between statements */
    dfl_token last;            /* first token of the statement before, END behind a brace */
    dfl_span last_end;         /* the `;` of that statement */
    DFL_VEC(dfl_token) open;   /* open brackets of all kinds, innermost last */
    uint32_t n_braces;         /* number of braces in `open` */
    bool in_set;               /* the last brace opened a set, which ends no statement */
    /* Braces whose indentations disagree, in the present declaration of the file; kind 0 = none. */
    dfl_token unclosed;        /* first `{` whose `}` stands further to the left: its own `}` is probably missing */
    dfl_token stolen;          /* the `}` that closes it */
    dfl_span last_inside;      /* the token before `stolen` */
    dfl_token early;           /* `}` that ends a declaration, but stands further to the right */
} dfl_feed;

void dfl_feed_open(dfl_feed *feed, dfl_arena *arena, dfl_intern *names, dfl_sink *sink, const dfl_source *source);
/* Advances by one token. */
static inline void dfl_feed_step(dfl_feed *feed)
{
    feed->before = feed->now;
    feed->now = feed->next;
    if (feed->now.kind != DFL_TOK_END)
        feed->next = dfl_lexer_next(&feed->lexer);
}
/* Updates the open brackets for `now`, a bracket or a `;`, after the parser has taken it. */
void dfl_feed_bracket(dfl_feed *feed);
/* Advances from the present `{` to the `}` that closes it, or to the end of the file. */
void dfl_feed_skip_braces(dfl_feed *feed);
/* Advances from the present `(` to its `)`, but not beyond a brace. */
void dfl_feed_skip_parentheses(dfl_feed *feed);
/* The slow path of dfl_feed_starts_line, for more than one byte of blanks and comments before the token. */
bool dfl_feed_starts_late_line(const dfl_feed *feed);
/* Whether `now` is the first token of its line. */
static inline bool dfl_feed_starts_line(const dfl_feed *feed)
{
    uint32_t from = feed->before.span.end, blank = feed->now.span.start - from;

    if (blank <= 1) /* usual case: nothing or one space before the token */
        return blank == 1 && feed->lexer.source->text[from - feed->lexer.source->base] == '\n';
    return dfl_feed_starts_late_line(feed);
}
/* Number of blanks before the first token of the line of a token. */
uint32_t dfl_feed_indent(const dfl_feed *feed, const dfl_token *token);
/* Number of innermost open braces whose lines are indented at least as far as `now`, which starts a line. */
uint32_t dfl_feed_count_deeper(const dfl_feed *feed);
/* Whether `now` starts in the first column. */
bool dfl_feed_starts_column(const dfl_feed *feed);

/* The text of a token for a message: shortened, in backquotes; "the end of the file" for END. */
const char *dfl_feed_shown(dfl_arena *arena, const dfl_source *source, const dfl_token *token);

#endif
