#include "prove/chips_shrink.h"

#include "ir/conditions.h"

#include <string.h>

#include "ir/shrink.h"
#include "oracle/chips/chips.h"

/* Two points use an element at the small sizes: with more instances, they go to the rows as at the sizes of the plan. */
enum { LEAST_OF_ROWS = 4 };

/* The numbers of parts on an axis, with the smaller ones that stand for them. */
typedef struct { uint32_t axis; int64_t from, to; bool has_rows; } part_number;

typedef struct {
    dfl_arena *arena;
    const dfl_workload *w;
    part_number *numbers; uint32_t n;
    int64_t passes;            /* over each rank that temporal lines cut: interleaved stages take as many micro-batches at once */
} shrinking;

static int64_t parts_of(dfl_by by, int64_t amount, int64_t extent)
{
    return by == DFL_BY_PARTS ? amount : dfl_ceil_div(extent, amount);
}

/* The parts of a spatial line: a dealt one has as many as its axis has chips, or as the rank has values. */
static int64_t parts_of_line(const shrinking *s, const dfl_system *system, const dfl_line *line)
{
    const int64_t extent = s->w->ranks[line->rank].extent, n = line->kind == DFL_LINE_SPATIAL ? system->axes[line->axis].size : 1;

    return !line->cyclic ? parts_of(line->by, line->amount, extent) : n < extent ? n : extent;
}

static part_number *find_number(const shrinking *s, uint32_t axis, int64_t from)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->numbers[i].axis == axis && s->numbers[i].from == from)
            return &s->numbers[i];
    return NULL;
}

static part_number *add_number(shrinking *s, uint32_t axis, int64_t from)
{
    if (find_number(s, axis, from) == NULL)
        s->numbers[s->n++] = (part_number){ axis, from, from, false };
    return find_number(s, axis, from);
}

/* Whether a rank is the rows of a table that data select for some einsum. */
static bool has_rows(const shrinking *s, uint32_t rank)
{
    uint32_t bare;

    for (uint32_t e = 0; e < s->w->n_einsums; e++)
        for (uint32_t i = 0; i < s->w->einsums[e].n_inputs && !dfl_einsum_has_rank(&s->w->einsums[e], rank); i++) {
            const dfl_tensor *t = &s->w->tensors[s->w->einsums[e].inputs[i].tensor];

            for (uint32_t d = 0; t->gathered && d < t->n_table_dims; d++)
                if (dfl_index_is_bare(&t->table_index[d], &bare) && bare == rank)
                    return true;
        }
    return false;
}

/* Numbers up to `least` stay; each larger one becomes the least above 1 that no other number of its axis has or becomes. */
static void choose_numbers(shrinking *s, int64_t least)
{
    for (uint32_t i = 0; i < s->n; i++) {
        int64_t to = s->numbers[i].has_rows && least > 1 ? LEAST_OF_ROWS : 2;

        for (uint32_t k = 0; k < s->n && s->numbers[i].from > least; k++) {
            const bool is_taken = k != i && s->numbers[k].axis == s->numbers[i].axis && s->numbers[k].to == to;

            if (!is_taken)
                continue;
            to++;
            k = UINT32_MAX; /* from the first one again */
        }
        if (s->numbers[i].from > least && to < s->numbers[i].from)
            s->numbers[i].to = to;
    }
}

static void collect_numbers(shrinking *s, const dfl_mapping *m, int64_t least)
{
    const dfl_body *root = m->root;
    uint32_t most = 1;

    for (uint32_t i = 0; i < root->n_lines; i++)
        most += 1 + root->lines[i].n_splits;
    s->numbers = DFL_NEW_ARRAY(s->arena, part_number, most);
    for (uint32_t i = 0; i < root->n_lines; i++) {
        const dfl_line *line = &root->lines[i];

        if (line->kind == DFL_LINE_SPATIAL)
            add_number(s, line->axis, parts_of_line(s, m->system, line))->has_rows |= has_rows(s, line->rank);
        for (uint32_t k = 0; k < line->n_splits; k++)
            add_number(s, line->splits[k].axis,
                       parts_of(line->splits[k].by, line->splits[k].amount, s->w->ranks[line->splits[k].rank].extent));
    }
    choose_numbers(s, least);
    s->passes = 2;
    for (uint32_t i = 0; i < root->n_lines; i++) {
        const dfl_line *line = &root->lines[i];

        if (line->kind == DFL_LINE_SPATIAL && line->stages != NULL && line->stages->interleave > 1)
            s->passes = find_number(s, line->axis, parts_of(line->by, line->amount, s->w->ranks[line->rank].extent))->to;
    }
}

