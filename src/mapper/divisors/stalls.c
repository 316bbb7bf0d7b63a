/* Time of transfers besides the work. */
#include "mapper/divisors/stalls.h"

#include <math.h>
#include <string.h>

#include "mapper/divisors/sliding.h"

/* What moves one way between two levels, in seconds by port in use and by way: to a keep, and behind these to the unit. */
typedef struct {
    const dfl_search *s;
    double in[DFL_TERM_PORTS][DFL_TEMPLATE_KEEPS + 1], out[DFL_TERM_PORTS][DFL_TEMPLATE_KEEPS + 1];
    double steps[DFL_TEMPLATE_KEEPS];            /* iterations of the loops above the keep */
} waiting;

void dfl_stalls_find(dfl_search *s)
{
    uint32_t ports = 0;

    s->first_wait = s->n_used;
    memset(s->wait_at, 0, sizeof s->wait_at);
    for (uint32_t i = 0; i < s->n_busy; i++)
        ports |= (uint32_t)s->terms.at[s->busy[i]].waits << s->terms.at[s->busy[i]].port;
    for (; ports != 0; ports &= ports - 1)
        s->wait_at[__builtin_ctz(ports)] = (uint8_t)s->n_used++;
}

double dfl_stalls_work(const dfl_search *s)
{
    double seconds = s->now->unit_seconds, ports[DFL_TERM_PORTS] = { 0 };

    for (uint32_t i = 0; i < s->n_busy; i++) {
        const dfl_term_of *t = &s->terms.at[s->busy[i]];
        double busy = t->seconds * s->now->factor[t->factor];
        if (t->keep < s->t->n_keeps)
            continue;
        for (uint32_t bits = s->terms.group[t->by.group].ranks; bits != 0; bits &= bits - 1)
            busy *= (double)s->now->left[__builtin_ctz(bits)];
        ports[t->port] += busy;
    }
    for (uint32_t p = 0; p < DFL_TERM_PORTS; p++)
        seconds = fmax(seconds, ports[p]);
    return seconds;
}

/* Of all iterations, by way. */
static void add_up(waiting *k)
{
    const dfl_search *s = k->s;
    const uint32_t unit = s->t->n_keeps;

    for (uint32_t u = 0; u < s->first_wait; u++)
        for (uint32_t i = 0; i <= unit; i++)
            k->in[u][i] = k->out[u][i] = 0;
    for (uint32_t i = 0; i < unit; i++) {
        k->steps[i] = 1;
        for (uint32_t j = 0; j < s->n_order; j++)
            k->steps[i] *= dfl_own_loops(s, s->order[j], i) * dfl_shared_above(s, s->order[j], i);
    }
    for (uint32_t i = 0; i < s->n_busy; i++) {
        const dfl_term_of *t = &s->terms.at[s->busy[i]];
        const dfl_term_group *group = &s->terms.group[t->by.group];
        double seconds = t->seconds * s->now->factor[t->factor];
        if (t->keep < s->apart[s->set])
            continue;
        for (uint32_t bits = group->ranks; bits != 0; bits &= bits - 1) {
            uint32_t r = (uint32_t)__builtin_ctz(bits);
            if (s->now->left[r] > 1)
                seconds *= dfl_own_loops(s, r, group->gap) * dfl_shared_above(s, r, group->gap);
        }
        if (group->window >= 0)
            seconds *= dfl_sliding_overlap(s, t->by.group, s->n_order);
        (t->out ? k->out : k->in)[s->port_at[t->port]][t->keep] += seconds;
    }
}

/* The longest that one tile of each of the keeps from `first` on takes, in, out or both; `stalls`: of those that the work waits
   for. */
static double longest(const waiting *k, uint32_t first, bool in, bool out, bool stalls)
{
    const dfl_search *s = k->s;
    double ports[DFL_TERM_PORTS] = { 0 }, tensors[DFL_PROBLEM_OPERANDS] = { 0 }, most = 0;

    for (uint32_t i = first; i < s->t->n_keeps; i++) {
        double level = 0;
        if (s->t->keep[i].home || (stalls && !s->problem->place[s->t->keep[i].place].waits))
            continue;
        for (uint32_t u = 0; u < s->first_wait; u++) {
            double tile = fmax(0, (in ? k->in[u][i] : 0) + (out ? k->out[u][i] : 0)) / k->steps[i];
            ports[u] += tile;
            level = fmax(level, tile);
        }
        tensors[s->t->keep[i].operand] += level;
    }
    for (uint32_t u = 0; u < s->first_wait; u++)
        most = fmax(most, ports[u]);
    for (uint32_t o = 0; o < s->problem->n_operands; o++)
        most = fmax(most, tensors[o]);
    return most;
}

double dfl_stalls_seconds(const dfl_search *s)
{
    waiting k;
    double seconds, before = 1;

    k.s = s;
    add_up(&k);
    seconds = s->now->work_seconds;
    for (uint32_t i = 0; i < s->t->n_keeps; i++) {
        if (k.steps[i] > before)
            seconds += (k.steps[i] - before) * longest(&k, i, true, true, true);
        before = k.steps[i];
    }
    for (uint32_t u = 0; u < s->first_wait; u++) {
        double busy = k.in[u][s->t->n_keeps] + k.out[u][s->t->n_keeps];
        for (uint32_t i = 0; i < s->t->n_keeps; i++)
            busy += (k.in[u][i] + k.out[u][i]) * (1 - 1 / k.steps[i]);
        seconds = fmax(seconds, busy);
    }
    return seconds + longest(&k, 0, true, false, false) + longest(&k, 0, false, true, false);
}
