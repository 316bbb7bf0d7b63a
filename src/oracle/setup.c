/* Builds the machine: keeps and their cells, accesses, and who is connected to whom. */
#include "oracle/machine.h"

enum { POINTS_LIMIT = 1 << 24, CELLS_LIMIT = 1 << 26 };

static bool too_large(oracle *o)
{
    if (!o->failed)
        dfl_report(o->sink, DFL_LIMIT_STEPS, o->m->span, "too large to be executed step by step");
    o->failed = true;
    return false;
}

static bool selects(const dfl_selection *sel, const dfl_tensor *t) { return sel->on && dfl_selects(sel, t); }

static bool listed(const uint32_t *list, uint32_t n, uint32_t x)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i] == x)
            return true;
    return false;
}

/* Axes around an element, outer first, and the number of instances in use. */
static uint32_t *axes_around(const oracle *o, uint32_t element, uint32_t *n_axes, uint32_t *n_inst)
{
    uint32_t *axes = DFL_NEW_ARRAY(o->arena, uint32_t, o->s->n_axes + 1);

    *n_axes = 0;
    *n_inst = 1;
    for (uint32_t a = 0; a < o->s->n_axes; a++)
        if (dfl_axis_encloses(o->s, a, element)) {
            axes[(*n_axes)++] = a;
            *n_inst *= o->used[a];
        }
    return axes;
}

uint32_t oracle_instance(const oracle *o, const uint32_t *axes, uint32_t n_axes, const uint32_t *coord)
{
    uint32_t inst = 0;

    for (uint32_t i = 0; i < n_axes; i++)
        inst = inst * o->used[axes[i]] + coord[axes[i]];
    return inst;
}

/* Connects the instances with `inner` axes around them to those of memory `outer` for one tensor. */
static oracle_link make_link(const oracle *o, const uint32_t *inner, uint32_t n_inner_axes, uint32_t n_inner,
                             uint32_t outer_element, uint32_t tensor)
{
    const dfl_tensor *t = &o->w->tensors[tensor];
    oracle_link l = { .n_inner = n_inner };
    uint32_t n_outer_axes, n_read = 0, n_write = 0;
    uint32_t *outer = axes_around(o, outer_element, &n_outer_axes, &l.n_outer);
    uint32_t *read = DFL_NEW_ARRAY(o->arena, uint32_t, n_inner_axes + 1);
    uint32_t *write = DFL_NEW_ARRAY(o->arena, uint32_t, n_inner_axes + 1);
    uint32_t *coord = DFL_NEW_ARRAY(o->arena, uint32_t, o->s->n_axes + 1);

    l.axes = DFL_NEW_ARRAY(o->arena, uint32_t, n_inner_axes + 1);
    for (uint32_t i = 0; i < n_inner_axes; i++) {
        uint32_t a = inner[i];
        bool crossed = !listed(outer, n_outer_axes, a);
        if (!crossed || !selects(&o->s->axes[a].multicast, t))
            read[n_read++] = a;
        if (!crossed || !selects(&o->s->axes[a].reduce, t))
            write[n_write++] = a;
        if (crossed && o->s->axes[a].forward && t->n_producers == 0)
            l.axes[l.n_axes++] = a;
    }
    l.outer_of = DFL_NEW_ARRAY(o->arena, uint32_t, n_inner);
    l.read_group = DFL_NEW_ARRAY(o->arena, uint32_t, n_inner);
    l.write_group = DFL_NEW_ARRAY(o->arena, uint32_t, n_inner);
    l.lower = DFL_NEW_ARRAY(o->arena, uint32_t, (size_t)n_inner * l.n_axes + 1);
    l.higher = DFL_NEW_ARRAY(o->arena, uint32_t, (size_t)n_inner * l.n_axes + 1);
    for (uint32_t inst = 0; inst < n_inner; inst++) {
        uint32_t rest = inst;
        for (uint32_t i = n_inner_axes; i-- > 0; rest /= o->used[inner[i]])
            coord[inner[i]] = rest % o->used[inner[i]];
        l.outer_of[inst] = oracle_instance(o, outer, n_outer_axes, coord);
        l.read_group[inst] = oracle_instance(o, read, n_read, coord);
        l.write_group[inst] = oracle_instance(o, write, n_write, coord);
        for (uint32_t i = 0; i < l.n_axes; i++) {
            uint32_t a = l.axes[i], here = coord[a];
            l.lower[i * n_inner + inst] = l.higher[i * n_inner + inst] = DFL_NONE;
            if (here > 0) {
                coord[a] = here - 1;
                l.lower[i * n_inner + inst] = oracle_instance(o, inner, n_inner_axes, coord);
            }
            if (here + 1 < o->used[a]) {
                coord[a] = here + 1;
                l.higher[i * n_inner + inst] = oracle_instance(o, inner, n_inner_axes, coord);
            }
            coord[a] = here;
        }
    }
    return l;
}

