/* Lowers the directives of a layer to loops over the ranks of its workload. */
#include <string.h>

#include "import/maestro/maestro_internal.h"
#include "support/checked.h"
#include "support/limits.h"

/* Most iterations of a layer: all its counts then fit 128 bits. */
#define MOST_POINTS 0x1p100

typedef struct {
    dfl_maestro_plan *plan;
    dfl_loss_report *report;
    const dfl_maestro_file *file;
    const dfl_maestro_layer *layer;
    int64_t start[DFL_RANK_COUNT];  /* extents of the tile of the present level, iterations by rank */
    int64_t extent[DFL_RANK_COUNT]; /* extents of the tile below the loops made so far, iterations by rank */
} lowering;

/* A map of the present level with its amounts resolved. */
typedef struct {
    const dfl_maestro_directive *directive; /* NULL = the rank has no map at this level */
    int64_t size, offset;
} level_map;

static const char *dim_text(const level_map *map)
{
    return dfl_maestro_dim_text(map->directive->dim);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool resolve(lowering *l, const dfl_maestro_amount *a, int64_t *out)
{
    return dfl_maestro_resolve(l->plan, l->report, l->file, a, out);
}

/* The rank of a dimension. */
static dfl_maestro_rank rank_of(dfl_maestro_dim dim)
{
    static const dfl_maestro_rank ranks[DFL_DIM_COUNT] = {
        [DFL_DIM_N] = DFL_RANK_N,     [DFL_DIM_G] = DFL_RANK_G, [DFL_DIM_K] = DFL_RANK_K,
        [DFL_DIM_C] = DFL_RANK_C,     [DFL_DIM_R] = DFL_RANK_R, [DFL_DIM_S] = DFL_RANK_S,
        [DFL_DIM_Y] = DFL_RANK_P,     [DFL_DIM_X] = DFL_RANK_Q, [DFL_DIM_Y_OUT] = DFL_RANK_P,
        [DFL_DIM_X_OUT] = DFL_RANK_Q, [DFL_DIM_M] = DFL_RANK_M,
    };

    return ranks[dim];
}

static void set_extents(lowering *l)
{
    for (int i = 0; i < DFL_DIM_COUNT; i++) {
        if (i != DFL_DIM_Y && i != DFL_DIM_X && l->plan->size[i] != 0)
            l->extent[rank_of((dfl_maestro_dim)i)] = l->plan->size[i];
    }
    memcpy(l->plan->extent, l->extent, sizeof l->extent);
}

/* ---- one level ---- */

static bool over_input(const level_map *m)
{
    return m->directive->dim == DFL_DIM_Y || m->directive->dim == DFL_DIM_X;
}

static dfl_maestro_rank kernel_of(dfl_maestro_rank rank)
{
    return rank == DFL_RANK_P ? DFL_RANK_R : DFL_RANK_S;
}

static int64_t stride_of(const lowering *l, dfl_maestro_rank rank)
{
    return rank == DFL_RANK_P ? l->plan->stride_y : l->plan->stride_x;
}

/* Whether the first position of the map covers the whole tile of the level. */
static bool covers(const lowering *l, const level_map *m)
{
    dfl_maestro_rank rank = rank_of(m->directive->dim);
    int64_t extent = l->start[rank];

    if (over_input(m))
        extent = (extent - 1) * stride_of(l, rank) + l->start[kernel_of(rank)];
    return m->size >= extent;
}

static void lose_overlap(lowering *l, const level_map *m, int64_t tile, const char *of)
{
    dfl_lose(l->report, DFL_FOREIGN_OVERLAP, m->directive->span,
             "tiles of `%s` overlap, so work would be done twice: imported as tiles of %lld%s", dim_text(m),
             (long long)tile, of);
}

static void lose_gap(lowering *l, const level_map *m, int64_t tile, const char *of)
{
    dfl_lose(l->report, DFL_FOREIGN_GAP, m->directive->span,
             "tiles of `%s` leave gaps, so work would be missing: imported as tiles of %lld%s", dim_text(m),
             (long long)tile, of);
}

/* Converts the tile of a map over input rows (columns) to output rows (columns), for a kernel of `taps` taps. */
static int64_t window_tile(lowering *l, const level_map *m, int64_t taps)
{
    dfl_maestro_rank rank = rank_of(m->directive->dim);
    const char *of = rank == DFL_RANK_P ? " output rows" : " output columns";
    int64_t stride = stride_of(l, rank), outputs;

    if (m->size < taps) {
        dfl_lose(l->report, DFL_FOREIGN_REARRANGED, m->directive->span,
                 "%lld of `%s` complete no output of a kernel of %lld: imported as one output at a time",
                 (long long)m->size, dim_text(m), (long long)taps);
        return 1;
    }
    outputs = (m->size - taps) / stride + 1;
    if (stride == 1 && m->offset < outputs) {
        lose_overlap(l, m, m->offset, of);
        return m->offset;
    }
    if (stride == 1 && m->offset > outputs)
        lose_gap(l, m, outputs, of);
    else if (m->offset != outputs && m->offset != outputs * stride)
        dfl_lose(l->report, DFL_FOREIGN_REARRANGED, m->directive->span,
                 "the offset %lld of `%s` does not fit the stride: imported as %lld, for tiles of %lld%s",
                 (long long)m->offset, dim_text(m), (long long)(outputs * stride), (long long)outputs, of);
    return outputs;
}

/* The tile of a map in iterations of its rank; the present tile if the map covers it. */
static int64_t tile_of(lowering *l, const level_map *m, int64_t taps)
{
    int64_t extent = l->extent[rank_of(m->directive->dim)], tile;

    if (covers(l, m))
        return extent;
    if (over_input(m))
        return least(window_tile(l, m, taps), extent);
    tile = least(m->size, m->offset);
    if (m->offset < m->size)
        lose_overlap(l, m, tile, "");
    else if (m->offset > m->size)
        lose_gap(l, m, tile, "");
    return least(tile, extent);
}

static void add_temporal(lowering *l, dfl_maestro_level *level, dfl_maestro_rank rank, int64_t tile)
{
    if (tile < l->extent[rank]) {
        level->temporal[level->n_temporal++] = (dfl_maestro_loop){ rank, tile };
        l->extent[rank] = tile;
    }
}

/* Adds a temporal loop over tiles for all elements, then a spatial loop with one tile per element. Loops of one iteration are
   left out. */
static void add_spatial(lowering *l, dfl_maestro_level *level, const level_map *m, int64_t tile)
{
    dfl_maestro_rank rank = rank_of(m->directive->dim);
    int64_t all, busy;

    if (!__builtin_mul_overflow(level->elements, tile, &all) && all < l->extent[rank]) {
        busy = dfl_ceil_div(l->extent[rank] % all, tile);
        if (busy > 0 && busy < level->elements)
            dfl_loss_remark(
                l->report, m->directive->span,
                "%lld of %lld elements are idle in the last fold of `%s`",
                (long long)(level->elements - busy), (long long)level->elements, dim_text(m));
        add_temporal(l, level, rank, all);
    }
    if (tile >= l->extent[rank])
        return;
    level->spreads = true;
    level->spatial = (dfl_maestro_loop){ rank, tile };
    l->extent[rank] = tile;
}

/* Whether a second map of a dimension has no effect because its size covers the whole tile of the first map. */
static bool repeats(lowering *l, const level_map *first, const level_map *second)
{
    dfl_diag *diag;

    if (first->directive->dim == second->directive->dim &&
        second->directive->kind == DFL_DIRECTIVE_TEMPORAL && second->size >= first->size)
        return true;
    diag = dfl_report(l->report->sink, DFL_FOREIGN_DIMENSION, second->directive->dim_span,
                      "`%s` is mapped twice in one cluster level", dim_text(second));
    dfl_diag_label(l->report->sink, diag, first->directive->dim_span, "first mapped here");
    return false;
}

/* Collects the maps of a level by rank. */
static bool collect(lowering *l, const dfl_maestro_directive *first, size_t n,
                    level_map maps[DFL_RANK_COUNT])
{
    for (size_t i = 0; i < n; i++) {
        const dfl_maestro_directive *d = &first[i];
        level_map m = { .directive = d }, *slot = &maps[rank_of(d->dim)];

        if (!resolve(l, &d->size, &m.size) || !resolve(l, &d->offset, &m.offset))
            return false;
        if (l->extent[rank_of(d->dim)] == 0) {
            if (!l->layer->dims[d->dim].given)
                dfl_lose(l->report, DFL_FOREIGN_IGNORED, d->span,
                         "the map of `%s` is omitted: the layer has no such dimension",
                         dfl_maestro_dim_text(d->dim));
            continue;
        }
        if (slot->directive != NULL && !repeats(l, slot, &m))
            return false;
        if (slot->directive != NULL)
            continue;
        *slot = m;
    }
    return true;
}

/* Whether two maps move along one diagonal: rows with taps, or columns with taps. */
static bool is_diagonal(const level_map *window, const level_map *taps)
{
    return over_input(window) &&
           rank_of(taps->directive->dim) == kernel_of(rank_of(window->directive->dim)) &&
           window->offset == taps->offset;
}

static bool refuse_double(lowering *l, const level_map *a, const level_map *b)
{
    dfl_sink *sink = l->report->sink;
    dfl_diag *d = dfl_report(sink, DFL_FOREIGN_DOUBLE_MAP, b->directive->span,
                             "`%s` and `%s` move together, so most of their combinations would be missing",
                             dim_text(a), dim_text(b));

    dfl_diag_label(sink, d, a->directive->span, "moves together with this one");
    dfl_diag_help(
        sink, d,
        "rows with taps (Y and R, or X and S, with one offset) may move together; put other pairs "
        "into two cluster levels");
    return false;
}

/* Lowers a diagonal to a split of the taps: element i gets row i and tap i of every fold, so all elements of a fold
   compute one output. Further output rows of the tile become a temporal loop. */
static void add_diagonal_window(lowering *l, dfl_maestro_level *level, const level_map *window,
                                const level_map *taps)
{
    dfl_maestro_rank rank = rank_of(window->directive->dim);
    int64_t held = least(taps->size, taps->offset);
    int64_t tile = window->size >= held ? (window->size - held) / stride_of(l, rank) + 1 : 1;

    if (tile < l->extent[rank])
        dfl_lose(l->report, DFL_FOREIGN_REARRANGED, window->directive->span,
                 "`%s` and `%s` move together, but the tile has %lld outputs: imported as one tile after another",
                 dim_text(window), dim_text(taps), (long long)l->extent[rank]);
    add_temporal(l, level, rank, tile);
}

/* Finds the spatial maps with more than one position, in order; stops at three, since a level can express two at most. */
static size_t find_spatial(const lowering *l, const dfl_maestro_directive *first, size_t n,
                           const level_map maps[DFL_RANK_COUNT], const level_map *found[3])
{
    size_t count = 0;

    for (size_t i = 0; i < n && count < 3; i++) {
        const level_map *m = &maps[rank_of(first[i].dim)];

        if (m->directive == &first[i] && m->directive->kind == DFL_DIRECTIVE_SPATIAL && !covers(l, m))
            found[count++] = m;
    }
    return count;
}

/* Number of kernel taps that all elements of the level together process in one step. */
static int64_t taps_of(const lowering *l, const dfl_maestro_level *level,
                       const level_map maps[DFL_RANK_COUNT], dfl_maestro_rank kernel)
{
    const level_map *m = &maps[kernel];
    int64_t taps;

    if (m->directive == NULL || covers(l, m))
        return l->start[kernel];
    taps = least(m->size, m->offset);
    if (m->directive->kind == DFL_DIRECTIVE_SPATIAL && __builtin_mul_overflow(taps, level->elements, &taps))
        return l->start[kernel];
    return least(taps, l->start[kernel]);
}

static bool lower_level(lowering *l, dfl_maestro_level *level, const dfl_maestro_directive *first, size_t n)
{
    level_map maps[DFL_RANK_COUNT] = { { 0 } };
    const level_map *spatial[3] = { NULL }, *window = NULL, *taps = NULL;
    int64_t taps_r, taps_s;
    size_t n_spatial;

    memcpy(l->start, l->extent, sizeof l->start);
    if (!collect(l, first, n, maps))
        return false;
    n_spatial = find_spatial(l, first, n, maps, spatial);
    if (n_spatial > 2)
        return refuse_double(l, spatial[0], spatial[2]);
    if (n_spatial == 2) {
        bool forward = is_diagonal(spatial[0], spatial[1]);

        if (!forward && !is_diagonal(spatial[1], spatial[0]))
            return refuse_double(l, spatial[0], spatial[1]);
        window = spatial[forward ? 0 : 1];
        taps = spatial[forward ? 1 : 0];
    }
    taps_r = taps_of(l, level, maps, DFL_RANK_R);
    taps_s = taps_of(l, level, maps, DFL_RANK_S);
    for (size_t i = 0; i < n; i++) {
        const level_map *m = &maps[rank_of(first[i].dim)];
        dfl_maestro_rank rank = rank_of(first[i].dim);
        int64_t tile;

        if (m->directive != &first[i])
            continue;
        if (m == window) {
            add_diagonal_window(l, level, window, taps);
            continue;
        }
        tile = tile_of(l, m, rank == DFL_RANK_P ? taps_r : taps_s);
        if (m == spatial[0] || m == spatial[1])
            add_spatial(l, level, m, tile);
        else
            add_temporal(l, level, rank, tile);
    }
    return true;
}

/* Reports a layer whose counts might not fit 128 bits. */
static bool check_extents(const lowering *l)
{
    double points = 1;

    for (int i = 0; i < DFL_RANK_COUNT; i++)
        points *= l->extent[i] > 0 ? (double)l->extent[i] : 1;
    /* an input has at most stride_y * stride_x elements per output element; strides are below 2^31 */
    points *= (double)l->plan->stride_y * (double)l->plan->stride_x;
    if (points <= MOST_POINTS)
        return true;
    dfl_diag_help(l->report->sink,
                  dfl_report(l->report->sink, DFL_FOREIGN_RANGE, l->layer->name_span,
                             "layer `%s` is too large to count", l->layer->name),
                  "its sizes multiply to more than 2^100");
    return false;
}

/* ---- all levels ---- */

static bool has_spatial_map(const dfl_maestro_directive *first, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (first[i].kind == DFL_DIRECTIVE_SPATIAL)
            return true;
    }
    return false;
}

