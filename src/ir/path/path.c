/*
 * Resolution of paths: binding of loops, exchanges, tiles, and the order of the checks. Tiles are set last, from the
 * last einsum to the first: the loops of a restricted producer divide the extents that the tiles of its readers leave.
 */
#include "ir/path/path.h"

#include "ir/path/coverage.h"
#include "ir/path/fan_out.h"
#include "ir/path/fusion_legality.h"
#include "ir/path/keep_legality.h"
#include "ir/path/layout.h"
#include "ir/path/online_legality.h"
#include "ir/path/pipeline_legality.h"
#include "ir/path/unit_choice.h"
#include "ir/path/windows.h"
#include "support/vec.h"

/* Largest extents of a reader's ranks below its first `level` steps, as seen by one producer of its inputs; a cached
   result. */
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
    extents **known;       /* [einsum]: cached results of find_extents */
    bool *disordered;      /* [einsum]: the einsum is restricted and may visit a dimension out of order */
    bool *bound;           /* [einsum]: the binding of the loop at hand is known for the einsum */
    int64_t *left;         /* [rank of the workload]: extent that the loops so far of the einsum at hand leave */
    bool ok;
} path_resolver;

static const dfl_einsum *einsum_of(const path_resolver *resolver, uint32_t e) { return &resolver->m->workload->einsums[e]; }

static bool is_listed(const uint32_t *list, uint32_t n, uint32_t x)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i] == x)
            return true;
    return false;
}

static bool is_below(const path_resolver *resolver, const dfl_body *body, uint32_t e)
{
    return dfl_body_within(resolver->paths->paths[e].leaf, body);
}

static dfl_path_step *find_step(const path_resolver *resolver, uint32_t e, const dfl_line *line)
{
    dfl_path *p = &resolver->paths->paths[e];

    for (uint32_t i = 0; i < p->n_steps; i++)
        if (p->steps[i].line == line)
            return &p->steps[i];
    return NULL;
}

/* The dimension of the access whose index is exactly `rank`, or DFL_NONE. */
static uint32_t find_bare_dim(const dfl_access *a, uint32_t rank)
{
    for (uint32_t d = 0; d < a->n_dims; d++) {
        uint32_t found;
        if (dfl_index_is_bare(&a->index[d], &found) && found == rank)
            return d;
    }
    return DFL_NONE;
}

/* The first dimension of an access whose index contains the rank, or DFL_NONE. */
static uint32_t find_dim_with(const dfl_access *a, uint32_t rank)
{
    for (uint32_t d = 0; d < a->n_dims; d++)
        for (uint32_t t = 0; t < a->index[d].n_terms; t++)
            if (a->index[d].terms[t].rank == rank)
                return d;
    return DFL_NONE;
}

/* The rank of access `to` in the dimension that access `from` indexes with `rank`. DFL_NONE unless both indices are
   bare and their ranks have equal extents. */
static uint32_t map_rank(const path_resolver *resolver, const dfl_access *from, uint32_t rank, const dfl_access *to)
{
    const dfl_rank *ranks = resolver->m->workload->ranks;
    uint32_t d = find_bare_dim(from, rank), found;

    if (d == DFL_NONE || !dfl_index_is_bare(&to->index[d], &found))
        return DFL_NONE;
    return ranks[found].extent == ranks[rank].extent ? found : DFL_NONE;
}

/* The rank by which einsum `e` follows the loop, or DFL_NONE. An einsum reads what the einsums before it produce; of a
   state, it reads the value from before the later updates. There are two cases. An einsum bound to the loop produces
   an input of `e`. Or all readers of the result of `e` below the loop's body are bound to the loop, and index the
   result bare in one dimension. */
