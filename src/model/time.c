/* Latency. Work that overlaps costs the maximum, work that cannot costs the sum (MODEL.md, section 4). */
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

/* Zero bits are the most frequent, and need no division. */
static double seconds_at(double bits, double rate) { return bits > 0 ? bits / rate : 0; }

/* An infinite rate takes no time: bits are finite. */
static double port_seconds(const dfl_memory *m, dfl_ports bits)
{
    double r = seconds_at(bits.read, m->read_rate), w = seconds_at(bits.write, m->write_rate);

    return m->one_port ? r + w : r > w ? r : w;
}

static const char *port_name(const clockwork *c, uint32_t m, dfl_ports bits)
{
    const dfl_memory *mem = memory_of(c, m);

    return c->plan->names[m][seconds_at(bits.read, mem->read_rate) < seconds_at(bits.write, mem->write_rate)];
}

/* The busier port of those at the two ends of a transfer. */
static const char *transfer_port(const clockwork *c, const dfl_transfer *t, dfl_ports here, dfl_ports there)
{
    bool outer = port_seconds(t->outer_memory, there) > port_seconds(t->inner_memory, here);

    return outer ? port_name(c, t->outer, there) : port_name(c, t->inner, here);
}

/* What a unit needs for its share of an einsum. */
static double unit_seconds(const clockwork *c, uint32_t e)
{
    return dfl_i128_double(c->sums->steps[e]) * c->plan->einsums[e].point;
}

static void clear(const clockwork *c)
{
    for (uint32_t m = 0; m < c->set->s->n_memories; m++)
        c->plan->busy[m] = (dfl_ports){ 0, 0 };
    for (uint32_t i = 0; i < c->plan->n_chains; i++)
        c->plan->chain[i] = 0;
}

static void add_port(dfl_ports *to, dfl_ports bits)
{
    to->read += bits.read;
    to->write += bits.write;
}

/* Adds what an einsum itself reads and updates in the innermost keeps of its operands. */
static void add_operands(const clockwork *c, uint32_t e)
{
    const dfl_einsum_time *t = &c->plan->einsums[e];

    for (uint32_t i = 0; i < t->n_ports; i++) {
        const dfl_operand_port *p = &t->ports[i];
        const dfl_counts *n = &c->sums->ops_busiest[p->keep];
        double moved = bits_of(c, c->keeps->at[p->keep].line->tensor, c->sums->moved[p->operand]);
        dfl_ports *bits = &c->plan->busy[p->memory];
        *(p->output ? &bits->write : &bits->read) += moved;
        if (p->output && n->update > 0) /* of several producers each reads before its share of the updates */
            bits->read += moved * dfl_i128_double(n->accumulate) / dfl_i128_double(n->update);
    }
}

/* The longest that a port is busy with what was added; names it if that is longer than `least`. */
static double busiest_port(const clockwork *c, double least, const char **name)
{
    for (uint32_t m = 0; m < c->set->s->n_memories; m++) {
        double busy = port_seconds(memory_of(c, m), c->plan->busy[m]);
        if (busy > least) {
            least = busy;
            *name = port_name(c, m, c->plan->busy[m]);
        }
    }
    return least;
}

static double ratio(dfl_i128 part, dfl_i128 whole)
{
    return part != 0 && whole > 0 ? dfl_i128_double(part) / dfl_i128_double(whole) : 0;
}

static uint64_t below(uint32_t step) { return (UINT64_C(1) << step) - 1; }

/* Which entries find a value and which leave modified is not known by loop: the counts are spread evenly. */
typedef struct { double bits, filled, drained, served, added, updated; } shares;

/* Sets slot j to what enters and leaves at both ends, in elements. */
static inline void fill_slot(dfl_transfer *t, const shares *s, uint32_t j, dfl_ports mine, dfl_ports theirs)
{
    dfl_ports here = { .read = s->bits * mine.read * s->drained, .write = s->bits * mine.write * s->filled };
    dfl_ports there = { .read = s->bits * (theirs.write * s->served + theirs.read * s->added),
                        .write = s->bits * theirs.read * s->updated };
    double a = port_seconds(t->inner_memory, here), b = port_seconds(t->outer_memory, there);

    t->here[j] = here;
    t->there[j] = there;
    t->seconds[j] = a > b ? a : b;
}

