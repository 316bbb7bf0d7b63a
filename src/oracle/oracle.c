/* The execution: bodies, loops, operations, the occupancy of memories, and the conservation laws. */
#include "oracle/oracle.h"
#include "oracle/rows.h"

#include "oracle/instances.h"
#include "oracle/keep.h"
#include "oracle/need.h"
#include "oracle/network.h"
#include "oracle/points.h"
#include "oracle/refuse.h"
#include "oracle/setup.h"
#include "oracle/values.h"

/* ---- operations ---- */

/* Whether a loop above both einsums is `online`. */
static bool is_online(const dfl_oracle_machine *machine, uint32_t producer, uint32_t reader)
{
    const dfl_path *p = machine->einsums[producer].path;
    const dfl_body *common = dfl_body_common(p->leaf, machine->einsums[reader].path->leaf);

    for (uint32_t i = 0; i < machine->paths->step[common->id][common->n_lines]; i++)
        if (p->steps[i].line->kind == DFL_LINE_TEMPORAL && p->steps[i].line->online)
            return true;
    return false;
}

/* The value of an operand; reports an operand that is outside of the tile or incomplete (rule 12). */
static uint64_t read_value(dfl_oracle_machine *machine, uint32_t id, const dfl_oracle_access *a, uint32_t inst, uint32_t elem)
{
    const dfl_tensor *t = &machine->workload->tensors[a->tensor];
    const dfl_oracle_tensor *ten = &machine->tensors[a->tensor];
    const dfl_oracle_cell *c = &a->keep->cells[(size_t)inst * a->keep->n_elem + elem];
    const char *tensor = dfl_tensor_label(machine->names, t);
    dfl_span span = machine->einsums[id].path->leaf->span;
    int64_t wanted = 0;
    bool online = false, given = t->n_producers == 0;

    for (uint32_t p = 0; p < t->n_producers; p++)
        if (t->producers[p] < id) {
            wanted += ten->total[p][elem];
            online |= is_online(machine, t->producers[p], id);
        }
    if (!c->present) {
        dfl_report(machine->sink, DFL_INTERNAL_ERROR, span, "an operand outside the tile of `%s`", tensor);
        machine->failed = true;
        return 0;
    }
    if (c->has_value ? given || online || c->parts >= wanted : wanted == 0)
        return c->value;
    if (ten->released[elem]) {
        dfl_oracle_refuse_released(machine, a->tensor, span, a->keep);
    } else {
        dfl_diag *d = dfl_report(machine->sink, DFL_MAP_CONSUMED_EARLY, span,
                                 "`%s` is read by einsum `%s` before it is complete", tensor,
                                 dfl_einsum_label(machine->names, machine->einsums[id].einsum));
        dfl_diag_here(machine->sink, d, "%lld of %lld updates of the element were made",
                      (long long)(c->has_value ? c->parts : 0), (long long)wanted);
        dfl_diag_help(machine->sink, d, "finish the loops of the producers of `%s` in a branch before this one", tensor);
    }
    machine->failed = true;
    return 0;
}

/* Reads one operand for one instance of the unit in one step. Counts the read unless another instance of the group has
   read it, or the operand is latched: the instance used it in the step before. With `over`, a step has many operands. */
static uint64_t read_operand(dfl_oracle_machine *machine, uint32_t id, dfl_oracle_access *a, uint32_t unit, uint32_t elem)
{
    uint32_t *seen = &a->seen[(size_t)a->link.read_group[unit] * a->keep->n_elem + elem];
    uint64_t value = read_value(machine, id, a, a->link.outer_of[unit], elem);

    if (a->latched) {
        uint32_t *last = &a->last_use[(size_t)unit * a->keep->n_elem + elem], before = *last;
        *last = machine->einsums[id].step;
        if (before + 1 >= *last && before > 0)
            return value;
    }
    if (*seen != machine->tick) {
        a->keep->traffic->serve++;
        a->keep->traffic->first.serve += a->link.outer_of[unit] == a->keep->first;
        dfl_oracle_rows_move(machine, a->keep, a->link.outer_of[unit], DFL_ORACLE_READ);
    }
    *seen = machine->tick;
    dfl_oracle_network_note(machine, &a->link, elem, a->link.read_group[unit], unit);
    return value;
}

