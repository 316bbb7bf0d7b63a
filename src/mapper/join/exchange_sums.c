#include "mapper/join/exchange_sums.h"

#include <math.h>

#include "mapper/problem/limits.h"

/* Tensors of a front at most: each has two ways or more. */
enum { TENSORS = 16 };
_Static_assert(DFL_EXCHANGE_STATES <= 1 << TENSORS, "a front has room for all tensors with two ways");

/* What is alive before an einsum: state = sum of way * weight over its tensors. */
typedef struct {
    uint32_t n, n_states;
    uint32_t *tensor, *weight;
    double *sum;                     /* by state: least sum of the einsums before */
    uint32_t *from, *choice;         /* by state: the last state and choice of this sum */
} front;

typedef struct {
    const dfl_workload *w;
    const dfl_exchange_step *steps;
    const uint32_t *ways;
    const dfl_exchange_rooms *rooms;
    front *fronts;                   /* [n_einsums + 1] */
} sums;

/* Memories whose room tiles of other einsums may take. */
enum { MEMORIES = 16 };

static const dfl_exchange_choice *choice_of(const dfl_exchange_step *s, uint32_t i)
{
    return (const dfl_exchange_choice *)(const void *)((const char *)s->choices + i * s->size);
}

/* The einsum that makes the tensor, or the first that reads it. */
static uint32_t first_of(const dfl_tensor *t) { return t->n_producers > 0 ? t->producers[0] : t->consumers[0]; }

static bool is_alive(const dfl_tensor *t, uint32_t einsum)
{
    return t->n_consumers > 0 && first_of(t) < einsum && t->consumers[t->n_consumers - 1] >= einsum;
}

static void make_front(dfl_arena *arena, const sums *k, uint32_t e)
{
    front *f = &k->fronts[e];
    uint64_t states = 1;

    f->tensor = DFL_NEW_ARRAY(arena, uint32_t, k->w->n_tensors + 1);
    f->weight = DFL_NEW_ARRAY(arena, uint32_t, k->w->n_tensors + 1);
    for (uint32_t t = 0; t < k->w->n_tensors; t++) {
        if (k->ways[t] < 2 || !is_alive(&k->w->tensors[t], e) || dfl_tensor_leaves_iteration(k->w, t) ||
            states * k->ways[t] > DFL_EXCHANGE_STATES)
            continue;
        f->weight[f->n] = (uint32_t)states;
        f->tensor[f->n++] = t;
        states *= k->ways[t];
    }
    f->n_states = (uint32_t)states;
    f->sum = DFL_NEW_ARRAY(arena, double, states);
    f->from = DFL_NEW_ARRAY(arena, uint32_t, states);
    f->choice = DFL_NEW_ARRAY(arena, uint32_t, states);
    for (uint32_t s = 0; s < f->n_states; s++)
        f->sum[s] = e == 0 ? 0 : INFINITY;
}

/* What a choice changes: the state before is `from` plus the ways of the `free` tensors, that behind is `to` plus those
   of the free tensors that stay alive. */
typedef struct {
    uint32_t from, to, n_free;
    uint32_t weight[TENSORS], after[TENSORS], ways[TENSORS];
    double fetch[TENSORS];                /* of a free tensor, unless its way is */
    uint32_t way[TENSORS];
    const dfl_exchange_room *room[TENSORS]; /* by way, of a free tensor that takes room in the einsum; NULL = none */
    double value;
    const dfl_exchange_choice *choice;
} transition;

static uint32_t find_tensor(const front *f, uint32_t tensor)
{
    uint32_t i = 0;

    while (i < f->n && f->tensor[i] != tensor)
        i++;
    return i;
}

/* Operand of the einsum that is a tensor and exchanged, or n_operands. */
static uint32_t find_exchanged(const dfl_problem *problem, uint32_t tensor)
{
    const uint32_t o = dfl_problem_find_operand(problem, tensor);

    return o < problem->n_operands && dfl_problem_exchanged(&problem->operand[o]) ? o : problem->n_operands;
}

