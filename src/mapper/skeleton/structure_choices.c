/* Numbers of choices, and the lines that they stand for. */
#include "mapper/skeleton/structure_choices.h"

#include <string.h>

#include "ir/mapping_open.h"
#include "mapper/skeleton/fixed_lines.h"

/* What one place can be filled with. */
typedef struct {
    const uint32_t *of;    /* tensors that may be kept, or ranks of the loops */
    uint32_t n;
    uint32_t count;        /* ways, at most DFL_CHOICES_COUNTED */
} offer;

static uint32_t multiply(uint32_t a, uint32_t b)
{
    uint64_t product = (uint64_t)a * b;

    return product > DFL_CHOICES_COUNTED ? DFL_CHOICES_COUNTED : (uint32_t)product;
}

/* The memory in which a tensor is kept last above line `at` of a body, DFL_NONE = nowhere. */
static uint32_t kept_above(const dfl_body *b, uint32_t at, uint32_t tensor)
{
    for (uint32_t i = at; i-- > 0;)
        if (b->lines[i].kind == DFL_LINE_KEEP && b->lines[i].tensor == tensor)
            return b->lines[i].memory;
    return dfl_body_home(b->parent, tensor);
}

/* Whether the tensor may be kept there: it is touched below, and kept further out. An intermediate need not be: then it is at
   home there. An input or output would be there from the start, or to the end, which has to be written. */
static bool may_keep(const dfl_mapping *m, const dfl_body *b, const dfl_line_choice *c, uint32_t tensor)
{
    const dfl_tensor *t = &m->workload->tensors[tensor];
    const dfl_memory *memory = &m->system->memories[c->memory];
    uint32_t above = kept_above(b, c->at, tensor);
    bool touched = false;

    for (uint32_t i = 0; i < b->n_einsums && !touched; i++)
        touched = dfl_einsum_touches(&m->workload->einsums[b->einsums[i]], tensor);
    return touched && (above == DFL_NONE ? t->role == DFL_ROLE_INTERMEDIATE : dfl_memory_outside(m->system, above, c->memory)) &&
           (!memory->holds.on || dfl_selects(&memory->holds, t));
}

/* Whether a loop above line `at` of a body, or further out, goes through the rank element by element. */
static bool is_finished(const dfl_body *b, uint32_t at, uint32_t rank)
{
    bool finished = b->parent != NULL && is_finished(b->parent, b->parent->n_lines, rank);

    for (uint32_t i = 0; i < at && !finished; i++)
        finished = b->lines[i].kind != DFL_LINE_KEEP && b->lines[i].rank == rank && b->lines[i].by == DFL_BY_SIZE &&
                   b->lines[i].amount == 1;
    return finished;
}

/* Whether all einsums of a body have the rank, and no loop above has finished it. */
static bool is_left(const dfl_mapping *m, const dfl_body *b, const dfl_line_choice *c, uint32_t rank)
{
    bool all = !is_finished(b, c->at, rank);

    for (uint32_t i = 0; i < b->n_einsums && all; i++)
        all = dfl_einsum_has_rank(&m->workload->einsums[b->einsums[i]], rank);
    return all;
}

/* The same for one that has more than one element to loop over. */
static bool may_loop(const dfl_mapping *m, const dfl_body *b, const dfl_line_choice *c, uint32_t rank)
{
    return m->workload->ranks[rank].extent > 1 && is_left(m, b, c, rank);
}

static offer offer_of(dfl_arena *arena, const dfl_mapping *m, const dfl_body *b, const dfl_line_choice *c)
{
    uint32_t n = c->kind == DFL_LINE_KEEP ? m->workload->n_tensors : m->workload->n_ranks;
    uint32_t *of = DFL_NEW_ARRAY(arena, uint32_t, (size_t)n + 1);
    offer out = { .of = of, .count = 1 };

    for (uint32_t i = 0; i < n; i++)
        if (c->kind == DFL_LINE_KEEP ? may_keep(m, b, c, i) : may_loop(m, b, c, i))
            of[out.n++] = i;
    for (uint32_t i = 0; i < out.n && c->kind != DFL_LINE_SPATIAL; i++)
        out.count = multiply(out.count, c->kind == DFL_LINE_KEEP ? 2 : i + 1);
    return out;
}

