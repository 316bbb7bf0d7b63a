/* The best mapping, the head of the claims, and the order of the steps. */
#include "certify/certify.h"

#include <math.h>
#include <string.h>

#include "certify/steps.h"
#include "model/model.h"

double dfl_certify_value(const dfl_certify_run *run, double joules, double seconds)
{
    return run->task->value(run->task->objective, joules + run->leakage * seconds, seconds);
}

double dfl_certify_buffers(const dfl_certify_run *run, const dfl_frame *f, uint32_t operand, uint32_t place)
{
    return f->operand[operand].common != 0 ? (double)run->s->asked->system->memories[f->memory[place]].buffers : 1;
}

double dfl_certify_fetch(const dfl_certify_run *run, const dfl_frame *f, uint32_t operand, uint32_t memory)
{
    const dfl_memory *memories = run->s->asked->system->memories;
    const dfl_frame_operand *o = &f->operand[operand];
    uint32_t home = o->common != 0 ? f->memory[o->home] : memory;

    return memory == home ? 0 : o->bits * (memories[home].read_energy + memories[memory].write_energy);
}

/* Whether time counts, by itself or by what leaks. */
static bool sees_time(const dfl_certify_run *run)
{
    const dfl_certify_task *t = run->task;

    return t->value(t->objective, 1, 1) != t->value(t->objective, 1, 2) ||
           (run->leakage > 0 && t->value(t->objective, 1, 1) != t->value(t->objective, 2, 1));
}

bool dfl_certify_same(const dfl_certify_run *run, double a, double b)
{
    return a == b || fabs(a - b) <= run->task->rounding * fmax(fabs(a), fabs(b));
}

static double leakage_of(const dfl_system *s)
{
    double all = 0;

    for (uint32_t i = 0; i < s->n_memories; i++) {
        dfl_i128 n = 1;
        (void)dfl_element_instances(s, s->memories[i].element, &n);
        all += s->memories[i].leakage * dfl_i128_double(n);
    }
    for (uint32_t i = 0; i < s->n_computes; i++) {
        dfl_i128 n = 1;
        (void)dfl_element_instances(s, s->computes[i].element, &n);
        all += s->computes[i].leakage * dfl_i128_double(n);
    }
    return all;
}

/* Inputs and outputs of the workload stay at home all the time. */
static void find_free(dfl_certify_run *run)
{
    const dfl_mapping *m = run->task->asked;
    bool *seen = DFL_NEW_ARRAY(run->arena, bool, (size_t)m->workload->n_tensors + 1);

    run->free_bits = DFL_NEW_ARRAY(run->arena, double, (size_t)m->system->n_memories + 1);
    for (uint32_t i = 0; i < m->system->n_memories; i++)
        run->free_bits[i] = m->system->memories[i].size_bits < 0 ? INFINITY : (double)m->system->memories[i].size_bits;
    for (uint32_t e = 0; e < m->workload->n_einsums; e++) {
        const dfl_frame *f = run->s->frames[e].at[0];
        for (uint32_t o = 0; o < f->n_operands; o++) {
            const dfl_frame_operand *op = &f->operand[o];
            dfl_i128 elements = 0;
            if (op->shared || seen[op->tensor])
                continue;
            seen[op->tensor] = true;
            (void)dfl_tensor_elements(&m->workload->tensors[op->tensor], &elements);
            run->free_bits[f->memory[op->home]] -=
                dfl_i128_double(elements) * m->workload->tensors[op->tensor].type.bits;
        }
    }
}

/* A claim about the best mapping that is not so. */
static bool refuse_best(const dfl_certify_run *run, const dfl_claims *c, const char *what, double claimed, double is)
{
    dfl_report(run->sink, DFL_CERT_MAPPING, run->task->asked->span, "`%s` gives its mapping %s of %.12g, and it is %.12g",
               c->file, what, claimed, is);
    return false;
}

