/* Writes the mapping: the events of all einsums, merged where they share loops. */
#include "import/accelforge/print_mapping.h"

#include "import/accelforge/copy.h"

typedef enum { NOTHING, TEMPORAL, SPATIAL, KEEPING } statement;

typedef struct {
    dfl_af_printer *p;
    dfl_strbuf *out;
    uint32_t *next;       /* [einsum]: index of the next event of the einsum */
    bool *home;           /* [tensor]: the home of the tensor is written */
    statement open;       /* statement that is being written, which a further item may continue */
    uint32_t open_node;
    bool open_fresh;
    uint32_t braces;
    bool instances_done;
} writer;

static void end_statement(writer *w)
{
    if (w->open == KEEPING)
        dfl_strbuf_printf(w->out, " in %s%s", w->p->nodes[w->open_node], w->open_fresh ? " fresh" : "");
    if (w->open != NOTHING)
        dfl_strbuf_z(w->out, ";\n");
    w->open = NOTHING;
}

/* Continues a statement of the kind, or begins one. */
static void begin_item(writer *w, statement kind, uint32_t node, bool fresh)
{
    static const char *const words[] = { [TEMPORAL] = "temporal ", [SPATIAL] = "spatial ", [KEEPING] = "keep " };

    if (w->open == kind && (kind != KEEPING || (w->open_node == node && w->open_fresh == fresh))) {
        dfl_strbuf_z(w->out, ", ");
        return;
    }
    end_statement(w);
    dfl_strbuf_z(w->out, words[kind]);
    w->open = kind;
    w->open_node = node;
    w->open_fresh = fresh;
}

static void write_keep(writer *w, const dfl_af_event *e)
{
    if (e->home && w->home[e->tensor])
        return;
    w->home[e->tensor] |= e->home;
    begin_item(w, KEEPING, e->node, e->fresh);
    dfl_strbuf_z(w->out, w->p->tensors[e->tensor]);
}

static void write_loop(writer *w, uint32_t einsum, const dfl_af_event *e)
{
    const char *rank = w->p->ranks[einsum][e->var];

    if (e->trips == 1)
        return;
    begin_item(w, e->spatial ? SPATIAL : TEMPORAL, 0, false);
    dfl_strbuf_z(w->out, rank);
    if (e->tile > 1 || e->spatial)
        dfl_strbuf_printf(w->out, ":%lld", (long long)e->tile);
    if (e->spatial)
        dfl_strbuf_printf(w->out, " on %s", w->p->axes[e->node][e->axis]);
}

/* ---- the tree ---- */

static uint32_t einsum_at(const writer *w, uint32_t i)
{
    return w->p->plan->order[i];
}

static const dfl_af_event *next_event(const writer *w, uint32_t e)
{
    const dfl_af_path *path = &w->p->plan->paths[e];

    return w->next[e] < path->n_events ? &path->events[w->next[e]] : NULL;
}

static void write_head(writer *w, uint32_t lo, uint32_t hi)
{
    for (uint32_t i = lo; i <= hi; i++) {
        const dfl_af_einsum *e = &w->p->f->einsums.at[einsum_at(w, i)];

        dfl_strbuf_printf(w->out, "%s%s", i > lo ? ", " : "", w->p->tensors[e->accesses[e->output].tensor]);
    }
    dfl_strbuf_z(w->out, " {\n");
}

/* Writes the keeps of all einsums up to the next loop or brace. */
static void write_keeps(writer *w, uint32_t lo, uint32_t hi)
{
    for (uint32_t i = lo; i <= hi; i++) {
        const dfl_af_event *e;

        while ((e = next_event(w, einsum_at(w, i))) != NULL && e->kind == DFL_AF_KEEP) {
            write_keep(w, e);
            w->next[einsum_at(w, i)]++;
        }
    }
}

/* Opens a brace around all einsums if one of them needs a brace here. */
static void write_brace(writer *w, uint32_t lo, uint32_t hi)
{
    bool needed = false;

    for (uint32_t i = lo; i <= hi; i++) {
        const dfl_af_event *e = next_event(w, einsum_at(w, i));

        if (e != NULL && e->kind == DFL_AF_BRACE) {
            needed = true;
            w->next[einsum_at(w, i)]++;
        }
    }
    if (!needed)
        return;
    end_statement(w);
    dfl_strbuf_z(w->out, "fuse {\n");
    write_head(w, lo, hi);
    w->braces++;
}

/* Writes the homes of tensors that several branches use above these branches. */
static void write_common_homes(writer *w, uint32_t lo, uint32_t hi)
{
    for (uint32_t i = lo; i <= hi; i++) {
        const dfl_af_path *path = &w->p->plan->paths[einsum_at(w, i)];
        uint32_t n = w->next[einsum_at(w, i)];

        for (; n < path->n_events && path->events[n].kind != DFL_AF_LOOP; n++) {
            const dfl_af_event *e = &path->events[n];
            uint32_t users = 0;

            for (uint32_t k = lo; k <= hi; k++)
                users += dfl_af_access_of(&w->p->f->einsums.at[einsum_at(w, k)], e->tensor) != NULL;
            if (e->kind == DFL_AF_KEEP && e->home && users > 1)
                write_keep(w, e);
        }
    }
}

static void write_instances(writer *w)
{
    if (w->p->instance == NULL || w->instances_done)
        return;
    begin_item(w, TEMPORAL, 0, false);
    dfl_strbuf_z(w->out, w->p->instance);
    w->instances_done = true;
}

