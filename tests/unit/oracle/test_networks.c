/*
 * The networks of arrays in oracle and model, on cases small enough to count by hand: three for each kind of network, and
 * some for nested arrays. Each row gives the four totals of a network and the bits on the busiest link of each class. All
 * elements have 8 bits; the numbers in the comments are elements.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/harness/check.h"

#include "model/model.h"
#include "oracle/oracle.h"
#include "tests/property/case.h"

enum { BITS = 8 };

typedef struct {
    const char *name;
    void (*make)(dfl_case *c);
    case_network kind, inner;  /* kinds of the outer and of the inner network */
    uint32_t network;          /* the network that the row describes */
    long injected, delivered, collected, arriving;
    struct { const char *name; long elements; } classes[8];
} network_case;

/* ---- workloads and systems --------------------------------------------------------------------------------------- */

/* Z = A B of 4 x 3 x 2 elements on 4 x 2 instances. Every unit reads its operands in dram and writes there. In each of the 3
   steps, the two instances of a row want one element of A, and the four of a column one of B. */
static void straight(dfl_case *c)
{
    case_init_matmul(c, 4, 2, 3);
    case_add_memory(c, "dram", 0, 1);
    case_add_axis(c, "row", 1, 4, CASE_ALL, CASE_NO);
    case_add_axis(c, "col", 1, 2, CASE_ALL, CASE_NO);
    case_add_unit(c, "mac", 1);
    case_lines(c, 0, "keep A, B, Z in dram; spatial m on row; spatial n on col; temporal k;");
}

/* dram, 4 instances on a line, and a unit in each. */
static void line(dfl_case *c, case_set reduce)
{
    case_set_roles(c);
    case_add_memory(c, "dram", 0, 1);
    case_add_axis(c, "pe", 1, 4, CASE_ALL, reduce);
    case_add_unit(c, "mac", 1);
}

/* Z[m] = sum of A[m,k] for 3 rows of 8 elements on a line of 4 instances; each sums 2 elements of a row. A register keeps
   the sum of one row; the four sums leave together when m advances. */
static void sums(dfl_case *c, case_set reduce)
{
    case_init(c);
    case_add_rank(c, "m", 3);
    case_add_rank(c, "k", 8);
    case_add_input(c, "A", DFL_ROLE_INPUT, 2, (int64_t[]){ 3, 8 });
    case_add_einsum(c, "Z[m] += A[m,k]");
    line(c, reduce);
    case_add_memory(c, "reg", 1, 1);
    case_lines(c, 0, "keep A, Z in dram; spatial k:2 on pe; temporal m; keep Z in reg; temporal k;");
}

static void reduced(dfl_case *c) { sums(c, CASE_ALL); }

static void unreduced(dfl_case *c) { sums(c, CASE_NO); }

/* O[p] = sum over r < 2 of I[p + r] F[r] on a line of 4 instances. At r = 0 instance p is filled with I[p]; at r = 1 it gets
   I[p + 1] from its higher neighbour, except for the last one. */
static void forwarded(dfl_case *c)
{
    case_init(c);
    case_add_rank(c, "p", 4);
    case_add_rank(c, "r", 2);
    case_add_input(c, "I", DFL_ROLE_INPUT, 1, (int64_t[]){ 5 });
    case_add_input(c, "F", DFL_ROLE_WEIGHT, 1, (int64_t[]){ 2 });
    case_add_einsum(c, "O[p] += I[p + r] * F[r]");
    line(c, CASE_NO);
    c->axes[0].forward = true;
    case_add_memory(c, "reg", 1, 1);
    case_lines(c, 0, "keep I, F, O in dram; spatial p on pe; keep O in reg; temporal r; keep I in reg;");
}

