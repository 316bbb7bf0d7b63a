/* Parses a mapping file, lowers every layer and writes the result. */
#include "import/maestro/maestro.h"

#include <string.h>

#include "import/dfl_writer.h"
#include "import/maestro/maestro_internal.h"

static int64_t at_least_one(int64_t size)
{
    return size > 0 ? size : 1;
}

/* Channels that a layer writes, over all groups. */
static int64_t channels_out(const dfl_maestro_plan *p)
{
    int64_t channels = p->workload == DFL_WORKLOAD_DSCONV ? p->size[DFL_DIM_C] : p->size[DFL_DIM_K];

    return channels * at_least_one(p->size[DFL_DIM_G]);
}

static int64_t channels_in(const dfl_maestro_plan *p)
{
    return p->size[DFL_DIM_C] * at_least_one(p->size[DFL_DIM_G]);
}

/*
 * Warns of forgotten padding. The source has no padding, so sizes must include it. A layer probably lacks padding if
 * the next layer reads as many channels as the layer writes, but more rows, and the padding for the kernel of the next
 * layer does not explain the difference.
 */
static void look_for_padding(dfl_loss_report *report, const dfl_maestro_plan *before,
                             const dfl_maestro_plan *plan)
{
    int64_t made = before->size[DFL_DIM_Y_OUT], read = plan->size[DFL_DIM_Y];

    if (before->workload == DFL_WORKLOAD_GEMM || plan->workload == DFL_WORKLOAD_GEMM ||
        before->layer->type == DFL_LAYER_TRCONV || before->size[DFL_DIM_R] == 1 ||
        channels_out(before) != channels_in(plan) || channels_in(plan) == 1 ||
        read <= made + plan->size[DFL_DIM_R] - 1)
        return;
    dfl_lose(report, DFL_FOREIGN_NO_PADDING, dfl_maestro_dim_span(plan->layer, DFL_DIM_Y, DFL_DIM_Y_OUT),
             "%lld input rows, but the previous layer produces %lld: its padding may be missing",
             (long long)read, (long long)made);
}

/* Removes repeated reports and labels the reports about inherited directives with the name of the layer. */
static void name_layer(dfl_arena *arena, dfl_sink *sink, const dfl_maestro_layer *layer, size_t before)
{
    dfl_span from;

    if (!layer->inherited || layer->n_directives == 0)
        return;
    from = dfl_span_join(layer->directives[0].span, layer->directives[layer->n_directives - 1].span);
    dfl_sink_fold(sink, before);
    for (size_t i = before; i < dfl_sink_count(sink); i++) {
        dfl_diag *d = dfl_sink_at(sink, i);

        if (d->span.start >= from.start && d->span.end <= from.end)
            dfl_diag_label(sink, d, layer->name_span, "for layer `%s`, which has its directives from there",
                           dfl_writer_plain(arena, layer->name));
    }
}

/* Layers with maps that move together: files repeat one dataflow, so the first such layer stands for all with its message. */
typedef struct {
    dfl_diag *first;    /* NULL = there was no such layer */
    uint32_t further;   /* layers that the first one stands for */
    dfl_span last;      /* name of the last one */
} repeated_refusal;

/* Takes back the refusal of a layer, reported from `before` on, if an earlier layer was refused with the same message. */
static void fold_refusal(dfl_sink *sink, const dfl_maestro_layer *layer, size_t before, repeated_refusal *all)
{
    for (size_t i = before; i < dfl_sink_count(sink); i++) {
        dfl_diag *d = dfl_sink_at(sink, i);

        if (d->code != DFL_FOREIGN_DOUBLE_MAP)
            continue;
        if (all->first == NULL) {
            all->first = d;
        } else if (strcmp(all->first->message, d->message) == 0) {
            all->further++;
            all->last = layer->name_span;
            dfl_sink_withdraw(sink, before, DFL_FOREIGN_DOUBLE_MAP); /* a layer has one refusal at most */
            return;
        }
    }
}

static void name_further_layers(dfl_sink *sink, const repeated_refusal *all)
{
    if (all->further > 0)
        dfl_diag_label(sink, all->first, all->last, "%u further layer%s so, up to this one", (unsigned)all->further,
                       all->further == 1 ? " does" : "s do");
}

char *dfl_import_maestro(dfl_arena *arena, dfl_sink *sink, dfl_source_map *sources,
                         const dfl_source *mapping, const dfl_source *hw)
{
    dfl_budget *budget = dfl_arena_budget(arena);
    dfl_maestro_file file;
    dfl_maestro_hw machine;
    dfl_maestro_plan *plans;
    dfl_loss_report report;
    repeated_refusal refusals = { .first = NULL, .further = 0, .last = { 0, 0 } };
    dfl_loss *losses;
    size_t n_losses;
    bool ok;

    dfl_loss_init(&report, arena, sink, sources);
    ok = dfl_maestro_parse_hw(&machine, &report, hw);
    ok = dfl_maestro_parse(&file, arena, &report, mapping) && ok;
    losses = dfl_loss_take(&report, &n_losses);
    plans = DFL_NEW_ARRAY(arena, dfl_maestro_plan, file.layers.n);
    for (size_t i = 0; i < file.layers.n; i++) {
        size_t before = dfl_sink_count(sink);

        if (budget != NULL && !dfl_budget_ok(budget))
            break;
        ok = dfl_maestro_lower(&plans[i], &report, &file, &file.layers.at[i], &machine) && ok;
        if (ok && i > 0)
            look_for_padding(&report, &plans[i - 1], &plans[i]);
        name_layer(arena, sink, &file.layers.at[i], before);
        fold_refusal(sink, &file.layers.at[i], before, &refusals);
        plans[i].losses = dfl_loss_take(&report, &plans[i].n_losses);
    }
    name_further_layers(sink, &refusals);
    if (budget != NULL && budget->why != DFL_STOP_NONE) {
        dfl_report_stop(sink, budget);
        return NULL;
    }
    if (!ok)
        return NULL;
    return dfl_writer_layout(
        arena, sink,
        dfl_maestro_print(arena, &report, &file, &machine, hw, losses, n_losses, plans, file.layers.n));
}
