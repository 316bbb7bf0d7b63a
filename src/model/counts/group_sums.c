/* Sums of one group over the positions of its loops. A walk enumerates these positions; even groups need no walk
   (even_sums.h). */
#include "model/counts/group_sums.h"

#include <string.h>

#include "model/counts/class_sums.h"
#include "model/counts/even_sums.h"
#include "model/counts/joint_sums.h"
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

/* A step along which instances that share a transfer may have equal sets: the innermost one of `united`, if it cuts no rank of an
   index. DFL_NONE if there is none. */
static uint32_t find_alike(const walker *walk, uint64_t united, bool forwards)
{
    const dfl_group *group = walk->g;
    uint32_t k = group->n_spatial;

    while (k > 0 && !(united >> group->spatial[k - 1] & 1))
        k--;
    if (k == 0 || !group->joint || walk->ranged || forwards)
        return DFL_NONE;
    for (uint32_t i = 0; i < group->n_spatial; i++)
        if (walk->how->inside >> group->spatial[i] & 1)
            return DFL_NONE;
    for (uint32_t v = 0; v < walk->footprint->n_references; v++) {
        const dfl_group_reference *reference = &group->references[v];
        for (uint32_t r = 0; r < reference->joint.n_indexing; r++)
            for (uint32_t c = 0; c < reference->ranks[r].n_cuts; c++)
                if (reference->ranks[r].step[c] == group->spatial[k - 1])
                    return DFL_NONE;
        for (uint32_t g = 0; g < reference->n_gates; g++)
            if (reference->gates[g] == group->spatial[k - 1])
                return DFL_NONE;
    }
    return group->spatial[k - 1];
}

/* Writes for each reference and condition whether it holds (1) or fails (0) at all points of the piece at a position; idle
   references fail. Returns the end, or NULL if a condition holds at some points only. */
static int64_t *find_settled(walker *walk, const int64_t *pos, int64_t *out)
{
    for (uint32_t v = 0; v < walk->footprint->n_references; v++) {
        const dfl_group_reference *reference = &walk->g->references[v];
        const dfl_joint_access *joint = &reference->joint;
        dfl_interval box[DFL_MAX_GROUP];
        bool idle = is_idle(walk, v, pos);
        for (uint32_t k = 0; k < joint->n_ranks; k++) {
            box[k] = find_piece(walk, &reference->ranks[k], pos);
            idle |= box[k].hi <= box[k].lo;
        }
        for (uint32_t c = 0; c < joint->n_where; c++) {
            dfl_i128 least = 0, most = -1;
            if (!idle)
                dfl_joint_access_range(joint, c, box, &least, &most);
            if (!idle && least < 0 && most >= 0)
                return NULL;
            *out++ = !idle && least >= 0;
        }
        *out++ = idle;
    }
    return out;
}

/* Moves to the last coordinate along step `i` up to which all sets equal those of the present one: every condition holds at all
   points of the pieces of all these coordinates, or at none of them. */
static void skip_alike(walker *walk, uint32_t i, bool compare)
{
    enum { MOST = 64 };
    int64_t first[2 * MOST], here[2 * MOST], *end, parts = 0;
    uint32_t n = 0;

    for (uint32_t v = 0; v < walk->footprint->n_references; v++) {
        n += walk->g->references[v].joint.n_where + 1;
        if (walk->g->references[v].joint.n_ranks > DFL_MAX_GROUP)
            return;
    }
    if (n > MOST || !(end = find_settled(walk, walk->pos, first)) || (compare && !(end = find_settled(walk, walk->prev, end))))
        return;
    for (uint32_t k = 0; k < walk->g->n_spatial; k++)
        parts = walk->g->spatial[k] == i ? walk->g->parts[k] : parts;
    for (int64_t step = 1; step > 0;) {
        bool alike = walk->pos[i] + step < parts;
        if (alike) {
            int64_t *last;
            walk->prev[i] = walk->pos[i] += step;
            last = find_settled(walk, walk->pos, here);
            if (last && compare)
                last = find_settled(walk, walk->prev, last);
            alike = last && memcmp(first, here, (size_t)(end - first) * sizeof *first) == 0;
            if (!alike)
                walk->prev[i] = walk->pos[i] -= step;
        }
        step = alike ? step * 2 : step / 2;
    }
}

