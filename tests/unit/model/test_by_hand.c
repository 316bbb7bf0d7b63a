/*
 * Costs of small mappings, counted by hand: the time of networks, the latencies of memories and networks (MODEL.md, sections 4.4
 * and 4.5), the reads and writes of states and of sums under conditions (section 2.4), and the busiest links of ragged parts
 * (section 2.9). Each row of a table is a mapping of the text above it. Elements have 8 bits, so 1 GB/s moves one element in 1 ns.
 * An operation takes 1 ns. Memories without a bandwidth take no time.
 */
#include <math.h>
#include <string.h>

#include "tests/harness/check.h"

#include "model/model.h"
#include "tests/unit/sema/analysed.h"

#define UNIT "compute mac { rate { mac = 1MAC/cycle; flop = 1FLOP/cycle; } }"
#define FAST "compute mac { rate { mac = 10MAC/cycle; flop = 10FLOP/cycle; } }"
#define CHIP(name, dram) "system " name "(wait = 0ns, far = 0ns, near = 0ns) { clock = 1GHz; memory dram { size = 1MB; " dram " }"

/* Four instances, each with three memories and a unit. */
#define LINE(name, kind, network) \
    CHIP(name, "latency = far;") " network net = " kind " { " network " latency = wait; }" \
    "array pe[4] over net { memory reg { size = 1kB; latency = near; } memory acc { size = 1kB; latency = 11ns; }" \
    "  memory buf { size = 1kB; latency = 9ns; } " UNIT " } }\n"

/* A mesh of four times two instances. */
#define GRID(name, network, unit) \
    CHIP(name, "") " network net = mesh { " network " latency = wait; }" \
    "array row[4], col[2] over net { memory reg { size = 1kB; } " unit " } }\n"

/* Two tiles of four rows each: 40 elements enter, 10 ns of work, 4 elements leave. */
#define ROWS "keep A, Z in dram; temporal m:4; spatial m on pe; keep A, Z in reg; temporal k;"

