#include "model/counts/class_sums.h"

#include <string.h>

#include "model/counts/even_sums.h"
#include "support/vec.h"

/* Limits on the lengths of pieces in one family, and on the families at one position. A rank with 8 cuts has at most 9
   lengths, and seldom more than 4. With more the positions and instances are enumerated. */
enum { MEMBERS = 8, FAMILIES = 24 };

/* Lengths of the piece of an instance at the present step and at the step before. */
typedef struct { int64_t cur, prev; } piece_lengths;

/* `times` equal sets of instances that share a transfer: one member for each pair of lengths that occurs among them. Without
   sharing, a set has one instance. Instances without a piece at both steps are left out. */
typedef struct {
    piece_lengths at[MEMBERS];
    uint32_t n;
    dfl_i128 times;
} family;

typedef struct {
    family at[FAMILIES];
    uint32_t n;
    piece_lengths first; /* of the instance at coordinate 0, which decides the iterations of the loops */
} families;

/* A step that cuts the rank. */
typedef struct {
    int64_t tile;
    int64_t from, to; /* spatial: coordinates from <= q < to are counted */
    bool is_loop;
    bool united;      /* the instances along the step share the transfer */
} class_cut;

typedef struct {
    class_cut cut[2 * DFL_MAX_GROUP];
    uint32_t n;
    bool elements;    /* the sets have the elements of the pieces; otherwise each is {0} or empty */
    dfl_group_sums *sums;
    dfl_budget *budget;
    bool known;       /* the families are all counted */
} class_walk;

