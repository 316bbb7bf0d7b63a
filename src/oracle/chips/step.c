/*
 * The step of a plan on all chips: the einsums in workload order, micro-batch by micro-batch and layer by layer, with the
 * exchanges that bring what chips lack.
 */
#include <string.h>

#include "oracle/chips/chips_internal.h"
#include "oracle/chips/deal.h"
#include "oracle/chips/halos.h"
#include "oracle/chips/life.h"
#include "oracle/chips/memory.h"
#include "oracle/chips/outside.h"
#include "oracle/chips/rows.h"
#include "oracle/chips/windows.h"
#include "oracle/chips/work.h"

static void miss(chips *c, uint32_t tensor, uint32_t einsum)
{
    if (c->out->missing++ == 0) {
        c->out->missing_tensor = tensor;
        c->out->missing_einsum = einsum;
    }
}

/* ---- blocks ---- */

/* Whether a chip runs the present point of a pass: of all layers, those of its stage. */
static bool has_layer(const chip_pass *p)
{
    const chips *c = p->c;

    return p->layer >= 0 || !c->einsums[p->einsum].has_layers ||
           c->stage_of_layer[c->at[c->stage_rank]] == chips_stage(c, p->chip);
}

/* ---- operands ---- */

/* A chip that has an element and lies in the same group as `chip`; DFL_NONE = none. */
static uint32_t find_source(const chips *c, uint32_t chip, uint32_t tensor, int64_t element, uint64_t groups)
{
    for (uint32_t other = 0; other < c->n_chips; other++) {
        bool reaches = c->tensors[tensor].has[other][element] != 0;

        for (uint32_t g = 0; g < c->n_groups && reaches; g++)
            reaches = (groups >> g & 1) != 0 || chips_digit(c, other, g) == chips_digit(c, chip, g);
        if (reaches)
            return other;
    }
    return DFL_NONE;
}

/* Whether a tensor has an element before the step, or some einsum makes it. */
static bool is_ever_made(const chips *c, uint32_t tensor, uint32_t element)
{
    bool has_where = false;

    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        has_where |= c->einsums[e].target == tensor && c->w->einsums[e].n_where > 0;
    return !has_where || c->tensors[tensor].written[element] != 0;
}

/* The groups whose chips all know the data of an operand: the positions of rows move nothing. */
static uint64_t known_to(const chips *c, uint32_t einsum, const dfl_access *a)
{
    const chip_einsum *e = &c->einsums[einsum];

    return e->rows != 0 && a->tensor == e->rows_at->tensor ? e->rows : 0;
}

static uint32_t read_part(void *context, uint32_t einsum, uint32_t operand, int64_t row)
{
    chip_pass *p = context;
    chips *c = p->c;
    const dfl_access *a = &c->w->einsums[einsum].inputs[operand];
    const bool carried = dfl_chips_is_carried(c, einsum, a);
    chip_reading *r = &c->einsums[einsum].reads[operand * N_READINGS + carried];
    uint32_t tensor, source = p->chip;
    const int64_t element = dfl_chips_element(c, einsum, a, row, carried, &tensor);
    bool is_new;

    if (element < 0)
        return 0;
    dfl_chips_note_pair(c, einsum, p->chip, operand * N_READINGS + carried, (uint32_t)element);
    if (!is_ever_made(c, tensor, (uint32_t)element)) { /* conditions leave it out: it is as it was */
        r->seen[element] = c->visit;
        dfl_chips_note_read(c, tensor, (uint32_t)element, chips_stage(c, p->chip), p->micro_batch);
        return dfl_chips_given(c, tensor, (uint32_t)element);
    }
    is_new = r->seen[element] != c->visit;
    r->seen[element] = c->visit;
    if (is_new)
        dfl_chips_note_read(c, tensor, (uint32_t)element, chips_stage(c, p->chip), p->micro_batch);
    if (c->tensors[tensor].has[p->chip][element] == 0) {
        source = find_source(c, p->chip, tensor, element, r->other | r->all | r->halo | r->to_rows | known_to(c, einsum, a));
        if (source == DFL_NONE && is_new)
            miss(c, a->tensor, einsum);
        if (source == DFL_NONE)
            return 0;
    }
    return c->tensors[tensor].value[source][element];
}

