/* Derivatives, ranges and walls, compared with evaluations on changed systems: computed by hand for a small mapping
   with both kinds of overlap, and for random mappings on random systems. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/check.h"

#include "model/sensitivity.h"
#include "tests/harness/draw.h"
#include "tests/property/case.h"
#include "tests/unit/sema/analysed.h"

enum { CASES = 250 };

/* ---- another system ---------------------------------------------------------------------------------------------- */

typedef struct {
    dfl_arena *arena;
    dfl_intern *names;
    dfl_mapping mapping;      /* mapping on `system` */
    dfl_system system;
    dfl_memory *memories;
    dfl_compute *computes;
    dfl_network *networks;
    dfl_rate **rates;
} variant;

static void *copy(dfl_arena *arena, const void *from, size_t size)
{
    void *to = dfl_arena_alloc(arena, size + 1, 1, _Alignof(max_align_t));

    if (size > 0)
        memcpy(to, from, size);
    return to;
}

static void make_variant(variant *v, dfl_arena *arena, dfl_intern *names, const dfl_mapping *m)
{
    const dfl_system *s = m->system;

    *v = (variant){ .arena = arena, .names = names, .mapping = *m, .system = *s };
    v->memories = copy(arena, s->memories, s->n_memories * sizeof *s->memories);
    v->computes = copy(arena, s->computes, s->n_computes * sizeof *s->computes);
    v->networks = copy(arena, s->networks, s->n_networks * sizeof *s->networks);
    v->rates = DFL_NEW_ARRAY(arena, dfl_rate *, s->n_computes + 1);
    for (uint32_t i = 0; i < s->n_computes; i++)
        v->computes[i].rates = v->rates[i] =
            copy(arena, s->computes[i].rates, s->computes[i].n_rates * sizeof *v->rates[i]);
    v->system.memories = v->memories;
    v->system.computes = v->computes;
    v->system.networks = v->networks;
    v->mapping.system = &v->system;
}

static void set_param(variant *v, const dfl_param *p, double value)
{
    switch (p->kind) {
    case DFL_PARAM_BANDWIDTH: v->memories[p->part].read_rate = v->memories[p->part].write_rate = value; break;
    case DFL_PARAM_READ_BANDWIDTH: v->memories[p->part].read_rate = value; break;
    case DFL_PARAM_WRITE_BANDWIDTH: v->memories[p->part].write_rate = value; break;
    case DFL_PARAM_NETWORK_BANDWIDTH: v->networks[p->part].bandwidth = value; break;
    case DFL_PARAM_RATE: v->rates[p->part][p->rate].rate = value; break;
    case DFL_PARAM_MEMORY_LATENCY: v->memories[p->part].latency = value; break;
    case DFL_PARAM_NETWORK_LATENCY: v->networks[p->part].latency = value; break;
    case DFL_PARAM_ENERGY: v->memories[p->part].read_energy = v->memories[p->part].write_energy = value; break;
    case DFL_PARAM_READ_ENERGY: v->memories[p->part].read_energy = value; break;
    case DFL_PARAM_WRITE_ENERGY: v->memories[p->part].write_energy = value; break;
    case DFL_PARAM_DRAIN_ENERGY: v->memories[p->part].drain_energy = value; break;
    case DFL_PARAM_MAC_ENERGY: v->computes[p->part].mac_energy = value; break;
    case DFL_PARAM_FLOP_ENERGY: v->computes[p->part].flop_energy = value; break;
    case DFL_PARAM_NETWORK_ENERGY: v->networks[p->part].energy = value; break;
    case DFL_PARAM_MEMORY_LEAKAGE: v->memories[p->part].leakage = value; break;
    case DFL_PARAM_UNIT_LEAKAGE: v->computes[p->part].leakage = value; break;
    }
}

/* Evaluates with a new model, so that no state of an earlier evaluation remains. */
static const dfl_result *evaluate(const variant *v)
{
    dfl_sink *sink = dfl_sink_new(v->arena, NULL);
    const dfl_paths *paths = dfl_paths_resolve(v->arena, sink, v->names, &v->mapping);

    return paths ? dfl_model_eval(v->arena, sink, v->names, paths) : NULL;
}

