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
    const char **tensors, **nodes; /* names in the result, by tensor and by node */
    uint32_t *uses;                /* accesses to the tensor in the result, indexed by the first name of the tensor */
    const char ***axes;            /* by node */
    const char ***ranks;           /* names of the ranks, by einsum and variable */
    const char *instance;          /* rank over the instances of the workload; NULL = one instance */
    const char **ops;              /* op that the einsum applies, by einsum; NULL = a plain expression */
} dfl_af_printer;

#endif
