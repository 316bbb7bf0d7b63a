/*
 * The open parts of a mapping with holes. Either only tile sizes and structural choices are open, or lines are open. A
 * mapping with open lines may have written branches and some written lines.
 */
#ifndef DFL_IR_MAPPING_OPEN_H
#define DFL_IR_MAPPING_OPEN_H

#include "ir/mapping.h"

/* Whether no lines and no branches are open: all holes are tile sizes or structural choices. */
bool dfl_mapping_lines_are_written(const dfl_mapping *m);
/* Whether the homes, above the only `...`, are the only written lines. */
bool dfl_mapping_all_lines_open(const dfl_mapping *m);
/* Whether lines are open in a mapping that has written branches. */
bool dfl_mapping_has_open_branches(const dfl_mapping *m);
/* Number of homes of a body. Homes are the first lines of the body: keeps of distinct tensors that no enclosing body keeps,
   before the first `...`. */
uint32_t dfl_body_count_homes(const dfl_body *body);
/* The memory of the innermost keep of a tensor among the lines of a body and of its enclosing bodies; DFL_NONE = no keep.
   `body` may be NULL, which has no lines. */
uint32_t dfl_body_home(const dfl_body *body, uint32_t tensor);

#endif
