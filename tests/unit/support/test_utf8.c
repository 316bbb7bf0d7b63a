#include "tests/harness/check.h"

#include <string.h>

#include "support/utf8.h"

typedef struct { const char *name, *text; size_t valid, width, utf16; } text_case;

static const text_case texts[] = {
    { "empty",             "",                          0,  0, 0 },
    { "ASCII",             "abc",                       3,  3, 3 },
    { "two bytes",         "\xc3\xa9t\xc3\xa9",         5,  3, 3 },
    { "wide",              "\xe6\x95\xb0",              3,  2, 1 },
    { "outside the BMP",   "\xf0\x9f\x98\x80",          4,  2, 2 },
    { "combining",         "e\xcc\x81",                 3,  1, 2 },
    { "lone continuation", "a\x80",                     1,  2, 2 },
    { "overlong",          "\xc0\xaf",                  0,  2, 2 },
    { "surrogate",         "\xed\xa0\x80",              0,  3, 3 },
    { "cut short",         "ab\xe6\x95",                2,  4, 4 },
    { "beyond Unicode",    "\xf4\x90\x80\x80",          0,  4, 4 },
    { "highest",           "\xf4\x8f\xbf\xbd",          4,  1, 2 },
};

static void measures(void **state)
{
    const text_case *c = *state;
    size_t len = strlen(c->text);

    assert_int_equal(dfl_utf8_check(c->text, len), c->valid);
    assert_int_equal(dfl_utf8_width(c->text, len), c->width);
    assert_int_equal(dfl_utf8_utf16_length(c->text, len), c->utf16);
}

static void decodes_every_code_point(void **state)
{
    (void)state;
    for (uint32_t point = 0x80; point < 0x110000; point += point < 0x3000 ? 1 : 37) {
        char text[4];
        size_t n = 0;
        uint32_t got;

        if (point >= 0xd800 && point < 0xe000)
            continue;
        if (point < 0x800) {
            text[n++] = (char)(0xc0 | point >> 6);
        } else {
            if (point < 0x10000) {
                text[n++] = (char)(0xe0 | point >> 12);
            } else {
                text[n++] = (char)(0xf0 | point >> 18);
                text[n++] = (char)(0x80 | (point >> 12 & 0x3f));
            }
            text[n++] = (char)(0x80 | (point >> 6 & 0x3f));
        }
        text[n++] = (char)(0x80 | (point & 0x3f));
        assert_int_equal(dfl_utf8_decode(text, n, &got), n);
        assert_int_equal(got, point);
        assert_true(dfl_utf8_point_width(point) <= 2);
    }
}

static void knows_what_must_not_reach_a_terminal(void **state)
{
    (void)state;
    assert_true(dfl_utf8_printable('a'));
    assert_true(dfl_utf8_printable(0xe9));
    assert_true(dfl_utf8_printable(0x200d));
    assert_false(dfl_utf8_printable(0x1b));
    assert_false(dfl_utf8_printable(0x9b));
    assert_false(dfl_utf8_printable(0x202e)); /* right-to-left override */
    assert_false(dfl_utf8_printable(0x2028));
    assert_int_equal(dfl_utf8_point_width(0x202e), 1);
    assert_int_equal(dfl_utf8_point_width(7), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes_every_code_point),
        cmocka_unit_test(knows_what_must_not_reach_a_terminal),
    };

    return CHECK_TABLE("support.utf8 texts", texts, measures) + CHECK_GROUP("support.utf8", tests);
}
