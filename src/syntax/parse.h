/* State of the parser while it reads one file. Not for other rooms, which include syntax.h. */
#ifndef DFL_SYNTAX_PARSE_H
#define DFL_SYNTAX_PARSE_H

#include "syntax/syntax.h"

typedef struct dfl_parse {
    dfl_arena *arena;
    dfl_intern *names;
    dfl_sink *sink;
    const dfl_source *source;
    dfl_ast_file *file;
    struct dfl_feed *feed;     /* source of the tokens, see feed.h */
    uint32_t n_nodes, n_exprs; /* ids given so far */
    uint32_t n_reports;        /* reports of this parser, dropped ones included */
    uint32_t n_repairs;        /* reports of a missing `;` that the parser inserted; the tree stays complete */
    bool has_edition;          /* the file names its edition, in any place */
    bool too_deep;             /* the depth limit was reported; the rest of the file is not read */
    /* state of dfl_parse_next between two calls: which repair or token comes next */
    enum { DFL_NEXT_TOKEN, DFL_NEXT_REPAIRED, DFL_NEXT_CLOSING, DFL_NEXT_COUNTED } next;
    uint32_t n_missing;        /* number of `}` that DFL_NEXT_CLOSING still inserts */
    uint32_t n_tokens;
    uint32_t reports_before;   /* value of n_reports before the present token */
} dfl_parse;

struct dfl_parser_state;
union DFL_YYSTYPE;

/* The next token for the parser, or DFL_NO_TOKEN when the parser shall stop. Inserts a missing `;` or `}`. */
int dfl_parse_next(dfl_parse *p, const struct dfl_parser_state *state, union DFL_YYSTYPE *value, dfl_span *at);
/* Reports once per file that the nesting is deeper than DFL_MAX_DEPTH. */
void dfl_parse_too_deep(dfl_parse *p, dfl_span at);
/* The text of the doc comment right before the token that starts at `position`, or NULL. */
const char *dfl_parse_doc(dfl_parse *p, uint32_t position);

#endif
