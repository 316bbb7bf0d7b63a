#include "plan/layout/elements.h"

#include <string.h>

#include "plan/layout/halos.h"
#include "plan/layout/lines.h"
#include "plan/layout/parts.h"
#include "plan/layout/rows.h"
#include "plan/layout/touched.h"

enum {
    LISTED = 1 << 20, /* most combinations of ranks that are listed one by one, where ranks move several dimensions */
    MOST_TILES = 1 << 16, /* most combinations of tiles that are looked at where indices leave the tensor */
    BLOCKS = 4096,    /* most blocks of a home that are looked at one by one */
};

/* What counts together: one chip in one pass, one chip over all passes, or the chips of the `gathered` groups in one pass. */
typedef struct {
    const dfl_frame *f;
    uint32_t einsum;
    bool is_pass, is_group, is_whole; /* `is_whole`: all chips and passes */
    uint64_t gathered;
} scope;

/* ---- values of a rank ---- */

/* The slots that divide a rank of an einsum, outermost first. Returns their number; `is_gathered`: whether their chips count
   together. */
typedef struct { int64_t count; bool is_gathered, is_cyclic; } dividing;

/* The values of a rank in a pass that is not the last one, of `most` values in all passes. */
static int64_t pass_of(const dfl_frame *f, uint32_t rank, int64_t most)
{
    const dfl_body *root = f->mapping->root;
    int64_t n = most;

    for (uint32_t i = 0; i < root->n_lines; i++) {
        const dfl_line *line = &root->lines[i];

        if (line->kind == DFL_LINE_TEMPORAL && line->rank == rank)
            n = line->by == DFL_BY_PARTS ? dfl_ceil_div(n, line->amount) : line->amount < n ? line->amount : n;
    }
    return n;
}

/* The values of a rank in a pass of a chip that has `local` values in all passes; `most`: `local` of the chip with most. */
static int64_t cut_by_passes(const dfl_frame *f, uint32_t rank, int64_t local, int64_t most)
{
    const int64_t n = pass_of(f, rank, most);
    int64_t rest;

    if (f->last == NULL || !f->last[rank])
        return n < local ? n : local;
    rest = local - (dfl_ceil_div(most, n) - 1) * n; /* of the last pass */
    return rest > 0 ? rest : 0;
}

/* Values of a rank in one pass on the chips of the gathered slots among slots `at`.. together, of `length` out of `nominal`. All
   chips with the first place on the other slots have most. */
static int64_t sum_parts(const scope *s, uint32_t rank, const dividing *at, uint32_t n, int64_t nominal, int64_t length,
                         int64_t most)
{
    int64_t part, sum = 0;

    if (n == 0)
        return s->f->workload->einsums[s->einsum].phase == DFL_PHASE_UPDATE ? length : cut_by_passes(s->f, rank, length, most);
    part = dfl_ceil_div(nominal, at->count);
    if (at->is_cyclic || !at->is_gathered) {
        const int64_t first = at->is_cyclic ? dfl_ceil_div(length, at->count) : part < length ? part : length;

        if (!at->is_gathered)
            return sum_parts(s, rank, at + 1, n - 1, part, first, most);
        if (length % at->count > 0)
            sum = length % at->count * sum_parts(s, rank, at + 1, n - 1, part, length / at->count + 1, most);
        return length < at->count ? sum : sum + (at->count - length % at->count) *
                                                sum_parts(s, rank, at + 1, n - 1, part, length / at->count, most);
    }
    sum = length / part > 0 ? length / part * sum_parts(s, rank, at + 1, n - 1, part, part, most) : 0;
    return length % part > 0 ? sum + sum_parts(s, rank, at + 1, n - 1, part, length % part, most) : sum;
}

/* The extent of a rank in one pass, on the chips of `gathered` slots together. */
static int64_t extent_of_group(const scope *s, uint32_t rank)
{
    const dfl_frame *f = s->f;
    int64_t n = f->workload->ranks[rank].extent, joined = 1, whole;
    dividing *at = NULL;
    uint32_t n_at = 0;

    if (f->repeats[rank] && f->workload->einsums[s->einsum].phase != DFL_PHASE_UPDATE)
        return 1;
    for (uint32_t k = 0; k < f->n_slots; k++) {
        const dfl_line *line = dfl_frame_line(f, s->einsum, k);
        const dfl_line *replaced = line != NULL && dfl_frame_goes(f, s->einsum, k) ? dfl_rows_replaced(f, line, s->einsum) : NULL;

        joined *= replaced != NULL && replaced->rank == rank ? f->slots[k].count : 1;
        if (line == NULL || line->rank != rank)
            continue;
        at = at != NULL ? at : DFL_NEW_ARRAY(f->arena, dividing, f->n_slots);
        at[n_at++] = (dividing){ f->slots[k].count, (s->gathered >> k & 1) != 0, f->slots[k].is_cyclic };
        if ((s->gathered >> k & 1) == 0)
            n = dfl_ceil_div(n, f->slots[k].count);
    }
    if (joined == 1 || f->workload->einsums[s->einsum].phase == DFL_PHASE_UPDATE)
        return sum_parts(s, rank, at, n_at, f->workload->ranks[rank].extent, f->workload->ranks[rank].extent,
                         dfl_frame_local(f, s->einsum, rank));
    whole = n; /* passes are those of the blocks whose points go to rows together */
    n = dfl_ceil_div(n, joined); /* blocks, and what remains behind them */
    joined = whole / n * cut_by_passes(f, rank, n, n);
    return whole % n > 0 ? joined + cut_by_passes(f, rank, whole % n, n) : joined;
}

