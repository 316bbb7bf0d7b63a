/* Binding the loops of a mapping to the ranks of each einsum below them. */
#include "ir/path/path.h"

#include "ir/path/checks.h"
#include "ir/path/layout.h"
#include "ir/path/windows.h"
#include "support/vec.h"

/* Extents of an einsum's ranks below its first `level` steps, as one producer of what it reads sees them. */
typedef struct extents {
    uint32_t producer, level;
    const int64_t *at;
    struct extents *next;
} extents;

typedef struct {
    dfl_arena *arena;
    dfl_sink *sink;
    const dfl_intern *names;
    const dfl_mapping *m;
    dfl_paths *paths;
    extents **known;       /* per einsum: what extents_at has found */
    bool *disordered;      /* per einsum: a restricted one may not go over its dimensions in order */
    bool *bound;           /* per einsum, for one loop */
    int64_t *left;         /* per rank, for one einsum */
    bool ok;
} resolver;

static const dfl_einsum *einsum_of(const resolver *r, uint32_t e) { return &r->m->workload->einsums[e]; }

static bool listed(const uint32_t *list, uint32_t n, uint32_t x)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i] == x)
            return true;
    return false;
}

static bool below(const resolver *r, const dfl_body *body, uint32_t e)
{
    return dfl_body_within(r->paths->paths[e].leaf, body);
}

static dfl_path_step *step_of(const resolver *r, uint32_t e, const dfl_line *line)
{
    dfl_path *p = &r->paths->paths[e];

    for (uint32_t i = 0; i < p->n_steps; i++)
        if (p->steps[i].line == line)
            return &p->steps[i];
    return NULL;
}

/* The dimension of the access that is `rank` and nothing else, or DFL_NONE. */
static uint32_t bare_dim(const dfl_access *a, uint32_t rank)
{
    for (uint32_t d = 0; d < a->n_dims; d++) {
        uint32_t found;
        if (dfl_index_is_bare(&a->index[d], &found) && found == rank)
            return d;
    }
    return DFL_NONE;
}

/* The first dimension of an access whose index has the rank, or DFL_NONE. */
static uint32_t dim_with(const dfl_access *a, uint32_t rank)
{
    for (uint32_t d = 0; d < a->n_dims; d++)
        for (uint32_t t = 0; t < a->index[d].n_terms; t++)
            if (a->index[d].terms[t].rank == rank)
                return d;
    return DFL_NONE;
}

/* Rank of the reader that stands where the other side has `rank`, both bare and equally long; else DFL_NONE. */
static uint32_t across(const resolver *r, const dfl_access *from, uint32_t rank, const dfl_access *to)
{
    const dfl_rank *ranks = r->m->workload->ranks;
    uint32_t d = bare_dim(from, rank), found;

    if (d == DFL_NONE || !dfl_index_is_bare(&to->index[d], &found))
        return DFL_NONE;
    return ranks[found].extent == ranks[rank].extent ? found : DFL_NONE;
}

/* FOLLOW: einsum `e` reads what an einsum bound to the loop produces, or every reader of its own result below the
   loop's body is bound and indexes it bare, so that its ranks run along. */
static uint32_t follow(const resolver *r, const dfl_body *body, const dfl_line *line, const bool *bound, uint32_t e)
{
    const dfl_einsum *me = einsum_of(r, e);
    const dfl_tensor *mine = &r->m->workload->tensors[me->output.tensor];
    uint32_t result = DFL_NONE;

    for (uint32_t i = 0; i < me->n_inputs; i++) {
        const dfl_tensor *t = &r->m->workload->tensors[me->inputs[i].tensor];
        for (uint32_t k = 0; k < t->n_producers; k++) {
            uint32_t f = t->producers[k];
            if (f == e || !bound[f] || !below(r, body, f))
                continue;
            uint32_t rank = step_of(r, f, line)->rank;
            uint32_t found = rank == DFL_NONE ? DFL_NONE
                                              : across(r, &einsum_of(r, f)->output, rank, &me->inputs[i]);
            if (found != DFL_NONE)
                return found;
        }
    }
    for (uint32_t k = 0; k < mine->n_consumers; k++) {
        uint32_t c = mine->consumers[k];
        if (c == e || !below(r, body, c))
            continue;
        uint32_t rank = bound[c] ? step_of(r, c, line)->rank : DFL_NONE;
        if (rank == DFL_NONE)
            return DFL_NONE;
        const dfl_einsum *reader = einsum_of(r, c);
        for (uint32_t i = 0; i < reader->n_inputs; i++) {
            if (reader->inputs[i].tensor != me->output.tensor)
                continue;
            uint32_t found = across(r, &reader->inputs[i], rank, &me->output);
            if (found == DFL_NONE || (result != DFL_NONE && result != found))
                return DFL_NONE;
            result = found;
        }
    }
    return result;
}

