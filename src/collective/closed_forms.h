/*
 * The cost of an exchange by formula, without following messages. COLLECTIVES.md derives the formulas. They equal the step rule.
 */
#ifndef DFL_COLLECTIVE_CLOSED_FORMS_H
#define DFL_COLLECTIVE_CLOSED_FORMS_H

#include "collective/algorithms.h"

/* False if no formula holds for a legal exchange. The time does not depend on the number of chips, except for fat trees whose
   levels narrow or lie askew to the groups: there it grows with the number of switches. Without `links`, bits are not
   computed. */
bool dfl_closed_form(const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e, bool links, dfl_exchange_cost *out);
/* A time that a legal exchange needs at least: every message on a way of its own, on the fewest links. */
double dfl_closed_bound(const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e);

/* Whether each group of ranks lies inside of one part of a dragonfly: a router or a group of routers, which are all alike. Sets
   the part and the group in it. */
bool dfl_dragonfly_part(const dfl_fabric *f, const dfl_team *team, dfl_fabric *part, dfl_team *inside);

#endif
