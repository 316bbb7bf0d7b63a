#include "mapper/join/part_cells.h"

#include <math.h>
#include <string.h>

#include "mapper/problem/limits.h"
#include "mapper/program/exponential.h"

/* Whole numbers from `low` to `high`. */
typedef struct {
    int64_t low, high;
} interval;

/* How to split a cell: at the number of parts of `rank` on `axis`, or at the full tile of `rank` below `cut`. */
typedef struct {
    bool is_open;                     /* the cell can be split */
    bool has_parts;                   /* at a number of parts, else at a full tile */
    uint32_t rank, axis, cut;
    int64_t most;                     /* the largest number of the lower half */
    double away;                      /* relative distance of the number at the point from a whole one */
} cell_split;

typedef struct dfl_part_cell {
    double bound;
    cell_split split;
    interval parts[DFL_PROBLEM_RANKS][DFL_PROBLEM_AXES];
    interval length[DFL_PROBLEM_RANKS][DFL_CELL_CUTS];  /* full tiles below the first cuts */
    dfl_geometric_state state;        /* the point of its program; before that, of the cell that was split */
} cell;

typedef DFL_VEC(cell *) cell_list;

/* The cells of one skeleton. */
typedef struct {
    dfl_pattern_bounds *b;
    const dfl_kept_program *k;
    double enough;                    /* value of the line; a bound at or above it is as good as any larger one */
} cell_search;

/* The cut of a rank on an axis; c->n = it has none. */
static uint32_t find_cut(const dfl_chain *c, uint32_t axis)
{
    uint32_t i = 0;

    while (i < c->n && c->at[i].axis != (int)axis)
        i++;
    return i;
}

/* Number of cuts of a rank below which full tiles are split. */
static uint32_t count_whole(const dfl_kept_program *k, uint32_t rank)
{
    const dfl_chain *c = &k->form->chain[rank];

    return !k->program->has_lengths ? 0 : c->n < DFL_CELL_CUTS ? c->n : DFL_CELL_CUTS;
}

/* Lowers the upper ends to what the lower ends of the other ranks leave of each axis. False if nothing is left. */
static bool narrow_parts(const dfl_problem *problem, cell *x)
{
    for (uint32_t a = 0; a < problem->n_axes; a++)
        for (uint32_t r = 0; r < problem->n_ranks; r++) {
            int64_t left = problem->axis[a].size;
            for (uint32_t other = 0; other < problem->n_ranks; other++)
                left /= other != r ? x->parts[other][a].low : 1;
            x->parts[r][a].high = left < x->parts[r][a].high ? left : x->parts[r][a].high;
            if (x->parts[r][a].high < x->parts[r][a].low)
                return false;
        }
    return true;
}

/* Sets the knobs of the program for a cell, and `range` to its variables there. False if nothing is left. */
static bool narrow(const dfl_kept_program *k, const cell *x, dfl_geometric_box *range)
{
    const dfl_form *f = k->form;
    int64_t low[DFL_PROBLEM_AXES], high[DFL_PROBLEM_AXES];

    *range = k->range;
    for (uint32_t r = 0; r < f->problem->n_ranks; r++) {
        for (uint32_t a = 0; a < f->problem->n_axes; a++) {
            const uint32_t cut = find_cut(&f->chain[r], a);
            low[a] = x->parts[r][a].low;
            high[a] = x->parts[r][a].high;
            if (cut < f->chain[r].n)
                dfl_form_program_limit(k->program, r, cut, high[a]);
        }
        for (uint32_t i = 0; r + 1 == k->program->mixed && i < count_whole(k, r); i++)
            dfl_form_program_mix(k->program, i, x->length[r][i].high < f->chain[r].extent ? 2 : 1);
        if (k->program->has_parts)
            dfl_form_program_parts(k->program, r, low, high, range);
        for (uint32_t i = 0; i < count_whole(k, r); i++)
            if (k->program->whole[r][i] != DFL_FORM_NO_VAR &&
                !dfl_form_program_tile(k->program, r, i, x->length[r][i].low, x->length[r][i].high, range))
                return false;
    }
    return true;
}

