/* States that are kept, and chosen. */
#include "mapper/exact/dp_states.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/divisors/signature.h"

typedef dfl_join_way way;
typedef dfl_join_state state;
typedef dfl_join_bucket bucket;
typedef dfl_join_layer layer;
typedef dfl_join_choice choice;
typedef dfl_joiner joiner;

double dfl_state_seconds(const state *s)
{
    double seconds = s->seconds;

    for (uint32_t p = 0; p < DFL_PORTS; p++)
        seconds = s->busy[p] > seconds ? s->busy[p] : seconds;
    return seconds;
}

double dfl_state_joules(const joiner *j, const state *s)
{
    return s->joules + j->goal->of.leakage * dfl_state_seconds(s);
}

double dfl_state_value(const joiner *j, const state *s)
{
    return j->goal->of.value(j->goal->of.objective, dfl_state_joules(j, s), dfl_state_seconds(s));
}

/* Whether `a` is at most `b` in everything: of room, in what is resident above a number of loops, and in that together with
   the most that was taken below; what is to come adds the same to both. */
static bool undercuts(const joiner *j, uint32_t n_open, const state *a, const state *b)
{
    if ((j->goal->by_energy && a->joules > b->joules) || (j->goal->by_time && a->seconds > b->seconds))
        return false;
    for (uint32_t p = 0; p < DFL_PORTS; p++)
        if (a->busy[p] > b->busy[p])
            return false;
    for (uint32_t t = 0; t < j->goal->n_tracks; t++) {
        double above_a = 0, above_b = 0;
        for (uint32_t d = 0; d <= n_open; d++) {
            if (above_a > above_b || above_a + a->finished[t][d] > above_b + b->finished[t][d])
                return false;
            above_a += d < n_open ? a->resident[t][d] : 0;
            above_b += d < n_open ? b->resident[t][d] : 0;
        }
    }
    return true;
}

/* Whether the states from `first` on, and the other one if there is one, make `victim` useless. */
static bool useless(const joiner *j, const layer *l, uint32_t first, uint32_t n_open, const state *other, const state *victim)
{
    dfl_signatures kinds;

    kinds.n = 0;
    if (other != NULL && !undercuts(j, n_open, other, victim))
        return false;
    if (other != NULL && dfl_signatures_settle(&kinds, other->kind, victim->kind, j->goal->top))
        return true;
    for (uint32_t i = first; i != 0; i = l->states.at[i - 1].next) {
        const state *s = &l->states.at[i - 1];
        if (s != victim && undercuts(j, n_open, s, victim) && dfl_signatures_settle(&kinds, s->kind, victim->kind, j->goal->top))
            return true;
    }
    return false;
}

void dfl_dp_states_add(joiner *j, layer *l, uint32_t to, const state *s)
{
    bucket *b = &l->buckets.at[to];
    const way *w = &b->way;
    uint32_t *link;
    state copy = *s;

    if (useless(j, l, b->first, w->n_open, NULL, s))
        return;
    for (link = &b->first; *link != 0;) {
        state *other = &l->states.at[*link - 1];
        if (useless(j, l, b->first, w->n_open, s, other)) {
            other->dropped = true;
            *link = other->next;
        } else {
            link = &other->next;
        }
    }
    copy.next = b->first;
    DFL_PUSH(j->arena, &l->states, copy);
    b->first = (uint32_t)l->states.n;
}

typedef struct { double least, room; uint32_t turn, state; } promise;

static int by_promise(const void *a, const void *b)
{
    const promise *x = a, *y = b;

    if (x->least != y->least)
        return x->least > y->least ? 1 : -1;
    if (x->turn != y->turn)
        return x->turn > y->turn ? 1 : -1;
    if (x->room != y->room)
        return x->room > y->room ? 1 : -1;
    return (x->state > y->state) - (x->state < y->state);
}

/* Part of its memory that what stays below open loops takes where it takes most. */
static double room_of(const joiner *j, const way *w, const state *s)
{
    double most = 0;

    for (uint32_t t = 0; t < j->goal->n_tracks; t++) {
        double bits = 0;
        for (uint32_t k = 0; k < w->n_open; k++)
            bits += s->resident[t][k];
        bits /= j->capacity[t];
        most = bits > most ? bits : most;
    }
    return most;
}

void dfl_dp_states_thin_out(joiner *j, layer *l, uint32_t most)
{
    promise *all = DFL_NEW_ARRAY(j->scratch, promise, l->states.n + 1);
    uint32_t n = 0;

    for (size_t b = 0; b < l->buckets.n; b++)
        for (uint32_t i = l->buckets.at[b].first, turn = 0; i != 0; i = l->states.at[i - 1].next)
            all[n++] = (promise){ l->states.at[i - 1].least, room_of(j, &l->buckets.at[b].way, &l->states.at[i - 1]), turn++,
                                  i - 1 };
    qsort(all, n, sizeof *all, by_promise);
    for (uint32_t i = most; i < n; i++)
        l->states.at[all[i].state].dropped = true;
    for (size_t b = 0; b < l->buckets.n; b++)
        for (uint32_t *link = &l->buckets.at[b].first; *link != 0;) {
            state *s = &l->states.at[*link - 1];
            if (s->dropped)
                *link = s->next;
            else
                link = &s->next;
        }
}

