#include "mapper/join/fused_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/mapping_open.h"
#include "mapper/join/group_search.h"
#include "mapper/problem/evaluate.h"
#include "mapper/problem/limits.h"

/* Searches every class alone for what is better than the choice that it has. False if some class does not fit, or has no form. */
static bool search_alone(dfl_composer *k)
{
    for (size_t c = 0; c < k->classes->at.n; c++) {
        const uint32_t e = k->classes->at.at[c].first, p = dfl_composer_pattern(k, e, 0, DFL_NONE);
        dfl_group_einsum found;
        if (p == DFL_NONE)
            return false;
        dfl_composer_search(k, e, p, NULL, k->alone[c].cost,
                      k->is_quick ? DFL_ALONE_NODES_QUICK : (uint64_t)DFL_ALONE_NODES * k->effort, &found);
        if (found.form != NULL)
            k->alone[c] = found;
        if (k->alone[c].form == NULL)
            return false;
    }
    return true;
}

/* Gives all choices their costs by the present line. */
static void count_again(dfl_composer *k)
{
    for (size_t c = 0; c < k->classes->at.n; c++)
        if (k->alone[c].form != NULL)
            k->alone[c].cost = dfl_objective_value(&k->line, k->alone[c].joules, k->alone[c].seconds);
    for (size_t g = 0; g < k->groups.n; g++) {
        dfl_group_choice *x = &k->groups.at[g];
        x->cost = 0;
        for (uint32_t i = 0; i < x->group.n; i++) {
            x->choices[i].cost = dfl_objective_value(&k->line, x->choices[i].joules, x->choices[i].seconds);
            x->cost += x->choices[i].cost;
        }
    }
}

/* Makes the line touch the objective at the einsums alone. Returns the rate, W. */
static double set_line(dfl_composer *k, double joules, double seconds)
{
    double per_joule, per_second;
    dfl_pattern_forms **flat = DFL_NEW_ARRAY(k->arena, dfl_pattern_forms *, k->classes->at.n + 1);
    dfl_arena *forms;

    dfl_objective_slopes(k->objective, 0, joules + k->leakage * seconds, seconds, &per_joule, &per_second);
    per_second += k->leakage * per_joule;
    k->line = dfl_objective_line(k->objective, per_joule > 0 ? 1 : 0, per_joule > 0 ? per_second / per_joule : 1);
    forms = dfl_arena_new(dfl_arena_budget(k->arena));
    DFL_PUSH(k->arena, &k->line_arenas, forms);
    for (size_t c = 0; c < k->classes->at.n; c++) {
        k->forms[c] = dfl_pattern_forms_new(forms, k->scratch, &k->classes->at.at[c], &k->line, DFL_FORMS_SEARCH);
        flat[c] = dfl_pattern_forms_new(forms, k->scratch, &k->classes->at.at[c], &k->line, DFL_FORMS_FLAT);
    }
    for (uint32_t e = 0; e < k->classes->n; e++)
        k->flat[e] = flat[k->classes->of[e]];
    count_again(k);
    return per_joule > 0 ? per_second / per_joule : INFINITY;
}

static void sum_alone(const dfl_composer *k, double *joules, double *seconds)
{
    *joules = *seconds = 0;
    for (uint32_t e = 0; e < k->classes->n; e++) {
        *joules += k->alone[k->classes->of[e]].joules;
        *seconds += k->alone[k->classes->of[e]].seconds;
    }
}

static void try_alone(dfl_composer *k, dfl_arena *arena, dfl_fused_result *out);

/* In a search with more effort: sets the line that touches the objective at the best split, and searches the einsums alone once
   more if the effort is much more. */
static bool turn_line(dfl_composer *k)
{
    (void)set_line(k, k->split_joules, k->split_seconds);
    return k->effort < DFL_ALONE_EFFORT || search_alone(k);
}

/* Sets the line of energy and time, and the best lines of each einsum alone under it, and judges these. The first line touches
   the objective at the known mapping; without one, at the sum of the least energies and times of the einsums. */
