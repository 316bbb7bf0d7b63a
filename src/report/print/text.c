/*
 * The report as text. One mapping is one screen: totals, the traffic of each memory, the bottleneck of each einsum, the
 * energy of each component. Numbers have four digits; JSON has all digits.
 */
#include <math.h>
#include <string.h>

#include "report/figures.h"
#include "report/mixed_types.h"
#include "report/print/print.h"
#include "report/table.h"
#include "report/readable.h"
#include "support/limits.h"
#include "support/number.h"
#include "support/wrap.h"

enum { LINE_WIDTH = 100 }; /* columns */

typedef struct {
    dfl_strbuf *out;
    const dfl_results *results;
    const dfl_mapping *mapping;
    const dfl_result *result;
} context;

static const char *text_of(const context *c, dfl_sym sym)
{
    return dfl_sym_text(c->results->names, sym);
}

/* Whether the system declares the energy of some action, or leakage. Without any declared energy the report calls the
   energy unknown in place of 0 J. */
static bool has_energy(const dfl_result *r)
{
    const dfl_system *s = r->mapping->system;
    bool has = r->leakage_joules > 0;

    for (uint32_t i = 0; i < s->n_memories; i++)
        has |= dfl_memory_has_energy(&s->memories[i]);
    for (uint32_t i = 0; i < s->n_computes; i++)
        has |= s->computes[i].has_energy;
    for (uint32_t i = 0; i < s->n_networks; i++)
        has |= s->networks[i].has_energy;
    return has;
}

/* Prints cycles: all digits of a whole number; else all digits before the point from 100000 on, and six digits below. */
static void print_cycles(dfl_strbuf *out, double cycles)
{
    char exact[DFL_UNIT_TEXT + 16], digits[32];

    if (cycles < 1e15 && (cycles == floor(cycles) || cycles >= 1e5)) {
        dfl_human_exact((dfl_i128)nearbyint(cycles), exact);
        dfl_strbuf_printf(out, " = %s", exact);
    } else {
        dfl_double_text_short(cycles, 6, digits);
        dfl_strbuf_printf(out, " = %s", digits);
    }
}

/* Whether the result has a share of a peak: false for a plan whose products take no time (plan/rates.c). */
static bool has_utilization(const dfl_result *r) { return r->plan == NULL || r->plan->peak_flops > 0; }

static void print_head(const context *c)
{
    const dfl_result *r = c->result;
    const dfl_system *s = c->mapping->system;
    double clock = dfl_report_clock(s);
    char text[DFL_UNIT_TEXT], digits[32];

    dfl_human(r->seconds, "s", text);
    dfl_strbuf_printf(c->out, "  latency      %s", text);
    if (clock > 0) {
        print_cycles(c->out, dfl_report_cycles(s, r->seconds));
        dfl_human(clock, "Hz", text);
        dfl_strbuf_printf(c->out, " cycles at %s", text);
    }
    dfl_strbuf_printf(c->out, ", bound by %s\n", r->bound_by ? r->bound_by : "nothing");
    if (has_energy(r)) {
        dfl_human(r->joules, "J", text);
        dfl_strbuf_printf(c->out, "  energy       %s", text);
        dfl_human(r->watts, "W", text);
        dfl_strbuf_printf(c->out, ", %s on average", text);
        if (s->whole_power > 0 && r->watts > s->whole_power) {
            dfl_human(s->whole_power, "W", text);
            dfl_strbuf_printf(c->out, " (above the %s of `tdp`: the system would run slower)", text);
        }
    } else {
        dfl_strbuf_z(c->out, "  energy       not declared");
    }
    if (r->area > 0) {
        dfl_double_text_short(r->area * 1e6, 4, digits);
        dfl_strbuf_printf(c->out, ", area %s mm2", digits);
    }
    dfl_human_count(r->macs, text);
    dfl_strbuf_printf(c->out, "\n  operations   %s MAC", text);
    dfl_human_count(r->flops, text);
    dfl_strbuf_printf(c->out, ", %s FLOP", text);
    if (r->padding != 0) {
        dfl_human_count(r->padding, text);
        dfl_strbuf_printf(c->out, "; %s MAC on padding", text);
    }
    if (r->extra != 0) {
        dfl_human_count(r->extra, text);
        dfl_strbuf_printf(c->out, "; %s extra by `recompute` or `online`", text);
    }
    dfl_strbuf_char(c->out, '\n');
    if (!has_utilization(r))
        return;
    dfl_human_share(r->utilization, 1, text);
    dfl_strbuf_printf(c->out, "  utilization  %s\n", text);
}

