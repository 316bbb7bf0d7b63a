/*
 * The run as a mapping. The peer's loops, outer to inner, are temporal(n-1), spatial(n-1), temporal(n-2), ...; the
 * tile of level k holds what its own loops touch, so `keep` stands above temporal(k). The spatial loops of level k
 * spread over the instances of level k-1: an element with the axes X and Y stands between the two memories.
 */
#include <string.h>

#include "tests/timeloop/peer.h"

typedef struct {
    const peer_run *run;
    dfl_arena *arena;
    dfl_intern *names;
    dfl_workload *w;
    dfl_system *s;
    uint32_t latch;                   /* memory of the latch for the output, or DFL_NONE */
    uint32_t axis_of[PEER_LEVELS][2]; /* X and Y below the level, where there is one */
} designer;

/* ---- workload ---- */

static dfl_index index_of(const designer *d, const peer_tensor *t, uint32_t rank, int64_t *extent)
{
    dfl_term *terms = DFL_NEW_ARRAY(d->arena, dfl_term, PEER_TERMS);
    dfl_index index = { .terms = terms, .n_terms = t->n_terms[rank] };

    *extent = 1;
    for (uint32_t i = 0; i < index.n_terms; i++) {
        const peer_term *term = &t->terms[rank][i];
        int64_t reach = d->run->dims[term->dim].bound - 1;
        uint32_t at = i;
        for (; at > 0 && terms[at - 1].rank > term->dim; at--)
            terms[at] = terms[at - 1];
        terms[at] = (dfl_term){ .rank = term->dim, .coef = term->coef };
        *extent += (term->coef < 0 ? -term->coef : term->coef) * reach;
        index.offset += term->coef < 0 ? -term->coef * reach : 0;
    }
    return index;
}

static void make_tensor(const designer *d, uint32_t id, dfl_tensor *out, dfl_access *access)
{
    const peer_tensor *t = &d->run->tensors[id];
    int64_t *extents = DFL_NEW_ARRAY(d->arena, int64_t, PEER_RANKS);
    dfl_index *index = DFL_NEW_ARRAY(d->arena, dfl_index, PEER_RANKS);
    uint32_t *einsum = DFL_NEW(d->arena, uint32_t);

    for (uint32_t r = 0; r < t->n_ranks; r++)
        index[r] = index_of(d, t, r, &extents[r]);
    *access = (dfl_access){ .tensor = id, .n_dims = t->n_ranks, .index = index };
    *out = (dfl_tensor){ .name = dfl_intern_z(d->names, t->name), .n_dims = t->n_ranks, .extents = extents,
                         .role = t->written ? DFL_ROLE_OUTPUT : DFL_ROLE_INPUT, .producers = einsum,
                         .consumers = einsum };
    out->type = (dfl_dtype){ .name = dfl_intern_z(d->names, "bit"), .bits = 1 };
    out->n_producers = t->written;
    out->n_consumers = !t->written;
}

static void make_workload(designer *d)
{
    const peer_run *run = d->run;
    dfl_rank *ranks = DFL_NEW_ARRAY(d->arena, dfl_rank, run->n_dims);
    dfl_tensor *tensors = DFL_NEW_ARRAY(d->arena, dfl_tensor, run->n_tensors);
    dfl_access *inputs = DFL_NEW_ARRAY(d->arena, dfl_access, run->n_tensors);
    const dfl_eop **args = DFL_NEW_ARRAY(d->arena, const dfl_eop *, run->n_tensors);
    uint32_t *all = DFL_NEW_ARRAY(d->arena, uint32_t, run->n_dims);
    dfl_einsum *e = DFL_NEW(d->arena, dfl_einsum);
    dfl_eop *body = DFL_NEW(d->arena, dfl_eop);

    *e = (dfl_einsum){ .reduce = DFL_REDUCE_ADD, .over_rank = DFL_NONE, .inputs = inputs, .ranks = all,
                       .n_ranks = run->n_dims, .body = body };
    for (uint32_t i = 0; i < run->n_dims; i++) {
        const char name[2] = { run->dims[i].name, '\0' };
        ranks[i] = (dfl_rank){ .name = dfl_intern_z(d->names, name), .extent = run->dims[i].bound };
        all[i] = i;
    }
    for (uint32_t t = 0; t < run->n_tensors; t++) {
        dfl_eop *arg = DFL_NEW(d->arena, dfl_eop);
        dfl_access access;
        make_tensor(d, t, &tensors[t], &access);
        if (run->tensors[t].written) {
            e->output = access;
            e->name = tensors[t].name;
            continue;
        }
        *arg = (dfl_eop){ .kind = DFL_EOP_ACCESS, .operand = e->n_inputs };
        args[e->n_inputs] = arg;
        inputs[e->n_inputs++] = access;
    }
    *body = (dfl_eop){ .kind = DFL_EOP_MUL, .args = args, .n_args = e->n_inputs };
    e->is_mac = e->n_inputs == 2;
    e->flops_per_point = e->is_mac ? 0 : e->n_inputs;
    d->w = DFL_NEW(d->arena, dfl_workload);
    *d->w = (dfl_workload){ .name = dfl_intern_z(d->names, "problem"), .ranks = ranks, .n_ranks = run->n_dims,
                            .tensors = tensors, .n_tensors = run->n_tensors, .einsums = e, .n_einsums = 1 };
}

