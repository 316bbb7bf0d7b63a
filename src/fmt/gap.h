/*
 * Gaps: the text between two tokens, white space and comments. The comments of a gap are read one by one, each with the number
 * of line ends before it.
 */
#ifndef DFL_FMT_GAP_H
#define DFL_FMT_GAP_H

#include "syntax/syntax.h"

/* A file with its tokens, the input of the formatter. */
typedef struct {
    const dfl_source *source;
    const dfl_ast_file *file;
    const dfl_token *tokens; /* the last one stands for the end of the file */
    uint32_t n_tokens;
} dfl_fmt_input;

dfl_fmt_input dfl_fmt_input_of(dfl_arena *arena, const dfl_syntax *syntax);

typedef struct {
    const char *at, *end; /* the rest of the gap */
    const char *text;     /* the comment read last, without trailing blanks; `len` bytes */
    size_t len;
    unsigned newlines;    /* line ends before that comment, back to the one before; at the end of the gap: before the end */
    bool line;            /* the comment is a `//` comment, which ends its line */
    bool lines;           /* the comment has several lines */
} dfl_gap;

/* The gap before token `i`. */
dfl_gap dfl_gap_before(const dfl_fmt_input *in, uint32_t i);
/* Reads the next comment. False at the end of the gap. */
bool dfl_gap_next(dfl_gap *gap);
/* Whether the rest of the gap has no character. */
bool dfl_gap_is_empty(const dfl_gap *gap);
/* Whether the rest of the gap has no line end. */
bool dfl_gap_is_one_line(const dfl_gap *gap);
bool dfl_gap_has_comment(const dfl_gap *gap);

#endif
