/*
 * The text of a run. The workload of a layer has two parts. Products and sums of whole tensors carry shapes, weights, layouts
 * and exchanges, and take no time. Beside them a chain of operations over one value for each micro-batch carries what Calculon
 * counts: the cost of `work_X` is the number of operations of X on a chip, that of `move_X` the number of its bytes, and that
 * of their derivatives what the backward pass counts. So each operation has one size, as in Calculon, by which its efficiency
 * follows.
 */
#include "import/calculon/calculon_internal.h"
#include "import/dfl_writer.h"
#include "support/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(dfl_arena *arena, double value)
{
    char text[32];

    dfl_double_text(value, text);
    return dfl_arena_printf(arena, "%s", text);
}

/* ---- operations ---- */

/* Declares a counted operation and its derivative, and adds the einsum `result = op(operand)`. */
static void print_op(dfl_calc_text *t, dfl_strbuf *unit, const char *name, const char *unit_name, const double counts[2],
                     const char *result, const char *operand, bool is_again)
{
    dfl_calc_print_op(t, unit, name, unit_name, counts);
    dfl_strbuf_printf(&t->chain, "%s[b, one] = %s(%s[b, one]) over one;\n", result, name, operand);
    if (is_again)
        dfl_strbuf_printf(&t->again, ", %s", result);
}

/* Adds a stage of an operation to the chain: its work, then its transfers, or both beside each other. */
static void print_stage(dfl_calc_text *t, dfl_arena *arena, const char *name, const dfl_calc_operation *o, const double work[2],
                        const double bytes[2])
{
    const bool works = work[0] + work[1] > 0, moves = bytes[0] + bytes[1] > 0, beside = works && moves && t->run->overlaps;
    dfl_strbuf *unit = o->is_matrix ? &t->matrix : &t->vector;
    const char *worked = works && moves ? dfl_arena_printf(arena, "%s_worked", name) : name;
    const char *moved = beside ? dfl_arena_printf(arena, "%s_moved", name) : name, *from = t->last;
    const char *in[2] = { from, works ? worked : from };

    if (!works && !moves)
        return;
    if (beside) {
        for (int i = 0; i < 2; i++) {
            in[i] = dfl_arena_printf(arena, "%s_%s", name, i == 0 ? "in" : "data");
            dfl_strbuf_printf(&t->chain, "%s[b, one] = %s[b, one];\n", in[i], from);
            if (o->is_repeated)
                dfl_strbuf_printf(&t->again, ", %s", in[i]);
        }
    }
    if (works)
        print_op(t, unit, dfl_arena_printf(arena, "work_%s", name), "FLOP", work, worked, in[0], o->is_repeated);
    if (moves)
        print_op(t, &t->port, dfl_arena_printf(arena, "move_%s", name), "OP", bytes, moved, in[1], o->is_repeated);
    if (beside)
        dfl_strbuf_printf(&t->chain, "%s[b, one] = %s[b, one] + %s[b, one];\n", name, worked, moved);
    if (beside && o->is_repeated)
        dfl_strbuf_printf(&t->again, ", %s", name);
    t->last = name;
}

static void print_operation(dfl_calc_text *t, dfl_arena *arena, const dfl_calc_operation *o)
{
    const double back = t->run->trains ? 1 : 0;
    const double work[2] = { o->work[0], back * o->work[1] }, bytes[2] = { o->bytes[0], back * o->bytes[1] };
    const double no_work[2] = { 0, 0 }, weight_work[2] = { 0, back * o->work[2] }, weight_bytes[2] = { 0, back * o->bytes[2] };

    if (!dfl_calc_print_tiles(t, arena, o))
        print_stage(t, arena, o->name, o, work, bytes);
    else if (!t->run->overlaps)
        print_stage(t, arena, o->name, o, no_work, bytes);
    if (o->weights > 0)
        print_stage(t, arena, dfl_arena_printf(arena, "%s_weight", o->name), o, weight_work, weight_bytes);
}

