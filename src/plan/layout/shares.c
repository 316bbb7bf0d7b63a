#include "plan/layout/shares.h"

#include "plan/layout/elements.h"
#include "plan/layout/lines.h"
#include "plan/layout/parts.h"
#include "plan/layout/touched.h"
#include "support/number.h"

enum { MOST_PAIRS = 1 << 16 }; /* pairs of chips that are looked at where parts do not nest */

/* A pair of chips: the one that uses elements, and the one that has them at home. */
typedef struct {
    const dfl_frame *f;
    uint32_t einsum;
    const dfl_access *access;
    const dfl_layout *from, *asked;
    uint64_t slots, brought;   /* groups that exchange; groups whose exchange before has brought what the chips there have */
    int64_t *user, *owner;     /* [slot]: its place there; both have the same one on groups that exchange nothing */
    int64_t *places;           /* [slot]: places of the user that are looked at, the first ones; [slots + slot]: of the owner */
    const dfl_share_mask *mask; /* NULL = no conditions */
} chip_pair;

/* The groups that divide a dimension in a layout. */
static uint64_t dividing(const chip_pair *p, const dfl_layout *layout, uint32_t dim)
{
    uint64_t out = 0;

    for (uint32_t s = 0; s < p->f->n_slots; s++)
        if (layout[s] == (dfl_layout)dim && p->f->slots[s].stages == NULL && p->f->slots[s].count > 1)
            out |= UINT64_C(1) << s;
    return out;
}

/* Positions of `own`, along a dimension of `extent` positions, that the owner has at home or after an exchange over `brought`. */
static int64_t count_common(const chip_pair *p, dfl_chip_part own, int64_t extent, uint64_t home)
{
    int64_t *owner = DFL_NEW_ARRAY(p->f->arena, int64_t, (size_t)p->f->n_slots + 1), sum = 0;
    uint32_t s = 0;

    for (uint32_t k = 0; k < p->f->n_slots; k++)
        owner[k] = (home & p->brought) >> k & 1 ? 0 : p->owner[k];
    while (s < p->f->n_slots) {
        sum += dfl_chip_parts_common(own, dfl_chip_part_of(p->f, extent, home, owner)).n;
        for (s = 0; s < p->f->n_slots; s++) {
            if (((home & p->brought) >> s & 1) == 0)
                continue;
            if (++owner[s] < p->f->slots[s].count)
                break;
            owner[s] = 0;
        }
    }
    return sum;
}

/* Whether a pass has one position along a dimension. A step of the optimizer has all layers. */
static bool has_one(const chip_pair *p, uint32_t dim)
{
    const dfl_index *index = &p->access->index[dim];
    const bool is_update = p->f->workload->einsums[p->einsum].phase == DFL_PHASE_UPDATE;

    for (uint32_t t = 0; t < index->n_terms; t++)
        if (is_update || !p->f->repeats[index->terms[t].rank])
            return false;
    return true;
}

/* Whether the owner has the one position of a dimension: in this iteration, or in some iteration if all count alike. */
static bool owns_one(const chip_pair *p, uint32_t dim, uint64_t home)
{
    const dfl_frame *f = p->f;
    const dfl_index *index = &p->access->index[dim];
    const int64_t extent = f->workload->tensors[p->access->tensor].extents[dim];
    int64_t *at = DFL_NEW_ARRAY(f->arena, int64_t, (size_t)index->n_terms + 1);
    uint32_t t;

    for (t = 0; t < index->n_terms; t++)
        at[t] = f->iteration;
    do {
        dfl_chip_part one = { index->offset, 1, 1 };

        for (t = 0; t < index->n_terms; t++)
            one.first += index->terms[t].coef * at[t];
        if (one.first >= 0 && one.first < extent && count_common(p, one, extent, home) > 0)
            return true;
        for (t = 0; t < index->n_terms && f->counts == NULL; t++) {
            if (++at[t] < f->workload->ranks[index->terms[t].rank].extent)
                break;
            at[t] = 0;
        }
    } while (f->counts == NULL && t < index->n_terms);
    return false;
}

