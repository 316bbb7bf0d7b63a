#include "mapper/skeleton/family.h"

#include <math.h>

#include "mapper/problem/limits.h"
#include "mapper/skeleton/cost_terms.h"

/* What operands cost at least. */
typedef struct {
    const dfl_problem *problem;
    double joules;
    double ports[DFL_TERM_PORTS]; /* s by port of one instance: 2 * place, + 1 for writes at a place with two ports */
} floors;

/* A way of an operand between two places, or between one and the unit. */
typedef struct {
    uint32_t operand, outer, inner;   /* places; `inner` = number of places: the unit */
    uint32_t around, within;          /* axes around both ends */
} family_way;

static uint32_t all_axes(const dfl_problem *problem) { return (1u << problem->n_axes) - 1; }

bool dfl_family_handles(const dfl_problem *problem)
{
    bool handles = !problem->windows && problem->given == NULL;

    for (uint32_t o = 0; o < problem->n_operands; o++)
        handles &= !dfl_problem_exchanged(&problem->operand[o]) && problem->operand[o].home != DFL_NONE;
    return handles;
}

/* Axes of a set that share transfers of an operand. */
static uint32_t shared_of(const dfl_problem *problem, uint32_t operand, uint32_t axes)
{
    uint32_t shared = 0;

    for (uint32_t a = 0; a < problem->n_axes; a++)
        shared |= (axes >> a & problem->axis[a].shared >> operand & 1) << a;
    return shared;
}

/* J per bit of the networks that a way crosses: of as many as the terms of a skeleton count. */
static double network_of(const dfl_problem *problem, uint32_t axes)
{
    double joules = 0;
    uint32_t n = 0;

    for (uint32_t a = problem->n_axes; a-- > 0 && n < DFL_TERM_NETS;)
        if ((axes >> a & 1) && problem->axis[a].joules > 0) {
            joules += problem->axis[a].joules;
            n++;
        }
    return joules;
}

static void add_port(floors *k, uint32_t place, bool is_write, double seconds)
{
    k->ports[2 * place + (is_write && !k->problem->place[place].one_port)] += seconds;
}

/* Adds what passes a way at least: each element once, or each point at the unit, for all instances that share. */
static void add_way(floors *k, const family_way *w)
{
    const dfl_problem *problem = k->problem;
    const dfl_problem_operand *o = &problem->operand[w->operand];
    const dfl_problem_place *p = &problem->place[w->outer];
    const bool is_unit = w->inner == problem->n_places;
    const uint32_t shared = shared_of(problem, w->operand, w->within & ~w->around);
    const double served = is_unit ? problem->points / dfl_problem_instances(problem, shared) : o->touched;
    const double bits = served * o->bits, one = bits / dfl_problem_instances(problem, w->around);

    k->joules += bits * ((o->output ? p->write_joules : p->read_joules) + network_of(problem, w->within & ~w->around));
    add_port(k, w->outer, o->output, one * (o->output ? p->write_seconds : p->read_seconds));
    if (is_unit)
        return;
    const dfl_problem_place *c = &problem->place[w->inner];
    k->joules += bits * (o->output ? c->drain_joules : c->write_joules);
    add_port(k, w->inner, !o->output,
             bits / dfl_problem_instances(problem, w->within) * (o->output ? c->drain_seconds : c->write_seconds));
}

/* Adds an operand with keeps in the places of a mask. */
static void add_operand(floors *k, uint32_t operand, uint32_t kept)
{
    const dfl_problem *problem = k->problem;
    family_way w = { .operand = operand, .outer = problem->operand[operand].home };

    for (uint32_t p = 0; p <= problem->n_places; p++) {
        if (p < problem->n_places && !(kept >> p & 1))
            continue;
        w.inner = p;
        w.around = problem->place[w.outer].axes;
        w.within = p < problem->n_places ? problem->place[p].axes : all_axes(problem);
        add_way(k, &w);
        w.outer = p;
    }
}

/* Least energy of an operand over all sets of places that may hold it. */
static double least_joules(const dfl_problem *problem, uint32_t operand)
{
    const dfl_problem_operand *o = &problem->operand[operand];
    const uint32_t rest = o->places & ~((2u << o->home) - 1);
    double least = INFINITY;

    for (uint32_t sub = rest;; sub = (sub - 1) & rest) {
        floors k = { .problem = problem };
        add_operand(&k, operand, sub);
        least = fmin(least, k.joules);
        if (sub == 0)
            return least;
    }
}

double dfl_family_bound(const dfl_problem *problem, const dfl_objective *objective, double leakage, const dfl_family *family)
{
    floors k = { .problem = problem, .joules = problem->points * problem->joules };
    double seconds = problem->points * problem->seconds / dfl_problem_instances(problem, all_axes(problem));

    for (uint32_t o = 0; o < problem->n_operands; o++)
        if (o < family->n)
            add_operand(&k, o, family->kept[o]);
        else
            k.joules += least_joules(problem, o);
    for (uint32_t p = 0; p < 2 * problem->n_places; p++)
        seconds = fmax(seconds, k.ports[p]);
    return dfl_objective_value(objective, k.joules + leakage * seconds, seconds) * (1 - DFL_FAMILY_ROUNDING);
}
