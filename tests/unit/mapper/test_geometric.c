/*
 * Geometric programs: programs whose optimum is computed by hand, planes by hand, and random programs whose
 * feasible points are never below a bound, whatever point and multipliers the bound comes from.
 */
#include <math.h>
#include <string.h>

#include "tests/harness/check.h"

#include "mapper/program/exponential.h"
#include "mapper/program/interior.h"

static const dfl_geometric_effort CLOSE = { .precision = 1e-3, .cutoff = INFINITY, .steps = 60 };
static const dfl_geometric_effort CLOSER = { .precision = 1e-5, .cutoff = INFINITY, .steps = 60 };

/* ---- programs by hand ---- */

/* Powers of up to four variables, behind the coefficient. */
typedef struct { double coefficient, power[4]; } hand_term;
typedef struct { uint32_t n; hand_term term[4]; } hand_sum;

typedef struct {
    const char *name;
    uint32_t n_vars;
    double low[4], high[4];      /* values, not logarithms */
    uint32_t n_sums;
    hand_sum sum[5];             /* objective, limits */
    double least;                /* optimum; INFINITY = the limits cannot hold together */
} hand_program;

static const hand_program PROGRAMS[] = {
    { "x + 1 / x", 1, { 0.01 }, { 100 }, 1, { { 2, { { 1, { 1 } }, { 1, { -1 } } } } }, 2 },
    { "the least at an end of the range", 1, { 2 }, { 100 }, 1, { { 2, { { 1, { 1 } }, { 1, { -1 } } } } }, 2.5 },
    { "the range is a point", 2, { 3, 0.1 }, { 3, 10 }, 1, { { 2, { { 1, { 1, 1 } }, { 1, { 0, -1 } } } } }, 3.4641016151377544 },
    { "a monomial", 2, { 2, 3 }, { 5, 7 }, 1, { { 1, { { 10, { 1, -2 } } } } }, 10 * 2 / 49.0 },
    { "a constant", 1, { 1 }, { 2 }, 1, { { 1, { { 42, { 0 } } } } }, 42 },
    /* M N K (1/tm + 1/tn), tm tn <= C: tm = tn = sqrt(C), 2 M N K / sqrt(C) = 2 * 512^3 / 64 */
    { "operands of a matrix product, tiles in a memory", 2, { 1, 1 }, { 512, 512 }, 2,
      { { 2, { { 134217728.0, { -1 } }, { 134217728.0, { 0, -1 } } } }, { 1, { { 1.0 / 4096, { 1, 1 } } } } }, 4194304 },
    /* the same with tm <= 16: tn = 256 */
    { "one tile at the end of its range", 2, { 1, 1 }, { 16, 512 }, 2,
      { { 2, { { 134217728.0, { -1 } }, { 134217728.0, { 0, -1 } } } }, { 1, { { 1.0 / 4096, { 1, 1 } } } } }, 8912896 },
    /* max (x, 4 / x, 1): x = 2 */
    { "the largest of three", 2, { 0.01, 1e-9 }, { 100, 1e9 }, 4,
      { { 1, { { 1, { 0, 1 } } } }, { 1, { { 1, { 1, -1 } } } }, { 1, { { 4, { -1, -1 } } } }, { 1, { { 1, { 0, -1 } } } } }, 2 },
    /* (x + 1) max (4 / x, 1): 4 + 4 / x up to x = 4, then x + 1 */
    { "energy times latency, at a kink", 2, { 0.01, 1e-9 }, { 100, 1e9 }, 3,
      { { 2, { { 1, { 1, 1 } }, { 1, { 0, 1 } } } }, { 1, { { 4, { -1, -1 } } } }, { 1, { { 1, { 0, -1 } } } } }, 5 },
    /* (x + 1) (4 / x)^(1/2) = 2 (x^(1/2) + x^(-1/2)): x = 1 */
    { "energy times a root of the latency", 2, { 0.01, 1e-9 }, { 100, 1e9 }, 3,
      { { 2, { { 1, { 1, 0.5 } }, { 1, { 0, 0.5 } } } }, { 1, { { 4, { -1, -1 } } } }, { 1, { { 1, { 0, -1 } } } } }, 4 },
    /* (x + 1) + 9 max (4 / x, 1): x = 6 is beyond the kink at 4 */
    { "energy plus latency", 2, { 0.01, 1e-9 }, { 100, 1e9 }, 3,
      { { 3, { { 1, { 1 } }, { 1, { 0 } }, { 9, { 0, 1 } } } }, { 1, { { 4, { -1, -1 } } } }, { 1, { { 1, { 0, -1 } } } } }, 14 },
    /* 1 / (x y), x + y <= 1: x = y = 1/2 */
    { "a limit of two monomials", 2, { 0.001, 0.001 }, { 10, 10 }, 2,
      { { 1, { { 1, { -1, -1 } } } }, { 2, { { 1, { 1 } }, { 1, { 0, 1 } } } } }, 4 },
    /* 1 / x + 1 / y with 2 x + 3 y <= 1: (sqrt 2 + sqrt 3)^2 */
    { "equal monomials are added", 2, { 0.001, 0.001 }, { 10, 10 }, 2,
      { { 3, { { 0.25, { -1 } }, { 1, { 0, -1 } }, { 0.75, { -1 } } } },
        { 4, { { 1, { 1 } }, { 1, { 0, 1 } }, { 1, { 1 } }, { 2, { 0, 1 } } } } }, 9.8989794855663558 },
    /* 5 + x - 3 - x / 4, x >= 2 */
    { "differences of equal monomials", 1, { 2 }, { 10 }, 1,
      { { 4, { { 5, { 0 } }, { 1, { 1 } }, { -3, { 0 } }, { -0.25, { 1 } } } } }, 3.5 },
    /* 0.1 + 0.2 - 0.3 is 0 but for rounding */
    { "a difference that is rounding", 1, { 2 }, { 10 }, 1,
      { { 4, { { 0.1, { 0 } }, { 1, { 1 } }, { 0.2, { 0 } }, { -0.3, { 0 } } } } }, 2 },
    { "one point is left", 1, { 0.1 }, { 10 }, 3,
      { { 1, { { 7, { 1 } } } }, { 1, { { 0.5, { 1 } } } }, { 1, { { 2, { -1 } } } } }, 14 },
    { "a limit above 1 in the whole box", 2, { 2, 2 }, { 9, 9 }, 2,
      { { 1, { { 1, { -1 } } } }, { 1, { { 1, { 1, 1 } } } } }, INFINITY },
    { "a constant limit above 1", 1, { 1 }, { 9 }, 2, { { 1, { { 1, { -1 } } } }, { 1, { { 1.5, { 0 } } } } }, INFINITY },
    { "limits that hold alone, and not together", 2, { 0.01, 0.01 }, { 100, 100 }, 4,
      { { 1, { { 1, { 1 } } } }, { 1, { { 1, { 1, 1 } } } }, { 1, { { 3, { -1 } } } }, { 1, { { 3, { 0, -1 } } } } }, INFINITY },
    { "curved limits that hold alone, and not together", 2, { 0.001, 0.001 }, { 10, 10 }, 3,
      { { 1, { { 1, { 1 } } } }, { 2, { { 1, { 1 } }, { 1, { 0, 1 } } } }, { 1, { { 0.27, { -1, -1 } } } } }, INFINITY },
};

