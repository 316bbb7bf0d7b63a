#include "mapper/tiling/form_program.h"

#include <math.h>

#include "mapper/problem/limits.h"
#include "mapper/program/exponential.h"
#include "mapper/tiling/box_bound.h"

/* Room for rounding in logarithms of lengths and objectives: more than that of dfl_logarithm and of a sum of two of them. */
#define LOG_ROUNDING 1e-12

typedef struct {
    dfl_geometric_draft *draft;
    const dfl_form *form;
    const dfl_form_goal *goal;
    dfl_form_program *out;
    bool has_losses;          /* the energy has all coefficients, negative ones, too */
} program_maker;

/* Whether some memory lies inside of one of two axes and not of the other. */
static bool stands_between(const dfl_problem *problem, int a, int b)
{
    bool is_between = false;

    for (uint32_t p = 0; p < problem->n_places; p++)
        is_between |= (problem->place[p].axes >> a & 1) != (problem->place[p].axes >> b & 1);
    return is_between;
}

/* Whether a cut is on a loose axis (B61): one below another axis of the rank, if these are no two axes that stand together. */
static bool is_loose(const program_maker *k, uint32_t rank, uint32_t cut)
{
    const dfl_chain *c = &k->form->chain[rank];
    uint32_t n = 0, above = 0;
    int first = -1;

    if (!k->goal->has_splits || c->at[cut].axis < 0)
        return false;
    for (uint32_t i = 0; i < c->n; i++) {
        first = first < 0 ? c->at[i].axis : first;
        n += c->at[i].axis >= 0;
        above += i < cut && c->at[i].axis >= 0;
    }
    return above > 0 && (n > 2 || stands_between(k->form->problem, first, c->at[cut].axis));
}

/* ---- objectives ---- */

/* Energies and latencies at which an objective is compared with a product of powers. */
static const double AT[][2] = { { 2, 3 }, { 1e-6, 1e-3 }, { 5, 1e-9 }, { 1e3, 7 }, { 1e-12, 1e-12 } };

bool dfl_form_goal_make(const dfl_objective *o, double leakage, dfl_form_goal *out)
{
    double one, joules, seconds;

    if (!o->native || !dfl_objective_cornered(o))
        return false;
    if (o->is_line && o->per_joule > 0) {
        *out = (dfl_form_goal){ .factor = o->per_joule, .joules = 1, .leakage = leakage + o->per_second / o->per_joule };
        return true;
    }
    one = dfl_objective_value(o, 1, 1);
    joules = round(dfl_logarithm(fmax(dfl_objective_value(o, 2, 1), 0x1p-100)) / dfl_logarithm(2) * 8) / 8;
    seconds = round(dfl_logarithm(fmax(dfl_objective_value(o, 1, 2), 0x1p-100)) / dfl_logarithm(2) * 8) / 8;
    if (one != 1 || joules < 0 || seconds < 0 || joules + seconds <= 0)
        return false;
    for (uint32_t i = 0; i < sizeof AT / sizeof *AT; i++) {
        const double want = joules * dfl_logarithm(AT[i][0]) + seconds * dfl_logarithm(AT[i][1]);
        const double value = dfl_objective_value(o, AT[i][0], AT[i][1]);
        if (!isnormal(value) || fabs(dfl_logarithm(value) - want) > LOG_ROUNDING)
            return false;
    }
    *out = (dfl_form_goal){ .factor = one, .joules = joules, .seconds = seconds, .leakage = joules > 0 ? leakage : 0 };
    return true;
}

/* The exponent of the energy in the objective of the program is 1, or that of the latency if the energy does not count. */
static double scale_of(const dfl_form_goal *g) { return g->joules > 0 ? g->joules : g->seconds; }

double dfl_form_goal_bound(const dfl_form_goal *g, double bound)
{
    double x = bound * scale_of(g);

    if (x >= DFL_EXPONENT_MAX)
        return bound == INFINITY ? INFINITY : 0;
    if (!(x > -DFL_EXPONENT_MAX))
        return 0;
    dfl_exponentials(&x, 1, &x);
    return x * g->factor * (1 - LOG_ROUNDING);
}

double dfl_form_goal_cutoff(const dfl_form_goal *g, double value)
{
    return isnormal(value) && value > 0 ? (dfl_logarithm(value / g->factor) + 2 * LOG_ROUNDING) / scale_of(g) : INFINITY;
}

/* What first visits take off a line, in the unit of the objective of its program, with a margin for rounding. */
static double find_visits(const dfl_form_program *p, const dfl_form_goal *g)
{
    return g->factor * g->leakage * p->visits * (1 + LOG_ROUNDING);
}

double dfl_form_program_bound(const dfl_form_program *p, const dfl_form_goal *g, double bound)
{
    const double x = dfl_form_goal_bound(g, bound);

    return p->visits > 0 ? fmax(x - find_visits(p, g), 0) : x;
}

double dfl_form_program_cutoff(const dfl_form_program *p, const dfl_form_goal *g, double value)
{
    return dfl_form_goal_cutoff(g, p->visits > 0 ? value + find_visits(p, g) : value);
}

/* ---- variables ---- */

static void set_range(dfl_geometric_box *range, uint32_t var, double least, double most)
{
    range->low[var] = dfl_logarithm(least) - LOG_ROUNDING;
    range->high[var] = dfl_logarithm(most) + LOG_ROUNDING;
}

