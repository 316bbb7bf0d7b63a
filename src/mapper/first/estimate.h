/*
 * A quick estimate of what settled lines cost: transfers of whole tiles, the ports that are busy with them, and what waits for
 * them. It takes a microsecond where the model takes twenty to two hundred. It bounds nothing: sliding windows and last pieces
 * of ranks are rounded. A search asks it which lines are worth the model.
 */
#ifndef DFL_MAPPER_FIRST_ESTIMATE_H
#define DFL_MAPPER_FIRST_ESTIMATE_H

#include "mapper/first/skeleton.h"

typedef struct {
    double joules, seconds;   /* without leakage; INFINITY if a memory has too little room */
} dfl_estimate;

dfl_estimate dfl_estimate_make(const dfl_problem *problem, const dfl_skeleton *settled);

#endif
