#include "mapper/tiling/merge.h"

#include <math.h>
#include <string.h>

/* Largest product of the sizes of axes that are merged: `can` has one item for each number of parts. */
enum { MOST_PARTS = 1 << 16 };

/* Factorings, one rank and one axis after the other. */
typedef struct {
    const dfl_merge *m;
    const int64_t *parts;               /* by rank and merged axis */
    uint32_t n_ranks, first, end;       /* axes of the real problem */
    int64_t left[DFL_PROBLEM_AXES];     /* of the size of each axis, for the ranks that follow */
    int64_t factor[DFL_PROBLEM_RANKS * DFL_PROBLEM_AXES];
    dfl_merge_use *use;                 /* NULL: the first one is enough */
    void *context;
    bool is_found;
} factorer;

static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }

/* ---- merging ---- */

static uint32_t merged_axis(const dfl_merge *m, uint32_t real)
{
    uint32_t a = 0;

    while (real >= m->axis[a].first + m->axis[a].n)
        a++;
    return a;
}

/* Whether an axis can be merged with the next one. */
static bool can_merge(const dfl_problem *problem, uint32_t axis)
{
    const dfl_problem_axis *a = &problem->axis[axis], *b = &problem->axis[axis + 1];
    bool can = a->shared == b->shared && a->ranks == b->ranks && a->sharing == b->sharing && a->others == 0 && b->others == 0 &&
               a->upto == b->upto && b->joules == 0;

    for (uint32_t p = 0; p < problem->n_places; p++)
        can &= (problem->place[p].axes >> axis & 1) == (problem->place[p].axes >> (axis + 1) & 1);
    return can;
}

static uint32_t merge_mask(const dfl_merge *m, uint32_t axes)
{
    uint32_t out = 0;

    for (uint32_t a = 0; a < m->problem->n_axes; a++)
        out |= (axes >> m->axis[a].first & 1) << a;
    return out;
}

/* Groups the axes, in order; whether some group has several. */
static bool group_axes(dfl_merge *m)
{
    const dfl_problem *real = m->real;
    int64_t product = 1;
    uint32_t n = 0;

    for (uint32_t a = 0; a < real->n_axes; a++) {
        const int64_t size = real->axis[a].size;
        if (a == 0 || !can_merge(real, a - 1) || size > MOST_PARTS || product > MOST_PARTS / size) {
            m->axis[n++] = (dfl_merged_axis){ .first = a };
            product = 1;
        }
        product *= size;
        m->axis[n - 1].size[m->axis[n - 1].n++] = size;
    }
    m->problem->n_axes = n;
    return n < real->n_axes;
}

static void merge_problem(dfl_merge *m)
{
    dfl_problem *problem = m->problem;

    for (uint32_t a = 0; a < problem->n_axes; a++) {
        problem->axis[a] = m->real->axis[m->axis[a].first];
        problem->axis[a].upto = merge_mask(m, problem->axis[a].upto);
        problem->axis[a].link = merged_axis(m, problem->axis[a].link);
        problem->axis[a].size = 1;
        for (uint32_t i = 0; i < m->axis[a].n; i++)
            problem->axis[a].size *= m->axis[a].size[i];
        problem->at_work[a] = m->real->at_work[m->axis[a].first];
    }
    problem->at_work[problem->n_axes] = m->real->at_work[m->real->n_axes];
    for (uint32_t p = 0; p < problem->n_places; p++)
        problem->place[p].axes = merge_mask(m, problem->place[p].axes);
}

/* Sets the numbers of parts that one rank can have: products of one number for each axis. */
static void find_parts(dfl_arena *arena, const dfl_merge *m, dfl_merged_axis *axis)
{
    const int64_t size = m->problem->axis[axis - m->axis].size;
    bool *can = DFL_NEW_ARRAY(arena, bool, (size_t)size + 1);

    can[1] = true;
    for (uint32_t i = 0; i < axis->n; i++)
        for (int64_t p = size; p >= 1; p--)
            for (int64_t f = 2; f <= axis->size[i] && f <= p && !can[p]; f++)
                can[p] = p % f == 0 && can[p / f];
    axis->can = can;
}

