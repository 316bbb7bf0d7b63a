/* Elements that an access touches under conditions, checked by hand. */
#include "tests/harness/check.h"

#include "model/counts/joint_set.h"

/* S[m, n] of 4 x 5 elements; the ranks are m and n. */
static const int64_t shape[] = { 4, 5 }, bare[] = { 1, 0, 0, 1 }, none[] = { 0, 0 };
/* m - n >= 0 */
static const int64_t lower[] = { 1, -1 }, zero[] = { 0 };

static int64_t count(const dfl_joint_access *access, dfl_interval m, dfl_interval n)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_interval_set out = { 0 };
    const dfl_interval box[] = { m, n };
    int64_t result;

    dfl_interval_set_clear(&out);
    dfl_joint_access_add(arena, access, box, &out);
    dfl_interval_set_normalise(&out);
    result = dfl_interval_set_count(&out);
    dfl_arena_free(arena);
    return result;
}

static void a_condition_cuts_a_triangle(void **state)
{
    const dfl_joint_access scores = { .n_ranks = 2, .n_indexing = 2, .n_dims = 2, .extents = shape, .coefs = bare,
                                      .offsets = none, .n_where = 1, .slopes = lower, .fixed = zero };

    (void)state;
    assert_int_equal(count(&scores, (dfl_interval){ 0, 4 }, (dfl_interval){ 0, 5 }), 10); /* 1 + 2 + 3 + 4 */
    assert_int_equal(count(&scores, (dfl_interval){ 2, 4 }, (dfl_interval){ 0, 2 }), 4);  /* below the diagonal */
    assert_int_equal(count(&scores, (dfl_interval){ 0, 2 }, (dfl_interval){ 2, 5 }), 0);  /* above it */
    assert_int_equal(count(&scores, (dfl_interval){ 1, 3 }, (dfl_interval){ 1, 3 }), 3);  /* (1, 1), (2, 1), (2, 2) */
}

static void a_rank_without_index_only_has_to_exist(void **state)
{
    /* Q[m] under n <= m: the row is touched if some key of the piece is not behind it */
    const dfl_joint_access rows = { .n_ranks = 2, .n_indexing = 1, .n_dims = 1, .extents = shape, .coefs = bare, .offsets = none,
                                    .n_where = 1, .slopes = lower, .fixed = zero };
    const dfl_joint_access gate = { .n_ranks = 2, .n_where = 1, .slopes = lower, .fixed = zero };

    (void)state;
    assert_int_equal(count(&rows, (dfl_interval){ 0, 4 }, (dfl_interval){ 2, 5 }), 2); /* rows 2 and 3 */
    assert_int_equal(count(&rows, (dfl_interval){ 0, 4 }, (dfl_interval){ 0, 5 }), 4);
    assert_int_equal(count(&gate, (dfl_interval){ 0, 2 }, (dfl_interval){ 1, 5 }), 1); /* the point (1, 1) */
    assert_int_equal(count(&gate, (dfl_interval){ 0, 2 }, (dfl_interval){ 2, 5 }), 0);
}

static void one_rank_in_two_dimensions_touches_the_diagonal(void **state)
{
    static const int64_t twice[] = { 1, 0, 1, 0 };
    const dfl_joint_access diagonal = { .n_ranks = 2, .n_indexing = 2, .n_dims = 2, .extents = shape, .coefs = twice,
                                        .offsets = none };

    (void)state;
    assert_int_equal(count(&diagonal, (dfl_interval){ 0, 4 }, (dfl_interval){ 0, 1 }), 4);
    assert_int_equal(count(&diagonal, (dfl_interval){ 1, 3 }, (dfl_interval){ 0, 1 }), 2);
}

static void elements_outside_the_shape_do_not_count(void **state)
{
    static const int64_t shifted[] = { 0, -2 }; /* S[m, n - 2] */
    const dfl_joint_access padded = { .n_ranks = 2, .n_indexing = 2, .n_dims = 2, .extents = shape, .coefs = bare,
                                      .offsets = shifted, .n_where = 1, .slopes = lower, .fixed = zero };

    (void)state;
    /* n from 2 to m: 0, 0, 1 and 2 elements */
    assert_int_equal(count(&padded, (dfl_interval){ 0, 4 }, (dfl_interval){ 0, 5 }), 3);
}

static void a_condition_has_a_range_over_a_box(void **state)
{
    const dfl_joint_access scores = { .n_ranks = 2, .n_indexing = 2, .n_dims = 2, .extents = shape, .coefs = bare,
                                      .offsets = none, .n_where = 1, .slopes = lower, .fixed = zero };
    const dfl_interval box[] = { { 1, 4 }, { 2, 5 } };
    dfl_i128 least, most;

    (void)state;
    dfl_joint_access_range(&scores, 0, box, &least, &most);
    assert_true(least == 1 - 4);
    assert_true(most == 3 - 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_condition_cuts_a_triangle),
        cmocka_unit_test(a_rank_without_index_only_has_to_exist),
        cmocka_unit_test(one_rank_in_two_dimensions_touches_the_diagonal),
        cmocka_unit_test(elements_outside_the_shape_do_not_count),
        cmocka_unit_test(a_condition_has_a_range_over_a_box),
    };

    return CHECK_GROUP("model.joint_set", tests);
}
