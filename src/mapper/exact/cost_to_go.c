/* Forward and backward sums over the memories of what is alive. */
#include "mapper/exact/cost_to_go.h"

#include <string.h>

#include "support/vec.h"

enum { STATES = 1 << 14 };

/* What is alive before an einsum, and the sums for every choice of its memories; state = sum of choice * weight. */
typedef struct {
    uint32_t n;
    const uint32_t *tensors;
    uint32_t n_states;
    dfl_criteria *before, *behind;
} front;

struct dfl_cost_to_go {
    const dfl_workload *w;
    const dfl_bound_step *steps;
    front *fronts;                       /* [n_einsums + 1] */
    DFL_VEC(uint32_t) *memories;         /* by tensor: in which it may be exchanged */
};

static uint32_t choice_of(const dfl_cost_to_go *b, uint32_t tensor, uint32_t memory)
{
    uint32_t i = 0;

    while (i < b->memories[tensor].n && b->memories[tensor].at[i] != memory)
        i++;
    return i;
}

static void find_memories(dfl_arena *arena, dfl_cost_to_go *b, uint32_t e)
{
    const dfl_bound_step *s = &b->steps[e];

    for (uint32_t p = 0; p < s->n; p++)
        for (uint32_t o = 0; o < s->problem->n_operands; o++) {
            uint32_t t = s->problem->operand[o].tensor, memory = s->patterns[p].memory[o];
            if (dfl_problem_exchanged(&s->problem->operand[o]) && choice_of(b, t, memory) == b->memories[t].n)
                DFL_PUSH(arena, &b->memories[t], memory);
        }
}

static dfl_criteria *new_sums(dfl_arena *arena, uint32_t n)
{
    dfl_criteria *sums = DFL_NEW_ARRAY(arena, dfl_criteria, n);

    for (uint32_t i = 0; i < n; i++)
        sums[i] = dfl_criteria_none();
    return sums;
}

/* The einsum that makes the tensor, or the first that reads it. */
static uint32_t first_of(const dfl_tensor *t)
{
    return t->n_producers > 0 ? t->producers[0] : t->consumers[0];
}

typedef DFL_VEC(uint32_t) tensor_list;

/* What is alive before einsum `e`, in order, from what is before the one above it, and `begin`, what that is the first with. */
static void go_on(dfl_arena *arena, const dfl_cost_to_go *b, uint32_t e, tensor_list *alive, const tensor_list *begin)
{
    size_t n = 0;

    for (size_t i = 0; i < begin->n; i++)
        DFL_PUSH(arena, alive, begin->at[i]);
    for (size_t i = 0; i < alive->n; i++) {
        const dfl_tensor *t = &b->w->tensors[alive->at[i]];
        uint32_t tensor = alive->at[i];
        size_t at = n;
        if (t->consumers[t->n_consumers - 1] < e)
            continue;
        for (; at > 0 && alive->at[at - 1] > tensor; at--)
            alive->at[at] = alive->at[at - 1];
        alive->at[at] = tensor;
        n++;
    }
    alive->n = n;
}

/* Tensors that leave an iteration of a repeat are left out (B53), and beyond STATES the last operands: whatever their memory,
   which only lowers the bound. */
static void make_front(dfl_arena *arena, dfl_cost_to_go *b, uint32_t e, const tensor_list *alive)
{
    front *f = &b->fronts[e];
    uint32_t *tensors = DFL_NEW_ARRAY(arena, uint32_t, alive->n + 1);
    uint64_t states = 1;

    for (size_t i = 0; i < alive->n; i++) {
        uint32_t t = alive->at[i];
        if (states * b->memories[t].n > STATES || dfl_tensor_leaves_iteration(b->w, t))
            continue;
        states *= b->memories[t].n;
        tensors[f->n++] = t;
    }
    f->tensors = tensors;
    f->n_states = (uint32_t)states;
    f->before = new_sums(arena, f->n_states);
    f->behind = new_sums(arena, f->n_states);
}

static uint32_t memory_in(const dfl_cost_to_go *b, const front *f, uint32_t state, uint32_t tensor)
{
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t n = (uint32_t)b->memories[f->tensors[i]].n;
        if (f->tensors[i] == tensor)
            return b->memories[tensor].at[state % n];
        state /= n;
    }
    return DFL_NONE;
}

