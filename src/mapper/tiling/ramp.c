#include "mapper/tiling/ramp.h"

#include <math.h>
#include <string.h>

#include "mapper/tiling/longest_step.h"

static double most(double a, double b) { return a > b ? a : b; }

static const dfl_memory *memory_at(const dfl_mapping *m, const dfl_problem *problem, uint32_t place)
{
    return &m->system->memories[problem->place[place].memory];
}

/* Whether a place is the unit, which holds an element of an operand that it reads only when it changes. */
static bool is_unit(const dfl_problem *problem, uint32_t place) { return problem->place[place].memory == DFL_NONE; }

/* Whether a keep inside of its home may stand in a stream. */
static bool has_streams(const dfl_mapping *m, const dfl_problem *problem)
{
    uint32_t inside = 0;
    bool has = false;

    for (uint32_t o = 0; o < problem->n_operands; o++)
        inside |= problem->operand[o].places & ~(1u << problem->operand[o].home);
    for (uint32_t p = 0; p < problem->n_places; p++)
        has |= (inside >> p & 1) && !is_unit(problem, p) && memory_at(m, problem, p)->stream;
    return has;
}

/* Links of the shortest route through a network. */
static double least_links(const char *kind)
{
    if (strcmp(kind, "mesh") == 0 || strcmp(kind, "ring") == 0 || strcmp(kind, "torus") == 0)
        return 0;
    return strcmp(kind, "bus") == 0 || strcmp(kind, "crossbar") == 0 || strcmp(kind, "fully_connected") == 0 ? 1 : 2;
}

/* Latency of the links between a place and what lies inside of some axes, at least. Where a level can hold several keeps of a
   tensor, which of their links add up is not known: none counts. */
static double find_links(const dfl_intern *names, const dfl_mapping *m, const dfl_problem *problem, uint32_t outer,
                         uint32_t inside)
{
    const dfl_system *s = m->system;
    uint32_t counted = DFL_NONE;
    double latency = 0;

    for (uint32_t a = 0; a < problem->n_axes && !has_streams(m, problem); a++) {
        const dfl_axis *axis = &s->axes[problem->axis[a].axis];
        if (!((inside & ~problem->place[outer].axes) >> a & 1) || axis->network == DFL_NONE || axis->element == counted)
            continue;
        counted = axis->element;
        latency += s->networks[axis->network].latency * least_links(dfl_sym_text(names, s->networks[axis->network].kind));
    }
    return latency;
}

/* Adds the latency of a transfer from or to the memory at a place. A keep that a stream fills is in the level of the stream, so
   of both latencies the longer one counts. `level`: the latencies of the level at hand. */
static double add_latency(const dfl_mapping *m, const dfl_problem *problem, uint32_t place, bool is_inside, double *level)
{
    const dfl_memory *memory = memory_at(m, problem, place);
    const double before = *level;

    *level = is_inside && memory->stream ? most(before, memory->latency) : memory->latency;
    return is_inside && memory->stream ? *level - before : *level;
}

/* The way of an input: its keeps, and what the unit waits for before the first operand. */
static dfl_ramp_way find_way(const dfl_intern *names, const dfl_mapping *m, const dfl_form *f, uint32_t operand)
{
    const dfl_problem *problem = f->problem;
    const dfl_tiling_template *t = f->skeleton;
    const double bits = problem->operand[operand].bits;
    uint32_t outer = problem->operand[operand].home;
    double level = 0;
    dfl_ramp_way way = { .n = 0 };

    if (problem->operand[operand].ranks != problem->operand[operand].plain) /* the first tile may lie outside of the shape */
        return way;
    for (uint32_t i = 0; i < t->n_keeps; i++) {
        const uint32_t inner = t->keep[i].place;
        if (t->keep[i].operand != operand || is_unit(problem, inner))
            continue;
        way.latencies += add_latency(m, problem, outer, way.n > 0, &level);
        way.latencies += find_links(names, m, problem, outer, problem->place[inner].axes);
        way.first[way.n].tile = f->keep[i].tile;
        way.first[way.n].is_ahead = !problem->place[inner].waits;
        way.first[way.n++].seconds = bits * most(problem->place[outer].read_seconds, problem->place[inner].write_seconds);
        outer = inner;
    }
    way.of_levels = way.latencies;
    way.latencies += memory_at(m, problem, outer)->latency + find_links(names, m, problem, outer, (1u << problem->n_axes) - 1);
    return way;
}

