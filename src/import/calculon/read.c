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

enum { N_WEIGHTS = 8 }; /* of a layer: Calculon exchanges their gradients at once, and a plan one after another */

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

/* Refuses a value of the execution that DFL cannot express. */
static bool refuse(reader *r, const char *key, const char *what)
{
    return wrong(r, DFL_FOREIGN_UNSUPPORTED, place(r, r->exe, key), "%s", what);
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

/* What the list schedule of a plan has no words for. */
static void refuse_overlap(reader *r)
{
    static const char *const offloads[] = { "weight_offload", "activations_offload", "optimizer_offload" };

    if (strcmp(word(r, r->exe, "tensor_par_overlap"), "none") != 0)
        refuse(r, "tensor_par_overlap", "products that are cut into tiles beside their exchange are not supported");
    if (flag(r, r->exe, "data_par_overlap"))
        refuse(r, "data_par_overlap", "gradients that are exchanged beside the backward pass are not supported: Calculon "
               "counts the time that hides them from running sums of recomputed work");
    for (size_t i = 0; i < sizeof offloads / sizeof offloads[0]; i++)
        if (flag(r, r->exe, offloads[i]))
            refuse(r, offloads[i], "tensors in the second memory are not supported");
}

static void read_exchanges(reader *r, dfl_calc_run *run)
{
    const char *kind = word(r, r->exe, "tensor_par_comm_type");
    const bool gathers_again = flag(r, r->exe, "seq_par_ag_redo");

    run->splits_sequence = strcmp(kind, "rs_ag") == 0 && run->tensor > 1;
    if (strcmp(kind, "rs_ag") != 0 && strcmp(kind, "ar") != 0 && strcmp(kind, "p2p_rs_ag") != 0)
        wrong(r, DFL_FOREIGN_SYNTAX, place(r, r->exe, "tensor_par_comm_type"), "expected `ar`, `rs_ag` or `p2p_rs_ag`");
    if (strcmp(kind, "p2p_rs_ag") == 0 && run->tensor > 1)
        refuse(r, "tensor_par_comm_type", "exchanges that differ between the layers of a stage are not supported");
    if (run->splits_sequence && !gathers_again && strcmp(run->recompute, "full") != 0)
        refuse(r, "seq_par_ag_redo", "activations that are kept gathered are not supported: a plan gathers them again");
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
    run->has_one_key = strcmp(attention, "multiquery") == 0;
    if (!run->has_one_key && strcmp(attention, "multihead") != 0)
        wrong(r, DFL_FOREIGN_SYNTAX, place(r, r->exe, "attention_type"), "expected `multihead` or `multiquery`");
    if (strcmp(run->recompute, "full") != 0 && strcmp(run->recompute, "attn_only") != 0 && strcmp(run->recompute, "none") != 0)
        wrong(r, DFL_FOREIGN_SYNTAX, place(r, r->exe, "activation_recompute"), "expected `full`, `attn_only` or `none`");
    refuse_overlap(r);
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
                  run->heads % run->tensor != 0 || (run->splits_sequence && run->micro * run->seq % run->tensor != 0)))
        wrong(r, DFL_FOREIGN_RANGE, place(r, r->exe, "tensor_par"), "the parts of a tensor are not equal");
    if (!run->trains && strcmp(run->recompute, "none") != 0)
        wrong(r, DFL_FOREIGN_RANGE, place(r, r->exe, "activation_recompute"), "only training computes activations again");
    if ((run->shards_moments && run->data == 1) || (run->pipeline == 1 && run->interleave > 1))
        wrong(r, DFL_FOREIGN_RANGE, place(r, r->exe, run->pipeline == 1 && run->interleave > 1 ? "pipeline_interleaving"
              : "optimizer_sharding"), "this option needs more than one chip in its dimension");
}

