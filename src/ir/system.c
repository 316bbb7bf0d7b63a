/* Queries of systems, and modified copies. */
#include "ir/system.h"

bool dfl_element_within(const dfl_system *s, uint32_t inner, uint32_t outer)
{
    while (inner != outer && inner != DFL_NONE)
        inner = s->elements[inner].parent;
    return inner == outer;
}

bool dfl_axis_encloses(const dfl_system *s, uint32_t axis, uint32_t element)
{
    return dfl_element_within(s, element, s->axes[axis].element);
}

bool dfl_element_instances(const dfl_system *s, uint32_t element, dfl_i128 *out)
{
    bool over = false;

    *out = 1;
    for (; element != DFL_NONE; element = s->elements[element].parent) {
        const dfl_element *e = &s->elements[element];
        for (uint32_t a = e->first_axis; a < e->first_axis + e->n_axes; a++)
            over |= dfl_mul(*out, s->axes[a].size, out);
    }
    return over;
}

bool dfl_memory_is_in_array(const dfl_system *s, uint32_t memory)
{
    dfl_i128 n;

    return dfl_element_instances(s, s->memories[memory].element, &n) || n > 1;
}

static double instances(const dfl_system *s, uint32_t element)
{
    dfl_i128 n;

    (void)dfl_element_instances(s, element, &n);
    return dfl_i128_double(n);
}

double dfl_system_leakage(const dfl_system *s)
{
    double watts = 0;

    for (uint32_t m = 0; m < s->n_memories; m++)
        watts += s->memories[m].leakage * instances(s, s->memories[m].element);
    for (uint32_t c = 0; c < s->n_computes; c++)
        watts += s->computes[c].leakage * instances(s, s->computes[c].element);
    return watts;
}

double dfl_system_area(const dfl_system *s)
{
    double area = 0;

    if (s->area > 0)
        return s->area;
    for (uint32_t m = 0; m < s->n_memories; m++)
        area += s->memories[m].area * instances(s, s->memories[m].element);
    for (uint32_t c = 0; c < s->n_computes; c++)
        area += s->computes[c].area * instances(s, s->computes[c].element);
    return area;
}

bool dfl_compute_sees(const dfl_system *s, uint32_t compute, uint32_t memory)
{
    return memory < s->computes[compute].after_memory &&
           dfl_element_within(s, s->computes[compute].element, s->memories[memory].element);
}

bool dfl_memory_outside(const dfl_system *s, uint32_t a, uint32_t b)
{
    return a < b && dfl_element_within(s, s->memories[b].element, s->memories[a].element);
}

dfl_system *dfl_system_endless(dfl_arena *arena, const dfl_system *s, bool all)
{
    dfl_system *out = DFL_NEW(arena, dfl_system);
    dfl_memory *memories = DFL_NEW_ARRAY(arena, dfl_memory, (size_t)s->n_memories + 1);

    *out = *s;
    out->memories = memories;
    for (uint32_t m = 0; m < s->n_memories; m++) {
        memories[m] = s->memories[m];
        memories[m].size_bits = -1;
        memories[m].holds.on &= !all;
    }
    return out;
}

const dfl_system *dfl_system_without_rows(dfl_arena *arena, const dfl_system *s)
{
    dfl_system *out;
    dfl_memory *memories;
    bool has_rows = false;

    for (uint32_t m = 0; m < s->n_memories; m++)
        has_rows |= s->memories[m].access_bits != 0;
    if (!has_rows)
        return s;
    out = DFL_NEW(arena, dfl_system);
    memories = DFL_NEW_ARRAY(arena, dfl_memory, (size_t)s->n_memories + 1);
    *out = *s;
    out->memories = memories;
    for (uint32_t m = 0; m < s->n_memories; m++) {
        memories[m] = s->memories[m];
        memories[m].access_bits = 0;
    }
    return out;
}

dfl_system *dfl_system_sized(dfl_arena *arena, const dfl_system *s, uint32_t memory, int64_t bits)
{
    dfl_system *out = DFL_NEW(arena, dfl_system);
    dfl_memory *memories = DFL_NEW_ARRAY(arena, dfl_memory, (size_t)s->n_memories + 1);

    *out = *s;
    out->memories = memories;
    for (uint32_t m = 0; m < s->n_memories; m++)
        memories[m] = s->memories[m];
    memories[memory].size_bits = bits;
    return out;
}

bool dfl_network_used(const dfl_system *s, uint32_t network)
{
    for (uint32_t i = 0; i < s->n_axes; i++)
        if (s->axes[i].network == network)
            return true;
    return false;
}

bool dfl_selects(const dfl_selection *sel, const dfl_tensor *t)
{
    if (!sel->on)
        return false;
    if (sel->all || (sel->roles >> (unsigned)t->role & 1u))
        return true;
    for (uint32_t i = 0; i < sel->n_names; i++)
        if (sel->names[i] == t->name)
            return true;
    return false;
}
