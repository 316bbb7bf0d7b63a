/*
 * MAESTRO's mapping files, between text and .dfl. A file is a list of layers; a layer has a type, sizes,
 * strides and a list of directives from outer to inner, cut into levels by `Cluster`. The parser keeps what
 * is written; sizes such as `Sz(R)` and constants are resolved when a layer is lowered, so that a layer
 * which inherits the dataflow of the one before it gets its own sizes.
 *
 * Separators (blanks, `,` `:` `;` `(` `)` `>`) mean nothing, as in the source's own reader. `-` belongs to
 * names, `{` and `}` may touch them, and CRLF line ends are fine.
 */
#ifndef DFL_IMPORT_MAESTRO_MAESTRO_H
#define DFL_IMPORT_MAESTRO_MAESTRO_H

#include "import/import.h"

typedef enum {
    DFL_MAESTRO_END,
    DFL_MAESTRO_WORD,
    DFL_MAESTRO_OPEN,
    DFL_MAESTRO_CLOSE
} dfl_maestro_token_kind;

typedef struct {
    dfl_maestro_token_kind kind;
    dfl_span span;
    const char *text; /* into the source; not terminated */
    size_t len;
} dfl_maestro_token;

typedef struct {
    const dfl_source *source;
    size_t at;
} dfl_maestro_lexer;

dfl_maestro_token dfl_maestro_next(dfl_maestro_lexer *lexer);
bool dfl_maestro_is(const dfl_maestro_token *token, const char *word);

/* Dimensions as they are written. */
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
    dfl_maestro_amount size, offset; /* Cluster: `size` only */
    dfl_maestro_dim dim;             /* maps */
    dfl_span dim_span;
} dfl_maestro_directive;

/* A size or a stride of one dimension; `given` says whether it is there. */
typedef struct {
    bool given;
    dfl_maestro_amount amount;
    dfl_span span; /* of the dimension's name */
} dfl_maestro_size;

typedef struct {
    const char *name; /* as written; "" when there is none */
    dfl_span name_span;
    dfl_layer_type type;
    dfl_span type_span;
    dfl_maestro_size dims[DFL_DIM_COUNT], strides[DFL_DIM_COUNT];
    const dfl_maestro_directive *directives; /* own or inherited */
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
    const char *network;                     /* of the first Network, or "" */
    DFL_VEC(dfl_maestro_constant) constants; /* by symbol; value 0 = not a constant */
    DFL_VEC(dfl_maestro_layer) layers;
} dfl_maestro_file;

/* Reports E0701, E0703, E0704, E0705 and goes on with the next layer; false when something was reported. */
bool dfl_maestro_parse(dfl_maestro_file *out, dfl_arena *arena, dfl_loss_report *report,
                       const dfl_source *source);

/* The machine; numbers that are not given are 0, `pes` and `lanes` have defaults. */
typedef struct {
    int64_t pes, lanes;
    int64_t noc_bandwidth, offchip_bandwidth; /* elements per cycle */
    int64_t noc_latency;                      /* cycles */
    int64_t l1_size, l2_size;                 /* elements; the source only warns when they are exceeded */
} dfl_maestro_hw;

/* `source` may be NULL. Reports E0701, E0705; unknown keys are losses. False when an error was reported. */
bool dfl_maestro_parse_hw(dfl_maestro_hw *out, dfl_loss_report *report, const dfl_source *source);

/* Decimal digits only, 1 .. 2^31 - 1; reports E0701 or E0705. */
bool dfl_maestro_number(dfl_loss_report *report, const dfl_maestro_token *token, int64_t *out);

#endif
