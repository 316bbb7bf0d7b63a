/* The loops that an einsum shares with others: which ranks are cut by how much in the gaps above its homes. */
#include <math.h>
#include <string.h>

#include "mapper/divisors/divisors_internal.h"
#include "mapper/divisors/occupancy.h"
#include "mapper/divisors/port_time.h"
#include "mapper/divisors/signature.h"
#include "support/hash.h"

/* Those of the loops `left` in a gap that can stand next: the first one must change the keep just above not at all, unless that
   stands there so that its transfers run beside the work of others. */
static uint32_t may_stand(const dfl_search *s, uint32_t gap, uint32_t left, uint32_t n_loops)
{
    const dfl_template_keep *above = gap > 0 ? &s->t->keep[gap - 1] : NULL;
    uint32_t all = 0, may = s->through != NULL ? left & 1u << s->through->rank[n_loops] : left; /* which gives the order */

    for (uint32_t r = 0; r < s->problem->n_ranks; r++)
        all |= (uint32_t)(s->shared_by[r] > 1 && s->shared_gap[r] == gap) << r;
    return left == all && above != NULL && !above->home && !s->goal->beside ? may & ~s->problem->operand[above->operand].plain
        : may;
}

/* Whether the last loop above each keep for several einsums changes it: it could stand above that loop, too. */
static bool stand_outside(const dfl_search *s, const dfl_way *way)
{
    for (uint32_t o = 0; o < s->problem->n_operands; o++)
        if (s->problem->operand[o].common != 0 && way->depth[o] > 0 &&
            !(s->problem->operand[o].plain >> way->loop_rank[way->depth[o] - 1] & 1))
            return false;
    return true;
}

/* Every order that the shared loops of a gap can stand in. */
static void order_loops(dfl_search *s, dfl_way *way, uint32_t gap, uint32_t left)
{
    if (left == 0 && gap + 1 >= s->t->shared_gaps) {
        s->way_more[s->n_ways] = dfl_criteria_zero();
        if (!stand_outside(s, way))
            return;
        if (!s->goal->wanted || s->goal->wanted(s->goal->filter, s->problem, way, &s->way_more[s->n_ways])) {
            if (s->through != NULL)
                s->way_more[s->n_ways] = dfl_criteria_zero(); /* more than the class has at least; `rest` is of the ask */
            s->way_hash[s->n_ways] = dfl_hash(way, sizeof *way, 0);
            s->way_kind[s->n_ways] = s->goal->top > 0 ? dfl_signature_of(s->problem, s->t, way) : 0;
            s->ways[s->n_ways++] = *way;
        }
        return;
    }
    if (left == 0) {
        for (uint32_t r = 0; r < s->problem->n_ranks; r++)
            left |= (uint32_t)(s->shared_by[r] > 1 && s->shared_gap[r] == gap + 1) << r;
        order_loops(s, way, gap + 1, left);
        return;
    }
    for (uint32_t bits = may_stand(s, gap, left, way->n_loops); bits != 0; bits &= bits - 1) {
        uint32_t r = (uint32_t)__builtin_ctz(bits);
        way->loop_rank[way->n_loops] = (uint8_t)r;
        way->trips[way->n_loops++] = s->shared_by[r];
        order_loops(s, way, gap, left & ~(1u << r));
        way->trips[--way->n_loops] = 0;
        way->loop_rank[way->n_loops] = 0;
    }
}

/* The shared loops are chosen: what all rows of the choice have in common. False if no neighbour goes with any of them. */
static bool make_ways(dfl_search *s)
{
    const dfl_problem *problem = s->problem;
    dfl_way way;
    uint32_t first = 0;

    memset(&way, 0, sizeof way);
    for (uint32_t i = 0, depth = 0; i < s->t->n_keeps; i++) {
        for (uint32_t r = 0; r < problem->n_ranks; r++)
            depth += s->shared_by[r] > 1 && s->shared_gap[r] == i;
        s->depth[i] = depth;
    }
    for (uint32_t o = 0; o < problem->n_operands; o++)
        way.memory[o] = (uint16_t)(dfl_problem_exchanged(&problem->operand[o]) ? problem->place[s->t->exchange[o]].memory : 0);
    for (uint32_t i = 0; i < s->t->n_keeps; i++)
        if (s->t->keep[i].home)
            way.depth[s->t->keep[i].operand] = (uint8_t)s->depth[i];
    for (uint32_t r = 0; r < problem->n_ranks; r++)
        first |= (uint32_t)(s->shared_by[r] > 1 && s->shared_gap[r] == 0) << r;
    s->n_ways = 0;
    order_loops(s, &way, 0, first);
    return s->n_ways > 0;
}