static int64_t values_of(const scope *s, uint32_t rank)
{
    if (s->is_whole)
        return s->f->workload->ranks[rank].extent;
    if (s->is_group)
        return extent_of_group(s, rank);
    return s->is_pass ? dfl_frame_pass(s->f, s->einsum, rank) : dfl_frame_local(s->f, s->einsum, rank);
}

/* ---- one dimension ---- */

/* The least and the largest value of an index over all values of its ranks. */
static void range_of(const dfl_frame *f, const dfl_index *index, dfl_i128 *least, dfl_i128 *most)
{
    *least = *most = index->offset;
    for (uint32_t k = 0; k < index->n_terms; k++) {
        const dfl_i128 reach = (dfl_i128)index->terms[k].coef * (f->workload->ranks[index->terms[k].rank].extent - 1);

        *(reach < 0 ? least : most) += reach;
    }
}

bool dfl_frame_leaves(const dfl_frame *f, const dfl_index *index, int64_t extent)
{
    dfl_i128 least, most;

    range_of(f, index, &least, &most);
    return least < 0 || most >= extent;
}

/* Whether chips that count together, or points that go to rows, make what counts of a rank other than one tile. */
static bool is_joined(const scope *s, uint32_t rank)
{
    for (uint32_t k = 0; k < s->f->n_slots && !s->is_whole; k++) {
        const dfl_line *line = dfl_frame_line(s->f, s->einsum, k);

        if (line != NULL && (dfl_frame_goes(s->f, s->einsum, k) || (line->rank == rank && (s->gathered >> k & 1) != 0)))
            return true;
    }
    return s->is_whole || s->f->repeats[rank];
}

/* Tiles of a rank: what one chip takes of it in one pass, or over all passes. Joined ones have equal lengths. */
typedef struct {
    uint32_t rank;
    uint64_t slots;            /* that divide the rank */
    int64_t chips, passes;     /* their numbers; passes of a chip */
    int64_t length;            /* of a pass */
    bool is_joined;
} rank_tiles;

static rank_tiles tiles_of(const scope *s, uint32_t rank)
{
    const dfl_frame *f = s->f;
    const bool has_passes = (s->is_pass || s->is_group) && f->workload->einsums[s->einsum].phase != DFL_PHASE_UPDATE;
    rank_tiles out = { .rank = rank, .chips = 1, .passes = 1, .is_joined = is_joined(s, rank) };
    int64_t local;

    if (out.is_joined) {
        out.length = values_of(s, rank);
        out.passes = out.length > 0 ? dfl_ceil_div(f->workload->ranks[rank].extent, out.length) : 0;
        return out;
    }
    for (uint32_t k = 0; k < f->n_slots; k++) {
        const dfl_line *line = dfl_frame_line(f, s->einsum, k);

        if (line == NULL || line->rank != rank || f->slots[k].count == 1 || f->slots[k].stages != NULL)
            continue;
        out.slots |= UINT64_C(1) << k;
        out.chips *= f->slots[k].count;
    }
    local = dfl_frame_local(f, s->einsum, rank);
    out.length = has_passes ? pass_of(f, rank, local) : local;
    out.passes = has_passes ? dfl_ceil_div(local, out.length) : 1;
    return out;
}

/* A tile by its number, its chip before its pass; `n` may be 0. Of last micro-batches each chip has its last pass alone. */
static dfl_chip_part tile_at(const scope *s, const rank_tiles *t, int64_t number, int64_t *place)
{
    const bool is_last = !t->is_joined && t->passes > 1 && s->f->last != NULL && s->f->last[t->rank];
    const int64_t pass = is_last ? t->passes - 1 : number % t->passes, extent = s->f->workload->ranks[t->rank].extent;
    dfl_chip_part out = { 0, 1, extent };
    int64_t chip = number / t->passes;

    for (uint32_t k = s->f->n_slots; k-- > 0 && !t->is_joined;) {
        place[k] = t->slots >> k & 1 ? chip % s->f->slots[k].count : 0;
        chip /= t->slots >> k & 1 ? s->f->slots[k].count : 1;
    }
    if (!t->is_joined)
        out = dfl_chip_part_in(s->f, t->rank, t->slots, place);
    out.first += pass * t->length;
    out.n = out.n - pass * t->length < t->length ? out.n - pass * t->length : t->length;
    out.n = out.n > 0 ? out.n : 0;
    return out;
}

/* Tiles in the order in which they are looked at: a whole one nearest to the middle stands first, since it often leaves nothing
   out. NULL = too many are left. */
