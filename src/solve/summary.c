/* The summary of a search: what is known before it, its limits, and better mappings. */
#include <math.h>
#include <string.h>

#include "ir/path/path.h"
#include "ir/print_check.h"
#include "report/check/check.h"
#include "mapper/problem/evaluate.h"
#include "solve/solve_internal.h"
#include "support/limits.h"

dfl_stop dfl_fill_stop(const dfl_fill *fill, dfl_stop stopped)
{
    const atomic_bool *cancel = fill->solver->budget->cancel;

    if (stopped != DFL_STOP_TIME && stopped != DFL_STOP_EVALUATIONS)
        return stopped;
    if (cancel && atomic_load(cancel)) /* a search that is interrupted ends by the time that an interrupt leaves */
        return DFL_STOP_CANCELLED;
    return fill->has_default_limit ? DFL_STOP_WORK : stopped;
}

void dfl_fill_note_stop(const dfl_fill *fill, dfl_search_summary *summary, dfl_stop *stopped)
{
    summary->stopped = dfl_fill_stop(fill, *stopped);
    if (*stopped == DFL_STOP_GAP)
        *stopped = DFL_STOP_NONE;
}

dfl_search_summary dfl_fill_start_summary(const dfl_fill *fill, const dfl_objective *objective)
{
    static const dfl_dim product = { { [DFL_BASE_ENERGY] = 1, [DFL_BASE_TIME] = 1 } };
    const dfl_solver *solver = fill->solver;
    dfl_search_summary out = { .objective = objective->text, .first_term = objective->text,
                               .time_limit = solver->options->seconds, .gap_limit = solver->options->gap,
                             .most_evaluations = solver->options->evaluations,
                             .dim = objective->free ? dfl_dim_of(DFL_BASE_TIME) : product };

    if (objective->n_terms > 0)
        out.dim = dfl_check_dim(solver->arena, &fill->one, fill->item.mapping, objective->terms[0]);
    if (objective->n_terms > 1) {
        dfl_strbuf first;
        dfl_strbuf_init(&first, solver->arena);
        dfl_val_print(&first, solver->names, objective->terms[0]);
        out.first_term = first.text;
    }
    return out;
}

/* Whether a rank counts the iterations of a repeat that carries a tensor: its einsums share the loop in every mapping. */
static bool is_carried(const dfl_workload *w, uint32_t rank)
{
    for (uint32_t c = 0; c < w->n_carries; c++)
        if (w->carries[c].rank == rank)
            return true;
    return false;
}

/* Number of temporal loops above the children of a body that the einsums of it share. */
static uint32_t count_shared(const dfl_workload *w, const dfl_body *body)
{
    uint32_t n = 0;

    for (const dfl_body *b = body; b != NULL; b = b->parent)
        for (uint32_t i = 0; i < b->n_lines; i++)
            n += b->lines[i].kind == DFL_LINE_TEMPORAL && !is_carried(w, b->lines[i].rank);
    return n;
}

/* Largest number of loops that einsums of a mapping share. */
static uint32_t most_shared(const dfl_mapping *m)
{
    uint32_t most = 0;

    for (uint32_t b = 0; b < m->n_bodies; b++)
        if (m->bodies[b]->kind != DFL_BODY_LEAF) {
            const uint32_t n = count_shared(m->workload, m->bodies[b]);
            most = n > most ? n : most;
        }
    return most;
}

/* Whether einsums share no more loops than `--max-fused` admits, besides those that are written. */
static bool admits_shared(const dfl_fill *fill, const dfl_mapping *m)
{
    return fill->space.max_shared_loops == DFL_NONE ||
           most_shared(m) <= fill->space.max_shared_loops + most_shared(fill->item.mapping);
}

bool dfl_fill_admits(const dfl_fill *fill, const dfl_mapping *mapping)
{
    return dfl_mapping_keeps_rows_with_tables(mapping) && admits_shared(fill, mapping) &&
           (!fill->space.perfect || dfl_mapping_divides(fill->solver->budget, fill->solver->names, mapping));
}

void dfl_fill_fit_bound(dfl_search_summary *summary)
{
    if (dfl_value_times(summary->value, 1 + DFL_VALUE_TOLERANCE) < summary->lower_bound)
        summary->lower_bound = NAN;
    else if (summary->value < summary->lower_bound)
        summary->lower_bound = summary->value;
}

void dfl_fill_take_better(dfl_fill *fill, const dfl_mapping *mapping, double value, const char *unproven, dfl_filled *out,
                          dfl_search_summary *summary)
{
    if (!(dfl_value_times(value, 1 + DFL_VALUE_TOLERANCE) < summary->value) || !dfl_fill_admits(fill, mapping))
        return;
    dfl_filled_set(out, dfl_fill_copy(fill->solver, mapping, out->given), NULL);
    summary->value = value;
    summary->optimal = false;
    dfl_fill_fit_bound(summary);
    summary->unproven = unproven;
}

void dfl_fill_take_climbed(dfl_fill *fill, const dfl_mapping *mapping, double value, const char *unproven, dfl_filled *out,
                           dfl_search_summary *summary)
{
    static const char changes[] = "changes of single lines of good mappings, also beyond these limits";
    const dfl_mapping *before = out->mapping;

    dfl_fill_take_better(fill, mapping, value, unproven, out, summary);
    if (out->mapping != before && summary->space != NULL && strstr(summary->space, changes) == NULL)
        summary->space = dfl_arena_printf(fill->solver->arena, "%s; %s", changes, summary->space);
}

/* Whether a declaration of the file or a filled mapping is called `name`. */
static bool is_taken(const dfl_solver *solver, dfl_sym name)
{
    const dfl_program *p = solver->program;
    bool taken = false;

    for (uint32_t i = 0; i < p->n_designs; i++)
        taken |= p->designs[i].mapping->name == name;
    for (uint32_t i = 0; i < p->n_templates; i++)
        taken |= p->templates[i].name == name;
    for (uint32_t i = 0; i < p->n_workloads; i++)
        taken |= p->workloads[i].workload->name == name;
    for (uint32_t i = 0; i < p->n_systems; i++)
        taken |= p->systems[i]->name == name;
    for (size_t i = 0; i < solver->filled->n; i++)
        taken |= solver->filled->at[i].mapping->name == name;
    return taken;
}

/* Adds one of several filled mappings under the name NAME_n: NAME is the name of the given mapping, n the first free number
   from `*next` on. The name is NAME alone if `*next` is 0. */
void dfl_fill_add(const dfl_solver *solver, const dfl_mapping *given, const dfl_mapping *found,
                  const dfl_search_summary *search, uint32_t *next)
{
    dfl_mapping *named = dfl_fill_copy(solver, found, given);

    named->name = given->name;
    for (bool taken = *next > 0; taken; taken = is_taken(solver, named->name), ++*next)
        named->name = dfl_intern_z(solver->names, dfl_arena_printf(solver->arena, "%s_%u",
                                                                   dfl_sym_text(solver->names, given->name), *next));
    if (*next == 0)
        *next = 2;
    named->n_front = 0;
    DFL_PUSH(solver->arena, solver->filled, ((dfl_filled){ .given = given, .mapping = named, .search = search }));
}

dfl_search_limits dfl_fill_share_limits(const dfl_fill *fill, double share)
{
    dfl_search_limits limits = fill->limits;
    const double now = dfl_budget_time(fill->solver->budget);

    if (limits.deadline > now)
        limits.deadline = now + (limits.deadline - now) * share;
    return limits;
}
