/* Which candidates can still be of use. */
#include <string.h>

#include "mapper/divisors/divisors_internal.h"
#include "mapper/divisors/signature.h"

void dfl_search_fill_room(const dfl_search *s, dfl_pmapping *row)
{
    const dfl_problem *problem = s->problem;
    int64_t piece[DFL_PROBLEM_RANKS];

    memset(row->room, 0, sizeof row->room);
    for (uint32_t t = 0; t < s->goal->n_tracks; t++)
        for (uint32_t i = 0; i < s->t->n_keeps; i++) {
            const dfl_template_keep *k = &s->t->keep[i];
            const dfl_problem_place *p = &problem->place[k->place];
            if (s->goal->track[t] != p->memory || k->home)
                continue;
            for (uint32_t r = 0; r < problem->n_ranks; r++)
                piece[r] = (int64_t)s->piece[i][r];
            row->room[t][s->depth[i]] += dfl_problem_tile(&problem->operand[k->operand], piece) *
                                         problem->operand[k->operand].bits * p->buffers;
        }
}

void dfl_search_find_gaps(const dfl_search *s, dfl_pmapping *row)
{
    for (uint32_t k = 0; k < row->way.n_loops; k++)
        row->gap[k] = (uint8_t)s->shared_gap[row->way.loop_rank[k]];
}

bool dfl_tile_useful(const dfl_tile_goal *goal, double joules, double seconds)
{
    if (goal->best_only)
        return goal->of.value(goal->of.objective, joules, seconds) < goal->limit;
    return dfl_goal_worth(&goal->of, &goal->rest, joules, seconds, goal->limit);
}

bool dfl_search_useful(const dfl_search *s, double joules, double seconds)
{
    dfl_pmapping least = { .joules = joules, .seconds = seconds, .form = s->t, .problem = s->problem };
    bool undercut = true, known = false;

    memcpy(least.busy, s->goal->busy, sizeof least.busy);
    if (!dfl_tile_useful(s->goal, joules, seconds))
        return false;
    if (s->goal->best_only)
        return true;
    for (uint32_t w = 0; w < s->n_ways && undercut; w++)
        undercut = dfl_pareto_set_cheaper(s->rows, &s->ways[w], s->way_hash[w], s->way_kind[w], joules, seconds, s->goal);
    if (!undercut)
        return true;
    for (uint32_t w = 0; w < s->n_ways; w++) {
        if (!known) {
            if (s->placed)
                dfl_search_fill_room(s, &least);
            known = true;
        }
        least.way = s->ways[w];
        least.hash = s->way_hash[w];
        least.kind = s->way_kind[w];
        dfl_search_find_gaps(s, &least);
        if (dfl_pareto_set_is_open_to(s->rows, &least, s->goal))
            return true;
    }
    return false;
}

bool dfl_search_spent(dfl_search *s)
{
    s->spent |= s->effort != 0 && s->rows->evaluated - s->rows->swept > s->effort;
    return s->spent;
}