static bool feeds_bound(const resolver *r, const dfl_body *body, const bool *bound, uint32_t e)
{
    const dfl_tensor *mine = &r->m->workload->tensors[einsum_of(r, e)->output.tensor];

    for (uint32_t k = 0; k < mine->n_consumers; k++) {
        uint32_t c = mine->consumers[k];
        if (c != e && bound[c] && below(r, body, c))
            return true;
    }
    return false;
}

/* What `e` reads of the results that have the loop's rank and are made below the same loop; NULL for nothing. */
static const dfl_access *read_below(const resolver *r, const dfl_body *body, const dfl_line *line, uint32_t e)
{
    const dfl_einsum *me = einsum_of(r, e);

    for (uint32_t i = 0; i < me->n_inputs; i++) {
        const dfl_tensor *t = &r->m->workload->tensors[me->inputs[i].tensor];
        for (uint32_t k = 0; k < t->n_producers; k++)
            if (t->producers[k] != e && below(r, body, t->producers[k]) &&
                bare_dim(&einsum_of(r, t->producers[k])->output, line->rank) != DFL_NONE)
                return &me->inputs[i];
    }
    return NULL;
}

/* The producer of something that `e` reads which sums over the loop's rank, below the same loop; DFL_NONE for none. */
static uint32_t summed_below(const resolver *r, const dfl_body *body, const dfl_line *line, uint32_t e)
{
    const dfl_einsum *me = einsum_of(r, e);

    for (uint32_t i = 0; i < me->n_inputs; i++) {
        const dfl_tensor *t = &r->m->workload->tensors[me->inputs[i].tensor];
        for (uint32_t k = 0; k < t->n_producers; k++)
            if (t->producers[k] != e && below(r, body, t->producers[k]) &&
                dfl_einsum_has_rank(einsum_of(r, t->producers[k]), line->rank) &&
                dim_with(&einsum_of(r, t->producers[k])->output, line->rank) == DFL_NONE)
                return t->producers[k];
    }
    return DFL_NONE;
}

static void unreached(resolver *r, const dfl_body *body, const dfl_line *line, uint32_t e)
{
    uint32_t sums = summed_below(r, body, line, e);
    const dfl_access *read = read_below(r, body, line, e);
    const dfl_einsum *me = einsum_of(r, e);
    const char *rank = dfl_sym_text(r->names, r->m->workload->ranks[line->rank].name);
    const char *name = dfl_sym_text(r->names, me->name);
    dfl_diag *d;

    r->ok = false;
    if (sums != DFL_NONE) {
        dfl_path_report_early(r->sink, r->names, r->m, line, line->rank, sums, e, false);
        return;
    }
    d = dfl_report(r->sink, DFL_MAP_LOOP_UNREACHED, line->span, "loop over `%s` does not reach einsum `%s` below it", rank,
                   name);
    dfl_diag_here(r->sink, d, "`%s` is not a rank of `%s`", rank, name);
    dfl_diag_label(r->sink, d, me->span, "`%s` is computed here", name);
    if (body->kind == DFL_BODY_LEAF)
        dfl_diag_help(r->sink, d, "loop over a rank of `%s`, or remove this loop", name);
    else if (read)
        dfl_diag_help(r->sink, d, "loop over a rank of `%s` that indexes `%s`: `%s` is then computed as it is read", name,
                      dfl_sym_text(r->names, r->m->workload->tensors[read->tensor].name),
                      dfl_sym_text(r->names, r->m->workload->tensors[read->tensor].name));
    else
        dfl_diag_help(r->sink, d, "move the loop into the branches that have `%s`", rank);
}

