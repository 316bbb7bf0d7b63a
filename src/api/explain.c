/* `dflc explain FILE`: explains the costs of a mapping by their sensitivities. */
#include "api/session.h"

#include "solve/explanation.h"

/* The mapping of the root file if it is the only one; NULL if there is none, and after reporting that there are several. */
static const dfl_mapping *find_single(dfl_session *s)
{
    const dfl_program *p = s->program;
    const dfl_mapping *found = NULL;
    uint32_t n = 0;
    dfl_strbuf names;
    dfl_diag *d;

    dfl_strbuf_init(&names, s->arena);
    for (uint32_t i = 0; i < p->n_designs; i++)
        if (p->designs[i].from_root) {
            found = p->designs[i].mapping;
            dfl_strbuf_printf(&names, "%s`%s`", n++ > 0 ? ", " : "", dfl_sym_text(s->names, found->name));
        }
    if (n <= 1)
        return found;
    d = dfl_report(s->sink, DFL_NAME_AMBIGUOUS, (dfl_span){ 0, 0 }, "the file has %u mappings: %s", n, names.text);
    dfl_diag_help(s->sink, d, "name one with `--only`");
    return NULL;
}

dfl_exit dfl_session_explain(dfl_session *s, const char *name)
{
    const dfl_mapping *m;

    s->why = NULL;
    if (!dfl_session_analyse(s))
        return DFL_EXIT_USAGE;
    if (!s->program || dfl_sink_errors(s->sink) > 0)
        return dfl_session_status(s);
    m = name ? dfl_program_find_mapping(s->program, s->names, name) : find_single(s);
    if (m) {
        const dfl_solver solver = dfl_session_solver(s);
        dfl_stop stopped = DFL_STOP_NONE;

        dfl_sink_work_on(s->sink, m->span);
        s->why = dfl_explanation_find(&solver, m, &stopped);
        dfl_solve_record_stop(&solver, stopped);
    } else if (dfl_sink_errors(s->sink) == 0 && !dfl_session_refuse_template(s, name)) {
        if (name)
            dfl_session_unknown_mapping(s, name);
        else
            dfl_report(s->sink, DFL_NAME_UNKNOWN, (dfl_span){ 0, 0 }, "the file declares no mapping");
    }
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
    return dfl_session_give(&out, len);
}
