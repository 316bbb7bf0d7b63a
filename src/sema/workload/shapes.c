/*
 * Derivation of shapes. A tensor without a declared shape gets, in each dimension, the extent that its accesses reach.
 * If an einsum produces the tensor, only the writes determine the extent. Finally, all accesses are checked against the
 * shapes.
 */
#include "sema/workload/workload_internal.h"

#include "lint/workload.h"

/* The text of a symbol. */
static const char *text(const dfl_workload_draft *draft, dfl_sym sym)
{
    return dfl_sym_text(draft->names, sym);
}

bool dfl_workload_index_range(const dfl_workload_draft *draft, const dfl_index *index, int64_t *low, int64_t *high)
{
    dfl_i128 lo = index->offset, hi = index->offset;

    for (uint32_t i = 0; i < index->n_terms; i++) {
        int64_t extent = draft->ranks.at[index->terms[i].rank].extent;
        dfl_i128 reach = (dfl_i128)index->terms[i].coef * (extent - 1);

        if (extent <= 0)
            return false;
        if (reach < 0)
            lo += reach;
        else
            hi += reach;
    }
    if (lo < INT64_MIN || hi >= INT64_MAX)
        return false;
    *low = (int64_t)lo;
    *high = (int64_t)hi;
    return true;
}

/* Reports two different extents of a dimension. */
static void report_conflict(dfl_workload_draft *draft, const dfl_draft_tensor *tensor, uint32_t dim, dfl_span at, int64_t wanted,
                            dfl_span seen)
{
    dfl_diag *d = dfl_report(draft->sink, DFL_TENSOR_SHAPE_CONFLICT, at,
                             "dimension %u of `%s` has %lld elements elsewhere, but %lld here",
                             dim - tensor->n_lead + 1, text(draft, tensor->name), (long long)tensor->extents[dim],
                             (long long)wanted);

    dfl_diag_label(draft->sink, d, seen, "%lld elements follow from here", (long long)tensor->extents[dim]);
    draft->broken = true;
}

/* The shape of a tensor that follows from its accesses; the arrays are indexed by dimension. A bare index (a single
   rank without coefficient and offset) states the extent. */
typedef struct {
    dfl_span *bare;    /* [dimension]: place of a bare index; start == 0: no bare index so far */
    int64_t *most;     /* [dimension]: 1 + the largest index that an access without a bare index reaches */
    bool *unknown;     /* [dimension]: some access has an unknown range */
} shape_guess;

/* Extends the shape by one access. Reports contradictory bare indices, and indices below 0. */
static void infer_access(dfl_workload_draft *draft, dfl_draft_tensor *tensor, shape_guess *guess, const dfl_access *access,
                         bool writes)
{
    for (uint32_t dim = 0; dim < access->n_dims && dim < tensor->n_dims && !tensor->broken; dim++) {
        const dfl_index *index = &access->index[dim];
        uint32_t rank;
        int64_t low, high;

        if (!dfl_workload_index_range(draft, index, &low, &high)) {
            guess->unknown[dim] = true;
        } else if (dfl_index_is_bare(index, &rank)) {
            int64_t extent = high + 1;

            if (guess->bare[dim].start != 0 && tensor->extents[dim] != extent) {
                report_conflict(draft, tensor, dim, index->span, extent, guess->bare[dim]);
                tensor->broken = true;
                return;
            }
            guess->bare[dim] = index->span;
            tensor->extents[dim] = extent;
        } else if (low < 0) {
            dfl_diag *d;

            if (guess->bare[dim].start != 0 && !writes)
                continue; /* no report: elements outside of a declared extent read as zero */
            d = dfl_report(draft->sink, DFL_TENSOR_NO_SHAPE, index->span,
                           "shape of `%s` cannot be inferred: this index starts at %lld", text(draft, tensor->name),
                           (long long)low);
            dfl_diag_help(draft->sink, d, "declare the tensor with its shape, as in `input %s[...]`", text(draft, tensor->name));
            tensor->broken = draft->broken = true;
        } else if (high + 1 > guess->most[dim]) {
            guess->most[dim] = high + 1;
        }
    }
}