/* The state behind einsum `e` when it follows pattern `p`; DFL_NONE if that contradicts the state before. */
static uint32_t follow(const dfl_cost_to_go *b, uint32_t e, uint32_t state, const dfl_pattern *p)
{
    const front *from = &b->fronts[e], *to = &b->fronts[e + 1];
    const dfl_problem *problem = b->steps[e].problem;
    uint32_t out = 0, weight = 1;

    for (uint32_t o = 0; o < problem->n_operands; o++) {
        uint32_t memory = problem->operand[o].shared && !problem->operand[o].output
                              ? memory_in(b, from, state, problem->operand[o].tensor) : DFL_NONE;
        if (memory != DFL_NONE && memory != p->memory[o])
            return DFL_NONE;
    }
    for (uint32_t i = 0; i < to->n; i++) {
        uint32_t t = to->tensors[i], memory = memory_in(b, from, state, t);
        for (uint32_t o = 0; o < problem->n_operands; o++)
            if (problem->operand[o].tensor == t && (memory == DFL_NONE || problem->operand[o].common != 0))
                memory = p->memory[o];
        out += (memory == DFL_NONE ? 0 : choice_of(b, t, memory)) * weight;
        weight *= (uint32_t)b->memories[t].n;
    }
    return out;
}

/* Einsum `e` by pattern `p`, or `own` in its place, and what it then has to bring where nothing has been brought before. */
static dfl_criteria cost_of(const dfl_cost_to_go *b, uint32_t e, uint32_t state, uint32_t pattern, const dfl_criteria *own)
{
    const dfl_pattern *p = &b->steps[e].patterns[pattern];
    const dfl_problem *problem = b->steps[e].problem;
    dfl_criteria cost = own != NULL ? *own : p->least;
    double joules = 0;

    for (uint32_t o = 0; o < problem->n_operands; o++) {
        uint32_t t = problem->operand[o].tensor, memory;
        if (p->fetch[o] == 0)
            continue;
        memory = memory_in(b, &b->fronts[e], state, t);
        if (first_of(&b->w->tensors[t]) == e || (memory != DFL_NONE && memory != p->memory[o]))
            joules += p->fetch[o];
    }
    cost.at[DFL_COST_JOULES] += joules;
    for (uint32_t i = 0; i < DFL_MIXES; i++)
        cost.at[DFL_COST_MIXED + i] += joules;
    return cost;
}

static void take_least(dfl_criteria *to, dfl_criteria a, dfl_criteria b)
{
    dfl_criteria_add(&a, &b);
    dfl_criteria_lower(to, &a);
}

dfl_cost_to_go *dfl_cost_to_go_make(dfl_arena *arena, const dfl_workload *w, const dfl_bound_step *steps)
{
    dfl_cost_to_go *b = DFL_NEW(arena, dfl_cost_to_go);
    uint32_t n = w->n_einsums;
    tensor_list alive = { 0 }, *begin = dfl_arena_alloc(arena, (size_t)n + 1, sizeof *begin, _Alignof(void *));

    *b = (dfl_cost_to_go){ .w = w, .steps = steps, .fronts = DFL_NEW_ARRAY(arena, front, (size_t)n + 1),
                           .memories = dfl_arena_alloc(arena, (size_t)w->n_tensors + 1, sizeof *b->memories, _Alignof(void *)) };
    for (uint32_t e = 0; e < n; e++)
        find_memories(arena, b, e);
    for (uint32_t t = 0; t < w->n_tensors; t++)
        if (b->memories[t].n > 0)
            DFL_PUSH(arena, &begin[first_of(&w->tensors[t]) + 1], t);
    for (uint32_t e = 0; e <= n; e++) {
        go_on(arena, b, e, &alive, &begin[e]);
        make_front(arena, b, e, &alive);
    }
    b->fronts[0].before[0] = b->fronts[n].behind[0] = dfl_criteria_zero();
    for (uint32_t e = 0; e < n; e++)
        for (uint32_t s = 0; s < b->fronts[e].n_states; s++)
            for (uint32_t p = 0; p < steps[e].n; p++) {
                uint32_t to = follow(b, e, s, &steps[e].patterns[p]);
                if (to != DFL_NONE)
                    take_least(&b->fronts[e + 1].before[to], b->fronts[e].before[s], cost_of(b, e, s, p, NULL));
            }
    for (uint32_t e = n; e-- > 0;)
        for (uint32_t s = 0; s < b->fronts[e].n_states; s++)
            for (uint32_t p = 0; p < steps[e].n; p++) {
                uint32_t to = follow(b, e, s, &steps[e].patterns[p]);
                if (to != DFL_NONE)
                    take_least(&b->fronts[e].behind[s], b->fronts[e + 1].behind[to], cost_of(b, e, s, p, NULL));
            }
    return b;
}

