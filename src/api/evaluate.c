/* Checking and evaluating the mappings of a file. */
#include "api/session.h"

#include <string.h>

#include "ir/mapping_open.h"
#include "ir/path/fan_out.h"
#include "lint/mapping.h"
#include "mapper/mapper.h"
#include "model/model.h"
#include "report/check/check.h"

typedef enum { PURPOSE_CHECK, PURPOSE_EVAL, PURPOSE_TEST } purpose;

static bool check_objective(dfl_session *s, const dfl_mapping *m)
{
    dfl_objective objective;

    return m->n_minimize == 0 || m->n_front > 0 || dfl_objective_make(s->sink, s->names, m, &objective);
}

/* Reports about lines of a template say for which mapping they hold, and are not repeated for the next one. */
static void name_mapping(dfl_session *s, const dfl_mapping *m, size_t first)
{
    dfl_sink_fold(s->sink, first);
    for (size_t i = first; i < dfl_sink_count(s->sink); i++) {
        dfl_diag *d = dfl_sink_at(s->sink, i);

        if (d->span.end != 0 && (d->span.start < m->text.start || d->span.end > m->text.end))
            dfl_diag_label(s->sink, d, m->span, "in this mapping");
    }
}

/* All that does not depend on what is open. */
static void check_open(dfl_session *s, dfl_arena *arena, const dfl_mapping *m)
{
    size_t reports = dfl_sink_count(s->sink);

    if (dfl_mapping_check_axes(s->sink, s->names, m) && dfl_mapping_lines_are_written(m))
        (void)dfl_paths_bind(arena, s->sink, s->names, m);
    name_mapping(s, m, reports);
}

static dfl_result_item evaluate(dfl_session *s, dfl_arena *arena, const dfl_mapping *m, purpose why,
                                const dfl_paths **resolved);

/* Fills the holes, and evaluates what that gives. */
static dfl_result_item evaluate_filled(dfl_session *s, const dfl_mapping *m, purpose why, const dfl_paths **resolved)
{
    dfl_result_item item = { .mapping = m, .status = DFL_STATUS_INFEASIBLE };
    size_t reports = dfl_sink_count(s->sink);
    dfl_stop stopped;
    const dfl_filled *filled = dfl_session_fill(s, m, &stopped);

    if (!filled) {
        name_mapping(s, m, reports);
        return item;
    }
    item = evaluate(s, dfl_session_after(s), filled->mapping, why, resolved);
    item.search = filled->search;
    if (item.result)
        item.status = DFL_STATUS_FILLED;
    dfl_session_stopped(s, stopped);
    return item;
}

/* Evaluates in `arena`. `*resolved` are the paths of a mapping without errors, else NULL. */
static dfl_result_item evaluate(dfl_session *s, dfl_arena *arena, const dfl_mapping *m, purpose why,
                                const dfl_paths **resolved)
{
    dfl_result_item item = { .mapping = m, .status = DFL_STATUS_INFEASIBLE };
    const dfl_paths *paths;
    size_t reports = dfl_sink_count(s->sink);

    *resolved = NULL;
    if (!check_objective(s, m))
        return item;
    if (m->has_holes && why != PURPOSE_CHECK)
        return evaluate_filled(s, m, why, resolved);
    if (m->has_holes) {
        check_open(s, arena, m);
        return item;
    }
    paths = dfl_paths_resolve(arena, s->sink, s->names, m);
    /* a check wants no costs, only to hear of counts and rooms that are too large */
    if (paths && !(why == PURPOSE_CHECK && dfl_model_surely_fits(paths)))
        item.result = dfl_model_eval(arena, s->sink, s->names, paths);
    item.status = item.result ? DFL_STATUS_COMPLETE : DFL_STATUS_INFEASIBLE;
    *resolved = paths;
    /* what is not evaluated is no mistake of the file */
    if (why == PURPOSE_CHECK)
        dfl_sink_withdraw(s->sink, reports, DFL_EVAL_UNSUPPORTED);
    name_mapping(s, m, reports);
    return item;
}

typedef DFL_VEC(dfl_result_item) item_vec;