static dfl_geometric_program *make(dfl_arena *arena, const hand_program *h)
{
    dfl_geometric_draft *d = DFL_NEW(arena, dfl_geometric_draft);

    dfl_geometric_begin(d);
    for (uint32_t v = 0; v < h->n_vars; v++)
        (void)dfl_geometric_var(d, log(h->low[v]), log(h->high[v]));
    for (uint32_t k = 0; k < h->n_sums; k++) {
        for (uint32_t t = 0; t < h->sum[k].n; t++) {
            dfl_geometric_term(d, h->sum[k].term[t].coefficient);
            for (uint32_t v = 0; v < h->n_vars; v++)
                if (h->sum[k].term[t].power[v] != 0)
                    dfl_geometric_raise(d, v, h->sum[k].term[t].power[v]);
        }
        dfl_geometric_end(d);
    }
    return dfl_geometric_close(arena, d);
}

static void solves(void **state)
{
    const hand_program *h = *state;
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_geometric_program *p = make(arena, h);
    dfl_geometric_solution s, again;
    const double least = log(h->least);

    assert_non_null(p);
    dfl_geometric_solve(p, &p->range, NULL, &CLOSE, &s);
    if (h->least == INFINITY) {
        assert_int_equal(s.reason, DFL_GEOMETRIC_INFEASIBLE);
        assert_true(s.bound == INFINITY);
        assert_true(dfl_geometric_least(p, &s.plane, &p->range) > 0);
    } else {
        assert_int_equal(s.reason, DFL_GEOMETRIC_CLOSE);
        assert_true(s.bound <= least + 1e-15 && s.bound >= least - 2e-3);
        assert_true(fabs(s.value - least) <= 2e-3);
        assert_true(dfl_geometric_least(p, &s.plane, &p->range) == s.bound);
        dfl_geometric_solve(p, &p->range, &s.state, &CLOSE, &again);
        assert_true(again.bound <= least + 1e-15 && again.bound >= least - 2e-3);
    }
    dfl_arena_free(arena);
}