static uint32_t index_of_port(const dfl_problem *problem, uint32_t place, bool is_write)
{
    return 2 * place + (is_write && !problem->place[place].one_port);
}

static uint32_t port_of(const dfl_problem *problem, uint32_t place, bool is_write)
{
    return 1u << index_of_port(problem, place, is_write);
}

/* Elements that move at the outer end while the last tiles of all instances of a keep of the result leave, by element of one
   tile, at most: those that are written, or the old values that are read. Of the parts of one element that come from axes which
   do not share, the first one finds no value. */
static double moves_outside(const dfl_form *f, uint32_t operand, uint32_t between, bool is_old)
{
    const dfl_problem *problem = f->problem;
    const double all = dfl_problem_instances(problem, between);
    uint32_t apart = 0;

    for (uint32_t r = 0; r < problem->n_ranks; r++)
        for (uint32_t i = 0; i < f->chain[r].n && !(problem->operand[operand].ranks >> r & 1); i++)
            apart |= f->chain[r].at[i].axis >= 0 ? 1u << f->chain[r].at[i].axis : 0;
    for (uint32_t a = 0; a < problem->n_axes; a++)
        apart &= ~(problem->axis[a].shared >> operand & 1 ? 1u << a : 0);
    return is_old ? all - all / dfl_problem_instances(problem, apart & between) : all;
}

/* Lists what the last tiles of the result need. */
static void find_lasts(const dfl_intern *names, const dfl_mapping *m, const dfl_form *f, uint32_t operand, dfl_ramp *out)
{
    const dfl_problem *problem = f->problem;
    const dfl_tiling_template *t = f->skeleton;
    const double bits = problem->operand[operand].bits;
    uint32_t outer = problem->operand[operand].home;
    double level = 0;

    for (uint32_t i = 0; i < t->n_keeps; i++) {
        const uint32_t inner = t->keep[i].place, n = out->n_lasts;
        if (t->keep[i].operand != operand)
            continue;
        out->last_latencies += add_latency(m, problem, outer, n > 0, &level);
        out->last_latencies += find_links(names, m, problem, outer, problem->place[inner].axes);
        out->last_of[n].keep = (uint8_t)i;
        out->last_of[n].waits[0].port = (uint8_t)index_of_port(problem, inner, false);
        out->last_of[n].waits[1].port = (uint8_t)index_of_port(problem, outer, true);
        out->last_of[n].waits[2].port = (uint8_t)index_of_port(problem, outer, false);
        if (problem->place[inner].waits) { /* one outer end takes the tiles of all inner instances */
            const dfl_problem_place *p = &problem->place[outer];
            const uint32_t between = problem->place[inner].axes & ~p->axes;
            out->last_of[n].waits[0].seconds = bits * problem->place[inner].drain_seconds;
            out->last_of[n].waits[1].seconds = bits * p->write_seconds * moves_outside(f, operand, between, false);
            out->last_of[n].waits[2].seconds = bits * p->read_seconds * moves_outside(f, operand, between, true);
        }
        out->last_of[n].seconds = bits * most(problem->place[inner].drain_seconds, problem->place[outer].write_seconds);
        out->last += out->last_of[n].seconds;
        out->n_lasts++;
        outer = inner;
    }
    out->last += out->last_latencies;
}

static void add_first(dfl_ramp *out, uint16_t tile, uint32_t port, double seconds)
{
    if (!(seconds > 0))
        return;
    out->first[out->n_firsts].tile = tile;
    out->first[out->n_firsts].port = (uint8_t)port;
    out->first[out->n_firsts++].seconds = seconds;
}

/* Lists the first tiles of inputs in memories that fetch ahead. */
static void find_firsts(const dfl_form *f, dfl_ramp *out)
{
    const dfl_problem *problem = f->problem;

    for (uint32_t i = 0; i < f->skeleton->n_keeps; i++) {
        const dfl_template_keep *k = &f->skeleton->keep[i];
        const dfl_problem_operand *o = &problem->operand[k->operand];
        const uint32_t outer = k->parent < 0 ? o->home : f->skeleton->keep[k->parent].place;
        if (o->output || problem->place[k->place].waits || is_unit(problem, k->place))
            continue;
        add_first(out, f->keep[i].tile, index_of_port(problem, outer, false), o->bits * problem->place[outer].read_seconds);
        add_first(out, f->keep[i].tile, index_of_port(problem, k->place, true), o->bits * problem->place[k->place].write_seconds);
    }
}

