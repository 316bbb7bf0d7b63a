#include "diag/render_json.h"

#include "diag/render.h"

static void put_span(dfl_json_writer *w, const dfl_sink *sink, dfl_span span)
{
    const dfl_source_map *map = dfl_sink_sources(sink);
    dfl_place start = dfl_place_of(map, span.start), end = dfl_place_of(map, span.end);

    dfl_json_key(w, "span");
    if (!start.source) {
        dfl_json_null(w);
        return;
    }
    if (end.source != start.source)
        end = start;
    dfl_json_object(w);
    dfl_json_key(w, "file");
    dfl_json_string(w, start.source->name);
    dfl_json_key(w, "line");
    dfl_json_int(w, start.line);
    dfl_json_key(w, "column");
    dfl_json_int(w, start.column);
    dfl_json_key(w, "end_line");
    dfl_json_int(w, end.line);
    dfl_json_key(w, "end_column");
    dfl_json_int(w, end.column);
    dfl_json_key(w, "offset");
    dfl_json_int(w, span.start - start.source->base);
    dfl_json_key(w, "length");
    dfl_json_int(w, span.end > span.start ? span.end - span.start : 0);
    dfl_json_end_object(w);
}

static void put_labels(dfl_json_writer *w, const dfl_sink *sink, const dfl_diag *d)
{
    dfl_json_key(w, "labels");
    dfl_json_array(w);
    for (const dfl_label *label = d->labels; label; label = label->next) {
        dfl_json_object(w);
        dfl_json_key(w, "text");
        dfl_json_string(w, label->text);
        put_span(w, sink, label->span);
        dfl_json_end_object(w);
    }
    dfl_json_end_array(w);
}

static void put_edits(dfl_json_writer *w, const dfl_sink *sink, const dfl_diag *d)
{
    dfl_json_key(w, "edits");
    dfl_json_array(w);
    for (const dfl_edit *edit = d->edits; edit; edit = edit->next) {
        dfl_json_object(w);
        dfl_json_key(w, "text");
        dfl_json_string(w, edit->text);
        dfl_json_key(w, "certainty");
        dfl_json_string(w, edit->certainty == DFL_FIX_SURE ? "sure" : "maybe");
        put_span(w, sink, edit->span);
        dfl_json_end_object(w);
    }
    dfl_json_end_array(w);
}

static void put_diag(dfl_json_writer *w, const dfl_sink *sink, const dfl_diag *d)
{
    char code[6];

    dfl_json_object(w);
    dfl_json_key(w, "severity");
    dfl_json_string(w, dfl_severity_text(d->severity));
    dfl_json_key(w, "code");
    dfl_json_string(w, dfl_code_text(d->code, code));
    dfl_json_key(w, "lint");
    dfl_json_string(w, d->lint);
    dfl_json_key(w, "message");
    dfl_json_string(w, d->message);
    put_span(w, sink, d->span);
    dfl_json_key(w, "label");
    dfl_json_string(w, d->label);
    put_labels(w, sink, d);
    dfl_json_key(w, "notes");
    dfl_json_array(w);
    for (const dfl_note *note = d->notes; note; note = note->next)
        dfl_json_string(w, note->text);
    dfl_json_end_array(w);
    dfl_json_key(w, "help");
    dfl_json_string(w, d->help);
    put_edits(w, sink, d);
    dfl_json_end_object(w);
}

void dfl_render_json_items(dfl_json_writer *w, dfl_sink *sink)
{
    dfl_sink_sort(sink);
    for (size_t i = 0; i < dfl_sink_count(sink); i++)
        put_diag(w, sink, dfl_sink_at(sink, i));
}

void dfl_render_json(dfl_strbuf *out, dfl_sink *sink)
{
    dfl_sink_sort(sink);
    for (size_t i = 0; i < dfl_sink_count(sink); i++) {
        dfl_json_writer w;

        dfl_json_start(&w, out, 0);
        put_diag(&w, sink, dfl_sink_at(sink, i));
        dfl_strbuf_char(out, '\n');
    }
}
