/* Mappings whose outermost shared loop goes over a rank of all einsums, element by element: the workload with one element of the
   rank is searched, and the loop is added to the mapping found. */
#include <string.h>

#include "mapper/problem/evaluate.h"
#include "mapper/problem/limits.h"
#include "solve/solve_internal.h"
#include "support/deadline.h"

typedef struct {
    dfl_fill *fill;
    const dfl_objective *objective;
    dfl_arena *arena;
    const dfl_mapping *given;
    uint32_t rank;
} common;

/* Whether the dimension is indexed by the rank alone. */
static bool is_plain(const dfl_index *index, uint32_t rank)
{
    return index->n_terms == 1 && index->offset == 0 && index->terms[0].rank == rank && index->terms[0].coef == 1;
}

static bool has_rank(const dfl_index *index, uint32_t rank)
{
    for (uint32_t i = 0; i < index->n_terms; i++)
        if (index->terms[i].rank == rank)
            return true;
    return false;
}

/* Notes the dimensions that the rank indexes alone, a mask by tensor. False if it has a part in another index, or if the rank
   indexes no dimension of what an einsum produces. */
static bool note_access(const dfl_access *x, uint32_t rank, bool is_output, uint64_t *dims)
{
    uint64_t mine = 0;

    for (uint32_t d = 0; d < x->n_dims; d++) {
        if (!has_rank(&x->index[d], rank))
            continue;
        if (!is_plain(&x->index[d], rank) || d >= 64)
            return false;
        mine |= UINT64_C(1) << d;
    }
    dims[x->tensor] |= mine;
    return mine != 0 || !is_output;
}

/* Whether the rank is one of all einsums, and each of them touches one element of it at a time in what einsums exchange. Notes
   the dimensions that it indexes. */
static bool is_common(const dfl_workload *w, uint32_t rank, uint64_t *dims)
{
    for (uint32_t e = 0; e < w->n_einsums; e++) {
        const dfl_einsum *einsum = &w->einsums[e];
        if (!dfl_einsum_has_rank(einsum, rank) || einsum->over_rank == rank || einsum->n_where > 0 ||
            !note_access(&einsum->output, rank, true, dims))
            return false;
        for (uint32_t i = 0; i < einsum->n_inputs; i++)
            if (!note_access(&einsum->inputs[i], rank, false, dims))
                return false;
    }
    for (uint32_t e = 0; e < w->n_einsums; e++) /* each reader of a tensor uses the same dimensions */
        for (uint32_t i = 0; i < w->einsums[e].n_inputs; i++) {
            uint64_t mine[1] = { 0 };
            dfl_access x = w->einsums[e].inputs[i];
            const uint64_t all = dims[x.tensor];
            x.tensor = 0;
            (void)note_access(&x, rank, false, mine);
            if (mine[0] != all)
                return false;
        }
    return true;
}

/* Whether one element of the rank leaves work enough for the arrays of the system. */
static bool has_work(const dfl_mapping *m, uint32_t rank)
{
    double points = 0, instances = 1;

    for (uint32_t a = 0; a < m->system->n_axes; a++)
        instances *= (double)m->system->axes[a].size;
    for (uint32_t e = 0; e < m->workload->n_einsums; e++) {
        double product = 1;
        for (uint32_t r = 0; r < m->workload->einsums[e].n_ranks; r++)
            product *= (double)m->workload->ranks[m->workload->einsums[e].ranks[r]].extent;
        points += product / (double)m->workload->ranks[rank].extent;
    }
    return points >= DFL_COMMON_POINTS * instances;
}

