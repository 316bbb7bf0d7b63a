/*
 * A gap is the text between two tokens: white space and comments. dfl_gap_next reads the comments of a gap one by one and
 * counts the line ends before each comment.
 */
#ifndef DFL_FMT_GAP_H
#define DFL_FMT_GAP_H

#include "syntax/syntax.h"

/* A file with its tokens, the input of the formatter. */
typedef struct {
    const dfl_source *source;
    const dfl_ast_file *file;
    const dfl_token *tokens; /* tokens of the file; the last token stands for the end of the file */
    uint32_t n_tokens;
} dfl_fmt_input;

dfl_fmt_input dfl_fmt_input_of(dfl_arena *arena, const dfl_syntax *syntax);

typedef struct {
    const char *at, *end; /* unread part of the gap */
    const char *text;     /* last comment read, without trailing blanks; `len` bytes */
    size_t len;
    unsigned newlines;    /* line ends between the previous comment and this one, or the end of the gap */
    bool line;            /* the last comment read is a `//` comment */
    bool lines;           /* the last comment read has several lines */
} dfl_gap;

/* The gap before token `i`. */
dfl_gap dfl_gap_before(const dfl_fmt_input *in, uint32_t i);
/* Reads the next comment of the gap. False at the end of the gap. */
bool dfl_gap_next(dfl_gap *gap);
/* Whether the unread part of the gap is empty. */
bool dfl_gap_is_empty(const dfl_gap *gap);
/* Whether the unread part of the gap has no line end. */
bool dfl_gap_is_one_line(const dfl_gap *gap);
bool dfl_gap_has_comment(const dfl_gap *gap);

#endif
