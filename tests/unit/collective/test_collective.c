/* What an exchange costs: one row per algorithm and network, computed by hand. */
#include "tests/harness/check.h"

#include "collective/pieces.h"
#include "tests/unit/collective/chips.h"

typedef struct {
    const char *name;
    dfl_topology_kind nets[CHIP_NETWORKS];
    uint32_t n_nets;
    bool port;                 /* the innermost axis has ports of its own on the first network */
    chip_axis axes[CHIP_AXES];
    uint32_t algorithms;
    dfl_collective_kind kind;
    double bits;
    dfl_group_part parts[CHIP_AXES];
    uint32_t n_parts, chunks;
    double seconds;
    dfl_algorithm algorithm;
    double link;               /* time that the busiest link needs; 0 = not looked at */
    bool half;                 /* networks reach half of their bandwidth */
} cost_case;

#define ONLY(A) (1u << DFL_ALGORITHM_##A)

/* Bandwidth 100 bit/s, latency of a link 1 s, overhead 10 s. Fat trees have two levels, and level 2 has half of the bandwidth. A
   dragonfly has two groups of two routers with one global link each. */
static const cost_case cases[] = {
    { "ring, one ring: 10 + 6 (10 + 1 + 1)", { DFL_TOPOLOGY_RING }, 1, false, { { 4, 0 } }, ONLY(RING),
      DFL_COLLECTIVE_ALL_REDUCE, 400, { { 0, 1, 4, 0 } }, 1, 1, 82, DFL_ALGORITHM_RING, 6, false },
    { "ring, two rings: 10 + 6 (10 + 1 + 1/2)", { DFL_TOPOLOGY_RING }, 1, false, { { 4, 0 } }, ONLY(TWO_RINGS),
      DFL_COLLECTIVE_ALL_REDUCE, 400, { { 0, 1, 4, 0 } }, 1, 1, 79, DFL_ALGORITHM_TWO_RINGS, 0, false },
    { "ring, direct, three messages on a link ahead: 10 + 2 (10 + 2 + 3)", { DFL_TOPOLOGY_RING }, 1, false, { { 4, 0 } },
      ONLY(DIRECT), DFL_COLLECTIVE_ALL_REDUCE, 400, { { 0, 1, 4, 0 } }, 1, 1, 40, DFL_ALGORITHM_DIRECT, 0, false },
    { "ring, all-to-all by 6 steps: 10 + 6 (10 + 1 + 1)", { DFL_TOPOLOGY_RING }, 1, false, { { 4, 0 } }, ONLY(RING),
      DFL_COLLECTIVE_ALL_TO_ALL, 400, { { 0, 1, 4, 0 } }, 1, 1, 82, DFL_ALGORITHM_RING, 0, false },
    { "switch, halving-doubling: 10 + 2 (3 (10 + 2) + 7)", { DFL_TOPOLOGY_SWITCH }, 1, false, { { 8, 0 } },
      ONLY(HALVING_DOUBLING), DFL_COLLECTIVE_ALL_REDUCE, 800, { { 0, 1, 8, 0 } }, 1, 1, 96,
      DFL_ALGORITHM_HALVING_DOUBLING, 14, false },
    { "switch, double tree, two children share a port: 10 + 4 (10 + 2) + 2 (4 + 2)", { DFL_TOPOLOGY_SWITCH }, 1, false,
      { { 4, 0 } }, ONLY(DOUBLE_TREE), DFL_COLLECTIVE_ALL_REDUCE, 400, { { 0, 1, 4, 0 } }, 1, 1, 70,
      DFL_ALGORITHM_DOUBLE_TREE, 0, false },
    { "switch, direct: 10 + (10 + 2 + 7)", { DFL_TOPOLOGY_SWITCH }, 1, false, { { 8, 0 } }, ONLY(DIRECT),
      DFL_COLLECTIVE_REDUCE_SCATTER, 800, { { 0, 1, 8, 0 } }, 1, 1, 29, DFL_ALGORITHM_DIRECT, 0, false },
    { "switch, binomial tree of 5: 10 + 3 (10 + 2 + 4)", { DFL_TOPOLOGY_SWITCH }, 1, false, { { 5, 0 } }, ONLY(TREE),
      DFL_COLLECTIVE_BROADCAST, 400, { { 0, 1, 5, 0 } }, 1, 1, 58, DFL_ALGORITHM_TREE, 0, false },
    { "fully connected, chain: 10 + 3 (10 + 1 + 4)", { DFL_TOPOLOGY_FULLY_CONNECTED }, 1, false, { { 4, 0 } }, ONLY(CHAIN),
      DFL_COLLECTIVE_BROADCAST, 400, { { 0, 1, 4, 0 } }, 1, 1, 55, DFL_ALGORITHM_CHAIN, 0, false },
    { "chain of 4 pieces: 10 + (3 + 3) (10 + 1 + 1)", { DFL_TOPOLOGY_FULLY_CONNECTED }, 1, false, { { 4, 0 } }, ONLY(CHAIN),
      DFL_COLLECTIVE_BROADCAST, 400, { { 0, 1, 4, 0 } }, 1, 4, 82, DFL_ALGORITHM_CHAIN, 0, false },
    { "ring, 2 pieces: 2 (10 + 6 (10 + 1 + 1/2))", { DFL_TOPOLOGY_RING }, 1, false, { { 4, 0 } }, ONLY(RING),
      DFL_COLLECTIVE_ALL_REDUCE, 400, { { 0, 1, 4, 0 } }, 1, 2, 158, DFL_ALGORITHM_RING, 6, false },
    { "torus, per dimension: 2 (10 + 3 (10 + 1 + 4)) + 10 + 6 (10 + 1 + 1)", { DFL_TOPOLOGY_TORUS }, 1, false,
      { { 4, 0 }, { 4, 0 } }, ONLY(PER_DIMENSION) | ONLY(RING), DFL_COLLECTIVE_ALL_REDUCE, 1600,
      { { 0, 1, 4, 0 }, { 1, 1, 4, 0 } }, 2, 1, 192, DFL_ALGORITHM_PER_DIMENSION, 0, false },
    { "torus, rotated: 10 + 2 (3 (10 + 1 + 2) + 3 (10 + 1 + 1/2))", { DFL_TOPOLOGY_TORUS }, 1, false,
      { { 4, 0 }, { 4, 0 } }, ONLY(ROTATED) | ONLY(RING), DFL_COLLECTIVE_ALL_REDUCE, 1600, { { 0, 1, 4, 0 }, { 1, 1, 4, 0 } }, 2,
      1, 157, DFL_ALGORITHM_ROTATED, 0, false },
    { "mesh, a cycle of neighbours: 10 + 7 (10 + 1 + 1)", { DFL_TOPOLOGY_MESH }, 1, false, { { 2, 0 }, { 4, 0 } }, ONLY(RING),
      DFL_COLLECTIVE_ALL_GATHER, 800, { { 0, 1, 2, 0 }, { 1, 1, 4, 0 } }, 2, 1, 94, DFL_ALGORITHM_RING, 0, false },
    { "fat tree, message over level 2: 10 + (10 + 4 + 4)", { DFL_TOPOLOGY_FAT_TREE }, 1, false, { { 4, 0 } }, 0,
      DFL_COLLECTIVE_POINT_TO_POINT, 400, { { 0, 1, 4, 0 } }, 1, 1, 28, DFL_ALGORITHM_MESSAGE, 0, false },
    { "fat tree, two strided groups share level 2: 10 + 2 (10 + 4 + 4)", { DFL_TOPOLOGY_FAT_TREE }, 1, false, { { 4, 0 } },
      ONLY(RING), DFL_COLLECTIVE_ALL_REDUCE, 400, { { 0, 2, 2, 0 } }, 1, 1, 46, DFL_ALGORITHM_RING, 0, false },
    { "fat tree, first and last of four, 2 messages on 3 / 2 links: 10 + 2 (10 + 4 + 8 / 3)", { DFL_TOPOLOGY_FAT_TREE }, 1, false,
      { { 8, 0 } }, ONLY(RING), DFL_COLLECTIVE_ALL_REDUCE, 400, { { 0, 3, 2, 4 } }, 1, 1, 130.0 / 3,
      DFL_ALGORITHM_RING, 16.0 / 3, false },
    { "dragonfly, direct: 10 + (10 + 4 + 3)", { DFL_TOPOLOGY_DRAGONFLY }, 1, false, { { 4, 0 } }, ONLY(DIRECT),
      DFL_COLLECTIVE_ALL_GATHER, 400, { { 0, 1, 4, 0 } }, 1, 1, 27, DFL_ALGORITHM_DIRECT, 0, false },
    { "nodes share a port: 10 + 2 (10 + 2 + 4 x 2)", { DFL_TOPOLOGY_SWITCH, DFL_TOPOLOGY_SWITCH }, 2, false,
      { { 2, 0 }, { 4, 1 } }, ONLY(RING), DFL_COLLECTIVE_ALL_REDUCE, 400, { { 0, 1, 2, 0 } }, 1, 1, 50,
      DFL_ALGORITHM_RING, 0, false },
    { "a port for each chip: 10 + 2 (10 + 2 + 2)", { DFL_TOPOLOGY_SWITCH, DFL_TOPOLOGY_SWITCH }, 2, true,
      { { 2, 0 }, { 4, 1 } }, ONLY(RING), DFL_COLLECTIVE_ALL_REDUCE, 400, { { 0, 1, 2, 0 } }, 1, 1, 38,
      DFL_ALGORITHM_RING, 0, false },
    { "inside of a node: 10 + 6 (10 + 2 + 1)", { DFL_TOPOLOGY_SWITCH, DFL_TOPOLOGY_SWITCH }, 2, true,
      { { 2, 0 }, { 4, 1 } }, ONLY(RING), DFL_COLLECTIVE_ALL_REDUCE, 400, { { 1, 1, 4, 0 } }, 1, 1, 88,
      DFL_ALGORITHM_RING, 0, false },
    { "inner, outer, inner: 2 (10 + 3 (10 + 2 + 1)) + 10 + 2 (10 + 2 + 1/2)", { DFL_TOPOLOGY_SWITCH, DFL_TOPOLOGY_SWITCH }, 2,
      true, { { 2, 0 }, { 4, 1 } }, ONLY(RING), DFL_COLLECTIVE_ALL_REDUCE, 400, { { 0, 1, 2, 0 }, { 1, 1, 4, 0 } }, 2, 1, 133,
      DFL_ALGORITHM_PER_DIMENSION, 0, false },
    { "half of the bandwidth: 10 + 6 (10 + 1 + 2)", { DFL_TOPOLOGY_RING }, 1, false, { { 4, 0 } }, ONLY(RING),
      DFL_COLLECTIVE_ALL_REDUCE, 400, { { 0, 1, 4, 0 } }, 1, 1, 88, DFL_ALGORITHM_RING, 12, true },
    { "fat tree, below one switch: 10 + 2 (10 + 2 + 2)", { DFL_TOPOLOGY_FAT_TREE }, 1, false, { { 4, 0 } }, ONLY(RING),
      DFL_COLLECTIVE_ALL_REDUCE, 400, { { 0, 1, 2, 0 } }, 1, 1, 38, DFL_ALGORITHM_RING, 4, false },
    { "dragonfly, half of the messages over each of two ways: 10 + (10 + 4 + 8)", { DFL_TOPOLOGY_DRAGONFLY }, 1, false,
      { { 8, 0 } }, ONLY(DIRECT), DFL_COLLECTIVE_ALL_GATHER, 800, { { 0, 1, 8, 0 } }, 1, 1, 32, DFL_ALGORITHM_DIRECT, 8, false },
    { "outer all-gather first, of a fourth: 10 + (10 + 2 + 1/2) + 10 + 3 (10 + 2 + 1)",
      { DFL_TOPOLOGY_SWITCH, DFL_TOPOLOGY_SWITCH }, 2, true, { { 2, 0 }, { 4, 1 } }, ONLY(RING), DFL_COLLECTIVE_ALL_GATHER, 400,
      { { 0, 1, 2, 0 }, { 1, 1, 4, 0 } }, 2, 1, 71.5, DFL_ALGORITHM_PER_DIMENSION, 3, false },
    { "three networks, two chips share a port of the second: 2 (10 + 12 + 2) + 2 (10 + 12 + 1 x 2) + 10 + 2 (12 + 1/2)",
      { DFL_TOPOLOGY_SWITCH, DFL_TOPOLOGY_SWITCH, DFL_TOPOLOGY_SWITCH }, 3, true, { { 2, 0 }, { 2, 1 }, { 2, 2 } }, ONLY(RING),
      DFL_COLLECTIVE_ALL_REDUCE, 400, { { 0, 1, 2, 0 }, { 1, 1, 2, 0 }, { 2, 1, 2, 0 } }, 3, 1, 131,
      DFL_ALGORITHM_PER_DIMENSION, 4, false },
    { "broadcast, one chip of a node sends: 10 + (12 + 4) + 10 + 2 (12 + 4)", { DFL_TOPOLOGY_SWITCH, DFL_TOPOLOGY_SWITCH }, 2,
      false, { { 2, 0 }, { 4, 1 } }, ONLY(TREE), DFL_COLLECTIVE_BROADCAST, 400, { { 0, 1, 2, 0 }, { 1, 1, 4, 0 } }, 2, 1, 68,
      DFL_ALGORITHM_PER_DIMENSION, 8, false },
    { "one rank costs nothing", { DFL_TOPOLOGY_RING }, 1, false, { { 4, 0 } }, 0, DFL_COLLECTIVE_ALL_REDUCE, 400,
      { { 0, 1, 1, 0 } }, 1, 1, 0, DFL_ALGORITHM_MESSAGE, 0, false },
};

