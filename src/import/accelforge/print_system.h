/* The machine of a specification as .dfl text. */
#ifndef DFL_IMPORT_ACCELFORGE_PRINT_SYSTEM_H
#define DFL_IMPORT_ACCELFORGE_PRINT_SYSTEM_H

#include "import/accelforge/printer.h"

void dfl_af_print_system(dfl_af_printer *p);

#endif
