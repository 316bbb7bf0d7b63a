/* The update of every weight that has a gradient, and the states of the optimizer. */
#ifndef DFL_TRAIN_OPTIMIZER_H
#define DFL_TRAIN_OPTIMIZER_H

#include "train/draft.h"

/* Adds the updates, in the order of the weights. */
void dfl_train_add_updates(dfl_train_draft *draft);

#endif
