/* Rank by rank the cuts, for a spread and shared loops that are chosen. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "mapper/divisors/occupancy.h"
#include "mapper/divisors/port_time.h"
#include "mapper/divisors/sliding.h"

/* Those in the gap. */
static int64_t own_cut(const dfl_search *s, uint32_t rank, uint32_t gap)
{
    uint32_t at = s->cut_at[rank][gap];
    bool own = at > (gap > 0 ? s->cut_at[rank][gap - 1] : 0);

    return own ? s->with[rank]->cut[s->chosen[rank]][at - 1] : 1;
}

static void remember_cuts(const dfl_search *s, dfl_pmapping *row)
{
    uint32_t n = s->problem->n_ranks;
    int64_t *cut = DFL_NEW_ARRAY(s->rows->arena, int64_t, (size_t)(s->n_gaps + s->problem->n_axes) * n);

    for (uint32_t r = 0; r < n; r++) {
        for (uint32_t g = 0; g < s->n_gaps; g++)
            cut[g * n + r] = 1;
        for (uint32_t a = 0; a < s->problem->n_axes; a++)
            cut[(s->n_gaps + a) * n + r] = s->now->parts[a * n + r];
    }
    for (uint32_t i = 0; i < s->n_order; i++) {
        uint32_t r = s->order[i];
        for (uint32_t g = 0; g < s->n_gaps; g++)
            cut[g * n + r] = own_cut(s, r, g) * (g == s->shared_gap[r] ? s->shared_by[r] : 1);
    }
    row->cut = cut;
}

static bool way_useful(const dfl_search *s, uint32_t w, double joules, double seconds, const double *busy)
{
    dfl_criteria all = dfl_criteria_with(&s->goal->of, &s->rest, joules, seconds);

    dfl_criteria_add(&all, &s->way_more[w]);
    for (uint32_t p = 0; p < DFL_PORTS; p++)
        all.at[DFL_COST_BUSY + p] += busy[p] - s->goal->busy[p];
    return dfl_goal_within(&s->goal->of, &all, s->goal->limit);
}

/* Whether there are no loops above what is exchanged, and that is as far out as it can be. */
static bool stands_apart(const dfl_search *s)
{
    bool apart = true;

    for (uint32_t o = 0; o < s->problem->n_operands && apart; o++)
        apart = s->t->exchange[o] == dfl_problem_outermost(&s->problem->operand[o]);
    for (uint32_t g = 0; g < s->t->shared_gaps && apart; g++)
        for (uint32_t i = 0; i < s->n_order && apart; i++)
            apart = own_cut(s, s->order[i], g) == 1;
    return apart;
}

static void leaf(dfl_search *s, double joules, double seconds)
{
    double busy[DFL_PORTS];
    dfl_pmapping row;

    if (s->goal->best_only) {
        if (!s->goal->by_time)
            seconds = fmax(seconds, dfl_port_time_seconds(s));
        else if (!(s->goal->of.value(s->goal->of.objective, joules, seconds) < s->goal->limit))
            return;
        s->goal->seen_seconds = fmin(s->goal->seen_seconds, seconds);
        if (s->goal->best != NULL && stands_apart(s)) {
            *s->goal->best = (dfl_pmapping){ .way = s->ways[0], .joules = joules, .seconds = seconds, .form = s->t,
                                             .problem = s->problem };
            remember_cuts(s, s->goal->best);
        }
        s->goal->best_joules = joules;
        s->goal->best_seconds = seconds;
        s->goal->limit = s->goal->of.value(s->goal->of.objective, joules, seconds);
        return;
    }
    dfl_port_time_goal(s, busy);
    for (uint32_t w = 0; w < s->n_ways; w++) {
        row = (dfl_pmapping){ .way = s->ways[w], .hash = s->way_hash[w], .kind = s->way_kind[w], .joules = joules,
                              .seconds = seconds, .form = s->t, .problem = s->problem };
        if (!way_useful(s, w, joules, seconds, busy))
            continue;
        dfl_search_find_gaps(s, &row);
        memcpy(row.busy, busy, sizeof row.busy);
        dfl_search_fill_room(s, &row);
        if (dfl_pareto_set_is_open_to(s->rows, &row, s->goal)) {
            remember_cuts(s, &row);
            dfl_pareto_set_add(s->rows, &row, s->goal);
        }
    }
}

