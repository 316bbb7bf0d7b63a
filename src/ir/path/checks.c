/* Coverage, tiles and units of a mapping. */
#include "ir/path/checks.h"

#include <string.h>

static const char *text(const dfl_intern *names, dfl_sym s) { return dfl_sym_text(names, s); }

bool dfl_path_check_coverage(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m)
{
    const dfl_workload *w = m->workload;
    const dfl_body **first = DFL_NEW_ARRAY(arena, const dfl_body *, w->n_einsums), **second;
    bool ok = true;

    second = DFL_NEW_ARRAY(arena, const dfl_body *, w->n_einsums);
    for (uint32_t b = 0; b < m->n_bodies; b++) {
        const dfl_body *body = m->bodies[b];
        uint32_t e = body->kind == DFL_BODY_LEAF && body->n_einsums == 1 ? body->einsums[0] : DFL_NONE;
        if (e != DFL_NONE && first[e] == NULL)
            first[e] = body;
        else if (e != DFL_NONE && second[e] == NULL)
            second[e] = body;
    }
    for (uint32_t e = 0; e < w->n_einsums; e++) {
        if (second[e]) {
            dfl_diag *d = dfl_report(sink, DFL_MAP_EINSUM_TWICE, second[e]->span, "einsum `%s` is mapped twice",
                                     text(names, w->einsums[e].name));
            dfl_diag_here(sink, d, "mapped again here");
            dfl_diag_label(sink, d, first[e]->span, "first mapped here");
            dfl_diag_help(sink, d, "remove `%s` from one of the two branches", text(names, w->einsums[e].name));
        }
        if (!first[e]) {
            dfl_diag *d = dfl_report(sink, DFL_MAP_EINSUM_MISSING, m->span, "mapping `%s` leaves out einsum `%s`",
                                     text(names, m->name), text(names, w->einsums[e].name));
            dfl_diag_label(sink, d, w->einsums[e].span, "`%s` is computed here", text(names, w->einsums[e].name));
            dfl_diag_help(sink, d, "add a branch `%s { ... }`", text(names, w->einsums[e].name));
        }
        ok &= first[e] && !second[e];
    }
    return ok;
}

/* The bare loop above step `i` that iterates the same rank element by element, or NULL. A loop whose tile is 1 because a
   parameter is, or because the parts are as many as the elements, leaves nothing either, but is not that mistake. */
static const dfl_line *finished_above(const dfl_path *p, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++) {
        const dfl_line *line = p->steps[k].line;
        if (line->kind != DFL_LINE_KEEP && p->steps[k].rank == p->steps[i].rank && line->by == DFL_BY_SIZE &&
            line->amount == 1 && line->amount_span.start == line->span.start && line->amount_span.end == line->span.end)
            return line;
    }
    return NULL;
}

bool dfl_path_check_tile(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_path *p, uint32_t i)
{
    const dfl_path_step *s = &p->steps[i];
    const dfl_rank *rank = &m->workload->ranks[s->rank];
    const char *name = text(names, rank->name);
    const dfl_line *above;

    if (s->bind != DFL_BIND_DIRECT || s->line->by == DFL_BY_PARTS)
        return true;
    if (s->nominal == 1 && rank->extent > 1 && (above = finished_above(p, i)) != NULL) {
        dfl_diag *d = dfl_report(sink, DFL_MAP_RANK_FINISHED_TWICE, s->line->span,
                                 "rank `%s` is already finished above this line", name);
        dfl_diag_here(sink, d, "nothing is left to iterate");
        dfl_diag_label(sink, d, above->span, "this loop goes through `%s` element by element", name);
        dfl_diag_help(sink, d, "remove one of the two loops, or give the outer one a tile: `%s:...`", name);
        return false;
    }
    if (s->tile > s->nominal) {
        dfl_diag *d = dfl_report(sink, DFL_MAP_TILE_TOO_LARGE, s->line->amount_span,
                                 "tile of %lld is larger than what is left of rank `%s`", (long long)s->tile, name);
        dfl_diag_here(sink, d, "%lld left at this line", (long long)s->nominal);
        dfl_diag_label(sink, d, rank->span, "`%s` has an extent of %lld", name, (long long)rank->extent);
        dfl_diag_help(sink, d, "use a tile of at most %lld", (long long)s->nominal);
        return false;
    }
    return true;
}

