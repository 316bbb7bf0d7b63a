/* Tile choices of one skeleton against the claims. */
#ifndef DFL_CERTIFY_TILES_H
#define DFL_CERTIFY_TILES_H

#include "certify/certify_internal.h"
#include "certify/factors.h"

/* The check of one skeleton for one einsum: what is checked, then the outcome. */
typedef struct {
    uint32_t class;
    size_t skeleton;           /* position among the skeletons of the class */
    const dfl_certify_problem *problem;
    const dfl_certify_factors *factors; /* by rank of the problem */
    double least_joules;       /* J: least claimed bound of the skeletons that keep a subset of what this one keeps */
    double least_seconds;      /* s: the same for time */
    double n_choices;          /* upper bound of the number of tile choices */
    uint64_t n_evaluated;
    bool complete;             /* every tile choice was evaluated */
    bool refuted;              /* a choice contradicts a claim */
    dfl_stop why;              /* what ended the check early */
} dfl_tile_check;

/* Checks one skeleton; sets the outcome. Reports a contradiction if there is a sink. May run on any thread. */
void dfl_tile_check_run(dfl_certify_run *run, dfl_tile_check *check, dfl_sink *sink);
/* Tells the task of `evaluated` more evaluations and asks whether to stop. May run on any thread. */
dfl_stop dfl_tile_check_poll(dfl_certify_run *run, uint64_t evaluated);

#endif
