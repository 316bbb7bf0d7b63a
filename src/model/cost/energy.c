/* Energy: actions times the price of an action, plus leakage over the time. Nothing is charged that the system does
   not declare. */
#include "model/cost/energy.h"

#include "support/vec.h"

/* The networks of the arrays between a keep and the next outer one. */
static void find_networks(const dfl_setting *set, const dfl_keeps *keeps, uint32_t at, dfl_energy_plan *out)
{
    const dfl_keep *k = &keeps->at[at];
    uint32_t inner = set->s->memories[k->line->memory].element, n = 0;
    uint32_t outer = k->parent == DFL_NONE ? inner : set->s->memories[keeps->at[k->parent].line->memory].element;

    out->networks[at] = DFL_NEW_ARRAY(set->arena, uint32_t, set->s->n_elements + 1);
    for (uint32_t e = inner; e != outer && e != DFL_NONE; e = set->s->elements[e].parent) {
        const dfl_element *element = &set->s->elements[e];
        uint32_t net = element->n_axes > 0 ? set->s->axes[element->first_axis].network : DFL_NONE;
        if (net != DFL_NONE)
            out->networks[at][n++] = net;
    }
    out->n_networks[at] = n;
}

void dfl_energy_plan_make(const dfl_setting *set, const dfl_keeps *keeps, dfl_energy_plan *out)
{
    *out = (dfl_energy_plan){ .networks = DFL_NEW_ARRAY(set->arena, uint32_t *, keeps->n + 1),
                              .n_networks = DFL_NEW_ARRAY(set->arena, uint32_t, keeps->n + 1),
                              .each = DFL_NEW_ARRAY(set->arena, double, set->w->n_einsums + 1) };
    for (uint32_t i = 0; i < keeps->n; i++)
        find_networks(set, keeps, i, out);
    for (uint32_t e = 0; e < set->w->n_einsums; e++)
        out->each[e] = dfl_point_joules(&set->w->einsums[e], &set->s->computes[set->paths->paths[e].compute]);
    out->leakage = dfl_system_leakage(set->s);
    out->area = dfl_system_area(set->s);
}

static void charge_memories(const dfl_setting *set, dfl_traffic *traffic, uint32_t n, dfl_memory_cost *memories)
{
    for (uint32_t m = 0; m < set->s->n_memories; m++)
        memories[m].read_joules = memories[m].write_joules = 0;
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
static void charge_networks(const dfl_setting *set, const dfl_keeps *keeps, const dfl_energy_plan *plan,
                            const dfl_traffic_sums *sums, double *joules)
{
    for (uint32_t n = 0; n < set->s->n_networks; n++)
        joules[n] = 0;
    for (uint32_t i = 0; i < keeps->n; i++) {
        if (plan->n_networks[i] == 0)
            continue;
        double bits = dfl_i128_double(sums->all[i].fill + sums->all[i].drain) *
                      set->w->tensors[keeps->at[i].line->tensor].type.bits;
        for (uint32_t k = 0; k < plan->n_networks[i]; k++)
            joules[plan->networks[i][k]] += bits * set->s->networks[plan->networks[i][k]].energy;
    }
}

bool dfl_energy_network_bits(const dfl_setting *set, const dfl_keeps *keeps, const dfl_energy_plan *plan,
                             const dfl_traffic_sums *sums, uint32_t network, dfl_i128 *out)
{
    bool over = false;

    *out = 0;
    for (uint32_t i = 0; i < keeps->n; i++)
        for (uint32_t k = 0; k < plan->n_networks[i]; k++) {
            dfl_i128 bits;
            if (plan->networks[i][k] != network)
                continue;
            over |= dfl_add(sums->all[i].fill, sums->all[i].drain, &bits) ||
                    dfl_mul(bits, set->w->tensors[keeps->at[i].line->tensor].type.bits, &bits) || dfl_add(*out, bits, out);
        }
    return over;
}

void dfl_energy_count(const dfl_setting *set, const dfl_keeps *keeps, const dfl_energy_plan *plan,
                      const dfl_traffic_sums *sums, dfl_result *result, dfl_traffic *traffic, dfl_einsum_cost *einsums,
                      dfl_memory_cost *memories)
{
    const dfl_system *s = set->s;

    result->joules = 0;
    charge_memories(set, traffic, result->n_traffic, memories);
    charge_networks(set, keeps, plan, sums, result->network_joules);
    for (uint32_t c = 0; c < s->n_computes; c++)
        result->compute_joules[c] = 0;
    for (uint32_t e = 0; e < set->w->n_einsums; e++) {
        einsums[e].joules = dfl_i128_double(sums->points[e]) * plan->each[e];
        result->compute_joules[set->paths->paths[e].compute] += einsums[e].joules;
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