static dfl_chip_part *list_tiles(const scope *s, uint32_t rank, int64_t *n)
{
    const rank_tiles t = tiles_of(s, rank);
    int64_t *place = DFL_NEW_ARRAY(s->f->arena, int64_t, (size_t)s->f->n_slots + 1), best = 0;
    dfl_chip_part *out, first;

    *n = t.chips * t.passes;
    if (*n > MOST_TILES)
        return NULL;
    out = DFL_NEW_ARRAY(s->f->arena, dfl_chip_part, (size_t)*n + 1);
    for (int64_t i = 0; i < *n; i++) {
        const int64_t to_middle = i > *n / 2 ? i - *n / 2 : *n / 2 - i, of_best = best > *n / 2 ? best - *n / 2 : *n / 2 - best;

        out[i] = tile_at(s, &t, i, place);
        if (out[i].n > out[best].n || (out[i].n == out[best].n && to_middle < of_best))
            best = i;
    }
    first = out[0];
    out[0] = out[best];
    out[best] = first;
    return out;
}

/* The different values of an index between `low` and `high` of tiles `at`[rank]; NULL = of whole tiles that begin at 0. False if
   they are not counted. */
static bool count_values(const scope *s, const dfl_index *index, const dfl_chip_part *at, int64_t low, int64_t high, int64_t *out)
{
    dfl_stride few[8], *strides = index->n_terms <= 8 ? few : DFL_NEW_ARRAY(s->f->arena, dfl_stride, index->n_terms);
    int64_t base = index->offset;

    for (uint32_t k = 0; k < index->n_terms; k++) {
        const uint32_t rank = index->terms[k].rank;

        strides[k] = (dfl_stride){ index->terms[k].coef, at != NULL ? at[rank].n : values_of(s, rank) };
        base += at != NULL ? index->terms[k].coef * at[rank].first : 0;
        if (strides[k].n <= 0) {
            *out = 0;
            return true;
        }
    }
    return dfl_touched_count(s->f->arena, base, strides, index->n_terms, low, high, out);
}

/* Tiles of several ranks, and the present combination of them. */
typedef struct {
    uint32_t n_ranks;
    const uint32_t *rank;
    dfl_chip_part **tiles;     /* of each of these ranks */
    int64_t *n, *place;
    dfl_chip_part *at;         /* [rank]: the present tiles */
} combination;

/* Starts with the first tiles. False if there are too many combinations. */
static bool start_tiles(const scope *s, const uint32_t *rank, uint32_t n_ranks, combination *out)
{
    int64_t all = 1;

    *out = (combination){ .n_ranks = n_ranks, .rank = rank,
                          .tiles = DFL_NEW_ARRAY(s->f->arena, dfl_chip_part *, (size_t)n_ranks + 1),
                          .n = DFL_NEW_ARRAY(s->f->arena, int64_t, 2 * (size_t)n_ranks + 1),
                          .at = DFL_NEW_ARRAY(s->f->arena, dfl_chip_part, (size_t)s->f->workload->n_ranks + 1) };
    out->place = out->n + n_ranks;
    for (uint32_t k = 0; k < n_ranks; k++) {
        out->tiles[k] = list_tiles(s, rank[k], &out->n[k]);
        if (out->tiles[k] == NULL || __builtin_mul_overflow(all, out->n[k], &all) || all > MOST_TILES)
            return false;
        out->at[rank[k]] = out->tiles[k][0];
    }
    return true;
}

static bool next_tiles(combination *c)
{
    for (uint32_t k = 0; k < c->n_ranks; k++) {
        c->place[k] = c->place[k] + 1 < c->n[k] ? c->place[k] + 1 : 0;
        c->at[c->rank[k]] = c->tiles[k][c->place[k]];
        if (c->place[k] > 0)
            return true;
    }
    return false;
}

/* The most values of an index between `low` and `high`, over all tiles of its ranks. */
static bool most_between(const scope *s, const dfl_index *index, int64_t low, int64_t high, int64_t *out)
{
    uint32_t *ranks = DFL_NEW_ARRAY(s->f->arena, uint32_t, (size_t)index->n_terms + 1);
    combination c;
    int64_t n, full;

    for (uint32_t k = 0; k < index->n_terms; k++)
        ranks[k] = index->terms[k].rank;
    *out = 0;
    if (!start_tiles(s, ranks, index->n_terms, &c) || !count_values(s, index, NULL, INT64_MIN, INT64_MAX, &full))
        return false;
    do {
        if (!count_values(s, index, c.at, low, high, &n))
            return false;
        *out = n > *out ? n : *out;
    } while (*out < full && next_tiles(&c));
    return true;
}

/* Values of an index, at most those of its dimension. True on overflow, or if they are not counted. */
static bool width_of(const scope *s, const dfl_index *index, int64_t extent, dfl_i128 *out)
{
    int64_t n = 1;
    bool ok = true;

    if (index->n_terms == 1 && index->offset == 0 && index->terms[0].coef == 1 &&
        s->f->workload->ranks[index->terms[0].rank].extent <= extent)
        n = values_of(s, index->terms[0].rank);
    else if (index->n_terms > 0)
        ok = dfl_frame_leaves(s->f, index, extent) ? most_between(s, index, 0, extent - 1, &n)
                                         : count_values(s, index, NULL, INT64_MIN, INT64_MAX, &n);
    *out = n;
    return !ok;
}

