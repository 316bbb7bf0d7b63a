#include "solve/certificate.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "certify/certify.h"
#include "ir/mapping_open.h"
#include "ir/print.h"
#include "ir/print_mapping.h"
#include "model/model.h"
#include "support/deadline.h"
#include "support/hash.h"
#include "support/json_write.h"
#include "support/limits.h"

/* Callback `value` of dfl_certify_task: the first term of a native objective. */
static double value_of(const void *objective, double joules, double seconds)
{
    return dfl_objective_value(objective, joules, seconds);
}

/* Writes the digest of a request as 32 hexadecimal digits and a NUL. The digest covers workload, system, mapping with
   holes, and objective. */
static void write_digest(const dfl_solver *solver, const dfl_mapping *m, const char *objective, char out[33])
{
    dfl_strbuf text;

    dfl_strbuf_init(&text, solver->arena);
    dfl_workload_print(&text, solver->names, m->workload);
    dfl_system_print(&text, solver->names, m->system);
    dfl_mapping_print(&text, solver->names, m, DFL_PRINT_INDENT);
    dfl_strbuf_z(&text, objective);
    dfl_digest(text.text, text.len, out);
}

static void write_text(dfl_json_writer *w, const char *key, const char *text)
{
    dfl_json_key(w, key);
    dfl_json_string(w, text);
}

static void write_number(dfl_json_writer *w, const char *key, double value)
{
    dfl_json_key(w, key);
    dfl_json_double(w, value);
}

/* Writes the space in which the lower bound holds. The best mapping may lie outside of it. */
static void write_space(dfl_json_writer *w, const char *text)
{
    dfl_json_key(w, "space");
    dfl_json_object(w);
    write_text(w, "text", text);
    write_text(w, "tiles", "divide");
    write_text(w, "spatial", "sharing");
    dfl_json_key(w, "shared_loops");
    dfl_json_int(w, DFL_MAP_SHARED_LOOPS);
    dfl_json_key(w, "keeps");
    dfl_json_int(w, DFL_MAP_KEEPS);
    dfl_json_end_object(w);
}

/* Writes the head of a certificate up to its space. */
static void write_head(const dfl_solver *solver, const dfl_filled *filled, const dfl_objective *objective, dfl_json_writer *w)
{
    char digest[33];

    write_digest(solver, filled->given, objective->text, digest);
    dfl_json_object(w);
    write_text(w, "schema", DFL_CERTIFICATE);
    write_text(w, "dflc", DFL_VERSION);
    write_text(w, "mapping", dfl_sym_text(solver->names, filled->given->name));
    write_text(w, "digest", digest);
    write_text(w, "objective", objective->text);
}

/* Writes the claims behind the space and ends the certificate. `search` is the JSON of the search. */
static void write_claims(const dfl_solver *solver, const dfl_filled *filled, double lower_bound, const dfl_result *costs,
                         const char *search, dfl_json_writer *w)
{
    const double value = filled->search->value;
    dfl_strbuf best;

    dfl_strbuf_init(&best, solver->arena);
    dfl_mapping_print(&best, solver->names, filled->mapping, DFL_PRINT_INDENT);
    write_number(w, "value", value);
    write_number(w, "energy", costs->joules);
    write_number(w, "time", costs->seconds);
    write_number(w, "lower_bound", fmin(lower_bound, value));
    dfl_json_key(w, "optimal");
    dfl_json_bool(w, value <= lower_bound * (1 + DFL_VALUE_TOLERANCE));
    write_text(w, "best", best.text);
    dfl_json_key(w, "search");
    dfl_json_raw(w, search);
    dfl_json_end_object(w);
}

void dfl_certificate_add(const dfl_solver *solver, dfl_filled *filled, const dfl_objective *objective,
                           const dfl_search_result *found, const dfl_result *costs)
{
    dfl_json_writer w;
    dfl_strbuf out;

    if (!found->certificate)
        return;
    dfl_strbuf_init(&out, solver->arena);
    dfl_json_start(&w, &out, 1);
    write_head(solver, filled, objective, &w);
    write_space(&w, dfl_mapper_certified_space(solver->arena, filled->given));
    write_claims(solver, filled, found->certified, costs, found->certificate, &w);
    dfl_strbuf_char(&out, '\n');
    filled->certificate = out.text;
}

void dfl_certificate_add_plan(const dfl_solver *solver, dfl_filled *filled, const dfl_objective *objective,
                              const char *divisions, const dfl_result *costs)
{
    dfl_json_writer w;
    dfl_strbuf out;

    dfl_strbuf_init(&out, solver->arena);
    dfl_json_start(&w, &out, 1);
    write_head(solver, filled, objective, &w);
    dfl_json_key(&w, "space");
    dfl_json_object(&w);
    write_text(&w, "text", solver->options->imperfect ? DFL_PLAN_SPACE_IMPERFECT : DFL_PLAN_SPACE);
    dfl_json_end_object(&w);
    write_claims(solver, filled, filled->search->lower_bound, costs, divisions, &w);
    dfl_strbuf_char(&out, '\n');
    filled->certificate = out.text;
}