/* Prints the peak occupancy of a memory: "peak 812 KiB of 1 MiB, 79.3 %, line 12". */
static void add_memory_remark(const context *c, uint32_t i, dfl_strbuf *remark)
{
    const dfl_memory *m = &c->mapping->system->memories[i];
    const dfl_memory_cost *cost = &c->result->memories[i];
    const char *place = dfl_report_place(c->out->arena, c->results, cost->peak_at);
    char peak[DFL_UNIT_TEXT], size[DFL_UNIT_TEXT], share[DFL_UNIT_TEXT];

    dfl_human_bits(cost->peak_bits, peak);
    if (m->size_bits < 0) {
        dfl_strbuf_printf(remark, "peak %s", peak);
    } else {
        dfl_human_bits(m->size_bits, size);
        dfl_human_share(dfl_i128_double(cost->peak_bits), (double)m->size_bits, share);
        dfl_strbuf_printf(remark, "peak %s of %s, %s", peak, size, share);
    }
    if (place)
        dfl_strbuf_printf(remark, ", %s", place);
}

static void print_memories(const context *c)
{
    enum { NAMES = 2, COLUMNS = NAMES + DFL_ACTIONS + 1 };
    const dfl_system *s = c->mapping->system;
    dfl_table table;

    dfl_table_init(&table, c->out->arena, COLUMNS + 1, NAMES, COLUMNS);
    dfl_table_row_start(&table);
    dfl_table_cell(&table, "memory");
    dfl_table_cell(&table, "tensor");
    for (dfl_action a = 0; a < DFL_ACTIONS; a++)
        dfl_table_cell(&table, dfl_action_text(a));
    dfl_table_cell(&table, "room");
    for (uint32_t i = 0; i < s->n_memories; i++) {
        bool first = true;

        for (uint32_t k = 0; k < c->result->n_traffic; k++) {
            const dfl_traffic *t = &c->result->traffic[k];
            char room[DFL_UNIT_TEXT];
            dfl_strbuf remark;

            if (t->memory != i)
                continue;
            dfl_table_row_start(&table);
            dfl_table_cell(&table, first ? text_of(c, s->memories[i].name) : NULL);
            dfl_table_cell(&table, text_of(c, c->mapping->workload->tensors[t->tensor].name));
            for (dfl_action a = 0; a < DFL_ACTIONS; a++)
                dfl_table_count(&table, dfl_action_count(&t->counts, a));
            dfl_human_bits(t->peak_bits, room);
            dfl_table_cell(&table, room);
            if (first) {
                dfl_strbuf_init(&remark, c->out->arena);
                add_memory_remark(c, i, &remark);
                dfl_table_cell(&table, remark.text);
            }
            first = false;
        }
    }
    dfl_strbuf_char(c->out, '\n');
    dfl_table_print(&table, c->out, 2);
}

