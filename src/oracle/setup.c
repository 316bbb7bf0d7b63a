#include "oracle/setup.h"

#include "oracle/instances.h"
#include "oracle/network.h"
#include "support/limits.h"
#include "oracle/refuse.h"
#include "oracle/values.h"

static void number_lines(dfl_oracle_machine *machine)
{
    machine->line_base = DFL_NEW_ARRAY(machine->arena, uint32_t, machine->mapping->n_bodies);
    for (uint32_t b = 0; b < machine->mapping->n_bodies; b++) {
        const dfl_body *body = machine->mapping->bodies[b];
        machine->line_base[b] = machine->n_lines;
        machine->n_lines += body->n_lines;
    }
    machine->running_child = DFL_NEW_ARRAY(machine->arena, uint32_t, machine->mapping->n_bodies);
    machine->present = DFL_NEW_ARRAY(machine->arena, uint32_t, machine->n_lines + 1);
    machine->trips = DFL_NEW_ARRAY(machine->arena, uint32_t, machine->n_lines + 1);
    machine->serial = DFL_NEW_ARRAY(machine->arena, uint32_t, machine->n_lines + 1);
    machine->keep_of = DFL_NEW_ARRAY(machine->arena, dfl_oracle_keep *, machine->n_lines + 1);
}

static bool set_tensors(dfl_oracle_machine *machine)
{
    machine->tensors = DFL_NEW_ARRAY(machine->arena, dfl_oracle_tensor, machine->workload->n_tensors);
    for (uint32_t t = 0; t < machine->workload->n_tensors; t++) {
        const dfl_tensor *tensor = &machine->workload->tensors[t];
        dfl_i128 n;
        if (dfl_tensor_elements(tensor, &n) || n > DFL_ORACLE_POINTS)
            return dfl_oracle_refuse_large(machine);
        machine->tensors[t].n_elem = (uint32_t)n;
        machine->tensors[t].value = DFL_NEW_ARRAY(machine->arena, uint64_t, (size_t)n);
        machine->tensors[t].released = DFL_NEW_ARRAY(machine->arena, bool, (size_t)n);
        machine->tensors[t].total = DFL_NEW_ARRAY(machine->arena, int64_t *, tensor->n_producers + 1);
        for (uint32_t p = 0; p < tensor->n_producers; p++)
            machine->tensors[t].total[p] = DFL_NEW_ARRAY(machine->arena, int64_t, (size_t)n);
    }
    return true;
}

static void set_access(dfl_oracle_machine *machine, const dfl_oracle_einsum *e, const dfl_access *from, dfl_oracle_access *to)
{
    to->tensor = from->tensor;
    to->n_dims = from->n_dims;
    to->coef = DFL_NEW_ARRAY(machine->arena, int64_t, (size_t)from->n_dims * e->n_ranks + 1);
    to->offset = DFL_NEW_ARRAY(machine->arena, int64_t, from->n_dims + 1);
    for (uint32_t d = 0; d < from->n_dims; d++) {
        to->offset[d] = from->index[d].offset;
        for (uint32_t i = 0; i < from->index[d].n_terms; i++)
            to->coef[d * e->n_ranks + e->local_rank[from->index[d].terms[i].rank]] += from->index[d].terms[i].coef;
    }
}

static bool set_einsum(dfl_oracle_machine *machine, uint32_t id)
{
    dfl_oracle_einsum *e = &machine->einsums[id];
    dfl_i128 points = 1;

    e->einsum = &machine->workload->einsums[id];
    e->path = &machine->paths->paths[id];
    e->n_ranks = e->einsum->n_ranks;
    e->local_rank = DFL_NEW_ARRAY(machine->arena, uint32_t, machine->workload->n_ranks);
    e->extent = DFL_NEW_ARRAY(machine->arena, int64_t, e->n_ranks + 1);
    for (uint32_t r = 0; r < machine->workload->n_ranks; r++)
        e->local_rank[r] = DFL_NONE;
    for (uint32_t r = 0; r < e->n_ranks; r++) {
        e->local_rank[e->einsum->ranks[r]] = r;
        e->extent[r] = machine->workload->ranks[e->einsum->ranks[r]].extent;
        if (dfl_mul(points, e->extent[r], &points) || points > DFL_ORACLE_POINTS)
            return dfl_oracle_refuse_large(machine);
    }
    e->n_points = (uint32_t)points;
    e->block = DFL_NEW_ARRAY(machine->arena, dfl_oracle_interval, e->n_ranks + 1);
    e->saved_block = DFL_NEW_ARRAY(machine->arena, dfl_oracle_interval, e->n_ranks + 1);
    e->point = DFL_NEW_ARRAY(machine->arena, int64_t, e->n_ranks + 1);
    e->coord = DFL_NEW_ARRAY(machine->arena, uint32_t, machine->system->n_axes + 1);
    e->here = DFL_NEW_ARRAY(machine->arena, uint32_t, machine->system->n_axes + 1);
    e->inputs = DFL_NEW_ARRAY(machine->arena, dfl_oracle_access, e->einsum->n_inputs + 1);
    for (uint32_t i = 0; i < e->einsum->n_inputs; i++)
        set_access(machine, e, &e->einsum->inputs[i], &e->inputs[i]);
    set_access(machine, e, &e->einsum->output, &e->output);
    e->radix = DFL_NEW_ARRAY(machine->arena, uint32_t, e->path->n_steps + 1);
    for (uint32_t i = 0; i < e->path->n_steps; i++) {
        const dfl_path_step *s = &e->path->steps[i];
        bool splits = s->line->kind == DFL_LINE_SPATIAL && s->rank != DFL_NONE;
        int64_t parts = splits ? dfl_ceil_div(s->nominal, s->tile) : 1;
        if (parts > DFL_ORACLE_POINTS)
            return dfl_oracle_refuse_large(machine);
        e->radix[i] = (uint32_t)parts;
        if (s->line->kind != DFL_LINE_KEEP && s->line->cyclic) {
            dfl_oracle_refuse_unsupported(machine, s->line->span, "a cyclic loop");
            return false;
        }
    }
    return true;
}

