/*
 * The lower bound of a skeleton over numbers of parts on axes that are whole (SEARCH.md, B57). Its program may put 1.3 parts of a
 * rank on an axis. A cell is an interval of the parts of each rank on each axis; where the program wants a part that is not
 * whole, the cell is split there, and the axis has less room for others. The least bound of all cells is that of the skeleton.
 */
#ifndef DFL_MAPPER_JOIN_PART_CELLS_H
#define DFL_MAPPER_JOIN_PART_CELLS_H

#include "mapper/join/pattern_programs.h"

/* The bound, as far as it takes to know that it is above `enough`, or `least`, a bound, if that is not less. The program is
   changed; `b->scratch` is for temporary data. */
double dfl_part_cells_least(dfl_pattern_bounds *b, const dfl_kept_program *k, double least, double enough);

#endif
