#include "mapper/tiling/box_search.h"

#include <math.h>

#include "ir/mapping_open.h"
#include "mapper/problem/floor.h"
#include "mapper/program/exponential.h"
#include "mapper/skeleton/fixed_skeletons.h"
#include "mapper/skeleton/listing.h"
#include "mapper/tiling/box_points.h"
#include "mapper/tiling/box_trim.h"
#include "mapper/tiling/loose_form.h"
#include "mapper/tiling/written.h"

/* A latency far above all others, s: an objective that depends on the latency at all is larger there. */
#define SOME_TIME 1e30

/* Keeps without an order up to which all their orders, at most 24, are listed: bounds by outermost keeps (B76) save little. */
enum { DFL_BOX_LISTED = 4 };
/* Skeletons made and nodes split (`effort`) between two descents from a family to a mapping: a descent solves some ten programs
   and goes down one path of boxes. */
enum { DFL_BOX_DESCENT = 2048 };

/* ---- nodes ---- */

static void push_copy(dfl_box_run *s, const dfl_box_node *node, uint32_t rank, dfl_box *box, double bound)
{
    const uint32_t n = s->forms.at[node->form].form->problem->n_ranks;
    dfl_box_node other = { .bound = bound, .form = node->form, .depth = node->depth + 1,
                       .boxes = DFL_NEW_ARRAY(s->work, dfl_box *, n) };

    for (uint32_t r = 0; r < n; r++)
        other.boxes[r] = r == rank ? box : node->boxes[r];
    dfl_box_heap_push(s->work, &s->heap, other);
}

/* Whether the amount of a cut at a point of the program of a form is closer to the upper one of two halves of a box. */
static bool is_upper(const dfl_open_form *f, uint32_t rank, uint32_t cut, const dfl_box *lower, const dfl_box *upper)
{
    const double *x = f->solved->x, length = dfl_form_program_length(f->program, rank, (int)cut, x);
    double amount = f->form->chain[rank].at[cut].axis < 0 ? length
        : dfl_form_program_length(f->program, rank, (int)cut - 1, x) - length;

    amount = fmin(fmax(amount, 0), DFL_EXPONENT_MAX);
    dfl_exponentials(&amount, 1, &amount);
    return fabs((double)upper->low[cut] - amount) < fabs(amount - (double)lower->high[cut]);
}

/* Splits a node. The node becomes its child with the lower bound, or if `is_guided` the one that is closer to the last solution
   of the program of its form, and the other child is pushed. A node that is a point is evaluated. False if nothing useful is
   left of the node. */
static bool split(dfl_box_run *s, dfl_box_node *node, bool is_guided)
{
    const dfl_form *f = s->forms.at[node->form].form;
    const uint32_t rank = dfl_box_widest(f, node->boxes);
    double others[DFL_FORM_PRODUCTS], bound[2];
    dfl_box *half[2], *whole;
    uint32_t lower;

    if (rank == f->problem->n_ranks) {
        dfl_box_evaluate(s, node);
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
        if (f->merge != NULL && dfl_box_is_useful(s, bound[side]) && !dfl_box_factors(f, node->boxes, rank, whole->widest))
            bound[side] = INFINITY;
        if (!dfl_box_is_useful(s, bound[side]))
            s->out->pruned++;
    }
    lower = bound[1] < bound[0];
    if (is_guided && dfl_box_is_useful(s, bound[0]) && dfl_box_is_useful(s, bound[1]))
        lower = is_upper(&s->forms.at[node->form], rank, whole->widest, half[0], half[1]);
    if (dfl_box_is_useful(s, bound[!lower]))
        push_copy(s, node, rank, half[!lower], bound[!lower]);
    node->boxes[rank] = half[lower];
    node->bound = bound[lower];
    node->depth++;
    return dfl_box_is_useful(s, node->bound);
}

/* ---- search ---- */

/* The arena of the program of a form. That of a form whose skeleton still waits is reset behind each bound. */
static dfl_arena *home_of(const dfl_box_run *s, const dfl_open_form *f) { return f->waiting != NULL ? s->trial : s->work; }

/* Takes amounts out of a node that no mapping better than the best has (rule B23). */
static void trim(dfl_box_run *s, const dfl_open_form *open, dfl_box_node *node, const dfl_box_trim *with)
{
    const dfl_form *f = open->form;
    double others[DFL_FORM_PRODUCTS];

    if (!dfl_box_trim_node(home_of(s, open), with, node->boxes)) {
        node->bound = INFINITY;
        return;
    }
    s->costs.ramp = open->ramp;
    (void)dfl_box_multiply(f, node->boxes, 0, others);
    node->bound = fmax(node->bound, dfl_box_bound(&s->costs, f, node->boxes, 0, others));
}

