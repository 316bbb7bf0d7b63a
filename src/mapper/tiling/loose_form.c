#include "mapper/tiling/loose_form.h"

#include <math.h>

#include "mapper/problem/limits.h"

/* Whether the energy does not fall with the iterations of some loops: what a result takes back is taken off what its own keep
   pays, wherever the keep stands. */
static bool grows_with_loops(const dfl_terms *terms)
{
    double sum[DFL_TERMS] = { 0 }, gain[DFL_TERMS] = { 0 };
    bool grows = true;

    for (uint32_t i = 0; i < terms->n; i++) {
        sum[terms->at[i].factor] += terms->at[i].joules;
        gain[terms->at[i].factor] += terms->at[i].joules > 0 ? terms->at[i].joules : 0;
    }
    for (uint32_t i = 0; i < terms->n_factors; i++)
        grows &= terms->factor[i].distinct || sum[i] >= -DFL_FORM_ROUNDING * gain[i];
    return grows;
}

dfl_form *dfl_loose_form_make(dfl_arena *arena, const dfl_problem *problem, const dfl_tiling_template *skeleton, uint32_t kept,
                              dfl_terms *terms)
{
    dfl_tiling_template t = *skeleton;
    dfl_form *form;

    for (uint32_t g = kept; g < t.n_keeps; g++)
        t.allow[g] = 0;
    t.allow[t.n_keeps] = (1u << problem->n_ranks) - 1;
    form = dfl_form_make(arena, problem, &t, terms);
    if (form == NULL)
        return NULL;
    form->n_keeps = kept;
    form->has_known_losses &= grows_with_loops(terms);
    return form;
}

/* The first skeleton of a list. */
typedef struct {
    dfl_tiling_template skeleton;
    bool is_found;
} first_skeleton;

static bool take_first(void *context, const dfl_tiling_template *t)
{
    first_skeleton *out = context;

    out->skeleton = *t;
    out->is_found = true;
    return false;
}

/* The bound of a form by its program. */
static double bound_form(const dfl_loose_solver *k, const dfl_form *form, double value)
{
    const dfl_geometric_effort effort = { .precision = DFL_FORM_PRECISION, .steps = DFL_FORM_STEPS,
                                          .cutoff = dfl_form_goal_cutoff(k->goal, value) };
    dfl_box *boxes[DFL_PROBLEM_RANKS];
    dfl_form_program *program;
    dfl_geometric_box range;

    for (uint32_t r = 0; r < form->problem->n_ranks; r++)
        boxes[r] = dfl_box_make(k->scratch, form, r);
    program = dfl_form_program_make(k->scratch, k->draft, form, boxes, k->goal);
    if (program == NULL)
        return 0;
    dfl_form_program_fit(program, boxes, &range);
    dfl_geometric_solve(program->program, &range, NULL, &effort, k->solution);
    return dfl_form_goal_bound(k->goal, k->solution->bound);
}

double dfl_loose_family_bound(const dfl_loose_solver *solver, const dfl_problem *problem, const dfl_family *family, double value)
{
    first_skeleton first = { .is_found = false };
    const dfl_form *form;
    double bound;

    dfl_templates_of(problem, family, NULL, take_first, &first);
    if (!first.is_found)
        return INFINITY;
    form = dfl_loose_form_make(solver->scratch, problem, &first.skeleton, 0, solver->terms);
    bound = form != NULL ? bound_form(solver, form, value) : 0;
    dfl_arena_reset(solver->scratch);
    return bound;
}