/* ---- results ---- */

static dfl_reduce reduction_of(const chips *c, uint32_t tensor)
{
    dfl_reduce out = DFL_REDUCE_NONE;

    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        if (c->einsums[e].target == tensor && c->w->einsums[e].reduce != DFL_REDUCE_NONE)
            out = c->w->einsums[e].reduce;
    return out;
}

/* Whether a chip stands for all that compute the same: it has the first place in each group that does not divide the einsum. */
static bool stands_for_equals(const chips *c, uint32_t einsum, uint32_t chip)
{
    const chip_einsum *e = &c->einsums[einsum];

    for (uint32_t g = 0; g < c->n_groups; g++)
        if (!c->groups[g].has_stages && !chips_is_divided(e, g) && chips_digit(c, chip, g) != 0)
            return false;
    return e->has_layers || e->einsum->body->kind == DFL_EOP_CONST || e->einsum->phase == DFL_PHASE_UPDATE ||
           (e->stages & ((UINT64_C(1) << chips_stage(c, chip)) - 1)) == 0;
}

/* Whether the part of a sum that chip `from` has made with an einsum comes to chip `to`: a chip that computes the same lies in
   the group of `to`. */
static bool comes_to(const chips *c, uint32_t einsum, uint32_t from, uint32_t to, uint64_t groups, bool is_tied)
{
    const chip_einsum *e = &c->einsums[einsum];

    for (uint32_t g = 0; g < c->n_groups; g++) {
        const bool is_free = c->groups[g].has_stages ? is_tied : !chips_is_divided(e, g) || (groups >> g & 1) != 0;

        if (!is_free && chips_digit(c, from, g) != chips_digit(c, to, g))
            return false;
    }
    return true;
}

/* Sums the parts of one element, and brings the sum to its homes, as part of a value (DFL_NONE: of none). */
static void settle_element(chips *c, uint32_t tensor, uint32_t element, dfl_reduce reduce, uint32_t value)
{
    chip_tensor *t = &c->tensors[tensor];
    const uint64_t groups = t->summed | t->gathered | t->across | t->beside;
    uint64_t stages = t->is_tied ? UINT64_C(1) | UINT64_C(1) << (c->n_stages - 1) : 0;
    uint32_t sum = 0;
    bool is_made = false;

    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        for (uint32_t chip = 0; chip < c->n_chips && c->einsums[e].target == tensor; chip++) {
            if (c->einsums[e].touched[chip][element] == 0)
                continue;
            stages |= UINT64_C(1) << chips_stage(c, chip);
            if (!stands_for_equals(c, e, chip))
                continue;
            const uint32_t part = c->einsums[e].parts[chip][element];

            sum = is_made ? dfl_chips_combine(reduce, sum, part) : part;
            is_made = true;
        }
    for (uint32_t to = 0; to < c->n_chips && is_made; to++) {
        if (t->home[to][element] == 0 || (stages >> chips_stage(c, to) & 1) == 0)
            continue;
        for (uint32_t e = 0; e < c->w->n_einsums; e++)
            for (uint32_t from = 0; from < c->n_chips && c->einsums[e].target == tensor; from++)
                if (c->einsums[e].touched[from][element] != 0 && stands_for_equals(c, e, from) &&
                    c->w->einsums[e].body->kind != DFL_EOP_CONST && c->w->einsums[e].phase != DFL_PHASE_UPDATE &&
                    !comes_to(c, e, from, to, groups, t->is_tied))
                    miss(c, tensor, e);
        const bool is_first = dfl_chips_is_state(c, tensor) ? t->renewed[to][element] == 0 : t->has[to][element] == 0;

        t->value[to][element] = !is_first && reduce != DFL_REDUCE_NONE ? dfl_chips_combine(reduce, t->value[to][element], sum)
                                                                       : sum;
        t->has[to][element] = 1;
        if (dfl_chips_is_state(c, tensor))
            t->renewed[to][element] = 1;
        if (value != DFL_NONE) {
            c->values.at[value].size[to]++;
            t->live[element] = value + 1;
        }
    }
    if (value != DFL_NONE && is_made)
        dfl_chips_add_outside(c, value, element, stages);
}

