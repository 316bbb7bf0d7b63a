#include "plan/layout/halos.h"

#include <string.h>

#include "ir/conditions.h"
#include "plan/layout/lines.h"

void dfl_halo_range(const dfl_frame *f, uint32_t einsum, const dfl_index *index, uint32_t but, int64_t *least, int64_t *most)
{
    *least = *most = index->offset;
    for (uint32_t t = 0; t < index->n_terms; t++) {
        const int64_t reach = index->terms[t].coef * (dfl_frame_pass(f, einsum, index->terms[t].rank) - 1);

        if (index->terms[t].rank == but)
            continue;
        *least += reach < 0 ? reach : 0;
        *most += reach > 0 ? reach : 0;
    }
}

/* The factor of the rank that an einsum divides on a slot: the distance of the windows of neighbouring points. 0 = the index
   lacks the rank. */
static int64_t step_on(const dfl_frame *f, uint32_t einsum, const dfl_index *index, uint32_t slot)
{
    const dfl_line *line = dfl_frame_line(f, einsum, slot);

    return line != NULL ? dfl_index_coef(index, line->rank) : 0;
}

/* Whether windows of neighbouring points, `step` apart, leave no element between them: the values of the other ranks join, the
   terms taken by size, and are `step` or more. */
static bool is_joined(const dfl_frame *f, uint32_t einsum, const dfl_index *index, uint32_t but, int64_t step)
{
    int64_t joined = 1, before = 0; /* values that join; the size of the last term */

    for (uint32_t n = 0; n < index->n_terms; n++) {
        int64_t next = INT64_MAX;

        for (uint32_t t = 0; t < index->n_terms; t++) {
            const int64_t size = index->terms[t].coef < 0 ? -index->terms[t].coef : index->terms[t].coef;

            if (index->terms[t].rank != but && size > before && size < next)
                next = size;
        }
        for (uint32_t t = 0; t < index->n_terms && next <= joined; t++)
            if (index->terms[t].rank != but && (index->terms[t].coef == next || index->terms[t].coef == -next))
                joined += next * (dfl_frame_pass(f, einsum, index->terms[t].rank) - 1);
        before = next;
    }
    return joined >= step;
}

bool dfl_halo_moves_further(const dfl_frame *f, uint32_t einsum, const dfl_access *access)
{
    bool found = false;

    for (uint32_t s = 0; s < f->n_slots; s++)
        for (uint32_t d = 0; d < access->n_dims && f->slots[s].count > 1 && f->slots[s].stages == NULL; d++)
            found |= step_on(f, einsum, &access->index[d], s) > 1;
    return found;
}

/* Whether a slot divides a rank of an einsum. */
static bool is_divided(const dfl_frame *f, uint32_t einsum, uint32_t rank)
{
    for (uint32_t s = 0; s < f->n_slots; s++)
        if (dfl_frame_line(f, einsum, s) != NULL && dfl_frame_line(f, einsum, s)->rank == rank && f->slots[s].count > 1)
            return true;
    return false;
}

/* Refuses an index that has, besides the rank `but`, a rank of which one pass has not all positions: each chip and each pass has
   other neighbours. False after a report. */
static bool check_whole(const dfl_frame *f, uint32_t einsum, const dfl_access *access, uint32_t dim, uint32_t but)
{
    const dfl_index *index = &access->index[dim];

    for (uint32_t t = 0; t < index->n_terms; t++) {
        const uint32_t rank = index->terms[t].rank;

        if (rank == but || dfl_frame_pass(f, einsum, rank) == f->workload->ranks[rank].extent)
            continue;
        if (is_divided(f, einsum, rank))
            return dfl_frame_refuse(f, access->span, "a window over two divided ranks of one dimension",
                                    "divide one of the ranks alone");
        return dfl_frame_refuse(f, access->span, "a window over a rank that a `temporal` line or a `repeat` cuts",
                                "leave the rank out of the temporal lines and of `repeat`, or divide another dimension");
    }
    return true;
}

