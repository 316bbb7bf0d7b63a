/* Splitting a point into independent groups: dimensions, ranks and gates are joined by the loops they share. */
#include "model/counts/footprint.h"

#include "model/sets/rank_piece.h"
#include "support/vec.h"

typedef struct {
    uint64_t lines;
    uint32_t dim; /* DFL_NONE for a joint that only decides activity */
} joint;

typedef DFL_VEC(joint) joints;

static void add_joint(dfl_setting *set, joints *all, uint64_t lines, uint32_t dim)
{
    joint j = { lines, dim };

    for (size_t i = 0; dim == DFL_NONE && i < all->n; i++)
        if ((lines & ~all->at[i].lines) == 0)
            return; /* joined already */
    DFL_PUSH(set->arena, all, j);
}

/* Lines on which an einsum works at coordinate or iteration 0 only. */
static uint64_t gate_bits(const dfl_setting *set, uint32_t e, uint32_t n)
{
    const dfl_path *p = &set->paths->paths[e];
    uint64_t bits = 0;

    for (uint32_t k = 0; k < set->n_gates[e]; k++)
        if (set->gates[e][k] < n)
            bits |= UINT64_C(1) << set->gates[e][k];
    for (uint64_t left = set->spatial[e] & dfl_steps_below(n); left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        if (p->steps[i].bind == DFL_BIND_IDLE && dfl_place_driver(set, e, i) != DFL_NONE)
            bits |= left & -left;
    }
    return bits;
}

/* The ranks of readers that decide whether a recomputed einsum works: einsum by einsum, as far as they are restricted.
   Gives the steps to look at, 0 at the end. */
static uint32_t asked(const dfl_setting *set, uint32_t *e, uint32_t n)
{
    uint32_t steps = set->asks_steps[*e] < n ? set->asks_steps[*e] : n;

    *e = set->asks[*e];
    return *e == DFL_NONE ? 0 : steps;
}

/* The rank of a restricted dimension of such a reader, and the lines that decide it; DFL_NONE for others. */
static uint32_t asked_rank(const dfl_setting *set, uint32_t c, uint32_t d, uint32_t n, uint64_t *lines)
{
    uint32_t rank;

    if (!set->wants[c] || !set->wants[c][d].restricted || !dfl_index_is_bare(&set->w->einsums[c].output.index[d], &rank))
        return DFL_NONE;
    dfl_place_lines(set, c, rank, n, lines);
    return *lines ? rank : DFL_NONE;
}

static void collect(dfl_setting *set, const dfl_point *point, joints *all)
{
    for (uint32_t d = 0; d < point->views[0].access->n_dims; d++) {
        uint64_t bits = 0;
        for (uint32_t v = 0; v < point->n_views; v++) {
            const dfl_index *index = &point->views[v].access->index[d];
            for (uint32_t k = 0; k < index->n_terms; k++)
                dfl_place_lines(set, point->views[v].einsum, index->terms[k].rank, point->n, &bits);
        }
        add_joint(set, all, bits, d);
    }
    for (uint32_t v = 0; v < point->n_views; v++) {
        uint32_t e = point->views[v].einsum;
        const dfl_einsum *einsum = &set->w->einsums[e];
        for (uint32_t k = 0; k < einsum->n_ranks; k++) {
            uint64_t bits = 0;
            dfl_place_lines(set, e, einsum->ranks[k], point->n, &bits);
            if (bits)
                add_joint(set, all, bits, DFL_NONE);
        }
        for (uint64_t gates = gate_bits(set, e, point->n); gates; gates &= gates - 1)
            add_joint(set, all, gates & -gates, DFL_NONE);
        for (uint32_t c = e, n = point->n; (n = asked(set, &c, n)) > 0;)
            for (uint32_t d = 0; d < set->w->einsums[c].output.n_dims; d++) {
                uint64_t bits = 0;
                if (asked_rank(set, c, d, n, &bits) != DFL_NONE)
                    add_joint(set, all, bits, DFL_NONE);
            }
    }
    for (uint32_t i = 0; i < point->n; i++) {
        const dfl_path_step *step = &set->paths->paths[point->einsum].steps[i];
        uint32_t driver = step->line->kind == DFL_LINE_KEEP ? DFL_NONE : dfl_place_driver(set, point->einsum, i);
        uint64_t bits = UINT64_C(1) << i;
        if (driver == DFL_NONE)
            continue;
        dfl_place_lines(set, driver, set->paths->paths[driver].steps[i].rank, i, &bits);
        add_joint(set, all, bits, DFL_NONE);
    }
}

