/* Positions of ranks. */
#include "model/sets/position.h"

#include <string.h>

#include "model/sets/demand.h"
#include "support/vec.h"

void dfl_setting_refuse(dfl_setting *set, dfl_span at, const char *what, const char *help)
{
    if (set->refused)
        return;
    set->refused = true;
    dfl_diag *d = dfl_report(set->sink, DFL_EVAL_UNSUPPORTED, at, "%s is checked, but not evaluated", what);
    dfl_diag_help(set->sink, d, "%s", help);
}

uint32_t dfl_place_driver(const dfl_setting *set, uint32_t e, uint32_t i)
{
    const dfl_path *p = &set->paths->paths[e];

    if (p->steps[i].rank != DFL_NONE)
        return e;
    for (uint32_t k = 0; k < p->steps[i].body->n_einsums; k++) {
        uint32_t f = p->steps[i].body->einsums[k];
        if (set->paths->paths[f].steps[i].rank != DFL_NONE)
            return f;
    }
    return DFL_NONE;
}

/* Dimension of the output that is `rank` bare, where consumers restrict it; else NULL. */
static const dfl_dim_want *want_of(const dfl_setting *set, uint32_t e, uint32_t rank, uint32_t *dim)
{
    const dfl_access *out = &set->w->einsums[e].output;

    for (uint32_t d = 0; set->wants[e] && d < out->n_dims; d++) {
        uint32_t found;
        if (set->wants[e][d].restricted && dfl_index_is_bare(&out->index[d], &found) && found == rank) {
            *dim = d;
            return &set->wants[e][d];
        }
    }
    return NULL;
}

/* Hull of what the consumers read of dimension `d` below their first `n` steps; empty if nothing. */
static dfl_run read_at(const dfl_setting *set, uint32_t e, uint32_t d, const dfl_dim_want *want, uint32_t n,
                       const int64_t *pos)
{
    uint32_t tensor = set->w->einsums[e].output.tensor;
    int64_t extent = set->w->tensors[tensor].extents[d];
    dfl_run all = { INT64_MAX, INT64_MIN };

    for (uint32_t k = 0; k < want->n_consumers; k++) {
        const dfl_einsum *c = &set->w->einsums[want->consumers[k]];
        for (uint32_t i = 0; i < c->n_inputs; i++) {
            const dfl_access *a = &c->inputs[i];
            if (a->tensor != tensor)
                continue;
            dfl_run r = { a->index[d].offset, a->index[d].offset + 1 };
            bool empty = false;
            for (uint32_t t = 0; t < a->index[d].n_terms; t++) {
                dfl_run piece = dfl_place_rank(set, want->consumers[k], a->index[d].terms[t].rank, n, pos);
                int64_t coef = a->index[d].terms[t].coef;
                empty |= piece.hi <= piece.lo;
                r.lo += coef * (coef > 0 ? piece.lo : piece.hi - 1);
                r.hi += coef * (coef > 0 ? piece.hi - 1 : piece.lo);
            }
            r.lo = r.lo < 0 ? 0 : r.lo;
            r.hi = r.hi > extent ? extent : r.hi;
            if (empty || r.hi <= r.lo)
                continue;
            all.lo = r.lo < all.lo ? r.lo : all.lo;
            all.hi = r.hi > all.hi ? r.hi : all.hi;
        }
    }
    return all.lo < all.hi ? all : (dfl_run){ 0, 0 };
}

/* Moves `pos` to the position before it in the order of the lines; false at the first. */
static bool step_back(const dfl_setting *set, const dfl_dim_want *want, uint32_t n, int64_t *pos)
{
    for (uint32_t k = want->n_lines; k-- > 0;) {
        uint32_t i = want->lines[k];
        if (i >= n || pos[i] == 0)
            continue;
        pos[i]--;
        for (uint32_t j = k + 1; j < want->n_lines; j++) {
            uint32_t inner = want->lines[j];
            if (inner < n)
                pos[inner] = dfl_place_trips(set, want->driver[j], inner, pos) - 1;
        }
        return true;
    }
    return false;
}

static bool is_last(const dfl_setting *set, const dfl_dim_want *want, uint32_t n, const int64_t *pos)
{
    for (uint32_t k = 0; k < want->n_lines; k++) {
        uint32_t i = want->lines[k];
        if (i < n && pos[i] + 1 < dfl_place_trips(set, want->driver[k], i, pos))
            return false;
    }
    return true;
}

