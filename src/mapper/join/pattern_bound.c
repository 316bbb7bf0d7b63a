#include "mapper/join/pattern_bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/join/part_cells.h"
#include "mapper/problem/limits.h"
#include "mapper/tiling/box_bound.h"
#include "mapper/tiling/loose_form.h"

static int by_bound(const void *a, const void *b)
{
    const dfl_bounded_skeleton *x = *(dfl_bounded_skeleton *const *)a, *y = *(dfl_bounded_skeleton *const *)b;

    if (x->least != y->least)
        return x->least < y->least ? -1 : 1;
    return x->candidate < y->candidate ? -1 : x->candidate > y->candidate;
}

static void sort_pattern(dfl_pattern_bounds *b, uint32_t pattern)
{
    const uint32_t first = b->first[pattern], end = b->first[pattern + 1];

    for (uint32_t i = first; i < end; i++)
        b->sorted[i] = &b->at[i];
    qsort(b->sorted + first, end - first, sizeof *b->sorted, by_bound);
}

/* Mask of the ports at which tiles of inputs may move beside the first tiles that count (B60), so that they do not count. */
static uint32_t find_beside(const dfl_pattern_bounds *b, const dfl_candidate *c)
{
    uint32_t ports = 0;

    for (uint32_t i = 0; i < c->form->n_keeps && dfl_bounded_has_firsts(b); i++) {
        const dfl_template_keep *k = &c->form->keep[i];
        const dfl_problem_operand *o = &c->problem->operand[k->operand];
        if (o->output || (k->parent >= 0 && !c->form->keep[k->parent].home && !b->firsts.has_streams))
            continue;
        ports |= 1u << 2 * (k->parent >= 0 ? c->form->keep[k->parent].place : dfl_problem_outermost(o));
        ports |= 1u << (2 * k->place + !c->problem->place[k->place].one_port);
    }
    return ports;
}

/* A bound of a skeleton whatever the room, as its program counts. */
static double find_roomy(const dfl_pattern_bounds *b, const dfl_bounded_skeleton *s)
{
    const dfl_candidate *c = s->candidate;
    const double work = c->problem->seconds * c->problem->points / dfl_problem_instances(c->problem, ~0u);
    const uint32_t beside = find_beside(b, c);
    double share = s->weights->at[DFL_FORM_TIME_WORK], seconds = 0;

    if (dfl_problem_slides(c->problem) || c->problem->n_ranks == 0)
        return dfl_objective_value(&b->line, c->roomy_joules, beside != 0 ? work : c->roomy_seconds);
    for (uint32_t port = 0; port < 2 * c->problem->n_places; port++) {
        share += s->weights->at[2 * port + 1];
        seconds += beside >> port & 1 ? 0 : s->weights->at[2 * port] * c->times->below[port];
    }
    return dfl_objective_value(&b->line, c->roomy_joules, seconds + work * share);
}

/* The innermost keep of each operand: those stay if keeps move outwards, and keeps further out then save nothing (B47). */
static uint64_t find_innermost(const dfl_problem *problem, const dfl_tiling_template *t)
{
    uint64_t out = 0;

    for (uint32_t o = 0; o < problem->n_operands; o++)
        out = out * (DFL_PROBLEM_PLACES + 1) + (t->innermost[o] < 0 ? 0 : 1 + t->keep[t->innermost[o]].place);
    return out;
}

/* The weights of the group of a skeleton: weights of the pattern are those from `first` on. */
static dfl_time_weights *find_weights(dfl_pattern_bounds *b, const dfl_candidate *c, size_t first)
{
    const uint64_t innermost = find_innermost(c->problem, c->form);
    size_t w = b->weights.n;

    while (w > first && (b->weights.at[w - 1]->problem != c->problem || b->weights.at[w - 1]->innermost != innermost))
        w--;
    return w > first ? b->weights.at[w - 1] : dfl_bounded_weights(b, c->problem, innermost);
}

