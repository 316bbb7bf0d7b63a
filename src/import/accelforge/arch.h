/* The architecture of a specification. */
#ifndef DFL_IMPORT_ACCELFORGE_ARCH_H
#define DFL_IMPORT_ACCELFORGE_ARCH_H

#include "import/accelforge/specification.h"

/* Reads the nodes; the workload must have been read. False after reporting. */
bool dfl_af_read_arch(dfl_af_file *f);

#endif
