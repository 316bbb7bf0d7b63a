#include "mapper/tiling/written.h"

#include "mapper/problem/limits.h"

static int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }

static bool is_loop(const dfl_fixed_slot *s, uint32_t rank)
{
    return (s->kind == DFL_GIVEN_TEMPORAL || s->kind == DFL_GIVEN_SPATIAL) && s->rank == rank;
}

/* Whether the loop must leave pieces whole, so that it is no cut. */
static bool is_closed(const dfl_fixed_slot *s) { return s->kind == DFL_GIVEN_TEMPORAL && (s->closed >> s->rank & 1); }

bool dfl_written_is_whole(const dfl_tiling_template *t)
{
    bool is_whole = t->form != NULL;

    for (uint32_t i = 0; is_whole && i < t->form->n; i++)
        is_whole = t->form->slot[i].kind != DFL_GIVEN_ANY;
    return is_whole;
}

/* The gap of an axis: that of its line, or of the first keep inside of the axis where that is filled further out. */
static uint8_t find_gap(const dfl_problem *problem, const dfl_tiling_template *t, const dfl_fixed_slot *s)
{
    for (uint8_t g = 0; g < s->gap; g++)
        if (problem->place[t->keep[g].place].axes >> s->axis & 1)
            return g;
    return s->gap;
}

/* Whether the rank indexes a keep that is filled between the gaps `from` and `to`, inside of the axis. */
static bool matters(const dfl_problem *problem, const dfl_tiling_template *t, const dfl_fixed_slot *s, uint32_t from)
{
    for (uint32_t g = from; g < s->gap; g++)
        if ((problem->place[t->keep[g].place].axes >> s->axis & 1) &&
            (problem->operand[t->keep[g].operand].ranks >> s->rank & 1))
            return true;
    return false;
}

bool dfl_written_chain(const dfl_problem *problem, const dfl_tiling_template *t, uint32_t rank, dfl_chain *out)
{
    *out = (dfl_chain){ .extent = problem->extent[rank], .last = -1 };
    for (uint32_t i = 0; i < t->form->n; i++) {
        const dfl_fixed_slot *s = &t->form->slot[i];
        uint8_t gap = s->gap;
        if (!is_loop(s, rank) || is_closed(s))
            continue;
        if (s->kind == DFL_GIVEN_TEMPORAL) {
            out->last = (int)out->n;
        } else {
            gap = find_gap(problem, t, s);
            if (out->n > 0 && out->at[out->n - 1].gap > gap) { /* pieces further out stay a lower bound, tiles do not */
                if (matters(problem, t, s, gap))
                    return false;
                gap = s->gap;
            }
        }
        out->at[out->n++] = (dfl_chain_cut){ .gap = gap, .axis = s->kind == DFL_GIVEN_TEMPORAL ? -1 : (int8_t)s->axis };
    }
    return true;
}

/* ---- amounts ---- */

/* What is known of the length above a line: it divides `base`, or is equal to it; 0 = nothing is known. */
typedef struct {
    int64_t base;
    bool is_exact;
} known_length;

/* The amounts from `first` to `last`. */
static dfl_amounts list_range(dfl_arena *arena, int64_t first, int64_t last)
{
    int64_t *at = DFL_NEW_ARRAY(arena, int64_t, (size_t)(last - first + 1));

    for (int64_t i = first; i <= last; i++)
        at[i - first] = i;
    return (dfl_amounts){ .at = at, .n = (uint32_t)(last - first + 1) };
}

/* Lists the amounts of an open line; false if the line is not known here. */
static bool list_open(dfl_arena *arena, const dfl_fixed_slot *s, bool imperfect, known_length *above, dfl_amounts *out)
{
    const dfl_hole *hole = s->line->hole;
    const bool is_axis = s->kind == DFL_GIVEN_SPATIAL, is_listed = hole->choices != NULL;
    const bool is_direct = (hole->by == DFL_BY_PARTS) == is_axis; /* choices are amounts of the cut */

    if (is_axis && !is_direct && (is_listed || imperfect))
        return false;
    *out = (dfl_amounts){ .n = 0 };
    if (is_listed && is_direct)
        *out = (dfl_amounts){ .at = hole->choices, .n = hole->n_choices };
    else if (!is_listed && !imperfect && above->base > 0)
        *out = dfl_divisors(arena, above->base);
    if (is_listed || imperfect)
        above->base = 0;
    above->is_exact = false;
    return true;
}

/* Lists the amount of a line that is not open; false if the line is not known here. An axis with more parts than elements has as
   many parts as elements. */
static bool list_fixed(dfl_arena *arena, const dfl_fixed_slot *s, known_length *above, dfl_amounts *out)
{
    const bool is_axis = s->kind == DFL_GIVEN_SPATIAL, by_size = s->line->by == DFL_BY_SIZE, is_exact = above->is_exact;
    const int64_t amount = s->line->amount, below = is_exact ? dfl_divide_up(above->base, amount) : 0;
    const int64_t least = least_of(amount, above->base);

    *out = (dfl_amounts){ .n = 0 };
    if (is_axis && (by_size || amount > DFL_WRITTEN_PARTS))
        return false;
    if (!by_size && amount > 1 && (is_exact ? above->base % amount != 0 : !is_axis)) /* skeletons take it for a loop that cuts */
        return false;
    if (is_axis)
        *out = is_exact ? list_range(arena, least, least) : list_range(arena, 1, amount);
    else if (by_size || is_exact)
        *out = by_size ? list_range(arena, amount, amount) : list_range(arena, below, below);
    above->base = by_size ? amount : below;
    above->is_exact = by_size || is_exact;
    return true;
}

