/* Time before the first step and after the last one (B6, B7, B8, D3), and the longest step (B24): forms by hand. */
#include <stdio.h>

#include "tests/unit/mapper/formed.h"

/* ---- before the first step and after the last one ---- */

#define RAMPS                                                                                                             \
    "dfl 1; workload w : i8 { rank m = 7, n = 6, k = 10; input A[m, k]; input B[k, n]; output Z[m, n] : i32 += "           \
    "A[m, k] * B[k, n]; } system chip { clock = 1GHz; "                                                                   \
    "memory dram { size = 1MB; latency = 20ns; read { bandwidth = 1GB/s; } write { bandwidth = 2GB/s; } } "                \
    "memory sram { size = 800B; latency = 3ns; %s } "                                                                      \
    "compute mac { ops = mac; rate = 1MAC/cycle; launch = 30ns; } }%s "                                                    \
    "mapping best for w on chip { %s on mac; keep A, B, Z in dram; %s minimize latency; }"

/* `sram`: attributes; lines as above; time of the bound of the point and of the model, ns. */
typedef struct {
    const char *name, *sram, *option, *lines;
    int64_t amount[3][4];
    double bound, model;
} ramp_row;

static const ramp_row RAMP_ROWS[] = {
    /* launch 30, A in 20 + 70, its first operand 3, 420 steps, Z out 20 + 42 * 4 / 2. The model: first of B 20 */
    { "first tile, last tile (B19)", "buffers = 2;", "", "keep A, Z in sram; temporal m, n, k;", { { 1 }, { 1 }, { 1 } },
      647, 664 },
    /* the work waits for A, 70, and for Z, 84, which leaves behind it over the port for writes; latencies 23 and 20 */
    { "waits and latencies", "", "", "keep A, Z in sram; temporal m, n, k;", { { 1 }, { 1 }, { 1 } }, 647, 664 },
    /* A in 70, and beside none of it Z out, 42 * 4 / 2 = 84, at the advances */
    { "first tiles beside what waits for the result (B19)", "} memory reg { size = 12B;", "",
      "keep A in sram; temporal m, n; keep Z in reg; temporal k;", { { 1 }, { 1 }, { 1 } }, 647, 2304 },
    /* A waits for reg 420 / 0.5 = 840, beside the first 60 of B, in the same level; then Z out, 84. The
       model: 420 passes of 3 + 1; 419 advances in 20 + 2; first tiles in 20 + 61, the last one out in 20 + 84 */
    { "first tiles of one level (B15)", "buffers = 2; } memory reg { size = 12B; write { bandwidth = 0.5GB/s; }", "",
      "keep B, Z in sram; temporal m, n, k; keep A in reg;", { { 1 }, { 1 }, { 1 } }, 1417, 11113 },
    /* the unit reads A and 9 of 10 times Z out of sram: (420 + 378 * 4) / 0.5 = 3864 (B17); A is in after 70, Z out in
       168 / 0.5 */
    { "what waits for one port beside the last tile (B19)", "read { bandwidth = 0.5GB/s; }", "",
      "keep A, Z in sram; temporal m, n, k;", { { 1 }, { 1 }, { 1 } }, 4343, 4360 },
    /* launch 30, 420 steps, latencies 20 and 20; B enters reg for 4 and for 3 rows, in 60 each; the last tile of Z has one row at
       least, 4 / 2. The model: 120 passes, at each of which A waits 20, and B 20 + 1 */
    { "a ragged last tile (B19)", "buffers = 2; } memory reg { size = 12B;", "",
      "temporal m:4, n; keep Z in sram; temporal k; keep B in reg; temporal m;", { { 4, 1 }, { 1 }, { 1 } }, 612, 5409.5 },
    { "nothing with perfect overlap but the launch", "", "option overlap = perfect;", "keep A, Z in sram; temporal m, n, k;",
      { { 1 }, { 1 }, { 1 } }, 520, 520 },
    /* launch 30, first operand 20; Z is read 9 of 10 times: 420 * (1 + 1 + 4 * 0.9) = 2352 at the port for reads */
    { "no keeps", "", "", "temporal m, n, k;", { { 1 }, { 1 }, { 1 } }, 2402, 2402 },
    { "no keeps, but one could be filled ahead (B17)", "buffers = 2;", "", "temporal m, n, k;", { { 1 }, { 1 }, { 1 } },
      2402, 2402 },
    /* launch 30, A and B 840 (B17), first operand 20, Z out 20 + 4 / 2 */
    { "a stream", "buffers = 2; overlap = stream;", "", "temporal m, n; keep Z in sram; temporal k;", { { 1 }, { 1 }, { 1 } },
      912, 912 },
    /* launch 30, 420 steps, latencies 20 + 3 and 20. A waits for sram 70 * 3 / 4 = 52.5, Z for writes to dram 42 * 4 / 2 = 84; at
       each of 2 * 7 * 3 advances A, of 4 B at most, takes 1 beside Z: 587.5. Z, and the first 70 of A
       out of dram, are more (B15) */
    { "two ports by turns (B9)", "buffers = 2; bandwidth = 4GB/s; } memory reg { size = 12B;", "",
      "keep A in sram; temporal m, n:2; keep Z in reg; temporal k; keep A in reg; temporal n;", { { 1 }, { 2, 1 }, { 1 } },
      647.25, 5921.5 },
    /* launch 30, 420 steps, latencies 20 + 3 and 20. A waits for sram 420 / 4 = 105; its first 70 elements leave dram in 70
       (B15), the last one of Z enters it in 2 (B19). The model: 420 passes of 20 + 1; 378 advances of A alone in 3 + 1 / 4, 41
       with Z in 20 + 3 + 2; first tiles in 20 + 70 and 3.25, the last one out in 22 */
    { "first tiles at another port (B15)", "buffers = 2; bandwidth = 4GB/s; } memory reg { size = 12B;", "",
      "keep A in sram; temporal m, n:1; keep Z in reg; temporal k; keep A in reg;", { { 1 }, { 1 }, { 1 } }, 670, 11218.75 },
    /* launch 30, 420 steps, latencies 20 + 3 and 20; Z leaves in 42 * 4 / 2 = 84, behind the first 60 of B (B19). The
       model: first tiles in 20 + 60, 42 passes of 10 + 20, 41 advances and the end in 20 + 2 */
    { "first tiles before the result leaves (B19)", "buffers = 2; bandwidth = 4GB/s; } memory reg { size = 12B;", "",
      "keep B in sram; temporal m, n; keep Z in reg; temporal k;", { { 1 }, { 1 }, { 1 } }, 637, 2294 },
    /* launch 30, 420 steps, latencies 20 + 3 and 20. The second visits of Z read 42 * 4 = 168 out of dram, behind the first tiles
       of B and A, 60 and 35 (B14), and before the last element of Z, 2 (B19). The model: first tiles in 20 + 95, 84 passes of
       5 + 3; 41 advances with Z out in 20 + 2, 42 with Z out and in, in 40 + 4; the last one out in 22 */
    { "first tiles at a port that waits (B14)", "buffers = 2; bandwidth = 4GB/s; } memory reg { size = 12B;", "",
      "keep B in sram; temporal k:5; keep A in sram; temporal m, n; keep Z in reg; temporal k;",
      { { 1 }, { 1 }, { 5, 1 } }, 758, 3589 },
    /* launch 30, 420 steps, latencies 20 + 3 and 20. Out of dram come 420 of A, the first one among them, 168 of Z and the first
       30 of B; into it 2 for the last element of Z. The model: first tiles in 20 + 31, side by side in one level, 420 passes of
       1 + 3; 336 advances of A alone in 20 + 1, 41 with Z out in 40 + 2, 42 with Z out and in, in 40 + 5; the last one out in 22 */
    { "first tiles that wait count once (B14)", "buffers = 2; bandwidth = 4GB/s; } memory reg { size = 12B;", "",
      "temporal k:5; keep B in sram; temporal m, n; keep Z in reg; temporal k; keep A in reg;",
      { { 1 }, { 1 }, { 5, 1 } }, 1113, 12451 },
    /* launch 30, A and B 840 (B17), latencies 20 and 20. Z leaves the two instances in 21 * 4 each, and enters dram in 42 * 4 / 2
       meanwhile */
    { "last tiles of two instances (B19)",
      "} network wires = bus { } array x[2] over wires { memory reg { size = 84B; read { bandwidth = 1GB/s; }",
      "", "spatial n/2 on x; keep Z in reg; temporal m, n, k;", { { 1, 1 }, { 2, 1 }, { 1, 1 } }, 994, 994 },
    /* the same with k on x: both instances have all of Z, 168 B each; those of the second one are added to what dram reads, 168,
       while both enter it in 336 / 2 */
    { "last tiles that are added to old values (B19)",
      "} network wires = bus { } array x[2] over wires { memory reg { size = 168B; read { bandwidth = 1GB/s; }",
      "", "spatial k/2 on x; keep Z in reg; temporal m, n, k;", { { 1, 1 }, { 1, 1 }, { 2, 1 } }, 1078, 1078 },
    /* the first operand comes over two links of 5 */
    { "no keeps behind a network",
      "} network wires = switch { latency = 5ns; } array x[2] over wires { memory reg { size = 9B;", "",
      "temporal m, n, k;", { { 1, 1 }, { 1, 1 }, { 1, 1 } }, 2412, 2412 },
};

