/* Energy: actions times the price of an action, plus leakage over the time. Nothing is charged that the system does
   not declare. */
#include "model/cost.h"

#include "support/vec.h"

static void charge_memories(const dfl_setting *set, dfl_traffic *traffic, uint32_t n, dfl_memory_cost *memories)
{
    for (uint32_t i = 0; i < n; i++) {
        dfl_traffic *t = &traffic[i];
        const dfl_memory *m = &set->s->memories[t->memory];
        double bits = set->w->tensors[t->tensor].type.bits;
        double read = dfl_i128_double(t->counts.serve + t->counts.drain + t->counts.accumulate) * bits * m->read_energy;
        double write = dfl_i128_double(t->counts.fill + t->counts.update) * bits * m->write_energy;
        t->joules = read + write;
        memories[t->memory].read_joules += read;
        memories[t->memory].write_joules += write;
    }
}

/* Bits that cross an array's network on their way to or from the keep: each delivery and each drained element once. */
static void charge_networks(const dfl_setting *set, const dfl_keeps *keeps, const dfl_traffic_sums *sums, double *joules)
{
    for (uint32_t i = 0; i < keeps->n; i++) {
        const dfl_keep *k = &keeps->at[i];
        if (k->parent == DFL_NONE)
            continue;
        uint32_t inner = set->s->memories[k->line->memory].element;
        uint32_t outer = set->s->memories[keeps->at[k->parent].line->memory].element;
        double bits = dfl_i128_double(sums->all[i].fill + sums->all[i].drain) * set->w->tensors[k->line->tensor].type.bits;
        for (uint32_t e = inner; e != outer && e != DFL_NONE; e = set->s->elements[e].parent)
            if (set->s->elements[e].n_axes > 0) {
                uint32_t net = set->s->axes[set->s->elements[e].first_axis].network;
                if (net != DFL_NONE)
                    joules[net] += bits * set->s->networks[net].energy;
            }
    }
}

void dfl_cost_energy(dfl_setting *set, const dfl_keeps *keeps, const dfl_traffic_sums *sums, dfl_result *result,
                     dfl_traffic *traffic, dfl_einsum_cost *einsums, dfl_memory_cost *memories)
{
    const dfl_system *s = set->s;
    double leakage = 0, area = 0;

    charge_memories(set, traffic, result->n_traffic, memories);
    result->compute_joules = DFL_NEW_ARRAY(set->arena, double, s->n_computes + 1);
    result->network_joules = DFL_NEW_ARRAY(set->arena, double, s->n_networks + 1);
    charge_networks(set, keeps, sums, result->network_joules);
    for (uint32_t e = 0; e < set->w->n_einsums; e++) {
        const dfl_einsum *einsum = &set->w->einsums[e];
        uint32_t unit = set->paths->paths[e].compute;
        double each = einsum->is_mac ? s->computes[unit].mac_energy
                                     : s->computes[unit].flop_energy * dfl_i128_double(einsum->flops_per_point);
        einsums[e].joules = dfl_i128_double(sums->points[e]) * each;
        result->compute_joules[unit] += einsums[e].joules;
    }
    for (uint32_t m = 0; m < s->n_memories; m++) {
        leakage += s->memories[m].leakage * dfl_i128_double(memories[m].instances);
        area += s->memories[m].area * dfl_i128_double(memories[m].instances);
        result->joules += memories[m].read_joules + memories[m].write_joules;
    }
    for (uint32_t c = 0; c < s->n_computes; c++) {
        dfl_i128 instances = 1;
        dfl_element_instances(s, s->computes[c].element, &instances);
        leakage += s->computes[c].leakage * dfl_i128_double(instances);
        area += s->computes[c].area * dfl_i128_double(instances);
        result->joules += result->compute_joules[c];
    }
    for (uint32_t n = 0; n < s->n_networks; n++)
        result->joules += result->network_joules[n];
    result->leakage_joules = leakage * result->seconds;
    result->joules += result->leakage_joules;
    result->watts = result->seconds > 0 ? result->joules / result->seconds : 0;
    result->area = s->area > 0 ? s->area : area;
}
