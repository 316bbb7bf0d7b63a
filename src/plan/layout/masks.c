#include "plan/layout/masks.h"

#include <string.h>

#include "ir/conditions.h"
#include "plan/layout/elements.h"
#include "plan/layout/halos.h"
#include "plan/layout/lines.h"
#include "plan/layout/parts.h"
#include "plan/layout/shares.h"
#include "support/limits.h"
#include "support/vec.h"

/* Where the elements lie that a count over pairs of chips counts. */
typedef struct {
    uint64_t slots;            /* groups that exchange them: a chip that uses elements gets them from any other one */
    const uint32_t *rank;      /* [slot]: the rank that the group divides at home; DFL_NONE = none */
} mask_home;

/* A count over one component of the conditions of an einsum. */
typedef struct {
    const dfl_frame *f;
    uint32_t einsum;
    const bool *has;           /* [rank] of the component */
    const bool *keep;          /* [rank] whose combinations are counted; NULL = all */
    const dfl_access *within;  /* elements beyond the ends of its tensor do not count; NULL = all count */
    uint64_t together;         /* groups whose chips count together */
    const mask_home *home; /* only elements that a chip has at home count; NULL = all */
    int64_t *place;            /* [slot]: the chip in the groups that divide ranks of the component; [slots + slot]: the chip that
                                  has the elements at home, in the groups that exchange them */
    dfl_workload local;        /* ranks with the extents of this chip */
    dfl_rank *ranks;
    dfl_condition *where;      /* conditions over positions of this chip */
    dfl_term **terms;          /* [condition]: memory for its terms; NULL = none yet */
} component_count;

/* Whether a rank has one value in a pass: the iterations of a repeat run one after another. */
static bool is_fixed(const dfl_frame *f, uint32_t rank) { return f->repeats[rank]; }

/* Marks the component of a rank. */
static void find_component(const dfl_frame *f, const dfl_einsum *e, uint32_t rank, bool *has)
{
    bool grows = true;

    memset(has, 0, f->workload->n_ranks * sizeof *has);
    has[rank] = true;
    while (grows) {
        grows = false;
        for (uint32_t c = 0; c < e->n_where; c++) {
            const dfl_index *sum = &e->where[c].sum;
            bool meets = false;

            for (uint32_t t = 0; t < sum->n_terms; t++)
                meets |= has[sum->terms[t].rank];
            for (uint32_t t = 0; t < sum->n_terms && meets; t++)
                if (!is_fixed(f, sum->terms[t].rank) && !has[sum->terms[t].rank])
                    grows = has[sum->terms[t].rank] = true;
        }
    }
}

/* The slots that divide a rank of an einsum, without those of `but`. */
static uint64_t slots_of(const dfl_frame *f, uint32_t einsum, uint32_t rank, uint64_t but)
{
    uint64_t out = 0;

    for (uint32_t s = 0; s < f->n_slots; s++) {
        const dfl_line *line = dfl_frame_line(f, einsum, s);

        if (line != NULL && line->rank == rank && f->slots[s].stages == NULL && f->slots[s].count > 1 && (but >> s & 1) == 0)
            out |= UINT64_C(1) << s;
    }
    return out;
}

/* ---- one chip ---- */

/* The groups that divide a rank at home. */
static uint64_t slots_at_home(const component_count *c, uint32_t rank)
{
    uint64_t out = 0;

    for (uint32_t s = 0; c->home != NULL && s < c->f->n_slots; s++)
        out |= (uint64_t)(c->home->rank[s] == rank) << s;
    return out;
}

static dfl_chip_part part_of(const component_count *c, uint32_t rank)
{
    const dfl_chip_part used = dfl_chip_part_in(c->f, rank, slots_of(c->f, c->einsum, rank, c->together), c->place);
    const uint64_t slots = slots_at_home(c, rank);
    int64_t *place;

    if (slots == 0)
        return used;
    place = c->place + 2 * (size_t)c->f->n_slots;
    for (uint32_t s = 0; s < c->f->n_slots; s++)
        place[s] = c->place[s + (c->home->slots >> s & 1 ? c->f->n_slots : 0)];
    return dfl_chip_parts_common(used, dfl_chip_part_in(c->f, rank, slots, place));
}

/* Adds an index over the positions that a chip has of the ranks of the component as condition number `at`. All chips share the
   memory of its terms. */
