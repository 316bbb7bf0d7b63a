/*
 * What a layer means, between directives and text: a workload with its sizes, and per cluster level the
 * loops over tiles and the rank that is spread over the level's elements.
 *
 * Directives over the input's rows Y and columns X are turned into loops over the output's rows p and
 * columns q: a map of m rows under a kernel of R taps and stride s holds (m - R) / s + 1 output rows. A
 * `SpatialMap(m, o) V` on P elements is a temporal tile of P parts, each on one element. Two maps that move
 * together are a split of the kernel's taps when they are Y with R or X with S (element i gets row i and
 * tap i, so the output row stays), and are refused otherwise: they would leave most of the work out.
 */
#ifndef DFL_IMPORT_MAESTRO_PLAN_H
#define DFL_IMPORT_MAESTRO_PLAN_H

#include "import/maestro/maestro.h"

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

/* One cluster level: loops over tiles, then at most one rank spread over the level's elements. */
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
    int64_t size[DFL_DIM_COUNT]; /* resolved; 0 = the workload has no such dimension */
    int64_t stride_y, stride_x;
    int64_t extent[DFL_RANK_COUNT]; /* 0 = no such rank */
    dfl_maestro_level *levels;      /* outer first */
    size_t n_levels;
    dfl_maestro_loop leaf[DFL_RANK_COUNT]; /* inside one processing element, tiles of 1 */
    size_t n_leaf;
    dfl_loss *losses;
    size_t n_losses;
} dfl_maestro_plan;

/* Where the layer gives a dimension, or the other one that stands for it. */
dfl_span dfl_maestro_dim_span(const dfl_maestro_layer *layer, dfl_maestro_dim dim, dfl_maestro_dim other);

/* An amount in numbers, for the sizes of the plan's layer; reports E0701, E0703. */
bool dfl_maestro_resolve(const dfl_maestro_plan *plan, dfl_loss_report *report,
                         const dfl_maestro_file *file, const dfl_maestro_amount *amount, int64_t *out);

/* Fills in workload, sizes and strides of a plan that has its layer; reports E0701, E0703 and losses. */
bool dfl_maestro_sizes(dfl_maestro_plan *plan, dfl_loss_report *report, const dfl_maestro_file *file);

/* Reports errors and losses, which stay in the report for the caller to take; false when the layer cannot
 * be taken over. */
bool dfl_maestro_lower(dfl_maestro_plan *out, dfl_loss_report *report, const dfl_maestro_file *file,
                       const dfl_maestro_layer *layer, const dfl_maestro_hw *hw);

/* The .dfl text of all plans; `losses` are those of the file itself. */
char *dfl_maestro_print(dfl_arena *arena, dfl_loss_report *report, const dfl_maestro_file *file,
                        const dfl_maestro_hw *hw, const dfl_source *hw_source, const dfl_loss *losses,
                        size_t n_losses, const dfl_maestro_plan *plans, size_t n_plans);

#endif
