/* Latency. Work that overlaps costs the maximum, work that cannot costs the sum (MODEL.md, section 4). */
#include "model/cost.h"

#include <math.h>

#include "support/vec.h"

typedef struct { double read, write; } ports;

typedef struct {
    dfl_setting *set;
    dfl_keeps *keeps;
    const dfl_traffic_sums *sums;
    dfl_einsum_cost *einsums;
    double *unit_seconds;     /* per einsum: unit busy */
    const char **bound;       /* per body */
    struct transfer *ends;    /* every transfer, for the first fill and the last drain */
    uint32_t n_ends;
    bool ok;
} clockwork;

static double bits_of(const clockwork *c, uint32_t tensor, dfl_i128 n)
{
    return dfl_i128_double(n) * c->set->w->tensors[tensor].type.bits;
}

static double port_seconds(const dfl_memory *m, ports bits)
{
    double r = isinf(m->read_rate) ? 0 : bits.read / m->read_rate, w = isinf(m->write_rate) ? 0 : bits.write / m->write_rate;

    return m->one_port ? r + w : r > w ? r : w;
}

static const char *port_name(const clockwork *c, uint32_t memory, ports bits)
{
    const dfl_memory *m = &c->set->s->memories[memory];
    const char *name = dfl_sym_text(c->set->names, m->name);
    double r = isinf(m->read_rate) ? 0 : bits.read / m->read_rate, w = isinf(m->write_rate) ? 0 : bits.write / m->write_rate;

    if (m->one_port)
        return dfl_arena_printf(c->set->arena, "%s", name);
    return dfl_arena_printf(c->set->arena, "%s.%s", name, r >= w ? "read" : "write");
}

/* What a unit needs for its share of an einsum. */
static double unit_seconds(const clockwork *c, uint32_t e, dfl_i128 steps)
{
    const dfl_compute *unit = &c->set->s->computes[c->set->paths->paths[e].compute];

    return dfl_i128_double(steps) * dfl_point_seconds(c->set->names, c->set->w, &c->set->w->einsums[e], unit);
}

/* Operands and results of an einsum at one memory, busiest instance. */
static double operand_ports(const clockwork *c, uint32_t e, const char **name)
{
    const dfl_setting *set = c->set;
    const dfl_einsum *einsum = &set->w->einsums[e];
    double worst = 0;

    for (uint32_t m = 0; m < set->s->n_memories; m++) {
        ports bits = { 0, 0 };
        for (uint32_t i = 0; i < c->keeps->n; i++) {
            const dfl_keep *k = &c->keeps->at[i];
            if (k->line->memory != m || !dfl_einsum_touches(einsum, k->line->tensor) ||
                dfl_keep_innermost(set, c->keeps, e, k->line->tensor) != i)
                continue;
            const dfl_counts *n = &c->sums->ops_busiest[i];
            bits.read += bits_of(c, k->line->tensor, n->serve + n->accumulate);
            bits.write += bits_of(c, k->line->tensor, n->update);
        }
        double s = port_seconds(&set->s->memories[m], bits);
        if (s > worst) {
            worst = s;
            *name = port_name(c, m, bits);
        }
    }
    return worst;
}

/* Transfers of one keep, by the loop whose advance causes them; the last slot is the first tile in and the last out. */
typedef struct transfer {
    const dfl_keep *keep;
    uint32_t outer;                       /* memory at the other end */
    ports here[DFL_MAX_STEPS + 1], there[DFL_MAX_STEPS + 1]; /* bits at each end */
    bool whole[DFL_MAX_STEPS + 1];        /* nothing of the tile stays */
    bool waits[DFL_MAX_STEPS + 1];        /* the work below cannot go on meanwhile */
} transfer;

static double ratio(dfl_i128 part, dfl_i128 whole) { return whole > 0 ? dfl_i128_double(part) / dfl_i128_double(whole) : 0; }

/* A single buffer is refilled while nothing uses it. The very first tile and the very last are always waited for. */
static bool must_wait(const clockwork *c, const dfl_memory *m, bool ends)
{
    return !c->set->m->options.overlap_perfect && (ends || (!m->stream && m->buffers < 2));
}

