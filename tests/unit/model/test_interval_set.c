/* Operations of interval sets, checked by hand. */
#include "tests/harness/check.h"

#include "model/sets/interval_set.h"
#include "support/arena.h"

typedef struct { int64_t lo, hi; } pair;

static dfl_interval_set set_of(dfl_arena *arena, const pair *pairs, size_t n)
{
    dfl_interval_set s = { 0 };

    dfl_interval_set_clear(&s);
    for (size_t i = 0; i < n; i++)
        dfl_interval_set_add(arena, &s, pairs[i].lo, pairs[i].hi);
    dfl_interval_set_normalise(&s);
    return s;
}

#define SET(...) set_of(arena, (const pair[]){ __VA_ARGS__ }, sizeof (const pair[]){ __VA_ARGS__ } / sizeof(pair))

static void check_is(const dfl_interval_set *got, const dfl_interval_set *want)
{
    assert_int_equal(got->n, want->n);
    for (size_t i = 0; i < want->n; i++) {
        assert_int_equal(got->at[i].lo, want->at[i].lo);
        assert_int_equal(got->at[i].hi, want->at[i].hi);
    }
}

static void adding_joins_what_touches(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_interval_set in_order = SET({ 0, 2 }, { 2, 4 }, { 6, 7 }), mixed = SET({ 6, 7 }, { 2, 4 }, { 0, 3 });
    dfl_interval_set nested = SET({ 0, 9 }, { 2, 4 }, { 5, 9 }), nothing = SET({ 3, 3 }, { 5, 4 });

    (void)state;
    assert_int_equal(in_order.n, 2);
    check_is(&mixed, &in_order);
    assert_int_equal(dfl_interval_set_count(&mixed), 5);
    assert_int_equal(nested.n, 1);
    assert_int_equal(dfl_interval_set_count(&nested), 9);
    assert_int_equal(nothing.n, 0);
    assert_int_equal(dfl_interval_set_count(&nothing), 0);
    dfl_arena_free(arena);
}

static void sets_meet_and_part(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_interval_set a = SET({ 0, 10 }, { 20, 30 }), b = SET({ 2, 4 }, { 6, 22 }, { 29, 40 }), got = { 0 };
    dfl_interval_set both = SET({ 2, 4 }, { 6, 10 }, { 20, 22 }, { 29, 30 }), rest = SET({ 0, 2 }, { 4, 6 }, { 22, 29 });

    (void)state;
    dfl_interval_set_intersect(arena, &got, &a, &b);
    check_is(&got, &both);
    dfl_interval_set_intersect(arena, &got, &b, &a);
    check_is(&got, &both);
    dfl_interval_set_subtract(arena, &got, &a, &b);
    check_is(&got, &rest);
    dfl_interval_set_unite(arena, &got, &both);
    dfl_interval_set_normalise(&got);
    check_is(&got, &a);
    dfl_arena_free(arena);
}

static void sets_are_equal_in_every_end(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_interval_set a = SET({ 0, 2 }, { 4, 6 }), same = SET({ 4, 6 }, { 0, 2 }), longer = SET({ 0, 2 }, { 4, 7 });
    dfl_interval_set later = SET({ 0, 2 }, { 5, 6 }), shorter = SET({ 0, 2 });

    (void)state;
    assert_true(dfl_interval_set_equal(&a, &same));
    assert_false(dfl_interval_set_equal(&a, &longer));
    assert_false(dfl_interval_set_equal(&a, &later));
    assert_false(dfl_interval_set_equal(&a, &shorter));
    dfl_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adding_joins_what_touches),
        cmocka_unit_test(sets_meet_and_part),
        cmocka_unit_test(sets_are_equal_in_every_end),
    };

    return CHECK_GROUP("model.runs", tests);
}