/* A loop that an einsum follows through two tensors must reach the same rank of it through both. */
static void check_followed(resolver *r, const dfl_body *body, const dfl_line *line, uint32_t e)
{
    const dfl_einsum *me = einsum_of(r, e);
    const dfl_access *first = NULL;
    uint32_t as = DFL_NONE;

    for (uint32_t i = 0; i < me->n_inputs; i++) {
        const dfl_tensor *t = &r->m->workload->tensors[me->inputs[i].tensor];
        for (uint32_t k = 0; k < t->n_producers; k++) {
            uint32_t f = t->producers[k], found = DFL_NONE;
            if (f != e && below(r, body, f) && step_of(r, f, line)->rank != DFL_NONE)
                found = across(r, &einsum_of(r, f)->output, step_of(r, f, line)->rank, &me->inputs[i]);
            if (found == DFL_NONE || found == as)
                continue;
            if (as == DFL_NONE) {
                first = &me->inputs[i];
                as = found;
                continue;
            }
            const dfl_rank *ranks = r->m->workload->ranks;
            dfl_diag *d = dfl_report(r->sink, DFL_MAP_CONFLICTING_RESTRICTION, line->span,
                                     "loop over `%s` reaches einsum `%s` both as `%s` and as `%s`",
                                     dfl_sym_text(r->names, ranks[line->rank].name), dfl_sym_text(r->names, me->name),
                                     dfl_sym_text(r->names, ranks[as].name), dfl_sym_text(r->names, ranks[found].name));
            dfl_diag_label(r->sink, d, first->span, "here it is `%s`", dfl_sym_text(r->names, ranks[as].name));
            dfl_diag_label(r->sink, d, me->inputs[i].span, "here it is `%s`", dfl_sym_text(r->names, ranks[found].name));
            dfl_diag_help(r->sink, d, "move the loop into the branches of the einsums that have `%s`",
                          dfl_sym_text(r->names, ranks[line->rank].name));
            r->ok = false;
            return;
        }
    }
}

/* Binds one loop for every einsum below its body; repeats until nothing more gets bound. */
static void bind_line(resolver *r, const dfl_body *body, const dfl_line *line)
{
    bool *bound = r->bound, progress = true;

    for (uint32_t k = 0; k < body->n_einsums; k++)
        bound[body->einsums[k]] = false;
    for (uint32_t k = 0; k < body->n_einsums; k++) {
        uint32_t e = body->einsums[k];
        dfl_path_step *s = step_of(r, e, line);
        if (line->kind == DFL_LINE_SPATIAL && line->only && !listed(line->only, line->n_only, e)) {
            s->bind = DFL_BIND_IDLE;
            bound[e] = true;
        } else if (dfl_einsum_has_rank(einsum_of(r, e), line->rank)) {
            s->bind = DFL_BIND_DIRECT;
            s->rank = line->rank;
            bound[e] = true;
        }
    }
    while (progress) {
        progress = false;
        for (uint32_t k = body->n_einsums; k-- > 0;) {
            uint32_t e = body->einsums[k], rank;
            if (bound[e] || (rank = follow(r, body, line, bound, e)) == DFL_NONE)
                continue;
            *step_of(r, e, line) = (dfl_path_step){ .line = line, .body = body, .bind = DFL_BIND_FOLLOW, .rank = rank };
            bound[e] = progress = true;
        }
        /* one at a time, so that FOLLOW is tried first everywhere */
        for (uint32_t k = body->n_einsums; !progress && line->kind == DFL_LINE_TEMPORAL && k-- > 0;) {
            uint32_t e = body->einsums[k];
            if (!bound[e] && feeds_bound(r, body, bound, e))
                bound[e] = progress = true; /* stays NEED */
        }
    }
    for (uint32_t k = 0; k < body->n_einsums; k++) {
        if (!bound[body->einsums[k]])
            unreached(r, body, line, body->einsums[k]);
        else if (step_of(r, body->einsums[k], line)->bind == DFL_BIND_FOLLOW)
            check_followed(r, body, line, body->einsums[k]);
    }
}

