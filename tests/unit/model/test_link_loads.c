/* Loads of links by classes of coordinates against a walk over all coordinates. The walk is that of the model, in a copy of its
   source for which each coordinate of an axis is a place. All integers, marks of estimates and parts of steps must be equal. */
#include <stdlib.h>
#include <string.h>

#include "tests/harness/check.h"

#include "model/counts/link_loads.h"
#include "model/counts/link_places.h"
#include "model/counts/rank_chain.h"
#include "model/counts/traffic.h"
#include "model/sets/producer_limits.h"
#include "tests/harness/draw.h"
#include "tests/property/case.h"

static bool all_places(dfl_nest *nest, const dfl_crossings *all, const dfl_crossed_array *array, uint32_t axis,
                       dfl_link_places *out);
#define dfl_link_loads_count plain_loads_count
#define dfl_link_places_find all_places
bool plain_loads_count(dfl_nest *nest, const dfl_keep_tree *keeps, const dfl_traffic_sums *sums, dfl_crossings *all);
#include "model/counts/link_loads.c"
#undef dfl_link_loads_count
#undef dfl_link_places_find

enum { CASES = 1500, ROUNDS = 6 };

static bool all_places(dfl_nest *nest, const dfl_crossings *all, const dfl_crossed_array *array, uint32_t axis,
                       dfl_link_places *out)
{
    *out = (dfl_link_places){ .n = 1 };
    for (uint32_t k = 0; k < array->n; k++) {
        const dfl_crossing *c = &all->at[array->crossings[k]];
        int64_t used = 1;
        for (uint64_t left = dfl_link_steps(nest, c, axis); left; left &= left - 1)
            used *= dfl_link_parts(nest, c, (uint32_t)__builtin_ctzll(left));
        used += dfl_paths_place(nest->paths, c->footprint->einsum, axis);
        out->n = used > out->n ? (uint32_t)used : out->n;
    }
    out->at = DFL_NEW_ARRAY(nest->arena, int64_t, out->n);
    for (uint32_t q = 0; q < out->n; q++)
        out->at[q] = q;
    return true;
}

/* A mapping with the parts of a model that the loads need. */
typedef struct {
    dfl_arena *home, *scratch;
    dfl_sink *sink;
    dfl_intern *names;
    dfl_mapping *mapping;
    dfl_paths *paths;
    dfl_nest nest;
    dfl_keep_tree keeps;
    dfl_traffic_plan traffic;
    dfl_traffic_sums sums;
    dfl_crossings crossings;
    unsigned counted, combined; /* runs; axes whose places have classes of crossings */
} bench;

static bool prepare(bench *t, const dfl_case *c)
{
    dfl_nest *nest = &t->nest;
    dfl_arena_reset(t->home);
    t->names = dfl_intern_new(t->home);
    t->sink = dfl_sink_new(t->home, NULL);
    t->mapping = DFL_NEW(t->home, dfl_mapping);
    *t->mapping = *case_mapping(c, t->home, t->names);
    t->paths = dfl_paths_resolve(t->home, t->sink, t->names, t->mapping);
    memset(nest, 0, sizeof *nest);
    memset(&t->keeps, 0, sizeof t->keeps);
    memset(&t->traffic, 0, sizeof t->traffic);
    memset(&t->sums, 0, sizeof t->sums);
    memset(&t->crossings, 0, sizeof t->crossings);
    if (!t->paths || !dfl_nest_init(nest, t->home, t->sink, t->names, t->paths) || !dfl_producer_limits_find(nest) ||
        !dfl_keep_tree_make(nest, &t->keeps))
        return false;
    nest->sizes = dfl_loop_sizes_new(t->home, nest->paths);
    nest->chains = dfl_arena_alloc(t->home, nest->workload->n_einsums + 1, sizeof *nest->chains, _Alignof(dfl_rank_chain *));
    if (!dfl_traffic_plan_make(nest, &t->keeps, &t->traffic) ||
        !dfl_crossings_make(nest, &t->keeps, &t->traffic, &t->crossings))
        return false;
    dfl_traffic_plan_make_sums(nest, &t->keeps, &t->sums);
    return true;
}

/* The loads of all networks and crossings. */
typedef struct { dfl_link_class *classes; dfl_i128 *bits; double *steps; uint32_t n_classes, n_bits, n_steps; } loads;

