/* Doubles as text, the JSON writer, the JSON reader, and round trips through both. */
#include "tests/harness/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/json.h"
#include "support/json_write.h"
#include "support/number.h"

typedef struct { const char *name; double value; const char *want; } double_case;

static const double_case doubles[] = {
    { "zero",                 0.0,                      "0" },
    { "negative zero",        -0.0,                     "-0" },
    { "tenth",                0.1,                      "0.1" },
    { "sum that is not 0.3",  0.1 + 0.2,                "0.30000000000000004" },
    { "third",                1.0 / 3,                  "0.3333333333333333" },
    { "whole",                -42.0,                    "-42" },
    { "large",                1e300,                    "1e+300" },
    { "17 digits",            123456789012345680.0,     "1.2345678901234568e+17" },
    { "2^53 + 2",             9007199254740994.0,       "9007199254740994" },
    { "largest",              1.7976931348623157e308,   "1.7976931348623157e+308" },
    { "least normal",         2.2250738585072014e-308,  "2.2250738585072014e-308" },
    { "least of all",         5e-324,                   "5e-324" },
    { "infinite",             INFINITY,                 "inf" },
    { "minus infinite",       -INFINITY,                "-inf" },
    { "not a number",         NAN,                      "nan" },
};

static void prints_the_shortest_that_reads_back(void **state)
{
    const double_case *c = *state;
    char text[32];

    assert_int_equal(dfl_double_text(c->value, text), strlen(c->want));
    assert_string_equal(text, c->want);
}

static void random_doubles_read_back(void **state)
{
    uint64_t bits = 88172645463325252u;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        char text[32];
        double value;

        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        dfl_double_text(value, text);
        assert_true(strtod(text, NULL) == value);
    }
}

static void rounds_for_people(void **state)
{
    char text[32];

    (void)state;
    dfl_double_text_short(1.0 / 3, 4, text);
    assert_string_equal(text, "0.3333");
    dfl_double_text_short(1500000, 3, text);
    assert_string_equal(text, "1.5e+06");
    dfl_double_text_short(2, 0, text);
    assert_string_equal(text, "2");
    dfl_double_text_short(-INFINITY, 3, text);
    assert_string_equal(text, "-inf");
}

static void write_everything(dfl_json_writer *w)
{
    dfl_json_object(w);
    dfl_json_key(w, "text");
    dfl_json_string(w, "a\"b\\c\n\t\x01\x7f/\xc3\xa9\xff");
    dfl_json_key(w, "none");
    dfl_json_string(w, NULL);
    dfl_json_key(w, "list");
    dfl_json_array(w);
    dfl_json_int(w, INT64_MIN);
    dfl_json_double(w, 3);
    dfl_json_double(w, 1e20);
    dfl_json_double(w, INFINITY);
    dfl_json_bool(w, true);
    dfl_json_end_array(w);
    dfl_json_key(w, "empty");
    dfl_json_object(w);
    dfl_json_end_object(w);
    dfl_json_key(w, "big");
    dfl_json_i128(w, (dfl_i128)1 << 100);
    dfl_json_key(w, "digits");
    dfl_json_digits(w, "-99999999999999999999999999999999999999999999");
    dfl_json_end_object(w);
}

#define TEXT_JSON "\"a\\\"b\\\\c\\n\\t\\u0001\\u007f/\xc3\xa9\xef\xbf\xbd\""

static void writes_one_line(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_json_writer w;
    dfl_strbuf out;

    (void)state;
    dfl_strbuf_init(&out, arena);
    dfl_json_start(&w, &out, 0);
    write_everything(&w);
    assert_string_equal(out.text,
                        "{\"text\":" TEXT_JSON ",\"none\":null,\"list\":[-9223372036854775808,3.0,1e+20,null,true],"
                        "\"empty\":{},\"big\":1267650600228229401496703205376,"
                        "\"digits\":-99999999999999999999999999999999999999999999}");
    dfl_arena_free(arena);
}

static void writes_indented(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_json_writer w;
    dfl_strbuf out;

    (void)state;
    dfl_strbuf_init(&out, arena);
    dfl_json_start(&w, &out, 2);
    write_everything(&w);
    assert_string_equal(out.text,
                        "{\n  \"text\": " TEXT_JSON ",\n  \"none\": null,\n  \"list\": [\n    -9223372036854775808,\n"
                        "    3.0,\n    1e+20,\n    null,\n    true\n  ],\n  \"empty\": {},\n"
                        "  \"big\": 1267650600228229401496703205376,\n"
                        "  \"digits\": -99999999999999999999999999999999999999999999\n}");
    dfl_arena_free(arena);
}