/* Lengths below each cut of a rank: full ones, as dfl_chain_bound has them; of axes in any place those of B22, maybe less; of
   loose axes those of B61. */
static void bound_lengths(const dfl_form_program *p, uint32_t rank, const dfl_box *box, double *least, double *most)
{
    const dfl_form *f = p->form;
    const dfl_chain *c = &f->chain[rank];
    double low = (double)c->extent, high = low;

    for (uint32_t i = 0; i < c->n; i++) {
        if (c->at[i].axis < 0) {
            low = fmin(low, (double)box->low[i]);
            high = fmin(high, (double)box->high[i]);
        } else {
            low = p->loose[rank] >> i & 1 ? 1 : fmax(low / (double)box->high[i], 1);
            high = ceil(high / (double)box->low[i]);
            if (!f->has_any_places)
                low = ceil(low);
        }
        least[i] = low;
        most[i] = high;
    }
}

/* Adds a variable for a length. */
static uint32_t add_length(program_maker *k, double least, double most)
{
    dfl_geometric_box range;

    set_range(&range, 0, least, most);
    return dfl_geometric_var(k->draft, range.low[0], range.high[0]);
}

static void add_lengths(program_maker *k, uint32_t rank, const dfl_box *root)
{
    const dfl_chain *c = &k->form->chain[rank];
    double least[DFL_CHAIN_CUTS], most[DFL_CHAIN_CUTS];

    k->out->loose[rank] = 0;
    for (uint32_t i = 0; i < c->n; i++)
        k->out->loose[rank] |= (uint32_t)is_loose(k, rank, i) << i;
    bound_lengths(k->out, rank, root, least, most);
    for (uint32_t i = 0; i < c->n; i++) {
        const bool is_one = i + 1 == c->n || most[i] == 1; /* pieces of one element are left below the last cut */
        k->out->var[rank][i] = is_one ? DFL_FORM_NO_VAR : add_length(k, least[i], most[i]);
        k->out->spread[rank][i] = k->out->var[rank][i];
        if (k->out->loose[rank] >> i & 1)
            k->out->spread[rank][i] = add_length(k, (i > 0 ? least[i - 1] : 1) / (double)root->high[i], is_one ? 1 : most[i]);
    }
}

/* ---- monomials ---- */

/* Multiplies the last monomial with a power of the length below cut `cut` of a rank; -1 = the extent. */
static void times_length(program_maker *k, uint32_t rank, int cut, double power)
{
    if (cut < 0)
        dfl_geometric_scale(k->draft, power > 0 ? (double)k->form->chain[rank].extent : 1 / (double)k->form->chain[rank].extent);
    else if (k->out->var[rank][cut] != DFL_FORM_NO_VAR)
        dfl_geometric_raise(k->draft, k->out->var[rank][cut], power);
}

/* Multiplies the last monomial with a power of the share of a piece that coordinate 0 of an axis has: length below over above. */
static void times_share(program_maker *k, uint32_t rank, uint32_t cut, double power)
{
    times_length(k, rank, (int)cut - 1, -power);
    if (k->out->spread[rank][cut] != DFL_FORM_NO_VAR)
        dfl_geometric_raise(k->draft, k->out->spread[rank][cut], power);
}

/* ---- whole numbers as variables (B58) ---- */

/* The variable of the elements of a rank on coordinate 0 of its axes; DFL_FORM_NO_VAR if the rank stands on no axis. */
static uint32_t find_end_var(const dfl_form_program *p, uint32_t rank)
{
    for (uint32_t i = 0; i < p->n_ends; i++)
        if (p->end[i].rank == rank)
            return p->end[i].var;
    return DFL_FORM_NO_VAR;
}

/* The least number of elements of a rank on coordinate 0 of its axes if these have at most `parts` [axis] parts. */
static int64_t least_end(const dfl_form *f, const dfl_form_end *end, const int64_t *parts)
{
    int64_t left = f->chain[end->rank].extent;

    for (uint32_t a = 0; a < f->problem->n_axes; a++)
        if (end->axes >> a & 1)
            left = (left + parts[a] - 1) / parts[a];
    return left;
}

/* Adds the numbers of parts on axes. */
static void add_part_vars(program_maker *k)
{
    const dfl_form *f = k->form;

    for (uint32_t r = 0; r < f->problem->n_ranks; r++)
        for (uint32_t i = 0; i < f->chain[r].n; i++) {
            dfl_geometric_box range;
            if (f->chain[r].at[i].axis < 0)
                continue;
            set_range(&range, 0, 1, (double)f->problem->axis[f->chain[r].at[i].axis].size);
            k->out->parts[r][i] = dfl_geometric_var(k->draft, range.low[0], range.high[0]);
        }
}

/* Adds the full tiles below cuts: variables of their own from the first axis on, else the lengths. */
static void add_whole_vars(program_maker *k)
{
    for (uint32_t r = 0; r < k->form->problem->n_ranks; r++) {
        bool is_mean = false;
        for (uint32_t i = 0; i < k->form->chain[r].n; i++) {
            const uint32_t var = k->out->var[r][i];
            is_mean |= k->form->chain[r].at[i].axis >= 0;
            k->out->whole[r][i] = var == DFL_FORM_NO_VAR || !is_mean
                                      ? var : dfl_geometric_var(k->draft, k->draft->range.low[var], k->draft->range.high[var]);
        }
    }
}