static void merge(joints *all)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < all->n; i++)
            for (size_t k = i + 1; k < all->n; k++)
                if ((all->at[i].lines & all->at[k].lines) && all->at[i].lines != all->at[k].lines) {
                    all->at[i].lines |= all->at[k].lines;
                    all->at[k].lines = all->at[i].lines;
                    changed = true;
                }
    }
}

static bool in_dim(const dfl_access *a, int32_t dim, uint32_t rank)
{
    for (uint32_t t = 0; dim != DFL_NO_DIM && t < a->index[dim].n_terms; t++)
        if (a->index[dim].terms[t].rank == rank)
            return true;
    return false;
}

static dfl_rank_source source_of(dfl_setting *set, uint32_t e, uint32_t rank, int64_t coef, uint32_t n)
{
    uint64_t cuts = dfl_place_cuts(set, e, rank, n);
    uint32_t n_cuts = (uint32_t)__builtin_popcountll(cuts), *step = DFL_NEW_ARRAY(set->arena, uint32_t, n_cuts + 1);

    for (uint32_t k = 0; cuts; cuts &= cuts - 1)
        step[k++] = (uint32_t)__builtin_ctzll(cuts);
    return (dfl_rank_source){ .einsum = e, .rank = rank, .n = n, .coef = coef, .extent = set->w->ranks[rank].extent,
                              .restricted = set->wants[e] != NULL, .gaps = dfl_place_has_gaps(set, e, rank),
                              .n_cuts = n_cuts, .step = step, .tile = DFL_NEW_ARRAY(set->arena, int64_t, n_cuts + 1) };
}

static int64_t size_of(int64_t coef) { return coef < 0 ? -coef : coef; }

/* Smallest step first, so that intervals close up early. */
static void sort_terms(dfl_rank_source *terms, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k > 0 && size_of(terms[k].coef) < size_of(terms[k - 1].coef); k--) {
            dfl_rank_source swap = terms[k];
            terms[k] = terms[k - 1];
            terms[k - 1] = swap;
        }
}

/* The index of each view, and what makes it idle: ranks without a piece, gates. */
static void attach_views(dfl_setting *set, const dfl_point *point, dfl_group *g, uint64_t lines)
{
    dfl_group_view *views = DFL_NEW_ARRAY(set->arena, dfl_group_view, point->n_views);

    for (uint32_t v = 0; v < point->n_views; v++) {
        uint32_t e = point->views[v].einsum;
        const dfl_einsum *einsum = &set->w->einsums[e];
        const dfl_index *index = g->dim == DFL_NO_DIM ? NULL : &point->views[v].access->index[g->dim];
        dfl_rank_source *terms = DFL_NEW_ARRAY(set->arena, dfl_rank_source, index ? index->n_terms + 1 : 1);
        uint32_t most = einsum->n_ranks;
        for (uint32_t c = e, n = point->n; (n = asked(set, &c, n)) > 0;)
            most += set->w->einsums[c].output.n_dims;
        dfl_rank_source *active = DFL_NEW_ARRAY(set->arena, dfl_rank_source, most + 1);
        uint32_t *gates = DFL_NEW_ARRAY(set->arena, uint32_t, (uint32_t)__builtin_popcountll(lines) + 1);
        dfl_group_view *view = &views[v];
        view->offset = index ? index->offset : 0;
        for (uint32_t k = 0; index && k < index->n_terms; k++)
            terms[view->n_terms++] = source_of(set, e, index->terms[k].rank, index->terms[k].coef, point->n);
        sort_terms(terms, view->n_terms);
        for (uint32_t k = 0; k < einsum->n_ranks; k++) {
            uint64_t bits = 0;
            if (point->lenient && set->wants[e] == NULL)
                continue;
            dfl_place_lines(set, e, einsum->ranks[k], point->n, &bits);
            if ((bits & lines) && !in_dim(point->views[v].access, g->dim, einsum->ranks[k]))
                active[view->n_active++] = source_of(set, e, einsum->ranks[k], 0, point->n);
        }
        for (uint32_t c = e, n = point->n; (n = asked(set, &c, n)) > 0;)
            for (uint32_t d = 0; d < set->w->einsums[c].output.n_dims; d++) {
                uint64_t bits = 0;
                uint32_t rank = asked_rank(set, c, d, n, &bits);
                if (bits & lines)
                    active[view->n_active++] = source_of(set, c, rank, 0, n);
            }
        for (uint64_t bits = gate_bits(set, e, point->n) & lines; bits; bits &= bits - 1)
            gates[view->n_gates++] = (uint32_t)__builtin_ctzll(bits);
        view->terms = terms;
        view->active = active;
        view->gates = gates;
    }
    g->views = views;
}

