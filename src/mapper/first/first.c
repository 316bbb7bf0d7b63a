#include "mapper/first/first.h"

#include <math.h>

#include "ir/mapping_open.h"
#include "mapper/problem/floor.h"
#include "mapper/first/plan.h"
#include "mapper/problem/limits.h"

/* A plan and what it is worth. */
typedef struct {
    dfl_plan plan;
    dfl_first_point point;
    double start;                 /* the estimate after the descent from the start */
    bool is_judged, is_climbed;   /* by the model, after a finer descent; the search has climbed from there */
} candidate;

/* The einsum on one unit. */
typedef struct {
    const dfl_problem *problem;
    double floor;                 /* a lower bound of the value */
    const dfl_fan *fans;          /* choices of axes, best first; NULL = not listed yet */
    uint32_t n_fans;
} unit;

typedef struct {
    dfl_arena *work;
    dfl_first_effort effort;
    unit *unit;                   /* that with the least floor first */
    uint32_t n_units;
    dfl_first_breadth breadth;
    uint32_t n_fans;              /* choices of axes of a unit that are tried, at most */
    double enough;                /* a value that cannot be improved */
    candidate best[DFL_FIRST_REFINED]; /* starts after their descent, by the estimate, best first, */
    uint32_t n_best;              /* and their number */
    candidate found;              /* the best that the model has judged; INFINITY = none */
} search;

/* Values that are larger by less are equal. */
static const double ENOUGH = 1 + 1e-9;

bool dfl_first_handles(const dfl_mapping *mapping, const dfl_objective *objective)
{
    return mapping->workload->n_einsums == 1 && dfl_mapping_all_lines_open(mapping) && objective->native;
}

/* Descends from the plan by the estimate. */
static bool descend(search *k, candidate *c, bool coarse, bool near)
{
    if (!dfl_plan_lines(&c->plan, &c->point.lines))
        return false;
    c->point.problem = c->plan.problem;
    c->point.value = INFINITY;
    if (coarse)
        dfl_first_descend(&k->effort, &c->point, DFL_FIRST_COARSE, 1);
    if (near)
        dfl_first_descend(&k->effort, &c->point, DFL_FIRST_NEAR, 1);
    dfl_plan_take(&c->plan, &c->point.lines);
    return true;
}

/* Lets the model judge. Where it refuses the amounts, or takes too long for their last pieces, those are judged that divide. */
static void judge(search *k, candidate *c)
{
    dfl_first_judge(&k->effort, &c->point);
    if (c->point.value < INFINITY)
        return;
    dfl_skeleton_divide(c->plan.problem, &c->point.lines);
    dfl_first_judge(&k->effort, &c->point);
    if (c->point.value < INFINITY)
        dfl_plan_take(&c->plan, &c->point.lines);
}

/* Puts a candidate among the best by the estimate; of equal ones the first stays in front. */
static void insert(search *k, const candidate *c)
{
    uint32_t at = k->n_best < DFL_FIRST_REFINED ? k->n_best++ : DFL_FIRST_REFINED;

    if (at == DFL_FIRST_REFINED && !(c->start < k->best[--at].start))
        return;
    for (; at > 0 && c->start < k->best[at - 1].start; at--)
        k->best[at] = k->best[at - 1];
    k->best[at] = *c;
}

/* Sorts the units by the floor of the value, least first. */
static void sort_units(search *k, const dfl_problem *const *problems)
{
    k->unit = DFL_NEW_ARRAY(k->work, unit, (size_t)k->n_units + 1);
    for (uint32_t j = 0; j < k->n_units; j++) {
        const unit own = { .problem = problems[j],
                           .floor = dfl_floor_value(k->effort.what->objective, k->effort.leakage, &problems[j], 1) };
        uint32_t at = j;
        for (; at > 0 && own.floor < k->unit[at - 1].floor; at--)
            k->unit[at] = k->unit[at - 1];
        k->unit[at] = own;
    }
}

/* Descends from start `number` of a unit, and puts what it finds among the best by the estimate. Of four starts two are the plain
   plans of two choices of axes, best by one score and by the other, and two the lean plans of both. */
static void try_start(search *k, unit *u, uint32_t number)
{
    const uint32_t fan = number / 4 * 2 + number % 2;
    const bool is_lean = number % 4 > 1;
    candidate c = { .point.value = INFINITY };
    dfl_plan full;

    if (u->fans == NULL)
        u->fans = dfl_fans_find(k->work, u->problem, k->effort.what->objective, k->n_fans, k->breadth, k->effort.halt,
                                &u->n_fans);
    if (fan >= u->n_fans)
        return;
    dfl_plan_make(u->problem, &u->fans[fan], false, &full);
    dfl_plan_make(u->problem, &u->fans[fan], true, &c.plan);
    if (is_lean && dfl_plan_alike(&full, &c.plan))
        return;
    if (!is_lean)
        c.plan = full;
    k->effort.hopeless = k->n_best == DFL_FIRST_REFINED ? k->best[k->n_best - 1].start * DFL_FIRST_HOPELESS : INFINITY;
    if (!descend(k, &c, true, false))
        return;
    c.start = c.point.estimate;
    insert(k, &c);
}

