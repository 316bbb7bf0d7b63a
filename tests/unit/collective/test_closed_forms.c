/* The closed forms equal the step rule: all networks of up to 64 ports, all groups, all algorithms, all stages of pipelines. No
   link carries more than its bandwidth times the time. */
#include <math.h>
#include <stdio.h>

#include "tests/harness/check.h"

#include "collective/closed_forms.h"
#include "collective/stage_links.h"
#include "collective/step_rule.h"
#include "tests/unit/collective/chips.h"

enum { PORTS = 64 };

/* A network of all sizes up to 64 ports. */
typedef struct {
    const char *name;
    dfl_topology_kind kind;
    uint32_t n_axes;
    uint32_t levels;
    double narrowing[3];       /* oversubscription of the levels of a fat tree */
    int form;                  /* percent of the groups, at least, that have a closed form */
} form_case;

static const form_case cases[] = {
    { "ring", DFL_TOPOLOGY_RING, 1, 0, { 0 }, 40 },
    { "mesh of 1 dimension", DFL_TOPOLOGY_MESH, 1, 0, { 0 }, 60 },
    { "mesh of 2 dimensions", DFL_TOPOLOGY_MESH, 2, 0, { 0 }, 50 },
    { "mesh of 3 dimensions", DFL_TOPOLOGY_MESH, 3, 0, { 0 }, 50 },
    { "torus of 2 dimensions", DFL_TOPOLOGY_TORUS, 2, 0, { 0 }, 50 },
    { "torus of 3 dimensions", DFL_TOPOLOGY_TORUS, 3, 0, { 0 }, 50 },
    { "switch", DFL_TOPOLOGY_SWITCH, 1, 0, { 0 }, 100 },
    { "switch of 2 axes", DFL_TOPOLOGY_SWITCH, 2, 0, { 0 }, 100 },
    { "fully connected", DFL_TOPOLOGY_FULLY_CONNECTED, 1, 0, { 0 }, 100 },
    { "fully connected, 2 axes", DFL_TOPOLOGY_FULLY_CONNECTED, 2, 0, { 0 }, 100 },
    { "fat tree of 1 level", DFL_TOPOLOGY_FAT_TREE, 1, 1, { 1 }, 50 },
    { "fat tree of 2 levels", DFL_TOPOLOGY_FAT_TREE, 1, 2, { 1, 1 }, 100 },
    { "fat tree of 3 levels", DFL_TOPOLOGY_FAT_TREE, 1, 3, { 1, 1, 1 }, 100 },
    { "fat tree of 2 levels, narrow", DFL_TOPOLOGY_FAT_TREE, 1, 2, { 1, 3 }, 50 },
    { "fat tree of 3 levels, narrow", DFL_TOPOLOGY_FAT_TREE, 1, 3, { 1, 2, 1.5 }, 50 },
    { "dragonfly", DFL_TOPOLOGY_DRAGONFLY, 1, 0, { 0 }, 20 },
    { "fat tree of 2 axes", DFL_TOPOLOGY_FAT_TREE, 2, 2, { 1, 2 }, 50 },
};

/* Numbers of one row. */
typedef struct { const form_case *c; size_t exchanges, forms, pipelines; } form_count;

static bool is_close(double a, double b) { return fabs(a - b) <= 1e-12 * (fabs(a) + fabs(b)); }

static void print_case(const char *what, const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e, double form,
                       double rule)
{
    printf("%s of %s by %s (inner %s)%s, %lld pieces, axes", what, dfl_collective_name(e->kind), dfl_algorithm_name(e->algorithm),
           dfl_algorithm_name(e->inner), e->alone ? " alone" : "", (long long)e->pieces);
    for (uint32_t k = 0; k < f->n_axes; k++)
        printf(" %lld", (long long)f->size[k]);
    for (uint32_t k = 0; k < team->n; k++)
        printf(", part %u stride %lld count %lld period %lld", team->part[k].dim, (long long)team->part[k].stride,
               (long long)team->part[k].count, (long long)team->part[k].period);
    printf(": form %.17g, rule %.17g\n", form, rule);
}

