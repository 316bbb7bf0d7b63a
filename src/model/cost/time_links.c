/* Classes of links as resources, and the latency of routes. */
#include "model/cost/time_links.h"

#include <math.h>
#include <string.h>

static const char *make_name(dfl_nest *nest, uint32_t network, const char *class)
{
    const char *name = dfl_sym_text(nest->names, nest->system->networks[network].name);
    size_t len = strlen(name), more = strlen(class) + 1;
    char *text = DFL_NEW_ARRAY(nest->arena, char, len + 1 + more);

    memcpy(text, name, len);
    text[len] = '.';
    memcpy(text + len + 1, class, more);
    return text;
}

/* Lowest coordinate of the instances of a crossing on an axis, as far as it decides which link of a class the crossing uses; 0 if
   it does not. */
static int64_t find_place(const dfl_nest *nest, const dfl_crossings *all, const dfl_crossing *c, uint32_t class, uint32_t axis)
{
    const dfl_element *element = &nest->system->elements[c->element];
    const uint32_t *first = all->axis_class;
    const bool of_array = nest->system->axes[axis].element == c->element;
    bool decides = false;

    if (!dfl_axis_encloses(nest->system, axis, c->element))
        return 0;
    for (uint32_t a = 0; a < all->n_arrays && of_array; a++)
        if (all->arrays[a].element == c->element)
            decides = all->arrays[a].shape == DFL_NETWORK_PORTS && class >= DFL_CLASS_INNER_DOWN;
    for (uint32_t a = element->first_axis; a < element->first_axis + element->n_axes && of_array && !decides; a++)
        if (first[a] != DFL_NONE)
            decides = (axis < a && class == first[a]) || (axis > a && class == first[a] + 1);
    return of_array && !decides ? 0 : dfl_paths_place(nest->paths, c->footprint->einsum, axis);
}

/* Tells whether two crossings of a network use the same links of a class. */
static bool is_same_link(const dfl_nest *nest, const dfl_crossings *all, const dfl_crossing *a, const dfl_crossing *b,
                         uint32_t class)
{
    for (uint32_t i = 0; i < nest->system->n_axes; i++)
        if (find_place(nest, all, a, class, i) != find_place(nest, all, b, class, i))
            return false;
    return true;
}

/* Adds the classes of links of a network. Stages of a pipeline at different coordinates use different links of a class. */
static void add_classes(dfl_nest *nest, uint32_t network, dfl_time_plan *plan)
{
    const dfl_crossings *all = plan->crossings;
    const dfl_network_cost *cost = &all->networks[network];

    for (uint32_t i = 0; i < all->n; i++)
        if (all->at[i].network == network)
            plan->links[i] = DFL_NEW_ARRAY(nest->arena, uint32_t, cost->n_classes + 1);
    for (uint32_t k = 0; k < cost->n_classes; k++) {
        const char *name = make_name(nest, network, cost->classes[k].name);
        for (uint32_t i = 0; i < all->n; i++) {
            uint32_t first = 0;
            if (all->at[i].network != network)
                continue;
            while (first < i && (all->at[first].network != network || !is_same_link(nest, all, &all->at[first], &all->at[i], k)))
                first++;
            plan->links[i][k] = first < i ? plan->links[first][k] : plan->n_resources;
            if (first == i)
                plan->resources[plan->n_resources++] =
                    (dfl_resource){ .name = name, .memory = DFL_NONE, .network = network, .link = k };
        }
    }
}

void dfl_time_links_add_resources(dfl_nest *nest, dfl_time_plan *plan)
{
    plan->limits = DFL_NEW_ARRAY(nest->arena, bool, nest->system->n_networks + 1);
    plan->links = DFL_NEW_ARRAY(nest->arena, uint32_t *, plan->crossings->n + 1);
    plan->network_latency = DFL_NEW_ARRAY(nest->arena, double, nest->system->n_networks + 1);
    for (uint32_t n = 0; n < nest->system->n_networks; n++) {
        for (uint32_t a = 0; a < plan->crossings->n_arrays; a++)
            plan->limits[n] |= plan->crossings->arrays[a].network == n && !isinf(nest->system->networks[n].bandwidth);
        if (plan->limits[n])
            add_classes(nest, n, plan);
    }
}

