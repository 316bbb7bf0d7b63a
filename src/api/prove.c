/*
 * Proving: the oracle executes a design, the model counts it in closed form, every count is compared. Sizes that take
 * too long to execute are halved, the largest rank first, until the oracle gets through.
 */
#include "api/session.h"

#include <string.h>

#include "ir/shrink.h"
#include "model/model.h"
#include "oracle/oracle.h"
#include "report/table.h"

enum {
    FIRST_POINTS = 50000,     /* operations that the first attempt may execute; each further one a quarter */
    LEAST_POINTS = 16,
    MOST_REPORTS = 20,        /* differences of one design that are reported */
};
static const uint64_t steps_of_attempt = 2000000000;
static const size_t memory_of_attempt = (size_t)1 << 30;

typedef struct {
    dfl_session *s;
    dfl_strbuf *out;
    const dfl_mapping *mapping;   /* as written */
    const dfl_mapping *small;     /* as executed */
    int64_t *extents;
    unsigned *halvings;
    bool *fixed;                  /* by --size */
    uint32_t *class_of;
    dfl_budget budget;            /* of one attempt */
    dfl_arena *arena;             /* of one attempt */
    uint64_t compared, differing;
} proof;

/* ---- sizes ---- */

static bool names_rank(const dfl_session *s, const dfl_rank *rank, const char *name)
{
    const char *text = dfl_sym_text(s->names, rank->name);
    size_t len = strlen(text), name_len = strlen(name);

    return name_len == 0 || strcmp(text, name) == 0 ||
           (len > name_len && text[len - name_len - 1] == '.' && strcmp(text + len - name_len, name) == 0);
}

static void set_class(proof *p, uint32_t c, int64_t extent, bool fix)
{
    const dfl_workload *w = p->mapping->workload;

    for (uint32_t r = 0; r < w->n_ranks; r++)
        if (p->class_of[r] == c) {
            p->extents[r] = extent < w->ranks[r].extent ? extent : w->ranks[r].extent;
            p->fixed[r] |= fix;
        }
}

static void halve_class(proof *p, uint32_t c)
{
    int64_t extent = p->extents[c] / 2 + p->extents[c] % 2;

    if (extent <= dfl_mapping_largest_tile(p->mapping, p->class_of, c, p->halvings[c]))
        for (uint32_t r = 0; r < p->mapping->workload->n_ranks; r++)
            if (p->class_of[r] == c)
                p->halvings[r]++;
    set_class(p, c, extent, false);
}

/* Tiles follow a size that was asked for: halved until a few of them make up the rank. */
static void fit_tiles(proof *p, uint32_t c)
{
    while (p->extents[c] > 1 && p->halvings[c] < 62 &&
           dfl_mapping_largest_tile(p->mapping, p->class_of, c, p->halvings[c]) >= p->extents[c] &&
           p->extents[c] < p->mapping->workload->ranks[c].extent)
        for (uint32_t r = p->mapping->workload->n_ranks; r-- > 0;)
            if (p->class_of[r] == c)
                p->halvings[r]++;
}

static void apply_sizes(proof *p, const dfl_size *sizes, size_t n, bool *used)
{
    const dfl_workload *w = p->mapping->workload;

    for (size_t i = 0; i < n; i++)
        for (uint32_t r = 0; r < w->n_ranks; r++)
            if (names_rank(p->s, &w->ranks[r], sizes[i].name)) {
                set_class(p, p->class_of[r], sizes[i].extent, true);
                fit_tiles(p, p->class_of[r]);
                used[i] = true;
            }
}

/* Operations of all einsums at the present extents, INT64_MAX when there are more. */
static int64_t points(const proof *p)
{
    const dfl_workload *w = p->mapping->workload;
    int64_t sum = 0;

    for (uint32_t e = 0; e < w->n_einsums; e++) {
        int64_t n = 1;

        for (uint32_t i = 0; i < w->einsums[e].n_ranks; i++)
            if (__builtin_mul_overflow(n, p->extents[w->einsums[e].ranks[i]], &n))
                return INT64_MAX;
        if (__builtin_add_overflow(sum, n, &sum))
            return INT64_MAX;
    }
    return sum;
}