/* The workload with one element of the rank. */
static dfl_mapping *take_one(const common *k, const uint64_t *dims)
{
    const dfl_workload *w = k->given->workload;
    dfl_rank *ranks = DFL_NEW_ARRAY(k->arena, dfl_rank, (size_t)w->n_ranks + 1);
    dfl_tensor *tensors = DFL_NEW_ARRAY(k->arena, dfl_tensor, (size_t)w->n_tensors + 1);
    dfl_workload *one = DFL_NEW(k->arena, dfl_workload);
    dfl_mapping *out = DFL_NEW(k->arena, dfl_mapping);

    memcpy(ranks, w->ranks, w->n_ranks * sizeof *ranks);
    memcpy(tensors, w->tensors, w->n_tensors * sizeof *tensors);
    ranks[k->rank].extent = 1;
    for (uint32_t t = 0; t < w->n_tensors; t++) {
        int64_t *extents = DFL_NEW_ARRAY(k->arena, int64_t, (size_t)tensors[t].n_dims + 1);
        for (uint32_t d = 0; d < tensors[t].n_dims; d++)
            extents[d] = d < 64 && (dims[t] >> d & 1) ? 1 : tensors[t].extents[d];
        tensors[t].extents = extents;
    }
    *one = *w;
    one->ranks = ranks;
    one->tensors = tensors;
    *out = *k->given;
    out->workload = one;
    return out;
}

/* Puts the loop over the rank behind the keeps at home of all tensors that are not exchanged between einsums. */
static dfl_mapping *add_loop(const common *k, const dfl_mapping *found)
{
    dfl_mapping *out = dfl_mapping_copy(k->arena, found);
    const dfl_body *from = found->root;
    dfl_line *lines = DFL_NEW_ARRAY(k->arena, dfl_line, (size_t)from->n_lines + 1);
    bool *has_home = DFL_NEW_ARRAY(k->arena, bool, k->given->workload->n_tensors + 1);
    bool *is_above = DFL_NEW_ARRAY(k->arena, bool, (size_t)from->n_lines + 1);
    uint32_t n = 0;

    for (uint32_t i = 0; i < from->n_lines; i++) {
        const dfl_line *line = &from->lines[i];
        is_above[i] = line->kind == DFL_LINE_KEEP && !has_home[line->tensor] &&
                      k->given->workload->tensors[line->tensor].role != DFL_ROLE_INTERMEDIATE;
        if (line->kind == DFL_LINE_KEEP)
            has_home[line->tensor] = true;
        if (is_above[i])
            lines[n++] = *line;
    }
    lines[n++] = (dfl_line){ .kind = DFL_LINE_TEMPORAL, .span = k->given->hole_span, .amount_span = k->given->hole_span,
                             .rank = k->rank, .by = DFL_BY_SIZE, .amount = 1 };
    for (uint32_t i = 0; i < from->n_lines; i++)
        if (!is_above[i])
            lines[n++] = from->lines[i];
    out->workload = k->given->workload;
    out->root->lines = lines;
    out->root->n_lines = n;
    return out;
}

/* A copy in which the tensor is kept in the memory above the loop, and not within it. */
static dfl_mapping *keep_above(const common *k, const dfl_mapping *m, uint32_t tensor, uint32_t memory)
{
    dfl_mapping *out = dfl_mapping_copy(k->arena, m);
    dfl_body *root = out->root;
    dfl_line *lines = DFL_NEW_ARRAY(k->arena, dfl_line, (size_t)root->n_lines + 1);
    uint32_t n = 0;

    for (uint32_t b = 0; b < out->n_bodies; b++) {
        uint32_t left = 0;
        for (uint32_t i = 0; i < out->bodies[b]->n_lines; i++) {
            const dfl_line line = out->bodies[b]->lines[i];
            if (line.kind != DFL_LINE_KEEP || line.tensor != tensor || line.memory != memory)
                out->bodies[b]->lines[left++] = line;
        }
        out->bodies[b]->n_lines = left;
    }
    for (uint32_t i = 0; i < root->n_lines; i++) {
        if (root->lines[i].kind == DFL_LINE_TEMPORAL && root->lines[i].rank == k->rank)
            lines[n++] = (dfl_line){ .kind = DFL_LINE_KEEP, .span = k->given->hole_span, .amount_span = k->given->hole_span,
                                     .tensor = tensor, .memory = memory };
        lines[n++] = root->lines[i];
    }
    root->lines = lines;
    root->n_lines = n;
    return out;
}