/* Sets the bound of a node and of those below to that whatever the room, as those of skeletons are. */
static double reset_node(dfl_pattern_bounds *b, uint32_t node)
{
    const dfl_skeleton_node *x = &b->tree.at[node];
    double least = x->n == 1 ? b->at[x->first].least : INFINITY;

    for (uint32_t child = x->child; child != DFL_NONE; child = b->tree.at[child].next)
        least = fmin(least, reset_node(b, child));
    b->of_node[node] = (dfl_node_bound){ .least = least };
    return least;
}

static uint32_t first_root(const dfl_pattern_bounds *b, uint32_t pattern)
{
    return b->root[pattern] < b->root[pattern + 1] ? b->root[pattern] : DFL_NONE;
}

/* Adds the skeletons of a pattern, which are sorted as the tree asks. */
static void add_skeletons(dfl_pattern_bounds *b, uint32_t pattern, const dfl_candidate *const *list, uint32_t n)
{
    const size_t first = b->weights.n;

    b->first[pattern] = b->n;
    b->root[pattern] = (uint32_t)b->tree.n;
    dfl_skeleton_tree_add(b->arena, list, n, b->n, &b->tree);
    for (uint32_t i = 0; i < n; i++) {
        dfl_bounded_skeleton *s = &b->at[b->n++];
        *s = (dfl_bounded_skeleton){ .candidate = list[i], .has_program = list[i]->problem->n_ranks > 0,
                         .weights = find_weights(b, list[i], first) };
        s->least = find_roomy(b, s);
    }
}

/* Sets the bounds of all nodes to the least of those of their skeletons. */
static void reset_roots(dfl_pattern_bounds *b)
{
    for (uint32_t p = 0; p < b->class->patterns.n; p++)
        for (uint32_t root = first_root(b, p); root != DFL_NONE; root = b->tree.at[root].next)
            (void)reset_node(b, root);
}

/* Adds the skeletons of all patterns. */
static void add_patterns(dfl_pattern_bounds *b)
{
    const dfl_einsum_class *class = b->class;
    const uint32_t n_patterns = (uint32_t)class->patterns.n, n = (uint32_t)class->candidates.n;
    uint32_t *end = DFL_NEW_ARRAY(b->arena, uint32_t, n_patterns + 1u);
    const dfl_candidate **list = DFL_NEW_ARRAY(b->arena, const dfl_candidate *, n + 1u);

    for (uint32_t i = 0; i < n; i++)
        end[class->candidates.at[i].pattern]++;
    for (uint32_t p = 1; p < n_patterns; p++)
        end[p] += end[p - 1];
    for (uint32_t i = n; i-- > 0;)
        list[--end[class->candidates.at[i].pattern]] = &class->candidates.at[i];
    for (uint32_t p = 0; p < n_patterns; p++) {
        const uint32_t size = (p + 1 < n_patterns ? end[p + 1] : n) - end[p];
        dfl_skeleton_tree_sort(list + end[p], size);
        add_skeletons(b, p, list + end[p], size);
    }
    b->first[n_patterns] = b->n;
    b->root[n_patterns] = (uint32_t)b->tree.n;
    b->of_node = dfl_arena_alloc(b->arena, b->tree.n + 1, sizeof *b->of_node, _Alignof(dfl_node_bound));
    reset_roots(b);
}

