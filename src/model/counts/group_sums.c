/* Enumeration of one group. */
#include "model/counts/group_sums.h"

#include <string.h>

#include "model/sets/rank_piece.h"
#include "support/vec.h"

typedef struct {
    dfl_setting *set;
    const dfl_point *point;
    const dfl_group *g;
    const dfl_sharing *how;
    dfl_arena *arena;
    int64_t shape;
    int64_t pos[DFL_MAX_STEPS];   /* present position */
    int64_t prev[DFL_MAX_STEPS];  /* the step before */
    dfl_runs one, cur, old, stay, diff, all_cur, all_old, all_stay, entering, leaving, scratch, next, piece;
    bool simple;                  /* one view, nothing inside, no box */
    dfl_sums *sums;               /* being filled; levels >= the present one */
} walker;

static dfl_i128 checked_add(dfl_i128 a, dfl_i128 b, bool *over)
{
    dfl_i128 r;

    *over |= dfl_add(a, b, &r);
    return r;
}

static dfl_run piece_of(const walker *w, const dfl_rank_source *r, const int64_t *pos)
{
    dfl_run piece = { 0, r->extent };

    if (r->restricted)
        return dfl_place_rank(w->set, r->einsum, r->rank, r->n, pos);
    for (uint32_t k = 0; k < r->n_cuts; k++) {
        piece.lo += pos[r->step[k]] * r->tile[k];
        if (piece.lo >= piece.hi)
            return (dfl_run){ piece.hi, piece.hi };
        if (piece.hi - piece.lo > r->tile[k])
            piece.hi = piece.lo + r->tile[k];
    }
    return piece;
}

/* What of the rank is touched: a set where a restricted producer leaves indices out. Valid until the next call. */
static const dfl_runs *pieces_of(walker *w, const dfl_rank_source *r, const int64_t *pos)
{
    if (r->gaps) {
        dfl_place_set(w->set, r->einsum, r->rank, r->n, pos, &w->piece);
        return &w->piece;
    }
    dfl_run piece = piece_of(w, r, pos);
    dfl_runs_clear(&w->piece);
    dfl_runs_add(w->arena, &w->piece, piece.lo, piece.hi);
    return &w->piece;
}

static bool idle(walker *w, uint32_t v, const int64_t *pos)
{
    const dfl_group_view *view = &w->g->views[v];

    for (uint32_t k = 0; k < view->n_gates; k++)
        if (pos[view->gates[k]] != 0)
            return true;
    for (uint32_t k = 0; k < view->n_active; k++) {
        dfl_run r = piece_of(w, &view->active[k], pos);
        if (r.hi <= r.lo || (view->active[k].gaps && pieces_of(w, &view->active[k], pos)->n == 0))
            return true;
    }
    return false;
}

/* The set of one view where it is one interval, clipped to the shape; false where it has gaps. */
static bool view_interval(walker *w, uint32_t v, const int64_t *pos, dfl_run *out)
{
    const dfl_group_view *view = &w->g->views[v];
    dfl_run sum = { view->offset, view->offset + 1 };

    *out = (dfl_run){ 0, 0 };
    if (idle(w, v, pos))
        return true;
    for (uint32_t k = 0; k < view->n_terms; k++) {
        dfl_run r = piece_of(w, &view->terms[k], pos);
        if (view->terms[k].gaps) {
            const dfl_runs *s = pieces_of(w, &view->terms[k], pos);
            if (s->n > 1)
                return false;
            r = s->n == 1 ? s->at[0] : (dfl_run){ 0, 0 };
        }
        int64_t coef = view->terms[k].coef, len = r.hi - r.lo;
        if (len <= 0)
            return true;
        int64_t gap = coef > 0 ? coef : -coef;
        if (len > 1 && sum.hi - sum.lo < gap)
            return false;
        sum.lo += coef > 0 ? coef * r.lo : coef * (r.hi - 1);
        sum.hi += coef > 0 ? coef * (r.hi - 1) : coef * r.lo;
    }
    sum.lo = sum.lo < 0 ? 0 : sum.lo;
    sum.hi = sum.hi > w->shape ? w->shape : sum.hi;
    if (sum.hi > sum.lo)
        *out = sum;
    return true;
}

