/*
 * Sums over einsums of choices that agree, and floors, by hand (B40, B44); bounds with ranges of tiles against points of the
 * forms (B41); and the bound with equal tiles against the least over all tiles, one by one (B43).
 */
#include "tests/harness/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/session.h"
#include "mapper/join/exchange_sums.h"
#include "mapper/join/matched_tiles.h"
#include "mapper/join/pattern_ranges.h"
#include "mapper/join/workload_floor.h"
#include "mapper/tiling/box_bound.h"

/* ---- sums ---- */

/* T is made by einsum 0 and read by 1 and 2, and 2 makes Z from it and the input A, which 1 reads, too. */
static void adds_up_choices(void **state)
{
    static const uint32_t made[] = { 0 }, readers[] = { 1, 2 }, both[] = { 1, 2 };
    static const dfl_tensor tensors[] = {
        { .producers = made, .n_producers = 1, .consumers = readers, .n_consumers = 2 },
        { .consumers = both, .n_consumers = 2 },
    };
    const dfl_workload w = { .tensors = tensors, .n_tensors = 2, .n_einsums = 3 };
    const dfl_problem maker = { .n_operands = 1, .operand = { { .tensor = 0, .output = true, .shared = true } } };
    const dfl_problem reader = { .n_operands = 2, .operand = { { .tensor = 0, .shared = true }, { .tensor = 1, .common = 1 } } };
    const dfl_exchange_choice made_by[] = { { 3, { 0 }, { 0 }, NULL, 0 }, { 5, { 1 }, { 0 }, NULL, 0 } };
    const dfl_exchange_choice read_by[] = { { 7, { 0, 0 }, { 0 }, NULL, 0 }, { 2, { 1, 0 }, { 0 }, NULL, 0 },
                                            { 1, { 1, 1 }, { 0, 4 }, NULL, 0 } };
    const dfl_exchange_choice last[] = { { 4, { 0, 0 }, { 0 }, NULL, 0 }, { 3, { 1, 1 }, { 0, 4 }, NULL, 0 } };
    const dfl_exchange_step steps[] = {
        { &maker, made_by, sizeof *made_by, 2 }, { &reader, read_by, sizeof *read_by, 3 }, { &reader, last, sizeof *last, 2 },
    };
    const uint32_t ways[] = { 2, 2 };
    dfl_deadline none = { 0 };
    uint32_t path[3];
    dfl_arena *arena = dfl_arena_new(NULL);

    (void)state;
    /* way 0 of T: 3 + 7 + 4 = 14. Way 1: 5 + 2 + 3 and 4 to fetch A at last; or 5 + 1 + 3 and 4 to fetch it once: 13 */
    assert_true(dfl_exchange_sums(arena, &w, steps, ways, NULL, &none, path) == 13);
    assert_int_equal(path[0], 1);
    assert_int_equal(path[1], 2);
    assert_int_equal(path[2], 1);
    dfl_arena_free(arena);
}