/* The homes that were written, and the options. */
static bool has_lines(const dfl_mapping *asked, const dfl_mapping *best)
{
    for (uint32_t i = 0; i < asked->root->n_lines; i++) {
        const dfl_line *line = &asked->root->lines[i];
        bool found = false;
        for (uint32_t j = 0; j < best->root->n_lines; j++)
            found |= best->root->lines[j].kind == line->kind && best->root->lines[j].tensor == line->tensor &&
                     best->root->lines[j].memory == line->memory && best->root->lines[j].mode == line->mode;
        if (!found)
            return false;
    }
    return asked->options.overlap_perfect == best->options.overlap_perfect;
}

static bool check_best(const dfl_certify_run *run, const dfl_claims *c)
{
    const dfl_mapping *asked = run->task->asked, *best = run->task->best;
    const dfl_paths *paths;
    const dfl_result *costs;
    double value;

    if (best->has_holes || strcmp(best->target, asked->target) != 0 || !has_lines(asked, best)) {
        dfl_report(run->sink, DFL_CERT_MAPPING, asked->span, "the mapping in `%s` is none that fills the holes of this one",
                   c->file);
        return false;
    }
    paths = dfl_paths_resolve(run->arena, run->sink, run->task->names, best);
    costs = paths ? dfl_model_eval(run->arena, run->sink, run->task->names, paths) : NULL;
    if (!costs) {
        dfl_report(run->sink, DFL_CERT_MAPPING, asked->span, "the mapping in `%s` is not legal", c->file);
        return false;
    }
    value = run->task->value(run->task->objective, costs->joules, costs->seconds);
    if (!dfl_certify_same(run, costs->joules, c->joules))
        return refuse_best(run, c, "an energy", c->joules, costs->joules);
    if (!dfl_certify_same(run, costs->seconds, c->seconds))
        return refuse_best(run, c, "a time", c->seconds, costs->seconds);
    return dfl_certify_same(run, value, c->value) || refuse_best(run, c, "a value", c->value, value);
}

static bool check_optimal(const dfl_certify_run *run, const dfl_claims *c)
{
    if (c->value >= c->lower_bound * (1 - run->task->rounding) &&
        c->optimal == dfl_certify_same(run, c->value, c->lower_bound))
        return true;
    dfl_report(run->sink, DFL_CERT_SUMS, run->task->asked->span,
               "`%s` calls a mapping %s whose value is %.12g when nothing is below %.12g", c->file,
               c->optimal ? "optimal" : "not optimal", c->value, c->lower_bound);
    return false;
}

static void say(const dfl_certify_run *run, const dfl_claims *c, dfl_strbuf *out)
{
    uint32_t sampled = run->looked - run->complete, n = run->s->asked->workload->n_einsums;
    bool whole = run->looked == run->templates;

    dfl_strbuf_printf(out, whole ? "certificate holds: " : "nothing is wrong so far: %u of ", run->looked);
    dfl_strbuf_printf(out, "%u template%s of %u einsum%s, ", run->templates, run->templates == 1 ? "" : "s", n,
                      n == 1 ? "" : "s");
    if (sampled == 0)
        dfl_strbuf_z(out, whole ? "all checked completely" : "checked completely");
    else
        dfl_strbuf_printf(out, "%u checked completely, %u by %llu samples each", run->complete, sampled,
                          (unsigned long long)run->share);
    dfl_strbuf_printf(out, " (%llu evaluations); best %.6g, nothing below %.6g%s\n", (unsigned long long)run->evaluated,
                      c->value, c->lower_bound, whole ? "" : " if the others hold");
}

bool dfl_certify(dfl_arena *arena, dfl_sink *sink, const dfl_certify_task *task, const dfl_claims *claims, dfl_strbuf *said)
{
    dfl_certify_run run = { .arena = arena, .sink = sink, .task = task, .leakage = leakage_of(task->asked->system) };
    bool holds;

    atomic_init(&run.done, 0);
    run.by_time = sees_time(&run);
    if (!check_best(&run, claims) || !check_optimal(&run, claims))
        return false;
    run.s = dfl_claims_search(arena, sink, task->names, claims, task->asked);
    if (run.s)
        find_free(&run);
    if (!run.s || !dfl_certify_templates(&run) || !dfl_certify_least(&run) || !dfl_certify_join(&run))
        return false;
    holds = dfl_certify_tiles(&run);
    if (holds || run.stopped)
        say(&run, claims, said);
    return holds;
}
