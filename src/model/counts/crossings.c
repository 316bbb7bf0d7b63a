/* The crossings of a mapping: which networks a transfer crosses, and the bits that it brings to both sides. */
#include "model/counts/crossings.h"

#include <string.h>

#include "support/vec.h"

/* ---- plan ---- */

typedef DFL_VEC(dfl_crossing) crossing_list;

typedef struct {
    dfl_nest *nest;
    const dfl_keep_tree *keeps;
    crossing_list list;
    bool ok;
} crossing_plan;

bool dfl_crossing_goes_up(const dfl_crossing *c) { return c->kind == DFL_CROSSING_DRAIN || c->kind == DFL_CROSSING_RESULT; }

static dfl_delta *plan_delta(crossing_plan *plan, const dfl_crossing *c, uint64_t united, uint64_t first)
{
    dfl_sharing how = c->how;
    bool moves = c->kind == DFL_CROSSING_FILL || c->kind == DFL_CROSSING_DRAIN || c->by_change;

    if (!plan->ok)
        return NULL;
    how.united = united & ~first;
    how.first_only = first;
    dfl_delta *delta = moves ? dfl_delta_of(plan->nest, c->footprint, &how, false)
                             : dfl_delta_of_size(plan->nest, c->footprint, &how);
    plan->ok = delta != NULL;
    return delta;
}

static void add_crossing(crossing_plan *plan, const dfl_crossing *like)
{
    dfl_crossing c = *like;

    c.first = plan_delta(plan, &c, c.shared & c.inner, c.outer | c.own);
    if (!c.result || c.kind == DFL_CROSSING_DRAIN) {
        c.outside_all = plan_delta(plan, &c, c.shared, 0);
        c.inside_all = plan_delta(plan, &c, c.shared & c.inner, 0);
        c.outside_first = plan_delta(plan, &c, c.shared, c.outer);
    }
    DFL_PUSH(plan->nest->arena, &plan->list, c);
}

/* The steps in `steps` on the axes of the array of an element. */
static uint64_t find_own_steps(const dfl_nest *nest, uint32_t einsum, uint64_t steps, uint32_t element)
{
    const dfl_path *path = &nest->paths->paths[einsum];
    uint64_t bits = 0;

    for (uint64_t left = steps; left; left &= left - 1)
        if (nest->system->axes[path->steps[__builtin_ctzll(left)].line->axis].element == element)
            bits |= left & -left;
    return bits;
}

/* The steps in `steps` that index no dimension of a result. */
static uint64_t find_still(const dfl_nest *nest, uint32_t producer, uint64_t steps)
{
    const dfl_path *path = &nest->paths->paths[producer];
    const dfl_access *result = &nest->workload->einsums[producer].output;
    uint64_t still = steps;

    for (uint64_t left = steps; left; left &= left - 1)
        for (uint32_t d = 0; d < result->n_dims; d++)
            for (uint32_t t = 0; t < result->index[d].n_terms; t++)
                if (result->index[d].terms[t].rank == path->steps[__builtin_ctzll(left)].rank)
                    still &= ~(left & -left);
    return still;
}

/* Adds one crossing for each array with a network between the elements `inside` and `outside` of the system. `n`: number of
   steps above the inner end. */
static void add_levels(crossing_plan *plan, const dfl_crossing *like, uint32_t einsum, uint32_t n, uint32_t inside,
                       uint32_t outside)
{
    const dfl_nest *nest = plan->nest;
    uint64_t all = dfl_keep_tree_steps_around(nest, einsum, n, inside);
    uint64_t between = all & ~dfl_keep_tree_steps_around(nest, einsum, n, outside);
    uint64_t shared = dfl_keep_tree_steps_shared(nest, einsum, between, like->tensor, dfl_crossing_goes_up(like));
    dfl_crossing c = *like;

    for (uint32_t e = inside; e != outside && e != DFL_NONE; e = nest->system->elements[e].parent) {
        const dfl_element *element = &nest->system->elements[e];
        if (element->n_axes == 0)
            continue;
        c.own = find_own_steps(nest, einsum, between, e);
        c.outer = all & ~(c.own | c.inner);
        c.shared = shared & (c.own | c.inner);
        c.between = between;
        c.still = c.result ? find_still(nest, plan->keeps->at[c.at].producer, between) : 0;
        c.element = e;
        c.network = nest->system->axes[element->first_axis].network;
        if (c.network != DFL_NONE)
            add_crossing(plan, &c);
        c.inner |= c.own;
    }
}