static void print_einsums(const context *c)
{
    const dfl_workload *w = c->mapping->workload;
    dfl_table table;

    dfl_table_init(&table, c->out->arena, 8, 2, 7);
    dfl_table_row_start(&table);
    dfl_table_cell(&table, "einsum");
    dfl_table_cell(&table, "unit");
    dfl_table_cell(&table, "operations");
    dfl_table_cell(&table, "latency");
    dfl_table_cell(&table, "share");
    dfl_table_cell(&table, "unit busy");
    dfl_table_cell(&table, has_energy(c->result) ? "energy" : NULL);
    dfl_table_cell(&table, "bound by");
    for (uint32_t i = 0; i < w->n_einsums; i++) {
        const dfl_einsum_cost *e = &c->result->einsums[i];
        char text[DFL_UNIT_TEXT];
        dfl_i128 operations;
        bool overflow = dfl_add(e->macs, e->flops, &operations);

        dfl_table_row_start(&table);
        dfl_table_cell(&table, text_of(c, w->einsums[i].name));
        dfl_table_cell(&table, text_of(c, c->mapping->system->computes[e->compute].name));
        if (overflow)
            dfl_table_cell(&table, "> 2^127");
        else
            dfl_table_count(&table, operations);
        dfl_human(e->seconds, "s", text);
        dfl_table_cell(&table, text);
        dfl_human_share(e->seconds, c->result->seconds, text);
        dfl_table_cell(&table, text);
        dfl_human_share(e->compute_seconds, e->seconds, text);
        dfl_table_cell(&table, text);
        dfl_human(e->joules, "J", text);
        dfl_table_cell(&table, has_energy(c->result) ? text : NULL);
        dfl_table_cell(&table, e->bound_by);
    }
    dfl_strbuf_char(c->out, '\n');
    dfl_table_print(&table, c->out, 2);
}

/* State of printing the list of components with their energies, wrapped at LINE_WIDTH. */
typedef struct {
    const context *c;
    bool has_parts;        /* the output contains at least one component */
    size_t start;          /* offset of the current line in the output */
    dfl_strbuf undeclared; /* names of components without declared energy */
} energy_line;

static void add_component(energy_line *line, const char *name, bool declared, double joules)
{
    char text[DFL_UNIT_TEXT], share[DFL_UNIT_TEXT];

    if (!declared) {
        dfl_strbuf_printf(&line->undeclared, "%s%s", line->undeclared.len ? ", " : "", name);
        return;
    }
    if (joules <= 0)
        return;
    dfl_human(joules, "J", text);
    dfl_human_share(joules, line->c->result->joules, share);
    if (line->has_parts)
        dfl_strbuf_char(line->c->out, ',');
    if (line->c->out->len - line->start + strlen(name) + strlen(text) + strlen(share) > LINE_WIDTH) {
        line->start = line->c->out->len;
        dfl_strbuf_z(line->c->out, "\n                      ");
    }
    dfl_strbuf_printf(line->c->out, " %s %s (%s)", name, text, share);
    line->has_parts = true;
}

static void print_energy(const context *c)
{
    const dfl_system *s = c->mapping->system;
    const dfl_result *r = c->result;
    energy_line line = { .c = c };

    dfl_strbuf_init(&line.undeclared, c->out->arena);
    dfl_strbuf_char(c->out, '\n');
    line.start = c->out->len;
    dfl_strbuf_z(c->out, "  energy by component:");
    for (uint32_t i = 0; i < s->n_memories; i++)
        add_component(&line, text_of(c, s->memories[i].name), dfl_memory_has_energy(&s->memories[i]),
                      r->memories[i].read_joules + r->memories[i].drain_joules + r->memories[i].write_joules);
    for (uint32_t i = 0; i < s->n_computes; i++)
        add_component(&line, text_of(c, s->computes[i].name), s->computes[i].has_energy, r->compute_joules[i]);
    for (uint32_t i = 0; i < s->n_networks; i++)
        if (dfl_network_used(s, i))
            add_component(&line, text_of(c, s->networks[i].name), s->networks[i].has_energy, r->network_joules[i]);
    add_component(&line, "leakage", true, r->leakage_joules);
    if (!line.has_parts)
        dfl_strbuf_z(c->out, " none");
    if (line.undeclared.len)
        dfl_strbuf_printf(c->out, "\n  without declared energy, not charged: %s", line.undeclared.text);
    dfl_strbuf_char(c->out, '\n');
}

