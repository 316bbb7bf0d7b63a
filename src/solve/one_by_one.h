/*
 * Whole networks, einsum by einsum. The mapper joins einsums over the tensors that they exchange, but does not support
 * some einsums (dfl_mapper_lack), nor repeats that carry a tensor. For a workload with such a part, each einsum is searched
 * alone, as a workload of its own; equal einsums are searched once. The outermost memories of the only einsum of a workload may
 * stand inside of arrays (one_instance.h). Quick searches find the first lines, so that a short limit has good ones; templates
 * serve where they find none. The lines of the mapper are then improved by small changes (line_search.h). The mapping
 * found runs the einsums one after another, and runs a repeat by one `temporal` line above the einsums of its body.
 * Every tensor is at home in its outermost memory; intermediates move to an inner memory outside of arrays, all or some at a
 * time, if that makes the mapping better. No result is proven. Neighbours are then searched together (segments.c).
 */
#ifndef DFL_SOLVE_ONE_BY_ONE_H
#define DFL_SOLVE_ONE_BY_ONE_H

#include "solve/solve_internal.h"

/* Whether the lines of the mapping are all open, and the mapper does not support its workload as a whole. */
bool dfl_one_by_one_applies(const dfl_fill *fill, const dfl_mapping *mapping);
/* Fills `out->given` einsum by einsum; the mapping and the summary lie in the arena of the solver. `*stopped` receives the
   limit that ended a search early. False after reporting. */
bool dfl_fill_one_by_one(dfl_fill *fill, const dfl_objective *objective, dfl_filled *out, dfl_stop *stopped);
/* Searches a mapping of several einsums with open lines one by one, too, and replaces `out->mapping`, with its value in
   `summary`, if the mapping found is better. The limit on evaluations holds for this search by itself; `*stopped` receives
   the limit that ended it if none was reached before. Reports nothing. */
void dfl_fill_improve_one_by_one(dfl_fill *fill, const dfl_objective *objective, dfl_filled *out, dfl_search_summary *summary,
                                 dfl_stop *stopped);
/* Finds a good mapping of several einsums: each einsum alone, by quick searches of a second together at most. With more than
   DFL_APART_LEAST seconds, the best lines of each einsum follow for a share of the time; then, if homes of intermediates have
   moved to inner memories, both once more with these homes, as other lines are best there. Sets `out->mapping`, and its value in
   `summary`. False if there is none; reports nothing. */
bool dfl_fill_first(dfl_fill *fill, const dfl_objective *objective, dfl_filled *out, dfl_search_summary *summary);

#endif