static void check_ramp(const char *text, const int64_t (*amount)[4], double bound, double model)
{
    formed f;

    open_form(&f, text);
    const dfl_box_costs costs = { .objective = &f.objective,
                                  .ramp = dfl_ramp_make(f.session->arena, f.session->names, f.mapping, f.form) };
    const point_costs at = cost_point(&f, &costs, amount);
    assert_close(at.bound, bound * 1e-9, 1e-12);
    for (uint32_t i = 0; i < 2; i++) { /* a limit on the latency just above, or just below, all of it (B26) */
        dfl_box_costs within = costs;
        within.seconds_below = bound * (i == 0 ? 1.001e-9 : 0.999e-9);
        assert_close(cost_point(&f, &within, amount).bound, i == 0 ? bound * 1e-9 : INFINITY, 1e-12);
    }
    assert_int_equal(dfl_ramp_time_is_counted(f.mapping, &f.problem), f.mapping->options.overlap_perfect);
    assert_close(at.value, model * 1e-9, 1e-12);
    dfl_session_free(f.session);
}

static void ramps(void **state)
{
    const ramp_row *row = *state;
    char text[2000];

    snprintf(text, sizeof text, RAMPS, row->sram, strchr(row->sram, '[') != NULL ? " }" : "", row->option, row->lines);
    check_ramp(text, row->amount, row->bound, row->model);
}