static const char *const timed[] = {
    "dfl 1;\n"
    "workload squares : i8 { rank m = 8, k = 10; input A[m, k]; output Z[m] += A[m, k] * A[m, k]; }\n"
    "workload sums : i8 { rank m = 2, k = 8; input A[m, k]; output Z[m] += A[m, k] * A[m, k]; }\n"
    "workload product : i8 { rank m = 4, k = 10; input A[m, k], B[m, k]; output Z[m] += A[m, k] * B[m, k]; }\n"
    "workload both(M = 8) : i8 { rank m = M; input X[m], V[m]; output Y[m] = X[m] * V[m]; output Z[m] = X[m] * 3; }\n"
    "workload windows : i8 { rank m = 6, k = 3; input A[a: 8]; output Z[m] += A[m + k] * A[m + k]; }\n"
    "workload shifted : i8 { rank s = 2, t = 3, k = 3; input A[a: 5]; output Z[s, t] += A[t + k - s] * A[t + k - s]; }\n"
    "workload clipped : i8 { rank m = 2, n = 2, k = 3; input A[a: 3], B[b: 3], C[n];\n"
    "  output Z[m, n] += A[m + k - 1] * B[k - m] * C[n]; }\n"
    "workload uneven : i8 { rank n = 5, k = 10; input A[n, k]; output Z[n] += A[n, k] * A[n, k]; }\n"
    "workload uneven_two : i8 { rank n = 5, m = 2, k = 10; input A[n, m, k], B[n]; output Z[n, m] += A[n, m, k] * B[n]; }\n"
    "workload fan : i8 { rank n = 3, m = 2, k = 10; input A[n, k], C[m]; output Z[n, m] += A[n, k] * C[m]; }\n"
    "workload beside : i8 { rank m = 6, k = 3; input A[a: 8], X[m]; output Y[m] += A[m + k] * A[m + k];\n"
    "  output Z[m] = X[m] * 2; }\n"
    "workload whole : i8 { rank n = 6, k = 4; input A[n, k]; output Z[] += A[n, k] * A[n, k]; }\n"
    "workload running : i8 { rank m = 4, k = 10; input A[m, k]; state W[m]; W[m] += A[m, k] * A[m, k]; }\n"
    "workload fresh : i8 { rank m = 4; input x[m]; state W[m]; W[m] = x[m] * 2; }\n",

    LINE("bus", "bus", "bandwidth = 1GB/s;") LINE("crossbar", "crossbar", "bandwidth = 1GB/s;")
    LINE("mesh", "mesh", "bandwidth = 1GB/s;") LINE("fan_out", "mesh", "bandwidth = 1GB/s; multicast = pe;")
    LINE("far_bus", "bus", "") LINE("far_crossbar", "crossbar", "") LINE("far_connected", "fully_connected", "")
    LINE("far_switch", "switch", "") LINE("far_tree", "fat_tree", "") LINE("far_dragonfly", "dragonfly", "")
    LINE("far_mesh", "mesh", "") LINE("far_ring", "ring", "") LINE("far_torus", "torus", ""),

    GRID("far_grid", "", UNIT) GRID("grid", "bandwidth = 1GB/s;", UNIT)
    GRID("casting_grid", "bandwidth = 1GB/s; multicast = row, col;", FAST)
    CHIP("stretched", "bandwidth = 80GB/s; efficiency = table(0, 50%);") " network net = bus { bandwidth = 1GB/s; }"
    "  array pe[4] over net { memory reg { size = 1kB; } " UNIT " } }\n"
    CHIP("nested", "") " network wide = bus { bandwidth = 1GB/s; latency = 5ns; } array tile[2] over wide {"
    "  network net = bus { bandwidth = 1GB/s; latency = 3ns; } array pe[2] over net { memory reg { size = 1kB; } " UNIT " } } }\n"
    CHIP("same_bus", "") " network net = bus { bandwidth = 1GB/s; } array tile[2] over net { array pe[2] over net {"
    "  memory reg { size = 1kB; } " UNIT " } } }\n"
    CHIP("streams", "bandwidth = 1GB/s;") " memory mid { size = 1kB; overlap = stream; read { bandwidth = 2GB/s; } }"
    "  memory near { size = 1kB; } " UNIT " }\n"
    CHIP("casts", "") " network net = mesh { bandwidth = 1GB/s; multicast = pe; }"
    "  array pe[2] over net { memory reg { size = 1kB; } " UNIT " } }\n"
    CHIP("fast_casts", "") " network net = mesh { bandwidth = 1GB/s; multicast = pe; }"
    "  array pe[2] over net { memory reg { size = 1kB; } " FAST " } }\n"
    "system idles(far = 0ns) { clock = 1GHz; memory dram { size = 1MB; bandwidth = 1GB/s; latency = far; holds = output; }\n"
    "  memory rom { size = 1MB; } array pe[4] { memory reg { size = 1kB; } " UNIT " } }\n"
    "system sources { clock = 1GHz; memory dram { size = 1MB; bandwidth = 1GB/s; latency = 20ns; }\n"
    "  memory rom { size = 1MB; bandwidth = 1GB/s; latency = 30ns; } memory log { size = 1MB; latency = 40ns; }\n"
    "  memory near { size = 1kB; } " UNIT " }\n",

    "mapping rows_bus for squares on bus { " ROWS " }\n"
    "mapping rows_late = rows_bus on bus(wait = 5ns);\n"
    "mapping rows_memories = rows_bus on mesh(wait = 5ns, far = 20ns, near = 7ns);\n"
    "mapping rows_stretched = rows_bus on stretched;\n"
    "mapping rows_perfect for squares on bus(wait = 5ns, near = 7ns) { option overlap = perfect; " ROWS " }\n"
    "mapping perfect_near = rows_perfect on far_bus(wait = 5ns, near = 7ns);\n"
    "mapping on_bus = rows_bus on far_bus(wait = 5ns);\n"
    "mapping on_crossbar = rows_bus on far_crossbar(wait = 5ns);\n"
    "mapping on_connected = rows_bus on far_connected(wait = 5ns);\n"
    "mapping on_switch = rows_bus on far_switch(wait = 5ns);\n"
    "mapping on_tree = rows_bus on far_tree(wait = 5ns);\n"
    "mapping on_dragonfly = rows_bus on far_dragonfly(wait = 5ns);\n"
    "mapping on_mesh = rows_bus on far_mesh(wait = 5ns);\n"
    "mapping on_ring = rows_bus on far_ring(wait = 5ns);\n"
    "mapping on_torus = rows_bus on far_torus(wait = 5ns);\n"
    "mapping corner for squares on far_grid(wait = 5ns) {\n"
    "  keep A, Z in dram; spatial m:2 on row; spatial m on col; keep A, Z in reg; temporal k; }\n"
    "mapping twice for squares on far_mesh(wait = 5ns) {\n"
    "  keep A, Z in dram; temporal m:4; spatial m:2 on pe; spatial m on pe; keep A, Z in reg; temporal k; }\n"
    "mapping two_networks for squares on nested {\n"
    "  keep A, Z in dram; temporal m:4; spatial m:2 on tile; spatial m on pe; keep A, Z in reg; temporal k; }\n"
    "mapping one_network = two_networks on same_bus;\n"
    "mapping old_values for sums on far_mesh(wait = 5ns) {\n"
    "  keep A, Z in dram; temporal k:4; spatial k on pe; temporal m; keep Z in reg; }\n",

    "mapping result_near for squares on bus(near = 7ns) {\n"
    "  keep A, Z in dram; temporal m:4; spatial m on pe; keep A in reg; keep Z in acc; temporal k; }\n"
    "mapping two_operands for product on far_bus(near = 7ns) {\n"
    "  keep A, B, Z in dram; spatial m on pe; keep A in reg; keep B in buf; temporal k; }\n"
    "mapping result_out for squares on far_bus(wait = 5ns) {\n"
    "  keep A, Z in dram; temporal m:4; spatial m on pe; keep A in reg; temporal k; }\n"
    "mapping result_out_busy = result_out on bus(wait = 5ns);\n"
    "mapping straight for squares on bus(wait = 5ns, far = 20ns) { keep A, Z in dram; temporal m:4, k; spatial m on pe; }\n"
    "mapping straight_mesh = straight on mesh(wait = 5ns, far = 20ns);\n"
    "mapping at_once for both on sources { keep X, Y in dram; keep V in rom; keep Z in log; temporal m:4;\n"
    "  keep X, V, Y, Z in near; fuse { Y { temporal m; } Z { temporal m; } } }\n"
    "mapping at_once_ragged for both(M = 5) on sources { keep X, Y in dram; keep V in rom; keep Z in log; temporal m:4;\n"
    "  keep X, V, Y, Z in near; fuse { Y { temporal m; } Z { temporal m; } } }\n"
    "mapping several for product on sources { keep A in dram; keep B in rom; keep Z in log; temporal m:2;\n"
    "  keep A, B, Z in near; temporal m, k; }\n"
    "mapping replaced for fresh on sources { keep W in dram; keep x in near; temporal m; }\n"
    "mapping one_chain for squares on streams { keep A in dram; keep Z in near; temporal m:2; keep A in mid;\n"
    "  temporal m; keep A in near; temporal k; }\n"
    "mapping comes_back for whole on idles {\n"
    "  keep Z in dram; keep A in rom; temporal k, n:3, n:2; spatial n/2 on pe; keep Z in reg; }\n"
    "mapping comes_late = comes_back on idles(far = 5ns);\n"
    "mapping state_enters for running on bus { keep W in dram; spatial m on pe; keep A, W in reg; temporal k; }\n",

    "mapping windows_shared for windows on casts {\n"
    "  keep A in dram; temporal m:2; spatial m on pe; keep A, Z in reg; temporal k; }\n"
    "mapping shifts for shifted on mesh { keep A in dram; spatial s on pe; keep Z in reg; temporal t;\n"
    "  keep A in reg; temporal k; }\n"
    "mapping busiest for clipped on casting_grid { option overlap = perfect;\n"
    "  keep A, B in dram; spatial m on row; spatial n on col; keep C, Z, A, B in reg; temporal k; }\n"
    "mapping in_branch for beside on fast_casts { option overlap = perfect; keep A in dram; fuse {\n"
    "  Y { temporal m:2; spatial m on pe; keep A, Y in reg; temporal k; }\n"
    "  Z { temporal m:2; spatial m on pe; keep X, Z in reg; } } }\n"
    "mapping uneven_bus for uneven on bus { keep A, Z in dram; temporal n:4; spatial n on pe; keep Z in reg; temporal k; }\n"
    "mapping uneven_crossbar = uneven_bus on crossbar;\n"
    "mapping uneven_mesh = uneven_bus on mesh;\n"
    "mapping uneven_nested for uneven on nested {\n"
    "  keep A, Z in dram; temporal n:4; spatial n:2 on tile; spatial n on pe; keep Z in reg; temporal k; }\n"
    "mapping uneven_down for uneven_two on grid {\n"
    "  keep A, Z in dram; spatial m on col; temporal n:4; spatial n on row; keep B, Z in reg; temporal k; }\n"
    "mapping uneven_up for uneven_two on grid {\n"
    "  keep B, Z in dram; spatial m on col; temporal n:4; spatial n on row; keep A, B in reg; temporal k; }\n"
    "mapping shared_link for fan on fan_out {\n"
    "  keep A, Z in dram; temporal n:2; spatial n on pe; spatial m on pe; keep C, Z in reg; temporal k; }\n",
};

