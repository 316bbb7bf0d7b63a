#include "plan/pass/engines.h"

#include <math.h>
#include <string.h>

#include "plan/pass/allotment.h"

dfl_engines dfl_engines_new(const dfl_plan_work *work)
{
    const dfl_system *s = work->frame->system;
    dfl_engines busy = { .n = s->n_computes + 2 * (size_t)s->n_memories + s->n_networks + work->exchanges->n + 1 };

    busy.units = DFL_NEW_ARRAY(work->frame->arena, double, busy.n);
    busy.ports = busy.units + s->n_computes;
    busy.nets = busy.ports + 2 * (size_t)s->n_memories;
    busy.exchanges = busy.nets + s->n_networks;
    busy.divided = DFL_NEW_ARRAY(work->frame->arena, const dfl_chip_time *, (size_t)work->frame->workload->n_einsums + 1);
    busy.on_units = DFL_NEW_ARRAY(work->frame->arena, const double *, (size_t)work->frame->workload->n_einsums + 1);
    busy.taken = DFL_NEW_ARRAY(work->frame->arena, int64_t, (size_t)work->frame->workload->n_einsums + 1);
    return busy;
}

void dfl_engines_clear(dfl_engines *busy)
{
    memset(busy->units, 0, busy->n * sizeof *busy->units);
    busy->has_started = false;
    busy->n_divided = 0;
}

void dfl_engines_add(const dfl_plan_work *work, const uint32_t *branch_of, bool is_again, uint32_t einsum, dfl_engines *busy)
{
    const dfl_chip_time *t = &work->times[einsum];

    busy->units[t->compute] += (t->on_units != NULL ? 0 : t->work_seconds) + (busy->has_started ? 0 : t->launch_seconds);
    if (t->on_units != NULL)
        busy->divided[busy->n_divided++] = t;
    busy->has_started |= t->launch_seconds > 0;
    dfl_chip_time_add_ports(work->frame, branch_of, is_again, einsum, t, busy->ports);
}

double dfl_engines_exchange_seconds(const dfl_plan_work *work, uint32_t exchange)
{
    const dfl_plan_exchange *x = &work->exchanges->at[exchange];

    return x->place == DFL_EXCHANGE_ONCE ? x->cost.seconds / (double)work->frame->micro_batches : x->cost.seconds;
}

void dfl_engines_add_exchange(const dfl_plan_work *work, uint32_t exchange, dfl_engines *busy)
{
    busy->exchanges[exchange] = dfl_engines_exchange_seconds(work, exchange);
    busy->nets[work->exchanges->at[exchange].cost.network] += busy->exchanges[exchange];
}

static double longest(const double *times, uint32_t n)
{
    double most = 0;

    for (uint32_t i = 0; i < n; i++)
        most = fmax(most, times[i]);
    return most;
}

/* The time of the busiest compute unit. The einsums on one with `units` divide these among themselves. */
static double busiest_unit(const dfl_plan_work *work, const dfl_engines *busy)
{
    const dfl_system *s = work->frame->system;
    double most = longest(busy->units, s->n_computes);

    for (uint32_t c = 0; c < s->n_computes && busy->n_divided > 0; c++) {
        const int64_t units = s->computes[c].units * (int64_t)dfl_chip_units(work->frame, c);
        uint32_t n = 0;

        for (uint32_t i = 0; i < busy->n_divided; i++)
            if (busy->divided[i]->compute == c)
                busy->on_units[n++] = busy->divided[i]->on_units;
        if (n > 0)
            most = fmax(most, busy->units[c] + dfl_allotment_divide(busy->on_units, n, units, busy->taken));
    }
    return most;
}

double dfl_engines_chip(const dfl_plan_work *work, const dfl_engines *busy)
{
    uint32_t slowest;

    return fmax(busiest_unit(work, busy), dfl_busiest_memory(work->frame->system, busy->ports, &slowest));
}

double dfl_engines_network(const dfl_plan_work *work, const dfl_engines *busy)
{
    return longest(busy->nets, work->frame->system->n_networks);
}