static bool make_transfer(clockwork *c, uint32_t at, transfer *out)
{
    dfl_setting *set = c->set;
    dfl_keep *k = &c->keeps->at[at];
    const dfl_keep *parent = &c->keeps->at[k->parent];
    const dfl_memory *m = &set->s->memories[k->line->memory];
    const dfl_counts *n = &c->sums->busiest[at], *up = &c->sums->outer_busiest[at];
    dfl_sharing mine = dfl_keep_sharing(set, k), theirs = mine;
    dfl_flow_loops here, there;
    dfl_i128 entered = 0, left = 0, read = 0, written = 0;
    double bits = set->w->tensors[k->line->tensor].type.bits;

    *out = (transfer){ .keep = k, .outer = parent->line->memory };
    uint64_t around = dfl_steps_around(set, k->point.einsum, k->step, set->s->memories[k->line->memory].element);
    uint64_t outer = dfl_steps_around(set, k->point.einsum, k->step, set->s->memories[out->outer].element);
    mine.first_only = around;
    theirs.first_only = outer;
    theirs.united = dfl_steps_served(set, k->point.einsum, around & ~outer, k->line->tensor, k->written);
    if (!dfl_flow_by_loop(set, &k->point, &mine, &here) || !dfl_flow_by_loop(set, &k->point, &theirs, &there))
        return false;
    for (uint32_t j = 0; j <= k->step; j++) {
        entered += here.enter[j];
        left += here.leave[j];
        read += there.enter[j];
        written += there.leave[j];
    }
    for (uint32_t j = 0; j <= k->step; j++) {
        /* which entries find a value and which leave modified is not known by loop: spread the counts evenly */
        out->here[j].write = bits * dfl_i128_double(here.enter[j]) * ratio(n->fill, entered);
        out->here[j].read = bits * dfl_i128_double(here.leave[j]) * ratio(n->drain, left);
        out->there[j].read = bits * (dfl_i128_double(there.enter[j]) * ratio(up->serve, read) +
                                     dfl_i128_double(there.leave[j]) * ratio(up->accumulate, written));
        out->there[j].write = bits * dfl_i128_double(there.leave[j]) * ratio(up->update, written);
        out->whole[j] = here.whole[j];
        out->waits[j] = must_wait(c, m, j == k->step);
    }
    return true;
}

static double transfer_seconds(const clockwork *c, const transfer *t, uint32_t j)
{
    double a = port_seconds(&c->set->s->memories[t->keep->line->memory], t->here[j]);
    double b = port_seconds(&c->set->s->memories[t->outer], t->there[j]);

    return a > b ? a : b;
}

/* Time that the work below a body's keeps stands still when loop j advances: tensors are moved side by side, the
   levels of one tensor one after another, and no port does two things at once. */
static double stall(const clockwork *c, const transfer *all, uint32_t n, uint32_t j, bool ends)
{
    double worst = 0;

    for (uint32_t i = 0; i < n; i++) {
        double chain = 0;
        for (uint32_t k = 0; k < n; k++) {
            uint32_t at = ends ? all[k].keep->step : j;
            if (all[k].keep->line->tensor == all[i].keep->line->tensor && at <= all[k].keep->step && all[k].waits[at] &&
                (ends || at < all[k].keep->step))
                chain += transfer_seconds(c, &all[k], at);
        }
        worst = chain > worst ? chain : worst;
    }
    for (uint32_t m = 0; m < c->set->s->n_memories; m++) {
        ports sum = { 0, 0 };
        for (uint32_t k = 0; k < n; k++) {
            uint32_t at = ends ? all[k].keep->step : j;
            if (!all[k].waits[at] || (!ends && at >= all[k].keep->step))
                continue;
            if (all[k].keep->line->memory == m) {
                sum.read += all[k].here[at].read;
                sum.write += all[k].here[at].write;
            }
            if (all[k].outer == m) {
                sum.read += all[k].there[at].read;
                sum.write += all[k].there[at].write;
            }
        }
        double busy = port_seconds(&c->set->s->memories[m], sum);
        worst = busy > worst ? busy : worst;
    }
    return worst;
}