/* ---- the longest step: B24 ---- */

/* 4 rows of Z at a time: 2 * 32 B of A, 2 * 16 B of Z and 2 B of B fill 98 B of sram, and a step works for 4 ns. */
#define STEPS                                                                                                             \
    "dfl 1; workload w : i8 { rank m = 4, n = 6, k = 8; input A[m, k]; input B[k, n]; output Z[m, n] : i32 += "            \
    "A[m, k] * B[k, n]; } system chip { clock = 1GHz; memory dram { size = 1MB; %s } "                                     \
    "memory sram { size = %s; buffers = 2; } compute mac { ops = mac; rate = 1MAC/cycle; } } "                             \
    "mapping best for w on chip { on mac; keep A, B, Z in dram; keep A in sram; temporal n; keep Z in sram; temporal k; "  \
    "keep B in sram; temporal m; minimize latency; }"

/* `dram`: attributes; time of the bound of the point and of the model, ns. */
typedef struct {
    const char *name, *dram, *size;
    double bound, model;
} step_row;

static const step_row STEP_ROWS[] = {
    /* A in 32, Z out 96; two of 8 values of k are in the steps beside: 4 * 6 * (8 - 2) = 144. The model: A and B in 33, 192 steps,
       Z and B beside 5 steps 17 - 4, the last of Z 16 */
    { "results that leave within one step (B24)", "bandwidth = 1GB/s;", "98B", 272, 306 },
    /* A and B in 33, 192 steps, the last of Z 16 */
    { "results that leave beside the work (B24)", "read { bandwidth = 1GB/s; } write { bandwidth = 1GB/s; }", "98B", 241, 241 },
    /* A and B in 33; each of 6 tiles of Z leaves in 32, beside the 32 steps of the next one */
    { "results that leave over a port of their own (B24)", "read { bandwidth = 1GB/s; } write { bandwidth = 0.5GB/s; }", "98B",
      257, 257 },
    /* the bound: A and B in 33, 192 steps, the last of Z 16, and no wait, as B may have 9 elements in another mapping, so that all
       8 of k are in one step. The model: as with 98 B */
    { "room for longer steps (B24)", "bandwidth = 1GB/s;", "114B", 241, 306 },
};

