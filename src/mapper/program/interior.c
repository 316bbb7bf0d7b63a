#include "mapper/program/interior.h"

#include <math.h>
#include <string.h>

#include "mapper/problem/limits.h"

enum { VARS = DFL_GEOMETRIC_VARS, SUMS = DFL_GEOMETRIC_SUMS };

/* Width of a range below which it is a point: sizes differ by more. */
#define NARROW 1e-9
/* Share of a range that x keeps from its ends, so that no slack is 0. */
#define DISTANCE 1e-13
/* Residual below which no step is too long. */
#define SMALL_RESIDUAL 0.1
/* Length of a step below which x rests; the next one then has length RESTART. While x rests, multipliers find whether the limits
   can hold together. But they alone can make the residual larger, so that x would rest for ever. */
#define SHORTEST 0.01
#define RESTART 0.25
/* Least pivot of the matrix; it only shortens steps in directions in which nothing changes. */
#define LEAST_PIVOT 1e-12

/* Multipliers of one end of the range of each free variable, their change in a step, and the products that the step aims at. */
typedef struct {
    double multiplier[VARS], change[VARS], target[VARS];
} ends;

/*
 * At the optimum, slack * multiplier = 0 for each limit and each end of a range; the distance of x from the end is the slack
 * there. Steps solve slack * multiplier = mu for falling mu (central path).
 */
typedef struct {
    const dfl_geometric_program *p;
    const dfl_geometric_box *box;
    dfl_geometric_solution *out;
    double *x, *multiplier;         /* those of out->state */
    uint32_t n_free;                /* variables whose range is no point */
    uint8_t free_var[VARS];
    double slack[SUMS];             /* ln (sum) + slack = 0 in the end */
    double slack_change[SUMS], multiplier_change[SUMS], target[SUMS];
    double x_change[VARS];          /* by free variable */
    ends low, high;
    double matrix[VARS][VARS];      /* lower triangle over all variables, then over the free ones, then its factors */
    double vector[VARS];            /* by free variable */
    double longest;                 /* change of a logarithm in the next step, at most */
    double residual;                /* what is missing in the equations that steps solve but for the products */
    dfl_geometric_sums sums;
} solver;

static double lesser(double a, double b) { return a < b ? a : b; }
static double larger(double a, double b) { return a > b ? a : b; }
static double low_slack(const solver *s, uint32_t i) { return s->x[s->free_var[i]] - s->box->low[s->free_var[i]]; }
static double high_slack(const solver *s, uint32_t i) { return s->box->high[s->free_var[i]] - s->x[s->free_var[i]]; }

/* ---- start ---- */

/* The free variables; x near `start`, or in the middle, inside of its range. */
static void start_point(solver *s, const dfl_geometric_state *start)
{
    s->n_free = 0;
    for (uint32_t j = 0; j < s->p->n_vars; j++) {
        const double low = s->box->low[j], high = s->box->high[j], margin = (high - low) * DFL_GEOMETRIC_WARM_MARGIN;
        if (high - low <= NARROW) {
            s->x[j] = low;
            continue;
        }
        s->x[j] = start ? lesser(larger(start->x[j], low + margin), high - margin) : 0.5 * (low + high);
        s->free_var[s->n_free++] = (uint8_t)j;
    }
}

static void start_multipliers(solver *s, const dfl_geometric_state *start)
{
    const double mu = start ? DFL_GEOMETRIC_WARM_PRODUCT : DFL_GEOMETRIC_COLD_PRODUCT;

    for (uint32_t k = 1; k < s->p->n_sums; k++) {
        const double slack = -s->sums.value[k];
        if (start) {
            s->multiplier[k] = larger(start->multiplier[k], mu / larger(slack, 1));
            s->slack[k] = larger(slack, mu / s->multiplier[k]);
        } else {
            s->slack[k] = larger(slack, DFL_GEOMETRIC_COLD_SLACK);
            s->multiplier[k] = mu / s->slack[k];
        }
    }
    for (uint32_t i = 0; i < s->n_free; i++) {
        s->low.multiplier[i] = mu / low_slack(s, i);
        s->high.multiplier[i] = mu / high_slack(s, i);
    }
}

/* ---- bound ---- */

/* Whether the limits cannot hold together. */
static bool excludes_all(solver *s)
{
    dfl_geometric_plane plane;

    dfl_geometric_tangent(s->p, &s->sums, s->x, s->multiplier, true, &plane);
    if (!(dfl_geometric_least(s->p, &plane, s->box) > 0))
        return false;
    s->out->bound = INFINITY;
    s->out->plane = plane;
    return true;
}

