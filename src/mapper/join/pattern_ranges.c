#include "mapper/join/pattern_ranges.h"

#include <math.h>
#include <string.h>

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

/* The room of the tile of a keep outside of arrays at a point, bits; 0 inside of arrays. */
static double find_tile(const dfl_kept_program *k, uint32_t keep, const dfl_geometric_state *state)
{
    const dfl_form *f = k->form;
    double bits = dfl_logarithm(f->keep[keep].bits);

    for (uint32_t r = 0; r < f->problem->n_ranks; r++) {
        int cut;
        if (!(f->problem->operand[f->skeleton->keep[keep].operand].ranks >> r & 1))
            continue;
        if (!find_cut(&f->chain[r], keep, &cut))
            return 0;
        bits += dfl_form_program_length(k->program, r, cut, state->x);
    }
    return exp(bits);
}

/* Mask of the keeps of a skeleton that may be held (B62): above keep `exchange`, that of `operand`, in the memory of that. */
static uint32_t find_held(const dfl_pattern_bounds *b, const dfl_candidate *c, uint32_t operand, uint32_t exchange)
{
    const dfl_tiling_template *t = c->form;
    uint32_t held = 0;

    for (uint32_t i = 0; i < exchange && exchange < t->n_keeps; i++) {
        const bool is_made = c->problem->operand[t->keep[i].operand].output;
        const bool counts = !t->keep[i].home || (is_made != c->problem->operand[operand].output &&
                                                 c->problem->operand[t->keep[i].operand].common == 0);
        if (counts && t->keep[i].place == t->keep[exchange].place && (b->alone >> t->keep[i].operand & 1))
            held |= 1u << i;
    }
    return held;
}

static void find_point(const dfl_pattern_bounds *b, const dfl_bounded_skeleton *s, const dfl_kept_program *k,
                       const dfl_geometric_state *state, dfl_exchanged_point *out)
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
    for (uint32_t i = 0; i < f->n_keeps; i++) {
        const double tile = find_tile(k, i, state);
        out->room[f->keep[i].place] += tile;
        for (uint32_t o = 0; o < f->problem->n_operands; o++)
            out->held[o] += (o == k->operand ? k->held : find_held(b, s->candidate, o, find_exchange(f->skeleton, o))) >> i & 1
                                ? tile : 0;
    }
}

static void forget_point(dfl_exchanged_point *point)
{
    for (uint32_t o = 0; o < DFL_PROBLEM_OPERANDS; o++)
        for (uint32_t d = 0; d < DFL_PROBLEM_DIMS; d++)
            point->at[o][d] = NAN;
    memset(point->room, 0, sizeof point->room);
    memset(point->held, 0, sizeof point->held);
}

/* The program of a skeleton without loops in the gaps behind gap `last` down to the exchange of an operand, that can limit the
   room of keeps `held`; DFL_NONE = with all loops. NULL if there is none; then `*s` says whether nothing fits. */
static dfl_kept_program *make_program(dfl_pattern_bounds *b, dfl_bounded_skeleton *s, uint32_t operand, uint32_t held,
                                      uint32_t last)
{
    const uint32_t exchange = operand != DFL_NONE ? find_exchange(s->candidate->form, operand) : 0;
    const dfl_candidate *c = s->candidate;
    dfl_kept_program *k = DFL_NEW(b->arena, dfl_kept_program);
    dfl_form_goal goal = dfl_bounded_goal(b, s);
    dfl_tiling_template t = *c->form;
    dfl_candidate flat = *c;
    const dfl_form *form;

    for (uint32_t g = last + 1; g <= exchange && exchange < t.n_keeps; g++)
        t.allow[g] = 0;
    flat.form = &t;
    s->candidate = &flat;
    form = dfl_bounded_form(b, b->arena, s);
    s->candidate = c;
    goal.has_others = true;
    goal.limited = held;
    if (form == NULL || !goal.is_whole || !dfl_bounded_program(b, b->arena, form, &goal, s, k))
        return NULL;
    k->has_plane = false;
    k->operand = operand;
    k->held = held;
    k->is_listed = 0;
    k->next = NULL;
    memset(k->limits, 0, sizeof k->limits);
    return k;
}

/* Keeps the program of a skeleton. */
static void keep_program(dfl_pattern_bounds *b, dfl_bounded_skeleton *s)
{
    s->kept = s->is_impossible ? NULL : make_program(b, s, DFL_NONE, 0, 0);
}

/* Adds the programs of a skeleton that limit the room of held keeps above the exchange of an operand: with all of them, with one
   less, ..., with none. If one of them has no program, none is added. */
