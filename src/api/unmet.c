/* What a search found does not meet what is required: what else may, or why nothing does. */
#include "api/filling.h"

#include <math.h>

#include "mapper/cost.h"
#include "support/deadline.h"
#include "mapper/infeasible.h"
#include "model/model.h"
#include "report/check/check.h"

/* Whether all paths of an expression start with the name. */
static bool is_about(const dfl_val *v, dfl_sym name)
{
    if (v == NULL)
        return true;
    if (v->n_path > 0)
        return v->path[0] == name;
    for (uint32_t i = 0; i < v->n_args; i++)
        if (!is_about(v->args[i], name))
            return false;
    return true;
}

void dfl_filling_require(dfl_filling *f)
{
    const dfl_program *p = f->s->program;
    dfl_sym name = f->item.mapping->name;

    for (uint32_t i = 0; i < p->n_checks; i++) {
        const dfl_check *c = &p->checks[i];

        if (c->kind == DFL_CHECK_REQUIRE &&
            (c->scope == name || (is_about(c->expr, name) && is_about(c->exactly, name) && is_about(c->of, name)))) {
            DFL_PUSH(f->s->arena, &f->required, c);
            DFL_PUSH(f->s->arena, &f->required_at, c->span);
            DFL_PUSH(f->s->arena, &f->asked, dfl_required_read(f->s->names, f->item.mapping, c));
            f->ruled |= f->asked.at[f->asked.n - 1].kind != DFL_REQUIRED_ROOM;
        }
    }
}

dfl_mapping *dfl_filling_copy(dfl_session *s, const dfl_mapping *found, const dfl_mapping *given)
{
    dfl_mapping *out = dfl_mapping_copy(s->arena, found);

    out->system = given->system;
    return out;
}

const dfl_result *dfl_filling_costs(const dfl_filling *f, const dfl_mapping *m)
{
    dfl_arena *after = dfl_session_after(f->s);
    const dfl_paths *paths = dfl_paths_resolve(after, f->sink, f->s->names, m);

    return paths ? dfl_model_eval(after, f->sink, f->s->names, paths) : NULL;
}

/* ---- searches for one figure each ---- */

/* The objective that is one expression over energy and latency. */
static dfl_objective one_of(const dfl_objective *o, const dfl_val *const *term)
{
    dfl_objective out = *o;

    out.terms = term;
    out.n_terms = term != NULL ? 1 : 0;
    out.native = true;
    out.room = DFL_NONE;
    return out;
}

/* The same without what is required, so that nothing but the figure counts; looked at afterwards. */
static dfl_objective freely(const dfl_objective *o, const dfl_val *const *term)
{
    dfl_objective out = one_of(o, term);

    out.n_required = 0;
    return out;
}

dfl_front_alone dfl_filling_alone(const dfl_filling *f, dfl_arena *arena, const dfl_objective *o, bool terms)
{
    dfl_objective *all = DFL_NEW_ARRAY(arena, dfl_objective, (size_t)o->n_terms + f->asked.n + 2);
    uint32_t n = 0, figures = 0;
    bool product = o->free, other = false;

    for (uint32_t i = 0; i < o->n_terms && terms; i++)
        if (!dfl_objective_is_room(o, i)) {
            all[n] = one_of(o, &o->terms[i]);
            product |= dfl_objective_is_product(&all[n++]);
        }
    if (n > 1 && !product)
        all[n++] = one_of(o, NULL);
    for (size_t i = 0; i < f->asked.n; i++) {
        other |= f->asked.at[i].kind == DFL_REQUIRED_OTHER;
        if (f->asked.at[i].kind == DFL_REQUIRED_FIGURE) {
            all[n++] = freely(o, f->asked.at[i].figure);
            figures++;
        }
    }
    if (figures > 1 && !o->free)
        all[n++] = freely(o, NULL);
    return (dfl_front_alone){ all, n, other };
}

/* ---- the best of a front ---- */

/* Whether the terms of a mapping go before those of what there is, which are equal where rounding alone differs. */
static bool goes_before(const dfl_objective *o, const double *a, const double *b)
{
    static const double rounding = 1e-9;

    for (uint32_t i = 0; i < dfl_objective_count(o); i++)
        if (fabs(a[i] - b[i]) > rounding * fabs(b[i]))
            return a[i] < b[i];
    return false;
}

