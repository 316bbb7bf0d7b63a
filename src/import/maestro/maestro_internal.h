/*
 * The intermediate form of a mapping file of MAESTRO, between text and .dfl. A file is a list of layers. A layer has a
 * type, sizes, strides and a list of directives from outer to inner, which `Cluster` divides into levels. The parser
 * keeps amounts as written. Sizes such as `Sz(R)` and constants are resolved when a layer is lowered, so that a layer
 * that inherits the directives of the layer before it uses its own sizes.
 *
 * Separators (blanks, `,` `:` `;` `(` `)` `>`) mean nothing, as in the source's own reader. `-` belongs to names, `{` and
 * `}` need no blank between them and a name, and lines may end in CRLF.
 */
#ifndef DFL_IMPORT_MAESTRO_MAESTRO_INTERNAL_H
#define DFL_IMPORT_MAESTRO_MAESTRO_INTERNAL_H

#include "import/losses.h"

typedef enum {
    DFL_MAESTRO_END,
    DFL_MAESTRO_WORD,
    DFL_MAESTRO_OPEN,
    DFL_MAESTRO_CLOSE
} dfl_maestro_token_kind;

typedef struct {
    dfl_maestro_token_kind kind;
    dfl_span span;
    const char *text; /* in the source, not NUL-terminated */
    size_t len;
} dfl_maestro_token;

typedef struct {
    const dfl_source *source;
    size_t at;
} dfl_maestro_lexer;

dfl_maestro_token dfl_maestro_next(dfl_maestro_lexer *lexer);
bool dfl_maestro_is(const dfl_maestro_token *token, const char *word);

/* Dimensions, as the source writes them. */
typedef enum {
    DFL_DIM_N,
    DFL_DIM_G,
    DFL_DIM_K,
    DFL_DIM_C,
    DFL_DIM_R,
    DFL_DIM_S,
    DFL_DIM_Y,
    DFL_DIM_X,
    DFL_DIM_Y_OUT,
    DFL_DIM_X_OUT,
    DFL_DIM_M,
    DFL_DIM_COUNT,
} dfl_maestro_dim;

const char *dfl_maestro_dim_text(dfl_maestro_dim dim);

typedef enum {
    DFL_LAYER_CONV,
    DFL_LAYER_DSCONV,
    DFL_LAYER_NGCONV,
    DFL_LAYER_TRCONV,
    DFL_LAYER_GEMM
} dfl_layer_type;

/* An amount: a number, a constant's name, or Sz(DIM). */
typedef enum { DFL_AMOUNT_NUMBER, DFL_AMOUNT_CONSTANT, DFL_AMOUNT_SIZE_OF } dfl_amount_kind;

typedef struct {
    dfl_amount_kind kind;
    dfl_span span;
    int64_t value;       /* NUMBER */
    dfl_sym constant;    /* CONSTANT */
    dfl_maestro_dim dim; /* SIZE_OF */
} dfl_maestro_amount;

typedef enum { DFL_DIRECTIVE_TEMPORAL, DFL_DIRECTIVE_SPATIAL, DFL_DIRECTIVE_CLUSTER } dfl_directive_kind;

typedef struct {
    dfl_directive_kind kind;
    dfl_span span;                   /* from the directive's name to its last word */
    dfl_maestro_amount size, offset; /* Cluster uses `size` only */
    dfl_maestro_dim dim;             /* maps */
    dfl_span dim_span;
} dfl_maestro_directive;

/* A size or a stride of one dimension; `given` is false for one that is absent. */
typedef struct {
    bool given;
    dfl_maestro_amount amount;
    dfl_span span; /* place of the dimension's name */
} dfl_maestro_size;

typedef struct {
    const char *name; /* name as written; "" for a layer without a name */
    dfl_span name_span;
    dfl_layer_type type;
    dfl_span type_span;
    dfl_maestro_size dims[DFL_DIM_COUNT], strides[DFL_DIM_COUNT];
    const dfl_maestro_directive *directives; /* directives of the layer, or of the layer before if `inherited` */
    size_t n_directives;
    bool inherited;
} dfl_maestro_layer;

typedef struct {
    int64_t value;
    dfl_span span;
} dfl_maestro_constant;

typedef struct {
    const dfl_source *source;
    dfl_intern *names;
    const char *network;                     /* name of the first Network, or "" */
    DFL_VEC(dfl_maestro_constant) constants; /* indexed by symbol; value 0 = the symbol is not a constant */
    DFL_VEC(dfl_maestro_layer) layers;
} dfl_maestro_file;

/* Reports E0701, E0703, E0704, E0705 and goes on with the next layer; false when something was reported. */
bool dfl_maestro_parse(dfl_maestro_file *out, dfl_arena *arena, dfl_loss_report *report,
                       const dfl_source *source);