/* Adds the elements on coordinate 0, of the ranks on axes. */
static void add_end_vars(program_maker *k)
{
    const dfl_form *f = k->form;
    int64_t most[DFL_PROBLEM_AXES];

    for (uint32_t a = 0; a < f->problem->n_axes; a++)
        most[a] = f->problem->axis[a].size;
    for (uint32_t r = 0; r < f->problem->n_ranks; r++) {
        dfl_form_end end = { .rank = r, .axes = dfl_chain_axes(&f->chain[r]) };
        dfl_geometric_box range;
        if (end.axes == 0)
            continue;
        set_range(&range, 0, (double)least_end(f, &end, most), (double)f->chain[r].extent);
        end.var = dfl_geometric_var(k->draft, range.low[0], range.high[0]);
        k->out->end[k->out->n_ends++] = end;
    }
}

/* Adds three limits. A length is at most the full tile. The elements of a rank on coordinate 0 of its axes are at least its
   extent over the parts there. The parts of all ranks on an axis multiply to at most the size of the axis. */
static void add_part_limits(program_maker *k)
{
    const dfl_form *f = k->form;

    for (uint32_t r = 0; r < f->problem->n_ranks; r++)
        for (uint32_t i = 0; i < f->chain[r].n; i++)
            if (k->out->has_lengths && k->out->whole[r][i] != k->out->var[r][i]) {
                dfl_geometric_term(k->draft, 1);
                times_length(k, r, (int)i, 1);
                dfl_geometric_raise(k->draft, k->out->whole[r][i], -1);
                dfl_geometric_end(k->draft);
            }
    for (uint32_t e = 0; e < k->out->n_ends; e++) {
        const dfl_form_end *end = &k->out->end[e];
        const dfl_chain *c = &f->chain[end->rank];
        dfl_geometric_term(k->draft, (double)c->extent);
        for (uint32_t i = 0; i < c->n; i++)
            if (c->at[i].axis >= 0 && (end->axes >> c->at[i].axis & 1))
                dfl_geometric_raise(k->draft, k->out->parts[end->rank][i], -1);
        dfl_geometric_raise(k->draft, end->var, -1);
        dfl_geometric_end(k->draft);
    }
    for (uint32_t a = 0; a < f->problem->n_axes; a++) {
        dfl_geometric_term(k->draft, 1 / (double)f->problem->axis[a].size);
        for (uint32_t r = 0; r < f->problem->n_ranks; r++)
            for (uint32_t i = 0; i < f->chain[r].n; i++)
                if (f->chain[r].at[i].axis == (int)a)
                    dfl_geometric_raise(k->draft, k->out->parts[r][i], 1);
        dfl_geometric_end(k->draft);
    }
}

/* ---- products ---- */

static void times_figure(program_maker *k, uint32_t rank, uint16_t figure)
{
    const dfl_chain *c = &k->form->chain[rank];
    const dfl_chain_figure *f = &c->figures.at[figure];
    const bool is_count = f->kind == DFL_CHAIN_PIECES || f->kind == DFL_CHAIN_ELEMENTS;
    int last = -1;

    for (uint32_t i = 0; i < c->n; i++) {
        const bool is_axis = c->at[i].axis >= 0, counts = is_axis && (f->axes >> c->at[i].axis & 1);
        if ((f->kind == DFL_CHAIN_PIECES || f->kind == DFL_CHAIN_TILE) && c->at[i].gap > f->gap)
            break;
        if (is_axis && (is_count ? !counts : f->kind == DFL_CHAIN_PARTS && counts))
            times_share(k, rank, i, is_count ? 1 : -1);
        last = (int)i;
    }
    if (is_count)
        times_length(k, rank, -1, 1);
    if (f->kind == DFL_CHAIN_PIECES)
        times_length(k, rank, last, -1);
    else if (f->kind == DFL_CHAIN_TILE && last >= 0 && k->out->has_lengths && k->out->whole[rank][last] != DFL_FORM_NO_VAR)
        dfl_geometric_raise(k->draft, k->out->whole[rank][last], 1);
    else if (f->kind == DFL_CHAIN_TILE)
        times_length(k, rank, last, 1);
}

/* A monomial: coefficient * product * latency^power. */
static void add_product(program_maker *k, uint32_t product, double coefficient, double power)
{
    dfl_geometric_term(k->draft, coefficient);
    for (uint32_t r = 0; r < k->form->problem->n_ranks; r++) {
        const uint16_t figure = k->form->figure[product * k->form->problem->n_ranks + r];
        if (figure != DFL_FORM_NONE)
            times_figure(k, r, figure);
    }
    if (power != 0)
        dfl_geometric_raise(k->draft, k->out->latency, power);
}

/* The last cut by a loop down to which a product counts pieces of the rank `mixed`; -1 if there is none, or if an axis of the
   rank stands above it. */
static int find_mixed(const program_maker *k, uint32_t product)
{
    bool is_above = true;
    int cut = -1;

    if (k->out->mixed == 0)
        return -1;
    const uint32_t r = k->out->mixed - 1;
    const uint16_t figure = k->form->figure[product * k->form->problem->n_ranks + r];
    const dfl_chain *c = &k->form->chain[r];
    if (figure == DFL_FORM_NONE || c->figures.at[figure].kind != DFL_CHAIN_PIECES)
        return -1;
    for (uint32_t i = 0; i < c->n && c->at[i].gap <= c->figures.at[figure].gap; i++) {
        is_above &= c->at[i].axis < 0;
        if (c->at[i].axis < 0)
            cut = is_above ? (int)i : -1;
    }
    return cut;
}