/* Z[m] = A[m] B[m] for m < 7 on a line of 4 instances: in the second step the last instance is idle. */
static void idle(dfl_case *c)
{
    case_init(c);
    case_add_rank(c, "m", 7);
    case_add_input(c, "A", DFL_ROLE_INPUT, 1, (int64_t[]){ 7 });
    case_add_input(c, "B", DFL_ROLE_WEIGHT, 1, (int64_t[]){ 7 });
    case_add_einsum(c, "Z[m] = A[m] * B[m]");
    line(c, CASE_NO);
    case_lines(c, 0, "keep A, B, Z in dram; temporal m:4; spatial m on pe;");
}

/* Z = A B of 2 x 2 x 3 elements on 2 arrays of 3 instances. Every unit reads its operands in dram and writes there. */
static void nested(dfl_case *c)
{
    case_init_matmul(c, 2, 3, 2);
    case_add_memory(c, "dram", 0, 1);
    case_add_axis(c, "core", 1, 2, CASE_ALL, CASE_NO);
    case_add_axis(c, "lane", 2, 3, CASE_ALL, CASE_NO);
    case_add_unit(c, "mac", 2);
    case_lines(c, 0, "keep A, B, Z in dram; spatial m on core; spatial n on lane; temporal k;");
}

/* ---- cases ------------------------------------------------------------------------------------------------------- */

/* straight: 3 steps with 4 elements of A and 2 of B, each for 2 and 4 instances; 8 updates, all apart. */
#define STRAIGHT 3 * (4 + 2), 3 * (8 + 8), 3 * 8, 3 * 8
/* reduced: 6 steps with 4 elements of A; 4 partial sums of each of the 3 rows. */
#define REDUCED 6 * 4, 6 * 4, 3 * 4, 3
#define UNREDUCED 6 * 4, 6 * 4, 3 * 4, 3 * 4
/* forwarded: I[0..3], then I[4], and F[0], F[1] for all; I[1..3] are passed on; 4 results. */
#define FORWARDED 4 + 1 + 2, 4 + 1 + 3 + 2 * 4, 4, 4
#define IDLE 14, 14, 7, 7

/* Ports: every instance gets one element of A and one of B in each step, and gives one. */
#define STRAIGHT_PORTS { { "outer_down", 18 }, { "outer_up", 24 }, { "inner_down", 6 }, { "inner_up", 3 } }
#define REDUCED_PORTS { { "outer_down", 24 }, { "outer_up", 3 }, { "inner_down", 6 }, { "inner_up", 3 } }
#define IDLE_PORTS { { "outer_down", 14 }, { "outer_up", 7 }, { "inner_down", 4 }, { "inner_up", 2 } }

/* Links. straight, down, in each step: the first link of `row` carries the 3 elements of A for rows 1 to 3 and both of B; the
   link of `col` in a row carries its element of A and one of B. Up, along `row` first: the first link of `row` in a column
   carries the results of rows 1 to 3, and that of `col` the 4 results of column 1. */
#define STRAIGHT_LINKS { { "row.down", 3 * 5 }, { "row.up", 3 * 3 }, { "col.down", 3 * 2 }, { "col.up", 3 * 4 } }
#define REDUCED_LINKS { { "pe.down", 6 * 3 }, { "pe.up", 3 } }
#define UNREDUCED_LINKS { { "pe.down", 6 * 3 }, { "pe.up", 3 * 3 } }
/* Down: I[1..3], I[4], F[0], F[1]. Up: 3 results, and I[1] on its way from instance 1 to instance 0. */
#define FORWARDED_LINKS { { "pe.down", 6 }, { "pe.up", 3 + 1 } }
/* Steps of 4 and of 3 instances: A and B for instances 1 to 3, then for 1 and 2. */
#define IDLE_LINKS { { "pe.down", 6 + 4 }, { "pe.up", 3 + 2 } }

