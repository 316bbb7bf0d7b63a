/*
 * The time of a step as Calculon itself sums it up. The import needs it to say by how many seconds the text differs, and why. All
 * times are in s; `kind` is 0 for the layers inside of a chunk, and 1 for its last layer, which sends to the next stage.
 */
#include "import/calculon/peer.h"

#include <math.h>
#include <string.h>

enum { FORWARD, GRADIENT, WEIGHTS };

static double work_seconds(const dfl_calc_run *run, double flop, bool is_matrix)
{
    return flop <= 0 ? 0 : flop / ((is_matrix ? run->matrix : run->vector) * 1e12 *
                                   dfl_calc_share(is_matrix ? run->matrix_shares : run->vector_shares, flop / 1e9));
}

static double move_seconds(const dfl_calc_run *run, double bytes)
{
    return bytes <= 0 ? 0 : bytes / (run->memory_rate * 1e9 * dfl_calc_share(run->memory_shares, bytes / 1e6));
}

static double both(const dfl_calc_run *run, double work, double moves)
{
    return run->overlaps ? fmax(work, moves) : work + moves;
}

double dfl_calc_outer_seconds(const dfl_calc_run *run, double bytes)
{
    return bytes <= 0 ? 0 : bytes / (run->outer_rate * 1e9 * dfl_calc_share(run->outer_shares, bytes / 1e6));
}

/* An operation of a network. */
static double link_seconds(const dfl_calc_link *net, double factor, double bytes)
{
    return net->latency + bytes * factor / net->rate;
}

/* ---- exchanges of a layer ---- */

/* The link time of the exchange of an operation in a pass: summed forward (`o->sums`) or in the gradients. */
static double exchange_seconds(const dfl_calc_run *run, const dfl_calc_operation *o, int stage, int kind)
{
    const dfl_calc_link *net = &run->tensor_link;
    const bool is_split = run->exchange == DFL_CALC_SPLIT || (run->exchange == DFL_CALC_MIXED && kind == 1);
    const bool reduces = o->sums == (stage == FORWARD);
    const double bytes = (double)(run->micro * run->seq) * (double)run->hidden * (double)run->bytes;

    if (run->tensor == 1)
        return 0;
    if (!is_split)
        return reduces ? link_seconds(net, net->all_reduce, bytes) : 0;
    return link_seconds(net, reduces ? net->reduce_scatter : net->all_gather, bytes);
}

/* The same with what Calculon adds to it: the sums, and without overlap the buffers. */
static double charged_seconds(const dfl_calc_run *run, const dfl_calc_operation *o, int stage, int kind, const bool *as_peer)
{
    const double link = exchange_seconds(run, o, stage, kind);

    if (run->tile_overlap == DFL_CALC_NO_TILES)
        return run->tensor == 1 ? 0 : link + both(run, work_seconds(run, o->work[stage], false),
                                                  move_seconds(run, o->bytes[stage]));
    return link + (link > 0 && as_peer[DFL_CALC_TILED] ? work_seconds(run, o->work[stage], false) : 0);
}

/* ---- a product beside its exchange ---- */

typedef struct { double seconds, exposed; } tiled;

/* A product in as many tiles as there are chips, beside its exchange of `link` seconds, in the text: each tile but the own one
   runs beside an exchange, which takes a share of the chip, and waits until it has ended. */
static tiled run_tiles_of_text(const dfl_calc_run *run, double work, double moves, double link)
{
    const double n = (double)run->tensor, busy = work + run->tensor_link.use * link, alone = both(run, work, moves);
    const double beside = run->overlaps ? fmax(busy, moves) : busy; /* transfers that follow the work follow all tiles */

    return (tiled){ alone / n + (n - 1) / n * (run->overlaps ? beside : busy + moves), (n - 1) / n * fmax(0, link - beside) };
}