/* The chain of a layer. Exchanges come first, so that what the backward pass repeats is one piece of the chain. */
static dfl_calc_text print_operations(const dfl_calc_run *run, dfl_arena *arena)
{
    dfl_calc_text t = { .run = run, .back = "", .last = "begin" };
    dfl_strbuf *const bufs[] = { &t.ops, &t.chain, &t.matrix, &t.vector, &t.port, &t.tiled, &t.tiled_port, &t.braces,
                                 &t.again };
    dfl_calc_operation all[DFL_CALC_OPERATIONS];

    for (size_t i = 0; i < sizeof bufs / sizeof bufs[0]; i++)
        dfl_strbuf_init(bufs[i], arena);
    const size_t n = dfl_calc_operations(run, all);

    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < n; i++)
            if (all[i].is_exchange == (pass == 0))
                print_operation(&t, arena, &all[i]);
    return t;
}

/* ---- workload ---- */

static const char products[] =
    "// shapes, weights and exchanges; no time\n"
    "N1[b, m, d] = X[b, m, d];\n"
    "N1_all[b, m, d] = N1[b, m, d];\n"
    "Q[b, m, t, h, e] += N1_all[b, m, d] * WQ[d, t, h, e];\n"
    "K[%s] += N1_all[b, m, d] * WK[%s];\n"
    "V[%s] += N1_all[b, m, d] * WV[%s];\n"
    "Z[b, m, t, h, e] = Q[b, m, t, h, e] + K[%s] + V[%s];\n"
    "O[b, m, d] += Z[b, m, t, h, e] * WO[t, h, e, d];\n"
    "R[b, m, d] = X[b, m, d] + O[b, m, d];\n"
    "N2[b, m, d] = R[b, m, d];\n"
    "N2_all[b, m, d] = N2[b, m, d];\n"
    "F1[b, m, t, f] += N2_all[b, m, d] * W1[d, t, f];\n"
    "F2[b, m, d] += F1[b, m, t, f] * W2[t, f, d];\n"
    "Y[b, m, d] = R[b, m, d] + F2[b, m, d];\n";

static double at_least_one(double x) { return x < 1 ? 1 : round(x); }

enum { RESERVE_BITS = 4096 }; /* of an element of `reserve`: so few elements that their optimizer takes no time */

/* The ranks of tiles: `x` tiles of `p` tokens; `g` heads of queries, keys and values; `w` parts of a tile that nothing hides. */
static void print_tile_ranks(const dfl_calc_run *run, dfl_strbuf *out)
{
    const dfl_calc_tiling tiling = dfl_calc_tiling_of(run);
    const int64_t heads = run->heads / run->tensor;

    dfl_strbuf_printf(out, ", x = %lld, p = %lld, g = %lld", (long long)tiling.n, (long long)tiling.tokens,
                      (long long)(run->has_one_key ? heads + 2 : 3 * heads));
    if (run->tile_overlap == DFL_CALC_PIPE)
        dfl_strbuf_printf(out, ", w = %lld", (long long)tiling.own);
}

/* The ones that spread values over the tiles, and sum them. */
static const char *inputs_of(const dfl_calc_run *run)
{
    if (!dfl_calc_has_tiles(run))
        return "";
    return run->tile_overlap == DFL_CALC_PIPE ? "each[x], each_d[d], each_t[t], " : "each[x], ";
}

