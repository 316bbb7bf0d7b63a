/*
 * Explains why no mapping fits or none meets the requirements: the part of the face that reports (conflict_internal.h has the
 * method). A search never calls these functions; its caller does, if the search found no mapping.
 */
#ifndef DFL_MAPPER_CONFLICT_CONFLICT_H
#define DFL_MAPPER_CONFLICT_CONFLICT_H

#include "mapper/mapper.h"

/* Values known about a requirement that no found mapping meets, as text: "264ns"; NULL = unknown. */
typedef struct {
    const char *found;         /* least value of the figure among the found mappings that meet all other requirements */
    const char *bound;         /* lower bound of the figure */
} dfl_requirement_known;

/* Reports why a request ended with DFL_SEARCH_INFEASIBLE: E0618 with an irreducible set of conflicting limits or with the
   error of every choice, or E0616 if the search overestimates occupancies. `arena` and `request` are the arguments of the
   search. */
void dfl_conflict_explain(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                          const dfl_search_request *request, const dfl_search_result *result);
/* For a mapping with open lines: the search found fillings, but none that meets the requirements of `request->objective`.
   Reports E0618 if this function proves that no filling meets them. Else returns false without a report and sets `known`,
   one item per requirement. `required` holds the requirements as a search uses them, `session` the budget that limits the
   work. */
bool dfl_conflict_requirements(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                               const dfl_search_request *request, const dfl_required *required, const dfl_budget *session,
                               dfl_requirement_known *known);

#endif
