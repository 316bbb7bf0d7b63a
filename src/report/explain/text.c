/* Why a mapping costs what it does, on one screen. */
#include <math.h>

#include "report/table.h"
#include "report/units.h"
#include "report/explain/explain.h"
#include "report/run/run.h"
#include "support/number.h"

static const char *text_of(const dfl_explanation *why, dfl_sym sym)
{
    return dfl_sym_text(why->results->names, sym);
}

/* Bandwidths in bytes, as in reports. */
static void print_value(const dfl_explanation *why, const dfl_param *p, double value, char out[DFL_UNIT_TEXT])
{
    bool bits = dfl_param_is_timed(p->kind) && p->kind != DFL_PARAM_RATE;

    dfl_human(bits ? value / 8 : value, bits ? "B/s" : dfl_explanation_unit(why, p), out);
}

static void put_elasticity(dfl_table *table, double elasticity)
{
    char digits[32];

    dfl_double_text_short(fabs(elasticity) < 1e-12 ? 0 : elasticity, 4, digits);
    dfl_table_cell(table, digits);
}

static void put_end(dfl_table *table, const dfl_explanation *why, const dfl_param *p, const dfl_rate_piece *piece)
{
    char text[DFL_UNIT_TEXT];

    if (!piece->wall) {
        dfl_table_cell(table, piece->until > 0 ? "any" : "0");
        return;
    }
    print_value(why, p, piece->until, text);
    dfl_table_cell(table, piece->proven ? text : dfl_arena_printf(table->arena, "%s (or on)", text));
}

static void put_present(dfl_table *table, const dfl_explanation *why, const dfl_param *p)
{
    char text[DFL_UNIT_TEXT];

    print_value(why, p, p->value, text);
    dfl_table_cell(table, text);
}

static const char *name_of(const dfl_explanation *why, dfl_arena *arena, uint32_t param)
{
    return param == DFL_NONE ? NULL : dfl_explanation_parameter_name(arena, why, &why->found->params[param]);
}

static void put_slopes(dfl_table *table, const dfl_explanation *why, const dfl_param *p, bool faster)
{
    dfl_derivatives s = dfl_explanation_elasticity(why, p, faster);

    put_elasticity(table, s.objective);
    put_elasticity(table, s.latency);
    put_elasticity(table, s.energy);
}

static void print_param(dfl_table *table, const dfl_explanation *why, const dfl_param *p)
{
    bool timed = dfl_param_is_timed(p->kind), edge = dfl_explanation_is_at_edge(p);

    dfl_table_row_start(table);
    dfl_table_cell(table, dfl_explanation_parameter_name(table->arena, why, p));
    put_present(table, why, p);
    put_slopes(table, why, p, true);
    if (!timed) {
        dfl_table_cell(table, "0");
        dfl_table_cell(table, "any");
        return;
    }
    if (edge)
        put_present(table, why, p);
    else
        put_end(table, why, p, &p->slower);
    put_end(table, why, p, &p->faster);
    dfl_table_cell(table, name_of(why, table->arena, p->faster.next));
    if (!edge)
        return;
    dfl_table_row_start(table);
    dfl_table_cell(table, "  when it gets slower");
    dfl_table_cell(table, NULL);
    put_slopes(table, why, p, false);
    put_end(table, why, p, &p->slower);
    put_present(table, why, p);
}

/* Whether it does nothing, at any value. */
static bool is_idle(const dfl_param *p)
{
    if (dfl_param_is_timed(p->kind))
        return !p->slower.wall && p->slower.waited <= 0;
    return p->per_value <= 0;
}

static void print_params(dfl_strbuf *out, const dfl_explanation *why)
{
    static const char *const heads[] = { "parameter", "value", "objective", "latency", "energy", "holds from", "to",
                                         "then" };
    const uint32_t *order = dfl_explanation_order(out->arena, why);
    uint32_t idle = 0;
    dfl_table table;

    dfl_table_init(&table, out->arena, 8, 1, 7);
    dfl_table_row_start(&table);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        dfl_table_cell(&table, heads[i]);
    for (uint32_t i = 0; i < why->found->n_params; i++) {
        if (is_idle(&why->found->params[order[i]]))
            idle++;
        else
            print_param(&table, why, &why->found->params[order[i]]);
    }
    dfl_strbuf_z(out, "\n  percent per percent of a parameter:\n");
    dfl_table_print(&table, out, 2);
    if (idle > 0)
        dfl_strbuf_printf(out, "  %u more change%s nothing at any value\n", idle, idle == 1 ? "s" : "");
}

