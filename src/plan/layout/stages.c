#include "plan/layout/stages.h"

#include "plan/layout/lines.h"

/* Sets the sides of the einsums of the phases forward and backward; those of a phase without stages are 0. */
static void set_sides(dfl_frame *f, dfl_phase phase, uint32_t rank)
{
    const dfl_workload *w = f->workload;
    uint32_t first = DFL_NONE, last = 0;

    for (uint32_t e = 0; e < w->n_einsums; e++)
        if (w->einsums[e].phase == phase && dfl_einsum_has_rank(&w->einsums[e], rank)) {
            first = first == DFL_NONE ? e : first;
            last = e;
        }
    for (uint32_t e = 0; e < w->n_einsums; e++)
        if (w->einsums[e].phase == phase && first != DFL_NONE)
            f->side[e] = e < first ? -1 : e > last ? 1 : 0;
}

/* Sets the side of a step of the optimizer: where einsums of the forward pass read its weight. */
static void set_update_side(dfl_frame *f, uint32_t einsum, uint32_t rank)
{
    const dfl_workload *w = f->workload;
    const dfl_einsum *e = &w->einsums[einsum];
    bool is_found = false;

    if (dfl_einsum_has_rank(e, rank) || e->of == DFL_NONE)
        return;
    for (uint32_t r = 0; r < w->n_einsums; r++)
        for (uint32_t i = 0; w->einsums[r].phase == DFL_PHASE_FORWARD && i < w->einsums[r].n_inputs; i++) {
            if (dfl_frame_table(f, w->einsums[r].inputs[i].tensor) != e->of || f->side[einsum] == DFL_SIDE_BOTH)
                continue;
            f->side[einsum] = is_found && f->side[einsum] != f->side[r] ? DFL_SIDE_BOTH : f->side[r];
            is_found = true;
        }
}

/* Sets the side of an einsum that only starts a sum to that of the next one that adds to it. */
static void set_start_side(dfl_frame *f, uint32_t einsum)
{
    for (uint32_t e = einsum + 1; e < f->workload->n_einsums; e++)
        if (dfl_frame_target(f, e) == dfl_frame_target(f, einsum)) {
            f->side[einsum] = f->side[e];
            return;
        }
}

/* Whether an einsum runs on each stage on which another one does. */
static bool runs_where(const dfl_frame *f, uint32_t einsum, uint32_t other)
{
    return (f->side[einsum] == 0 || f->side[other] != 0) &&
           (dfl_frame_runs(f, einsum, true, false) || !dfl_frame_runs(f, other, true, false)) &&
           (dfl_frame_runs(f, einsum, false, true) || !dfl_frame_runs(f, other, false, true));
}

/* Whether a repeat carries a tensor into an einsum. */
static bool is_carried(const dfl_workload *w, uint32_t einsum, uint32_t tensor)
{
    for (uint32_t c = 0; c < w->n_carries; c++)
        if (w->carries[c].from == tensor && dfl_einsum_has_rank(&w->einsums[einsum], w->carries[c].rank))
            return true;
    return false;
}

/* Refuses a value that one stage makes and another one reads: the stages pass on what the repeat carries alone. */
static bool check_readers(const dfl_frame *f)
{
    const dfl_workload *w = f->workload;

    for (uint32_t e = 0; e < w->n_einsums; e++)
        for (uint32_t i = 0; i < w->einsums[e].n_inputs; i++) {
            const dfl_access *a = &w->einsums[e].inputs[i];
            const dfl_tensor *t = &w->tensors[a->tensor];

            if (t->n_producers == 0 || (t->role != DFL_ROLE_INTERMEDIATE && t->role != DFL_ROLE_OUTPUT) ||
                (t->part != DFL_PART_PLAIN && w->tensors[t->of].role == DFL_ROLE_WEIGHT) ||
                is_carried(w, e, a->tensor) || runs_where(f, t->producers[0], e))
                continue;
            return dfl_frame_refuse(f, a->span, "a tensor that one stage makes and another one reads",
                                    "carry it through the repeat, or make it in each layer");
        }
    return true;
}

/* The carry of a repeat whose iterations an einsum divides beside each other on a slot, although it reads what the repeat
   carries; NULL = none. */
static const dfl_carry *find_divided_carry(const dfl_frame *f, uint32_t einsum, uint32_t slot)
{
    const dfl_workload *w = f->workload;
    const dfl_line *line = dfl_frame_line(f, einsum, slot);

    if (line == NULL || f->slots[slot].stages != NULL || f->slots[slot].count == 1)
        return NULL;
    for (uint32_t c = 0; c < w->n_carries; c++)
        for (uint32_t i = 0; i < w->einsums[einsum].n_inputs && w->carries[c].rank == line->rank; i++)
            if (w->einsums[einsum].inputs[i].tensor == w->carries[c].from)
                return &w->carries[c];
    return NULL;
}

/* Refuses iterations of a repeat that run beside each other, although each reads what the one before makes: only stages pass on
   what a repeat carries. */
static bool check_iterations(const dfl_frame *f)
{
    for (uint32_t e = 0; e < f->workload->n_einsums; e++)
        for (uint32_t s = 0; s < f->n_slots; s++) {
            const dfl_carry *carry = find_divided_carry(f, e, s);
            const dfl_line *line = dfl_frame_line(f, e, s);
            dfl_diag *d;

            if (carry == NULL)
                continue;
            d = dfl_report(f->sink, DFL_MAP_STAGES, line->span,
                           "without `pipeline`, iterations of `%s` cannot run on several instances",
                           dfl_sym_text(f->names, f->workload->ranks[carry->rank].name));
            dfl_diag_here(f->sink, d, "each reads `%s` of the one %s it: "
                          "`pipeline(schedule = one_f_one_b)` behind the axis makes the instances stages",
                          dfl_sym_text(f->names, f->workload->tensors[carry->to].name),
                          carry->downwards ? "above" : "before");
            return false;
        }
    return true;
}

bool dfl_stages_find(dfl_frame *f)
{
    f->side = DFL_NEW_ARRAY(f->arena, int8_t, f->workload->n_einsums);
    if (!check_iterations(f))
        return false;
    if (f->stage_slot == DFL_NONE)
        return true;
    set_sides(f, DFL_PHASE_FORWARD, f->slots[f->stage_slot].stage_rank);
    set_sides(f, DFL_PHASE_BACKWARD, f->slots[f->stage_slot].stage_rank);
    for (uint32_t e = 0; e < f->workload->n_einsums; e++) {
        if (f->workload->einsums[e].phase == DFL_PHASE_UPDATE)
            set_update_side(f, e, f->slots[f->stage_slot].stage_rank);
        else if (dfl_einsum_is_start(&f->workload->einsums[e]))
            set_start_side(f, e);
    }
    return f->slots[f->stage_slot].count == 1 || check_readers(f);
}
