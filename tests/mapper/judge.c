/* The judge of one problem: search, enumeration, oracle. */
#include "tests/mapper/judge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/session.h"
#include "ir/mapping_open.h"
#include "ir/print_mapping.h"
#include "mapper/branches/branches.h"
#include "mapper/problem/einsum_problem.h"
#include "mapper/sizes/size_search.h"
#include "mapper/skeleton/fixed_lines.h"
#include "model/model.h"
#include "oracle/oracle.h"
#include "tests/mapper/enumerate.h"

enum { WHY = sizeof ((judge *)0)->why };

static void enumerate(dfl_session *s, const dfl_mapping *open, const enumerate_options *options, enumerate_result *out)
{
    if (dfl_mapping_lines_are_written(open))
        enumerate_amounts(s->arena, s->names, open, options, out);
    else if (dfl_mapping_all_lines_open(open))
        enumerate_mappings(s->arena, s->names, open, options, out);
    else if (dfl_mapping_has_open_branches(open))
        enumerate_braces(s->arena, s->names, open, options, out);
    else
        enumerate_between(s->arena, s->names, open, options, out);
}

static double value_of(const void *objective, double joules, double seconds)
{
    return dfl_objective_value(objective, joules, seconds);
}

static const char *messages(dfl_session *s)
{
    return dfl_session_diagnostics(s, DFL_FORMAT_SHORT, false, NULL);
}

dfl_session *judge_session(bool imperfect, bool sharing)
{
    const dfl_search_options search = { .size = sizeof search, .imperfect = imperfect, .spread = !sharing };
    dfl_session *s = dfl_session_new(NULL);

    dfl_session_set_search(s, &search);
    return s;
}

bool judge_proves(const char *mapped, char *why, size_t n)
{
    dfl_session *s = dfl_session_new(NULL);
    const dfl_paths *paths = NULL;
    const dfl_result *model = NULL;
    const dfl_oracle_result *oracle = NULL;
    bool fine;

    if (dfl_session_open_text(s, "found.dfl", mapped, strlen(mapped)) == DFL_EXIT_OK &&
        dfl_session_check(s) == DFL_EXIT_OK)
        paths = dfl_paths_resolve(s->arena, s->sink, s->names, s->program->designs[0].mapping);
    if (paths)
        model = dfl_model_eval(s->arena, s->sink, s->names, paths);
    if (model)
        oracle = dfl_oracle_run(s->arena, s->sink, s->names, paths);
    fine = oracle && oracle->wrong == 0 && oracle->broken == 0 && oracle->n_traffic == model->n_traffic;
    snprintf(why, n, "%s", oracle ? "the oracle counts otherwise" : messages(s));
    for (uint32_t i = 0; fine && i < oracle->n_traffic; i++) {
        const dfl_oracle_traffic *o = &oracle->traffic[i];
        const dfl_counts *c = &model->traffic[i].counts;
        fine = o->memory == model->traffic[i].memory && o->tensor == model->traffic[i].tensor && o->serve == c->serve &&
               o->drain == c->drain && o->accumulate == c->accumulate && o->fill == c->fill && o->update == c->update;
    }
    for (uint32_t m = 0; fine && m < model->mapping->system->n_memories; m++)
        fine = oracle->peak_bits[m] == model->memories[m].peak_bits;
    dfl_session_free(s);
    return fine;
}

/* Prints the better mapping as lines of a file. */
static void say_better(dfl_session *s, const dfl_filled *filled, const enumerate_result *r, char *why)
{
    dfl_strbuf text;

    dfl_strbuf_init(&text, s->arena);
    dfl_mapping_print(&text, s->names, r->mapping, DFL_PRINT_INDENT);
    snprintf(why, WHY, "the search says %.12g and at least %.12g, but there is %.12g: %s",
             filled->search->value, filled->search->lower_bound, r->value, text.text);
}

/* Whether the time of a mapping enters its value. */
static bool sees_time(const dfl_mapping *m, const dfl_objective *o)
{
    for (uint32_t i = 0; i < m->system->n_memories; i++)
        if (m->system->memories[i].leakage > 0)
            return true;
    return dfl_objective_value(o, 1, 1) != dfl_objective_value(o, 1, 2);
}

/* Whether a window slides along some operand. */
static bool slides(const dfl_workload *w)
{
    for (uint32_t e = 0; e < w->n_einsums; e++)
        for (uint32_t i = 0; i < w->einsums[e].n_inputs; i++)
            for (uint32_t d = 0; d < w->einsums[e].inputs[i].n_dims; d++)
                if (w->einsums[e].inputs[i].index[d].n_terms > 1)
                    return true;
    return false;
}

/* Judges a search without a result: it reported that no mapping fits, or an error that all fillings of the written
   lines share, or too many parts for an axis. The enumeration must find no mapping. */
