/* The inside of a set of rows, for those that fill it. */
#ifndef DFL_MAPPER_DIVISORS_PARETO_SET_H
#define DFL_MAPPER_DIVISORS_PARETO_SET_H

#include "mapper/divisors/divisors.h"
#include "mapper/problem/factors.h"
#include "support/hashmap.h"
#include "support/vec.h"

/*
 * The ways to cut `left` elements of a rank along so many gaps, one loop at most in each, and the iterations of these loops down
 * to each gap; in the gaps of the mask `needs` there is a loop. Templates differ in their gaps, not in this. Before the
 * gaps of `costs` something is moved once for each iteration down to there, before those of `rooms` something takes the less room
 * the more there are: a way is left out if another has no more of them before the former, and no less before the latter.
 */
enum { DFL_GAPS = DFL_TEMPLATE_KEEPS + 1 };

typedef struct {
    int64_t left;
    int64_t parts[DFL_PROBLEM_AXES]; /* on each axis, and 1 + the rank, where written lines restrict the ways (fixed_lines.h); */
    uint32_t rank;                  /* else 0 */
    uint32_t n_gaps, needs, costs, rooms, count;
    int64_t (*cut)[DFL_GAPS];       /* [way][gap] */
    double *n[DFL_GAPS + 1];        /* [gaps][way]: 1 before the first */
    double least[DFL_GAPS + 1], most[DFL_GAPS + 1];
} dfl_cuts;

typedef struct {
    dfl_hashmap map;
    DFL_VEC(dfl_cuts *) at;         /* [item - 1] */
    size_t numbers;
} dfl_cut_tables;

struct dfl_pareto_set {
    dfl_arena *arena, *scratch;
    dfl_pmapping **at;
    uint32_t n;
    size_t cap;
    dfl_hashmap of_ways;
    DFL_VEC(uint32_t) last;         /* by way to share, [item - 1]: 1 + index of the last row of it */
    uint64_t evaluated, pruned;
    uint64_t swept;                 /* of the former, entries of lists that take no effort of their own */
    struct dfl_search *search;      /* memory for the search of one template */
    dfl_cut_tables tables;          /* of all templates */
    dfl_hashmap of_products;
    DFL_VEC(struct dfl_products { int64_t of; dfl_amounts divisors; }) products; /* [item - 1] */
    const dfl_problem *divided;     /* the problem whose divisors these are, by rank: */
    dfl_amounts divisors[DFL_PROBLEM_RANKS];
    struct dfl_axis_factor_lists *portions; /* parts of ranks on axes (axis_factors.h), NULL = none yet */
};

/* Whether no row of the same way and kind is at most `row` in everything, nor enough of other kinds. */
bool dfl_pareto_set_is_open_to(dfl_pareto_set *rows, const dfl_pmapping *row, const dfl_tile_goal *goal);
/* Whether some row of the way and the kind, or enough of other kinds, cost at most this. */
bool dfl_pareto_set_cheaper(dfl_pareto_set *rows, const dfl_way *way, uint64_t hash, uint64_t kind, double joules, double seconds,
                            const dfl_tile_goal *goal);
/* Takes a copy of a row that is wanted, and drops those that are not wanted any more. */
void dfl_pareto_set_add(dfl_pareto_set *rows, const dfl_pmapping *row, const dfl_tile_goal *goal);

#endif