static void number_lines(oracle *o)
{
    o->line_base = DFL_NEW_ARRAY(o->arena, uint32_t, o->m->n_bodies);
    for (uint32_t b = 0; b < o->m->n_bodies; b++) {
        const dfl_body *body = o->m->bodies[b];
        o->line_base[b] = o->n_lines;
        o->n_lines += body->n_lines;
    }
    o->child = DFL_NEW_ARRAY(o->arena, uint32_t, o->m->n_bodies);
    o->at = DFL_NEW_ARRAY(o->arena, uint32_t, o->n_lines + 1);
    o->trip = DFL_NEW_ARRAY(o->arena, uint32_t, o->n_lines + 1);
    o->iteration = DFL_NEW_ARRAY(o->arena, uint32_t, o->n_lines + 1);
    o->keep_of = DFL_NEW_ARRAY(o->arena, oracle_keep *, o->n_lines + 1);
}

static bool set_tensors(oracle *o)
{
    o->ten = DFL_NEW_ARRAY(o->arena, oracle_tensor, o->w->n_tensors);
    for (uint32_t t = 0; t < o->w->n_tensors; t++) {
        const dfl_tensor *tensor = &o->w->tensors[t];
        dfl_i128 n;
        if (dfl_tensor_elements(tensor, &n) || n > POINTS_LIMIT)
            return too_large(o);
        o->ten[t].n_elem = (uint32_t)n;
        o->ten[t].value = DFL_NEW_ARRAY(o->arena, uint64_t, (size_t)n);
        o->ten[t].released = DFL_NEW_ARRAY(o->arena, bool, (size_t)n);
        o->ten[t].total = DFL_NEW_ARRAY(o->arena, int64_t *, tensor->n_producers + 1);
        for (uint32_t p = 0; p < tensor->n_producers; p++)
            o->ten[t].total[p] = DFL_NEW_ARRAY(o->arena, int64_t, (size_t)n);
    }
    return true;
}

static void set_access(oracle *o, const oracle_einsum *e, const dfl_access *from, oracle_access *to)
{
    to->tensor = from->tensor;
    to->n_dims = from->n_dims;
    to->coef = DFL_NEW_ARRAY(o->arena, int64_t, (size_t)from->n_dims * e->n_ranks + 1);
    to->offset = DFL_NEW_ARRAY(o->arena, int64_t, from->n_dims + 1);
    for (uint32_t d = 0; d < from->n_dims; d++) {
        to->offset[d] = from->index[d].offset;
        for (uint32_t i = 0; i < from->index[d].n_terms; i++)
            to->coef[d * e->n_ranks + e->local[from->index[d].terms[i].rank]] += from->index[d].terms[i].coef;
    }
}

