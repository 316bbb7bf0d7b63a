/* `dflc explain --result`: explains the costs of a mapping by their sensitivities. */
#include "api/session.h"

#include "solve/explanation.h"

dfl_exit dfl_session_explain(dfl_session *s, const char *name)
{
    const dfl_mapping *m;

    s->why = NULL;
    if (!dfl_session_analyse(s))
        return DFL_EXIT_USAGE;
    if (!s->program || dfl_sink_errors(s->sink) > 0)
        return dfl_session_status(s);
    m = dfl_program_find_mapping(s->program, s->names, name);
    if (m) {
        const dfl_solver solver = dfl_session_solver(s);
        dfl_stop stopped = DFL_STOP_NONE;

        s->why = dfl_explanation_find(&solver, m, &stopped);
        dfl_solve_record_stop(&solver, stopped);
    } else if (!dfl_session_refuse_template(s, name)) {
        dfl_session_unknown_mapping(s, name);
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
