/* Enumeration of the lines that may stand between the written lines of one einsum. */
#include "tests/mapper/enumerate.h"

#include <math.h>
#include <string.h>

#include "model/model.h"

enum { LINES = 40, RANKS = 12, TENSORS = 64, ENOUGH = 20 };

typedef struct {
    dfl_arena *arena, *scratch;
    const dfl_intern *names;
    const dfl_mapping *open;
    const dfl_workload *w;
    const dfl_system *s;
    const dfl_body *body;       /* mapping with open lines of einsum `e` */
    const dfl_einsum *e;
    const enumerate_options *options;
    enumerate_result *out;
    uint64_t random;
    uint32_t spread[RANKS];     /* ranks that the axis may take in open lines, a mask by axis */
    uint32_t homes;             /* number of leading lines that are homes */
    bool homeless[TENSORS];     /* the home is for the search to write */
    dfl_line line[LINES];
    uint32_t n;
    int64_t left[RANKS];
    bool counting, sampling;
    uint64_t found;
} enumerator;

static uint32_t random_below(enumerator *k, uint32_t n)
{
    k->random = k->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((k->random >> 33) % n);
}

static uint32_t ranks_of(const enumerator *k)
{
    uint32_t all = 0;

    for (uint32_t r = 0; r < k->w->n_ranks; r++)
        all |= (uint32_t)dfl_einsum_has_rank(k->e, r) << r;
    return all;
}

static void evaluate(enumerator *k)
{
    dfl_mapping *m = dfl_mapping_copy(k->scratch, k->open);
    dfl_body *body = m->bodies[k->body->id];
    dfl_sink *sink = dfl_sink_new(k->scratch, NULL);
    const dfl_paths *paths;
    const dfl_result *r;
    double value;

    dfl_sink_limit(sink, 0);
    k->out->evaluated++;
    body->lines = k->line;
    body->n_lines = k->n;
    body->open = m->has_holes = false;
    body->n_opens = 0;
    paths = dfl_paths_resolve(k->scratch, sink, k->names, m);
    r = paths ? dfl_model_eval(k->scratch, sink, k->names, paths) : NULL;
    value = !r ? INFINITY
               : k->options->of ? k->options->of(k->options->objective, r)
                                : k->options->value(k->options->objective, r->joules, r->seconds);
    if (value < k->options->limit && value < k->out->value) {
        k->out->value = value;
        k->out->mapping = dfl_mapping_copy(k->arena, m);
    }
    dfl_arena_reset(k->scratch);
}

static bool is_full(const enumerator *k)
{
    return k->counting && k->found > ENOUGH * k->options->most;
}

static void lines_from(enumerator *k, uint32_t i, uint32_t open);

/* Adds a line and continues: written line `i` and place `open` are next. */
static void put(enumerator *k, dfl_line line, int64_t by, uint32_t i, uint32_t open)
{
    uint32_t n = k->n;

    if (k->n + TENSORS / 4 >= LINES || is_full(k))
        return;
    k->line[k->n++] = line;
    if (line.kind != DFL_LINE_KEEP)
        k->left[line.rank] /= by;
    lines_from(k, i, open);
    if (line.kind != DFL_LINE_KEEP)
        k->left[line.rank] *= by;
    k->n = n;
}

/* The memory of the last keep of a tensor above the lines. */
static uint32_t memory_above(const dfl_body *body, uint32_t tensor)
{
    for (const dfl_body *b = body->parent; b != NULL; b = b->parent)
        for (uint32_t i = b->n_lines; i-- > 0;)
            if (b->lines[i].kind == DFL_LINE_KEEP && b->lines[i].tensor == tensor)
                return b->lines[i].memory;
    return DFL_NONE;
}

/* The memory of the last keep of a tensor, or else of its home. */
static uint32_t last_memory(const enumerator *k, uint32_t tensor)
{
    for (uint32_t i = k->n; i-- > 0;)
        if (k->line[i].kind == DFL_LINE_KEEP && k->line[i].tensor == tensor)
            return k->line[i].memory;
    return memory_above(k->body, tensor);
}

static uint32_t choices(enumerator *k, dfl_line *line, int64_t *by)
{
    const dfl_line none = { .span = k->open->hole_span, .amount_span = k->open->hole_span };
    uint32_t n = 0;

    for (uint32_t t = 0; t < k->w->n_tensors; t++)
        for (uint32_t m = 0; m < k->s->n_memories && dfl_einsum_touches(k->e, t); m++) {
            uint32_t last = last_memory(k, t);
            if (last == DFL_NONE || m <= last)
                continue;
            line[n] = none;
            line[n].kind = DFL_LINE_KEEP;
            line[n].tensor = t;
            line[n++].memory = m;
        }
    for (uint32_t r = 0; r < k->w->n_ranks; r++)
        for (int64_t p = 2; p <= k->left[r] && dfl_einsum_has_rank(k->e, r); p++) {
            bool prime = k->left[r] % p == 0;
            for (int64_t q = 2; q < p; q++)
                prime &= p % q != 0;
            for (uint32_t a = 0; prime && a <= k->s->n_axes; a++) {
                bool spatial = a < k->s->n_axes;
                if (spatial && !(k->spread[a] >> r & 1))
                    continue;
                line[n] = none;
                line[n].kind = spatial ? DFL_LINE_SPATIAL : DFL_LINE_TEMPORAL;
                line[n].rank = r;
                line[n].axis = spatial ? a : 0;
                line[n].by = DFL_BY_PARTS;
                line[n].amount = by[n] = p;
                n++;
            }
        }
    return n;
}