/* Replaces a split by one of the interval `within` at a value of the point, if that is farther from a whole number. */
static bool take_split(cell_split *split, const interval *within, double value)
{
    const double most = fmin(fmax(floor(value), (double)within->low), (double)within->high - 1);
    const double away = fmin(value / most, (most + 1) / value) - 1;

    if (within->low >= within->high || away <= split->away)
        return false;
    split->away = away;
    split->is_open = true;
    split->most = (int64_t)most;
    return true;
}

/* The logarithm of the number of parts at a cut on an axis, at a point of the program. */
static double find_parts(const dfl_kept_program *k, uint32_t rank, uint32_t cut, const double *point)
{
    if (k->program->has_parts)
        return point[k->program->parts[rank][cut]];
    return dfl_form_program_spread(k->program, rank, cut, point);
}

/* Replaces the split of a cell by one of a number of parts of a rank, if this raises the elements on coordinate 0 by more. These
   follow from the upper ends of the numbers; with the rounded numbers of the point, there would be more. The number is the one
   whose upper end is the largest multiple of it. */
static void split_end(const dfl_kept_program *k, const double *point, const dfl_form_end *end, cell *x)
{
    const dfl_chain *c = &k->form->chain[end->rank];
    double elements = point[end->var], farthest = 1, left = (double)c->extent;
    uint32_t axis = 0;
    int64_t most = 0;

    for (uint32_t a = 0; a < k->form->problem->n_axes; a++) {
        double parts;
        if (!(end->axes >> a & 1))
            continue;
        parts = find_parts(k, end->rank, find_cut(c, a), point);
        dfl_exponentials(&parts, 1, &parts);
        parts = fmax(round(parts), 1);
        left = ceil(left / parts);
        if ((double)x->parts[end->rank][a].high / parts > farthest && parts >= (double)x->parts[end->rank][a].low) {
            farthest = (double)x->parts[end->rank][a].high / parts;
            axis = a;
            most = (int64_t)parts;
        }
    }
    dfl_exponentials(&elements, 1, &elements);
    if (farthest > 1 && left / elements - 1 > x->split.away)
        x->split = (cell_split){ .is_open = true, .has_parts = true, .rank = end->rank, .axis = axis, .most = most,
                                 .away = left / elements - 1 };
}

/* Sets the split of a cell: at the number that is farthest from a whole one at a point of the program. */
static void find_split(const dfl_kept_program *k, const double *point, cell *x)
{
    const dfl_problem *problem = k->form->problem;

    x->split = (cell_split){ .away = k->program->has_parts ? DFL_CELL_NEAR : DFL_CELL_WHOLE };
    for (uint32_t r = 0; r < problem->n_ranks; r++) {
        for (uint32_t a = 0; a < problem->n_axes; a++) {
            const uint32_t cut = find_cut(&k->form->chain[r], a);
            double parts;
            if (cut == k->form->chain[r].n)
                continue;
            parts = find_parts(k, r, cut, point);
            dfl_exponentials(&parts, 1, &parts);
            if (take_split(&x->split, &x->parts[r][a], parts)) {
                x->split.has_parts = true;
                x->split.rank = r;
                x->split.axis = a;
            }
        }
        bool is_first = true;
        for (uint32_t i = 0; i < count_whole(k, r); i++) {
            double length = dfl_form_program_length(k->program, r, (int)i, point);
            dfl_exponentials(&length, 1, &length);
            if (r + 1 == k->program->mixed && k->form->chain[r].at[i].axis < 0 && is_first &&
                x->length[r][i].low < problem->extent[r] && x->length[r][i].high == problem->extent[r]) {
                x->split = (cell_split){ .is_open = true, .rank = r, .cut = i, .most = problem->extent[r] - 1, .away = 1 };
                break;
            }
            is_first = is_first && k->form->chain[r].at[i].axis < 0;
            if (k->program->whole[r][i] != DFL_FORM_NO_VAR && length > (double)x->length[r][i].low &&
                take_split(&x->split, &x->length[r][i], length)) {
                x->split.has_parts = false;
                x->split.rank = r;
                x->split.cut = i;
            }
        }
    }
    for (uint32_t e = 0; e < k->program->n_ends; e++)
        split_end(k, point, &k->program->end[e], x);
}