dfl_reaches dfl_halo_operands(const dfl_frame *f, uint32_t einsum, uint32_t tensor)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    dfl_reaches out = { .frame = f, .tensor = tensor, .at = DFL_NEW_ARRAY(f->arena, dfl_reach, (size_t)e->n_inputs + 1) };

    for (uint32_t i = 0; i < e->n_inputs; i++)
        if (e->inputs[i].tensor == tensor)
            out.at[out.n++] = (dfl_reach){ einsum, &e->inputs[i] };
    return out;
}

/* The slots that divide a dimension of a tensor, by any rank of its indices. */
static uint32_t count_slots(const dfl_reaches *r, uint32_t dim)
{
    const dfl_frame *f = r->frame;
    uint32_t n = 0;

    for (uint32_t s = 0; s < f->n_slots; s++) {
        bool is_in = false;

        for (uint32_t i = 0; i < r->n && f->slots[s].count > 1; i++)
            is_in |= dfl_frame_line(f, r->at[i].einsum, s) != NULL &&
                     dfl_index_coef(&r->at[i].access->index[dim], dfl_frame_line(f, r->at[i].einsum, s)->rank) != 0;
        n += is_in;
    }
    return n;
}

/* The slot on which an einsum divides the rank in a dimension of an access; DFL_NONE = none. */
static uint32_t slot_of(const dfl_frame *f, uint32_t einsum, const dfl_index *index)
{
    for (uint32_t s = 0; s < f->n_slots; s++)
        if (f->slots[s].count > 1 && step_on(f, einsum, index, s) > 0)
            return s;
    return DFL_NONE;
}

/* Refuses a window in another dimension of the section, over a rank of which one pass has not all positions: passes differ in
   what they touch of it; and another dimension of which conditions leave out elements. False after a report. */
static bool check_section(const dfl_reaches *r, uint32_t dim)
{
    const dfl_frame *f = r->frame;

    for (uint32_t i = 0; i < r->n; i++)
        for (uint32_t d = 0; d < r->at[i].access->n_dims; d++) {
            const uint32_t einsum = r->at[i].einsum;
            const uint32_t slot = d != dim ? slot_of(f, einsum, &r->at[i].access->index[d]) : DFL_NONE;
            const uint32_t rank = slot != DFL_NONE ? dfl_frame_line(f, einsum, slot)->rank : DFL_NONE;
            uint32_t bare;

            if (d != dim && dfl_conditions_cut(f->workload, &f->workload->einsums[einsum], r->at[i].access, d))
                return dfl_frame_refuse(f, r->at[i].access->span, "a window beside a dimension of a `where`",
                                        "divide another dimension, or leave out the `where`");
            if (d == dim || dfl_index_is_bare(&r->at[i].access->index[d], &bare))
                continue;
            if (!check_whole(f, einsum, r->at[i].access, d, rank))
                return false;
            if (slot != DFL_NONE && !is_joined(f, einsum, &r->at[i].access->index[d], rank,
                                               step_on(f, einsum, &r->at[i].access->index[d], slot)))
                return dfl_frame_refuse(f, r->at[i].access->span, "a window beside a divided one that leaves out elements",
                                        "divide one of the two dimensions alone");
        }
    return true;
}

/* Takes from a halo what the tensor does not have, and refuses one that a short second part does not read whole: few parts. */
static bool meet_end(const dfl_frame *f, uint32_t einsum, const dfl_access *access, uint32_t dim, uint32_t rank, dfl_halo *halo)
{
    const int64_t extent = f->workload->tensors[access->tensor].extents[dim];
    const int64_t step = dfl_index_coef(&access->index[dim], rank);
    const int64_t part = step * dfl_frame_local(f, einsum, rank);
    const int64_t second = step * f->workload->ranks[rank].extent - part; /* behind the first part, as far as points reach */

    if (halo->behind > extent - part)
        halo->behind = extent - part;
    if (second <= 0)
        halo->before = 0;
    if (second > 0 && second < halo->before)
        return dfl_frame_refuse(f, access->span, "a window that is longer than the last of two parts",
                                "divide the rank into parts of one size");
    return true;
}

