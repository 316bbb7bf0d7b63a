#include "lint/lint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/hash.h"
#include "support/hashmap.h"
#include "support/vec.h"

/* Where something may be reported, and which of several things. */
typedef struct {
    uint32_t start, end, code, key;
} place;

/* What one einsum of one mapping has to say about a place: the lint holds there, or it does not. */
typedef struct {
    dfl_span span;
    dfl_code code;
    uint32_t key;             /* tells findings apart that share a place */
    bool holds;
    const dfl_mapping *mapping;
    const dfl_line *line;
    uint32_t einsum, axis;
    int64_t have, want, tile, nominal;
} finding;

/* What all mappings so far have to say about a place. */
typedef struct {
    place at;
    const finding *first;     /* the one to be reported; NULL where the lint does not hold in one of them */
} opinion;

struct dfl_linter {
    dfl_arena *arena;
    dfl_sink *sink;
    const dfl_intern *names;
    const dfl_lint_levels *levels;
    bool parts, keeps, idle, latencies; /* which lints are wanted */
    DFL_VEC(opinion) opinions;
    dfl_hashmap by_place;     /* item number - 1 is the index of the opinion */
};
typedef dfl_linter linter;

static const char *text(const linter *l, dfl_sym s) { return dfl_sym_text(l->names, s); }

static opinion *find_opinion(linter *l, const place *at, uint64_t hash)
{
    uint32_t i;

    for (uint32_t item = dfl_hashmap_first(&l->by_place, hash, &i); item != 0;
         item = dfl_hashmap_next(&l->by_place, hash, &i))
        if (memcmp(&l->opinions.at[item - 1].at, at, sizeof *at) == 0)
            return &l->opinions.at[item - 1];
    return NULL;
}

static void add(linter *l, finding f)
{
    const dfl_source_map *sources = dfl_sink_sources(l->sink);
    const place at = { f.span.start, f.span.end, (uint32_t)f.code, f.key };
    uint64_t hash = dfl_hash(&at, sizeof at, 0);
    opinion *known;
    finding *first;

    if (dfl_source_of(sources, f.span) != dfl_source_of(sources, f.mapping->span))
        return;
    known = find_opinion(l, &at, hash);
    if (known) {
        if (!f.holds)
            known->first = NULL;
        return;
    }
    first = f.holds ? DFL_NEW(l->arena, finding) : NULL;
    if (first)
        *first = f;
    DFL_PUSH(l->arena, &l->opinions, ((opinion){ at, first }));
    dfl_hashmap_add(l->arena, &l->by_place, hash, (uint32_t)l->opinions.n);
}

/* ---- what holds where -------------------------------------------------------------------------------------------- */

static const dfl_lint_info *lint_of(dfl_code code)
{
    const dfl_lint_info *lint = NULL;

    for (size_t i = 0; i < dfl_lint_count() && !lint; i++)
        lint = dfl_lint_at(i)->code == code ? dfl_lint_at(i) : NULL;
    return lint;
}

static bool wanted(const linter *l, dfl_code code)
{
    return dfl_lint_level(l->levels, lint_of(code)->name) != DFL_LEVEL_ALLOW;
}

/* `r/K` with more parts than there are tiles. */
static void find_empty_parts(linter *l, const dfl_mapping *m, const dfl_path *p)
{
    for (uint32_t i = 0; i < p->n_steps; i++) {
        const dfl_path_step *s = &p->steps[i];
        if (s->line->kind == DFL_LINE_KEEP || s->line->by != DFL_BY_PARTS || s->rank == DFL_NONE)
            continue;
        int64_t full = dfl_ceil_div(s->nominal, s->tile);
        add(l, (finding){ .span = s->line->amount_span, .code = DFL_MAP_EMPTY_PARTS, .mapping = m, .line = s->line,
                          .holds = full < s->line->amount, .have = s->line->amount, .want = full, .tile = s->tile,
                          .nominal = s->nominal });
    }
}

