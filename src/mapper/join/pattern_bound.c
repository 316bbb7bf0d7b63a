#include "mapper/join/pattern_bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/problem/limits.h"
#include "mapper/tiling/box_bound.h"
#include "mapper/tiling/form_program.h"

/* A program that ranges of tiles have asked for. */
typedef struct {
    const dfl_form *form;
    dfl_form_program *program;
    dfl_geometric_box range;          /* of all amounts */
    dfl_geometric_state state;        /* of the last solution */
    bool has_plane;
    dfl_geometric_plane plane;
} kept_program;

typedef struct {
    double least;                     /* lower bound with all tiles */
    uint32_t candidate;               /* of the class */
    bool is_impossible;               /* no amounts fit */
    bool has_program;                 /* as far as is known */
    kept_program *kept;               /* NULL = not asked for */
} skeleton;

struct dfl_pattern_bounds {
    dfl_arena *arena, *scratch;
    const dfl_einsum_class *class;
    dfl_objective line;
    dfl_form_goal goal;               /* the same for programs that take the largest of the times */
    double *weights;                  /* of times, by pattern without windows and time of dfl_form_program */
    bool *is_weighted;                /* by pattern */
    dfl_deadline *deadline;
    skeleton *at;                     /* least bound whatever the room first; after a pattern's least, that of its skeletons */
    uint32_t n;
    uint32_t *first;                  /* by pattern, and the end: its skeletons */
    dfl_terms terms;
    dfl_geometric_draft draft;
    uint64_t *programs;
};

static int by_bound(const void *a, const void *b)
{
    const skeleton *x = a, *y = b;

    if (x->least != y->least)
        return x->least < y->least ? -1 : 1;
    return x->candidate < y->candidate ? -1 : x->candidate > y->candidate;
}

static void sort_pattern(dfl_pattern_bounds *b, uint32_t pattern)
{
    qsort(b->at + b->first[pattern], b->first[pattern + 1] - b->first[pattern], sizeof *b->at, by_bound);
}

/* Whether a dimension of an operand is not a rank alone. */
static bool has_windows(const dfl_problem *problem)
{
    bool found = problem->windows;

    for (uint32_t o = 0; o < problem->n_operands; o++)
        found |= problem->operand[o].ranks != problem->operand[o].plain;
    return found;
}

/* The goal of programs: without windows, nothing stays, and times count with the weights of the pattern (B41). */
static dfl_form_goal goal_of(const dfl_pattern_bounds *b, const dfl_candidate *c)
{
    dfl_form_goal goal = b->goal;

    goal.is_whole = !has_windows(c->problem);
    goal.weights = goal.is_whole ? b->weights + (size_t)c->pattern * DFL_FORM_TIMES : NULL;
    return goal;
}

/* The bound of a skeleton whatever the room: without windows, with the weights of the times (B41). */
static double find_roomy(const dfl_pattern_bounds *b, const dfl_candidate *c)
{
    const double *weights = b->weights + (size_t)c->pattern * DFL_FORM_TIMES;
    double units = 1, share = weights[DFL_FORM_TIME_WORK];

    if (has_windows(c->problem) || c->problem->n_ranks == 0)
        return dfl_objective_value(&b->line, c->roomy_joules, c->roomy_seconds);
    for (uint32_t a = 0; a < c->problem->n_axes; a++)
        units *= (double)c->problem->axis[a].size;
    for (uint32_t port = 0; port < 2 * c->problem->n_places; port++)
        share += weights[2 * port + 1];
    return dfl_objective_value(&b->line, c->roomy_joules, c->problem->seconds * c->problem->points / units * share);
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
    b->goal = (dfl_form_goal){ .factor = 1, .is_whole = true };
    if (line->per_joule > 0)
        b->goal.joules = 1;
    else
        b->goal.seconds = 1;
    b->goal.leakage = line->per_joule > 0 ? line->per_second : 0;
    b->weights = DFL_NEW_ARRAY(arena, double, (class->patterns.n + 1) * DFL_FORM_TIMES);
    b->is_weighted = DFL_NEW_ARRAY(arena, bool, class->patterns.n + 1);
    memset(b->is_weighted, 0, class->patterns.n * sizeof *b->is_weighted);
    memset(b->weights, 0, class->patterns.n * DFL_FORM_TIMES * sizeof *b->weights);
    b->at = dfl_arena_alloc(arena, class->candidates.n + 1, sizeof *b->at, _Alignof(skeleton));
    b->first = DFL_NEW_ARRAY(arena, uint32_t, class->patterns.n + 1);
    for (uint32_t p = 0; p < class->patterns.n; p++) {
        b->first[p] = b->n;
        b->weights[(size_t)p * DFL_FORM_TIMES + DFL_FORM_TIME_WORK] = 1;
        for (uint32_t i = 0; i < class->candidates.n; i++) {
            const dfl_candidate *c = &class->candidates.at[i];
            if (c->pattern == p)
                b->at[b->n++] = (skeleton){ .least = find_roomy(b, c), .candidate = i,
                                            .has_program = c->problem->n_ranks > 0 };
        }
    }
    b->first[class->patterns.n] = b->n;
    return b;
}

