/* Search for the positions at which several tiles are large together. */
#include "model/cost/joint_peak.h"

#include <string.h>

#include "model/counts/group_sums.h"
#include "model/sets/rank_piece.h"
#include "support/vec.h"

/* Size of one group of one tile: a factor of the tile's size. */
typedef struct {
    uint32_t tile;
    const dfl_group *group;
    int64_t largest;
} factor;

/* A bundle: the factors with a common loop. Their sizes vary jointly. */
typedef struct {
    uint64_t lines;
    factor *factors;
    uint32_t n;
    DFL_VEC(int64_t *) best; /* vectors of factor sizes that no other vector dominates */
} bundle;

/* Search for the size vectors of one bundle, over the positions of its loops. */
typedef struct {
    dfl_nest *nest;
    dfl_weighted_tile *tiles;
    uint32_t n_tiles;
    bundle *b;
    uint32_t step[DFL_MAX_STEPS], driver[DFL_MAX_STEPS];
    bool temporal[DFL_MAX_STEPS];
    int64_t parts[DFL_MAX_STEPS];
    uint32_t n_lines;
    int64_t pos[DFL_MAX_STEPS];
    int64_t *sizes;
    bool found; /* some position has the largest size of each factor */
} search;

static uint64_t find_steps(const dfl_group *group)
{
    uint64_t bits = 0;

    for (uint32_t k = 0; k < group->n_lines; k++)
        bits |= UINT64_C(1) << group->lines[k];
    for (uint32_t k = 0; k < group->n_spatial; k++)
        bits |= UINT64_C(1) << group->spatial[k];
    return bits;
}

static void keep_vector(search *s, const int64_t *sizes)
{
    bundle *b = s->b;
    size_t kept = 0;

    for (size_t i = 0; i < b->best.n; i++) {
        bool covers = true, covered = true;
        for (uint32_t k = 0; k < b->n; k++) {
            covers &= b->best.at[i][k] >= sizes[k];
            covered &= b->best.at[i][k] <= sizes[k];
        }
        if (covers)
            return;
        if (!covered)
            b->best.at[kept++] = b->best.at[i];
    }
    b->best.n = kept;
    int64_t *copy = DFL_NEW_ARRAY(s->nest->arena, int64_t, b->n);
    memcpy(copy, sizes, b->n * sizeof *copy);
    DFL_PUSH(s->nest->arena, &b->best, copy);
}

static void measure_position(search *s)
{
    int64_t *sizes = s->sizes;
    bool all = true;

    for (uint32_t k = 0; k < s->b->n; k++) {
        const factor *f = &s->b->factors[k];
        dfl_weighted_tile *t = &s->tiles[f->tile];
        sizes[k] = dfl_group_sums_size(s->nest, &t->keep->footprint, f->group, &t->keep->all.each->how, s->pos);
        all &= sizes[k] == f->largest;
    }
    s->found = all;
    keep_vector(s, sizes);
}

static void visit_positions(search *s, uint32_t at)
{
    if (s->found || !dfl_budget_ok(dfl_arena_budget(s->nest->arena)))
        return;
    if (at == s->n_lines) {
        measure_position(s);
        return;
    }
    int64_t n = s->temporal[at] ? dfl_rank_piece_trips(s->nest, s->driver[at], s->step[at], s->pos) : s->parts[at];
    /* starts in the middle, where tiles are full and no window is clipped */
    int64_t middle = n / 2;
    for (int64_t k = 0; k < n && !s->found; k++) {
        s->pos[s->step[at]] = k == 0 ? middle : k <= middle ? k - 1 : k;
        visit_positions(s, at + 1);
    }
    s->pos[s->step[at]] = 0;
}

static void add_line(search *s, const dfl_group *group, uint32_t k, bool temporal)
{
    uint32_t step = temporal ? group->lines[k] : group->spatial[k], at = s->n_lines;

    for (uint32_t i = 0; i < s->n_lines; i++)
        if (s->step[i] == step)
            return;
    while (at > 0 && s->step[at - 1] > step) {
        s->step[at] = s->step[at - 1];
        s->driver[at] = s->driver[at - 1];
        s->temporal[at] = s->temporal[at - 1];
        s->parts[at] = s->parts[at - 1];
        at--;
    }
    s->step[at] = step;
    s->driver[at] = temporal ? group->driver[k] : DFL_NONE;
    s->temporal[at] = temporal;
    s->parts[at] = temporal ? 0 : group->parts[k];
    s->n_lines++;
}

