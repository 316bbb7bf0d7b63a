/* Converts a case to the structures of src/ir. */
#include <math.h>
#include <string.h>

#include "tests/property/case.h"

typedef struct {
    const dfl_case *c;
    dfl_arena *arena;
    dfl_intern *names;
    dfl_workload *w;
    dfl_system *s;
    dfl_mapping *m;
} builder;

static int by_rank(const dfl_term *a, const dfl_term *b) { return a->rank < b->rank ? -1 : a->rank > b->rank; }

static dfl_index index_of(builder *b, const case_index *x)
{
    dfl_term *terms = DFL_NEW_ARRAY(b->arena, dfl_term, x->n_terms + 1);

    for (uint32_t t = 0; t < x->n_terms; t++) {
        dfl_term term = { .rank = x->rank[t], .coef = x->coef[t] };
        uint32_t at = t;
        for (; at > 0 && by_rank(&term, &terms[at - 1]) < 0; at--)
            terms[at] = terms[at - 1];
        terms[at] = term;
    }
    return (dfl_index){ .terms = terms, .n_terms = x->n_terms, .offset = x->offset };
}

static dfl_access access_of(builder *b, const case_access *from)
{
    dfl_access a = { .tensor = from->tensor, .n_dims = b->c->tensors[from->tensor].n_dims };
    dfl_index *index = DFL_NEW_ARRAY(b->arena, dfl_index, a.n_dims + 1);

    for (uint32_t d = 0; d < a.n_dims; d++)
        index[d] = index_of(b, &from->index[d]);
    a.index = index;
    return a;
}

static void note_ranks(const case_access *a, uint32_t n_dims, bool *has)
{
    for (uint32_t d = 0; d < n_dims; d++)
        for (uint32_t t = 0; t < a->index[d].n_terms; t++)
            has[a->index[d].rank[t]] = true;
}

static dfl_einsum einsum_of(builder *b, const case_einsum *from)
{
    const dfl_case *c = b->c;
    bool has[CASE_RANKS] = { false };
    dfl_access *inputs = DFL_NEW_ARRAY(b->arena, dfl_access, from->n_in + 1);
    uint32_t *ranks = DFL_NEW_ARRAY(b->arena, uint32_t, CASE_RANKS);
    dfl_einsum e = { .name = dfl_intern_z(b->names, c->tensors[from->out.tensor].name), .reduce = from->reduce,
                     .n_inputs = from->n_in, .over_rank = DFL_NONE };
    const dfl_eop **args = DFL_NEW_ARRAY(b->arena, const dfl_eop *, from->n_in + 1);
    dfl_eop *body = DFL_NEW(b->arena, dfl_eop);

    e.output = access_of(b, &from->out);
    note_ranks(&from->out, c->tensors[from->out.tensor].n_dims, has);
    for (uint32_t i = 0; i < from->n_in; i++) {
        dfl_eop *arg = DFL_NEW(b->arena, dfl_eop);
        *arg = (dfl_eop){ .kind = DFL_EOP_ACCESS, .operand = i };
        args[i] = arg;
        inputs[i] = access_of(b, &from->in[i]);
        note_ranks(&from->in[i], c->tensors[from->in[i].tensor].n_dims, has);
    }
    *body = from->n_in == 1 ? *args[0] : (dfl_eop){ .kind = DFL_EOP_MUL, .args = args, .n_args = from->n_in };
    for (uint32_t r = 0; r < c->n_ranks; r++)
        if (has[r])
            ranks[e.n_ranks++] = r;
    e.ranks = ranks;
    e.inputs = inputs;
    e.body = body;
    if (from->whole)
        e.over_rank = from->over;
    dfl_condition *where = DFL_NEW_ARRAY(b->arena, dfl_condition, CASE_WHERE);
    for (uint32_t i = 0; i < from->n_where; i++)
        where[i].sum = index_of(b, &from->where[i]);
    e.where = where;
    e.n_where = from->n_where;
    e.is_mac = from->reduce == DFL_REDUCE_ADD && from->n_in == 2 && !from->whole;
    e.flops_per_point = e.is_mac ? 0 : (from->n_in > 1) + (from->reduce != DFL_REDUCE_NONE);
    return e;
}