/* Notes bound, plane and value at x; whether the search ends here. */
static bool note(solver *s, const dfl_geometric_effort *e)
{
    dfl_geometric_solution *out = s->out;
    dfl_geometric_plane plane;
    double bound, most = -INFINITY;

    for (uint32_t k = 1; k < s->p->n_sums; k++)
        most = larger(most, s->sums.value[k]);
    out->value = most <= e->precision ? s->sums.value[0] : INFINITY;
    dfl_geometric_tangent(s->p, &s->sums, s->x, s->multiplier, false, &plane);
    bound = dfl_geometric_least(s->p, &plane, s->box);
    if (bound > out->bound) {
        out->bound = bound;
        out->plane = plane;
    }
    if (out->bound > e->cutoff)
        out->reason = DFL_GEOMETRIC_ABOVE;
    else if (e->stop_below && out->value < e->cutoff)
        out->reason = DFL_GEOMETRIC_BELOW;
    else if (out->value - out->bound <= e->precision)
        out->reason = DFL_GEOMETRIC_CLOSE;
    else if (most > 0 && excludes_all(s))
        out->reason = DFL_GEOMETRIC_INFEASIBLE;
    else
        return false;
    return true;
}

/* ---- Newton step ---- */

/* Adds weight * a * a' to the matrix; `a` stands at `var`, ascending. */
static void add_square(solver *s, const uint8_t *var, const double *a, uint32_t n, double weight)
{
    for (uint32_t i = 0; i < n; i++) {
        const double w = weight * a[i];
        double *row = s->matrix[var[i]];
        for (uint32_t j = 0; j <= i; j++)
            row[var[j]] += w * a[j];
    }
}

/* Second derivatives of the Lagrangian, and what slacks and multipliers add where they are eliminated: multiplier / slack times
   slope * slope' for each limit and each end. */
static void make_matrix(solver *s)
{
    const dfl_geometric_program *p = s->p;

    for (uint32_t j = 0; j < p->n_vars; j++)
        memset(s->matrix[j], 0, (j + 1) * sizeof(double));
    for (uint32_t k = 0; k < p->n_sums; k++) {
        const uint32_t first = p->first_slope[k];
        const double m = k == 0 ? 1 : s->multiplier[k];
        double squares = k == 0 ? 0 : m / s->slack[k];
        if (k < p->n_curved) {
            squares -= m;
            for (uint32_t t = p->first_term[k]; t < p->first_term[k + 1]; t++)
                add_square(s, p->var + p->first_power[t], p->power + p->first_power[t], p->first_power[t + 1] - p->first_power[t],
                           m * s->sums.share[t]);
        }
        add_square(s, p->slope_var + first, s->sums.slope + first, p->first_slope[k + 1] - first, squares);
    }
    for (uint32_t i = 0; i < s->n_free; i++) {
        const uint32_t j = s->free_var[i];
        for (uint32_t l = 0; l <= i; l++)
            s->matrix[i][l] = s->matrix[j][s->free_var[l]];
        s->matrix[i][i] += s->low.multiplier[i] / low_slack(s, i) + s->high.multiplier[i] / high_slack(s, i);
    }
}

/* matrix = L D L'; then L stands below the diagonal, and 1 / D on it. The matrix is positive semidefinite. */
static void factor_matrix(solver *s)
{
    for (uint32_t i = 0; i < s->n_free; i++) {
        double *row = s->matrix[i], pivot = row[i];
        for (uint32_t j = 0; j < i; j++)
            for (uint32_t l = 0; l < j; l++)
                row[j] -= row[l] * s->matrix[j][l];
        for (uint32_t j = 0; j < i; j++) {
            const double l = row[j] * s->matrix[j][j];
            pivot -= l * row[j];
            row[j] = l;
        }
        row[i] = 1 / larger(pivot, LEAST_PIVOT);
    }
}

/* Solves matrix * result = vector in place. */
static void solve_factored(solver *s)
{
    double *v = s->vector;

    for (uint32_t i = 0; i < s->n_free; i++)
        for (uint32_t j = 0; j < i; j++)
            v[i] -= s->matrix[i][j] * v[j];
    for (uint32_t i = 0; i < s->n_free; i++)
        v[i] *= s->matrix[i][i];
    for (uint32_t i = s->n_free; i-- > 0;)
        for (uint32_t j = 0; j < i; j++)
            v[j] -= s->matrix[i][j] * v[i];
}

