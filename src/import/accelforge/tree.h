/* The mapping tree of a specification. */
#ifndef DFL_IMPORT_ACCELFORGE_TREE_H
#define DFL_IMPORT_ACCELFORGE_TREE_H

#include "import/accelforge/path.h"

/* Reads the tree of `f->mapping`; false after reporting. */
bool dfl_af_read_mapping(const dfl_af_file *f, dfl_af_plan *plan);

#endif
