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
} candidate;

typedef struct {
    dfl_arena *work;
    dfl_first_effort effort;
    const dfl_problem *const *problems;
    uint32_t n_problems;
    dfl_first_breadth breadth;
    const dfl_fan **fans;         /* by problem: choices of axes, best first, */
    uint32_t *n_fans;             /* and their number */
    double enough;                /* a value that cannot be improved */
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

/* Puts a candidate among the best by the estimate, at most `most`; of equal ones the first stays in front. */
static void insert(candidate *best, uint32_t *n, uint32_t most, const candidate *c)
{
    uint32_t at = *n < most ? (*n)++ : most;

    if (at == most && !(c->point.estimate < best[--at].point.estimate))
        return;
    for (; at > 0 && c->point.estimate < best[at - 1].point.estimate; at--)
        best[at] = best[at - 1];
    best[at] = *c;
}

/* The best plans of all units by the estimate, best first; their number. The first one of each unit is tried whatever the limits:
   another unit may be a thousand times as fast. */
static uint32_t find_starts(search *k, candidate *best)
{
    const uint32_t starts = k->breadth != DFL_FIRST_WIDE ? DFL_FIRST_STARTS_BRIEF : DFL_FIRST_STARTS;
    const uint32_t refined = k->breadth != DFL_FIRST_WIDE ? DFL_FIRST_REFINED_BRIEF : DFL_FIRST_REFINED;
    uint32_t n = 0;

    for (uint32_t j = 0; j < k->n_problems; j++) {
        k->fans[j] = dfl_fans_find(k->work, k->problems[j], k->effort.what->objective, starts, k->breadth, &k->n_fans[j]);
        for (uint32_t f = 0; f < 2 * k->n_fans[j] && (f == 0 || n == 0 || !dfl_first_over(&k->effort)); f++) {
            candidate c = { .point.value = INFINITY };
            dfl_plan full;
            dfl_plan_make(k->problems[j], &k->fans[j][f / 2], false, &full);
            dfl_plan_make(k->problems[j], &k->fans[j][f / 2], true, &c.plan);
            if (f % 2 == 1 && dfl_plan_alike(&full, &c.plan))
                continue;
            if (f % 2 == 0)
                c.plan = full;
            if (descend(k, &c, true, false))
                insert(best, &n, refined, &c);
        }
    }
    return n;
}

/* The next plan after change `number` of the plan; false if there is no such change. `*done`: no more changes. */
static bool change(const search *k, const dfl_plan *from, uint32_t number, dfl_plan *to, bool *done)
{
    uint32_t j = 0;

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
    while (k->problems[j] != from->problem)
        j++;
    if (number < k->n_fans[j]) {
        to->fan = k->fans[j][number];
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

/* Best first; of equal ones the first stays in front. */
static void sort_by_value(candidate *at, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        const candidate c = at[i];
        uint32_t k = i;
        for (; k > 0 && c.point.value < at[k - 1].point.value; k--)
            at[k] = at[k - 1];
        at[k] = c;
    }
}

dfl_first_result dfl_first_search(dfl_arena *arena, const dfl_prepared_for *what, const dfl_problem *const *problems,
                                  uint32_t n_problems,
                                  uint64_t evaluations, dfl_first_breadth breadth, dfl_deadline *halt)
{
    search k = { .work = dfl_arena_new(what->budget), .effort = { .what = what, .halt = halt, .most = evaluations,
                                                                             .leakage = dfl_system_leakage(what->given->system) },
                 .problems = problems, .n_problems = n_problems, .breadth = breadth };
    candidate *best = DFL_NEW_ARRAY(k.work, candidate, DFL_FIRST_REFINED + 1);
    dfl_first_result out = { .value = INFINITY };
    const uint32_t climbs = breadth == DFL_FIRST_WIDE ? DFL_FIRST_CLIMBS : 1;
    uint32_t n;

    k.enough = dfl_floor_value(what->objective, k.effort.leakage, problems, n_problems) * ENOUGH;
    k.fans = DFL_NEW_ARRAY(k.work, const dfl_fan *, n_problems + 1);
    k.n_fans = DFL_NEW_ARRAY(k.work, uint32_t, n_problems + 1);
    n = find_starts(&k, best);
    for (uint32_t i = 0; i < n; i++) {
        (void)descend(&k, &best[i], false, true);
        judge(&k, &best[i]);
    }
    sort_by_value(best, n);
    for (uint32_t i = 0; i < n && i < climbs && best[0].point.value > k.enough && !dfl_first_over(&k.effort); i++) {
        if (breadth != DFL_FIRST_STRAIGHT)
            climb(&k, &best[i]);
        if (best[i].point.value < INFINITY && dfl_plan_lines(&best[i].plan, &best[i].point.lines))
            dfl_first_descend(&k.effort, &best[i].point, DFL_FIRST_JUDGED, DFL_FIRST_SLACK);
        if (best[i].point.value < best[0].point.value)
            best[0] = best[i];
    }
    if (n > 0 && best[0].point.value < INFINITY) {
        dfl_skeleton stripped;
        dfl_skeleton_strip(best[0].plan.problem, &best[0].point.lines, &stripped);
        out.mapping = dfl_skeleton_mapping(arena, what->given, best[0].plan.problem, &stripped);
        out.value = best[0].point.value;
        out.joules = best[0].point.joules;
        out.seconds = best[0].point.seconds;
    }
    out.evaluated = k.effort.evaluated;
    dfl_arena_free(k.work);
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