/* Derives the shape of one tensor from the einsums `uses[first[tensor]]` up to those of the next tensor. */
static void infer_shape(dfl_workload_draft *draft, uint32_t tensor, const bool *produced, const uint32_t *first,
                        const uint32_t *uses)
{
    dfl_draft_tensor *t = &draft->tensors.at[tensor];
    shape_guess guess = { DFL_NEW_ARRAY(draft->arena, dfl_span, t->n_dims + 1),
                          DFL_NEW_ARRAY(draft->arena, int64_t, t->n_dims + 1),
                          DFL_NEW_ARRAY(draft->arena, bool, t->n_dims + 1) };

    for (uint32_t u = first[tensor]; u < first[tensor + 1]; u++) {
        const dfl_draft_einsum *einsum = &draft->einsums.at[uses[u]];

        for (uint32_t dim = 0; einsum->vague && dim < t->n_dims; dim++)
            guess.unknown[dim] = true;
        if (einsum->vague)
            continue;
        if (einsum->ir.output.tensor == tensor)
            infer_access(draft, t, &guess, &einsum->ir.output, true);
        for (uint32_t i = 0; i < einsum->ir.n_inputs && !produced[tensor]; i++)
            if (einsum->ir.inputs[i].tensor == tensor)
                infer_access(draft, t, &guess, &einsum->ir.inputs[i], false);
    }
    for (uint32_t dim = 0; dim < t->n_dims; dim++) {
        if (guess.most[dim] > t->extents[dim] && !(guess.bare[dim].start != 0 && !produced[tensor]))
            t->extents[dim] = guess.most[dim];
        if (guess.unknown[dim])
            t->extents[dim] = 0;
        if (t->extents[dim] == 0)
            draft->unsized = true;
    }
}

/* Checks the indices of an access against the shape. A write and a bare index must stay inside, unless a condition
   restricts the einsum. Raises the lint outside-shape for an index that is never inside. */
static void check_access(dfl_workload_draft *draft, const dfl_draft_tensor *tensor, const dfl_access *access, bool writes,
                         bool restricted)
{
    for (uint32_t dim = 0; dim < access->n_dims && dim < tensor->n_dims; dim++) {
        const dfl_index *index = &access->index[dim];
        int64_t low, high, extent = tensor->extents[dim];
        uint32_t rank;
        bool outside;

        if (extent <= 0 || !dfl_workload_index_range(draft, index, &low, &high))
            continue;
        outside = low < 0 || high >= extent;
        if (outside && !restricted && (writes || dfl_index_is_bare(index, &rank))) {
            dfl_diag *d = dfl_report(draft->sink, DFL_TENSOR_SHAPE_CONFLICT, index->span,
                                     "this index of `%s` runs from %lld to %lld, but the dimension has %lld elements",
                                     text(draft, tensor->name), (long long)low, (long long)high, (long long)extent);

            dfl_diag_label(draft->sink, d, tensor->span, "`%s` has its shape from here", text(draft, tensor->name));
            draft->broken = true;
        } else if (dfl_workload_draft_lints(draft, index->span) && (high < 0 || low >= extent)) {
            dfl_lint_outside_shape(draft->sink, draft->lints, index->span, text(draft, tensor->name), low, high, extent);
        }
    }
}