typedef struct {
    const char *name; /* a mapping */
    double ns;
} time_row;

static const time_row times[] = {
    { "rows_bus", 2 * (40 + 10 + 4) },
    { "rows_late", 108 + 4 * 5 }, /* two fills and two drains */
    /* the first links carry three rows down and three results up, side by side between the tiles. Two fills and two drains wait
       for dram and three links; two passes wait for `reg` */
    { "rows_memories", (30 + 10 + 30 + 10 + 3) + 4 * (20 + 3 * 5) + 2 * 7 },
    { "rows_stretched", 108 }, /* the efficiency of dram leaves the bus alone, and the port is faster */
    { "rows_perfect", 88 },    /* all that crosses; nothing waits */
    { "perfect_near", 20 },
    /* without a bandwidth, only latencies and work: the number of links to the farthest of four instances */
    { "on_bus", 20 + 4 * 5 },
    { "on_crossbar", 20 + 4 * 5 },
    { "on_connected", 20 + 4 * 5 },
    { "on_switch", 20 + 4 * 2 * 5 },
    { "on_tree", 20 + 4 * 2 * 5 },
    { "on_dragonfly", 20 + 4 * 2 * 5 },
    { "on_mesh", 20 + 4 * 3 * 5 },
    { "on_ring", 20 + 4 * 3 * 5 },
    { "on_torus", 20 + 4 * 3 * 5 },
    { "corner", 10 + 2 * (3 + 1) * 5 }, /* three links along `row`, one along `col`; one fill and one drain */
    { "twice", 20 + 4 * 3 * 5 },        /* two loops of two iterations reach four instances */
    { "two_networks", 108 + 4 * (5 + 3) },
    { "one_network", 2 * (60 + 10 + 6) }, /* the same bus carries what all instances get, and what one tile gets */
    /* four tiles of Z leave over three links. Two return, to coordinate 0, over none. A is waited for in four passes */
    { "old_values", 4 + 4 * 3 * 5 + 4 * 3 * 5 },

    { "result_near", 108 + 2 * 7 },  /* operands wait for `reg`, nothing waits for the memory of the result */
    { "two_operands", 10 + 9 },      /* the longer of 7 and 9 ns */
    { "result_out", 20 + 2 * 5 },    /* two fills; results that the unit writes wait for nothing */
    { "result_out_busy", 2 * (40 + 5) + 80 }, /* every update crosses the bus */
    { "straight", 160 + 5 + 20 },    /* 80 operands and 80 results; one pass */
    { "straight_mesh", 60 + 3 * 5 + 20 },
    /* X and V enter side by side: 4 ns, and the longer latency. Between the tiles X and Y share the port of dram; Z leaves for
       `log`. Y and Z have no value when they enter */
    { "at_once", (4 + 30) + (8 + 40 + 30) + (4 + 40) + 16 },
    /* tiles of four and of one: an upper limit of the stall has 1 ns for X, 1 for V and 4 for Y, one after another */
    { "at_once_ragged", (4 + 30) + (6 + 40 + 30) + (1 + 40) + 10 },
    { "several", (20 + 30) + (20 + 40 + 30) + 40 + 40 }, /* A and B side by side; Z has no value when it enters */
    { "replaced", 4 }, /* the port of dram takes four updates, and reads nothing */
    /* first 20 elements enter `mid`, then 10 of them `near`: one after the other. Seven times 10 more stop the work */
    { "one_chain", (20 + 5) + 7 * 5 + 80 },
    /* Pieces of two and of one: eight times the second instance gives its sum away when it becomes idle, and seven times it takes
       it back when it works again, while the first one keeps its sum to the end. dram adds the last sum to what it has */
    { "comes_back", 16 + 8 + 7 + (1 + 1) },
    { "comes_late", 33 + (8 + 7 + 1) * 5 }, /* first sums have no value and wait for nothing */
    { "state_enters", 4 + 10 + 4 }, /* the old values of a state */

    /* the first link carries 3 of the 4 elements of the first tiles, and 2 of the 3 that enter at each of two advances: the
       largest share is 3/4 */
    { "windows_shared", 0.75 * (4 + 3 + 3) + 9 },
    /* 2 of the 5 elements that enter first, and 1 of 2 at each of two advances: the largest share is 1/2 */
    { "shifts", 0.5 * (5 + 2 + 2) + 9 },
    /* row 0 gets 2 elements of A and 3 of B, row 1 gets 3 and 2: no link carries 6 */
    { "busiest", 5 },
    /* in a branch, 3 + 2 + 2 elements on the first link, then three steps of 0.1 ns */
    { "in_branch", 7 + 0.3 },
    /* passes of four instances and of one: an upper limit has four instances in all 20 steps. Z leaves: 4 elements, then 1 */
    { "uneven_bus", 4 * 20 + 4 + 1 },
    { "uneven_crossbar", 4 * 20 + 4 + 1 },
    { "uneven_mesh", 3 * 20 + 3 + 0.75 }, /* the first link carries three; 3/4 of what leaves, by the largest share */
    { "uneven_nested", 4 * 20 + 4 + 1 + 2 * 8 + 2 * 8 }, /* operands of two passes and two drains wait for both networks */
    /* operands: three rows of two. Results go along `row` last: the link of `col` carries 4 of 8 elements, then 1 of 2 */
    { "uneven_down", 6 * 20 + 4 + 1 },
    /* results: the link of `col` carries four. B enters twice, over a link of `row` with six of eight; the tile of the first
       instance is full both times, so both count as full */
    { "uneven_up", 4 * 20 + 6 + 6 },
    /* two instances share a row: the first link carries both rows. Of 4 and 2 results it carries 3, and at most 3/4 */
    { "shared_link", 2 * 20 + 3 + 1.5 },
};