/* ---- rules by hand ---- */

/* B20: x + 1 / x with 3 / x <= 1, at x = 2: ln 2.5 with slope (2 - 0.5) / 2.5 = 0.6; the limit is ln 1.5 with slope -1. */
static void planes(void **state)
{
    static const hand_program h = { "", 1, { 0.5 }, { 4 }, 2,
                                    { { 2, { { 1, { 1 } }, { 1, { -1 } } } }, { 1, { { 3, { -1 } } } } }, 0 };
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_geometric_program *p = make(arena, &h);
    const double x = log(2), none[2] = { 0, 0 }, half[2] = { 0, 0.5 }, two[2] = { 0, 2 };
    const double bad[2] = { 0, -1 }, huge[2] = { 0, 1e300 };
    dfl_geometric_sums sums;
    dfl_geometric_plane plane;

    (void)state;
    dfl_geometric_evaluate(p, &x, &sums);
    assert_close(sums.value[0], log(2.5), 1e-12);
    assert_close(sums.value[1], log(1.5), 1e-12);
    dfl_geometric_tangent(p, &sums, &x, none, false, &plane);
    assert_close(plane.slope[0], 0.6, 1e-12);
    assert_close(plane.constant, log(2.5) - 0.6 * log(2), 1e-9);
    assert_close(dfl_geometric_least(p, &plane, &p->range), log(2.5) - 1.2 * log(2), 1e-9);
    dfl_geometric_tangent(p, &sums, &x, half, false, &plane);
    assert_close(plane.slope[0], 0.1, 1e-12);
    assert_close(plane.constant, log(2.5) + 0.5 * log(1.5) - 0.1 * log(2), 1e-9);
    dfl_geometric_tangent(p, &sums, &x, two, false, &plane);
    assert_close(plane.slope[0], -1.4, 1e-12);
    assert_close(dfl_geometric_least(p, &plane, &p->range), log(2.5) + 2 * log(1.5) - 1.4 * log(2), 1e-9);
    dfl_geometric_tangent(p, &sums, &x, two, true, &plane);
    assert_close(plane.slope[0], -2, 1e-12);
    assert_close(plane.constant, 2 * log(3), 1e-9);
    /* the limit is exceeded up to 3: 2 ln 3 - 2 ln 4 < 0, so the range is not excluded; up to 2.9 it is */
    assert_true(dfl_geometric_least(p, &plane, &p->range) < 0);
    assert_true(dfl_geometric_least(p, &plane, &(dfl_geometric_box){ { log(0.5) }, { log(2.9) } }) > 0);
    /* a negative multiplier is none; one that overflows gives no bound */
    dfl_geometric_tangent(p, &sums, &x, bad, false, &plane);
    assert_close(plane.slope[0], 0.6, 1e-12);
    dfl_geometric_tangent(p, &sums, &x, huge, false, &plane);
    assert_true(dfl_geometric_least(p, &plane, &p->range) == -INFINITY);
    /* each multiplier costs its share of the allowance */
    assert_true(p->rounding > 1e-13 && p->rounding < 1e-9);
    dfl_arena_free(arena);
}

/* The rounding allowance is part of every bound, also where the arithmetic is exact: 0 for the monomial 1. */
static void allows_for_rounding(void **state)
{
    static const hand_program h = { "", 1, { 1 }, { 1 }, 2, { { 1, { { 1, { 1 } } } }, { 1, { { 1, { 1 } } } } }, 0 };
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_geometric_program *p = make(arena, &h);
    const double x = 0, multiplier[2] = { 0, 3 };
    dfl_geometric_sums sums;
    dfl_geometric_plane plane;

    (void)state;
    dfl_geometric_evaluate(p, &x, &sums);
    dfl_geometric_tangent(p, &sums, &x, multiplier, false, &plane);
    assert_close(dfl_geometric_least(p, &plane, &p->range), -4 * p->rounding, 1e-15);
    dfl_geometric_tangent(p, &sums, &x, multiplier, true, &plane);
    assert_close(dfl_geometric_least(p, &plane, &p->range), -3 * p->rounding, 1e-15);
    dfl_arena_free(arena);
}