/* Reports an access with a wrong number of dimensions. */
static void check_dims(dfl_workload_draft *draft, dfl_draft_tensor *tensor, const dfl_access *access)
{
    dfl_diag *d;

    if (access->n_dims == tensor->n_dims || tensor->broken)
        return;
    d = dfl_report(draft->sink, DFL_TENSOR_DIMENSIONS, access->span, "`%s` has %u dimension%s, but %u %s given here",
                   text(draft, tensor->name), tensor->n_dims - tensor->n_lead, tensor->n_dims - tensor->n_lead == 1 ? "" : "s",
                   access->n_dims - tensor->n_lead, access->n_dims - tensor->n_lead == 1 ? "is" : "are");
    dfl_diag_label(draft->sink, d, tensor->span, "`%s` has its shape from here", text(draft, tensor->name));
    if (access->n_dims < tensor->n_dims)
        dfl_diag_help(draft->sink, d, "give one index for each dimension, such as `0` or a rank");
    else
        dfl_diag_help(draft->sink, d, "remove %s, or declare `%s` with %u",
                      access->n_dims == tensor->n_dims + 1 ? "an index" : "indices", text(draft, tensor->name),
                      access->n_dims - tensor->n_lead);
    tensor->broken = draft->broken = true;
}

/* Lists the einsums that access each tensor: `uses[first[t]]` to `uses[first[t + 1] - 1]`, in the order of the text, once
 * per access. */
static void list_uses(dfl_workload_draft *draft, uint32_t **first, uint32_t **uses)
{
    size_t n = draft->tensors.n, total = 0;
    uint32_t *next;

    *first = DFL_NEW_ARRAY(draft->arena, uint32_t, n + 2);
    for (size_t e = 0; e < draft->einsums.n; e++) {
        const dfl_einsum *einsum = &draft->einsums.at[e].ir;

        (*first)[einsum->output.tensor + 1]++;
        for (uint32_t i = 0; i < einsum->n_inputs; i++)
            (*first)[einsum->inputs[i].tensor + 1]++;
        total += einsum->n_inputs + 1;
    }
    for (size_t t = 0; t < n; t++)
        (*first)[t + 1] += (*first)[t];
    *uses = DFL_NEW_ARRAY(draft->arena, uint32_t, total + 1);
    next = DFL_NEW_ARRAY(draft->arena, uint32_t, n + 1);
    for (size_t t = 0; t < n; t++)
        next[t] = (*first)[t];
    for (size_t e = 0; e < draft->einsums.n; e++) {
        const dfl_einsum *einsum = &draft->einsums.at[e].ir;

        for (uint32_t i = 0; i <= einsum->n_inputs; i++) {
            uint32_t t = i == 0 ? einsum->output.tensor : einsum->inputs[i - 1].tensor;

            (*uses)[next[t]++] = (uint32_t)e;
        }
    }
}

void dfl_workload_derive_shapes(dfl_workload_draft *draft, const bool *produced)
{
    uint32_t *first, *uses;

    for (size_t e = 0; e < draft->einsums.n; e++) {
        const dfl_einsum *x = &draft->einsums.at[e].ir;

        check_dims(draft, &draft->tensors.at[x->output.tensor], &x->output);
        for (uint32_t i = 0; i < x->n_inputs; i++)
            check_dims(draft, &draft->tensors.at[x->inputs[i].tensor], &x->inputs[i]);
    }
    list_uses(draft, &first, &uses);
    for (uint32_t t = 0; t < draft->tensors.n; t++)
        if (!draft->tensors.at[t].declared && !draft->tensors.at[t].broken)
            infer_shape(draft, t, produced, first, uses);
    for (size_t e = 0; e < draft->einsums.n; e++) {
        const dfl_draft_einsum *x = &draft->einsums.at[e];

        if (x->vague || !dfl_workload_draft_within_budget(draft))
            continue;
        if (!draft->tensors.at[x->ir.output.tensor].broken)
            check_access(draft, &draft->tensors.at[x->ir.output.tensor], &x->ir.output, true, x->ir.n_where > 0);
        for (uint32_t i = 0; i < x->ir.n_inputs; i++)
            if (!draft->tensors.at[x->ir.inputs[i].tensor].broken)
                check_access(draft, &draft->tensors.at[x->ir.inputs[i].tensor], &x->ir.inputs[i], false, x->ir.n_where > 0);
    }
}
