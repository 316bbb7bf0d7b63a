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
    bool cuts;                       /* orders of keeps end early, as soon as all templates that begin so are left out */
    const dfl_family *family;        /* the outermost keeps are those that it begins with; NULL = any */
    uint32_t homes;                  /* among the keeps of the places that are chosen */
    uint32_t idle[DFL_PROBLEM_OPERANDS]; /* mask of places in which a keep below all homes is of no use, if `cuts` */
    uint32_t allow[DFL_TEMPLATE_KEEPS + 1]; /* of the keeps so far, if `cuts`: as in the template, below the last home; */
    uint32_t single[DFL_TEMPLATE_KEEPS + 1]; /* mask of ranks that keeps above a gap forbid, as they hold one element */
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
            above &= again ? ~0u : problem->slid_loops ? o->ranks : o->plain;
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

/* Whether two neighbours could change places without a loop between them, so that these need one: see template.h. */
static bool needs_loop(const dfl_problem *problem, const dfl_template_keep *a, const dfl_template_keep *b)
{
    const uint32_t axes = problem->place[a->place].axes, next_axes = problem->place[b->place].axes;
    const bool turned = slides(problem, a) != slides(problem, b) ? slides(problem, b) : a->operand > b->operand;

    return a->operand != b->operand && ((axes & ~next_axes) != 0 || (axes == next_axes && turned));
}

/* Gaps that need a loop: see template.h. False if one of them can have none. */
static bool find_needs(const dfl_problem *problem, dfl_tiling_template *t)
{
    t->needs = 0;
    for (uint32_t i = t->shared_gaps - t->through; i + 1 < t->n_keeps; i++) {
        if (!needs_loop(problem, &t->keep[i], &t->keep[i + 1]))
            continue;
        if (t->allow[i + 1] == 0)
            return false;
        if ((t->allow[i + 1] & (t->allow[i + 1] - 1)) == 0)
            t->needs |= 1u << (i + 1);
    }
    return true;
}

/* Ranks on axes between two keeps of an operand, or between one and the unit, that do not index it and do not share it: `axes` is
   a mask. */
static uint32_t find_apart(const dfl_problem *problem, uint32_t operand, uint32_t axes)
{
    uint32_t apart = 0;

    for (uint32_t a = 0; a < problem->n_axes; a++)
        if ((axes >> a & 1) && !(problem->axis[a].shared >> operand & 1))
            apart |= problem->axis[a].ranks & ~problem->operand[operand].ranks;
    return apart;
}