bool dfl_certificate_refuse(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping)
{
    dfl_diag *d = dfl_report(sink, DFL_CERT_NONE, mapping->span, "the search for `%s` has no certificate",
                             dfl_sym_text(names, mapping->name));

    dfl_diag_help(sink, d, "a certificate exists only for a mapping whose lines are all open (`...`), with tiles that "
                  "divide, without `--max-fused`, `--top`, `--spread`, `--beyond` and required peaks of memories, and for a "
                  "workload without `where`, `over`, gathers and `carrying`, on a system without `access`; or for a plan over "
                  "chips with open amounts, an objective over latency and energy, no requirement, and a lower bound of every "
                  "combination");
    return false;
}

/* The clauses of a space that another space lacks, separated by "; ". */
static const char *clauses_beyond(dfl_arena *arena, const char *space, const char *other)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, arena);
    for (const char *at = space, *end; *at != '\0'; at = *end == '\0' ? end : end + 2) {
        const char *clause;
        end = strstr(at, "; ") ? strstr(at, "; ") : at + strlen(at);
        clause = dfl_arena_copy(arena, at, (size_t)(end - at));
        if (strstr(other, clause) == NULL)
            dfl_strbuf_printf(&out, "%s%s", out.len > 0 ? "; " : "", clause);
    }
    return out.len > 0 ? out.text : "nothing else";
}

/* Warns if the search with a certificate looks at fewer mappings than the search without one. */
static void warn_narrower(const dfl_solver *solver, const dfl_mapping *m)
{
    const char *with = dfl_mapper_certified_space(solver->arena, m),
               *without = dfl_mapper_default_space(solver->arena, solver->names, m, solver->options->perfect);
    dfl_diag *d;

    if (strcmp(with, without) == 0)
        return;
    d = dfl_report(solver->sink, DFL_CERT_NARROWER, m->span,
                   "the search for `%s` is narrower with `--certificate` than without", dfl_sym_text(solver->names, m->name));
    dfl_diag_note(solver->sink, d, "with `--certificate`: %s", clauses_beyond(solver->arena, with, without));
    dfl_diag_note(solver->sink, d, "without: %s", clauses_beyond(solver->arena, without, with));
}

bool dfl_certificate_is_possible(const dfl_solver *solver, const char *only)
{
    const dfl_search_options *o = solver->options;
    const dfl_mapping *first = NULL;

    for (uint32_t i = 0; i < solver->program->n_designs && o->certificate; i++) {
        const dfl_mapping *m = solver->program->designs[i].mapping;
        dfl_diag *d;

        if (!m->has_holes || !dfl_design_is_selected(&solver->program->designs[i], solver->names, only))
            continue;
        if (first) {
            d = dfl_report(solver->sink, DFL_CERT_NONE, m->span, "a certificate is for one mapping");
            dfl_diag_label(solver->sink, d, first->span, "this mapping has holes, too");
            dfl_diag_help(solver->sink, d, "select one with `--name`");
            return false;
        }
        first = m;
    }
    if (first == NULL)
        return true;
    if (dfl_mapping_is_plan(first) && first->n_front == 0 && o->top == 0)
        return true;
    if (!dfl_mapping_lines_are_written(first) && dfl_mapping_all_lines_open(first) && first->n_front == 0 &&
        dfl_system_without_rows(solver->arena, first->system) == first->system && first->n_choices == 0 && !o->imperfect &&
        o->beyond == 0 && o->max_fused == 0 && o->top == 0 && !o->spread) {
        warn_narrower(solver, first);
        return true;
    }
    return dfl_certificate_refuse(solver->sink, solver->names, first);
}

/* ---- the check ---- */

/* Whether the words of the space are those of the space that the certificate is checked for; false after reporting. */
static bool has_its_space(const dfl_solver *solver, const dfl_mapping *asked, const dfl_claims *claims)
{
    const bool is_plan = dfl_mapping_is_plan(asked);
    const char *space = is_plan ? DFL_PLAN_SPACE : dfl_mapper_certified_space(solver->arena, asked);
    dfl_diag *d;

    if (strcmp(claims->space, space) == 0 || (is_plan && strcmp(claims->space, DFL_PLAN_SPACE_IMPERFECT) == 0))
        return true;
    d = dfl_report(solver->sink, DFL_CERT_OTHER, asked->span, "`%s` describes another search space than it proves", claims->file);
    dfl_diag_here(solver->sink, d, "its space: %s", space);
    dfl_diag_note(solver->sink, d, "the certificate has: %s", claims->space);
    return false;
}