static void find_best(dfl_nest *nest, dfl_weighted_tile *tiles, uint32_t n_tiles, uint64_t first, bundle *b)
{
    search s = { .nest = nest, .tiles = tiles, .n_tiles = n_tiles, .b = b };

    if (b->n == 1 && !(b->lines & first)) { /* a bundle of a single factor needs no search: the factor varies with no other */
        int64_t *only = DFL_NEW(nest->arena, int64_t);
        *only = b->factors[0].largest;
        DFL_PUSH(nest->arena, &b->best, only);
        return;
    }
    s.sizes = DFL_NEW_ARRAY(nest->arena, int64_t, b->n);
    for (uint32_t f = 0; f < b->n; f++) {
        const dfl_group *group = b->factors[f].group;
        const dfl_sharing *how = &tiles[b->factors[f].tile].keep->all.each->how;
        for (uint32_t k = 0; k < group->n_lines; k++)
            add_line(&s, group, k, true);
        for (uint32_t k = 0; k < group->n_spatial; k++)
            if (!((how->inside | first) >> group->spatial[k] & 1))
                add_line(&s, group, k, false);
    }
    visit_positions(&s, 0);
}

/* Largest weighted sum of tile sizes, over one vector of each bundle. */
static void combine_bundles(const dfl_weighted_tile *tiles, uint32_t n_tiles, bundle *bundles, uint32_t n, uint32_t at,
                            dfl_i128 *product, dfl_i128 *best, bool *over)
{
    dfl_i128 next[DFL_JOINT_TILES];

    if (at == n) {
        dfl_i128 sum = 0, part;
        for (uint32_t i = 0; i < n_tiles; i++) {
            *over |= dfl_mul(product[i], tiles[i].weight, &part);
            *over |= dfl_add(sum, part, &sum);
        }
        *best = sum > *best ? sum : *best;
        return;
    }
    for (size_t v = 0; v < bundles[at].best.n; v++) {
        memcpy(next, product, n_tiles * sizeof *next);
        for (uint32_t k = 0; k < bundles[at].n; k++)
            *over |= dfl_mul(next[bundles[at].factors[k].tile], bundles[at].best.at[v][k], &next[bundles[at].factors[k].tile]);
        combine_bundles(tiles, n_tiles, bundles, n, at + 1, next, best, over);
    }
}

static void join_bundles(dfl_nest *nest, bundle *bundles, uint32_t *n, uint32_t most, factor f, uint64_t lines)
{
    uint32_t kept = 0;
    bundle whole = { .lines = lines, .factors = NULL };

    for (uint32_t i = 0; i < *n; i++) {
        if (!(bundles[i].lines & lines)) {
            bundles[kept++] = bundles[i];
            continue;
        }
        if (!whole.factors)
            whole.factors = bundles[i].factors;
        else
            memcpy(whole.factors + whole.n, bundles[i].factors, bundles[i].n * sizeof(factor));
        whole.n += bundles[i].n;
        whole.lines |= bundles[i].lines;
    }
    if (!whole.factors)
        whole.factors = DFL_NEW_ARRAY(nest->arena, factor, most);
    whole.factors[whole.n++] = f;
    bundles[kept++] = whole;
    *n = kept;
}

bool dfl_joint_peak_find(dfl_nest *nest, dfl_weighted_tile *tiles, uint32_t n, uint64_t first, dfl_i128 *out)
{
    bool over = false;
    dfl_i128 ones[DFL_JOINT_TILES];
    bundle *bundles;
    uint32_t n_bundles = 0, n_factors = 0;

    *out = 0;
    if (n > DFL_JOINT_TILES) {
        dfl_nest_refuse(nest, tiles[0].keep->line->span, "more than 64 tiles in one memory at once",
                        "keep fewer tensors there");
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        ones[i] = 1;
        n_factors += tiles[i].keep->footprint.n_groups;
    }
    bundles = DFL_NEW_ARRAY(nest->arena, bundle, n_factors + 1);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t g = 0; g < tiles[i].keep->footprint.n_groups; g++) {
            const dfl_group *group = &tiles[i].keep->footprint.groups[g];
            factor f = { i, group, dfl_delta_largest_factor(nest, tiles[i].keep->all.each, g) };
            join_bundles(nest, bundles, &n_bundles, n_factors, f, find_steps(group));
        }
    for (uint32_t b = 0; b < n_bundles; b++)
        find_best(nest, tiles, n, first, &bundles[b]);
    combine_bundles(tiles, n, bundles, n_bundles, 0, ones, out, &over);
    if (!dfl_budget_ok(dfl_arena_budget(nest->arena)))
        return dfl_report_stop(nest->sink, dfl_arena_budget(nest->arena));
    return !over;
}