static uint32_t find_followed(const path_resolver *resolver, const dfl_body *body, const dfl_line *line, const bool *bound,
                              uint32_t e)
{
    const dfl_einsum *me = einsum_of(resolver, e);
    const dfl_tensor *mine = &resolver->m->workload->tensors[me->output.tensor];
    uint32_t result = DFL_NONE;

    for (uint32_t i = 0; i < me->n_inputs; i++) {
        const dfl_tensor *t = &resolver->m->workload->tensors[me->inputs[i].tensor];
        for (uint32_t k = 0; k < t->n_producers; k++) {
            uint32_t f = t->producers[k];
            if (f >= e || !bound[f] || !is_below(resolver, body, f))
                continue;
            uint32_t rank = find_step(resolver, f, line)->rank;
            uint32_t found = rank == DFL_NONE ? DFL_NONE
                                              : map_rank(resolver, &einsum_of(resolver, f)->output, rank, &me->inputs[i]);
            if (found != DFL_NONE)
                return found;
        }
    }
    for (uint32_t k = 0; k < mine->n_consumers; k++) {
        uint32_t c = mine->consumers[k];
        if (c <= e || !is_below(resolver, body, c))
            continue;
        uint32_t rank = bound[c] ? find_step(resolver, c, line)->rank : DFL_NONE;
        if (rank == DFL_NONE)
            return DFL_NONE;
        const dfl_einsum *reader = einsum_of(resolver, c);
        for (uint32_t i = 0; i < reader->n_inputs; i++) {
            if (reader->inputs[i].tensor != me->output.tensor)
                continue;
            uint32_t found = map_rank(resolver, &reader->inputs[i], rank, &me->output);
            if (found == DFL_NONE || (result != DFL_NONE && result != found))
                return DFL_NONE;
            result = found;
        }
    }
    return result;
}

/* Whether some einsum bound to the loop reads the result of `e` below the body. */
static bool feeds_bound(const path_resolver *resolver, const dfl_body *body, const bool *bound, uint32_t e)
{
    const dfl_tensor *mine = &resolver->m->workload->tensors[einsum_of(resolver, e)->output.tensor];

    for (uint32_t k = 0; k < mine->n_consumers; k++) {
        uint32_t c = mine->consumers[k];
        if (c > e && bound[c] && is_below(resolver, body, c))
            return true;
    }
    return false;
}

/* An input of `e` that is produced below the same loop and indexed bare with the loop's rank; NULL = no such input. */
static const dfl_access *find_read_below(const path_resolver *resolver, const dfl_body *body, const dfl_line *line, uint32_t e)
{
    const dfl_einsum *me = einsum_of(resolver, e);

    for (uint32_t i = 0; i < me->n_inputs; i++) {
        const dfl_tensor *t = &resolver->m->workload->tensors[me->inputs[i].tensor];
        for (uint32_t k = 0; k < t->n_producers; k++)
            if (t->producers[k] < e && is_below(resolver, body, t->producers[k]) &&
                find_bare_dim(&einsum_of(resolver, t->producers[k])->output, line->rank) != DFL_NONE)
                return &me->inputs[i];
    }
    return NULL;
}

/* The producer of an input of `e` that stands below the same loop and sums over the loop's rank; DFL_NONE = no such
   producer. */
static uint32_t find_summed_below(const path_resolver *resolver, const dfl_body *body, const dfl_line *line, uint32_t e)
{
    const dfl_einsum *me = einsum_of(resolver, e);

    for (uint32_t i = 0; i < me->n_inputs; i++) {
        const dfl_tensor *t = &resolver->m->workload->tensors[me->inputs[i].tensor];
        for (uint32_t k = 0; k < t->n_producers; k++)
            if (t->producers[k] < e && is_below(resolver, body, t->producers[k]) &&
                dfl_einsum_has_rank(einsum_of(resolver, t->producers[k]), line->rank) &&
                find_dim_with(&einsum_of(resolver, t->producers[k])->output, line->rank) == DFL_NONE)
                return t->producers[k];
    }
    return DFL_NONE;
}

