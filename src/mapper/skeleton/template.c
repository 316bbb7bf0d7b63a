/* All templates of a problem, by recursion over operands, then places, then the order in a place. */
#include "mapper/skeleton/template.h"

#include <string.h>

#include "mapper/problem/limits.h"

typedef struct {
    const dfl_problem *problem;
    bool (*use)(void *context, const dfl_tiling_template *t);
    void *context;
    uint32_t kept[DFL_PROBLEM_PLACES]; /* mask of operands per place, homes on the chip included */
    dfl_tiling_template t;
    bool useless;                    /* those that are left out, instead of the others */
    dfl_deadline *halt;              /* NULL = no limits */
    bool through, keeps;             /* only those with loops of others, see dfl_templates_through */
    bool stopped;
} walker;

static uint32_t ranks_of(const dfl_problem *problem, const dfl_template_keep *k)
{
    return problem->operand[k->operand].ranks;
}

/* Whether a keep has no room for two elements. */
static bool holds_one(const dfl_problem *problem, const dfl_template_keep *k)
{
    return 2.0 * problem->operand[k->operand].bits * dfl_template_buffers(problem, k) > problem->place[k->place].bits;
}

/* Whether windows slide along the operand of a keep, and it matters along what: that is not looked at where einsums exchange. */
static bool slides(const dfl_problem *problem, const dfl_template_keep *k)
{
    bool shared = false;

    for (uint32_t o = 0; o < problem->n_operands; o++)
        shared |= problem->operand[o].shared;
    return !shared && problem->operand[k->operand].ranks != problem->operand[k->operand].plain;
}

/* Ranks that no loop just below a keep is over, since the keep could stand below it; `next`: the one that follows, or NULL. */
static uint32_t useless_below(const dfl_problem *problem, const dfl_template_keep *k, const dfl_template_keep *next)
{
    const uint32_t plain = problem->operand[k->operand].plain;

    if (slides(problem, k))
        return 0;
    return next != NULL && slides(problem, next) ? plain & (~ranks_of(problem, next) | problem->operand[next->operand].plain)
        : plain;
}

/* Ranks of a keep inside of an array along which windows slide, if that follows with no loop between the one below the gap. */
static uint32_t slid_along(const dfl_problem *problem, const dfl_tiling_template *t, uint32_t g)
{
    uint32_t i = g;

    while (i < t->n_keeps && !slides(problem, &t->keep[i]))
        i++;
    return i < t->n_keeps && i > g && problem->place[t->keep[i].place].axes != problem->place[t->keep[g].place].axes
               ? ranks_of(problem, &t->keep[i]) : 0;
}

/* Ranks that may be cut in each gap: see template.h. */
static void allow_ranks(walker *k)
{
    const dfl_problem *problem = k->problem;
    dfl_tiling_template *t = &k->t;
    uint32_t above = 0; /* ranks that index all homes from here on, once there is one that loops may be shared for */
    bool seen = false;

    t->shared_gaps = 0;
    t->through = false;
    for (uint32_t g = t->n_keeps + 1; g-- > 0;) {
        uint32_t allow = (1u << problem->n_ranks) - 1;
        if (g < t->n_keeps && t->keep[g].home) {
            const dfl_problem_operand *o = &problem->operand[t->keep[g].operand];
            bool opens = o->common == 0 || problem->common_loops, again = o->common != 0 && problem->common_loops;
            above = opens && !seen ? (1u << problem->n_ranks) - 1 : above;
            above &= again ? ~0u : o->plain;
            seen |= opens;
            if (t->shared_gaps == 0)
                t->shared_gaps = g + 1;
        }
        if (t->shared_gaps != 0)
            allow &= above;
        else if (g < t->n_keeps)
            allow &= ranks_of(problem, &t->keep[g]);
        if (g > 0 && !t->keep[g - 1].home && t->shared_gaps == 0)
            allow &= ~useless_below(problem, &t->keep[g - 1], g < t->n_keeps ? &t->keep[g] : NULL);
        if (t->shared_gaps == 0 && problem->windows)
            allow |= slid_along(problem, t, g);
        t->allow[g] = allow;
    }
    for (uint32_t i = 0; i < t->n_keeps; i++)
        for (uint32_t g = i + 1; g <= t->n_keeps; g++) {
            t->allow[g] &= g <= t->written[i] ? ~ranks_of(problem, &t->keep[i]) : ~0u;
            t->allow[g] &= holds_one(problem, &t->keep[i]) ? ~problem->operand[t->keep[i].operand].plain : ~0u;
        }
    t->home_gaps = t->shared_gaps;
}

