/* The mapping of a specification as .dfl text. */
#ifndef DFL_IMPORT_ACCELFORGE_PRINT_MAPPING_H
#define DFL_IMPORT_ACCELFORGE_PRINT_MAPPING_H

#include "import/accelforge/printer.h"

void dfl_af_print_mapping(dfl_af_printer *p);

#endif