/* The cuts of every spread that is still of use with the shared loops chosen. */
static void search_each(dfl_search *s, dfl_spatial *const *spreads, uint32_t n)
{
    dfl_criteria more;

    s->set = dfl_port_time_set(s);
    dfl_sharing_loops(s);
    if (!make_ways(s)) {
        s->rows->pruned += n;
        return;
    }
    more = s->way_more[0];
    s->rest = s->goal->rest;
    for (uint32_t w = 1; w < s->n_ways; w++)
        dfl_criteria_lower(&more, &s->way_more[w]);
    dfl_criteria_add(&s->goal->rest, &more);
    for (uint32_t i = 0; i < n && !dfl_deadline_passed(s->goal->halt); i++) {
        s->now = spreads[i];
        s->placed = false;
        if (dfl_sharing_useful(s) && dfl_occupancy_left(s) && dfl_search_useful(s, s->least_joules, s->least_seconds))
            dfl_search_cuts(s);
        else
            s->rows->pruned++;
    }
    s->goal->rest = s->rest;
}

void dfl_sharing_loops(dfl_search *s)
{
    for (uint32_t g = 0; g < s->terms.n_groups; g++) {
        const dfl_term_group *group = &s->terms.group[g];
        s->loops[g] = 1;
        for (uint32_t bits = group->ranks & ~s->group_last[g]; bits != 0; bits &= bits - 1) {
            uint32_t r = (uint32_t)__builtin_ctz(bits);
            s->loops[g] *= s->need[r][group->gap] * dfl_shared_above(s, r, group->gap);
        }
    }
}

/* Whether the spread and the shared loops chosen so far can be of use: every other loop has one iteration, or all that are
   left where there is no gap for them further in. */
bool dfl_sharing_useful(dfl_search *s)
{
    const dfl_spatial *now = s->now;
    double joules = now->taken, seconds = now->unit_seconds, factor[DFL_TERM_GROUPS];
    uint32_t n_groups = s->terms.n_groups;

    for (uint32_t g = 0; g < n_groups; g++) {
        factor[g] = now->all[g] * s->loops[g];
        joules += now->joules[g] > 0 ? now->joules[g] * factor[g] : 0;
    }
    for (uint32_t i = 0; i < s->n_used && s->goal->by_time; i++) {
        const double *port = dfl_port(s, i);
        double busy = 0;
        for (uint32_t g = 0; g < n_groups; g++)
            busy += port[g] * factor[g];
        seconds = seconds > busy ? seconds : busy;
    }
    s->least_joules = joules;
    s->least_seconds = seconds;
    return dfl_tile_useful(s->goal, joules, seconds);
}

/* Whether the neighbours go with a loop over rank r in gap g: it stands above all homes further in. */
static bool loop_wanted(const dfl_search *s, uint32_t r, uint32_t g)
{
    for (uint32_t i = g; i < s->t->shared_gaps && s->goal->wanted; i++)
        if (s->t->keep[i].home &&
            !s->goal->loop_wanted(s->goal->filter, s->problem, s->t->keep[i].operand,
                                  s->problem->place[s->t->keep[i].place].memory, r, s->shared_by[r]))
            return false;
    return true;
}

void dfl_search_alone(dfl_search *s)
{
    s->placed = false;
    if (make_ways(s) && dfl_occupancy_left(s) && dfl_search_useful(s, s->least_joules, s->least_seconds))
        dfl_search_cuts(s);
    else
        s->rows->pruned++;
}

/* Cuts rank r and those behind it by a shared loop, or not, for the spreads that are of use with the loops so far; behind them
   there is room for as many for each rank to come. */
static void share_from(dfl_search *s, uint32_t r, dfl_spatial **spreads, uint32_t n)
{
    dfl_spatial **next = spreads + n;
    uint32_t n_next;

    if (dfl_deadline_passed(s->goal->halt))
        return;
    if (r == s->problem->n_ranks) {
        search_each(s, spreads, n);
        return;
    }
    share_from(s, r + 1, spreads, n);
    if (s->n_shared == DFL_ROW_LOOPS || s->n_shared >= s->goal->max_loops)
        return;
    s->n_shared++;
    s->set = dfl_port_time_least(s);
    for (uint32_t g = 0; g < s->t->shared_gaps; g++) {
        bool any = true;
        if (!(s->t->allow[g] >> r & 1))
            continue;
        s->shared_gap[r] = g;
        for (uint32_t i = 1; i < s->divisors[r].n && any; i++) {
            s->shared_by[r] = s->divisors[r].at[i];
            if (!loop_wanted(s, r, g))
                continue;
            any = false; /* nor with more iterations, unless some spread is of use */
            n_next = 0;
            dfl_sharing_loops(s);
            for (uint32_t k = 0; k < n; k++) {
                s->now = spreads[k];
                if (s->now->left[r] < s->shared_by[r])
                    continue;
                s->rows->evaluated++;
                s->set = dfl_port_time_least(s);
                if (!dfl_sharing_useful(s)) {
                    s->rows->pruned++;
                    continue;
                }
                any = true;
                if (s->now->left[r] % s->shared_by[r] == 0 && (!s->goal->whole_loops || s->shared_by[r] == s->now->left[r]))
                    next[n_next++] = s->now;
            }
            if (n_next > 0)
                share_from(s, r + 1, next, n_next);
        }
    }
    s->shared_by[r] = 1;
    s->shared_gap[r] = DFL_NONE;
    s->n_shared--;
}

