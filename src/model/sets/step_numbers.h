/*
 * Numbers of the steps of a path, with each run of keeps counted as a single step. A bit set of steps has 64 bits, but
 * a large workload has a `keep` line for each of its tensors above every einsum. Keeps of different tensors with no
 * other line between them are below the same loops, and their order does not affect any transfer. Such a run of keeps
 * has a single step number. All einsums below a body have the same runs, so paths that share a prefix of lines share
 * its step numbers. The second keep of a tensor in a run begins the next run. So of two keeps of a tensor on one path,
 * the inner one has the larger step number.
 */
#ifndef DFL_MODEL_SETS_STEP_NUMBERS_H
#define DFL_MODEL_SETS_STEP_NUMBERS_H

#include "ir/path/path.h"

/* A loop of a numbered path, and the step of the resolved path that it copies. */
typedef struct {
    dfl_path_step *to;
    const dfl_path_step *from;
} dfl_numbered_loop;

/* Step numbers of all paths of a mapping. */
typedef struct {
    dfl_paths paths;          /* numbered paths; for a run of keeps, the path of an einsum has the keep of the einsum's own
                                 result, or else the first keep */
    uint32_t *above;          /* [body]: number of steps above its first line */
    uint32_t **step;          /* [body][line]: number of steps above the line; the entry after the last line is the number of
                                 steps above the inner bodies */
    dfl_numbered_loop *loops; /* loops of all paths */
    uint32_t n_loops;
} dfl_step_numbers;

/* Numbers the steps of resolved paths. The paths must live as long as the result. */
dfl_step_numbers *dfl_step_numbers_make(dfl_arena *arena, const dfl_paths *paths);
/* Copies the present sizes of the loops from the resolved paths to the numbered ones. */
void dfl_step_numbers_read(const dfl_step_numbers *numbers);

#endif
