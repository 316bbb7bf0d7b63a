/* Filling the holes of mappings. */
#include "api/filling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/mapping_open.h"
#include "ir/path/fan_out.h"
#include "ir/print_check.h"
#include "mapper/holes.h"
#include "mapper/cost.h"
#include "mapper/front.h"
#include "mapper/given.h"
#include "support/deadline.h"
#include "model/model.h"
#include "report/check/check.h"

_Static_assert((int)DFL_SEARCH_ORDER == (int)DFL_BEYOND_ORDER && (int)DFL_SEARCH_RECOMPUTE == (int)DFL_BEYOND_RECOMPUTE &&
                   (int)DFL_SEARCH_SPILL == (int)DFL_BEYOND_SPILL && (int)DFL_SEARCH_SPLIT == (int)DFL_BEYOND_SPLIT &&
                   (int)DFL_SEARCH_PIPELINE == (int)DFL_BEYOND_PIPELINE && (int)DFL_SEARCH_WINDOW == (int)DFL_BEYOND_WINDOW,
               "the kinds that are asked for are those of the search");

void dfl_session_set_search(dfl_session *s, const dfl_search_options *options)
{
    s->search = (dfl_search_options){ 0 };
    memcpy(&s->search, options, options->size < sizeof s->search ? options->size : sizeof s->search);
}

dfl_arena *dfl_session_after(dfl_session *s)
{
    if (!s->after) {
        s->after_budget.memory_limit = s->budget.memory_limit;
        s->after = dfl_arena_new(&s->after_budget);
    }
    return s->after;
}

static bool refuse(const dfl_filling *j, dfl_span span, const char *what, const char *here, const char *help)
{
    const char *name = dfl_sym_text(j->s->names, j->item.mapping->name);
    dfl_diag *d = dfl_report(j->sink, DFL_EVAL_HOLE_KIND, span, "%s `%s`", what, name);

    dfl_diag_here(j->sink, d, "%s", here);
    dfl_diag_help(j->sink, d, "%s", help);
    return false;
}

static bool refuse_front(const dfl_filling *j, const char *here, const char *help)
{
    return refuse(j, j->item.mapping->front_span, "no search finds the front of", here, help);
}

static bool refuse_kinds(const dfl_filling *j, const char *here, const char *help)
{
    return refuse(j, j->item.mapping->hole_span, "no search lists the best kinds of", here, help);
}

/* A figure that is to be small and that is no part of what searches for lines look at: what can be written instead. */
static bool refuse_figure(const dfl_filling *j, const dfl_objective *o, const dfl_mapping *m)
{
    const uint32_t room = dfl_objective_memory(o, m->system, o->other);
    dfl_strbuf text;
    dfl_diag *d;

    dfl_strbuf_init(&text, j->s->arena);
    dfl_val_print(&text, j->s->names, o->other);
    d = dfl_report(j->sink, DFL_EVAL_HOLE_KIND, o->other->span, "no search for the lines of `%s` makes `%s` small",
                   dfl_sym_text(j->s->names, m->name), text.text);
    dfl_diag_here(j->sink, d, "where lines are open only `energy` and `latency` are minimized");
    dfl_diag_label(j->sink, d, m->hole_span, "these are open");
    if (room != DFL_NONE && !dfl_mapping_has_open_branches(m))
        dfl_diag_help(j->sink, d, "`pareto %s, %s;` lists what less room costs, and `require %s <= SIZE;` bounds it; or write "
                      "the lines with `?` for amounts", o->free ? "latency" : "energy", text.text, text.text);
    else
        dfl_diag_help(j->sink, d, "bound it, `require %s <= VALUE;`, and minimize expressions over `energy` and `latency`; or "
                      "write the lines with `?` for amounts", text.text);
    return false;
}