/* The machine. Absent numbers are 0, except `pes` and `lanes`, which have defaults. */
typedef struct {
    int64_t pes, lanes;
    int64_t noc_bandwidth, offchip_bandwidth; /* elements per cycle */
    int64_t noc_latency;                      /* cycles */
    int64_t l1_size, l2_size;                 /* elements; the source only warns when they are exceeded */
} dfl_maestro_hw;

/* Parses a hardware file; `source` is NULL if there is no file, and `out` then holds the defaults. Reports E0701,
   E0705; unknown keys are losses. False after an error. */
bool dfl_maestro_parse_hw(dfl_maestro_hw *out, dfl_loss_report *report, const dfl_source *source);

/* Reads a whole number from 1 to 2^31 - 1, decimal digits only. Reports E0701 or E0705. */
bool dfl_maestro_number(dfl_loss_report *report, const dfl_maestro_token *token, int64_t *out);

/* ---- plans ---- */

/*
 * A plan is the meaning of a layer: a workload with its sizes and, per cluster level, the loops over tiles and the rank that
 * is spatial over the elements of the level.
 *
 * Directives over the rows Y and columns X of the input become loops over the rows p and columns q of the output: a map of m
 * rows under a kernel of R taps and stride s holds (m - R) / s + 1 output rows. A `SpatialMap(m, o) V` on P elements is a
 * temporal tile of P parts, one on each element. Two spatial maps that move together are a split of the kernel's taps if they
 * are Y with R or X with S: element i gets row i and tap i, so the output row stays. Any other pair is refused, since it would
 * leave most of the work undone.
 */
/* Ranks of the workloads, in the order in which a processing element finishes them. */
typedef enum {
    DFL_RANK_N,
    DFL_RANK_G,
    DFL_RANK_M,
    DFL_RANK_K,
    DFL_RANK_C,
    DFL_RANK_P,
    DFL_RANK_Q,
    DFL_RANK_R,
    DFL_RANK_S,
    DFL_RANK_COUNT,
} dfl_maestro_rank;

typedef enum {
    DFL_WORKLOAD_CONV,
    DFL_WORKLOAD_DSCONV,
    DFL_WORKLOAD_NGCONV,
    DFL_WORKLOAD_GEMM,
    DFL_WORKLOAD_COUNT
} dfl_maestro_workload;

typedef struct {
    dfl_maestro_rank rank;
    int64_t tile;
} dfl_maestro_loop;

/* One cluster level: loops over tiles, then at most one rank that is spatial over the elements of the level. */
typedef struct {
    dfl_maestro_loop temporal[DFL_RANK_COUNT];
    size_t n_temporal;
    bool spreads;
    dfl_maestro_loop spatial;
    int64_t elements;
} dfl_maestro_level;

typedef struct {
    const dfl_maestro_layer *layer;
    dfl_maestro_workload workload;
    int64_t size[DFL_DIM_COUNT]; /* sizes as numbers; 0 = the workload lacks the dimension */
    int64_t stride_y, stride_x;
    int64_t extent[DFL_RANK_COUNT]; /* extents of the ranks; 0 = the workload lacks the rank */
    dfl_maestro_level *levels;      /* outer first */
    size_t n_levels;
    dfl_maestro_loop leaf[DFL_RANK_COUNT]; /* loops inside one processing element, all over tiles of 1 */
    size_t n_leaf;
    dfl_loss *losses;
    size_t n_losses;
} dfl_maestro_plan;

/* The place where the layer gives the size of dimension `dim`, or of `other` if the layer gives that one instead. */
dfl_span dfl_maestro_dim_span(const dfl_maestro_layer *layer, dfl_maestro_dim dim, dfl_maestro_dim other);

/* Resolves an amount with the sizes of the plan's layer. Reports E0701, E0703. */
bool dfl_maestro_resolve(const dfl_maestro_plan *plan, dfl_loss_report *report,
                         const dfl_maestro_file *file, const dfl_maestro_amount *amount, int64_t *out);

/* Fills in workload, sizes and strides of a plan that has its layer; reports E0701, E0703 and losses. */
bool dfl_maestro_sizes(dfl_maestro_plan *plan, dfl_loss_report *report, const dfl_maestro_file *file);

/* Makes the plan of a layer. Losses stay in the report for the caller; false after an error. */
bool dfl_maestro_lower(dfl_maestro_plan *out, dfl_loss_report *report, const dfl_maestro_file *file,
                       const dfl_maestro_layer *layer, const dfl_maestro_hw *hw);

/* The .dfl text of all plans; `losses` are those of the file itself. */
char *dfl_maestro_print(dfl_arena *arena, dfl_loss_report *report, const dfl_maestro_file *file,
                        const dfl_maestro_hw *hw, const dfl_source *hw_source, const dfl_loss *losses,
                        size_t n_losses, const dfl_maestro_plan *plans, size_t n_plans);

#endif