/* 2 x + y with knobs on both monomials, at x = y = 1: 3; with factors 1/2 and 0: 1. Equal monomials with knobs stay apart. */
static void knobs_turn(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_geometric_draft *d = DFL_NEW(arena, dfl_geometric_draft);
    const double x[2] = { 0, 0 };
    dfl_geometric_program *p;
    dfl_geometric_sums sums;
    uint32_t knob[2];

    (void)state;
    dfl_geometric_begin(d);
    (void)dfl_geometric_var(d, 0, 1);
    for (uint32_t i = 0; i < 2; i++) {
        dfl_geometric_term(d, 2 - i);
        dfl_geometric_raise(d, 0, 1);
        knob[i] = dfl_geometric_knob(d);
    }
    dfl_geometric_end(d);
    p = dfl_geometric_close(arena, d);
    assert_non_null(p);
    dfl_geometric_evaluate(p, x, &sums);
    assert_close(sums.value[0], log(3), 1e-13);
    dfl_geometric_turn(p, knob[0], 0.5);
    dfl_geometric_turn(p, knob[1], 0);
    dfl_geometric_evaluate(p, x, &sums);
    assert_true(fabs(sums.value[0]) < 1e-13);
    dfl_geometric_turn(p, knob[1], 1);
    dfl_geometric_evaluate(p, x, &sums);
    assert_close(sums.value[0], log(2), 1e-13);
    /* the smallest factor is part of the range of exponents: 90 ln 2 */
    assert_true(p->magnitude > 62 && p->magnitude < 66);
    dfl_arena_free(arena);
}

/* L >= (2 x + 1 / x) / 3 for x up to e^2: at least e^2, with room for two monomials. */
static void encloses(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_geometric_draft *d = DFL_NEW(arena, dfl_geometric_draft);

    (void)state;
    dfl_geometric_begin(d);
    (void)dfl_geometric_var(d, 0, 2);
    (void)dfl_geometric_var(d, -1, -1);
    dfl_geometric_term(d, 1);
    dfl_geometric_raise(d, 1, 1);
    dfl_geometric_end(d);
    for (int i = 0; i < 2; i++) {
        dfl_geometric_term(d, i ? 1.0 / 3 : 2.0 / 3);
        dfl_geometric_raise(d, 0, i ? -1 : 1);
        dfl_geometric_raise(d, 1, -1);
    }
    dfl_geometric_end(d);
    dfl_geometric_enclose(d, 1);
    assert_true(d->range.high[1] >= log((2 * exp(2) + exp(-2)) / 3) && d->range.high[1] < 5);
    assert_true(d->range.low[1] == -1);
    dfl_arena_free(arena);
}

static void ends_early(void **state)
{
    const hand_program *h = &PROGRAMS[5]; /* least 4194304 */
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_geometric_program *p = make(arena, h);
    dfl_geometric_solution s;
    dfl_geometric_effort e = CLOSE;

    (void)state;
    e.cutoff = log(4e6);
    e.stop_below = true;
    dfl_geometric_solve(p, &p->range, NULL, &e, &s);
    assert_int_equal(s.reason, DFL_GEOMETRIC_ABOVE);
    assert_true(s.bound > e.cutoff);
    e.cutoff = log(5e6);
    dfl_geometric_solve(p, &p->range, NULL, &e, &s);
    assert_int_equal(s.reason, DFL_GEOMETRIC_BELOW);
    assert_true(s.value < e.cutoff && s.bound <= log(4194304));
    e.stop_below = false;
    dfl_geometric_solve(p, &p->range, NULL, &e, &s);
    assert_int_equal(s.reason, DFL_GEOMETRIC_CLOSE);
    e.steps = 2;
    dfl_geometric_solve(p, &p->range, NULL, &e, &s);
    assert_int_equal(s.reason, DFL_GEOMETRIC_STEPS);
    assert_int_equal(s.steps, 2);
    assert_true(s.bound <= log(4194304));
    dfl_arena_free(arena);
}

