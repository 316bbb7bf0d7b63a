/*
 * The face of the mapper: searches that fill the holes of a mapping. A request has an objective, limits and a search space;
 * a result holds the mappings found, a lower bound, and the proof status of the first mapping.
 *
 * If only tile sizes are open, the search is exact (sizes/size_search.h). If lines are open, with or without written branches
 * (branches/branches.h), the search enumerates all structures of every einsum and their tile sizes, and joins the einsums over
 * the tensors that they exchange (exact/exact.h). No search reports that nothing fits; dfl_conflict_explain
 * (conflict/conflict.h) finds and reports the reason.
 */
#ifndef DFL_MAPPER_MAPPER_H
#define DFL_MAPPER_MAPPER_H

#include "mapper/first/first.h"
#include "mapper/problem/request.h"
#include "mapper/problem/requirements.h"
#include "mapper/skeleton/structure_choices.h"

/* Whether the mapper can search the open lines of a mapping; false after reporting E0612, or E0606 for an extent above 2^40. */
bool dfl_mapper_check(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping);
/* The clause that says what the mapper does not support of an einsum of a mapping with open lines, on some unit that can run it;
   NULL if there is nothing. A static text; `arena` is for temporary data. */
const char *dfl_mapper_lack(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping, uint32_t einsum);
/* Whether a search over tile sizes that divide is a poor choice for a mapping, and the search over all tile sizes handles it: one
   einsum, all lines open, with an extent that has few divisors (1009) or very many (55440). */
bool dfl_mapper_wants_any_tiles(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping);
/* A good mapping of the only einsum, some milliseconds after the begin (single/single.h); none where only other searches are
   quick. */
dfl_first_result dfl_mapper_quick(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping,
                                  const dfl_objective *objective, const dfl_search_limits *limits);
/* Searches for the best filling of a mapping that dfl_mapper_check accepts. The result lies in `arena`, whose budget stops the
   search. */
const dfl_search_result *dfl_mapper_search(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                                           const dfl_search_request *request);
/* Adds a mapping that another search found to the result of a search for several mappings (`mode`: FRONT or TOP_K), if none of
   these is as good: in all terms, or in the first one. The result is then not proven. Returns whether it was added; `arena` owns
   the list of mappings. */
bool dfl_mapper_add(dfl_arena *arena, const dfl_intern *names, const dfl_objective *objective, dfl_search_mode mode,
                    const dfl_mapping *mapping, dfl_search_result *found);
/* Adds the points of one Pareto set over tile sizes to another one: those that none of `all` undercuts, in place of those that
   they undercut. Of points with equal terms those of `all` stay. `arena` owns the list. */
void dfl_mapper_join_fronts(dfl_arena *arena, const dfl_objective *objective, const dfl_search_result *more,
                            dfl_search_result *all);
/* The space in which a search with a certificate proves its result, clauses for the report. */
const char *dfl_mapper_certified_space(dfl_arena *arena, const dfl_mapping *mapping);
/* The space of the same search without a certificate and without other options, clauses for the report. `perfect`: with the
   option `--tiles perfect`. */
const char *dfl_mapper_default_space(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping, bool perfect);
/* The subset of `extensions` (DFL_SEARCH_...) that can change what fills a mapping. */
uint32_t dfl_mapper_extensions(const dfl_mapping *mapping, uint32_t extensions);

#endif