/* The groups by which an einsum divides a rank. */
static uint64_t dividing_rank(const chip_pair *p, uint32_t rank)
{
    uint64_t out = 0;

    for (uint32_t s = 0; s < p->f->n_slots; s++)
        if (dfl_frame_line(p->f, p->einsum, s) != NULL && dfl_frame_line(p->f, p->einsum, s)->rank == rank &&
            p->f->slots[s].stages == NULL && p->f->slots[s].count > 1)
            out |= UINT64_C(1) << s;
    return out;
}

/* Whether the user divides a window: a dimension with an offset or with several ranks. */
static bool divides_window(const chip_pair *p, uint32_t dim)
{
    uint32_t rank;

    return !dfl_index_is_bare(&p->access->index[dim], &rank) && dividing(p, p->asked, dim) != 0;
}

/* The positions that the user takes along an index in each pass, also beyond the ends of the tensor: each rank has its part by
   the groups that divide it. False if passes take some of them alone, or if they lie unequally far apart. */
static bool find_row(const chip_pair *p, const dfl_index *index, dfl_chip_part *out)
{
    dfl_stride *strides = DFL_NEW_ARRAY(p->f->arena, dfl_stride, (size_t)index->n_terms + 1);
    int64_t base = index->offset;
    dfl_touched_row row;

    *out = (dfl_chip_part){ 0, 1, 0 };
    for (uint32_t t = 0; t < index->n_terms; t++) {
        const uint32_t rank = index->terms[t].rank;
        const dfl_chip_part part = dfl_chip_part_in(p->f, rank, dividing_rank(p, rank), p->user);

        if (dfl_frame_pass(p->f, p->einsum, rank) != dfl_frame_local(p->f, p->einsum, rank))
            return false;
        if (part.n <= 0)
            return true;
        strides[t] = (dfl_stride){ index->terms[t].coef * part.step, part.n };
        base += index->terms[t].coef * part.first;
    }
    if (!dfl_touched_row_of(base, strides, index->n_terms, &row))
        return false;
    *out = (dfl_chip_part){ (int64_t)row.first, (int64_t)row.gap, (int64_t)row.n };
    return true;
}

/* Whether the user has points: the last parts of a rank may be empty. */
static bool has_points(const chip_pair *p)
{
    const dfl_einsum *e = &p->f->workload->einsums[p->einsum];

    for (uint32_t i = 0; i < e->n_ranks; i++)
        if (dfl_chip_part_in(p->f, e->ranks[i], dividing_rank(p, e->ranks[i]), p->user).n <= 0)
            return false;
    return true;
}

/* Elements along a dimension of the pair. True on overflow, or if they are not counted. */
static bool count_dimension(const chip_pair *p, uint32_t dim, dfl_i128 *out)
{
    const dfl_frame *f = p->f;
    const uint64_t used = dividing(p, p->asked, dim), home = dividing(p, p->from, dim);
    int64_t parts = 1, pass, common;
    dfl_chip_part row;
    uint32_t rank;

    if (has_one(p, dim)) {
        *out = owns_one(p, dim, home);
        return false;
    }
    if (dfl_index_is_bare(&p->access->index[dim], &rank)) {
        common = count_common(p, dfl_chip_part_in(f, rank, used, p->user),
                              f->workload->tensors[p->access->tensor].extents[dim], home);
        pass = dfl_frame_pass(f, p->einsum, rank);
        *out = common < pass ? common : pass;
        return false;
    }
    if (find_row(p, &p->access->index[dim], &row)) {
        *out = count_common(p, row, f->workload->tensors[p->access->tensor].extents[dim], home);
        return false;
    }
    if (divides_window(p, dim))
        return true;
    for (uint32_t s = 0; s < f->n_slots; s++)
        parts *= (home & ~p->brought) >> s & 1 ? f->slots[s].count : 1;
    return dfl_frame_elements_along(f, p->einsum, p->access, dim, parts, out);
}

/* Elements of the pair where ranks move several dimensions: those between the ends of the blocks at home. True if they are not
   counted. */
