/*
 * The one way to lay out a file. The printer walks the tokens, with marks that the tree puts on a few of them, and
 * decides about white space alone: four spaces a level (up to the fifteenth), one statement a line, lines of up to
 * 100 columns, long comma lists broken at commas. Of the author's layout it keeps: groups of statements (at most one
 * blank line), comments where they stand, short braces that were on one line and fit, and whether `+ - * /` had blanks
 * around them.
 */
#ifndef DFL_FMT_FMT_H
#define DFL_FMT_FMT_H

#include "syntax/syntax.h"

enum { DFL_FMT_WIDTH = 100, DFL_FMT_INDENT = 4, DFL_FMT_DEEPEST = 60 };

/* The text of a file that parsed without errors, laid out; ends with a line end unless it is empty. In `arena`;
   time and memory are linear in the length of the text. */
char *dfl_fmt(dfl_arena *arena, const dfl_syntax *syntax, size_t *len);

/*
 * What must hold between a file and what dfl_fmt made of it: same tokens, same comments in the same order (but for
 * blanks at line ends), same tree. Returns NULL, or the law that is broken.
 */
const char *dfl_fmt_broken_law(dfl_arena *arena, const dfl_intern *names, const dfl_syntax *before,
                               const dfl_syntax *after);

#endif