/* Whether the user fixed the size of a rank at the written one. */
static bool is_written(const shrinking *s, const dfl_proof_sizes *sizes, uint32_t rank)
{
    return sizes->fixed[rank] && sizes->extents[rank] == s->w->ranks[rank].extent;
}

/* The lines with the smaller numbers. Temporal lines by size make passes of one value; over a rank whose size the user fixed at
   the written one, they stay. */
static void shrink_lines(const shrinking *s, const dfl_proof_sizes *sizes, dfl_body *root)
{
    for (uint32_t i = 0; i < root->n_lines; i++) {
        dfl_line *line = &root->lines[i];
        dfl_home_split *splits = DFL_NEW_ARRAY(s->arena, dfl_home_split, (size_t)line->n_splits + 1);

        for (uint32_t k = 0; k < line->n_splits; k++) {
            splits[k] = line->splits[k];
            splits[k].amount = find_number(s, splits[k].axis, parts_of(splits[k].by, splits[k].amount,
                                                                       s->w->ranks[splits[k].rank].extent))->to;
            splits[k].by = DFL_BY_PARTS;
        }
        line->splits = line->n_splits > 0 ? splits : line->splits;
        if (line->kind == DFL_LINE_SPATIAL && !line->cyclic) { /* a dealt line follows its axis */
            line->amount = find_number(s, line->axis, parts_of(line->by, line->amount, s->w->ranks[line->rank].extent))->to;
            line->by = DFL_BY_PARTS;
        } else if (line->kind == DFL_LINE_TEMPORAL && line->amount > 1 && !is_written(s, sizes, line->rank)) {
            line->amount = line->by == DFL_BY_PARTS ? s->passes : 1;
        }
    }
}

/* Parts of a line in the smaller plan: passes of a temporal one, chunks of stages. */
static int64_t parts_after(const shrinking *s, const dfl_mapping *old, const dfl_mapping *m, uint32_t line)
{
    const dfl_line *is = &m->root->lines[line], *was = &old->root->lines[line];
    int64_t parts = is->kind == DFL_LINE_TEMPORAL ? s->passes : is->amount;

    if (is->cyclic)
        parts = find_number(s, is->axis, parts_of_line(s, old->system, was))->to;
    return is->stages != NULL ? parts * is->stages->interleave : parts;
}

/* Whether a line is for all einsums, or names one of them. */
static bool is_for(const dfl_line *line, uint32_t einsum)
{
    for (uint32_t i = 0; i < line->n_only; i++)
        if (line->only[i] == einsum)
            return true;
    return line->only == NULL;
}

/* Parts of a rank that all lines of one einsum make together; of the einsum with most. */
static int64_t find_together(const shrinking *s, const dfl_mapping *old, const dfl_mapping *m, uint32_t rank)
{
    int64_t most = 1;

    for (uint32_t e = 0; e < s->w->n_einsums; e++) {
        int64_t together = 1;

        for (uint32_t i = 0; i < m->root->n_lines; i++)
            if (m->root->lines[i].kind != DFL_LINE_KEEP && m->root->lines[i].rank == rank && is_for(&m->root->lines[i], e))
                together *= parts_after(s, old, m, i);
        most = together > most ? together : most;
    }
    return most;
}

