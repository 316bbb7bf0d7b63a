/*
 * The time of random nests of two and three memories against their schedules, without an array or with one array over a
 * network. Never below, unless an instance that becomes idle, or works again, moves elements alone (MODEL.md, section 4.1).
 * Equal where all loops divide and all memories have equally many buffers. In the special cases of kind_of the time may be
 * above: results enter again, leave over a port over which nothing enters, or are updated straight by the unit; tiles of one
 * memory come from two others; windows share links. How far above elsewhere is printed as a table.
 *
 * The same for branches: two or three products below shared loops, each of which reads the result of the one before.
 *
 *     test_schedule [-f] [N [SEED [NEST]]]    N nests, or branches with -f; the last argument prints one nest
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "tests/harness/check.h"
#include "tests/harness/schedule.h"
#include "tests/property/case.h"
#include "tests/property/case_random.h"

enum { SAMPLE = 500, KINDS = 10, FAMILIES = 4 };

static const double slack = 1e-9;

/* The times above the schedule, of one kind of nests. */
typedef struct { unsigned n, equal, below; double *above; } tally;

static const char *const family_names[FAMILIES] = { "no network", "bus", "crossbar", "mesh" };

static const char *const kind_names[KINDS] = {
    "all divide, 1 buffer", "all divide, 2 buffers", "all divide, both", "ragged, 1 buffer", "ragged, 2 buffers",
    "ragged, both", "one port bounds several memories", "results enter again, 2 buffers",
    "special", "idle instances move alone",
};

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

static const int64_t even_extents[] = { 4, 8, 12 };

/* The tensors of a workload: a matrix product, a product of every element with a row, or a sum of windows. */
static void draw_workload(case_random *rng, schedule_nest *nest, dfl_case *c)
{
    static const uint32_t none = UINT32_MAX;
    uint32_t form = case_below(rng, 3);
    const int64_t *e = nest->extent;

    case_add_rank(c, "m", e[0]);
    case_add_rank(c, "n", e[1]);
    case_add_rank(c, "k", e[2]);
    nest->n_tensors = 3;
    nest->tensor[0] = (schedule_tensor){ 2, { 0, 2 }, { none, none }, { e[0], e[2] }, false, 0 };
    nest->tensor[1] = (schedule_tensor){ 2, { 2, 1 }, { none, none }, { e[2], e[1] }, false, 0 };
    nest->tensor[2] = (schedule_tensor){ 2, { 0, 1 }, { none, none }, { e[0], e[1] }, true, 0 };
    if (form == 1)
        nest->tensor[1] = (schedule_tensor){ 1, { 2, 0 }, { none, none }, { e[2], 1 }, false, 0 };
    if (form == 2)
        nest->tensor[0] = (schedule_tensor){ 2, { 0, 1 }, { 2, none }, { e[0] + e[2] - 1, e[1] }, false, 0 };
    case_add_input(c, "A", DFL_ROLE_INPUT, 2, nest->tensor[0].extent);
    case_add_input(c, "B", DFL_ROLE_WEIGHT, nest->tensor[1].n_dims, nest->tensor[1].extent);
    case_add_einsum(c, form == 0 ? "Z[m,n] += A[m,k] * B[k,n]" : form == 1 ? "Z[m,n] += A[m,k] * B[k]"
                                                                        : "Z[m,n] += A[m+k,n] * B[k,n]");
    case_set_roles(c);
    for (uint32_t t = 0; t < 3; t++)
        nest->tensor[t].bits = c->tensors[t].bits;
}

/* Loops down to a memory: tiles of random ranks that are smaller than those around. `ranks`: their names. */
static void draw_loops(case_random *rng, schedule_nest *nest, const char *ranks, bool divides, int64_t *size, char *lines)
{
    uint32_t wanted = 1 + case_below(rng, 3);

    for (uint32_t i = 0; i < wanted && nest->n_loops < SCHEDULE_LOOPS; i++) {
        uint32_t rank = case_below(rng, SCHEDULE_RANKS);
        int64_t tile = 1 + case_below(rng, (uint32_t)size[rank]);
        while (divides && size[rank] % tile != 0)
            tile--;
        if (tile == size[rank])
            continue;
        nest->loop[nest->n_loops].rank = rank;
        nest->loop[nest->n_loops].axis = SCHEDULE_TEMPORAL;
        nest->loop[nest->n_loops++].tile = tile;
        size[rank] = tile;
        sprintf(lines + strlen(lines), "temporal %c:%d; ", ranks[rank], (int)tile);
    }
}

