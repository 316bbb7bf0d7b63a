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

/* Weights of the times of some skeletons of a pattern (B41, B47). */
typedef struct {
    const dfl_problem *problem;       /* problem of all these skeletons: one unit */
    uint64_t innermost;               /* innermost keeps of all these skeletons, by operand */
    uint32_t turns;                   /* number of times that other weights may still be tried */
    double at[DFL_FORM_TIMES];        /* [time]: weight >= 0, at most 1 in sum */
} time_weights;

typedef struct {
    double least;                     /* lower bound with all tiles */
    uint32_t candidate;               /* of the class */
    time_weights *weights;
    bool is_apart;                    /* no tile of it stays, so it has weights of its own (B47) */
    bool is_impossible;               /* no amounts fit */
    bool has_program;                 /* it may have a program: none has failed so far */
    kept_program *kept;               /* NULL = not asked for */
} skeleton;

struct dfl_pattern_bounds {
    dfl_arena *arena, *scratch;
    const dfl_einsum_class *class;
    dfl_objective line;
    dfl_form_goal goal;               /* the same for programs that take the largest of the times */
    DFL_VEC(time_weights *) weights;
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

static const dfl_candidate *candidate_of(const dfl_pattern_bounds *b, const skeleton *s)
{
    return &b->class->candidates.at[s->candidate];
}

/* The goal of programs: without windows, nothing stays, and times count with the weights of the skeleton. */
static dfl_form_goal goal_of(const dfl_pattern_bounds *b, const skeleton *s)
{
    dfl_form_goal goal = b->goal;

    goal.is_whole = !dfl_problem_slides(candidate_of(b, s)->problem);
    goal.weights = goal.is_whole ? s->weights->at : NULL;
    return goal;
}

/* A bound of a skeleton whatever the room, as its program counts. */
static double find_roomy(const dfl_pattern_bounds *b, const skeleton *s)
{
    const dfl_candidate *c = candidate_of(b, s);
    const double units = dfl_problem_instances(c->problem, ~0u);
    double share = s->weights->at[DFL_FORM_TIME_WORK], seconds = 0;

    if (dfl_problem_slides(c->problem) || c->problem->n_ranks == 0)
        return dfl_objective_value(&b->line, c->roomy_joules, c->roomy_seconds);
    for (uint32_t port = 0; port < 2 * c->problem->n_places; port++) {
        share += s->weights->at[2 * port + 1];
        seconds += s->weights->at[2 * port] * c->below[port];
    }
    return dfl_objective_value(&b->line, c->roomy_joules, seconds + c->problem->seconds * c->problem->points / units * share);
}

/* The innermost keep of each operand: those stay if keeps move outwards, and keeps further out then save nothing (B47). */
static uint64_t find_innermost(const dfl_problem *problem, const dfl_tiling_template *t)
{
    uint64_t out = 0;

    for (uint32_t o = 0; o < problem->n_operands; o++)
        out = out * (DFL_PROBLEM_PLACES + 1) + (t->innermost[o] < 0 ? 0 : 1 + t->keep[t->innermost[o]].place);
    return out;
}

/* New weights: the work alone. */
static time_weights *add_weights(dfl_pattern_bounds *b, const dfl_problem *problem, uint64_t innermost)
{
    time_weights *w = DFL_NEW(b->arena, time_weights);

    *w = (time_weights){ .problem = problem, .innermost = innermost, .turns = DFL_WEIGHT_TURNS };
    w->at[DFL_FORM_TIME_WORK] = 1;
    DFL_PUSH(b->arena, &b->weights, w);
    return w;
}

/* Adds the skeletons of a pattern. */
static void add_skeletons(dfl_pattern_bounds *b, uint32_t pattern)
{
    const size_t first = b->weights.n;

    b->first[pattern] = b->n;
    for (uint32_t i = 0; i < b->class->candidates.n; i++) {
        const dfl_candidate *c = &b->class->candidates.at[i];
        const uint64_t innermost = find_innermost(c->problem, c->form);
        skeleton *s = &b->at[b->n];
        size_t w = first;
        if (c->pattern != pattern)
            continue;
        while (w < b->weights.n && (b->weights.at[w]->problem != c->problem || b->weights.at[w]->innermost != innermost))
            w++;
        *s = (skeleton){ .candidate = i, .has_program = c->problem->n_ranks > 0,
                         .weights = w < b->weights.n ? b->weights.at[w] : add_weights(b, c->problem, innermost) };
        s->least = find_roomy(b, s);
        b->n++;
    }
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
    b->at = dfl_arena_alloc(arena, class->candidates.n + 1, sizeof *b->at, _Alignof(skeleton));
    b->first = DFL_NEW_ARRAY(arena, uint32_t, class->patterns.n + 1);
    b->n = 0;
    b->weights.n = b->weights.cap = 0;
    b->weights.at = NULL;
    for (uint32_t p = 0; p < class->patterns.n; p++)
        add_skeletons(b, p);
    b->first[class->patterns.n] = b->n;
    return b;
}

/* Whether short pieces of some tile may stay in their memory. */
static bool has_stays(const dfl_form *f)
{
    bool found = false;

    for (uint32_t i = 0; i < f->n_counts; i++)
        found |= f->count[i].n_stays > 0;
    return found;
}

/* Makes the form of a skeleton, in which the skeleton gets weights of its own if no tile stays; NULL = it has none. */
static dfl_form *make_form(dfl_pattern_bounds *b, dfl_arena *arena, skeleton *s)
{
    const dfl_candidate *c = candidate_of(b, s);
    dfl_form *form = dfl_form_make(arena, c->problem, c->form, &b->terms);

    s->has_program = form != NULL;
    if (form != NULL && !s->is_apart && !dfl_problem_slides(c->problem) && !has_stays(form)) {
        s->is_apart = true;
        s->weights = add_weights(b, c->problem, s->weights->innermost);
        s->weights->turns = 0;
    }
    return form;
}

/* Makes the program of a skeleton for all amounts. False if no amounts fit, or if it has no program: then it keeps its bound. */
static bool make_program(dfl_pattern_bounds *b, dfl_arena *arena, const dfl_form *form, const dfl_form_goal *goal, skeleton *s,
                         kept_program *out)
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

/* A bound without the first fetches that the sum over einsums counts, too. */
static double take_rebate(const dfl_pattern_bounds *b, uint32_t pattern, double bound)
{
    return fmax(bound - b->line.per_joule * b->class->patterns.at[pattern].rebate, 0);
}

double dfl_pattern_bounds_roomy(const dfl_pattern_bounds *b, uint32_t pattern)
{
    double least = INFINITY;

    for (uint32_t i = b->first[pattern]; i < b->first[pattern + 1]; i++)
        least = fmin(least, b->at[i].least);
    return take_rebate(b, pattern, least);
}

/* Sets weights to the multipliers of the times of a program. False if there are none. */
static bool set_weights(const kept_program *k, const dfl_geometric_solution *solution, time_weights *out)
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

/* Bounds a skeleton in which no tile stays: the multipliers of the times, where the latency is the largest of them, become its
   weights, and its bound is that with these weights, which holds in parts of a mapping, too (B43, B47). A program that is not
   solved to its end has no good multipliers: if that shows, it is solved again. */
static void bound_apart(dfl_pattern_bounds *b, const dfl_form *form, skeleton *s, double enough)
{
    const double until[] = { enough, INFINITY };
    bool is_less = true;

    for (uint32_t i = 0; i < 2 && is_less && !s->is_impossible && s->has_program; i++) {
        dfl_form_goal goal = goal_of(b, s);
        dfl_geometric_solution solution;
        kept_program k;
        double largest, mean = 0;
        goal.weights = NULL;
        if (!make_program(b, b->scratch, form, &goal, s, &k))
            continue;
        largest = solve(b, &k, &k.range, NULL, until[i], &solution);
        if (!set_weights(&k, &solution, s->weights)) { /* nothing fits, or no time counts */
            s->least = fmax(s->least, largest);
            break;
        }
        goal.weights = s->weights->at;
        if (make_program(b, b->scratch, form, &goal, s, &k))
            mean = solve(b, &k, &k.range, NULL, enough, &solution);
        s->least = fmax(find_roomy(b, s), mean);
        is_less = largest > enough && s->least <= enough;
    }
}

/* Bounds a skeleton by its program, as far as it takes to know that the bound is above `enough`. */
static void bound_skeleton(dfl_pattern_bounds *b, skeleton *s, double enough)
{
    dfl_form *form = s->has_program && !s->is_impossible ? make_form(b, b->scratch, s) : NULL;
    const dfl_form_goal goal = goal_of(b, s);
    dfl_geometric_solution solution;
    kept_program k;

    if (form != NULL && s->is_apart)
        bound_apart(b, form, s, enough);
    else if (form != NULL && make_program(b, b->scratch, form, &goal, s, &k))
        s->least = fmax(s->least, solve(b, &k, &k.range, NULL, enough, &solution));
    if (s->is_impossible)
        s->least = INFINITY;
    dfl_arena_reset(b->scratch);
}

/* The least bound of the skeletons of a pattern, of those with `weights`, or of all; 0 if the deadline passes meanwhile, or if
   the bound is not above `floor`. */
static double find_least(dfl_pattern_bounds *b, uint32_t pattern, const time_weights *weights, double floor)
{
    double least = INFINITY;

    sort_pattern(b, pattern);
    for (uint32_t i = b->first[pattern]; i < b->first[pattern + 1] && b->at[i].least < least; i++) {
        if (weights != NULL && b->at[i].weights != weights)
            continue;
        if (least <= floor || dfl_deadline_passed(b->deadline))
            return 0;
        bound_skeleton(b, &b->at[i], least);
        least = fmin(least, b->at[i].least);
    }
    sort_pattern(b, pattern);
    return least;
}

/* Sets the weights of a skeleton without a program of all times to the port that is busy for longest whatever the room. False if
   the work takes longer. */
static bool guess_weights(const dfl_pattern_bounds *b, const skeleton *s)
{
    const dfl_candidate *c = candidate_of(b, s);
    uint32_t busiest = 0;

    for (uint32_t port = 1; port < 2 * c->problem->n_places; port++)
        busiest = c->below[port] > c->below[busiest] ? port : busiest;
    memset(s->weights->at, 0, sizeof s->weights->at);
    s->weights->at[2 * busiest] = 1 - DFL_WEIGHT_OF_WORK;
    s->weights->at[DFL_FORM_TIME_WORK] = DFL_WEIGHT_OF_WORK;
    return c->below[busiest] >= c->roomy_seconds * (1 - DFL_LINES_ROUNDING);
}

/* Sets the weights of a skeleton to the multipliers of the times at its best point. False if there are none, or if the bound
   cannot be `enough` with any weights. */
static bool turn_weights(dfl_pattern_bounds *b, const skeleton *of, double enough)
{
    const dfl_form_goal goal = b->goal;
    dfl_geometric_solution solution;
    skeleton s = *of;
    dfl_form *form = s.has_program && !s.is_impossible ? make_form(b, b->scratch, &s) : NULL;
    bool is_turned = false;
    kept_program k;

    if (form != NULL && make_program(b, b->scratch, form, &goal, &s, &k))
        is_turned = solve(b, &k, &k.range, NULL, INFINITY, &solution) > enough && set_weights(&k, &solution, of->weights);
    else if (form != NULL && !s.is_impossible)
        is_turned = guess_weights(b, of);
    dfl_arena_reset(b->scratch);
    return is_turned;
}

/* Bounds the skeletons with the weights of the first one with other weights: those of its best point in odd turns, else the means
   of both. If that is not better, nothing changes. */
static void raise_first(dfl_pattern_bounds *b, uint32_t pattern)
{
    const uint32_t first = b->first[pattern], n = b->first[pattern + 1] - first;
    const double enough = b->at[first].least * (1 + DFL_WEIGHT_RAISE);
    time_weights *weights = b->at[first].weights, before = *weights;
    dfl_arena *work = dfl_arena_new(NULL);
    skeleton *copy = dfl_arena_alloc(work, n + 1u, sizeof *copy, _Alignof(skeleton));
    bool is_better = false;

    memcpy(copy, b->at + first, n * sizeof *copy);
    before.turns--;
    if (turn_weights(b, &copy[0], enough)) {
        for (uint32_t i = 0; i < DFL_FORM_TIMES && before.turns % 2 == 0; i++)
            weights->at[i] = (weights->at[i] + before.at[i]) / 2;
        for (uint32_t i = first; i < first + n; i++)
            if (b->at[i].weights == weights)
                b->at[i].least = b->at[i].is_impossible ? INFINITY : find_roomy(b, &b->at[i]);
        is_better = find_least(b, pattern, weights, enough) > enough;
    } else {
        before.turns = 0;
    }
    if (!is_better) {
        *weights = before;
        memcpy(b->at + first, copy, n * sizeof *copy);
    }
    weights->turns = before.turns;
    dfl_arena_free(work);
}

double dfl_pattern_bounds_least(dfl_pattern_bounds *b, uint32_t pattern)
{
    const skeleton *first = &b->at[b->first[pattern]];
    double least = find_least(b, pattern, NULL, 0);

    if (b->first[pattern] == b->first[pattern + 1] || dfl_problem_slides(candidate_of(b, first)->problem) ||
        b->line.per_second == 0)
        return take_rebate(b, pattern, least);
    while (least > 0 && least < INFINITY && first->weights->turns > 0 && !dfl_deadline_passed(b->deadline)) {
        raise_first(b, pattern);
        least = fmax(least, find_least(b, pattern, NULL, least));
    }
    return take_rebate(b, pattern, least);
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
    const dfl_form *form = s->is_impossible ? NULL : make_form(b, b->arena, s);
    dfl_form_goal goal = goal_of(b, s);
    kept_program *k = DFL_NEW(b->arena, kept_program);

    goal.has_others = true;
    if (form == NULL || !goal.is_whole || !make_program(b, b->arena, form, &goal, s, k))
        return;
    k->has_plane = false;
    s->kept = k;
}

/* Leaves a program the room that others do not take. False if that is none. */
static bool take_room(const kept_program *k, const double *taken)
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
        if (!narrow(s->kept, tiles, &range) || !take_room(s->kept, taken))
            continue;
        if (s->kept->has_plane)
            bound = fmax(bound, dfl_form_goal_bound(&b->goal, dfl_geometric_least(s->kept->program->program, &s->kept->plane,
                                                                                  &range)));
        if (bound >= least)
            continue;
        bound = fmax(bound, solve(b, s->kept, &range, s->kept->has_plane ? &s->kept->state : NULL, least, &solution));
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
    return take_rebate(b, pattern, least);
}
