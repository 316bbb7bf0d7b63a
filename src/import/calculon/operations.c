/*
 * The operations of a layer as Calculon counts them: operations, bytes and values of each, forward, for the gradients of its
 * operands, and for the gradients of its weights. The counts are of one chip and one micro-batch.
 */
#include "import/calculon/calculon_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The list under construction, and the extents that most operations share. */
typedef struct {
    const dfl_calc_run *run;
    dfl_calc_operation *out;
    double bytes;               /* of a value */
    double tokens;              /* of a micro-batch */
    double whole;               /* values of the input of a layer */
    double held;                /* of them on a chip */
    bool all, attention, again[2]; /* recomputed: everything, the attention, what the two halves of a layer gather */
} list;

static dfl_calc_operation *add(list *l, const char *name, double in, double result, double kept, double gradient)
{
    dfl_calc_operation *o = l->out++;

    *o = (dfl_calc_operation){ .name = name, .bytes = { l->bytes * (in + result), l->bytes * (kept + gradient), 0 },
                               .kept = l->bytes * kept, .gradient = l->bytes * gradient, .result = l->bytes * result,
                               .is_repeated = l->all, .is_kept = true, .keeps_result = true };
    return o;
}

static void set_work(dfl_calc_operation *o, double forward, double gradient, double weights)
{
    o->work[0] = forward;
    o->work[1] = gradient;
    o->work[2] = weights;
}

/* A value with several readers, whose gradients are summed. */
static dfl_calc_operation *add_fork(list *l, const char *name, double n, double readers)
{
    dfl_calc_operation *o = add(l, name, 0, 0, n, 0);

    set_work(o, 0, readers * n, 0);
    o->bytes[1] = l->bytes * n * (readers + 1);
    return o;
}

/* Moves the weights in all three stages, too. */
static void add_weights(const list *l, dfl_calc_operation *o, double weights)
{
    o->weights = weights;
    o->bytes[0] += l->bytes * weights;
    o->bytes[2] = o->bytes[1] += l->bytes * weights;
}

static void add_norm(list *l, const char *name)
{
    dfl_calc_operation *o = add(l, name, l->held, l->held, l->held, l->held);

    set_work(o, 9 * l->held, 14 * l->held, 7 * l->held);
    add_weights(l, o, 2 * (double)l->run->hidden);
    o->is_kept = false;
    o->is_reused = true;
}

static dfl_calc_operation *add_linear(list *l, const char *name, double in, double out)
{
    dfl_calc_operation *o = add(l, name, l->tokens * in, l->tokens * out, l->tokens * in, l->tokens * out);
    const double work = 2 * l->tokens * in * out;

    set_work(o, work, work, work);
    add_weights(l, o, in * out);
    o->is_matrix = true;
    return o;
}

/* A product in tiles beside the exchange of its operand (`sums`: of its result): `width` is divided among the chips. */
static void add_tiled(list *l, const char *name, double width, bool sums)
{
    const double n = (double)l->run->tensor, hidden = (double)l->run->hidden, tokens = l->tokens, part = width / n;
    const double in = tokens * (sums ? part : hidden), out = tokens * (sums ? hidden : part);
    const bool is_split = l->run->exchange == DFL_CALC_SPLIT;
    const double kept = is_split && !sums ? floor(in / n) : is_split || !sums ? in : 0;
    const double gradient = is_split && !sums ? out : is_split ? 2 * floor(out / n) : sums ? 2 * out : 0;
    dfl_calc_operation *o = add(l, name, in, out, kept, gradient);

    set_work(o, 2 * tokens * hidden * part, 2 * tokens * hidden * part, 2 * tokens * hidden * part);
    add_weights(l, o, hidden * part);
    o->is_matrix = true;
}

/* `n` products of an m x k by a k x n matrix. */
static dfl_calc_operation *add_products(list *l, const char *name, double count, double m, double k, double n)
{
    const double in = count * (m * k + k * n), out = count * m * n;
    dfl_calc_operation *o = add(l, name, in, out, in, out);

    set_work(o, 2 * count * m * k * n, 4 * count * m * k * n, 0);
    o->is_matrix = true;
    return o;
}

static dfl_calc_operation *add_drop(list *l, const char *name, double n)
{
    dfl_calc_operation *o = add(l, name, n, n, n, n);

    set_work(o, n, n, 0);
    o->bytes[0] = o->bytes[1] = 2 * n * l->bytes + n; /* a mask of one byte */
    o->kept = o->gradient = n;
    return o;
}

static void add_sum(list *l, const char *name)
{
    dfl_calc_operation *o = add(l, name, 2 * l->held, l->held, 2 * l->held, l->held);

    set_work(o, l->held, 2 * l->held, 0);
    o->is_kept = false;
    o->is_reused = true;
}

