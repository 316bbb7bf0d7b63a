/*
 * The text of a product in tiles beside the exchange of its operand or result, as Calculon has it: a chip works on its own tile,
 * and on each other one while an exchange of a tile runs. A loop in a brace of the mapping runs these tiles. It holds the product
 * of shapes with its exchange, and beside it the counted operation of a tile, which does not wait for the exchange: the own tile,
 * which waits for nothing, stands before the brace, so that the sum is that of a pipeline of tiles of equal time. With `pipe` one
 * tile more is exchanged while the chip waits.
 */
#include "import/calculon/calculon_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Products of shapes beside an exchange. */
typedef struct {
    const char *product;         /* operation that runs in tiles */
    int half;                    /* of the layer */
    bool sums;                   /* its result is exchanged, else its operand */
    const char *inside;          /* einsums in the brace */
    const char *forward, *backward; /* those that the brace names in these passes */
    const char *again;           /* tensors that a recomputed product makes again, apart from what an exchange makes */
} shape;

static const shape shapes[] = {
    { "query", 1, false,
      "N1_all[b, x, p, d] = N1[b, x, p, d];\nQ[b, x, p, t, g, e] += N1_all[b, x, p, d] * WQ[d, t, g, e];\n", "N1_all, Q",
      "N1_all", "N1, Q" },
    { "project", 1, true, "O[b, x, p, d] += O_part[b, x, p, t, d];\n", "O", "O_part", "Z, O_part, O, R" },
    { "widen", 2, false,
      "N2_all[b, x, p, d] = N2[b, x, p, d];\nF1[b, x, p, t, f] += N2_all[b, x, p, d] * W1[d, t, f];\n", "N2_all, F1",
      "N2_all", "N2, F1" },
    { "narrow", 2, true, "F2[b, x, p, d] += F2_part[b, x, p, t, d];\n", "F2", "F2_part", "F2_part, F2" },
};

void dfl_calc_print_op(dfl_calc_text *t, dfl_strbuf *unit, const char *name, const char *unit_name, const double counts[2])
{
    dfl_strbuf_printf(&t->ops, "op %s(x) over one = %.0f%s; op %s_d(g) over one = %.0f%s;\n", name, counts[0], unit_name, name,
                      counts[1], unit_name);
    dfl_strbuf_printf(unit, ", %s, %s_d", name, name);
}

/* Operations of a tile that take so many seconds on the matrix unit. Shares grow with the operations, so some number does. */
static double work_of(const dfl_calc_run *run, double seconds)
{
    const double parts = (double)dfl_calc_tiling_of(run).parts;

    for (uint32_t i = 0; i < run->matrix_shares->n; i++) {
        const double share = strtod(run->matrix_shares->items[i].items[1].text, NULL);
        const double work = seconds * run->matrix * 1e12 * share;

        if (fabs(dfl_calc_share(run->matrix_shares, work * parts / 1e9) - share) < 1e-12)
            return work;
    }
    return 0;
}

/* What the exchange of a tile takes of the chip while it runs, forward and backward, in operations. */
static void set_drive(const dfl_calc_run *run, const shape *s, double out[2])
{
    const double parts = (double)dfl_calc_tiling_of(run).parts;

    for (int pass = 0; pass < 2; pass++)
        out[pass] = pass == 1 && !run->trains
                        ? 0 : work_of(run, run->tensor_link.use * dfl_calc_exchange_seconds(run, s->sums == (pass == 0)) / parts);
}

/* The text under construction, and the tensors that the brace makes forward and backward. */
typedef struct {
    dfl_calc_text *t;
    dfl_arena *arena;
    const dfl_calc_operation *o;
    dfl_strbuf forward, backward;
    const char *x;               /* index of tiles: ", x", or "" outside of the brace */
} writer;

/* Adds the einsum `name = text`, which the backward pass makes again with the product. */
static void add(writer *w, const char *name, const char *text)
{
    dfl_strbuf_printf(&w->t->chain, "%s[b%s, one] = %s;\n", name, w->x, text);
    if (w->o->is_repeated)
        dfl_strbuf_printf(&w->t->again, ", %s", name);
    if (w->x[0] == '\0')
        return;
    dfl_strbuf_printf(&w->forward, ", %s", name);
}

static const char *read_of(const writer *w, const char *name)
{
    return dfl_arena_printf(w->arena, "%s[b%s, one]", name, w->x);
}

/* Adds an operation on the end of the chain. */
static const char *add_op(writer *w, const char *op, const char *result, const char *operand)
{
    add(w, result, dfl_arena_printf(w->arena, "%s(%s) over one", op, read_of(w, operand)));
    if (w->x[0] != '\0')
        dfl_strbuf_printf(&w->backward, ", layer.grad.%s", operand);
    return result;
}