/* Reports a hole for which there is no search; false then. */
static bool is_searched(const dfl_filling *j, const dfl_mapping *m)
{
    if (!dfl_mapping_check_axes(j->sink, j->s->names, m))
        return false;
    if (m->n_front > 0 && m->n_choices > 0)
        return refuse_front(j, "fronts are not searched where a `?` leaves open what is written",
                            "write the tensors or ranks in the place of `?`, or `minimize` what counts most");
    if (m->n_front > 0 && m->n_minimize > 0)
        return refuse_front(j, "`minimize` asks for one best mapping instead",
                            dfl_mapping_lines_are_written(m) ? "leave out `pareto`: amounts alone are open"
                                              : "leave out `minimize`, or `pareto`");
    if (m->n_front > 0 && dfl_mapping_lines_are_written(m))
        return refuse_front(j, "fronts are searched where lines are open, not amounts alone",
                            "put `...;` in the place of lines, or `minimize` what counts most");
    return m->n_choices > 0 || dfl_mapping_lines_are_written(m) || dfl_mapping_all_lines_open(m) ||
           dfl_given_check(j->sink, j->s->names, m);
}

/* ---- figures of a mapping that is looked at ---- */

static bool figure(void *context, const dfl_result *result, const dfl_val *expr, double *out)
{
    dfl_filling *j = context;
    dfl_sink *quiet = j->one.sink;
    size_t reports = dfl_sink_errors(j->sink);

    j->item.result = result;
    if (dfl_check_number(&j->one, j->item.mapping->name, expr, out))
        return true;
    j->one.sink = j->sink;
    (void)dfl_check_number(&j->one, j->item.mapping->name, expr, out);
    j->one.sink = quiet;
    if (dfl_sink_errors(j->sink) == reports)
        dfl_report(j->sink, DFL_EVAL_OBJECTIVE, expr->span, "an objective is over figures of the mapping itself");
    return false;
}

static bool meets(void *context, uint32_t requirement, const dfl_result *result)
{
    dfl_filling *j = context;

    j->item.result = result;
    return !dfl_check_is_violated(&j->one, j->required.at[requirement]);
}

/* What is known of a search before it begins. */
static dfl_search_summary about(dfl_filling *j, const dfl_objective *o)
{
    static const dfl_dim product = { { [DFL_BASE_ENERGY] = 1, [DFL_BASE_TIME] = 1 } };
    dfl_session *s = j->s;
    dfl_search_summary out = { .objective = o->text, .first_term = o->text, .time_limit = s->search.seconds,
                             .most_evaluations = s->search.evaluations,
                             .dim = o->free ? dfl_dim_of(DFL_BASE_TIME) : product };

    if (o->n_terms > 0)
        out.dim = dfl_check_dim(s->arena, &j->one, j->item.mapping, o->terms[0]);
    if (o->n_terms > 1) {
        dfl_strbuf first;
        dfl_strbuf_init(&first, s->arena);
        dfl_val_print(&first, s->names, o->terms[0]);
        out.first_term = first.text;
    }
    return out;
}

/* The search for amounts of loops. */
static bool fill_amounts(dfl_filling *j, const dfl_objective *o, dfl_filled *out, dfl_stop *stopped)
{
    dfl_session *s = j->s;
    const dfl_holes_options options = { .objective = o, .imperfect = j->limits.imperfect, .progress = j->meter,
                                        .most_evaluations = j->limits.evaluations > 0 ? j->limits.evaluations
                                                                                      : DFL_HOLES_EVALUATIONS,
                                        .time_limit = j->limits.seconds, .known = j->known };
    const dfl_holes_result *r = dfl_holes_run(s->arena, j->sink, s->names, out->given, &options);
    dfl_search_summary *found = DFL_NEW(s->arena, dfl_search_summary);

    if (!r)
        return false;
    *found = about(j, o);
    found->value = r->objective;
    found->lower_bound = r->lower_bound;
    found->optimal = r->optimal;
    found->evaluated = r->evaluated;
    found->pruned = r->pruned;
    found->refused = r->refused;
    found->space = r->space;
    found->most_evaluations = options.most_evaluations;
    out->mapping = r->mapping;
    out->search = found;
    *stopped = r->stopped;
    if (*stopped == DFL_STOP_NONE && !r->optimal && r->evaluated >= options.most_evaluations)
        *stopped = DFL_STOP_EVALUATIONS;
    if (!r->optimal)
        found->unproven = dfl_session_unproven(s, out->given, *stopped, NULL, (dfl_doubts){ .refused = r->refused });
    return true;
}

