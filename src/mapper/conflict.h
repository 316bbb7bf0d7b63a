/*
 * Why nothing fits, or nothing meets the requirements: the part of the face that reports (infeasible.h has the method). Only the
 * caller of a search asks for it, when the search found nothing.
 */
#ifndef DFL_MAPPER_CONFLICT_H
#define DFL_MAPPER_CONFLICT_H

#include "mapper/mapper.h"

/* What is known about a requirement that was not met: "264ns"; NULL = nothing. */
typedef struct {
    const char *found;         /* the least value of its figure among the mappings found that meet the others */
    const char *bound;         /* a lower bound of its figure */
} dfl_requirement_known;

/* Reports why a request ended with DFL_SEARCH_INFEASIBLE: E0618 with a smallest set of limits that conflict, or what is wrong
   with every choice, or E0616 if room is counted too large. `arena` and `request` are those of the search. */
void dfl_conflict_explain(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                          const dfl_search_request *request, const dfl_search_result *result);
/* For a mapping with open lines that has fillings, none of which was found to meet the requirements of `request->objective`:
   reports E0618 if none does. False, and nothing is reported, if that is not known; then `known`, one item per requirement, is
   set. `required` holds the requirements as a search uses them, `session` the budget that limits the work. */
bool dfl_conflict_requirements(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                               const dfl_search_request *request, const dfl_required *required, const dfl_budget *session,
                               dfl_requirement_known *known);

#endif
