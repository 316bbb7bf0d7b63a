/*
 * SARIF 2.1.0 (OASIS): one log, one run. Rules are the codes that occur, in order of number. Columns count UTF-16
 * units. Notes and help follow the message as paragraphs; secondary labels are related locations; all edits of a
 * report form one fix.
 */
#include "diag/render_sarif.h"

#include <stdlib.h>
#include <string.h>

#include "diag/render.h"
#include "support/json_write.h"
#include "support/utf8.h"

static void put_pair(dfl_json_writer *w, const char *key, const char *text)
{
    dfl_json_key(w, key);
    dfl_json_string(w, text);
}

/* `key: { "text": text }` */
static void put_text(dfl_json_writer *w, const char *key, const char *text)
{
    dfl_json_key(w, key);
    dfl_json_object(w);
    put_pair(w, "text", text);
    dfl_json_end_object(w);
}

/* The level of SARIF for a severity. SARIF has no level for internal errors, which become "error". */
static const char *level_of(dfl_severity severity)
{
    return severity == DFL_INTERNAL ? "error" : dfl_severity_text(severity);
}

/* A file name as a URI reference. An absolute name becomes a file URI; bytes outside of letters, digits, `-._~/` become %XX. */
static const char *uri_of(const dfl_sink *sink, const char *name)
{
    dfl_strbuf uri;

    dfl_strbuf_init(&uri, dfl_sink_arena(sink));
    if (name[0] == '/')
        dfl_strbuf_z(&uri, "file://");
    for (const char *c = name; *c; c++) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9')
                  || strchr("-._~/", *c);

        if (plain)
            dfl_strbuf_char(&uri, *c);
        else
            dfl_strbuf_printf(&uri, "%%%02X", (unsigned char)*c);
    }
    return uri.text;
}

static int64_t column_of(dfl_place place)
{
    const char *line = place.source->text + place.source->lines[place.line - 1];

    return (int64_t)dfl_utf8_utf16_length(line, place.column - 1) + 1;
}

static void put_region(dfl_json_writer *w, const dfl_sink *sink, const char *key, dfl_span span)
{
    const dfl_source_map *map = dfl_sink_sources(sink);
    dfl_place start = dfl_place_of(map, span.start), end = dfl_place_of(map, span.end);

    if (end.source != start.source)
        end = start;
    dfl_json_key(w, key);
    dfl_json_object(w);
    dfl_json_key(w, "startLine");
    dfl_json_int(w, start.line);
    dfl_json_key(w, "startColumn");
    dfl_json_int(w, column_of(start));
    dfl_json_key(w, "endLine");
    dfl_json_int(w, end.line);
    dfl_json_key(w, "endColumn");
    dfl_json_int(w, column_of(end));
    dfl_json_end_object(w);
}

static void put_artifact(dfl_json_writer *w, const dfl_sink *sink, const dfl_source *source)
{
    dfl_json_key(w, "artifactLocation");
    dfl_json_object(w);
    put_pair(w, "uri", uri_of(sink, source->name));
    dfl_json_end_object(w);
}

static void put_physical(dfl_json_writer *w, const dfl_sink *sink, dfl_span span)
{
    dfl_json_key(w, "physicalLocation");
    dfl_json_object(w);
    put_artifact(w, sink, dfl_source_of(dfl_sink_sources(sink), span));
    put_region(w, sink, "region", span);
    dfl_json_end_object(w);
}

static void put_message(dfl_json_writer *w, const dfl_sink *sink, const dfl_diag *d)
{
    dfl_strbuf text;

    dfl_strbuf_init(&text, dfl_sink_arena(sink));
    dfl_strbuf_z(&text, d->message);
    if (d->label)
        dfl_strbuf_printf(&text, ": %s", d->label);
    for (const dfl_note *note = d->notes; note; note = note->next)
        dfl_strbuf_printf(&text, "\n\nnote: %s", note->text);
    if (d->help)
        dfl_strbuf_printf(&text, "\n\nhelp: %s", d->help);
    put_text(w, "message", text.text);
}

static void put_places(dfl_json_writer *w, const dfl_sink *sink, const dfl_diag *d)
{
    const dfl_source_map *map = dfl_sink_sources(sink);
    int64_t id = 0;

    if (dfl_source_of(map, d->span)) {
        dfl_json_key(w, "locations");
        dfl_json_array(w);
        dfl_json_object(w);
        put_physical(w, sink, d->span);
        dfl_json_end_object(w);
        dfl_json_end_array(w);
    }
    if (!d->labels)
        return;
    dfl_json_key(w, "relatedLocations");
    dfl_json_array(w);
    for (const dfl_label *label = d->labels; label; label = label->next) {
        if (!dfl_source_of(map, label->span))
            continue;
        dfl_json_object(w);
        dfl_json_key(w, "id");
        dfl_json_int(w, ++id);
        put_text(w, "message", label->text);
        put_physical(w, sink, label->span);
        dfl_json_end_object(w);
    }
    dfl_json_end_array(w);
}

