/* How a rank is distributed over the slots of a template with written lines. */
#include "mapper/skeleton/fixed_factors.h"

#include "mapper/skeleton/fixed_lines.h"

typedef struct {
    const dfl_fixed_skeleton *f;
    uint32_t rank;
    int64_t left[DFL_TEMPLATE_KEEPS + 1]; /* iterations in each gap that have no slot yet */
    int64_t parts[DFL_PROBLEM_AXES];
    uint32_t n_axes;
    dfl_fixed_factors *way;
} placer;

static bool place_from(placer *k, uint32_t i, int64_t tile);

static bool is_open(const dfl_fixed_slot *s, uint32_t rank)
{
    return s->kind == DFL_GIVEN_ANY && !(s->closed >> rank & 1);
}

static bool may_enter(const placer *k, const dfl_fixed_slot *s, uint32_t axis)
{
    return s->kind == DFL_GIVEN_ANY && (s->axes >> axis & 1) && (k->f->given->spread[axis] >> k->rank & 1);
}

/* Whether a slot behind number `i` can take iterations of the gap. */
static bool more_loops(const placer *k, uint32_t i, uint32_t gap)
{
    for (uint32_t j = i + 1; j < k->f->n && k->f->slot[j].gap == gap; j++)
        if (is_open(&k->f->slot[j], k->rank) || (k->f->slot[j].kind == DFL_GIVEN_TEMPORAL && k->f->slot[j].rank == k->rank))
            return true;
    return false;
}

static bool more_parts(const placer *k, uint32_t i, uint32_t axis)
{
    for (uint32_t j = i + 1; j < k->f->n; j++) {
        const dfl_fixed_slot *s = &k->f->slot[j];
        if (may_enter(k, s, axis) || (s->kind == DFL_GIVEN_SPATIAL && s->rank == k->rank && s->axis == axis))
            return true;
    }
    return false;
}

/* Takes `by` of what is left for slot `i`, and goes on. */
static bool take(placer *k, uint32_t i, int64_t *left, int64_t by, int64_t tile)
{
    bool placed;

    if (by < 1 || *left % by != 0 || tile % by != 0)
        return false;
    *left /= by;
    placed = place_from(k, i + 1, tile / by);
    *left *= by;
    if (placed && k->way)
        k->way->loop[i] = by;
    return placed;
}

static bool is_choice(const dfl_hole *hole, int64_t amount)
{
    for (uint32_t c = 0; c < hole->n_choices; c++)
        if (hole->choices[c] == amount)
            return true;
    return hole->choices == NULL;
}

/* A written loop, which takes what its amount says. */
static bool place_line(placer *k, uint32_t i, int64_t tile)
{
    const dfl_fixed_slot *s = &k->f->slot[i];
    const dfl_line *line = s->line;
    dfl_amounts all = k->f->given->divisors[k->rank];
    bool closed = s->closed >> k->rank & 1, spatial = s->kind == DFL_GIVEN_SPATIAL;
    int64_t none = 1, *left = !spatial ? &k->left[s->gap] : s->axis < k->n_axes ? &k->parts[s->axis] : &none;
    int64_t by = line->by == DFL_BY_PARTS ? line->amount : 0;

    if (line->by == DFL_BY_SIZE && tile % line->amount == 0)
        by = tile / line->amount;
    if (line->by != DFL_BY_HOLE)
        return !(closed && by != 1) && take(k, i, left, by, tile);
    for (uint32_t d = 0; d < all.n && all.at[d] <= *left && (d == 0 || !closed); d++)
        if (*left % all.at[d] == 0 && is_choice(line->hole, line->hole->by == DFL_BY_SIZE ? tile / all.at[d] : all.at[d]) &&
            take(k, i, left, all.at[d], tile))
            return true;
    return false;
}

