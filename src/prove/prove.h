/*
 * Proof by execution: the oracle executes a design, the model counts in closed form, and `prove` compares every count.
 * Sizes that take too long to execute are reduced first. Only this room includes both the model and the oracle.
 */
#ifndef DFL_PROVE_PROVE_H
#define DFL_PROVE_PROVE_H

#include "dfl/dfl.h"
#include "diag/diag.h"
#include "ir/mapping.h"
#include "support/strbuf.h"

typedef struct {
    dfl_arena *arena;
    dfl_intern *names;
    dfl_sink *sink;
    dfl_budget *budget;            /* budget whose cancellation stops all attempts; each attempt has fixed limits of its own */
    const dfl_size *sizes;         /* extents that the user fixed */
    size_t n_sizes;
    bool *used;                    /* [size]: set if a mapping has a rank with the name of the size */
    dfl_strbuf *out;               /* output: the text of the proof */
} dfl_prover;

/* Compares model and oracle for one mapping without holes, and writes the compared counts. Reports E0614 for a
   difference, E0602 for sizes that cannot be reduced enough, and errors of the execution. */
void dfl_prove(const dfl_prover *prover, const dfl_mapping *mapping);

#endif
