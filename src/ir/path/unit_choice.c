#include "ir/path/unit_choice.h"

#include <string.h>

#include "ir/mapping_open.h"
#include "support/strbuf.h"
#include "support/vec.h"

static const char *text(const dfl_intern *names, dfl_sym s) { return dfl_sym_text(names, s); }

static bool offers_op(const dfl_intern *names, const dfl_compute *c, const char *op)
{
    for (uint32_t i = 0; i < c->n_ops; i++)
        if (strcmp(text(names, c->ops[i]), op) == 0)
            return true;
    return false;
}

static bool has_ops(const dfl_intern *names, const dfl_compute *c, const dfl_einsum *e)
{
    if (c->n_ops == 0 || offers_op(names, c, e->is_mac ? "mac" : "flop"))
        return true;
    /* `ops` lists named operations: it must have every call of the right side, and the reduction */
    if (e->is_mac || e->reduce == DFL_REDUCE_ADD || !dfl_eop_calls_within(e->body, c->ops, c->n_ops))
        return false;
    return e->reduce == DFL_REDUCE_NONE ? e->body->kind == DFL_EOP_CALL
                                        : offers_op(names, c, e->reduce == DFL_REDUCE_MAX ? "max" : "min");
}

bool dfl_unit_can_run(const dfl_intern *names, const dfl_mapping *m, const dfl_compute *c, const dfl_einsum *e)
{
    return has_ops(names, c, e) && dfl_point_seconds(names, m->workload, e, c) >= 0;
}

/* Reports the missing rate that prevents a unit from running an einsum. */
static void report_rate(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_path *p, uint32_t c)
{
    const dfl_einsum *e = &m->workload->einsums[p->einsum];
    const char *unit = text(names, m->system->computes[c].name), *kind = e->is_mac ? "mac" : "flop";
    const char *type = text(names, dfl_einsum_type(m->workload, e)->name);
    bool is_named = p->leaf->compute != DFL_NONE;
    dfl_diag *d = dfl_report(sink, DFL_MAP_NO_COMPUTE, is_named ? p->leaf->compute_span : p->leaf->span,
                             "unit `%s` cannot run einsum `%s`", unit, text(names, e->name));

    dfl_diag_here(sink, d, "`%s` computes in %s", text(names, e->name), type);
    dfl_diag_label(sink, d, m->system->computes[c].span, "its `rate` has none for %s of %s",
                   e->is_mac ? "MACs" : "these operations", type);
    dfl_diag_help(sink, d, "add one: `rate { %s = 1%s/cycle; }` or `rate { %s = 1%s/cycle; }`", type,
                  e->is_mac ? "MAC" : "FLOP", kind, e->is_mac ? "MAC" : "FLOP");
}

