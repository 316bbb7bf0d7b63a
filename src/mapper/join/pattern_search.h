/*
 * Least cost of one einsum with one exchange pattern: branch and bound over boxes (tiling/box.h) of all skeletons of the pattern.
 * The cost is a line of energy and time, per_joule * J + per_second * S, with J without leakage. Transfers above shared loops
 * take no time: they can run beside the work of other einsums. The search can stop at any node and go on later.
 *
 * The search counts as if no short piece stayed in its memory while loops over other ranks go on. So its points cost at most
 * what it says, but what it says is least holds only for mappings without such pieces. It proves nothing; it finds good points.
 * Lower bounds of all mappings are in pattern_bound.h. With windows a point has a lower bound of what it costs (SEARCH.md, B10):
 * the model must judge it.
 *
 * For a fused group the search has *flat* forms: the operands that are exchanged inside have their keeps together, all shared
 * loops stand just above them, and the tile below these loops is given.
 */
#ifndef DFL_MAPPER_JOIN_PATTERN_SEARCH_H
#define DFL_MAPPER_JOIN_PATTERN_SEARCH_H

#include "mapper/exact/einsum_classes.h"
#include "mapper/problem/objective.h"
#include "mapper/tiling/box.h"

/* What forms are for: a search, or a search with given tiles below the shared loops. */
typedef enum { DFL_FORMS_SEARCH, DFL_FORMS_FLAT } dfl_forms_purpose;

/* Forms of the skeletons of a class, each made when a search first needs it. */
typedef struct dfl_pattern_forms dfl_pattern_forms;
typedef struct dfl_pattern_search dfl_pattern_search;

/* Tiles of ranks of the problem below the shared loops; other ranks have no shared loop. */
typedef struct {
    uint32_t ranks;              /* mask */
    int64_t tile[DFL_PROBLEM_RANKS];
} dfl_shared_tile;

typedef struct {
    double least;                /* lower bound of the cost as the search counts; INFINITY = nothing fits below the cutoff */
    double best;                 /* least cost of a point found, as the bound counts it; without a point, the cutoff */
    double joules, seconds;      /* of this point, as the bound counts them */
    const dfl_form *form;        /* of this point; NULL = none */
    const int64_t *amounts[DFL_PROBLEM_RANKS]; /* of this point, by rank and cut */
    bool is_closed;              /* `least` is within DFL_PATTERN_GAP of `best`, or nothing fits */
    uint64_t nodes;              /* number of nodes split */
} dfl_pattern_state;

/* The forms of a class, with their programs for a line. The class and `scratch`, which is reset, must live as long. */
dfl_pattern_forms *dfl_pattern_forms_new(dfl_arena *arena, dfl_arena *scratch, const dfl_einsum_class *class,
                                         const dfl_objective *line, dfl_forms_purpose purpose);
/* Whether all shared loops can stand together: above them exchanges of operands in the mask `whole`, below them all others. */
bool dfl_pattern_forms_can_flatten(const dfl_tiling_template *t, uint32_t whole);
/* Leaves flat forms to some candidates of the class alone, `only`, which must live as long; NULL = all. Operands in the mask
   `whole` are exchanged above all shared loops. Before the first search. */
void dfl_pattern_forms_limit(dfl_pattern_forms *forms, const uint32_t *only, uint32_t n_only, uint32_t whole);
/* Leaves the searches that follow the room that is not `taken`, bits by memory of the system; first before the first search, and
   then no less than at first. */
void dfl_pattern_forms_take(dfl_pattern_forms *forms, const double *taken);
/* Opens the search of a pattern for points that cost less than `cutoff`. `tile`: the tile below the shared loops, for flat forms;
   else NULL. The caller closes the search. */
dfl_pattern_search *dfl_pattern_search_open(dfl_pattern_forms *forms, uint32_t pattern, const dfl_shared_tile *tile,
                                            double cutoff);
/* The least bound of the skeletons of a pattern whatever the room and the tiles; INFINITY = there are none. */
double dfl_pattern_search_roomy(dfl_pattern_forms *forms, uint32_t pattern);
void dfl_pattern_search_close(dfl_pattern_search *search);
/* Goes on until the search is closed, `nodes` more nodes are split, or the deadline passes. */
void dfl_pattern_search_run(dfl_pattern_search *search, uint64_t nodes, dfl_deadline *deadline);
const dfl_pattern_state *dfl_pattern_search_state(const dfl_pattern_search *search);

#endif
