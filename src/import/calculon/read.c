/* Reads the files of a run of Calculon, and checks what Calculon itself and DFL require of them. */
#include "import/calculon/calculon_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A file of the run, and whether all was right so far. */
typedef struct {
    dfl_loss_report *report;
    const dfl_yaml *app, *exe, *system;
    bool ok;
} reader;

static bool wrong(reader *r, dfl_code code, dfl_span span, const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Reports the first error; returns false. */
static bool wrong(reader *r, dfl_code code, dfl_span span, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (r->ok)
        dfl_report(r->report->sink, code, span, "%s", dfl_arena_vprintf(r->report->arena, format, args));
    va_end(args);
    r->ok = false;
    return false;
}

/* Weights of a layer in the text: Calculon exchanges their gradients at once, and a plan one after another. */
static double weights_of(const dfl_calc_run *run) { return dfl_calc_has_tiles(run) ? 6 : 8; }


/* ---- values ---- */

/* The value of a key; NULL after a report. */
static const dfl_yaml *get(reader *r, const dfl_yaml *map, const char *key)
{
    const dfl_yaml *at = dfl_yaml_get(map, key);

    if (at == NULL && r->ok)
        wrong(r, DFL_FOREIGN_SYNTAX, map != NULL ? map->span : r->exe->span, "`%s` is missing", key);
    return at;
}

static dfl_span place(reader *r, const dfl_yaml *map, const char *key)
{
    const dfl_yaml *at = get(r, map, key);

    return at != NULL ? at->span : r->exe->span;
}

static double number_at(reader *r, const dfl_yaml *at, double least)
{
    char *end = NULL;
    double value = at != NULL && at->kind == DFL_YAML_SCALAR ? strtod(at->text, &end) : 0;

    if (at == NULL)
        return least;
    if (end == NULL || end == at->text || *end != '\0')
        wrong(r, DFL_FOREIGN_SYNTAX, at->span, "expected a number");
    else if (!(value >= least && value <= 1e15))
        wrong(r, DFL_FOREIGN_RANGE, at->span, "the number is not from %g to 1e15", least);
    return r->ok ? value : least;
}

static double number(reader *r, const dfl_yaml *map, const char *key, double least)
{
    return number_at(r, get(r, map, key), least);
}

static int64_t count(reader *r, const dfl_yaml *map, const char *key, int64_t least)
{
    double value = number(r, map, key, (double)least);

    if (value == floor(value) && value <= (double)(INT64_C(1) << 40))
        return (int64_t)value;
    wrong(r, DFL_FOREIGN_RANGE, place(r, map, key), "expected an integer up to 2^40");
    return least;
}

static const char *word(reader *r, const dfl_yaml *map, const char *key)
{
    const dfl_yaml *at = get(r, map, key);

    return at != NULL && at->kind == DFL_YAML_SCALAR ? at->text : "";
}

static bool flag(reader *r, const dfl_yaml *map, const char *key)
{
    const char *text = word(r, map, key);

    if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
        wrong(r, DFL_FOREIGN_SYNTAX, place(r, map, key), "expected `true` or `false`");
    return strcmp(text, "true") == 0;
}

/* ---- application and execution ---- */

static void read_app(reader *r, dfl_calc_run *run)
{
    run->hidden = count(r, r->app, "hidden", 1);
    run->feedforward = count(r, r->app, "feedforward", 1);
    run->seq = count(r, r->app, "seq_size", 1);
    run->heads = count(r, r->app, "attn_heads", 1);
    run->head = count(r, r->app, "attn_size", 1);
    run->layers = count(r, r->app, "num_blocks", 1);
}

/* The place in `kinds`, of `n` words, of the word that the execution has at `key`; `n` after a report of what was expected. */
static uint32_t pick(reader *r, const char *key, const char *const *kinds, uint32_t n, const char *expected)
{
    const char *kind = word(r, r->exe, key);
    uint32_t i = 0;

    while (i < n && strcmp(kind, kinds[i]) != 0)
        i++;
    if (i == n)
        wrong(r, DFL_FOREIGN_SYNTAX, place(r, r->exe, key), "%s", expected);
    return i;
}

/* What runs beside the work of the chips. */
static void read_overlap(reader *r, dfl_calc_run *run)
{
    static const char *const kinds[] = { "none", "ring", "pipe" };
    const uint32_t i = pick(r, "tensor_par_overlap", kinds, 3, "expected `none`, `ring` or `pipe`");

    run->tile_overlap = i == 1 ? DFL_CALC_RING : i == 2 ? DFL_CALC_PIPE : DFL_CALC_NO_TILES;
    run->hides_gradients = flag(r, r->exe, "data_par_overlap");
    run->moves_weights = flag(r, r->exe, "weight_offload");
    run->moves_activations = flag(r, r->exe, "activations_offload");
    run->moves_optimizer = flag(r, r->exe, "optimizer_offload");
    if (run->tile_overlap != DFL_CALC_NO_TILES && run->tensor == 1)
        wrong(r, DFL_FOREIGN_RANGE, place(r, r->exe, "tensor_par_overlap"),
              "this option needs more than one chip in its dimension");
    if (run->hides_gradients && (run->data == 1 || !run->trains))
        wrong(r, DFL_FOREIGN_RANGE, place(r, r->exe, "data_par_overlap"), "only training on several copies exchanges gradients");
    if (run->moves_optimizer && !run->trains)
        wrong(r, DFL_FOREIGN_RANGE, place(r, r->exe, "optimizer_offload"), "only training has an optimizer");
}

static void read_exchanges(reader *r, dfl_calc_run *run)
{
    static const char *const kinds[] = { "ar", "p2p_rs_ag", "rs_ag" };
    const uint32_t i = pick(r, "tensor_par_comm_type", kinds, 3, "expected `ar`, `rs_ag` or `p2p_rs_ag`");

    run->exchange = i == 0 ? DFL_CALC_ALL_REDUCE : i == 1 ? DFL_CALC_MIXED : DFL_CALC_SPLIT;
    run->gathers_again = flag(r, r->exe, "seq_par_ag_redo");
    if (r->ok && run->gathers_again && (run->exchange != DFL_CALC_SPLIT || strcmp(run->recompute, "full") == 0))
        wrong(r, DFL_FOREIGN_RANGE, place(r, r->exe, "seq_par_ag_redo"),
              "Calculon gathers again only with `rs_ag`, and without full recomputation");
}

static void read_exe(reader *r, dfl_calc_run *run)
{
    const char *attention = word(r, r->exe, "attention_type");

    run->tensor = count(r, r->exe, "tensor_par", 1);
    run->pipeline = count(r, r->exe, "pipeline_par", 1);
    run->data = count(r, r->exe, "data_par", 1);
    run->batch = count(r, r->exe, "batch_size", 1);
    run->micro = count(r, r->exe, "microbatch_size", 1);
    run->interleave = count(r, r->exe, "pipeline_interleaving", 1);
    run->trains = flag(r, r->exe, "training");
    run->shards_moments = flag(r, r->exe, "optimizer_sharding");
    run->recompute = word(r, r->exe, "activation_recompute");
    run->is_fused = flag(r, r->exe, "fused_activation");
    run->has_one_key = strcmp(attention, "multiquery") == 0;
    if (!run->has_one_key && strcmp(attention, "multihead") != 0)
        wrong(r, DFL_FOREIGN_SYNTAX, place(r, r->exe, "attention_type"), "expected `multihead` or `multiquery`");
    if (strcmp(run->recompute, "full") != 0 && strcmp(run->recompute, "attn_only") != 0 && strcmp(run->recompute, "none") != 0)
        wrong(r, DFL_FOREIGN_SYNTAX, place(r, r->exe, "activation_recompute"), "expected `full`, `attn_only` or `none`");
    read_overlap(r, run);
    read_exchanges(r, run);
}

/* What Calculon asserts of the numbers of an execution. */
static void check_numbers(reader *r, const dfl_calc_run *run)
{
    if (run->tensor > 1 << 24 || run->pipeline > 1 << 24 || run->data > 1 << 24 ||
        run->tensor * run->pipeline * run->data != count(r, r->exe, "num_procs", 1))
        wrong(r, DFL_FOREIGN_RANGE, place(r, r->exe, "num_procs"), "the dimensions of the run do not make `num_procs` chips");
    if (r->ok && (run->batch % run->data != 0 || run->batch / run->data % run->micro != 0))
        wrong(r, DFL_FOREIGN_RANGE, place(r, r->exe, "batch_size"), "the micro-batches of all copies do not make the batch");
    if (r->ok && (run->hidden % run->tensor != 0 || run->feedforward % run->tensor != 0 ||
                  run->heads % run->tensor != 0 ||
                  (run->exchange != DFL_CALC_ALL_REDUCE && run->micro * run->seq % run->tensor != 0)))
        wrong(r, DFL_FOREIGN_RANGE, place(r, r->exe, "tensor_par"), "the parts of a tensor are not equal");
    if (!run->trains && strcmp(run->recompute, "none") != 0)
        wrong(r, DFL_FOREIGN_RANGE, place(r, r->exe, "activation_recompute"), "only training computes activations again");
    if ((run->shards_moments && run->data == 1) || (run->pipeline == 1 && run->interleave > 1))
        wrong(r, DFL_FOREIGN_RANGE, place(r, r->exe, run->pipeline == 1 && run->interleave > 1 ? "pipeline_interleaving"
              : "optimizer_sharding"), "this option needs more than one chip in its dimension");
}

/* Sets the layers of the stages, and how the text stands for stages of unequal size. Calculon lets each stage take as long as the
   largest one, exchanges the gradients of as many layers, and takes the missing layers off the sum at the end. The text has
   stages of the largest size, and layers that take less time; stages without a layer have no work. */
static void set_stages(reader *r, dfl_calc_run *run)
{
    const int64_t micro_batches = run->batch / run->data / run->micro, P = run->pipeline, v = run->interleave;
    const int64_t rest = micro_batches % P, missing = (P - run->layers % P) % P;
    int64_t passes, most;

    run->stage_layers = (run->layers + P - 1) / P;
    if (v > run->stage_layers || run->stage_layers % v != 0) {
        wrong(r, DFL_FOREIGN_RANGE, place(r, r->exe, "pipeline_interleaving"),
              "%lld chunks do not divide the %lld layers of a stage", (long long)v, (long long)run->stage_layers);
        return;
    }
    if (run->stage_layers < 3 && (run->moves_weights || run->moves_activations || run->moves_optimizer)) {
        wrong(r, DFL_FOREIGN_RANGE, place(r, r->exe, "pipeline_par"),
              "Calculon moves tensors to the second memory only in stages of at least 3 layers; here they have %lld",
              (long long)run->stage_layers);
        return;
    }
    run->chunk_layers = run->stage_layers / v;
    passes = micro_batches * v + P - 1 + (v > 1 && rest > 0 ? (v - 1) * (P - rest) : 0);
    run->written_layers = run->stage_layers > 1 ? P * run->stage_layers : run->layers;
    run->stages = P < run->written_layers ? P : run->written_layers;
    run->pace = run->stage_layers > 1 ? 1 - (double)missing / ((double)run->chunk_layers * (double)passes) : 1;
    most = 2 * (run->stages - 1) + (v - 1) * run->stages + 1;
    run->in_flight = (double)(v == 1 ? (micro_batches < run->stages ? micro_batches : run->stages)
                                     : (micro_batches * v < most ? micro_batches * v : most)) / (double)v;
}

/* ---- system ---- */

static const char *type_of(const char *name)
{
    static const char *const types[][2] = {
        { "float8", "fp8" }, { "float16", "fp16" }, { "bfloat16", "bf16" }, { "float32", "fp32" },
    };

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i][0], name) == 0)
            return types[i][1];
    return NULL;
}

