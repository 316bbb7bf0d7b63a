/*
 * The search over tile sizes from end to end: claims against mappings that exist, tight bounds, operands that the unit
 * holds, links of networks.
 */
#include <stdio.h>

#include "mapper/tiling/box_search.h"
#include "tests/unit/mapper/job.h"

/* The result of a search over all tile sizes for the only mapping of a file; it belongs to the session. */
static const dfl_filled *fill_any_tiles(dfl_session *s, const char *text)
{
    const dfl_search_options options = { .size = sizeof options, .imperfect = true, .spread = true };
    dfl_stop stopped = DFL_STOP_NONE;
    const dfl_filled *filled;

    dfl_session_set_search(s, &options);
    filled = dfl_session_fill(s, open_mapping(s, text), &stopped);
    assert_non_null(filled);
    return filled;
}

/* ---- claims against mappings that exist ---- */

/* Searches whose points are not the best mappings: a keep that saves no transfer may save a wait (D2). */
typedef struct {
    const char *name, *text;
    double known;               /* the value of a mapping outside of the skeletons */
} claim_row;

static const claim_row CLAIMS[] = {
    { "44 J in the skeletons, 43 J if both operands are fetched early, 1 W of leakage (D2)",
      "dfl 1; workload w : bits(8) { rank a = 2; input A[]; weight B[a]; output Z[a] = A[] * B[a]; } system chip { "
      "memory m0 { size = unlimited; latency = 1s; leakage = 1W; energy = 1J/bit; } memory m1 { size = 2B; energy = 0J/bit; } "
      "memory m2 { size = 2B; energy = 0J/bit; } compute unit { rate { mac = 1MAC/s; flop = 1FLOP/s; } } } "
      "mapping best for w on chip { ...; minimize energy; }", 43 },
    { "1440 J s in the skeletons, 1360 J s with an operand that is fetched early (D2)",
      "dfl 1; workload w : bits(8) { rank a = 2, c = 2, d = 2; input A[a] : bits(4); weight B[c, d]; "
      "output Z[a, c, d] = A[a] * B[c, d]; } system chip { memory m0 { size = unlimited; latency = 1s; energy = 1J/bit; } "
      "memory m1 { size = 1B; energy = 0J/bit; } compute unit { rate { mac = 1MAC/s; flop = 1FLOP/s; } } } "
      "mapping best for w on chip { ...; minimize energy * latency; }", 1360 },
    /* out of m0 A takes 10, B 1; B takes 10 into m1 */
    { "20 s in the skeletons, 11.1 s if A moves into m2 beside B (B17)",
      "dfl 1; workload w : bits(8) { rank a = 10; input A[a]; weight B[]; output Z[a] = A[a] * B[]; } system chip { "
      "memory m0 { size = unlimited; read { bandwidth = 1B/s; } } "
      "memory m1 { size = 1B; holds = weight; write { bandwidth = 0.1B/s; } } "
      "memory m2 { size = 10B; holds = input; } compute unit { rate { mac = 100MAC/s; flop = 100FLOP/s; } } } "
      "mapping best for w on chip { ...; minimize latency; }", 11.1 },
};

static void claims(void **state)
{
    const claim_row *row = *state;
    dfl_session *s = dfl_session_new(NULL);
    const dfl_filled *filled = fill_any_tiles(s, row->text);

    assert_true(filled->search->lower_bound <= row->known);
    assert_true(filled->search->lower_bound <= filled->search->value);
    dfl_session_free(s);
}

/* A GEMM whose lower bound is final long before all points are evaluated, so that 24,000 nodes are split in place of
   172,000 (D2). */
static void settles(void **state)
{
    static const char text[] =
        "dfl 1; workload w : i8 { rank m = 1000, n = 1009, k = 197; input A[m, k]; weight B[k, n]; output Z[m, n] : i32 += "
        "A[m, k] * B[k, n]; } system chip { clock = 1GHz; memory dram { size = unlimited; bandwidth = 16GB/s; energy = 15pJ/bit; } "
        "memory pad { size = 256KiB; holds = input, weight; buffers = 2; bandwidth = 64B/cycle; energy = 0.1pJ/bit; } "
        "memory sums { size = 64KiB; holds = output; overlap = stream; read { bandwidth = 64B/cycle; } "
        "write { bandwidth = 64B/cycle; } energy = 0.1pJ/bit; } network net = mesh { multicast = col; reduce = row; } "
        "array row[16], col[16] over net { memory reg { size = 2B; holds = weight; buffers = 2; energy = 0pJ/bit; } "
        "compute mac { ops = mac; rate = 1MAC/cycle; energy = 0.1pJ/MAC; } } } mapping best for w on chip { ...; }";
    dfl_session *s = dfl_session_new(NULL);
    const dfl_filled *filled = fill_any_tiles(s, text);
    (void)state;

    assert_false(filled->search->optimal);
    assert_true(filled->search->lower_bound <= filled->search->value);
    assert_non_null(strstr(filled->search->unproven, "the lower bound cannot rise"));
    assert_true(filled->search->value <= 5.6694e-7); /* that of the search which evaluates all of them */
    assert_true(filled->search->evaluated < 60000);
    dfl_session_free(s);
}

/* ---- searches whose bound is tight ---- */

typedef struct {
    const char *name, *text;
    double value;
} tight_row;

