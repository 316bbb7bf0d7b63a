/* What an exchange costs: one row per algorithm and network, computed by hand. */
#include "tests/harness/check.h"

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
} cost_case;

#define ONLY(A) (1u << DFL_ALGORITHM_##A)

/* Bandwidth 100 bit/s, latency of a link 1 s, overhead 10 s. Fat trees have two levels, and level 2 has half of the bandwidth. A
   dragonfly has two groups of two routers with one global link each. */
static const cost_case cases[] = {
    { "ring, one ring: 10 + 6 (10 + 1 + 1)", { DFL_TOPOLOGY_RING }, 1, false, { { 4, 0 } }, ONLY(RING),
      DFL_COLLECTIVE_ALL_REDUCE, 400, { { 0, 1, 4 } }, 1, 1, 82, DFL_ALGORITHM_RING },
    { "ring, two rings: 10 + 6 (10 + 1 + 1/2)", { DFL_TOPOLOGY_RING }, 1, false, { { 4, 0 } }, ONLY(TWO_RINGS),
      DFL_COLLECTIVE_ALL_REDUCE, 400, { { 0, 1, 4 } }, 1, 1, 79, DFL_ALGORITHM_TWO_RINGS },
    { "ring, direct, three messages on a link ahead: 10 + 2 (10 + 2 + 3)", { DFL_TOPOLOGY_RING }, 1, false, { { 4, 0 } },
      ONLY(DIRECT), DFL_COLLECTIVE_ALL_REDUCE, 400, { { 0, 1, 4 } }, 1, 1, 40, DFL_ALGORITHM_DIRECT },
    { "ring, all-to-all by 6 steps: 10 + 6 (10 + 1 + 1)", { DFL_TOPOLOGY_RING }, 1, false, { { 4, 0 } }, ONLY(RING),
      DFL_COLLECTIVE_ALL_TO_ALL, 400, { { 0, 1, 4 } }, 1, 1, 82, DFL_ALGORITHM_RING },
    { "switch, halving-doubling: 10 + 2 (3 (10 + 2) + 7)", { DFL_TOPOLOGY_SWITCH }, 1, false, { { 8, 0 } },
      ONLY(HALVING_DOUBLING), DFL_COLLECTIVE_ALL_REDUCE, 800, { { 0, 1, 8 } }, 1, 1, 96, DFL_ALGORITHM_HALVING_DOUBLING },
    { "switch, double tree, two children share a port: 10 + 4 (10 + 2) + 2 (4 + 2)", { DFL_TOPOLOGY_SWITCH }, 1, false,
      { { 4, 0 } }, ONLY(DOUBLE_TREE), DFL_COLLECTIVE_ALL_REDUCE, 400, { { 0, 1, 4 } }, 1, 1, 70, DFL_ALGORITHM_DOUBLE_TREE },
    { "switch, direct: 10 + (10 + 2 + 7)", { DFL_TOPOLOGY_SWITCH }, 1, false, { { 8, 0 } }, ONLY(DIRECT),
      DFL_COLLECTIVE_REDUCE_SCATTER, 800, { { 0, 1, 8 } }, 1, 1, 29, DFL_ALGORITHM_DIRECT },
    { "switch, binomial tree of 5: 10 + 3 (10 + 2 + 4)", { DFL_TOPOLOGY_SWITCH }, 1, false, { { 5, 0 } }, ONLY(TREE),
      DFL_COLLECTIVE_BROADCAST, 400, { { 0, 1, 5 } }, 1, 1, 58, DFL_ALGORITHM_TREE },
    { "fully connected, chain: 10 + 3 (10 + 1 + 4)", { DFL_TOPOLOGY_FULLY_CONNECTED }, 1, false, { { 4, 0 } }, ONLY(CHAIN),
      DFL_COLLECTIVE_BROADCAST, 400, { { 0, 1, 4 } }, 1, 1, 55, DFL_ALGORITHM_CHAIN },
    { "chain of 4 pieces: 10 + (3 + 3) (10 + 1 + 1)", { DFL_TOPOLOGY_FULLY_CONNECTED }, 1, false, { { 4, 0 } }, ONLY(CHAIN),
      DFL_COLLECTIVE_BROADCAST, 400, { { 0, 1, 4 } }, 1, 4, 82, DFL_ALGORITHM_CHAIN },
    { "ring, 2 pieces: 2 (10 + 6 (10 + 1 + 1/2))", { DFL_TOPOLOGY_RING }, 1, false, { { 4, 0 } }, ONLY(RING),
      DFL_COLLECTIVE_ALL_REDUCE, 400, { { 0, 1, 4 } }, 1, 2, 158, DFL_ALGORITHM_RING },
    { "torus, per dimension: 2 (10 + 3 (10 + 1 + 4)) + 10 + 6 (10 + 1 + 1)", { DFL_TOPOLOGY_TORUS }, 1, false,
      { { 4, 0 }, { 4, 0 } }, ONLY(PER_DIMENSION) | ONLY(RING), DFL_COLLECTIVE_ALL_REDUCE, 1600, { { 0, 1, 4 }, { 1, 1, 4 } }, 2,
      1, 192, DFL_ALGORITHM_PER_DIMENSION },
    { "torus, rotated: 10 + 2 (3 (10 + 1 + 2) + 3 (10 + 1 + 1/2))", { DFL_TOPOLOGY_TORUS }, 1, false,
      { { 4, 0 }, { 4, 0 } }, ONLY(ROTATED) | ONLY(RING), DFL_COLLECTIVE_ALL_REDUCE, 1600, { { 0, 1, 4 }, { 1, 1, 4 } }, 2,
      1, 157, DFL_ALGORITHM_ROTATED },
    { "mesh, a cycle of neighbours: 10 + 7 (10 + 1 + 1)", { DFL_TOPOLOGY_MESH }, 1, false, { { 2, 0 }, { 4, 0 } }, ONLY(RING),
      DFL_COLLECTIVE_ALL_GATHER, 800, { { 0, 1, 2 }, { 1, 1, 4 } }, 2, 1, 94, DFL_ALGORITHM_RING },
    { "fat tree, message over level 2: 10 + (10 + 4 + 4)", { DFL_TOPOLOGY_FAT_TREE }, 1, false, { { 4, 0 } }, 0,
      DFL_COLLECTIVE_POINT_TO_POINT, 400, { { 0, 1, 4 } }, 1, 1, 28, DFL_ALGORITHM_MESSAGE },
    { "fat tree, two strided groups share level 2: 10 + 2 (10 + 4 + 4)", { DFL_TOPOLOGY_FAT_TREE }, 1, false, { { 4, 0 } },
      ONLY(RING), DFL_COLLECTIVE_ALL_REDUCE, 400, { { 0, 2, 2 } }, 1, 1, 46, DFL_ALGORITHM_RING },
    { "dragonfly, direct: 10 + (10 + 4 + 3)", { DFL_TOPOLOGY_DRAGONFLY }, 1, false, { { 4, 0 } }, ONLY(DIRECT),
      DFL_COLLECTIVE_ALL_GATHER, 400, { { 0, 1, 4 } }, 1, 1, 27, DFL_ALGORITHM_DIRECT },
    { "nodes share a port: 10 + 2 (10 + 2 + 4 x 2)", { DFL_TOPOLOGY_SWITCH, DFL_TOPOLOGY_SWITCH }, 2, false,
      { { 2, 0 }, { 4, 1 } }, ONLY(RING), DFL_COLLECTIVE_ALL_REDUCE, 400, { { 0, 1, 2 } }, 1, 1, 50, DFL_ALGORITHM_RING },
    { "a port for each chip: 10 + 2 (10 + 2 + 2)", { DFL_TOPOLOGY_SWITCH, DFL_TOPOLOGY_SWITCH }, 2, true,
      { { 2, 0 }, { 4, 1 } }, ONLY(RING), DFL_COLLECTIVE_ALL_REDUCE, 400, { { 0, 1, 2 } }, 1, 1, 38, DFL_ALGORITHM_RING },
    { "inside of a node: 10 + 6 (10 + 2 + 1)", { DFL_TOPOLOGY_SWITCH, DFL_TOPOLOGY_SWITCH }, 2, true,
      { { 2, 0 }, { 4, 1 } }, ONLY(RING), DFL_COLLECTIVE_ALL_REDUCE, 400, { { 1, 1, 4 } }, 1, 1, 88, DFL_ALGORITHM_RING },
    { "inner, outer, inner: 2 (10 + 3 (10 + 2 + 1)) + 10 + 2 (10 + 2 + 1/2)", { DFL_TOPOLOGY_SWITCH, DFL_TOPOLOGY_SWITCH }, 2,
      true, { { 2, 0 }, { 4, 1 } }, ONLY(RING), DFL_COLLECTIVE_ALL_REDUCE, 400, { { 0, 1, 2 }, { 1, 1, 4 } }, 2, 1, 133,
      DFL_ALGORITHM_PER_DIMENSION },
    { "one rank costs nothing", { DFL_TOPOLOGY_RING }, 1, false, { { 4, 0 } }, 0, DFL_COLLECTIVE_ALL_REDUCE, 400, { { 0, 1, 1 } },
      1, 1, 0, DFL_ALGORITHM_MESSAGE },
};

