/*
 * The oracle on cases small enough to count by hand. Each case gives a workload, a system and a mapping, and then every
 * count that is not 0, with the arithmetic beside it.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/harness/check.h"

#include "oracle/oracle.h"
#include "tests/property/case.h"

typedef struct {
    const char *memory, *tensor;
    long serve, drain, accumulate, fill, update, peak;
} row;

typedef struct {
    const char *name;
    void (*make)(dfl_case *c);
    dfl_code code;             /* code of the refusal, or DFL_CODE_NONE */
    row rows[12];
    struct { const char *einsum; long points, extra, padding, steps; } work[4];
    struct { const char *memory; long bits; } peaks[4];
    long forwarded;            /* size of axis 0 */
    bool wrong;                /* `online`: the made-up values cannot come out right */
} oracle_case;

/* ---- workloads and systems --------------------------------------------------------------------------------------- */

/* dram, sram, an array of 4 with a register each. */
static void machine(dfl_case *c, case_set multicast, case_set reduce)
{
    case_add_memory(c, "dram", 0, 1);
    case_add_memory(c, "sram", 0, 1);
    case_add_axis(c, "pe", 1, 4, multicast, reduce);
    case_add_memory(c, "reg", 1, 1);
    case_add_unit(c, "mac", 1);
}

static void flat(dfl_case *c)
{
    case_add_memory(c, "dram", 0, 1);
    case_add_memory(c, "sram", 0, 2);
    case_add_unit(c, "mac", 0);
}

/* ---- one einsum -------------------------------------------------------------------------------------------------- */

static void matmul_one_level(dfl_case *c)
{
    case_init_matmul(c, 2, 3, 4);
    flat(c);
    case_lines(c, 0, "keep A, B, Z in dram; temporal m, n, k;");
}

static void matmul_two_levels(dfl_case *c)
{
    case_init_matmul(c, 4, 6, 4);
    flat(c);
    case_lines(c, 0, "keep A, B, Z in dram; temporal m:2, n:3; keep Z in sram; temporal k:2; keep A, B in sram;"
                     "temporal m, n, k;");
}

static void spilled_sums(dfl_case *c)
{
    case_init_matmul(c, 4, 2, 4);
    flat(c);
    case_lines(c, 0, "keep A, B, Z in dram; temporal k:2, m:2; keep Z in sram; temporal m, n, k;");
}

static void ragged(dfl_case *c)
{
    case_init_matmul(c, 5, 1, 3);
    flat(c);
    case_lines(c, 0, "keep A, B, Z in dram; temporal m:2; keep A, Z in sram; temporal k:2; keep B in sram; temporal m, k;");
}

static void halo(dfl_case *c)
{
    case_init(c);
    case_add_rank(c, "p", 6);
    case_add_rank(c, "r", 3);
    case_add_input(c, "I", DFL_ROLE_INPUT, 1, (int64_t[]){ 6 });
    case_add_input(c, "F", DFL_ROLE_WEIGHT, 1, (int64_t[]){ 3 });
    case_add_einsum(c, "O[p] += I[p + r - 1] * F[r]");
    case_set_roles(c);
    flat(c);
}

static void halo_exact(dfl_case *c)
{
    halo(c);
    case_lines(c, 0, "keep I, F, O in dram; temporal p:2; keep I in sram; temporal p, r;");
}

static void halo_fresh(dfl_case *c)
{
    halo(c);
    case_lines(c, 0, "keep I, F, O in dram; temporal p:2; keep I in sram fresh; temporal p, r;");
}

static void strided(dfl_case *c, const char *mode)
{
    char lines[128];

    case_init(c);
    case_add_rank(c, "p", 4);
    case_add_rank(c, "r", 1);
    case_add_input(c, "I", DFL_ROLE_INPUT, 1, (int64_t[]){ 10 });
    case_add_input(c, "F", DFL_ROLE_WEIGHT, 1, (int64_t[]){ 1 });
    case_add_einsum(c, "O[p] += I[3*p + r] * F[r]");
    case_set_roles(c);
    flat(c);
    snprintf(lines, sizeof lines, "keep I, F, O in dram; temporal p:2; keep I in sram%s; temporal p;", mode);
    case_lines(c, 0, lines);
}

static void stride_exact(dfl_case *c) { strided(c, ""); }
static void stride_window(dfl_case *c) { strided(c, " window"); }

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