/* Loops that einsums may share. */
static uint32_t max_fused(const dfl_filling *j)
{
    return j->limits.max_fused > 0 ? j->limits.max_fused - 1 : DFL_NONE;
}

/* The search for all lines. What it found is evaluated by the model: where that tells more than was searched for, the
   difference is the gap. */
static bool fill_lines(dfl_filling *j, const dfl_objective *o, dfl_filled *out, dfl_stop *stopped)
{
    static const double rounding = 1 + 1e-9;
    dfl_session *s = j->s;
    const dfl_map_options options = { .objective = o, .imperfect = j->limits.imperfect, .max_fused = max_fused(j),
                                      .jobs = j->limits.jobs, .time_limit = j->limits.seconds, .progress = j->meter,
                                      .evaluations = j->limits.evaluations, .beyond = j->limits.beyond,
                                      .spread = j->limits.spread,
                                      .certificate = j->limits.certificate && !j->limits.imperfect && !j->limits.beyond &&
                                                     j->limits.max_fused == 0 && o->rooms == NULL };
    const dfl_mapping *within = dfl_required_within(s->arena, out->given, o->rooms);
    dfl_search_summary *found = DFL_NEW(s->arena, dfl_search_summary);
    const dfl_map_result *r;
    dfl_map_result known = { 0 };
    const dfl_result *costs;
    dfl_arena *work;
    double counted;
    bool met, equal;

    if (!o->native)
        return refuse_figure(j, o, out->given);
    work = dfl_arena_new(&s->budget);
    j->started = dfl_deadline_clock();
    r = dfl_mapper_run(work, j->sink, s->names, within, &options);
    if (r) {
        out->mapping = dfl_filling_copy(s, r->mapping, out->given);
        *stopped = r->stopped;
        *found = about(j, o);
        found->lower_bound = r->lower_bound;
        found->optimal = r->optimal;
        found->evaluated = r->evaluated;
        found->pruned = r->pruned;
        found->space = dfl_arena_copy(s->arena, r->space, strlen(r->space));
        found->max_fused = j->limits.max_fused;
        known = *r;
        if (r->certificate)
            known.certificate = dfl_arena_copy(s->arena, r->certificate, strlen(r->certificate));
    }
    dfl_arena_free(work);
    costs = r ? dfl_filling_costs(j, out->mapping) : NULL;
    if (!costs)
        return false;
    met = dfl_objective_met(o, costs, NULL);
    if (*stopped == DFL_STOP_NONE && (!met || o->n_terms > 1)) {
        met |= dfl_filling_choose(j, within, &options, met ? costs : NULL, out, found, stopped);
        costs = dfl_filling_costs(j, out->mapping);
    }
    if (!met || !costs) {
        dfl_filling_unmet(j, out, within, &options, *stopped);
        return false;
    }
    found->value = dfl_objective_value(o, costs->joules, costs->seconds);
    found->optimal &= found->value <= dfl_value_times(found->lower_bound, rounding);
    found->lower_bound = found->lower_bound < found->value ? found->lower_bound : found->value;
    counted = dfl_objective_value(o, costs->joules, known.seconds);
    equal = found->value <= dfl_value_times(found->lower_bound, rounding);
    if (!found->optimal)
        found->unproven = dfl_session_unproven(s, out->given, *stopped, &known,
                                               (dfl_doubts){ .waits = !equal && found->value > dfl_value_times(counted, rounding),
                                                             .ruled = j->ruled, .later = equal && o->n_terms > 1 });
    out->search = found;
    dfl_session_certify(s, out, o, &known, costs);
    return true;
}

/* Whether a declaration of the file, or a mapping that was found, is called so. */
static bool is_taken(const dfl_session *s, dfl_sym name)
{
    const dfl_program *p = s->program;
    bool taken = false;

    for (uint32_t i = 0; i < p->n_designs; i++)
        taken |= p->designs[i].mapping->name == name;
    for (uint32_t i = 0; i < p->n_templates; i++)
        taken |= p->templates[i].name == name;
    for (uint32_t i = 0; i < p->n_workloads; i++)
        taken |= p->workloads[i].workload->name == name;
    for (uint32_t i = 0; i < p->n_systems; i++)
        taken |= p->systems[i]->name == name;
    for (size_t i = 0; i < s->filled.n; i++)
        taken |= s->filled.at[i].mapping->name == name;
    return taken;
}

