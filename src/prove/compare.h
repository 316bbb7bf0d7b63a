/*
 * Comparison of the counts of one executed design, by the model and by the oracle. Compared are five transfer counts
 * and the peak of each keep, the peaks of memories, the points, steps, extra operations and padding of einsums, and the
 * elements forwarded along axes.
 */
#ifndef DFL_PROVE_COMPARE_H
#define DFL_PROVE_COMPARE_H

#include "diag/diag.h"
#include "ir/result.h"
#include "oracle/oracle.h"
#include "support/strbuf.h"

typedef struct {
    const dfl_intern *names;
    dfl_arena *arena;              /* arena for the texts of reports */
    dfl_sink *sink;                /* sink for E0614 */
    const dfl_mapping *written;    /* mapping as written, whose places the reports name */
    const dfl_mapping *executed;   /* the mapping with the sizes that were executed */
    const dfl_result *model;       /* the model's result for `executed` */
    const dfl_oracle_result *oracle;
} dfl_proof_sides;

/* Compares all counts of the model and the oracle. Reports at most 20 differences, and writes a table of the oracle's
   counts and a summary line. */
void dfl_proof_compare(const dfl_proof_sides *sides, dfl_strbuf *out);

#endif
