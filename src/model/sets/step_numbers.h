/*
 * The paths as the model numbers their steps. Sets of steps are 64 bits, and a large workload has a `keep` line for each
 * of its tensors above every einsum. Keeps of different tensors with nothing between them see the same positions of the
 * same loops, and what moves does not depend on their order: such a run is one step. All einsums below a body see the
 * same runs, hence paths that share a prefix of lines share its step numbers, too. A tensor's second keep in a run begins
 * the next one: of two keeps of a tensor on a path the inner one has the larger step.
 */
#ifndef DFL_MODEL_SETS_STEP_NUMBERS_H
#define DFL_MODEL_SETS_STEP_NUMBERS_H

#include "ir/path/path.h"

typedef struct {
    dfl_path_step *to;
    const dfl_path_step *from;
} dfl_numbered_loop;

typedef struct {
    dfl_paths paths;      /* a run of keeps shows an einsum the keep of its own result, or else the first of them */
    uint32_t *above;      /* per body: steps above its first line */
    uint32_t **step;      /* per body and line: steps above the line; after the last line, above the bodies inside */
    dfl_numbered_loop *loops; /* of all paths */
    uint32_t n_loops;
} dfl_step_numbers;

/* Of resolved paths, which must live as long. */
dfl_step_numbers *dfl_step_numbers_make(dfl_arena *arena, const dfl_paths *paths);
/* Takes over the present sizes of the loops. */
void dfl_step_numbers_read(const dfl_step_numbers *fold);

#endif
