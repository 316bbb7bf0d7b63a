#include "mapper/program/program.h"

#include <math.h>
#include <string.h>

#include "mapper/program/exponential.h"

void dfl_geometric_begin(dfl_geometric_draft *d)
{
    d->n_vars = d->n_sums = d->n_terms = d->n_knobs = 0;
    d->first_term[0] = 0;
    d->failed = false;
}

uint32_t dfl_geometric_var(dfl_geometric_draft *d, double low, double high)
{
    if (d->n_vars == DFL_GEOMETRIC_VARS || d->n_terms > 0 || !(low <= high) || !isfinite(low) || !isfinite(high)) {
        d->failed = true;
        return 0;
    }
    d->range.low[d->n_vars] = low;
    d->range.high[d->n_vars] = high;
    return d->n_vars++;
}

void dfl_geometric_term(dfl_geometric_draft *d, double coefficient)
{
    if (d->n_terms == DFL_GEOMETRIC_TERMS || !isfinite(coefficient)) {
        d->failed = true;
        return;
    }
    memset(d->power[d->n_terms], 0, d->n_vars * sizeof(double));
    d->knob[d->n_terms] = 0;
    d->coefficient[d->n_terms++] = coefficient;
}

void dfl_geometric_scale(dfl_geometric_draft *d, double factor)
{
    if (d->n_terms > 0)
        d->coefficient[d->n_terms - 1] *= factor;
}

void dfl_geometric_raise(dfl_geometric_draft *d, uint32_t var, double power)
{
    if (d->n_terms > 0 && var < d->n_vars)
        d->power[d->n_terms - 1][var] += power;
    else
        d->failed = true;
}

uint32_t dfl_geometric_knob(dfl_geometric_draft *d)
{
    if (d->n_terms > 0 && d->knob[d->n_terms - 1] == 0)
        d->knob[d->n_terms - 1] = (uint16_t)++d->n_knobs;
    else
        d->failed = true;
    return d->n_knobs - 1;
}

/* Whether two monomials can be added up. */
static bool are_equal(const dfl_geometric_draft *d, uint32_t a, uint32_t b)
{
    return d->knob[a] == 0 && d->knob[b] == 0 && memcmp(d->power[a], d->power[b], d->n_vars * sizeof(double)) == 0;
}

/* Adds up the monomials of the last sum that have the same powers; `gain` takes the positive parts. Returns the end. */
static uint32_t add_equal(dfl_geometric_draft *d, double *gain)
{
    const uint32_t first = d->first_term[d->n_sums];
    uint32_t n = first;

    for (uint32_t t = first; t < d->n_terms; t++) {
        const double coefficient = d->coefficient[t];
        uint32_t same = first;
        for (uint32_t v = 0; v < d->n_vars; v++)
            d->power[t][v] += 0.0; /* -0 becomes 0 */
        while (same < n && !are_equal(d, same, t))
            same++;
        if (same == n) {
            d->coefficient[n] = gain[n] = 0;
            d->knob[n] = d->knob[t];
            if (n < t)
                memcpy(d->power[n], d->power[t], d->n_vars * sizeof(double));
            n++;
        }
        d->coefficient[same] += coefficient;
        gain[same] += fmax(0, coefficient);
    }
    return n;
}

void dfl_geometric_end(dfl_geometric_draft *d)
{
    const uint32_t first = d->first_term[d->n_sums];
    double gain[DFL_GEOMETRIC_TERMS];
    uint32_t end = add_equal(d, gain), n = first;

    for (uint32_t t = first; t < end; t++) {
        if (fabs(d->coefficient[t]) <= DFL_GEOMETRIC_CANCELLED * gain[t])
            continue;
        d->failed |= d->coefficient[t] < 0;
        if (n < t) {
            d->coefficient[n] = d->coefficient[t];
            d->knob[n] = d->knob[t];
            memcpy(d->power[n], d->power[t], d->n_vars * sizeof(double));
        }
        n++;
    }
    d->n_terms = n;
    if (n == first)
        d->failed |= d->n_sums == 0;
    else if (d->n_sums == DFL_GEOMETRIC_SUMS)
        d->failed = true;
    else
        d->first_term[++d->n_sums] = n;
}