static double value_of(const common *k, const dfl_mapping *m)
{
    return dfl_mapping_value(dfl_arena_budget(k->arena), k->fill->solver->names, m, k->objective);
}

/* Keeps tensors without the rank, such as weights, above the loop where that is better. */
static const dfl_mapping *lift_keeps(const common *k, const dfl_mapping *m, const uint64_t *dims, double *value)
{
    const dfl_system *s = m->system;

    for (uint32_t t = 0; t < m->workload->n_tensors; t++)
        for (uint32_t memory = 0; memory < s->n_memories && dims[t] == 0 && dfl_budget_ok(k->fill->solver->budget); memory++) {
            const dfl_mapping *other;
            double now;
            if (dfl_memory_is_in_array(s, memory) ||
                (s->memories[memory].holds.on && !dfl_selects(&s->memories[memory].holds, &m->workload->tensors[t])))
                continue;
            other = keep_above(k, m, t, memory);
            now = value_of(k, other);
            if (now < *value) {
                *value = now;
                m = other;
            }
        }
    return m;
}

/* Searches the workload with one element of the rank, by `search`, within the limits of `fill`. */
static bool search_one(const common *k, const uint64_t *dims, dfl_fill_open *search, dfl_filled *out)
{
    dfl_budget *budget = k->fill->solver->budget;
    dfl_fill one = *k->fill;
    dfl_stop stopped = DFL_STOP_NONE;
    bool is_found;

    one.sink = dfl_sink_new(k->arena, k->fill->solver->sources); /* a search without a mapping is no error */
    dfl_sink_limit(one.sink, 0);
    *out = (dfl_filled){ .given = take_one(k, dims) };
    is_found = search(&one, k->objective, out, &stopped);
    if (budget->why == DFL_STOP_TIME || (budget->why == DFL_STOP_STEPS && budget->steps_used < budget->steps_limit))
        budget->why = DFL_STOP_NONE;
    return is_found;
}

void dfl_fill_try_common(dfl_fill *fill, const dfl_objective *objective, dfl_fill_open *search, dfl_filled *out,
                         dfl_search_summary *summary)
{
    const dfl_workload *w = out->given->workload;
    common k = { .fill = fill, .objective = objective, .arena = dfl_arena_new(fill->solver->budget), .given = out->given };
    uint64_t *dims = DFL_NEW_ARRAY(k.arena, uint64_t, (size_t)w->n_tensors + 1);
    bool is_one = false;

    for (k.rank = 0; k.rank < w->n_ranks && w->n_carries == 0 && !w->has_gathered && fill->required.n == 0; k.rank++) {
        memset(dims, 0, w->n_tensors * sizeof *dims);
        is_one = w->ranks[k.rank].extent > 1 && w->ranks[k.rank].extent <= DFL_COMMON_EXTENT && is_common(w, k.rank, dims) &&
                 has_work(out->given, k.rank);
        if (is_one)
            break;
    }
    if (is_one) {
        dfl_filled one;
        const bool is_found = search_one(&k, dims, search, &one);
        if (is_found)
            summary->evaluated += one.search->evaluated;
        if (is_found && one.mapping != NULL && dfl_budget_ok(fill->solver->budget)) {
            const dfl_mapping *m = add_loop(&k, one.mapping);
            double value = value_of(&k, m);
            m = lift_keeps(&k, m, dims, &value);
            dfl_fill_take_better(fill, m, value,
                                 "a rank of all einsums is the outermost shared loop: mappings that share other loops may be "
                                 "better", out, summary);
        }
    }
    dfl_arena_free(k.arena);
}
