/*
 * All spreads of ranks over axes that can be of use, axis by axis, outer first. Bounds of the parts on one axis: a factor of
 * the costs that holds for the axes before it is, for each operand, multiplied with the parts of the ranks outside of it or
 * divided by those of the ranks inside, or both or neither, and divided by the parts of the ranks that all loops in front of it
 * cut. Factors for which these are the same are added up once for the axes before, so that a choice of parts costs a sum over
 * few keys.
 */
#include <math.h>
#include <string.h>

#include "mapper/divisors/axis_factors.h"
#include "mapper/divisors/divisors_internal.h"
#include "mapper/skeleton/fixed_factors.h"
#include "mapper/skeleton/fixed_lines.h"

/* Whether keeps have room as far as the axes that are decided, and all of the others, cut what no loop above them can. */
static bool room_ahead(const dfl_search *s, uint32_t decided)
{
    for (uint32_t k = 0; k < s->n_whole_keeps; k++) {
        uint32_t i = s->whole_keep[k].keep;
        double bits = s->whole_keep[k].bits;
        for (uint32_t a = 0; a < s->problem->n_axes; a++) {
            if (!(s->axes_of[i] >> a & 1))
                continue;
            if (a >= decided)
                bits /= (double)s->problem->axis[a].size;
            else
                for (uint32_t ranks = s->whole_keep[k].ranks; ranks != 0; ranks &= ranks - 1)
                    bits /= (double)s->parts[a][__builtin_ctz(ranks)];
        }
        if (bits > s->problem->place[s->t->keep[i].place].bits)
            return false;
    }
    return true;
}

/* Takes over the parts on axis `a`: products over sets of the axes up to it. */
static void note_axis(dfl_search *s, uint32_t a)
{
    const dfl_problem *problem = s->problem;

    for (uint32_t o = 0; o < problem->n_operands; o++) {
        double inside = 1, outside = 1;
        for (uint32_t r = 0; r < problem->n_ranks; r++)
            *(problem->operand[o].ranks >> r & 1 ? &inside : &outside) *= (double)s->parts[a][r];
        for (uint32_t mask = 0; mask < 1u << a; mask++) {
            s->inside[o][mask | 1u << a] = s->inside[o][mask] * inside;
            s->outside[o][mask | 1u << a] = s->outside[o][mask] * outside;
        }
    }
    for (uint32_t r = 0; r < problem->n_ranks; r++)
        s->whole[a + 1][r] = s->whole[a][r] * (double)s->parts[a][r];
}

static uint8_t key_of(dfl_axis_bound *b, dfl_axis_key key)
{
    uint32_t i = 0;

    while (i < b->n && (b->key[i].operand != key.operand || b->key[i].inside != key.inside ||
                        b->key[i].outside != key.outside || b->key[i].last != key.last))
        i++;
    if (i == b->n)
        b->key[b->n++] = key;
    return (uint8_t)i;
}

/* The keys of all factors on axis `a`. */
static void make_keys(dfl_search *s, uint32_t a)
{
    dfl_arena *arena = s->rows->scratch;
    const dfl_terms *terms = &s->terms;
    dfl_axis_bound *b = &s->axis[a];

    b->key = DFL_NEW_ARRAY(arena, dfl_axis_key, (size_t)2 * terms->n_factors + 1);
    b->low = DFL_NEW_ARRAY(arena, uint8_t, (size_t)terms->n_factors + 1);
    b->high = DFL_NEW_ARRAY(arena, uint8_t, (size_t)terms->n_factors + 1);
    b->n = 0;
    for (uint32_t i = 0; i < terms->n_factors; i++) {
        const dfl_term_factor *f = &terms->factor[i];
        uint32_t last = f->distinct ? 0 : s->group_last[f->group];
        bool inside = f->under >> a & 1, outside = !f->distinct && (f->over >> a & 1);
        dfl_axis_key key = { .operand = inside || outside ? f->operand : 0, .inside = inside, .outside = outside, .last = last };
        b->low[i] = b->high[i] = key_of(b, key);
        if (!f->negative || f->distinct)
            continue;
        key.last |= terms->group[f->group].ranks;
        b->high[i] = key_of(b, key);
    }
    b->joules = DFL_NEW_ARRAY(arena, double, (size_t)4 * b->n + 1);
    b->sure = b->joules + b->n;
    b->whole = b->sure + b->n;
    b->divided = b->whole + b->n;
    b->does = DFL_NEW_ARRAY(arena, uint8_t, (size_t)b->n * s->problem->n_ranks + 1);
    b->value = DFL_NEW_ARRAY(arena, double, (size_t)b->n * (s->problem->n_ranks + 1u) + 1);
    b->sort = DFL_NEW_ARRAY(arena, uint8_t, (size_t)b->n + 1);
    b->listed = true;
    for (uint32_t i = 0; i < b->n; i++) {
        const dfl_axis_key *k = &b->key[i];
        uint32_t ranks = s->problem->operand[k->operand].ranks, on = s->problem->axis[a].ranks;
        uint32_t over = k->outside ? on & ~ranks : 0, under = on & ((k->inside ? ranks : 0) | k->last);
        b->sort[i] = (uint8_t)dfl_axis_factors_sort(s->rows, (dfl_axis_factor_sort){ over & ~under, under & ~over });
        b->listed &= b->sort[i] < DFL_PORTION_SORTS;
        b->value[i] = 1;
        for (uint32_t r = 0; r < s->problem->n_ranks; r++) { /* those of `last` index no operand of their group, so 0 to 2 */
            bool indexes = ranks >> r & 1;
            b->does[r * b->n + i] = (uint8_t)(1u + (k->outside && !indexes) - (k->inside && indexes) - (k->last >> r & 1));
        }
    }
    b->ports = DFL_NEW_ARRAY(arena, double, (size_t)b->n * s->n_used + 1);
}

