/*
 * Legality of `online` loops: the streaming reductions of attention (online softmax: Milakov and Gimelshein 2018).
 * Every iteration of such a loop adds to a result. An einsum may read this unfinished result inside of the loop if all
 * values that depend on the result can be corrected when the result changes. Each chain of readers must end in one of
 * two reductions. In a sum, the terms have the unfinished value as a factor, so a later value rescales the sum. In a
 * maximum or minimum, the terms have the unfinished value as a summand, so a later value shifts the result. Before this
 * reduction, no value that depends on the unfinished value may be read outside of the loop.
 */
#ifndef DFL_IR_PATH_ONLINE_LEGALITY_H
#define DFL_IR_PATH_ONLINE_LEGALITY_H

#include "ir/path/path.h"

/* Whether every `online` loop is legal and needed: else E0420. */
bool dfl_path_check_online(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths);

#endif
