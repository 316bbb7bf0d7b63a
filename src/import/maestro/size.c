/* Sizes and strides of a layer: reads, completes and checks them. */
#include <string.h>

#include "import/maestro/maestro_internal.h"

typedef struct {
    dfl_maestro_plan *plan;
    dfl_loss_report *report;
    const dfl_maestro_file *file;
    const dfl_maestro_layer *layer;
} sizing;

bool dfl_maestro_resolve(const dfl_maestro_plan *plan, dfl_loss_report *report,
                         const dfl_maestro_file *file, const dfl_maestro_amount *a, int64_t *out)
{
    dfl_sink *sink = report->sink;

    switch (a->kind) {
    case DFL_AMOUNT_NUMBER:
        *out = a->value;
        return true;
    case DFL_AMOUNT_CONSTANT:
        *out = a->constant < file->constants.n ? file->constants.at[a->constant].value : 0;
        if (*out == 0)
            dfl_diag_help(sink,
                          dfl_report(sink, DFL_FOREIGN_SYNTAX, a->span, "unknown constant `%s`",
                                     dfl_sym_text(file->names, a->constant)),
                          "declare it with `Constant NAME VALUE;` outside the network");
        break;
    case DFL_AMOUNT_SIZE_OF:
        *out = plan->size[a->dim];
        if (*out == 0)
            dfl_report(sink, DFL_FOREIGN_DIMENSION, a->span, "the layer has no dimension `%s`",
                       dfl_maestro_dim_text(a->dim));
        break;
    }
    return *out != 0;
}

static bool resolve(sizing *l, const dfl_maestro_amount *a, int64_t *out)
{
    return dfl_maestro_resolve(l->plan, l->report, l->file, a, out);
}

/* The required dimensions of each type of layer; output rows and columns may replace those of the input. */
static const struct {
    const char *name;
    dfl_maestro_workload workload;
    const char *needs; /* required dimensions, one letter each */
} types[] = {
    [DFL_LAYER_CONV] = { "CONV", DFL_WORKLOAD_CONV, "KCRSYX" },
    [DFL_LAYER_DSCONV] = { "DSCONV", DFL_WORKLOAD_DSCONV, "CRSYX" },
    [DFL_LAYER_NGCONV] = { "NGCONV", DFL_WORKLOAD_NGCONV, "GKCRSYX" },
    [DFL_LAYER_TRCONV] = { "TRCONV", DFL_WORKLOAD_CONV, "KCRSYX" },
    [DFL_LAYER_GEMM] = { "GEMM", DFL_WORKLOAD_GEMM, "MNK" },
};

static bool has_dim(dfl_layer_type type, dfl_maestro_dim dim)
{
    if (dim == DFL_DIM_N)
        return true;
    return strchr(types[type].needs, dfl_maestro_dim_text(dim)[0]) != NULL;
}

/* Reads the stride of one direction, which a layer gives for the dimension of the input or of the output. */
static bool resolve_stride(sizing *l, dfl_maestro_dim in, dfl_maestro_dim out, int64_t *stride)
{
    const dfl_maestro_size *a = &l->layer->strides[in], *b = &l->layer->strides[out];
    int64_t other = 0;

    *stride = 1;
    if ((a->given && !resolve(l, &a->amount, stride)) || (b->given && !resolve(l, &b->amount, &other)))
        return false;
    if (a->given && b->given && *stride != other) {
        dfl_diag *d = dfl_report(l->report->sink, DFL_FOREIGN_DIMENSION, b->span,
                                 "two strides of one direction differ");

        dfl_diag_label(l->report->sink, d, a->span, "first given here");
        return false;
    }
    if (b->given)
        *stride = other;
    return true;
}

/* Computes Y from Y' or Y' from Y; X likewise. */
static bool complete_direction(sizing *l, dfl_maestro_dim in, dfl_maestro_dim out, dfl_maestro_dim kernel,
                               int64_t stride, const char *what)
{
    int64_t *size = l->plan->size, taps = size[kernel];
    dfl_sink *sink = l->report->sink;
    int64_t outputs;

    if (size[in] == 0)
        size[in] = (size[out] - 1) * stride + taps;
    if (size[in] < taps) {
        dfl_diag *d = dfl_report(sink, DFL_FOREIGN_DIMENSION, l->layer->dims[in].span,
                                 "%lld input %s are fewer than the filter's %lld", (long long)size[in],
                                 what, (long long)taps);

        dfl_diag_help(sink, d, "give `%s` with the padding included", dfl_maestro_dim_text(in));
        return false;
    }
    outputs = (size[in] - taps) / stride + 1;
    if (size[out] != 0 && size[out] != outputs) {
        dfl_diag *d = dfl_report(sink, DFL_FOREIGN_DIMENSION, l->layer->dims[out].span,
                                 "`%s` is %lld, but `%s`, the filter and the stride make %lld",
                                 dfl_maestro_dim_text(out), (long long)size[out], dfl_maestro_dim_text(in),
                                 (long long)outputs);

        dfl_diag_label(sink, d, l->layer->dims[in].span, "given here");
        return false;
    }
    size[out] = outputs;
    return true;
}

dfl_span dfl_maestro_dim_span(const dfl_maestro_layer *layer, dfl_maestro_dim dim, dfl_maestro_dim other)
{
    if (layer->dims[dim].given)
        return layer->dims[dim].span;
    return layer->dims[other].given ? layer->dims[other].span : layer->type_span;
}

