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
    const char **tensors, **nodes; /* [tensor] and [node]: name in the result */
    uint32_t *uses;                /* accesses to the tensor in the result, indexed by the first name of the tensor */
    const char ***axes;            /* [node][axis of the node]: name in the result */
    const char ***ranks;           /* [einsum][variable]: name of the rank */
    const char *instance;          /* name of the rank that counts the instances of the workload; NULL = one instance */
    const char **ops;              /* [einsum]: op that the einsum applies; NULL = a plain expression */
} dfl_af_printer;

#endif