/* The indices of the group's dimension that one view touches at a position. */
static void view_set(walker *w, uint32_t v, const int64_t *pos, dfl_runs *out)
{
    const dfl_group_view *view = &w->g->views[v];
    dfl_run whole;

    if (view_interval(w, v, pos, &whole)) {
        dfl_runs_add(w->arena, out, whole.lo, whole.hi);
        return;
    }
    dfl_runs *sum = &w->scratch;
    dfl_runs_clear(sum);
    dfl_runs_add(w->arena, sum, view->offset, view->offset + 1);
    for (uint32_t t = 0; t < view->n_terms; t++) {
        dfl_runs_sum(w->arena, &w->next, sum, view->terms[t].coef, pieces_of(w, &view->terms[t], pos));
        dfl_runs swap = *sum;
        *sum = w->next;
        w->next = swap;
    }
    for (size_t i = 0; i < sum->n; i++)
        dfl_runs_add(w->arena, out, sum->at[i].lo < 0 ? 0 : sum->at[i].lo,
                     sum->at[i].hi > w->shape ? w->shape : sum->at[i].hi);
}

/* Next coordinates over the spatial steps of a set; false after the last. */
static bool next_coordinate(const walker *w, uint64_t bits, int64_t *pos, int64_t *prev)
{
    const dfl_group *g = w->g;

    for (uint32_t k = g->n_spatial; k-- > 0;) {
        uint32_t i = g->spatial[k];
        if (!(bits >> i & 1))
            continue;
        if (pos[i] + 1 < g->parts[k]) {
            prev[i] = ++pos[i];
            return true;
        }
        prev[i] = pos[i] = 0;
    }
    return false;
}

static bool writes(const walker *w, uint32_t v)
{
    const dfl_view *view = &w->point->views[v];

    return view->access == &w->set->w->einsums[view->einsum].output;
}

/* What all views, or those that write, touch in one instance, at all coordinates inside. */
static void touched_set(walker *w, int64_t *pos, bool made, dfl_runs *out)
{
    int64_t unused[DFL_MAX_STEPS];

    dfl_runs_clear(out);
    memcpy(unused, pos, sizeof unused);
    do {
        for (uint32_t v = 0; v < w->point->n_views; v++)
            if (!made || writes(w, v))
                view_set(w, v, pos, out);
    } while (next_coordinate(w, w->how->inside, pos, unused));
    dfl_runs_normalise(out);
}

/* Tile of one instance. `note` records which views cover the others. */
static void tile_set(walker *w, int64_t *pos, dfl_runs *out, bool note)
{
    int64_t unused[DFL_MAX_STEPS];
    uint64_t covering = w->sums->covering;
    dfl_runs *single = &w->one;

    memcpy(unused, pos, sizeof unused);
    touched_set(w, pos, false, out);
    if (w->how->box && out->n > 1) {
        w->sums->widened = true;
        out->at[0].hi = out->at[out->n - 1].hi;
        out->n = 1;
    }
    for (uint32_t v = 0; note && w->point->n_views > 1 && v < w->point->n_views; v++) {
        dfl_runs_clear(single);
        do
            view_set(w, v, pos, single);
        while (next_coordinate(w, w->how->inside, pos, unused));
        dfl_runs_normalise(single);
        if (!dfl_runs_equal(single, out)) {
            covering &= ~(UINT64_C(1) << v);
            w->sums->equal = false;
        }
    }
    w->sums->covering = covering;
}

/* Adds what the neighbours on the forwarding axis held at the step before to `stay`. */
static void add_forwarded(walker *w)
{
    uint32_t i = w->how->forward;
    dfl_runs near = { 0 }, common = { 0 };
    int64_t here = w->prev[i];
    uint32_t k = 0;

    while (w->g->spatial[k] != i)
        k++;
    for (int64_t to = here - 1; to <= here + 1; to += 2) {
        if (to < 0 || to >= w->g->parts[k])
            continue;
        w->prev[i] = to;
        tile_set(w, w->prev, &near, false);
        w->prev[i] = here;
        dfl_runs_intersect(w->arena, &common, &w->cur, &near);
        dfl_runs_unite(w->arena, &w->stay, &common);
    }
    dfl_runs_normalise(&w->stay);
}

