#include "mapper/join/regroup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/join/group_search.h"
#include "mapper/join/pattern_bound.h"
#include "mapper/problem/evaluate.h"
#include "mapper/problem/limits.h"
#include "support/deadline.h"

/* A run that may cost less as a group. */
typedef struct {
    dfl_group_run run;
    dfl_fused_group group;
    dfl_group_einsum choices[DFL_GROUP_EINSUMS];
} found_run;

typedef struct {
    dfl_composer k;
    const dfl_mapping *from;         /* the best mapping so far */
    double value;                    /* of it */
    uint32_t *memory;                /* by tensor: where the mapping exchanges it; DFL_NONE = outermost, or not at the root */
    bool *is_grouped;                /* by einsum: it shares loops in the mapping */
    double *cost;                    /* by einsum: of the mapping, by the line */
    dfl_chosen_form *chosen;         /* by einsum: in the groups taken */
    dfl_pattern_bounds **bounds;     /* by class; NULL = not made */
    uint64_t programs;
    DFL_VEC(found_run) found;
} regroup;

static const dfl_workload *workload_of(const regroup *x) { return x->k.mapping->workload; }

static uint32_t last_of(const dfl_tensor *t) { return t->n_consumers > 0 ? t->consumers[t->n_consumers - 1] : 0; }

/* ---- what is exchanged where ---- */

static uint32_t outermost_of(const dfl_problem *problem, uint32_t o)
{
    return problem->place[dfl_problem_outermost(&problem->operand[o])].memory;
}

/* The memories in which the mapping exchanges intermediates at its root. */
static void read_mapping(regroup *x)
{
    const dfl_body *root = x->from->root;

    for (uint32_t t = 0; t < workload_of(x)->n_tensors; t++)
        x->memory[t] = DFL_NONE;
    for (uint32_t i = 0; i < root->n_lines; i++)
        if (root->lines[i].kind == DFL_LINE_KEEP && workload_of(x)->tensors[root->lines[i].tensor].n_producers > 0 &&
            root->lines[i].memory != dfl_space_outermost(x->k.mapping, root->lines[i].tensor))
            x->memory[root->lines[i].tensor] = root->lines[i].memory;
    for (uint32_t c = 0; c < root->n_children; c++)
        for (uint32_t i = 0; i < root->children[c]->n_einsums; i++)
            x->is_grouped[root->children[c]->einsums[i]] = root->children[c]->n_einsums > 1;
}

/* Sets the costs of the einsums of the mapping by the line. False if the model refuses the mapping. */
static bool read_costs(regroup *x, dfl_arena *scratch)
{
    const dfl_result *r = dfl_mapping_costs(scratch, x->k.names, x->from);

    for (uint32_t e = 0; r != NULL && e < x->k.classes->n; e++)
        x->cost[e] = dfl_objective_value(&x->k.line, r->einsums[e].joules, r->einsums[e].seconds);
    return r != NULL;
}

/* The pattern of an einsum that exchanges the operands in the mask `inside` in a memory, and others where the mapping does;
   DFL_NONE = there is none. */
static uint32_t find_pattern(const regroup *x, uint32_t e, uint32_t inside, uint32_t memory)
{
    const dfl_problem *problem = dfl_composer_problem(&x->k, e);
    const dfl_einsum_class *c = dfl_composer_class(&x->k, e);

    for (uint32_t p = 0; p < c->patterns.n; p++) {
        bool is_it = true;
        for (uint32_t o = 0; o < problem->n_operands; o++) {
            const dfl_problem_operand *of = &problem->operand[o];
            const uint32_t at = inside >> o & 1 ? memory : of->shared ? x->memory[of->tensor] : DFL_NONE;
            if (dfl_problem_exchanged(of))
                is_it &= c->patterns.at[p].memory[o] == (at != DFL_NONE ? at : outermost_of(problem, o));
        }
        if (is_it)
            return p;
    }
    return DFL_NONE;
}

/* ---- einsums ---- */

