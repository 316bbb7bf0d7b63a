/* The report of a plan: its exchanges, links, groups and sums over the whole system. */
#include "plan/exchange/exchange_groups.h"
#include "plan/kinds.h"
#include "plan/rates.h"
#include "plan/pass/iterations.h"

#include <math.h>
#include <string.h>

#include "support/strbuf.h"
#include "support/vec.h"

typedef DFL_VEC(dfl_plan_collective) collective_vec;
typedef DFL_VEC(dfl_plan_link) link_vec;
typedef DFL_VEC(dfl_link_use) use_vec;

/* Names of the axes of a group: "node, gpu". */
static const char *axes_text(const dfl_frame *f, uint64_t slots)
{
    dfl_strbuf out;
    uint32_t previous = DFL_NONE;

    dfl_strbuf_init(&out, f->arena);
    for (uint32_t s = 0; s < f->n_slots; s++)
        if (slots >> s & 1 && f->slots[s].axis != previous) {
            dfl_strbuf_printf(&out, "%s%s", previous != DFL_NONE ? ", " : "",
                              dfl_sym_text(f->names, f->system->axes[f->slots[s].axis].name));
            previous = f->slots[s].axis;
        }
    return out.text;
}

/* How often a stage runs an exchange in a step in micro-batches of a kind; adds what of it is exposed. A step of the optimizer
   counts for kind 0, an exchange behind the last micro-batch for the kind of this one. */
static dfl_i128 count_exchange(const dfl_plan_state *p, uint32_t x, const dfl_plan_kind *kind, uint32_t stage, double *exposed)
{
    const bool once = p->exchanges.at[x].place == DFL_EXCHANGE_ONCE;
    const int64_t passes = !once ? kind->count : kind == dfl_plan_last_kind(p);
    const dfl_chunk_time *update = dfl_plan_update(p, stage);
    dfl_i128 n = 0;

    for (uint32_t c = 0; c < p->interleave; c++) {
        const dfl_chunk_time *passed[] = { kind->forward[c * p->stages + stage],
                                         kind->backward ? kind->backward[c * p->stages + stage] : NULL,
                                         kind->weights ? kind->weights[c * p->stages + stage] : NULL };

        for (uint32_t k = 0; k < 3; k++)
            if (passed[k] != NULL) {
                n += (dfl_i128)passed[k]->count[x] * passes;
                *exposed += passed[k]->exposed[x] * (double)kind->count;
            }
    }
    if (update != NULL && kind == p->kinds) {
        n += update->count[x];
        *exposed += update->exposed[x];
    }
    return n;
}

/* The exchange of an iteration; without iterations that differ, that of all. */
static const dfl_plan_exchange *exchange_in(const dfl_plan_kind *kind, uint32_t x, int64_t iteration)
{
    return &dfl_iteration_work(&kind->work, iteration)->exchanges->at[x];
}

/* Iterations that differ of an exchange; 1 if all are equal. */
static int64_t count_variants(const dfl_plan_state *p, uint32_t x)
{
    const uint32_t repeat = dfl_frame_repeat(&p->frame, &p->frame.workload->einsums[p->exchanges.at[x].einsum]);

    return p->work.of_iteration != NULL && repeat != DFL_NONE ? p->frame.workload->ranks[repeat].extent : 1;
}

/* Variant `i` of the `n` ones of an exchange. */
static const dfl_plan_exchange *variant_of(const dfl_plan_kind *kind, uint32_t x, int64_t n, int64_t i)
{
    return n > 1 ? exchange_in(kind, x, i) : &kind->work.exchanges->at[x];
}

/* Adds what the chips of a stage send over each network in `times` exchanges of so many bits. */
static void add_moved(const dfl_plan_state *p, const dfl_collective_cost *cost, dfl_i128 bits, double times)
{
    for (uint32_t i = 0; i < cost->n_shares; i++)
        p->moved[cost->shares[i].network] += cost->shares[i].share * dfl_i128_double(bits) * times;
}

/* The same for an exchange that stages run in micro-batches of a kind. In an exchange of neighbours, the chip at one end of the
   dimension sends nothing. */
