#include "solve/templates.h"

#include "ir/conditions.h"
#include "ir/path/unit_choice.h"

/* One unit, and where the operands of the einsum may lie around it. */
typedef struct {
    dfl_line_search *search;
    const dfl_workload *w;           /* of the einsum alone */
    const dfl_system *s;
    const dfl_einsum *e;
    uint32_t unit;
    uint32_t *home, *inner;          /* [own tensor]: outermost and innermost memory that may hold it */
    int64_t *left;                   /* [own rank]: elements of one instance */
    bool free_first;                 /* ranks without conditions are spread before others */
    dfl_line lines[DFL_LINES_MOST];
    uint32_t n;
} template;

static bool touches_rank(const dfl_access *a, uint32_t rank)
{
    for (uint32_t d = 0; d < a->n_dims; d++)
        for (uint32_t i = 0; i < a->index[d].n_terms; i++)
            if (a->index[d].terms[i].rank == rank)
                return true;
    return false;
}

static const dfl_access *access_of(const dfl_einsum *e, uint32_t tensor)
{
    for (uint32_t i = 0; i < e->n_inputs; i++)
        if (e->inputs[i].tensor == tensor)
            return &e->inputs[i];
    return &e->output;
}

/* Finds homes and innermost memories. False if a tensor has none. */
static bool find_memories(template *t)
{
    for (uint32_t k = 0; k < t->w->n_tensors; k++) {
        t->home[k] = t->inner[k] = DFL_NONE;
        for (uint32_t m = 0; m < t->s->n_memories; m++) {
            if (!dfl_compute_sees(t->s, t->unit, m) ||
                (t->s->memories[m].holds.on && !dfl_selects(&t->s->memories[m].holds, &t->w->tensors[k])))
                continue;
            if (t->home[k] == DFL_NONE && !t->search->inside && dfl_memory_is_in_array(t->s, m))
                return false;
            if (t->home[k] == DFL_NONE)
                t->home[k] = m;
            t->inner[k] = m;
        }
        if (t->home[k] == DFL_NONE)
            return false;
    }
    return true;
}

static void add_line(template *t, dfl_line line)
{
    line.span = line.amount_span = t->search->given->hole_span;
    if (t->n < DFL_LINES_MOST)
        t->lines[t->n++] = line;
}

static void add_keep(template *t, uint32_t tensor, uint32_t memory)
{
    add_line(t, (dfl_line){ .kind = DFL_LINE_KEEP, .tensor = tensor, .memory = memory });
}

/* Adds a loop, except over the rank that an operation takes whole. */
static void add_loop(template *t, uint32_t rank, int64_t tile)
{
    if (rank != t->search->over)
        add_line(t, (dfl_line){ .kind = DFL_LINE_TEMPORAL, .rank = rank, .amount = tile });
}

/* The largest divisor of `of` that is at most `most`. */
static int64_t largest_divisor(int64_t of, int64_t most)
{
    int64_t best = 1;

    for (int64_t d = 1; d <= most && d <= of / d; d++) {
        if (of % d != 0)
            continue;
        if (of / d <= most)
            return of / d;
        best = d;
    }
    return best;
}

/* Whether a condition of the einsum has the rank. */
static bool has_condition(const template *t, uint32_t rank)
{
    return dfl_conditions_have_rank(t->search->one->exact ? t->search->one->exact->einsums : t->e, rank);
}

/* Spreads ranks of the result over one axis: `first` if it fills the axis as well as others; with `free_first`, before all
   others those without conditions. */
static void spread_axis(template *t, uint32_t axis, uint32_t first)
{
    int64_t free = t->s->axes[axis].size;

    while (free > 1) {
        uint32_t best = DFL_NONE;
        int64_t most = 1;
        bool is_free = false;

        for (uint32_t r = 0; r < t->w->n_ranks; r++) {
            int64_t parts = largest_divisor(t->left[r], free);
            if (t->search->uneven && t->left[r] >= free)
                parts = free;
            const bool frees = t->free_first && parts > 1 && !has_condition(t, r);
            if (touches_rank(&t->e->output, r) && r != t->search->over && frees >= is_free &&
                (parts > most || frees > is_free || (parts == most && parts > 1 && r == first))) {
                best = r;
                most = parts;
                is_free = frees;
            }
        }
        if (best == DFL_NONE)
            return;
        add_line(t, (dfl_line){ .kind = DFL_LINE_SPATIAL, .rank = best, .by = DFL_BY_PARTS, .amount = most, .axis = axis });
        t->left[best] = (t->left[best] + most - 1) / most;
        free /= most;
    }
}

static bool is_above_homes(const template *t, uint32_t axis)
{
    for (uint32_t k = 0; k < t->w->n_tensors; k++)
        if (dfl_axis_encloses(t->s, axis, t->s->memories[t->home[k]].element))
            return true;
    return false;
}

/* Adds the spatial lines of the arrays above the homes, or of those below them. */
static void spread(template *t, bool above, uint32_t first)
{
    for (uint32_t a = 0; a < t->s->n_axes; a++)
        if (dfl_axis_encloses(t->s, a, t->s->computes[t->unit].element) && is_above_homes(t, a) == above)
            spread_axis(t, a, first);
}

/* The lines down to the homes, for one choice of the rank that is spread first. */
static void start(template *t, uint32_t first)
{
    t->n = 0;
    for (uint32_t r = 0; r < t->w->n_ranks; r++)
        t->left[r] = t->w->ranks[r].extent;
    spread(t, true, first);
    for (uint32_t k = 0; k < t->w->n_tensors; k++)
        add_keep(t, k, t->home[k]);
}