/* Halves the largest free rank until at most `most` operations are left; false when nothing can be halved. */
static bool shrink_to(proof *p, int64_t most)
{
    const dfl_workload *w = p->mapping->workload;

    while (points(p) > most) {
        uint32_t best = DFL_NONE;

        if (!dfl_budget_ok(&p->s->budget))
            return false;
        for (uint32_t r = 0; r < w->n_ranks; r++)
            if (!p->fixed[r] && p->extents[r] > 1 && (best == DFL_NONE || p->extents[r] > p->extents[best]))
                best = r;
        if (best == DFL_NONE)
            return false;
        halve_class(p, p->class_of[best]);
    }
    return true;
}

/* A rank whose last tile is smaller stays one. */
static void keep_ragged(proof *p)
{
    const dfl_workload *w = p->mapping->workload;

    for (uint32_t c = 0; c < w->n_ranks; c++) {
        int64_t before = dfl_mapping_largest_tile(p->mapping, p->class_of, c, 0);
        int64_t after = dfl_mapping_largest_tile(p->mapping, p->class_of, c, p->halvings[c]);

        if (p->class_of[c] == c && !p->fixed[c] && p->extents[c] < w->ranks[c].extent && w->ranks[c].extent % before &&
            after > 1 && p->extents[c] > after && p->extents[c] % after == 0)
            set_class(p, c, p->extents[c] - 1, false);
    }
}

/* Largest position of dimension `d` that the readers of a result reach. */
static int64_t read_up_to(const dfl_workload *w, const dfl_tensor *t, uint32_t tensor, uint32_t d, const int64_t *extents)
{
    int64_t most = 0;

    for (uint32_t k = 0; k < t->n_consumers; k++) {
        const dfl_einsum *reader = &w->einsums[t->consumers[k]];

        for (uint32_t i = 0; i < reader->n_inputs; i++)
            if (reader->inputs[i].tensor == tensor) {
                int64_t reach = dfl_index_reach(w, &reader->inputs[i].index[d], extents);
                most = reach > most ? reach : most;
            }
    }
    return most;
}

/* A result that is read all over stays one: a reader with a stride shrinks it by more than its own ranks. */
static void cover_reads(proof *p)
{
    const dfl_workload *w = p->mapping->workload;

    for (uint32_t e = w->n_einsums; e-- > 0;) {
        const dfl_access *out = &w->einsums[e].output;
        const dfl_tensor *t = &w->tensors[out->tensor];

        for (uint32_t d = 0; t->n_consumers > 0 && d < out->n_dims; d++) {
            uint32_t rank;

            if (!dfl_index_is_bare(&out->index[d], &rank) || p->fixed[rank])
                continue;
            int64_t gone = read_up_to(w, t, out->tensor, d, NULL) - read_up_to(w, t, out->tensor, d, p->extents);
            if (p->extents[rank] < t->extents[d] - gone)
                set_class(p, p->class_of[rank], t->extents[d] - gone, false);
        }
    }
}

/* ---- one attempt ---- */

typedef struct {
    const dfl_paths *paths;
    const dfl_result *model;
    const dfl_oracle_result *oracle;
    dfl_sink *sink;
} attempt;

static attempt try_sizes(proof *p)
{
    attempt a = { 0 };

    if (p->arena)
        dfl_arena_free(p->arena);
    p->budget = (dfl_budget){ .steps_limit = p->s->budget.steps_limit < steps_of_attempt ? p->s->budget.steps_limit
                                                                                         : steps_of_attempt,
                              .memory_limit = memory_of_attempt,
                              .cancel = p->s->budget.cancel };
    p->arena = dfl_arena_new(&p->budget);
    a.sink = dfl_sink_new(p->arena, p->s->sources);
    p->small = dfl_mapping_shrink(p->arena, p->mapping, p->extents, p->halvings);
    a.paths = dfl_paths_resolve(p->arena, a.sink, p->s->names, p->small);
    if (a.paths)
        a.model = dfl_model_eval(p->arena, a.sink, p->s->names, a.paths);
    if (a.model)
        a.oracle = dfl_oracle_run(p->arena, a.sink, p->s->names, a.paths);
    return a;
}

