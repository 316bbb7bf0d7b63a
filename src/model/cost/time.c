/* Time of a mapping. Times of overlapped work combine by the maximum, other times add (MODEL.md, section 4). */
#include "model/cost/time.h"

#include <string.h>

#include "model/cost/pass.h"

/* A walk over the bodies of a mapping. */
typedef struct {
    dfl_nest *nest;
    const dfl_keep_tree *keeps;
    const dfl_time_plan *plan;
    const dfl_traffic_sums *sums;
    dfl_einsum_cost *einsums;
    bool ok;
} time_walk;

typedef long long mask __attribute__((vector_size(sizeof(dfl_ports))));

/* Seconds at each port. Rates are positive and bits are finite, so a transfer at an infinite rate takes no time. */
static inline dfl_ports port_seconds(const dfl_port_rates *rates, dfl_ports bits)
{
    return (dfl_ports)((mask)bits & (mask)(bits > 0)) / rates->rates;
}

/* Seconds for reads and writes of one memory: the sum of both if they share a port, else the maximum of both. */
static inline double busy_seconds(const dfl_port_rates *rates, dfl_ports bits)
{
    dfl_ports busy = port_seconds(rates, bits);
    double r = busy[DFL_READ], w = busy[DFL_WRITE];

    return rates->one_port ? r + w : r > w ? r : w;
}

static const char *port_name(const time_walk *walk, uint32_t m, dfl_ports bits)
{
    dfl_ports busy = port_seconds(&walk->plan->rates[m], bits);

    return walk->plan->names[m][busy[DFL_READ] < busy[DFL_WRITE]];
}

/* Name of the busier port at the two ends of a transfer. */
static const char *transfer_port(const time_walk *walk, const dfl_transfer *transfer, dfl_ports here, dfl_ports there)
{
    bool outer = busy_seconds(&transfer->outer_ports, there) > busy_seconds(&transfer->inner_ports, here);

    return outer ? port_name(walk, transfer->outer, there) : port_name(walk, transfer->inner, here);
}

/* Compute time of the unit for the steps of an einsum (in s). Clears `ok` after E0509. */
static double unit_seconds(time_walk *walk, uint32_t e)
{
    double point = dfl_pass_point_seconds(walk->nest, &walk->plan->einsums[e], walk->sums, e);

    walk->ok &= point >= 0;
    return dfl_i128_double(walk->sums->steps[e]) * point;
}

/* Adds the launches to the time of the mapping, and to those of the einsums that are launched by themselves. */
static void add_launches(const time_walk *walk, dfl_result *result)
{
    double launch = dfl_pass_launch_seconds(walk->nest, walk->plan);

    if (launch <= 0)
        return;
    if (launch > result->seconds)
        result->bound_by = "launch";
    result->seconds += launch;
    for (uint32_t e = 0; e < walk->nest->workload->n_einsums; e++) {
        double own = dfl_pass_einsum_launch_seconds(walk->nest, walk->plan, e);
        if (own > walk->einsums[e].seconds)
            walk->einsums[e].bound_by = "launch";
        walk->einsums[e].seconds += own;
    }
}

/* Clears the first `n` rows of the plan (`rows`). Returns the first row. */
static inline dfl_ports *clear_rows(const time_walk *walk, uint32_t n, uint32_t width)
{
    memset(walk->plan->rows, 0, (size_t)n * width * sizeof *walk->plan->rows);
    return walk->plan->rows;
}

/* How many times longer than at full bandwidth transfers of `bits` take. Clears `ok` after E0509. */
static double find_stretch(time_walk *walk, const dfl_efficiency *e, double bits)
{
    double share = e != NULL && bits > 0 ? dfl_efficiency_share(e, bits) : 1;

    if (share > 0)
        return 1 / share;
    if (walk->ok) {
        dfl_diag *d = dfl_report(walk->nest->sink, DFL_SYS_EFFICIENCY_SMALL, e->span,
                                 "a transfer has %.6g bit, less than the first point of this efficiency", bits);
        dfl_diag_help(walk->nest->sink, d, "give the efficiency a first point at the smallest transfer, for example at 0");
    }
    walk->ok = false;
    return 1;
}

