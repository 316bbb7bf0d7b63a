#include "oracle/keep.h"
#include "oracle/rows.h"

#include <stdlib.h>

#include "oracle/instances.h"
#include "oracle/need.h"
#include "oracle/network.h"
#include "oracle/points.h"
#include "oracle/refuse.h"
#include "oracle/values.h"

static dfl_oracle_cell *cell_of(const dfl_oracle_keep *keep, uint32_t inst, uint32_t elem)
{
    return &keep->cells[(size_t)inst * keep->n_elem + elem];
}

static uint32_t *stamp_of(const dfl_oracle_keep *keep, uint32_t inst, uint32_t elem)
{
    return &keep->stamp[(size_t)inst * keep->n_elem + elem];
}

/* ---- tiles ---- */

static void touch(dfl_oracle_machine *machine, dfl_oracle_keep *keep, uint32_t inst, uint32_t elem)
{
    if (elem == DFL_NONE || *stamp_of(keep, inst, elem) == machine->tick)
        return;
    *stamp_of(keep, inst, elem) = machine->tick;
    DFL_PUSH(machine->arena, &keep->next_tile[inst], elem);
}

static void touch_block(dfl_oracle_machine *machine, uint32_t id, const dfl_oracle_interval *block, const uint32_t *coord,
                        void *data)
{
    dfl_oracle_keep *keep = data;
    const dfl_oracle_einsum *e = &machine->einsums[id];
    uint32_t inst = dfl_oracle_instance(machine, keep->axes, keep->n_axes, coord);

    for (bool more = dfl_oracle_first_point(machine, id, block); more; more = dfl_oracle_next_point(machine, id, block)) {
        if (!dfl_oracle_need_has_point(machine, id, keep->step))
            continue;
        for (uint32_t i = 0; i <= e->einsum->n_inputs; i++) {
            const dfl_oracle_access *a = i < e->einsum->n_inputs ? &e->inputs[i] : &e->output;
            if (a->tensor == keep->tensor)
                touch(machine, keep, inst, dfl_oracle_element(machine, e, a));
        }
    }
}

/* Completes the next tile of an instance to its bounding box. */
static void fill_box(dfl_oracle_machine *machine, dfl_oracle_keep *keep, uint32_t inst)
{
    const dfl_tensor *t = &machine->workload->tensors[keep->tensor];
    dfl_oracle_elements *next = &keep->next_tile[inst];
    uint32_t *lo = DFL_NEW_ARRAY(machine->arena, uint32_t, t->n_dims + 1);
    uint32_t *hi = DFL_NEW_ARRAY(machine->arena, uint32_t, t->n_dims + 1);

    for (size_t i = 0; i < next->n; i++) {
        uint32_t elem = next->at[i];
        for (uint32_t d = t->n_dims; d-- > 0; elem /= (uint32_t)t->extents[d]) {
            uint32_t x = elem % (uint32_t)t->extents[d];
            lo[d] = i == 0 || x < lo[d] ? x : lo[d];
            hi[d] = i == 0 || x > hi[d] ? x : hi[d];
        }
    }
    for (uint32_t e = 0; next->n > 0 && e < keep->n_elem && dfl_oracle_spend(machine, 1); e++) {
        bool inside = true;
        for (uint32_t d = t->n_dims, rest = e; d-- > 0; rest /= (uint32_t)t->extents[d]) {
            uint32_t x = rest % (uint32_t)t->extents[d];
            inside &= lo[d] <= x && x <= hi[d];
        }
        if (inside)
            touch(machine, keep, inst, e);
    }
}