static bool stopped(const proof *p)
{
    return p->budget.why == DFL_STOP_STEPS || p->budget.why == DFL_STOP_MEMORY;
}

/* ---- comparing ---- */

static void differ(proof *p, const char *what, dfl_i128 model, dfl_i128 oracle)
{
    char left[41], right[41];
    dfl_diag *d;

    p->differing++;
    if (p->differing > MOST_REPORTS)
        return;
    dfl_i128_text(model, left);
    dfl_i128_text(oracle, right);
    d = dfl_report(p->s->sink, DFL_PROVE_DIFFERS, p->mapping->span, "%s: %s by the model, %s by execution", what, left,
                   right);
    dfl_diag_help(p->s->sink, d, "this is a defect of dflc: please report the file and the sizes");
}

static void compare(proof *p, const char *what, dfl_i128 model, dfl_i128 oracle)
{
    p->compared++;
    if (model != oracle)
        differ(p, what, model, oracle);
}

static const char *text_of(const proof *p, dfl_sym sym)
{
    return dfl_sym_text(p->s->names, sym);
}

static void compare_part(proof *p, const char *part, const char *count, dfl_i128 model, dfl_i128 oracle)
{
    if (model != oracle)
        compare(p, dfl_arena_printf(p->arena, "%s of %s", count, part), model, oracle);
    else
        p->compared++;
}

static const dfl_traffic *traffic_of(const dfl_result *r, uint32_t memory, uint32_t tensor)
{
    for (uint32_t i = 0; i < r->n_traffic; i++)
        if (r->traffic[i].memory == memory && r->traffic[i].tensor == tensor)
            return &r->traffic[i];
    return NULL;
}

/* The counts of the instance at coordinate 0, which set the time. */
static void compare_first(proof *p, const char *part, const dfl_counts *c, const dfl_oracle_counts *o)
{
    part = dfl_arena_printf(p->arena, "%s at coordinate 0", part);
    compare_part(p, part, "serve", c->serve, o->serve);
    compare_part(p, part, "drain", c->drain, o->drain);
    compare_part(p, part, "accumulate", c->accumulate, o->accumulate);
    compare_part(p, part, "fill", c->fill, o->fill);
    compare_part(p, part, "update", c->update, o->update);
}

/* Every keep's five counts, and a row of them in the table. */
static void compare_traffic(proof *p, const attempt *a, dfl_table *table)
{
    static const dfl_traffic nothing;
    const dfl_system *s = p->small->system;

    for (uint32_t i = 0; i < a->oracle->n_traffic; i++) {
        const dfl_oracle_traffic *o = &a->oracle->traffic[i];
        const dfl_traffic *t = traffic_of(a->model, o->memory, o->tensor);
        const dfl_counts *c = t ? &t->counts : &nothing.counts;
        const char *memory = text_of(p, s->memories[o->memory].name);
        const char *tensor = text_of(p, p->small->workload->tensors[o->tensor].name);
        const char *part = dfl_arena_printf(p->arena, "`%s` in `%s`", tensor, memory);

        compare_part(p, part, "serve", c->serve, o->serve);
        compare_part(p, part, "drain", c->drain, o->drain);
        compare_part(p, part, "accumulate", c->accumulate, o->accumulate);
        compare_part(p, part, "fill", c->fill, o->fill);
        compare_part(p, part, "update", c->update, o->update);
        compare_part(p, part, "peak bits", t ? t->peak_bits : 0, o->peak_bits);
        if (t && !t->rough)
            compare_first(p, part, &t->first, &o->first);
        dfl_table_row_start(table);
        dfl_table_cell(table, memory);
        dfl_table_cell(table, tensor);
        dfl_table_count(table, o->serve);
        dfl_table_count(table, o->drain);
        dfl_table_count(table, o->accumulate);
        dfl_table_count(table, o->fill);
        dfl_table_count(table, o->update);
    }
    compare(p, "number of keeps", a->model->n_traffic, a->oracle->n_traffic);
}

static bool online(const dfl_mapping *m)
{
    for (uint32_t b = 0; b < m->n_bodies; b++)
        for (uint32_t i = 0; i < m->bodies[b]->n_lines; i++)
            if (m->bodies[b]->lines[i].kind == DFL_LINE_TEMPORAL && m->bodies[b]->lines[i].online)
                return true;
    return false;
}

