/* The state of writing a run as .dfl text, which print.c and holes.c share. */
#ifndef DFL_IMPORT_TIMELOOP_PRINT_H
#define DFL_IMPORT_TIMELOOP_PRINT_H

#include "import/timeloop/timeloop_internal.h"

typedef const char *dfl_tl_axis_names[2];

typedef struct {
    const dfl_tl_file *f;
    dfl_strbuf out;
    const char *workload, *system, *mapping, *unit, *latch;
    const char **dims, **tensors, **levels, **links; /* names in the result, indexed by dimension, tensor and level */
    dfl_tl_axis_names *axes;                         /* names of the axes X and Y below each level; NULL = no axis */
} dfl_tl_printer;

#endif