dfl_pattern_bounds *dfl_pattern_bounds_new(dfl_arena *arena, dfl_arena *scratch, const dfl_einsum_class *class,
                                           const dfl_objective *line, dfl_deadline *deadline, uint64_t *programs)
{
    dfl_pattern_bounds *b = DFL_NEW(arena, dfl_pattern_bounds);

    b->arena = arena;
    b->scratch = scratch;
    b->class = class;
    b->line = *line;
    b->deadline = deadline;
    b->programs = programs;
    b->goal = (dfl_form_goal){ .factor = 1, .is_whole = true, .has_visits = line->per_joule > 0 };
    if (line->per_joule > 0)
        b->goal.joules = 1;
    else
        b->goal.seconds = 1;
    b->goal.leakage = line->per_joule > 0 ? line->per_second : 0;
    b->at = dfl_arena_alloc(arena, class->candidates.n + 1, sizeof *b->at, _Alignof(dfl_bounded_skeleton));
    b->sorted = DFL_NEW_ARRAY(arena, dfl_bounded_skeleton *, class->candidates.n + 1);
    b->first = DFL_NEW_ARRAY(arena, uint32_t, class->patterns.n + 1);
    b->root = DFL_NEW_ARRAY(arena, uint32_t, class->patterns.n + 1);
    b->n = 0;
    b->alone = 0;
    b->has_whole_parts = b->has_lengths = false;
    b->known = INFINITY;
    b->left = 0;
    b->mixed = DFL_NEW_ARRAY(arena, uint32_t, class->patterns.n + 1);
    b->firsts = (dfl_form_firsts){ .memory = DFL_NONE };
    b->tree = (dfl_skeleton_tree){ NULL, 0, 0 };
    b->weights.n = b->weights.cap = 0;
    b->weights.at = NULL;
    add_patterns(b);
    return b;
}

void dfl_pattern_bounds_first_tiles(dfl_pattern_bounds *b, const dfl_form_firsts *firsts)
{
    b->firsts = *firsts;
    for (uint32_t i = 0; i < b->n; i++)
        b->at[i].least = find_roomy(b, &b->at[i]);
    reset_roots(b);
}

void dfl_pattern_bounds_limit_keeps(dfl_pattern_bounds *b, uint32_t operands) { b->alone = operands; }

void dfl_pattern_bounds_whole_parts(dfl_pattern_bounds *b, bool has_lengths, double known)
{
    b->known = has_lengths ? known : INFINITY;
    b->left = DFL_CELL_PROGRAMS;
    b->has_whole_parts = !has_lengths;
    b->has_lengths = has_lengths;
}

double dfl_pattern_bounds_roomy(const dfl_pattern_bounds *b, uint32_t pattern)
{
    double least = INFINITY;

    for (uint32_t i = b->first[pattern]; i < b->first[pattern + 1]; i++)
        least = fmin(least, b->at[i].least);
    return dfl_bounded_rebate(b, pattern, least);
}

/* Sets weights to the multipliers of the times of a program. False if there are none. */
static bool set_weights(const dfl_kept_program *k, const dfl_geometric_solution *solution, dfl_time_weights *out)
{
    double sum = 0, turned[DFL_FORM_TIMES] = { 0 };

    for (uint32_t i = 0; i < k->program->n_times && solution->bound < INFINITY; i++) {
        turned[k->program->time[i]] = solution->state.multiplier[k->program->time_sum[i]];
        sum += turned[k->program->time[i]];
    }
    for (uint32_t i = 0; i < DFL_FORM_TIMES && sum > 0; i++)
        out->at[i] = turned[i] / sum * (1 - DFL_WEIGHT_OF_WORK) + (i == DFL_FORM_TIME_WORK ? DFL_WEIGHT_OF_WORK : 0);
    return sum > 0;
}

/* Sets weights to the multipliers of the times in the cell of a skeleton with the least bound. False if they do not raise it
   above `enough`. */
static bool turn_in_cell(dfl_pattern_bounds *b, const dfl_form *form, dfl_bounded_skeleton *s, double enough,
                         dfl_time_weights *out)
{
    dfl_form_goal goal = b->goal;
    dfl_geometric_solution solution;
    dfl_geometric_box range;
    dfl_kept_program k;

    goal.has_parts = goal.has_lengths = true;
    return dfl_bounded_program(b, b->scratch, form, &goal, s, &k) && dfl_part_cell_range(&k, s->cell, &range) &&
           dfl_bounded_solve(b, &k, &range, NULL, INFINITY, &solution) > enough && set_weights(&k, &solution, out);
}

