/* Frames from the intermediate representation. */
#include "certify/problem.h"

#include <string.h>

#include "ir/path/checks.h"

static uint32_t rank_at(const dfl_frame *f, uint32_t rank)
{
    uint32_t i = 0;

    while (i < f->n_ranks && f->rank[i] != rank)
        i++;
    return i;
}

static bool add_operand(const dfl_mapping *m, dfl_frame *f, const dfl_access *a, bool output)
{
    const dfl_tensor *t = &m->workload->tensors[a->tensor];
    dfl_frame_operand *o = &f->operand[f->n_operands];

    if (f->n_operands == DFL_FRAME_OPERANDS)
        return false;
    *o = (dfl_frame_operand){ .access = a, .tensor = a->tensor, .output = output,
                              .shared = t->role == DFL_ROLE_INTERMEDIATE && t->n_producers > 0 && t->n_consumers > 0 };
    for (uint32_t i = 0; i < f->n_operands; i++)
        if (f->operand[i].tensor == a->tensor)
            return false;
    f->n_operands++;
    for (uint32_t d = 0; d < a->n_dims; d++) {
        uint32_t bare;
        for (uint32_t i = 0; i < a->index[d].n_terms; i++)
            o->ranks |= 1u << rank_at(f, a->index[d].terms[i].rank);
        if (dfl_index_is_bare(&a->index[d], &bare))
            o->plain |= 1u << rank_at(f, bare);
    }
    o->bits = dfl_frame_tile(m, f, f->n_operands - 1, f->extent);
    return t->n_producers <= 1;
}

static bool add_axes(const dfl_mapping *m, dfl_frame *f)
{
    const dfl_system *s = m->system;

    for (uint32_t a = 0; a < s->n_axes; a++) {
        uint32_t all = (1u << f->n_ranks) - 1, sharing = 0;
        if (!dfl_axis_encloses(s, a, s->computes[f->unit].element) || s->axes[a].size <= 1)
            continue;
        if (f->n_axes == DFL_FRAME_AXES)
            return false;
        for (uint32_t o = 0; o < f->n_operands; o++) {
            const dfl_frame_operand *op = &f->operand[o];
            if (!dfl_selects(op->output ? &s->axes[a].reduce : &s->axes[a].multicast, &m->workload->tensors[op->tensor]))
                continue;
            f->shares[f->n_axes] |= 1u << o;
            sharing |= all & ~op->ranks;
        }
        f->spread[f->n_axes] = sharing ? sharing : all;
        f->axis[f->n_axes++] = a;
    }
    return true;
}

static bool add_places(const dfl_mapping *m, dfl_frame *f)
{
    const dfl_system *s = m->system;

    for (uint32_t i = 0; i < s->n_memories; i++) {
        if (!dfl_compute_sees(s, f->unit, i))
            continue;
        if (f->n_places == DFL_FRAME_PLACES)
            return false;
        for (uint32_t a = 0; a < f->n_axes; a++)
            f->around[f->n_places] |= (uint32_t)dfl_axis_encloses(s, f->axis[a], s->memories[i].element) << a;
        f->memory[f->n_places++] = i;
    }
    return true;
}

/* The home that is written, or the outermost memory that may hold the operand, and those further in. */
static bool find_home(const dfl_mapping *m, const bool *ample, const dfl_frame *f, dfl_frame_operand *o)
{
    const dfl_tensor *t = &m->workload->tensors[o->tensor];
    uint32_t written = DFL_NONE;

    for (uint32_t i = 0; i < m->root->n_lines; i++)
        if (m->root->lines[i].kind == DFL_LINE_KEEP && m->root->lines[i].tensor == o->tensor && written == DFL_NONE)
            written = m->root->lines[i].memory;
    o->settled = written != DFL_NONE;
    o->home = DFL_NONE;
    for (uint32_t p = 0; p < f->n_places; p++) {
        const dfl_memory *memory = &m->system->memories[f->memory[p]];
        if ((memory->holds.on && !dfl_selects(&memory->holds, t)) ||
            (o->home == DFL_NONE && o->settled && f->memory[p] != written))
            continue;
        if (o->home == DFL_NONE)
            o->home = p;
        else
            o->places |= 1u << p;
    }
    if (o->home == DFL_NONE)
        return false;
    if (o->shared && !o->settled && !ample[f->memory[o->home]]) {
        o->places |= 1u << o->home;
        o->home = DFL_NONE;
    }
    return true;
}