/* Whether chips of other groups than the gathered ones divide a rank of an index. */
static bool is_divided(const scope *s, const dfl_index *index)
{
    for (uint32_t k = 0; k < s->f->n_slots; k++)
        if (dfl_frame_line(s->f, s->einsum, k) != NULL && s->f->slots[k].count > 1 && (s->gathered >> k & 1) == 0 &&
            dfl_index_coef(index, dfl_frame_line(s->f, s->einsum, k)->rank) != 0)
            return true;
    return false;
}

/* The length of the blocks of a rank of which one pass takes the first values each, on the chips of a group together: blocks of
   chips that count together, or whose points go to rows together. */
static int64_t block_of_pass(const scope *s, uint32_t rank)
{
    const dfl_frame *f = s->f;
    int64_t length = f->workload->ranks[rank].extent;

    for (uint32_t k = 0; k < f->n_slots; k++) {
        const dfl_line *line = dfl_frame_line(f, s->einsum, k);

        if (line != NULL && dfl_frame_goes(f, s->einsum, k))
            line = dfl_rows_replaced(f, line, s->einsum);
        if (line != NULL && line->rank == rank && !f->slots[k].is_cyclic) /* what is dealt lies together */
            length = dfl_ceil_div(length, f->slots[k].count);
    }
    return length;
}

/* Of the values of a rank in one pass on the chips of a group, which divide it into blocks, those in the fullest of `parts`
   blocks of its dimension. It is the first one: it begins with a block of the rank, of which passes take the first values, and
   reaches beyond all values if the dimension has more. */
static int64_t fullest_of_pass(const scope *s, uint32_t rank, int64_t extent, int64_t parts)
{
    const int64_t block = dfl_ceil_div(extent, parts), points = s->f->workload->ranks[rank].extent;
    const int64_t length = block_of_pass(s, rank), pass = cut_by_passes(s->f, rank, length, length);
    const int64_t inside = block < points ? block : points, rest = inside % length;

    return inside / length * pass + (rest < pass ? rest : pass);
}

/* Of the `width` values of an index those in the fullest of `parts` blocks of its dimension; of what groups divide already, one
   of as many equal parts. True if they are not counted. */
static bool fullest_block(const scope *s, const dfl_index *index, int64_t extent, int64_t parts, dfl_i128 *width)
{
    const int64_t block = dfl_ceil_div(extent, parts);
    int64_t n, most = 0;
    dfl_i128 least, end;
    uint32_t rank;

    if (parts == 1 || is_divided(s, index)) {
        *width = (*width + parts - 1) / parts;
        return false;
    }
    range_of(s->f, index, &least, &end);
    if (s->is_group && dfl_index_is_bare(index, &rank) && !s->f->repeats[rank] &&
        s->f->workload->einsums[s->einsum].phase != DFL_PHASE_UPDATE) {
        *width = fullest_of_pass(s, rank, extent, parts);
        return false;
    }
    if (index->n_terms <= 1 && (index->n_terms == 0 || index->terms[0].coef == 1) && least == 0) {
        *width = *width < block ? *width : block;
        return false;
    }
    if (dfl_ceil_div(extent, block) > BLOCKS)
        return true;
    for (int64_t b = 0; b * block < extent; b++) {
        if (most_between(s, index, b * block, (b + 1) * block < extent ? (b + 1) * block - 1 : extent - 1, &n) == false)
            return true;
        most = n > most ? n : most;
    }
    *width = most;
    return false;
}

/* ---- ranks that move several dimensions ---- */

/* Whether a rank with several values stands in two dimensions of an access. */
static bool moves_several(const scope *s, const dfl_access *a)
{
    for (uint32_t d = 0; d + 1 < a->n_dims; d++)
        for (uint32_t k = 0; k < a->index[d].n_terms; k++)
            for (uint32_t o = d + 1; o < a->n_dims; o++)
                if (dfl_index_coef(&a->index[o], a->index[d].terms[k].rank) != 0 && values_of(s, a->index[d].terms[k].rank) > 1)
                    return true;
    return false;
}

/* Marks the dimensions of the component of dimension `d`, and its ranks with several values. */
static void find_component(const scope *s, const dfl_access *a, uint32_t d, bool *has_dim, bool *has_rank)
{
    bool grows = true;

    memset(has_dim, 0, a->n_dims * sizeof *has_dim);
    memset(has_rank, 0, s->f->workload->n_ranks * sizeof *has_rank);
    has_dim[d] = true;
    while (grows) {
        grows = false;
        for (uint32_t i = 0; i < a->n_dims; i++)
            for (uint32_t k = 0; k < a->index[i].n_terms; k++) {
                const uint32_t rank = a->index[i].terms[k].rank;

                if (values_of(s, rank) <= 1 || (has_dim[i] && has_rank[rank]) || (!has_dim[i] && !has_rank[rank]))
                    continue;
                has_dim[i] = has_rank[rank] = grows = true;
            }
    }
}

