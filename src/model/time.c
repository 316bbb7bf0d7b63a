/* Latency. Work that overlaps costs the maximum, work that cannot costs the sum (MODEL.md, section 4). */
#include <string.h>

#include "model/cost.h"

typedef struct {
    dfl_setting *set;
    const dfl_keeps *keeps;
    const dfl_time_plan *plan;
    const dfl_traffic_sums *sums;
    dfl_einsum_cost *einsums;
    bool ok;
} clockwork;

static const dfl_memory *memory_of(const clockwork *c, uint32_t m) { return &c->set->s->memories[m]; }

static double bits_of(const clockwork *c, uint32_t tensor, dfl_i128 n)
{
    return dfl_i128_double(n) * c->set->w->tensors[tensor].type.bits;
}

/* An infinite rate takes no time: bits are finite. */
static double port_seconds(const dfl_memory *m, dfl_ports bits)
{
    double r = bits.read / m->read_rate, w = bits.write / m->write_rate;

    return m->one_port ? r + w : r > w ? r : w;
}

static const char *port_name(const clockwork *c, uint32_t m, dfl_ports bits)
{
    return c->plan->names[m][!(bits.read / memory_of(c, m)->read_rate >= bits.write / memory_of(c, m)->write_rate)];
}

/* What a unit needs for its share of an einsum. */
static double unit_seconds(const clockwork *c, uint32_t e)
{
    return dfl_i128_double(c->sums->steps[e]) * c->plan->einsums[e].point;
}

/* What an einsum itself reads and updates in the innermost keeps of its operands, at the busiest memory. */
static double operand_ports(const clockwork *c, uint32_t e, const char **name)
{
    const dfl_einsum_time *t = &c->plan->einsums[e];
    double worst = 0;

    for (uint32_t i = 0; i < t->n_ports;) {
        uint32_t m = t->ports[i].memory;
        dfl_ports bits = { 0, 0 };
        for (; i < t->n_ports && t->ports[i].memory == m; i++) {
            const dfl_operand_port *p = &t->ports[i];
            const dfl_counts *n = &c->sums->ops_busiest[p->keep];
            double moved = bits_of(c, c->keeps->at[p->keep].line->tensor, c->sums->moved[p->operand]);
            *(p->output ? &bits.write : &bits.read) += moved;
            if (p->output && n->update > 0) /* of several producers each reads before its share of the updates */
                bits.read += moved * dfl_i128_double(n->accumulate) / dfl_i128_double(n->update);
        }
        double s = port_seconds(memory_of(c, m), bits);
        if (s > worst) {
            worst = s;
            *name = port_name(c, m, bits);
        }
    }
    return worst;
}

static double ratio(dfl_i128 part, dfl_i128 whole) { return whole > 0 ? dfl_i128_double(part) / dfl_i128_double(whole) : 0; }

static uint64_t below(uint32_t step) { return (UINT64_C(1) << step) - 1; }

static bool fill_transfer(const clockwork *c, dfl_transfer *t)
{
    const dfl_counts *n = &c->sums->busiest[t->keep], *up = &c->sums->outer_busiest[t->keep];
    const dfl_memory *inner = memory_of(c, t->inner), *outer = memory_of(c, t->outer);
    const dfl_moves *mine = t->mine, *theirs = t->theirs;
    double bits = c->set->w->tensors[t->tensor].type.bits;

    if (!dfl_moves_fill(c->set, t->mine) || !dfl_moves_fill(c->set, t->theirs))
        return false;
    /* which entries find a value and which leave modified is not known by loop: spread the counts evenly */
    double filled = ratio(n->fill, mine->enter), drained = ratio(n->drain, mine->leave);
    double served = ratio(up->serve, theirs->enter), added = ratio(up->accumulate, theirs->leave);
    double updated = ratio(up->update, theirs->leave);
    t->active = mine->active | theirs->active;
    t->waits = !c->set->m->options.overlap_perfect && !t->stream && inner->buffers < 2 ? below(t->step) : 0;
    for (uint64_t left = t->active | UINT64_C(1) << t->step; left; left &= left - 1) {
        uint32_t j = (uint32_t)__builtin_ctzll(left);
        bool some = j == t->step || (mine->active >> j & 1), more = j == t->step || (theirs->active >> j & 1);
        double enter = some ? dfl_i128_double(mine->by_enter[j]) : 0, leave = some ? dfl_i128_double(mine->by_leave[j]) : 0;
        double out = more ? dfl_i128_double(theirs->by_enter[j]) : 0, in = more ? dfl_i128_double(theirs->by_leave[j]) : 0;
        t->here[j] = (dfl_ports){ .read = bits * leave * drained, .write = bits * enter * filled };
        t->there[j] = (dfl_ports){ .read = bits * (out * served + in * added), .write = bits * in * updated };
        double a = port_seconds(inner, t->here[j]), b = port_seconds(outer, t->there[j]);
        t->seconds[j] = a > b ? a : b;
    }
    return true;
}