static const dfl_result *evaluate_at(variant *v, const dfl_param *p, double value)
{
    const dfl_result *r;

    set_param(v, p, value);
    r = evaluate(v);
    set_param(v, p, p->value);
    assert_non_null(r);
    return r;
}

static const dfl_sensitivity *find(const variant *v)
{
    dfl_sink *sink = dfl_sink_new(v->arena, NULL);
    const dfl_paths *paths = dfl_paths_resolve(v->arena, sink, v->names, &v->mapping);
    dfl_model *model = paths ? dfl_model_prepare(v->arena, sink, v->names, paths) : NULL;
    const dfl_result *r = model ? dfl_model_run(model, v->arena) : NULL;

    return r ? dfl_sensitivity_find(v->arena, model, paths->unrolled, r) : NULL;
}

/* ---- what is told against what is so ----------------------------------------------------------------------------- */

static double told(const dfl_param *p, const dfl_rate_piece *piece, double value)
{
    return piece->fixed + (dfl_param_is_latency(p->kind) ? piece->waited * value : piece->waited / value);
}

static double latency(const dfl_result *r, uint32_t einsum)
{
    return einsum == DFL_NONE ? r->seconds : r->einsums[einsum].seconds;
}

/* Inside the piece the latency is on the line; beyond its end the latency is above the line. */
static unsigned check_piece(variant *v, const dfl_param *p, const dfl_rate_piece *piece, bool faster, uint32_t einsum)
{
    double end = piece->wall ? piece->until : faster ? p->value * 1e6 : p->value / 1e6;

    assert_true(piece->proven);
    assert_true(faster ? end >= p->value : end <= p->value);
    for (int i = 0; i <= 4; i++) {
        double value = p->value * pow(end / p->value, i / 4.0);
        assert_close(told(p, piece, value), latency(evaluate_at(v, p, value), einsum), 1e-9);
    }
    if (!piece->wall) {
        assert_int_equal(piece->next, DFL_NONE);
        return 0;
    }
    double beyond = faster ? 1e4 * end : end / 1e4;
    assert_true(latency(evaluate_at(v, p, beyond), einsum) > told(p, piece, beyond) * (1 + 1e-12));
    return 1;
}

/* Energy is linear in a price. Leakage is charged for the time. */
static void check_price(variant *v, const dfl_result *r, const dfl_param *p)
{
    static const double factors[] = { 0, 0.5, 3, 1000 };

    assert_false(p->over);
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
        double value = factors[i] * p->value;
        const dfl_result *other = evaluate_at(v, p, value);
        assert_close(r->joules + (value - p->value) * p->per_value, other->joules, 1e-9);
        assert_close(other->seconds, r->seconds, 0);
    }
}

/* Checks all parameters of a mapping. Returns the number of walls. */
static unsigned check_all(variant *v, const dfl_sensitivity *found)
{
    const dfl_result *r = evaluate(v);
    double all = 0, least = 0;
    unsigned walls = 0;

    assert_close(found->result->seconds, r->seconds, 0);
    assert_close(found->result->joules, r->joules, 0);
    for (uint32_t i = 0; i < found->n_params; i++) {
        dfl_param *p = &found->params[i];
        assert_int_equal(dfl_param_is_timed(p->kind), i < found->n_timed);
        if (i >= found->n_timed) {
            check_price(v, r, p);
            continue;
        }
        walls += check_piece(v, p, &p->faster, true, DFL_NONE) + check_piece(v, p, &p->slower, false, DFL_NONE);
        const dfl_result *other = evaluate_at(v, p, p->value / 2);
        assert_close(r->joules + found->leakage * (other->seconds - r->seconds), other->joules, 1e-9);
        bool late = dfl_param_is_latency(p->kind);
        least += late ? p->slower.waited * p->value : p->faster.waited / p->value;
        all += late ? p->faster.waited * p->value : p->slower.waited / p->value;
    }
    /* all work and transfers have a rate or a latency, so doubling the rates and halving the latencies halves the time */
    assert_true(least <= r->seconds * (1 + 1e-9) && all >= r->seconds * (1 - 1e-9));
    for (uint32_t e = 0; e < r->mapping->workload->n_einsums; e++)
        if (found->einsums[e].looked)
            walls += check_piece(v, &found->params[found->einsums[e].param], &found->einsums[e].faster, true, e);
    return walls;
}

