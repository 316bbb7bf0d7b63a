/*
 * One row for each mapping, for `dflc map --format csv`: what a search decided about a plan over chips, what a step takes by
 * part, what the memories of a chip hold at the peak, and what the system costs. Units: seconds, joules, bits, USD, W.
 */
#include <string.h>

#include "ir/plan_result.h"
#include "report/print/print.h"
#include "support/number.h"

enum { KINDS = DFL_PARALLEL_OPTIMIZER + 1 };

typedef struct {
    dfl_strbuf *out;
    const dfl_results *results;
    const dfl_intern *names;
} table;

static const char *sym(const table *t, dfl_sym name) { return dfl_sym_text(t->names, name); }

static void add_real(const table *t, double value)
{
    char digits[32];

    dfl_double_text(value, digits);
    dfl_strbuf_printf(t->out, ",%s", digits);
}

static void add_text(const table *t, const char *text)
{
    dfl_strbuf_char(t->out, ',');
    dfl_csv_cell(t->out, text);
}

/* A figure of the system; empty if nothing declares it. */
static void add_declared(const table *t, double value)
{
    if (value > 0)
        add_real(t, value);
    else
        dfl_strbuf_char(t->out, ',');
}

/* ---- columns of memories ---- */

/* The most that a stage of a plan holds in the memory called `name`; -1 = it has none. */
static dfl_i128 find_peak(const dfl_result_item *item, dfl_sym name)
{
    const dfl_plan_result *plan = item->result != NULL ? item->result->plan : NULL;
    dfl_i128 most = -1;

    for (uint32_t m = 0; plan != NULL && m < item->mapping->system->n_memories; m++)
        for (int64_t s = 0; s < plan->n_stages && item->mapping->system->memories[m].name == name; s++)
            most = plan->stages[s].memories[m].peak_bits > most ? plan->stages[s].memories[m].peak_bits : most;
    return most;
}

/* The names of the memories in which some plan holds something. */
static dfl_sym *list_memories(const table *t, uint32_t *n)
{
    dfl_sym *out = NULL;
    size_t most = 1;

    for (uint32_t i = 0; i < t->results->n_items; i++)
        most += t->results->items[i].mapping->system->n_memories;
    out = DFL_NEW_ARRAY(t->out->arena, dfl_sym, most);
    for (uint32_t i = 0; i < t->results->n_items; i++)
        for (uint32_t m = 0; m < t->results->items[i].mapping->system->n_memories; m++) {
            const dfl_sym name = t->results->items[i].mapping->system->memories[m].name;
            uint32_t k = 0;

            while (k < *n && out[k] != name)
                k++;
            if (k == *n && find_peak(&t->results->items[i], name) > 0)
                out[(*n)++] = name;
        }
    return out;
}

/* ---- cells ---- */

/* The lines of a kind as the language has them: "b/8 on node; h/8, f/8 on gpu"; "b:1; layer". */
static const char *lines_text(const table *t, const dfl_mapping *m, dfl_line_kind kind)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, t->out->arena);
    for (uint32_t i = 0; i < m->root->n_lines; i++) {
        const dfl_line *line = &m->root->lines[i];

        if (line->kind != kind || !dfl_line_is_first(m->root, i))
            continue;
        dfl_strbuf_printf(&out, "%s%s%s%lld", out.len > 0 ? "; " : "", sym(t, dfl_line_rank_name(m->workload, line)),
                          line->by == DFL_BY_PARTS ? "/" : ":", (long long)line->amount);
        if (kind == DFL_LINE_SPATIAL)
            dfl_strbuf_printf(&out, " on %s", sym(t, m->system->axes[line->axis].name));
    }
    return out.len > 0 ? out.text : "";
}

/* The parts of homes, each once: "d/8 on node". */
static const char *splits_text(const table *t, const dfl_mapping *m)
{
    const char *out = "";

    for (uint32_t i = 0; i < m->root->n_lines; i++)
        for (uint32_t k = 0; k < m->root->lines[i].n_splits; k++) {
            const dfl_home_split *split = &m->root->lines[i].splits[k];
            const char *one = dfl_arena_printf(t->out->arena, "%s%s%lld on %s", sym(t, split->rank_name),
                                               split->by == DFL_BY_PARTS ? "/" : ":", (long long)split->amount,
                                               sym(t, m->system->axes[split->axis].name));

            if (strstr(out, one) == NULL)
                out = dfl_arena_printf(t->out->arena, "%s%s%s", out, *out != 0 ? "; " : "", one);
        }
    return out;
}

/* Whether a memory lies outside of another one in which the mapping keeps tensors. */
static bool is_outside(const dfl_mapping *m, uint32_t memory)
{
    const dfl_system *s = m->system;
    const uint32_t element = s->memories[memory].element;

    for (uint32_t i = 0; i < m->root->n_lines; i++) {
        const dfl_line *line = &m->root->lines[i];

        if (line->kind == DFL_LINE_KEEP && s->memories[line->memory].element != element &&
            dfl_element_within(s, s->memories[line->memory].element, element))
            return true;
    }
    return false;
}

