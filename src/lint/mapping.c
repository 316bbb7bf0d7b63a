#include "lint/mapping.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/hash.h"
#include "support/hashmap.h"
#include "support/vec.h"

/* Key of an opinion: a place in the text, a lint, and a number that separates findings of one lint at one place. */
typedef struct {
    uint32_t start, end;      /* span */
    uint32_t code;            /* diagnostic code of the lint */
    uint32_t key;             /* axis, memory, network or tensor of the finding; 0 if a place has at most one finding */
} lint_place;

/* The verdict of one lint on one line, for one einsum of one mapping. */
typedef struct {
    dfl_span span;
    dfl_lint lint;
    uint32_t key;             /* `key` of lint_place */
    bool holds;
    const dfl_mapping *mapping;
    const dfl_line *line;     /* line of the finding; NULL = no loop is mapped to the axis */
    uint32_t einsum, axis;    /* einsum and axis of an idle-instances finding */
    int64_t have, want;       /* empty-parts: parts written and parts with work; idle-instances: instances used and available */
    int64_t tile, nominal;    /* empty-parts: iterations of one tile, and of the extent that the loop splits */
    uint32_t outer;           /* inner-home: outermost memory of the chip that may hold the tensor */
} finding;

/* The texts of a finding. They refer to no mapping: the copy of a mapping whose repeats are unrolled lives only until the
   next mapping is evaluated. */
typedef struct {
    const char *message, *here, *label, *help; /* NULL where there is none */
    dfl_span labelled;                         /* place of `label` */
} wording;

/* The verdict of all mappings inspected so far. */
typedef struct {
    lint_place at;
    dfl_span span;
    dfl_lint lint;
    bool holds;               /* the lint holds in every mapping inspected */
    wording words;            /* words of the first finding; empty unless it holds */
} opinion;

struct dfl_linter {
    dfl_arena *arena;
    dfl_sink *sink;
    const dfl_intern *names;
    const dfl_lint_levels *levels;
    DFL_VEC(opinion) opinions;
    dfl_hashmap by_place;     /* [place]: 1 + the index of the opinion on the place */
};

static const char *text(const dfl_linter *l, dfl_sym s) { return dfl_sym_text(l->names, s); }

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static wording word_empty_parts(const dfl_linter *l, const finding *f)
{
    const char *rank = text(l, f->mapping->workload->ranks[f->line->rank].name);

    return (wording){
        .message = dfl_arena_printf(l->arena, "there are %lld parts of `%s`, but only %lld of them hold anything",
                                    (long long)f->have, rank, (long long)f->want),
        .here = dfl_arena_printf(l->arena, "tiles of %lld over an extent of %lld", (long long)f->tile, (long long)f->nominal),
        .help = dfl_arena_printf(l->arena, "write `%s/%lld`", rank, (long long)f->want),
    };
}

static wording word_unused_keep(const dfl_linter *l, const finding *f)
{
    const dfl_tensor *t = &f->mapping->workload->tensors[f->line->tensor];
    const char *name = text(l, t->name);

    return (wording){
        .message = dfl_arena_printf(l->arena, "`%s` is kept here, and nothing below touches it", name),
        .label = dfl_arena_printf(l->arena, "`%s` is declared here", name), .labelled = t->span,
        .help = dfl_arena_printf(l->arena, "remove the keep, or move it into the branches that read or produce `%s`", name),
    };
}

static wording word_idle_instances(const dfl_linter *l, const finding *f)
{
    const dfl_axis *axis = &f->mapping->system->axes[f->axis];
    const char *name = text(l, axis->name);

    return (wording){
        .message = dfl_arena_printf(l->arena, "einsum `%s` uses %lld of the %lld instances of axis `%s`",
                                    text(l, f->mapping->workload->einsums[f->einsum].name), (long long)f->have,
                                    (long long)f->want, name),
        .here = f->line ? NULL : dfl_arena_printf(l->arena, "no `spatial` line splits anything over `%s`", name),
        .label = dfl_arena_printf(l->arena, "`%s` is declared here", name), .labelled = axis->span,
        .help = dfl_arena_printf(l->arena, "split a rank into more parts over `%s`, or split a further rank over it", name),
    };
}

static wording word_inner_home(const dfl_linter *l, const finding *f)
{
    const dfl_system *s = f->mapping->system;
    const dfl_tensor *t = &f->mapping->workload->tensors[f->line->tensor];
    const char *name = text(l, t->name);
    const char *home = text(l, s->memories[f->line->memory].name), *outer = text(l, s->memories[f->outer].name);
    bool result = t->role == DFL_ROLE_OUTPUT;

    return (wording){
        .message = dfl_arena_printf(l->arena, "`%s` has its home in `%s`, so no transfer between `%s` and `%s` is counted for it",
                                    name, home, outer, home),
        .label = dfl_arena_printf(l->arena, "`%s` %s", name, result ? "leaves the chip" : "comes from outside the chip"),
        .labelled = t->span,
        .help = dfl_arena_printf(l->arena, "write `keep %s in %s;` above, unless `%s` is to %s in `%s`", name, outer, name,
                                 result ? "stay" : "stand", home),
    };
}

