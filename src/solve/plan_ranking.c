#include "solve/plan_ranking.h"

#include <string.h>

#include "support/limits.h"

/* Whether a plan comes before another one: it is better, or equal and its amounts come first. */
static bool comes_before(const dfl_plan_ranking *r, const double *terms, uint64_t number, const dfl_ranked_plan *other)
{
    if (dfl_objective_less(r->objective, terms, other->terms))
        return true;
    return number < other->number && !dfl_objective_less(r->objective, other->terms, terms);
}

/* Whether `terms` are at most `others`, all of them. */
static bool is_at_most(const dfl_plan_ranking *r, const double *terms, const double *others)
{
    for (uint32_t i = 0; i < dfl_objective_count(r->objective); i++)
        if (terms[i] > others[i])
            return false;
    return true;
}

/* Removes the plans of a Pareto set that the new one undercuts or equals. False if it does not belong to the set. */
static bool make_room(dfl_plan_ranking *r, const double *terms, uint64_t number)
{
    size_t n = 0;

    for (size_t i = 0; i < r->plans.n; i++) {
        const bool is_below = is_at_most(r, r->plans.at[i].terms, terms), is_above = is_at_most(r, terms, r->plans.at[i].terms);

        if (is_below && (!is_above || r->plans.at[i].number < number))
            return false; /* then no plan was removed: the set would not have had both */
        if (!is_above)
            r->plans.at[n++] = r->plans.at[i];
    }
    r->plans.n = n;
    return true;
}

void dfl_plan_ranking_add(dfl_plan_ranking *r, const double *terms, uint64_t number)
{
    const uint32_t n_terms = dfl_objective_count(r->objective);
    double *own = DFL_NEW_ARRAY(r->arena, double, n_terms);
    const dfl_ranked_plan plan = { own, number };
    size_t at;

    memcpy(own, terms, n_terms * sizeof *own);
    if (r->is_front && !make_room(r, terms, number))
        return;
    for (at = r->plans.n; at > 0 && comes_before(r, terms, number, &r->plans.at[at - 1]); at--)
        ;
    if (!r->is_front && at == r->most)
        return;
    if (r->is_front || r->plans.n < r->most)
        DFL_PUSH(r->arena, &r->plans, plan);
    for (size_t i = r->plans.n - 1; i > at; i--)
        r->plans.at[i] = r->plans.at[i - 1];
    r->plans.at[at] = plan;
}

bool dfl_plan_ranking_excludes(const dfl_plan_ranking *r, const double *floors)
{
    if (!r->is_front)
        return r->plans.n == r->most && floors[0] > dfl_value_times(r->plans.at[r->most - 1].terms[0], 1 + DFL_VALUE_TOLERANCE);
    for (size_t i = 0; i < r->plans.n; i++)
        if (is_at_most(r, r->plans.at[i].terms, floors))
            return true;
    return false;
}
