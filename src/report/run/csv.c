/*
 * One row for each mapping, memory and tensor; what belongs to the mapping or the memory is repeated in its rows, so
 * every row can be filtered and summed alone. A mapping without a result has one row with its status. Seconds,
 * joules, bits, elements.
 */
#include "report/report.h"

#include <string.h>

#include "support/number.h"

static const char header[] =
    "name,workload,system,status,seconds,joules,utilization,bound_by,mac,flop,padding,extra,memory,instances,size_bits,"
    "memory_peak_bits,tensor,serve,drain,accumulate,fill,update,peak_bits,tensor_joules\r\n";
enum { COLUMNS_AFTER_STATUS = 20 };

static void add_text(dfl_strbuf *out, const char *text)
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

static void add_double(dfl_strbuf *out, double value)
{
    char digits[32];

    dfl_double_text(value, digits);
    dfl_strbuf_char(out, ',');
    dfl_strbuf_z(out, digits);
}

static void add_count(dfl_strbuf *out, dfl_i128 value)
{
    dfl_strbuf_char(out, ',');
    dfl_strbuf_i128(out, value);
}

static void add_design(dfl_strbuf *out, const dfl_results *results, const dfl_result_item *item)
{
    const dfl_mapping *m = item->mapping;

    add_text(out, dfl_sym_text(results->names, m->name));
    dfl_strbuf_char(out, ',');
    add_text(out, dfl_sym_text(results->names, m->workload->name));
    dfl_strbuf_char(out, ',');
    add_text(out, dfl_sym_text(results->names, m->system->name));
    dfl_strbuf_char(out, ',');
    dfl_strbuf_z(out, dfl_status_text(item->status));
}

static void add_row(dfl_strbuf *out, const dfl_results *results, const dfl_result_item *item, const dfl_traffic *t)
{
    const dfl_result *r = item->result;
    const dfl_memory *memory = &item->mapping->system->memories[t->memory];
    const dfl_memory_cost *cost = &r->memories[t->memory];

    add_design(out, results, item);
    add_double(out, r->seconds);
    add_double(out, r->joules);
    add_double(out, r->utilization);
    dfl_strbuf_char(out, ',');
    add_text(out, r->bound_by);
    add_count(out, r->macs);
    add_count(out, r->flops);
    add_count(out, r->padding);
    add_count(out, r->extra);
    dfl_strbuf_char(out, ',');
    add_text(out, dfl_sym_text(results->names, memory->name));
    add_count(out, cost->instances);
    if (memory->size_bits < 0)
        dfl_strbuf_char(out, ',');
    else
        add_count(out, memory->size_bits);
    add_count(out, cost->peak_bits);
    dfl_strbuf_char(out, ',');
    add_text(out, dfl_sym_text(results->names, item->mapping->workload->tensors[t->tensor].name));
    add_count(out, t->counts.serve);
    add_count(out, t->counts.drain);
    add_count(out, t->counts.accumulate);
    add_count(out, t->counts.fill);
    add_count(out, t->counts.update);
    add_count(out, t->peak_bits);
    add_double(out, t->joules);
    dfl_strbuf_z(out, "\r\n");
}

void dfl_report_csv(dfl_strbuf *out, const dfl_results *results)
{
    dfl_strbuf_z(out, header);
    for (uint32_t i = 0; i < results->n_items; i++) {
        const dfl_result_item *item = &results->items[i];

        if (!item->result) {
            add_design(out, results, item);
            for (int k = 0; k < COLUMNS_AFTER_STATUS; k++)
                dfl_strbuf_char(out, ',');
            dfl_strbuf_z(out, "\r\n");
            continue;
        }
        for (uint32_t k = 0; k < item->result->n_traffic; k++)
            add_row(out, results, item, &item->result->traffic[k]);
    }
}
