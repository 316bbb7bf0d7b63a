#include "mapper/join/fused_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/mapping_open.h"
#include "mapper/join/assemble.h"
#include "mapper/join/pattern_search.h"
#include "mapper/problem/evaluate.h"
#include "mapper/problem/limits.h"

/* One einsum of a choice, with its costs as bounds count them. */
typedef struct {
    const dfl_form *form;                   /* NULL = nothing fits */
    int64_t *amounts[DFL_PROBLEM_RANKS];
    double cost, joules, seconds;
} einsum_choice;

/* A group and the choices of its einsums. */
typedef struct {
    dfl_fused_group group;
    einsum_choice *choices;                 /* by einsum of the group */
    int64_t tile[DFL_PROBLEM_RANKS];        /* below the shared loops, by rank of the search */
    double cost;                            /* sum */
} group_choice;

typedef struct {
    dfl_arena *arena;
    const dfl_intern *names;
    const dfl_mapping *mapping;
    const dfl_objective *objective;
    dfl_objective line;
    double leakage;                         /* W */
    double joules, seconds;                 /* of a mapping that is known; 0 = none is */
    double split_joules, split_seconds;     /* of the best split so far, J without leakage; 0 = there is none */
    const dfl_einsum_classes *classes;
    dfl_arena *scratch;
    DFL_VEC(dfl_arena *) line_arenas;       /* forms of all lines: choices use them */
    dfl_pattern_forms **forms, **flat;      /* by class */
    einsum_choice *alone;                   /* by class */
    dfl_deadline deadline;
    uint64_t nodes;
    uint32_t effort;                        /* factor of nodes and of tiles that are tried */
    bool is_quick;                          /* einsums alone are searched for a short time */
    DFL_VEC(group_choice) groups;
} composer;

static const dfl_problem *problem_of(const composer *k, uint32_t e) { return k->classes->problems[e].at[0]; }
static const dfl_einsum_class *class_of(const composer *k, uint32_t e) { return &k->classes->at.at[k->classes->of[e]]; }

/* ---- one einsum ---- */

/* The pattern of an einsum that exchanges the marked operands in `memory`, and all others outermost; DFL_NONE = there is none. */
static uint32_t find_pattern(const composer *k, uint32_t e, uint32_t inside, uint32_t memory)
{
    const dfl_problem *problem = problem_of(k, e);
    const dfl_einsum_class *c = class_of(k, e);

    for (uint32_t p = 0; p < c->patterns.n; p++) {
        bool is_it = true;
        for (uint32_t o = 0; o < problem->n_operands; o++)
            if (dfl_problem_exchanged(&problem->operand[o]))
                is_it &= c->patterns.at[p].memory[o] ==
                         (inside >> o & 1 ? memory : problem->place[dfl_problem_outermost(&problem->operand[o])].memory);
        if (is_it)
            return p;
    }
    return DFL_NONE;
}

static void copy_choice(const composer *k, const dfl_pattern_state *from, einsum_choice *out)
{
    *out = (einsum_choice){ .form = from->form, .cost = from->form != NULL ? from->best : INFINITY, .joules = from->joules,
                            .seconds = from->seconds };
    for (uint32_t r = 0; from->form != NULL && r < from->form->problem->n_ranks; r++) {
        const uint32_t n = from->form->chain[r].n;
        out->amounts[r] = DFL_NEW_ARRAY(k->arena, int64_t, (size_t)n + 1);
        memcpy(out->amounts[r], from->amounts[r], n * sizeof(int64_t));
    }
}

/* `nodes`, but no more than the limit on evaluations leaves. */
static uint64_t nodes_left(const composer *k, uint64_t nodes)
{
    const uint64_t left = dfl_evaluations_left(k->deadline.most_evaluations, k->nodes);

    return left > 0 && left < nodes ? left : nodes;
}

/* Searches one einsum for less than `cutoff`; `tile` = NULL: alone. */
static void search_einsum(composer *k, uint32_t e, uint32_t pattern, const dfl_shared_tile *tile, double cutoff, uint64_t nodes,
                          einsum_choice *out)
{
    dfl_pattern_forms *forms = (tile != NULL ? k->flat : k->forms)[k->classes->of[e]];
    dfl_pattern_search *s = dfl_pattern_search_open(forms, pattern, tile, cutoff);

    dfl_pattern_search_run(s, nodes_left(k, nodes), &k->deadline);
    k->nodes += dfl_pattern_search_state(s)->nodes;
    copy_choice(k, dfl_pattern_search_state(s), out);
    dfl_pattern_search_close(s);
}