/* One exchange by both ways. */
static void compare(form_count *n, const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e)
{
    dfl_exchange_cost form, rule;
    bool right;

    n->exchanges++;
    dfl_step_rule(f, team, e, &rule);
    assert_true(dfl_closed_bound(f, team, e) <= rule.seconds * (1 + 1e-12));
    for (uint32_t c = 0; c < DFL_LINK_CLASSES && !e->alone; c++)
        assert_true(rule.bits[c] <= rule.seconds * e->rate * (1 + 1e-12));
    if (!dfl_closed_form(f, team, e, true, &form))
        return;
    n->forms++;
    right = is_close(form.seconds, rule.seconds);
    if (!right)
        print_case("seconds", f, team, e, form.seconds, rule.seconds);
    for (uint32_t c = 0; c < DFL_LINK_CLASSES; c++) {
        if (!is_close(form.bits[c], rule.bits[c]))
            print_case(dfl_fabric_is_grid(f) ? "bits of a direction" : "bits", f, team, e, form.bits[c], rule.bits[c]);
        right &= is_close(form.bits[c], rule.bits[c]);
    }
    assert_true(right);
}

/* The links of messages between stages by both ways: forward alone, forward and back, with one chunk or several. What all stages
   use for one message to the next stage is what the step rule counts for it. */
static void compare_stages(form_count *n, const dfl_fabric *f, const dfl_team *team)
{
    static const int64_t times[][DFL_N_WAYS] = { { 1, 0, 0, 0 }, { 1, 0, 1, 0 }, { 2, 1, 2, 1 }, { 3, 2, 0, 0 }, { 4, 3, 4, 3 } };
    dfl_stage_link form[PORTS * DFL_LINK_CLASSES], rule[PORTS * DFL_LINK_CLASSES];
    const dfl_team_exchange e = { .kind = DFL_COLLECTIVE_POINT_TO_POINT, .algorithm = DFL_ALGORITHM_MESSAGE, .bits = 1,
                                  .pieces = 1, .sharers = 1, .rate = 7 };
    dfl_exchange_cost message;

    dfl_step_rule(f, team, &e, &message);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        dfl_stage_traffic t = { .seconds = { 1, 8, 64, 512 } };
        const size_t links = (size_t)team->ranks * DFL_LINK_CLASSES;
        bool has_form;

        for (uint32_t w = 0; w < DFL_N_WAYS; w++)
            t.times[w] = times[i][w];
        for (size_t k = 0; k < links; k++)
            form[k] = rule[k] = (dfl_stage_link){ 0, 0 };
        assert_true(dfl_step_rule_stages(f, team, &t, rule));
        has_form = dfl_stage_links_form(f, team, &t, form);
        n->pipelines += has_form;
        for (size_t k = 0; k < links && has_form; k++) {
            if (!is_close(form[k].messages, rule[k].messages) || !is_close(form[k].running, rule[k].running)) {
                print_case("messages", f, team, &e, form[k].messages, rule[k].messages);
                printf("stage %zu class %zu times %zu: running %g, %g\n", k / DFL_LINK_CLASSES, k % DFL_LINK_CLASSES, i,
                       form[k].running, rule[k].running);
            }
            assert_true(is_close(form[k].messages, rule[k].messages) && is_close(form[k].running, rule[k].running));
        }
        for (size_t c = 0; c < DFL_LINK_CLASSES && i == 0; c++) {
            double most = 0;

            for (size_t k = c; k < links; k += DFL_LINK_CLASSES)
                most = fmax(most, rule[k].messages);
            assert_true(is_close(most, message.bits[c]));
        }
    }
}

/* All algorithms for one group. What does not change the form of a formula (sharers, memory, contention) changes from one
   exchange to the next. */
static void compare_team(form_count *n, const dfl_fabric *f, const dfl_team *team)
{
    for (int kind = 0; kind < DFL_N_COLLECTIVES; kind++)
        for (int a = 0; a < DFL_N_ALGORITHMS; a++) {
            dfl_team line = { .n = 1, .part = { team->part[0] }, .ranks = team->part[0].count };
            int inner = a == DFL_ALGORITHM_ROTATED ? DFL_ALGORITHM_HALVING_DOUBLING : 0;
            if (!dfl_algorithm_legal(f, team, (dfl_collective_kind)kind, (dfl_algorithm)a))
                continue;
            for (; inner >= 0; inner--) {
                size_t i = n->exchanges;
                dfl_team_exchange e = {
                    .kind = (dfl_collective_kind)kind, .algorithm = (dfl_algorithm)a, .inner = (dfl_algorithm)inner, .bits = 960,
                    .pieces = 1 + (int64_t)(i % 3), .sharers = i % 5 == 0 ? 3 : 1, .rate = 7, .memory_rate = i % 4 == 0 ? 11 : 0,
                    .alone = i % 7 == 0,
                };
                if (a != DFL_ALGORITHM_ROTATED ||
                    dfl_algorithm_legal(f, &line, (dfl_collective_kind)kind, (dfl_algorithm)inner))
                    compare(n, f, team, &e);
            }
        }
}