static void compare_parts(proof *p, const attempt *a)
{
    const dfl_workload *w = p->small->workload;
    const dfl_system *s = p->small->system;

    for (uint32_t e = 0; e < w->n_einsums; e++) {
        const dfl_einsum_cost *c = &a->model->einsums[e];
        const char *part = dfl_arena_printf(p->arena, "`%s`", text_of(p, w->einsums[e].name));

        compare_part(p, part, "points", c->points, a->oracle->points[e]);
        compare_part(p, part, "steps", c->steps, a->oracle->steps[e]);
        compare_part(p, part, "extra operations", c->extra, a->oracle->extra[e]);
        if (w->einsums[e].is_mac)
            compare_part(p, part, "padding", c->padding, a->oracle->padding[e]);
    }
    for (uint32_t m = 0; m < s->n_memories; m++)
        compare_part(p, dfl_arena_printf(p->arena, "`%s`", text_of(p, s->memories[m].name)), "peak bits",
                     a->model->memories[m].peak_bits, a->oracle->peak_bits[m]);
    compare(p, "laws that keeps break", 0, a->oracle->broken);
    if (!online(p->small)) /* running sums are rescaled by what the oracle does not know */
        compare(p, "wrong values of results", 0, a->oracle->wrong);
    for (uint32_t x = 0; x < s->n_axes; x++)
        compare_part(p, dfl_arena_printf(p->arena, "`%s`", text_of(p, s->axes[x].name)), "elements forwarded along",
                     a->model->links[x].forwarded, a->oracle->forwarded[x]);
}

static void print_sizes(const proof *p)
{
    const dfl_workload *w = p->mapping->workload;
    const char *between = "";

    dfl_strbuf_z(p->out, "  sizes: ");
    for (uint32_t r = 0; r < w->n_ranks; r++) {
        dfl_strbuf_printf(p->out, "%s%s %lld", between, text_of(p, w->ranks[r].name), (long long)p->extents[r]);
        if (p->extents[r] != w->ranks[r].extent)
            dfl_strbuf_printf(p->out, " (of %lld)", (long long)w->ranks[r].extent);
        between = ", ";
    }
    dfl_strbuf_char(p->out, '\n');
}

static void compare_all(proof *p, const attempt *a)
{
    static const char *const heads[] = { "memory", "tensor", "serve", "drain", "accumulate", "fill", "update" };
    dfl_table table;

    dfl_table_init(&table, p->arena, 7, 2, 7);
    dfl_table_row_start(&table);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        dfl_table_cell(&table, heads[i]);
    print_sizes(p);
    compare_traffic(p, a, &table);
    compare_parts(p, a);
    dfl_table_print(&table, p->out, 2);
    dfl_strbuf_printf(p->out, "  %llu counts compared: counts and room of keeps, %u peaks, operations and steps of %u einsums: ",
                      (unsigned long long)p->compared, p->small->system->n_memories, p->small->workload->n_einsums);
    if (p->differing)
        dfl_strbuf_printf(p->out, "%llu DIFFER\n", (unsigned long long)p->differing);
    else
        dfl_strbuf_z(p->out, "all equal\n");
}

/* ---- one design ---- */

/* What the attempt reported, in the sink of the session. */
static void hand_over(dfl_session *s, dfl_sink *from)
{
    for (size_t i = 0; i < dfl_sink_count(from); i++) {
        const dfl_diag *d = dfl_sink_at(from, i);
        dfl_diag *copy;

        if (d->severity < DFL_ERROR)
            continue;
        copy = dfl_report(s->sink, d->code, d->span, "%s", d->message);
        if (d->label)
            dfl_diag_here(s->sink, copy, "%s", d->label);
        for (const dfl_label *l = d->labels; l; l = l->next)
            dfl_diag_label(s->sink, copy, l->span, "%s", l->text);
        dfl_diag_note(s->sink, copy, "at the small sizes of the proof");
        if (d->help)
            dfl_diag_help(s->sink, copy, "%s", d->help);
    }
}