static void add_limits(dfl_pattern_bounds *b, const dfl_bounded_skeleton *s, uint32_t operand)
{
    const uint32_t exchange = find_exchange(s->candidate->form, operand);
    uint32_t held = find_held(b, s->candidate, operand, exchange), gap = exchange;
    dfl_kept_program **last = &s->kept->limits[operand];
    bool is_last = held == 0;

    s->kept->is_listed |= 1u << operand;
    while (!is_last) {
        dfl_bounded_skeleton flat = *s;
        *last = make_program(b, &flat, operand, held, gap);
        if (*last == NULL && !flat.is_impossible) {
            s->kept->limits[operand] = NULL;
            return;
        }
        last = *last != NULL ? &(*last)->next : last;
        is_last = held == 0;
        gap = is_last ? 0 : 31u - (uint32_t)__builtin_clz(held);
        held &= ~(1u << gap);
    }
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

/* Leaves the held keeps of a program `most` bits. */
static void limit_keeps(const dfl_kept_program *k, double most)
{
    if (k->held != 0) {
        const double size = k->form->problem->place[k->form->keep[__builtin_ctz(k->held)].place].bits;
        dfl_form_program_limit_keeps(k->program, fmin(most / size * (1 + DFL_LINES_ROUNDING), 1));
    }
}

/* The bound of one program of a skeleton in ranges, with `most` bits for held keeps, or a bound of at least `least`; INFINITY =
   nothing fits. */
static double bound_program(dfl_pattern_bounds *b, dfl_kept_program *k, const dfl_exchanged_tiles *tiles, double most,
                            const double *taken, double least, dfl_geometric_solution *solution)
{
    dfl_geometric_box range = k->range;
    double bound = 0;

    if (!narrow(k, tiles, &range) || !take_room(k, taken))
        return INFINITY;
    limit_keeps(k, most);
    if (k->has_plane)
        bound = dfl_form_program_bound(k->program, &b->goal, dfl_geometric_least(k->program->program, &k->plane, &range));
    if (bound >= least)
        return bound;
    bound = fmax(bound, dfl_bounded_solve(b, k, &range, k->has_plane ? &k->state : NULL, least, solution));
    if (solution->reason != DFL_GEOMETRIC_INFEASIBLE && taken == NULL && k->held == 0) { /* else it holds for this room alone */
        k->has_plane = true;
        k->plane = solution->plane;
        k->state = solution->state;
    }
    return bound;
}

/* The least bound of the programs from `first` on, of a skeleton in ranges, or one of at least `least`. Sets the point if it is
   less. */
static double bound_programs(dfl_pattern_bounds *b, const dfl_bounded_skeleton *s, dfl_kept_program *first,
                             const dfl_exchanged_tiles *tiles, double most, const double *taken, double least,
                             dfl_exchanged_point *point)
{
    dfl_geometric_solution solution;
    double out = INFINITY;

    for (dfl_kept_program *k = first; k != NULL; k = k->next) {
        const double bound = fmax(s->least, bound_program(b, k, tiles, most, taken, fmin(least, out), &solution));
        if (bound < fmin(least, out)) {
            forget_point(point);
            find_point(b, s, k, &solution.state, point);
        }
        out = fmin(out, bound);
    }
    return out;
}

/* The bound of a skeleton in ranges, or one of at least `least`: the largest of those with what is held above the exchange of one
   operand. Sets the point if the bound is less. */
static double bound_kept(dfl_pattern_bounds *b, const dfl_bounded_skeleton *s, const dfl_exchanged_tiles *tiles,
                         const double *taken, double least, dfl_exchanged_point *point)
{
    dfl_exchanged_point found;
    double out = bound_programs(b, s, s->kept, tiles, INFINITY, taken, least, &found);

    for (uint32_t o = 0; o < s->candidate->problem->n_operands && out < least; o++) {
        dfl_exchanged_point other;
        double bound = 0;
        if (isinf(tiles->held[o]))
            continue;
        if (!(s->kept->is_listed >> o & 1))
            add_limits(b, s, o);
        if (s->kept->limits[o] != NULL)
            bound = bound_programs(b, s, s->kept->limits[o], tiles, tiles->held[o], taken, least, &other);
        if (bound > out && bound < least)
            found = other;
        out = fmax(out, bound);
    }
    if (out < least)
        *point = found;
    return out;
}

double dfl_pattern_bounds_within(dfl_pattern_bounds *b, uint32_t pattern, const dfl_exchanged_tiles *tiles,
                                 const double *taken, dfl_exchanged_point *point)
{
    double least = INFINITY;

    forget_point(point);
    for (uint32_t i = b->first[pattern]; i < b->first[pattern + 1] && b->sorted[i]->least < least; i++) {
        dfl_bounded_skeleton *s = b->sorted[i];
        if (dfl_deadline_passed(b->deadline))
            return 0;
        if (s->kept == NULL && s->has_program && !b->has_lengths) /* no bounds of ranges beside those over lengths (B58) */
            keep_program(b, s);
        if (s->is_impossible)
            continue;
        if (s->kept == NULL) {
            least = s->least;
            forget_point(point);
            continue;
        }
        least = fmin(least, bound_kept(b, s, tiles, taken, least, point));
    }
    return dfl_bounded_rebate(b, pattern, least);
}