static void report_unreached(path_resolver *resolver, const dfl_body *body, const dfl_line *line, uint32_t e)
{
    uint32_t sums = find_summed_below(resolver, body, line, e);
    const dfl_access *read = find_read_below(resolver, body, line, e);
    const dfl_einsum *me = einsum_of(resolver, e);
    const char *rank = dfl_sym_text(resolver->names, resolver->m->workload->ranks[line->rank].name);
    const char *name = dfl_sym_text(resolver->names, me->name);
    dfl_diag *d;

    resolver->ok = false;
    if (sums != DFL_NONE) {
        dfl_path_report_early(resolver->sink, resolver->names, resolver->m, line, line->rank, sums, e, false);
        return;
    }
    d = dfl_report(resolver->sink, DFL_MAP_LOOP_UNREACHED, line->span, "loop over `%s` does not reach einsum `%s` below it", rank,
                   name);
    dfl_diag_here(resolver->sink, d, "`%s` is not a rank of `%s`", rank, name);
    dfl_diag_label(resolver->sink, d, me->span, "`%s` is computed here", name);
    if (body->kind == DFL_BODY_LEAF)
        dfl_diag_help(resolver->sink, d, "loop over a rank of `%s`, or remove this loop", name);
    else if (read)
        dfl_diag_help(resolver->sink, d, "loop over a rank of `%s` that indexes `%s`: `%s` is then computed when it is read",
                      name, dfl_sym_text(resolver->names, resolver->m->workload->tensors[read->tensor].name),
                      dfl_sym_text(resolver->names, resolver->m->workload->tensors[read->tensor].name));
    else
        dfl_diag_help(resolver->sink, d, "move the loop into the branches that have `%s`", rank);
}

/* Checks an einsum that follows the loop: all of its inputs must lead to one rank. */
static void check_followed(path_resolver *resolver, const dfl_body *body, const dfl_line *line, uint32_t e)
{
    const dfl_einsum *me = einsum_of(resolver, e);
    const dfl_access *first = NULL;
    uint32_t as = DFL_NONE;

    for (uint32_t i = 0; i < me->n_inputs; i++) {
        const dfl_tensor *t = &resolver->m->workload->tensors[me->inputs[i].tensor];
        for (uint32_t k = 0; k < t->n_producers; k++) {
            uint32_t f = t->producers[k], found = DFL_NONE;
            if (f < e && is_below(resolver, body, f) && find_step(resolver, f, line)->rank != DFL_NONE)
                found = map_rank(resolver, &einsum_of(resolver, f)->output, find_step(resolver, f, line)->rank, &me->inputs[i]);
            if (found == DFL_NONE || found == as)
                continue;
            if (as == DFL_NONE) {
                first = &me->inputs[i];
                as = found;
                continue;
            }
            const dfl_rank *ranks = resolver->m->workload->ranks;
            dfl_diag *d =
                dfl_report(resolver->sink, DFL_MAP_CONFLICTING_RESTRICTION, line->span,
                           "loop over `%s` reaches einsum `%s` both as `%s` and as `%s`",
                           dfl_sym_text(resolver->names, ranks[line->rank].name), dfl_sym_text(resolver->names, me->name),
                           dfl_sym_text(resolver->names, ranks[as].name), dfl_sym_text(resolver->names, ranks[found].name));
            dfl_diag_label(resolver->sink, d, first->span, "here it is `%s`", dfl_sym_text(resolver->names, ranks[as].name));
            dfl_diag_label(resolver->sink, d, me->inputs[i].span, "here it is `%s`",
                           dfl_sym_text(resolver->names, ranks[found].name));
            dfl_diag_help(resolver->sink, d, "move the loop into the branches of the einsums that have `%s`",
                          dfl_sym_text(resolver->names, ranks[line->rank].name));
            resolver->ok = false;
            return;
        }
    }
}