/* Values of a rank: some in each part of each pass, one less if the parts did not divide the rank. */
static int64_t shrink_extent(const shrinking *s, const dfl_mapping *old, const dfl_mapping *m, uint32_t rank, int64_t most)
{
    const int64_t extent = s->w->ranks[rank].extent;
    int64_t together = find_together(s, old, m, rank), out;
    bool is_even = true, is_repeat = false;

    for (uint32_t i = 0; i < m->root->n_lines; i++) {
        const dfl_line *was = &old->root->lines[i];

        if (was->kind == DFL_LINE_KEEP || was->rank != rank)
            continue;
        is_even &= extent % (was->cyclic ? parts_of_line(s, old->system, was) : was->by == DFL_BY_PARTS ? was->amount
                             : dfl_ceil_div(extent, was->amount)) == 0;
    }
    for (uint32_t c = 0; c < s->w->n_carries; c++)
        is_repeat |= s->w->carries[c].rank == rank;
    for (uint32_t i = 0; i < m->root->n_lines; i++) /* parts of homes need values, too */
        for (uint32_t k = 0; k < m->root->lines[i].n_splits; k++)
            if (m->root->lines[i].splits[k].rank == rank && together % m->root->lines[i].splits[k].amount != 0)
                together *= m->root->lines[i].splits[k].amount;
    out = together * (is_repeat && together > 1 ? 1 : most);
    out -= !is_even && most > 1 && out > 1;
    return out < extent ? out : extent;
}

/* Whether the gradient of some table has alone the rows to which points add. */
static bool has_rows_alone(const dfl_workload *w)
{
    for (uint32_t t = 0; t < w->n_tensors; t++)
        if (w->tensors[t].n_producers > 0 && w->einsums[w->tensors[t].producers[0]].body->kind == DFL_EOP_SCATTER)
            return true;
    return false;
}

/* Points of an access of gathered rows: the product of the extents of its ranks that its table lacks. */
static dfl_i128 count_points(const shrinking *s, const dfl_access *rows, const int64_t *extents)
{
    const dfl_tensor *t = &s->w->tensors[rows->tensor];
    dfl_i128 points = 1;

    for (uint32_t d = 0; d < rows->n_dims; d++)
        for (uint32_t k = 0; k < rows->index[d].n_terms; k++) {
            const uint32_t rank = rows->index[d].terms[k].rank;
            bool is_of_table = false;

            for (uint32_t i = 0; i < t->n_table_dims; i++)
                is_of_table |= dfl_index_coef(&t->table_index[i], rank) != 0;
            if (!is_of_table && dfl_mul(points, (dfl_i128)extents[rank], &points))
                return INT64_MAX;
        }
    return points;
}

/* Gives tables as many rows as there are points, if they had as many: a training step then has a gradient of these rows alone. */
static void keep_rows(const shrinking *s, const dfl_proof_sizes *sizes, int64_t *extents)
{
    int64_t *written = DFL_NEW_ARRAY(s->arena, int64_t, (size_t)s->w->n_ranks + 1);
    uint32_t rank;

    for (uint32_t r = 0; r < s->w->n_ranks; r++)
        written[r] = s->w->ranks[r].extent;
    for (uint32_t e = 0; e < s->w->n_einsums && has_rows_alone(s->w); e++)
        for (uint32_t i = 0; i < s->w->einsums[e].n_inputs; i++) {
            const dfl_access *a = &s->w->einsums[e].inputs[i];
            const dfl_tensor *t = &s->w->tensors[a->tensor];

            for (uint32_t d = 0; t->gathered && d < t->n_table_dims; d++) {
                if (!dfl_index_is_bare(&t->table_index[d], &rank) || sizes->fixed[rank] ||
                    dfl_einsum_has_rank(&s->w->einsums[e], rank) || count_points(s, a, written) > written[rank])
                    continue;
                while (extents[rank] < count_points(s, a, extents) && extents[rank] < written[rank])
                    extents[rank] = extents[rank] < written[rank] / 2 ? 2 * extents[rank] : written[rank];
            }
        }
}

/* Whether a line divides a rank among chips. */
static bool is_divided(const dfl_mapping *m, uint32_t rank)
{
    bool found = false;

    for (uint32_t i = 0; i < m->root->n_lines; i++)
        found |= m->root->lines[i].kind == DFL_LINE_SPATIAL && m->root->lines[i].rank == rank;
    return found;
}

/* Gives all ranks of a class an extent, if it is larger than theirs. */
static void raise_extent(const shrinking *s, const dfl_proof_sizes *sizes, uint32_t rank, int64_t extent, int64_t *extents)
{
    for (uint32_t r = 0; r < s->w->n_ranks; r++)
        if (sizes->class_of[r] == sizes->class_of[rank] && !sizes->fixed[r] && extent > extents[r] &&
            extent <= s->w->ranks[r].extent)
            extents[r] = extent;
}