/* Whether no memory that fetches inputs ahead stands inside of one that does not. */
static bool fetches_outside(const dfl_problem *problem)
{
    uint32_t inputs = 0;
    bool waits = false, is_outside = true;

    for (uint32_t o = 0; o < problem->n_operands; o++)
        inputs |= problem->operand[o].output ? 0 : problem->operand[o].places & ~(1u << problem->operand[o].home);
    for (uint32_t p = 0; p < problem->n_places; p++) {
        if (!(inputs >> p & 1) || is_unit(problem, p))
            continue;
        is_outside &= problem->place[p].waits || !waits;
        waits |= problem->place[p].waits;
    }
    return is_outside;
}

/* Whether each memory with keeps for which the work waits is filled from the innermost one that fetches an input ahead: then it
   belongs to a level further in. */
static bool is_outer(const dfl_form *f, uint32_t operand)
{
    const dfl_tiling_template *t = f->skeleton;
    uint32_t innermost = DFL_NONE, waiting = 0, inside = 0;

    for (uint32_t i = 0; i < t->n_keeps; i++)
        if (t->keep[i].operand == operand && !f->problem->place[t->keep[i].place].waits && !is_unit(f->problem, t->keep[i].place))
            innermost = t->keep[i].place;
    for (uint32_t i = 0; i < t->n_keeps; i++) {
        const dfl_template_keep *k = &t->keep[i];
        if (!f->problem->place[k->place].waits)
            continue;
        waiting |= 1u << k->place;
        inside |= k->parent >= 0 && t->keep[k->parent].place == innermost ? 1u << k->place : 0;
    }
    return innermost != DFL_NONE && (waiting & ~inside) == 0;
}

/* Sets the ports that only the result, or only inputs, have the work wait for. */
static void find_turns(const dfl_form *f, dfl_ramp *out)
{
    const dfl_problem *problem = f->problem;
    uint32_t of_result = 0, of_inputs = 0, n = 0;

    for (uint32_t i = 0; i < f->skeleton->n_keeps; i++) {
        const dfl_template_keep *k = &f->skeleton->keep[i];
        const uint32_t outer = k->parent < 0 ? problem->operand[k->operand].home : f->skeleton->keep[k->parent].place;
        if (!problem->place[k->place].waits)
            continue;
        if (problem->operand[k->operand].output) {
            of_result |= port_of(problem, outer, false) | port_of(problem, outer, true);
            of_result |= port_of(problem, k->place, false) | port_of(problem, k->place, true);
            out->result = i;
            n++;
        } else {
            of_inputs |= port_of(problem, outer, false) | port_of(problem, k->place, true);
        }
    }
    out->result_ports = n == 1 ? of_result & ~of_inputs : 0;
    out->input_ports = n == 1 ? of_inputs & ~of_result : 0;
}

/* Visits of the tiles of a keep on coordinate 0, at most. */
static double most_visits(const dfl_form *f, dfl_box *const *boxes, uint32_t keep)
{
    double visits = 1;

    for (uint32_t r = 0; r < f->problem->n_ranks; r++) {
        const dfl_chain *c = &f->chain[r];
        int64_t length = c->extent;
        for (uint32_t i = 0; i < c->n && c->at[i].gap <= keep; i++) {
            const int64_t low = boxes[r]->low[i], high = boxes[r]->high[i], tiles = (length + low - 1) / low;
            if (c->at[i].axis < 0)
                visits *= (double)tiles;
            length = c->at[i].axis >= 0 ? tiles : high < length ? high : length;
        }
    }
    return visits;
}

/* Tiles of one input that a memory further out reads apart for all instances of an inner one, at most. */
static double most_readings(const dfl_form *f, dfl_box *const *boxes, uint32_t operand)
{
    const dfl_problem *problem = f->problem;
    double readings = 1, all = 1;

    for (uint32_t a = 0; a < problem->n_axes; a++) {
        all *= (double)problem->axis[a].size;
        readings *= problem->axis[a].shared >> operand & 1 ? 1 : (double)problem->axis[a].size;
    }
    for (uint32_t r = 0; r < problem->n_ranks; r++)
        for (uint32_t i = 0; i < f->chain[r].n && (problem->operand[operand].ranks >> r & 1); i++)
            readings *= f->chain[r].at[i].axis >= 0 ? (double)boxes[r]->high[i] : 1;
    return readings < all ? readings : all;
}

