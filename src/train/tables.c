#include "train/tables.h"

#include <string.h>

uint32_t dfl_train_table_of(const dfl_workload *w, uint32_t tensor)
{
    const dfl_tensor *t = &w->tensors[tensor];

    return t->gathered && t->table != tensor ? t->table : DFL_NONE;
}

/* ---- tables apart from their rows ---- */

/* Whether a tensor of rows stands for a table that has at most as many elements, or of which other gathers read rows too. */
static bool needs_whole(dfl_train_draft *draft, const dfl_workload *w, uint32_t tensor)
{
    const dfl_tensor *t = &w->tensors[tensor];
    dfl_i128 rows = 0;

    if (!t->gathered || t->table != tensor)
        return false;
    for (uint32_t other = 0; other < w->n_tensors; other++)
        if (dfl_train_table_of(w, other) == tensor)
            return true;
    draft->failed |= dfl_tensor_elements(t, &rows);
    return t->stored <= rows;
}

/* Makes a table of the tensor of rows that stands for it, and the rows a tensor at the end of the list. */
static void split_table(dfl_train_draft *draft, dfl_workload *w, dfl_tensor *tensors, dfl_einsum *einsums, uint32_t table)
{
    dfl_tensor rows = tensors[table];
    dfl_einsum *reader = &einsums[rows.consumers[0]];
    dfl_access *inputs = DFL_NEW_ARRAY(draft->arena, dfl_access, reader->n_inputs);

    memcpy(inputs, reader->inputs, reader->n_inputs * sizeof *inputs);
    for (uint32_t i = 0; i < reader->n_inputs; i++)
        if (inputs[i].tensor == table)
            inputs[i].tensor = w->n_tensors;
    reader->inputs = inputs;
    tensors[table].gathered = false;
    tensors[table].table = DFL_NONE;
    tensors[table].stored = -1;
    tensors[table].n_dims = rows.n_table_dims;
    tensors[table].extents = rows.table_extents;
    tensors[table].consumers = NULL;
    tensors[table].n_consumers = 0;
    rows.name = dfl_intern_z(draft->names, dfl_arena_printf(draft->arena, "%s@%s", dfl_sym_text(draft->names, rows.name),
                                                            dfl_sym_text(draft->names, reader->name)));
    rows.table = table;
    rows.stored = 0;
    tensors[w->n_tensors++] = rows;
}

const dfl_workload *dfl_train_split_tables(dfl_train_draft *draft, const dfl_workload *forward)
{
    dfl_workload *w = DFL_NEW(draft->arena, dfl_workload);
    dfl_tensor *tensors = DFL_NEW_ARRAY(draft->arena, dfl_tensor, 2 * (size_t)forward->n_tensors + 1);
    dfl_einsum *einsums = DFL_NEW_ARRAY(draft->arena, dfl_einsum, forward->n_einsums + 1);

    memcpy(tensors, forward->tensors, forward->n_tensors * sizeof *tensors);
    memcpy(einsums, forward->einsums, forward->n_einsums * sizeof *einsums);
    *w = *forward;
    w->tensors = tensors;
    w->einsums = einsums;
    for (uint32_t t = 0; t < forward->n_tensors; t++)
        if (forward->tensors[t].role == DFL_ROLE_WEIGHT && needs_whole(draft, forward, t))
            split_table(draft, w, tensors, einsums, t);
    return w;
}

bool dfl_train_needs_zeros(const dfl_workload *w, uint32_t table)
{
    const dfl_tensor *whole = &w->tensors[table];
    uint32_t last = whole->n_consumers > 0 ? whole->consumers[whole->n_consumers - 1] : 0;
    bool found = false;

    for (uint32_t t = 0; t < w->n_tensors; t++)
        if (dfl_train_table_of(w, t) == table && w->tensors[t].n_consumers > 0)
            found |= whole->n_consumers == 0 || w->tensors[t].consumers[w->tensors[t].n_consumers - 1] >= last;
    return found;
}

/* ---- all elements of a tensor ---- */

void dfl_train_insert_rank(uint32_t *ranks, uint32_t n, uint32_t rank)
{
    while (n > 0 && ranks[n - 1] > rank) {
        ranks[n] = ranks[n - 1];
        n--;
    }
    ranks[n] = rank;
}