static int64_t length(dfl_run r) { return r.hi > r.lo ? r.hi - r.lo : 0; }

/* One view, one interval, nothing united: no sets needed. False where that does not hold at this position. */
static bool evaluate_interval(walker *w, dfl_pair *out, bool compare)
{
    dfl_run cur, old, stay;

    if (!view_interval(w, 0, w->pos, &cur) || (compare && !view_interval(w, 0, w->prev, &old)))
        return false;
    int64_t a = length(cur);
    w->sums->most = a > w->sums->most ? a : w->sums->most;
    out->enter += a;
    if (!compare)
        return true;
    stay = (dfl_run){ cur.lo > old.lo ? cur.lo : old.lo, cur.hi < old.hi ? cur.hi : old.hi };
    out->leave += length(old);
    out->kept += length(stay);
    out->left_kept += length(stay);
    return true;
}

/* Whether an index enters one instance while it stays in another. */
static bool enters_late(walker *w)
{
    dfl_runs both = { 0 };

    dfl_runs_normalise(&w->all_stay);
    dfl_runs_intersect(w->arena, &both, &w->all_stay, &w->entering);
    return dfl_runs_count(&both) > 0;
}

/* Sets at `pos` against those at `prev`, summed over instances. */
static void evaluate(walker *w, dfl_pair *out, bool compare)
{
    const dfl_group *g = w->g;
    uint64_t summed = 0;
    bool *over = &w->sums->overflow;

    for (uint32_t k = 0; k < g->n_spatial; k++)
        summed |= UINT64_C(1) << g->spatial[k];
    uint64_t united = summed & w->how->united & ~(w->how->first_only | w->how->inside);
    summed &= ~(w->how->united | w->how->inside | w->how->first_only);
    bool forwards = w->how->forward != DFL_NONE && w->point->line_group[w->how->forward] != DFL_NONE &&
                    &w->point->groups[w->point->line_group[w->how->forward]] == g;
    bool simple = w->simple && !united && !forwards;
    do {
        if (simple && evaluate_interval(w, out, compare))
            continue;
        dfl_runs_clear(&w->all_cur);
        dfl_runs_clear(&w->all_old);
        dfl_runs_clear(&w->entering);
        dfl_runs_clear(&w->leaving);
        dfl_runs_clear(&w->all_stay);
        do {
            if (w->how->made)
                touched_set(w, w->pos, true, &w->cur);
            else
                tile_set(w, w->pos, &w->cur, true);
            if (!dfl_budget_spend(dfl_arena_budget(w->arena), 1 + 8 * w->cur.n))
                return;
            int64_t size = dfl_runs_count(&w->cur);
            w->sums->most = size > w->sums->most ? size : w->sums->most;
            dfl_runs_unite(w->arena, &w->all_cur, &w->cur);
            if (!compare)
                continue;
            tile_set(w, w->prev, &w->old, false);
            dfl_runs_unite(w->arena, &w->all_old, &w->old);
            dfl_runs_intersect(w->arena, &w->stay, &w->cur, &w->old);
            dfl_runs_subtract(w->arena, &w->diff, &w->old, &w->stay);
            dfl_runs_unite(w->arena, &w->leaving, &w->diff);
            dfl_runs_unite(w->arena, &w->all_stay, &w->stay);
            if (forwards) {
                if (w->how->anew)
                    dfl_runs_clear(&w->stay);
                add_forwarded(w);
            }
            dfl_runs_subtract(w->arena, &w->diff, &w->cur, &w->stay);
            dfl_runs_unite(w->arena, &w->entering, &w->diff);
        } while (united && next_coordinate(w, united, w->pos, w->prev));
        dfl_runs_normalise(&w->all_cur);
        int64_t a = dfl_runs_count(&w->all_cur);
        out->enter = checked_add(out->enter, a, over);
        if (compare) {
            dfl_runs_normalise(&w->all_old);
            dfl_runs_normalise(&w->entering);
            dfl_runs_normalise(&w->leaving);
            w->sums->late |= united && enters_late(w);
            int64_t b = dfl_runs_count(&w->all_old);
            out->kept = checked_add(out->kept, a - dfl_runs_count(&w->entering), over);
            out->leave = checked_add(out->leave, b, over);
            out->left_kept = checked_add(out->left_kept, b - dfl_runs_count(&w->leaving), over);
        }
    } while (summed && next_coordinate(w, summed, w->pos, w->prev));
}

