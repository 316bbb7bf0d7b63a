/*
 * Closed forms on a fat tree. The ranks of a group are ports a fixed stride apart, and the groups fill the ports. How many
 * messages leave the ports below a switch follows from the place of these ports in the groups.
 */
#ifndef DFL_COLLECTIVE_FAT_TREE_FORM_H
#define DFL_COLLECTIVE_FAT_TREE_FORM_H

#include "collective/patterns.h"
#include "collective/stage_ways.h"

/* False if no formula holds. */
bool dfl_fat_tree_form(const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e, const dfl_rounds *patterns,
                       bool links, dfl_exchange_cost *out);
/* Number of links that the farthest message from a rank of each height to its parent crosses, in both trees of a double tree of
   2^k ranks: [height], k in all. False if the ranks have no stride. */
bool dfl_fat_tree_heights(const dfl_fabric *f, const dfl_team *team, uint32_t *hops);
/* Messages for each link on the busiest link above the ports in a step of such a double tree in which the ranks of the
   heights `from` to `to - 1` send to their parents: [from * (heights + 1) + to]. Levels without narrowing count nothing: a port
   is busier. The time grows with the ports. */
void dfl_fat_tree_loads(dfl_arena *arena, const dfl_fabric *f, const dfl_team *team, uint32_t heights, double *loads);
/* A factor by which the links of some level have less bandwidth than the ports that use them, if all messages cross it; else
   1. */
double dfl_fat_tree_narrowing(const dfl_fabric *f, const dfl_team *team);
/* Sets the links of levels above the ports that messages between stages use (dfl_stage_links_form). False if no formula holds.
   The time grows with the switches times the stages. */
bool dfl_fat_tree_stage_links(const dfl_fabric *f, const dfl_team *team, const dfl_stage_traffic *traffic, dfl_stage_link *out);
/* Sets the bits on the busiest links of levels above the ports in a double tree, for which dfl_fat_tree_heights is true. */
void dfl_fat_tree_add_tree_bits(const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e, dfl_exchange_cost *out);

#endif