/* Searches every class alone for what is better than the choice that it has. False if some class does not fit, or has no form. */
static bool search_alone(composer *k)
{
    for (size_t c = 0; c < k->classes->at.n; c++) {
        const uint32_t e = k->classes->at.at[c].first, p = find_pattern(k, e, 0, DFL_NONE);
        einsum_choice found;
        if (p == DFL_NONE)
            return false;
        search_einsum(k, e, p, NULL, k->alone[c].cost,
                      k->is_quick ? DFL_ALONE_NODES_QUICK : (uint64_t)DFL_ALONE_NODES * k->effort, &found);
        if (found.form != NULL)
            k->alone[c] = found;
        if (k->alone[c].form == NULL)
            return false;
    }
    return true;
}

/* Gives all choices their costs by the present line. */
static void count_again(composer *k)
{
    for (size_t c = 0; c < k->classes->at.n; c++)
        if (k->alone[c].form != NULL)
            k->alone[c].cost = dfl_objective_value(&k->line, k->alone[c].joules, k->alone[c].seconds);
    for (size_t g = 0; g < k->groups.n; g++) {
        group_choice *x = &k->groups.at[g];
        x->cost = 0;
        for (uint32_t i = 0; i < x->group.n; i++) {
            x->choices[i].cost = dfl_objective_value(&k->line, x->choices[i].joules, x->choices[i].seconds);
            x->cost += x->choices[i].cost;
        }
    }
}

/* Makes the line touch the objective at the einsums alone. Returns the rate, W. */
static double set_line(composer *k, double joules, double seconds)
{
    double per_joule, per_second;
    dfl_arena *forms;

    dfl_objective_slopes(k->objective, 0, joules + k->leakage * seconds, seconds, &per_joule, &per_second);
    per_second += k->leakage * per_joule;
    k->line = dfl_objective_line(k->objective, per_joule > 0 ? 1 : 0, per_joule > 0 ? per_second / per_joule : 1);
    forms = dfl_arena_new(dfl_arena_budget(k->arena));
    DFL_PUSH(k->arena, &k->line_arenas, forms);
    for (size_t c = 0; c < k->classes->at.n; c++) {
        k->forms[c] = dfl_pattern_forms_new(forms, k->scratch, &k->classes->at.at[c], &k->line, DFL_FORMS_SEARCH);
        k->flat[c] = dfl_pattern_forms_new(forms, k->scratch, &k->classes->at.at[c], &k->line, DFL_FORMS_FLAT);
    }
    count_again(k);
    return per_joule > 0 ? per_second / per_joule : INFINITY;
}

static void sum_alone(const composer *k, double *joules, double *seconds)
{
    *joules = *seconds = 0;
    for (uint32_t e = 0; e < k->classes->n; e++) {
        *joules += k->alone[k->classes->of[e]].joules;
        *seconds += k->alone[k->classes->of[e]].seconds;
    }
}

static void try_alone(composer *k, dfl_arena *arena, dfl_fused_result *out);

/* In a search with more effort: sets the line that touches the objective at the best split, and searches the einsums alone once
   more if the effort is much more. */
static bool turn_line(composer *k)
{
    (void)set_line(k, k->split_joules, k->split_seconds);
    return k->effort < DFL_ALONE_EFFORT || search_alone(k);
}

/* Sets the line of energy and time, and the best lines of each einsum alone under it, and judges these. The first line touches
   the objective at the known mapping; without one, at the sum of the least energies and times of the einsums. */