static void reads_what_was_written(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    const dfl_json *value, *list;
    dfl_json_writer w;
    dfl_strbuf out;

    (void)state;
    dfl_strbuf_init(&out, arena);
    dfl_json_start(&w, &out, 2);
    write_everything(&w);
    value = dfl_json_parse(arena, out.text, out.len, NULL);
    assert_non_null(value);
    assert_int_equal(value->kind, DFL_JSON_OBJECT);
    assert_int_equal(value->len, 6);
    assert_string_equal(value->keys[2], "list");
    assert_string_equal(dfl_json_text(dfl_json_get(value, "text")), "a\"b\\c\n\t\x01\x7f/\xc3\xa9\xef\xbf\xbd");
    assert_int_equal(dfl_json_get(value, "none")->kind, DFL_JSON_NULL);
    list = dfl_json_get(value, "list");
    assert_int_equal(list->len, 5);
    assert_int_equal(dfl_json_at(list, 0)->kind, DFL_JSON_INT);
    assert_true(dfl_json_at(list, 0)->integer == INT64_MIN);
    assert_int_equal(dfl_json_at(list, 1)->kind, DFL_JSON_REAL);
    assert_true(dfl_json_at(list, 1)->real == 3.0);
    assert_true(dfl_json_at(list, 4)->boolean);
    assert_null(dfl_json_at(list, 5));
    assert_null(dfl_json_get(list, "x"));
    assert_null(dfl_json_get(NULL, "x"));
    assert_null(dfl_json_text(list));
    assert_int_equal(dfl_json_get(value, "big")->kind, DFL_JSON_BIG);
    assert_string_equal(dfl_json_get(value, "big")->text, "1267650600228229401496703205376");
    assert_true(dfl_json_get(value, "big")->real == 0x1p100);
    assert_string_equal(dfl_json_get(value, "digits")->text, "-99999999999999999999999999999999999999999999");
    dfl_arena_free(arena);
}

typedef struct { const char *name, *text; bool ok; dfl_json_kind kind; } parse_case;

static const parse_case texts[] = {
    { "empty",                    "",                              false, 0 },
    { "bare number",              " 12 ",                          true,  DFL_JSON_INT },
    { "highest 64-bit",           "9223372036854775807",           true,  DFL_JSON_INT },
    { "one more",                 "9223372036854775808",           true,  DFL_JSON_BIG },
    { "lowest 64-bit",            "-9223372036854775808",          true,  DFL_JSON_INT },
    { "one less",                 "-9223372036854775809",          true,  DFL_JSON_BIG },
    { "many fraction digits",     "0.12345678901234567890123",     true,  DFL_JSON_REAL },
    { "long with exponent",       "12345678901234567890123e2",     true,  DFL_JSON_REAL },
    { "leading zero",             "012345678901234567890123",      false, 0 },
    { "plus",                     "+12345678901234567890123",      false, 0 },
    { "word and digits",          "a12345678901234567890123",      false, 0 },
    { "long key without quotes",  "{12345678901234567890123: 1}",  false, 0 },
    { "two values",               "1 2",                           false, 0 },
    { "repeated key",             "{\"a\":1,\"a\":2}",             false, 0 },
    { "unterminated string",      "\"abc",                         false, 0 },
    { "string ends in backslash", "\"abc\\",                       false, 0 },
    { "trailing comma",           "[1,]",                          false, 0 },
    { "real out of range",        "1e999",                         false, 0 },
    { "escaped mark",             "\"\\u00011\"",                  true,  DFL_JSON_STRING },
    { "digits in a string",       "\"12345678901234567890123\"",   true,  DFL_JSON_STRING },
    { "invalid UTF-8",            "\"\xff\"",                      false, 0 },
};

static void parses(void **state)
{
    const parse_case *c = *state;
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_json_error error = { 0 };
    const dfl_json *value = dfl_json_parse(arena, c->text, strlen(c->text), &error);

    assert_int_equal(value != NULL, c->ok);
    if (value) {
        assert_int_equal(value->kind, c->kind);
    } else {
        assert_true(error.line >= 1);
        assert_true(error.message[0] != '\0');
    }
    dfl_arena_free(arena);
}

static void marks_of_long_integers_stay_inside(void **state)
{
    static const char text[] = "{\"\\u0001k\": \"\\u0001\\u0001x\", \"n\": \"\\u0000y\"}";
    dfl_arena *arena = dfl_arena_new(NULL);
    const dfl_json *value = dfl_json_parse(arena, text, sizeof text - 1, NULL);

    (void)state;
    assert_non_null(value);
    assert_string_equal(value->keys[0], "\1k");
    assert_string_equal(dfl_json_text(&value->items[0]), "\1\1x");
    assert_int_equal(value->items[1].len, 2);
    assert_memory_equal(value->items[1].text, "\0y", 2);
    dfl_arena_free(arena);
}

static void depth_is_limited(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    enum { DEEP = 100000 };
    char *text = dfl_arena_alloc(arena, DEEP, 1, 1);

    (void)state;
    memset(text, '[', DEEP);
    assert_null(dfl_json_parse(arena, text, DEEP, NULL));
    dfl_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_doubles_read_back),
        cmocka_unit_test(rounds_for_people),
        cmocka_unit_test(writes_one_line),
        cmocka_unit_test(writes_indented),
        cmocka_unit_test(reads_what_was_written),
        cmocka_unit_test(marks_of_long_integers_stay_inside),
        cmocka_unit_test(depth_is_limited),
    };

    return CHECK_TABLE("support.number", doubles, prints_the_shortest_that_reads_back)
         + CHECK_TABLE("support.json parse", texts, parses) + CHECK_GROUP("support.json", tests);
}
