/* Smaller copies of plans over chips, which `prove` executes. */
#ifndef DFL_PROVE_CHIPS_SHRINK_H
#define DFL_PROVE_CHIPS_SHRINK_H

#include "diag/diag.h"
#include "prove/sizes.h"

/* A smaller copy of a plan: numbers of parts up to `least` stay, those that differ on an axis stay different, and those that
   divide a rank still do. Ranks have `most` values in a part at most, and those that `sizes` fixes as many as it states. Rates
   and capacities are without limits and shares. NULL after a report. */
dfl_mapping *dfl_chips_shrink(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                              const dfl_proof_sizes *sizes, int64_t least, int64_t most);

#endif