/* Counts the rescaling of a result element: one in every iteration of an `online` loop that adds to the element, the
   first such iteration excepted. */
static void rescale(dfl_oracle_machine *machine, uint32_t id, uint32_t elem)
{
    dfl_oracle_einsum *e = &machine->einsums[id];

    for (uint32_t i = 0; i < e->n_online; i++) {
        uint32_t *last = &e->last_online[i * machine->tensors[e->output.tensor].n_elem + elem];
        if (machine->present[e->online[i]] > 0 && *last != machine->serial[e->online[i]])
            machine->result->extra[id]++;
        *last = machine->serial[e->online[i]];
    }
}

/* Executes one step of one instance: one point, or all points of the rank that an operation with `over` takes whole. */
static void operate(dfl_oracle_machine *machine, uint32_t id, const dfl_oracle_interval *block, const uint32_t *coord, void *data)
{
    dfl_oracle_einsum *e = &machine->einsums[id];
    uint32_t unit = dfl_oracle_instance(machine, e->unit_axes, e->n_unit_axes, coord);
    dfl_i128 points = 0;
    bool *is_working = data;

    for (bool more = dfl_oracle_first_point(machine, id, block); more && !machine->failed;
         more = dfl_oracle_next_point(machine, id, block)) {
        uint64_t value = 1;
        if (!dfl_oracle_need_has_point(machine, id, e->path->n_steps))
            continue;
        points++;
        for (uint32_t i = 0; i < e->einsum->n_inputs; i++) {
            uint32_t elem = dfl_oracle_element(machine, e, &e->inputs[i]);
            value = dfl_oracle_product(value, elem == DFL_NONE ? 0 : read_operand(machine, id, &e->inputs[i], unit, elem));
        }
        uint32_t elem = dfl_oracle_element(machine, e, &e->output);
        if (elem == DFL_NONE)
            continue;
        rescale(machine, id, elem);
        dfl_oracle_update r = { .elem = elem, .inst = e->output.link.outer_of[unit], .group = e->output.link.write_group[unit],
                            .parts = 1, .value = value };
        DFL_PUSH(machine->arena, &machine->updates, r);
        dfl_oracle_network_note(machine, &e->output.link, elem, r.group, unit);
    }
    if (e->einsum->over_rank != DFL_NONE && points > 0)
        points = 1;
    machine->result->points[id] += points;
    *is_working |= points > 0;
}

static void execute(dfl_oracle_machine *machine, uint32_t id)
{
    dfl_oracle_einsum *e = &machine->einsums[id];
    bool is_working = false;

    machine->tick++;
    machine->updates.n = 0;
    e->step++;
    dfl_oracle_visit_blocks(machine, id, e->path->n_steps, operate, &is_working);
    for (uint32_t i = 0; i < e->einsum->n_inputs; i++)
        dfl_oracle_network_route(machine, &e->inputs[i].link, e->inputs[i].tensor, DFL_ORACLE_DOWN);
    dfl_oracle_network_route(machine, &e->output.link, e->output.tensor, DFL_ORACLE_UP);
    dfl_oracle_keep_deliver(machine, e->output.keep, machine->updates.at, machine->updates.n,
                            e->einsum->reduce == DFL_REDUCE_NONE);
    machine->result->steps[id] += is_working;
}

/* ---- occupancy ---- */

static bool is_live(const dfl_oracle_machine *machine, const dfl_oracle_keep *keep)
{
    uint32_t child = machine->running_child[keep->body->id];

    return keep->always_live || (keep->first_child <= child && child <= keep->last_child);
}

/* Whether some einsum before einsum `e` begins at the same coordinates. */
static bool begins_again(const dfl_oracle_machine *machine, uint32_t e)
{
    for (uint32_t other = 0; other < e; other++) {
        bool same = true;
        for (uint32_t a = 0; a < machine->system->n_axes; a++)
            same &= dfl_paths_place(machine->paths, other, a) == dfl_paths_place(machine->paths, e, a);
        if (same)
            return true;
    }
    return false;
}

