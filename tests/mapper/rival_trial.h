/*
 * The trial of one random problem: it is searched with dividing tile sizes and with all, and the rival (rival.h) looks for better
 * mappings. The problem fails
 *   - if a mapping of the rival is below a result that the search calls optimal, or below a lower bound; with dividing tile sizes
 *     only mappings whose tiles all divide count;
 *   - if the rival has a mapping where the search reports that nothing fits;
 *   - if the rival evaluates all mappings, and a result of the search is below them.
 */
#ifndef DFL_TESTS_MAPPER_RIVAL_TRIAL_H
#define DFL_TESTS_MAPPER_RIVAL_TRIAL_H

#include "api/session.h"
#include "mapper/problem/objective.h"
#include "tests/mapper/rival.h"

enum { RIVAL_SPACES = 2, RIVAL_WHY = 8192 };
extern const char *const rival_space_names[RIVAL_SPACES];

/* What is asked of a problem with the objective O: `minimize O`; the front over energy and latency; the least energy and then the
   least latency, or the other way round; or O under a requirement on the latency or on the energy, which is drawn from those of
   the best mapping without it. */
typedef enum { RIVAL_PLAIN, RIVAL_FRONT, RIVAL_ORDER, RIVAL_REQUIRE } rival_form;

enum { RIVAL_POINTS = 64 };

typedef struct {
    rival_kinds kinds;
    rival_form form;
    bool modes, shrink, whole;
    uint64_t evaluations, effort, seed; /* effort: limit on evaluations of a search, 0 = none */
    uint64_t most;                  /* of one einsum with at most so many mappings all are evaluated */
    double seconds;                 /* of a search, 0 = no limit */
} rival_options;

typedef struct {
    bool found, infeasible, optimal;
    double value, bound, best;      /* best: least value of the rival in the space. Of a front value is 1, and best the least share
                                       by which a point must shrink to be as good as a mapping of the rival */
    double alone;                   /* the same without starting from mappings of the search */
    rival_mapping mapping;          /* its mapping */
    double beyond;                  /* least value of a mapping that some clause of the space leaves out */
    double joules[RIVAL_POINTS], seconds[RIVAL_POINTS]; /* figures of the result, or of the points of a front */
    uint32_t n_points;
    bool undercut;                  /* `mapping` is not dominated by the front, or the second figure of `mapping` is less */
} rival_claim;

typedef struct {
    const rival_options *o;
    dfl_session *s[RIVAL_SPACES];
    const dfl_mapping *open, *found[RIVAL_SPACES];
    dfl_objective objective;
    bool timed;                     /* the objective contains time */
    rival_claim claim[RIVAL_SPACES];
    uint64_t evaluated;
    bool complete;                  /* all mappings were evaluated (rival_list) */
    char *text;
    char fault[RIVAL_WHY];          /* empty: none */
    double slowest;                 /* processor seconds of a search */
    double most_joules, most_seconds; /* requirements; INFINITY: none */
    double weight;                  /* RIVAL_FRONT: of the logarithm of the latency against that of the energy, 0 .. 1 */
    uint32_t wrong;                 /* space of the fault */
    rival_mapping at_least;         /* the mapping of `least` */
    double least;                   /* least value of all mappings of the rival without lifted keeps */
    double exchange;                /* lower bound of several einsums (join/exchange_bound.h); 0 = none */
} rival_trial;

/* Judges a problem; false if it cannot be searched. Sets `fault`. To be forgotten in both cases. */
bool rival_try(rival_trial *p, const rival_options *o, const rival_choices *choices);
void rival_forget(rival_trial *p);

#endif
