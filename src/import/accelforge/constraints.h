/*
 * What the source's mapper may choose, in a specification without a mapping. The source walks the memories from the outermost
 * one: an einsum must keep the tensors of `keep` and `back` in a memory, and may keep those of `may_keep`. In the result,
 * `holds` lists the tensors that a memory may keep, and a home that leaves no choice is a written line. The constraints
 * that no line expresses are losses.
 */
#ifndef DFL_IMPORT_ACCELFORGE_CONSTRAINTS_H
#define DFL_IMPORT_ACCELFORGE_CONSTRAINTS_H

#include "import/accelforge/specification.h"

/* Sets the tensors that the memory or toll, the next node of the architecture, may and must keep. False after reporting. */
bool dfl_af_read_constraints(dfl_af_file *f, dfl_af_node *node);
/* Finds the homes that leave no choice, once all nodes are read and copies are settled; reports constraints that are lost. */
void dfl_af_settle_constraints(dfl_af_file *f);

#endif
