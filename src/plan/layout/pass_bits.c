#include "plan/layout/pass_bits.h"

#include "plan/layout/elements.h"
#include "plan/layout/halos.h"
#include "plan/layout/lines.h"

/* Bits of the pass of a tensor that lies by the rows of a table. */
static bool by_rows_bits(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor, uint32_t maker,
                         const dfl_access *access, dfl_i128 *out)
{
    bool overflow = dfl_frame_elements(f, maker, access, true, out);

    for (uint32_t s = 0; s < f->n_slots; s++) {
        dfl_layout made = dfl_layout_asked(f, maker, access, s), home = dfl_layout_home(layouts, tensor, s);

        if (f->slots[s].stages != NULL || made == home)
            continue;
        if (made >= 0)
            overflow |= dfl_mul(*out, f->slots[s].count, out);
        if (home >= 0)
            *out = (*out + f->slots[s].count - 1) / f->slots[s].count;
    }
    return overflow | dfl_mul(*out, f->workload->tensors[tensor].type.bits, out);
}

/* The least and the largest position in the tensor along a dimension that an access touches, on all chips together. */
static void find_range(const dfl_workload *w, const dfl_access *a, uint32_t d, int64_t *least, int64_t *most)
{
    const dfl_index *index = &a->index[d];
    const int64_t extent = w->tensors[a->tensor].extents[d];

    *least = *most = index->offset;
    for (uint32_t k = 0; k < index->n_terms; k++)
        *(index->terms[k].coef < 0 ? least : most) += index->terms[k].coef * (w->ranks[index->terms[k].rank].extent - 1);
    *least = *least < 0 ? 0 : *least;
    *most = *most >= extent ? extent - 1 : *most;
}

/* Whether two einsums make other elements of a tensor: they lie apart along some dimension. */
static bool is_apart(const dfl_workload *w, const dfl_access *a, const dfl_access *b)
{
    for (uint32_t d = 0; d < a->n_dims; d++) {
        int64_t a_least, a_most, b_least, b_most;

        find_range(w, a, d, &a_least, &a_most);
        find_range(w, b, d, &b_least, &b_most);
        if (a_most < b_least || b_most < a_least)
            return true;
    }
    return false;
}

/* Whether an access touches all positions of its ranges: no rank moves two dimensions, and the terms of each dimension leave no
   gaps. */
static bool is_box(const dfl_workload *w, const dfl_access *a)
{
    for (uint32_t d = 0; d < a->n_dims; d++)
        for (uint32_t t = 0; t < a->index[d].n_terms; t++) {
            const dfl_term *term = &a->index[d].terms[t];
            const int64_t step = term->coef < 0 ? -term->coef : term->coef;
            int64_t reach = 0; /* of the terms with smaller steps */

            if (w->ranks[term->rank].extent == 1)
                continue;
            for (uint32_t k = 0; k < a->index[d].n_terms; k++) {
                const dfl_term *other = &a->index[d].terms[k];
                const int64_t small = other->coef < 0 ? -other->coef : other->coef;

                reach += small < step ? small * (w->ranks[other->rank].extent - 1) : 0;
            }
            if (step > reach + 1)
                return false;
            for (uint32_t other = d + 1; other < a->n_dims; other++)
                if (dfl_index_coef(&a->index[other], term->rank) != 0)
                    return false;
        }
    return true;
}

bool dfl_pass_is_within(const dfl_workload *w, const dfl_access *inner, const dfl_access *outer)
{
    bool is_equal = true;

    for (uint32_t d = 0; d < inner->n_dims; d++) {
        int64_t in_least, in_most, out_least, out_most;

        is_equal &= dfl_index_equal(&inner->index[d], &outer->index[d]);
        find_range(w, inner, d, &in_least, &in_most);
        find_range(w, outer, d, &out_least, &out_most);
        if (in_least < out_least || in_most > out_most)
            return false;
    }
    return is_equal || is_box(w, outer);
}

/* Whether a producer of a tensor may make a part of it: what adds to rows that data select makes no other elements. `counts` as
   dfl_pass_makers(). */
static bool may_make(const dfl_workload *w, uint32_t tensor, uint32_t einsum, const bool *counts)
{
    const dfl_einsum *e = &w->einsums[einsum];

    return e->output.n_dims == w->tensors[tensor].n_dims && e->body->kind != DFL_EOP_SCATTER &&
           (counts == NULL || counts[einsum]);
}

/* The place `p` in the order in which producers are compared: `first` stands before all. */
static uint32_t producer_at(const dfl_tensor *t, uint32_t first, uint32_t p) { return p == 0 ? first : t->producers[p - 1]; }