static const network_case cases[] = {
    { "bus: operands straight", straight, CASE_BUS, 0, 0, STRAIGHT, { { "medium", 18 + 24 } } },
    { "bus: reduction", reduced, CASE_BUS, 0, 0, REDUCED, { { "medium", 24 + 3 } } },
    { "bus: forwarding", forwarded, CASE_BUS, 0, 0, FORWARDED, { { "medium", 7 + 4 }, { "pe.forward", 1 } } },
    { "bus: idle", idle, CASE_BUS, 0, 0, IDLE, { { "medium", 14 + 7 } } },

    { "crossbar: operands straight", straight, CASE_CROSSBAR, 0, 0, STRAIGHT, STRAIGHT_PORTS },
    { "crossbar: reduction", reduced, CASE_CROSSBAR, 0, 0, REDUCED, REDUCED_PORTS },
    /* The last instance gets both of its elements of I from outside: its port is the busiest. */
    { "crossbar: forwarding", forwarded, CASE_CROSSBAR, 0, 0, FORWARDED,
      { { "outer_down", 7 }, { "outer_up", 4 }, { "inner_down", 2 + 2 }, { "inner_up", 1 }, { "pe.forward", 1 } } },
    { "switch: operands straight", straight, CASE_SWITCH, 0, 0, STRAIGHT, STRAIGHT_PORTS },
    { "switch: no reduction", unreduced, CASE_SWITCH, 0, 0, UNREDUCED,
      { { "outer_down", 24 }, { "outer_up", 12 }, { "inner_down", 6 }, { "inner_up", 3 } } },
    { "switch: idle", idle, CASE_SWITCH, 0, 0, IDLE, IDLE_PORTS },
    { "fully connected: operands straight", straight, CASE_FULLY_CONNECTED, 0, 0, STRAIGHT, STRAIGHT_PORTS },
    { "fully connected: reduction", reduced, CASE_FULLY_CONNECTED, 0, 0, REDUCED, REDUCED_PORTS },
    { "fully connected: idle", idle, CASE_FULLY_CONNECTED, 0, 0, IDLE, IDLE_PORTS },

    /* A torus and a ring count as a mesh. */
    { "mesh: operands straight", straight, CASE_MESH, 0, 0, STRAIGHT, STRAIGHT_LINKS },
    { "mesh: reduction", reduced, CASE_MESH, 0, 0, REDUCED, REDUCED_LINKS },
    { "mesh: no reduction", unreduced, CASE_MESH, 0, 0, UNREDUCED, UNREDUCED_LINKS },
    { "mesh: forwarding", forwarded, CASE_MESH, 0, 0, FORWARDED, FORWARDED_LINKS },
    { "mesh: idle", idle, CASE_MESH, 0, 0, IDLE, IDLE_LINKS },
    { "torus: operands straight", straight, CASE_TORUS, 0, 0, STRAIGHT, STRAIGHT_LINKS },
    { "torus: reduction", reduced, CASE_TORUS, 0, 0, REDUCED, REDUCED_LINKS },
    { "torus: no reduction", unreduced, CASE_TORUS, 0, 0, UNREDUCED, UNREDUCED_LINKS },
    { "torus: forwarding", forwarded, CASE_TORUS, 0, 0, FORWARDED, FORWARDED_LINKS },
    { "ring: reduction", reduced, CASE_RING, 0, 0, REDUCED, REDUCED_LINKS },
    { "ring: forwarding", forwarded, CASE_RING, 0, 0, FORWARDED, FORWARDED_LINKS },
    { "ring: idle", idle, CASE_RING, 0, 0, IDLE, IDLE_LINKS },

    /* Each step: 2 elements of A, for one core each, and 3 of B for both; 6 results. */
    { "nest: outer bus", nested, CASE_BUS, CASE_MESH, 0, 2 * 5, 2 * (2 + 6), 2 * 6, 2 * 6, { { "medium", 10 + 12 } } },
    /* Each core passes on its element of A and 3 of B; lanes 1 and 2 are behind the first link. */
    { "nest: inner mesh", nested, CASE_BUS, CASE_MESH, 1, 2 * 8, 2 * (6 + 6), 2 * 6, 2 * 6,
      { { "lane.down", 2 * (1 + 2) }, { "lane.up", 2 * 2 } } },
    { "nest: inner crossbar", nested, CASE_RING, CASE_CROSSBAR, 1, 2 * 8, 2 * (6 + 6), 2 * 6, 2 * 6,
      { { "outer_down", 2 * 4 }, { "outer_up", 2 * 3 }, { "inner_down", 2 * 2 }, { "inner_up", 2 } } },
    /* The element of A for core 1 and all of B cross the only link; core 1 gives 3 results. */
    { "nest: outer mesh", nested, CASE_MESH, CASE_CROSSBAR, 0, 2 * 5, 2 * (2 + 6), 2 * 6, 2 * 6,
      { { "core.down", 2 * 4 }, { "core.up", 2 * 3 } } },
};

