/*
 * The intermediate form of a run of Timeloop, between YAML and .dfl. A run has a `problem` (one einsum over dimensions
 * of one letter), an `arch` (multipliers, and storage levels from inner to outer with their numbers of instances) or an
 * `architecture` (a tree, versions 0.3 and 0.4, which becomes the same levels), and a `mapping` or constraints. Levels are
 * numbered from the innermost one, and loops are listed innermost first, as in the source.
 *
 * From outer to inner the loops of the source are temporal(n-1), spatial(n-1), temporal(n-2), ... The tile of level k
 * holds the elements that the loops of level k touch, so a keep of level k stands above temporal(k). The spatial loops of
 * level k run over the instances of level k-1: the axes X and Y stand between the two memories. An imperfect factor is a
 * tile that does not divide the extent. All tensors are multicast and reduced, except those in `no_reuse`.
 *
 * The source does two things implicitly that the result makes explicit. An element that stays in a multiplier, or comes
 * from a neighbour, is not read again: `operand_reuse`, and for sums a latch. A tile with gaps is its bounding box.
 */
#ifndef DFL_IMPORT_TIMELOOP_TIMELOOP_INTERNAL_H
#define DFL_IMPORT_TIMELOOP_TIMELOOP_INTERNAL_H

#include "import/yaml.h"

/* Most tensors of a problem, since a set of tensors is a 64-bit word, and most storage levels of an architecture. */
enum { DFL_TL_MOST_TENSORS = 64, DFL_TL_MOST_LEVELS = 32 };

typedef struct {
    char letter;
    int64_t bound;
    dfl_span span;
    bool read, written; /* the dimension indexes an operand; it indexes the result */
} dfl_tl_dim;

typedef struct { uint32_t dim; int64_t coef; } dfl_tl_term;
typedef struct { const dfl_tl_term *terms; uint32_t n_terms; } dfl_tl_rank; /* terms with distinct dimensions and coef != 0 */

typedef struct {
    const char *name;
    dfl_span span;
    bool written; /* the tensor is the result of the problem */
    const dfl_tl_rank *ranks;
    uint32_t n_ranks;
} dfl_tl_tensor;

/* A loop over tiles of a dimension. It has `full` > 1 iterations, but only `last` iterations while all outer loops over
   the dimension are in their last iteration. */
typedef struct {
    uint32_t dim;
    int64_t full, last;
    bool on_y; /* a spatial loop runs along Y; false = along X */
} dfl_tl_loop;

typedef struct { int64_t full, last; } dfl_tl_factor; /* iterations, and those of the last pass */

/* What constraints say of the loops of a level. */
typedef struct {
    dfl_span span;          /* the first constraint */
    dfl_span factors_span;  /* the last constraint of factors */
    bool given, has_split;
    int64_t *factor;        /* by dimension: the number of iterations, 0 = open; NULL = all are open */
    const uint32_t *order;  /* dimensions, innermost first; those that are missing stand outside of them */
    uint32_t n_order;
    int64_t split;          /* the first `split` dimensions of the order run along X, the others along Y */
} dfl_tl_limits;

/* The attributes of a node of a tree, and those of the nodes around it, which it inherits. */
typedef struct dfl_tl_scope {
    const dfl_yaml *attributes; /* NULL = none */
    const struct dfl_tl_scope *outer;
} dfl_tl_scope;

/* A component, or the fan-out in front of a node with `spatial`, which is a level without room. */
typedef struct {
    const char *name, *alias;
    const dfl_yaml *at;        /* the node */
    const dfl_tl_scope *scope;
    bool is_fan_out;
    int64_t x, y;              /* instances along X and Y */
    uint32_t group, branch;
} dfl_tl_leaf;

typedef struct {
    const char *name;
    dfl_span span;
    int64_t instances, mesh_x; /* number of instances, and number of instances along X */
    int64_t entries;     /* words of one buffer; -1 = unlimited, 0 = only wires */
    int64_t buffers;     /* buffers of one instance, 2 with double buffering */
    int64_t word_bits;
    double read_rate, write_rate, shared_rate; /* words per cycle and instance, INFINITY = no limit */
    double read_energy, write_energy; /* pJ per word */
    double leak;         /* pJ per cycle and instance */
    double vector;       /* words of a vector access, for all instances of a cluster */
    bool shares_rows;    /* several instances form a cluster, which shares the rows of its vectors */
    bool distributes;    /* network_type M:N */
    const char *alias;   /* second name of the level in directives, that of its container; NULL = none */
    const dfl_yaml *constraints; /* those that stand at the node of a tree; NULL = none */
    uint32_t group, branch; /* number of the `!Parallel` node around the level, 0 = none; the level's branch in it */
    bool mapped[2];      /* the mapping has a temporal directive for the level; a spatial one */
    const dfl_tl_loop *temporal, *spatial;
    uint32_t n_temporal, n_spatial;
    uint64_t bypass;     /* set of tensors that the level does not hold */
    uint64_t keep;       /* set of tensors that the directives of a level tell it to hold */
    dfl_tl_limits limits[2]; /* constraints of the temporal loops; of the spatial loops */
    uint64_t no_reuse, no_link, no_temporal_reuse, rmw_first; /* sets of tensors that the directives of these names list */
    uint64_t apart;      /* part of `no_reuse`: inputs of which no two instances of the level need the same tile */
} dfl_tl_level;

