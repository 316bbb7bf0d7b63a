/* Energy of a mapping: number of actions times the energy of an action (MODEL.md, section 5). */
#ifndef DFL_MODEL_COST_ENERGY_H
#define DFL_MODEL_COST_ENERGY_H

#include "model/counts/traffic_plan.h"

/* Plan of the energy: attributes of the system that do not depend on sizes. */
typedef struct {
    double *each;         /* [einsum]: J per point */
    double leakage, area; /* leakage power (W) and area (m2) of the whole system */
} dfl_energy_plan;

/* Plans the energy of a mapping. */
void dfl_energy_plan_make(const dfl_nest *nest, dfl_energy_plan *out);
/* Number of bits that are charged to a network: those that instances get and give. True on overflow. */
bool dfl_energy_network_bits(const dfl_network_cost *cost, dfl_i128 *out);
/* Fills energy by component and tensor, area and power. `traffic` are the rows of the result. */
void dfl_energy_count(const dfl_nest *nest, const dfl_energy_plan *plan, const dfl_traffic_sums *sums,
                      dfl_result *result, dfl_traffic *traffic, dfl_einsum_cost *einsums, dfl_memory_cost *memories);

#endif
