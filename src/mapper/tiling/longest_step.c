#include "mapper/tiling/longest_step.h"

#include <math.h>

#include "mapper/tiling/box.h"

/* Lengths of pieces are quotients of products; relative. */
#define ROUNDING 1e-12

static double most(double a, double b) { return a > b ? a : b; }

uint32_t dfl_longest_step_place(const dfl_problem *problem)
{
    uint32_t inside = 0, first;

    for (uint32_t o = 0; o < problem->n_operands; o++)
        inside |= problem->operand[o].places & ~(1u << problem->operand[o].home);
    if (!problem->waits || problem->windows || inside == 0)
        return DFL_NONE;
    first = (uint32_t)__builtin_ctz(inside);
    return problem->place[first].memory != DFL_NONE && !problem->place[first].waits && problem->place[first].axes == 0 ? first
                                                                                                                    : DFL_NONE;
}

/* Transfers of some keeps of the place: `ways` says which of them. */
typedef struct {
    const dfl_form *form;
    struct dfl_box *const *boxes;
    const dfl_longest_step_node *node;
    uint32_t last;            /* the innermost of the keeps */
    enum { ENTER, LEAVE, BOTH } ways;
    double length[DFL_TEMPLATE_KEEPS][DFL_PROBLEM_RANKS]; /* elements of tiles of the place by rank, at least */
    double least[DFL_TEMPLATE_KEEPS], most[DFL_TEMPLATE_KEEPS]; /* elements of these tiles */
} transfers;

static bool is_result(const dfl_form *f, uint32_t keep) { return f->problem->operand[f->skeleton->keep[keep].operand].output; }

/* Whether the transfers of a keep count. */
static bool counts(const transfers *k, uint32_t keep)
{
    const dfl_form *f = k->form;

    if (keep > k->last || f->skeleton->keep[keep].place != k->node->place)
        return false;
    return k->ways == BOTH || is_result(f, keep) == (k->ways == LEAVE);
}

/* Sets the time by port, s. */
static void add_ports(const transfers *k, double *seconds)
{
    const dfl_form *f = k->form;

    for (uint32_t i = 0; i < f->n_ports; i++) {
        const dfl_form_port *p = &f->port[i];
        double time = p->seconds * k->node->moved[p->count];
        if (p->serves || !counts(k, p->keep) || (p->less != DFL_FORM_NONE && (!k->node->is_point || k->ways == LEAVE)))
            continue;
        if (p->less != DFL_FORM_NONE)
            time = most(0, time + p->less_seconds * k->node->moved[p->less]);
        seconds[p->port] += time;
    }
}

/* Coordinates of an axis with full pieces, at least, if `low` .. `high` elements are cut into `least` parts or more. */
static double full_coordinates(int64_t low, int64_t high, int64_t least_parts, int64_t most_parts)
{
    const int64_t part = (low + least_parts - 1) / least_parts;

    if (low == high && least_parts == most_parts)
        return (double)(low / part);
    return most(1, floor((double)low * (double)least_parts / (double)(low + least_parts)));
}

/* Elements of a rank in the tile of a keep of the place, at least: it holds those of all coordinates of the axes above it. */
static double least_length(const transfers *k, uint32_t keep, uint32_t rank)
{
    const dfl_chain *c = &k->form->chain[rank];
    const struct dfl_box *box = k->boxes[rank];
    int64_t low = c->extent, high = low;
    double coordinates = 1;

    for (uint32_t i = 0; i < c->n && c->at[i].gap <= k->form->skeleton->written[keep]; i++)
        if (c->at[i].axis < 0) {
            low = box->low[i] < low ? box->low[i] : low;
            high = box->high[i] < high ? box->high[i] : high;
        } else {
            coordinates *= full_coordinates(low, high, box->low[i], box->high[i]);
            low = (low + box->high[i] - 1) / box->high[i];
            high = (high + box->low[i] - 1) / box->low[i];
        }
    return coordinates * (double)low;
}

/* Sets the elements of each keep of the place, at least and at most: what room the others leave. */
static void find_tiles(transfers *k)
{
    const dfl_form *f = k->form;
    double room = f->problem->place[k->node->place].bits;

    for (uint32_t i = 0; i < f->n_keeps; i++) {
        k->least[i] = 1;
        if (f->keep[i].place != k->node->place)
            continue;
        for (uint32_t r = 0; r < f->problem->n_ranks; r++)
            if (f->problem->operand[f->keep[i].operand].ranks >> r & 1)
                k->least[i] *= k->length[i][r] = least_length(k, i, r);
        room -= k->least[i] * f->keep[i].bits;
    }
    for (uint32_t i = 0; i < f->n_keeps; i++)
        k->most[i] = k->least[i] + most(0, room) / f->keep[i].bits;
}

/* Elements of a rank in one step, at most: the tiles of all keeps of the place hold them. */
static double most_in_step(const transfers *k, uint32_t rank)
{
    const dfl_form *f = k->form;
    double elements = (double)f->problem->extent[rank];

    for (uint32_t i = 0; i < f->n_keeps; i++)
        if (f->keep[i].place == k->node->place && (f->problem->operand[f->keep[i].operand].ranks >> rank & 1))
            elements = fmin(elements, floor(k->most[i] / (k->least[i] / k->length[i][rank]) * (1 + ROUNDING)));
    return elements;
}