static void add_port(dfl_ports *to, dfl_ports bits)
{
    to->read += bits.read;
    to->write += bits.write;
}

static double worst_port(const clockwork *c, double worst)
{
    for (uint32_t m = 0; m < c->set->s->n_memories; m++) {
        if (c->plan->busy[m].read <= 0 && c->plan->busy[m].write <= 0)
            continue;
        double busy = port_seconds(memory_of(c, m), c->plan->busy[m]);
        worst = busy > worst ? busy : worst;
    }
    return worst;
}

/* Time that the work below a body's keeps stands still when loop j advances: tensors are moved side by side, the
   levels of one tensor one after another, and no port does two things at once. */
static double stall(const clockwork *c, const dfl_transfer *all, const dfl_body_time *own, uint32_t j)
{
    double worst = 0;

    memset(c->plan->busy, 0, c->set->s->n_memories * sizeof *c->plan->busy);
    for (uint32_t i = own->first; i < own->first + own->n; i++) {
        double chain = 0;
        for (uint32_t k = i; all[i].first && k != DFL_NONE; k = all[k].next)
            chain += all[k].active & all[k].waits & UINT64_C(1) << j ? all[k].seconds[j] : 0;
        worst = chain > worst ? chain : worst;
        if (!(all[i].active & all[i].waits & UINT64_C(1) << j))
            continue;
        add_port(&c->plan->busy[all[i].inner], all[i].here[j]);
        add_port(&c->plan->busy[all[i].outer], all[i].there[j]);
    }
    return worst_port(c, worst);
}

/* The same for the very first tiles in and the very last ones out, which are always waited for. */
static double stall_at_ends(const clockwork *c)
{
    const dfl_transfer *all = c->plan->transfers;
    double worst = 0;

    if (c->set->m->options.overlap_perfect)
        return 0;
    memset(c->plan->busy, 0, c->set->s->n_memories * sizeof *c->plan->busy);
    for (uint32_t i = 0; i < c->plan->n_transfers; i++) {
        double chain = 0;
        for (uint32_t k = i; all[i].first_end && k != DFL_NONE; k = all[k].next_end)
            chain += all[k].seconds[all[k].step];
        worst = chain > worst ? chain : worst;
        add_port(&c->plan->busy[all[i].inner], all[i].here[all[i].step]);
        add_port(&c->plan->busy[all[i].outer], all[i].there[all[i].step]);
    }
    return worst_port(c, worst);
}

/* Loops above a keep whose advance stops the work below it for a refill, as bits. */
static uint64_t stops(const dfl_transfer *t)
{
    uint64_t loops = 0;

    for (uint64_t left = t->active & t->waits; left; left &= left - 1)
        if (t->seconds[__builtin_ctzll(left)] > 0)
            loops |= left & -left;
    return loops;
}

/* The transfers of a body's keeps. `stopped`: loops at which the keeps of the bodies around stop the work. A stream
   takes new elements in the room of those that the work has done with, so it runs beside the work; but it does not run
   ahead of work that a keep further out has stopped: there it starts anew, beside that refill. */
static bool fill_transfers(const clockwork *c, const dfl_body_time *own, uint64_t stopped)
{
    dfl_transfer *all = c->plan->transfers + own->first;

    for (uint32_t i = 0; i < own->n; i++)
        if (!fill_transfer(c, &all[i]))
            return false;
    for (uint32_t i = 0; i < own->n; i++) {
        uint64_t above = stopped;
        if (!all[i].stream || c->set->m->options.overlap_perfect)
            continue;
        for (uint32_t k = 0; k < own->n; k++)
            if (all[k].step < all[i].step && !all[k].stream)
                above |= stops(&all[k]);
        all[i].waits = all[i].mine->whole & above & below(all[i].step);
    }
    return true;
}

/* Adds what the keeps of a body cost to the time of the work below them. */
static void add_levels(const clockwork *c, const dfl_body_time *own, double *total, const char **bound)
{
    const dfl_transfer *all = c->plan->transfers;
    double waiting = 0, longest = 0;
    uint64_t loops = 0;
    const char *waits_for = *bound;

    for (uint32_t i = own->first; i < own->first + own->n; i++)
        loops |= all[i].active & all[i].waits;
    for (; loops; loops &= loops - 1)
        waiting += stall(c, all, own, (uint32_t)__builtin_ctzll(loops));
    for (uint32_t i = own->first; i < own->first + own->n; i++) {
        double whole = 0;
        dfl_ports here = { 0, 0 }, there = { 0, 0 };
        for (uint64_t left = all[i].active | UINT64_C(1) << all[i].step; left; left &= left - 1) {
            uint32_t j = (uint32_t)__builtin_ctzll(left);
            whole += all[i].seconds[j];
            add_port(&here, all[i].here[j]);
            add_port(&there, all[i].there[j]);
        }
        if (whole > longest) {
            bool outer = port_seconds(memory_of(c, all[i].outer), there) > port_seconds(memory_of(c, all[i].inner), here);
            longest = whole;
            waits_for = outer ? port_name(c, all[i].outer, there) : port_name(c, all[i].inner, here);
        }
    }
    if (longest > *total || waiting > *total)
        *bound = waits_for;
    *total += waiting;
    *total = longest > *total ? longest : *total;
}

