/*
 * The networks of arrays on a chip. A transfer crosses the network of every array between its two ends. The outer end of
 * the transfer is attached at coordinate 0 of every axis of the array. The oracle routes every element over every link;
 * it assumes nothing about which link is the busiest.
 *
 * - bus: one medium.
 * - crossbar, switch, fully_connected, fat_tree, dragonfly: one port of the outer side, and one of each instance.
 * - mesh, torus, ring: a route goes along the first axis of the array, then along the next, in both directions. No
 *   route uses the links that close a torus or a ring: the three kinds have one rule.
 */
#ifndef DFL_ORACLE_NETWORK_H
#define DFL_ORACLE_NETWORK_H

#include "oracle/oracle_internal.h"

typedef enum { DFL_ORACLE_DOWN, DFL_ORACLE_UP } dfl_oracle_direction;

/* Makes the networks of the arrays in use. False after a report of E0602. */
bool dfl_oracle_networks_make(dfl_oracle_machine *machine);
/* Sets the arrays that a connection from `outer` to `inner` (elements of the system) crosses. */
void dfl_oracle_networks_between(dfl_oracle_machine *machine, uint32_t inner, uint32_t outer, dfl_oracle_link *link);
/* Notes that an element crosses a connection, from or to instance `inst` of the inner place. `group`: the read group or
   the write group of the transfer. */
void dfl_oracle_network_note(dfl_oracle_machine *machine, dfl_oracle_link *link, uint32_t elem, uint32_t group, uint32_t inst);
/* Routes the noted crossings of a tensor, and forgets them. A crossing that was noted twice counts once. */
void dfl_oracle_network_route(dfl_oracle_machine *machine, dfl_oracle_link *link, uint32_t tensor,
                              dfl_oracle_direction direction);
/* Counts an element that instance `from` forwards to its neighbour `to` on an axis. */
void dfl_oracle_network_forward(dfl_oracle_machine *machine, const dfl_oracle_link *link, uint32_t tensor, uint32_t axis,
                                uint32_t from, uint32_t to);
/* Sets the figures of the networks in the result, once the execution has ended. Returns the number of networks that break
   a law: every transfer has at least one instance at its inner end. */
dfl_i128 dfl_oracle_networks_sum(dfl_oracle_machine *machine);

#endif
