#include <math.h>
#include <string.h>

#include "report/report.h"

const char *dfl_status_text(dfl_result_status status)
{
    switch (status) {
    case DFL_STATUS_COMPLETE: return "complete";
    case DFL_STATUS_FILLED: return "filled";
    case DFL_STATUS_INFEASIBLE: break;
    }
    return "infeasible";
}

const char *dfl_check_kind_text(dfl_check_kind kind)
{
    switch (kind) {
    case DFL_CHECK_REQUIRE: return "require";
    case DFL_CHECK_EXPECT: return "expect";
    case DFL_CHECK_ASSUME: break;
    }
    return "assume";
}

const char *dfl_outcome_text(dfl_outcome outcome)
{
    switch (outcome) {
    case DFL_OUTCOME_PASSED: return "passed";
    case DFL_OUTCOME_FAILED: return "failed";
    case DFL_OUTCOME_UNKNOWN: break;
    }
    return "unknown";
}

const char *dfl_report_name(dfl_arena *arena, const dfl_results *results, const dfl_result_item *item)
{
    const char *name = dfl_sym_text(results->names, item->mapping->name);

    return item->of ? dfl_arena_printf(arena, "%s:%s", item->of->file, name) : name;
}

const char *dfl_report_file(const char *file)
{
    const char *slash = strrchr(file, '/');

    return slash && slash[1] ? slash + 1 : file;
}

uint32_t dfl_report_line(const dfl_results *results, dfl_span span)
{
    return span.end == 0 ? 0 : dfl_place_of(dfl_sink_sources(results->sink), span.start).line;
}

const char *dfl_report_place(dfl_arena *arena, const dfl_results *results, dfl_span span)
{
    dfl_place place = span.end ? dfl_place_of(dfl_sink_sources(results->sink), span.start) : (dfl_place){ 0 };

    if (!place.source)
        return NULL;
    if (strcmp(place.source->name, results->file) == 0)
        return dfl_arena_printf(arena, "line %u", place.line);
    return dfl_arena_printf(arena, "%s line %u", place.source->name, place.line);
}

bool dfl_counts_reads(const dfl_counts *counts, dfl_i128 *out)
{
    return dfl_add(counts->serve, counts->drain, out) || dfl_add(*out, counts->accumulate, out);
}

bool dfl_counts_writes(const dfl_counts *counts, dfl_i128 *out)
{
    return dfl_add(counts->fill, counts->update, out);
}

bool dfl_memory_bits(const dfl_result *result, uint32_t memory, dfl_i128 *read, dfl_i128 *written)
{
    bool over = false;

    *read = *written = 0;
    for (uint32_t i = 0; i < result->n_traffic; i++) {
        const dfl_traffic *t = &result->traffic[i];
        dfl_i128 bits, n;

        if (t->memory != memory)
            continue;
        bits = result->mapping->workload->tensors[t->tensor].type.bits;
        over |= dfl_counts_reads(&t->counts, &n) || dfl_mul(n, bits, &n) || dfl_add(*read, n, read);
        over |= dfl_counts_writes(&t->counts, &n) || dfl_mul(n, bits, &n) || dfl_add(*written, n, written);
    }
    return over;
}

/* Adds so many units of so many bits. Returns true on overflow. */
static bool add_bits(dfl_i128 *sum, dfl_i128 n, dfl_i128 bits)
{
    return dfl_mul(n, bits, &n) || dfl_add(*sum, n, sum);
}

bool dfl_memory_charged_bits(const dfl_result *result, uint32_t memory, dfl_charged_bits *out)
{
    const dfl_memory *m = &result->mapping->system->memories[memory];
    bool over = false;

    *out = (dfl_charged_bits){ 0, 0, 0 };
    for (uint32_t i = 0; i < result->n_traffic; i++) {
        const dfl_traffic *t = &result->traffic[i];
        dfl_i128 bits = m->access_bits != 0 ? m->access_bits : result->mapping->workload->tensors[t->tensor].type.bits;
        dfl_row_counts n = t->rows;

        if (t->memory != memory)
            continue;
        if (m->access_bits == 0)
            over |= dfl_add(t->counts.serve, t->counts.accumulate, &n.read);
        if (m->access_bits == 0)
            n = (dfl_row_counts){ n.read, t->counts.drain, t->counts.fill, t->counts.update };
        over |= add_bits(&out->read, n.read, bits);
        over |= add_bits(m->has_drain_energy ? &out->drained : &out->read, n.drain, bits);
        over |= add_bits(&out->written, n.fill, bits) || add_bits(&out->written, n.update, bits);
    }
    return over;
}