/* Adds a product in which the rank `mixed` has its least number of pieces down to a cut (a knob, 2 at first). */
static void add_mix(program_maker *k, uint32_t product, uint32_t cut, double coefficient, double power)
{
    if (k->out->n_mixes == DFL_GEOMETRIC_TERMS) {
        k->draft->failed = true;
        return;
    }
    dfl_geometric_term(k->draft, coefficient * 2);
    for (uint32_t r = 0; r < k->form->problem->n_ranks; r++) {
        const uint16_t figure = k->form->figure[product * k->form->problem->n_ranks + r];
        if (figure != DFL_FORM_NONE && r + 1 != k->out->mixed)
            times_figure(k, r, figure);
    }
    if (power != 0)
        dfl_geometric_raise(k->draft, k->out->latency, power);
    k->out->mix[k->out->n_mixes].cut = (uint16_t)cut;
    k->out->mix[k->out->n_mixes++].knob = (uint16_t)dfl_geometric_knob(k->draft);
}

/* What moves of a count, at least: a mean of the count and of its hoisted counts, with the largest shares that can stay. */
static void add_moved(program_maker *k, uint32_t count, double coefficient, double power)
{
    const dfl_form_count *x = &k->form->count[count];
    const int mixed = find_mixed(k, count);

    if (mixed >= 0)
        add_mix(k, count, (uint32_t)mixed, coefficient * DFL_FORM_WHOLE_PIECES, power);
    add_product(k, count, coefficient * (mixed >= 0 ? 1 - DFL_FORM_WHOLE_PIECES : 1), power);
    if (x->n_stays == 0 || k->out->n_shares == DFL_GEOMETRIC_TERMS)
        return;
    k->out->share[k->out->n_shares++] = (dfl_form_share){ (uint16_t)count, (uint16_t)dfl_geometric_knob(k->draft) };
    for (uint32_t i = 0; i < x->n_stays; i++) {
        add_product(k, x->stay[i].hoisted, coefficient, power);
        (void)dfl_geometric_knob(k->draft);
    }
}

/* Adds the work over the latency. With numbers of parts, it is a mean of the steps by lengths and of those by parts (B58, c). */
static void add_steps(program_maker *k, double seconds)
{
    const dfl_form *f = k->form;

    add_product(k, f->steps, seconds * (k->out->has_lengths ? 1 - DFL_FORM_WHOLE_STEPS : 1), -1);
    if (!k->out->has_lengths)
        return;
    dfl_geometric_term(k->draft, seconds * DFL_FORM_WHOLE_STEPS);
    for (uint32_t r = 0; r < f->problem->n_ranks; r++) {
        const uint32_t var = find_end_var(k->out, r);
        if (var == DFL_FORM_NO_VAR)
            dfl_geometric_scale(k->draft, (double)f->chain[r].extent);
        else
            dfl_geometric_raise(k->draft, var, 1);
    }
    dfl_geometric_raise(k->draft, k->out->latency, -1);
}

static void add_work(program_maker *k)
{
    add_steps(k, k->form->problem->seconds);
}

/* A time that does not depend on amounts, over the latency. */
static void add_seconds(program_maker *k, double seconds)
{
    if (!(seconds > 0))
        return;
    dfl_geometric_term(k->draft, seconds);
    dfl_geometric_raise(k->draft, k->out->latency, -1);
}

/* ---- first tiles (B60) ---- */

/* The place of a memory; n_places if the einsum has none there. */
static uint32_t place_of(const dfl_form *f, uint32_t memory)
{
    uint32_t p = 0;

    while (p < f->problem->n_places && f->problem->place[p].memory != memory)
        p++;
    return p;
}

/* Whether the first tile of a keep counts at the read port of the place `home`. */
static bool has_first(const program_maker *k, uint32_t keep, uint32_t home)
{
    const dfl_form *f = k->form;
    const dfl_template_keep *x = &f->skeleton->keep[keep];
    const uint32_t memory = f->problem->place[x->place].memory;

    return ((k->goal->firsts->operands | (x->home ? k->goal->firsts->served : 0)) >> x->operand & 1) && x->parent < 0 &&
           f->problem->operand[x->operand].home == home && memory != DFL_NONE && !k->goal->firsts->is_filled[memory];
}

/* Whether a keep may stand above a loop that other einsums share. The times of the form leave the transfers of such keeps out. */
static bool stands_above(const dfl_form *f, uint32_t keep)
{
    bool above = false;

    for (uint32_t g = keep + 1; g < f->skeleton->shared_gaps; g++)
        above |= f->skeleton->allow[g] != 0;
    return above;
}

/* Whether the first tile of some keep counts. */
static bool has_firsts(const program_maker *k)
{
    const uint32_t home = k->goal->firsts != NULL ? place_of(k->form, k->goal->firsts->memory) : 0;
    bool found = false;

    for (uint32_t i = 0; i < k->form->n_keeps && k->goal->firsts != NULL; i++)
        found |= has_first(k, i, home);
    return found;
}