/* Raises the bound of a node to that of the program of its form (lemma B22), as far as it takes to exceed `value`. `start`: a
   solution of another node, or NULL. */
static void raise_bound(dfl_box_run *s, const dfl_open_form *f, dfl_box_node *node, const dfl_geometric_state *start,
                        double value)
{
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
    if (dfl_box_is_useful(s, node->bound) && effort.cutoff < INFINITY)
        trim(s, f, node, &(dfl_box_trim){ f->program, &s->solution.plane, &range, effort.cutoff });
}

/* The skeleton with what it points to. Of written lines, each axis comes just above the first keep inside of it: where it stands
   changes no tile outside of it, if amounts divide (rule D6). */
static dfl_tiling_template copy_skeleton(const dfl_box_run *s, const dfl_tiling_template *t)
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
static bool make_form(dfl_box_run *s, dfl_arena *arena, const dfl_tiling_template *skeleton, dfl_open_form *f, dfl_box_node *root)
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
static void solve_form(dfl_box_run *s, dfl_open_form *f, dfl_box_node *root)
{
    dfl_arena *arena = home_of(s, f);

    if (!s->has_goal)
        return;
    f->program = dfl_form_program_make(arena, s->draft, f->form, root->boxes, &s->goal);
    f->solved = DFL_NEW(arena, dfl_geometric_state);
    raise_bound(s, f, root, NULL, s->start->mapping != NULL ? s->start->value : INFINITY);
}

/* Adds a skeleton. Of most the search needs no more than the bound, so their forms, some kilobytes each, wait (`waiting`). */
static bool add_form(void *context, const dfl_tiling_template *t)
{
    dfl_box_run *s = context;
    const bool waits = t->form == NULL && !s->start->is_whole;
    const dfl_tiling_template skeleton = copy_skeleton(s, t);
    dfl_box_node root = { .form = (uint32_t)s->forms.n };
    dfl_open_form f = { .source = s->source };

    s->effort++;
    if (!make_form(s, waits ? s->trial : s->work, &skeleton, &f, &root)) {
        s->is_partial = true;
        return false;
    }
    if (waits) {
        dfl_arena_reset(s->trial);
        f = (dfl_open_form){ .source = s->source };
    }
    root.bound = fmax(root.bound, s->least);
    if (!dfl_box_is_useful(s, root.bound)) {
        s->out->pruned++;
        return true;
    }
    if (waits) {
        dfl_tiling_template *copy = DFL_NEW(s->work, dfl_tiling_template);
        *copy = skeleton;
        f.waiting = copy;
        root.boxes = NULL;
    }
    DFL_PUSH(s->work, &s->forms, f);
    if (!waits)
        solve_form(s, &s->forms.at[root.form], &root);
    dfl_box_heap_push(s->work, &s->heap, root);
    return true;
}

/* Adds a family to the heap, as a node without boxes. `least`: a lower bound of it. */
static void push_family(dfl_box_run *s, const dfl_form_source *source, const dfl_family *family, double least)
{
    const double bound = family->n_first > 0 ? least
        : fmax(least, dfl_family_bound(source->problem, s->costs.objective, s->costs.leakage, family));
    dfl_family *copy;

    if (!dfl_box_is_useful(s, bound)) {
        s->out->pruned++;
        return;
    }
    copy = DFL_NEW(s->work, dfl_family);
    *copy = *family;
    dfl_box_heap_push(s->work, &s->heap, (dfl_box_node){ .bound = bound, .form = (uint32_t)s->forms.n });
    DFL_PUSH(s->work, &s->forms, ((dfl_open_form){ .source = source, .family = copy }));
}

/* Raises the bound of a family, once. False if it is no longer the least: then the family is put back, or pruned. */
static bool is_next_family(dfl_box_run *s, dfl_box_node *node)
{
    dfl_open_form *f = &s->forms.at[node->form];
    const dfl_loose_solver solver = { &s->goal, &s->costs, f->source->merge == NULL, s->trial, s->draft, &s->solution,
                                      &s->terms };

    if (f->is_loose || !s->has_goal)
        return true;
    f->is_loose = true;
    s->effort++;
    s->goal.ramp = s->costs.ramp = NULL;
    node->bound = fmax(node->bound, dfl_loose_family_bound(&solver, f->source->problem, f->family, s->out->value));
    if (dfl_box_is_useful(s, node->bound))
        dfl_box_heap_put_back(s->work, &s->heap, *node);
    else
        s->out->pruned++;
    return false;
}

