#include "plan/pass_bits.h"

/* Whether a tensor lies by the rows of a table on some chips. */
static bool is_by_rows(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor)
{
    for (uint32_t s = 0; s < f->n_slots; s++)
        if (dfl_layout_home(layouts, tensor, s) == DFL_LAYOUT_ROWS)
            return true;
    return false;
}

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

/* The least and the largest position along a dimension that an access touches, on all chips together. */
static void find_range(const dfl_workload *w, const dfl_index *index, int64_t *least, int64_t *most)
{
    *least = *most = index->offset;
    for (uint32_t k = 0; k < index->n_terms; k++)
        *(index->terms[k].coef < 0 ? least : most) += index->terms[k].coef * (w->ranks[index->terms[k].rank].extent - 1);
}

/* Whether two einsums make other elements of a tensor: they lie apart along some dimension. */
static bool is_apart(const dfl_workload *w, const dfl_access *a, const dfl_access *b)
{
    for (uint32_t d = 0; d < a->n_dims; d++) {
        int64_t a_least, a_most, b_least, b_most;

        find_range(w, &a->index[d], &a_least, &a_most);
        find_range(w, &b->index[d], &b_least, &b_most);
        if (a_most < b_least || b_most < a_least)
            return true;
    }
    return false;
}

/* Dimensions of which an einsum makes one element. */
static uint32_t count_single(const dfl_access *made)
{
    uint32_t n = 0;

    for (uint32_t d = 0; d < made->n_dims; d++)
        n += made->index[d].n_terms == 0;
    return n;
}

uint32_t dfl_pass_makers(const dfl_workload *w, uint32_t tensor, uint32_t first, bool with_starts, uint32_t *makers)
{
    const dfl_tensor *t = &w->tensors[tensor];
    uint32_t n = 0;

    for (uint32_t single = 0; single <= t->n_dims; single++)
        for (uint32_t p = 0; p <= t->n_producers; p++) {
            const uint32_t e = p == 0 ? first : t->producers[p - 1];
            const dfl_access *made = &w->einsums[e].output;
            bool is_new = count_single(made) == single && (with_starts || !dfl_einsum_is_start(&w->einsums[e]));

            for (uint32_t k = 0; k < n && is_new; k++)
                is_new = is_apart(w, &w->einsums[makers[k]].output, made);
            if (is_new)
                makers[n++] = e;
        }
    return n;
}

/* Bits at home of what an access touches in one pass. */
static bool add_part(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor, uint32_t maker, const dfl_access *access,
                     dfl_i128 *out)
{
    const dfl_tensor *t = &f->workload->tensors[tensor];
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
    return dfl_frame_elements_of_group(f, maker, access, gathered, parts, &bits) || dfl_mul(bits, t->type.bits, &bits) ||
           dfl_add(*out, bits, out);
}

bool dfl_pass_bits(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor, dfl_i128 *out)
{
    const dfl_tensor *t = &f->workload->tensors[tensor];
    uint32_t *makers = DFL_NEW_ARRAY(f->arena, uint32_t, (size_t)t->n_producers + 1);
    const uint32_t first = t->n_producers > 0 ? t->producers[0] : t->consumers[0];
    const dfl_einsum *e = &f->workload->einsums[first];
    const dfl_access *access = &e->output;
    bool overflow = false;

    for (uint32_t i = 0; t->n_producers == 0 && i < e->n_inputs; i++)
        access = e->inputs[i].tensor == tensor ? &e->inputs[i] : access;
    if (is_by_rows(f, layouts, tensor))
        return by_rows_bits(f, layouts, tensor, first, access, out);
    *out = 0;
    if (t->n_producers == 0)
        return add_part(f, layouts, tensor, first, access, out);
    for (uint32_t n = dfl_pass_makers(f->workload, tensor, first, true, makers), k = 0; k < n; k++)
        overflow |= add_part(f, layouts, tensor, makers[k], &f->workload->einsums[makers[k]].output, out);
    return overflow;
}

bool dfl_joined_bits(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor, uint64_t joined, dfl_i128 *out)
{
    bool overflow = dfl_pass_bits(f, layouts, tensor, out);

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
        int64_t extent = t->extents[d];

        for (uint32_t s = 0; s < f->n_slots; s++)
            if (dfl_layout_home(layouts, tensor, s) == (dfl_layout)d && (joined >> s & 1) == 0 &&
                !dfl_layout_is_summed_late(f, layouts, tensor, s))
                extent = dfl_ceil_div(extent, f->slots[s].count);
        overflow |= dfl_mul(*out, per_layer == (dfl_layout)d ? layers : extent, out);
    }
    return overflow;
}
