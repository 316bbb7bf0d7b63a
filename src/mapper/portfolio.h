/* The portfolio of searches for open lines: which ones run, in which order, and what of them is kept. */
#ifndef DFL_MAPPER_PORTFOLIO_H
#define DFL_MAPPER_PORTFOLIO_H

#include "mapper/exact/exact.h"

/* The search by boxes or over tiles that divide, polished where it is not proven (improve/polish.h), and beyond the
   space if asked for. Returns like dfl_mapper_alone (exact/exact.h). */
const dfl_map_result *dfl_mapper_run(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names,
                                     const dfl_mapping *mapping, const dfl_map_options *asked, bool *fits);

#endif