/* Prints the networks that carry bits and declare a bandwidth or an energy, each with its busiest class of links. */
static void print_networks(const context *c)
{
    static const char *const heads[] = { "network", "busiest link", "injected", "delivered", "collected", "arriving", "on link",
                                         "busy", "required" };
    enum { NAMES = 2, COLUMNS = sizeof heads / sizeof heads[0] };
    const dfl_system *s = c->mapping->system;
    dfl_table table;
    bool some = false;

    dfl_table_init(&table, c->out->arena, COLUMNS, NAMES, COLUMNS);
    dfl_table_row_start(&table);
    for (uint32_t i = 0; i < COLUMNS; i++)
        dfl_table_cell(&table, heads[i]);
    for (uint32_t i = 0; i < s->n_networks; i++) {
        const dfl_network_cost *cost = &c->result->networks[i];
        const dfl_i128 bits[] = { cost->injected_bits, cost->delivered_bits, cost->collected_bits, cost->arriving_bits };
        uint32_t busiest = 0;
        char text[DFL_UNIT_TEXT];

        if ((cost->delivered_bits == 0 && cost->collected_bits == 0) ||
            (isinf(s->networks[i].bandwidth) && !s->networks[i].has_energy))
            continue;
        some = true;
        for (uint32_t k = 1; k < cost->n_classes; k++)
            busiest = cost->classes[k].bits > cost->classes[busiest].bits ? k : busiest;
        dfl_table_row_start(&table);
        dfl_table_cell(&table, text_of(c, s->networks[i].name));
        dfl_table_cell(&table, cost->n_classes > 0 ? cost->classes[busiest].name : NULL);
        for (uint32_t k = 0; k < 4; k++) {
            dfl_human_bits(bits[k], text);
            dfl_table_cell(&table, text);
        }
        dfl_human_bits(cost->n_classes > 0 ? cost->classes[busiest].bits : 0, text);
        dfl_table_cell(&table, text);
        dfl_human_quantity(cost->seconds, dfl_measure_dim(DFL_MEASURE_TIME), text);
        dfl_table_cell(&table, isinf(s->networks[i].bandwidth) ? NULL : text);
        dfl_human_quantity(cost->bandwidth_required, dfl_measure_dim(DFL_MEASURE_BANDWIDTH), text);
        dfl_table_cell(&table, text);
    }
    if (!some)
        return;
    dfl_strbuf_char(c->out, '\n');
    dfl_table_print(&table, c->out, 2);
}

/* Prints a list with a heading: " HEAD: a, b"; prints nothing for an empty list. */
static void print_names(dfl_strbuf *out, const char *head, const dfl_attribute_list *names)
{
    if (names->n == 0)
        return;
    dfl_strbuf_printf(out, "  %s: ", head);
    for (size_t i = 0; i < names->n; i++)
        dfl_strbuf_printf(out, "%s%s", i > 0 ? ", " : "", names->at[i]);
    dfl_strbuf_char(out, '\n');
}

/* Prints the declared attributes and the ports that do not contribute to the latency. */
static void print_untimed(const context *c)
{
    dfl_arena *arena = c->out->arena;

    print_names(c->out, "without declared bandwidth, takes no time", dfl_report_free(arena, c->results, c->result));
    print_names(c->out, "declared, but without effect on the time", dfl_report_untimed(arena, c->results, c->result));
}

/* Prints the first product that runs on a slower unit because its operands differ in type, and how many more there are. */
static void print_mixed(const context *c)
{
    const dfl_system *s = c->mapping->system;
    dfl_mixed_types first = { 0 }, one;
    uint32_t n = 0, at = 0;
    char slow[DFL_UNIT_TEXT], fast[DFL_UNIT_TEXT];

    for (uint32_t e = 0; e < c->mapping->workload->n_einsums; e++)
        if (dfl_mixed_types_find(c->out->arena, c->results->names, c->result, e, &one) && n++ == 0) {
            first = one;
            at = e;
        }
    if (n == 0)
        return;
    dfl_human(first.wide_rate, "FLOP/s", slow);
    dfl_human(first.narrow_rate, "FLOP/s", fast);
    dfl_strbuf_printf(c->out, "  mixed types  %s and %s: %s", text_of(c, first.narrow->name), text_of(c, first.wide->name),
                      text_of(c, c->mapping->workload->einsums[at].name));
    if (n > 1)
        dfl_strbuf_printf(c->out, " and %u more", n - 1);
    dfl_strbuf_printf(c->out, " in %s on %s, %s\n"
                      "               in %s alone on %s, %s: convert an operand by an einsum `B[i] = A[i]`\n",
                      text_of(c, first.wide->name), text_of(c, s->computes[c->result->einsums[at].compute].name), slow,
                      text_of(c, first.narrow->name), text_of(c, s->computes[first.compute].name), fast);
}