/* Binds one loop for every einsum below the body of the loop, in rounds, until a round binds none. */
static void bind_line(path_resolver *resolver, const dfl_body *body, const dfl_line *line)
{
    bool *bound = resolver->bound, progress = true;

    for (uint32_t k = 0; k < body->n_einsums; k++)
        bound[body->einsums[k]] = false;
    for (uint32_t k = 0; k < body->n_einsums; k++) {
        uint32_t e = body->einsums[k];
        dfl_path_step *s = find_step(resolver, e, line);
        if (line->kind == DFL_LINE_SPATIAL && line->only && !is_listed(line->only, line->n_only, e)) {
            s->bind = DFL_BIND_IDLE;
            bound[e] = true;
        } else if (dfl_einsum_has_rank(einsum_of(resolver, e), line->rank)) {
            s->bind = DFL_BIND_DIRECT;
            s->rank = line->rank;
            bound[e] = true;
        }
    }
    while (progress) {
        progress = false;
        for (uint32_t k = body->n_einsums; k-- > 0;) {
            uint32_t e = body->einsums[k], rank;
            if (bound[e] || (rank = find_followed(resolver, body, line, bound, e)) == DFL_NONE)
                continue;
            *find_step(resolver, e, line) = (dfl_path_step){ .line = line, .body = body, .bind = DFL_BIND_FOLLOW, .rank = rank };
            bound[e] = progress = true;
        }
        /* one NEED per round, so that every einsum tries FOLLOW before NEED */
        for (uint32_t k = body->n_einsums; !progress && line->kind == DFL_LINE_TEMPORAL && k-- > 0;) {
            uint32_t e = body->einsums[k];
            if (!bound[e] && feeds_bound(resolver, body, bound, e))
                bound[e] = progress = true; /* the loop remains a NEED of the einsum */
        }
    }
    for (uint32_t k = 0; k < body->n_einsums; k++) {
        if (!bound[body->einsums[k]])
            report_unreached(resolver, body, line, body->einsums[k]);
        else if (find_step(resolver, body->einsums[k], line)->bind == DFL_BIND_FOLLOW)
            check_followed(resolver, body, line, body->einsums[k]);
    }
}

/* Checks a loop by which consumers restrict a result: all consumers must index one dimension with the loop's rank. */
static void check_restriction(path_resolver *resolver, const dfl_path *p, const dfl_line *line)
{
    const dfl_access *first = NULL;
    uint32_t dim = DFL_NONE;

    for (uint32_t k = 0; k < p->exchange.n_consumers; k++) {
        const dfl_einsum *reader = einsum_of(resolver, p->exchange.consumers[k]);
        const dfl_path_step *s = find_step(resolver, p->exchange.consumers[k], line);
        uint32_t rank = s ? s->rank : DFL_NONE; /* a reader further out is not below the loop */
        for (uint32_t i = 0; i < reader->n_inputs && rank != DFL_NONE; i++) {
            const dfl_access *a = &reader->inputs[i];
            uint32_t found = a->tensor == p->exchange.tensor ? find_dim_with(a, rank) : DFL_NONE;
            if (found == DFL_NONE || found == dim)
                continue;
            if (dim == DFL_NONE) {
                first = a;
                dim = found;
                continue;
            }
            const char *name = dfl_sym_text(resolver->names, resolver->m->workload->tensors[a->tensor].name);
            dfl_diag *d = dfl_report(resolver->sink, DFL_MAP_CONFLICTING_RESTRICTION, line->span,
                                     "loop over `%s` restricts `%s` in two dimensions",
                                     dfl_sym_text(resolver->names, resolver->m->workload->ranks[line->rank].name), name);
            dfl_diag_label(resolver->sink, d, first->span, "dimension %u of `%s` here", dim + 1, name);
            dfl_diag_label(resolver->sink, d, a->span, "dimension %u of `%s` here", found + 1, name);
            dfl_diag_help(resolver->sink, d, "compute `%s` in a branch above this loop", name);
            resolver->ok = false;
            return;
        }
    }
}