static dfl_index local_index(const component_count *c, uint32_t at, const dfl_index *index, int64_t factor)
{
    dfl_term *terms = c->terms[at] = c->terms[at] != NULL ? c->terms[at]
                                                          : DFL_NEW_ARRAY(c->f->arena, dfl_term, (size_t)index->n_terms + 1);
    dfl_index out = { .terms = terms, .offset = index->offset * factor, .span = index->span };

    for (uint32_t t = 0; t < index->n_terms; t++) {
        const uint32_t rank = index->terms[t].rank;
        const int64_t coef = index->terms[t].coef * factor;
        const dfl_chip_part part = part_of(c, rank);

        if (is_fixed(c->f, rank)) {
            out.offset += coef * c->f->iteration;
            continue;
        }
        out.offset += coef * part.first;
        terms[out.n_terms++] = (dfl_term){ .rank = rank, .coef = coef * part.step };
    }
    return out;
}

/* The conditions of the component on the present chip. */
static dfl_einsum local_einsum(component_count *c)
{
    const dfl_einsum *e = &c->f->workload->einsums[c->einsum];
    const dfl_access *a = c->within;
    dfl_einsum out = *e;

    out.where = c->where;
    out.n_where = 0;
    for (uint32_t k = 0; k < e->n_where; k++) {
        bool is_of = false;

        for (uint32_t t = 0; t < e->where[k].sum.n_terms; t++)
            is_of |= c->has[e->where[k].sum.terms[t].rank];
        if (is_of)
            c->where[out.n_where].sum = local_index(c, out.n_where, &e->where[k].sum, 1);
        out.n_where += is_of;
    }
    for (uint32_t d = 0; a != NULL && d < a->n_dims; d++) {
        bool is_of = false;

        for (uint32_t t = 0; t < a->index[d].n_terms; t++)
            is_of |= c->has[a->index[d].terms[t].rank];
        if (!is_of)
            continue;
        c->where[out.n_where].sum = local_index(c, out.n_where, &a->index[d], 1);
        out.n_where++;
        c->where[out.n_where].sum = local_index(c, out.n_where, &a->index[d], -1);
        c->where[out.n_where++].sum.offset += c->f->workload->tensors[a->tensor].extents[d] - 1;
    }
    return out;
}

/* Counts on the present chip. */
static bool count_here(component_count *c, int64_t *visits, dfl_i128 *out)
{
    const dfl_einsum *e = &c->f->workload->einsums[c->einsum];
    dfl_einsum local;
    bool overflow;

    *out = 0;
    for (uint32_t i = 0; i < e->n_ranks; i++) {
        const uint32_t r = e->ranks[i];

        if (!c->has[r])
            continue;
        c->ranks[r].extent = part_of(c, r).n;
        if (c->ranks[r].extent <= 0)
            return true; /* the last parts of a rank may be empty */
    }
    local = local_einsum(c);
    overflow = dfl_conditions_count_kept(&c->local, &local, c->keep, DFL_WHERE_VISITS, visits, out);
    if (*visits > DFL_WHERE_VISITS)
        return dfl_frame_refuse(c->f, e->span, "a `where` with more than 4194304 positions to visit", "use smaller ranks");
    if (!overflow)
        return true;
    dfl_report(c->f->sink, DFL_EVAL_OVERFLOW, e->span, "the operations of this einsum exceed 128 bits");
    return false;
}

/* ---- counts that iterations share ---- */

/* The largest count of the component of a rank. */
typedef struct {
    uint32_t einsum, rank;
    const bool *keep;
    const dfl_access *within;
    uint64_t together;
    dfl_i128 n;
} known_count;

struct dfl_mask_counts { DFL_VEC(known_count) known; };

struct dfl_mask_counts *dfl_mask_counts_new(dfl_arena *arena) { return DFL_NEW(arena, struct dfl_mask_counts); }

/* Whether no condition of the component has the iteration. */
static bool is_constant(const component_count *c)
{
    const dfl_einsum *e = &c->f->workload->einsums[c->einsum];

    for (uint32_t k = 0; k < e->n_where; k++) {
        bool is_of = false, has_iteration = false;

        for (uint32_t t = 0; t < e->where[k].sum.n_terms; t++) {
            is_of |= c->has[e->where[k].sum.terms[t].rank];
            has_iteration |= is_fixed(c->f, e->where[k].sum.terms[t].rank);
        }
        if (is_of && has_iteration)
            return false;
    }
    for (uint32_t d = 0; c->within != NULL && d < c->within->n_dims; d++)
        for (uint32_t t = 0; t < c->within->index[d].n_terms; t++)
            if (is_fixed(c->f, c->within->index[d].terms[t].rank))
                return false; /* the ends of the tensor may lie elsewhere */
    return true;
}

