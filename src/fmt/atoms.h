/*
 * A sequence of tokens and comments that is laid out as one unit: a statement up to its `;`, the head of a block up to its
 * `{`, or a whole statement with its braces if the statement fits a line. An atom is one token or comment.
 */
#ifndef DFL_FMT_ATOMS_H
#define DFL_FMT_ATOMS_H

#include "fmt/lines.h"
#include "fmt/marks.h"

enum { DFL_FMT_NO_BREAK = 255 };

typedef struct {
    const char *text;
    uint32_t len, width; /* length in bytes; width in columns up to the first line end */
    bool space;          /* a blank precedes the atom, unless the atom starts a line */
    bool newline;        /* the atom must start a line */
    uint8_t level;       /* preference of a line break before the atom, 0 = best; or DFL_FMT_NO_BREAK */
} dfl_fmt_atom;

typedef struct {
    dfl_arena *arena;
    DFL_VEC(dfl_fmt_atom) atom;
} dfl_fmt_atoms;

/* Replaces the atoms by tokens first..last and the comments between them. */
void dfl_fmt_atoms_take(dfl_fmt_atoms *atoms, const dfl_marks *marks, uint32_t first, uint32_t last);
/* Width of the atoms on one line, columns; UINT32_MAX if an atom must start a line. */
uint32_t dfl_fmt_atoms_flat(const dfl_fmt_atoms *atoms);
/* Adds the lines of the atoms. The first line is indented by `indent` blanks, each further line by `hanging` blanks. */
void dfl_fmt_atoms_lay(const dfl_fmt_atoms *atoms, uint32_t indent, uint32_t hanging, dfl_fmt_lines *lines);

#endif