/* Sets the exchange of `e`: the innermost branch with a later reader of its output, and these readers below the branch. */
static void find_exchange(path_resolver *resolver, uint32_t e)
{
    dfl_path *p = &resolver->paths->paths[e];
    uint32_t tensor = einsum_of(resolver, e)->output.tensor;
    const dfl_tensor *t = &resolver->m->workload->tensors[tensor];
    const dfl_body *best = NULL;
    DFL_VEC(uint32_t) consumers = { 0 };

    for (uint32_t k = 0; k < t->n_consumers; k++) {
        if (t->consumers[k] <= e)
            continue;
        const dfl_body *b = dfl_body_common(p->leaf, resolver->paths->paths[t->consumers[k]].leaf);
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
        if (t->consumers[k] > e && dfl_body_within(resolver->paths->paths[t->consumers[k]].leaf, outermost))
            DFL_PUSH(resolver->arena, &consumers, t->consumers[k]);
    p->exchange.consumers = consumers.at;
    p->exchange.n_consumers = (uint32_t)consumers.n;
    for (uint32_t i = 0; p->exchange.restricts && i < p->n_above; i++)
        if (p->steps[i].line->kind == DFL_LINE_TEMPORAL && p->steps[i].bind == DFL_BIND_NEED)
            check_restriction(resolver, p, p->steps[i].line);
    for (const dfl_body *b = best; b; b = b->parent)
        if (is_listed(b->recompute, b->n_recompute, tensor))
            p->exchange.recompute = true;
}

static const int64_t *find_extents(path_resolver *resolver, uint32_t producer, uint32_t c, uint32_t level);

/* Number of leading steps that two paths share. */
static uint32_t common_steps(const path_resolver *resolver, const dfl_path *a, const dfl_path *b)
{
    const dfl_body *common = dfl_body_common(a->leaf, b->leaf);

    return resolver->paths->step[common->id][common->n_lines];
}

/* Upper bound of the number of indices of dimension `d` of a restricted result that one iteration computes, from the
   first index to the last, below the first `level` steps; */
static int64_t find_wanted(path_resolver *resolver, const dfl_path *p, uint32_t d, int64_t extent, uint32_t level)
{
    dfl_windows w = { .alike = true, .in_order = true, .whole = true };
    bool again = p->exchange.recompute, inside = false;

    for (uint32_t k = 0; k < p->exchange.n_consumers; k++) {
        uint32_t shared = common_steps(resolver, p, &resolver->paths->paths[p->exchange.consumers[k]]);
        inside |= shared < level; /* the last iteration inside also computes the elements that readers outside read */
        level = shared < level ? shared : level;
    }
    for (uint32_t k = 0; k < p->exchange.n_consumers; k++) {
        uint32_t c = p->exchange.consumers[k];
        const dfl_einsum *reader = einsum_of(resolver, c);
        const int64_t *nominal = find_extents(resolver, p->einsum, c, level);
        for (uint32_t i = 0; i < reader->n_inputs; i++)
            if (reader->inputs[i].tensor == p->exchange.tensor)
                dfl_windows_add(resolver->m->workload, &reader->inputs[i].index[d], nominal, extent, &w);
        w.in_order &= !resolver->disordered[c];
        w.alike &= !resolver->paths->paths[c].exchange.restricts;
    }
    if (!w.whole) /* the last iteration computes all indices without a reader, which may be many */
        return extent;
    /* in windows that move upwards in order, only the upper end is new in an iteration */
    dfl_i128 size = w.n == 1 || w.in_order ? w.longest + (again ? w.apart : 0) : w.alike ? w.hi - w.lo : extent;
    resolver->disordered[p->einsum] |= again || inside || !w.in_order;
    return size < extent ? (int64_t)size : extent;
}

/* Reduces the extents of a restricted result's ranks to the window of its readers in one iteration, below its first
   `level` steps. */
static void restrict_ranks(path_resolver *resolver, const dfl_path *p, uint32_t level, int64_t *now)
{
    const dfl_access *out = &einsum_of(resolver, p->einsum)->output;

    for (uint32_t d = 0; p->has_exchange && p->exchange.restricts && d < out->n_dims; d++) {
        uint32_t rank;
        if (!dfl_index_is_bare(&out->index[d], &rank))
            continue;
        int64_t most = find_wanted(resolver, p, d, now[rank], level);
        now[rank] = most < now[rank] ? most : now[rank];
    }
}

/* Largest extents of a reader's ranks below its first `level` steps, as seen by a producer of its inputs. */
static const int64_t *find_extents(path_resolver *resolver, uint32_t producer, uint32_t c, uint32_t level)
{
    const dfl_workload *w = resolver->m->workload;
    const dfl_path *p = &resolver->paths->paths[c];
    extents *known = resolver->known[c];

    while (known && (known->producer != producer || known->level != level))
        known = known->next;
    if (known)
        return known->at;
    int64_t *now = DFL_NEW_ARRAY(resolver->arena, int64_t, w->n_ranks);
    bool *spread = DFL_NEW_ARRAY(resolver->arena, bool, w->n_ranks);
    for (uint32_t k = 0; k < w->n_ranks; k++)
        now[k] = w->ranks[k].extent;
    for (uint32_t i = 0; i <= level && dfl_budget_ok(dfl_arena_budget(resolver->arena)); i++) {
        if (i == (level < p->n_above ? level : p->n_above))
            restrict_ranks(resolver, p, i, now);
        if (i == level || p->steps[i].rank == DFL_NONE)
            continue;
        /* a producer with one instance serves all instances of the reader, so the spatial line does not divide the
           extent that this producer sees */
        spread[p->steps[i].rank] |= resolver->paths->paths[producer].steps[i].bind == DFL_BIND_IDLE;
        if (!spread[p->steps[i].rank])
            now[p->steps[i].rank] = p->steps[i].tile;
    }
    known = DFL_NEW(resolver->arena, extents);
    *known = (extents){ .producer = producer, .level = level, .at = now, .next = resolver->known[c] };
    resolver->known[c] = known;
    return now;
}

/* Sets and checks the tiles of all loops of one einsum; the tiles of its readers are set before. */
static void size_tiles(path_resolver *resolver, uint32_t e)
{
    const dfl_workload *w = resolver->m->workload;
    const dfl_einsum *me = einsum_of(resolver, e);
    dfl_path *p = &resolver->paths->paths[e];
    int64_t *now = resolver->left;

    for (uint32_t k = 0; k < me->n_ranks; k++)
        now[me->ranks[k]] = w->ranks[me->ranks[k]].extent;
    for (uint32_t i = 0; i <= p->n_steps; i++) {
        if (i == p->n_above)
            restrict_ranks(resolver, p, i, now);
        if (i == p->n_steps)
            break;
        dfl_path_step *s = &p->steps[i];
        if (s->line->kind == DFL_LINE_KEEP || s->rank == DFL_NONE)
            continue;
        s->nominal = now[s->rank];
        s->tile = s->line->by == DFL_BY_PARTS ? dfl_ceil_div(s->nominal, s->line->amount) : s->line->amount;
        resolver->ok &= dfl_path_check_tile(resolver->sink, resolver->names, resolver->m, p, i);
        if (s->tile > s->nominal || s->tile <= 0)
            s->tile = s->nominal;
        now[s->rank] = s->tile;
    }
    resolver->ok &= dfl_path_check_finished(resolver->sink, resolver->names, resolver->m, p, now);
}

/* Binds every loop and finds every exchange; sets no tiles. NULL after reporting. A report on an exchange also clears
   `ok`. */
static dfl_paths *bind(path_resolver *resolver)
{
    const dfl_mapping *m = resolver->m;
    uint32_t n = m->workload->n_einsums;
    dfl_budget *budget = dfl_arena_budget(resolver->arena);

    if (!dfl_path_check_coverage(resolver->arena, resolver->sink, resolver->names, m))
        return NULL;
    resolver->paths = DFL_NEW(resolver->arena, dfl_paths);
    resolver->paths->mapping = m;
    resolver->paths->paths = DFL_NEW_ARRAY(resolver->arena, dfl_path, n);
    resolver->paths->place = DFL_NEW_ARRAY(resolver->arena, int64_t, (size_t)n * m->system->n_axes + 1);
    resolver->bound = DFL_NEW_ARRAY(resolver->arena, bool, n);
    if (!dfl_paths_lay(resolver->arena, resolver->paths)) {
        dfl_report_stop(resolver->sink, budget);
        return NULL;
    }
    for (uint32_t b = 0; b < m->n_bodies; b++)
        for (uint32_t i = 0; i < m->bodies[b]->n_lines; i++) {
            if (!dfl_budget_ok(budget)) {
                dfl_report_stop(resolver->sink, budget);
                return NULL;
            }
            if (m->bodies[b]->lines[i].kind != DFL_LINE_KEEP)
                bind_line(resolver, m->bodies[b], &m->bodies[b]->lines[i]);
        }
    if (!resolver->ok)
        return NULL;
    for (uint32_t e = n; e-- > 0;)
        find_exchange(resolver, e);
    return resolver->paths;
}

/* Sets the tiles of all loops; false if the budget is used up. Illegal tiles clear `ok`. */
static bool size_all(path_resolver *resolver)
{
    uint32_t n = resolver->m->workload->n_einsums;

    resolver->known = DFL_NEW_ARRAY(resolver->arena, extents *, n);
    resolver->disordered = DFL_NEW_ARRAY(resolver->arena, bool, n);
    resolver->left = DFL_NEW_ARRAY(resolver->arena, int64_t, resolver->m->workload->n_ranks);
    for (uint32_t e = n; e-- > 0;)
        size_tiles(resolver, e);
    if (!dfl_budget_ok(dfl_arena_budget(resolver->arena)))
        return dfl_report_stop(resolver->sink, dfl_arena_budget(resolver->arena));
    return true;
}

dfl_paths *dfl_paths_bind(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping)
{
    path_resolver resolver = { .arena = arena, .sink = sink, .names = names, .m = mapping, .ok = true };

    if (bind(&resolver) == NULL)
        return NULL;
    for (uint32_t e = 0; e < mapping->workload->n_einsums; e++) {
        resolver.ok &= dfl_path_choose_compute(sink, names, mapping, &resolver.paths->paths[e]);
        resolver.ok &= dfl_path_check_keeps(sink, names, resolver.paths, e);
    }
    resolver.ok &= dfl_path_check_homes(arena, sink, names, resolver.paths);
    return resolver.ok ? resolver.paths : NULL;
}

static dfl_paths *resolve(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping)
{
    path_resolver resolver = { .arena = arena, .sink = sink, .names = names, .m = mapping, .ok = true };

    if (bind(&resolver) == NULL || !size_all(&resolver))
        return NULL;
    for (uint32_t e = 0; e < mapping->workload->n_einsums; e++) {
        resolver.ok &= dfl_path_choose_compute(sink, names, mapping, &resolver.paths->paths[e]);
        resolver.ok &= dfl_path_check_axes(sink, names, mapping, &resolver.paths->paths[e]);
        resolver.ok &= dfl_path_check_keeps(sink, names, resolver.paths, e);
    }
    resolver.ok = resolver.ok && dfl_path_check_stages(arena, sink, names, resolver.paths);
    resolver.ok &= dfl_path_check_homes(arena, sink, names, resolver.paths);
    resolver.ok &= dfl_path_check_complete(sink, names, resolver.paths);
    resolver.ok &= dfl_path_check_online(arena, sink, names, resolver.paths);
    return resolver.ok ? resolver.paths : NULL;
}

bool dfl_paths_resize(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, dfl_paths *paths)
{
    path_resolver resolver = { .arena = arena, .sink = sink, .names = names, .m = paths->mapping, .paths = paths, .ok = true };

    if (!size_all(&resolver))
        return false;
    for (uint32_t e = 0; e < paths->mapping->workload->n_einsums; e++)
        resolver.ok &= dfl_path_check_axes(sink, names, paths->mapping, &paths->paths[e]);
    resolver.ok = resolver.ok && dfl_path_check_stages(arena, sink, names, paths);
    /* these checks depend on the amounts, too: a loop with one iteration leaves no element incomplete */
    resolver.ok &= dfl_path_check_complete(sink, names, paths);
    return resolver.ok & dfl_path_check_online(arena, sink, names, paths);
}

/* Whether a mapping has a line, above its branches or in one of them. */
static bool has_lines(const dfl_mapping *mapping)
{
    for (uint32_t b = 0; b < mapping->n_bodies; b++)
        if (mapping->bodies[b]->n_lines > 0)
            return true;
    return mapping->root->n_lines > 0;
}

dfl_paths *dfl_paths_resolve(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping)
{
    const dfl_unrolled *unrolled;
    dfl_paths *paths;

    if (!has_lines(mapping)) {
        dfl_diag *d = dfl_report(sink, DFL_MAP_RANK_UNFINISHED, mapping->span, "mapping `%s` has no lines",
                                 dfl_sym_text(names, mapping->name));
        dfl_diag_help(sink, d, "write the keeps and loops, or `...;`: `dflc map` then finds all lines");
        return NULL;
    }
    if (mapping->workload->n_carries == 0)
        return resolve(arena, sink, names, mapping);
    if (!dfl_path_check_coverage(arena, sink, names, mapping))
        return NULL;
    unrolled = dfl_mapping_unroll(arena, sink, names, mapping);
    paths = unrolled ? resolve(arena, sink, names, unrolled->mapping) : NULL;
    if (paths)
        paths->unrolled = unrolled;
    return paths;
}
