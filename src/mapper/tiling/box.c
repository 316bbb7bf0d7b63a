#include "mapper/tiling/box.h"

#include <math.h>
#include <string.h>

#include "mapper/skeleton/fixed_factors.h"
#include "mapper/tiling/merge.h"
#include "mapper/tiling/written.h"

static int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }

static dfl_box *new_box(dfl_arena *arena, const dfl_form *f, uint32_t rank)
{
    const dfl_chain *c = &f->chain[rank];
    dfl_box *b = DFL_NEW(arena, dfl_box);

    *b = (dfl_box){ .is_possible = true, .is_point = true, .width = 1 };
    b->low = DFL_NEW_ARRAY(arena, int64_t, 2 * (size_t)c->n);
    b->high = b->low + c->n;
    b->figure = DFL_NEW_ARRAY(arena, double, c->figures.n + f->n_products);
    b->product = b->figure + c->figures.n;
    return b;
}

/* Sets the tile of the innermost loop: the product of the parts below it. */
static void set_last(const dfl_chain *c, dfl_box *b)
{
    int64_t low = 1, high = 1;

    for (uint32_t i = c->n; i-- > 0 && (int)i != c->last;) {
        low = least_of(low * b->low[i], c->extent);
        high = least_of(high * b->high[i], c->extent);
    }
    if (c->last >= 0) {
        b->low[c->last] = low;
        b->high[c->last] = high;
    } else if (high < c->extent) {
        b->is_possible = false;
    }
}

/* The largest divisor of the extent that divides `piece` and is at most `high`; 0 if there is none. */
static int64_t round_down(const dfl_amounts *d, int64_t piece, int64_t high)
{
    for (uint32_t i = d->n; i-- > 0;)
        if (d->at[i] <= high && piece % d->at[i] == 0)
            return d->at[i];
    return 0;
}

/* The least one that is at least `low`; above the piece if there is none. */
static int64_t round_up(const dfl_amounts *d, int64_t piece, int64_t low)
{
    for (uint32_t i = 0; i < d->n; i++)
        if (d->at[i] >= low && piece % d->at[i] == 0)
            return d->at[i];
    return piece + 1;
}

/* The least lengths of the pieces that the cuts from each one on need above them: `out` has one more. */
static void find_needs(const dfl_chain *c, const dfl_box *b, int64_t *out)
{
    out[c->n] = 1;
    for (uint32_t i = c->n; i-- > 0;) {
        const bool is_axis = c->at[i].axis >= 0;
        out[i] = is_axis ? least_of(out[i + 1] * b->low[i], c->extent + 1) : out[i + 1];
        if (!is_axis && (int)i != c->last && b->low[i] > out[i])
            out[i] = b->low[i];
    }
}

/* Moves the ends inwards to divisors (rule D5). `piece` is a multiple of the length of the piece above, `most` at least this
   length. */
static void round_ends(const dfl_chain *c, const dfl_amounts *divisors, dfl_box *b)
{
    int64_t piece = c->extent, most = piece, need[DFL_CHAIN_CUTS + 1];

    find_needs(c, b, need);
    for (uint32_t i = 0; i < c->n && b->is_possible; i++) {
        const bool is_axis = c->at[i].axis >= 0;
        if ((int)i == c->last)
            continue;
        if (!is_axis && b->low[i] < need[i])
            b->low[i] = need[i];
        b->low[i] = round_up(divisors, piece, b->low[i]);
        b->high[i] = round_down(divisors, piece, least_of(b->high[i], is_axis ? most / need[i + 1] : most));
        b->is_possible = b->low[i] <= b->high[i];
        if (!b->is_possible)
            return;
        most = is_axis ? most / b->low[i] : b->high[i];
        if (b->low[i] == b->high[i])
            piece = is_axis ? piece / b->low[i] : b->low[i];
    }
}

/* Moves the ends inwards to amounts that written lines may have. */
static void round_to_lines(const dfl_chain *c, const dfl_amounts *amounts, dfl_box *b)
{
    for (uint32_t i = 0; i < c->n; i++) {
        const dfl_amounts *a = &amounts[i];
        uint32_t first = 0, end = a->n;
        if (a->n == 0 || (int)i == c->last)
            continue;
        while (first < end && a->at[first] < b->low[i])
            first++;
        while (end > first && a->at[end - 1] > b->high[i])
            end--;
        b->is_possible &= first < end;
        if (first == end)
            return;
        b->low[i] = a->at[first];
        b->high[i] = a->at[end - 1];
    }
}

static const dfl_merged_axis *merged_axis(const dfl_form *f, uint32_t axis)
{
    return f->merge == NULL ? NULL : &f->merge->axis[axis];
}

