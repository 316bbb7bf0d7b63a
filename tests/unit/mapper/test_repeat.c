/* Chains of equal parts. The join skips repeated parts, except in a search for structures (`top`), which joins every
   part. Both searches must find equal values. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/session.h"
#include "mapper/exact/periodic.h"
#include "report/check/check.h"

typedef struct {
    const char *name;
    uint32_t parts;
    int extents[4];              /* of n0, n1, ..., in turn; 0 = from the start again */
    enum { PLAIN, RESIDUAL, SQUARE } kind;
    const char *size, *objective;
    const char *outer;           /* size of dram, and what it holds; NULL = everything */
} chain;

static const char system_text[] =
    "system chip {\n    clock = 1GHz;\n    memory dram { size = %s; bandwidth = 8B/cycle; energy = 100pJ/bit; }\n"
    "    memory sram { size = %s; bandwidth = 64B/cycle; energy = 1pJ/bit; }\n"
    "    compute mac { rate = 1MAC/cycle; energy = 1pJ/MAC; }\n    compute vec { ops = flop; rate = 1FLOP/cycle; }\n}\n";

static int extent(const chain *c, uint32_t i)
{
    uint32_t n = 0;

    while (n < 4 && c->extents[n] > 0)
        n++;
    return c->extents[i % n];
}

static void print_part(const chain *c, uint32_t i, FILE *out)
{
    const char *last = i == c->parts ? "output " : "";

    if (c->kind == SQUARE) /* ranks of one part are those of the others, in turn */
        fprintf(out, "    weight W%u[%c, %c];\n    %sT%u[m, %c] += T%u[m, %c] * W%u[%c, %c];\n", i, "ab"[i % 2],
                "ab"[(i + 1) % 2],
                last, i, "ab"[(i + 1) % 2], i - 1, "ab"[i % 2], i, "ab"[i % 2], "ab"[(i + 1) % 2]);
    if (c->kind == PLAIN)
        fprintf(out, "    weight W%u[n%u, n%u];\n    %sT%u[m, n%u] += T%u[m, n%u] * W%u[n%u, n%u];\n", i, i - 1, i, last, i, i,
                i - 1, i - 1, i, i - 1, i);
    if (c->kind == RESIDUAL)
        fprintf(out, "    weight V%u[n0, h%u]; weight W%u[h%u, n0];\n    Y%u[m, h%u] += T%u[m, n0] * V%u[n0, h%u];\n"
                "    Z%u[m, n0] += Y%u[m, h%u] * W%u[h%u, n0];\n    %sT%u[m, n0] = T%u[m, n0] + Z%u[m, n0];\n",
                i, i, i, i, i, i, i - 1, i, i, i, i, i, i, i, last, i, i - 1, i);
}

static char *print_chain(const chain *c)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    fprintf(out, "dfl 1;\n");
    fprintf(out, system_text, c->outer ? c->outer : "unlimited", c->size);
    fprintf(out, "workload w : i8 {\n    rank m = 16");
    if (c->kind == SQUARE)
        fprintf(out, ", a = %d, b = %d", extent(c, 0), extent(c, 1));
    for (uint32_t i = 0; c->kind == PLAIN && i <= c->parts; i++)
        fprintf(out, ", n%u = %d", i, extent(c, i));
    for (uint32_t i = 0; c->kind == RESIDUAL && i <= c->parts; i++)
        fprintf(out, ", %c%u = %d", i == 0 ? 'n' : 'h', i, extent(c, i == 0 ? 0 : 1));
    fprintf(out, ";\n    input T0[m, %s];\n", c->kind == SQUARE ? "b" : "n0");
    for (uint32_t i = 1; i <= c->parts; i++)
        print_part(c, i, out);
    fprintf(out, "}\nmapping best for w on chip { option overlap = perfect; ...; minimize %s; }\n", c->objective);
    fputc('\0', out);
    fclose(out);
    return text;
}

typedef struct {
    double value, lower_bound;
    bool optimal;
} found;