const dfl_merge *dfl_merge_make(dfl_arena *arena, const dfl_problem *problem)
{
    dfl_merge *m;

    if (problem->windows || problem->given != NULL || problem->n_axes < 2)
        return NULL;
    m = DFL_NEW(arena, dfl_merge);
    *m = (dfl_merge){ .real = problem, .problem = DFL_NEW(arena, dfl_problem) };
    *m->problem = *problem;
    memset(m->problem->axis, 0, sizeof m->problem->axis);
    if (!group_axes(m))
        return NULL;
    merge_problem(m);
    for (uint32_t a = 0; a < m->problem->n_axes; a++)
        if (m->axis[a].n > 1)
            find_parts(arena, m, &m->axis[a]);
    return m;
}

dfl_tiling_template dfl_merge_split(const dfl_merge *m, const dfl_tiling_template *skeleton)
{
    dfl_tiling_template out = *skeleton;

    for (uint32_t a = 0; a < m->real->n_axes; a++)
        out.axis_gap[a] = skeleton->axis_gap[merged_axis(m, a)];
    return out;
}

/* ---- factorings ---- */

static void factor_from(factorer *k, uint32_t rank, uint32_t axis);

/* Gives axis `axis` the factor `f` of the parts of a rank, and goes on with the next axis or rank. */
static void take_factor(factorer *k, uint32_t rank, uint32_t axis, int64_t f)
{
    const int64_t left = k->left[axis];

    k->factor[rank * k->m->real->n_axes + axis] = f;
    k->left[axis] = left / f;
    factor_from(k, axis + 1 == k->end ? rank + 1 : rank, axis + 1 == k->end ? k->first : axis + 1);
    k->left[axis] = left;
}

static void factor_from(factorer *k, uint32_t rank, uint32_t axis)
{
    const uint32_t at = rank < k->n_ranks ? merged_axis(k->m, axis) : 0;
    int64_t parts;

    if (rank == k->n_ranks) {
        k->is_found = true;
        if (k->use != NULL)
            k->use(k->context, k->factor);
        return;
    }
    parts = k->parts[rank * k->m->problem->n_axes + at];
    for (uint32_t a = k->m->axis[at].first; a < axis; a++)
        parts /= k->factor[rank * k->m->real->n_axes + a];
    if (axis + 1 == k->m->axis[at].first + k->m->axis[at].n) {
        if (parts <= k->left[axis])
            take_factor(k, rank, axis, parts);
        return;
    }
    for (int64_t f = parts < k->left[axis] ? parts : k->left[axis]; f >= 1 && !(k->is_found && k->use == NULL); f--)
        if (parts % f == 0)
            take_factor(k, rank, axis, f);
}

static bool factor_all(factorer *k)
{
    for (uint32_t a = 0; a < k->m->real->n_axes; a++)
        k->left[a] = k->m->real->axis[a].size;
    factor_from(k, 0, k->first);
    return k->is_found;
}

bool dfl_merge_fits(const dfl_merge *m, uint32_t axis, const int64_t *parts)
{
    int64_t all[DFL_PROBLEM_RANKS * DFL_PROBLEM_AXES];
    const uint32_t n_axes = m->problem->n_axes;
    factorer k = { .m = m, .parts = all, .n_ranks = m->problem->n_ranks, .first = m->axis[axis].first,
                   .end = m->axis[axis].first + m->axis[axis].n };

    for (uint32_t r = 0; r < k.n_ranks; r++)
        all[r * n_axes + axis] = parts[r];
    return factor_all(&k);
}

void dfl_merge_each(const dfl_merge *m, const int64_t *parts, dfl_merge_use *use, void *context)
{
    factorer k = { .m = m, .parts = parts, .n_ranks = m->problem->n_ranks, .end = m->real->n_axes, .use = use,
                   .context = context };

    (void)factor_all(&k);
}

void dfl_merge_amounts(const dfl_merge *m, const dfl_chain *merged, const int64_t *amounts, const int64_t *factor, int64_t *out)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < merged->n; i++) {
        const dfl_merged_axis *axis = merged->at[i].axis < 0 ? NULL : &m->axis[merged->at[i].axis];
        for (uint32_t k = 0; k < (axis == NULL ? 1 : axis->n); k++)
            out[n++] = axis == NULL ? amounts[i] : factor[axis->first + k];
    }
}

int64_t dfl_merge_round(const dfl_merged_axis *axis, int64_t parts, bool upwards)
{
    int64_t size = 1;

    for (uint32_t i = 0; i < axis->n; i++)
        size *= axis->size[i];
    while (parts >= 1 && parts <= size && !axis->can[parts])
        parts += upwards ? 1 : -1;
    return parts >= 1 && parts <= size ? parts : 0;
}

