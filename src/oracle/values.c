/*
 * What a workload computes, with made-up arithmetic: a point is the product of its operands modulo a prime, whatever
 * the operators are; results are summed, or the largest or smallest is taken. A mapping that loses a partial sum, counts
 * one twice or reads too early ends with other numbers than the direct evaluation.
 */
#include "oracle/machine.h"

/* A value of an input element, never 0. */
static uint64_t made_up(uint32_t tensor, uint32_t elem)
{
    uint64_t x = ((uint64_t)tensor << 32 | elem) + 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (x ^ x >> 31) % (ORACLE_PRIME - 1) + 1;
}

uint64_t oracle_combine(const oracle *o, uint32_t tensor, uint64_t a, uint64_t b)
{
    const dfl_tensor *t = &o->w->tensors[tensor];
    dfl_reduce reduce = DFL_REDUCE_NONE;

    for (uint32_t p = 0; p < t->n_producers; p++)
        if (o->w->einsums[t->producers[p]].reduce != DFL_REDUCE_NONE)
            reduce = o->w->einsums[t->producers[p]].reduce;
    switch (reduce) {
    case DFL_REDUCE_ADD:
        return (a + b) % ORACLE_PRIME;
    case DFL_REDUCE_MAX:
        return a > b ? a : b;
    case DFL_REDUCE_MIN:
        return a < b ? a : b;
    case DFL_REDUCE_NONE:
        break;
    }
    return b;
}

uint64_t oracle_product(uint64_t a, uint64_t b)
{
    return a * b % ORACLE_PRIME;
}

static uint64_t point_value(const oracle *o, const oracle_einsum *e, bool *padded)
{
    uint64_t value = 1;

    *padded = false;
    for (uint32_t i = 0; i < e->e->n_inputs; i++) {
        uint32_t elem = oracle_element(o, e, &e->in[i]);
        *padded |= elem == DFL_NONE;
        value = oracle_product(value, elem == DFL_NONE ? 0 : o->ten[e->in[i].tensor].value[elem]);
    }
    return value;
}

/* One einsum over its whole iteration space. */
static void evaluate(oracle *o, uint32_t id, bool *const *valued)
{
    oracle_einsum *e = &o->ein[id];
    uint32_t tensor = e->e->output.tensor;
    const dfl_tensor *t = &o->w->tensors[tensor];
    uint32_t producer = 0;

    while (t->producers[producer] != id)
        producer++;
    for (uint32_t r = 0; r < e->n_ranks; r++)
        e->piece[r] = (oracle_piece){ 0, e->extent[r] };
    for (bool more = oracle_first_point(o, id, e->piece); more; more = oracle_next_point(o, id, e->piece)) {
        uint32_t elem = oracle_element(o, e, &e->out);
        bool padded;
        uint64_t value = point_value(o, e, &padded);
        e->work++;
        e->padding += padded;
        if (elem == DFL_NONE)
            continue;
        uint64_t *to = &o->ten[tensor].value[elem];
        bool first = !valued[tensor][elem] || e->e->reduce == DFL_REDUCE_NONE;
        *to = first ? value : oracle_combine(o, tensor, *to, value);
        valued[tensor][elem] = true;
        o->ten[tensor].total[producer][elem]++;
    }
    if (e->e->over_rank != DFL_NONE)
        e->work /= o->w->ranks[e->e->over_rank].extent;
}

bool oracle_evaluate(oracle *o)
{
    bool **valued = DFL_NEW_ARRAY(o->arena, bool *, o->w->n_tensors + 1);

    for (uint32_t t = 0; t < o->w->n_tensors; t++) {
        const dfl_tensor *tensor = &o->w->tensors[t];
        bool given = tensor->n_producers == 0 || tensor->role == DFL_ROLE_STATE;
        valued[t] = DFL_NEW_ARRAY(o->arena, bool, o->ten[t].n_elem);
        for (uint32_t i = 0; given && i < o->ten[t].n_elem; i++) {
            o->ten[t].value[i] = made_up(t, i);
            valued[t][i] = true;
        }
        if (tensor->role == DFL_ROLE_STATE && tensor->n_producers > 0) {
            oracle_unsupported(o, tensor->span, "a state that is updated in place");
            return false;
        }
    }
    for (uint32_t e = 0; e < o->w->n_einsums && !o->failed; e++)
        evaluate(o, e, valued);
    return !o->failed;
}

dfl_i128 oracle_wrong(oracle *o)
{
    dfl_i128 wrong = 0;

    for (size_t i = 0; i < o->keeps.n; i++) {
        const oracle_keep *k = o->keeps.at[i];
        const dfl_tensor *t = &o->w->tensors[k->tensor];
        if (!k->lasting || t->n_producers == 0)
            continue;
        for (uint32_t elem = 0; elem < k->n_elem; elem++) {
            uint64_t value = 0;
            bool any = false, wanted = false;
            for (uint32_t p = 0; p < t->n_producers; p++)
                wanted |= o->ten[k->tensor].total[p][elem] > 0;
            for (uint32_t inst = 0; inst < k->n_inst; inst++) {
                const oracle_cell *c = &k->cells[(size_t)inst * k->n_elem + elem];
                if (!c->has_value)
                    continue;
                value = any ? oracle_combine(o, k->tensor, value, c->value) : c->value;
                any = true;
            }
            wrong += any != wanted || (wanted && value != o->ten[k->tensor].value[elem]);
        }
    }
    return wrong;
}