static void refuses(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_geometric_draft *d = DFL_NEW(arena, dfl_geometric_draft);

    (void)state;
    dfl_geometric_begin(d);                      /* no objective */
    assert_null(dfl_geometric_close(arena, d));
    for (int too_wide = 0; too_wide < 2; too_wide++) {
        dfl_geometric_begin(d);
        (void)dfl_geometric_var(d, 0, too_wide ? 691 : 690);
        dfl_geometric_term(d, 1);
        dfl_geometric_raise(d, 0, 1);
        dfl_geometric_end(d);
        assert_true((dfl_geometric_close(arena, d) == NULL) == too_wide);
    }
    for (int i = 0; i < 3; i++) {
        static const double coefficient[] = { -1, INFINITY, NAN };
        dfl_geometric_begin(d);
        dfl_geometric_term(d, coefficient[i]);
        dfl_geometric_end(d);
        assert_null(dfl_geometric_close(arena, d));
    }
    dfl_geometric_begin(d);
    for (int i = 0; i <= DFL_GEOMETRIC_VARS; i++)
        (void)dfl_geometric_var(d, 0, 1);
    dfl_geometric_term(d, 1);
    dfl_geometric_end(d);
    assert_null(dfl_geometric_close(arena, d));
    dfl_geometric_begin(d);
    for (int i = 0; i <= DFL_GEOMETRIC_TERMS; i++)
        dfl_geometric_term(d, 1);
    dfl_geometric_end(d);
    assert_null(dfl_geometric_close(arena, d));
    dfl_geometric_begin(d);
    (void)dfl_geometric_var(d, 1, 0);
    dfl_geometric_term(d, 1);
    dfl_geometric_end(d);
    assert_null(dfl_geometric_close(arena, d));
    dfl_arena_free(arena);
}

/* ---- random programs ---- */