/* Adds first tiles, over the latency, to a sum of times with these weights: of the work, of all transfers of the read port of
   the home, and of the work with what it waits for at this port. */
static void add_firsts(program_maker *k, double by_work, double by_port, double by_wait)
{
    const dfl_form *f = k->form;
    const uint32_t home = k->goal->firsts != NULL ? place_of(f, k->goal->firsts->memory) : 0;

    for (uint32_t i = 0; i < f->n_keeps && k->goal->firsts != NULL; i++) {
        const dfl_problem_operand *o = &f->problem->operand[f->skeleton->keep[i].operand];
        const bool waits = f->problem->place[f->skeleton->keep[i].place].waits, above = stands_above(f, i);
        const double weight = by_work + (above ? by_port : 0) +
                              ((above || !waits) && !k->goal->firsts->has_streams ? by_wait : 0);
        const double seconds = weight * o->bits * f->problem->place[home < f->problem->n_places ? home : 0].read_seconds;
        if (has_first(k, i, home) && seconds > 0)
            add_product(k, f->keep[i].tile, seconds, -1);
    }
}

/* Whether a transfer may run beside first tiles that count, so that it does not count itself: at another port, of an input, into
   a keep that its home, a keep for an exchange or a stream fills. If some memory is a stream, all keeps of inputs are taken for
   such. */
static bool moves_beside(const program_maker *k, const dfl_form_port *p)
{
    const dfl_form *f = k->form;
    const dfl_template_keep *x = p->keep < f->skeleton->n_keeps ? &f->skeleton->keep[p->keep] : NULL;

    return k->goal->firsts != NULL && x != NULL && !f->problem->operand[x->operand].output &&
           (x->parent < 0 || f->skeleton->keep[x->parent].home || k->goal->firsts->has_streams) &&
           p->port != 2 * place_of(f, k->goal->firsts->memory);
}

/* Whether the transfers at a port count in times: those of results that are read back only by B70. */
static bool counts(const program_maker *k, const dfl_form_port *p)
{
    return (p->less == DFL_FORM_NONE || (k->goal->has_visits && p->has_known_visits)) && !moves_beside(k, p);
}

/* Time of the first visits among transfers that count. */
static double visits_of(const dfl_form_port *p) { return p->less != DFL_FORM_NONE ? -p->less_seconds : 0; }

/* Time of the first visits at a port, or of those for which the work would wait. */
static double find_port_visits(const program_maker *k, uint32_t port, bool of_waits)
{
    double seconds = 0;

    for (uint32_t i = 0; i < k->form->n_ports; i++) {
        const dfl_form_port *p = &k->form->port[i];
        seconds += p->port == port && (p->waits || !of_waits) && counts(k, p) ? visits_of(p) : 0;
    }
    return seconds;
}

/* The work, and what comes before and after it on the way of each input (lemma B7). */
static void add_ends(program_maker *k)
{
    const dfl_ramp *ramp = k->goal->ramp;
    uint32_t n = ramp == NULL || ramp->n == 0 ? 1 : ramp->n;

    for (uint32_t i = 0; i < n; i++) {
        add_work(k);
        add_seconds(k, k->out->visits);
        if (ramp != NULL) {
            const dfl_ramp_way *way = ramp->n > 0 ? &ramp->way[i] : NULL;
            add_seconds(k, ramp->launch + ramp->last + (way != NULL ? way->latencies : 0));
            for (uint32_t f = 0; way != NULL && f < way->n; f++)
                if (way->first[f].seconds > 0)
                    add_product(k, way->first[f].tile, way->first[f].seconds, -1);
        } else {
            add_firsts(k, 1, 0, 0);
        }
        dfl_geometric_end(k->draft);
    }
}

/* ---- sums ---- */

static void add_objective(program_maker *k)
{
    const dfl_form *f = k->form;
    const dfl_form_goal *g = k->goal;
    const double power = g->joules > 0 ? g->seconds / g->joules : 1;

    dfl_geometric_term(k->draft, g->joules > 0 ? f->problem->points * f->problem->joules : 1);
    if (power != 0)
        dfl_geometric_raise(k->draft, k->out->latency, power);
    for (uint32_t i = 0; i < f->n_counts && g->joules > 0; i++) {
        const double joules = k->has_losses ? f->count[i].joules : f->count[i].sure;
        if (joules > 0)
            add_moved(k, i, joules, power);
        else if (joules < 0)
            add_product(k, i, joules, power);
    }
    if (g->leakage > 0) {
        dfl_geometric_term(k->draft, g->leakage);
        dfl_geometric_raise(k->draft, k->out->latency, power + 1);
    }
    dfl_geometric_end(k->draft);
}

