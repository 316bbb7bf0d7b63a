#include "mapper/nests/keep_orders.h"

typedef struct {
    dfl_order_kinds kinds;
    const dfl_nest_keep *keeps;
    const uint32_t *inmost;
    uint32_t n;
    dfl_keep_orders_use *use;
    void *context;
    uint32_t order[DFL_PROBLEM_KEEPS]; /* indices into `keeps`, in the order of lines */
    dfl_nest_keep lines[DFL_PROBLEM_KEEPS];
} lister;

dfl_order_kinds dfl_order_kinds_of(const dfl_mapping *given, const dfl_problem *problem)
{
    dfl_order_kinds out = { 0 };

    for (uint32_t p = 0; p < problem->n_places && !given->options.overlap_perfect; p++) {
        const uint32_t memory = problem->place[p].memory;
        if (memory == DFL_NONE)
            continue;
        out.streams |= (uint32_t)given->system->memories[memory].stream << p;
        out.stops |= (uint32_t)(!given->system->memories[memory].stream && given->system->memories[memory].buffers < 2) << p;
    }
    return out;
}

/* Whether keeps `a` and `b` cannot change places: they are of one operand, or a stream and what stops the work. */
static bool are_tied(const lister *k, uint32_t a, uint32_t b)
{
    const dfl_nest_keep *x = &k->keeps[a], *y = &k->keeps[b];
    const dfl_order_kinds *kinds = &k->kinds;

    return x->operand == y->operand || (kinds->streams >> x->place & kinds->stops >> y->place & 1) ||
           (kinds->stops >> x->place & kinds->streams >> y->place & 1);
}

/* Whether keep `i` may be the next line behind `at` loops. `placed`: the keeps of the `n` lines above; those from line `first` on
   are behind as many loops. */
static bool may_follow(const lister *k, uint32_t i, uint32_t at, uint32_t placed, uint32_t first, uint32_t n)
{
    bool is_held = k->keeps[i].at == at;

    if (k->keeps[i].at > at || (i > 0 && k->keeps[i - 1].operand == k->keeps[i].operand && !(placed >> (i - 1) & 1)))
        return false;
    for (uint32_t l = first; l < n; l++)
        is_held |= are_tied(k, k->order[l], i);
    return is_held && (n == first || k->order[n - 1] < i || are_tied(k, k->order[n - 1], i));
}

/* Whether all keeps that are left may stand behind more than `at` loops: further in than its outermost place, a keep stands
   behind another one that is left, too. */
static bool may_go_in(const lister *k, uint32_t at, uint32_t placed)
{
    bool may = true;

    for (uint32_t i = 0; i < k->n && may; i++) {
        if (placed >> i & 1 || k->keeps[i].at > at)
            continue;
        may = false;
        for (uint32_t j = 0; j < k->n && k->inmost[i] > at; j++)
            may |= j != i && !(placed >> j & 1) && k->inmost[j] > at && are_tied(k, i, j);
    }
    return may;
}

/* All orders that continue the first `n` lines; the arguments are those of may_follow. */
static bool go_on(lister *k, uint32_t at, uint32_t placed, uint32_t first, uint32_t n)
{
    if (n == k->n)
        return k->use(k->context, k->lines, n);
    for (uint32_t i = 0; i < k->n; i++) {
        if (placed >> i & 1 || !may_follow(k, i, at, placed, first, n))
            continue;
        k->order[n] = i;
        k->lines[n] = k->keeps[i];
        k->lines[n].at = at;
        if (!go_on(k, at, placed | 1u << i, first, n + 1))
            return false;
    }
    return !may_go_in(k, at, placed) || go_on(k, at + 1, placed, n, n);
}

bool dfl_keep_orders_each(dfl_order_kinds kinds, const dfl_nest_keep *keeps, const uint32_t *inmost, uint32_t n,
                          dfl_keep_orders_use *use, void *context)
{
    lister k = { .kinds = kinds, .keeps = keeps, .inmost = inmost, .n = n, .use = use, .context = context };
    uint32_t places = 0;

    for (uint32_t i = 0; i < n; i++)
        places |= 1u << keeps[i].place;
    if ((places & kinds.streams) == 0 || (places & kinds.stops) == 0)
        return use(context, keeps, n);
    return go_on(&k, 0, 0, 0, 0);
}
