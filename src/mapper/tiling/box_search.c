#include "mapper/skeleton/listing.h"
#include "mapper/tiling/box_search.h"

#include <math.h>

#include "ir/mapping_open.h"
#include "mapper/problem/evaluate.h"
#include "mapper/problem/limits.h"
#include "mapper/skeleton/fixed_skeletons.h"
#include "mapper/tiling/box_bound.h"
#include "mapper/tiling/box_heap.h"
#include "mapper/tiling/box_trim.h"
#include "mapper/tiling/form_program.h"
#include "mapper/tiling/merge.h"
#include "mapper/tiling/point.h"
#include "mapper/tiling/written.h"

/* A latency far above all others, s: an objective that depends on the latency at all is larger there. */
#define SOME_TIME 1e30

/* A problem whose skeletons have forms. */
typedef struct {
    const dfl_problem *problem;
    const dfl_merge *merge;        /* NULL = no axes of the problem are merged */
    const dfl_amounts *divisors;   /* by rank; NULL = any amounts */
} form_source;

/* A form of the search. */
typedef struct {
    const form_source *source;
    const dfl_tiling_template *waiting; /* its skeleton; the form is made when its bound is the least; NULL = it is made */
    dfl_form *form;
    dfl_ramp *ramp;
    dfl_form *real;                /* with the axes of the system; `form` itself if none are merged; NULL = not made */
    dfl_ramp *real_ramp;           /* of `real` */
    dfl_point *point[1 + DFL_PROBLEM_RANKS]; /* loops in the usual order, and by rank with its loop innermost in each gap;
                                                NULL = not prepared */
    dfl_form_program *program;     /* NULL = none */
    dfl_geometric_state *solved;   /* last solution of the program */
    bool is_dived;
} open_form;

typedef struct {
    dfl_arena *arena, *work;
    const dfl_intern *names;
    const dfl_mapping *mapping;
    const dfl_search_limits *limits;
    const dfl_box_start *start;
    dfl_box_costs costs;
    bool has_goal;           /* programs can have the objective */
    dfl_form_goal goal;
    dfl_geometric_draft *draft;
    dfl_geometric_solution solution;
    dfl_terms terms;
    DFL_VEC(open_form) forms;
    dfl_box_heap heap;
    uint64_t reported;       /* nodes that a progress report contains */
    uint64_t effort;         /* skeletons made and nodes split: what a limit on evaluations counts */
    bool is_partial;         /* some skeleton has no form, so the lower bound is not known */
    dfl_arena *trial;        /* of forms that are made for their bound alone */
    const form_source *source; /* of the skeletons that are listed */
    bool has_windows;
    bool is_open_in_time;    /* values of points prove nothing about mappings outside of the skeletons (rules D2 and D3) */
    dfl_box_result *out;
    dfl_deadline deadline;
} box_search;

/* ---- nodes ---- */

/* Whether a node with this bound can have a mapping that is better than the best by more than rounding. */
static bool is_useful(const box_search *s, double bound) { return bound < s->out->value * (1 - DFL_BOX_ROUNDING); }

/* Evaluates a point with one order of the loops in each gap: see open_form. The boxes are those of the form with its own axes. */
static void evaluate_order(box_search *s, const dfl_box_node *node, uint32_t order)
{
    open_form *f = &s->forms.at[node->form];
    const int64_t *amounts[DFL_PROBLEM_RANKS];
    double value;

    if (f->point[order] == NULL)
        f->point[order] = dfl_point_make(s->work, s->names, s->mapping, f->real, order > 0 ? order - 1 : DFL_NONE);
    for (uint32_t r = 0; r < f->real->problem->n_ranks; r++)
        amounts[r] = node->boxes[r]->low;
    s->out->leaves++;
    value = dfl_point_value(f->point[order], s->costs.objective, amounts);
    if (!is_useful(s, value))
        return;
    s->out->value = value;
    dfl_point_costs(f->point[order], &s->out->joules, &s->out->seconds);
    s->out->mapping = dfl_point_copy(s->arena, f->point[order]);
}

/* Whether a loop over the rank has a second iteration. */
static bool is_cut(const dfl_chain *c, const dfl_box *box)
{
    int64_t full = c->extent;
    bool cuts = false;

    for (uint32_t i = 0; i < c->n; i++) {
        const int64_t tile = c->at[i].axis < 0 ? box->low[i] : (full + box->low[i] - 1) / box->low[i];
        cuts |= c->at[i].axis < 0 && tile < full;
        full = tile < full ? tile : full;
    }
    return cuts;
}