/* Work, and the time of each port, with the work if that waits, are at most the latency. */
static void add_times(program_maker *k)
{
    const dfl_form *f = k->form;
    const dfl_ramp *ramp = k->goal->ramp;
    bool has_work = false;

    for (uint32_t port = 0; port < 2 * f->problem->n_places; port++)
        k->out->visits = fmax(k->out->visits, find_port_visits(k, port, false));
    for (uint32_t port = 0; port < 2 * f->problem->n_places; port++) {
        bool waits = false, beside = false;
        for (uint32_t i = 0; i < f->n_ports; i++)
            if (f->port[i].port == port && counts(k, &f->port[i]))
                *(f->port[i].waits ? &waits : &beside) = true;
        for (uint32_t of_waits = 0; of_waits < 2; of_waits++) {
            if (of_waits ? !waits : !beside)
                continue;
            for (uint32_t i = 0; i < f->n_ports; i++) {
                const dfl_form_port *p = &f->port[i];
                if (p->port == port && (p->waits || !of_waits) && counts(k, p))
                    add_moved(k, p->count, p->seconds, -1);
            }
            if (of_waits)
                add_work(k);
            add_seconds(k, k->out->visits - find_port_visits(k, port, of_waits));
            if (k->goal->firsts != NULL && port == 2 * place_of(f, k->goal->firsts->memory))
                add_firsts(k, 0, !of_waits, of_waits);
            if (ramp != NULL)
                add_seconds(k, ramp->launch + (of_waits ? ramp->latencies : ramp->serial));
            has_work |= of_waits;
            k->out->time[k->out->n_times++] = (uint8_t)(2 * port + of_waits);
            dfl_geometric_end(k->draft);
        }
    }
    if (!has_work || ramp != NULL || has_firsts(k)) {
        k->out->time[k->out->n_times++] = DFL_FORM_TIME_WORK;
        add_ends(k);
    }
}

/* The share of the work in a weighted latency. */
static double share_work(const dfl_form_goal *g)
{
    double share = g->weights == NULL ? 1 : g->weights[DFL_FORM_TIME_WORK];

    for (uint32_t port = 0; g->weights != NULL && port < 2 * DFL_PROBLEM_PLACES; port++)
        share += g->weights[2 * port + 1];
    return share;
}

/* The weighted mean of times is at most the latency. */
static void add_mean(program_maker *k)
{
    const dfl_form *f = k->form;

    for (uint32_t i = 0; i < f->n_ports; i++) {
        const dfl_form_port *p = &f->port[i];
        const double weight = k->goal->weights[2 * p->port] + (p->waits ? k->goal->weights[2 * p->port + 1] : 0);
        if (!(weight > 0) || !counts(k, p))
            continue;
        add_moved(k, p->count, p->seconds * weight, -1);
        k->out->visits += visits_of(p) * weight;
    }
    add_steps(k, f->problem->seconds * share_work(k->goal));
    if (k->goal->firsts != NULL) {
        const uint32_t home = place_of(f, k->goal->firsts->memory);
        const double *port = &k->goal->weights[home < f->problem->n_places ? 4 * home : 0];
        add_firsts(k, k->goal->weights[DFL_FORM_TIME_WORK], port[0], port[1]);
    }
    dfl_geometric_end(k->draft);
}

/* Adds the room of the keeps that a limit may be set for, with the share of it that they may not take. */
static void add_limited(program_maker *k)
{
    const dfl_form *f = k->form;

    k->out->limited = DFL_FORM_NO_VAR;
    if (k->goal->limited == 0)
        return;
    for (uint32_t i = 0; i < f->n_keeps; i++)
        if (k->goal->limited >> i & 1)
            add_product(k, f->keep[i].tile, f->keep[i].bits / f->problem->place[f->keep[i].place].bits, 0);
    dfl_geometric_term(k->draft, 1);
    k->out->limited = dfl_geometric_knob(k->draft);
    dfl_geometric_end(k->draft);
}

static void add_rooms(program_maker *k)
{
    const dfl_form *f = k->form;

    for (uint32_t place = 0; place < f->problem->n_places; place++) {
        bool is_used = false;
        k->out->others[place] = DFL_FORM_NO_VAR;
        if (isinf(f->problem->place[place].bits))
            continue;
        for (uint32_t i = 0; i < f->n_keeps; i++)
            if (f->keep[i].place == place) {
                add_product(k, f->keep[i].tile, f->keep[i].bits / f->problem->place[place].bits, 0);
                is_used = true;
            }
        if (is_used && k->goal->has_others) {
            dfl_geometric_term(k->draft, 1);
            k->out->others[place] = dfl_geometric_knob(k->draft);
        }
        dfl_geometric_end(k->draft);
    }
    add_limited(k);
    for (uint32_t a = 0; a < f->problem->n_axes && !k->out->has_parts; a++) {
        add_product(k, f->parts + a, 1 / (double)f->problem->axis[a].size, 0);
        dfl_geometric_end(k->draft);
    }
    if (k->out->has_parts)
        add_part_limits(k);
}

/* Limits of a loose axis (B61): the length above over the parts is at most that above and the full tile; the length below is at
   most that length times the parts of the axes further out. */
static void add_loose(program_maker *k, uint32_t rank, uint32_t cut)
{
    const uint32_t spread = k->out->spread[rank][cut];

    dfl_geometric_term(k->draft, 1);
    times_share(k, rank, cut, 1);
    dfl_geometric_end(k->draft);
    dfl_geometric_term(k->draft, 1);
    times_length(k, rank, (int)cut, 1);
    dfl_geometric_raise(k->draft, spread, -1);
    for (uint32_t i = 0; i < cut; i++)
        if (k->form->chain[rank].at[i].axis >= 0)
            times_share(k, rank, i, 1);
    dfl_geometric_end(k->draft);
    if (k->out->has_lengths && k->out->whole[rank][cut] != DFL_FORM_NO_VAR) {
        dfl_geometric_term(k->draft, 1);
        dfl_geometric_raise(k->draft, spread, 1);
        dfl_geometric_raise(k->draft, k->out->whole[rank][cut], -1);
        dfl_geometric_end(k->draft);
    }
}

