/* Texts of tiny problems with partly written mappings. */
#include "tests/mapper/partial.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HOLES = 5, MOST_LINES = 6 };
static const char PERFECT[] = "option overlap = perfect;\n    ";

typedef struct {
    const tiny *t;
    tiny_random *r;
    FILE *out;
    uint32_t n_holes, einsum;
    uint32_t inside[TINY_TENSORS]; /* first memory, counted inwards, without a keep of the tensor so far */
} writer;

/* An amount: open, one of a set, or a number. */
static void write_amount(writer *w)
{
    static const char *const open[] = { "?", "?", "?", "? in {1, 2}", "? in 1..4", "? in {2, 3, 4}" };
    uint32_t kind = tiny_below(w->r, 8);

    if (kind < 6 && w->n_holes < MOST_HOLES) {
        fprintf(w->out, "%s", open[kind]);
        w->n_holes++;
    } else {
        fprintf(w->out, "%u", 1 + tiny_below(w->r, 4));
    }
}

/* ---- lines at random ---- */

static bool has_rank(const tiny_einsum *e, uint32_t rank)
{
    for (uint32_t i = 0; i <= e->n_in; i++) {
        const tiny_access *a = i < e->n_in ? &e->in[i] : &e->out;
        for (uint32_t d = 0; d < a->n; d++)
            if (a->rank[d] == rank || a->second[d] == (int32_t)rank)
                return true;
    }
    return false;
}

static bool has_tensor(const tiny_einsum *e, uint32_t tensor)
{
    return e->out.tensor == tensor || e->in[0].tensor == tensor || (e->n_in > 1 && e->in[1].tensor == tensor);
}

/* Picks one of the first `n` ranks or tensors for which `has` holds with some einsum from `first` to `last`. */
static uint32_t pick(writer *w, uint32_t first, uint32_t last, uint32_t n, bool (*has)(const tiny_einsum *, uint32_t))
{
    uint32_t all[TINY_RANKS + TINY_TENSORS], n_all = 0;

    for (uint32_t i = 0; i < n; i++) {
        bool any = false;
        for (uint32_t e = first; e <= last; e++)
            any |= has(&w->t->einsum[e], i);
        if (any)
            all[n_all++] = i;
    }
    return all[tiny_below(w->r, n_all)];
}

static void write_lines(writer *w, uint32_t first, uint32_t last)
{
    const tiny *t = w->t;

    for (uint32_t n = tiny_below(w->r, MOST_LINES); n > 0; n--) {
        uint32_t kind = tiny_below(w->r, 8);
        if (kind < 3) {
            uint32_t tensor = pick(w, first, last, t->n_tensors, has_tensor), from = w->inside[tensor];
            if (from < t->n_memories) {
                w->inside[tensor] = from + tiny_below(w->r, t->n_memories - from) + 1;
                fprintf(w->out, "keep T%u in m%u; ", tensor, w->inside[tensor] - 1);
            }
            continue;
        }
        uint32_t rank = pick(w, first, last, t->n_ranks, has_rank);
        bool spatial = kind == 3 && t->n_axes > 0;
        fprintf(w->out, "%s %c%c", spatial ? "spatial" : "temporal", 'a' + rank, spatial ? '/' : ':');
        write_amount(w);
        if (spatial)
            fprintf(w->out, " on x%u", tiny_below(w->r, t->n_axes));
        fprintf(w->out, "; ");
    }
}

/* Prints the loops that finish every rank of an einsum; adds an open loop if the lines have none. */
static void write_end(writer *w, uint32_t einsum)
{
    const char *between = "temporal ";

    if (w->n_holes == 0) {
        fprintf(w->out, "temporal %c:?; ", 'a' + pick(w, einsum, einsum, w->t->n_ranks, has_rank));
        w->n_holes++;
    }
    for (uint32_t i = 0; i < w->t->n_ranks; i++)
        if (has_rank(&w->t->einsum[einsum], i)) {
            fprintf(w->out, "%s%c", between, 'a' + i);
            between = ", ";
        }
    fprintf(w->out, ";\n");
}

