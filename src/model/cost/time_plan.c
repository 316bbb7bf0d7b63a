/* Plan of the time: transfers, operand ports, and the places at which first tiles enter and last tiles leave. */
#include "model/cost/time_plan.h"

#include <string.h>

#include "support/vec.h"

static void find_unit(const dfl_nest *nest, uint32_t e, dfl_einsum_time *out)
{
    const dfl_compute *unit = &nest->system->computes[nest->paths->paths[e].compute];
    dfl_i128 instances = 1;

    dfl_element_instances(nest->system, unit->element, &instances);
    out->unit = unit;
    out->point_seconds = dfl_point_seconds(nest->names, nest->workload, &nest->workload->einsums[e], unit);
    out->instances = dfl_i128_double(instances);
}

/* Finds the innermost keeps of the operands of an einsum, sorted by memory. `first`: index of the einsum's first operand
   in the plan of the traffic. */
static void find_ports(const dfl_nest *nest, const dfl_keep_tree *keeps, uint32_t e, uint32_t first, dfl_einsum_time *out)
{
    const dfl_einsum *einsum = &nest->workload->einsums[e];

    out->ports = DFL_NEW_ARRAY(nest->arena, dfl_operand_port, einsum->n_inputs + 2);
    for (uint32_t a = 0; a <= einsum->n_inputs; a++) {
        bool output = a == einsum->n_inputs;
        uint32_t tensor = output ? einsum->output.tensor : einsum->inputs[a].tensor, at = 0;
        dfl_operand_port port = { .operand = first + a, .output = output,
                                  .keep = dfl_keep_tree_innermost(nest, keeps, e, tensor) };
        port.memory = keeps->at[port.keep].line->memory;
        port.bits = nest->workload->tensors[tensor].type.bits;
        while (at < out->n_ports && out->ports[at].memory <= port.memory)
            at++;
        memmove(&out->ports[at + 1], &out->ports[at], (out->n_ports - at) * sizeof port);
        out->ports[at] = port;
        out->n_ports++;
    }
}

static bool add_transfer(dfl_nest *nest, dfl_keep_tree *keeps, uint32_t at, dfl_time_plan *out)
{
    dfl_keep *keep = &keeps->at[at];
    dfl_transfer *transfer = &out->transfers[out->n_transfers++];
    const dfl_memory *m = &nest->system->memories[keep->line->memory];
    dfl_sharing how = dfl_keep_tree_sharing(nest, keep);

    *transfer = (dfl_transfer){ .keep = at, .step = keep->step, .tensor = keep->line->tensor, .inner = keep->line->memory,
                                .outer = keeps->at[keep->parent].line->memory, .written = keep->written, .stream = m->stream,
                                .waited = !nest->mapping->options.overlap_perfect && !m->stream && m->buffers < 2,
                                .bits = out->bits[at], .slots = DFL_NEW_ARRAY(nest->arena, dfl_transfer_slot, keep->step + 2) };
    transfer->inner_ports = out->rates[transfer->inner];
    transfer->outer_ports = out->rates[transfer->outer];
    transfer->inner_share = m->efficiency;
    transfer->outer_share = nest->system->memories[transfer->outer].efficiency;
    uint64_t around = dfl_keep_tree_steps_around(nest, keep->footprint.einsum, keep->step, m->element);
    uint64_t outer = dfl_keep_tree_steps_around(nest, keep->footprint.einsum, keep->step,
                                                nest->system->memories[transfer->outer].element);
    how.first_only = around;
    transfer->mine = dfl_delta_of(nest, keep->flushed, &how, true);
    how.first_only = outer;
    how.united = dfl_keep_tree_steps_shared(nest, keep->footprint.einsum, around & ~outer, keep->line->tensor, keep->written);
    transfer->theirs = transfer->mine ? dfl_delta_of(nest, keep->flushed, &how, true) : NULL;
    transfer->steps = transfer->theirs ? nest->sizes[transfer->mine->footprint->product.einsum].steps : NULL;
    return transfer->theirs != NULL;
}

enum { FIRST, LAST };