static void add_keep(crossing_plan *plan, uint32_t at)
{
    const dfl_keep *keep = &plan->keeps->at[at];
    const dfl_system *s = plan->nest->system;

    if (keep->parent == DFL_NONE)
        return;
    uint32_t inside = s->memories[keep->line->memory].element;
    uint32_t outside = s->memories[plan->keeps->at[keep->parent].line->memory].element;
    dfl_crossing c = { .kind = DFL_CROSSING_FILL, .at = at, .tensor = keep->line->tensor, .result = keep->written,
                       .width = plan->nest->workload->tensors[keep->line->tensor].type.bits,
                       .footprint = keep->flushed, .how = dfl_keep_tree_sharing(plan->nest, keep) };
    if (keep->forward != DFL_NONE && !keep->written) {
        c.direct = c.footprint;
        c.footprint = keep->all.passed->footprint;
        c.how.forward = keep->forward;
        c.how.anew = keep->fresh;
    }
    if (keep->written && keep->all.made)
        c.made = keep->all.made->footprint;
    add_levels(plan, &c, keep->footprint.einsum, keep->step, inside, outside);
    c.kind = DFL_CROSSING_DRAIN;
    c.result = keep->written && keep->exchanged;
    if (keep->written)
        add_levels(plan, &c, keep->footprint.einsum, keep->step, inside, outside);
}

static void add_operand(crossing_plan *plan, uint32_t e, uint32_t at, const dfl_operand *operand)
{
    const dfl_nest *nest = plan->nest;
    const dfl_path *path = &nest->paths->paths[e];
    const dfl_line *line = plan->keeps->at[operand->inner].line;
    dfl_crossing c = { .kind = operand->output ? DFL_CROSSING_RESULT : DFL_CROSSING_READ, .at = at, .tensor = line->tensor,
                       .width = nest->workload->tensors[line->tensor].type.bits, .by_change = operand->reuse && !operand->output,
                       .footprint = operand->all->footprint, .how = { .forward = DFL_NONE } };

    add_levels(plan, &c, e, path->n_steps, nest->system->computes[path->compute].element,
               nest->system->memories[line->memory].element);
}

static const char *make_class_name(const dfl_nest *nest, uint32_t axis, const char *what)
{
    const char *name = dfl_sym_text(nest->names, nest->system->axes[axis].name);
    size_t len = strlen(name), more = strlen(what) + 1;
    char *text = DFL_NEW_ARRAY(nest->arena, char, len + more);

    memcpy(text, name, len);
    memcpy(text + len, what, more);
    return text;
}

static dfl_network_shape find_shape(const dfl_nest *nest, uint32_t network)
{
    const char *kind = dfl_sym_text(nest->names, nest->system->networks[network].kind);

    if (strcmp(kind, "bus") == 0)
        return DFL_NETWORK_BUS;
    if (strcmp(kind, "mesh") == 0 || strcmp(kind, "torus") == 0 || strcmp(kind, "ring") == 0)
        return DFL_NETWORK_LINES;
    return DFL_NETWORK_PORTS;
}

/* Makes the link classes of a network: those of its shape, then those of the axes with this network. */
static void make_classes(const dfl_nest *nest, uint32_t network, dfl_crossings *out)
{
    static const char *const ports[] = { "outer_down", "outer_up", "inner_down", "inner_up" };
    dfl_network_cost *cost = &out->networks[network];
    dfl_network_shape shape = find_shape(nest, network);
    bool along = shape == DFL_NETWORK_LINES;

    *cost = (dfl_network_cost){ .network = network,
                                .classes = DFL_NEW_ARRAY(nest->arena, dfl_link_class, 2 * nest->system->n_axes + 4) };
    if (shape == DFL_NETWORK_BUS)
        cost->classes[cost->n_classes++].name = "medium";
    for (uint32_t i = 0; shape == DFL_NETWORK_PORTS && i < 4; i++)
        cost->classes[cost->n_classes++].name = ports[i];
    for (uint32_t a = 0; a < nest->system->n_axes; a++) {
        const dfl_axis *axis = &nest->system->axes[a];
        if (axis->network != network || !(along || axis->forward))
            continue;
        out->axis_class[a] = cost->n_classes;
        cost->classes[cost->n_classes++].name = make_class_name(nest, a, along ? ".down" : ".forward");
        if (along)
            cost->classes[cost->n_classes++].name = make_class_name(nest, a, ".up");
    }
}

/* Lists the arrays that some transfer crosses. */
static void list_arrays(dfl_nest *nest, dfl_crossings *out)
{
    out->arrays = DFL_NEW_ARRAY(nest->arena, dfl_crossed_array, nest->system->n_elements + 1);
    for (uint32_t e = 0; e < nest->system->n_elements; e++) {
        dfl_crossed_array *array = &out->arrays[out->n_arrays];
        uint32_t n = 0;
        for (uint32_t i = 0; i < out->n; i++)
            n += out->at[i].element == e;
        if (n == 0)
            continue;
        uint32_t network = nest->system->axes[nest->system->elements[e].first_axis].network;
        *array = (dfl_crossed_array){ .element = e, .network = network, .shape = find_shape(nest, network),
                                      .crossings = DFL_NEW_ARRAY(nest->arena, uint32_t, n) };
        for (uint32_t i = 0; i < out->n; i++)
            if (out->at[i].element == e)
                array->crossings[array->n++] = i;
        out->n_arrays++;
    }
}