/* The buffers of an exchange among the chips of a layer: summed forward (`sums`) or in the gradients. */
static void add_exchange(list *l, const char *name, bool sums)
{
    const double n = (double)l->run->tensor, summed = l->whole * (n - 1) / n, moved = n > 1 ? 2 * l->bytes * l->whole : 0;
    const bool is_split = l->run->exchange == DFL_CALC_SPLIT, is_tiled = l->run->tile_overlap != DFL_CALC_NO_TILES;
    dfl_calc_operation *o = add(l, name, 0, 0, 0, 0);

    set_work(o, sums ? summed : 0, sums ? 0 : summed, 0);
    o->bytes[0] = (is_split || sums) && !is_tiled ? moved : 0;
    o->bytes[1] = (is_split || !sums) && !is_tiled ? moved : 0;
    o->sums = sums;
    o->is_exchange = true;
    o->is_repeated = false; /* Calculon repeats the messages, and not their buffers */
    o->is_kept = !sums;
    if (n > 1 && !is_tiled) {
        o->kept = is_split ? l->bytes * l->whole / n : sums ? l->bytes * l->whole : 0;
        o->gradient = is_split ? l->bytes * l->whole / n : sums ? 0 : l->bytes * l->whole;
    }
}

/* The input of the products of the attention has `readers`. */
static void add_fork2(list *l, double readers)
{
    dfl_calc_operation *o = add_fork(l, "fork2", l->whole, readers);

    o->is_repeated = l->again[0];
    o->is_kept = !l->again[0];
}

static void add_attention(list *l)
{
    const dfl_calc_run *run = l->run;
    const double seq = (double)run->seq, head = (double)run->head, chips = (double)run->tensor;
    const double width = floor((double)run->heads * head / chips), keys = run->has_one_key ? head : width;
    const double products = floor((double)run->micro * (double)run->heads / chips);
    const double scores = floor((double)run->heads / chips) * seq * seq * (double)run->micro;
    dfl_calc_operation *o;

    const bool is_tiled = run->tile_overlap != DFL_CALC_NO_TILES;
    const int first = is_tiled ? (run->has_one_key ? 2 : 0) : 3;

    if (is_tiled)
        add_tiled(l, "query", (double)run->heads * head * (run->has_one_key ? 1 : 3), false);
    else
        add_linear(l, "query", (double)run->hidden, width);
    if (is_tiled && run->has_one_key)
        add_fork2(l, 2);
    if (first > 0) {
        add_linear(l, "key", (double)run->hidden, keys);
        add_linear(l, "value", (double)run->hidden, keys);
    }
    for (int i = 1; i <= first; i++) {
        l->out[-i].is_kept = false;
        l->out[-i].is_reused = true;
    }
    o = add_products(l, "scores", products, seq, head, seq);
    o->is_repeated = l->attention;
    o->keeps_result = !l->attention;
    o = add(l, "softmax", scores, scores, scores, scores);
    set_work(o, 5 * scores, 8 * scores, 0);
    o->is_repeated = l->attention;
    o->keeps_result = !l->attention;
    o = add_drop(l, "drop1", scores);
    o->is_repeated = l->attention;
    o->is_kept = !l->attention;
    add_products(l, "mix", products, seq, seq, head);
    if (is_tiled)
        add_tiled(l, "project", (double)run->heads * head, true);
    else
        add_linear(l, "project", width, (double)run->hidden);
}

static void add_feed_forward(list *l)
{
    const dfl_calc_run *run = l->run;
    const double width = floor((double)run->feedforward / (double)run->tensor);
    const double values = floor((double)run->feedforward * l->tokens / (double)run->tensor), kept = run->is_fused ? 0 : values;
    dfl_calc_operation *o;

    if (run->tile_overlap != DFL_CALC_NO_TILES)
        add_tiled(l, "widen", (double)run->feedforward, false);
    else
        add_linear(l, "widen", (double)run->hidden, width)->is_kept = !l->again[1];
    o = add(l, "activate", values, values, kept, kept);
    set_work(o, 8 * values, 13 * values, 0);
    o->bytes[1] = 2 * values * l->bytes;
    if (run->tile_overlap != DFL_CALC_NO_TILES)
        add_tiled(l, "narrow", (double)run->feedforward, true);
    else
        add_linear(l, "narrow", width, (double)run->hidden);
}

