/*
 * Closed forms on a fat tree. The ranks of a group are ports a fixed stride apart, and the groups fill the ports. How many
 * messages leave the ports below a switch follows from the place of these ports in the groups.
 */
#ifndef DFL_COLLECTIVE_FAT_TREE_FORM_H
#define DFL_COLLECTIVE_FAT_TREE_FORM_H

#include "collective/patterns.h"

/* False if no formula holds. */
bool dfl_fat_tree_form(const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e, const dfl_rounds *patterns,
                       bool links, dfl_exchange_cost *out);
/* Number of links that every message of a group crosses. False if it differs between ranks, or if the ports are not the only
   bound of the bandwidth. */
bool dfl_fat_tree_hops(const dfl_fabric *f, const dfl_team *team, uint32_t *hops);

#endif