/* A list of thresholds and shares, descending to 0. */
static const dfl_yaml *shares(reader *r, const dfl_yaml *map, const char *key)
{
    const dfl_yaml *list = get(r, map, key);
    double above = INFINITY;

    if (list != NULL && (list->kind != DFL_YAML_LIST || list->n == 0))
        wrong(r, DFL_FOREIGN_SYNTAX, list->span, "expected a list of thresholds and shares");
    for (uint32_t i = 0; r->ok && i < list->n; i++) {
        const dfl_yaml *pair = &list->items[i];
        double at, share;

        if (pair->kind != DFL_YAML_LIST || pair->n != 2) {
            wrong(r, DFL_FOREIGN_SYNTAX, pair->span, "expected a threshold and a share");
            break;
        }
        at = number_at(r, &pair->items[0], 0);
        share = number_at(r, &pair->items[1], 0);
        if (r->ok && (at >= above || share <= 0 || share > 1))
            wrong(r, DFL_FOREIGN_RANGE, pair->span, "thresholds must descend, and shares be above 0 and at most 1");
        above = at;
    }
    return list;
}

static void read_unit(reader *r, const char *unit, const char *type, double *rate, const dfl_yaml **list)
{
    const dfl_yaml *at = get(r, get(r, r->system, unit), type);

    *rate = number(r, at, "tflops", 1e-9);
    *list = shares(r, at, "gflops_efficiency");
}