/* What can be written instead of `parts` parts of a rank with windows `step` apart: the most fewer ones, none empty, that begin
   where those of the dimension do and have the `reach` elements that a window needs of a neighbour. */
static const char *advise_parts(const dfl_frame *f, uint32_t rank, int64_t step, int64_t extent, int64_t reach, int64_t parts)
{
    const char *name = dfl_sym_text(f->names, f->workload->ranks[rank].name);
    const int64_t points = f->workload->ranks[rank].extent;

    for (int64_t n = parts - 1; n > 1; n--) {
        const int64_t part = dfl_ceil_div(points, n);

        if (part * (n - 1) < points && step * part == dfl_ceil_div(extent, n) && step * part >= reach)
            return dfl_arena_printf(f->arena, "write `%s/%lld`, or divide another rank", name, (long long)n);
    }
    return dfl_arena_printf(f->arena, "divide another rank: no fewer parts of `%s` fit", name);
}

/* Refuses a window that is not evaluated on a slot. False after a report. */
static bool check_window(const dfl_reaches *r, const dfl_reach *at, uint32_t dim, uint32_t slot, const dfl_halo *halo)
{
    const dfl_frame *f = r->frame;
    const dfl_access *access = at->access;
    const uint32_t rank = dfl_frame_line(f, at->einsum, slot)->rank;
    const int64_t points = dfl_frame_local(f, at->einsum, rank);
    const int64_t part = step_on(f, at->einsum, &access->index[dim], slot) * points;

    if (f->slots[slot].is_cyclic)
        return dfl_frame_refuse(f, access->span, "a window over a rank that is dealt round-robin",
                                "divide the rank into blocks: leave out `cyclic`");
    if (dfl_conditions_cut(f->workload, &f->workload->einsums[at->einsum], access, dim))
        return dfl_frame_refuse(f, access->span, "a window over a rank of a `where`", "divide another dimension");
    if (!check_section(r, dim))
        return false;
    if (count_slots(r, dim) > 1)
        return dfl_frame_refuse(f, access->span, "a window in a dimension that several groups of chips divide",
                                "divide the dimension on one axis, by one rank");
    if (dfl_frame_pass(f, at->einsum, rank) != points)
        return dfl_frame_refuse(f, access->span, "a window over a rank of the micro-batches", "leave the rank out of the "
                                "temporal lines");
    if (halo->before > part || halo->behind > part)
        return dfl_frame_refuse(f, access->span, "a window that reaches beyond the neighbour",
                                advise_parts(f, rank, part / points, f->workload->tensors[r->tensor].extents[dim],
                                             halo->before > halo->behind ? halo->before : halo->behind, f->slots[slot].count));
    return true;
}

/* Refuses an index, also one that reaches nothing beside its rank, of a tensor whose parts have other places than those of the
   einsum. False after a report. */
static bool check_places(const dfl_reaches *r, const dfl_reach *at, uint32_t dim, uint32_t slot)
{
    const dfl_frame *f = r->frame;
    const uint32_t rank = dfl_frame_line(f, at->einsum, slot)->rank;
    const int64_t extent = f->workload->tensors[r->tensor].extents[dim];
    const int64_t step = step_on(f, at->einsum, &at->access->index[dim], slot);
    uint32_t bare;

    if (dfl_index_is_bare(&at->access->index[dim], &bare) || /* its parts go across */
        (count_slots(r, dim) > 1 ? step == 1 && f->workload->ranks[rank].extent == extent
                                 : dfl_ceil_div(extent, f->slots[slot].count) == step * dfl_frame_local(f, at->einsum, rank)))
        return true;
    return dfl_frame_refuse(f, at->access->span, "a window in a tensor whose parts differ from those of the einsum",
                            advise_parts(f, rank, step, extent, 0, f->slots[slot].count));
}

