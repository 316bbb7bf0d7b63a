#include "mapper/first/estimate.h"

#include <math.h>

enum { CHAIN = 24 };

/* The lines of one rank, outer first. */
typedef struct {
    uint32_t n;
    uint8_t line[CHAIN];
    bool spread[CHAIN];
    int64_t amount[CHAIN];
} chain;

/* What a keep moves. */
typedef struct {
    uint32_t line, at;        /* of the keep; of the first line behind the loops that move a tile */
    uint8_t place;
    double out, in;           /* seconds of the port further out, for a tile */
} way;

typedef struct {
    const dfl_problem *problem;
    const dfl_skeleton *lines;
    chain chains[DFL_PROBLEM_RANKS];
    double iterations[DFL_SKELETON_LINES];   /* of a loop and those of its rank above it, on the busiest instance */
    bool cuts[DFL_SKELETON_LINES];           /* a loop of more than one iteration */
    double parts[DFL_PROBLEM_AXES][DFL_PROBLEM_RANKS];
    double port[2 * DFL_PROBLEM_PLACES], room[DFL_PROBLEM_PLACES];
    double joules, waits, ramp;
    uint32_t n_ways;
    way ways[DFL_PROBLEM_KEEPS];
} estimator;

/* Iterations of the loops from `at` on to `last` over a piece. */
static double count_pieces(const chain *c, uint32_t at, uint32_t last, int64_t piece)
{
    double n = 1;

    while (at <= last && at < c->n) {
        const int64_t amount = c->amount[at];
        at++;
        if (c->spread[at - 1]) {
            piece = dfl_divide_up(piece, amount);
        } else if (piece % amount == 0 || at > last) {
            n *= (double)dfl_divide_up(piece, amount);
            piece = amount;
        } else if (piece > amount) {
            return n * ((double)(piece / amount) * count_pieces(c, at, last, amount) + count_pieces(c, at, last, piece % amount));
        }
    }
    return n;
}

static void make_chains(estimator *k)
{
    const dfl_problem *problem = k->problem;

    for (uint32_t r = 0; r < problem->n_ranks; r++)
        k->chains[r].n = 0;
    for (uint32_t a = 0; a < problem->n_axes; a++)
        for (uint32_t r = 0; r < problem->n_ranks; r++)
            k->parts[a][r] = 1;
    for (uint32_t i = 0; i < k->lines->n; i++) {
        const dfl_skeleton_line *line = &k->lines->at[i];
        chain *c = &k->chains[line->rank];
        if (line->kind == DFL_SKELETON_KEEP || c->n == CHAIN)
            continue;
        c->line[c->n] = (uint8_t)i;
        c->spread[c->n] = line->kind == DFL_SKELETON_SPREAD;
        c->amount[c->n++] = line->amount;
        if (line->kind == DFL_SKELETON_SPREAD)
            k->parts[line->axis][line->rank] *= (double)line->amount;
    }
    for (uint32_t r = 0; r < problem->n_ranks; r++) {
        double before = 1;
        for (uint32_t i = 0; i < k->chains[r].n; i++) {
            const uint32_t at = k->chains[r].line[i];
            if (k->chains[r].spread[i])
                continue;
            k->iterations[at] = count_pieces(&k->chains[r], 0, i, problem->extent[r]);
            k->cuts[at] = k->iterations[at] > before;
            before = k->iterations[at];
        }
    }
}

/* Iterations above line `i` of the loops of each rank; elements of a tile there, in the busiest instance. */
static void look_down(const estimator *k, uint32_t i, double *iterations, int64_t *tile)
{
    for (uint32_t r = 0; r < k->problem->n_ranks; r++) {
        const chain *c = &k->chains[r];
        iterations[r] = 1;
        tile[r] = k->problem->extent[r];
        for (uint32_t j = 0; j < c->n && c->line[j] < i; j++) {
            if (c->spread[j]) {
                tile[r] = dfl_divide_up(tile[r], c->amount[j]);
            } else {
                tile[r] = c->amount[j] < tile[r] ? c->amount[j] : tile[r];
                iterations[r] = k->iterations[c->line[j]];
            }
        }
    }
}

/* Behind the innermost loop above line `i` that changes the operand's tile. */
static uint32_t last_change(const estimator *k, const dfl_problem_operand *o, uint32_t i)
{
    while (i > 0 && (k->lines->at[i - 1].kind != DFL_SKELETON_LOOP || !k->cuts[i - 1] ||
                     !(o->ranks >> k->lines->at[i - 1].rank & 1)))
        i--;
    return i;
}