/* Raises the bound of a skeleton to that over whole numbers (B57, B58, B63). */
static void bound_parts(dfl_pattern_bounds *b, const dfl_form *form, dfl_bounded_skeleton *s, double enough)
{
    const dfl_form_goal goal = dfl_bounded_goal(b, s);
    dfl_form_goal by_parts = goal;
    dfl_kept_program k;
    bool is_made = false;

    by_parts.has_parts = true;
    if (!s->is_impossible && s->has_program)
        is_made = dfl_bounded_program(b, b->scratch, form, &by_parts, s, &k) ||
                  (!goal.has_parts && dfl_bounded_program(b, b->scratch, form, &goal, s, &k));
    if (is_made)
        s->least = dfl_part_cells_least(b, &k, s, s->least, enough);
}

/* Bounds a skeleton by its program, as far as it takes to know that the bound is above `enough`. */
static void bound_skeleton(dfl_pattern_bounds *b, dfl_bounded_skeleton *s, double enough)
{
    dfl_form *form = s->has_program && !s->is_impossible ? dfl_bounded_form(b, b->scratch, s) : NULL;
    const dfl_form_goal goal = dfl_bounded_goal(b, s);
    dfl_geometric_solution solution;
    dfl_kept_program k;

    if (form != NULL && b->has_lengths)
        bound_parts(b, form, s, enough);
    else if (form != NULL && dfl_bounded_program(b, b->scratch, form, &goal, s, &k))
        s->least = fmax(s->least, dfl_bounded_solve(b, &k, &k.range, NULL, enough, &solution));
    if (b->has_whole_parts && form != NULL && form->problem->n_axes > 0 && s->least < enough)
        bound_parts(b, form, s, enough);
    if (s->is_impossible)
        s->least = INFINITY;
    dfl_arena_reset(b->scratch);
}

/* Bounds a node by its program (B49), as far as it takes to know that the bound is above `enough`. */
static void bound_node(dfl_pattern_bounds *b, uint32_t node, double enough)
{
    const dfl_skeleton_node *x = &b->tree.at[node];
    const dfl_bounded_skeleton *of = &b->at[x->first];
    dfl_bounded_skeleton s = { .candidate = of->candidate, .weights = of->weights,
                               .least = b->of_node[node].least };
    const dfl_form *form = dfl_loose_form_make(b->scratch, s.candidate->problem, s.candidate->form, x->kept, &b->terms);
    const dfl_form_goal goal = dfl_bounded_goal(b, &s);
    dfl_geometric_solution solution;
    dfl_kept_program k;

    if (form != NULL && dfl_bounded_program(b, b->scratch, form, &goal, &s, &k))
        s.least = fmax(s.least, dfl_bounded_solve(b, &k, &k.range, NULL, enough, &solution));
    b->of_node[node].least = s.is_impossible ? INFINITY : s.least;
    b->of_node[node].is_solved = s.least <= enough;
    dfl_arena_reset(b->scratch);
}

/* Open nodes, least bound first. */
typedef struct {
    const dfl_node_bound *of;
    DFL_VEC(uint32_t) at;
} open_nodes;

static bool is_before(const open_nodes *open, uint32_t a, uint32_t b)
{
    return open->of[a].least != open->of[b].least ? open->of[a].least < open->of[b].least : a < b;
}

static void push_node(dfl_arena *arena, open_nodes *open, uint32_t node)
{
    size_t i = open->at.n;

    DFL_PUSH(arena, &open->at, node);
    for (; i > 0 && is_before(open, node, open->at.at[(i - 1) / 2]); i = (i - 1) / 2)
        open->at.at[i] = open->at.at[(i - 1) / 2];
    open->at.at[i] = node;
}

