/*
 * Energy: number of actions times the energy of an action, plus leakage over the time (MODEL.md, section 5). Components
 * without a declared energy are free.
 */
#include "model/cost/energy.h"

#include "support/vec.h"

/* Finds the networks of the arrays between a keep and the next outer one. */
static void find_networks(const dfl_nest *nest, const dfl_keep_tree *keeps, uint32_t at, dfl_energy_plan *out)
{
    const dfl_keep *keep = &keeps->at[at];
    uint32_t inner = nest->system->memories[keep->line->memory].element, n = 0;
    uint32_t outer = keep->parent == DFL_NONE ? inner : nest->system->memories[keeps->at[keep->parent].line->memory].element;

    out->networks[at] = DFL_NEW_ARRAY(nest->arena, uint32_t, nest->system->n_elements + 1);
    for (uint32_t e = inner; e != outer && e != DFL_NONE; e = nest->system->elements[e].parent) {
        const dfl_element *element = &nest->system->elements[e];
        uint32_t net = element->n_axes > 0 ? nest->system->axes[element->first_axis].network : DFL_NONE;
        if (net != DFL_NONE)
            out->networks[at][n++] = net;
    }
    out->n_networks[at] = n;
}

void dfl_energy_plan_make(const dfl_nest *nest, const dfl_keep_tree *keeps, dfl_energy_plan *out)
{
    *out = (dfl_energy_plan){ .networks = DFL_NEW_ARRAY(nest->arena, uint32_t *, keeps->n + 1),
                              .n_networks = DFL_NEW_ARRAY(nest->arena, uint32_t, keeps->n + 1),
                              .each = DFL_NEW_ARRAY(nest->arena, double, nest->workload->n_einsums + 1) };
    for (uint32_t i = 0; i < keeps->n; i++)
        find_networks(nest, keeps, i, out);
    for (uint32_t e = 0; e < nest->workload->n_einsums; e++)
        out->each[e] = dfl_point_joules(nest->workload, &nest->workload->einsums[e],
                                        &nest->system->computes[nest->paths->paths[e].compute]);
    out->leakage = dfl_system_leakage(nest->system);
    out->area = dfl_system_area(nest->system);
}

static void charge_memories(const dfl_nest *nest, dfl_traffic *traffic, uint32_t n, dfl_memory_cost *memories)
{
    for (uint32_t m = 0; m < nest->system->n_memories; m++)
        memories[m].read_joules = memories[m].write_joules = 0;
    for (uint32_t i = 0; i < n; i++) {
        dfl_traffic *t = &traffic[i];
        const dfl_memory *m = &nest->system->memories[t->memory];
        double bits = nest->workload->tensors[t->tensor].type.bits;
        double read = dfl_i128_double(t->counts.serve + t->counts.drain + t->counts.accumulate) * bits * m->read_energy;
        double write = dfl_i128_double(t->counts.fill + t->counts.update) * bits * m->write_energy;
        t->joules = read + write;
        memories[t->memory].read_joules += read;
        memories[t->memory].write_joules += write;
    }
}

/* Adds the energy of networks for the bits that cross them on the way to or from a keep: one crossing for each filled
   and each drained element. */
static void charge_networks(const dfl_nest *nest, const dfl_keep_tree *keeps, const dfl_energy_plan *plan,
                            const dfl_traffic_sums *sums, double *joules)
{
    for (uint32_t n = 0; n < nest->system->n_networks; n++)
        joules[n] = 0;
    for (uint32_t i = 0; i < keeps->n; i++) {
        if (plan->n_networks[i] == 0)
            continue;
        double bits = dfl_i128_double(sums->all[i].fill + sums->all[i].drain) *
                      nest->workload->tensors[keeps->at[i].line->tensor].type.bits;
        for (uint32_t k = 0; k < plan->n_networks[i]; k++)
            joules[plan->networks[i][k]] += bits * nest->system->networks[plan->networks[i][k]].energy;
    }
}

bool dfl_energy_network_bits(const dfl_nest *nest, const dfl_keep_tree *keeps, const dfl_energy_plan *plan,
                             const dfl_traffic_sums *sums, uint32_t network, dfl_i128 *out)
{
    bool over = false;

    *out = 0;
    for (uint32_t i = 0; i < keeps->n; i++)
        for (uint32_t k = 0; k < plan->n_networks[i]; k++) {
            dfl_i128 bits, width = nest->workload->tensors[keeps->at[i].line->tensor].type.bits;
            if (plan->networks[i][k] != network)
                continue;
            over |= dfl_add(sums->all[i].fill, sums->all[i].drain, &bits) ||
                    dfl_mul(bits, width, &bits) || dfl_add(*out, bits, out);
        }
    return over;
}

void dfl_energy_count(const dfl_nest *nest, const dfl_keep_tree *keeps, const dfl_energy_plan *plan,
                      const dfl_traffic_sums *sums, dfl_result *result, dfl_traffic *traffic, dfl_einsum_cost *einsums,
                      dfl_memory_cost *memories)
{
    const dfl_system *s = nest->system;

    result->joules = 0;
    charge_memories(nest, traffic, result->n_traffic, memories);
    charge_networks(nest, keeps, plan, sums, result->network_joules);
    for (uint32_t c = 0; c < s->n_computes; c++)
        result->compute_joules[c] = 0;
    for (uint32_t e = 0; e < nest->workload->n_einsums; e++) {
        einsums[e].joules = dfl_i128_double(sums->points[e]) * plan->each[e];
        result->compute_joules[nest->paths->paths[e].compute] += einsums[e].joules;
    }
    for (uint32_t m = 0; m < s->n_memories; m++)
        result->joules += memories[m].read_joules + memories[m].write_joules;
    for (uint32_t c = 0; c < s->n_computes; c++)
        result->joules += result->compute_joules[c];
    for (uint32_t n = 0; n < s->n_networks; n++)
        result->joules += result->network_joules[n];
    result->leakage_joules = plan->leakage * result->seconds;
    result->joules += result->leakage_joules;
    result->watts = result->seconds > 0 ? result->joules / result->seconds : 0;
    result->area = plan->area;
}