/* The known count of the component of a rank, or NULL. */
static const known_count *find_known(const component_count *c, uint32_t rank)
{
    const struct dfl_mask_counts *counts = c->f->counts;
    const uint32_t n = c->f->workload->n_ranks;

    for (size_t i = 0; counts != NULL && i < counts->known.n; i++) {
        const known_count *x = &counts->known.at[i];
        bool is_same = x->einsum == c->einsum && x->rank == rank && x->within == c->within && x->together == c->together &&
                       (x->keep == NULL) == (c->keep == NULL);

        for (uint32_t r = 0; r < n && is_same && c->keep != NULL; r++)
            is_same = x->keep[r] == c->keep[r];
        if (is_same)
            return x;
    }
    return NULL;
}

/* ---- all chips ---- */

/* Whether the chip that uses elements is the one that has them at home: it gets them from no other one. */
static bool is_own(const component_count *c, const bool *moves)
{
    const uint32_t n = c->f->n_slots;

    for (uint32_t s = 0; s < n; s++)
        if (c->home != NULL && (c->home->slots >> s & 1) != 0 && (!moves[s] || !moves[n + s] || c->place[s] != c->place[n + s]))
            return false;
    return c->home != NULL;
}

/* The largest count of a component over the chips of the groups that divide its ranks; of elements at home, over all pairs of
   a chip that uses and another one that has them. */
static bool count_most(component_count *c, dfl_i128 *out)
{
    const dfl_frame *f = c->f;
    bool *moves = DFL_NEW_ARRAY(f->arena, bool, 2 * (size_t)f->n_slots + 1); /* as `place` */
    int64_t visits = 0;
    uint32_t s;

    for (uint32_t r = 0; r < f->workload->n_ranks; r++)
        for (s = 0; c->has[r] && s < f->n_slots; s++) {
            const bool is_home = (slots_at_home(c, r) >> s & 1) != 0, is_sent = is_home && (c->home->slots >> s & 1) != 0;

            moves[s] |= (slots_of(f, c->einsum, r, c->together) >> s & 1) != 0 || (is_home && !is_sent);
            moves[f->n_slots + s] |= is_sent;
        }
    memset(c->place, 0, 2 * f->n_slots * sizeof *c->place);
    *out = 0;
    do {
        dfl_i128 n = 0;

        if (!is_own(c, moves) && !count_here(c, &visits, &n))
            return false;
        *out = n > *out ? n : *out;
        for (s = 0; s < 2 * f->n_slots; s++) {
            if (!moves[s])
                continue;
            if (++c->place[s] < f->slots[s % f->n_slots].count)
                break;
            c->place[s] = 0;
        }
    } while (s < 2 * f->n_slots);
    return true;
}

/* The same, of the component of a rank; constant ones are counted once for all iterations. */
static bool find_most(component_count *c, uint32_t rank, dfl_i128 *out)
{
    const bool is_shared = c->f->counts != NULL && c->home == NULL && is_constant(c);
    const known_count *known = is_shared ? find_known(c, rank) : NULL;

    if (known != NULL) {
        *out = known->n;
        return true;
    }
    if (!count_most(c, out))
        return false;
    if (is_shared)
        DFL_PUSH(c->f->arena, &c->f->counts->known,
                 ((known_count){ c->einsum, rank, c->keep, c->within, c->together, *out }));
    return true;
}

static component_count start_count(const dfl_frame *f, uint32_t einsum, const dfl_access *within, uint64_t together)
{
    const dfl_workload *w = f->workload;
    component_count c = { .f = f, .einsum = einsum, .within = within, .together = together };

    c.place = DFL_NEW_ARRAY(f->arena, int64_t, 3 * (size_t)f->n_slots + 1); /* the last third: see part_of */
    c.ranks = DFL_NEW_ARRAY(f->arena, dfl_rank, (size_t)w->n_ranks + 1);
    c.where = DFL_NEW_ARRAY(f->arena, dfl_condition,
                            (size_t)w->einsums[einsum].n_where + (within != NULL ? 2 * (size_t)within->n_dims : 0) + 1);
    c.terms = DFL_NEW_ARRAY(f->arena, dfl_term *,
                            (size_t)w->einsums[einsum].n_where + (within != NULL ? 2 * (size_t)within->n_dims : 0) + 1);
    memcpy(c.ranks, w->ranks, w->n_ranks * sizeof *c.ranks);
    c.local = *w;
    c.local.ranks = c.ranks;
    return c;
}