choice *dfl_dp_states_remember(dfl_arena *arena, layer *l)
{
    uint32_t n = 0;
    choice *choices;

    for (size_t i = 0; i < l->states.n; i++)
        n += !l->states.at[i].dropped;
    choices = DFL_NEW_ARRAY(arena, choice, (size_t)n + 1);
    n = 0;
    for (size_t i = 0; i < l->states.n; i++) {
        state *s = &l->states.at[i];
        if (s->dropped)
            continue;
        s->choice = n;
        choices[n].row = s->row;
        choices[n].before = s->before;
        choices[n].ends = s->ends;
        choices[n].skipped = s->skipped;
        memcpy(choices[n++].names, s->names, sizeof s->names);
    }
    return choices;
}

static const state *best_of(const joiner *j, const layer *l)
{
    const state *best = NULL;
    double least = INFINITY;

    for (size_t i = 0; i < l->states.n; i++) {
        const state *s = &l->states.at[i];
        double v = dfl_state_value(j, s);
        if (!s->dropped && v < least) {
            least = v;
            best = s;
        }
    }
    return best;
}

/* States of the last layer that no other is below in energy or time without being above in the other, by time. */
static const state **front_of(const joiner *j, const layer *l, uint32_t *n)
{
    const state **front = DFL_NEW_ARRAY(j->arena, const state *, l->states.n + 1);

    *n = 0;
    for (size_t i = 0; i < l->states.n; i++) {
        const state *s = &l->states.at[i];
        double joules = dfl_state_joules(j, s);
        uint32_t at = 0, last;
        if (s->dropped)
            continue;
        while (at < *n && dfl_state_seconds(front[at]) < dfl_state_seconds(s))
            at++;
        if ((at > 0 && dfl_state_joules(j, front[at - 1]) <= joules) ||
            (at < *n && dfl_state_seconds(front[at]) == dfl_state_seconds(s) && dfl_state_joules(j, front[at]) <= joules))
            continue;
        for (last = at; last < *n && dfl_state_joules(j, front[last]) >= joules;)
            last++;
        memmove(&front[at + 1], &front[last], (*n - last) * sizeof(const state *));
        *n = *n - (last - at) + 1;
        front[at] = s;
    }
    return front;
}

/* All states of the last layer, none of which another undercuts, by time. */
static const state **left_of(const joiner *j, const layer *l, uint32_t *n)
{
    const state **all = DFL_NEW_ARRAY(j->arena, const state *, l->states.n + 1);

    *n = 0;
    for (size_t i = 0; i < l->states.n; i++) {
        uint32_t at = *n;
        if (l->states.at[i].dropped)
            continue;
        (*n)++;
        for (; at > 0 && all[at - 1]->seconds > l->states.at[i].seconds; at--)
            all[at] = all[at - 1];
        all[at] = &l->states.at[i];
    }
    return all;
}

/* The best states of the last layer of the best kinds, by value. */
static const state **kinds_of(const joiner *j, const layer *l, uint32_t *n)
{
    const state **best = DFL_NEW_ARRAY(j->arena, const state *, (size_t)j->goal->top + 1);
    promise *all = DFL_NEW_ARRAY(j->arena, promise, l->states.n + 1);
    uint32_t states = 0;

    *n = 0;
    for (uint32_t i = 0; i < l->states.n; i++) {
        const state *s = &l->states.at[i];
        if (!s->dropped)
            all[states++] = (promise){ .state = i, .least = dfl_state_value(j, s) };
    }
    qsort(all, states, sizeof *all, by_promise);
    for (uint32_t i = 0; i < states && *n < j->goal->top; i++) {
        const state *s = &l->states.at[all[i].state];
        bool known = false;
        for (uint32_t k = 0; k < *n; k++)
            known |= best[k]->kind == s->kind;
        if (!known)
            best[(*n)++] = s;
    }
    return best;
}

const state **dfl_dp_states_choose(const joiner *j, const layer *l, bool front, uint32_t *n)
{
    const state **best;

    if (front)
        return j->goal->room > 0 ? left_of(j, l, n) : front_of(j, l, n);
    if (j->goal->top > 0)
        return kinds_of(j, l, n);
    best = DFL_NEW_ARRAY(j->arena, const state *, 1);
    best[0] = best_of(j, l);
    *n = best[0] != NULL;
    return best;
}