static chip_plan plan_chips(const cost_case *c)
{
    static const double narrowing[] = { 1, 2 }, none = 0, half = 0.5;
    static const dfl_efficiency efficiency = { .n = 1, .at = &none, .share = &half };
    chip_plan plan = { .n_networks = c->n_nets };
    uint32_t n_axes = 0;

    for (uint32_t a = 0; a < CHIP_AXES && c->axes[a].size > 0; a++)
        plan.axes[n_axes++] = c->axes[a];
    for (uint32_t i = 0; i < c->n_nets; i++)
        plan.networks[i] = (dfl_network){
            .bandwidth = 100, .latency = 1, .efficiency = c->half ? &efficiency : NULL,
            .port = c->port && i == 0 ? n_axes - 1 : DFL_NONE,
            .topology = { .kind = c->nets[i], .levels = 2, .oversubscription = narrowing, .groups = 2, .routers = 2, .global = 1,
                          .overhead = 10, .algorithms = c->algorithms },
        };
    return plan;
}

static void costs(void **state)
{
    const cost_case *c = *state;
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_intern *names = dfl_intern_new(arena);
    dfl_sink *sink = dfl_sink_new(arena, NULL);
    const dfl_collective_options options = { .contention_none = false, .chunks = c->chunks };
    const chip_plan plan = plan_chips(c);
    chip_system s;
    dfl_collective_cost got;
    dfl_collective what;
    double busiest = 0;

    make_chips(&plan, &s);
    what = (dfl_collective){ .kind = c->kind, .bits = c->bits, .parts = c->parts, .n_parts = c->n_parts,
                             .element = s.system.n_elements - 1, .memory_rate = 0 };
    assert_true(dfl_collective_find(arena, sink, names, &s.system, (dfl_span){ 0 }, &what, &options, &got));
    assert_close(got.seconds, c->seconds, 1e-12);
    assert_int_equal(got.algorithm, c->algorithm);
    for (uint32_t i = 0; i < got.n_links; i++) {
        assert_true(got.links[i].seconds <= got.seconds);
        assert_close(got.links[i].largest_bits, got.links[i].seconds * (c->half ? 50 : 100), 1e-12);
        busiest = got.links[i].seconds > busiest ? got.links[i].seconds : busiest;
    }
    if (c->link > 0)
        assert_close(busiest, c->link, 1e-12);
    dfl_arena_free(arena);
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    dfl_topology_kind kind;
    int64_t ports, stride, count;
    uint32_t algorithms;
    double first;              /* first point of the efficiency (in bits) */
    const char *message;       /* NULL: no report */
    uint32_t chunks;
} refusal_case;