/* Whether a class of a network may carry bits of a crossing. */
static bool may_carry(const dfl_time_plan *plan, const dfl_crossing *c, uint32_t k)
{
    const dfl_crossings *all = plan->crossings;
    bool up = dfl_crossing_goes_up(c), down_ports = k == DFL_CLASS_OUTER_DOWN || k == DFL_CLASS_INNER_DOWN;

    for (uint32_t a = 0; a < all->n_arrays; a++)
        if (all->arrays[a].network == c->network && all->arrays[a].shape == DFL_NETWORK_PORTS && k <= DFL_CLASS_INNER_UP)
            return up != down_ports;
    return true;
}

bool dfl_time_links_are_lines(const dfl_time_plan *plan, uint32_t keep)
{
    const dfl_crossings *all = plan->crossings;

    for (uint32_t i = all->of_keep[keep]; i < all->of_keep[keep + 1]; i++)
        for (uint32_t a = 0; a < all->n_arrays; a++)
            if (plan->limits[all->at[i].network] && all->arrays[a].network == all->at[i].network &&
                all->arrays[a].shape == DFL_NETWORK_LINES)
                return true;
    return false;
}

/* Whether a class of a crossed network consists of the ports of the instances. */
static bool is_inner(const dfl_crossings *all, const dfl_crossing *c, uint32_t k)
{
    for (uint32_t a = 0; a < all->n_arrays; a++)
        if (all->arrays[a].network == c->network)
            return all->arrays[a].shape == DFL_NETWORK_PORTS && (k == DFL_CLASS_INNER_DOWN || k == DFL_CLASS_INNER_UP);
    return false;
}

uint32_t dfl_time_links_most(const dfl_time_plan *plan, uint32_t keep)
{
    const dfl_crossings *all = plan->crossings;
    uint32_t n = 0;

    for (uint32_t i = all->of_keep[keep]; i < all->of_keep[keep + 1]; i++)
        n += plan->limits[all->at[i].network] ? all->networks[all->at[i].network].n_classes : 0;
    return n;
}

void dfl_time_links_add_uses(const dfl_time_plan *plan, dfl_transfer *transfer)
{
    const dfl_crossings *all = plan->crossings;
    uint32_t first = transfer->n_uses;

    transfer->first_link = first;
    for (uint32_t i = all->of_keep[transfer->keep]; i < all->of_keep[transfer->keep + 1]; i++) {
        uint32_t network = all->at[i].network;
        for (uint32_t k = 0; plan->limits[network] && k < all->networks[network].n_classes; k++) {
            uint32_t u = first, resource = plan->links[i][k];
            uint32_t end = is_inner(all, &all->at[i], k) ? DFL_INNER : DFL_OUTER;
            if (transfer->share_of[end] && !transfer->share_of[1 - end]) /* an efficiency stretches the elements at its end */
                end = 1 - end;
            while (u < transfer->n_uses && transfer->uses[u].resource != resource)
                u++;
            if (u == transfer->n_uses && may_carry(plan, &all->at[i], k))
                transfer->uses[transfer->n_uses++] = (dfl_use){ .resource = resource, .end = end, .peak = 1 };
        }
    }
}