static uint64_t draw(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static double draw_between(uint64_t *seed, double low, double high)
{
    return low + (high - low) * (double)(draw(seed) >> 11) * 0x1p-53;
}

/* Up to three variables with ranges from 1 up, and a limit that the lower ends meet. */
static hand_program draw_program(uint64_t *seed)
{
    hand_program h = { .n_vars = 1 + (uint32_t)(draw(seed) % 3), .n_sums = 1 + (uint32_t)(draw(seed) % 5) };

    for (uint32_t v = 0; v < h.n_vars; v++) {
        h.low[v] = 1;
        h.high[v] = exp(draw_between(seed, 0.1, 6));
    }
    for (uint32_t k = 0; k < h.n_sums; k++) {
        double sum = 0;
        h.sum[k].n = 1 + (uint32_t)(draw(seed) % 4);
        for (uint32_t t = 0; t < h.sum[k].n; t++) {
            hand_term *x = &h.sum[k].term[t];
            x->coefficient = exp(draw_between(seed, -4, 4));
            sum += x->coefficient;
            for (uint32_t v = 0; v < h.n_vars; v++)
                x->power[v] = (double)(int)(draw(seed) % 5) - 2;
        }
        for (uint32_t t = 0; t < h.sum[k].n && k > 0; t++)
            h.sum[k].term[t].coefficient /= sum * (draw(seed) % 8 == 0 ? 0.5 : draw_between(seed, 1.1, 8));
    }
    return h;
}

/* ln (sum), by the library of the compiler. */
static double value_of(const hand_program *h, uint32_t sum, const double *x)
{
    double total = 0;

    for (uint32_t t = 0; t < h->sum[sum].n; t++) {
        double exponent = log(h->sum[sum].term[t].coefficient);
        for (uint32_t v = 0; v < h->n_vars; v++)
            exponent += h->sum[sum].term[t].power[v] * x[v];
        total += exp(exponent);
    }
    return log(total);
}

/* The objective, or INFINITY where a limit does not hold. */
static double feasible_value(const hand_program *h, const double *x)
{
    for (uint32_t k = 1; k < h->n_sums; k++)
        if (value_of(h, k, x) > 0)
            return INFINITY;
    return value_of(h, 0, x);
}

enum { SAMPLES = 2000, PROGRAMS_DRAWN = 600 };

/* Where a search from `from` to the feasible point `to` first meets a feasible point. These are all behind it: the feasible
   points are a convex set. */
static double meet(const hand_program *h, const double *from, double *to)
{
    double low = 0, high = 1, x[4];

    for (int i = 0; i < 40; i++) {
        const double middle = i == 0 ? 0 : (low + high) / 2;
        for (uint32_t v = 0; v < h->n_vars; v++)
            x[v] = from[v] + middle * (to[v] - from[v]);
        *(feasible_value(h, x) < INFINITY ? &high : &low) = middle;
    }
    for (uint32_t v = 0; v < h->n_vars; v++)
        to[v] = from[v] + high * (to[v] - from[v]);
    return feasible_value(h, to);
}

/* The best feasible point of a box among random points, ends of ranges, and the first one on the way from a closer solution to
   the best of these; INFINITY if none was found. */
static double search(const hand_program *h, const dfl_geometric_program *p, const dfl_geometric_box *box, uint64_t *seed)
{
    double best = INFINITY, x[4], at[4];
    dfl_geometric_solution closer;

    for (uint32_t i = 0; i < SAMPLES; i++) {
        for (uint32_t v = 0; v < h->n_vars; v++)
            x[v] = i % 4 > 0 ? draw_between(seed, box->low[v], box->high[v]) : draw(seed) % 2 ? box->low[v] : box->high[v];
        const double value = feasible_value(h, x);
        if (value < best) {
            best = value;
            memcpy(at, x, sizeof x);
        }
    }
    if (best == INFINITY)
        return INFINITY;
    dfl_geometric_solve(p, box, NULL, &CLOSER, &closer);
    return fmin(best, meet(h, closer.state.x, at));
}

static dfl_geometric_box draw_box(const dfl_geometric_program *p, uint64_t *seed)
{
    dfl_geometric_box box = p->range;

    for (uint32_t v = 0; v < p->n_vars; v++) {
        const double a = draw_between(seed, box.low[v], box.high[v]), b = draw_between(seed, box.low[v], box.high[v]);
        if (draw(seed) % 2)
            box.low[v] = fmin(a, b);
        if (draw(seed) % 2)
            box.high[v] = fmax(a, b);
    }
    return box;
}

/* Bounds from any point and any multipliers hold at every feasible point, in the range and in boxes. */
static void never_above(void **state)
{
    uint64_t seed = 1;
    double excess = -INFINITY;
    uint32_t feasible = 0;

    (void)state;
    for (uint32_t i = 0; i < PROGRAMS_DRAWN; i++) {
        const hand_program h = draw_program(&seed);
        dfl_arena *arena = dfl_arena_new(NULL);
        const dfl_geometric_program *p = make(arena, &h);
        double x[4], multiplier[5];
        dfl_geometric_sums sums;
        dfl_geometric_plane plane, limits;
        assert_non_null(p);
        for (uint32_t k = 0; k < h.n_sums; k++)
            multiplier[k] = draw(&seed) % 2 ? exp(draw_between(&seed, -6, 6)) : 0;
        for (uint32_t v = 0; v < h.n_vars; v++)
            x[v] = draw_between(&seed, p->range.low[v], p->range.high[v]);
        dfl_geometric_evaluate(p, x, &sums);
        assert_close(sums.value[0], value_of(&h, 0, x), 1e-9 + 1e-9 / (1e-9 + fabs(sums.value[0])));
        dfl_geometric_tangent(p, &sums, x, multiplier, false, &plane);
        dfl_geometric_tangent(p, &sums, x, multiplier, true, &limits);
        for (uint32_t s = 0; s < SAMPLES; s++) {
            double at = plane.constant, zero = limits.constant, value;
            for (uint32_t v = 0; v < h.n_vars; v++) {
                x[v] = draw_between(&seed, p->range.low[v], p->range.high[v]);
                at += plane.slope[v] * x[v];
                zero += limits.slope[v] * x[v];
            }
            value = feasible_value(&h, x);
            if (value == INFINITY)
                continue;
            feasible++;
            excess = fmax(excess, fmax(at - value, zero));
            assert_true(at <= value && zero <= 0);
        }
        dfl_arena_free(arena);
    }
    assert_true(feasible > PROGRAMS_DRAWN * SAMPLES / 8);
    assert_true(excess > -1e-2); /* the samples come near */
}

/* The bound is at most the best value that a search finds, and within half a percent of it: cold, in boxes from the solution of
   the range, and by the plane of the range. */
static void is_close(void **state)
{
    uint64_t seed = 2;
    uint32_t solved = 0, infeasible = 0;

    (void)state;
    for (uint32_t i = 0; i < PROGRAMS_DRAWN; i++) {
        const hand_program h = draw_program(&seed);
        dfl_arena *arena = dfl_arena_new(NULL);
        const dfl_geometric_program *p = make(arena, &h);
        dfl_geometric_solution whole, part;
        dfl_geometric_box box;
        double best;
        assert_non_null(p);
        dfl_geometric_solve(p, &p->range, NULL, &CLOSE, &whole);
        best = search(&h, p, &p->range, &seed);
        assert_true(whole.bound <= best);
        infeasible += whole.reason == DFL_GEOMETRIC_INFEASIBLE;
        if (best < INFINITY) {
            assert_int_equal(whole.reason, DFL_GEOMETRIC_CLOSE);
            assert_true(whole.bound >= best - 0.005);
            solved++;
        }
        box = draw_box(p, &seed);
        dfl_geometric_solve(p, &box, &whole.state, &CLOSE, &part);
        best = search(&h, p, &box, &seed);
        assert_true(part.bound <= best);
        if (best < INFINITY) {
            assert_true(part.bound >= best - 0.005);
            assert_true(dfl_geometric_least(p, &whole.plane, &box) <= best);
        }
        dfl_arena_free(arena);
    }
    assert_true(solved > PROGRAMS_DRAWN / 2 && infeasible > 0);
}

/* ---- exponentials ---- */

static void exponentials_are_close(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        const double range = i % 2 ? DFL_EXPONENT_MAX : 2, x = draw_between(&seed, -range, range);
        double y;
        dfl_exponentials(&x, 1, &y);
        assert_true(fabsl((long double)y / expl((long double)x) - 1) <= DFL_EXPONENTIAL_ERROR);
        assert_true(fabsl((long double)dfl_logarithm(y) - logl((long double)y)) <= DFL_EXPONENTIAL_ERROR + range * 0x1p-52);
    }
}