/* T is made by einsum 0 and read by 2; 1 makes U, which costs 6 more where T leaves less than 8 bits (B48). */
static void adds_up_rooms(void **state)
{
    static const uint32_t first[] = { 0 }, second[] = { 1 }, last[] = { 2 };
    static const dfl_tensor tensors[] = {
        { .producers = first, .n_producers = 1, .consumers = last, .n_consumers = 1 },
        { .producers = second, .n_producers = 1, .consumers = last, .n_consumers = 1 },
    };
    static const struct { double bits, sum; } ROWS[] = { { 7, 5 + 2 + 1 }, { 8, 4 + 3 + 2 + 1 }, { 9, 4 + 3 + 2 + 1 } };
    const dfl_workload w = { .tensors = tensors, .n_tensors = 2, .n_einsums = 3 };
    const dfl_problem make_t = { .n_operands = 1, .operand = { { .tensor = 0, .output = true, .shared = true } } };
    const dfl_problem make_u = { .n_operands = 1, .operand = { { .tensor = 1, .output = true, .shared = true } } };
    const dfl_problem reader = { .n_operands = 2,
                                 .operand = { { .tensor = 0, .shared = true }, { .tensor = 1, .shared = true } } };
    const double taken[] = { 0, 8 };
    const dfl_exchange_crowd crowd = { taken, 8 };
    const dfl_exchange_choice made_t[] = { { 4 + 3, { 0 }, { 0 }, NULL, 0 }, { 5, { 1 }, { 0 }, NULL, 0 } };
    const dfl_exchange_choice made_u[] = { { 2, { 0 }, { 0 }, &crowd, 1 } };
    const dfl_exchange_choice read_by[] = { { 1, { 0, 0 }, { 0 }, NULL, 0 }, { 1, { 1, 0 }, { 0 }, NULL, 0 } };
    const dfl_exchange_step steps[] = {
        { &make_t, made_t, sizeof *made_t, 2 }, { &make_u, made_u, sizeof *made_u, 1 }, { &reader, read_by, sizeof *read_by, 2 },
    };
    const uint32_t ways[] = { 2, 1 };
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_deadline none = { 0 };
    uint32_t path[3];

    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const dfl_exchange_room of_t[] = { { 0, 0 }, { 1, ROWS[i].bits } }, of_u[] = { { 0, 0 } };
        const dfl_exchange_room *const of[] = { of_t, of_u };
        const dfl_exchange_rooms rooms = { .n_memories = 2, .of = of };
        assert_true(dfl_exchange_sums(arena, &w, steps, ways, &rooms, &none, path) == ROWS[i].sum);
    }
    dfl_arena_free(arena);
}

/* ---- two einsums ---- */

typedef struct {
    dfl_session *session;
    dfl_einsum_classes classes;
    dfl_objective objective, line;
    dfl_deadline deadline;
    uint64_t programs, seed;
} two;

static void open_text(two *t, const char *text, double per_joule, double per_second)
{
    const dfl_problem_limits all = { .spread = true };
    const dfl_mapping *mapping;
    dfl_sink *quiet;

    *t = (two){ .session = dfl_session_new(NULL), .seed = 77 };
    assert_int_equal(dfl_session_open_text(t->session, "two.dfl", text, strlen(text)), DFL_EXIT_OK);
    assert_true(dfl_session_analyse(t->session));
    mapping = t->session->program->designs[0].mapping;
    quiet = dfl_sink_new(t->session->arena, NULL);
    assert_true(dfl_objective_make(t->session->sink, t->session->names, mapping, &t->objective));
    assert_true(dfl_einsum_classes_make(t->session->arena, t->session->arena, quiet, t->session->names, mapping, &all, 1,
                                        &t->deadline,
                                        &t->classes));
    t->line = dfl_objective_line(&t->objective, per_joule, per_second);
}

static void open_two(two *t, int m, int k, int n, int q, int room, double per_joule, double per_second)
{
    char text[1024];

    snprintf(text, sizeof text,
             "workload two : i8 {\n rank m = %d, k = %d, n = %d, q = %d;\n input A[m, k], B[k, n], E[n, q];\n"
             " T[m, n] += A[m, k] * B[k, n];\n output Z[m, q] += T[m, n] * E[n, q];\n}\n"
             "system chip {\n memory dram { size = unlimited; bandwidth = 1B/s; energy = 20pJ/bit; }\n"
             " memory near { size = %dB; bandwidth = 4B/s; energy = 1pJ/bit; }\n"
             " compute mac { rate { mac = 4MAC/s; } energy { mac = 1pJ/MAC; } }\n}\n"
             "mapping x for two on chip { ...; }\n", m, k, n, q, room);
    open_text(t, text, per_joule, per_second);
}

static void set_all(dfl_exchanged_tiles *tiles)
{
    for (uint32_t o = 0; o < DFL_PROBLEM_OPERANDS; o++)
        tiles->held[o] = INFINITY;
    for (uint32_t o = 0; o < DFL_PROBLEM_OPERANDS; o++)
        for (uint32_t d = 0; d < DFL_PROBLEM_DIMS; d++) {
            tiles->low[o][d] = 1;
            tiles->high[o][d] = INT64_MAX;
        }
}

