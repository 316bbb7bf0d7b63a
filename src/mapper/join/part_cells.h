/*
 * The lower bound of a skeleton over whole numbers: of parts on axes (SEARCH.md, B57), and of elements in full tiles (B58). Its
 * program may put 1.3 parts of a rank on an axis. A cell is an interval of the parts of each rank on each axis, and of the full
 * length below each cut; where the program wants a number that is not whole, the cell is split there, and the axis or the memory
 * has less room for others. The least bound of all cells is that of the skeleton.
 */
#ifndef DFL_MAPPER_JOIN_PART_CELLS_H
#define DFL_MAPPER_JOIN_PART_CELLS_H

#include "mapper/join/pattern_programs.h"

/* The bound, as far as it takes to know that it is above `enough`, or `least`, a bound, if that is not less. The program is
   changed; `b->scratch` is for temporary data. */
double dfl_part_cells_least(dfl_pattern_bounds *b, const dfl_kept_program *k, dfl_bounded_skeleton *s, double least,
                            double enough);
/* 1 + the rank whose pieces are farthest from 2, but between 1 and 2, at the point of a cell; 0 = there is none. */
uint32_t dfl_part_cell_mixed(const dfl_kept_program *k, const struct dfl_part_cell *cell);
/* The range of another program of the same skeleton in its cell. False if nothing is left. */
bool dfl_part_cell_range(const dfl_kept_program *k, const struct dfl_part_cell *cell, dfl_geometric_box *range);

/* Cuts of a rank from the outside whose lengths cells may split. */
enum { DFL_CELL_CUTS = 6 };
#endif