/* Brings what the chips have made of a tensor to its homes. */
static void settle(chips *c, uint32_t tensor, uint32_t value)
{
    const dfl_reduce reduce = reduction_of(c, tensor);

    for (uint32_t i = 0; i < c->tensors[tensor].n_elem; i++) {
        bool is_touched = false;

        for (uint32_t e = 0; e < c->w->n_einsums && !is_touched; e++)
            for (uint32_t chip = 0; chip < c->n_chips && c->einsums[e].target == tensor && !is_touched; chip++)
                is_touched = c->einsums[e].touched[chip][i] != 0;
        if (is_touched)
            settle_element(c, tensor, i, reduce, value);
    }
    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        for (uint32_t chip = 0; chip < c->n_chips && c->einsums[e].target == tensor; chip++)
            memset(c->einsums[e].touched[chip], 0, c->tensors[tensor].n_elem);
}

/* ---- one pass of an einsum ---- */

/* Marks the room of what the conditions of an einsum leave out at the present point, of its result, of inputs, and of the
   gradient that starts the backward pass. */
static void mark_room(const chip_pass *p)
{
    chips *c = p->c;
    const chip_einsum *e = &c->einsums[p->einsum];
    chip_tensor *t = &c->tensors[e->target];
    uint32_t tensor;
    const int64_t element = e->einsum->body->kind == DFL_EOP_SCATTER
                                ? -1 : dfl_chips_element(c, p->einsum, &e->einsum->output, -1, false, &tensor);

    for (uint32_t i = 0; i < e->einsum->n_inputs; i++) {
        const dfl_access *a = &e->einsum->inputs[i];
        uint32_t given;
        const int64_t at = c->w->tensors[a->tensor].role != DFL_ROLE_INPUT || dfl_chips_is_carried(c, p->einsum, a)
                               ? -1 : dfl_chips_element(c, p->einsum, a, -1, false, &given);

        if (at >= 0)
            dfl_chips_note_read(c, given, (uint32_t)at, chips_stage(c, p->chip), p->micro_batch);
    }
    if (element < 0)
        return;
    if (t->room == NULL)
        t->room = DFL_NEW_ARRAY(c->arena, uint8_t, (size_t)t->n_elem + 1);
    t->room[element] = 1;
}

/* Adds to a value what its producers have left out: its chips have room for whole blocks. */
static void add_room(chips *c, uint32_t value, uint64_t stages)
{
    chip_tensor *t = &c->tensors[c->values.at[value].tensor];

    for (uint32_t i = 0; i < t->n_elem && t->room != NULL; i++) {
        if (t->room[i] != 0 && t->live[i] != value + 1) {
            for (uint32_t chip = 0; chip < c->n_chips; chip++)
                c->values.at[value].size[chip] += t->home[chip][i] != 0 && (stages >> chips_stage(c, chip) & 1) != 0;
            dfl_chips_add_outside(c, value, i, stages);
            t->live[i] = value + 1;
        }
        t->room[i] = 0;
    }
}

/* Computes the present point, if it is one of the chip, and marks what it makes. */
static void compute_point(chip_pass *p, element_set made)
{
    chips *c = p->c;
    chip_einsum *e = &c->einsums[p->einsum];
    int64_t row, element;
    uint32_t value, tensor, *part;

    if (!has_layer(p) || !dfl_chips_takes(c, p->einsum, p->chip))
        return;
    if (!dfl_chips_has_point(c, p->einsum)) {
        mark_room(p);
        return;
    }
    p->points++;
    value = dfl_chips_value(c, p->einsum, read_part, p, &row);
    element = dfl_chips_element(c, p->einsum, &e->einsum->output, row, false, &tensor);
    if (element < 0 || (dfl_chips_renews_rows(c, p->einsum) && e->touched[p->chip][element] != 0))
        return;
    dfl_chips_note_pair(c, p->einsum, p->chip, e->einsum->n_inputs * N_READINGS, (uint32_t)element);
    part = &e->parts[p->chip][element];
    *part = e->touched[p->chip][element] != 0 ? dfl_chips_combine(e->einsum->reduce, *part, value) : value;
    e->touched[p->chip][element] = made[element] = 1;
}

/* The rows of a table to which the present chip has added in its layer, with those of the micro-batches before if the sum is
   exchanged behind the last one. */
