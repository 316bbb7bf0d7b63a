/* Lower bounds of room, time and energy. */
#include "mapper/sizes/size_bounds.h"

#include <math.h>

#include "ir/path/fan_out.h"

/* Of a bound in floating point, so that rounding never makes it larger than what it bounds. */
static const double slack = 1 - 1e-9;

void dfl_size_bounds_make(dfl_arena *arena, const dfl_intern *names, const dfl_paths *paths, const dfl_system *system,
                          dfl_size_bounds *out)
{
    const dfl_workload *w = paths->mapping->workload;

    *out = (dfl_size_bounds){ .paths = paths, .system = system,
                              .einsum_seconds = DFL_NEW_ARRAY(arena, double, w->n_einsums),
                              .bits = DFL_NEW_ARRAY(arena, dfl_i128, system->n_memories),
                              .room = DFL_NEW_ARRAY(arena, dfl_i128, system->n_memories),
                              .busy = DFL_NEW_ARRAY(arena, double, system->n_computes) };
    for (uint32_t e = 0; e < w->n_einsums; e++) {
        const dfl_einsum *einsum = &w->einsums[e];
        const dfl_compute *unit = &system->computes[paths->paths[e].compute];
        double each = dfl_point_joules(w, einsum, unit);
        dfl_i128 points;

        if (!dfl_einsum_countable(w, einsum) || dfl_einsum_work(w, einsum, &points))
            continue;
        out->einsum_seconds[e] = fmax(0, dfl_point_seconds(names, w, einsum, unit)) * dfl_i128_double(points) * slack;
        out->joules += each * dfl_i128_double(points) * slack;
    }
    for (uint32_t b = 0; b < paths->mapping->n_bodies; b++)
        out->staged |= paths->mapping->bodies[b]->kind == DFL_BODY_PIPELINE;
}

/* Elements of rank `r` in a tile below the first `step` steps. */
static int64_t tile_of(const dfl_workload *w, const dfl_path *p, uint32_t r, uint32_t step)
{
    for (uint32_t i = step; i-- > 0;)
        if (p->steps[i].line->kind != DFL_LINE_KEEP && p->steps[i].rank == r)
            return p->steps[i].tile;
    return w->ranks[r].extent;
}

/* Whether an index is inside of the shape somewhere: from its least value to its largest it goes on by no more than its largest
   step, so that it cannot pass a shape that is as long as that. */
static bool gets_inside(const dfl_workload *w, const dfl_index *index, int64_t shape)
{
    dfl_i128 low = index->offset, high = low, step = 0;

    for (uint32_t t = 0; t < index->n_terms; t++) {
        const dfl_i128 coef = index->terms[t].coef, reach = coef * (w->ranks[index->terms[t].rank].extent - 1);
        *(coef < 0 ? &low : &high) += reach;
        step = coef > step ? coef : -coef > step ? -coef : step;
    }
    return low < shape && high >= 0 && (low >= 0 || high < shape || step <= shape);
}

/* Whether a rank of dimension `d` of an access stands in another dimension, too. */
static bool is_tied(const dfl_access *a, uint32_t d)
{
    for (uint32_t t = 0; t < a->index[d].n_terms; t++)
        for (uint32_t e = 0; e < a->n_dims; e++)
            for (uint32_t i = 0; i < a->index[e].n_terms; i++)
                if (e != d && a->index[e].terms[i].rank == a->index[d].terms[t].rank)
                    return true;
    return false;
}

/* Different values that dimension `d` of an access has at least in the first tile if all are inside of the shape, else in some
   tile, which `*first` becomes false for: those that are not inside are not touched. */
static int64_t values_of(const dfl_workload *w, const dfl_path *p, const dfl_access *access, uint32_t d, uint32_t step,
                         bool *first)
{
    const dfl_index *index = &access->index[d];
    const int64_t shape = w->tensors[access->tensor].extents[d];
    bool inside = index->offset >= 0;
    int64_t sum = 1;
    dfl_i128 last = index->offset;

    for (uint32_t t = 0; t < index->n_terms && inside; t++) {
        const dfl_term *term = &index->terms[t];

        last += (dfl_i128)term->coef * (w->ranks[term->rank].extent - 1);
        inside = term->coef >= 0 && last < shape;
        sum += tile_of(w, p, term->rank, step) - 1;
    }
    *first &= inside;
    return inside ? sum : gets_inside(w, index, shape) && !is_tied(access, d);
}

