#include "mapper/first/plan.h"

#include <string.h>

#include "mapper/first/descent.h"

static uint32_t ranks_of_result(const dfl_problem *problem)
{
    for (uint32_t o = 0; o < problem->n_operands; o++)
        if (problem->operand[o].output)
            return problem->operand[o].ranks;
    return 0;
}

/* Ranks of the result first, those that are summed behind them. */
static void order_ranks(const dfl_problem *problem, uint8_t *order)
{
    const uint32_t result = ranks_of_result(problem);
    uint32_t n = 0;

    for (uint32_t r = 0; r < problem->n_ranks; r++)
        if (result >> r & 1)
            order[n++] = (uint8_t)r;
    for (uint32_t r = 0; r < problem->n_ranks; r++)
        if (!(result >> r & 1))
            order[n++] = (uint8_t)r;
}

/* Whether a memory may hold the operand, and, if lean, no other between the same arrays is to be preferred. */
static bool is_kept(const dfl_problem *problem, const dfl_problem_operand *o, uint32_t p, bool lean)
{
    if (!(o->places >> p & 1))
        return false;
    for (uint32_t q = 0; q < problem->n_places && lean; q++)
        if (q != p && (o->places >> q & 1) && problem->place[q].axes == problem->place[p].axes && (o->output ? q > p : q < p))
            return false;
    return true;
}

/* Operands of a group, a mask, that fit in their memory together with one element each. `is_last`: the last ones go before the
   first. */
static uint32_t fit_elements(const dfl_problem *problem, uint32_t place, uint32_t kept, bool is_last)
{
    double left = problem->place[place].bits;
    uint32_t out = 0;

    for (uint32_t i = 0; i < problem->n_operands; i++) {
        const uint32_t o = is_last ? problem->n_operands - 1 - i : i;
        const double bits = problem->operand[o].bits * problem->place[place].buffers;
        if (!(kept >> o & 1) || bits > left)
            continue;
        left -= bits;
        out |= 1u << o;
    }
    return out;
}

void dfl_plan_make(const dfl_problem *problem, const dfl_fan *fan, bool lean, dfl_plan *out)
{
    *out = (dfl_plan){ .problem = problem, .fan = *fan };
    order_ranks(problem, out->order);
    for (uint32_t p = 0; p < problem->n_places && out->n < DFL_PLAN_GROUPS; p++) {
        dfl_plan_group *g = &out->group[out->n];
        uint32_t kept = 0;
        for (uint32_t o = 0; o < problem->n_operands; o++)
            kept |= (uint32_t)is_kept(problem, &problem->operand[o], p, lean) << o;
        kept = fit_elements(problem, p, kept, lean);
        for (uint32_t o = 0; o < problem->n_operands; o++)
            if (kept >> o & 1) {
                g->keep[g->n_keeps].operand = (uint8_t)o;
                g->keep[g->n_keeps++].place = (uint8_t)p;
            }
        if (g->n_keeps == 0)
            continue;
        memcpy(g->order, out->order, sizeof g->order);
        for (uint32_t r = 0; r < problem->n_ranks; r++) {
            g->tile[r] = 1;
            for (uint32_t a = 0; a < problem->n_axes; a++) /* axes are entered below the loops of the first group inside */
                if (out->n == 0 || !(problem->place[out->group[out->n - 1].keep[0].place].axes >> a & 1))
                    g->tile[r] *= fan->parts[a][r];
        }
        out->n++;
    }
}

static uint32_t axes_of(const dfl_problem *problem, const dfl_plan_group *g)
{
    uint32_t axes = 0;

    for (uint32_t i = 0; i < g->n_keeps; i++)
        axes |= problem->place[g->keep[i].place].axes;
    return axes;
}

static bool add_axes(const dfl_plan *plan, uint32_t axes, dfl_skeleton *out)
{
    bool fits = true;

    for (uint32_t a = 0; a < plan->problem->n_axes; a++)
        for (uint32_t r = 0; r < plan->problem->n_ranks; r++)
            if ((axes >> a & 1) && plan->fan.parts[a][r] > 1)
                fits &= dfl_skeleton_add(out, (dfl_skeleton_line){ .kind = DFL_SKELETON_SPREAD, .rank = (uint8_t)r,
                                                                   .axis = (uint8_t)a, .amount = plan->fan.parts[a][r] });
    return fits;
}

bool dfl_plan_lines(const dfl_plan *plan, dfl_skeleton *out)
{
    const dfl_problem *problem = plan->problem;
    uint32_t entered = 0;
    bool fits = true;

    out->n = 0;
    for (uint32_t g = 0; g < plan->n; g++) {
        const dfl_plan_group *group = &plan->group[g];
        for (uint32_t i = 0; i < problem->n_ranks; i++)
            if (problem->extent[group->order[i]] > 1)
                fits &= dfl_skeleton_add(out, (dfl_skeleton_line){ .kind = DFL_SKELETON_LOOP, .rank = group->order[i],
                                                                   .amount = group->tile[group->order[i]] });
        fits &= add_axes(plan, axes_of(problem, group) & ~entered, out);
        entered |= axes_of(problem, group);
        for (uint32_t i = 0; i < group->n_keeps; i++)
            fits &= dfl_skeleton_add(out, (dfl_skeleton_line){ .kind = DFL_SKELETON_KEEP, .operand = group->keep[i].operand,
                                                               .place = group->keep[i].place });
    }
    fits &= add_axes(plan, ~entered, out);
    for (uint32_t i = 0; i < problem->n_ranks; i++)
        if (problem->extent[plan->order[i]] > 1)
            fits &= dfl_skeleton_add(out, (dfl_skeleton_line){ .kind = DFL_SKELETON_LOOP, .rank = plan->order[i], .amount = 1 });
    return fits;
}