/* Loops above a keep whose advance stops the work below it for a refill, as bits. */
static uint64_t stops(const clockwork *c, const transfer *t)
{
    uint64_t loops = 0;

    for (uint32_t j = 0; j < t->keep->step; j++)
        if (t->waits[j] && transfer_seconds(c, t, j) > 0)
            loops |= UINT64_C(1) << j;
    return loops;
}

/* The transfers of a body's keeps. `stopped`: loops at which the keeps of the bodies around stop the work. A stream
   takes new elements in the room of those that the work has done with, so it runs beside the work; but it does not run
   ahead of work that a keep further out has stopped: there it starts anew, beside that refill. */
static bool make_transfers(clockwork *c, const dfl_body *b, uint64_t stopped, transfer *all, uint32_t *n)
{
    *n = 0;
    for (uint32_t i = 0; i < c->keeps->n; i++)
        if (c->keeps->at[i].body == b && c->keeps->at[i].parent != DFL_NONE && !make_transfer(c, i, &all[(*n)++]))
            return false;
    for (uint32_t i = 0; i < *n; i++) {
        uint64_t above = stopped;
        if (!c->set->s->memories[all[i].keep->line->memory].stream || c->set->m->options.overlap_perfect)
            continue;
        for (uint32_t k = 0; k < *n; k++)
            if (all[k].keep->step < all[i].keep->step && !c->set->s->memories[all[k].keep->line->memory].stream)
                above |= stops(c, &all[k]);
        for (uint32_t j = 0; j < all[i].keep->step; j++)
            all[i].waits[j] = all[i].whole[j] && (above >> j & 1) != 0;
    }
    return true;
}

/* Adds what the keeps of a body cost to the time of the work below them. */
static void add_levels(clockwork *c, const transfer *all, uint32_t n, double *total, const char **bound)
{
    double waiting = 0, longest = 0;
    uint32_t deepest = 0;
    const char *waits_for = *bound;

    for (uint32_t i = 0; i < n; i++)
        deepest = all[i].keep->step > deepest ? all[i].keep->step : deepest;
    for (uint32_t j = 0; j < deepest; j++)
        waiting += stall(c, all, n, j, false);
    for (uint32_t i = 0; i < n; i++) {
        double whole = 0;
        ports here = { 0, 0 }, there = { 0, 0 };
        for (uint32_t j = 0; j <= all[i].keep->step; j++) {
            whole += transfer_seconds(c, &all[i], j);
            here.read += all[i].here[j].read;
            here.write += all[i].here[j].write;
            there.read += all[i].there[j].read;
            there.write += all[i].there[j].write;
        }
        if (whole > longest) {
            uint32_t m = all[i].keep->line->memory;
            bool outer = port_seconds(&c->set->s->memories[all[i].outer], there) > port_seconds(&c->set->s->memories[m], here);
            longest = whole;
            waits_for = outer ? port_name(c, all[i].outer, there) : port_name(c, m, here);
        }
    }
    if (longest > *total || waiting > *total)
        *bound = waits_for;
    *total += waiting;
    *total = longest > *total ? longest : *total;
    for (uint32_t i = 0; i < n; i++)
        c->ends[c->n_ends++] = all[i];
}

