/*
 * Timeloop's runs, between YAML and .dfl. A file has a `problem` (one einsum over dimensions of one letter), an `arch`
 * (multipliers, and storage levels from inner to outer with so many instances each), and a `mapping` or a `mapspace`
 * of constraints. Levels are numbered from the innermost, and loops stand innermost first, as in the source.
 *
 * The loops of the source are, from outer to inner, temporal(n-1), spatial(n-1), temporal(n-2), ...; the tile of level
 * k holds what its own loops touch, so what it keeps is kept above temporal(k). The spatial loops of level k spread
 * over the instances of level k-1: axes X and Y stand between the two memories. Imperfect factors are tiles that the
 * extent is no multiple of. Multicast and reduction are on for all tensors that `no_reuse` does not name.
 *
 * Two things the source does on its own, and the result says: an element that stays with a multiplier, or comes from
 * its neighbour, is not read again (`operand_reuse`, for sums a latch); and a tile with gaps is its bounding box.
 */
#ifndef DFL_IMPORT_TIMELOOP_TIMELOOP_INTERNAL_H
#define DFL_IMPORT_TIMELOOP_TIMELOOP_INTERNAL_H

#include "import/yaml.h"

enum { DFL_TL_MOST_TENSORS = 64, DFL_TL_MOST_LEVELS = 32 };

typedef struct {
    char letter;
    int64_t bound;
    dfl_span span;
    bool read, written; /* indexes an operand, the result */
} dfl_tl_dim;

typedef struct { uint32_t dim; int64_t coef; } dfl_tl_term;
typedef struct { const dfl_tl_term *terms; uint32_t n_terms; } dfl_tl_rank; /* distinct dimensions, coef != 0 */

typedef struct {
    const char *name;
    dfl_span span;
    bool written; /* the result */
    const dfl_tl_rank *ranks;
    uint32_t n_ranks;
} dfl_tl_tensor;

/* `full` iterations, > 1; `last` in the globally last iteration of the outer loops over the dimension. */
typedef struct {
    uint32_t dim;
    int64_t full, last;
    bool on_y; /* spatial: along Y, else X */
} dfl_tl_loop;

typedef struct {
    const char *name;
    dfl_span span;
    int64_t instances, mesh_x;
    int64_t entries;     /* words; -1 = unlimited, 0 = only wires */
    int64_t buffers;
    int64_t word_bits;
    double read_rate, write_rate, shared_rate; /* words per cycle and instance, INFINITY = no limit */
    double energy;       /* pJ per word */
    bool distributes;    /* network_type M:N */
    bool mapped[2];      /* a temporal, a spatial directive was seen */
    const dfl_tl_loop *temporal, *spatial;
    uint32_t n_temporal, n_spatial;
    uint64_t bypass;     /* tensors as bits: of the mapping, or of the constraints */
    uint64_t no_reuse, no_link, no_temporal_reuse, rmw_first;
} dfl_tl_level;

typedef struct {
    dfl_loss_report *report;
    const dfl_yaml *problem, *shape, *arch, *mapping, *constraints, *metrics; /* NULL = not given */
    dfl_tl_dim *dims;
    uint32_t n_dims;
    dfl_tl_tensor *tensors;
    uint32_t n_tensors, output;
    dfl_tl_level *levels;
    uint32_t n_levels;
    int64_t macs, macs_x, word_bits; /* of the multipliers */
    bool ok;
} dfl_tl_file;

/* ---- read.c, arch.c, mapping.c: false after reporting ---- */

bool dfl_tl_read_problem(dfl_tl_file *f);
bool dfl_tl_read_arch(dfl_tl_file *f);
bool dfl_tl_read_mapping(dfl_tl_file *f);
bool dfl_tl_read_constraints(dfl_tl_file *f);
/* What a metric of the source's mapper minimises; NULL = nothing that is known. */
const char *dfl_tl_metric(const dfl_yaml *at);

/* ---- values.c ---- */

/* Reports the first error of a run, and no further one; returns false. */
bool dfl_tl_wrong(dfl_tl_file *f, dfl_code code, dfl_span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Whether two keys are equal; `-` of `a` counts as `_`. */
bool dfl_tl_is_key(const char *a, const char *b);
/* Value of a key, in which `-` and `_` are the same; NULL when the map lacks it. */
const dfl_yaml *dfl_tl_get(const dfl_yaml *map, const char *key);
/* A scalar's text; reports E0701 for anything else. */
const char *dfl_tl_text(dfl_tl_file *f, const dfl_yaml *at, dfl_span around, const char *what);
/* A number from 0 to 1e30, a whole one from `least` to 2^40; `fallback` where the node is NULL. */
double dfl_tl_number(dfl_tl_file *f, const dfl_yaml *at, double fallback);
int64_t dfl_tl_count(dfl_tl_file *f, const dfl_yaml *at, int64_t least, int64_t fallback);
/* Warns of keys that are none of the `n` known ones. */
void dfl_tl_look_at_keys(const dfl_tl_file *f, const dfl_yaml *map, const char *const *known, size_t n,
                         const char *of);

/* All tensors, as bits. */
uint64_t dfl_tl_all(const dfl_tl_file *f);

/* ---- reach.c ---- */

/* Elements in a tile of the dimension below the loops of all levels before `level` (its own spatial loops included if
   `with_spatial`, its temporal ones never). */
int64_t dfl_tl_tile(const dfl_tl_file *f, uint32_t dim, uint32_t level, bool with_spatial);
/* The same, no more than there are: the tile inside the loops of the levels `inside`, `inside` + 1, ... */
int64_t dfl_tl_extent(const dfl_tl_file *f, uint32_t dim, uint32_t inside);
/* Whether a full tile touches fewer elements than its bounding box has. */
bool dfl_tl_gaps(const dfl_tl_file *f, uint32_t tensor, uint32_t inside);
/* Instances of level k-1 (or multipliers) per instance of level k, along X and along Y. */
void dfl_tl_fan_out(const dfl_tl_file *f, uint32_t k, int64_t out[2]);
/* Instances below one instance of the level that the mapping uses: in rows, and in all. */
void dfl_tl_used(const dfl_tl_file *f, uint32_t k, int64_t *row, int64_t *all);
/* Whether the tiles of two instances below the level are at the same place. */
bool dfl_tl_same_place(const dfl_tl_file *f, uint32_t tensor, uint32_t level, int64_t a, int64_t b);
/* Neighbours of an instance in the mesh below the level: the source numbers those that are used row by row, and then
   takes these numbers for places in the whole mesh. Returns how many there are. */
uint32_t dfl_tl_neighbours(const dfl_tl_file *f, uint32_t level, int64_t id, int64_t out[4]);
/* Multipliers below one instance of level 0 that have a neighbour with the same element of the tensor. */
typedef enum { DFL_TL_LINKS_NONE, DFL_TL_LINKS_SOME, DFL_TL_LINKS_ALL, DFL_TL_LINKS_TOO_MANY } dfl_tl_links;
dfl_tl_links dfl_tl_inner_links(const dfl_tl_file *f, uint32_t tensor);

/* ---- timeloop.c, print.c ---- */

/* Parses the source and reads all parts; false after reporting. */
bool dfl_tl_open(dfl_tl_file *f, dfl_loss_report *report, const dfl_source *source);
/* The file as .dfl text, not yet laid out. */
const char *dfl_tl_print(const dfl_tl_file *f, const dfl_source *main, const dfl_loss *losses, size_t n_losses);

#endif
