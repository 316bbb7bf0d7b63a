#include "solve/evaluate.h"

#include <math.h>

#include "ir/mapping_open.h"
#include "ir/path/fan_out.h"
#include "ir/path/unit_choice.h"
#include "lint/mapping.h"
#include "mapper/mapper.h"
#include "model/fold.h"
#include "model/model.h"
#include "plan/plan.h"
#include "report/check/check.h"
#include "solve/plan_nearest.h"

struct dfl_plan_memo *dfl_solver_memo_new(dfl_arena *arena) { return dfl_plan_memo_new(arena); }

static bool check_objective(const dfl_solver *solver, const dfl_mapping *m)
{
    dfl_objective objective;

    return m->n_minimize == 0 || m->n_front > 0 || dfl_objective_make(solver->sink, solver->names, m, &objective);
}

/* Labels diagnostics from index `first` on: each one that points to a line of a template gets a label with the mapping
   for which the diagnostic holds. Removes diagnostics that repeat those of another mapping with the template. */
static void name_mapping(const dfl_solver *solver, const dfl_mapping *m, size_t first)
{
    dfl_sink_fold(solver->sink, first);
    for (size_t i = first; i < dfl_sink_count(solver->sink); i++) {
        dfl_diag *d = dfl_sink_at(solver->sink, i);

        if (d->span.end != 0 && (d->span.start < m->text.start || d->span.end > m->text.end))
            dfl_diag_label(solver->sink, d, m->span, "in this mapping");
    }
}

/* Checks a mapping with holes: its axes and, if all its lines are written, its paths; else what holds for all lines: that some
   unit can run each einsum. The chips of a plan are checked with the plan. */
static void check_open(const dfl_solver *solver, dfl_arena *arena, const dfl_mapping *m)
{
    size_t reports = dfl_sink_count(solver->sink);

    if (dfl_mapping_check_axes(solver->sink, solver->names, m)) {
        if (dfl_mapping_lines_are_written(m) && m->workload->n_carries == 0)
            (void)dfl_paths_bind(arena, solver->sink, solver->names, m);
        else if (!dfl_mapping_is_plan(m))
            (void)dfl_mapping_check_units(solver->sink, solver->names, m);
    }
    name_mapping(solver, m, reports);
}

static dfl_result_item evaluate(const dfl_solver *solver, dfl_arena *arena, const dfl_mapping *m, const dfl_result *known,
                                dfl_purpose purpose, const dfl_paths **resolved);

/* Fills the holes of a mapping and evaluates the filled mapping. */
static dfl_result_item evaluate_filled(const dfl_solver *solver, const dfl_mapping *m, dfl_purpose purpose,
                                       const dfl_paths **resolved)
{
    dfl_result_item item = { .mapping = m, .status = DFL_STATUS_INFEASIBLE };
    size_t reports = dfl_sink_count(solver->sink);
    dfl_stop stopped;
    const dfl_filled *filled = dfl_solve_mapping(solver, m, &stopped);

    if (!filled) {
        name_mapping(solver, m, reports);
        return item;
    }
    item = evaluate(solver, solver->after, filled->mapping, filled->costs, purpose, resolved);
    item.search = filled->search;
    if (item.result)
        item.status = DFL_STATUS_FILLED;
    dfl_solve_record_stop(solver, stopped);
    return item;
}

/* Whether the latency and the energy of a mapping are numbers; else reports the first that is not. */
static bool check_range(const dfl_solver *solver, const dfl_mapping *m, const dfl_result *result)
{
    const bool time = !isfinite(result->seconds);
    dfl_diag *d;

    if (!time && isfinite(result->joules))
        return true;
    d = dfl_report(solver->sink, DFL_EVAL_OVERFLOW, m->span, "the %s of this mapping exceeds the largest number, 1.8e308 %s",
                   time ? "latency" : "energy", time ? "s" : "J");
    dfl_diag_help(solver->sink, d, time ? "declare larger bandwidths and rates, or shorter latencies"
                                        : "declare lower energies and leakages");
    return false;
}

/* The costs of a mapping, with the bandwidths that it requires: those that a search knows, if any. NULL after an error. */
static const dfl_result *find_costs(const dfl_solver *solver, dfl_arena *arena, const dfl_paths *paths, const dfl_result *known)
{
    dfl_model *model = known == NULL ? dfl_model_prepare(arena, solver->sink, solver->names, paths) : NULL;
    const dfl_result *result = model ? dfl_model_run(model, arena) : known;

    if (!result || !check_range(solver, paths->mapping, result))
        return NULL;
    if (known != NULL) { /* of a copy of the mapping */
        dfl_result *own = DFL_NEW(arena, dfl_result);
        *own = *known;
        own->mapping = paths->mapping;
        return own;
    }
    dfl_model_require_bandwidths(model, arena);
    return result;
}

/* Evaluates a plan over chips. */
static dfl_result_item evaluate_plan(const dfl_solver *solver, dfl_arena *arena, const dfl_mapping *m)
{
    dfl_result_item item = { .mapping = m, .status = DFL_STATUS_INFEASIBLE };
    size_t reports = dfl_sink_count(solver->sink);
    const dfl_result *result = dfl_plan_evaluate(arena, solver->sink, solver->names, m, solver->memo);

    dfl_plan_tell_nearest(solver, m, reports);
    if (result && check_range(solver, m, result))
        item.result = result;
    item.status = item.result ? DFL_STATUS_COMPLETE : DFL_STATUS_INFEASIBLE;
    name_mapping(solver, m, reports);
    return item;
}

