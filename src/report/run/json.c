/*
 * `dfl-report/1`: SI units, counts as integers of any length. grammar/dfl-report-1.schema.json describes it; within
 * version 1 keys are only added.
 */
#include "report/report.h"

#include <math.h>

#include "diag/render_json.h"
#include "ir/print.h"
#include "support/json_write.h"

typedef struct {
    dfl_json_writer *w;
    const dfl_results *results;
    const dfl_result_item *item;
    const dfl_result *result;
    const dfl_workload *workload;
    const dfl_system *system;
} context;

static const char *text_of(const context *c, dfl_sym sym)
{
    return dfl_sym_text(c->results->names, sym);
}

static void key_string(const context *c, const char *key, const char *text)
{
    dfl_json_key(c->w, key);
    dfl_json_string(c->w, text);
}

static void key_double(const context *c, const char *key, double value)
{
    dfl_json_key(c->w, key);
    dfl_json_double(c->w, value);
}

static void key_count(const context *c, const char *key, dfl_i128 value)
{
    dfl_json_key(c->w, key);
    dfl_json_i128(c->w, value);
}

/* A sum that does not fit 128 bits is null: the parts stand beside it. */
static void key_sum(const context *c, const char *key, bool overflow, dfl_i128 value)
{
    dfl_json_key(c->w, key);
    if (overflow)
        dfl_json_null(c->w);
    else
        dfl_json_i128(c->w, value);
}

static void open_object(const context *c, const char *key)
{
    dfl_json_key(c->w, key);
    dfl_json_object(c->w);
}

static void open_array(const context *c, const char *key)
{
    dfl_json_key(c->w, key);
    dfl_json_array(c->w);
}

static void write_name(void *writer, const char *name) { dfl_json_string(writer, name); }

static void write_latency(const context *c)
{
    open_object(c, "latency");
    key_double(c, "seconds", c->result->seconds);
    dfl_json_key(c->w, "cycles");
    if (dfl_report_clock(c->system) > 0)
        dfl_json_double(c->w, dfl_report_cycles(c->system, c->result->seconds));
    else
        dfl_json_null(c->w);
    key_string(c, "bound_by", c->result->bound_by);
    open_array(c, "free");
    dfl_report_free(c->results, c->result, write_name, c->w);
    dfl_json_end_array(c->w);
    open_array(c, "untimed");
    dfl_report_untimed(c->results, c->system, write_name, c->w);
    dfl_json_end_array(c->w);
    dfl_json_end_object(c->w);
}

/* One port of a memory: how many bits moved, what one costs, what that makes. */
static void write_port(const context *c, const char *port, bool overflow, dfl_i128 bits, double price, double joules)
{
    open_object(c, port);
    key_sum(c, "bits", overflow, bits);
    key_double(c, "joules_per_bit", price);
    key_double(c, "joules", joules);
    dfl_json_end_object(c->w);
}

static void write_memory_energy(const context *c, uint32_t i)
{
    const dfl_memory *m = &c->system->memories[i];
    const dfl_memory_cost *cost = &c->result->memories[i];
    dfl_i128 read, written;
    bool overflow = dfl_memory_bits(c->result, i, &read, &written);

    open_object(c, text_of(c, m->name));
    key_double(c, "joules", cost->read_joules + cost->write_joules);
    dfl_json_key(c->w, "declared");
    dfl_json_bool(c->w, m->has_read_energy || m->has_write_energy);
    open_object(c, "actions");
    write_port(c, "read", overflow, read, m->read_energy, cost->read_joules);
    write_port(c, "write", overflow, written, m->write_energy, cost->write_joules);
    dfl_json_end_object(c->w);
    dfl_json_end_object(c->w);
}

static void write_part_energy(const context *c, dfl_sym name, bool declared, double joules)
{
    open_object(c, text_of(c, name));
    key_double(c, "joules", joules);
    dfl_json_key(c->w, "declared");
    dfl_json_bool(c->w, declared);
    dfl_json_end_object(c->w);
}

static void write_energy(const context *c)
{
    const dfl_system *s = c->system;

    open_object(c, "energy");
    key_double(c, "joules", c->result->joules);
    key_double(c, "leakage", c->result->leakage_joules);
    open_object(c, "components");
    for (uint32_t i = 0; i < s->n_memories; i++)
        write_memory_energy(c, i);
    for (uint32_t i = 0; i < s->n_computes; i++)
        write_part_energy(c, s->computes[i].name, s->computes[i].has_energy, c->result->compute_joules[i]);
    for (uint32_t i = 0; i < s->n_networks; i++)
        write_part_energy(c, s->networks[i].name, s->networks[i].has_energy, c->result->network_joules[i]);
    dfl_json_end_object(c->w);
    dfl_json_end_object(c->w);
}

static void write_operations(const context *c)
{
    const dfl_result *r = c->result;
    dfl_i128 total;
    bool overflow = dfl_mul(r->macs, 2, &total) || dfl_add(total, r->flops, &total);

    open_object(c, "operations");
    key_count(c, "mac", r->macs);
    key_count(c, "flop", r->flops);
    key_count(c, "padding", r->padding);
    key_count(c, "extra", r->extra);
    key_sum(c, "total_flop", overflow, total);
    dfl_json_end_object(c->w);
}

