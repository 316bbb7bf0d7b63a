/* The state that all steps of one check share. Each step reports the first claim that does not hold and returns false. */
#ifndef DFL_CERTIFY_CERTIFY_INTERNAL_H
#define DFL_CERTIFY_CERTIFY_INTERNAL_H

#include <stdatomic.h>

#include "certify/certify.h"

typedef struct {
    dfl_arena *arena;
    dfl_sink *sink;
    const dfl_certify_task *task;
    const dfl_claim_search *search;
    double leakage;            /* leakage power of all instances of the system (in W) */
    bool time_counts;          /* the objective depends on the time, directly or through leakage energy */
    double *left_bits;         /* [memory]: its size without the inputs and outputs that are at home there (in bits);
                                  INFINITY = unlimited */
    double **others_joules;    /* [class][pattern]: lower bound of the energy of all other einsums (in J), if one einsum of the
                                  class has this pattern */
    double **others_seconds;   /* [class][pattern]: lower bound of the time of all other einsums, s, if one einsum of the class
                                  has this pattern */
    uint64_t share;            /* upper limit on the evaluations per skeleton */
    uint64_t useless_share;    /* limit on the further evaluations per skeleton, for choices with loops that cannot help
                                  (certify.h) */
    uint32_t n_skeletons;      /* number of skeletons to check: each skeleton of a class once for each of its einsums with costs
                                  unlike the first einsum's */
    uint32_t n_checked;        /* number of skeletons whose check has ended */
    uint32_t n_complete;       /* number of checked skeletons with every tile choice evaluated */
    uint64_t n_evaluated;      /* number of evaluations of all skeletons */
    uint32_t n_boxed, n_proven; /* skeletons that boxes may prove (box_proof.h), and those that they prove */
    uint64_t n_boxes;          /* number of boxes of all skeletons */
    bool stopped;              /* a stop came before all skeletons were checked */
    atomic_uint_fast64_t n_done; /* number of skeletons whose check has ended, counted while the threads run */
} dfl_certify_run;

#endif
