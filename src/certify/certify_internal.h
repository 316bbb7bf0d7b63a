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
    double leakage;            /* leakage power of all instances of the system, W */
    bool time_counts;          /* the objective depends on the time, directly or through leakage energy */
    double *free_bits;         /* by memory: capacity that the inputs and outputs of the workload leave, INFINITY = unlimited */
    double **others_joules;    /* J [class][pattern]: lower bound of all other einsums, with one einsum in this pattern */
    double **others_seconds;   /* s [class][pattern]: the same for time */
    uint64_t share;            /* evaluations per skeleton, at most */
    uint64_t useless_share;    /* further evaluations per skeleton, with loops that cannot help (certify.h) */
    uint32_t n_skeletons;      /* skeletons to check, one for each einsum that costs otherwise than the first of its class */
    uint32_t n_checked;        /* skeletons whose check has ended */
    uint32_t n_complete;       /* checked skeletons of which every tile choice was evaluated */
    uint64_t n_evaluated;      /* evaluations of all skeletons */
    bool stopped;              /* a stop came before all skeletons were checked */
    atomic_uint_fast64_t n_done; /* skeletons whose check has ended, counted while the threads run */
} dfl_certify_run;

#endif
