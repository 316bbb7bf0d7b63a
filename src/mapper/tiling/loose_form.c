#include "mapper/tiling/loose_form.h"

#include <math.h>

#include "mapper/problem/limits.h"
#include "mapper/tiling/box_heap.h"

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
    form->has_any_places = true;
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

/* The least cost of a loose form over whole numbers of parts. */
typedef struct {
    const dfl_loose_solver *solver;
    const dfl_form *form;
    double least;             /* the cost so far, or what is known */
    uint32_t left;            /* nodes */
} part_search;

/* Whether each rank may stand on one axis at most. */
static bool has_single_axes(const dfl_problem *problem)
{
    uint32_t seen = 0;
    bool is_single = true;

    for (uint32_t a = 0; a < problem->n_axes; a++) {
        is_single &= (problem->axis[a].ranks & seen) == 0;
        seen |= problem->axis[a].ranks;
    }
    return is_single;
}

/* The relaxed cost of a node. At a point it is that of any mapping with these parts, not of one with the axes of the form. */
static double bound_parts(const part_search *k, dfl_box **boxes)
{
    double others[DFL_FORM_PRODUCTS];

    for (uint32_t r = 0; r < k->form->problem->n_ranks; r++)
        boxes[r]->is_exact = false;
    return dfl_box_multiply(k->form, boxes, 0, others) ? dfl_box_bound(k->solver->costs, k->form, boxes, 0, others) : INFINITY;
}

/* Looks at all parts of a node whose relaxed cost is `bound`. */
static void search_parts(part_search *k, dfl_box **boxes, double bound)
{
    const uint32_t n = k->form->problem->n_ranks, rank = dfl_box_widest(k->form, boxes);
    double of_half[2];
    dfl_box *half[2], *whole;

    if (bound >= k->least || k->left == 0)
        return;
    if (rank == n) {
        k->least = bound;
        return;
    }
    k->left--;
    whole = boxes[rank];
    for (uint32_t side = 0; side < 2; side++) {
        half[side] = boxes[rank] = dfl_box_half(k->solver->scratch, k->form, rank, whole, side);
        of_half[side] = fmax(bound, bound_parts(k, boxes));
    }
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t side = (of_half[1] < of_half[0]) ^ i;
        boxes[rank] = half[side];
        search_parts(k, boxes, of_half[side]);
    }
    boxes[rank] = whole;
}

/* The least cost over whole numbers of parts (lemma B56), if it is below `value`; else `value`. 0 = none is known. */
static double bound_whole_parts(const dfl_loose_solver *solver, const dfl_form *form, double value)
{
    part_search k = { .solver = solver, .form = form, .least = value, .left = DFL_LOOSE_NODES };
    dfl_box *boxes[DFL_PROBLEM_RANKS];

    if (!solver->has_whole_parts || !form->has_known_losses || !has_single_axes(form->problem))
        return 0;
    for (uint32_t r = 0; r < form->problem->n_ranks; r++)
        boxes[r] = dfl_box_make(solver->scratch, form, r);
    search_parts(&k, boxes, bound_parts(&k, boxes));
    return k.left > 0 ? k.least : 0;
}

double dfl_loose_family_bound(const dfl_loose_solver *solver, const dfl_problem *problem, const dfl_family *family, double value)
{
    first_skeleton first = { .is_found = false };
    const dfl_form *form;
    double bound;

    dfl_templates_of(problem, family, NULL, take_first, &first);
    if (!first.is_found)
        return INFINITY;
    form = dfl_loose_form_make(solver->scratch, problem, &first.skeleton, family->n_first, solver->terms);
    bound = form != NULL ? bound_form(solver, form, value) : 0;
    if (form != NULL && bound < value && family->n_first == 0)
        bound = fmax(bound, bound_whole_parts(solver, form, value) * (1 - DFL_FORM_ROUNDING));
    dfl_arena_reset(solver->scratch);
    return bound;
}
