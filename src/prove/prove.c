#include "prove/prove.h"

#include "ir/shrink.h"
#include "model/model.h"
#include "prove/attempt.h"
#include "prove/chips.h"
#include "prove/compare.h"
#include "prove/sizes.h"
#include "support/limits.h"

enum {
    FIRST_POINTS = 50000,     /* points that the first attempt may execute (milliseconds); each further attempt: a quarter of
                                 the previous attempt's */
    LEAST_POINTS = 16,        /* points that the last attempt may execute: with fewer points, hardly any loop has a second
                                 iteration */
};

/* One execution at given sizes. `model` and `oracle` are NULL if the attempt failed. */
typedef struct {
    dfl_budget budget;
    dfl_arena *arena;
    dfl_sink *sink;
    const dfl_mapping *mapping;
    const dfl_result *model;
    const dfl_oracle_result *oracle;
} attempt;

static void start_attempt(const dfl_prover *prover, attempt *a)
{
    *a = (attempt){ .budget = dfl_attempt_budget(prover) };
    a->arena = dfl_arena_new(&a->budget);
    a->sink = dfl_sink_new(a->arena, dfl_sink_sources(prover->sink));
}

static void execute(const dfl_prover *prover, const dfl_proof_sizes *sizes, attempt *a)
{
    const dfl_paths *paths;

    a->mapping = dfl_mapping_shrink(a->arena, sizes->mapping, sizes->extents, sizes->halvings);
    paths = dfl_paths_resolve(a->arena, a->sink, prover->names, a->mapping);
    if (paths)
        a->model = dfl_model_eval(a->arena, a->sink, prover->names, paths);
    if (paths)
        a->mapping = paths->mapping;
    if (a->model)
        a->oracle = dfl_oracle_run(a->arena, a->sink, prover->names, paths);
}

static void report_too_large(const dfl_prover *prover, const dfl_mapping *mapping)
{
    dfl_diag *d = dfl_report(prover->sink, DFL_LIMIT_STEPS, mapping->span, "`%s` cannot be made small enough to execute",
                             dfl_sym_text(prover->names, mapping->name));

    dfl_diag_help(prover->sink, d, "name smaller sizes: `--size r=4`");
}

/* Makes one attempt and writes the text of its result. False if the attempt needed too many steps or too much memory:
   smaller sizes may succeed. */
static bool try_sizes(const dfl_prover *prover, const dfl_proof_sizes *sizes)
{
    bool finished = true;
    attempt a;

    start_attempt(prover, &a);
    execute(prover, sizes, &a);
    if (a.oracle) {
        const dfl_proof_sides sides = { .names = prover->names, .arena = a.arena, .sink = prover->sink,
                                        .written = sizes->mapping, .executed = a.mapping, .model = a.model,
                                        .oracle = a.oracle };
        dfl_strbuf_z(prover->out, "  ");
        dfl_attempt_write_sizes(prover, sizes->mapping->workload, sizes->extents);
        dfl_proof_compare(&sides, prover->out);
    } else if (a.budget.why == DFL_STOP_CANCELLED) {
        dfl_budget_stop(prover->budget, DFL_STOP_CANCELLED);
    } else if (a.budget.why == DFL_STOP_STEPS || a.budget.why == DFL_STOP_MEMORY ||
               (a.model && dfl_sink_last(a.sink) == DFL_LIMIT_STEPS)) { /* or too many cells of keeps */
        finished = false;
    } else {
        dfl_attempt_pass_on_errors(prover, a.sink);
        dfl_strbuf_z(prover->out, "  not proven: see the diagnostics\n");
    }
    dfl_arena_free(a.arena);
    return finished;
}

void dfl_prove(const dfl_prover *prover, const dfl_mapping *mapping)
{
    dfl_proof_sizes sizes;
    int64_t most = FIRST_POINTS, points;

    if (dfl_mapping_is_plan(mapping)) {
        dfl_prove_chips(prover, mapping);
        return;
    }
    sizes = dfl_proof_sizes_make(prover->arena, prover->names, mapping, prover->sizes, prover->n_sizes, prover->used);
    dfl_strbuf_printf(prover->out, "%s: %s on %s\n", dfl_sym_text(prover->names, mapping->name),
                      dfl_sym_text(prover->names, mapping->workload->name), dfl_sym_text(prover->names, mapping->system->name));
    for (;;) {
        if (!dfl_proof_sizes_shrink(&sizes, most, prover->budget) && most == FIRST_POINTS)
            most = dfl_proof_sizes_points(&sizes); /* one attempt with the sizes that the user fixed, if these are larger */
        dfl_proof_sizes_keep_character(&sizes);
        if (try_sizes(prover, &sizes))
            return;
        points = dfl_proof_sizes_points(&sizes);
        most = (points < most ? points : most) / 4;
        if (most < LEAST_POINTS || !dfl_proof_sizes_shrink(&sizes, most, prover->budget)) {
            report_too_large(prover, mapping);
            return;
        }
    }
}