/* Whether the tiles of a keep stand in the first instance of einsum `e`: on each axis around the memory, the coordinates of some
   einsum that uses the keep include that of the first instance. */
static bool stands_at(const dfl_oracle_machine *machine, const dfl_oracle_keep *keep, uint32_t e)
{
    for (uint32_t i = 0; i < keep->n_axes; i++) {
        int64_t at = dfl_paths_place(machine->paths, e, keep->axes[i]);
        bool reached = false;
        for (uint32_t k = 0; k < keep->body->n_einsums; k++) {
            const dfl_oracle_einsum *user = &machine->einsums[keep->body->einsums[k]];
            int64_t first = dfl_paths_place(machine->paths, keep->body->einsums[k], keep->axes[i]), n = 1;
            for (uint32_t step = 0; step < keep->step; step++)
                if (user->path->steps[step].line->kind == DFL_LINE_SPATIAL && user->path->steps[step].line->axis == keep->axes[i])
                    n *= user->radix[step];
            reached |= dfl_einsum_touches(user->einsum, keep->tensor) && first <= at && at < first + n;
        }
        if (!reached)
            return false;
    }
    return true;
}

/* Largest occupancy of an instance of a memory by the live tiles of the bodies from `body` outwards, up to the root or to the
   enclosing pipeline stage, that stand in the first instance of an einsum. */
static dfl_i128 present_room(const dfl_oracle_machine *machine, const dfl_body *body, uint32_t memory, uint32_t einsum)
{
    dfl_i128 most = 0;

    for (uint32_t i = 0; i < machine->n_instances[memory]; i++)
        machine->occupancy[i] = 0;
    for (const dfl_body *b = body; b; b = b->parent && b->parent->kind != DFL_BODY_PIPELINE ? b->parent : NULL)
        for (uint32_t i = 0; i < b->n_lines; i++) {
            const dfl_oracle_keep *keep = machine->keep_of[machine->line_base[b->id] + i];
            if (!keep || keep->memory != memory || keep->lasting || !is_live(machine, keep) || !stands_at(machine, keep, einsum))
                continue;
            for (uint32_t inst = 0; inst < keep->n_inst; inst++) {
                machine->occupancy[inst] += (dfl_i128)keep->tile[inst].n * keep->element_bits;
                most = machine->occupancy[inst] > most ? machine->occupancy[inst] : most;
            }
        }
    return most;
}

/* Updates the peaks of a body. Homes that last the whole execution are added at the end. */
static void take_room(dfl_oracle_machine *machine, const dfl_body *body)
{
    for (uint32_t e = 0; e < machine->workload->n_einsums; e++)
        for (uint32_t m = 0; m < machine->system->n_memories && !begins_again(machine, e); m++) {
            dfl_i128 *peak = &machine->peak[body->id][m][e], now = present_room(machine, body, m, e);
            *peak = now > *peak ? now : *peak;
        }
}

/* Peak occupancy while a body runs (in bits), by the tiles that stand in the first instance of an einsum: the maximum over the
   body's children, or the sum over the stages of a pipeline. */
static dfl_i128 room_of(const dfl_oracle_machine *machine, const dfl_body *body, uint32_t memory, uint32_t einsum)
{
    dfl_i128 most = machine->peak[body->id][memory][einsum];

    for (uint32_t c = 0; c < body->n_children; c++) {
        dfl_i128 child = room_of(machine, body->children[c], memory, einsum);
        if (body->kind == DFL_BODY_PIPELINE)
            most += child;
        else
            most = child > most ? child : most;
    }
    return most;
}