static bool fails_to_fit(judge *j, dfl_session *s, enumerate_options *options)
{
    const dfl_mapping *open = s->program->designs[0].mapping;
    enumerate_result r;

    snprintf(j->why, WHY, "not filled: %s", messages(s));
    if (dfl_sink_last(s->sink) == DFL_EVAL_HOLE_KIND && dfl_space_overstates(open->workload))
        return false; /* no report says that no mapping fits */
    if (!dfl_mapping_lines_are_written(open) && dfl_sink_last(s->sink) != DFL_EVAL_INFEASIBLE &&
        dfl_sink_last(s->sink) != DFL_MAP_TOO_MANY_INSTANCES)
        return true;
    options->limit = INFINITY;
    enumerate(s, open, options, &r);
    j->evaluated += r.evaluated;
    j->complete = r.complete;
    return r.mapping != NULL;
}

/* Whether the best mapping with tiles that divide is proven, and no better than `value`. A search by default may find a better one
   with other tiles, which it does not prove. */
static bool proves_perfect_tiles(const judge *j, const char *text, double value)
{
    const dfl_search_options search = { .size = sizeof search, .perfect = true, .spread = !j->sharing };
    dfl_session *s = dfl_session_new(NULL);
    dfl_stop stopped = DFL_STOP_NONE;
    bool fine;

    dfl_session_set_search(s, &search);
    fine = dfl_session_open_text(s, "tiny.dfl", text, strlen(text)) == DFL_EXIT_OK && dfl_session_analyse(s) &&
           dfl_session_fill(s, s->program->designs[0].mapping, &stopped) != NULL && s->filled.at[0].search->optimal &&
           value <= s->filled.at[0].search->value * (1 + 1e-9);
    dfl_session_free(s);
    return fine;
}

/* Whether a climb found the result, outside of the space of which the search has a bound: only the floor bounds it. */
static bool leaves_space(const dfl_search_summary *search)
{
    return search->space != NULL && strstr(search->space, "changes of single lines") != NULL;
}

/* Judges a search with a result: no enumerated mapping may be better. */
static bool fails_to_be_best(judge *j, dfl_session *s, const char *text, enumerate_options *options)
{
    const dfl_filled *filled = &s->filled.at[0];
    bool alone = filled->given->workload->n_einsums == 1 || dfl_mapping_lines_are_written(filled->given) ||
        dfl_mapping_has_open_branches(filled->given), fails;
    double best = j->file || filled->search->optimal ? filled->search->value : filled->search->lower_bound;
    enumerate_result r;

    options->limit = alone ? filled->search->value * (1 + 1e-9) + (filled->search->value == 0) : best * (1 - 1e-9);
    options->start = filled->mapping;
    options->down_to_exchange = sees_time(filled->given, options->objective);
    j->value = filled->search->value;
    j->gap = filled->search->value / filled->search->lower_bound - 1;
    if (isnan(filled->search->lower_bound) && filled->given->workload->n_einsums == 1) {
        snprintf(j->why, WHY, "the search finds %.12g, which is below its own bound", j->value);
        return true;
    }
    /* rows cost more than the search counts */
    if (!options->down_to_exchange && j->gap > 1e-9 && !leaves_space(filled->search) && !slides(filled->given->workload) &&
        dfl_system_without_rows(s->arena, filled->given->system) == filled->given->system &&
        (j->imperfect || filled->given->workload->n_einsums == 1 || !proves_perfect_tiles(j, text, j->value))) {
        snprintf(j->why, WHY, "the search says %.12g and finds %.12g", filled->search->lower_bound, j->value);
        return true;
    }
    enumerate(s, filled->given, options, &r);
    j->evaluated += r.evaluated;
    j->complete = r.complete;
    j->beaten = fmax(1, j->value / r.value);
    fails = r.value < best * (1 - 1e-9);
    if (fails)
        say_better(s, filled, &r, j->why);
    if (alone && r.complete && !fails && r.value > filled->search->value * (1 + 1e-9)) {
        snprintf(j->why, WHY, "the enumeration does not get to %.12g", filled->search->value);
        fails = true;
    }
    return fails;
}

/* The open mapping of the text; NULL without one. */
static const dfl_mapping *read_problem(dfl_session *s, const char *text, dfl_objective *objective)
{
    const dfl_mapping *open;

    if (dfl_session_open_text(s, "tiny.dfl", text, strlen(text)) != DFL_EXIT_OK || !dfl_session_analyse(s) ||
        dfl_sink_errors(s->sink) > 0)
        return NULL;
    open = s->program->designs[0].mapping;
    return open->has_holes && dfl_objective_make(s->sink, s->names, open, objective) ? open : NULL;
}

bool judge_fails(judge *j, const char *text)
{
    dfl_session *s = judge_session(j->imperfect, j->sharing);
    dfl_stop stopped = DFL_STOP_NONE;
    dfl_objective objective;
    enumerate_options options = { .value = value_of, .objective = &objective, .most = j->most,
                                  .structures = j->structures, .seed = j->seed, .imperfect = j->imperfect,
                                  .just_above = j->just_above, .sharing = j->sharing };
    const dfl_mapping *open;
    bool fails = true;

    open = read_problem(s, text, &objective);
    if (!open) {
        snprintf(j->why, WHY, "unread: %s", messages(s));
    } else {
        j->fits = dfl_session_fill(s, open, &stopped) != NULL;
        fails = !j->fits ? fails_to_fit(j, s, &options)
                         : !judge_proves(dfl_session_mapped(s, NULL), j->why, WHY) || fails_to_be_best(j, s, text, &options);
    }
    dfl_session_free(s);
    return fails;
}
