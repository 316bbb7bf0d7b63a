/* Room, and bounds of room. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/divisors/occupancy.h"
#include "mapper/divisors/port_time.h"
#include "mapper/problem/extents.h"
#include "support/hash.h"

/* Bits of keep `i` with the pieces of the present node. */
static double room_of(const dfl_search *s, uint32_t i)
{
    const dfl_template_keep *k = &s->t->keep[i];
    const dfl_problem_operand *o = &s->problem->operand[k->operand];
    double bits = o->bits * dfl_template_buffers(s->problem, k);

    for (uint32_t d = 0; d < o->n_dims; d++) {
        double of[4];
        for (uint32_t j = 0; j < o->dims[d].n; j++)
            of[j] = s->piece[i][o->dims[d].rank[j]];
        bits *= dfl_dim_values(&o->dims[d], of);
    }
    return bits;
}

bool dfl_occupancy_fits(const dfl_search *s)
{
    const dfl_problem *problem = s->problem;
    double room[DFL_PROBLEM_PLACES] = { 0 };

    for (uint32_t i = 0; i < s->t->n_keeps; i++) {
        const dfl_template_keep *k = &s->t->keep[i];
        room[k->place] += room_of(s, i);
        if (room[k->place] > problem->place[k->place].bits)
            return false;
    }
    return true;
}

bool dfl_occupancy_left(dfl_search *s)
{
    const dfl_problem *problem = s->problem;

    for (uint32_t i = 0; i < s->t->n_keeps; i++)
        for (uint32_t r = 0; r < problem->n_ranks; r++) {
            bool own = (s->goal->best_only ? s->cut_above[i] : s->own_above[i]) >> r & 1;
            s->piece[i][r] = dfl_search_inner(s, i, r) / (own ? (double)s->now->left[r] : dfl_shared_above(s, r, i));
        }
    return dfl_occupancy_fits(s);
}

enum {
    KINDS = 1 + DFL_TERM_PORTS,
    MOST_PRODUCTS = 1 << 12,     /* of divisors of several ranks, */
    MOST_MADE = 1 << 18,         /* and with those that are equal */
};

/* Groups that grow with the same ranks of a keep: what they cost at least, and by one iteration. */
typedef struct {
    uint32_t ranks;
    double base, each;
} part;

typedef struct {
    dfl_search *s;
    uint32_t keep, ranks;        /* those of its operand that are not cut yet */
    double ratio;
    bool whole;                  /* nothing is chosen yet */
    uint32_t n, n_parts;         /* groups that grow with loops above it, and their sorts: */
    struct { uint8_t group, part; double by; } grows[DFL_TERM_GROUPS];
    part parts[DFL_TERM_GROUPS];
} squeeze;

static inline double larger(double a, double b) { return a > b ? a : b; }
static inline double smaller(double a, double b) { return a < b ? a : b; }

/* Times that the tile of keep `i` may be as large as with the shortest pieces of the ranks to come. */
static double times_of(const dfl_search *s, uint32_t i, const double *bits, const double *room)
{
    uint32_t place = s->t->keep[i].place;

    return 1 + (s->problem->place[place].bits - room[place]) / bits[i];
}

static void measure(const dfl_search *s, double *bits, double *room)
{
    memset(room, 0, s->problem->n_places * sizeof *room);
    for (uint32_t i = 0; i < s->t->n_keeps; i++)
        if (s->limited[i])
            room[s->t->keep[i].place] += bits[i] = room_of(s, i);
}

