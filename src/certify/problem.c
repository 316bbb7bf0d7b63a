#include "certify/problem.h"

#include <string.h>

#include "ir/path/unit_choice.h"

/* Position of a rank of the workload in the problem, n_ranks if the einsum does not have it. */
static uint32_t rank_at(const dfl_certify_problem *problem, uint32_t rank)
{
    uint32_t i = 0;

    while (i < problem->n_ranks && problem->rank[i] != rank)
        i++;
    return i;
}

static bool add_operand(const dfl_mapping *m, dfl_certify_problem *problem, const dfl_access *a, bool output)
{
    const dfl_tensor *t = &m->workload->tensors[a->tensor];
    dfl_certify_operand *operand = &problem->operand[problem->n_operands];

    if (problem->n_operands == DFL_CERTIFY_OPERANDS)
        return false;
    *operand = (dfl_certify_operand){ .access = a, .tensor = a->tensor, .output = output,
                              .shared = t->role == DFL_ROLE_INTERMEDIATE && t->n_producers > 0 && t->n_consumers > 0 };
    for (uint32_t i = 0; i < problem->n_operands; i++)
        if (problem->operand[i].tensor == a->tensor)
            return false;
    problem->n_operands++;
    for (uint32_t d = 0; d < a->n_dims; d++) {
        uint32_t bare;
        for (uint32_t i = 0; i < a->index[d].n_terms; i++)
            operand->ranks |= 1u << rank_at(problem, a->index[d].terms[i].rank);
        if (dfl_index_is_bare(&a->index[d], &bare))
            operand->plain |= 1u << rank_at(problem, bare);
    }
    operand->bits = dfl_certify_tile_bits(m, problem, problem->n_operands - 1, problem->extent);
    return t->n_producers <= 1;
}

static bool add_axes(const dfl_mapping *m, dfl_certify_problem *problem)
{
    const dfl_system *s = m->system;

    for (uint32_t a = 0; a < s->n_axes; a++) {
        uint32_t all = (1u << problem->n_ranks) - 1, sharing = 0;
        if (!dfl_axis_encloses(s, a, s->computes[problem->unit].element) || s->axes[a].size <= 1)
            continue;
        if (problem->n_axes == DFL_CERTIFY_AXES)
            return false;
        for (uint32_t o = 0; o < problem->n_operands; o++) {
            const dfl_certify_operand *op = &problem->operand[o];
            if (!dfl_selects(op->output ? &s->axes[a].reduce : &s->axes[a].multicast, &m->workload->tensors[op->tensor]))
                continue;
            problem->shares[problem->n_axes] |= 1u << o;
            sharing |= all & ~op->ranks;
        }
        problem->spread[problem->n_axes] = sharing ? sharing : all;
        problem->axis[problem->n_axes++] = a;
    }
    return true;
}

static bool add_levels(const dfl_mapping *m, dfl_certify_problem *problem)
{
    const dfl_system *s = m->system;

    for (uint32_t i = 0; i < s->n_memories; i++) {
        if (!dfl_compute_sees(s, problem->unit, i))
            continue;
        if (problem->n_levels == DFL_CERTIFY_LEVELS)
            return false;
        for (uint32_t a = 0; a < problem->n_axes; a++)
            problem->axes_around[problem->n_levels] |= (uint32_t)dfl_axis_encloses(s, problem->axis[a], s->memories[i].element)
                                                       << a;
        problem->memory[problem->n_levels++] = i;
    }
    return true;
}

/* Sets the home of the operand (the written home, or the outermost level that may hold the operand) and the levels
   inside of the home. */