static inline void add_slot(const dfl_transfer *t, uint32_t j, dfl_totals *sum)
{
    add_port(&sum->here, t->here[j]);
    add_port(&sum->there, t->there[j]);
    sum->seconds += t->seconds[j];
}

/* The same when loop j advances, added to the sum over the loops. */
static inline void fill_loop(dfl_transfer *t, const shares *s, uint32_t j, dfl_ports mine, dfl_ports theirs, dfl_totals *sum)
{
    fill_slot(t, s, j, mine, theirs);
    add_slot(t, j, sum);
    sum->lasting |= (uint64_t)(t->seconds[j] > 0) << j;
}

/* The first tile in, which only enters, and the last one out. Where they are waited for they are no part of the sum of
   what moves beside the work. */
static void fill_ends(dfl_transfer *t, const shares *s, dfl_ports mine, dfl_ports theirs, bool beside, dfl_totals *sum)
{
    dfl_ports in = { .write = mine.write }, from = { .write = theirs.write };
    dfl_ports out = { .read = mine.read }, to = { .read = theirs.read };

    fill_slot(t, s, t->step, in, from);
    fill_slot(t, s, t->step + 1, out, to);
    if (beside) {
        add_slot(t, t->step, sum);
        add_slot(t, t->step + 1, sum);
    }
}

/* What leaves (is read) and enters (is written) when temporal step `j` advances, or for j = point->n at the ends. */
static dfl_ports uneven_moves(const dfl_moves *m, uint32_t j)
{
    if (j != m->point->n && !(m->active >> j & 1))
        return (dfl_ports){ 0, 0 };
    return (dfl_ports){ .read = dfl_i128_double(m->by_leave[j]), .write = dfl_i128_double(m->by_enter[j]) };
}

static bool fill_transfer(const clockwork *c, dfl_transfer *t)
{
    const dfl_counts *n = &c->sums->busiest[t->keep], *up = &c->sums->outer_busiest[t->keep];
    const dfl_moves *mine = t->mine, *theirs = t->theirs;
    shares s = { .bits = t->bits };
    dfl_totals sum = { 0 };

    if (!dfl_moves_fill(c->set, t->mine) || !dfl_moves_fill(c->set, t->theirs))
        return false;
    s.filled = ratio(n->fill, mine->enter);
    s.drained = ratio(n->drain, mine->leave);
    s.served = ratio(up->serve, theirs->enter);
    s.added = ratio(up->accumulate, theirs->leave);
    s.updated = ratio(up->update, theirs->leave);
    t->active = mine->active | theirs->active;
    t->waits = t->waited ? below(t->step) : 0;
    bool even = mine->even && theirs->even;
    const uint64_t *steps = c->set->sizes[mine->point->closed.einsum].steps;
    for (uint64_t left = t->active; left; left &= left - 1) {
        uint32_t j = (uint32_t)__builtin_ctzll(left);
        if (even) {
            int64_t times = (int64_t)(steps[j + 1] - steps[j]);
            double in = (double)(mine->size * times), out = (double)(theirs->size * times);
            fill_loop(t, &s, j, (dfl_ports){ in, in }, (dfl_ports){ out, out }, &sum);
        } else {
            fill_loop(t, &s, j, uneven_moves(mine, j), uneven_moves(theirs, j), &sum);
        }
    }
    bool perfect = c->set->m->options.overlap_perfect;
    if (even) {
        double in = (double)mine->size, out = (double)theirs->size;
        fill_ends(t, &s, (dfl_ports){ in, in }, (dfl_ports){ out, out }, perfect, &sum);
    } else {
        fill_ends(t, &s, uneven_moves(mine, t->step), uneven_moves(theirs, t->step), perfect, &sum);
    }
    t->all = sum;
    return true;
}

/* Loops above a keep whose advance stops the work below it for a refill, as bits. */
static uint64_t stops(const dfl_transfer *t) { return t->all.lasting & t->waits; }

/* One transfer beside the others: it prolongs the chain of its tensor, and keeps the ports at its ends busy. */
static void add_stall(const clockwork *c, const dfl_transfer *t, uint32_t j)
{
    c->plan->chain[t->chain] += t->seconds[j];
    add_port(&c->plan->busy[t->inner], t->here[j]);
    add_port(&c->plan->busy[t->outer], t->there[j]);
}