/* The bounds of the patterns of an einsum. */
static dfl_pattern_bounds *bounds_of(regroup *x, uint32_t e)
{
    dfl_pattern_bounds **of = &x->bounds[x->k.classes->of[e]];

    if (*of == NULL)
        *of = dfl_pattern_bounds_new(x->k.arena, x->k.scratch, dfl_composer_class(&x->k, e), &x->k.line, &x->k.deadline,
                                     &x->programs);
    return *of;
}

/* Makes the forms of an einsum of a group: of the skeletons with the least bounds of its pattern, those that can have all shared
   loops together, below what is exchanged outside of the group. */
static void make_forms(regroup *x, uint32_t e, uint32_t pattern, uint32_t inside)
{
    const dfl_einsum_class *c = dfl_composer_class(&x->k, e);
    uint32_t *best = DFL_NEW_ARRAY(x->k.arena, uint32_t, DFL_REGROUP_BEST), n = 0, n_best;

    (void)dfl_pattern_bounds_least(bounds_of(x, e), pattern);
    n_best = dfl_pattern_bounds_best(bounds_of(x, e), pattern, best, DFL_REGROUP_BEST);
    for (uint32_t i = 0; i < n_best && n < DFL_REGROUP_SKELETONS; i++)
        if (dfl_pattern_forms_can_flatten(c->candidates.at[best[i]].form, ~inside))
            best[n++] = best[i];
    x->k.flat[e] = dfl_pattern_forms_new(x->k.arena, x->k.scratch, c, &x->k.line, DFL_FORMS_FLAT);
    dfl_pattern_forms_limit(x->k.flat[e], best, n, ~inside);
}

/* The room that tensors at the root take from an einsum of the run that does not touch them. */
static void find_resident(const regroup *x, uint32_t e, const dfl_group_run *run)
{
    const dfl_problem *problem = dfl_composer_problem(&x->k, e);
    double *taken = x->k.resident[e];

    memset(taken, 0, x->k.mapping->system->n_memories * sizeof *taken);
    for (uint32_t t = 0; t < workload_of(x)->n_tensors; t++) {
        const dfl_tensor *of = &workload_of(x)->tensors[t];
        const dfl_problem *producer = of->n_producers > 0 ? dfl_composer_problem(&x->k, of->producers[0]) : NULL;
        const bool is_inside = producer != NULL && of->producers[0] >= run->first && last_of(of) < run->first + run->n;
        if (producer != NULL && x->memory[t] != DFL_NONE && !is_inside && of->producers[0] < run->first + run->n &&
            last_of(of) >= run->first && dfl_problem_find_operand(problem, t) == problem->n_operands) {
            const dfl_problem_operand *o = &producer->operand[producer->n_operands - 1];
            taken[x->memory[t]] += o->bits * dfl_problem_tile(o, producer->extent);
        }
    }
}

/* ---- runs of einsums ---- */

/* Opens a run: what it exchanges inside, and the patterns. False if it shares nothing, or some einsum has no pattern. */
static bool open_run(regroup *x, const dfl_group_run *run, dfl_group_search *g)
{
    bool is_open;

    *g = (dfl_group_search){ .k = &x->k, .first = run->first, .n = run->n, .memory = run->memory, .cost = INFINITY };
    is_open = dfl_group_mark(g) && g->n_ranks > 0;
    for (uint32_t i = run->n; i-- > 0 && is_open;) {
        const uint32_t e = run->first + i;
        g->pattern[i] = find_pattern(x, e, g->inside[i], run->memory);
        is_open = !x->is_grouped[e] && g->pattern[i] != DFL_NONE;
        if (is_open)
            g->least[i] = dfl_pattern_bounds_roomy(bounds_of(x, e), g->pattern[i]) + (i + 1 < run->n ? g->least[i + 1] : 0);
    }
    return is_open;
}

static double cost_apart(const regroup *x, const dfl_group_run *run)
{
    double cost = 0;

    for (uint32_t e = run->first; e < run->first + run->n; e++)
        cost += x->cost[e];
    return cost;
}

static void choose(regroup *x, uint32_t e, const dfl_group_einsum *from)
{
    const dfl_problems *problems = &x->k.classes->problems[e];

    x->chosen[e].form = from->form;
    for (size_t i = 0; i < problems->n; i++)
        if (problems->at[i]->unit == from->form->problem->unit)
            x->chosen[e].problem = problems->at[i];
    for (uint32_t r = 0; r < from->form->problem->n_ranks; r++)
        x->chosen[e].amounts[r] = from->amounts[r];
}

