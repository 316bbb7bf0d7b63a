#include "ir/path/unit_choice.h"

#include <string.h>

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