static void multicast(dfl_case *c)
{
    case_init_matmul(c, 4, 2, 2);
    machine(c, CASE_ALL, CASE_NO);
    case_lines(c, 0, "keep A, B, Z in dram; spatial m/4 on pe; keep B in reg; temporal n; keep Z in reg; temporal k;");
}

static void unicast(dfl_case *c)
{
    case_init_matmul(c, 4, 2, 2);
    machine(c, CASE_NO, CASE_NO);
    case_lines(c, 0, "keep A, B, Z in dram; spatial m/4 on pe; keep B in reg; temporal n; keep Z in reg; temporal k;");
}

static void reduced(dfl_case *c)
{
    case_init_matmul(c, 1, 2, 8);
    machine(c, CASE_NO, CASE_ALL);
    case_lines(c, 0, "keep A, B, Z in dram; temporal k:4, n; spatial k/4 on pe; keep Z in reg; temporal k;");
    c->bodies[0].n_lines--;    /* k has no elements left */
}

static void unreduced(dfl_case *c)
{
    reduced(c);
    c->axes[0].reduce = CASE_NO;
}

static void ragged_array(dfl_case *c)
{
    case_init_matmul(c, 5, 1, 2);
    machine(c, CASE_ALL, CASE_NO);
    case_lines(c, 0, "keep A, B, Z in dram; spatial m:2 on pe; temporal m; keep A, B in reg; temporal k;");
}

static void forwarded(dfl_case *c)
{
    case_init(c);
    case_add_rank(c, "p", 4);
    case_add_rank(c, "t", 3);
    case_add_input(c, "I", DFL_ROLE_INPUT, 1, (int64_t[]){ 6 });
    case_add_einsum(c, "O[p] += I[p + t]");
    case_set_roles(c);
    machine(c, CASE_NO, CASE_NO);
    c->axes[0].forward = true;
    case_lines(c, 0, "keep I, O in dram; spatial p/4 on pe; temporal t; keep I in reg;");
}

static void latched(dfl_case *c)
{
    case_init_matmul(c, 2, 2, 2);
    flat(c);
    c->units[0].reuse = CASE_INPUTS_ONLY;
    case_lines(c, 0, "keep A, B, Z in dram; temporal m, k, n;");
}

/* ---- several einsums --------------------------------------------------------------------------------------------- */

static void two_convolutions(dfl_case *c)
{
    case_init(c);
    case_add_rank(c, "y", 8);
    case_add_rank(c, "r", 3);
    case_add_rank(c, "p", 6);
    case_add_rank(c, "u", 3);
    case_add_input(c, "I", DFL_ROLE_INPUT, 1, (int64_t[]){ 10 });
    case_add_input(c, "F", DFL_ROLE_WEIGHT, 1, (int64_t[]){ 3 });
    case_add_input(c, "G", DFL_ROLE_WEIGHT, 1, (int64_t[]){ 3 });
    case_add_einsum(c, "T[y] += I[y + r] * F[r]");
    case_add_einsum(c, "O[p] += T[p + u] * G[u]");
    case_set_roles(c);
    flat(c);
}

static void fused(dfl_case *c)
{
    two_convolutions(c);
    case_lines(c, 0, "keep I, F, G, O in dram; temporal p:2; keep I, T in sram;");
    case_lines(c, case_add_leaf(c, 0, "T"), "temporal y, r;");
    case_lines(c, case_add_leaf(c, 0, "O"), "temporal p, u;");
}

static void released(dfl_case *c)
{
    two_convolutions(c);
    case_lines(c, 0, "keep I, F, G, O in dram; temporal p:2;");
    uint32_t b = case_add_branch(c, 0);
    case_lines(c, b, "keep T in sram;");
    case_lines(c, case_add_leaf(c, b, "T"), "temporal y, r;");
    case_lines(c, case_add_leaf(c, b, "O"), "temporal p, u;");
}

static void early(dfl_case *c)
{
    case_init(c);
    case_add_rank(c, "m", 2);
    case_add_rank(c, "k", 4);
    case_add_input(c, "A", DFL_ROLE_INPUT, 2, (int64_t[]){ 2, 4 });
    case_add_einsum(c, "D[m] += A[m,k]");
    case_add_einsum(c, "E[m,k] = D[m] * A[m,k]");
    case_set_roles(c);
    flat(c);
}

static void online(dfl_case *c)
{
    early(c);
    case_add_einsum(c, "F[m] += E[m,k]");
    case_set_roles(c);
    case_lines(c, 0, "keep A, D, E, F in dram; temporal k:2 online;");
    case_lines(c, case_add_leaf(c, 0, "D"), "temporal m, k;");
    case_lines(c, case_add_leaf(c, 0, "E"), "temporal m, k;");
    case_lines(c, case_add_leaf(c, 0, "F"), "temporal m, k;");
}