/* One spatial loop for each axis of the array. */
static void draw_spatial(case_random *rng, schedule_nest *nest, const dfl_case *c, const char *ranks, bool divides, int64_t *size,
                         char *lines)
{
    const int64_t most = c->n_axes > 1 ? 3 : 5;

    for (uint32_t a = 0; a < c->n_axes; a++) {
        uint32_t rank = case_below(rng, SCHEDULE_RANKS);
        for (uint32_t i = 0; i < SCHEDULE_RANKS && size[rank] == 1; i++) /* a rank with one index is finished */
            rank = (rank + 1) % SCHEDULE_RANKS;
        int64_t parts = 1 + case_below(rng, (uint32_t)(size[rank] < most ? size[rank] : most));
        int64_t tile = (size[rank] + parts - 1) / parts;
        while (divides && size[rank] % tile != 0)
            tile++;
        nest->loop[nest->n_loops].rank = rank;
        nest->loop[nest->n_loops].axis = a;
        nest->loop[nest->n_loops++].tile = tile;
        size[rank] = tile;
        sprintf(lines + strlen(lines), "spatial %c:%d on %s; ", ranks[rank], (int)tile, c->axes[a].name);
    }
}

static double draw_latency(case_random *rng, bool late) { return late ? 1e-9 * (double)case_below(rng, 20) : 0; }

/* Draws an array inside of memory `inside` - 1, at least memory `least` - 1. `some`: some axes serve some tensors. */
static void draw_array(case_random *rng, schedule_nest *nest, uint32_t least, bool some, dfl_case *c)
{
    static const case_network kinds[] = { CASE_WIRELESS, CASE_BUS, CASE_CROSSBAR, CASE_MESH };
    static const case_set casts[] = { CASE_ALL, CASE_NO, CASE_INPUTS_ONLY, CASE_WEIGHTS_ONLY };
    static const uint32_t cast_tensors[] = { 7, 0, 1, 2 };
    static const double rates[] = { 2, 5, 10, 20, 40, 80 };
    schedule_array *array = &nest->array;
    uint32_t n_axes = 1 + case_below(rng, 2);

    *array = (schedule_array){ .inside = UINT32_MAX };
    if (case_chance(rng, 30))
        return;
    array->kind = (schedule_network)(1 + case_below(rng, 3));
    array->inside = least + case_below(rng, nest->n_memories + 1 - least);
    array->bandwidth = 1e9 * rates[case_below(rng, 6)];
    array->latency = draw_latency(rng, case_chance(rng, 30));
    for (uint32_t a = 0; a < n_axes; a++) {
        uint32_t cast = case_below(rng, some ? 4 : 2);
        bool reduces = case_chance(rng, 50);
        case_add_axis(c, a ? "y" : "x", 1, n_axes > 1 ? 3 : 9, casts[cast], reduces ? CASE_ALL : CASE_NO);
        array->multicast[a] = cast_tensors[cast];
        array->reduce[a] = reduces ? 7 : 0;
    }
    c->networks[1] = kinds[array->kind];
}

static double draw_rate(case_random *rng)
{
    static const double rates[] = { 1, 2, 3, 5, 8, 13, 40 };

    return 1e9 * rates[case_below(rng, 7)];
}

static void draw_memories(case_random *rng, schedule_nest *nest)
{
    nest->n_memories = 2 + case_below(rng, 2);
    for (uint32_t m = 0; m < nest->n_memories; m++) {
        schedule_memory *memory = &nest->memory[m];
        bool last = m + 1 == nest->n_memories;
        *memory = (schedule_memory){ .keeps = 7, .buffers = 1 + case_below(rng, 4) % 3 % 2, .one_port = case_chance(rng, 50),
                                     .read_rate = last ? INFINITY : draw_rate(rng), .write_rate = INFINITY };
        memory->buffers = case_chance(rng, 70) ? 2 : 1;
        memory->write_rate = last ? INFINITY : memory->one_port || case_chance(rng, 30) ? memory->read_rate : draw_rate(rng);
        if (m == 1 && !last && case_chance(rng, 40)) /* of three memories, the middle one bounds nothing or keeps less */
            memory->read_rate = memory->write_rate = INFINITY;
        if (m > 0 && (!last || nest->n_memories > 2) && case_chance(rng, 30))
            memory->keeps = 1 + case_below(rng, 6);
        if (last && nest->n_memories > 2) /* it is filled from the middle memory: a level further in */
            memory->keeps |= nest->memory[1].keeps & ~(nest->memory[1].keeps - 1);
    }
}

