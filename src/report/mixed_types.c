#include "report/mixed_types.h"

/* The operand with the narrowest type below `wide`; DFL_NONE = there is none. */
static uint32_t find_narrowest(const dfl_workload *w, const dfl_einsum *e, const dfl_dtype *wide)
{
    uint32_t best = DFL_NONE;

    for (uint32_t i = 0; i < e->n_inputs; i++) {
        const dfl_dtype *type = &w->tensors[e->inputs[i].tensor].type;

        if (type->bits < wide->bits && (best == DFL_NONE || type->bits < w->tensors[e->inputs[best].tensor].type.bits))
            best = i;
    }
    return best;
}

/* FLOP/s of all instances of a unit for an einsum; 0 = the unit cannot run it. */
static double full_rate(const dfl_intern *names, const dfl_result *r, const dfl_einsum *e, uint32_t compute)
{
    const dfl_system *s = r->mapping->system;
    const double seconds = dfl_point_seconds(names, r->mapping->workload, e, &s->computes[compute]);
    dfl_i128 instances;

    if (!(seconds > 0) || dfl_element_instances(s, s->computes[compute].element, &instances))
        return 0;
    return 2 / seconds * dfl_i128_double(instances);
}

bool dfl_mixed_types_find(dfl_arena *arena, const dfl_intern *names, const dfl_result *result, uint32_t einsum,
                          dfl_mixed_types *out)
{
    const dfl_workload *w = result->mapping->workload;
    const dfl_einsum *e = &w->einsums[einsum];
    const dfl_dtype *wide = dfl_einsum_type(w, e);
    const uint32_t narrow = e->is_mac ? find_narrowest(w, e, wide) : DFL_NONE;
    dfl_access *inputs;
    dfl_einsum like = *e;

    if (narrow == DFL_NONE)
        return false;
    inputs = DFL_NEW_ARRAY(arena, dfl_access, e->n_inputs);
    for (uint32_t i = 0; i < e->n_inputs; i++)
        inputs[i] = e->inputs[narrow];
    like.inputs = inputs;
    *out = (dfl_mixed_types){ .wide = wide, .narrow = &w->tensors[e->inputs[narrow].tensor].type, .compute = DFL_NONE,
                              .wide_rate = full_rate(names, result, e, result->einsums[einsum].compute) };
    for (uint32_t c = 0; c < result->mapping->system->n_computes; c++) {
        const double rate = full_rate(names, result, &like, c);

        if (rate > out->narrow_rate) {
            out->narrow_rate = rate;
            out->compute = c;
        }
    }
    return out->wide_rate > 0 && out->narrow_rate > 2 * out->wide_rate && out->compute != result->einsums[einsum].compute;
}
