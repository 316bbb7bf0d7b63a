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

/* Charged bits of a tensor in a memory, by price: whole rows, or the bits of the elements. */
typedef struct { double read, drain, written; } charged_bits;

static charged_bits count_bits(const dfl_traffic *t, const dfl_memory *m, double bits)
{
    const dfl_counts *n = &t->counts;
    const dfl_row_counts *rows = &t->rows;
    const double row = (double)m->access_bits;
    charged_bits out;

    /* drains are reads like all others unless they have an energy of their own */
    if (m->access_bits != 0)
        return (charged_bits){ dfl_i128_double(rows->read + (m->has_drain_energy ? 0 : rows->drain)) * row,
                               m->has_drain_energy ? dfl_i128_double(rows->drain) * row : 0,
                               dfl_i128_double(rows->fill + rows->update) * row };
    out.read = dfl_i128_double(n->serve + n->accumulate + (m->has_drain_energy ? 0 : n->drain)) * bits;
    out.drain = m->has_drain_energy ? dfl_i128_double(n->drain) * bits : 0;
    out.written = dfl_i128_double(n->fill + n->update) * bits;
    return out;
}

static void charge_memories(const dfl_nest *nest, dfl_traffic *traffic, uint32_t n, dfl_memory_cost *memories)
{
    for (uint32_t m = 0; m < nest->system->n_memories; m++)
        memories[m].read_joules = memories[m].drain_joules = memories[m].write_joules = 0;
    for (uint32_t i = 0; i < n; i++) {
        dfl_traffic *t = &traffic[i];
        const dfl_memory *m = &nest->system->memories[t->memory];
        const charged_bits bits = count_bits(t, m, nest->workload->tensors[t->tensor].type.bits);
        double read = bits.read * m->read_energy, drain = bits.drain * m->drain_energy, write = bits.written * m->write_energy;

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

