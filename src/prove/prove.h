/*
 * Proof by execution: the oracle executes a design, the model counts it in closed form, and every count is compared. Sizes
 * that take too long to execute are reduced first. This room alone sees both the model and the oracle.
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
    dfl_budget *budget;            /* limits each attempt, with fixed limits of its own; stopped by a cancelled attempt */
    const dfl_size *sizes;         /* extents that the user chose */
    size_t n_sizes;
    bool *used;                    /* by size: set where a mapping has a rank of that name */
    dfl_strbuf *out;               /* the text of the proof */
} dfl_prover;

/* Compares model and oracle for one mapping without holes, and writes what was compared. Reports E0614 for a difference, E0602
   for sizes that cannot be reduced enough, and errors of the execution. */
void dfl_prove(const dfl_prover *prover, const dfl_mapping *mapping);

#endif
