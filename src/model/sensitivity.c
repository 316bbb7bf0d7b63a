/* Pieces of the latency, by repeated evaluation of the time; numbers of actions for each energy per action. */
#include "model/sensitivity.h"

#include <math.h>
#include <string.h>

#include "support/limits.h"
#include "support/vec.h"

typedef DFL_VEC(dfl_param) params;

/* A model with a copy of its system whose rates may be changed. */
typedef struct {
    dfl_model *model;
    const dfl_system *own;
    dfl_system like;
    dfl_memory *memories;
    dfl_network *networks;
    dfl_rate **rates; /* [unit]: rates of the unit */
    const dfl_param *params;
    const dfl_unrolled *unrolled; /* copies of einsums in the mapping of the model; NULL = there are none */
    uint32_t n_timed, n_einsums;
} bench;

/* Latency of one einsum (DFL_NONE: of the whole mapping) as a function of w: the bits or operations of one parameter
   take 1 + sign * w times their present time. */
typedef struct {
    bench *b;
    uint32_t param, einsum;
    double sign, now;
} rate_line;

/* The straight piece at w = 0: its slope, and its end. */
typedef struct {
    double slope, end;
    double beyond; /* a point inside the next piece */
    bool wall, proven;
} straight_piece;

bool dfl_param_is_timed(dfl_param_kind kind) { return kind <= DFL_PARAM_NETWORK_LATENCY; }

bool dfl_param_is_latency(dfl_param_kind kind)
{
    return kind == DFL_PARAM_MEMORY_LATENCY || kind == DFL_PARAM_NETWORK_LATENCY;
}

/* ---- evaluation -------------------------------------------------------------------------------------------------- */

static void set_value(const bench *b, uint32_t param, double value)
{
    const dfl_param *p = &b->params[param];

    if (p->kind == DFL_PARAM_RATE)
        b->rates[p->part][p->rate].rate = value;
    if (p->kind == DFL_PARAM_MEMORY_LATENCY)
        b->memories[p->part].latency = value;
    if (p->kind == DFL_PARAM_NETWORK_LATENCY)
        b->networks[p->part].latency = value;
    if (p->kind == DFL_PARAM_NETWORK_BANDWIDTH)
        b->networks[p->part].bandwidth = value;
    if (p->kind == DFL_PARAM_BANDWIDTH || p->kind == DFL_PARAM_READ_BANDWIDTH)
        b->memories[p->part].read_rate = value;
    if (p->kind == DFL_PARAM_BANDWIDTH || p->kind == DFL_PARAM_WRITE_BANDWIDTH)
        b->memories[p->part].write_rate = value;
}

/* The value of a parameter at which its bits, operations or waits take `factor` times their present time. */
static double value_at(const bench *b, uint32_t param, double factor)
{
    const dfl_param *p = &b->params[param];

    return dfl_param_is_latency(p->kind) ? p->value * factor : p->value / factor;
}

/* The latency of an einsum, with all of its copies in an unrolled mapping. */
static double einsum_seconds(const bench *b, const dfl_result *r, uint32_t einsum)
{
    double sum = 0;

    if (b->unrolled == NULL)
        return r->einsums[einsum].seconds;
    for (uint32_t e = 0; e < b->unrolled->mapping->workload->n_einsums; e++)
        sum += b->unrolled->einsum_of[e] == einsum ? r->einsums[e].seconds : 0;
    return sum;
}

static double measure(const bench *b, uint32_t einsum)
{
    const dfl_result *r = dfl_model_retime(b->model, &b->like);

    return einsum == DFL_NONE ? r->seconds : einsum_seconds(b, r, einsum);
}

static double evaluate_at(const rate_line *line, double w)
{
    double value = line->b->params[line->param].value, seconds;

    set_value(line->b, line->param, value_at(line->b, line->param, 1 + line->sign * w));
    seconds = measure(line->b, line->einsum);
    set_value(line->b, line->param, value);
    return seconds;
}

static bool is_equal(const rate_line *line, double a, double b)
{
    return fabs(a - b) <= DFL_LATENCY_TOLERANCE * fmax(a, b) + DFL_LATENCY_ROUNDING * line->now;
}

/* ---- one piece --------------------------------------------------------------------------------------------------- */