double dfl_report_clock(const dfl_system *system)
{
    for (uint32_t i = 0; i < system->n_elements; i++)
        if (system->elements[i].clock > 0)
            return system->elements[i].clock;
    return 0;
}

double dfl_report_cycles(const dfl_system *system, double seconds)
{
    double cycles = seconds * dfl_report_clock(system), whole = nearbyint(cycles);

    return fabs(cycles - whole) <= 1e-9 * fabs(cycles) ? whole : cycles;
}

static void list_attribute(dfl_arena *arena, dfl_attribute_list *list, const dfl_results *results, dfl_sym name,
                           const char *attribute)
{
    DFL_PUSH(arena, list, dfl_arena_printf(arena, "%s%s", dfl_sym_text(results->names, name), attribute));
}

const dfl_attribute_list *dfl_report_untimed(dfl_arena *arena, const dfl_results *results, const dfl_result *result)
{
    dfl_attribute_list *list = DFL_NEW(arena, dfl_attribute_list);
    const dfl_system *system = result->mapping->system;
    const bool is_plan = result->plan != NULL, perfect = result->mapping->options.overlap_perfect;

    for (uint32_t i = 0; i < system->n_memories; i++)
        if ((perfect || is_plan) && system->memories[i].latency > 0)
            list_attribute(arena, list, results, system->memories[i].name, ".latency");
    for (uint32_t i = 0; i < system->n_networks; i++) {
        const dfl_network *n = &system->networks[i];
        const bool is_used = is_plan ? result->networks[i].seconds > 0
                                     : result->networks[i].delivered_bits > 0 || result->networks[i].collected_bits > 0;
        if (!is_used && n->bandwidth > 0 && !isinf(n->bandwidth))
            list_attribute(arena, list, results, n->name, ".bandwidth");
        if ((!is_used || (perfect && !is_plan)) && n->latency > 0)
            list_attribute(arena, list, results, n->name, ".latency");
    }
    return list;
}

const dfl_attribute_list *dfl_report_free(dfl_arena *arena, const dfl_results *results, const dfl_result *result)
{
    dfl_attribute_list *list = DFL_NEW(arena, dfl_attribute_list);
    uint32_t last = DFL_NONE;

    for (uint32_t i = 0; i < result->n_traffic; i++) { /* sorted by memory */
        const dfl_memory *m = &result->mapping->system->memories[result->traffic[i].memory];
        bool read = isinf(m->read_rate), write = isinf(m->write_rate);
        if (result->traffic[i].memory != last && (read || write))
            list_attribute(arena, list, results, m->name, !write ? ".read" : !read ? ".write" : "");
        last = result->traffic[i].memory;
    }
    return list;
}

const char *dfl_source_name(dfl_arena *arena, const dfl_mapping *mapping)
{
    static const char key[] = "source_name:";
    const char *at = mapping->doc ? strstr(mapping->doc, key) : NULL;
    size_t len;

    if (!at)
        return NULL;
    at += sizeof key - 1;
    at += strspn(at, " \t");
    len = strcspn(at, "\r\n");
    while (len > 0 && (at[len - 1] == ' ' || at[len - 1] == '\t'))
        len--;
    return dfl_arena_copy(arena, at, len);
}

void dfl_report_template(const dfl_results *results, const dfl_template *template, dfl_span at)
{
    const char *name = dfl_sym_text(results->names, template->name), *missing = dfl_sym_text(results->names, template->missing);
    const char *owner = dfl_sym_text(results->names, template->owner);
    dfl_diag *d = dfl_report(results->sink, DFL_MAP_TEMPLATE, at, "`%s` is a template: it has no cost until `%s` has a value",
                             name, missing);

    dfl_diag_label(results->sink, d, template->missing_span, "`%s` is declared here without a value", missing);
    switch (template->lacks) {
    case DFL_LACKS_OWN:
        dfl_diag_help(results->sink, d, "bind it: `mapping NAME = %s(%s = ...);`", name, missing);
        break;
    case DFL_LACKS_WORKLOAD:
        dfl_diag_help(results->sink, d, "add `%s = ...` to the arguments of `%s`, or bind it: `mapping NAME = %s for "
                      "%s(%s = ...);`",
                      missing, owner, name, owner, missing);
        break;
    case DFL_LACKS_SYSTEM:
        dfl_diag_help(results->sink, d, "add `%s = ...` to the arguments of `%s`, or bind it: `mapping NAME = %s on "
                      "%s(%s = ...);`",
                      missing, owner, name, owner, missing);
        break;
    }
}