void dfl_plan_take(dfl_plan *plan, const dfl_skeleton *lines)
{
    uint32_t g = 0;

    for (uint32_t i = 0; i < lines->n; i++) {
        const dfl_skeleton_line *line = &lines->at[i];
        if (line->kind == DFL_SKELETON_KEEP && (i + 1 == lines->n || lines->at[i + 1].kind != DFL_SKELETON_KEEP))
            g++;
        else if (line->kind == DFL_SKELETON_LOOP && g < plan->n)
            plan->group[g].tile[line->rank] = line->amount;
        else if (line->kind == DFL_SKELETON_SPREAD)
            plan->fan.parts[line->axis][line->rank] = line->amount;
    }
}

static void remove_group(dfl_plan *plan, uint32_t g)
{
    memmove(&plan->group[g], &plan->group[g + 1], (plan->n - g - 1) * sizeof plan->group[0]);
    plan->n--;
}

bool dfl_plan_drop(dfl_plan *plan, uint32_t group, uint32_t keep)
{
    dfl_plan_group *g = &plan->group[group];

    g->n_keeps--;
    memmove(&g->keep[keep], &g->keep[keep + 1], (g->n_keeps - keep) * sizeof g->keep[0]);
    if (g->n_keeps == 0)
        remove_group(plan, group);
    return true;
}

bool dfl_plan_split(dfl_plan *plan, uint32_t group, uint32_t keep, bool above)
{
    dfl_plan_group *g = &plan->group[group], *alone;

    if (g->n_keeps < 2 || plan->n == DFL_PLAN_GROUPS)
        return false;
    memmove(&plan->group[group + 1], g, (plan->n - group) * sizeof *g);
    plan->n++;
    alone = above ? g : g + 1;
    alone->keep[0].operand = alone->keep[keep].operand;
    alone->keep[0].place = alone->keep[keep].place;
    alone->n_keeps = 1;
    (void)dfl_plan_drop(plan, above ? group + 1 : group, keep);
    for (uint32_t r = 0; r < plan->problem->n_ranks; r++)
        g[1].tile[r] = DFL_FIRST_WHOLE;
    return true;
}

bool dfl_plan_turn(dfl_plan *plan, uint32_t group, uint32_t rank)
{
    uint8_t *order = group < plan->n ? plan->group[group].order : plan->order;
    uint32_t i = 0;

    while (order[i] != rank)
        i++;
    if (i + 1 == plan->problem->n_ranks)
        return false;
    memmove(&order[i], &order[i + 1], plan->problem->n_ranks - i - 1);
    order[plan->problem->n_ranks - 1] = (uint8_t)rank;
    return true;
}

bool dfl_plan_swap(dfl_plan *plan, uint32_t group)
{
    dfl_plan_group *g = &plan->group[group], *h = g + 1, keeps = *g;

    if (group + 1 >= plan->n)
        return false;
    for (uint32_t i = 0; i < g->n_keeps; i++)
        for (uint32_t k = 0; k < h->n_keeps; k++)
            if (g->keep[i].operand == h->keep[k].operand)
                return false;
    g->n_keeps = h->n_keeps;
    memcpy(g->keep, h->keep, sizeof g->keep);
    h->n_keeps = keeps.n_keeps;
    memcpy(h->keep, keeps.keep, sizeof h->keep);
    return true;
}

bool dfl_plan_add(dfl_plan *plan, uint32_t operand, uint32_t place)
{
    uint32_t from = 0, to = plan->n, at;

    if (!(plan->problem->operand[operand].places >> place & 1))
        return false;
    for (uint32_t g = 0; g < plan->n; g++)
        for (uint32_t i = 0; i < plan->group[g].n_keeps; i++) {
            if (plan->group[g].keep[i].operand != operand)
                continue;
            if (plan->group[g].keep[i].place == place)
                return false;
            if (plan->group[g].keep[i].place < place)
                from = g + 1;
            else
                to = g < to ? g : to;
        }
    for (at = from; at < to; at++) {
        dfl_plan_group *g = &plan->group[at];
        if (g->keep[0].place < place || g->n_keeps == DFL_PROBLEM_KEEPS)
            continue;
        g->keep[g->n_keeps].operand = (uint8_t)operand;
        g->keep[g->n_keeps++].place = (uint8_t)place;
        return true;
    }
    if (plan->n == DFL_PLAN_GROUPS)
        return false;
    memmove(&plan->group[at + 1], &plan->group[at], (plan->n - at) * sizeof plan->group[0]);
    plan->n++;
    memcpy(plan->group[at].order, plan->order, sizeof plan->order);
    for (uint32_t r = 0; r < plan->problem->n_ranks; r++)
        plan->group[at].tile[r] = DFL_FIRST_WHOLE;
    plan->group[at].n_keeps = 1;
    plan->group[at].keep[0].operand = (uint8_t)operand;
    plan->group[at].keep[0].place = (uint8_t)place;
    return true;
}

bool dfl_plan_alike(const dfl_plan *a, const dfl_plan *b)
{
    if (a->n != b->n)
        return false;
    for (uint32_t g = 0; g < a->n; g++) {
        if (a->group[g].n_keeps != b->group[g].n_keeps)
            return false;
        for (uint32_t i = 0; i < a->group[g].n_keeps; i++)
            if (a->group[g].keep[i].operand != b->group[g].keep[i].operand ||
                a->group[g].keep[i].place != b->group[g].keep[i].place)
                return false;
    }
    return true;
}
