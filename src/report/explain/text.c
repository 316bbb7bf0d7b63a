/* An explanation as text, on one screen. */
#include <math.h>

#include "report/table.h"
#include "report/readable.h"
#include "report/explain/explain.h"
#include "report/print/print.h"
#include "support/number.h"

static const char *text_of(const dfl_explanation *explanation, dfl_sym sym)
{
    return dfl_sym_text(explanation->results->names, sym);
}

/* Formats a value of a parameter with its unit; bandwidths are in bytes per second, as in reports. */
static void print_value(const dfl_explanation *explanation, const dfl_param *p, double value, char out[DFL_UNIT_TEXT])
{
    bool bits = dfl_param_is_timed(p->kind) && p->kind != DFL_PARAM_RATE && !dfl_param_is_latency(p->kind);

    dfl_human(bits ? value / 8 : value, bits ? "B/s" : dfl_explanation_unit(explanation, p), out);
}

static void put_elasticity(dfl_table *table, double elasticity)
{
    char digits[32];

    dfl_double_text_short(fabs(elasticity) < 1e-12 ? 0 : elasticity, 4, digits);
    dfl_table_cell(table, digits);
}

static void put_end(dfl_table *table, const dfl_explanation *explanation, const dfl_param *p, const dfl_rate_piece *piece)
{
    char text[DFL_UNIT_TEXT];

    if (!piece->wall) {
        dfl_table_cell(table, piece->until > 0 ? "any" : "0");
        return;
    }
    print_value(explanation, p, piece->until, text);
    dfl_table_cell(table, piece->proven ? text : dfl_arena_printf(table->arena, "%s (or on)", text));
}

static void put_present(dfl_table *table, const dfl_explanation *explanation, const dfl_param *p)
{
    char text[DFL_UNIT_TEXT];

    print_value(explanation, p, p->value, text);
    dfl_table_cell(table, text);
}

static const char *name_of(const dfl_explanation *explanation, dfl_arena *arena, uint32_t param)
{
    const dfl_param *params = explanation->sensitivity->params;

    return param == DFL_NONE ? NULL : dfl_explanation_parameter_name(arena, explanation, &params[param]);
}

static void put_slopes(dfl_table *table, const dfl_explanation *explanation, const dfl_param *p, bool faster)
{
    dfl_derivatives s = dfl_explanation_elasticity(explanation, p, faster);

    put_elasticity(table, s.objective);
    put_elasticity(table, s.latency);
    put_elasticity(table, s.energy);
}

static void print_param(dfl_table *table, const dfl_explanation *explanation, const dfl_param *p)
{
    bool timed = dfl_param_is_timed(p->kind), edge = dfl_explanation_is_at_edge(p);

    dfl_table_row_start(table);
    dfl_table_cell(table, dfl_explanation_parameter_name(table->arena, explanation, p));
    put_present(table, explanation, p);
    put_slopes(table, explanation, p, true);
    if (!timed) {
        dfl_table_cell(table, "0");
        dfl_table_cell(table, "any");
        return;
    }
    if (edge)
        put_present(table, explanation, p);
    else
        put_end(table, explanation, p, &p->slower);
    put_end(table, explanation, p, &p->faster);
    dfl_table_cell(table, name_of(explanation, table->arena, p->faster.next));
    if (!edge)
        return;
    dfl_table_row_start(table);
    dfl_table_cell(table, "  if it decreases");
    dfl_table_cell(table, NULL);
    put_slopes(table, explanation, p, false);
    put_end(table, explanation, p, &p->slower);
    put_present(table, explanation, p);
}

/* Whether no value of the parameter changes a cost; of a plan over chips, no value near the present one. */
static bool is_idle(const dfl_explanation *explanation, const dfl_param *p)
{
    const bool is_near = explanation->item->result->plan != NULL;

    if (dfl_param_is_timed(p->kind))
        return (is_near || !p->slower.wall) && p->slower.waited <= 0 && (is_near || !p->faster.wall) && p->faster.waited <= 0;
    return p->per_value <= 0;
}