/* Latencies, and ports of the outer memories that limit nothing. */
static void draw_details(case_random *rng, schedule_nest *nest)
{
    bool late = case_chance(rng, 30);

    for (uint32_t m = 0; m < nest->n_memories; m++) {
        schedule_memory *memory = &nest->memory[m];
        memory->latency = draw_latency(rng, late);
        if (nest->array.kind != SCHEDULE_NO_NETWORK && m < nest->array.inside && case_chance(rng, 50))
            memory->read_rate = memory->write_rate = INFINITY;
    }
}

static void draw(case_random *rng, schedule_nest *nest, dfl_case *c)
{
    static const char *const names[] = { "dram", "l2", "l1" };
    bool divides = case_chance(rng, 60);
    char lines[1000] = "keep A, B, Z in dram; ";
    int64_t size[SCHEDULE_RANKS];

    memset(nest, 0, sizeof *nest);
    case_init(c);
    for (uint32_t i = 0; i < SCHEDULE_RANKS; i++)
        nest->extent[i] = size[i] = divides ? even_extents[case_below(rng, 3)] : 3 + case_below(rng, 10);
    draw_workload(rng, nest, c);
    draw_memories(rng, nest);
    draw_array(rng, nest, 1, true, c);
    draw_details(rng, nest);
    nest->point = 1e-9 / (double)(1 << case_below(rng, 6));
    for (uint32_t m = 0; m < nest->n_memories; m++) {
        case_add_memory(c, names[m], m >= nest->array.inside, nest->memory[m].buffers);
        if (m == 0)
            continue;
        draw_loops(rng, nest, "mnk", divides, size, lines);
        if (m == nest->array.inside) {
            draw_spatial(rng, nest, c, "mnk", divides, size, lines);
            if (case_chance(rng, 40))
                draw_loops(rng, nest, "mnk", divides, size, lines);
        }
        nest->memory[m].above = nest->n_loops;
        for (uint32_t t = 0; t < 3; t++)
            if (nest->memory[m].keeps >> t & 1)
                sprintf(lines + strlen(lines), "keep %c in %s; ", "ABZ"[t], names[m]);
    }
    if (nest->array.inside == nest->n_memories)
        draw_spatial(rng, nest, c, "mnk", divides, size, lines);
    for (uint32_t i = 0; i < SCHEDULE_RANKS; i++)
        if (size[i] > 1)
            sprintf(lines + strlen(lines), "temporal %c; ", "mnk"[i]);
    case_add_unit(c, "mac", nest->array.kind != SCHEDULE_NO_NETWORK);
    case_lines(c, 0, lines);
}

/* ---- branches ---- */

/* Products that take turns below shared loops: Y[m,n] of A[m,k], X[m,p] of Y, Z[m,q] of X. */
typedef struct {
    schedule_nest nest[SCHEDULE_CHILDREN];
    schedule_branch branch;
} branch_case;

enum { INPUT = 1, WEIGHT = 2, RESULT = 4 };
static const char products[][2] = { "A", "Y", "X", "Z" }, weights[][2] = { "B", "C", "D" };
static const char product_ranks[SCHEDULE_CHILDREN][SCHEDULE_RANKS + 1] = { "mnk", "mpn", "mqp" };