/* Whether the indices of a component tell its ranks apart: one index after the other has one rank that is not yet known. */
static bool tells_apart(const scope *s, const dfl_access *a, const bool *has_dim, const bool *has_rank)
{
    bool *known = DFL_NEW_ARRAY(s->f->arena, bool, (size_t)s->f->workload->n_ranks + 1), grows = true, all = true;

    while (grows) {
        grows = false;
        for (uint32_t d = 0; d < a->n_dims; d++) {
            uint32_t rank = DFL_NONE, n = 0;

            for (uint32_t k = 0; k < a->index[d].n_terms && has_dim[d]; k++)
                if (has_rank[a->index[d].terms[k].rank] && !known[a->index[d].terms[k].rank]) {
                    rank = a->index[d].terms[k].rank;
                    n++;
                }
            if (n == 1)
                known[rank] = grows = true;
        }
    }
    for (uint32_t r = 0; r < s->f->workload->n_ranks; r++)
        all &= !has_rank[r] || known[r];
    return all;
}

/* Lists the elements of a component between `low` and `high` of each dimension (NULL: all in the tensor). Its ranks start at 0.
   False if there are too many. */
static bool count_listed(const scope *s, const dfl_access *a, const bool *has_dim, const bool *has_rank, const int64_t *low,
                         const int64_t *high, int64_t *out)
{
    const dfl_workload *w = s->f->workload;
    int64_t *at = DFL_NEW_ARRAY(s->f->arena, int64_t, (size_t)w->n_ranks + 1), box = 1, points = 1;
    uint8_t *has;
    uint32_t r;

    for (r = 0; r < w->n_ranks; r++)
        if (has_rank[r] && (__builtin_mul_overflow(points, values_of(s, r), &points) || points > LISTED))
            return false;
    for (uint32_t d = 0; d < a->n_dims; d++)
        if (has_dim[d] && (__builtin_mul_overflow(box, w->tensors[a->tensor].extents[d], &box) || box > 64 * LISTED))
            return false;
    has = DFL_NEW_ARRAY(s->f->arena, uint8_t, (size_t)box);
    *out = 0;
    do {
        int64_t element = 0;

        for (uint32_t d = 0; d < a->n_dims && element >= 0; d++) {
            int64_t x = a->index[d].offset;

            for (uint32_t k = 0; k < a->index[d].n_terms; k++)
                x += a->index[d].terms[k].coef * at[a->index[d].terms[k].rank];
            if (has_dim[d] && (x < 0 || x >= w->tensors[a->tensor].extents[d] || (low != NULL && (x < low[d] || x > high[d]))))
                element = -1;
            else if (has_dim[d])
                element = element * w->tensors[a->tensor].extents[d] + x;
        }
        if (element >= 0 && !has[element])
            (*out)++;
        if (element >= 0)
            has[element] = 1;
        for (r = 0; r < w->n_ranks; r++) {
            if (!has_rank[r])
                continue;
            if (++at[r] < values_of(s, r))
                break;
            at[r] = 0;
        }
    } while (r < w->n_ranks);
    return true;
}

/* Elements of an access of which ranks move several dimensions. True on overflow, or if they are not counted. */
static bool count_joint(const scope *s, const dfl_access *a, const int64_t *parts, dfl_i128 *out)
{
    const dfl_frame *f = s->f;
    const dfl_tensor *t = &f->workload->tensors[a->tensor];
    bool *has_dim = DFL_NEW_ARRAY(f->arena, bool, (size_t)a->n_dims + 1);
    bool *done = DFL_NEW_ARRAY(f->arena, bool, (size_t)a->n_dims + 1);
    bool *has_rank = DFL_NEW_ARRAY(f->arena, bool, (size_t)f->workload->n_ranks + 1), overflow = false;

    *out = 1;
    for (uint32_t d = 0; d < a->n_dims && !overflow; d++) {
        bool is_inside = true, is_one = true;
        dfl_i128 n = 1;
        int64_t listed;

        if (done[d])
            continue;
        find_component(s, a, d, has_dim, has_rank);
        for (uint32_t i = 0; i < a->n_dims; i++) {
            done[i] |= has_dim[i];
            is_one &= !has_dim[i] || i == d;
            is_inside &= !has_dim[i] || !dfl_frame_leaves(f, &a->index[i], t->extents[i]);
        }
        if (is_one) {
            overflow |= width_of(s, &a->index[d], t->extents[d], &n);
        } else if (is_inside && tells_apart(s, a, has_dim, has_rank)) {
            for (uint32_t r = 0; r < f->workload->n_ranks; r++)
                overflow |= has_rank[r] && dfl_mul(n, values_of(s, r), &n);
        } else if (count_listed(s, a, has_dim, has_rank, NULL, NULL, &listed)) {
            n = listed;
        } else {
            overflow = true;
        }
        for (uint32_t i = 0; i < a->n_dims && parts != NULL; i++)
            n = has_dim[i] ? (n + parts[i] - 1) / parts[i] : n;
        overflow |= dfl_mul(*out, n, out);
    }
    return overflow;
}

/* ---- all dimensions ---- */

static bool count_elements(const scope *s, const dfl_access *a, const int64_t *parts, dfl_i128 *out)
{
    const dfl_tensor *t = &s->f->workload->tensors[a->tensor];
    bool overflow = false;
    dfl_i128 width;

    if (!t->gathered && moves_several(s, a))
        return count_joint(s, a, parts, out);
    *out = 1;
    for (uint32_t d = 0; d < a->n_dims; d++) {
        overflow |= width_of(s, &a->index[d], t->extents[d], &width);
        if (parts != NULL)
            overflow |= fullest_block(s, &a->index[d], t->extents[d], parts[d], &width);
        overflow |= dfl_mul(*out, width, out);
    }
    return overflow;
}

