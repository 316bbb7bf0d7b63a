/*
 * Copies of a specification without a mapping. The source charges nothing for a copy whose two tensors have one memory
 * as their home. Where its mapper has no other choice, or none that is better, both
 * are names of one tensor, if the copy only gives it another name; else the copy is left out: one tensor leaves the
 * workload, the other one enters it. So does a copy that chooses, repeats or puts together elements, wherever it is,
 * since no einsum says that. All other copies are einsums, which read and write.
 */
#ifndef DFL_IMPORT_ACCELFORGE_COPY_H
#define DFL_IMPORT_ACCELFORGE_COPY_H

#include "import/accelforge/specification.h"

/* Decides what copies become; false after reporting one that cannot be taken over. */
bool dfl_af_settle_copies(dfl_af_file *f);
/* The tensor that this one is a name of, or itself. */
uint32_t dfl_af_root(const dfl_af_file *f, uint32_t tensor);
/* Accesses of the tensor, and of other names of it, by einsums of the result; whether one of them makes it. */
uint32_t dfl_af_uses(const dfl_af_file *f, uint32_t tensor);
bool dfl_af_made(const dfl_af_file *f, uint32_t tensor);

#endif
