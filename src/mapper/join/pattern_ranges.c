#include "mapper/join/pattern_ranges.h"

#include <math.h>

#include "mapper/join/pattern_programs.h"
#include "mapper/problem/limits.h"
#include "mapper/program/exponential.h"

/* The keep in which an operand is exchanged; n_keeps = it is exchanged in its home. */
static uint32_t find_exchange(const dfl_tiling_template *t, uint32_t operand)
{
    uint32_t i = 0;

    while (i < t->n_keeps && !(t->keep[i].home && t->keep[i].operand == operand))
        i++;
    return i;
}

/* The last cut of a rank above a keep, -1 = none; false if an axis stands there. */
static bool find_cut(const dfl_chain *c, uint32_t keep, int *cut)
{
    *cut = -1;
    for (uint32_t i = 0; i < c->n && c->at[i].gap <= keep; i++) {
        if (c->at[i].axis >= 0)
            return false;
        *cut = (int)i;
    }
    return true;
}

/* Narrows the range of a program to ranges of tiles. False if nothing is left. */
static bool narrow(const dfl_kept_program *k, const dfl_exchanged_tiles *tiles, dfl_geometric_box *range)
{
    const dfl_form *f = k->form;

    for (uint32_t o = 0; o < f->problem->n_operands; o++) {
        const dfl_problem_operand *op = &f->problem->operand[o];
        const uint32_t keep = find_exchange(f->skeleton, o);
        for (uint32_t d = 0; d < op->n_dims && keep < f->n_keeps; d++) {
            const uint32_t r = op->dims[d].rank[0];
            int cut;
            if (op->dims[d].n != 1 || !find_cut(&f->chain[r], keep, &cut))
                continue;
            if (!dfl_form_program_narrow(k->program, r, cut, tiles->low[o][d], tiles->high[o][d], range))
                return false;
        }
    }
    return true;
}

static void find_point(const dfl_kept_program *k, const dfl_geometric_state *state, dfl_exchanged_point *out)
{
    const dfl_form *f = k->form;

    for (uint32_t o = 0; o < f->problem->n_operands; o++) {
        const dfl_problem_operand *op = &f->problem->operand[o];
        const uint32_t keep = find_exchange(f->skeleton, o);
        for (uint32_t d = 0; d < op->n_dims && keep < f->n_keeps; d++) {
            int cut;
            if (op->dims[d].n == 1 && find_cut(&f->chain[op->dims[d].rank[0]], keep, &cut))
                out->at[o][d] = dfl_form_program_length(k->program, op->dims[d].rank[0], cut, state->x);
        }
    }
}

static void forget_point(dfl_exchanged_point *point)
{
    for (uint32_t o = 0; o < DFL_PROBLEM_OPERANDS; o++)
        for (uint32_t d = 0; d < DFL_PROBLEM_DIMS; d++)
            point->at[o][d] = NAN;
}

/* Keeps the program of a skeleton. */
static void keep_program(dfl_pattern_bounds *b, dfl_bounded_skeleton *s)
{
    const dfl_form *form = s->is_impossible ? NULL : dfl_bounded_form(b, b->arena, s);
    dfl_form_goal goal = dfl_bounded_goal(b, s);
    dfl_kept_program *k = DFL_NEW(b->arena, dfl_kept_program);

    goal.has_others = true;
    if (form == NULL || !goal.is_whole || !dfl_bounded_program(b, b->arena, form, &goal, s, k))
        return;
    k->has_plane = false;
    s->kept = k;
}

/* Leaves a program the room that others do not take. False if that is none. */
static bool take_room(const dfl_kept_program *k, const double *taken)
{
    const dfl_problem *problem = k->form->problem;
    bool is_left = true;

    for (uint32_t place = 0; place < problem->n_places; place++) {
        const double share = taken != NULL ? taken[problem->place[place].memory] / problem->place[place].bits : 0;
        if (k->program->others[place] == DFL_FORM_NO_VAR)
            continue;
        is_left &= share < 1;
        dfl_form_program_take(k->program, place, share * (1 - DFL_LINES_ROUNDING));
    }
    return is_left;
}

double dfl_pattern_bounds_within(dfl_pattern_bounds *b, uint32_t pattern, const dfl_exchanged_tiles *tiles,
                                 const double *taken, dfl_exchanged_point *point)
{
    double least = INFINITY;

    forget_point(point);
    for (uint32_t i = b->first[pattern]; i < b->first[pattern + 1] && b->sorted[i]->least < least; i++) {
        dfl_bounded_skeleton *s = b->sorted[i];
        dfl_geometric_solution solution;
        dfl_geometric_box range;
        double bound = s->least;
        if (dfl_deadline_passed(b->deadline))
            return 0;
        if (s->kept == NULL && s->has_program && !b->has_lengths) /* no bounds of ranges beside those over lengths (B58) */
            keep_program(b, s);
        if (s->is_impossible)
            continue;
        if (s->kept == NULL) {
            least = bound;
            forget_point(point);
            continue;
        }
        range = s->kept->range;
        if (!narrow(s->kept, tiles, &range) || !take_room(s->kept, taken))
            continue;
        if (s->kept->has_plane)
            bound = fmax(bound, dfl_form_goal_bound(&b->goal, dfl_geometric_least(s->kept->program->program, &s->kept->plane,
                                                                                  &range)));
        if (bound >= least)
            continue;
        bound = fmax(bound, dfl_bounded_solve(b, s->kept, &range, s->kept->has_plane ? &s->kept->state : NULL, least,
                                              &solution));
        if (solution.reason != DFL_GEOMETRIC_INFEASIBLE && taken == NULL) { /* else it holds for this room alone */
            s->kept->has_plane = true;
            s->kept->plane = solution.plane;
            s->kept->state = solution.state;
        }
        if (bound < least) {
            least = bound;
            forget_point(point);
            find_point(s->kept, &solution.state, point);
        }
    }
    return dfl_bounded_rebate(b, pattern, least);
}