/* ---- random ------------------------------------------------------------------------------------------------------ */

static double draw_unit(uint64_t *state, double unit) { return unit * (double)(1 + draw(state, 1000)) / 100; }

static void draw_system(variant *v, uint64_t *state)
{
    for (uint32_t i = 0; i < v->system.n_memories; i++) {
        dfl_memory *m = &v->memories[i];
        m->read_rate = draw_unit(state, 1e9);
        m->one_port = draw(state, 2) == 0;
        m->write_rate = draw(state, 2) == 0 ? m->read_rate : draw_unit(state, 1e9);
        m->stream = draw(state, 4) == 0;
        m->read_energy = draw_unit(state, 1e-12);
        m->write_energy = draw(state, 2) == 0 ? m->read_energy : draw_unit(state, 1e-12);
        m->has_read_energy = m->has_write_energy = true;
        m->leakage = draw(state, 2) == 0 ? draw_unit(state, 1e-3) : 0;
    }
    for (uint32_t i = 0; i < v->system.n_computes; i++) {
        for (uint32_t k = 0; k < v->computes[i].n_rates; k++)
            v->rates[i][k].rate = draw_unit(state, 1e9);
        v->computes[i].mac_energy = draw_unit(state, 1e-12);
        v->computes[i].flop_energy = draw_unit(state, 1e-12);
        v->computes[i].has_energy = true;
        v->computes[i].leakage = draw(state, 2) == 0 ? draw_unit(state, 1e-3) : 0;
    }
    for (uint32_t i = 0; i < v->system.n_networks; i++) {
        v->networks[i].energy = draw_unit(state, 1e-12);
        v->networks[i].has_energy = true;
    }
    v->mapping.options.overlap_perfect = draw(state, 4) == 0;
}

/* Latencies, and bandwidths of networks. */
static void draw_delays(variant *v, uint64_t *state)
{
    for (uint32_t i = 0; i < v->system.n_memories; i++)
        v->memories[i].latency = draw(state, 4) == 0 ? draw_unit(state, 1e-9) : 0;
    for (uint32_t i = 0; i < v->system.n_networks; i++) {
        v->networks[i].latency = draw(state, 4) == 0 ? draw_unit(state, 1e-9) : 0;
        if (draw(state, 2) == 0)
            v->networks[i].bandwidth = draw_unit(state, 1e9);
    }
}

/* Draws problem `i` of a seed on a random system, in a new arena in place of the last one: a reset would walk all the blocks that
   the largest problem took. */
static void draw_variant(dfl_arena **last, dfl_case *c, uint64_t seed, uint64_t i, variant *v)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    uint64_t state = i, delays = ~i;

    dfl_arena_free(*last);
    *last = arena;
    case_draw(c, seed, i);
    dfl_intern *names = dfl_intern_new(arena);
    make_variant(v, arena, names, case_mapping(c, arena, names));
    draw_system(v, &state);
    draw_delays(v, &delays);
}

static void holds_for_random_systems(void **unused)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_case *c = malloc(sizeof *c);
    unsigned found = 0, walls = 0;

    (void)unused;
    assert_non_null(c);
    for (uint64_t i = 0; i < CASES; i++) {
        variant v;

        draw_variant(&arena, c, 11, i, &v);
        const dfl_sensitivity *s = find(&v);
        if (!s)
            continue;
        found++;
        walls += check_all(&v, s);
    }
    /* with fewer walls the test would prove little */
    assert_true(found > CASES / 2);
    assert_true(walls > 2 * CASES);
    free(c);
    dfl_arena_free(arena);
}

/* Perfect overlap is never slower. Pipelines are excluded: their stages wait for first tiles concurrently, but with
   perfect overlap the first tiles are part of the work, which counts in every stage. */
