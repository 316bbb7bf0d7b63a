/*
 * The sensitivity of a plan over chips: evaluates the plan with each number of its system changed a little. The latency of a
 * plan is piecewise smooth, because the best algorithm of an exchange and the order of arrivals change with the numbers. So the
 * derivatives towards larger and smaller values are those of the steps taken; nothing is known beyond. The energy is linear in
 * each energy.
 */
#include <math.h>
#include <string.h>

#include "plan/plan.h"
#include "solve/solve_internal.h"
#include "support/limits.h"

typedef struct {
    const dfl_solver *solver;
    dfl_arena *arena;                 /* of the result */
    const dfl_result *result;
    DFL_VEC(dfl_param) params;
} plan_params;

/* The system with the number of a parameter set to `value`, in `arena`. */
static const dfl_system *change_system(dfl_arena *arena, const dfl_system *from, const dfl_param *p, double value)
{
    dfl_system *s = DFL_NEW(arena, dfl_system);
    dfl_memory *memories = DFL_NEW_ARRAY(arena, dfl_memory, (size_t)from->n_memories + 1);
    dfl_compute *computes = DFL_NEW_ARRAY(arena, dfl_compute, (size_t)from->n_computes + 1);
    dfl_network *networks = DFL_NEW_ARRAY(arena, dfl_network, (size_t)from->n_networks + 1);
    dfl_rate *rates;

    *s = *from;
    memcpy(memories, from->memories, from->n_memories * sizeof *memories);
    memcpy(computes, from->computes, from->n_computes * sizeof *computes);
    if (from->n_networks > 0)
        memcpy(networks, from->networks, from->n_networks * sizeof *networks);
    s->memories = memories;
    s->computes = computes;
    s->networks = networks;
    switch (p->kind) {
    case DFL_PARAM_BANDWIDTH: memories[p->part].read_rate = memories[p->part].write_rate = value; break;
    case DFL_PARAM_READ_BANDWIDTH: memories[p->part].read_rate = value; break;
    case DFL_PARAM_WRITE_BANDWIDTH: memories[p->part].write_rate = value; break;
    case DFL_PARAM_NETWORK_BANDWIDTH: networks[p->part].bandwidth = value; break;
    case DFL_PARAM_NETWORK_LATENCY: networks[p->part].latency = value; break;
    case DFL_PARAM_MEMORY_LATENCY: memories[p->part].latency = value; break;
    case DFL_PARAM_RATE:
        rates = DFL_NEW_ARRAY(arena, dfl_rate, from->computes[p->part].n_rates);
        memcpy(rates, from->computes[p->part].rates, from->computes[p->part].n_rates * sizeof *rates);
        rates[p->rate].rate = value;
        computes[p->part].rates = rates;
        break;
    case DFL_PARAM_ENERGY: memories[p->part].read_energy = memories[p->part].write_energy = value; break;
    case DFL_PARAM_READ_ENERGY: memories[p->part].read_energy = value; break;
    case DFL_PARAM_WRITE_ENERGY: memories[p->part].write_energy = value; break;
    case DFL_PARAM_DRAIN_ENERGY: memories[p->part].drain_energy = value; break;
    case DFL_PARAM_MAC_ENERGY: computes[p->part].mac_energy = value; break;
    case DFL_PARAM_FLOP_ENERGY: computes[p->part].flop_energy = value; break;
    case DFL_PARAM_NETWORK_ENERGY: networks[p->part].energy = value; break;
    case DFL_PARAM_MEMORY_LEAKAGE: memories[p->part].leakage = value; break;
    case DFL_PARAM_UNIT_LEAKAGE: computes[p->part].leakage = value; break;
    }
    return s;
}

/* The latency and the energy of the plan with a parameter set to `value`; false if such a plan cannot be evaluated. */
static bool evaluate_at(const plan_params *all, const dfl_param *p, double value, double *seconds, double *joules)
{
    dfl_arena *work = dfl_arena_new(all->solver->budget);
    dfl_sink *quiet = dfl_sink_new(work, all->solver->sources);
    dfl_mapping m = *all->result->mapping;
    const dfl_result *r;

    dfl_sink_limit(quiet, 0);
    m.system = change_system(work, m.system, p, value);
    r = dfl_plan_evaluate(work, quiet, all->solver->names, &m, all->solver->memo);
    if (r != NULL) {
        *seconds = r->seconds;
        *joules = r->joules;
    }
    dfl_arena_free(work);
    return r != NULL;
}

/* The piece on one side: the slope between the present value and a step of DFL_SLOPE_STEP. */
static dfl_rate_piece find_piece(const plan_params *all, const dfl_param *p, bool faster)
{
    const double present = all->result->seconds, step = faster ? 1 + DFL_SLOPE_STEP : 1 - DFL_SLOPE_STEP;
    const double value = p->value * step;
    dfl_rate_piece piece = { .fixed = present, .until = value, .wall = true, .next = DFL_NONE };
    double seconds, joules, width = dfl_param_is_latency(p->kind) ? value - p->value : 1 / value - 1 / p->value;

    if (!evaluate_at(all, p, value, &seconds, &joules)) {
        piece.until = p->value;
        return piece;
    }
    if (fabs(seconds - present) > DFL_LATENCY_ROUNDING * present)
        piece.waited = (seconds - present) / width;
    piece.fixed -= dfl_param_is_latency(p->kind) ? piece.waited * p->value : piece.waited / p->value;
    return piece;
}

