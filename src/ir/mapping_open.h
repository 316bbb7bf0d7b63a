/*
 * Queries about the holes of a mapping. A mapping with holes has open amounts only, or open lines. A mapping with open
 * lines may have written branches, and may have written lines.
 */
#ifndef DFL_IR_MAPPING_OPEN_H
#define DFL_IR_MAPPING_OPEN_H

#include "ir/mapping.h"

/* Whether the mapping has neither open lines nor open branches: each hole is an amount of a loop, or a choice of the
   subject of a line. */
bool dfl_mapping_lines_are_written(const dfl_mapping *m);
/* Whether the mapping contains only homes, above its only `...`. */
bool dfl_mapping_all_lines_open(const dfl_mapping *m);
/* Whether the mapping has both open lines and written branches. */
bool dfl_mapping_has_open_branches(const dfl_mapping *m);
/* Number of the homes of a body: its first lines that are keeps of distinct tensors, stand before any open place, and
   keep tensors that no enclosing body keeps. */
uint32_t dfl_body_count_homes(const dfl_body *body);
/* The memory of the innermost keep of a tensor in `body` or in a body around it (NULL = no body); DFL_NONE = no
   keep. */
uint32_t dfl_body_home(const dfl_body *body, uint32_t tensor);

#endif