/* A front: every mapping of it is evaluated. */
static void evaluate_front(dfl_session *s, const dfl_mapping *m, purpose why, item_vec *items)
{
    size_t first = s->filled.n;
    const dfl_paths *paths;
    dfl_stop stopped = DFL_STOP_NONE;

    if (!dfl_session_fill(s, m, &stopped))
        DFL_PUSH(s->arena, items, ((dfl_result_item){ .mapping = m, .status = DFL_STATUS_INFEASIBLE }));
    for (size_t i = first; i < s->filled.n; i++) {
        dfl_result_item item = evaluate(s, dfl_session_after(s), s->filled.at[i].mapping, why, &paths);
        item.search = s->filled.at[i].search;
        item.status = item.result ? DFL_STATUS_FILLED : DFL_STATUS_INFEASIBLE;
        DFL_PUSH(s->arena, items, item);
    }
    dfl_session_stopped(s, stopped);
}

/* A check wants the reports only: what it computes for a mapping is forgotten before the next one. */
static void evaluate_designs(dfl_session *s, const char *only, purpose why)
{
    const dfl_program *p = s->program;
    bool forget = why == PURPOSE_CHECK;
    item_vec items = { .n = 0 };
    dfl_linter *linter = dfl_linter_new(s->arena, s->sink, s->names, &s->lints);
    dfl_arena *arena = forget ? dfl_arena_new(&s->budget) : s->arena;

    for (uint32_t i = 0; i < p->n_designs && dfl_budget_ok(&s->budget); i++) {
        const dfl_mapping *m = p->designs[i].mapping;
        const dfl_paths *paths;
        dfl_result_item item;

        if (!p->designs[i].from_root || (only && strcmp(only, dfl_sym_text(s->names, m->name)) != 0))
            continue;
        if (m->has_holes && m->n_front > 0 && !forget) {
            evaluate_front(s, m, why, &items);
            continue;
        }
        item = evaluate(s, arena, m, why, &paths);
        if (paths)
            dfl_linter_inspect(linter, paths);
        if (forget)
            dfl_arena_reset(arena);
        else
            DFL_PUSH(s->arena, &items, item);
    }
    if (forget)
        dfl_arena_free(arena);
    dfl_linter_report(linter);
    s->results.items = items.at;
    s->results.n_items = (uint32_t)items.n;
}

static void judge_checks(dfl_session *s, purpose why)
{
    const dfl_program *p = s->program;
    dfl_check_outcome *outcomes = DFL_NEW_ARRAY(s->arena, dfl_check_outcome, (size_t)p->n_checks + 1);
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->n_checks && dfl_budget_ok(&s->budget); i++)
        if (p->checks[i].kind != DFL_CHECK_EXPECT || why == PURPOSE_TEST)
            outcomes[n++] = dfl_check_evaluate(&s->results, &p->checks[i]);
    s->results.checks = outcomes;
    s->results.n_checks = n;
}

static dfl_exit run(dfl_session *s, const char *only, purpose why)
{
    if (!dfl_session_analyse(s))
        return DFL_EXIT_USAGE;
    /* What could be made of a broken file is not what was meant: more can be checked, but there is no cost to tell. */
    if (!s->program || (why != PURPOSE_CHECK && dfl_sink_errors(s->sink) > 0))
        return dfl_session_status(s);
    if (why == PURPOSE_CHECK)
        dfl_session_preview_checks(s);
    else if (!dfl_session_may_certify(s, only))
        return dfl_session_status(s);
    evaluate_designs(s, only, why);
    if (why == PURPOSE_EVAL && s->results.n_items == 0 && s->budget.why == DFL_STOP_NONE &&
        !dfl_session_refuse_template(s, only) && only)
        dfl_session_unknown_mapping(s, only);
    if (why != PURPOSE_CHECK)
        judge_checks(s, why);
    return dfl_session_status(s);
}

dfl_exit dfl_session_check(dfl_session *s)
{
    return run(s, NULL, PURPOSE_CHECK);
}

dfl_exit dfl_session_eval(dfl_session *s, const char *only)
{
    return run(s, only, PURPOSE_EVAL);
}

dfl_exit dfl_session_test(dfl_session *s)
{
    return run(s, NULL, PURPOSE_TEST);
}