static void add_time(plan_params *all, dfl_param_kind kind, uint32_t part, uint32_t rate, double value)
{
    dfl_param p = { .kind = kind, .part = part, .rate = rate, .value = value };

    if (!isfinite(value) || value <= 0)
        return;
    p.faster = find_piece(all, &p, true);
    p.slower = find_piece(all, &p, false);
    DFL_PUSH(all->arena, &all->params, p);
}

/* Adds a parameter of energy: the actions are what the energy grows by for each joule. */
static void add_price(plan_params *all, dfl_param_kind kind, uint32_t part, double value, bool is_declared)
{
    dfl_param p = { .kind = kind, .part = part, .value = value };
    double seconds, joules;

    if (!is_declared || value <= 0 || !evaluate_at(all, &p, 2 * value, &seconds, &joules))
        return;
    p.per_value = fmax(0, (joules - all->result->joules) / value);
    p.over = !(p.per_value < 0x1p126);
    p.actions = p.over ? 0 : (dfl_i128)nearbyint(p.per_value);
    DFL_PUSH(all->arena, &all->params, p);
}

static void add_timed(plan_params *all, const dfl_system *s)
{
    for (uint32_t i = 0; i < s->n_memories; i++) {
        const dfl_memory *m = &s->memories[i];

        if (m->one_port && m->read_rate == m->write_rate) {
            add_time(all, DFL_PARAM_BANDWIDTH, i, 0, m->read_rate);
        } else {
            add_time(all, DFL_PARAM_READ_BANDWIDTH, i, 0, m->read_rate);
            add_time(all, DFL_PARAM_WRITE_BANDWIDTH, i, 0, m->write_rate);
        }
    }
    for (uint32_t i = 0; i < s->n_networks; i++)
        add_time(all, DFL_PARAM_NETWORK_BANDWIDTH, i, 0, s->networks[i].bandwidth);
    for (uint32_t i = 0; i < s->n_computes; i++)
        for (uint32_t k = 0; k < s->computes[i].n_rates; k++)
            add_time(all, DFL_PARAM_RATE, i, k, s->computes[i].rates[k].rate);
    for (uint32_t i = 0; i < s->n_networks; i++)
        add_time(all, DFL_PARAM_NETWORK_LATENCY, i, 0, s->networks[i].latency);
}

static void add_prices(plan_params *all, const dfl_system *s)
{
    for (uint32_t i = 0; i < s->n_memories; i++) {
        const dfl_memory *m = &s->memories[i];

        if (m->read_energy == m->write_energy) {
            add_price(all, DFL_PARAM_ENERGY, i, m->read_energy, m->has_read_energy || m->has_write_energy);
        } else {
            add_price(all, DFL_PARAM_READ_ENERGY, i, m->read_energy, m->has_read_energy);
            add_price(all, DFL_PARAM_WRITE_ENERGY, i, m->write_energy, m->has_write_energy);
        }
    }
    for (uint32_t i = 0; i < s->n_computes; i++) {
        add_price(all, DFL_PARAM_MAC_ENERGY, i, s->computes[i].mac_energy, s->computes[i].has_energy);
        add_price(all, DFL_PARAM_FLOP_ENERGY, i, s->computes[i].flop_energy, s->computes[i].has_energy);
    }
    for (uint32_t i = 0; i < s->n_networks; i++)
        add_price(all, DFL_PARAM_NETWORK_ENERGY, i, s->networks[i].energy, s->networks[i].has_energy);
}

/* Marks the slowest einsums, the first among equals. */
static dfl_einsum_bound *mark_slowest(dfl_arena *arena, const dfl_result *r)
{
    const uint32_t n = r->mapping->workload->n_einsums;
    dfl_einsum_bound *bounds = DFL_NEW_ARRAY(arena, dfl_einsum_bound, n);

    for (uint32_t e = 0; e < n; e++) {
        uint32_t slower = 0;

        for (uint32_t k = 0; k < n; k++)
            slower += r->einsums[k].seconds > r->einsums[e].seconds || (k < e && r->einsums[k].seconds == r->einsums[e].seconds);
        bounds[e] = (dfl_einsum_bound){ .param = DFL_NONE, .looked = slower < DFL_SENSITIVITY_EINSUMS };
    }
    return bounds;
}

const dfl_sensitivity *dfl_plan_sensitivity(const dfl_solver *solver, dfl_arena *arena, const dfl_result *result)
{
    const dfl_system *s = result->mapping->system;
    dfl_sensitivity *out = DFL_NEW(arena, dfl_sensitivity);
    plan_params all = { .solver = solver, .arena = arena, .result = result };

    add_timed(&all, s);
    out->n_timed = (uint32_t)all.params.n;
    add_prices(&all, s);
    out->result = result;
    out->params = all.params.at;
    out->n_params = (uint32_t)all.params.n;
    out->einsums = mark_slowest(arena, result);
    out->leakage = dfl_system_leakage(s);
    return out;
}
