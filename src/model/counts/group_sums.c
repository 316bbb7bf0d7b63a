/* Sums of one group over the positions of its loops. A walk enumerates these positions; even groups need no walk
   (even_sums.h). */
#include "model/counts/group_sums.h"

#include <string.h>

#include "model/counts/class_sums.h"
#include "model/counts/even_sums.h"
#include "model/sets/rank_piece.h"
#include "support/vec.h"

/* A walk over the positions of the loops of a group. */
typedef struct {
    dfl_nest *nest;
    const dfl_footprint *footprint;
    const dfl_group *g;
    const dfl_sharing *how;
    const dfl_restriction *only; /* coordinates to count; NULL = all */
    bool ranged;                 /* `only` excludes some coordinates of the group by a range */
    dfl_arena *arena;
    int64_t shape;
    int64_t pos[DFL_MAX_STEPS];  /* present position */
    int64_t prev[DFL_MAX_STEPS]; /* position at the previous step */
    dfl_interval_set one, cur, old, stay, diff, all_cur, all_old, all_stay, entering, leaving, scratch, next, piece;
    int64_t *keys;               /* joint groups: room for two keys of states for each loop */
    const struct state_sums **known; /* [bucket]: sums of known states of a joint group; NULL = states are not compared */
    bool simple;                 /* sets are intervals: one reference, no bounding box, no coordinates inside a tile */
    dfl_group_sums *sums;        /* partial sums of the present loop level and of the levels inside of it */
} walker;

static dfl_i128 add_checked(dfl_i128 a, dfl_i128 b, bool *over)
{
    dfl_i128 r;

    *over |= dfl_add(a, b, &r);
    return r;
}

static dfl_interval find_piece(const walker *walk, const dfl_rank_source *r, const int64_t *pos)
{
    dfl_interval piece = { 0, r->extent };

    if (r->is_restricted)
        return dfl_rank_piece(walk->nest, r->einsum, r->rank, r->n, pos);
    for (uint32_t k = 0; k < r->n_cuts; k++) {
        piece.lo += pos[r->step[k]] * r->tile[k];
        if (piece.lo >= piece.hi)
            return (dfl_interval){ piece.hi, piece.hi };
        if (piece.hi - piece.lo > r->tile[k])
            piece.hi = piece.lo + r->tile[k];
    }
    return piece;
}

/* The touched indices of a rank, as a set if a restricted producer omits indices. The result is valid until the next
   call. */
static const dfl_interval_set *find_piece_set(walker *walk, const dfl_rank_source *r, const int64_t *pos)
{
    if (r->has_gaps) {
        dfl_rank_piece_set(walk->nest, r->einsum, r->rank, r->n, pos, &walk->piece);
        return &walk->piece;
    }
    dfl_interval piece = find_piece(walk, r, pos);
    dfl_interval_set_clear(&walk->piece);
    dfl_interval_set_add(walk->arena, &walk->piece, piece.lo, piece.hi);
    return &walk->piece;
}

static bool is_idle(walker *walk, uint32_t v, const int64_t *pos)
{
    const dfl_group_reference *reference = &walk->g->references[v];

    for (uint32_t k = 0; k < reference->n_gates; k++)
        if (pos[reference->gates[k]] != 0)
            return true;
    for (uint32_t k = 0; k < reference->n_active; k++) {
        dfl_interval r = find_piece(walk, &reference->active[k], pos);
        if (r.hi <= r.lo || (reference->active[k].has_gaps && find_piece_set(walk, &reference->active[k], pos)->n == 0))
            return true;
    }
    return false;
}

/* Finds the indices that one reference touches if these indices are one interval, clipped to the shape. False if the
   indices have gaps. */
static bool find_interval(walker *walk, uint32_t v, const int64_t *pos, dfl_interval *out)
{
    const dfl_group_reference *reference = &walk->g->references[v];
    dfl_interval sum = { reference->offset, reference->offset + 1 };

    *out = (dfl_interval){ 0, 0 };
    if (is_idle(walk, v, pos))
        return true;
    for (uint32_t k = 0; k < reference->n_terms; k++) {
        dfl_interval r = find_piece(walk, &reference->terms[k], pos);
        if (reference->terms[k].has_gaps) {
            const dfl_interval_set *set = find_piece_set(walk, &reference->terms[k], pos);
            if (set->n > 1)
                return false;
            r = set->n == 1 ? set->at[0] : (dfl_interval){ 0, 0 };
        }
        int64_t coef = reference->terms[k].coef, len = r.hi - r.lo;
        if (len <= 0)
            return true;
        int64_t gap = coef > 0 ? coef : -coef;
        if (len > 1 && sum.hi - sum.lo < gap)
            return false;
        sum.lo += coef > 0 ? coef * r.lo : coef * (r.hi - 1);
        sum.hi += coef > 0 ? coef * (r.hi - 1) : coef * r.lo;
    }
    sum.lo = sum.lo < 0 ? 0 : sum.lo;
    sum.hi = sum.hi > walk->shape ? walk->shape : sum.hi;
    if (sum.hi > sum.lo)
        *out = sum;
    return true;
}