static void make_workload(builder *b)
{
    const dfl_case *c = b->c;
    dfl_workload *w = DFL_NEW(b->arena, dfl_workload);
    dfl_rank *ranks = DFL_NEW_ARRAY(b->arena, dfl_rank, c->n_ranks + 1);
    dfl_tensor *tensors = DFL_NEW_ARRAY(b->arena, dfl_tensor, c->n_tensors + 1);
    dfl_einsum *einsums = DFL_NEW_ARRAY(b->arena, dfl_einsum, c->n_einsums + 1);

    for (uint32_t r = 0; r < c->n_ranks; r++)
        ranks[r] = (dfl_rank){ .name = dfl_intern_z(b->names, c->ranks[r].name), .extent = c->ranks[r].extent };
    for (uint32_t e = 0; e < c->n_einsums; e++)
        einsums[e] = einsum_of(b, &c->einsums[e]);
    for (uint32_t t = 0; t < c->n_tensors; t++) {
        const case_tensor *from = &c->tensors[t];
        uint32_t *producers = DFL_NEW_ARRAY(b->arena, uint32_t, CASE_EINSUMS);
        uint32_t *consumers = DFL_NEW_ARRAY(b->arena, uint32_t, CASE_EINSUMS);
        int64_t *extents = DFL_NEW_ARRAY(b->arena, int64_t, CASE_DIMS);
        dfl_tensor *to = &tensors[t];
        memcpy(extents, from->extents, sizeof from->extents);
        *to = (dfl_tensor){ .name = dfl_intern_z(b->names, from->name), .role = from->role, .n_dims = from->n_dims,
                            .extents = extents, .producers = producers, .consumers = consumers };
        to->type = (dfl_dtype){ .name = dfl_intern_z(b->names, "bits"), .bits = from->bits };
        for (uint32_t e = 0; e < c->n_einsums; e++) {
            if (einsums[e].output.tensor == t)
                producers[to->n_producers++] = e;
            if (dfl_einsum_reads(&einsums[e], t))
                consumers[to->n_consumers++] = e;
        }
    }
    *w = (dfl_workload){ .name = dfl_intern_z(b->names, "w"), .ranks = ranks, .n_ranks = c->n_ranks, .tensors = tensors,
                         .n_tensors = c->n_tensors, .einsums = einsums, .n_einsums = c->n_einsums };
    b->w = w;
}

static dfl_selection selection_of(case_set set)
{
    dfl_selection s = { .on = set != CASE_NO, .all = set == CASE_ALL };

    if (set == CASE_INPUTS_ONLY)
        s.roles = 1u << DFL_ROLE_INPUT;
    if (set == CASE_WEIGHTS_ONLY)
        s.roles = 1u << DFL_ROLE_WEIGHT;
    if (set == CASE_OUTPUTS_ONLY)
        s.roles = 1u << DFL_ROLE_OUTPUT;
    return s;
}

const char *const case_network_names[CASE_NETWORKS] = {
    "bus", "crossbar", "switch", "fully_connected", "mesh", "torus", "ring",
};

/* Makes the networks of the elements; `ids`: [element], the id of its network or DFL_NONE. */
static void make_networks(builder *b, dfl_system *s, uint32_t *ids)
{
    const dfl_case *c = b->c;
    dfl_network *networks = DFL_NEW_ARRAY(b->arena, dfl_network, CASE_ELEMENTS);

    for (uint32_t i = 0; i < c->n_elements; i++) {
        ids[i] = DFL_NONE;
        if (i == 2 && c->one_network)
            ids[i] = ids[1];
        if (i == 0 || c->networks[i] == CASE_WIRELESS || (i == 2 && c->one_network))
            continue;
        char name[] = { 'n', 'e', 't', (char)('0' + i), '\0' };
        networks[s->n_networks] = (dfl_network){ .name = dfl_intern_z(b->names, name), .bandwidth = INFINITY, .element = i - 1,
                                                 .kind = dfl_intern_z(b->names, case_network_names[c->networks[i]]) };
        ids[i] = s->n_networks++;
    }
    s->networks = networks;
}