/* Whether another producer makes all that the one at place `p` makes; of those that make the same, the earliest stays. */
static bool is_made_by_other(const dfl_workload *w, uint32_t tensor, uint32_t first, const bool *counts, uint32_t p)
{
    const dfl_tensor *t = &w->tensors[tensor];
    const dfl_access *made = &w->einsums[producer_at(t, first, p)].output;

    for (uint32_t q = 0; q <= t->n_producers; q++) {
        const uint32_t e = producer_at(t, first, q);
        const dfl_access *other = &w->einsums[e].output;

        if (q != p && may_make(w, tensor, e, counts) && dfl_pass_is_within(w, made, other) &&
            (q < p || !dfl_pass_is_within(w, other, made)))
            return true;
    }
    return false;
}

uint32_t dfl_pass_makers(const dfl_workload *w, uint32_t tensor, uint32_t first, const bool *counts, uint32_t *makers,
                         uint32_t *overlapping)
{
    const dfl_tensor *t = &w->tensors[tensor];
    uint32_t n = 0;

    *overlapping = DFL_NONE;
    if (!may_make(w, tensor, first, NULL) && (t->n_producers == 0 || !dfl_einsum_is_start(&w->einsums[t->producers[0]]))) {
        makers[0] = first; /* rows of a table that nothing starts */
        return 1;
    }
    for (uint32_t p = 0; p <= t->n_producers; p++) {
        const uint32_t e = producer_at(t, first, p);

        if (!may_make(w, tensor, e, counts) || is_made_by_other(w, tensor, first, counts, p))
            continue;
        for (uint32_t k = 0; k < n; k++)
            if (!is_apart(w, &w->einsums[makers[k]].output, &w->einsums[e].output))
                *overlapping = e;
        makers[n++] = e;
    }
    return n;
}

bool dfl_pass_check(const dfl_frame *f, uint32_t tensor, uint32_t first, const bool *counts)
{
    const dfl_tensor *t = &f->workload->tensors[tensor];
    uint32_t *makers = DFL_NEW_ARRAY(f->arena, uint32_t, (size_t)t->n_producers + 1), overlapping;

    if (t->n_producers == 0)
        return true;
    dfl_pass_makers(f->workload, tensor, first, counts, makers, &overlapping);
    return overlapping == DFL_NONE ||
           dfl_frame_refuse(f, f->workload->einsums[overlapping].output.span, "a result of which einsums make parts that overlap",
                            "make parts that lie apart, or let one einsum make all elements that another one makes");
}

/* Bits at home of what an access touches in one pass. */
static bool add_part(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor, uint32_t maker, const dfl_access *access,
                     dfl_i128 *out)
{
    const dfl_tensor *t = &f->workload->tensors[tensor];
    const dfl_access *own = dfl_halo_own(f, maker, access, UINT64_MAX);
    int64_t *parts = DFL_NEW_ARRAY(f->arena, int64_t, (size_t)t->n_dims + 1);
    uint64_t gathered = 0;
    dfl_i128 bits;

    for (uint32_t d = 0; d < t->n_dims; d++)
        parts[d] = 1;
    for (uint32_t s = 0; s < f->n_slots; s++) {
        dfl_layout made = dfl_layout_asked(f, maker, access, s), home = dfl_layout_home(layouts, tensor, s);

        if (f->slots[s].stages != NULL || made == home)
            continue;
        gathered |= made >= 0 ? UINT64_C(1) << s : 0;
        if (home >= 0)
            parts[home] *= f->slots[s].count;
    }
    return dfl_frame_elements_of_group(f, maker, own, gathered, parts, &bits) ||
           dfl_mul(bits, dfl_halo_own_steps(f, maker, access), &bits) || dfl_mul(bits, t->type.bits, &bits) ||
           dfl_add(*out, bits, out);
}