/* The most parts into which an axis need cut pieces of at most `piece` elements: as many. Merged axes may need more, up to all
   that they have: 7 elements as 3 x 3 parts on axes of 3 and 6 leave room for 2 parts of another rank, as 1 x 7 do not (B16). */
static int64_t most_parts(const dfl_form *f, const dfl_merged_axis *axis, int64_t piece)
{
    return axis == NULL || axis->n == 1 ? piece : f->merge->problem->axis[axis - f->merge->axis].size;
}

/* Lowers the upper ends to the largest pieces above, and finds the cut to split. */
static void tighten(const dfl_form *f, const dfl_chain *c, dfl_box *b)
{
    int64_t piece = c->extent;
    double ratio;

    for (uint32_t i = 0; i < c->n && b->is_possible; i++) {
        const int64_t above = piece;
        const bool is_last = (int)i == c->last, is_axis = c->at[i].axis >= 0;
        if (!is_last)
            b->high[i] = least_of(b->high[i], most_parts(f, is_axis ? merged_axis(f, (uint32_t)c->at[i].axis) : NULL, piece));
        piece = is_axis ? (piece + b->low[i] - 1) / b->low[i] : least_of(piece, b->high[i]);
        b->is_point &= b->low[i] == b->high[i];
        if (is_last)
            continue;
        b->is_possible = b->low[i] <= b->high[i];
        ratio = !is_axis && b->high[i] == above && b->low[i] < above ? DFL_BOX_WHOLE : (double)b->high[i] / (double)b->low[i];
        if (ratio > b->width) {
            b->width = ratio;
            b->widest = i;
        }
    }
}

void dfl_box_cuts(const dfl_form *f, uint32_t rank, const int64_t *amounts, uint32_t stride, int64_t *cut, int64_t *parts)
{
    const dfl_chain *c = &f->chain[rank];
    int64_t piece = c->extent;

    for (uint32_t g = 0; g <= f->skeleton->n_keeps; g++)
        cut[g * stride] = 1;
    for (uint32_t a = 0; a < f->problem->n_axes; a++)
        parts[a * stride] = 1;
    for (uint32_t i = 0; i < c->n; i++) {
        const int64_t n = c->at[i].axis < 0 ? piece / amounts[i] : amounts[i];
        if (c->at[i].axis < 0)
            cut[c->at[i].gap * stride] = n;
        else
            parts[(uint32_t)c->at[i].axis * stride] = n;
        piece /= n;
    }
}

/* Whether the amounts go along with written lines, if there are any. */
static bool is_admitted(const dfl_form *f, uint32_t rank, const int64_t *amounts)
{
    const dfl_fixed_skeleton *given = f->skeleton != NULL ? f->skeleton->form : NULL;
    int64_t cut[DFL_TEMPLATE_KEEPS + 1], parts[DFL_PROBLEM_AXES];

    if (given == NULL)
        return true;
    if (f->written != NULL)
        return dfl_written_admits(f->problem, f->skeleton, rank, amounts, f->written->imperfect);
    dfl_box_cuts(f, rank, amounts, 1, cut, parts);
    return dfl_fixed_lines_admits(given, f->problem, rank, cut, 1, parts, 1, NULL);
}

/* Moves the ends inwards to numbers of parts that merged axes can have, and that cut the pieces above. Those that divide stay as
   they are: see D5. */
static void round_to_factors(const dfl_form *f, const dfl_chain *c, dfl_box *b)
{
    int64_t piece = c->extent;

    for (uint32_t i = 0; i < c->n && b->is_possible; i++) {
        const dfl_merged_axis *axis = c->at[i].axis < 0 ? NULL : merged_axis(f, (uint32_t)c->at[i].axis);
        if (axis == NULL && (int)i != c->last)
            piece = least_of(piece, b->high[i]);
        if (axis == NULL || axis->n == 1 || (f->divisors != NULL && b->low[i] < b->high[i]))
            continue;
        b->low[i] = dfl_merge_round(axis, b->low[i], true);
        b->high[i] = dfl_merge_round(axis, least_of(b->high[i], most_parts(f, axis, piece)), false);
        b->is_possible = 1 <= b->low[i] && b->low[i] <= b->high[i];
        piece = b->is_possible ? (piece + b->low[i] - 1) / b->low[i] : 1;
    }
}

static void find_figures(dfl_arena *arena, const dfl_form *f, const dfl_chain *c, dfl_box *b)
{
    b->is_exact = b->is_point;
    if (f->merge != NULL && dfl_chain_axes(c) != 0)
        b->is_exact = dfl_merge_bound(arena, f->merge, c, b->low, b->high, b->figure);
    else if (b->is_point)
        dfl_chain_count(c, b->low, b->figure);
    else
        dfl_chain_bound(c, b->low, b->high, b->figure);
}