static void add_moved_of_stages(const dfl_plan_state *p, uint32_t x, const dfl_plan_kind *kind)
{
    const int64_t n = count_variants(p, x), chips = dfl_exchange_ranks(&p->frame, p->exchanges.at[x].slots);
    double times = 0, exposed = 0;
    int64_t n_moved = 0;

    for (uint32_t s = 0; s < p->stages; s++)
        times += dfl_i128_double(count_exchange(p, x, kind, s, &exposed));
    if (p->exchanges.at[x].is_halo)
        times *= (double)(chips - 1) / (double)chips;
    for (int64_t i = 0; i < n; i++)
        n_moved += exchange_in(kind, x, i)->bits > 0;
    for (int64_t i = 0; i < n && n_moved > 0; i++) {
        const dfl_plan_exchange *of = variant_of(kind, x, n, i);

        add_moved(p, &of->cost, of->bits, times / (double)n_moved);
    }
}

/* Adds to a row the bits and the seconds of those `times` of its exchanges that run in micro-batches of a kind. False after a
   report. */
static bool record_variants(const dfl_plan_state *p, uint32_t x, const dfl_plan_kind *kind, dfl_i128 times,
                            dfl_plan_collective *row)
{
    const int64_t n = count_variants(p, x);
    const double share = dfl_i128_double(times) / dfl_i128_double(row->count);
    int64_t n_moved = 0;
    bool overflow = false;

    for (int64_t i = 0; i < n; i++)
        n_moved += exchange_in(kind, x, i)->bits > 0;
    for (int64_t i = 0; i < n && n_moved > 0; i++) {
        const dfl_plan_exchange *of = variant_of(kind, x, n, i);
        const dfl_i128 count = times / n_moved; /* each iteration runs as often as the others */
        dfl_i128 bits;

        if (of->bits == 0)
            continue;
        overflow |= dfl_mul(of->bits, count, &bits) || dfl_add(row->all_bits, bits, &row->all_bits);
        row->seconds += share * of->cost.seconds / (double)n_moved;
    }
    if (overflow)
        dfl_report(p->frame.sink, DFL_EVAL_OVERFLOW, p->frame.mapping->span, "the bits of the exchanges exceed 128 bits");
    return !overflow;
}

static bool record_exchanges(dfl_plan_state *p, collective_vec *rows)
{
    const dfl_frame *f = &p->frame;
    bool *is_once = DFL_NEW_ARRAY(f->arena, bool, (size_t)p->exchanges.n + 1); /* [row] */
    dfl_i128 *counts = DFL_NEW_ARRAY(f->arena, dfl_i128, p->n_kinds);
    double gradients = fmax(0, p->exchanged[p->out.last_stage] - p->pipeline.stages[p->out.last_stage].end), sum = 0;

    for (uint32_t x = 0; x < p->exchanges.n; x++) {
        const dfl_plan_exchange *e = &p->exchanges.at[x];
        dfl_plan_collective row = { .tensor = e->tensor, .einsum = e->einsum, .kind = dfl_collective_name(e->kind),
                                    .axes = e->is_tied ? "stages" : axes_text(f, e->slots), .group = dfl_exchange_group(f, e),
                                    .bits = e->bits, .part_bits = e->has_parts ? e->part_bits : -1,
                                    .algorithm = dfl_algorithm_name(e->cost.algorithm), .chunks = e->cost.chunks,
                                    .network = e->cost.network };

        for (uint32_t k = 0; k < p->n_kinds; k++) {
            counts[k] = count_exchange(p, x, &p->kinds[k], p->out.last_stage, &row.exposed_seconds);
            row.count += counts[k];
            add_moved_of_stages(p, x, &p->kinds[k]);
        }
        if (row.count == 0)
            continue;
        for (uint32_t k = 0; k < p->n_kinds; k++)
            if (counts[k] > 0 && !record_variants(p, x, &p->kinds[k], counts[k], &row))
                return false;
        sum += e->place == DFL_EXCHANGE_ONCE ? row.seconds * dfl_i128_double(row.count) : 0;
        is_once[rows->n] = e->place == DFL_EXCHANGE_ONCE;
        DFL_PUSH(f->arena, rows, row);
    }
    /* the tail of the gradients is exposed; each of them takes its share of it */
    for (size_t i = 0; i < rows->n && sum > 0; i++)
        if (is_once[i])
            rows->at[i].exposed_seconds += gradients * rows->at[i].seconds * dfl_i128_double(rows->at[i].count) / sum;
    return true;
}

/* Number of messages of one micro-batch that a stage sends and receives: [0] forward, [1] back. */
typedef struct { int64_t sent[2], received[2]; } stage_messages;