/* Forgets the terms of the conditions of the component before: others have other numbers of them. */
static void clear_terms(component_count *c)
{
    const size_t n = (size_t)c->f->workload->einsums[c->einsum].n_where + (c->within != NULL ? 2 * (size_t)c->within->n_dims : 0);

    memset(c->terms, 0, n * sizeof *c->terms);
}

/* Whether the iteration satisfies the conditions that have no other rank. */
static bool satisfies_fixed(const dfl_frame *f, const dfl_einsum *e)
{
    for (uint32_t k = 0; k < e->n_where; k++) {
        const dfl_index *sum = &e->where[k].sum;
        dfl_i128 value = sum->offset;
        bool is_constant = true;

        for (uint32_t t = 0; t < sum->n_terms; t++) {
            is_constant &= is_fixed(f, sum->terms[t].rank);
            value += (dfl_i128)sum->terms[t].coef * f->iteration;
        }
        if (is_constant && value < 0)
            return false;
    }
    return true;
}

/* Multiplies the largest counts of all components; those of the ranks of `keep` alone. */
static bool multiply_components(const dfl_frame *f, uint32_t einsum, const bool *keep, const dfl_access *within,
                                uint64_t together, const mask_home *home, dfl_i128 *out)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    bool *has = DFL_NEW_ARRAY(f->arena, bool, (size_t)f->workload->n_ranks + 1);
    bool *is_done = DFL_NEW_ARRAY(f->arena, bool, (size_t)f->workload->n_ranks + 1);
    component_count c = start_count(f, einsum, within, together);

    c.has = has;
    c.keep = keep;
    c.home = home;
    *out = satisfies_fixed(f, e) ? 1 : 0;
    for (uint32_t i = 0; i < e->n_ranks; i++) {
        const uint32_t r = e->ranks[i];
        dfl_i128 n;

        if (is_done[r] || is_fixed(f, r) || !dfl_conditions_have_rank(e, r))
            continue;
        find_component(f, e, r, has);
        clear_terms(&c);
        for (uint32_t k = 0; k < f->workload->n_ranks; k++)
            is_done[k] |= has[k];
        if (!find_most(&c, r, &n))
            return false;
        if (dfl_mul(*out, n, out)) {
            dfl_report(f->sink, DFL_EVAL_OVERFLOW, e->span, "the operations of this einsum exceed 128 bits");
            return false;
        }
    }
    return true;
}

/* ---- accesses ---- */

/* The one rank of an index that has more than one value in a pass; DFL_NONE = none, or several. */
static uint32_t only_rank(const dfl_frame *f, const dfl_index *index)
{
    uint32_t out = DFL_NONE;

    for (uint32_t t = 0; t < index->n_terms; t++) {
        if (is_fixed(f, index->terms[t].rank))
            continue;
        if (out != DFL_NONE)
            return DFL_NONE;
        out = index->terms[t].rank;
    }
    return out;
}

static bool is_masked(const dfl_frame *f, const dfl_einsum *e, const dfl_index *index)
{
    for (uint32_t t = 0; t < index->n_terms; t++)
        if (!is_fixed(f, index->terms[t].rank) && dfl_conditions_have_rank(e, index->terms[t].rank))
            return true;
    return false;
}

/* Whether an index has a rank of the conditions beside other ranks: its elements count as those of the box around them. */
static bool has_sum(const dfl_frame *f, const dfl_einsum *e, const dfl_access *access)
{
    for (uint32_t d = 0; d < access->n_dims; d++)
        if (is_masked(f, e, &access->index[d]) && only_rank(f, &access->index[d]) == DFL_NONE)
            return true;
    return false;
}

bool dfl_mask_varies(const dfl_frame *f, uint32_t einsum)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];

    for (uint32_t i = 0; i < e->n_ranks; i++)
        if (is_fixed(f, e->ranks[i]) && dfl_conditions_have_rank(e, e->ranks[i]))
            return true;
    return false;
}

bool dfl_mask_thins(const dfl_frame *f, uint32_t einsum, const dfl_access *access)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];

    if (e->n_where == 0 || f->points[einsum].parts > 1 || f->workload->tensors[access->tensor].gathered ||
        has_sum(f, e, access))
        return false;
    if (dfl_mask_varies(f, einsum)) /* an iteration may have no points */
        return true;
    for (uint32_t d = 0; d < access->n_dims; d++)
        if (is_masked(f, e, &access->index[d]))
            return true;
    return false;
}