bool dfl_halo_find(const dfl_reaches *r, uint32_t dim, uint32_t slot, dfl_halo *out)
{
    const dfl_frame *f = r->frame;

    *out = (dfl_halo){ 0, 0 };
    for (uint32_t i = 0; i < r->n; i++) {
        const dfl_line *line = dfl_frame_line(f, r->at[i].einsum, slot);
        const dfl_index *index = &r->at[i].access->index[dim];
        const int64_t step = step_on(f, r->at[i].einsum, index, slot);
        int64_t least, most;

        if (step < 1)
            continue;
        if (!check_whole(f, r->at[i].einsum, r->at[i].access, dim, line->rank) || !check_places(r, &r->at[i], dim, slot))
            return false;
        dfl_halo_range(f, r->at[i].einsum, index, line->rank, &least, &most);
        most -= step - 1; /* of the last point of a part, which has `step` elements */
        if ((least < -1 || most > 1) && !is_joined(f, r->at[i].einsum, index, line->rank, step))
            return dfl_frame_refuse(f, r->at[i].access->span, "a window over a divided rank that leaves out elements of "
                                    "neighbours", "divide another rank");
        out->before = -least > out->before ? -least : out->before;
        out->behind = most > out->behind ? most : out->behind;
    }
    if (out->before == 0 && out->behind == 0)
        return true;
    for (uint32_t i = 0; i < r->n; i++) {
        const dfl_line *line = dfl_frame_line(f, r->at[i].einsum, slot);

        if (step_on(f, r->at[i].einsum, &r->at[i].access->index[dim], slot) > 0 &&
            (!check_window(r, &r->at[i], dim, slot, out) ||
             !meet_end(f, r->at[i].einsum, r->at[i].access, dim, line->rank, out)))
            return false;
    }
    return true;
}

/* The most elements of a dimension that a chip touches with windows `step` apart, at offsets from `least` to `most`: of the first
   part, which has nothing before it, of the second or of the last one. With `passes_on`, those of its part that it or a neighbour
   touches: only the first and the last part have edges that nobody touches. */
static int64_t width_with(const dfl_frame *f, uint32_t einsum, uint32_t rank, int64_t step, int64_t extent, int64_t least,
                          int64_t most, bool passes_on)
{
    const int64_t part = dfl_frame_pass(f, einsum, rank), points = f->workload->ranks[rank].extent;
    const int64_t parts[] = { 0, 1, dfl_ceil_div(points, part) - 1 };
    int64_t width = 0;

    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
        const int64_t first = parts[k] * part, end = first + part < points ? first + part : points;
        const bool is_last = end == points;
        int64_t low = step * first + least > 0 ? step * first + least : 0, high = step * (end - 1) + most;

        if (first >= points)
            continue;
        if (passes_on) {
            low = first > 0 || low < step * first ? step * first : low;
            high = !is_last || high > step * end - 1 ? step * end - 1 : high;
        }
        high = high >= extent ? extent - 1 : high;
        width = high - low + 1 > width ? high - low + 1 : width;
    }
    return width;
}

bool dfl_halo_has_corner(const dfl_reaches *r, uint32_t a, uint32_t b)
{
    uint32_t rank;

    for (uint32_t i = 0; i < r->n; i++)
        if (!dfl_index_is_bare(&r->at[i].access->index[a], &rank) && !dfl_index_is_bare(&r->at[i].access->index[b], &rank))
            return true;
    return false;
}

/* Whether an access of an einsum reaches beyond its part on a side of a divided dimension. */
static bool reaches(const dfl_frame *f, const dfl_reach *r, uint32_t dim, uint32_t slot, bool is_behind)
{
    const int64_t step = step_on(f, r->einsum, &r->access->index[dim], slot);
    int64_t least, most;

    if (step < 1)
        return false;
    dfl_halo_range(f, r->einsum, &r->access->index[dim], dfl_frame_line(f, r->einsum, slot)->rank, &least, &most);
    return is_behind ? most >= step : least < 0;
}

/* The least value of sign * index that is `from` or more in one pass, of the terms from `t` on with `sum` from those before
   them; `longest` = the term with most values, which is solved. INT64_MAX = none. */
