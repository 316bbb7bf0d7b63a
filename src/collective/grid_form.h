/*
 * Closed forms on rings, meshes and tori. Routes go along one dimension after the other, so each dimension is a line on its
 * own, on which the ranks of a group lie a fixed stride apart and the groups next to each other.
 */
#ifndef DFL_COLLECTIVE_GRID_FORM_H
#define DFL_COLLECTIVE_GRID_FORM_H

#include "collective/patterns.h"

/* False if no formula holds. */
bool dfl_grid_form(const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e, const dfl_rounds *patterns, bool links,
                   dfl_exchange_cost *out);

#endif
