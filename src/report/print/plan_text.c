/*
 * The part of the text report that only plans over chips have. Exchanges of equal size on the same axes are one row. Stages
 * between the first and the last that hold the same are one row.
 */
#include <string.h>

#include "ir/plan_result.h"
#include "report/figures.h"
#include "report/print/print.h"
#include "report/readable.h"
#include "report/table.h"
#include "support/number.h"
#include "support/vec.h"

enum { EXCHANGES = 12 }; /* rows of the table of exchanges */

typedef struct {
    dfl_strbuf *out;
    const dfl_intern *names;
    const dfl_mapping *mapping;
    const dfl_result *result;
    const dfl_plan_result *plan;
} context;

static const char *text_of(const context *c, dfl_sym sym) { return dfl_sym_text(c->names, sym); }

static void add_seconds(dfl_table *table, double seconds)
{
    char text[DFL_UNIT_TEXT];

    dfl_human_quantity(seconds, dfl_measure_dim(DFL_MEASURE_TIME), text);
    dfl_table_cell(table, text);
}

static void add_bits(dfl_table *table, dfl_i128 bits)
{
    char text[DFL_UNIT_TEXT];

    dfl_human_bits(bits, text);
    dfl_table_cell(table, text);
}

static void add_share(dfl_table *table, double part, double whole)
{
    char text[DFL_UNIT_TEXT];

    dfl_human_share(part, whole, text);
    dfl_table_cell(table, text);
}

/* ---- groups, pipeline, rates ---- */

/* Prints the groups: "1024 chips: data 8 on node (b), tensor 8 on gpu (h, f)". */
static void print_groups(const context *c)
{
    const dfl_system *s = c->mapping->system;

    dfl_strbuf_printf(c->out, "  plan         %lld chips", (long long)c->plan->chips);
    for (uint32_t i = 0; i < c->plan->n_parts; i++) {
        const dfl_plan_part *part = &c->plan->parts[i];

        dfl_strbuf_printf(c->out, "%s %s %lld on %s", i == 0 ? ":" : ",", dfl_parallel_name(part->kind), (long long)part->degree,
                          text_of(c, s->axes[part->axis].name));
        for (uint32_t r = 0; r < part->n_ranks; r++)
            dfl_strbuf_printf(c->out, "%s%s", r == 0 ? " (" : ", ", text_of(c, part->ranks[r]));
        dfl_strbuf_z(c->out, part->n_ranks > 0 ? ")" : "");
    }
    dfl_strbuf_char(c->out, '\n');
}

static void print_pipeline(const context *c)
{
    char bubble[DFL_UNIT_TEXT], share[DFL_UNIT_TEXT];

    if (c->plan->n_stages == 1 && c->plan->micro_batches == 1)
        return;
    dfl_strbuf_z(c->out, "  pipeline     ");
    if (c->plan->n_stages > 1) {
        dfl_human_quantity(c->plan->bubble_seconds, dfl_measure_dim(DFL_MEASURE_TIME), bubble);
        dfl_human_share(c->plan->bubble_seconds, c->result->seconds, share);
        dfl_strbuf_printf(c->out, "%s, %lld stages, bubble %s, %s, ", dfl_schedule_name(c->plan->schedule),
                          (long long)c->plan->n_stages, bubble, share);
    }
    if (c->plan->interleave > 1)
        dfl_strbuf_printf(c->out, "%lld chunks in each, ", (long long)c->plan->interleave);
    dfl_strbuf_printf(c->out, "%lld micro-batches\n", (long long)c->plan->micro_batches);
}

static void print_rates(const context *c)
{
    char tokens[DFL_UNIT_TEXT], model[DFL_UNIT_TEXT], hardware[DFL_UNIT_TEXT], peak[DFL_UNIT_TEXT];

    dfl_human_share(c->plan->model_utilization, 1, model);
    dfl_human_share(c->plan->hardware_utilization, 1, hardware);
    if (!(c->plan->tokens_per_second > 0) && !(c->plan->peak_flops > 0))
        return;
    dfl_strbuf_z(c->out, "  rate         ");
    if (c->plan->tokens_per_second > 0) {
        dfl_human(c->plan->tokens_per_second, "token/s", tokens);
        dfl_strbuf_printf(c->out, "%s%s", tokens, c->plan->peak_flops > 0 ? ", " : "");
    }
    if (c->plan->peak_flops > 0) {
        dfl_human(c->plan->peak_flops, "FLOP/s", peak);
        dfl_strbuf_printf(c->out, "%s of %s a chip", model, peak);
    }
    if (c->plan->hardware_utilization > c->plan->model_utilization)
        dfl_strbuf_printf(c->out, ", %s with recomputed work", hardware);
    dfl_strbuf_char(c->out, '\n');
}