static bool set_einsum(oracle *o, uint32_t id)
{
    oracle_einsum *e = &o->ein[id];
    dfl_i128 points = 1;

    e->e = &o->w->einsums[id];
    e->path = &o->paths->paths[id];
    e->n_ranks = e->e->n_ranks;
    e->local = DFL_NEW_ARRAY(o->arena, uint32_t, o->w->n_ranks);
    e->extent = DFL_NEW_ARRAY(o->arena, int64_t, e->n_ranks + 1);
    for (uint32_t r = 0; r < o->w->n_ranks; r++)
        e->local[r] = DFL_NONE;
    for (uint32_t r = 0; r < e->n_ranks; r++) {
        e->local[e->e->ranks[r]] = r;
        e->extent[r] = o->w->ranks[e->e->ranks[r]].extent;
        if (dfl_mul(points, e->extent[r], &points) || points > POINTS_LIMIT)
            return too_large(o);
    }
    e->n_points = (uint32_t)points;
    e->piece = DFL_NEW_ARRAY(o->arena, oracle_piece, e->n_ranks + 1);
    e->whole = DFL_NEW_ARRAY(o->arena, oracle_piece, e->n_ranks + 1);
    e->x = DFL_NEW_ARRAY(o->arena, int64_t, e->n_ranks + 1);
    e->coord = DFL_NEW_ARRAY(o->arena, uint32_t, o->s->n_axes + 1);
    e->in = DFL_NEW_ARRAY(o->arena, oracle_access, e->e->n_inputs + 1);
    for (uint32_t i = 0; i < e->e->n_inputs; i++)
        set_access(o, e, &e->e->inputs[i], &e->in[i]);
    set_access(o, e, &e->e->output, &e->out);
    e->radix = DFL_NEW_ARRAY(o->arena, uint32_t, e->path->n_steps + 1);
    for (uint32_t i = 0; i < e->path->n_steps; i++) {
        const dfl_path_step *s = &e->path->steps[i];
        bool splits = s->line->kind == DFL_LINE_SPATIAL && s->rank != DFL_NONE;
        int64_t parts = splits ? dfl_ceil_div(s->nominal, s->tile) : 1;
        if (parts > POINTS_LIMIT)
            return too_large(o);
        e->radix[i] = (uint32_t)parts;
        if (s->line->kind != DFL_LINE_KEEP && s->line->cyclic) {
            oracle_unsupported(o, s->line->span, "a cyclic loop");
            return false;
        }
    }
    if (e->e->gathers) {
        oracle_unsupported(o, e->e->span, "a data-dependent index");
        return false;
    }
    return true;
}

static bool set_used(oracle *o)
{
    o->used = DFL_NEW_ARRAY(o->arena, uint32_t, o->s->n_axes + 1);
    for (uint32_t a = 0; a < o->s->n_axes; a++)
        o->used[a] = 1;
    for (uint32_t e = 0; e < o->w->n_einsums; e++)
        for (uint32_t a = 0; a < o->s->n_axes; a++) {
            uint64_t product = 1;
            for (uint32_t i = 0; i < o->ein[e].path->n_steps; i++)
                if (o->ein[e].path->steps[i].line->kind == DFL_LINE_SPATIAL &&
                    o->ein[e].path->steps[i].line->axis == a)
                    product *= o->ein[e].radix[i];
            if (product > POINTS_LIMIT)
                return too_large(o);
            o->used[a] = product > o->used[a] ? (uint32_t)product : o->used[a];
        }
    uint64_t all = 1;
    for (uint32_t a = 0; a < o->s->n_axes; a++)
        if ((all *= o->used[a]) > POINTS_LIMIT)
            return too_large(o);
    return true;
}

/* The next keep of the tensor above line `line` of the body. */
static oracle_keep *keep_above(const oracle *o, const dfl_body *body, uint32_t line, uint32_t tensor)
{
    for (; body; body = body->parent, line = body ? body->n_lines : 0)
        while (line-- > 0)
            if (body->lines[line].kind == DFL_LINE_KEEP && body->lines[line].tensor == tensor)
                return o->keep_of[o->line_base[body->id] + line];
    return NULL;
}

static void set_liveness(const oracle *o, oracle_keep *k)
{
    const dfl_body *b = k->body;
    bool held = o->held && o->held[o->line_base[b->id] + (uint32_t)(k->line - b->lines)], loop = false, any = false;

    for (const dfl_line *line = k->line + 1; line < b->lines + b->n_lines; line++)
        loop |= line->kind != DFL_LINE_KEEP;
    k->always_live = loop || held || b->kind != DFL_BODY_FUSE;
    for (uint32_t c = 0; c < b->n_children; c++)
        for (uint32_t i = 0; i < b->children[c]->n_einsums; i++)
            if (dfl_einsum_touches(&o->w->einsums[b->children[c]->einsums[i]], k->tensor)) {
                k->first_child = any ? k->first_child : c;
                k->last_child = c;
                any = true;
            }
}