void partial_draw(const tiny *t, tiny_random *r, FILE *out)
{
    writer w = { .t = t, .r = r, .out = out };
    uint32_t last = t->n_einsums - 1;

    tiny_print_problem(t, 0, out);
    fprintf(out, "mapping best for tiny on chip {\n    ");
    if (tiny_below(r, 2) == 0)
        fputs(PERFECT, out);
    for (uint32_t i = 0; i < t->n_tensors; i++)
        if (tiny_below(r, 16) > 0) {
            fprintf(out, "keep T%u in m0; ", i);
            w.inside[i] = 1;
        }
    write_lines(&w, 0, last);
    if (last == 0) {
        write_end(&w, 0);
    } else {
        fprintf(out, "\n    fuse {\n");
        for (uint32_t e = 0; e <= last; e++) {
            writer child = w;
            fprintf(out, "        T%u { ", t->einsum[e].out.tensor);
            write_lines(&child, e, e);
            write_end(&child, e);
            w.n_holes = child.n_holes;
            fprintf(out, "        }\n");
        }
        fprintf(out, "    }\n");
    }
    fprintf(out, "    minimize %s;\n}\n", tiny_objective_text(t));
}

/* ---- places for lines ---- */

/* A random divisor of `n`. */
static uint32_t divisor(writer *w, int64_t n)
{
    uint32_t all[64], count = 0;

    for (uint32_t d = 1; d <= n && count < 64; d++)
        if (n % d == 0)
            all[count++] = d;
    return all[tiny_below(w->r, count)];
}

static void write_place(writer *w)
{
    fprintf(w->out, "...; ");
    w->n_holes++;
}

static void write_one(writer *w, int64_t *left)
{
    const tiny *t = w->t;
    uint32_t kind = tiny_below(w->r, 8), rank = pick(w, w->einsum, w->einsum, t->n_ranks, has_rank), by;
    bool spatial = kind == 3 && t->n_axes > 0;

    if (kind < 3) {
        uint32_t tensor = pick(w, w->einsum, w->einsum, t->n_tensors, has_tensor), from = w->inside[tensor];
        if (from < t->n_memories) {
            w->inside[tensor] = from + tiny_below(w->r, t->n_memories - from) + 1;
            fprintf(w->out, "keep T%u in m%u; ", tensor, w->inside[tensor] - 1);
        }
        return;
    }
    fprintf(w->out, "%s %c%c", spatial ? "spatial" : "temporal", 'a' + rank, spatial || kind == 4 ? '/' : ':');
    by = divisor(w, left[rank]);
    left[rank] /= by;
    if (tiny_below(w->r, 4) == 0)
        fprintf(w->out, "%s", tiny_below(w->r, 2) == 0 ? "?" : "? in 1..4");
    else
        fprintf(w->out, "%u", spatial || kind == 4 ? by : (uint32_t)left[rank]);
    if (spatial)
        fprintf(w->out, " on x%u", tiny_below(w->r, t->n_axes));
    fprintf(w->out, "; ");
}

void partial_between(const tiny *t, tiny_random *r, FILE *out)
{
    tiny one = *t;
    writer w = { .t = &one, .r = r, .out = out };
    bool homes = tiny_below(r, 3) > 0, end;
    int64_t left[TINY_RANKS];

    one.n_einsums = 1;
    memcpy(left, one.extent, sizeof left);
    tiny_print_problem(&one, 0, out);
    fprintf(out, "mapping best for tiny on chip {\n    %s", t->waits ? "" : PERFECT);
    for (uint32_t i = 0; i < one.n_tensors; i++) {
        if (homes && has_tensor(&one.einsum[0], i))
            fprintf(out, "keep T%u in m0; ", i);
        w.inside[i] = 1;
    }
    if (!homes)
        write_place(&w);
    for (uint32_t n = 1 + tiny_below(r, MOST_LINES); n > 0; n--)
        if (tiny_below(r, 3) == 0)
            write_place(&w);
        else
            write_one(&w, left);
    end = tiny_below(r, 2) == 0 && w.n_holes > 0;
    for (uint32_t i = 0; i < one.n_ranks && end; i++)
        if (has_rank(&one.einsum[0], i))
            fprintf(out, "temporal %c; ", 'a' + i);
    if (!end)
        write_place(&w);
    fprintf(out, "\n    minimize %s;\n}\n", tiny_objective_text(t));
}

/* ---- places in braces ---- */

/* Prints a brace: lines and open places of one einsum, or of all einsums. `left_above` estimates the remaining elements
   of each rank. */