/* Prints clauses with "; " between them after " NAME ". Each clause starts a line. A line beyond WIDTH columns is broken
   and continued with MORE more blanks. Of more than `most` clauses, prints the first ones and a note that `--verbose`
   prints the others. */
static void add_clauses(dfl_strbuf *out, const char *name, const char *words, uint32_t most)
{
    enum { INDENT = 15, MORE = 2, WIDTH = 100 };
    size_t column = INDENT;

    dfl_strbuf_printf(out, "  %-12s ", name);
    for (size_t len = 0; *words != '\0'; words += len + strspn(words + len, " ")) {
        bool ends;
        len = dfl_word_length(words);
        ends = words[len] == ' ' && words[len - 1] == ';';
        if (column > INDENT && column + 1 + len > WIDTH) {
            dfl_strbuf_printf(out, "\n%*s", INDENT + MORE, "");
            column = INDENT + MORE;
        } else if (column > INDENT) {
            dfl_strbuf_char(out, ' ');
            column++;
        }
        dfl_strbuf_add(out, words, len - ends);
        column += len;
        if (ends && --most == 0) {
            dfl_strbuf_z(out, " (more with `--verbose`)");
            break;
        }
        if (ends) {
            dfl_strbuf_printf(out, "\n%*s", INDENT, "");
            column = INDENT;
        }
    }
    dfl_strbuf_char(out, '\n');
}

/* Prints the value of the search for one mapping: " value 7.082 mJ (energy)". A search for several mappings
   prints the values elsewhere. The expression is named if the objective has several. */
static void add_value(dfl_strbuf *out, const dfl_search_summary *s)
{
    char value[DFL_UNIT_TEXT];

    if (s->is_of_front || s->top_position > 0)
        return;
    dfl_human_quantity(s->value, s->dim, value);
    dfl_strbuf_printf(out, "  value        %s", value);
    if (strcmp(s->first_term, s->objective) != 0)
        dfl_strbuf_printf(out, " (%s)", s->first_term);
    dfl_strbuf_char(out, '\n');
}

/* Prints the lower bound of the first expression of the objective and the gap, the excess of the value over the lower
   bound: " lower bound 6.072 mJ, gap 16.63 %". Prints nothing without a lower bound. */
static void add_lower_bound(dfl_strbuf *out, const dfl_search_summary *s)
{
    const bool reached = s->optimal || s->value <= s->lower_bound * (1 + DFL_VALUE_TOLERANCE);
    char bound[DFL_UNIT_TEXT], gap[32];

    if (s->is_of_front || isnan(s->lower_bound) || !(s->lower_bound > 0))
        return;
    dfl_human_quantity(reached ? s->value : s->lower_bound, s->dim, bound);
    dfl_double_text_short(reached ? 0 : 100 * (s->value / s->lower_bound - 1), 4, gap);
    dfl_strbuf_printf(out, "  lower bound  %s, gap %s %%%s\n", bound, gap, reached && !s->optimal ? " up to rounding" : "");
}

void dfl_search_text(dfl_strbuf *out, const dfl_search_summary *s, bool verbose)
{
    dfl_strbuf_printf(out, "  search       %s%s", s->is_of_front ? "" : "minimize ", s->objective);
    if (s->max_fused > 0)
        dfl_strbuf_printf(out, ", at most %u shared loop%s", s->max_fused - 1, s->max_fused == 2 ? "" : "s");
    dfl_strbuf_printf(out, ": %s\n", s->optimal ? "optimal" : "not proven");
    add_value(out, s);
    add_lower_bound(out, s);
    if (s->unproven)
        add_clauses(out, "reason", s->unproven, verbose ? UINT32_MAX : 1);
    if (s->space != NULL)
        add_clauses(out, "space", s->space, verbose ? UINT32_MAX : 2);
    if (!verbose)
        return;
    dfl_strbuf_printf(out, "  effort       %llu evaluated, %llu pruned", (unsigned long long)s->evaluated,
                      (unsigned long long)s->pruned);
    if (s->refused > 0)
        dfl_strbuf_printf(out, ", %llu refused by the model", (unsigned long long)s->refused);
    dfl_strbuf_char(out, '\n');
}