/* Sets the bits that the operations of an einsum read and update in the innermost keeps of its operands. Bits at a
   memory with an efficiency count as those that its ports move at full bandwidth in the same time. */
static void find_operands(time_walk *walk, uint32_t e)
{
    const dfl_einsum_time *t = &walk->plan->einsums[e];

    for (uint32_t i = 0; i < t->n_ports; i++) {
        dfl_operand_port *p = &t->ports[i];
        const dfl_counts *n = &walk->sums->ops_busiest[p->keep];
        double moved = dfl_i128_double(walk->sums->moved[p->operand]) * p->bits, read = 0;
        if (p->output && n->update > 0) /* with several producers, each reads old values in proportion to its share of the
                                           updates */
            read = moved * dfl_i128_double(n->accumulate) / dfl_i128_double(n->update);
        p->moved = p->output ? (dfl_ports){ read, moved } : (dfl_ports){ moved, 0 };
        const dfl_efficiency *share = walk->nest->system->memories[p->memory].efficiency;
        if (share != NULL) /* one transfer for each pass of the loops below the keep */
            p->moved *= find_stretch(walk, share, moved / (double)walk->nest->sizes[e].steps[walk->keeps->at[p->keep].step]);
    }
}

static void add_operands(const time_walk *walk, uint32_t e, dfl_ports *row)
{
    const dfl_einsum_time *t = &walk->plan->einsums[e];

    for (uint32_t i = 0; i < t->n_ports; i++)
        row[t->ports[i].memory] += t->ports[i].moved;
}

/* The larger of `least` and the seconds of the busiest port for the bits of a row. */
static inline double longest_port(const time_walk *walk, double least, const dfl_ports *row)
{
    for (uint32_t m = 0; m < walk->nest->system->n_memories; m++) {
        double busy = busy_seconds(&walk->plan->rates[m], row[m]);
        least = busy > least ? busy : least;
    }
    return least;
}

/* As the function above; also sets the name of the port if the port is busier than `least`. */
static double busiest_port(const time_walk *walk, double least, const dfl_ports *row, const char **name)
{
    uint32_t busiest = DFL_NONE;

    for (uint32_t m = 0; m < walk->nest->system->n_memories; m++) {
        double busy = busy_seconds(&walk->plan->rates[m], row[m]);
        busiest = busy > least ? m : busiest;
        least = busy > least ? busy : least;
    }
    if (busiest != DFL_NONE)
        *name = port_name(walk, busiest, row[busiest]);
    return least;
}

static inline double find_ratio(dfl_i128 part, dfl_i128 whole)
{
    if (part == whole) /* fast path for the most frequent case */
        return part > 0;
    return part != 0 && whole > 0 ? dfl_i128_double(part) / dfl_i128_double(whole) : 0;
}

static uint64_t steps_below(uint32_t step) { return (UINT64_C(1) << step) - 1; }

/* Fractions of the transferred elements among the entering and among the leaving elements. These fractions are unknown
   for single loops, so each loop gets the fraction of the keep's whole count. */
typedef struct { double filled, drained, served, added, updated; } value_shares;

/* The maximum of two times and 0, s. */
static inline double longer_time(double a, double b)
{
    double most = a > b ? a : b;

    return most > 0 ? most : 0;
}

/* Bits at both ends (bits) and time (s) of a transfer, from the elements that enter and leave. A read-only keep drains
   nothing, so one port is busy at each end. */
static inline dfl_transfer_slot make_slot(const dfl_transfer *transfer, const value_shares *shares, dfl_ports mine,
                                          dfl_ports theirs)
{
    dfl_transfer_slot slot = { .here = { 0, transfer->bits * mine[DFL_WRITE] * shares->filled },
                               .there = { transfer->bits * (theirs[DFL_WRITE] * shares->served), 0 } };
    double a, b;

    if (transfer->written) {
        slot.here[DFL_READ] = transfer->bits * mine[DFL_READ] * shares->drained;
        slot.there[DFL_READ] = transfer->bits * (theirs[DFL_WRITE] * shares->served + theirs[DFL_READ] * shares->added);
        slot.there[DFL_WRITE] = transfer->bits * theirs[DFL_READ] * shares->updated;
        a = busy_seconds(&transfer->inner_ports, slot.here);
        b = busy_seconds(&transfer->outer_ports, slot.there);
    } else {
        a = slot.here[DFL_WRITE] / transfer->inner_ports.rates[DFL_WRITE];
        b = slot.there[DFL_READ] / transfer->outer_ports.rates[DFL_READ];
    }
    slot.seconds = longer_time(a, b);
    return slot;
}

