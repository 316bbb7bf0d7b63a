/*
 * Mappings that no other undercuts, as the model counts them: the search gives those that none undercuts in energy and time as
 * it counts, each is evaluated, and what does not meet what is required, or is undercut in all terms of the objective, is left
 * out. Terms only grow with energy and time, so nothing that counts is lost as long as both count alike (`exact`). Where they do
 * not, searches for one figure each find mappings that the front has not, for they polish them: what they find is put into it.
 * And the best mapping of each of the best kinds (signature.h), in the same way.
 */
#ifndef DFL_MAPPER_PARETO_FRONT_H
#define DFL_MAPPER_PARETO_FRONT_H

#include "mapper/exact/exact.h"

typedef struct {
    const dfl_map_result *search;
    const dfl_front_point *at;   /* in the order of the objective: the first is the best of all */
    uint32_t n;
    bool exact;                  /* no mapping costs more than the search counted, nor is it lossy: */
    bool lossy;                  /* some do not meet what is required, and may have undercut others that do */
} dfl_front;

/* Those of a value up to `limit` (0 = any), in `arena`; NULL after reporting, or with `*fits` false
   where nothing fits. The objective must be native. Where the front is
   not known to be whole, what each of `alone` finds belongs to it, too, unless it is undercut. `alone` is NULL where nothing is
   required, and nothing to be found besides. */
const dfl_front *dfl_pareto_front_find(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                                       const dfl_map_options *options, double limit, const dfl_front_alone *alone,
                                       bool *fits);
/* The best of each of `top` kinds, or of all that there are; where transfers are waited for as another search finds them, too,
   which counts that. Where the first is not proven the best of all belongs to them, as the search for it alone finds it; `best`
   if that was searched before, else NULL. */
const dfl_front *dfl_pareto_front_kinds(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                                        const dfl_map_options *options, uint32_t top, const dfl_mapping *best,
                                        bool *fits);
/* Adds a mapping that another search found: to a front (`is_front`), unless a point undercuts it, without the points that it
   undercuts; to kinds, if it is better than the first one, in place of the one of its kind. Values count up to rounding. False if
   it is not added. */
bool dfl_front_add(dfl_arena *arena, const dfl_intern *names, const dfl_objective *objective, bool is_front,
                   const dfl_mapping *mapping, dfl_front *front);

#endif
