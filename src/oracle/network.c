#include "oracle/network.h"

#include <stdlib.h>
#include <string.h>

#include "oracle/refuse.h"
#include "support/limits.h"

/* ---- making ---- */

static void set_shape(const dfl_oracle_machine *machine, dfl_oracle_array *array)
{
    static const struct { const char *kind; unsigned shape; } shapes[] = {
        { "bus", ORACLE_BUS }, { "mesh", ORACLE_MESH }, { "torus", ORACLE_MESH }, { "ring", ORACLE_MESH },
    };
    const char *kind = dfl_sym_text(machine->names, machine->system->networks[array->network].kind);

    array->shape = ORACLE_CROSSBAR;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        if (strcmp(kind, shapes[i].kind) == 0)
            array->shape = shapes[i].shape;
}

/* Makes the links along each axis of the array. */
static bool make_wires(dfl_oracle_machine *machine, dfl_oracle_array *array)
{
    array->wires = DFL_NEW_ARRAY(machine->arena, dfl_oracle_wire *, array->n_axes);
    for (uint32_t i = 0; i < array->n_axes; i++) {
        if ((uint64_t)array->n_ports > DFL_ORACLE_POINTS)
            return dfl_oracle_refuse_large(machine);
        array->wires[i] = DFL_NEW_ARRAY(machine->arena, dfl_oracle_wire, 2 * (size_t)array->n_ports);
    }
    return true;
}

/* Makes the counters of one instance of the network of an array. */
static bool make_counters(dfl_oracle_machine *machine, dfl_oracle_array *array)
{
    array->delivered = DFL_NEW_ARRAY(machine->arena, int64_t, array->n_ports);
    array->collected = DFL_NEW_ARRAY(machine->arena, int64_t, array->n_ports);
    array->place = DFL_NEW_ARRAY(machine->arena, int64_t, array->n_axes);
    array->goal = DFL_NEW_ARRAY(machine->arena, int64_t, array->n_axes);
    return make_wires(machine, array);
}

bool dfl_oracle_networks_make(dfl_oracle_machine *machine)
{
    const dfl_system *s = machine->system;

    machine->arrays = DFL_NEW_ARRAY(machine->arena, dfl_oracle_array, s->n_elements + 1);
    for (uint32_t e = 0; e < s->n_elements; e++) {
        dfl_oracle_array *array = &machine->arrays[e];
        *array = (dfl_oracle_array){ .network = DFL_NONE, .first_axis = s->elements[e].first_axis,
                                     .n_axes = s->elements[e].n_axes, .n_ports = 1 };
        if (array->n_axes == 0 || s->axes[array->first_axis].network == DFL_NONE)
            continue;
        array->network = s->axes[array->first_axis].network;
        set_shape(machine, array);
        for (uint32_t i = 0; i < array->n_axes; i++)
            array->n_ports *= machine->used[array->first_axis + i];
        if (!make_counters(machine, array))
            return false;
    }
    return true;
}

/* The instance `outside` of the network of an array. Makes its counters if no connection has used the instance so far. */
static dfl_oracle_array *find_instance(dfl_oracle_machine *machine, uint32_t element, uint32_t outside)
{
    dfl_oracle_array *array = &machine->arrays[element];

    while (array->outside != outside && array->next)
        array = array->next;
    if (array->outside == outside)
        return array;
    dfl_oracle_array *other = DFL_NEW(machine->arena, dfl_oracle_array);
    *other = *array;
    other->injected = other->arriving = 0;
    other->outside = outside;
    array->next = other;
    make_counters(machine, other); /* a failure is reported, and stops the execution */
    return other;
}

void dfl_oracle_networks_between(dfl_oracle_machine *machine, uint32_t inner, uint32_t outer, dfl_oracle_link *link)
{
    const dfl_element *elements = machine->system->elements;
    uint32_t below = 1, n = 0;

    for (uint32_t e = inner; e != outer && e != DFL_NONE; e = elements[e].parent)
        n += elements[e].n_axes > 0;
    link->n_levels = n;
    link->levels = DFL_NEW_ARRAY(machine->arena, dfl_oracle_level, n + 1);
    for (uint32_t e = inner; e != outer && e != DFL_NONE; e = elements[e].parent) {
        if (elements[e].n_axes == 0)
            continue;
        uint32_t ports = 1;
        for (uint32_t i = 0; i < elements[e].n_axes; i++)
            ports *= machine->used[elements[e].first_axis + i];
        link->levels[--n] = (dfl_oracle_level){ .array = e, .below = below };
        if (machine->system->axes[elements[e].first_axis].network != DFL_NONE) {
            link->wired = true;
            link->levels[n].wiring = find_instance(machine, e, link->first / below / ports);
        }
        below *= ports;
    }
}