static inline void add_slot(const dfl_transfer_slot *slot, dfl_transfer_totals *sum)
{
    sum->here += slot->here;
    sum->there += slot->there;
    sum->seconds += slot->seconds;
}

/* Fills the slot of loop `j`, and adds the slot to the totals. */
static inline void fill_loop(dfl_transfer *transfer, const value_shares *shares, uint32_t j, dfl_ports mine, dfl_ports theirs,
                             dfl_transfer_totals *sum)
{
    dfl_transfer_slot slot = make_slot(transfer, shares, mine, theirs);

    transfer->slots[j] = slot;
    add_slot(&slot, sum);
    if (slot.seconds > 0)
        sum->lasting |= UINT64_C(1) << j;
}

/* Fills the slots of the first tile in and of the last tile out. With `beside` (overlap is perfect), both slots are
   added to the totals. Without `beside`, the work waits for the first and last tiles, and their transfers do not run
   beside the work. */
static inline void fill_ends(dfl_transfer *transfer, const value_shares *shares, dfl_ports mine, dfl_ports theirs, bool beside,
                             dfl_transfer_totals *sum)
{
    double in = transfer->bits * mine[DFL_WRITE] * shares->filled, from = transfer->bits * (theirs[DFL_WRITE] * shares->served);
    dfl_transfer_slot *first = &transfer->slots[transfer->step], *last = first + 1;

    double filling = in / transfer->inner_ports.rates[DFL_WRITE], serving = from / transfer->outer_ports.rates[DFL_READ];
    *first = (dfl_transfer_slot){ { 0, in }, { from, 0 }, longer_time(filling, serving) };
    if (transfer->written) {
        double out = transfer->bits * mine[DFL_READ] * shares->drained;
        dfl_ports to = { transfer->bits * (theirs[DFL_READ] * shares->added),
                         transfer->bits * theirs[DFL_READ] * shares->updated };
        double draining = out / transfer->inner_ports.rates[DFL_READ], updating = busy_seconds(&transfer->outer_ports, to);
        *last = (dfl_transfer_slot){ { out, 0 }, to, longer_time(draining, updating) };
    }
    if (beside) {
        add_slot(first, sum);
        add_slot(last, sum);
    }
}

/* Numbers of elements that leave (are read) and enter (are written) when temporal step `j` advances; for j =
   footprint->n, those of the last and of the first tile. */
static dfl_ports find_uneven_change(const dfl_delta *delta, uint32_t j)
{
    if (j != delta->footprint->n && !(delta->active >> j & 1))
        return (dfl_ports){ 0, 0 };
    return (dfl_ports){ dfl_i128_double(delta->leaving_by_step[j]), dfl_i128_double(delta->entering_by_step[j]) };
}

static dfl_ports both_ports(double n) { return (dfl_ports){ n, n }; }

static value_shares find_shares(const time_walk *walk, const dfl_transfer *transfer)
{
    const dfl_counts *n = &walk->sums->busiest[transfer->keep], *up = &walk->sums->outer_busiest[transfer->keep];
    const dfl_delta *mine = transfer->mine, *theirs = transfer->theirs;
    value_shares s = { .filled = find_ratio(n->fill, mine->enter), .served = find_ratio(up->serve, theirs->enter) };

    if (transfer->written) {
        s.drained = find_ratio(n->drain, mine->leave);
        s.added = find_ratio(up->accumulate, theirs->leave);
        s.updated = find_ratio(up->update, theirs->leave);
    }
    return s;
}

