/* The data that select rows of tables, which the execution chooses. */
#ifndef DFL_ORACLE_CHIPS_DEAL_H
#define DFL_ORACLE_CHIPS_DEAL_H

#include "oracle/chips/chips_internal.h"

/* Chooses the rows at the positions of all gathers. Where points go to rows, each part of a table gets an equal share of them,
   but for the `load` that an einsum states of its largest part. Points get distinct rows, as long as the table has some. */
void dfl_chips_deal_rows(chips *c);

#endif