/* Elements that go once into all tiles of one instance: all of a plain dimension; with windows, those of each tile. */
static double elements_in(const estimator *k, const dfl_problem_operand *o, uint32_t axes, const double *iterations,
                          const int64_t *tile)
{
    double product = 1;

    for (uint32_t d = 0; d < o->n_dims; d++) {
        const dfl_problem_dim *dim = &o->dims[d];
        double values = 1, times = 1;
        for (uint32_t i = 0; i < dim->n; i++) {
            double spread = 1;
            for (uint32_t a = 0; a < k->problem->n_axes; a++)
                if (axes >> a & 1)
                    spread *= k->parts[a][dim->rank[i]];
            values += (double)dim->coef[i] * (double)(tile[dim->rank[i]] - 1);
            times *= iterations[dim->rank[i]];
            if (dim->n == 1) {
                values = ceil((double)k->problem->extent[dim->rank[i]] / spread);
                times = 1;
            }
        }
        product *= values * times;
    }
    return product;
}

static double instances(const estimator *k, uint32_t axes)
{
    double n = 1;

    for (uint32_t a = 0; a < k->problem->n_axes; a++)
        for (uint32_t r = 0; r < k->problem->n_ranks && (axes >> a & 1); r++)
            n *= k->parts[a][r];
    return n;
}

/* What an operand moves between the place `from` and line `i`: a keep further in, or the unit behind all lines. */
static void add_way(estimator *k, uint32_t operand, uint32_t from, uint32_t i)
{
    const dfl_problem *problem = k->problem;
    const dfl_problem_operand *o = &problem->operand[operand];
    const dfl_problem_place *p = &problem->place[from], *q = i == k->lines->n ? NULL : &problem->place[k->lines->at[i].place];
    const uint32_t within = q == NULL ? (1u << problem->n_axes) - 1 : q->axes, between = within & ~p->axes;
    const uint32_t at = q == NULL ? i : last_change(k, o, i);
    double iterations[DFL_PROBLEM_RANKS], times = 1, fan = 1, all = 1, bits, back, in;
    int64_t tile[DFL_PROBLEM_RANKS];

    look_down(k, i, iterations, tile);
    bits = o->bits * dfl_problem_tile(o, tile);
    if (q != NULL) {
        k->room[k->lines->at[i].place] += bits * q->buffers;
        k->ramp += bits * (o->output ? p->write_seconds : p->read_seconds);
        k->ways[k->n_ways].line = i;
        k->ways[k->n_ways].at = at;
        k->ways[k->n_ways].place = k->lines->at[i].place;
        k->ways[k->n_ways].in = o->output ? 0 : bits * p->read_seconds;
        k->ways[k->n_ways].out = o->output ? bits * p->write_seconds : 0;
    }
    in = o->bits * elements_in(k, o, within, iterations, tile);
    look_down(k, at, iterations, tile);
    for (uint32_t r = 0; r < problem->n_ranks; r++) {
        if (!(o->ranks >> r & 1))
            times *= iterations[r];
        for (uint32_t a = 0; a < problem->n_axes; a++)
            if (between >> a & 1) {
                all *= k->parts[a][r];
                if ((o->ranks >> r & 1) || !(problem->axis[a].shared >> operand & 1))
                    fan *= k->parts[a][r];
            }
    }
    in *= times;
    if (q != NULL) {
        k->ways[k->n_ways].in *= fan;
        k->ways[k->n_ways].out *= fan;
        if (o->output)
            k->ways[k->n_ways].in = k->ways[k->n_ways].out * (1 - 1 / times) * (p->read_seconds / fmax(p->write_seconds, 1e-300));
        k->n_ways++;
    }
    back = o->output ? in * (1 - 1 / times) : 0;
    k->port[2 * from + (o->output && !p->one_port)] += fan * in * (o->output ? p->write_seconds : p->read_seconds);
    k->port[2 * from] += fan * back * p->read_seconds;
    k->joules += instances(k, p->axes) * fan * (in * (o->output ? p->write_joules : p->read_joules) + back * p->read_joules);
    for (uint32_t a = 0; a < problem->n_axes; a++)
        if (between >> a & 1)
            k->joules += instances(k, p->axes) * all * (in + back) * problem->axis[a].joules;
    if (q == NULL)
        return;
    k->port[2 * k->lines->at[i].place + !q->one_port] += (o->output ? back : in) * q->write_seconds;
    k->port[2 * k->lines->at[i].place] += (o->output ? in : 0) * q->drain_seconds;
    k->joules += instances(k, within) * ((o->output ? back : in) * q->write_joules + (o->output ? in : 0) * q->drain_joules);
    if (q->waits)
        k->waits += fmax(fan * (in + back) * p->read_seconds, (in + back) * q->write_seconds);
}