/* Iterations of all temporal loops down to the end of the body's lines, nominally. */
static double visits(const clockwork *c, const dfl_body *body)
{
    uint32_t e = body->einsums[0], n = dfl_steps_above(body) + body->n_lines;
    double times = 1;

    for (uint32_t i = 0; i < n; i++) {
        bool loop = c->set->paths->paths[e].steps[i].line->kind == DFL_LINE_TEMPORAL;
        uint32_t d = loop ? dfl_place_driver(c->set, e, i) : DFL_NONE;
        times *= d == DFL_NONE ? 1 : (double)c->set->sizes[d].trips[i];
    }
    return times;
}

static double body_seconds(clockwork *c, const dfl_body *b, uint64_t stopped)
{
    const dfl_setting *set = c->set;
    const dfl_body_time *own = &c->plan->bodies[b->id];
    double total = 0, slowest = 0, all = 0;
    const char *bound = "nothing";
    uint64_t inside = stopped;

    if (!fill_transfers(c, own, stopped)) {
        c->ok = false;
        return 0;
    }
    for (uint32_t i = own->first; i < own->first + own->n; i++)
        if (!c->plan->transfers[i].stream)
            inside |= stops(&c->plan->transfers[i]);
    if (b->kind == DFL_BODY_LEAF) {
        uint32_t e = b->einsums[0];
        const char *port = NULL;
        double operands = operand_ports(c, e, &port);
        total = c->einsums[e].compute_seconds;
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
            bound = c->plan->bound[b->children[i]->id];
        }
    }
    if (b->kind == DFL_BODY_FUSE)
        total = all;
    if (b->kind == DFL_BODY_PIPELINE) {
        double iterations = visits(c, b);
        total = slowest + (iterations > 0 ? (all - slowest) / iterations : 0);
    }
    add_levels(c, own, &total, &bound);
    c->plan->bound[b->id] = bound;
    if (b->kind == DFL_BODY_LEAF) {
        c->einsums[b->einsums[0]].seconds = total;
        c->einsums[b->einsums[0]].bound_by = bound;
    }
    return total;
}

/* No port is busy for longer than the whole takes. */
static void check_ports(const clockwork *c, dfl_result *result, dfl_memory_cost *memories)
{
    const dfl_keeps *keeps = c->keeps;

    memset(c->plan->busy, 0, c->set->s->n_memories * sizeof *c->plan->busy);
    for (uint32_t i = 0; i < keeps->n; i++) {
        const dfl_counts *n = &c->sums->busiest[i];
        dfl_ports *bits = &c->plan->busy[keeps->at[i].line->memory];
        bits->read += bits_of(c, keeps->at[i].line->tensor, n->serve + n->drain + n->accumulate);
        bits->write += bits_of(c, keeps->at[i].line->tensor, n->fill + n->update);
    }
    for (uint32_t m = 0; m < c->set->s->n_memories; m++) {
        dfl_ports bits = c->plan->busy[m];
        memories[m].read_seconds = bits.read / memory_of(c, m)->read_rate;
        memories[m].write_seconds = bits.write / memory_of(c, m)->write_rate;
        double busy = port_seconds(memory_of(c, m), bits);
        if (busy > result->seconds) {
            result->seconds = busy;
            result->bound_by = port_name(c, m, bits);
        }
    }
}

bool dfl_time_count(dfl_setting *set, const dfl_keeps *keeps, const dfl_time_plan *plan, const dfl_traffic_sums *sums,
                    dfl_result *result, dfl_einsum_cost *einsums, dfl_memory_cost *memories)
{
    clockwork c = { .set = set, .keeps = keeps, .plan = plan, .sums = sums, .einsums = einsums, .ok = true };
    double work = 0;

    for (uint32_t e = 0; e < set->w->n_einsums; e++)
        einsums[e].compute_seconds = unit_seconds(&c, e);
    result->seconds = body_seconds(&c, set->m->root, 0);
    result->bound_by = plan->bound[set->m->root->id];
    result->seconds += c.ok ? stall_at_ends(&c) : 0;
    check_ports(&c, result, memories);
    for (uint32_t e = 0; e < set->w->n_einsums; e++) {
        /* work of the unit at full rate on all its instances, against the time taken */
        double steps = dfl_i128_double(sums->steps[e]), points = dfl_i128_double(sums->points[e]);
        if (einsums[e].compute_seconds > 0)
            work += steps > 0 ? einsums[e].compute_seconds * points / steps / plan->einsums[e].instances : 0;
    }
    result->utilization = result->seconds > 0 ? work / result->seconds : 0;
    return c.ok;
}