static uint32_t find_t(const two *t, uint32_t e)
{
    const dfl_problem *problem = t->classes.problems[e].at[0];
    uint32_t o = 0;

    while (!problem->operand[o].shared)
        o++;
    return o;
}

/* The least sum of both einsums over all tiles of T, one by one, and over the exchange in the outermost memory. */
static double find_least(two *t, const int64_t *extent)
{
    dfl_arena *scratch = dfl_arena_new(NULL);
    dfl_pattern_bounds *b[2];
    double least = INFINITY;

    for (uint32_t e = 0; e < 2; e++)
        b[e] = dfl_pattern_bounds_new(t->session->arena, scratch, &t->classes.at.at[t->classes.of[e]], &t->line, &t->deadline,
                                      &t->programs);
    for (uint32_t memory = 0; memory < 2; memory++)
        for (int64_t m = 1; m <= (memory == 0 ? 1 : extent[0]); m++)
            for (int64_t n = 1; n <= (memory == 0 ? 1 : extent[1]); n++) {
                double sum = 0;
                for (uint32_t e = 0; e < 2; e++) {
                    const dfl_einsum_class *c = &t->classes.at.at[t->classes.of[e]];
                    const uint32_t o = find_t(t, e);
                    double best = INFINITY;
                    for (uint32_t p = 0; p < c->patterns.n; p++) {
                        dfl_exchanged_tiles tiles;
                        dfl_exchanged_point point;
                        set_all(&tiles);
                        tiles.low[o][0] = tiles.high[o][0] = memory == 0 ? 1 : m;
                        tiles.low[o][1] = tiles.high[o][1] = memory == 0 ? 1 : n;
                        if (c->patterns.at[p].memory[o] != memory)
                            continue;
                        (void)dfl_pattern_bounds_least(b[e], p);
                        best = fmin(best, dfl_pattern_bounds_within(b[e], p, &tiles, NULL, &point));
                    }
                    sum += best;
                }
                least = fmin(least, sum);
            }
    dfl_arena_free(scratch);
    return least;
}

/* The bound with equal tiles is at least that of equal memories, near the least over all tiles, and above it by no more than the
   precision of a bound, but where keeps that one einsum holds leave the other one less room (B62). */
static void matches_tiles(void **state)
{
    static const struct { int m, k, n, q, room; double per_second; bool is_held; } ROWS[] = {
        { 9, 24, 4, 3, 24, 0, false }, { 6, 2, 7, 15, 18, 0, false }, { 10, 2, 9, 26, 23, 0, false },
        { 9, 22, 8, 6, 11, 0, false }, { 6, 26, 9, 5, 45, 0, false },
        { 7, 6, 7, 10, 42, 2e-9, true }, { 9, 13, 10, 13, 41, 0, false }, { 5, 25, 11, 13, 24, 1e-9, false },
    };
    double raised = 0;

    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const int64_t extent[] = { ROWS[i].m, ROWS[i].n };
        dfl_matched_tiles *matched;
        double agreed, equal, least;
        two t;
        open_two(&t, ROWS[i].m, ROWS[i].k, ROWS[i].n, ROWS[i].q, ROWS[i].room, 1, ROWS[i].per_second);
        matched = dfl_matched_tiles_new(t.session->arena, &t.classes, &t.line, &t.deadline, &t.programs);
        agreed = dfl_matched_tiles_raise(matched, 0);
        equal = dfl_matched_tiles_raise(matched, INFINITY);
        least = find_least(&t, extent);
        if (!(agreed <= equal && (ROWS[i].is_held || equal <= least * 1.005) && equal >= least * 0.92))
            fail_msg("row %zu: equal memories %g, equal tiles %g, one by one %g", i, agreed, equal, least);
        raised = fmax(raised, equal / agreed);
        dfl_matched_tiles_free(matched);
        dfl_session_free(t.session);
    }
    assert_true(raised > 1.04);
}

