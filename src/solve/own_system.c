#include "solve/own_system.h"

#include "solve/homes.h"

/* Whether a memory that holds inputs or outputs, and intermediates, suits a tensor: an intermediate that is read suits a memory
   of inputs, one that is written a memory of outputs. This restricts the search, not what is legal. */
static bool suits(const dfl_selection *selection, const dfl_tensor *own, const dfl_tensor *given)
{
    const uint32_t sides = 1u << DFL_ROLE_INPUT | 1u << DFL_ROLE_OUTPUT | 1u << DFL_ROLE_WEIGHT;

    return given->role != DFL_ROLE_INTERMEDIATE || (selection->roles & sides) == 0 || own->role == DFL_ROLE_INTERMEDIATE ||
           (selection->roles >> own->role & 1) != 0;
}

/* Whether a memory that may hold a tensor suits it. If none does, all do. */
static bool is_suited(const dfl_own_source *a, const dfl_selection *selection, const dfl_tensor *own, const dfl_tensor *given)
{
    bool any = false;

    for (uint32_t m = 0; m < a->system->n_memories; m++) {
        const dfl_selection *holds = &a->system->memories[m].holds;
        any |= !holds->on || (dfl_selects(holds, given) && suits(holds, own, given));
    }
    return !any || suits(selection, own, given);
}

/* Whether the memory is outside of the outermost one that a tensor of the whole may have. */
static bool is_outside_home(const dfl_own_source *a, uint32_t memory, uint32_t tensor)
{
    return a->home != NULL && a->home[tensor] != DFL_NONE && dfl_memory_outside(a->system, memory, a->home[tensor]);
}

/* A selection by the names of exactly those own tensors that stand for selected tensors of the whole. `memory`: the one that
   has the selection; DFL_NONE = another part. Returns whether a memory lacks a tensor that does not suit it. */
static bool name_selected(const dfl_own_source *a, const dfl_workload *own, const uint32_t *tensor_of, uint32_t memory,
                          dfl_selection *selection)
{
    const bool is_memory = memory != DFL_NONE, is_any = !selection->on || selection->all;
    bool is_narrowed = false;
    dfl_sym *names;
    uint32_t n = 0;

    if (is_any && (!is_memory || a->home == NULL))
        return false;
    names = DFL_NEW_ARRAY(a->arena, dfl_sym, own->n_tensors + 1);
    for (uint32_t t = 0; t < own->n_tensors; t++) {
        const dfl_tensor *mine = &own->tensors[t], *given = &a->workload->tensors[tensor_of[t]];
        if (is_memory && is_outside_home(a, memory, tensor_of[t]))
            continue;
        const bool is_home = is_memory && a->home != NULL && a->home[tensor_of[t]] == memory;
        const bool is_held = is_any || dfl_selects(selection, given);
        const bool is_left = is_any || !is_memory || is_home || is_suited(a, selection, mine, given);
        is_narrowed |= is_held && !is_left;
        if (is_held && is_left)
            names[n++] = mine->name;
    }
    *selection = (dfl_selection){ .on = true, .names = names, .n_names = n };
    return is_narrowed;
}

/* Whether a tensor of other einsums occupies its home while the einsums run: an intermediate lives from its producer to its last
   reader. */
static bool is_alive(const dfl_own_source *a, uint32_t tensor)
{
    const dfl_tensor *t = &a->workload->tensors[tensor];

    return t->role != DFL_ROLE_INTERMEDIATE || t->n_producers == 0 || t->n_consumers == 0 ||
           (t->producers[0] < a->last && t->consumers[t->n_consumers - 1] > a->first);
}

/* Bits of a memory that the homes of tensors of other einsums leave; -1 = unlimited. */
static int64_t find_left(const dfl_own_source *a, const dfl_workload *own, const uint32_t *tensor_of, uint32_t memory)
{
    int64_t left = a->system->memories[memory].size_bits;

    for (uint32_t t = 0; t < a->workload->n_tensors && a->home != NULL && left > 0; t++) {
        const double bits = a->home[t] == memory && is_alive(a, t) ? dfl_home_bits(&a->workload->tensors[t]) : 0;
        bool is_own = false;
        for (uint32_t i = 0; i < own->n_tensors; i++)
            is_own |= tensor_of[i] == t;
        if (!is_own)
            left = bits < (double)left ? left - (int64_t)bits : 0;
    }
    return left;
}

dfl_own_systems dfl_own_systems_make(const dfl_own_source *a, const dfl_workload *own, const uint32_t *tensor_of)
{
    dfl_system *s = DFL_NEW(a->arena, dfl_system), *mapped = DFL_NEW(a->arena, dfl_system);
    dfl_memory *memories = DFL_NEW_ARRAY(a->arena, dfl_memory, a->system->n_memories + 1);
    dfl_axis *axes = DFL_NEW_ARRAY(a->arena, dfl_axis, a->system->n_axes + 1);
    dfl_axis *plain_axes = DFL_NEW_ARRAY(a->arena, dfl_axis, a->system->n_axes + 1);
    dfl_compute *computes = DFL_NEW_ARRAY(a->arena, dfl_compute, a->system->n_computes + 1);
    dfl_compute *plain_computes = DFL_NEW_ARRAY(a->arena, dfl_compute, a->system->n_computes + 1);
    bool is_narrowed = false;

    *s = *a->system;
    for (uint32_t i = 0; i < s->n_memories; i++) {
        memories[i] = s->memories[i];
        is_narrowed |= name_selected(a, own, tensor_of, i, &memories[i].holds);
        memories[i].size_bits = find_left(a, own, tensor_of, i);
    }
    for (uint32_t i = 0; i < s->n_axes; i++) {
        axes[i] = s->axes[i];
        (void)name_selected(a, own, tensor_of, DFL_NONE, &axes[i].multicast);
        (void)name_selected(a, own, tensor_of, DFL_NONE, &axes[i].reduce);
        plain_axes[i] = axes[i];
        plain_axes[i].forward = false;
    }
    for (uint32_t i = 0; i < s->n_computes; i++) {
        computes[i] = s->computes[i];
        (void)name_selected(a, own, tensor_of, DFL_NONE, &computes[i].operand_reuse);
        plain_computes[i] = computes[i];
        plain_computes[i].operand_reuse = (dfl_selection){ .on = false };
    }
    s->memories = memories;
    s->axes = axes;
    s->computes = computes;
    *mapped = *s;
    mapped->axes = plain_axes;
    mapped->computes = plain_computes;
    return (dfl_own_systems){ s, mapped, is_narrowed };
}
