/* Queries of workloads, and the number of their operations. */
#include "ir/workload.h"

#include "ir/conditions.h"
#include "support/limits.h"

const char *dfl_tensor_label(const dfl_intern *names, const dfl_tensor *t)
{
    return t->label ? t->label : dfl_sym_text(names, t->name);
}

const char *dfl_einsum_label(const dfl_intern *names, const dfl_einsum *e)
{
    return e->label ? e->label : dfl_sym_text(names, e->name);
}

bool dfl_einsum_has_rank(const dfl_einsum *e, uint32_t rank)
{
    for (uint32_t i = 0; i < e->n_ranks; i++)
        if (e->ranks[i] == rank)
            return true;
    return false;
}

bool dfl_einsum_points(const dfl_workload *w, const dfl_einsum *e, dfl_i128 *out)
{
    bool over = false;

    *out = 1;
    for (uint32_t i = 0; i < e->n_ranks; i++)
        if (e->ranks[i] != e->over_rank)
            over |= dfl_mul(*out, w->ranks[e->ranks[i]].extent, out);
    return over;
}

bool dfl_workload_slides(const dfl_workload *w)
{
    for (uint32_t e = 0; e < w->n_einsums; e++)
        for (uint32_t i = 0; i <= w->einsums[e].n_inputs; i++) {
            const dfl_access *a = i < w->einsums[e].n_inputs ? &w->einsums[e].inputs[i] : &w->einsums[e].output;
            for (uint32_t d = 0; d < a->n_dims; d++)
                if (a->index[d].n_terms > 1)
                    return true;
        }
    return false;
}

bool dfl_tensor_elements(const dfl_tensor *t, dfl_i128 *out)
{
    bool over = false;

    *out = 1;
    for (uint32_t d = 0; d < t->n_dims; d++)
        over |= dfl_mul(*out, t->extents[d], out);
    return over;
}

bool dfl_tensor_stored(const dfl_tensor *t, dfl_i128 *out)
{
    *out = t->stored;
    return t->gathered && t->stored >= 0 ? false : dfl_tensor_elements(t, out);
}

bool dfl_einsum_countable(const dfl_workload *w, const dfl_einsum *e)
{
    return dfl_conditions_visits(w, e) <= DFL_WHERE_VISITS;
}

bool dfl_einsum_work(const dfl_workload *w, const dfl_einsum *e, dfl_i128 *out)
{
    if (!dfl_einsum_countable(w, e))
        return dfl_einsum_points(w, e, out);
    if (dfl_conditions_count(w, e, out))
        return true;
    for (uint32_t i = 0; *out > 0 && i < e->n_ranks; i++)
        if (e->ranks[i] != e->over_rank && !dfl_conditions_have_rank(e, e->ranks[i]) &&
            dfl_mul(*out, w->ranks[e->ranks[i]].extent, out))
            return true;
    return false;
}

bool dfl_einsum_point_flops(const dfl_workload *w, const dfl_einsum *e, dfl_i128 *out)
{
    dfl_i128 whole = e->flops_per_output;
    bool over = false;

    for (uint32_t d = 0; d < e->output.n_dims; d++)
        for (uint32_t t = 0; t < e->output.index[d].n_terms; t++)
            if (e->over_rank != DFL_NONE && e->output.index[d].terms[t].rank == e->over_rank)
                over |= dfl_mul(whole, w->ranks[e->over_rank].extent, &whole);
    return dfl_add(e->flops_per_point, whole, out) || over;
}

bool dfl_workload_countable(const dfl_workload *w)
{
    int64_t visits = 0;

    for (uint32_t i = 0; i < w->n_einsums; i++)
        if (__builtin_add_overflow(visits, dfl_conditions_visits(w, &w->einsums[i]), &visits))
            return false;
    return visits <= DFL_WHERE_VISITS;
}

bool dfl_workload_operations(const dfl_workload *w, dfl_i128 *macs, dfl_i128 *flops)
{
    bool over = false;

    *macs = *flops = 0;
    for (uint32_t i = 0; i < w->n_einsums; i++) {
        const dfl_einsum *e = &w->einsums[i];
        dfl_i128 points, part;

        over |= dfl_einsum_work(w, e, &points);
        if (e->is_mac)
            over |= dfl_add(*macs, points, macs);
        over |= dfl_mul(points, e->flops_per_point, &part) || dfl_add(*flops, part, flops);
        if (e->flops_per_output != 0)
            over |= dfl_tensor_elements(&w->tensors[e->output.tensor], &part) ||
                    dfl_mul(part, e->flops_per_output, &part) || dfl_add(*flops, part, flops);
    }
    return over;
}

bool dfl_index_is_bare(const dfl_index *index, uint32_t *rank)
{
    if (index->n_terms != 1 || index->terms[0].coef != 1 || index->offset != 0)
        return false;
    *rank = index->terms[0].rank;
    return true;
}

bool dfl_einsum_renews_any(const dfl_workload *w, const dfl_einsum *e)
{
    for (uint32_t i = 0; i < e->n_inputs; i++)
        if (dfl_einsum_renews(w, e, i))
            return true;
    return false;
}

const dfl_carry *dfl_tensor_carry(const dfl_workload *w, uint32_t tensor)
{
    for (uint32_t c = 0; c < w->n_carries; c++)
        if (w->carries[c].to == tensor)
            return &w->carries[c];
    return NULL;
}

bool dfl_tensor_leaves_iteration(const dfl_workload *w, uint32_t tensor)
{
    const dfl_tensor *t = &w->tensors[tensor];
    bool leaves = false;

    for (uint32_t c = 0; c < w->n_carries; c++) {
        bool is_made = false;
        leaves |= w->carries[c].from == tensor || w->carries[c].to == tensor;
        for (uint32_t i = 0; i < t->n_producers; i++)
            is_made |= dfl_einsum_has_rank(&w->einsums[t->producers[i]], w->carries[c].rank);
        for (uint32_t i = 0; i < t->n_consumers && is_made; i++)
            leaves |= !dfl_einsum_has_rank(&w->einsums[t->consumers[i]], w->carries[c].rank);
    }
    return leaves;
}

bool dfl_einsum_reads(const dfl_einsum *e, uint32_t tensor)
{
    for (uint32_t i = 0; i < e->n_inputs; i++)
        if (e->inputs[i].tensor == tensor)
            return true;
    return false;
}

bool dfl_einsum_touches(const dfl_einsum *e, uint32_t tensor)
{
    return e->output.tensor == tensor || dfl_einsum_reads(e, tensor);
}

bool dfl_eop_calls_within(const dfl_eop *body, const dfl_sym *ops, uint32_t n_ops)
{
    bool found = body->kind == DFL_EOP_ACCESS || body->kind == DFL_EOP_CONST;

    for (uint32_t i = 0; body->kind == DFL_EOP_CALL && i < n_ops; i++)
        found |= ops[i] == body->op;
    for (uint32_t i = 0; i < body->n_args; i++)
        found &= dfl_eop_calls_within(body->args[i], ops, n_ops);
    return found;
}
