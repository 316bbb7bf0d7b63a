/*
 * Quick check: a cheap upper bound of counts and occupancy that shows that an evaluation can report no error. The check
 * applies only to mappings of one einsum without branches: no consumer restricts its ranks, and no element is released
 * before its last use.
 */
#include "model/model.h"

#include "model/sets/nest.h"

/* Number of bits of `x`; 1 for 0. */
static unsigned bit_length(uint64_t x)
{
    return x == 0 ? 1 : 64 - (unsigned)__builtin_clzll(x);
}

/* Tells whether all counts are below 2^DFL_SAFE_BITS. The bound is the number of bits of the padded iteration space
   plus the bits that indices may add to it. */
static bool counts_are_small(const dfl_workload *w, const dfl_einsum *e, const dfl_path *path)
{
    unsigned bits = e->flops_per_point > UINT32_MAX ? DFL_SAFE_BITS : bit_length((uint64_t)e->flops_per_point);

    for (uint32_t k = 0; k < e->n_ranks; k++)
        bits += bit_length((uint64_t)w->ranks[e->ranks[k]].extent);
    for (uint32_t i = 0; i < path->n_steps; i++) {
        const dfl_path_step *s = &path->steps[i];

        /* each cut rounds up once, so it at most doubles the padded extent */
        if (s->line->kind != DFL_LINE_KEEP)
            bits += s->bind == DFL_BIND_DIRECT ? 1u : 1u + DFL_SAFE_BITS;
    }
    for (uint32_t a = 0; a <= e->n_inputs; a++) {
        const dfl_access *access = a < e->n_inputs ? &e->inputs[a] : &e->output;

        for (uint32_t d = 0; d < access->n_dims; d++) {
            const dfl_index *index = &access->index[d];

            for (uint32_t t = 0; t < index->n_terms; t++)
                bits += bit_length(index->terms[t].coef < 0 ? 0 - (uint64_t)index->terms[t].coef
                                   : (uint64_t)index->terms[t].coef);
            bits += index->n_terms + bit_length(index->offset < 0 ? 0 - (uint64_t)index->offset : (uint64_t)index->offset);
        }
    }
    return bits <= DFL_SAFE_BITS;
}

/* Bound of a rank above a keep, for one instance of the memory: at most `parts` intervals of at most `tile`
   elements. */
typedef struct { int64_t tile, parts; } rank_parts;

static bool find_piece(const dfl_mapping *m, const dfl_path *path, uint32_t rank, uint32_t step, uint32_t element,
                       rank_parts *out)
{
    *out = (rank_parts){ m->workload->ranks[rank].extent, 1 };
    for (uint32_t i = 0; i < step; i++) {
        const dfl_path_step *s = &path->steps[i];

        if (s->line->kind == DFL_LINE_KEEP || s->rank != rank)
            continue;
        /* a memory outside of the axis holds the tiles of all coordinates in one instance */
        if (s->line->kind == DFL_LINE_SPATIAL && !dfl_axis_encloses(m->system, s->line->axis, element) &&
            __builtin_mul_overflow(out->parts, dfl_ceil_div(s->nominal, s->tile), &out->parts))
            return false;
        out->tile = s->tile;
    }
    return true;
}

/* Upper bound of the elements that one access touches below a keep. False if it exceeds 2^63. */
static bool bound_tile(const dfl_mapping *m, const dfl_path *path, const dfl_access *a, uint32_t step, uint32_t element,
                       int64_t *out)
{
    *out = 1;
    for (uint32_t d = 0; d < a->n_dims; d++) {
        const dfl_index *index = &a->index[d];
        int64_t span = 1, parts = 1;

        for (uint32_t t = 0; t < index->n_terms; t++) {
            int64_t coef = index->terms[t].coef, reach;
            rank_parts r;

            if (coef == INT64_MIN || !find_piece(m, path, index->terms[t].rank, step, element, &r) ||
                __builtin_mul_overflow(coef < 0 ? -coef : coef, r.tile - 1, &reach) ||
                __builtin_add_overflow(span, reach, &span) || __builtin_mul_overflow(parts, r.parts, &parts))
                return false;
        }
        if (__builtin_mul_overflow(span, parts, &span))
            return false;
        if (span > m->workload->tensors[a->tensor].extents[d])
            span = m->workload->tensors[a->tensor].extents[d];
        if (__builtin_mul_overflow(*out, span, out))
            return false;
    }
    return true;
}