/* The einsums, and the tensors of each: its input, its weight, its result. */
static void draw_products(branch_case *b, const int64_t *extent, dfl_case *c)
{
    static const char names[][2] = { "k", "n", "p", "q" };
    static const uint32_t none = UINT32_MAX;
    char text[100];

    case_add_rank(c, "m", extent[0]);
    for (uint32_t i = 0; i <= b->branch.n_children; i++)
        case_add_rank(c, names[i], extent[1 + i]);
    case_add_input(c, products[0], DFL_ROLE_INPUT, 2, (int64_t[]){ extent[0], extent[1] });
    for (uint32_t i = 0; i < b->branch.n_children; i++) {
        schedule_nest *nest = &b->nest[i];
        const int64_t e[SCHEDULE_RANKS] = { extent[0], extent[2 + i], extent[1 + i] };
        memcpy(nest->extent, e, sizeof e);
        nest->n_tensors = 3;
        nest->tensor[0] = (schedule_tensor){ 2, { 0, 2 }, { none, none }, { e[0], e[2] }, false, 0 };
        nest->tensor[1] = (schedule_tensor){ 2, { 2, 1 }, { none, none }, { e[2], e[1] }, false, 0 };
        nest->tensor[2] = (schedule_tensor){ 2, { 0, 1 }, { none, none }, { e[0], e[1] }, true, 0 };
        case_add_input(c, weights[i], DFL_ROLE_WEIGHT, 2, nest->tensor[1].extent);
        sprintf(text, "%s[m,%s] += %s[m,%s] * %s[%s,%s]", products[i + 1], names[i + 1], products[i], names[i], weights[i],
                names[i], names[i + 1]);
        case_add_einsum(c, text);
    }
    case_set_roles(c);
    for (uint32_t i = 0; i < b->branch.n_children; i++) {
        b->nest[i].tensor[0].bits = c->tensors[case_tensor_named(c, products[i])].bits;
        b->nest[i].tensor[1].bits = c->tensors[case_tensor_named(c, weights[i])].bits;
        b->nest[i].tensor[2].bits = c->tensors[case_tensor_named(c, products[i + 1])].bits;
    }
}

/* The tensors of a child that a memory keeps. A memory above the branch keeps no results that a later child reads. Memories
   below it also keep what it keeps, so that they are a level further in. */
static void draw_keeps(case_random *rng, branch_case *b, uint32_t child)
{
    schedule_nest *nest = &b->nest[child];
    uint32_t shared = (child == 0 ? INPUT | WEIGHT : WEIGHT) | (child + 1 == b->branch.n_children ? RESULT : 0);

    for (uint32_t m = 1; m < nest->n_memories; m++) {
        bool whole = case_chance(rng, 60);
        nest->memory[m].keeps = whole ? 7 : 1 + case_below(rng, 7);
    }
    if (b->branch.inner > 1) {
        nest->memory[1].keeps &= shared;
        nest->memory[1].keeps |= child == 0 ? WEIGHT : 0;
    }
    if (nest->n_memories > 2)
        nest->memory[2].keeps |= b->branch.inner > 1 ? nest->memory[1].keeps
                                                     : nest->memory[1].keeps & ~(nest->memory[1].keeps - 1);
}

static void write_keeps(const schedule_nest *nest, uint32_t m, uint32_t child, const char *memory, char *lines)
{
    const char *const names[] = { products[child], weights[child], products[child + 1] };

    for (uint32_t t = 0; t < 3; t++)
        if (nest->memory[m].keeps >> t & 1)
            sprintf(lines + strlen(lines), "keep %s in %s; ", names[t], memory);
}