typedef struct {
    dfl_loss_report *report;
    const dfl_yaml *problem, *shape, *arch, *mapping, *constraints, *metrics; /* NULL = absent in the run */
    const dfl_yaml *tree, *energies;    /* an architecture of version 0.3 or 0.4; the lists of its energies; NULL = absent */
    const dfl_yaml *included;           /* a part that `!include` takes from another file; NULL = none */
    const dfl_yaml *repeats;            /* the file at hand, whose parts may repeat those of others; NULL = no such file */
    const dfl_tl_scope *scope;          /* names for expressions, while a node is read */
    dfl_tl_dim *dims;
    uint32_t n_dims;
    dfl_tl_tensor *tensors;
    uint32_t n_tensors, output;
    dfl_tl_level *levels;
    uint32_t n_levels;
    int64_t macs, macs_x, word_bits; /* number of multipliers, number of multipliers along X, and bits of a word */
    const char *mac_name;
    double mac_energy;                  /* pJ per operation */
    double cycle;                       /* seconds of a cycle */
    bool priced;                        /* the energies are known */
    bool compared;                      /* what the source charges in another way is known, and reported */
    bool ok;                         /* no error was reported so far */
} dfl_tl_file;

/* ---- read.c, arch.c, tree.c, levels.c, mapping.c, constraints.c: false after reporting ---- */

bool dfl_tl_read_problem(dfl_tl_file *f);
bool dfl_tl_read_arch(dfl_tl_file *f);
bool dfl_tl_read_tree(dfl_tl_file *f);
/* Makes the levels of `n` > 1 components, the outermost first; the last one is the multiplier. */
bool dfl_tl_make_levels(dfl_tl_file *f, const dfl_tl_leaf *leaves, size_t n);
/* Whether the levels can be divided evenly over the levels outside of them. */
bool dfl_tl_check_levels(dfl_tl_file *f);
/* Sets the energies of the levels and multipliers to those of the run's tables. */
bool dfl_tl_read_energies(dfl_tl_file *f);
bool dfl_tl_read_mapping(dfl_tl_file *f);
bool dfl_tl_read_constraints(dfl_tl_file *f);
/* What mapping.c and constraints.c share: the level of a directive, sets of tensors, factors (0 = open), orders. */
dfl_tl_level *dfl_tl_target(dfl_tl_file *f, const dfl_yaml *directive);
bool dfl_tl_read_set(dfl_tl_file *f, const dfl_yaml *list, uint64_t *set);
/* Reports that no directive or constraint has the type. */
void dfl_tl_report_type(dfl_tl_file *f, dfl_span span, const char *type);
bool dfl_tl_read_order(dfl_tl_file *f, const dfl_yaml *at, uint32_t *order, uint32_t *n);
bool dfl_tl_read_factors(dfl_tl_file *f, const dfl_yaml *at, bool may_be_open, dfl_tl_factor *out);
/* The objective for a metric of the source's mapper; NULL for an unknown metric. */
const char *dfl_tl_metric(const dfl_yaml *at);

/* ---- keys.c, expression.c, values.c ---- */

/* Whether two keys are equal; `-` of `a` counts as `_`. */
bool dfl_tl_is_key(const char *a, const char *b);
/* Value of a key, where `-` and `_` are equal; NULL when the map lacks the key. */
const dfl_yaml *dfl_tl_get(const dfl_yaml *map, const char *key);
/* Value of an attribute of a node, or of the nodes around it; NULL when none has it, or the nearest one is null. */
const dfl_yaml *dfl_tl_attribute(const dfl_tl_scope *scope, const char *key);
/* Evaluates a number or an expression over the names of the file's scope; false without a report when it has no value.
   `*unknown` becomes the first name without a value, NULL = none; `unknown` may be NULL. */
bool dfl_tl_evaluate(dfl_tl_file *f, const dfl_yaml *at, double *out, const char **unknown);
/* Warns of keys that are none of the `n` known ones. */
void dfl_tl_look_at_keys(const dfl_tl_file *f, const dfl_yaml *map, const char *const *known, size_t n,
                         const char *of);