static void give_up(proof *p)
{
    dfl_diag *d = dfl_report(p->s->sink, DFL_LIMIT_STEPS, p->mapping->span, "`%s` cannot be made small enough to execute",
                             text_of(p, p->mapping->name));

    dfl_diag_help(p->s->sink, d, "name smaller sizes: `--size r=4`");
}

/* Executes and compares; sizes shrink until that works. */
static void prove_design(proof *p)
{
    int64_t most = FIRST_POINTS;

    dfl_strbuf_printf(p->out, "%s: %s on %s\n", text_of(p, p->mapping->name), text_of(p, p->mapping->workload->name),
                      text_of(p, p->mapping->system->name));
    for (;;) {
        attempt a;

        if (!shrink_to(p, most) && most == FIRST_POINTS)
            most = points(p); /* the sizes that were asked for are too large: try them */
        keep_ragged(p);
        cover_reads(p);
        a = try_sizes(p);
        if (a.oracle) {
            compare_all(p, &a);
            return;
        }
        if (p->budget.why == DFL_STOP_CANCELLED) {
            dfl_budget_stop(&p->s->budget, DFL_STOP_CANCELLED);
            return;
        }
        if (!stopped(p)) {
            hand_over(p->s, a.sink);
            dfl_strbuf_z(p->out, "  not proven: see the diagnostics\n");
            return;
        }
        most = (points(p) < most ? points(p) : most) / 4;
        if (most < LEAST_POINTS || !shrink_to(p, most)) {
            give_up(p);
            return;
        }
    }
}

static void prove_one(dfl_session *s, const dfl_mapping *m, const dfl_size *sizes, size_t n_sizes, bool *used,
                      dfl_strbuf *out)
{
    const uint32_t n = m->workload->n_ranks;
    proof p = { .s = s, .out = out, .mapping = m, .extents = DFL_NEW_ARRAY(s->arena, int64_t, (size_t)n + 1),
                .halvings = DFL_NEW_ARRAY(s->arena, unsigned, (size_t)n + 1),
                .fixed = DFL_NEW_ARRAY(s->arena, bool, (size_t)n + 1),
                .class_of = DFL_NEW_ARRAY(s->arena, uint32_t, (size_t)n + 1) };

    dfl_rank_classes(m->workload, p.class_of);
    for (uint32_t r = 0; r < n; r++)
        p.extents[r] = m->workload->ranks[r].extent;
    apply_sizes(&p, sizes, n_sizes, used);
    prove_design(&p);
    if (p.arena)
        dfl_arena_free(p.arena);
}

static void report_unused_sizes(dfl_session *s, const dfl_size *sizes, size_t n_sizes, const bool *used)
{
    for (size_t i = 0; i < n_sizes; i++)
        if (!used[i])
            dfl_report(s->sink, DFL_RANK_UNKNOWN, (dfl_span){ 0, 0 }, "no mapping has a rank `%s`", sizes[i].name);
}

dfl_exit dfl_session_prove(dfl_session *s, const char *only, const dfl_size *sizes, size_t n_sizes)
{
    bool *used = DFL_NEW_ARRAY(s->arena, bool, n_sizes + 1);
    uint32_t found = 0;
    dfl_strbuf out;

    dfl_strbuf_init(&out, s->arena);
    if (!dfl_session_analyse(s))
        return DFL_EXIT_USAGE;
    if (dfl_sink_errors(s->sink) > 0)
        return dfl_session_status(s);
    for (uint32_t i = 0; i < s->program->n_designs && dfl_budget_ok(&s->budget); i++) {
        const dfl_mapping *m = s->program->designs[i].mapping;

        if (!s->program->designs[i].from_root || (only && strcmp(only, dfl_sym_text(s->names, m->name)) != 0))
            continue;
        found++;
        if (m->has_holes)
            dfl_strbuf_printf(&out, "%s: has holes, nothing to prove\n", dfl_sym_text(s->names, m->name));
        else
            prove_one(s, m, sizes, n_sizes, used, &out);
    }
    if (found > 0)
        report_unused_sizes(s, sizes, n_sizes, used);
    else if (only)
        dfl_report(s->sink, DFL_NAME_UNKNOWN, (dfl_span){ 0, 0 }, "no mapping is called `%s`", only);
    s->proof = out.text;
    return dfl_session_status(s);
}
