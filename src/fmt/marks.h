/*
 * Marks of tokens. A mark distinguishes uses of one token kind that need different blanks. Most marks follow from brackets
 * and adjacent tokens; the syntax tree separates the sign `-` from the operator, and the `(` of a call from a parenthesis
 * after a word such as `step`.
 */
#ifndef DFL_FMT_MARKS_H
#define DFL_FMT_MARKS_H

#include "fmt/gap.h"

typedef enum {
    DFL_MARK_NONE,
    DFL_MARK_UNARY,   /* `-` that is a sign */
    DFL_MARK_CALL,    /* `(` of arguments or parameters */
    DFL_MARK_SET,     /* `{` or `}` of a set of values */
    DFL_MARK_LABEL,   /* `:` of a named dimension */
    DFL_MARK_SPLIT,   /* `:` or `/` of a loop */
    DFL_MARK_NAMED,   /* `=` of `max=` */
    DFL_MARK_OPERATOR /* binary `+ - * /` */
} dfl_mark;

typedef struct {
    const dfl_fmt_input *in;
    uint8_t *mark;    /* for each token: a dfl_mark */
    uint32_t *match;  /* for each `{`: index of its `}`; for other tokens 0 */
} dfl_marks;

dfl_marks dfl_marks_make(dfl_arena *arena, const dfl_fmt_input *in);

#endif