static bool set_used(dfl_oracle_machine *machine)
{
    machine->used = DFL_NEW_ARRAY(machine->arena, uint32_t, machine->system->n_axes + 1);
    for (uint32_t a = 0; a < machine->system->n_axes; a++)
        machine->used[a] = 1;
    for (uint32_t e = 0; e < machine->workload->n_einsums; e++)
        for (uint32_t a = 0; a < machine->system->n_axes; a++) {
            uint64_t product = 1;
            for (uint32_t i = 0; i < machine->einsums[e].path->n_steps; i++)
                if (machine->einsums[e].path->steps[i].line->kind == DFL_LINE_SPATIAL &&
                    machine->einsums[e].path->steps[i].line->axis == a)
                    product *= machine->einsums[e].radix[i];
            product += (uint64_t)dfl_paths_place(machine->paths, e, a);
            if (product > DFL_ORACLE_POINTS)
                return dfl_oracle_refuse_large(machine);
            machine->used[a] = product > machine->used[a] ? (uint32_t)product : machine->used[a];
        }
    uint64_t all = 1;
    for (uint32_t a = 0; a < machine->system->n_axes; a++)
        if ((all *= machine->used[a]) > DFL_ORACLE_POINTS)
            return dfl_oracle_refuse_large(machine);
    return true;
}

/* The next keep of the tensor above line `line` of the body, NULL if there is none. */
static dfl_oracle_keep *keep_above(const dfl_oracle_machine *machine, const dfl_body *body, uint32_t line, uint32_t tensor)
{
    for (; body; body = body->parent, line = body ? body->n_lines : 0)
        while (line-- > 0)
            if (body->lines[line].kind == DFL_LINE_KEEP && body->lines[line].tensor == tensor)
                return machine->keep_of[machine->line_base[body->id] + line];
    return NULL;
}

static void set_liveness(const dfl_oracle_machine *machine, dfl_oracle_keep *keep)
{
    const dfl_body *b = keep->body;
    bool held = machine->held && machine->held[machine->line_base[b->id] + (uint32_t)(keep->line - b->lines)], loop = false,
         any = false;

    for (const dfl_line *line = keep->line + 1; line < b->lines + b->n_lines; line++)
        loop |= line->kind != DFL_LINE_KEEP;
    keep->always_live = loop || held || b->kind != DFL_BODY_FUSE;
    for (uint32_t c = 0; c < b->n_children; c++)
        for (uint32_t i = 0; i < b->children[c]->n_einsums; i++)
            if (dfl_einsum_touches(&machine->workload->einsums[b->children[c]->einsums[i]], keep->tensor)) {
                keep->first_child = any ? keep->first_child : c;
                keep->last_child = c;
                any = true;
            }
}