static const oracle_case cases[] = {
    { "one level", matmul_one_level, .rows = {
          { "dram", "A", .serve = 24, .peak = 8 },              /* 2 x 3 x 4 points read one element each */
          { "dram", "B", .serve = 24, .peak = 12 },
          { "dram", "Z", .update = 24, .accumulate = 18, .peak = 6 } }, /* the first update of 6 elements reads nothing */
      .work = { { "Z", 24, 0, 0, 24 } },
      .peaks = { { "dram", 8 * (8 + 12 + 6) } } },
    { "two levels", matmul_two_levels, .rows = {
          { "dram", "A", .serve = 32, .peak = 16 },             /* 2 x 2 blocks, each refills 2 x 4 in two halves */
          { "dram", "B", .serve = 48, .peak = 24 },             /* 2 x 2 blocks of 4 x 3 */
          { "dram", "Z", .update = 24, .peak = 24 },            /* each element once */
          { "sram", "A", .serve = 96, .fill = 32, .peak = 4 },
          { "sram", "B", .serve = 96, .fill = 48, .peak = 6 },
          { "sram", "Z", .update = 96, .accumulate = 72, .drain = 24, .peak = 6 } },
      .work = { { "Z", 96, 0, 0, 96 } },
      .peaks = { { "dram", 8 * 64 }, { "sram", 2 * 8 * (4 + 6 + 6) } } }, /* two buffers */
    { "spilled sums", spilled_sums, .rows = {
          { "dram", "A", .serve = 32, .peak = 16 },
          { "dram", "B", .serve = 32, .peak = 8 },
          { "dram", "Z", .serve = 8, .update = 16, .peak = 8 }, /* 8 elements out twice, back once */
          { "sram", "Z", .fill = 8, .update = 32, .accumulate = 24, .drain = 16, .peak = 4 } },
          /* per block of 2 x 2 and half of k: 8 updates, 4 of them on elements without a value in the first half */
      .work = { { "Z", 32, 0, 0, 32 } } },
    { "ragged", ragged, .rows = {
          { "dram", "A", .serve = 15, .peak = 15 },
          { "dram", "B", .serve = 9, .peak = 3 },               /* 3 blocks of m, 2 + 1 elements each */
          { "dram", "Z", .update = 5, .peak = 5 },
          { "sram", "A", .serve = 15, .fill = 15, .peak = 6 },
          { "sram", "B", .serve = 15, .fill = 9, .peak = 2 },
          { "sram", "Z", .update = 15, .accumulate = 10, .drain = 5, .peak = 2 } },
      .work = { { "Z", 15, 0, 0, 15 } },
      .peaks = { { "dram", 8 * 23 }, { "sram", 16 * (6 + 2 + 2) } } },
    { "halo", halo_exact, .rows = {
          { "dram", "I", .serve = 6, .peak = 6 },               /* tiles 0-2, 1-4, 3-5: 3 + 2 + 1 enter */
          { "dram", "F", .serve = 18, .peak = 3 },              /* only points inside of the shape are read ... */
          { "dram", "O", .update = 18, .accumulate = 12, .peak = 6 },
          { "sram", "I", .serve = 16, .fill = 6, .peak = 4 } },
      .work = { { "O", 18, 0, 2, 18 } } },                       /* ... and padded points count: p = 0, r = 0 and p = 5, r = 2 */
    { "halo, fresh", halo_fresh, .rows = {
          { "dram", "I", .serve = 10, .peak = 6 },              /* 3 + 4 + 3 */
          { "dram", "F", .serve = 18, .peak = 3 },
          { "dram", "O", .update = 18, .accumulate = 12, .peak = 6 },
          { "sram", "I", .serve = 16, .fill = 10, .peak = 4 } },
      .work = { { "O", 18, 0, 2, 18 } } },
    { "stride above the window", stride_exact, .rows = {
          { "dram", "I", .serve = 4, .peak = 10 },              /* 0, 3, 6, 9 */
          { "dram", "F", .serve = 4, .peak = 1 },
          { "dram", "O", .update = 4, .peak = 4 },
          { "sram", "I", .serve = 4, .fill = 4, .peak = 2 } },
      .work = { { "O", 4, 0, 0, 4 } } },
    { "window", stride_window, .rows = {
          { "dram", "I", .serve = 8, .peak = 10 },              /* 0-3, 6-9 */
          { "dram", "F", .serve = 4, .peak = 1 },
          { "dram", "O", .update = 4, .peak = 4 },
          { "sram", "I", .serve = 4, .fill = 8, .peak = 4 } },
      .work = { { "O", 4, 0, 0, 4 } } },
    { "multicast", multicast, .rows = {
          { "dram", "A", .serve = 16, .peak = 8 },              /* no two instances read the same row */
          { "dram", "B", .serve = 4, .peak = 4 },               /* all of B once, to all four */
          { "dram", "Z", .update = 8, .peak = 8 },
          { "reg", "B", .serve = 16, .fill = 16, .peak = 4 },
          { "reg", "Z", .update = 16, .accumulate = 8, .drain = 8, .peak = 1 } },
      .work = { { "Z", 16, 0, 0, 4 } },
      .peaks = { { "reg", 8 * 5 } } },
    { "no multicast", unicast, .rows = {
          { "dram", "A", .serve = 16, .peak = 8 },
          { "dram", "B", .serve = 16, .peak = 4 },
          { "dram", "Z", .update = 8, .peak = 8 },
          { "reg", "B", .serve = 16, .fill = 16, .peak = 4 },
          { "reg", "Z", .update = 16, .accumulate = 8, .drain = 8, .peak = 1 } },
      .work = { { "Z", 16, 0, 0, 4 } } },
    /*
     * k in two halves of 4, one k per instance; n inside, so that every step changes the element of Z in all four
     * registers. In the first half no instance has a value, and 4 drains are reduced to one update. In the second half
     * the first instance is filled.
     */
    { "reduced", reduced, .rows = {
          { "dram", "A", .serve = 16, .peak = 8 },
          { "dram", "B", .serve = 16, .peak = 16 },
          { "dram", "Z", .serve = 2, .update = 4, .peak = 2 },
          { "reg", "Z", .fill = 2, .update = 16, .accumulate = 2, .drain = 16, .peak = 1 } },
      .work = { { "Z", 16, 0, 0, 4 } } },
    /* Without `reduce` four updates each: 3 of the first half find a value outside, and 3 of the second half, since the
       filled one goes first into an element without a value. */
    { "not reduced", unreduced, .rows = {
          { "dram", "A", .serve = 16, .peak = 8 },
          { "dram", "B", .serve = 16, .peak = 16 },
          { "dram", "Z", .serve = 2, .update = 16, .accumulate = 12, .peak = 2 },
          { "reg", "Z", .fill = 2, .update = 16, .accumulate = 2, .drain = 16, .peak = 1 } },
      .work = { { "Z", 16, 0, 0, 4 } } },
    /* m = 5 in tiles of 2: instances 0 and 1 have two rows, instance 2 has one and then is idle, which empties its
       tiles. B: all of it (2) for three instances once, and kept by the first two. */
    { "idle instances", ragged_array, .rows = {
          { "dram", "A", .serve = 10, .peak = 10 },
          { "dram", "B", .serve = 2, .peak = 2 },
          { "dram", "Z", .update = 10, .accumulate = 5, .peak = 5 },
          { "reg", "A", .serve = 10, .fill = 10, .peak = 2 },
          { "reg", "B", .serve = 10, .fill = 6, .peak = 2 } },
      .work = { { "Z", 10, 0, 0, 4 } } },
    /* At t = 0 instance p holds I[p]; then I[p + 1] comes from the right neighbour, except in the last instance. */
    { "forwarding", forwarded, .forwarded = 6, .rows = {
          { "dram", "I", .serve = 6, .peak = 6 },
          { "dram", "O", .update = 12, .accumulate = 8, .peak = 4 },
          { "reg", "I", .serve = 6 + 12, .fill = 12, .peak = 1 } },
      .work = { { "O", 12, 0, 0, 3 } } },
    { "operands that stay", latched, .rows = {
          { "dram", "A", .serve = 4, .peak = 4 },               /* changes with m and k only */
          { "dram", "B", .serve = 8, .peak = 4 },
          { "dram", "Z", .update = 8, .accumulate = 4, .peak = 4 } },
      .work = { { "Z", 8, 0, 0, 8 } } },
    /* Strips of 2 rows of O need rows 0-3, 2-5, 4-7 of T: 4 + 2 + 2 are computed, from inputs 0-5, 4-7, 6-9. */
    { "fused convolutions", fused, .rows = {
          { "dram", "I", .serve = 10, .peak = 10 },
          { "dram", "F", .serve = 24, .peak = 3 },
          { "dram", "G", .serve = 18, .peak = 3 },
          { "dram", "O", .update = 18, .accumulate = 12, .peak = 6 },
          { "sram", "I", .serve = 24, .fill = 10, .peak = 6 },
          { "sram", "T", .serve = 18, .update = 24, .accumulate = 16, .peak = 4 } },
      .work = { { "T", 24, 0, 0, 24 }, { "O", 18, 0, 0, 18 } },
      .peaks = { { "sram", 8 * 4 + 16 * 6 } } },
    { "needed after its release", released, .code = DFL_MAP_NEEDED_AFTER_RELEASE },
    /* E reads D after each half of k, although D is not complete before the second; F can be rescaled. */
    { "online", online, .wrong = true, .rows = {
          { "dram", "A", .serve = 16, .peak = 8 },
          { "dram", "D", .serve = 8, .update = 8, .accumulate = 6, .peak = 2 },
          { "dram", "E", .serve = 8, .update = 8, .peak = 8 },
          { "dram", "F", .update = 8, .accumulate = 6, .peak = 2 } },
      .work = { { "D", 8, 2, 0, 8 }, { "E", 8, 0, 0, 8 }, { "F", 8, 2, 0, 8 } } },
};