/* ---- routes ---- */

/* The coordinates of a port. */
static void find_place(const dfl_oracle_machine *machine, const dfl_oracle_array *array, uint32_t port, int64_t *place)
{
    for (uint32_t i = array->n_axes; i-- > 0;) {
        uint32_t used = machine->used[array->first_axis + i];
        place[i] = port % used;
        port /= used;
    }
}

/* The link along axis `i` that leads away from a place, to the higher coordinate or to the lower one. */
static dfl_oracle_wire *wire_at(const dfl_oracle_machine *machine, const dfl_oracle_array *array, uint32_t i,
                                const int64_t *place, bool higher)
{
    uint64_t node = 0;

    for (uint32_t k = 0; k < array->n_axes; k++)
        node = node * machine->used[array->first_axis + k] + (uint64_t)place[k];
    return &array->wires[i][2 * node + higher];
}

/* Moves along axis `i` to a coordinate. Every link that the present route has not used yet carries the bits. */
static void move_along(const dfl_oracle_machine *machine, const dfl_oracle_array *array, uint32_t i, int64_t to, int64_t *place,
                       int64_t bits, dfl_oracle_direction direction)
{
    const bool higher = to > place[i];

    while (place[i] != to) {
        dfl_oracle_wire *wire = wire_at(machine, array, i, place, higher);
        if (wire->route != machine->route) {
            wire->down += direction == DFL_ORACLE_DOWN ? bits : 0;
            wire->up += direction == DFL_ORACLE_UP ? bits : 0;
        }
        wire->route = machine->route;
        place[i] += higher ? 1 : -1;
    }
}

static void route_port(const dfl_oracle_machine *machine, const dfl_oracle_array *array, uint32_t port, int64_t bits,
                       dfl_oracle_direction direction)
{
    find_place(machine, array, port, direction == DFL_ORACLE_DOWN ? array->goal : array->place);
    for (uint32_t i = 0; i < array->n_axes; i++)
        *(direction == DFL_ORACLE_DOWN ? &array->place[i] : &array->goal[i]) = 0;
    for (uint32_t i = 0; i < array->n_axes; i++)
        move_along(machine, array, i, array->goal[i], array->place, bits, direction);
}

/* ---- transfers ---- */

void dfl_oracle_network_note(dfl_oracle_machine *machine, dfl_oracle_link *link, uint32_t elem, uint32_t group, uint32_t inst)
{
    dfl_oracle_crossing c = { .elem = elem, .group = group, .inst = inst };

    if (link->wired)
        DFL_PUSH(machine->arena, &link->crossings, c);
}

static int compare_crossings(const void *a, const void *b)
{
    const dfl_oracle_crossing *x = a, *y = b;

    if (x->elem != y->elem)
        return x->elem < y->elem ? -1 : 1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->inst < y->inst ? -1 : x->inst > y->inst;
}

/* Counts the passage of `n` crossings of one group through one array. The crossings are sorted by instance. */
static void pass_array(dfl_oracle_machine *machine, const dfl_oracle_level *level, const dfl_oracle_crossing *list, size_t n,
                       int64_t bits, dfl_oracle_direction direction)
{
    dfl_oracle_array *array = level->wiring;
    uint32_t last = DFL_NONE, last_outside = DFL_NONE;

    if (array == NULL)
        return;
    dfl_oracle_network *sum = &machine->result->networks[array->network];
    machine->route++;
    for (size_t i = 0; i < n && dfl_oracle_spend(machine, 1); i++) {
        uint32_t inst = list[i].inst / level->below, outside = inst / array->n_ports;
        bool joins = outside == last_outside;
        if (inst == last)
            continue;
        last = inst;
        last_outside = outside;
        *(direction == DFL_ORACLE_DOWN ? &sum->delivered : &sum->collected) += bits;
        if (!joins)
            *(direction == DFL_ORACLE_DOWN ? &sum->injected : &sum->arriving) += bits;
        if (outside != array->outside)
            continue;
        const uint32_t port = inst % array->n_ports;
        (direction == DFL_ORACLE_DOWN ? array->delivered : array->collected)[port] += bits;
        if (!joins)
            *(direction == DFL_ORACLE_DOWN ? &array->injected : &array->arriving) += bits;
        if (array->shape == ORACLE_MESH)
            route_port(machine, array, port, bits, direction);
    }
}

