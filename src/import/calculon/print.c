/*
 * The text of a run. An operation of Calculon reads and writes each of its values once, in the backward pass too. The text says
 * so with tensors in a memory `uncharged`, which takes no time: a product works on copies there (`Q_in`), so that its two
 * gradients read the gradient of the result once. Functions of one tensor are linear `op`s over a rank, whose gradients read the
 * gradient of the result alone.
 */
#include "import/calculon/calculon_internal.h"
#include "import/dfl_writer.h"
#include "support/number.h"

#include <stdlib.h>
#include <string.h>

/* Operations of an element: forward, and of its gradient. `branch` is the sum of gradients where a value has two readers, with
   the gradients of the sum of two values; `branch3` one of two steps of the sum of three. Scaling by the gain takes the ninth
   operation of a normalization, and the fourteenth of its gradient. */
static const char operations[] =
    "/// Functions of Calculon, with its operations for an element forward and in the gradient.\n"
    "op normalize(x) over r = 8FLOP; op normalize_d(g) over r = 13FLOP;\n"
    "op soften(x) over r = 5FLOP; op soften_d(g) over r = 8FLOP;\n"
    "op drop(x) over r = 1FLOP; op drop_d(g) over r = 1FLOP;\n"
    "op activate(x) over r = 8FLOP; op activate_d(g) over r = 13FLOP;\n"
    "op branch(x) over r = 0FLOP; op branch_d(g) over r = 4FLOP;\n"
    "op branch3(x) over r = 0FLOP; op branch3_d(g) over r = 1.5FLOP;\n"
    "op same(x) over r = 0FLOP; op same_d(g) over r = 0FLOP;\n";

static const char attention[] =
    "norm1[b, m, d] = normalize(X[b, m, d]) over d;\n"
    "gain1[b, m, d] = norm1[b, m, d] * g1[d];\n"
    "twice1[b, m, d] = branch3(gain1[b, m, d]) over d;\n"
    "N1[b, m, d] = branch3(twice1[b, m, d]) over d;\n"
    "Q[b, m, h, e] += N1[b, m, d] * WQ[d, h, e];\n"
    "K[%s] += N1[b, m, d] * WK[%s];\n"
    "V[%s] += N1[b, m, d] * WV[%s];\n"
    "Q_in[b, m, h, e] = same(Q[b, m, h, e]) over e;\n"
    "K_in[%s] = same(K[%s]) over e;\n"
    "S_out[b, h, m, n] += Q_in[b, m, h, e] * K_in[%s];\n"
    "S[b, h, m, n] = same(S_out[b, h, m, n]) over n;\n"
    "P[b, h, m, n] = soften(S[b, h, m, n]) over n;\n"
    "A[b, h, m, n] = drop(P[b, h, m, n]) over n;\n"
    "A_in[b, h, m, n] = same(A[b, h, m, n]) over n;\n"
    "V_in[%s] = same(V[%s]) over e;\n"
    "Z_out[b, m, h, e] += A_in[b, h, m, n] * V_in[%s];\n"
    "Z[b, m, h, e] = same(Z_out[b, m, h, e]) over e;\n";

static const char rest[] =
    "O[b, m, d] += Z[b, m, h, e] * WO[h, e, d];\n"
    "D1[b, m, d] = drop(O[b, m, d]) over d;\n"
    "sum1[b, m, d] = X[b, m, d] + D1[b, m, d];\n"
    "R[b, m, d] = branch(sum1[b, m, d]) over d;\n"
    "norm2[b, m, d] = normalize(R[b, m, d]) over d;\n"
    "N2[b, m, d] = norm2[b, m, d] * g2[d];\n"
    "F1[b, m, f] += N2[b, m, d] * W1[d, f];\n"
    "G[b, m, f] = activate(F1[b, m, f]) over m;\n"
    "F2[b, m, d] += G[b, m, f] * W2[f, d];\n"
    "D2[b, m, d] = drop(F2[b, m, d]) over d;\n"
    "sum2[b, m, d] = R[b, m, d] + D2[b, m, d];\n"
    "Y[b, m, d] = branch(sum2[b, m, d]) over d;\n";