/* Whether the tile of the innermost loop is the product of the parts below it, for all that the lines may say. */
static bool is_last_known(const dfl_chain *c, const dfl_fixed_slot *const *slot, bool imperfect)
{
    for (uint32_t i = (uint32_t)(c->last + 1); i < c->n; i++)
        if (imperfect || slot[i]->line->by != DFL_BY_HOLE || slot[i]->line->hole->choices != NULL)
            return false;
    return c->last >= 0 || c->n == 0;
}

const dfl_written_amounts *dfl_written_list(dfl_arena *arena, const dfl_problem *problem, const dfl_tiling_template *t,
                                            bool imperfect)
{
    dfl_written_amounts *out = DFL_NEW(arena, dfl_written_amounts);

    out->imperfect = imperfect;
    for (uint32_t r = 0; r < problem->n_ranks; r++) {
        const dfl_fixed_slot *slot[DFL_GIVEN_SLOTS];
        known_length above = { problem->extent[r], true };
        dfl_chain c = { .last = -1 };
        for (uint32_t i = 0; i < t->form->n; i++) {
            const dfl_fixed_slot *s = &t->form->slot[i];
            if (!is_loop(s, r) || is_closed(s))
                continue;
            if (c.n == DFL_CHAIN_CUTS || s->axis >= problem->n_axes + (s->kind == DFL_GIVEN_TEMPORAL) ||
                !(s->line->by == DFL_BY_HOLE ? list_open(arena, s, imperfect, &above, &out->at[r][c.n])
                                             : list_fixed(arena, s, &above, &out->at[r][c.n])))
                return NULL;
            c.last = s->kind == DFL_GIVEN_TEMPORAL ? (int)c.n : c.last;
            slot[c.n++] = s;
        }
        if (!is_last_known(&c, slot, imperfect))
            return NULL;
    }
    return out;
}

/* The choice of parts that cuts `length` into tiles of `tile`; 0 = none does. */
static int64_t find_parts(const dfl_hole *hole, int64_t length, int64_t tile)
{
    if (hole->choices == NULL)
        return dfl_divide_up(length, tile);
    for (uint32_t i = 0; i < hole->n_choices; i++)
        if (hole->choices[i] <= length && dfl_divide_up(length, hole->choices[i]) == tile)
            return hole->choices[i];
    return 0;
}

static bool is_listed(const dfl_hole *hole, int64_t amount)
{
    for (uint32_t i = 0; i < hole->n_choices; i++)
        if (hole->choices[i] == amount)
            return true;
    return false;
}

/* Whether a line may cut `length` so: into tiles of `amount`, or an axis into so many parts. */
static bool accepts(const dfl_fixed_slot *s, int64_t length, int64_t amount, bool imperfect)
{
    const dfl_line *line = s->line;
    const dfl_hole *hole = line->hole;
    const bool is_axis = s->kind == DFL_GIVEN_SPATIAL;

    if (amount > length)
        return false;
    if (line->by != DFL_BY_HOLE)
        return is_axis                    ? amount == least_of(line->amount, length)
               : line->by == DFL_BY_SIZE ? amount == line->amount
                                         : amount == dfl_divide_up(length, line->amount);
    if (hole->choices != NULL)
        return (hole->by == DFL_BY_PARTS) == is_axis ? is_listed(hole, amount) : find_parts(hole, length, amount) > 0;
    return length % amount == 0 || (imperfect && amount == dfl_divide_up(length, dfl_divide_up(length, amount)));
}

bool dfl_written_admits(const dfl_problem *problem, const dfl_tiling_template *t, uint32_t rank, const int64_t *amounts,
                        bool imperfect)
{
    int64_t length = problem->extent[rank];

    for (uint32_t i = 0, n = 0; i < t->form->n; i++) {
        const dfl_fixed_slot *s = &t->form->slot[i];
        if (!is_loop(s, rank))
            continue;
        const int64_t amount = is_closed(s) ? length : amounts[n++];
        if (!accepts(s, length, amount, imperfect))
            return false;
        length = s->kind == DFL_GIVEN_TEMPORAL ? amount : dfl_divide_up(length, amount);
    }
    return length == 1;
}

void dfl_written_set(const dfl_problem *problem, const dfl_tiling_template *t, uint32_t rank, const int64_t *amounts,
                     const dfl_line *from, dfl_mapping *m)
{
    int64_t length = problem->extent[rank];

    for (uint32_t i = 0, n = 0; i < t->form->n; i++) {
        const dfl_fixed_slot *s = &t->form->slot[i];
        if (!is_loop(s, rank))
            continue;
        dfl_line *line = &m->root->lines[s->line - from];
        const int64_t amount = is_closed(s) ? length : amounts[n++];
        const bool is_axis = s->kind == DFL_GIVEN_SPATIAL;
        const int64_t below = is_axis ? dfl_divide_up(length, amount) : amount;
        if (line->by == DFL_BY_HOLE) {
            line->by = line->hole->by;
            line->amount = line->by == DFL_BY_SIZE ? below : is_axis ? amount : find_parts(line->hole, length, amount);
        }
        length = below;
    }
}
