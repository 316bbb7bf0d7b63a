/*
 * Trimmed boxes (rule B23 of SEARCH.md): a plane of the program of a form says which lengths of pieces cannot be part of a
 * mapping below a cutoff. The boxes of a node lose the amounts that need such lengths.
 */
#ifndef DFL_MAPPER_TILING_BOX_TRIM_H
#define DFL_MAPPER_TILING_BOX_TRIM_H

#include "mapper/tiling/form_program.h"

/* What a program says of a node: its plane, and the box of its variables. */
typedef struct {
    const dfl_form_program *program;
    const dfl_geometric_plane *plane;
    const dfl_geometric_box *range;
    double cutoff;              /* of the program: dfl_form_goal_cutoff */
} dfl_box_trim;

/* Replaces boxes of a node by smaller ones where that leaves out enough. False if nothing below the cutoff is left. */
bool dfl_box_trim_node(dfl_arena *arena, const dfl_box_trim *trim, dfl_box **boxes);

#endif
