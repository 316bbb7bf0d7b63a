/* Positions of ranks. */
#include "model/sets/rank_piece.h"

#include <string.h>

#include "support/vec.h"

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

/* ---- demand as sets ---- */

/* A set found before, by the positions of the lines that decide it. */
typedef struct dfl_known {
    uint32_t n;                /* lines that are fixed: the first n */
    const int64_t *pos;        /* of those */
    dfl_runs runs;
    const dfl_runs *joined;    /* with what outer branches let through; NULL = not asked yet */
    struct dfl_known *next;
} known;

enum { BUCKETS = 256 };

static uint32_t fixed_lines(const dfl_dim_want *want, uint32_t n)
{
    uint32_t k = 0;

    while (k < want->n_lines && want->lines[k] < n)
        k++;
    return k;
}

static known **bucket(const dfl_setting *set, dfl_dim_want *want, uint32_t n, const int64_t *pos)
{
    uint64_t hash = n;

    if (!want->known || want->run != set->run)
        want->known = DFL_NEW_ARRAY(set->arena, known *, BUCKETS);
    want->run = set->run;
    for (uint32_t k = 0; k < n; k++)
        hash = (hash ^ (uint64_t)pos[want->lines[k]]) * UINT64_C(0x9E3779B97F4A7C15);
    return &want->known[hash >> 56];
}

static known *find(const dfl_setting *set, dfl_dim_want *want, uint32_t n, const int64_t *pos)
{
    known *at = *bucket(set, want, n, pos);

    for (; at; at = at->next) {
        bool same = at->n == n;
        for (uint32_t k = 0; same && k < n; k++)
            same = at->pos[k] == pos[want->lines[k]];
        if (same)
            break;
    }
    return at;
}

static known *insert(const dfl_setting *set, dfl_dim_want *want, uint32_t n, const int64_t *pos)
{
    known **first = bucket(set, want, n, pos), *at = DFL_NEW(set->arena, known);
    int64_t *own = DFL_NEW_ARRAY(set->arena, int64_t, n + 1);

    for (uint32_t k = 0; k < n; k++)
        own[k] = pos[want->lines[k]];
    *at = (known){ .n = n, .pos = own, .next = *first };
    *first = at;
    return at;
}

/* Next coordinates of spatial lines; false after the last. */
static bool next_coordinate(const dfl_setting *set, const dfl_path *p, uint64_t lines, int64_t *pos)
{
    for (; lines; lines &= ~(UINT64_C(1) << (63 - __builtin_clzll(lines)))) {
        uint32_t i = 63 - (uint32_t)__builtin_clzll(lines), driver = dfl_place_driver(set, p->einsum, i);
        const dfl_path_step *s = &set->paths->paths[driver].steps[i];
        if (pos[i] + 1 < dfl_ceil_div(s->nominal, s->tile)) {
            pos[i]++;
            return true;
        }
        pos[i] = 0;
    }
    return false;
}

/* What the readers read of dimension `d` below the first `n` steps, in any instance. */
static void read_set(const dfl_setting *set, const dfl_dim_want *want, uint32_t e, uint32_t d, uint32_t n,
                     const int64_t *pos, dfl_runs *out)
{
    uint32_t tensor = set->w->einsums[e].output.tensor;
    const dfl_run shape = { 0, set->w->tensors[tensor].extents[d] };
    dfl_runs piece = { 0 }, sum = { 0 }, next = { 0 };
    int64_t at[DFL_MAX_STEPS];

    dfl_runs_clear(out);
    memcpy(at, pos, sizeof at);
    for (uint32_t k = 0; k < want->n_consumers; k++) {
        uint32_t c = want->consumers[k];
        const dfl_einsum *reader = &set->w->einsums[c];
        for (uint32_t i = 0; i < reader->n_inputs; i++) {
            const dfl_index *index = &reader->inputs[i].index[d];
            uint64_t spatial = 0;
            if (reader->inputs[i].tensor != tensor)
                continue;
            for (uint32_t t = 0; t < index->n_terms; t++)
                dfl_place_lines(set, c, index->terms[t].rank, n, &spatial);
            for (uint32_t s = 0; s < n; s++)
                if (set->paths->paths[c].steps[s].line->kind != DFL_LINE_SPATIAL)
                    spatial &= ~(UINT64_C(1) << s);
                else
                    at[s] = 0;
            do {
                dfl_runs_clear(&sum);
                dfl_runs_add(set->arena, &sum, index->offset, index->offset + 1);
                for (uint32_t t = 0; t < index->n_terms; t++) {
                    dfl_place_set(set, c, index->terms[t].rank, n, at, &piece);
                    dfl_runs_sum(set->arena, &next, &sum, index->terms[t].coef, &piece);
                    dfl_runs swap = sum;
                    sum = next;
                    next = swap;
                }
                for (size_t r = 0; r < sum.n && dfl_budget_spend(dfl_arena_budget(set->arena), 2); r++)
                    dfl_runs_add(set->arena, out, sum.at[r].lo < shape.lo ? shape.lo : sum.at[r].lo,
                                 sum.at[r].hi > shape.hi ? shape.hi : sum.at[r].hi);
            } while (next_coordinate(set, &set->paths->paths[c], spatial, at));
        }
    }
    dfl_runs_normalise(out);
}