static void write_einsum(const context *c, uint32_t i)
{
    const dfl_einsum_cost *e = &c->result->einsums[i];
    const char *unit = text_of(c, c->system->computes[e->compute].name);

    dfl_json_object(c->w);
    key_string(c, "name", text_of(c, c->workload->einsums[i].name));
    key_double(c, "seconds", e->seconds);
    key_double(c, "joules", e->joules);
    key_string(c, "bound_by", e->bound_by);
    key_string(c, "unit", unit);
    key_count(c, "mac", e->macs);
    key_count(c, "flop", e->flops);
    key_count(c, "padding", e->padding);
    key_count(c, "extra", e->extra);
    key_count(c, "points", e->points);
    key_count(c, "steps", e->steps);
    open_object(c, "components");
    open_object(c, unit);
    key_double(c, "seconds", e->compute_seconds);
    dfl_json_end_object(c->w);
    dfl_json_end_object(c->w);
    dfl_json_end_object(c->w);
}

static void write_traffic(const context *c, const dfl_traffic *t)
{
    dfl_i128 sum;
    bool overflow;

    open_object(c, text_of(c, c->workload->tensors[t->tensor].name));
    overflow = dfl_counts_reads(&t->counts, &sum);
    key_sum(c, "reads", overflow, sum);
    key_count(c, "serve", t->counts.serve);
    key_count(c, "drain", t->counts.drain);
    key_count(c, "accumulate", t->counts.accumulate);
    overflow = dfl_counts_writes(&t->counts, &sum);
    key_sum(c, "writes", overflow, sum);
    key_count(c, "fill", t->counts.fill);
    key_count(c, "update", t->counts.update);
    key_count(c, "peak_bits", t->peak_bits);
    key_double(c, "joules", t->joules);
    dfl_json_end_object(c->w);
}

static void write_memory(const context *c, uint32_t i)
{
    const dfl_memory *m = &c->system->memories[i];
    const dfl_memory_cost *cost = &c->result->memories[i];

    dfl_json_object(c->w);
    key_string(c, "name", text_of(c, m->name));
    key_count(c, "instances", cost->instances);
    dfl_json_key(c->w, "size_bits");
    if (m->size_bits < 0)
        dfl_json_null(c->w);
    else
        dfl_json_int(c->w, m->size_bits);
    key_count(c, "peak_bits", cost->peak_bits);
    dfl_json_key(c->w, "peak_at");
    dfl_json_string(c->w, dfl_report_place(c->w->out->arena, c->results, cost->peak_at));
    key_double(c, "read_seconds", cost->read_seconds);
    key_double(c, "write_seconds", cost->write_seconds);
    open_object(c, "tensors");
    for (uint32_t k = 0; k < c->result->n_traffic; k++)
        if (c->result->traffic[k].memory == i)
            write_traffic(c, &c->result->traffic[k]);
    dfl_json_end_object(c->w);
    dfl_json_end_object(c->w);
}

static void write_network(const context *c, uint32_t i)
{
    const dfl_network *n = &c->system->networks[i];

    dfl_json_object(c->w);
    key_string(c, "name", text_of(c, n->name));
    key_string(c, "kind", text_of(c, n->kind));
    key_double(c, "joules", c->result->network_joules[i]);
    open_array(c, "axes");
    for (uint32_t k = 0; k < c->system->n_axes; k++) {
        const dfl_axis *axis = &c->system->axes[k];

        if (axis->network != i)
            continue;
        dfl_json_object(c->w);
        key_string(c, "name", text_of(c, axis->name));
        key_count(c, "size", axis->size);
        key_count(c, "forwarded", c->result->links[k].forwarded);
        dfl_json_end_object(c->w);
    }
    dfl_json_end_array(c->w);
    dfl_json_end_object(c->w);
}

/* What the system is said to cost; what was not declared is left out. */
static void write_machine(const context *c)
{
    const dfl_system *s = c->system;

    open_object(c, "machine");
    if (s->price > 0)
        key_double(c, "usd", s->price);
    if (s->tdp > 0)
        key_double(c, "tdp_watts", s->tdp);
    key_double(c, "watts", c->result->watts);
    if (c->result->area > 0)
        key_double(c, "mm2", c->result->area * 1e6);
    if (s->source)
        key_string(c, "source", text_of(c, s->source));
    if (s->confidence)
        key_string(c, "confidence", text_of(c, s->confidence));
    dfl_json_end_object(c->w);
}

