/* A comparison as JSON, `dfl-diff/1`. All numbers of a ledger have the same number of decimal places, so that the larger
   total has 15 digits. The decimal numbers of the parts add up exactly to the totals. */
#include "report/diff/diff.h"

#include "report/diff/ledger_text.h"
#include "support/json_write.h"

enum { DIGITS = 15 };

static void key_text(dfl_json_writer *w, const char *key, const char *text)
{
    dfl_json_key(w, key);
    dfl_json_string(w, text);
}

static void key_units(dfl_json_writer *w, const char *key, dfl_i128 units, int decimals)
{
    char text[DFL_LEDGER_TEXT];

    dfl_ledger_text(units, decimals, text);
    dfl_json_key(w, key);
    dfl_json_digits(w, text);
}

/* Writes the values of both sides and their difference. */
static void write_sides(dfl_json_writer *w, dfl_i128 from, dfl_i128 to, int decimals)
{
    key_units(w, "from", from, decimals);
    key_units(w, "to", to, decimals);
    key_units(w, "difference", to - from, decimals);
}

static void write_part(dfl_json_writer *w, const dfl_ledger_part *p, int decimals)
{
    dfl_json_object(w);
    key_text(w, "where", p->where);
    if (*p->what)
        key_text(w, "what", p->what);
    if (*p->action)
        key_text(w, "action", p->action);
    write_sides(w, p->units_from, p->units_to, decimals);
    if (p->has_counts) {
        dfl_json_key(w, "count_from");
        dfl_json_i128(w, p->count_from);
        dfl_json_key(w, "count_to");
        dfl_json_i128(w, p->count_to);
    }
    key_text(w, "cause", p->cause);
    dfl_json_end_object(w);
}

static void write_ledger(dfl_json_writer *w, const char *key, dfl_ledger *l)
{
    dfl_ledger_round(w->out->arena, l, DIGITS);
    dfl_json_key(w, key);
    dfl_json_object(w);
    write_sides(w, l->units_from, l->units_to, l->decimals);
    key_units(w, "unit", 1, l->decimals);
    dfl_json_key(w, "parts");
    dfl_json_array(w);
    for (size_t i = 0; i < l->parts.n; i++)
        write_part(w, &l->parts.at[i], l->decimals);
    dfl_json_end_array(w);
    dfl_json_end_object(w);
}

static void write_side(dfl_json_writer *w, const char *key, const dfl_side_result *side)
{
    if (key)
        dfl_json_key(w, key);
    dfl_json_object(w);
    key_text(w, "file", side->file);
    key_text(w, "name", side->name);
    key_text(w, "status", side->status);
    dfl_json_end_object(w);
}

static void write_pair(dfl_json_writer *w, dfl_diff_pair *p)
{
    dfl_json_object(w);
    write_side(w, "from", p->from);
    write_side(w, "to", p->to);
    dfl_json_key(w, "same");
    dfl_json_bool(w, !p->differs);
    dfl_json_key(w, "mappings_compared");
    dfl_json_bool(w, p->from->shape && p->to->shape);
    dfl_json_key(w, "changes");
    dfl_json_array(w);
    for (size_t i = 0; i < p->changes.n; i++) {
        const dfl_change *c = &p->changes.at[i];

        dfl_json_object(w);
        key_text(w, "kind", c->kind);
        key_text(w, "what", c->what);
        key_text(w, "from", c->from);
        key_text(w, "to", c->to);
        if (c->einsums)
            key_text(w, "einsums", c->einsums);
        dfl_json_end_object(w);
    }
    dfl_json_end_array(w);
    if (p->from->has_costs && p->to->has_costs) {
        write_ledger(w, "joules", &p->energy);
        write_ledger(w, "seconds", &p->time);
    }
    dfl_json_end_object(w);
}

void dfl_diff_json(dfl_strbuf *out, dfl_difference *d)
{
    dfl_json_writer w;

    dfl_json_start(&w, out, 2);
    dfl_json_object(&w);
    key_text(&w, "schema", "dfl-diff/1");
    dfl_json_key(&w, "same");
    dfl_json_bool(&w, !d->differs);
    dfl_json_key(&w, "pairs");
    dfl_json_array(&w);
    for (size_t i = 0; i < d->pairs.n; i++)
        write_pair(&w, &d->pairs.at[i]);
    dfl_json_end_array(&w);
    dfl_json_key(&w, "only_from");
    dfl_json_array(&w);
    for (size_t i = 0; i < d->only_from.n; i++)
        write_side(&w, NULL, d->only_from.at[i]);
    dfl_json_end_array(&w);
    dfl_json_key(&w, "only_to");
    dfl_json_array(&w);
    for (size_t i = 0; i < d->only_to.n; i++)
        write_side(&w, NULL, d->only_to.at[i]);
    dfl_json_end_array(&w);
    dfl_json_end_object(&w);
    dfl_strbuf_char(out, '\n');
}
