/* Products whose operands differ in type. They compute in the wider type, which may run on a slower unit. */
#ifndef DFL_REPORT_MIXED_TYPES_H
#define DFL_REPORT_MIXED_TYPES_H

#include "ir/result.h"

typedef struct {
    const dfl_dtype *wide, *narrow; /* types of the operands; the product computes in the wide one */
    uint32_t compute;               /* unit that would run it fastest if all operands had the narrow type */
    double wide_rate, narrow_rate;  /* full rates of all instances of the unit that runs it, and of `compute` (in FLOP/s) */
} dfl_mixed_types;

/* Whether an einsum of a result is such a product, which another unit would run at more than twice the rate in the narrow
   type. */
bool dfl_mixed_types_find(dfl_arena *arena, const dfl_intern *names, const dfl_result *result, uint32_t einsum,
                          dfl_mixed_types *out);

#endif
