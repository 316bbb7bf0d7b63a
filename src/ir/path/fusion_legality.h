/*
 * Legality of fused loops. Below a loop that a producer and a reader share, the reader may read only elements that the
 * producer has completed in the present iteration of the loop or in an earlier one.
 */
#ifndef DFL_IR_PATH_FUSION_LEGALITY_H
#define DFL_IR_PATH_FUSION_LEGALITY_H

#include "ir/path/path.h"

/* Whether every element is complete before it is read. E0409: for the two einsums, a shared loop moves along different
   dimensions of the tensor, or along none for the producer, and the loop is not `online`. E0424: the branch of the
   reader runs before the branch of the producer. */
bool dfl_path_check_complete(dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths);
/* Reports E0409: reader `c` reads the result of producer `e` below a loop over `rank` that both share. `others`: the
   reader reads elements that other iterations produce; else every iteration adds to all elements. */
void dfl_path_report_early(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_line *line,
                           uint32_t rank, uint32_t e, uint32_t c, bool others);

#endif