/* Evaluates a point among written lines. */
static void evaluate_written(box_search *s, const dfl_box_node *node)
{
    const dfl_form *f = s->forms.at[node->form].form;
    dfl_arena *work = dfl_arena_new(dfl_arena_budget(s->arena));
    const int64_t *amounts[DFL_PROBLEM_RANKS];
    const dfl_mapping *m;
    double value;

    for (uint32_t r = 0; r < f->problem->n_ranks; r++)
        amounts[r] = node->boxes[r]->low;
    s->out->leaves++;
    m = s->start->write(s->start->context, work, f, amounts);
    value = dfl_mapping_value(dfl_arena_budget(s->arena), s->names, m, s->costs.objective);
    if (is_useful(s, value)) {
        s->out->value = value;
        s->out->mapping = dfl_mapping_copy(s->arena, m);
    }
    dfl_arena_free(work);
}

/* Evaluates a point without merged axes. */
static void evaluate_point(box_search *s, const dfl_box_node *node)
{
    const dfl_form *f = s->forms.at[node->form].real;
    uint32_t sliding = 0;

    for (uint32_t o = 0; o < f->problem->n_operands; o++)
        sliding |= f->problem->operand[o].ranks & ~f->problem->operand[o].plain;
    if (s->is_open_in_time || s->has_windows) /* rule D2, lemma B13 */
        s->out->lower_bound = fmin(s->out->lower_bound, node->bound);
    if (s->start->write != NULL) {
        evaluate_written(s, node);
        return;
    }
    evaluate_order(s, node, 0);
    for (uint32_t r = 0; r < f->problem->n_ranks; r++)
        if ((sliding >> r & 1) && is_cut(&f->chain[r], node->boxes[r]))
            evaluate_order(s, node, 1 + r);
}

/* The factorings of a point. */
typedef struct {
    box_search *s;
    const dfl_box_node *node;
    dfl_box_node real;
    DFL_VEC(double) bounds;  /* of those that were evaluated */
} factored_point;

/* Evaluates one factoring of a point. One with the bound of another costs the same, but for what no bound counts (rule D2). */
static void evaluate_factoring(void *context, const int64_t *factor)
{
    factored_point *k = context;
    box_search *s = k->s;
    const open_form *f = &s->forms.at[k->node->form];
    double others[DFL_FORM_PRODUCTS];

    for (uint32_t r = 0; r < f->real->problem->n_ranks; r++) {
        int64_t amounts[DFL_CHAIN_CUTS];
        dfl_merge_amounts(f->form->merge, &f->form->chain[r], k->node->boxes[r]->low,
                          factor + r * f->real->problem->n_axes, amounts);
        k->real.boxes[r] = dfl_box_within(s->work, f->real, r, amounts, amounts);
    }
    s->costs.ramp = f->real_ramp;
    if (!dfl_box_multiply(f->real, k->real.boxes, 0, others))
        return;
    k->real.bound = dfl_box_bound(&s->costs, f->real, k->real.boxes, 0, others);
    for (size_t i = 0; i < k->bounds.n; i++)
        if (k->bounds.at[i] == k->real.bound)
            return;
    if (!is_useful(s, k->real.bound))
        return;
    DFL_PUSH(s->work, &k->bounds, k->real.bound);
    evaluate_point(s, &k->real);
}

/* Makes the form with the axes of the system. */
static bool make_real(box_search *s, open_form *f)
{
    const dfl_tiling_template skeleton = dfl_merge_split(f->form->merge, f->form->skeleton);

    if (f->real != NULL)
        return true;
    f->real = dfl_form_make(s->work, f->form->merge->real, &skeleton, &s->terms);
    if (f->real == NULL)
        return false;
    f->real->divisors = f->form->divisors;
    f->real_ramp = dfl_ramp_make(s->work, s->names, s->mapping, f->real);
    return true;
}

static void evaluate(box_search *s, const dfl_box_node *node)
{
    open_form *f = &s->forms.at[node->form];
    const uint32_t n_ranks = f->form->problem->n_ranks;
    factored_point k = { .s = s, .node = node, .real = *node };
    int64_t parts[DFL_PROBLEM_RANKS * DFL_PROBLEM_AXES];

    if (f->form->merge == NULL) {
        evaluate_point(s, node);
        return;
    }
    if (!make_real(s, f)) {
        s->out->lower_bound = fmin(s->out->lower_bound, node->bound);
        return;
    }
    for (uint32_t r = 0; r < n_ranks; r++)
        dfl_box_parts(f->form, r, node->boxes[r], &parts[r * f->form->problem->n_axes]);
    k.real.boxes = DFL_NEW_ARRAY(s->work, dfl_box *, n_ranks);
    dfl_merge_each(f->form->merge, parts, evaluate_factoring, &k);
}