/* Adds a mapping of several: NAME_1, NAME_2... but for what is called so, from number `*next` on; 0: NAME itself. */
static void add_filled(dfl_session *s, const dfl_mapping *given, const dfl_mapping *found,
                       const dfl_search_summary *search, uint32_t *next)
{
    dfl_mapping *named = dfl_filling_copy(s, found, given);

    named->name = given->name;
    for (bool taken = *next > 0; taken; taken = is_taken(s, named->name), ++*next)
        named->name = dfl_intern_z(s->names, dfl_arena_printf(s->arena, "%s_%u", dfl_sym_text(s->names, given->name), *next));
    if (*next == 0)
        *next = 2;
    named->n_front = 0;
    DFL_PUSH(s->arena, &s->filled, ((dfl_filled){ .given = given, .mapping = named, .search = search }));
}

/* What the searches for several mappings tell. */
static dfl_search_summary about_front(dfl_filling *j, const dfl_objective *o, const dfl_front *front)
{
    dfl_search_summary out = about(j, o);

    out.lower_bound = NAN;
    out.value = front->at[0].terms[0];
    out.optimal = front->exact && front->search->optimal && front->search->stopped == DFL_STOP_NONE;
    out.evaluated = front->search->evaluated;
    out.pruned = front->search->pruned;
    out.max_fused = j->limits.max_fused;
    if (!out.optimal)
        out.unproven = dfl_session_unproven(j->s, j->item.mapping, front->search->stopped, front->search,
                                            (dfl_doubts){ .several = true, .ruled = front->lossy });
    return out;
}

/* All mappings that no other undercuts in what `pareto` names, least of the first of them first. */
static bool fill_front(dfl_filling *j, const dfl_objective *o, const dfl_mapping *m, dfl_stop *stopped)
{
    dfl_session *s = j->s;
    const dfl_map_options options = { .objective = o, .max_fused = max_fused(j), .spread = j->limits.spread,
                                      .jobs = j->limits.jobs,
                                      .time_limit = j->limits.seconds, .progress = j->meter,
                                      .evaluations = j->limits.evaluations };
    const dfl_mapping *within = dfl_required_within(s->arena, m, o->rooms);
    const size_t errors = dfl_sink_errors(j->sink);
    dfl_search_summary *found = DFL_NEW(s->arena, dfl_search_summary);
    dfl_front_alone alone;
    const dfl_front *front;
    uint32_t next = 1;
    dfl_arena *work;
    bool any;

    if (!o->native && o->room == DFL_NONE)
        return refuse_front(j, "fronts are over `energy`, `latency` and the peak of one memory",
                            "name expressions over `energy` and `latency`, and the peak of one memory, as in `pareto latency, "
                            "peak(sram);`; what else counts can be bounded by `require`");
    if (!o->native && dfl_mapping_has_open_branches(m))
        return refuse_front(j, "lines of written branches are not compared by the peak of a memory",
                            "name expressions over `energy` and `latency` alone, and bound the room: `require peak(M) <= SIZE;`");
    work = dfl_arena_new(&s->budget);
    alone = dfl_filling_alone(j, work, o, true);
    j->started = dfl_deadline_clock();
    front = dfl_front_find(work, j->sink, s->names, within, &options, 0, &alone);
    any = front != NULL && front->n > 0;
    if (front != NULL)
        *stopped = front->search->stopped;
    if (any) {
        *found = about_front(j, o, front);
        found->objective = dfl_arena_printf(s->arena, "pareto %s", m->front_text);
        found->is_of_front = true;
        found->space = dfl_arena_printf(s->arena, "a front of %u; %s", front->n, front->search->space);
    }
    for (uint32_t i = 0; any && i < front->n; i++)
        add_filled(s, m, front->at[i].mapping, found, &next);
    dfl_arena_free(work);
    if (!any && j->required.n > 0 && dfl_sink_errors(j->sink) == errors)
        dfl_filling_unmet(j, &(dfl_filled){ .given = m }, within, &options, *stopped);
    return any;
}

