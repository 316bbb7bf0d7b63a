/*
 * Searches for what a mapping with holes leaves open: the face of this room. A request says what to minimize, within which limits
 * and in which space; a result holds the mappings found, a lower bound, and whether the first mapping is proven to be the best.
 *
 * Open amounts alone are searched exactly (holes.h). Open lines are searched through all structures of every einsum, their tile
 * sizes, and the join over the tensors that einsums exchange (mapper_internal.h), with or without written branches (tree.h).
 * No search reports that nothing fits. A caller that wants to know why asks dfl_conflict_explain (conflict.h).
 */
#ifndef DFL_MAPPER_MAPPER_H
#define DFL_MAPPER_MAPPER_H

#include "mapper/choices.h"
#include "mapper/objective.h"
#include "mapper/options.h"
#include "mapper/required.h"
#include "support/budget.h"

/* Limits of the space: shared loops of an einsum, keeps of an einsum, mappings of DFL_SEARCH_TOP_K. */
enum { DFL_MAP_SHARED_LOOPS = 4, DFL_MAP_KEEPS = 16, DFL_MAP_TOP = 64 };

/* Default limit on the evaluations of a search for amounts alone. */
#define DFL_SEARCH_AMOUNT_EVALUATIONS UINT64_C(20000000)

typedef enum {
    DFL_SEARCH_BEST,           /* one mapping with the least value of the objective */
    DFL_SEARCH_FRONT,          /* the Pareto front over the terms of the objective; open lines only */
    DFL_SEARCH_TOP_K,          /* the best mapping of each of the K best structures; all lines open only */
} dfl_search_mode;

/* Objectives of searches for one figure each, beside a front. */
typedef struct {
    const dfl_objective *at;
    uint32_t n;
    bool other;                /* requirements are over more than energy and latency, so the front may lack mappings */
} dfl_front_alone;

typedef struct {
    const dfl_objective *objective;
    dfl_search_mode mode;
    dfl_search_limits limits;      /* amounts alone: `evaluations` must not be 0 */
    dfl_search_space space;
    bool certificate;              /* BEST with open lines: say what proves the result */
    const double *incumbent;       /* amounts alone: terms of a mapping to undercut; NULL = none */
    double front_limit;            /* FRONT: only mappings of at most this value of the objective; 0 = all */
    const dfl_front_alone *alone;  /* FRONT: searches that complete a front with gaps; NULL = none */
    uint32_t top;                  /* TOP_K: 1 to DFL_MAP_TOP */
    const dfl_mapping *best;       /* TOP_K: result of BEST, if it is known; NULL = not known */
} dfl_search_request;

typedef enum {
    DFL_SEARCH_OPTIMAL,        /* proven: no mapping of the space is better than those found, or than the incumbent */
    DFL_SEARCH_NOT_PROVEN,     /* mappings were found, or none that meets the requirements; others may be better */
    DFL_SEARCH_INFEASIBLE,     /* no mapping of the space fits; nothing was reported */
    DFL_SEARCH_REPORTED,       /* no result: the mapping cannot be searched, or a limit came first; the reason was reported, or
                                  the budget of the arena is stopped */
} dfl_search_status;

typedef struct {
    const dfl_mapping *mapping;  /* without holes */
    const double *terms;         /* of the objective, dfl_objective_count of them; NULL after BEST */
} dfl_front_point;

typedef struct {
    dfl_search_status status;
    dfl_stop stopped;            /* the limit that ended the search with a result; DFL_STOP_NONE = none, or evaluations of
                                    amounts alone */
    const dfl_front_point *at;   /* mappings, best first; BEST: at most one */
    uint32_t n;
    double value;                /* amounts alone: first term of the objective, by the model */
    double counted_seconds;      /* BEST with open lines: latency as the search counts it, at most that of the model */
    double lower_bound;          /* of the first term; NAN = not known */
    uint64_t evaluated, pruned;  /* choices */
    uint64_t refused;            /* amounts alone: legal mappings that the model does not evaluate */
    const char *space;           /* clauses for the report: what was searched */
    const char *certificate;     /* JSON for the key `search` of a certificate; NULL = not asked for, or none */
    double certified;            /* lower bound that the certificate proves */
    bool has_windows;            /* proof gap: windows slide, so the bound is that of each einsum alone */
    bool has_lost_states;        /* proof gap: too many partial mappings to follow each */
    bool is_uneven;              /* proof gap: a found tile size does not divide, though such sizes were not asked for */
    bool is_best_perfect;        /* proven: the best with tile sizes that divide and without extensions */
    bool has_dropped;            /* FRONT: dropped mappings that miss a requirement may have hidden others that meet it */
    const struct dfl_holes_conflict *amounts; /* INFEASIBLE with amounts alone, for conflict.h; else NULL */
} dfl_search_result;

/* Whether lines that a mapping leaves open can be searched; false after reporting E0612. */
bool dfl_mapper_check(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping);
/* Searches a mapping that dfl_mapper_check accepts. The result lies in `arena`, whose budget stops the search. */
const dfl_search_result *dfl_mapper_search(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                                           const dfl_search_request *request);
/* Those of the extensions DFL_SEARCH_... that can change a mapping of the workload. */
uint32_t dfl_mapper_extensions(const dfl_workload *workload, uint32_t extensions);

#endif
