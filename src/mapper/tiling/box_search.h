/*
 * The search of one einsum by boxes: branch and bound over intervals of tile sizes and parts, for all skeletons at once. The
 * space has all tile sizes and all parts, whether they divide what they cut or not, or only those that do.
 *
 * Nodes wait in a heap by lower bound, and with them families of skeletons (skeleton/family.h) that are opened when their bound
 * is the least: by operands, then by outermost keeps where amounts divide (B76), or listed. At times a family is followed down to
 * a mapping. A node is split along its widest cut. When a form is first reached, and at times later, the search dives: it
 * follows the child that is closer to the solution of the program of the form, or that with the lower bound, down to a point,
 * which the model evaluates (point.h). The search ends when no node has a bound below the best value: this value is optimal in
 * the space.
 */
#ifndef DFL_MAPPER_TILING_BOX_SEARCH_H
#define DFL_MAPPER_TILING_BOX_SEARCH_H

#include "mapper/problem/einsum_problem.h"
#include "mapper/problem/objective.h"
#include "mapper/problem/options.h"
#include "mapper/tiling/form.h"

typedef struct {
    dfl_mapping *mapping;   /* the best mapping; NULL = none was found */
    double value;           /* its first term of the objective; INFINITY without a mapping */
    double joules, seconds; /* its energy and latency */
    double lower_bound;     /* lower bound of the first term over the space; INFINITY = nothing fits */
    double floor;           /* lower bound of the first term whatever the tiles and skeletons (floor.h) */
    bool is_complete;       /* proven: no mapping of the space has a lower value */
    bool is_least;          /* proven: no mapping of the skeletons has a lower value (rule D2) */
    bool is_ragged;         /* tiles need not divide, so that only families bound the search (rule D12) */
    bool is_settled;        /* the search ended before all points were evaluated, since its lower bound could not rise */
    dfl_stop stopped;
    uint64_t nodes, leaves; /* number of nodes split, and of mappings evaluated by the model */
    uint64_t pruned;        /* number of nodes pruned by their bound */
} dfl_box_result;

/* What a search begins with: a mapping that is known, of the space or not, and the space. */
typedef struct {
    dfl_mapping *mapping;   /* NULL = none is known */
    double value;           /* its first term of the objective */
    double joules, seconds; /* its energy and latency */
    bool divides;           /* the search is over tile sizes and parts that divide what they cut */
    /* With written lines: the mapping of amounts, by rank and cut, in `arena`. NULL = all lines are open */
    dfl_mapping *(*write)(const void *context, dfl_arena *arena, const dfl_form *form, const int64_t *const *amounts);
    const void *context;
    bool is_whole;          /* all lines are written (written.h): only amounts are open */
    bool imperfect;         /* then: open amounts need not divide */
    double seconds_below;   /* only mappings that take less count, s; 0 = all. The objective requires it, too */
    const dfl_family *family; /* only its skeletons, of a problem that dfl_family_handles; NULL = all */
} dfl_box_start;

/* Whether the search handles the einsum of a problem; with written lines only where amounts divide. */
bool dfl_box_handles(const dfl_mapping *mapping, const dfl_problem *problem, bool divides);
/* Searches an einsum; `problems` has the einsum on every unit that can run it. Only what is below the value of `start` counts.
   The result lies in `arena`. */
dfl_box_result *dfl_box_search(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping,
                               const dfl_problem *const *problems,
                               uint32_t n_problems, const dfl_objective *objective, const dfl_search_limits *limits,
                               const dfl_box_start *start);

#endif