/* The axes before `a` are decided: what each key of axis `a` is multiplied with. */
static void weigh_keys(dfl_search *s, uint32_t a)
{
    const dfl_problem *problem = s->problem;
    dfl_axis_bound *b = &s->axis[a];
    double low[DFL_TERMS], high[DFL_TERMS];

    dfl_spatial_factors(s, a, a + 1, low, high);
    memset(b->joules, 0, (size_t)2 * b->n * sizeof *b->joules);
    memset(b->ports, 0, (size_t)b->n * s->n_used * sizeof *b->ports);
    for (uint32_t i = 0; i < s->terms.n_factors; i++) {
        b->joules[b->low[i]] += s->gains[i] * low[i];
        b->joules[b->high[i]] += s->losses[i] * high[i];
        b->sure[b->low[i]] += s->sure[i] * low[i];
    }
    for (uint32_t i = 0; i < s->n_busy && s->goal->by_time; i++) {
        const dfl_term_of *t = &s->terms.at[s->busy[i]];
        double *port = b->ports + (size_t)s->port_at[t->port] * b->n;
        if (t->above && !s->goal->alone)
            continue;
        if (t->seconds < 0)
            port[b->high[t->factor]] += t->seconds * high[t->factor];
        else
            port[b->low[t->factor]] += t->seconds * low[t->factor];
    }
    for (uint32_t i = 0; i < b->n; i++) {
        bool divided = b->key[i].inside || b->key[i].last != 0;
        b->whole[i] = divided ? 0 : b->sure[i];
        b->divided[i] = divided ? b->sure[i] : 0;
    }
    b->seconds = problem->points * problem->seconds / problem->at_work[a + 1];
    for (uint32_t r = 0; r < problem->n_ranks; r++)
        b->seconds /= s->whole[a][r];
}

/* What parts on an axis do to every key, when `d` of rank `r` come to those before. */
static void multiply_keys(const dfl_axis_bound *b, uint32_t r, int64_t d, const double *before, double *value)
{
    const double by[3] = { 1 / (double)d, 1, (double)d };
    const uint8_t *does = b->does + (size_t)r * b->n;

    for (uint32_t i = 0; i < b->n; i++)
        value[i] = before[i] * by[does[i]];
}

/* Whether the parts on axis `a`, all `used` of them, and those before can be of use. */
static bool promising(const dfl_search *s, uint32_t a, const double *value, double used)
{
    const dfl_axis_bound *b = &s->axis[a];
    double joules = s->constant, sure = joules, seconds = b->seconds / used;

    if (s->n_whole_keeps > 0 && !room_ahead(s, a + 1))
        return false;
    for (uint32_t i = 0; i < b->n; i++) {
        joules += b->joules[i] * value[i];
        sure += b->sure[i] * value[i];
    }
    joules = joules > sure ? joules : sure;
    for (uint32_t p = 0; p < s->n_used && s->goal->by_time; p++) {
        const double *port = b->ports + (size_t)p * b->n;
        double busy = 0;
        for (uint32_t i = 0; i < b->n; i++)
            busy += port[i] * value[i];
        seconds = seconds > busy ? seconds : busy;
    }
    return dfl_tile_useful(s->goal, joules, seconds);
}

/* Whether the parts so far on axis `a` can be of use, when those of the ranks to come are `free` at most together: these divide
   what costs energy for certain once at most. */
