/*
 * Lower bounds of several einsums by their exchange patterns (SEARCH.md, B40, B41, B45, B62), against least costs by hand: the
 * compulsory transfers of inputs and outputs, and those of intermediates that no room below their home can hold.
 */
#include <stdio.h>

#include "mapper/join/exchange_bound.h"
#include "tests/unit/mapper/job.h"

typedef struct {
    const char *name, *einsums, *sram, *objective;
    double joules, seconds;     /* of a mapping, for the rate of lines */
    double least;               /* the least value of all mappings */
} exchange_row;

#define PAIR "input A[a]; input B[a]; weight C[a]; T[a] = A[a] * B[a]; output Z[a] = T[a] * C[a]; "
#define FORK                                                                                                              \
    "input A[a]; input B[a]; weight C[a]; weight D[a]; T[a] = A[a] * B[a]; output Y[a] = T[a] * C[a]; "                    \
    "output Z[a] = T[a] * D[a]; "
#define GRID "input A[a]; input B[a]; weight C[c]; T[a] = A[a] * B[a]; output Z[a, c] = T[a] * C[c]; "
#define SUM "input A[a]; input B[a]; weight C[c]; T[] += A[a] * B[a]; output Z[c] = T[] * C[c]; "

/* No rank of one einsum is one of the other: a keep of A for both holds all of A (B45). */
#define APART                                                                                                             \
    "rank b = 4; input A[a]; weight C[a]; weight D[b]; output Y[a] = A[a] * C[a]; output Z[b] = A[b] * D[b]; "
/* A loop over b reaches the first einsum as a, by T. */
#define LINKED "rank b = 4; input A[a]; weight C[a]; T[a] = A[a] * C[a]; output Z[b] = T[b] * A[b]; "
/* A and B serve both einsums. */
#define BOTH "input A[a]; input B[c]; T[a, c] = A[a] * B[c]; output Z[a, c] = T[a, c] * A[a] * B[c]; "
/* T is alive while Q is made of P. */
#define AROUND                                                                                                            \
    "input A[a]; input B[a]; weight C[a]; weight D[a]; weight E[a]; T[a] = A[a] * B[a]; P[a] = C[a] * D[a]; "             \
    "Q[a] = P[a] * E[a]; output Z[a] = T[a] * Q[a]; "
/* A loop over c, then one over a: B stands between them beside C. */
#define BESIDE "input A[a]; input B[c]; weight C[c]; T[a, c] = A[a] * B[c]; output Z[a, c] = T[a, c] * C[c]; "
/* C stands above a loop over a, X or Y below the exchange of T. */
#define BEHIND                                                                                                            \
    "rank k = 2, l = 2; input X[a, k]; weight Y[c, l]; weight C[c]; T[a, c] += X[a, k] * Y[c, l]; "                       \
    "output Z[a, c] = T[a, c] * C[c]; "
/* Y[layer] is read in the next iteration, and the last one by Z. */
#define REPEAT                                                                                                            \
    "input A[a]; input B[a]; weight C[a]; X[a] = A[a] * B[a]; "                                                          \
    "repeat 3 as layer carrying X = Y { weight W[a]; Y[a] = X[a] * W[a]; } output Z[a] = layer.Y[a] * C[a]; "
#define SLIDE                                                                                                             \
    "rank p = 8, r = 2, t = 9; input A[t]; input B[t]; weight C[r]; T[t] = A[t] * B[t]; "                                \
    "output Z[p] += T[p + r] * C[r]; "
/* A serves T and Y, which have different ranks: a loop over p cuts t, too. */
#define STRIPS                                                                                                            \
    "rank p = 16, r = 3, t = 16; input A[t]; input B[t]; weight C[r]; T[t] = A[t] * B[t]; "                              \
    "Z[p] += T[p + r - 1] * C[r]; output Y[p] = Z[p] + A[p]; "

