/*
 * The lower bound of a skeleton over whole numbers: of parts on axes (SEARCH.md, B57), and of elements in full tiles (B58).
 * The program of the skeleton may put 1.3 parts of a rank on an axis. A cell gives an interval to the number of parts of each
 * rank on each axis, and to the full tile below each cut. Where the point of the program has a number that is not whole, the
 * cell is split there; then the axis or the memory has less room for other ranks. The least bound of all cells is that of the
 * skeleton.
 */
#ifndef DFL_MAPPER_JOIN_PART_CELLS_H
#define DFL_MAPPER_JOIN_PART_CELLS_H

#include "mapper/join/pattern_programs.h"

/* The bound of a skeleton, at least `least`, which is a bound; as far as it takes to know that it is above `enough`. If it is
   not, the cell of `s` is the one with the least bound. Changes the program; `b->scratch` is for temporary data. */
double dfl_part_cells_least(dfl_pattern_bounds *b, const dfl_kept_program *k, dfl_bounded_skeleton *s, double least,
                            double enough);
/* 1 + the rank whose number of pieces at the point of a cell is least of those between 1 and 2; 0 = there is none. */
uint32_t dfl_part_cell_mixed(const dfl_kept_program *k, const struct dfl_part_cell *cell);
/* The range of another program of the same skeleton in its cell. False if nothing is left. */
bool dfl_part_cell_range(const dfl_kept_program *k, const struct dfl_part_cell *cell, dfl_geometric_box *range);

/* Number of cuts of a rank, from the outermost one on, below which cells may split full tiles. */
enum { DFL_CELL_CUTS = 6 };

#endif