bool dfl_crossings_make(dfl_nest *nest, const dfl_keep_tree *keeps, const dfl_traffic_plan *plan, dfl_crossings *out)
{
    crossing_plan c = { .nest = nest, .keeps = keeps, .ok = true };

    *out = (dfl_crossings){ .of_keep = DFL_NEW_ARRAY(nest->arena, uint32_t, keeps->n + 1),
                            .of_operand = DFL_NEW_ARRAY(nest->arena, uint32_t, plan->n_operands + 1),
                            .axis_class = DFL_NEW_ARRAY(nest->arena, uint32_t, nest->system->n_axes + 1),
                            .networks = DFL_NEW_ARRAY(nest->arena, dfl_network_cost, nest->system->n_networks + 1) };
    for (uint32_t a = 0; a < nest->system->n_axes; a++)
        out->axis_class[a] = DFL_NONE;
    for (uint32_t n = 0; n < nest->system->n_networks; n++)
        make_classes(nest, n, out);
    for (uint32_t i = 0; i < keeps->n && c.ok; i++) {
        out->of_keep[i] = (uint32_t)c.list.n;
        add_keep(&c, i);
    }
    out->of_keep[keeps->n] = (uint32_t)c.list.n;
    for (uint32_t e = 0, at = 0; e < nest->workload->n_einsums; e++)
        for (uint32_t a = 0; a <= nest->workload->einsums[e].n_inputs && c.ok; a++, at++) {
            out->of_operand[at] = (uint32_t)c.list.n;
            add_operand(&c, e, at, &plan->operands[at]);
        }
    out->of_operand[plan->n_operands] = (uint32_t)c.list.n;
    out->at = c.list.at;
    out->n = (uint32_t)c.list.n;
    for (uint32_t i = 0; i < out->n; i++)
        out->at[i].bits = DFL_NEW_ARRAY(nest->arena, dfl_i128, out->networks[out->at[i].network].n_classes + 1);
    list_arrays(nest, out);
    return c.ok;
}

/* ---- counts ---- */

dfl_i128 dfl_crossing_elements(const dfl_crossing *c, const dfl_delta *delta)
{
    if (c->kind == DFL_CROSSING_DRAIN)
        return delta->leave;
    return c->kind == DFL_CROSSING_FILL || c->by_change ? delta->enter : delta->present;
}

/* Counts the bits at both sides of one crossing. */
static bool count_sides(dfl_nest *nest, const dfl_keep_tree *keeps, const dfl_traffic_sums *sums, dfl_crossing *c)
{
    bool over = false;

    if (!dfl_delta_fill(nest, c->first))
        return false;
    c->valued = c->result;
    if (c->result && c->kind == DFL_CROSSING_DRAIN) {
        const dfl_keep *keep = &keeps->at[c->at];
        c->valued = !(keep->adding & nest->sizes[keep->producer].moving);
    }
    if (c->valued && c->kind == DFL_CROSSING_FILL) {
        c->outside = c->inside = sums->all[c->at].fill;
    } else if (c->valued) {
        c->inside = sums->all[c->at].drain;
        c->outside = keeps->at[c->at].distinct;
    } else {
        if (!dfl_delta_fill(nest, c->outside_all) || !dfl_delta_fill(nest, c->inside_all) ||
            !dfl_delta_fill(nest, c->outside_first))
            return false;
        c->outside = dfl_crossing_elements(c, c->outside_all);
        c->inside = dfl_crossing_elements(c, c->inside_all);
        if (c->direct && c->own >> c->how.forward & 1)
            over |= dfl_add(c->inside, sums->all[c->at].fill - keeps->at[c->at].all.passed->enter, &c->inside);
    }
    c->outside = dfl_crossing_bits(c, c->outside, &over);
    c->inside = dfl_crossing_bits(c, c->inside, &over);
    return over ? dfl_nest_report_overflow(nest, nest->mapping->span) : true;
}

bool dfl_crossings_count(dfl_nest *nest, const dfl_keep_tree *keeps, const dfl_traffic_sums *sums, dfl_crossings *out)
{
    bool over = false;

    for (uint32_t n = 0; n < nest->system->n_networks; n++) {
        dfl_network_cost *cost = &out->networks[n];
        cost->injected_bits = cost->delivered_bits = cost->collected_bits = cost->arriving_bits = 0;
        cost->rough = false;
        for (uint32_t k = 0; k < cost->n_classes; k++)
            cost->classes[k] = (dfl_link_class){ .name = cost->classes[k].name };
    }
    for (uint32_t i = 0; i < out->n; i++) {
        dfl_crossing *c = &out->at[i];
        dfl_network_cost *cost = &out->networks[c->network];
        if (!count_sides(nest, keeps, sums, c))
            return false;
        bool up = dfl_crossing_goes_up(c);
        dfl_i128 *outside = up ? &cost->arriving_bits : &cost->injected_bits;
        dfl_i128 *inside = up ? &cost->collected_bits : &cost->delivered_bits;
        over |= dfl_add(*outside, c->outside, outside) || dfl_add(*inside, c->inside, inside);
    }
    return over ? dfl_nest_report_overflow(nest, nest->mapping->span) : true;
}
