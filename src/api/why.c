/* What a mapping's costs depend on. */
#include "api/session.h"

#include <string.h>

#include "ir/mapping_open.h"
#include "mapper/mapper.h"
#include "model/model.h"
#include "report/check/check.h"
#include "report/explain/compare.h"
#include "report/explain/explain.h"

/* The mapping of the file itself that is called so, or NULL. */
static const dfl_mapping *find_mapping(const dfl_session *s, const char *name)
{
    const dfl_program *p = s->program;

    for (uint32_t i = 0; i < p->n_designs; i++)
        if (p->designs[i].from_root && strcmp(name, dfl_sym_text(s->names, p->designs[i].mapping->name)) == 0)
            return p->designs[i].mapping;
    return NULL;
}

static void set_objective(dfl_session *s, dfl_explanation *why, const dfl_objective *o)
{
    static const dfl_dim product = { { [DFL_BASE_ENERGY] = 1, [DFL_BASE_TIME] = 1 } };
    const dfl_result *r = why->item->result;
    dfl_objective plain = *o;

    why->minimize = o->text;
    why->is_substituted = !o->native;
    why->n_terms = dfl_objective_count(o);
    if (why->is_substituted) { /* of figures that are not derived: the product that stands for both */
        plain.n_terms = 0;
        plain.free = false;
    }
    why->objective = why->is_substituted ? "energy * latency" : o->text;
    why->dim = plain.n_terms > 0 ? dfl_check_dim(s->arena, &s->results, why->item->mapping, plain.terms[0])
               : plain.free ? dfl_dim_of(DFL_BASE_TIME) : product;
    why->value = dfl_objective_value(&plain, r->joules, r->seconds);
    dfl_objective_slopes(&plain, 0, r->joules, r->seconds, &why->per_joule, &why->per_second);
}

static const dfl_result *costs_of(dfl_session *s, const dfl_mapping *m)
{
    const dfl_paths *paths = dfl_paths_resolve(dfl_session_after(s), s->sink, s->names, m);

    return paths ? dfl_model_eval(dfl_session_after(s), s->sink, s->names, paths) : NULL;
}

/* Whether there are kinds of mappings to compare. */
static bool has_kinds(const dfl_session *s, const dfl_mapping *m, const dfl_objective *o, dfl_stop stopped)
{
    return m->has_holes && !dfl_mapping_lines_are_written(m) && m->n_choices == 0 && m->n_front == 0 &&
           !dfl_mapping_has_open_branches(m) && o->native && dfl_objective_count(o) == 1 && !s->search.imperfect &&
           s->search.beyond == 0 && stopped == DFL_STOP_NONE;
}

/* Those that `--top 2` lists: the best one, which may be better than the one that is known, and the best of another kind, or
   NULL. */
static const dfl_filled *find_kinds(dfl_session *s, const dfl_mapping *m, dfl_filled *best, dfl_stop *stopped)
{
    static const double rounding = 1 + 1e-9;
    const dfl_search_options options = s->search;
    const size_t first = s->filled.n;

    s->search.top = 2;
    s->known = best->mapping;
    (void)dfl_session_fill(s, m, stopped);
    s->known = NULL;
    s->search = options;
    if (s->filled.n > first && s->filled.at[first].search->value * rounding < best->search->value) {
        dfl_search_summary *search = DFL_NEW(s->arena, dfl_search_summary);
        *search = *s->filled.at[first].search;
        search->top_position = 0;
        *best = s->filled.at[first];
        best->search = search;
    }
    return s->filled.n > first + 1 ? &s->filled.at[first + 1] : NULL;
}

static void set_runner_up(dfl_session *s, dfl_explanation *why, const dfl_filled *other)
{
    dfl_result_item *item = DFL_NEW(s->arena, dfl_result_item);

    *item = (dfl_result_item){ .mapping = other->mapping, .status = DFL_STATUS_FILLED, .search = other->search,
                               .result = costs_of(s, other->mapping) };
    if (item->result)
        why->runner_up = dfl_compare_results(s->arena, &s->results, why->item, item);
    why->runner_up_value = other->search->value;
    why->is_runner_up_proven = other->search->optimal && why->item->search->optimal;
}

/* False after reporting. */
static bool find_why(dfl_session *s, const dfl_mapping *m, dfl_stop *stopped)
{
    dfl_result_item *item = DFL_NEW(s->arena, dfl_result_item);
    dfl_explanation *why = DFL_NEW(s->arena, dfl_explanation);
    const dfl_filled *other = NULL;
    dfl_filled best;
    dfl_arena *arena = s->arena;
    dfl_objective objective;
    const dfl_paths *paths;
    dfl_model *model;

    *item = (dfl_result_item){ .mapping = m, .status = DFL_STATUS_COMPLETE };
    if (!dfl_objective_make(s->sink, s->names, m, &objective))
        return false;
    if (m->has_holes) {
        const dfl_filled *filled = dfl_session_fill(s, m, stopped);

        if (!filled)
            return false;
        best = *filled; /* others are added */
        if (has_kinds(s, m, &objective, *stopped))
            other = find_kinds(s, m, &best, stopped);
        *item = (dfl_result_item){ .mapping = best.mapping, .status = DFL_STATUS_FILLED, .search = best.search };
        arena = dfl_session_after(s);
    }
    paths = dfl_paths_resolve(arena, s->sink, s->names, item->mapping);
    model = paths ? dfl_model_prepare(arena, s->sink, s->names, paths) : NULL;
    item->result = model ? dfl_model_run(model, arena) : NULL;
    if (!item->result)
        return false;
    *why = (dfl_explanation){ .results = &s->results, .item = item };
    why->sensitivity = dfl_sensitivity_find(arena, model, item->result);
    set_objective(s, why, &objective);
    if (other != NULL)
        set_runner_up(s, why, other);
    s->why = why;
    return true;
}

dfl_exit dfl_session_explain(dfl_session *s, const char *name)
{
    dfl_stop stopped = DFL_STOP_NONE;
    const dfl_mapping *m;

    s->why = NULL;
    if (!dfl_session_analyse(s))
        return DFL_EXIT_USAGE;
    if (!s->program || dfl_sink_errors(s->sink) > 0)
        return dfl_session_status(s);
    m = find_mapping(s, name);
    if (m)
        (void)find_why(s, m, &stopped);
    else if (!dfl_session_refuse_template(s, name))
        dfl_session_unknown_mapping(s, name);
    dfl_session_stopped(s, stopped);
    return dfl_session_status(s);
}

const char *dfl_session_explanation(dfl_session *s, dfl_format format, size_t *len)
{
    dfl_strbuf out;

    if (format != DFL_FORMAT_TEXT && format != DFL_FORMAT_JSON)
        return NULL;
    dfl_strbuf_init(&out, s->arena);
    if (s->why && format == DFL_FORMAT_TEXT)
        dfl_explanation_text(&out, s->why);
    else if (s->why)
        dfl_explanation_json(&out, s->why);
    if (len)
        *len = out.len;
    return out.text;
}
