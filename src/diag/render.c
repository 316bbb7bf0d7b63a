/* The short renderer, and texts that all renderers share. */
#include "diag/render.h"

#include <string.h>

#include "support/utf8.h"
#include "support/limits.h"

const char *dfl_severity_text(dfl_severity severity)
{
    switch (severity) {
    case DFL_NOTE:
        return "note";
    case DFL_WARNING:
        return "warning";
    case DFL_ERROR:
        return "error";
    case DFL_INTERNAL:
        break;
    }
    return "internal error";
}

void dfl_render_safe(dfl_strbuf *out, const char *text, size_t indent)
{
    size_t len = strlen(text);

    for (size_t at = 0; at < len;) {
        uint32_t point;
        size_t n = dfl_utf8_decode(text + at, len - at, &point);

        if (point == '\n') {
            dfl_strbuf_char(out, '\n');
            for (size_t i = 0; i < indent; i++)
                dfl_strbuf_char(out, ' ');
        } else if (point == '\t') {
            dfl_strbuf_char(out, ' ');
        } else if (dfl_utf8_printable(point)) {
            dfl_strbuf_add(out, point == 0xfffd ? "\xef\xbf\xbd" : text + at, point == 0xfffd ? 3 : n);
        } else {
            dfl_strbuf_z(out, "\xef\xbf\xbd");
        }
        at += n;
    }
}

/* The source text of a span of one line and at most DFL_LONGEST_QUOTE bytes, else NULL. */
static const char *quote_span(const dfl_sink *sink, dfl_span span)
{
    const dfl_source *source = dfl_source_of(dfl_sink_sources(sink), span);
    size_t len = span.end - span.start;
    const char *text;

    if (!source || len > DFL_LONGEST_QUOTE || span.end - source->base > source->len)
        return NULL;
    text = source->text + (span.start - source->base);
    return memchr(text, '\n', len) ? NULL : dfl_arena_copy(dfl_sink_arena(sink), text, len);
}

const char *dfl_edit_text(const dfl_sink *sink, const dfl_edit *edit)
{
    dfl_arena *arena = dfl_sink_arena(sink);
    const char *old;

    if (edit->text[0] != '\0')
        return dfl_arena_printf(arena, edit->span.start == edit->span.end ? "insert `%s`" : "replace with `%s`",
                                edit->text);
    old = quote_span(sink, edit->span);
    return old ? dfl_arena_printf(arena, "remove `%s`", old) : "remove this";
}

void dfl_render_short(dfl_strbuf *out, dfl_sink *sink)
{
    char code[6];

    dfl_sink_sort(sink);
    for (size_t i = 0; i < dfl_sink_count(sink); i++) {
        const dfl_diag *d = dfl_sink_at(sink, i);
        dfl_place place = dfl_place_of(dfl_sink_sources(sink), d->span.start);

        if (place.source) {
            dfl_render_safe(out, place.source->name, 0);
            dfl_strbuf_printf(out, ":%u:%u: ", place.line, place.column);
        }
        dfl_strbuf_printf(out, "%s[%s]: ", dfl_severity_text(d->severity), dfl_code_text(d->code, code));
        dfl_render_safe(out, d->message, 4);
        if (d->lint)
            dfl_strbuf_printf(out, " [%s]", d->lint);
        dfl_strbuf_char(out, '\n');
    }
}

void dfl_render_summary(dfl_strbuf *out, const dfl_sink *sink)
{
    size_t errors = dfl_sink_errors(sink), warnings = dfl_sink_warnings(sink);

    if (errors > 0)
        dfl_strbuf_printf(out, "%zu error%s", errors, errors == 1 ? "" : "s");
    if (warnings > 0)
        dfl_strbuf_printf(out, "%s%zu warning%s", errors > 0 ? ", " : "", warnings, warnings == 1 ? "" : "s");
    if (errors + warnings > 0)
        dfl_strbuf_char(out, '\n');
}
