/* An explanation as JSON, `dfl-why/1`. */
#include "report/explain/explain.h"
#include "support/json_write.h"

typedef struct {
    dfl_json_writer *w;
    const dfl_explanation *explanation;
} context;

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

static void key_bool(const context *c, const char *key, bool value)
{
    dfl_json_key(c->w, key);
    dfl_json_bool(c->w, value);
}

static void key_name(const context *c, const char *key, uint32_t param)
{
    const dfl_explanation *explanation = c->explanation;
    const dfl_param *params = explanation->sensitivity->params;

    key_string(c, key, param == DFL_NONE ? NULL : dfl_explanation_parameter_name(c->w->out->arena, explanation, &params[param]));
}

static void write_slopes(const context *c, const char *key, dfl_derivatives s)
{
    dfl_json_key(c->w, key);
    dfl_json_object(c->w);
    key_double(c, "objective", s.objective);
    key_double(c, "seconds", s.latency);
    key_double(c, "joules", s.energy);
    dfl_json_end_object(c->w);
}

/* Writes one linear piece of the latency; `until` is null if the piece has no end. `p` is NULL for an einsum, whose piece
   has no derivatives. */
static void write_piece(const context *c, const char *key, const dfl_rate_piece *piece, const dfl_param *p, bool faster)
{
    dfl_json_key(c->w, key);
    dfl_json_object(c->w);
    key_double(c, "fixed_seconds", piece->fixed);
    key_double(c, "waited", piece->waited);
    dfl_json_key(c->w, "until");
    if (piece->wall)
        dfl_json_double(c->w, piece->until);
    else
        dfl_json_null(c->w);
    key_bool(c, "proven", piece->proven);
    key_name(c, "next", piece->next);
    if (p) {
        write_slopes(c, "derivative", dfl_explanation_derivatives(c->explanation, p, faster));
        write_slopes(c, "elasticity", dfl_explanation_elasticity(c->explanation, p, faster));
    }
    dfl_json_end_object(c->w);
}

static void write_param(const context *c, const dfl_param *p)
{
    dfl_json_object(c->w);
    key_string(c, "name", dfl_explanation_parameter_name(c->w->out->arena, c->explanation, p));
    key_double(c, "value", p->value);
    key_string(c, "unit", dfl_explanation_unit(c->explanation, p));
    if (dfl_param_is_timed(p->kind)) {
        write_piece(c, "larger", &p->faster, p, true);
        write_piece(c, "smaller", &p->slower, p, false);
    } else {
        dfl_json_key(c->w, "actions");
        if (p->over)
            dfl_json_null(c->w);
        else
            dfl_json_i128(c->w, p->actions);
        write_slopes(c, "derivative", dfl_explanation_derivatives(c->explanation, p, true));
        write_slopes(c, "elasticity", dfl_explanation_elasticity(c->explanation, p, true));
    }
    dfl_json_end_object(c->w);
}

static void write_einsum(const context *c, uint32_t e)
{
    const dfl_einsum_bound *bound = &c->explanation->sensitivity->einsums[e];
    const dfl_einsum_cost *cost = &c->explanation->item->result->einsums[e];
    const dfl_workload *w = c->explanation->item->mapping->workload;

    dfl_json_object(c->w);
    key_string(c, "name", dfl_sym_text(c->explanation->results->names, w->einsums[e].name));
    key_double(c, "seconds", cost->seconds);
    key_string(c, "bound_by", cost->bound_by);
    key_name(c, "rate", bound->param);
    if (bound->looked) {
        key_double(c, "elasticity", bound->share > 0 ? -bound->share : 0);
        write_piece(c, "larger", &bound->faster, NULL, true);
    }
    dfl_json_end_object(c->w);
}