/* Upper bound of the bits of the keep on line `step`, all buffers included. False on overflow. */
static bool bound_keep_bits(const dfl_mapping *m, const dfl_path *path, uint32_t step, dfl_i128 *out)
{
    const dfl_line *line = path->steps[step].line;
    const dfl_tensor *t = &m->workload->tensors[line->tensor];
    const dfl_memory *memory = &m->system->memories[line->memory];
    const dfl_einsum *e = &m->workload->einsums[path->einsum];
    bool home = true;
    dfl_i128 elements = 0;

    for (uint32_t i = 0; i < step; i++)
        home &= path->steps[i].line->kind != DFL_LINE_KEEP || path->steps[i].line->tensor != line->tensor;
    if (home) {
        if (dfl_tensor_stored(t, &elements))
            return false;
    } else {
        for (uint32_t a = 0; a <= e->n_inputs; a++) {
            const dfl_access *access = a < e->n_inputs ? &e->inputs[a] : &e->output;
            int64_t tile;

            if (access->tensor != line->tensor)
                continue;
            if (!bound_tile(m, path, access, step, memory->element, &tile))
                return false;
            elements += tile;
        }
    }
    return !dfl_mul(elements, t->type.bits, out) && !dfl_mul(*out, memory->buffers, out);
}

static bool capacity_is_enough(const dfl_mapping *m, const dfl_path *path)
{
    for (uint32_t k = 0; k < m->system->n_memories; k++) {
        dfl_i128 sum = 0, bits, instances;

        if (dfl_element_instances(m->system, m->system->memories[k].element, &instances))
            return false;
        for (uint32_t i = 0; i < path->n_steps; i++) {
            const dfl_line *line = path->steps[i].line;

            if (line->kind != DFL_LINE_KEEP || line->memory != k)
                continue;
            if (line->mode != DFL_KEEP_EXACT || !bound_keep_bits(m, path, i, &bits) || dfl_add(sum, bits, &sum))
                return false;
        }
        if (m->system->memories[k].size_bits >= 0 && sum > m->system->memories[k].size_bits)
            return false;
    }
    return true;
}

/* Whether every efficiency of the system gives a share to work of any size. */
static bool shares_are_complete(const dfl_system *s)
{
    for (uint32_t m = 0; m < s->n_memories; m++)
        if (s->memories[m].efficiency != NULL && s->memories[m].efficiency->at[0] > 0)
            return false;
    for (uint32_t c = 0; c < s->n_computes; c++)
        for (uint32_t i = 0; i < s->computes[c].n_efficiencies; i++)
            if (dfl_efficiency_is_grid(&s->computes[c].efficiencies[i]) || s->computes[c].efficiencies[i].at[0] > 0)
                return false;
    return true;
}

bool dfl_model_surely_fits(const dfl_paths *paths)
{
    const dfl_mapping *m = paths->mapping;
    const dfl_einsum *e = &m->workload->einsums[0];

    return m->workload->n_einsums == 1 && m->n_bodies == 1 && paths->paths[0].n_steps == m->root->n_lines &&
           m->root->n_lines <= DFL_MAX_STEPS &&
           m->workload->tensors[e->output.tensor].role != DFL_ROLE_INTERMEDIATE &&
           shares_are_complete(m->system) && counts_are_small(m->workload, e, &paths->paths[0]) &&
           capacity_is_enough(m, &paths->paths[0]);
}