static bool set_keep(dfl_oracle_machine *machine, const dfl_body *body, uint32_t line, uint64_t *cells)
{
    dfl_oracle_keep *keep = DFL_NEW(machine->arena, dfl_oracle_keep);
    const dfl_memory *mem;

    keep->line = &body->lines[line];
    keep->body = body;
    keep->step = machine->paths->step[body->id][line];
    keep->tensor = keep->line->tensor;
    keep->memory = keep->line->memory;
    mem = &machine->system->memories[keep->memory];
    keep->axes = dfl_oracle_axes_around(machine, mem->element, &keep->n_axes, &keep->n_inst);
    keep->n_elem = machine->tensors[keep->tensor].n_elem;
    *cells += (uint64_t)keep->n_inst * keep->n_elem;
    if (*cells > DFL_ORACLE_CELLS)
        return dfl_oracle_refuse_large(machine);
    keep->outer = keep_above(machine, body, line, keep->tensor);
    keep->user = machine->paths->user[body->id][line];
    keep->first = dfl_oracle_first_instance(machine, keep->axes, keep->n_axes, keep->user);
    if (keep->outer)
        keep->link = dfl_oracle_link_make(machine, mem->element, machine->system->memories[keep->outer->memory].element,
                                          keep->tensor, keep->user);
    keep->lasting = !keep->outer && machine->workload->tensors[keep->tensor].role != DFL_ROLE_INTERMEDIATE;
    keep->whole = keep->lasting && keep->n_inst == 1 && keep->n_axes == 0;
    keep->element_bits = (dfl_i128)machine->workload->tensors[keep->tensor].type.bits * (keep->outer ? mem->buffers : 1);
    for (uint32_t i = 0; i < body->n_einsums; i++)
        keep->written |= machine->workload->einsums[body->einsums[i]].output.tensor == keep->tensor;
    if (keep->line->mode == DFL_KEEP_WINDOW)
        for (dfl_oracle_keep *above = keep; above; above = above->outer)
            above->box = true;
    set_liveness(machine, keep);
    size_t n = (size_t)keep->n_inst * keep->n_elem;
    keep->cells = DFL_NEW_ARRAY(machine->arena, dfl_oracle_cell, n);
    keep->stamp = DFL_NEW_ARRAY(machine->arena, uint32_t, n);
    keep->seen = DFL_NEW_ARRAY(machine->arena, uint32_t, n);
    keep->tile = DFL_NEW_ARRAY(machine->arena, dfl_oracle_elements, keep->n_inst);
    keep->next_tile = DFL_NEW_ARRAY(machine->arena, dfl_oracle_elements, keep->n_inst);
    machine->keep_of[machine->line_base[body->id] + line] = keep;
    DFL_PUSH(machine->arena, &machine->keeps, keep);
    return true;
}

/* Makes an entry of the result for every pair of memory and tensor with a keep, sorted by memory, then by tensor. */
static void set_traffic(dfl_oracle_machine *machine)
{
    dfl_oracle_result *r = machine->result;

    r->traffic = DFL_NEW_ARRAY(machine->arena, dfl_oracle_traffic, machine->keeps.n + 1);
    for (uint32_t m = 0; m < machine->system->n_memories; m++)
        for (uint32_t t = 0; t < machine->workload->n_tensors; t++) {
            bool any = false;
            for (size_t i = 0; i < machine->keeps.n; i++) {
                dfl_oracle_keep *keep = machine->keeps.at[i];
                if (keep->memory != m || keep->tensor != t)
                    continue;
                any = true;
                keep->traffic = &r->traffic[r->n_traffic];
            }
            if (any)
                r->traffic[r->n_traffic++] = (dfl_oracle_traffic){ .memory = m, .tensor = t };
        }
}

/* Fills the lasting homes: states and tensors without a producer have values from the start. */
static void fill_homes(dfl_oracle_machine *machine)
{
    for (size_t i = 0; i < machine->keeps.n; i++) {
        dfl_oracle_keep *keep = machine->keeps.at[i];
        const dfl_tensor *t = &machine->workload->tensors[keep->tensor];
        bool valued = t->n_producers == 0 || dfl_tensor_is_updated(t);
        if (!keep->lasting)
            continue;
        for (size_t c = 0; c < (size_t)keep->n_inst * keep->n_elem; c++)
            keep->cells[c] = (dfl_oracle_cell){
                .present = true, .has_value = valued,
                .value = valued ? dfl_oracle_first_value(keep->tensor, (uint32_t)(c % keep->n_elem)) : 0
            };
        keep->peak_elements = 0;
        if (keep->whole && dfl_tensor_stored(t, &keep->peak_elements))
            keep->peak_elements = keep->n_elem;
    }
}

/* Finds the `online` loops over ranks that do not index the einsum's result. */
static void find_online(dfl_oracle_machine *machine, dfl_oracle_einsum *e)
{
    const dfl_path *p = e->path;

    e->online = DFL_NEW_ARRAY(machine->arena, uint32_t, p->n_steps + 1);
    for (uint32_t i = 0; i < p->n_steps; i++) {
        const dfl_path_step *s = &p->steps[i];
        bool indexes = s->rank == DFL_NONE;
        for (uint32_t d = 0; !indexes && d < e->output.n_dims; d++)
            indexes = e->output.coef[d * e->n_ranks + e->local_rank[s->rank]] != 0;
        if (s->line->kind == DFL_LINE_TEMPORAL && s->line->online && !indexes)
            e->online[e->n_online++] = machine->line_base[s->body->id] + (uint32_t)(s->line - s->body->lines);
    }
    e->last_online =
        DFL_NEW_ARRAY(machine->arena, uint32_t, (size_t)(e->n_online + 1) * machine->tensors[e->output.tensor].n_elem);
}