static dfl_box *finish(dfl_arena *arena, const dfl_form *f, uint32_t rank, dfl_box *b)
{
    const dfl_chain *c = &f->chain[rank];

    if (f->divisors != NULL)
        round_ends(c, &f->divisors[rank], b);
    if (f->merge != NULL)
        round_to_factors(f, c, b);
    if (f->written != NULL)
        round_to_lines(c, f->written->at[rank], b);
    set_last(c, b);
    tighten(f, c, b);
    if (b->is_possible && b->is_point)
        b->is_possible = dfl_chain_ends(c, b->low) && is_admitted(f, rank, b->low);
    if (!b->is_possible)
        return b;
    find_figures(arena, f, c, b);
    for (uint32_t p = 0; p < f->n_products; p++) {
        const uint16_t figure = f->figure[(size_t)p * f->problem->n_ranks + rank];
        b->product[p] = figure == DFL_FORM_NONE ? 1 : b->figure[figure];
    }
    return b;
}

/* All amounts of a rank, not finished. */
static dfl_box *new_root(dfl_arena *arena, const dfl_form *f, uint32_t rank)
{
    const dfl_chain *c = &f->chain[rank];
    dfl_box *b = new_box(arena, f, rank);

    for (uint32_t i = 0; i < c->n; i++) {
        b->low[i] = 1;
        b->high[i] = c->at[i].axis < 0 ? c->extent : f->problem->axis[c->at[i].axis].size;
    }
    return b;
}

dfl_box *dfl_box_make(dfl_arena *arena, const dfl_form *f, uint32_t rank)
{
    return finish(arena, f, rank, new_root(arena, f, rank));
}

dfl_box *dfl_box_within(dfl_arena *arena, const dfl_form *f, uint32_t rank, const int64_t *low, const int64_t *high)
{
    dfl_box *b = new_root(arena, f, rank);

    for (uint32_t i = 0; i < f->chain[rank].n; i++) {
        b->low[i] = low[i] > b->low[i] ? low[i] : b->low[i];
        b->high[i] = high[i] > 0 ? least_of(high[i], b->high[i]) : b->high[i];
        b->is_possible &= b->low[i] <= b->high[i];
    }
    return b->is_possible ? finish(arena, f, rank, b) : b;
}

void dfl_box_parts(const dfl_form *f, uint32_t rank, const dfl_box *point, int64_t *parts)
{
    const dfl_chain *c = &f->chain[rank];

    for (uint32_t a = 0; a < f->problem->n_axes; a++)
        parts[a] = 1;
    for (uint32_t i = 0; i < c->n; i++)
        if (c->at[i].axis >= 0)
            parts[c->at[i].axis] = point->low[i];
}

bool dfl_box_factors(const dfl_form *f, dfl_box *const *boxes, uint32_t rank, uint32_t cut)
{
    const int axis = f->chain[rank].at[cut].axis;
    int64_t parts[DFL_PROBLEM_RANKS];
    uint32_t n_known = 0;

    if (f->merge == NULL || axis < 0 || f->merge->axis[axis].n == 1 || boxes[rank]->low[cut] < boxes[rank]->high[cut])
        return true;
    for (uint32_t r = 0; r < f->problem->n_ranks; r++) {
        parts[r] = 1;
        for (uint32_t i = 0; i < f->chain[r].n; i++)
            if (f->chain[r].at[i].axis == axis && boxes[r]->low[i] == boxes[r]->high[i])
                parts[r] = boxes[r]->low[i];
        n_known += parts[r] > 1;
    }
    return n_known < 2 || dfl_merge_fits(f->merge, (uint32_t)axis, parts);
}

dfl_box *dfl_box_half(dfl_arena *arena, const dfl_form *f, uint32_t rank, dfl_box *b, uint32_t side)
{
    const uint32_t n = f->chain[rank].n, cut = b->widest;
    int64_t middle = b->high[cut] - 1;
    dfl_box *half;

    if (b->child[side] != NULL)
        return b->child[side];
    if (b->width < DFL_BOX_WHOLE)
        middle = least_of(middle, (int64_t)sqrt((double)b->low[cut] * (double)b->high[cut]));
    half = new_box(arena, f, rank);
    memcpy(half->low, b->low, 2 * (size_t)n * sizeof *b->low);
    if (side == 0)
        half->high[cut] = middle;
    else
        half->low[cut] = middle + 1;
    b->child[side] = half;
    return finish(arena, f, rank, half);
}
