/* What moves between keeps when a loop advances: rules 3 to 6 and 8 to 10. */
#include <stdlib.h>

#include "oracle/machine.h"

static oracle_cell *cell(const oracle_keep *k, uint32_t inst, uint32_t elem)
{
    return &k->cells[(size_t)inst * k->n_elem + elem];
}

static uint32_t *stamp(const oracle_keep *k, uint32_t inst, uint32_t elem)
{
    return &k->stamp[(size_t)inst * k->n_elem + elem];
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

static void touch(oracle *o, oracle_keep *k, uint32_t inst, uint32_t elem)
{
    if (elem == DFL_NONE || *stamp(k, inst, elem) == o->tick)
        return;
    *stamp(k, inst, elem) = o->tick;
    DFL_PUSH(o->arena, &k->next[inst], elem);
}

static void touch_block(oracle *o, uint32_t id, const oracle_piece *piece, const uint32_t *coord, void *data)
{
    oracle_keep *k = data;
    const oracle_einsum *e = &o->ein[id];
    uint32_t inst = oracle_instance(o, k->axes, k->n_axes, coord);

    for (bool more = oracle_first_point(o, id, piece); more; more = oracle_next_point(o, id, piece)) {
        if (!oracle_runs(o, id, k->step))
            continue;
        for (uint32_t i = 0; i <= e->e->n_inputs; i++) {
            const oracle_access *a = i < e->e->n_inputs ? &e->in[i] : &e->out;
            if (a->tensor == k->tensor && (!e->held || e->held == a))
                touch(o, k, inst, oracle_element(o, e, a));
        }
    }
}

/* Adds what is missing to the bounding box of an instance's next tile. */
static void fill_box(oracle *o, oracle_keep *k, uint32_t inst)
{
    const dfl_tensor *t = &o->w->tensors[k->tensor];
    oracle_list *next = &k->next[inst];
    uint32_t *lo = DFL_NEW_ARRAY(o->arena, uint32_t, t->n_dims + 1);
    uint32_t *hi = DFL_NEW_ARRAY(o->arena, uint32_t, t->n_dims + 1);

    for (size_t i = 0; i < next->n; i++) {
        uint32_t elem = next->at[i];
        for (uint32_t d = t->n_dims; d-- > 0; elem /= (uint32_t)t->extents[d]) {
            uint32_t x = elem % (uint32_t)t->extents[d];
            lo[d] = i == 0 || x < lo[d] ? x : lo[d];
            hi[d] = i == 0 || x > hi[d] ? x : hi[d];
        }
    }
    for (uint32_t e = 0; next->n > 0 && e < k->n_elem && oracle_work(o, 1); e++) {
        bool inside = true;
        for (uint32_t d = t->n_dims, rest = e; d-- > 0; rest /= (uint32_t)t->extents[d]) {
            uint32_t x = rest % (uint32_t)t->extents[d];
            inside &= lo[d] <= x && x <= hi[d];
        }
        if (inside)
            touch(o, k, inst, e);
    }
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* What an einsum touches in the present iterations. Idle instances hold what is only read, as if they worked. */
static void touch_all(oracle *o, oracle_keep *k, uint32_t id)
{
    oracle_einsum *e = &o->ein[id];

    if (k->written || e->path->exchange.restricts) {
        oracle_blocks(o, id, k->step, touch_block, k);
        return;
    }
    for (uint32_t i = 0; i < e->e->n_inputs; i++)
        if (e->in[i].tensor == k->tensor) {
            e->held = &e->in[i];
            oracle_blocks(o, id, k->step, touch_block, k);
        }
    e->held = NULL;
}

/* Finds the tile of every instance for the present iterations. */
static void find_next(oracle *o, oracle_keep *k, bool empty)
{
    o->tick++;
    for (uint32_t i = 0; i < k->n_inst; i++)
        k->next[i].n = 0;
    if (empty)
        return;
    for (uint32_t i = 0; i < k->body->n_einsums; i++)
        if (dfl_einsum_touches(o->ein[k->body->einsums[i]].e, k->tensor))
            touch_all(o, k, k->body->einsums[i]);
    for (uint32_t i = 0; i < k->n_inst; i++) {
        if (k->box)
            fill_box(o, k, i);
        if (k->next[i].n > 0)
            qsort(k->next[i].at, k->next[i].n, sizeof *k->next[i].at, ascending);
        if ((dfl_i128)k->next[i].n > k->most)
            k->most = (dfl_i128)k->next[i].n;
    }
}

/* ---- leaving ----------------------------------------------------------------------------------------------------- */

static void set_value(oracle *o, oracle_keep *k, uint32_t inst, uint32_t elem, int64_t parts, uint64_t value,
                      bool define)
{
    oracle_cell *c = cell(k, inst, elem);

    if (!k->outer && !c->has_value && o->ten[k->tensor].released[elem])
        oracle_released(o, k->tensor, k->line->span, k);
    k->traffic->update++;
    k->traffic->first.update += inst == 0;
    if (c->has_value) {
        k->traffic->accumulate++;
        k->traffic->first.accumulate += inst == 0;
        value = define ? value : oracle_combine(o, k->tensor, c->value, value);
        parts = define ? parts : parts + c->parts;
    }
    c->has_value = true;
    c->value = value;
    c->parts = parts;
    c->dirty = true;
    /* a value that came from outside differs now from those there, up to where it came from */
    for (const oracle_keep *in = k; in->outer && c->filled && !c->taken; in = in->outer) {
        c->taken = true;
        inst = in->link.outer_of[inst];
        c = cell(in->outer, inst, elem);
        c->has_value = false;
        c->parts = 0;
    }
}

static int by_place(const void *a, const void *b)
{
    const oracle_result *x = a, *y = b;

    if (x->elem != y->elem)
        return x->elem < y->elem ? -1 : 1;
    if (x->inst != y->inst)
        return x->inst < y->inst ? -1 : 1;
    return x->group < y->group ? -1 : x->group > y->group;
}

static int filled_first(const void *a, const void *b)
{
    const oracle_result *x = a, *y = b;

    if (x->elem != y->elem)
        return x->elem < y->elem ? -1 : 1;
    if (x->inst != y->inst)
        return x->inst < y->inst ? -1 : 1;
    if (x->filled != y->filled)
        return x->filled ? -1 : 1;
    return x->group < y->group ? -1 : x->group > y->group;
}

void oracle_deliver(oracle *o, oracle_keep *k, oracle_result *list, size_t n, bool define)
{
    size_t groups = 0;

    if (n == 0)
        return;
    qsort(list, n, sizeof *list, by_place);
    for (size_t i = 0; i < n; i++) {
        oracle_result *last = groups > 0 ? &list[groups - 1] : NULL;
        if (last && by_place(last, &list[i]) == 0) {
            last->value = oracle_combine(o, k->tensor, last->value, list[i].value);
            last->parts += list[i].parts;
            last->filled |= list[i].filled;
        } else {
            list[groups++] = list[i];
        }
    }
    qsort(list, groups, sizeof *list, filled_first);
    for (size_t i = 0; i < groups; i++)
        set_value(o, k, list[i].inst, list[i].elem, list[i].parts, list[i].value, define);
}

static void drain(oracle *o, oracle_keep *k, uint32_t inst, uint32_t elem)
{
    const oracle_cell *c = cell(k, inst, elem);
    oracle_result d = { .elem = elem, .inst = k->link.outer_of[inst], .group = k->link.write_group[inst],
                        .filled = c->filled, .parts = c->parts, .value = c->value };

    k->traffic->drain++;
    k->traffic->first.drain += inst == 0;
    DFL_PUSH(o->arena, &o->results, d);
}

/* Everything that is not in the next tile leaves; `all` is a fresh keep, `flush` one below a fresh keep. */
static void leave(oracle *o, oracle_keep *k, bool all, bool flush)
{
    o->results.n = 0;
    for (uint32_t inst = 0; inst < k->n_inst; inst++)
        for (size_t i = 0; i < k->now[inst].n && oracle_work(o, 1); i++) {
            uint32_t elem = k->now[inst].at[i];
            oracle_cell *c = cell(k, inst, elem);
            bool leaves = all || *stamp(k, inst, elem) != o->tick;
            k->stays |= !leaves;
            if (!leaves && !(flush && c->dirty))
                continue;
            if (k->outer && c->dirty)
                drain(o, k, inst, elem);
            k->balance.drained += leaves && c->dirty;
            k->balance.dropped += leaves && !c->dirty;
            k->balance.flushed += !leaves;
            if (!k->outer && c->has_value)
                o->ten[k->tensor].released[elem] = true;
            /* what a flush drains stays, but without a value: its next result starts a new sum */
            *c = (oracle_cell){ .present = !leaves };
        }
    if (k->outer) {
        dfl_i128 before = k->outer->traffic->update;
        oracle_deliver(o, k->outer, o->results.at, o->results.n, false);
        k->balance.updates += k->outer->traffic->update - before;
    }
}

/* ---- entering ---------------------------------------------------------------------------------------------------- */

/* The neighbour that held the element before this step, or DFL_NONE; gives the position of the axis. */
static uint32_t neighbour(const oracle_keep *k, uint32_t inst, uint32_t elem, uint32_t *axis)
{
    for (uint32_t i = 0; i < k->link.n_axes; i++)
        for (unsigned side = 0; side < 2; side++) {
            const uint32_t *next = side == 0 ? k->link.lower : k->link.higher;
            uint32_t n = next[i * k->n_inst + inst];
            if (n == DFL_NONE || k->now[n].n == 0)
                continue;
            if (bsearch(&elem, k->now[n].at, k->now[n].n, sizeof elem, ascending)) {
                *axis = k->link.axes[i];
                return n;
            }
        }
    return DFL_NONE;
}

/* One element enters one instance; whether the outer keep is read depends on who entered before at this step. */
static void enter(oracle *o, oracle_keep *k, uint32_t inst, uint32_t elem)
{
    oracle_cell *c = cell(k, inst, elem);
    uint32_t axis, from;

    *c = (oracle_cell){ .present = true };
    if (!k->outer)
        return;
    oracle_cell *out = cell(k->outer, k->link.outer_of[inst], elem);
    uint32_t group = k->written ? k->link.outer_of[inst] : k->link.read_group[inst];
    bool first = k->seen[(size_t)group * k->n_elem + elem] != o->tick;
    if (!k->written && (from = neighbour(k, inst, elem, &axis)) != DFL_NONE) {
        k->traffic->serve++;
        k->traffic->first.serve += from == 0;
        k->balance.passed++;
        o->result->forwarded[axis]++;
    } else {
        k->seen[(size_t)group * k->n_elem + elem] = o->tick;
        if (!out->has_value || (k->written && !first)) {
            k->balance.empty++;
            return;
        }
        k->outer->traffic->serve += first;
        k->outer->traffic->first.serve += first && k->link.outer_of[inst] == 0;
        k->balance.served += first;
        k->balance.filled++;
    }
    k->traffic->fill++;
    k->traffic->first.fill += inst == 0;
    c->has_value = c->filled = true;
    c->value = out->value;
    c->parts = out->parts;
}

static void enter_all(oracle *o, oracle_keep *k)
{
    o->tick++;
    for (uint32_t inst = 0; inst < k->n_inst; inst++)
        for (size_t i = 0; i < k->next[inst].n && oracle_work(o, 1); i++)
            if (!cell(k, inst, k->next[inst].at[i])->present)
                enter(o, k, inst, k->next[inst].at[i]);
    for (uint32_t inst = 0; inst < k->n_inst; inst++) {
        oracle_list was = k->now[inst];
        k->now[inst] = k->next[inst];
        k->next[inst] = was;
    }
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static void change(oracle *o, const dfl_body *body, uint32_t from, bool begins, bool ends)
{
    for (uint32_t i = body->n_lines; i-- > from;) {
        oracle_keep *k = o->keep_of[o->line_base[body->id] + i];
        bool flush = false;
        if (!k || k->whole)
            continue;
        for (oracle_keep *above = k->outer; above && above->body == body && above->line >= &body->lines[from];
             above = above->outer)
            flush |= above->line->mode == DFL_KEEP_FRESH && !above->lasting;
        find_next(o, k, ends);
        if (!k->lasting)
            leave(o, k, k->line->mode == DFL_KEEP_FRESH, flush && !begins && !ends);
    }
    for (uint32_t i = from; i < body->n_lines; i++) {
        oracle_keep *k = o->keep_of[o->line_base[body->id] + i];
        if (k && !k->whole)
            enter_all(o, k);
    }
}

void oracle_advance(oracle *o, const dfl_body *body, uint32_t line, bool begins)
{
    change(o, body, line, begins, false);
}

void oracle_close(oracle *o, const dfl_body *body)
{
    change(o, body, 0, false, true);
}
