/* Where the lines of a mapping stand on the way to each einsum. */
#ifndef DFL_IR_PATH_LAYOUT_H
#define DFL_IR_PATH_LAYOUT_H

#include "ir/path/path.h"

/* Sets `step` and `user`, and the steps of all paths, unbound. Every einsum has one leaf. False when the budget is used up. */
bool dfl_paths_lay(dfl_arena *arena, dfl_paths *paths);

#endif