static uint32_t pop_node(open_nodes *open)
{
    const uint32_t out = open->at.at[0], last = open->at.at[--open->at.n];
    size_t i = 0;

    for (size_t child = 1; child < open->at.n; child = 2 * i + 1) {
        child += child + 1 < open->at.n && is_before(open, open->at.at[child + 1], open->at.at[child]);
        if (!is_before(open, open->at.at[child], last))
            break;
        open->at.at[i] = open->at.at[child];
        i = child;
    }
    open->at.at[i] = last;
    return out;
}

/* Gives the nodes below one, and their skeletons, its bound where theirs is less. */
static void hand_down(dfl_pattern_bounds *b, uint32_t node)
{
    const dfl_skeleton_node *x = &b->tree.at[node];
    const double least = b->of_node[node].least;

    if (x->n == 1)
        b->at[x->first].least = fmax(b->at[x->first].least, least);
    for (uint32_t child = x->child; child != DFL_NONE; child = b->tree.at[child].next) {
        b->of_node[child].least = fmax(b->of_node[child].least, least);
        hand_down(b, child);
    }
}

/* Bounds the skeleton of a leaf; the bound. Of those with `weights`, or of all; of others INFINITY. */
static double bound_leaf(dfl_pattern_bounds *b, uint32_t node, const dfl_time_weights *weights, double enough)
{
    dfl_bounded_skeleton *s = &b->at[b->tree.at[node].first];

    if (weights != NULL && s->weights != weights)
        return INFINITY;
    s->least = fmax(s->least, b->of_node[node].least);
    bound_skeleton(b, s, enough);
    return b->of_node[node].least = s->least;
}

/* Bounds a node that is no leaf, or if it is bounded opens its children. */
static void open_node(dfl_pattern_bounds *b, dfl_arena *work, open_nodes *open, uint32_t node, double enough)
{
    const dfl_skeleton_node *x = &b->tree.at[node];

    if (!b->of_node[node].is_solved && x->n > 2) {
        bound_node(b, node, enough);
        push_node(work, open, node);
        return;
    }
    for (uint32_t child = x->child; child != DFL_NONE; child = b->tree.at[child].next) {
        b->of_node[child].least = fmax(b->of_node[child].least, b->of_node[node].least);
        push_node(work, open, child);
    }
}

/* Whether the deadline has passed, or all programs that cells of lengths may solve are used up. */
static bool is_over(const dfl_pattern_bounds *b)
{
    return dfl_deadline_passed(b->deadline) || (b->has_lengths && b->left == 0);
}

/* The least bound of the skeletons of a pattern, of those with `weights`, or of all; 0 if the deadline passes meanwhile, or if
   the bound is not above `floor`. Nodes whose bound is as good as the least are not opened: their skeletons may be equal. */
static double find_least(dfl_pattern_bounds *b, uint32_t pattern, const dfl_time_weights *weights, double floor)
{
    dfl_arena *work = dfl_arena_new(NULL);
    open_nodes open = { .of = b->of_node };
    double least = INFINITY, closed = INFINITY;

    for (uint32_t root = first_root(b, pattern); root != DFL_NONE; root = b->tree.at[root].next)
        if (weights == NULL || b->at[b->tree.at[root].first].weights == weights)
            push_node(work, &open, root);
    while (open.at.n > 0 && b->of_node[open.at.at[0]].least < fmin(least, b->known) && fmin(least, closed) > floor &&
           !is_over(b)) {
        const double enough = fmin(least, b->known) * (1 - dfl_bounded_precision(b));
        const uint32_t node = pop_node(&open);
        if (b->tree.at[node].n == 1)
            least = fmin(least, bound_leaf(b, node, weights, fmin(least, b->known)));
        else if (b->of_node[node].least >= enough)
            closed = fmin(closed, b->of_node[node].least);
        else
            open_node(b, work, &open, node, enough);
    }
    for (uint32_t root = first_root(b, pattern); root != DFL_NONE; root = b->tree.at[root].next)
        hand_down(b, root);
    least = fmin(open.at.n > 0 ? fmin(least, b->known) : least, closed);
    dfl_arena_free(work);
    return !is_over(b) && least > floor ? least : 0;
}