static void draw_branch(case_random *rng, branch_case *b, dfl_case *c)
{
    static const char *const names[] = { "dram", "l2", "l1" };
    bool divides = case_chance(rng, 60);
    schedule_nest first = { .n_loops = 0 };
    char lines[SCHEDULE_CHILDREN + 1][1000] = { "keep A, B, C, Y, X in dram; " };
    int64_t extent[SCHEDULE_CHILDREN + 2], shared;

    memset(b, 0, sizeof *b);
    case_init(c);
    b->branch.n_children = 2 + case_chance(rng, 40);
    if (b->branch.n_children > 2)
        strcpy(lines[0], "keep A, B, C, D, Y, X, Z in dram; ");
    for (uint32_t i = 0; i < SCHEDULE_CHILDREN + 2; i++)
        extent[i] = divides ? even_extents[case_below(rng, 2)] : 3 + case_below(rng, 5);
    draw_products(b, extent, c);
    draw_memories(rng, &first);
    b->branch.inner = first.n_memories > 2 && case_chance(rng, 50) ? 2 : 1;
    draw_array(rng, &first, b->branch.inner, false, c);
    draw_details(rng, &first);
    first.point = 1e-9 / (double)(1 << case_below(rng, 6));
    shared = extent[0];
    for (uint32_t i = 0; i < 2 && (i == 0 || case_chance(rng, 20)); i++) {
        int64_t tile = 1 + case_below(rng, (uint32_t)shared);
        while (divides && shared % tile != 0)
            tile--;
        if (tile == shared)
            continue;
        first.loop[first.n_loops].rank = 0;
        first.loop[first.n_loops].axis = SCHEDULE_TEMPORAL;
        first.loop[first.n_loops++].tile = tile;
        sprintf(lines[0] + strlen(lines[0]), "temporal m:%d; ", (int)tile);
        shared = tile;
    }
    b->branch.n_loops = first.n_loops;
    for (uint32_t m = 0; m < first.n_memories; m++)
        case_add_memory(c, names[m], m >= first.array.inside, first.memory[m].buffers);
    case_add_unit(c, "mac", first.array.kind != SCHEDULE_NO_NETWORK);
    for (uint32_t i = 0; i < b->branch.n_children; i++) {
        schedule_nest *nest = &b->nest[i];
        const char *ranks = product_ranks[i];
        int64_t size[SCHEDULE_RANKS] = { shared, nest->extent[1], nest->extent[2] };
        char *own = lines[1 + i];
        nest->n_memories = first.n_memories;
        memcpy(nest->memory, first.memory, sizeof first.memory);
        memcpy(nest->loop, first.loop, sizeof first.loop);
        nest->n_loops = first.n_loops;
        nest->array = first.array;
        nest->point = first.point;
        b->branch.child[i] = nest;
        draw_keeps(rng, b, i);
        nest->memory[1].above = nest->n_loops;
        if (b->branch.inner > 1)
            write_keeps(nest, 1, i, names[1], lines[0]);
        for (uint32_t m = b->branch.inner; m < nest->n_memories; m++) {
            if (case_chance(rng, 80))
                draw_loops(rng, nest, ranks, divides, size, own);
            if (m == nest->array.inside)
                draw_spatial(rng, nest, c, ranks, divides, size, own);
            nest->memory[m].above = nest->n_loops;
            write_keeps(nest, m, i, names[m], own);
        }
        if (nest->array.inside == nest->n_memories)
            draw_spatial(rng, nest, c, ranks, divides, size, own);
        for (uint32_t r = 0; r < SCHEDULE_RANKS; r++)
            if (size[r] > 1)
                sprintf(own + strlen(own), "temporal %c; ", ranks[r]);
    }
    case_lines(c, 0, lines[0]);
    for (uint32_t i = 0; i < b->branch.n_children; i++)
        case_lines(c, case_add_leaf(c, 0, products[i + 1]), lines[1 + i]);
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

/* The case with the bandwidths and the rate of the nest. */
static const dfl_mapping *make_mapping(const schedule_nest *nest, const dfl_case *c, dfl_arena *arena, dfl_intern *names)
{
    const dfl_mapping *m = case_mapping(c, arena, names);
    dfl_memory *memories = (dfl_memory *)(uintptr_t)m->system->memories;
    dfl_rate *rates = (dfl_rate *)(uintptr_t)m->system->computes[0].rates;

    for (uint32_t i = 0; i < nest->n_memories; i++) {
        memories[i].one_port = nest->memory[i].one_port;
        memories[i].read_rate = nest->memory[i].read_rate;
        memories[i].write_rate = nest->memory[i].write_rate;
        memories[i].latency = nest->memory[i].latency;
    }
    for (uint32_t i = 0; i < m->system->n_networks; i++) {
        ((dfl_network *)(uintptr_t)m->system->networks)[i].bandwidth = nest->array.bandwidth;
        ((dfl_network *)(uintptr_t)m->system->networks)[i].latency = nest->array.latency;
    }
    rates->rate = 1e9;
    rates->rate *= dfl_point_seconds(names, m->workload, &m->workload->einsums[0], &m->system->computes[0]) / 1e-9;
    rates->rate *= 1e-9 / nest->point;
    return m;
}

static bool is_ragged(const schedule_nest *nest)
{
    for (uint32_t i = 0; i < nest->n_loops; i++) {
        int64_t nominal = nest->extent[nest->loop[i].rank];
        for (uint32_t k = 0; k < i; k++)
            nominal = nest->loop[k].rank == nest->loop[i].rank ? nest->loop[k].tile : nominal;
        if (nominal % nest->loop[i].tile != 0)
            return true;
    }
    return false;
}

/* Whether a result enters a memory again: a loop over the rank that is summed moves it. */
static bool enters_again(const schedule_nest *nest)
{
    uint32_t last = nest->memory[nest->n_memories - 1].above;

    for (uint32_t i = 0; i < last; i++)
        for (uint32_t k = i + 1; k < last; k++)
            if (nest->loop[i].rank == 2 && nest->loop[k].rank != 2)
                return true;
    return false;
}

/* Whether the unit updates results straight in an outer memory, in passes of which the first read fewer old values. */
static bool have_straight_results(const schedule_nest *nest)
{
    return nest->array.inside == nest->n_memories || !(nest->memory[nest->n_memories - 1].keeps & 4);
}

/* Whether windows that overlap between instances share links: the shares of the links then differ from step to step. */
static bool have_shared_windows(const schedule_nest *nest)
{
    return nest->array.kind == SCHEDULE_MESH && nest->tensor[0].other[0] != UINT32_MAX;
}

/* Whether the tiles of the last memory come from two memories: their first tiles may enter side by side. */
static bool have_two_sources(const schedule_nest *nest)
{
    return nest->n_memories > 2 && (nest->memory[2].keeps & ~nest->memory[1].keeps) != 0;
}

/* Whether results leave one tile ahead over a port, or over links, over which nothing enters. */
static bool have_own_port(const schedule_nest *nest)
{
    bool own = nest->array.inside < nest->n_memories && nest->array.kind != SCHEDULE_BUS;

    for (uint32_t m = 0; m + 1 < nest->n_memories; m++)
        own |= !nest->memory[m].one_port && isfinite(nest->memory[m].write_rate);
    return own;
}

static uint32_t kind_of(const schedule_nest *nest, const schedule_time *want)
{
    uint32_t buffers = 0;

    for (uint32_t m = 1; m < nest->n_memories; m++)
        buffers |= nest->memory[m].buffers;
    if (want->alone)
        return 9;
    if (want->limited)
        return 6;
    if (!is_ragged(nest) && buffers != 1 && enters_again(nest))
        return 7;
    if (!is_ragged(nest) && buffers != 1 && (have_own_port(nest) || have_two_sources(nest) || have_straight_results(nest)))
        return 8;
    if (!is_ragged(nest) && have_shared_windows(nest))
        return 8;
    return (is_ragged(nest) ? 3 : 0) + buffers - 1;
}

/* The kind of a branch: the largest one of its children, of which all are ragged if one is. */
static uint32_t kind_of_branch(const branch_case *b, const schedule_time *want)
{
    uint32_t kind = 0;
    bool ragged = false;

    for (uint32_t i = 0; i < b->branch.n_children; i++) {
        uint32_t own = kind_of(&b->nest[i], want);
        kind = own > kind ? own : kind;
        ragged |= is_ragged(&b->nest[i]);
    }
    for (uint32_t i = 0; i < b->branch.n_children && ragged && kind > 6 && kind < 9; i++)
        if (is_ragged(&b->nest[i]))
            kind = kind_of(&b->nest[i], want);
    return kind;
}

static int compare_sizes(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* Compares one nest, or one branch. Returns false if it is below its schedule, or not equal where it must be. */
static bool compare(uint64_t seed, uint64_t index, bool branches, tally *tallies, bool print)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_intern *names = dfl_intern_new(arena);
    dfl_sink *sink = dfl_sink_new(arena, NULL);
    dfl_case *c = calloc(1, sizeof *c);
    branch_case *b = calloc(1, sizeof *b);
    schedule_nest nest;
    schedule_time want;
    case_random rng = case_random_of(seed, index);
    bool ok = true;

    if (branches) {
        draw_branch(&rng, b, c);
        nest = b->nest[0];
    } else {
        draw(&rng, &nest, c);
    }
    const dfl_mapping *m = make_mapping(&nest, c, arena, names);
    dfl_paths *paths = dfl_paths_resolve(arena, sink, names, m);
    const dfl_result *got = paths ? dfl_model_eval(arena, sink, names, paths) : NULL;
    if (print)
        case_print(c, stdout);
    if (got && (branches ? schedule_run_branch(&b->branch, &want) : schedule_run(&nest, &want))) {
        uint32_t kind = branches ? kind_of_branch(b, &want) : kind_of(&nest, &want);
        tally *t = &tallies[nest.array.kind * KINDS + kind];
        double above = got->seconds / want.seconds - 1;
        t->above[t->n++] = above;
        t->equal += fabs(above) <= slack;
        t->below += above < -slack;
        ok = kind == 9 || (above >= -slack && (kind >= 2 || above <= slack));
        if (!ok || print) {
            printf("nest %u of seed %u: %.6g ns, schedule %.6g ns (%s, %s)\n", (unsigned)index, (unsigned)seed,
                   got->seconds * 1e9, want.seconds * 1e9, family_names[nest.array.kind], kind_names[kind]);
            for (uint32_t i = 0; i < nest.n_memories && print; i++)
                printf("  memory %u: %u buffers, %s, read %g write %g Gbit/s, latency %g ns\n", i, nest.memory[i].buffers,
                       nest.memory[i].one_port ? "one port" : "two ports", nest.memory[i].read_rate / 1e9,
                       nest.memory[i].write_rate / 1e9, nest.memory[i].latency * 1e9);
            if (print)
                printf("  network: %s, %g Gbit/s, latency %g ns\n", family_names[nest.array.kind],
                       nest.array.bandwidth / 1e9, nest.array.latency * 1e9);
            if (print)
                printf("  point %g ns\n", nest.point * 1e9);
        }
    }
    free(b);
    free(c);
    dfl_arena_free(arena);
    return ok;
}

static unsigned compare_all(unsigned n, uint64_t seed, bool branches)
{
    tally tallies[FAMILIES * KINDS] = { { 0 } };
    unsigned wrong = 0, nests = 0;

    for (uint32_t k = 0; k < FAMILIES * KINDS; k++)
        tallies[k].above = calloc(n + 1, sizeof(double));
    for (unsigned i = 0; i < n; i++)
        wrong += !compare(seed, i, branches, tallies, false);
    printf("%-10s %-34s %6s %6s %6s %9s %9s %9s\n", "network", branches ? "branches" : "nests", "number", "equal", "below",
           "median", "90 %", "most");
    for (uint32_t k = 0; k < FAMILIES * KINDS; k++) {
        tally *t = &tallies[k];
        qsort(t->above, t->n, sizeof(double), compare_sizes);
        if (t->n > 0)
            printf("%-10s %-34s %6u %6u %6u %8.2f%% %8.2f%% %8.2f%%\n", family_names[k / KINDS], kind_names[k % KINDS],
                   t->n, t->equal, t->below, 100 * t->above[t->n / 2], 100 * t->above[t->n * 9 / 10], 100 * t->above[t->n - 1]);
        nests += t->n;
        free(t->above);
    }
    printf("%u of %u nests, %u wrong\n", nests, n, wrong);
    return wrong;
}

static void never_below(void **state)
{
    (void)state;
    assert_int_equal(compare_all(SAMPLE, 1, false), 0);
}

static void branches_never_below(void **state)
{
    (void)state;
    assert_int_equal(compare_all(SAMPLE, 1, true), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(never_below), cmocka_unit_test(branches_never_below) };
    const bool branches = argc > 1 && strcmp(argv[1], "-f") == 0;

    argc -= branches;
    argv += branches;
    if (argc > 3) {
        tally one[FAMILIES * KINDS];
        double above[FAMILIES * KINDS][1];
        for (uint32_t k = 0; k < FAMILIES * KINDS; k++)
            one[k] = (tally){ .above = above[k] };
        return !compare(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10), branches, one, true);
    }
    if (argc > 1)
        return compare_all((unsigned)strtoul(argv[1], NULL, 10), argc > 2 ? strtoull(argv[2], NULL, 10) : 1, branches) > 0;
    return CHECK_GROUP("schedule", tests);
}
