/*
 * How long ports are busy. Transfers of an einsum that stand above a shared loop can run beside the work of other einsums below,
 * and are no part of the time that it takes at least; the join counts them where loops end (join.h). So there are sets of keeps
 * whose transfers are the einsum's own, each a part of the one before it:
 *     set 0          all, where no loops are shared
 *     behind those   keeps that stand below the last shared loop, by its gap
 * Unless rows tell what they keep the ports busy (dfl_tile_goal.beside), the last set stands for any with shared loops: a keep
 * that stands below them could stand above, and cost as much.
 */
#ifndef DFL_MAPPER_DIVISORS_PORT_TIME_H
#define DFL_MAPPER_DIVISORS_PORT_TIME_H

#include "mapper/divisors/divisors_internal.h"

/* What a port in use costs, by group. */
static inline const double *dfl_port(const dfl_search *s, uint32_t i)
{
    return s->now->ports + (s->set * s->n_used + i) * s->terms.n_groups;
}
/* Finds the sets of the template. */
void dfl_port_time_sets(dfl_search *s);
/* That of the shared loops that are chosen, and the last of all. */
uint32_t dfl_port_time_set(const dfl_search *s);
static inline uint32_t dfl_port_time_least(const dfl_search *s) { return s->n_sets - 1; }
/* Seconds of the unit, or of a port with the transfers of the present set if that is more, for the ways that are chosen. */
double dfl_port_time_seconds(const dfl_search *s);
/* Seconds of the goal's ports with all transfers; what is known of the pattern if rows need not tell. */
void dfl_port_time_goal(dfl_search *s, double *busy);

#endif
