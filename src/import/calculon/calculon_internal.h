/* A run of Calculon between its files and .dfl text. */
#ifndef DFL_IMPORT_CALCULON_CALCULON_INTERNAL_H
#define DFL_IMPORT_CALCULON_CALCULON_INTERNAL_H

#include "import/losses.h"
#include "import/yaml.h"
#include "support/strbuf.h"

/* How the chips of a layer exchange values: all-reduces; reduce-scatters and all-gathers in the last layer of a chunk alone; in
   all layers, with the sequence divided between them (sequence parallel). */
typedef enum { DFL_CALC_ALL_REDUCE, DFL_CALC_MIXED, DFL_CALC_SPLIT } dfl_calc_exchange;

/* Whether a product runs in tiles beside the exchange of its operand or result; `pipe` pays one tile of the exchange more. */
typedef enum { DFL_CALC_NO_TILES, DFL_CALC_RING, DFL_CALC_PIPE } dfl_calc_tiles;

/* An operation of a network as Calculon computes it: latency + bytes x factor / rate. */
typedef struct {
    int64_t network;         /* index in the system */
    double latency, rate;    /* s, bytes/s */
    double use;              /* share of the work of a chip that an exchange takes */
    double all_reduce, reduce_scatter, all_gather, p2p; /* factors of the bytes, for the chips of the dimension */
} dfl_calc_link;

/* The network of one dimension of the run. */
typedef struct {
    double rate;     /* GB/s of a chip in one direction, such that the algorithm `direct` takes the time of Calculon */
    double overhead; /* s, paid before the first message and after each */
} dfl_calc_network;

typedef struct {
    const dfl_yaml *execution;                   /* the file of the execution */
    int64_t hidden, feedforward, seq, heads, head, layers;
    int64_t tensor, pipeline, data;              /* chips of each dimension */
    int64_t batch, micro;                        /* sequences of the step, and of a micro-batch of one copy */
    int64_t interleave;
    bool trains, shards_moments;
    dfl_calc_exchange exchange;
    bool gathers_again;                          /* in the backward pass, what the sequence divides */
    bool has_one_key;                            /* attention with one key and value for all heads */
    bool is_fused;                               /* the function between the products of a layer keeps nothing */
    const char *recompute;                       /* full, attn_only or none */
    const char *type;                            /* of DFL */
    int64_t bytes;                               /* of a value */
    double matrix, vector;                       /* TFLOP/s */
    const dfl_yaml *matrix_shares, *vector_shares, *memory_shares; /* lists of [threshold, share], descending */
    double memory_size, memory_rate;             /* GiB, GB/s */
    bool overlaps;                               /* the longer one of work and transfers, not their sum */
    dfl_calc_network on_tensor, on_pipeline, on_data;
    dfl_calc_tiles tile_overlap;
    bool hides_gradients;                        /* they are exchanged beside the backward pass */
    bool moves_weights, moves_activations, moves_optimizer; /* to and from the second memory */
    const dfl_yaml *outer_shares;
    double outer_size, outer_rate, outer_room;   /* of the second memory (GiB, GB/s); bytes for what the text keeps there */
    dfl_calc_link tensor_link, stage_link, data_link;
    /* ---- derived */
    int64_t stage_layers, chunk_layers;          /* of the largest stage, and of one of its chunks */
    int64_t stages, written_layers;              /* of the text: stages with layers; layers of its `repeat` */
    double in_flight;                            /* micro-batches that the first stage of the text holds at once */
    double message_bytes;                        /* between stages, one way */
    double pace;                                 /* share of its time that a layer takes in the text: 1, or below where Calculon
                                                    takes the layers that are missing in some stages off the sum */
} dfl_calc_run;

/* What Calculon counts of an operation of a layer, on one chip for one micro-batch. */
typedef struct {
    const char *name;
    double work[3], bytes[3];  /* forward, gradients of operands, gradients of weights: operations, bytes moved */
    double kept, gradient, result; /* bytes: operands for the backward pass, their gradients, results */
    double weights;            /* values */
    bool is_matrix;            /* runs on the matrix unit */
    bool is_exchange;          /* the buffers of an exchange among the chips of a layer */
    bool sums;                 /* an exchange: its values are summed forward, else their gradients */
    bool is_repeated;          /* in the backward pass */
    bool is_kept, keeps_result, is_reused; /* `kept` stays until the backward pass; so does the result; another operation counts
                                              `kept` already */
} dfl_calc_operation;

enum { DFL_CALC_OPERATIONS = 24 };

/*
 * The tiles in which the text runs a product beside its exchange: `n` of `parts` equal parts. A chip begins with its own part,
 * which needs no exchange: `own` einsums of a part. Two chips halve the parts, since a loop has two iterations or more.
 */
typedef struct { int64_t parts, n, own, tokens; } dfl_calc_tiling;

/* The text of the operations of a layer: declarations and einsums, and the names that other parts of the file list. */
typedef struct {
    const dfl_calc_run *run;
    dfl_strbuf ops, chain;               /* declarations, and einsums of the layer */
    dfl_strbuf matrix, vector, port;     /* operations of each unit, as ", a, b" */
    dfl_strbuf tiled, tiled_port;        /* of tiles: products with what their exchanges take of the chip; their transfers */
    dfl_strbuf braces;                   /* lines of the mapping: the loops over tiles of the forward pass */
    const char *back;                    /* those of the backward pass, in its order */
    dfl_strbuf again;                    /* tensors that the backward pass makes again */
    const char *last;                    /* tensor at the end of the chain */
} dfl_calc_text;

/* Bytes on a chip of the largest stage. */
typedef struct {
    double stored;             /* of a layer for each micro-batch in flight */
    double working;            /* of one layer at a time */
    double gradients;          /* of the weights of a layer */
    double layer_stored, layer_gradients, layer_state; /* of one layer: for one micro-batch; of its weights, in parts */
} dfl_calc_memory;

/* The operations of a layer in their order. Returns their number. */
size_t dfl_calc_operations(const dfl_calc_run *run, dfl_calc_operation out[DFL_CALC_OPERATIONS]);
dfl_calc_memory dfl_calc_memory_of(const dfl_calc_run *run);
/* Reads and checks the files: application, execution, system. False after a report. */
bool dfl_calc_read(dfl_calc_run *run, dfl_loss_report *report, const dfl_source *const *sources);
/* Whether products run in tiles beside their exchanges. */
bool dfl_calc_has_tiles(const dfl_calc_run *run);
dfl_calc_tiling dfl_calc_tiling_of(const dfl_calc_run *run);
/* Time of an exchange among the chips of a layer: summed or gathered, by the way of the layers inside of a chunk. */
double dfl_calc_exchange_seconds(const dfl_calc_run *run, bool reduces);
/* Declares an operation of one value and its derivative with these counts, for a unit. */
void dfl_calc_print_op(dfl_calc_text *t, dfl_strbuf *unit, const char *name, const char *unit_name, const double counts[2]);
/* Adds a product in tiles, with the products of shapes whose exchange runs beside it. Its result ends the chain. False = the
   operation is no such product. */
bool dfl_calc_print_tiles(dfl_calc_text *t, dfl_arena *arena, const dfl_calc_operation *o);
/* The share that work of the size `at` reaches. */
double dfl_calc_share(const dfl_yaml *shares, double at);
/* The text of the run, not yet in the layout of the formatter. `losses` stand above the mapping. */
char *dfl_calc_print(const dfl_calc_run *run, const dfl_loss_report *report, const dfl_source *main, const dfl_loss *losses,
                     size_t n_losses);

#endif