static int by_size(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* All products of a number of the list and a divisor of `n`, ascending, each once; none if they are too many. */
static dfl_amounts times(dfl_arena *arena, dfl_amounts list, dfl_amounts divisors, int64_t n)
{
    uint64_t most = (uint64_t)list.n * divisors.n;
    int64_t *at = DFL_NEW_ARRAY(arena, int64_t, most > MOST_MADE ? 1 : most + 1);
    uint32_t count = 0, left = 0;

    if (most > MOST_MADE)
        return (dfl_amounts){ at, 0 };
    for (uint32_t d = 0; d < divisors.n; d++)
        for (uint32_t i = 0; i < list.n && n % divisors.at[d] == 0; i++)
            at[count++] = list.at[i] * divisors.at[d];
    qsort(at, count, sizeof *at, by_size);
    for (uint32_t i = 0; i < count; i++)
        if (left == 0 || at[i] != at[left - 1])
            at[left++] = at[i];
    return (dfl_amounts){ at, left <= MOST_PRODUCTS ? left : 0 };
}

static int64_t extent_of(const squeeze *k, uint32_t r)
{
    return k->whole ? k->s->problem->extent[r] : k->s->with[r]->left;
}

static dfl_amounts make_products(const squeeze *k, uint32_t ranks)
{
    static const int64_t one = 1;
    dfl_amounts all = { &one, 1 };

    for (uint32_t bits = ranks; bits != 0 && all.n > 0; bits &= bits - 1) {
        uint32_t r = (uint32_t)__builtin_ctz(bits);
        all = times(k->s->rows->arena, all, k->s->divisors[r], extent_of(k, r));
    }
    return all;
}

/* What iterations of the ranks can be together: products of divisors of what there is of each to cut, which are the divisors of
   the product. None if that is large, or they are many. */
static const dfl_amounts *products(const squeeze *k, uint32_t ranks)
{
    static const dfl_amounts none = { NULL, 0 };
    dfl_pareto_set *rows = k->s->rows;
    int64_t product = 1;
    uint64_t hash;
    uint32_t at;

    for (uint32_t bits = ranks; bits != 0; bits &= bits - 1)
        if (__builtin_mul_overflow(product, extent_of(k, (uint32_t)__builtin_ctz(bits)), &product))
            return &none;
    hash = dfl_hash(&product, sizeof product, 0);
    for (uint32_t i = dfl_hashmap_first(&rows->of_products, hash, &at); i != 0;
         i = dfl_hashmap_next(&rows->of_products, hash, &at))
        if (rows->products.at[i - 1].of == product)
            return &rows->products.at[i - 1].divisors;
    DFL_PUSH(rows->arena, &rows->products, ((struct dfl_products){ product, make_products(k, ranks) }));
    dfl_hashmap_add(rows->arena, &rows->of_products, hash, (uint32_t)rows->products.n);
    return &rows->products.at[rows->products.n - 1].divisors;
}

/* The first that is `least` or more, or the last; `least` if there are none. */
static double first_from(const dfl_amounts *all, double least)
{
    uint32_t low = 0, high = all->n - 1;

    if (all->n == 0)
        return least;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if ((double)all->at[middle] < least)
            low = middle + 1;
        else
            high = middle;
    }
    return (double)all->at[low];
}

/* Least cost of two parts whose ranks are all of the keep's together. */
static double least_of(const squeeze *k, const part *a, const part *b)
{
    const dfl_amounts *of_a = products(k, a->ranks), *of_b = products(k, b->ranks);
    double best = INFINITY;
    uint32_t j = of_b->n - 1;

    if (of_a->n == 0 || of_b->n == 0) { /* any y between those at which one part is at its least */
        double low = a->base / a->each, high = k->ratio * b->each / b->base;
        double y = smaller(larger(sqrt(b->each * k->ratio / a->each), low), high);
        return low >= high ? a->base + b->base : a->each * y + b->each * k->ratio / y;
    }
    for (uint32_t i = 0; i < of_a->n; i++) {
        double y = (double)of_a->at[i];
        while (j > 0 && y * (double)of_b->at[j - 1] >= k->ratio)
            j--;
        if (y * (double)of_b->at[j] < k->ratio)
            continue;
        best = smaller(best, larger(a->base, a->each * y) + larger(b->base, b->each * (double)of_b->at[j]));
        if (j == 0)
            break;
    }
    return best;
}

/* Finds the groups that grow with loops above the keep. */
static void sort_groups(squeeze *k)
{
    const dfl_search *s = k->s;

    k->n = k->n_parts = 0;
    for (uint32_t g = 0; g < s->terms.n_groups; g++) {
        const dfl_term_group *group = &s->terms.group[g];
        uint32_t ranks = group->ranks & k->ranks, at = 0;
        double least = 1;
        if (ranks == 0 || group->gap < k->keep)
            continue;
        for (uint32_t bits = ranks; bits != 0; bits &= bits - 1) {
            uint32_t r = (uint32_t)__builtin_ctz(bits);
            if (!k->whole)
                least *= s->with[r]->least[s->cut_at[r][group->gap]];
            else
                least *= s->group_last[g] >> r & 1 ? (double)s->problem->extent[r] : s->need[r][group->gap];
        }
        while (at < k->n_parts && k->parts[at].ranks != ranks)
            at++;
        if (at == k->n_parts)
            k->parts[k->n_parts++].ranks = ranks;
        k->grows[k->n].group = (uint8_t)g;
        k->grows[k->n].part = (uint8_t)at;
        k->grows[k->n++].by = 1 / least;
    }
}

/* What the groups cost more than at their least because of one keep. Those that do count no more in `base`, so that what several
   keeps ask for adds up. */
