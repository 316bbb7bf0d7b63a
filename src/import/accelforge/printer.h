/* State of the printers of a specification, with the names of the result. */
#ifndef DFL_IMPORT_ACCELFORGE_PRINTER_H
#define DFL_IMPORT_ACCELFORGE_PRINTER_H

#include "import/accelforge/path.h"
#include "import/dfl_writer.h"

typedef struct {
    const dfl_af_file *f;
    const dfl_af_plan *plan;
    dfl_strbuf out;
    const char *workload, *system, *mapping;
    const char **tensors, **nodes; /* names in the result */
    uint32_t *uses;                /* of tensors, by their first name: accesses in the result */
    const char ***axes;            /* by node */
    const char ***ranks;           /* by einsum, variable */
    const char *instance;          /* rank over instances; NULL = there is one instance */
    const char **ops;              /* by einsum: the op that it applies; NULL = a plain expression */
} dfl_af_printer;

#endif
