/*
 * The formatter. It has no options, so each file has one layout. It walks through the tokens and the marks of the tokens
 * (marks.h), and chooses white space alone: four blanks per level up to the fifteenth, one statement per line, lines of at
 * most 100 columns, broken at commas first. Four properties of the author's layout remain: groups of statements with at
 * most one blank line between them, the places of comments, short braces on one line, and whether `+ - * /` have blanks
 * around them.
 */
#ifndef DFL_FMT_FMT_H
#define DFL_FMT_FMT_H

#include "syntax/syntax.h"

enum {
    DFL_FMT_WIDTH = 100,     /* columns of a line */
    DFL_FMT_INDENT = 4,      /* blanks per level */
    DFL_FMT_DEEPEST = 60,    /* largest indentation of a statement, blanks */
};

/* Lays out a file that parsed without errors; the text lies in `arena`. A text that is not empty ends with a line end. Time
   and memory are linear in the length of the text. */
char *dfl_fmt(dfl_arena *arena, const dfl_syntax *syntax, size_t *len);

/*
 * The laws of formatting: a file and its layout have the same tokens, the same comments in the same order (except for
 * blanks at line ends), and the same tree. Returns the description of a law that the two texts break; NULL if all laws
 * hold.
 */
const char *dfl_fmt_broken_law(dfl_arena *arena, const dfl_intern *names, const dfl_syntax *before,
                               const dfl_syntax *after);

#endif