/* Keeps of an operand among the outermost ones of a family. */
static uint32_t count_of(const dfl_family *family, uint32_t operand)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < family->n_first; i++)
        n += family->first[i] == operand;
    return n;
}

/* Chooses a keep of an operand as the next one of a family. False if all its keeps are chosen. */
static bool extend(const dfl_family *family, uint32_t operand, dfl_family *next)
{
    *next = *family;
    next->first[next->n_first++] = (uint8_t)operand;
    return count_of(next, operand) <= (uint32_t)__builtin_popcount(family->kept[operand]);
}

/* Adds the families whose next keep is chosen, too. */
static void choose_next(dfl_box_run *s, const dfl_form_source *source, const dfl_family *family, double least)
{
    for (uint32_t o = 0; o < family->n; o++) {
        dfl_family next;
        if (extend(family, o, &next))
            push_family(s, source, &next, least);
    }
}

/* Keeps of a family whose order is not chosen. */
static uint32_t count_left(const dfl_family *family)
{
    uint32_t n = 0;

    for (uint32_t o = 0; o < family->n; o++)
        n += (uint32_t)__builtin_popcount(family->kept[o]);
    return n - family->n_first;
}

/* Follows a node down to a point. */
static void dive(dfl_box_run *s, dfl_box_node *node)
{
    dfl_open_form *f = &s->forms.at[node->form];
    const bool is_guided = f->program != NULL;

    f->is_dived = true;
    while (split(s, node, is_guided)) {
        if (!is_guided || node->depth < DFL_BOX_RENEW)
            continue;
        raise_bound(s, f, node, f->solved, s->out->value);
        if (!dfl_box_is_useful(s, node->bound))
            return;
    }
}

/* Follows a family down to a mapping: the next keep is the one with the least bound. All families on the way go to the heap, so
   the forms that are made here come a second time. */
static void descend(dfl_box_run *s, const dfl_form_source *source, dfl_family family)
{
    const dfl_loose_solver solver = { &s->goal, &s->costs, source->merge == NULL, s->trial, s->draft, &s->solution, &s->terms };
    const size_t n = s->forms.n;
    dfl_box_node root = { .form = 0 };
    dfl_open_form made;

    s->goal.ramp = s->costs.ramp = NULL;
    while (count_left(&family) > DFL_BOX_LISTED) {
        dfl_family best = family;
        double least = INFINITY;
        for (uint32_t o = 0; o < family.n; o++) {
            dfl_family next;
            double bound;
            if (!extend(&family, o, &next))
                continue;
            bound = dfl_loose_family_bound(&solver, source->problem, &next, s->out->value);
            if (bound < least) {
                least = bound;
                best = next;
            }
        }
        if (best.n_first == family.n_first)
            return;
        family = best;
    }
    s->source = source;
    s->least = 0;
    dfl_templates_of(source->problem, &family, &s->deadline, add_form, s);
    if (s->forms.n == n)
        return;
    made = (dfl_open_form){ .source = source };
    root.form = (uint32_t)s->forms.n;
    (void)make_form(s, s->work, s->forms.at[n].waiting, &made, &root);
    DFL_PUSH(s->work, &s->forms, made);
    solve_form(s, &s->forms.at[root.form], &root);
    if (dfl_box_is_useful(s, root.bound))
        dive(s, &root);
}

/* Lists the skeletons of a family. If a limit ends the list, the family stays in the heap, with its bound. */
static void list_family(dfl_box_run *s, dfl_box_node *node)
{
    const dfl_open_form *f = &s->forms.at[node->form];

    if (!is_next_family(s, node))
        return;
    s->of_families = fmin(s->of_families, node->bound);
    if (s->has_goal && s->costs.is_whole && count_left(f->family) > DFL_BOX_LISTED) {
        const dfl_form_source *source = f->source;
        const dfl_family family = *f->family;
        choose_next(s, source, &family, node->bound);
        if (s->effort >= s->descent) {
            descend(s, source, family);
            s->descent = s->effort + DFL_BOX_DESCENT;
        }
        return;
    }
    s->source = f->source;
    s->least = node->bound;
    dfl_templates_of(f->source->problem, f->family, &s->deadline, add_form, s);
    if (s->deadline.why != DFL_STOP_NONE || s->is_partial)
        dfl_box_heap_put_back(s->work, &s->heap, *node);
}

