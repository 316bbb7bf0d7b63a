#include "mapper/join/exchange_scope.h"

typedef struct {
    const dfl_mapping *m;
    bool *has_home; /* [tensor]: a line above has kept it */
} scope;

static bool may_hold(const scope *k, uint32_t memory, uint32_t tensor)
{
    const dfl_selection *holds = &k->m->system->memories[memory].holds;

    return !holds->on || dfl_selects(holds, &k->m->workload->tensors[tensor]);
}

/* Whether no memory outside of one may hold the tensor. */
static bool is_outermost(const scope *k, uint32_t tensor, uint32_t memory)
{
    bool is_one = true;

    for (uint32_t o = 0; o < k->m->system->n_memories; o++)
        is_one &= !dfl_memory_outside(k->m->system, o, memory) || !may_hold(k, o, tensor);
    return is_one;
}

static const dfl_access *find_access(const dfl_einsum *e, uint32_t tensor)
{
    const dfl_access *out = e->output.tensor == tensor ? &e->output : NULL;

    for (uint32_t i = 0; i < e->n_inputs && out == NULL; i++)
        out = e->inputs[i].tensor == tensor ? &e->inputs[i] : NULL;
    return out;
}

/* Whether a rank alone is the index of a dimension. */
static bool indexes(const dfl_access *a, uint32_t rank)
{
    bool found = false;

    for (uint32_t d = 0; d < a->n_dims; d++)
        found |= a->index[d].n_terms == 1 && a->index[d].terms[0].rank == rank;
    return found;
}

/* Whether an einsum exchanges, by a line of the body from `from` on, an intermediate that a rank indexes, in a memory that is not
   an outermost one. */
static bool exchanges_below(const scope *k, const dfl_body *b, uint32_t from, const dfl_einsum *e, uint32_t rank)
{
    bool found = false;

    for (uint32_t i = from; i < b->n_lines; i++) {
        const dfl_line *line = &b->lines[i];
        const dfl_access *a = line->kind == DFL_LINE_KEEP ? find_access(e, line->tensor) : NULL;
        found |= a != NULL && k->m->workload->tensors[line->tensor].role == DFL_ROLE_INTERMEDIATE && indexes(a, rank) &&
                 !is_outermost(k, line->tensor, line->memory);
    }
    return found;
}

/* Whether a keep above a branch stands above a loop in which the einsum that it serves exchanges a tensor along the loop. */
static bool is_filled_in_exchange(const scope *k, const dfl_body *b, uint32_t at)
{
    const dfl_einsum *served = NULL;
    bool is_one = true, any = false;

    for (uint32_t i = 0; i < b->n_einsums; i++) {
        const dfl_einsum *e = &k->m->workload->einsums[b->einsums[i]];
        if (find_access(e, b->lines[at].tensor) == NULL)
            continue;
        is_one &= served == NULL;
        served = e;
    }
    for (uint32_t i = at + 1; i < b->n_lines && served != NULL && is_one; i++)
        any |= b->lines[i].kind == DFL_LINE_TEMPORAL && exchanges_below(k, b, i + 1, served, b->lines[i].rank);
    return any;
}

/* Whether B40 covers a line of a body above several einsums. */
static bool covers_line(const scope *k, const dfl_body *b, uint32_t at)
{
    const dfl_line *line = &b->lines[at];
    bool is_home;

    if (line->kind != DFL_LINE_KEEP)
        return line->kind == DFL_LINE_TEMPORAL;
    is_home = !k->has_home[line->tensor];
    k->has_home[line->tensor] = true;
    if (dfl_memory_is_in_array(k->m->system, line->memory))
        return false;
    if (k->m->workload->tensors[line->tensor].role == DFL_ROLE_INTERMEDIATE)
        return is_home;
    return is_home ? is_outermost(k, line->tensor, line->memory) : is_filled_in_exchange(k, b, at);
}

bool dfl_exchange_covers(dfl_arena *work, const dfl_mapping *mapping)
{
    const scope k = { .m = mapping, .has_home = DFL_NEW_ARRAY(work, bool, (size_t)mapping->workload->n_tensors + 1) };
    bool covers = true;

    for (uint32_t b = 0; b < mapping->n_bodies; b++) {
        const dfl_body *body = mapping->bodies[b];
        covers &= body->kind != DFL_BODY_PIPELINE && body->n_recompute == 0;
        for (uint32_t i = 0; i < body->n_lines && body->kind == DFL_BODY_FUSE; i++)
            covers &= covers_line(&k, body, i);
    }
    return covers;
}
