#include "prove/chips.h"

#include <string.h>

#include "oracle/chips/chips.h"
#include "plan/plan.h"
#include "prove/attempt.h"
#include "prove/chips_shrink.h"
#include "support/limits.h"

typedef struct {
    const dfl_prover *prover;
    dfl_arena *arena;
    const dfl_mapping *written, *executed;
    const dfl_plan_result *model;
    const dfl_chips_result *oracle;
    uint64_t compared, differing;
} plan_proof;

static void compare(plan_proof *p, const char *count, dfl_i128 model, dfl_i128 oracle)
{
    char left[41], right[41];
    dfl_diag *d;

    p->compared++;
    if (model == oracle || p->differing++ >= DFL_PROVE_REPORTS)
        return;
    dfl_i128_text(model, left);
    dfl_i128_text(oracle, right);
    d = dfl_report(p->prover->sink, DFL_PROVE_DIFFERS, p->written->span, "%s: %s by the model, %s by execution", count, left,
                   right);
    dfl_diag_help(p->prover->sink, d, "this is a defect of dflc: please report the file and the sizes");
}

static const char *tensor_text(const plan_proof *p, uint32_t tensor)
{
    return dfl_tensor_label(p->prover->names, &p->executed->workload->tensors[tensor]);
}
static const char *einsum_text(const plan_proof *p, uint32_t einsum)
{
    return dfl_einsum_label(p->prover->names, &p->executed->workload->einsums[einsum]);
}

/* ---- exchanges ---- */

static bool is_row_of(const dfl_plan_collective *row, const dfl_chips_exchange *x)
{
    return row->tensor == x->tensor && row->einsum == x->einsum && row->group == x->group && strcmp(row->kind, x->kind) == 0;
}

/* The number, the largest bits and the bits of all of the rows of an exchange, and its largest `part` (-1 = equal ones): a sum
   over stages has a row of its own. */
static dfl_i128 find_rows(const plan_proof *p, const dfl_chips_exchange *x, dfl_i128 *bits, dfl_i128 *all, dfl_i128 *part)
{
    dfl_i128 n = 0;

    *bits = *all = 0;
    *part = -1;
    for (uint32_t i = 0; i < p->model->n_collectives; i++) {
        const dfl_plan_collective *row = &p->model->collectives[i];

        if (!is_row_of(row, x))
            continue;
        n += row->count;
        *all += row->all_bits;
        *bits = row->bits > *bits ? row->bits : *bits;
        *part = row->part_bits > *part ? row->part_bits : *part;
    }
    return n;
}

static bool has_exchange(const plan_proof *p, const dfl_plan_collective *row)
{
    for (uint32_t i = 0; i < p->oracle->n_exchanges; i++) {
        const dfl_chips_exchange *x = &p->oracle->exchanges[i];

        if (is_row_of(row, x) && x->count[p->model->last_stage] > 0)
            return true;
    }
    return false;
}

/* ---- neighbours ---- */

static bool is_of_einsum(const dfl_chips_exchange *x, uint32_t tensor, uint32_t einsum)
{
    return x->side != 0 && x->tensor == tensor && x->einsum == einsum;
}

/* Whether chips get elements of a tensor from neighbours for an einsum, by execution. */
static bool has_neighbours(const plan_proof *p, uint32_t tensor, uint32_t einsum)
{
    for (uint32_t i = 0; i < p->oracle->n_exchanges; i++)
        if (is_of_einsum(&p->oracle->exchanges[i], tensor, einsum))
            return true;
    return false;
}

/* Compares how many messages of `bits` come from neighbours. */
static void compare_neighbours(plan_proof *p, uint32_t tensor, uint32_t einsum, dfl_i128 bits)
{
    dfl_i128 by_model = 0, executed = 0;
    char text[41];

    for (uint32_t i = 0; i < p->oracle->n_exchanges; i++)
        if (is_of_einsum(&p->oracle->exchanges[i], tensor, einsum) && p->oracle->exchanges[i].bits == bits)
            executed += p->oracle->exchanges[i].count[p->model->last_stage];
    for (uint32_t i = 0; i < p->model->n_collectives; i++) {
        const dfl_plan_collective *row = &p->model->collectives[i];

        if (row->tensor == tensor && row->einsum == einsum && row->bits == bits && strcmp(row->kind, "point_to_point") == 0)
            by_model += row->count;
    }
    dfl_i128_text(bits, text);
    compare(p, dfl_arena_printf(p->arena, "messages of %s bits of `%s` from neighbours at `%s`", text, tensor_text(p, tensor),
                                einsum_text(p, einsum)), by_model, executed);
}