dfl_criteria dfl_cost_to_go_all(const dfl_cost_to_go *b)
{
    return b->fronts[0].behind[0];
}

dfl_criteria dfl_cost_to_go_others(const dfl_cost_to_go *b, uint32_t einsum, uint32_t p)
{
    const front *f = &b->fronts[einsum];
    dfl_criteria least = dfl_criteria_none();

    for (uint32_t s = 0; s < f->n_states; s++) {
        uint32_t to = follow(b, einsum, s, &b->steps[einsum].patterns[p]);
        if (to != DFL_NONE)
            take_least(&least, f->before[s], cost_of(b, einsum, s, p, &b->fronts[einsum + 1].behind[to]));
    }
    return least;
}

static uint32_t state_of(const dfl_cost_to_go *b, uint32_t einsum, const uint32_t *memory)
{
    const front *f = &b->fronts[einsum];
    uint32_t state = 0, weight = 1;

    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t t = f->tensors[i];
        state += choice_of(b, t, memory[t]) * weight;
        weight *= (uint32_t)b->memories[t].n;
    }
    return state;
}

dfl_criteria dfl_cost_to_go_behind(const dfl_cost_to_go *b, uint32_t einsum, const uint32_t *memory)
{
    return b->fronts[einsum].behind[state_of(b, einsum, memory)];
}

dfl_criteria dfl_cost_to_go_after(const dfl_cost_to_go *b, uint32_t einsum, const uint32_t *memory, uint32_t p)
{
    uint32_t state = state_of(b, einsum, memory), to = follow(b, einsum, state, &b->steps[einsum].patterns[p]);

    return to == DFL_NONE ? dfl_criteria_none() : cost_of(b, einsum, state, p, &b->fronts[einsum + 1].behind[to]);
}

/* The state of front `y` in which what is later there is exchanged as in state `state` of front `x`, or DFL_NONE. */
static uint32_t state_later(const dfl_cost_to_go *b, const front *x, const front *y, uint32_t state, const dfl_later *later)
{
    uint32_t out = 0;

    for (uint32_t i = 0; i < x->n; i++) {
        uint32_t s = x->tensors[i], t = later->tensor(later->context, s), n = (uint32_t)b->memories[s].n, weight = 1, at = 0;
        for (; at < y->n && y->tensors[at] != t; at++)
            weight *= (uint32_t)b->memories[y->tensors[at]].n;
        if (at == y->n || b->memories[t].n != n || memcmp(b->memories[t].at, b->memories[s].at, n * sizeof(uint32_t)) != 0)
            return DFL_NONE;
        out += state % n * weight;
        state /= n;
    }
    return out;
}

bool dfl_cost_to_go_fall_by(const dfl_cost_to_go *b, uint32_t early, uint32_t late, const dfl_later *later,
                            const dfl_criteria *by)
{
    static const double rounding = 1 + 1e-12;
    const front *x = &b->fronts[early], *y = &b->fronts[late];
    bool fall = x->n == y->n;

    for (uint32_t s = 0; s < x->n_states && fall; s++) {
        uint32_t t = state_later(b, x, y, s, later);
        fall = t != DFL_NONE;
        for (uint32_t i = 0; i < DFL_COSTS && fall; i++)
            fall = x->behind[s].at[i] <= (y->behind[t].at[i] + by->at[i]) * rounding;
    }
    return fall;
}
