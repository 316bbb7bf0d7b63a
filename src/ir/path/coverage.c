#include "ir/path/coverage.h"

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

/* The bare loop above step `i` that iterates the same rank element by element, or NULL. A loop whose tile is 1 by the
   value of a parameter, or by equal numbers of parts and elements, also leaves nothing of the rank; it is no
   mistake. */
static const dfl_line *find_finished_above(const dfl_path *p, uint32_t i)
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

    if (s->rank == m->workload->einsums[p->einsum].over_rank && s->tile < s->nominal) {
        const dfl_einsum *e = &m->workload->einsums[p->einsum];
        dfl_diag *d = dfl_report(sink, DFL_MAP_OVER_CUT, s->line->span, "this loop cuts rank `%s`, which einsum `%s` takes whole",
                                 name, text(names, e->name));
        dfl_diag_here(sink, d, "tiles of %lld of %lld elements", (long long)s->tile, (long long)s->nominal);
        dfl_diag_label(sink, d, e->span, "computed by an operation `over %s`", name);
        dfl_diag_help(sink, d, "remove the loop from the path of `%s`", text(names, e->name));
        return false;
    }
    if (s->bind != DFL_BIND_DIRECT || s->line->by == DFL_BY_PARTS)
        return true;
    if (s->nominal == 1 && rank->extent > 1 && (above = find_finished_above(p, i)) != NULL) {
        dfl_diag *d = dfl_report(sink, DFL_MAP_RANK_FINISHED_TWICE, s->line->span,
                                 "rank `%s` is already finished above this line", name);
        dfl_diag_here(sink, d, "nothing is left to iterate");
        dfl_diag_label(sink, d, above->span, "this loop goes through `%s` element by element", name);
        dfl_diag_help(sink, d, "remove one of the two loops, or give the outer one a tile: `%s:...`", name);
        return false;
    }
    if (s->tile > s->nominal && !s->line->rounds) {
        dfl_diag *d = dfl_report(sink, DFL_MAP_TILE_TOO_LARGE, s->line->amount_span,
                                 "the tile of %lld is larger than what is left of rank `%s`", (long long)s->tile, name);
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