/* Slope at `from` in the direction of *step. Halves *step until the function is straight along it. */
static double slope_at(const rate_line *line, double from, double here, double *step)
{
    double there = evaluate_at(line, from + *step);

    for (int i = 0; i < DFL_SLOPE_HALVINGS; i++) {
        double middle = evaluate_at(line, from + *step / 2);
        if (is_equal(line, middle, here + (there - here) / 2))
            break;
        there = middle;
        *step /= 2;
    }
    return (there - here) / *step;
}

/* Finds the end of the piece: follows the tangent at `out`, where the function is above the line, back to the line,
   until the meeting point lies on the function (Newton's method). */
static void find_wall(const rate_line *l, double known, double out, double above, straight_piece *s)
{
    s->proven = false;
    s->end = known;
    s->beyond = out;
    for (int i = 0; i < DFL_NEWTON_STEPS; i++) {
        double back = (known - out) / 2, tangent = slope_at(l, out, above, &back);
        double meet = (above - tangent * out - l->now) / (s->slope - tangent), there, line;

        if (!(tangent > s->slope && meet < out)) /* the tangent is steeper than the line, except for rounding */
            return;
        meet = meet > known ? meet : known; /* no tangent is above a convex function */
        there = evaluate_at(l, meet);
        line = l->now + s->slope * meet;
        if (is_equal(l, there, line)) {
            s->end = meet;
            s->beyond = meet + (out - meet) / 2;
            s->proven = true;
            return;
        }
        out = meet;
        above = there;
    }
}

static straight_piece find_straight_piece(const rate_line *line)
{
    bool faster = line->sign < 0;
    double first = faster ? 0.5 : 1, known = first, left = 1, factor = 1;
    straight_piece s = { .proven = true };

    s.slope = slope_at(line, 0, line->now, &known);
    if (is_equal(line, line->now + s.slope * known, line->now))
        s.slope = 0;
    if (faster && s.slope == 0) /* a convex function that does not fall at this point falls nowhere in the direction of faster
                                   values */
        return s;
    if (known < first) {
        s.wall = true;
        find_wall(line, known, 2 * known, evaluate_at(line, 2 * known), &s);
        return s;
    }
    for (int i = 1; i <= DFL_FARTHEST_POWER; i++) {
        left /= 4;
        factor *= 4;
        double far = faster ? 1 - left : factor - 1, there = evaluate_at(line, far);
        if (far <= known)
            continue;
        if (!is_equal(line, there, line->now + s.slope * far)) {
            s.wall = true;
            find_wall(line, known, far, there, &s);
            return s;
        }
        known = far;
        s.slope = is_equal(line, there, line->now) ? 0 : (there - line->now) / far; /* the slope over the longest distance is
                                                                              the most accurate one */
    }
    return s;
}

/* Time that the latency waits for a parameter (in s): the slope in (present value / value). */
static double find_waiting(bench *b, uint32_t param, uint32_t einsum)
{
    rate_line l = { b, param, einsum, 1, measure(b, einsum) };
    double step = DFL_SLOPE_STEP;

    return slope_at(&l, 0, l.now, &step);
}

/* The parameter that bounds the latency beyond a wall: the one with the largest increase of waiting time across the
   wall. DFL_NONE if no waiting time increases. */
static uint32_t find_next(bench *b, uint32_t param, uint32_t einsum, double sign, const straight_piece *s)
{
    double value = b->params[param].value, most = 0;
    uint32_t next = DFL_NONE;

    for (uint32_t i = 0; i < b->n_timed; i++) {
        double before, after;
        if (i == param)
            continue;
        set_value(b, param, value_at(b, param, 1 + sign * s->end / 2));
        before = find_waiting(b, i, einsum);
        set_value(b, param, value_at(b, param, 1 + sign * s->beyond));
        after = find_waiting(b, i, einsum);
        if (after - before > most) {
            most = after - before;
            next = i;
        }
    }
    set_value(b, param, value);
    return next;
}