static void print_block(const dfl_calc_text *t, const dfl_calc_run *run, dfl_strbuf *out)
{
    const char *made = run->has_one_key ? "b, m, t, e" : "b, m, t, h, e", *weight = run->has_one_key ? "d, t, e" : "d, t, h, e";
    const dfl_calc_memory held = dfl_calc_memory_of(run);

    dfl_strbuf_z(out, "/// Operations and bytes (`OP`) of a chip for a micro-batch, as Calculon counts them, and those of the\n"
                      "/// backward pass.\n");
    dfl_strbuf_z(out, t->ops.text);
    dfl_strbuf_z(out, "/// Takes no time.\nop join(x, y) = 0FLOP; op join_d1(x, y) = 0FLOP; op join_d2(x, y) = 0FLOP;\n");
    dfl_strbuf_printf(out, "\n/// The layers of the application: `b` micro-batches of `m` tokens; `t` groups of `h` heads and\n"
                      "/// `f` values of the middle of a layer, one for each chip; bytes that are stored (`z`) and used (`y`).\n"
                      "workload block : %s {\n", run->type);
    dfl_strbuf_printf(out, "rank b = %lld, m = %lld, d = %lld, t = %lld, h = %lld, e = %lld, f = %lld, one = 1, two = 2, "
                      "z = %.0f, y = %.0f%s", (long long)(run->batch / run->micro), (long long)(run->micro * run->seq),
                      (long long)run->hidden, (long long)run->tensor, (long long)(run->heads / run->tensor), (long long)run->head,
                      (long long)(run->feedforward / run->tensor), at_least_one(held.stored), at_least_one(held.working),
                      "");
    if (run->trains)
        dfl_strbuf_printf(out, ", k = %.0f", at_least_one(held.gradients * 8 / RESERVE_BITS));
    if (dfl_calc_has_tiles(run))
        print_tile_ranks(run, out);
    dfl_strbuf_printf(out, ";\ninput %sI[b, m, d], start[b, one], seed[b, z] : u8, room[b, y] : u8;\nX[b, m, d] = I[b, m, d];\n"
                      "repeat %lld as layer carrying X = Y {\n", inputs_of(run), (long long)run->written_layers);
    if (dfl_calc_has_tiles(run))
        dfl_strbuf_z(out, "weight WQ[d, t, g, e], ");
    else
        dfl_strbuf_printf(out, "weight WQ[d, t, h, e], WK[%s], WV[%s], ", weight, weight);
    dfl_strbuf_z(out, "WO[t, h, e, d], W1[d, t, f], W2[t, f, d], gain1[one, d, two], gain2[one, d, two];\n");
    if (!dfl_calc_has_tiles(run))
        dfl_strbuf_printf(out, products, made, weight, made, weight, made, made);
    dfl_strbuf_z(out, "// time\nbegin1[b, one] += join(start[b, one], gain1[one, d, two]);\n"
                      "begin[b, one] += join(begin1[b, one], gain2[one, d, two]);\n");
    dfl_strbuf_z(out, t->chain.text);
    dfl_strbuf_z(out, "// memory: what a layer keeps for the backward pass, and what one layer uses\n");
    if (run->trains)
        dfl_strbuf_printf(out, "kept[b, z] : u8 = seed[b, z];\nheld[b, one] = %s[b, one] * hold(kept[b, 0]);\n"
                          "weight reserve[k] : bits(%d);  // the gradients of a layer\n"
                          "reserved[k] : bits(%d) = reserve[k];\n", t->last, RESERVE_BITS, RESERVE_BITS);
    dfl_strbuf_printf(out, "used[b, y] : u8 = room[b, y];\ndone[b, one] = %s[b, one] + hold(used[b, 0]);\n}\n}\n\n",
                      run->trains ? "held" : t->last);
    if (run->trains)
        dfl_strbuf_z(out, "workload step = train(block, optimizer = adam(fp32), gradients = weights);\n\n");
}

/* ---- system ---- */

/* Writes the shares of work in `parts` equal parts as a table that ascends: a part has the share of the whole. */
static void print_shares(const dfl_loss_report *report, const dfl_yaml *list, double parts, const char *unit, dfl_strbuf *out)
{
    char share[32];

    dfl_strbuf_z(out, "table(");
    for (uint32_t i = list->n; i-- > 0;) {
        dfl_double_text_short(strtod(list->items[i].items[1].text, NULL) * 100, 15, share);
        dfl_strbuf_printf(out, "%s%s, %s%%%s", text_of(report->arena, strtod(list->items[i].items[0].text, NULL) / parts), unit,
                          share, i > 0 ? ", " : ")");
    }
}

static void print_network(const dfl_loss_report *report, const char *name, const dfl_calc_network *net, bool has_ports,
                          bool is_direct, dfl_strbuf *out)
{
    dfl_strbuf_printf(out, "network %s = switch {\n", name);
    dfl_strbuf_printf(out, "bandwidth = %sGB/s;\n", text_of(report->arena, net->rate));
    dfl_strbuf_printf(out, "latency = 0ns;\noverhead = %sns;\n", text_of(report->arena, net->overhead * 1e9));
    dfl_strbuf_printf(out, "%s%s}\n", has_ports ? "port = tensor;\n" : "", is_direct ? "algorithm = direct;\n" : "");
}

