/* The lint unused-option: search options without effect. */
#include "solve/solve_internal.h"

#include "ir/mapping_open.h"

static void warn_unused(const dfl_solver *solver, const dfl_mapping *m, const char *option, const char *why, const char *help)
{
    dfl_diag *d = dfl_report_lint(solver->sink, solver->lints, DFL_LINT_UNUSED_OPTION, m->span,
                                  "`%s` has no effect on the search for `%s`", option,
                                  dfl_sym_text(solver->names, m->name));

    dfl_diag_here(solver->sink, d, "%s", why);
    if (m->n_choices > 0)
        dfl_diag_label(solver->sink, d, m->hole_span, "here");
    dfl_diag_help(solver->sink, d, "%s", help);
}

/* Whether all lines of a mapping are open after its structural choices are made. */
static bool is_all_open(const dfl_solver *solver, const dfl_mapping *m)
{
    return dfl_mapping_all_lines_open(m->n_choices > 0 ? dfl_choices_take(solver->arena, m, 0) : m);
}

/* Reports the options without effect on the search for a mapping with structural choices. `only_tile_sizes`: apart from
   the choices, no lines are open. */
static void find_unused_by_choices(const dfl_solver *solver, const dfl_mapping *m, bool only_tile_sizes)
{
    static const char *const why = "this `?` is a structural choice";
    const char *help = only_tile_sizes ? "remove the option, or replace the lines with `?` by `...;`"
                                       : "remove the option, or replace `?` by tensors or ranks";

    if (solver->options->top > 0)
        warn_unused(solver, m, "--top", why, help);
    if (solver->options->max_fused > 0 && only_tile_sizes)
        warn_unused(solver, m, "--max-fused", why, help);
    if (solver->options->beyond != 0 && (only_tile_sizes || !is_all_open(solver, m)))
        warn_unused(solver, m, "--beyond", why, "remove the option, or replace all lines except homes by `...;`");
}

void dfl_unused_options_report(const dfl_solver *solver, const dfl_mapping *m)
{
    static const char *const open = "remove the option, or open the lines: `...`",
                      *const one = "remove the option, or replace `pareto` by `minimize`";
    const bool only_tile_sizes = dfl_mapping_lines_are_written(m), front = m->n_front > 0;
    const char *why = only_tile_sizes ? "only tile sizes are open" : front ? "the search for a Pareto set does not use it" : NULL;

    if (front && solver->options->gap > 0)
        warn_unused(solver, m, "--gap", "the search for a Pareto set does not use it", one);
    if (m->n_choices > 0) {
        find_unused_by_choices(solver, m, only_tile_sizes);
        return;
    }
    if (!only_tile_sizes && !front && solver->options->top > 0 && solver->options->gap > 0)
        warn_unused(solver, m, "--gap", "the search for several kinds does not use it", "remove `--gap` or `--top`");
    if (why && solver->options->top > 0)
        warn_unused(solver, m, "--top", why, only_tile_sizes ? open : one);
    if (only_tile_sizes && solver->options->max_fused > 0)
        warn_unused(solver, m, "--max-fused", why, open);
    if (solver->options->beyond != 0 && why)
        warn_unused(solver, m, "--beyond", why, only_tile_sizes ? open : one);
    else if (solver->options->beyond != 0 && !dfl_mapping_all_lines_open(m))
        warn_unused(solver, m, "--beyond", "lines are written in this mapping",
                    "remove the option, or open all lines except homes");
    else if (solver->options->beyond != 0 && dfl_mapper_extensions(m, solver->options->beyond) == 0)
        warn_unused(solver, m, "--beyond", "this workload has nothing that it applies to",
                    "remove the option: the search is complete without it");
}