static element_set add_rows(const chip_pass *p, element_set made)
{
    chips *c = p->c;
    chip_einsum *e = &c->einsums[p->einsum];
    const size_t layers = e->repeat != DFL_NONE ? (size_t)c->w->ranks[e->repeat].extent : 1;
    element_set *so_far;

    if (e->rows_made == NULL)
        e->rows_made = DFL_NEW_ARRAY(c->arena, element_set, layers * c->n_chips);
    so_far = &e->rows_made[(size_t)(p->layer < 0 ? 0 : p->layer) * c->n_chips + p->chip];
    for (uint32_t i = 0; i < c->tensors[e->target].n_elem && *so_far != NULL && dfl_chips_ends_late(c, e->target); i++)
        made[i] |= (*so_far)[i];
    return *so_far = made;
}

/* All rows of a table in the layer of the pass that the present chip adds to in the step. */
static element_set rows_of_layer(const chip_pass *p)
{
    const chips *c = p->c;
    const chip_einsum *e = &c->einsums[p->einsum];
    const dfl_tensor *rows = &c->w->tensors[e->einsum->output.tensor];
    const uint32_t n_elem = c->tensors[e->target].n_elem;
    element_set out = DFL_NEW_ARRAY(c->arena, uint8_t, (size_t)n_elem + 1);

    memcpy(out, e->made.of_chip[p->chip], n_elem);
    for (uint32_t d = 0; d < rows->n_table_dims && p->layer >= 0 && e->repeat != DFL_NONE; d++)
        for (uint32_t i = 0; i < n_elem && dfl_index_coef(&rows->table_index[d], e->repeat) != 0; i++)
            out[i] &= dfl_chips_coordinate(c, e->target, i, d) == p->layer;
    return out;
}

/* Computes the block of the present chip. Returns what it made in this pass; all rows of a table if zeros stand before them. */
static element_set compute_block(chip_pass *p)
{
    chips *c = p->c;
    chip_einsum *e = &c->einsums[p->einsum];
    const uint32_t n_elem = c->tensors[e->target].n_elem;
    element_set made = DFL_NEW_ARRAY(c->arena, uint8_t, (size_t)n_elem + 1);

    if (e->parts[p->chip] == NULL)
        e->parts[p->chip] = DFL_NEW_ARRAY(c->arena, uint32_t, (size_t)n_elem + 1);
    p->points = 0;
    for (uint32_t block = dfl_chips_next_block(c, p->einsum, p->chip, DFL_NONE); block != DFL_NONE;
         block = dfl_chips_next_block(c, p->einsum, p->chip, block)) {
        dfl_chips_find_block(p, block);
        for (bool more = dfl_chips_first(c, p->einsum, p->lo, p->hi, p->layer); more;
             more = dfl_chips_next(c, p->einsum, p->lo, p->hi, e->step, p->layer))
            compute_point(p, made);
    }
    return e->einsum->body->kind != DFL_EOP_SCATTER ? made
           : dfl_chips_has_rows_alone(c, e->target) ? add_rows(p, made) : rows_of_layer(p);
}

/* Whether two chips have the same place in the groups of a mask. */
static bool is_beside(const chips *c, uint32_t a, uint32_t b, uint64_t groups)
{
    for (uint32_t g = 0; g < c->n_groups; g++)
        if ((groups >> g & 1) != 0 && chips_digit(c, a, g) != chips_digit(c, b, g))
            return false;
    return true;
}

/* The most elements of a set that one other chip of some groups has: at home, or brought there by an exchange over the groups of
   `brought`. */
static uint32_t most_sent(const chip_pass *p, uint32_t tensor, const uint8_t *set, uint64_t groups, uint64_t brought)
{
    const chips *c = p->c;
    uint32_t most = 0;

    for (uint32_t sender = 0; sender < c->n_chips; sender++) {
        uint32_t n = 0;

        if (sender == p->chip || !is_beside(c, sender, p->chip, ~groups))
            continue;
        for (uint32_t k = 0; k < c->tensors[tensor].n_elem; k++) {
            bool is_there = false;

            for (uint32_t home = 0; home < c->n_chips && !is_there && set[k] != 0; home++)
                is_there = c->tensors[tensor].home[home][k] != 0 && is_beside(c, home, sender, ~brought);
            n += is_there;
        }
        most = n > most ? n : most;
    }
    return most;
}

