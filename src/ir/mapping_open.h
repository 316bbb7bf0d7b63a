/*
 * What a mapping leaves open for a search. A mapping with holes has open amounts alone, or open lines; with open lines
 * it has written branches or not, and all lines are open or some are written.
 */
#ifndef DFL_IR_MAPPING_OPEN_H
#define DFL_IR_MAPPING_OPEN_H

#include "ir/mapping.h"

/* Whether no lines and no branches are open: holes are amounts of loops, or choices of what is written in a place. */
bool dfl_mapping_lines_are_written(const dfl_mapping *m);
/* Whether nothing is written but homes, above the only `...`. */
bool dfl_mapping_all_lines_open(const dfl_mapping *m);
/* Whether lines are open in a mapping that has written branches. */
bool dfl_mapping_has_open_branches(const dfl_mapping *m);
/* Number of the homes of a body: its first lines, keeps of distinct tensors that no body above keeps, before any open
   place. */
uint32_t dfl_body_count_homes(const dfl_body *body);
/* The memory of the innermost keep of a tensor among the lines down to those of a body (NULL = no lines); DFL_NONE =
   none. */
uint32_t dfl_body_home(const dfl_body *body, uint32_t tensor);

#endif