/* What the recurrence of stages has no words for, or defines differently. */
static void check_stages(reader *r, const dfl_calc_run *run)
{
    if (!r->ok)
        return;
    if (run->interleave > run->layers || run->pipeline > run->layers)
        wrong(r, DFL_FOREIGN_RANGE, place(r, r->exe, "pipeline_par"), "a stage has no layer");
    else if (run->layers % (run->pipeline * run->interleave) != 0)
        refuse(r, "pipeline_par", "stages of unequal size are not supported: Calculon averages them, and a plan lets each "
               "wait for the longest");
    else if (run->interleave > 1 && run->batch / run->data / run->micro % run->pipeline != 0)
        refuse(r, "pipeline_interleaving", "interleaved stages are not supported where their number does not divide that of the "
               "micro-batches");
    else if (run->splits_sequence && run->seq % run->tensor != 0)
        refuse(r, "tensor_par", "a sequence that is cut into unequal parts is not supported");
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

/* Sets the rate and the overhead with which the algorithm `direct` takes latency + bytes x factor / (bandwidth x efficiency). It
   sends (n - 1) / n of the data once for a half of an all-reduce, and a message of a stage whole. */
static dfl_calc_network read_network(reader *r, const char *key, dfl_calc_exchange kind, int64_t n)
{
    static const char *const ops[] = { "all_reduce", "reduce_scatter", "p2p" };
    static const double overheads[] = { 3, 2, 2 };
    const dfl_yaml *net = network_of(r, key);
    const double share = kind == DFL_CALC_SEND ? 1 : (double)(n - 1) / (double)n * (kind == DFL_CALC_ALL_REDUCE ? 2 : 1);
    double factor, gather;

    if (net == NULL || n == 1)
        return (dfl_calc_network){ 1, 0 };
    factor = factor_of(r, net, ops[kind], kind == DFL_CALC_SEND ? 2 : n);
    gather = kind == DFL_CALC_SCATTER_GATHER ? factor_of(r, net, "all_gather", n) : factor;
    if (r->ok && gather != factor)
        wrong(r, DFL_FOREIGN_UNSUPPORTED, place(r, net, "ops"),
              "a network that gathers and scatters at different rates is not supported");
    return (dfl_calc_network){
        .rate = number(r, net, "bandwidth", 1e-9) * number(r, net, "efficiency", 1e-9) * share / factor,
        .overhead = number(r, net, "latency", 0) / overheads[kind],
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
    run->on_tensor = read_network(r, "tensor_par_net", run->splits_sequence ? DFL_CALC_SCATTER_GATHER : DFL_CALC_ALL_REDUCE,
                                  run->tensor);
    run->on_pipeline = read_network(r, "pipeline_par_net", DFL_CALC_SEND, run->pipeline);
    run->on_data = read_network(r, "data_par_net", run->shards_moments ? DFL_CALC_SCATTER_GATHER : DFL_CALC_ALL_REDUCE,
                                run->data);
    run->on_data.overhead /= N_WEIGHTS;
    check_size(r, run, "tensor_par_net");
    check_size(r, run, "pipeline_par_net");
    check_size(r, run, "data_par_net");
}

/* The share that work of the size `at` reaches. */
static double share_at(const dfl_yaml *list, double at)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (strtod(list->items[i].items[0].text, NULL) <= at)
            return strtod(list->items[i].items[1].text, NULL);
    return strtod(list->items[list->n - 1].items[1].text, NULL);
}

/* Slows the network of the tensor dimension by what Calculon adds to an exchange: the values pass through the memory twice, and
   those that are summed through the vector unit. A plan itself reads two parts and writes one for each sum. All exchanges have
   the size of a layer's input; where the sequence is split, the mean of gathers and scatters counts. */
static void add_buffers(dfl_calc_run *run, int64_t bytes)
{
    const double n = (double)run->tensor, elements = (double)(run->micro * run->seq) * (double)run->hidden;
    const double size = elements * (double)bytes, summed = elements * (n - 1) / n;
    const double moves = 2 * size / (run->memory_rate * 1e9 * share_at(run->memory_shares, 2 * size / 1e6));
    const double sums = summed / (run->vector * 1e12 * share_at(run->vector_shares, summed / 1e9));
    const double both = run->overlaps ? fmax(moves, sums) : moves + sums;
    const double own = 3 * summed * (double)bytes / (run->memory_rate * 1e9);
    const double gathers = !run->splits_sequence ? 0 : !run->trains ? 0.5 : strcmp(run->recompute, "full") == 0 ? 4.0 / 7 : 0.6;
    const double sent = summed * (double)bytes * (run->splits_sequence ? 1 : 2);
    const double seconds = sent / (run->on_tensor.rate * 1e9) + gathers * moves + (1 - gathers) * (both - own);

    if (run->tensor > 1 && seconds > 0)
        run->on_tensor.rate = sent / seconds / 1e9;
}

static void read_system(reader *r, dfl_calc_run *run)
{
    const char *mode = word(r, r->system, "processing_mode"), *type = word(r, r->exe, "datatype");
    const dfl_yaml *memory = get(r, r->system, "mem1");

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
    run->overlaps = strcmp(mode, "roofline") == 0;
    if (!run->overlaps && strcmp(mode, "no_overlap") != 0)
        wrong(r, DFL_FOREIGN_SYNTAX, place(r, r->system, "processing_mode"), "expected `roofline` or `no_overlap`");
    read_networks(r, run);
    if (r->ok)
        add_buffers(run, strcmp(run->type, "fp32") == 0 ? 4 : strcmp(run->type, "fp8") == 0 ? 1 : 2);
}

/* ---- losses ---- */

/* Where the imported run costs something else than in Calculon. */
static void lose(reader *r, const dfl_calc_run *run)
{
    dfl_lose(r->report, DFL_FOREIGN_LOST, place(r, dfl_yaml_get(r->system, "mem1"), "MB_efficiency"),
             "the share of the bandwidth follows from the size of each operand; Calculon takes the sum of those of an operation");
    dfl_lose(r->report, DFL_FOREIGN_LOST, place(r, r->exe, "activation_recompute"),
             "the memory for activations is what a pass keeps; Calculon adds up all values of a layer");
    dfl_lose(r->report, DFL_FOREIGN_LOST, place(r, r->exe, "microbatch_size"), "the masks of dropouts move no bytes");
    if (run->trains)
        dfl_lose(r->report, DFL_FOREIGN_LOST, place(r, r->exe, "training"),
                 "the optimizer reads and writes all its state, and gradients have the type of their weights; Calculon moves the "
                 "state once, and keeps the gradients of one layer in 4 bytes");
    if (run->overlaps)
        dfl_lose(r->report, DFL_FOREIGN_LOST, place(r, r->system, "processing_mode"),
                 "copies of the operands of attention do not run beside its products");
    if (run->has_one_key && run->tensor > 1 && run->trains)
        dfl_lose(r->report, DFL_FOREIGN_LOST, place(r, r->exe, "attention_type"),
                 "the gradients of the key and the value of all heads are summed over the chips; Calculon leaves this out");
    if (run->pipeline > 1)
        dfl_lose(r->report, DFL_FOREIGN_LOST, place(r, r->exe, "pipeline_par"),
                 "the last stage sends nothing ahead, and the first nothing back; in Calculon all stages do");
    if (run->splits_sequence && strcmp(run->recompute, "full") == 0)
        dfl_lose(r->report, DFL_FOREIGN_LOST, place(r, r->exe, "tensor_par_comm_type"),
                 "the gradients of weights gather the recomputed activations once more");
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
    read_app(&r, run);
    read_exe(&r, run);
    if (r.ok)
        check_numbers(&r, run);
    if (r.ok)
        read_system(&r, run);
    check_stages(&r, run);
    if (r.ok)
        lose(&r, run);
    return r.ok;
}