static const refusal_case refusals[] = {
    { "no network between chips", DFL_TOPOLOGY_NONE, 4, 1, 4, 0, 0, "an exchange along `` has no network between chips", 0 },
    { "six ranks by halving-doubling", DFL_TOPOLOGY_SWITCH, 6, 1, 6, ONLY(HALVING_DOUBLING), 0,
      "no algorithm of network `` is known for all_reduce of 6 ranks", 0 },
    { "a part of a ring, too large to follow", DFL_TOPOLOGY_RING, 80000, 1, 50000, ONLY(RING), 0,
      "the time of all_reduce of 50000 ranks over network `` by ring is unknown, and it may be the least", 0 },
    { "too many chunks", DFL_TOPOLOGY_RING, 4, 1, 4, 0, 0, "a collective in 65537 chunks; at most 65536 are evaluated", 65537 },
    { "a smaller part of a ring", DFL_TOPOLOGY_RING, 80000, 1, 500, ONLY(RING), 0, NULL, 0 },
    { "fewer bits than the first point", DFL_TOPOLOGY_SWITCH, 4, 1, 4, 0, 401,
      "all_reduce of 400 bit over ``: its efficiency starts at 401 bit", 0 },
    { "a fat tree of too many levels", DFL_TOPOLOGY_FAT_TREE, 4, 1, 4, 0, 0,
      "the cost of an exchange over network `` is unknown: a fat tree has 1 to 16 levels", 0 },
    { "a dragonfly with 5 ports on 4 routers", DFL_TOPOLOGY_DRAGONFLY, 5, 1, 5, 0, 0,
      "the cost of an exchange over network `` is unknown: its routers do not have equally many ports", 0 },
};

