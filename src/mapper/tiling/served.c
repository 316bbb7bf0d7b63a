#include "mapper/tiling/served.h"

#include <math.h>
#include <string.h>

enum { RESOURCES = DFL_TERM_PORTS + DFL_FORM_LINKS };

static double most(double a, double b) { return a > b ? a : b; }

/* Seconds for which operands keep resources busy while the unit reads and writes: ports, then links. */
typedef struct {
    const dfl_form *form;
    const dfl_served_node *node;
    double time[DFL_PROBLEM_OPERANDS][RESOURCES];
    double elements[DFL_PROBLEM_OPERANDS]; /* inputs that the unit gets, and results that it gives, at one instance */
    double into[DFL_PROBLEM_OPERANDS]; /* s: what the work would wait for at the inner port of one more keep */
    uint32_t movable;                  /* mask: operands for which one more keep has room further in */
    uint32_t inside[DFL_PROBLEM_OPERANDS]; /* mask: axes around some memory that has this room */
} served;

/* Place of the memory from which the unit reads an operand. */
static uint32_t find_source(const dfl_form *f, uint32_t operand)
{
    uint32_t place = f->problem->operand[operand].home;

    for (uint32_t i = 0; i < f->skeleton->n_keeps; i++)
        if (f->skeleton->keep[i].operand == operand && f->problem->place[f->skeleton->keep[i].place].memory != DFL_NONE)
            place = f->skeleton->keep[i].place;
    return place;
}

/* Seconds for which an element that the unit gets or gives keeps a port of its source busy. */
static double find_rate(const dfl_form *f, uint32_t operand)
{
    const dfl_problem_operand *o = &f->problem->operand[operand];
    const dfl_problem_place *source = &f->problem->place[find_source(f, operand)];

    return o->bits * (o->output ? source->write_seconds : source->read_seconds);
}

/* Sets the times; that of the busiest resource. */
static double add_times(served *k)
{
    const dfl_form *f = k->form;
    double all[RESOURCES] = { 0 }, busiest = 0;

    memset(k->time, 0, sizeof k->time);
    memset(k->elements, 0, sizeof k->elements);
    for (uint32_t i = 0; i < f->n_ports; i++) {
        const dfl_form_port *p = &f->port[i];
        double time = p->seconds * k->node->moved[p->count];
        if (!p->serves || (p->less != DFL_FORM_NONE && !k->node->is_point))
            continue;
        if (p->less != DFL_FORM_NONE)
            time = most(0, time + p->less_seconds * k->node->moved[p->less]);
        k->time[p->operand][p->port] += time;
        all[p->port] += time;
        if (p->less == DFL_FORM_NONE)
            k->elements[p->operand] = time / find_rate(f, p->operand);
    }
    for (uint32_t i = 0; i < f->n_links; i++) {
        const double time = f->link[i].seconds * k->node->moved[f->link[i].count];
        if (!f->link[i].serves)
            continue;
        k->time[f->link[i].operand][DFL_TERM_PORTS + f->link[i].link] += time;
        all[DFL_TERM_PORTS + f->link[i].link] += time;
    }
    for (uint32_t r = 0; r < RESOURCES; r++)
        busiest = most(busiest, all[r]);
    return busiest;
}

/* Seconds for which what moves between the unit and `source` keeps a port of a place busy, if it passes one instance of it: the
   port over which inputs enter, or results leave. */
static double find_passing(const served *k, uint32_t operand, uint32_t source, uint32_t place)
{
    const dfl_problem *problem = k->form->problem;
    const dfl_problem_place *p = &problem->place[place];
    double bits = k->elements[operand] * problem->operand[operand].bits;

    for (uint32_t a = 0; a < problem->n_axes; a++)
        bits /= (p->axes & ~problem->place[source].axes) >> a & 1 ? (double)problem->axis[a].size : 1;
    return bits * (problem->operand[operand].output ? p->drain_seconds : p->write_seconds);
}

/* Sets the operands for which a mapping may have one more keep, for which the work waits, between their source and the unit. */
static void find_movable(served *k)
{
    const dfl_problem *problem = k->form->problem;

    k->movable = 0;
    for (uint32_t o = 0; o < problem->n_operands; o++) {
        const uint32_t source = find_source(k->form, o);
        k->into[o] = INFINITY;
        k->inside[o] = 0;
        for (uint32_t p = source + 1; p < problem->n_places; p++) {
            const dfl_problem_place *place = &problem->place[p];
            const uint32_t port = problem->operand[o].output ? 2 * p : 2 * p + !place->one_port;
            double into;
            if (!(problem->operand[o].places >> p & 1) || place->memory == DFL_NONE || !place->waits ||
                k->node->room[p] + (double)problem->operand[o].bits > place->bits)
                continue;
            into = k->node->waits[port] + find_passing(k, o, source, p);
            k->into[o] = into < k->into[o] ? into : k->into[o];
            k->movable |= 1u << o;
            k->inside[o] |= place->axes;
        }
    }
}

/* Whether an operand passes a link between one more keep and the unit, wherever the keep stands. */
static bool passes_inside(const served *k, uint32_t operand, uint32_t resource)
{
    return resource >= DFL_TERM_PORTS && !(k->inside[operand] >> (resource - DFL_TERM_PORTS) / 2 & 1);
}

/* As dfl_served_time for mappings in which the operands `moved` have one more keep. */
static double find_time(const served *k, uint32_t moved)
{
    const dfl_served_node *node = k->node;
    const double latencies = node->ramp->latencies;
    double work = node->work, extra = node->extra;

    for (uint32_t r = 0; r < RESOURCES; r++) {
        double serves = 0, waits = 0;
        for (uint32_t o = 0; o < k->form->problem->n_operands; o++)
            *((moved >> o & 1) && !passes_inside(k, o, r) ? &waits : &serves) += k->time[o][r];
        work = most(work, serves);
        if (r < DFL_TERM_PORTS && waits > 0)
            extra = most(extra, node->waits[r] + waits + dfl_ramp_lasts_beside(node->ramp, node->lasts, r) + latencies);
    }
    for (uint32_t o = 0; o < k->form->problem->n_operands; o++)
        extra = moved >> o & 1 ? most(extra, k->into[o] + latencies) : extra;
    return work + extra;
}

double dfl_served_time(const dfl_form *f, const dfl_served_node *node)
{
    served k = { .form = f, .node = node };
    double least;

    if (add_times(&k) <= node->work)
        return node->work + node->extra;
    find_movable(&k);
    least = find_time(&k, 0);
    for (uint32_t moved = k.movable; moved != 0; moved = (moved - 1) & k.movable)
        least = fmin(least, find_time(&k, moved));
    return least;
}
