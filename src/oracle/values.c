/*
 * Evaluation of a workload with artificial arithmetic. The value of a point is the product of its operands modulo a
 * prime, whatever its operators are. The results of an element are reduced by sum, maximum or minimum. A mapping that
 * loses a partial sum, counts one twice or reads too early ends, with high probability, with values unlike those of the
 * direct evaluation.
 */
#include "oracle/values.h"

#include "support/limits.h"
#include "oracle/points.h"
#include "oracle/refuse.h"

uint64_t dfl_oracle_first_value(uint32_t tensor, uint32_t elem)
{
    uint64_t x = ((uint64_t)tensor << 32 | elem) + 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (x ^ x >> 31) % (DFL_ORACLE_PRIME - 1) + 1;
}

uint64_t dfl_oracle_combine(const dfl_oracle_machine *machine, uint32_t tensor, uint64_t a, uint64_t b)
{
    const dfl_tensor *t = &machine->workload->tensors[tensor];
    dfl_reduce reduce = DFL_REDUCE_NONE;

    for (uint32_t p = 0; p < t->n_producers; p++)
        if (machine->workload->einsums[t->producers[p]].reduce != DFL_REDUCE_NONE)
            reduce = machine->workload->einsums[t->producers[p]].reduce;
    switch (reduce) {
    case DFL_REDUCE_ADD:
        return (a + b) % DFL_ORACLE_PRIME;
    case DFL_REDUCE_MAX:
        return a > b ? a : b;
    case DFL_REDUCE_MIN:
        return a < b ? a : b;
    case DFL_REDUCE_NONE:
        break;
    }
    return b;
}

uint64_t dfl_oracle_product(uint64_t a, uint64_t b)
{
    return a * b % DFL_ORACLE_PRIME;
}

static uint64_t point_value(const dfl_oracle_machine *machine, const dfl_oracle_einsum *e, bool *padded)
{
    uint64_t value = 1;

    *padded = false;
    for (uint32_t i = 0; i < e->einsum->n_inputs; i++) {
        uint32_t elem = dfl_oracle_element(machine, e, &e->inputs[i]);
        *padded |= elem == DFL_NONE;
        value = dfl_oracle_product(value, elem == DFL_NONE ? 0 : machine->tensors[e->inputs[i].tensor].value[elem]);
    }
    return value;
}

/* Evaluates one einsum over its whole iteration space. `valued`: [tensor][element], whether the element has a value. */
static void evaluate_einsum(dfl_oracle_machine *machine, uint32_t id, bool *const *valued)
{
    dfl_oracle_einsum *e = &machine->einsums[id];
    uint32_t tensor = e->einsum->output.tensor;
    const dfl_tensor *t = &machine->workload->tensors[tensor];
    uint32_t producer = 0;

    while (t->producers[producer] != id)
        producer++;
    for (uint32_t r = 0; r < e->n_ranks; r++)
        e->block[r] = (dfl_oracle_interval){ 0, e->extent[r] };
    for (bool more = dfl_oracle_first_point(machine, id, e->block); more; more = dfl_oracle_next_point(machine, id, e->block)) {
        uint32_t elem = dfl_oracle_element(machine, e, &e->output);
        bool padded;
        uint64_t value = point_value(machine, e, &padded);
        e->work++;
        e->padding += padded;
        if (elem == DFL_NONE)
            continue;
        uint64_t *to = &machine->tensors[tensor].value[elem];
        bool first = !valued[tensor][elem] || e->einsum->reduce == DFL_REDUCE_NONE;
        *to = first ? value : dfl_oracle_combine(machine, tensor, *to, value);
        valued[tensor][elem] = true;
        machine->tensors[tensor].total[producer][elem]++;
    }
    if (e->einsum->over_rank != DFL_NONE)
        e->work /= machine->workload->ranks[e->einsum->over_rank].extent;
}

bool dfl_oracle_evaluate(dfl_oracle_machine *machine)
{
    bool **valued = DFL_NEW_ARRAY(machine->arena, bool *, machine->workload->n_tensors + 1);

    for (uint32_t t = 0; t < machine->workload->n_tensors; t++) {
        const dfl_tensor *tensor = &machine->workload->tensors[t];
        bool given = tensor->n_producers == 0 || dfl_tensor_is_updated(tensor);
        valued[t] = DFL_NEW_ARRAY(machine->arena, bool, machine->tensors[t].n_elem);
        for (uint32_t i = 0; given && i < machine->tensors[t].n_elem; i++) {
            machine->tensors[t].value[i] = dfl_oracle_first_value(t, i);
            valued[t][i] = true;
        }
    }
    for (uint32_t e = 0; e < machine->workload->n_einsums && !machine->failed; e++)
        evaluate_einsum(machine, e, valued);
    return !machine->failed;
}

dfl_i128 dfl_oracle_count_wrong(dfl_oracle_machine *machine)
{
    dfl_i128 wrong = 0;

    for (size_t i = 0; i < machine->keeps.n; i++) {
        const dfl_oracle_keep *keep = machine->keeps.at[i];
        const dfl_tensor *t = &machine->workload->tensors[keep->tensor];
        bool is_state = dfl_tensor_is_updated(t);
        if (!keep->lasting || t->n_producers == 0)
            continue;
        for (uint32_t elem = 0; elem < keep->n_elem; elem++) {
            uint64_t value = 0;
            bool any = false, wanted = false;
            for (uint32_t p = 0; p < t->n_producers; p++)
                wanted |= machine->tensors[keep->tensor].total[p][elem] > 0;
            for (uint32_t inst = 0; inst < keep->n_inst; inst++) {
                const dfl_oracle_cell *c = &keep->cells[(size_t)inst * keep->n_elem + elem];
                if (!c->has_value || (is_state && !c->dirty)) /* an instance without an update holds the old value of a state */
                    continue;
                value = any ? dfl_oracle_combine(machine, keep->tensor, value, c->value) : c->value;
                any = true;
            }
            wrong += any != wanted || (wanted && value != machine->tensors[keep->tensor].value[elem]);
        }
    }
    return wrong;
}