static stage_messages count_messages(const dfl_plan_state *p, uint32_t stage)
{
    stage_messages out = { { 0, 0 }, { 0, 0 } };

    for (uint32_t c = 0; c < p->interleave; c++) {
        const uint32_t chunk = c * p->stages + stage;
        const bool is_first = chunk == 0, is_last = chunk + 1 == p->stages * p->interleave;

        out.sent[0] += !is_last;
        out.received[0] += !is_first;
        out.sent[1] += p->kinds->backward != NULL && !is_first;
        out.received[1] += p->kinds->backward != NULL && !is_last;
    }
    return out;
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* Adds the messages between stages. */
static void record_messages(dfl_plan_state *p, collective_vec *rows)
{
    const dfl_frame *f = &p->frame;
    const dfl_slot *slot = f->stage_slot != DFL_NONE ? &f->slots[f->stage_slot] : NULL;
    dfl_plan_collective row = { .kind = dfl_collective_name(DFL_COLLECTIVE_POINT_TO_POINT), .group = 2, .chunks = 1,
                                .bits = p->kinds->message_bits, .network = p->kinds->message.network,
                                .algorithm = dfl_algorithm_name(p->kinds->message.algorithm) };
    const double all = ((double)p->stages * p->interleave - 1) * (p->kinds->backward != NULL ? 2 : 1); /* of a micro-batch */
    stage_messages of;
    int64_t hops, closing; /* of the row in a micro-batch: messages; those between the last stage and the first one */

    if (slot == NULL || p->stages == 1)
        return;
    for (uint32_t c = 0; c < f->workload->n_carries; c++)
        if (f->workload->carries[c].rank == slot->stage_rank && row.axes == NULL) {
            row.tensor = f->workload->carries[c].to;
            row.einsum = f->workload->tensors[row.tensor].producers[0];
            row.axes = dfl_sym_text(f->names, f->system->axes[slot->axis].name);
        }
    of = count_messages(p, p->out.last_stage);
    hops = larger(of.sent[0] + of.sent[1], of.received[0] + of.received[1]); /* it waits for those that it receives */
    closing = p->kinds->backward != NULL && (p->out.last_stage + 1) % p->stages <= 1 ? p->interleave - 1 : 0;
    row.count = (dfl_i128)hops * f->micro_batches;
    row.exposed_seconds = p->out.step[DFL_STEP_POINT_TO_POINT];
    for (uint32_t k = 0; k < p->n_kinds; k++) {
        const dfl_plan_kind *kind = &p->kinds[k];

        row.all_bits += kind->message_bits * (dfl_i128)hops * kind->count;
        row.seconds += ((double)(hops - closing) * kind->message.seconds + (double)closing * kind->closing.seconds) *
                       ((double)kind->count / (double)row.count);
        add_moved(p, &kind->message, kind->message_bits, all * (double)kind->count);
    }
    DFL_PUSH(f->arena, rows, row);
}

/* ---- links ---- */

/* Adds `count` times the use of a class of links to that of a stage. */
static void add_use(const dfl_plan_state *p, const dfl_link_use *use, dfl_i128 count, use_vec *uses)
{
    const double times = dfl_i128_double(count);
    size_t k = 0;

    if (count == 0)
        return;
    while (k < uses->n && (uses->at[k].network != use->network || uses->at[k].class != use->class))
        k++;
    if (k == uses->n)
        DFL_PUSH(p->frame.arena, uses, ((dfl_link_use){ .network = use->network, .class = use->class, .name = use->name }));
    uses->at[k].largest_bits += use->largest_bits * times;
    uses->at[k].seconds += use->seconds * times;
    uses->at[k].running += use->running * times;
}

/* Adds the links that exchanges of a stage use in micro-batches of a kind. */
static void add_exchanges(const dfl_plan_state *p, const dfl_plan_kind *kind, uint32_t stage, use_vec *uses)
{
    for (uint32_t x = 0; x < p->exchanges.n; x++) {
        const int64_t n = count_variants(p, x);
        double exposed = 0;
        const dfl_i128 times = count_exchange(p, x, kind, stage, &exposed);
        int64_t n_moved = 0;

        for (int64_t i = 0; i < n; i++)
            n_moved += exchange_in(kind, x, i)->bits > 0;
        for (int64_t i = 0; i < n && n_moved > 0; i++) {
            const dfl_plan_exchange *of = variant_of(kind, x, n, i);

            for (uint32_t k = 0; k < of->cost.n_links && of->bits > 0; k++)
                add_use(p, &of->cost.links[k], times / n_moved, uses);
        }
    }
}

/* Adds the links that the messages of each stage use in micro-batches of a kind, `uses`: [stage]. False after a report. */
static bool add_messages(const dfl_plan_state *p, const dfl_plan_kind *kind, use_vec *uses)
{
    const dfl_frame *f = &p->frame;
    const dfl_slot *slot = &f->slots[f->stage_slot];
    const int64_t closing = p->interleave - 1, back = kind->backward != NULL;
    const double next_seconds = kind->message.seconds, closing_seconds = kind->closing.seconds;
    const dfl_stage_messages messages = {
        .stages = { .axis = slot->axis, .stride = slot->stride, .count = slot->count },
        .element = f->system->memories[f->home].element, .bits = dfl_i128_double(kind->message_bits),
        .traffic = { .times = { [DFL_WAY_NEXT] = p->interleave, [DFL_WAY_CLOSING] = closing,
                                [DFL_WAY_NEXT_BACK] = back * p->interleave, [DFL_WAY_CLOSING_BACK] = back * closing },
                     .seconds = { [DFL_WAY_NEXT] = next_seconds, [DFL_WAY_CLOSING] = closing_seconds,
                                  [DFL_WAY_NEXT_BACK] = next_seconds, [DFL_WAY_CLOSING_BACK] = closing_seconds } },
    };
    dfl_stage_uses *links = DFL_NEW_ARRAY(f->arena, dfl_stage_uses, p->stages);

    if (kind->message_bits == 0)
        return true;
    if (!dfl_stage_links_find(f->arena, f->sink, f->names, f->system, slot->stages->span, &messages, links))
        return false;
    for (uint32_t s = 0; s < p->stages; s++)
        for (uint32_t k = 0; k < links[s].n_links; k++)
            add_use(p, &links[s].links[k], kind->count, &uses[s]);
    return true;
}

/* Keeps the busier use of links of one name: of two stages, or of the two directions. */
static void keep_use(const dfl_plan_state *p, const dfl_link_use *use, link_vec *out)
{
    const dfl_plan_link link = { .network = use->network, .name = use->name, .largest_bits = use->largest_bits,
                                 .busy_seconds = use->seconds, .load = use->running > 0 ? use->seconds / use->running : 0 };
    size_t k = 0;

    while (k < out->n && (out->at[k].network != link.network || strcmp(out->at[k].name, link.name) != 0))
        k++;
    if (k == out->n)
        DFL_PUSH(p->frame.arena, out, link);
    else if (link.largest_bits > out->at[k].largest_bits)
        out->at[k] = link;
}

/* Records the use of each class of links in the stage that has most bits on the busiest link of the class. False after a
   report. */
static bool record_links(dfl_plan_state *p)
{
    use_vec *uses = DFL_NEW_ARRAY(p->frame.arena, use_vec, p->stages);
    link_vec out = { 0 };

    for (uint32_t i = 0; i < p->stages * p->n_kinds; i++)
        add_exchanges(p, &p->kinds[i % p->n_kinds], i / p->n_kinds, &uses[i / p->n_kinds]);
    for (uint32_t k = 0; k < p->n_kinds && p->stages > 1; k++)
        if (!add_messages(p, &p->kinds[k], uses))
            return false;
    for (uint32_t i = 0; i < p->stages; i++) {
        const use_vec *of = &uses[(p->out.last_stage + i) % p->stages]; /* of equal stages, that which ends last */

        for (size_t k = 0; k < of->n; k++)
            keep_use(p, &of->at[k], &out);
    }
    p->out.links = out.at;
    p->out.n_links = (uint32_t)out.n;
    return true;
}

/* ---- groups of chips ---- */

static bool has_weight_with(const dfl_workload *w, uint32_t rank)
{
    for (uint32_t e = 0; e < w->n_einsums; e++)
        for (uint32_t i = 0; i < w->einsums[e].n_inputs; i++) {
            const dfl_access *a = &w->einsums[e].inputs[i];

            for (uint32_t d = 0; w->tensors[a->tensor].role == DFL_ROLE_WEIGHT && d < a->n_dims; d++)
                if (dfl_index_coef(&a->index[d], rank) != 0)
                    return true;
        }
    return false;
}

/* Whether temporal lines or other axes divide a rank into micro-batches. */
static bool has_passes(const dfl_frame *f, uint32_t rank)
{
    for (uint32_t i = 0; i < f->mapping->root->n_lines; i++)
        if (f->mapping->root->lines[i].kind == DFL_LINE_TEMPORAL && f->mapping->root->lines[i].rank == rank)
            return true;
    return false;
}

/* Whether the chips of a slot exchange something in a pass: data-parallel ones exchange sums behind the last pass alone. */
static bool exchanges_in_pass(const dfl_plan_state *p, uint32_t slot)
{
    for (uint32_t x = 0; x < p->exchanges.n; x++)
        if (p->exchanges.at[x].slots >> slot & 1 && p->exchanges.at[x].place != DFL_EXCHANGE_ONCE)
            return true;
    return false;
}

/* What a slot divides by lines: `n` ranks. */
typedef struct {
    uint32_t *ranks, n;
    bool has_weights;          /* einsums of the forward or backward pass divide a rank of weights */
    bool is_of_update;         /* only the optimizer uses it */
} slot_ranks;

static dfl_parallel kind_of(const dfl_plan_state *p, uint32_t slot, const slot_ranks *of)
{
    if (of->n == 0)
        return DFL_PARALLEL_DATA;
    if (of->is_of_update)
        return DFL_PARALLEL_OPTIMIZER;
    if (has_passes(&p->frame, of->ranks[0]))
        return DFL_PARALLEL_DATA;
    if (of->has_weights)
        return DFL_PARALLEL_TENSOR;
    return exchanges_in_pass(p, slot) ? DFL_PARALLEL_CONTEXT : DFL_PARALLEL_DATA;
}

/* Whether a slot divides experts: points of products go to its rows, or it divides nothing but rows. */
static bool has_experts(const dfl_frame *f, uint32_t slot)
{
    bool goes = false, divides = false;

    for (uint32_t e = 0; e < f->workload->n_einsums; e++) {
        if (dfl_frame_goes(f, e, slot) && f->workload->einsums[e].is_mac)
            return true;
        goes |= dfl_frame_goes(f, e, slot);
        divides |= dfl_frame_line(f, e, slot) != NULL && !dfl_frame_goes(f, e, slot);
    }
    return goes && !divides;
}

/* Adds a line of an einsum to what a slot divides, and the name of its rank to those of the part. */
static void add_line(const dfl_frame *f, uint32_t einsum, const dfl_line *line, slot_ranks *of, dfl_sym *names, uint32_t *n_names)
{
    const dfl_sym name = dfl_line_rank_name(f->workload, line);
    uint32_t k = 0;

    while (k < of->n && of->ranks[k] != line->rank)
        k++;
    if (k == of->n)
        of->ranks[of->n++] = line->rank;
    for (k = 0; k < *n_names && names[k] != name;)
        k++;
    if (k == *n_names)
        names[(*n_names)++] = name;
    if (f->workload->einsums[einsum].phase != DFL_PHASE_UPDATE) {
        of->is_of_update = false;
        of->has_weights |= has_weight_with(f->workload, line->rank);
    }
}

static void record_parts(dfl_plan_state *p)
{
    const dfl_frame *f = &p->frame;
    dfl_plan_part *parts = DFL_NEW_ARRAY(f->arena, dfl_plan_part, (size_t)f->n_slots + 1);

    for (uint32_t s = 0; s < f->n_slots; s++) {
        slot_ranks of = { .ranks = DFL_NEW_ARRAY(f->arena, uint32_t, f->workload->n_ranks), .is_of_update = true };
        dfl_sym *names = DFL_NEW_ARRAY(f->arena, dfl_sym, f->workload->n_ranks);
        uint32_t n_names = 0;

        for (uint32_t e = 0; e < f->workload->n_einsums; e++)
            if (dfl_frame_line(f, e, s) != NULL)
                add_line(f, e, dfl_frame_line(f, e, s), &of, names, &n_names);
        parts[s] = (dfl_plan_part){ .axis = f->slots[s].axis, .degree = f->slots[s].count, .stride = f->slots[s].stride,
                                    .ranks = names, .n_ranks = n_names };
        parts[s].kind = f->slots[s].stages != NULL ? DFL_PARALLEL_PIPELINE
                        : has_experts(f, s) ? DFL_PARALLEL_EXPERT : kind_of(p, s, &of);
    }
    p->out.parts = parts;
    p->out.n_parts = f->n_slots;
}

/* ---- work ---- */

/* Adds the work of `times` equal iterations of an einsum. True on overflow. */
static bool add_work(const dfl_plan_state *p, uint32_t einsum, const dfl_chip_time *t, dfl_i128 times, dfl_i128 *read,
                     dfl_plan_work_count *out)
{
    const dfl_workload *w = p->frame.workload;
    const dfl_einsum *e = &w->einsums[einsum];
    bool overflow = false;
    dfl_i128 n;

    for (uint32_t i = 0; i < e->n_inputs; i++)
        overflow |= dfl_mul(t->reads[i].bits / w->tensors[e->inputs[i].tensor].type.bits, times, &n) ||
                    dfl_add(read[i], n, &read[i]);
    overflow |= dfl_mul(t->written.bits / w->tensors[e->output.tensor].type.bits, times, &n) || dfl_add(out->made, n, &out->made);
    return overflow | (dfl_mul(t->points, times, &n) || dfl_add(out->points, n, &out->points));
}

/* Sums the work of an einsum over the iterations of its repeats. True on overflow. */
static bool sum_work(const dfl_plan_state *p, uint32_t einsum, dfl_plan_work_count *out)
{
    const dfl_frame *f = &p->frame;
    const dfl_einsum *e = &f->workload->einsums[einsum];
    dfl_i128 *read = DFL_NEW_ARRAY(f->arena, dfl_i128, (size_t)e->n_inputs + 1), n = 1;
    bool overflow = false;

    out->read = read;
    for (uint32_t i = 0; i < e->n_ranks && e->phase != DFL_PHASE_UPDATE; i++)
        if (f->repeats[e->ranks[i]])
            overflow |= dfl_mul(n, f->workload->ranks[e->ranks[i]].extent, &n);
    if (p->work.of_iteration == NULL || dfl_frame_repeat(f, e) == DFL_NONE)
        return overflow | add_work(p, einsum, &p->times[einsum], n, read, out);
    for (int64_t i = 0; i < n; i++)
        overflow |= add_work(p, einsum, &p->work.of_iteration[i].times[einsum], 1, read, out);
    return overflow;
}

/* Records the work of the chip with most in one micro-batch. False on overflow. */
static bool record_work(dfl_plan_state *p)
{
    const dfl_frame *f = &p->frame;
    dfl_plan_work_count *work = DFL_NEW_ARRAY(f->arena, dfl_plan_work_count, f->workload->n_einsums);
    bool overflow = false;

    for (uint32_t e = 0; e < f->workload->n_einsums; e++)
        overflow |= sum_work(p, e, &work[e]);
    p->out.work = work;
    if (overflow)
        dfl_report(f->sink, DFL_EVAL_OVERFLOW, f->mapping->span, "the work of this plan exceeds 128 bits");
    return !overflow;
}

bool dfl_plan_record(dfl_plan_state *p)
{
    const dfl_frame *f = &p->frame;
    collective_vec rows = { 0 };

    p->moved = DFL_NEW_ARRAY(f->arena, double, (size_t)f->system->n_networks + 1);
    if (!record_exchanges(p, &rows))
        return false;
    record_messages(p, &rows);
    if (!record_links(p))
        return false;
    p->out.collectives = rows.at;
    p->out.n_collectives = (uint32_t)rows.n;
    record_parts(p);
    if (!record_work(p))
        return false;
    p->out.chips = 1;
    for (uint32_t a = 0; a < f->system->n_axes; a++)
        if (dfl_frame_is_chip_axis(f, a) && __builtin_mul_overflow(p->out.chips, f->system->axes[a].size, &p->out.chips)) {
            dfl_report(f->sink, DFL_EVAL_OVERFLOW, f->system->span, "the chips of this system exceed 64 bits");
            return false;
        }
    p->out.branches = p->branches.n;
    p->out.chip = p->branches.n_found > 0 ? "search" : p->branches.has_braces ? "written" : "roofline";
    p->out.pipeline_axis = f->stage_slot != DFL_NONE ? f->slots[f->stage_slot].axis : DFL_NONE;
    p->out.interleave = p->interleave;
    p->out.micro_batches = f->micro_batches;
    dfl_plan_set_rates(p);
    return true;
}

/* ---- sums of the whole system ---- */

/* Chips that run an einsum, times the passes of each through micro-batches of a kind. A recomputed einsum runs as often again. */
static double count_runs(const dfl_plan_state *p, const dfl_plan_kind *kind, uint32_t einsum)
{
    const dfl_frame *f = &p->frame;
    const dfl_einsum *e = &f->workload->einsums[einsum];
    double runs = (double)p->out.chips / p->stages;
    bool is_update = e->phase == DFL_PHASE_UPDATE;

    for (uint32_t i = 0; i < e->n_ranks; i++)
        if (f->repeats[e->ranks[i]] && !is_update)
            runs *= (double)f->workload->ranks[e->ranks[i]].extent;
    if (is_update && dfl_frame_side(f, einsum) == 0)
        runs *= p->stages;
    if (dfl_frame_side(f, einsum) == DFL_SIDE_BOTH)
        runs *= 2;
    return runs * dfl_plan_passes(p, kind, einsum);
}

/* Adds the energy of the transfers of a chunk to and from memories outside of the chips, which all stages run `times` times. */
static void add_transfers(const dfl_plan_state *p, const dfl_chunk_time *chunk, double times, dfl_memory_cost *memories)
{
    const dfl_system *s = p->frame.system;
    dfl_i128 instances;
    double times_all;

    for (uint32_t m = 0; m < s->n_memories && chunk != NULL && chunk->moved != NULL; m++) {
        if (dfl_element_instances(s, s->memories[m].element, &instances))
            continue;
        times_all = times * dfl_i128_double(instances) / p->stages;
        memories[m].read_joules += chunk->moved[2 * m] * times_all * s->memories[m].read_energy;
        memories[m].write_joules += chunk->moved[2 * m + 1] * times_all * s->memories[m].write_energy;
    }
}

/* Adds the energy of every component. */
static void add_energies(const dfl_plan_state *p, dfl_result *r, dfl_memory_cost *memories)
{
    const dfl_frame *f = &p->frame;
    const dfl_system *s = f->system;

    for (uint32_t i = 0; i < p->n_kinds * f->workload->n_einsums; i++) {
        const dfl_plan_kind *kind = &p->kinds[i / f->workload->n_einsums];
        const uint32_t e = i % f->workload->n_einsums;
        const dfl_chip_time *t = &kind->work.times[e];
        dfl_memory_cost *m = &memories[f->home];
        double runs = count_runs(p, kind, e), again = dfl_frame_is_again(f, e) ? runs : 0;

        r->compute_joules[t->compute] += (runs + again) * t->mean_points *
                                         dfl_point_joules(f->workload, &f->workload->einsums[e], &s->computes[t->compute]);
        m->read_joules += (runs * t->mean_read_bits + again * kind->work.again[e].mean_read_bits) *
                          s->memories[f->home].read_energy;
        m->write_joules += (runs * t->mean_written_bits + again * kind->work.again[e].mean_written_bits) *
                           s->memories[f->home].write_energy;
    }
    for (uint32_t i = 0; i < p->n_kinds * p->stages * p->interleave; i++) {
        const dfl_plan_kind *kind = &p->kinds[i / (p->stages * p->interleave)];
        const uint32_t k = i % (p->stages * p->interleave);

        add_transfers(p, kind->forward[k], (double)kind->count, memories);
        add_transfers(p, kind->backward != NULL ? kind->backward[k] : NULL, (double)kind->count, memories);
    }
    for (uint32_t k = 0; k < p->stages; k++)
        add_transfers(p, dfl_plan_update(p, k), 1, memories);
    for (uint32_t n = 0; n < s->n_networks; n++)
        r->network_joules[n] = p->moved[n] * (double)p->out.chips / p->stages * s->networks[n].energy;
    r->leakage_joules = dfl_system_leakage(s) * r->seconds;
    r->joules = r->leakage_joules;
    for (uint32_t c = 0; c < s->n_computes; c++)
        r->joules += r->compute_joules[c];
    for (uint32_t m = 0; m < s->n_memories; m++)
        r->joules += memories[m].read_joules + memories[m].write_joules; /* no result leaves the home: it drains nothing */
    for (uint32_t n = 0; n < s->n_networks; n++)
        r->joules += r->network_joules[n];
}

/* The largest exposed part of the step names what bounds it. */
static const char *find_bound(const dfl_plan_state *p)
{
    uint32_t best = 0;

    for (uint32_t k = 1; k < DFL_N_STEP_PARTS; k++)
        best = p->out.step[k] > p->out.step[best] ? k : best;
    return dfl_step_part_name((dfl_step_part)best);
}

static void cost_einsum(const dfl_plan_state *p, uint32_t einsum, dfl_einsum_cost *cost)
{
    const dfl_frame *f = &p->frame;
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const dfl_chip_time *t = &p->times[einsum];
    const bool is_again = dfl_frame_is_again(f, einsum);
    dfl_i128 work = 0, flops = 0;

    (void)dfl_einsum_work(f->workload, e, &work);
    (void)dfl_einsum_point_flops(f->workload, e, &flops);
    cost->compute = t->compute;
    cost->macs = e->is_mac ? work : 0;
    if (!e->is_mac)
        (void)dfl_mul(work, flops, &cost->flops);
    cost->points = work;
    for (uint32_t k = 0; k < p->n_kinds; k++) {
        const dfl_chip_time *of = &p->kinds[k].work.times[einsum], *again = &p->kinds[k].work.again[einsum];
        const double runs = count_runs(p, &p->kinds[k], einsum);
        double passes = runs / ((double)p->out.chips / p->stages);

        if (dfl_frame_side(f, einsum) == 0)
            passes /= p->stages;
        cost->seconds += of->seconds * passes + (is_again ? again->seconds * passes : 0);
        cost->compute_seconds += of->operation_seconds * passes + (is_again ? again->operation_seconds * passes : 0);
        cost->joules += (is_again ? 2 : 1) * runs * of->mean_points *
                        dfl_point_joules(f->workload, e, &f->system->computes[t->compute]);
    }
    cost->bound_by = t->slowest_memory != DFL_NONE && t->memory_seconds > t->operation_seconds
                         ? dfl_sym_text(f->names, f->system->memories[t->slowest_memory].name)
                         : dfl_sym_text(f->names, f->system->computes[t->compute].name);
}

const dfl_result *dfl_plan_result_of(dfl_plan_state *p)
{
    const dfl_frame *f = &p->frame;
    const dfl_system *s = f->system;
    dfl_result *r = DFL_NEW(f->arena, dfl_result);
    dfl_einsum_cost *einsums = DFL_NEW_ARRAY(f->arena, dfl_einsum_cost, f->workload->n_einsums);
    dfl_memory_cost *memories = DFL_NEW_ARRAY(f->arena, dfl_memory_cost, (size_t)s->n_memories + 1);
    dfl_network_cost *networks = DFL_NEW_ARRAY(f->arena, dfl_network_cost, (size_t)s->n_networks + 1);
    bool overflow = false;

    r->mapping = f->mapping;
    r->seconds = dfl_plan_latency(p);
    r->compute_joules = DFL_NEW_ARRAY(f->arena, double, (size_t)s->n_computes + 1);
    r->network_joules = DFL_NEW_ARRAY(f->arena, double, (size_t)s->n_networks + 1);
    for (uint32_t e = 0; e < f->workload->n_einsums; e++) {
        cost_einsum(p, e, &einsums[e]);
        overflow |= dfl_add(r->macs, einsums[e].macs, &r->macs);
        overflow |= dfl_add(r->flops, einsums[e].flops, &r->flops);
    }
    for (uint32_t m = 0; m < s->n_memories; m++) {
        memories[m].memory = m;
        overflow |= dfl_element_instances(s, s->memories[m].element, &memories[m].instances);
        for (uint32_t k = 0; k < p->stages; k++)
            if (p->out.stages[k].memories[m].peak_bits > memories[m].peak_bits)
                memories[m].peak_bits = p->out.stages[k].memories[m].peak_bits;
        memories[m].peak_at = f->mapping->span;
    }
    for (uint32_t n = 0; n < s->n_networks; n++)
        networks[n].network = n;
    for (uint32_t i = 0; i < p->out.n_collectives; i++)
        networks[p->out.collectives[i].network].seconds +=
            p->out.collectives[i].seconds * dfl_i128_double(p->out.collectives[i].count);
    if (overflow) {
        dfl_report(f->sink, DFL_EVAL_OVERFLOW, f->mapping->span, "the operations of this plan exceed 128 bits");
        return NULL;
    }
    add_energies(p, r, memories);
    r->watts = r->seconds > 0 ? r->joules / r->seconds : 0;
    r->area = dfl_system_area(s);
    r->utilization = p->out.hardware_utilization;
    r->bound_by = find_bound(p);
    r->einsums = einsums;
    r->memories = memories;
    r->networks = networks;
    r->links = DFL_NEW_ARRAY(f->arena, dfl_link_cost, (size_t)s->n_axes + 1);
    r->plan = &p->out;
    return r;
}
