/*
 * A path is the chain of lines from the root of a mapping to one einsum. Each line is resolved for this einsum: the
 * rank of the einsum that a loop iterates, the tile, and the restriction by other einsums. `dflc check`, the model and
 * the oracle start from paths. The files of ir/path resolve and check; they do not count.
 *
 * A loop binds to an einsum in one of four ways (MODEL.md, rule 11):
 *   DIRECT  The loop's rank is a rank of the einsum.
 *   FOLLOW  The loop iterates another rank of the einsum. The einsum reads a tensor that a producer below the same body
 *           indexes bare with the loop's rank, and indexes this dimension bare itself.
 *   NEED    The einsum produces a tensor, and a consumer below the same body, bound to the loop, reads a part of the
 *           tensor in each iteration. The einsum computes the elements of this part that no earlier iteration has
 *           computed. The step's rank is DFL_NONE; the exchange of the path describes the restriction.
 *   IDLE    A spatial line excludes the einsum by `for`. The einsum uses one instance of the axis.
 *
 * The files of this room check the following:
 *   coverage.c            each einsum in one leaf, each rank finished, tiles (E0401 .. E0403, E0410, E0411)
 *   path.c                loops that reach no rank, or different ones (E0413, E0416)
 *   unit_choice.c         the unit that runs an einsum (E0418)
 *   fan_out.c             spatial lines and the sizes of axes (E0405)
 *   keep_legality.c       memories, order, place and homes of keeps (E0404, E0407, E0408, E0415, E0417, E0422)
 *   fusion_legality.c     nothing is read before it is complete (E0409, E0424)
 *   online_legality.c     corrections under `online` loops (E0420)
 *   unroll.c              iterations of repeats that carry a tensor (E0401, E0416)
 *   pipeline_legality.c   instances for all stages of a pipeline, and the tiles that they share (E0404, E0405)
 * The model counts the occupancy of memories and checks capacity.
 */
#ifndef DFL_IR_PATH_PATH_H
#define DFL_IR_PATH_PATH_H

#include "diag/diag.h"
#include "ir/mapping.h"
#include "ir/path/unroll.h"

typedef enum { DFL_BIND_DIRECT, DFL_BIND_FOLLOW, DFL_BIND_NEED, DFL_BIND_IDLE } dfl_loop_binding;

typedef struct {
    const dfl_line *line;
    const dfl_body *body;  /* body of the line */
    dfl_loop_binding bind; /* binding of a loop */
    uint32_t rank;         /* DIRECT, FOLLOW: rank of the workload that the einsum iterates; else DFL_NONE */
    int64_t tile;          /* DIRECT, FOLLOW: elements per tile, from 1 to `nominal` */
    int64_t nominal;       /* DIRECT, FOLLOW: largest extent of the rank just above the line */
} dfl_path_step;

/* The exchange of an einsum's output with consumers below a body that also holds the einsum. */
typedef struct {
    uint32_t tensor;
    const dfl_body *branch;    /* innermost body with the producer and a consumer in different children */
    const uint32_t *consumers; /* einsums that read the tensor, below `branch` or below a loop that binds by NEED */
    uint32_t n_consumers;
    bool restricts;            /* some loop above binds by NEED: the consumers decide which elements each iteration computes */
    bool recompute;            /* a `recompute` line of the tensor stands at the branch or above */
} dfl_exchange;

typedef struct {
    uint32_t einsum;
    const dfl_body *leaf;
    dfl_path_step *steps;      /* steps: lines of the root body first, those of the leaf last; for keeps see dfl_paths */
    uint32_t n_steps;
    uint32_t n_above;          /* number of steps in all bodies down to `branch`, this one included */
    bool has_exchange;
    dfl_exchange exchange;     /* exchange of the tensor that the einsum produces */
    uint32_t compute;          /* compute unit of the system that runs the einsum */
} dfl_path;

/*
 * The paths of all einsums. A loop is a step of every einsum below it, and has one position on all paths of these
 * einsums. A run is a list of adjacent keeps of different tensors. The path of an
 * einsum has a step for every keep of a run whose tensor the einsum touches. If another einsum below the same body
 * touches more keeps, the path has further steps, so that the run has equal length on all paths.
 */
typedef struct {
    const dfl_mapping *mapping; /* the mapping, unrolled if its workload has a repeat that carries a tensor */
    const dfl_unrolled *unrolled; /* parts of the given mapping that the parts of `mapping` are copies of; NULL = `mapping` is
                                     the given mapping */
    dfl_path *paths;           /* [einsum]: path of the einsum */
    uint32_t **step;           /* [body][line]: number of steps above a loop, or above the run of a keep; [body][n_lines]:
                                  number of steps above the children of the body */
    uint32_t **user;           /* [body][line]: for a keep, the first einsum below that touches the tensor; DFL_NONE = no such
                                  einsum */
    int64_t *place;            /* [einsum][axis of the system]: lowest coordinate of the einsum's instances on the axis. It is
                                  above 0 for a stage of a pipeline that stands behind other stages (pipeline_legality.h) */
} dfl_paths;

/* Whether some stage stands behind other ones. */
static inline bool dfl_paths_staged(const dfl_paths *paths)
{
    for (size_t i = 0; i < (size_t)paths->mapping->workload->n_einsums * paths->mapping->system->n_axes; i++)
        if (paths->place[i] > 0)
            return true;
    return false;
}

/* Lowest coordinate of the instances of an einsum on an axis. */
static inline int64_t dfl_paths_place(const dfl_paths *paths, uint32_t einsum, uint32_t axis)
{
    return paths->place[(size_t)einsum * paths->mapping->system->n_axes + axis];
}

/*
 * Resolves a complete mapping and makes all checks that need no counting: that the leaves cover the einsums, bindings of
 * ranks, tiles, the fan-out of spatial lines, that the keeps of a tensor go from outer to inner memories and stand inside of the
 * arrays around their memory, homes, compute units, and early reads. Unrolls repeats that carry a tensor (unroll.h). NULL after
 * reporting errors (E04xx). The paths live in `arena`.
 */
dfl_paths *dfl_paths_resolve(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping);
/* Resolves the part that is independent of the amounts of loops: everything except tiles, fan-out and early reads. The
   paths have no sizes before a call of dfl_paths_resize succeeds. NULL after reporting. */
dfl_paths *dfl_paths_bind(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping);
/* Sizes the paths for the present amounts (tiles or parts) of the mapping's loops. The rest of the mapping must be
   unchanged since the paths were resolved. False after reporting; `arena` holds scratch data. */
bool dfl_paths_resize(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, dfl_paths *paths);

#endif