static int64_t trips(walker *w, uint32_t level)
{
    return dfl_place_trips(w->set, w->g->driver[level], w->g->lines[level], w->pos);
}

/* Sets the loops from `level` on to their first and last iteration. */
static void wrap_inner(walker *w, uint32_t level)
{
    for (uint32_t k = level; k < w->g->n_lines; k++)
        w->pos[w->g->lines[k]] = 0;
    for (uint32_t k = level; k < w->g->n_lines; k++)
        w->prev[w->g->lines[k]] = dfl_place_trips(w->set, w->g->driver[k], w->g->lines[k], w->prev) - 1;
}

static void add_pair(dfl_pair *to, const dfl_pair *from, int64_t times, bool *over)
{
    dfl_i128 part;

    *over |= dfl_mul(from->enter, times, &part);
    to->enter = checked_add(to->enter, part, over);
    *over |= dfl_mul(from->kept, times, &part);
    to->kept = checked_add(to->kept, part, over);
    *over |= dfl_mul(from->leave, times, &part);
    to->leave = checked_add(to->leave, part, over);
    *over |= dfl_mul(from->left_kept, times, &part);
    to->left_kept = checked_add(to->left_kept, part, over);
}

/* Spatial steps of the group above a step. */
static uint64_t spatial_outside(const dfl_group *g, uint32_t step)
{
    uint64_t bits = 0;

    for (uint32_t k = 0; k < g->n_spatial; k++)
        if (g->spatial[k] < step)
            bits |= UINT64_C(1) << g->spatial[k];
    return bits;
}

/* Lowest and highest index that a view can touch at the present position down to loop `level`; false where it has none. */
static bool view_ends(const walker *w, const dfl_view *view, uint32_t level, int64_t *lo, int64_t *hi)
{
    const dfl_index *index = &view->access->index[w->g->dim];
    bool empty = false;

    *lo = *hi = index->offset;
    for (uint32_t t = 0; t < index->n_terms; t++) {
        int64_t coef = index->terms[t].coef;
        dfl_run piece = dfl_place_rank(w->set, view->einsum, index->terms[t].rank, w->g->lines[level] + 1, w->pos);
        empty |= piece.hi <= piece.lo;
        *lo += coef > 0 ? coef * piece.lo : coef * (piece.hi - 1);
        *hi += coef > 0 ? coef * (piece.hi - 1) : coef * piece.lo;
    }
    return !empty;
}

/* Lowest and highest index that any view can touch while loop `level` stands at its present iteration, in any
   instance and any inner loop. */
static void reach(walker *w, uint32_t level, int64_t *lo, int64_t *hi)
{
    const dfl_group *g = w->g;
    uint64_t outside = spatial_outside(g, g->lines[level]);
    int64_t unused[DFL_MAX_STEPS];

    *lo = INT64_MAX;
    *hi = INT64_MIN;
    do
        for (uint32_t v = 0; v < w->point->n_views; v++) {
            int64_t a, b;
            if (!view_ends(w, &w->point->views[v], level, &a, &b))
                continue;
            *lo = a < *lo ? a : *lo;
            *hi = b > *hi ? b : *hi;
        }
    while (next_coordinate(w, outside, w->pos, unused));
}

/* Of the instances that spatial loops outside the loop have cut its rank for: how many have a full tile at iteration q.
   -1 if one has a part of a tile; the others have nothing. Falls with q. */
