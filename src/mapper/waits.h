/*
 * Time that transfers take besides the work (MODEL.md, section 4), of a mapping whose ranks are cut: to be no more than what the
 * model says. It guides a search, but nothing is proven by it: improve.c takes bounds of a search in which nothing waits.
 *
 * An einsum takes its body, and before and behind it the first tiles in and the last ones out; times of several add up. What is
 * kept above shared loops is not counted: its transfers run beside those of other einsums (common.h). The body is no
 * shorter than what any port is busy with inside of it, and than the work and what any port is busy with that the work waits for.
 * What comes first, or last, takes as long as any port is busy with it, and as all of one tensor.
 *
 *     seconds >= work + waited at port p, but for ends + ends at port q, or at p itself
 *
 * Loops and keeps that templates leave out as useless (template.h) are in none of the mappings that are looked at, so what is
 * certain must hold with them, too. A keep above such a loop holds more: its ends are longer by any x up to what has room, and
 * the rest is less by as much. That takes no less time in all if the ends count at p, or take as long at q as at p; else the most
 * that the ends may be at p is taken away. Another keep only adds transfers, but what goes through it may be part of its ends;
 * and if it is filled beside the work it spares waiting for the port of its outer end, so that does not count where there may
 * be one (terms.c).
 */
#ifndef DFL_MAPPER_WAITS_H
#define DFL_MAPPER_WAITS_H

#include "mapper/search.h"

/* Iterations of the own loops over a rank down to a gap, as they are chosen. */
static inline double dfl_own_loops(const dfl_search *s, uint32_t rank, uint32_t gap)
{
    return s->with[rank]->n[s->cut_at[rank][gap]][s->chosen[rank]];
}

/* Notes the waits that count in every bound, behind the ports: those with ends at the same port. */
void dfl_waits_find(dfl_search *s);
/* Seconds of the work of the present spread, for its coefficients: the unit, and what serves it from places that no keep could
   stand inside of. */
double dfl_waits_work(const dfl_search *s);
/* What the cuts that are chosen take at least. */
double dfl_waits_seconds(const dfl_search *s);

#endif
