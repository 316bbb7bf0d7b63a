/* Certificates: what a search found, with what proves it, and the way back. */
#include "api/session.h"

#include <math.h>
#include <string.h>

#include "certify/certify.h"
#include "ir/print.h"
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
    dfl_mapping_print(&text, s->names, m);
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

static void write_space(dfl_json_writer *w, const dfl_search_found *search)
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
    const dfl_search_found *search = filled->search;
    dfl_json_writer w;
    dfl_strbuf out, best;
    char digest[33];

    if (!found->certificate)
        return;
    digest_of(s, filled->given, objective->text, digest);
    dfl_strbuf_init(&best, s->arena);
    dfl_mapping_print(&best, s->names, filled->mapping);
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

const char *dfl_session_certificate(dfl_session *s, const char *only, size_t *len)
{
    const dfl_filled *found = NULL;
    dfl_diag *d;

    for (size_t i = 0; i < s->filled.n; i++) {
        const dfl_filled *f = &s->filled.at[i];

        if (only && strcmp(only, dfl_sym_text(s->names, f->given->name)) != 0)
            continue;
        if (found) {
            d = dfl_report(s->sink, DFL_CERT_NONE, f->given->span, "a certificate is for one mapping");
            dfl_diag_label(s->sink, d, found->given->span, "this one was filled, too");
            dfl_diag_help(s->sink, d, "say which with `--name`");
            return NULL;
        }
        found = f;
    }
    if (found && !found->certificate) {
        d = dfl_report(s->sink, DFL_CERT_NONE, found->given->span, "the search for `%s` has no certificate",
                       dfl_sym_text(s->names, found->given->name));
        dfl_diag_help(s->sink, d, "there are certificates for mappings that leave all their lines open (`...`), "
                      "with tiles that divide and nothing beyond");
    } else if (!found && dfl_sink_errors(s->sink) == 0) {
        dfl_report(s->sink, DFL_CERT_NONE, (dfl_span){ 0, 0 }, "no mapping was filled");
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

/* The mapping of a certificate, read where the one with holes stands in the file. NULL after E0803 and reports about its
   text. */
static const dfl_mapping *read_best(dfl_session *s, const dfl_claims *claims, const dfl_mapping *asked)
{
    const dfl_source *source = s->root->source;
    dfl_sink *sink = dfl_sink_new(s->arena, s->sources);
    const dfl_mapping *best = NULL;
    const dfl_syntax *syntax = NULL;
    dfl_loaded *file;
    dfl_sema_input input = { .arena = s->arena, .names = s->names, .sink = sink, .lints = &s->lints,
                             .load = dfl_session_load, .context = s };
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
    d = dfl_report(s->sink, DFL_CERT_MAPPING, asked->span, "the mapping in `%s` cannot be read", claims->file);
    dfl_diag_label(s->sink, d, asked->span, "in place of this one");
    for (size_t i = 0; i < dfl_sink_count(sink); i++)
        if (dfl_sink_at(sink, i)->severity == DFL_ERROR)
            dfl_diag_note(s->sink, d, "%s", dfl_sink_at(sink, i)->message);
    return NULL;
}

static bool check(dfl_session *s, const dfl_claims *claims, uint64_t effort)
{
    const dfl_mapping *asked = find_mapping(s, s->program, claims->mapping);
    dfl_objective objective;
    char digest[33];
    dfl_certify_task task;
    dfl_strbuf said;
    dfl_diag *d;

    if (!asked) {
        dfl_report(s->sink, DFL_CERT_OTHER, (dfl_span){ 0, 0 }, "`%s` is for a mapping `%s` with holes, and there is none",
                   claims->file, claims->mapping);
        return false;
    }
    if (!asked->has_holes) {
        d = dfl_report(s->sink, DFL_CERT_OTHER, asked->span, "`%s` is for a mapping `%s` with holes, and nothing is open in this "
                       "one", claims->file, claims->mapping);
        dfl_diag_here(s->sink, d, "all lines are written");
        dfl_diag_help(s->sink, d, "check it with the file as it was before `dflc map -w`: it proves that nothing that could "
                      "stand in the place of `...` is better than the mapping that it holds as `best`");
        return false;
    }
    if (!dfl_objective_make(s->sink, s->names, asked, &objective))
        return false;
    digest_of(s, asked, objective.text, digest);
    if (strcmp(claims->digest, digest) != 0 || strcmp(claims->objective, objective.text) != 0 || !objective.native) {
        d = dfl_report(s->sink, DFL_CERT_OTHER, asked->span, "`%s` is not for this `%s`", claims->file, claims->mapping);
        dfl_diag_here(s->sink, d, "digest %s", digest);
        dfl_diag_note(s->sink, d, "the certificate has %s, for `%s`", claims->digest, claims->objective);
        dfl_diag_help(s->sink, d, "the workload, the system, the mapping or its objective were changed: search again");
        return false;
    }
    task = (dfl_certify_task){ .names = s->names, .asked = asked, .value = value_of, .objective = &objective,
                               .effort = effort, .rounding = ROUNDING };
    task.best = read_best(s, claims, asked);
    if (!task.best)
        return false;
    dfl_strbuf_init(&said, s->arena);
    if (!dfl_certify(s->arena, s->sink, &task, claims, &said))
        return false;
    s->certified = said.text;
    return true;
}

dfl_exit dfl_session_check_certificate(dfl_session *s, const char *name, const char *text, size_t len, uint64_t effort)
{
    const dfl_claims *claims;

    s->certified = NULL;
    if (!dfl_session_analyse(s))
        return DFL_EXIT_USAGE;
    if (s->program && dfl_sink_errors(s->sink) == 0) {
        claims = dfl_claims_read(s->arena, s->sink, name, text, len);
        if (claims)
            (void)check(s, claims, effort > 0 ? effort : DFL_CERTIFY_EFFORT);
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
