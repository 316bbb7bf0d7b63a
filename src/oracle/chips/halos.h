/* Elements of neighbours: what chips lack beside their parts, where windows and offsets reach beyond them, and what they make
   there. */
#ifndef DFL_ORACLE_CHIPS_HALOS_H
#define DFL_ORACLE_CHIPS_HALOS_H

#include "oracle/chips/chips_internal.h"

/* The elements that chips get from neighbours in a pass; NULL = none do. */
element_set *dfl_chips_open_halos(const chips *c, uint32_t einsum);
/* Marks what the present chip lacks, after its block. */
void dfl_chips_mark_halos(const chip_pass *p, element_set *halos);
/* Records the messages of the pass, with their buffers. */
void dfl_chips_record_halos(const chip_pass *p, element_set *halos);
/* Sends what the einsums of the target of the pass have made beyond the parts of their chips to the neighbours that have it at
   home, and records the messages. `made`: by the last einsum; it and the sets of all of them lose what is sent and get what
   arrives. */
void dfl_chips_send_beside(const chip_pass *p, element_set *made);

#endif