static int64_t tile_length(int64_t length, int64_t tile, int64_t q)
{
    const int64_t left = length - q * tile;

    return left > tile ? tile : left > 0 ? left : 0;
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* The first index > q of a tile whose length differs from that of the tile with index `q`. */
static int64_t next_length(int64_t length, int64_t tile, int64_t q)
{
    const int64_t full = length / tile;

    if (q < full)
        return full;
    return q == full && length % tile > 0 ? full + 1 : INT64_MAX;
}

/* The first index > q at which a member of a family has another length. */
static int64_t next_family_length(const family *f, int64_t tile, int64_t q)
{
    int64_t next = INT64_MAX;

    for (uint32_t k = 0; k < f->n; k++) {
        next = smaller(next, next_length(f->at[k].cur, tile, q));
        next = smaller(next, next_length(f->at[k].prev, tile, q));
    }
    return next;
}

static void add_member(class_walk *walk, family *f, piece_lengths more)
{
    if (more.cur == 0 && more.prev == 0)
        return;
    for (uint32_t k = 0; k < f->n; k++)
        if (f->at[k].cur == more.cur && f->at[k].prev == more.prev)
            return;
    if (f->n == MEMBERS)
        walk->known = false;
    else
        f->at[f->n++] = more;
}

static void add_family(class_walk *walk, families *to, const family *more)
{
    if (more->n == 0)
        return;
    for (uint32_t k = 0; k < to->n; k++)
        if (to->at[k].n == more->n && memcmp(to->at[k].at, more->at, more->n * sizeof more->at[0]) == 0) {
            to->at[k].times += more->times;
            return;
        }
    if (to->n == FAMILIES)
        walk->known = false;
    else
        to->at[to->n++] = *more;
}

/* Adds the tiles with index `q` of the pieces of a family. */
static void add_tiles(class_walk *walk, family *to, const family *from, int64_t tile, int64_t q)
{
    for (uint32_t k = 0; k < from->n; k++)
        add_member(walk, to, (piece_lengths){ tile_length(from->at[k].cur, tile, q), tile_length(from->at[k].prev, tile, q) });
}

/* Splits the instances along a spatial step. */
static void split_instances(class_walk *walk, families *all, const class_cut *cut)
{
    family from[FAMILIES];
    const uint32_t n = all->n;

    memcpy(from, all->at, n * sizeof *from);
    all->n = 0;
    for (uint32_t k = 0; k < n; k++) {
        family shared = { .n = 0, .times = from[k].times };
        for (int64_t q = cut->from, next; q < cut->to; q = next) {
            next = smaller(next_family_length(&from[k], cut->tile, q), cut->to);
            if (cut->united) {
                add_tiles(walk, &shared, &from[k], cut->tile, q);
                continue;
            }
            family own = { .n = 0, .times = from[k].times * (next - q) };
            add_tiles(walk, &own, &from[k], cut->tile, q);
            add_family(walk, all, &own);
        }
        if (cut->united)
            add_family(walk, all, &shared);
    }
    all->first = (piece_lengths){ smaller(all->first.cur, cut->tile), smaller(all->first.prev, cut->tile) };
}

/* Adds the sums of the present families to `to`, `times` times. `moved`: some loop stands at another iteration than at the step
   before, so that the pieces of a rank have no element in common. */
static void add_families(class_walk *walk, dfl_group_change *to, const families *all, bool moved, dfl_i128 times)
{
    dfl_i128 enter = 0, kept = 0, leave = 0, left_kept = 0;
    bool *over = &walk->sums->overflow;

    for (uint32_t k = 0; k < all->n; k++) {
        const family *f = &all->at[k];
        bool now = false, before = false, enters = false, leaves = false, stays = false;
        if (walk->elements) {
            enter += f->times * f->at[0].cur;
            leave += f->times * f->at[0].prev;
            continue;
        }
        for (uint32_t m = 0; m < f->n; m++) {
            now |= f->at[m].cur > 0;
            before |= f->at[m].prev > 0;
            enters |= f->at[m].cur > 0 && f->at[m].prev == 0;
            leaves |= f->at[m].cur == 0 && f->at[m].prev > 0;
            stays |= f->at[m].cur > 0 && f->at[m].prev > 0;
        }
        enter += now ? f->times : 0;
        kept += now && !enters ? f->times : 0;
        leave += before ? f->times : 0;
        left_kept += before && !leaves ? f->times : 0;
        to->late |= enters && stays;
    }
    if (walk->elements)
        kept = left_kept = moved ? 0 : enter;
    const dfl_i128 part[] = { enter, kept, leave, left_kept };
    dfl_i128 *const sum[] = { &to->enter, &to->kept, &to->leave, &to->left_kept };
    for (uint32_t k = 0; k < sizeof part / sizeof *part; k++) {
        dfl_i128 all_times;
        *over |= dfl_mul(part[k], times, &all_times);
        *over |= dfl_add(*sum[k], all_times, sum[k]);
    }
}

/* Adds the sums with the loops from cut `c` on at their first iteration, and at their last one at the step before. */
static void add_wrapped(class_walk *walk, dfl_group_change *to, const families *from, uint32_t c, bool moved, dfl_i128 times)
{
    families all;

    all.n = from->n;
    all.first = from->first;
    memcpy(all.at, from->at, from->n * sizeof all.at[0]);
    for (; c < walk->n; c++) {
        const int64_t tile = walk->cut[c].tile;
        if (!walk->cut[c].is_loop) {
            split_instances(walk, &all, &walk->cut[c]);
            continue;
        }
        const int64_t last = (all.first.prev - 1) / tile;
        moved |= last > 0;
        for (uint32_t k = 0; k < all.n; k++)
            for (uint32_t m = 0; m < all.at[k].n; m++) {
                piece_lengths *at = &all.at[k].at[m];
                *at = (piece_lengths){ smaller(at->cur, tile), tile_length(at->prev, tile, last) };
            }
        all.first = (piece_lengths){ smaller(all.first.cur, tile), tile_length(all.first.prev, tile, last) };
    }
    add_families(walk, to, &all, moved, times);
}

/* The families in iteration `q` of a loop, after iteration `before` of the same loop; -1 = no iteration before. */
static void step_families(class_walk *walk, const families *from, int64_t tile, int64_t q, int64_t before, families *to)
{
    before = before < 0 ? q : before;
    to->n = 0;
    to->first = (piece_lengths){ tile_length(from->first.cur, tile, q), tile_length(from->first.cur, tile, before) };
    for (uint32_t k = 0; k < from->n; k++) {
        family own = { .n = 0, .times = from->at[k].times };
        for (uint32_t m = 0; m < from->at[k].n; m++) {
            const int64_t length = from->at[k].at[m].cur;
            add_member(walk, &own, (piece_lengths){ tile_length(length, tile, q), tile_length(length, tile, before) });
        }
        add_family(walk, to, &own);
    }
}

/* Adds the sums over all positions of the loops from cut `c` on, which are below the first `level` loops. The present families
   occur `times` times; their pieces at the step before are the present ones. */
static void visit_cuts(class_walk *walk, const families *from, uint32_t c, uint32_t level, dfl_i128 times)
{
    dfl_group_sums *sums = walk->sums;
    families all = *from, step;

    add_wrapped(walk, &sums->hold[level], from, c, false, times);
    for (; c < walk->n && !walk->cut[c].is_loop; c++)
        split_instances(walk, &all, &walk->cut[c]);
    if (c == walk->n) {
        dfl_group_change present = { 0 };
        add_families(walk, &present, &all, false, times);
        sums->overflow |= dfl_add(sums->present, present.enter, &sums->present);
    }
    if (c == walk->n || !dfl_budget_spend(walk->budget, 1))
        return;
    const int64_t tile = walk->cut[c].tile, trips = (all.first.cur - 1) / tile + 1;
    for (int64_t q = 0, next; q < trips && walk->known; q = next) {
        next = smaller(trips, next_length(all.first.cur, tile, q));
        for (uint32_t k = 0; k < all.n; k++)
            next = smaller(next, next_family_length(&all.at[k], tile, q));
        if (q > 0) {
            step_families(walk, &all, tile, q, q - 1, &step);
            add_wrapped(walk, &sums->adv[level + 1], &step, c + 1, true, times);
        }
        step_families(walk, &all, tile, q, -1, &step);
        if (next - q > 1)
            add_wrapped(walk, &sums->adv[level + 1], &step, c + 1, true, times * (next - q - 1));
        visit_cuts(walk, &step, c + 1, level + 1, times * (next - q));
    }
}

/* Sets which coordinates of spatial step `i` of the group are counted. False if they are not an interval of their own. */
static bool set_coordinates(const dfl_group *group, const dfl_sharing *how, const dfl_restriction *only, uint32_t k,
                            class_cut *cut)
{
    const uint32_t i = group->spatial[k];
    const uint64_t bit = UINT64_C(1) << i;
    const bool ranged = only && (only->ranged & bit);
    int64_t low = ranged ? only->lo : 0, high = ranged && only->hi < group->parts[k] ? only->hi : group->parts[k];

    for (uint32_t other = 0; ranged && other < group->n_spatial; other++)
        if (other != k && (only->ranged >> group->spatial[other] & 1) && group->parts[other] > 1)
            return false; /* the range is one of the numbers that several coordinates make up */
    if (how->first_only & bit) {
        const int64_t at = only && (only->pinned & bit) ? only->at[i] : 0;
        low = low > at ? low : at;
        high = high < at + 1 ? high : at + 1;
    }
    cut->from = low;
    cut->to = high;
    cut->united = (how->united & bit) && !(how->first_only & bit);
    return true;
}

/* Lists the cuts of the only rank that decides the group. False if the group has no classes. */
static bool list_cuts(class_walk *walk, const dfl_nest *nest, const dfl_footprint *footprint, const dfl_group *group,
                      const dfl_sharing *how, const dfl_restriction *only, uint32_t rank)
{
    const dfl_path *path = &nest->paths->paths[footprint->references[0].einsum];
    uint32_t t = 0, s = 0;

    while (t < group->n_lines || s < group->n_spatial) {
        class_cut *cut = &walk->cut[walk->n++];
        const bool is_loop = s == group->n_spatial || (t < group->n_lines && group->lines[t] < group->spatial[s]);
        const uint32_t i = is_loop ? group->lines[t++] : group->spatial[s];
        if (path->steps[i].rank != rank)
            return false;
        *cut = (class_cut){ .tile = path->steps[i].tile, .is_loop = is_loop };
        if (is_loop)
            continue;
        if (!walk->elements && (how->inside >> i & 1) && group->parts[s] > 1)
            return false; /* an element stays in a tile if any instance in it had a piece */
        if (!set_coordinates(group, how, only, s++, cut))
            return false;
        /* pieces of one rank in different instances have no element in common */
        cut->united &= !walk->elements;
    }
    return true;
}

bool dfl_class_sums_take(dfl_nest *nest, const dfl_footprint *footprint, const dfl_group *group, const dfl_sharing *how,
                         const dfl_restriction *only, dfl_group_sums *out)
{
    const uint32_t rank = dfl_group_only_rank(nest, footprint, group);
    class_walk walk = { .sums = out, .budget = dfl_arena_budget(nest->arena), .elements = group->dim != DFL_NO_DIM,
                        .known = true };
    const dfl_reference *reference = &footprint->references[0];

    if (rank == DFL_NONE || how->forward != DFL_NONE || how->anew || (walk.elements && how->inside))
        return false;
    if (how->box && walk.elements && reference->access->index[group->dim].terms[0].coef > 1)
        return false;
    if (how->made && reference->access != &nest->workload->einsums[reference->einsum].output)
        return false;
    if (!list_cuts(&walk, nest, footprint, group, how, only, rank))
        return false;
    const int64_t extent = nest->workload->ranks[rank].extent;
    families all = { .n = 1, .first = { extent, extent }, .at = { { .n = 1, .times = 1, .at = { { extent, extent } } } } };
    visit_cuts(&walk, &all, 0, 0, 1);
    out->largest = walk.elements ? extent : 1;
    for (uint32_t c = 0; c < walk.n; c++)
        out->largest = smaller(out->largest, walk.cut[c].tile);
    out->covering = UINT64_MAX;
    out->equal = true;
    return walk.known;
}

/* ---- coordinates with equal pieces ---- */

/* Tells whether all indices of a reference in the group's dimension lie inside the shape. */
static bool is_inside(const dfl_nest *nest, const dfl_footprint *footprint, const dfl_group *group, uint32_t v)
{
    const dfl_index *index = &footprint->references[v].access->index[group->dim];
    dfl_i128 low = index->offset, high = index->offset;

    for (uint32_t t = 0; t < index->n_terms; t++) {
        const dfl_i128 reach = (dfl_i128)index->terms[t].coef * (nest->workload->ranks[index->terms[t].rank].extent - 1);
        low += reach < 0 ? reach : 0;
        high += reach > 0 ? reach : 0;
    }
    return low >= 0 && high < nest->workload->tensors[footprint->tensor].extents[group->dim];
}

/* Inserts a coordinate unless it is there. */
static bool insert_start(int64_t start, int64_t *starts, uint32_t *n, uint32_t most)
{
    uint32_t at = *n;

    while (at > 0 && starts[at - 1] >= start)
        at--;
    if (at < *n && starts[at] == start)
        return true;
    if (*n == most)
        return false;
    memmove(&starts[at + 1], &starts[at], (*n - at) * sizeof *starts);
    starts[at] = start;
    ++*n;
    return true;
}

/* Adds the coordinates along step `i` at which the piece of a rank becomes shorter, for every length of the piece above it. */
static bool add_rank_starts(const dfl_rank_source *rank, uint32_t i, int64_t *starts, uint32_t *n, uint32_t most)
{
    int64_t length[DFL_MAX_STEPS + 1] = { rank->extent };
    uint32_t n_lengths = 1;

    for (uint32_t c = 0; c < rank->n_cuts; c++) {
        const int64_t tile = rank->tile[c];
        if (rank->step[c] == i) {
            for (uint32_t k = 0; k < n_lengths; k++) {
                const int64_t full = length[k] / tile;
                if (!insert_start(full, starts, n, most) || (length[k] % tile > 0 && !insert_start(full + 1, starts, n, most)))
                    return false;
            }
            return true;
        }
        /* of each length a full tile and the last one */
        uint32_t left = 0;
        bool full = false;
        for (uint32_t k = 0; k < n_lengths; k++) {
            full |= length[k] >= tile;
            if (length[k] % tile > 0)
                length[left++] = length[k] % tile;
        }
        if (full)
            length[left++] = tile;
        n_lengths = left;
    }
    return true;
}

bool dfl_class_starts_add(const dfl_nest *nest, const dfl_footprint *footprint, const dfl_group *group, uint32_t i,
                          int64_t *starts, uint32_t *n, uint32_t most)
{
    if (!group->plain || group->joint || (group->dim != DFL_NO_DIM && (footprint->n_references != 1 ||
                                                                       !is_inside(nest, footprint, group, 0))))
        return false;
    for (uint32_t v = 0; v < footprint->n_references; v++) {
        const dfl_group_reference *reference = &group->references[v];
        if (reference->n_gates > 0)
            return false;
        for (uint32_t t = 0; t < reference->n_terms; t++)
            if (reference->terms[t].is_restricted || !add_rank_starts(&reference->terms[t], i, starts, n, most))
                return false;
        for (uint32_t t = 0; t < reference->n_active; t++)
            if (reference->active[t].is_restricted || !add_rank_starts(&reference->active[t], i, starts, n, most))
                return false;
    }
    return true;
}