/* The factor of the bytes that an operation of a network moves, for `n` chips. */
static double factor_of(reader *r, const dfl_yaml *net, const char *op, int64_t n)
{
    const dfl_yaml *pair = get(r, get(r, net, "ops"), op);
    double scalar, offset;

    if (pair == NULL || pair->kind != DFL_YAML_LIST || pair->n != 2) {
        wrong(r, DFL_FOREIGN_SYNTAX, pair != NULL ? pair->span : r->system->span, "expected a scalar and an offset");
        return 1;
    }
    scalar = number_at(r, &pair->items[0], 1e-9);
    offset = strcmp(op, "p2p") == 0 ? 0 : number_at(r, &pair->items[1], -1);
    if (offset + (double)n <= 0)
        wrong(r, DFL_FOREIGN_RANGE, pair->span, "no bytes are left for %lld chips", (long long)n);
    return scalar * (1 + offset / (double)n);
}

/* The network that a dimension of `n` chips uses; NULL after a report. */
static const dfl_yaml *network_of(reader *r, const char *key)
{
    const dfl_yaml *all = get(r, r->system, "networks");
    int64_t index = count(r, r->exe, key, 0);

    if (!r->ok)
        return NULL;
    if (all->kind == DFL_YAML_LIST && index < (int64_t)all->n)
        return &all->items[index];
    wrong(r, DFL_FOREIGN_RANGE, place(r, r->exe, key), "the system has no network %lld", (long long)index);
    return NULL;
}