/* The skeleton with the least bound so far. */
static const dfl_bounded_skeleton *find_first(const dfl_pattern_bounds *b, uint32_t pattern)
{
    const dfl_bounded_skeleton *first = &b->at[b->first[pattern]];

    for (uint32_t i = b->first[pattern]; i < b->first[pattern + 1]; i++)
        first = b->at[i].least < first->least ? &b->at[i] : first;
    return first;
}

/* Sets the weights of a skeleton without a program of all times to the port that is busy for longest whatever the room. False if
   the work takes longer. */
static bool guess_weights(const dfl_bounded_skeleton *s)
{
    const dfl_candidate *c = s->candidate;
    uint32_t busiest = 0;

    for (uint32_t port = 1; port < 2 * c->problem->n_places; port++)
        busiest = c->times->below[port] > c->times->below[busiest] ? port : busiest;
    memset(s->weights->at, 0, sizeof s->weights->at);
    s->weights->at[2 * busiest] = 1 - DFL_WEIGHT_OF_WORK;
    s->weights->at[DFL_FORM_TIME_WORK] = DFL_WEIGHT_OF_WORK;
    return c->times->below[busiest] >= c->roomy_seconds * (1 - DFL_LINES_ROUNDING);
}

/* Sets the weights of a skeleton to the multipliers of the times at its best point. False if there are none, or if the bound
   cannot be `enough` with any weights. */
static bool turn_weights(dfl_pattern_bounds *b, const dfl_bounded_skeleton *of, double enough)
{
    dfl_form_goal goal = b->goal;
    dfl_geometric_solution solution;
    dfl_bounded_skeleton s = *of;
    dfl_form *form = s.has_program && !s.is_impossible ? dfl_bounded_form(b, b->scratch, &s) : NULL;
    bool is_turned = false;
    dfl_kept_program k;

    goal.firsts = dfl_bounded_has_firsts(b) ? &b->firsts : NULL;
    if (form != NULL && b->has_lengths && s.cell != NULL)
        is_turned = turn_in_cell(b, form, &s, enough, of->weights);
    if (!is_turned && form != NULL && dfl_bounded_program(b, b->scratch, form, &goal, &s, &k))
        is_turned = dfl_bounded_solve(b, &k, &k.range, NULL, INFINITY, &solution) > enough &&
                    set_weights(&k, &solution, of->weights);
    else if (!is_turned && form != NULL && !s.is_impossible)
        is_turned = guess_weights(of);
    dfl_arena_reset(b->scratch);
    return is_turned;
}

/* Sets the bounds of the skeletons with some weights, or of all, and of their nodes, to those whatever the room. */
static void reset_bounds(dfl_pattern_bounds *b, uint32_t pattern, const dfl_time_weights *weights)
{
    for (uint32_t i = b->first[pattern]; i < b->first[pattern + 1]; i++)
        if (weights == NULL || b->at[i].weights == weights)
            b->at[i].least = b->at[i].is_impossible ? INFINITY : find_roomy(b, &b->at[i]);
    for (uint32_t root = first_root(b, pattern); root != DFL_NONE; root = b->tree.at[root].next)
        if (weights == NULL || b->at[b->tree.at[root].first].weights == weights)
            (void)reset_node(b, root);
}

/* A copy of the bounds of the skeletons of a pattern and of their nodes, with the weights of their groups. */
typedef struct {
    dfl_arena *work;                  /* of the copy; the caller frees it */
    dfl_bounded_skeleton *skeleton;
    dfl_node_bound *node;
    dfl_time_weights *weights;        /* [skeleton] */
    uint32_t mixed;                   /* of the pattern */
} saved_bounds;

