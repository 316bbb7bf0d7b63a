/* A mapping with holes, from the constraints of a mapspace. */
#ifndef DFL_IMPORT_TIMELOOP_HOLES_H
#define DFL_IMPORT_TIMELOOP_HOLES_H

#include "import/timeloop/print.h"

/* Writes the names of a set of tensors, separated by commas. */
void dfl_tl_print_set(dfl_tl_printer *p, uint64_t set);
/* Writes the lines of the mapping, and its objective. */
void dfl_tl_print_holes(dfl_tl_printer *p);

#endif