static double more(squeeze *k, double *base)
{
    double best = 0;
    uint32_t first = DFL_NONE, second = DFL_NONE;

    for (uint32_t i = 0; i < k->n_parts; i++)
        k->parts[i].base = k->parts[i].each = 0;
    for (uint32_t i = 0; i < k->n; i++) {
        part *p = &k->parts[k->grows[i].part];
        double b = base[k->grows[i].group];
        p->base += b > 0 ? b : 0;
        p->each += b > 0 ? b * k->grows[i].by : 0;
    }
    for (uint32_t i = 0; i < k->n_parts; i++) {
        const part *a = &k->parts[i];
        if (!(a->base > 0))
            continue;
        for (uint32_t j = i; j < k->n_parts; j++) {
            const part *b = &k->parts[j];
            double gain;
            if ((a->ranks | b->ranks) != k->ranks || !(b->base > 0))
                continue;
            gain = i == j ? a->each * first_from(products(k, k->ranks), k->ratio) - a->base
                          : least_of(k, a, b) - a->base - b->base;
            if (gain > best) {
                best = gain;
                first = i;
                second = j;
            }
        }
    }
    for (uint32_t i = 0; i < k->n && best > 0; i++)
        if (k->grows[i].part == first || k->grows[i].part == second)
            base[k->grows[i].group] = 0;
    return best;
}

bool dfl_occupancy_useful(dfl_search *s, uint32_t depth, const double *product)
{
    const dfl_problem *problem = s->problem;
    double room[DFL_PROBLEM_PLACES], bits[DFL_TEMPLATE_KEEPS], base[KINDS][DFL_TERM_GROUPS], least[KINDS], gain[KINDS] = { 0 };
    double seconds = s->now->unit_seconds;
    uint32_t n = s->goal->by_time || !s->goal->best_only ? 1 + s->n_used : 1, left = 0;
    bool any = false;

    measure(s, bits, room);
    for (uint32_t j = depth; j < s->n_order; j++)
        left |= 1u << s->order[j];
    for (uint32_t i = 0; i < s->t->n_keeps; i++) {
        const dfl_problem_operand *o = &problem->operand[s->t->keep[i].operand];
        squeeze k;
        k.s = s;
        k.keep = i;
        k.whole = false;
        k.ranks = o->plain & left;
        k.ratio = 1;
        if (!s->limited[i] || k.ranks == 0)
            continue;
        for (uint32_t ranks = k.ranks; ranks != 0; ranks &= ranks - 1) {
            uint32_t r = (uint32_t)__builtin_ctz(ranks);
            k.ratio *= s->with[r]->most[s->cut_at[r][i]];
        }
        if (k.ratio <= times_of(s, i, bits, room) * (1 + 1e-9))
            continue;
        k.ratio = k.ratio / times_of(s, i, bits, room) * (1 - 1e-9);
        for (uint32_t f = 0; f < n && !any; f++) {
            const double *of = f == 0 ? s->now->joules : dfl_port(s, f - 1);
            least[f] = f == 0 ? s->constant : 0;
            for (uint32_t g = 0; g < s->terms.n_groups; g++) {
                base[f][g] = of[g] * product[g] * (of[g] < 0 ? s->rest_most : s->rest_least)[depth][g];
                least[f] += base[f][g];
            }
        }
        any = true;
        sort_groups(&k);
        for (uint32_t f = 0; f < n && k.n > 0; f++)
            gain[f] += more(&k, base[f]);
    }
    if (!any)
        return true;
    for (uint32_t f = 1; f < n; f++)
        seconds = larger(seconds, least[f] + gain[f]);
    return dfl_search_useful(s, least[0] + gain[0], seconds);
}

/* Elements of a dimension along which windows slide, that loops may leave but one of; else 1. */
static double dims_of(const dfl_problem *problem, const dfl_problem_dim *d)
{
    double piece[4];

    for (uint32_t i = 0; i < d->n; i++)
        piece[i] = (double)problem->extent[d->rank[i]];
    return d->n > 1 || (d->n == 1 && d->coef[0] > 1) ? dfl_dim_values(d, piece) : 1;
}

