/*
 * Keys of the parts on an axis. The test compares three computations of a key: rank by rank during the walk over
 * spreads, from the lists of all ways to put parts on an axis, and anew from the parts of all ranks. Parts inside of
 * the operand of the key divide it, parts outside multiply it. The system has two axes, and one of the axes shares
 * transfers.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "api/session.h"
#include "mapper/divisors/axis_factors.h"
#include "mapper/divisors/divisors_internal.h"
#include "mapper/exact/einsum_classes.h"

static const char problem[] =
    "workload one : i8 {\n    rank m = 8, k = 12, n = 6;\n    input A[m, k], B[k, n];\n    output Z[m, n] += A[m, k] * B[k, n];\n}\n"
    "system chip {\n    memory dram { size = unlimited; read { bandwidth = 1B/s; energy = 90pJ/bit; } }\n"
    "    memory near { size = 40B; read { bandwidth = 3B/s; energy = 9pJ/bit; } }\n"
    "    network links = bus { multicast = x; reduce = x; }\n    array x[4], y[6] over links {\n"
    "        memory reg { size = 4B; read { bandwidth = 8B/s; energy = 1pJ/bit; } }\n"
    "        compute mac { rate { mac = 4MAC/s; } energy { mac = 1pJ/MAC; } }\n    }\n}\n"
    "mapping m for one on chip { ...; minimize energy * latency; }\n";

/* The value of a key after the parts of all ranks on axis `a`. */
static double anew(const dfl_search *s, uint32_t a, const dfl_axis_key *key)
{
    double value = 1;

    for (uint32_t r = 0; r < s->problem->n_ranks; r++) {
        bool indexes = s->problem->operand[key->operand].ranks >> r & 1;
        double d = (double)s->parts[a][r];
        if (key->inside && indexes)
            value /= d;
        if (key->outside && !indexes)
            value *= d;
        if (key->last >> r & 1)
            value /= d;
    }
    return value;
}

static void compare_keys(dfl_search *s)
{
    for (uint32_t a = 0; a < s->problem->n_axes; a++) {
        const dfl_axis_bound *b = &s->axis[a];
        const double *value = b->value;
        for (uint32_t r = 0; r < s->problem->n_ranks; r++)
            if (s->parts[a][r] > 1)
                value = b->value + (size_t)(r + 1) * b->n; /* of the last rank that has parts */
        for (uint32_t i = 0; i < b->n; i++)
            if (!(fabs(value[i] - anew(s, a, &b->key[i])) <= 1e-12 * value[i]))
                fail_msg("axis %u, key %u: %g rank by rank, %g anew", a, i, value[i], anew(s, a, &b->key[i]));
    }
    s->rows->pruned += 1000000; /* counts the visited spreads */
}

static void compare_lists(dfl_search *s)
{
    for (uint32_t a = 0; a < s->problem->n_axes; a++) {
        const dfl_axis_bound *b = &s->axis[a];
        dfl_axis_factors *list = dfl_axis_factors_of(s->rows, s->problem, a, s->whole[a]);
        uint32_t way = 0;
        assert_true(b->listed && list != NULL);
        while (way < list->n && memcmp(list->parts[way].of, s->parts[a], s->problem->n_ranks * sizeof **s->parts) != 0)
            way++;
        assert_true(way < list->n);
        for (uint32_t i = 0; i < b->n; i++) {
            double value = dfl_axis_factors_values(s->rows, list, b->sort[i])[way];
            if (!(fabs(value - anew(s, a, &b->key[i])) <= 1e-12 * value))
                fail_msg("axis %u, key %u: %g in the list, %g anew", a, i, value, anew(s, a, &b->key[i]));
        }
    }
    s->rows->pruned += 1000000;
}

static void are_the_same_step_by_step(void **state)
{
    dfl_session *s = dfl_session_new(NULL);
    dfl_deadline halt = { .budget = &s->budget };
    const dfl_problem_limits limits = { .plain = false };
    dfl_arena *arena = dfl_arena_new(NULL), *scratch = dfl_arena_new(NULL);
    uint64_t spreads = 0, listed = 0, keys = 0;
    dfl_einsum_classes k;

    (void)state;
    assert_int_equal(dfl_session_open_text(s, "one.dfl", problem, strlen(problem)), DFL_EXIT_OK);
    assert_true(dfl_session_analyse(s));
    assert_true(dfl_einsum_classes_make(s->arena, scratch, s->sink, s->names, s->program->designs[0].mapping, &limits, 1, &halt,
                                        &k));
    for (size_t i = 0; i < k.at.at[0].candidates.n; i += 3) {
        const dfl_candidate *x = &k.at.at[0].candidates.at[i];
        dfl_tile_goal goal = { .of = { .value = dfl_value_joules }, .by_energy = true, .by_time = true, .limit = INFINITY,
                               .halt = &halt, .max_loops = 1 };
        dfl_pareto_set *rows = dfl_pareto_set_new(arena, scratch);
        assert_int_equal(x->problem->n_axes, 2);
        (void)dfl_tile_search(rows, x->problem, x->form, &goal); /* makes the keys */
        rows->pruned = 0;
        dfl_spatials_each(rows->search, compare_lists);
        listed += rows->pruned / 1000000;
        for (uint32_t a = 0; a < x->problem->n_axes; a++)
            rows->search->axis[a].listed = false;
        rows->pruned = 0;
        dfl_spatials_each(rows->search, compare_keys);
        spreads += rows->pruned / 1000000;
        keys += rows->search->axis[0].n + rows->search->axis[1].n;
    }
    assert_true(spreads > 1000 && keys > 100);
    assert_int_equal(spreads, listed);
    dfl_arena_free(arena);
    dfl_arena_free(scratch);
    dfl_session_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(are_the_same_step_by_step) };

    return cmocka_run_group_tests_name("mapper.spreads", tests, NULL, NULL);
}