/* Stretches the slot of `times` transfers to their shares of the bandwidths: its bits become those that the ports move at
   full bandwidth in the same time. */
static void stretch_slot(time_walk *walk, const dfl_transfer *transfer, double times, dfl_transfer_slot *slot)
{
    slot->here *= find_stretch(walk, transfer->inner_share, (slot->here[DFL_READ] + slot->here[DFL_WRITE]) / times);
    slot->there *= find_stretch(walk, transfer->outer_share, (slot->there[DFL_READ] + slot->there[DFL_WRITE]) / times);
    slot->seconds = longer_time(busy_seconds(&transfer->inner_ports, slot->here),
                                busy_seconds(&transfer->outer_ports, slot->there));
}

/* Stretches all slots of a transfer, and sums them anew. `loops`: bit set of the loops with a slot. */
static void stretch_transfer(time_walk *walk, dfl_transfer *transfer, uint64_t loops, bool beside, dfl_transfer_totals *sum)
{
    uint64_t lasting = sum->lasting;

    if (transfer->inner_share == NULL && transfer->outer_share == NULL)
        return;
    *sum = (dfl_transfer_totals){ .lasting = lasting };
    for (; loops; loops &= loops - 1) {
        uint32_t j = (uint32_t)__builtin_ctzll(loops);
        stretch_slot(walk, transfer, (double)(transfer->steps[j + 1] - transfer->steps[j]), &transfer->slots[j]);
        add_slot(&transfer->slots[j], sum);
    }
    for (uint32_t end = 0; end < 1 + (uint32_t)transfer->written; end++) {
        dfl_transfer_slot *slot = &transfer->slots[transfer->step + end];
        stretch_slot(walk, transfer, 1, slot);
        if (beside)
            add_slot(slot, sum);
    }
}

static bool fill_transfer(time_walk *walk, dfl_transfer *transfer)
{
    const dfl_delta *mine = transfer->mine, *theirs = transfer->theirs;
    bool perfect = walk->nest->mapping->options.overlap_perfect;
    dfl_transfer_totals sum = { .seconds = 0 };

    if (!dfl_delta_fill(walk->nest, transfer->mine) || !dfl_delta_fill(walk->nest, transfer->theirs))
        return false;
    value_shares s = find_shares(walk, transfer);
    bool even = mine->is_even && theirs->is_even;
    const uint64_t *steps = transfer->steps;
    for (uint64_t left = mine->active | theirs->active; left; left &= left - 1) {
        uint32_t j = (uint32_t)__builtin_ctzll(left);
        if (even) {
            int64_t times = (int64_t)(steps[j + 1] - steps[j]);
            fill_loop(transfer, &s, j, both_ports((double)(mine->size * times)), both_ports((double)(theirs->size * times)),
                      &sum);
        } else {
            fill_loop(transfer, &s, j, find_uneven_change(mine, j), find_uneven_change(theirs, j), &sum);
        }
    }
    if (even)
        fill_ends(transfer, &s, both_ports((double)mine->size), both_ports((double)theirs->size), perfect, &sum);
    else
        fill_ends(transfer, &s, find_uneven_change(mine, transfer->step), find_uneven_change(theirs, transfer->step),
                  perfect, &sum);
    stretch_transfer(walk, transfer, mine->active | theirs->active, perfect, &sum);
    transfer->all = sum;
    transfer->stops = transfer->waited ? sum.lasting & steps_below(transfer->step) : 0;
    return true;
}

/* Adds a transfer to a row: the seconds to the chain of the tensor, the bits to the ports at both ends of the transfer. */
static inline void add_stall(const time_walk *walk, const dfl_transfer *transfer, uint32_t chain, const dfl_transfer_slot *slot,
                             dfl_ports *row)
{
    row[walk->nest->system->n_memories + chain] += (dfl_ports){ slot->seconds, 0 };
    row[transfer->inner] += slot->here;
    row[transfer->outer] += slot->there;
}

/* Stall time of a row: transfers of different tensors run side by side, those of one tensor run one after another, and
   each port serves one transfer at a time. */