static void push_copy(box_search *s, const dfl_box_node *node, uint32_t rank, dfl_box *box, double bound)
{
    const uint32_t n = s->forms.at[node->form].form->problem->n_ranks;
    dfl_box_node other = { .bound = bound, .form = node->form, .depth = node->depth + 1,
                       .boxes = DFL_NEW_ARRAY(s->work, dfl_box *, n) };

    for (uint32_t r = 0; r < n; r++)
        other.boxes[r] = r == rank ? box : node->boxes[r];
    dfl_box_heap_push(s->work, &s->heap, other);
}

/* Splits a node. The node becomes its child with the lower bound, and the other child is pushed. A node that is a point is
   evaluated. False if nothing useful is left of the node. */
static bool split(box_search *s, dfl_box_node *node)
{
    const dfl_form *f = s->forms.at[node->form].form;
    const uint32_t rank = dfl_box_widest(f, node->boxes);
    double others[DFL_FORM_PRODUCTS], bound[2];
    dfl_box *half[2], *whole;
    uint32_t lower;

    if (rank == f->problem->n_ranks) {
        evaluate(s, node);
        return false;
    }
    s->out->nodes++;
    dfl_budget_work(s->deadline.budget, DFL_WORK_SPLIT);
    s->effort++;
    s->costs.ramp = s->forms.at[node->form].ramp;
    whole = node->boxes[rank];
    (void)dfl_box_multiply(f, node->boxes, rank, others);
    for (uint32_t side = 0; side < 2; side++) {
        half[side] = node->boxes[rank] = dfl_box_half(s->work, f, rank, whole, side);
        bound[side] = fmax(node->bound, dfl_box_bound(&s->costs, f, node->boxes, rank, others));
        if (f->merge != NULL && is_useful(s, bound[side]) && !dfl_box_factors(f, node->boxes, rank, whole->widest))
            bound[side] = INFINITY;
        if (!is_useful(s, bound[side]))
            s->out->pruned++;
    }
    lower = bound[1] < bound[0];
    if (is_useful(s, bound[!lower]))
        push_copy(s, node, rank, half[!lower], bound[!lower]);
    node->boxes[rank] = half[lower];
    node->bound = bound[lower];
    node->depth++;
    return is_useful(s, node->bound);
}

/* ---- search ---- */

/* Takes amounts out of a node that no mapping better than the best has (rule B23). */
static void trim(box_search *s, dfl_box_node *node, const dfl_box_trim *with)
{
    const dfl_form *f = s->forms.at[node->form].form;
    double others[DFL_FORM_PRODUCTS];

    if (!dfl_box_trim_node(s->work, with, node->boxes)) {
        node->bound = INFINITY;
        return;
    }
    s->costs.ramp = s->forms.at[node->form].ramp;
    (void)dfl_box_multiply(f, node->boxes, 0, others);
    node->bound = fmax(node->bound, dfl_box_bound(&s->costs, f, node->boxes, 0, others));
}

/* Raises the bound of a node to that of the program of its form (lemma B22), as far as it takes to exceed `value`. `start`: a
   solution of another node, or NULL. */
static void raise_bound(box_search *s, dfl_box_node *node, const dfl_geometric_state *start, double value)
{
    const open_form *f = &s->forms.at[node->form];
    const dfl_geometric_effort effort = { .precision = DFL_BOX_PRECISION, .steps = DFL_BOX_PROGRAM_STEPS, .stop_below = true,
                                          .cutoff = dfl_form_goal_cutoff(&s->goal, value) };
    dfl_geometric_box range;

    node->depth = 0;
    if (f->program == NULL)
        return;
    dfl_form_program_fit(f->program, node->boxes, &range);
    dfl_geometric_solve(f->program->program, &range, start, &effort, &s->solution);
    node->bound = fmax(node->bound, dfl_form_goal_bound(&s->goal, s->solution.bound));
    if (s->solution.reason == DFL_GEOMETRIC_INFEASIBLE)
        return;
    *f->solved = s->solution.state;
    if (is_useful(s, node->bound) && effort.cutoff < INFINITY)
        trim(s, node, &(dfl_box_trim){ f->program, &s->solution.plane, &range, effort.cutoff });
}

