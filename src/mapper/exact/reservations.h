/*
 * Room that einsums share. What a workload reads and writes stays in its home all the time and leaves the tiles there less
 * room. What einsums exchange lives for a while, and so does what one of them keeps above loops that it shares: memories in which
 * something may, unless they have room for everything, are tracks, of which the search adds up what lives at the same time.
 */
#ifndef DFL_MAPPER_EXACT_RESERVATIONS_H
#define DFL_MAPPER_EXACT_RESERVATIONS_H

#include "mapper/exact/einsum_classes.h"

/* Whether what several einsums have in the memory at the same time may be too much for it. */
bool dfl_reservations_needed(const dfl_einsum_classes *classes, uint32_t memory);
/* Bits of the inputs and outputs of the workload whose home is the memory. */
double dfl_reservations_settled(dfl_arena *scratch, const dfl_einsum_classes *classes, uint32_t memory);
/* Sets the tracks of the goal, `capacity` bits each, and takes what is settled from the places of the problems. False if that
   does not fit. Memory `counted` (or DFL_NONE) is a track whose peak counts. `*more`: a memory that would be one track too many,
   else as it was. */
bool dfl_reservations_find(dfl_arena *scratch, const dfl_einsum_classes *classes, dfl_tile_goal *goal, double *capacity,
                           uint32_t counted,
                           uint32_t *more);
/* The last of the memories that need a track and have none; called before skeletons are made. DFL_NONE = every memory has
   its track, or the tensors that are always resident do not fit. */
uint32_t dfl_reservations_excess(dfl_arena *scratch, const dfl_einsum_classes *classes, uint32_t counted);
/* Says that `memory` is one too many. */
void dfl_reservations_report(dfl_sink *sink, const dfl_mapping *m, uint32_t memory);

#endif