/* The elements that the present chip touched in this visit by a reading and by the later ones that differ from it by offsets
   alone, each once: the exchange of the first of them brings what all of them read. Elements beside the parts of the chip are
   left out: the messages of neighbours bring them. */
static element_set find_touched(const chip_pass *p, uint32_t reading)
{
    const chips *c = p->c;
    const chip_einsum *e = &c->einsums[p->einsum];
    const chip_reading *r = &e->reads[reading];
    const uint32_t n_elem = c->tensors[r->tensor].n_elem;
    element_set out = DFL_NEW_ARRAY(c->arena, uint8_t, (size_t)n_elem + 1);

    for (uint32_t i = reading / N_READINGS; i < e->einsum->n_inputs; i++) {
        const chip_reading *other = &e->reads[i * N_READINGS + reading % N_READINGS];

        if (other->tensor != r->tensor ||
            !dfl_chips_is_alike(&e->einsum->inputs[reading / N_READINGS], &e->einsum->inputs[i]))
            continue;
        for (uint32_t k = 0; k < n_elem; k++)
            out[k] |= other->seen[k] == c->visit && dfl_chips_is_within(c, r->tensor, p->chip, k, r->halo);
    }
    return out;
}

/* Counts what the present chip touched of an operand in its block. */
static touched_counts count_touched(const chip_pass *p, uint32_t reading)
{
    const chips *c = p->c;
    const chip_reading *r = &c->einsums[p->einsum].reads[reading];
    touched_counts out = { 0 };

    if (r->tensor == DFL_NONE || (r->other | r->all | r->to_rows) == 0) /* no exchange needs the counts */
        return out;
    const element_set set = find_touched(p, reading);

    for (uint32_t k = 0; k < c->tensors[r->tensor].n_elem; k++) {
        out.seen += set[k];
        out.own += set[k] != 0 && dfl_chips_is_within(c, r->tensor, p->chip, k, r->alone);
        out.part += set[k] != 0 && dfl_chips_is_within(c, r->tensor, p->chip, k, r->all & ~r->one);
    }
    out.sent = most_sent(p, r->tensor, set, r->other, 0);
    out.gathered = most_sent(p, r->tensor, set, r->all & ~r->one, r->other | r->one);
    return out;
}

/* Whether an einsum starts a sum over all micro-batches, none of which divides its ranks. */
static bool starts_once(const chips *c, const chip_einsum *e)
{
    for (uint32_t k = 0; k < c->n_tiled; k++)
        if (dfl_einsum_has_rank(e->einsum, c->tiled[k]))
            return false;
    return e->einsum->body->kind == DFL_EOP_CONST;
}