/* Seconds for which the inputs that the work waits for keep a port of a place busy at one advance, at most: their tiles share
   the room that the tile of the result leaves. */
static double most_at_once(const dfl_ramp *ramp, const dfl_form *f, dfl_box *const *boxes, const double *value, uint32_t place)
{
    const dfl_problem *problem = f->problem;
    double readings = 1, seconds = 0;

    for (uint32_t o = 0; o < problem->n_operands; o++)
        if (!problem->operand[o].output)
            readings = most(readings, most_readings(f, boxes, o));
    for (uint32_t w = 0; w < problem->n_places; w++) {
        const double each = w == place ? problem->place[w].write_seconds : readings * problem->place[place].read_seconds;
        double room = problem->place[w].bits;
        bool holds = false;
        for (uint32_t o = 0; o < problem->n_operands; o++)
            holds |= problem->operand[o].places >> w & 1;
        if (!problem->place[w].waits || !holds || !(each > 0))
            continue;
        if (f->keep[ramp->result].place == w)
            room -= f->keep[ramp->result].bits * value[f->keep[ramp->result].tile];
        seconds += room * each;
    }
    return seconds;
}

double dfl_ramp_turns(const dfl_ramp *ramp, const dfl_form *f, dfl_box *const *boxes, const double *value, const double *waits)
{
    const uint32_t n = 2 * f->problem->n_places;
    double longest = 0, visits;

    if (ramp->result_ports == 0 || ramp->input_ports == 0)
        return 0;
    visits = most_visits(f, boxes, ramp->result);
    for (uint32_t p = 0; p < n; p++) {
        if (!(ramp->input_ports >> p & 1) || !(waits[p] > 0))
            continue;
        const double beside = 2 * visits * most_at_once(ramp, f, boxes, value, p / 2);
        for (uint32_t q = 0; q < n; q++)
            if ((ramp->result_ports >> q & 1) && waits[q] > beside)
                longest = most(longest, waits[p] + waits[q] - beside);
    }
    return longest;
}

/* Whether some keep may be filled one tile ahead. */
static bool fetches_ahead(const dfl_mapping *m, const dfl_problem *problem)
{
    bool is_ahead = false;

    for (uint32_t o = 0; o < problem->n_operands; o++)
        for (uint32_t p = 0; p < problem->n_places; p++)
            is_ahead |= (problem->operand[o].places >> p & 1) && !is_unit(problem, p) && memory_at(m, problem, p)->buffers > 1 &&
                !memory_at(m, problem, p)->stream;
    return is_ahead;
}

dfl_ramp *dfl_ramp_make(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *m, const dfl_form *f)
{
    const dfl_problem *problem = f->problem;
    dfl_ramp *out = DFL_NEW(arena, dfl_ramp);
    double longest = 0, of_levels = 0;

    *out = (dfl_ramp){ .ahead = DFL_NONE, .launch = m->system->computes[problem->unit].launch };
    if (problem->windows)
        return out;
    out->has_levels = !has_streams(m, problem);
    out->serves = !m->options.overlap_perfect && problem->waits;
    out->ahead = out->serves && out->has_levels ? dfl_longest_step_place(problem) : DFL_NONE;
    for (uint32_t o = 0; o < problem->n_operands && !m->options.overlap_perfect; o++) {
        if (problem->operand[o].output) {
            find_lasts(names, m, f, o, out);
            continue;
        }
        out->way[out->n] = find_way(names, m, f, o);
        out->way[out->n].is_outer = !has_streams(m, problem) && fetches_outside(problem) && is_outer(f, o);
        longest = most(longest, out->way[out->n].latencies);
        of_levels = most(of_levels, out->way[out->n++].of_levels);
    }
    out->latencies = longest + out->last_latencies;
    if (!m->options.overlap_perfect)
        find_turns(f, out);
    if (!m->options.overlap_perfect && !has_streams(m, problem))
        find_firsts(f, out);
    if (!fetches_ahead(m, problem))
        out->serial = out->last_latencies + (has_streams(m, problem) ? of_levels : longest);
    return out;
}

/* Elements of a rank in the last piece of coordinate 0 above a gap, at least. Pieces that loops cut are full only if all amounts
   divide. */