/* Sets the peaks of tensors and memories; adds lasting homes to their memories. */
static void measure_room(dfl_oracle_machine *machine)
{
    dfl_oracle_result *r = machine->result;

    for (size_t i = 0; i < machine->keeps.n; i++) {
        const dfl_oracle_keep *keep = machine->keeps.at[i];
        if (keep->peak_elements > keep->traffic->peak_elements)
            keep->traffic->peak_elements = keep->peak_elements;
        if (keep->peak_elements * keep->element_bits > keep->traffic->peak_bits)
            keep->traffic->peak_bits = keep->peak_elements * keep->element_bits;
    }
    for (uint32_t m = 0; m < machine->system->n_memories; m++)
        for (uint32_t e = 0; e < machine->workload->n_einsums; e++) {
            dfl_i128 peak = room_of(machine, machine->mapping->root, m, e);
            r->peak_bits[m] = peak > r->peak_bits[m] ? peak : r->peak_bits[m];
        }
    /* a tensor with homes in several branches counts once */
    for (uint32_t i = 0; i < r->n_traffic; i++)
        for (size_t keep = 0; keep < machine->keeps.n; keep++)
            if (machine->keeps.at[keep]->traffic == &r->traffic[i] && machine->keeps.at[keep]->lasting) {
                r->peak_bits[r->traffic[i].memory] += r->traffic[i].peak_bits;
                break;
            }
}

/* ---- bodies ---- */

static void run_body(dfl_oracle_machine *machine, const dfl_body *body);

static void run_children(dfl_oracle_machine *machine, const dfl_body *body)
{
    for (uint32_t i = 0; i < body->n_einsums; i++) {
        const dfl_path *p = machine->einsums[body->einsums[i]].path;
        if (p->has_exchange && p->exchange.branch == body && p->exchange.restricts && p->exchange.recompute)
            dfl_oracle_need_forget(machine, body->einsums[i]);
    }
    if (body->kind != DFL_BODY_FUSE)
        take_room(machine, body);
    if (body->kind == DFL_BODY_LEAF)
        execute(machine, body->einsums[0]);
    /* the oracle runs the stages of a pipeline one after another, which leaves the counts unchanged */
    for (uint32_t c = 0; c < body->n_children && !machine->failed; c++) {
        machine->running_child[body->id] = c;
        run_body(machine, body->children[c]);
    }
}

/* Sets the loops on line `from` and on all later lines to their first iteration, and finds their trip counts. */
static void restart(dfl_oracle_machine *machine, const dfl_body *body, uint32_t from)
{
    for (uint32_t i = from; i < body->n_lines; i++)
        if (body->lines[i].kind == DFL_LINE_TEMPORAL)
            machine->present[machine->line_base[body->id] + i] = 0;
    for (uint32_t i = from; i < body->n_lines; i++)
        if (body->lines[i].kind == DFL_LINE_TEMPORAL) {
            machine->trips[machine->line_base[body->id] + i] = dfl_oracle_trip_count(machine, body, i);
            machine->serial[machine->line_base[body->id] + i] = ++machine->n_serials;
        }
}

static void run_body(dfl_oracle_machine *machine, const dfl_body *body)
{
    uint32_t line = 0;
    bool begins = true;

    if (body->kind == DFL_BODY_LEAF)
        machine->einsums[body->einsums[0]].step++; /* empties the latches of the unit */
    restart(machine, body, 0);
    while (dfl_oracle_spend(machine, 1)) {
        dfl_oracle_keep_advance(machine, body, line, begins);
        begins = false;
        run_children(machine, body);
        for (line = body->n_lines; line > 0; line--) {
            uint32_t id = machine->line_base[body->id] + line - 1;
            if (body->lines[line - 1].kind == DFL_LINE_TEMPORAL && ++machine->present[id] < machine->trips[id])
                break;
        }
        if (line == 0)
            break;
        machine->serial[machine->line_base[body->id] + line - 1] = ++machine->n_serials;
        restart(machine, body, line);
    }
    for (uint32_t i = 0; i < body->n_lines; i++)
        machine->present[machine->line_base[body->id] + i] = 0;
    dfl_oracle_keep_close(machine, body);
}

/* Whether no two instances share a transfer, so that each instance is a group of its own. */
static bool has_own_groups(dfl_oracle_machine *machine, const dfl_oracle_keep *keep, const uint32_t *group)
{
    bool *used = DFL_NEW_ARRAY(machine->arena, bool, keep->n_inst + 1), alone = true;

    for (uint32_t i = 0; i < keep->n_inst && alone; i++) {
        alone = group[i] < keep->n_inst && !used[group[i]];
        used[alone ? group[i] : 0] = true;
    }
    return alone;
}

/* Number of conservation laws that a keep violates. The laws hold for every mapping: elements that enter a keep leave
   the keep, and a transfer reaches at least one instance and at most all instances. */