bool dfl_path_check_finished(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_path *p,
                             const int64_t *left)
{
    const dfl_einsum *e = &m->workload->einsums[p->einsum];
    bool ok = true;

    for (uint32_t k = 0; k < e->n_ranks; k++) {
        uint32_t r = e->ranks[k];
        const char *name = text(names, m->workload->ranks[r].name);
        if (left[r] <= 1 || r == e->over_rank)
            continue;
        const dfl_line *last = NULL;
        for (uint32_t i = 0; i < p->n_steps; i++)
            if (p->steps[i].line->kind != DFL_LINE_KEEP && p->steps[i].rank == r)
                last = p->steps[i].line;
        dfl_diag *d = dfl_report(sink, DFL_MAP_RANK_UNFINISHED, last ? last->span : p->leaf->span,
                                 "rank `%s` of einsum `%s` is never finished", name, text(names, e->name));
        if (last)
            dfl_diag_here(sink, d, "tiles of %lld are left, and no loop goes through their elements", (long long)left[r]);
        else
            dfl_diag_here(sink, d, "no loop on the way to `%s` is over `%s`", text(names, e->name), name);
        dfl_diag_label(sink, d, m->workload->ranks[r].span, "`%s` has an extent of %lld", name,
                       (long long)m->workload->ranks[r].extent);
        dfl_diag_help(sink, d, "add `temporal %s;` as the innermost loop", name);
        ok = false;
    }
    return ok;
}

static bool offers(const dfl_intern *names, const dfl_compute *c, const char *op)
{
    for (uint32_t i = 0; i < c->n_ops; i++)
        if (strcmp(text(names, c->ops[i]), op) == 0)
            return true;
    return false;
}

static bool runs(const dfl_intern *names, const dfl_compute *c, const dfl_einsum *e)
{
    if (c->n_ops == 0 || offers(names, c, e->is_mac ? "mac" : "flop"))
        return true;
    /* named operations: every call of the right side must be on the list, and so must the reduction */
    if (e->is_mac || e->reduce == DFL_REDUCE_ADD || !dfl_eop_calls_within(e->body, c->ops, c->n_ops))
        return false;
    return e->reduce == DFL_REDUCE_NONE ? e->body->kind == DFL_EOP_CALL
                                        : offers(names, c, e->reduce == DFL_REDUCE_MAX ? "max" : "min");
}

bool dfl_unit_can_run(const dfl_intern *names, const dfl_mapping *m, const dfl_compute *c, const dfl_einsum *e)
{
    return runs(names, c, e) && dfl_point_seconds(names, m->workload, e, c) >= 0;
}

