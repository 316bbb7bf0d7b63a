#include "oracle/instances.h"

#include "oracle/network.h"

static bool is_selected(const dfl_selection *sel, const dfl_tensor *t) { return sel->on && dfl_selects(sel, t); }

static bool is_listed(const uint32_t *list, uint32_t n, uint32_t x)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i] == x)
            return true;
    return false;
}

uint32_t *dfl_oracle_axes_around(const dfl_oracle_machine *machine, uint32_t element, uint32_t *n_axes, uint32_t *n_inst)
{
    uint32_t *axes = DFL_NEW_ARRAY(machine->arena, uint32_t, machine->system->n_axes + 1);

    *n_axes = 0;
    *n_inst = 1;
    for (uint32_t a = 0; a < machine->system->n_axes; a++)
        if (dfl_axis_encloses(machine->system, a, element)) {
            axes[(*n_axes)++] = a;
            *n_inst *= machine->used[a];
        }
    return axes;
}

uint32_t dfl_oracle_instance(const dfl_oracle_machine *machine, const uint32_t *axes, uint32_t n_axes, const uint32_t *coord)
{
    uint32_t inst = 0;

    for (uint32_t i = 0; i < n_axes; i++)
        inst = inst * machine->used[axes[i]] + coord[axes[i]];
    return inst;
}

uint32_t dfl_oracle_first_instance(const dfl_oracle_machine *machine, const uint32_t *axes, uint32_t n_axes, uint32_t einsum)
{
    uint32_t inst = 0;

    for (uint32_t i = 0; i < n_axes && einsum != DFL_NONE; i++)
        inst = inst * machine->used[axes[i]] + (uint32_t)dfl_paths_place(machine->paths, einsum, axes[i]);
    return inst;
}

dfl_oracle_link dfl_oracle_link_make(dfl_oracle_machine *machine, uint32_t inner_element, uint32_t outer_element,
                                     uint32_t tensor, uint32_t einsum)
{
    const dfl_tensor *t = &machine->workload->tensors[tensor];
    dfl_oracle_link l = { 0 };
    uint32_t n_inner, n_inner_axes, n_outer_axes, n_read = 0, n_write = 0;
    const uint32_t *inner = dfl_oracle_axes_around(machine, inner_element, &n_inner_axes, &n_inner);
    uint32_t *outer = dfl_oracle_axes_around(machine, outer_element, &n_outer_axes, &l.n_outer);
    uint32_t *read = DFL_NEW_ARRAY(machine->arena, uint32_t, n_inner_axes + 1);
    uint32_t *write = DFL_NEW_ARRAY(machine->arena, uint32_t, n_inner_axes + 1);
    uint32_t *coord = DFL_NEW_ARRAY(machine->arena, uint32_t, machine->system->n_axes + 1);

    l.n_inner = n_inner;
    l.first = dfl_oracle_first_instance(machine, inner, n_inner_axes, einsum);
    dfl_oracle_networks_between(machine, inner_element, outer_element, &l);
    l.axes = DFL_NEW_ARRAY(machine->arena, uint32_t, n_inner_axes + 1);
    for (uint32_t i = 0; i < n_inner_axes; i++) {
        uint32_t a = inner[i];
        bool crossed = !is_listed(outer, n_outer_axes, a);
        if (!crossed || !is_selected(&machine->system->axes[a].multicast, t))
            read[n_read++] = a;
        if (!crossed || !is_selected(&machine->system->axes[a].reduce, t))
            write[n_write++] = a;
        if (crossed && machine->system->axes[a].forward && t->n_producers == 0)
            l.axes[l.n_axes++] = a;
    }
    l.outer_of = DFL_NEW_ARRAY(machine->arena, uint32_t, n_inner);
    l.read_group = DFL_NEW_ARRAY(machine->arena, uint32_t, n_inner);
    l.write_group = DFL_NEW_ARRAY(machine->arena, uint32_t, n_inner);
    l.lower = DFL_NEW_ARRAY(machine->arena, uint32_t, (size_t)n_inner * l.n_axes + 1);
    l.higher = DFL_NEW_ARRAY(machine->arena, uint32_t, (size_t)n_inner * l.n_axes + 1);
    for (uint32_t inst = 0; inst < n_inner; inst++) {
        uint32_t rest = inst;
        for (uint32_t i = n_inner_axes; i-- > 0; rest /= machine->used[inner[i]])
            coord[inner[i]] = rest % machine->used[inner[i]];
        l.outer_of[inst] = dfl_oracle_instance(machine, outer, n_outer_axes, coord);
        l.read_group[inst] = dfl_oracle_instance(machine, read, n_read, coord);
        l.write_group[inst] = dfl_oracle_instance(machine, write, n_write, coord);
        for (uint32_t i = 0; i < l.n_axes; i++) {
            uint32_t a = l.axes[i], here = coord[a];
            l.lower[i * n_inner + inst] = l.higher[i * n_inner + inst] = DFL_NONE;
            if (here > 0) {
                coord[a] = here - 1;
                l.lower[i * n_inner + inst] = dfl_oracle_instance(machine, inner, n_inner_axes, coord);
            }
            if (here + 1 < machine->used[a]) {
                coord[a] = here + 1;
                l.higher[i * n_inner + inst] = dfl_oracle_instance(machine, inner, n_inner_axes, coord);
            }
            coord[a] = here;
        }
    }
    return l;
}
