/*
 * `dfl-report/1`: SI units, counts as integers of any length. The table of figures generates the results; checks and
 * diagnostics are not in the table. grammar/dfl-report-1.schema.json describes the report; within version 1 keys are only
 * added.
 */
#include "diag/render_json.h"
#include "report/figures.h"
#include "report/print/print.h"
#include "support/json_write.h"

static void write_place(dfl_json_writer *w, const dfl_figure_place *at);

static void write_items(dfl_json_writer *w, const dfl_figure *list, const dfl_figure_place *at)
{
    dfl_figure_item item;

    for (uint32_t k = 0; dfl_figure_item_at(list, at, k, &item); k++) {
        if (item.is_unused)
            continue;
        if (list->kind == DFL_FIGURE_MAP)
            dfl_json_key(w, dfl_sym_text(at->results->names, item.name));
        write_place(w, &item.place);
    }
}

static void write_names(dfl_json_writer *w, const dfl_attribute_list *names)
{
    dfl_json_array(w);
    for (size_t i = 0; i < names->n; i++)
        dfl_json_string(w, names->at[i]);
    dfl_json_end_array(w);
}

/* Writes the value of a key. Infinities and NaN become null. */
static void write_value(dfl_json_writer *w, dfl_figure_kind kind, const dfl_figure_value *value)
{
    switch (kind) {
    case DFL_FIGURE_COUNT: dfl_json_i128(w, value->count); break;
    case DFL_FIGURE_REAL: dfl_json_double(w, value->real); break;
    case DFL_FIGURE_TEXT: dfl_json_string(w, value->text); break;
    case DFL_FIGURE_TRUTH: dfl_json_bool(w, value->truth); break;
    case DFL_FIGURE_NAMES: write_names(w, value->names); break;
    case DFL_FIGURE_OBJECT: case DFL_FIGURE_ARRAY: case DFL_FIGURE_MAP: break;
    }
}

static void write_part(dfl_json_writer *w, const dfl_figure *figure, const dfl_figure_place *at)
{
    if (!dfl_figure_is_there(figure, at))
        return;
    dfl_json_key(w, figure->key);
    if (figure->kind == DFL_FIGURE_OBJECT) {
        const dfl_figure_place below = dfl_figure_below(figure, at);

        write_place(w, &below);
    } else if (figure->kind == DFL_FIGURE_ARRAY) {
        dfl_json_array(w);
        write_items(w, figure, at);
        dfl_json_end_array(w);
    } else {
        dfl_json_object(w);
        write_items(w, figure, at);
        dfl_json_end_object(w);
    }
}

/* A sum that exceeds 128 bits becomes null; the parts of the sum remain in the report. */
static void write_figure(dfl_json_writer *w, const dfl_figure *figure, const dfl_figure_place *at)
{
    const dfl_figure_value value = dfl_figure_get(figure, at);
    bool is_absent = figure->presence == DFL_PRESENCE_OR_ABSENT || figure->presence == DFL_PRESENCE_OF_COST;

    if (value.state == DFL_VALUE_GIVEN) {
        dfl_json_key(w, figure->key);
        write_value(w, figure->kind, &value);
    } else if (!is_absent) {
        dfl_json_key(w, figure->key);
        dfl_json_null(w);
    }
}

static void write_place(dfl_json_writer *w, const dfl_figure_place *at)
{
    uint32_t n;
    const dfl_figure *figures = dfl_figures(at->scope, &n);

    dfl_json_object(w);
    for (uint32_t i = 0; i < n; i++) {
        if (!(figures[i].views & DFL_VIEW_JSON))
            continue;
        if (dfl_figure_is_part(&figures[i]))
            write_part(w, &figures[i], at);
        else
            write_figure(w, &figures[i], at);
    }
    dfl_json_end_object(w);
}

static void write_check(dfl_json_writer *w, const dfl_results *all, const dfl_check_outcome *o)
{
    const dfl_results *results = o->of ? o->of : all;

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
    if (o->of) {
        dfl_json_key(w, "file");
        dfl_json_string(w, o->of->file);
    }
    if (o->check->source) {
        dfl_json_key(w, "source");
        dfl_json_string(w, dfl_sym_text(results->names, o->check->source));
    }
    dfl_json_end_object(w);
}

static void write_files(dfl_json_writer *w, const dfl_results *results)
{
    dfl_json_key(w, "files");
    dfl_json_array(w);
    for (size_t i = 0; i < results->n_parts; i++)
        dfl_json_string(w, results->parts[i]->file);
    dfl_json_end_array(w);
}

/* Writes the values of parameters that the caller gave. */
static void write_given(dfl_json_writer *w, const dfl_results *results)
{
    dfl_json_key(w, "set");
    dfl_json_object(w);
    for (size_t i = 0; i < results->n_given; i++) {
        dfl_json_key(w, results->given[i].name);
        dfl_json_string(w, results->given[i].value);
    }
    dfl_json_end_object(w);
}

/* Writes the sum of all mappings; nothing if a number of operations exceeds 128 bits. */
static void write_sum(dfl_json_writer *w, const dfl_results *results)
{
    dfl_figure_place sum;

    if (!dfl_figure_place_of_sum(results, w->out->arena, &sum))
        return;
    dfl_json_key(w, "sum");
    write_place(w, &sum);
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
    if (results->n_parts > 0)
        write_files(&w, results);
    dfl_json_key(&w, "dflc");
    dfl_json_string(&w, DFL_VERSION);
    if (results->n_given > 0)
        write_given(&w, results);
    dfl_json_key(&w, "results");
    dfl_json_array(&w);
    for (uint32_t i = 0; i < results->n_items; i++) {
        const dfl_figure_place place = dfl_figure_place_of(results, &results->items[i], out->arena);

        write_place(&w, &place);
    }
    dfl_json_end_array(&w);
    if (results->has_sum)
        write_sum(&w, results);
    dfl_json_key(&w, "checks");
    dfl_json_array(&w);
    for (uint32_t i = 0; i < results->n_checks; i++)
        write_check(&w, results, &results->checks[i]);
    dfl_json_end_array(&w);
    dfl_json_key(&w, "diagnostics");
    dfl_json_array(&w);
    for (size_t i = 0; i < results->n_sinks; i++)
        dfl_render_json_items(&w, results->sinks[i]);
    if (results->n_sinks == 0)
        dfl_render_json_items(&w, results->sink);
    dfl_json_end_array(&w);
    dfl_json_end_object(&w);
    dfl_strbuf_char(out, '\n');
}