static bool find_home(const dfl_mapping *m, const bool *ample, const dfl_certify_problem *problem, dfl_certify_operand *operand)
{
    const dfl_tensor *t = &m->workload->tensors[operand->tensor];
    uint32_t written = DFL_NONE;

    for (uint32_t i = 0; i < m->root->n_lines; i++)
        if (m->root->lines[i].kind == DFL_LINE_KEEP && m->root->lines[i].tensor == operand->tensor && written == DFL_NONE)
            written = m->root->lines[i].memory;
    operand->settled = written != DFL_NONE;
    operand->home = DFL_NONE;
    for (uint32_t p = 0; p < problem->n_levels; p++) {
        const dfl_memory *memory = &m->system->memories[problem->memory[p]];
        if ((memory->holds.on && !dfl_selects(&memory->holds, t)) ||
            (operand->home == DFL_NONE && operand->settled && problem->memory[p] != written))
            continue;
        if (operand->home == DFL_NONE)
            operand->home = p;
        else
            operand->levels |= 1u << p;
    }
    if (operand->home == DFL_NONE)
        return false;
    if (operand->shared && !operand->settled && !ample[problem->memory[operand->home]]) {
        operand->levels |= 1u << operand->home;
        operand->home = DFL_NONE;
    }
    return true;
}

static bool may_hold(const dfl_mapping *m, uint32_t memory, uint32_t tensor)
{
    const dfl_memory *of = &m->system->memories[memory];

    return !of->holds.on || dfl_selects(&of->holds, &m->workload->tensors[tensor]);
}

/* The home of a tensor: the memory of its first written keep, or else the first memory that may hold it. */
static uint32_t memory_of(const dfl_mapping *m, uint32_t tensor)
{
    uint32_t i = 0;

    for (uint32_t l = 0; l < m->root->n_lines; l++)
        if (m->root->lines[l].kind == DFL_LINE_KEEP && m->root->lines[l].tensor == tensor)
            return m->root->lines[l].memory;
    while (i < m->system->n_memories && !may_hold(m, i, tensor))
        i++;
    return i;
}

const bool *dfl_certify_ample_memories(dfl_arena *arena, const dfl_mapping *m)
{
    const dfl_workload *w = m->workload;
    bool *ample = DFL_NEW_ARRAY(arena, bool, (size_t)m->system->n_memories + 1);

    for (uint32_t i = 0; i < m->system->n_memories; i++) {
        int64_t size = m->system->memories[i].size_bits;
        double all = 0;
        ample[i] = true;
        for (uint32_t t = 0; t < w->n_tensors && size >= 0 && ample[i]; t++)
            ample[i] = memory_of(m, t) == i || !may_hold(m, i, t);
        for (uint32_t t = 0; t < w->n_tensors && size >= 0; t++) {
            dfl_i128 elements = 0;
            if (!may_hold(m, i, t) || w->tensors[t].n_producers + w->tensors[t].n_consumers == 0)
                continue;
            (void)dfl_tensor_stored(&w->tensors[t], &elements);
            all += dfl_i128_double(elements) * w->tensors[t].type.bits;
        }
        ample[i] = ample[i] && (size < 0 || all <= (double)size);
    }
    return ample;
}

bool dfl_certify_problem_make(const dfl_intern *names, const dfl_mapping *m, const bool *ample, uint32_t einsum, uint32_t unit,
                    dfl_certify_problem *out, bool *fine)
{
    const dfl_einsum *e = &m->workload->einsums[einsum];
    bool ok = e->n_ranks <= DFL_CERTIFY_RANKS;

    *out = (dfl_certify_problem){ .einsum = einsum, .unit = unit };
    if (!dfl_unit_can_run(names, m, &m->system->computes[unit], e))
        return false;
    for (uint32_t r = 0; r < e->n_ranks && ok; r++) {
        out->rank[r] = e->ranks[r];
        out->extent[r] = m->workload->ranks[e->ranks[r]].extent;
        out->n_ranks++;
    }
    for (uint32_t i = 0; i < e->n_inputs && ok; i++)
        ok = add_operand(m, out, &e->inputs[i], false);
    ok = ok && add_operand(m, out, &e->output, true) && add_axes(m, out) && add_levels(m, out);
    for (uint32_t o = 0; o < out->n_operands && ok; o++)
        ok = find_home(m, ample, out, &out->operand[o]);
    *fine &= ok;
    return ok;
}

