#include "solve/one_instance.h"

#include "support/limits.h"

/* The ranks of the result, except that which an operation takes whole. Returns their number. */
static uint32_t find_ranks(const dfl_instance_source *source, uint32_t *ranks)
{
    const dfl_workload *w = source->one->workload;
    const dfl_access *output = &w->einsums[0].output;
    uint32_t n = 0;

    for (uint32_t r = 0; r < w->n_ranks; r++) {
        bool is_of_result = false;
        for (uint32_t d = 0; d < output->n_dims; d++)
            for (uint32_t i = 0; i < output->index[d].n_terms; i++)
                is_of_result |= output->index[d].terms[i].rank == r;
        if (is_of_result && r != source->over && w->ranks[r].extent > 1)
            ranks[n++] = r;
    }
    return n;
}

static bool is_split(const dfl_instance_source *source, uint32_t axis)
{
    return source->around[axis] && source->one->system->axes[axis].size > 1;
}

uint32_t dfl_one_instance_count(const dfl_instance_source *source)
{
    uint32_t *ranks = DFL_NEW_ARRAY(source->arena, uint32_t, source->one->workload->n_ranks + 1);
    const uint32_t n = find_ranks(source, ranks);
    uint32_t count = 1;

    for (uint32_t a = 0; a < source->one->system->n_axes; a++)
        if (n > 0 && is_split(source, a) && (uint64_t)count * n <= DFL_INSTANCE_WAYS)
            count *= n;
    return count;
}

/* The largest number of parts, at most `most`, in which a rank of the extent is cut. */
static int64_t cut_rank(int64_t extent, int64_t most, bool uneven)
{
    int64_t parts = extent < most ? extent : most;

    while (!uneven && extent % parts != 0)
        parts--;
    return parts;
}

/* Makes the tensors shorter in dimensions that are one rank. */
static void cut_tensors(dfl_arena *arena, const dfl_workload *given, dfl_workload *w)
{
    const dfl_einsum *e = &w->einsums[0];
    dfl_tensor *tensors = DFL_NEW_ARRAY(arena, dfl_tensor, w->n_tensors + 1);

    for (uint32_t t = 0; t < w->n_tensors; t++) {
        int64_t *extents = DFL_NEW_ARRAY(arena, int64_t, w->tensors[t].n_dims + 1);
        tensors[t] = w->tensors[t];
        for (uint32_t d = 0; d < tensors[t].n_dims; d++)
            extents[d] = tensors[t].extents[d];
        tensors[t].extents = extents;
        for (uint32_t i = 0; i <= e->n_inputs; i++) {
            const dfl_access *access = i < e->n_inputs ? &e->inputs[i] : &e->output;
            for (uint32_t d = 0; access->tensor == t && d < access->n_dims; d++) {
                uint32_t rank;
                if (dfl_index_is_bare(&access->index[d], &rank) && extents[d] == given->ranks[rank].extent)
                    extents[d] = w->ranks[rank].extent;
            }
        }
    }
    w->tensors = tensors;
}

/* The system with one instance on each axis around the outermost memories, the networks of which cost nothing. */
static dfl_system *make_system(const dfl_instance_source *source)
{
    dfl_system *s = DFL_NEW(source->arena, dfl_system);
    dfl_axis *axes;
    dfl_network *networks;

    *s = *source->one->mapped;
    axes = DFL_NEW_ARRAY(source->arena, dfl_axis, s->n_axes + 1);
    networks = DFL_NEW_ARRAY(source->arena, dfl_network, s->n_networks + 1);
    for (uint32_t n = 0; n < s->n_networks; n++)
        networks[n] = s->networks[n];
    for (uint32_t a = 0; a < s->n_axes; a++) {
        axes[a] = s->axes[a];
        if (!source->around[a])
            continue;
        axes[a].size = 1;
        if (axes[a].network != DFL_NONE)
            networks[axes[a].network].energy = 0;
    }
    s->axes = axes;
    s->networks = networks;
    return s;
}

bool dfl_one_instance_make(const dfl_instance_source *source, uint32_t way, bool uneven, dfl_one_instance *out)
{
    const dfl_workload *given = source->one->workload;
    const dfl_system *s = source->one->system;
    dfl_workload *w = DFL_NEW(source->arena, dfl_workload);
    dfl_rank *ranks = DFL_NEW_ARRAY(source->arena, dfl_rank, given->n_ranks + 1);
    uint32_t *of_result = DFL_NEW_ARRAY(source->arena, uint32_t, given->n_ranks + 1);
    const uint32_t n = find_ranks(source, of_result);
    dfl_line *lines = DFL_NEW_ARRAY(source->arena, dfl_line, s->n_axes + 1);
    bool is_wasted = false;

    for (uint32_t r = 0; r < given->n_ranks; r++)
        ranks[r] = given->ranks[r];
    *out = (dfl_one_instance){ .one = *source->one, .lines = lines };
    for (uint32_t a = 0; a < s->n_axes; a++) {
        int64_t parts, most = 1;
        uint32_t rank;
        if (!is_split(source, a) || n == 0)
            continue;
        rank = of_result[way % n];
        way /= n;
        for (uint32_t i = 0; i < n; i++) {
            const int64_t other = cut_rank(ranks[of_result[i]].extent, s->axes[a].size, uneven);
            most = other > most ? other : most;
        }
        parts = cut_rank(ranks[rank].extent, s->axes[a].size, uneven);
        is_wasted |= parts == 1 && most > 1;
        if (parts == 1)
            continue;
        ranks[rank].extent = (ranks[rank].extent + parts - 1) / parts;
        lines[out->n_lines++] = (dfl_line){ .kind = DFL_LINE_SPATIAL, .span = source->span, .amount_span = source->span,
                                            .rank = rank, .by = DFL_BY_PARTS, .amount = parts, .axis = a };
    }
    *w = *given;
    w->ranks = ranks;
    cut_tensors(source->arena, given, w);
    out->one.workload = w;
    out->one.mapped = make_system(source);
    return !is_wasted;
}
