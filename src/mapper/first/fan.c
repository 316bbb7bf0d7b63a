#include "mapper/first/fan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/problem/limits.h"

/* Elements of each rank that an instance of the axes of a mask has. */
static void share_ranks(const dfl_problem *problem, const dfl_fan *fan, uint32_t axes, int64_t *left)
{
    for (uint32_t r = 0; r < problem->n_ranks; r++) {
        left[r] = problem->extent[r];
        for (uint32_t a = 0; a < problem->n_axes; a++)
            if (axes >> a & 1)
                left[r] = dfl_divide_up(left[r], fan->parts[a][r]);
    }
}

/* The side of equal blocks of all operands that fill a place. */
static double block_side(const dfl_problem *problem, uint32_t place)
{
    const dfl_problem_place *p = &problem->place[place];
    double bits = 0, most = 0;

    for (uint32_t o = 0; o < problem->n_operands; o++) {
        if (!(problem->operand[o].places >> place & 1))
            continue;
        bits += problem->operand[o].bits * (problem->operand[o].output ? 1 : p->buffers);
        most = fmax(most, __builtin_popcount(problem->operand[o].ranks));
    }
    return bits == 0 || most == 0 ? 1 : fmax(1, pow(p->bits / bits, 1 / fmin(most, 2)));
}

/* What the score of a choice needs of each place, and of the unit behind them. */
typedef struct {
    const dfl_problem *problem;
    const dfl_fan *fan;
    double side[DFL_PROBLEM_PLACES + 1];              /* of blocks */
    uint32_t axes[DFL_PROBLEM_PLACES + 1];            /* around */
    int64_t left[DFL_PROBLEM_PLACES + 1][DFL_PROBLEM_RANKS]; /* elements of each rank */
} place_shares;

static void share_places(const dfl_problem *problem, const dfl_fan *fan, place_shares *out)
{
    out->problem = problem;
    out->fan = fan;
    for (uint32_t p = 0; p <= problem->n_places; p++) {
        out->side[p] = p == problem->n_places ? 1 : block_side(problem, p);
        out->axes[p] = p == problem->n_places ? (1u << problem->n_axes) - 1 : problem->place[p].axes;
        if (p > 0 && out->axes[p] == out->axes[p - 1])
            memcpy(out->left[p], out->left[p - 1], sizeof out->left[p]);
        else
            share_ranks(problem, fan, out->axes[p], out->left[p]);
    }
}

/* The first place inside of place `p` that may hold the operand; n_places: the unit. */
static uint32_t next_place(const dfl_problem *problem, uint32_t o, uint32_t p)
{
    for (p++; p < problem->n_places; p++)
        if (problem->operand[o].places >> p & 1)
            return p;
    return p;
}

typedef struct { double joules, port[2 * DFL_PROBLEM_PLACES]; } loads;

/* Bits of an operand that leave one instance of the place `from` for the next place, `to`, or enter it from there; n_places:
   the unit. `stays`: the loops over ranks outside of the operand are the innermost above `to`, and its tile stays while they
   run. */
static double bits_between(const place_shares *s, uint32_t operand, uint32_t from, uint32_t to, bool stays)
{
    const dfl_problem *problem = s->problem;
    const dfl_problem_operand *o = &problem->operand[operand];
    const bool unit = to == problem->n_places;
    const uint32_t between = s->axes[to] & ~s->axes[from];
    const int64_t *left = s->left[from], *inner = s->left[to];
    double bits = o->bits;

    for (uint32_t r = 0; r < problem->n_ranks; r++) {
        double block = !unit && stays ? (double)inner[r] : fmin(s->side[to], (double)inner[r]);
        if (o->ranks >> r & 1) {
            bits *= (double)left[r];
            continue;
        }
        for (uint32_t a = 0; a < problem->n_axes; a++)
            if ((between >> a & 1) && (problem->axis[a].shared >> operand & 1))
                block *= (double)s->fan->parts[a][r];
        bits *= ceil((double)left[r] / block);
    }
    return bits;
}

/* Adds the energy and the port times of an operand's transfers between a memory level and the next inner one. */
static void add_way(const place_shares *s, uint32_t operand, uint32_t from, bool stays, loads *to)
{
    const dfl_problem *problem = s->problem;
    const dfl_fan *fan = s->fan;
    const dfl_problem_operand *o = &problem->operand[operand];
    const uint32_t next = next_place(problem, operand, from);
    const dfl_problem_place *p = &problem->place[from], *q = next < problem->n_places ? &problem->place[next] : NULL;
    const uint32_t between = s->axes[next] & ~p->axes;
    const double bits = bits_between(s, operand, from, next, stays);
    double spread = 1, instances = 1;

    for (uint32_t a = 0; a < problem->n_axes; a++)
        for (uint32_t r = 0; r < problem->n_ranks; r++) {
            if (p->axes >> a & 1)
                instances *= (double)fan->parts[a][r];
            if ((between >> a & 1) && !(o->ranks >> r & 1))
                spread *= (double)fan->parts[a][r];
        }
    to->port[2 * from + (o->output && !p->one_port)] += bits * (o->output ? p->write_seconds : p->read_seconds);
    to->joules += instances * bits * (o->output ? p->write_joules + p->read_joules : p->read_joules);
    if (q) {
        to->joules += instances * bits * spread * (o->output ? q->drain_joules : q->write_joules);
        for (uint32_t a = 0; a < problem->n_axes; a++)
            if (between >> a & 1)
                to->joules += instances * bits * spread * problem->axis[a].joules;
    }
}