/*
 * The change of everything towards slack * multiplier = mu. With `corrected` (Mehrotra), the products also take off
 * slack change * multiplier change of the direction found before, which a linear step leaves out.
 */
static void find_direction(solver *s, double mu, bool corrected)
{
    const dfl_geometric_program *p = s->p;
    const double again = corrected ? 1 : 0;
    double full[VARS] = { 0 };

    for (uint32_t i = p->first_slope[0]; i < p->first_slope[1]; i++)
        full[p->slope_var[i]] = -s->sums.slope[i];
    for (uint32_t k = 1; k < p->n_sums; k++) {
        const double missing = s->multiplier[k] * (s->sums.value[k] + s->slack[k]);
        s->target[k] = mu - again * s->slack_change[k] * s->multiplier_change[k];
        for (uint32_t i = p->first_slope[k]; i < p->first_slope[k + 1]; i++)
            full[p->slope_var[i]] -= (s->target[k] + missing) / s->slack[k] * s->sums.slope[i];
    }
    for (uint32_t i = 0; i < s->n_free; i++) {
        s->low.target[i] = mu - again * s->x_change[i] * s->low.change[i];
        s->high.target[i] = mu + again * s->x_change[i] * s->high.change[i];
        s->vector[i] = full[s->free_var[i]] + s->low.target[i] / low_slack(s, i) - s->high.target[i] / high_slack(s, i);
    }
    solve_factored(s);
    memset(full, 0, sizeof full);
    for (uint32_t i = 0; i < s->n_free; i++) {
        const double change = s->vector[i];
        s->x_change[i] = full[s->free_var[i]] = change;
        s->low.change[i] = (s->low.target[i] - s->low.multiplier[i] * change) / low_slack(s, i) - s->low.multiplier[i];
        s->high.change[i] = (s->high.target[i] + s->high.multiplier[i] * change) / high_slack(s, i) - s->high.multiplier[i];
    }
    for (uint32_t k = 1; k < p->n_sums; k++) {
        double change = s->sums.value[k] + s->slack[k];
        for (uint32_t i = p->first_slope[k]; i < p->first_slope[k + 1]; i++)
            change += s->sums.slope[i] * full[p->slope_var[i]];
        s->slack_change[k] = -change;
        s->multiplier_change[k] = (s->target[k] + s->multiplier[k] * change) / s->slack[k] - s->multiplier[k];
    }
}

/* ---- length of a step ---- */

/* Shortens a step until value + step * change >= 0. */
static void shorten(double value, double change, double *step)
{
    if (value + *step * change < 0)
        *step = -value / change;
}

/* Steps of x and slacks, and of multipliers, at most 1: `share` of the way to the first that becomes 0, and x no further than
   `longest`, since the second derivatives of curved sums hold for about one unit. */
static void find_steps(const solver *s, double share, double longest, double *x_step, double *step)
{
    *x_step = *step = 1 / share;
    for (uint32_t k = 1; k < s->p->n_sums; k++) {
        shorten(s->slack[k], s->slack_change[k], x_step);
        shorten(s->multiplier[k], s->multiplier_change[k], step);
    }
    for (uint32_t i = 0; i < s->n_free; i++) {
        shorten(low_slack(s, i), s->x_change[i], x_step);
        shorten(high_slack(s, i), -s->x_change[i], x_step);
        shorten(s->low.multiplier[i], s->low.change[i], step);
        shorten(s->high.multiplier[i], s->high.change[i], step);
    }
    *x_step *= share;
    *step *= share;
    for (uint32_t i = 0; i < s->n_free; i++)
        if (*x_step * fabs(s->x_change[i]) > longest)
            *x_step = longest / fabs(s->x_change[i]);
}

/* Mean of slack * multiplier after a step. */
static double mean_product(const solver *s, double x_step, double step)
{
    double sum = 0;

    for (uint32_t k = 1; k < s->p->n_sums; k++)
        sum += (s->slack[k] + x_step * s->slack_change[k]) * (s->multiplier[k] + step * s->multiplier_change[k]);
    for (uint32_t i = 0; i < s->n_free; i++) {
        const double change = x_step * s->x_change[i];
        sum += (low_slack(s, i) + change) * (s->low.multiplier[i] + step * s->low.change[i]) +
               (high_slack(s, i) - change) * (s->high.multiplier[i] + step * s->high.change[i]);
    }
    return sum / (s->p->n_sums - 1 + 2 * s->n_free);
}