static void print_einsum(dfl_table *table, const dfl_explanation *why, uint32_t e)
{
    const dfl_einsum_bound *bound = &why->found->einsums[e];
    const dfl_einsum_cost *cost = &why->item->result->einsums[e];
    char text[DFL_UNIT_TEXT];

    dfl_table_row_start(table);
    dfl_table_cell(table, text_of(why, why->item->mapping->workload->einsums[e].name));
    dfl_human(cost->seconds, "s", text);
    dfl_table_cell(table, text);
    dfl_human_share(cost->seconds, why->item->result->seconds, text);
    dfl_table_cell(table, text);
    if (bound->param == DFL_NONE) {
        dfl_table_cell(table, NULL);
        dfl_table_cell(table, NULL);
        dfl_table_cell(table, cost->bound_by);
        return;
    }
    put_elasticity(table, bound->looked ? -bound->share : 0);
    put_end(table, why, &why->found->params[bound->param], &bound->faster);
    dfl_table_cell(table, cost->bound_by);
    dfl_table_cell(table, name_of(why, table->arena, bound->param));
    dfl_table_cell(table, name_of(why, table->arena, bound->faster.next));
}

static void print_einsums(dfl_strbuf *out, const dfl_explanation *why)
{
    static const char *const heads[] = { "einsum", "latency", "share", "of rate", "up to", "bound by", "rate", "then" };
    uint32_t n = why->item->mapping->workload->n_einsums, left = 0;
    dfl_table table;

    dfl_table_init(&table, out->arena, 8, 1, 5);
    dfl_table_row_start(&table);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        dfl_table_cell(&table, heads[i]);
    for (uint32_t e = 0; e < n; e++) {
        if (n <= DFL_SENSITIVITY_EINSUMS || why->found->einsums[e].looked)
            print_einsum(&table, why, e);
        else
            left++;
    }
    dfl_strbuf_z(out, "\n  each einsum by itself:\n");
    dfl_table_print(&table, out, 2);
    if (left > 0)
        dfl_strbuf_printf(out, "  %u more, none of them slower, are left out\n", left);
}

static void print_memories(dfl_strbuf *out, const dfl_explanation *why)
{
    static const char *const heads[] = { "memory", "size", "fits down to", "slack" };
    const dfl_system *s = why->item->mapping->system;
    dfl_table table;

    dfl_table_init(&table, out->arena, 5, 1, 4);
    dfl_table_row_start(&table);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        dfl_table_cell(&table, heads[i]);
    for (uint32_t i = 0; i < s->n_memories; i++) {
        const dfl_memory_cost *cost = &why->item->result->memories[i];
        int64_t size = s->memories[i].size_bits;
        const char *place = dfl_report_place(out->arena, why->results, cost->peak_at);
        char text[DFL_UNIT_TEXT], share[DFL_UNIT_TEXT];

        if (cost->peak_bits == 0)
            continue;
        dfl_table_row_start(&table);
        dfl_table_cell(&table, text_of(why, s->memories[i].name));
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
    dfl_strbuf_z(out, "  a larger memory changes nothing in this mapping; "
                      "what another one would make of it, a new search tells\n");
}

static void print_runner_up(dfl_strbuf *out, const dfl_explanation *why)
{
    char value[DFL_UNIT_TEXT], more[32];

    dfl_human_quantity(why->runner_value, why->dim, value);
    dfl_double_text_short(100 * (why->runner_value / why->value - 1), 4, more);
    dfl_strbuf_printf(out, "\n  the best of another kind has %s, %s %% more%s; what it does differently:\n", value, more,
                      why->runner_proven ? "" : ", and is not proven to be the best");
    dfl_diff_summary(out, why->runner_up);
}

void dfl_explanation_text(dfl_strbuf *out, const dfl_explanation *why)
{
    const dfl_mapping *m = why->item->mapping;
    const dfl_result *r = why->item->result;
    char text[DFL_UNIT_TEXT];

    dfl_strbuf_printf(out, "%s: %s on %s%s\n", text_of(why, m->name), text_of(why, m->workload->name),
                      text_of(why, m->system->name), why->item->status == DFL_STATUS_FILLED ? ", holes filled" : "");
    dfl_human_quantity(why->value, why->dim, text);
    dfl_strbuf_printf(out, "  objective    %s = %s", why->objective, text);
    if (why->other)
        dfl_strbuf_printf(out, ", not `%s`, which is over other figures", why->minimize);
    else if (why->n_terms > 1)
        dfl_strbuf_printf(out, ", the first of %u", why->n_terms);
    dfl_human(r->seconds, "s", text);
    dfl_strbuf_printf(out, "\n  latency      %s, bound by %s\n", text, r->bound_by ? r->bound_by : "nothing");
    dfl_human(r->joules, "J", text);
    dfl_strbuf_printf(out, "  energy       %s\n", why->found->n_params > why->found->n_timed ? text : "not declared");
    if (why->item->search)
        dfl_search_text(out, why->item->search, why->results->verbose);
    print_params(out, why);
    print_einsums(out, why);
    print_memories(out, why);
    if (why->runner_up)
        print_runner_up(out, why);
}