/* Ranks a = 4 and c = 2 of 8 bits; 1 J a bit at home, none in sram; 1 s a point. */
static const exchange_row EXCHANGES[] = {
    { "an element of T has room: A, B, C and Z move, 32 J each", PAIR, "size = 1B;", "energy", 200, 8, 128 },
    { "no element of T has room: it is written and read at home", PAIR, "size = 0.5B;", "energy", 200, 8, 192 },
    { "an element that no transfer fills needs no second buffer", PAIR, "size = 1B; buffers = 2;", "energy", 200, 8, 128 },
    { "sram holds no intermediates", PAIR, "size = 8B; holds = input, output;", "energy", 200, 8, 192 },
    { "4 + 4 points", PAIR, "size = 1B;", "latency", 200, 8, 8 },
    { "energy times latency: 128 J * 8 s", PAIR, "size = 1B;", "energy * latency", 128, 8, 1024 },
    { "the same from a mapping that is far away", PAIR, "size = 1B;", "energy * latency", 1e4, 9, 1024 },
    { "two readers agree with the producer: A to D, Y, Z", FORK, "size = 1B;", "energy", 200, 12, 192 },
    { "two readers fetch T from home", FORK, "size = 0.5B;", "energy", 300, 12, 288 },
    { "C is kept for all a: A and B, C, and Z, 8 elements", GRID, "size = 8B;", "energy", 200, 12, 144 },
    { "a sum of 4 elements of A and B, 2 of C and Z", SUM, "size = 1B;", "energy", 200, 6, 96 },
    { "T has room, all of it, since windows overlap: A, B, 9 elements, C, 2, and Z, 8", SLIDE, "size = 16B;", "energy", 400, 25,
      224 },
    { "T has room in strips, which share a loop along the window: the same", SLIDE, "size = 6B;", "energy", 400, 25, 224 },
    { "strips of 2 elements of A, 3 of T and one of Z, and C: A to C are read once and Y is written, 51 elements (B45)", STRIPS,
      "size = 9B;", "energy", 500, 80, 408 },
    { "all of A has room and is read once: A, C, D, Y and Z", APART, "size = 4B;", "energy", 300, 8, 160 },
    { "3 of 4 elements of A have room: each einsum reads it at home", APART, "size = 3B;", "energy", 300, 8, 192 },
    { "an element of A and one of T have room: A is read once (B45), C and Z move", LINKED, "size = 2B;", "energy", 300, 8, 96 },
    { "one element of each has room: B is read once, A again for each element of B (B46), and Z written, 2 + 8 + 8", BOTH,
      "size = 3B;", "energy", 300, 16, 144 },
    { "an element of T, P and Q has room: A to E and Z move", AROUND, "size = 3B;", "energy", 400, 16, 192 },
    { "T, P and Q are alive together (B48): one of them is exchanged at home", AROUND, "size = 2B;", "energy", 400, 16, 256 },
    { "an element of B, C and T has room: B and C move once, A for each c, and Z, 2 + 2 + 8 + 8", BESIDE, "size = 3B;", "energy",
      300, 16, 160 },
    { "B or C has room beside T (B62): the other moves for each a and c, 6 elements more", BESIDE, "size = 2B;", "energy", 300, 16,
      208 },
    { "Y of one c has room beside T: Y moves once, X 4 times for each of 8 elements, C and Z once, 4 + 32 + 8 + 8", BEHIND,
      "size = 3B;", "energy", 600, 40, 416 },
    { "X or C has room beside T (B62): C moves for each a and c, 6 elements more", BEHIND, "size = 2B;", "energy", 600, 40, 512 },
    { "T in 2 B of sram, and X, Y and C in 7 B of near, which leave T all room (B62): each moves once, and Z, 4 + 4 + 2 + 4",
      "rank k = 2; input X[a]; weight Y[c, k]; weight C[c]; T[a, c] += X[a] * Y[c, k]; output Z[a] += T[a, c] * C[c]; ",
      "size = 2B; energy = 0J/bit; } memory near { size = 7B;", "energy", 200, 24, 112 },
    { "where time does not count, a loop may be shared for A alone: A, C, D, Y, Z",
      "input A[a]; weight C[a]; weight D[a]; output Y[a] = A[a] * C[a]; output Z[a] = A[a] * D[a]; ", "size = 1B;", "energy", 300,
      8, 160 },
    { "an iteration has room for what it reads and makes, 4 + 4 B, all three have none (B53): A, B, W 3 times, C and Z", REPEAT,
      "size = 8B;", "energy", 300, 20, 224 },
    { "a memory that costs more than home: nothing is kept there", PAIR,
      "size = 8B; energy = 3J/bit; } memory near { size = 0.25B;", "energy", 200, 8, 192 },
    { "T in sram: 64 J and 8 s at its port for each einsum; at home 192 J * 8 s", PAIR, "size = 1B; bandwidth = 0.5B/s;",
      "energy * latency", 192, 8, 1536 },
    { "4 B are written, and 4 B read, at 0.75 B/s: 16 / 3 s for each einsum with any tiles", PAIR,
      "size = 1B; read { bandwidth = 0.75B/s; } write { bandwidth = 0.75B/s; }", "energy * latency", 128, 32.0 / 3,
      128 * 32.0 / 3 },
    { "leakage: 128 J and 2 W for 8 s", PAIR, "size = 1B; leakage = 2W;", "energy", 200, 8, 144 },
};