/* Keeps the steps of the window of a divided rank: the window has its written size, and the dimension shrinks by `step` for each
   point. Its parts then still have the places of the parts of the rank. */
static void keep_step(const shrinking *s, const dfl_proof_sizes *sizes, const dfl_access *a, uint32_t dim, const dfl_term *by,
                      int64_t *extents)
{
    const dfl_tensor *t = &s->w->tensors[a->tensor];
    const dfl_index *index = &a->index[dim];
    uint32_t made;

    for (uint32_t k = 0; k < index->n_terms; k++)
        if (index->terms[k].rank != by->rank)
            raise_extent(s, sizes, index->terms[k].rank, s->w->ranks[index->terms[k].rank].extent, extents);
    if (t->n_producers > 0 && t->n_dims == a->n_dims &&
        dfl_index_is_bare(&s->w->einsums[t->producers[0]].output.index[dim], &made))
        raise_extent(s, sizes, made, s->w->ranks[made].extent - by->coef * (s->w->ranks[by->rank].extent - extents[by->rank]),
                     extents);
}

/* Keeps the steps of all windows that move by more than 1. */
static void keep_steps(const shrinking *s, const dfl_mapping *m, const dfl_proof_sizes *sizes, int64_t *extents)
{
    for (uint32_t e = s->w->n_einsums; e-- > 0;) /* later ones first: what they read shrinks the ones before */
        for (uint32_t i = 0; i < s->w->einsums[e].n_inputs; i++)
            for (uint32_t d = 0; d < s->w->einsums[e].inputs[i].n_dims; d++) {
                const dfl_access *a = &s->w->einsums[e].inputs[i];

                for (uint32_t t = 0; t < a->index[d].n_terms; t++)
                    if (a->index[d].terms[t].coef > 1 && is_divided(m, a->index[d].terms[t].rank))
                        keep_step(s, sizes, a, d, &a->index[d].terms[t], extents);
            }
}

/* A system without limits and shares of rates, with axes of its own. */
static dfl_system *shrink_system(const shrinking *s, const dfl_system *system, dfl_axis **own)
{
    dfl_system *out = DFL_NEW(s->arena, dfl_system);
    dfl_axis *axes = DFL_NEW_ARRAY(s->arena, dfl_axis, (size_t)system->n_axes + 1);
    dfl_memory *memories = DFL_NEW_ARRAY(s->arena, dfl_memory, (size_t)system->n_memories + 1);
    dfl_compute *computes = DFL_NEW_ARRAY(s->arena, dfl_compute, (size_t)system->n_computes + 1);
    dfl_network *networks = DFL_NEW_ARRAY(s->arena, dfl_network, (size_t)system->n_networks + 1);

    *out = *system;
    for (uint32_t a = 0; a < system->n_axes; a++)
        axes[a] = system->axes[a];
    for (uint32_t m = 0; m < system->n_memories; m++) {
        memories[m] = system->memories[m];
        memories[m].efficiency = NULL;
        memories[m].size_bits = -1;
    }
    for (uint32_t c = 0; c < system->n_computes; c++) {
        computes[c] = system->computes[c];
        computes[c].efficiencies = NULL;
        computes[c].n_efficiencies = 0;
    }
    for (uint32_t n = 0; n < system->n_networks; n++) {
        networks[n] = system->networks[n];
        networks[n].efficiency = NULL;
        if (networks[n].topology.kind != DFL_TOPOLOGY_NONE) /* what moves does not depend on the shape */
            networks[n].topology = (dfl_topology){ .kind = DFL_TOPOLOGY_SWITCH };
    }
    out->axes = *own = axes;
    out->memories = memories;
    out->computes = computes;
    out->networks = networks;
    return out;
}

/* The einsums with equal shares of points for each part of a table, where a share is an expectation: the execution chooses data
   whose largest share is exact. */
static dfl_einsum *share_points(const shrinking *s, const dfl_workload *w)
{
    dfl_einsum *out = DFL_NEW_ARRAY(s->arena, dfl_einsum, (size_t)w->n_einsums + 1);

    memcpy(out, w->einsums, w->n_einsums * sizeof *out);
    for (uint32_t e = 0; e < w->n_einsums; e++)
        out[e].load = out[e].load == 0 && out[e].is_mac ? 1 : out[e].load;
    return out;
}