/* The value and bound of the best mapping, which must pass the checks. With `long_way` the join joins every einsum. */
static found search(const char *text, bool long_way)
{
    const dfl_search_options options = { .size = sizeof options, .top = long_way, .perfect = true };
    dfl_session *s = dfl_session_new(NULL);
    const dfl_search_summary *best;
    found out;

    dfl_session_set_search(s, &options);
    assert_int_equal(dfl_session_open_text(s, "chain.dfl", text, strlen(text)), DFL_EXIT_OK);
    assert_int_equal(dfl_session_map(s, NULL), DFL_EXIT_OK);
    assert_int_equal(s->filled.n, 1);
    best = s->filled.at[0].search;
    out = (found){ .value = best->value, .lower_bound = best->lower_bound, .optimal = best->optimal };
    dfl_session_free(s);
    return out;
}

static void are_as_good_as_the_long_way(void **state)
{
    static const chain chains[] = {
        { "one shape", 60, { 16 }, PLAIN, "256B", "energy", NULL },
        { "two shapes", 51, { 16, 32 }, PLAIN, "512B", "energy", NULL },
        { "two shapes, no room", 40, { 16, 32 }, PLAIN, "64B", "energy", NULL },
        { "two shapes, all fits", 60, { 16, 32 }, PLAIN, "16KiB", "energy", NULL },
        { "three shapes", 50, { 16, 32, 8 }, PLAIN, "512B", "energy", NULL },
        { "four shapes", 45, { 16, 32, 8, 12 }, PLAIN, "300B", "energy", NULL },
        { "the same ranks again", 50, { 16, 32 }, SQUARE, "512B", "energy", NULL },
        { "the same ranks, one shape", 40, { 16, 16 }, SQUARE, "512B", "energy", NULL },
        { "residuals", 24, { 16, 8 }, RESIDUAL, "512B", "energy", NULL },
        { "on the chip", 30, { 16 }, PLAIN, "256B", "energy", "unlimited; holds = input, weight, output" },
        { "little room outside", 30, { 16 }, PLAIN, "256B", "energy", "8300B" },
        { "latency", 60, { 16, 32 }, PLAIN, "512B", "latency", NULL },
        { "residuals, latency", 24, { 16, 8 }, RESIDUAL, "512B", "latency", NULL },
        { "energy and latency", 20, { 16, 8 }, PLAIN, "512B", "energy * latency", NULL },
        { "energy and some latency", 60, { 16, 8 }, PLAIN, "128B", "energy + 1mW * latency", NULL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        char *text = print_chain(&chains[i]);
        found fast = search(text, false), slow = search(text, true);
        if (fabs(fast.value - slow.value) > 1e-12 * slow.value || fast.optimal != slow.optimal)
            fail_msg("%s: %.17g, the long way %.17g\n%s", chains[i].name, fast.value, slow.value, text);
        free(text);
    }
}

/* ---- states that recur, by hand ---- */

enum { EINSUMS = 12 };

/* A chain of equal einsums: einsum e reads tensor e and makes tensor e + 1; its ranks are 0, 1 + e and 2 + e. */
typedef struct {
    dfl_arena *arena;
    dfl_workload w;
    dfl_tensor tensors[EINSUMS + 1];
    dfl_rank ranks[EINSUMS + 2];
    uint32_t ids[EINSUMS + 1];
    dfl_problem problems[EINSUMS];
    dfl_join_step steps[EINSUMS];
    dfl_pattern pattern;
    dfl_bound_step bound_steps[EINSUMS];
    dfl_tile_goal goal;
    dfl_joiner joiner;
    dfl_join_state states[2];
    dfl_join_bucket bucket;
    dfl_join_layer layer;
} bench;

static void set_bench(bench *b)
{
    static const dfl_pmapping *rows[1];

    *b = (bench){ .arena = dfl_arena_new(NULL) };
    b->w = (dfl_workload){ .tensors = b->tensors, .n_tensors = EINSUMS + 1, .ranks = b->ranks, .n_ranks = EINSUMS + 2,
                           .n_einsums = EINSUMS };
    for (uint32_t e = 0; e <= EINSUMS; e++) {
        b->ids[e] = e;
        b->tensors[e] = (dfl_tensor){ .producers = e > 0 ? &b->ids[e - 1] : NULL, .n_producers = e > 0,
                                      .consumers = &b->ids[e], .n_consumers = e < EINSUMS };
    }
    b->pattern = (dfl_pattern){ .memory = { 0 }, .least = dfl_criteria_zero() };
    for (uint32_t e = 0; e < EINSUMS; e++) {
        dfl_problem *problem = &b->problems[e];
        problem->n_operands = 2;
        problem->operand[0] = (dfl_problem_operand){ .tensor = e, .shared = e > 0 };
        problem->operand[1] = (dfl_problem_operand){ .tensor = e + 1, .output = true, .shared = e + 1 < EINSUMS };
        problem->n_ranks = 3;
        problem->rank[1] = 1 + e;
        problem->rank[2] = 2 + e;
        b->steps[e] = (dfl_join_step){ .rows = rows, .n = 1, .problem = problem };
        b->bound_steps[e] = (dfl_bound_step){ .problem = problem, .patterns = &b->pattern, .n = 1 };
    }
    b->goal = (dfl_tile_goal){ .limit = INFINITY };
    b->joiner = (dfl_joiner){ .scratch = b->arena, .goal = &b->goal };
    b->layer = (dfl_join_layer){ .states = { b->states, 2, 2 }, .buckets = { &b->bucket, 1, 1 } };
}

/* Two states in front of each einsum e. In front of the first einsum they cost 10 and 12 J; each further einsum adds 3
   J. Tensor e is alive below one loop, over its second rank. */
static void set_front(bench *b, uint32_t e)
{
    memset(&b->bucket, 0, sizeof b->bucket);
    b->bucket.first = 1;
    b->bucket.way = (dfl_join_way){ .n_open = 1, .n_live = 1, .trips = { 4 }, .name = { 1 + e },
                                    .live = { { .tensor = e, .memory = 1, .depth = 1, .within = 1, .dim = { 1 }, .bits = 64 } } };
    for (uint32_t i = 0; i < 2; i++)
        b->states[i] = (dfl_join_state){ .joules = 10 + 2 * i + 3 * e, .seconds = 1 + e, .choice = i,
                                         .resident = { { 8 + i } }, .finished = { { 9, 7 } } };
    b->states[0].next = 2;
}

/* Least cost of each einsum from the first one on, in the limited value. */
static void set_bounds(bench *b, double joules)
{
    b->pattern.least.at[DFL_COST_JOULES] = joules;
    b->goal.limit = 1000;
    b->joiner.bounds = dfl_cost_to_go_make(b->arena, &b->w, b->bound_steps);
}

typedef struct {
    const char *name;
    void (*change)(bench *b);
    uint32_t skipped;            /* of the einsums from the third on */
} change;

static void nothing(bench *b) { (void)b; }
static void costs_more(bench *b) { b->states[1].joules += 1e-6; }
static void takes_longer(bench *b) { b->states[1].seconds += 1e-6; }
static void rounded(bench *b) { b->states[1].joules *= 1 + 1e-15; }
static void leaves_less_room(bench *b) { b->states[1].resident[0][0] += 1; }
static void took_more_room(bench *b) { b->states[0].finished[0][1] += 1; }
static void other_choice(bench *b) { b->states[1].choice = 2; }
static void fewer_states(bench *b) { b->states[0].next = 0; }
static void same_tensor(bench *b) { b->bucket.way.live[0].tensor--; }
static void same_name(bench *b) { b->bucket.way.name[0]--; }
static void other_trips(bench *b) { b->bucket.way.trips[0] = 2; }
static void other_memory(bench *b) { b->bucket.way.live[0].memory = 0; }
static void other_rows(bench *b) { b->steps[8].n = 2; }
static void read_again(bench *b) { b->tensors[6].consumers = &b->ids[10]; }
static void other_ranks(bench *b) { b->problems[9].rank[1] = 3; }
static void low_bounds(bench *b) { set_bounds(b, 2); }
static void equal_bounds(bench *b) { set_bounds(b, 3); }
static void high_bounds(bench *b) { set_bounds(b, 4); }
static void kinds_count(bench *b) { b->goal.top = 2; }

/* A brace lasts for as long as a port is busy, so these grow together. */
static void busy_port(bench *b) { b->goal.n_ports = 1; }

static void recur_when_all_is_the_same(void **state)
{
    static const change changes[] = {
        { "nothing", nothing, 9 }, { "costs more", costs_more, 0 }, { "takes longer", takes_longer, 0 },
        { "rounded", rounded, 9 }, { "leaves less room", leaves_less_room, 0 }, { "took more room", took_more_room, 0 },
        { "other choice", other_choice, 0 }, { "fewer states", fewer_states, 0 }, { "same tensor", same_tensor, 0 },
        { "same name", same_name, 0 }, { "other trips", other_trips, 0 }, { "other memory", other_memory, 0 },
        { "kinds count", kinds_count, 0 }, { "low bounds", low_bounds, 9 }, { "equal bounds", equal_bounds, 9 },
        { "high bounds", high_bounds, 0 }, { "busy port", busy_port, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        dfl_periods *k;
        bench b;
        uint32_t n;
        set_bench(&b);
        k = dfl_periods_new(b.arena, &b.w, b.steps);
        set_front(&b, 0);
        assert_int_equal(dfl_periods_skip(k, &b.joiner, &b.layer, 0), 0); /* which reads what is not exchanged */
        set_front(&b, 1);
        assert_int_equal(dfl_periods_skip(k, &b.joiner, &b.layer, 1), 0);
        set_front(&b, 2);
        changes[i].change(&b);
        n = dfl_periods_skip(k, &b.joiner, &b.layer, 2);
        if (n != changes[i].skipped)
            fail_msg("%s: %u skipped", changes[i].name, n);
        if (n > 0) { /* as in front of the last one, which makes an output */
            assert_int_equal(b.bucket.way.live[0].tensor, 11);
            assert_int_equal(b.bucket.way.name[0], 12);
            assert_true(b.states[0].joules == 10 + 3 * 11);
            assert_true(b.states[0].seconds == 1 + 11);
        }
        for (uint32_t e = 0; e < EINSUMS; e++) {
            bool skipped = n > 0 && e >= 2 && e < 11;
            assert_int_equal(dfl_periods_base(k, e), skipped ? 1 : e);
            assert_int_equal(dfl_periods_rank(k, e, 2), skipped ? e + 1 : 2);
            assert_int_equal(dfl_periods_rank(k, e, 0), 0);
        }
        dfl_periods_free(k);
        dfl_arena_free(b.arena);
    }
}

/* Where einsums are not like those before. */
static void end_where_einsums_differ(void **state)
{
    static const change changes[] = {
        { "other rows", other_rows, 6 }, { "read again", read_again, 3 }, { "other ranks", other_ranks, 7 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        dfl_periods *k;
        bench b;
        uint32_t n = 0;
        set_bench(&b);
        changes[i].change(&b);
        k = dfl_periods_new(b.arena, &b.w, b.steps);
        for (uint32_t e = 0; e <= 2; e++) {
            set_front(&b, e);
            n = dfl_periods_skip(k, &b.joiner, &b.layer, e);
        }
        if (n != changes[i].skipped)
            fail_msg("%s: %u skipped", changes[i].name, n);
        dfl_periods_free(k);
        dfl_arena_free(b.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recur_when_all_is_the_same),
        cmocka_unit_test(end_where_einsums_differ),
        cmocka_unit_test(are_as_good_as_the_long_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