/* ---- system ---- */

/* Inputs that the multipliers of a group pass on to each other. */
static dfl_selection passed_on(const designer *d)
{
    dfl_sym *names = DFL_NEW_ARRAY(d->arena, dfl_sym, PEER_TENSORS);
    dfl_selection out = { .on = true, .names = names };

    for (uint32_t t = 0; t < d->run->n_tensors; t++)
        if (!d->run->tensors[t].written && peer_inner_links(d->run, t) == PEER_LINKS_ALL)
            names[out.n_names++] = d->w->tensors[t].name;
    return out;
}

/* Every tensor that the level does not list in `no_reuse`. */
static dfl_selection shares(const designer *d, const peer_level *l)
{
    dfl_sym *names = DFL_NEW_ARRAY(d->arena, dfl_sym, PEER_TENSORS);
    dfl_selection out = { .on = true, .names = names };

    for (uint32_t t = 0; t < d->run->n_tensors; t++)
        if (!(l->no_reuse >> t & 1))
            names[out.n_names++] = d->w->tensors[t].name;
    return out;
}

static bool spreads(const peer_level *l, bool on_y)
{
    for (uint32_t i = 0; i < l->n_spatial; i++)
        if (l->spatial[i].on_y == on_y)
            return true;
    return false;
}

static void make_system(designer *d)
{
    const peer_run *run = d->run;
    dfl_element *elements = DFL_NEW_ARRAY(d->arena, dfl_element, run->n_levels + 1);
    dfl_memory *memories = DFL_NEW_ARRAY(d->arena, dfl_memory, run->n_levels + 1);
    dfl_axis *axes = DFL_NEW_ARRAY(d->arena, dfl_axis, 2 * run->n_levels);
    dfl_compute *unit = DFL_NEW(d->arena, dfl_compute);
    dfl_rate *rate = DFL_NEW(d->arena, dfl_rate);
    dfl_system *s = d->s = DFL_NEW(d->arena, dfl_system);

    *s = (dfl_system){ .name = dfl_intern_z(d->names, "arch"), .elements = elements, .n_elements = 1,
                       .memories = memories, .n_memories = run->n_levels, .computes = unit, .n_computes = 1,
                       .axes = axes };
    elements[0] = (dfl_element){ .parent = DFL_NONE, .clock = 1e9 };
    for (uint32_t k = run->n_levels; k-- > 0;) {
        const peer_level *l = &run->levels[k];
        uint32_t element = s->n_elements - 1, first = s->n_axes;
        int64_t fan[2];
        memories[run->n_levels - 1 - k] =
            (dfl_memory){ .name = dfl_intern_z(d->names, l->name), .element = element, .size_bits = l->entries,
                          .read_rate = 1e9, .write_rate = 1e9, .buffers = l->buffers };
        peer_fan_out(run, k, fan);
        for (uint32_t y = 0; y < 2; y++) {
            char name[PEER_NAME + 2] = { y ? 'y' : 'x', '_' };
            d->axis_of[k][y] = s->n_axes;
            if (fan[y] == 1 && !spreads(l, y))
                continue;
            memcpy(name + 2, l->name, strlen(l->name) + 1);
            axes[s->n_axes++] = (dfl_axis){ .name = dfl_intern_z(d->names, name), .size = fan[y],
                                            .element = element + 1, .network = DFL_NONE,
                                            .multicast = shares(d, l), .reduce = shares(d, l) };
        }
        if (s->n_axes > first)
            elements[s->n_elements++] = (dfl_element){ .parent = element, .first_axis = first,
                                                       .n_axes = s->n_axes - first, .clock = 1e9 };
    }
    if (d->latch != DFL_NONE)
        memories[s->n_memories++] =
            (dfl_memory){ .name = dfl_intern_z(d->names, "latch"), .element = s->n_elements - 1, .size_bits = -1,
                          .read_rate = 1e9, .write_rate = 1e9, .buffers = 1 };
    *rate = (dfl_rate){ .rate = 1e9 };
    *unit = (dfl_compute){ .name = dfl_intern_z(d->names, "macs"), .element = s->n_elements - 1,
                           .after_memory = s->n_memories, .rates = rate, .n_rates = 1, .operand_reuse = passed_on(d) };
}