/* Sets the number of elements of each level: the sizes of the clusters, and at the top level as many clusters as fit
   the processing elements. */
static bool count_elements(lowering *l, const dfl_maestro_hw *hw, dfl_maestro_level *levels)
{
    const dfl_maestro_layer *layer = l->layer;
    int64_t unit = 1;
    size_t level = 0;

    for (size_t i = 0; i < layer->n_directives; i++) {
        const dfl_maestro_directive *d = &layer->directives[i];
        int64_t size;

        if (d->kind != DFL_DIRECTIVE_CLUSTER)
            continue;
        if (!resolve(l, &d->size, &size))
            return false;
        levels[++level].elements = size;
        if (__builtin_mul_overflow(unit, size, &unit) || unit > hw->pes) {
            dfl_diag *diag = dfl_report(
                l->report->sink, DFL_FOREIGN_TOO_FEW_ELEMENTS, d->span,
                "clusters of layer `%s` need more than the %lld processing elements there are", layer->name,
                (long long)hw->pes);

            dfl_diag_help(l->report->sink, diag, "give a hardware file with a larger `num_pes`");
            return false;
        }
    }
    levels[0].elements = hw->pes / unit;
    if (hw->pes % unit != 0)
        dfl_loss_remark(l->report, layer->name_span,
                        "%lld of %lld processing elements are unused: a cluster takes %lld",
                        (long long)(hw->pes % unit), (long long)hw->pes, (long long)unit);
    return true;
}

