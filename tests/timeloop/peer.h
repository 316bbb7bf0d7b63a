/*
 * One run of the peer Timeloop: a problem, an architecture, a mapping, and the numbers that it reported. Levels are
 * numbered from the innermost, loops stand innermost first, counts are words of one instance, as in the reference
 * data. peer_read makes a run from the data, peer_design expresses it with the structures of src/ir, peer_causes says
 * from the run alone where the peer's numbers may differ from the exact ones.
 */
#ifndef DFL_TESTS_TIMELOOP_PEER_H
#define DFL_TESTS_TIMELOOP_PEER_H

#include "ir/mapping.h"
#include "support/json.h"

enum { PEER_DIMS = 8, PEER_TENSORS = 5, PEER_RANKS = 4, PEER_TERMS = 3, PEER_LEVELS = 6, PEER_NAME = 32 };

typedef struct { char name; int64_t bound; } peer_dim;
typedef struct { uint32_t dim; int64_t coef; } peer_term;

typedef struct {
    char name[PEER_NAME];
    bool written;                       /* read_write: the output */
    uint32_t n_ranks, n_terms[PEER_RANKS];
    peer_term terms[PEER_RANKS][PEER_TERMS];
} peer_tensor;

/* `full` iterations, `last` in the globally last iteration of the outer loops over the dimension. */
typedef struct {
    uint32_t dim;
    int64_t full, last;
    bool on_y;                          /* spatial: along Y, else X */
} peer_loop;

typedef struct {
    char name[PEER_NAME];
    int64_t instances, mesh_x, entries; /* entries: words, -1 = unlimited */
    int64_t buffers;
    bool distributes;                   /* network_type M:N */
    peer_loop temporal[PEER_DIMS], spatial[PEER_DIMS];
    uint32_t n_temporal, n_spatial;     /* without loops of one iteration */
    uint32_t bypass;                    /* bit sets of tensors */
    uint32_t no_reuse, no_link, no_temporal_reuse, rmw_first;
} peer_level;

typedef struct {
    bool present;
    int64_t reads, fills, updates, capacity, instances;
} peer_counts;

typedef struct {
    char name[PEER_NAME * 2];
    peer_dim dims[PEER_DIMS];
    uint32_t n_dims;
    peer_tensor tensors[PEER_TENSORS];
    uint32_t n_tensors;
    peer_level levels[PEER_LEVELS];
    uint32_t n_levels;
    int64_t macs, macs_x;               /* of the array of multipliers */
    bool rejected;                      /* the peer refuses the mapping: */
    bool too_large, too_wide;           /* for its tiles, for its instances */
    bool died;                          /* the peer failed an assertion of its own */
    bool extrapolated, truncated;       /* artifacts: representative_iteration, mac_count_truncated */
    bool every_step;                    /* the numbers are those of a run without extrapolation */
    int64_t points, cycles;             /* true_macs, compute_cycles */
    peer_counts counts[PEER_LEVELS][PEER_TENSORS];
} peer_run;

/* ---- read.c ---- */

/* A run from `problem`, `arch` and `mapping` in `input` and the fields of `expected`; NULL, or what is wrong. */
const char *peer_read(const dfl_json *input, const dfl_json *expected, peer_run *run);

/* ---- yaml.c ---- */

/* The file as a tree in `arena`; NULL if it cannot be read or is not YAML. */
const dfl_json *peer_yaml(dfl_arena *arena, const char *path);

/* ---- design.c ---- */

/* The run as a mapping of one einsum. Tensors keep their number, memory n_levels - 1 - k is level k; an element has
   one bit. Lives in `arena`. */
const dfl_mapping *peer_design(const peer_run *run, dfl_arena *arena, dfl_intern *names);
/* Elements in a tile of the dimension below the loops of all levels before `level` (its own spatial loops included if
   `with_spatial`, its temporal ones never). */
int64_t peer_tile(const peer_run *run, uint32_t dim, uint32_t level, bool with_spatial);

/* ---- windows.c: `inside` stands for the tile inside the loops of the levels inside, inside + 1, ... ---- */

enum { PEER_MOVES = 512 };
typedef struct { int64_t at[PEER_RANKS]; } peer_vector;
/* Ways in which a tile can move when a temporal loop around it advances; loops are numbered from the innermost. */
typedef struct { uint32_t n, loop[PEER_MOVES]; peer_vector shift[PEER_MOVES]; } peer_moves;

/* Elements of the dimension in the tile. */
int64_t peer_extent(const peer_run *run, uint32_t dim, uint32_t inside);
/* Lengths of the tile's bounding box. */
void peer_box(const peer_run *run, uint32_t tensor, uint32_t inside, peer_vector *box);
/* Whether a full tile touches fewer elements than its bounding box has. */
bool peer_gaps(const peer_run *run, uint32_t tensor, uint32_t inside);
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

/* Instances of level k-1 (or multipliers) per instance of level k, along X and along Y. */
void peer_fan_out(const peer_run *run, uint32_t k, int64_t out[2]);
/* Multipliers below one instance of level 0 that have a neighbour with the same element of the tensor: while the
   element stays, the peer passes it on there and does not read level 0. */
typedef enum { PEER_LINKS_NONE, PEER_LINKS_SOME, PEER_LINKS_ALL } peer_links;
peer_links peer_inner_links(const peer_run *run, uint32_t tensor);
/* Whether some instance can want, after some move, what a neighbour had before it. */
bool peer_passes(const peer_run *run, uint32_t tensor, uint32_t level);
/* Whether tiles of two instances overlap without being the same. */
bool peer_halos(const peer_run *run, uint32_t tensor, uint32_t level);

#endif