/* What lies outside of the chips: "W moment1.W in host". */
static const char *homes_text(const table *t, const dfl_mapping *m)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, t->out->arena);
    for (uint32_t memory = 0; memory < m->system->n_memories; memory++) {
        bool is_first = true;

        for (uint32_t i = 0; i < m->root->n_lines && is_outside(m, memory); i++) {
            const dfl_line *line = &m->root->lines[i];

            if (line->kind != DFL_LINE_KEEP || line->memory != memory)
                continue;
            dfl_strbuf_printf(&out, "%s%s", !is_first ? " " : out.len > 0 ? "; " : "",
                              sym(t, m->workload->tensors[line->tensor].name));
            is_first = false;
        }
        if (!is_first)
            dfl_strbuf_printf(&out, " in %s", sym(t, m->system->memories[memory].name));
    }
    return out.len > 0 ? out.text : "";
}

static const char *recomputed_text(const table *t, const dfl_mapping *m)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, t->out->arena);
    for (uint32_t i = 0; i < m->root->n_recompute; i++)
        dfl_strbuf_printf(&out, "%s%s", i > 0 ? " " : "", sym(t, m->workload->tensors[m->root->recompute[i]].name));
    return out.len > 0 ? out.text : "none";
}

/* ---- rows ---- */

static void add_header(const table *t, const dfl_sym *memories, uint32_t n)
{
    dfl_strbuf_z(t->out, "mapping,status,proof,value,seconds,joules,chips");
    for (int k = 0; k < KINDS; k++)
        dfl_strbuf_printf(t->out, ",%s", dfl_parallel_name((dfl_parallel)k));
    dfl_strbuf_z(t->out, ",spatial,temporal,splits,homes,recomputed,schedule,interleave,micro_batches");
    for (int k = 0; k < DFL_N_STEP_PARTS; k++)
        dfl_strbuf_printf(t->out, ",%s", dfl_step_part_name((dfl_step_part)k));
    for (uint32_t m = 0; m < n; m++)
        dfl_strbuf_printf(t->out, ",peak.%s", sym(t, memories[m]));
    dfl_strbuf_z(t->out, ",price,power\r\n");
}

/* Adds the cells of a plan: what was decided, and the parts of the step. */
static void add_plan(const table *t, const dfl_mapping *m, const dfl_plan_result *plan)
{
    int64_t degrees[KINDS];

    for (int k = 0; k < KINDS; k++)
        degrees[k] = 1;
    for (uint32_t i = 0; i < plan->n_parts; i++)
        degrees[plan->parts[i].kind] *= plan->parts[i].degree;
    dfl_strbuf_printf(t->out, ",%lld", (long long)plan->chips);
    for (int k = 0; k < KINDS; k++)
        dfl_strbuf_printf(t->out, ",%lld", (long long)degrees[k]);
    add_text(t, lines_text(t, m, DFL_LINE_SPATIAL));
    add_text(t, lines_text(t, m, DFL_LINE_TEMPORAL));
    add_text(t, splits_text(t, m));
    add_text(t, homes_text(t, m));
    add_text(t, recomputed_text(t, m));
    add_text(t, plan->pipeline_axis != DFL_NONE ? dfl_schedule_name(plan->schedule) : "");
    dfl_strbuf_printf(t->out, ",%lld,%lld", (long long)plan->interleave, (long long)plan->micro_batches);
    for (int k = 0; k < DFL_N_STEP_PARTS; k++)
        add_real(t, plan->step[k]);
}

static void add_commas(const table *t, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        dfl_strbuf_char(t->out, ',');
}

static void add_row(const table *t, const dfl_result_item *item, const dfl_sym *memories, uint32_t n)
{
    const dfl_result *r = item->result;

    dfl_csv_cell(t->out, dfl_report_name(t->out->arena, t->results, item));
    add_text(t, dfl_status_text(item->status));
    add_text(t, item->search == NULL ? "" : item->search->optimal ? "optimal" : "not proven");
    if (item->search != NULL)
        add_real(t, item->search->value);
    else
        add_commas(t, 1);
    if (r != NULL) {
        add_real(t, r->seconds);
        add_real(t, r->joules);
    } else {
        add_commas(t, 2);
    }
    if (r != NULL && r->plan != NULL)
        add_plan(t, item->mapping, r->plan);
    else
        add_commas(t, 1 + KINDS + 8 + DFL_N_STEP_PARTS);
    for (uint32_t m = 0; m < n; m++) {
        const dfl_i128 peak = find_peak(item, memories[m]);

        dfl_strbuf_char(t->out, ',');
        if (peak >= 0)
            dfl_strbuf_i128(t->out, peak);
    }
    add_declared(t, item->mapping->system->whole_price);
    add_declared(t, item->mapping->system->whole_power);
    dfl_strbuf_z(t->out, "\r\n");
}

void dfl_plans_csv(dfl_strbuf *out, const dfl_results *results)
{
    const table t = { out, results, results->names };
    uint32_t n = 0;
    const dfl_sym *memories = list_memories(&t, &n);

    add_header(&t, memories, n);
    for (uint32_t i = 0; i < results->n_items; i++)
        add_row(&t, &results->items[i], memories, n);
}
