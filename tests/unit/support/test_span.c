#include "tests/harness/check.h"

#include "support/span.h"

typedef struct { const char *name; uint32_t position; const char *file; uint32_t line, column; } place_case;

/* "a" holds positions 1..8 (its end is 8), "b" is empty and holds 9, "c" starts at 10. */
static const char a_text[] = "ab\ncd\r\n";
static const char c_text[] = "\nxyz";

static const place_case places[] = {
    { "nowhere",                 0,  NULL, 0, 0 },
    { "first byte",              1,  "a",  1, 1 },
    { "line end",                3,  "a",  1, 3 },
    { "second line",             4,  "a",  2, 1 },
    { "carriage return",         6,  "a",  2, 3 },
    { "end of file",             8,  "a",  3, 1 },
    { "empty file",              9,  "b",  1, 1 },
    { "empty first line",        10, "c",  1, 1 },
    { "second line of c",        12, "c",  2, 2 },
    { "end without a line end",  14, "c",  2, 4 },
    { "behind everything",       15, NULL, 0, 0 },
};

static dfl_source_map *three_files(dfl_arena *arena)
{
    dfl_source_map *map = dfl_source_map_new(arena);

    dfl_source_add(map, "a", a_text, sizeof a_text - 1);
    dfl_source_add(map, "b", "", 0);
    dfl_source_add(map, "c", c_text, sizeof c_text - 1);
    return map;
}

static void finds_the_place(void **state)
{
    const place_case *c = *state;
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_place place = dfl_place_of(three_files(arena), c->position);

    if (c->file)
        assert_string_equal(place.source->name, c->file);
    else
        assert_null(place.source);
    assert_int_equal(place.line, c->line);
    assert_int_equal(place.column, c->column);
    dfl_arena_free(arena);
}

static void lines_come_without_their_ends(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_source_map *map = three_files(arena);
    const dfl_source *a = dfl_source_of(map, (dfl_span){ 1, 2 });
    size_t len;

    (void)state;
    assert_int_equal(a->base, 1);
    assert_int_equal(a->n_lines, 3);
    assert_memory_equal(dfl_source_line(a, 1, &len), "ab", 2);
    assert_int_equal(len, 2);
    assert_memory_equal(dfl_source_line(a, 2, &len), "cd", 2);
    assert_int_equal(len, 2);
    dfl_source_line(a, 3, &len);
    assert_int_equal(len, 0);
    dfl_source_line(a, 4, &len);
    assert_int_equal(len, 0);
    dfl_source_line(a, 0, &len);
    assert_int_equal(len, 0);
    assert_null(dfl_source_of(map, (dfl_span){ 0, 0 }));
    dfl_arena_free(arena);
}

static void spans_join(void **state)
{
    dfl_span joined = dfl_span_join((dfl_span){ 5, 7 }, (dfl_span){ 2, 3 });

    (void)state;
    assert_int_equal(joined.start, 2);
    assert_int_equal(joined.end, 7);
    joined = dfl_span_join((dfl_span){ 0, 0 }, (dfl_span){ 2, 3 });
    assert_int_equal(joined.start, 2);
    joined = dfl_span_join((dfl_span){ 2, 3 }, (dfl_span){ 0, 0 });
    assert_int_equal(joined.end, 3);
}

static void an_empty_map_has_no_places(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);

    (void)state;
    assert_null(dfl_place_of(dfl_source_map_new(arena), 1).source);
    dfl_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_without_their_ends),
        cmocka_unit_test(spans_join),
        cmocka_unit_test(an_empty_map_has_no_places),
    };

    return CHECK_TABLE("support.span places", places, finds_the_place) + CHECK_GROUP("support.span", tests);
}
