/* Time of transfers besides the work. */
#include "mapper/waits.h"

#include <math.h>
#include <string.h>

enum { NOWHERE = DFL_TERM_PORTS + DFL_JOB_OPERANDS };

/* What moves one way, in seconds by port in use and by way: to a keep, and behind these to the unit by operand. */
typedef struct { double at[DFL_TERM_PORTS][DFL_TERM_WAYS]; } moves;

typedef struct {
    const dfl_search *s;
    uint32_t n_ways;
    moves way[2];                                /* in and out */
    bool waits[DFL_TERM_PORTS][DFL_TERM_WAYS];
    double others[DFL_TERM_PORTS][DFL_TERM_WAYS]; /* the part that another keep may let come in first, or go out last, at most */
    double grows[DFL_TERM_WAYS];                 /* and the keep itself, above fewer loops */
    double steps[DFL_TERM_WAYS];                 /* iterations of the loops above the keep */
    double bits[DFL_TERM_WAYS];                  /* of its tile */
} waiting;

void dfl_waits_find(dfl_search *s)
{
    uint32_t ports = 0;

    s->first_wait = s->n_used;
    memset(s->wait_at, 0, sizeof s->wait_at);
    for (uint32_t i = 0; i < s->n_busy; i++)
        ports |= (uint32_t)s->terms.at[s->busy[i]].waits << s->terms.at[s->busy[i]].port;
    for (; ports != 0; ports &= ports - 1)
        s->wait_at[__builtin_ctz(ports)] = (uint8_t)s->n_used++;
}

double dfl_waits_work(const dfl_search *s)
{
    double seconds = s->now->unit_seconds, ports[DFL_TERM_PORTS] = { 0 };

    for (uint32_t i = 0; i < s->n_busy; i++) {
        const dfl_term_of *t = &s->terms.at[s->busy[i]];
        double busy = t->seconds * s->now->factor[t->factor];
        for (uint32_t bits = t->serves ? s->terms.group[t->by.group].ranks : 0; bits != 0; bits &= bits - 1)
            busy *= (double)s->now->left[__builtin_ctz(bits)];
        ports[t->port] += t->serves ? busy : 0;
    }
    for (uint32_t p = 0; p < DFL_TERM_PORTS; p++)
        seconds = fmax(seconds, ports[p]);
    return seconds;
}

static void find_ways(waiting *k)
{
    const dfl_search *s = k->s;
    double all = 1;

    for (uint32_t r = 0; r < s->job->n_ranks; r++)
        all *= (double)s->now->left[r];
    k->n_ways = s->t->n_keeps + s->job->n_operands;
    for (uint32_t i = 0; i < s->t->n_keeps; i++) {
        const dfl_job_operand *o = &s->job->operand[s->t->keep[i].operand];
        k->bits[i] = o->bits;
        k->steps[i] = 1;
        for (uint32_t r = 0; r < s->job->n_ranks; r++)
            k->bits[i] *= o->ranks >> r & 1 ? s->piece[i][r] : 1;
        for (uint32_t j = 0; j < s->n_order; j++)
            k->steps[i] *= dfl_own_loops(s, s->order[j], i) * dfl_shared_above(s, s->order[j], i);
        k->grows[i] = fmax(1 / k->steps[i], fmin(1, s->job->place[s->t->keep[i].place].bits / (k->bits[i] * k->steps[i])));
    }
    for (uint32_t o = 0; o < s->job->n_operands; o++) {
        k->bits[s->t->n_keeps + o] = s->job->operand[o].bits;
        k->steps[s->t->n_keeps + o] = all;
        k->grows[s->t->n_keeps + o] = 0;
    }
    for (uint32_t u = 0; u < s->first_wait; u++)
        for (uint32_t i = 0; i < k->n_ways; i++) {
            k->way[0].at[u][i] = k->way[1].at[u][i] = k->others[u][i] = 0;
            k->waits[u][i] = false;
        }
}