static bool find_line(composer *k, dfl_arena *arena, dfl_fused_result *out)
{
    double joules = k->seconds > 0 ? k->joules - k->leakage * k->seconds : 0, seconds = k->seconds, rate;

    if (k->effort > 1 && k->split_seconds > 0)
        return turn_line(k);
    for (uint32_t e = 0; e < k->classes->n && !(k->seconds > 0); e++) {
        const dfl_einsum_class *c = class_of(k, e);
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

/* Tiles below the shared loops of a group, by rank. */
typedef struct { int64_t at[DFL_PROBLEM_RANKS]; } group_tiles;

/* A group that is being searched. */
typedef struct {
    composer *k;
    uint32_t first, n, memory;
    uint32_t inside[DFL_GROUP_EINSUMS];     /* by einsum: mask of operands that are exchanged inside */
    uint32_t pattern[DFL_GROUP_EINSUMS];
    uint32_t n_ranks, rank[DFL_PROBLEM_RANKS]; /* of the workload: those of the shared loops */
    int64_t extent[DFL_PROBLEM_RANKS], tile[DFL_PROBLEM_RANKS];
    einsum_choice choices[DFL_GROUP_EINSUMS];
    double cost;
    double least[DFL_GROUP_EINSUMS];        /* by einsum: least costs whatever the tiles of it and of those behind it */
    DFL_VEC(group_tiles) tried;
} group_search;

/* Whether all einsums that make and read the tensor are in the group. */
static bool is_within(const group_search *g, uint32_t tensor)
{
    const dfl_tensor *t = &g->k->mapping->workload->tensors[tensor];
    bool is_in = t->n_producers > 0 && t->n_consumers > 0;

    for (uint32_t i = 0; i < t->n_producers; i++)
        is_in &= t->producers[i] >= g->first && t->producers[i] < g->first + g->n;
    for (uint32_t i = 0; i < t->n_consumers; i++)
        is_in &= t->consumers[i] >= g->first && t->consumers[i] < g->first + g->n;
    return is_in;
}

/* Keeps of the shared ranks those that index the operand alone in a dimension. */
static void meet_ranks(group_search *g, const dfl_problem *problem, const dfl_problem_operand *o, bool is_first)
{
    uint32_t n = 0;

    if (is_first)
        for (uint32_t r = 0; r < problem->n_ranks; r++)
            if (o->plain >> r & 1) {
                g->extent[g->n_ranks] = problem->extent[r];
                g->rank[g->n_ranks++] = problem->rank[r];
            }
    for (uint32_t i = 0; i < g->n_ranks; i++) {
        const uint32_t r = dfl_problem_find_rank(problem, g->rank[i]);
        if (r == problem->n_ranks || !(o->plain >> r & 1) || problem->extent[r] != g->extent[i])
            continue;
        g->extent[n] = g->extent[i];
        g->rank[n++] = g->rank[i];
    }
    g->n_ranks = n;
}

/* Finds what the group exchanges, and the patterns. False if some einsum exchanges nothing inside, or cannot, or if all is
   exchanged where it is without the group, too. */
static bool open_group(group_search *g)
{
    bool is_first = true, is_inner = false;

    for (uint32_t i = 0; i < g->n; i++) {
        const dfl_problem *problem = problem_of(g->k, g->first + i);
        g->inside[i] = 0;
        for (uint32_t o = 0; o < problem->n_operands; o++)
            if (problem->operand[o].shared && is_within(g, problem->operand[o].tensor)) {
                g->inside[i] |= 1u << o;
                meet_ranks(g, problem, &problem->operand[o], is_first);
                is_first = false;
            }
        g->pattern[i] = g->inside[i] == 0 ? DFL_NONE : find_pattern(g->k, g->first + i, g->inside[i], g->memory);
        if (g->pattern[i] == DFL_NONE)
            return false;
        is_inner |= g->pattern[i] != find_pattern(g->k, g->first + i, 0, DFL_NONE);
    }
    if (!is_inner)
        return false;
    for (uint32_t i = g->n; i-- > 0;)
        g->least[i] = dfl_pattern_search_roomy(g->k->flat[g->k->classes->of[g->first + i]], g->pattern[i]) +
                      (i + 1 < g->n ? g->least[i + 1] : 0);
    return true;
}

/* Notes tiles that are tried. False if they were before. */
static bool note_tiles(group_search *g, const int64_t *tile)
{
    group_tiles x = { { 0 } };

    memcpy(x.at, tile, g->n_ranks * sizeof *tile);
    for (size_t i = 0; i < g->tried.n; i++)
        if (memcmp(&g->tried.at[i], &x, sizeof x) == 0)
            return false;
    DFL_PUSH(g->k->arena, &g->tried, x);
    return true;
}

/* Searches the einsums of the group with these tiles. Returns whether that is better than the best tiles, which it replaces. */
static bool try_tiles(group_search *g, const int64_t *tile)
{
    einsum_choice choices[DFL_GROUP_EINSUMS] = { { 0 } };
    double cost = 0;

    if (!note_tiles(g, tile))
        return false;
    for (uint32_t i = 0; i < g->n; i++) {
        const dfl_problem *problem = problem_of(g->k, g->first + i);
        dfl_shared_tile shared = { 0 };
        for (uint32_t k = 0; k < g->n_ranks; k++) {
            const uint32_t r = dfl_problem_find_rank(problem, g->rank[k]);
            shared.ranks |= 1u << r;
            shared.tile[r] = tile[k];
        }
        search_einsum(g->k, g->first + i, g->pattern[i], &shared, g->cost - cost - (i + 1 < g->n ? g->least[i + 1] : 0),
                      (uint64_t)DFL_GROUP_NODES * g->k->effort, &choices[i]);
        cost += choices[i].cost;
        if (!(cost < g->cost))
            return false;
    }
    memcpy(g->tile, tile, sizeof g->tile);
    memcpy(g->choices, choices, sizeof choices);
    g->cost = cost;
    return true;
}

/* Changes one tile at a time by factors that become smaller, as long as that makes the group better. */
static void descend(group_search *g)
{
    static const double FACTORS[] = { 16, 4, 2, 1.4, 1.15 };
    const uint32_t most = DFL_GROUP_TRIES * g->k->effort;

    for (uint32_t f = 0; f < sizeof FACTORS / sizeof *FACTORS; f++)
        for (bool is_better = true; is_better && g->tried.n < most;) {
            is_better = false;
            for (uint32_t i = 0; i < 2 * g->n_ranks && g->tried.n < most; i++) {
                int64_t tile[DFL_PROBLEM_RANKS];
                memcpy(tile, g->tile, sizeof tile);
                tile[i / 2] = dfl_even_tile(g->extent[i / 2], (double)tile[i / 2] * (i % 2 ? 1 / FACTORS[f] : FACTORS[f]));
                if (tile[i / 2] != g->tile[i / 2])
                    is_better |= try_tiles(g, tile);
            }
        }
}

/* Loops over ranks that all results of the group have stand outermost: no result is read back for them. */
static void order_loops(const group_search *g, dfl_fused_group *out)
{
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < g->n_ranks; i++) {
            bool is_kept = true;
            for (uint32_t e = 0; e < g->n; e++) {
                const dfl_problem *problem = problem_of(g->k, g->first + e);
                is_kept &= problem->operand[problem->n_operands - 1].ranks >> dfl_problem_find_rank(problem, g->rank[i]) & 1;
            }
            if (g->tile[i] >= g->extent[i] || is_kept != (pass == 0))
                continue;
            out->rank[out->n_loops] = g->rank[i];
            out->tile[out->n_loops++] = g->tile[i];
        }
}

/* A group that may be better than its einsums alone. */
typedef struct {
    uint32_t first, n, memory;
    double saving;                          /* at most: what its einsums cost alone, less the least bounds of their patterns */
} possible_group;

/* Adds a group in the place of the one of the same einsums and memory, `before`; NULL = there is none. */
static void add_group(group_search *g, group_choice *before)
{
    composer *k = g->k;
    group_choice x = { .group = { .first = g->first, .n = g->n, .memory = g->memory }, .cost = g->cost };
    DFL_VEC(uint32_t) tensors = { NULL, 0, 0 };

    for (uint32_t i = 0; i < g->n; i++) {
        const dfl_problem *problem = problem_of(k, g->first + i);
        for (uint32_t o = 0; o < problem->n_operands; o++)
            if ((g->inside[i] >> o & 1) && problem->operand[o].output)
                DFL_PUSH(k->arena, &tensors, problem->operand[o].tensor);
    }
    x.group.tensors = tensors.at;
    x.group.n_tensors = (uint32_t)tensors.n;
    order_loops(g, &x.group);
    x.choices = dfl_arena_alloc(k->arena, g->n, sizeof *x.choices, _Alignof(einsum_choice));
    memcpy(x.choices, g->choices, g->n * sizeof *x.choices);
    memcpy(x.tile, g->tile, sizeof x.tile);
    if (before != NULL)
        *before = x;
    else
        DFL_PUSH(k->arena, &k->groups, x);
}

/* The group of these einsums and this memory that was found before, or NULL. */
static group_choice *find_group(const composer *k, const possible_group *p)
{
    for (size_t g = 0; g < k->groups.n; g++) {
        const dfl_fused_group *x = &k->groups.at[g].group;
        if (x->first == p->first && x->n == p->n && x->memory == p->memory)
            return &k->groups.at[g];
    }
    return NULL;
}

static double cost_alone(const composer *k, uint32_t first, uint32_t n)
{
    double cost = 0;

    for (uint32_t e = first; e < first + n; e++)
        cost += k->alone[k->classes->of[e]].cost;
    return cost;
}

/* Tries whole ranks, and one element of one rank each. */
static void try_starts(group_search *g)
{
    int64_t tile[DFL_PROBLEM_RANKS];

    for (uint32_t start = 0; start <= g->n_ranks; start++) {
        for (uint32_t i = 0; i < g->n_ranks; i++)
            tile[i] = start == i + 1 ? 1 : g->extent[i];
        (void)try_tiles(g, tile);
    }
}

static int by_saving(const void *a, const void *b)
{
    const possible_group *x = a, *y = b;

    if (x->saving != y->saving)
        return x->saving > y->saving ? -1 : 1;
    if (x->n != y->n)
        return x->n < y->n ? -1 : 1;
    return x->first != y->first ? (x->first < y->first ? -1 : 1) : (x->memory > y->memory) - (x->memory < y->memory);
}

/* Searches a group: from the tiles that were found before, from the best of some starts, and from tiles of one element. */
static void search_group(composer *k, const possible_group *p)
{
    const group_search fresh = { .k = k, .first = p->first, .n = p->n, .memory = p->memory, .cost = INFINITY };
    group_choice *before = find_group(k, p);
    group_search g = fresh, ones = fresh;

    if (!open_group(&g) || !open_group(&ones))
        return;
    if (before != NULL) {
        memcpy(g.tile, before->tile, sizeof g.tile);
        memcpy(g.choices, before->choices, p->n * sizeof *g.choices);
        g.cost = before->cost;
    }
    try_starts(&g);
    descend(&g);
    for (uint32_t i = 0; i < ones.n_ranks; i++)
        ones.tile[i] = 1;
    (void)try_tiles(&ones, ones.tile);
    descend(&ones);
    if (ones.cost < g.cost)
        g = ones;
    if (before != NULL ? g.cost < before->cost : g.cost < cost_alone(k, p->first, p->n))
        add_group(&g, before);
}

/* Searches the groups of neighbouring einsums with an exchange in one memory, those that may save most first. */
static void search_groups(composer *k)
{
    const double least = cost_alone(k, 0, k->classes->n) * DFL_GROUP_SAVING;
    const dfl_system *s = k->mapping->system;
    DFL_VEC(possible_group) groups = { NULL, 0, 0 };

    for (uint32_t n = 2; n <= DFL_GROUP_EINSUMS; n++)
        for (uint32_t first = 0; first + n <= k->classes->n; first++)
            for (uint32_t m = 0; m < s->n_memories; m++) {
                group_search g = { .k = k, .first = first, .n = n, .memory = m };
                possible_group p = { first, n, m, 0 };
                if (!open_group(&g))
                    continue;
                p.saving = cost_alone(k, first, n) - g.least[0];
                if (p.saving > least)
                    DFL_PUSH(k->arena, &groups, p);
            }
    if (groups.n > 0)
        qsort(groups.at, groups.n, sizeof *groups.at, by_saving);
    for (size_t i = 0; i < groups.n && k->deadline.why == DFL_STOP_NONE; i++)
        search_group(k, &groups.at[i]);
}

/* ---- mapping ---- */

/* The best split into groups and einsums alone; `at[e]` is the group that ends behind einsum e, or DFL_NONE. */
static void split_groups(const composer *k, uint32_t *at)
{
    double *cost = DFL_NEW_ARRAY(k->arena, double, (size_t)k->classes->n + 1);

    for (uint32_t e = 1; e <= k->classes->n; e++) {
        cost[e] = cost[e - 1] + cost_alone(k, e - 1, 1);
        at[e] = DFL_NONE;
        for (uint32_t g = 0; g < k->groups.n; g++) {
            const group_choice *x = &k->groups.at[g];
            if (x->group.first + x->group.n == e && cost[x->group.first] + x->cost < cost[e]) {
                cost[e] = cost[x->group.first] + x->cost;
                at[e] = g;
            }
        }
    }
}

static void choose(const composer *k, uint32_t e, const einsum_choice *from, dfl_chosen_form *out)
{
    out->form = from->form;
    for (size_t i = 0; i < k->classes->problems[e].n; i++)
        if (k->classes->problems[e].at[i]->unit == from->form->problem->unit)
            out->problem = k->classes->problems[e].at[i];
    for (uint32_t r = 0; r < from->form->problem->n_ranks; r++)
        out->amounts[r] = from->amounts[r];
}

/* The mapping of a split. */
static dfl_mapping *make_mapping(const composer *k, const uint32_t *at)
{
    dfl_chosen_form *chosen = dfl_arena_alloc(k->arena, k->classes->n, sizeof *chosen, _Alignof(dfl_chosen_form));
    dfl_fused_group *groups = dfl_arena_alloc(k->arena, k->classes->n, sizeof *groups, _Alignof(dfl_fused_group));
    uint32_t n = k->classes->n;

    for (uint32_t e = k->classes->n; e > 0; e = groups[n].first) {
        const group_choice *x = at[e] == DFL_NONE ? NULL : &k->groups.at[at[e]];
        n--;
        groups[n] = x ? x->group : (dfl_fused_group){ .first = e - 1, .n = 1 };
        for (uint32_t i = 0; i < groups[n].n; i++)
            choose(k, groups[n].first + i, x ? &x->choices[i] : &k->alone[k->classes->of[e - 1]], &chosen[groups[n].first + i]);
    }
    return dfl_assemble(k->arena, k->mapping, chosen, &groups[n], k->classes->n - n);
}

static void try_split(composer *k, const uint32_t *at, dfl_arena *arena, dfl_fused_result *out)
{
    const dfl_mapping *m = make_mapping(k, at);
    const double value = dfl_mapping_value(dfl_arena_budget(arena), k->names, m, k->objective);

    if (!(value < out->value))
        return;
    out->value = value;
    out->mapping = dfl_mapping_copy(arena, m);
    k->split_joules = k->split_seconds = 0;
    for (uint32_t e = k->classes->n; e > 0;) {
        const group_choice *x = at[e] != DFL_NONE ? &k->groups.at[at[e]] : NULL;
        const einsum_choice *of = x != NULL ? x->choices : &k->alone[k->classes->of[e - 1]];
        const uint32_t n = x != NULL ? x->group.n : 1;
        for (uint32_t i = 0; i < n; i++) {
            k->split_joules += of[i].joules;
            k->split_seconds += of[i].seconds;
        }
        e -= n;
    }
}

/* Tries the einsums alone. */
static void try_alone(composer *k, dfl_arena *arena, dfl_fused_result *out)
{
    uint32_t *at = DFL_NEW_ARRAY(k->arena, uint32_t, (size_t)k->classes->n + 1);

    for (uint32_t e = 0; e <= k->classes->n; e++)
        at[e] = DFL_NONE;
    try_split(k, at, arena, out);
}

/* Tries the best split; a group that the model refuses or values higher is given up. */
static void compose(composer *k, dfl_arena *arena, dfl_fused_result *out)
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
    composer k = { .arena = work, .scratch = dfl_arena_new(NULL), .names = names, .mapping = mapping, .objective = objective,
                   .classes = classes, .leakage = dfl_system_leakage(mapping->system), .joules = joules, .seconds = seconds,
                   .deadline = { .budget = dfl_arena_budget(arena), .at = limits->deadline } };
    dfl_fused_result out = { .value = INFINITY };

    k.deadline.counter = &k.nodes;
    k.deadline.most_evaluations = limits->evaluations;
    if (objective->native && dfl_mapping_all_lines_open(mapping)) {
        k.forms = dfl_arena_alloc(work, 2 * k.classes->at.n, sizeof *k.forms, _Alignof(void *));
        k.flat = &k.forms[k.classes->at.n];
        k.alone = dfl_arena_alloc(work, k.classes->at.n, sizeof *k.alone, _Alignof(einsum_choice));
        for (size_t c = 0; c < k.classes->at.n; c++)
            k.alone[c] = (einsum_choice){ .cost = INFINITY };
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