static inline double stall_seconds(const time_walk *walk, const dfl_ports *row, uint32_t width)
{
    double worst = 0;

    for (uint32_t i = walk->nest->system->n_memories; i < width; i++)
        worst = row[i][0] > worst ? row[i][0] : worst;
    return longest_port(walk, worst, row);
}

/* Stall time of the work below the keeps of a body: the sum over the loops. */
static double loop_stall_seconds(const time_walk *walk, const dfl_body_time *own)
{
    const dfl_transfer *all = walk->plan->transfers + own->first;
    uint32_t width = walk->nest->system->n_memories + own->chains;
    double waiting = 0;
    uint64_t loops = 0;

    for (uint32_t i = 0; i < own->n; i++)
        loops |= all[i].stops;
    if (loops == 0)
        return 0;
    dfl_ports *rows = clear_rows(walk, 64 - (uint32_t)__builtin_clzll(loops), width);
    for (uint32_t i = 0; i < own->n; i++)
        for (uint64_t left = all[i].stops; left; left &= left - 1) {
            uint32_t j = (uint32_t)__builtin_ctzll(left);
            add_stall(walk, &all[i], all[i].among, &all[i].slots[j], rows + j * width);
        }
    for (; loops; loops &= loops - 1)
        waiting += stall_seconds(walk, rows + (uint32_t)__builtin_ctzll(loops) * width, width);
    return waiting;
}

/* Stall time for the first tiles to enter (`end` 0) or the last tiles to leave (`end` 1) at one place. */
static double ends_seconds(const time_walk *walk, const dfl_transfer_ends *ends, uint32_t end)
{
    uint32_t width = walk->nest->system->n_memories + ends->chains;
    dfl_ports *row = clear_rows(walk, 1, width);

    for (uint32_t i = 0; i < ends->n; i++) {
        const dfl_transfer *transfer = &walk->plan->transfers[ends->at[i]];
        if (end == 0 || transfer->written)
            add_stall(walk, transfer, transfer->chain[end], &transfer->slots[transfer->step + end], row);
    }
    return stall_seconds(walk, row, width);
}

/* Adds the stall times at the beginning and at the end of the children of a branch: for their first tiles to enter and
   their last tiles to leave. */
static void add_ends(const time_walk *walk, dfl_result *result)
{
    const dfl_transfer *all = walk->plan->transfers;
    double most = 0, ends = 0;

    for (uint32_t end = 0; end < 2; end++)
        for (uint32_t g = 0; g < walk->plan->n_ends[end]; g++)
            ends += ends_seconds(walk, &walk->plan->ends[end][g], end);
    for (uint32_t i = 0; i < 2 * walk->plan->n_transfers && ends > result->seconds; i++) {
        const dfl_transfer *transfer = &all[i / 2];
        uint32_t j = transfer->step + i % 2;
        if (transfer->slots[j].seconds > most) {
            most = transfer->slots[j].seconds;
            result->bound_by = transfer_port(walk, transfer, transfer->slots[j].here, transfer->slots[j].there);
        }
    }
    result->seconds += ends;
}

/* Fills the transfers of the keeps of a body, in the order of their lines. `stopped`: the loops at which an outer keep
   stops the work. A stream runs beside the work: new elements replace those that the work has finished with. But a
   stream does not continue while an outer keep has stopped the work. The stream then starts anew, beside the refill of
   the outer keep. */
static bool fill_transfers(time_walk *walk, const dfl_body_time *own, uint64_t stopped)
{
    dfl_transfer *all = walk->plan->transfers + own->first;

    for (uint32_t i = 0; i < own->n; i++)
        if (!fill_transfer(walk, &all[i]))
            return false;
    for (uint32_t i = 0; i < own->n; i++) {
        uint64_t above = stopped;
        if (!all[i].stream || walk->nest->mapping->options.overlap_perfect)
            continue;
        for (uint32_t k = 0; k < i; k++)
            if (!all[k].stream)
                above |= all[k].stops;
        all[i].stops = all[i].all.lasting & all[i].mine->whole & above & steps_below(all[i].step);
    }
    return true;
}

