#include "solve/homes.h"

#include "ir/path/unit_choice.h"

uint32_t dfl_outermost_for(const dfl_mapping *m, uint32_t tensor, uint32_t compute)
{
    for (uint32_t i = 0; i < m->system->n_memories; i++)
        if (dfl_compute_sees(m->system, compute, i) &&
            (!m->system->memories[i].holds.on || dfl_selects(&m->system->memories[i].holds, &m->workload->tensors[tensor])))
            return i;
    return DFL_NONE;
}

/* The first outermost memory of a tensor of the einsum that stands inside an array, whichever unit runs the einsum; DFL_NONE if
   some unit finds all of them outside of arrays. */
static uint32_t memory_in_array(const dfl_intern *names, const dfl_mapping *m, const dfl_einsum *e)
{
    uint32_t first = DFL_NONE;

    for (uint32_t c = 0; c < m->system->n_computes; c++) {
        uint32_t inside = DFL_NONE;

        if (!dfl_unit_can_run(names, m, &m->system->computes[c], e))
            continue;
        for (uint32_t i = 0; i <= e->n_inputs && inside == DFL_NONE; i++) {
            const uint32_t home = dfl_outermost_for(m, i < e->n_inputs ? e->inputs[i].tensor : e->output.tensor, c);
            if (home != DFL_NONE && dfl_memory_is_in_array(m->system, home))
                inside = home;
        }
        if (inside == DFL_NONE)
            return DFL_NONE;
        if (first == DFL_NONE)
            first = inside;
    }
    return first;
}

bool dfl_check_homes(dfl_fill *fill, const dfl_mapping *m)
{
    const dfl_intern *names = fill->solver->names;
    const dfl_workload *w = m->workload;
    uint32_t n = 0, first = DFL_NONE;
    const dfl_memory *memory;
    dfl_diag *d;

    for (uint32_t e = 0; e < w->n_einsums; e++) {
        const uint32_t inside = memory_in_array(names, m, &w->einsums[e]);
        n += inside != DFL_NONE;
        if (first == DFL_NONE)
            first = inside;
    }
    if (n == 0)
        return true;
    memory = &m->system->memories[first];
    d = dfl_report(fill->sink, DFL_EVAL_UNSUPPORTED, m->span,
                   "the search does not support %u of the %u einsums of `%s`: their outermost memory, `%s`, is inside "
                   "of an array",
                   n, w->n_einsums, dfl_sym_text(names, w->name), dfl_sym_text(names, memory->name));
    dfl_diag_label(fill->sink, d, memory->span, "each instance of the array has its own");
    dfl_diag_help(fill->sink, d, "map the einsums one at a time and write the lines, or take a system with one instance");
    return false;
}