static int64_t full_instances(walker *w, uint32_t level, int64_t q)
{
    const dfl_group *g = w->g;
    uint32_t i = g->lines[level];
    const dfl_path_step *step = &w->set->paths->paths[g->driver[level]].steps[i];
    int64_t keep = w->pos[i], unused[DFL_MAX_STEPS], full = 0;
    uint64_t outside = spatial_outside(g, i);
    bool partial = false;

    w->pos[i] = q;
    do {
        dfl_run piece = dfl_place_rank(w->set, g->driver[level], step->rank, i + 1, w->pos);
        int64_t len = piece.hi - piece.lo;
        full += len == step->tile;
        partial |= len > 0 && len < step->tile;
    } while (next_coordinate(w, outside, w->pos, unused));
    w->pos[i] = keep;
    return partial ? -1 : full;
}

/* Lowest index of a view at iteration q of the loop; false where it has none. */
static bool view_start(walker *w, const dfl_view *view, uint32_t level, int64_t q, int64_t *out)
{
    uint32_t i = w->g->lines[level];
    int64_t keep = w->pos[i], unused;

    w->pos[i] = q;
    bool some = view_ends(w, view, level, out, &unused);
    w->pos[i] = keep;
    return some;
}

/* Whether all views move by the same distance from the iteration before q to q: readers with different strides do not. */
static bool moves_as_one(walker *w, uint32_t level, int64_t q)
{
    int64_t before, now, distance = 0;
    bool known = false;

    for (uint32_t v = 0; v < w->point->n_views; v++) {
        const dfl_view *view = &w->point->views[v];
        if (!view_start(w, view, level, q - 1, &before) || !view_start(w, view, level, q, &now))
            continue;
        if (known && now - before != distance)
            return false;
        distance = now - before;
        known = true;
    }
    return true;
}

/* Whether iteration q of the loop and the one before it look the same but for a translation: the same instances have
   full tiles, nothing touches a border of the shape, and all views go the same way. */
static bool steady(walker *w, uint32_t level, int64_t q, int64_t instances)
{
    uint32_t i = w->g->lines[level];
    int64_t keep = w->pos[i], lo, hi;
    bool same = instances > 0 && full_instances(w, level, q - 1) == instances && full_instances(w, level, q) == instances;

    for (int64_t at = q - 1; same && w->g->dim != DFL_NO_DIM && at <= q; at++) {
        w->pos[i] = at;
        reach(w, level, &lo, &hi);
        same = lo >= 0 && hi < w->shape;
    }
    w->pos[i] = keep;
    return same && (w->g->dim == DFL_NO_DIM || w->point->n_views < 2 || moves_as_one(w, level, q));
}