/* The same bits everywhere: alone, in blocks, with every compiler and library. */
static void exponentials_have_the_same_bits(void **state)
{
    double x[11], y[11];

    (void)state;
    for (int i = 0; i < 11; i++)
        x[i] = 0.37 * i * i - 11;
    dfl_exponentials(x, 11, y);
    for (int i = 0; i < 11; i++) {
        double one;
        dfl_exponentials(&x[i], 1, &one);
        assert_memory_equal(&one, &y[i], sizeof one);
    }
    assert_true(y[0] == 0x1.18354238f6764p-16 && y[10] == 0x1.6c932696a6b32p+37);
    assert_true(dfl_logarithm(1) == 0 && dfl_logarithm(10) == 0x1.26bb1bbb55516p+1);
    assert_true(dfl_logarithm(0x1p-300 / 3) == -0x1.a215e57c295eap+7);
    x[0] = 0;
    dfl_exponentials(x, 1, y);
    assert_true(y[0] == 1);
}

/* Sums of one monomial stand behind the others: 1 / x, then x + 1 / x, then 2 / x. */
static void places_sums(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_geometric_draft *d = DFL_NEW(arena, dfl_geometric_draft);
    static const uint32_t PLACES[] = { 0, 2, 1, 3 };
    const dfl_geometric_program *p;
    uint32_t x;

    (void)state;
    dfl_geometric_begin(d);
    x = dfl_geometric_var(d, 0, 1);
    for (uint32_t k = 0; k < 4; k++) {
        if (k == 2) {
            dfl_geometric_term(d, 1);
            dfl_geometric_raise(d, x, 1);
        }
        dfl_geometric_term(d, k + 1.0);
        dfl_geometric_raise(d, x, -1);
        dfl_geometric_end(d);
    }
    for (uint32_t k = 0; k < 4; k++)
        assert_int_equal(dfl_geometric_place(d, k), PLACES[k]);
    p = dfl_geometric_close(arena, d);
    assert_int_equal(p->first_term[2] - p->first_term[1], 2);
    assert_int_equal(p->n_curved, 2);
    dfl_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes), cmocka_unit_test(allows_for_rounding), cmocka_unit_test(knobs_turn),
        cmocka_unit_test(encloses), cmocka_unit_test(ends_early), cmocka_unit_test(places_sums),
        cmocka_unit_test(refuses), cmocka_unit_test(never_above), cmocka_unit_test(is_close),
        cmocka_unit_test(exponentials_are_close), cmocka_unit_test(exponentials_have_the_same_bits),
    };
    int failed = CHECK_TABLE("mapper.geometric.programs", PROGRAMS, solves);

    return CHECK_GROUP("mapper.geometric", tests) + failed;
}