/* ---- mapping ---- */

int64_t peer_tile(const peer_run *run, uint32_t dim, uint32_t level, bool with_spatial)
{
    int64_t tile = 1;

    for (uint32_t k = 0; k <= level && k < run->n_levels; k++) {
        const peer_level *l = &run->levels[k];
        for (uint32_t i = 0; i < l->n_spatial && (k < level || with_spatial); i++)
            tile *= l->spatial[i].dim == dim ? l->spatial[i].full : 1;
        for (uint32_t i = 0; i < l->n_temporal && k < level; i++)
            tile *= l->temporal[i].dim == dim ? l->temporal[i].full : 1;
    }
    return tile;
}

/* Tiles that reach over the whole dimension make no loop. */
static void add_loop(const designer *d, dfl_body *body, const peer_loop *loop, dfl_line_kind kind, uint32_t axis,
                     int64_t tile)
{
    if (tile < d->run->dims[loop->dim].bound)
        body->lines[body->n_lines++] = (dfl_line){ .kind = kind, .rank = loop->dim, .by = DFL_BY_SIZE, .amount = tile,
                                                   .axis = axis };
}

/* The peer holds bounding boxes, and refetches where it is told not to reuse. */
static dfl_keep_mode mode_of(const peer_run *run, uint32_t tensor, uint32_t level)
{
    if (level + 1 == run->n_levels || run->tensors[tensor].written)
        return DFL_KEEP_EXACT;
    if (run->levels[level].no_temporal_reuse >> tensor & 1)
        return DFL_KEEP_FRESH;
    for (uint32_t k = 0; k < run->n_levels; k++)
        if (!(run->levels[k].bypass >> tensor & 1) && peer_gaps(run, tensor, k + 1))
            return DFL_KEEP_WINDOW;
    return DFL_KEEP_EXACT;
}

const dfl_mapping *peer_design(const peer_run *run, dfl_arena *arena, dfl_intern *names)
{
    designer d = { .run = run, .arena = arena, .names = names };
    dfl_body *body = DFL_NEW(arena, dfl_body), **bodies = DFL_NEW(arena, dfl_body *);
    dfl_mapping *m = DFL_NEW(arena, dfl_mapping);
    uint32_t *einsums = DFL_NEW(arena, uint32_t);

    d.latch = DFL_NONE;
    for (uint32_t t = 0; t < run->n_tensors; t++)
        if (run->tensors[t].written && peer_inner_links(run, t) == PEER_LINKS_ALL)
            d.latch = run->n_levels;
    make_workload(&d);
    make_system(&d);
    *body = (dfl_body){ .kind = DFL_BODY_LEAF, .compute = DFL_NONE, .einsums = einsums, .n_einsums = 1 };
    body->lines = DFL_NEW_ARRAY(arena, dfl_line, run->n_levels * (2 * PEER_DIMS + PEER_TENSORS));
    for (uint32_t k = run->n_levels; k-- > 0;) {
        const peer_level *l = &run->levels[k];
        for (uint32_t t = 0; t < run->n_tensors; t++)
            if (!(l->bypass >> t & 1))
                body->lines[body->n_lines++] = (dfl_line){ .kind = DFL_LINE_KEEP, .tensor = t,
                                                           .memory = run->n_levels - 1 - k,
                                                           .mode = mode_of(run, t, k) };
        for (uint32_t i = l->n_temporal; i-- > 0;)
            add_loop(&d, body, &l->temporal[i], DFL_LINE_TEMPORAL, 0, peer_tile(run, l->temporal[i].dim, k, true));
        for (uint32_t i = l->n_spatial; i-- > 0;)
            add_loop(&d, body, &l->spatial[i], DFL_LINE_SPATIAL, d.axis_of[k][l->spatial[i].on_y],
                     peer_tile(run, l->spatial[i].dim, k, false));
    }
    for (uint32_t t = 0; t < run->n_tensors && d.latch != DFL_NONE; t++)
        if (run->tensors[t].written)
            body->lines[body->n_lines++] = (dfl_line){ .kind = DFL_LINE_KEEP, .tensor = t, .memory = d.latch };
    bodies[0] = body;
    *m = (dfl_mapping){ .name = dfl_intern_z(names, "fixed"), .workload = d.w, .system = d.s, .root = body,
                        .bodies = bodies, .n_bodies = 1 };
    return m;
}
