/*
 * Tables, of which `gather` reads rows. The forward workload has a table `T` in one of two forms: as a tensor with tensors of
 * rows beside it, `T@Z`; or, if one gather alone reads it, as the tensor of these rows. Its gradient has one of two forms:
 *
 *   - that of the rows, if one gather alone reads the table and the table has more elements than the rows. The update visits
 *     the rows, all of them distinct.
 *   - that of the whole table, else. Every gather adds to rows of it, `grad.T@Z`. If such rows come first, `grad.T = 0` comes
 *     before them. The update visits every element once.
 */
#ifndef DFL_TRAIN_TABLES_H
#define DFL_TRAIN_TABLES_H

#include "train/draft.h"

/* A copy of the workload, in which every table that has a gradient of its whole is apart from its rows. The rows follow the other
   tensors. NULL if a size has more than 128 bits. */
const dfl_workload *dfl_train_split_tables(dfl_train_draft *draft, const dfl_workload *forward);
/* The table of a tensor of rows; DFL_NONE if the tensor is none, or stands for its table. */
uint32_t dfl_train_table_of(const dfl_workload *w, uint32_t tensor);
/* Whether the gradient of a table is filled with zeros: the last einsum that reads the table reads rows. */
bool dfl_train_needs_zeros(const dfl_workload *w, uint32_t table);
/* The access to all elements of a tensor, each once, by ranks of its accesses where one rank visits a whole dimension, else by
   new ranks. `ranks`: room for as many as dimensions; is set to the ranks, ascending. */
dfl_access dfl_train_visit(dfl_train_draft *draft, uint32_t tensor, uint32_t *ranks);
/* Inserts a rank into an ascending list of `n` ranks, which has room for it. */
void dfl_train_insert_rank(uint32_t *ranks, uint32_t n, uint32_t rank);

#endif
