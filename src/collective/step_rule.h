/*
 * The definition of what an exchange costs: every message of every group takes its route, and every link counts what crosses it.
 * Routes: dimension order on rings, meshes and tori, the shorter way round, ties in positive direction; in a fat tree up to the
 * first common switch, over all equal paths alike; in a dragonfly with at most one global link, over all shortest paths alike.
 */
#ifndef DFL_COLLECTIVE_STEP_RULE_H
#define DFL_COLLECTIVE_STEP_RULE_H

#include "collective/algorithms.h"
#include "collective/stage_ways.h"

/* Whether the messages are few enough to be followed one by one. */
bool dfl_step_rule_fits(const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e);
/* The cost of a legal exchange. Time and memory grow with the messages of all groups. */
void dfl_step_rule(const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e, dfl_exchange_cost *out);
/* The messages of one step in which every rank of a dragonfly sends one to each other rank of its group, on the busiest link of
   each class: [class]; the ranks of a group are all ports `stride` apart. Returns the links of the farthest message; 0 if the
   routers do not have alike ports of each group. Time and memory grow with the routers, not with the messages. */
int64_t dfl_step_rule_all_pairs(const dfl_fabric *f, int64_t stride, double *loads);

/* Sets the busiest link of each class for each stage of a pipeline by routing each message of a micro-batch; `out`: [stage *
   DFL_LINK_CLASSES + class], as by dfl_stage_links_form. False if the network is too large. */
bool dfl_step_rule_stages(const dfl_fabric *f, const dfl_team *team, const dfl_stage_traffic *traffic, dfl_stage_link *out);

#endif