/* Runs a pass of an einsum on all chips that run it. With `again`, its exchanges run again, and its values are there. */
static void run_einsum(chips *c, uint32_t einsum, int64_t micro_batch, int64_t layer, bool again)
{
    chip_einsum *e = &c->einsums[einsum];
    chip_pass p = { .c = c, .einsum = einsum, .micro_batch = micro_batch, .layer = layer };
    const uint32_t n = e->einsum->n_inputs * N_READINGS;
    touched_counts *counts = DFL_NEW_ARRAY(c->arena, touched_counts, (size_t)c->n_chips * n + 1);
    element_set *made = DFL_NEW_ARRAY(c->arena, element_set, c->n_chips);
    const bool is_last = c->tensors[e->target].last_producer == einsum, is_once = dfl_chips_ends_late(c, e->target);
    dfl_chips_work work = { .read = DFL_NEW_ARRAY(c->arena, dfl_i128, (size_t)e->einsum->n_inputs + 1) };
    element_set *halos = dfl_chips_open_halos(c, einsum);
    uint32_t value = DFL_NONE;
    uint64_t n_made = 0;

    dfl_chips_begin(c, einsum, again ? DFL_PHASE_BACKWARD : e->einsum->phase, micro_batch, layer);
    if (dfl_chips_is_passing(c, e->target, layer))
        value = dfl_chips_value_of(c, e->target, micro_batch, layer, again);
    dfl_chips_start_pairs(c, einsum);
    p.lo = DFL_NEW_ARRAY(c->arena, int64_t, (size_t)c->w->n_ranks + 1);
    p.hi = DFL_NEW_ARRAY(c->arena, int64_t, (size_t)c->w->n_ranks + 1);
    for (p.chip = 0; p.chip < c->n_chips && !c->failed; p.chip++) {
        if (!dfl_chips_runs(c, einsum, p.chip, layer) || (starts_once(c, e) && micro_batch > 0))
            continue;
        p.stages |= UINT64_C(1) << chips_stage(c, p.chip);
        c->visit++;
        made[p.chip] = compute_block(&p);
        dfl_chips_mark_halos(&p, halos);
        const uint64_t of_chip = dfl_chips_count_set(made[p.chip], c->tensors[e->target].n_elem);
        n_made = of_chip > n_made ? of_chip : n_made;
        e->latest[p.chip] = e->outgoing[p.chip] = made[p.chip];
        dfl_chips_count_work(c, einsum, made[p.chip], p.points, &work);
        for (uint32_t i = 0; i < n; i++)
            counts[(size_t)p.chip * n + i] = count_touched(&p, i);
        if (again)
            memset(e->touched[p.chip], 0, c->tensors[e->target].n_elem);
    }
    dfl_chips_add_work(c, einsum, layer, &work);
    if (layer >= 0 && e->repeat != DFL_NONE)
        c->at[e->repeat] = layer; /* also if no chip had a point */
    dfl_chips_use_on(c, value, p.stages);
    dfl_chips_record_operands(&p, counts);
    dfl_chips_record_halos(&p, halos);
    dfl_chips_record_rows(&p, n_made);
    if (is_last && p.stages != 0)
        dfl_chips_send_beside(&p, made);
    if (is_last && p.stages != 0)
        dfl_chips_record_result(&p, made, micro_batch + 1 == c->micro_batches || e->einsum->phase == DFL_PHASE_UPDATE);
    if (is_last && !again && !is_once)
        settle(c, e->target, value);
    if (is_last && !again && value != DFL_NONE)
        add_room(c, value, p.stages);
}

/* ---- the order ---- */

/* Whether an element of what a repeat makes for the next iteration is of one layer: the layers are its first dimension. */
static bool is_of_layer(const chips *c, const dfl_carry *carry, uint32_t element, int64_t layer)
{
    const dfl_tensor *to = &c->w->tensors[carry->to];
    int64_t behind = 1;

    for (uint32_t d = 1; d < to->n_dims; d++)
        behind *= to->extents[d];
    return (int64_t)element / behind == layer;
}

/* Sends what the repeat carries from the stage of one layer to that of the next one. */
static void send(chips *c, dfl_phase phase, int64_t from_layer, int64_t to_layer)
{
    const uint32_t from = c->stage_of_layer[from_layer], to = c->stage_of_layer[to_layer];
    dfl_i128 most = 0;
    uint32_t tensor = DFL_NONE;

    if (from == to)
        return;
    for (uint32_t chip = 0; chip < c->n_chips; chip++) {
        dfl_i128 bits = 0;
        uint32_t other = 0;

        if (chips_stage(c, chip) != to)
            continue;
        for (bool is_peer = false; !is_peer; other += !is_peer) {
            is_peer = chips_stage(c, other) == from;
            for (uint32_t g = 0; g < c->n_groups; g++)
                is_peer &= g == c->stage_group || chips_digit(c, other, g) == chips_digit(c, chip, g);
        }
        for (uint32_t k = 0; k < c->w->n_carries; k++) {
            const dfl_carry *carry = &c->w->carries[k];
            chip_tensor *t = &c->tensors[carry->to];

            if (carry->rank != c->stage_rank || c->w->tensors[carry->to].n_producers == 0 ||
                c->w->einsums[c->w->tensors[carry->to].producers[0]].phase != phase)
                continue;
            tensor = tensor == DFL_NONE ? carry->to : tensor;
            for (uint32_t i = 0; i < t->n_elem; i++)
                if (t->has[other][i] != 0 && t->has[chip][i] == 0 && t->home[other][i] != 0 &&
                    is_of_layer(c, carry, i, from_layer)) {
                    t->has[chip][i] = 1;
                    t->value[chip][i] = t->value[other][i];
                    if (t->live[i] != 0) {
                        c->values.at[t->live[i] - 1].size[chip]++;
                        dfl_chips_send_outside(c, t->live[i] - 1, i, chip);
                    }
                    bits += c->w->tensors[carry->to].type.bits;
                }
        }
        most = bits > most ? bits : most;
    }
    if (tensor != DFL_NONE)
        dfl_chips_record_message(c, tensor, most, from, to);
}