/* An access with one element along each dimension that has a rank of the conditions. */
static dfl_access leave_masked(const dfl_frame *f, uint32_t einsum, const dfl_access *access)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    dfl_index *index = DFL_NEW_ARRAY(f->arena, dfl_index, (size_t)access->n_dims + 1);
    const dfl_index single = { .terms = NULL };
    dfl_access rest = *access;

    for (uint32_t d = 0; d < access->n_dims; d++)
        index[d] = is_masked(f, e, &access->index[d]) ? single : access->index[d];
    rest.index = index;
    return rest;
}

/* Elements of the box of an access along the dimensions without ranks of conditions. True on overflow. */
static bool rest_of_box(const dfl_frame *f, uint32_t einsum, const dfl_access *access, uint64_t together, const int64_t *parts,
                        dfl_i128 *out)
{
    const dfl_access rest = leave_masked(f, einsum, access);

    return dfl_frame_elements_of_group(f, einsum, &rest, together, parts, out);
}

/* Whether chips that count together have a whole block of each rank of the conditions. False after a report. */
static bool check_together(const dfl_frame *f, uint32_t einsum, uint64_t together)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];

    for (uint32_t i = 0; i < e->n_ranks; i++) {
        const uint64_t slots = slots_of(f, einsum, e->ranks[i], 0);

        if (dfl_conditions_have_rank(e, e->ranks[i]) && (slots & together) != 0 && (slots & ~together) != 0)
            return dfl_frame_refuse(f, e->span, "an exchange among a part of the groups that divide a rank of a `where`",
                                    "divide the rank on one axis");
    }
    return true;
}

static bool report_overflow(const dfl_frame *f, const dfl_access *access)
{
    dfl_report(f->sink, DFL_EVAL_OVERFLOW, access->span, "the data of this access exceeds 128 bits");
    return false;
}

/* The elements of a thinned access along the dimensions that have ranks of the conditions. False after a report. */
static bool count_masked(const dfl_frame *f, uint32_t einsum, const dfl_access *access, uint64_t together, const mask_home *home,
                         dfl_i128 *out)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    bool *keep = DFL_NEW_ARRAY(f->arena, bool, (size_t)f->workload->n_ranks + 1);

    for (uint32_t d = 0; d < access->n_dims; d++)
        if (is_masked(f, e, &access->index[d]))
            keep[only_rank(f, &access->index[d])] = true;
    return check_together(f, einsum, together) && multiply_components(f, einsum, keep, access, together, home, out);
}

/* The elements of a thinned access. */
static bool count_thinned(const dfl_frame *f, uint32_t einsum, const dfl_access *access, uint64_t together, const int64_t *parts,
                          const mask_home *home, dfl_i128 *out)
{
    dfl_i128 n;

    if (!count_masked(f, einsum, access, together, home, &n))
        return false;
    return (!rest_of_box(f, einsum, access, together, parts, out) && !dfl_mul(*out, n, out)) || report_overflow(f, access);
}

bool dfl_mask_elements(const dfl_frame *f, uint32_t einsum, const dfl_access *access, bool all, dfl_i128 *out)
{
    if (dfl_mask_thins(f, einsum, access))
        return count_thinned(f, einsum, access, 0, NULL, NULL, out);
    return !(all ? dfl_frame_elements_of_all(f, einsum, access, f->workload->einsums[einsum].phase != DFL_PHASE_UPDATE, out)
                 : dfl_frame_elements(f, einsum, access, true, out)) || report_overflow(f, access);
}

bool dfl_mask_elements_of_group(const dfl_frame *f, uint32_t einsum, const dfl_access *access, uint64_t together,
                                const int64_t *parts, dfl_i128 *out)
{
    if (dfl_mask_thins(f, einsum, access))
        return count_thinned(f, einsum, access, together, parts, NULL, out);
    return !dfl_frame_elements_of_group(f, einsum, access, together, parts, out) || report_overflow(f, access);
}

/* Finds how the home divides a tensor. `rank` [slot] is the rank of the index along which the home divides it, if conditions have
   this rank; else DFL_NONE. `parts` [dimension] is the number of parts, by slots without such a rank, into which the home divides
   what the einsum makes whole. False after a report. */
static bool find_home(const dfl_frame *f, uint32_t einsum, const dfl_access *access, const dfl_layout *from, mask_home *home,
                      uint32_t *rank, int64_t *parts)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];

    for (uint32_t d = 0; d < access->n_dims; d++)
        parts[d] = 1;
    for (uint32_t s = 0; s < f->n_slots; s++) {
        const dfl_index *index = from[s] >= 0 ? &access->index[from[s]] : NULL;

        rank[s] = DFL_NONE;
        if (index == NULL || f->slots[s].stages != NULL || f->slots[s].count == 1)
            continue;
        if (!is_masked(f, e, index)) {
            parts[from[s]] *= dfl_layout_made(f, einsum, s) < 0 ? f->slots[s].count : 1;
            continue;
        }
        if (!dfl_index_is_bare(index, &rank[s]) ||
            f->workload->tensors[access->tensor].extents[from[s]] != f->workload->ranks[rank[s]].extent)
            return dfl_frame_refuse(f, access->span, "an exchange of a dimension that a `where` reads at an offset, whose parts "
                                    "are not counted,", "divide the operand at home as its reader, or along another dimension");
    }
    home->rank = rank;
    return true;
}

