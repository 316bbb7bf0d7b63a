/*
 * The orders of the keeps of a nest. What moves, when and from where is the same in all of them, but not the time: a stream
 * starts anew where a keep with one buffer that stands outside of it is refilled (MODEL.md, 4.3). So a mapping is all keeps at
 * their outermost places, in the order of operands (D11 and D13 of SEARCH.md), unless some of them are in streams and others stop
 * the work: then these stand on either side of each other.
 */
#ifndef DFL_MAPPER_NESTS_KEEP_ORDERS_H
#define DFL_MAPPER_NESTS_KEEP_ORDERS_H

#include "mapper/nests/nest_lines.h"

/* Places whose keeps count in the time of others, as masks; both empty if transfers take no time besides the work. */
typedef struct {
    uint32_t streams;         /* `overlap = stream` */
    uint32_t stops;           /* the work waits until their keeps are filled: one buffer */
} dfl_order_kinds;

dfl_order_kinds dfl_order_kinds_of(const dfl_mapping *given, const dfl_problem *problem);

/* Uses keeps in the order of their lines; false ends the list. */
typedef bool dfl_keep_orders_use(void *context, const dfl_nest_keep *keeps, uint32_t n);

/* Calls `use` for each order of keeps, at most DFL_PROBLEM_KEEPS. `keeps`: at their outermost places, by operand, then from outer
   to inner memories. `inmost`: for each keep the largest number of loops above it with the same transfers. False if `use` ended
   the list. */
bool dfl_keep_orders_each(dfl_order_kinds kinds, const dfl_nest_keep *keeps, const uint32_t *inmost, uint32_t n,
                          dfl_keep_orders_use *use, void *context);

#endif
