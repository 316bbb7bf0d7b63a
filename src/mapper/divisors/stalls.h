/*
 * Time that transfers take besides the work (MODEL.md, section 4), of a mapping whose ranks are cut. It guides a search, but
 * nothing is proven by it: portfolio.c takes bounds of a search in which nothing waits.
 *
 * For keep i, with S(i) iterations of all loops above it, tile(i, p) is what one of its tiles keeps port p busy, in and out.
 * Whenever a loop right above keep g advances, S(g) - S(g - 1) times in all, the tiles of all keeps below change:
 *
 *     stalls  = sum over g of (S(g) - S(g - 1)) * longest(tiles of the keeps below that the work waits for)
 *     seconds = max(work + stalls, what any port is busy with but for ends) + longest(first tiles in) + longest(last tiles out)
 *
 * where the work takes as long as the unit, and as any port that serves it, and `longest` is the longest that any port is busy,
 * or that the tiles of one tensor take, one level after another. What is kept above shared loops is not counted: its transfers
 * run beside those of other einsums (shared_inputs.h). Times of several einsums add up.
 */
#ifndef DFL_MAPPER_DIVISORS_STALLS_H
#define DFL_MAPPER_DIVISORS_STALLS_H

#include "mapper/divisors/divisors_internal.h"

/* Iterations of the own loops over a rank down to a gap, as they are chosen. */
static inline double dfl_own_loops(const dfl_search *s, uint32_t rank, uint32_t gap)
{
    return s->with[rank]->n[s->cut_at[rank][gap]][s->chosen[rank]];
}

/* Notes the waits that count in every bound, behind the ports. */
void dfl_stalls_find(dfl_search *s);
/* Seconds of the work of the present spread, for its coefficients: of the unit, and of the ports that serve it. */
double dfl_stalls_work(const dfl_search *s);
/* What the cuts that are chosen take. */
double dfl_stalls_seconds(const dfl_search *s);

#endif