/* Opens the family of a node: lists its skeletons, or the families with one operand more whose memories are chosen. */
static void open_family(dfl_box_run *s, dfl_box_node *node)
{
    const dfl_form_source *source = s->forms.at[node->form].source;
    const dfl_problem *problem = source->problem;
    const dfl_problem_operand *o;
    dfl_family next = *s->forms.at[node->form].family;
    uint32_t rest;

    if (next.n == problem->n_operands) {
        list_family(s, node);
        return;
    }
    o = &problem->operand[next.n++];
    rest = o->places & ~((2u << o->home) - 1);
    for (uint32_t sub = rest;; sub = (sub - 1) & rest) {
        next.kept[next.n - 1] = sub;
        push_family(s, source, &next, node->bound);
        if (sub == 0)
            return;
    }
}

/* Whether a node waits for its form. */
static bool is_waiting(const dfl_open_form *f) { return f->family != NULL || f->waiting != NULL; }

/* Raises the bound of a form that waits by its program, which is not kept: few forms are split after that. */
static void raise_waiting(dfl_box_run *s, dfl_box_node *node)
{
    dfl_open_form *f = &s->forms.at[node->form], tried = *f;
    const double least = node->bound; /* that of the family may be larger than that of the form */

    f->is_bounded = true;
    (void)make_form(s, s->trial, f->waiting, &tried, node);
    node->bound = fmax(node->bound, least);
    solve_form(s, &tried, node);
    node->boxes = NULL;
    dfl_arena_reset(s->trial);
    if (dfl_box_is_useful(s, node->bound))
        dfl_box_heap_put_back(s->work, &s->heap, *node);
    else
        s->out->pruned++;
}

/* Makes the form of a skeleton that waits, in the arena that lasts until the end of the search. */
static void make_waiting(dfl_box_run *s, dfl_box_node *node)
{
    dfl_open_form *f = &s->forms.at[node->form];
    const double least = node->bound;

    (void)make_form(s, s->work, f->waiting, f, node);
    node->bound = fmax(node->bound, least);
    f->waiting = NULL;
    solve_form(s, f, node);
    dfl_box_heap_put_back(s->work, &s->heap, *node);
}

/* Opens the families and makes the forms that wait at the top of the heap, until the first node has a form: the nodes come in the
   order that they had if none waited. */
static void make_first(dfl_box_run *s)
{
    dfl_budget *budget = s->deadline.budget;
    const bool is_timed = budget == NULL || budget->work == NULL; /* else forms take no time, and run() looks at the limit */

    while (s->heap.nodes.n > 0 && is_waiting(&s->forms.at[s->heap.nodes.at[0].form]) && !s->is_partial &&
           s->deadline.why == DFL_STOP_NONE) {
        dfl_box_node node = dfl_box_heap_pop(&s->heap);
        dfl_open_form *f = &s->forms.at[node.form];
        if (f->family != NULL)
            open_family(s, &node);
        else if (!f->is_bounded)
            raise_waiting(s, &node);
        else
            make_waiting(s, &node);
        if (is_timed && s->deadline.at > 0 && dfl_budget_time(budget) >= s->deadline.at)
            s->deadline.why = DFL_STOP_TIME;
        else if (!dfl_budget_spend(budget, 0))
            s->deadline.why = budget->why;
    }
}

/* Takes the first node; one is left, with a form, and so has the next. */
static dfl_box_node take_first(dfl_box_run *s)
{
    const dfl_box_node out = dfl_box_heap_pop(&s->heap);

    make_first(s);
    return out;
}

/* Raises the bound of a node. If it is no longer the least, the node goes back to the heap, or is pruned; then false. */
static bool is_next(dfl_box_run *s, dfl_box_node *node)
{
    raise_bound(s, &s->forms.at[node->form], node, s->forms.at[node->form].solved, s->out->value);
    if (!dfl_box_is_useful(s, node->bound))
        return false;
    if (s->heap.nodes.n == 0 || node->bound <= s->heap.nodes.at[0].bound)
        return true;
    dfl_box_heap_push(s->work, &s->heap, *node);
    return false;
}

/* The lower bound of the objective while nodes are open: the least of their bounds and of the relaxed costs of all evaluated
   points (D2). Where mappings may cut a rank as no skeleton does (D12): the least bound of the families. */
