#include "mapper/problem/floor.h"

#include <math.h>

#include "mapper/problem/limits.h"

typedef struct {
    const dfl_problem *problem;
    double best;              /* least product of tiles so far */
    double rest[DFL_PROBLEM_RANKS + 1]; /* points of the ranks from that one on */
    uint32_t left;            /* choices that may be looked at */
} stepper;

/* Chooses tiles of the ranks from `r` on, where `free` instances are left for each that the ranks before use, and these have
   tiles with the product `steps`. Only the least parts for a tile are tried: more parts leave fewer instances and no smaller
   tile. */
static void choose_tiles(stepper *k, uint32_t r, int64_t free, double steps)
{
    const dfl_problem *problem = k->problem;

    if (k->left == 0 || steps * k->rest[r] / (double)free >= k->best)
        return;
    k->left--;
    if (r == problem->n_ranks) {
        k->best = fmin(k->best, steps);
        return;
    }
    for (int64_t tile = dfl_divide_up(problem->extent[r], free); tile > 0;) {
        const int64_t parts = dfl_divide_up(problem->extent[r], tile);
        choose_tiles(k, r + 1, free / parts, steps * (double)tile);
        tile = parts == 1 ? 0 : dfl_divide_up(problem->extent[r], parts - 1);
    }
}

double dfl_floor_steps(const dfl_problem *problem)
{
    stepper k = { .problem = problem, .best = INFINITY, .left = DFL_FLOOR_STEPS };
    const double instances = dfl_problem_instances(problem, ~0u);

    k.rest[problem->n_ranks] = 1;
    for (uint32_t r = problem->n_ranks; r-- > 0;)
        k.rest[r] = k.rest[r + 1] * (double)problem->extent[r];
    if (instances < (double)DFL_FLOOR_INSTANCES)
        choose_tiles(&k, 0, (int64_t)instances, 1);
    return k.left == 0 || k.best == INFINITY ? ceil(problem->points / instances * (1 - 1e-12)) : k.best;
}

/* Bits that the unit reads or writes at a place, over all its instances: each point once for all instances that share (B32). */
static double bits_at(const dfl_problem *problem, uint32_t operand, uint32_t place)
{
    double bits = problem->points * problem->operand[operand].bits;

    for (uint32_t a = 0; a < problem->n_axes; a++)
        if (!(problem->place[place].axes >> a & 1) && (problem->axis[a].shared >> operand & 1))
            bits /= (double)problem->axis[a].size;
    return bits;
}

/* Adds what an operand costs where the unit reads or writes it, by the best place for each figure (B32), and where that is not
   its home, if it `is_alone`, what moves at its home (B31, B33). */
static void add_operand(const dfl_problem *problem, uint32_t operand, bool is_alone, dfl_floor *out)
{
    const dfl_problem_operand *o = &problem->operand[operand];
    const double moved = is_alone ? o->touched * o->bits : 0;
    double joules = INFINITY, seconds = INFINITY;

    for (uint32_t p = 0; p < problem->n_places; p++) {
        const dfl_problem_place *at = &problem->place[p];
        /* a window may lie outside of the shape: nothing moves */
        const double bits = problem->windows ? 0 : bits_at(problem, operand, p);
        double here = bits * (o->output ? at->write_joules : at->read_joules);
        if (p != o->home && !(o->places >> p & 1))
            continue;
        if (is_alone && (p != o->home || problem->windows))
            here += moved * (o->output ? problem->place[o->home].write_joules : problem->place[o->home].read_joules);
        joules = fmin(joules, here);
        seconds = fmin(seconds, bits / dfl_problem_instances(problem, at->axes) *
                                (o->output ? at->write_seconds : at->read_seconds));
    }
    out->joules += joules;
    out->seconds = fmax(out->seconds, seconds);
}

dfl_floor dfl_floor_among(const dfl_problem *problem, double steps, uint32_t alone)
{
    dfl_floor out = { .joules = problem->points * problem->joules, .seconds = problem->seconds * steps };

    for (uint32_t i = 0; i < problem->n_operands; i++)
        add_operand(problem, i, alone >> i & 1, &out);
    return out;
}

double dfl_floor_joules_of(const dfl_problem *problem, uint32_t operand)
{
    dfl_floor out = { 0 };

    add_operand(problem, operand, true, &out);
    return out.joules;
}

double dfl_floor_joules_at(const dfl_problem *problem, uint32_t operand, uint32_t places)
{
    const dfl_problem_operand *o = &problem->operand[operand];
    const dfl_problem_place *outer = &problem->place[o->home];
    const double moved = o->touched * o->bits;
    double joules = 0;

    for (uint32_t p = 0; p < problem->n_places; p++) {
        const dfl_problem_place *in = &problem->place[p];
        if (!(places >> p & 1))
            continue;
        joules += moved * (o->output ? in->drain_joules + outer->write_joules : outer->read_joules + in->write_joules);
        outer = in;
    }
    return joules + (o->again ? moved : bits_at(problem, operand, (uint32_t)(outer - problem->place))) *
                        (o->output ? outer->write_joules : outer->read_joules);
}

dfl_floor dfl_floor_make(const dfl_problem *problem)
{
    dfl_floor out = dfl_floor_among(problem, dfl_floor_steps(problem), (1u << problem->n_operands) - 1);
    double port[2 * DFL_PROBLEM_PLACES] = { 0 };

    for (uint32_t i = 0; i < problem->n_operands; i++) {
        const dfl_problem_operand *o = &problem->operand[i];
        port[2 * o->home + (o->output && !problem->place[o->home].one_port)] +=
            o->touched * o->bits * (o->output ? problem->place[o->home].write_seconds : problem->place[o->home].read_seconds);
    }
    for (uint32_t p = 0; p < 2 * problem->n_places; p++)
        out.seconds = fmax(out.seconds, port[p]);
    return out;
}

double dfl_floor_value(const dfl_objective *objective, double leakage, const dfl_problem *const *problems, uint32_t n_problems)
{
    double least = INFINITY;

    for (uint32_t j = 0; j < n_problems; j++) {
        const dfl_floor f = dfl_floor_make(problems[j]);
        least = fmin(least, dfl_objective_value(objective, f.joules + leakage * f.seconds, f.seconds));
    }
    return least;
}