/* The order of the loops over single elements: ranks of the result, others, then `last`; the rank that an operation takes whole,
   which has no loop, comes after all. */
static void order_ranks(const template *t, uint32_t last, uint32_t *order)
{
    uint32_t n = 0;

    for (uint32_t kind = 0; kind < 4; kind++)
        for (uint32_t r = 0; r < t->w->n_ranks; r++) {
            const uint32_t is = r == t->search->over ? 3 : r == last ? 2 : touches_rank(&t->e->output, r) ? 0 : 1;
            if (is == kind)
                order[n++] = r;
        }
}

/* Single elements below the arrays. */
static void try_elements(template *t, uint32_t first, uint32_t last, uint32_t *order, bool keeps)
{
    const uint32_t n = t->w->n_ranks;

    start(t, first);
    spread(t, false, first);
    order_ranks(t, last, order);
    for (uint32_t at = 0; at <= n; at++) {
        for (uint32_t k = 0; keeps && at < n && k < t->w->n_tensors; k++) {
            const dfl_access *a = access_of(t->e, k);
            bool is_free = at == 0 || touches_rank(a, order[at - 1]); /* of all loops from `at` on, and of no more */
            for (uint32_t i = at; i < n; i++)
                is_free &= !touches_rank(a, order[i]);
            if (is_free && t->inner[k] != t->home[k])
                add_keep(t, k, t->inner[k]);
        }
        if (at < n)
            add_loop(t, order[at], 1);
    }
    (void)dfl_line_search_try(t->search, t->lines, t->n, true);
}

/* Lines with blocks of the given sizes. */
static void write_blocks(template *t, uint32_t first, const int64_t *block, const uint32_t *order)
{
    start(t, first);
    for (uint32_t i = 0; i < t->w->n_ranks; i++)
        if (block[order[i]] < t->left[order[i]]) {
            add_loop(t, order[i], block[order[i]]);
            t->left[order[i]] = block[order[i]];
        }
    spread(t, false, first);
    for (uint32_t k = 0; k < t->w->n_tensors; k++)
        if (t->inner[k] != t->home[k])
            add_keep(t, k, t->inner[k]);
    for (uint32_t i = t->w->n_ranks; i-- > 0;)
        add_loop(t, order[i], 1);
}

/* Blocks that fit the innermost memories: the largest extent is made smaller until they do. */
static void try_blocks(template *t, uint32_t first, uint32_t last, uint32_t *order, int64_t *block)
{
    order_ranks(t, last, order);
    for (uint32_t r = 0; r < t->w->n_ranks; r++)
        block[r] = t->w->ranks[r].extent;
    while (!dfl_line_search_is_over(t->search)) {
        uint32_t largest = DFL_NONE;

        write_blocks(t, first, block, order);
        if (dfl_line_search_fits(t->search, t->lines, t->n)) {
            (void)dfl_line_search_try(t->search, t->lines, t->n, true);
            return;
        }
        for (uint32_t r = 0; r < t->w->n_ranks; r++)
            if (r != t->search->over && block[r] > 1 && (largest == DFL_NONE || block[r] > block[largest]))
                largest = r;
        if (largest == DFL_NONE)
            return;
        block[largest] = largest_divisor(block[largest], block[largest] / 2);
    }
}

void dfl_templates_try(dfl_line_search *search)
{
    const dfl_workload *w = search->one->workload;
    dfl_mapping on = *search->given;
    template t = { .search = search, .w = w, .s = search->one->system, .e = &w->einsums[0],
                   .home = DFL_NEW_ARRAY(search->arena, uint32_t, (size_t)w->n_tensors + 1),
                   .inner = DFL_NEW_ARRAY(search->arena, uint32_t, (size_t)w->n_tensors + 1),
                   .left = DFL_NEW_ARRAY(search->arena, int64_t, (size_t)w->n_ranks + 1) };
    uint32_t *order = DFL_NEW_ARRAY(search->arena, uint32_t, (size_t)w->n_ranks + 1);
    int64_t *block = DFL_NEW_ARRAY(search->arena, int64_t, (size_t)w->n_ranks + 1);

    on.workload = w;
    on.system = t.s;
    for (t.unit = 0; t.unit < t.s->n_computes; t.unit++) {
        if (!dfl_unit_can_run(search->solver->names, &on, &t.s->computes[t.unit], t.e) || !find_memories(&t))
            continue;
        t.free_first = search->one->has_where;
        for (uint32_t last = 0; t.free_first && last < w->n_ranks && !dfl_line_search_is_over(search); last++) {
            try_elements(&t, DFL_NONE, last, order, true);
            try_elements(&t, DFL_NONE, last, order, false);
        }
        if (t.free_first)
            try_blocks(&t, DFL_NONE, DFL_NONE, order, block);
        t.free_first = false;
        for (uint32_t first = 0; first < w->n_ranks && !dfl_line_search_is_over(search); first++)
            for (uint32_t last = 0; last < w->n_ranks && !dfl_line_search_is_over(search); last++) {
                try_elements(&t, first, last, order, true);
                try_elements(&t, first, last, order, false);
            }
        for (uint32_t first = 0; first < w->n_ranks && !dfl_line_search_is_over(search); first++)
            try_blocks(&t, first, DFL_NONE, order, block);
    }
}