/* The skeleton with what it points to. Of written lines, each axis comes just above the first keep inside of it: where it stands
   changes no tile outside of it, if amounts divide (rule D6). */
static dfl_tiling_template copy_skeleton(const box_search *s, const dfl_tiling_template *t)
{
    dfl_tiling_template out = *t;

    if (t->form == NULL)
        return out;
    out.form = dfl_fixed_skeleton_copy(s->work, t->form);
    for (uint32_t a = 0; a < s->source->problem->n_axes; a++) {
        out.axis_gap[a] = 0;
        while (out.axis_gap[a] < t->n_keeps && !(s->source->problem->place[t->keep[out.axis_gap[a]].place].axes >> a & 1))
            out.axis_gap[a]++;
    }
    return out;
}

/* Makes a form, and the node of all its amounts, in an arena. False if there is no form. */
static bool make_form(box_search *s, dfl_arena *arena, const dfl_tiling_template *skeleton, open_form *f, dfl_box_node *root)
{
    const dfl_problem *problem = f->source->problem;
    double others[DFL_FORM_PRODUCTS];

    f->form = dfl_form_make(arena, problem, skeleton, &s->terms);
    if (f->form == NULL)
        return false;
    f->form->divisors = f->source->divisors;
    f->form->merge = f->source->merge;
    f->real = f->source->merge == NULL ? f->form : NULL;
    if (s->start->is_whole && (f->form->written = dfl_written_list(arena, problem, skeleton, s->start->imperfect)) == NULL)
        return false;
    root->boxes = DFL_NEW_ARRAY(arena, dfl_box *, problem->n_ranks);
    for (uint32_t r = 0; r < problem->n_ranks; r++)
        root->boxes[r] = dfl_box_make(arena, f->form, r);
    root->bound = INFINITY;
    if (!dfl_box_multiply(f->form, root->boxes, 0, others))
        return true;
    f->ramp = skeleton->form == NULL ? dfl_ramp_make(arena, s->names, s->mapping, f->form) : NULL; /* B6 to B9, B14 move keeps */
    s->goal.ramp = s->costs.ramp = f->ramp;
    root->bound = dfl_box_bound(&s->costs, f->form, root->boxes, 0, others);
    return true;
}

/* Makes the program of a form, and raises the bound of the node of all its amounts. */
static void solve_form(box_search *s, dfl_box_node *root)
{
    open_form *f = &s->forms.at[root->form];

    if (!s->has_goal)
        return;
    f->program = dfl_form_program_make(s->work, s->draft, f->form, root->boxes, &s->goal);
    f->solved = DFL_NEW(s->work, dfl_geometric_state);
    raise_bound(s, root, NULL, s->start->mapping != NULL ? s->start->value : INFINITY);
}

/* Adds a skeleton. Of most the search needs no more than the bound, so their forms, some kilobytes each, wait (`waiting`). */
static bool add_form(void *context, const dfl_tiling_template *t)
{
    box_search *s = context;
    const bool waits = t->form == NULL && !s->start->is_whole;
    const dfl_tiling_template skeleton = copy_skeleton(s, t);
    dfl_box_node root = { .form = (uint32_t)s->forms.n };
    open_form f = { .source = s->source };

    s->effort++;
    if (!make_form(s, waits ? s->trial : s->work, &skeleton, &f, &root)) {
        s->is_partial = true;
        return false;
    }
    if (waits) {
        dfl_arena_reset(s->trial);
        f = (open_form){ .source = s->source };
    }
    if (root.bound == INFINITY)
        return true;
    if (waits) {
        dfl_tiling_template *copy = DFL_NEW(s->work, dfl_tiling_template);
        *copy = skeleton;
        f.waiting = copy;
        root.boxes = NULL;
    }
    DFL_PUSH(s->work, &s->forms, f);
    if (!waits)
        solve_form(s, &root);
    dfl_box_heap_push(s->work, &s->heap, root);
    return true;
}

/* Makes the forms that wait at the top of the heap, until the first node has a form: the nodes come in the order that they had if
   no form waited. */
