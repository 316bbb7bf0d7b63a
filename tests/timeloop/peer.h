/*
 * One run of the peer Timeloop: a problem, an architecture and a mapping as the importer reads them, and the numbers
 * that the peer reported. Levels are numbered from the innermost, loops stand innermost first, counts are words of one
 * instance, as in the reference data. causes.h derives from a run where numbers of the peer may differ from the exact
 * ones.
 */
#ifndef DFL_TESTS_TIMELOOP_PEER_H
#define DFL_TESTS_TIMELOOP_PEER_H

#include "import/timeloop/timeloop_internal.h"
#include "support/json.h"

enum { PEER_DIMS = 8, PEER_TENSORS = 5, PEER_RANKS = 4, PEER_TERMS = 3, PEER_LEVELS = 6, PEER_NAME = 32 };

typedef struct {
    bool present;
    int64_t reads, fills, updates, capacity, instances;
    double energy;                      /* energy of one instance, pJ */
} peer_counts;

typedef struct {
    char name[PEER_NAME * 2];
    dfl_tl_file f;
    bool rejected;                      /* the peer refuses the mapping */
    bool too_large, too_wide;           /* reason of the refusal: tiles too large; too many instances */
    bool died;                          /* the peer failed an assertion of its own */
    bool extrapolated, truncated;       /* artifacts of the report: representative_iteration; mac_count_truncated */
    bool every_step;                    /* the numbers come from a run of the peer without extrapolation */
    int64_t points, cycles;             /* true_macs, compute_cycles */
    double energy;                      /* energy of all multipliers, pJ */
    int64_t computes;                   /* operations that the peer charges */
    peer_counts counts[PEER_LEVELS][PEER_TENSORS];
} peer_run;

/* ---- read.c ---- */

/* Reads the numbers of the peer for run->f from the fields of `expected`. Returns NULL, or the reason of a failure. */
const char *peer_read(const dfl_json *expected, peer_run *run);

/* ---- windows.c: `inside` stands for the tile inside the loops of the levels inside, inside + 1, ... ---- */

enum { PEER_MOVES = 512 };
typedef struct { int64_t at[PEER_RANKS]; } peer_vector;
/* Ways in which a tile can move when a temporal loop around it advances; loops are numbered from the innermost. */
typedef struct { uint32_t n, loop[PEER_MOVES]; peer_vector shift[PEER_MOVES]; } peer_moves;

/* Lengths of the tile's bounding box. */
void peer_box(const peer_run *run, uint32_t tensor, uint32_t inside, peer_vector *box);
/* Finds the moves of a tile. When a loop advances, the loops inside it start again, from their last iteration; with
   `at_second` from their second one, as in the peer. */
void peer_moves_of(const peer_run *run, uint32_t tensor, uint32_t inside, bool at_second, peer_moves *out);
/* Whether the tile has several moves, and a move other than the first one leaves an overlap with the previous tile. */
bool peer_turns(const peer_run *run, uint32_t tensor, uint32_t inside);
/* Whether the extrapolation of the peer changes the number of elements that a move brings in. */
bool peer_extrapolates(const peer_run *run, uint32_t tensor, uint32_t inside);
/* Whether the index of some rank of the tensor is a sum of several dimensions, or has gaps. */
bool peer_slides(const peer_run *run, uint32_t tensor);
bool peer_same(const peer_vector *a, const peer_vector *b);
/* Whether the box overlaps the box moved by `shift`. */
bool peer_overlap(const peer_vector *box, const peer_vector *shift);

/* ---- links.c: instances below one instance of a level ---- */

/* Whether an instance can need, after some move, elements that a neighbour held before the move. */
bool peer_passes(const peer_run *run, uint32_t tensor, uint32_t level);
/* Whether tiles of two instances overlap without being equal. */
bool peer_halos(const peer_run *run, uint32_t tensor, uint32_t level);

#endif
