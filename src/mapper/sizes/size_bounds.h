/*
 * What is certain about a mapping while only the amounts of its outer loops are chosen: it takes at least so much room
 * in each memory, so much time and energy. Steps of a path before the first open loop have their sizes; the keeps there
 * hold tiles of known size, and the parts on an axis are known when no open spatial loop on it follows.
 */
#ifndef DFL_MAPPER_SIZES_SIZE_BOUNDS_H
#define DFL_MAPPER_SIZES_SIZE_BOUNDS_H

#include "ir/path/path.h"

typedef struct {
    const dfl_paths *paths;
    const dfl_system *system;   /* with its real capacities */
    double *einsum_seconds;     /* per einsum: time of all its points on one instance, a lower bound */
    double joules;              /* of the operations */
    bool staged;                /* some einsums run at the same time */
    dfl_i128 *bits;             /* per memory, scratch */
    dfl_i128 *room;             /* per memory: bits that are certainly taken */
    double *busy;               /* per unit, scratch */
} dfl_size_bounds;

void dfl_size_bounds_make(dfl_arena *arena, const dfl_intern *names, const dfl_paths *paths, const dfl_system *system,
                          dfl_size_bounds *out);
/* Fills `room`; false if it passes 2^127. `decided[e]` steps of the path of einsum `e` have their sizes. */
bool dfl_size_bounds_room(const dfl_size_bounds *bounds, const uint32_t *decided);
/* Seconds that the operations take at least. */
double dfl_size_bounds_seconds(const dfl_size_bounds *bounds, const uint32_t *decided);

#endif