static void print_block(const dfl_calc_run *run, dfl_strbuf *out)
{
    const char *made = run->has_one_key ? "b, m, e" : "b, m, h, e", *read = run->has_one_key ? "b, n, e" : "b, n, h, e";
    const char *weight = run->has_one_key ? "d, e" : "d, h, e";

    dfl_strbuf_z(out, operations);
    dfl_strbuf_printf(out, "\n/// The layers of the application.\nworkload block : %s {\n", run->type);
    dfl_strbuf_printf(out, "rank b = %lld, m = %lld, n = %lld, d = %lld, h = %lld, e = %lld, f = %lld;\n", (long long)run->batch,
                      (long long)run->seq, (long long)run->seq, (long long)run->hidden, (long long)run->heads,
                      (long long)run->head, (long long)run->feedforward);
    dfl_strbuf_printf(out, "input I[b, m, d];\nX[b, m, d] = I[b, m, d];\nrepeat %lld as layer carrying X = Y {\n",
                      (long long)run->layers);
    dfl_strbuf_printf(out, "weight g1[d], WQ[d, h, e], WK[%s], WV[%s], WO[h, e, d], g2[d], W1[d, f], W2[f, d];\n", weight,
                      weight);
    dfl_strbuf_printf(out, attention, made, weight, made, weight, made, made, read, made, made, read);
    dfl_strbuf_z(out, rest);
    dfl_strbuf_z(out, "}\n}\n\n");
    if (run->trains)
        dfl_strbuf_printf(out, "workload step = train(block, optimizer = adam(fp32), gradients = %s);\n\n", run->type);
}

/* ---- system ---- */

static const char *text_of(dfl_arena *arena, double value)
{
    char text[32];

    dfl_double_text(value, text);
    return dfl_arena_printf(arena, "%s", text);
}