/* What Calculon computes with of the network of a dimension of `n` chips. */
static dfl_calc_link read_link(reader *r, const char *key, int64_t n)
{
    const dfl_yaml *net = network_of(r, key);
    dfl_calc_link out = { .network = count(r, r->exe, key, 0), .rate = INFINITY };

    if (net == NULL)
        return out;
    out.latency = number(r, net, "latency", 0);
    if (n == 1)
        return out;
    out = (dfl_calc_link){ .network = count(r, r->exe, key, 0),
                           .latency = number(r, net, "latency", 0),
                           .rate = number(r, net, "bandwidth", 1e-9) * 1e9 * number(r, net, "efficiency", 1e-9),
                           .use = number(r, net, "processor_usage", 0),
                           .all_reduce = factor_of(r, net, "all_reduce", n),
                           .reduce_scatter = factor_of(r, net, "reduce_scatter", n),
                           .all_gather = factor_of(r, net, "all_gather", n),
                           .p2p = factor_of(r, net, "p2p", 2) };
    if (r->ok && out.use >= 1)
        wrong(r, DFL_FOREIGN_RANGE, place(r, net, "processor_usage"), "the number is not below 1");
    return out;
}

/* What exchanges of some bytes take in sum: seconds, and seconds per byte. */
typedef struct { double latency, per_byte; } exchange_time;