static void set_piece(dfl_search *s, uint32_t r, uint32_t way)
{
    for (uint32_t i = 0; i < s->t->n_keeps; i++)
        s->piece[i][r] = dfl_search_inner(s, i, r) / (s->with[r]->n[s->cut_at[r][i]][way] * dfl_shared_above(s, r, i));
}

/* Undecided: as small as it gets. */
static void unset_piece(dfl_search *s, uint32_t r)
{
    for (uint32_t i = 0; i < s->t->n_keeps; i++)
        s->piece[i][r] = dfl_search_inner(s, i, r) / (s->with[r]->most[s->cut_at[r][i]] * dfl_shared_above(s, r, i));
}

/* to[c] = constant + sum over gaps of factor[g] * n[g][c], for all ways c. */
static void weigh(const dfl_cuts *with, double constant, const double *factor, double *to)
{
    for (uint32_t c = 0; c < with->count; c++)
        to[c] = constant;
    for (uint32_t g = 0; g <= with->n_gaps; g++) {
        const double *n = with->n[g];
        double f = factor[g];
        if (f == 0)
            continue;
        for (uint32_t c = 0; c < with->count; c++)
            to[c] += f * n[c];
    }
}

/* Lower bounds of the joules and the seconds for every way to cut rank order[depth]: sums of one factor each. */
static void weigh_ways(dfl_search *s, uint32_t depth, const double *product, double *joules, double *seconds, double *busy)
{
    const dfl_terms *terms = &s->terms;
    uint32_t r = s->order[depth];
    const dfl_cuts *with = s->with[r];
    const bool windows = s->problem->windows;
    double factor[DFL_GAPS + 1] = { 0 }, constant = s->constant;

    for (uint32_t g = 0; g < terms->n_groups; g++) {
        double c = s->now->joules[g] * product[g] * (s->now->joules[g] < 0 ? s->rest_most[depth + 1] : s->behind[depth])[g];
        c *= windows && s->now->joules[g] > 0 ? s->overlap[depth][g] : 1;
        if (terms->group[g].ranks >> r & 1)
            factor[s->cut_at[r][terms->group[g].gap]] += c;
        else
            constant += c;
    }
    weigh(with, constant, factor, joules);
    for (uint32_t c = 0; c < with->count; c++)
        seconds[c] = s->now->unit_seconds;
    for (uint32_t i = 0; i < s->n_used && s->goal->by_time; i++) {
        const double *port = dfl_port(s, i);
        constant = 0;
        memset(factor, 0, sizeof factor);
        for (uint32_t g = 0; g < terms->n_groups; g++) {
            double c = port[g] * product[g] * s->behind[depth][g] * (windows ? s->overlap[depth][g] : 1);
            if (terms->group[g].ranks >> r & 1)
                factor[s->cut_at[r][terms->group[g].gap]] += c;
            else
                constant += c;
        }
        weigh(with, constant, factor, busy);
        for (uint32_t c = 0; c < with->count; c++)
            seconds[c] = seconds[c] > busy[c] ? seconds[c] : busy[c];
    }
}

