/*
 * What a partial mapping asks of the templates of an einsum (template.h). Some lines are written, in an order, and in some places
 * among them (`...`) any others may stand. A written keep is a keep of the template, and a written loop a part of a gap.
 *
 * Templates of such an einsum are made from its lines from outer to inner, with any further keeps where there is a place for
 * lines. Each has slots, in the order of the lines that it stands for: the written loops, the places, cut into one for every
 * gap, and where its keeps are written. A way to cut a rank along the gaps and the axes is of the template if it can be
 * distributed over the slots, so that every written loop has the tiles, parts or choices that it says.
 *
 * A template counts a transfer of a keep at every iteration of the loops above it. Where the innermost of these do not change
 * the tile, the keep stays, and that is too much. What is left out, or not, follows from that:
 *   - Loops in a place that do not change the keep below can stand below it if there is a place for lines, too; those in a
 *     place below a keep that change it can stand above it, with less room, if there is one. So in a place
 *     a keep has only loops above it that change it, and none directly below it that do.
 *   - Any other written keep may be filled further out than it is written: it stands there in the template, and until the line
 *     where it is written no loop changes it (the ranks of its operand are closed).
 *   - A further keep from which every element goes inwards as often as it comes in is of no use. Nor need two further
 *     keeps without a loop between them stand in both orders. Both follow template.h; written keeps are exempt, and so are
 *     keeps that are filled beside the work for something that the work would wait for.
 * Loops above the braces of an einsum come first: what is kept in the braces is filled in each of their iterations.
 * Where spatial lines stand changes no count without windows: what matters is that the keeps inside of an array stand below.
 */
#ifndef DFL_MAPPER_SKELETON_FIXED_LINES_H
#define DFL_MAPPER_SKELETON_FIXED_LINES_H

#include "mapper/problem/factors.h"
#include "mapper/skeleton/template.h"

enum { DFL_GIVEN_LINES = 48, DFL_GIVEN_SLOTS = DFL_GIVEN_LINES + 3 * DFL_TEMPLATE_KEEPS + 1 };

typedef enum { DFL_GIVEN_KEEP, DFL_GIVEN_TEMPORAL, DFL_GIVEN_SPATIAL, DFL_GIVEN_ANY } dfl_fixed_kind;

/* A written line, or a place for any, as the problem sees it. */
typedef struct {
    dfl_fixed_kind kind;
    const dfl_line *line;     /* NULL: a place */
    uint8_t operand, place;   /* keeps */
    uint8_t rank, axis;       /* loops; axis n_axes = one that the problem lacks */
} dfl_fixed_line;

typedef struct dfl_fixed_lines {
    uint32_t n, inner;                    /* lines; the first ones are loops that stand above the braces of the einsum */
    dfl_fixed_line at[DFL_GIVEN_LINES];
    uint32_t spread[DFL_PROBLEM_AXES];    /* ranks that a place for lines may spread over an axis */
    dfl_amounts divisors[DFL_PROBLEM_RANKS]; /* of the extents */
} dfl_fixed_lines;

typedef struct {
    dfl_fixed_kind kind;
    const dfl_line *line;     /* NULL: a place, or a further keep */
    uint8_t gap;
    uint8_t keep;             /* KEEP: of the template */
    uint8_t rank, axis;
    uint32_t closed;          /* mask: ranks that no loop here cuts */
    uint32_t axes;            /* ANY: axes that may be entered */
} dfl_fixed_slot;

typedef struct dfl_fixed_skeleton {
    const dfl_fixed_lines *given;
    uint32_t n_keeps, n;
    dfl_fixed_slot slot[DFL_GIVEN_SLOTS];
} dfl_fixed_skeleton;

/* How a rank is distributed over the slots. */
typedef struct {
    int64_t loop[DFL_GIVEN_SLOTS];               /* iterations, or parts of a SPATIAL line */
    int64_t parts[DFL_GIVEN_SLOTS][DFL_PROBLEM_AXES];/* of a place */
} dfl_fixed_factors;

/* Reports E0612: the line at `span` is `what`, which is not searched. */
void dfl_fixed_lines_refuse(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, dfl_span span, const char *what,
                            const char *help);
/* Whether the lines of one einsum can be searched, at home in the memories that are written above them; false after
   reporting. */
bool dfl_fixed_lines_check(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_body *leaf);
/* The lines of the problem's einsum, NULL if nothing is given. Lets the problem spread what written lines do. */
const dfl_fixed_lines *dfl_fixed_lines_make(dfl_arena *arena, const dfl_mapping *m, dfl_problem *problem);

#endif