/* What is counted for pairs of chips: the components of the conditions. */
typedef struct {
    component_count count;
    bool *has, *is_done;       /* [rank]: of the present component; of the components before */
    int64_t visits;
} pair_count;

/* Elements of the thinned dimensions that a chip uses and another one has. */
static bool count_masked_pair(void *context, const int64_t *user, const int64_t *owner, dfl_i128 *out)
{
    pair_count *p = context;
    const dfl_frame *f = p->count.f;
    const dfl_einsum *e = &f->workload->einsums[p->count.einsum];

    memcpy(p->count.place, user, f->n_slots * sizeof *user);
    memcpy(p->count.place + f->n_slots, owner, f->n_slots * sizeof *owner);
    memset(p->is_done, 0, f->workload->n_ranks * sizeof *p->is_done);
    *out = satisfies_fixed(f, e) ? 1 : 0;
    for (uint32_t i = 0; i < e->n_ranks && *out > 0; i++) {
        const uint32_t r = e->ranks[i];
        dfl_i128 n;

        if (p->is_done[r] || is_fixed(f, r) || !dfl_conditions_have_rank(e, r))
            continue;
        find_component(f, e, r, p->has);
        clear_terms(&p->count);
        for (uint32_t k = 0; k < f->workload->n_ranks; k++)
            p->is_done[k] |= p->has[k];
        if (!count_here(&p->count, &p->visits, &n))
            return false;
        if (dfl_mul(*out, n, out))
            return report_overflow(f, p->count.within != NULL ? p->count.within : &e->output);
    }
    return true;
}

/* Starts a count for pairs of chips of an einsum; its mask has the groups that divide ranks of the conditions. */
static void start_pairs(const dfl_frame *f, uint32_t einsum, const dfl_access *within, const bool *dims, pair_count *p,
                        dfl_share_mask *mask)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const size_t n_ranks = (size_t)f->workload->n_ranks + 1;

    *p = (pair_count){ .count = start_count(f, einsum, within, 0), .has = DFL_NEW_ARRAY(f->arena, bool, n_ranks),
                       .is_done = DFL_NEW_ARRAY(f->arena, bool, n_ranks) };
    p->count.has = p->has;
    *mask = (dfl_share_mask){ .dims = dims, .count = count_masked_pair, .context = p };
    for (uint32_t i = 0; i < e->n_ranks; i++)
        if (dfl_conditions_have_rank(e, e->ranks[i]) && !is_fixed(f, e->ranks[i]))
            mask->slots |= slots_of(f, einsum, e->ranks[i], 0);
}

/* The largest part of a thinned operand that one chip needs of another one: of all dimensions, for one pair of chips. */
static bool find_thinned_part(const dfl_frame *f, uint32_t einsum, const dfl_access *access, const dfl_layout *from,
                              const dfl_layout *asked, uint64_t slots, dfl_i128 *out)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    bool *dims = DFL_NEW_ARRAY(f->arena, bool, (size_t)access->n_dims + 1);
    bool *keep = DFL_NEW_ARRAY(f->arena, bool, (size_t)f->workload->n_ranks + 1);
    int64_t *parts = DFL_NEW_ARRAY(f->arena, int64_t, (size_t)access->n_dims + 1);
    uint32_t *rank = DFL_NEW_ARRAY(f->arena, uint32_t, (size_t)f->n_slots + 1);
    mask_home home = { .slots = slots };
    dfl_share_mask mask;
    pair_count p;

    if (!find_home(f, einsum, access, from, &home, rank, parts))
        return false;
    for (uint32_t d = 0; d < access->n_dims; d++)
        if (is_masked(f, e, &access->index[d]))
            dims[d] = keep[only_rank(f, &access->index[d])] = true;
    start_pairs(f, einsum, access, dims, &p, &mask);
    p.count.keep = keep;
    p.count.home = &home;
    return dfl_share_find(f, einsum, access, from, asked, slots, 0, &mask, out);
}

