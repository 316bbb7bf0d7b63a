#include "solve/explanation.h"

#include "ir/mapping_open.h"
#include "mapper/mapper.h"
#include "model/fold.h"
#include "model/model.h"
#include "plan/plan.h"
#include "report/check/check.h"
#include "report/explain/compare.h"
#include "solve/solve_internal.h"
#include "support/limits.h"

/* Sets the expression that the explanation differentiates: the objective, or energy * latency if the objective has figures
   without a derivative. */
static void set_objective(const dfl_solver *solver, dfl_explanation *explanation, const dfl_objective *objective)
{
    static const dfl_dim product = { { [DFL_BASE_ENERGY] = 1, [DFL_BASE_TIME] = 1 } };
    const dfl_result *r = explanation->item->result;
    dfl_objective derived = *objective;

    explanation->minimize = objective->text;
    explanation->is_substituted = !objective->native;
    explanation->n_terms = dfl_objective_count(objective);
    if (explanation->is_substituted) {
        derived.n_terms = 0;
        derived.free = false;
    }
    explanation->objective = explanation->is_substituted ? "energy * latency" : objective->text;
    explanation->dim = derived.free ? dfl_dim_of(DFL_BASE_TIME) : product;
    if (derived.n_terms > 0)
        explanation->dim = dfl_check_dim(solver->arena, solver->results, explanation->item->mapping, derived.terms[0]);
    explanation->value = dfl_objective_value(&derived, r->joules, r->seconds);
    dfl_objective_slopes(&derived, 0, r->joules, r->seconds, &explanation->per_joule, &explanation->per_second);
}

/* Evaluates a filled mapping; NULL after reporting. */
static const dfl_result *evaluate_mapping(const dfl_solver *solver, const dfl_mapping *mapping)
{
    const dfl_paths *paths = dfl_paths_resolve(solver->after, solver->sink, solver->names, mapping);

    return paths ? dfl_model_eval(solver->after, solver->sink, solver->names, paths) : NULL;
}

/* Whether a search can list the best mappings of several structures. */
static bool has_kinds(const dfl_solver *solver, const dfl_mapping *m, const dfl_objective *objective, dfl_stop stopped)
{
    return m->has_holes && !dfl_mapping_lines_are_written(m) && m->n_choices == 0 && m->n_front == 0 &&
           !dfl_mapping_has_open_branches(m) && objective->native && dfl_objective_count(objective) == 1 &&
           !solver->options->imperfect && solver->options->beyond == 0 && stopped == DFL_STOP_NONE;
}

/* Searches for the best mappings of the two best structures. Returns the second mapping, or NULL. Replaces `*best` by the first
   mapping if that is better. */
static const dfl_filled *find_other_kind(const dfl_solver *solver, const dfl_mapping *m, dfl_filled *best, dfl_stop *stopped)
{
    dfl_search_options options = *solver->options;
    dfl_solver kinds = *solver;
    const dfl_filled_list *filled = solver->filled;
    const size_t first = filled->n;

    options.top = 2;
    kinds.options = &options;
    kinds.best = best->mapping;
    (void)dfl_solve_mapping(&kinds, m, stopped);
    if (filled->n > first && filled->at[first].search->value * (1 + DFL_VALUE_TOLERANCE) < best->search->value) {
        dfl_search_summary *search = DFL_NEW(solver->arena, dfl_search_summary);

        *search = *filled->at[first].search;
        search->top_position = 0;
        *best = filled->at[first];
        best->search = search;
    }
    return filled->n > first + 1 ? &filled->at[first + 1] : NULL;
}

/* Compares the explained mapping with `other`, the best mapping of another structure. */
static void set_runner_up(const dfl_solver *solver, dfl_explanation *explanation, const dfl_filled *other)
{
    dfl_result_item *item = DFL_NEW(solver->arena, dfl_result_item);

    *item = (dfl_result_item){ .mapping = other->mapping, .status = DFL_STATUS_FILLED, .search = other->search,
                               .result = evaluate_mapping(solver, other->mapping) };
    if (item->result)
        explanation->runner_up = dfl_compare_results(solver->arena, solver->results, explanation->item, item);
    explanation->runner_up_value = other->search->value;
    explanation->is_runner_up_proven = other->search->optimal && explanation->item->search->optimal;
}

const dfl_explanation *dfl_explanation_find(const dfl_solver *solver, const dfl_mapping *mapping, dfl_stop *stopped)
{
    dfl_result_item *item = DFL_NEW(solver->arena, dfl_result_item);
    dfl_explanation *explanation = DFL_NEW(solver->arena, dfl_explanation);
    const bool is_plan = dfl_mapping_is_plan(mapping);
    const dfl_filled *other = NULL;
    dfl_arena *arena = solver->arena;
    dfl_objective objective;
    const dfl_paths *paths;
    dfl_model *model;

    *item = (dfl_result_item){ .mapping = mapping, .status = DFL_STATUS_COMPLETE };
    if (!dfl_objective_make(solver->sink, solver->names, mapping, &objective))
        return NULL;
    if (is_plan ? dfl_plan_is_open(mapping) : mapping->has_holes) {
        const dfl_filled *filled = dfl_solve_mapping(solver, mapping, stopped);
        dfl_filled best;

        if (!filled)
            return NULL;
        best = *filled; /* a copy, because the list may move when a search adds mappings */
        if (!is_plan && has_kinds(solver, mapping, &objective, *stopped))
            other = find_other_kind(solver, mapping, &best, stopped);
        *item = (dfl_result_item){ .mapping = best.mapping, .status = DFL_STATUS_FILLED, .search = best.search };
        arena = solver->after;
    }
    *explanation = (dfl_explanation){ .results = solver->results, .item = item };
    if (is_plan) {
        item->result = dfl_plan_evaluate(arena, solver->sink, solver->names, item->mapping, solver->memo);
        if (item->result != NULL) {
            explanation->sensitivity = dfl_plan_sensitivity(solver, arena, item->result);
            set_objective(solver, explanation, &objective);
        }
        return item->result != NULL ? explanation : NULL;
    }
    paths = dfl_paths_resolve(arena, solver->sink, solver->names, item->mapping);
    model = paths ? dfl_model_prepare(arena, solver->sink, solver->names, paths) : NULL;
    item->result = model ? dfl_model_run(model, arena) : NULL;
    if (!item->result)
        return NULL;
    explanation->sensitivity = dfl_sensitivity_find(arena, model, paths->unrolled, item->result);
    item->result = dfl_result_fold(arena, paths->unrolled, item->result);
    set_objective(solver, explanation, &objective);
    if (other != NULL)
        set_runner_up(solver, explanation, other);
    return explanation;
}
