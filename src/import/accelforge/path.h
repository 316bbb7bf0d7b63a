/*
 * The path of an einsum in the mapping tree, as events from outer to inner: loops, keeps, and braces. The source fetches a
 * tile anew whenever a loop above its storage node advances, and saves capacity by letting a tile slide below relevant loops.
 * So a keep stands where the source reserves capacity. If a loop outside could leave the tile
 * unchanged, a brace opens at the storage node, because a keep in a brace starts empty in each iteration. The keep of a
 * tensor that is only read is `fresh` instead of the brace, unless a loop moves only a part of the tile.
 *
 * A toll is a memory that holds the tiles of the next inner holder, at the place of that holder. A loop of one iteration is an
 * event too: the source counts such loops when it decides which loops two einsums share.
 */
#ifndef DFL_IMPORT_ACCELFORGE_PATH_H
#define DFL_IMPORT_ACCELFORGE_PATH_H

#include "import/accelforge/specification.h"

typedef enum {
    DFL_AF_STORAGE, DFL_AF_TEMPORAL, DFL_AF_SPATIAL, DFL_AF_POINT,
} dfl_af_step_kind;

/* A node of the mapping tree. */
typedef struct {
    dfl_af_step_kind kind;
    dfl_span span;
    const dfl_yaml *names;  /* storage: tensors; loop: one variable, or a list of variables of which an einsum has one */
    uint32_t node;          /* storage, point: the component; spatial: the one with the axis */
    uint32_t axis;          /* spatial */
    int64_t tile;           /* loops */
    uint32_t einsum;        /* point */
} dfl_af_step;

typedef enum { DFL_AF_LOOP, DFL_AF_KEEP, DFL_AF_BRACE } dfl_af_event_kind;

typedef struct {
    dfl_af_event_kind kind;
    uint32_t step;          /* node of the tree, an index of `steps` */
    uint32_t depth;         /* loops above the event on the path, in the order of the tree */
    uint32_t tensor, node;  /* keep: the tensor and its memory; spatial loop: `node` has the axis */
    bool home, fresh;
    bool one_way;           /* toll: the tensor passes in both directions, but the source charges only one */
    bool spatial, ragged;   /* `spatial`: the loop is spatial; `ragged`: its last tile is smaller */
    uint32_t var, axis;
    int64_t trips, tile;    /* loop: number of iterations, and extent of the tile inside */
} dfl_af_event;

typedef struct {
    bool present;
    uint32_t compute;       /* node */
    dfl_span span;
    const dfl_af_event *events;
    uint32_t n_events;
    const uint32_t *loops;  /* numbers of the tree's loops, outer to inner */
    uint32_t n_loops;
} dfl_af_path;

typedef struct {
    DFL_VEC(dfl_af_step) steps;
    dfl_af_path *paths;     /* [einsum]: path of the einsum */
    uint32_t *order;        /* einsums in order of execution */
    uint32_t n_order;
    uint32_t *shared;       /* loops that einsum order[i] shares with order[i + 1] */
} dfl_af_plan;

/* Whether a rank variable moves the tile of a tensor: not at all, by a part (a window), or to a disjoint one. */
typedef enum { DFL_AF_IRRELEVANT, DFL_AF_PARTLY, DFL_AF_RELEVANT } dfl_af_relevancy;
dfl_af_relevancy dfl_af_relevant(const dfl_af_access *access, uint32_t var);

/* Makes the events of one einsum from the `n` tree nodes `steps`, which lead from the root to the compute node of the
   einsum. */
bool dfl_af_make_path(const dfl_af_file *f, const dfl_af_plan *plan, uint32_t einsum, const uint32_t *steps,
                      uint32_t n);

#endif
