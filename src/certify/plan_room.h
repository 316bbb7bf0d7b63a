/*
 * The room that a plan over chips needs at least, found from the mapping alone: weights, gradients, moments and stored
 * activations of the layers of the first stage, each divided by all lines that divide a rank of it anywhere. No plan with these
 * lines holds less. The bound of the search and the count of the evaluation are computed by other code, so that a mistake in one
 * of the three shows as a difference.
 */
#ifndef DFL_CERTIFY_PLAN_ROOM_H
#define DFL_CERTIFY_PLAN_ROOM_H

#include "ir/mapping.h"

/* What the lower bound of every plan of one open mapping shares. */
typedef struct dfl_plan_room dfl_plan_room;

dfl_plan_room *dfl_plan_room_new(dfl_arena *arena, const dfl_mapping *asked);
/* Whether a memory of the chips is too small for the plan `m`, whose lines are those of `asked` with amounts. False: unknown. */
bool dfl_plan_room_lacks(const dfl_plan_room *room, const dfl_mapping *m);

#endif