/* ---- states ------------------------------------------------------------------------------------------------------ */

static const char *const states[] = {
    "dfl 1;\n"
    "system chip { clock = 1GHz; memory dram { size = 1MB; } memory sram { size = 1kB; } " UNIT " }\n"
    "workload decode : i8 { rank b = 2, n = 8, e = 4; input x[b, e], Q[b, e]; state K[b, n: 8, e];\n"
    "  K[b, 7, e] = x[b, e] * 2; output S[b, n] += Q[b, e] * K[b, n, e]; }\n"
    "workload sum : i8 { rank m = 4, k = 4; input A[m, k]; state W[m]; W[m] += A[m, k] * A[m, k]; }\n"
    "workload step : i8 { rank m = 4; input G[m]; state W[m]; W[m] = W[m] - 3 * G[m]; }\n"
    "workload late : i8 { rank n = 8, e = 4; input x[e]; state K[n: 8, e]; output S[n] += x[e] * K[n, e]; K[0, e] = x[e] * 2; }\n"
    "workload mixed : i8 { rank m = 4, k = 4; input x[m], A[m, k]; state W[m]; W[m] = x[m] * 2; W[m] += A[m, k] * A[m, k]; }\n",

    "mapping apart for decode on chip { keep x, Q, K, S in dram; fuse { K { temporal b, e; } S { temporal b, n, e; } } }\n"
    "mapping inside for decode on chip { keep x, Q, K, S in dram; temporal b; keep K, S in sram;\n"
    "  fuse { K { temporal e; } S { temporal n, e; } } }\n"
    "mapping sums for sum on chip { keep A, W in dram; temporal m:2; keep W in sram; temporal k, m; }\n"
    "mapping steps for step on chip { keep G, W in dram; temporal m; }\n"
    "mapping first for late on chip { keep x, K, S in dram; keep K in sram; fuse { S { temporal n, e; } K { temporal e; } } }\n"
    "mapping replaced for mixed on chip { keep x, A, W in dram; fuse { W#1 { temporal m; } W#2 { temporal m, k; } } }\n",

    CHIP("grid", "") " network net = bus { } array x[4], y[2] over net { memory reg { size = 1kB; } " UNIT " } }\n"
    "workload half(F = 1) : i8 { rank m = 4, n = 4, f = F; input S[m, n, f]; output X[m, f] += S[m, n, f] where n <= m; }\n"
    "workload halves : i8 { rank k = 2, m = 4, n = 4; input S[k, m, n]; output X[m] += S[k, m, n] where n <= m;\n"
    "  output Y[m, n] += S[k, m, n]; }\n"

    /* Points (m, n) with n <= m, on instances (m, n) of a quarter. The first quarter has those of (0, 0), (1, 0), (1, 1), the
       second one nothing, the third one all four, the last one all but (0, 1), where the sum of row 2 ends. */
    "mapping quarters for half on grid { keep S, X in dram; temporal m:2, n:2; spatial m/2 on x, n/2 on y; keep S, X in reg;\n"
    "  temporal f; }\n"
    /* With n = 0, 1 at once all rows begin, but (0, 1); with n = 2, 3 those of rows 0, 1 and (2, 1) end. Of the
       second plane `f` everything enters: no element of the first one is in both. */
    "mapping planes for half(F = 2) on grid { keep S, X in dram; temporal f, n:2; spatial m/4 on x, n/2 on y; keep S, X in reg; }\n"
    /* the keep starts anew for the second `k`, when `dram` has all sums: one instance of each row takes it */
    "mapping anew for halves on grid { keep S, X, Y in dram; temporal k;\n"
    "  fuse { X { temporal n:2; spatial m/4 on x, n/2 on y; keep S, X in reg; } Y { temporal m, n; } } }\n",
};