uint32_t dfl_certify_operand_of(const dfl_certify_problem *problem, uint32_t tensor)
{
    uint32_t o = 0;

    while (o < problem->n_operands && problem->operand[o].tensor != tensor)
        o++;
    return o;
}

static bool same_index(const dfl_certify_problem *a, const dfl_index *x, const dfl_certify_problem *b, const dfl_index *y,
                       bool exactly)
{
    if (x->n_terms != y->n_terms || (exactly && x->offset != y->offset))
        return false;
    for (uint32_t i = 0; i < x->n_terms; i++)
        if (rank_at(a, x->terms[i].rank) != rank_at(b, y->terms[i].rank) || x->terms[i].coef != y->terms[i].coef)
            return false;
    return true;
}

static bool same_operand(const dfl_mapping *m, const dfl_certify_problem *a, const dfl_certify_problem *b, uint32_t o,
                         bool exactly)
{
    const dfl_certify_operand *x = &a->operand[o], *y = &b->operand[o];
    const dfl_tensor *s = &m->workload->tensors[x->tensor], *t = &m->workload->tensors[y->tensor];

    if (x->output != y->output || x->shared != y->shared || x->settled != y->settled || x->ranks != y->ranks ||
        x->plain != y->plain || x->home != y->home || x->levels != y->levels || x->common != y->common ||
        s->type.bits != t->type.bits || s->n_dims != t->n_dims || x->access->n_dims != y->access->n_dims)
        return false;
    for (uint32_t d = 0; d < s->n_dims && exactly; d++)
        if (s->extents[d] != t->extents[d])
            return false;
    for (uint32_t d = 0; d < x->access->n_dims; d++)
        if (!same_index(a, &x->access->index[d], b, &y->access->index[d], exactly))
            return false;
    return true;
}

bool dfl_certify_problem_is_alike(const dfl_intern *names, const dfl_mapping *m, const dfl_certify_problem *a,
                                  const dfl_certify_problem *b, bool exactly)
{
    const dfl_einsum *x = &m->workload->einsums[a->einsum], *y = &m->workload->einsums[b->einsum];
    const dfl_compute *unit = &m->system->computes[a->unit];

    if (a->unit != b->unit || a->n_ranks != b->n_ranks || a->n_operands != b->n_operands || a->n_axes != b->n_axes ||
        memcmp(a->extent, b->extent, sizeof a->extent) != 0 || memcmp(a->shares, b->shares, sizeof a->shares) != 0 ||
        memcmp(a->spread, b->spread, sizeof a->spread) != 0 || x->is_mac != y->is_mac ||
        x->flops_per_point != y->flops_per_point ||
        dfl_point_seconds(names, m->workload, x, unit) != dfl_point_seconds(names, m->workload, y, unit))
        return false;
    for (uint32_t o = 0; o < a->n_operands; o++)
        if (!same_operand(m, a, b, o, exactly))
            return false;
    return true;
}

int dfl_certify_dimension_of(const dfl_certify_problem *problem, uint32_t operand, uint32_t rank)
{
    const dfl_access *a = problem->operand[operand].access;
    uint32_t bare;

    for (uint32_t d = 0; d < a->n_dims; d++)
        if (dfl_index_is_bare(&a->index[d], &bare) && bare == problem->rank[rank])
            return (int)d;
    return -1;
}

double dfl_certify_tile_bits(const dfl_mapping *m, const dfl_certify_problem *problem, uint32_t operand, const int64_t *piece)
{
    const dfl_access *a = problem->operand[operand].access;
    double bits = m->workload->tensors[a->tensor].type.bits;

    for (uint32_t d = 0; d < a->n_dims; d++) {
        double length = 1;
        for (uint32_t i = 0; i < a->index[d].n_terms; i++) {
            int64_t coef = a->index[d].terms[i].coef;
            length += (double)(coef < 0 ? -coef : coef) *
                      (double)(piece[rank_at(problem, a->index[d].terms[i].rank)] - 1);
        }
        bits *= length;
    }
    return bits;
}
