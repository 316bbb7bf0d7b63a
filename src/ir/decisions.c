#include "ir/decisions.h"

#include <string.h>

/* The stages with the values of their decisions. */
static const dfl_stages *decide_stages(dfl_arena *arena, const dfl_stages *open, const int64_t *values)
{
    dfl_stages *out = DFL_NEW(arena, dfl_stages);

    *out = *open;
    if (open->schedule_decision > 0)
        out->schedule = (dfl_schedule)values[open->schedule_decision - 1];
    if (open->interleave_decision > 0)
        out->interleave = values[open->interleave_decision - 1];
    return out;
}

static const dfl_home_split *decide_splits(dfl_arena *arena, const dfl_line *line, const int64_t *values)
{
    dfl_home_split *out = DFL_NEW_ARRAY(arena, dfl_home_split, (size_t)line->n_splits + 1);

    for (uint32_t k = 0; k < line->n_splits; k++) {
        out[k] = line->splits[k];
        if (out[k].decision > 0)
            out[k].amount = values[out[k].decision - 1];
    }
    return out;
}

/* Adds the recomputed tensors of the decisions to those of the root, ascending. */
static void decide_recomputed(dfl_arena *arena, dfl_mapping *m, const int64_t *values)
{
    bool *is_again = DFL_NEW_ARRAY(arena, bool, (size_t)m->workload->n_tensors + 1);
    uint32_t *tensors = DFL_NEW_ARRAY(arena, uint32_t, (size_t)m->workload->n_tensors + 1), n = 0;

    for (uint32_t i = 0; i < m->root->n_recompute; i++)
        is_again[m->root->recompute[i]] = true;
    for (uint32_t d = 0; d < m->n_decisions; d++) {
        const dfl_tensor_set *set = m->decisions[d].kind == DFL_DECISION_RECOMPUTE ? &m->decisions[d].sets[values[d]] : NULL;

        for (uint32_t i = 0; set != NULL && i < set->n; i++)
            is_again[set->tensors[i]] = true;
    }
    for (uint32_t t = 0; t < m->workload->n_tensors; t++)
        if (is_again[t])
            tensors[n++] = t;
    m->root->recompute = tensors;
    m->root->n_recompute = n;
}

void dfl_mapping_decide(dfl_arena *arena, dfl_mapping *mapping, const int64_t *values)
{
    int64_t *decided = DFL_NEW_ARRAY(arena, int64_t, (size_t)mapping->n_decisions + 1);
    const dfl_stages *open = NULL, *stages = NULL; /* lines of one statement share their stages */

    if (mapping->n_decisions == 0)
        return;
    memcpy(decided, values, mapping->n_decisions * sizeof *decided);
    for (uint32_t b = 0; b < mapping->n_bodies; b++)
        for (uint32_t i = 0; i < mapping->bodies[b]->n_lines; i++) {
            dfl_line *line = &mapping->bodies[b]->lines[i];

            if (line->stages != NULL) {
                stages = line->stages == open ? stages : decide_stages(arena, line->stages, values);
                open = line->stages;
                line->stages = stages;
            }
            if (line->rank_decision > 0)
                line->rank = (uint32_t)values[line->rank_decision - 1];
            if (line->memory_decision > 0)
                line->memory = (uint32_t)values[line->memory_decision - 1];
            line->memory_decision = 0; /* keeps in one memory are one statement */
            if (line->n_splits > 0)
                line->splits = decide_splits(arena, line, values);
        }
    decide_recomputed(arena, mapping, values);
    mapping->decided = decided;
}