/* Pieces of a rank above the innermost of the keeps on coordinate 0, at most; and the parts of the rank on all axes. */
static double most_pieces(const transfers *k, uint32_t rank, double *parts)
{
    const dfl_chain *c = &k->form->chain[rank];
    const struct dfl_box *box = k->boxes[rank];
    int64_t length = c->extent;
    double pieces = 1;

    *parts = 1;
    for (uint32_t i = 0; i < c->n; i++) {
        const int64_t low = box->low[i], high = box->high[i], tiles = (length + low - 1) / low;
        *parts *= c->at[i].axis >= 0 ? (double)high : 1;
        if (c->at[i].axis < 0 && c->at[i].gap <= k->form->skeleton->written[k->last])
            pieces *= (double)tiles;
        length = c->at[i].axis >= 0 ? tiles : high < length ? high : length;
    }
    return pieces;
}

/* Whether the work waits for a keep in a level further in than the place, in which each element of its operand moves as often as
   the others: the level is filled from a keep of the place, or from one further in. */
static bool waits_inside(const transfers *k, const dfl_form_port *p)
{
    const dfl_template_keep *keep = k->form->skeleton->keep;

    return p->waits && p->less == DFL_FORM_NONE && keep[p->keep].parent >= 0 && !keep[keep[p->keep].parent].home &&
           k->node->moved[p->count] >= k->node->value[p->count];
}

/* Time, in s, for which the work waits for one port in the steps with `left` of the elements of a rank, at least: for keeps of
   operands with the rank. */
static double waits_left(const transfers *k, uint32_t rank, double left, double parts)
{
    const dfl_form *f = k->form;
    double waits[DFL_TERM_PORTS] = { 0 }, longest = 0;

    for (uint32_t i = 0; i < f->n_ports; i++) {
        const dfl_form_port *p = &f->port[i];
        const bool is_full = f->figure[(size_t)p->count * f->problem->n_ranks + rank] == DFL_FORM_NONE; /* on all coordinates */
        double all = (double)f->problem->extent[rank];
        if (!waits_inside(k, p) || !(f->problem->operand[f->skeleton->keep[p->keep].operand].ranks >> rank & 1))
            continue;
        all = is_full ? all : k->boxes[rank]->product[p->count] * parts;
        waits[p->port] += p->seconds * k->node->value[p->count] * left / all;
        longest = most(longest, waits[p->port]);
    }
    return longest;
}

/* Work of the unit and what it waits for, in s, besides the steps in which tiles move, at least. */
static double find_work_outside(const transfers *k)
{
    const dfl_form *f = k->form;
    double parts[DFL_PROBLEM_RANKS], pieces[DFL_PROBLEM_RANKS], all = 1, outside = 0;

    for (uint32_t r = 0; r < f->problem->n_ranks; r++)
        all *= pieces[r] = most_pieces(k, r, &parts[r]);
    for (uint32_t r = 0; r < f->problem->n_ranks; r++) {
        const double step = most_in_step(k, r), others = all / pieces[r];
        double left = (double)f->problem->extent[r] - (k->ways == BOTH ? 2 : 1) * pieces[r] * step;
        if (k->ways == ENTER && (left >= 0 || others == 1))
            left += step / others; /* no step is before the first tiles */
        if (left > 0)
            outside = most(outside, k->node->value[f->steps] / k->boxes[r]->product[f->steps] * left / parts[r] *
                                        f->problem->seconds + waits_left(k, r, left, parts[r]));
    }
    return outside;
}

/* Whether tiles of some input surely enter the place over a port, besides the first ones. */
static bool enters_over(const transfers *k, uint32_t port)
{
    const dfl_form *f = k->form;

    for (uint32_t i = 0; i < f->n_ports; i++) {
        const uint32_t keep = f->port[i].keep;
        double whole = 1;
        if (f->port[i].serves || f->port[i].port != port || f->skeleton->keep[keep].place != k->node->place || is_result(f, keep))
            continue;
        for (uint32_t r = 0; r < f->problem->n_ranks; r++)
            whole *= f->problem->operand[f->skeleton->keep[keep].operand].ranks >> r & 1 ? (double)f->problem->extent[r] : 1;
        if (whole > k->most[keep] * (1 + ROUNDING))
            return true;
    }
    return false;
}

static double find_time(const transfers *k)
{
    const double work = find_work_outside(k);
    double seconds[DFL_TERM_PORTS] = { 0 }, longest = 0;

    add_ports(k, seconds);
    for (uint32_t p = 0; p < 2 * k->form->problem->n_places; p++)
        if (seconds[p] > longest && (k->ways == ENTER || enters_over(k, p)))
            longest = seconds[p];
    return longest > 0 ? longest + work : 0;
}

double dfl_longest_step_time(const dfl_form *f, struct dfl_box *const *boxes, const dfl_longest_step_node *node)
{
    transfers k;
    bool enters = false, leaves = false;
    double seconds = 0;

    if (node->place == DFL_NONE)
        return 0;
    k.form = f;
    k.boxes = boxes;
    k.node = node;
    find_tiles(&k);
    for (uint32_t i = 0; i < f->n_keeps; i++) {
        if (f->skeleton->keep[i].place != node->place)
            continue;
        k.last = i;
        k.ways = is_result(f, i) ? LEAVE : ENTER;
        enters |= k.ways == ENTER;
        leaves |= k.ways == LEAVE;
        seconds = most(seconds, find_time(&k));
        k.ways = BOTH;
        seconds = enters && leaves ? most(seconds, find_time(&k)) : seconds;
    }
    return seconds;
}