static double body_seconds(clockwork *c, const dfl_body *b, uint64_t stopped)
{
    const dfl_setting *set = c->set;
    double total = 0, slowest = 0, all = 0;
    const char *bound = "nothing";
    transfer *levels = DFL_NEW_ARRAY(set->arena, transfer, c->keeps->n + 1);
    uint64_t inside = stopped;
    uint32_t n;

    if (!make_transfers(c, b, stopped, levels, &n)) {
        c->ok = false;
        return 0;
    }
    for (uint32_t i = 0; i < n; i++)
        if (!set->s->memories[levels[i].keep->line->memory].stream)
            inside |= stops(c, &levels[i]);
    if (b->kind == DFL_BODY_LEAF) {
        uint32_t e = b->einsums[0];
        const char *port = NULL;
        double operands = operand_ports(c, e, &port);
        total = c->unit_seconds[e];
        bound = dfl_sym_text(set->names, set->s->computes[set->paths->paths[e].compute].name);
        if (operands > total) {
            total = operands;
            bound = port;
        }
    }
    for (uint32_t i = 0; i < b->n_children; i++) {
        double s = body_seconds(c, b->children[i], inside);
        all += s;
        if (s >= slowest) {
            slowest = s;
            bound = c->bound[b->children[i]->id];
        }
    }
    if (b->kind == DFL_BODY_FUSE)
        total = all;
    if (b->kind == DFL_BODY_PIPELINE) {
        double iterations = c->sums->visits[b->id];
        total = slowest + (iterations > 0 ? (all - slowest) / iterations : 0);
    }
    add_levels(c, levels, n, &total, &bound);
    c->bound[b->id] = bound;
    if (b->kind == DFL_BODY_LEAF) {
        c->einsums[b->einsums[0]].seconds = total;
        c->einsums[b->einsums[0]].bound_by = bound;
    }
    return total;
}

bool dfl_cost_time(dfl_setting *set, dfl_keeps *keeps, const dfl_traffic_sums *sums, dfl_result *result,
                   dfl_einsum_cost *einsums, dfl_memory_cost *memories)
{
    clockwork c = { .set = set, .keeps = keeps, .sums = sums,   .einsums = einsums, .ok = true,
                    .unit_seconds = DFL_NEW_ARRAY(set->arena, double, set->w->n_einsums + 1),
                    .bound = DFL_NEW_ARRAY(set->arena, const char *, set->m->n_bodies) };
    double work = 0;

    for (uint32_t e = 0; e < set->w->n_einsums; e++) {
        c.unit_seconds[e] = unit_seconds(&c, e, sums->steps[e]);
        einsums[e].compute_seconds = c.unit_seconds[e];
    }
    c.ends = DFL_NEW_ARRAY(set->arena, transfer, keeps->n + 1);
    result->seconds = body_seconds(&c, set->m->root, 0);
    result->bound_by = c.bound[set->m->root->id];
    result->seconds += stall(&c, c.ends, c.n_ends, 0, true);
    for (uint32_t m = 0; m < set->s->n_memories; m++) {
        ports bits = { 0, 0 };
        for (uint32_t i = 0; i < keeps->n; i++) {
            const dfl_counts *n = &sums->busiest[i];
            if (keeps->at[i].line->memory != m)
                continue;
            bits.read += bits_of(&c, keeps->at[i].line->tensor, n->serve + n->drain + n->accumulate);
            bits.write += bits_of(&c, keeps->at[i].line->tensor, n->fill + n->update);
        }
        const dfl_memory *mem = &set->s->memories[m];
        memories[m].read_seconds = isinf(mem->read_rate) ? 0 : bits.read / mem->read_rate;
        memories[m].write_seconds = isinf(mem->write_rate) ? 0 : bits.write / mem->write_rate;
        /* no port is busy for longer than the whole takes */
        double busy = port_seconds(mem, bits);
        if (busy > result->seconds) {
            result->seconds = busy;
            result->bound_by = port_name(&c, m, bits);
        }
    }
    for (uint32_t e = 0; e < set->w->n_einsums; e++) {
        dfl_i128 instances = 1;
        if (c.unit_seconds[e] <= 0)
            continue;
        dfl_element_instances(set->s, set->s->computes[set->paths->paths[e].compute].element, &instances);
        /* work of the unit at full rate on all its instances, against the time taken */
        double steps = dfl_i128_double(sums->steps[e]), points = dfl_i128_double(sums->points[e]);
        work += steps > 0 ? c.unit_seconds[e] * points / steps / dfl_i128_double(instances) : 0;
    }
    result->utilization = result->seconds > 0 ? work / result->seconds : 0;
    return c.ok;
}