/* ---- chains ---- */

/* A chain with a cut for each real axis, and the figures of its factorings so far. */
typedef struct {
    const dfl_chain *chain;
    dfl_chain wide;
    uint32_t real[DFL_CHAIN_CUTS];      /* by cut of `wide`: axis, if it is one */
    int64_t low[DFL_CHAIN_CUTS], high[DFL_CHAIN_CUTS]; /* by cut of `wide` */
    bool is_point, is_first, is_same;
    double *figure;                     /* of the factoring at hand */
    double *out;
} widener;

static void widen(const dfl_merge *m, const int64_t *low, const int64_t *high, widener *w)
{
    const dfl_chain *c = w->chain;

    w->wide = (dfl_chain){ .extent = c->extent, .last = -1, .figures = { c->figures.at, c->figures.n, c->figures.cap } };
    for (uint32_t i = 0; i < c->n; i++) {
        const int axis = c->at[i].axis;
        const uint32_t n = axis < 0 ? 1 : m->axis[axis].n;
        if ((int)i == c->last)
            w->wide.last = (int)w->wide.n;
        for (uint32_t k = 0; k < n; k++) {
            const uint32_t at = w->wide.n++;
            w->wide.at[at] = c->at[i];
            w->low[at] = low[i];
            w->high[at] = high[i];
            if (axis < 0)
                continue;
            const int64_t size = m->axis[axis].size[k], others = m->problem->axis[axis].size / size;
            w->real[at] = m->axis[axis].first + k;
            w->low[at] = (low[i] + others - 1) / others;
            w->high[at] = high[i] < size ? high[i] : size;
        }
    }
}

/* Takes the figures of one factoring into account. */
static void take_figures(void *context, const int64_t *factor)
{
    widener *w = context;
    const dfl_chain *c = &w->wide;

    for (uint32_t i = 0; i < c->n; i++)
        if (c->at[i].axis >= 0)
            w->low[i] = w->high[i] = factor[w->real[i]];
    if (w->is_point)
        dfl_chain_count(c, w->low, w->figure);
    else
        dfl_chain_bound(c, w->low, w->high, w->figure);
    for (uint32_t f = 0; f < c->figures.n; f++) {
        const double a = w->out[f], b = w->figure[f];
        const dfl_chain_kind kind = c->figures.at[f].kind;
        w->is_same &= w->is_first || a == b;
        w->out[f] = w->is_first ? b : kind == DFL_CHAIN_STAYS || kind == DFL_CHAIN_RUNS ? most(a, b) : least(a, b);
    }
    w->is_first = false;
}

/* Replaces the figures of what stays by those of all pairs of factors. */
static void bound_stays(widener *w)
{
    const dfl_chain *c = &w->wide;

    dfl_chain_bound(c, w->low, w->high, w->figure);
    for (uint32_t f = 0; f < c->figures.n; f++)
        if (c->figures.at[f].kind == DFL_CHAIN_STAYS)
            w->out[f] = w->figure[f];
}

bool dfl_merge_bound(dfl_arena *arena, const dfl_merge *m, const dfl_chain *chain, const int64_t *low, const int64_t *high,
                     double *out)
{
    widener w = { .chain = chain, .is_point = true, .is_first = true, .is_same = true, .out = out };
    int64_t parts[DFL_PROBLEM_AXES];
    bool is_fixed = true, stays = false;

    for (uint32_t a = 0; a < m->problem->n_axes; a++)
        parts[a] = 1;
    for (uint32_t i = 0; i < chain->n; i++) {
        w.is_point &= low[i] == high[i];
        if (chain->at[i].axis < 0)
            continue;
        parts[chain->at[i].axis] = low[i];
        is_fixed &= low[i] == high[i];
    }
    for (uint32_t f = 0; f < chain->figures.n; f++)
        stays |= chain->figures.at[f].kind == DFL_CHAIN_STAYS;
    dfl_chain_bound(chain, low, high, out);
    if (!w.is_point && !stays)
        return false;
    w.figure = DFL_NEW_ARRAY(arena, double, chain->figures.n);
    widen(m, low, high, &w);
    if (is_fixed) {
        factorer k = { .m = m, .parts = parts, .n_ranks = 1, .end = m->real->n_axes, .use = take_figures, .context = &w };
        return factor_all(&k) && w.is_point && w.is_same;
    }
    bound_stays(&w);
    return false;
}