static bool lower_levels(lowering *l, const dfl_maestro_hw *hw)
{
    const dfl_maestro_layer *layer = l->layer;
    size_t n_levels = 1, first = 0, level = 0;

    for (size_t i = 0; i < layer->n_directives; i++) {
        if (layer->directives[i].kind != DFL_DIRECTIVE_CLUSTER)
            continue;
        if (n_levels == DFL_IMPORT_CLUSTER_LEVELS) {
            dfl_report(l->report->sink, DFL_FOREIGN_RANGE, layer->directives[i].span,
                       "the layer has more than %d cluster levels", DFL_IMPORT_CLUSTER_LEVELS);
            return false;
        }
        n_levels++;
    }
    l->plan->levels = DFL_NEW_ARRAY(l->report->arena, dfl_maestro_level, n_levels);
    l->plan->n_levels = n_levels;
    if (!count_elements(l, hw, l->plan->levels))
        return false;
    for (size_t i = 0; i <= layer->n_directives; i++) {
        if (i < layer->n_directives && layer->directives[i].kind != DFL_DIRECTIVE_CLUSTER)
            continue;
        if (!lower_level(l, &l->plan->levels[level], layer->directives + first, i - first))
            return false;
        if (!has_spatial_map(layer->directives + first, i - first) && l->plan->levels[level].elements > 1)
            dfl_lose(l->report, DFL_FOREIGN_IGNORED,
                     first > 0 ? layer->directives[first - 1].span : layer->name_span,
                     "this cluster level has no spatial map: only one of its %lld elements works",
                     (long long)l->plan->levels[level].elements);
        level++;
        first = i + 1;
    }
    return true;
}

bool dfl_maestro_lower(dfl_maestro_plan *out, dfl_loss_report *report, const dfl_maestro_file *file,
                       const dfl_maestro_layer *layer, const dfl_maestro_hw *hw)
{
    lowering l = { .plan = out, .report = report, .file = file, .layer = layer };
    bool ok;

    *out = (dfl_maestro_plan){
        .layer = layer,
        .stride_y = 1,
        .stride_x = 1,
    };
    ok = dfl_maestro_sizes(out, report, file);
    if (ok) {
        set_extents(&l);
        ok = check_extents(&l) && lower_levels(&l, hw);
    }
    for (int i = 0; ok && i < DFL_RANK_COUNT; i++) {
        if (l.extent[i] > 1)
            out->leaf[out->n_leaf++] = (dfl_maestro_loop){ (dfl_maestro_rank)i, 1 };
    }
    return ok;
}
