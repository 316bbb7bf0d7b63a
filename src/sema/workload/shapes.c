/* Shapes of tensors: declared, or inferred from the indices that write and read them. */
#include "sema/workload/build.h"

#include "lint/workload.h"

static const char *text(const dfl_build *b, dfl_sym sym)
{
    return dfl_sym_text(b->names, sym);
}

bool dfl_build_range(const dfl_build *b, const dfl_index *index, int64_t *low, int64_t *high)
{
    dfl_i128 lo = index->offset, hi = index->offset;

    for (uint32_t i = 0; i < index->n_terms; i++) {
        int64_t extent = b->ranks.at[index->terms[i].rank].extent;
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

static void conflict(dfl_build *b, const dfl_build_tensor *t, uint32_t dim, dfl_span at, int64_t wanted, dfl_span seen)
{
    dfl_diag *d = dfl_report(b->sink, DFL_TENSOR_SHAPE_CONFLICT, at,
                             "dimension %u of `%s` has %lld elements elsewhere, but %lld here",
                             dim - t->n_lead + 1, text(b, t->name), (long long)t->extents[dim], (long long)wanted);

    dfl_diag_label(b->sink, d, seen, "%lld elements follow from here", (long long)t->extents[dim]);
    b->broken = true;
}

/* An undeclared shape grows with its accesses; bare indices must agree, because each states the extent. */
typedef struct {
    dfl_span *bare;    /* per dimension: where an extent was stated; start == 0 for not yet */
    int64_t *most;     /* per dimension: largest index + 1 of the other accesses */
    bool *unknown;
} guess;

static void infer_access(dfl_build *b, dfl_build_tensor *t, guess *g, const dfl_access *a, bool writes)
{
    for (uint32_t dim = 0; dim < a->n_dims && dim < t->n_dims && !t->broken; dim++) {
        const dfl_index *index = &a->index[dim];
        uint32_t rank;
        int64_t low, high;

        if (!dfl_build_range(b, index, &low, &high)) {
            g->unknown[dim] = true;
        } else if (dfl_index_is_bare(index, &rank)) {
            int64_t extent = high + 1;

            if (g->bare[dim].start != 0 && t->extents[dim] != extent) {
                conflict(b, t, dim, index->span, extent, g->bare[dim]);
                t->broken = true;
                return;
            }
            g->bare[dim] = index->span;
            t->extents[dim] = extent;
        } else if (low < 0) {
            dfl_diag *d;

            if (g->bare[dim].start != 0 && !writes)
                continue; /* a halo around a stated extent reads as zero */
            d = dfl_report(b->sink, DFL_TENSOR_NO_SHAPE, index->span,
                           "shape of `%s` cannot be inferred: this index starts at %lld", text(b, t->name),
                           (long long)low);
            dfl_diag_help(b->sink, d, "declare the tensor with its shape, as in `input %s[...]`", text(b, t->name));
            t->broken = b->broken = true;
        } else if (high + 1 > g->most[dim]) {
            g->most[dim] = high + 1;
        }
    }
}

static void infer(dfl_build *b, uint32_t tensor, const bool *produced, const uint32_t *first, const uint32_t *uses)
{
    dfl_build_tensor *t = &b->tensors.at[tensor];
    guess g = { DFL_NEW_ARRAY(b->arena, dfl_span, t->n_dims + 1), DFL_NEW_ARRAY(b->arena, int64_t, t->n_dims + 1),
                DFL_NEW_ARRAY(b->arena, bool, t->n_dims + 1) };

    for (uint32_t u = first[tensor]; u < first[tensor + 1]; u++) {
        const dfl_build_einsum *x = &b->einsums.at[uses[u]];

        for (uint32_t dim = 0; x->vague && dim < t->n_dims; dim++)
            g.unknown[dim] = true;
        if (x->vague)
            continue;
        if (x->e.output.tensor == tensor)
            infer_access(b, t, &g, &x->e.output, true);
        for (uint32_t i = 0; i < x->e.n_inputs && !produced[tensor]; i++)
            if (x->e.inputs[i].tensor == tensor)
                infer_access(b, t, &g, &x->e.inputs[i], false);
    }
    for (uint32_t dim = 0; dim < t->n_dims; dim++) {
        if (g.most[dim] > t->extents[dim] && !(g.bare[dim].start != 0 && !produced[tensor]))
            t->extents[dim] = g.most[dim];
        if (g.unknown[dim])
            t->extents[dim] = 0;
        if (t->extents[dim] == 0)
            b->unsized = true;
    }
}

/* An index against a known extent: writes must be inside, a bare index must not run past the end. */
static void check_access(dfl_build *b, const dfl_build_tensor *t, const dfl_access *a, bool writes, bool restricted)
{
    for (uint32_t dim = 0; dim < a->n_dims && dim < t->n_dims; dim++) {
        const dfl_index *index = &a->index[dim];
        int64_t low, high, extent = t->extents[dim];
        uint32_t rank;
        bool outside;

        if (extent <= 0 || !dfl_build_range(b, index, &low, &high))
            continue;
        outside = low < 0 || high >= extent;
        if (outside && !restricted && (writes || dfl_index_is_bare(index, &rank))) {
            dfl_diag *d = dfl_report(b->sink, DFL_TENSOR_SHAPE_CONFLICT, index->span,
                                     "this index of `%s` runs from %lld to %lld, but the dimension has %lld elements",
                                     text(b, t->name), (long long)low, (long long)high, (long long)extent);

            dfl_diag_label(b->sink, d, t->span, "`%s` has its shape from here", text(b, t->name));
            b->broken = true;
        } else if (dfl_build_lints(b, index->span) && (high < 0 || low >= extent)) {
            dfl_lint_outside_shape(b->sink, b->lints, index->span, text(b, t->name), low, high, extent);
        }
    }
}

static void check_dims(dfl_build *b, dfl_build_tensor *t, const dfl_access *a)
{
    dfl_diag *d;

    if (a->n_dims == t->n_dims || t->broken)
        return;
    d = dfl_report(b->sink, DFL_TENSOR_DIMENSIONS, a->span, "`%s` has %u dimension%s, but %u %s given here",
                   text(b, t->name), t->n_dims - t->n_lead, t->n_dims - t->n_lead == 1 ? "" : "s",
                   a->n_dims - t->n_lead, a->n_dims - t->n_lead == 1 ? "is" : "are");
    dfl_diag_label(b->sink, d, t->span, "`%s` has its shape from here", text(b, t->name));
    t->broken = b->broken = true;
}

/* Lists the einsums that touch each tensor: `uses[first[t]] .. uses[first[t + 1]]`, in text order, each once. */
static void list_uses(dfl_build *b, uint32_t **first, uint32_t **uses)
{
    size_t n = b->tensors.n, total = 0;
    uint32_t *next;

    *first = DFL_NEW_ARRAY(b->arena, uint32_t, n + 2);
    for (size_t e = 0; e < b->einsums.n; e++) {
        const dfl_einsum *x = &b->einsums.at[e].e;

        (*first)[x->output.tensor + 1]++;
        for (uint32_t i = 0; i < x->n_inputs; i++)
            (*first)[x->inputs[i].tensor + 1]++;
        total += x->n_inputs + 1;
    }
    for (size_t t = 0; t < n; t++)
        (*first)[t + 1] += (*first)[t];
    *uses = DFL_NEW_ARRAY(b->arena, uint32_t, total + 1);
    next = DFL_NEW_ARRAY(b->arena, uint32_t, n + 1);
    for (size_t t = 0; t < n; t++)
        next[t] = (*first)[t];
    for (size_t e = 0; e < b->einsums.n; e++) {
        const dfl_einsum *x = &b->einsums.at[e].e;

        for (uint32_t i = 0; i <= x->n_inputs; i++) {
            uint32_t t = i == 0 ? x->output.tensor : x->inputs[i - 1].tensor;

            (*uses)[next[t]++] = (uint32_t)e;
        }
    }
}

void dfl_build_shapes(dfl_build *b, const bool *produced)
{
    uint32_t *first, *uses;

    for (size_t e = 0; e < b->einsums.n; e++) {
        const dfl_einsum *x = &b->einsums.at[e].e;

        check_dims(b, &b->tensors.at[x->output.tensor], &x->output);
        for (uint32_t i = 0; i < x->n_inputs; i++)
            check_dims(b, &b->tensors.at[x->inputs[i].tensor], &x->inputs[i]);
    }
    list_uses(b, &first, &uses);
    for (uint32_t t = 0; t < b->tensors.n; t++)
        if (!b->tensors.at[t].declared && !b->tensors.at[t].broken)
            infer(b, t, produced, first, uses);
    for (size_t e = 0; e < b->einsums.n; e++) {
        const dfl_build_einsum *x = &b->einsums.at[e];

        if (x->vague || !dfl_build_goes_on(b))
            continue;
        if (!b->tensors.at[x->e.output.tensor].broken)
            check_access(b, &b->tensors.at[x->e.output.tensor], &x->e.output, true, x->e.n_where > 0);
        for (uint32_t i = 0; i < x->e.n_inputs; i++)
            if (!b->tensors.at[x->e.inputs[i].tensor].broken)
                check_access(b, &b->tensors.at[x->e.inputs[i].tensor], &x->e.inputs[i], false, x->e.n_where > 0);
    }
}