static bool steps_through(const dfl_dim_want *want, uint32_t k) { return want->stepping >> want->lines[k] & 1; }

/* Moves to the next position of the own loops of the branch among the first `fixed` lines; DFL_NONE after the last,
   else the step that advanced. */
static uint32_t advance(const dfl_setting *set, const dfl_dim_want *want, uint32_t fixed, int64_t *pos)
{
    for (uint32_t k = fixed; k-- > 0;) {
        uint32_t i = want->lines[k];
        if (!steps_through(want, k))
            continue;
        if (pos[i] + 1 < dfl_place_trips(set, want->driver[k], i, pos)) {
            pos[i]++;
            return i;
        }
        pos[i] = 0;
    }
    return DFL_NONE;
}

/* Goes through the positions of the branch's own loops around `pos`. */
static void fill(const dfl_setting *set, dfl_dim_want *want, uint32_t e, uint32_t d, uint32_t n, uint32_t fixed,
                 const int64_t *pos)
{
    dfl_runs read = { 0 }, done = { 0 }, ever = { 0 }, unread = { 0 }, all = { 0 };
    int64_t at[DFL_MAX_STEPS];
    uint32_t moved;
    known *last;

    memcpy(at, pos, sizeof at);
    for (uint32_t k = 0; k < fixed; k++)
        if (steps_through(want, k))
            at[want->lines[k]] = 0;
    dfl_runs_clear(&done);
    dfl_runs_clear(&ever);
    do {
        last = insert(set, want, fixed, at);
        read_set(set, want, e, d, n, at, &read);
        dfl_runs_subtract(set->arena, &last->runs, &read, &done);
        dfl_runs_unite(set->arena, &ever, &read);
        dfl_runs_normalise(&ever);
        moved = advance(set, want, fixed, at);
        dfl_runs_unite(set->arena, &done, &read);
        dfl_runs_normalise(&done);
        if (moved < want->from)
            dfl_runs_clear(&done);
    } while (moved != DFL_NONE && dfl_budget_spend(dfl_arena_budget(set->arena), 1 + read.n + done.n));
    dfl_runs_clear(&all);
    dfl_runs_add(set->arena, &all, 0, set->w->tensors[set->w->einsums[e].output.tensor].extents[d]);
    dfl_runs_subtract(set->arena, &unread, &all, &ever);
    dfl_runs_unite(set->arena, &last->runs, &unread);
    dfl_runs_normalise(&last->runs);
}

/* What one branch lets through. */
static known *level_set(const dfl_setting *set, dfl_dim_want *want, uint32_t e, uint32_t d, uint32_t n,
                        const int64_t *pos)
{
    n = n < want->end ? n : want->end;
    uint32_t fixed = fixed_lines(want, n);
    known *at = find(set, want, fixed, pos);

    if (!at) {
        fill(set, want, e, d, n, fixed, pos);
        at = find(set, want, fixed, pos);
    }
    /* nothing where the loops never are, and when the budget stopped */
    return at ? at : insert(set, want, fixed, pos);
}

static const dfl_runs *dfl_want_set(const dfl_setting *set, uint32_t e, uint32_t d, uint32_t n, const int64_t *pos)
{
    known *own = level_set(set, &set->wants[e][d], e, d, n, pos);

    if (own->joined)
        return own->joined;
    own->joined = &own->runs;
    for (dfl_dim_want *outer = set->wants[e][d].outer; outer; outer = outer->outer) {
        dfl_runs *both = DFL_NEW(set->arena, dfl_runs);
        dfl_runs_intersect(set->arena, both, own->joined, &level_set(set, outer, e, d, n, pos)->runs);
        own->joined = both;
    }
    return own->joined;
}

/* ---- pieces ---- */

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