/* ---- checking ---------------------------------------------------------------------------------------------------- */

static void check_number(const char *what, dfl_i128 got, long want)
{
    if (got != want * BITS)
        fail_msg("%s: %lld bits, not %ld", what, (long long)got, want * BITS);
}

static void check_oracle(const network_case *nc, const dfl_oracle_network *got)
{
    uint32_t n = 0;

    check_number("injected", got->injected, nc->injected);
    check_number("delivered", got->delivered, nc->delivered);
    check_number("collected", got->collected, nc->collected);
    check_number("arriving", got->arriving, nc->arriving);
    for (; n < 8 && nc->classes[n].name; n++) {
        if (n >= got->n_classes || strcmp(got->classes[n].name, nc->classes[n].name) != 0)
            fail_msg("class %u is not %s", n, nc->classes[n].name);
        check_number(nc->classes[n].name, got->classes[n].bits, nc->classes[n].elements);
    }
    assert_int_equal(n, got->n_classes);
}

static void check_model(const network_case *nc, const dfl_network_cost *got)
{
    check_number("injected by the model", got->injected_bits, nc->injected);
    check_number("delivered by the model", got->delivered_bits, nc->delivered);
    check_number("collected by the model", got->collected_bits, nc->collected);
    check_number("arriving by the model", got->arriving_bits, nc->arriving);
    for (uint32_t n = 0; n < 8 && nc->classes[n].name; n++) {
        const dfl_link_class *class = NULL;
        for (uint32_t i = 0; i < got->n_classes; i++)
            if (strcmp(got->classes[i].name, nc->classes[n].name) == 0)
                class = &got->classes[i];
        if (!class)
            fail_msg("the model has no class %s", nc->classes[n].name);
        check_number(nc->classes[n].name, class->bits, nc->classes[n].elements);
    }
}

static void routes(void **state)
{
    const network_case *nc = *state;
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_intern *names = dfl_intern_new(arena);
    dfl_sink *sink = dfl_sink_new(arena, NULL);
    dfl_case *c = malloc(sizeof *c);

    assert_non_null(c);
    nc->make(c);
    c->networks[1] = nc->kind;
    c->networks[2] = nc->inner;
    const dfl_paths *paths = dfl_paths_resolve(arena, sink, names, case_mapping(c, arena, names));
    const dfl_oracle_result *r = paths ? dfl_oracle_run(arena, sink, names, paths) : NULL;
    if (dfl_sink_errors(sink) > 0)
        fail_msg("%s", dfl_sink_at(sink, 0)->message);
    assert_non_null(r);
    check_oracle(nc, &r->networks[nc->network]);
    assert_int_equal(r->broken, 0);
    const dfl_result *model = dfl_model_eval(arena, sink, names, paths);
    assert_non_null(model);
    check_model(nc, &model->networks[nc->network]);
    free(c);
    dfl_arena_free(arena);
}

int main(void)
{
    return CHECK_TABLE("oracle.networks", cases, routes);
}