/* A loop by which consumers decide what of a result is computed must mean the same dimension to all of them. */
static void check_restriction(resolver *r, const dfl_path *p, const dfl_line *line)
{
    const dfl_access *first = NULL;
    uint32_t dim = DFL_NONE;

    for (uint32_t k = 0; k < p->exchange.n_consumers; k++) {
        const dfl_einsum *reader = einsum_of(r, p->exchange.consumers[k]);
        const dfl_path_step *s = step_of(r, p->exchange.consumers[k], line);
        uint32_t rank = s ? s->rank : DFL_NONE; /* the loop is not above a reader further out */
        for (uint32_t i = 0; i < reader->n_inputs && rank != DFL_NONE; i++) {
            const dfl_access *a = &reader->inputs[i];
            uint32_t found = a->tensor == p->exchange.tensor ? dim_with(a, rank) : DFL_NONE;
            if (found == DFL_NONE || found == dim)
                continue;
            if (dim == DFL_NONE) {
                first = a;
                dim = found;
                continue;
            }
            const char *name = dfl_sym_text(r->names, r->m->workload->tensors[a->tensor].name);
            dfl_diag *d = dfl_report(r->sink, DFL_MAP_CONFLICTING_RESTRICTION, line->span,
                                     "loop over `%s` restricts `%s` in two dimensions",
                                     dfl_sym_text(r->names, r->m->workload->ranks[line->rank].name), name);
            dfl_diag_label(r->sink, d, first->span, "dimension %u of `%s` here", dim + 1, name);
            dfl_diag_label(r->sink, d, a->span, "dimension %u of `%s` here", found + 1, name);
            dfl_diag_help(r->sink, d, "compute `%s` in a branch above this loop", name);
            r->ok = false;
            return;
        }
    }
}

/* Innermost branch in which the output of `e` is read. */
static void find_exchange(resolver *r, uint32_t e)
{
    dfl_path *p = &r->paths->paths[e];
    uint32_t tensor = einsum_of(r, e)->output.tensor;
    const dfl_tensor *t = &r->m->workload->tensors[tensor];
    const dfl_body *best = NULL;
    DFL_VEC(uint32_t) consumers = { 0 };

    for (uint32_t k = 0; k < t->n_consumers; k++) {
        if (t->consumers[k] == e)
            continue;
        const dfl_body *b = dfl_body_common(p->leaf, r->paths->paths[t->consumers[k]].leaf);
        if (!best || b->depth > best->depth)
            best = b;
    }
    p->n_above = p->n_steps;
    if (!best)
        return;
    p->has_exchange = true;
    p->exchange = (dfl_exchange){ .tensor = tensor, .branch = best };
    p->n_above = 0;
    for (uint32_t i = 0; i < p->n_steps; i++)
        if (p->steps[i].body->depth <= best->depth)
            p->n_above = i + 1;
    const dfl_body *outermost = best;
    for (uint32_t i = p->n_above; i-- > 0;)
        if (p->steps[i].line->kind == DFL_LINE_TEMPORAL && p->steps[i].bind == DFL_BIND_NEED) {
            p->exchange.restricts = true;
            outermost = p->steps[i].body;
        }
    for (uint32_t k = 0; k < t->n_consumers; k++)
        if (t->consumers[k] != e && dfl_body_within(r->paths->paths[t->consumers[k]].leaf, outermost))
            DFL_PUSH(r->arena, &consumers, t->consumers[k]);
    p->exchange.consumers = consumers.at;
    p->exchange.n_consumers = (uint32_t)consumers.n;
    for (uint32_t i = 0; p->exchange.restricts && i < p->n_above; i++)
        if (p->steps[i].line->kind == DFL_LINE_TEMPORAL && p->steps[i].bind == DFL_BIND_NEED)
            check_restriction(r, p, p->steps[i].line);
    for (const dfl_body *b = best; b; b = b->parent)
        if (listed(b->recompute, b->n_recompute, tensor))
            p->exchange.recompute = true;
}

static const int64_t *extents_at(resolver *r, uint32_t producer, uint32_t c, uint32_t level);

/* Steps that the way to a reader has in common with the way to the producer. */
static uint32_t common_steps(const resolver *r, const dfl_path *a, const dfl_path *b)
{
    const dfl_body *common = dfl_body_common(a->leaf, b->leaf);

    return r->paths->step[common->id][common->n_lines];
}

/* Most indices from the first to the last one of dimension `d` of a restricted result that are computed at once, below
   its first `level` steps; `extent` where nothing less is certain. */