/* The same as Calculon has it: exchanges run beside the work alone, even where transfers run beside the work. */
static tiled run_tiles_of_peer(const dfl_calc_run *run, double work, double moves, double link)
{
    const double n = (double)run->tensor, use = run->tensor_link.use;
    const double alone = both(run, work, moves), slowed = both(run, work / (1 - use), moves);

    if (link > work / (1 - use))
        return (tiled){ alone / n + (n - 1) * slowed / n, (n - 1) * (link - work / (1 - use)) / n };
    return (tiled){ alone + (n - 1) * link / n * use, 0 };
}

static tiled run_tiles(const dfl_calc_run *run, double work, double moves, double link, const bool *as_peer)
{
    const double tile = run->tile_overlap == DFL_CALC_PIPE ? link / (double)run->tensor : 0;
    tiled out = { both(run, work, moves), 0 };

    if (link <= 0)
        return out;
    out = as_peer[DFL_CALC_TILED] ? run_tiles_of_peer(run, work, moves, link) : run_tiles_of_text(run, work, moves, link);
    out.exposed += tile;
    out.seconds += as_peer[DFL_CALC_TWICE] ? tile : 0;
    return out;
}

/* ---- sums of a layer ---- */

/* Whether Calculon repeats the exchange of an operation in the backward pass. */
static bool repeats(const dfl_calc_run *run, const dfl_calc_operation *o)
{
    const bool all = strcmp(run->recompute, "full") == 0, attention = strcmp(run->recompute, "none") != 0;

    if (!run->trains)
        return false;
    if (o->sums)
        return all;
    return strcmp(o->name, "gather1") == 0 ? attention || run->gathers_again : all || run->gathers_again;
}

/* Adds the exchange of an operation. `product` is the product that it runs beside, or NULL. */
static void add_exchange(const dfl_calc_run *run, const dfl_calc_operation *o, const dfl_calc_operation *product,
                         const bool *as_peer, dfl_calc_sums *s)
{
    for (int kind = 0; kind < 2; kind++) {
        double exposed[2];

        for (int stage = FORWARD; stage <= GRADIENT; stage++) {
            const double link = charged_seconds(run, o, stage, kind, as_peer);

            exposed[stage] = product == NULL
                                 ? link
                                 : run_tiles(run, work_seconds(run, product->work[stage], true),
                                             move_seconds(run, product->bytes[stage]),
                                             charged_seconds(run, o, stage, 0, as_peer), as_peer).exposed;
            s->link[kind][stage] += link;
            s->exposed[kind][stage] += exposed[stage];
        }
        if (repeats(run, o)) {
            const double link = exchange_seconds(run, o, FORWARD, kind), waits = run->tile_overlap == DFL_CALC_PIPE ? 1 : 0;
            const bool hides = product != NULL && (as_peer[DFL_CALC_REPEATED] || product->is_repeated);
            const double bare = product == NULL ? link : exchange_seconds(run, o, FORWARD, 0) *
                                                             (1 - (1 - waits) / (double)run->tensor);

            s->link_again[kind] += link;
            s->exposed_again[kind] += hides ? exposed[FORWARD] : bare;
        }
    }
    for (int stage = FORWARD; stage <= GRADIENT && product != NULL && !as_peer[DFL_CALC_TILED]; stage++)
        s->time[stage] += work_seconds(run, o->work[stage], false); /* the text has the sums before the product */
}

/* Adds the work of an operation that is no exchange. `exchange` is the one that runs beside it, or NULL. */
static void add_work(const dfl_calc_run *run, const dfl_calc_operation *o, const dfl_calc_operation *exchange,
                     const bool *as_peer, dfl_calc_sums *s)
{
    for (int stage = FORWARD; stage <= WEIGHTS; stage++) {
        const double work = work_seconds(run, o->work[stage], o->is_matrix), moves = move_seconds(run, o->bytes[stage]);
        double link = 0;

        if (stage == WEIGHTS && o->weights == 0)
            continue;
        if (exchange != NULL)
            link = stage != WEIGHTS ? charged_seconds(run, exchange, stage, 0, as_peer)
                   : as_peer[DFL_CALC_REPEATED] && repeats(run, exchange) ? exchange_seconds(run, exchange, FORWARD, 0) : 0;
        s->time[stage] += run_tiles(run, work, moves, link, as_peer).seconds;
        if (stage == FORWARD && o->is_repeated)
            s->again += run_tiles(run, work, moves, link, as_peer).seconds;
    }
}

