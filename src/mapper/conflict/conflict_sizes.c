/* Why no amounts fit: the search for amounts itself is asked. */
#include "ir/path/path.h"
#include "ir/unit_text.h"
#include "mapper/conflict/conflict_internal.h"
#include "model/model.h"

/* Choices that the questions why nothing fits may look at. */
enum { MOST_LOOKS = 1 << 20 };

static dfl_answer answer(void *context, const dfl_mapping *m, const bool *waived, uint32_t measured, int64_t *bits, dfl_span *at)
{
    return dfl_size_search_ask(context, m, waived, measured, bits, at);
}

/* All requirements of an objective but one. */
typedef struct { const dfl_objective *all; uint32_t but; } others;

static bool meets_others(void *context, uint32_t requirement, const dfl_result *result)
{
    const others *o = context;

    return requirement == o->but || o->all->meets(o->all->context, requirement, result);
}

static bool figure_of(void *context, const dfl_result *result, const dfl_val *expr, double *out)
{
    const others *o = context;

    return o->all->figure != NULL && o->all->figure(o->all->context, result, expr, out);
}

/* What the figure of requirement `i` can be at least if all other requirements hold, in words; NULL if the requirement bounds
   nothing from above that a search can minimize, or if nothing meets the others. */
static const char *least(void *context, dfl_arena *arena, const dfl_mapping *m, uint32_t i, dfl_instead *instead)
{
    const dfl_size_search_question *q = context;
    const dfl_required *r = &q->request->objective->asked[i];
    others rest = { q->request->objective, i };
    dfl_arena *work = dfl_arena_new(q->session);
    dfl_sink *quiet = dfl_sink_quiet(work);
    dfl_size_search_conflict nothing;
    dfl_search_request request = { .limits = { .evaluations = MOST_LOOKS }, .space = q->request->space };
    const dfl_size_search_result *found = NULL;
    const char *text = NULL;
    dfl_mapping like = *m;
    dfl_objective o;

    like.minimize = r->figure;
    like.n_minimize = 1;
    if (r->figure != NULL && dfl_objective_make(quiet, q->names, &like, &o)) {
        o.figure = figure_of;
        o.meets = meets_others;
        o.required = rest.all->required;
        o.n_required = rest.all->n_required;
        o.rooms = rest.all->rooms;
        o.context = &rest;
        request.objective = &o;
        found = dfl_size_search_run(work, quiet, q->names, m, &request, &nothing);
    }
    if (found != NULL && found->mapping != NULL) {
        dfl_strbuf value;
        dfl_strbuf_init(&value, arena);
        dfl_quantity_print(&value, dfl_quantity_real(found->objective, r->most.dim));
        *instead = (dfl_instead){ value.text, found->objective / r->most.real, found->optimal };
        text = dfl_arena_printf(arena, found->optimal ? "the least that can be met is %s"
                                                      : "with everything else unchanged, %s was found", value.text);
    }
    dfl_arena_free(work);
    return text;
}

static dfl_diag *report_none(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, dfl_span span, const char *what)
{
    return dfl_report(sink, DFL_EVAL_INFEASIBLE, span, "no tile sizes for the open loops of `%s` %s",
                      dfl_sym_text(names, m->name), what);
}

/* Whether the first filling that is not legal lets a consumer read early. No amount of an open loop explains this. */
static bool is_read_early(dfl_arena *arena, const dfl_intern *names, const dfl_size_search_conflict *nothing)
{
    dfl_sink *quiet = dfl_sink_quiet(arena);

    return nothing->illegal > 0 && !dfl_paths_resize(arena, quiet, names, nothing->paths) &&
           dfl_sink_last(quiet) == DFL_MAP_CONSUMED_EARLY;
}

void dfl_conflict_sizes(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m,
                        const dfl_search_request *request, const dfl_size_search_conflict *nothing)
{
    dfl_budget none = { 0 }, *session = dfl_arena_budget(arena) != NULL ? dfl_arena_budget(arena) : &none;
    uint64_t looks = MOST_LOOKS;
    dfl_size_search_question asked = { .session = session, .names = names, .request = request, .looks = &looks };
    const dfl_question question = { .answer = answer, .least = least, .context = &asked,
                                    .required = request->objective->required, .n_required = request->objective->n_required };
    dfl_diag *d;

    if (nothing->refused > 0) { /* the model says why */
        if (dfl_paths_resize(arena, sink, names, nothing->paths))
            (void)dfl_model_eval(arena, sink, names, nothing->paths);
    } else if (!is_read_early(arena, names, nothing) && dfl_conflict_set_report(sink, names, m, &question, session)) {
        return;
    } else if (nothing->illegal > 0) {
        d = report_none(sink, names, m, m->hole_span, "are legal");
        dfl_diag_note(sink, d, "the errors of the first choice are also reported");
        (void)dfl_paths_resize(arena, sink, names, nothing->paths);
    } else if (nothing->line == NULL) {
        (void)report_none(sink, names, m, m->hole_span, "fit");
    } else {
        d = report_none(sink, names, m, nothing->line->amount_span, "fit the other loops");
        dfl_diag_here(sink, d, "every choice here conflicts with another loop over `%s` or on its axis",
                      dfl_sym_text(names, m->workload->ranks[nothing->line->rank].name));
        dfl_diag_help(sink, d, "leave one of the other loops open, too");
    }
}
