#include "mapper/tiling/box_bound.h"

#include <math.h>
#include <string.h>

#include "mapper/problem/extents.h"
#include "mapper/problem/limits.h"
#include "mapper/tiling/longest_step.h"
#include "mapper/tiling/served.h"

static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }

/* A node whose values are computed. */
typedef struct {
    const dfl_form *form;
    dfl_box *const *boxes;
    bool is_point;                     /* the figures are exact */
    double value[DFL_FORM_PRODUCTS];   /* by product */
    double moved[DFL_TERMS];           /* elements by count, at least */
    double room[DFL_PROBLEM_PLACES];   /* bits that tiles take, by place, at least */
} node_values;

bool dfl_box_multiply(const dfl_form *f, dfl_box *const *boxes, uint32_t without, double *out)
{
    const uint32_t n = f->n_products;
    bool is_first = true;

    for (uint32_t r = 0; r < f->problem->n_ranks; r++) {
        const double *of = boxes[r]->product;
        if (r == without)
            continue;
        if (!boxes[r]->is_possible)
            return false;
        for (uint32_t p = 0; p < n; p++)
            out[p] = is_first ? of[p] : out[p] * of[p];
        is_first = false;
    }
    for (uint32_t p = 0; p < n && is_first; p++)
        out[p] = 1;
    return true;
}

/* How much more values a tile with windows holds in one dimension than its product says, at least (lemma B12). */
static double more_values(const node_values *v, const dfl_form_keep *k, const dfl_problem_dim *d, double known)
{
    double piece[4];

    for (uint32_t i = 0; i < d->n; i++)
        piece[i] = v->boxes[d->rank[i]]->figure[k->piece[d->rank[i]]];
    return d->n > 2 ? 1 : most(1, (dfl_dim_values(d, piece) - d->outside) / known);
}

/* Elements of a keep's tile at the lower ends, at least. */
static double least_tile(const node_values *v, const dfl_form_keep *k)
{
    const dfl_problem_operand *o = &v->form->problem->operand[k->operand];
    double tile = v->value[k->tile];

    for (uint32_t d = 0; d < o->n_dims && k->has_windows; d++) {
        const dfl_problem_dim *dim = &o->dims[d];
        const uint32_t main = dim->n > 0 ? dim->rank[dim->main] : 0;
        if (dim->n > 0 && !dfl_form_is_plain(o, dim))
            tile *= more_values(v, k, dim, dim->inside ? v->boxes[main]->figure[k->piece[main]] : 1);
    }
    return tile;
}

/* Whether the parts and the tiles at the lower ends fit (lemma B5). */
static bool fits(node_values *v)
{
    const dfl_form *f = v->form;

    memset(v->room, 0, sizeof v->room);
    for (uint32_t a = 0; a < f->problem->n_axes; a++)
        if (v->value[f->parts + a] > (double)f->problem->axis[a].size)
            return false;
    for (uint32_t i = 0; i < f->n_keeps; i++) {
        const dfl_form_keep *k = &f->keep[i];
        v->room[k->place] += k->bits * least_tile(v, k);
        if (v->room[k->place] > f->problem->place[k->place].bits)
            return false;
    }
    return true;
}

/* Largest share of the elements of a dimension that may stay if a loop of its main rank stands between (lemmas B4, B11). */
static double share_of(const dfl_form *f, dfl_box *const *boxes, const dfl_form_between *x, uint32_t count, uint32_t dim)
{
    const dfl_problem_operand *o = &f->problem->operand[f->count[count].operand];
    const dfl_problem_dim *d = &o->dims[dim];
    const uint32_t r = d->rank[d->main];
    const double *figure = boxes[r]->figure;
    const double stays = f->divisors != NULL ? 0 : figure[x->stays[dim]]; /* rule D5 */
    double halo = 1 - (double)d->coef[d->main];

    if (dfl_form_is_plain(o, d)) {
        const bool is_whole = f->figure[count * f->problem->n_ranks + r] == DFL_FORM_NONE;
        return least(1, stays / (is_whole ? (double)f->problem->extent[r] : boxes[r]->product[count]));
    }
    for (uint32_t i = 0; i < d->n; i++)
        halo += i == d->main ? 0 : (double)d->coef[i] * (double)(f->problem->extent[d->rank[i]] - 1);
    if (f->count[count].spread >> dim & 1)
        return 1;
    return least(1, ((double)d->coef[d->main] * stays + most(0, halo) * figure[x->runs[dim]]) / d->touched);
}