/* The operand that saves the most bits if it stays in a place while others change; n_operands: none is kept there. */
static uint32_t find_staying(const place_shares *s, uint32_t place)
{
    const dfl_problem *problem = s->problem;
    uint32_t best = problem->n_operands;
    double most = -1;

    for (uint32_t o = 0; o < problem->n_operands; o++)
        for (uint32_t p = problem->operand[o].home; p < place; p = next_place(problem, o, p)) {
            double saved;
            if (next_place(problem, o, p) != place)
                continue;
            saved = bits_between(s, o, p, place, false) - bits_between(s, o, p, place, true);
            if (saved > most) {
                most = saved;
                best = o;
            }
        }
    return best;
}

double dfl_fan_score(const dfl_problem *problem, const dfl_objective *objective, const dfl_fan *fan, bool may_stay)
{
    loads of = { .joules = problem->points * problem->joules };
    double work = problem->seconds, longest, sum;
    uint32_t staying[DFL_PROBLEM_PLACES + 1];
    place_shares s;

    share_places(problem, fan, &s);
    for (uint32_t r = 0; r < problem->n_ranks; r++)
        work *= (double)s.left[problem->n_places][r];
    staying[problem->n_places] = problem->n_operands;
    for (uint32_t p = 0; p < problem->n_places; p++)
        staying[p] = may_stay ? find_staying(&s, p) : problem->n_operands;
    for (uint32_t o = 0; o < problem->n_operands; o++)
        for (uint32_t p = problem->operand[o].home; p < problem->n_places; p = next_place(problem, o, p))
            add_way(&s, o, p, staying[next_place(problem, o, p)] == o, &of);
    longest = sum = work;
    for (uint32_t i = 0; i < 2 * problem->n_places; i++) {
        longest = fmax(longest, of.port[i]);
        sum += of.port[i];
    }
    return dfl_objective_value(objective, of.joules, longest + 0.1 * sum);
}

/* ---- the choices of one axis behind those of the axes outside of it ---- */

typedef struct {
    const dfl_problem *problem;
    const dfl_objective *objective;
    bool may_stay, is_brief;
    uint32_t axis, n, most;
    dfl_fan *best;                  /* `most` and one more, best first */
    uint32_t left;                  /* choices that may be looked at */
    int64_t above[DFL_PROBLEM_RANKS]; /* elements that the axes outside leave */
} finder;

/* Whether the same operands have both ranks, and neither may belong to a window. */
static bool are_alike(const dfl_problem *problem, uint32_t r, uint32_t q)
{
    if (problem->windows)
        return r == q;
    for (uint32_t o = 0; o < problem->n_operands; o++)
        if ((problem->operand[o].ranks >> r & 1) != (problem->operand[o].ranks >> q & 1))
            return false;
    return true;
}

/* Whether two choices have one score, and as many parts over all axes of each rank and those alike: else the many ways to divide
   an axis among ranks that are alike would leave no place for other choices. */
static bool same_fan(const dfl_fan *a, const dfl_fan *b, const dfl_problem *problem)
{
    if (fabs(a->score - b->score) > 1e-12 * fabs(a->score))
        return false;
    for (uint32_t r = 0; r < problem->n_ranks; r++) {
        double x = 1, y = 1;
        for (uint32_t q = 0; q < problem->n_ranks; q++)
            for (uint32_t i = 0; i < problem->n_axes && are_alike(problem, r, q); i++) {
                x *= (double)a->parts[i][q];
                y *= (double)b->parts[i][q];
            }
        if (x != y)
            return false;
    }
    return true;
}

/* Puts a choice in its place; of equal ones the first stays. */
static void take_fan(finder *k, dfl_fan *fan)
{
    uint32_t at;

    fan->score = dfl_fan_score(k->problem, k->objective, fan, k->may_stay);
    if (k->left > 0)
        k->left--;
    if (!(fan->score < INFINITY))
        fan->score = INFINITY;
    at = k->n;
    while (at > 0 && fan->score < k->best[at - 1].score * (1 - 1e-12))
        at--;
    for (uint32_t i = at; i > 0 && k->best[i - 1].score <= fan->score * (1 + 1e-12); i--)
        if (same_fan(&k->best[i - 1], fan, k->problem))
            return;
    if (at == k->most)
        return;
    memmove(&k->best[at + 1], &k->best[at], (k->n - at) * sizeof *k->best);
    k->best[at] = *fan;
    k->n += k->n < k->most;
}