static loads copy_loads(const bench *t)
{
    const dfl_crossings *all = &t->crossings;
    loads out = { .n_classes = 0 };
    size_t most = 1, steps = 1;

    for (uint32_t n = 0; n < t->nest.system->n_networks; n++)
        most += all->networks[n].n_classes;
    steps = most * (all->n + 1) * (DFL_MAX_STEPS + 1);
    out.classes = DFL_NEW_ARRAY(t->scratch, dfl_link_class, most);
    out.bits = DFL_NEW_ARRAY(t->scratch, dfl_i128, most * (all->n + 1));
    out.steps = DFL_NEW_ARRAY(t->scratch, double, steps);
    for (uint32_t n = 0; n < t->nest.system->n_networks; n++)
        for (uint32_t k = 0; k < all->networks[n].n_classes; k++)
            out.classes[out.n_classes++] = all->networks[n].classes[k];
    for (uint32_t i = 0; i < all->n; i++) {
        const dfl_crossing *c = &all->at[i];
        for (uint32_t k = 0; k < all->networks[c->network].n_classes; k++) {
            out.bits[out.n_bits++] = c->bits[k];
            for (uint32_t j = 0; c->by_step && c->by_step[k] && j <= c->footprint->n; j++)
                out.steps[out.n_steps++] = c->by_step[k][j];
        }
    }
    return out;
}

static void expect_equal(const loads *got, const loads *want, const char *name, uint64_t index)
{
    bool equal = got->n_classes == want->n_classes && got->n_bits == want->n_bits && got->n_steps == want->n_steps;

    for (uint32_t k = 0; k < got->n_classes && equal; k++)
        equal = got->classes[k].bits == want->classes[k].bits && got->classes[k].rough == want->classes[k].rough;
    for (uint32_t k = 0; k < got->n_bits && equal; k++)
        equal = got->bits[k] == want->bits[k];
    equal = equal && memcmp(got->steps, want->steps, got->n_steps * sizeof *got->steps) == 0;
    if (!equal)
        fail_msg("%s %llu: the loads differ from those of a walk over all coordinates", name, (unsigned long long)index);
}

/* Counts the loads both ways at the present sizes. */
static void compare(bench *t, const char *name, uint64_t index)
{
    dfl_nest *nest = &t->nest;
    dfl_link_places places;

    dfl_arena_reset(t->scratch);
    if (!dfl_paths_resize(t->scratch, t->sink, t->names, t->paths))
        return;
    nest->arena = t->scratch;
    nest->refused = false;
    dfl_step_numbers_read(nest->numbers);
    if (nest->run++ > 0 && !dfl_nest_sizes_are_countable(nest))
        return;
    dfl_loop_sizes_read(nest->paths, nest->sizes);
    if (!dfl_traffic_count(nest, &t->keeps, &t->traffic, &t->sums) ||
        !dfl_crossings_count(nest, &t->keeps, &t->sums, &t->crossings) ||
        !dfl_link_loads_count(nest, &t->keeps, &t->sums, &t->crossings))
        return;
    const loads got = copy_loads(t);
    assert_true(dfl_crossings_count(nest, &t->keeps, &t->sums, &t->crossings));
    assert_true(plain_loads_count(nest, &t->keeps, &t->sums, &t->crossings));
    const loads want = copy_loads(t);
    expect_equal(&got, &want, name, index);
    t->counted++;
    for (uint32_t i = 0; i < t->crossings.n_arrays; i++) {
        const dfl_element *element = &nest->system->elements[t->crossings.arrays[i].element];
        for (uint32_t a = element->first_axis; a < element->first_axis + element->n_axes; a++) {
            assert_true(dfl_link_places_find(nest, &t->crossings, &t->crossings.arrays[i], a, &places));
            t->combined += places.class != NULL;
        }
    }
}

/* Makes tiles and parts up to three times as large, and as small as 1. */
static void change_sizes(bench *t, const int64_t *own, uint64_t *state)
{
    size_t at = 0;

    for (uint32_t b = 0; b < t->mapping->n_bodies; b++)
        for (uint32_t i = 0; i < t->mapping->bodies[b]->n_lines; i++, at++) {
            dfl_line *line = &t->mapping->bodies[b]->lines[i];
            if (line->kind != DFL_LINE_KEEP && own[at] > 1)
                line->amount = draw(state, 3) > 0 ? 1 + draw_amount(state, 3 * own[at]) : own[at];
        }
}

static void compare_case(bench *t, dfl_case *c, const char *name, uint64_t index)
{
    uint64_t state = index;
    int64_t own[CASE_BODIES * CASE_LINES];
    size_t n = 0;

    for (uint32_t a = 0; a < c->n_axes; a++)
        c->axes[a].size *= 3;
    if (!prepare(t, c))
        return;
    for (uint32_t b = 0; b < t->mapping->n_bodies; b++)
        for (uint32_t i = 0; i < t->mapping->bodies[b]->n_lines; i++)
            own[n++] = t->mapping->bodies[b]->lines[i].amount;
    for (int round = 0; round < ROUNDS; round++) {
        compare(t, name, index);
        change_sizes(t, own, &state);
    }
}