static dfl_rate_piece find_piece(bench *b, uint32_t param, uint32_t einsum, double sign)
{
    rate_line l = { b, param, einsum, sign, measure(b, einsum) };
    straight_piece s = find_straight_piece(&l);
    double value = b->params[param].value, waited = s.slope != 0 ? sign * s.slope : 0;
    bool all = fabs(l.now - waited) <= DFL_LATENCY_ROUNDING * l.now, late = dfl_param_is_latency(b->params[param].kind);
    dfl_rate_piece piece = { .fixed = all ? 0 : l.now - waited, .wall = s.wall, .until = (sign < 0) != late ? INFINITY : 0,
                             .waited = late ? (all ? l.now : waited) / value : (all ? l.now : waited) * value,
                             .proven = s.proven, .next = DFL_NONE };

    if (!s.wall)
        return piece;
    piece.until = value_at(b, param, 1 + sign * s.end);
    piece.next = sign > 0 ? param : find_next(b, param, einsum, sign, &s);
    return piece;
}

/* ---- einsums ----------------------------------------------------------------------------------------------------- */

/* Finds the parameter that each einsum waits for most: the one that lengthens the einsum most when its value decreases.
   For the slowest einsums, also finds the piece of this parameter. */
static void find_bounds(dfl_arena *arena, bench *b, dfl_einsum_bound *out)
{
    static const double step = DFL_BOUND_STEP;
    const dfl_result *r = dfl_model_retime(b->model, b->own);
    double *now = DFL_NEW_ARRAY(arena, double, b->n_einsums + 1);
    double *most = DFL_NEW_ARRAY(arena, double, b->n_einsums + 1);

    for (uint32_t e = 0; e < b->n_einsums; e++) {
        now[e] = einsum_seconds(b, r, e);
        most[e] = DFL_LATENCY_TOLERANCE * now[e];
        out[e].param = DFL_NONE;
    }
    for (uint32_t i = 0; i < b->n_timed && !dfl_param_is_latency(b->params[i].kind); i++) { /* latencies come last */
        set_value(b, i, b->params[i].value / (1 + step));
        r = dfl_model_retime(b->model, &b->like);
        for (uint32_t e = 0; e < b->n_einsums; e++)
            if (einsum_seconds(b, r, e) - now[e] > most[e]) {
                most[e] = einsum_seconds(b, r, e) - now[e];
                out[e].param = i;
            }
        set_value(b, i, b->params[i].value);
    }
    for (uint32_t e = 0; e < b->n_einsums; e++) { /* position of the einsum in the order of decreasing latency */
        uint32_t slower = 0;
        for (uint32_t k = 0; k < b->n_einsums && slower < DFL_SENSITIVITY_EINSUMS; k++)
            slower += now[k] > now[e] || (k < e && now[k] >= now[e]);
        out[e].looked = slower < DFL_SENSITIVITY_EINSUMS && out[e].param != DFL_NONE;
        if (!out[e].looked)
            continue;
        out[e].faster = find_piece(b, out[e].param, e, -1);
        out[e].share = out[e].faster.waited / b->params[out[e].param].value / now[e];
    }
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static void add_time(params *out, dfl_arena *arena, dfl_param_kind kind, uint32_t part, uint32_t rate, double value)
{
    dfl_param p = { .kind = kind, .part = part, .rate = rate, .value = value };

    if (isfinite(value))
        DFL_PUSH(arena, out, p);
}

static void add_timed(params *out, dfl_arena *arena, const dfl_system *s)
{
    for (uint32_t i = 0; i < s->n_memories; i++) {
        const dfl_memory *m = &s->memories[i];
        if (m->one_port && m->read_rate == m->write_rate) {
            add_time(out, arena, DFL_PARAM_BANDWIDTH, i, 0, m->read_rate);
        } else {
            add_time(out, arena, DFL_PARAM_READ_BANDWIDTH, i, 0, m->read_rate);
            add_time(out, arena, DFL_PARAM_WRITE_BANDWIDTH, i, 0, m->write_rate);
        }
    }
    for (uint32_t i = 0; i < s->n_networks; i++)
        if (dfl_network_used(s, i))
            add_time(out, arena, DFL_PARAM_NETWORK_BANDWIDTH, i, 0, s->networks[i].bandwidth);
    for (uint32_t i = 0; i < s->n_computes; i++)
        for (uint32_t k = 0; k < s->computes[i].n_rates; k++)
            add_time(out, arena, DFL_PARAM_RATE, i, k, s->computes[i].rates[k].rate);
    for (uint32_t i = 0; i < s->n_memories; i++)
        if (s->memories[i].latency > 0)
            add_time(out, arena, DFL_PARAM_MEMORY_LATENCY, i, 0, s->memories[i].latency);
    for (uint32_t i = 0; i < s->n_networks; i++)
        if (dfl_network_used(s, i) && s->networks[i].latency > 0)
            add_time(out, arena, DFL_PARAM_NETWORK_LATENCY, i, 0, s->networks[i].latency);
}

static void add_price(params *out, dfl_arena *arena, dfl_param p)
{
    p.per_value = dfl_i128_double(p.actions);
    DFL_PUSH(arena, out, p);
}

/* Adds the actions of another part to those of a parameter. */
static void add_more(dfl_param *p, const dfl_param *more)
{
    p->over |= more->over || dfl_add(p->actions, more->actions, &p->actions);
    p->per_value = dfl_i128_double(p->actions);
}

static bool add_bits(dfl_i128 *sum, dfl_i128 a, dfl_i128 b, dfl_i128 c, dfl_i128 bits)
{
    dfl_i128 n;

    return dfl_add(a, b, &n) || dfl_add(n, c, &n) || dfl_mul(n, bits, &n) || dfl_add(*sum, n, sum);
}

static void add_memory(params *out, dfl_arena *arena, const dfl_result *r, uint32_t i)
{
    const dfl_memory *m = &r->mapping->system->memories[i];
    dfl_param read = { .kind = DFL_PARAM_READ_ENERGY, .part = i, .value = m->read_energy };
    dfl_param drain = { .kind = DFL_PARAM_DRAIN_ENERGY, .part = i, .value = m->drain_energy };
    dfl_param write = { .kind = DFL_PARAM_WRITE_ENERGY, .part = i, .value = m->write_energy };

    for (uint32_t k = 0; k < r->n_traffic; k++) {
        const dfl_counts *n = &r->traffic[k].counts;
        dfl_i128 bits = r->mapping->workload->tensors[r->traffic[k].tensor].type.bits;
        if (r->traffic[k].memory != i)
            continue;
        if (m->access_bits != 0) {
            const dfl_row_counts *rows = &r->traffic[k].rows;
            read.over |= add_bits(&read.actions, rows->read, m->has_drain_energy ? 0 : rows->drain, 0, m->access_bits);
            drain.over |= add_bits(&drain.actions, rows->drain, 0, 0, m->access_bits);
            write.over |= add_bits(&write.actions, rows->fill, rows->update, 0, m->access_bits);
            continue;
        }
        read.over |= add_bits(&read.actions, n->serve, m->has_drain_energy ? 0 : n->drain, n->accumulate, bits);
        drain.over |= add_bits(&drain.actions, n->drain, 0, 0, bits);
        write.over |= add_bits(&write.actions, n->fill, n->update, 0, bits);
    }
    if (m->has_drain_energy)
        add_price(out, arena, drain);
    if (m->has_read_energy && m->has_write_energy && m->read_energy == m->write_energy) {
        read.kind = DFL_PARAM_ENERGY;
        read.over |= write.over || dfl_add(read.actions, write.actions, &read.actions);
        add_price(out, arena, read);
        return;
    }
    if (m->has_read_energy)
        add_price(out, arena, read);
    if (m->has_write_energy)
        add_price(out, arena, write);
}

/* Adds the energy of an operation for each value that the unit's einsums have: types may differ in their energies. */
static void add_unit(params *out, dfl_arena *arena, const dfl_result *r, uint32_t i)
{
    const dfl_workload *w = r->mapping->workload;
    const dfl_compute *c = &r->mapping->system->computes[i];
    size_t first = out->n;

    for (unsigned mac = 2; c->has_energy && mac-- > 0;)
        for (uint32_t e = 0; e < w->n_einsums; e++) {
            const dfl_einsum *einsum = &w->einsums[e];
            dfl_param p = { .kind = mac ? DFL_PARAM_MAC_ENERGY : DFL_PARAM_FLOP_ENERGY, .part = i };
            size_t at = first;

            if (r->einsums[e].compute != i || einsum->is_mac != (mac != 0))
                continue;
            p.value = dfl_operation_joules(w, einsum, c);
            p.over = add_bits(&p.actions, r->einsums[e].points, 0, 0, einsum->is_mac ? 1 : einsum->flops_per_point);
            if (p.actions == 0 && !p.over)
                continue;
            while (at < out->n && (out->at[at].kind != p.kind || out->at[at].value != p.value))
                at++;
            if (at == out->n)
                add_price(out, arena, p);
            else
                add_more(&out->at[at], &p);
        }
}

static void add_leakage(params *out, dfl_arena *arena, const dfl_result *r, dfl_param_kind kind, uint32_t part,
                        double value)
{
    const dfl_system *s = r->mapping->system;
    uint32_t element = kind == DFL_PARAM_UNIT_LEAKAGE ? s->computes[part].element : s->memories[part].element;
    dfl_param p = { .kind = kind, .part = part, .value = value };

    if (value <= 0)
        return;
    p.over = dfl_element_instances(s, element, &p.actions);
    p.per_value = dfl_i128_double(p.actions) * r->seconds;
    DFL_PUSH(arena, out, p);
}

static void add_prices(params *out, dfl_arena *arena, const dfl_model *model, const dfl_result *r)
{
    const dfl_system *s = r->mapping->system;

    for (uint32_t i = 0; i < s->n_memories; i++) {
        add_memory(out, arena, r, i);
        add_leakage(out, arena, r, DFL_PARAM_MEMORY_LEAKAGE, i, s->memories[i].leakage);
    }
    for (uint32_t i = 0; i < s->n_computes; i++) {
        add_unit(out, arena, r, i);
        add_leakage(out, arena, r, DFL_PARAM_UNIT_LEAKAGE, i, s->computes[i].leakage);
    }
    for (uint32_t i = 0; i < s->n_networks; i++) {
        dfl_param p = { .kind = DFL_PARAM_NETWORK_ENERGY, .part = i, .value = s->networks[i].energy };
        p.over = dfl_model_network_bits(model, i, &p.actions);
        if (s->networks[i].has_energy)
            add_price(out, arena, p);
    }
}

static void copy_system(dfl_arena *arena, bench *b)
{
    const dfl_system *s = b->own;
    dfl_compute *computes = DFL_NEW_ARRAY(arena, dfl_compute, s->n_computes + 1);

    b->memories = DFL_NEW_ARRAY(arena, dfl_memory, s->n_memories + 1);
    b->rates = DFL_NEW_ARRAY(arena, dfl_rate *, s->n_computes + 1);
    memcpy(b->memories, s->memories, s->n_memories * sizeof *b->memories);
    for (uint32_t i = 0; i < s->n_computes; i++) {
        computes[i] = s->computes[i];
        b->rates[i] = DFL_NEW_ARRAY(arena, dfl_rate, computes[i].n_rates + 1);
        memcpy(b->rates[i], computes[i].rates, computes[i].n_rates * sizeof **b->rates);
        computes[i].rates = b->rates[i];
    }
    b->like = *s;
    b->networks = DFL_NEW_ARRAY(arena, dfl_network, s->n_networks + 1);
    memcpy(b->networks, s->networks, s->n_networks * sizeof *b->networks);
    b->like.networks = b->networks;
    b->like.memories = b->memories;
    b->like.computes = computes;
}

const dfl_sensitivity *dfl_sensitivity_find(dfl_arena *arena, dfl_model *model, const dfl_unrolled *unrolled,
                                            const dfl_result *result)
{
    const dfl_mapping *given = unrolled != NULL ? unrolled->given : result->mapping;
    bench b = { .model = model, .own = result->mapping->system, .unrolled = unrolled, .n_einsums = given->workload->n_einsums };
    dfl_sensitivity *out = DFL_NEW(arena, dfl_sensitivity);
    params all = { 0 };

    copy_system(arena, &b);
    add_timed(&all, arena, b.own);
    out->n_timed = (uint32_t)all.n;
    add_prices(&all, arena, model, result);
    out->leakage = dfl_system_leakage(b.own);
    out->result = result;
    out->params = all.at;
    out->n_params = (uint32_t)all.n;
    out->einsums = DFL_NEW_ARRAY(arena, dfl_einsum_bound, b.n_einsums + 1);
    b.params = all.at;
    b.n_timed = out->n_timed;
    for (uint32_t i = 0; i < b.n_timed; i++) {
        double larger = dfl_param_is_latency(out->params[i].kind) ? 1 : -1;
        out->params[i].faster = find_piece(&b, i, DFL_NONE, larger);
        out->params[i].slower = find_piece(&b, i, DFL_NONE, -larger);
    }
    find_bounds(arena, &b, out->einsums);
    (void)dfl_model_retime(model, b.own);
    return out;
}