bool dfl_pass_bits(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor, dfl_i128 *out)
{
    const dfl_tensor *t = &f->workload->tensors[tensor];
    uint32_t *makers = DFL_NEW_ARRAY(f->arena, uint32_t, (size_t)t->n_producers + 1), overlapping;
    const uint32_t first = t->n_producers > 0 ? t->producers[0] : t->n_consumers > 0 ? t->consumers[0] : DFL_NONE;
    const dfl_einsum *e = &f->workload->einsums[first == DFL_NONE ? 0 : first];
    const dfl_access *access = &e->output;
    bool overflow = false;

    *out = 0;
    if (first == DFL_NONE) /* an input that nothing reads */
        return false;
    for (uint32_t i = 0; t->n_producers == 0 && i < e->n_inputs; i++)
        access = e->inputs[i].tensor == tensor ? &e->inputs[i] : access;
    if (dfl_layout_is_by_rows(f, layouts, tensor))
        return by_rows_bits(f, layouts, tensor, first, access, out);
    for (uint32_t c = 0; c < t->n_consumers && t->n_producers == 0; c++) { /* einsums may read different parts */
        const dfl_einsum *reader = &f->workload->einsums[t->consumers[c]];

        for (uint32_t i = 0; i < reader->n_inputs; i++) {
            dfl_i128 n = 0;

            if (reader->inputs[i].tensor != tensor)
                continue;
            overflow |= add_part(f, layouts, tensor, t->consumers[c], &reader->inputs[i], &n);
            *out = n > *out ? n : *out;
        }
    }
    if (t->n_producers == 0)
        return overflow;
    for (uint32_t n = dfl_pass_makers(f->workload, tensor, first, NULL, makers, &overlapping), k = 0; k < n; k++)
        overflow |= add_part(f, layouts, tensor, makers[k], &f->workload->einsums[makers[k]].output, out);
    return overflow;
}

/* The slots that divide a rank of an einsum, by how a home has their parts: `joined` ones together, `gathered` ones whole, of
   others one part. */
typedef struct { const dfl_frame *frame; uint32_t einsum, rank; uint64_t joined, gathered; } rank_slots;

static bool divides(const rank_slots *r, uint32_t slot)
{
    const dfl_line *line = dfl_frame_line(r->frame, r->einsum, slot);

    return line != NULL && line->rank == r->rank && r->frame->slots[slot].stages == NULL;
}

/* Values of a rank in a pass, from slot `slot` on: each chip takes `pass` values of its block, of which the slots before have
   left `block`. */
static int64_t joined_extent(const rank_slots *r, uint32_t slot, int64_t block, int64_t pass)
{
    int64_t count, part, rest;

    while (slot < r->frame->n_slots && (!divides(r, slot) || (r->gathered >> slot & 1) != 0))
        slot++;
    if (slot == r->frame->n_slots || block == 0)
        return block < pass ? block : pass;
    count = r->frame->slots[slot].count;
    part = dfl_ceil_div(block, count);
    if ((r->joined >> slot & 1) == 0)
        return joined_extent(r, slot + 1, part, pass);
    if (!r->frame->slots[slot].is_cyclic) /* whole blocks, and what remains */
        return block / part * joined_extent(r, slot + 1, part, pass) + joined_extent(r, slot + 1, block % part, pass);
    rest = block % count; /* the first chips have one element more */
    return rest * joined_extent(r, slot + 1, block / count + 1, pass) +
           (count - rest) * joined_extent(r, slot + 1, block / count, pass);
}

/* Values of a rank that a pass of an einsum has at home, on the chips of the `joined` slots together. */
static int64_t find_extent(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor, uint32_t einsum, uint32_t rank,
                           uint64_t joined)
{
    rank_slots r = { f, einsum, rank, joined, 0 };
    const int64_t extent = f->workload->ranks[rank].extent;
    int64_t pass = dfl_frame_pass(f, einsum, rank);

    for (uint32_t s = 0; s < f->n_slots; s++)
        if (divides(&r, s) && dfl_layout_home(layouts, tensor, s) < 0) {
            r.gathered |= UINT64_C(1) << s;
            pass = pass < extent / f->slots[s].count ? pass * f->slots[s].count : extent;
        }
    return f->repeats[rank] ? 1 : joined_extent(&r, 0, extent, pass);
}

/* The slots among which a home divides a dimension: a `joined` one is taken with all its instances, of another one the first. */
typedef struct { const dfl_frame *frame; uint64_t divides, joined; } home_slots;

/* Positions of a dimension that the instances have together, from slot `slot` on. The slots before have left `block` positions,
   of blocks of at most `whole`: slots nest in their order, so that the next ones divide blocks of equal places alike. */
static int64_t home_extent(const home_slots *h, uint32_t slot, int64_t whole, int64_t block)
{
    int64_t count, part, rest;

    while (slot < h->frame->n_slots && (h->divides >> slot & 1) == 0)
        slot++;
    if (slot == h->frame->n_slots || block == 0)
        return block;
    count = h->frame->slots[slot].count;
    part = dfl_ceil_div(whole, count);
    if (h->frame->slots[slot].is_cyclic) {
        rest = block % count; /* the first instances have one element more */
        if ((h->joined >> slot & 1) == 0)
            return home_extent(h, slot + 1, part, dfl_ceil_div(block, count));
        return rest * home_extent(h, slot + 1, part, block / count + 1) +
               (count - rest) * home_extent(h, slot + 1, part, block / count);
    }
    if ((h->joined >> slot & 1) == 0)
        return home_extent(h, slot + 1, part, block < part ? block : part);
    return block / part * home_extent(h, slot + 1, part, part) + home_extent(h, slot + 1, part, block % part);
}