static void nothing_is_faster_than_perfect_overlap(void **unused)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_case *c = malloc(sizeof *c);
    unsigned found = 0, several = 0, slower = 0;

    (void)unused;
    assert_non_null(c);
    for (uint64_t i = 0; i < 4 * CASES; i++) {
        bool pipeline = false;
        variant v;

        draw_variant(&arena, c, 12, i, &v);
        for (uint32_t b = 0; b < v.mapping.n_bodies; b++)
            pipeline |= v.mapping.bodies[b]->kind == DFL_BODY_PIPELINE;
        v.mapping.options.overlap_perfect = false;
        const dfl_result *waits = pipeline ? NULL : evaluate(&v);
        v.mapping.options.overlap_perfect = true;
        const dfl_result *perfect = waits ? evaluate(&v) : NULL;
        if (perfect == NULL)
            continue;
        assert_true(perfect->seconds <= waits->seconds * (1 + 1e-12));
        found++;
        slower += waits->seconds > perfect->seconds * (1 + 1e-6);
        several += v.mapping.workload->n_einsums > 1;
    }
    assert_true(found > 2 * CASES && several > CASES / 4 && slower > CASES);
    free(c);
    dfl_arena_free(arena);
}

/* ---- by hand ----------------------------------------------------------------------------------------------------- */

/* 16 points take 16 ns. X in: 128 bits, Z out: 512 bits, both through the one port of `far`. */
static const char by_hand[] =
    "dfl 1; workload scale(N = 16) : i8 { rank n = N; input X[n]; output Z[n] : i32 = X[n] * 2; }\n"
    "system chip { clock = 1GHz;\n"
    "  memory far { size = 1kB; bandwidth = 8GB/s; energy = 3pJ/bit; leakage = 2mW; }\n"
    "  memory near { size = 20B; buffers = 2; read { bandwidth = 64GB/s; energy = 1pJ/bit; }\n"
    "    write { bandwidth = 32GB/s; energy = 2pJ/bit; } }\n"
    "  compute unit { rate = 1FLOP/cycle; energy = 5pJ/FLOP; }\n"
    "}\n"
    "mapping perfect for scale on chip {\n"
    "  option overlap = perfect; keep X, Z in far; temporal n:2; keep X, Z in near; temporal n; }\n"
    "mapping waits for scale on chip { keep X, Z in far; temporal n:2; keep X, Z in near; temporal n; }\n"
    "mapping even for scale on chip { option overlap = perfect; keep X, Z in far; temporal n; }\n";

typedef struct {
    const char *name;
    const char *mapping;
    dfl_param_kind kind;
    uint32_t part;
    double fixed, waited, slower, faster; /* seconds, bits or operations of the piece, and its ends */
    dfl_param_kind next;                  /* parameter beyond `faster`, if that is finite */
    uint32_t next_part;
} time_case;

static const time_case times[] = {
    /* 640 bits through `far` take 10 ns beside 16 ns of work; from 40 Gbit/s downwards the transfers take longer */
    { "rate, perfect", "perfect", DFL_PARAM_RATE, 0, 0, 16, 0, 1.6e9, DFL_PARAM_BANDWIDTH, 0 },
    { "bandwidth, perfect", "perfect", DFL_PARAM_BANDWIDTH, 0, 16e-9, 0, 40e9, INFINITY, 0, 0 },
    { "read, perfect", "perfect", DFL_PARAM_READ_BANDWIDTH, 1, 16e-9, 0, 40e9, INFINITY, 0, 0 },
    { "write, perfect", "perfect", DFL_PARAM_WRITE_BANDWIDTH, 1, 16e-9, 0, 40e9, INFINITY, 0, 0 },
    /* 16 bits of X before the work, 64 bits of Z after it, with two ports each. Eight tiles: 2 ns of work on a tile, beside
       0.25 ns for the next one to enter and 1 ns for the last one to leave */
    { "rate", "waits", DFL_PARAM_RATE, 0, 1.25e-9, 16, 0, 1.6e9, DFL_PARAM_BANDWIDTH, 0 },
    { "bandwidth", "waits", DFL_PARAM_BANDWIDTH, 0, 16e-9, 80, 40e9, 256e9, DFL_PARAM_WRITE_BANDWIDTH, 1 },
};

