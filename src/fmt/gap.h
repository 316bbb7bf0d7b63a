/*
 * What stands between two tokens: white space and comments. A gap is read piece by piece, each comment with the number
 * of line ends before it.
 */
#ifndef DFL_FMT_GAP_H
#define DFL_FMT_GAP_H

#include "syntax/syntax.h"

/* A file as the formatter sees it. */
typedef struct {
    const dfl_source *source;
    const dfl_ast_file *file;
    const dfl_token *tokens; /* the last one is the end of the file */
    uint32_t n_tokens;
} dfl_fmt_input;

dfl_fmt_input dfl_fmt_input_of(dfl_arena *arena, const dfl_syntax *syntax);

typedef struct {
    const char *at, *end; /* what is left of the gap */
    const char *text;     /* the comment, without trailing blanks */
    size_t len;
    unsigned newlines;    /* line ends between the last piece and this one, or the end of the gap */
    bool line;            /* `//`: ends its line */
    bool lines;           /* goes over several lines */
} dfl_gap;

/* The gap before token `i`. */
dfl_gap dfl_gap_before(const dfl_fmt_input *in, uint32_t i);
/* The next comment; false at the end of the gap, with `newlines` counted up to there. */
bool dfl_gap_next(dfl_gap *gap);
/* No comment and no blank at all / no line end. */
bool dfl_gap_is_empty(const dfl_gap *gap);
bool dfl_gap_is_one_line(const dfl_gap *gap);
bool dfl_gap_has_comment(const dfl_gap *gap);

#endif