static void make_first(box_search *s)
{
    dfl_budget *budget = s->deadline.budget;
    const bool is_timed = budget == NULL || budget->work == NULL; /* else forms take no time, and run() looks at the limit */

    while (s->heap.nodes.n > 0 && s->forms.at[s->heap.nodes.at[0].form].waiting != NULL && s->deadline.why == DFL_STOP_NONE) {
        dfl_box_node node = dfl_box_heap_pop(&s->heap);
        open_form *f = &s->forms.at[node.form];
        (void)make_form(s, s->work, f->waiting, f, &node);
        f->waiting = NULL;
        solve_form(s, &node);
        dfl_box_heap_put_back(s->work, &s->heap, node);
        if (is_timed && s->deadline.at > 0 && dfl_budget_time(budget) >= s->deadline.at)
            s->deadline.why = DFL_STOP_TIME;
        else if (!dfl_budget_spend(budget, 0))
            s->deadline.why = budget->why;
    }
}

/* Takes the first node; one is left, with a form, and so has the next. */
static dfl_box_node take_first(box_search *s)
{
    const dfl_box_node out = dfl_box_heap_pop(&s->heap);

    make_first(s);
    return out;
}

/* Raises the bound of a node. If it is no longer the least, the node goes back to the heap, or is pruned; then false. */
static bool is_next(box_search *s, dfl_box_node *node)
{
    raise_bound(s, node, s->forms.at[node->form].solved, s->out->value);
    if (!is_useful(s, node->bound))
        return false;
    if (s->heap.nodes.n == 0 || node->bound <= s->heap.nodes.at[0].bound)
        return true;
    dfl_box_heap_push(s->work, &s->heap, *node);
    return false;
}

/* Reports how far the search is: `bound` is the lower bound of all nodes. */
static void report_progress(box_search *s, double bound)
{
    dfl_progress_meter *meter = s->limits->progress;

    if (meter == NULL || meter->show == NULL || s->out->nodes - s->reported < DFL_BOX_REPORT)
        return;
    meter->now.phase = "boxes";
    meter->now.bound = fmin(bound, s->out->lower_bound);
    if (s->out->value < INFINITY)
        meter->now.best = s->out->value;
    dfl_progress_add(meter, s->out->nodes - s->reported);
    s->reported = s->out->nodes;
}

/* Takes nodes from the heap until none is useful, or the deadline passes. Then sets the lower bound. */
static void run(box_search *s)
{
    make_first(s);
    while (s->heap.nodes.n > 0 && is_useful(s, s->heap.nodes.at[0].bound) && !dfl_deadline_passed(&s->deadline)) {
        if (dfl_gap_reached(s->limits, s->out->value, s->heap.nodes.at[0].bound)) {
            s->deadline.why = DFL_STOP_GAP;
            break;
        }
        report_progress(s, s->heap.nodes.at[0].bound);
        dfl_box_node node = take_first(s);
        open_form *f = &s->forms.at[node.form];
        if (node.depth >= DFL_BOX_RENEW && !is_next(s, &node))
            continue;
        if (!f->is_dived || s->out->nodes % DFL_BOX_DIVE == 0) {
            f->is_dived = true;
            while (split(s, &node)) {
            }
        } else {
            bool is_left = split(s, &node);
            while (is_left && s->heap.nodes.n > 0 && node.bound <= s->heap.nodes.at[0].bound)
                is_left = split(s, &node);
            if (is_left)
                dfl_box_heap_push(s->work, &s->heap, node);
        }
    }
    if (s->heap.nodes.n > 0)
        s->out->lower_bound = fmin(s->heap.nodes.at[0].bound, s->out->lower_bound);
    s->out->lower_bound = fmin(s->out->lower_bound, s->out->value);
}

/* Whether the objective depends on the latency, by itself or by leakage, and this on the order of loops and keeps. */
static bool is_open_in_time(const box_search *s, const dfl_problem *const *problems, uint32_t n_problems)
{
    const dfl_objective *o = s->costs.objective;
    bool is_counted = true;

    for (uint32_t j = 0; j < n_problems; j++)
        is_counted &= dfl_ramp_time_is_counted(s->mapping, problems[j]);
    return !is_counted && (s->costs.leakage > 0 || dfl_objective_value(o, 1, 0) < dfl_objective_value(o, 1, SOME_TIME));
}

/* The objective of the units alone, at full work: a lower bound whatever the skeletons. */
static double bound_units(const box_search *s, const dfl_problem *const *problems, uint32_t n_problems)
{
    double bound = INFINITY;

    for (uint32_t j = 0; j < n_problems; j++) {
        const dfl_problem *problem = problems[j];
        double seconds = problem->seconds * problem->points;
        for (uint32_t a = 0; a < problem->n_axes; a++)
            seconds /= (double)problem->axis[a].size;
        bound = fmin(bound, dfl_objective_value(s->costs.objective,
                                                problem->points * problem->joules + s->costs.leakage * seconds, seconds));
    }
    return bound;
}