void dfl_geometric_enclose(dfl_geometric_draft *d, uint32_t var)
{
    double most = d->range.high[var];

    for (uint32_t k = 1; k < d->n_sums; k++) {
        const uint32_t first = d->first_term[k], end = d->first_term[k + 1];
        const double monomials = dfl_logarithm(end - first);
        bool everywhere = true;
        for (uint32_t t = first; t < end; t++)
            everywhere &= d->power[t][var] == -1;
        for (uint32_t t = first; t < end && everywhere; t++) {
            double largest = isnormal(d->coefficient[t]) ? monomials + dfl_logarithm(d->coefficient[t]) : 0;
            for (uint32_t v = 0; v < d->n_vars; v++)
                if (v != var)
                    largest += fmax(d->power[t][v] * d->range.low[v], d->power[t][v] * d->range.high[v]);
            most = fmax(most, largest + 1);
        }
    }
    d->range.high[var] = most;
}

/* Number of variables of monomials `from` to `to`, each once if `once`; `vars` takes those of each monomial in turn. */
static uint32_t list_vars(const dfl_geometric_draft *d, uint32_t from, uint32_t to, uint8_t *vars)
{
    uint32_t n = 0;

    for (uint32_t v = 0; v < d->n_vars; v++) {
        bool used = false;
        for (uint32_t t = from; t < to; t++)
            used |= d->power[t][v] != 0;
        if (used)
            vars[n++] = (uint8_t)v;
    }
    return n;
}

/* Where the parts of a program that are being written lie. */
typedef struct {
    double *offset, *power, *knob_offset;
    uint16_t *knob_term;
    uint32_t *first_power, *first_term, *first_slope;
    uint8_t *var, *slope_var;
} parts;

static void add_sum(dfl_geometric_program *p, const parts *to, const dfl_geometric_draft *d, uint32_t sum)
{
    const uint32_t first = d->first_term[sum], end = d->first_term[sum + 1];
    uint32_t *slopes = &to->first_slope[p->n_sums];

    for (uint32_t t = first; t < end; t++) {
        uint32_t *powers = &to->first_power[p->n_terms], n = list_vars(d, t, t + 1, to->var + powers[0]);
        for (uint32_t i = 0; i < n; i++)
            to->power[powers[0] + i] = d->power[t][to->var[powers[0] + i]];
        powers[1] = powers[0] + n;
        to->offset[p->n_terms] = dfl_logarithm(d->coefficient[t]);
        if (d->knob[t] > 0) {
            to->knob_offset[d->knob[t] - 1] = to->offset[p->n_terms];
            to->knob_term[d->knob[t] - 1] = (uint16_t)p->n_terms;
        }
        p->n_terms++;
    }
    slopes[1] = slopes[0] + list_vars(d, first, end, to->slope_var + slopes[0]);
    to->first_term[++p->n_sums] = p->n_terms;
}

/* Largest |exponent| of a monomial at any factors of the knobs; at least 1. */
static double magnitude_of(const dfl_geometric_program *p)
{
    double most = 1;

    for (uint32_t t = 0; t < p->n_terms; t++) {
        double sum = fabs(p->offset[t]);
        for (uint32_t i = p->first_power[t]; i < p->first_power[t + 1]; i++)
            sum += fabs(p->power[i]) * fmax(fabs(p->range.low[p->var[i]]), fabs(p->range.high[p->var[i]]));
        for (uint32_t k = 0; k < p->n_knobs; k++)
            sum += p->knob_term[k] == t ? -dfl_logarithm(DFL_GEOMETRIC_LEAST_FACTOR) : 0;
        most = fmax(most, sum);
    }
    return most;
}

/*
 * Allowance for rounding, as SEARCH.md, B20, derives it: a bound whose multipliers add up to m, with 1 for the objective, is
 * wrong by at most m times this number. `u` is half of the distance from 1 to the next double.
 */
