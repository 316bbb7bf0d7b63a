/* One execution of a proof: its limits, and what a reader learns of its sizes and of its errors. */
#ifndef DFL_PROVE_ATTEMPT_H
#define DFL_PROVE_ATTEMPT_H

#include "prove/prove.h"

/* The budget of an attempt: fixed limits, and the cancellation of the prover. */
dfl_budget dfl_attempt_budget(const dfl_prover *prover);
/* Writes the extents of the ranks, [rank]: "sizes: b 4 (of 64), d 2". */
void dfl_attempt_write_sizes(const dfl_prover *prover, const dfl_workload *written, const int64_t *extents);
/* Copies the errors of an attempt into the sink of the prover. */
void dfl_attempt_pass_on_errors(const dfl_prover *prover, const dfl_sink *from);

#endif