static const dfl_amounts *list_divisors(dfl_arena *arena, const dfl_problem *problem)
{
    dfl_amounts *out = DFL_NEW_ARRAY(arena, dfl_amounts, problem->n_ranks);

    for (uint32_t r = 0; r < problem->n_ranks; r++)
        out[r] = dfl_divisors(arena, problem->extent[r]);
    return out;
}

bool dfl_box_handles(const dfl_mapping *mapping, const dfl_problem *problem, bool divides)
{
    const bool is_open = dfl_mapping_all_lines_open(mapping) && problem->given == NULL;

    if (mapping->workload->n_einsums != 1 || problem->n_ranks == 0 || (!is_open && (!divides || problem->windows)))
        return false;
    for (uint32_t o = 0; o < problem->n_operands; o++) {
        const dfl_problem_operand *operand = &problem->operand[o];
        if (operand->shared || operand->common || (operand->output && operand->ranks != operand->plain))
            return false;
    }
    return true;
}

dfl_box_result *dfl_box_search(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping,
                               const dfl_problem *const *problems, uint32_t n_problems,
                               const dfl_objective *objective, const dfl_search_limits *limits, const dfl_box_start *start)
{
    box_search *s = DFL_NEW(arena, box_search);
    dfl_listing listing;

    *s = (box_search){ .arena = arena, .work = dfl_arena_new(dfl_arena_budget(arena)),
                       .trial = dfl_arena_new(dfl_arena_budget(arena)), .names = names, .mapping = mapping,
                       .limits = limits, .start = start,
                       .costs = { .objective = objective, .leakage = dfl_system_leakage(mapping->system) },
                       .out = DFL_NEW(arena, dfl_box_result) };
    for (uint32_t j = 0; j < n_problems; j++)
        s->has_windows |= problems[j]->windows;
    s->costs.is_whole = start->divides && !s->has_windows; /* parts of windows stay */
    s->has_goal = dfl_form_goal_make(objective, s->costs.leakage, &s->goal);
    s->goal.is_whole = s->costs.is_whole;
    s->draft = DFL_NEW(s->work, dfl_geometric_draft);
    *s->out = (dfl_box_result){ .value = INFINITY, .lower_bound = INFINITY };
    if (start->mapping != NULL) {
        s->out->mapping = start->mapping;
        s->out->value = start->value;
        s->out->joules = start->joules;
        s->out->seconds = start->seconds;
    }
    s->is_open_in_time = !start->is_whole && is_open_in_time(s, problems, n_problems); /* else each mapping is a point */
    s->deadline = (dfl_deadline){ .budget = dfl_arena_budget(arena), .at = limits->deadline, .counter = &s->effort,
                                  .most_evaluations = limits->evaluations };
    dfl_listing_begin(&listing, &s->deadline, limits->evaluations);
    for (uint32_t j = 0; j < n_problems; j++) {
        form_source *source = DFL_NEW(s->work, form_source);
        source->merge = start->write == NULL ? dfl_merge_make(s->work, problems[j]) : NULL;
        source->problem = source->merge == NULL ? problems[j] : source->merge->problem;
        source->divisors = start->divides ? list_divisors(s->work, problems[j]) : NULL;
        s->source = source;
        if (problems[j]->given != NULL)
            dfl_fixed_lines_each(problems[j], &s->deadline, add_form, s);
        else
            dfl_templates_each(problems[j], &s->deadline, add_form, s);
    }
    dfl_listing_end(&listing, &s->deadline);
    s->out->units = bound_units(s, problems, n_problems);
    if (s->deadline.why == DFL_STOP_NONE && !s->is_partial)
        run(s);
    else
        s->out->lower_bound = s->out->units;
    s->out->stopped = s->deadline.why;
    s->out->is_least = s->deadline.why == DFL_STOP_NONE && !s->is_partial;
    s->out->is_complete = s->out->is_least && !is_useful(s, s->out->lower_bound);
    s->out->is_least &= !s->has_windows || s->out->is_complete;
    for (size_t i = 0; i < s->forms.n; i++)
        for (uint32_t order = 0; order <= DFL_PROBLEM_RANKS; order++)
            if (s->forms.at[i].point[order] != NULL)
                dfl_point_free(s->forms.at[i].point[order]);
    dfl_arena_free(s->trial);
    dfl_arena_free(s->work);
    return s->out;
}