static analysed *open_by_hand(variant *v, const char *mapping)
{
    analysed *a = analyse(by_hand);

    assert_null(analysed_message(a));
    for (uint32_t i = 0; i < a->program->n_designs; i++)
        if (strcmp(dfl_sym_text(a->names, a->program->designs[i].mapping->name), mapping) == 0)
            make_variant(v, a->arena, a->names, a->program->designs[i].mapping);
    return a;
}

static void tells_times(void **state)
{
    const time_case *c = *state;
    variant v;
    analysed *a = open_by_hand(&v, c->mapping);
    const dfl_sensitivity *s = find(&v);
    bool any = false;

    assert_non_null(s);
    for (uint32_t i = 0; i < s->n_timed; i++) {
        const dfl_param *p = &s->params[i];
        if (p->kind != c->kind || p->part != c->part)
            continue;
        any = true;
        assert_close(p->faster.waited, c->waited, 1e-12);
        assert_close(p->slower.waited, c->waited, 1e-12);
        assert_true(fabs(p->faster.fixed - c->fixed) < 1e-20);
        assert_close(p->slower.until, c->slower, 1e-9);
        assert_close(p->faster.until, c->faster, 1e-9);
        if (!isinf(c->faster)) {
            assert_int_not_equal(p->faster.next, DFL_NONE);
            assert_int_equal(s->params[p->faster.next].kind, c->next);
            assert_int_equal(s->params[p->faster.next].part, c->next_part);
        }
    }
    assert_true(any);
    (void)check_all(&v, s);
    analysed_free(a);
}

/* Bits are counted by hand: X is read 16 times from its innermost keep, and enters it once. Z likewise. */
static void tells_actions(void **unused)
{
    static const struct { dfl_param_kind kind; uint32_t part; int64_t actions; } want[] = {
        { DFL_PARAM_ENERGY, 0, 16 * 8 + 16 * 32 },
        { DFL_PARAM_READ_ENERGY, 1, 16 * 8 + 16 * 32 },
        { DFL_PARAM_WRITE_ENERGY, 1, 16 * 8 + 16 * 32 },
        { DFL_PARAM_FLOP_ENERGY, 0, 16 },
        { DFL_PARAM_MEMORY_LEAKAGE, 0, 1 },
    };
    variant v;
    analysed *a = open_by_hand(&v, "perfect");
    const dfl_sensitivity *s = find(&v);
    size_t n = 0;

    (void)unused;
    assert_non_null(s);
    for (uint32_t i = s->n_timed; i < s->n_params; i++)
        for (size_t k = 0; k < sizeof want / sizeof want[0]; k++)
            if (s->params[i].kind == want[k].kind && s->params[i].part == want[k].part) {
                assert_true(s->params[i].actions == want[k].actions);
                n++;
            }
    assert_int_equal(n, sizeof want / sizeof want[0]);
    assert_int_equal(s->n_params - s->n_timed, n);
    assert_close(s->leakage, 2e-3, 1e-12);
    analysed_free(a);
}

/* 640 bits at 40 Gbit/s take as long as the work: a faster port gains nothing, a slower one costs. */
static void sees_an_edge(void **unused)
{
    variant v;
    analysed *a = open_by_hand(&v, "even");

    (void)unused;
    v.memories[0].read_rate = v.memories[0].write_rate = 40e9;
    const dfl_sensitivity *s = find(&v);
    assert_non_null(s);
    assert_int_equal(s->params[0].kind, DFL_PARAM_BANDWIDTH);
    assert_close(s->params[0].faster.waited, 0, 0);
    assert_false(s->params[0].faster.wall);
    assert_close(s->params[0].slower.waited, 640, 1e-9);
    assert_false(s->params[0].slower.wall);
    (void)check_all(&v, s);
    analysed_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(tells_actions), cmocka_unit_test(sees_an_edge),
                                        cmocka_unit_test(holds_for_random_systems),
                                        cmocka_unit_test(nothing_is_faster_than_perfect_overlap) };

    return CHECK_TABLE("model.sensitivity.time", times, tells_times) + CHECK_GROUP("model.sensitivity", tests);
}
