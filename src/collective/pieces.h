/*
 * Phases of a collective on several networks or dimensions, which pieces of the data pass one after another.
 */
#ifndef DFL_COLLECTIVE_PIECES_H
#define DFL_COLLECTIVE_PIECES_H

#include "support/arena.h"

enum {
    DFL_COLLECTIVE_PHASES = 32,  /* phases of one collective */
    DFL_COLLECTIVE_ENGINES = 64, /* networks and dimensions in which they take place */
};

/* One phase of one piece. */
typedef struct {
    double seconds;
    uint64_t engines;      /* mask of the networks and dimensions that it occupies */
} dfl_phase_time;

/* The end of the last phase of the last piece. Each piece passes the phases in order. An engine serves one phase at a time, first
   come, first served; of those that come at the same time, the later phase goes first. */
double dfl_pieces_end(dfl_arena *arena, const dfl_phase_time *phases, uint32_t n_phases, int64_t pieces);

#endif