/* The rows of tables that data selects: as many as the table has, or a few if nothing else reads it. */
static void shrink_tables(const shrinking *s, dfl_mapping *m, const int64_t *extents)
{
    dfl_workload *w = DFL_NEW(s->arena, dfl_workload);
    dfl_tensor *tensors = DFL_NEW_ARRAY(s->arena, dfl_tensor, (size_t)m->workload->n_tensors + 1);

    *w = *m->workload;
    memcpy(tensors, w->tensors, w->n_tensors * sizeof *tensors);
    for (uint32_t t = 0; t < w->n_tensors; t++) {
        int64_t *shape = DFL_NEW_ARRAY(s->arena, int64_t, (size_t)tensors[t].n_table_dims + 1);
        uint32_t rank;
        dfl_i128 n = 1;

        if (!tensors[t].gathered)
            continue;
        for (uint32_t d = 0; d < tensors[t].n_table_dims; d++) {
            const dfl_index *index = &tensors[t].table_index[d];

            shape[d] = tensors[t].table_extents[d];
            if (tensors[t].table != DFL_NONE && tensors[t].table != t)
                shape[d] = tensors[tensors[t].table].extents[d];
            else if (dfl_index_is_bare(index, &rank) && extents[rank] < shape[d])
                shape[d] = extents[rank];
            n *= shape[d];
        }
        tensors[t].table_extents = shape;
        if (tensors[t].stored > 0)
            tensors[t].stored = n;
    }
    w->tensors = tensors;
    w->einsums = share_points(s, w);
    m->workload = w;
}

/* Gives each axis as many chips as the lines use. */
static bool fit_axes(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, dfl_axis *axes)
{
    int64_t *of_axis = DFL_NEW_ARRAY(arena, int64_t, (size_t)m->system->n_axes + 1);

    if (!dfl_chips_count(arena, sink, names, m, of_axis))
        return false;
    for (uint32_t a = 0; a < m->system->n_axes; a++)
        axes[a].size = of_axis[a];
    return true;
}

/* The rank of a dimension that some accesses index with this rank alone and all others at constant positions, if the rank has as
   many values as the dimension; else DFL_NONE. */
static uint32_t rank_of_dimension(const dfl_workload *w, uint32_t tensor, uint32_t dim)
{
    uint32_t found = DFL_NONE, rank;

    for (uint32_t e = 0; e < w->n_einsums; e++)
        for (uint32_t i = 0; i <= w->einsums[e].n_inputs; i++) {
            const dfl_access *a = i < w->einsums[e].n_inputs ? &w->einsums[e].inputs[i] : &w->einsums[e].output;

            if (a->tensor != tensor || dim >= a->n_dims || a->index[dim].n_terms == 0)
                continue;
            if (!dfl_index_is_bare(&a->index[dim], &rank) || w->ranks[rank].extent != w->tensors[tensor].extents[dim])
                return DFL_NONE;
            found = rank;
        }
    return found;
}

/* The access with the last position of each dimension moved to the last one that is left. */
static dfl_access move_last(const shrinking *s, const dfl_access *a, const int64_t *extents)
{
    dfl_access out = *a;
    dfl_index *index = DFL_NEW_ARRAY(s->arena, dfl_index, (size_t)a->n_dims + 1);

    for (uint32_t d = 0; d < a->n_dims; d++) {
        const uint32_t rank = a->index[d].n_terms == 0 ? rank_of_dimension(s->w, a->tensor, d) : DFL_NONE;

        index[d] = a->index[d];
        if (rank != DFL_NONE && index[d].offset == s->w->ranks[rank].extent - 1)
            index[d].offset = extents[rank] - 1;
    }
    out.index = index;
    return out;
}