/* Adds the transfers of the keeps of a body to the time of the work below them. */
static void add_levels(const time_walk *walk, const dfl_body_time *own, double *total, const char **bound)
{
    const dfl_transfer *all = walk->plan->transfers, *slowest = NULL;
    double waiting = loop_stall_seconds(walk, own), beside = 0;

    for (uint32_t i = own->first; i < own->first + own->n; i++)
        if (all[i].all.seconds > beside) {
            beside = all[i].all.seconds;
            slowest = &all[i];
        }
    if (slowest && (beside > *total || waiting > *total))
        *bound = transfer_port(walk, slowest, slowest->all.here, slowest->all.there);
    *total += waiting;
    *total = beside > *total ? beside : *total;
}

/* Number of iterations of all temporal loops down to the end of the lines of a body, from nominal extents. */
static double count_visits(const time_walk *walk, const dfl_body *body)
{
    uint32_t e = body->einsums[0], n = walk->nest->numbers->step[body->id][body->n_lines];
    double times = 1;

    for (uint32_t i = 0; i < n; i++) {
        bool loop = walk->nest->paths->paths[e].steps[i].line->kind == DFL_LINE_TEMPORAL;
        uint32_t d = loop ? dfl_nest_driver(walk->nest, e, i) : DFL_NONE;
        times *= d == DFL_NONE ? 1 : (double)walk->nest->sizes[d].trips[i];
    }
    return times;
}

/* Raises the time of a body to that of its busiest port; first tiles entering and last tiles leaving do not count. */
static double limit_by_ports(const time_walk *walk, const dfl_body *body, double total, const char **bound)
{
    const dfl_body_time *own = &walk->plan->bodies[body->id];
    dfl_ports *row = clear_rows(walk, 1, walk->nest->system->n_memories);

    for (uint32_t i = own->below; i < own->first + own->n; i++) {
        const dfl_transfer *transfer = &walk->plan->transfers[i];
        row[transfer->inner] += transfer->all.here;
        row[transfer->outer] += transfer->all.there;
    }
    for (uint32_t i = 0; i < body->n_einsums; i++)
        add_operands(walk, body->einsums[i], row);
    return busiest_port(walk, total, row, bound);
}

static double body_seconds(time_walk *walk, const dfl_body *body, uint64_t stopped)
{
    const dfl_nest *nest = walk->nest;
    const dfl_body_time *own = &walk->plan->bodies[body->id];
    double total = 0, slowest = 0, all = 0;
    const char *bound = "nothing";
    uint64_t inside = stopped;

    if (!fill_transfers(walk, own, stopped)) {
        walk->ok = false;
        return 0;
    }
    for (uint32_t i = own->first; i < own->first + own->n; i++)
        if (!walk->plan->transfers[i].stream)
            inside |= walk->plan->transfers[i].stops;
    if (body->kind == DFL_BODY_LEAF) {
        uint32_t e = body->einsums[0];
        bound = dfl_sym_text(nest->names, nest->system->computes[nest->paths->paths[e].compute].name);
        dfl_ports *row = clear_rows(walk, 1, walk->nest->system->n_memories);
        find_operands(walk, e);
        add_operands(walk, e, row);
        total = busiest_port(walk, walk->einsums[e].compute_seconds, row, &bound);
    }
    for (uint32_t i = 0; i < body->n_children; i++) {
        double s = body_seconds(walk, body->children[i], inside);
        all += s;
        if (s >= slowest) {
            slowest = s;
            bound = walk->plan->bound[body->children[i]->id];
        }
    }
    if (body->kind == DFL_BODY_FUSE)
        total = all;
    if (body->kind == DFL_BODY_PIPELINE) {
        double iterations = count_visits(walk, body);
        total = slowest + (iterations > 0 ? (all - slowest) / iterations : 0);
    }
    add_levels(walk, own, &total, &bound);
    total = limit_by_ports(walk, body, total, &bound);
    walk->plan->bound[body->id] = bound;
    if (body->kind == DFL_BODY_LEAF) {
        walk->einsums[body->einsums[0]].seconds = total;
        walk->einsums[body->einsums[0]].bound_by = bound;
    }
    return total;
}

