/* A specification as .dfl text. */
#ifndef DFL_IMPORT_ACCELFORGE_PRINT_H
#define DFL_IMPORT_ACCELFORGE_PRINT_H

#include "import/accelforge/path.h"

/* The specification as .dfl text, not yet laid out; `plan` is NULL without a mapping. */
const char *dfl_af_print(const dfl_af_file *f, const dfl_af_plan *plan, const dfl_source *main, const dfl_loss *losses,
                         size_t n_losses);

#endif