/* What all moves take. */
static void add_up(waiting *k)
{
    const dfl_search *s = k->s;

    find_ways(k);
    for (uint32_t i = 0; i < s->n_busy; i++) {
        const dfl_term_of *t = &s->terms.at[s->busy[i]];
        const dfl_term_group *group = &s->terms.group[t->by.group];
        double seconds = t->seconds * s->now->factor[t->factor], room = 0;
        uint32_t u = s->port_at[t->port], way = t->keep < s->t->n_keeps ? t->keep : s->t->n_keeps + t->by.operand;
        if (t->above && s->set == 1 && !s->goal->alone)
            continue;
        for (uint32_t bits = group->ranks; bits != 0; bits &= bits - 1) {
            uint32_t r = (uint32_t)__builtin_ctz(bits);
            if (s->now->left[r] > 1)
                seconds *= dfl_own_loops(s, r, group->gap) * dfl_shared_above(s, r, group->gap);
        }
        for (uint32_t rooms = t->others; rooms != 0; rooms &= rooms - 1)
            room = fmax(room, s->job->place[__builtin_ctz(rooms)].bits);
        k->way[t->out].at[u][way] += seconds;
        k->waits[u][way] |= t->waits;
        k->others[u][way] = fmax(k->others[u][way], fmin(1, room / (k->bits[way] * k->steps[way])));
    }
}

/* Seconds of the tile of keep `i` at a port, or the longest that its transfers take if it is of the tensor q. */
static double end_at(const waiting *k, bool out, uint32_t q, uint32_t i)
{
    double most = 0;

    if (q < DFL_TERM_PORTS)
        return k->way[out].at[q][i] / k->steps[i];
    if (q - DFL_TERM_PORTS != k->s->t->keep[i].operand)
        return 0;
    for (uint32_t u = 0; u < k->s->first_wait; u++)
        most = fmax(most, k->way[out].at[u][i]);
    return most / k->steps[i];
}

/* What is counted at p, in or out, with ends at q; `all`: whether the work waits for it or not. */
static double with_ends(const waiting *k, bool out, uint32_t p, bool all, uint32_t q)
{
    double sum = 0;

    for (uint32_t i = 0; i < k->n_ways; i++) {
        const bool keep = i < k->s->t->n_keeps, counted = p < NOWHERE && (all || k->waits[p][i]);
        double here = counted ? fmax(0, k->way[out].at[p][i]) : 0, end = keep && q < NOWHERE ? fmax(0, end_at(k, out, q, i)) : 0;
        if (counted && p == q)
            sum += here;
        else if (counted)
            sum += end + here * (1 - fmax(k->others[p][i], keep && end * k->steps[i] >= here ? 1 / k->steps[i] : k->grows[i]));
        else
            sum += end;
    }
    return sum;
}

/* The same with ends where they take longest. */
static double longest(const waiting *k, bool out, uint32_t p, bool all)
{
    const dfl_search *s = k->s;
    double most = with_ends(k, out, p, all, NOWHERE);

    for (uint32_t port = 0; port < 2 * s->job->n_places; port++)
        if (s->ports >> port & 1)
            most = fmax(most, with_ends(k, out, p, all, s->port_at[port]));
    for (uint32_t o = 0; o < s->job->n_operands; o++)
        most = fmax(most, with_ends(k, out, p, all, DFL_TERM_PORTS + o));
    return most;
}

double dfl_waits_seconds(const dfl_search *s)
{
    waiting k;
    double seconds;

    k.s = s;
    add_up(&k);
    seconds = s->now->work_seconds + longest(&k, false, NOWHERE, false) + longest(&k, true, NOWHERE, false);
    for (uint32_t p = 0; p < s->first_wait; p++) {
        seconds = fmax(seconds, s->now->work_seconds + longest(&k, false, p, false) + longest(&k, true, p, false));
        seconds = fmax(seconds, longest(&k, false, p, true) + longest(&k, true, p, true));
    }
    return seconds;
}
