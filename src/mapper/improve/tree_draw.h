/* Random changes of lines (tree_moves.h), the same in the same order on every machine. */
#ifndef DFL_MAPPER_IMPROVE_TREE_DRAW_H
#define DFL_MAPPER_IMPROVE_TREE_DRAW_H

#include "mapper/improve/tree_moves.h"

/* A sequence of random numbers: a linear congruential generator modulo 2^64 with the constants of Knuth's MMIX. */
typedef struct { uint64_t state; } dfl_tree_random;

/* A number from 0 to n - 1; n > 0. */
uint32_t dfl_tree_draw(dfl_tree_random *random, uint32_t n);
/* A number from 0 to below 1. */
double dfl_tree_draw_share(dfl_tree_random *random);
/* Draws a change of the mapping. False if the draw makes no sense; then others may. */
bool dfl_tree_draw_move(dfl_tree_random *random, const dfl_mapping *m, bool may_share, dfl_tree_move *move);
/* Draws a loop around a place, or inside of its body, and a finer cut of it. */
bool dfl_tree_draw_finer(dfl_tree_random *random, const dfl_mapping *m, uint32_t body, dfl_tree_move *move);

#endif