uint32_t dfl_choices_count(dfl_arena *scratch, const dfl_mapping *m)
{
    uint32_t count = 1;

    for (uint32_t b = 0; b < m->n_bodies; b++)
        for (uint32_t i = 0; i < m->bodies[b]->n_choices; i++)
            count = multiply(count, offer_of(scratch, m, m->bodies[b], &m->bodies[b]->choices[i]).count);
    return count;
}

void dfl_choices_most(dfl_arena *scratch, const dfl_mapping *m, dfl_span *at, uint32_t *ways)
{
    *ways = 0;
    for (uint32_t b = 0; b < m->n_bodies; b++)
        for (uint32_t i = 0; i < m->bodies[b]->n_choices; i++) {
            const dfl_line_choice *c = &m->bodies[b]->choices[i];
            uint32_t count = offer_of(scratch, m, m->bodies[b], c).count;
            if (count > *ways) {
                *ways = count;
                *at = c->span;
            }
        }
}

/* Whether there is something to choose, or would be if ranks had more than one element. */
static bool has_offer(dfl_arena *scratch, const dfl_mapping *m, const dfl_body *b, const dfl_line_choice *c)
{
    bool any = offer_of(scratch, m, b, c).n > 0;

    for (uint32_t r = 0; r < m->workload->n_ranks && c->kind != DFL_LINE_KEEP; r++)
        any |= is_left(m, b, c, r);
    return any;
}

bool dfl_choices_check(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m)
{
    dfl_arena *scratch = dfl_arena_new(NULL);
    bool any = true;

    for (uint32_t b = 0; b < m->n_bodies && any; b++)
        for (uint32_t i = 0; i < m->bodies[b]->n_choices && any; i++) {
            const dfl_line_choice *c = &m->bodies[b]->choices[i];
            any = has_offer(scratch, m, m->bodies[b], c);
            if (!any && c->kind == DFL_LINE_KEEP)
                dfl_fixed_lines_refuse(sink, names, m, c->span,
                                       "no tensor can be kept here: it must be touched below and have a keep "
                                       "further out",
                                       "put the homes above it, as in `keep A, B in dram;`, or replace `?` by tensors");
            else if (!any)
                dfl_fixed_lines_refuse(sink, names, m, c->span, "the einsums below share no unfinished rank",
                                       "remove the line, or put it in the braces of an einsum");
        }
    dfl_arena_free(scratch);
    return any;
}

/* ---- one of them ---- */

typedef struct {
    dfl_line *at;
    uint32_t n;
} lines;

/* Keeps of the tensors whose bit is set in `way`. */
static void add_keeps(lines *out, const dfl_line_choice *c, const offer *o, uint32_t way)
{
    for (uint32_t i = 0; i < o->n; i++)
        if (way >> i & 1)
            out->at[out->n++] = (dfl_line){ .kind = DFL_LINE_KEEP, .span = c->span, .amount_span = c->span, .rank = DFL_NONE,
                                            .axis = DFL_NONE, .tensor = o->of[i], .memory = c->memory, .mode = c->mode };
}

/* Loops over all ranks in order number `way` of the orders, sorted as words are. */
static void add_loops(dfl_arena *arena, lines *out, const dfl_line_choice *c, const offer *o, uint32_t way)
{
    static const dfl_hole size = { .by = DFL_BY_SIZE }, parts = { .by = DFL_BY_PARTS };
    uint32_t *left = DFL_NEW_ARRAY(arena, uint32_t, (size_t)o->n + 1), behind = o->count;

    if (o->n > 0)
        memcpy(left, o->of, o->n * sizeof *left);
    for (uint32_t n = o->n; n > 0; n--) {
        uint32_t pick = 0;
        if (c->kind == DFL_LINE_TEMPORAL) {
            behind /= n;
            pick = way / behind;
            way %= behind;
        }
        /* no bare loop: its amount, even 1, is no part of the text (path_check.c) */
        out->at[out->n++] = (dfl_line){ .kind = c->kind, .span = c->span, .amount_span = { 0 }, .rank = left[pick],
                                        .by = DFL_BY_HOLE, .amount = 1, .hole = c->kind == DFL_LINE_TEMPORAL ? &size : &parts,
                                        .axis = c->axis, .tensor = DFL_NONE, .memory = DFL_NONE, .online = c->online };
        memmove(left + pick, left + pick + 1, (n - 1 - pick) * sizeof *left);
    }
}