static wording word_untimed(const dfl_linter *l, const finding *f)
{
    const dfl_network *net = &f->mapping->system->networks[f->key];
    bool both = net->latency > 0 && !isinf(net->bandwidth);
    const char *what = both ? "bandwidth and the latency" : net->latency <= 0 ? "bandwidth" : "latency";

    return (wording){
        .message = dfl_arena_printf(l->arena, "the %s of `%s` %s no effect on the time of this mapping", what,
                                    text(l, net->name), both ? "have" : "has"),
        .label = "declared here", .labelled = net->span,
        .help = "no transfer crosses the network: all keeps are inside of its array",
    };
}

static wording word_finding(const dfl_linter *l, const finding *f)
{
    switch ((int)f->lint) {
    case DFL_LINT_EMPTY_PARTS:
        return word_empty_parts(l, f);
    case DFL_LINT_KEEP_UNUSED:
        return word_unused_keep(l, f);
    case DFL_LINT_ATTRIBUTE_NO_EFFECT:
        return word_untimed(l, f);
    case DFL_LINT_INNER_HOME:
        return word_inner_home(l, f);
    default:
        return word_idle_instances(l, f);
    }
}

/* ---- opinions ---------------------------------------------------------------------------------------------------- */

static opinion *find_opinion(dfl_linter *l, const lint_place *at, uint64_t hash)
{
    uint32_t i;

    for (uint32_t item = dfl_hashmap_first(&l->by_place, hash, &i); item != 0;
         item = dfl_hashmap_next(&l->by_place, hash, &i))
        if (memcmp(&l->opinions.at[item - 1].at, at, sizeof *at) == 0)
            return &l->opinions.at[item - 1];
    return NULL;
}

/* Updates the opinion about the place of a finding. Ignores places outside the file of the mapping. */
static void add_finding(dfl_linter *l, finding f)
{
    const dfl_source_map *sources = dfl_sink_sources(l->sink);
    const lint_place at = { f.span.start, f.span.end, (uint32_t)dfl_lint_at(f.lint)->code, f.key };
    uint64_t hash = dfl_hash(&at, sizeof at, 0);
    opinion *known;

    if (dfl_source_of(sources, f.span) != dfl_source_of(sources, f.mapping->span))
        return;
    known = find_opinion(l, &at, hash);
    if (known) {
        known->holds &= f.holds;
        return;
    }
    DFL_PUSH(l->arena, &l->opinions, ((opinion){ .at = at, .span = f.span, .lint = f.lint, .holds = f.holds }));
    if (f.holds)
        l->opinions.at[l->opinions.n - 1].words = word_finding(l, &f);
    dfl_hashmap_add(l->arena, &l->by_place, hash, (uint32_t)l->opinions.n);
}

/* ---- findings ---------------------------------------------------------------------------------------------------- */

static bool is_on(const dfl_linter *l, dfl_lint lint)
{
    return dfl_lint_level(l->levels, lint) != DFL_LEVEL_ALLOW;
}

/* Finds loops `rank/K` with empty parts: the extent has fewer tiles than K. */
static void find_empty_parts(dfl_linter *l, const dfl_mapping *m, const dfl_path *p)
{
    for (uint32_t i = 0; i < p->n_steps; i++) {
        const dfl_path_step *s = &p->steps[i];
        if (s->line->kind == DFL_LINE_KEEP || s->line->by != DFL_BY_PARTS || s->rank == DFL_NONE)
            continue;
        int64_t full = dfl_ceil_div(s->nominal, s->tile);
        add_finding(l, (finding){ .span = s->line->amount_span, .lint = DFL_LINT_EMPTY_PARTS, .mapping = m, .line = s->line,
                          .holds = full < s->line->amount, .have = s->line->amount, .want = full, .tile = s->tile,
                          .nominal = s->nominal });
    }
}

/* Whether two tensors are a table and rows that a gather reads from it. One line keeps both. */
static bool share_line(const dfl_workload *w, uint32_t a, uint32_t b)
{
    return a == b || (w->tensors[a].gathered && w->tensors[a].table == b) ||
           (w->tensors[b].gathered && (w->tensors[b].table == a ||
                                       (w->tensors[a].gathered && w->tensors[a].table == w->tensors[b].table)));
}

