/* Legality of pipelines: stages run at the same time, so each stage needs instances of its own. */
#ifndef DFL_IR_PATH_PIPELINE_LEGALITY_H
#define DFL_IR_PATH_PIPELINE_LEGALITY_H

#include "ir/path/path.h"

/* Gives the stages of every pipeline that use the same unit consecutive coordinates on one axis around the unit, in their
   order: the innermost axis with room for all of them (MODEL.md, rule 14). Sets `paths->place`. Reports E0405 if no axis has
   room, and E0404 for a tile inside an array that stages at different coordinates share. The fan-out of each einsum must have
   passed its check. */
bool dfl_path_check_stages(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths);

#endif
