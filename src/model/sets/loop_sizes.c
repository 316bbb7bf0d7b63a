/* Trip counts and tiles of the loops, read from the paths. */
#include "model/sets/loop_sizes.h"

#include "support/vec.h"

dfl_loop_sizes *dfl_loop_sizes_new(dfl_arena *arena, const dfl_paths *paths)
{
    uint32_t n = paths->mapping->workload->n_einsums;
    dfl_loop_sizes *sizes = DFL_NEW_ARRAY(arena, dfl_loop_sizes, n + 1);

    for (uint32_t e = 0; e < n; e++) {
        uint32_t steps = paths->paths[e].n_steps;
        sizes[e].trips = DFL_NEW_ARRAY(arena, int64_t, 2 * (steps + 1));
        sizes[e].tile = sizes[e].trips + steps + 1;
        sizes[e].steps = DFL_NEW_ARRAY(arena, uint64_t, steps + 1);
        sizes[e].steps[0] = 1;
        for (uint32_t i = 0; i < steps; i++) {
            sizes[e].trips[i] = sizes[e].tile[i] = 1;
            if (paths->paths[e].steps[i].line->kind == DFL_LINE_TEMPORAL)
                sizes[e].temporal |= UINT64_C(1) << i;
        }
    }
    return sizes;
}

void dfl_loop_sizes_read(const dfl_paths *paths, dfl_loop_sizes *sizes)
{
    for (uint32_t e = 0; e < paths->mapping->workload->n_einsums; e++) {
        const dfl_path *path = &paths->paths[e];
        dfl_loop_sizes *s = &sizes[e];
        s->ragged = s->moving = 0;
        for (uint32_t i = 0; i < path->n_steps; i++) {
            const dfl_path_step *step = &path->steps[i];
            uint64_t bit = UINT64_C(1) << i;
            s->steps[i + 1] = s->steps[i];
            if (step->rank == DFL_NONE)
                continue;
            s->trips[i] = 1;
            s->tile[i] = step->tile;
            if (step->tile >= step->nominal)
                continue;
            int64_t full = step->nominal / step->tile, rest = step->nominal - full * step->tile;
            s->trips[i] = full + (rest > 0);
            s->moving |= bit;
            s->ragged |= rest > 0 ? bit : 0;
            if (s->temporal & bit)
                s->steps[i + 1] *= (uint64_t)s->trips[i];
        }
    }
}