/* Adds the size of the set of the instances that share a transfer, at the present coordinates of the others; with `compare`, also
   its change against the set at `prev`. */
static void add_set_change(walker *walk, dfl_group_change *out, uint64_t united, bool forwards, bool compare)
{
    const uint32_t alike = find_alike(walk, united, forwards);
    const bool is_settled = walk->g->dim == DFL_NO_DIM && walk->footprint->n_references == 1; /* by one set that is not empty */
    bool *over = &walk->sums->overflow;

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
        if (alike != DFL_NONE)
            skip_alike(walk, alike, compare);
        if (!compare && size > 0 && is_settled) {
            for (uint64_t left = united; left; left &= left - 1)
                walk->pos[__builtin_ctzll(left)] = walk->prev[__builtin_ctzll(left)] = 0;
            break;
        }
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
        out->late |= united && enters_late(walk);
        int64_t b = dfl_interval_set_count(&walk->all_old);
        out->kept = add_checked(out->kept, a - dfl_interval_set_count(&walk->entering), over);
        out->leave = add_checked(out->leave, b, over);
        out->left_kept = add_checked(out->left_kept, b - dfl_interval_set_count(&walk->leaving), over);
    }
}

/* Whether neighbours along a step of the group pass elements on. */
static bool has_forwarding(const walker *walk)
{
    const uint32_t step = walk->how->forward;

    return step != DFL_NONE && walk->footprint->group_of_step[step] != DFL_NONE &&
           &walk->footprint->groups[walk->footprint->group_of_step[step]] == walk->g;
}

/* Adds the sizes of the sets at `pos`, summed over instances; with `compare`, also their change against the sets at
   `prev`. */
static void add_change(walker *walk, dfl_group_change *out, bool compare)
{
    const dfl_sharing *how = walk->how;
    uint64_t all = 0;

    for (uint32_t k = 0; k < walk->g->n_spatial; k++)
        all |= UINT64_C(1) << walk->g->spatial[k];
    const uint64_t united = all & how->united & ~(how->first_only | how->inside);
    const uint64_t summed = all & ~(how->united | how->inside | how->first_only);
    const bool forwards = has_forwarding(walk), simple = walk->simple && !united && !forwards;

    move_pinned(walk, false);
    do {
        if (simple && (!is_counted(walk) || add_interval_change(walk, out, compare)))
            continue;
        add_set_change(walk, out, united, forwards, compare);
        if (!dfl_budget_ok(dfl_arena_budget(walk->arena)))
            return;
    } while (summed && advance_coordinate(walk, summed, walk->pos, walk->prev));
    move_pinned(walk, true);
}

/* The change of one choice of coordinates, for dfl_joint_sums_take. */
static void add_position(void *context, const int64_t *pos, const int64_t *prev, uint64_t united, bool compare,
                         dfl_group_change *out)
{
    walker *walk = context;

    memcpy(walk->pos, pos, sizeof walk->pos);
    memcpy(walk->prev, prev, sizeof walk->prev);
    add_set_change(walk, out, united, has_forwarding(walk), compare);
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
    to->late |= from->late;
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

static void visit_loop(walker *walk, uint32_t level);

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
        add_change(walk, &part->adv[level + 1], true);
    }
    visit_loop(walk, level + 1);
    walk->sums = outer;
    if (part != outer)
        add_sums(walk, outer, part, level + 1, times);
}

/* Adds the sums over all positions of the loops from `level` on, at the present position of the outer loops. */
static void visit_loop(walker *walk, uint32_t level)
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
    if (!dfl_joint_sums_take(nest, footprint, group, how, only, add_position, &w, out))
        visit_loop(&w, 0);
    return dfl_budget_ok(dfl_arena_budget(nest->arena));
}