/* Adds the elements that one reference of a joint group touches at a position. */
static void add_joint(walker *walk, uint32_t v, const int64_t *pos, dfl_interval_set *out)
{
    const dfl_group_reference *reference = &walk->g->references[v];
    const dfl_joint_access *joint = &reference->joint;
    dfl_interval few[DFL_MAX_GROUP], *box = few;

    if (is_idle(walk, v, pos))
        return;
    if (joint->n_ranks > DFL_MAX_GROUP)
        box = DFL_NEW_ARRAY(walk->arena, dfl_interval, joint->n_ranks);
    for (uint32_t k = 0; k < joint->n_ranks; k++) {
        box[k] = find_piece(walk, &reference->ranks[k], pos);
        if (box[k].hi <= box[k].lo)
            return;
    }
    dfl_joint_access_add(walk->arena, joint, box, out);
}

/* Adds the indices of the group's dimension that one reference touches at a position, clipped to the shape. */
static void add_indices(walker *walk, uint32_t v, const int64_t *pos, dfl_interval_set *out)
{
    const dfl_group_reference *reference = &walk->g->references[v];
    dfl_interval whole;

    if (walk->g->joint) {
        add_joint(walk, v, pos, out);
        return;
    }
    if (find_interval(walk, v, pos, &whole)) {
        dfl_interval_set_add(walk->arena, out, whole.lo, whole.hi);
        return;
    }
    dfl_interval_set *sum = &walk->scratch;
    dfl_interval_set_clear(sum);
    dfl_interval_set_add(walk->arena, sum, reference->offset, reference->offset + 1);
    for (uint32_t t = 0; t < reference->n_terms; t++) {
        dfl_interval_set_sum(walk->arena, &walk->next, sum, reference->terms[t].coef,
                             find_piece_set(walk, &reference->terms[t], pos));
        dfl_interval_set swap = *sum;
        *sum = walk->next;
        walk->next = swap;
    }
    for (size_t i = 0; i < sum->n; i++)
        dfl_interval_set_add(walk->arena, out, sum->at[i].lo < 0 ? 0 : sum->at[i].lo,
                             sum->at[i].hi > walk->shape ? walk->shape : sum->at[i].hi);
}

/* Advances `pos` and `prev` to the next coordinates of the spatial steps in `bits`. False after the last
   coordinates. */
static bool advance_coordinate(const walker *walk, uint64_t bits, int64_t *pos, int64_t *prev)
{
    const dfl_group *group = walk->g;

    for (uint32_t k = group->n_spatial; k-- > 0;) {
        uint32_t i = group->spatial[k];
        if (!(bits >> i & 1))
            continue;
        if (pos[i] + 1 < group->parts[k]) {
            prev[i] = ++pos[i];
            return true;
        }
        prev[i] = pos[i] = 0;
    }
    return false;
}

/* Tells whether the present coordinates lie in the range of the restriction. */
static bool is_counted(const walker *walk)
{
    const dfl_group *group = walk->g;
    int64_t at = 0;

    if (!walk->ranged)
        return true;
    for (uint32_t k = 0; k < group->n_spatial; k++)
        if (walk->only->ranged >> group->spatial[k] & 1)
            at = at * group->parts[k] + walk->pos[group->spatial[k]];
    return at >= walk->only->lo && at < walk->only->hi;
}

/* Moves the pinned steps to their coordinates or, with `back`, to coordinate 0. */
static void move_pinned(walker *walk, bool back)
{
    for (uint64_t left = walk->only ? walk->only->pinned : 0; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        walk->pos[i] = walk->prev[i] = back ? 0 : walk->only->at[i];
    }
}

static bool is_write(const walker *walk, uint32_t v)
{
    const dfl_reference *reference = &walk->footprint->references[v];

    return reference->access == &walk->nest->workload->einsums[reference->einsum].output;
}

/* The indices that all references touch (with `made`: the references that write) in one instance, over all coordinates
   inside its tile. */
static void find_touched(walker *walk, int64_t *pos, bool made, dfl_interval_set *out)
{
    int64_t unused[DFL_MAX_STEPS];

    dfl_interval_set_clear(out);
    memcpy(unused, pos, sizeof unused);
    do {
        for (uint32_t v = 0; v < walk->footprint->n_references; v++)
            if (!made || is_write(walk, v))
                add_indices(walk, v, pos, out);
    } while (advance_coordinate(walk, walk->how->inside, pos, unused));
    dfl_interval_set_normalise(out);
}

/* The tile of one instance. `note`: also records which references touch the whole tile. */
static void find_tile(walker *walk, int64_t *pos, dfl_interval_set *out, bool note)
{
    int64_t unused[DFL_MAX_STEPS];
    uint64_t covering = walk->sums->covering;
    dfl_interval_set *single = &walk->one;

    memcpy(unused, pos, sizeof unused);
    find_touched(walk, pos, false, out);
    if (walk->how->box && out->n > 1) {
        walk->sums->is_widened = true;
        out->at[0].hi = out->at[out->n - 1].hi;
        out->n = 1;
    }
    for (uint32_t v = 0; note && walk->footprint->n_references > 1 && v < walk->footprint->n_references; v++) {
        dfl_interval_set_clear(single);
        do
            add_indices(walk, v, pos, single);
        while (advance_coordinate(walk, walk->how->inside, pos, unused));
        dfl_interval_set_normalise(single);
        if (!dfl_interval_set_equal(single, out)) {
            covering &= ~(UINT64_C(1) << v);
            walk->sums->equal = false;
        }
    }
    walk->sums->covering = covering;
}

