/*
 * What is asked of a search, and what it answers: a request has an objective, limits and a search space; a result holds the
 * mappings found, a lower bound, and the proof status of the first mapping.
 */
#ifndef DFL_MAPPER_PROBLEM_REQUEST_H
#define DFL_MAPPER_PROBLEM_REQUEST_H

#include "ir/mapping.h"
#include "mapper/problem/objective.h"
#include "mapper/problem/options.h"
#include "support/budget.h"

/* Limits of the search space: shared loops of an einsum, keeps of an einsum, mappings of DFL_SEARCH_TOP_K. */
enum { DFL_MAP_SHARED_LOOPS = 4, DFL_MAP_KEEPS = 16, DFL_MAP_TOP = 64 };

typedef enum {
    DFL_SEARCH_BEST,           /* one mapping with the least value of the objective */
    DFL_SEARCH_FRONT,          /* the Pareto set over the terms of the objective */
    DFL_SEARCH_TOP_K,          /* the best mapping of each of the K best structures; all lines open only */
} dfl_search_mode;

/* Objectives of additional searches, each for one figure, that complete a Pareto set. */
typedef struct {
    const dfl_objective *at;
    uint32_t n;
    bool other;                /* requirements are over more than energy and latency, so the Pareto set may be incomplete */
} dfl_front_alone;

typedef struct {
    const dfl_objective *objective;
    dfl_search_mode mode;
    dfl_search_limits limits;      /* limits of the search; for tile sizes alone `evaluations` must not be 0 */
    dfl_search_space space;
    bool certificate;              /* BEST with open lines: produce a certificate of the result */
    const double *incumbent;       /* tile sizes alone: terms of the incumbent that a result must undercut; NULL = none */
    double front_limit;            /* FRONT: largest value of the objective of a point; 0 = no limit */
    const dfl_front_alone *alone;  /* FRONT: additional searches that complete the Pareto set; NULL = none */
    uint32_t top;                  /* TOP_K: the number K of structures, 1 to DFL_MAP_TOP */
    const dfl_mapping *best;       /* TOP_K: the mapping that mode BEST found; NULL = not known */
} dfl_search_request;

/* The answer to a question whether something fits. */
typedef enum { DFL_ANSWER_NO, DFL_ANSWER_YES, DFL_ANSWER_UNKNOWN } dfl_answer; /* unknown: stopped, or not searched */

typedef enum {
    DFL_SEARCH_OPTIMAL,        /* proven: no mapping of the space is better than those found, or than the incumbent */
    DFL_SEARCH_NOT_PROVEN,     /* not proven: the search found mappings, but better ones may exist; or it found none that meets
                                  the requirements */
    DFL_SEARCH_INFEASIBLE,     /* no mapping of the space fits; nothing was reported */
    DFL_SEARCH_REPORTED,       /* no result: the mapping cannot be searched, or a limit ended the search too early; the reason
                                  was reported, or the budget of the arena is stopped */
} dfl_search_status;

typedef struct {
    const dfl_mapping *mapping;  /* mapping without holes */
    const double *terms;         /* values of the dfl_objective_count terms of the objective; NULL for mode BEST */
} dfl_front_point;

typedef struct {
    dfl_search_status status;
    dfl_stop stopped;            /* limit that ended a search with a result; DFL_STOP_NONE = no limit, or the limit on
                                    evaluations of tile sizes alone */
    const dfl_front_point *at;   /* the mappings found, best first; at most one for mode BEST */
    uint32_t n;
    double value;                /* tile sizes alone: first term of the objective by the model */
    double counted_seconds;      /* BEST with open lines: latency in the time model of the search, s; at most the latency of the
                                    model */
    double lower_bound;          /* lower bound of the first term of the objective; NAN = not known */
    uint64_t evaluated, pruned;  /* numbers of candidates evaluated and pruned */
    uint64_t refused;            /* tile sizes alone: number of legal mappings that the model does not evaluate */
    const char *space;           /* description of the search space, clauses for the report */
    const char *certificate;     /* JSON for the key `search` of a certificate; NULL = not requested or not available */
    double certified;            /* lower bound that the certificate proves */
    bool has_windows;            /* proof gap: windows slide, so the lower bound is the sum over einsums alone */
    bool has_lost_states;        /* proof gap: the search dropped partial mappings, because there were too many */
    bool is_uneven;              /* proof gap: a tile size found does not divide its extent, although the request has no
                                    `imperfect` */
    bool has_any_tiles;          /* all tile sizes were searched, whether they divide or not */
    bool is_ragged;              /* proof gap: tiles that do not divide may cut a rank in ways that no skeleton has (D12) */
    bool is_least_transfers;     /* proven: with all tile sizes, only loops and keeps that save no transfer, and other orders of
                                    loops, can be better */
    bool is_settled;             /* proof gap: a search by boxes ended where its lower bound could not rise, before all points */
    bool is_best_perfect;        /* proven: the best mapping among those with dividing tile sizes and without extensions */
    bool has_dropped;            /* FRONT: a dropped mapping that violates a requirement may have dominated mappings that meet
                                    the requirement */
    const struct dfl_size_search_conflict *amounts; /* tile sizes alone with status INFEASIBLE: the conflict, for conflict.h; else
                                                 NULL */
} dfl_search_result;

#endif