/* The bits of each memory with an efficiency, stretched to its shares. The other rows stay as they are. */
static void stretch_row(const time_walk *walk, dfl_ports *row)
{
    const dfl_time_plan *plan = walk->plan;
    const dfl_memory *memories = walk->nest->system->memories;
    bool perfect = walk->nest->mapping->options.overlap_perfect;

    for (uint32_t m = 0; m < walk->nest->system->n_memories; m++)
        if (memories[m].efficiency != NULL)
            row[m] = (dfl_ports){ 0, 0 };
    for (uint32_t i = 0; i < plan->n_transfers; i++) {
        const dfl_transfer *transfer = &plan->transfers[i];
        dfl_ports here = transfer->all.here, there = transfer->all.there;
        for (uint32_t end = 0; !perfect && end < 1 + (uint32_t)transfer->written; end++) {
            here += transfer->slots[transfer->step + end].here;
            there += transfer->slots[transfer->step + end].there;
        }
        if (transfer->inner_share != NULL)
            row[transfer->inner] += here;
        if (transfer->outer_share != NULL)
            row[transfer->outer] += there;
    }
    for (uint32_t e = 0; e < walk->nest->workload->n_einsums; e++)
        for (uint32_t i = 0; i < plan->einsums[e].n_ports; i++)
            if (memories[plan->einsums[e].ports[i].memory].efficiency != NULL)
                row[plan->einsums[e].ports[i].memory] += plan->einsums[e].ports[i].moved;
}

/* Raises the time of the whole mapping to the time of the busiest port, and sets the port times of the memories. */
static void limit_whole_by_ports(const time_walk *walk, dfl_result *result, dfl_memory_cost *memories)
{
    const dfl_time_plan *plan = walk->plan;
    dfl_ports *row = clear_rows(walk, 1, walk->nest->system->n_memories);

    for (uint32_t i = 0; i < walk->keeps->n; i++) {
        const dfl_counts *n = &walk->sums->busiest[i];
        dfl_ports moved = { dfl_i128_double(n->serve + n->drain + n->accumulate), dfl_i128_double(n->fill + n->update) };
        row[plan->memory[i]] += moved * plan->bits[i];
    }
    stretch_row(walk, row);
    for (uint32_t m = 0; m < walk->nest->system->n_memories; m++) {
        dfl_ports seconds = port_seconds(&plan->rates[m], row[m]);
        memories[m].read_seconds = seconds[DFL_READ];
        memories[m].write_seconds = seconds[DFL_WRITE];
        double busy = busy_seconds(&plan->rates[m], row[m]);
        if (busy > result->seconds) {
            result->seconds = busy;
            result->bound_by = port_name(walk, m, row[m]);
        }
    }
}

bool dfl_time_count(dfl_nest *nest, const dfl_keep_tree *keeps, const dfl_time_plan *plan, const dfl_traffic_sums *sums,
                    dfl_result *result, dfl_einsum_cost *einsums, dfl_memory_cost *memories)
{
    time_walk c = { .nest = nest, .keeps = keeps, .plan = plan, .sums = sums, .einsums = einsums, .ok = true };
    double work = 0;

    for (uint32_t e = 0; e < nest->workload->n_einsums; e++)
        einsums[e].compute_seconds = unit_seconds(&c, e);
    result->seconds = body_seconds(&c, nest->mapping->root, 0);
    result->bound_by = plan->bound[nest->mapping->root->id];
    if (c.ok && !nest->mapping->options.overlap_perfect)
        add_ends(&c, result);
    limit_whole_by_ports(&c, result, memories);
    add_launches(&c, result);
    for (uint32_t e = 0; e < nest->workload->n_einsums; e++) {
        /* utilization: time at full rate on all instances of the unit, as a fraction of the latency */
        double steps = dfl_i128_double(sums->steps[e]), points = dfl_i128_double(sums->points[e]);
        if (steps > 0)
            work += steps * plan->einsums[e].point_seconds * points / steps / plan->einsums[e].instances;
    }
    result->utilization = result->seconds > 0 ? work / result->seconds : 0;
    return c.ok;
}