static void find_unused_keeps(linter *l, const dfl_mapping *m)
{
    for (uint32_t b = 0; b < m->n_bodies; b++)
        for (uint32_t i = 0; i < m->bodies[b]->n_lines; i++) {
            const dfl_line *line = &m->bodies[b]->lines[i];
            bool touched = false;
            if (line->kind != DFL_LINE_KEEP)
                continue;
            for (uint32_t k = 0; !touched && k < m->bodies[b]->n_einsums; k++)
                touched = dfl_einsum_touches(&m->workload->einsums[m->bodies[b]->einsums[k]], line->tensor);
            add(l, (finding){ .span = line->span, .code = DFL_MAP_KEEP_UNUSED, .mapping = m, .line = line,
                              .holds = !touched });
        }
}

/* Axes around the unit of an einsum of which it uses a part only, or one instance. */
static void find_idle_instances(linter *l, const dfl_mapping *m, const dfl_path *p)
{
    const dfl_system *s = m->system;

    for (uint32_t a = 0; a < s->n_axes; a++) {
        dfl_span at = p->leaf->span;
        const dfl_line *last = NULL;
        int64_t used = 1;
        bool excluded = false;
        if (s->axes[a].size == 1 || !dfl_axis_encloses(s, a, s->computes[p->compute].element))
            continue;
        for (uint32_t i = 0; i < p->n_steps; i++) {
            const dfl_path_step *step = &p->steps[i];
            if (step->line->kind != DFL_LINE_SPATIAL || step->line->axis != a)
                continue;
            excluded |= step->bind == DFL_BIND_IDLE;
            if (step->rank == DFL_NONE)
                continue;
            used *= dfl_ceil_div(step->nominal, step->tile);
            last = step->line;
            at = last->span;
        }
        if (!excluded)
            add(l, (finding){ .span = at, .code = DFL_MAP_IDLE_INSTANCES, .key = a, .mapping = m, .line = last,
                              .holds = used < s->axes[a].size, .einsum = p->einsum, .axis = a, .have = used,
                              .want = s->axes[a].size });
    }
}

/* Latencies of the memories and networks that a mapping uses, and bandwidths of the networks: the model's times follow from
   units and the ports of memories alone. */
static void find_latencies(linter *l, const dfl_mapping *m)
{
    const dfl_system *s = m->system;

    for (uint32_t b = 0; b < m->n_bodies; b++)
        for (uint32_t i = 0; i < m->bodies[b]->n_lines; i++) {
            const dfl_line *line = &m->bodies[b]->lines[i];
            uint32_t network = line->kind == DFL_LINE_SPATIAL ? s->axes[line->axis].network : DFL_NONE;
            if (line->kind == DFL_LINE_KEEP && s->memories[line->memory].latency > 0)
                add(l, (finding){ .span = m->span, .code = DFL_SYS_ATTRIBUTE_NO_EFFECT, .key = line->memory,
                                  .mapping = m, .line = line, .holds = true });
            if (network != DFL_NONE && (s->networks[network].latency > 0 || !isinf(s->networks[network].bandwidth)))
                add(l, (finding){ .span = m->span, .code = DFL_SYS_ATTRIBUTE_NO_EFFECT, .key = s->n_memories + network,
                                  .mapping = m, .line = line, .holds = true });
        }
}

/* ---- reports ----------------------------------------------------------------------------------------------------- */

static dfl_diag *report(const linter *l, const finding *f, const char *message)
{
    const dfl_lint_info *lint = lint_of(f->code);

    return dfl_report_lint(l->sink, lint->name, dfl_lint_level(l->levels, lint->name), f->code, f->span, "%s", message);
}

static void report_empty_parts(const linter *l, const finding *f)
{
    const char *rank = text(l, f->mapping->workload->ranks[f->line->rank].name);
    dfl_diag *d = report(l, f, dfl_arena_printf(l->arena, "%lld parts of `%s`, but only %lld of them hold anything",
                                                (long long)f->have, rank, (long long)f->want));

    dfl_diag_here(l->sink, d, "tiles of %lld over an extent of %lld", (long long)f->tile, (long long)f->nominal);
    dfl_diag_help(l->sink, d, "write `%s/%lld`", rank, (long long)f->want);
}

static void report_unused_keep(const linter *l, const finding *f)
{
    const dfl_tensor *t = &f->mapping->workload->tensors[f->line->tensor];
    dfl_diag *d = report(l, f, dfl_arena_printf(l->arena, "`%s` is kept here, and nothing below touches it",
                                                text(l, t->name)));

    dfl_diag_label(l->sink, d, t->span, "`%s` is declared here", text(l, t->name));
    dfl_diag_help(l->sink, d, "remove the keep, or move it into the branches that read or produce `%s`", text(l, t->name));
}

