/*
 * The requirements of a mapping in the form that a search uses. A requirement `a <= b` or `b >= a`, where b is a number, is
 *   - of kind ROOM if a is the peak of a memory: the search treats b as the size of the memory;
 *   - of kind FIGURE if a is an expression that a search can minimize: if its minimum exceeds b, no mapping meets it.
 * A requirement of kind OTHER does not steer the search; it is only checked on the mappings that the search finds.
 */
#ifndef DFL_MAPPER_PROBLEM_REQUIREMENTS_H
#define DFL_MAPPER_PROBLEM_REQUIREMENTS_H

#include "mapper/problem/objective.h"

typedef enum { DFL_REQUIRED_OTHER, DFL_REQUIRED_FIGURE, DFL_REQUIRED_ROOM } dfl_required_kind;

typedef struct dfl_required {
    dfl_required_kind kind;
    dfl_span span;
    const dfl_val *const *figure; /* pointer to the bounded expression, for FIGURE over energy and latency; NULL = no objective */
    dfl_quantity most;            /* with a `figure`: its upper bound */
    uint32_t memory;              /* ROOM: index of the memory */
    int64_t bits;                 /* ROOM: upper bound of the peak (in bits) */
} dfl_required;

/* The required room of one memory: requirements bound the peak of the memory below its size. */
typedef struct dfl_required_room {
    dfl_span at;                  /* span of the requirement; empty = the memory has no requirement */
    int64_t declared;             /* declared size of the memory in bits; -1 = unlimited */
    int64_t bits;                 /* least of the declared size and the required bounds (in bits); -1 = unlimited */
} dfl_required_room;

dfl_required dfl_required_read(const dfl_intern *names, const dfl_mapping *m, const dfl_check *check);
/* The required room of each memory of a system, the least bound of several requirements; NULL if no requirement bounds a
   memory. */
const dfl_required_room *dfl_required_rooms(dfl_arena *arena, const dfl_system *s, const dfl_required *required, uint32_t n);
/* A copy of the mapping on a system whose memories have the sizes of `rooms`; the mapping itself if `rooms` is NULL. */
const dfl_mapping *dfl_required_within(dfl_arena *arena, const dfl_mapping *m, const dfl_required_room *rooms);

#endif