/* Parts that leave none empty: the next number at most `p`. */
static int64_t useful_parts(int64_t extent, int64_t p) { return dfl_divide_up(extent, dfl_divide_up(extent, p)); }

/* Spreads ranks from `r` on, at most `ranks` of them, over what is free of the axis. What could spread a rank further is left out
   unless nothing is spread at all. */
static void spread_rest(finder *k, dfl_fan *fan, uint32_t r, int64_t free, uint32_t ranks)
{
    const dfl_problem *problem = k->problem;
    int64_t most;

    if (k->left == 0)
        return;
    if (r == problem->n_ranks) {
        for (uint32_t i = 0; i < problem->n_ranks && free > 1; i++) {
            const int64_t p = fan->parts[k->axis][i];
            if (p > 1 && useful_parts(k->above[i], p * free < k->above[i] ? p * free : k->above[i]) > p)
                return;
        }
        take_fan(k, fan);
        return;
    }
    most = problem->axis[k->axis].ranks >> r & 1 && ranks > 0 ? (free < k->above[r] ? free : k->above[r]) : 1;
    for (int64_t p = useful_parts(k->above[r], most); p > 0;
         p = p > 1 ? useful_parts(k->above[r], k->is_brief ? p / 2 : p - 1) : 0) {
        fan->parts[k->axis][r] = p;
        spread_rest(k, fan, r + 1, free / p, ranks - (p > 1));
    }
    fan->parts[k->axis][r] = 1;
}

/* Whether the list must be short from here on: `is_brief` is set, or the deadline has passed. */
static bool is_hurried(bool is_brief, dfl_deadline *halt)
{
    if (halt != NULL)
        halt->polls = 0; /* the next poll reads the clock */
    return is_brief || (halt != NULL && dfl_deadline_passed(halt));
}

/* The best choices by one of the two scores, `width` at most; their number is *n. */
static const dfl_fan *find_by_score(dfl_arena *arena, const dfl_problem *problem, const dfl_objective *objective, bool may_stay,
                                    uint32_t width, bool is_brief, dfl_deadline *halt, uint32_t *n)
{
    finder k = { .problem = problem, .objective = objective, .may_stay = may_stay, .is_brief = is_brief, .most = width };
    dfl_fan *from = DFL_NEW_ARRAY(arena, dfl_fan, width + 1);
    uint32_t n_from = 1;

    k.best = DFL_NEW_ARRAY(arena, dfl_fan, width + 1);
    for (uint32_t a = 0; a < DFL_PROBLEM_AXES; a++)
        for (uint32_t r = 0; r < DFL_PROBLEM_RANKS; r++)
            from[0].parts[a][r] = 1;
    from[0].score = dfl_fan_score(problem, objective, &from[0], may_stay);
    for (k.axis = 0; k.axis < problem->n_axes; k.axis++) {
        dfl_fan *swap;
        k.n = 0;
        for (uint32_t i = 0; i < n_from; i++) {
            dfl_fan fan = from[i];
            k.is_brief = is_hurried(is_brief, halt);
            k.left = (k.is_brief ? DFL_FIRST_FAN_STEPS_BRIEF : DFL_FIRST_FAN_STEPS) / n_from;
            share_ranks(problem, &fan, (1u << k.axis) - 1, k.above);
            spread_rest(&k, &fan, 0, problem->axis[k.axis].size, DFL_FIRST_FAN_RANKS);
            fan = from[i];
            k.left = 1;
            take_fan(&k, &fan);
        }
        swap = from;
        from = k.best;
        k.best = swap;
        n_from = k.n;
    }
    *n = n_from;
    return from;
}

static bool has_fan(const dfl_fan *fans, uint32_t n, const dfl_fan *fan)
{
    for (uint32_t i = 0; i < n; i++)
        if (memcmp(fans[i].parts, fan->parts, sizeof fan->parts) == 0)
            return true;
    return false;
}

const dfl_fan *dfl_fans_find(dfl_arena *arena, const dfl_problem *problem, const dfl_objective *objective, uint32_t most,
                             dfl_first_breadth breadth, dfl_deadline *halt, uint32_t *n)
{
    const bool is_brief = breadth != DFL_FIRST_WIDE;
    const uint32_t least = is_brief ? DFL_FIRST_FANS_BRIEF : DFL_FIRST_FANS, width = most > least ? most : least;
    dfl_fan *out = DFL_NEW_ARRAY(arena, dfl_fan, most + 1);
    const dfl_fan *lists[2];
    uint32_t lengths[2];

    *n = 0;
    for (uint32_t l = 0; l < 2; l++)
        lists[l] = find_by_score(arena, problem, objective, l == 1, width, is_brief, halt, &lengths[l]);
    for (uint32_t i = 0; i < width; i++)
        for (uint32_t l = 0; l < 2 && *n < most; l++)
            if (i < lengths[l] && !has_fan(out, *n, &lists[l][i]))
                out[(*n)++] = lists[l][i];
    return out;
}
