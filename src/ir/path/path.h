/*
 * The way from the root of a mapping to one einsum, with every line resolved for that einsum: which of its ranks a
 * loop iterates, with what tile, and what restricts it from elsewhere. `check`, the model and the oracle start from
 * here; nothing here counts.
 *
 * A loop binds to an einsum in one of these ways (model.md, rule 9):
 *   DIRECT  the loop's rank is a rank of the einsum;
 *   FOLLOW  the einsum reads a tensor that a producer in the same branch indexes bare with the loop's rank, and
 *           indexes the same dimension bare itself: the loop iterates that rank of the einsum;
 *   NEED    the einsum produces a tensor of which a consumer in the same branch, bound to this loop, reads a part:
 *           the einsum computes, per iteration, what is read there and was not computed in an earlier iteration;
 *           the step's rank is DFL_NONE, the restriction is that of the path's exchange;
 *   IDLE    a spatial line excluded by `for`: the einsum uses one instance of the axis.
 */
#ifndef DFL_IR_PATH_PATH_H
#define DFL_IR_PATH_PATH_H

#include "diag/diag.h"
#include "ir/mapping.h"

typedef enum { DFL_BIND_DIRECT, DFL_BIND_FOLLOW, DFL_BIND_NEED, DFL_BIND_IDLE } dfl_binding;

typedef struct {
    const dfl_line *line;
    const dfl_body *body;  /* the body the line stands in */
    dfl_binding bind;      /* loops only */
    uint32_t rank;         /* DIRECT, FOLLOW: the einsum's rank; else DFL_NONE */
    int64_t tile;          /* DIRECT, FOLLOW: elements per tile, > 0, at most `nominal` */
    int64_t nominal;       /* DIRECT, FOLLOW: largest extent of the rank just above the line */
} dfl_path_step;

/* What of an einsum's output is read inside a branch that also produces it. */
typedef struct {
    uint32_t tensor;
    const dfl_body *branch;    /* innermost body with the producer and at least one consumer in different children */
    const uint32_t *consumers; /* einsums that read the tensor, below `branch` or below a loop that binds by NEED */
    uint32_t n_consumers;
    bool restricts;            /* some loop above binds by NEED: the consumers decide what is computed when */
    bool recompute;            /* `recompute` was said for the tensor at the branch or above */
} dfl_exchange;

typedef struct {
    uint32_t einsum;
    const dfl_body *leaf;
    dfl_path_step *steps;      /* lines of the root body first, those of the leaf last; but see below */
    uint32_t n_steps;
    uint32_t n_above;          /* steps above the exchange's branch point (all bodies down to and with `branch`) */
    bool has_exchange;
    dfl_exchange exchange;     /* of the tensor that the einsum produces */
    uint32_t compute;          /* the unit that runs it */
} dfl_path;

/*
 * Loops are steps of every einsum below them, and those above two einsums have the same numbers on both paths. Keeps of
 * different tensors with nothing between them are a run: an einsum has steps for those that it touches, and where others below
 * the same body touch more, for some that it does not, so that the run has equally many on all paths.
 */
typedef struct {
    const dfl_mapping *mapping;
    dfl_path *paths;           /* one per einsum, by einsum id */
    uint32_t **step;           /* per body and line: steps above a loop, or above the run of a keep; after the last line, above
                                  the bodies inside */
    uint32_t **user;           /* per body and line: of a keep, the first einsum below that touches it; DFL_NONE = none */
} dfl_paths;

/*
 * Resolves and checks everything about a complete mapping that needs no counting: coverage, bindings, tiles, fan-out,
 * order and place of keeps, homes, compute units, early consumption. Returns NULL after reporting errors (E04xx).
 * Lives in `arena`.
 */
dfl_paths *dfl_paths_resolve(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping);
/* The part of it that the amounts of loops do not change: everything but tiles, fan-out, and what is read too early. The
   paths are ready for dfl_paths_resize; until one succeeds they have no sizes. NULL after reporting. */
dfl_paths *dfl_paths_bind(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping);
/* Takes over other amounts of the mapping's loop lines (tiles or parts); everything else in it must be as it was when the
   paths were resolved. False after reporting what is wrong with them; `arena` is for scratch. */
bool dfl_paths_resize(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, dfl_paths *paths);

#endif