/* Bits of tensor `t` that einsum `p` touches at least below step `step`, in the first tile or, not `*first`, in some; true on
   overflow. */
static bool touched(const dfl_workload *w, const dfl_path *p, uint32_t t, uint32_t step, dfl_i128 *bits, bool *first)
{
    const dfl_einsum *e = &w->einsums[p->einsum];
    dfl_i128 most = 0;

    *first = true;
    for (uint32_t a = 0; a <= e->n_inputs; a++) {
        const dfl_access *access = a < e->n_inputs ? &e->inputs[a] : &e->output;
        dfl_i128 elements = 1;

        if (access->tensor != t)
            continue;
        for (uint32_t d = 0; d < access->n_dims; d++)
            if (dfl_mul(elements, values_of(w, p, access, d, step, first), &elements))
                return true;
        most = elements > most ? elements : most;
    }
    return dfl_mul(most, w->tensors[t].type.bits, bits);
}

bool dfl_size_bounds_room(const dfl_size_bounds *b, const uint32_t *decided)
{
    const dfl_workload *w = b->paths->mapping->workload;

    for (uint32_t m = 0; m < b->system->n_memories; m++)
        b->room[m] = 0;
    for (uint32_t e = 0; e < w->n_einsums; e++) {
        const dfl_path *p = &b->paths->paths[e];

        /* what its readers, or conditions, leave of a tile is not known from the tiles alone */
        if ((p->has_exchange && p->exchange.restricts) || w->einsums[e].n_where > 0)
            continue;
        for (uint32_t m = 0; m < b->system->n_memories; m++)
            b->bits[m] = 0;
        for (uint32_t i = 0; i < decided[e]; i++) {
            const dfl_line *line = p->steps[i].line;
            uint32_t m = line->memory;
            dfl_i128 bits;
            bool first;

            if (line->kind != DFL_LINE_KEEP || b->system->memories[m].size_bits < 0 ||
                !dfl_einsum_touches(&w->einsums[e], line->tensor))
                continue;
            if (touched(w, p, line->tensor, i, &bits, &first) || (first && dfl_add(b->bits[m], bits, &b->bits[m])))
                return false;
            bits = first ? b->bits[m] : bits; /* in some other tile others may have less */
            b->room[m] = bits > b->room[m] ? bits : b->room[m];
        }
    }
    return true;
}

/* Instances along one axis that the einsum has at most. */
static double parts_on(const dfl_size_bounds *b, const dfl_path *p, uint32_t axis, uint32_t decided)
{
    double parts = 1;

    for (uint32_t i = 0; i < p->n_steps; i++) {
        if (p->steps[i].line->kind != DFL_LINE_SPATIAL || p->steps[i].line->axis != axis || p->steps[i].rank == DFL_NONE)
            continue;
        if (i >= decided)
            return (double)b->system->axes[axis].size;
        parts *= (double)dfl_path_parts(&p->steps[i]);
    }
    return parts;
}

double dfl_size_bounds_seconds(const dfl_size_bounds *b, const uint32_t *decided)
{
    const dfl_system *s = b->system;
    double most = 0;

    for (uint32_t c = 0; c < s->n_computes; c++)
        b->busy[c] = 0;
    for (uint32_t e = 0; e < b->paths->mapping->workload->n_einsums; e++) {
        const dfl_path *p = &b->paths->paths[e];
        double instances = 1;

        for (uint32_t a = 0; a < s->n_axes; a++)
            if (dfl_axis_encloses(s, a, s->computes[p->compute].element))
                instances *= parts_on(b, p, a, decided[e]);
        double seconds = b->einsum_seconds[e] / instances;
        b->busy[p->compute] = b->staged ? fmax(b->busy[p->compute], seconds) : b->busy[p->compute] + seconds;
        most = fmax(most, b->busy[p->compute]);
    }
    return most * slack;
}