static void write_brace(writer *w, uint32_t einsum, const int64_t *left_above)
{
    int64_t left[TINY_RANKS];
    uint32_t before = w->n_holes;
    bool closed = tiny_below(w->r, 5) == 0;
    writer own = *w;

    own.einsum = einsum;
    memcpy(left, left_above, sizeof left);
    fprintf(w->out, "        T%u { ", w->t->einsum[einsum].out.tensor);
    if (!closed && tiny_below(w->r, 2) == 0)
        write_place(&own);
    for (uint32_t n = tiny_below(w->r, MOST_LINES - 1); n > 0; n--)
        if (!closed && tiny_below(w->r, 3) == 0)
            write_place(&own);
        else
            write_one(&own, left);
    if ((closed || tiny_below(w->r, 2) == 0) && (own.n_holes > before || einsum + 1 < w->t->n_einsums))
        for (uint32_t i = 0; i < w->t->n_ranks; i++) {
            if (has_rank(&w->t->einsum[einsum], i))
                fprintf(w->out, "temporal %c; ", 'a' + i);
        }
    else
        write_place(&own);
    w->n_holes = own.n_holes;
    fprintf(w->out, "}\n");
}

/* Keeps and loops above the einsums from `first` on. */
static void write_shared(writer *w, uint32_t first, uint32_t last, int64_t *left)
{
    for (uint32_t n = tiny_below(w->r, 4); n > 0; n--) {
        uint32_t rank = pick(w, first, last, w->t->n_ranks, has_rank);
        if (tiny_below(w->r, 2) == 0) {
            uint32_t tensor = pick(w, first, last, w->t->n_tensors, has_tensor), from = w->inside[tensor];
            if (from < w->t->n_memories && !w->t->memory[from].inside) {
                w->inside[tensor] = from + 1;
                fprintf(w->out, "keep T%u in m%u; ", tensor, from);
            }
            continue;
        }
        left[rank] /= divisor(w, left[rank]);
        if (tiny_below(w->r, 4) == 0)
            fprintf(w->out, "temporal %c:?%s; ", 'a' + rank, tiny_below(w->r, 2) == 0 ? "" : " in {1, 2}");
        else
            fprintf(w->out, "temporal %c:%u; ", 'a' + rank, (uint32_t)left[rank]);
    }
}

void partial_braces(const tiny *t, tiny_random *r, FILE *out)
{
    writer w = { .t = t, .r = r, .out = out };
    uint32_t last = t->n_einsums - 1, inner = last > 1 && tiny_below(r, 3) == 0;
    bool missing = tiny_below(r, 8) == 0;
    int64_t left[TINY_RANKS];

    memcpy(left, t->extent, sizeof left);
    tiny_print_problem(t, 0, out);
    fprintf(out, "mapping best for tiny on chip {\n    %s", tiny_below(r, 8) == 0 || t->waits ? "" : PERFECT);
    for (uint32_t i = 0; i < t->n_tensors; i++) {
        uint32_t users = 0;
        for (uint32_t e = 0; e <= last; e++)
            users += has_tensor(&t->einsum[e], i);
        if (users == 0 || (missing && users == 1))
            continue;
        w.inside[i] = 1;
        if (users > 1 && t->n_memories > 1 && !t->memory[1].inside && tiny_below(r, 2) == 0)
            continue;
        fprintf(out, "keep T%u in m0; ", i);
    }
    for (uint32_t i = 0; i < t->n_tensors; i++)
        w.inside[i] = 1;
    write_shared(&w, 0, last, left);
    fprintf(out, "\n    fuse {\n");
    if (inner) {
        fprintf(out, "        T%u, T%u { ", t->einsum[0].out.tensor, t->einsum[1].out.tensor);
        write_shared(&w, 0, 1, left);
        fprintf(out, "fuse {\n");
        write_brace(&w, 0, left);
        write_brace(&w, 1, left);
        fprintf(out, "        } }\n");
    }
    for (uint32_t e = inner ? 2 : 0; e <= last; e++)
        write_brace(&w, e, left);
    fprintf(out, "    }\n    minimize %s;\n}\n", tiny_objective_text(t));
}

