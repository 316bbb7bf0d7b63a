#include "solve/homes.h"

#include <math.h>

#include "ir/path/unit_choice.h"

/* Share of a sum of bits that rounding may add. */
static const double ROUNDING = 1e-9;

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

double dfl_home_bits(const dfl_tensor *t)
{
    dfl_i128 elements = 0;

    if (t->n_producers + t->n_consumers == 0)
        return 0;
    (void)dfl_tensor_stored(t, &elements);
    return dfl_i128_double(elements) * t->type.bits;
}

/* Puts a tensor into the first memory outside of arrays that may hold it and, if `is_moving`, has room for it. Returns whether
   there is one; `*is_first`: it is the outermost. */
static bool place(const dfl_mapping *m, uint32_t tensor, bool is_moving, double *left, uint32_t *home, bool *is_first)
{
    const dfl_tensor *t = &m->workload->tensors[tensor];

    *is_first = true;
    for (uint32_t i = 0; i < m->system->n_memories; i++) {
        const dfl_memory *memory = &m->system->memories[i];
        if (dfl_memory_is_in_array(m->system, i) || (memory->holds.on && !dfl_selects(&memory->holds, t)))
            continue;
        if (is_moving && dfl_home_bits(t) > left[i]) {
            *is_first = false;
            continue;
        }
        left[i] -= dfl_home_bits(t);
        home[tensor] = i;
        return left[i] >= 0;
    }
    return false;
}

bool dfl_homes_pack(dfl_arena *arena, const dfl_mapping *m, uint32_t *home)
{
    const dfl_workload *w = m->workload;
    double *left = DFL_NEW_ARRAY(arena, double, (size_t)m->system->n_memories + 1);
    bool *placed = DFL_NEW_ARRAY(arena, bool, (size_t)w->n_tensors + 1);
    bool fits = true, moved = false, is_first;

    for (uint32_t i = 0; i < m->system->n_memories; i++)
        left[i] = m->system->memories[i].size_bits < 0 ? INFINITY : (double)m->system->memories[i].size_bits;
    for (uint32_t t = 0; t < w->n_tensors; t++) {
        home[t] = DFL_NONE;
        placed[t] = w->tensors[t].n_producers + w->tensors[t].n_consumers == 0;
        if (!placed[t] && w->tensors[t].role != DFL_ROLE_INTERMEDIATE) {
            placed[t] = true;
            fits = place(m, t, false, left, home, &is_first) && fits;
        }
    }
    for (uint32_t n = 0; n < w->n_tensors && fits; n++) {
        uint32_t largest = DFL_NONE;
        for (uint32_t t = 0; t < w->n_tensors; t++)
            if (!placed[t] && (largest == DFL_NONE || dfl_home_bits(&w->tensors[t]) > dfl_home_bits(&w->tensors[largest])))
                largest = t;
        if (largest == DFL_NONE)
            break;
        placed[largest] = true;
        fits = place(m, largest, true, left, home, &is_first);
        moved |= !is_first;
    }
    return fits && moved;
}

/* Whether some einsum reads or writes every element of the tensor: each index is a rank of the extent of its dimension. */
static bool is_touched_whole(const dfl_workload *w, uint32_t tensor)
{
    const dfl_tensor *t = &w->tensors[tensor];

    for (uint32_t i = 0; i < t->n_producers + t->n_consumers && !t->gathered; i++) {
        const dfl_einsum *e = &w->einsums[i < t->n_producers ? t->producers[i] : t->consumers[i - t->n_producers]];
        for (uint32_t a = 0; a <= e->n_inputs && e->n_where == 0; a++) {
            const dfl_access *access = a < e->n_inputs ? &e->inputs[a] : &e->output;
            uint64_t ranks = 0;
            bool is_whole = access->tensor == tensor;
            for (uint32_t d = 0; d < access->n_dims && is_whole; d++) {
                const dfl_index *index = &access->index[d];
                is_whole = index->n_terms == 1 && index->offset == 0 && index->terms[0].coef == 1 && index->terms[0].rank < 64 &&
                           (ranks >> index->terms[0].rank & 1) == 0 && w->ranks[index->terms[0].rank].extent == t->extents[d];
                ranks |= is_whole ? UINT64_C(1) << index->terms[0].rank : 0;
            }
            if (is_whole)
                return true;
        }
    }
    return false;
}

/* Bits of a tensor that stands in its home all the time. In a home inside of an array the elements count that some instance
   touches: then 0 if these may be fewer than all. 0 for an intermediate. */
static double lasting_bits(const dfl_mapping *m, uint32_t tensor)
{
    const dfl_tensor *t = &m->workload->tensors[tensor];
    bool is_whole = true;

    if (t->role == DFL_ROLE_INTERMEDIATE)
        return 0;
    for (uint32_t i = 0; i < m->system->n_memories; i++)
        is_whole &= !dfl_memory_is_in_array(m->system, i);
    return is_whole || is_touched_whole(m->workload, tensor) ? dfl_home_bits(t) : 0;
}

/* Bits that all instances of a memory hold; infinite without a limit. */
static double total_bits(const dfl_system *s, uint32_t memory)
{
    dfl_i128 n = 0;

    if (s->memories[memory].size_bits < 0 || dfl_element_instances(s, s->memories[memory].element, &n))
        return INFINITY;
    return (double)s->memories[memory].size_bits * dfl_i128_double(n);
}

bool dfl_check_room(dfl_fill *fill, const dfl_mapping *m)
{
    const dfl_intern *names = fill->solver->names;
    double needed = 0, room = 0;
    uint32_t largest = DFL_NONE;
    dfl_diag *d;

    for (uint32_t t = 0; t < m->workload->n_tensors; t++)
        needed += lasting_bits(m, t);
    for (uint32_t i = 0; i < m->system->n_memories; i++) {
        room += total_bits(m->system, i);
        if (largest == DFL_NONE || total_bits(m->system, i) > total_bits(m->system, largest))
            largest = i;
    }
    if (largest == DFL_NONE || needed <= room * (1 + ROUNDING))
        return true;
    d = dfl_report(fill->sink, DFL_EVAL_INFEASIBLE, m->hole_span, "no mapping of `%s` fits into `%s`",
                   dfl_sym_text(names, m->workload->name), dfl_sym_text(names, m->system->name));
    dfl_diag_here(fill->sink, d, "the inputs, weights, states and outputs of the workload need %.4g GB at all times",
                  needed / 8e9);
    dfl_diag_label(fill->sink, d, m->system->memories[largest].size_span,
                   "all memories together have %.4g GB, `%s` has most of it", room / 8e9,
                   dfl_sym_text(names, m->system->memories[largest].name));
    dfl_diag_help(fill->sink, d, "take a smaller workload or narrower types, give `%s` more room, or divide the workload among "
                  "several chips", dfl_sym_text(names, m->system->memories[largest].name));
    return false;
}