typedef struct {
    const char *name;            /* a mapping */
    const char *memory, *tensor;
    int serve, drain, accumulate, fill, update; /* of all instances */
} state_row;

static const state_row counts[] = {
    { "apart", "dram", "K", 64, 0, 0, 0, 8 },   /* `=` replaces 8 elements without reading them */
    { "inside", "dram", "K", 64, 0, 0, 0, 8 },  /* fills take the old values; the made rows alone come back */
    { "inside", "sram", "K", 64, 8, 0, 64, 8 }, /* also what is replaced enters: it has a value */
    { "sums", "dram", "W", 4, 0, 0, 0, 4 },
    { "sums", "sram", "W", 0, 4, 16, 4, 16 },   /* every update finds a value */
    { "steps", "dram", "W", 4, 0, 0, 0, 4 },
    { "first", "dram", "K", 32, 0, 0, 0, 4 },
    { "first", "sram", "K", 32, 4, 0, 32, 4 },
    { "replaced", "dram", "W", 0, 0, 16, 0, 20 }, /* 4 updates replace, 16 add to what they read */
    { "quarters", "dram", "X", 0, 0, 3, 0, 7 },       /* 3 + 4 sums of an instance, the first ones of 4 rows find no value */
    { "quarters", "reg", "X", 0, 7, 3, 0, 10 },      /* 10 points */
    { "planes", "dram", "X", 0, 0, 2 * 3, 0, 2 * 7 },
    { "planes", "reg", "X", 0, 2 * 7, 2 * 3, 0, 2 * 10 },
    { "anew", "dram", "X", 4, 0, 14 - 4 - 4, 0, 2 * 7 }, /* 4 sums are new, 4 are taken */
    { "anew", "reg", "X", 0, 14, 20 - (14 - 4), 4, 20 },
};