static int64_t first_value(const dfl_frame *f, uint32_t einsum, const dfl_index *index, int64_t sign, uint32_t longest,
                           uint32_t t, int64_t sum, int64_t from)
{
    int64_t best = INT64_MAX;

    if (t < index->n_terms && t == longest)
        return first_value(f, einsum, index, sign, longest, t + 1, sum, from);
    if (t == index->n_terms) {
        const int64_t step = longest < t ? sign * index->terms[longest].coef : 1, size = step < 0 ? -step : step;
        const int64_t last = longest < t ? dfl_frame_pass(f, einsum, index->terms[longest].rank) - 1 : 0;
        const int64_t low = step < 0 ? sum + step * last : sum, up = from > low ? dfl_ceil_div(from - low, size) : 0;

        return up <= last ? low + up * size : INT64_MAX;
    }
    for (int64_t i = 0; i < dfl_frame_pass(f, einsum, index->terms[t].rank) && best > from; i++) {
        const int64_t value = first_value(f, einsum, index, sign, longest, t + 1, sum + sign * index->terms[t].coef * i, from);

        best = value < best ? value : best;
    }
    return best;
}

/* The least and the largest position of a dimension that an undivided index touches: its steps may leave out the ends. */
static void find_ends(const dfl_frame *f, uint32_t einsum, const dfl_index *index, int64_t extent, int64_t *least, int64_t *most)
{
    uint32_t longest = index->n_terms;
    int64_t last;

    for (uint32_t t = 0; t < index->n_terms; t++)
        if (longest == index->n_terms ||
            dfl_frame_pass(f, einsum, index->terms[t].rank) > dfl_frame_pass(f, einsum, index->terms[longest].rank))
            longest = t;
    *least = first_value(f, einsum, index, 1, longest, 0, index->offset, 0);
    last = first_value(f, einsum, index, -1, longest, 0, -index->offset, 1 - extent);
    *most = last < INT64_MAX ? -last : INT64_MIN;
    if (*least >= extent || *most < 0) { /* it touches nothing */
        *least = INT64_MAX;
        *most = INT64_MIN;
    }
}

/* The width of a section along one dimension: of the box around all accesses that reach to the side. */
static int64_t section_width(const dfl_reaches *r, uint32_t d, uint32_t dim, uint32_t slot, bool is_behind)
{
    const dfl_frame *f = r->frame;
    const int64_t extent = f->workload->tensors[r->tensor].extents[d];
    int64_t least = INT64_MAX, most = INT64_MIN;
    uint32_t other = DFL_NONE, einsum = DFL_NONE;
    int64_t step = 1;

    for (uint32_t i = 0; i < r->n; i++) {
        const dfl_index *index = &r->at[i].access->index[d];
        const uint32_t s = slot_of(f, r->at[i].einsum, index);
        int64_t low, high;

        if (!reaches(f, &r->at[i], dim, slot, is_behind))
            continue;
        other = einsum == DFL_NONE ? s : other;
        einsum = einsum == DFL_NONE ? r->at[i].einsum : einsum;
        step = s != DFL_NONE ? step_on(f, r->at[i].einsum, index, s) : step;
        if (s != DFL_NONE)
            dfl_halo_range(f, r->at[i].einsum, index, dfl_frame_line(f, r->at[i].einsum, s)->rank, &low, &high);
        else
            find_ends(f, r->at[i].einsum, index, extent, &low, &high);
        least = low < least ? low : least;
        most = high > most ? high : most;
    }
    if (other != DFL_NONE) /* messages of later slots pass on what this one brings */
        return width_with(f, einsum, dfl_frame_line(f, einsum, other)->rank, step, extent, least, most, other > slot);
    return most < least ? 0 : most - least + 1;
}

bool dfl_halo_section(const dfl_reaches *r, uint32_t dim, uint32_t slot, bool is_behind, dfl_i128 *out)
{
    bool overflow = false;

    *out = 1;
    for (uint32_t d = 0; d < r->at[0].access->n_dims; d++)
        if (d != dim)
            overflow |= dfl_mul(*out, section_width(r, d, dim, slot, is_behind), out);
    return overflow;
}

