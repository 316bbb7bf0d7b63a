/*
 * jansson reads integers of 64 bits only, but counts of large trainings are longer. A long integer is passed to jansson as
 * a string of U+0001 and the digits. A string of the input that begins with U+0001 gets a second U+0001 in front, so that
 * the two cannot be confused. Both marks are removed when the tree is copied into the arena.
 */
#include "support/json.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/strbuf.h"
#include "support/vec.h"

#define MARK "\\u0001"

enum { LONGEST_PLAIN = 18 }; /* most digits of an integer that always fits 64 bits */

static bool in_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '-'
        || c == '.';
}

/* Whether the word is an integer that may not fit: optional minus, no leading zero, more than LONGEST_PLAIN digits. */
static bool is_long_integer(const char *word, size_t len)
{
    size_t at = len > 0 && word[0] == '-';

    if (len - at <= LONGEST_PLAIN || word[at] == '0')
        return false;
    for (; at < len; at++)
        if (word[at] < '0' || word[at] > '9')
            return false;
    return true;
}

static size_t word_length(const char *text, size_t len)
{
    size_t n = 0;

    while (n < len && in_word(text[n]))
        n++;
    return n;
}

/* Bytes of the string literal that starts at `text`, with its quotes; an unterminated one ends with the text. */
static size_t literal_length(const char *text, size_t len)
{
    size_t at = 1;

    while (at < len && text[at] != '"')
        at += text[at] == '\\' ? 2 : 1;
    return at + 1 < len ? at + 1 : len;
}

static void mark_long_integers(dfl_strbuf *out, const char *text, size_t len)
{
    size_t at = 0;

    while (at < len) {
        size_t n = 1;

        if (text[at] == '"') {
            n = literal_length(text + at, len - at);
            if (n > 7 && memcmp(text + at + 1, MARK, 6) == 0) {
                dfl_strbuf_z(out, "\"" MARK);
                dfl_strbuf_add(out, text + at + 1, n - 1);
                at += n;
                continue;
            }
        } else if (in_word(text[at])) {
            n = word_length(text + at, len - at);
            if (is_long_integer(text + at, n)) {
                dfl_strbuf_z(out, "\"" MARK);
                dfl_strbuf_add(out, text + at, n);
                dfl_strbuf_char(out, '"');
                at += n;
                continue;
            }
        }
        dfl_strbuf_add(out, text + at, n);
        at += n;
    }
}

static bool convert(dfl_arena *arena, const json_t *from, dfl_json *to);

static bool convert_array(dfl_arena *arena, const json_t *from, dfl_json *to)
{
    size_t n = json_array_size(from);
    dfl_json *items = DFL_NEW_ARRAY(arena, dfl_json, n);

    *to = (dfl_json){ .kind = DFL_JSON_ARRAY, .len = n, .items = items };
    for (size_t i = 0; i < n; i++)
        if (!convert(arena, json_array_get(from, i), &items[i]))
            return false;
    return true;
}

/* Converts an object; false when a key is a long integer instead of a string. */
static bool convert_object(dfl_arena *arena, json_t *from, dfl_json *to)
{
    size_t n = json_object_size(from), i = 0;
    dfl_json *items = DFL_NEW_ARRAY(arena, dfl_json, n);
    const char *key;
    json_t *value;

    *to = (dfl_json){ .kind = DFL_JSON_OBJECT, .len = n, .items = items };
    to->keys = DFL_NEW_ARRAY(arena, const char *, n);
    json_object_foreach(from, key, value) {
        const char *plain = key + (key[0] == '\1'); /* the loop macro needs `key` unchanged */

        if (plain != key && plain[0] != '\1')
            return false;
        to->keys[i] = dfl_arena_copy(arena, plain, strlen(plain));
        if (!convert(arena, value, &items[i++]))
            return false;
    }
    return true;
}

static void convert_string(dfl_arena *arena, const json_t *from, dfl_json *to)
{
    const char *text = json_string_value(from);
    size_t len = json_string_length(from);
    bool marked = len > 1 && text[0] == '\1';

    to->kind = DFL_JSON_STRING;
    if (marked) {
        text++;
        len--;
    }
    to->text = dfl_arena_copy(arena, text, len);
    to->len = len;
    if (marked && text[0] != '\1') {
        dfl_i128 value = 0;

        to->real = strtod(text, NULL);
        for (size_t i = text[0] == '-'; i < len && value <= INT64_MAX; i++)
            value = value * 10 + (text[i] - '0');
        value = text[0] == '-' ? -value : value;
        to->kind = value > INT64_MAX || value < INT64_MIN ? DFL_JSON_BIG : DFL_JSON_INT;
        to->integer = to->kind == DFL_JSON_INT ? (int64_t)value : 0;
    }
}

static bool convert(dfl_arena *arena, const json_t *from, dfl_json *to)
{
    *to = (dfl_json){ .kind = DFL_JSON_NULL };
    switch (json_typeof(from)) {
    case JSON_OBJECT:
        return convert_object(arena, (json_t *)(uintptr_t)from, to);
    case JSON_ARRAY:
        return convert_array(arena, from, to);
    case JSON_STRING:
        convert_string(arena, from, to);
        return true;
    case JSON_INTEGER:
        to->kind = DFL_JSON_INT;
        to->integer = json_integer_value(from);
        to->real = (double)to->integer;
        return true;
    case JSON_REAL:
        to->kind = DFL_JSON_REAL;
        to->real = json_real_value(from);
        return true;
    case JSON_TRUE:
    case JSON_FALSE:
        to->kind = DFL_JSON_BOOL;
        to->boolean = json_is_true(from);
        return true;
    case JSON_NULL:
        break;
    }
    return true;
}

const dfl_json *dfl_json_parse(dfl_arena *arena, const char *text, size_t len, dfl_json_error *error)
{
    json_error_t why;
    dfl_strbuf marked;
    dfl_json *value;
    json_t *root;
    bool ok;

    dfl_strbuf_init(&marked, arena);
    mark_long_integers(&marked, text, len);
    root = json_loadb(marked.text, marked.len, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
    if (!root) {
        if (error) {
            error->line = why.line > 0 ? (unsigned)why.line : 1;
            snprintf(error->message, sizeof error->message, "%s", why.text);
        }
        return NULL;
    }
    value = DFL_NEW(arena, dfl_json);
    ok = convert(arena, root, value);
    json_decref(root);
    if (!ok && error)
        *error = (dfl_json_error){ 1, "string or '}' expected near integer" };
    return ok ? value : NULL;
}

const dfl_json *dfl_json_get(const dfl_json *value, const char *key)
{
    if (!value || value->kind != DFL_JSON_OBJECT)
        return NULL;
    for (size_t i = 0; i < value->len; i++)
        if (strcmp(value->keys[i], key) == 0)
            return &value->items[i];
    return NULL;
}

const dfl_json *dfl_json_at(const dfl_json *value, size_t i)
{
    bool many = value && (value->kind == DFL_JSON_ARRAY || value->kind == DFL_JSON_OBJECT);

    return many && i < value->len ? &value->items[i] : NULL;
}

const char *dfl_json_text(const dfl_json *value)
{
    return value && value->kind == DFL_JSON_STRING ? value->text : NULL;
}
