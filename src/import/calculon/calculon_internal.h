/* A run of Calculon between its files and .dfl text. */
#ifndef DFL_IMPORT_CALCULON_CALCULON_INTERNAL_H
#define DFL_IMPORT_CALCULON_CALCULON_INTERNAL_H

#include "import/losses.h"
#include "import/yaml.h"

typedef enum { DFL_CALC_ALL_REDUCE, DFL_CALC_SCATTER_GATHER, DFL_CALC_SEND } dfl_calc_exchange;

/* The network of one dimension of the run. */
typedef struct {
    double rate;     /* GB/s of a chip in one direction, such that the algorithm `direct` takes the time of Calculon */
    double overhead; /* s, paid before the first message and after each */
} dfl_calc_network;

typedef struct {
    int64_t hidden, feedforward, seq, heads, head, layers;
    int64_t tensor, pipeline, data;              /* chips of each dimension */
    int64_t batch, micro;                        /* sequences of the step, and of a micro-batch of one copy */
    int64_t interleave;
    bool trains, shards_moments, splits_sequence; /* splits_sequence: sequence parallel */
    bool has_one_key;                            /* attention with one key and value for all heads */
    const char *recompute;                       /* full, attn_only or none */
    const char *type;                            /* of DFL */
    double matrix, vector;                       /* TFLOP/s */
    const dfl_yaml *matrix_shares, *vector_shares, *memory_shares; /* lists of [threshold, share], descending */
    double memory_size, memory_rate;             /* GiB, GB/s */
    bool overlaps;                               /* the longer one of work and transfers, not their sum */
    dfl_calc_network on_tensor, on_pipeline, on_data;
} dfl_calc_run;

/* Reads and checks the files: application, execution, system. False after a report. */
bool dfl_calc_read(dfl_calc_run *run, dfl_loss_report *report, const dfl_source *const *sources);
/* The text of the run, not yet in the layout of the formatter. `losses` stand above the mapping. */
char *dfl_calc_print(const dfl_calc_run *run, const dfl_loss_report *report, const dfl_source *main, const dfl_loss *losses,
                     size_t n_losses);

#endif