static bool find_line(dfl_composer *k, dfl_arena *arena, dfl_fused_result *out)
{
    double joules = k->seconds > 0 ? k->joules - k->leakage * k->seconds : 0, seconds = k->seconds, rate;

    if (k->effort > 1 && k->split_seconds > 0)
        return turn_line(k);
    for (uint32_t e = 0; e < k->classes->n && !(k->seconds > 0); e++) {
        const dfl_einsum_class *c = dfl_composer_class(k, e);
        double j = INFINITY, s = INFINITY;
        for (size_t i = 0; i < c->candidates.n; i++) {
            j = fmin(j, c->candidates.at[i].joules);
            s = fmin(s, c->candidates.at[i].seconds);
        }
        joules += j;
        seconds += s;
    }
    rate = set_line(k, joules, seconds);
    for (uint32_t round = 0; round < DFL_LINE_ROUNDS; round++) {
        if (!search_alone(k))
            return false;
        try_alone(k, arena, out);
        sum_alone(k, &joules, &seconds);
        const double before = rate;
        rate = set_line(k, joules, seconds);
        if (!(fabs(rate - before) > DFL_LINE_TURN * before))
            break;
    }
    return true;
}

/* ---- groups ---- */

/* Adds a group in the place of the one of the same einsums and memory, `before`; NULL = there is none. */
static void add_group(dfl_group_search *g, dfl_group_choice *before)
{
    dfl_composer *k = g->k;
    dfl_group_choice x = { .group = dfl_group_written(g), .cost = g->cost };

    x.choices = dfl_arena_alloc(k->arena, g->n, sizeof *x.choices, _Alignof(dfl_group_einsum));
    memcpy(x.choices, g->choices, g->n * sizeof *x.choices);
    memcpy(x.tile, g->tile, sizeof x.tile);
    if (before != NULL)
        *before = x;
    else
        DFL_PUSH(k->arena, &k->groups, x);
}

/* The group of these einsums and this memory that was found before, or NULL. */
static dfl_group_choice *find_group(const dfl_composer *k, const dfl_group_run *p)
{
    for (size_t g = 0; g < k->groups.n; g++) {
        const dfl_fused_group *x = &k->groups.at[g].group;
        if (x->first == p->first && x->n == p->n && x->memory == p->memory)
            return &k->groups.at[g];
    }
    return NULL;
}

static double cost_alone(const dfl_composer *k, uint32_t first, uint32_t n)
{
    double cost = 0;

    for (uint32_t e = first; e < first + n; e++)
        cost += k->alone[k->classes->of[e]].cost;
    return cost;
}

/* Searches a group, also from the tiles that were found before. */
static void search_group(dfl_composer *k, const dfl_group_run *p)
{
    dfl_group_choice *before = find_group(k, p);
    dfl_group_search g = { .k = k, .first = p->first, .n = p->n, .memory = p->memory, .cost = INFINITY };

    if (!dfl_group_open(&g))
        return;
    if (before != NULL) {
        memcpy(g.tile, before->tile, sizeof g.tile);
        memcpy(g.choices, before->choices, p->n * sizeof *g.choices);
        g.cost = before->cost;
    }
    dfl_group_search_tiles(&g);
    if (before != NULL ? g.cost < before->cost : g.cost < cost_alone(k, p->first, p->n))
        add_group(&g, before);
}