/* Makes the form and the program of a skeleton for all amounts. False if no amounts fit, or if it has no program: then it keeps
   its bound. */
static bool make_program(dfl_pattern_bounds *b, dfl_arena *arena, const dfl_form_goal *goal, skeleton *s, kept_program *out)
{
    const dfl_candidate *c = &b->class->candidates.at[s->candidate];
    dfl_form *form = dfl_form_make(arena, c->problem, c->form, &b->terms);
    double others[DFL_FORM_PRODUCTS];
    dfl_box *boxes[DFL_PROBLEM_RANKS];
    const dfl_box_costs costs = { .objective = &b->line, .is_whole = goal->is_whole };

    s->has_program = form != NULL;
    if (form == NULL)
        return false;
    for (uint32_t r = 0; r < c->problem->n_ranks; r++)
        boxes[r] = dfl_box_make(arena, form, r);
    s->is_impossible = !dfl_box_multiply(form, boxes, 0, others) || dfl_box_bound(&costs, form, boxes, 0, others) == INFINITY;
    if (s->is_impossible)
        return false;
    out->form = form;
    out->program = dfl_form_program_make(arena, &b->draft, form, boxes, goal);
    s->has_program = out->program != NULL;
    if (out->program != NULL)
        dfl_form_program_fit(out->program, boxes, &out->range);
    return s->has_program;
}

/* Solves a program in a range as far as it takes to know that its bound is above `enough`. */
static double solve(dfl_pattern_bounds *b, const kept_program *k, const dfl_geometric_box *range,
                    const dfl_geometric_state *start, double enough, dfl_geometric_solution *out)
{
    const dfl_geometric_effort effort = { .precision = DFL_FORM_PRECISION, .steps = DFL_FORM_STEPS,
                                          .cutoff = dfl_form_goal_cutoff(&b->goal, enough) };

    ++*b->programs;
    dfl_budget_work(b->deadline->budget, DFL_WORK_PROGRAM);
    dfl_geometric_solve(k->program->program, range, start, &effort, out);
    return dfl_form_goal_bound(&b->goal, out->bound);
}

double dfl_pattern_bounds_roomy(const dfl_pattern_bounds *b, uint32_t pattern)
{
    double least = INFINITY;

    for (uint32_t i = b->first[pattern]; i < b->first[pattern + 1]; i++)
        least = fmin(least, b->at[i].least);
    return least;
}

/* The least bound of a pattern under its weights; 0 if the deadline passes meanwhile, or if the bound is not above `floor`. */
static double find_least(dfl_pattern_bounds *b, uint32_t pattern, double floor)
{
    double least = INFINITY;

    sort_pattern(b, pattern);
    for (uint32_t i = b->first[pattern]; i < b->first[pattern + 1]; i++) {
        skeleton *s = &b->at[i];
        const dfl_form_goal goal = goal_of(b, &b->class->candidates.at[s->candidate]);
        kept_program k;
        dfl_geometric_solution solution;
        if (s->least >= least)
            break;
        if (least <= floor || dfl_deadline_passed(b->deadline))
            return 0;
        if (s->has_program && !s->is_impossible && make_program(b, b->scratch, &goal, s, &k))
            s->least = fmax(s->least, solve(b, &k, &k.range, NULL, least, &solution));
        if (s->is_impossible)
            s->least = INFINITY;
        least = fmin(least, s->least);
        dfl_arena_reset(b->scratch);
    }
    sort_pattern(b, pattern);
    return least;
}

/* Sets the weights of a pattern to the multipliers of the times at the best point of its first skeleton. False if there are none,
   or if the bound cannot be `enough` with any weights. */