/* Adds to `stay` the indices that the neighbours on the forwarding axis held at the previous step. */
static void add_forwarded(walker *walk)
{
    uint32_t i = walk->how->forward;
    dfl_interval_set near = { 0 }, common = { 0 };
    int64_t here = walk->prev[i];
    uint32_t k = 0;

    while (walk->g->spatial[k] != i)
        k++;
    int64_t last = walk->only && walk->only->lower ? here - 1 : here + 1;
    for (int64_t to = here - 1; to <= last; to += 2) {
        if (to < 0 || to >= walk->g->parts[k])
            continue;
        walk->prev[i] = to;
        find_tile(walk, walk->prev, &near, false);
        walk->prev[i] = here;
        dfl_interval_set_intersect(walk->arena, &common, &walk->cur, &near);
        dfl_interval_set_unite(walk->arena, &walk->stay, &common);
    }
    dfl_interval_set_normalise(&walk->stay);
}

static int64_t interval_length(dfl_interval r) { return r.hi > r.lo ? r.hi - r.lo : 0; }

/* Adds the change of one instance if its sets at both steps are intervals. False if a set has gaps at this position. */
static bool add_interval_change(walker *walk, dfl_group_change *out, bool compare)
{
    dfl_interval cur, old, stay;

    if (!find_interval(walk, 0, walk->pos, &cur) || (compare && !find_interval(walk, 0, walk->prev, &old)))
        return false;
    int64_t a = interval_length(cur);
    walk->sums->largest = a > walk->sums->largest ? a : walk->sums->largest;
    out->enter += a;
    if (!compare)
        return true;
    stay = (dfl_interval){ cur.lo > old.lo ? cur.lo : old.lo, cur.hi < old.hi ? cur.hi : old.hi };
    out->leave += interval_length(old);
    out->kept += interval_length(stay);
    out->left_kept += interval_length(stay);
    return true;
}

/* Tells whether an index enters one instance of a union while it stays in another instance. */
static bool enters_late(walker *walk)
{
    dfl_interval_set both = { 0 };

    dfl_interval_set_normalise(&walk->all_stay);
    dfl_interval_set_intersect(walk->arena, &both, &walk->all_stay, &walk->entering);
    return dfl_interval_set_count(&both) > 0;
}

/* Adds the sizes of the sets at `pos`, summed over instances; with `compare`, also their change against the sets at
   `prev`. */
static void add_change(walker *walk, dfl_group_change *out, bool compare)
{
    const dfl_group *group = walk->g;
    uint64_t summed = 0;
    bool *over = &walk->sums->overflow;

    for (uint32_t k = 0; k < group->n_spatial; k++)
        summed |= UINT64_C(1) << group->spatial[k];
    uint64_t united = summed & walk->how->united & ~(walk->how->first_only | walk->how->inside);
    summed &= ~(walk->how->united | walk->how->inside | walk->how->first_only);
    bool forwards = walk->how->forward != DFL_NONE && walk->footprint->group_of_step[walk->how->forward] != DFL_NONE &&
                    &walk->footprint->groups[walk->footprint->group_of_step[walk->how->forward]] == group;
    bool simple = walk->simple && !united && !forwards;
    move_pinned(walk, false);
    do {
        if (simple && (!is_counted(walk) || add_interval_change(walk, out, compare)))
            continue;
        dfl_interval_set_clear(&walk->all_cur);
        dfl_interval_set_clear(&walk->all_old);
        dfl_interval_set_clear(&walk->entering);
        dfl_interval_set_clear(&walk->leaving);
        dfl_interval_set_clear(&walk->all_stay);
        do {
            if (!is_counted(walk))
                continue;
            if (walk->how->made)
                find_touched(walk, walk->pos, true, &walk->cur);
            else
                find_tile(walk, walk->pos, &walk->cur, true);
            if (!dfl_budget_spend(dfl_arena_budget(walk->arena), 1 + 8 * walk->cur.n))
                return;
            int64_t size = dfl_interval_set_count(&walk->cur);
            walk->sums->largest = size > walk->sums->largest ? size : walk->sums->largest;
            dfl_interval_set_unite(walk->arena, &walk->all_cur, &walk->cur);
            if (!compare)
                continue;
            find_tile(walk, walk->prev, &walk->old, false);
            dfl_interval_set_unite(walk->arena, &walk->all_old, &walk->old);
            dfl_interval_set_intersect(walk->arena, &walk->stay, &walk->cur, &walk->old);
            dfl_interval_set_subtract(walk->arena, &walk->diff, &walk->old, &walk->stay);
            dfl_interval_set_unite(walk->arena, &walk->leaving, &walk->diff);
            dfl_interval_set_unite(walk->arena, &walk->all_stay, &walk->stay);
            if (forwards) {
                if (walk->how->anew)
                    dfl_interval_set_clear(&walk->stay);
                add_forwarded(walk);
            }
            dfl_interval_set_subtract(walk->arena, &walk->diff, &walk->cur, &walk->stay);
            dfl_interval_set_unite(walk->arena, &walk->entering, &walk->diff);
        } while (united && advance_coordinate(walk, united, walk->pos, walk->prev));
        dfl_interval_set_normalise(&walk->all_cur);
        int64_t a = dfl_interval_set_count(&walk->all_cur);
        out->enter = add_checked(out->enter, a, over);
        if (compare) {
            dfl_interval_set_normalise(&walk->all_old);
            dfl_interval_set_normalise(&walk->entering);
            dfl_interval_set_normalise(&walk->leaving);
            walk->sums->late |= united && enters_late(walk);
            int64_t b = dfl_interval_set_count(&walk->all_old);
            out->kept = add_checked(out->kept, a - dfl_interval_set_count(&walk->entering), over);
            out->leave = add_checked(out->leave, b, over);
            out->left_kept = add_checked(out->left_kept, b - dfl_interval_set_count(&walk->leaving), over);
        }
    } while (summed && advance_coordinate(walk, summed, walk->pos, walk->prev));
    move_pinned(walk, true);
}