/* Gaps that need a loop: see template.h. False if one of them can have none. */
static bool find_needs(const dfl_problem *problem, dfl_tiling_template *t)
{
    t->needs = 0;
    for (uint32_t i = t->shared_gaps - t->through; i + 1 < t->n_keeps; i++) {
        const dfl_template_keep *a = &t->keep[i], *b = &t->keep[i + 1];
        uint32_t axes = problem->place[a->place].axes, next_axes = problem->place[b->place].axes;
        bool turned = slides(problem, a) != slides(problem, b) ? slides(problem, b) : a->operand > b->operand;
        if (a->operand == b->operand || !((axes & ~next_axes) != 0 || (axes == next_axes && turned)))
            continue;
        if (t->allow[i + 1] == 0)
            return false;
        if ((t->allow[i + 1] & (t->allow[i + 1] - 1)) == 0)
            t->needs |= 1u << (i + 1);
    }
    return true;
}

/* Whether a keep is filled beside the work, for something that the work would wait for longer without it. */
static bool takes_ahead(const dfl_problem *problem, const dfl_tiling_template *t, uint32_t keep, uint32_t inner)
{
    return problem->waits && !problem->place[t->keep[keep].place].waits &&
           (inner == t->n_keeps || problem->place[t->keep[inner].place].waits);
}

/* Whether each keep can give out more than it takes: see template.h. Of a single way to do so a gap needs a loop. */
static bool find_reuse(const dfl_problem *problem, dfl_tiling_template *t)
{
    for (uint32_t i = 0; i < t->n_keeps; i++) {
        uint32_t o = t->keep[i].operand, inner = i + 1, ways = 0, gap = 0, axes, apart = 0;
        if (t->keep[i].home || i + 1 < t->home_gaps)
            continue;
        while (inner < t->n_keeps && t->keep[inner].operand != o)
            inner++;
        if (takes_ahead(problem, t, i, inner))
            continue;
        axes = (inner < t->n_keeps ? problem->place[t->keep[inner].place].axes : (1u << problem->n_axes) - 1) &
               ~problem->place[t->keep[i].place].axes;
        for (uint32_t a = 0; a < problem->n_axes; a++)
            if ((axes >> a & 1) && !(problem->axis[a].shared >> o & 1))
                apart |= problem->axis[a].ranks & ~problem->operand[o].ranks;
        for (uint32_t g = i + 1; g <= inner; g++)
            if ((t->allow[g] & ~problem->operand[o].ranks) != 0) {
                ways += (uint32_t)__builtin_popcount(t->allow[g] & ~problem->operand[o].ranks);
                gap = g;
            }
        if (ways == 0 && apart == 0 && problem->operand[o].ranks == problem->operand[o].plain)
            return false;
        if (ways == 1 && apart == 0 && problem->operand[o].ranks == problem->operand[o].plain &&
            (t->allow[gap] & (t->allow[gap] - 1)) == 0 && gap >= t->shared_gaps)
            t->needs |= 1u << gap;
    }
    return true;
}

/* Whether every keep for several einsums stands as far out as it can without another number of transfers. */
static bool stand_outside(const dfl_problem *problem, const dfl_tiling_template *t)
{
    for (uint32_t i = 1; i < t->n_keeps; i++) {
        const dfl_template_keep *a = &t->keep[i - 1], *b = &t->keep[i];
        bool served = b->home && problem->operand[b->operand].common != 0;
        if (served && t->allow[i] == 0 && (!a->home || (problem->operand[a->operand].common != 0 && a->operand > b->operand)))
            return false;
    }
    return true;
}