/* Adds the own part of a chip, its work and, where both overlap, its transfers beside it. */
static const char *add_own(writer *w, const char *result, const char *from)
{
    const char *name = w->o->name, *ends[2];

    if (!w->t->run->overlaps)
        return add_op(w, dfl_arena_printf(w->arena, "part_%s", name), result, from);
    for (int i = 0; i < 2; i++)
        add(w, dfl_arena_printf(w->arena, "%s_%s", result, i == 0 ? "in" : "data"), read_of(w, from));
    for (int i = 0; i < 2; i++)
        ends[i] = add_op(w, dfl_arena_printf(w->arena, "%s_%s", i == 0 ? "part" : "bytes", name),
                         dfl_arena_printf(w->arena, "%s_%s", result, i == 0 ? "worked" : "moved"),
                         dfl_arena_printf(w->arena, "%s_%s", result, i == 0 ? "in" : "data"));
    add(w, result, dfl_arena_printf(w->arena, "%s + %s", read_of(w, ends[0]), read_of(w, ends[1])));
    return result;
}

/* Declares the operations of a part. */
static void declare_parts(writer *w, const dfl_calc_tiling *tiling)
{
    const dfl_calc_run *run = w->t->run;
    const double back = run->trains ? 1 : 0, parts = (double)tiling->parts;
    const double work[2] = { w->o->work[0] / parts, back * w->o->work[1] / parts };
    const double bytes[2] = { w->o->bytes[0] / parts, back * w->o->bytes[1] / parts };

    dfl_calc_print_op(w->t, &w->t->tiled, dfl_arena_printf(w->arena, "part_%s", w->o->name), "FLOP", work);
    if (run->overlaps)
        dfl_calc_print_op(w->t, &w->t->tiled_port, dfl_arena_printf(w->arena, "bytes_%s", w->o->name), "OP", bytes);
}

/* Lets the exchange of an einsum of the exposed tile run part by part, where the tile has two. */
static void loop_exposed(writer *w, const dfl_calc_tiling *tiling, const char *forward, const char *backward)
{
    if (tiling->own > 1)
        dfl_strbuf_printf(&w->t->braces, "%s { temporal w/%lld; }\n", forward, (long long)tiling->own);
    if (tiling->own > 1 && w->t->run->trains)
        w->t->back = dfl_arena_printf(w->arena, "layer.grad.%s { temporal w/%lld; }\n%s", backward, (long long)tiling->own,
                                      w->t->back);
}

/* The exchange of one tile while the chip waits: of the operand of the product, or of its result. */
static void add_exposed_tile(writer *w, const shape *s, const dfl_calc_tiling *tiling)
{
    dfl_strbuf *chain = &w->t->chain;
    const int i = s->half;
    const char *part = dfl_arena_printf(w->arena, "A%d_part", i), *all = dfl_arena_printf(w->arena, "A%d_all", i);

    if (w->t->run->tile_overlap != DFL_CALC_PIPE)
        return;
    if (s->sums)
        dfl_strbuf_printf(chain, "A%d_sum[b, w, p, d] += %s[b, w, p, t] * each_d[d];\n", i, part);
    else
        dfl_strbuf_printf(chain, "A%d[b, w, p, d] = %s[b, %lld * w + p, d];\n%s[b, w, p, d] = A%d[b, w, p, d];\n"
                          "%s[b, w, p, t] += %s[b, w, p, d] * each_d[d] * each_t[t];\n", i, i == 1 ? "X" : "R",
                          (long long)tiling->tokens, all, i, part, all);
    if (s->sums)
        loop_exposed(w, tiling, dfl_arena_printf(w->arena, "A%d_sum", i), part);
    else
        loop_exposed(w, tiling, all, all);
    if (s->sums && w->o->is_repeated)
        dfl_strbuf_printf(&w->t->again, ", A%d, %s, A%d_sum", i, part, i);
}

/* Adds the shapes before the brace: the operand in tiles, or the part of each chip of the sum. */
static void add_operand(writer *w, const shape *s, const dfl_calc_tiling *tiling)
{
    if (!s->sums)
        dfl_strbuf_printf(&w->t->chain, "N%d[b, x, p, d] = %s[b, %lld * x + p, d];\n", s->half, s->half == 1 ? "X" : "R",
                          (long long)tiling->tokens);
    else if (s->half == 1)
        dfl_strbuf_z(&w->t->chain, "Z[b, x, p, t, h, e] = Q[b, x, p, t, h, e];\n"
                                   "O_part[b, x, p, t, d] += Z[b, x, p, t, h, e] * WO[t, h, e, d];\n");
    else
        dfl_strbuf_z(&w->t->chain, "F2_part[b, x, p, t, d] += F1[b, x, p, t, f] * W2[t, f, d];\n");
}