/* Two buffers in sram, 1 B/s from home, energy * latency: first tiles (B60). */
static const exchange_row AHEAD[] = {
    { "C, 2 B, and an element of A enter before 8 points: 112 J * 11 s", "input A[a]; weight C[c]; output Z[a, c] = A[a] * C[c]; ",
      "size = 6B; buffers = 2;", "energy * latency", 112, 11, 112 * 11 },
    { "C and an element of A before 8 points, an element of D before 8 more, with all of T: 128 J * 20 s",
      "input A[a]; weight C[c]; weight D[c]; T[a, c] = A[a] * C[c]; output Z[a, c] = T[a, c] * D[c]; ",
      "size = 14B; buffers = 2;", "energy * latency", 128, 20, 128 * 20 },
    { "a keep in `near` may be filled from one in sram: first tiles there do not count, and A and C may stand there alone",
      "input A[a]; weight C[c]; output Z[a, c] = A[a] * C[c]; ",
      "size = 6B; buffers = 2; energy = 0J/bit; } memory near { size = 6B; buffers = 2;", "energy * latency", 112, 11, 112 * 8 },
};

/* `home`: more of the memory at home. */
static void check(const exchange_row *row, const char *home, const char *option)
{
    const dfl_search_limits limits = { .threads = 1 };
    dfl_session *s = dfl_session_new(NULL);
    dfl_exchange_result found;
    dfl_objective objective;
    char text[1500];

    snprintf(text, sizeof text,
             "dfl 1; workload w : i8 { rank a = 4, c = 2; %s} system chip { memory dram { size = unlimited; %senergy = 1J/bit; } "
             "memory sram { %s energy = 0J/bit; } compute unit { rate { mac = 1MAC/s; flop = 1FLOP/s; } "
             "energy { mac = 0J/MAC; flop = 0J/FLOP; } } } "
             "mapping best for w on chip { %s ...; minimize %s; }",
             row->einsums, home, row->sram, option, row->objective);
    const dfl_mapping *m = open_mapping(s, text);
    assert_true(dfl_objective_make(s->sink, s->names, m, &objective));
    found = dfl_exchange_bound(s->arena, s->names, m, &objective, row->joules, row->seconds,
                               dfl_exchange_list(s->arena, s->names, m, &objective, &limits), &limits);
    assert_int_equal(found.stopped, DFL_STOP_NONE);
    assert_true(found.value <= row->least * (1 + 1e-12));
    assert_true(found.value >= row->least * 0.99);
    dfl_session_free(s);
}

static void bounds(void **state) { check(*state, "", "option overlap = perfect;"); }

static void bounds_ahead(void **state) { check(*state, "read { bandwidth = 1B/s; } write { bandwidth = 8B/s; } ", ""); }

/* Two products and a sum of 3136 x 256 bytes, from home at 614 GB/s and from cmem at 2048 GB/s: reads of Z and I from cmem take
   0.784 us. R takes 1.31 us to home, or 0.38 us of work beside it, if its keep stands above a loop that Z shares: with weights
   of the former skeleton (the port of home) the latter would take no time, and with those of the latter (the port of cmem) both
   take 0.784 us. With the work alone as time of both, the bound was 555 pJ*s. */
static void bounds_sum(void **state)
{
    static const char text[] =
        "dfl 1; system chip { clock = 1.05GHz; memory hbm { size = 8GB; bandwidth = 614GB/s; energy = 7pJ/bit; } "
        "memory cmem { size = 128MiB; buffers = 2; read { bandwidth = 2048GB/s; energy = 1.88pJ/bit; } "
        "write { bandwidth = 1024GB/s; energy = 2.36pJ/bit; } } compute vector { rate = 2048FLOP/cycle; energy = 0.4pJ/FLOP; } "
        "compute mac { rate = 65536MAC/cycle; energy = 0.1pJ/MAC; ops = mac; } } "
        "workload w : i8 { rank p = 3136, c = 256; input I[p, c]; weight A[c], D[c]; X[p, c] = I[p, c] * A[c]; "
        "Z[p, c] = X[p, c] * D[c]; output R[p, c] = Z[p, c] + I[p, c]; } mapping best for w on chip { ...; }";
    const dfl_search_limits limits = { .threads = 1 };
    dfl_session *s = dfl_session_new(NULL);
    const dfl_mapping *m = open_mapping(s, text);
    dfl_exchange_result found;
    dfl_objective objective;

    (void)state;
    assert_true(dfl_objective_make(s->sink, s->names, m, &objective));
    found = dfl_exchange_bound(s->arena, s->names, m, &objective, 208.8e-6, 2.876e-6,
                               dfl_exchange_list(s->arena, s->names, m, &objective, &limits), &limits);
    assert_true(found.value <= 600.6e-12);
    assert_true(found.value >= 566e-12);
    dfl_session_free(s);
}

int main(void)
{
    const struct CMUnitTest sums[] = { cmocka_unit_test(bounds_sum) };

    return CHECK_TABLE("mapper.exchange_bound", EXCHANGES, bounds) + CHECK_TABLE("mapper.first_tiles_ahead", AHEAD, bounds_ahead) +
           cmocka_run_group_tests_name("mapper.busy_ports", sums, NULL, NULL);
}