static bool is_useful(const dfl_problem *problem, dfl_tiling_template *t)
{
    return find_needs(problem, t) && find_reuse(problem, t) && stand_outside(problem, t);
}

/* Whether some loop may be shared between every keep above the last home and that: so may one of others. */
static bool stand_above_loops(const dfl_tiling_template *t)
{
    bool loop = false;

    for (uint32_t i = t->home_gaps; i-- > 0;) {
        if (!t->keep[i].home && !loop)
            return false;
        loop |= t->allow[i] != 0;
    }
    return true;
}

/* The template with loops of others, the last of them in any gap outside of arrays. */
static void pass_through(walker *k)
{
    const dfl_problem *problem = k->problem;
    uint32_t all = (1u << problem->n_ranks) - 1;

    if (!k->keeps && !stand_above_loops(&k->t))
        return;
    for (uint32_t g = k->t.home_gaps; g <= k->t.n_keeps && !k->stopped; g++) {
        dfl_tiling_template t = k->t;
        if (g > k->t.home_gaps && (!k->keeps || problem->place[t.keep[g - 1].place].axes != 0))
            break;
        t.through = true;
        t.shared_gaps = g + 1;
        t.own_allow = g < t.n_keeps ? ranks_of(problem, &t.keep[g]) : all;
        for (uint32_t i = t.home_gaps; i <= g; i++)
            t.allow[i] = all;
        if (is_useful(problem, &t))
            k->stopped = !k->use(k->context, &t);
    }
}

static void finish(walker *k)
{
    const dfl_problem *problem = k->problem;
    dfl_tiling_template *t = &k->t;

    memset(t->innermost, -1, sizeof t->innermost);
    t->turned = false;
    for (uint32_t i = 0; i < t->n_keeps; i++) {
        dfl_template_keep *keep = &t->keep[i];
        keep->parent = t->innermost[keep->operand];
        t->innermost[keep->operand] = (int8_t)i;
        t->turned |= i > 0 && (problem->place[t->keep[i - 1].place].axes & ~problem->place[keep->place].axes) != 0;
    }
    for (uint32_t a = 0; a < problem->n_axes; a++) {
        uint32_t g = 0;
        while (g < t->n_keeps && !(problem->place[t->keep[g].place].axes >> a & 1))
            g++;
        for (uint32_t i = g; i < t->n_keeps && problem->windows; i++)
            g = problem->place[t->keep[i].place].axes >> a & 1 ? g : i + 1;
        t->axis_gap[a] = (uint8_t)g;
    }
    for (uint32_t i = 0; i < t->n_keeps; i++) {
        t->written[i] = (uint8_t)i;
        for (uint32_t a = 0; a < problem->n_axes; a++)
            if ((problem->place[t->keep[i].place].axes >> a & 1) && t->axis_gap[a] > t->written[i])
                t->written[i] = t->axis_gap[a];
    }
    allow_ranks(k);
    if (k->through)
        pass_through(k);
    else if (is_useful(problem, t) != k->useless)
        k->stopped = !k->use(k->context, t);
}

static bool is_home(const walker *k, uint32_t operand, uint32_t place)
{
    const dfl_problem_operand *o = &k->problem->operand[operand];

    return dfl_problem_exchanged(o) && k->t.exchange[operand] == place && place != o->home;
}

/* Keeps of the places p..last that are left, by place, in any order that has those of one operand from outer to inner, and
   among them those of places inside of further arrays, once all homes have been seen; then those of the places inside of the
   next array. */