static void compare_all_neighbours(plan_proof *p)
{
    for (uint32_t i = 0; i < p->oracle->n_exchanges; i++) {
        const dfl_chips_exchange *x = &p->oracle->exchanges[i];

        if (x->side != 0 && x->count[p->model->last_stage] > 0)
            compare_neighbours(p, x->tensor, x->einsum, x->bits);
    }
    for (uint32_t i = 0; i < p->model->n_collectives; i++) {
        const dfl_plan_collective *row = &p->model->collectives[i];

        if (strcmp(row->kind, "point_to_point") == 0 && has_neighbours(p, row->tensor, row->einsum))
            compare_neighbours(p, row->tensor, row->einsum, row->bits);
    }
}

/* ---- messages between stages ---- */

static bool is_message(const plan_proof *p, const dfl_plan_collective *row)
{
    return strcmp(row->kind, "point_to_point") == 0 && !has_neighbours(p, row->tensor, row->einsum);
}

/* Messages that a stage sends; of a stage that sends none, those that it receives. The tensors of the two directions share a
   row. */
static void compare_messages(plan_proof *p)
{
    dfl_i128 sent = 0, received = 0, all = 0;

    for (uint32_t i = 0; i < p->oracle->n_exchanges; i++) {
        const dfl_chips_exchange *x = &p->oracle->exchanges[i];

        if (strcmp(x->kind, "point_to_point") != 0 || x->side != 0)
            continue;
        sent += x->count[p->model->last_stage];
        received += x->received[p->model->last_stage];
        for (uint32_t k = 0; k < p->model->n_collectives; k++)
            if (is_message(p, &p->model->collectives[k]))
                compare(p, dfl_arena_printf(p->arena, "bits of a message with `%s`", tensor_text(p, x->tensor)),
                        p->model->collectives[k].bits, x->bits);
    }
    for (uint32_t k = 0; k < p->model->n_collectives; k++)
        if (is_message(p, &p->model->collectives[k]))
            all += p->model->collectives[k].count;
    compare(p, "messages of the last stage", all, sent > received ? sent : received);
}

static void compare_exchanges(plan_proof *p)
{
    const uint32_t last = p->model->last_stage;

    for (uint32_t i = 0; i < p->oracle->n_exchanges; i++) {
        const dfl_chips_exchange *x = &p->oracle->exchanges[i];
        dfl_i128 bits, all, part;
        const dfl_i128 count = find_rows(p, x, &bits, &all, &part);
        const char *what = dfl_arena_printf(p->arena, "%s of `%s` at `%s` among %lld", x->kind, tensor_text(p, x->tensor),
                                            einsum_text(p, x->einsum), (long long)x->group);

        if (strcmp(x->kind, "point_to_point") == 0 || x->count[last] == 0)
            continue;
        compare(p, dfl_arena_printf(p->arena, "number of %s", what), count, x->count[last]);
        if (count > 0)
            compare(p, dfl_arena_printf(p->arena, "bits of %s", what), bits, x->bits);
        if (count > 0 && p->model->n_stages == 1)
            compare(p, dfl_arena_printf(p->arena, "bits of all %s", what), all, x->all_bits);
        if (count > 0 && part >= 0 && x->part >= 0)
            compare(p, dfl_arena_printf(p->arena, "largest part of %s", what), part, x->part);
    }
    for (uint32_t i = 0; i < p->model->n_collectives; i++) {
        const dfl_plan_collective *row = &p->model->collectives[i];

        if (strcmp(row->kind, "point_to_point") != 0 && !has_exchange(p, row))
            compare(p, dfl_arena_printf(p->arena, "number of %s of `%s` at `%s` among %lld", row->kind,
                                        tensor_text(p, row->tensor), einsum_text(p, row->einsum), (long long)row->group),
                    row->count, 0);
    }
    compare_all_neighbours(p);
    compare_messages(p);
}

/* ---- work ---- */

/* Whether the points of an einsum and the elements that they touch are those of ranks and conditions alone: no data selects them,
   and no access under conditions is counted as a box. */