/* What a restricted producer computes of dimension `d` below the first `n` steps. Windows only move up (checked at the start). */
static dfl_run wanted_at(const dfl_setting *set, uint32_t e, uint32_t d, const dfl_dim_want *want, uint32_t n,
                         const int64_t *pos)
{
    int64_t extent = set->w->tensors[set->w->einsums[e].output.tensor].extents[d], done = 0;
    dfl_run now = read_at(set, e, d, want, n, pos);
    int64_t back[DFL_MAX_STEPS];
    bool last = is_last(set, want, n, pos);

    memcpy(back, pos, sizeof back);
    while (step_back(set, want, n, back)) {
        dfl_run before = read_at(set, e, d, want, n, back);
        if (before.hi > before.lo) {
            done = before.hi;
            break;
        }
    }
    if (now.hi <= now.lo)
        now = (dfl_run){ done, done };
    now.lo = now.lo < done ? done : now.lo;
    now.hi = now.hi < now.lo ? now.lo : now.hi;
    if (last && now.hi < extent)
        now.hi = extent;
    return now;
}

static dfl_run hull(const dfl_runs *s) { return s->n ? (dfl_run){ s->at[0].lo, s->at[s->n - 1].hi } : (dfl_run){ 0, 0 }; }

static dfl_run cut(dfl_run piece, const dfl_path_step *s, int64_t at)
{
    int64_t lo = piece.lo + at * s->tile;

    if (lo >= piece.hi)
        return (dfl_run){ piece.hi, piece.hi };
    return (dfl_run){ lo, piece.hi - lo > s->tile ? lo + s->tile : piece.hi };
}

dfl_run dfl_place_rank(const dfl_setting *set, uint32_t e, uint32_t rank, uint32_t n, const int64_t *pos)
{
    const dfl_path *p = &set->paths->paths[e];
    dfl_run piece = { 0, set->w->ranks[rank].extent };
    uint32_t dim = 0, i = 0;
    const dfl_dim_want *want = want_of(set, e, rank, &dim);

    if (want) {
        i = n < want->end ? n : want->end;
        piece = want->gaps ? hull(dfl_want_set(set, e, dim, i, pos)) : wanted_at(set, e, dim, want, i, pos);
    }
    for (; i < n; i++)
        if (p->steps[i].rank == rank && p->steps[i].line->kind != DFL_LINE_KEEP)
            piece = cut(piece, &p->steps[i], pos[i]);
    return piece;
}

bool dfl_place_has_gaps(const dfl_setting *set, uint32_t e, uint32_t rank)
{
    uint32_t dim;
    const dfl_dim_want *want = want_of(set, e, rank, &dim);

    return want && want->gaps;
}

void dfl_place_set(const dfl_setting *set, uint32_t e, uint32_t rank, uint32_t n, const int64_t *pos, dfl_runs *out)
{
    dfl_run piece = dfl_place_rank(set, e, rank, n, pos);
    uint32_t dim;
    const dfl_dim_want *want = want_of(set, e, rank, &dim);

    dfl_runs_clear(out);
    if (!want || !want->gaps) {
        dfl_runs_add(set->arena, out, piece.lo, piece.hi);
        return;
    }
    const dfl_runs *all = dfl_want_set(set, e, dim, n, pos);
    for (size_t k = 0; k < all->n; k++)
        dfl_runs_add(set->arena, out, all->at[k].lo < piece.lo ? piece.lo : all->at[k].lo,
                     all->at[k].hi > piece.hi ? piece.hi : all->at[k].hi);
}

int64_t dfl_place_trips(const dfl_setting *set, uint32_t e, uint32_t i, const int64_t *pos)
{
    const dfl_path *p = &set->paths->paths[e];
    int64_t first[DFL_MAX_STEPS];

    memcpy(first, pos, sizeof first);
    for (uint32_t k = 0; k < i; k++)
        if (p->steps[k].line->kind == DFL_LINE_SPATIAL)
            first[k] = 0;
    dfl_run piece = dfl_place_rank(set, e, p->steps[i].rank, i, first);
    return piece.hi <= piece.lo ? 1 : dfl_ceil_div(piece.hi - piece.lo, p->steps[i].tile);
}

uint64_t dfl_place_cuts(const dfl_setting *set, uint32_t e, uint32_t rank, uint32_t n)
{
    const dfl_einsum *einsum = &set->w->einsums[e];

    for (uint32_t k = 0; k < einsum->n_ranks; k++)
        if (einsum->ranks[k] == rank)
            return set->cuts[e][k] & dfl_steps_below(n);
    return 0;
}

void dfl_place_lines(const dfl_setting *set, uint32_t e, uint32_t rank, uint32_t n, uint64_t *bits)
{
    uint32_t dim;
    const dfl_dim_want *want = want_of(set, e, rank, &dim);

    for (uint32_t k = 0; want && k < want->n_lines && want->lines[k] < n; k++)
        *bits |= UINT64_C(1) << want->lines[k];
    *bits |= dfl_place_cuts(set, e, rank, n);
}