bool dfl_filling_choose(dfl_filling *f, const dfl_mapping *within, const dfl_map_options *options, const dfl_result *best,
                        dfl_filled *out, dfl_search_summary *found, dfl_stop *stopped)
{
    dfl_arena *work = dfl_arena_new(&f->s->budget);
    static const double rounding = 1 + 1e-9;
    dfl_sink *quiet = dfl_sink_new(work, NULL); /* nothing better is no fault */
    const dfl_objective *o = options->objective;
    const double limit = best != NULL ? rounding * dfl_objective_value(o, best->joules, best->seconds) : 0;
    dfl_front_alone alone = dfl_filling_alone(f, work, o, false);
    dfl_map_options left = *options;
    double terms[DFL_OBJECTIVE_TERMS];
    const dfl_front *front;
    bool any;

    dfl_sink_limit(quiet, 0);
    left.evaluations = dfl_map_left(options->evaluations, found->evaluated);
    if (options->time_limit > 0)
        left.time_limit = fmax(options->time_limit - (dfl_deadline_clock() - f->started), 1e-3);
    if (best != NULL)
        alone.n = 0;
    front = dfl_front_find(work, quiet, f->s->names, within, &left, limit, &alone);
    any = front != NULL && front->n > 0;
    found->optimal &= any;
    if (front != NULL)
        *stopped = front->search->stopped;
    if (any) {
        if (best == NULL || !dfl_objective_terms(o, best, terms) || goes_before(o, front->at[0].terms, terms))
            out->mapping = dfl_filling_copy(f->s, front->at[0].mapping, out->given);
        found->evaluated += front->search->evaluated;
        found->pruned += front->search->pruned;
        found->optimal &= limit > 0 && front->exact && front->search->optimal && front->search->stopped == DFL_STOP_NONE;
    }
    dfl_arena_free(work);
    return any;
}

/* ---- nothing does ---- */

/* How what is required and not met could be: less, more, or otherwise. */
typedef enum { CHANGE_NONE, CHANGE_UP, CHANGE_DOWN, CHANGE_OTHER } change;

/* Of a bound, which way it would have to go. */
static change change_of(const dfl_check *c)
{
    const dfl_val *e = c->expr;
    const bool less = e->kind == DFL_VAL_LT || e->kind == DFL_VAL_LE, more = e->kind == DFL_VAL_GT || e->kind == DFL_VAL_GE;

    if (c->exactly != NULL || c->within != NULL || (!less && !more))
        return CHANGE_OTHER;
    if (e->args[1]->kind == DFL_VAL_QUANTITY)
        return less ? CHANGE_UP : CHANGE_DOWN;
    if (e->args[0]->kind == DFL_VAL_QUANTITY)
        return less ? CHANGE_DOWN : CHANGE_UP;
    return CHANGE_OTHER;
}

static const char *change_text(change c)
{
    return c == CHANGE_UP ? "raise the bound" : c == CHANGE_DOWN ? "lower the bound" : "change what is required";
}

/* "264ns was found, nothing is below 196ns", or of what no search makes small "0.4 >= 0.99 is false for the best one that was
   found"; NULL for what that one meets. */
static const char *unmet_text(dfl_filling *f, const dfl_check *check, const dfl_result *costs, const dfl_known *known)
{
    dfl_arena *arena = f->s->arena;
    const char *text;

    f->item.result = costs;
    if (costs != NULL && !dfl_check_is_violated(&f->one, check))
        return NULL;
    text = costs != NULL ? dfl_check_violation(&f->one, check) : NULL;
    if (known->found != NULL)
        text = dfl_arena_printf(arena, "%s was found", known->found);
    else if (costs != NULL)
        text = text == NULL ? "the best one that was found does not meet this"
                            : dfl_arena_printf(arena, "%s for the best one that was found", text);
    if (known->bound == NULL)
        return text;
    return dfl_arena_printf(arena, "%s%snothing is below %s", text != NULL ? text : "", text != NULL ? ", " : "", known->bound);
}

void dfl_filling_unmet(dfl_filling *f, const dfl_filled *out, const dfl_mapping *within, const dfl_map_options *options,
                       dfl_stop stopped)
{
    dfl_session *s = f->s;
    const double deadline = options->time_limit > 0 ? f->started + options->time_limit : 0;
    const dfl_result *costs = out->mapping != NULL ? dfl_filling_costs(f, out->mapping) : NULL;
    dfl_known *known = DFL_NEW_ARRAY(s->arena, dfl_known, f->required.n + 1);
    const char *instead = NULL, *way;
    change all = CHANGE_NONE;
    dfl_diag *d;

    if (stopped == DFL_STOP_NONE &&
        dfl_infeasible_required(f->sink, s->names, within, options, f->asked.at, &s->budget, deadline, known))
        return;
    d = dfl_report(f->sink, DFL_EVAL_HOLE_KIND, out->given->hole_span, "nothing was found that meets what is required of `%s`",
                   dfl_sym_text(s->names, out->given->name));
    dfl_diag_here(f->sink, d, stopped != DFL_STOP_NONE ? "the search was stopped before that"
                                                       : "the search does not know whether there is anything");
    for (size_t i = 0; i < f->required.n; i++) {
        const change one = change_of(f->required.at[i]);
        const char *text = unmet_text(f, f->required.at[i], costs, &known[i]);
        if (text != NULL)
            dfl_diag_label(f->sink, d, f->required_at.at[i], "%s", text);
        else if (costs != NULL)
            continue;
        instead = all == CHANGE_NONE ? known[i].found : NULL;
        all = all == CHANGE_NONE || all == one ? one : CHANGE_OTHER;
    }
    way = instead != NULL ? dfl_arena_printf(s->arena, "allow %s", instead) : change_text(all);
    if (stopped != DFL_STOP_NONE)
        dfl_diag_help(f->sink, d, "raise the limit of the search, or %s", way);
    else
        dfl_diag_help(f->sink, d, "%s, or write some of the lines with `?` for amounts: then `require` restricts the search",
                      way);
}