/* Adds `times` operations of a network among `n` chips. */
static void add_exchanges(reader *r, const dfl_yaml *net, const char *op, int64_t n, double times, exchange_time *out)
{
    if (times <= 0)
        return;
    out->latency += times * number(r, net, "latency", 0);
    out->per_byte += times * factor_of(r, net, op, n) /
                     (number(r, net, "bandwidth", 1e-9) * 1e9 * number(r, net, "efficiency", 1e-9));
}

/* Adds the exchanges of a layer among the chips of the tensor dimension, and returns their number. `is_split`: reduce-scatters
   and all-gathers. */
static double add_layer(reader *r, const dfl_calc_run *run, const dfl_yaml *net, bool is_split, double layers, exchange_time *out)
{
    const bool all = strcmp(run->recompute, "full") == 0, attention = strcmp(run->recompute, "none") != 0;
    const double passes = (run->trains ? 2 : 1) + all, again = (attention || run->gathers_again) + (all || run->gathers_again);
    const double gathers = (run->trains ? 4 : 2) + (run->trains ? again : 0);

    if (!is_split) {
        add_exchanges(r, net, "all_reduce", run->tensor, layers * 2 * passes, out);
        return 2 * passes;
    }
    add_exchanges(r, net, "reduce_scatter", run->tensor, layers * 2 * passes, out);
    add_exchanges(r, net, "all_gather", run->tensor, layers * gathers, out);
    return 2 * passes + gathers;
}

/* Sets the rate and the overhead with which the algorithm `direct` takes the mean time of the exchanges of all layers. It sends
   (n - 1) / n of the data once for a half of an all-reduce. */
static void read_tensor_network(reader *r, dfl_calc_run *run)
{
    const dfl_yaml *net = network_of(r, "tensor_par_net");
    const double last = 1 / (double)run->chunk_layers, share = 1 - 1 / (double)run->tensor;
    const bool is_split = run->exchange == DFL_CALC_SPLIT;
    exchange_time sum = { 0, 0 };
    double n;

    run->on_tensor = (dfl_calc_network){ 1, 0 };
    if (net == NULL || run->tensor == 1)
        return;
    n = add_layer(r, run, net, is_split, 1 - last, &sum);
    (void)add_layer(r, run, net, is_split || (run->exchange == DFL_CALC_MIXED && !dfl_calc_has_tiles(run)), last, &sum);
    if (dfl_calc_has_tiles(run)) /* Calculon divides the latency among the tiles, too */
        sum.latency /= (double)dfl_calc_tiling_of(run).parts;
    if (r->ok)
        run->on_tensor = (dfl_calc_network){ .rate = share * (is_split ? 1 : 2) * n / sum.per_byte / run->pace / 1e9,
                                             .overhead = sum.latency / n / (is_split ? 2 : 3) * run->pace };
}

/* Sets the time of a message of a stage. Where stages lack layers, Calculon takes a part of their messages off, too. Without a
   backward pass it counts the latency of a message back in the time of the bubble. */
static void read_stage_network(reader *r, dfl_calc_run *run)
{
    const dfl_yaml *net = network_of(r, "pipeline_par_net");
    const int64_t P = run->pipeline, v = run->interleave, micro_batches = run->batch / run->data / run->micro;
    const int64_t rest = micro_batches % P, extra = v > 1 && rest > 0 ? (v - 1) * (P - rest) : 0;
    const double passes = (double)(micro_batches * v + run->stages - 1 + extra);
    const double missing = (double)((P - run->layers % P) % P) * (run->chunk_layers == 1 ? 1 : 0.5);
    const double counted = run->stages < P ? 1 : 1 - missing / passes;
    exchange_time sum = { 0, 0 };

    run->on_pipeline = (dfl_calc_network){ 1, 0 };
    if (net == NULL || P == 1)
        return;
    add_exchanges(r, net, "p2p", 2, 1, &sum);
    if (run->exchange == DFL_CALC_MIXED)
        sum.per_byte /= (double)run->tensor; /* each chip sends a part, and the text the whole */
    if (r->ok)
        run->on_pipeline = (dfl_calc_network){
            .rate = 1 / sum.per_byte / counted / 1e9,
            .overhead = sum.latency / 2 * (counted + (run->trains ? 0 : fmax(0, (double)(P - 1 + extra) - missing) / passes)),
        };
}

