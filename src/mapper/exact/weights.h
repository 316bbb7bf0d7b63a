/*
 * The measures that bounds are made of (criteria.h), chosen for a workload: rates at which seconds are worth joules, about those
 * at which they are exchanged near the best mapping, and the ports that are busiest whatever the tiles. Any choice is right; a
 * good one makes bounds tight.
 */
#ifndef DFL_MAPPER_EXACT_WEIGHTS_H
#define DFL_MAPPER_EXACT_WEIGHTS_H

#include "mapper/exact/einsum_classes.h"
#include "mapper/problem/objective.h"

/* Whether rows differ in energy and in time: an objective that does not grow with one of the two does not see it. */
void dfl_weights_look(const dfl_objective *objective, bool front, dfl_tile_goal *goal);
/* Whether time counts in the objective, and transfers take some besides the work. */
bool dfl_weights_count_waits(const dfl_mapping *m, const dfl_objective *objective, bool front);
/* Sets the rates and the ports of `goal` from the bounds of the templates, and what every pattern keeps the ports busy; `plain`:
   there are none, as in certificates. */
void dfl_weights_choose(dfl_arena *scratch, dfl_einsum_classes *k, const dfl_objective *objective, bool plain,
                        dfl_tile_goal *goal);
/* What any mapping costs at least by the bounds of the templates alone: joules without leakage, and seconds, those of the einsums
   `beside` each other or one after another; `roomy`: whatever the room, and so with tiles that do not divide, too. */
dfl_criteria dfl_weights_templates(const dfl_einsum_classes *k, bool beside, bool roomy);
/* What no mapping can be below by the units alone: nothing is known of templates. */
dfl_criteria dfl_weights_units(const dfl_einsum_classes *k, bool beside);
/* What no mapping is below in which keeps of several einsums stand above their branch: first tiles come in side by side, last
   ones go out (MODEL.md, section 4), but units run one after another. With tiles that do not divide, too. */
dfl_criteria dfl_weights_lifted(const dfl_einsum_classes *k);

#endif
