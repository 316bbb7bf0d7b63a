/* `dflc check`, `dflc eval` and `dflc test`: diagnostics, costs and verdicts on the checks of a file. */
#include "solve/evaluate.h"

#include "api/session.h"

static dfl_exit run(dfl_session *s, const char *only, dfl_purpose purpose)
{
    dfl_solver solver;

    if (!dfl_session_analyse(s))
        return DFL_EXIT_USAGE;
    /* Costs of a file with errors would be those of another program than the user meant; a check continues. */
    if (!s->program || (purpose != DFL_PURPOSE_CHECK && dfl_sink_errors(s->sink) > 0))
        return dfl_session_status(s);
    if (purpose == DFL_PURPOSE_CHECK)
        dfl_session_preview_checks(s);
    else if (!dfl_session_may_certify(s, only))
        return dfl_session_status(s);
    solver = dfl_session_solver(s);
    dfl_evaluate_mappings(&solver, only, purpose, &s->results);
    if (purpose == DFL_PURPOSE_EVAL && s->results.n_items == 0)
        dfl_session_refuse_nothing(s, only);
    if (purpose != DFL_PURPOSE_CHECK && (s->results.n_items > 0 || !only))
        dfl_evaluate_checks(&solver, purpose, &s->results);
    return dfl_session_status(s);
}

dfl_exit dfl_session_check(dfl_session *s)
{
    return run(s, NULL, DFL_PURPOSE_CHECK);
}

dfl_exit dfl_session_eval(dfl_session *s, const char *only)
{
    return run(s, only, DFL_PURPOSE_EVAL);
}

dfl_exit dfl_session_test(dfl_session *s)
{
    return run(s, NULL, DFL_PURPOSE_TEST);
}