static bool is_counted(const dfl_workload *w, const dfl_einsum *e)
{
    for (uint32_t i = 0; i <= e->n_inputs; i++) {
        const dfl_access *a = i < e->n_inputs ? &e->inputs[i] : &e->output;

        if (w->tensors[a->tensor].gathered)
            return false;
        for (uint32_t d = 0; d < a->n_dims && e->n_where > 0; d++)
            if (a->index[d].n_terms > 1 || a->index[d].offset != 0)
                return false;
    }
    return e->over_rank == DFL_NONE && e->body->kind != DFL_EOP_GATHER && e->body->kind != DFL_EOP_SCATTER &&
           e->body->kind != DFL_EOP_CONST;
}

/* Compares what an einsum reads of the tensor of an input, by all of its accesses; an earlier access of it stands for all. */
static void compare_read(plan_proof *p, uint32_t einsum, uint32_t input)
{
    const dfl_einsum *e = &p->executed->workload->einsums[einsum];
    const uint32_t tensor = e->inputs[input].tensor;
    dfl_i128 model = 0, oracle = 0;

    for (uint32_t i = 0; i < e->n_inputs; i++) {
        if (e->inputs[i].tensor != tensor)
            continue;
        if (i < input)
            return;
        model += p->model->work[einsum].read[i];
        oracle += p->oracle->work[einsum].read[i];
    }
    compare(p, dfl_arena_printf(p->arena, "elements of `%s` that `%s` reads", tensor_text(p, tensor), einsum_text(p, einsum)),
            model, oracle);
}

static void compare_work(plan_proof *p)
{
    const dfl_workload *w = p->executed->workload;

    for (uint32_t e = 0; e < w->n_einsums; e++) {
        const dfl_plan_work_count *model = &p->model->work[e];
        const dfl_chips_work *oracle = &p->oracle->work[e];

        if (!is_counted(w, &w->einsums[e]))
            continue;
        compare(p, dfl_arena_printf(p->arena, "points of `%s`", einsum_text(p, e)), model->points, oracle->points);
        compare(p, dfl_arena_printf(p->arena, "elements that `%s` makes", einsum_text(p, e)), model->made, oracle->made);
        for (uint32_t i = 0; i < w->einsums[e].n_inputs; i++)
            compare_read(p, e, i);
    }
}

/* ---- memory and values ---- */

/* Whether a condition has the iteration of a repeat. */
static bool has_iterations(const dfl_workload *w)
{
    for (uint32_t e = 0; e < w->n_einsums; e++)
        for (uint32_t k = 0; k < w->einsums[e].n_where; k++)
            for (uint32_t t = 0; t < w->einsums[e].where[k].sum.n_terms; t++)
                for (uint32_t c = 0; c < w->n_carries; c++)
                    if (w->einsums[e].where[k].sum.terms[t].rank == w->carries[c].rank)
                        return true;
    return false;
}

/* Bits of a part. Where conditions have the iteration of a repeat, the buffers of an iteration are those of the largest one by
   the model: it is an upper bound of the working set. */
static void compare_held(plan_proof *p, const char *what, dfl_held part, dfl_i128 model, dfl_i128 oracle)
{
    const bool is_bound = part == DFL_HELD_WORKING && has_iterations(p->executed->workload);

    compare(p, what, model, is_bound && model > oracle ? model : oracle);
}

static void compare_memories(plan_proof *p)
{
    const dfl_system *s = p->executed->system;

    for (uint32_t m = 0; m < s->n_memories; m++)
        for (uint32_t stage = 0; stage < p->oracle->n_stages; stage++)
            for (dfl_held k = 0; k < DFL_N_HELD; k++)
                compare_held(p, dfl_arena_printf(p->arena, "bits of %s in `%s` on stage %lu", dfl_held_name(k),
                                            dfl_sym_text(p->prover->names, s->memories[m].name), (unsigned long)stage), k,
                        p->model->stages[stage].memories[m].held[k],
                        p->oracle->held[(m * p->oracle->n_stages + stage) * DFL_N_HELD + k]);
}

static void compare_values(plan_proof *p)
{
    const dfl_chips_result *o = p->oracle;

    compare(p, o->missing > 0 ? dfl_arena_printf(p->arena, "elements that no exchange brings, first `%s` at `%s`",
                                                 tensor_text(p, o->missing_tensor), einsum_text(p, o->missing_einsum))
                              : "elements that no exchange brings", 0, o->missing);
    compare(p, o->wrong > 0 ? dfl_arena_printf(p->arena, "wrong values, first of `%s`", tensor_text(p, o->wrong_tensor))
                            : "wrong values", 0, o->wrong);
}

/* ---- the proof ---- */