static bool may_hold(const dfl_mapping *m, uint32_t memory, uint32_t tensor)
{
    const dfl_memory *of = &m->system->memories[memory];

    return !of->holds.on || dfl_selects(&of->holds, &m->workload->tensors[tensor]);
}

/* The memory that a line names first, or else the first that may hold the tensor. */
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

const bool *dfl_frame_ample(dfl_arena *arena, const dfl_mapping *m)
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
            (void)dfl_tensor_elements(&w->tensors[t], &elements);
            all += dfl_i128_double(elements) * w->tensors[t].type.bits;
        }
        ample[i] = ample[i] && (size < 0 || all <= (double)size);
    }
    return ample;
}

bool dfl_frame_make(const dfl_intern *names, const dfl_mapping *m, const bool *ample, uint32_t einsum, uint32_t unit,
                    dfl_frame *out, bool *fine)
{
    const dfl_einsum *e = &m->workload->einsums[einsum];
    bool ok = e->n_ranks <= DFL_FRAME_RANKS;

    *out = (dfl_frame){ .einsum = einsum, .unit = unit };
    if (!dfl_unit_can_run(names, m, &m->system->computes[unit], e))
        return false;
    for (uint32_t r = 0; r < e->n_ranks && ok; r++) {
        out->rank[r] = e->ranks[r];
        out->extent[r] = m->workload->ranks[e->ranks[r]].extent;
        out->n_ranks++;
    }
    for (uint32_t i = 0; i < e->n_inputs && ok; i++)
        ok = add_operand(m, out, &e->inputs[i], false);
    ok = ok && add_operand(m, out, &e->output, true) && add_axes(m, out) && add_places(m, out);
    for (uint32_t o = 0; o < out->n_operands && ok; o++)
        ok = find_home(m, ample, out, &out->operand[o]);
    *fine &= ok;
    return ok;
}

uint32_t dfl_frame_operand_of(const dfl_frame *f, uint32_t tensor)
{
    uint32_t o = 0;

    while (o < f->n_operands && f->operand[o].tensor != tensor)
        o++;
    return o;
}

static bool same_index(const dfl_frame *a, const dfl_index *x, const dfl_frame *b, const dfl_index *y, bool exactly)
{
    if (x->n_terms != y->n_terms || (exactly && x->offset != y->offset))
        return false;
    for (uint32_t i = 0; i < x->n_terms; i++)
        if (rank_at(a, x->terms[i].rank) != rank_at(b, y->terms[i].rank) || x->terms[i].coef != y->terms[i].coef)
            return false;
    return true;
}

static bool same_operand(const dfl_mapping *m, const dfl_frame *a, const dfl_frame *b, uint32_t o, bool exactly)
{
    const dfl_frame_operand *x = &a->operand[o], *y = &b->operand[o];
    const dfl_tensor *s = &m->workload->tensors[x->tensor], *t = &m->workload->tensors[y->tensor];

    if (x->output != y->output || x->shared != y->shared || x->settled != y->settled || x->ranks != y->ranks ||
        x->plain != y->plain || x->home != y->home || x->places != y->places || x->common != y->common ||
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

bool dfl_frame_alike(const dfl_intern *names, const dfl_mapping *m, const dfl_frame *a, const dfl_frame *b, bool exactly)
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

int dfl_frame_dimension(const dfl_frame *f, uint32_t operand, uint32_t rank)
{
    const dfl_access *a = f->operand[operand].access;
    uint32_t bare;

    for (uint32_t d = 0; d < a->n_dims; d++)
        if (dfl_index_is_bare(&a->index[d], &bare) && bare == f->rank[rank])
            return (int)d;
    return -1;
}

double dfl_frame_tile(const dfl_mapping *m, const dfl_frame *f, uint32_t operand, const int64_t *piece)
{
    const dfl_access *a = f->operand[operand].access;
    double bits = m->workload->tensors[a->tensor].type.bits;

    for (uint32_t d = 0; d < a->n_dims; d++) {
        double length = 1;
        for (uint32_t i = 0; i < a->index[d].n_terms; i++) {
            int64_t coef = a->index[d].terms[i].coef;
            length += (double)(coef < 0 ? -coef : coef) *
                      (double)(piece[rank_at(f, a->index[d].terms[i].rank)] - 1);
        }
        bits *= length;
    }
    return bits;
}