/* Puts the lines of a choice in its place; what is left of the number is for the next one. */
static void fill(dfl_arena *arena, const dfl_mapping *m, const dfl_body *b, const dfl_line_choice *c, lines *out,
                 uint32_t *number)
{
    const offer o = offer_of(arena, m, b, c);
    const uint32_t way = *number % o.count;

    *number /= o.count;
    if (c->kind == DFL_LINE_KEEP)
        add_keeps(out, c, &o, way);
    else
        add_loops(arena, out, c, &o, way);
}

/* `b` is a copy of `from`. */
static void fill_body(dfl_arena *arena, const dfl_mapping *m, const dfl_body *from, dfl_body *b, uint32_t *number)
{
    const uint32_t most = m->workload->n_tensors + m->workload->n_ranks; /* lines in one place */
    lines all = { .at = DFL_NEW_ARRAY(arena, dfl_line, (size_t)from->n_lines + (size_t)most * from->n_choices + 1) };
    dfl_open *opens = DFL_NEW_ARRAY(arena, dfl_open, (size_t)from->n_opens + 1);

    for (uint32_t o = 0; o < from->n_opens; o++)
        opens[o] = from->opens[o];
    for (uint32_t i = 0, c = 0; i <= from->n_lines; i++) {
        for (; c < from->n_choices && from->choices[c].at == i; c++) {
            uint32_t before = all.n;
            fill(arena, m, from, &from->choices[c], &all, number);
            for (uint32_t o = from->choices[c].opens; o < from->n_opens; o++)
                opens[o].at += all.n - before;
        }
        if (i < from->n_lines)
            all.at[all.n++] = from->lines[i];
    }
    b->lines = all.at;
    b->n_lines = all.n;
    b->opens = opens;
    b->choices = NULL;
    b->n_choices = 0;
}

dfl_mapping *dfl_choices_take(dfl_arena *arena, const dfl_mapping *m, uint32_t number)
{
    dfl_mapping *out = dfl_mapping_copy(arena, m);

    out->n_choices = 0;
    out->has_holes = false;
    for (uint32_t b = 0; b < out->n_bodies; b++) {
        dfl_body *body = out->bodies[b];
        if (body->n_choices > 0)
            fill_body(arena, m, m->bodies[b], body, &number);
        out->has_holes |= body->open || body->open_children;
        for (uint32_t i = 0; i < body->n_lines; i++)
            out->has_holes |= body->lines[i].kind != DFL_LINE_KEEP && body->lines[i].by == DFL_BY_HOLE;
    }
    return out;
}

/* ---- their names ---- */

/* Whether a line stands for the place. */
static bool is_of(const dfl_line *l, const dfl_line_choice *c)
{
    return l->kind == c->kind && l->span.start == c->span.start && l->span.end == c->span.end && l->axis == c->axis &&
           l->memory == c->memory;
}

static void print_place(dfl_strbuf *out, const dfl_intern *names, const dfl_mapping *m, const dfl_body *b,
                        const dfl_line_choice *c)
{
    const bool keep = c->kind == DFL_LINE_KEEP;
    bool any = false;

    dfl_strbuf_z(out, keep ? "`keep" : "`temporal");
    for (uint32_t i = 0; i < b->n_lines; i++) {
        const dfl_line *l = &b->lines[i];
        if (!is_of(l, c))
            continue;
        dfl_strbuf_printf(out, "%s %s", any ? "," : "",
                          dfl_sym_text(names, keep ? m->workload->tensors[l->tensor].name : m->workload->ranks[l->rank].name));
        any = true;
    }
    dfl_strbuf_z(out, any ? "" : " nothing");
    if (keep)
        dfl_strbuf_printf(out, " in %s", dfl_sym_text(names, m->system->memories[c->memory].name));
    dfl_strbuf_char(out, '`');
}

void dfl_choices_print(dfl_strbuf *out, const dfl_intern *names, const dfl_mapping *m, const dfl_mapping *chosen)
{
    bool any = false;

    for (uint32_t b = 0; b < m->n_bodies; b++)
        for (uint32_t i = 0; i < m->bodies[b]->n_choices; i++) {
            const dfl_line_choice *c = &m->bodies[b]->choices[i];
            if (c->kind == DFL_LINE_SPATIAL) /* in one order */
                continue;
            dfl_strbuf_z(out, any ? ", " : "");
            print_place(out, names, m, chosen->bodies[b], c);
            any = true;
        }
}
