/*
 * What a search found for one mapping with holes: one filled mapping, or several (a Pareto front, the best mappings of
 * different kinds). Several for the same mapping stand next to each other in a list, the best or first of them first.
 */
#ifndef DFL_SOLVE_FILLED_H
#define DFL_SOLVE_FILLED_H

#include "report/report.h"
#include "support/vec.h"

typedef struct {
    const dfl_mapping *given;      /* the mapping with holes */
    const dfl_mapping *mapping;    /* the same with all holes filled */
    const dfl_mapping *chosen;     /* `given` with each choice of lines made (mapper/choices.h); NULL = it has no choices */
    const dfl_search_summary *search;
    const char *certificate;       /* NULL = not asked for, or such a search has none */
} dfl_filled;

typedef DFL_VEC(dfl_filled) dfl_filled_list;

/* Whether filled mapping `i` is a further one for the mapping of number i - 1. */
bool dfl_filled_is_further(const dfl_filled *filled, size_t i);
/* Whether it is the best mapping of a kind, one of those that `--top` lists. */
bool dfl_filled_is_best_of_kind(const dfl_filled *filled);
/* "energy = 7.2 mJ, 1.668 % more than the best", for the best mapping of a kind. */
void dfl_filled_print_distance(const dfl_search_summary *search, dfl_strbuf *out);
/* Some lines for each search, with one more for each best mapping of a kind. */
void dfl_filled_print_searches(const dfl_intern *names, const dfl_filled *filled, size_t n, bool verbose,
                               dfl_strbuf *out);

#endif
