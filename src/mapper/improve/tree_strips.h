/*
 * Strips: starts of climbs in which all einsums of a branch share one loop. The loop makes one strip of an intermediate after the
 * other; with windows, neighbouring strips share elements, which stay. What a strip needs is kept below the loop in one memory;
 * what all strips need may be kept above it. A climb changes one line at a time, and most of these lines alone cost more than
 * they save, so it does not get there by itself.
 */
#ifndef DFL_MAPPER_IMPROVE_TREE_STRIPS_H
#define DFL_MAPPER_IMPROVE_TREE_STRIPS_H

#include "ir/mapping.h"
#include "support/arena.h"

typedef struct {
    uint32_t body, rank, memory;
    int64_t tile;                /* of the loop */
    bool holds;                  /* inputs that the loop does not cut are kept in `memory` above it */
    bool shares;                 /* inputs that it cuts, and that several einsums read, are kept in `memory` below it, once */
} dfl_tree_strip;

/* Calls `use` for strips of all branches of a mapping, which sets `*has_room` if they are legal: strips of the same tile that
   keep less in the memory are left out then. Stops when `use` returns false. */
void dfl_tree_strips_each(dfl_arena *scratch, const dfl_mapping *m,
                          bool (*use)(void *context, const dfl_tree_strip *strip, bool *has_room), void *context);
/* Makes the strips of a branch; new lines lie in `arena`. False if that does not apply: then the mapping may be changed in
   part. */
bool dfl_tree_strip_apply(dfl_arena *arena, dfl_mapping *m, const dfl_tree_strip *strip);

#endif