void dfl_occupancy_bound(dfl_search *s, double *joules, double *seconds)
{
    const dfl_problem *problem = s->problem;
    double low[DFL_TERMS], high[DFL_TERMS], base[KINDS + 1][DFL_TERM_GROUPS], least[KINDS + 1] = { 0 }, gain[KINDS + 1] = { 0 };
    const uint32_t n = 2 + s->n_used;

    *seconds = larger(*seconds, problem->points * problem->seconds / problem->at_work[0]);
    dfl_spatial_factors(s, 0, 0, low, high);
    for (uint32_t f = 0; f < n; f++)
        memset(base[f], 0, s->terms.n_groups * sizeof **base);
    least[0] = least[1] = s->constant;
    for (uint32_t i = 0; i < s->terms.n_factors; i++) {
        base[0][s->terms.factor[i].group] += s->gains[i] * low[i];
        base[1][s->terms.factor[i].group] += s->sure[i] * low[i];
        least[0] += s->gains[i] * low[i] + s->losses[i] * high[i];
        least[1] += s->sure[i] * low[i];
    }
    for (uint32_t i = 0; i < s->n_busy; i++) {
        const dfl_term_of *t = &s->terms.at[s->busy[i]];
        uint32_t f = 2 + s->port_at[t->port];
        if (t->above)
            continue;
        base[f][t->by.group] += t->seconds > 0 ? t->seconds * low[t->factor] : 0;
        least[f] += t->seconds * (t->seconds < 0 ? high : low)[t->factor];
    }
    for (uint32_t i = 0; i < s->t->n_keeps; i++) {
        const dfl_template_keep *keep = &s->t->keep[i];
        const dfl_problem_operand *o = &problem->operand[keep->operand];
        double bits = o->elements * o->bits * dfl_template_buffers(problem, keep);
        squeeze k;
        k.s = s;
        k.keep = i;
        k.whole = true;
        k.ranks = o->plain & s->cut_above[i];
        for (uint32_t d = 0; d < o->n_dims && o->plain != o->ranks; d++)
            bits /= dims_of(problem, &o->dims[d]);
        for (uint32_t axes = s->axes_of[i]; axes != 0; axes &= axes - 1)
            bits /= (double)problem->axis[__builtin_ctz(axes)].size;
        k.ratio = bits / problem->place[keep->place].bits * (1 - 1e-9);
        if (k.ratio <= 1 || k.ranks == 0)
            continue;
        sort_groups(&k);
        for (uint32_t f = 0; f < n && k.n > 0; f++)
            gain[f] += more(&k, base[f]);
    }
    *joules = larger(*joules, larger(least[0] + gain[0], least[1] + gain[1]));
    for (uint32_t f = 2; f < n; f++)
        *seconds = larger(*seconds, least[f] + gain[f]);
}

/* Iterations that the rank must have down to keep `i` at least, when its piece there may be so many times as long as it is. */
static double iterations_for(const dfl_search *s, uint32_t i, uint32_t r, double times)
{
    static const double rounding = 1 - 1e-9;
    double whole = dfl_search_inner(s, i, r) / dfl_shared_above(s, r, i), least = rounding * whole / (s->piece[i][r] * times);
    const dfl_amounts *divisors = &s->divisors[r];

    for (uint32_t d = 0; d < divisors->n; d++)
        if ((double)divisors->at[d] >= least)
            return (double)divisors->at[d];
    return whole;
}

void dfl_occupancy_behind(dfl_search *s, uint32_t depth)
{
    const dfl_problem *problem = s->problem;
    double least[DFL_PROBLEM_RANKS][DFL_GAPS + 1], room[DFL_PROBLEM_PLACES], bits[DFL_TEMPLATE_KEEPS];
    bool any = false;

    memcpy(s->behind[depth], s->rest_least[depth + 1], s->terms.n_groups * sizeof *s->behind[depth]);
    if (depth + 1 == s->n_order)
        return;
    measure(s, bits, room);
    for (uint32_t j = depth + 1; j < s->n_order; j++)
        memset(least[j], 0, (s->with[s->order[j]]->n_gaps + 1) * sizeof *least[j]);
    for (uint32_t i = 0; i < s->t->n_keeps; i++) {
        const dfl_template_keep *k = &s->t->keep[i];
        double times;
        if (!s->limited[i])
            continue;
        times = times_of(s, i, bits, room);
        for (uint32_t j = depth + 1; j < s->n_order; j++) {
            uint32_t r = s->order[j], at = s->cut_at[r][i];
            double *to = &least[j][at];
            if (!(problem->operand[k->operand].plain >> r & 1) || s->with[r]->most[at] <= times)
                continue;
            *to = larger(*to, iterations_for(s, i, r, times));
            any = true;
        }
    }
    for (uint32_t j = depth + 1; j < s->n_order && any; j++) {
        uint32_t r = s->order[j];
        const dfl_cuts *with = s->with[r];
        for (uint32_t p = 1; p <= with->n_gaps; p++)
            least[j][p] = larger(least[j][p], least[j][p - 1]);
        for (uint32_t g = 0; g < s->terms.n_groups; g++) {
            uint32_t at = s->cut_at[r][s->terms.group[g].gap];
            if ((s->terms.group[g].ranks >> r & 1) && least[j][at] > with->least[at])
                s->behind[depth][g] *= least[j][at] / with->least[at];
        }
    }
}