static void set_transition(const sums *k, uint32_t e, const dfl_exchange_choice *c, transition *out)
{
    const front *f = &k->fronts[e], *g = &k->fronts[e + 1];
    const dfl_problem *problem = k->steps[e].problem;

    *out = (transition){ .value = c->value, .choice = c };
    for (uint32_t i = 0; i < f->n; i++) {
        const uint32_t o = find_exchanged(problem, f->tensor[i]), at = find_tensor(g, f->tensor[i]);
        const bool is_in = o < problem->n_operands;
        if (is_in && problem->operand[o].shared) {
            out->from += c->way[o] * f->weight[i];
            continue;
        }
        out->weight[out->n_free] = f->weight[i];
        out->ways[out->n_free] = k->ways[f->tensor[i]];
        out->after[out->n_free] = at < g->n && !is_in ? g->weight[at] : 0;
        out->fetch[out->n_free] = is_in ? c->fetch[o] : 0;
        out->room[out->n_free] = at < g->n && !is_in && k->rooms != NULL ? k->rooms->of[f->tensor[i]] : NULL;
        out->way[out->n_free++] = is_in ? c->way[o] : 0;
    }
    for (uint32_t o = 0; o < problem->n_operands; o++) {
        const uint32_t at = dfl_problem_exchanged(&problem->operand[o]) ? find_tensor(g, problem->operand[o].tensor) : g->n;
        if (at < g->n)
            out->to += c->way[o] * g->weight[at];
        if (first_of(&k->w->tensors[problem->operand[o].tensor]) == e)
            out->value += c->fetch[o];
    }
}

/* What a choice costs more in the room that the free tensors leave; `at` are their ways. */
static double find_crowd(const sums *k, const transition *t, const uint32_t *at)
{
    double taken[MEMORIES] = { 0 }, more = 0;

    for (uint32_t i = 0; i < t->n_free; i++)
        if (t->room[i] != NULL && t->room[i][at[i]].memory < MEMORIES)
            taken[t->room[i][at[i]].memory] += t->room[i][at[i]].bits;
    for (uint32_t i = 0; i < t->choice->n_crowd; i++) {
        bool is_taken = true;
        for (uint32_t m = 0; m < k->rooms->n_memories && is_taken; m++)
            is_taken = t->choice->crowd[i].taken[m] <= (m < MEMORIES ? taken[m] : 0);
        more = is_taken ? fmax(more, t->choice->crowd[i].value - t->choice->value) : more;
    }
    return more;
}

static void go_through(const sums *k, uint32_t e, uint32_t choice, const transition *t)
{
    const front *f = &k->fronts[e];
    front *g = &k->fronts[e + 1];
    uint32_t at[TENSORS] = { 0 }, from = t->from, to = t->to, i;

    do {
        double sum = f->sum[from] + t->value;
        for (i = 0; i < t->n_free; i++)
            sum += at[i] != t->way[i] ? t->fetch[i] : 0;
        if (t->choice->n_crowd > 0 && k->rooms != NULL)
            sum += find_crowd(k, t, at);
        if (sum < g->sum[to]) {
            g->sum[to] = sum;
            g->from[to] = from;
            g->choice[to] = choice;
        }
        for (i = 0; i < t->n_free; i++) {
            from += t->weight[i];
            to += t->after[i];
            if (++at[i] < t->ways[i])
                break;
            from -= t->weight[i] * t->ways[i];
            to -= t->after[i] * t->ways[i];
            at[i] = 0;
        }
    } while (i < t->n_free);
}

double dfl_exchange_sums(dfl_arena *arena, const dfl_workload *w, const dfl_exchange_step *steps, const uint32_t *ways,
                         const dfl_exchange_rooms *rooms, dfl_deadline *deadline, uint32_t *path)
{
    const uint32_t n = w->n_einsums;
    sums k = { .w = w, .steps = steps, .ways = ways, .rooms = rooms, .fronts = DFL_NEW_ARRAY(arena, front, (size_t)n + 1) };
    uint32_t state = 0;
    transition t;

    for (uint32_t e = 0; e <= n; e++)
        make_front(arena, &k, e);
    for (uint32_t e = 0; e < n; e++)
        for (uint32_t c = 0; c < steps[e].n; c++) {
            const dfl_exchange_choice *choice = choice_of(&steps[e], c);
            if (dfl_deadline_passed(deadline))
                return 0;
            if (choice->value == INFINITY)
                continue;
            set_transition(&k, e, choice, &t);
            go_through(&k, e, c, &t);
        }
    for (uint32_t e = n; e-- > 0 && k.fronts[n].sum[0] < INFINITY;) {
        path[e] = k.fronts[e + 1].choice[state];
        state = k.fronts[e + 1].from[state];
    }
    return k.fronts[n].sum[0];
}
