/* What all importers share: the loss report, names, and the layout of the result. */
#include "import/import.h"

#include <string.h>

#include "fmt/fmt.h"
#include "support/utf8.h"

void dfl_loss_init(dfl_loss_report *report, dfl_arena *arena, dfl_sink *sink, const dfl_source_map *sources)
{
    *report = (dfl_loss_report){ .arena = arena, .sink = sink, .sources = sources };
}

static void keep(dfl_loss_report *report, dfl_span span, const char *text)
{
    dfl_loss loss = { span, text };

    DFL_PUSH(report->arena, &report->losses, loss);
}

dfl_diag *dfl_lose(dfl_loss_report *report, dfl_code code, dfl_span span, const char *format, ...)
{
    va_list args;
    const char *text;

    va_start(args, format);
    text = dfl_arena_vprintf(report->arena, format, args);
    va_end(args);
    keep(report, span, text);
    return dfl_report(report->sink, code, span, "%s", text);
}

void dfl_loss_remark(dfl_loss_report *report, dfl_span span, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    keep(report, span, dfl_arena_vprintf(report->arena, format, args));
    va_end(args);
}

dfl_loss *dfl_loss_take(dfl_loss_report *report, size_t *n)
{
    dfl_loss *losses = report->losses.at;

    *n = report->losses.n;
    report->losses.at = NULL;
    report->losses.n = report->losses.cap = 0;
    return losses;
}

const char *dfl_import_plain(dfl_arena *arena, const char *text)
{
    size_t len = strlen(text), step;
    char *plain = dfl_arena_copy(arena, text, len);

    for (size_t at = 0; at < len; at += step) {
        uint32_t point;

        step = dfl_utf8_decode(plain + at, len - at, &point);
        if (!dfl_utf8_printable(point) || (step == 1 && (unsigned char)plain[at] >= 0x80))
            memset(plain + at, '?', step);
    }
    return plain;
}

const char *dfl_import_base_name(dfl_arena *arena, const dfl_source *source)
{
    const char *slash = strrchr(source->name, '/');

    return dfl_import_plain(arena, slash != NULL ? slash + 1 : source->name);
}

void dfl_loss_print(const dfl_loss_report *report, const dfl_source *main, const dfl_loss *losses, size_t n,
                    dfl_strbuf *out)
{
    for (size_t i = 0; i < n; i++) {
        dfl_place place = dfl_place_of(report->sources, losses[i].span.start);

        dfl_strbuf_z(out, "// ");
        if (place.source != NULL && place.source != main)
            dfl_strbuf_printf(out, "%s ", dfl_import_base_name(report->arena, place.source));
        if (place.source != NULL)
            dfl_strbuf_printf(out, "line %u: ", (unsigned)place.line);
        dfl_strbuf_z(out, dfl_import_plain(report->arena, losses[i].text));
        dfl_strbuf_char(out, '\n');
    }
}

/* The text as a file of its own; what is wrong with it goes nowhere. */
static dfl_syntax parse(dfl_arena *arena, const char *text)
{
    dfl_source_map *sources = dfl_source_map_new(arena);
    const dfl_source *source = dfl_source_add(sources, "import.dfl", text, strlen(text));

    return dfl_syntax_parse(arena, dfl_intern_new(arena), dfl_sink_new(arena, sources), source);
}

bool dfl_import_parses(dfl_arena *arena, const char *text)
{
    return parse(arena, text).ok;
}

char *dfl_import_layout(dfl_arena *arena, dfl_sink *sink, const char *text)
{
    dfl_budget *budget = dfl_arena_budget(arena);
    dfl_syntax syntax;
    size_t len;

    if (strlen(text) > DFL_MAX_FILE) {
        dfl_report(sink, DFL_LIMIT_FILE_SIZE, (dfl_span){ 0, 0 },
                   "the imported text is larger than %d bytes", DFL_MAX_FILE);
        return NULL;
    }
    syntax = parse(arena, text);
    if (budget != NULL && budget->why != DFL_STOP_NONE) {
        dfl_report_stop(sink, budget);
        return NULL;
    }
    if (!syntax.ok) {
        dfl_report(sink, DFL_INTERNAL_ERROR, (dfl_span){ 0, 0 }, "the imported text does not parse");
        return NULL;
    }
    return dfl_fmt(arena, &syntax, &len);
}

void dfl_name_table_init(dfl_name_table *table, dfl_arena *arena)
{
    *table = (dfl_name_table){ .arena = arena, .taken = dfl_intern_new(arena) };
}

/* The suffix to try next for a name that is taken; 0 for one that is free. */
static uint32_t *next_suffix(dfl_name_table *table, dfl_sym name)
{
    while (table->next.n <= name) {
        uint32_t none = 0;

        DFL_PUSH(table->arena, &table->next, none);
    }
    return &table->next.at[name];
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether a word cannot name a declaration: a mapping's head does not parse with it. Keywords are small
 * letters. */
static bool is_reserved(const char *text)
{
    dfl_arena *arena;
    bool reserved;

    if (text[strspn(text, "abcdefghijklmnopqrstuvwxyz")] != '\0')
        return false;
    arena = dfl_arena_new(NULL);
    reserved = !dfl_import_parses(arena, dfl_arena_printf(arena, "mapping %s = t;\n", text));
    dfl_arena_free(arena);
    return reserved;
}

/* Short enough for a prefix and a suffix within what a name may have. */
enum { MOST_NAME = DFL_MOST_NAME - 32 };

const char *dfl_name_make(dfl_name_table *table, const char *text)
{
    dfl_strbuf buf;
    const char *name;
    uint32_t suffix;
    dfl_sym base;

    dfl_strbuf_init(&buf, table->arena);
    if (text[0] == '\0' || is_digit(text[0]))
        dfl_strbuf_char(&buf, '_');
    for (size_t i = 0; text[i] != '\0' && buf.len < MOST_NAME; i++)
        dfl_strbuf_char(&buf, is_letter(text[i]) || is_digit(text[i]) ? text[i] : '_');
    name = is_reserved(buf.text) ? dfl_arena_printf(table->arena, "_%s", buf.text) : buf.text;
    base = dfl_intern_z(table->taken, name);
    suffix = *next_suffix(table, base);
    if (suffix == 0) {
        *next_suffix(table, base) = 2;
        return name;
    }
    for (;; suffix++) {
        const char *numbered = dfl_arena_printf(table->arena, "%s_%u", name, (unsigned)suffix);
        dfl_sym sym = dfl_intern_z(table->taken, numbered);

        if (*next_suffix(table, sym) == 0) {
            *next_suffix(table, sym) = 2;
            *next_suffix(table, base) = suffix + 1;
            return numbered;
        }
    }
}
