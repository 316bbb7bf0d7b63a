#include "mapper/join/pattern_programs.h"

#include <math.h>

#include "mapper/problem/limits.h"
#include "mapper/tiling/box_bound.h"

dfl_form_goal dfl_bounded_goal(const dfl_pattern_bounds *b, const dfl_bounded_skeleton *s)
{
    dfl_form_goal goal = b->goal;

    goal.is_whole = !dfl_problem_slides(s->candidate->problem);
    goal.has_splits = goal.is_whole;
    goal.firsts = dfl_bounded_has_firsts(b) ? &b->firsts : NULL;
    goal.weights = goal.is_whole ? s->weights->at : NULL;
    goal.has_parts = goal.has_lengths = goal.is_whole && b->has_lengths;
    goal.mixed = goal.has_lengths ? b->mixed[s->candidate->pattern] : 0;
    return goal;
}

dfl_time_weights *dfl_bounded_weights(dfl_pattern_bounds *b, const dfl_problem *problem, uint64_t innermost)
{
    dfl_time_weights *w = DFL_NEW(b->arena, dfl_time_weights);

    *w = (dfl_time_weights){ .problem = problem, .innermost = innermost, .turns = DFL_WEIGHT_TURNS };
    w->at[DFL_FORM_TIME_WORK] = 1;
    DFL_PUSH(b->arena, &b->weights, w);
    return w;
}

dfl_form *dfl_bounded_form(dfl_pattern_bounds *b, dfl_arena *arena, dfl_bounded_skeleton *s)
{
    const dfl_candidate *c = s->candidate;
    dfl_form *form = dfl_form_make(arena, c->problem, c->form, &b->terms);

    s->has_program = form != NULL;
    if (form != NULL)
        form->has_any_places = true;
    return form;
}

bool dfl_bounded_program(dfl_pattern_bounds *b, dfl_arena *arena, const dfl_form *form, const dfl_form_goal *goal,
                         dfl_bounded_skeleton *s, dfl_kept_program *out)
{
    double others[DFL_FORM_PRODUCTS];
    dfl_box *boxes[DFL_PROBLEM_RANKS];
    const dfl_box_costs costs = { .objective = &b->line, .is_whole = goal->is_whole };

    for (uint32_t r = 0; r < form->problem->n_ranks; r++)
        boxes[r] = dfl_box_make(arena, form, r);
    s->is_impossible = !dfl_box_multiply(form, boxes, 0, others) || dfl_box_bound(&costs, form, boxes, 0, others) == INFINITY;
    if (s->is_impossible)
        return false;
    out->form = form;
    out->program = dfl_form_program_make(arena, &b->draft, form, boxes, goal);
    s->has_program = out->program != NULL;
    if (out->program == NULL && goal->has_lengths)
        b->left = 0; /* programs of other skeletons of the class have as many variables */
    if (out->program != NULL)
        dfl_form_program_fit(out->program, boxes, &out->range);
    return s->has_program;
}

double dfl_bounded_precision(const dfl_pattern_bounds *b) { return b->has_lengths ? DFL_CELL_PRECISION : DFL_FORM_PRECISION; }

double dfl_bounded_solve(dfl_pattern_bounds *b, const dfl_kept_program *k, const dfl_geometric_box *range,
                         const dfl_geometric_state *start, double enough, dfl_geometric_solution *out)
{
    const dfl_geometric_effort effort = { .precision = dfl_bounded_precision(b), .steps = DFL_FORM_STEPS,
                                          .cutoff = dfl_form_program_cutoff(k->program, &b->goal, enough) };

    ++*b->programs;
    b->left -= b->has_lengths && b->left > 0 ? 1 : 0;
    dfl_budget_work(b->deadline->budget, DFL_WORK_PROGRAM);
    dfl_geometric_solve(k->program->program, range, start, &effort, out);
    return dfl_form_program_bound(k->program, &b->goal, out->bound);
}

double dfl_bounded_rebate(const dfl_pattern_bounds *b, uint32_t pattern, double bound)
{
    return fmax(bound - b->line.per_joule * b->class->patterns.at[pattern].rebate, 0);
}