/* Reports the part of a map that says which values are zero and what that saves: the result counts all values. */
void dfl_tl_lose_sparse(dfl_tl_file *f, const dfl_yaml *map, const char *key);
/* Reports the first error of a run, and no further one. Returns false. */
bool dfl_tl_wrong(dfl_tl_file *f, dfl_code code, dfl_span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The text of a scalar; "" after reporting any other node as a missing `what` (E0701). */
const char *dfl_tl_text(dfl_tl_file *f, const dfl_yaml *at, dfl_span around, const char *what);
/* dfl_tl_number reads a number from 0 to 1e30, dfl_tl_count a whole number from `least` to 2^40; `fallback` if the node
   is NULL, or wrong and reported. */
double dfl_tl_number(dfl_tl_file *f, const dfl_yaml *at, double fallback);
int64_t dfl_tl_count(dfl_tl_file *f, const dfl_yaml *at, int64_t least, int64_t fallback);

/* The set of all tensors. */
uint64_t dfl_tl_all(const dfl_tl_file *f);

/* ---- reach.c ---- */

/* Length of a tile of the dimension: the product of its loops in all levels below `level`, and in the spatial loops of `level`
   if `with_spatial`. */
int64_t dfl_tl_tile(const dfl_tl_file *f, uint32_t dim, uint32_t level, bool with_spatial);
/* Elements of the dimension inside of the loops of the levels `inside`, `inside` + 1, ...: dfl_tl_tile, but at most the
   extent of the dimension. */
int64_t dfl_tl_extent(const dfl_tl_file *f, uint32_t dim, uint32_t inside);
/* Whether a full tile has gaps: fewer elements than the bounding box of the tile. */
bool dfl_tl_gaps(const dfl_tl_file *f, uint32_t tensor, uint32_t inside);
/* Instances of level k-1 (or multipliers) per instance of level k, along X and along Y. */
void dfl_tl_fan_out(const dfl_tl_file *f, uint32_t k, int64_t out[2]);
/* Instances below one instance of level k that the mapping uses: `*row` along X, `*all` in total. */
void dfl_tl_used(const dfl_tl_file *f, uint32_t k, int64_t *row, int64_t *all);
/* Whether two instances below the level hold the same tile of the tensor. */
bool dfl_tl_same_place(const dfl_tl_file *f, uint32_t tensor, uint32_t level, int64_t a, int64_t b);
/* Neighbours of an instance in the mesh below the level, by the rule of Timeloop, which numbers the used instances row by
   row and interprets the numbers as places in the whole mesh. Returns the number of neighbours, up to 4. */
uint32_t dfl_tl_neighbours(const dfl_tl_file *f, uint32_t level, int64_t id, int64_t out[4]);
/* How many multipliers below one instance of level 0 have a neighbour with the same element of the tensor. */
typedef enum { DFL_TL_LINKS_NONE, DFL_TL_LINKS_SOME, DFL_TL_LINKS_ALL, DFL_TL_LINKS_TOO_MANY } dfl_tl_links;
dfl_tl_links dfl_tl_inner_links(const dfl_tl_file *f, uint32_t tensor);

/* ---- charges.c ---- */

/* What the source counts for a tensor at a level, in words of one instance. */
typedef struct { double reads, fills, updates; } dfl_tl_counts;

/* Finds the counts of the source in closed form, by level; those of levels that do not hold the tensor mean nothing. False if
   they are unknown: for factors that do not divide, for directives that change counts, and for very large arrays. Transfers
   between neighbours are left out. */
bool dfl_tl_count_words(const dfl_tl_file *f, uint32_t tensor, dfl_tl_counts *out);
/* Takes tensors off the multicast of arrays in which Timeloop shares none of their tiles: those sets become `apart`. */
void dfl_tl_split_shares(dfl_tl_file *f);
/* Whether the result charges whole vectors at a level, as the source does: a mapping uses one instance of the level. */
bool dfl_tl_has_rows(const dfl_tl_file *f, uint32_t level);
/* Reports what the source charges for the mapping in another way than the result, with the amounts. */
void dfl_tl_compare_charges(dfl_tl_file *f);

/* ---- constraints.c, for holes.c ---- */

/* The loops that constraints write at a level, outermost first, in `out` with room for all dimensions; their number.
   `*open` = further dimensions may have loops outside of them, in any order. */
uint32_t dfl_tl_written(const dfl_tl_file *f, uint32_t level, bool spatial, uint32_t *out, bool *open);
/* Whether constraints leave some lines to the search. */
bool dfl_tl_is_open(const dfl_tl_file *f);

/* ---- timeloop.c, print.c ---- */

/* Parses the sources and reads all parts; false after reporting. */
bool dfl_tl_open(dfl_tl_file *f, dfl_loss_report *report, const dfl_source *const *sources, size_t n);
/* The file as .dfl text, not yet laid out. */
const char *dfl_tl_print(const dfl_tl_file *f, const dfl_source *main, const dfl_loss *losses, size_t n_losses);

#endif