static void print_unit(const dfl_calc_run *run, const dfl_loss_report *report, const char *name, const dfl_strbuf *ops,
                       double rate, const char *unit, const dfl_yaml *shares, double parts, const char *size, dfl_strbuf *out)
{
    if (ops->len == 0)
        return;
    dfl_strbuf_printf(out, "compute %s {\nops = %s;\nrate = %s%s;\nefficiency = ", name, ops->text + 2,
                      text_of(report->arena, rate / run->pace), unit);
    print_shares(report, shares, parts, size, out);
    dfl_strbuf_z(out, ";\n}\n");
}

/* Seconds of a weight in a step of the optimizer over `n` weights: 11 operations; its state of 8 bytes moves, and 4 of a copy. */
static double optimizer_seconds(const dfl_calc_run *run, double n)
{
    const double state = run->bytes < 4 ? 12 : 8;
    const double work = 11 / (run->vector * 1e12 * dfl_calc_share(run->vector_shares, 11 * n / 1e9));
    const double moves = state / (run->memory_rate * 1e9 * dfl_calc_share(run->memory_shares, state * n / 1e6));

    return run->overlaps ? fmax(work, moves) : work + moves;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The unit of the optimizer. A step of Adam has 12 operations for a weight; the weights of a stage are one piece of work for it,
   those of a layer one for Calculon. Work and transfers grow alike with the weights, so one table holds both. */
static void print_optimizer(const dfl_calc_run *run, const dfl_loss_report *report, dfl_strbuf *out)
{
    const uint32_t n = run->vector_shares->n + run->memory_shares->n;
    const double state = run->bytes < 4 ? 12 : 8;
    double *at = DFL_NEW_ARRAY(report->arena, double, n), best = INFINITY;
    char share[32];

    for (uint32_t i = 0; i < n; i++)
        at[i] = i < run->vector_shares->n
                    ? strtod(run->vector_shares->items[i].items[0].text, NULL) * 1e9 / 11
                    : strtod(run->memory_shares->items[i - run->vector_shares->n].items[0].text, NULL) * 1e6 / state;
    qsort(at, n, sizeof *at, compare_doubles);
    for (uint32_t i = 0; i < n; i++)
        best = fmin(best, optimizer_seconds(run, at[i] * (1 + 1e-9)));
    dfl_strbuf_printf(out, "compute optimizer {\nops = adam;\nrate = %sFLOP/s;\nefficiency = table(",
                      text_of(report->arena, 12 / best));
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0 && at[i] <= at[i - 1] * (1 + 1e-9))
            continue;
        dfl_double_text_short(best / optimizer_seconds(run, at[i] * (1 + 1e-9)) * 100, 15, share);
        dfl_strbuf_printf(out, "%s%sFLOP, %s%%", i > 0 ? ", " : "",
                          text_of(report->arena, at[i] * 12 * (double)run->stage_layers), share);
    }
    dfl_strbuf_z(out, ");\n}\n");
}

/* The units of tiles and of what their exchanges take of a chip. */
static void print_tile_units(const dfl_calc_text *t, const dfl_calc_run *run, const dfl_loss_report *report, dfl_strbuf *out)
{
    const double parts = (double)dfl_calc_tiling_of(run).parts;

    dfl_strbuf_z(out, "// tiles reach the share of the whole operation; exchanges take a part of the unit while they run\n");
    print_unit(run, report, "tiled", &t->tiled, run->matrix, "TFLOP/s", run->matrix_shares, parts, "GFLOP", out);
    print_unit(run, report, "tiled_port", &t->tiled_port, run->memory_rate, "GOP/s", run->memory_shares, parts, "MOP", out);
}

static void print_chip(const dfl_calc_text *t, const dfl_calc_run *run, const dfl_loss_report *report, dfl_strbuf *out)
{
    dfl_strbuf_z(out, "memory hbm {\n");
    if (run->memory_size * 8 * 1073741824 < 9e18) /* a size is less than 2^63 bits */
        dfl_strbuf_printf(out, "size = %sGiB;\n", text_of(report->arena, run->memory_size));
    else
        dfl_strbuf_z(out, "size = unlimited;\n");
    dfl_strbuf_z(out, "}\n// what Calculon does not count\nmemory uncharged { size = unlimited; }\n"
                      "compute free { rate = 1e38FLOP/s; }\n");
    print_unit(run, report, "matrix", &t->matrix, run->matrix, "TFLOP/s", run->matrix_shares, 1, "GFLOP", out);
    print_unit(run, report, "vector", &t->vector, run->vector, "TFLOP/s", run->vector_shares, 1, "GFLOP", out);
    dfl_strbuf_z(out, "// the port of `hbm`: an operation moves a byte\n");
    print_unit(run, report, "port", &t->port, run->memory_rate, "GOP/s", run->memory_shares, 1, "MOP", out);
    if (t->tiled.len > 0)
        print_tile_units(t, run, report, out);
    if (run->trains)
        print_optimizer(run, report, out);
}

