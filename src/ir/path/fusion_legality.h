/*
 * Legality of fused loops: below a loop that a producer and a reader share, the reader may read only what the present
 * iteration of the loop, or an earlier one, has completed.
 */
#ifndef DFL_IR_PATH_FUSION_LEGALITY_H
#define DFL_IR_PATH_FUSION_LEGALITY_H

#include "ir/path/path.h"

/* Whether nothing is read before it is complete. E0409: a shared loop goes along different dimensions of the tensor for
   the two einsums, or along none for the producer, and is not `online`. E0424: the branch of the reader runs first. */
bool dfl_path_check_complete(dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths);
/* Reports E0409: reader `c` reads the result of producer `e` below a loop over `rank` that both share. `others`: it
   reads elements that other iterations produce; else every iteration adds to all elements. */
void dfl_path_report_early(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_line *line,
                           uint32_t rank, uint32_t e, uint32_t c, bool others);

#endif