void partial_together(const tiny *t, tiny_random *r, FILE *together, FILE *apart)
{
    char *shared = NULL;
    size_t len;
    writer w = { .t = t, .r = r, .out = open_memstream(&shared, &len) };
    uint32_t last = t->n_einsums - 1, made = t->einsum[0].out.tensor, where = tiny_below(r, t->memory[1].inside ? 1 : 2);
    bool named = last == 1 || tiny_below(r, 2) == 0, read = false;
    int64_t left[TINY_RANKS];

    memcpy(left, t->extent, sizeof left);
    for (uint32_t e = 1; e <= last; e++)
        read |= has_tensor(&t->einsum[e], made);
    fprintf(w.out, "mapping best for tiny on chip {\n    %s", t->waits ? "" : PERFECT);
    for (uint32_t i = 0; i < t->n_tensors; i++) {
        w.inside[i] = i == made ? t->n_memories : 1;
        for (uint32_t e = 0; e <= last && i != made; e++)
            if (has_tensor(&t->einsum[e], i)) {
                fprintf(w.out, "keep T%u in m0; ", i);
                break;
            }
    }
    write_shared(&w, 0, last, left);
    fclose(w.out);
    for (uint32_t i = 0; i < 2; i++) {
        FILE *out = i == 0 ? together : apart;
        tiny_print_problem(t, 0, out);
        fprintf(out, "%s\n    fuse {\n        ", shared);
        if (i == 1)
            fprintf(out, "T%u, T%u { keep T%u in m%u; fuse { T%u { ...; } T%u { ...; } } }\n", made, t->einsum[1].out.tensor,
                    made, read ? where : 0, made, t->einsum[1].out.tensor);
        else if (named)
            fprintf(out, "T%u, T%u { ...; }\n", made, t->einsum[1].out.tensor);
        if (last > 1)
            fprintf(out, "        T%u { ...; }\n", t->einsum[2].out.tensor);
        fprintf(out, "%s    }\n    minimize %s;\n}\n", i == 0 && !named ? "        ...;\n" : "", tiny_objective_text(t));
    }
    free(shared);
}

/* ---- lines of a mapping ---- */

/* Copies the loops of a line and changes some amounts. A loop that finishes its rank may get an amount and a second
   loop behind it. */
static const char *open_loops(writer *w, const char *c)
{
    while (*c && *c != ';') {
        bool amount = (c[0] == ':' || c[0] == '/') && isdigit((unsigned char)c[1]);
        bool bare = c[0] == ' ' && islower((unsigned char)c[1]) && strchr(",;", c[2]);
        fputc(*c++, w->out);
        if (!(amount || bare) || tiny_below(w->r, 3) == 0)
            continue;
        if (bare)
            fprintf(w->out, "%c:", *c);
        write_amount(w);
        if (bare)
            fprintf(w->out, ", ");
        while (isdigit((unsigned char)*c))
            c++;
    }
    return c;
}

void partial_open(const char *text, tiny_random *r, FILE *out)
{
    writer w = { .r = r, .out = out };
    const char *mapping = strstr(text, "mapping best"), *c = mapping ? mapping : text + strlen(text);

    fwrite(text, 1, (size_t)(c - text), out);
    while (*c) {
        if (strncmp(c, "temporal ", 9) == 0 || strncmp(c, "spatial ", 8) == 0)
            c = open_loops(&w, c);
        else
            fputc(*c++, out);
    }
}

/* Whether a line is a loop or a keep that is no home. */
static bool is_inner(const char *line, const char *end)
{
    const char *home = strstr(line, " in m0;");

    return (strncmp(line, "    keep ", 9) == 0 && !(home && home < end)) || strncmp(line, "    temporal ", 13) == 0 ||
           strncmp(line, "    spatial ", 12) == 0;
}

void partial_reopen(const char *text, tiny_random *r, FILE *out)
{
    const char *mapping = strstr(text, "mapping best");
    uint32_t n = 0, i = 0, first, last;

    for (const char *c = mapping, *end; (end = strchr(c, '\n')) != NULL; c = end + 1)
        n += is_inner(c, end);
    first = tiny_below(r, n + 1);
    last = first + tiny_below(r, n - first + 1);
    fwrite(text, 1, (size_t)(mapping - text), out);
    for (const char *c = mapping, *end; (end = strchr(c, '\n')) != NULL; c = end + 1) {
        bool inner = is_inner(c, end), open = inner && i >= first && i < last;
        if ((inner && i == first) || (!inner && n == i && first == n && strncmp(c, "    minimize", 12) == 0))
            fprintf(out, "    ...;\n");
        if (!open)
            fwrite(c, 1, (size_t)(end + 1 - c), out);
        i += inner;
    }
}
