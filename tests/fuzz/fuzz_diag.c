/*
 * Renders reports at any places of any text. The input is a table of reports, eight bytes each, up to a byte 0xff, then
 * the text of two files. Every renderer must finish. Text and short output hold no control characters, JSON and SARIF
 * are valid, and the text after the edits has the length that follows from them.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "diag/fix.h"
#include "diag/render.h"
#include "diag/render_json.h"
#include "diag/render_sarif.h"
#include "diag/render_text.h"
#include "support/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RECORD = 8, MOST = 64 };

static void require_clean(const dfl_strbuf *out)
{
    for (size_t i = 0; i < out->len; i++) {
        unsigned char c = (unsigned char)out->text[i];

        if ((c < 0x20 && c != '\n') || c == 0x7f)
            __builtin_trap();
    }
}

static dfl_span span_at(const uint8_t *r, uint32_t room)
{
    uint32_t start = (r[0] | (uint32_t)r[1] << 8) % (room + 2), len = r[2] % 64;

    return (dfl_span){ start, r[3] & 1 ? start + len : start + len * 16 };
}

static void report(dfl_sink *sink, const uint8_t *r, uint32_t room, const char *word)
{
    static const dfl_code codes[] = { DFL_RANK_UNKNOWN, DFL_MAP_KEEP_UNUSED, DFL_NAME_UNKNOWN, DFL_INTERNAL_ERROR };
    dfl_span span = span_at(r, room);
    dfl_diag *d = dfl_report(sink, codes[r[4] % 4], span, "about `%s`", word);

    if (r[5] & 1)
        dfl_diag_here(sink, d, "%s", word);
    for (int i = 0; i < (r[5] >> 1) % 4; i++)
        dfl_diag_label(sink, d, span_at(r + i, room), "label %d", i);
    if (r[5] & 16)
        dfl_diag_note(sink, d, "%s\n%s", word, word);
    if (r[5] & 32)
        dfl_diag_help(sink, d, "%s", word);
    for (int i = 0; i < r[6] % 3; i++)
        dfl_diag_fix(sink, d, span_at(r + i + 1, room), i ? "" : "new", r[7] & 1 ? DFL_FIX_MAYBE : DFL_FIX_SURE);
}

static void render_all(dfl_sink *sink, dfl_arena *arena)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, arena);
    dfl_render_text(&out, sink, false);
    dfl_render_short(&out, sink);
    require_clean(&out);
    dfl_render_text(&out, sink, true);
    out.len = 0;
    dfl_render_sarif(&out, &sink, 1);
    if (!dfl_json_parse(arena, out.text, out.len, NULL))
        __builtin_trap();
    out.len = 0;
    dfl_render_json(&out, sink);
    for (const char *at = out.text, *end; (end = memchr(at, '\n', (size_t)(out.text + out.len - at))); at = end + 1)
        if (!dfl_json_parse(arena, at, (size_t)(end - at), NULL))
            __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_source_map *map = dfl_source_map_new(arena);
    dfl_sink *sink = dfl_sink_new(arena, map);
    const dfl_source *one, *two;
    const char *text, *word;
    size_t records = 0, len;

    while (records < MOST && (records + 1) * RECORD <= size && data[records * RECORD] != 0xff)
        records++;
    text = (const char *)data + records * RECORD;
    len = size - records * RECORD;
    word = dfl_arena_copy(arena, text, len < 9 ? len : 9);
    one = dfl_source_add(map, "one.dfl", text, len / 3);
    two = dfl_source_add(map, word, text + len / 3, len - len / 3);
    dfl_sink_limit(sink, MOST / 2);
    for (size_t i = 0; i < records; i++)
        report(sink, data + i * RECORD, (uint32_t)len + 2, word);
    render_all(sink, arena);
    if (records > 0 && dfl_sink_errors(sink) + dfl_sink_warnings(sink) != records)
        __builtin_trap();
    if (dfl_fix_apply(one, sink).applied + dfl_fix_apply(two, sink).applied > 2 * records)
        __builtin_trap();
    if (strlen(dfl_fix_apply(two, sink).text) > dfl_fix_apply(two, sink).len)
        __builtin_trap();
    dfl_arena_free(arena);
    return 0;
}