static void resize_sources(const dfl_setting *set, const dfl_rank_source *sources, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < sources[k].n_cuts; i++)
            sources[k].tile[i] = set->sizes[sources[k].einsum].tile[sources[k].step[i]];
}

void dfl_group_resize(const dfl_setting *set, const dfl_point *point, dfl_group *g)
{
    for (uint32_t k = 0; k < g->n_spatial; k++)
        g->parts[k] = set->sizes[g->owner[k]].trips[g->spatial[k]];
    for (uint32_t v = 0; v < point->n_views; v++) {
        resize_sources(set, g->views[v].terms, g->views[v].n_terms);
        resize_sources(set, g->views[v].active, g->views[v].n_active);
    }
    g->run = set->run;
}

static bool fill_group(dfl_setting *set, dfl_point *point, uint32_t at, uint64_t lines)
{
    dfl_group *g = &point->groups[at];

    g->plain = true;
    for (uint32_t i = 0; i < point->n; i++) {
        if (!(lines >> i & 1))
            continue;
        uint32_t driver = dfl_place_driver(set, point->einsum, i);
        const dfl_path_step *step = &set->paths->paths[driver].steps[i];
        point->line_group[i] = at;
        if (g->n_lines >= DFL_MAX_GROUP || g->n_spatial >= DFL_MAX_GROUP) {
            dfl_setting_refuse(set, step->line->span, "a dimension cut by more than 16 loops", "merge some of the loops");
            return false;
        }
        if (step->line->kind == DFL_LINE_SPATIAL) {
            g->owner[g->n_spatial] = driver;
            g->spatial[g->n_spatial++] = i;
            point->spatial |= UINT64_C(1) << i;
        } else {
            g->driver[g->n_lines] = driver;
            g->lines[g->n_lines++] = i;
        }
    }
    for (uint32_t v = 0; v < point->n_views; v++)
        if (set->wants[point->views[v].einsum] || set->n_gates[point->views[v].einsum])
            g->plain = false;
    for (uint32_t k = 0; k < g->n_lines; k++)
        if (set->wants[g->driver[k]])
            g->plain = false;
    attach_views(set, point, g, lines);
    return true;
}

bool dfl_groups_make(dfl_setting *set, dfl_point *point)
{
    joints all = { 0 };

    collect(set, point, &all);
    merge(&all);
    point->line_group = DFL_NEW_ARRAY(set->arena, uint32_t, point->n + 1);
    for (uint32_t i = 0; i < point->n; i++)
        point->line_group[i] = DFL_NONE;
    uint64_t done = 0;
    uint32_t n = 0;
    for (size_t i = 0; i < all.n; i++) {
        n += !(all.at[i].lines & done) && (all.at[i].lines || all.at[i].dim != DFL_NONE);
        done |= all.at[i].lines;
    }
    point->groups = DFL_NEW_ARRAY(set->arena, dfl_group, n + 1);
    point->n_groups = 0;
    done = 0;
    for (size_t i = 0; i < all.n; i++) {
        uint64_t lines = all.at[i].lines;
        dfl_group *g = &point->groups[point->n_groups];
        if (lines && (done & lines))
            continue;
        done |= lines;
        g->dim = DFL_NO_DIM;
        for (size_t k = 0; k < all.n; k++) {
            if (all.at[k].dim == DFL_NONE || (lines ? all.at[k].lines != lines : k != i))
                continue;
            if (g->dim != DFL_NO_DIM) {
                dfl_setting_refuse(set, point->views[0].access->span, "a tensor with one rank in two of its dimensions",
                                   "loop over this rank below the keeps of the tensor only");
                return false;
            }
            g->dim = (int32_t)all.at[k].dim;
        }
        if (!fill_group(set, point, point->n_groups, lines))
            return false;
        point->n_groups++;
    }
    return true;
}