static void add_optimizer(const dfl_calc_run *run, const dfl_calc_operation *o, dfl_calc_sums *s)
{
    const double parts = run->shards_moments ? (double)run->data : 1, state = run->bytes < 4 ? 12 : 8;
    const double work = work_seconds(run, 11 * o->weights / parts, false), moves = move_seconds(run, state * o->weights / parts);

    if (o->weights == 0)
        return;
    s->optimizer += both(run, work, moves);
    s->optimizer_work += work;
    s->optimizer_moves += moves;
}

/* The product that an exchange runs beside: the one behind a gather, and the one before a sum. NULL = none, or no tiles. */
static int beside(const dfl_calc_run *run, const dfl_calc_operation *all, int n, int exchange)
{
    const int step = all[exchange].sums ? -1 : 1;

    if (run->tile_overlap == DFL_CALC_NO_TILES || run->tensor == 1)
        return -1;
    for (int i = exchange + step; i >= 0 && i < n; i += step)
        if (all[i].is_matrix)
            return i;
    return -1;
}

/* The operations with weights in the order in which the backward pass of the text makes their gradients. Without tiles, those of
   norms come first; products of shapes follow the counted operations. */
static const char *const weight_order[2][DFL_CALC_WEIGHTS] = { { "norm", "narrow", "widen", "project", "value", "key", "query" },
                                                               { "narrow", "widen", "project", "query", "norm" } };

static int place_of_weight(const char *name, bool has_tiles)
{
    if (has_tiles && (strcmp(name, "key") == 0 || strcmp(name, "value") == 0))
        name = "query";
    if (strncmp(name, "norm", 4) == 0)
        name = "norm";
    for (int i = 0; i < DFL_CALC_WEIGHTS && weight_order[has_tiles][i] != NULL; i++)
        if (strcmp(weight_order[has_tiles][i], name) == 0)
            return i;
    return -1;
}

/* Notes when the gradients of weights are there: of a product in tiles before its own part and all operations before it. `before`
   is the backward time of the operations before each one. */
static void note_tiled_gradients(const dfl_calc_run *run, const dfl_calc_operation *all, int n, const double *before,
                                 dfl_calc_sums *s)
{
    for (int i = 0; i < n; i++) {
        const double work = work_seconds(run, all[i].work[GRADIENT], true), moves = move_seconds(run, all[i].bytes[GRADIENT]);
        const int first = i > 0 && all[i - 1].is_exchange ? i - 1 : i;

        if (all[i].is_matrix && all[i].weights > 0 && strcmp(all[i].name, "key") != 0 && strcmp(all[i].name, "value") != 0)
            s->weight_left[place_of_weight(all[i].name, true)] =
                before[first] + both(run, work, moves) / (double)run->tensor;
    }
}

/* The same without tiles: before some of the exchanges of the layer, all of which take their mean time. */
static void note_gradients(const dfl_calc_run *run, dfl_calc_sums *s)
{
    static const double behind[2][DFL_CALC_WEIGHTS] = { { 2, 2, 1, 1, 1, 1, 0 }, { 4, 3, 2, 1, 1, 1, 0 } };
    const bool is_split = run->exchange == DFL_CALC_SPLIT; /* four exchanges, else two all-reduces */
    const double last = 1 / (double)run->chunk_layers, all = (1 - last) * s->link[0][GRADIENT] + last * s->link[1][GRADIENT];

    for (int i = 0; i < DFL_CALC_WEIGHTS; i++)
        s->weight_left[i] = all / (is_split ? 4 : 2) * behind[is_split][i];
}

