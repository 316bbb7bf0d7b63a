#include "mapper/divisors/signature.h"

#include <string.h>

#include "support/hash.h"

uint64_t dfl_signature_of(const dfl_problem *problem, const dfl_tiling_template *t, const dfl_way *way)
{
    struct {
        uint32_t unit, ranks, keeps[DFL_PROBLEM_OPERANDS];
        uint16_t memory[DFL_PROBLEM_OPERANDS];
    } all;

    memset(&all, 0, sizeof all);
    all.unit = problem->unit;
    for (uint32_t o = 0; o < problem->n_operands; o++) /* a keep for several is no other kind than one for each */
        all.memory[o] = problem->operand[o].common != 0 ? 0 : way->memory[o];
    for (uint32_t k = 0; k < way->n_loops; k++)
        all.ranks |= 1u << way->loop_rank[k];
    for (uint32_t i = 0; i < t->n_keeps; i++)
        all.keeps[t->keep[i].operand] |= 1u << t->keep[i].place;
    return dfl_hash(&all, sizeof all, 0);
}

/* A part of a kind; these are added up, so their order does not matter. */
static uint64_t part(uint32_t what, uint32_t einsum, uint32_t a, uint32_t b)
{
    const uint32_t all[4] = { what, einsum, a, b };

    return dfl_hash(all, sizeof all, 0);
}

uint64_t dfl_signature_of_mapping(const dfl_mapping *m)
{
    enum { UNIT, KEPT, SHARED };
    uint64_t kind = 0;

    for (uint32_t b = 0; b < m->n_bodies; b++) {
        const dfl_body *body = m->bodies[b];
        if (body->n_children == 0 && body->n_einsums == 1)
            kind += part(UNIT, body->einsums[0], body->compute, 0);
        for (uint32_t i = 0; i < body->n_lines; i++)
            for (uint32_t e = 0; e < body->n_einsums; e++) {
                const dfl_line *line = &body->lines[i];
                const dfl_einsum *einsum = &m->workload->einsums[body->einsums[e]];
                if (line->kind == DFL_LINE_KEEP && dfl_einsum_touches(einsum, line->tensor))
                    kind += part(KEPT, body->einsums[e], line->tensor, line->memory);
                else if (line->kind == DFL_LINE_TEMPORAL && body->n_einsums > 1)
                    kind += part(SHARED, body->einsums[e], line->rank, 0);
            }
    }
    return kind;
}

uint64_t dfl_kind_join(uint64_t before, uint64_t kind)
{
    const uint64_t both[2] = { before, kind };

    return dfl_hash(both, sizeof both, 0);
}

bool dfl_signatures_settle(dfl_signatures *k, uint64_t kind, uint64_t own, uint32_t top)
{
    if (top == 0 || kind == own)
        return true;
    for (uint32_t i = 0; i < k->n; i++)
        if (k->at[i] == kind)
            return false;
    k->at[k->n++] = kind;
    return k->n == top;
}