/* Skeletons that keep other operands have other largest times: one mean of times for all would bound 28 % less (B47). */
static void weighs_groups(void **state)
{
    dfl_matched_tiles *matched;
    two t;

    (void)state;
    open_two(&t, 23, 21, 15, 16, 39, 1, 3e-9);
    matched = dfl_matched_tiles_new(t.session->arena, &t.classes, &t.line, &t.deadline, &t.programs);
    assert_true(dfl_matched_tiles_raise(matched, 0) > 3.8e-5);
    dfl_matched_tiles_free(matched);
    dfl_session_free(t.session);
}

/*
 * T = A * B, Z = T * C, elementwise over 4 bytes each, exchanged near the unit; 20 J/s. Each einsum moves 8 bytes at the port
 * outside, 64 J and 8 s, and 4 near the unit, 32 J: 256 J. With one operand near the unit, above shared loops, it has 64 J more,
 * and work for 5 s: 260 J. Nothing stays, so the largest time counts; a mean of both would leave 244 J.
 */
static void counts_largest_time(void **state)
{
    static const char TEXT[] =
        "workload two : i8 {\n rank a = 4;\n input A[a], B[a], C[a];\n T[a] = A[a] * B[a];\n"
        " output Z[a] = T[a] * C[a];\n}\n"
        "system chip {\n memory dram { size = unlimited; bandwidth = 1B/s; energy = 1J/bit; }\n"
        " memory near { size = 8B; energy = 1J/bit; }\n"
        " compute unit { rate { mac = 0.8MAC/s; flop = 0.8FLOP/s; } energy { mac = 0J/MAC; flop = 0J/FLOP; } }\n}\n"
        "mapping x for two on chip { ...; }\n";
    dfl_matched_tiles *matched;
    double least;
    two t;

    (void)state;
    open_text(&t, TEXT, 1, 20);
    matched = dfl_matched_tiles_new(t.session->arena, &t.classes, &t.line, &t.deadline, &t.programs);
    least = dfl_matched_tiles_raise(matched, 0);
    assert_true(least > 512 * 0.999 && least <= 512 * (1 + 1e-9));
    dfl_matched_tiles_free(matched);
    dfl_session_free(t.session);
}

/* The energy of a workload is bounded over whole numbers of parts by `joules`, up to 0.3 % that the programs leave. */
static void check_whole_parts(const char *text, double joules)
{
    dfl_matched_tiles *matched;
    double least;
    two t;

    open_text(&t, text, 1, 0);
    matched = dfl_matched_tiles_new(t.session->arena, &t.classes, &t.line, &t.deadline, &t.programs);
    dfl_matched_tiles_whole_parts(matched, INFINITY);
    least = dfl_matched_tiles_raise(matched, 0);
    assert_true(least > joules * 0.997 && least <= joules * (1 + 1e-9));
    dfl_matched_tiles_free(matched);
    dfl_session_free(t.session);
}

/*
 * Parts on an axis are whole (B57). T = A * B on 3 units that share what they read: with two parts of m and one of n, A is read
 * for each of 2 n, 4 bytes, B once for both m, 2 times 2 bytes, and T is written, 4 bytes: 96 J. With one part of m and two of n it
 * is 2, 8 and 4 bytes. One and a half parts of n beside two of m would leave 85 J. Z = T * C reads 4 bytes of T, C once for two
 * parts of n, 2 bytes, and writes 4: 80 J.
 */
static void counts_whole_parts(void **state)
{
    static const char TEXT[] =
        "workload two : i8 {\n rank m = 2, n = 2;\n input A[m];\n input B[n] : i16;\n weight C[m];\n T[m, n] = A[m] * B[n];\n"
        " output Z[m, n] = T[m, n] * C[m];\n}\n"
        "system chip {\n memory dram { size = unlimited; energy = 1J/bit; }\n network lanes = bus { multicast = x; }\n"
        " array x[3] over lanes {\n"
        " compute unit { rate { mac = 1MAC/s; flop = 1FLOP/s; } energy { mac = 0J/MAC; flop = 0J/FLOP; } } }\n}\n"
        "mapping x for two on chip { ...; }\n";

    (void)state;
    check_whole_parts(TEXT, 176);
}