static void write_costs(const context *c)
{
    write_latency(c);
    write_energy(c);
    write_operations(c);
    key_double(c, "utilization", c->result->utilization);
    open_array(c, "einsums");
    for (uint32_t i = 0; i < c->workload->n_einsums; i++)
        write_einsum(c, i);
    dfl_json_end_array(c->w);
    open_array(c, "memories");
    for (uint32_t i = 0; i < c->system->n_memories; i++)
        write_memory(c, i);
    dfl_json_end_array(c->w);
    open_array(c, "networks");
    for (uint32_t i = 0; i < c->system->n_networks; i++)
        write_network(c, i);
    dfl_json_end_array(c->w);
    write_machine(c);
}

/* A bound that is not known is null. */
static void write_search(const context *c, const dfl_search_found *s)
{
    open_object(c, "search");
    dfl_json_key(c->w, "optimal");
    dfl_json_bool(c->w, s->optimal);
    key_string(c, "objective", s->objective);
    key_double(c, "value", s->value);
    dfl_json_key(c->w, "lower_bound");
    if (isnan(s->lower_bound))
        dfl_json_null(c->w);
    else
        dfl_json_double(c->w, s->lower_bound);
    key_string(c, "space", s->space);
    if (s->unproven)
        key_string(c, "unproven", s->unproven);
    key_count(c, "evaluated", s->evaluated);
    key_count(c, "pruned", s->pruned);
    key_count(c, "refused", s->refused);
    open_object(c, "limits");
    if (s->most_evaluations > 0)
        key_count(c, "evaluations", s->most_evaluations);
    if (s->time_limit > 0)
        key_double(c, "seconds", s->time_limit);
    if (s->max_fused > 0)
        key_count(c, "fused_loops", s->max_fused - 1);
    dfl_json_end_object(c->w);
    dfl_json_end_object(c->w);
}

static void write_item(dfl_json_writer *w, const dfl_results *results, const dfl_result_item *item)
{
    const dfl_mapping *m = item->mapping;
    const context c = { w, results, item, item->result, m->workload, m->system };
    const char *source_name = dfl_source_name(w->out->arena, m);
    uint32_t passed = 0;
    dfl_strbuf text;

    dfl_json_object(w);
    key_string(&c, "name", text_of(&c, m->name));
    if (source_name)
        key_string(&c, "source_name", source_name);
    key_string(&c, "kind", "mapping");
    key_string(&c, "workload", text_of(&c, m->workload->name));
    key_string(&c, "system", text_of(&c, m->system->name));
    key_string(&c, "status", dfl_status_text(item->status));
    if (item->search)
        write_search(&c, item->search);
    if (item->result) {
        dfl_strbuf_init(&text, w->out->arena);
        dfl_mapping_print(&text, results->names, m, DFL_PRINT_INDENT);
        write_costs(&c);
        key_string(&c, "mapping", text.text);
    }
    for (uint32_t i = 0; i < results->n_checks; i++)
        passed += results->checks[i].check->scope == m->name && results->checks[i].outcome == DFL_OUTCOME_PASSED;
    key_count(&c, "checks_passed", passed);
    dfl_json_end_object(w);
}

static void write_check(dfl_json_writer *w, const dfl_results *results, const dfl_check_outcome *o)
{
    dfl_json_object(w);
    dfl_json_key(w, "kind");
    dfl_json_string(w, dfl_check_kind_text(o->check->kind));
    dfl_json_key(w, "text");
    dfl_json_string(w, o->check->text);
    dfl_json_key(w, "ok");
    if (o->outcome == DFL_OUTCOME_UNKNOWN)
        dfl_json_null(w);
    else
        dfl_json_bool(w, o->outcome == DFL_OUTCOME_PASSED);
    dfl_json_key(w, "value");
    if (o->has_number)
        dfl_json_double(w, o->number);
    else
        dfl_json_string(w, o->word);
    dfl_json_key(w, "line");
    dfl_json_int(w, dfl_report_line(results, o->check->span));
    if (o->check->source) {
        dfl_json_key(w, "source");
        dfl_json_string(w, dfl_sym_text(results->names, o->check->source));
    }
    dfl_json_end_object(w);
}

void dfl_report_json(dfl_strbuf *out, const dfl_results *results)
{
    dfl_json_writer w;

    dfl_json_start(&w, out, 2);
    dfl_json_object(&w);
    dfl_json_key(&w, "schema");
    dfl_json_string(&w, "dfl-report/1");
    dfl_json_key(&w, "file");
    dfl_json_string(&w, dfl_report_file(results->file));
    dfl_json_key(&w, "dflc");
    dfl_json_string(&w, DFL_VERSION);
    dfl_json_key(&w, "results");
    dfl_json_array(&w);
    for (uint32_t i = 0; i < results->n_items; i++)
        write_item(&w, results, &results->items[i]);
    dfl_json_end_array(&w);
    dfl_json_key(&w, "checks");
    dfl_json_array(&w);
    for (uint32_t i = 0; i < results->n_checks; i++)
        write_check(&w, results, &results->checks[i]);
    dfl_json_end_array(&w);
    dfl_json_key(&w, "diagnostics");
    dfl_json_array(&w);
    dfl_render_json_items(&w, results->sink);
    dfl_json_end_array(&w);
    dfl_json_end_object(&w);
    dfl_strbuf_char(out, '\n');
}