/* ---- links ------------------------------------------------------------------------------------------------------- */

static const char *const ragged[] = {
    "dfl 1;\n"
    "workload again(N = 21, J = 6) : i8 { rank k = 2, n = N, j = J; input A[k, n], B[j]; output Z[k, n] += A[k, n] * B[j]; }\n"
    "workload twice : i8 { rank n = 3, m = 3, j = 5; input A[n, j], C[m, j]; output Z[n, m] += A[n, j] * C[m, j]; }\n"
    CHIP("grid", "") " network net = mesh { } array row[4], col[3] over net { memory reg { size = 1kB; } " UNIT " } }\n"
    CHIP("cast", "") " network net = mesh { multicast = row; } array row[4], col[3] over net { memory reg { size = 1kB; } " UNIT
    " } }\n",

    /* 16 and 5 of `n`: rows of 4, 4, 4, 4 and of 4, 1, 0, 0; columns of 2, 2, 0 or of 1, 0, 0. In both iterations of `n` (0, 0),
       (0, 1) and (1, 0) work and hold B; the other five of columns 0 and 1 get it again for the second `k` */
    "mapping idle for again on grid { keep A, B, Z in dram; temporal k, n:16; spatial n/4 on row; spatial n/3 on col;\n"
    "  keep A, B, Z in reg; temporal n, j; }\n"
    /* 16 and 12 of `n`: rows of 8, 8 and of 8, 4. (1, 1) has nothing of the 12, and gets B twice */
    "mapping part for again(N = 28, J = 10) on grid { keep A, B, Z in dram; temporal k, n:16; spatial n/2 on row;\n"
    "  spatial n/2 on col; keep A, B, Z in reg; temporal n, j; }\n"
    "mapping idle_cast = idle on cast;\n"
    "mapping two_ranks for twice on grid { keep A, C, Z in dram; spatial n/2 on row; spatial m/2 on row;\n"
    "  keep A, C, Z in reg; temporal n, m, j; }\n",
};