static int compare_elements(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* Sets the next tile of every instance: the elements that the points of the present iterations touch, or an empty
   tile. An instance without a point has an empty tile (rule 1). */
static void find_next(dfl_oracle_machine *machine, dfl_oracle_keep *keep, bool empty)
{
    machine->tick++;
    for (uint32_t i = 0; i < keep->n_inst; i++)
        keep->next_tile[i].n = 0;
    if (empty)
        return;
    for (uint32_t i = 0; i < keep->body->n_einsums; i++)
        if (dfl_einsum_touches(machine->einsums[keep->body->einsums[i]].einsum, keep->tensor))
            dfl_oracle_visit_blocks(machine, keep->body->einsums[i], keep->step, touch_block, keep);
    for (uint32_t i = 0; i < keep->n_inst; i++) {
        if (keep->box)
            fill_box(machine, keep, i);
        if (keep->next_tile[i].n > 0)
            qsort(keep->next_tile[i].at, keep->next_tile[i].n, sizeof *keep->next_tile[i].at, compare_elements);
        if ((dfl_i128)keep->next_tile[i].n > keep->peak_elements)
            keep->peak_elements = (dfl_i128)keep->next_tile[i].n;
    }
}

/* ---- leaving ---- */

static void set_value(dfl_oracle_machine *machine, dfl_oracle_keep *keep, uint32_t inst, uint32_t elem, int64_t parts,
                      uint64_t value, bool define)
{
    dfl_oracle_cell *c = cell_of(keep, inst, elem);

    if (!keep->outer && !c->has_value && machine->tensors[keep->tensor].released[elem])
        dfl_oracle_refuse_released(machine, keep->tensor, keep->line->span, keep);
    keep->traffic->update++;
    keep->traffic->first.update += inst == keep->first;
    dfl_oracle_rows_move(machine, keep, inst, DFL_ORACLE_UPDATE);
    if (c->has_value && !define) {
        keep->traffic->accumulate++;
        keep->traffic->first.accumulate += inst == keep->first;
        dfl_oracle_rows_move(machine, keep, inst, DFL_ORACLE_READ);
        value = dfl_oracle_combine(machine, keep->tensor, c->value, value);
    }
    parts += c->has_value ? c->parts : 0;
    c->has_value = true;
    c->value = value;
    c->parts = parts;
    c->dirty = true;
    /* the value in every outer keep that supplied this element becomes void */
    for (const dfl_oracle_keep *inner = keep; inner->outer && c->filled && !c->taken; inner = inner->outer) {
        c->taken = true;
        inst = inner->link.outer_of[inst];
        c = cell_of(inner->outer, inst, elem);
        c->has_value = false;
        c->parts = 0;
    }
}

static int by_place(const void *a, const void *b)
{
    const dfl_oracle_update *x = a, *y = b;

    if (x->elem != y->elem)
        return x->elem < y->elem ? -1 : 1;
    if (x->inst != y->inst)
        return x->inst < y->inst ? -1 : 1;
    return x->group < y->group ? -1 : x->group > y->group;
}

static int filled_first(const void *a, const void *b)
{
    const dfl_oracle_update *x = a, *y = b;

    if (x->elem != y->elem)
        return x->elem < y->elem ? -1 : 1;
    if (x->inst != y->inst)
        return x->inst < y->inst ? -1 : 1;
    if (x->filled != y->filled)
        return x->filled ? -1 : 1;
    return x->group < y->group ? -1 : x->group > y->group;
}

void dfl_oracle_keep_deliver(dfl_oracle_machine *machine, dfl_oracle_keep *keep, dfl_oracle_update *list, size_t n, bool define)
{
    size_t groups = 0;

    if (n == 0)
        return;
    qsort(list, n, sizeof *list, by_place);
    for (size_t i = 0; i < n; i++) {
        dfl_oracle_update *last = groups > 0 ? &list[groups - 1] : NULL;
        if (last && by_place(last, &list[i]) == 0) {
            last->value = dfl_oracle_combine(machine, keep->tensor, last->value, list[i].value);
            last->parts += list[i].parts;
            last->filled |= list[i].filled;
        } else {
            list[groups++] = list[i];
        }
    }
    qsort(list, groups, sizeof *list, filled_first);
    for (size_t i = 0; i < groups; i++)
        set_value(machine, keep, list[i].inst, list[i].elem, list[i].parts, list[i].value, define);
}

static void drain_element(dfl_oracle_machine *machine, dfl_oracle_keep *keep, uint32_t inst, uint32_t elem)
{
    const dfl_oracle_cell *c = cell_of(keep, inst, elem);
    dfl_oracle_update d = { .elem = elem, .inst = keep->link.outer_of[inst], .group = keep->link.write_group[inst],
                        .filled = c->filled, .parts = c->parts, .value = c->value };

    keep->traffic->drain++;
    keep->traffic->first.drain += inst == keep->first;
    dfl_oracle_rows_move(machine, keep, inst, DFL_ORACLE_DRAIN);
    dfl_oracle_network_note(machine, &keep->link, elem, d.group, inst);
    DFL_PUSH(machine->arena, &machine->updates, d);
}

/* Removes the elements outside of the next tile; dirty elements are drained. `all`: a fresh keep, so all elements
   leave. `flush`: a keep below a fresh keep, which drains all its dirty elements. */
static void drop_elements(dfl_oracle_machine *machine, dfl_oracle_keep *keep, bool all, bool flush)
{
    machine->updates.n = 0;
    for (uint32_t inst = 0; inst < keep->n_inst; inst++)
        for (size_t i = 0; i < keep->tile[inst].n && dfl_oracle_spend(machine, 1); i++) {
            uint32_t elem = keep->tile[inst].at[i];
            dfl_oracle_cell *c = cell_of(keep, inst, elem);
            bool leaves = all || *stamp_of(keep, inst, elem) != machine->tick;
            keep->stays |= !leaves;
            if (!leaves && !(flush && c->dirty))
                continue;
            if (keep->outer && c->dirty)
                drain_element(machine, keep, inst, elem);
            keep->balance.drained += leaves && c->dirty;
            keep->balance.dropped += leaves && !c->dirty;
            keep->balance.flushed += !leaves;
            if (!keep->outer && c->has_value)
                machine->tensors[keep->tensor].released[elem] = true;
            /* a flush leaves the drained element in the tile without a value: its next result starts a new sum */
            *c = (dfl_oracle_cell){ .present = !leaves };
        }
    if (keep->outer) {
        dfl_i128 before = keep->outer->traffic->update;
        dfl_oracle_network_route(machine, &keep->link, keep->tensor, DFL_ORACLE_UP);
        dfl_oracle_keep_deliver(machine, keep->outer, machine->updates.at, machine->updates.n, false);
        keep->balance.updates += keep->outer->traffic->update - before;
    }
}

/* ---- entering ---- */

/* The neighbour with the element in its present tile, or DFL_NONE; sets the axis between the two instances. */
static uint32_t find_neighbour(const dfl_oracle_keep *keep, uint32_t inst, uint32_t elem, uint32_t *axis)
{
    for (uint32_t i = 0; i < keep->link.n_axes; i++)
        for (unsigned side = 0; side < 2; side++) {
            const uint32_t *next = side == 0 ? keep->link.lower : keep->link.higher;
            uint32_t n = next[i * keep->n_inst + inst];
            if (n == DFL_NONE || keep->tile[n].n == 0)
                continue;
            if (bsearch(&elem, keep->tile[n].at, keep->tile[n].n, sizeof elem, compare_elements)) {
                *axis = keep->link.axes[i];
                return n;
            }
        }
    return DFL_NONE;
}

/* Enters one element into one instance, from a neighbour or from the outer keep. One read of the outer keep serves all
   instances of a group that get the element at this tick. */
static void enter_element(dfl_oracle_machine *machine, dfl_oracle_keep *keep, uint32_t inst, uint32_t elem)
{
    dfl_oracle_cell *c = cell_of(keep, inst, elem);
    uint32_t axis, from;

    *c = (dfl_oracle_cell){ .present = true };
    if (!keep->outer)
        return;
    dfl_oracle_cell *out = cell_of(keep->outer, keep->link.outer_of[inst], elem);
    uint32_t group = keep->written ? keep->link.outer_of[inst] : keep->link.read_group[inst];
    bool first = keep->seen[(size_t)group * keep->n_elem + elem] != machine->tick;
    if (!keep->written && (from = find_neighbour(keep, inst, elem, &axis)) != DFL_NONE) {
        keep->traffic->serve++;
        keep->traffic->first.serve += from == keep->first;
        dfl_oracle_rows_move(machine, keep, from, DFL_ORACLE_READ);
        keep->balance.passed++;
        machine->result->forwarded[axis]++;
        dfl_oracle_network_forward(machine, &keep->link, keep->tensor, axis, from, inst);
    } else {
        keep->seen[(size_t)group * keep->n_elem + elem] = machine->tick;
        if (!out->has_value || (keep->written && !first)) {
            keep->balance.empty++;
            return;
        }
        keep->outer->traffic->serve += first;
        keep->outer->traffic->first.serve += first && keep->link.outer_of[inst] == keep->outer->first;
        if (first)
            dfl_oracle_rows_move(machine, keep->outer, keep->link.outer_of[inst], DFL_ORACLE_READ);
        keep->balance.served += first;
        keep->balance.filled++;
        dfl_oracle_network_note(machine, &keep->link, elem, group, inst);
    }
    keep->traffic->fill++;
    keep->traffic->first.fill += inst == keep->first;
    dfl_oracle_rows_move(machine, keep, inst, DFL_ORACLE_FILL);
    c->has_value = c->filled = true;
    c->value = out->value;
    c->parts = out->parts;
}

static void enter_tile(dfl_oracle_machine *machine, dfl_oracle_keep *keep)
{
    machine->tick++;
    for (uint32_t inst = 0; inst < keep->n_inst; inst++)
        for (size_t i = 0; i < keep->next_tile[inst].n && dfl_oracle_spend(machine, 1); i++)
            if (!cell_of(keep, inst, keep->next_tile[inst].at[i])->present)
                enter_element(machine, keep, inst, keep->next_tile[inst].at[i]);
    dfl_oracle_network_route(machine, &keep->link, keep->tensor, DFL_ORACLE_DOWN);
    for (uint32_t inst = 0; inst < keep->n_inst; inst++) {
        dfl_oracle_elements was = keep->tile[inst];
        keep->tile[inst] = keep->next_tile[inst];
        keep->next_tile[inst] = was;
    }
}

/* ---- changes ---- */

/* Changes the tiles of the keeps on line `from` of a body and on all later lines. Elements leave inner keeps before
   outer ones, and enter outer keeps before inner ones. */

static void change_tiles(dfl_oracle_machine *machine, const dfl_body *body, uint32_t from, bool begins, bool ends)
{
    for (uint32_t i = body->n_lines; i-- > from;) {
        dfl_oracle_keep *keep = machine->keep_of[machine->line_base[body->id] + i];
        bool flush = false;
        if (!keep || keep->whole)
            continue;
        for (dfl_oracle_keep *above = keep->outer; above && above->body == body && above->line >= &body->lines[from];
             above = above->outer)
            flush |= above->line->mode == DFL_KEEP_FRESH && !above->lasting;
        find_next(machine, keep, ends);
        if (!keep->lasting)
            drop_elements(machine, keep, keep->line->mode == DFL_KEEP_FRESH, flush && !begins && !ends);
    }
    for (uint32_t i = from; i < body->n_lines; i++) {
        dfl_oracle_keep *keep = machine->keep_of[machine->line_base[body->id] + i];
        if (keep && !keep->whole)
            enter_tile(machine, keep);
    }
}

void dfl_oracle_keep_advance(dfl_oracle_machine *machine, const dfl_body *body, uint32_t line, bool begins)
{
    change_tiles(machine, body, line, begins, false);
}

void dfl_oracle_keep_close(dfl_oracle_machine *machine, const dfl_body *body)
{
    change_tiles(machine, body, 0, false, true);
}