size_t dfl_calc_operations(const dfl_calc_run *run, dfl_calc_operation out[DFL_CALC_OPERATIONS])
{
    const bool all = strcmp(run->recompute, "full") == 0, attention = strcmp(run->recompute, "none") != 0;
    list l = { .run = run, .out = out, .bytes = (double)run->bytes, .tokens = (double)(run->micro * run->seq), .all = all,
               .attention = attention, .again = { attention || run->gathers_again, all || run->gathers_again } };

    l.whole = l.tokens * (double)run->hidden;
    l.held = run->exchange == DFL_CALC_SPLIT ? floor(l.tokens / (double)run->tensor) * (double)run->hidden : l.whole;
    add_fork(&l, "fork1", l.held, 2);
    add_norm(&l, "norm1");
    add_exchange(&l, "gather1", false);
    if (run->tile_overlap == DFL_CALC_NO_TILES)
        add_fork2(&l, 3);
    add_attention(&l);
    add_exchange(&l, "sum1", true);
    add_drop(&l, "drop2", l.held);
    add_sum(&l, "add1");
    add_fork(&l, "fork3", l.held, 2);
    add_norm(&l, "norm2");
    add_exchange(&l, "gather2", false);
    add_feed_forward(&l);
    add_exchange(&l, "sum2", true);
    add_drop(&l, "drop3", l.held);
    add_sum(&l, "add2");
    return (size_t)(l.out - out);
}

bool dfl_calc_has_tiles(const dfl_calc_run *run) { return run->tile_overlap != DFL_CALC_NO_TILES && run->tensor > 1; }

dfl_calc_tiling dfl_calc_tiling_of(const dfl_calc_run *run)
{
    const int64_t tokens = run->micro * run->seq;
    dfl_calc_tiling t = { run->tensor, run->tensor - 1, 1, 0 };

    if (run->tensor == 2)
        t = (dfl_calc_tiling){ 4, 2, 2, 0 };
    t.tokens = tokens / t.parts > 0 ? tokens / t.parts : 1;
    return t;
}

double dfl_calc_exchange_seconds(const dfl_calc_run *run, bool reduces)
{
    const dfl_calc_link *net = &run->tensor_link;
    const double bytes = (double)(run->micro * run->seq) * (double)run->hidden * (double)run->bytes;
    const bool is_split = run->exchange == DFL_CALC_SPLIT;

    if (run->tensor == 1 || (!is_split && !reduces))
        return 0;
    return net->latency + bytes / net->rate * (!is_split ? net->all_reduce : reduces ? net->reduce_scatter : net->all_gather);
}

double dfl_calc_share(const dfl_yaml *shares, double at)
{
    for (uint32_t i = 0; i < shares->n; i++)
        if (strtod(shares->items[i].items[0].text, NULL) <= at)
            return strtod(shares->items[i].items[1].text, NULL);
    return strtod(shares->items[shares->n - 1].items[1].text, NULL);
}

dfl_calc_memory dfl_calc_memory_of(const dfl_calc_run *run)
{
    dfl_calc_operation all[DFL_CALC_OPERATIONS];
    const double stages = (double)run->pipeline, passes = fmin((double)run->batch / (double)(run->data * run->micro), stages);
    const double in_flight = run->interleave == 1 ? passes : passes * (1 + (stages - 1) / ((double)run->interleave * stages));
    const double copies = run->shards_moments ? (double)run->data : 1, layers = (double)run->stage_layers;
    double working = 0, stored = 0, gradients = 0, weights = 0;
    const size_t n = dfl_calc_operations(run, all);
    dfl_calc_memory out = { 0 };

    for (size_t i = 0; i < n; i++) {
        working += all[i].is_reused ? 0 : all[i].kept;
        stored += all[i].is_kept || !run->trains ? all[i].kept : 0;
        stored -= run->trains && !all[i].keeps_result ? all[i].result : 0;
        gradients += all[i].gradient;
        weights += all[i].weights;
    }
    if (!run->trains) /* Calculon has room for activations on their way, although none leave in the text */
        return (dfl_calc_memory){ .working = working + (run->moves_activations ? stored : 0), .layer_stored = stored };
    if (strcmp(run->recompute, "full") == 0)
        stored = 0;
    out.working = working - stored + gradients;
    if (strcmp(run->recompute, "full") == 0)
        stored = (double)(run->micro * run->seq) * (double)run->hidden * (double)run->bytes;
    out.layer_stored = stored;
    out.layer_gradients = (double)run->bytes * weights / copies;
    out.layer_state = (run->bytes < 4 ? 12 : 8) * weights / copies;
    out.stored = stored * (run->moves_activations ? 1 : in_flight / run->in_flight);
    out.gradients = (4 * weights + (double)run->bytes * weights / copies * (run->moves_optimizer ? 1 : layers - 1)) / layers;
    return out;
}