/* Searches a run, and notes it if some of its einsums cost less in a group. */
static void search_run(regroup *x, const dfl_group_run *run)
{
    found_run found = { .run = { .first = run->first, .n = run->n, .memory = run->memory } };
    dfl_group_search g;

    if (!open_run(x, run, &g))
        return;
    for (uint32_t i = 0; i < run->n; i++) {
        make_forms(x, run->first + i, g.pattern[i], g.inside[i]);
        find_resident(x, run->first + i, run);
    }
    dfl_group_search_tiles(&g);
    for (uint32_t i = 0; i < run->n && !isinf(g.cost); i++) /* with its lines of the mapping it may cost what it costs alone */
        found.run.saving += fmax(x->cost[run->first + i] - g.choices[i].cost, 0);
    if (!(found.run.saving > 0))
        return;
    found.group = dfl_group_written(&g);
    memcpy(found.choices, g.choices, sizeof g.choices);
    DFL_PUSH(x->k.arena, &x->found, found);
}

/* The value of a mapping, INFINITY for NULL. */
static double value_of(const regroup *x, const dfl_mapping *m)
{
    return m != NULL ? dfl_mapping_value(dfl_arena_budget(x->k.arena), x->k.names, m, x->k.objective) : INFINITY;
}

/* The mapping with a run as a group, with the lines that were found or those of the mapping, whichever the model finds better;
   NULL if some einsum shares loops already. */
static const dfl_mapping *make_grouped(regroup *x, const found_run *f, double *value)
{
    const dfl_mapping *m;

    *value = INFINITY;
    for (uint32_t i = 0; i < f->run.n; i++) {
        if (x->is_grouped[f->run.first + i])
            return NULL;
        choose(x, f->run.first + i, &f->choices[i]);
    }
    m = dfl_assemble_into(x->k.arena, x->from, x->chosen, &f->group);
    *value = value_of(x, m);
    for (uint32_t i = 0; i < f->run.n && m != NULL; i++) {
        const dfl_mapping *other = dfl_assemble_leaf(x->k.arena, m, &f->group, x->from, f->run.first + i);
        const double v = value_of(x, other);
        m = v < *value ? other : m;
        *value = fmin(v, *value);
    }
    return m;
}

/* Takes the run that the model finds best into the mapping. False if none makes it better. */
static bool take_best(regroup *x)
{
    const dfl_mapping *best = NULL;

    for (size_t i = 0; i < x->found.n && !dfl_deadline_passed(&x->k.deadline); i++) {
        double value;
        const dfl_mapping *m = make_grouped(x, &x->found.at[i], &value);
        if (!(value < x->value))
            continue;
        best = m;
        x->value = value;
    }
    if (best == NULL)
        return false;
    x->from = best;
    read_mapping(x);
    return true;
}

/* Whether a run has einsums of one that was found. */
static bool meets_found(const regroup *x, const dfl_group_run *run)
{
    bool meets = false;

    for (size_t i = 0; i < x->found.n; i++)
        meets |= x->found.at[i].run.first < run->first + run->n && run->first < x->found.at[i].run.first + x->found.at[i].run.n;
    return meets;
}

/* Searches the runs that may save something, those that may save most first. */
static void search_runs(regroup *x)
{
    const dfl_group_run all = { .first = 0, .n = x->k.classes->n };
    const double least = cost_apart(x, &all) * DFL_GROUP_SAVING;
    const uint32_t n_memories = x->k.mapping->system->n_memories;
    DFL_VEC(dfl_group_run) runs = { NULL, 0, 0 };
    dfl_group_search g;

    for (uint32_t n = 2; n <= DFL_GROUP_EINSUMS && n < all.n; n++)
        for (uint32_t i = 0; i < (all.n - n + 1) * n_memories && !dfl_deadline_passed(&x->k.deadline); i++) {
            dfl_group_run run = { .first = i / n_memories, .n = n, .memory = i % n_memories };
            if (!open_run(x, &run, &g))
                continue;
            run.saving = cost_apart(x, &run) - g.least[0];
            if (run.saving > least)
                DFL_PUSH(x->k.arena, &runs, run);
        }
    if (runs.n > 0)
        qsort(runs.at, runs.n, sizeof *runs.at, dfl_group_run_order);
    for (uint32_t pass = 0; pass < 2; pass++) /* at first runs apart from those that were found */
        for (size_t i = 0; i < runs.n && !dfl_deadline_passed(&x->k.deadline); i++)
            if (!runs.at[i].is_done && (pass > 0 || !meets_found(x, &runs.at[i]))) {
                runs.at[i].is_done = true;
                search_run(x, &runs.at[i]);
            }
}