static bool hopeful(const dfl_search *s, uint32_t a, const double *value, double used, int64_t free)
{
    const dfl_axis_bound *b = &s->axis[a];
    double sure = s->constant, divided = 0, part = 1 / (double)free;

    for (uint32_t i = 0; i < b->n; i++) {
        sure += b->whole[i] * value[i];
        divided += b->divided[i] * value[i];
    }
    return dfl_tile_useful(s->goal, sure + divided * part, b->seconds / used * part);
}

/* Whether the parts on axis `a` are some that the template allows. */
static bool allowed(const dfl_search *s, uint32_t a)
{
    for (uint32_t r = 0; r < s->problem->n_ranks; r++) {
        int64_t left = s->problem->extent[r] / (int64_t)s->whole[a][r];
        if ((s->t->needs != 0 && (double)s->parts[a][r] * s->need[r][s->t->n_keeps] > (double)left) ||
            (s->t->form && (s->problem->axis[a].ranks >> r & 1) && !dfl_fixed_lines_spreads(s->t->form, a, r, s->parts[a][r])))
            return false;
    }
    return s->n_whole_keeps == 0 || room_ahead(s, a + 1);
}

/* Seconds that the ports, and the unit, are busy at least with way `i` to put parts on axis `a`. */
static double busiest(const dfl_search *s, uint32_t a, const double *const *value, uint32_t i, double unit)
{
    const dfl_axis_bound *b = &s->axis[a];
    double seconds = unit;

    for (uint32_t p = 0; p < s->n_used && s->goal->by_time; p++) {
        const double *port = b->ports + (size_t)p * b->n;
        double busy = 0;
        for (uint32_t k = 0; k < b->n; k++)
            busy += port[k] * value[k][i];
        seconds = seconds > busy ? seconds : busy;
    }
    return seconds;
}

/* Of the ways to put parts on axis `a` the first ones, which keep most instances at work, as far as that may be enough. */
static uint32_t busy_enough(const dfl_search *s, uint32_t a, const dfl_axis_factors *list)
{
    uint32_t n = 0, less = list->n + 1;

    while (n + 1 < less) {
        uint32_t half = n + (less - n) / 2;
        if (dfl_tile_useful(s->goal, s->floor_joules, s->axis[a].seconds / (double)list->parts[half - 1].used))
            n = half;
        else
            less = half;
    }
    return n;
}

typedef double lanes __attribute__((vector_size(DFL_PORTION_LANES * sizeof(double)), aligned(sizeof(double)), may_alias));

/* to[i] += by * value[i] for the first `n`, or some more. */
static inline void add_scaled(double *to, double by, const double *value, uint32_t n)
{
    for (uint32_t i = 0; i < n; i += DFL_PORTION_LANES)
        *(lanes *)(to + i) += by * *(const lanes *)(value + i);
}

static void spread_over(dfl_search *s, uint32_t a, void (*use)(dfl_search *s));

enum { SWEEP = 64 };           /* entries of a list that are looked at as fast as another node, about */

/* Goes through all ways to put parts on axis `a`, of which there is a list, then the axes inside of it. */
static void spread_listed(dfl_search *s, uint32_t a, dfl_axis_factors *list, void (*use)(dfl_search *s))
{
    const dfl_axis_bound *b = &s->axis[a];
    const double *value[2 * DFL_TERMS];
    double joules[DFL_PORTIONS], sure[DFL_PORTIONS];
    const uint32_t n = busy_enough(s, a, list);

    for (uint32_t i = 0; i < n + DFL_PORTION_LANES && i < DFL_PORTIONS; i++)
        joules[i] = sure[i] = s->constant;
    for (uint32_t k = 0; k < b->n; k++) {
        value[k] = dfl_axis_factors_values(s->rows, list, b->sort[k]);
        add_scaled(joules, b->joules[k], value[k], n);
        add_scaled(sure, b->sure[k], value[k], n);
    }
    s->rows->evaluated += n;
    s->rows->swept += n - n / SWEEP - (n > 0);
    s->rows->pruned += n < list->n;
    for (uint32_t i = 0; i < n; i++) {
        double least = joules[i] > sure[i] ? joules[i] : sure[i], unit = b->seconds / (double)list->parts[i].used;
        bool useful = dfl_tile_useful(s->goal, least, unit);
        if (useful)
            memcpy(s->parts[a], list->parts[i].of, s->problem->n_ranks * sizeof **s->parts);
        if (!useful || !allowed(s, a) || !dfl_tile_useful(s->goal, least, busiest(s, a, value, i, unit))) {
            s->rows->pruned++;
            continue;
        }
        note_axis(s, a);
        if (a + 1 == s->problem->n_axes)
            use(s);
        else
            spread_over(s, a + 1, use);
        if (dfl_search_spent(s) || dfl_deadline_passed(s->goal->halt))
            break;
    }
    for (uint32_t r = 0; r < s->problem->n_ranks; r++)
        s->parts[a][r] = 1;
}