/* Whether conditions leave points to the chip that uses elements: 1 or 0. */
static bool count_user(void *context, const int64_t *user, const int64_t *owner, dfl_i128 *out)
{
    if (!count_masked_pair(context, user, owner, out))
        return false;
    *out = *out > 0;
    return true;
}

bool dfl_mask_operand_part(const dfl_frame *f, uint32_t einsum, const dfl_access *access, const dfl_layout *from,
                           const dfl_layout *asked, uint64_t slots, uint64_t brought, dfl_i128 *out)
{
    dfl_share_mask mask;
    pair_count p;

    if (dfl_mask_thins(f, einsum, access))
        return find_thinned_part(f, einsum, access, from, asked, slots, out);
    start_pairs(f, einsum, NULL, DFL_NEW_ARRAY(f->arena, bool, (size_t)access->n_dims + 1), &p, &mask);
    mask.count = count_user;
    return dfl_share_find(f, einsum, access, from, asked, slots, brought, mask.slots != 0 ? &mask : NULL, out);
}

bool dfl_mask_result_part(const dfl_frame *f, uint32_t einsum, uint64_t together, const dfl_layout *home, uint64_t slots,
                          dfl_i128 *out)
{
    const dfl_access *made = &f->workload->einsums[einsum].output;
    int64_t *parts = DFL_NEW_ARRAY(f->arena, int64_t, (size_t)made->n_dims + 1);
    uint32_t *rank = DFL_NEW_ARRAY(f->arena, uint32_t, (size_t)f->n_slots + 1);
    mask_home at_home = { .slots = slots };

    return find_home(f, einsum, made, home, &at_home, rank, parts) &&
           count_thinned(f, einsum, made, together, parts, &at_home, out);
}

bool dfl_mask_has_dim(const dfl_frame *f, uint32_t einsum, const dfl_access *access, uint32_t dim)
{
    return is_masked(f, &f->workload->einsums[einsum], &access->index[dim]);
}

/* ---- points ---- */

bool dfl_mask_extent(const dfl_frame *f, uint32_t einsum, uint32_t rank, dfl_i128 *out)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    bool *keep;

    *out = dfl_frame_pass(f, einsum, rank);
    if (is_fixed(f, rank) || !dfl_conditions_have_rank(e, rank))
        return true;
    keep = DFL_NEW_ARRAY(f->arena, bool, (size_t)f->workload->n_ranks + 1);
    keep[rank] = true;
    return multiply_components(f, einsum, keep, NULL, 0, NULL, out);
}

bool dfl_mask_points(const dfl_frame *f, uint32_t einsum, dfl_i128 *out)
{
    return multiply_components(f, einsum, NULL, NULL, 0, NULL, out);
}

/* Whether conditions leave out elements of an access. */
static bool is_cut(const dfl_frame *f, const dfl_einsum *e, const dfl_access *access)
{
    bool cut = false;

    for (uint32_t d = 0; d < access->n_dims; d++)
        cut |= is_masked(f, e, &access->index[d]) && dfl_conditions_cut(f->workload, e, access, d);
    return cut;
}

bool dfl_mask_is_boxed(const dfl_frame *f, uint32_t einsum, const dfl_access *access)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];

    return is_cut(f, e, access) && has_sum(f, e, access);
}

/* Whether an access counts as a box although conditions leave out elements of it, alone or with others at other offsets. */
static bool is_boxed(const dfl_frame *f, uint32_t einsum, uint32_t input)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const dfl_access *access = input < e->n_inputs ? &e->inputs[input] : &e->output;

    return dfl_mask_is_boxed(f, einsum, access) ||
           (is_cut(f, e, access) && input < e->n_inputs && dfl_halo_has_several(e, input));
}

/* Whether the accesses of an einsum can be counted where a rank of a condition is divided. False after a report. */
static bool check_accesses(const dfl_frame *f, uint32_t einsum)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    bool is_divided = false;

    for (uint32_t i = 0; i < e->n_ranks; i++)
        is_divided |= dfl_conditions_have_rank(e, e->ranks[i]) && slots_of(f, einsum, e->ranks[i], 0) != 0;
    for (uint32_t i = 0; i <= e->n_inputs && is_divided; i++)
        if (is_boxed(f, einsum, i))
            return dfl_frame_refuse(f, (i < e->n_inputs ? &e->inputs[i] : &e->output)->span,
                                    "a window over a rank of a `where` that chips divide",
                                    "divide a rank outside of the `where`");
    return true;
}