/* Groups that do not divide the axis: of several axes none, of one axis of more than 20 ports every seventh. */
static bool is_wanted(const dfl_fabric *f, uint32_t dim, int64_t stride, int64_t count)
{
    return f->size[dim] % (count * stride) == 0 ||
           (f->n_axes == 1 && (f->size[dim] <= 20 || (f->size[dim] + stride + count) % 7 == 0));
}

/* Groups of all shapes: per axis all strides and counts, or none of the axis; and pairs with idle ports around them. */
static void compare_groups(form_count *n, const dfl_fabric *f, dfl_team *team, uint32_t dim)
{
    dfl_team before = *team;

    if (dim == f->n_axes) {
        if (team->n > 0)
            compare_team(n, f, team);
        return;
    }
    compare_groups(n, f, team, dim + 1);
    for (int64_t period = 3; period <= f->size[dim]; period++)
        for (int64_t stride = (period + 1) / 2; stride < period && team->n == 0; stride++) {
            if (f->size[dim] % period != 0 || (period > 8 && (period + stride) % 7 != 0))
                continue;
            team->part[team->n++] = (dfl_team_part){ .dim = dim, .stride = stride, .count = 2, .period = period };
            team->ranks = 2;
            compare_groups(n, f, team, f->n_axes);
            *team = before;
        }
    for (int64_t stride = 1; stride < f->size[dim]; stride++)
        for (int64_t count = 2; count * stride <= f->size[dim]; count++) {
            if (!is_wanted(f, dim, stride, count))
                continue;
            team->part[team->n++] = (dfl_team_part){ .dim = dim, .stride = stride, .count = count };
            team->ranks *= count;
            if (team->n == 1)
                compare_stages(n, f, team);
            compare_groups(n, f, team, dim + 1);
            *team = before;
        }
}

static void compare_network(form_count *n, const int64_t *sizes)
{
    chip_plan plan = {
        .networks = { { .bandwidth = 7, .latency = 3, .port = DFL_NONE,
                        .topology = { .kind = n->c->kind, .levels = n->c->levels, .oversubscription = n->c->narrowing,
                                      .groups = 3, .routers = 2, .global = 2, .overhead = 2 } } },
        .n_networks = 1, .axes = { { sizes[0], 0 }, { sizes[1], 0 }, { sizes[2], 0 } },
    };
    chip_system s;
    dfl_fabric f;
    dfl_team team = { .n = 0, .ranks = 1 };

    make_chips(&plan, &s);
    assert_true(dfl_fabric_of(NULL, NULL, &s.system, 0, s.system.n_elements - 1, (dfl_span){ 0 }, &f));
    compare_groups(n, &f, &team, 0);
}

static void agree(void **state)
{
    form_count n = { .c = *state };
    int64_t size[CHIP_AXES] = { 0 };
    uint32_t axes = n.c->n_axes;

    for (size[0] = 2; size[0] <= PORTS; size[0]++) {
        if (axes == 1 && (n.c->kind != DFL_TOPOLOGY_DRAGONFLY || size[0] % 6 == 0))
            compare_network(&n, size);
        for (size[1] = axes > 1 ? 2 : PORTS; size[0] * size[1] <= PORTS; size[1]++) {
            if (axes == 2)
                compare_network(&n, size);
            for (size[2] = axes > 2 && size[0] <= size[1] ? size[1] : PORTS; size[0] * size[1] * size[2] <= PORTS; size[2]++)
                compare_network(&n, size);
            size[2] = 0;
        }
        size[1] = 0;
    }
    printf("             %zu exchanges, %zu with a closed form, %zu pipelines\n", n.exchanges, n.forms, n.pipelines);
    assert_true(100 * n.forms >= (size_t)n.c->form * n.exchanges);
}

/* ---- nodes of chips ---------------------------------------------------------------------------------------------- */

/* Nodes of chips, both with a network of their own. */
typedef struct {
    const char *name;
    dfl_topology_kind outer, inner;
    bool port, rails;          /* each chip has a port on the outer network; only chips at the same place are joined */
    dfl_algorithm outer_by, inner_by;
} node_case;