static double longest_stall(const clockwork *c)
{
    const char *port;
    double worst = 0;

    for (uint32_t i = 0; i < c->plan->n_chains; i++)
        worst = c->plan->chain[i] > worst ? c->plan->chain[i] : worst;
    return busiest_port(c, worst, &port);
}

/* Time that the work below a body's keeps stands still when loop j advances: tensors are moved side by side, the
   levels of one tensor one after another, and no port does two things at once. */
static double stall(const clockwork *c, const dfl_transfer *all, const dfl_body_time *own, uint32_t j)
{
    clear(c);
    for (uint32_t i = own->first; i < own->first + own->n; i++)
        if (stops(&all[i]) >> j & 1)
            add_stall(c, &all[i], j);
    return longest_stall(c);
}

/* The same for the very first tiles in (behind = 0) or the very last ones out (behind = 1). */
static double stall_at_end(const clockwork *c, uint32_t behind)
{
    const dfl_transfer *all = c->plan->transfers;

    clear(c);
    for (uint32_t i = 0; i < c->plan->n_transfers; i++)
        add_stall(c, &all[i], all[i].step + behind);
    return longest_stall(c);
}

/* Adds the first tiles in and the last ones out, which are waited for before and after everything else. */
static void add_ends(const clockwork *c, dfl_result *result)
{
    const dfl_transfer *all = c->plan->transfers;
    double ends = stall_at_end(c, 0) + stall_at_end(c, 1), longest = 0;

    for (uint32_t i = 0; i < 2 * c->plan->n_transfers && ends > result->seconds; i++) {
        const dfl_transfer *t = &all[i / 2];
        uint32_t j = t->step + i % 2;
        if (t->seconds[j] > longest) {
            longest = t->seconds[j];
            result->bound_by = transfer_port(c, t, t->here[j], t->there[j]);
        }
    }
    result->seconds += ends;
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
        loops |= stops(&all[i]);
    for (; loops; loops &= loops - 1)
        waiting += stall(c, all, own, (uint32_t)__builtin_ctzll(loops));
    for (uint32_t i = own->first; i < own->first + own->n; i++) {
        const dfl_transfer *t = &all[i];
        if (t->all.seconds > longest) {
            longest = t->all.seconds;
            waits_for = transfer_port(c, t, t->all.here, t->all.there);
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

/* No port is busy in a body, without the ends, for longer than the body takes. */
static double hold_ports(const clockwork *c, const dfl_body *b, double total, const char **bound)
{
    const dfl_body_time *own = &c->plan->bodies[b->id];

    clear(c);
    for (uint32_t i = own->below; i < own->first + own->n; i++) {
        const dfl_transfer *t = &c->plan->transfers[i];
        add_port(&c->plan->busy[t->inner], t->all.here);
        add_port(&c->plan->busy[t->outer], t->all.there);
    }
    for (uint32_t i = 0; i < b->n_einsums; i++)
        add_operands(c, b->einsums[i]);
    return busiest_port(c, total, bound);
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
        bound = dfl_sym_text(set->names, set->s->computes[set->paths->paths[e].compute].name);
        clear(c);
        add_operands(c, e);
        total = busiest_port(c, c->einsums[e].compute_seconds, &bound);
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
    total = hold_ports(c, b, total, &bound);
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

    clear(c);
    for (uint32_t i = 0; i < keeps->n; i++) {
        const dfl_counts *n = &c->sums->busiest[i];
        dfl_ports *bits = &c->plan->busy[keeps->at[i].line->memory];
        bits->read += bits_of(c, keeps->at[i].line->tensor, n->serve + n->drain + n->accumulate);
        bits->write += bits_of(c, keeps->at[i].line->tensor, n->fill + n->update);
    }
    for (uint32_t m = 0; m < c->set->s->n_memories; m++) {
        dfl_ports bits = c->plan->busy[m];
        memories[m].read_seconds = seconds_at(bits.read, memory_of(c, m)->read_rate);
        memories[m].write_seconds = seconds_at(bits.write, memory_of(c, m)->write_rate);
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
    if (c.ok && !set->m->options.overlap_perfect)
        add_ends(&c, result);
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