static bool count_diagonal(const chip_pair *p, dfl_i128 *out)
{
    const uint32_t n = p->access->n_dims;
    int64_t *low = DFL_NEW_ARRAY(p->f->arena, int64_t, 2 * (size_t)n + 1), *high = low + n, listed = 0;
    bool is_counted = true;

    for (uint32_t d = 0; d < n; d++) {
        const dfl_chip_part part = dfl_chip_part_of(p->f, p->f->workload->tensors[p->access->tensor].extents[d],
                                                    dividing(p, p->from, d), p->owner);

        low[d] = part.first;
        high[d] = part.first + part.n - 1;
        is_counted &= part.step == 1 && (dividing(p, p->asked, d) & ~dividing(p, p->from, d)) == 0;
    }
    is_counted = is_counted && dfl_frame_elements_between(p->f, p->einsum, p->access, low, high, &listed);
    *out = listed;
    return !is_counted;
}

/* Elements of all dimensions of the pair. */
static bool count_pair(const chip_pair *p, dfl_i128 *out)
{
    bool overflow = false;
    dfl_i128 n;

    if (dfl_frame_moves_several(p->f, p->access))
        return count_diagonal(p, out);
    *out = 1;
    for (uint32_t d = 0; d < p->access->n_dims && !overflow; d++)
        if (p->mask == NULL || !p->mask->dims[d])
            overflow |= count_dimension(p, d, &n) || dfl_mul(*out, n, out);
    return overflow;
}

/* Whether the parts that an einsum takes of a dimension are those at home or unite some of them: then the first chips have
   most. */
static bool nests(const chip_pair *p, uint32_t dim)
{
    const uint64_t used = dividing(p, p->asked, dim), home = dividing(p, p->from, dim);
    uint64_t outer = 0;
    dfl_chip_part row;

    if (divides_window(p, dim))
        return false; /* the first chips have less of a window that begins before the tensor */
    if (!has_one(p, dim) && find_row(p, &p->access->index[dim], &row) && (row.first > 0 || row.step != 1))
        return home == 0; /* and less of positions that begin behind the first one, or lie apart */
    if (used == 0 || home == 0)
        return true;
    for (uint32_t s = 0; s < p->f->n_slots; s++) { /* the groups that the einsum divides stand before all others of the home */
        outer |= (used | home) & (UINT64_C(1) << s);
        if (outer == used)
            return (used & ~home) == 0 && (used & p->slots) == 0;
    }
    return false;
}

/* Sets the places that are looked at: the first two, or all where parts do not nest, where conditions leave some places less, and
   of the owners of one position. False if these are too many. */
static bool set_places(const chip_pair *p)
{
    const uint32_t n_slots = p->f->n_slots;
    int64_t pairs = 1;

    for (uint32_t s = 0; s < n_slots; s++) {
        const bool is_sent = (p->slots >> s & 1) != 0, is_single = p->f->slots[s].stages != NULL;
        const int64_t count = p->f->slots[s].count;
        bool all = p->mask != NULL && (p->mask->slots >> s & 1) != 0, all_owners = false;

        for (uint32_t d = 0; d < p->access->n_dims; d++) {
            const bool is_home = p->from[s] == (dfl_layout)d;

            all |= (is_home || p->asked[s] == (dfl_layout)d) &&
                   (!nests(p, d) || dfl_frame_moves_several(p->f, p->access) || (p->mask != NULL && p->mask->dims[d]));
            all_owners |= is_home && has_one(p, d);
        }
        p->places[s] = is_single ? 1 : all || count < 2 || (all_owners && !is_sent) ? count : is_sent ? 2 : 1;
        p->places[n_slots + s] = !is_sent ? 1 : all_owners && !is_single ? count : p->places[s];
        if (__builtin_mul_overflow(pairs, p->places[s] * p->places[n_slots + s], &pairs) || pairs > MOST_PAIRS)
            return false;
    }
    return true;
}