bool dfl_frame_elements_of_all(const dfl_frame *f, uint32_t einsum, const dfl_access *access, bool pass, dfl_i128 *out)
{
    return count_elements(&(scope){ .f = f, .einsum = einsum, .is_pass = pass }, access, NULL, out);
}

bool dfl_frame_elements(const dfl_frame *f, uint32_t einsum, const dfl_access *access, bool pass, dfl_i128 *out)
{
    const scope s = { .f = f, .einsum = einsum, .is_pass = pass };
    const dfl_tensor *t = &f->workload->tensors[access->tensor];
    const uint32_t leading = dfl_rows_leading(f, einsum, access);
    bool overflow = false;
    dfl_i128 width, positions = 1;

    if (!t->gathered && f->points[einsum].parts == 1)
        return count_elements(&s, access, NULL, out);
    *out = 1;
    for (uint32_t d = 0; d < access->n_dims; d++) {
        overflow |= width_of(&s, &access->index[d], t->extents[d], &width);
        overflow |= dfl_rows_is_position(f, einsum, access, d, leading) ? dfl_mul(positions, width, &positions)
                                                                        : dfl_mul(*out, width, out);
    }
    if (f->points[einsum].parts > 1 && positions > f->points[einsum].largest)
        positions = f->points[einsum].largest;
    if (t->gathered)
        positions = dfl_rows_touched(f, einsum, access, positions);
    return overflow | dfl_mul(*out, positions, out);
}

bool dfl_frame_elements_of_group(const dfl_frame *f, uint32_t einsum, const dfl_access *access, uint64_t gathered,
                                 const int64_t *parts, dfl_i128 *out)
{
    return count_elements(&(scope){ .f = f, .einsum = einsum, .is_pass = true, .is_group = true, .gathered = gathered }, access,
                          parts, out);
}

/* The ends of the values of an index inside an extent. False if some values between them are not taken. */
static bool find_ends(const dfl_frame *f, const dfl_index *index, int64_t extent, dfl_i128 ends[2])
{
    const scope s = { .f = f, .is_whole = true };
    int64_t n;

    range_of(f, index, &ends[0], &ends[1]);
    ends[0] = ends[0] < 0 ? 0 : ends[0];
    ends[1] = ends[1] >= extent ? extent - 1 : ends[1];
    return count_values(&s, index, NULL, 0, extent - 1, &n) && n == ends[1] - ends[0] + 1;
}

bool dfl_frame_is_same_range(const dfl_frame *f, const dfl_index *a, const dfl_index *b, int64_t extent)
{
    return dfl_frame_covers_range(f, a, b, extent) && dfl_frame_covers_range(f, b, a, extent);
}

bool dfl_frame_covers_range(const dfl_frame *f, const dfl_index *a, const dfl_index *b, int64_t extent)
{
    dfl_i128 outer[2], inner[2];

    return find_ends(f, a, extent, outer) && find_ends(f, b, extent, inner) && outer[0] <= inner[0] && inner[1] <= outer[1];
}

bool dfl_frame_moves_several(const dfl_frame *f, const dfl_access *access)
{
    return moves_several(&(scope){ .f = f, .is_whole = true }, access);
}

bool dfl_frame_elements_between(const dfl_frame *f, uint32_t einsum, const dfl_access *access, const int64_t *low,
                                const int64_t *high, int64_t *out)
{
    const scope s = { .f = f, .einsum = einsum, .is_pass = true };
    bool *dims = DFL_NEW_ARRAY(f->arena, bool, (size_t)access->n_dims + 1);
    bool *ranks = DFL_NEW_ARRAY(f->arena, bool, (size_t)f->workload->n_ranks + 1);

    for (uint32_t d = 0; d < access->n_dims; d++) {
        dims[d] = true;
        for (uint32_t k = 0; k < access->index[d].n_terms; k++)
            ranks[access->index[d].terms[k].rank] = true;
    }
    return count_listed(&s, access, dims, ranks, low, high, out);
}

bool dfl_frame_elements_along(const dfl_frame *f, uint32_t einsum, const dfl_access *access, uint32_t dim, int64_t parts,
                              dfl_i128 *out)
{
    const scope s = { .f = f, .einsum = einsum, .is_pass = true };
    const int64_t extent = f->workload->tensors[access->tensor].extents[dim];

    return width_of(&s, &access->index[dim], extent, out) || fullest_block(&s, &access->index[dim], extent, parts, out);
}

/* ---- several accesses ---- */

/* Intervals of one access along all dimensions, each from .. to - 1. Positions of one index lie `gap` apart: they are numbered,
   and those with other remainders stand behind one another. */
typedef struct { dfl_i128 *from, *to; } element_box;

static bool covers(const element_box *b, uint32_t d, dfl_i128 at) { return b->from[d] <= at && at < b->to[d]; }