/* The length below a cut is at most that above; and that above an axis at most the parts of the box times that below. */
static void add_order(program_maker *k, uint32_t rank)
{
    const dfl_chain *c = &k->form->chain[rank];

    for (uint32_t i = 0; i < c->n; i++) {
        if (k->out->loose[rank] >> i & 1)
            add_loose(k, rank, i);
        if (i > 0 && k->out->var[rank][i] != DFL_FORM_NO_VAR) {
            dfl_geometric_term(k->draft, 1);
            times_length(k, rank, (int)i, 1);
            times_length(k, rank, (int)i - 1, -1);
            dfl_geometric_end(k->draft);
        }
        if (c->at[i].axis >= 0) {
            dfl_geometric_term(k->draft, 1);
            times_share(k, rank, i, -1);
            if (k->out->has_parts)
                dfl_geometric_raise(k->draft, k->out->parts[rank][i], -1);
            else
                k->out->parts[rank][i] = dfl_geometric_knob(k->draft);
            dfl_geometric_end(k->draft);
        }
    }
}

static bool make_program(dfl_arena *arena, program_maker *k, dfl_box *const *roots)
{
    const dfl_form *f = k->form;
    const double least = dfl_logarithm(f->problem->seconds * f->least_steps * share_work(k->goal)) - LOG_ROUNDING;
    uint32_t first_time;

    dfl_geometric_begin(k->draft);
    k->out->n_shares = 0;
    for (uint32_t r = 0; r < f->problem->n_ranks; r++)
        add_lengths(k, r, roots[r]);
    k->out->n_ends = 0;
    k->out->has_parts = k->goal->has_parts;
    k->out->has_lengths = k->goal->has_parts && k->goal->has_lengths;
    k->out->mixed = k->out->has_lengths ? k->goal->mixed : 0;
    k->out->n_mixes = 0;
    if (k->out->has_parts)
        add_part_vars(k);
    if (k->out->has_lengths) {
        add_whole_vars(k);
        add_end_vars(k);
    }
    k->out->latency = dfl_geometric_var(k->draft, least, least);
    add_objective(k);
    first_time = k->draft->n_sums;
    k->out->n_times = 0;
    k->out->visits = 0;
    if (k->goal->weights != NULL)
        add_mean(k);
    else
        add_times(k);
    add_rooms(k);
    for (uint32_t r = 0; r < f->problem->n_ranks; r++)
        add_order(k, r);
    dfl_geometric_enclose(k->draft, k->out->latency);
    for (uint32_t i = 0; i < k->out->n_times; i++)
        k->out->time_sum[i] = dfl_geometric_place(k->draft, first_time + i);
    k->out->program = dfl_geometric_close(arena, k->draft);
    return k->out->program != NULL;
}

dfl_form_program *dfl_form_program_make(dfl_arena *arena, dfl_geometric_draft *draft, const dfl_form *f, dfl_box *const *roots,
                                        const dfl_form_goal *goal)
{
    dfl_form_program *out = DFL_NEW(arena, dfl_form_program);
    program_maker k = { .draft = draft, .form = f, .goal = goal, .out = out, .has_losses = f->has_known_losses };

    out->form = f;
    out->is_whole = goal->is_whole;
    if (!isnormal(f->problem->seconds) || !(f->least_steps > 0))
        return NULL;
    if (make_program(arena, &k, roots))
        return out;
    k.has_losses = false;
    return f->has_known_losses && make_program(arena, &k, roots) ? out : NULL;
}

/* ---- boxes ---- */

void dfl_form_program_range(const dfl_form_program *p, dfl_box *const *boxes, dfl_geometric_box *range)
{
    double least[DFL_CHAIN_CUTS], most[DFL_CHAIN_CUTS];

    for (uint32_t r = 0; r < p->form->problem->n_ranks; r++) {
        bound_lengths(p, r, boxes[r], least, most);
        for (uint32_t i = 0; i < p->form->chain[r].n; i++) {
            if (p->var[r][i] != DFL_FORM_NO_VAR)
                set_range(range, p->var[r][i], least[i], most[i]);
            if (p->loose[r] >> i & 1) {
                range->low[p->spread[r][i]] = p->program->range.low[p->spread[r][i]];
                range->high[p->spread[r][i]] = p->program->range.high[p->spread[r][i]];
            }
        }
    }
    for (uint32_t r = 0; r < p->form->problem->n_ranks && p->has_lengths; r++)
        for (uint32_t i = 0; i < p->form->chain[r].n; i++)
            if (p->whole[r][i] != DFL_FORM_NO_VAR && p->whole[r][i] != p->var[r][i]) {
                range->low[p->whole[r][i]] = p->program->range.low[p->whole[r][i]];
                range->high[p->whole[r][i]] = p->program->range.high[p->whole[r][i]];
            }
    for (uint32_t i = 0; i < p->n_ends; i++) {
        range->low[p->end[i].var] = p->program->range.low[p->end[i].var];
        range->high[p->end[i].var] = p->program->range.high[p->end[i].var];
    }
    for (uint32_t r = 0; r < p->form->problem->n_ranks && p->has_parts; r++)
        for (uint32_t i = 0; i < p->form->chain[r].n; i++)
            if (p->form->chain[r].at[i].axis >= 0) {
                range->low[p->parts[r][i]] = p->program->range.low[p->parts[r][i]];
                range->high[p->parts[r][i]] = p->program->range.high[p->parts[r][i]];
            }
    range->low[p->latency] = p->program->range.low[p->latency];
    range->high[p->latency] = p->program->range.high[p->latency];
}