dfl_calc_sums dfl_calc_sum_layer(const dfl_calc_run *run, const bool as_peer[DFL_CALC_N_QUIRKS])
{
    dfl_calc_operation all[DFL_CALC_OPERATIONS];
    const int n = (int)dfl_calc_operations(run, all);
    dfl_calc_sums s = { 0 };
    double flops = 0, moves = 0, before[DFL_CALC_OPERATIONS];

    for (int i = 0; i < n; i++) {
        const dfl_calc_operation *o = &all[i], *exchange = NULL;

        before[i] = s.time[GRADIENT] + s.time[WEIGHTS] + s.exposed[0][GRADIENT];
        for (int k = 0; k < n && !o->is_exchange; k++)
            if (all[k].is_exchange && beside(run, all, n, k) == i)
                exchange = &all[k];
        if (o->is_exchange)
            add_exchange(run, o, beside(run, all, n, i) >= 0 ? &all[beside(run, all, n, i)] : NULL, as_peer, &s);
        else
            add_work(run, o, exchange, as_peer, &s);
        for (int stage = FORWARD; stage <= WEIGHTS; stage++) {
            const bool counts = run->tile_overlap == DFL_CALC_NO_TILES || !o->is_exchange;

            s.work[stage] += counts ? work_seconds(run, o->work[stage], o->is_matrix) : 0;
            s.moves[stage] += counts ? move_seconds(run, o->bytes[stage]) : 0;
        }
        flops += o->is_exchange && run->tile_overlap != DFL_CALC_NO_TILES ? 0 : work_seconds(run, o->work[0], o->is_matrix);
        moves += o->is_exchange && run->tile_overlap != DFL_CALC_NO_TILES ? 0 : move_seconds(run, o->bytes[0]);
        if (o->is_repeated) {
            s.again_work += work_seconds(run, o->work[0], o->is_matrix);
            s.again_moves += move_seconds(run, o->bytes[0]);
            s.running_work += flops;
            s.running_moves += moves;
        }
        add_optimizer(run, o, &s);
        s.weight_bytes += o->weights * (double)run->bytes;
    }
    for (int i = 0; i < n; i++)
        if (all[i].weights > 0)
            s.weight_share[place_of_weight(all[i].name, dfl_calc_has_tiles(run))] +=
                all[i].weights * (double)run->bytes / s.weight_bytes;
    if (dfl_calc_has_tiles(run))
        note_tiled_gradients(run, all, n, before, &s);
    else
        note_gradients(run, &s);
    if (!run->trains)
        for (int stage = GRADIENT; stage <= WEIGHTS; stage++)
            s.time[stage] = s.work[stage] = s.moves[stage] = 0;
    for (int kind = 0; kind < 2 && !run->trains; kind++)
        s.link[kind][GRADIENT] = s.exposed[kind][GRADIENT] = 0;
    if (!run->trains)
        s.optimizer = s.optimizer_work = s.optimizer_moves = 0;
    return s;
}

/* ---- the step ---- */

/* The passes of a step, and what a step adds to the sums of a layer under the assumptions `as_peer`. */
typedef struct {
    const dfl_calc_run *run;
    const dfl_calc_sums *s;
    const bool *as_peer;
    double passes, rest, missing;       /* micro-batches; of the last round of them; layers that the stages lack */
    double base, edge;                  /* passes of layers inside of chunks, and of last layers */
    double forward[2], backward[2];     /* of a layer, with exposed exchanges and messages, then with exposed transfers */
    double ahead, back;                 /* messages between stages */
} step;

/* The exchange of the gradients of a layer, and with a divided optimizer of its weights. */
static double gradient_seconds(const dfl_calc_run *run, const dfl_calc_sums *s)
{
    const dfl_calc_link *net = &run->data_link;

    if (!run->trains || run->data == 1)
        return 0;
    return run->shards_moments ? link_seconds(net, net->reduce_scatter, s->weight_bytes) +
                                     link_seconds(net, net->all_gather, s->weight_bytes)
                               : link_seconds(net, net->all_reduce, s->weight_bytes);
}