/* Division of small numbers takes a fraction of the time. */
static inline bool divides(int64_t d, int64_t n)
{
    return n <= UINT32_MAX ? (uint32_t)n % (uint32_t)d == 0 : n % d == 0;
}

/* The parts so far on an axis. */
typedef struct {
    double used;              /* their product */
    double filled, wanted;    /* others only where more are at work than the former; so many are to be, for those among them */
    int64_t free;             /* of the others together at most */
    const double *value;      /* by key of the axis: what they do to it */
} portion;

/* Spreads rank `r` and those behind it over axis `a`, then the axes inside of it. */
static void spread_from(dfl_search *s, uint32_t a, uint32_t r, const portion *p, void (*use)(dfl_search *s))
{
    const dfl_problem *problem = s->problem;
    dfl_axis_bound *b = &s->axis[a];
    int64_t left, most;
    bool last, other;

    if (dfl_deadline_passed(s->goal->halt))
        return;
    while (r < problem->n_ranks && !(problem->axis[a].ranks >> r & 1))
        r++;
    if (r == problem->n_ranks) {
        s->rows->evaluated++;
        if (!promising(s, a, p->value, p->used)) {
            s->rows->pruned++;
            return;
        }
        note_axis(s, a);
        if (a + 1 == problem->n_axes) {
            use(s);
            return;
        }
        spread_over(s, a + 1, use);
        return;
    }
    last = problem->axis[a].ranks >> (r + 1) == 0;
    other = problem->axis[a].others >> r & 1;
    if (r > 0 && !hopeful(s, a, p->value, p->used, p->free)) {
        s->rows->pruned++;
        return;
    }
    left = problem->extent[r] / (int64_t)s->whole[a][r];
    most = (int64_t)((double)left / s->need[r][s->t->n_keeps]);
    most = most < p->free ? most : p->free;
    /* many parts first: what keeps most instances busy sets the limit for the others */
    for (uint32_t i = s->divisors[r].n; i-- > 0;) {
        int64_t d = s->divisors[r].at[i];
        double wanted = other && d > 1 ? p->filled + 1 : p->wanted;
        portion next;
        if (d > most || !divides(d, left) || p->used * (double)(last ? d : d * (p->free / d)) < wanted)
            continue;
        if (last && !dfl_tile_useful(s->goal, s->floor_joules, b->seconds / (p->used * (double)d))) {
            s->rows->pruned++;
            break; /* nor with fewer parts */
        }
        if (s->t->form && !dfl_fixed_lines_spreads(s->t->form, a, r, d))
            continue;
        s->parts[a][r] = d;
        next = (portion){ .used = p->used * (double)d, .filled = p->filled, .wanted = wanted, .free = p->free / d,
                          .value = p->value };
        if (d > 1) {
            multiply_keys(b, r, d, p->value, b->value + (size_t)(r + 1) * b->n);
            next.value = b->value + (size_t)(r + 1) * b->n;
        }
        spread_from(s, a, r + 1, &next, use);
        if (dfl_search_spent(s))
            break;
    }
    s->parts[a][r] = 1;
}

/* Spreads the ranks over axis `a`, and those inside of it. */
static void spread_over(dfl_search *s, uint32_t a, void (*use)(dfl_search *s))
{
    dfl_axis_factors *list = s->axis[a].listed ? dfl_axis_factors_of(s->rows, s->problem, a, s->whole[a]) : NULL;

    if (dfl_deadline_passed(s->goal->halt))
        return;
    weigh_keys(s, a);
    if (list != NULL)
        spread_listed(s, a, list, use);
    else
        spread_from(s, a, 0,
                    &(portion){ .used = 1, .filled = dfl_problem_filled(s->problem, a, s->whole[a]), .wanted = 1,
                                .free = s->problem->axis[a].size, .value = s->axis[a].value }, use);
}

void dfl_spatials_prepare(dfl_search *s)
{
    for (uint32_t a = 0; a < s->problem->n_axes; a++)
        make_keys(s, a);
}

void dfl_spatials_each(dfl_search *s, void (*use)(dfl_search *s))
{
    if (s->problem->n_axes > 0)
        spread_over(s, 0, use);
    else
        use(s);
}