/* The time of the work with the steps of a place of two buffers, where a step takes as long as its work or its transfers. Of
   pieces that are not full the loads count in full (MODEL.md, section 4.3). */
static double add_steps(const estimator *k, uint32_t place, double work)
{
    const dfl_problem *problem = k->problem;
    double through[DFL_PROBLEM_RANKS], left[DFL_PROBLEM_RANKS], all = 1, full = 1, more = 0;
    uint32_t last = 0;

    for (uint32_t i = 0; i < k->n_ways; i++)
        if (k->ways[i].place == place && k->ways[i].at > last)
            last = k->ways[i].at;
    for (uint32_t r = 0; r < problem->n_ranks; r++) {
        through[r] = 1;
        left[r] = (double)problem->extent[r];
    }
    for (uint32_t i = 0; i < last; i++) {
        const dfl_skeleton_line *line = &k->lines->at[i];
        if (line->kind == DFL_SKELETON_LOOP && k->cuts[i]) {
            through[line->rank] = k->iterations[i];
            left[line->rank] = (double)line->amount;
        } else if (line->kind == DFL_SKELETON_SPREAD) {
            left[line->rank] = ceil(left[line->rank] / (double)line->amount);
        }
    }
    for (uint32_t r = 0; r < problem->n_ranks; r++) {
        double extent = (double)problem->extent[r];
        for (uint32_t i = 0; i < last; i++)
            if (k->lines->at[i].kind == DFL_SKELETON_SPREAD && k->lines->at[i].rank == r)
                extent = ceil(extent / (double)k->lines->at[i].amount);
        full *= fmin(1, extent / (through[r] * left[r]));
        all *= through[r];
        through[r] = 1;
    }
    const double step = work / (all * full);
    double before = 1;
    for (uint32_t i = 0; i < last; i++) {
        const dfl_skeleton_line *line = &k->lines->at[i];
        double in = 0, out = 0, load, now;
        if (line->kind != DFL_SKELETON_LOOP || !k->cuts[i])
            continue;
        now = before * k->iterations[i] / through[line->rank];
        through[line->rank] = k->iterations[i];
        for (uint32_t w = 0; w < k->n_ways; w++)
            if (k->ways[w].place == place && i < k->ways[w].at) {
                in += k->ways[w].in;
                out += k->ways[w].out;
            }
        load = in + out;
        more += (now - before) * ((1 - full) * load + full * fmax(0, load - step));
        before = now;
    }
    return work + more;
}

dfl_estimate dfl_estimate_make(const dfl_problem *problem, const dfl_skeleton *settled)
{
    estimator k;
    uint32_t from[DFL_PROBLEM_OPERANDS];
    double longest = problem->seconds, steps = 1;

    k.problem = problem;
    k.lines = settled;
    k.joules = problem->points * problem->joules;
    k.waits = k.ramp = 0;
    k.n_ways = 0;
    for (uint32_t p = 0; p < problem->n_places; p++)
        k.port[2 * p] = k.port[2 * p + 1] = k.room[p] = 0;
    make_chains(&k);
    for (uint32_t o = 0; o < problem->n_operands; o++) {
        from[o] = problem->operand[o].home;
        k.room[from[o]] += problem->operand[o].bits * problem->operand[o].touched;
    }
    for (uint32_t i = 0; i < settled->n; i++)
        if (settled->at[i].kind == DFL_SKELETON_KEEP) {
            add_way(&k, settled->at[i].operand, from[settled->at[i].operand], i);
            from[settled->at[i].operand] = settled->at[i].place;
        }
    for (uint32_t p = 0; p < problem->n_places; p++)
        if (k.room[p] > problem->place[p].bits)
            return (dfl_estimate){ INFINITY, INFINITY };
    for (uint32_t o = 0; o < problem->n_operands; o++)
        add_way(&k, o, from[o], settled->n);
    for (uint32_t r = 0; r < problem->n_ranks; r++)
        steps *= count_pieces(&k.chains[r], 0, k.chains[r].n == 0 ? 0 : k.chains[r].n - 1, problem->extent[r]);
    longest = longest * steps + k.waits;
    for (uint32_t p = problem->n_places; p-- > 0 && problem->waits;)
        if (problem->place[p].buffers >= 2)
            longest = add_steps(&k, p, longest);
    for (uint32_t p = 0; p < problem->n_places; p++)
        longest = fmax(longest, fmax(k.port[2 * p], k.port[2 * p + 1]));
    return (dfl_estimate){ k.joules, longest + k.ramp };
}