static void write_memory(const context *c, uint32_t i)
{
    const dfl_memory *m = &c->explanation->item->mapping->system->memories[i];
    const dfl_memory_cost *cost = &c->explanation->item->result->memories[i];

    dfl_json_object(c->w);
    key_string(c, "name", dfl_sym_text(c->explanation->results->names, m->name));
    dfl_json_key(c->w, "size_bits");
    if (m->size_bits < 0)
        dfl_json_null(c->w);
    else
        dfl_json_int(c->w, m->size_bits);
    dfl_json_key(c->w, "fits_down_to_bits");
    dfl_json_i128(c->w, cost->peak_bits);
    dfl_json_key(c->w, "slack_bits");
    if (m->size_bits < 0)
        dfl_json_null(c->w);
    else
        dfl_json_i128(c->w, m->size_bits - cost->peak_bits);
    key_string(c, "peak_at", dfl_report_place(c->w->out->arena, c->explanation->results, cost->peak_at));
    dfl_json_end_object(c->w);
}

static void write_runner_up(const context *c)
{
    const dfl_diff_pair *pair = c->explanation->runner_up;

    dfl_json_key(c->w, "runner_up");
    dfl_json_object(c->w);
    key_double(c, "value", c->explanation->runner_up_value);
    key_bool(c, "proven", c->explanation->is_runner_up_proven);
    key_double(c, "seconds", pair->to->seconds);
    key_double(c, "joules", pair->to->joules);
    dfl_json_key(c->w, "changes");
    dfl_json_array(c->w);
    for (size_t i = 0; i < pair->changes.n; i++) {
        const dfl_change *k = &pair->changes.at[i];
        dfl_json_object(c->w);
        key_string(c, "kind", k->kind);
        key_string(c, "what", k->what);
        key_string(c, "from", k->from);
        key_string(c, "to", k->to);
        dfl_json_end_object(c->w);
    }
    dfl_json_end_array(c->w);
    key_string(c, "mapping", pair->to->mapping);
    dfl_json_end_object(c->w);
}

static void write_head(const context *c)
{
    const dfl_explanation *explanation = c->explanation;
    const dfl_mapping *m = explanation->item->mapping;
    const dfl_intern *names = explanation->results->names;

    key_string(c, "schema", "dfl-why/1");
    key_string(c, "file", dfl_report_file(explanation->results->file));
    key_string(c, "dflc", DFL_VERSION);
    key_string(c, "name", dfl_sym_text(names, m->name));
    key_string(c, "workload", dfl_sym_text(names, m->workload->name));
    key_string(c, "system", dfl_sym_text(names, m->system->name));
    key_string(c, "status", dfl_status_text(explanation->item->status));
    key_string(c, "minimize", explanation->minimize);
    key_string(c, "objective", explanation->objective);
    key_double(c, "value", explanation->value);
    key_double(c, "seconds", explanation->item->result->seconds);
    key_string(c, "bound_by", explanation->item->result->bound_by);
    key_double(c, "joules", explanation->item->result->joules);
    key_double(c, "leakage_watts", explanation->sensitivity->leakage);
}

void dfl_explanation_json(dfl_strbuf *out, const dfl_explanation *explanation)
{
    const dfl_mapping *m = explanation->item->mapping;
    const uint32_t *order = dfl_explanation_order(out->arena, explanation);
    dfl_json_writer w;
    const context c = { &w, explanation };

    dfl_json_start(&w, out, 2);
    dfl_json_object(&w);
    write_head(&c);
    dfl_json_key(&w, "parameters");
    dfl_json_array(&w);
    for (uint32_t i = 0; i < explanation->sensitivity->n_params; i++)
        write_param(&c, &explanation->sensitivity->params[order[i]]);
    dfl_json_end_array(&w);
    dfl_json_key(&w, "einsums");
    dfl_json_array(&w);
    for (uint32_t e = 0; e < m->workload->n_einsums; e++)
        write_einsum(&c, e);
    dfl_json_end_array(&w);
    dfl_json_key(&w, "memories");
    dfl_json_array(&w);
    for (uint32_t i = 0; i < m->system->n_memories; i++)
        write_memory(&c, i);
    dfl_json_end_array(&w);
    if (explanation->runner_up)
        write_runner_up(&c);
    dfl_json_end_object(&w);
    dfl_strbuf_char(out, '\n');
}
