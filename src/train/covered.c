#include "train/covered.h"

enum { INEQUALITIES = 256 }; /* most of one projection; beyond, nothing is proven */

/* sum of coef[v] * variable v + constant >= 0. */
typedef struct {
    dfl_i128 *coef;
    dfl_i128 constant;
} inequality;

/* What holds of the positions of an access, the first `n_dims` variables, and of the ranks of its einsum, the others. */
typedef struct {
    dfl_train_draft *draft;
    const dfl_einsum *einsum;
    const dfl_access *access;
    uint32_t n_vars;
    bool *has_dim, *has_rank;  /* [dimension], [rank of the einsum]: conditions limit it, or what it stands beside */
    DFL_VEC(inequality) rows;
} projection;

const dfl_carry *dfl_train_find_start(const dfl_workload *w, uint32_t tensor, const dfl_einsum *einsum)
{
    for (uint32_t c = 0; c < w->n_carries; c++)
        if (w->carries[c].from == tensor && dfl_einsum_has_rank(einsum, w->carries[c].rank))
            return &w->carries[c];
    return NULL;
}

void dfl_train_find_range(const dfl_train_draft *draft, const dfl_index *index, dfl_i128 *low, dfl_i128 *high)
{
    *low = *high = index->offset;
    for (uint32_t t = 0; t < index->n_terms; t++) {
        dfl_i128 reach = (dfl_i128)index->terms[t].coef * (draft->ranks.at[index->terms[t].rank].extent - 1);

        *low += reach < 0 ? reach : 0;
        *high += reach > 0 ? reach : 0;
    }
}

/* ---- conditions ---- */

/* Adds sign * (index - position `dim`) + constant >= 0; `dim` DFL_NONE: without a position. */
static void add_row(projection *p, const dfl_index *index, uint32_t dim, int sign, dfl_i128 constant)
{
    inequality row = { DFL_NEW_ARRAY(p->draft->arena, dfl_i128, (size_t)p->n_vars + 1),
                       constant + sign * (dfl_i128)index->offset };

    for (uint32_t r = 0; r < p->einsum->n_ranks; r++)
        row.coef[p->access->n_dims + r] = sign * (dfl_i128)dfl_index_coef(index, p->einsum->ranks[r]);
    if (dim != DFL_NONE)
        row.coef[dim] = -sign;
    DFL_PUSH(p->draft->arena, &p->rows, row);
}

/* Adds coefficient `sign` of rank `r` of the einsum, and a constant. */
static void add_bound(projection *p, uint32_t r, int sign, dfl_i128 constant)
{
    inequality row = { DFL_NEW_ARRAY(p->draft->arena, dfl_i128, (size_t)p->n_vars + 1), constant };

    row.coef[p->access->n_dims + r] = sign;
    DFL_PUSH(p->draft->arena, &p->rows, row);
}

/* Finds the ranks of the conditions, and the dimensions and ranks that stand beside them in an index. */
static void find_limited(projection *p)
{
    const dfl_einsum *e = p->einsum;
    bool more = true;

    for (uint32_t r = 0; r < e->n_ranks; r++)
        for (uint32_t c = 0; c < e->n_where; c++)
            p->has_rank[r] |= dfl_index_coef(&e->where[c].sum, e->ranks[r]) != 0;
    while (more) {
        more = false;
        for (uint32_t d = 0; d < p->access->n_dims; d++)
            for (uint32_t r = 0; r < e->n_ranks; r++) {
                if (dfl_index_coef(&p->access->index[d], e->ranks[r]) == 0 || p->has_rank[r] == p->has_dim[d])
                    continue;
                p->has_rank[r] = p->has_dim[d] = more = true;
            }
    }
}

/* Eliminates a variable: each bound from below with each one from above. Exact in whole numbers if its factors are 1. False: it
   has others, or there are too many bounds. Without `exact`, bounds with other factors are left out. */
static bool eliminate(projection *p, uint32_t var, bool exact)
{
    DFL_VEC(inequality) rest = { 0 };

    for (size_t a = 0; a < p->rows.n; a++) {
        const inequality *low = &p->rows.at[a];

        if (low->coef[var] == 0)
            DFL_PUSH(p->draft->arena, &rest, *low);
        else if (exact && low->coef[var] != 1 && low->coef[var] != -1)
            return false;
        for (size_t b = 0; b < p->rows.n && low->coef[var] == 1 && rest.n <= INEQUALITIES; b++) {
            inequality sum = { DFL_NEW_ARRAY(p->draft->arena, dfl_i128, (size_t)p->n_vars + 1),
                               low->constant + p->rows.at[b].constant };

            if (p->rows.at[b].coef[var] != -1)
                continue;
            for (uint32_t v = 0; v < p->n_vars; v++)
                sum.coef[v] = low->coef[v] + p->rows.at[b].coef[v];
            DFL_PUSH(p->draft->arena, &rest, sum);
        }
    }
    p->rows.at = rest.at;
    p->rows.n = rest.n;
    return rest.n <= INEQUALITIES;
}

