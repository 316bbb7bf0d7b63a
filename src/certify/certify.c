/* The head of a certificate, the best mapping, and the order of the steps of a check. */
#include "certify/certify.h"

#include <math.h>
#include <string.h>

#include "certify/box_proof.h"
#include "certify/cost.h"
#include "certify/join.h"
#include "certify/pattern_bounds.h"
#include "certify/plans.h"
#include "certify/sampling.h"
#include "certify/skeletons.h"
#include "model/model.h"
#include "plan/plan.h"

/* Whether the objective depends on the time, directly or through leakage energy. */
static bool sees_time(const dfl_certify_run *run)
{
    const dfl_certify_task *t = run->task;

    return t->value(t->objective, 1, 1) != t->value(t->objective, 1, 2) ||
           (run->leakage > 0 && t->value(t->objective, 1, 1) != t->value(t->objective, 2, 1));
}

/* Sets `left_bits`: the size of each memory without the inputs and outputs of the workload, which stay in their homes all the
   time. */
static void find_left_bits(dfl_certify_run *run)
{
    const dfl_mapping *m = run->task->asked;
    bool *seen = DFL_NEW_ARRAY(run->arena, bool, (size_t)m->workload->n_tensors + 1);

    run->left_bits = DFL_NEW_ARRAY(run->arena, double, (size_t)m->system->n_memories + 1);
    for (uint32_t i = 0; i < m->system->n_memories; i++)
        run->left_bits[i] = m->system->memories[i].size_bits < 0 ? INFINITY : (double)m->system->memories[i].size_bits;
    for (uint32_t e = 0; e < m->workload->n_einsums; e++) {
        const dfl_certify_problem *problem = run->search->problems[e].at[0];
        for (uint32_t o = 0; o < problem->n_operands; o++) {
            const dfl_certify_operand *op = &problem->operand[o];
            dfl_i128 elements = 0;
            if (op->shared || seen[op->tensor])
                continue;
            seen[op->tensor] = true;
            (void)dfl_tensor_stored(&m->workload->tensors[op->tensor], &elements);
            run->left_bits[problem->memory[op->home]] -=
                dfl_i128_double(elements) * m->workload->tensors[op->tensor].type.bits;
        }
    }
}

/* Reports that the claimed cost of the best mapping differs from the cost that the model computes. Returns false. */
static bool refuse_best(const dfl_certify_run *run, const dfl_claims *c, const char *what, double claimed, double is)
{
    dfl_report(run->sink, DFL_CERT_MAPPING, run->task->asked->span, "`%s` states for its mapping %s of %.12g, and it is %.12g",
               c->file, what, claimed, is);
    return false;
}

/* Whether the best mapping has the homes that the user wrote, and the options of the mapping with holes. */
static bool has_lines(const dfl_mapping *asked, const dfl_mapping *best)
{
    for (uint32_t i = 0; i < asked->root->n_lines; i++) {
        const dfl_line *line = &asked->root->lines[i];
        bool found = false;
        for (uint32_t j = 0; j < best->root->n_lines; j++)
            found |= best->root->lines[j].kind == line->kind && best->root->lines[j].tensor == line->tensor &&
                     (line->memory_decision > 0 || best->root->lines[j].memory == line->memory) &&
                     best->root->lines[j].mode == line->mode;
        if (!found)
            return false;
    }
    return asked->options.overlap_perfect == best->options.overlap_perfect;
}

static const dfl_result *evaluate(const dfl_certify_run *run, const dfl_mapping *m)
{
    const dfl_paths *paths = dfl_paths_resolve(run->arena, run->sink, run->task->names, m);

    return paths != NULL ? dfl_model_eval(run->arena, run->sink, run->task->names, paths) : NULL;
}

static bool check_best(const dfl_certify_run *run, const dfl_claims *c)
{
    const dfl_mapping *asked = run->task->asked, *best = run->task->best;
    const dfl_result *costs;
    double value;

    const bool is_plan = dfl_mapping_is_plan(asked);

    if ((is_plan ? dfl_plan_is_open(best) : best->has_holes) || strcmp(best->target, asked->target) != 0 ||
        !has_lines(asked, best) || (is_plan && !dfl_certify_fills_plan(run->arena, run->task->names, asked, best, c))) {
        dfl_report(run->sink, DFL_CERT_MAPPING, asked->span, "the mapping in `%s` does not fill the holes of this one",
                   c->file);
        return false;
    }
    costs = is_plan ? dfl_plan_evaluate(run->arena, run->sink, run->task->names, best, NULL) : evaluate(run, best);
    if (!costs) {
        dfl_report(run->sink, DFL_CERT_MAPPING, asked->span, "the mapping in `%s` is not legal", c->file);
        return false;
    }
    value = run->task->value(run->task->objective, costs->joules, costs->seconds);
    if (!dfl_certify_is_same(run, costs->joules, c->joules))
        return refuse_best(run, c, "an energy", c->joules, costs->joules);
    if (!dfl_certify_is_same(run, costs->seconds, c->seconds))
        return refuse_best(run, c, "a time", c->seconds, costs->seconds);
    return dfl_certify_is_same(run, value, c->value) || refuse_best(run, c, "a value", c->value, value);
}

