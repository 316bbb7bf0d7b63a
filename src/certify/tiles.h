/* Check of the tile choices of one skeleton against the claims. */
#ifndef DFL_CERTIFY_TILES_H
#define DFL_CERTIFY_TILES_H

#include "certify/certify_internal.h"
#include "certify/factors.h"

/* The check of one skeleton for one einsum: first the inputs of the check, then its outcome. */
typedef struct {
    uint32_t class;
    size_t skeleton;           /* position of the skeleton in its class */
    const dfl_certify_problem *problem;
    const dfl_certify_factors *factors; /* [rank of the problem]: factors of its extent */
    double least_joules;       /* J: least claimed energy bound of the skeletons that keep a subset of this skeleton's keeps */
    double least_seconds;      /* s: least claimed time bound of the skeletons that keep a subset of this skeleton's keeps */
    double n_choices;          /* upper bound of the number of tile choices */
    uint64_t n_evaluated;
    bool complete;             /* every tile choice was evaluated */
    bool refuted;              /* a choice contradicts a claim */
    dfl_stop why;              /* reason for an early end of the check */
} dfl_tile_check;

/* Checks one skeleton and sets the outcome. Reports a contradiction if there is a sink. May run on any thread. */
void dfl_tile_check_run(dfl_certify_run *run, dfl_tile_check *check, dfl_sink *sink);
/* Reports `evaluated` more evaluations to the task's progress callback and asks whether to stop. May run on any
   thread. */
dfl_stop dfl_tile_check_poll(dfl_certify_run *run, uint64_t evaluated);

#endif