static chip_plan plan_chips(const cost_case *c)
{
    static const double narrowing[] = { 1, 2 };
    chip_plan plan = { .n_networks = c->n_nets };
    uint32_t n_axes = 0;

    for (uint32_t a = 0; a < CHIP_AXES && c->axes[a].size > 0; a++)
        plan.axes[n_axes++] = c->axes[a];
    for (uint32_t i = 0; i < c->n_nets; i++)
        plan.networks[i] = (dfl_network){
            .bandwidth = 100, .latency = 1, .port = c->port && i == 0 ? n_axes - 1 : DFL_NONE,
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

    make_chips(&plan, &s);
    what = (dfl_collective){ .kind = c->kind, .bits = c->bits, .parts = c->parts, .n_parts = c->n_parts,
                             .element = s.system.n_elements - 1, .memory_rate = 0 };
    assert_true(dfl_collective_find(arena, sink, names, &s.system, (dfl_span){ 0 }, &what, &options, &got));
    assert_close(got.seconds, c->seconds, 1e-12);
    assert_int_equal(got.algorithm, c->algorithm);
    for (uint32_t i = 0; i < got.n_links; i++)
        assert_true(got.links[i].seconds <= got.seconds);
    dfl_arena_free(arena);
}

int main(void) { return CHECK_TABLE("collective", cases, costs); }