/* Largest share of the elements of a count that may stay during some loops. Also sets whether it holds even if these loops have
   no second iteration. */
static double find_share(const dfl_form *f, dfl_box *const *boxes, const dfl_form_stay *x, uint32_t count, bool *is_sure)
{
    const dfl_problem_operand *o = &f->problem->operand[f->count[count].operand];
    double all = 1, largest = 0;

    *is_sure = false;
    for (uint32_t dim = 0; dim < o->n_dims; dim++) {
        const dfl_problem_dim *d = &o->dims[dim];
        uint32_t ranks = 0, main = d->n > 0 ? d->rank[d->main] : 0;
        double share = 0;
        for (uint32_t i = 0; i < d->n; i++)
            ranks |= 1u << d->rank[i];
        if (((x->inner.ranks | x->own.ranks) & ranks) == 0)
            continue;
        if (x->inner.ranks >> main & 1)
            share = share_of(f, boxes, &x->inner, count, dim);
        if (x->own.ranks >> main & 1)
            share = most(share, share_of(f, boxes, &x->own, count, dim));
        if ((x->inner.ranks >> main & 1) && boxes[main]->figure[x->inner.cuts[dim]] > 0) {
            *is_sure = true;
            all *= share;
        } else if (((x->inner.ranks | x->own.ranks) & ranks & ~(1u << main)) != 0) {
            share = 1; /* loops of the other ranks alone */
        }
        largest = most(largest, share);
    }
    if (*is_sure)
        return all;
    *is_sure = !f->problem->windows;
    return largest;
}

void dfl_box_shares(const dfl_form *f, dfl_box *const *boxes, uint32_t count, double *out)
{
    const dfl_form_count *x = &f->count[count];
    double most_left = 1;

    for (uint32_t i = 0; i < x->n_stays; i++) {
        bool is_sure = false;
        out[i] = least(most_left, most_left > 0 ? find_share(f, boxes, &x->stay[i], count, &is_sure) : 0);
        if (most_left > 0 && is_sure)
            most_left = out[i];
    }
}

/* The part of a count that moves, at least: elements that stay during loops move as if the keep stood above these loops. */
static double bound_moved(const node_values *v, const dfl_form_count *x, uint32_t count)
{
    double moved = v->value[count], below = moved, share[DFL_FORM_STAYS];

    dfl_box_shares(v->form, v->boxes, count, share);
    for (uint32_t i = 0; i < x->n_stays; i++) {
        const double above = v->value[x->stay[i].hoisted];
        moved -= (below - above) * share[i];
        below = above;
    }
    return moved / v->value[count];
}

/* Sets `moved`; energy, at least (lemma B2). */
static double bound_energy(node_values *v, bool is_whole)
{
    const dfl_form *f = v->form;
    const bool has_losses = (v->is_point && f->has_counted_results) || f->has_known_losses;
    double joules = f->problem->points * f->problem->joules, sure = joules;

    for (uint32_t i = 0; i < f->n_counts; i++) {
        const dfl_form_count *x = &f->count[i];
        double all = v->value[i], moved;
        if (x->floor != DFL_FORM_NONE)
            all = most(all, v->value[x->floor] * x->floor_scale);
        moved = x->n_stays > 0 && !is_whole ? all * bound_moved(v, x, i) : all;
        v->moved[i] = moved;
        joules += x->joules * (x->joules > 0 ? moved : all);
        sure += x->sure * moved;
    }
    return has_losses ? most(joules, sure) : sure;
}

/* Time of the links of networks, at least; sets what the work waits for at one of them (lemma B18). */
static double bound_links(const node_values *v, double *longest)
{
    const dfl_form *f = v->form;
    double all[DFL_FORM_LINKS] = { 0 }, waits[DFL_FORM_LINKS] = { 0 }, seconds = 0;

    *longest = 0;
    for (uint32_t i = 0; i < f->n_links; i++) {
        const double time = f->link[i].seconds * v->moved[f->link[i].count];
        all[f->link[i].link] += time;
        waits[f->link[i].link] += f->link[i].waits ? time : 0;
    }
    for (uint32_t l = 0; l < 2 * f->problem->n_axes && f->n_links > 0; l++) {
        seconds = most(seconds, all[l]);
        *longest = most(*longest, waits[l]);
    }
    return seconds;
}

