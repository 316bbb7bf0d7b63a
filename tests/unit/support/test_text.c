/* Vectors, text buffers, interning and hashing. */
#include "tests/harness/check.h"

#include <stdio.h>
#include <string.h>

#include "support/hash.h"
#include "support/intern.h"
#include "support/strbuf.h"
#include "support/vec.h"
#include "support/wrap.h"

static void a_vector_keeps_its_items(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    DFL_VEC(uint64_t) v = { 0 };

    (void)state;
    for (uint64_t i = 0; i < 1000; i++)
        DFL_PUSH(arena, &v, i * i);
    assert_int_equal(v.n, 1000);
    assert_true(v.cap >= v.n);
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(v.at[i], i * i);
    dfl_arena_free(arena);
}

static void a_buffer_is_always_terminated(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_strbuf buf;

    (void)state;
    dfl_strbuf_init(&buf, arena);
    assert_string_equal(buf.text, "");
    for (size_t i = 1; i <= 300; i++) {
        dfl_strbuf_char(&buf, 'a');
        assert_int_equal(strlen(buf.text), i);
        assert_int_equal(buf.len, i);
    }
    dfl_arena_free(arena);
}

static void a_buffer_takes_everything(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_strbuf buf;

    (void)state;
    dfl_strbuf_init(&buf, arena);
    dfl_strbuf_z(&buf, "ab");
    dfl_strbuf_add(&buf, "cdef", 2);
    dfl_strbuf_printf(&buf, "%d", 5);
    dfl_strbuf_i128(&buf, ((dfl_i128)1 << 70) * -1);
    assert_string_equal(buf.text, "abcd5-1180591620717411303424");
    dfl_strbuf_printf(&buf, "%0400d", 0);
    assert_int_equal(buf.len, 28 + 400);
    dfl_arena_free(arena);
}

static void equal_texts_are_one_symbol(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_intern *names = dfl_intern_new(arena);
    char text[16];

    (void)state;
    assert_int_equal(dfl_intern_z(names, ""), 0);
    assert_string_equal(dfl_sym_text(names, 0), "");
    for (unsigned i = 0; i < 500; i++) {
        snprintf(text, sizeof text, "name%u", i);
        assert_int_equal(dfl_intern_find(names, text, strlen(text)), 0);
        assert_int_equal(dfl_intern_z(names, text), i + 1);
    }
    assert_int_equal(dfl_intern_count(names), 500);
    for (unsigned i = 0; i < 500; i++) {
        snprintf(text, sizeof text, "name%u", i);
        assert_int_equal(dfl_intern_z(names, text), i + 1);
        assert_int_equal(dfl_intern_find(names, text, strlen(text)), i + 1);
        assert_string_equal(dfl_sym_text(names, i + 1), text);
    }
    assert_int_equal(dfl_intern_count(names), 500);
    assert_int_equal(dfl_intern_text(names, "name12345", 6), dfl_intern_z(names, "name12"));
    assert_string_equal(dfl_sym_text(names, 100000), "");
    dfl_arena_free(arena);
}

static void the_hash_depends_on_bytes_and_seed(void **state)
{
    (void)state;
    assert_int_equal(dfl_hash("abc", 3, 1), dfl_hash("abcd", 3, 1));
#ifdef DFL_HOSTILE
    assert_int_equal(dfl_hash("abc", 3, 0) % 32, 0);
#else
    assert_true(dfl_hash("abc", 3, 0) != dfl_hash("abd", 3, 0));
    assert_true(dfl_hash("abc", 3, 0) != dfl_hash("abc", 3, 1));
#endif
}

static void lines_are_wrapped_between_words(void **state)
{
    static const struct { const char *text; size_t first, indent, width; const char *want; } rows[] = {
        { "", 0, 0, 4, "" },
        { "ab cd", 0, 0, 5, "ab cd" },
        { "ab cd", 0, 0, 4, "ab\ncd" },
        { "ab cd", 1, 0, 5, "ab\ncd" },
        { "ab cd ef", 0, 2, 5, "ab cd\nef" },
        { "ab cd ef gh", 0, 2, 6, "ab cd\nef\ngh" },
        { "longer than", 0, 0, 4, "longer\nthan" },
        { "a `b c d` e", 0, 0, 8, "a\n`b c d`\ne" },
        { "ab\ncd ef", 0, 0, 5, "ab\ncd ef" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[32];

        snprintf(text, sizeof text, "%s", rows[i].text);
        dfl_wrap(text, rows[i].first, rows[i].indent, rows[i].width);
        assert_string_equal(text, rows[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_vector_keeps_its_items),
        cmocka_unit_test(a_buffer_is_always_terminated),
        cmocka_unit_test(lines_are_wrapped_between_words),
        cmocka_unit_test(a_buffer_takes_everything),
        cmocka_unit_test(equal_texts_are_one_symbol),
        cmocka_unit_test(the_hash_depends_on_bytes_and_seed),
    };

    return CHECK_GROUP("support.text", tests);
}