/* Writes the homes that all instances share: those in the outermost memory and those of persistent tensors. */
static void write_outer_homes(writer *w)
{
    const dfl_af_file *f = w->p->f;
    uint32_t outermost = 0;

    while (outermost < f->nodes.n && f->nodes.at[outermost].kind != DFL_AF_MEMORY)
        outermost++;
    for (uint32_t i = 0; i < w->p->plan->n_order; i++) {
        const dfl_af_path *path = &w->p->plan->paths[einsum_at(w, i)];

        for (uint32_t n = 0; n < path->n_events && path->events[n].depth == 0; n++) {
            const dfl_af_event *e = &path->events[n];

            if (e->kind == DFL_AF_KEEP && e->home && (e->node == outermost || f->tensors.at[e->tensor].persistent))
                write_keep(w, e);
        }
    }
}

static uint32_t shared_between(const writer *w, uint32_t lo, uint32_t hi)
{
    uint32_t least = UINT32_MAX;

    for (uint32_t b = lo; b < hi; b++)
        least = w->p->plan->shared[b] < least ? w->p->plan->shared[b] : least;
    return least;
}

static void write_part(writer *w, uint32_t lo, uint32_t hi, uint32_t depth);

/* Writes one branch for each run of einsums that share further loops. */
static void write_branch(writer *w, uint32_t lo, uint32_t hi, uint32_t depth)
{
    write_common_homes(w, lo, hi);
    end_statement(w);
    dfl_strbuf_z(w->out, "fuse {\n");
    for (uint32_t from = lo, to; from <= hi; from = to + 1) {
        for (to = from; to < hi && w->p->plan->shared[to] > depth; to++)
            ;
        write_head(w, from, to);
        write_part(w, from, to, depth);
        dfl_strbuf_z(w->out, "}\n");
    }
    dfl_strbuf_z(w->out, "}\n");
}

/* Writes the einsums from `lo` to `hi`, which have `depth` loops in common so far. */
static void write_part(writer *w, uint32_t lo, uint32_t hi, uint32_t depth)
{
    uint32_t braces = w->braces;

    for (;; depth++) {
        const dfl_af_event *loop = NULL;
        uint32_t whose = 0;

        if (shared_between(w, lo, hi) <= depth) {
            write_branch(w, lo, hi, depth);
            break;
        }
        do {
            write_keeps(w, lo, hi);
            write_brace(w, lo, hi);
            loop = next_event(w, einsum_at(w, hi));
        } while (loop != NULL && loop->kind != DFL_AF_LOOP);
        for (uint32_t i = lo; i <= hi; i++) {
            const dfl_af_event *e = next_event(w, einsum_at(w, i));

            whose = einsum_at(w, i);
            loop = e;
            w->next[whose] += e != NULL;
        }
        if (loop == NULL)
            break;
        write_loop(w, whose, loop);
    }
    if (lo == hi) {
        end_statement(w);
        dfl_strbuf_printf(w->out, "on %s;\n", w->p->nodes[w->p->plan->paths[einsum_at(w, lo)].compute]);
    }
    end_statement(w);
    for (; w->braces > braces; w->braces--)
        dfl_strbuf_z(w->out, "}\n}\n");
}

static void write_tree(dfl_af_printer *p)
{
    dfl_arena *arena = p->f->report->arena;
    writer w = { .p = p, .out = &p->out, .next = DFL_NEW_ARRAY(arena, uint32_t, p->f->einsums.n),
                 .home = DFL_NEW_ARRAY(arena, bool, p->f->tensors.n) };

    write_outer_homes(&w);
    write_instances(&w);
    write_part(&w, 0, p->plan->n_order - 1, 0);
}

/* The outermost memory that may hold a tensor: in a search, the home of an input or output. */
static uint32_t outermost_home(const dfl_af_file *f, uint32_t tensor)
{
    uint32_t n = 0;

    while (n < f->nodes.n && (f->nodes.at[n].kind != DFL_AF_MEMORY || !dfl_af_has(&f->nodes.at[n].allowed, tensor)))
        n++;
    return n;
}

/* Writes the homes that leave no choice, outermost memory first, unless a search chooses the same homes without them. */
static void write_known_homes(dfl_af_printer *p)
{
    const dfl_af_file *f = p->f;
    bool needed = false;

    for (uint32_t t = 0; t < f->tensors.n; t++) {
        bool exchanged = dfl_af_made(f, t) && p->uses[t] > 1 && !f->tensors.at[t].leaves;

        needed |= p->uses[t] > 0 && f->homes[t] != DFL_AF_NONE && (exchanged || f->homes[t] != outermost_home(f, t));
    }
    for (uint32_t n = 0; needed && n < f->nodes.n; n++) {
        const char *before = "keep ";

        for (uint32_t t = 0; t < f->tensors.n; t++) {
            if (p->uses[t] == 0 || f->homes[t] != n)
                continue;
            dfl_strbuf_printf(&p->out, "%s%s", before, p->tensors[t]);
            before = ", ";
        }
        if (before[0] == ',')
            dfl_strbuf_printf(&p->out, " in %s;\n", p->nodes[n]);
    }
}

void dfl_af_print_mapping(dfl_af_printer *p)
{
    dfl_strbuf_printf(&p->out, "mapping %s for %s on %s {\noption overlap = perfect;\n", p->mapping, p->workload,
                      p->system);
    if (p->plan != NULL) {
        write_tree(p);
    } else {
        write_known_homes(p);
        dfl_strbuf_z(&p->out, "...;\nminimize energy * latency;\n");
    }
    dfl_strbuf_z(&p->out, "}\n");
}
