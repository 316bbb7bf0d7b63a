/*
 * Copies in a specification without a mapping. The source charges nothing for a copy between two tensors with the same
 * home. If its mapper has no other choice, or no better one, a copy that only renames a tensor makes both names of one
 * tensor; any other copy is left out: one tensor becomes an output of the workload, the other one an input. A copy that
 * selects, repeats or concatenates elements is always left out, since no einsum expresses it. All other copies become
 * einsums, which cost reads and writes.
 */
#ifndef DFL_IMPORT_ACCELFORGE_COPY_H
#define DFL_IMPORT_ACCELFORGE_COPY_H

#include "import/accelforge/specification.h"

/* Decides the fate of each copy einsum: its result becomes an alias of its operand, the copy is omitted, or the copy stays an
   einsum. False after reporting a copy that DFL cannot express. */
bool dfl_af_settle_copies(dfl_af_file *f);
/* The first name of a tensor: follows `same` until a tensor is no other name. */
uint32_t dfl_af_root(const dfl_af_file *f, uint32_t tensor);
/* Number of accesses to the tensor, under all its names, by einsums of the result. */
uint32_t dfl_af_uses(const dfl_af_file *f, uint32_t tensor);
/* Whether an einsum of the result computes the tensor, under any of its names. */
bool dfl_af_made(const dfl_af_file *f, uint32_t tensor);

#endif