static void print_params(dfl_strbuf *out, const dfl_explanation *explanation)
{
    static const char *const heads[] = { "parameter", "value", "objective", "latency", "energy", "holds from", "to",
                                         "then" };
    const uint32_t *order = dfl_explanation_order(out->arena, explanation);
    uint32_t idle = 0;
    dfl_table table;

    dfl_table_init(&table, out->arena, 8, 1, 7);
    dfl_table_row_start(&table);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        dfl_table_cell(&table, heads[i]);
    for (uint32_t i = 0; i < explanation->sensitivity->n_params; i++) {
        if (is_idle(explanation, &explanation->sensitivity->params[order[i]]))
            idle++;
        else
            print_param(&table, explanation, &explanation->sensitivity->params[order[i]]);
    }
    dfl_strbuf_z(out, "\n  change in percent if a parameter grows by one percent:\n");
    dfl_table_print(&table, out, 2);
    if (idle > 0)
        dfl_strbuf_printf(out, "  %u more change%s no result %s\n", idle, idle == 1 ? "s" : "",
                          explanation->item->result->plan != NULL ? "near the present value" : "at any value");
}

/* A row; without parameters if `is_short`. */
static void print_einsum(dfl_table *table, const dfl_explanation *explanation, uint32_t e, bool is_short)
{
    const dfl_einsum_bound *bound = &explanation->sensitivity->einsums[e];
    const dfl_einsum_cost *cost = &explanation->item->result->einsums[e];
    char text[DFL_UNIT_TEXT];

    dfl_table_row_start(table);
    dfl_table_cell(table, text_of(explanation, explanation->item->mapping->workload->einsums[e].name));
    dfl_human(cost->seconds, "s", text);
    dfl_table_cell(table, text);
    dfl_human_share(cost->seconds, explanation->item->result->seconds, text);
    dfl_table_cell(table, text);
    if (bound->param == DFL_NONE) {
        for (uint32_t blank = 0; blank < 2 && !is_short; blank++)
            dfl_table_cell(table, NULL);
        dfl_table_cell(table, cost->bound_by);
        return;
    }
    put_elasticity(table, bound->looked ? -bound->share : 0);
    put_end(table, explanation, &explanation->sensitivity->params[bound->param], &bound->faster);
    dfl_table_cell(table, cost->bound_by);
    dfl_table_cell(table, name_of(explanation, table->arena, bound->param));
    dfl_table_cell(table, name_of(explanation, table->arena, bound->faster.next));
}

static void print_einsums(dfl_strbuf *out, const dfl_explanation *explanation)
{
    static const char *const heads[] = { "einsum", "latency", "share", "change", "up to", "bound by", "parameter", "then" };
    uint32_t n = explanation->item->mapping->workload->n_einsums, left = 0;
    bool is_short = true; /* of a plan over chips no einsum has a parameter */
    dfl_table table;

    for (uint32_t e = 0; e < n; e++)
        is_short &= explanation->sensitivity->einsums[e].param == DFL_NONE;
    dfl_table_init(&table, out->arena, is_short ? 4 : 8, 1, is_short ? 3 : 5);
    dfl_table_row_start(&table);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        if (!is_short || i < 3 || i == 5)
            dfl_table_cell(&table, heads[i]);
    for (uint32_t e = 0; e < n; e++) {
        if (n <= DFL_SENSITIVITY_EINSUMS || explanation->sensitivity->einsums[e].looked)
            print_einsum(&table, explanation, e, is_short);
        else
            left++;
    }
    dfl_strbuf_z(out, is_short ? "\n  latency of each einsum, and what limits it:\n"
                               : "\n  change of the latency of each einsum in percent if the parameter that limits it grows by "
                                 "one percent:\n");
    dfl_table_print(&table, out, 2);
    if (left > 0)
        dfl_strbuf_printf(out, "  %u more, none of which takes longer\n", left);
}