static const node_case nodes[] = {
    { "DGX-1: rings of chips on a switch, one port", DFL_TOPOLOGY_SWITCH, DFL_TOPOLOGY_RING, false, false,
      DFL_ALGORITHM_RING, DFL_ALGORITHM_TWO_RINGS },
    { "DGX-2: switches on a switch, one port", DFL_TOPOLOGY_SWITCH, DFL_TOPOLOGY_SWITCH, false, false,
      DFL_ALGORITHM_RING, DFL_ALGORITHM_DIRECT },
    { "pods: switches on a fat tree, a port for each chip", DFL_TOPOLOGY_FAT_TREE, DFL_TOPOLOGY_SWITCH, true, false,
      DFL_ALGORITHM_RING, DFL_ALGORITHM_RING },
    { "rails: switches on switches of one rail", DFL_TOPOLOGY_SWITCH, DFL_TOPOLOGY_SWITCH, true, true,
      DFL_ALGORITHM_DIRECT, DFL_ALGORITHM_RING },
    { "rails of a fat tree", DFL_TOPOLOGY_FAT_TREE, DFL_TOPOLOGY_FULLY_CONNECTED, true, true,
      DFL_ALGORITHM_DIRECT, DFL_ALGORITHM_DIRECT },
    { "a torus of chips, a ring for each place of a node", DFL_TOPOLOGY_RING, DFL_TOPOLOGY_MESH, true, false,
      DFL_ALGORITHM_TWO_RINGS, DFL_ALGORITHM_RING },
};

/* Seconds of one phase by the step rule, for a group along the axis of a network. */
static double follow(const chip_system *s, uint32_t network, dfl_collective_kind kind, dfl_algorithm algorithm, int64_t stride,
                     int64_t count, double bits)
{
    dfl_fabric f;
    dfl_team team = { .n = 1, .part = { { .dim = 0, .stride = stride, .count = count } }, .ranks = count };
    dfl_team_exchange e = { .kind = kind, .algorithm = algorithm, .inner = algorithm, .bits = bits, .pieces = 1, .rate = 7 };
    dfl_exchange_cost cost;

    assert_true(dfl_fabric_of(NULL, NULL, &s->system, network, s->system.n_elements - 1, (dfl_span){ 0 }, &f));
    while (f.axis[team.part[0].dim] != network)
        team.part[0].dim++;
    e.sharers = f.sharers;
    dfl_step_rule(&f, &team, &e, &cost);
    return cost.seconds;
}

/* An all-reduce of groups of chips in groups of nodes: sums inside of the nodes, all-reduce between them, and back. */
static void compare_nodes(const chip_system *s, const node_case *c, int64_t stride, int64_t count)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_intern *names = dfl_intern_new(arena);
    const int64_t chips = s->axes[1].size;
    const dfl_group_part parts[] = { { 0, stride, count, 0 }, { 1, 1, chips, 0 } };
    const dfl_collective what = { .kind = DFL_COLLECTIVE_ALL_REDUCE, .bits = 960, .parts = parts, .n_parts = 2,
                                  .element = s->system.n_elements - 1 };
    const dfl_collective_options options = { .contention_none = false, .chunks = 1 };
    dfl_collective_cost got;
    double seconds = follow(s, 1, DFL_COLLECTIVE_REDUCE_SCATTER, c->inner_by, 1, chips, 960) +
                     follow(s, 0, DFL_COLLECTIVE_ALL_REDUCE, c->outer_by, stride, count, 960 / (double)chips) +
                     follow(s, 1, DFL_COLLECTIVE_ALL_GATHER, c->inner_by, 1, chips, 960);

    assert_true(dfl_collective_find(arena, dfl_sink_new(arena, NULL), names, &s->system, (dfl_span){ 0 }, &what, &options, &got));
    assert_close(got.seconds, seconds, 1e-12);
    for (uint32_t i = 0; i < got.n_links; i++)
        assert_true(got.links[i].seconds <= got.seconds);
    dfl_arena_free(arena);
}

static void nested(void **state)
{
    static const double wide[] = { 1, 1.5 };
    const node_case *c = *state;

    for (int64_t size = 2; size <= PORTS / 2; size++)
        for (int64_t chips = 2; size * chips <= PORTS; chips++) {
            const chip_plan plan = {
                .networks = { { .bandwidth = 7, .latency = 3, .port = c->port ? 1 : DFL_NONE,
                                .topology = { .kind = c->outer, .levels = 2, .oversubscription = wide, .overhead = 2,
                                              .separate_rails = c->rails, .algorithms = 1u << c->outer_by } },
                              { .bandwidth = 7, .latency = 5, .port = DFL_NONE,
                                .topology = { .kind = c->inner, .overhead = 1, .algorithms = 1u << c->inner_by } } },
                .n_networks = 2, .axes = { { size, 0 }, { chips, 1 } },
            };
            chip_system s;
            make_chips(&plan, &s);
            for (int64_t stride = 1; 2 * stride <= size; stride++)
                if (size % stride == 0)
                    compare_nodes(&s, c, stride, size / stride);
        }
}

int main(void)
{
    int failed = CHECK_TABLE("collective.forms", cases, agree);

    return failed + CHECK_TABLE("collective.nodes", nodes, nested);
}