static void longest_steps(void **state)
{
    static const int64_t AMOUNTS[3][4] = { { 1 }, { 1 }, { 1 } };
    const step_row *row = *state;
    char text[2000];

    snprintf(text, sizeof text, STEPS, row->dram, row->size);
    check_ramp(text, AMOUNTS, row->bound, row->model);
}

/* Each of four steps of m works for 4 ns, and waits twice for 2 ns until Z has left reg (B24). B comes in for 20 and A for 10 before
   the first one, A for 10 beside each of the next three, and of the four elements of m one counts. The model takes
   3 more, for the last of Z out of reg and sram. */
static void waits_in_steps(void **state)
{
    static const int64_t AMOUNTS[3][4] = { { 1 }, { 1 }, { 1 } };

    (void)state;
    check_ramp("dfl 1; workload w : i8 { rank m = 4, n = 2, k = 2; input A[m, k]; input B[k, n]; output Z[m, n] : i32 += "
               "A[m, k] * B[k, n]; } system chip { clock = 1GHz; memory dram { size = 1MB; read { bandwidth = 0.2GB/s; } "
               "write { bandwidth = 8GB/s; } } memory sram { size = 28B; buffers = 2; } "
               "memory reg { size = 4B; holds = Z; read { bandwidth = 2GB/s; } } "
               "compute mac { ops = mac; rate = 1MAC/cycle; } } mapping best for w on chip { on mac; keep A, B, Z in dram; "
               "keep B in sram; temporal m; keep A, Z in sram; temporal n; keep Z in reg; temporal k; minimize latency; }",
               AMOUNTS, 68, 71);
}

/* ---- operands that move as often ---- */

/* S and Z move in full at any amounts: both have one count. Z takes 1 B of sram, 1 B is left. */
#define ALIKE                                                                                                             \
    "dfl 1; workload w : i8 { rank a = 2, b = 2, c = 1; input S[a, b, c]; input W[a] : i32; "                              \
    "output Z[b, c] += S[a, b, c] * W[a]; } "                                                                              \
    "system chip { clock = 1GHz; memory dram { size = 1MB; read { bandwidth = 2GB/s; } write { bandwidth = 2GB/s; } } "    \
    "memory sram { size = 2B; } compute mac { ops = mac; rate = 1MAC/cycle; } } "                                          \
    "mapping best for w on chip { on mac; keep S, W, Z in dram; %s minimize latency; }"

typedef struct {
    const char *name, *lines;
    double bound, model;
} alike_row;

static const alike_row ALIKE_ROWS[] = {
    /* W takes 16 / 2 = 8 as operand, and S 4 / 2, if it moves into sram, and the last of Z 1 / 2 at the other port. The model: S as
       operand, Z two times 1 / 2 */
    { "an input that may move is not the result (B17)", "temporal b; keep Z in sram; temporal a;", 10.5, 11 },
    { "waits for an input are none for the result (B19)", "temporal b; keep Z in sram; temporal a; keep S in sram;", 10.5, 10.5 },
};

static void alike(void **state)
{
    static const int64_t AMOUNTS[3][4] = { { 1 }, { 1 }, { 1 } };
    const alike_row *row = *state;
    char text[2000];

    snprintf(text, sizeof text, ALIKE, row->lines);
    check_ramp(text, AMOUNTS, row->bound, row->model);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(waits_in_steps) };
    int failed = CHECK_TABLE("mapper.ramps.ramps", RAMP_ROWS, ramps);

    failed += CHECK_GROUP("mapper.ramps", tests);
    failed += CHECK_TABLE("mapper.ramps.alike", ALIKE_ROWS, alike);
    failed += CHECK_TABLE("mapper.ramps.longest_step", STEP_ROWS, longest_steps);
    return failed;
}