bool dfl_path_choose_compute(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, dfl_path *p)
{
    const dfl_einsum *e = &m->workload->einsums[p->einsum];
    const dfl_system *s = m->system;
    const char *kind = e->is_mac ? "MACs" : "these operations";
    uint32_t slow = DFL_NONE; /* innermost unit that lacks nothing but a rate */

    p->compute = p->leaf->compute;
    if (p->compute != DFL_NONE && dfl_unit_can_run(names, m, &s->computes[p->compute], e))
        return true;
    if (p->compute != DFL_NONE && has_ops(names, &s->computes[p->compute], e)) {
        report_rate(sink, names, m, p, p->compute);
        return false;
    }
    if (p->compute != DFL_NONE) {
        dfl_diag *d = dfl_report(sink, DFL_MAP_NO_COMPUTE, p->leaf->compute_span, "unit `%s` cannot run einsum `%s`",
                                 text(names, s->computes[p->compute].name), text(names, e->name));
        dfl_diag_label(sink, d, s->computes[p->compute].span, "its `ops` do not include %s", kind);
        dfl_diag_help(sink, d, "name another unit after `on`, or extend `ops`");
        return false;
    }
    for (uint32_t c = s->n_computes; c-- > 0;) {
        bool reached = has_ops(names, &s->computes[c], e);
        for (uint32_t i = 0; reached && i < p->n_steps; i++) {
            const dfl_line *line = p->steps[i].line;
            if (line->kind == DFL_LINE_SPATIAL && p->steps[i].rank != DFL_NONE)
                reached = dfl_axis_encloses(s, line->axis, s->computes[c].element);
            if (line->kind == DFL_LINE_KEEP && dfl_einsum_touches(e, line->tensor))
                reached = dfl_compute_sees(s, c, line->memory);
        }
        if (reached && dfl_point_seconds(names, m->workload, e, &s->computes[c]) >= 0) {
            p->compute = c;
            return true;
        }
        if (reached && slow == DFL_NONE)
            slow = c;
    }
    if (slow != DFL_NONE) {
        report_rate(sink, names, m, p, slow);
        return false;
    }
    dfl_diag *d = dfl_report(sink, DFL_MAP_NO_COMPUTE, p->leaf->span, "no unit of `%s` can run einsum `%s` here",
                             text(names, s->name), text(names, e->name));
    dfl_diag_here(sink, d, "needs a unit for %s that reaches the memories of the keeps and lies inside the axes of the "
                  "`spatial` lines", kind);
    dfl_diag_help(sink, d, "add `on unit;` to the branch, or move its keeps to memories that a unit reaches");
    return false;
}

/* ---- what a system lacks ---- */

enum { SHOWN = 4 };   /* einsums of one lack that are named, and lacks that are listed */

/* Einsums that no unit can run, all for the same reason. */
typedef struct {
    bool is_mac, has_rate;   /* has_rate: the closest unit has a rate for them, but no operation */
    const char *type, *op;   /* op: what `ops` of the closest unit does not have */
    uint32_t unit;           /* the unit that comes closest; DFL_NONE = the system has no units */
    uint32_t n, einsum[SHOWN];
} lack;
typedef DFL_VEC(lack) lack_vec;

/* The name of an operation that an einsum needs and `ops` of a unit lacks. */
static const char *missing_op(const dfl_intern *names, const dfl_compute *c, const dfl_einsum *e)
{
    if (e->is_mac)
        return "mac";
    if (e->body->kind == DFL_EOP_CALL && !offers_op(names, c, text(names, e->body->op)))
        return text(names, e->body->op);
    if (e->reduce == DFL_REDUCE_MAX || e->reduce == DFL_REDUCE_MIN)
        return e->reduce == DFL_REDUCE_MAX ? "max" : "min";
    return "flop";
}

/* The lack of an einsum that no unit can run. The closest unit is one that lacks nothing but a rate, else one that lacks nothing
   but an operation; of these the innermost. */
static lack find_lack(const dfl_intern *names, const dfl_mapping *m, uint32_t einsum)
{
    const dfl_einsum *e = &m->workload->einsums[einsum];
    lack out = { .is_mac = e->is_mac, .type = text(names, dfl_einsum_type(m->workload, e)->name), .op = "", .unit = DFL_NONE };
    uint32_t closest = 0;

    for (uint32_t c = m->system->n_computes; c-- > 0;) {
        const dfl_compute *unit = &m->system->computes[c];
        bool able = has_ops(names, unit, e), rated = dfl_point_seconds(names, m->workload, e, unit) >= 0;
        uint32_t near = able ? 3 : rated ? 2 : 1;
        if (near <= closest)
            continue;
        closest = near;
        out.unit = c;
        out.has_rate = rated;
        out.op = able ? "" : missing_op(names, unit, e);
    }
    out.n = 1;
    out.einsum[0] = einsum;
    return out;
}