/* Whether some tensors lie in the second memory. */
static bool has_outer(const dfl_calc_run *run) { return run->moves_weights || run->moves_activations || run->moves_optimizer; }

/* The second memory of a chip, outside of it. */
static void print_outer(const dfl_calc_run *run, const dfl_loss_report *report, dfl_strbuf *out)
{
    const char *rate = text_of(report->arena, run->outer_rate / run->pace);

    dfl_strbuf_z(out, run->moves_optimizer ? "// less the gradients that Calculon keeps here\n" : "");
    dfl_strbuf_printf(out, "memory outer {\nsize = %.0fB;\nread { bandwidth = %sGB/s; }\nwrite { bandwidth = %sGB/s; }\n"
                      "efficiency = ",
                      floor(run->outer_room), rate, rate);
    print_shares(report, run->outer_shares, 1, "MB", out);
    dfl_strbuf_z(out, ";\n}\narray chip[1] {\n");
}

static void print_system(const dfl_calc_text *t, const dfl_calc_run *run, const dfl_loss_report *report, dfl_strbuf *out)
{
    dfl_strbuf_z(out, "/// A network for each dimension of the run, with the time that Calculon states.\n"
                      "system machine {\n");
    print_network(report, "data_net", &run->on_data, true, true, out);
    dfl_strbuf_printf(out, "array data[%lld] over data_net {\n", (long long)run->data);
    print_network(report, "stage_net", &run->on_pipeline, true, false, out);
    dfl_strbuf_printf(out, "array stage[%lld] over stage_net {\n", (long long)run->pipeline);
    print_network(report, "tensor_net", &run->on_tensor, false, true, out);
    dfl_strbuf_printf(out, "array tensor[%lld] over tensor_net {\n", (long long)run->tensor);
    if (has_outer(run))
        print_outer(run, report, out);
    print_chip(t, run, report, out);
    dfl_strbuf_z(out, has_outer(run) ? "}\n}\n}\n}\n}\n\n" : "}\n}\n}\n}\n\n");
}

/* ---- mapping ---- */

static void print_lines(const dfl_calc_run *run, dfl_strbuf *out)
{
    const bool is_piped = run->tile_overlap == DFL_CALC_PIPE;

    if (run->data > 1)
        dfl_strbuf_printf(out, "spatial b/%lld on data;\n", (long long)run->data);
    if (run->pipeline > 1)
        dfl_strbuf_printf(out, "spatial layer/%lld on stage pipeline(schedule = joined, interleave = %lld);\n",
                          (long long)run->stages, (long long)run->interleave);
    dfl_strbuf_z(out, "temporal b:1;\ntemporal layer;\n");
    if (run->tensor > 1)
        dfl_strbuf_printf(out, "spatial t/%lld on tensor;\n", (long long)run->tensor);
    if (run->exchange == DFL_CALC_SPLIT && dfl_calc_has_tiles(run))
        dfl_strbuf_printf(out, "spatial d/%lld on tensor for X, N1, R, N2, Y%s%s%s;\n", (long long)run->tensor,
                          is_piped ? ", A1, A2" : "", run->trains ? ", layer.grad.N1, layer.grad.N2" : "",
                          run->trains && is_piped ? ", layer.grad.A1, layer.grad.A2" : "");
    else if (run->tensor > 1 && run->exchange == DFL_CALC_SPLIT)
        dfl_strbuf_printf(out, "spatial m/%lld on tensor for X, N1, R, N2, Y%s;\n", (long long)run->tensor,
                          run->trains ? ", layer.grad.N1, layer.grad.N2" : "");
    if (run->trains && run->shards_moments)
        dfl_strbuf_printf(out, "spatial d/%lld on data for update;\n", (long long)run->data);
}