static void refuses(void **state)
{
    const refusal_case *c = *state;
    const double share = 1;
    const dfl_efficiency efficiency = { .n = 1, .at = &c->first, .share = &share };
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_intern *names = dfl_intern_new(arena);
    dfl_sink *sink = dfl_sink_new(arena, NULL);
    const dfl_group_part part = { 0, c->stride, c->count, 0 };
    const dfl_collective what = { .kind = DFL_COLLECTIVE_ALL_REDUCE, .bits = 400, .parts = &part, .n_parts = 1, .element = 1 };
    const dfl_collective_options options = { .contention_none = false, .chunks = c->chunks };
    const chip_plan plan = {
        .networks = { { .bandwidth = 100, .latency = 1, .port = DFL_NONE, .efficiency = &efficiency,
                        .topology = { .kind = c->kind, .levels = 17, .groups = 2, .routers = 2, .global = 1,
                                      .algorithms = c->algorithms } } },
        .n_networks = 1, .axes = { { c->ports, 0 } },
    };
    dfl_collective_cost got;
    chip_system s;

    make_chips(&plan, &s);
    assert_int_equal(dfl_collective_find(arena, sink, names, &s.system, (dfl_span){ 0 }, &what, &options, &got),
                     c->message == NULL);
    assert_int_equal(dfl_sink_count(sink), c->message != NULL);
    if (c->message != NULL)
        assert_string_equal(dfl_sink_at(sink, 0)->message, c->message);
    dfl_arena_free(arena);
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

typedef struct {
    const char *name;
    dfl_phase_time phases[3];
    uint32_t n_phases;
    int64_t pieces;
    double end;
} pieces_case;

static const pieces_case pieces[] = {
    { "one piece: the sum", { { 2, 1 }, { 1, 2 }, { 3, 4 } }, 3, 1, 6 },
    { "engines of their own: the sum, and the longest for each further piece", { { 2, 1 }, { 1, 2 }, { 3, 4 } }, 3, 4, 15 },
    { "there and back over one engine: 2 + 2, then back 2 + 2", { { 2, 1 }, { 1, 2 }, { 2, 1 } }, 3, 2, 8 },
    { "a phase that occupies both engines", { { 2, 1 }, { 1, 3 } }, 2, 2, 6 },
};

static void ends(void **state)
{
    const pieces_case *c = *state;
    dfl_arena *arena = dfl_arena_new(NULL);

    assert_close(dfl_pieces_end(arena, c->phases, c->n_phases, c->pieces), c->end, 1e-12);
    dfl_arena_free(arena);
}

int main(void)
{
    int failed = CHECK_TABLE("collective.costs", cases, costs);

    failed += CHECK_TABLE("collective.refusals", refusals, refuses);
    return failed + CHECK_TABLE("collective.pieces", pieces, ends);
}
