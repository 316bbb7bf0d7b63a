/* Queries of workloads, and the number of their operations. */
#include "ir/workload.h"

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

/* The ranks in the conditions of an einsum, the rank with the smaller extent first, DFL_NONE after the last. False if
   the conditions have more than two ranks. */
static bool where_ranks(const dfl_workload *w, const dfl_einsum *e, uint32_t ranks[2])
{
    ranks[0] = ranks[1] = DFL_NONE;
    for (uint32_t c = 0; c < e->n_where; c++)
        for (uint32_t t = 0; t < e->where[c].sum.n_terms; t++) {
            uint32_t rank = e->where[c].sum.terms[t].rank, k = 0;

            while (k < 2 && ranks[k] != rank && ranks[k] != DFL_NONE)
                k++;
            if (k == 2)
                return false;
            ranks[k] = rank;
        }
    if (ranks[1] != DFL_NONE && w->ranks[ranks[1]].extent < w->ranks[ranks[0]].extent) {
        uint32_t larger = ranks[0];

        ranks[0] = ranks[1];
        ranks[1] = larger;
    }
    return true;
}

/* Number of positions of the second rank that satisfy all conditions while the first rank is at `at`. */
static dfl_i128 positions(const dfl_workload *w, const dfl_einsum *e, const uint32_t ranks[2], int64_t at)
{
    dfl_i128 low = 0, high = ranks[1] == DFL_NONE ? 0 : w->ranks[ranks[1]].extent - 1;

    for (uint32_t c = 0; c < e->n_where; c++) {
        const dfl_index *sum = &e->where[c].sum;
        dfl_i128 fixed = sum->offset, slope = 0, bound;

        for (uint32_t t = 0; t < sum->n_terms; t++)
            if (sum->terms[t].rank == ranks[0])
                fixed += (dfl_i128)sum->terms[t].coef * at;
            else
                slope = sum->terms[t].coef;
        if (slope == 0 && fixed < 0)
            return 0;
        if (slope > 0) { /* x >= -fixed / slope, rounded up */
            bound = -fixed / slope + (-fixed % slope > 0);
            low = bound > low ? bound : low;
        } else if (slope < 0) { /* x <= fixed / -slope, rounded down */
            bound = fixed / -slope - (fixed % -slope < 0);
            high = bound < high ? bound : high;
        }
    }
    return high < low ? 0 : high - low + 1;
}

bool dfl_einsum_work(const dfl_workload *w, const dfl_einsum *e, dfl_i128 *out)
{
    dfl_i128 inside = 0;
    uint32_t ranks[2];
    bool over = false;

    if (e->n_where == 0 || !where_ranks(w, e, ranks))
        return dfl_einsum_points(w, e, out);
    if (ranks[0] == DFL_NONE)
        inside = positions(w, e, ranks, 0);
    else
        for (int64_t at = 0; at < w->ranks[ranks[0]].extent; at++)
            over |= dfl_add(inside, positions(w, e, ranks, at), &inside);
    *out = 1;
    for (uint32_t i = 0; i < e->n_ranks; i++)
        if (e->ranks[i] != e->over_rank && e->ranks[i] != ranks[0] && e->ranks[i] != ranks[1])
            over |= dfl_mul(*out, w->ranks[e->ranks[i]].extent, out);
    return dfl_mul(*out, inside, out) || over;
}

bool dfl_einsum_countable(const dfl_workload *w, const dfl_einsum *e)
{
    uint32_t ranks[2];

    return where_ranks(w, e, ranks);
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
    const int64_t longest = 1 << 26; /* limit on the positions visited in all einsums; visiting them takes some tenths of a
                                        second */
    int64_t length = 0;
    uint32_t ranks[2];

    for (uint32_t i = 0; i < w->n_einsums; i++) {
        if (!where_ranks(w, &w->einsums[i], ranks))
            return false;
        if (ranks[0] != DFL_NONE && __builtin_add_overflow(length, w->ranks[ranks[0]].extent, &length))
            return false;
    }
    return length <= longest;
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