static bool set_keep(oracle *o, const dfl_body *body, uint32_t line, uint64_t *cells)
{
    oracle_keep *k = DFL_NEW(o->arena, oracle_keep);
    const dfl_memory *mem;

    k->line = &body->lines[line];
    k->body = body;
    k->step = o->paths->step[body->id][line];
    k->tensor = k->line->tensor;
    k->memory = k->line->memory;
    mem = &o->s->memories[k->memory];
    k->axes = axes_around(o, mem->element, &k->n_axes, &k->n_inst);
    k->n_elem = o->ten[k->tensor].n_elem;
    *cells += (uint64_t)k->n_inst * k->n_elem;
    if (*cells > CELLS_LIMIT)
        return too_large(o);
    k->outer = keep_above(o, body, line, k->tensor);
    if (k->outer)
        k->link = make_link(o, k->axes, k->n_axes, k->n_inst, o->s->memories[k->outer->memory].element, k->tensor);
    k->lasting = !k->outer && o->w->tensors[k->tensor].role != DFL_ROLE_INTERMEDIATE;
    k->whole = k->lasting && k->n_inst == 1 && k->n_axes == 0;
    k->factor = (dfl_i128)o->w->tensors[k->tensor].type.bits * (k->outer ? mem->buffers : 1);
    for (uint32_t i = 0; i < body->n_einsums; i++)
        k->written |= o->w->einsums[body->einsums[i]].output.tensor == k->tensor;
    if (k->line->mode == DFL_KEEP_WINDOW)
        for (oracle_keep *above = k; above; above = above->outer)
            above->box = true;
    set_liveness(o, k);
    size_t n = (size_t)k->n_inst * k->n_elem;
    k->cells = DFL_NEW_ARRAY(o->arena, oracle_cell, n);
    k->stamp = DFL_NEW_ARRAY(o->arena, uint32_t, n);
    k->seen = DFL_NEW_ARRAY(o->arena, uint32_t, n);
    k->now = DFL_NEW_ARRAY(o->arena, oracle_list, k->n_inst);
    k->next = DFL_NEW_ARRAY(o->arena, oracle_list, k->n_inst);
    o->keep_of[o->line_base[body->id] + line] = k;
    DFL_PUSH(o->arena, &o->keeps, k);
    return true;
}

/* A row of the result for every tensor and memory that a keep names, by memory, then tensor. */
static void set_traffic(oracle *o)
{
    dfl_oracle_result *r = o->result;

    r->traffic = DFL_NEW_ARRAY(o->arena, dfl_oracle_traffic, o->keeps.n + 1);
    for (uint32_t m = 0; m < o->s->n_memories; m++)
        for (uint32_t t = 0; t < o->w->n_tensors; t++) {
            bool any = false;
            for (size_t i = 0; i < o->keeps.n; i++) {
                oracle_keep *k = o->keeps.at[i];
                if (k->memory != m || k->tensor != t)
                    continue;
                any = true;
                k->traffic = &r->traffic[r->n_traffic];
            }
            if (any)
                r->traffic[r->n_traffic++] = (dfl_oracle_traffic){ .memory = m, .tensor = t };
        }
}

/* Interface tensors at home: what nothing produces has its values from the start. */
static void fill_homes(oracle *o)
{
    for (size_t i = 0; i < o->keeps.n; i++) {
        oracle_keep *k = o->keeps.at[i];
        const dfl_tensor *t = &o->w->tensors[k->tensor];
        bool valued = t->n_producers == 0;
        if (!k->lasting)
            continue;
        for (size_t c = 0; c < (size_t)k->n_inst * k->n_elem; c++)
            k->cells[c] = (oracle_cell){ .present = true, .has_value = valued,
                                         .value = valued ? o->ten[k->tensor].value[c % k->n_elem] : 0 };
        k->most = k->whole ? k->n_elem : 0;
    }
}

