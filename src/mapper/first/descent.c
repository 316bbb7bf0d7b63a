#include "mapper/first/descent.h"

#include <math.h>
#include <string.h>

#include "mapper/first/estimate.h"
#include "mapper/problem/limits.h"

enum { SIZES = 96 };

/* A value is better if it is by more than rounding. */
static const double BETTER = 1 - 1e-9;

typedef struct {
    dfl_first_effort *effort;
    double slack;
    dfl_prepared *prepared;             /* NULL = the estimate judges */
    dfl_first_point *best;
    int64_t above[DFL_SKELETON_LINES];  /* of the best: elements that the lines above leave */
    dfl_skeleton settled;               /* the best as it stands in a mapping */
} descent;

bool dfl_first_over(dfl_first_effort *effort)
{
    effort->halt->polls = 0; /* an evaluation is worth a look at the clock */
    return effort->evaluated + effort->estimated / DFL_FIRST_ESTIMATES >= effort->most || dfl_deadline_passed(effort->halt);
}

/* Counts an evaluation by the model. A long one counts several times. */
static void count_evaluation(dfl_first_effort *effort, const dfl_prepared *p)
{
    effort->evaluated += 1 + dfl_prepared_steps(p) / DFL_FIRST_STEPS_EACH;
}

static bool same_amounts(const dfl_skeleton *a, const dfl_skeleton *b)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (a->at[i].kind != DFL_SKELETON_KEEP && a->at[i].amount != b->at[i].amount)
            return false;
    return true;
}

static bool is_better(double value, double than) { return value < (than < INFINITY ? than * BETTER : INFINITY); }

static double estimate(dfl_first_effort *effort, const dfl_problem *problem, const dfl_skeleton *settled)
{
    const dfl_estimate e = dfl_estimate_make(problem, settled);

    effort->estimated++;
    return e.seconds < INFINITY ? dfl_objective_value(effort->what->objective, e.joules + effort->leakage * e.seconds, e.seconds)
                                : INFINITY;
}

/* Takes wishes for the best if they are better. */
static bool try_wishes(descent *k, const dfl_skeleton *wishes)
{
    dfl_skeleton settled = *wishes;
    int64_t above[DFL_SKELETON_LINES];
    double guess, value = INFINITY, joules = 0, seconds = 0;

    dfl_skeleton_settle(k->best->problem, &settled, above);
    if (same_amounts(&settled, &k->settled) && k->best->estimate < INFINITY)
        return false;
    guess = estimate(k->effort, k->best->problem, &settled);
    if (k->prepared == NULL) {
        if (!is_better(guess, k->best->estimate))
            return false;
    } else {
        if (guess > k->best->estimate * k->slack || dfl_first_over(k->effort))
            return false;
        value = dfl_prepared_value(k->prepared, k->best->problem, &settled, &joules, &seconds);
        count_evaluation(k->effort, k->prepared);
        if (!is_better(value, k->best->value))
            return false;
    }
    k->best->lines = *wishes;
    k->best->estimate = guess;
    k->best->value = value;
    k->best->joules = joules;
    k->best->seconds = seconds;
    k->settled = settled;
    memcpy(k->above, above, sizeof k->above);
    return true;
}

/* The wishes of the best with another amount of line `i`, and all that follows. */
static dfl_skeleton with_amount(const descent *k, const dfl_skeleton *from, uint32_t i, int64_t amount)
{
    dfl_skeleton out = *from;
    const uint32_t r = out.at[i].rank;
    int64_t need = amount;

    out.at[i].amount = amount;
    if (out.at[i].kind == DFL_SKELETON_SPREAD)
        return out;
    for (uint32_t j = i + 1; j < out.n; j++)
        if (out.at[j].kind == DFL_SKELETON_LOOP && out.at[j].rank == r && k->above[j] > 1 &&
            k->settled.at[j].amount == k->above[j])
            out.at[j].amount = DFL_FIRST_WHOLE;
    for (uint32_t j = i; j-- > 0 && need < k->best->problem->extent[r];) {
        if (out.at[j].kind == DFL_SKELETON_KEEP || out.at[j].rank != r)
            continue;
        if (out.at[j].kind == DFL_SKELETON_SPREAD)
            need *= k->settled.at[j].amount;
        else if (out.at[j].amount < need)
            out.at[j].amount = need;
        else
            break;
    }
    return out;
}