void dfl_time_links_add_operands(dfl_nest *nest, dfl_time_plan *plan, dfl_einsum_time *einsum)
{
    const dfl_crossings *all = plan->crossings;
    uint32_t n = 0;

    for (uint32_t p = 0; p < einsum->n_ports; p++)
        for (uint32_t i = all->of_operand[einsum->ports[p].operand]; i < all->of_operand[einsum->ports[p].operand + 1]; i++)
            n += plan->limits[all->at[i].network] ? all->networks[all->at[i].network].n_classes : 0;
    einsum->links = DFL_NEW_ARRAY(nest->arena, dfl_operand_link, n + 1);
    for (uint32_t p = 0; p < einsum->n_ports && n > 0; p++)
        for (uint32_t i = all->of_operand[einsum->ports[p].operand]; i < all->of_operand[einsum->ports[p].operand + 1]; i++) {
            const uint32_t network = all->at[i].network;
            for (uint32_t k = 0; plan->limits[network] && k < all->networks[network].n_classes; k++)
                if (may_carry(plan, &all->at[i], k))
                    einsum->links[einsum->n_links++] =
                        (dfl_operand_link){ .crossing = i, .resource = plan->links[i][k], .port = p };
        }
}

double dfl_time_links_bits(const dfl_time_plan *plan, const dfl_operand_link *link)
{
    return dfl_i128_double(plan->crossings->at[link->crossing].bits[plan->resources[link->resource].link]);
}

/* Number of instances of an einsum along some spatial steps. */
static double count_instances(const dfl_nest *nest, const dfl_crossing *c, uint64_t steps)
{
    const uint32_t e = c->footprint->einsum;
    double n = 1;

    for (uint64_t left = steps; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        n *= nest->paths->paths[e].steps[i].rank == DFL_NONE ? 1 : (double)nest->sizes[e].trips[i];
    }
    return n;
}

/* The steps of a crossing on the axes `from` to `to` - 1 of the system. */
static uint64_t find_steps_on(const dfl_nest *nest, const dfl_crossing *c, uint32_t from, uint32_t to)
{
    uint64_t steps = 0;

    for (uint64_t left = c->own; left; left &= left - 1) {
        uint32_t axis = nest->paths->paths[c->footprint->einsum].steps[__builtin_ctzll(left)].line->axis;
        steps |= axis >= from && axis < to ? left & -left : 0;
    }
    return steps;
}

double dfl_time_links_most_bits(const dfl_nest *nest, const dfl_time_plan *plan, const dfl_operand_link *link, uint64_t adding)
{
    const dfl_crossing *c = &plan->crossings->at[link->crossing];
    const dfl_element *element = &nest->system->elements[c->element];
    const uint32_t class = plan->resources[link->resource].link, *first = plan->crossings->axis_class;
    const bool up = dfl_crossing_goes_up(c);
    if (c->bits[class] == 0) /* between neighbours, links of the other direction carry bits only for `forward` */
        return 0;
    double inside = count_instances(nest, c, c->inner & adding) * (double)c->width;

    for (uint32_t a = element->first_axis; a < element->first_axis + element->n_axes; a++) {
        if (first[a] == DFL_NONE || class != first[a] + up)
            continue;
        uint64_t along = find_steps_on(nest, c, a, a + 1);
        uint64_t beside = up ? find_steps_on(nest, c, element->first_axis, a)
                             : find_steps_on(nest, c, a + 1, element->first_axis + element->n_axes);
        double groups = count_instances(nest, c, along & adding);
        groups -= count_instances(nest, c, along & ~adding) > 1 ? 0 : 1; /* coordinate 0 lies before the first link */
        return inside * groups * count_instances(nest, c, beside & adding);
    }
    if (class == (up ? DFL_CLASS_INNER_UP : DFL_CLASS_INNER_DOWN))
        return inside;
    return inside * count_instances(nest, c, c->own & adding);
}

/* The largest share of a class in the elements of a transfer, over that in all elements. */
static double find_peak(const dfl_transfer *transfer, const dfl_delta *delta, const double *by_step, bool up)
{
    const uint32_t n = delta->footprint->n;
    double most = 0, part = 0, whole = 0;

    for (uint32_t j = 0; j <= n; j++) {
        double all = j == n ? 1 : delta->active >> j & 1 ? (double)(int64_t)(transfer->steps[j + 1] - transfer->steps[j]) : 0;
        all *= (double)delta->size;
        if (!delta->is_even && (j == n || delta->active >> j & 1))
            all = dfl_i128_double((up ? delta->leaving_by_step : delta->entering_by_step)[j]);
        part += by_step[j];
        whole += all;
        most = all > 0 && by_step[j] / all > most ? by_step[j] / all : most;
    }
    return part > 0 && most * whole > part ? most * whole / part : 1;
}

