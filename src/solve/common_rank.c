/* Mappings whose outermost shared loop goes over a rank of all einsums, element by element: the workload with one element of the
   rank is searched, and the loop is added to the mapping found. */
#include <math.h>

#include "mapper/problem/limits.h"
#include "solve/solve_internal.h"
#include "solve/sub_workload.h"
#include "support/deadline.h"

typedef struct {
    dfl_fill *fill;
    const dfl_objective *objective;
    dfl_arena *arena;
    const dfl_mapping *given;
    uint32_t rank;
    dfl_sub_workload part;
} common;

/* Takes all einsums with one element of the rank. False if some einsum lacks the rank, or there is no such workload. */
static bool take_one(common *k)
{
    const dfl_workload *w = k->given->workload;
    uint32_t *all = DFL_NEW_ARRAY(k->arena, uint32_t, (size_t)w->n_einsums + 1);
    bool *is_fixed = DFL_NEW_ARRAY(k->arena, bool, (size_t)w->n_ranks + 1);
    const dfl_sub_source source = { k->arena, k->given, all, w->n_einsums, is_fixed, NULL };

    is_fixed[k->rank] = true;
    for (uint32_t e = 0; e < w->n_einsums; e++) {
        all[e] = e;
        if (!dfl_einsum_has_rank(&w->einsums[e], k->rank))
            return false;
    }
    return dfl_sub_workload_take(&source, &k->part);
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

/* A mapping with the homes of what is not exchanged, as `found` has them, and no other lines. */
static dfl_mapping *take_homes(const common *k, const dfl_mapping *found)
{
    const dfl_workload *own = k->part.mapping->workload;
    bool *has_home = DFL_NEW_ARRAY(k->arena, bool, (size_t)own->n_tensors + 1);
    dfl_mapping *out = DFL_NEW(k->arena, dfl_mapping);
    dfl_body *root = DFL_NEW(k->arena, dfl_body), **bodies = DFL_NEW_ARRAY(k->arena, dfl_body *, 1);

    *root = *found->root;
    root->lines = DFL_NEW_ARRAY(k->arena, dfl_line, (size_t)found->root->n_lines + 1);
    root->n_lines = root->n_children = 0;
    for (uint32_t i = 0; i < found->root->n_lines; i++) {
        dfl_line line = found->root->lines[i];
        if (line.kind != DFL_LINE_KEEP || has_home[line.tensor] || own->tensors[line.tensor].role == DFL_ROLE_INTERMEDIATE)
            continue;
        has_home[line.tensor] = true;
        line.tensor = k->part.tensor_of[line.tensor];
        root->lines[root->n_lines++] = line;
    }
    bodies[0] = root;
    *out = *k->given;
    out->root = root;
    out->bodies = bodies;
    out->n_bodies = 1;
    out->has_holes = false;
    return out;
}

static bool has_rank(const dfl_workload *w, uint32_t tensor, uint32_t rank)
{
    bool any = false;

    for (uint32_t e = 0; e < w->n_einsums; e++)
        for (uint32_t i = 0; i <= w->einsums[e].n_inputs; i++) {
            const dfl_access *x = i < w->einsums[e].n_inputs ? &w->einsums[e].inputs[i] : &w->einsums[e].output;
            for (uint32_t d = 0; d < x->n_dims && x->tensor == tensor; d++)
                any |= dfl_index_coef(&x->index[d], rank) != 0;
        }
    return any;
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
    return dfl_fill_value(k->fill, k->objective, m);
}

/* Keeps tensors without the rank, such as weights, above the loop where that is better. */
static const dfl_mapping *lift_keeps(const common *k, const dfl_mapping *m, double *value)
{
    const dfl_system *s = m->system;

    for (uint32_t t = 0; t < m->workload->n_tensors; t++)
        for (uint32_t memory = 0; memory < s->n_memories && dfl_budget_ok(k->fill->solver->budget); memory++) {
            const dfl_mapping *other;
            double now;
            if (has_rank(m->workload, t, k->rank) || dfl_memory_is_in_array(s, memory) ||
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
static bool search_one(const common *k, dfl_fill_open *search, dfl_filled *out)
{
    dfl_budget *budget = k->fill->solver->budget;
    dfl_fill one = *k->fill;
    dfl_stop stopped = DFL_STOP_NONE;
    bool is_found;

    one.sink = dfl_sink_new(k->arena, k->fill->solver->sources); /* a search without a mapping is no error */
    dfl_sink_limit(one.sink, 0);
    *out = (dfl_filled){ .given = k->part.mapping };
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
    bool is_one = false;

    for (k.rank = 0; k.rank < w->n_ranks && w->n_carries == 0 && fill->required.n == 0; k.rank++) {
        is_one = w->ranks[k.rank].extent > 1 && w->ranks[k.rank].extent <= DFL_COMMON_EXTENT &&
                 has_work(out->given, k.rank) && take_one(&k);
        if (is_one)
            break;
    }
    if (is_one) {
        dfl_filled one;
        const bool is_found = search_one(&k, search, &one);
        if (is_found)
            summary->evaluated += one.search->evaluated;
        if (is_found && one.mapping != NULL && dfl_budget_ok(fill->solver->budget)) {
            const dfl_mapping *m = dfl_sub_workload_put(k.arena, &k.part, take_homes(&k, one.mapping), one.mapping);
            double value = m != NULL ? value_of(&k, m) : INFINITY;
            if (m != NULL)
                m = lift_keeps(&k, m, &value);
            if (m != NULL)
                dfl_fill_take_better(fill, m, value,
                                     "a rank of all einsums is the outermost shared loop: mappings that share other loops may "
                                     "be better", out, summary);
        }
    }
    dfl_arena_free(k.arena);
}