/* Enumerates the amounts of the written line `i`. */
static void put_written(enumerator *k, uint32_t i, uint32_t open)
{
    dfl_line line = k->body->lines[i];
    bool by_size = (line.by == DFL_BY_HOLE ? line.hole->by : line.by) == DFL_BY_SIZE;
    int64_t left = line.kind == DFL_LINE_KEEP ? 1 : k->left[line.rank];

    if (line.kind == DFL_LINE_KEEP) {
        put(k, line, 1, i + 1, open);
        return;
    }
    for (int64_t amount = 1; amount <= left; amount++) {
        bool fits = left % amount == 0 && (line.by == DFL_BY_HOLE || amount == k->body->lines[i].amount);
        for (uint32_t c = 0; fits && line.by == DFL_BY_HOLE && line.hole->choices && c <= line.hole->n_choices; c++)
            if (c == line.hole->n_choices)
                fits = false;
            else if (line.hole->choices[c] == amount)
                break;
        if (fits) {
            dfl_line one = line;
            one.by = by_size ? DFL_BY_SIZE : DFL_BY_PARTS;
            one.amount = amount;
            put(k, one, by_size ? left / amount : amount, i + 1, open);
        }
    }
}

static void lines_from(enumerator *k, uint32_t i, uint32_t open)
{
    const dfl_body *root = k->body;
    dfl_line line[4 * RANKS + 4 * TENSORS];
    int64_t by[4 * RANKS + 4 * TENSORS];

    if (k->sampling && k->out->evaluated >= k->options->most)
        return;
    if (i == k->homes && k->n == i)
        for (uint32_t t = 0; t < k->w->n_tensors; t++)
            if (k->homeless[t])
                k->line[k->n++] = (dfl_line){ .kind = DFL_LINE_KEEP, .tensor = t, .span = k->open->hole_span };
    if (open < root->n_opens && root->opens[open].at == i) {
        uint32_t n = choices(k, line, by), turn = k->sampling && n > 0 ? random_below(k, n + 1) : 0;
        if (!k->sampling || turn == n || n == 0)
            lines_from(k, i, open + 1);
        for (uint32_t c = 0; c < n; c++)
            if (!k->sampling || c == turn)
                put(k, line[c], by[c], i, open);
        return;
    }
    if (i < root->n_lines) {
        put_written(k, i, open);
        return;
    }
    for (uint32_t r = 0; r < k->w->n_ranks; r++)
        if (k->left[r] > 1 && dfl_einsum_has_rank(k->e, r))
            return;
    k->found++;
    if (!k->counting)
        evaluate(k);
}

void enumerate_lines(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *open, uint32_t body, const int64_t *left,
                     const enumerate_options *options, enumerate_result *out)
{
    const dfl_body *b = open->bodies[body];
    enumerator k = { .arena = arena, .names = names, .open = open, .w = open->workload, .s = open->system, .body = b,
                     .e = &open->workload->einsums[b->einsums[0]], .options = options, .out = out, .random = options->seed };

    *out = (enumerate_result){ .value = INFINITY, .complete = true };
    k.scratch = dfl_arena_new(NULL);
    for (uint32_t a = 0; a < k.s->n_axes; a++)
        k.spread[a] = ranks_of(&k);
    memcpy(k.left, left, k.w->n_ranks * sizeof *left);
    for (bool again = false; k.homes < b->n_lines && b->lines[k.homes].kind == DFL_LINE_KEEP &&
                             !(b->n_opens > 0 && b->opens[0].at <= k.homes); k.homes++) {
        again = memory_above(b, b->lines[k.homes].tensor) != DFL_NONE;
        for (uint32_t i = 0; i < k.homes; i++)
            again |= b->lines[i].tensor == b->lines[k.homes].tensor;
        if (again)
            break;
    }
    for (uint32_t t = 0; t < k.w->n_tensors; t++) {
        k.homeless[t] = dfl_einsum_touches(k.e, t) && memory_above(b, t) == DFL_NONE;
        for (uint32_t i = 0; i < k.homes; i++)
            k.homeless[t] &= b->lines[i].tensor != t;
    }
    k.counting = true;
    lines_from(&k, 0, 0);
    k.counting = false;
    k.n = 0;
    out->complete = k.found <= options->most;
    k.sampling = !out->complete;
    for (uint64_t tries = 0; tries < (k.sampling ? ENOUGH * options->most : 1) && (tries == 0 || out->evaluated < options->most);
         tries++, k.n = 0)
        lines_from(&k, 0, 0);
    dfl_arena_free(k.scratch);
}

void enumerate_between(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *open, const enumerate_options *options,
                       enumerate_result *out)
{
    int64_t left[RANKS];

    for (uint32_t r = 0; r < open->workload->n_ranks; r++)
        left[r] = open->workload->ranks[r].extent;
    enumerate_lines(arena, names, open, 0, left, options, out);
}
