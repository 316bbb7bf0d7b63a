#include "import/dfl_writer.h"

#include <stdlib.h>
#include <string.h>

#include "fmt/fmt.h"
#include "support/number.h"
#include "support/utf8.h"

/* ---- comments ---- */

const char *dfl_writer_plain(dfl_arena *arena, const char *text)
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

const char *dfl_writer_base_name(dfl_arena *arena, const dfl_source *source)
{
    const char *slash = strrchr(source->name, '/');

    return dfl_writer_plain(arena, slash != NULL ? slash + 1 : source->name);
}

/* ---- statements ---- */

dfl_list_writer dfl_writer_list(dfl_strbuf *out, const char *word)
{
    return (dfl_list_writer){ out, word };
}

void dfl_writer_item(dfl_list_writer *list)
{
    dfl_strbuf_z(list->out, list->word != NULL ? list->word : ", ");
    list->word = NULL;
}

void dfl_writer_end_list(dfl_list_writer *list)
{
    if (list->word == NULL)
        dfl_strbuf_z(list->out, ";\n");
}

void dfl_writer_quantity(dfl_strbuf *out, const char *name, double value, const char *unit)
{
    char text[32];

    dfl_double_text(value, text);
    dfl_strbuf_printf(out, "%s = %s%s;\n", name, text, unit);
}

void dfl_writer_term(dfl_strbuf *out, bool is_first, int64_t coefficient, const char *name)
{
    dfl_strbuf_z(out, coefficient < 0 ? is_first ? "-" : " - " : is_first ? "" : " + ");
    if (coefficient != 1 && coefficient != -1)
        dfl_strbuf_printf(out, "%lld * ", (long long)llabs(coefficient));
    dfl_strbuf_z(out, name);
}

/* ---- the file ---- */

/* Parses the text as a file of its own and drops the diagnostics. */
static dfl_syntax parse_text(dfl_arena *arena, const char *text)
{
    dfl_source_map *sources = dfl_source_map_new(arena);
    const dfl_source *source = dfl_source_add(sources, "import.dfl", text, strlen(text));

    return dfl_syntax_parse(arena, dfl_intern_new(arena), dfl_sink_new(arena, sources), source);
}

static bool parses(dfl_arena *arena, const char *text)
{
    return parse_text(arena, text).ok;
}

char *dfl_writer_layout(dfl_arena *arena, dfl_sink *sink, const char *text)
{
    dfl_budget *budget = dfl_arena_budget(arena);
    dfl_syntax syntax;
    size_t len;

    if (strlen(text) > DFL_MAX_FILE) {
        dfl_report(sink, DFL_LIMIT_FILE_SIZE, (dfl_span){ 0, 0 },
                   "the imported text is larger than %d bytes", DFL_MAX_FILE);
        return NULL;
    }
    syntax = parse_text(arena, text);
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

/* ---- names ---- */

void dfl_name_table_init(dfl_name_table *table, dfl_arena *arena)
{
    *table = (dfl_name_table){ .arena = arena, .taken = dfl_intern_new(arena) };
}

/* The entry of a name: the suffix to try next, or 0 while the name is free. */
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

/* Whether a word cannot name a declaration: the head of a mapping does not parse with it. Keywords have small letters only. */
static bool is_reserved(const char *text)
{
    dfl_arena *arena;
    bool reserved;

    if (text[strspn(text, "abcdefghijklmnopqrstuvwxyz")] != '\0')
        return false;
    arena = dfl_arena_new(NULL);
    reserved = !parses(arena, dfl_arena_printf(arena, "mapping %s = t;\n", text));
    dfl_arena_free(arena);
    return reserved;
}

/* Longest name, characters, that leaves room for a prefix and a numbered suffix in a legal name. */
enum { LONGEST_NAME = DFL_MOST_NAME - 32 };

const char *dfl_name_make(dfl_name_table *table, const char *text)
{
    dfl_strbuf buf;
    const char *name;
    uint32_t suffix;
    dfl_sym base;

    dfl_strbuf_init(&buf, table->arena);
    if (text[0] == '\0' || is_digit(text[0]))
        dfl_strbuf_char(&buf, '_');
    for (size_t i = 0; text[i] != '\0' && buf.len < LONGEST_NAME; i++)
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