static int64_t count_trips(walker *walk, uint32_t level)
{
    return dfl_rank_piece_trips(walk->nest, walk->g->driver[level], walk->g->lines[level], walk->pos);
}

/* Sets the loops from `level` on: to their first iteration in `pos`, and to their last one in `prev`. */
static void wrap_inner(walker *walk, uint32_t level)
{
    for (uint32_t k = level; k < walk->g->n_lines; k++)
        walk->pos[walk->g->lines[k]] = 0;
    for (uint32_t k = level; k < walk->g->n_lines; k++)
        walk->prev[walk->g->lines[k]] = dfl_rank_piece_trips(walk->nest, walk->g->driver[k], walk->g->lines[k], walk->prev) - 1;
}

static void add_times(dfl_group_change *to, const dfl_group_change *from, int64_t times, bool *over)
{
    dfl_i128 part;

    *over |= dfl_mul(from->enter, times, &part);
    to->enter = add_checked(to->enter, part, over);
    *over |= dfl_mul(from->kept, times, &part);
    to->kept = add_checked(to->kept, part, over);
    *over |= dfl_mul(from->leave, times, &part);
    to->leave = add_checked(to->leave, part, over);
    *over |= dfl_mul(from->left_kept, times, &part);
    to->left_kept = add_checked(to->left_kept, part, over);
}

/* Spatial steps of the group that stand above a step. */
static uint64_t find_outer_spatial(const dfl_group *group, uint32_t step)
{
    uint64_t bits = 0;

    for (uint32_t k = 0; k < group->n_spatial; k++)
        if (group->spatial[k] < step)
            bits |= UINT64_C(1) << group->spatial[k];
    return bits;
}

/* Lowest and highest index that a reference can touch at the present position of the loops down to `level`. False if
   the reference touches none. */
static bool find_reference_range(const walker *walk, const dfl_reference *reference, uint32_t level, int64_t *lo, int64_t *hi)
{
    const dfl_index *index = &reference->access->index[walk->g->dim];
    bool empty = false;

    *lo = *hi = index->offset;
    for (uint32_t t = 0; t < index->n_terms; t++) {
        int64_t coef = index->terms[t].coef;
        dfl_interval piece = dfl_rank_piece(walk->nest, reference->einsum, index->terms[t].rank, walk->g->lines[level] + 1,
                                            walk->pos);
        empty |= piece.hi <= piece.lo;
        *lo += coef > 0 ? coef * piece.lo : coef * (piece.hi - 1);
        *hi += coef > 0 ? coef * (piece.hi - 1) : coef * piece.lo;
    }
    return !empty;
}

/* Lowest and highest index that any reference can touch in the present iteration of loop `level`, over all instances
   and iterations of inner loops. */
static void find_range(walker *walk, uint32_t level, int64_t *lo, int64_t *hi)
{
    const dfl_group *group = walk->g;
    uint64_t outside = find_outer_spatial(group, group->lines[level]);
    int64_t unused[DFL_MAX_STEPS];

    *lo = INT64_MAX;
    *hi = INT64_MIN;
    do
        for (uint32_t v = 0; v < walk->footprint->n_references; v++) {
            int64_t a, b;
            if (!find_reference_range(walk, &walk->footprint->references[v], level, &a, &b))
                continue;
            *lo = a < *lo ? a : *lo;
            *hi = b > *hi ? b : *hi;
        }
    while (advance_coordinate(walk, outside, walk->pos, unused));
}

/* Number of instances with a full tile at iteration `q` of loop `level`, over the spatial steps above the loop. The
   other instances have no tile. -1 if some instance has a part of a tile. The number never increases with `q`. */