static void make_system(builder *b)
{
    const dfl_case *c = b->c;
    dfl_system *s = DFL_NEW(b->arena, dfl_system);
    dfl_element *elements = DFL_NEW_ARRAY(b->arena, dfl_element, c->n_elements);
    dfl_memory *memories = DFL_NEW_ARRAY(b->arena, dfl_memory, c->n_memories + 1);
    dfl_compute *computes = DFL_NEW_ARRAY(b->arena, dfl_compute, c->n_units + 1);
    dfl_axis *axes = DFL_NEW_ARRAY(b->arena, dfl_axis, c->n_axes + 1);
    uint32_t networks[CASE_ELEMENTS];

    for (uint32_t i = 0; i < c->n_elements; i++) {
        elements[i] = (dfl_element){ .parent = i == 0 ? DFL_NONE : i - 1, .clock = 1e9 };
        for (uint32_t a = 0; a < c->n_axes; a++)
            if (c->axes[a].element == i) {
                elements[i].first_axis = elements[i].n_axes == 0 ? a : elements[i].first_axis;
                elements[i].n_axes++;
            }
    }
    for (uint32_t i = 0; i < c->n_memories; i++)
        memories[i] = (dfl_memory){ .name = dfl_intern_z(b->names, c->memories[i].name),
                                    .element = c->memories[i].element, .size_bits = -1, .read_rate = 1e9,
                                    .write_rate = 1e9, .buffers = c->memories[i].buffers,
                                    .access_bits = c->memories[i].access };
    for (uint32_t i = 0; i < c->n_units; i++) {
        dfl_rate *rate = DFL_NEW(b->arena, dfl_rate);
        *rate = (dfl_rate){ .rate = 1e9 };
        computes[i] = (dfl_compute){ .name = dfl_intern_z(b->names, c->units[i].name), .element = c->units[i].element,
                                     .rates = rate, .n_rates = 1,
                                     .operand_reuse = selection_of(c->units[i].reuse) };
        for (uint32_t k = 0; k < c->n_memories; k++)
            computes[i].after_memory += c->memories[k].element <= c->units[i].element;
    }
    *s = (dfl_system){ .name = dfl_intern_z(b->names, "s"), .elements = elements, .n_elements = c->n_elements,
                       .memories = memories, .n_memories = c->n_memories, .computes = computes,
                       .n_computes = c->n_units, .axes = axes, .n_axes = c->n_axes };
    make_networks(b, s, networks);
    for (uint32_t i = 0; i < c->n_axes; i++)
        axes[i] = (dfl_axis){ .name = dfl_intern_z(b->names, c->axes[i].name), .size = c->axes[i].size,
                              .element = c->axes[i].element, .network = networks[c->axes[i].element],
                              .multicast = selection_of(c->axes[i].multicast),
                              .reduce = selection_of(c->axes[i].reduce), .forward = c->axes[i].forward };
    b->s = s;
}

static dfl_line line_of(builder *b, const case_line *from)
{
    dfl_line l = { .kind = from->kind, .rank = from->rank, .by = from->by, .amount = from->amount,
                   .online = from->online, .axis = from->axis, .tensor = from->tensor, .memory = from->memory,
                   .mode = from->mode };

    if (from->only != 0) {
        uint32_t *only = DFL_NEW_ARRAY(b->arena, uint32_t, CASE_EINSUMS);
        for (uint32_t e = 0; e < b->c->n_einsums; e++)
            if (from->only >> e & 1)
                only[l.n_only++] = e;
        l.only = only;
    }
    return l;
}

static void make_mapping(builder *b)
{
    const dfl_case *c = b->c;
    dfl_mapping *m = DFL_NEW(b->arena, dfl_mapping);
    dfl_body **bodies = DFL_NEW_ARRAY(b->arena, dfl_body *, c->n_bodies);

    for (uint32_t i = 0; i < c->n_bodies; i++) {
        const case_body *from = &c->bodies[i];
        dfl_body *body = bodies[i] = DFL_NEW(b->arena, dfl_body);
        uint32_t *recompute = DFL_NEW_ARRAY(b->arena, uint32_t, CASE_TENSORS);
        *body = (dfl_body){ .kind = from->kind, .id = i, .n_lines = from->n_lines, .compute = from->unit,
                            .recompute = recompute };
        body->lines = DFL_NEW_ARRAY(b->arena, dfl_line, from->n_lines + 1);
        body->children = DFL_NEW_ARRAY(b->arena, dfl_body *, CASE_BODIES);
        for (uint32_t k = 0; k < from->n_lines; k++)
            body->lines[k] = line_of(b, &from->lines[k]);
        for (uint32_t t = 0; t < c->n_tensors; t++)
            if (from->recompute >> t & 1)
                recompute[body->n_recompute++] = t;
        if (i == 0)
            continue;
        body->parent = bodies[from->parent];
        body->depth = body->parent->depth + 1;
        body->parent->children[body->parent->n_children++] = body;
        if (body->compute == DFL_NONE)
            body->compute = body->parent->compute;
    }
    for (uint32_t i = c->n_bodies; i-- > 0;) {
        uint32_t *einsums = DFL_NEW_ARRAY(b->arena, uint32_t, CASE_EINSUMS);
        for (uint32_t e = 0; e < c->n_einsums; e++) {
            bool below = c->bodies[i].kind == DFL_BODY_LEAF && c->bodies[i].einsum == e;
            for (uint32_t k = 0; k < bodies[i]->n_children; k++)
                for (uint32_t x = 0; x < bodies[i]->children[k]->n_einsums; x++)
                    below |= bodies[i]->children[k]->einsums[x] == e;
            if (below)
                einsums[bodies[i]->n_einsums++] = e;
        }
        bodies[i]->einsums = einsums;
    }
    *m = (dfl_mapping){ .name = dfl_intern_z(b->names, "m"), .workload = b->w, .system = b->s, .root = bodies[0],
                        .bodies = bodies, .n_bodies = c->n_bodies };
    b->m = m;
}

const dfl_mapping *case_mapping(const dfl_case *c, dfl_arena *arena, dfl_intern *names)
{
    builder b = { .c = c, .arena = arena, .names = names };

    make_workload(&b);
    make_system(&b);
    make_mapping(&b);
    return b.m;
}