/* What the conditions of an einsum leave of the positions of an access. False: not known. Without `exact` the positions may be
   fewer. */
static bool project(dfl_train_draft *draft, const dfl_einsum *e, const dfl_access *access, bool exact, projection *p)
{
    *p = (projection){ .draft = draft, .einsum = e, .access = access, .n_vars = access->n_dims + e->n_ranks };
    p->has_dim = DFL_NEW_ARRAY(draft->arena, bool, (size_t)access->n_dims + 1);
    p->has_rank = DFL_NEW_ARRAY(draft->arena, bool, (size_t)e->n_ranks + 1);
    find_limited(p);
    for (uint32_t c = 0; c < e->n_where; c++)
        add_row(p, &e->where[c].sum, DFL_NONE, 1, 0);
    for (uint32_t d = 0; d < access->n_dims; d++)
        for (int sign = -1; sign <= 1 && p->has_dim[d]; sign += 2)
            add_row(p, &access->index[d], d, sign, 0);
    for (uint32_t r = 0; r < e->n_ranks; r++) {
        if (!p->has_rank[r])
            continue;
        add_bound(p, r, 1, 0);
        add_bound(p, r, -1, (dfl_i128)draft->ranks.at[e->ranks[r]].extent - 1);
    }
    for (uint32_t r = 0; r < e->n_ranks; r++)
        if (p->has_rank[r] && !eliminate(p, access->n_dims + r, exact))
            return false;
    return true;
}

/* Whether an inequality between positions holds at all positions that an access reaches. */
static bool holds_everywhere(const dfl_train_draft *draft, const dfl_access *access, const inequality *row)
{
    const dfl_tensor *t = &draft->forward->tensors[access->tensor];
    dfl_i128 least = row->constant;

    for (uint32_t d = 0; d < access->n_dims; d++) {
        dfl_i128 low, high;

        dfl_train_find_range(draft, &access->index[d], &low, &high);
        low = low < 0 ? 0 : low;
        high = high > t->extents[d] - 1 ? t->extents[d] - 1 : high;
        least += row->coef[d] * (row->coef[d] < 0 ? high : low);
    }
    return least >= 0;
}

/* Whether an inequality between positions follows from one of the conditions under which a producer makes elements. */
static bool follows(const projection *made, const inequality *row)
{
    for (size_t i = 0; i < made->rows.n; i++) {
        const inequality *of = &made->rows.at[i];
        bool is_equal = of->constant <= row->constant;

        for (uint32_t d = 0; d < made->access->n_dims; d++)
            is_equal &= of->coef[d] == row->coef[d];
        if (is_equal)
            return true;
    }
    return false;
}

/* Narrows the positions along a dimension, from `*low` to `*high`, to those that satisfy an inequality between this dimension and
   nothing else. False: it has other variables. */
static bool narrow(const inequality *row, uint32_t n_dims, uint32_t along, dfl_i128 *low, dfl_i128 *high)
{
    const dfl_i128 coef = row->coef[along], c = row->constant;

    for (uint32_t d = 0; d < n_dims; d++)
        if (d != along && row->coef[d] != 0)
            return false;
    if (coef > 0 && c < 0) /* x >= -c / coef, rounded up */
        *low = *low > (-c + coef - 1) / coef ? *low : (-c + coef - 1) / coef;
    if (coef < 0 && c >= 0) /* x <= c / -coef, rounded down */
        *high = *high < c / -coef ? *high : c / -coef;
    return coef > 0 || (coef < 0 && c >= 0);
}

/* Narrows the positions that an access visits along a dimension to those of which conditions leave out no element that an einsum
   makes (NULL: that exists). False: it is not clear that there are any. */
static bool limit_positions(dfl_train_draft *draft, const dfl_einsum *reader, const dfl_access *access,
                            const dfl_einsum *producer, uint32_t along, dfl_i128 *low, dfl_i128 *high)
{
    projection read, made;
    const bool is_limited = producer != NULL && producer->n_where > 0;

    if (reader->n_where == 0)
        return true;
    if (!project(draft, reader, access, true, &read))
        return false;
    if (is_limited && !project(draft, producer, &producer->output, false, &made))
        return false;
    for (size_t i = 0; i < read.rows.n; i++)
        if (!holds_everywhere(draft, access, &read.rows.at[i]) && !(is_limited && follows(&made, &read.rows.at[i])) &&
            !narrow(&read.rows.at[i], access->n_dims, along, low, high))
            return false;
    return *low <= *high;
}

/* ---- accesses ---- */

/* Whether an index may skip positions between its lowest and its highest one: a term moves it by more than all smaller ones
   reach, and one. Terms of equal steps count once. */