static int64_t count_full_instances(walker *walk, uint32_t level, int64_t q)
{
    const dfl_group *group = walk->g;
    uint32_t i = group->lines[level];
    const dfl_path_step *step = &walk->nest->paths->paths[group->driver[level]].steps[i];
    int64_t keep = walk->pos[i], unused[DFL_MAX_STEPS], full = 0;
    uint64_t outside = find_outer_spatial(group, i);
    bool partial = false;

    walk->pos[i] = q;
    do {
        dfl_interval piece = dfl_rank_piece(walk->nest, group->driver[level], step->rank, i + 1, walk->pos);
        int64_t len = piece.hi - piece.lo;
        full += len == step->tile;
        partial |= len > 0 && len < step->tile;
    } while (advance_coordinate(walk, outside, walk->pos, unused));
    walk->pos[i] = keep;
    return partial ? -1 : full;
}

/* Lowest index of a reference at iteration `q` of loop `level`. False if the reference touches none. */
static bool find_reference_start(walker *walk, const dfl_reference *reference, uint32_t level, int64_t q, int64_t *out)
{
    uint32_t i = walk->g->lines[level];
    int64_t keep = walk->pos[i], unused;

    walk->pos[i] = q;
    bool some = find_reference_range(walk, reference, level, out, &unused);
    walk->pos[i] = keep;
    return some;
}

/* Tells whether all references move by the same distance from iteration `q - 1` to `q`. False for references with
   different strides. */
static bool is_translation(walker *walk, uint32_t level, int64_t q)
{
    int64_t before, now, distance = 0;
    bool known = false;

    for (uint32_t v = 0; v < walk->footprint->n_references; v++) {
        const dfl_reference *reference = &walk->footprint->references[v];
        if (!find_reference_start(walk, reference, level, q - 1, &before) ||
            !find_reference_start(walk, reference, level, q, &now))
            continue;
        if (known && now - before != distance)
            return false;
        distance = now - before;
        known = true;
    }
    return true;
}

/* Tells whether iterations `q - 1` and `q` of loop `level` differ by a translation only: the same instances have full
   tiles, no index touches a border of the shape, and all references move by the same distance. */
static bool is_steady(walker *walk, uint32_t level, int64_t q, int64_t instances)
{
    uint32_t i = walk->g->lines[level];
    int64_t keep = walk->pos[i], lo, hi;
    bool same = instances > 0 && count_full_instances(walk, level, q - 1) == instances &&
                count_full_instances(walk, level, q) == instances;

    for (int64_t at = q - 1; same && walk->g->dim != DFL_NO_DIM && at <= q; at++) {
        walk->pos[i] = at;
        find_range(walk, level, &lo, &hi);
        same = lo >= 0 && hi < walk->shape;
    }
    walk->pos[i] = keep;
    return same && (walk->g->dim == DFL_NO_DIM || walk->footprint->n_references < 2 || is_translation(walk, level, q));
}

/* The last iteration >= q that is steady. For a given number of instances, the property ends at one iteration, so
   bisection finds it. */
