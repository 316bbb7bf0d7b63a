#include "mapper/join/part_cells.h"

#include <math.h>

#include "mapper/problem/limits.h"
#include "mapper/program/exponential.h"

typedef struct {
    double bound;
    bool is_open;                     /* it can be split: `rank` has up to `most` parts on `axis` in the lower half */
    uint32_t rank, axis;
    int64_t most;
    int64_t low[DFL_PROBLEM_RANKS][DFL_PROBLEM_AXES], high[DFL_PROBLEM_RANKS][DFL_PROBLEM_AXES];
} cell;

typedef DFL_VEC(cell) cell_list;

/* The cut of a rank on an axis; c->n = it has none. */
static uint32_t find_cut(const dfl_chain *c, uint32_t axis)
{
    uint32_t i = 0;

    while (i < c->n && c->at[i].axis != (int)axis)
        i++;
    return i;
}

/* Lowers the upper ends to what the lower ends of the other ranks leave of each axis. False if nothing is left. */
static bool narrow(const dfl_problem *problem, cell *x)
{
    for (uint32_t a = 0; a < problem->n_axes; a++)
        for (uint32_t r = 0; r < problem->n_ranks; r++) {
            int64_t left = problem->axis[a].size;
            for (uint32_t other = 0; other < problem->n_ranks; other++)
                left /= other != r ? x->low[other][a] : 1;
            x->high[r][a] = left < x->high[r][a] ? left : x->high[r][a];
            if (x->high[r][a] < x->low[r][a])
                return false;
        }
    return true;
}

/* Finds the parts that are farthest from whole numbers at a point of the program. */
static void find_split(const dfl_kept_program *k, const double *point, cell *x)
{
    const dfl_problem *problem = k->form->problem;
    double farthest = DFL_CELL_WHOLE;

    x->is_open = false;
    for (uint32_t r = 0; r < problem->n_ranks; r++)
        for (uint32_t a = 0; a < problem->n_axes; a++) {
            const uint32_t cut = find_cut(&k->form->chain[r], a);
            double parts, most, away;
            if (cut == k->form->chain[r].n || x->low[r][a] == x->high[r][a])
                continue;
            parts = dfl_form_program_length(k->program, r, (int)cut - 1, point) -
                    dfl_form_program_length(k->program, r, (int)cut, point);
            dfl_exponentials(&parts, 1, &parts);
            most = fmin(fmax(floor(parts), (double)x->low[r][a]), (double)x->high[r][a] - 1);
            away = fmin(parts / most, (most + 1) / parts) - 1;
            if (away <= farthest)
                continue;
            farthest = away;
            x->is_open = true;
            x->rank = r;
            x->axis = a;
            x->most = (int64_t)most;
        }
}

/* Bounds a cell. */
static void solve(dfl_pattern_bounds *b, const dfl_kept_program *k, double enough, cell *x)
{
    const dfl_form *f = k->form;
    dfl_geometric_solution solution;

    x->is_open = false;
    if (!narrow(f->problem, x)) {
        x->bound = INFINITY;
        return;
    }
    for (uint32_t r = 0; r < f->problem->n_ranks; r++)
        for (uint32_t a = 0; a < f->problem->n_axes; a++) {
            const uint32_t cut = find_cut(&f->chain[r], a);
            if (cut < f->chain[r].n)
                dfl_form_program_limit(k->program, r, cut, x->high[r][a]);
        }
    x->bound = fmax(x->bound, dfl_bounded_solve(b, k, &k->range, NULL, enough, &solution));
    if (x->bound < enough)
        find_split(k, solution.state.x, x);
}

/* Splits a cell: the lower half keeps its place. */
static void split(dfl_pattern_bounds *b, const dfl_kept_program *k, double enough, cell_list *cells, size_t at)
{
    cell upper = cells->at[at];

    cells->at[at].high[upper.rank][upper.axis] = upper.most;
    upper.low[upper.rank][upper.axis] = upper.most + 1;
    solve(b, k, enough, &cells->at[at]);
    solve(b, k, enough, &upper);
    DFL_PUSH(b->scratch, cells, upper);
}

double dfl_part_cells_least(dfl_pattern_bounds *b, const dfl_kept_program *k, double least, double enough)
{
    const dfl_problem *problem = k->form->problem;
    cell_list cells = { 0 };
    cell all = { .bound = least };
    size_t first = 0;

    for (uint32_t r = 0; r < problem->n_ranks; r++)
        for (uint32_t a = 0; a < problem->n_axes; a++) {
            all.low[r][a] = 1;
            all.high[r][a] = problem->axis[a].size;
        }
    solve(b, k, enough, &all);
    DFL_PUSH(b->scratch, &cells, all);
    while (cells.at[first].bound < enough && cells.at[first].is_open && cells.n < DFL_CELLS &&
           !dfl_deadline_passed(b->deadline)) {
        split(b, k, enough, &cells, first);
        first = 0;
        for (size_t i = 1; i < cells.n; i++)
            first = cells.at[i].bound < cells.at[first].bound ? i : first;
    }
    return cells.at[first].bound;
}