typedef struct {
    const char *name;  /* a mapping */
    const char *class; /* of links */
    int elements;
} link_row;

static const link_row links[] = {
    { "idle", "row.down", 2 * (12 + 1) + 6 * (1 + 2 + 4 + 4) },   /* A and B of rows 1 to 3 */
    { "idle", "col.down", 2 * 2 + 6 * 2 },                        /* of rows 1 to 3; the link of row 0 carries 2 * 4 + 6 */
    { "idle", "row.up", 2 * (6 + 1) },                            /* of column 0: results go along the rows first */
    { "idle", "col.up", 2 * (8 + 2) },                            /* of column 1, all rows */
    { "part", "col.down", 2 * 4 + 10 * 2 },                       /* row 1; the link of row 0 carries 2 * 8 + 10 */
    { "idle_cast", "row.down", 2 * (12 + 1) + 6 * (2 + 2) },      /* in each column at both `k` for some row */
    { "idle_cast", "col.down", 2 * 2 + 6 * 2 },
    { "two_ranks", "row.down", 5 * (2 + 1 + 1) + 5 * (1 + 2 + 1) }, /* parts of 2 and 1 of both; all but those of (0, 0) */
    { "two_ranks", "row.up", 9 - 4 },
};

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* The result of one mapping of a text. Free `*out` behind it. */
static const dfl_result *evaluate(const char *const *parts, size_t n, const char *mapping, analysed **out)
{
    char *text = calloc(1, 1 << 15), *end = text;
    const dfl_result *result = NULL;

    assert_non_null(text);
    for (size_t i = 0; i < n; i++) {
        assert_true((size_t)(end - text) + strlen(parts[i]) < 1 << 15);
        end = stpcpy(end, parts[i]);
    }
    analysed *a = *out = analyse(text);
    free(text);
    for (uint32_t i = 0; i < a->program->n_designs; i++) {
        const dfl_mapping *m = a->program->designs[i].mapping;
        if (strcmp(dfl_sym_text(a->names, m->name), mapping) != 0)
            continue;
        const dfl_paths *paths = dfl_paths_resolve(a->arena, a->sink, a->names, m);
        result = paths ? dfl_model_eval(a->arena, a->sink, a->names, paths) : NULL;
    }
    if (result == NULL)
        print_message("%s: %s\n", mapping, analysed_message(a) ? analysed_message(a) : "no such mapping");
    return result;
}