/* Numbers the tensors of some transfers from 0. Returns their number. `number` is all 0 before and after. */
static uint32_t number_tensors(const dfl_transfer_ends *g, uint32_t *number, dfl_transfer *all, uint32_t end)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->n; i++) {
        dfl_transfer *transfer = &all[g->at[i]];
        if (number[transfer->tensor] == 0)
            number[transfer->tensor] = ++n;
        transfer->chain[end] = number[transfer->tensor] - 1;
    }
    for (uint32_t i = 0; i < g->n; i++)
        number[all[g->at[i]].tensor] = 0;
    return n;
}

/* Groups the transfers by the place at which their first tiles enter (`end` FIRST) or their last tiles leave (LAST).
   The transfers of a body belong to the group of the enclosing body if both begin (end) at the same time: the body is
   the first (last) child of a branch, or any stage of a pipeline. */
static void find_ends(dfl_nest *nest, const dfl_body *body, uint32_t end, uint32_t group, dfl_time_plan *plan, uint32_t *of)
{
    const dfl_body_time *own = &plan->bodies[body->id];

    for (uint32_t i = own->first; i < own->first + own->n; i++)
        of[i] = group;
    for (uint32_t i = 0; i < body->n_children; i++) {
        bool with = body->kind == DFL_BODY_PIPELINE || i == (end == FIRST ? 0 : body->n_children - 1);
        find_ends(nest, body->children[i], end, with ? group : plan->n_ends[end]++, plan, of);
    }
}

static void add_ends(dfl_nest *nest, uint32_t end, uint32_t *number, dfl_time_plan *plan)
{
    uint32_t *of = DFL_NEW_ARRAY(nest->arena, uint32_t, plan->n_transfers + 1);

    plan->n_ends[end] = 1;
    find_ends(nest, nest->mapping->root, end, 0, plan, of);
    plan->ends[end] = DFL_NEW_ARRAY(nest->arena, dfl_transfer_ends, plan->n_ends[end]);
    for (uint32_t i = 0; i < plan->n_transfers; i++)
        plan->ends[end][of[i]].n++;
    for (uint32_t g = 0; g < plan->n_ends[end]; g++) {
        dfl_transfer_ends *ends = &plan->ends[end][g];
        ends->at = DFL_NEW_ARRAY(nest->arena, uint32_t, ends->n + 1);
        ends->n = 0;
    }
    for (uint32_t i = 0; i < plan->n_transfers; i++) {
        dfl_transfer_ends *ends = &plan->ends[end][of[i]];
        ends->at[ends->n++] = i;
    }
    for (uint32_t g = 0; g < plan->n_ends[end]; g++)
        plan->ends[end][g].chains = number_tensors(&plan->ends[end][g], number, plan->transfers, end);
}

/* Numbers the tensors that move at the same time, and allocates rows for all of them. */
static void number_chains(dfl_nest *nest, dfl_time_plan *plan)
{
    /* [tensor]: 1 + the number of the tensor; 0 = no number yet. */
    uint32_t *number = DFL_NEW_ARRAY(nest->arena, uint32_t, nest->workload->n_tensors + 1), most = 0;

    for (uint32_t b = 0; b < nest->mapping->n_bodies; b++) {
        dfl_body_time *own = &plan->bodies[b];
        dfl_transfer *all = plan->transfers + own->first;
        for (uint32_t i = 0; i < own->n; i++) {
            if (number[all[i].tensor] == 0)
                number[all[i].tensor] = ++own->chains;
            all[i].among = number[all[i].tensor] - 1;
        }
        for (uint32_t i = 0; i < own->n; i++)
            number[all[i].tensor] = 0;
        most = own->chains > most ? own->chains : most;
    }
    for (uint32_t end = FIRST; end <= LAST; end++) {
        add_ends(nest, end, number, plan);
        for (uint32_t g = 0; g < plan->n_ends[end]; g++)
            most = plan->ends[end][g].chains > most ? plan->ends[end][g].chains : most;
    }
    plan->rows = DFL_NEW_ARRAY(nest->arena, dfl_ports, (size_t)(DFL_MAX_STEPS + 1) * (nest->system->n_memories + most));
}