static void print_step(const context *c)
{
    dfl_table table;

    dfl_table_init(&table, c->out->arena, 3, 1, 3);
    dfl_table_row_start(&table);
    dfl_table_cell(&table, "part of the step");
    dfl_table_cell(&table, "exposed");
    dfl_table_cell(&table, "share");
    for (uint32_t k = 0; k < DFL_N_STEP_PARTS; k++) {
        if (c->plan->step[k] == 0)
            continue;
        dfl_table_row_start(&table);
        dfl_table_cell(&table, dfl_step_part_name((dfl_step_part)k));
        add_seconds(&table, c->plan->step[k]);
        add_share(&table, c->plan->step[k], c->result->seconds);
    }
    dfl_strbuf_char(c->out, '\n');
    dfl_table_print(&table, c->out, 2);
}

/* ---- exchanges ---- */

/* Exchanges of the same kind and size on the same axes. */
typedef struct {
    const dfl_plan_collective *first;
    uint32_t tensors;      /* exchanges that the row stands for */
    dfl_i128 count;
    double exposed_seconds;
} exchange_row;
typedef DFL_VEC(exchange_row) row_vec;

static bool is_alike(const dfl_plan_collective *a, const dfl_plan_collective *b)
{
    return a->bits == b->bits && a->group == b->group && a->network == b->network && strcmp(a->kind, b->kind) == 0 &&
           strcmp(a->axes, b->axes) == 0 && a->seconds == b->seconds;
}

static double busy(const exchange_row *row) { return row->first->seconds * dfl_i128_double(row->count); }

/* The rows, those that take the most time first; equal ones stay in workload order. */
static void collect_rows(const context *c, row_vec *rows)
{
    for (uint32_t i = 0; i < c->plan->n_collectives; i++) {
        const dfl_plan_collective *x = &c->plan->collectives[i];
        size_t k = 0;

        while (k < rows->n && !is_alike(rows->at[k].first, x))
            k++;
        if (k == rows->n)
            DFL_PUSH(c->out->arena, rows, ((exchange_row){ .first = x }));
        rows->at[k].tensors++;
        rows->at[k].count += x->count;
        rows->at[k].exposed_seconds += x->exposed_seconds;
    }
    for (size_t i = 1; i < rows->n; i++) {
        exchange_row row = rows->at[i];
        size_t k = i;

        for (; k > 0 && busy(&rows->at[k - 1]) < busy(&row); k--)
            rows->at[k] = rows->at[k - 1];
        rows->at[k] = row;
    }
}

static void add_exchange(const context *c, const exchange_row *row, dfl_table *table)
{
    const dfl_plan_collective *x = row->first;
    dfl_strbuf what;

    dfl_strbuf_init(&what, c->out->arena);
    dfl_strbuf_z(&what, text_of(c, c->mapping->workload->tensors[x->tensor].name));
    if (row->tensors > 1)
        dfl_strbuf_printf(&what, " and %lu more", (unsigned long)row->tensors - 1);
    dfl_table_row_start(table);
    dfl_table_cell(table, x->kind);
    dfl_table_cell(table, what.text);
    dfl_table_cell(table, x->axes);
    dfl_table_cell(table, x->algorithm);
    dfl_table_count(table, x->group);
    add_bits(table, x->bits);
    dfl_table_count(table, row->count);
    add_seconds(table, x->seconds);
    add_seconds(table, busy(row));
    add_seconds(table, row->exposed_seconds);
}

static void print_exchanges(const context *c)
{
    static const char *const heads[] = { "exchange", "tensor", "axes", "algorithm", "group", "data", "count", "each", "all",
                                         "exposed" };
    enum { COLUMNS = sizeof heads / sizeof heads[0], NAMES = 4 };
    row_vec rows = { 0 };
    dfl_table table;

    collect_rows(c, &rows);
    if (rows.n == 0)
        return;
    dfl_table_init(&table, c->out->arena, COLUMNS, NAMES, COLUMNS);
    dfl_table_row_start(&table);
    for (uint32_t i = 0; i < COLUMNS; i++)
        dfl_table_cell(&table, heads[i]);
    for (size_t i = 0; i < rows.n && i < EXCHANGES; i++)
        add_exchange(c, &rows.at[i], &table);
    dfl_strbuf_char(c->out, '\n');
    dfl_table_print(&table, c->out, 2);
    if (rows.n > EXCHANGES)
        dfl_strbuf_printf(c->out, "  and %lu smaller kinds of exchanges; --format json has all\n",
                          (unsigned long)(rows.n - EXCHANGES));
}

static void print_links(const context *c)
{
    dfl_table table;

    if (c->plan->n_links == 0)
        return;
    dfl_table_init(&table, c->out->arena, 5, 2, 5);
    dfl_table_row_start(&table);
    dfl_table_cell(&table, "network");
    dfl_table_cell(&table, "link");
    dfl_table_cell(&table, "busiest carries");
    dfl_table_cell(&table, "busy");
    dfl_table_cell(&table, "load");
    for (uint32_t i = 0; i < c->plan->n_links; i++) {
        const dfl_plan_link *link = &c->plan->links[i];
        char text[DFL_UNIT_TEXT];

        dfl_table_row_start(&table);
        dfl_table_cell(&table, text_of(c, c->mapping->system->networks[link->network].name));
        dfl_table_cell(&table, link->name);
        dfl_human(link->largest_bits / 8, "B", text);
        dfl_table_cell(&table, text);
        add_seconds(&table, link->busy_seconds);
        add_share(&table, link->load, 1);
    }
    dfl_strbuf_char(c->out, '\n');
    dfl_table_print(&table, c->out, 2);
}