static double rounding_of(const dfl_geometric_program *p)
{
    const double u = 0x1p-53, m = p->magnitude;
    double powers = 1, terms = 1, exponent, sum, slope;

    for (uint32_t t = 0; t < p->n_terms; t++)
        powers = fmax(powers, p->first_power[t + 1] - p->first_power[t]);
    for (uint32_t k = 0; k < p->n_sums; k++)
        terms = fmax(terms, p->first_term[k + 1] - p->first_term[k]);
    exponent = 2 * DFL_EXPONENTIAL_ERROR + (powers + 3) * u * m;
    sum = exponent + DFL_EXPONENTIAL_ERROR + terms * u;
    slope = 2 * sum + (terms + 3) * u;
    return 2 * (sum + DFL_EXPONENTIAL_ERROR + 2 * u * m + 2 * m * slope + m * u * (9 * p->n_sums + 10 * p->n_vars + 40));
}

/* Whether a sum of the draft has one monomial. */
static bool is_straight(const dfl_geometric_draft *d, uint32_t sum) { return d->first_term[sum + 1] - d->first_term[sum] == 1; }

uint32_t dfl_geometric_place(const dfl_geometric_draft *d, uint32_t sum)
{
    uint32_t place = sum > 0;

    for (uint32_t k = 1; k < d->n_sums && sum > 0; k++)
        place += is_straight(d, k) == is_straight(d, sum) ? k < sum : is_straight(d, sum);
    return place;
}

dfl_geometric_program *dfl_geometric_close(dfl_arena *arena, dfl_geometric_draft *d)
{
    uint32_t n_powers = 0, n_slopes = 0;
    dfl_geometric_program *p;
    uint8_t vars[DFL_GEOMETRIC_VARS];
    parts to;

    if (d->failed || d->n_sums == 0)
        return NULL;
    for (uint32_t t = 0; t < d->n_terms; t++) {
        if (!isnormal(d->coefficient[t]))
            return NULL;
        n_powers += list_vars(d, t, t + 1, vars);
    }
    for (uint32_t k = 0; k < d->n_sums; k++)
        n_slopes += list_vars(d, d->first_term[k], d->first_term[k + 1], vars);
    p = DFL_NEW(arena, dfl_geometric_program);
    p->n_vars = d->n_vars;
    p->range = d->range;
    p->offset = to.offset = DFL_NEW_ARRAY(arena, double, d->n_terms);
    p->power = to.power = DFL_NEW_ARRAY(arena, double, n_powers);
    p->first_power = to.first_power = DFL_NEW_ARRAY(arena, uint32_t, d->n_terms + 1);
    p->first_term = to.first_term = DFL_NEW_ARRAY(arena, uint32_t, d->n_sums + 1);
    p->first_slope = to.first_slope = DFL_NEW_ARRAY(arena, uint32_t, d->n_sums + 1);
    p->var = to.var = DFL_NEW_ARRAY(arena, uint8_t, n_powers);
    p->slope_var = to.slope_var = DFL_NEW_ARRAY(arena, uint8_t, n_slopes);
    p->knob_offset = to.knob_offset = DFL_NEW_ARRAY(arena, double, d->n_knobs);
    p->knob_term = to.knob_term = DFL_NEW_ARRAY(arena, uint16_t, d->n_knobs);
    p->n_knobs = d->n_knobs;
    for (uint32_t k = 0; k < d->n_knobs; k++)
        to.knob_term[k] = DFL_GEOMETRIC_NO_TERM;
    add_sum(p, &to, d, 0);
    for (int straight = 0; straight < 2; straight++) {
        for (uint32_t k = 1; k < d->n_sums; k++)
            if (is_straight(d, k) == straight)
                add_sum(p, &to, d, k);
        p->n_curved = straight ? p->n_curved : p->n_sums;
    }
    p->magnitude = magnitude_of(p);
    p->rounding = rounding_of(p);
    return p->magnitude <= DFL_EXPONENT_MAX ? p : NULL;
}

void dfl_geometric_turn(dfl_geometric_program *p, uint32_t knob, double factor)
{
    if (p->knob_term[knob] != DFL_GEOMETRIC_NO_TERM)
        p->offset[p->knob_term[knob]] = p->knob_offset[knob] + dfl_logarithm(fmax(factor, DFL_GEOMETRIC_LEAST_FACTOR));
}
