/*
 * What a mapping tree means for each einsum, as events from outer to inner: loops, keeps, and braces. The source
 * fetches a tile anew whenever any loop above its storage node advances, and frees room by letting a tile slide below
 * relevant loops. So a keep stands where the source reserves room, and a brace opens at the storage node where a loop
 * outside could leave the tile unchanged: what is kept in a brace starts empty in each of its iterations. Tensors that
 * are only read are `fresh` instead where nothing slides.
 *
 * A toll is a memory that holds what the next inner holder gets, where it gets it. Loops of one iteration are events,
 * too, since the source counts them when it decides which loops two einsums share.
 */
#ifndef DFL_IMPORT_ACCELFORGE_PATH_H
#define DFL_IMPORT_ACCELFORGE_PATH_H

#include "import/accelforge/specification.h"

typedef enum {
    DFL_AF_STORAGE, DFL_AF_TEMPORAL, DFL_AF_SPATIAL, DFL_AF_POINT,
} dfl_af_step_kind;

/* A node of the tree. */
typedef struct {
    dfl_af_step_kind kind;
    dfl_span span;
    const dfl_yaml *names;  /* storage: tensors; loops: one variable, or a list of which an einsum has one */
    uint32_t node;          /* storage, point: the component; spatial: the one with the axis */
    uint32_t axis;          /* spatial */
    int64_t tile;           /* loops */
    uint32_t einsum;        /* point */
} dfl_af_step;

typedef enum { DFL_AF_LOOP, DFL_AF_KEEP, DFL_AF_BRACE } dfl_af_event_kind;

typedef struct {
    dfl_af_event_kind kind;
    uint32_t step;          /* number of the tree's node */
    uint32_t depth;         /* loops above it, in the tree's order */
    uint32_t tensor, node;  /* keep: what and where; spatial loop: the node with the axis */
    bool home, fresh;
    bool one_way;           /* toll: of what it passes in two directions the source charges one */
    bool spatial, ragged;   /* loop: the last tile is smaller */
    uint32_t var, axis;
    int64_t trips, tile;    /* of a loop; `tile` is what is left inside */
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
    dfl_af_path *paths;     /* by einsum */
    uint32_t *order;        /* einsums as they run */
    uint32_t n_order;
    uint32_t *shared;       /* loops that einsum order[i] shares with order[i + 1] */
} dfl_af_plan;

/* How a rank variable moves a tensor's tile. */
typedef enum { DFL_AF_IRRELEVANT, DFL_AF_PARTLY, DFL_AF_RELEVANT } dfl_af_relevancy;
dfl_af_relevancy dfl_af_relevant(const dfl_af_access *access, uint32_t var);

/* Makes the events of one einsum from the tree nodes `steps`, `n` of them, from the root to its compute node. */
bool dfl_af_make_path(const dfl_af_file *f, const dfl_af_plan *plan, uint32_t einsum, const uint32_t *steps,
                      uint32_t n);

#endif