static bool add_body(dfl_nest *nest, dfl_keep_tree *keeps, const dfl_body *body, dfl_time_plan *out)
{
    dfl_body_time *mine = &out->bodies[body->id];

    mine->below = out->n_transfers;
    for (uint32_t i = 0; i < body->n_children; i++)
        if (!add_body(nest, keeps, body->children[i], out))
            return false;
    mine->first = out->n_transfers;
    for (uint32_t i = keeps->first[body->id]; i < keeps->first[body->id + 1]; i++)
        if (keeps->at[i].parent != DFL_NONE && !add_transfer(nest, keeps, i, out))
            return false;
    mine->n = out->n_transfers - mine->first;
    return true;
}

static const char *port_name(const dfl_nest *nest, const dfl_memory *m, const char *port)
{
    const char *name = dfl_sym_text(nest->names, m->name);
    size_t len = strlen(name), more = strlen(port);

    if (m->one_port)
        return name;
    char *text = DFL_NEW_ARRAY(nest->arena, char, len + more + 1);
    memcpy(text, name, len);
    memcpy(text + len, port, more);
    return text;
}

void dfl_time_plan_set_rates(const dfl_nest *nest, const dfl_system *like, dfl_time_plan *out)
{
    for (uint32_t m = 0; m < like->n_memories; m++)
        out->rates[m].rates = (dfl_ports){ like->memories[m].read_rate, like->memories[m].write_rate };
    for (uint32_t i = 0; i < out->n_transfers; i++) {
        dfl_transfer *transfer = &out->transfers[i];
        transfer->inner_ports = out->rates[transfer->inner];
        transfer->outer_ports = out->rates[transfer->outer];
    }
    for (uint32_t e = 0; e < nest->workload->n_einsums; e++) {
        out->einsums[e].unit = &like->computes[nest->paths->paths[e].compute];
        out->einsums[e].point_seconds = dfl_point_seconds(nest->names, nest->workload, &nest->workload->einsums[e],
                                                          out->einsums[e].unit);
    }
}

bool dfl_time_plan_make(dfl_nest *nest, dfl_keep_tree *keeps, dfl_time_plan *out)
{
    uint32_t n_einsums = nest->workload->n_einsums, n_memories = nest->system->n_memories;

    *out = (dfl_time_plan){ .transfers = DFL_NEW_ARRAY(nest->arena, dfl_transfer, keeps->n + 1),
                            .bodies = DFL_NEW_ARRAY(nest->arena, dfl_body_time, nest->mapping->n_bodies + 1),
                            .einsums = DFL_NEW_ARRAY(nest->arena, dfl_einsum_time, n_einsums + 1),
                            .names = dfl_arena_alloc(nest->arena, n_memories + 1, sizeof *out->names, _Alignof(char *)),
                            .rates = DFL_NEW_ARRAY(nest->arena, dfl_port_rates, n_memories + 1),
                            .memory = DFL_NEW_ARRAY(nest->arena, uint32_t, keeps->n + 1),
                            .bits = DFL_NEW_ARRAY(nest->arena, double, keeps->n + 1),
                            .bound = DFL_NEW_ARRAY(nest->arena, const char *, nest->mapping->n_bodies + 1) };
    for (uint32_t e = 0, operand = 0; e < n_einsums; e++) {
        find_unit(nest, e, &out->einsums[e]);
        find_ports(nest, keeps, e, operand, &out->einsums[e]);
        operand += nest->workload->einsums[e].n_inputs + 1;
    }
    for (uint32_t i = 0; i < keeps->n; i++) {
        out->memory[i] = keeps->at[i].line->memory;
        out->bits[i] = nest->workload->tensors[keeps->at[i].line->tensor].type.bits;
    }
    for (uint32_t m = 0; m < n_memories; m++) {
        const dfl_memory *memory = &nest->system->memories[m];
        out->rates[m] = (dfl_port_rates){ { memory->read_rate, memory->write_rate }, memory->one_port };
        out->names[m][0] = port_name(nest, &nest->system->memories[m], ".read");
        out->names[m][1] = port_name(nest, &nest->system->memories[m], ".write");
    }
    if (!add_body(nest, keeps, nest->mapping->root, out))
        return false;
    number_chains(nest, out);
    return true;
}

