/*
 * One run of the peer Timeloop: a problem, an architecture and a mapping as the importer reads them, and the numbers
 * that the peer reported. Levels are numbered from the innermost, loops stand innermost first, counts are words of one
 * instance, as in the reference data. peer_causes says from the run alone where the peer's numbers may differ from the
 * exact ones.
 */
#ifndef DFL_TESTS_TIMELOOP_PEER_H
#define DFL_TESTS_TIMELOOP_PEER_H

#include "import/timeloop/timeloop_internal.h"
#include "support/json.h"

enum { PEER_DIMS = 8, PEER_TENSORS = 5, PEER_RANKS = 4, PEER_TERMS = 3, PEER_LEVELS = 6, PEER_NAME = 32 };

typedef struct {
    bool present;
    int64_t reads, fills, updates, capacity, instances;
    double energy;                      /* pJ, of one instance */
} peer_counts;

typedef struct {
    char name[PEER_NAME * 2];
    dfl_tl_file f;
    bool rejected;                      /* the peer refuses the mapping: */
    bool too_large, too_wide;           /* for its tiles, for its instances */
    bool died;                          /* the peer failed an assertion of its own */
    bool extrapolated, truncated;       /* artifacts: representative_iteration, mac_count_truncated */
    bool every_step;                    /* the numbers are those of a run without extrapolation */
    int64_t points, cycles;             /* true_macs, compute_cycles */
    double energy;                      /* pJ, of all multipliers */
    int64_t computes;                   /* operations that the peer charges */
    peer_counts counts[PEER_LEVELS][PEER_TENSORS];
} peer_run;

/* ---- read.c ---- */

/* What the peer reports about run->f, from the fields of `expected`; NULL, or what is wrong. */
const char *peer_read(const dfl_json *expected, peer_run *run);

/* ---- windows.c: `inside` stands for the tile inside the loops of the levels inside, inside + 1, ... ---- */

enum { PEER_MOVES = 512 };
typedef struct { int64_t at[PEER_RANKS]; } peer_vector;
/* Ways in which a tile can move when a temporal loop around it advances; loops are numbered from the innermost. */
typedef struct { uint32_t n, loop[PEER_MOVES]; peer_vector shift[PEER_MOVES]; } peer_moves;

/* Lengths of the tile's bounding box. */
void peer_box(const peer_run *run, uint32_t tensor, uint32_t inside, peer_vector *box);
/* `at_second`: as if the loops inside the one that advances stood at their second iteration, not at their last. */
void peer_moves_of(const peer_run *run, uint32_t tensor, uint32_t inside, bool at_second, peer_moves *out);
/* Whether the tile moves in more than one way, and overlaps with itself in other ways than the first. */
bool peer_turns(const peer_run *run, uint32_t tensor, uint32_t inside);
/* Whether what a move brings in is another amount when the peer extrapolates. */
bool peer_extrapolates(const peer_run *run, uint32_t tensor, uint32_t inside);
/* Whether a rank of the tensor sums up several dimensions, or leaves out elements. */
bool peer_slides(const peer_run *run, uint32_t tensor);
bool peer_same(const peer_vector *a, const peer_vector *b);
/* Whether the box and itself moved by `shift` overlap. */
bool peer_overlap(const peer_vector *box, const peer_vector *shift);

/* ---- links.c: instances below one instance of a level ---- */

/* Whether some instance can want, after some move, what a neighbour had before it. */
bool peer_passes(const peer_run *run, uint32_t tensor, uint32_t level);
/* Whether tiles of two instances overlap without being the same. */
bool peer_halos(const peer_run *run, uint32_t tensor, uint32_t level);

#endif