static void drawn_cases(void **unused)
{
    bench t = { .home = dfl_arena_new(NULL), .scratch = dfl_arena_new(NULL) };
    dfl_case *c = malloc(sizeof *c);

    (void)unused;
    assert_non_null(c);
    for (uint64_t i = 0; i < CASES; i++) {
        case_draw(c, 17, i);
        compare_case(&t, c, "case", i);
    }
    /* with fewer comparisons the test would prove little */
    assert_true(t.counted > 2 * CASES);
    assert_true(t.combined > CASES / 4);
    free(c);
    dfl_arena_free(t.home);
    dfl_arena_free(t.scratch);
}

/* The lines of an einsum: two loops on each axis of an array with at most `x` and `y` parts together. With `spills`, partial sums
   leave the array and return. */
static void draw_lines(const char *kept, const char *sum, const char *first, const char *second, int x, int y, bool spills,
                       uint64_t *state, char text[256])
{
    const int a = 1 + (int)draw(state, 6), b = 1 + (int)draw(state, 6);

    snprintf(text, 256,
             "spatial %s/%d on px; spatial %s/%d on px; spatial %s/%d on py; spatial %s/%d on py; %skeep %s in sram; "
             "%stemporal n; temporal %s;",
             first, a, second, x / a, second, b, first, y / b, spills ? "temporal k:2; temporal m:1; " : "",
             kept, spills ? "" : "temporal m; ", sum);
}

/* Two products and a sum over a window that the border of its operand clips share both axes of an array, with a network of each
   kind. Each has a division of its own. The parts are ragged, and the ranks of a sum spread over instances. */
static void divided_axes(void **unused)
{
    static const char *const ranks[3][3] = { { "m", "n", "k" }, { "m", "n", "k" }, { "m", "n", "r" } };
    static const char *const results[] = { "Z", "Y", "X" };
    static const char *const operands[] = { "A, W, Z", "W, Y", "B, X" };
    enum { X = 29, Y = 23, DRAWS = 40 };
    bench t = { .home = dfl_arena_new(NULL), .scratch = dfl_arena_new(NULL) };
    dfl_case *c = malloc(sizeof *c);

    (void)unused;
    assert_non_null(c);
    for (uint64_t i = 0; i < (uint64_t)CASE_NETWORKS * DRAWS; i++) {
        uint64_t state = i + 1;
        case_init(c);
        case_add_rank(c, "m", 180 + (int64_t)draw(&state, 30));
        case_add_rank(c, "n", 31 + (int64_t)draw(&state, 30));
        case_add_rank(c, "k", 350 + (int64_t)draw(&state, 30));
        case_add_rank(c, "r", 7);
        case_add_input(c, "A", DFL_ROLE_INPUT, 2, (int64_t[]){ c->ranks[0].extent, c->ranks[2].extent });
        case_add_input(c, "W", DFL_ROLE_WEIGHT, 2, (int64_t[]){ c->ranks[2].extent, c->ranks[1].extent });
        case_add_input(c, "B", DFL_ROLE_INPUT, 2, (int64_t[]){ c->ranks[0].extent, c->ranks[1].extent });
        case_add_einsum(c, "Z[m,n] += A[m,k] * W[k,n]");
        case_add_einsum(c, "Y[m,n] += A[m,k] * W[k,n]");
        case_add_einsum(c, "X[m,n] += B[m+r-3,n]");
        case_set_roles(c);
        case_add_memory(c, "dram", 0, 1);
        case_add_axis(c, "px", 1, X, draw(&state, 2) ? CASE_ALL : CASE_NO, draw(&state, 2) ? CASE_ALL : CASE_NO);
        case_add_axis(c, "py", 1, Y, draw(&state, 2) ? CASE_ALL : CASE_NO, draw(&state, 2) ? CASE_ALL : CASE_NO);
        case_add_memory(c, "sram", 1, 1);
        case_add_unit(c, "mac", 1);
        c->networks[1] = (case_network)(i % CASE_NETWORKS);
        case_lines(c, 0, "keep A, W, B, Z, Y, X in dram;");
        for (uint32_t e = 0; e < 3; e++) {
            char lines[256];
            uint32_t one = (uint32_t)draw(&state, 3), other = (one + 1 + (uint32_t)draw(&state, 2)) % 3;
            draw_lines(operands[e], ranks[e][2], ranks[e][one], ranks[e][other], X, Y, e < 2 && draw(&state, 2), &state, lines);
            case_lines(c, case_add_leaf(c, 0, results[e]), lines);
        }
        if (!prepare(&t, c))
            fail_msg("array %llu: %s", (unsigned long long)i, dfl_sink_at(t.sink, 0)->message);
        compare(&t, "array", i);
    }
    assert_int_equal(t.counted, CASE_NETWORKS * DRAWS);
    assert_true(t.combined > CASE_NETWORKS * DRAWS);
    free(c);
    dfl_arena_free(t.home);
    dfl_arena_free(t.scratch);
}

