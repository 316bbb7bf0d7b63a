/*
 * Rows of memories with `access` (MODEL.md, rule 15). Each instance has an open row for each stream of a tensor. An element takes
 * the room that is left in the open row, and then new rows.
 */
#ifndef DFL_ORACLE_ROWS_H
#define DFL_ORACLE_ROWS_H

#include "oracle/oracle_internal.h"

/* Streams of a tensor in an instance of a memory, in the order of dfl_oracle_traffic.rows. */
typedef enum { DFL_ORACLE_READ, DFL_ORACLE_DRAIN, DFL_ORACLE_FILL, DFL_ORACLE_UPDATE, DFL_ORACLE_STREAMS } dfl_oracle_stream;

/* Moves one element in an instance of the keep's memory. */
void dfl_oracle_rows_move(dfl_oracle_machine *machine, const dfl_oracle_keep *keep, uint32_t inst, dfl_oracle_stream stream);

#endif