static int64_t find_last_steady(walker *walk, uint32_t level, int64_t q, int64_t n, int64_t instances)
{
    int64_t lo = q, hi = n - 1;

    while (lo < hi) {
        int64_t mid = lo + (hi - lo + 1) / 2;
        if (is_steady(walk, level, mid, instances))
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo;
}

static void visit_loop(walker *w, uint32_t level);
static void add_known_advance(walker *walk, uint32_t level);

/* Adds `times` times the sums `part` over the loops from `level` on. Sums with `k` > level include those of `level`. */
static void add_sums(const walker *walk, dfl_group_sums *outer, const dfl_group_sums *part, uint32_t level, int64_t times)
{
    dfl_i128 present;

    for (uint32_t k = level; k <= walk->g->n_lines; k++) {
        add_times(&outer->hold[k], &part->hold[k], times, &outer->overflow);
        add_times(&outer->adv[k], &part->adv[k], times, &outer->overflow);
    }
    outer->overflow |= part->overflow | dfl_mul(part->present, times, &present);
    outer->present = add_checked(outer->present, present, &outer->overflow);
    outer->largest = part->largest > outer->largest ? part->largest : outer->largest;
    outer->covering &= part->covering;
    outer->equal &= part->equal;
    outer->late |= part->late;
    outer->is_widened |= part->is_widened;
}

/* Adds the sums of iteration `q` of loop `level`, multiplied by `times`. */
static void visit_iteration(walker *walk, uint32_t level, int64_t q, int64_t times)
{
    uint32_t i = walk->g->lines[level];
    dfl_group_sums *outer = walk->sums, *part = outer;
    dfl_group_change store[2][DFL_MAX_GROUP + 1];
    dfl_group_sums own = { .hold = store[0], .adv = store[1] };

    if (times > 1) {
        memset(store[0], 0, (walk->g->n_lines + 1) * sizeof store[0][0]);
        memset(store[1], 0, (walk->g->n_lines + 1) * sizeof store[1][0]);
        own.covering = outer->covering;
        own.equal = outer->equal;
        part = &own;
    }
    walk->sums = part;
    walk->pos[i] = q;
    if (q > 0) {
        memcpy(walk->prev, walk->pos, sizeof walk->prev);
        walk->prev[i] = q - 1;
        wrap_inner(walk, level + 1);
        if (walk->known && q > 1)
            add_known_advance(walk, level);
        else
            add_change(walk, &part->adv[level + 1], true);
    }
    visit_loop(walk, level + 1);
    walk->sums = outer;
    if (part != outer)
        add_sums(walk, outer, part, level + 1, times);
}

/* ---- states of joint groups ---- */

/* Sums of a joint group over the loops from `level` on, in one state of the outer loops. Two positions of the outer loops
   are in one state if a translation takes the sets of one to those of the other: the pieces of all ranks are equally
   long, and every condition has the same value at the lowest corner of the pieces, unless it holds, or fails,
   throughout. */
typedef struct state_sums {
    uint32_t level;
    const int64_t *key;
    dfl_group_sums sums;
    const struct state_sums *next;
} state_sums;

enum { STATE_BUCKETS = 4096 };

/* Tells whether the steps < `end` that cut a rank divide the pieces that they cut. */
static bool is_even(const dfl_rank_source *r)
{
    int64_t len = r->extent;

    for (uint32_t k = 0; k < r->n_cuts; k++) {
        if (len % r->tile[k] != 0)
            return false;
        len = r->tile[k];
    }
    return true;
}

/* Tells whether all references of the group have equal indices inside the shape, so that a translation of the ranks moves
   all of them alike and no element leaves the shape. */
static bool moves_alike(const walker *walk)
{
    const dfl_group *group = walk->g;

    for (uint32_t d = 0; d < group->n_dims; d++) {
        const dfl_index *first = &walk->footprint->references[0].access->index[group->dims[d]];
        dfl_i128 lo = first->offset, hi = first->offset;
        for (uint32_t t = 0; t < first->n_terms; t++) {
            dfl_i128 reach = (dfl_i128)first->terms[t].coef * (walk->nest->workload->ranks[first->terms[t].rank].extent - 1);
            lo += reach < 0 ? reach : 0;
            hi += reach > 0 ? reach : 0;
        }
        if (lo < 0 || hi >= walk->nest->workload->tensors[walk->footprint->tensor].extents[group->dims[d]])
            return false;
        for (uint32_t v = 1; v < walk->footprint->n_references; v++) {
            const dfl_index *index = &walk->footprint->references[v].access->index[group->dims[d]];
            if (index->n_terms != first->n_terms || index->offset != first->offset)
                return false;
            for (uint32_t t = 0; t < index->n_terms; t++)
                if (index->terms[t].rank != first->terms[t].rank || index->terms[t].coef != first->terms[t].coef)
                    return false;
        }
    }
    return true;
}

/* Tells whether the positions of the group can be compared by states. */
static bool has_states(const walker *walk)
{
    const dfl_group *group = walk->g;

    if (!group->joint || group->n_lines == 0 || !moves_alike(walk))
        return false;
    for (uint32_t v = 0; v < walk->footprint->n_references; v++) {
        if (group->references[v].joint.n_ranks > DFL_MAX_GROUP)
            return false;
        for (uint32_t k = 0; k < group->references[v].joint.n_ranks; k++)
            if (!is_even(&group->references[v].ranks[k]))
                return false;
        if (group->references[v].n_active > 0 && group->references[v].n_gates > 0)
            return false;
        for (uint32_t k = 0; k < group->references[v].n_active; k++)
            if (!is_even(&group->references[v].active[k]))
                return false;
    }
    for (uint32_t k = 0; k < group->n_lines; k++) {
        const dfl_path_step *step = &walk->nest->paths->paths[group->driver[k]].steps[group->lines[k]];
        if (step->nominal % step->tile != 0)
            return false;
    }
    return true;
}

/* The hull of a rank's pieces in all instances and iterations, at the present position of the steps < `end`. */
static dfl_interval find_hull(const walker *walk, const dfl_rank_source *r, uint32_t end)
{
    dfl_interval first = { 0, r->extent };
    int64_t lo = 0, hi = r->extent;

    for (uint32_t k = 0; k < r->n_cuts; k++) {
        bool spatial = walk->nest->spatial[r->einsum] >> r->step[k] & 1;
        if (!spatial && r->step[k] >= end)
            break;
        if (spatial)
            continue;
        /* the pieces in different instances are translated by the same distance */
        lo += walk->pos[r->step[k]] * r->tile[k];
    }
    first.lo = lo;
    /* distance of the last instance, plus the length of its piece */
    int64_t len = r->extent, reach = 0;
    for (uint32_t k = 0; k < r->n_cuts; k++) {
        bool spatial = walk->nest->spatial[r->einsum] >> r->step[k] & 1;
        if (!spatial && r->step[k] >= end)
            break;
        reach += spatial ? len - r->tile[k] : 0;
        len = r->tile[k];
    }
    hi = lo + reach + len;
    first.hi = hi;
    return first;
}

/* Writes the state of the present position of the loops outside `level` into `key`: one number for each condition. */
static void find_state(const walker *walk, uint32_t level, int64_t *key)
{
    const dfl_group *group = walk->g;
    uint32_t end = level < group->n_lines ? group->lines[level] : UINT32_MAX, n = 0;
    dfl_interval box[DFL_MAX_GROUP];

    for (uint32_t v = 0; v < walk->footprint->n_references; v++) {
        const dfl_joint_access *joint = &group->references[v].joint;
        for (uint32_t k = 0; k < joint->n_ranks; k++)
            box[k] = find_hull(walk, &group->references[v].ranks[k], end);
        for (uint32_t c = 0; c < joint->n_where; c++) {
            dfl_i128 least, most, value = joint->fixed[c];
            dfl_joint_access_range(joint, c, box, &least, &most);
            for (uint32_t k = 0; k < joint->n_ranks; k++)
                value += (dfl_i128)joint->slopes[c * joint->n_ranks + k] * box[k].lo;
            key[n++] = least >= 0 ? INT64_MAX : most < 0 ? INT64_MIN : (int64_t)value;
        }
    }
}

static uint32_t count_conditions(const walker *walk)
{
    uint32_t n = 0;

    for (uint32_t v = 0; v < walk->footprint->n_references; v++)
        n += walk->g->references[v].joint.n_where;
    return n;
}

static void enumerate_loop(walker *walk, uint32_t level);

/* The bucket of the sums under a key of `n` numbers. */
static const state_sums **find_bucket(const walker *walk, uint32_t level, const int64_t *key, uint32_t n)
{
    uint64_t hash = level;

    for (uint32_t i = 0; i < n; i++)
        hash = (hash ^ (uint64_t)key[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return &walk->known[hash >> 52];
}

static const state_sums *find_known(const state_sums *s, uint32_t level, const int64_t *key, uint32_t n)
{
    while (s && (s->level != level || memcmp(s->key, key, n * sizeof *key) != 0))
        s = s->next;
    return s;
}

/* New sums, all zero, in a bucket. The arrays begin at entry `level` of the walk; entries before it are not used. */
static state_sums *start_sums(walker *walk, const state_sums **bucket, uint32_t level, const int64_t *key, uint32_t n)
{
    state_sums *fresh = DFL_NEW(walk->arena, state_sums);
    dfl_group_change *room = DFL_NEW_ARRAY(walk->arena, dfl_group_change, 2 * (walk->g->n_lines + 1));
    int64_t *copy = DFL_NEW_ARRAY(walk->arena, int64_t, n + 1);

    memcpy(copy, key, n * sizeof *key);
    *fresh = (state_sums){ .level = level, .key = copy, .next = *bucket,
                           .sums = { .hold = room, .adv = room + walk->g->n_lines + 1, .covering = walk->sums->covering,
                                     .equal = walk->sums->equal } };
    *bucket = fresh;
    return fresh;
}

/* Adds the sums over all positions of the loops from `level` on, computed once for each state of the outer loops. */
static void visit_state(walker *walk, uint32_t level)
{
    const uint32_t n = count_conditions(walk);
    int64_t *key = walk->keys + (size_t)level * 2 * n;
    dfl_group_sums *outer = walk->sums;
    const state_sums **bucket, *known;

    find_state(walk, level, key);
    bucket = find_bucket(walk, level, key, n);
    known = find_known(*bucket, level, key, n);
    if (!known) {
        state_sums *fresh = start_sums(walk, bucket, level, key, n);
        walk->sums = &fresh->sums;
        enumerate_loop(walk, level);
        walk->sums = outer;
        known = fresh;
    }
    add_sums(walk, outer, &known->sums, level, 1);
}

/* Adds the change when loop `level` advances to its present iteration, computed once for each pair of the states before
   and after the advance. */
static void add_known_advance(walker *walk, uint32_t level)
{
    const uint32_t n = count_conditions(walk), i = walk->g->lines[level], tag = level + 1 + DFL_MAX_GROUP;
    int64_t *key = walk->keys + (size_t)(level + 1) * 2 * n;
    dfl_group_sums *outer = walk->sums;
    const state_sums **bucket, *known;

    find_state(walk, level + 1, key);
    walk->pos[i]--;
    find_state(walk, level + 1, key + n);
    walk->pos[i]++;
    bucket = find_bucket(walk, tag, key, 2 * n);
    known = find_known(*bucket, tag, key, 2 * n);
    if (!known) {
        state_sums *fresh = start_sums(walk, bucket, tag, key, 2 * n);
        walk->sums = &fresh->sums;
        add_change(walk, &fresh->sums.adv[level + 1], true);
        walk->sums = outer;
        known = fresh;
    }
    add_sums(walk, outer, &known->sums, level + 1, 1);
}

/* Whether iteration `q` of loop `level` is in the state `key`. */
static bool is_in_state(walker *walk, uint32_t level, int64_t q, const int64_t *key, uint32_t n)
{
    int64_t own[DFL_MAX_GROUP];

    walk->pos[walk->g->lines[level]] = q;
    find_state(walk, level + 1, own);
    return memcmp(own, key, n * sizeof *key) == 0;
}

/* The last iteration of loop `level`, out of `n`, up to which all iterations are in the state of iterations `q` and q - 1.
   These have equal sums, since the same translation leads to each of them. Between two iterations in one state, all are in
   this state: a condition that holds, or fails, throughout at both ends does so between them, and any other condition
   with equal values does not depend on the loop. Requires q >= 2: iteration 0 may differ from the others. */
static int64_t find_last_alike(walker *walk, uint32_t level, int64_t q, int64_t n)
{
    const uint32_t n_key = count_conditions(walk);
    int64_t key[DFL_MAX_GROUP], last = q;

    if (n_key > DFL_MAX_GROUP)
        return q;
    walk->pos[walk->g->lines[level]] = q;
    find_state(walk, level + 1, key);
    for (int64_t step = is_in_state(walk, level, q - 1, key, n_key) ? 1 : 0; step > 0;)
        if (last + step < n && is_in_state(walk, level, last + step, key, n_key)) {
            last += step;
            step *= 2;
        } else {
            step /= 2;
        }
    return last;
}

static void visit_loop(walker *walk, uint32_t level)
{
    if (walk->known && level > 0)
        visit_state(walk, level);
    else
        enumerate_loop(walk, level);
}

/* Adds the sums over all positions of the loops from `level` on, at the present position of the outer loops. */
static void enumerate_loop(walker *walk, uint32_t level)
{
    const dfl_group *group = walk->g;

    memcpy(walk->prev, walk->pos, sizeof walk->prev);
    wrap_inner(walk, level);
    dfl_group_change at = { 0 };
    add_change(walk, &at, level < group->n_lines || walk->how->anew);
    if (level == group->n_lines && !walk->how->anew) /* only a loop of another group advances, so the set of this group stays */
        at.kept = at.leave = at.left_kept = at.enter;
    add_times(&walk->sums->hold[level], &at, 1, &walk->sums->overflow);
    if (level == group->n_lines) {
        walk->sums->present = add_checked(walk->sums->present, at.enter, &walk->sums->overflow);
        return;
    }
    int64_t n = count_trips(walk, level);
    for (int64_t q = 0; q < n; q++) {
        int64_t last = q;
        if (!dfl_budget_ok(dfl_arena_budget(walk->arena)))
            return;
        int64_t instances = group->plain && q > 0 && q + 2 < n ? count_full_instances(walk, level, q) : -1;
        if (instances > 0 && is_steady(walk, level, q, instances))
            last = find_last_steady(walk, level, q, n, instances);
        else if (walk->known && q > 1)
            last = find_last_alike(walk, level, q, n);
        visit_iteration(walk, level, q, last - q + 1);
        q = last;
        for (uint32_t k = level; k < group->n_lines; k++)
            walk->pos[group->lines[k]] = 0;
    }
    walk->pos[group->lines[level]] = 0;
}

int64_t dfl_group_sums_size(dfl_nest *nest, const dfl_footprint *footprint, const dfl_group *group, const dfl_sharing *how,
                            const int64_t *pos)
{
    dfl_group_sums unused = { 0 };
    walker w = { .nest = nest, .footprint = footprint, .g = group, .how = how, .arena = nest->arena, .sums = &unused };

    memcpy(w.pos, pos, sizeof w.pos);
    w.shape = group->shape;
    find_tile(&w, w.pos, &w.cur, false);
    return dfl_interval_set_count(&w.cur);
}

/* Tells whether the restriction excludes some coordinates of a group by a range. */
static bool is_ranged(const dfl_group *group, const dfl_restriction *only)
{
    for (uint32_t k = 0; only && k < group->n_spatial; k++)
        if (only->ranged >> group->spatial[k] & 1)
            return true;
    return false;
}

static void clear_sums(const dfl_group *group, dfl_group_sums *out)
{
    *out = (dfl_group_sums){ .hold = out->hold, .adv = out->adv };
    memset(out->hold, 0, (group->n_lines + 1) * sizeof *out->hold);
    memset(out->adv, 0, (group->n_lines + 1) * sizeof *out->adv);
}

bool dfl_group_sums_take(dfl_nest *nest, const dfl_footprint *footprint, const dfl_group *group, const dfl_sharing *how,
                         const dfl_restriction *only, dfl_group_sums *out)
{
    walker w = { .nest = nest, .footprint = footprint, .g = group, .how = how, .only = only, .ranged = is_ranged(group, only),
                 .arena = nest->arena, .sums = out };

    clear_sums(group, out);
    if (!w.ranged && dfl_even_sums_take(nest, footprint, group, how, out))
        return true;
    if (dfl_class_sums_take(nest, footprint, group, how, only, out))
        return dfl_budget_ok(dfl_arena_budget(nest->arena));
    clear_sums(group, out);
    out->covering = footprint->n_references >= 64 ? UINT64_MAX : (UINT64_C(1) << footprint->n_references) - 1;
    out->equal = true;
    w.shape = group->shape;
    w.simple = footprint->n_references == 1 && !how->box && !how->made && how->inside == 0 && !group->joint;
    if (has_states(&w)) {
        w.known = DFL_NEW_ARRAY(nest->arena, const state_sums *, STATE_BUCKETS);
        w.keys = DFL_NEW_ARRAY(nest->arena, int64_t, (size_t)(group->n_lines + 2) * 2 * count_conditions(&w) + 1);
    }
    visit_loop(&w, 0);
    return dfl_budget_ok(dfl_arena_budget(nest->arena));
}

