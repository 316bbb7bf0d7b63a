/* Counts of points of conditions: rows by hand, and random conditions against an enumeration of all points. */
#include "ir/conditions.h"

#include "tests/harness/check.h"
#include "tests/harness/draw.h"

enum { RANKS = 4, CONDITIONS = 4 };

typedef struct {
    dfl_rank ranks[RANKS];
    uint32_t used[RANKS];
    dfl_term terms[CONDITIONS][RANKS];
    dfl_condition where[CONDITIONS];
    dfl_workload w;
    dfl_einsum e;
} scene;

static void add_condition(scene *s, const int64_t *coef, int64_t offset)
{
    const uint32_t c = s->e.n_where++;
    uint32_t n = 0;

    for (uint32_t r = 0; r < RANKS; r++)
        if (coef[r] != 0)
            s->terms[c][n++] = (dfl_term){ .rank = r, .coef = coef[r] };
    s->where[c] = (dfl_condition){ .sum = { .terms = s->terms[c], .n_terms = n, .offset = offset } };
}

static void open_scene(scene *s, const int64_t *extents)
{
    *s = (scene){ .w = { .n_ranks = RANKS }, .e = { .n_ranks = RANKS } };
    for (uint32_t r = 0; r < RANKS; r++) {
        s->ranks[r].extent = extents[r];
        s->used[r] = r;
    }
    s->w.ranks = s->ranks;
    s->e.ranks = s->used;
    s->e.where = s->where;
}

static bool has_point(const scene *s, const int64_t *at)
{
    for (uint32_t c = 0; c < s->e.n_where; c++) {
        int64_t sum = s->where[c].sum.offset;

        for (uint32_t t = 0; t < s->where[c].sum.n_terms; t++)
            sum += s->where[c].sum.terms[t].coef * at[s->where[c].sum.terms[t].rank];
        if (sum < 0)
            return false;
    }
    return true;
}

/* The kept ranks that occur in conditions: combinations of them that some point has. */
static int64_t enumerate(const scene *s, const bool *keep)
{
    bool seen[6 * 6 * 6 * 6] = { false };
    int64_t at[RANKS], n = 0;

    for (at[0] = 0; at[0] < s->ranks[0].extent; at[0]++)
        for (at[1] = 0; at[1] < s->ranks[1].extent; at[1]++)
            for (at[2] = 0; at[2] < s->ranks[2].extent; at[2]++)
                for (at[3] = 0; at[3] < s->ranks[3].extent; at[3]++) {
                    int64_t key = 0;

                    for (uint32_t r = 0; r < RANKS; r++)
                        key = key * 6 + (keep[r] && dfl_conditions_have_rank(&s->e, r) ? at[r] : 0);
                    n += has_point(s, at) && !seen[key];
                    seen[key] |= has_point(s, at);
                }
    return n;
}

static void test_random(void **state)
{
    uint64_t seed = 7;

    (void)state;
    for (int i = 0; i < 4000; i++) {
        int64_t extents[RANKS], coef[RANKS];
        bool keep[RANKS];
        int64_t visits;
    dfl_i128 got;
        scene s;

        for (uint32_t r = 0; r < RANKS; r++) {
            extents[r] = 1 + (int64_t)draw(&seed, 6);
            keep[r] = draw(&seed, 3) > 0;
        }
        open_scene(&s, extents);
        for (uint32_t c = draw(&seed, CONDITIONS) + 1; c > 0; c--) {
            for (uint32_t r = 0; r < RANKS; r++)
                coef[r] = draw(&seed, 2) > 0 ? (int64_t)draw(&seed, 5) - 2 : 0;
            add_condition(&s, coef, (int64_t)draw(&seed, 7) - 3);
        }
        visits = 5;
        assert_false(dfl_conditions_count_kept(&s.w, &s.e, keep, 5 + 6 * 6 * 6, &visits, &got));
        if ((int64_t)got != enumerate(&s, keep)) {
            for (uint32_t r = 0; r < RANKS; r++)
                print_message("rank %u: extent %lld, kept %d\n", r, (long long)extents[r], keep[r]);
            for (uint32_t c = 0; c < s.e.n_where; c++)
                for (uint32_t t = 0; t < s.where[c].sum.n_terms; t++)
                    print_message("condition %u (%+lld): %+lld of rank %u\n", c, (long long)s.where[c].sum.offset,
                                  (long long)s.where[c].sum.terms[t].coef, s.where[c].sum.terms[t].rank);
        }
        assert_int_equal((int64_t)got, enumerate(&s, keep));
        assert_true(visits >= 5 && visits <= 5 + 6 * 6 * 6);
    }
}

/* i > p and q > p with 5,600 values each: the sum of the squares of 1 to 5,599; one rank is visited. */
static void test_star(void **state)
{
    static const int64_t extents[RANKS] = { 5600, 5600, 5600, 1 }, above[2][RANKS] = { { 1, 0, -1, 0 }, { 0, 1, -1, 0 } };
    const bool pairs[RANKS] = { true, true, false, false };
    int64_t visits = 0;
    dfl_i128 got;
    scene s;

    (void)state;
    open_scene(&s, extents);
    add_condition(&s, above[0], -1);
    add_condition(&s, above[1], -1);
    assert_false(dfl_conditions_count(&s.w, &s.e, &got));
    assert_int_equal((int64_t)got, 5599ll * 5600 * 11199 / 6);
    assert_int_equal(dfl_conditions_visits(&s.w, &s.e), 5600);
    assert_false(dfl_conditions_count_kept(&s.w, &s.e, pairs, 2, &visits, &got)); /* p = 0 leaves most */
    assert_int_equal((int64_t)got, 5599ll * 5599);
    assert_int_equal(visits, 2);
    assert_false(dfl_conditions_count_kept(&s.w, &s.e, pairs, 3, &visits, &got)); /* two more are too many */
    assert_int_equal((int64_t)got, 0);
    assert_int_equal(visits, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_random), cmocka_unit_test(test_star) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