/* Largest error in slope of Lagrangian = 0 and ln (sum) + slack = 0, at x. */
static double find_residual(const solver *s)
{
    const dfl_geometric_program *p = s->p;
    double most = 0, slope[VARS] = { 0 };

    for (uint32_t k = 0; k < p->n_sums; k++) {
        const double m = k == 0 ? 1 : s->multiplier[k];
        for (uint32_t i = p->first_slope[k]; i < p->first_slope[k + 1]; i++)
            slope[p->slope_var[i]] += m * s->sums.slope[i];
        most = k == 0 ? most : larger(most, fabs(s->sums.value[k] + s->slack[k]));
    }
    for (uint32_t i = 0; i < s->n_free; i++)
        most = larger(most, fabs(slope[s->free_var[i]] - s->low.multiplier[i] + s->high.multiplier[i]));
    return most;
}

static void take_step(solver *s, double x_step, double step)
{
    for (uint32_t k = 1; k < s->p->n_sums; k++) {
        s->slack[k] += x_step * s->slack_change[k];
        s->multiplier[k] += step * s->multiplier_change[k];
    }
    for (uint32_t i = 0; i < s->n_free; i++) {
        const uint32_t j = s->free_var[i];
        const double low = s->box->low[j], high = s->box->high[j], margin = DISTANCE * (high - low);
        s->x[j] = lesser(larger(s->x[j] + x_step * s->x_change[i], low + margin), high - margin);
        s->low.multiplier[i] += step * s->low.change[i];
        s->high.multiplier[i] += step * s->high.change[i];
    }
    dfl_geometric_evaluate(s->p, s->x, &s->sums);
}

/* The next step may be longer if this one, of length `length`, was good; steps that make the residual larger went too far for
   the second derivatives from which they come. */
static void fit_length(solver *s, double length)
{
    const double residual = find_residual(s);

    s->longest = residual > larger(s->residual, SMALL_RESIDUAL) ? 0.5 * lesser(length, s->longest)
                                                             : lesser(2 * s->longest, DFL_GEOMETRIC_STEP_LENGTH);
    if (s->longest < SHORTEST)
        s->longest = RESTART;
    s->residual = residual;
}

/* One step of Mehrotra's predictor and corrector: how far mu = 0 can be approached tells what to aim at. */
static void step_once(solver *s)
{
    double x_step, step, before, after, length = 0;

    before = mean_product(s, 0, 0);
    make_matrix(s);
    factor_matrix(s);
    find_direction(s, 0, false);
    find_steps(s, 1, INFINITY, &x_step, &step);
    after = mean_product(s, x_step, step) / before;
    find_direction(s, before * after * after * after, true);
    find_steps(s, DFL_GEOMETRIC_STEP_SHARE, s->longest, &x_step, &step);
    for (uint32_t i = 0; i < s->n_free; i++)
        length = larger(length, x_step * fabs(s->x_change[i]));
    take_step(s, x_step, step);
    fit_length(s, length);
}

void dfl_geometric_solve(const dfl_geometric_program *p, const dfl_geometric_box *box, const dfl_geometric_state *start,
                         const dfl_geometric_effort *effort, dfl_geometric_solution *out)
{
    solver s;

    s.p = p;
    s.box = box;
    s.out = out;
    s.x = out->state.x;
    s.multiplier = out->state.multiplier;
    memset(s.x_change, 0, sizeof s.x_change);
    memset(s.low.change, 0, sizeof s.low.change);
    memset(s.high.change, 0, sizeof s.high.change);
    memset(s.slack_change, 0, sizeof s.slack_change);
    memset(s.multiplier_change, 0, sizeof s.multiplier_change);
    memset(&out->plane, 0, sizeof out->plane);
    out->bound = out->plane.constant = -INFINITY;
    out->reason = DFL_GEOMETRIC_STEPS;
    start_point(&s, start);
    dfl_geometric_evaluate(p, s.x, &s.sums);
    start_multipliers(&s, start);
    s.longest = DFL_GEOMETRIC_STEP_LENGTH;
    s.residual = find_residual(&s);
    for (out->steps = 0; !note(&s, effort) && out->steps < effort->steps; out->steps++)
        step_once(&s);
}
