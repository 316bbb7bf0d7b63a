#include "plan/layout/homes.h"

bool *dfl_homes_stored(const dfl_frame *f)
{
    const dfl_workload *w = f->workload;
    bool *stored = DFL_NEW_ARRAY(f->arena, bool, (size_t)w->n_tensors + 1);

    for (uint32_t e = 0; e < w->n_einsums; e++) {
        if (w->einsums[e].phase != DFL_PHASE_BACKWARD && !dfl_frame_is_again(f, e))
            continue;
        for (uint32_t i = 0; i < w->einsums[e].n_inputs; i++) {
            uint32_t t = w->einsums[e].inputs[i].tensor, carried = dfl_layout_carried(f, e, t);

            t = carried != DFL_NONE ? carried : t;
            if (w->tensors[t].n_producers > 0 && w->einsums[w->tensors[t].producers[0]].phase == DFL_PHASE_FORWARD &&
                (w->tensors[t].role == DFL_ROLE_INTERMEDIATE || w->tensors[t].role == DFL_ROLE_OUTPUT))
                stored[t] = !f->recomputed[t];
        }
    }
    return stored;
}

void dfl_homes_set(dfl_frame *f)
{
    const dfl_workload *w = f->workload;
    const bool *stored = dfl_homes_stored(f);
    const uint32_t chip = f->system->memories[f->home].element;

    f->is_offloaded = false;
    for (uint32_t t = 0; t < w->n_tensors; t++) {
        const bool is_outside = f->system->memories[f->home_of[t]].element != chip;

        if (is_outside && !stored[t] && w->tensors[t].role != DFL_ROLE_WEIGHT && w->tensors[t].part != DFL_PART_MOMENT &&
            (w->tensors[t].role != DFL_ROLE_INPUT || w->tensors[t].part != DFL_PART_PLAIN))
            f->home_of[t] = f->home;
        f->is_offloaded |= dfl_frame_is_outside(f, t);
    }
}

uint64_t dfl_homes_inside(const dfl_frame *f, uint32_t memory)
{
    uint64_t mask = 0;

    for (uint32_t s = 0; s < f->n_slots; s++)
        if (!dfl_axis_encloses(f->system, f->slots[s].axis, f->system->memories[memory].element))
            mask |= UINT64_C(1) << s;
    return mask;
}