/* Elements that some of the boxes `which` have, from dimension `d` on. */
static dfl_i128 count_union(const scope *s, const element_box *boxes, const uint32_t *which, uint32_t n, uint32_t d,
                            uint32_t n_dims)
{
    uint32_t *in = DFL_NEW_ARRAY(s->f->arena, uint32_t, (size_t)n + 1);
    dfl_i128 sum = 0, at = 0;
    bool has_next = true;

    if (d == n_dims || n == 0)
        return n > 0;
    for (uint32_t i = 0; i < n; i++)
        at = i == 0 || boxes[which[i]].from[d] < at ? boxes[which[i]].from[d] : at;
    while (has_next) { /* up to the next end of an interval the same boxes cover all */
        dfl_i128 next = at;
        uint32_t n_in = 0;

        for (uint32_t i = 0; i < n; i++) {
            const dfl_i128 ends[2] = { boxes[which[i]].from[d], boxes[which[i]].to[d] };

            for (uint32_t k = 0; k < 2; k++)
                next = ends[k] > at && (next == at || ends[k] < next) ? ends[k] : next;
            if (covers(&boxes[which[i]], d, at))
                in[n_in++] = which[i];
        }
        has_next = next > at;
        if (n_in > 0 && has_next)
            sum += (next - at) * count_union(s, boxes, in, n_in, d + 1, n_dims);
        at = next;
    }
    return sum;
}

/* Sets the interval of an access along a dimension. False if its positions do not lie equally far apart. */
static bool set_interval(const scope *s, const dfl_index *index, const dfl_chip_part *at, int64_t extent, uint32_t d,
                         element_box *out)
{
    dfl_stride few[8], *strides = index->n_terms <= 8 ? few : DFL_NEW_ARRAY(s->f->arena, dfl_stride, index->n_terms);
    dfl_touched_row row;
    dfl_i128 first, end, base = index->offset;

    for (uint32_t k = 0; k < index->n_terms; k++) {
        strides[k] = (dfl_stride){ index->terms[k].coef, at[index->terms[k].rank].n };
        base += (dfl_i128)index->terms[k].coef * at[index->terms[k].rank].first;
    }
    if (!dfl_touched_row_of(base, strides, index->n_terms, &row))
        return false;
    first = row.first < 0 ? (row.gap - 1 - row.first) / row.gap : 0; /* numbers of the positions inside of the tensor */
    end = row.first >= extent ? 0 : (extent - 1 - row.first) / row.gap + 1;
    end = end < row.n ? end : row.n;
    base = row.first + first * row.gap;
    out->from[d] = base % row.gap * ((dfl_i128)extent + 1) + base / row.gap;
    out->to[d] = out->from[d] + (end > first ? end - first : 0);
    return true;
}

/* Whether accesses like that of `input` differ along a dimension. */
static bool differ_along(const dfl_einsum *e, uint32_t input, uint32_t d)
{
    for (uint32_t i = input + 1; i < e->n_inputs; i++)
        if (dfl_halo_is_alike(&e->inputs[input], &e->inputs[i]) &&
            e->inputs[i].index[d].offset != e->inputs[input].index[d].offset)
            return true;
    return false;
}

/* Counts the elements of all accesses like that of `input` at one place of the ranks. False if they are not counted. */
static bool count_at(const scope *s, uint32_t input, const dfl_chip_part *at, element_box *boxes, dfl_i128 *out)
{
    const dfl_einsum *e = &s->f->workload->einsums[s->einsum];
    const dfl_access *a = &e->inputs[input];
    uint32_t *which = DFL_NEW_ARRAY(s->f->arena, uint32_t, e->n_inputs), n = 0;
    dfl_i128 factor = 1;
    int64_t width;

    for (uint32_t i = input; i < e->n_inputs; i++) {
        if (!dfl_halo_is_alike(a, &e->inputs[i]))
            continue;
        for (uint32_t d = 0; d < a->n_dims; d++) {
            const int64_t extent = s->f->workload->tensors[a->tensor].extents[d];

            if (differ_along(e, input, d)) {
                if (!set_interval(s, &e->inputs[i].index[d], at, extent, d, &boxes[n]))
                    return false;
                continue;
            }
            boxes[n].from[d] = 0;
            boxes[n].to[d] = 1;
            if (n > 0)
                continue;
            if (!count_values(s, &a->index[d], at, 0, extent - 1, &width) || dfl_mul(factor, width, &factor))
                return false;
        }
        which[n] = n;
        n++;
    }
    *out = count_union(s, boxes, which, n, 0, a->n_dims);
    return !dfl_mul(*out, factor, out);
}

/* Whether some access like that of `input` leaves the tensor along a dimension with a rank. */
static bool leaves_along(const scope *s, uint32_t input, uint32_t rank)
{
    const dfl_einsum *e = &s->f->workload->einsums[s->einsum];
    bool found = false;

    for (uint32_t i = input; i < e->n_inputs; i++)
        for (uint32_t d = 0; d < e->inputs[i].n_dims && dfl_halo_is_alike(&e->inputs[input], &e->inputs[i]); d++)
            found |= dfl_index_coef(&e->inputs[i].index[d], rank) != 0 &&
                     dfl_frame_leaves(s->f, &e->inputs[i].index[d], s->f->workload->tensors[e->inputs[i].tensor].extents[d]);
    return found;
}