static void add_lack(dfl_arena *arena, lack_vec *all, const lack *more)
{
    for (size_t i = 0; i < all->n; i++) {
        lack *l = &all->at[i];
        if (l->is_mac != more->is_mac || l->unit != more->unit || strcmp(l->type, more->type) != 0 ||
            strcmp(l->op, more->op) != 0)
            continue;
        if (l->n < SHOWN)
            l->einsum[l->n] = more->einsum[0];
        l->n++;
        return;
    }
    DFL_PUSH(arena, all, *more);
}

/* "`A`, `B` and 3 more compute FLOPs in bf16: `vector` comes closest, its `rate` has none for them" */
static void note_lack(dfl_sink *sink, dfl_diag *d, const dfl_intern *names, const dfl_mapping *m, const lack *l)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, dfl_sink_arena(sink));
    for (uint32_t i = 0; i < l->n && i < SHOWN; i++)
        dfl_strbuf_printf(&out, "%s`%s`", i == 0 ? "" : i + 1 == l->n ? " and " : ", ",
                          text(names, m->workload->einsums[l->einsum[i]].name));
    if (l->n > SHOWN)
        dfl_strbuf_printf(&out, " and %u more", l->n - SHOWN);
    dfl_strbuf_printf(&out, " %s in %s: ", l->n > 1 ? l->is_mac ? "are MACs" : "compute FLOPs" : l->is_mac ? "has MACs"
                                                                                                           : "computes FLOPs",
                      l->type);
    if (l->unit == DFL_NONE)
        dfl_strbuf_z(&out, "the system has no units");
    else if (*l->op == '\0')
        dfl_strbuf_printf(&out, "`%s` comes closest, its `rate` has none for %s of %s",
                          text(names, m->system->computes[l->unit].name), l->is_mac ? "MACs" : "FLOPs", l->type);
    else
        dfl_strbuf_printf(&out, "`%s` comes closest, its `ops` do not include `%s`%s",
                          text(names, m->system->computes[l->unit].name), l->op,
                          l->has_rate ? "" : ", and it has no rate for this type");
    dfl_diag_note(sink, d, "%s", out.text);
}

bool dfl_mapping_check_units(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m)
{
    const dfl_workload *w = m->workload;
    lack_vec all = { .n = 0 };
    uint32_t n = 0;
    const char *what;
    dfl_diag *d;

    for (uint32_t e = 0; e < w->n_einsums; e++) {
        const dfl_body *leaf = dfl_mapping_leaf(m, e);
        bool can = leaf != NULL && leaf->compute != DFL_NONE;
        for (uint32_t c = 0; c < m->system->n_computes && !can; c++)
            can = dfl_unit_can_run(names, m, &m->system->computes[c], &w->einsums[e]);
        if (can)
            continue;
        lack more = find_lack(names, m, e);
        add_lack(dfl_sink_arena(sink), &all, &more);
        n++;
    }
    if (n == 0)
        return true;
    what = n == 1 ? dfl_arena_printf(dfl_sink_arena(sink), "einsum `%s`", text(names, w->einsums[all.at[0].einsum[0]].name))
                  : dfl_arena_printf(dfl_sink_arena(sink), "%u of the %u einsums of `%s`", n, w->n_einsums, text(names, w->name));
    d = dfl_report(sink, DFL_MAP_NO_COMPUTE, w->einsums[all.at[0].einsum[0]].span, "no unit of `%s` can run %s",
                   text(names, m->system->name), what);
    for (size_t i = 0; i < all.n && i < SHOWN; i++)
        note_lack(sink, d, names, m, &all.at[i]);
    dfl_diag_label(sink, d, all.at[0].unit != DFL_NONE ? m->system->computes[all.at[0].unit].span : m->system->span,
                   all.at[0].unit != DFL_NONE ? "this unit comes closest" : "on this system");
    dfl_diag_help(sink, d, "a unit needs both: a rate for it, as in `rate { %s = 1%s/cycle; }`, and the operation in its "
                  "`ops`, if it has `ops`", all.at[0].type, all.at[0].is_mac ? "MAC" : "FLOP");
    return false;
}