bool dfl_halo_is_filled(const dfl_reaches *r, uint32_t dim, uint32_t slot)
{
    for (uint32_t i = 0; i < r->n; i++) {
        const dfl_index *index = &r->at[i].access->index[dim];
        const int64_t step = step_on(r->frame, r->at[i].einsum, index, slot);
        int64_t least, most;

        if (step < 1)
            continue;
        dfl_halo_range(r->frame, r->at[i].einsum, index, dfl_frame_line(r->frame, r->at[i].einsum, slot)->rank, &least, &most);
        if (least <= 0 && most >= step - 1)
            return true;
    }
    return false;
}

bool dfl_halo_has_steps(const dfl_frame *f, uint32_t einsum, const dfl_index *index, uint32_t slot)
{
    const int64_t step = step_on(f, einsum, index, slot);

    return step <= 1 || is_joined(f, einsum, index, dfl_frame_line(f, einsum, slot)->rank, step);
}

int64_t dfl_halo_own_steps(const dfl_frame *f, uint32_t einsum, const dfl_access *access)
{
    int64_t steps = 1;
    uint32_t bare;

    for (uint32_t d = 0; d < access->n_dims && !f->workload->tensors[access->tensor].gathered; d++) {
        const bool is_bare = dfl_index_is_bare(&access->index[d], &bare);
        const uint32_t slot = is_bare ? DFL_NONE : slot_of(f, einsum, &access->index[d]);

        if (slot != DFL_NONE && f->slots[slot].stages == NULL && dfl_halo_has_steps(f, einsum, &access->index[d], slot))
            steps *= step_on(f, einsum, &access->index[d], slot);
    }
    return steps;
}

const dfl_access *dfl_halo_own(const dfl_frame *f, uint32_t einsum, const dfl_access *access, uint64_t slots)
{
    dfl_index *index = NULL;
    dfl_access *own;
    uint32_t bare;

    for (uint32_t d = 0; d < access->n_dims && !f->workload->tensors[access->tensor].gathered; d++) {
        const bool is_bare = dfl_index_is_bare(&access->index[d], &bare);
        const uint32_t slot = is_bare ? DFL_NONE : slot_of(f, einsum, &access->index[d]);
        dfl_term *term;

        if (slot == DFL_NONE || f->slots[slot].stages != NULL || (slots >> slot & 1) == 0 ||
            !dfl_halo_has_steps(f, einsum, &access->index[d], slot))
            continue;
        if (index == NULL) {
            index = DFL_NEW_ARRAY(f->arena, dfl_index, access->n_dims);
            memcpy(index, access->index, access->n_dims * sizeof *index);
        }
        term = DFL_NEW(f->arena, dfl_term);
        *term = (dfl_term){ .rank = dfl_frame_line(f, einsum, slot)->rank, .coef = 1 };
        index[d] = (dfl_index){ .terms = term, .n_terms = 1, .span = access->index[d].span };
    }
    if (index == NULL)
        return access;
    own = DFL_NEW(f->arena, dfl_access);
    *own = *access;
    own->index = index;
    return own;
}

bool dfl_halo_is_alike(const dfl_access *a, const dfl_access *b)
{
    if (a->tensor != b->tensor || a->n_dims != b->n_dims)
        return false;
    for (uint32_t d = 0; d < a->n_dims; d++) {
        if (a->index[d].n_terms != b->index[d].n_terms)
            return false;
        for (uint32_t t = 0; t < a->index[d].n_terms; t++)
            if (a->index[d].terms[t].rank != b->index[d].terms[t].rank || a->index[d].terms[t].coef != b->index[d].terms[t].coef)
                return false;
    }
    return true;
}

bool dfl_halo_is_repeated(const dfl_einsum *e, uint32_t input)
{
    for (uint32_t i = 0; i < input; i++)
        if (dfl_halo_is_alike(&e->inputs[i], &e->inputs[input]))
            return true;
    return false;
}

bool dfl_halo_has_several(const dfl_einsum *e, uint32_t input)
{
    for (uint32_t i = input + 1; i < e->n_inputs; i++)
        if (dfl_halo_is_alike(&e->inputs[input], &e->inputs[i]))
            return true;
    return false;
}