static bool count_several(const scope *s, uint32_t input, dfl_i128 *out)
{
    const dfl_frame *f = s->f;
    const dfl_einsum *e = &f->workload->einsums[s->einsum];
    const uint32_t n_dims = e->inputs[input].n_dims;
    element_box *boxes = DFL_NEW_ARRAY(f->arena, element_box, e->n_inputs);
    uint32_t *ranks = DFL_NEW_ARRAY(f->arena, uint32_t, (size_t)e->n_ranks + 1), n = 0;
    dfl_chip_part *at;
    combination c;
    dfl_i128 here;

    if (moves_several(s, &e->inputs[input]))
        return true;
    for (uint32_t i = 0; i < e->n_inputs; i++)
        boxes[i] = (element_box){ DFL_NEW_ARRAY(f->arena, dfl_i128, (size_t)n_dims + 1),
                                  DFL_NEW_ARRAY(f->arena, dfl_i128, (size_t)n_dims + 1) };
    for (uint32_t r = 0; r < e->n_ranks; r++)
        if (leaves_along(s, input, e->ranks[r]))
            ranks[n++] = e->ranks[r];
    if (!start_tiles(s, ranks, n, &c))
        return true;
    for (uint32_t r = 0; r < e->n_ranks; r++) /* of the others, whole tiles count alike wherever they stand */
        if (!leaves_along(s, input, e->ranks[r]))
            c.at[e->ranks[r]] = (dfl_chip_part){ 0, 1, values_of(s, e->ranks[r]) };
    at = c.at;
    *out = 0;
    do {
        if (!count_at(s, input, at, boxes, &here))
            return true;
        *out = here > *out ? here : *out;
    } while (next_tiles(&c));
    return false;
}

bool dfl_frame_elements_of_several(const dfl_frame *f, uint32_t einsum, uint32_t input, dfl_i128 *out)
{
    return count_several(&(scope){ .f = f, .einsum = einsum, .is_pass = true }, input, out);
}

/* ---- what is counted ---- */

/* Elements of an access of the einsum of a scope, input `i` or behind them the output: of an input that other inputs read in
   another place, too, those of all of them. True if they are not counted. */
static bool count_access(const scope *s, uint32_t i, dfl_i128 *out)
{
    const dfl_einsum *e = &s->f->workload->einsums[s->einsum];

    return count_elements(s, i < e->n_inputs ? &e->inputs[i] : &e->output, NULL, out) ||
           (i < e->n_inputs && dfl_halo_has_several(e, i) && count_several(s, i, out));
}

/* Whether an index has a dealt rank beside other ranks, or leaves the tensor with it: its values count as those of blocks. */
static bool is_dealt_window(const dfl_frame *f, uint32_t einsum, const dfl_index *index, int64_t extent)
{
    for (uint32_t s = 0; s < f->n_slots; s++)
        if (f->slots[s].is_cyclic && f->slots[s].count > 1 && dfl_frame_line(f, einsum, s) != NULL &&
            dfl_index_coef(index, dfl_frame_line(f, einsum, s)->rank) != 0 &&
            (index->n_terms > 1 || dfl_frame_leaves(f, index, extent)))
            return true;
    return false;
}

bool dfl_frame_check_elements(const dfl_frame *f)
{
    for (uint32_t e = 0; e < f->workload->n_einsums; e++) {
        const dfl_einsum *einsum = &f->workload->einsums[e];
        const scope s = { .f = f, .einsum = e, .is_whole = true };

        for (uint32_t i = 0; i <= einsum->n_inputs; i++) {
            const dfl_access *a = i < einsum->n_inputs ? &einsum->inputs[i] : &einsum->output;
            dfl_i128 n;

            for (uint32_t d = 0; d < a->n_dims; d++)
                if (is_dealt_window(f, e, &a->index[d], f->workload->tensors[a->tensor].extents[d]))
                    return dfl_frame_refuse(f, a->span, "a window over a rank that is dealt round-robin",
                                            "divide the rank into blocks: leave out `cyclic`");
            if (count_access(&s, i, &n))
                return dfl_frame_refuse(f, a->span, "an access whose elements are not counted: ranks of its indices meet",
                                        "use indices of one rank each, or smaller ranks");
            if (n == 0) /* it reads or makes no element */
                return dfl_frame_refuse(f, a->span, "an access of which every element lies outside of its tensor",
                                        "change the offset, or leave the access out");
        }
    }
    return true;
}

bool dfl_frame_check_tiles(const dfl_frame *f)
{
    for (uint32_t e = 0; e < f->workload->n_einsums; e++) {
        const dfl_einsum *einsum = &f->workload->einsums[e];
        const scope s = { .f = f, .einsum = e, .is_pass = true };

        for (uint32_t i = 0; i <= einsum->n_inputs; i++) {
            const dfl_access *a = i < einsum->n_inputs ? &einsum->inputs[i] : &einsum->output;
            dfl_i128 n;

            if (count_access(&s, i, &n))
                return dfl_frame_refuse(f, a->span, "an access beyond an end of its tensor, of more than 65536 parts,",
                                        "divide its ranks into fewer parts, or keep the access inside of the tensor");
        }
    }
    return true;
}