/* Says of a unit that would run an einsum what rate it lacks. */
static void report_rate(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_path *p, uint32_t c)
{
    const dfl_einsum *e = &m->workload->einsums[p->einsum];
    const char *unit = text(names, m->system->computes[c].name), *kind = e->is_mac ? "mac" : "flop";
    const char *type = text(names, dfl_einsum_type(m->workload, e)->name);
    bool named = p->leaf->compute != DFL_NONE;
    dfl_diag *d = dfl_report(sink, DFL_MAP_NO_COMPUTE, named ? p->leaf->compute_span : p->leaf->span,
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
    uint32_t slow = DFL_NONE; /* the innermost unit that only lacks a rate */

    p->compute = p->leaf->compute;
    if (p->compute != DFL_NONE && dfl_unit_can_run(names, m, &s->computes[p->compute], e))
        return true;
    if (p->compute != DFL_NONE && runs(names, &s->computes[p->compute], e)) {
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
        bool reached = runs(names, &s->computes[c], e);
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
    dfl_diag_here(sink, d, "needs a unit for %s that sees the memories kept in and lies inside the axes used", kind);
    dfl_diag_help(sink, d, "add `on unit;` to the branch, or move its keeps to memories that a unit sees");
    return false;
}

int64_t dfl_path_parts(const dfl_path_step *step)
{
    int64_t parts = dfl_ceil_div(step->nominal, step->tile);

    return step->line->by == DFL_BY_PARTS && step->line->amount > parts ? step->line->amount : parts;
}

static void report_fan_out(dfl_sink *sink, const dfl_intern *names, const dfl_axis *axis, const dfl_line *line, dfl_i128 product)
{
    char digits[41];
    dfl_diag *d;

    dfl_i128_text(product, digits);
    d = dfl_report(sink, DFL_MAP_TOO_MANY_INSTANCES, line->span, "%s instances on axis `%s`, which has %lld", digits,
                   text(names, axis->name), (long long)axis->size);
    dfl_diag_here(sink, d, "the product of the parts on this axis passes its size here");
    dfl_diag_label(sink, d, axis->span, "`%s` is declared here", text(names, axis->name));
    dfl_diag_help(sink, d, "split into at most %lld parts, and iterate the rest with `temporal`", (long long)axis->size);
}

bool dfl_path_check_axes(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_path *p)
{
    const dfl_system *s = m->system;
    bool ok = true;

    for (uint32_t a = 0; a < s->n_axes; a++) {
        dfl_i128 product = 1;
        for (uint32_t i = 0; i < p->n_steps; i++) {
            const dfl_path_step *step = &p->steps[i];
            if (step->line->kind != DFL_LINE_SPATIAL || step->line->axis != a || step->rank == DFL_NONE)
                continue;
            if (p->compute != DFL_NONE && !dfl_axis_encloses(s, a, s->computes[p->compute].element)) {
                dfl_diag *d = dfl_report(sink, DFL_MAP_NO_COMPUTE, step->line->span,
                                         "axis `%s` does not multiply the unit that runs einsum `%s`",
                                         text(names, s->axes[a].name),
                                         text(names, m->workload->einsums[p->einsum].name));
                dfl_diag_label(sink, d, s->computes[p->compute].span, "`%s` lies outside the array",
                               text(names, s->computes[p->compute].name));
                dfl_diag_help(sink, d, "use a `temporal` loop, or run the einsum on a unit inside the array");
                ok = false;
                break;
            }
            product = product > ((dfl_i128)1 << 62) ? product : product * dfl_path_parts(step);
            if (product > s->axes[a].size) {
                report_fan_out(sink, names, &s->axes[a], step->line, product);
                ok = false;
                break;
            }
        }
    }
    return ok;
}

/* ---- mappings with holes ---- */

/* Whether lines may be filled in before line `at` of a body, behind the line before it. */
static bool is_open_before(const dfl_body *b, uint32_t at)
{
    bool open = false;

    for (uint32_t o = 0; o < b->n_opens; o++)
        open |= b->opens[o].at == at;
    for (uint32_t c = 0; c < b->n_choices; c++)
        open |= b->choices[c].at == at;
    return open;
}

/* The tile of a rank above line `at` of a body; 0 where it depends on what is filled in. */
static int64_t tile_above(const dfl_mapping *m, const dfl_body *b, uint32_t at, uint32_t rank)
{
    for (; b != NULL; b = b->parent, at = b != NULL ? b->n_lines : 0) {
        for (; !is_open_before(b, at) && at > 0; at--) {
            const dfl_line *l = &b->lines[at - 1];
            if (l->kind != DFL_LINE_KEEP && l->rank == rank)
                return l->by == DFL_BY_SIZE && l->only == NULL ? l->amount : 0;
        }
        if (at > 0 || is_open_before(b, 0))
            return 0;
    }
    return m->workload->ranks[rank].extent;
}

/* Instances that a line takes at least for an einsum, whatever is filled in. */
static int64_t parts_at_least(const dfl_mapping *m, const dfl_body *b, uint32_t at)
{
    const dfl_line *l = &b->lines[at];
    const int64_t tile = l->by == DFL_BY_SIZE ? tile_above(m, b, at, l->rank) : 0;

    return l->by == DFL_BY_PARTS ? l->amount : tile > l->amount ? dfl_ceil_div(tile, l->amount) : 1;
}

/* The product on an axis of what is above the end of a body, for one einsum; false after reporting. */
static bool check_fan_out(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_body *b, uint32_t einsum,
                          uint32_t axis, dfl_i128 *product)
{
    *product = 1;
    if (b->parent != NULL && !check_fan_out(sink, names, m, b->parent, einsum, axis, product))
        return false;
    for (uint32_t i = 0; i < b->n_lines; i++) {
        const dfl_line *l = &b->lines[i];
        if (l->kind != DFL_LINE_SPATIAL || l->axis != axis || l->only != NULL || l->rank == DFL_NONE ||
            !dfl_einsum_has_rank(&m->workload->einsums[einsum], l->rank))
            continue;
        *product *= parts_at_least(m, b, i);
        if (*product > m->system->axes[axis].size) {
            report_fan_out(sink, names, &m->system->axes[axis], l, *product);
            return false;
        }
    }
    return true;
}

bool dfl_mapping_check_axes(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m)
{
    dfl_i128 product;
    bool ok = true;

    for (uint32_t b = 0; b < m->n_bodies && ok; b++)
        for (uint32_t e = 0; e < m->bodies[b]->n_einsums && ok && m->bodies[b]->n_children == 0; e++)
            for (uint32_t a = 0; a < m->system->n_axes && ok; a++)
                ok = check_fan_out(sink, names, m, m->bodies[b], m->bodies[b]->einsums[e], a, &product);
    return ok;
}