/* Last iteration >= q that is still steady; with a given number of instances steadiness ends once, so halving finds it. */
static int64_t last_steady(walker *w, uint32_t level, int64_t q, int64_t n, int64_t instances)
{
    int64_t lo = q, hi = n - 1;

    while (lo < hi) {
        int64_t mid = lo + (hi - lo + 1) / 2;
        if (steady(w, level, mid, instances))
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo;
}

static void visit(walker *w, uint32_t level);

/* One iteration q of the loop below `level` positions, counted `times` times. */
static void iterate(walker *w, uint32_t level, int64_t q, int64_t times)
{
    uint32_t i = w->g->lines[level];
    dfl_sums *outer = w->sums, *part = outer;
    dfl_pair store[2][DFL_MAX_GROUP + 1];
    dfl_sums own = { .hold = store[0], .adv = store[1] };

    if (times > 1) {
        memset(store[0], 0, (w->g->n_lines + 1) * sizeof store[0][0]);
        memset(store[1], 0, (w->g->n_lines + 1) * sizeof store[1][0]);
        own.covering = outer->covering;
        own.equal = outer->equal;
        part = &own;
    }
    w->sums = part;
    w->pos[i] = q;
    if (q > 0) {
        memcpy(w->prev, w->pos, sizeof w->prev);
        w->prev[i] = q - 1;
        wrap_inner(w, level + 1);
        evaluate(w, &part->adv[level + 1], true);
    }
    visit(w, level + 1);
    w->sums = outer;
    if (part == outer)
        return;
    for (uint32_t k = level + 1; k <= w->g->n_lines; k++) {
        add_pair(&outer->hold[k], &part->hold[k], times, &outer->overflow);
        add_pair(&outer->adv[k], &part->adv[k], times, &outer->overflow);
    }
    dfl_i128 present;
    outer->overflow |= part->overflow | dfl_mul(part->present, times, &present);
    outer->present = checked_add(outer->present, present, &outer->overflow);
    outer->most = part->most > outer->most ? part->most : outer->most;
    outer->covering = part->covering;
    outer->equal = part->equal;
    outer->late |= part->late;
    outer->widened |= part->widened;
}

/* All positions of the loops from `level` on, below the present position of the outer ones. */
static void visit(walker *w, uint32_t level)
{
    const dfl_group *g = w->g;

    memcpy(w->prev, w->pos, sizeof w->prev);
    wrap_inner(w, level);
    dfl_pair at = { 0 };
    evaluate(w, &at, level < g->n_lines || w->how->anew);
    if (level == g->n_lines && !w->how->anew) /* another group's loop advances: this group's sets stay */
        at.kept = at.leave = at.left_kept = at.enter;
    add_pair(&w->sums->hold[level], &at, 1, &w->sums->overflow);
    if (level == g->n_lines) {
        w->sums->present = checked_add(w->sums->present, at.enter, &w->sums->overflow);
        return;
    }
    int64_t n = trips(w, level);
    for (int64_t q = 0; q < n; q++) {
        int64_t last = q;
        if (!dfl_budget_ok(dfl_arena_budget(w->arena)))
            return;
        int64_t instances = g->plain && q > 0 && q + 2 < n ? full_instances(w, level, q) : -1;
        if (instances > 0 && steady(w, level, q, instances))
            last = last_steady(w, level, q, n, instances);
        iterate(w, level, q, last - q + 1);
        q = last;
        for (uint32_t k = level; k < g->n_lines; k++)
            w->pos[g->lines[k]] = 0;
    }
    w->pos[g->lines[level]] = 0;
}

/* ---- even ---- */

/*
 * Groups that need no walking. If one rank decides the group, every loop divides it evenly and nothing of the index
 * falls outside the shape, then the sets at different positions and coordinates are disjoint and equally large, and
 * every sum is a product of iteration and part counts. A group without a dimension always holds {0}.
 */
static const dfl_path_step *step_at(const dfl_setting *set, const dfl_point *point, uint32_t i)
{
    return &set->paths->paths[point->views[0].einsum].steps[i];
}

/* The one rank of the group that all its loops cut, or DFL_NONE. */
static uint32_t only_rank(const dfl_setting *set, const dfl_point *point, const dfl_group *g)
{
    const dfl_view *view = &point->views[0];
    const dfl_group_view *own = &g->views[0];

    if (point->n_views != 1 || !g->plain || own->n_gates)
        return DFL_NONE;
    if (g->dim == DFL_NO_DIM && point->lenient && own->n_active == 0 && g->n_lines + g->n_spatial > 0)
        return step_at(set, point, g->n_lines > 0 ? g->lines[0] : g->spatial[0])->rank;
    if (g->dim == DFL_NO_DIM)
        return own->n_active == 1 ? own->active[0].rank : DFL_NONE;
    const dfl_index *index = &view->access->index[g->dim];
    if (index->n_terms != 1 || index->terms[0].coef < 1 || own->n_active > 0)
        return DFL_NONE;
    dfl_i128 last = index->offset + (dfl_i128)index->terms[0].coef * (set->w->ranks[index->terms[0].rank].extent - 1);
    if (index->offset < 0 || last >= set->w->tensors[point->tensor].extents[g->dim])
        return DFL_NONE;
    return index->terms[0].rank;
}

/* Whether every loop divides what it cuts; gives the length of the innermost piece. */
static bool even(const dfl_setting *set, const dfl_point *point, const dfl_group *g, uint32_t rank, int64_t *len)
{
    uint32_t t = 0, s = 0;

    *len = set->w->ranks[rank].extent;
    while (t < g->n_lines || s < g->n_spatial) {
        uint32_t i = s == g->n_spatial || (t < g->n_lines && g->lines[t] < g->spatial[s]) ? g->lines[t++] : g->spatial[s++];
        const dfl_path_step *step = step_at(set, point, i);
        if (step->rank != rank || *len % step->tile != 0)
            return false;
        *len = step->tile;
    }
    return true;
}

static void put(dfl_pair *to, dfl_i128 enter, bool stays)
{
    to->enter = to->leave = enter;
    to->kept = to->left_kept = stays ? enter : 0;
}

static bool dfl_group_plain(const dfl_setting *set, const dfl_point *point, const dfl_group *g, const dfl_sharing *how,
                     dfl_sums *out)
{
    uint32_t rank = only_rank(set, point, g);
    bool dim = g->dim != DFL_NO_DIM;
    dfl_i128 size, count = 1;
    int64_t len;

    if (rank == DFL_NONE || how->forward != DFL_NONE || !even(set, point, g, rank, &len))
        return false;
    if (how->box && dim && point->views[0].access->index[g->dim].terms[0].coef > 1)
        return false;
    size = dim ? len : 1;
    out->most = (int64_t)size;
    for (uint32_t k = 0; k < g->n_spatial; k++) {
        uint64_t bit = UINT64_C(1) << g->spatial[k];
        if (how->inside & bit) {
            /* chunks that lie side by side; with a loop in between there are gaps, which a box would close */
            if (how->box && dim)
                return false;
            size *= dim ? g->parts[k] : 1;
            out->most *= dim ? g->parts[k] : 1;
        } else if (!(how->first_only & bit)) {
            size *= (how->united & bit) && !dim ? 1 : g->parts[k];
        }
    }
    out->covering = UINT64_MAX;
    out->equal = true;
    int64_t trips[DFL_MAX_GROUP] = { 0 };
    for (uint32_t k = 0; k < g->n_lines; k++) {
        const dfl_path_step *step = step_at(set, point, g->lines[k]);
        trips[k] = step->nominal / step->tile;
    }
    for (uint32_t k = 0; k <= g->n_lines; k++) {
        if (k > 0) {
            put(&out->adv[k], count * (trips[k - 1] - 1) * size, !dim);
            count *= trips[k - 1];
        }
        bool moves = false;
        for (uint32_t inner = k; dim && inner < g->n_lines; inner++)
            moves |= trips[inner] > 1;
        put(&out->hold[k], count * size, !moves);
    }
    out->present = count * size;
    return true;
}

int64_t dfl_group_size(dfl_setting *set, const dfl_point *point, const dfl_group *group, const dfl_sharing *how,
                       const int64_t *pos)
{
    dfl_sums unused = { 0 };
    walker w = { .set = set, .point = point, .g = group, .how = how, .arena = set->arena, .sums = &unused };

    memcpy(w.pos, pos, sizeof w.pos);
    w.shape = group->dim == DFL_NO_DIM ? 1 : set->w->tensors[point->tensor].extents[group->dim];
    tile_set(&w, w.pos, &w.cur, false);
    return dfl_runs_count(&w.cur);
}

bool dfl_group_sums(dfl_setting *set, const dfl_point *point, const dfl_group *group, const dfl_sharing *how,
                    dfl_sums *out)
{
    walker w = { .set = set, .point = point, .g = group, .how = how, .arena = set->arena, .sums = out };

    *out = (dfl_sums){ .hold = out->hold, .adv = out->adv };
    memset(out->hold, 0, (group->n_lines + 1) * sizeof *out->hold);
    memset(out->adv, 0, (group->n_lines + 1) * sizeof *out->adv);
    if (dfl_group_plain(set, point, group, how, out))
        return true;
    out->most = 0;
    out->covering = point->n_views >= 64 ? UINT64_MAX : (UINT64_C(1) << point->n_views) - 1;
    out->equal = true;
    w.shape = group->dim == DFL_NO_DIM ? 1 : set->w->tensors[point->tensor].extents[group->dim];
    w.simple = point->n_views == 1 && !how->box && !how->made && how->inside == 0;
    visit(&w, 0);
    return dfl_budget_ok(dfl_arena_budget(set->arena));
}
