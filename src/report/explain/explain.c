/* Names, units, derivatives and order of parameters. */
#include "report/explain/explain.h"
#include "support/limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static dfl_sym part_name(const dfl_explanation *explanation, const dfl_param *p)
{
    const dfl_system *s = explanation->item->mapping->system;

    switch (p->kind) {
    case DFL_PARAM_RATE: case DFL_PARAM_MAC_ENERGY: case DFL_PARAM_FLOP_ENERGY: case DFL_PARAM_UNIT_LEAKAGE:
        return s->computes[p->part].name;
    case DFL_PARAM_NETWORK_BANDWIDTH: case DFL_PARAM_NETWORK_ENERGY: case DFL_PARAM_NETWORK_LATENCY:
        return s->networks[p->part].name;
    case DFL_PARAM_BANDWIDTH: case DFL_PARAM_READ_BANDWIDTH: case DFL_PARAM_WRITE_BANDWIDTH: case DFL_PARAM_ENERGY:
    case DFL_PARAM_READ_ENERGY: case DFL_PARAM_WRITE_ENERGY: case DFL_PARAM_DRAIN_ENERGY: case DFL_PARAM_MEMORY_LEAKAGE:
    case DFL_PARAM_MEMORY_LATENCY:
        break;
    }
    return s->memories[p->part].name;
}

static const char *attribute_name(const dfl_param *p)
{
    switch (p->kind) {
    case DFL_PARAM_BANDWIDTH: case DFL_PARAM_NETWORK_BANDWIDTH: return "bandwidth";
    case DFL_PARAM_READ_BANDWIDTH: return "read.bandwidth";
    case DFL_PARAM_WRITE_BANDWIDTH: return "write.bandwidth";
    case DFL_PARAM_RATE: return "rate";
    case DFL_PARAM_MEMORY_LATENCY: case DFL_PARAM_NETWORK_LATENCY: return "latency";
    case DFL_PARAM_ENERGY: case DFL_PARAM_NETWORK_ENERGY: return "energy";
    case DFL_PARAM_READ_ENERGY: return "read.energy";
    case DFL_PARAM_WRITE_ENERGY: return "write.energy";
    case DFL_PARAM_DRAIN_ENERGY: return "drain.energy";
    case DFL_PARAM_MAC_ENERGY: return "energy.mac";
    case DFL_PARAM_FLOP_ENERGY: return "energy.flop";
    case DFL_PARAM_MEMORY_LEAKAGE: case DFL_PARAM_UNIT_LEAKAGE: break;
    }
    return "leakage";
}

const char *dfl_explanation_parameter_name(dfl_arena *arena, const dfl_explanation *explanation, const dfl_param *p)
{
    const dfl_intern *names = explanation->results->names;
    const char *text = dfl_arena_printf(arena, "%s.%s", dfl_sym_text(names, part_name(explanation, p)), attribute_name(p));
    const dfl_rate *rate;

    if (p->kind != DFL_PARAM_RATE)
        return text;
    rate = &explanation->item->mapping->system->computes[p->part].rates[p->rate];
    if (rate->op)
        text = dfl_arena_printf(arena, "%s.%s", text, dfl_sym_text(names, rate->op));
    if (rate->type)
        text = dfl_arena_printf(arena, "%s.%s", text, dfl_sym_text(names, rate->type));
    return text;
}

const char *dfl_explanation_unit(const dfl_explanation *explanation, const dfl_param *p)
{
    dfl_sym op;

    switch (p->kind) {
    case DFL_PARAM_BANDWIDTH: case DFL_PARAM_READ_BANDWIDTH: case DFL_PARAM_WRITE_BANDWIDTH:
    case DFL_PARAM_NETWORK_BANDWIDTH: return "bit/s";
    case DFL_PARAM_MEMORY_LATENCY: case DFL_PARAM_NETWORK_LATENCY: return "s";
    case DFL_PARAM_RATE:
        op = explanation->item->mapping->system->computes[p->part].rates[p->rate].op;
        return op && strcmp(dfl_sym_text(explanation->results->names, op), "mac") == 0 ? "MAC/s" : "FLOP/s";
    case DFL_PARAM_ENERGY: case DFL_PARAM_READ_ENERGY: case DFL_PARAM_WRITE_ENERGY: case DFL_PARAM_DRAIN_ENERGY:
    case DFL_PARAM_NETWORK_ENERGY: return "J/bit";
    case DFL_PARAM_MAC_ENERGY: return "J/MAC";
    case DFL_PARAM_FLOP_ENERGY: return "J/FLOP";
    case DFL_PARAM_MEMORY_LEAKAGE: case DFL_PARAM_UNIT_LEAKAGE: break;
    }
    return "W";
}

dfl_derivatives dfl_explanation_derivatives(const dfl_explanation *explanation, const dfl_param *p, bool faster)
{
    const dfl_rate_piece *piece = faster ? &p->faster : &p->slower;
    dfl_derivatives s = { 0 };

    if (dfl_param_is_timed(p->kind)) {
        s.latency = dfl_param_is_latency(p->kind) ? piece->waited : piece->waited > 0 ? -piece->waited / p->value / p->value : 0;
        s.energy = explanation->sensitivity->leakage > 0 ? explanation->sensitivity->leakage * s.latency : 0;
    } else {
        s.energy = p->per_value;
    }
    s.objective = explanation->per_second * s.latency + explanation->per_joule * s.energy;
    return s;
}

static double elasticity_of(double slope, double value, double of)
{
    return of > 0 ? slope * value / of : 0;
}

dfl_derivatives dfl_explanation_elasticity(const dfl_explanation *explanation, const dfl_param *p, bool faster)
{
    const dfl_result *r = explanation->item->result;
    dfl_derivatives s = dfl_explanation_derivatives(explanation, p, faster);

    return (dfl_derivatives){ elasticity_of(s.objective, p->value, explanation->value),
                              elasticity_of(s.latency, p->value, r->seconds),
                         elasticity_of(s.energy, p->value, r->joules) };
}

bool dfl_explanation_is_at_edge(const dfl_param *p)
{
    return dfl_param_is_timed(p->kind) &&
           fabs(p->slower.waited - p->faster.waited) > DFL_VALUE_TOLERANCE * fmax(p->slower.waited, p->faster.waited);
}

typedef struct { uint32_t param; double objective, latency; } entry;

static int by_size(const void *a, const void *b)
{
    const entry *x = a, *y = b;

    if (x->objective != y->objective)
        return x->objective < y->objective ? 1 : -1;
    if (x->latency != y->latency)
        return x->latency < y->latency ? 1 : -1;
    return (x->param > y->param) - (x->param < y->param);
}

const uint32_t *dfl_explanation_order(dfl_arena *arena, const dfl_explanation *explanation)
{
    uint32_t n = explanation->sensitivity->n_params, *order = DFL_NEW_ARRAY(arena, uint32_t, n + 1);
    entry *entries = DFL_NEW_ARRAY(arena, entry, n + 1);

    for (uint32_t i = 0; i < n; i++) {
        /* The elasticity towards smaller values is the larger one, because the time is convex in 1 / value; with a latency, that
           towards larger values, because the time is convex in the value. */
        const dfl_param *p = &explanation->sensitivity->params[i];
        dfl_derivatives s = dfl_explanation_elasticity(explanation, p, dfl_param_is_latency(p->kind));
        entries[i] = (entry){ i, fabs(s.objective), fabs(s.latency) };
    }
    qsort(entries, n, sizeof *entries, by_size);
    for (uint32_t i = 0; i < n; i++)
        order[i] = entries[i].param;
    return order;
}