/* Whether an index visits all positions of a dimension by one rank that is not taken. Sets `*rank` to it. */
static bool is_whole(const dfl_train_draft *draft, const dfl_index *index, int64_t extent, const uint32_t *taken,
                     uint32_t n_taken, uint32_t *rank)
{
    if (!dfl_index_is_bare(index, rank) || draft->ranks.at[*rank].extent != extent)
        return false;
    for (uint32_t k = 0; k < n_taken; k++)
        if (taken[k] == *rank)
            return false;
    return true;
}

/* The rank that visits dimension `d` of a tensor in an operand of some reader, or in what a repeat makes of the tensor. */
static bool find_further(const dfl_train_draft *draft, uint32_t tensor, uint32_t d, const uint32_t *taken, uint32_t *rank)
{
    const dfl_workload *w = draft->forward;
    const dfl_tensor *t = &w->tensors[tensor];

    for (uint32_t c = 0; c < t->n_consumers; c++)
        for (uint32_t i = 0; i < w->einsums[t->consumers[c]].n_inputs; i++) {
            const dfl_access *a = &w->einsums[t->consumers[c]].inputs[i];

            if (a->tensor == tensor && is_whole(draft, &a->index[d], t->extents[d], taken, d, rank))
                return true;
        }
    for (uint32_t c = 0; c < w->n_carries; c++) {
        const dfl_tensor *to = &w->tensors[w->carries[c].to];
        const uint32_t at = d + (to->n_dims - t->n_dims); /* the iterations are its first dimension */

        for (uint32_t p = 0; p < to->n_producers && w->carries[c].from == tensor && to->n_dims >= t->n_dims; p++)
            if (is_whole(draft, &w->einsums[to->producers[p]].output.index[at], t->extents[d], taken, d, rank))
                return true;
    }
    return false;
}

/* The rank that visits dimension `d` of a tensor: of its first reader, of the gathers that read its rows, of its producers, of
   other readers, or of what a repeat makes of it. */
static uint32_t find_rank(dfl_train_draft *draft, uint32_t tensor, uint32_t d, const uint32_t *taken)
{
    const dfl_workload *w = draft->forward;
    const dfl_tensor *t = &w->tensors[tensor];
    const dfl_einsum *reader = t->n_consumers > 0 ? &w->einsums[t->consumers[0]] : NULL;
    const int64_t extent = t->extents[d];
    const char *name;
    uint32_t rank;

    for (uint32_t i = 0; reader != NULL && i < reader->n_inputs; i++)
        if (reader->inputs[i].tensor == tensor && is_whole(draft, &reader->inputs[i].index[d], extent, taken, d, &rank))
            return rank;
    for (uint32_t r = 0; r < w->n_tensors; r++)
        if (dfl_train_table_of(w, r) == tensor && is_whole(draft, &w->tensors[r].table_index[d], extent, taken, d, &rank))
            return rank;
    for (uint32_t p = 0; p < t->n_producers; p++)
        if (is_whole(draft, &w->einsums[t->producers[p]].output.index[d], extent, taken, d, &rank))
            return rank;
    if (find_further(draft, tensor, d, taken, &rank))
        return rank;
    name = dfl_arena_printf(draft->arena, "%s.dim%u", dfl_sym_text(draft->names, t->name), d + 1);
    DFL_PUSH(draft->arena, &draft->ranks,
             ((dfl_rank){ .name = dfl_intern_z(draft->names, name), .span = t->span, .extent = extent }));
    return (uint32_t)draft->ranks.n - 1;
}

dfl_access dfl_train_visit(dfl_train_draft *draft, uint32_t tensor, uint32_t *ranks)
{
    const dfl_tensor *t = &draft->forward->tensors[tensor];
    dfl_index *index = DFL_NEW_ARRAY(draft->arena, dfl_index, t->n_dims + 1);
    uint32_t *along = DFL_NEW_ARRAY(draft->arena, uint32_t, t->n_dims + 1);

    for (uint32_t d = 0; d < t->n_dims; d++) {
        dfl_term *term = DFL_NEW(draft->arena, dfl_term);

        along[d] = find_rank(draft, tensor, d, along);
        *term = (dfl_term){ .rank = along[d], .coef = 1 };
        index[d] = (dfl_index){ .terms = term, .n_terms = 1, .offset = 0, .span = t->span };
        dfl_train_insert_rank(ranks, d, along[d]);
    }
    return (dfl_access){ .tensor = tensor, .n_dims = t->n_dims, .index = index, .span = t->span };
}
