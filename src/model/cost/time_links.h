/*
 * Networks on a chip in the time of a mapping (MODEL.md, section 4.5): each class of links of a network with a bandwidth is
 * a resource beside the ports of memories, and a transfer that waits also waits for the latencies of the networks that it
 * crosses.
 */
#ifndef DFL_MODEL_COST_TIME_LINKS_H
#define DFL_MODEL_COST_TIME_LINKS_H

#include "model/cost/time_plan.h"

/* Adds the resources of all networks that some transfer crosses. The plan of the crossings must be set. */
void dfl_time_links_add_resources(dfl_nest *nest, dfl_time_plan *plan);
/* Number of classes that the transfers of a keep may keep busy. */
uint32_t dfl_time_links_most(const dfl_time_plan *plan, uint32_t keep);
/* Whether the transfers of a keep cross links between neighbours that limit the time. */
bool dfl_time_links_are_lines(const dfl_time_plan *plan, uint32_t keep);
/* Adds the classes of links that the transfers of a keep cross to the uses of the transfer. */
void dfl_time_links_add_uses(const dfl_time_plan *plan, dfl_transfer *transfer);
/* Finds the classes of links that the operands of an einsum cross on the way to and from the unit. */
void dfl_time_links_add_operands(dfl_nest *nest, dfl_time_plan *plan, dfl_einsum_time *einsum);
/* Sets the seconds that an element of a transfer keeps a class busy: the bits of the class are divided in proportion to the
   elements. If the shares of the loops differ, the largest one counts for all. The transfer must be counted. */
void dfl_time_links_set_use(const dfl_time_plan *plan, const dfl_transfer *transfer, dfl_use *use);
/* Bits on a class that one operand crosses. */
double dfl_time_links_bits(const dfl_time_plan *plan, const dfl_operand_link *link);
/* The most bits of one operand on a class in one step of its einsum. `adding`: that of the operand's port. */
double dfl_time_links_most_bits(const dfl_nest *nest, const dfl_time_plan *plan, const dfl_operand_link *link, uint64_t adding);
/* Seconds of latency of the networks that the crossings from `first` to `end` - 1 pass on the way up, or on the way down. */
double dfl_time_links_latency(const dfl_nest *nest, const dfl_time_plan *plan, uint32_t first, uint32_t end, bool up);

#endif