static void print_item(dfl_strbuf *out, const dfl_results *results, const dfl_result_item *item)
{
    const context c = { out, results, item->mapping, item->result };
    const dfl_mapping *m = item->mapping;

    dfl_strbuf_printf(out, "%s: %s on %s", text_of(&c, m->name), text_of(&c, m->workload->name),
                      text_of(&c, m->system->name));
    dfl_strbuf_z(out, item->status == DFL_STATUS_FILLED ? ", holes filled\n" : "\n");
    if (!item->result) {
        dfl_strbuf_z(out, "  no result: see the diagnostics\n");
        return;
    }
    print_head(&c);
    if (item->result->plan)
        dfl_plan_text(out, results, item->result);
    else
        print_memories(&c);
    print_einsums(&c);
    if (!item->result->plan)
        print_networks(&c);
    if (has_energy(item->result))
        print_energy(&c);
    print_untimed(&c);
    print_mixed(&c);
    if (item->search)
        dfl_search_text(out, item->search, results->verbose);
}

/* The bits read and written in the outermost memory that keeps a tensor, as text; NULL = no memory keeps a tensor. */
static const char *outer_traffic_text(const context *c, char text[DFL_UNIT_TEXT])
{
    dfl_i128 read, written, sum;

    if (c->result->n_traffic == 0)
        return NULL;
    if (dfl_memory_bits(c->result, c->result->traffic[0].memory, &read, &written) || dfl_add(read, written, &sum))
        return "> 2^127 bit";
    dfl_human_bits(sum, text);
    return text;
}

/* Adds the line of one mapping to the table that compares mappings. */
static void add_comparison(dfl_table *table, dfl_strbuf *out, const dfl_results *results, const dfl_result_item *item)
{
    const context c = { out, results, item->mapping, item->result };
    char text[DFL_UNIT_TEXT];

    dfl_table_row_start(table);
    dfl_table_cell(table, text_of(&c, item->mapping->name));
    dfl_table_cell(table, text_of(&c, item->mapping->workload->name));
    dfl_table_cell(table, text_of(&c, item->mapping->system->name));
    if (!item->result) {
        dfl_table_cell(table, "no result");
        return;
    }
    dfl_human(c.result->seconds, "s", text);
    dfl_table_cell(table, text);
    dfl_human(c.result->joules, "J", text);
    dfl_table_cell(table, has_energy(c.result) ? text : "-");
    dfl_human_count(c.result->macs, text);
    dfl_table_cell(table, text);
    dfl_human_share(c.result->utilization, 1, text);
    dfl_table_cell(table, has_utilization(c.result) ? text : "-");
    dfl_table_cell(table, outer_traffic_text(&c, text));
    dfl_table_cell(table, c.result->bound_by);
}

/* Adds the line of the sum over all mappings with costs. */
static void add_sum(dfl_table *table, dfl_strbuf *out, const dfl_results *results)
{
    dfl_figure_place sum;
    const dfl_result *r;
    const bool is_known = dfl_figure_place_of_sum(results, out->arena, &sum);
    bool energy = false;
    char text[DFL_UNIT_TEXT];

    for (uint32_t i = 0; i < results->n_items; i++)
        energy |= results->items[i].result && has_energy(results->items[i].result);
    r = sum.item->result;
    dfl_table_row_start(table);
    dfl_table_cell(table, "sum");
    dfl_table_cell(table, dfl_arena_printf(out->arena, sum.part == 1 ? "%u mapping" : "%u mappings", sum.part));
    dfl_table_cell(table, NULL);
    dfl_human(r->seconds, "s", text);
    dfl_table_cell(table, text);
    dfl_human(r->joules, "J", text);
    dfl_table_cell(table, energy ? text : "-");
    dfl_human_count(r->macs, text);
    dfl_table_cell(table, is_known ? text : "> 2^127");
}