/* The `online` loops over ranks of the einsum that its result does not have. */
static void find_online(oracle *o, oracle_einsum *e)
{
    const dfl_path *p = e->path;

    e->online = DFL_NEW_ARRAY(o->arena, uint32_t, p->n_steps + 1);
    for (uint32_t i = 0; i < p->n_steps; i++) {
        const dfl_path_step *s = &p->steps[i];
        bool indexes = s->rank == DFL_NONE;
        for (uint32_t d = 0; !indexes && d < e->out.n_dims; d++)
            indexes = e->out.coef[d * e->n_ranks + e->local[s->rank]] != 0;
        if (s->line->kind == DFL_LINE_TEMPORAL && s->line->online && !indexes)
            e->online[e->n_online++] = o->line_base[s->body->id] + (uint32_t)(s->line - s->body->lines);
    }
    e->last_online = DFL_NEW_ARRAY(o->arena, uint32_t, (size_t)(e->n_online + 1) * o->ten[e->out.tensor].n_elem);
}

static bool connect(oracle *o, uint32_t id)
{
    oracle_einsum *e = &o->ein[id];
    const dfl_compute *unit = &o->s->computes[e->path->compute];

    find_online(o, e);
    e->unit_axes = axes_around(o, unit->element, &e->n_unit_axes, &e->n_unit);
    for (uint32_t i = 0; i <= e->e->n_inputs; i++) {
        oracle_access *a = i < e->e->n_inputs ? &e->in[i] : &e->out;
        a->keep = keep_above(o, e->path->leaf, e->path->leaf->n_lines, a->tensor);
        if (!a->keep) {
            oracle_unsupported(o, e->e->span, "a tensor without a keep");
            return false;
        }
        a->link = make_link(o, e->unit_axes, e->n_unit_axes, e->n_unit, o->s->memories[a->keep->memory].element,
                            a->tensor);
        a->seen = DFL_NEW_ARRAY(o->arena, uint32_t, (size_t)e->n_unit * o->ten[a->tensor].n_elem);
        a->latched = a != &e->out && selects(&unit->operand_reuse, &o->w->tensors[a->tensor]);
        a->latch = DFL_NEW_ARRAY(o->arena, uint32_t, e->n_unit);
        a->fresh_latch = DFL_NEW_ARRAY(o->arena, uint32_t, e->n_unit);
        for (uint32_t u = 0; u < e->n_unit; u++)
            a->latch[u] = DFL_NONE;
    }
    return true;
}

bool oracle_setup(oracle *o)
{
    number_lines(o);
    if (o->w->carries) {
        oracle_unsupported(o, o->w->span, "a `repeat` that carries a tensor");
        return false;
    }
    if (!set_tensors(o))
        return false;
    o->ein = DFL_NEW_ARRAY(o->arena, oracle_einsum, o->w->n_einsums);
    for (uint32_t e = 0; e < o->w->n_einsums; e++)
        if (!set_einsum(o, e))
            return false;
    if (!set_used(o))
        return false;
    uint64_t cells = 0;
    for (uint32_t b = 0; b < o->m->n_bodies; b++)
        for (uint32_t i = 0; i < o->m->bodies[b]->n_lines; i++)
            if (o->m->bodies[b]->lines[i].kind == DFL_LINE_KEEP && !set_keep(o, o->m->bodies[b], i, &cells))
                return false;
    set_traffic(o);
    for (uint32_t e = 0; e < o->w->n_einsums; e++)
        if (!connect(o, e))
            return false;
    if (!oracle_evaluate(o))
        return false;
    fill_homes(o);
    o->mem_inst = DFL_NEW_ARRAY(o->arena, uint32_t, o->s->n_memories);
    o->room = DFL_NEW_ARRAY(o->arena, dfl_i128 *, o->s->n_memories);
    o->peak = DFL_NEW_ARRAY(o->arena, dfl_i128 **, o->m->n_bodies);
    for (uint32_t b = 0; b < o->m->n_bodies; b++)
        o->peak[b] = DFL_NEW_ARRAY(o->arena, dfl_i128 *, o->s->n_memories);
    for (uint32_t m = 0; m < o->s->n_memories; m++) {
        uint32_t n_axes;
        axes_around(o, o->s->memories[m].element, &n_axes, &o->mem_inst[m]);
        o->room[m] = DFL_NEW_ARRAY(o->arena, dfl_i128, o->mem_inst[m]);
        for (uint32_t b = 0; b < o->m->n_bodies; b++)
            o->peak[b][m] = DFL_NEW_ARRAY(o->arena, dfl_i128, o->mem_inst[m]);
    }
    return true;
}