void dfl_oracle_network_route(dfl_oracle_machine *machine, dfl_oracle_link *link, uint32_t tensor,
                              dfl_oracle_direction direction)
{
    const int64_t bits = machine->workload->tensors[tensor].type.bits;
    const dfl_oracle_crossing *list = link->crossings.at;
    size_t n = link->crossings.n, end;

    if (n == 0)
        return;
    qsort(link->crossings.at, n, sizeof *list, compare_crossings);
    for (size_t i = 0; i < n; i = end) {
        end = i + 1;
        while (end < n && list[end].elem == list[i].elem && list[end].group == list[i].group)
            end++;
        for (uint32_t k = 0; k < link->n_levels; k++)
            pass_array(machine, &link->levels[k], &list[i], end - i, bits, direction);
    }
    link->crossings.n = 0;
}

void dfl_oracle_network_forward(dfl_oracle_machine *machine, const dfl_oracle_link *link, uint32_t tensor, uint32_t axis,
                                uint32_t from, uint32_t to)
{
    const dfl_oracle_level *level = link->levels;
    const int64_t bits = machine->workload->tensors[tensor].type.bits;

    while (level->array != machine->system->axes[axis].element)
        level++;
    const dfl_oracle_array *array = level->wiring;
    if (array == NULL)
        return;
    machine->result->networks[array->network].delivered += bits;
    machine->result->networks[array->network].forwarded += bits;
    from /= level->below;
    to /= level->below;
    if (from / array->n_ports != array->outside)
        return;
    find_place(machine, array, from, array->place);
    wire_at(machine, array, axis - array->first_axis, array->place, to > from)->forward += bits;
}

/* ---- figures ---- */

/* The class of a network with this name; makes it if there is none. */
static dfl_oracle_link_class *class_of(dfl_oracle_machine *machine, dfl_oracle_network *to, const char *name)
{
    for (uint32_t i = 0; i < to->n_classes; i++)
        if (strcmp(to->classes[i].name, name) == 0)
            return &to->classes[i];
    dfl_oracle_link_class *grown = DFL_NEW_ARRAY(machine->arena, dfl_oracle_link_class, to->n_classes + 1);
    for (uint32_t i = 0; i < to->n_classes; i++)
        grown[i] = to->classes[i];
    grown[to->n_classes] = (dfl_oracle_link_class){ .name = name };
    to->classes = grown;
    return &to->classes[to->n_classes++];
}

static void add_shared(dfl_oracle_machine *machine, dfl_oracle_network *to, const char *name, int64_t bits)
{
    dfl_oracle_link_class *c = class_of(machine, to, name);

    c->bits += bits;
    c->first += bits;
}

static void add_ports(dfl_oracle_machine *machine, dfl_oracle_network *to, const char *name, const int64_t *bits, uint32_t n)
{
    dfl_oracle_link_class *c = class_of(machine, to, name);

    c->first = bits[0] > c->first ? bits[0] : c->first;
    for (uint32_t i = 0; i < n; i++)
        c->bits = bits[i] > c->bits ? bits[i] : c->bits;
}

/* The classes of links along an axis. Neighbours forward to higher coordinates on links of the class `down`. */
enum axis_class { AXIS_DOWN, AXIS_UP, AXIS_FORWARD };

/* Bits of a class on a link that leads to the higher coordinate or to the lower one. */
static int64_t load_of(const dfl_oracle_wire *wire, enum axis_class class, bool higher)
{
    switch (class) {
    case AXIS_DOWN:
        return wire->down + (higher ? wire->forward : 0);
    case AXIS_UP:
        return wire->up + (higher ? 0 : wire->forward);
    case AXIS_FORWARD:
        break;
    }
    return wire->forward;
}