/* Whether an einsum touches what a keep of the tensor holds. */
static bool touches_kept(const dfl_workload *w, const dfl_einsum *einsum, uint32_t tensor)
{
    bool touched = share_line(w, einsum->output.tensor, tensor);

    for (uint32_t i = 0; !touched && i < einsum->n_inputs; i++)
        touched = share_line(w, einsum->inputs[i].tensor, tensor);
    return touched;
}

/* Finds keeps of tensors that no einsum of the body touches. */
static void find_unused_keeps(dfl_linter *l, const dfl_mapping *m)
{
    for (uint32_t b = 0; b < m->n_bodies; b++)
        for (uint32_t i = 0; i < m->bodies[b]->n_lines; i++) {
            const dfl_line *line = &m->bodies[b]->lines[i];
            bool touched = false;
            if (line->kind != DFL_LINE_KEEP)
                continue;
            for (uint32_t k = 0; !touched && k < m->bodies[b]->n_einsums; k++)
                touched = touches_kept(m->workload, &m->workload->einsums[m->bodies[b]->einsums[k]], line->tensor);
            add_finding(l, (finding){ .span = line->span, .lint = DFL_LINT_KEEP_UNUSED, .mapping = m, .line = line,
                              .holds = !touched });
        }
}

/* Finds axes around the compute unit of an einsum with fewer instances in use than available. Ignores axes for which the
   mapping declares idle instances. */
static void find_idle_instances(dfl_linter *l, const dfl_mapping *m, const dfl_path *p)
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
            add_finding(l, (finding){ .span = at, .lint = DFL_LINT_IDLE_INSTANCES, .key = a, .mapping = m, .line = last,
                              .holds = used < s->axes[a].size, .einsum = p->einsum, .axis = a, .have = used,
                              .want = s->axes[a].size });
    }
}

/* Whether the network joins chips. On a chip, arrays have a bus, a crossbar, a mesh, a torus or a ring. */
static bool joins_chips(const dfl_linter *l, const dfl_network *network)
{
    static const char *const kinds[] = { "switch", "fat_tree", "dragonfly", "fully_connected" };

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(text(l, network->kind), kinds[i]) == 0)
            return true;
    return false;
}

/* Whether an array of chips stands between an outer memory and an inner one: an array over a network that joins chips,
   or an array whose element contains a system by `use`. */
static bool is_outside_chip(const dfl_linter *l, const dfl_system *s, uint32_t outer, uint32_t inner)
{
    bool used = false; /* a `use` stands between the present element and the inner memory */

    for (uint32_t e = s->memories[inner].element; e != DFL_NONE && e != s->memories[outer].element; e = s->elements[e].parent) {
        used |= s->elements[e].name != 0 && !s->elements[e].side;
        for (uint32_t a = s->elements[e].first_axis; a < s->elements[e].first_axis + s->elements[e].n_axes; a++)
            if (used || (s->axes[a].network != DFL_NONE && joins_chips(l, &s->networks[s->axes[a].network])))
                return true;
    }
    return false;
}

/* Whether the memory belongs to a host: the name of the memory, or of an element around it, begins with `host`. */
static bool is_host(const dfl_linter *l, const dfl_system *s, uint32_t memory)
{
    bool host = strncmp(text(l, s->memories[memory].name), "host", 4) == 0;

    for (uint32_t e = s->memories[memory].element; !host && e != DFL_NONE; e = s->elements[e].parent)
        host = s->elements[e].name != 0 && strncmp(text(l, s->elements[e].name), "host", 4) == 0;
    return host;
}

/* The outermost memory of the chip of `home` that may hold the tensor. It is `home` if no outer memory may. */
static uint32_t outermost_memory(const dfl_linter *l, const dfl_system *s, uint32_t home, const dfl_tensor *tensor)
{
    for (uint32_t m = 0; m < home; m++)
        if (dfl_memory_outside(s, m, home) && (!s->memories[m].holds.on || dfl_selects(&s->memories[m].holds, tensor)) &&
            !is_host(l, s, m) && !is_outside_chip(l, s, m, home))
            return m;
    return home;
}

/* Finds homes of inputs, weights, states and outputs that are not in the outermost memory of the chip that may hold the
   tensor. Such a home has its values from the start, or keeps its results, without any transfer. */
static void find_inner_homes(dfl_linter *l, const dfl_mapping *m, const dfl_path *p)
{
    const dfl_einsum *einsum = &m->workload->einsums[p->einsum];

    for (uint32_t i = 0; i < p->n_steps; i++) {
        const dfl_line *line = p->steps[i].line;
        bool outermost = true;
        if (line->kind != DFL_LINE_KEEP || m->workload->tensors[line->tensor].role == DFL_ROLE_INTERMEDIATE ||
            !dfl_einsum_touches(einsum, line->tensor))
            continue;
        for (uint32_t k = 0; k < i; k++)
            outermost &= p->steps[k].line->kind != DFL_LINE_KEEP || p->steps[k].line->tensor != line->tensor;
        if (!outermost)
            continue;
        uint32_t outer = outermost_memory(l, m->system, line->memory, &m->workload->tensors[line->tensor]);
        add_finding(l, (finding){ .span = line->span, .lint = DFL_LINT_INNER_HOME, .key = line->tensor, .mapping = m,
                          .line = line, .holds = outer != line->memory, .outer = outer });
    }
}