static bool connect(dfl_oracle_machine *machine, uint32_t id)
{
    dfl_oracle_einsum *e = &machine->einsums[id];
    const dfl_compute *unit = &machine->system->computes[e->path->compute];

    find_online(machine, e);
    e->unit_axes = dfl_oracle_axes_around(machine, unit->element, &e->n_unit_axes, &e->n_units);
    for (uint32_t i = 0; i <= e->einsum->n_inputs; i++) {
        dfl_oracle_access *a = i < e->einsum->n_inputs ? &e->inputs[i] : &e->output;
        a->keep = keep_above(machine, e->path->leaf, e->path->leaf->n_lines, a->tensor);
        if (!a->keep) {
            dfl_oracle_refuse_unsupported(machine, e->einsum->span, "a tensor without a keep");
            return false;
        }
        a->link = dfl_oracle_link_make(machine, unit->element, machine->system->memories[a->keep->memory].element, a->tensor,
                                       id);
        a->seen = DFL_NEW_ARRAY(machine->arena, uint32_t, (size_t)e->n_units * machine->tensors[a->tensor].n_elem);
        a->latched = a != &e->output && unit->operand_reuse.on &&
                     dfl_selects(&unit->operand_reuse, &machine->workload->tensors[a->tensor]);
        if (a->latched)
            a->last_use = DFL_NEW_ARRAY(machine->arena, uint32_t, (size_t)e->n_units * machine->tensors[a->tensor].n_elem);
    }
    return true;
}

bool dfl_oracle_setup(dfl_oracle_machine *machine)
{
    number_lines(machine);
    if (machine->workload->n_carries > 0) {
        dfl_oracle_refuse_unsupported(machine, machine->workload->span, "a `repeat` that carries a tensor");
        return false;
    }
    for (uint32_t e = 0; e < machine->workload->n_einsums; e++) {
        const dfl_einsum *einsum = &machine->workload->einsums[e];

        if (dfl_einsum_renews_any(machine->workload, einsum) || einsum->body->kind == DFL_EOP_SCATTER) {
            dfl_oracle_refuse_unsupported(machine, einsum->span, einsum->body->kind == DFL_EOP_SCATTER
                                                                     ? "a gradient that is added to rows of a table"
                                                                     : "an optimizer that writes its moments back");
            return false;
        }
    }
    if (!set_tensors(machine))
        return false;
    machine->einsums = DFL_NEW_ARRAY(machine->arena, dfl_oracle_einsum, machine->workload->n_einsums);
    for (uint32_t e = 0; e < machine->workload->n_einsums; e++)
        if (!set_einsum(machine, e))
            return false;
    if (!set_used(machine) || !dfl_oracle_networks_make(machine))
        return false;
    uint64_t cells = 0;
    uint32_t most = 1;
    for (uint32_t b = 0; b < machine->mapping->n_bodies; b++)
        for (uint32_t i = 0; i < machine->mapping->bodies[b]->n_lines; i++)
            if (machine->mapping->bodies[b]->lines[i].kind == DFL_LINE_KEEP &&
                !set_keep(machine, machine->mapping->bodies[b], i, &cells))
                return false;
    set_traffic(machine);
    for (uint32_t e = 0; e < machine->workload->n_einsums; e++)
        if (!connect(machine, e))
            return false;
    if (!dfl_oracle_evaluate(machine))
        return false;
    fill_homes(machine);
    machine->n_instances = DFL_NEW_ARRAY(machine->arena, uint32_t, machine->system->n_memories);
    machine->peak = DFL_NEW_ARRAY(machine->arena, dfl_i128 **, machine->mapping->n_bodies);
    for (uint32_t b = 0; b < machine->mapping->n_bodies; b++)
        machine->peak[b] = DFL_NEW_ARRAY(machine->arena, dfl_i128 *, machine->system->n_memories);
    for (uint32_t m = 0; m < machine->system->n_memories; m++) {
        uint32_t n_axes;
        dfl_oracle_axes_around(machine, machine->system->memories[m].element, &n_axes, &machine->n_instances[m]);
        most = machine->n_instances[m] > most ? machine->n_instances[m] : most;
        for (uint32_t b = 0; b < machine->mapping->n_bodies; b++)
            machine->peak[b][m] = DFL_NEW_ARRAY(machine->arena, dfl_i128, machine->workload->n_einsums);
    }
    machine->occupancy = DFL_NEW_ARRAY(machine->arena, dfl_i128, most);
    return true;
}