/* The edits of one report: one change for each run of edits in the same file. */
static void put_fix(dfl_json_writer *w, const dfl_sink *sink, const dfl_diag *d)
{
    const dfl_source_map *map = dfl_sink_sources(sink);
    const dfl_edit *edit = d->edits;

    dfl_json_key(w, "fixes");
    dfl_json_array(w);
    dfl_json_object(w);
    put_text(w, "description", d->help ? d->help : dfl_edit_text(sink, edit));
    dfl_json_key(w, "artifactChanges");
    dfl_json_array(w);
    while (edit) {
        const dfl_source *source = dfl_source_of(map, edit->span);

        if (!source) {
            edit = edit->next;
            continue;
        }
        dfl_json_object(w);
        put_artifact(w, sink, source);
        dfl_json_key(w, "replacements");
        dfl_json_array(w);
        for (; edit && dfl_source_of(map, edit->span) == source; edit = edit->next) {
            dfl_json_object(w);
            put_region(w, sink, "deletedRegion", edit->span);
            put_text(w, "insertedContent", edit->text);
            dfl_json_end_object(w);
        }
        dfl_json_end_array(w);
        dfl_json_end_object(w);
    }
    dfl_json_end_array(w);
    dfl_json_end_object(w);
    dfl_json_end_array(w);
}

static int compare_codes(const void *left, const void *right)
{
    const dfl_code *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

/* Sets `*codes` to the codes that occur, each once, by number. Returns the number of codes. */
static size_t codes_of(const dfl_sink *sink, dfl_code **codes)
{
    size_t n = dfl_sink_count(sink), kept = 0;
    dfl_code *all = DFL_NEW_ARRAY(dfl_sink_arena(sink), dfl_code, n);

    for (size_t i = 0; i < n; i++)
        all[i] = dfl_sink_at(sink, i)->code;
    qsort(all, n, sizeof *all, compare_codes);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || all[i] != all[kept - 1])
            all[kept++] = all[i];
    *codes = all;
    return kept;
}

static void put_tool(dfl_json_writer *w, const dfl_code *codes, size_t n)
{
    char code[6];

    dfl_json_key(w, "tool");
    dfl_json_object(w);
    dfl_json_key(w, "driver");
    dfl_json_object(w);
    put_pair(w, "name", "dflc");
    put_pair(w, "version", DFL_VERSION);
    dfl_json_key(w, "rules");
    dfl_json_array(w);
    for (size_t i = 0; i < n; i++) {
        dfl_json_object(w);
        put_pair(w, "id", dfl_code_text(codes[i], code));
        put_text(w, "shortDescription", dfl_code_title(codes[i]));
        dfl_json_key(w, "defaultConfiguration");
        dfl_json_object(w);
        put_pair(w, "level", level_of(dfl_code_severity(codes[i])));
        dfl_json_end_object(w);
        dfl_json_end_object(w);
    }
    dfl_json_end_array(w);
    dfl_json_end_object(w);
    dfl_json_end_object(w);
}

static void put_result(dfl_json_writer *w, const dfl_sink *sink, const dfl_diag *d, const dfl_code *codes, size_t n)
{
    const dfl_code *rule = bsearch(&d->code, codes, n, sizeof *codes, compare_codes);
    char code[6];

    dfl_json_object(w);
    put_pair(w, "ruleId", dfl_code_text(d->code, code));
    dfl_json_key(w, "ruleIndex");
    dfl_json_int(w, rule - codes);
    put_pair(w, "level", level_of(d->severity));
    put_message(w, sink, d);
    put_places(w, sink, d);
    if (d->edits)
        put_fix(w, sink, d);
    if (d->lint) {
        dfl_json_key(w, "properties");
        dfl_json_object(w);
        put_pair(w, "lint", d->lint);
        dfl_json_end_object(w);
    }
    dfl_json_end_object(w);
}

static void put_run(dfl_json_writer *w, dfl_sink *sink)
{
    dfl_code *codes;
    size_t n = codes_of(sink, &codes);

    dfl_sink_sort(sink);
    dfl_json_object(w);
    put_tool(w, codes, n);
    put_pair(w, "columnKind", "utf16CodeUnits");
    dfl_json_key(w, "results");
    dfl_json_array(w);
    for (size_t i = 0; i < dfl_sink_count(sink); i++)
        put_result(w, sink, dfl_sink_at(sink, i), codes, n);
    dfl_json_end_array(w);
    dfl_json_end_object(w);
}

void dfl_render_sarif(dfl_strbuf *out, dfl_sink *const *sinks, size_t n)
{
    dfl_json_writer writer, *w = &writer;

    dfl_json_start(w, out, 2);
    dfl_json_object(w);
    put_pair(w, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    put_pair(w, "version", "2.1.0");
    dfl_json_key(w, "runs");
    dfl_json_array(w);
    for (size_t i = 0; i < n; i++)
        put_run(w, sinks[i]);
    dfl_json_end_array(w);
    dfl_json_end_object(w);
    dfl_strbuf_char(out, '\n');
}
