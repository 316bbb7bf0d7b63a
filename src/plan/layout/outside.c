#include "plan/layout/outside.h"

#include "plan/layout/lines.h"

/* ---- which memory is that of a chip ---- */

/* Whether a line divides work, or a home, on an axis. */
static bool is_divided(const dfl_mapping *m, uint32_t axis)
{
    for (uint32_t i = 0; i < m->root->n_lines; i++) {
        const dfl_line *line = &m->root->lines[i];

        if (line->kind == DFL_LINE_SPATIAL && line->axis == axis)
            return true;
        for (uint32_t k = 0; line->kind == DFL_LINE_KEEP && k < line->n_splits; k++)
            if (line->splits[k].axis == axis)
                return true;
    }
    return false;
}

/* Whether lines divide work on all axes around an element that lie inside of another one. */
static bool is_divided_between(const dfl_mapping *m, uint32_t outer, uint32_t inner)
{
    for (uint32_t a = 0; a < m->system->n_axes; a++)
        if (m->system->axes[a].size > 1 && dfl_axis_encloses(m->system, a, inner) && !dfl_axis_encloses(m->system, a, outer) &&
            !is_divided(m, a))
            return false;
    return true;
}

uint32_t dfl_outside_find_chip(const dfl_mapping *m)
{
    const dfl_system *s = m->system;
    uint32_t first = 0, element;

    while (first < s->n_memories && (!dfl_memory_is_in_array(s, first) || s->elements[s->memories[first].element].side))
        first++;
    if (first == s->n_memories)
        return DFL_NONE;
    element = s->memories[first].element;
    for (uint32_t i = 0; i < m->root->n_lines; i++) {
        const dfl_line *line = &m->root->lines[i];
        const uint32_t kept = line->kind == DFL_LINE_KEEP ? s->memories[line->memory].element : element;

        if (kept != element && !s->elements[kept].side && dfl_element_within(s, kept, element) &&
            is_divided_between(m, element, kept))
            element = kept;
    }
    while (s->memories[first].element != element)
        first++;
    return first;
}

/* ---- which tensors lie outside ---- */

bool dfl_outside_check_home(const dfl_frame *f, const dfl_line *keep)
{
    const dfl_system *s = f->system;
    const dfl_tensor *t = &f->workload->tensors[keep->tensor];
    const uint32_t kept = s->memories[keep->memory].element, chip = s->memories[f->home].element;

    if (kept == chip)
        return true;
    if (s->elements[kept].side || !dfl_element_within(s, chip, kept))
        return dfl_frame_refuse(f, keep->span, "a home in another element than the outermost memory of a chip",
                                "keep it in the outermost memory of the chip, or divide work among the instances around it");
    if (t->gathered || t->table != DFL_NONE)
        return dfl_frame_refuse(f, keep->span, "a table with gathered rows outside of the chips", "keep it on the chip");
    if (t->part == DFL_PART_GRADIENT && f->workload->tensors[t->of].role == DFL_ROLE_WEIGHT)
        return dfl_frame_refuse(f, keep->span, "the gradient of a weight outside of the chips",
                                "keep gradients on the chip: all micro-batches add to them");
    if (t->part == DFL_PART_PLAIN && t->role == DFL_ROLE_STATE)
        return dfl_frame_refuse(f, keep->span, "a state outside of the chips", "keep it on the chip");
    return true;
}