/* Sets the time of the exchange of gradients. The text exchanges them weight by weight, and gathers the weights of all layers of
   a stage at once. */
static void read_data_network(reader *r, dfl_calc_run *run)
{
    const dfl_yaml *net = network_of(r, "data_par_net");
    const double share = 1 - 1 / (double)run->data, layers = (double)run->stage_layers;
    const char *const ops[] = { run->shards_moments ? "reduce_scatter" : "all_reduce", "all_gather" };
    exchange_time sum = { 0, 0 };

    run->on_data = (dfl_calc_network){ 1, 0 };
    if (net == NULL || run->data == 1)
        return;
    add_exchanges(r, net, ops[0], run->data, 1, &sum);
    if (run->shards_moments)
        add_exchanges(r, net, ops[1], run->data, 1, &sum);
    if (r->ok)
        run->on_data = (dfl_calc_network){
            .rate = 2 * share / sum.per_byte / 1e9,
            .overhead = run->shards_moments ? sum.latency * layers / (2 * weights_of(run) * (layers + 1))
                                            : sum.latency / (3 * weights_of(run)),
        };
}

/* What Calculon requires of the chips that a network joins. */
static void check_size(reader *r, const dfl_calc_run *run, const char *key)
{
    static const char *const keys[] = { "tensor_par_net", "pipeline_par_net", "data_par_net" };
    const int64_t parts[] = { run->tensor, run->pipeline, run->data };
    const dfl_yaml *net = network_of(r, key);
    int64_t used = 1, size;

    for (size_t i = 0; r->ok && i < 3; i++)
        used *= parts[i] > 1 && network_of(r, keys[i]) == net ? parts[i] : 1;
    if (!r->ok || used == 1)
        return;
    size = count(r, net, "size", 1);
    if (used > size || (flag(r, net, "must_be_filled") && size % used != 0))
        wrong(r, DFL_FOREIGN_RANGE, place(r, r->exe, key), "%lld chips do not fit this network, which joins %lld",
              (long long)used, (long long)size);
}

static void read_networks(reader *r, dfl_calc_run *run)
{
    const int64_t held = run->exchange == DFL_CALC_ALL_REDUCE ? 1 : run->tensor;

    run->tensor_link = read_link(r, "tensor_par_net", run->tensor);
    run->stage_link = read_link(r, "pipeline_par_net", run->pipeline);
    run->data_link = read_link(r, "data_par_net", run->data);
    run->message_bytes = floor((double)(run->micro * run->seq) / (double)held) * (double)run->hidden * (double)run->bytes;
    read_tensor_network(r, run);
    read_stage_network(r, run);
    read_data_network(r, run);
    check_size(r, run, "tensor_par_net");
    check_size(r, run, "pipeline_par_net");
    check_size(r, run, "data_par_net");
}

/* Bytes of the second memory without the gradients that Calculon keeps there, which the text keeps on the chip. */
static double outer_room(dfl_calc_run *run)
{
    run->outer_room = run->outer_size * 1073741824 -
                      (run->moves_optimizer ? dfl_calc_memory_of(run).layer_gradients * (double)run->stage_layers : 0);
    return run->outer_room;
}