/* Searches the groups of neighbouring einsums with an exchange in one memory, those that may save most first. */
static void search_groups(dfl_composer *k)
{
    const double least = cost_alone(k, 0, k->classes->n) * DFL_GROUP_SAVING;
    const dfl_system *s = k->mapping->system;
    DFL_VEC(dfl_group_run) groups = { NULL, 0, 0 };

    for (uint32_t n = 2; n <= DFL_GROUP_EINSUMS; n++)
        for (uint32_t first = 0; first + n <= k->classes->n; first++)
            for (uint32_t m = 0; m < s->n_memories; m++) {
                dfl_group_search g = { .k = k, .first = first, .n = n, .memory = m };
                dfl_group_run p = { .first = first, .n = n, .memory = m };
                if (!dfl_group_open(&g))
                    continue;
                p.saving = cost_alone(k, first, n) - g.least[0];
                if (p.saving > least)
                    DFL_PUSH(k->arena, &groups, p);
            }
    if (groups.n > 0)
        qsort(groups.at, groups.n, sizeof *groups.at, dfl_group_run_order);
    for (size_t i = 0; i < groups.n && k->deadline.why == DFL_STOP_NONE; i++)
        search_group(k, &groups.at[i]);
}

/* ---- mapping ---- */

/* The best split into groups and einsums alone; `at[e]` is the group that ends behind einsum e, or DFL_NONE. */
static void split_groups(const dfl_composer *k, uint32_t *at)
{
    double *cost = DFL_NEW_ARRAY(k->arena, double, (size_t)k->classes->n + 1);

    for (uint32_t e = 1; e <= k->classes->n; e++) {
        cost[e] = cost[e - 1] + cost_alone(k, e - 1, 1);
        at[e] = DFL_NONE;
        for (uint32_t g = 0; g < k->groups.n; g++) {
            const dfl_group_choice *x = &k->groups.at[g];
            if (x->group.first + x->group.n == e && cost[x->group.first] + x->cost < cost[e]) {
                cost[e] = cost[x->group.first] + x->cost;
                at[e] = g;
            }
        }
    }
}

static void choose(const dfl_composer *k, uint32_t e, const dfl_group_einsum *from, dfl_chosen_form *out)
{
    out->form = from->form;
    for (size_t i = 0; i < k->classes->problems[e].n; i++)
        if (k->classes->problems[e].at[i]->unit == from->form->problem->unit)
            out->problem = k->classes->problems[e].at[i];
    for (uint32_t r = 0; r < from->form->problem->n_ranks; r++)
        out->amounts[r] = from->amounts[r];
}

/* The mapping of a split. */
static dfl_mapping *make_mapping(const dfl_composer *k, const uint32_t *at)
{
    dfl_chosen_form *chosen = dfl_arena_alloc(k->arena, k->classes->n, sizeof *chosen, _Alignof(dfl_chosen_form));
    dfl_fused_group *groups = dfl_arena_alloc(k->arena, k->classes->n, sizeof *groups, _Alignof(dfl_fused_group));
    uint32_t n = k->classes->n;

    for (uint32_t e = k->classes->n; e > 0; e = groups[n].first) {
        const dfl_group_choice *x = at[e] == DFL_NONE ? NULL : &k->groups.at[at[e]];
        n--;
        groups[n] = x ? x->group : (dfl_fused_group){ .first = e - 1, .n = 1 };
        for (uint32_t i = 0; i < groups[n].n; i++)
            choose(k, groups[n].first + i, x ? &x->choices[i] : &k->alone[k->classes->of[e - 1]], &chosen[groups[n].first + i]);
    }
    return dfl_assemble(k->arena, k->mapping, chosen, &groups[n], k->classes->n - n);
}

static void try_split(dfl_composer *k, const uint32_t *at, dfl_arena *arena, dfl_fused_result *out)
{
    const dfl_mapping *m = make_mapping(k, at);
    const double value = dfl_mapping_value(dfl_arena_budget(arena), k->names, m, k->objective);

    if (!(value < out->value))
        return;
    out->value = value;
    out->mapping = dfl_mapping_copy(arena, m);
    k->split_joules = k->split_seconds = 0;
    for (uint32_t e = k->classes->n; e > 0;) {
        const dfl_group_choice *x = at[e] != DFL_NONE ? &k->groups.at[at[e]] : NULL;
        const dfl_group_einsum *of = x != NULL ? x->choices : &k->alone[k->classes->of[e - 1]];
        const uint32_t n = x != NULL ? x->group.n : 1;
        for (uint32_t i = 0; i < n; i++) {
            k->split_joules += of[i].joules;
            k->split_seconds += of[i].seconds;
        }
        e -= n;
    }
}