/* A place for lines: parts of the axes from `a` on, as late as can be, then iterations, as early. */
static bool place_any(placer *k, uint32_t i, uint32_t a, int64_t tile)
{
    const dfl_fixed_slot *s = &k->f->slot[i];
    dfl_amounts all = k->f->given->divisors[k->rank];
    int64_t before;

    while (a < k->n_axes && (k->parts[a] == 1 || !may_enter(k, s, a)))
        a++;
    if (a == k->n_axes) {
        if (!is_open(s, k->rank) || k->left[s->gap] == 1)
            return take(k, i, &k->left[s->gap], 1, tile);
        if (!more_loops(k, i, s->gap))
            return take(k, i, &k->left[s->gap], k->left[s->gap], tile);
        for (uint32_t d = all.n; d-- > 0;)
            if (k->left[s->gap] % all.at[d] == 0 && take(k, i, &k->left[s->gap], all.at[d], tile))
                return true;
        return false;
    }
    before = k->parts[a];
    for (uint32_t d = 0; d < all.n && all.at[d] <= before; d++) {
        int64_t by = all.at[d];
        bool placed;
        if (before % by != 0 || tile % by != 0 || (by != before && !more_parts(k, i, a)))
            continue;
        k->parts[a] = before / by;
        placed = place_any(k, i, a + 1, tile / by);
        k->parts[a] = before;
        if (placed && k->way)
            k->way->parts[i][a] = by;
        if (placed)
            return true;
    }
    return false;
}

static bool are_placed(const int64_t *left, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (left[i] != 1)
            return false;
    return true;
}

/* Distributes what is left over the slots from `i` on. */
static bool place_from(placer *k, uint32_t i, int64_t tile)
{
    const dfl_fixed_slot *s = &k->f->slot[i];

    if (i == k->f->n)
        return are_placed(k->left, DFL_TEMPLATE_KEEPS + 1) && are_placed(k->parts, k->n_axes);
    if (i > 0 && s->gap != s[-1].gap && !are_placed(k->left, s->gap))
        return false;
    if (s->kind == DFL_GIVEN_ANY)
        return place_any(k, i, 0, tile);
    if (s->kind != DFL_GIVEN_KEEP && s->rank == k->rank)
        return place_line(k, i, tile);
    return take(k, i, &k->left[s->gap], 1, tile);
}

bool dfl_fixed_lines_admits(const dfl_fixed_skeleton *f, const dfl_problem *problem, uint32_t rank, const int64_t *cut,
                            uint32_t cut_stride,
                            const int64_t *parts, uint32_t parts_stride, dfl_fixed_factors *way)
{
    placer k = { .f = f, .rank = rank, .n_axes = problem->n_axes, .way = way };

    for (uint32_t g = 0; g <= DFL_TEMPLATE_KEEPS; g++)
        k.left[g] = g <= f->n_keeps ? cut[(size_t)g * cut_stride] : 1;
    for (uint32_t a = 0; a < problem->n_axes; a++)
        k.parts[a] = parts[(size_t)a * parts_stride];
    if (way)
        for (uint32_t i = 0; i < f->n; i++)
            for (uint32_t a = 0; a < problem->n_axes; a++)
                way->parts[i][a] = 1;
    return place_from(&k, 0, problem->extent[rank]);
}

bool dfl_fixed_lines_spreads(const dfl_fixed_skeleton *f, uint32_t axis, uint32_t rank, int64_t parts)
{
    bool free = false;

    for (uint32_t i = 0; i < f->n; i++) {
        const dfl_fixed_slot *s = &f->slot[i];
        if (s->kind == DFL_GIVEN_ANY)
            free |= (s->axes >> axis & 1) && (f->given->spread[axis] >> rank & 1);
        if (s->kind != DFL_GIVEN_SPATIAL || s->axis != axis || s->rank != rank)
            continue;
        if (s->line->by != DFL_BY_PARTS)
            free = true;
        else if (parts % s->line->amount != 0)
            return false;
        else
            parts /= s->line->amount;
    }
    return free || parts == 1;
}