/* The part of it that the text can hide: weights are gathered behind the step of the optimizer. */
static double hidden_seconds(const dfl_calc_run *run, const dfl_calc_sums *s)
{
    const double layers = (double)run->stage_layers, latency = 2 * run->data_link.latency;

    if (!run->shards_moments)
        return gradient_seconds(run, s);
    return latency * layers / (layers + 1) + (gradient_seconds(run, s) - latency) / 2;
}

/* The factor on the time of a pass and of a transfer. It is below 1 in the text of a run in which some stages lack a layer: the
   text has shorter passes where Calculon leaves passes out, and both have the same sum. The exchange of gradients and the
   transfers of the optimizer come once in a step. So the exchange has shorter passes beside it, and the transfers are shorter. */
static double pace_of(const dfl_calc_run *run, const bool *as_peer)
{
    return as_peer[DFL_CALC_UNEQUAL] ? 1 : run->pace;
}

/* Exposed time of gradients that the layers of the last passes of a stage hide one after another, as the text has them. */
static double gradients_of_text(const step *t)
{
    const dfl_calc_run *run = t->run;
    const double layers = (double)run->chunk_layers, each = hidden_seconds(run, t->s), all = gradient_seconds(run, t->s);
    const double message = run->pipeline == 1 ? t->back : 0; /* Calculon counts the latency of one that nobody sends */
    const double pace = pace_of(run, t->as_peer), back = pace * ((layers - 1) * t->backward[0] + t->backward[1] - message);
    const double pass = pace * ((layers - 1) * t->forward[0] + t->forward[1]) + back;
    const double latency = run->data_link.latency * (run->shards_moments ? 2 * (double)run->stage_layers /
                                                                               ((double)run->stage_layers + 1) : 1);
    const bool has_tiles = dfl_calc_has_tiles(run);
    const double weights = has_tiles ? 6 : 8;
    double free_at = 0, end = 0;

    for (int64_t k = 0; k < run->interleave; k++) {
        const double start = (double)k * (double)run->pipeline * pass;

        for (int64_t l = 1; l <= run->chunk_layers; l++) {
            const double layer_end = start + (double)l * pace * t->backward[0];

            for (int i = 0; i < DFL_CALC_WEIGHTS; i++)
                if (t->s->weight_share[i] > 0)
                    free_at = fmax(free_at, layer_end - pace * t->s->weight_left[i]) + (each - latency) * t->s->weight_share[i] +
                              latency / weights * (strcmp(weight_order[has_tiles][i], "norm") == 0 ? 2 : 1);
        }
        end = start + back;
    }
    return fmax(0, free_at - end) + (double)run->stage_layers * (all - each);
}