/* Whether a later loop of the rank exists: the last one goes element by element, always. */
static bool may_change(const dfl_skeleton *s, uint32_t i)
{
    if (s->at[i].kind != DFL_SKELETON_LOOP)
        return false;
    for (uint32_t j = i + 1; j < s->n; j++)
        if (s->at[j].kind == DFL_SKELETON_LOOP && s->at[j].rank == s->at[i].rank)
            return true;
    return false;
}

/* Product of the parts on axes between line `i` and the next loop of its rank. */
static int64_t grain(const dfl_skeleton *s, uint32_t i)
{
    int64_t parts = 1;

    for (uint32_t j = i + 1; j < s->n; j++) {
        if (s->at[j].kind == DFL_SKELETON_KEEP || s->at[j].rank != s->at[i].rank)
            continue;
        if (s->at[j].kind == DFL_SKELETON_LOOP)
            break;
        parts *= s->at[j].amount;
    }
    return parts;
}

static uint32_t add_size(int64_t *sizes, uint32_t n, int64_t size, int64_t most)
{
    size = size < 1 ? 1 : size > most ? most : size;
    for (uint32_t i = 0; i < n; i++)
        if (sizes[i] == size)
            return n;
    if (n == SIZES)
        return n;
    sizes[n] = size;
    return n + 1;
}

/* Sizes to try for a loop that stands at `now` of `most`: by factors of two, and, if fine, the borders of numbers of iterations
   and the multiples of parts nearby. */
static uint32_t find_sizes(int64_t now, int64_t most, int64_t step, bool fine, int64_t *sizes)
{
    uint32_t n = add_size(sizes, 0, now, most);

    if (!fine) {
        for (int64_t t = step; t < most; t *= 2)
            n = add_size(sizes, n, t, most);
        return add_size(sizes, n, most, most);
    }
    for (int64_t d = 1; d <= 8; d *= 2) {
        const int64_t times = dfl_divide_up(most, now), down = now / step - d;
        n = add_size(sizes, n, dfl_divide_up(most, times + d), most);
        if (times > d)
            n = add_size(sizes, n, dfl_divide_up(most, times - d), most);
        if (step > 1 || now < 16) {
            n = add_size(sizes, n, (now / step + d) * step, most);
            if (down > 0)
                n = add_size(sizes, n, down * step, most);
        }
    }
    n = add_size(sizes, n, now / 4 * 3, most);
    n = add_size(sizes, n, now / 2 * 3, most);
    n = add_size(sizes, n, now / 2, most);
    return add_size(sizes, n, now < most / 2 ? 2 * now : most, most);
}

static bool change_one(descent *k, uint32_t i, bool fine)
{
    int64_t sizes[SIZES];
    const int64_t most = k->best->problem->extent[k->settled.at[i].rank];
    const int64_t outer = k->above[i] > 0 ? k->above[i] : most;
    uint32_t n = find_sizes(k->settled.at[i].amount, fine ? outer : most, grain(&k->settled, i), fine, sizes);
    bool any = false;

    for (uint32_t s = 1; s < n; s++) {
        const dfl_skeleton from = k->best->lines, wishes = with_amount(k, &from, i, sizes[s]);
        any |= try_wishes(k, &wishes);
    }
    return any;
}

/* Grows one loop while another one of the same gap shrinks. */
static bool trade(descent *k, uint32_t i, uint32_t j)
{
    static const int64_t factors[][2] = { { 2, 1 }, { 3, 2 }, { 5, 4 } };
    bool any = false;

    for (uint32_t f = 0; f < sizeof factors / sizeof *factors; f++) {
        const int64_t x = k->settled.at[i].amount, y = k->settled.at[j].amount, step = grain(&k->settled, i);
        int64_t more = dfl_divide_up(x * factors[f][0], factors[f][1] * step) * step, less = y * factors[f][1] / factors[f][0];
        dfl_skeleton wishes;
        if (less < 1 || x >= k->best->problem->extent[k->settled.at[i].rank])
            continue;
        wishes = with_amount(k, &k->best->lines, j, less);
        wishes = with_amount(k, &wishes, i, more);
        any |= try_wishes(k, &wishes);
    }
    return any;
}

