/*
 * The proof of a plan over chips: the plan is executed with fewer chips and smaller ranks, and its exchanges, what its chips hold
 * and its results are compared with the evaluation of the same plan.
 */
#ifndef DFL_PROVE_CHIPS_H
#define DFL_PROVE_CHIPS_H

#include "prove/prove.h"

/* Writes the text of the proof and reports differences (E0614). */
void dfl_prove_chips(const dfl_prover *prover, const dfl_mapping *mapping);

#endif
