/*
 * A sequence of tokens and comments that is laid out as one unit: a statement up to its `;`, the head of a block up to its
 * `{`, or a whole statement with its braces if it fits a line. An atom is one token or comment.
 */
#ifndef DFL_FMT_ATOMS_H
#define DFL_FMT_ATOMS_H

#include "fmt/lines.h"
#include "fmt/marks.h"

enum { DFL_FMT_NO_BREAK = 255 };

typedef struct {
    const char *text;
    uint32_t len, width; /* bytes; columns up to the first line end */
    bool space;          /* a blank stands before it, unless it starts a line */
    bool newline;        /* it must start a line */
    uint8_t level;       /* preference of a line break before it, 0 the best; or DFL_FMT_NO_BREAK */
} dfl_fmt_atom;

typedef struct {
    dfl_arena *arena;
    DFL_VEC(dfl_fmt_atom) atom;
} dfl_fmt_atoms;

/* Replaces the atoms by tokens first..last and the comments between them. */
void dfl_fmt_atoms_take(dfl_fmt_atoms *atoms, const dfl_marks *marks, uint32_t first, uint32_t last);
/* Columns on one line, or UINT32_MAX when an atom must start a line. */
uint32_t dfl_fmt_atoms_flat(const dfl_fmt_atoms *atoms);
/* Adds the lines of the atoms: the first is indented by `indent` blanks, further ones by `hanging`. */
void dfl_fmt_atoms_lay(const dfl_fmt_atoms *atoms, uint32_t indent, uint32_t hanging, dfl_fmt_lines *lines);

#endif
