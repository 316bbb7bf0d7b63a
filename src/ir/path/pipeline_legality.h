/* Legality of pipelines: stages run at the same time, so each stage needs instances of its own. */
#ifndef DFL_IR_PATH_PIPELINE_LEGALITY_H
#define DFL_IR_PATH_PIPELINE_LEGALITY_H

#include "ir/path/path.h"

/* Whether the stages of every pipeline fit side by side on some axis of each unit that several stages use: else E0405.
   The fan-out of each einsum must have passed its check. */
bool dfl_path_check_stages(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths);

#endif