/* Sets the time of each port, and what the work waits for there, in all and of the result, at least (lemma B2). */
static void bound_ports(const node_values *v, double *ports, double *waits, double *of_result)
{
    for (uint32_t i = 0; i < v->form->n_ports; i++) {
        const dfl_form_port *p = &v->form->port[i];
        double time = p->seconds * v->moved[p->count];
        if (p->less != DFL_FORM_NONE && !v->is_point)
            continue;
        if (p->less != DFL_FORM_NONE)
            time = most(0, time + p->less_seconds * v->value[p->less]);
        ports[p->port] += time;
        waits[p->port] += p->waits ? time : 0;
        if (p->waits && v->form->problem->operand[p->operand].output)
            of_result[p->port] += time;
    }
}

static double find_longest(const node_values *v, const double *seconds)
{
    double longest = 0;

    for (uint32_t p = 0; p < 2 * v->form->problem->n_places; p++)
        longest = most(longest, seconds[p]);
    return longest;
}

/* Time on top of the work, at least (lemmas B2, B6, B7, B9, B14, B15, B19). Adds first tiles to `waits` (B14). */
static double bound_extra(const node_values *v, const dfl_ramp *ramp, const double *lasts, const double *of_result, double *waits)
{
    const uint32_t n_ports = 2 * v->form->problem->n_places;
    const double ahead = dfl_ramp_ahead(ramp, v->value), firsts = dfl_ramp_firsts(ramp, v->value);
    double extra = dfl_ramp_turns(ramp, v->form, v->boxes, v->value, waits);

    for (uint32_t p = 0; p < n_ports; p++)
        extra = most(extra, most(waits[p] + ahead, of_result[p] + firsts) + dfl_ramp_lasts_beside(ramp, lasts, p));
    dfl_ramp_add_firsts(ramp, v->value, waits);
    for (uint32_t p = 0; p < n_ports; p++)
        extra = most(extra, waits[p] + dfl_ramp_lasts_beside(ramp, lasts, p));
    return most(extra + ramp->latencies, dfl_ramp_ends(ramp, v->value, lasts));
}

/* Time, at least (lemmas B2, B6 to B9, B14, B15, B17 to B19, B24). */
static double bound_time(const node_values *v, const dfl_ramp *ramp)
{
    const dfl_form *f = v->form;
    double ports[DFL_TERM_PORTS] = { 0 }, waits[DFL_TERM_PORTS] = { 0 }, of_result[DFL_TERM_PORTS] = { 0 };
    double lasts[DFL_PROBLEM_PLACES];
    const double work = f->problem->seconds * most(v->value[f->steps], f->least_steps);
    double on_links, busy = bound_links(v, &on_links);
    dfl_served_node served = { .work = work, .ramp = ramp, .lasts = lasts, .waits = waits, .moved = v->moved, .room = v->room,
                               .is_point = v->is_point };
    const dfl_longest_step_node ahead = { ramp != NULL ? ramp->ahead : DFL_NONE, v->moved, v->value, v->is_point };

    bound_ports(v, ports, waits, of_result);
    if (ramp == NULL)
        return most(most(busy, find_longest(v, ports)), work + most(find_longest(v, waits), on_links));
    busy = most(busy, find_longest(v, ports) + ramp->serial);
    busy = most(busy, dfl_longest_step_time(f, v->boxes, &ahead));
    dfl_ramp_find_lasts(ramp, f, v->boxes, lasts);
    served.extra = most(bound_extra(v, ramp, lasts, of_result, waits), on_links + ramp->latencies);
    return most(busy, ramp->serves ? dfl_served_time(f, &served) : work + served.extra) + ramp->launch;
}

double dfl_box_bound(const dfl_box_costs *costs, const dfl_form *f, dfl_box *const *boxes, uint32_t rank, const double *others)
{
    node_values v;
    double joules, seconds;

    if (!boxes[rank]->is_possible)
        return INFINITY;
    v.form = f;
    v.boxes = boxes;
    v.is_point = true;
    for (uint32_t r = 0; r < f->problem->n_ranks; r++)
        v.is_point &= boxes[r]->is_exact;
    for (uint32_t p = 0; p < f->n_products; p++)
        v.value[p] = others[p] * boxes[rank]->product[p];
    if (!fits(&v))
        return INFINITY;
    joules = bound_energy(&v, costs->is_whole);
    seconds = bound_time(&v, costs->ramp);
    if (costs->seconds_below > 0 && seconds * (1 - DFL_BOX_ROUNDING) >= costs->seconds_below) /* B26 */
        return INFINITY;
    return dfl_objective_value(costs->objective, joules + costs->leakage * seconds, seconds);
}