/* Tries the einsums alone. */
static void try_alone(dfl_composer *k, dfl_arena *arena, dfl_fused_result *out)
{
    uint32_t *at = DFL_NEW_ARRAY(k->arena, uint32_t, (size_t)k->classes->n + 1);

    for (uint32_t e = 0; e <= k->classes->n; e++)
        at[e] = DFL_NONE;
    try_split(k, at, arena, out);
}

/* Tries the best split; a group that the model refuses or values higher is given up. */
static void compose(dfl_composer *k, dfl_arena *arena, dfl_fused_result *out)
{
    uint32_t *at = DFL_NEW_ARRAY(k->arena, uint32_t, (size_t)k->classes->n + 1), *one;

    search_groups(k);
    split_groups(k, at);
    try_split(k, at, arena, out);
    one = DFL_NEW_ARRAY(k->arena, uint32_t, (size_t)k->classes->n + 1);
    for (uint32_t e = 1; e <= k->classes->n; e++) {
        double before = out->value;
        uint32_t group = at[e];
        if (group == DFL_NONE)
            continue;
        memcpy(one, at, ((size_t)k->classes->n + 1) * sizeof *one);
        one[e] = DFL_NONE;
        try_split(k, one, arena, out);
        if (out->value < before)
            at[e] = DFL_NONE;
    }
}

dfl_fused_result dfl_fused_groups(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping,
                                  const dfl_objective *objective, double joules, double seconds,
                                  double known, double probe, const dfl_einsum_classes *classes,
                                  const dfl_search_limits *limits)
{
    const dfl_budget *session = dfl_arena_budget(arena);
    const bool is_timed = limits->deadline > 0 && (session == NULL || session->work == NULL);
    dfl_arena *work = dfl_arena_new(dfl_arena_budget(arena));
    dfl_composer k = { .arena = work, .scratch = dfl_arena_new(NULL), .names = names, .mapping = mapping, .objective = objective,
                   .classes = classes, .leakage = dfl_system_leakage(mapping->system), .joules = joules, .seconds = seconds,
                   .deadline = { .budget = dfl_arena_budget(arena), .at = limits->deadline } };
    dfl_fused_result out = { .value = INFINITY };

    k.deadline.counter = &k.nodes;
    k.deadline.most_evaluations = limits->evaluations;
    if (objective->native && dfl_mapping_all_lines_open(mapping)) {
        k.forms = DFL_NEW_ARRAY(work, dfl_pattern_forms *, k.classes->at.n + 1);
        k.flat = DFL_NEW_ARRAY(work, dfl_pattern_forms *, (size_t)k.classes->n + 1);
        k.alone = dfl_arena_alloc(work, k.classes->at.n, sizeof *k.alone, _Alignof(dfl_group_einsum));
        for (size_t c = 0; c < k.classes->at.n; c++)
            k.alone[c] = (dfl_group_einsum){ .cost = INFINITY };
        /* under a limit on time the search begins anew with more effort as long as some is left */
        k.is_quick = is_timed && limits->deadline - dfl_budget_clock() < DFL_GROUP_SHORT;
        for (k.effort = 1; k.effort <= DFL_GROUP_EFFORT && k.deadline.why == DFL_STOP_NONE;) {
            k.deadline.at = is_timed && !(out.value < known) ? probe : limits->deadline;
            if (!find_line(&k, arena, &out))
                break;
            compose(&k, arena, &out);
            if (!is_timed)
                break;
            k.effort *= k.is_quick ? 1 : 4;
            k.is_quick = false;
        }
    }
    out.nodes = k.nodes;
    out.stopped = k.deadline.why;
    for (size_t i = 0; i < k.line_arenas.n; i++)
        dfl_arena_free(k.line_arenas.at[i]);
    dfl_arena_free(k.scratch);
    dfl_arena_free(work);
    return out;
}