/* The conditions of an einsum, of which those that state the end of a dimension of its result state the one that is left. */
static const dfl_condition *move_ends(const shrinking *s, const dfl_einsum *e, const int64_t *extents)
{
    dfl_condition *where = DFL_NEW_ARRAY(s->arena, dfl_condition, (size_t)e->n_where + 1);

    for (uint32_t k = 0; k < e->n_where; k++) {
        where[k] = e->where[k];
        for (uint32_t d = 0; d < e->output.n_dims; d++) {
            const dfl_index *index = &e->output.index[d];
            const int64_t extent = s->w->tensors[e->output.tensor].extents[d];

            if (index->n_terms > 0 && dfl_conditions_is_end(&where[k].sum, index, extent) &&
                dfl_index_coef(&where[k].sum, index->terms[0].rank) == -index->terms[0].coef)
                where[k].sum.offset = dfl_shrink_extent(s->w, e->output.tensor, d, extents) - 1 - index->offset;
        }
    }
    return where;
}

/* A workload that uses the last position of the smaller ranks where the written one uses the last position: the last token of a
   prompt, the new entry of a cache. Otherwise such a position would keep its dimension at the written size. */
static const dfl_workload *move_positions(const shrinking *s, const int64_t *extents)
{
    dfl_workload *w = DFL_NEW(s->arena, dfl_workload);
    dfl_einsum *einsums = DFL_NEW_ARRAY(s->arena, dfl_einsum, (size_t)s->w->n_einsums + 1);

    *w = *s->w;
    for (uint32_t e = 0; e < w->n_einsums; e++) {
        const dfl_einsum *old = &s->w->einsums[e];
        dfl_access *inputs = DFL_NEW_ARRAY(s->arena, dfl_access, (size_t)old->n_inputs + 1);

        einsums[e] = *old;
        for (uint32_t i = 0; i < old->n_inputs; i++)
            inputs[i] = move_last(s, &old->inputs[i], extents);
        einsums[e].inputs = inputs;
        einsums[e].output = move_last(s, &old->output, extents);
        einsums[e].where = move_ends(s, old, extents);
    }
    w->einsums = einsums;
    return w;
}

dfl_mapping *dfl_chips_shrink(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                              const dfl_proof_sizes *sizes, int64_t least, int64_t most)
{
    dfl_mapping *m = dfl_mapping_copy(arena, mapping);
    shrinking s = { .arena = arena, .w = mapping->workload };
    int64_t *extents = DFL_NEW_ARRAY(arena, int64_t, (size_t)s.w->n_ranks + 1);
    unsigned *halvings = DFL_NEW_ARRAY(arena, unsigned, (size_t)s.w->n_ranks + 1);
    const uint32_t *class_of = sizes->class_of;
    dfl_proof_sizes covered = *sizes;
    dfl_axis *axes = NULL;

    collect_numbers(&s, mapping, least);
    shrink_lines(&s, sizes, m->root);
    m->system = shrink_system(&s, mapping->system, &axes);
    for (uint32_t i = 0; i < m->root->n_lines; i++)
        if (m->root->lines[i].kind == DFL_LINE_SPATIAL && m->root->lines[i].cyclic)
            axes[m->root->lines[i].axis].size =
                find_number(&s, m->root->lines[i].axis, parts_of_line(&s, mapping->system, &mapping->root->lines[i]))->to;
    for (uint32_t r = 0; r < s.w->n_ranks; r++)
        extents[r] = sizes->fixed[r] ? sizes->extents[r] : shrink_extent(&s, mapping, m, r, most);
    keep_rows(&s, sizes, extents);
    for (uint32_t c = 0; c < s.w->n_ranks; c++) { /* ranks of one dimension have one extent */
        int64_t largest = 0;

        for (uint32_t r = 0; r < s.w->n_ranks; r++)
            largest = class_of[r] == c && extents[r] > largest ? extents[r] : largest;
        for (uint32_t r = 0; r < s.w->n_ranks; r++)
            if (class_of[r] == c)
                extents[r] = largest < s.w->ranks[r].extent ? largest : s.w->ranks[r].extent;
    }
    keep_steps(&s, m, sizes, extents);
    m->workload = move_positions(&s, extents);
    covered.mapping = m;
    covered.extents = extents;
    dfl_proof_sizes_cover_reads(&covered);
    m = dfl_mapping_shrink(arena, m, extents, halvings);
    shrink_tables(&s, m, extents);
    return fit_axes(arena, sink, names, m, axes) ? m : NULL;
}