static void report_idle_instances(const linter *l, const finding *f)
{
    const dfl_axis *axis = &f->mapping->system->axes[f->axis];
    dfl_diag *d = report(l, f, dfl_arena_printf(l->arena, "einsum `%s` uses %lld of the %lld instances of axis `%s`",
                                                text(l, f->mapping->workload->einsums[f->einsum].name),
                                                (long long)f->have, (long long)f->want, text(l, axis->name)));

    if (!f->line)
        dfl_diag_here(l->sink, d, "no `spatial` line splits anything over `%s`", text(l, axis->name));
    dfl_diag_label(l->sink, d, axis->span, "`%s` is declared here", text(l, axis->name));
    dfl_diag_help(l->sink, d, "split a rank, or another one, over `%s`", text(l, axis->name));
}

static void report_latency(const linter *l, const finding *f)
{
    const dfl_system *s = f->mapping->system;
    bool memory = f->key < s->n_memories;
    const dfl_network *net = memory ? NULL : &s->networks[f->key - s->n_memories];
    bool both = net && net->latency > 0 && !isinf(net->bandwidth);
    const char *what = both ? "bandwidth and the latency" : net && net->latency <= 0 ? "bandwidth" : "latency";
    dfl_diag *d = report(l, f, dfl_arena_printf(l->arena, "the %s of `%s` %s no effect on the time of this mapping", what,
                                                text(l, net ? net->name : s->memories[f->key].name),
                                                both ? "have" : "has"));

    dfl_diag_label(l->sink, d, net ? net->span : s->memories[f->key].span, "declared here");
    dfl_diag_help(l->sink, d, net ? "times follow from the ports of memories; lower the bandwidth of the memory that the "
                                    "network serves if it limits it"
                                  : "times follow from rates alone; lower the bandwidth if the latency limits it");
}

/* By place, code and key, which no two share. */
static int by_place(const void *a, const void *b)
{
    const place *x = &((const opinion *)a)->at, *y = &((const opinion *)b)->at;
    const uint32_t left[] = { x->start, x->end, x->code, x->key }, right[] = { y->start, y->end, y->code, y->key };

    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

dfl_linter *dfl_linter_new(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_lint_levels *levels)
{
    linter *l = DFL_NEW(arena, linter);

    *l = (linter){ .arena = arena, .sink = sink, .names = names, .levels = levels };
    l->parts = wanted(l, DFL_MAP_EMPTY_PARTS);
    l->keeps = wanted(l, DFL_MAP_KEEP_UNUSED);
    l->idle = wanted(l, DFL_MAP_IDLE_INSTANCES);
    l->latencies = wanted(l, DFL_SYS_ATTRIBUTE_NO_EFFECT);
    return l;
}

void dfl_linter_look(dfl_linter *l, const dfl_paths *paths)
{
    const dfl_mapping *m = paths->mapping;

    for (uint32_t e = 0; e < m->workload->n_einsums; e++) {
        if (l->parts)
            find_empty_parts(l, m, &paths->paths[e]);
        if (l->idle)
            find_idle_instances(l, m, &paths->paths[e]);
    }
    if (l->keeps)
        find_unused_keeps(l, m);
    if (l->latencies)
        find_latencies(l, m);
}

void dfl_linter_report(dfl_linter *l)
{
    DFL_VEC(opinion) firm = { 0 };

    for (size_t i = 0; i < l->opinions.n; i++)
        if (l->opinions.at[i].first)
            DFL_PUSH(l->arena, &firm, l->opinions.at[i]);
    if (firm.n > 0)
        qsort(firm.at, firm.n, sizeof *firm.at, by_place);
    for (size_t i = 0; i < firm.n; i++) {
        const finding *f = firm.at[i].first;

        switch ((int)f->code) {
        case DFL_MAP_EMPTY_PARTS: report_empty_parts(l, f); break;
        case DFL_MAP_KEEP_UNUSED: report_unused_keep(l, f); break;
        case DFL_SYS_ATTRIBUTE_NO_EFFECT: report_latency(l, f); break;
        default:                  report_idle_instances(l, f); break;
        }
    }
}
