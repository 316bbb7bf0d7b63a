/*
 * Filled mappings, the results of searches. A search for one mapping with holes yields one filled mapping or several: a
 * Pareto set, or the best mappings of several structures. These are adjacent in a list, the best or first one first.
 */
#ifndef DFL_SOLVE_FILLED_H
#define DFL_SOLVE_FILLED_H

#include "report/report.h"
#include "support/vec.h"

typedef struct {
    const dfl_mapping *given;      /* the mapping with holes */
    const dfl_mapping *mapping;    /* `given` with all holes filled */
    const dfl_result *costs;       /* of `mapping` by the model, not folded; NULL = not evaluated, or kept nowhere */
    const dfl_mapping *chosen;     /* `given` with each structural choice made; NULL = `given` has no structural choices */
    const dfl_search_summary *search;
    const char *certificate;       /* certificate of the search; NULL = not requested, or the search produced none */
} dfl_filled;

typedef DFL_VEC(dfl_filled) dfl_filled_list;

/* Replaces the mapping. `costs` are those of `mapping`; NULL = not known. */
static inline void dfl_filled_set(dfl_filled *filled, const dfl_mapping *mapping, const dfl_result *costs)
{
    filled->mapping = mapping;
    filled->costs = costs;
}

/* Whether the filled mappings `i` and i - 1 belong to one mapping with holes. */
bool dfl_filled_is_further(const dfl_filled *filled, size_t i);
/* Whether a filled mapping is one of the best mappings of several structures that `--top` lists. */
bool dfl_filled_is_best_of_kind(const dfl_filled *filled);
/* Prints the value of a mapping that `--top` lists, and its distance to the best: "energy = 7.2 mJ, 1.668 % more than the
   best". */
void dfl_filled_print_distance(const dfl_search_summary *search, dfl_strbuf *out);
/* Prints some lines for each search, and one line for each mapping that `--top` lists. */
void dfl_filled_print_searches(const dfl_intern *names, const dfl_filled *filled, size_t n, bool verbose,
                               dfl_strbuf *out);

#endif