static bool check_optimal(const dfl_certify_run *run, const dfl_claims *c)
{
    if (c->value >= c->lower_bound * (1 - run->task->rounding) &&
        c->optimal == dfl_certify_is_same(run, c->value, c->lower_bound))
        return true;
    dfl_report(run->sink, DFL_CERT_SUMS, run->task->asked->span,
               "`%s` calls a mapping %s whose value is %.12g, with a lower bound of %.12g", c->file,
               c->optimal ? "optimal" : "not optimal", c->value, c->lower_bound);
    return false;
}

/* Number of templates whose tile choices nothing but samples test. Boxes prove all or count as none: samples then test what they
   do not see. */
static uint32_t count_unproven(const dfl_certify_run *run)
{
    return run->n_boxed > 0 && run->n_proven == run->n_boxed ? 0 : run->n_checked - run->n_complete;
}

static const char *outcome_of(const dfl_certify_run *run)
{
    if (run->n_checked < run->n_skeletons)
        return "certificate holds so far";
    return count_unproven(run) == 0 ? "certificate holds" : "certificate not refuted";
}

/* The end of the first clause of a space: at a semicolon outside of code. */
static const char *end_of_clause(const char *at)
{
    bool is_code = false;

    for (; *at != '\0' && (is_code || strncmp(at, "; ", 2) != 0); at++)
        is_code ^= *at == '`';
    return at;
}

/* What is not part of the proof. */
static void say_limits(const dfl_certify_run *run, const dfl_claims *c, dfl_strbuf *out)
{
    const uint32_t unproven = count_unproven(run);

    if (unproven > 0)
        dfl_strbuf_printf(out, "not proven: samples test the tile choices of %u template%s, and prove nothing of the others; "
                          "`--effort` sets their number\n", unproven, unproven == 1 ? "" : "s");
    if (run->time_counts && !run->task->asked->options.overlap_perfect && !c->optimal)
        dfl_strbuf_z(out, "not counted: launches, latencies and waits for transfers, which the lower bound leaves out\n");
    dfl_strbuf_z(out, "only for mappings of the space:\n");
    for (const char *at = c->space, *end; *at != '\0'; at = *end == '\0' ? end : end + 2) {
        end = end_of_clause(at);
        dfl_strbuf_printf(out, "  %.*s\n", (int)(end - at), at);
    }
}

static void say(const dfl_certify_run *run, const dfl_claims *c, dfl_strbuf *out)
{
    uint32_t sampled = run->n_checked - run->n_complete, n = run->search->asked->workload->n_einsums;
    bool whole = run->n_checked == run->n_skeletons;

    dfl_strbuf_printf(out, "%s: ", outcome_of(run));
    if (!whole)
        dfl_strbuf_printf(out, "%u of ", run->n_checked);
    dfl_strbuf_printf(out, "%u template%s of %u einsum%s, ", run->n_skeletons, run->n_skeletons == 1 ? "" : "s", n,
                      n == 1 ? "" : "s");
    if (sampled == 0)
        dfl_strbuf_z(out, whole ? "all checked completely" : "checked completely");
    else
        dfl_strbuf_printf(out, "%u checked completely, %u by %llu samples each", run->n_complete, sampled,
                          (unsigned long long)run->share);
    dfl_strbuf_printf(out, " (%llu evaluations)", (unsigned long long)run->n_evaluated);
    if (run->n_boxed > 0)
        dfl_strbuf_printf(out, "; %u of %u proven by %llu boxes", run->n_proven, run->n_boxed,
                          (unsigned long long)run->n_boxes);
    dfl_strbuf_printf(out, "; best %.6g, lower bound %.6g%s\n", c->value, c->lower_bound,
                      whole ? "" : " if the unchecked ones hold");
    say_limits(run, c, out);
}

bool dfl_certify(dfl_arena *arena, dfl_sink *sink, const dfl_certify_task *task, const dfl_claims *claims, dfl_strbuf *said)
{
    dfl_certify_run run = { .arena = arena, .sink = sink, .task = task, .leakage = dfl_system_leakage(task->asked->system) };
    bool holds;

    atomic_init(&run.n_done, 0);
    run.time_counts = sees_time(&run);
    if (!check_best(&run, claims) || !check_optimal(&run, claims))
        return false;
    if (dfl_mapping_is_plan(task->asked))
        return dfl_certify_plans(&run, claims, said);
    run.search = dfl_claims_resolve(arena, sink, task->names, claims, task->asked);
    if (run.search)
        find_left_bits(&run);
    if (!run.search || !dfl_certify_skeletons(&run) || !dfl_certify_pattern_bounds(&run) || !dfl_certify_join(&run))
        return false;
    holds = dfl_certify_boxes(&run) && dfl_certify_sampling(&run);
    if (holds || run.stopped)
        say(&run, claims, said);
    return holds;
}