static dfl_i128 broken_laws(dfl_oracle_machine *machine, const dfl_oracle_keep *keep)
{
    const dfl_oracle_balance *b = &keep->balance;
    dfl_i128 out = b->drained + b->flushed, broken = 0;
    bool alone = keep->written || has_own_groups(machine, keep, keep->link.read_group),
         singly = has_own_groups(machine, keep, keep->link.write_group);

    broken += b->filled + b->passed + b->empty != b->drained + b->dropped;
    broken += b->served > b->filled || b->filled > b->served * keep->n_inst || (alone && b->served != b->filled);
    broken += b->updates > out || out > b->updates * keep->n_inst || (singly && b->updates != out);
    return broken;
}

static void finish(dfl_oracle_machine *machine)
{
    dfl_oracle_result *r = machine->result;

    for (uint32_t e = 0; e < machine->workload->n_einsums; e++) {
        r->extra[e] += r->points[e] - machine->einsums[e].work;
        r->padding[e] = machine->einsums[e].padding;
    }
    measure_room(machine);
    for (size_t i = 0; i < machine->keeps.n; i++)
        r->broken += machine->keeps.at[i]->outer ? broken_laws(machine, machine->keeps.at[i]) : 0;
    r->broken += dfl_oracle_networks_sum(machine);
    r->wrong = dfl_oracle_count_wrong(machine);
}

/* Executes the mapping a single time. The keeps on the lines `held` are live from the start to the end of their brace.
   False after a report. */
static bool execute_mapping(dfl_oracle_machine *machine, bool *held)
{
    dfl_arena *arena = machine->arena;
    const dfl_paths *paths = machine->paths;
    const dfl_mapping *m = paths->mapping;
    uint32_t n = m->workload->n_einsums;

    *machine = (dfl_oracle_machine){ .arena = arena,
                                     .sink = machine->sink,
                                     .names = machine->names,
                                     .paths = paths,
                                     .mapping = m,
                                     .workload = m->workload,
                                     .system = m->system,
                                     .held = held };
    machine->result = DFL_NEW(arena, dfl_oracle_result);
    machine->result->points = DFL_NEW_ARRAY(arena, dfl_i128, n + 1);
    machine->result->extra = DFL_NEW_ARRAY(arena, dfl_i128, n + 1);
    machine->result->padding = DFL_NEW_ARRAY(arena, dfl_i128, n + 1);
    machine->result->steps = DFL_NEW_ARRAY(arena, dfl_i128, n + 1);
    machine->result->peak_bits = DFL_NEW_ARRAY(arena, dfl_i128, m->system->n_memories + 1);
    machine->result->networks = DFL_NEW_ARRAY(arena, dfl_oracle_network, m->system->n_networks + 1);
    machine->result->forwarded = DFL_NEW_ARRAY(arena, dfl_i128, m->system->n_axes + 1);
    if (!dfl_oracle_setup(machine))
        return false;
    for (uint32_t e = n; e-- > 0;)
        if (!dfl_oracle_need_prepare(machine, e))
            return false;
    run_body(machine, m->root);
    return !machine->failed;
}

/* By line id: keeps that held elements across iterations of a loop. NULL if all of these keeps were already live
   throughout their brace. */
static bool *find_held(const dfl_oracle_machine *machine)
{
    bool *held = DFL_NEW_ARRAY(machine->arena, bool, machine->n_lines + 1), any = false;

    for (uint32_t i = 0; i < machine->n_lines; i++) {
        held[i] = machine->keep_of[i] && machine->keep_of[i]->stays;
        any |= held[i] && !machine->keep_of[i]->always_live;
    }
    return any ? held : NULL;
}

const dfl_oracle_result *dfl_oracle_run(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths)
{
    dfl_oracle_machine machine = { .arena = arena, .sink = sink, .names = names, .paths = paths };
    bool *held;

    /* only the end of an execution shows whether a keep holds elements across iterations; if it does, execute again
       with this keep live throughout its brace */
    if (!execute_mapping(&machine, NULL) || ((held = find_held(&machine)) && !execute_mapping(&machine, held)))
        return NULL;
    finish(&machine);
    return machine.result;
}
