/*
 * Rule 11: what a producer computes in each iteration of the loops above the branch in which its result is read. The
 * readers' accesses are enumerated for every iteration before the run; per dimension, an index is computed in the
 * first iteration that reads it, and what nobody reads in the last. Where readers stand below several branches, an
 * iteration of the loops above the outer one is divided in the same way by the loops above the inner one.
 */
#include <string.h>

#include "oracle/machine.h"

enum { NEED_LIMIT = 1 << 27 };  /* bits */

/* Whether an einsum stands below the brace of a step of another one. */
static bool stands_below(const oracle *o, uint32_t id, const dfl_path_step *step)
{
    return dfl_body_within(o->ein[id].path->leaf, step->body);
}

/* Whether the loop at `step` moves what is read of dimension `dim` of the einsum's output. */
static bool moves(const oracle *o, uint32_t id, uint32_t dim, uint32_t step)
{
    const dfl_exchange *x = &o->ein[id].path->exchange;

    for (uint32_t k = 0; k < x->n_consumers; k++) {
        const oracle_einsum *c = &o->ein[x->consumers[k]];
        if (!stands_below(o, x->consumers[k], &o->ein[id].path->steps[step]))
            continue;
        const dfl_path_step *s = &c->path->steps[step];
        for (uint32_t i = 0; i < c->e->n_inputs; i++) {
            const oracle_access *a = &c->in[i];
            if (a->tensor != x->tensor)
                continue;
            for (uint32_t r = 0; r < c->n_ranks; r++) {
                if (a->coef[dim * c->n_ranks + r] == 0)
                    continue;
                if (s->rank == c->e->ranks[r])
                    return true;
                for (uint32_t d = 0; s->bind == DFL_BIND_NEED && d < c->out.n_dims; d++)
                    if (c->out.coef[d * c->n_ranks + r] != 0 && c->path->has_exchange &&
                        moves(o, x->consumers[k], d, step))
                        return true;
            }
        }
    }
    return false;
}

/* ---- iterations of the loops above the branch -------------------------------------------------------------------- */

typedef DFL_VEC(uint32_t) index_list;

static void enumerate(oracle *o, const dfl_path *p, oracle_need *need, uint32_t step, uint32_t depth, index_list *out)
{
    const dfl_path_step *s = &p->steps[step];

    if (!oracle_work(o, 1))
        return;
    if (step == p->n_above) {
        for (uint32_t i = 0; i < need->n_lines; i++)
            DFL_PUSH(o->arena, out, o->at[need->lines[i]]);
        need->n_iter++;
        return;
    }
    if (s->line->kind != DFL_LINE_TEMPORAL) {
        enumerate(o, p, need, step + 1, depth, out);
        return;
    }
    uint32_t line = need->lines[depth];
    uint32_t n = oracle_trip(o, s->body, (uint32_t)(s->line - s->body->lines));
    for (o->at[line] = 0; o->at[line] < n && !o->failed; o->at[line]++)
        enumerate(o, p, need, step + 1, depth + 1, out);
    o->at[line] = 0;
}

static void go_to(oracle *o, const oracle_need *need, uint32_t iter)
{
    for (uint32_t i = 0; i < need->n_lines; i++)
        o->at[need->lines[i]] = need->index[iter * need->n_lines + i];
}

/* Compares the first `n` loops of an iteration with the present one. */
static int compare(const oracle *o, const oracle_need *need, uint32_t iter, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t then = need->index[iter * need->n_lines + i], now = o->at[need->lines[i]];
        if (then != now)
            return then < now ? -1 : 1;
    }
    return 0;
}