/* Moves to the next pair. */
static bool next_pair(const chip_pair *p)
{
    for (uint32_t s = 0; s < p->f->n_slots; s++) {
        const bool is_sent = (p->slots >> s & 1) != 0;

        if (++p->user[s] < p->places[s]) {
            p->owner[s] = is_sent ? p->owner[s] : p->user[s];
            return true;
        }
        p->user[s] = 0;
        p->owner[s] = is_sent && p->owner[s] + 1 < p->places[p->f->n_slots + s] ? p->owner[s] + 1 : 0;
        if (p->owner[s] > 0)
            return true;
    }
    return false;
}

static bool is_one_chip(const chip_pair *p)
{
    for (uint32_t s = 0; s < p->f->n_slots; s++)
        if (p->user[s] != p->owner[s])
            return false;
    return true;
}

bool dfl_share_find(const dfl_frame *f, uint32_t einsum, const dfl_access *access, const dfl_layout *from,
                    const dfl_layout *asked, uint64_t slots, uint64_t brought, const dfl_share_mask *mask, dfl_i128 *out)
{
    const chip_pair p = { .f = f, .einsum = einsum, .access = access, .from = from, .asked = asked, .slots = slots,
                          .brought = brought, .mask = mask,
                          .user = DFL_NEW_ARRAY(f->arena, int64_t, (size_t)f->n_slots + 1),
                          .owner = DFL_NEW_ARRAY(f->arena, int64_t, (size_t)f->n_slots + 1),
                          .places = DFL_NEW_ARRAY(f->arena, int64_t, 2 * (size_t)f->n_slots + 1) };
    dfl_i128 n = 0, thinned = 1;

    *out = 0;
    if (!set_places(&p))
        return dfl_frame_refuse(f, access->span, "an exchange between parts that do not nest, of more than 65536 pairs of chips,",
                                "divide the operand at home as its reader, or along another dimension");
    do {
        if (is_one_chip(&p) || !has_points(&p)) /* it sends nothing to itself, and a chip without points needs nothing */
            continue;
        if (mask != NULL && !mask->count(mask->context, p.user, p.owner, &thinned))
            return false;
        if (thinned > 0 && (count_pair(&p, &n) || dfl_mul(n, thinned, &n)))
            return dfl_frame_refuse(f, access->span, "an exchange whose largest part is not counted,",
                                    "divide the operand at home as its reader");
        *out = thinned > 0 && n > *out ? n : *out;
    } while (next_pair(&p));
    return true;
}

bool dfl_share_block(const dfl_frame *f, uint32_t einsum, const dfl_access *access, const dfl_layout *from,
                     const dfl_layout *asked, uint64_t brought, uint32_t dim, dfl_i128 *out)
{
    const chip_pair p = { .f = f, .einsum = einsum, .access = access, .from = from, .asked = asked, .brought = brought,
                          .user = DFL_NEW_ARRAY(f->arena, int64_t, (size_t)f->n_slots + 1),
                          .owner = DFL_NEW_ARRAY(f->arena, int64_t, (size_t)f->n_slots + 1),
                          .places = DFL_NEW_ARRAY(f->arena, int64_t, 2 * (size_t)f->n_slots + 1) };
    const uint64_t divided = dividing(&p, from, dim) | dividing(&p, asked, dim);
    int64_t chips = 1;
    dfl_i128 n;

    *out = 0;
    for (uint32_t s = 0; s < f->n_slots; s++) {
        p.places[s] = divided >> s & 1 ? f->slots[s].count : 1;
        if (__builtin_mul_overflow(chips, p.places[s], &chips) || chips > MOST_PAIRS)
            return dfl_frame_refuse(f, access->span, "parts of a dimension that others gather, of more than 65536 chips,",
                                    "divide the operand at home as its reader");
    }
    do { /* each chip is a pair with itself */
        if (count_dimension(&p, dim, &n))
            return dfl_frame_refuse(f, access->span, "parts of a dimension that others gather, of which passes have some alone,",
                                    "divide the operand at home as its reader");
        *out = n > *out ? n : *out;
    } while (next_pair(&p));
    return true;
}