/* What overlapping windows of groups whose loops rank order[depth] is one of add to the bounds of one way. */
static void add_overlaps(dfl_search *s, uint32_t depth, const double *next, double *joules, double *seconds)
{
    const dfl_terms *terms = &s->terms;
    const double *before = s->overlap[depth];
    double *overlap = s->overlap[depth + 1], more[DFL_TERM_PORTS] = { 0 };
    bool any = false;

    for (uint32_t g = 0; g < terms->n_groups; g++) {
        double all = next[g] * s->behind[depth][g];
        overlap[g] = before[g];
        if (terms->group[g].window < 0 || !(s->problem->operand[terms->group[g].window].ranks >> s->order[depth] & 1))
            continue;
        overlap[g] = fmax(before[g], dfl_sliding_overlap(s, g, depth + 1));
        if (overlap[g] == before[g])
            continue;
        any = true;
        all *= overlap[g] - before[g];
        *joules += s->now->joules[g] > 0 ? s->now->joules[g] * all : 0;
        for (uint32_t i = 0; i < s->n_used; i++)
            more[i] += dfl_port(s, i)[g] * all;
    }
    for (uint32_t i = 0; i < s->n_used && any; i++) {
        double busy = more[i];
        for (uint32_t g = 0; g < terms->n_groups; g++)
            busy += dfl_port(s, i)[g] * next[g] * s->behind[depth][g] * before[g];
        *seconds = fmax(*seconds, busy);
    }
}

static void choose(dfl_search *s, uint32_t depth, const double *product);

/* One way to cut rank order[depth], whose bounds are known. */
static void take_way(dfl_search *s, uint32_t depth, const double *product, uint32_t c, double joules, double seconds)
{
    const dfl_terms *terms = &s->terms;
    uint32_t r = s->order[depth];
    const dfl_cuts *with = s->with[r];
    double next[DFL_TERM_GROUPS];

    s->chosen[r] = c;
    set_piece(s, r, c);
    if (!dfl_occupancy_fits(s)) {
        s->rows->pruned++;
        return;
    }
    for (uint32_t g = 0; g < terms->n_groups && (depth + 1 < s->n_order || s->problem->windows); g++)
        next[g] = product[g] * (terms->group[g].ranks >> r & 1 ? with->n[s->cut_at[r][terms->group[g].gap]][c] : 1);
    if (s->problem->windows) {
        add_overlaps(s, depth, next, &joules, &seconds);
        if (!dfl_search_useful(s, joules, seconds))
            return;
    }
    if (depth + 1 == s->n_order)
        leaf(s, joules, seconds);
    else
        choose(s, depth + 1, next);
}

/* All ways to cut rank order[depth] that can be of use; the best first where only the best is wanted. */
static void choose(dfl_search *s, uint32_t depth, const double *product)
{
    uint32_t r = s->order[depth], n = s->with[r]->count, left = 0, *picks;
    double *joules = s->bounds + (size_t)3 * depth * s->most_ways, *seconds = joules + s->most_ways;
    double *values = seconds + s->most_ways;

    if (dfl_deadline_passed(s->goal->halt))
        return;
    if (depth + 1 < s->n_order && !dfl_occupancy_useful(s, depth, product)) {
        s->rows->pruned++;
        return;
    }
    dfl_occupancy_behind(s, depth);
    weigh_ways(s, depth, product, joules, seconds, values);
    s->rows->evaluated += n;
    if (!s->goal->best_only) {
        for (uint32_t c = 0; c < n; c++)
            if (dfl_search_useful(s, joules[c], seconds[c])) {
                take_way(s, depth, product, c, joules[c], seconds[c]);
                unset_piece(s, r); /* the room of the next way is not that of this one */
            } else {
                s->rows->pruned++;
            }
        return;
    }
    picks = s->picks + (size_t)depth * s->most_ways;
    for (uint32_t c = 0; c < n; c++) {
        values[left] = s->goal->of.value(s->goal->of.objective, joules[c], seconds[c]);
        picks[left] = c;
        left += values[left] < s->goal->limit;
    }
    while (left > 0) {
        uint32_t best = 0, c;
        for (uint32_t i = 1; i < left; i++)
            if (values[i] < values[best])
                best = i;
        if (!(values[best] < s->goal->limit))
            break;
        c = picks[best];
        values[best] = values[--left];
        picks[best] = picks[left];
        take_way(s, depth, product, c, joules[c], seconds[c]);
        if (left > 0 && dfl_search_spent(s))
            break;
    }
    unset_piece(s, r);
}