static saved_bounds save_bounds(const dfl_pattern_bounds *b, uint32_t pattern)
{
    const uint32_t first = b->first[pattern], n = b->first[pattern + 1] - first;
    const uint32_t node = b->root[pattern], n_nodes = b->root[pattern + 1] - node;
    saved_bounds out = { .work = dfl_arena_new(NULL), .mixed = b->mixed[pattern] };

    out.skeleton = dfl_arena_alloc(out.work, n + 1u, sizeof *out.skeleton, _Alignof(dfl_bounded_skeleton));
    out.node = dfl_arena_alloc(out.work, n_nodes + 1u, sizeof *out.node, _Alignof(dfl_node_bound));
    out.weights = dfl_arena_alloc(out.work, n + 1u, sizeof *out.weights, _Alignof(dfl_time_weights));
    memcpy(out.skeleton, b->at + first, n * sizeof *out.skeleton);
    memcpy(out.node, b->of_node + node, n_nodes * sizeof *out.node);
    for (uint32_t i = 0; i < n; i++)
        out.weights[i] = *b->at[first + i].weights;
    return out;
}

static void restore_bounds(dfl_pattern_bounds *b, uint32_t pattern, const saved_bounds *saved)
{
    const uint32_t first = b->first[pattern], n = b->first[pattern + 1] - first;
    const uint32_t node = b->root[pattern];

    memcpy(b->at + first, saved->skeleton, n * sizeof *saved->skeleton);
    memcpy(b->of_node + node, saved->node, (b->root[pattern + 1] - node) * sizeof *saved->node);
    for (uint32_t i = 0; i < n; i++)
        *b->at[first + i].weights = saved->weights[i];
    b->mixed[pattern] = saved->mixed;
}

/* Weights that are tried in one turn, at most: those of the first skeleton, then of the ones that have the least bounds. */
enum { WEIGHTS_TRIED = 3 };

/* The skeleton of a group with the least bound so far. */
static const dfl_bounded_skeleton *find_least_of(const dfl_pattern_bounds *b, uint32_t pattern, const dfl_bounded_skeleton *of)
{
    const dfl_bounded_skeleton *least = of;

    for (uint32_t i = b->first[pattern]; i < b->first[pattern + 1]; i++)
        least = b->at[i].weights == of->weights && b->at[i].least < least->least ? &b->at[i] : least;
    return least;
}

/* Bounds the skeletons with the weights of the first one with other weights: those of its best point in odd turns, else the means
   of both; where these are not better, with those of the skeleton that has the least bound then, whose time may be that of a port
   which all skeletons of the group use. If nothing is better, nothing changes. Two turns without a gain end the turns: the next
   ones would be the same. */
static void raise_first(dfl_pattern_bounds *b, uint32_t pattern, const dfl_bounded_skeleton *of)
{
    const double enough = of->least * (1 + DFL_WEIGHT_RAISE);
    const saved_bounds saved = save_bounds(b, pattern);
    dfl_time_weights *weights = of->weights, before = *weights;
    bool is_better = false, is_turned = true;

    before.turns--;
    for (uint32_t i = 0; i < WEIGHTS_TRIED && !is_better && is_turned && !is_over(b); i++) {
        is_turned = turn_weights(b, find_least_of(b, pattern, of), enough);
        for (uint32_t t = 0; t < DFL_FORM_TIMES && is_turned && before.turns % 2 == 0; t++)
            weights->at[t] = (weights->at[t] + before.at[t]) / 2;
        if (is_turned)
            reset_bounds(b, pattern, weights);
        is_better = is_turned && find_least(b, pattern, weights, enough) > enough;
    }
    before.turns = is_turned ? before.turns : 0;
    if (!is_better) {
        restore_bounds(b, pattern, &saved);
        *weights = before;
    }
    weights->failed = is_better ? 0 : before.failed + 1;
    weights->turns = weights->failed < 2 ? before.turns : 0;
    dfl_arena_free(saved.work);
}

