/*
 * What is required of a mapping, as a search can use it. `a <= b`, or `b >= a`, with a number for b is
 *   - a room, if a is the peak of a memory: no more than that is in it, as if it were its size;
 *   - a figure, if a is what a search can make small by itself: where the least of it is more, nothing meets it.
 * All else is looked at in mappings that were found.
 */
#ifndef DFL_MAPPER_REQUIRED_H
#define DFL_MAPPER_REQUIRED_H

#include "mapper/objective.h"

typedef enum { DFL_REQUIRED_OTHER, DFL_REQUIRED_FIGURE, DFL_REQUIRED_ROOM } dfl_required_kind;

typedef struct dfl_required {
    dfl_required_kind kind;
    dfl_span span;
    const dfl_val *const *figure; /* FIGURE: one expression over energy and latency, ... */
    dfl_quantity most;            /* ... which is at most that */
    uint32_t memory;              /* ROOM */
    int64_t bits;
} dfl_required;

/* Of a memory whose peak is required to be less than its size. */
typedef struct dfl_required_room {
    dfl_span at;                  /* of the requirement; empty: there is none */
    int64_t declared;             /* its size in bits, -1 = unlimited */
    int64_t bits;
} dfl_required_room;

dfl_required dfl_required_read(const dfl_intern *names, const dfl_mapping *m, const dfl_check *check);
/* What is required of each memory of a system, the least of several; NULL if nothing is. */
const dfl_required_room *dfl_required_rooms(dfl_arena *arena, const dfl_system *s, const dfl_required *required, uint32_t n);
/* The mapping on a system whose memories have no more room than is required; itself if nothing is (`rooms` may be NULL). */
const dfl_mapping *dfl_required_within(dfl_arena *arena, const dfl_mapping *m, const dfl_required_room *rooms);

#endif
