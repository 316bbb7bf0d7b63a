/* Options of searches that change nothing in this one: a lint. */
#include "api/session.h"

#include "ir/mapping_open.h"
#include "mapper/beyond.h"
#include "mapper/choices.h"

static void warn_unused(dfl_session *s, const dfl_mapping *m, const char *option, const char *why, const char *help)
{
    dfl_diag *d = dfl_report_lint(s->sink, &s->lints, DFL_LINT_UNUSED_OPTION, m->span,
                                  "`%s` changes nothing in the search for `%s`", option,
                                  dfl_sym_text(s->names, m->name));

    dfl_diag_here(s->sink, d, "%s", why);
    if (m->n_choices > 0)
        dfl_diag_label(s->sink, d, m->hole_span, "here");
    dfl_diag_help(s->sink, d, "%s", help);
}

/* Whether what is left open when the choices are made is all lines. */
static bool is_all_open(dfl_session *s, const dfl_mapping *m)
{
    return dfl_mapping_all_lines_open(m->n_choices > 0 ? dfl_choices_take(s->arena, m, 0) : m);
}

/* Of a mapping with choices, in which nothing else is open than amounts, or lines as well. */
static void find_unused_by_choices(dfl_session *s, const dfl_mapping *m, bool amounts)
{
    static const char *const why = "a `?` leaves open what is written in it";
    const char *help = amounts ? "leave the option out, or write `...;` in the place of the lines with `?`"
                               : "leave the option out, or write tensors or ranks in the place of `?`";

    if (s->search.top > 0)
        warn_unused(s, m, "--top", why, help);
    if (s->search.max_fused > 0 && amounts)
        warn_unused(s, m, "--max-fused", why, help);
    if (s->search.beyond != 0 && (amounts || !is_all_open(s, m)))
        warn_unused(s, m, "--beyond", why, "leave the option out, or write `...;` in the place of all lines but homes");
}

void dfl_session_find_unused(dfl_session *s, const dfl_mapping *m)
{
    static const char *const open = "leave the option out, or open the lines: `...`",
                      *const one = "leave the option out, or `minimize` what counts most, instead of `pareto`";
    const bool amounts = dfl_mapping_lines_are_written(m), front = m->n_front > 0;
    const char *why = amounts ? "only amounts of loops are open" : front ? "a front is searched without it" : NULL;

    if (m->n_choices > 0) {
        find_unused_by_choices(s, m, amounts);
        return;
    }
    if (why && s->search.top > 0)
        warn_unused(s, m, "--top", why, amounts ? open : one);
    if (amounts && s->search.max_fused > 0)
        warn_unused(s, m, "--max-fused", why, open);
    if (front && s->search.imperfect)
        warn_unused(s, m, "--tiles imperfect", why, one);
    if (s->search.beyond != 0 && why)
        warn_unused(s, m, "--beyond", why, amounts ? open : one);
    else if (s->search.beyond != 0 && !dfl_mapping_all_lines_open(m))
        warn_unused(s, m, "--beyond", "lines are written in this mapping", "leave the option out, or all lines but homes open");
    else if (s->search.beyond != 0 && dfl_beyond_kinds(m->workload, s->search.beyond) == 0)
        warn_unused(s, m, "--beyond", "there is nothing in this workload that it is about",
                    "leave the option out: everything is searched without it");
}
