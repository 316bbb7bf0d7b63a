/* Settled room, and the memories that are shared. */
#include "mapper/exact/reservations.h"

#include <math.h>

bool dfl_reservations_needed(const dfl_einsum_classes *k, uint32_t memory)
{
    bool shares = false, holds = false;

    for (uint32_t e = 0; e < k->n && !k->roomy[memory]; e++)
        for (size_t i = 0; i < k->problems[e].n; i++) {
            const dfl_problem *problem = k->problems[e].at[i];
            for (uint32_t o = 0; o < problem->n_operands; o++) {
                const dfl_problem_operand *op = &problem->operand[o];
                shares |= dfl_problem_exchanged(op);
                for (uint32_t p = 0; p < problem->n_places; p++)
                    holds |= problem->place[p].memory == memory && problem->place[p].axes == 0 &&
                             ((op->places >> p & 1) || (op->shared && p == op->home));
            }
        }
    return shares && holds;
}

double dfl_reservations_settled(dfl_arena *scratch, const dfl_einsum_classes *k, uint32_t memory)
{
    const dfl_workload *w = k->m->workload;
    bool *seen = DFL_NEW_ARRAY(scratch, bool, (size_t)w->n_tensors + 1);
    double bits = 0;

    for (uint32_t e = 0; e < k->n; e++) {
        const dfl_problem *problem = k->problems[e].at[0];
        for (uint32_t o = 0; o < problem->n_operands; o++) {
            const dfl_problem_operand *op = &problem->operand[o];
            dfl_i128 elements = 0;
            if (op->shared || seen[op->tensor] || problem->place[op->home].memory != memory)
                continue;
            seen[op->tensor] = true;
            (void)dfl_tensor_stored(&w->tensors[op->tensor], &elements);
            bits += dfl_i128_double(elements) * op->bits;
        }
    }
    return bits;
}

static void take_room(const dfl_einsum_classes *k, uint32_t memory, double bits)
{
    for (uint32_t e = 0; e < k->n; e++)
        for (size_t i = 0; i < k->problems[e].n; i++) {
            dfl_problem *problem = k->problems[e].at[i];
            for (uint32_t p = 0; p < problem->n_places; p++)
                if (problem->place[p].memory == memory)
                    problem->place[p].bits -= bits;
        }
}

bool dfl_reservations_find(dfl_arena *scratch, const dfl_einsum_classes *k, dfl_tile_goal *goal, double *capacity,
                           uint32_t counted,
                           uint32_t *more)
{
    const dfl_system *s = k->m->system;

    for (uint32_t m = 0; m < s->n_memories; m++) {
        double settled = s->memories[m].size_bits < 0 ? 0 : dfl_reservations_settled(scratch, k, m);
        if (settled > 0 && settled > (double)s->memories[m].size_bits)
            return false;
        take_room(k, m, settled);
        if (m != counted && !dfl_reservations_needed(k, m))
            continue;
        if (goal->n_tracks == DFL_ROW_TRACKS) {
            *more = m;
            continue;
        }
        goal->track[goal->n_tracks] = m;
        capacity[goal->n_tracks++] = s->memories[m].size_bits < 0 ? INFINITY : (double)s->memories[m].size_bits - settled;
        goal->room = m == counted ? goal->n_tracks : goal->room;
    }
    return true;
}

uint32_t dfl_reservations_excess(dfl_arena *scratch, const dfl_einsum_classes *k, uint32_t counted)
{
    const dfl_system *s = k->m->system;
    uint32_t more = DFL_NONE, n = 0;

    for (uint32_t m = 0; m < s->n_memories; m++) {
        if (s->memories[m].size_bits >= 0 && dfl_reservations_settled(scratch, k, m) > (double)s->memories[m].size_bits)
            return DFL_NONE; /* nothing fits: the caller reports this */
        if ((m == counted || dfl_reservations_needed(k, m)) && n++ >= DFL_ROW_TRACKS)
            more = m;
    }
    return more;
}

void dfl_reservations_report(dfl_sink *sink, const dfl_mapping *m, uint32_t memory)
{
    dfl_diag *d = dfl_report(sink, DFL_EVAL_UNSUPPORTED, m->hole_span, "einsums compete for room in more than %d "
                             "memories of limited size", DFL_ROW_TRACKS);

    dfl_diag_label(sink, d, m->system->memories[memory].span, "one more");
    dfl_diag_help(sink, d, "restrict the memories with `holds`, or write the mapping");
}