/* Whether each keep can give out more than it takes: see template.h. Of a single way to do so a gap needs a loop. */
static bool find_reuse(const dfl_problem *problem, dfl_tiling_template *t)
{
    for (uint32_t i = 0; i < t->n_keeps; i++) {
        uint32_t o = t->keep[i].operand, inner = i + 1, ways = 0, gap = 0, axes, apart;
        if (t->keep[i].home || i + 1 < t->home_gaps)
            continue;
        while (inner < t->n_keeps && t->keep[inner].operand != o)
            inner++;
        if (dfl_template_takes_ahead(problem, t, i, inner))
            continue;
        axes = (inner < t->n_keeps ? problem->place[t->keep[inner].place].axes : (1u << problem->n_axes) - 1) &
               ~problem->place[t->keep[i].place].axes;
        apart = find_apart(problem, o, axes);
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

/* Whether the last keep so far leaves a chance that a template is useful, if all homes stand above: what find_needs and
   find_reuse ask of the gaps above it does not depend on the keeps below. */
static bool may_be_useful(walker *k, uint32_t homes)
{
    const dfl_problem *problem = k->problem;
    const uint32_t n = k->t.n_keeps - 1;
    const dfl_template_keep *keep = &k->t.keep[n], *above = n > 0 ? keep - 1 : NULL;
    uint32_t ways = 0, i = n;

    k->single[n + 1] = k->single[n] | (holds_one(problem, keep) ? problem->operand[keep->operand].plain : 0);
    k->allow[n] = ranks_of(problem, keep) & ~k->single[n];
    if (above != NULL && !above->home)
        k->allow[n] &= ~problem->operand[above->operand].plain;
    if (homes < k->homes || keep->home)
        return true;
    if (k->idle[keep->operand] >> keep->place & 1)
        return false;
    if (above == NULL || above->home)
        return true;
    if (k->allow[n] == 0 && needs_loop(problem, above, keep))
        return false;
    while (i > 0 && !k->t.keep[i - 1].home && k->t.keep[i - 1].operand != keep->operand)
        ways |= k->allow[i--];
    if (i == 0 || k->t.keep[i - 1].home || dfl_template_takes_ahead(problem, &k->t, i - 1, n))
        return true;
    ways |= k->allow[i];
    return (ways & ~ranks_of(problem, keep)) != 0 ||
           find_apart(problem, keep->operand,
                      problem->place[keep->place].axes & ~problem->place[k->t.keep[i - 1].place].axes) != 0;
}

/* Keeps of the places p..last that are left, by place, in any order that has those of one operand from outer to inner, and
   among them those of places inside of further arrays, once all homes have been seen; then those of the places inside of the
   next array. `seen`: homes among the keeps so far. */
static void order_keeps(walker *k, uint32_t p, uint32_t last, uint32_t *left, uint32_t seen)
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
            if (k->family != NULL && k->t.n_keeps < k->family->n_first && k->family->first[k->t.n_keeps] != o)
                continue;
            k->t.keep[k->t.n_keeps++] = (dfl_template_keep){ .operand = (uint8_t)o, .place = (uint8_t)i, .home = home };
            left[i] &= ~(1u << o);
            if (!k->cuts || may_be_useful(k, seen + home))
                order_keeps(k, p, last, left, seen + home);
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
    order_keeps(k, p, last, left, seen);
}

/* Orders the keeps of the places that are chosen, unless no template of them is useful. */
static void order_all(walker *k)
{
    const dfl_problem *problem = k->problem;
    uint32_t rest[DFL_PROBLEM_PLACES], last = 0;
    bool is_idle = false;

    k->homes = 0;
    for (uint32_t o = 0; o < problem->n_operands; o++)
        k->homes += dfl_problem_exchanged(&problem->operand[o]) && k->t.exchange[o] != problem->operand[o].home;
    for (uint32_t o = 0; o < problem->n_operands; o++)
        for (uint32_t p = 0; p < problem->n_places; p++)
            is_idle |= (k->kept[p] >> o & 1) && (k->idle[o] >> p & 1);
    if (k->cuts && is_idle && k->homes == 0)
        return;
    memcpy(rest, k->kept, sizeof rest);
    while (last + 1 < problem->n_places && problem->place[last + 1].axes == problem->place[0].axes)
        last++;
    order_keeps(k, 0, last, rest, 0);
}

/* Which places keep operand `o`: any that may, inside of its home. */
static void choose_places(walker *k, uint32_t o)
{
    const dfl_problem *problem = k->problem;
    const dfl_problem_operand *operand = &problem->operand[o];

    if (k->stopped)
        return;
    if (o == problem->n_operands) {
        order_all(k);
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

/* Prepares the early ends of orders of keeps. Where windows slide, gaps depend on keeps further in. */
static void prepare_cuts(walker *k)
{
    const dfl_problem *problem = k->problem;

    k->cuts = !problem->windows;
    for (uint32_t o = 0; o < problem->n_operands; o++) {
        const uint32_t ranks = problem->operand[o].ranks;
        k->cuts &= ranks == problem->operand[o].plain;
        for (uint32_t p = 0; p < problem->n_places; p++)
            if ((~ranks & ((1u << problem->n_ranks) - 1)) == 0 && (!problem->waits || problem->place[p].waits) &&
                find_apart(problem, o, ~problem->place[p].axes) == 0)
                k->idle[o] |= 1u << p;
    }
}

void dfl_templates_each(const dfl_problem *problem, dfl_deadline *halt, bool (*use)(void *context, const dfl_tiling_template *t),
                        void *context)
{
    walker k = { .problem = problem, .halt = halt, .use = use, .context = context };

    prepare_cuts(&k);
    choose_places(&k, 0);
}

void dfl_templates_of(const dfl_problem *problem, const dfl_family *family, dfl_deadline *halt,
                      bool (*use)(void *context, const dfl_tiling_template *t), void *context)
{
    walker k = { .problem = problem, .halt = halt, .use = use, .context = context, .family = family };

    prepare_cuts(&k);
    for (uint32_t o = 0; o < problem->n_operands; o++) {
        k.t.exchange[o] = (uint8_t)problem->operand[o].home;
        for (uint32_t p = 0; p < problem->n_places; p++)
            k.kept[p] |= (family->kept[o] >> p & 1) << o;
    }
    order_all(&k);
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
