#include "collective/pieces.h"

#include <math.h>

/* The phase that serves its next piece: the one to which its next piece came first. `came`: [phase * pieces + piece]. */
static uint32_t find_next(const double *came, const int64_t *begun, uint32_t n_phases, int64_t pieces)
{
    double first = INFINITY;
    uint32_t next = 0;

    for (uint32_t k = 0; k < n_phases; k++) {
        if (begun[k] == pieces || (k > 0 && begun[k - 1] == begun[k]))
            continue;
        if (came[k * pieces + begun[k]] <= first) {
            first = came[k * pieces + begun[k]];
            next = k;
        }
    }
    return next;
}

double dfl_pieces_end(dfl_arena *arena, const dfl_phase_time *phases, uint32_t n_phases, int64_t pieces)
{
    int64_t begun[DFL_COLLECTIVE_PHASES] = { 0 };
    double *came = DFL_NEW_ARRAY(arena, double, (size_t)((n_phases + 1) * pieces));
    double free_at[DFL_COLLECTIVE_ENGINES] = { 0 }, last = 0;

    for (int64_t left = pieces * n_phases; left > 0; left--) {
        uint32_t k = find_next(came, begun, n_phases, pieces);
        double end = came[k * pieces + begun[k]];
        for (uint64_t rest = phases[k].engines; rest != 0; rest &= rest - 1) {
            double at = free_at[__builtin_ctzll(rest)];
            end = at > end ? at : end;
        }
        end += phases[k].seconds;
        for (uint64_t rest = phases[k].engines; rest != 0; rest &= rest - 1)
            free_at[__builtin_ctzll(rest)] = end;
        came[(k + 1) * pieces + begun[k]++] = end;
        last = end > last ? end : last;
    }
    return last;
}