void dfl_form_program_fit(dfl_form_program *p, dfl_box *const *boxes, dfl_geometric_box *range)
{
    for (uint32_t i = 0; i < p->n_shares; i++) {
        const uint32_t count = p->share[i].count;
        const dfl_form_count *x = &p->form->count[count];
        double above = 1, share[DFL_FORM_STAYS + 1];
        if (!p->is_whole)
            dfl_box_shares(p->form, boxes, count, share);
        for (uint32_t n = x->n_stays; n-- > 1 && !p->is_whole;)
            share[n - 1] = fmax(share[n - 1], share[n]); /* weights are not negative */
        for (uint32_t n = 0; n <= x->n_stays; n++) {
            const double stays = n < x->n_stays && !p->is_whole ? share[n] : 0;
            dfl_geometric_turn(p->program, p->share[i].knob + n, above - stays);
            above = stays;
        }
    }
    for (uint32_t r = 0; r < p->form->problem->n_ranks; r++)
        for (uint32_t i = 0; i < p->form->chain[r].n; i++)
            if (p->form->chain[r].at[i].axis >= 0)
                dfl_form_program_limit(p, r, i, boxes[r]->high[i]);
    for (uint32_t i = 0; i < p->n_mixes; i++)
        dfl_form_program_mix(p, p->mix[i].cut, 1);
    dfl_form_program_range(p, boxes, range);
}

void dfl_form_program_limit(dfl_form_program *p, uint32_t rank, uint32_t cut, int64_t parts)
{
    if (!p->has_parts)
        dfl_geometric_turn(p->program, p->parts[rank][cut], 1 / (double)parts);
}

bool dfl_form_program_tile(const dfl_form_program *p, uint32_t rank, uint32_t cut, int64_t low, int64_t high,
                           dfl_geometric_box *range)
{
    const uint32_t var = p->whole[rank][cut];
    dfl_geometric_box limit;

    set_range(&limit, 0, (double)low, (double)high);
    range->low[var] = fmax(range->low[var], limit.low[0]);
    range->high[var] = fmin(range->high[var], limit.high[0]);
    return range->low[var] <= range->high[var];
}

void dfl_form_program_mix(dfl_form_program *p, uint32_t cut, uint32_t least)
{
    for (uint32_t i = 0; i < p->n_mixes; i++)
        if (p->mix[i].cut == cut)
            dfl_geometric_turn(p->program, p->mix[i].knob, least / 2.0);
}

void dfl_form_program_parts(const dfl_form_program *p, uint32_t rank, const int64_t *low, const int64_t *high,
                            dfl_geometric_box *range)
{
    const dfl_chain *c = &p->form->chain[rank];

    for (uint32_t i = 0; i < c->n; i++)
        if (c->at[i].axis >= 0)
            set_range(range, p->parts[rank][i], (double)low[c->at[i].axis], (double)high[c->at[i].axis]);
    for (uint32_t e = 0; e < p->n_ends; e++)
        if (p->end[e].rank == rank)
            set_range(range, p->end[e].var, (double)least_end(p->form, &p->end[e], high), (double)c->extent);
}

void dfl_form_program_take(dfl_form_program *p, uint32_t place, double share)
{
    if (p->others[place] != DFL_FORM_NO_VAR)
        dfl_geometric_turn(p->program, p->others[place], share);
}

void dfl_form_program_limit_keeps(dfl_form_program *p, double share)
{
    if (p->limited != DFL_FORM_NO_VAR)
        dfl_geometric_turn(p->program, p->limited, 1 - share);
}

bool dfl_form_program_narrow(const dfl_form_program *p, uint32_t rank, int cut, int64_t low, int64_t high,
                             dfl_geometric_box *range)
{
    const uint32_t var = cut < 0 ? DFL_FORM_NO_VAR : p->var[rank][cut];
    const int64_t length = cut < 0 ? p->form->chain[rank].extent : 1;
    dfl_geometric_box limit;

    if (var == DFL_FORM_NO_VAR)
        return low <= length && length <= high;
    if (low > high)
        return false;
    set_range(&limit, 0, (double)low, (double)high);
    range->low[var] = fmax(range->low[var], limit.low[0]);
    range->high[var] = fmin(range->high[var], limit.high[0]);
    return range->low[var] <= range->high[var];
}

double dfl_form_program_length(const dfl_form_program *p, uint32_t rank, int cut, const double *x)
{
    if (cut < 0)
        return dfl_logarithm((double)p->form->chain[rank].extent);
    return p->var[rank][cut] == DFL_FORM_NO_VAR ? 0 : x[p->var[rank][cut]];
}

double dfl_form_program_spread(const dfl_form_program *p, uint32_t rank, uint32_t cut, const double *x)
{
    const uint32_t var = p->spread[rank][cut];

    return dfl_form_program_length(p, rank, (int)cut - 1, x) - (var == DFL_FORM_NO_VAR ? 0 : x[var]);
}