static void takes(void **state)
{
    const time_row *row = *state;
    analysed *a;
    const dfl_result *r = evaluate(timed, sizeof timed / sizeof timed[0], row->name, &a);

    assert_non_null(r);
    assert_close(r->seconds * 1e9, row->ns, 1e-9);
    analysed_free(a);
}

static void moves(void **state)
{
    const state_row *row = *state;
    analysed *a;
    const dfl_result *r = evaluate(states, sizeof states / sizeof states[0], row->name, &a);
    bool found = false;

    assert_non_null(r);
    for (uint32_t i = 0; i < r->n_traffic; i++) {
        const dfl_traffic *t = &r->traffic[i];
        if (strcmp(dfl_sym_text(a->names, r->mapping->system->memories[t->memory].name), row->memory) != 0 ||
            strcmp(dfl_sym_text(a->names, r->mapping->workload->tensors[t->tensor].name), row->tensor) != 0)
            continue;
        const dfl_counts *both[] = { &t->counts, &t->first }; /* equal, of one instance */
        for (int k = 0; k < (dfl_memory_is_in_array(r->mapping->system, t->memory) ? 1 : 2); k++) {
            assert_int_equal((int)both[k]->serve, row->serve);
            assert_int_equal((int)both[k]->drain, row->drain);
            assert_int_equal((int)both[k]->accumulate, row->accumulate);
            assert_int_equal((int)both[k]->fill, row->fill);
            assert_int_equal((int)both[k]->update, row->update);
        }
        found = true;
    }
    assert_true(found);
    analysed_free(a);
}

static void carries(void **state)
{
    const link_row *row = *state;
    analysed *a;
    const dfl_result *r = evaluate(ragged, sizeof ragged / sizeof ragged[0], row->name, &a);
    bool found = false;

    assert_non_null(r);
    for (uint32_t k = 0; k < r->networks[0].n_classes; k++) {
        const dfl_link_class *class = &r->networks[0].classes[k];
        if (strcmp(class->name, row->class) != 0)
            continue;
        assert_int_equal((int)class->bits, 8 * row->elements);
        assert_false(class->rough);
        found = true;
    }
    assert_true(found);
    analysed_free(a);
}

int main(void)
{
    return CHECK_TABLE("model.time.by_hand", times, takes) + CHECK_TABLE("model.states.by_hand", counts, moves) +
           CHECK_TABLE("model.links.by_hand", links, carries);
}