/* The homes of what only training has. */
static void print_training_homes(const dfl_calc_run *run, dfl_strbuf *out)
{
    static const char *const weights[] = { "WQ", "WK", "WV", "WO", "W1", "W2", "gain1", "gain2" };
    static const char *const states[] = { "moment1", "moment2", "master" };

    dfl_strbuf_z(out, "keep moments, gradients in uncharged;\nkeep layer.grad.reserve in hbm;\n");
    dfl_strbuf_printf(out, "keep layer.kept in %s;\n", run->moves_activations ? "outer" : "hbm");
    for (size_t s = 0; s < (run->bytes < 4 ? 3 : 2); s++) {
        for (size_t w = 0; w < sizeof weights / sizeof weights[0]; w++)
            if (!dfl_calc_has_tiles(run) || strchr("KV", weights[w][1]) == NULL)
                dfl_strbuf_printf(out, "%slayer.%s.%s", w == 0 ? "keep " : ", ", states[s], weights[w]);
        dfl_strbuf_printf(out, " in %s", run->moves_optimizer ? "outer" : "hbm");
        if (run->shards_moments)
            dfl_strbuf_printf(out, " split d/%lld on data", (long long)run->data);
        dfl_strbuf_z(out, ";\n");
    }
}

/* What the backward pass gathers again for products in tiles. */
static void print_repeated_gathers(const dfl_calc_run *run, dfl_strbuf *out)
{
    const bool all = strcmp(run->recompute, "full") == 0, attention = strcmp(run->recompute, "none") != 0;
    const bool again[2] = { attention || run->gathers_again, all || run->gathers_again };

    for (int i = 0; i < 2; i++)
        if (again[i])
            dfl_strbuf_printf(out, run->tile_overlap == DFL_CALC_PIPE ? "recompute N%d_all, A%d_all;\n" : "recompute N%d_all;\n",
                              i + 1, i + 1);
}

static void print_mapping(const dfl_calc_text *t, const dfl_calc_run *run, dfl_strbuf *out)
{
    const bool all = strcmp(run->recompute, "full") == 0, attention = strcmp(run->recompute, "none") != 0;

    dfl_strbuf_printf(out, "mapping run for %s on machine {\n", run->trains ? "step" : "block");
    print_lines(run, out);
    dfl_strbuf_printf(out, "keep weights in %s;\n", run->moves_weights ? "outer" : "hbm");
    dfl_strbuf_printf(out, "keep activations, %sI, start, seed, room in uncharged;\nkeep layer.used in hbm;\n",
                      !dfl_calc_has_tiles(run) ? "" : run->tile_overlap == DFL_CALC_PIPE ? "each, each_d, each_t, " : "each, ");
    if (run->trains) {
        dfl_strbuf_z(out, "keep layer.reserve in uncharged;\n");
        print_training_homes(run, out);
        if (dfl_calc_has_tiles(run))
            print_repeated_gathers(run, out);
        else if (all)
            dfl_strbuf_z(out, "recompute N1, N1_all, Q, K, V, Z, O, R, N2, N2_all, F1, F2;\n");
        else if (attention || run->gathers_again)
            dfl_strbuf_printf(out, "recompute N1_all%s;\n", run->gathers_again ? ", N2_all" : "");
        if (t->again.len > 0)
            dfl_strbuf_printf(out, "recompute %s;\n", t->again.text + 2);
    }
    dfl_strbuf_z(out, t->braces.text);
    dfl_strbuf_z(out, t->back);
    dfl_strbuf_z(out, "...;\noption exchanges = blocking;\n");
    dfl_strbuf_z(out, run->hides_gradients ? "option gradients = beside;\noption bucket = 1kB;\n}\n" : "}\n");
}

char *dfl_calc_print(const dfl_calc_run *run, const dfl_loss_report *report, const dfl_source *main, const dfl_loss *losses,
                     size_t n_losses)
{
    const dfl_calc_text t = print_operations(run, report->arena);
    dfl_strbuf out;

    dfl_strbuf_init(&out, report->arena);
    dfl_strbuf_printf(&out, "dfl 1;\n// Imported from Calculon: %s.\n\n", dfl_writer_base_name(report->arena, main));
    print_block(&t, run, &out);
    print_system(&t, run, report, &out);
    dfl_loss_print(report, main, losses, n_losses, &out);
    print_mapping(&t, run, &out);
    return out.text;
}