static double bound_now(const dfl_box_run *s)
{
    const double least = fmin(s->heap.nodes.at[0].bound, s->out->lower_bound);

    if (!s->is_uneven)
        return least;
    return fmax(s->has_families ? fmin(s->of_families, least) : 0, s->out->floor);
}

/* Reports how far the search is: `bound` is the lower bound so far. */
static void report_progress(dfl_box_run *s, double bound)
{
    dfl_progress_meter *meter = s->limits->progress;

    if (meter == NULL || meter->show == NULL || s->out->nodes - s->reported < DFL_BOX_REPORT)
        return;
    meter->now.phase = "boxes";
    meter->now.bound = bound;
    if (s->out->value < INFINITY)
        meter->now.best = s->out->value;
    dfl_progress_add(meter, s->out->nodes - s->reported);
    s->reported = s->out->nodes;
}

/* Whether the search goes on for a better mapping alone, and has done so for long. No open node has a bound below the relaxed
   cost of some point that was evaluated, so this cost is the lower bound of the search for good (rule D2). */
static bool is_settled(dfl_box_run *s)
{
    const uint64_t work = dfl_box_work(s);

    if (s->heap.nodes.at[0].bound < s->out->lower_bound)
        s->turn = 0;
    else if (s->turn == 0)
        s->turn = work;
    return s->turn > 0 && work - s->turn > (s->turn > DFL_BOX_SETTLED ? s->turn : DFL_BOX_SETTLED);
}

/* Whether a better mapping is unlikely in a node: the points of its form cost more than their relaxed cost by much. */
static bool is_unlikely(const dfl_box_run *s, const dfl_box_node *node)
{
    const dfl_open_form *f = &s->forms.at[node->form];

    return f->n_points >= DFL_BOX_TRIALS && !dfl_box_is_useful(s, node->bound * f->excess);
}

/* Takes nodes from the heap until none is useful, or the deadline passes. Then sets the lower bound. */
static void run(dfl_box_run *s)
{
    make_first(s);
    while (s->heap.nodes.n > 0 && dfl_box_is_useful(s, s->heap.nodes.at[0].bound) && !s->is_partial &&
           !dfl_deadline_passed(&s->deadline)) {
        const double bound = bound_now(s);
        if (dfl_gap_reached(s->limits, s->out->value, bound)) {
            s->deadline.why = DFL_STOP_GAP;
            break;
        }
        if (is_settled(s)) {
            s->out->is_settled = true;
            break;
        }
        report_progress(s, bound);
        dfl_box_node node = take_first(s);
        dfl_open_form *f = &s->forms.at[node.form];
        if (s->turn > 0 && is_unlikely(s, &node)) {
            s->out->is_settled = true;
            continue;
        }
        if (node.depth >= DFL_BOX_RENEW && !is_next(s, &node))
            continue;
        if (!f->is_dived || s->out->nodes % DFL_BOX_DIVE == 0) {
            dive(s, &node);
        } else {
            bool is_left = split(s, &node, false);
            while (is_left && s->heap.nodes.n > 0 && node.bound <= s->heap.nodes.at[0].bound)
                is_left = split(s, &node, false);
            if (is_left)
                dfl_box_heap_push(s->work, &s->heap, node);
        }
    }
    if (s->heap.nodes.n > 0)
        s->out->lower_bound = fmin(s->heap.nodes.at[0].bound, s->out->lower_bound);
    s->out->lower_bound = fmin(s->out->lower_bound, s->out->value);
}

/* A lower bound by the bounds of families alone, which hold wherever axes stand (B55). */
static double bound_families(const dfl_box_run *s)
{
    double least = fmin(s->of_families, s->out->value);

    for (size_t i = 0; i < s->heap.nodes.n; i++)
        if (s->forms.at[s->heap.nodes.at[i].form].family != NULL)
            least = fmin(least, s->heap.nodes.at[i].bound);
    return fmax(least, s->out->floor);
}

/* Whether the objective depends on the latency, by itself or by leakage, and this on the order of loops and keeps. */
static bool is_open_in_time(const dfl_box_run *s, const dfl_problem *const *problems, uint32_t n_problems)
{
    const dfl_objective *o = s->costs.objective;
    bool is_counted = true;

    for (uint32_t j = 0; j < n_problems; j++)
        is_counted &= dfl_ramp_time_is_counted(s->mapping, problems[j]);
    return !is_counted && (s->costs.leakage > 0 || dfl_objective_value(o, 1, 0) < dfl_objective_value(o, 1, SOME_TIME));
}