static int64_t wanted(resolver *r, const dfl_path *p, uint32_t d, int64_t extent, uint32_t level)
{
    dfl_windows w = { .alike = true, .in_order = true, .whole = true };
    bool again = p->exchange.recompute, inside = false;

    for (uint32_t k = 0; k < p->exchange.n_consumers; k++) {
        uint32_t shared = common_steps(r, p, &r->paths->paths[p->exchange.consumers[k]]);
        inside |= shared < level; /* the last iteration inside makes what readers outside read */
        level = shared < level ? shared : level;
    }
    for (uint32_t k = 0; k < p->exchange.n_consumers; k++) {
        uint32_t c = p->exchange.consumers[k];
        const dfl_einsum *reader = einsum_of(r, c);
        const int64_t *nominal = extents_at(r, p->einsum, c, level);
        for (uint32_t i = 0; i < reader->n_inputs; i++)
            if (reader->inputs[i].tensor == p->exchange.tensor)
                dfl_windows_add(r->m->workload, &reader->inputs[i].index[d], nominal, extent, &w);
        w.in_order &= !r->disordered[c];
        w.alike &= !r->paths->paths[c].exchange.restricts;
    }
    if (!w.whole) /* what nobody reads is computed in the last iteration: that piece can be long */
        return extent;
    /* what moves up one after another is new at its upper end */
    dfl_i128 size = w.n == 1 || w.in_order ? w.longest + (again ? w.apart : 0) : w.alike ? w.hi - w.lo : extent;
    r->disordered[p->einsum] |= again || inside || !w.in_order;
    return size < extent ? (int64_t)size : extent;
}

/* What the readers of a restricted result leave of its ranks, below its first `level` steps. */
static void restrict_ranks(resolver *r, const dfl_path *p, uint32_t level, int64_t *now)
{
    const dfl_access *out = &einsum_of(r, p->einsum)->output;

    for (uint32_t d = 0; p->has_exchange && p->exchange.restricts && d < out->n_dims; d++) {
        uint32_t rank;
        if (!dfl_index_is_bare(&out->index[d], &rank))
            continue;
        int64_t most = wanted(r, p, d, now[rank], level);
        now[rank] = most < now[rank] ? most : now[rank];
    }
}

/* Largest extents of a reader's ranks below its first `level` steps, as a producer of what it reads sees them. */
static const int64_t *extents_at(resolver *r, uint32_t producer, uint32_t c, uint32_t level)
{
    const dfl_workload *w = r->m->workload;
    const dfl_path *p = &r->paths->paths[c];
    extents *known = r->known[c];

    while (known && (known->producer != producer || known->level != level))
        known = known->next;
    if (known)
        return known->at;
    int64_t *now = DFL_NEW_ARRAY(r->arena, int64_t, w->n_ranks);
    bool *spread = DFL_NEW_ARRAY(r->arena, bool, w->n_ranks);
    for (uint32_t k = 0; k < w->n_ranks; k++)
        now[k] = w->ranks[k].extent;
    for (uint32_t i = 0; i <= level && dfl_budget_ok(dfl_arena_budget(r->arena)); i++) {
        if (i == (level < p->n_above ? level : p->n_above))
            restrict_ranks(r, p, i, now);
        if (i == level || p->steps[i].rank == DFL_NONE)
            continue;
        /* what a producer in one instance makes is for all instances of the reader */
        spread[p->steps[i].rank] |= r->paths->paths[producer].steps[i].bind == DFL_BIND_IDLE;
        if (!spread[p->steps[i].rank])
            now[p->steps[i].rank] = p->steps[i].tile;
    }
    known = DFL_NEW(r->arena, extents);
    *known = (extents){ .producer = producer, .level = level, .at = now, .next = r->known[c] };
    r->known[c] = known;
    return now;
}

/* Tiles of all loops of one einsum; those of its readers are known. */
static void size_tiles(resolver *r, uint32_t e)
{
    const dfl_workload *w = r->m->workload;
    const dfl_einsum *me = einsum_of(r, e);
    dfl_path *p = &r->paths->paths[e];
    int64_t *now = r->left;

    for (uint32_t k = 0; k < me->n_ranks; k++)
        now[me->ranks[k]] = w->ranks[me->ranks[k]].extent;
    for (uint32_t i = 0; i <= p->n_steps; i++) {
        if (i == p->n_above)
            restrict_ranks(r, p, i, now);
        if (i == p->n_steps)
            break;
        dfl_path_step *s = &p->steps[i];
        if (s->line->kind == DFL_LINE_KEEP || s->rank == DFL_NONE)
            continue;
        s->nominal = now[s->rank];
        s->tile = s->line->by == DFL_BY_PARTS ? dfl_ceil_div(s->nominal, s->line->amount) : s->line->amount;
        r->ok &= dfl_path_check_tile(r->sink, r->names, r->m, p, i);
        if (s->tile > s->nominal || s->tile <= 0)
            s->tile = s->nominal;
        now[s->rank] = s->tile;
    }
    r->ok &= dfl_path_check_finished(r->sink, r->names, r->m, p, now);
}

