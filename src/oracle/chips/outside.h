/* Homes outside of the chips: in a memory that several chips share. */
#ifndef DFL_ORACLE_CHIPS_OUTSIDE_H
#define DFL_ORACLE_CHIPS_OUTSIDE_H

#include "oracle/chips/chips_internal.h"

/* The memory whose element is a chip; DFL_NONE = no memory lies inside of an array. */
uint32_t dfl_chips_find_home(const chips *c);
/* The first home that lies neither in the element of a chip nor around it; NULL = there is none. */
const dfl_line *dfl_chips_find_beside(const chips *c);
/* The memory of each tensor, and with which tensor it is stored outside of the chips. */
void dfl_chips_find_homes(chips *c);
/* The first chip inside of the same instance of a memory. */
uint32_t dfl_chips_first_inside(const chips *c, uint32_t memory, uint32_t chip);
/* Adds an element to a value at home on the chips of a mask of stages; nothing if the value lies on the chips. */
void dfl_chips_add_outside(const chips *c, uint32_t value, uint32_t element, uint64_t stages);
/* The same for one chip to which the element comes: nothing if another chip inside has it. */
void dfl_chips_send_outside(const chips *c, uint32_t value, uint32_t element, uint32_t chip);
/* Elements that the memory around a chip has of the homes of all chips inside; 0 unless it is the first chip inside. `of_stage`:
   the elements that the stage of the chip uses; NULL = none. */
uint64_t dfl_chips_count_outside(const chips *c, uint32_t tensor, uint32_t chip, const uint8_t *of_stage);
/* Elements of the room that a chip has for a home outside: of two layers, of an input two micro-batches. */
uint64_t dfl_chips_count_room(const chips *c, uint32_t tensor, uint32_t chip, const uint8_t *of_stage);
/* Notes that a micro-batch reads an element of an input. */
void dfl_chips_note_input(chips *c, uint32_t tensor, uint32_t element, int64_t micro_batch);

#endif
