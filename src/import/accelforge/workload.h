/* The workload of a specification. */
#ifndef DFL_IMPORT_ACCELFORGE_WORKLOAD_H
#define DFL_IMPORT_ACCELFORGE_WORKLOAD_H

#include "import/accelforge/specification.h"

/* Reads tensors, einsums and extents of rank variables; false after reporting. */
bool dfl_af_read_workload(dfl_af_file *f);

#endif