/* The paths with every loop bound and every exchange found, not sized; NULL after reporting. `ok` may be down as well. */
static dfl_paths *bind(resolver *r)
{
    const dfl_mapping *m = r->m;
    uint32_t n = m->workload->n_einsums;
    dfl_budget *budget = dfl_arena_budget(r->arena);

    if (!dfl_path_check_coverage(r->arena, r->sink, r->names, m))
        return NULL;
    r->paths = DFL_NEW(r->arena, dfl_paths);
    r->paths->mapping = m;
    r->paths->paths = DFL_NEW_ARRAY(r->arena, dfl_path, n);
    r->bound = DFL_NEW_ARRAY(r->arena, bool, n);
    if (!dfl_paths_lay(r->arena, r->paths)) {
        dfl_report_stop(r->sink, budget);
        return NULL;
    }
    for (uint32_t b = 0; b < m->n_bodies; b++)
        for (uint32_t i = 0; i < m->bodies[b]->n_lines; i++) {
            if (!dfl_budget_ok(budget)) {
                dfl_report_stop(r->sink, budget);
                return NULL;
            }
            if (m->bodies[b]->lines[i].kind != DFL_LINE_KEEP)
                bind_line(r, m->bodies[b], &m->bodies[b]->lines[i]);
        }
    if (!r->ok)
        return NULL;
    for (uint32_t e = n; e-- > 0;)
        find_exchange(r, e);
    return r->paths;
}

/* Tiles of all loops. */
static bool size(resolver *r)
{
    uint32_t n = r->m->workload->n_einsums;

    r->known = DFL_NEW_ARRAY(r->arena, extents *, n);
    r->disordered = DFL_NEW_ARRAY(r->arena, bool, n);
    r->left = DFL_NEW_ARRAY(r->arena, int64_t, r->m->workload->n_ranks);
    for (uint32_t e = n; e-- > 0;)
        size_tiles(r, e);
    if (!dfl_budget_ok(dfl_arena_budget(r->arena)))
        return dfl_report_stop(r->sink, dfl_arena_budget(r->arena));
    return true;
}

dfl_paths *dfl_paths_bind(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping)
{
    resolver r = { .arena = arena, .sink = sink, .names = names, .m = mapping, .ok = true };

    if (bind(&r) == NULL)
        return NULL;
    for (uint32_t e = 0; e < mapping->workload->n_einsums; e++) {
        r.ok &= dfl_path_choose_compute(sink, names, mapping, &r.paths->paths[e]);
        r.ok &= dfl_path_check_keeps(sink, names, r.paths, e);
    }
    r.ok &= dfl_path_check_homes(arena, sink, names, r.paths);
    return r.ok ? r.paths : NULL;
}

dfl_paths *dfl_paths_resolve(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping)
{
    resolver r = { .arena = arena, .sink = sink, .names = names, .m = mapping, .ok = true };

    if (bind(&r) == NULL || !size(&r))
        return NULL;
    for (uint32_t e = 0; e < mapping->workload->n_einsums; e++) {
        r.ok &= dfl_path_choose_compute(sink, names, mapping, &r.paths->paths[e]);
        r.ok &= dfl_path_check_axes(sink, names, mapping, &r.paths->paths[e]);
        r.ok &= dfl_path_check_keeps(sink, names, r.paths, e);
    }
    r.ok = r.ok && dfl_path_check_stages(arena, sink, names, r.paths);
    r.ok &= dfl_path_check_homes(arena, sink, names, r.paths);
    r.ok &= dfl_path_check_complete(sink, names, r.paths);
    r.ok &= dfl_path_check_online(arena, sink, names, r.paths);
    return r.ok ? r.paths : NULL;
}

bool dfl_paths_resize(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, dfl_paths *paths)
{
    resolver r = { .arena = arena, .sink = sink, .names = names, .m = paths->mapping, .paths = paths, .ok = true };

    if (!size(&r))
        return false;
    for (uint32_t e = 0; e < paths->mapping->workload->n_einsums; e++)
        r.ok &= dfl_path_check_axes(sink, names, paths->mapping, &paths->paths[e]);
    r.ok = r.ok && dfl_path_check_stages(arena, sink, names, paths);
    /* a loop with one iteration asks for nothing */
    r.ok &= dfl_path_check_complete(sink, names, paths);
    return r.ok & dfl_path_check_online(arena, sink, names, paths);
}