/* Starts `from` to `to` of all units by turns. Those of the first batch are tried whatever the limits, since another unit or
   choice of axes may be a thousand times as fast, unless the floor of the unit is above what is known. */
static void try_starts(search *k, uint32_t from, uint32_t to)
{
    for (uint32_t f = from; f < to; f++)
        for (uint32_t j = 0; j < k->n_units; j++) {
            if (!k->effort.is_first && dfl_first_over(&k->effort))
                return;
            if (k->n_best == 0 || k->unit[j].floor < k->best[0].start)
                try_start(k, &k->unit[j], f);
        }
}

/* The next plan after change `number` of the plan; false if there is no such change. `*done`: no more changes. */
static bool change(const search *k, const dfl_plan *from, uint32_t number, dfl_plan *to, bool *done)
{
    const unit *u = k->unit;

    *to = *from;
    for (uint32_t g = 0; g < from->n; g++)
        for (uint32_t i = 0; i < from->group[g].n_keeps; i++) {
            if (number < 3)
                return number == 0 ? dfl_plan_drop(to, g, i) : dfl_plan_split(to, g, i, number == 1);
            number -= 3;
        }
    for (uint32_t g = 0; g <= from->n; g++)
        for (uint32_t r = 0; r < from->problem->n_ranks; r++)
            if (number-- == 0)
                return from->problem->extent[r] > 1 && dfl_plan_turn(to, g, r);
    for (uint32_t g = 0; g + 1 < from->n; g++)
        if (number-- == 0)
            return dfl_plan_swap(to, g);
    for (uint32_t o = 0; o < from->problem->n_operands; o++)
        for (uint32_t p = 0; p < from->problem->n_places; p++)
            if (number-- == 0)
                return dfl_plan_add(to, o, p);
    while (u->problem != from->problem)
        u++;
    if (number < u->n_fans) {
        to->fan = u->fans[number];
        return true;
    }
    *done = true;
    return false;
}

/* Takes neighbours of a plan as long as they are better. */
static void climb(search *k, candidate *best)
{
    uint32_t i = 0, tried = 0;
    bool done = false;

    while (!dfl_first_over(&k->effort) && best->point.value > k->enough) {
        candidate c = { .point.value = INFINITY };
        const bool is_change = change(k, &best->plan, i++, &c.plan, &done);
        if (done && tried == 0)
            return;
        if (done) { /* once more from the first on, up to where the last one was taken */
            i = tried = 0;
            done = false;
            continue;
        }
        if (!is_change || !descend(k, &c, false, true) || c.point.estimate > best->point.estimate * DFL_FIRST_SLACK)
            continue;
        judge(k, &c);
        if (!(c.point.value < best->point.value * (1 - 1e-6)))
            continue;
        *best = c;
        tried++;
    }
}

/* Whether the search ends: what it has cannot be improved, or a limit ends it. */
static bool is_over(search *k) { return k->found.point.value <= k->enough || dfl_first_over(&k->effort); }

/* Takes what is better than the best so far. */
static void take(search *k, const candidate *c)
{
    if (c->point.value < k->found.point.value)
        k->found = *c;
}

/* The best of the first `n` that the model has judged, and from which the search has not climbed; NULL = none. */
static candidate *next_climb(search *k, uint32_t n)
{
    candidate *next = NULL;

    for (uint32_t i = 0; i < n; i++)
        if (k->best[i].is_judged && !k->best[i].is_climbed && k->best[i].point.value < INFINITY &&
            (next == NULL || k->best[i].point.value < next->point.value))
            next = &k->best[i];
    return next;
}

/* Judges the best starts, then climbs from them, the best first. A limit ends this, but for the first one where nothing else is
   judged yet. */
static void refine(search *k, uint32_t refined, uint32_t climbs)
{
    const uint32_t n = refined < k->n_best ? refined : k->n_best;
    candidate *next;

    for (uint32_t i = 0; i < n && (k->found.point.value == INFINITY || !is_over(k)); i++) {
        if (k->best[i].is_judged)
            continue;
        if (!k->effort.is_first) /* else the model judges before a limit may end a finer descent */
            k->best[i].is_judged = descend(k, &k->best[i], false, true);
        judge(k, &k->best[i]);
        take(k, &k->best[i]);
    }
    for (uint32_t i = 0; i < climbs && !is_over(k) && (next = next_climb(k, n)) != NULL; i++) {
        candidate c = *next;
        next->is_climbed = true;
        if (k->breadth != DFL_FIRST_STRAIGHT)
            climb(k, &c);
        if (dfl_plan_lines(&c.plan, &c.point.lines))
            dfl_first_descend(&k->effort, &c.point, DFL_FIRST_JUDGED, DFL_FIRST_SLACK);
        take(k, &c);
    }
}

/* Starts of each unit, two for each choice of axes, the batches before included; the best ones of all, which the model judges;
   those of them from which the search climbs. A limit ends the batches, which do not depend on it: a larger one finds no worse.
   Most searches end by their evaluations in the last batch. */
