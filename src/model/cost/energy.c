/*
 * Energy: number of actions times the energy of an action, plus leakage over the time (MODEL.md, section 5). Components
 * without a declared energy are free.
 */
#include "model/cost/energy.h"

#include "support/vec.h"

void dfl_energy_plan_make(const dfl_nest *nest, dfl_energy_plan *out)
{
    *out = (dfl_energy_plan){ .each = DFL_NEW_ARRAY(nest->arena, double, nest->workload->n_einsums + 1) };
    for (uint32_t e = 0; e < nest->workload->n_einsums; e++)
        out->each[e] = dfl_point_joules(nest->workload, &nest->workload->einsums[e],
                                        &nest->system->computes[nest->paths->paths[e].compute]);
    out->leakage = dfl_system_leakage(nest->system);
    out->area = dfl_system_area(nest->system);
}

static void charge_memories(const dfl_nest *nest, dfl_traffic *traffic, uint32_t n, dfl_memory_cost *memories)
{
    for (uint32_t m = 0; m < nest->system->n_memories; m++)
        memories[m].read_joules = memories[m].drain_joules = memories[m].write_joules = 0;
    for (uint32_t i = 0; i < n; i++) {
        dfl_traffic *t = &traffic[i];
        const dfl_memory *m = &nest->system->memories[t->memory];
        double bits = nest->workload->tensors[t->tensor].type.bits;
        /* drains are reads like all others unless they have an energy of their own */
        dfl_i128 reads = t->counts.serve + t->counts.accumulate + (m->has_drain_energy ? 0 : t->counts.drain);
        double read = dfl_i128_double(reads) * bits * m->read_energy;
        double drain = m->has_drain_energy ? dfl_i128_double(t->counts.drain) * bits * m->drain_energy : 0;
        double write = dfl_i128_double(t->counts.fill + t->counts.update) * bits * m->write_energy;
        t->joules = read + drain + write;
        memories[t->memory].read_joules += read;
        memories[t->memory].drain_joules += drain;
        memories[t->memory].write_joules += write;
    }
}

bool dfl_energy_network_bits(const dfl_network_cost *cost, dfl_i128 *out)
{
    return dfl_add(cost->delivered_bits, cost->collected_bits, out);
}

/* Charges each bit that an instance gets over its network, from outside or from a neighbour, and each bit that it gives. */
static void charge_networks(const dfl_nest *nest, const dfl_network_cost *costs, double *joules)
{
    for (uint32_t n = 0; n < nest->system->n_networks; n++)
        joules[n] = (dfl_i128_double(costs[n].delivered_bits) + dfl_i128_double(costs[n].collected_bits)) *
                    nest->system->networks[n].energy;
}

void dfl_energy_count(const dfl_nest *nest, const dfl_energy_plan *plan, const dfl_traffic_sums *sums,
                      dfl_result *result, dfl_traffic *traffic, dfl_einsum_cost *einsums, dfl_memory_cost *memories)
{
    const dfl_system *s = nest->system;

    result->joules = 0;
    charge_memories(nest, traffic, result->n_traffic, memories);
    charge_networks(nest, result->networks, result->network_joules);
    for (uint32_t c = 0; c < s->n_computes; c++)
        result->compute_joules[c] = 0;
    for (uint32_t e = 0; e < nest->workload->n_einsums; e++) {
        einsums[e].joules = dfl_i128_double(sums->points[e]) * plan->each[e];
        result->compute_joules[nest->paths->paths[e].compute] += einsums[e].joules;
    }
    for (uint32_t m = 0; m < s->n_memories; m++)
        result->joules += memories[m].read_joules + memories[m].drain_joules + memories[m].write_joules;
    for (uint32_t c = 0; c < s->n_computes; c++)
        result->joules += result->compute_joules[c];
    for (uint32_t n = 0; n < s->n_networks; n++)
        result->joules += result->network_joules[n];
    result->leakage_joules = plan->leakage * result->seconds;
    result->joules += result->leakage_joules;
    result->watts = result->seconds > 0 ? result->joules / result->seconds : 0;
    result->area = plan->area;
}

