/*
 * The search of a small einsum by nests: the model evaluates every mapping, or every one with tiles that divide, up to lines that
 * change nothing (rules D11 and D13 of SEARCH.md), but those that what their keeps add (keep_costs.h) shows to be no better than
 * the best (lemma B35). What it finds is optimal among these, whatever waits for what. The search by boxes bounds the time of
 * larger einsums; in small ones first tiles and stalls are most of the time, which bounds miss.
 */
#ifndef DFL_MAPPER_NESTS_NESTS_H
#define DFL_MAPPER_NESTS_NESTS_H

#include "mapper/problem/einsum_problem.h"
#include "mapper/problem/objective.h"
#include "mapper/problem/options.h"
#include "support/budget.h"

enum {
    DFL_NESTS_MOST = 4096,    /* nests of an einsum that is not small, */
    DFL_NESTS_RAGGED = 1 << 15, /* the same if tiles need not divide */
    DFL_NESTS_WORK = 1 << 15, /* evaluations of a search, 40 us each, */
    DFL_NESTS_SUMS = 256,     /* and sums of costs that count as one evaluation */
};
/* Share of the costs without keeps by which a sum of differences from them may be wrong: 2^-53 for each of some hundred terms. */
#define DFL_NESTS_ROUNDING 1e-13

typedef struct {
    dfl_mapping *mapping;     /* the best mapping below the value to begin with; NULL = none */
    double value;             /* its first term of the objective, or the value to begin with */
    double joules, seconds;   /* with a mapping: its energy and latency */
    bool is_complete;         /* all mappings were evaluated or bounded */
    dfl_stop stopped;         /* a limit of the request that ended the search */
    uint64_t evaluated;       /* mappings that the model evaluated */
} dfl_nests_result;

/* Whether the search handles the einsum: its problems on all units have few nests, no windows, conditions or efficiencies.
   `is_ragged`: tiles need not divide. */
bool dfl_nests_handles(dfl_arena *arena, const dfl_mapping *given, const dfl_problem *const *problems, uint32_t n_problems,
                       bool is_ragged);
/* Searches the mappings below `value`. `given`: one einsum with all lines open. `problems`: the einsum on each unit. */
dfl_nests_result dfl_nests_search(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *given,
                                  const dfl_problem *const *problems, uint32_t n_problems, bool is_ragged,
                                  const dfl_objective *objective, const dfl_search_limits *limits, double value);

#endif
