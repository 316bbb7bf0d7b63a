#include "mapper/tiling/box_trim.h"

#include <math.h>
#include <string.h>

#include "mapper/problem/limits.h"
#include "mapper/program/exponential.h"

/* What the sides are moved outwards by (B21). */
#define OUTWARDS 0x1p-40

/* Bounds of the length below a cut. */
typedef struct { int64_t least, most; } lengths;

static double exponential(double x)
{
    dfl_exponentials(&x, 1, &x);
    return x;
}

/* The lengths of a variable in mappings below the cutoff; `slack`: of the cutoff above the least value of the plane. */
static lengths trim_length(const dfl_box_trim *t, uint32_t var, double slack)
{
    const double slope = t->plane->slope[var], low = t->range->low[var], high = t->range->high[var];
    lengths out = { 1, INT64_MAX };
    double x;

    if (slope > 0) {
        x = low + slack / slope * (1 + OUTWARDS) + OUTWARDS;
        if (x < high)
            out.most = (int64_t)floor(exponential(x) * (1 + OUTWARDS));
    } else if (slope < 0) {
        x = high + slack / slope * (1 + OUTWARDS) - OUTWARDS;
        if (x > low)
            out.least = (int64_t)ceil(exponential(x) * (1 - OUTWARDS));
    }
    return out;
}

/* Moves the ends of one cut inwards. `above`, `below`: lengths above and below it. */
static void trim_cut(bool is_axis, lengths above, lengths below, int64_t *low, int64_t *high)
{
    if (!is_axis) { /* the amount is the length */
        *low = below.least > *low ? below.least : *low;
        *high = below.most < *high ? below.most : *high;
        return;
    }
    if (below.most < INT64_MAX && dfl_divide_up(above.least, below.most) > *low)
        *low = dfl_divide_up(above.least, below.most);
    if (below.least > 1 && dfl_divide_up(above.most, below.least - 1) - 1 < *high)
        *high = dfl_divide_up(above.most, below.least - 1) - 1;
}

/* Lengths below a cut whose amounts are between `low` and `high`. */
static lengths cut_lengths(bool is_axis, lengths above, int64_t low, int64_t high)
{
    if (is_axis)
        return (lengths){ dfl_divide_up(above.least, high), dfl_divide_up(above.most, low) };
    return (lengths){ low < above.least ? low : above.least, high < above.most ? high : above.most };
}

/* A smaller box of one rank; the box itself if it loses little; NULL if nothing is left. */
static dfl_box *trim_rank(dfl_arena *arena, const dfl_box_trim *t, uint32_t rank, dfl_box *box, double slack)
{
    const dfl_form *f = t->program->form;
    const dfl_chain *c = &f->chain[rank];
    lengths above = { c->extent, c->extent };
    int64_t low[DFL_CHAIN_CUTS], high[DFL_CHAIN_CUTS];
    double left = 1;
    dfl_box *out;

    for (uint32_t i = 0; i < c->n; i++) {
        const bool is_axis = c->at[i].axis >= 0;
        low[i] = box->low[i];
        high[i] = box->high[i];
        if ((int)i != c->last && t->program->var[rank][i] != DFL_FORM_NO_VAR)
            trim_cut(is_axis, above, trim_length(t, t->program->var[rank][i], slack), &low[i], &high[i]);
        if (low[i] > high[i])
            return NULL;
        left *= (double)(high[i] - low[i] + 1) / (double)(box->high[i] - box->low[i] + 1);
        above = cut_lengths(is_axis, above, low[i], high[i]);
    }
    if (left > DFL_BOX_TRIM_LEFT)
        return box;
    out = dfl_box_within(arena, f, rank, low, high);
    return out->is_possible ? out : NULL;
}

bool dfl_box_trim_node(dfl_arena *arena, const dfl_box_trim *t, dfl_box **boxes)
{
    const dfl_form *f = t->program->form;
    const double slack = t->cutoff - dfl_geometric_least(t->program->program, t->plane, t->range);

    if (!(slack >= 0) || f->skeleton->form != NULL)
        return true;
    for (uint32_t r = 0; r < f->problem->n_ranks; r++) {
        dfl_box *box = boxes[r]->is_point ? boxes[r] : trim_rank(arena, t, r, boxes[r], slack);
        if (box == NULL)
            return false;
        boxes[r] = box;
    }
    return true;
}