void dfl_time_links_set_use(const dfl_time_plan *plan, const dfl_transfer *transfer, dfl_use *use)
{
    const dfl_crossings *all = plan->crossings;
    const dfl_resource *resource = &plan->resources[use->resource];
    const dfl_delta *delta = use->end == DFL_INNER ? transfer->mine : transfer->theirs;
    double in = 0, out = 0;

    use->peak = 1;
    for (uint32_t i = all->of_keep[transfer->keep]; i < all->of_keep[transfer->keep + 1]; i++) {
        const dfl_crossing *c = &all->at[i];
        const bool up = dfl_crossing_goes_up(c);
        if (c->network != resource->network || plan->links[i][resource->link] != use->resource)
            continue;
        double peak = c->by_step && c->by_step[resource->link] ? find_peak(transfer, delta, c->by_step[resource->link], up) : 1;
        use->peak = peak > use->peak ? peak : use->peak;
        *(up ? &out : &in) += dfl_i128_double(c->bits[resource->link]) * peak;
    }
    use->in = in > 0 && delta->enter > 0 ? in / dfl_i128_double(delta->enter) / resource->rate[DFL_READ] : 0;
    use->out = out > 0 && delta->leave > 0 ? out / dfl_i128_double(delta->leave) / resource->rate[DFL_READ] : 0;
    use->out_read = use->out;
}

/* Number of coordinates in use on an axis by the instances that a crossing leads to. Old values of a result return to coordinate
   0 of the steps that do not index it. */
static int64_t count_used(const dfl_nest *nest, const dfl_crossing *c, uint32_t axis)
{
    const uint32_t e = c->footprint->einsum;
    const bool of_unit = c->kind == DFL_CROSSING_READ || c->kind == DFL_CROSSING_RESULT;
    const uint64_t still = c->result && c->kind == DFL_CROSSING_FILL ? c->still : 0;
    int64_t used = 1;

    for (uint64_t left = c->own & ~still; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        const dfl_path_step *step = &nest->paths->paths[e].steps[i];
        if (step->line->axis != axis || (of_unit && step->rank == DFL_NONE))
            continue;
        uint32_t driver = dfl_nest_driver(nest, e, i);
        used *= driver == DFL_NONE ? 1 : nest->sizes[driver].trips[i];
    }
    return used;
}

/* Number of links on the route of a crossing to the farthest instance in use. */
static double count_links(const dfl_nest *nest, const dfl_crossing *c)
{
    const char *kind = dfl_sym_text(nest->names, nest->system->networks[c->network].kind);
    const dfl_element *element = &nest->system->elements[c->element];
    int64_t links = 0;

    if (strcmp(kind, "mesh") != 0 && strcmp(kind, "ring") != 0 && strcmp(kind, "torus") != 0)
        return strcmp(kind, "bus") == 0 || strcmp(kind, "crossbar") == 0 || strcmp(kind, "fully_connected") == 0 ? 1 : 2;
    for (uint32_t a = element->first_axis; a < element->first_axis + element->n_axes; a++)
        links += dfl_paths_place(nest->paths, c->footprint->einsum, a) + count_used(nest, c, a) - 1;
    return (double)links;
}

double dfl_time_links_latency(const dfl_nest *nest, const dfl_time_plan *plan, uint32_t first, uint32_t end, bool up)
{
    double latency = 0;

    for (uint32_t i = first; i < end; i++) {
        const dfl_crossing *c = &plan->crossings->at[i];
        if (plan->network_latency[c->network] > 0 && dfl_crossing_goes_up(c) == up)
            latency += plan->network_latency[c->network] * count_links(nest, c);
    }
    return latency;
}
