#include "oracle/chips/windows.h"

uint32_t dfl_chips_window(const chips *c, uint32_t einsum, uint32_t tensor, uint32_t group)
{
    const dfl_einsum *e = &c->w->einsums[einsum];
    const dfl_line *line = c->einsums[einsum].divides[group];
    uint32_t bare;

    for (uint32_t i = 0; i < e->n_inputs && line != NULL; i++) {
        const dfl_access *a = &e->inputs[i];
        const uint32_t carry = dfl_chips_carried(c, einsum, a->tensor);
        const bool is_carried = carry != DFL_NONE && c->w->carries[carry].to == tensor;

        if (dfl_chips_holder(c, a->tensor) != tensor && !is_carried)
            continue;
        for (uint32_t d = 0; d < a->n_dims; d++)
            if (dfl_index_coef(&a->index[d], line->rank) >= 1 && !dfl_index_is_bare(&a->index[d], &bare))
                return d + (is_carried ? c->w->tensors[tensor].n_dims - a->n_dims : 0); /* the iterations come first */
    }
    return DFL_NONE;
}

uint32_t dfl_chips_written_beside(const chips *c, uint32_t einsum, uint32_t group)
{
    const dfl_access *a = &c->w->einsums[einsum].output;
    const dfl_line *line = c->einsums[einsum].divides[group];
    uint32_t bare;

    for (uint32_t d = 0; d < a->n_dims && line != NULL && dfl_chips_is_work(c, group) && !c->w->tensors[a->tensor].gathered; d++)
        if (dfl_index_coef(&a->index[d], line->rank) >= 1 && !dfl_index_is_bare(&a->index[d], &bare))
            return d;
    return DFL_NONE;
}

bool dfl_chips_is_alike(const dfl_access *a, const dfl_access *b)
{
    bool is_alike = a->tensor == b->tensor;

    for (uint32_t d = 0; d < a->n_dims && is_alike; d++) {
        is_alike = a->index[d].n_terms == b->index[d].n_terms &&
                   (a->index[d].n_terms > 0 || a->index[d].offset == b->index[d].offset);
        for (uint32_t k = 0; k < a->index[d].n_terms && is_alike; k++)
            is_alike = dfl_index_coef(&b->index[d], a->index[d].terms[k].rank) == a->index[d].terms[k].coef;
    }
    return is_alike;
}