static const tight_row TIGHT[] = {
    /* one point on each of two instances, behind the link of a bus, 2 s */
    { "links behind a home that is a stream (B6)",
      "dfl 1; workload w : bits(8) { rank a = 2; input T0[a]; weight T1[a]; output T2[a] = T0[a] * T1[a]; } "
      "system chip { memory m0 { size = unlimited; buffers = 2; overlap = stream; } network net0 = bus { latency = 2s; } "
      "array x[3] over net0 { compute unit { rate { mac = 1MAC/s; flop = 1FLOP/s; } } } } "
      "mapping best for w on chip { ...; minimize latency; }", 3 },
    /* the bus takes 12 bytes in and 6 out: 9 s, after the first 3 s, also if T0 or T1 are kept in m1 outside of it; 144 bits of
       7 J and 6 points of 1 J */
    { "links between one more keep and the unit (B17)",
      "dfl 1; workload w : bits(8) { rank a = 6; input T0[a]; weight T1[a]; output T2[a] = T0[a] + T1[a]; } "
      "system chip { memory m0 { size = unlimited; buffers = 2; energy = 5J/bit; } "
      "memory m1 { size = 8B; ports = shared; energy = 2J/bit; } "
      "network net0 = bus { bandwidth = 2B/s; latency = 3s; energy = 2J/bit; } array x[3] over net0 { "
      "compute unit { rate { mac = 1MAC/s; flop = 1FLOP/s; } energy { mac = 1J/MAC; flop = 1J/FLOP; } } } } "
      "mapping best for w on chip { ...; minimize energy * latency; }", 12168 },
};

static void tight(void **state)
{
    const tight_row *row = *state;
    dfl_session *s = dfl_session_new(NULL);
    const dfl_filled *filled = fill_any_tiles(s, row->text);

    assert_close(filled->search->value, row->value, 1e-9 * row->value);
    assert_true(filled->search->optimal);
    dfl_session_free(s);
}

/* ---- operands that the unit holds (rule D8) ---- */

/* 2 x 3 points, 8 bits and 1 J/bit each: 6 results written, 48 J; what is read depends on what the unit holds. */
typedef struct {
    const char *name, *reuse;
    double joules;
} held_row;

static const held_row HELD[] = {
    { "both operands at each step: 2 * 6 * 8 J", "", 48 + 96 },
    { "W stays while b advances: 2 + 6 reads", "operand_reuse = W; ", 48 + 64 },
    { "X stays while a advances: 3 + 6 reads", "operand_reuse = X; ", 48 + 72 },
    { "one of both stays: 2 + 6 reads", "operand_reuse = X, W; ", 48 + 64 },
};

static void holds(void **state)
{
    const held_row *row = *state;
    dfl_session *s = dfl_session_new(NULL);
    char text[512];

    (void)snprintf(text, sizeof text,
                   "dfl 1; workload w : bits(8) { rank a = 2, b = 3; input X[b]; weight W[a]; output Z[a, b] = X[b] * W[a]; } "
                   "system chip { memory m { size = unlimited; energy = 1J/bit; } compute unit { %s"
                   "rate { mac = 1MAC/s; flop = 1FLOP/s; } } } mapping best for w on chip { ...; minimize energy; }", row->reuse);
    const dfl_filled *filled = fill_any_tiles(s, text);
    assert_close(filled->search->value, row->joules, 1e-9);
    assert_close(filled->search->lower_bound, row->joules, 1e-9);
    assert_true(filled->search->optimal);
    dfl_session_free(s);
}

/* ---- links of networks (lemma B18) ---- */

/* 8 elements of 4 bits in and 4 of 8 bits out over links of 1 B/s; units take no time to speak of. */
typedef struct {
    const char *name, *network;
    double seconds, bound;
} link_row;

static const link_row LINKS[] = {
    { "4 B down, 4 B up side by side", "crossbar { bandwidth = 1B/s; }", 4, 4 },
    { "a bus carries both", "bus { bandwidth = 1B/s; }", 8, 8 },
    { "links between neighbours carry nothing if one instance works", "mesh { bandwidth = 1B/s; }", 0.04, 0.04 },
    { "no limit", "bus { energy = 1J/bit; }", 0.02, 0.02 },
};

static void links(void **state)
{
    const link_row *row = *state;
    dfl_session *s = dfl_session_new(NULL);
    char text[1024];

    (void)snprintf(text, sizeof text,
                   "dfl 1; workload w : bits(8) { rank a = 4; input X[a] : bits(4); input Y[a] : bits(4); "
                   "output Z[a] = X[a] + Y[a]; } "
                   "system chip { memory m { size = unlimited; energy = 1J/bit; } network net = %s array x[2] over net { "
                   "compute unit { rate { mac = 100MAC/s; flop = 100FLOP/s; } } } } mapping best for w on chip { "
                   "option overlap = perfect; ...; minimize latency; }", row->network);
    const dfl_filled *filled = fill_any_tiles(s, text);
    assert_close(filled->search->value, row->seconds, 1e-9);
    assert_close(filled->search->lower_bound, row->bound, 1e-9);
    dfl_session_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settles),
    };
    int failed = CHECK_TABLE("mapper.tiling.claims", CLAIMS, claims);

    failed += CHECK_TABLE("mapper.tiling.tight", TIGHT, tight);
    failed += CHECK_TABLE("mapper.tiling.held", HELD, holds);
    failed += CHECK_TABLE("mapper.tiling.links", LINKS, links);
    return CHECK_GROUP("mapper.tiling", tests) + failed;
}