/* Runs the forward einsums of a repeat (DFL_NONE: outside of all) that make recomputed tensors. */
static void run_again(chips *c, uint32_t repeat, int64_t micro_batch, int64_t layer)
{
    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        if (c->w->einsums[e].phase == DFL_PHASE_FORWARD && c->einsums[e].repeat == repeat &&
            c->recomputed[c->w->einsums[e].output.tensor])
            run_einsum(c, e, micro_batch, layer, true);
}

/* Whether the backward pass through a repeat reads what recomputed einsums outside of repeats make. */
static bool needs_outside(const chips *c, uint32_t repeat)
{
    const dfl_workload *w = c->w;

    for (uint32_t e = 0; e < w->n_einsums; e++)
        for (uint32_t i = 0; i < w->einsums[e].n_inputs && c->einsums[e].repeat == repeat; i++) {
            const dfl_tensor *t = &w->tensors[w->einsums[e].inputs[i].tensor];
            const bool runs = w->einsums[e].phase == DFL_PHASE_BACKWARD ||
                              (w->einsums[e].phase == DFL_PHASE_FORWARD && c->recomputed[w->einsums[e].output.tensor]);

            if (runs && t->n_producers > 0 && c->recomputed[w->einsums[e].inputs[i].tensor] &&
                w->einsums[t->producers[0]].phase == DFL_PHASE_FORWARD && c->einsums[t->producers[0]].repeat == DFL_NONE)
                return true;
        }
    return false;
}

/* The einsum that starts the part of the backward pass before which recomputed einsums outside of repeats run: the first part
   outside of repeats or that reads what they make, else the first one; DFL_NONE = there is none. */
static uint32_t start_outside(const chips *c)
{
    uint32_t first = DFL_NONE;

    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        if (c->w->einsums[e].phase == DFL_PHASE_BACKWARD) {
            if (c->einsums[e].repeat == DFL_NONE || needs_outside(c, c->einsums[e].repeat))
                return e;
            first = first == DFL_NONE ? e : first;
        }
    return first;
}

/* Runs the einsums of a phase in one micro-batch. */
static void run_phase(chips *c, dfl_phase phase, int64_t micro_batch)
{
    const dfl_workload *w = c->w;
    const uint32_t outside = phase == DFL_PHASE_BACKWARD ? start_outside(c) : DFL_NONE;

    c->copies.n = 0;
    for (uint32_t e = 0, end; e < w->n_einsums && !c->failed; e = end) {
        const uint32_t repeat = phase == DFL_PHASE_UPDATE ? DFL_NONE : c->einsums[e].repeat;
        const int64_t n = repeat != DFL_NONE ? w->ranks[repeat].extent : 1;

        end = e + 1;
        if (w->einsums[e].phase != phase)
            continue;
        while (phase != DFL_PHASE_UPDATE && end < w->n_einsums && w->einsums[end].phase == phase &&
               c->einsums[end].repeat == repeat)
            end++;
        if (e == outside)
            run_again(c, DFL_NONE, micro_batch, -1);
        for (int64_t i = 0; i < n && !c->failed; i++) {
            const int64_t layer = repeat == DFL_NONE ? -1 : phase == DFL_PHASE_BACKWARD ? n - 1 - i : i;

            if (i > 0 && repeat == c->stage_rank)
                send(c, phase, phase == DFL_PHASE_BACKWARD ? layer + 1 : layer - 1, layer);
            if (repeat != DFL_NONE && phase == DFL_PHASE_BACKWARD)
                run_again(c, repeat, micro_batch, layer);
            for (uint32_t k = e; k < end && !c->failed; k++)
                run_einsum(c, k, micro_batch, layer, false);
        }
    }
}