/* Tries other weights for the skeletons with the least bound. Returns the bound. */
static double raise_least(dfl_pattern_bounds *b, uint32_t pattern, double least)
{
    const dfl_bounded_skeleton *first = find_first(b, pattern);

    while (least > 0 && least < INFINITY && first->weights->turns > 0 && !is_over(b)) {
        raise_first(b, pattern, first);
        least = fmax(least, find_least(b, pattern, NULL, least));
        first = find_first(b, pattern);
    }
    return least;
}

/* 1 + the rank of few pieces (B58, d) at the least cell of a skeleton; 0 = none. */
static uint32_t find_mixed(dfl_pattern_bounds *b, const dfl_bounded_skeleton *of)
{
    dfl_bounded_skeleton s = *of;
    dfl_form *form = s.has_program && !s.is_impossible && s.cell != NULL ? dfl_bounded_form(b, b->scratch, &s) : NULL;
    const dfl_form_goal goal = dfl_bounded_goal(b, &s);
    uint32_t out = 0;
    dfl_kept_program k;

    if (form != NULL && dfl_bounded_program(b, b->scratch, form, &goal, &s, &k))
        out = dfl_part_cell_mixed(&k, s.cell);
    dfl_arena_reset(b->scratch);
    return out;
}

/* The least bound of the skeletons of a pattern with the rank `mixed` - 1 as that of few pieces (B58, d); 0 if it is not above
   `floor`. The rank is the same in all programs of a pattern, so the bounds of all skeletons are reset, and all weights may turn
   again. */
static double mix_rank(dfl_pattern_bounds *b, uint32_t pattern, uint32_t mixed, double floor)
{
    double found;

    b->mixed[pattern] = mixed;
    for (uint32_t i = b->first[pattern]; i < b->first[pattern + 1]; i++) {
        b->at[i].weights->turns = DFL_WEIGHT_TURNS;
        b->at[i].weights->failed = 0;
    }
    reset_bounds(b, pattern, NULL);
    found = find_least(b, pattern, NULL, floor);
    return found > floor ? raise_least(b, pattern, found) : 0;
}

/* Bounds a pattern with the rank of few pieces at the least cell of its skeleton with the least bound. If that does not raise the
   bound, nothing changes. Returns the bound. */
static double raise_mixed(dfl_pattern_bounds *b, uint32_t pattern, double least)
{
    const uint32_t mixed = find_mixed(b, find_first(b, pattern));
    const saved_bounds before = save_bounds(b, pattern);
    double found = 0;

    if (mixed != 0 && mixed != b->mixed[pattern])
        found = mix_rank(b, pattern, mixed, least);
    if (found <= least)
        restore_bounds(b, pattern, &before);
    dfl_arena_free(before.work);
    return fmax(found, least);
}

double dfl_pattern_bounds_least(dfl_pattern_bounds *b, uint32_t pattern)
{
    double least = find_least(b, pattern, NULL, 0);

    if (b->first[pattern] < b->first[pattern + 1] && !dfl_problem_slides(b->at[b->first[pattern]].candidate->problem) &&
        b->line.per_second > 0)
        least = raise_least(b, pattern, least);
    if (b->has_lengths && least > 0 && least < INFINITY && !is_over(b))
        least = raise_mixed(b, pattern, least);
    sort_pattern(b, pattern);
    return dfl_bounded_rebate(b, pattern, least);
}

uint32_t dfl_pattern_bounds_best(dfl_pattern_bounds *b, uint32_t pattern, uint32_t *skeletons, uint32_t most)
{
    uint32_t n = 0;

    sort_pattern(b, pattern);
    for (uint32_t i = b->first[pattern]; i < b->first[pattern + 1] && n < most; i++)
        if (!b->sorted[i]->is_impossible)
            skeletons[n++] = (uint32_t)(b->sorted[i]->candidate - b->class->candidates.at);
    return n;
}