static void print_memories(dfl_strbuf *out, const dfl_explanation *explanation)
{
    static const char *const heads[] = { "memory", "size", "fits down to", "slack" };
    const dfl_system *s = explanation->item->mapping->system;
    dfl_table table;

    dfl_table_init(&table, out->arena, 5, 1, 4);
    dfl_table_row_start(&table);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        dfl_table_cell(&table, heads[i]);
    for (uint32_t i = 0; i < s->n_memories; i++) {
        const dfl_memory_cost *cost = &explanation->item->result->memories[i];
        int64_t size = s->memories[i].size_bits;
        const char *place = dfl_report_place(out->arena, explanation->results, cost->peak_at);
        char text[DFL_UNIT_TEXT], share[DFL_UNIT_TEXT];

        if (cost->peak_bits == 0)
            continue;
        dfl_table_row_start(&table);
        dfl_table_cell(&table, text_of(explanation, s->memories[i].name));
        dfl_human_bits(size, text);
        dfl_table_cell(&table, size < 0 ? "unlimited" : text);
        dfl_human_bits(cost->peak_bits, text);
        dfl_table_cell(&table, text);
        if (size >= 0) {
            dfl_human_bits(size - cost->peak_bits, text);
            dfl_human_share(dfl_i128_double(size - cost->peak_bits), (double)size, share);
            dfl_table_cell(&table, dfl_arena_printf(out->arena, "%s, %s", text, share));
        } else {
            dfl_table_cell(&table, "-");
        }
        dfl_table_cell(&table, place);
    }
    dfl_strbuf_z(out, "\n  room:\n");
    dfl_table_print(&table, out, 2);
    dfl_strbuf_z(out, "  a larger memory does not change this mapping; "
                      "a new search may find a better one for it\n");
}

static void print_runner_up(dfl_strbuf *out, const dfl_explanation *explanation)
{
    char value[DFL_UNIT_TEXT], more[32];

    dfl_human_quantity(explanation->runner_up_value, explanation->dim, value);
    dfl_double_text_short(100 * (explanation->runner_up_value / explanation->value - 1), 4, more);
    dfl_strbuf_printf(out, "\n  the best mapping of another kind with tiles that divide has %s, %s %% more%s; "
                      "it differs in:\n", value, more,
                      explanation->is_runner_up_proven ? "" : ", and is not proven to be the best");
    dfl_diff_summary(out, explanation->runner_up);
}

void dfl_explanation_text(dfl_strbuf *out, const dfl_explanation *explanation)
{
    const dfl_mapping *m = explanation->item->mapping;
    const dfl_result *r = explanation->item->result;
    char text[DFL_UNIT_TEXT];
    bool has_energy;

    dfl_strbuf_printf(out, "%s: %s on %s%s\n", text_of(explanation, m->name), text_of(explanation, m->workload->name),
                      text_of(explanation, m->system->name),
                      explanation->item->status == DFL_STATUS_FILLED ? ", holes filled" : "");
    dfl_human_quantity(explanation->value, explanation->dim, text);
    dfl_strbuf_printf(out, "  objective    %s = %s", explanation->objective, text);
    if (explanation->is_substituted)
        dfl_strbuf_printf(out, ", not `%s`, which is over other figures", explanation->minimize);
    else if (explanation->n_terms > 1)
        dfl_strbuf_printf(out, ", the first of %u", explanation->n_terms);
    dfl_human(r->seconds, "s", text);
    dfl_strbuf_printf(out, "\n  latency      %s, bound by %s\n", text, r->bound_by ? r->bound_by : "nothing");
    dfl_human(r->joules, "J", text);
    has_energy = explanation->sensitivity->n_params > explanation->sensitivity->n_timed;
    dfl_strbuf_printf(out, "  energy       %s\n", has_energy ? text : "not declared");
    if (explanation->item->search)
        dfl_search_text(out, explanation->item->search, explanation->results->verbose);
    print_params(out, explanation);
    print_einsums(out, explanation);
    print_memories(out, explanation);
    if (explanation->runner_up)
        print_runner_up(out, explanation);
}