static const struct { uint32_t starts, refined, climbs; } BATCHES[] = {
    { 2, 1, 0 }, { 12, 1, 1 }, { 64, DFL_FIRST_REFINED, DFL_FIRST_REFINED },
};

dfl_first_result dfl_first_search(dfl_arena *arena, const dfl_prepared_for *what, const dfl_problem *const *problems,
                                  uint32_t n_problems,
                                  uint64_t evaluations, dfl_first_breadth breadth, dfl_deadline *halt)
{
    dfl_arena *work = dfl_arena_new(what->budget);
    const uint32_t n = sizeof BATCHES / sizeof *BATCHES - (breadth != DFL_FIRST_WIDE);
    search *k = DFL_NEW(work, search);
    const candidate *found = &k->found;
    dfl_first_result out = { .value = INFINITY };

    *k = (search){ .work = work, .n_units = n_problems, .breadth = breadth, .n_fans = BATCHES[n - 1].starts / 2,
                   .effort = { .what = what, .halt = halt, .most = evaluations,
                               .leakage = dfl_system_leakage(what->given->system) },
                   .found.point.value = INFINITY };
    sort_units(k, problems);
    k->enough = n_problems > 0 ? k->unit[0].floor * ENOUGH : 0;
    for (uint32_t b = 0, from = 0; b < n && (b == 0 || !is_over(k)); from = BATCHES[b++].starts) {
        k->effort.is_first = b == 0;
        try_starts(k, from, BATCHES[b].starts);
        refine(k, BATCHES[b].refined, b + 1 == n ? BATCHES[b].climbs : 0);
    }
    if (found->point.value < INFINITY) {
        dfl_skeleton stripped;
        dfl_skeleton_strip(found->plan.problem, &found->point.lines, &stripped);
        out.mapping = dfl_skeleton_mapping(arena, what->given, found->plan.problem, &stripped);
        out.value = found->point.value;
        out.joules = found->point.joules;
        out.seconds = found->point.seconds;
    }
    out.evaluated = k->effort.evaluated;
    dfl_arena_free(work);
    return out;
}

/* The problems of the einsum on the units that can be searched. `is_all`, if not NULL, tells whether these are all that can run
   it. */
static dfl_problems make_problems(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping, bool any_spread,
                                  bool *is_all)
{
    const dfl_problem_limits limits = { .spread = any_spread };
    const char *lack = NULL;
    const bool *roomy = dfl_space_roomy(arena, mapping, &limits);
    const dfl_problems out = dfl_problems_make(arena, names, mapping, 0, &limits, roomy, &lack);

    if (is_all != NULL)
        *is_all = lack == NULL;
    return out;
}

dfl_first_result dfl_first_find(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping,
                                const dfl_objective *objective, const dfl_search_limits *limits, bool any_spread,
                                dfl_first_breadth breadth)
{
    const dfl_prepared_for what = { .names = names, .given = mapping, .objective = objective,
                                    .budget = dfl_arena_budget(arena), .deadline = limits->deadline };
    const uint64_t most = limits->evaluations > 0 && limits->evaluations < DFL_FIRST_EVALUATIONS ? limits->evaluations
                                                                                                 : DFL_FIRST_EVALUATIONS;
    dfl_deadline halt = { .budget = what.budget, .at = limits->deadline };
    dfl_first_result out = { .value = INFINITY };
    dfl_problems problems;
    dfl_arena *work;

    if (!dfl_first_handles(mapping, objective))
        return out;
    work = dfl_arena_new(what.budget);
    problems = make_problems(work, names, mapping, any_spread, NULL);
    if (problems.n > 0)
        out = dfl_first_search(arena, &what, dfl_problems_list(&problems), (uint32_t)problems.n, most, breadth, &halt);
    dfl_arena_free(work);
    return out;
}

double dfl_first_bound(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping, const dfl_objective *objective)
{
    dfl_arena *work;
    dfl_problems problems;
    double least = 0;
    bool is_all;

    if (!dfl_first_handles(mapping, objective))
        return 0;
    work = dfl_arena_new(dfl_arena_budget(arena));
    problems = make_problems(work, names, mapping, true, &is_all);
    if (problems.n > 0 && is_all)
        least = dfl_floor_value(objective, dfl_system_leakage(mapping->system), dfl_problems_list(&problems),
                                (uint32_t)problems.n);
    dfl_arena_free(work);
    return least;
}

bool dfl_first_is_deep(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping)
{
    dfl_arena *work = dfl_arena_new(dfl_arena_budget(arena));
    const dfl_problems problems = make_problems(work, names, mapping, true, NULL);
    bool is_deep = false;

    for (size_t j = 0; j < problems.n; j++) {
        int keeps = 0;
        for (uint32_t o = 0; o < problems.at[j]->n_operands; o++)
            keeps += __builtin_popcount(problems.at[j]->operand[o].places);
        is_deep |= keeps >= DFL_FIRST_DEEP;
    }
    dfl_arena_free(work);
    return is_deep;
}