static bool has_gaps(const dfl_train_draft *draft, const dfl_index *index)
{
    for (uint32_t t = 0; t < index->n_terms; t++) {
        const dfl_i128 step = index->terms[t].coef < 0 ? -index->terms[t].coef : index->terms[t].coef;
        dfl_i128 reach = 0;

        for (uint32_t k = 0; k < index->n_terms; k++) {
            const dfl_i128 other = index->terms[k].coef < 0 ? -index->terms[k].coef : index->terms[k].coef;

            if (other < step)
                reach += other * (draft->ranks.at[index->terms[k].rank].extent - 1);
        }
        if (draft->ranks.at[index->terms[t].rank].extent > 1 && step > reach + 1)
            return true;
    }
    return false;
}

/* Whether an access visits all positions of each dimension but `along` and `lead`, and no rank moves two dimensions. */
static bool is_whole_but(const dfl_train_draft *draft, const dfl_access *access, uint32_t along, uint32_t lead)
{
    const dfl_tensor *t = &draft->forward->tensors[access->tensor];

    for (uint32_t d = 0; d < access->n_dims; d++) {
        dfl_i128 low, high;

        dfl_train_find_range(draft, &access->index[d], &low, &high);
        if (d != along && d != lead && (low > 0 || high < t->extents[d] - 1 || has_gaps(draft, &access->index[d])))
            return false;
        for (uint32_t k = 0; k < access->index[d].n_terms; k++)
            for (uint32_t other = d + 1; other < access->n_dims; other++)
                if (dfl_index_coef(&access->index[other], access->index[d].terms[k].rank) != 0 && t->extents[other] > 1 &&
                    t->extents[d] > 1)
                    return false;
    }
    return true;
}

/* Whether an operand is one of the readers. */
static bool belongs(const dfl_train_draft *draft, const dfl_train_readers *readers, const dfl_einsum *e, uint32_t operand,
                    dfl_train_leaves *leaves)
{
    const dfl_access *a = &e->inputs[operand];

    return a->tensor == readers->tensor && dfl_train_find_start(draft->forward, a->tensor, e) == readers->from &&
           (readers->lead == DFL_NONE || a->index[readers->lead].n_terms == 0) && leaves(draft, e, operand);
}

/* Raises `*reached`, the first position along a dimension that no reader before has visited, by those that one of them visits.
   `producer`: that makes the elements; NULL = all exist. */
static bool extend(dfl_train_draft *draft, const dfl_train_readers *readers, dfl_train_leaves *leaves, uint32_t along,
                   const dfl_einsum *producer, dfl_i128 *reached)
{
    const dfl_workload *w = draft->forward;
    const dfl_tensor *t = &w->tensors[readers->tensor];
    bool more = false;

    for (uint32_t c = 0; c < t->n_consumers; c++) {
        const dfl_einsum *e = &w->einsums[t->consumers[c]];

        for (uint32_t k = 0; k < e->n_inputs; k++) {
            const dfl_access *a = &e->inputs[k];
            dfl_i128 low, high;

            if (!belongs(draft, readers, e, k, leaves) || !is_whole_but(draft, a, along, readers->lead) ||
                has_gaps(draft, &a->index[along]))
                continue;
            dfl_train_find_range(draft, &a->index[along], &low, &high);
            if (!limit_positions(draft, e, a, producer, along, &low, &high) || low > *reached || high < *reached)
                continue;
            *reached = high + 1;
            more = true;
        }
    }
    return more;
}

/* Whether the readers visit all elements that an einsum makes (NULL: all that exist). */
static bool is_all_read(dfl_train_draft *draft, const dfl_train_readers *readers, dfl_train_leaves *leaves,
                        const dfl_einsum *producer)
{
    const dfl_tensor *t = &draft->forward->tensors[readers->tensor];

    for (uint32_t along = 0; along < t->n_dims; along++) {
        dfl_i128 reached = 0;

        while (along != readers->lead && reached < t->extents[along] &&
               extend(draft, readers, leaves, along, producer, &reached))
            ;
        if (along != readers->lead && reached >= t->extents[along])
            return true;
    }
    return t->n_dims == (readers->lead != DFL_NONE ? 1 : 0);
}

bool dfl_train_is_covered(dfl_train_draft *draft, const dfl_train_readers *readers, dfl_train_leaves *leaves)
{
    const dfl_workload *w = draft->forward;
    const dfl_tensor *t = &w->tensors[readers->tensor];
    const bool has_producers = readers->from == NULL && readers->lead == DFL_NONE && t->n_producers > 0;

    if (!has_producers)
        return is_all_read(draft, readers, leaves, NULL);
    for (uint32_t p = 0; p < t->n_producers; p++)
        if (!is_all_read(draft, readers, leaves, &w->einsums[t->producers[p]]))
            return false;
    return true;
}