static void read_system(reader *r, dfl_calc_run *run)
{
    const char *mode = word(r, r->system, "processing_mode"), *type = word(r, r->exe, "datatype");
    const dfl_yaml *memory = get(r, r->system, "mem1"), *outer = get(r, r->system, "mem2");

    run->type = type_of(type);
    if (run->type == NULL) {
        wrong(r, DFL_FOREIGN_SYNTAX, place(r, r->exe, "datatype"), "unknown data type");
        return;
    }
    read_unit(r, "matrix", type, &run->matrix, &run->matrix_shares);
    read_unit(r, "vector", type, &run->vector, &run->vector_shares);
    run->memory_size = number(r, memory, "GiB", 0);
    run->memory_rate = number(r, memory, "GBps", 1e-9);
    run->memory_shares = shares(r, memory, "MB_efficiency");
    run->outer_size = number(r, outer, "GiB", 0);
    run->outer_rate = number(r, outer, "GBps", 1e-9);
    run->outer_shares = shares(r, outer, "MB_efficiency");
    run->overlaps = strcmp(mode, "roofline") == 0;
    if (!run->overlaps && strcmp(mode, "no_overlap") != 0)
        wrong(r, DFL_FOREIGN_SYNTAX, place(r, r->system, "processing_mode"), "expected `roofline` or `no_overlap`");
    run->bytes = strcmp(run->type, "fp32") == 0 ? 4 : strcmp(run->type, "fp8") == 0 ? 1 : 2;
    read_networks(r, run);
    if ((run->moves_weights || run->moves_activations || run->moves_optimizer) && outer_room(run) <= 0)
        wrong(r, DFL_FOREIGN_RANGE, place(r, outer, "GiB"), "the second memory has no room");
}

/* ---- losses ---- */

/* What the text states in another way than Calculon, or leaves out. */
static void lose(reader *r, const dfl_calc_run *run)
{
    dfl_lose(r->report, DFL_FOREIGN_LOST, place(r, r->app, "num_blocks"),
             "the products of attention are operations alone; the MACs of the report lack them");
    dfl_lose(r->report, DFL_FOREIGN_LOST, place(r, dfl_yaml_get(r->system, "mem1"), "MB_efficiency"),
             "bytes are operations of a unit `port`, because Calculon takes all transfers of an operation as one piece");
    if (run->exchange == DFL_CALC_MIXED && run->tensor > 1)
        dfl_lose(r->report, DFL_FOREIGN_LOST, place(r, r->exe, "tensor_par_comm_type"),
                 "the last layer of a chunk exchanges in another way than the others; all layers take the mean time");
    if (run->pipeline > 1)
        dfl_lose(r->report, DFL_FOREIGN_LOST, place(r, r->exe, "pipeline_par"),
                 "stages are `joined`: Calculon counts the passes and messages of a micro-batch as one operation");
    if (run->stages < run->pipeline)
        dfl_lose(r->report, DFL_FOREIGN_LOST, place(r, r->exe, "pipeline_par"), "%lld stages have no layer, and no work",
                 (long long)(run->pipeline - run->stages));
    if (run->pace < 1)
        dfl_lose(r->report, DFL_FOREIGN_LOST, place(r, r->exe, "pipeline_interleaving"),
                 "some stages lack a layer; the text has all layers, which take %.4g of their time: the rates of the chip and of "
                 "its networks are divided by this number", run->pace);
}

bool dfl_calc_read(dfl_calc_run *run, dfl_loss_report *report, const dfl_source *const *sources)
{
    reader r = { .report = report, .ok = true };
    const dfl_yaml **roots[] = { &r.app, &r.exe, &r.system };

    for (size_t i = 0; i < 3; i++) {
        *roots[i] = dfl_yaml_parse(report, sources[i]);
        if (*roots[i] == NULL)
            return false;
        if ((*roots[i])->kind != DFL_YAML_MAP)
            return wrong(&r, DFL_FOREIGN_SYNTAX, (*roots[i])->span, "expected an object");
    }
    run->execution = r.exe;
    read_app(&r, run);
    read_exe(&r, run);
    if (r.ok)
        check_numbers(&r, run);
    if (r.ok)
        set_stages(&r, run);
    if (r.ok)
        read_system(&r, run);
    if (r.ok)
        lose(&r, run);
    return r.ok;
}