/* Places what is there before the step in its homes. */
static void place_given(chips *c)
{
    dfl_chips_start_work(c);
    for (uint32_t t = 0; t < c->w->n_tensors; t++) {
        bool is_given = dfl_chips_holder(c, t) == t;

        for (uint32_t e = 0; e < c->w->n_einsums; e++)
            is_given &= c->einsums[e].target != t || c->w->einsums[e].phase == DFL_PHASE_UPDATE || dfl_chips_is_state(c, t);
        for (uint32_t chip = 0; chip < c->n_chips && is_given; chip++) {
            const element_set of_stage = dfl_chips_of_stage(c, t, chips_stage(c, chip));

            for (uint32_t i = 0; i < c->tensors[t].n_elem && of_stage != NULL; i++) {
                c->tensors[t].has[chip][i] = c->tensors[t].home[chip][i] & of_stage[i];
                c->tensors[t].value[chip][i] = dfl_chips_given(c, t, i);
            }
        }
    }
    for (uint32_t e = 0; e < c->w->n_einsums; e++) {
        c->einsums[e].parts = DFL_NEW_ARRAY(c->arena, uint32_t *, c->n_chips);
        c->einsums[e].touched = DFL_NEW_ARRAY(c->arena, element_set, c->n_chips);
        c->einsums[e].latest = DFL_NEW_ARRAY(c->arena, element_set, c->n_chips);
        c->einsums[e].outgoing = DFL_NEW_ARRAY(c->arena, element_set, c->n_chips);
        for (uint32_t chip = 0; chip < c->n_chips; chip++)
            c->einsums[e].touched[chip] = DFL_NEW_ARRAY(c->arena, uint8_t, (size_t)c->tensors[c->einsums[e].target].n_elem + 1);
    }
}

static void compare_tensor(chips *c, uint32_t tensor)
{
    for (uint32_t chip = 0; chip < c->n_chips; chip++)
        for (uint32_t i = 0; i < c->tensors[tensor].n_elem; i++) {
            if (c->tensors[tensor].has[chip][i] == 0)
                continue;
            c->out->n_values++;
            if (c->tensors[tensor].value[chip][i] != c->tensors[tensor].alone[i] && c->out->wrong++ == 0)
                c->out->wrong_tensor = tensor;
        }
}

/* Compares all values on all chips with those of one chip, in the order in which they are made. */
static void compare_values(chips *c)
{
    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        if (c->tensors[c->einsums[e].target].last_producer == e)
            compare_tensor(c, c->einsums[e].target);
}

void dfl_chips_run_step(chips *c)
{
    place_given(c);
    for (int64_t m = 0; m < c->micro_batches; m++)
        run_phase(c, DFL_PHASE_FORWARD, m);
    for (int64_t m = 0; m < c->micro_batches; m++)
        run_phase(c, DFL_PHASE_BACKWARD, m);
    for (uint32_t t = 0; t < c->w->n_tensors && !c->failed; t++)
        if (dfl_chips_ends_late(c, t) && dfl_chips_holder(c, t) == t)
            settle(c, t, dfl_chips_is_passing(c, t, -1) ? dfl_chips_value_of(c, t, c->micro_batches - 1, -1, false) : DFL_NONE);
    run_phase(c, DFL_PHASE_UPDATE, 0);
    if (!c->failed)
        compare_values(c);
}

const dfl_chips_result *dfl_chips_run(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping)
{
    chips *c = DFL_NEW(arena, chips);

    c->arena = arena;
    c->sink = sink;
    c->names = names;
    c->mapping = mapping;
    c->w = mapping->workload;
    c->s = mapping->system;
    c->out = DFL_NEW(arena, dfl_chips_result);
    if (!dfl_chips_set_up(c))
        return NULL;
    dfl_chips_deal_rows(c);
    dfl_chips_run_alone(c);
    if (c->failed || !dfl_chips_find_sets(c))
        return NULL;
    dfl_chips_run_step(c);
    dfl_chips_find_held(c);
    dfl_chips_sum_work(c);
    dfl_chips_find_peaks(c);
    c->out->exchanges = c->exchanges.at;
    c->out->n_exchanges = (uint32_t)c->exchanges.n;
    c->out->n_stages = c->n_stages;
    c->out->n_chips = c->n_chips;
    return c->failed || !dfl_budget_ok(dfl_arena_budget(arena)) ? NULL : c->out;
}