/* Warns of input rows (columns) that no output reads: behind the last window, and between windows with gaps. */
static int64_t untouched(const int64_t *size, dfl_maestro_dim in, dfl_maestro_dim out,
                         dfl_maestro_dim kernel, int64_t stride)
{
    if (size[kernel] >= stride)
        return size[in] - ((size[out] - 1) * stride + size[kernel]);
    return size[in] - size[out] * size[kernel];
}

static void report_untouched(sizing *l)
{
    const int64_t *size = l->plan->size;
    dfl_span rows = dfl_maestro_dim_span(l->layer, DFL_DIM_Y, DFL_DIM_Y_OUT);
    dfl_span columns = dfl_maestro_dim_span(l->layer, DFL_DIM_X, DFL_DIM_X_OUT);
    int64_t y = untouched(size, DFL_DIM_Y, DFL_DIM_Y_OUT, DFL_DIM_R, l->plan->stride_y);
    int64_t x = untouched(size, DFL_DIM_X, DFL_DIM_X_OUT, DFL_DIM_S, l->plan->stride_x);

    if (y > 0 && x > 0)
        dfl_lose(l->report, DFL_FOREIGN_UNTOUCHED, rows,
                 "%lld of %lld input rows and %lld of %lld columns are touched by no output and not read",
                 (long long)y, (long long)size[DFL_DIM_Y], (long long)x, (long long)size[DFL_DIM_X]);
    else if (y > 0)
        dfl_lose(l->report, DFL_FOREIGN_UNTOUCHED, rows,
                 "%lld of %lld input rows are touched by no output and not read", (long long)y,
                 (long long)size[DFL_DIM_Y]);
    else if (x > 0)
        dfl_lose(l->report, DFL_FOREIGN_UNTOUCHED, columns,
                 "%lld of %lld input columns are touched by no output and not read", (long long)x,
                 (long long)size[DFL_DIM_X]);
}

static bool resolve_sizes(sizing *l)
{
    const dfl_maestro_layer *layer = l->layer;
    dfl_sink *sink = l->report->sink;
    int64_t *size = l->plan->size;

    for (int i = 0; i < DFL_DIM_COUNT; i++) {
        dfl_maestro_dim dim = (dfl_maestro_dim)i;
        const dfl_maestro_size *given = &layer->dims[i];
        int64_t value;

        if (!given->given)
            continue;
        if (given->amount.kind == DFL_AMOUNT_SIZE_OF) {
            dfl_report(sink, DFL_FOREIGN_SYNTAX, given->amount.span, "a size of a layer cannot be `Sz(...)`");
            return false;
        }
        if (!resolve(l, &given->amount, &value))
            return false;
        if (has_dim(layer->type, dim))
            size[i] = value;
        else if (value > 1)
            dfl_lose(l->report, DFL_FOREIGN_IGNORED, given->span,
                     "`%s` is not a dimension of a %s layer and is omitted", dfl_maestro_dim_text(dim),
                     types[layer->type].name);
    }
    for (const char *need = types[layer->type].needs; *need != '\0'; need++) {
        bool there = (*need == 'Y' && size[DFL_DIM_Y_OUT] != 0) ||
                     (*need == 'X' && size[DFL_DIM_X_OUT] != 0);

        for (int i = 0; i < DFL_DIM_COUNT && !there; i++)
            there = size[i] != 0 && dfl_maestro_dim_text((dfl_maestro_dim)i)[0] == *need;
        if (!there) {
            dfl_report(sink, DFL_FOREIGN_DIMENSION, layer->type_span, "the %s layer has no dimension `%c`",
                       types[layer->type].name, *need);
            return false;
        }
    }
    if (layer->type != DFL_LAYER_GEMM && size[DFL_DIM_N] == 0)
        size[DFL_DIM_N] = 1;
    return true;
}

static bool resolve_windows(sizing *l)
{
    dfl_maestro_plan *p = l->plan;

    for (int i = 0; i < DFL_DIM_COUNT; i++) {
        const dfl_maestro_size *s = &l->layer->strides[i];
        bool slides = i == DFL_DIM_Y || i == DFL_DIM_X || i == DFL_DIM_Y_OUT || i == DFL_DIM_X_OUT;
        int64_t value;

        if (!s->given || (slides && l->layer->type != DFL_LAYER_GEMM))
            continue;
        if (!resolve(l, &s->amount, &value))
            return false;
        if (value > 1)
            dfl_lose(l->report, DFL_FOREIGN_IGNORED, s->span,
                     "the stride of `%s` is omitted: no window slides over it",
                     dfl_maestro_dim_text((dfl_maestro_dim)i));
    }
    if (l->layer->type == DFL_LAYER_GEMM)
        return true;
    if (!resolve_stride(l, DFL_DIM_Y, DFL_DIM_Y_OUT, &p->stride_y) ||
        !resolve_stride(l, DFL_DIM_X, DFL_DIM_X_OUT, &p->stride_x) ||
        !complete_direction(l, DFL_DIM_Y, DFL_DIM_Y_OUT, DFL_DIM_R, p->stride_y, "rows") ||
        !complete_direction(l, DFL_DIM_X, DFL_DIM_X_OUT, DFL_DIM_S, p->stride_x, "columns"))
        return false;
    report_untouched(l);
    if (l->layer->type == DFL_LAYER_TRCONV)
        dfl_lose(l->report, DFL_FOREIGN_REARRANGED, l->layer->type_span,
                 "the transposed convolution is imported as a plain one over the given rows and columns");
    return true;
}

bool dfl_maestro_sizes(dfl_maestro_plan *plan, dfl_loss_report *report, const dfl_maestro_file *file)
{
    sizing l = { plan, report, file, plan->layer };

    plan->workload = types[plan->layer->type].workload;
    return resolve_sizes(&l) && resolve_windows(&l);
}