/* The best mapping of each of the best kinds, best first, which has the name of the one with holes. */
static bool fill_kinds(dfl_filling *j, const dfl_objective *o, const dfl_mapping *m, dfl_stop *stopped)
{
    dfl_session *s = j->s;
    const dfl_map_options options = { .objective = o, .max_fused = max_fused(j), .spread = j->limits.spread,
                                      .jobs = j->limits.jobs,
                                      .time_limit = j->limits.seconds, .progress = j->meter,
                                      .evaluations = j->limits.evaluations };
    const dfl_mapping *within = dfl_required_within(s->arena, m, o->rooms);
    const size_t errors = dfl_sink_errors(j->sink);
    const dfl_front *front;
    const char *space;
    double bound = 0;
    uint32_t next = 0;
    dfl_arena *work;
    bool any;

    if (!o->native)
        return refuse_figure(j, o, m);
    if (o->n_terms > 1)
        return refuse_kinds(j, "`--top` ranks kinds by one figure, and this mapping minimizes several",
                            "`minimize` one expression over `energy` and `latency`, or leave `--top` out");
    if (dfl_mapping_has_open_branches(m))
        return refuse_kinds(j, "`--top` is for mappings without written branches", "leave `--top` out, or open all lines");
    work = dfl_arena_new(&s->budget);
    j->started = dfl_deadline_clock();
    front = dfl_front_kinds(work, j->sink, s->names, within, &options, j->limits.top, s->known);
    if (front != NULL)
        bound = front->search->lower_bound;
    if (front != NULL && front->n == 0 && front->search->stopped == DFL_STOP_NONE) { /* one that meets what is required */
        const dfl_front_alone alone = dfl_filling_alone(j, work, o, false);
        front = dfl_front_find(work, j->sink, s->names, within, &options, 0, &alone);
    }
    any = front != NULL && front->n > 0;
    if (front != NULL)
        *stopped = front->search->stopped;
    space = any ? dfl_arena_printf(s->arena, "kinds by units, keeps, exchanges and ranks of shared loops; %s",
                                   front->search->space) : NULL;
    for (uint32_t i = 0; any && i < front->n; i++) {
        dfl_search_summary *found = DFL_NEW(s->arena, dfl_search_summary);
        *found = about_front(j, o, front);
        found->space = space;
        found->top_value = found->value;
        found->value = front->at[i].terms[0];
        found->top_position = i + 1;
        found->lower_bound = found->optimal ? found->value : fmin(found->value, bound);
        add_filled(s, m, front->at[i].mapping, found, &next);
    }
    dfl_arena_free(work);
    if (!any && j->required.n > 0 && dfl_sink_errors(j->sink) == errors)
        dfl_filling_unmet(j, &(dfl_filled){ .given = m }, within, &options, *stopped);
    return any;
}

/* "choice 17 of 512, 40 s left: search", for a mapping of which choices are searched. */
static const char *phase_text(const dfl_filling *j, const char *phase, char *text, size_t room)
{
    const double used = dfl_deadline_clock() - j->begun;

    if (j->choices == 0)
        return phase;
    if (j->choice == 0)
        snprintf(text, room, "choice 1 of %u, %s", j->choices, phase);
    else
        snprintf(text, room, "choice %u of %u, %.0f s left, %s", j->choice + 1, j->choices,
                 used / j->choice * (j->choices - j->choice), phase);
    return text;
}

static void tell(void *context, const dfl_progress_state *now)
{
    dfl_filling *j = context;
    char phase[100];
    const dfl_progress p = { .mapping = dfl_sym_text(j->s->names, j->item.mapping->name), .evaluated = now->evaluated,
                             .phase = phase_text(j, now->phase, phase, sizeof phase), .best = now->best, .bound = now->bound };

    j->told = true;
    j->limits.progress(j->limits.progress_context, &p);
}

/* The search for what is open in a mapping without choices of lines. */
static bool fill_open(dfl_filling *j, const dfl_objective *o, dfl_filled *out, dfl_stop *stopped)
{
    if (!is_searched(j, out->given))
        return false;
    return dfl_mapping_lines_are_written(out->given) ? fill_amounts(j, o, out, stopped) : fill_lines(j, o, out, stopped);
}