/* Whether an operand may have a keep of which the pieces of a rank count: one that the rank does not index, or that slides. */
static bool has_keeps_apart(const dfl_problem *problem, uint32_t rank)
{
    bool has = false;

    for (uint32_t o = 0; o < problem->n_operands; o++)
        has |= problem->operand[o].places != 0 && (problem->windows || !(problem->operand[o].ranks >> rank & 1));
    return has;
}

/* Whether mappings may cut a rank in a way that no skeleton has, and count less (D12): by more loops than one above a keep, by
   loops further in than a keep that stays, or by an axis further out among its loops. */
static bool is_uneven(const dfl_problem *problem, uint32_t rank)
{
    uint32_t n_axes = 0;

    for (uint32_t a = 0; a < problem->n_axes; a++)
        n_axes += problem->axis[a].ranks >> rank & 1;
    return problem->extent[rank] > 2 && (n_axes > 1 || has_keeps_apart(problem, rank));
}

static bool has_uneven_ranks(const dfl_problem *problem)
{
    for (uint32_t r = 0; r < problem->n_ranks; r++)
        if (is_uneven(problem, r))
            return true;
    return false;
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
    dfl_box_run *s = DFL_NEW(arena, dfl_box_run);
    dfl_listing listing;
    bool is_listed;

    *s = (dfl_box_run){ .arena = arena, .work = dfl_arena_new(dfl_arena_budget(arena)),
                       .trial = dfl_arena_new(dfl_arena_budget(arena)), .names = names, .mapping = mapping,
                       .limits = limits, .start = start,
                       .costs = { .objective = objective, .leakage = dfl_system_leakage(mapping->system),
                                  .seconds_below = start->seconds_below },
                       .out = DFL_NEW(arena, dfl_box_result) };
    for (uint32_t j = 0; j < n_problems; j++)
        s->has_windows |= problems[j]->windows;
    s->costs.is_whole = start->divides && !s->has_windows; /* parts of windows stay */
    s->has_goal = dfl_form_goal_make(objective, s->costs.leakage, &s->goal);
    s->goal.is_whole = s->costs.is_whole;
    s->draft = DFL_NEW(s->work, dfl_geometric_draft);
    s->of_families = INFINITY;
    s->has_families = true;
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
        dfl_form_source *source = DFL_NEW(s->work, dfl_form_source);
        source->merge = start->write == NULL ? dfl_merge_make(s->work, problems[j]) : NULL;
        source->problem = source->merge == NULL ? problems[j] : source->merge->problem;
        if (start->divides) {
            dfl_amounts *divisors = DFL_NEW_ARRAY(s->work, dfl_amounts, problems[j]->n_ranks);
            dfl_problem_divide(s->work, problems[j], divisors);
            source->divisors = divisors;
        }
        s->source = source;
        s->is_uneven |= !start->divides && !start->is_whole && has_uneven_ranks(source->problem);
        s->has_families &= problems[j]->given == NULL && dfl_family_handles(source->problem);
        if (problems[j]->given != NULL)
            dfl_fixed_lines_each(problems[j], &s->deadline, add_form, s);
        else if (dfl_family_handles(source->problem))
            push_family(s, source, start->family != NULL ? start->family : &(dfl_family){ .n = 0 }, 0);
        else
            dfl_templates_each(problems[j], &s->deadline, add_form, s);
    }
    dfl_listing_end(&listing, &s->deadline);
    s->out->floor = dfl_floor_value(objective, s->costs.leakage, problems, n_problems);
    is_listed = s->deadline.why == DFL_STOP_NONE;
    if (is_listed && !s->is_partial)
        run(s);
    if (!is_listed || s->is_partial || s->is_uneven)
        s->out->lower_bound = s->has_families ? bound_families(s) : s->out->floor;
    s->out->stopped = s->deadline.why;
    s->out->is_ragged = s->is_uneven;
    s->out->is_least = s->deadline.why == DFL_STOP_NONE && !s->is_partial && !s->is_uneven && !s->out->is_settled;
    s->out->is_complete = s->out->is_least && !dfl_box_is_useful(s, s->out->lower_bound);
    s->out->is_least &= !s->has_windows || s->out->is_complete;
    for (size_t i = 0; i < s->forms.n; i++)
        for (uint32_t order = 0; order <= DFL_PROBLEM_RANKS; order++)
            if (s->forms.at[i].point[order] != NULL)
                dfl_point_free(s->forms.at[i].point[order]);
    dfl_arena_free(s->trial);
    dfl_arena_free(s->work);
    return s->out;
}
