#include "mapper/join/lines.h"

#include <math.h>

#include "mapper/problem/limits.h"

/* Whether a point lies above all lines, but for rounding. */
static bool is_above(const dfl_line_bound *lines, uint32_t n, double joules, double seconds)
{
    for (uint32_t i = 0; i < n; i++)
        if (lines[i].per_joule * joules + lines[i].per_second * seconds < lines[i].least * (1 - DFL_LINES_ROUNDING))
            return false;
    return true;
}

/* The point that lies on the lines J >= least and S >= least. */
static void find_corner(const dfl_line_bound *lines, uint32_t n, double *joules, double *seconds)
{
    *joules = *seconds = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (lines[i].per_second == 0)
            *joules = fmax(*joules, lines[i].least / lines[i].per_joule);
        if (lines[i].per_joule == 0)
            *seconds = fmax(*seconds, lines[i].least / lines[i].per_second);
    }
}

static void try_vertex(const dfl_objective *objective, double leakage, double joules, double seconds, dfl_lines_vertex *best)
{
    const double value = dfl_objective_value(objective, joules + leakage * seconds, seconds);

    if (value < best->value)
        *best = (dfl_lines_vertex){ value, joules, seconds };
}

dfl_lines_vertex dfl_lines_least(const dfl_objective *objective, double leakage, const dfl_line_bound *lines, uint32_t n)
{
    dfl_lines_vertex best = { .value = INFINITY };

    find_corner(lines, n, &best.joules, &best.seconds);
    if (!dfl_objective_cornered(objective) || is_above(lines, n, best.joules, best.seconds)) {
        try_vertex(objective, leakage, best.joules, best.seconds, &best);
        return best;
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = i + 1; k < n; k++) {
            const double turn = lines[i].per_joule * lines[k].per_second - lines[k].per_joule * lines[i].per_second;
            const double joules = (lines[i].least * lines[k].per_second - lines[k].least * lines[i].per_second) / turn;
            const double seconds = (lines[i].per_joule * lines[k].least - lines[k].per_joule * lines[i].least) / turn;
            if (turn != 0 && is_above(lines, n, joules, seconds))
                try_vertex(objective, leakage, joules, seconds, &best);
        }
    return best;
}