static const dfl_filled *fill(dfl_session *s, const dfl_mapping *m, dfl_stop *stopped)
{
    size_t first = s->filled.n;
    dfl_mapping compared = *m;
    dfl_progress_meter meter;
    dfl_filling j = { .s = s, .sink = s->sink, .limits = s->search, .meter = &meter,
                      .item = { .mapping = m, .status = DFL_STATUS_FILLED } };
    dfl_filled filled = { .given = m };
    dfl_objective objective;
    dfl_arena *texts;
    bool found, several = j.limits.top > 0 && m->n_front == 0 && !dfl_mapping_lines_are_written(m) && m->n_choices == 0;

    *stopped = DFL_STOP_NONE;
    if (m->n_front > 0) {
        compared.minimize = m->front;
        compared.n_minimize = m->n_front;
    }
    if (!is_searched(&j, m) || !dfl_objective_make(j.sink, s->names, &compared, &objective))
        return NULL;
    texts = dfl_arena_new(&s->budget);
    if (!dfl_check_objective_types(texts, &s->results, m)) {
        dfl_arena_free(texts);
        return NULL;
    }
    dfl_session_find_unused(s, m);
    j.one = s->results;
    j.one.sink = dfl_sink_new(texts, s->sources);
    j.one.items = &j.item;
    j.one.n_items = 1;
    dfl_sink_limit(j.one.sink, 0);
    dfl_filling_require(&j);
    dfl_progress_open(&meter, j.limits.progress ? tell : NULL, &j);
    objective.figure = figure;
    objective.meets = meets;
    objective.required = j.required_at.at;
    objective.n_required = (uint32_t)j.required_at.n;
    objective.rooms = dfl_required_rooms(s->arena, m->system, j.asked.at, objective.n_required);
    objective.context = &j;
    if (m->n_front > 0)
        found = fill_front(&j, &objective, m, stopped);
    else if (several)
        found = fill_kinds(&j, &objective, m, stopped);
    else if (m->n_choices > 0)
        found = dfl_filling_each(&j, &objective, fill_open, &filled, stopped);
    else
        found = fill_open(&j, &objective, &filled, stopped);
    dfl_arena_free(texts);
    if (j.told)
        j.limits.progress(j.limits.progress_context, NULL);
    if (found && m->n_front == 0 && !several)
        DFL_PUSH(s->arena, &s->filled, filled);
    return found ? &s->filled.at[first] : NULL;
}

/* With a limit on time a search has none on steps, unless one was asked for. */
const dfl_filled *dfl_session_fill(dfl_session *s, const dfl_mapping *m, dfl_stop *stopped)
{
    const uint64_t limit = s->budget.steps_limit, used = s->budget.steps_used;
    const bool free = s->search.seconds > 0 && !s->counted;
    const dfl_filled *out;

    if (free)
        s->budget.steps_limit = 0;
    out = fill(s, m, stopped);
    s->budget.steps_limit = limit;
    if (free)
        s->budget.steps_used = used;
    return out;
}

dfl_exit dfl_session_map(dfl_session *s, const char *only)
{
    bool any = false, open = false;

    s->nothing_open = false;
    if (!dfl_session_analyse(s))
        return DFL_EXIT_USAGE;
    if (!s->program || dfl_sink_errors(s->sink) > 0)
        return dfl_session_status(s);
    dfl_session_preview_checks(s);
    if (dfl_sink_errors(s->sink) > 0 || !dfl_session_may_certify(s, only))
        return dfl_session_status(s);
    for (uint32_t i = 0; i < s->program->n_designs && dfl_budget_ok(&s->budget); i++) {
        const dfl_mapping *m = s->program->designs[i].mapping;
        dfl_stop stopped = DFL_STOP_NONE;

        if (!s->program->designs[i].from_root || (only && strcmp(only, dfl_sym_text(s->names, m->name)) != 0))
            continue;
        any = true;
        open |= m->has_holes;
        if (m->has_holes)
            (void)dfl_session_fill(s, m, &stopped);
        dfl_session_stopped(s, stopped);
    }
    if (!any && s->budget.why == DFL_STOP_NONE && !dfl_session_refuse_template(s, only) && only)
        dfl_session_unknown_mapping(s, only);
    s->nothing_open = !open && dfl_sink_errors(s->sink) == 0;
    return dfl_session_status(s);
}
