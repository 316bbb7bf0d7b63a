/* Options of searches that change nothing in this one: a lint. */
#include "api/session.h"

#include "mapper/beyond.h"
#include "mapper/given.h"
#include "mapper/holes.h"

static void warn_unused(dfl_session *s, const dfl_mapping *m, const char *option, const char *why, const char *help)
{
    dfl_diag *d = dfl_report_lint(s->sink, "unused-option", dfl_lint_level(&s->lints, "unused-option"), DFL_EVAL_UNUSED_OPTION,
                                  m->span, "`%s` changes nothing in the search for `%s`", option,
                                  dfl_sym_text(s->names, m->name));

    dfl_diag_here(s->sink, d, "%s", why);
    dfl_diag_help(s->sink, d, "%s", help);
}

void dfl_session_find_unused(dfl_session *s, const dfl_mapping *m)
{
    static const char *const open = "leave the option out, or open the lines: `...`";
    const bool amounts = dfl_holes_only(m), choices = m->n_choices > 0, front = m->n_front > 0;
    const char *why = choices   ? "what is written is open, too"
                      : amounts ? "only amounts of loops are open"
                      : front   ? "a front is searched without it" : NULL;

    if (why && s->search.top > 0)
        warn_unused(s, m, "--top", why, amounts ? open : "`minimize` what counts most, instead of `pareto`");
    if (amounts && !choices && s->search.max_fused > 0)
        warn_unused(s, m, "--max-fused", why, open);
    if (front && s->search.imperfect)
        warn_unused(s, m, "--tiles imperfect", why, "`minimize` what counts most, instead of `pareto`");
    if (s->search.beyond != 0 && why)
        warn_unused(s, m, "--beyond", why, amounts ? open : "`minimize` what counts most, instead of `pareto`");
    else if (s->search.beyond != 0 && !dfl_given_nothing(m))
        warn_unused(s, m, "--beyond", "lines are written in this mapping", "leave the option out, or all lines but homes open");
    else if (s->search.beyond != 0 && dfl_beyond_kinds(m->workload, s->search.beyond) == 0)
        warn_unused(s, m, "--beyond", "there is nothing in this workload that it is about",
                    "leave the option out: everything is searched without it");
}