/* Whether some position satisfies all conditions of an einsum. False after a report. */
static bool check_points(const dfl_frame *f, const dfl_einsum *e)
{
    dfl_i128 n;
    dfl_diag *d;

    if (!dfl_einsum_countable(f->workload, e))
        return dfl_frame_refuse(f, e->span, "a `where` with more than 4194304 positions to visit", "use smaller ranks");
    if (dfl_conditions_count(f->workload, e, &n) || n > 0)
        return true;
    d = dfl_report(f->sink, DFL_EVAL_UNSUPPORTED, e->where[0].sum.span, "no point satisfies the conditions of this `where`");
    dfl_diag_help(f->sink, d, "change the condition, or leave out the einsum: it computes nothing");
    return false;
}

/* The points that satisfy the conditions and for which the sums of ranks of the conditions in an access lie inside of its tensor.
   False after a report. */
static bool count_inside(const dfl_frame *f, uint32_t einsum, const dfl_access *a, dfl_i128 *out)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    dfl_condition *where = DFL_NEW_ARRAY(f->arena, dfl_condition, (size_t)e->n_where + 2 * (size_t)a->n_dims + 1);
    component_count c = start_count(f, einsum, a, UINT64_MAX); /* all chips together have whole ranks */
    dfl_einsum inside = *e;
    int64_t visits = 0;

    memcpy(where, e->where, e->n_where * sizeof *where);
    inside.where = where;
    c.terms = DFL_NEW_ARRAY(f->arena, dfl_term *, 2 * (size_t)a->n_dims + 1);
    for (uint32_t d = 0; d < a->n_dims; d++) {
        bool has_iteration = false; /* other iterations have other elements */

        for (uint32_t t = 0; t < a->index[d].n_terms; t++)
            has_iteration |= is_fixed(f, a->index[d].terms[t].rank);
        if (has_iteration || !is_masked(f, e, &a->index[d]))
            continue;
        where[inside.n_where++].sum = local_index(&c, 2 * d, &a->index[d], 1);
        where[inside.n_where].sum = local_index(&c, 2 * d + 1, &a->index[d], -1);
        where[inside.n_where++].sum.offset += f->workload->tensors[a->tensor].extents[d] - 1;
    }
    if (dfl_conditions_count_kept(f->workload, &inside, NULL, DFL_WHERE_VISITS, &visits, out) || visits <= DFL_WHERE_VISITS)
        return true;
    return dfl_frame_refuse(f, e->span, "a `where` with more than 4194304 positions to visit", "use smaller ranks");
}

/* Refuses an access of which the conditions leave only elements outside of its tensor: it reads or makes nothing. In some
   iteration of a repeat it may. False after a report. */
static bool check_inside(const dfl_frame *f, uint32_t einsum)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];

    for (uint32_t i = 0; i <= e->n_inputs && !dfl_mask_varies(f, einsum); i++) {
        const dfl_access *a = i < e->n_inputs ? &e->inputs[i] : &e->output;
        dfl_i128 n = 1;

        if (dfl_mask_thins(f, einsum, a) ? !dfl_mask_elements(f, einsum, a, false, &n)
                                         : has_sum(f, e, a) && !count_inside(f, einsum, a, &n))
            return false;
        if (n == 0)
            return dfl_frame_refuse(f, a->span, "an access of which a `where` leaves only elements outside of the tensor",
                                    "change the offset or the condition, or leave the access out");
    }
    return true;
}

bool dfl_mask_check(const dfl_frame *f, uint32_t einsum)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    uint32_t n_repeats = 0;

    if (e->n_where == 0 || f->iteration > 0) /* the other iterations have the same lines and conditions */
        return true;
    for (uint32_t i = 0; i < e->n_ranks; i++) {
        const uint32_t r = e->ranks[i];

        n_repeats += is_fixed(f, r);
        if (n_repeats > 1 && dfl_mask_varies(f, einsum))
            return dfl_frame_refuse(f, e->span, "the iteration of a repeat in a `where` within two repeats",
                                    "write one of the repeats out");
        if (!dfl_conditions_have_rank(e, r) || is_fixed(f, r))
            continue;
        if (dfl_frame_pass(f, einsum, r) != dfl_frame_local(f, einsum, r))
            return dfl_frame_refuse(f, e->span, "a rank of the micro-batches in a `where`",
                                    "leave the rank out of the temporal lines");
        if (f->points[einsum].parts > 1 && slots_of(f, einsum, r, 0) != 0)
            return dfl_frame_refuse(f, e->span, "a divided rank in a `where` of points that go to rows", "divide another rank");
    }
    return check_accesses(f, einsum) && check_points(f, e) && check_inside(f, einsum);
}