/* Bits of a class on the busiest link of axis `i` that touches the place with all coordinates 0. */
static int64_t first_load(const dfl_oracle_machine *machine, const dfl_oracle_array *array, uint32_t i, enum axis_class class)
{
    const int64_t last = machine->used[array->first_axis + i] - 1;
    const struct { int64_t from; bool higher; } links[] = { { 0, true }, { last > 0, false } };
    int64_t most = 0;

    for (uint32_t k = 0; k < array->n_axes; k++)
        array->place[k] = 0;
    for (size_t k = 0; k < sizeof links / sizeof links[0]; k++) {
        array->place[i] = links[k].from;
        int64_t bits = load_of(wire_at(machine, array, i, array->place, links[k].higher), class, links[k].higher);
        most = bits > most ? bits : most;
    }
    return most;
}

static void add_wires(dfl_oracle_machine *machine, dfl_oracle_network *to, enum axis_class class, const dfl_oracle_array *array,
                      uint32_t i)
{
    static const char *const names[] = { "down", "up", "forward" };
    const uint32_t axis = array->first_axis + i;
    const char *name = dfl_sym_text(machine->names, machine->system->axes[axis].name);
    dfl_oracle_link_class *c = class_of(machine, to, dfl_arena_printf(machine->arena, "%s.%s", name, names[class]));
    uint64_t nodes = array->n_ports;

    for (uint64_t n = 0; n < 2 * nodes; n++) {
        int64_t bits = load_of(&array->wires[i][n], class, n % 2 == 1);
        c->bits = bits > c->bits ? bits : c->bits;
    }
    int64_t first = first_load(machine, array, i, class);
    c->first = first > c->first ? first : c->first;
}

/* Adds the classes of the outer side: those of the busiest instance of the network of an array. */
static void add_outer_side(dfl_oracle_machine *machine, const dfl_oracle_array *first)
{
    dfl_oracle_network *to = &machine->result->networks[first->network];
    int64_t medium = 0, down = 0, up = 0;

    for (const dfl_oracle_array *array = first; array; array = array->next) {
        int64_t both = array->injected + array->arriving;
        medium = both > medium ? both : medium;
        down = array->injected > down ? array->injected : down;
        up = array->arriving > up ? array->arriving : up;
    }
    if (first->shape == ORACLE_BUS) {
        add_shared(machine, to, "medium", medium);
    } else if (first->shape == ORACLE_CROSSBAR) {
        add_shared(machine, to, "outer_down", down);
        add_shared(machine, to, "outer_up", up);
    }
}

static void add_classes(dfl_oracle_machine *machine, const dfl_oracle_array *array)
{
    dfl_oracle_network *to = &machine->result->networks[array->network];

    if (array->shape == ORACLE_CROSSBAR) {
        add_ports(machine, to, "inner_down", array->delivered, array->n_ports);
        add_ports(machine, to, "inner_up", array->collected, array->n_ports);
    }
    for (uint32_t i = 0; i < array->n_axes; i++) {
        if (array->shape == ORACLE_MESH) {
            add_wires(machine, to, AXIS_DOWN, array, i);
            add_wires(machine, to, AXIS_UP, array, i);
        } else if (machine->system->axes[array->first_axis + i].forward) {
            add_wires(machine, to, AXIS_FORWARD, array, i);
        }
    }
}

dfl_i128 dfl_oracle_networks_sum(dfl_oracle_machine *machine)
{
    dfl_i128 broken = 0;

    for (uint32_t e = 0; e < machine->system->n_elements; e++)
        if (machine->arrays[e].network != DFL_NONE) {
            add_outer_side(machine, &machine->arrays[e]);
            for (const dfl_oracle_array *array = &machine->arrays[e]; array; array = array->next)
                add_classes(machine, array);
        }
    for (uint32_t n = 0; n < machine->system->n_networks; n++) {
        const dfl_oracle_network *sum = &machine->result->networks[n];
        broken += sum->injected > sum->delivered - sum->forwarded || sum->arriving > sum->collected;
    }
    return broken;
}