/* Starts the table of comparison with the line of its heads. */
static void start_comparison(dfl_table *table, dfl_strbuf *out)
{
    static const char *const heads[] = { "mapping", "workload", "system", "latency", "energy", "MAC", "utilization",
                                         "outer traffic", "bound by" };

    dfl_table_init(table, out->arena, 9, 3, 8);
    dfl_table_row_start(table);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        dfl_table_cell(table, heads[i]);
}

static void print_comparison(dfl_strbuf *out, const dfl_results *results)
{
    dfl_table table;

    start_comparison(&table, out);
    for (uint32_t i = 0; i < results->n_items; i++)
        add_comparison(&table, out, results, &results->items[i]);
    if (results->has_sum)
        add_sum(&table, out, results);
    dfl_table_print(&table, out, 0);
}

/* Prints the number of checks with each outcome, then a line for each check that failed, was not evaluated, or is an
   assumption. */
static void print_checks(dfl_strbuf *out, const dfl_results *results)
{
    uint32_t counts[3] = { 0 };
    dfl_table table;

    for (uint32_t i = 0; i < results->n_checks; i++)
        counts[results->checks[i].outcome]++;
    dfl_strbuf_printf(out, "checks: %u passed, %u failed", counts[DFL_OUTCOME_PASSED], counts[DFL_OUTCOME_FAILED]);
    if (counts[DFL_OUTCOME_UNKNOWN])
        dfl_strbuf_printf(out, ", %u not evaluated", counts[DFL_OUTCOME_UNKNOWN]);
    dfl_strbuf_char(out, '\n');
    dfl_table_init(&table, out->arena, 3, 1, 1);
    for (uint32_t i = 0; i < results->n_checks; i++) {
        const dfl_check_outcome *o = &results->checks[i];
        const dfl_check *check = o->check;

        if (o->outcome == DFL_OUTCOME_PASSED && check->kind != DFL_CHECK_ASSUME)
            continue;
        dfl_table_row_start(&table);
        dfl_table_cell(&table, o->outcome == DFL_OUTCOME_PASSED ? "assumed" : dfl_outcome_text(o->outcome));
        dfl_table_cell(&table, check->text);
        dfl_table_cell(&table, o->outcome == DFL_OUTCOME_PASSED ? NULL : o->value);
    }
    dfl_table_print(&table, out, 2);
}

/* Prints the report of each file behind a line with its name, then the sum over all files. */
static void print_parts(dfl_strbuf *out, const dfl_results *results, uint32_t detailed)
{
    dfl_table table;

    for (size_t i = 0; i < results->n_parts; i++) {
        dfl_strbuf_printf(out, "%s== %s\n", i > 0 ? "\n" : "", results->parts[i]->file);
        dfl_report_text(out, results->parts[i], results->n_items <= detailed ? detailed : 0);
    }
    if (!results->has_sum || results->n_items == 0)
        return;
    dfl_strbuf_char(out, '\n');
    start_comparison(&table, out);
    add_sum(&table, out, results);
    dfl_table_print(&table, out, 0);
}

void dfl_report_text(dfl_strbuf *out, const dfl_results *results, uint32_t detailed)
{
    bool screens = results->n_items <= detailed;

    if (results->n_parts > 0) {
        print_parts(out, results, detailed);
        return;
    }
    for (uint32_t i = 0; screens && i < results->n_items; i++) {
        print_item(out, results, &results->items[i]);
        if (i + 1 < results->n_items)
            dfl_strbuf_char(out, '\n');
    }
    if (!screens || results->n_items > 1 || (results->has_sum && results->n_items > 0)) {
        if (screens)
            dfl_strbuf_char(out, '\n');
        print_comparison(out, results);
    }
    if (results->n_checks > 0) {
        if (results->n_items > 0)
            dfl_strbuf_char(out, '\n');
        print_checks(out, results);
    }
}