/* Evaluates a mapping; the costs lie in `arena`. `known`: the costs by a search, NULL = not known.
   `*resolved` receives the paths of a mapping without errors, else NULL. */
static dfl_result_item evaluate(const dfl_solver *solver, dfl_arena *arena, const dfl_mapping *m, const dfl_result *known,
                                dfl_purpose purpose, const dfl_paths **resolved)
{
    dfl_result_item item = { .mapping = m, .status = DFL_STATUS_INFEASIBLE };
    const dfl_paths *paths;
    size_t reports = dfl_sink_count(solver->sink);

    *resolved = NULL;
    if (!check_objective(solver, m))
        return item;
    if (dfl_mapping_is_plan(m) && !dfl_plan_is_open(m))
        return evaluate_plan(solver, arena, m);
    if (dfl_mapping_is_plan(m) && purpose == DFL_PURPOSE_CHECK)
        return item;
    if (m->has_holes && purpose != DFL_PURPOSE_CHECK)
        return evaluate_filled(solver, m, purpose, resolved);
    if (m->has_holes) {
        check_open(solver, arena, m);
        return item;
    }
    paths = dfl_paths_resolve(arena, solver->sink, solver->names, m);
    /* A check runs the model only to find counts that overflow and occupancies above a capacity. */
    if (paths && !(purpose == DFL_PURPOSE_CHECK && dfl_model_surely_fits(paths)))
        item.result = dfl_result_fold(arena, paths->unrolled, find_costs(solver, arena, paths, known));
    item.status = item.result ? DFL_STATUS_COMPLETE : DFL_STATUS_INFEASIBLE;
    *resolved = paths;
    /* A mapping that the model does not support is not an error of the file. */
    if (purpose == DFL_PURPOSE_CHECK)
        dfl_sink_withdraw(solver->sink, reports, DFL_EVAL_UNSUPPORTED);
    name_mapping(solver, m, reports);
    return item;
}

typedef DFL_VEC(dfl_result_item) item_vec;

/* Finds the Pareto set or the best structures that are asked for, and evaluates each mapping found. */
static void evaluate_front(const dfl_solver *solver, const dfl_mapping *m, dfl_purpose purpose, item_vec *items)
{
    const dfl_filled_list *filled = solver->filled;
    const size_t first = filled->n;
    const dfl_paths *paths;
    dfl_stop stopped = DFL_STOP_NONE;

    if (!dfl_solve_mapping(solver, m, &stopped))
        DFL_PUSH(solver->arena, items, ((dfl_result_item){ .mapping = m, .status = DFL_STATUS_INFEASIBLE }));
    for (size_t i = first; i < filled->n; i++) {
        dfl_result_item item = evaluate(solver, solver->after, filled->at[i].mapping, filled->at[i].costs, purpose, &paths);
        item.search = filled->at[i].search;
        item.status = item.result ? DFL_STATUS_FILLED : DFL_STATUS_INFEASIBLE;
        DFL_PUSH(solver->arena, items, item);
    }
    dfl_solve_record_stop(solver, stopped);
}

void dfl_evaluate_mappings(const dfl_solver *solver, const char *only, dfl_purpose purpose, dfl_results *results)
{
    const dfl_program *p = solver->program;
    /* A check keeps only diagnostics, so its arena is reset after each mapping. */
    bool keeps_items = purpose != DFL_PURPOSE_CHECK;
    item_vec items = { .n = 0 };
    dfl_linter *linter = dfl_linter_new(solver->arena, solver->sink, solver->names, solver->lints);
    dfl_arena *arena = keeps_items ? solver->arena : dfl_arena_new(solver->budget);

    for (uint32_t i = 0; i < p->n_designs && dfl_budget_ok(solver->budget); i++) {
        const dfl_mapping *m = p->designs[i].mapping;
        const dfl_paths *paths;
        dfl_result_item item;

        if (!dfl_design_is_selected(&p->designs[i], solver->names, only))
            continue;
        dfl_sink_work_on(solver->sink, m->span);
        if (m->has_holes && (m->n_front > 0 || solver->options->top > 0) && keeps_items) {
            evaluate_front(solver, m, purpose, &items);
            continue;
        }
        item = evaluate(solver, arena, m, NULL, purpose, &paths);
        if (paths)
            dfl_linter_inspect(linter, paths);
        if (keeps_items)
            DFL_PUSH(solver->arena, &items, item);
        else
            dfl_arena_reset(arena);
    }
    if (!keeps_items)
        dfl_arena_free(arena);
    dfl_linter_report(linter);
    results->items = items.at;
    results->n_items = (uint32_t)items.n;
}

void dfl_evaluate_checks(const dfl_solver *solver, dfl_purpose purpose, dfl_results *results)
{
    const dfl_program *p = solver->program;
    dfl_check_outcome *outcomes = DFL_NEW_ARRAY(solver->arena, dfl_check_outcome, (size_t)p->n_checks + 1);
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->n_checks && dfl_budget_ok(solver->budget); i++)
        if (p->checks[i].kind != DFL_CHECK_EXPECT || purpose == DFL_PURPOSE_TEST)
            outcomes[n++] = dfl_check_evaluate(results, &p->checks[i]);
    if (purpose == DFL_PURPOSE_EVAL) { /* does not judge `expect`, but finds unknown names in it */
        dfl_arena *scratch = dfl_arena_new(solver->budget);

        dfl_check_types(scratch, results, true);
        dfl_arena_free(scratch);
    }
    results->checks = outcomes;
    results->n_checks = n;
}
