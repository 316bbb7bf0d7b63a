/* The position of each line of a mapping on the path to each einsum. */
#ifndef DFL_IR_PATH_LAYOUT_H
#define DFL_IR_PATH_LAYOUT_H

#include "ir/path/path.h"

/* Sets `step`, `user` and the steps of all paths, without bindings. Requires that every einsum has one leaf. False if
   the budget of the arena is used up. */
bool dfl_paths_lay(dfl_arena *arena, dfl_paths *paths);

#endif
