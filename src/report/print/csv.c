/*
 * One row for each mapping, memory and tensor, then one for each network and class of links that carries bits. Each row
 * repeats the figures of the mapping and of the memory or network, so that users can filter and sum rows. A mapping without
 * a result has one row with its status, a plan over chips one with the figures of the mapping. A last row may have the sums
 * of all mappings. Units: seconds, joules, bits, elements.
 */
#include <string.h>

#include "report/figures.h"
#include "report/print/print.h"
#include "support/number.h"

/* Scopes whose columns form a row, in this order. */
static const dfl_figure_scope scopes[] = { DFL_SCOPE_MAPPING, DFL_SCOPE_MEMORY, DFL_SCOPE_TRAFFIC, DFL_SCOPE_NETWORK,
                                           DFL_SCOPE_LINK };
enum { N_SCOPES = sizeof scopes / sizeof scopes[0] };
/* Kinds of rows: bit sets of positions in `scopes`, and the row of the sums. */
enum {
    ROW_MAPPING = 1,
    ROW_TRAFFIC = ROW_MAPPING | 1 << 1 | 1 << 2,
    ROW_LINK = ROW_MAPPING | 1 << 3 | 1 << 4,
    ROW_SUM = 1 << N_SCOPES
};

void dfl_csv_cell(dfl_strbuf *out, const char *text)
{
    if (!text)
        return;
    if (!text[strcspn(text, ",\"\r\n")]) {
        dfl_strbuf_z(out, text);
        return;
    }
    dfl_strbuf_char(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            dfl_strbuf_char(out, '"');
        dfl_strbuf_char(out, *text);
    }
    dfl_strbuf_char(out, '"');
}

/* Prints a value into a cell; a cell without a value stays empty. */
static void add_value(dfl_strbuf *out, dfl_figure_kind kind, const dfl_figure_value *value)
{
    char digits[32];

    if (value->state != DFL_VALUE_GIVEN)
        return;
    if (kind == DFL_FIGURE_COUNT) {
        dfl_strbuf_i128(out, value->count);
    } else if (kind == DFL_FIGURE_REAL) {
        dfl_double_text(value->real, digits);
        dfl_strbuf_z(out, digits);
    } else {
        dfl_csv_cell(out, value->text);
    }
}

static void add_figure(dfl_strbuf *out, const dfl_figure *figure, const dfl_figure_place *at)
{
    dfl_figure_place below;
    dfl_figure_value value;

    if (figure->kind == DFL_FIGURE_OBJECT) {
        if (!dfl_figure_is_there(figure, at))
            return;
        below = dfl_figure_below(figure, at);
        at = &below;
        figure = dfl_figure_obvious(below.scope);
    }
    value = dfl_figure_get(figure, at);
    add_value(out, figure->kind, &value);
}

/* Whether a figure of a mapping is a sum in the last row: latency, energy, operations. */
static bool is_summed(const dfl_figure *figure)
{
    return strcmp(figure->key, "latency") == 0 || strcmp(figure->key, "energy") == 0 || strcmp(figure->key, "mac") == 0 ||
           strcmp(figure->key, "flop") == 0 || strcmp(figure->key, "padding") == 0 || strcmp(figure->key, "extra") == 0;
}

/* Prints the cell of a figure of the scope `s` in the row of the sums. `at` is the place of the sums; NULL = no sum is known. */
static void add_sum(dfl_strbuf *out, const dfl_figure *figure, uint32_t s, const dfl_figure_place *at)
{
    if (s == 0 && strcmp(figure->key, "name") == 0)
        dfl_strbuf_z(out, "sum");
    else if (s == 0 && at && is_summed(figure))
        add_figure(out, figure, at);
}

/* Prints one row of a kind: the figures at the places of its scopes, and empty cells for the other scopes. Prints the header
   if the kind is 0. Columns with the view LAST stand behind all others. */
static void add_row(dfl_strbuf *out, const dfl_figure_place *places, uint32_t kind)
{
    const char *comma = "";

    for (uint32_t k = 0; k < 2 * N_SCOPES; k++) {
        const uint32_t s = k % N_SCOPES, last = k < N_SCOPES ? 0 : DFL_VIEW_LAST;
        uint32_t n_figures;
        const dfl_figure *figures = dfl_figures(scopes[s], &n_figures);

        for (uint32_t i = 0; i < n_figures; i++) {
            if (!figures[i].column || (figures[i].views & DFL_VIEW_LAST) != last)
                continue;
            dfl_strbuf_z(out, comma);
            comma = ",";
            if (kind == 0)
                dfl_strbuf_z(out, figures[i].column);
            else if (kind == ROW_SUM)
                add_sum(out, &figures[i], s, places);
            else if (s == 0 && places->item->of && strcmp(figures[i].key, "name") == 0)
                dfl_csv_cell(out, dfl_report_name(out->arena, places->results, places->item));
            else if (kind >> s & 1)
                add_figure(out, &figures[i], &places[s]);
        }
    }
    dfl_strbuf_z(out, "\r\n");
}

/* Prints one row for each class of links of the networks that carry bits. */
static void add_links(dfl_strbuf *out, const dfl_result_item *item, dfl_figure_place *places)
{
    for (uint32_t n = 0; n < item->mapping->system->n_networks; n++) {
        const dfl_network_cost *cost = &item->result->networks[n];
        if (cost->delivered_bits == 0 && cost->collected_bits == 0)
            continue;
        places[3].part = places[4].part = n;
        for (uint32_t k = 0; k < cost->n_classes; k++) {
            places[4].tensor = k;
            add_row(out, places, ROW_LINK);
        }
    }
}

void dfl_report_csv(dfl_strbuf *out, const dfl_results *results)
{
    add_row(out, NULL, 0);
    for (uint32_t i = 0; i < results->n_items; i++) {
        const dfl_result_item *item = &results->items[i];
        dfl_figure_place places[N_SCOPES];

        for (uint32_t s = 0; s < N_SCOPES; s++) {
            places[s] = dfl_figure_place_of(results, item, out->arena);
            places[s].scope = scopes[s];
        }
        if (!item->result || item->result->plan) {
            add_row(out, places, ROW_MAPPING);
            continue;
        }
        for (uint32_t k = 0; k < item->result->n_traffic; k++) {
            places[1].part = places[2].part = item->result->traffic[k].memory;
            places[2].tensor = item->result->traffic[k].tensor;
            add_row(out, places, ROW_TRAFFIC);
        }
        add_links(out, item, places);
    }
    if (results->has_sum) {
        dfl_figure_place at;
        bool is_known = dfl_figure_place_of_sum(results, out->arena, &at);
        at.scope = DFL_SCOPE_MAPPING;
        add_row(out, is_known ? &at : NULL, ROW_SUM);
    }
}
