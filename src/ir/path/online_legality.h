/*
 * Legality of `online` loops, the streaming reductions of attention (online softmax: Milakov and Gimelshein 2018). A
 * result that the loop adds to in every iteration may be read inside of the loop, unfinished, if everything made of it
 * can be corrected when the result changes. Each reader must end in a sum whose terms have the unfinished value as a
 * factor (a later value rescales the sum), or in a maximum or minimum whose terms have it as a summand (a later value
 * shifts it). Nothing made of the unfinished value may be read outside of the loop before that.
 */
#ifndef DFL_IR_PATH_ONLINE_LEGALITY_H
#define DFL_IR_PATH_ONLINE_LEGALITY_H

#include "ir/path/path.h"

/* Whether every `online` loop is legal and needed: else E0420. */
bool dfl_path_check_online(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths);

#endif