static void order_keeps(walker *k, uint32_t p, uint32_t last, uint32_t *left)
{
    const dfl_problem *problem = k->problem;
    uint32_t before = 0; /* operands with a keep further out to come */
    bool none = true, homes = false;

    k->stopped |= k->halt != NULL && dfl_deadline_passed(k->halt);
    for (uint32_t i = p; i < problem->n_places && !k->stopped; i++) {
        if (i == last + 1 && (none || homes))
            break;
        for (uint32_t bits = left[i] & ~before; bits != 0; bits &= bits - 1) {
            uint32_t o = (uint32_t)__builtin_ctz(bits);
            bool home = is_home(k, o, i);
            k->t.keep[k->t.n_keeps++] = (dfl_template_keep){ .operand = (uint8_t)o, .place = (uint8_t)i, .home = home };
            left[i] &= ~(1u << o);
            order_keeps(k, p, last, left);
            left[i] |= 1u << o;
            k->t.n_keeps--;
            homes |= home;
        }
        for (uint32_t bits = left[i] & before; bits != 0; bits &= bits - 1)
            homes |= is_home(k, (uint32_t)__builtin_ctz(bits), i);
        before |= left[i];
        if (i <= last)
            none &= left[i] == 0;
    }
    if (!none || k->stopped)
        return;
    if (last + 1 == problem->n_places) {
        if (k->halt != NULL)
            dfl_budget_work(k->halt->budget, DFL_WORK_SKELETON);
        finish(k);
        return;
    }
    for (p = last + 1, last = p; last + 1 < problem->n_places && problem->place[last + 1].axes == problem->place[p].axes;)
        last++;
    order_keeps(k, p, last, left);
}

/* Which places keep operand `o`: any that may, inside of its home. */
static void choose_places(walker *k, uint32_t o)
{
    const dfl_problem *problem = k->problem;
    const dfl_problem_operand *operand = &problem->operand[o];

    if (k->stopped)
        return;
    if (o == problem->n_operands) {
        uint32_t rest[DFL_PROBLEM_PLACES], last = 0;
        memcpy(rest, k->kept, sizeof rest);
        while (last + 1 < problem->n_places && problem->place[last + 1].axes == problem->place[0].axes)
            last++;
        order_keeps(k, 0, last, rest);
        return;
    }
    for (uint32_t home = dfl_problem_outermost(operand); home < problem->n_places; home++) {
        bool inside = home != operand->home;
        uint32_t rest = operand->places & ~((2u << home) - 1);
        bool made = operand->shared && !operand->settled && (operand->places >> home & 1) && problem->place[home].axes == 0;
        if (inside && !made && !(operand->common >> home & 1))
            continue;
        k->t.exchange[o] = (uint8_t)home;
        for (uint32_t sub = rest;; sub = (sub - 1) & rest) {
            uint32_t all = sub | (inside ? 1u << home : 0);
            for (uint32_t p = 0; p < problem->n_places; p++)
                k->kept[p] = (k->kept[p] & ~(1u << o)) | (all >> p & 1) << o;
            choose_places(k, o + 1);
            if (sub == 0)
                break;
        }
    }
    for (uint32_t p = 0; p < problem->n_places; p++)
        k->kept[p] &= ~(1u << o);
}

void dfl_templates_each(const dfl_problem *problem, dfl_deadline *halt, bool (*use)(void *context, const dfl_tiling_template *t),
                        void *context)
{
    walker k = { .problem = problem, .halt = halt, .use = use, .context = context };

    choose_places(&k, 0);
}

void dfl_templates_useless(const dfl_problem *problem, dfl_deadline *halt,
                           bool (*use)(void *context, const dfl_tiling_template *t),
                           void *context)
{
    walker k = { .problem = problem, .halt = halt, .use = use, .context = context, .useless = true };

    choose_places(&k, 0);
}

void dfl_templates_through(const dfl_problem *problem, dfl_deadline *halt, bool keeps,
                           bool (*use)(void *context, const dfl_tiling_template *t), void *context)
{
    walker k = { .problem = problem, .halt = halt, .use = use, .context = context, .through = true, .keeps = keeps };

    choose_places(&k, 0);
}
