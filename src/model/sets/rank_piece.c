/*
 * Pieces of ranks, and the demands that limit these pieces. Pieces and demands are mutually recursive: the piece of a
 * restricted producer depends on the pieces of its consumers, which may be restricted, too.
 */
#include "model/sets/rank_piece.h"

#include <string.h>

#include "support/vec.h"

/* The demand on the dimension of the output that `rank` indexes bare; sets *dim to this dimension. NULL if no
   consumer restricts the rank. */
static const dfl_demand *find_demand(const dfl_nest *nest, uint32_t e, uint32_t rank, uint32_t *dim)
{
    const dfl_access *out = &nest->workload->einsums[e].output;

    for (uint32_t d = 0; nest->demands[e] && d < out->n_dims; d++) {
        uint32_t found;
        if (nest->demands[e][d].is_restricted && dfl_index_is_bare(&out->index[d], &found) && found == rank) {
            *dim = d;
            return &nest->demands[e][d];
        }
    }
    return NULL;
}

/* Hull of the indices of dimension `d` that the consumers read below their first `n` steps; empty if the consumers read
   none. */
static dfl_interval find_read_hull(const dfl_nest *nest, uint32_t e, uint32_t d, const dfl_demand *demand, uint32_t n,
                                   const int64_t *pos)
{
    uint32_t tensor = nest->workload->einsums[e].output.tensor;
    int64_t extent = nest->workload->tensors[tensor].extents[d];
    dfl_interval all = { INT64_MAX, INT64_MIN };

    for (uint32_t k = 0; k < demand->n_consumers; k++) {
        const dfl_einsum *c = &nest->workload->einsums[demand->consumers[k]];
        for (uint32_t i = 0; i < c->n_inputs; i++) {
            const dfl_access *a = &c->inputs[i];
            if (a->tensor != tensor)
                continue;
            dfl_interval r = { a->index[d].offset, a->index[d].offset + 1 };
            bool empty = false;
            for (uint32_t t = 0; t < a->index[d].n_terms; t++) {
                dfl_interval piece = dfl_rank_piece(nest, demand->consumers[k], a->index[d].terms[t].rank, n, pos);
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
    return all.lo < all.hi ? all : (dfl_interval){ 0, 0 };
}

/* Moves `pos` to the previous position in the order of execution. False at the first position. */
static bool step_back(const dfl_nest *nest, const dfl_demand *demand, uint32_t n, int64_t *pos)
{
    for (uint32_t k = demand->n_lines; k-- > 0;) {
        uint32_t i = demand->lines[k];
        if (i >= n || pos[i] == 0)
            continue;
        pos[i]--;
        for (uint32_t j = k + 1; j < demand->n_lines; j++) {
            uint32_t inner = demand->lines[j];
            if (inner < n)
                pos[inner] = dfl_rank_piece_trips(nest, demand->driver[j], inner, pos) - 1;
        }
        return true;
    }
    return false;
}

static bool is_last(const dfl_nest *nest, const dfl_demand *demand, uint32_t n, const int64_t *pos)
{
    for (uint32_t k = 0; k < demand->n_lines; k++) {
        uint32_t i = demand->lines[k];
        if (i < n && pos[i] + 1 < dfl_rank_piece_trips(nest, demand->driver[k], i, pos))
            return false;
    }
    return true;
}

/* Indices of dimension `d` that a restricted producer computes below the first `n` steps, if windows move only upwards
   (producer_limits.c checks this). The lower end is the upper end of the last earlier non-empty window. The last
   iteration also computes the rest of the dimension. */
static dfl_interval find_demand_interval(const dfl_nest *nest, uint32_t e, uint32_t d, const dfl_demand *demand, uint32_t n,
                                         const int64_t *pos)
{
    int64_t extent = nest->workload->tensors[nest->workload->einsums[e].output.tensor].extents[d], done = 0;
    dfl_interval now = find_read_hull(nest, e, d, demand, n, pos);
    int64_t back[DFL_MAX_STEPS];
    bool last = is_last(nest, demand, n, pos);

    memcpy(back, pos, sizeof back);
    while (step_back(nest, demand, n, back)) {
        dfl_interval before = find_read_hull(nest, e, d, demand, n, back);
        if (before.hi > before.lo) {
            done = before.hi;
            break;
        }
    }
    if (now.hi <= now.lo)
        now = (dfl_interval){ done, done };
    now.lo = now.lo < done ? done : now.lo;
    now.hi = now.hi < now.lo ? now.lo : now.hi;
    if (last && now.hi < extent)
        now.hi = extent;
    return now;
}

/* ---- demands as sets ---- */

/* A demanded set, at fixed iterations of the first steps that decide it. */
typedef struct dfl_demand_entry {
    uint32_t n;                     /* number of steps with a fixed iteration: the first `n` steps of the demand */
    const int64_t *pos;             /* iterations of these steps */
    dfl_interval_set runs;
    const dfl_interval_set *joined; /* `runs` intersected with the demands of the outer branches; NULL before the first use */
    struct dfl_demand_entry *next;
} demand_entry;

static uint32_t count_fixed(const dfl_demand *demand, uint32_t n)
{
    uint32_t k = 0;

    while (k < demand->n_lines && demand->lines[k] < n)
        k++;
    return k;
}

static demand_entry **find_bucket(const dfl_nest *nest, dfl_demand *demand, uint32_t n, const int64_t *pos)
{
    uint64_t hash = n;

    if (!demand->known || demand->run != nest->run)
        demand->known = DFL_NEW_ARRAY(nest->arena, demand_entry *, DFL_DEMAND_BUCKETS);
    demand->run = nest->run;
    for (uint32_t k = 0; k < n; k++)
        hash = (hash ^ (uint64_t)pos[demand->lines[k]]) * UINT64_C(0x9E3779B97F4A7C15);
    return &demand->known[hash >> 56];
}

static demand_entry *find_entry(const dfl_nest *nest, dfl_demand *demand, uint32_t n, const int64_t *pos)
{
    demand_entry *at = *find_bucket(nest, demand, n, pos);

    for (; at; at = at->next) {
        bool same = at->n == n;
        for (uint32_t k = 0; same && k < n; k++)
            same = at->pos[k] == pos[demand->lines[k]];
        if (same)
            break;
    }
    return at;
}

static demand_entry *insert_entry(const dfl_nest *nest, dfl_demand *demand, uint32_t n, const int64_t *pos)
{
    demand_entry **first = find_bucket(nest, demand, n, pos), *at = DFL_NEW(nest->arena, demand_entry);
    int64_t *own = DFL_NEW_ARRAY(nest->arena, int64_t, n + 1);

    for (uint32_t k = 0; k < n; k++)
        own[k] = pos[demand->lines[k]];
    *at = (demand_entry){ .n = n, .pos = own, .next = *first };
    *first = at;
    return at;
}

/* Advances `pos` to the next coordinates of the spatial steps in the bit set. False after the last coordinates. */
static bool advance_coordinate(const dfl_nest *nest, const dfl_path *path, uint64_t lines, int64_t *pos)
{
    for (; lines; lines &= ~(UINT64_C(1) << (63 - __builtin_clzll(lines)))) {
        uint32_t i = 63 - (uint32_t)__builtin_clzll(lines), driver = dfl_nest_driver(nest, path->einsum, i);
        const dfl_path_step *s = &nest->paths->paths[driver].steps[i];
        if (pos[i] + 1 < dfl_ceil_div(s->nominal, s->tile)) {
            pos[i]++;
            return true;
        }
        pos[i] = 0;
    }
    return false;
}

/* Finds the indices of dimension `d` that the consumers read below the first `n` steps, in any instance. */
static void find_read_set(const dfl_nest *nest, const dfl_demand *demand, uint32_t e, uint32_t d, uint32_t n,
                          const int64_t *pos, dfl_interval_set *out)
{
    uint32_t tensor = nest->workload->einsums[e].output.tensor;
    const dfl_interval shape = { 0, nest->workload->tensors[tensor].extents[d] };
    dfl_interval_set piece = { 0 }, sum = { 0 }, next = { 0 };
    int64_t at[DFL_MAX_STEPS];

    dfl_interval_set_clear(out);
    memcpy(at, pos, sizeof at);
    for (uint32_t k = 0; k < demand->n_consumers; k++) {
        uint32_t c = demand->consumers[k];
        const dfl_einsum *reader = &nest->workload->einsums[c];
        for (uint32_t i = 0; i < reader->n_inputs; i++) {
            const dfl_index *index = &reader->inputs[i].index[d];
            uint64_t spatial = 0;
            if (reader->inputs[i].tensor != tensor)
                continue;
            for (uint32_t t = 0; t < index->n_terms; t++)
                dfl_rank_piece_steps(nest, c, index->terms[t].rank, n, &spatial);
            for (uint32_t s = 0; s < n; s++)
                if (nest->paths->paths[c].steps[s].line->kind != DFL_LINE_SPATIAL)
                    spatial &= ~(UINT64_C(1) << s);
                else
                    at[s] = 0;
            do {
                dfl_interval_set_clear(&sum);
                dfl_interval_set_add(nest->arena, &sum, index->offset, index->offset + 1);
                for (uint32_t t = 0; t < index->n_terms; t++) {
                    dfl_rank_piece_set(nest, c, index->terms[t].rank, n, at, &piece);
                    dfl_interval_set_sum(nest->arena, &next, &sum, index->terms[t].coef, &piece);
                    dfl_interval_set swap = sum;
                    sum = next;
                    next = swap;
                }
                for (size_t r = 0; r < sum.n && dfl_budget_spend(dfl_arena_budget(nest->arena), 2); r++)
                    dfl_interval_set_add(nest->arena, out, sum.at[r].lo < shape.lo ? shape.lo : sum.at[r].lo,
                                         sum.at[r].hi > shape.hi ? shape.hi : sum.at[r].hi);
            } while (advance_coordinate(nest, &nest->paths->paths[c], spatial, at));
        }
    }
    dfl_interval_set_normalise(out);
}

static bool is_stepping(const dfl_demand *demand, uint32_t k) { return demand->stepping >> demand->lines[k] & 1; }

/* Advances `pos` to the next iteration of the loops of this branch among the first `fixed` steps of the demand. Returns
   the step that advanced, or DFL_NONE after the last iteration. */
static uint32_t advance_position(const dfl_nest *nest, const dfl_demand *demand, uint32_t fixed, int64_t *pos)
{
    for (uint32_t k = fixed; k-- > 0;) {
        uint32_t i = demand->lines[k];
        if (!is_stepping(demand, k))
            continue;
        if (pos[i] + 1 < dfl_rank_piece_trips(nest, demand->driver[k], i, pos)) {
            pos[i]++;
            return i;
        }
        pos[i] = 0;
    }
    return DFL_NONE;
}

/* Stores the demanded sets of all iterations of the loops of this branch, with the outer loops as in `pos`. The
   iterations are visited in the order of execution, with the union of all indices that were read before. */
static void fill_demand(const dfl_nest *nest, dfl_demand *demand, uint32_t e, uint32_t d, uint32_t n, uint32_t fixed,
                        const int64_t *pos)
{
    dfl_interval_set read = { 0 }, done = { 0 }, ever = { 0 }, unread = { 0 }, all = { 0 };
    int64_t at[DFL_MAX_STEPS];
    uint32_t moved;
    demand_entry *last;

    memcpy(at, pos, sizeof at);
    for (uint32_t k = 0; k < fixed; k++)
        if (is_stepping(demand, k))
            at[demand->lines[k]] = 0;
    dfl_interval_set_clear(&done);
    dfl_interval_set_clear(&ever);
    do {
        last = insert_entry(nest, demand, fixed, at);
        find_read_set(nest, demand, e, d, n, at, &read);
        dfl_interval_set_subtract(nest->arena, &last->runs, &read, &done);
        dfl_interval_set_unite(nest->arena, &ever, &read);
        dfl_interval_set_normalise(&ever);
        moved = advance_position(nest, demand, fixed, at);
        dfl_interval_set_unite(nest->arena, &done, &read);
        dfl_interval_set_normalise(&done);
        if (moved < demand->from)
            dfl_interval_set_clear(&done);
    } while (moved != DFL_NONE && dfl_budget_spend(dfl_arena_budget(nest->arena), 1 + read.n + done.n));
    dfl_interval_set_clear(&all);
    dfl_interval_set_add(nest->arena, &all, 0, nest->workload->tensors[nest->workload->einsums[e].output.tensor].extents[d]);
    dfl_interval_set_subtract(nest->arena, &unread, &all, &ever);
    dfl_interval_set_unite(nest->arena, &last->runs, &unread);
    dfl_interval_set_normalise(&last->runs);
}

/* The set that one branch demands at a position, computed on first use. */
static demand_entry *find_branch_set(const dfl_nest *nest, dfl_demand *demand, uint32_t e, uint32_t d, uint32_t n,
                                     const int64_t *pos)
{
    n = n < demand->end ? n : demand->end;
    uint32_t fixed = count_fixed(demand, n);
    demand_entry *at = find_entry(nest, demand, fixed, pos);

    if (!at) {
        fill_demand(nest, demand, e, d, n, fixed, pos);
        at = find_entry(nest, demand, fixed, pos);
    }
    /* an empty set for a position that the loops never reach, and if the budget is spent */
    return at ? at : insert_entry(nest, demand, fixed, pos);
}

static const dfl_interval_set *find_demand_set(const dfl_nest *nest, uint32_t e, uint32_t d, uint32_t n, const int64_t *pos)
{
    demand_entry *own = find_branch_set(nest, &nest->demands[e][d], e, d, n, pos);

    if (own->joined)
        return own->joined;
    own->joined = &own->runs;
    for (dfl_demand *outer = nest->demands[e][d].outer; outer; outer = outer->outer) {
        dfl_interval_set *both = DFL_NEW(nest->arena, dfl_interval_set);
        dfl_interval_set_intersect(nest->arena, both, own->joined, &find_branch_set(nest, outer, e, d, n, pos)->runs);
        own->joined = both;
    }
    return own->joined;
}

/* ---- pieces ---- */

static dfl_interval hull_of(const dfl_interval_set *set)
{
    return set->n ? (dfl_interval){ set->at[0].lo, set->at[set->n - 1].hi } : (dfl_interval){ 0, 0 };
}

static dfl_interval cut_interval(dfl_interval piece, const dfl_path_step *s, int64_t at)
{
    int64_t lo = piece.lo + at * s->tile;

    if (lo >= piece.hi)
        return (dfl_interval){ piece.hi, piece.hi };
    return (dfl_interval){ lo, piece.hi - lo > s->tile ? lo + s->tile : piece.hi };
}

dfl_interval dfl_rank_piece(const dfl_nest *nest, uint32_t e, uint32_t rank, uint32_t n, const int64_t *pos)
{
    const dfl_path *path = &nest->paths->paths[e];
    dfl_interval piece = { 0, nest->workload->ranks[rank].extent };
    uint32_t dim = 0, i = 0;
    const dfl_demand *demand = find_demand(nest, e, rank, &dim);

    if (demand) {
        i = n < demand->end ? n : demand->end;
        piece = demand->has_gaps ? hull_of(find_demand_set(nest, e, dim, i, pos))
                                 : find_demand_interval(nest, e, dim, demand, i, pos);
    }
    for (; i < n; i++)
        if (path->steps[i].rank == rank && path->steps[i].line->kind != DFL_LINE_KEEP)
            piece = cut_interval(piece, &path->steps[i], pos[i]);
    return piece;
}

bool dfl_rank_piece_has_gaps(const dfl_nest *nest, uint32_t e, uint32_t rank)
{
    uint32_t dim;
    const dfl_demand *demand = find_demand(nest, e, rank, &dim);

    return demand && demand->has_gaps;
}

void dfl_rank_piece_set(const dfl_nest *nest, uint32_t e, uint32_t rank, uint32_t n, const int64_t *pos, dfl_interval_set *out)
{
    dfl_interval piece = dfl_rank_piece(nest, e, rank, n, pos);
    uint32_t dim;
    const dfl_demand *demand = find_demand(nest, e, rank, &dim);

    dfl_interval_set_clear(out);
    if (!demand || !demand->has_gaps) {
        dfl_interval_set_add(nest->arena, out, piece.lo, piece.hi);
        return;
    }
    const dfl_interval_set *all = find_demand_set(nest, e, dim, n, pos);
    for (size_t k = 0; k < all->n; k++)
        dfl_interval_set_add(nest->arena, out, all->at[k].lo < piece.lo ? piece.lo : all->at[k].lo,
                             all->at[k].hi > piece.hi ? piece.hi : all->at[k].hi);
}

int64_t dfl_rank_piece_trips(const dfl_nest *nest, uint32_t e, uint32_t i, const int64_t *pos)
{
    const dfl_path *path = &nest->paths->paths[e];
    int64_t first[DFL_MAX_STEPS];

    memcpy(first, pos, sizeof first);
    for (uint32_t k = 0; k < i; k++)
        if (path->steps[k].line->kind == DFL_LINE_SPATIAL)
            first[k] = 0;
    dfl_interval piece = dfl_rank_piece(nest, e, path->steps[i].rank, i, first);
    return piece.hi <= piece.lo ? 1 : dfl_ceil_div(piece.hi - piece.lo, path->steps[i].tile);
}

uint64_t dfl_rank_piece_cuts(const dfl_nest *nest, uint32_t e, uint32_t rank, uint32_t n)
{
    const dfl_einsum *einsum = &nest->workload->einsums[e];

    for (uint32_t k = 0; k < einsum->n_ranks; k++)
        if (einsum->ranks[k] == rank)
            return nest->cuts[e][k] & dfl_nest_steps_below(n);
    return 0;
}

void dfl_rank_piece_steps(const dfl_nest *nest, uint32_t e, uint32_t rank, uint32_t n, uint64_t *bits)
{
    uint32_t dim;
    const dfl_demand *demand = find_demand(nest, e, rank, &dim);

    for (uint32_t k = 0; demand && k < demand->n_lines && demand->lines[k] < n; k++)
        *bits |= UINT64_C(1) << demand->lines[k];
    *bits |= dfl_rank_piece_cuts(nest, e, rank, n);
}