static double least_last(const dfl_form *f, const dfl_box *box, uint32_t rank, uint32_t gap)
{
    const dfl_chain *c = &f->chain[rank];
    int64_t last = c->extent, full = last;

    for (uint32_t i = 0; i < c->n && c->at[i].gap <= gap; i++) {
        const int64_t low = box->low[i];
        if (c->at[i].axis >= 0) {
            last = (last + box->high[i] - 1) / box->high[i];
            full = (full + low - 1) / low;
        } else if (low < full) {
            last = f->divisors == NULL ? 1 : low < last ? low : last;
            full = box->high[i] < full ? box->high[i] : full;
        }
    }
    return (double)last;
}

void dfl_ramp_find_lasts(const dfl_ramp *ramp, const dfl_form *f, dfl_box *const *boxes, double *lasts)
{
    for (uint32_t n = 0; n < ramp->n_lasts; n++) {
        const uint32_t keep = ramp->last_of[n].keep, ranks = f->problem->operand[f->skeleton->keep[keep].operand].ranks;
        lasts[n] = ramp->last_of[n].seconds;
        for (uint32_t r = 0; r < f->problem->n_ranks && lasts[n] > 0; r++)
            if (ranks >> r & 1)
                lasts[n] *= least_last(f, boxes[r], r, f->skeleton->written[keep]);
    }
}

double dfl_ramp_lasts_beside(const dfl_ramp *ramp, const double *lasts, uint32_t port)
{
    double seconds = 0;

    for (uint32_t n = 0; n < ramp->n_lasts; n++) {
        double there = 0;
        for (uint32_t i = 0; i < 3; i++)
            there += ramp->last_of[n].waits[i].port == port ? ramp->last_of[n].waits[i].seconds : 0;
        if (ramp->has_levels && lasts[n] > 0)
            seconds += lasts[n] * most(0, 1 - there / ramp->last_of[n].seconds);
    }
    return seconds;
}

double dfl_ramp_firsts(const dfl_ramp *ramp, const double *value)
{
    double longest = 0;

    for (uint32_t i = 0; i < ramp->n && ramp->has_levels; i++) {
        double seconds = 0;
        for (uint32_t k = 0; k < ramp->way[i].n; k++)
            seconds += ramp->way[i].first[k].seconds * value[ramp->way[i].first[k].tile];
        longest = most(longest, seconds);
    }
    return longest;
}

double dfl_ramp_ends(const dfl_ramp *ramp, const double *value, const double *lasts)
{
    double longest = 0, last = ramp->last_latencies;

    for (uint32_t n = 0; n < ramp->n_lasts; n++)
        last += lasts[n];

    for (uint32_t i = 0; i < ramp->n; i++) {
        const dfl_ramp_way *way = &ramp->way[i];
        double seconds = way->latencies;
        for (uint32_t k = 0; k < way->n; k++)
            seconds += way->first[k].seconds * value[way->first[k].tile];
        longest = most(longest, seconds);
    }
    return longest + last;
}

double dfl_ramp_ahead(const dfl_ramp *ramp, const double *value)
{
    double latest = 0;

    for (uint32_t i = 0; i < ramp->n; i++) {
        double seconds = 0;
        for (uint32_t k = 0; k < ramp->way[i].n && ramp->way[i].is_outer; k++)
            seconds += ramp->way[i].first[k].is_ahead ? ramp->way[i].first[k].seconds * value[ramp->way[i].first[k].tile] : 0;
        latest = most(latest, seconds);
    }
    return latest;
}

void dfl_ramp_add_firsts(const dfl_ramp *ramp, const double *value, double *waits)
{
    for (uint32_t i = 0; i < ramp->n_firsts; i++)
        waits[ramp->first[i].port] += ramp->first[i].seconds * value[ramp->first[i].tile];
}

bool dfl_ramp_time_is_counted(const dfl_mapping *m, const dfl_problem *problem)
{
    const dfl_system *s = m->system;
    uint32_t inside = 0;

    for (uint32_t o = 0; o < problem->n_operands; o++)
        inside |= problem->operand[o].places & ~(1u << problem->operand[o].home);
    if (inside != 0 && !m->options.overlap_perfect)
        return false;
    for (uint32_t n = 0; n < s->n_networks; n++)
        if (isfinite(s->networks[n].bandwidth) || s->networks[n].latency > 0)
            return false;
    for (uint32_t p = 0; p < problem->n_places; p++)
        if (!is_unit(problem, p) && memory_at(m, problem, p)->efficiency != NULL)
            return false;
    return s->computes[problem->unit].n_efficiencies == 0 && !problem->windows;
}