static void write_result(const plan_proof *p)
{
    const dfl_prover *prover = p->prover;
    int64_t *extents = DFL_NEW_ARRAY(p->arena, int64_t, (size_t)p->executed->workload->n_ranks + 1);

    for (uint32_t r = 0; r < p->executed->workload->n_ranks; r++)
        extents[r] = p->executed->workload->ranks[r].extent;
    dfl_strbuf_printf(prover->out, "  %llu chip%s; ", (unsigned long long)p->oracle->n_chips, p->oracle->n_chips == 1 ? "" : "s");
    dfl_attempt_write_sizes(prover, p->written->workload, extents);
    for (uint32_t i = 0; i < p->oracle->n_exchanges; i++) {
        const dfl_chips_exchange *x = &p->oracle->exchanges[i];
        char bits[41];

        dfl_i128_text(x->bits, bits);
        dfl_strbuf_printf(prover->out, "  %s of %s at %s among %lld: %s bits\n", x->kind, tensor_text(p, x->tensor),
                          einsum_text(p, x->einsum), (long long)x->group, bits);
    }
    dfl_strbuf_printf(prover->out, "  %llu counts and %llu values compared (exchanges, memory by part, "
                      "results of all chips): ", (unsigned long long)p->compared, (unsigned long long)p->oracle->n_values);
    if (p->differing > 0)
        dfl_strbuf_printf(prover->out, "%llu DIFFER\n", (unsigned long long)p->differing);
    else
        dfl_strbuf_z(prover->out, "all equal\n");
}

/* Makes one attempt. False if it needed too many steps or too much memory. */
static bool try_plan(const dfl_prover *prover, const dfl_mapping *mapping, const dfl_proof_sizes *sizes, int64_t least,
                     int64_t most)
{
    dfl_budget budget = dfl_attempt_budget(prover);
    dfl_arena *arena = dfl_arena_new(&budget);
    dfl_sink *sink = dfl_sink_new(arena, dfl_sink_sources(prover->sink));
    plan_proof p = { .prover = prover, .arena = arena, .written = mapping };
    bool is_done = true;
    const dfl_result *result;

    p.executed = dfl_chips_shrink(arena, sink, prover->names, mapping, sizes, least, most);
    result = p.executed != NULL ? dfl_plan_evaluate(arena, sink, prover->names, p.executed, NULL) : NULL;
    p.model = result != NULL ? result->plan : NULL;
    p.oracle = p.model != NULL ? dfl_chips_run(arena, sink, prover->names, p.executed) : NULL;
    if (p.oracle != NULL) {
        compare_exchanges(&p);
        compare_work(&p);
        compare_memories(&p);
        compare_values(&p);
        write_result(&p);
    } else if (budget.why == DFL_STOP_CANCELLED) {
        dfl_budget_stop(prover->budget, DFL_STOP_CANCELLED);
    } else if (budget.why == DFL_STOP_STEPS || budget.why == DFL_STOP_MEMORY) {
        is_done = false;
    } else {
        dfl_attempt_pass_on_errors(prover, sink);
        dfl_strbuf_z(prover->out, "  not proven: see the diagnostics\n");
    }
    dfl_arena_free(arena);
    return is_done;
}

void dfl_prove_chips(const dfl_prover *prover, const dfl_mapping *mapping)
{
    const dfl_workload *w = mapping->workload;
    static const struct { int64_t least, most; } tries[] = { { 4, 2 }, { 3, 2 }, { 1, 2 }, { 1, 1 } };
    dfl_proof_sizes sizes;

    if (dfl_plan_is_open(mapping)) {
        dfl_strbuf_printf(prover->out, "%s: not executed, because it has holes: fill them with `dflc map -w`\n",
                          dfl_sym_text(prover->names, mapping->name));
        return;
    }
    sizes = dfl_proof_sizes_make(prover->arena, prover->names, mapping, prover->sizes, prover->n_sizes, prover->used);
    dfl_strbuf_printf(prover->out, "%s: %s on %s\n", dfl_sym_text(prover->names, mapping->name),
                      dfl_sym_text(prover->names, w->name), dfl_sym_text(prover->names, mapping->system->name));
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++)
        if (try_plan(prover, mapping, &sizes, tries[i].least, tries[i].most) || prover->budget->why == DFL_STOP_CANCELLED)
            return;
    dfl_diag_help(prover->sink, dfl_report(prover->sink, DFL_LIMIT_STEPS, mapping->span, "`%s` cannot be made small enough to "
                                           "execute", dfl_sym_text(prover->names, mapping->name)),
                  "name smaller sizes: `--size r=4`");
}