const dfl_mapping *dfl_certificate_find_mapping(const dfl_solver *solver, const dfl_claims *claims, dfl_objective *objective)
{
    const dfl_mapping *asked = dfl_program_find_mapping(solver->program, solver->names, claims->mapping);
    char digest[33];
    dfl_diag *d;

    if (!asked) {
        dfl_report(solver->sink, DFL_CERT_OTHER, (dfl_span){ 0, 0 },
                   "`%s` is for a mapping `%s` with holes, which this file does not declare", claims->file, claims->mapping);
        return NULL;
    }
    if (!asked->has_holes) {
        d = dfl_report(solver->sink, DFL_CERT_OTHER, asked->span, "`%s` is for a mapping `%s` with holes, which are filled in "
                       "this one", claims->file, claims->mapping);
        dfl_diag_here(solver->sink, d, "all lines are written");
        dfl_diag_help(solver->sink, d, "check it with the file that still has the holes: the certificate proves that no "
                      "other lines in place of `...` are better than the lines found");
        return NULL;
    }
    if (!dfl_objective_make(solver->sink, solver->names, asked, objective))
        return NULL;
    write_digest(solver, asked, objective->text, digest);
    if (strcmp(claims->digest, digest) != 0 || strcmp(claims->objective, objective->text) != 0 || !objective->native) {
        d = dfl_report(solver->sink, DFL_CERT_OTHER, asked->span, "`%s` is not for this `%s`", claims->file, claims->mapping);
        dfl_diag_here(solver->sink, d, "digest %s", digest);
        dfl_diag_note(solver->sink, d, "the certificate has %s, for `%s`", claims->digest, claims->objective);
        dfl_diag_help(solver->sink, d, "the workload, the system, the mapping or its objective were changed: search again");
        return NULL;
    }
    return has_its_space(solver, asked, claims) ? asked : NULL;
}

/* Progress and deadline of the verification of a certificate. */
typedef struct {
    const dfl_solver *solver;
    const char *mapping;
    double deadline;          /* time of the deadline (in seconds of dfl_deadline_clock); 0 = no deadline */
    dfl_progress_meter meter;
    atomic_uint templates, of;
    bool was_shown;
} watch;

/* Passes the progress of a verification to the caller; has the type dfl_progress_show. */
static void show_progress(void *context, const dfl_progress_state *now)
{
    watch *w = context;
    char phase[64];
    const dfl_progress p = { .mapping = w->mapping, .phase = phase, .evaluated = now->evaluated, .best = NAN, .bound = NAN };

    snprintf(phase, sizeof phase, "%u of %u templates", atomic_load(&w->templates), atomic_load(&w->of));
    w->was_shown = true;
    w->solver->options->progress(w->solver->options->progress_context, &p);
}

/* Counts the evaluations of a verification and returns why it must stop, or DFL_STOP_NONE. All threads of the verification
   call this function. */
static dfl_stop watch_check(void *context, uint64_t more, const dfl_certify_progress *now)
{
    watch *w = context;

    atomic_store(&w->templates, now->checked);
    atomic_store(&w->of, now->total);
    dfl_progress_add(&w->meter, more);
    if (w->solver->budget->cancel && atomic_load_explicit(w->solver->budget->cancel, memory_order_relaxed))
        return DFL_STOP_CANCELLED;
    return w->deadline > 0 && dfl_deadline_clock() >= w->deadline ? DFL_STOP_TIME : DFL_STOP_NONE;
}

const char *dfl_certificate_verify(const dfl_solver *solver, const dfl_claims *claims, const dfl_mapping *asked,
                                   const dfl_objective *objective, const dfl_mapping *best, uint64_t effort, double deadline)
{
    const dfl_search_options *options = solver->options;
    watch w = { .solver = solver, .mapping = claims->mapping, .deadline = deadline };
    const dfl_certify_task task = { .names = solver->names, .asked = asked, .best = best, .value = value_of,
                                    .objective = objective, .effort = effort, .rounding = DFL_VALUE_TOLERANCE,
                                    .jobs = options->jobs > 0 ? options->jobs : 1, .tell = watch_check, .context = &w };
    dfl_strbuf said;

    dfl_progress_open(&w.meter, options->progress ? show_progress : NULL, &w);
    dfl_strbuf_init(&said, solver->arena);
    (void)dfl_certify(solver->arena, solver->sink, &task, claims, &said);
    if (w.was_shown)
        options->progress(options->progress_context, NULL);
    return said.len > 0 ? said.text : NULL;
}
