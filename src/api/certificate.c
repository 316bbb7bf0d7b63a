/* Certificates: what a search found, with what proves it, and the way back. */
#include "api/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/imports.h"
#include "certify/certify.h"
#include "ir/mapping_open.h"
#include "ir/print.h"
#include "ir/print_mapping.h"
#include "support/deadline.h"
#include "support/progress.h"
#include "model/model.h"
#include "support/hash.h"
#include "support/json_write.h"

/* Values agree that differ by rounding alone. */
static const double ROUNDING = 1e-9;

static double value_of(const void *objective, double joules, double seconds)
{
    return dfl_objective_value(objective, joules, seconds);
}

/* Of what was asked: the workload, the system, the mapping with its holes, and what is to be made small. */
static void digest_of(dfl_session *s, const dfl_mapping *m, const char *objective, char out[33])
{
    dfl_strbuf text;

    dfl_strbuf_init(&text, s->arena);
    dfl_workload_print(&text, s->names, m->workload);
    dfl_system_print(&text, s->names, m->system);
    dfl_mapping_print(&text, s->names, m, DFL_PRINT_INDENT);
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

static void write_space(dfl_json_writer *w, const dfl_search_summary *search)
{
    dfl_json_key(w, "space");
    dfl_json_object(w);
    write_text(w, "text", search->space);
    write_text(w, "tiles", "divide");
    write_text(w, "spatial", "sharing");
    dfl_json_key(w, "shared_loops");
    dfl_json_int(w, DFL_MAP_SHARED_LOOPS);
    dfl_json_key(w, "keeps");
    dfl_json_int(w, DFL_MAP_KEEPS);
    dfl_json_end_object(w);
}

void dfl_session_certify(dfl_session *s, dfl_filled *filled, const dfl_objective *objective, const dfl_map_result *found,
                         const dfl_result *costs)
{
    const dfl_search_summary *search = filled->search;
    dfl_json_writer w;
    dfl_strbuf out, best;
    char digest[33];

    if (!found->certificate)
        return;
    digest_of(s, filled->given, objective->text, digest);
    dfl_strbuf_init(&best, s->arena);
    dfl_mapping_print(&best, s->names, filled->mapping, DFL_PRINT_INDENT);
    dfl_strbuf_init(&out, s->arena);
    dfl_json_start(&w, &out, 1);
    dfl_json_object(&w);
    write_text(&w, "schema", DFL_CERTIFICATE);
    write_text(&w, "dflc", DFL_VERSION);
    write_text(&w, "mapping", dfl_sym_text(s->names, filled->given->name));
    write_text(&w, "digest", digest);
    write_text(&w, "objective", objective->text);
    write_space(&w, search);
    write_number(&w, "value", search->value);
    write_number(&w, "energy", costs->joules);
    write_number(&w, "time", costs->seconds);
    write_number(&w, "lower_bound", fmin(found->certified, search->value));
    dfl_json_key(&w, "optimal");
    dfl_json_bool(&w, search->value <= found->certified * (1 + ROUNDING));
    write_text(&w, "best", best.text);
    dfl_json_key(&w, "search");
    dfl_json_raw(&w, found->certificate);
    dfl_json_end_object(&w);
    dfl_strbuf_char(&out, '\n');
    filled->certificate = out.text;
}

static bool refuse_certificate(dfl_session *s, const dfl_mapping *m)
{
    dfl_diag *d = dfl_report(s->sink, DFL_CERT_NONE, m->span, "the search for `%s` has no certificate",
                             dfl_sym_text(s->names, m->name));

    dfl_diag_help(s->sink, d, "there are certificates for mappings that leave all their lines open (`...`), with tiles that "
                  "divide, without `--max-fused`, `--top`, `--spread` and required peaks of memories, and nothing beyond");
    return false;
}

bool dfl_session_may_certify(dfl_session *s, const char *only)
{
    const dfl_search_options *o = &s->search;
    const dfl_mapping *first = NULL;

    for (uint32_t i = 0; i < s->program->n_designs && o->certificate; i++) {
        const dfl_mapping *m = s->program->designs[i].mapping;
        dfl_diag *d;

        if (!s->program->designs[i].from_root || !m->has_holes || (only && strcmp(only, dfl_sym_text(s->names, m->name)) != 0))
            continue;
        if (first) {
            d = dfl_report(s->sink, DFL_CERT_NONE, m->span, "a certificate is for one mapping");
            dfl_diag_label(s->sink, d, first->span, "this one is to be filled, too");
            dfl_diag_help(s->sink, d, "say which with `--name`");
            return false;
        }
        first = m;
    }
    if (first == NULL)
        return true;
    if (!dfl_mapping_lines_are_written(first) && dfl_mapping_all_lines_open(first) && first->n_front == 0 &&
        first->n_choices == 0 && !o->imperfect && o->beyond == 0 && o->max_fused == 0 && o->top == 0 && !o->spread)
        return true;
    return refuse_certificate(s, first);
}

const char *dfl_session_certificate(dfl_session *s, const char *only, size_t *len)
{
    const dfl_filled *found = NULL;
    dfl_diag *d;

    for (size_t i = 0; i < s->filled.n; i++)
        if (!only || strcmp(only, dfl_sym_text(s->names, s->filled.at[i].given->name)) == 0)
            found = &s->filled.at[i];
    if (found && !found->certificate) {
        (void)refuse_certificate(s, found->given);
    } else if (!found && dfl_sink_errors(s->sink) == 0) {
        dfl_report(s->sink, DFL_CERT_NONE, (dfl_span){ 0, 0 }, "no mapping was filled");
    } else if (found && strlen(found->certificate) > DFL_MAX_CERTIFICATE) {
        d = dfl_report(s->sink, DFL_CERT_NONE, found->given->span, "the certificate of `%s` is larger than %zu MiB, and is not "
                       "written", dfl_sym_text(s->names, found->given->name), DFL_MAX_CERTIFICATE >> 20);
        dfl_diag_help(s->sink, d, "with homes that are written, or fewer memories, there are fewer templates");
        return NULL;
    }
    if (!found || !found->certificate)
        return NULL;
    if (len)
        *len = strlen(found->certificate);
    return found->certificate;
}

/* ---- the way back ---- */

static const dfl_mapping *find_mapping(const dfl_session *s, const dfl_program *p, const char *name)
{
    for (uint32_t i = 0; p && i < p->n_designs; i++)
        if (p->designs[i].from_root && strcmp(dfl_sym_text(s->names, p->designs[i].mapping->name), name) == 0)
            return p->designs[i].mapping;
    return NULL;
}

/* The mapping of a certificate, read where the one with holes stands in the file. NULL after E0803, which says what
   is wrong with its text, or when the session was stopped. */
static const dfl_mapping *read_best(dfl_session *s, const dfl_claims *claims, const dfl_mapping *asked)
{
    const dfl_source *source = s->root->source;
    dfl_sink *sink = dfl_sink_new(s->arena, s->sources);
    const dfl_mapping *best = NULL;
    const dfl_syntax *syntax = NULL;
    dfl_loaded *file;
    dfl_sema_input input = { .arena = s->arena, .names = s->names, .sink = sink, .lints = &s->lints,
                             .load = dfl_imports_load, .context = s };
    dfl_strbuf text;
    dfl_diag *d;

    dfl_strbuf_init(&text, s->arena);
    dfl_strbuf_add(&text, source->text, asked->text.start - source->base);
    dfl_strbuf_z(&text, claims->best);
    dfl_strbuf_add(&text, source->text + (asked->text.end - source->base), source->len - (asked->text.end - source->base));
    file = dfl_load_text(s, claims->file, s->root->path, text.text, text.len);
    if (file)
        syntax = dfl_loaded_syntax(s, file);
    if (syntax && syntax->whole)
        best = find_mapping(s, dfl_sema_run(&input, (dfl_sema_file){ file->source, syntax->file }), claims->mapping);
    if (best && dfl_sink_errors(sink) == 0)
        return best;
    if (s->budget.why != DFL_STOP_NONE)
        return NULL;
    d = dfl_report(s->sink, DFL_CERT_MAPPING, asked->span, "the mapping in `%s` cannot be read", claims->file);
    dfl_diag_label(s->sink, d, asked->span, "in place of this one");
    for (size_t i = 0; i < dfl_sink_count(sink); i++)
        if (dfl_sink_at(sink, i)->severity == DFL_ERROR)
            dfl_diag_note(s->sink, d, "%s", dfl_sink_at(sink, i)->message);
    return NULL;
}

/* How far a check is, for whoever wants to know, and when it has to end. */
typedef struct {
    dfl_session *s;
    const char *mapping;
    double deadline;          /* of dfl_deadline_clock, 0 = none */
    dfl_progress_meter meter;
    atomic_uint templates, of;
    bool told;
} watch;

static void tell_progress(void *context, const dfl_progress_state *now)
{
    watch *w = context;
    char phase[64];
    const dfl_progress p = { .mapping = w->mapping, .phase = phase, .evaluated = now->evaluated, .best = NAN, .bound = NAN };

    snprintf(phase, sizeof phase, "%u of %u templates", atomic_load(&w->templates), atomic_load(&w->of));
    w->told = true;
    w->s->search.progress(w->s->search.progress_context, &p);
}

static dfl_stop look_on(void *context, uint64_t more, const dfl_certify_progress *now)
{
    watch *w = context;

    atomic_store(&w->templates, now->checked);
    atomic_store(&w->of, now->total);
    dfl_progress_add(&w->meter, more);
    if (w->s->budget.cancel && atomic_load_explicit(w->s->budget.cancel, memory_order_relaxed))
        return DFL_STOP_CANCELLED;
    return w->deadline > 0 && dfl_deadline_clock() >= w->deadline ? DFL_STOP_TIME : DFL_STOP_NONE;
}

static void check(dfl_session *s, const dfl_claims *claims, uint64_t effort, double deadline)
{
    const dfl_mapping *asked = find_mapping(s, s->program, claims->mapping);
    dfl_objective objective;
    char digest[33];
    dfl_certify_task task;
    watch w = { .s = s, .mapping = claims->mapping, .deadline = deadline };
    dfl_strbuf said;
    dfl_diag *d;

    if (!asked) {
        dfl_report(s->sink, DFL_CERT_OTHER, (dfl_span){ 0, 0 }, "`%s` is for a mapping `%s` with holes, and there is none",
                   claims->file, claims->mapping);
        return;
    }
    if (!asked->has_holes) {
        d = dfl_report(s->sink, DFL_CERT_OTHER, asked->span, "`%s` is for a mapping `%s` with holes, and nothing is open in this "
                       "one", claims->file, claims->mapping);
        dfl_diag_here(s->sink, d, "all lines are written");
        dfl_diag_help(s->sink, d, "check it with the file as it was before `dflc map -w`: it proves that nothing that could "
                      "stand in the place of `...` is better than the mapping that it holds as `best`");
        return;
    }
    if (!dfl_objective_make(s->sink, s->names, asked, &objective))
        return;
    digest_of(s, asked, objective.text, digest);
    if (strcmp(claims->digest, digest) != 0 || strcmp(claims->objective, objective.text) != 0 || !objective.native) {
        d = dfl_report(s->sink, DFL_CERT_OTHER, asked->span, "`%s` is not for this `%s`", claims->file, claims->mapping);
        dfl_diag_here(s->sink, d, "digest %s", digest);
        dfl_diag_note(s->sink, d, "the certificate has %s, for `%s`", claims->digest, claims->objective);
        dfl_diag_help(s->sink, d, "the workload, the system, the mapping or its objective were changed: search again");
        return;
    }
    task = (dfl_certify_task){ .names = s->names, .asked = asked, .value = value_of, .objective = &objective,
                               .effort = effort, .rounding = ROUNDING, .jobs = s->search.jobs > 0 ? s->search.jobs : 1,
                               .tell = look_on, .context = &w };
    task.best = read_best(s, claims, asked);
    if (!task.best)
        return;
    dfl_progress_open(&w.meter, s->search.progress ? tell_progress : NULL, &w);
    dfl_strbuf_init(&said, s->arena);
    (void)dfl_certify(s->arena, s->sink, &task, claims, &said);
    if (w.told)
        s->search.progress(s->search.progress_context, NULL);
    s->certified = said.len > 0 ? said.text : NULL;
}

dfl_exit dfl_session_check_certificate(dfl_session *s, const char *name, const char *text, size_t len, uint64_t effort)
{
    double deadline = s->search.seconds > 0 ? dfl_deadline_clock() + s->search.seconds : 0;
    const dfl_claims *claims;

    s->certified = NULL;
    if (!dfl_session_analyse(s))
        return DFL_EXIT_USAGE;
    if (s->program && dfl_sink_errors(s->sink) == 0) {
        claims = dfl_claims_read(s->arena, s->sink, name, text, len);
        if (claims)
            check(s, claims, effort > 0 ? effort : DFL_CERTIFY_EFFORT, deadline);
    }
    return dfl_session_status(s);
}

const char *dfl_session_certified(dfl_session *s, size_t *len)
{
    const char *text = s->certified ? s->certified : "";

    if (len)
        *len = strlen(text);
    return text;
}