/* ---- stages ---- */

static bool equal_stages(const context *c, uint32_t a, uint32_t b)
{
    const dfl_plan_stage *x = &c->plan->stages[a], *y = &c->plan->stages[b];

    return x->layers == y->layers && x->forward_seconds == y->forward_seconds && x->backward_seconds == y->backward_seconds;
}

/* The last of the stages from `from` on that take the same time, and thus share a row. */
static uint32_t end_of_row(const context *c, uint32_t from)
{
    uint32_t last = from;

    while (last + 1 < c->plan->n_stages && equal_stages(c, from, last + 1))
        last++;
    return last;
}

static const dfl_plan_memory *held_by(const context *c, uint32_t stage, uint32_t memory)
{
    return &c->plan->stages[stage].memories[memory];
}

/* The stages of a row, as "0 to 3"; if they hold different values, with the one that holds the most, which the row shows.
   Sets `*most` to it, the first of equals. */
static const char *name_row(const context *c, uint32_t from, uint32_t last, uint32_t memory, uint32_t *most)
{
    bool differs = false;

    *most = from;
    for (uint32_t s = from + 1; s <= last; s++) {
        differs |= memcmp(held_by(c, s, memory)->held, held_by(c, from, memory)->held,
                          sizeof held_by(c, s, memory)->held) != 0;
        if (held_by(c, s, memory)->peak_bits > held_by(c, *most, memory)->peak_bits)
            *most = s;
    }
    if (differs)
        return dfl_arena_printf(c->out->arena, "%lu to %lu, most in %lu", (unsigned long)from, (unsigned long)last,
                                (unsigned long)*most);
    return last > from ? dfl_arena_printf(c->out->arena, "%lu to %lu", (unsigned long)from, (unsigned long)last)
                       : dfl_arena_printf(c->out->arena, "%lu", (unsigned long)from);
}

/* Prints what the stages hold in a memory; nothing if it is empty. */
static void print_stages(const context *c, uint32_t memory)
{
    const dfl_memory *m = &c->mapping->system->memories[memory];
    const bool divides = c->plan->n_stages > 1 || c->plan->stages[0].layers > 0; /* a line divides layers among stages */
    bool has[DFL_N_HELD] = { false }, some = false;
    uint32_t columns = divides ? 6 : 5;
    dfl_table table;

    for (uint32_t s = 0; s < c->plan->n_stages; s++)
        for (uint32_t h = 0; h < DFL_N_HELD; h++)
            has[h] |= c->plan->stages[s].memories[memory].held[h] > 0;
    for (uint32_t h = 0; h < DFL_N_HELD; h++) {
        columns += has[h];
        some |= has[h];
    }
    if (!some)
        return;
    dfl_table_init(&table, c->out->arena, columns, 1, columns);
    dfl_table_row_start(&table);
    dfl_table_cell(&table, "stage");
    if (divides)
        dfl_table_cell(&table, "layers");
    dfl_table_cell(&table, "forward");
    dfl_table_cell(&table, "backward");
    dfl_table_cell(&table, text_of(c, m->name));
    dfl_table_cell(&table, "of size");
    for (uint32_t h = 0; h < DFL_N_HELD; h++)
        if (has[h])
            dfl_table_cell(&table, dfl_held_name((dfl_held)h));
    for (uint32_t s = 0, last; s < c->plan->n_stages; s = last + 1) {
        const dfl_plan_stage *stage = &c->plan->stages[s];
        const dfl_plan_memory *held;
        uint32_t most;

        last = end_of_row(c, s);
        dfl_table_row_start(&table);
        dfl_table_cell(&table, name_row(c, s, last, memory, &most));
        held = held_by(c, most, memory);
        if (divides)
            dfl_table_count(&table, stage->layers);
        add_seconds(&table, stage->forward_seconds);
        add_seconds(&table, stage->backward_seconds);
        add_bits(&table, held->peak_bits);
        if (m->size_bits < 0)
            dfl_table_cell(&table, NULL);
        else
            add_share(&table, dfl_i128_double(held->peak_bits), (double)m->size_bits);
        for (uint32_t h = 0; h < DFL_N_HELD; h++)
            if (has[h])
                add_bits(&table, held->held[h]);
    }
    dfl_strbuf_char(c->out, '\n');
    dfl_table_print(&table, c->out, 2);
}

void dfl_plan_text(dfl_strbuf *out, const dfl_results *results, const dfl_result *result)
{
    const context c = { out, results->names, result->mapping, result, result->plan };

    print_groups(&c);
    print_pipeline(&c);
    print_rates(&c);
    print_step(&c);
    print_exchanges(&c);
    print_links(&c);
    for (uint32_t m = 0; m < result->mapping->system->n_memories; m++)
        print_stages(&c, m);
}