/* ---- checking ---------------------------------------------------------------------------------------------------- */

static void check_number(const char *what, const char *where, dfl_i128 got, long want)
{
    if (got != want)
        fail_msg("%s of %s is %lld, not %ld", what, where, (long long)got, want);
}

static void check_result(const oracle_case *oc, const dfl_case *c, const dfl_oracle_result *r)
{
    uint32_t n = 0;

    for (; n < 12 && oc->rows[n].memory; n++) {
        const row *want = &oc->rows[n];
        char where[32];
        snprintf(where, sizeof where, "%s in %s", want->tensor, want->memory);
        if (n >= r->n_traffic || r->traffic[n].memory != case_memory_named(c, want->memory) ||
            r->traffic[n].tensor != case_tensor_named(c, want->tensor))
            fail_msg("row %u is not %s", n, where);
        check_number("serve", where, r->traffic[n].serve, want->serve);
        check_number("drain", where, r->traffic[n].drain, want->drain);
        check_number("accumulate", where, r->traffic[n].accumulate, want->accumulate);
        check_number("fill", where, r->traffic[n].fill, want->fill);
        check_number("update", where, r->traffic[n].update, want->update);
        check_number("peak", where, r->traffic[n].peak_elements, want->peak);
    }
    assert_int_equal(n, r->n_traffic);
    for (uint32_t i = 0; i < 4 && oc->work[i].einsum; i++) {
        check_number("points", oc->work[i].einsum, r->points[i], oc->work[i].points);
        check_number("extra", oc->work[i].einsum, r->extra[i], oc->work[i].extra);
        check_number("padding", oc->work[i].einsum, r->padding[i], oc->work[i].padding);
        check_number("steps", oc->work[i].einsum, r->steps[i], oc->work[i].steps);
    }
    for (uint32_t i = 0; i < 4 && oc->peaks[i].memory; i++)
        check_number("room", oc->peaks[i].memory, r->peak_bits[case_memory_named(c, oc->peaks[i].memory)], oc->peaks[i].bits);
    check_number("transfers", "axis 0", c->n_axes ? r->forwarded[0] : 0, oc->forwarded);
    assert_int_equal(r->wrong != 0, oc->wrong);
    assert_int_equal(r->broken, 0);
}

static void runs(void **state)
{
    const oracle_case *oc = *state;
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_intern *names = dfl_intern_new(arena);
    dfl_sink *sink = dfl_sink_new(arena, NULL);
    dfl_case *c = malloc(sizeof *c);

    assert_non_null(c);
    oc->make(c);
    const dfl_paths *paths = dfl_paths_resolve(arena, sink, names, case_mapping(c, arena, names));
    const dfl_oracle_result *r = paths ? dfl_oracle_run(arena, sink, names, paths) : NULL;
    if (oc->code == DFL_CODE_NONE) {
        if (dfl_sink_errors(sink) > 0)
            fail_msg("%s", dfl_sink_at(sink, 0)->message);
        assert_non_null(r);
        check_result(oc, c, r);
    } else {
        assert_null(r);
        assert_int_equal(dfl_sink_at(sink, 0)->code, oc->code);
    }
    free(c);
    dfl_arena_free(arena);
}

int main(void)
{
    return CHECK_TABLE("oracle", cases, runs);
}
