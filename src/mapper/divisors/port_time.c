/* Sets of transfers, and what they and all take. */
#include "mapper/divisors/port_time.h"

#include <math.h>
#include <string.h>

#include "mapper/divisors/sliding.h"

void dfl_port_time_sets(dfl_search *s)
{
    uint32_t keeps = 0, before = 0;

    s->n_sets = 1;
    s->apart[0] = 0;
    for (uint32_t g = 0; g < s->t->shared_gaps && !s->goal->alone; g++) {
        if (s->t->allow[g] != 0 && keeps > before) {
            before = keeps;
            s->apart[s->n_sets++] = g;
        }
        s->set_of[g] = s->n_sets - 1;
        keeps += !s->t->keep[g].home;
    }
}

uint32_t dfl_port_time_set(const dfl_search *s)
{
    uint32_t last = 0;

    if (s->n_sets == 1 || s->n_shared == 0)
        return 0;
    for (uint32_t r = 0; r < s->problem->n_ranks; r++)
        if (s->shared_by[r] > 1 && s->shared_gap[r] > last)
            last = s->shared_gap[r];
    return s->goal->beside ? s->set_of[last] : dfl_port_time_least(s);
}

/* Seconds of a port in use for the ways that are chosen. */
static double port_seconds(const dfl_search *s, uint32_t i)
{
    double busy = 0;

    for (uint32_t g = 0; g < s->terms.n_groups; g++) {
        double product = dfl_port(s, i)[g] * s->shared[g];
        for (uint32_t k = 0; k < s->n_order; k++)
            if (s->terms.group[g].ranks >> s->order[k] & 1)
                product *= dfl_own_loops(s, s->order[k], s->terms.group[g].gap);
        if (s->terms.group[g].window >= 0)
            product *= dfl_sliding_overlap(s, g, s->n_order);
        busy += product;
    }
    return busy;
}

double dfl_port_time_seconds(const dfl_search *s)
{
    double seconds = s->now->unit_seconds;

    for (uint32_t i = 0; i < s->n_used; i++)
        seconds = fmax(seconds, port_seconds(s, i));
    return seconds;
}

void dfl_port_time_goal(dfl_search *s, double *busy)
{
    const uint32_t set = s->set;

    memcpy(busy, s->goal->busy, sizeof s->goal->busy);
    s->set = 0;
    for (uint32_t p = 0; p < s->goal->n_ports && s->goal->beside; p++)
        for (uint32_t i = 0; i < s->problem->n_places; i++) {
            const uint32_t port = 2 * i + s->goal->port[p] % 2;
            if (s->problem->place[i].memory == s->goal->port[p] / 2 && (s->ports >> port & 1))
                busy[p] = fmax(busy[p], port_seconds(s, s->port_at[port]));
        }
    s->set = set;
}