/* Tells whether a keep of a mapping lies outside of an array, so that transfers cross the network of the array. */
static bool is_crossed(const dfl_mapping *m, uint32_t array)
{
    const dfl_system *s = m->system;

    for (uint32_t b = 0; b < m->n_bodies; b++)
        for (uint32_t i = 0; i < m->bodies[b]->n_lines; i++) {
            const dfl_line *line = &m->bodies[b]->lines[i];
            uint32_t e = line->kind == DFL_LINE_KEEP ? s->memories[line->memory].element : array;
            while (e != array && e != DFL_NONE)
                e = s->elements[e].parent;
            if (e == DFL_NONE)
                return true;
        }
    return false;
}

/* Finds the latencies and bandwidths of networks that no transfer of a mapping crosses. These attributes change no result. */
static void find_untimed(dfl_linter *l, const dfl_mapping *m)
{
    const dfl_system *s = m->system;

    for (uint32_t b = 0; b < m->n_bodies; b++)
        for (uint32_t i = 0; i < m->bodies[b]->n_lines; i++) {
            const dfl_line *line = &m->bodies[b]->lines[i];
            uint32_t network = line->kind == DFL_LINE_SPATIAL ? s->axes[line->axis].network : DFL_NONE;
            if (network != DFL_NONE && (s->networks[network].latency > 0 || !isinf(s->networks[network].bandwidth)) &&
                !is_crossed(m, s->axes[line->axis].element))
                add_finding(l, (finding){ .span = m->span, .lint = DFL_LINT_ATTRIBUTE_NO_EFFECT, .key = network,
                                  .mapping = m, .line = line, .holds = true });
        }
}

/* ---- reports ----------------------------------------------------------------------------------------------------- */

/* Compares two opinions by place, code and key; no two opinions are equal in all three. */
static int compare_places(const void *a, const void *b)
{
    const lint_place *x = &((const opinion *)a)->at, *y = &((const opinion *)b)->at;
    const uint32_t left[] = { x->start, x->end, x->code, x->key }, right[] = { y->start, y->end, y->code, y->key };

    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

static void report_opinion(const dfl_linter *l, const opinion *o)
{
    dfl_diag *d = dfl_report_lint(l->sink, l->levels, o->lint, o->span, "%s", o->words.message);

    if (o->words.here)
        dfl_diag_here(l->sink, d, "%s", o->words.here);
    if (o->words.label)
        dfl_diag_label(l->sink, d, o->words.labelled, "%s", o->words.label);
    dfl_diag_help(l->sink, d, "%s", o->words.help);
}

dfl_linter *dfl_linter_new(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_lint_levels *levels)
{
    dfl_linter *l = DFL_NEW(arena, dfl_linter);

    *l = (dfl_linter){ .arena = arena, .sink = sink, .names = names, .levels = levels };
    return l;
}

void dfl_linter_inspect(dfl_linter *l, const dfl_paths *paths)
{
    const dfl_mapping *m = paths->mapping;
    const bool parts = is_on(l, DFL_LINT_EMPTY_PARTS), idle = is_on(l, DFL_LINT_IDLE_INSTANCES);
    const bool homes = is_on(l, DFL_LINT_INNER_HOME);

    for (uint32_t e = 0; e < m->workload->n_einsums; e++) {
        if (parts)
            find_empty_parts(l, m, &paths->paths[e]);
        if (idle)
            find_idle_instances(l, m, &paths->paths[e]);
        if (homes)
            find_inner_homes(l, m, &paths->paths[e]);
    }
    if (is_on(l, DFL_LINT_KEEP_UNUSED))
        find_unused_keeps(l, m);
    if (is_on(l, DFL_LINT_ATTRIBUTE_NO_EFFECT))
        find_untimed(l, m);
}

void dfl_linter_report(dfl_linter *l)
{
    DFL_VEC(opinion) firm = { 0 };

    for (size_t i = 0; i < l->opinions.n; i++)
        if (l->opinions.at[i].holds)
            DFL_PUSH(l->arena, &firm, l->opinions.at[i]);
    if (firm.n > 0)
        qsort(firm.at, firm.n, sizeof *firm.at, compare_places);
    for (size_t i = 0; i < firm.n; i++)
        report_opinion(l, &firm.at[i]);
}