/* Bits of what an einsum makes of a tensor in one pass on the chips of the `joined` slots together. */
static bool joined_part(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor, uint32_t maker, uint64_t joined,
                        dfl_i128 *out)
{
    const dfl_tensor *t = &f->workload->tensors[tensor];
    const dfl_access *access = &f->workload->einsums[maker].output, *own = dfl_halo_own(f, maker, access, UINT64_MAX);
    bool overflow = false;

    *out = t->type.bits;
    for (uint32_t d = 0; d < t->n_dims; d++) {
        home_slots h = { .frame = f, .joined = joined };
        int64_t width = t->extents[d];
        uint32_t rank;

        if (dfl_index_is_bare(&own->index[d], &rank))
            width = find_extent(f, layouts, tensor, maker, rank, joined);
        else if (access->index[d].n_terms == 0)
            width = 1;
        for (uint32_t s = 0; s < f->n_slots; s++) /* a home takes its part of what is made whole */
            if (f->slots[s].stages == NULL && dfl_layout_asked(f, maker, access, s) < 0 &&
                dfl_layout_home(layouts, tensor, s) == (dfl_layout)d)
                h.divides |= UINT64_C(1) << s;
        overflow |= dfl_mul(*out, home_extent(&h, 0, width, width), out);
    }
    return overflow;
}

bool dfl_joined_bits(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor, uint64_t joined, dfl_i128 *out)
{
    const dfl_tensor *t = &f->workload->tensors[tensor];
    uint32_t *makers = DFL_NEW_ARRAY(f->arena, uint32_t, (size_t)t->n_producers + 1), overlapping;
    bool overflow = false;
    dfl_i128 bits;

    if (t->n_producers > 0 && !dfl_layout_is_by_rows(f, layouts, tensor)) {
        *out = 0;
        for (uint32_t n = dfl_pass_makers(f->workload, tensor, t->producers[0], NULL, makers, &overlapping), k = 0; k < n; k++)
            overflow |= joined_part(f, layouts, tensor, makers[k], joined, &bits) || dfl_add(*out, bits, out);
        return overflow;
    }
    overflow = dfl_pass_bits(f, layouts, tensor, out);
    for (uint32_t s = 0; s < f->n_slots; s++)
        if ((joined >> s & 1) != 0 && dfl_layout_home(layouts, tensor, s) >= 0)
            overflow |= dfl_mul(*out, f->slots[s].count, out);
    return overflow;
}

bool dfl_pass_has_layers(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor)
{
    return f->stage_slot != DFL_NONE && dfl_layout_home(layouts, tensor, f->stage_slot) >= 0;
}

/* The dimension of a tensor that has one part for each layer; replicated if there is none. */
static dfl_layout layer_dimension(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor)
{
    dfl_layout d = DFL_LAYOUT_REPLICATED;

    if (f->stage_slot != DFL_NONE && dfl_layout_home(layouts, tensor, f->stage_slot) >= 0)
        return dfl_layout_home(layouts, tensor, f->stage_slot);
    for (uint32_t c = 0; c < f->workload->n_carries && d < 0; c++)
        d = dfl_layout_dimension(f, tensor, f->workload->carries[c].rank);
    return d;
}

int64_t dfl_pass_layers(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor)
{
    const dfl_layout d = layer_dimension(f, layouts, tensor);

    if (d < 0)
        return 1;
    if (!dfl_pass_has_layers(f, layouts, tensor))
        return f->workload->tensors[tensor].extents[d];
    return dfl_ceil_div(f->workload->tensors[tensor].extents[d], f->slots[f->stage_slot].count);
}

bool dfl_pass_home_bits(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor, int64_t layers, uint64_t joined,
                        dfl_i128 *out)
{
    const dfl_tensor *t = &f->workload->tensors[tensor];
    const dfl_layout per_layer = layer_dimension(f, layouts, tensor);
    bool overflow = false;

    *out = t->type.bits;
    for (uint32_t d = 0; d < t->n_dims; d++) {
        home_slots h = { .frame = f, .joined = joined };

        for (uint32_t s = 0; s < f->n_slots && per_layer != (dfl_layout)d; s++)
            if (dfl_layout_home(layouts, tensor, s) == (dfl_layout)d && !dfl_layout_is_summed_late(f, layouts, tensor, s))
                h.divides |= UINT64_C(1) << s;
        overflow |= dfl_mul(*out, per_layer == (dfl_layout)d ? layers : home_extent(&h, 0, t->extents[d], t->extents[d]), out);
    }
    return overflow;
}