static uint32_t find(oracle *o, const oracle_need *need)
{
    uint32_t lo = 0, hi = need->n_iter;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        int order = compare(o, need, mid, need->n_lines);
        if (order == 0)
            return mid;
        if (order < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (!o->failed)
        dfl_report(o->sink, DFL_INTERNAL_ERROR, o->m->span, "an iteration that was not foreseen");
    o->failed = true;
    return 0;
}

/* ---- what is read ------------------------------------------------------------------------------------------------ */

typedef struct {
    uint32_t tensor, upto;
    uint8_t **read;            /* per dimension, by index */
    bool any;                  /* some reader works */
} read_data;

static void note_reads(oracle *o, uint32_t id, const oracle_piece *piece, const uint32_t *coord, void *data)
{
    read_data *r = data;
    const oracle_einsum *e = &o->ein[id];
    const dfl_tensor *t = &o->w->tensors[r->tensor];

    (void)coord;
    for (bool more = oracle_first_point(o, id, piece); more; more = oracle_next_point(o, id, piece)) {
        if (!oracle_runs(o, id, r->upto))
            continue;
        r->any = true;
        for (uint32_t i = 0; i < e->e->n_inputs; i++) {
            if (e->in[i].tensor != r->tensor)
                continue;
            /* each dimension for itself, wherever the others are */
            for (uint32_t d = 0; d < t->n_dims; d++) {
                dfl_i128 at = e->in[i].offset[d];
                for (uint32_t k = 0; k < e->n_ranks; k++)
                    at += (dfl_i128)e->in[i].coef[d * e->n_ranks + k] * e->x[k];
                if (at >= 0 && at < t->extents[d])
                    r->read[d][at] = 1;
            }
        }
    }
}

/* The loops above one branch, as positions among the temporal loops, and the steps above it. */
typedef struct { uint32_t first, end, steps; } branch;

/* Whether two iterations differ, down to the branch, at most in its loops from the `first` on that restrict dimension
   `d`. */
static bool same_group(const oracle_need *need, const branch *b, uint32_t d, uint32_t first, uint32_t a, uint32_t c)
{
    for (uint32_t i = 0; i < b->end; i++)
        if ((i < b->first || i < first || !need->restricts[d * need->n_lines + i]) &&
            need->index[a * need->n_lines + i] != need->index[c * need->n_lines + i])
            return false;
    return true;
}

/* Whether two iterations are the same down to the branch. */
static bool same_place(const oracle_need *need, const branch *b, uint32_t a, uint32_t c)
{
    return memcmp(&need->index[a * need->n_lines], &need->index[c * need->n_lines], b->end * sizeof *need->index) == 0;
}

/* From what is read below the branch in each iteration to what is computed in it. `first`: loops before it make
   everything be computed again. */
static void allow(oracle *o, const oracle_need *need, const branch *b, uint32_t d, int64_t extent, uint32_t first,
                  uint8_t *const *read)
{
    uint32_t n = need->n_dims;

    for (uint32_t it = 0; it < need->n_iter && oracle_work(o, need->n_iter); it++) {
        uint8_t *out = DFL_NEW_ARRAY(o->arena, uint8_t, (size_t)extent);
        uint8_t *ever = DFL_NEW_ARRAY(o->arena, uint8_t, (size_t)extent);
        bool last = true;
        for (int64_t i = 0; i < extent; i++)
            out[i] = read[it * n + d][i];
        for (uint32_t other = 0; other < need->n_iter && oracle_work(o, (uint64_t)extent); other++) {
            if (!same_group(need, b, d, 0, it, other))
                continue;
            bool here = same_place(need, b, it, other);
            bool kept = other < it && !here && same_group(need, b, d, first, it, other);
            last &= other <= it || here;
            for (int64_t i = 0; i < extent; i++) {
                ever[i] |= read[other * n + d][i];
                if (kept)
                    out[i] = out[i] && !read[other * n + d][i];
            }
        }
        for (int64_t i = 0; last && i < extent; i++)
            out[i] |= !ever[i];
        /* an inner branch divides what the outer ones let through */
        for (int64_t i = 0; need->allowed[it * n + d] && i < extent; i++)
            out[i] = out[i] && need->allowed[it * n + d][i];
        need->allowed[it * n + d] = out;
    }
}

typedef struct { uint32_t iter; oracle_need *need; } mark_data;

static bool permitted(const oracle *o, const oracle_einsum *e, uint32_t iter)
{
    const oracle_need *need = &e->need;
    const dfl_tensor *t = &o->w->tensors[e->out.tensor];
    uint32_t elem = oracle_element(o, e, &e->out);

    if (!need->works[iter] || elem == DFL_NONE)
        return false;
    for (uint32_t d = t->n_dims; d-- > 0; elem /= (uint32_t)t->extents[d]) {
        const uint8_t *allowed = need->allowed[iter * need->n_dims + d];
        if (allowed && !allowed[elem % (uint32_t)t->extents[d]])
            return false;
    }
    return true;
}

static void mark_runs(oracle *o, uint32_t id, const oracle_piece *piece, const uint32_t *coord, void *data)
{
    mark_data *m = data;
    const oracle_einsum *e = &o->ein[id];

    (void)coord;
    for (bool more = oracle_first_point(o, id, piece); more; more = oracle_next_point(o, id, piece)) {
        uint32_t point = oracle_point_index(e);
        if (permitted(o, e, m->iter))
            m->need->runs[m->iter][point / 8] |= (uint8_t)(1u << point % 8);
    }
}

/* Finds the loops above the branch, and which of them restrict what. */
static void find_loops(oracle *o, uint32_t id)
{
    oracle_einsum *e = &o->ein[id];
    oracle_need *need = &e->need;
    const dfl_path *p = e->path;

    need->n_dims = e->out.n_dims;
    need->lines = DFL_NEW_ARRAY(o->arena, uint32_t, p->n_above + 1);
    need->restricts = DFL_NEW_ARRAY(o->arena, bool, (size_t)(need->n_dims + 1) * (p->n_above + 1));
    for (uint32_t s = 0; s < p->n_above; s++)
        need->n_lines += p->steps[s].line->kind == DFL_LINE_TEMPORAL;
    for (uint32_t s = 0, i = 0; s < p->n_above; s++) {
        const dfl_path_step *step = &p->steps[s];
        if (step->line->kind != DFL_LINE_TEMPORAL)
            continue;
        need->lines[i] = o->line_base[step->body->id] + (uint32_t)(step->line - step->body->lines);
        for (uint32_t d = 0; step->bind == DFL_BIND_NEED && d < need->n_dims; d++)
            need->restricts[d * need->n_lines + i] = moves(o, id, d, s);
        i++;
    }
}

/* What `recompute` changes, by positions among the temporal loops above the outermost branch with readers. */
typedef struct {
    uint32_t above;            /* loops above the tensor's keep */
    uint32_t start;            /* loops before this one bring back what had left the keep */
    uint32_t innermost;        /* the innermost from `start` to `above` that selects a part of the tensor, or DFL_NONE */
} again;

/* Whether the loop has a second iteration anywhere. */
static bool iterates(const oracle_need *need, uint32_t line)
{
    for (uint32_t it = 0; it < need->n_iter; it++)
        if (need->index[it * need->n_lines + line] > 0)
            return true;
    return false;
}

/* Whether two loops restrict one dimension both. */
static bool same_dim(const oracle_need *need, uint32_t a, uint32_t b)
{
    for (uint32_t d = 0; d < need->n_dims; d++)
        if (need->restricts[d * need->n_lines + a] && need->restricts[d * need->n_lines + b])
            return true;
    return false;
}

static again find_again(const oracle_einsum *e, const branch *b)
{
    const oracle_need *need = &e->need;
    const dfl_path *p = e->path;
    again a = { .innermost = DFL_NONE };
    uint32_t keep = 0;

    if (!p->exchange.recompute)
        return a;
    for (uint32_t s = 0; s < b->steps; s++)
        if (p->steps[s].line->kind == DFL_LINE_KEEP && p->steps[s].line->tensor == e->out.tensor)
            keep = s;
    for (uint32_t s = 0; s < keep; s++) {
        const dfl_path_step *step = &p->steps[s];
        bool selects = false;
        if (step->line->kind != DFL_LINE_TEMPORAL)
            continue;
        for (uint32_t d = 0; d < e->out.n_dims; d++) {
            selects |= need->restricts[d * need->n_lines + a.above];
            selects |= step->rank != DFL_NONE && e->out.coef[d * e->n_ranks + e->local[step->rank]] != 0;
        }
        if (step->body != p->steps[keep].body)
            a.start = a.above + 1;
        else if (selects && iterates(need, a.above))
            a.innermost = a.above;
        a.above++;
    }
    /* the loops around the innermost over the same dimension belong to it; the next other one starts anew */
    for (uint32_t i = a.innermost; i != DFL_NONE && i-- > a.start;)
        if (iterates(need, i) && !same_dim(need, i, a.innermost))
            a.start = i + 1;
    return a;
}

/* Whether an iteration is the first of every loop that restricts no dimension, those apart that repeat the work. */
static bool works(const oracle_einsum *e, const again *a, uint32_t iter)
{
    const oracle_need *need = &e->need;

    for (uint32_t s = 0, i = 0; s < e->path->n_above; s++) {
        bool any = false;
        if (e->path->steps[s].line->kind != DFL_LINE_TEMPORAL)
            continue;
        for (uint32_t d = 0; d < need->n_dims; d++)
            any |= need->restricts[d * need->n_lines + i];
        if (e->path->steps[s].bind == DFL_BIND_NEED && !any && i >= a->start && need->index[iter * need->n_lines + i] > 0)
            return false;
        i++;
    }
    return true;
}

/* The loops that come after those of another branch and have the same readers below their braces; none after the last. */
static branch next_branch(const oracle *o, uint32_t id, const branch *after)
{
    const oracle_einsum *e = &o->ein[id];
    const dfl_exchange *x = &e->path->exchange;
    branch b = { .first = after ? after->end : 0, .steps = e->path->n_above };
    uint32_t first = DFL_NONE, loops = 0;

    b.end = b.first;
    for (uint32_t s = 0; s < e->path->n_above; s++) {
        const dfl_path_step *step = &e->path->steps[s];
        bool same = true, loop = step->line->kind == DFL_LINE_TEMPORAL;
        if (first == DFL_NONE && (!loop || loops++ < b.first))
            continue;
        first = first == DFL_NONE ? s : first;
        for (uint32_t k = 0; k < x->n_consumers; k++)
            same &= stands_below(o, x->consumers[k], step) == stands_below(o, x->consumers[k], &e->path->steps[first]);
        if (!same) {
            b.steps = s;
            break;
        }
        b.end += loop;
    }
    return b;
}

/* Divides the work among the iterations of a branch's loops, per dimension that they restrict. */
static void divide(oracle *o, uint32_t id, const branch *b, const again *again_at)
{
    oracle_einsum *e = &o->ein[id];
    oracle_need *need = &e->need;
    const dfl_tensor *t = &o->w->tensors[e->out.tensor];
    const dfl_exchange *x = &e->path->exchange;
    uint8_t **read = DFL_NEW_ARRAY(o->arena, uint8_t *, (size_t)need->n_iter * need->n_dims + 1);
    bool *any = DFL_NEW_ARRAY(o->arena, bool, need->n_iter);

    for (uint32_t it = 0; it < need->n_iter && !o->failed; it++) {
        read_data r = { .tensor = x->tensor, .upto = b->steps, .read = &read[(size_t)it * need->n_dims] };
        for (uint32_t d = 0; d < need->n_dims; d++)
            r.read[d] = DFL_NEW_ARRAY(o->arena, uint8_t, (size_t)t->extents[d]);
        go_to(o, need, it);
        for (uint32_t k = 0; k < x->n_consumers; k++)
            if (stands_below(o, x->consumers[k], &e->path->steps[b->steps - 1]))
                oracle_blocks(o, x->consumers[k], b->steps, note_reads, &r);
        any[it] = r.any;
    }
    /* loops that repeat the work do so where some reader works inside of them */
    const branch outside = { .end = again_at->start };
    for (uint32_t it = 0; b->first == 0 && it < need->n_iter && oracle_work(o, need->n_iter); it++) {
        bool asked = !x->recompute;
        for (uint32_t other = 0; other < need->n_iter; other++)
            asked |= any[other] && same_place(need, &outside, it, other);
        need->works[it] = asked && works(e, again_at, it);
    }
    for (uint32_t d = 0; d < need->n_dims && !o->failed; d++) {
        bool restricted = false;
        for (uint32_t i = b->first; i < b->end; i++)
            restricted |= need->restricts[d * need->n_lines + i];
        if (restricted)
            allow(o, need, b, d, t->extents[d], again_at->start, read);
    }
}

bool oracle_prepare(oracle *o, uint32_t id)
{
    oracle_einsum *e = &o->ein[id];
    oracle_need *need = &e->need;
    const dfl_exchange *x = &e->path->exchange;
    index_list iterations = { 0 };

    if (!e->path->has_exchange || !x->restricts || need->state == NEED_READY || need->uncut)
        return !o->failed;
    if (need->state == NEED_BUSY) {
        oracle_unsupported(o, e->e->span, "a fused einsum that restricts itself");
        return false;
    }
    need->state = NEED_BUSY;
    for (uint32_t k = 0; k < x->n_consumers; k++)
        if (!oracle_prepare(o, x->consumers[k]))
            return false;
    find_loops(o, id);
    uint32_t *saved = DFL_NEW_ARRAY(o->arena, uint32_t, o->n_lines + 1);
    for (uint32_t i = 0; i < o->n_lines; i++)
        saved[i] = o->at[i];
    enumerate(o, e->path, need, 0, 0, &iterations);
    need->index = iterations.at;
    if (!o->failed && (uint64_t)need->n_iter * e->n_points > NEED_LIMIT) {
        dfl_report(o->sink, DFL_LIMIT_STEPS, o->m->span, "too large to be executed step by step");
        o->failed = true;
    }
    if (o->failed)
        return false;
    need->works = DFL_NEW_ARRAY(o->arena, bool, need->n_iter);
    need->allowed = DFL_NEW_ARRAY(o->arena, uint8_t *, (size_t)need->n_iter * need->n_dims + 1);
    need->runs = DFL_NEW_ARRAY(o->arena, uint8_t *, need->n_iter);
    branch b = next_branch(o, id, NULL);
    const again again_at = find_again(e, &b), never = { .innermost = DFL_NONE };
    for (; b.end > b.first; b = next_branch(o, id, &b))
        divide(o, id, &b, b.first == 0 ? &again_at : &never);
    need->uncut = true;
    for (uint32_t it = 0; it < need->n_iter && !o->failed; it++) {
        mark_data m = { it, need };
        need->runs[it] = DFL_NEW_ARRAY(o->arena, uint8_t, e->n_points / 8 + 1);
        go_to(o, need, it);
        oracle_blocks(o, id, e->path->n_above, mark_runs, &m);
    }
    need->uncut = false;
    for (uint32_t i = 0; i < o->n_lines; i++)
        o->at[i] = saved[i];
    need->state = NEED_READY;
    return !o->failed;
}

void oracle_start_anew(oracle *o, uint32_t id)
{
    oracle_einsum *e = &o->ein[id];
    uint32_t it = find(o, &e->need);

    if (o->failed)
        return;
    for (uint32_t r = 0; r < e->n_ranks; r++)
        e->piece[r] = (oracle_piece){ 0, e->extent[r] };
    for (bool more = oracle_first_point(o, id, e->piece); more; more = oracle_next_point(o, id, e->piece)) {
        uint32_t point = oracle_point_index(e), elem = oracle_element(o, e, &e->out);
        if (elem == DFL_NONE || !(e->need.runs[it][point / 8] >> point % 8 & 1))
            continue;
        o->ten[e->out.tensor].released[elem] = false;
        for (size_t i = 0; i < o->keeps.n; i++) {
            const oracle_keep *k = o->keeps.at[i];
            for (uint32_t inst = 0; k->tensor == e->out.tensor && inst < k->n_inst; inst++) {
                oracle_cell *c = &k->cells[(size_t)inst * k->n_elem + elem];
                *c = (oracle_cell){ .present = c->present };
            }
        }
    }
}

bool oracle_runs(oracle *o, uint32_t id, uint32_t upto)
{
    oracle_einsum *e = &o->ein[id];
    const dfl_path *p = e->path;
    uint32_t point, n = 0;

    if (!p->has_exchange || !p->exchange.restricts)
        return true;
    if (o->failed)
        return false;
    point = oracle_point_index(e);
    if (upto >= p->n_above)
        return e->need.runs[find(o, &e->need)][point / 8] >> point % 8 & 1;
    for (uint32_t s = 0; s < upto; s++)
        n += p->steps[s].line->kind == DFL_LINE_TEMPORAL;
    for (uint32_t it = 0; it < e->need.n_iter; it++)
        if (compare(o, &e->need, it, n) == 0 && e->need.runs[it][point / 8] >> point % 8 & 1)
            return oracle_work(o, it);
    return false;
}

bool oracle_need_cut(oracle *o, uint32_t id, oracle_piece *piece)
{
    oracle_einsum *e = &o->ein[id];

    if (e->need.uncut)
        return true;
    uint32_t it = find(o, &e->need);
    if (o->failed || !e->need.works[it])
        return false;
    for (uint32_t d = 0; d < e->need.n_dims; d++) {
        const uint8_t *allowed = e->need.allowed[it * e->need.n_dims + d];
        uint32_t rank;
        if (!allowed || !dfl_index_is_bare(&e->e->output.index[d], &rank))
            continue;
        oracle_piece *p = &piece[e->local[rank]];
        while (p->lo < p->hi && !allowed[p->lo])
            p->lo++;
        while (p->lo < p->hi && !allowed[p->hi - 1])
            p->hi--;
        if (p->lo >= p->hi)
            return false;
    }
    return true;
}
