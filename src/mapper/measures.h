/*
 * The measures that bounds are made of (cost.h), chosen for a workload: rates at which seconds are worth joules, about those at
 * which they are exchanged near the best mapping, and the ports that are busiest whatever the tiles. Any choice is right; a
 * good one makes bounds tight.
 */
#ifndef DFL_MAPPER_MEASURES_H
#define DFL_MAPPER_MEASURES_H

#include "mapper/classes.h"
#include "mapper/objective.h"

/* Whether rows differ in energy and in time: an objective that does not grow with one of the two does not see it. */
void dfl_measures_look(const dfl_objective *objective, bool front, dfl_tile_goal *goal);
/* Whether transfers of several einsums, of a workload or of a `part` of a mapping, may run beside each other, where time counts:
   first tiles come in before everything else, and last ones go out behind it (MODEL.md, section 4). A search that adds up the
   times of einsums finds good mappings all the same, but its sums are no bounds. */
bool dfl_measures_beside(const dfl_mapping *m, const dfl_objective *objective, bool front, bool part);
/* Seconds of all transfers at the ports, 2 * memory + (1 for writes of their own), at least. */
double *dfl_measures_busy(dfl_arena *arena, const dfl_classes *k);
/* What no mapping is below even where einsums are beside each other, measure by measure: units one after another, ports for all
   of their transfers (`busy`, NULL = not counted), energy by the templates. `roomy`: with tiles that do not divide, too. */
dfl_cost dfl_measures_aside(const dfl_classes *k, const double *busy, bool roomy);
/* Sets the rates and the ports of `goal` from the bounds of the templates, and what every pattern keeps the ports busy; `plain`:
   there are none, as in certificates. */
void dfl_measures_choose(dfl_arena *scratch, dfl_classes *k, const dfl_objective *objective, bool plain, dfl_tile_goal *goal);
/* What any mapping costs at least by the bounds of the templates alone: joules without leakage, and seconds, those of the einsums
   `beside` each other or one after another; `roomy`: whatever the room, and so with tiles that do not divide, too. */
dfl_cost dfl_measures_templates(const dfl_classes *k, bool beside, bool roomy);
/* What no mapping can be below by the units alone: nothing is known of templates. */
dfl_cost dfl_measures_units(const dfl_classes *k, bool beside);

#endif
