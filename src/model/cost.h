/*
 * From counts to room, time and energy. Sections 3 to 5 of MODEL.md give the meaning; every function here is a sum,
 * a maximum or a product of counts and attributes of the system.
 */
#ifndef DFL_MODEL_COST_H
#define DFL_MODEL_COST_H

#include "model/traffic.h"

/* Peak room of every memory and tensor; false after E0406 or E0608. Fills peak_bits and peak_at. */
bool dfl_cost_room(dfl_setting *set, dfl_keeps *keeps, const dfl_traffic_sums *sums, dfl_memory_cost *memories,
                   dfl_i128 *keep_bits);
/* Latency of every einsum and of the whole, and what bounds them; false when the budget stopped. */
bool dfl_cost_time(dfl_setting *set, dfl_keeps *keeps, const dfl_traffic_sums *sums, dfl_result *result,
                   dfl_einsum_cost *einsums, dfl_memory_cost *memories);
/* Energy by component and tensor, area and power. */
void dfl_cost_energy(dfl_setting *set, const dfl_keeps *keeps, const dfl_traffic_sums *sums, dfl_result *result,
                     dfl_traffic *traffic, dfl_einsum_cost *einsums, dfl_memory_cost *memories);

#endif