static bool turn_weights(dfl_pattern_bounds *b, uint32_t pattern, double enough)
{
    skeleton first = b->at[b->first[pattern]];
    double *weights = b->weights + (size_t)pattern * DFL_FORM_TIMES, sum = 0, turned[DFL_FORM_TIMES] = { 0 };
    dfl_form_goal goal = b->goal;
    dfl_geometric_solution solution;
    kept_program k;

    if (first.has_program && make_program(b, b->scratch, &goal, &first, &k)) {
        const bool is_more = solve(b, &k, &k.range, NULL, INFINITY, &solution) > enough && solution.bound < INFINITY;
        for (uint32_t i = 0; i < k.program->n_times && is_more; i++) {
            turned[k.program->time[i]] = solution.state.multiplier[k.program->time_sum[i]];
            sum += turned[k.program->time[i]];
        }
    }
    dfl_arena_reset(b->scratch);
    for (uint32_t i = 0; i < DFL_FORM_TIMES && sum > 0; i++)
        weights[i] = turned[i] / sum * (1 - DFL_WEIGHT_OF_WORK) + (i == DFL_FORM_TIME_WORK ? DFL_WEIGHT_OF_WORK : 0);
    return sum > 0;
}

/* Bounds the pattern with other weights. If that is not better, nothing changes. The better bound. */
static double raise_least(dfl_pattern_bounds *b, uint32_t pattern, double least)
{
    const uint32_t first = b->first[pattern], n = b->first[pattern + 1] - first;
    double *weights = b->weights + (size_t)pattern * DFL_FORM_TIMES, before[DFL_FORM_TIMES], raised;
    dfl_arena *work = dfl_arena_new(NULL);
    skeleton *copy = dfl_arena_alloc(work, n + 1u, sizeof *copy, _Alignof(skeleton));
    bool is_better;

    memcpy(before, weights, sizeof before);
    memcpy(copy, b->at + first, n * sizeof *copy);
    is_better = turn_weights(b, pattern, least * (1 + DFL_WEIGHT_RAISE));
    for (uint32_t i = 0; i < n; i++)
        b->at[first + i].least = copy[i].is_impossible ? INFINITY
                                                       : find_roomy(b, &b->class->candidates.at[copy[i].candidate]);
    raised = is_better ? find_least(b, pattern, least * (1 + DFL_WEIGHT_RAISE)) : 0;
    is_better = raised > least;
    if (!is_better) {
        memcpy(weights, before, sizeof before);
        memcpy(b->at + first, copy, n * sizeof *copy);
    }
    dfl_arena_free(work);
    return is_better ? raised : least;
}

double dfl_pattern_bounds_least(dfl_pattern_bounds *b, uint32_t pattern)
{
    double least = find_least(b, pattern, 0);
    const uint32_t first = b->first[pattern];

    if (first == b->first[pattern + 1] || has_windows(b->class->candidates.at[b->at[first].candidate].problem) ||
        b->line.per_second == 0 || b->is_weighted[pattern])
        return least;
    b->is_weighted[pattern] = true;
    return least > 0 && least < INFINITY ? raise_least(b, pattern, least) : least;
}

/* ---- ranges of tiles ---- */

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
static bool narrow(const kept_program *k, const dfl_exchanged_tiles *tiles, dfl_geometric_box *range)
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

static void find_point(const kept_program *k, const dfl_geometric_state *state, dfl_exchanged_point *out)
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
static void keep_program(dfl_pattern_bounds *b, skeleton *s)
{
    kept_program *k = DFL_NEW(b->arena, kept_program);
    const dfl_form_goal goal = goal_of(b, &b->class->candidates.at[s->candidate]);

    if (!s->has_program || s->is_impossible || !goal.is_whole || !make_program(b, b->arena, &goal, s, k))
        return;
    k->has_plane = false;
    s->kept = k;
}

double dfl_pattern_bounds_within(dfl_pattern_bounds *b, uint32_t pattern, const dfl_exchanged_tiles *tiles,
                                 dfl_exchanged_point *point)
{
    double least = INFINITY;

    forget_point(point);
    for (uint32_t i = b->first[pattern]; i < b->first[pattern + 1] && b->at[i].least < least; i++) {
        skeleton *s = &b->at[i];
        dfl_geometric_solution solution;
        dfl_geometric_box range;
        double bound = s->least;
        if (dfl_deadline_passed(b->deadline))
            return 0;
        if (s->kept == NULL && s->has_program)
            keep_program(b, s);
        if (s->is_impossible)
            continue;
        if (s->kept == NULL) {
            least = bound;
            forget_point(point);
            continue;
        }
        range = s->kept->range;
        if (!narrow(s->kept, tiles, &range))
            continue;
        if (s->kept->has_plane)
            bound = fmax(bound, dfl_form_goal_bound(&b->goal, dfl_geometric_least(s->kept->program->program, &s->kept->plane,
                                                                                  &range)));
        if (bound >= least)
            continue;
        bound = fmax(bound, solve(b, s->kept, &range, s->kept->has_plane ? &s->kept->state : NULL, least, &solution));
        if (solution.reason != DFL_GEOMETRIC_INFEASIBLE) {
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
    return least;
}
