/*
 * Measures the solver of geometric programs: the tiles of a matrix product of 4096^3 in four levels of memory, energy times
 * latency. Prints processor time of solves from nothing, and of halves of the range from its solution, as a branch and bound
 * asks for them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "mapper/program/interior.h"

enum { LEVELS = 4, RANKS = 3, EXTENT = 4096, ROUNDS = 5, TIMES = 2000 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Elements that operand `o` (all ranks but rank o) moves into level `l`: a factor extent / tile of rank o. */
static void add_traffic(dfl_geometric_draft *d, uint32_t o, uint32_t l, double coefficient)
{
    dfl_geometric_term(d, coefficient * EXTENT * EXTENT * EXTENT);
    dfl_geometric_raise(d, l * RANKS + o, -1);
}

static dfl_geometric_program *make(dfl_arena *arena)
{
    dfl_geometric_draft *d = DFL_NEW(arena, dfl_geometric_draft);
    const uint32_t latency = LEVELS * RANKS;

    dfl_geometric_begin(d);
    for (uint32_t v = 0; v < LEVELS * RANKS; v++)
        (void)dfl_geometric_var(d, 0, log(EXTENT));
    (void)dfl_geometric_var(d, -40, 40);
    for (uint32_t l = 0; l < LEVELS; l++)
        for (uint32_t o = 0; o < RANKS; o++) {
            add_traffic(d, o, l, 1e-10 / (1 << 3 * l));
            dfl_geometric_raise(d, latency, 1);
        }
    dfl_geometric_term(d, 0.05);
    dfl_geometric_raise(d, latency, 1);
    dfl_geometric_term(d, 0.1);
    dfl_geometric_raise(d, latency, 2);
    dfl_geometric_end(d);
    dfl_geometric_term(d, 1e-3); /* work */
    dfl_geometric_raise(d, latency, -1);
    dfl_geometric_end(d);
    for (uint32_t l = 0; l < LEVELS; l++) {
        for (uint32_t o = 0; o < RANKS; o++) {
            add_traffic(d, o, l, 1e-12 / (1 << 2 * l));
            dfl_geometric_raise(d, latency, -1);
        }
        dfl_geometric_end(d);
        for (uint32_t o = 0; o < RANKS; o++) { /* room */
            dfl_geometric_term(d, 2.0 / (1 << (22 - 5 * l)));
            for (uint32_t r = 0; r < RANKS; r++)
                if (r != o)
                    dfl_geometric_raise(d, l * RANKS + r, 1);
        }
        dfl_geometric_end(d);
        for (uint32_t r = 0; r < RANKS && l > 0; r++) { /* a tile is at most the one around it */
            dfl_geometric_term(d, 1);
            dfl_geometric_raise(d, l * RANKS + r, 1);
            dfl_geometric_raise(d, (l - 1) * RANKS + r, -1);
            dfl_geometric_end(d);
        }
    }
    return dfl_geometric_close(arena, d);
}

/* The range with one variable cut in half: box `i` of 2 per variable. */
static dfl_geometric_box half_of(const dfl_geometric_program *p, uint32_t i)
{
    dfl_geometric_box box = p->range;
    const uint32_t v = i / 2 % (LEVELS * RANKS);
    const double middle = (box.low[v] + box.high[v]) / 2;

    *(i % 2 ? &box.low[v] : &box.high[v]) = middle;
    return box;
}

/* Best mean time of a solve, s: of the range, or, with a start, of its halves up to a cutoff. */
static double time_of(const dfl_geometric_program *p, const dfl_geometric_state *start, double cutoff, uint32_t *steps)
{
    const dfl_geometric_effort effort = { .precision = 1e-3, .cutoff = cutoff, .stop_below = true, .steps = 60 };
    dfl_geometric_solution s;
    double best = INFINITY;

    for (int round = 0; round < ROUNDS; round++) {
        const double begin = now();
        *steps = 0;
        for (uint32_t i = 0; i < TIMES; i++) {
            const dfl_geometric_box box = half_of(p, i);
            dfl_geometric_solve(p, start ? &box : &p->range, start, &effort, &s);
            *steps += s.steps;
        }
        best = fmin(best, (now() - begin) / TIMES);
    }
    return best;
}

int main(void)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    const dfl_geometric_program *p = make(arena);
    const dfl_geometric_effort effort = { .precision = 1e-3, .cutoff = INFINITY, .steps = 60 };
    dfl_geometric_solution s;
    uint32_t steps;
    double seconds;

    if (!p)
        abort();
    dfl_geometric_solve(p, &p->range, NULL, &effort, &s);
    seconds = time_of(p, NULL, INFINITY, &steps);
    printf("%-31s %8.2f us each, %.1f steps (%u variables, %u sums, %u monomials, gap %.3f %%)\n", "geometric program, cold",
           seconds * 1e6, (double)steps / TIMES, p->n_vars, p->n_sums, p->n_terms, 100 * expm1(s.value - s.bound));
    seconds = time_of(p, &s.state, INFINITY, &steps);
    printf("%-31s %8.2f us each, %.1f steps\n", "  halves, from its solution", seconds * 1e6, (double)steps / TIMES);
    seconds = time_of(p, &s.state, s.bound + log(1.05), &steps);
    printf("%-31s %8.2f us each, %.1f steps\n", "  the same, cutoff 5 % higher", seconds * 1e6, (double)steps / TIMES);
    dfl_arena_free(arena);
    return 0;
}