/*
 * Numbers of parts are at least the lower ends of a cell (B63), here with windows. On 32 units that share what they read and add
 * up results, with three parts of r and of s, p and q have three: A and Z of 36 elements move once for each of 2 t, and W is read
 * for 36 * 9 / 3 points: 2 * (36 + 36 + 108) bytes, 2880 J. With three parts of r and two of s, A and Z move 1.5 times, since
 * lengths are not rounded, and W for five parts of p and q: 2 * (54 + 54 + 64.8) bytes, 2764.8 J. By upper ends alone, p and q
 * have 32 / 9 parts beside nine, also in a cell in which each has two or more: 2592 J.
 */
static void counts_parts_of_windows(void **state)
{
    static const char TEXT[] =
        "workload one : i8 {\n rank p = 6, q = 6, t = 2, r = 3, s = 3;\n input A[8, 8, t];\n weight W[t, r, s];\n"
        " output Z[p, q, t] += A[p + r, q + s, t] * W[t, r, s];\n}\n"
        "system chip {\n memory dram { size = unlimited; energy = 1J/bit; }\n network lanes = bus { multicast = x; reduce = x; }\n"
        " array x[32] over lanes {\n"
        " compute unit { rate { mac = 1MAC/s; flop = 1FLOP/s; } energy { mac = 0J/MAC; flop = 0J/FLOP; } } }\n}\n"
        "mapping x for one on chip { ...; }\n";

    (void)state;
    check_whole_parts(TEXT, 2764.8);
}

/*
 * Lengths are whole, and so is what coordinate 0 has (B58), for an einsum alone:
 *   - near has 8 bytes: 3 elements of A of two bytes, and one of B. So B is read for each of 7 tiles of m, 7 * 60 bytes; A once,
 *     42 bytes, and Z is written, 21 * 60 bytes: 13,776 J. Tiles of 3.5 elements would leave 13,296 J.
 *   - the same beside each of two units that share what they read, with 42 elements of m and 120 of n: 47,712 J, not 46,752 J.
 *   - 7 elements on 4 units take 2 s, not 7 / 4; 0.05 of the work counts as 7 / 4.
 *   - near has 25 bytes: 6 of the 11 elements of A, of four bytes, and one of Z. Then Z is written twice and read once, 3000 bytes;
 *     A is read once, 44 bytes, and W, 11,000 bytes: 112,352 J. Tiles of 21 elements of Z would need A 48 times. 11 / 6 tiles
 *     of k would leave 109,685 J; half of the tiles count as 11 / 6: 111,019 J.
 */
static void counts_whole_lengths(void **state)
{
#define UNIT " compute unit { rate { mac = 1MAC/s; flop = 1FLOP/s; } energy { mac = 0J/MAC; flop = 0J/FLOP; } }"
#define END "}\nmapping x for one on chip { ...; }\n"
#define DRAM "system chip {\n memory dram { size = unlimited; energy = 1J/bit; }\n"
    static const char OUTER[] = "{\n rank m = 21, n = 60;\n input A[m] : i16;\n input B[n];\n output Z[m, n] = A[m] * B[n];\n}\n"
        DRAM " memory near { size = 8B; }\n" UNIT END;
    static const char INNER[] = "{\n rank m = 42, n = 120;\n input A[m] : i16;\n input B[n];\n output Z[m, n] = A[m] * B[n];\n}\n"
        DRAM " network lanes = bus { multicast = x; }\n array x[2] over lanes {\n memory near { size = 8B; }\n" UNIT "}" END;
    static const char STEPS[] = "{\n rank m = 7;\n input A[m], B[m];\n output Z[m] = A[m] * B[m];\n}\n"
        DRAM " array x[4] {\n" UNIT "}" END;
    static const char PIECES[] =
        "{\n rank m = 1000, k = 11;\n input A[k] : i32;\n weight W[m, k];\n output Z[m] += A[k] * W[m, k];\n}\n"
        DRAM " memory near { size = 25B; }\n" UNIT END;
    static const struct { const char *text; double per_joule, per_second, least, most; } ROWS[] = {
        { OUTER, 1, 0, 13776 * 0.999, 13776 }, { INNER, 1, 0, 47712 * 0.999, 47712 }, { STEPS, 0, 1, 1.985, 2 },
        { PIECES, 1, 0, 111019 * 0.999, 112352 },
    };
#undef UNIT
#undef END
#undef DRAM

    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        char text[1024];
        dfl_matched_tiles *matched;
        double least;
        two t;
        snprintf(text, sizeof text, "workload one : i8 %s", ROWS[i].text);
        open_text(&t, text, ROWS[i].per_joule, ROWS[i].per_second);
        matched = dfl_matched_tiles_new(t.session->arena, &t.classes, &t.line, &t.deadline, &t.programs);
        dfl_matched_tiles_whole_parts(matched, INFINITY);
        least = dfl_matched_tiles_raise(matched, 0);
        if (!(least > ROWS[i].least && least <= ROWS[i].most * (1 + 1e-9)))
            fail_msg("row %zu: %.9g", i, least);
        dfl_matched_tiles_free(matched);
        dfl_session_free(t.session);
    }
}