/* Exposed time of the exchange of gradients. */
static double gradients_of(const step *t)
{
    const dfl_calc_run *run = t->run;
    const dfl_calc_sums *s = t->s;
    const bool *peer = t->as_peer;
    const double each = gradient_seconds(run, s), use = peer[DFL_CALC_SLOWED] ? run->data_link.use : 0;
    const double layers = (double)run->chunk_layers, v = (double)run->interleave, P = (double)run->pipeline;
    const bool on_tensor = peer[DFL_CALC_SHARED] && run->data_link.network == run->tensor_link.network;
    const bool on_stage = peer[DFL_CALC_SHARED] && run->data_link.network == run->stage_link.network && P > 1;
    const double again = peer[DFL_CALC_RUNNING] ? s->running_moves : s->again_moves;
    const double moves = peer[DFL_CALC_WAITS] ? s->moves[GRADIENT] + s->moves[WEIGHTS] + again : 0;
    const double optimizer = run->shards_moments || !peer[DFL_CALC_OPTIMIZED]
                                 ? 0 : s->optimizer - (peer[DFL_CALC_WAITS] ? s->optimizer_moves : 0);
    const double work = s->work[GRADIENT] + s->work[WEIGHTS] + (peer[DFL_CALC_RUNNING] ? s->running_work : s->again_work) +
                        (run->shards_moments ? 0 : s->optimizer_work);
    double over[2], all, chunk, k, first, last, window;

    if (each == 0 || !run->hides_gradients)
        return each * (double)run->stage_layers;
    if (!peer[DFL_CALC_WINDOW])
        return gradients_of_text(t);
    for (int kind = 0; kind < 2; kind++)
        over[kind] = t->backward[kind] - moves + optimizer - (on_tensor ? s->link_again[kind] + s->link[kind][GRADIENT] : 0);
    all = (layers - 1) * over[0] + over[1];
    chunk = (layers - 1) * t->backward[0] + t->backward[1];
    k = on_stage ? fmin(floor(layers * each / chunk), t->rest > 0 ? t->rest : P) : 0;
    first = layers * each - (P * all - k * t->back) + P * layers * work * use;
    first = (v - 1) * (first > 0 ? first : layers * each * use);
    window = layers > 1 ? all - t->back - (t->backward[0] + t->backward[1]) / 2 + optimizer : 0;
    last = (layers - 1) * each + work * use - window;
    return each + first + (last > 0 ? last : (layers - 1) * each * use);
}

/* The transfers of some bytes for each weight of a layer, tensor by tensor. */
static double tensor_seconds(const dfl_calc_run *run, double bytes)
{
    dfl_calc_operation all[DFL_CALC_OPERATIONS];
    const size_t n = dfl_calc_operations(run, all);
    double sum = 0, joined = 0;

    for (size_t i = 0; i < n; i++) {
        const bool is_joined = dfl_calc_has_tiles(run) && (strcmp(all[i].name, "query") == 0 || strcmp(all[i].name, "key") == 0 ||
                                                           strcmp(all[i].name, "value") == 0);

        joined += is_joined ? all[i].weights : 0; /* one tensor in the text */
        sum += is_joined ? 0 : dfl_calc_outer_seconds(run, all[i].weights * bytes);
    }
    return sum + dfl_calc_outer_seconds(run, joined * bytes);
}

/* Time of the transfers of a layer: forward, backward. Those of the text: reads and writes run at once, tensor by tensor. */
static void time_transfers(const step *t, double out[2])
{
    const dfl_calc_run *run = t->run;
    const bool *peer = t->as_peer, keeps = run->moves_activations && (run->trains || peer[DFL_CALC_IDLE]);
    const dfl_calc_memory held = dfl_calc_memory_of(run);
    const double weights = run->moves_weights ? t->s->weight_bytes : 0, kept = keeps ? held.layer_stored : 0;
    const double state = run->moves_optimizer && peer[DFL_CALC_STATE] ? held.layer_state : 0;

    if (peer[DFL_CALC_LUMPED]) {
        out[0] = dfl_calc_outer_seconds(run, fmax(weights, kept));
        out[1] = dfl_calc_outer_seconds(run, weights + kept + state);
        return;
    }
    out[0] = fmax(weights > 0 ? tensor_seconds(run, (double)run->bytes) : 0, dfl_calc_outer_seconds(run, kept));
    out[1] = (weights > 0 ? tensor_seconds(run, (double)run->bytes) : 0) + dfl_calc_outer_seconds(run, kept) +
             dfl_calc_outer_seconds(run, state);
}

/* Exposed transfers of the step of the optimizer in the text: each state is read and written once, and each weight written,
   beside the work and the gathering of weights. */
static double update_transfers(const step *t)
{
    const dfl_calc_run *run = t->run;
    const double copies = run->shards_moments ? (double)run->data : 1, states = run->bytes < 4 ? 3 : 2;
    const double state = run->moves_optimizer ? states * tensor_seconds(run, 4 / copies) : 0;
    const double weights = run->moves_weights ? tensor_seconds(run, (double)run->bytes) : 0;
    const double gathers = run->shards_moments ? gradient_seconds(run, t->s) - hidden_seconds(run, t->s) : 0;

    if (t->as_peer[DFL_CALC_STATE] || !run->trains)
        return 0;
    return (double)run->stage_layers * fmax(0, pace_of(run, t->as_peer) * (state + weights) - t->s->optimizer - gathers);
}

