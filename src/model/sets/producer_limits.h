/* Producer limits. */
#ifndef DFL_MODEL_SETS_PRODUCER_LIMITS_H
#define DFL_MODEL_SETS_PRODUCER_LIMITS_H

#include "model/sets/nest.h"

/* Finds the demands. */
bool dfl_producer_limits_find(dfl_nest *nest);

#endif