/* Adds the shapes behind the brace: the sum of the result and what passes by the product. */
static void add_result(writer *w, const shape *s)
{
    const bool is_piped = w->t->run->tile_overlap == DFL_CALC_PIPE;
    const char *tile = is_piped ? dfl_arena_printf(w->arena, " + A%d_sum[b, 0, 0, d]", s->half) : "";

    if (s->sums)
        dfl_strbuf_printf(&w->t->chain, "%s[b, m, d] = %s[b, m, d] + %s[b, 0, 0, d]%s;\n", s->half == 1 ? "R" : "Y",
                          s->half == 1 ? "X" : "R", s->half == 1 ? "O" : "F2", tile);
}

/* Adds the einsum `name[spaces] = text`, outside of the brace. */
static void add_outside(writer *w, const char *name, const char *indices, const char *assignment, const char *text)
{
    dfl_strbuf_printf(&w->t->chain, "%s[%s] %s %s;\n", name, indices, assignment, text);
    if (w->o->is_repeated)
        dfl_strbuf_printf(&w->t->again, ", %s", name);
}

/* Adds the operations of a tile on its work and, where both overlap, its transfers: first what the exchange takes of the chip. */
static void add_tile_ops(writer *w, const shape *s)
{
    const char *name = w->o->name, *from = dfl_arena_printf(w->arena, "%s_begun", name);
    double drive[2];

    w->x = ", x";
    set_drive(w->t->run, s, drive);
    if (drive[0] + drive[1] > 0) {
        const char *op = dfl_arena_printf(w->arena, "drive_%s", name);

        dfl_calc_print_op(w->t, &w->t->tiled, op, "FLOP", drive);
        from = add_op(w, op, dfl_arena_printf(w->arena, "%s_driven", name), from);
    }
    (void)add_op(w, dfl_arena_printf(w->arena, "part_%s", name), dfl_arena_printf(w->arena, "%s_tile", name), from);
    if (w->t->run->overlaps)
        (void)add_op(w, dfl_arena_printf(w->arena, "bytes_%s", name), dfl_arena_printf(w->arena, "%s_tile_moved", name),
                     dfl_arena_printf(w->arena, "%s_data", name));
    w->x = "";
}

/* Adds the brace: tile after tile, its operations beside its exchange. */
static void add_tiles(writer *w, const shape *s, const dfl_calc_tiling *tiling, const char *from)
{
    const char *name = w->o->name, *spread = dfl_arena_printf(w->arena, "%s[b, one] * each[x]", from);
    const char *worked = dfl_arena_printf(w->arena, "%s_worked", name), *ends[2];
    const bool overlaps = w->t->run->overlaps;

    add_outside(w, dfl_arena_printf(w->arena, "%s_begun", name), "b, x, one", "=", spread);
    if (overlaps)
        add_outside(w, dfl_arena_printf(w->arena, "%s_data", name), "b, x, one", "=", spread);
    dfl_strbuf_z(&w->t->chain, s->inside);
    add_tile_ops(w, s);
    for (int i = 0; i < (overlaps ? 2 : 1); i++) {
        ends[i] = !overlaps ? worked : dfl_arena_printf(w->arena, "%s_tiles%s", name, i == 0 ? "" : "_moved");
        add_outside(w, ends[i], "b, one", "+=", dfl_arena_printf(w->arena, "%s_tile%s[b, x, one]", name, i == 0 ? "" : "_moved"));
    }
    if (overlaps)
        add_outside(w, worked, "b, one", "=", dfl_arena_printf(w->arena, "%s[b, one] + %s[b, one]", ends[0], ends[1]));
    dfl_strbuf_printf(&w->t->braces, "%s%s { temporal x/%lld; }\n", s->forward, w->forward.text, (long long)tiling->n);
    if (w->t->run->trains)
        w->t->back = dfl_arena_printf(w->arena, "layer.grad.%s%s { temporal x/%lld; }\n%s", s->backward, w->backward.text,
                                      (long long)tiling->n, w->t->back);
}

bool dfl_calc_print_tiles(dfl_calc_text *t, dfl_arena *arena, const dfl_calc_operation *o)
{
    const dfl_calc_tiling tiling = dfl_calc_tiling_of(t->run);
    writer w = { .t = t, .arena = arena, .o = o, .x = "" };
    const shape *s = NULL;

    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        s = strcmp(shapes[i].product, o->name) == 0 ? &shapes[i] : s;
    if (s == NULL || !dfl_calc_has_tiles(t->run))
        return false;
    dfl_strbuf_init(&w.forward, arena);
    dfl_strbuf_init(&w.backward, arena);
    add_operand(&w, s, &tiling);
    declare_parts(&w, &tiling);
    for (int64_t i = 0; i < tiling.own; i++)
        t->last = add_own(&w, dfl_arena_printf(arena, "%s_own%lld", o->name, (long long)i + 1), t->last);
    add_exposed_tile(&w, s, &tiling);
    add_tiles(&w, s, &tiling, t->last);
    add_result(&w, s);
    if (o->is_repeated)
        dfl_strbuf_printf(&t->again, ", %s", s->again);
    t->last = dfl_arena_printf(arena, "%s_worked", o->name);
    return true;
}