/* Sets the times of a layer, and returns the exposed transfers of all passes. */
static double add_layers(step *t)
{
    const dfl_calc_sums *s = t->s;
    const bool *peer = t->as_peer;
    double moved[2], sum = 0;

    time_transfers(t, moved);
    for (int kind = 0; kind < 2; kind++) {
        const double n = kind == 0 ? t->base : t->edge, busy = peer[DFL_CALC_PORT] ? 1 : 0;
        const double waits[2] = { busy * s->moves[FORWARD], busy * (s->moves[GRADIENT] + s->moves[WEIGHTS]) };
        const double ahead = kind == 1 ? t->ahead : 0, back = kind == 1 ? t->back : 0;
        double over[2];

        t->forward[kind] = s->time[FORWARD] + s->exposed[kind][FORWARD];
        t->backward[kind] = s->again + s->exposed_again[kind] + s->time[GRADIENT] + s->time[WEIGHTS] + s->exposed[kind][GRADIENT];
        over[0] = moved[0] > 0 ? fmax(0, moved[0] + waits[0] - t->forward[kind] - (peer[DFL_CALC_MESSAGES] ? ahead : 0)) : 0;
        over[1] = moved[1] > 0 && t->run->trains
                      ? fmax(0, moved[1] + waits[1] - t->backward[kind] - (peer[DFL_CALC_MESSAGES] ? back : 0)) : 0;
        t->forward[kind] += over[0] + ahead;
        t->backward[kind] += over[1] + back;
        sum += n * (over[0] + over[1]);
    }
    return sum;
}

double dfl_calc_step_seconds(const dfl_calc_run *run, const bool as_peer[DFL_CALC_N_QUIRKS])
{
    const double P = (double)run->pipeline, v = (double)run->interleave, layers = (double)run->stage_layers;
    const double passes = (double)(run->batch / run->data / run->micro), chunk = (double)run->chunk_layers;
    const dfl_calc_sums sums = dfl_calc_sum_layer(run, as_peer);
    step t = { .run = run, .s = &sums, .as_peer = as_peer, .passes = passes, .rest = fmod(passes, P),
               .missing = fmod(P - fmod((double)run->layers, P), P), .base = passes * v * (chunk - 1), .edge = passes * v };
    const dfl_calc_sums *s = t.s;
    double whole, extra, sum;

    t.ahead = link_seconds(&run->stage_link, run->stage_link.p2p, P > 1 ? run->message_bytes : 0);
    t.back = link_seconds(&run->stage_link, run->stage_link.p2p, P > 1 && run->trains ? run->message_bytes : 0);
    sum = add_layers(&t);
    whole = (chunk - 1) * (t.forward[0] + t.backward[0]) + t.forward[1] + t.backward[1];
    extra = t.rest > 0 ? (v - 1) * (P - t.rest) : 0;
    sum += (P - 1 + extra) * whole;
    sum -= t.missing * (chunk > 1 ? (t.forward[0] + t.forward[1] + t.backward[0] + t.backward[1]) / 2
                                  : t.forward[1] + t.backward[1]);
    sum += layers * passes * (s->time[FORWARD] + s->time[GRADIENT] + s->time[WEIGHTS] + s->again) + layers * s->optimizer;
    for (int kind = 0; kind < 2; kind++)
        sum += (kind == 0 ? t.base : t.edge) * (s->exposed[kind][FORWARD] + s->exposed[kind][GRADIENT] + s->exposed_again[kind]);
    sum += P > 1 ? t.edge * (t.ahead + (run->trains ? t.back : 0)) : 0;
    return sum + update_transfers(&t) + gradients_of(&t);
}
