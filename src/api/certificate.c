/* Entry points for certificates: the certificate of the last search, and the check of a certificate against the open file. */
#include "api/session.h"

#include <string.h>

#include "api/imports.h"
#include "certify/certify.h"
#include "solve/certificate.h"
#include "support/deadline.h"

const char *dfl_session_certificate(dfl_session *s, const char *only, size_t *len)
{
    const dfl_filled *found = NULL;
    dfl_diag *d;

    for (size_t i = 0; i < s->filled.n; i++)
        if (!only || strcmp(only, dfl_sym_text(s->names, s->filled.at[i].given->name)) == 0)
            found = &s->filled.at[i];
    if (s->budget.why != DFL_STOP_NONE && (!found || !found->certificate))
        return NULL; /* the stop is the reason */
    if (found && !found->certificate) {
        (void)dfl_certificate_refuse(s->sink, s->names, found->given);
    } else if (!found && dfl_sink_errors(s->sink) == 0) {
        dfl_report(s->sink, DFL_CERT_NONE, (dfl_span){ 0, 0 }, "no mapping was filled");
    } else if (found && strlen(found->certificate) > DFL_MAX_CERTIFICATE) {
        d = dfl_report(s->sink, DFL_CERT_NONE, found->given->span, "the certificate of `%s` is larger than %zu MiB, and is not "
                       "written", dfl_sym_text(s->names, found->given->name), DFL_MAX_CERTIFICATE >> 20);
        dfl_diag_help(s->sink, d, "write the homes, or use fewer memories: then there are fewer templates");
        return NULL;
    }
    if (!found || !found->certificate)
        return NULL;
    if (len)
        *len = strlen(found->certificate);
    return found->certificate;
}

/* Reads the mapping of a certificate: replaces the mapping with holes `asked` in the text of the file by the text of the
   certificate and analyses the result. NULL after E0803, which lists the errors of the text, or if the session was stopped. */
static const dfl_mapping *read_best(dfl_session *s, const dfl_claims *claims, const dfl_mapping *asked)
{
    const dfl_source *source = s->root->source;
    dfl_sink *sink = dfl_sink_new(s->arena, s->sources);
    const dfl_mapping *best = NULL;
    const dfl_program *program = NULL;
    const dfl_syntax *syntax = NULL;
    dfl_loaded *file;
    dfl_sema_input input = { .arena = s->arena, .names = s->names, .sink = sink, .lints = &s->lints,
                             .load = dfl_imports_load, .read = dfl_imports_read, .context = s };
    dfl_strbuf text;
    dfl_diag *d;

    dfl_strbuf_init(&text, s->arena);
    dfl_strbuf_add(&text, source->text, asked->text.start - source->base);
    dfl_strbuf_z(&text, claims->best);
    dfl_strbuf_add(&text, source->text + (asked->text.end - source->base), source->len - (asked->text.end - source->base));
    file = dfl_load_text(s, claims->file, s->root->path, text.text, text.len);
    if (file)
        syntax = dfl_loaded_syntax(s, file);
    if (syntax && syntax->whole && dfl_given_parse(s, &input))
        program = dfl_sema_run(&input, (dfl_sema_file){ file->source, syntax->file });
    if (program)
        best = dfl_program_find_mapping(program, s->names, claims->mapping);
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

static void check(dfl_session *s, const dfl_claims *claims, uint64_t effort, double deadline)
{
    const dfl_solver solver = dfl_session_solver(s);
    dfl_objective objective;
    const dfl_mapping *asked = dfl_certificate_find_mapping(&solver, claims, &objective), *best;

    best = asked != NULL ? read_best(s, claims, asked) : NULL;
    if (best != NULL)
        s->certified = dfl_certificate_verify(&solver, claims, asked, &objective, best, effort, deadline);
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