/* Bounds a cell. */
static void solve(cell_search *s, bool is_warm, cell *x)
{
    const dfl_form *f = s->k->form;
    dfl_geometric_solution solution;
    dfl_geometric_box range;

    x->split.is_open = false;
    if (!narrow_parts(f->problem, x) || !narrow(s->k, x, &range)) {
        x->bound = INFINITY;
        return;
    }
    x->bound = fmax(x->bound, dfl_bounded_solve(s->b, s->k, &range, is_warm ? &x->state : NULL, s->enough, &solution));
    x->state = solution.state;
    if (x->bound < s->enough)
        find_split(s->k, solution.state.x, x);
}

/* Splits a cell: the lower half keeps its place. */
static void split(cell_search *s, cell_list *cells, size_t at)
{
    cell *lower = cells->at[at], *upper = DFL_NEW(s->b->scratch, cell);
    const cell_split by = lower->split;

    *upper = *lower;
    if (by.has_parts) {
        lower->parts[by.rank][by.axis].high = by.most;
        upper->parts[by.rank][by.axis].low = by.most + 1;
    } else {
        lower->length[by.rank][by.cut].high = by.most;
        upper->length[by.rank][by.cut].low = by.most + 1;
    }
    solve(s, true, lower);
    solve(s, true, upper);
    DFL_PUSH(s->b->scratch, cells, upper);
}

/* Least number of pieces of a rank of few pieces: one closer to 1 is taken for 1. */
#define PIECES_LEAST 1.02

uint32_t dfl_part_cell_mixed(const dfl_kept_program *k, const cell *x)
{
    double most = 1;
    uint32_t out = 0;

    for (uint32_t r = 0; r < k->form->problem->n_ranks; r++)
        for (uint32_t i = 0; i < count_whole(k, r) && k->form->chain[r].at[i].axis < 0; i++) {
            double length = dfl_form_program_length(k->program, r, (int)i, x->state.x), pieces;
            dfl_exponentials(&length, 1, &length);
            pieces = (double)k->form->chain[r].extent / length;
            if (pieces > PIECES_LEAST && pieces < 2 && 2 / pieces > most) {
                most = 2 / pieces;
                out = r + 1;
            }
        }
    return out;
}

bool dfl_part_cell_range(const dfl_kept_program *k, const cell *x, dfl_geometric_box *range) { return narrow(k, x, range); }

double dfl_part_cells_least(dfl_pattern_bounds *b, const dfl_kept_program *k, dfl_bounded_skeleton *skeleton, double least,
                            double enough)
{
    const dfl_problem *problem = k->form->problem;
    cell_search s = { .b = b, .k = k, .enough = enough };
    cell_list cells = { 0 };
    cell *all = DFL_NEW(b->scratch, cell);
    size_t first = 0;

    all->bound = least;
    for (uint32_t r = 0; r < problem->n_ranks; r++) {
        for (uint32_t a = 0; a < problem->n_axes; a++)
            all->parts[r][a] = (interval){ 1, problem->axis[a].size };
        for (uint32_t i = 0; i < DFL_CELL_CUTS; i++)
            all->length[r][i] = (interval){ 1, problem->extent[r] };
    }
    solve(&s, false, all);
    DFL_PUSH(b->scratch, &cells, all);
    while (cells.at[first]->bound < enough && cells.at[first]->split.is_open && cells.n < DFL_CELLS &&
           !dfl_deadline_passed(b->deadline)) {
        split(&s, &cells, first);
        first = 0;
        for (size_t i = 1; i < cells.n; i++)
            first = cells.at[i]->bound < cells.at[first]->bound ? i : first;
    }
    if (cells.at[first]->bound < enough) {
        if (skeleton->cell == NULL)
            skeleton->cell = DFL_NEW(b->arena, cell);
        *skeleton->cell = *cells.at[first];
    }
    return cells.at[first]->bound;
}