/* ---- points ---- */

static uint64_t draw(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* A random point of a form as boxes; false if the draw is not possible. */
static bool draw_point(two *t, const dfl_form *f, dfl_box **boxes)
{
    for (uint32_t r = 0; r < f->problem->n_ranks; r++) {
        boxes[r] = dfl_box_make(t->session->arena, f, r);
        while (boxes[r]->is_possible && !boxes[r]->is_point)
            boxes[r] = dfl_box_half(t->session->arena, f, r, boxes[r], draw(&t->seed) % 2);
        if (!boxes[r]->is_possible)
            return false;
    }
    return true;
}

/* Full length of the tile of T along a rank below the loops above its keep. */
static int64_t find_tile(const dfl_form *f, uint32_t operand, uint32_t rank, const dfl_box *box)
{
    const dfl_chain *c = &f->chain[rank];
    int64_t length = c->extent;
    uint32_t keep = 0;

    while (!(f->skeleton->keep[keep].home && f->skeleton->keep[keep].operand == operand))
        keep++;
    for (uint32_t i = 0; i < c->n && c->at[i].gap <= keep; i++)
        length = length < box->low[i] ? length : box->low[i];
    return length;
}

/* No point whose tile of T lies in the ranges costs less than the bound. */
static void bounds_points(void **state)
{
    dfl_terms *terms = malloc(sizeof *terms);
    uint32_t inside = 0;
    two t;

    (void)state;
    open_two(&t, 9, 6, 8, 7, 40, 1, 3e-9);
    for (uint32_t e = 0; e < 2; e++) {
        const dfl_einsum_class *c = &t.classes.at.at[t.classes.of[e]];
        const uint32_t o = find_t(&t, e);
        const dfl_box_costs costs = { .objective = &t.line, .is_whole = true };
        dfl_arena *scratch = dfl_arena_new(NULL);
        dfl_pattern_bounds *b = dfl_pattern_bounds_new(t.session->arena, scratch, c, &t.line, &t.deadline, &t.programs);
        for (uint32_t p = 0; p < c->patterns.n; p++) {
            (void)dfl_pattern_bounds_least(b, p);
            for (uint32_t i = 0; i < 64 * c->candidates.n && c->patterns.at[p].memory[o] == 1; i++) {
                const dfl_candidate *x = &c->candidates.at[i / 64];
                const dfl_form *f = x->pattern == p ? dfl_form_make(t.session->arena, x->problem, x->form, terms) : NULL;
                double others[DFL_FORM_PRODUCTS];
                dfl_box *boxes[DFL_PROBLEM_RANKS];
                dfl_exchanged_tiles tiles;
                dfl_exchanged_point point;
                double value;
                if (f == NULL || !draw_point(&t, f, boxes) || !dfl_box_multiply(f, boxes, 0, others))
                    continue;
                set_all(&tiles);
                for (uint32_t d = 0; d < 2; d++) {
                    const uint32_t r = x->problem->operand[o].dims[d].rank[0];
                    tiles.low[o][d] = find_tile(f, o, r, boxes[r]) - (int64_t)(draw(&t.seed) % 2);
                    tiles.high[o][d] = find_tile(f, o, r, boxes[r]) + (int64_t)(draw(&t.seed) % 2);
                }
                value = dfl_box_bound(&costs, f, boxes, 0, others);
                if (value == INFINITY)
                    continue;
                inside++;
                assert_true(dfl_pattern_bounds_within(b, p, &tiles, NULL, &point) <= value * (1 + 1e-12));
            }
        }
        dfl_arena_free(scratch);
    }
    if (inside < 100)
        fail_msg("%u points", inside);
    dfl_session_free(t.session);
    free(terms);
}

/* ---- floors ---- */

/* Inputs and the result move at home: A and B 6 B, E and Z 10 B. Energy: the points, 12 + 20 pJ; what the unit reads and writes
   in `near`, 12 B each of A, B and T, then 20 B each of T,
       E and Z at 8 pJ a byte; and 32 B at 160 pJ at home. Time: 32 B at 1 B/s; the work
   alone takes 3 s and 5 s. */
static void adds_up_floors(void **state)
{
    dfl_floor f;
    two t;

    (void)state;
    open_two(&t, 2, 3, 2, 5, 64, 1, 0);
    f = dfl_workload_floor(t.session->arena, t.session->names, t.classes.m);
    assert_true(fabs(f.joules - (32 + 96 * 8 + 32 * 160) * 1e-12) < 1e-18);
    assert_true(fabs(f.seconds - 32) < 1e-9);
    dfl_session_free(t.session);
}

/* As above on two units, which reach the same homes, or each its own ones: then only the work counts,
   3 s and 5 s. */
static void adds_up_units(void **state)
{
#define HOME(name) " memory " name " { size = unlimited; bandwidth = 1B/s; energy = 20pJ/bit; }\n"
#define NEAR(name) " memory " name " { size = 64B; bandwidth = 4B/s; energy = 1pJ/bit; }\n"
#define UNIT "{ rate { mac = 4MAC/s; } energy { mac = 1pJ/MAC; } }\n"
    static const struct { const char *parts; double seconds; } ROWS[] = {
        { HOME("dram") NEAR("near") " compute mac " UNIT " compute alu " UNIT, 32 },
        { " element a {" HOME("dram") NEAR("near") " compute mac " UNIT "}\n"
          " element b {" HOME("dram2") NEAR("near2") " compute alu " UNIT "}\n", 8 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        char text[2048];
        dfl_floor f;
        two t;

        snprintf(text, sizeof text,
                 "workload two : i8 {\n rank m = 2, k = 3, n = 2, q = 5;\n input A[m, k], B[k, n], E[n, q];\n"
                 " T[m, n] += A[m, k] * B[k, n];\n output Z[m, q] += T[m, n] * E[n, q];\n}\n"
                 "system chip {\n%s}\nmapping x for two on chip { ...; }\n", ROWS[i].parts);
        open_text(&t, text, 1, 0);
        f = dfl_workload_floor(t.session->arena, t.session->names, t.classes.m);
        if (fabs(f.seconds - ROWS[i].seconds) > 1e-9)
            fail_msg("row %zu: %g s", i, f.seconds);
        dfl_session_free(t.session);
    }
#undef HOME
#undef NEAR
#undef UNIT
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_up_choices),
        cmocka_unit_test(adds_up_rooms),
        cmocka_unit_test(matches_tiles),
        cmocka_unit_test(weighs_groups),
        cmocka_unit_test(counts_largest_time),
        cmocka_unit_test(counts_whole_parts), cmocka_unit_test(counts_parts_of_windows),
        cmocka_unit_test(counts_whole_lengths),
        cmocka_unit_test(bounds_points),
        cmocka_unit_test(adds_up_floors),
        cmocka_unit_test(adds_up_units),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