/* Searches runs in a part of the time, and takes the best ones. */
static void regroup_all(regroup *x)
{
    dfl_deadline *deadline = &x->k.deadline;
    const double end = deadline->at, now = dfl_budget_time(deadline->budget);

    if (end > 0)
        deadline->at = now + (end - now) * DFL_REGROUP_SEARCH;
    search_runs(x);
    deadline->at = end;
    if (deadline->why == DFL_STOP_TIME)
        deadline->why = DFL_STOP_NONE;
    while (take_best(x))
        ;
}

static void make_line(regroup *x, const dfl_objective *objective, double joules, double seconds)
{
    double per_joule, per_second;

    dfl_objective_slopes(objective, 0, joules, seconds, &per_joule, &per_second);
    per_second += x->k.leakage * per_joule;
    x->k.line = dfl_objective_line(objective, per_joule > 0 ? 1 : 0, per_joule > 0 ? per_second / per_joule : 1);
}

dfl_fused_result dfl_regroup(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping, const dfl_mapping *from,
                             const dfl_objective *objective, double joules, double seconds, const dfl_einsum_classes *classes,
                             const dfl_search_limits *limits)
{
    const uint32_t n = classes->n, n_tensors = mapping->workload->n_tensors, n_memories = mapping->system->n_memories;
    dfl_arena *work = dfl_arena_new(dfl_arena_budget(arena));
    regroup x = { .k = { .arena = work, .scratch = dfl_arena_new(NULL), .names = names, .mapping = mapping,
                          .objective = objective, .classes = classes, .leakage = dfl_system_leakage(mapping->system), .effort = 1,
                          .deadline = { .budget = dfl_arena_budget(arena), .at = limits->deadline } },
                   .from = from, .value = dfl_objective_value(objective, joules, seconds) };
    double **resident = DFL_NEW_ARRAY(work, double *, (size_t)n + 1);
    dfl_fused_result out = { .value = INFINITY };

    x.k.deadline.counter = &x.k.nodes;
    x.k.deadline.most_evaluations = limits->evaluations;
    x.memory = DFL_NEW_ARRAY(work, uint32_t, (size_t)n_tensors + 1);
    x.bounds = DFL_NEW_ARRAY(work, dfl_pattern_bounds *, classes->at.n + 1);
    x.is_grouped = DFL_NEW_ARRAY(work, bool, (size_t)n + 1);
    x.cost = DFL_NEW_ARRAY(work, double, (size_t)n + 1);
    x.chosen = dfl_arena_alloc(work, (size_t)n + 1, sizeof *x.chosen, _Alignof(dfl_chosen_form));
    x.k.flat = DFL_NEW_ARRAY(work, dfl_pattern_forms *, (size_t)n + 1);
    for (uint32_t e = 0; e < n; e++)
        resident[e] = DFL_NEW_ARRAY(work, double, (size_t)n_memories + 1);
    x.k.resident = resident;
    make_line(&x, objective, joules, seconds);
    read_mapping(&x);
    if (from->root->kind == DFL_BODY_FUSE && read_costs(&x, work))
        regroup_all(&x);
    if (x.from != from) {
        out.value = x.value;
        out.mapping = dfl_mapping_copy(arena, x.from);
    }
    out.nodes = x.k.nodes + x.programs;
    out.stopped = x.k.deadline.why;
    dfl_arena_free(x.k.scratch);
    dfl_arena_free(work);
    return out;
}
