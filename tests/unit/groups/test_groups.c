/* Groups of einsums on a chip: every search against an enumeration of all assignments of einsums to groups. */
#include <math.h>
#include <string.h>

#include "tests/harness/check.h"

#include "groups/groups.h"
#include "tests/harness/draw.h"

enum { MOST = 6, FLOORS = 3 };

/* ---- random problems --------------------------------------------------------------------------------------------- */

typedef struct {
    dfl_group_problem problem;
    dfl_einsum_set before[MOST];
    double floors[FLOORS * MOST];  /* [row * n + einsum] */
    double cost[1 << MOST];        /* [group] */
    uint32_t asked[1 << MOST];     /* [group]: calls of the cost */
} random_problem;

static double look_up_cost(void *context, dfl_einsum_set group)
{
    random_problem *random = context;

    random->asked[(size_t)group]++;
    return random->cost[(size_t)group];
}

static void draw_problem(uint64_t *state, random_problem *r)
{
    memset(r, 0, sizeof *r);
    r->problem = (dfl_group_problem){ .n = draw(state, MOST + 1), .most = draw(state, 4), .before = r->before,
                                      .cost = look_up_cost, .context = r, .floors = r->floors, .n_floors = draw(state, FLOORS + 1) };
    const uint32_t edges = 1 + draw(state, 4), tight = draw(state, 3);
    for (uint32_t i = 0; i < r->problem.n; i++) {
        for (uint32_t row = 0; row < r->problem.n_floors; row++)
            r->floors[row * r->problem.n + i] = draw(state, 16);
        for (uint32_t j = 0; j < i; j++)
            r->before[i] |= draw(state, 5) < edges ? DFL_EINSUM_BIT(j) : 0;
    }
    for (uint32_t group = 1; group < 1u << r->problem.n; group++) {
        double least = 0, cost = draw(state, 64);
        for (uint32_t row = 0; row < r->problem.n_floors; row++) {
            double sum = 0;
            for (uint32_t i = 0; i < r->problem.n; i++)
                sum += group >> i & 1 ? r->floors[row * r->problem.n + i] : 0;
            least = fmax(least, sum);
        }
        r->cost[group] = draw(state, 4) < tight ? INFINITY : cost * draw(state, 2) + least;
    }
}

/* Least cost over all assignments of the einsums from `i` on to groups in order; `groups` are the members so far. */
static double enumerate(const random_problem *r, uint32_t i, dfl_einsum_set groups[MOST])
{
    const uint32_t n = r->problem.n, most = r->problem.most > 0 && r->problem.most < n ? r->problem.most : n;
    double best = INFINITY, sum = 0;

    if (i == n) {
        for (uint32_t k = 0; k < most; k++)
            sum += groups[k] ? r->cost[(size_t)groups[k]] : 0;
        return sum;
    }
    for (uint32_t k = 0; k < most; k++) {
        dfl_einsum_set later = 0;
        for (uint32_t g = k + 1; g < most; g++)
            later |= groups[g];
        if (later & r->before[i])
            continue;
        groups[k] |= DFL_EINSUM_BIT(i);
        best = fmin(best, enumerate(r, i + 1, groups));
        groups[k] &= ~DFL_EINSUM_BIT(i);
    }
    return best;
}

/* The groups contain each einsum once, in an order in which they can run, and cost what is said. */
static void check_groups(const random_problem *r, const dfl_groups *found)
{
    dfl_einsum_set done = 0;
    double sum = 0;

    for (uint32_t k = 0; k < found->n; k++) {
        assert_true(found->groups[k] && !(found->groups[k] & done));
        done |= found->groups[k];
        for (uint32_t i = 0; i < r->problem.n; i++)
            assert_true(!(found->groups[k] & DFL_EINSUM_BIT(i)) || !(r->before[i] & ~done));
        sum += r->cost[(size_t)found->groups[k]];
    }
    assert_true(done == DFL_EINSUM_BIT(r->problem.n) - 1);
    assert_true(r->problem.most == 0 || found->n <= r->problem.most);
    assert_true(sum == found->cost);
}

static void equals_enumeration(void **state)
{
    enum { CASES = 3000 };
    dfl_arena *arena = dfl_arena_new(NULL);
    uint64_t seed = 5;
    uint32_t fits = 0;

    (void)state;
    for (int k = 0; k < CASES; k++) {
        static random_problem r;
        dfl_einsum_set groups[MOST] = { 0 };
        uint64_t asked = 0;
        draw_problem(&seed, &r);
        dfl_groups found = dfl_groups_find(arena, &r.problem);
        double want = enumerate(&r, 0, groups);
        assert_true(found.proven);
        assert_true(found.cost == want);
        for (uint32_t group = 0; group < 1u << MOST; group++) {
            assert_true(r.asked[group] <= 1);
            asked += r.asked[group];
        }
        assert_true(found.evaluated == asked);
        if (isfinite(want)) {
            check_groups(&r, &found);
            fits++;
        } else {
            assert_null(found.groups);
        }
        dfl_arena_reset(arena);
    }
    assert_true(fits > CASES / 2 && fits < CASES);
    dfl_arena_free(arena);
}

/* ---- numbers of down-sets ---------------------------------------------------------------------------------------- */

/* A group costs 1, and 0.5 for every einsum. */
static double count_cost(void *context, dfl_einsum_set group)
{
    (void)context;
    return 1 + 0.5 * (__builtin_popcountll((uint64_t)group) + __builtin_popcountll((uint64_t)(group >> 64)));
}

static void counts_down_sets(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_einsum_set before[DFL_GROUPS_MOST] = { 0 };
    dfl_group_problem problem = { .n = 14, .most = 0, .before = before, .cost = count_cost, .context = NULL };

    (void)state;
    /* einsums that read nothing of each other: every subset */
    dfl_groups found = dfl_groups_find(arena, &problem);
    assert_true(found.proven && found.n == 1 && found.cost == 8);
    assert_int_equal(found.down_sets, 1 << 14);
    problem.n = 15;
    found = dfl_groups_find(arena, &problem);
    assert_true(!found.proven && found.n == 1 && found.cost == 8.5);
    assert_int_equal(found.down_sets, 16);
    /* a chain as long as a search may be */
    problem.n = DFL_GROUPS_MOST;
    for (uint32_t i = 1; i < problem.n; i++)
        before[i] = DFL_EINSUM_BIT(i - 1);
    found = dfl_groups_find(arena, &problem);
    assert_true(found.proven && found.n == 1 && found.cost == 65);
    assert_int_equal(found.down_sets, DFL_GROUPS_MOST + 1);
    dfl_arena_free(arena);
}

static void stops_with_budget(void **state)
{
    dfl_budget budget = { .steps_limit = 30 };
    dfl_arena *arena = dfl_arena_new(&budget);
    dfl_einsum_set before[8] = { 0 };
    const dfl_group_problem problem = { .n = 8, .most = 0, .before = before, .cost = count_cost, .context = NULL };
    dfl_groups found = dfl_groups_find(arena, &problem);

    (void)state;
    assert_true(!found.proven && found.n == 1 && found.cost == 5);
    dfl_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_enumeration), cmocka_unit_test(counts_down_sets), cmocka_unit_test(stops_with_budget),
    };

    return CHECK_GROUP("groups", tests);
}
