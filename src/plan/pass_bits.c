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

/* Dimensions of which an einsum makes one element. */
static uint32_t count_single(const dfl_access *made)
{
    uint32_t n = 0;

    for (uint32_t d = 0; d < made->n_dims; d++)
        n += made->index[d].n_terms == 0;
    return n;
}

uint32_t dfl_pass_maker(const dfl_workload *w, uint32_t tensor, uint32_t maker)
{
    const dfl_tensor *t = &w->tensors[tensor];

    for (uint32_t p = 0; p < t->n_producers; p++)
        if (count_single(&w->einsums[t->producers[p]].output) < count_single(&w->einsums[maker].output))
            maker = t->producers[p];
    return maker;
}

/* Whether two einsums make other elements along some dimension of which both make one. */
static bool is_apart(const dfl_access *a, const dfl_access *b)
{
    for (uint32_t d = 0; d < a->n_dims; d++)
        if (a->index[d].n_terms == 0 && b->index[d].n_terms == 0 && a->index[d].offset != b->index[d].offset)
            return true;
    return false;
}

int64_t dfl_pass_pieces(const dfl_workload *w, uint32_t tensor, uint32_t maker)
{
    const dfl_tensor *t = &w->tensors[tensor];
    const uint32_t single = count_single(&w->einsums[maker].output);
    int64_t n = 0;

    for (uint32_t p = 0; p < t->n_producers && single > 0; p++) {
        bool is_new = count_single(&w->einsums[t->producers[p]].output) == single;

        for (uint32_t k = 0; k < p && is_new; k++)
            is_new = is_apart(&w->einsums[t->producers[k]].output, &w->einsums[t->producers[p]].output);
        n += is_new;
    }
    return n > 0 ? n : 1;
}

bool dfl_pass_bits(const dfl_frame *f, const dfl_layouts *layouts, uint32_t tensor, dfl_i128 *out)
{
    const dfl_tensor *t = &f->workload->tensors[tensor];
    uint32_t maker = t->n_producers > 0 ? dfl_pass_maker(f->workload, tensor, t->producers[0]) : t->consumers[0];
    const dfl_einsum *e = &f->workload->einsums[maker];
    const dfl_access *access = &e->output;
    int64_t *parts = DFL_NEW_ARRAY(f->arena, int64_t, (size_t)t->n_dims + 1);
    uint64_t gathered = 0;

    for (uint32_t i = 0; t->n_producers == 0 && i < e->n_inputs; i++)
        access = e->inputs[i].tensor == tensor ? &e->inputs[i] : access;
    if (is_by_rows(f, layouts, tensor))
        return by_rows_bits(f, layouts, tensor, maker, access, out);
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
    return dfl_frame_elements_of_group(f, maker, access, gathered, parts, out) || dfl_mul(*out, t->type.bits, out) ||
           dfl_mul(*out, t->n_producers > 0 ? dfl_pass_pieces(f->workload, tensor, maker) : 1, out);
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
