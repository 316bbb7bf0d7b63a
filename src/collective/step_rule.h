/*
 * The definition of what an exchange costs: every message of every group takes its route, and every link counts what crosses it.
 * Routes: dimension order on rings, meshes and tori, the shorter way round, ties in positive direction; in a fat tree up to the
 * first common switch, over all equal paths alike; in a dragonfly with at most one global link, over all shortest paths alike.
 */
#ifndef DFL_COLLECTIVE_STEP_RULE_H
#define DFL_COLLECTIVE_STEP_RULE_H

#include "collective/algorithms.h"

/* Whether the messages are few enough to be followed one by one. */
bool dfl_step_rule_fits(const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e);
/* The cost of a legal exchange. Time and memory grow with the messages of all groups. */
void dfl_step_rule(const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e, dfl_exchange_cost *out);

#endif