/* What the shared loops multiply the groups with. */
static void find_shared(dfl_search *s)
{
    for (uint32_t g = 0; g < s->terms.n_groups; g++) {
        s->shared[g] = 1;
        for (uint32_t bits = s->n_shared > 0 ? s->terms.group[g].ranks : 0; bits != 0; bits &= bits - 1)
            s->shared[g] *= dfl_shared_above(s, (uint32_t)__builtin_ctz(bits), s->terms.group[g].gap);
    }
}

/* Least and most of what the ranks from order[i] on multiply the groups with. */
static void bound_rest(dfl_search *s)
{
    for (uint32_t g = 0; g < s->terms.n_groups; g++) {
        uint32_t gap = s->terms.group[g].gap;
        s->rest_least[s->n_order][g] = s->rest_most[s->n_order][g] = 1;
        for (uint32_t i = s->n_order; i-- > 0;) {
            const dfl_cuts *with = s->with[s->order[i]];
            bool factor = s->terms.group[g].ranks >> s->order[i] & 1;
            s->rest_least[i][g] = s->rest_least[i + 1][g] * (factor ? with->least[s->cut_at[s->order[i]][gap]] : 1);
            s->rest_most[i][g] = s->rest_most[i + 1][g] * (factor ? with->most[s->cut_at[s->order[i]][gap]] : 1);
        }
    }
}

/* Lower bounds for the whole spread; the costs, if no rank is left to cut. */
static bool spread_useful(const dfl_search *s, double *joules, double *seconds)
{
    *joules = s->constant;
    *seconds = s->now->unit_seconds;
    for (uint32_t g = 0; g < s->terms.n_groups; g++)
        *joules += s->now->joules[g] * s->shared[g] * (s->now->joules[g] < 0 ? s->rest_most : s->rest_least)[0][g];
    for (uint32_t i = 0; i < s->n_used; i++) {
        double busy = 0;
        for (uint32_t g = 0; g < s->terms.n_groups; g++)
            busy += dfl_port(s, i)[g] * s->shared[g] * s->rest_least[0][g];
        *seconds = fmax(*seconds, busy);
    }
    return dfl_search_useful(s, *joules, *seconds);
}

/* The spread and the shared loops are chosen: the ranks with most cuts come last, where a node costs least. */
void dfl_search_cuts(dfl_search *s)
{
    const dfl_problem *problem = s->problem;
    double product[DFL_TERM_GROUPS], joules, seconds;

    s->n_order = 0;
    s->placed = false;
    for (uint32_t r = 0; r < problem->n_ranks; r++) {
        s->with[r] = dfl_cuts_of(s, r);
        if (s->with[r]->count == 0)
            return;
        if (s->now->left[r] > 1) {
            uint32_t at = s->n_order++;
            for (; at > 0 && s->with[s->order[at - 1]]->count > s->with[r]->count; at--)
                s->order[at] = s->order[at - 1];
            s->order[at] = r;
        }
    }
    find_shared(s);
    bound_rest(s);
    s->rows->evaluated++;
    if (!spread_useful(s, &joules, &seconds)) {
        s->rows->pruned++;
        return;
    }
    for (uint32_t r = 0; r < problem->n_ranks; r++) {
        unset_piece(s, r);
        s->chosen[r] = 0;
        if (s->with[r]->count > s->most_ways)
            s->most_ways = s->with[r]->count;
    }
    if (!dfl_occupancy_fits(s))
        return;
    s->placed = true;
    if (s->n_order == 0) {
        leaf(s, joules, seconds);
        return;
    }
    for (uint32_t g = 0; g < s->terms.n_groups; g++) {
        product[g] = s->shared[g];
        s->overlap[0][g] = 1;
    }
    if ((size_t)3 * s->n_order * s->most_ways > s->cap_bounds) {
        s->cap_bounds = (size_t)6 * s->n_order * s->most_ways;
        s->bounds = DFL_NEW_ARRAY(s->rows->scratch, double, s->cap_bounds);
        s->picks = DFL_NEW_ARRAY(s->rows->scratch, uint32_t, s->cap_bounds / 3 + 1);
    }
    choose(s, 0, product);
}