/* All loops between two keeps against each other. */
static bool trade_all(descent *k)
{
    bool any = false;

    for (uint32_t i = 0; i < k->settled.n; i++) {
        if (!may_change(&k->settled, i))
            continue;
        for (uint32_t way = 0; way < 2; way++)
            for (uint32_t j = way ? i + 1 : i; way ? j < k->settled.n && k->settled.at[j].kind == DFL_SKELETON_LOOP : j-- > 0;
                 j += way) {
                if (k->settled.at[j].kind != DFL_SKELETON_LOOP)
                    break;
                if (k->settled.at[j].rank != k->settled.at[i].rank && may_change(&k->settled, j))
                    any |= trade(k, i, j);
            }
    }
    return any;
}

/* Moves one part of a rank on an axis to another rank. */
static bool change_parts(descent *k)
{
    bool any = false;

    for (uint32_t i = 0; i < k->settled.n; i++)
        for (int64_t d = -1; d <= 1 && k->settled.at[i].kind == DFL_SKELETON_SPREAD; d += 2) {
            dfl_skeleton wishes = k->best->lines;
            int64_t used = 1;
            wishes.at[i].amount = k->settled.at[i].amount + d;
            if (wishes.at[i].amount < 1)
                continue;
            for (uint32_t j = 0; j < wishes.n; j++)
                if (j != i && wishes.at[j].kind == DFL_SKELETON_SPREAD && wishes.at[j].axis == wishes.at[i].axis) {
                    used = k->best->problem->axis[wishes.at[i].axis].size / wishes.at[i].amount;
                    wishes.at[j].amount = used > 0 ? used : 1;
                    break;
                }
            any |= try_wishes(k, &wishes);
        }
    return any;
}

void dfl_first_descend(dfl_first_effort *effort, dfl_first_point *point, dfl_first_mode mode, double slack)
{
    const bool fine = mode != DFL_FIRST_COARSE;
    descent k = { .effort = effort, .slack = slack, .best = point, .settled = point->lines };
    bool any = true;

    dfl_skeleton_settle(point->problem, &k.settled, k.above);
    point->estimate = estimate(effort, point->problem, &k.settled);
    if (mode == DFL_FIRST_JUDGED) {
        k.prepared = dfl_prepared_new(effort->what, point->problem, &point->lines);
        point->value = dfl_prepared_value(k.prepared, point->problem, &k.settled, &point->joules, &point->seconds);
        count_evaluation(effort, k.prepared);
    }
    for (uint32_t round = 0; any && round < DFL_FIRST_ROUNDS; round++) {
        const double from = k.prepared ? point->value : point->estimate;
        if ((fine || !effort->is_first) && dfl_first_over(effort))
            break;
        if (!fine && round > 0 && point->estimate > effort->hopeless)
            break;
        any = false;
        for (uint32_t i = 0; i < k.settled.n; i++)
            if (may_change(&k.settled, i))
                any |= change_one(&k, i, fine);
        if (fine || !any)
            any |= trade_all(&k);
        if (fine)
            any |= change_parts(&k);
        if (fine && (k.prepared ? point->value : point->estimate) > from * DFL_FIRST_WORTH)
            break;
    }
    if (k.prepared)
        dfl_prepared_free(k.prepared);
}

void dfl_first_judge(dfl_first_effort *effort, dfl_first_point *point)
{
    dfl_prepared *prepared = dfl_prepared_new(effort->what, point->problem, &point->lines);
    dfl_skeleton settled = point->lines;

    dfl_skeleton_settle(point->problem, &settled, NULL);
    point->value = dfl_prepared_value(prepared, point->problem, &settled, &point->joules, &point->seconds);
    count_evaluation(effort, prepared);
    dfl_prepared_free(prepared);
}