/* Writes the shares as a table that ascends from `unit` to `unit`. */
static void print_shares(const dfl_loss_report *report, const dfl_yaml *list, const char *unit, dfl_strbuf *out)
{
    char share[32];

    dfl_strbuf_z(out, "table(");
    for (uint32_t i = list->n; i-- > 0;) {
        dfl_double_text_short(strtod(list->items[i].items[1].text, NULL) * 100, 15, share);
        dfl_strbuf_printf(out, "%s%s, %s%%%s", text_of(report->arena, strtod(list->items[i].items[0].text, NULL)), unit, share,
                          i > 0 ? ", " : ")");
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

static void print_chip(const dfl_calc_run *run, const dfl_loss_report *report, dfl_strbuf *out)
{
    const bool is_wide = strcmp(run->type, "fp32") == 0;
    const char *matrix = text_of(report->arena, run->matrix / 2), *vector = text_of(report->arena, run->vector);

    dfl_strbuf_z(out, "memory hbm {\n");
    if (run->memory_size * 8 * 1073741824 < 9e18) /* a size is less than 2^63 bits */
        dfl_strbuf_printf(out, "size = %sGiB;\n", text_of(report->arena, run->memory_size));
    else
        dfl_strbuf_z(out, "size = unlimited;\n");
    dfl_strbuf_printf(out, "bandwidth = %sGB/s;\nefficiency = ", text_of(report->arena, run->memory_rate));
    print_shares(report, run->memory_shares, "MB", out);
    dfl_strbuf_printf(out, ";\n}\n// transfers of `hbm` %s the work of the units\n",
                      run->overlaps ? "run beside" : "take turns with");
    dfl_strbuf_printf(out, "memory uncharged { size = unlimited; buffers = %d; }\n", run->overlaps ? 2 : 1);
    dfl_strbuf_printf(out, "compute unit {\nrate {\nmac { %s = %sTMAC/s; }\n%s = %sTFLOP/s;\n", run->type, matrix, run->type,
                      vector);
    if (!is_wide)
        dfl_strbuf_printf(out, "fp32 = %sTFLOP/s;\n", vector);
    dfl_strbuf_printf(out, "}\nefficiency {\nmac { %s = ", run->type);
    print_shares(report, run->matrix_shares, "GFLOP", out);
    dfl_strbuf_z(out, "; }");
    for (int i = is_wide; i < 2; i++) {
        dfl_strbuf_printf(out, "\n%s = ", i == 0 ? run->type : "fp32");
        print_shares(report, run->vector_shares, "GFLOP", out);
        dfl_strbuf_z(out, ";");
    }
    dfl_strbuf_z(out, "\n}\n}\n");
}

static void print_system(const dfl_calc_run *run, const dfl_loss_report *report, dfl_strbuf *out)
{
    dfl_strbuf_z(out, "/// A network for each dimension of the run, with the time that Calculon states.\n"
                      "system machine {\n");
    print_network(report, "data_net", &run->on_data, true, true, out);
    dfl_strbuf_printf(out, "array data[%lld] over data_net {\n", (long long)run->data);
    print_network(report, "stage_net", &run->on_pipeline, true, false, out);
    dfl_strbuf_printf(out, "array stage[%lld] over stage_net {\n", (long long)run->pipeline);
    print_network(report, "tensor_net", &run->on_tensor, false, true, out);
    dfl_strbuf_printf(out, "array tensor[%lld] over tensor_net {\n", (long long)run->tensor);
    print_chip(run, report, out);
    dfl_strbuf_z(out, "}\n}\n}\n}\n\n");
}

/* ---- mapping ---- */

static void print_lines(const dfl_calc_run *run, dfl_strbuf *out)
{
    if (run->data > 1)
        dfl_strbuf_printf(out, "spatial b/%lld on data;\n", (long long)run->data);
    if (run->pipeline > 1)
        dfl_strbuf_printf(out, "spatial layer/%lld on stage pipeline(schedule = one_f_one_b, interleave = %lld);\n",
                          (long long)run->pipeline, (long long)run->interleave);
    dfl_strbuf_printf(out, "temporal b:%lld;\ntemporal layer;\n", (long long)run->micro);
    if (run->tensor > 1)
        dfl_strbuf_printf(out, "spatial h/%lld, f/%lld on tensor;\n", (long long)run->tensor, (long long)run->tensor);
    if (run->splits_sequence)
        dfl_strbuf_printf(out, "spatial m/%lld on tensor for X, norm1, gain1, twice1, N1, D1, sum1, R, norm2, N2, D2, sum2, Y;\n",
                          (long long)run->tensor);
}

static void print_mapping(const dfl_calc_run *run, dfl_strbuf *out)
{
    dfl_strbuf_printf(out, "mapping run for %s on machine {\n", run->trains ? "step" : "block");
    print_lines(run, out);
    dfl_strbuf_z(out, run->trains ? "keep weights, gradients, moments in hbm;\n" : "keep weights in hbm;\n");
    dfl_strbuf_z(out, "keep norm1, gain1, twice1, Q_in, K_in, S_out, A_in, V_in, Z_out, sum1, norm2, sum2 in uncharged;\n");
    if (run->trains)
        dfl_strbuf_z(out, "keep layer.grad.gain1, layer.grad.twice1, layer.grad.sum1, layer.grad.sum2 in hbm;\n");
    if (run->trains && run->shards_moments)
        dfl_strbuf_printf(out, "keep moments in hbm split d/%lld on data;\nspatial d/%lld on data for update;\n",
                          (long long)run->data, (long long)run->data);
    if (strcmp(run->recompute, "full") == 0)
        dfl_strbuf_z(out, "recompute forward;\n");
    if (strcmp(run->recompute, "attn_only") == 0)
        dfl_strbuf_z(out, "recompute S_out, S, P, A;\n");
    dfl_strbuf_z(out, "...;\noption exchanges = blocking;\n}\n");
}

char *dfl_calc_print(const dfl_calc_run *run, const dfl_loss_report *report, const dfl_source *main, const dfl_loss *losses,
                     size_t n_losses)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, report->arena);
    dfl_strbuf_printf(&out, "dfl 1;\n// Imported from Calculon: %s.\n\n", dfl_writer_base_name(report->arena, main));
    print_block(run, &out);
    print_system(run, report, &out);
    dfl_loss_print(report, main, losses, n_losses, &out);
    print_mapping(run, &out);
    return out.text;
}