void dfl_share(dfl_search *s, dfl_spatial *const *spreads, uint32_t n)
{
    dfl_spatial **all = DFL_NEW_ARRAY(s->rows->scratch, dfl_spatial *, (size_t)n * (s->problem->n_ranks + 1) + 1);

    for (uint32_t i = 0; i < n; i++)
        all[i] = spreads[i];
    share_from(s, 0, all, n);
}

/* Whether what is alive stands below as many of the loops in the gaps that are chosen as it does. */
static bool stands_alike(const dfl_search *s, const dfl_pass_through_way *w)
{
    uint32_t depth[DFL_PROBLEM_OPERANDS] = { 0 };

    for (uint32_t i = 0; i < s->t->n_keeps; i++)
        for (uint32_t r = 0; r < s->problem->n_ranks && s->t->keep[i].home; r++)
            depth[s->t->keep[i].operand] += s->shared_by[r] > 1 && s->shared_gap[r] <= i;
    for (uint32_t o = 0; o < s->problem->n_operands; o++)
        if ((w->known >> o & 1) && depth[o] != w->depth[o])
            return false;
    return true;
}

/* Puts loop `l` of the way and those behind it into gaps, the last one into the last. */
static void through_from(dfl_search *s, uint32_t l, uint32_t gap, dfl_spatial **spreads, uint32_t n)
{
    const dfl_pass_through_way *w = s->through;
    dfl_spatial **next = spreads + n;
    uint32_t r = w->rank[l];

    if (dfl_deadline_passed(s->goal->halt))
        return;
    if (l == w->n_loops) {
        if (stands_alike(s, w))
            search_each(s, spreads, n);
        return;
    }
    s->n_shared++;
    s->set = dfl_port_time_least(s);
    s->shared_by[r] = w->trips[l];
    for (uint32_t g = l + 1 == w->n_loops ? s->t->shared_gaps - 1 : gap; g < s->t->shared_gaps; g++) {
        uint32_t n_next = 0;
        if (!(s->t->allow[g] >> r & 1))
            continue;
        s->shared_gap[r] = g;
        dfl_sharing_loops(s);
        for (uint32_t k = 0; k < n; k++) {
            s->now = spreads[k];
            s->rows->evaluated += w->n_loops > 1;
            s->set = dfl_port_time_least(s);
            if (w->n_loops == 1 || dfl_sharing_useful(s))
                next[n_next++] = s->now;
            else
                s->rows->pruned++;
        }
        if (n_next > 0)
            through_from(s, l + 1, g, next, n_next);
    }
    s->shared_by[r] = 1;
    s->shared_gap[r] = DFL_NONE;
    s->n_shared--;
}

/* Puts all loops of the way into the last gap, where they cost least; the spreads that can be of use then, in `out`. */
static uint32_t with_all(dfl_search *s, const dfl_pass_through_way *w, dfl_spatial *const *spreads, uint32_t n, dfl_spatial **out)
{
    uint32_t n_out = 0;

    s->n_shared = w->n_loops;
    for (uint32_t l = 0; l < w->n_loops; l++) {
        s->shared_by[w->rank[l]] = w->trips[l];
        s->shared_gap[w->rank[l]] = s->t->shared_gaps - 1;
    }
    dfl_sharing_loops(s);
    for (uint32_t k = 0; k < n; k++) {
        bool divides = true;
        s->now = spreads[k];
        s->set = dfl_port_time_least(s);
        for (uint32_t l = 0; l < w->n_loops && divides; l++)
            divides = s->now->left[w->rank[l]] % w->trips[l] == 0;
        if (!divides)
            continue;
        s->rows->evaluated++;
        if (dfl_sharing_useful(s))
            out[n_out++] = s->now;
        else
            s->rows->pruned++;
    }
    for (uint32_t l = 0; l < w->n_loops; l++) {
        s->shared_by[w->rank[l]] = 1;
        s->shared_gap[w->rank[l]] = DFL_NONE;
    }
    s->n_shared = 0;
    return n_out;
}

void dfl_share_through(dfl_search *s, dfl_spatial *const *spreads, uint32_t n)
{
    dfl_spatial **some = DFL_NEW_ARRAY(s->rows->scratch, dfl_spatial *, (size_t)n * (DFL_ROW_LOOPS + 1) + 1);
    const dfl_criteria rest = s->goal->rest;

    for (size_t i = 0; i < s->goal->through->n; i++) {
        const dfl_pass_request *ask = &s->goal->through->at[i];
        uint32_t left;
        s->through = &ask->way;
        s->goal->rest = ask->rest[s->goal->pattern];
        left = with_all(s, s->through, spreads, n, some);
        if (left > 0)
            through_from(s, 0, 0, some, left);
    }
    s->goal->rest = rest;
}