/* The example of MODEL.md, section 2.9: the coordinates to visit, and the busiest port. */
static void two_divisions(void **unused)
{
    static const int64_t places[] = { 0, 2, 3, 5 };
    bench t = { .home = dfl_arena_new(NULL), .scratch = dfl_arena_new(NULL) };
    dfl_case *c = malloc(sizeof *c);
    dfl_link_places out;

    (void)unused;
    assert_non_null(c);
    case_init(c);
    case_add_rank(c, "m", 11);
    case_add_rank(c, "n", 5);
    case_add_rank(c, "k", 7);
    case_add_input(c, "A", DFL_ROLE_INPUT, 1, (int64_t[]){ 11 });
    case_add_input(c, "B", DFL_ROLE_INPUT, 2, (int64_t[]){ 5, 7 });
    case_add_einsum(c, "Z[m] = A[m]");
    case_add_einsum(c, "Y[n,k] = B[n,k]");
    case_set_roles(c);
    case_add_memory(c, "dram", 0, 1);
    case_add_axis(c, "px", 1, 6, CASE_NO, CASE_NO);
    case_add_memory(c, "sram", 1, 1);
    case_add_unit(c, "mac", 1);
    c->networks[1] = CASE_CROSSBAR;
    case_lines(c, 0, "keep A, B, Z, Y in dram;");
    case_lines(c, case_add_leaf(c, 0, "Z"), "spatial m/6 on px; keep A, Z in sram; temporal m;");
    case_lines(c, case_add_leaf(c, 0, "Y"), "spatial n/2 on px; spatial k/3 on px; keep B, Y in sram; temporal n; temporal k;");
    assert_true(prepare(&t, c));
    compare(&t, "example", 0);
    assert_int_equal(t.counted, 1);
    assert_true(dfl_link_places_find(&t.nest, &t.crossings, &t.crossings.arrays[0], 0, &out));
    assert_int_equal(out.n, 4);
    assert_memory_equal(out.at, places, sizeof places);
    for (uint32_t i = 0; i < t.crossings.n; i++)
        assert_int_equal(t.crossings.at[i].width, t.crossings.at[0].width);
    assert_true(t.crossings.networks[0].classes[DFL_CLASS_INNER_DOWN].bits == 11 * t.crossings.at[0].width);
    free(c);
    dfl_arena_free(t.home);
    dfl_arena_free(t.scratch);
}

/* Windows of B[9] by m + r - 1 on an array of 2 x 2: tiles of 4 positions of m and of 2 of r are 5 elements, of which the border
   clips one at (0, 0) and one at (1, 1). So both coordinates of each axis have 4 + 5 = 9, and the busiest port has 5. */
static void axes_together(void **unused)
{
    bench t = { .home = dfl_arena_new(NULL), .scratch = dfl_arena_new(NULL) };
    dfl_case *c = malloc(sizeof *c);

    (void)unused;
    assert_non_null(c);
    case_init(c);
    case_add_rank(c, "m", 8);
    case_add_rank(c, "r", 4);
    case_add_input(c, "B", DFL_ROLE_INPUT, 1, (int64_t[]){ 9 });
    case_add_einsum(c, "X[m,r] = B[m+r-1]");
    case_set_roles(c);
    case_add_memory(c, "dram", 0, 1);
    case_add_axis(c, "px", 1, 2, CASE_NO, CASE_NO);
    case_add_axis(c, "py", 1, 2, CASE_NO, CASE_NO);
    case_add_memory(c, "sram", 1, 1);
    case_add_unit(c, "mac", 1);
    c->networks[1] = CASE_CROSSBAR;
    case_lines(c, 0, "keep B, X in dram;");
    case_lines(c, case_add_leaf(c, 0, "X"), "spatial m/2 on px; spatial r/2 on py; keep B, X in sram; temporal m; temporal r;");
    assert_true(prepare(&t, c));
    compare(&t, "window", 0);
    assert_int_equal(t.counted, 1);
    assert_true(t.crossings.networks[0].classes[DFL_CLASS_INNER_DOWN].bits == 5 * t.crossings.at[0].width);
    free(c);
    dfl_arena_free(t.home);
    dfl_arena_free(t.scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(drawn_cases), cmocka_unit_test(divided_axes),
                                        cmocka_unit_test(two_divisions), cmocka_unit_test(axes_together) };

    return CHECK_GROUP("model.link_loads", tests);
}
