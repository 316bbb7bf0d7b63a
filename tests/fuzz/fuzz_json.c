/* Reads any bytes as JSON. Writing a value and reading it again gives an equal value, and writing that value gives
   equal text; a refusal has a message. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "support/json.h"
#include "support/json_write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put(dfl_json_writer *w, const dfl_json *value)
{
    switch (value->kind) {
    case DFL_JSON_NULL:
        dfl_json_null(w);
        break;
    case DFL_JSON_BOOL:
        dfl_json_bool(w, value->boolean);
        break;
    case DFL_JSON_INT:
        dfl_json_int(w, value->integer);
        break;
    case DFL_JSON_BIG:
        dfl_json_digits(w, value->text);
        break;
    case DFL_JSON_REAL:
        dfl_json_double(w, value->real);
        break;
    case DFL_JSON_STRING:
        dfl_json_string_n(w, value->text, value->len);
        break;
    case DFL_JSON_ARRAY:
        dfl_json_array(w);
        for (size_t i = 0; i < value->len; i++)
            put(w, dfl_json_at(value, i));
        dfl_json_end_array(w);
        break;
    case DFL_JSON_OBJECT:
        dfl_json_object(w);
        for (size_t i = 0; i < value->len; i++) {
            dfl_json_key(w, value->keys[i]);
            put(w, &value->items[i]);
        }
        dfl_json_end_object(w);
        break;
    }
}

static dfl_strbuf written(dfl_arena *arena, const dfl_json *value, unsigned indent)
{
    dfl_json_writer w;
    dfl_strbuf out;

    dfl_strbuf_init(&out, arena);
    dfl_json_start(&w, &out, indent);
    put(&w, value);
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_json_error error = { 0, "" };
    const dfl_json *value = dfl_json_parse(arena, (const char *)data, size, &error);

    if (!value) {
        if (error.line == 0 || error.message[0] == '\0')
            __builtin_trap();
    } else {
        dfl_strbuf once = written(arena, value, (unsigned)(size % 3));
        const dfl_json *again = dfl_json_parse(arena, once.text, once.len, NULL);
        dfl_strbuf twice;

        if (!again || again->kind != value->kind)
            __builtin_trap();
        twice = written(arena, again, (unsigned)(size % 3));
        if (twice.len != once.len || memcmp(twice.text, once.text, once.len) != 0)
            __builtin_trap();
    }
    dfl_arena_free(arena);
    return 0;
}
