/* Time of a mapping. Times of overlapped work combine by the maximum, other times add (MODEL.md, section 4). */
#include "model/cost/time.h"

#include "model/cost/pass.h"
#include "model/cost/time_links.h"
#include "model/cost/time_level.h"

#include <math.h>
#include <string.h>

/* A walk over the bodies of a mapping. */
typedef struct {
    dfl_nest *nest;
    const dfl_keep_tree *keeps;
    const dfl_time_plan *plan;
    const dfl_traffic_sums *sums;
    dfl_einsum_cost *einsums;
    double absorbed;   /* seconds of first and last tiles that pass beside other transfers */
    double work;       /* seconds of the work below the outermost keeps */
    bool ok;
} time_walk;

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

/* Clears a row of all resources. */
static inline double *clear_row(const time_walk *walk)
{
    memset(walk->plan->rows, 0, walk->plan->n_resources * sizeof *walk->plan->rows);
    return walk->plan->rows;
}

static bool has_efficiency(const time_walk *walk, uint32_t memory)
{
    return walk->nest->system->memories[memory].efficiency != NULL;
}

/* Sets the bits that the operations of an einsum read and update in the innermost keeps of its operands, and their seconds.
   Bits at a memory with an efficiency count as those that its ports move at full bandwidth in the same time. */
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
        p->moved[DFL_READ] = p->output ? read : moved;
        p->moved[DFL_WRITE] = p->output ? moved : 0;
        if (walk->plan->stretched && has_efficiency(walk, walk->plan->memory[p->keep])) {
            const dfl_efficiency *share = walk->nest->system->memories[walk->plan->memory[p->keep]].efficiency;
            /* one transfer for each pass of the loops below the keep */
            double passes = (double)walk->nest->sizes[e].steps[walk->keeps->at[p->keep].step];
            double stretch = dfl_efficiency_stretch(walk->nest, share, moved / passes);
            walk->ok &= stretch > 0;
            p->moved[DFL_READ] *= stretch;
            p->moved[DFL_WRITE] *= stretch;
        }
        for (uint32_t way = 0; way < 2; way++) {
            uint32_t r = p->resource[way];
            p->seconds[way] = r == DFL_NONE ? 0 : p->moved[way] / walk->plan->resources[r].rate[way];
        }
    }
}

/* Adds the bits of the operands of an einsum to a row, in s. */
static void add_operands(const time_walk *walk, uint32_t e, double *row)
{
    const dfl_einsum_time *t = &walk->plan->einsums[e];

    for (uint32_t i = 0; i < t->n_ports; i++)
        for (uint32_t way = 0; way < 2; way++) {
            uint32_t r = t->ports[i].resource[way];
            if (r != DFL_NONE)
                row[r] += t->ports[i].seconds[way];
        }
    for (uint32_t i = 0; i < t->n_links; i++) {
        uint32_t r = t->links[i].resource;
        row[r] += dfl_time_links_bits(walk->plan, &t->links[i]) / walk->plan->resources[r].rate[DFL_READ];
    }
}

/* Whether the passes of the loops from step `end` on differ in the number of instances that work at a step: a loop outside cuts
   a rank into unequal pieces, and a spatial loop cuts these pieces. */
static bool have_uneven_passes(const dfl_nest *nest, uint32_t e, uint32_t end)
{
    const dfl_loop_sizes *sizes = &nest->sizes[e];

    for (uint32_t i = 0; sizes->ragged && i < nest->workload->einsums[e].n_ranks; i++) {
        uint64_t cuts = nest->cuts[e][i] & sizes->moving, ragged = cuts & sizes->ragged;
        uint64_t from = ragged ? ~((ragged & (~ragged + 1)) - 1) : 0;
        if (cuts & nest->spatial[e] && cuts & from & sizes->temporal & dfl_nest_steps_below(end))
            return true;
    }
    return false;
}

/* As add_operands, an upper limit for unequal passes: at every step, all instances work. */
static void add_most_operands(const time_walk *walk, uint32_t e, double *row)
{
    const dfl_einsum_time *t = &walk->plan->einsums[e];
    const dfl_loop_sizes *sizes = &walk->nest->sizes[e];
    double steps = dfl_i128_double(walk->sums->steps[e]);

    for (uint32_t i = 0; i < t->n_ports; i++) {
        const dfl_operand_port *p = &t->ports[i];
        double most = steps * p->bits, moved = p->moved[p->output ? DFL_WRITE : DFL_READ];
        for (uint64_t left = p->adding & sizes->moving; left; left &= left - 1)
            most *= (double)sizes->trips[__builtin_ctzll(left)];
        for (uint32_t way = 0; way < 2; way++)
            if (p->resource[way] != DFL_NONE)
                row[p->resource[way]] += p->seconds[way] * (moved > 0 && most > moved ? most / moved : 1);
    }
    for (uint32_t i = 0; i < t->n_links; i++) {
        uint32_t r = t->links[i].resource;
        double most = steps * dfl_time_links_most_bits(walk->nest, walk->plan, &t->links[i], t->ports[t->links[i].port].adding);
        row[r] += most / walk->plan->resources[r].rate[DFL_READ];
    }
}

/* The larger of `least` and the seconds of the busiest resource of a row. Also sets the name of this resource if it is busier
   than `least`. */
static double find_busiest(const time_walk *walk, double least, const double *row, const char **name)
{
    for (uint32_t r = 0; r < walk->plan->n_resources; r++)
        if (row[r] > least) {
            least = row[r];
            *name = walk->plan->resources[r].name;
        }
    return least;
}

/* Name of the busiest resource of a transfer. */
static const char *name_busiest(const time_walk *walk, const dfl_transfer *transfer, const dfl_moves *amounts)
{
    const char *name = "nothing";
    double *row = clear_row(walk);

    dfl_transfer_add(transfer, amounts, row);
    find_busiest(walk, 0, row, &name);
    return name;
}

/* Adds the stall times at the beginning and at the end of the children of a branch: for their first tiles to enter and
   their last tiles to leave. */
static void add_ends(const time_walk *walk, dfl_result *result)
{
    const dfl_time_plan *plan = walk->plan;
    const dfl_transfer *longest = NULL;
    uint32_t direction = DFL_IN;
    double most = 0, ends = 0;

    for (uint32_t end = 0; end < 2; end++)
        for (uint32_t g = 0; g < plan->n_ends[end]; g++)
            for (uint32_t l = 0; l < plan->ends[end][g].n_levels; l++)
                ends += dfl_keep_level_ends(plan, &plan->ends[end][g].levels[l], end == 0 ? DFL_IN : DFL_OUT);
    for (uint32_t i = 0; i < plan->n_transfers && ends > result->seconds; i++)
        for (uint32_t way = 0; way < 2; way++) {
            double seconds = dfl_transfer_seconds(&plan->transfers[i], &plan->transfers[i].ends, way);
            if (seconds > most) {
                most = seconds;
                longest = &plan->transfers[i];
                direction = way;
            }
        }
    if (longest) {
        dfl_moves one = longest->ends;
        for (uint32_t end = 0; end < 2; end++)
            (direction == DFL_IN ? one.out : one.in)[end] = 0;
        result->bound_by = name_busiest(walk, longest, &one);
    }
    result->seconds += ends - walk->absorbed;
}

/* Fills the transfers of the keeps of a body, and finds the loops at which they stop the work. `stopped`: the loops at
   which an outer keep stops the work. A stream runs beside the work: new elements replace those that the work has
   finished with. But a stream does not continue while an outer keep has stopped the work. The stream then starts anew,
   beside the refill of the outer keep. */
static bool fill_transfers(const time_walk *walk, const dfl_body_time *own, uint64_t stopped)
{
    dfl_transfer *all = walk->plan->transfers + own->first;

    if (!dfl_transfers_fill(walk->nest, walk->plan, walk->sums, all, own->n))
        return false;
    for (uint32_t i = 0; i < own->n; i++)
        all[i].stops = all[i].waited ? all[i].lasting : 0;
    for (uint32_t i = 0; i < own->n && !walk->nest->mapping->options.overlap_perfect; i++) {
        uint64_t above = stopped;
        if (!all[i].stream)
            continue;
        for (uint32_t k = 0; k < i; k++)
            if (!all[k].stream)
                above |= all[k].stops;
        above |= dfl_nest_steps_below(own->apart);
        all[i].stops = all[i].lasting & all[i].mine->whole & above;
    }
    return true;
}

/* Finds the loops of each level: a level begins below the innermost loop that moves a tile of the levels around it, but
   for streams, and below the branches around it. At the loops around its level, a tile ahead is not fetched: its transfer
   stops the work. `from`: the first step below the levels of the bodies around. Returns the first step below the levels of
   this body. */
static uint32_t find_level_loops(const time_walk *walk, dfl_body_time *own, uint32_t from)
{
    for (uint32_t l = 0; l < own->n_levels; l++) {
        dfl_keep_level *level = &own->levels[l];
        uint64_t moving = 0;
        level->from = from;
        for (uint32_t i = 0; i < level->n; i++) {
            dfl_transfer *t = &walk->plan->transfers[level->at[i]];
            if (t->ahead)
                t->stops = t->lasting & ((UINT64_C(1) << from) - 1);
            moving |= t->ahead || t->waited ? t->lasting : 0;
        }
        uint32_t end = moving ? 64 - (uint32_t)__builtin_clzll(moving) : 0;
        from = end > from ? end : from;
    }
    return from;
}

/* Sets the advances and the positions of the loops above the inner end of a body, from nominal extents. */
static double set_loops(const time_walk *walk, dfl_body_time *own, uint32_t n)
{
    double positions = 1;
    uint32_t next = 0;

    for (uint32_t l = 0; l < own->n_loops; l++) { /* other steps never advance */
        uint32_t at = own->loops[l].step;
        double trips = (double)walk->nest->sizes[own->loops[l].driver].trips[at];
        while (next <= at)
            own->positions[next++] = positions;
        own->advances[at] = positions * (trips - 1);
        positions *= trips;
    }
    while (next <= n)
        own->positions[next++] = positions;
    return positions;
}

/* Adds the transfers of the keeps of a body to the time of the work below them. Stalls of the children at the loops from step
   `from` on belong to the body, with or without keeps. */
static void add_levels(time_walk *walk, dfl_body_time *own, uint32_t from, dfl_work_time *work, const char **bound)
{
    const dfl_transfer *all = walk->plan->transfers, *slowest = NULL;
    double before = work->seconds, waiting = 0, beside = 0;

    own->absorbed = 0;
    for (uint32_t l = own->n_levels; l-- > 0;)
        waiting += dfl_keep_level_add(walk->plan, own, &own->levels[l], work);
    dfl_keep_level_fold(own, from, work);
    walk->absorbed += own->absorbed;
    for (uint32_t i = own->first; i < own->first + own->n; i++)
        if (all[i].seconds > beside) {
            beside = all[i].seconds;
            slowest = &all[i];
        }
    if (slowest && (beside > before || waiting > before))
        *bound = name_busiest(walk, slowest, &slowest->all);
}

/* Seconds of the busiest link of a class in the whole mapping; 0 for a port of a memory. */
static double link_seconds(const time_walk *walk, uint32_t r)
{
    const dfl_resource *resource = &walk->plan->resources[r];

    if (resource->memory != DFL_NONE)
        return 0;
    return dfl_i128_double(walk->plan->crossings->networks[resource->network].classes[resource->link].bits) /
           resource->rate[DFL_READ];
}

/* Raises the time of a body to that of its busiest resource; first tiles entering and last tiles leaving do not count.
   `before`: seconds of the work below the keeps of the body. `stalled`: seconds of stalls that are not part of the time
   yet. Returns the limit. */
static double limit_by_resources(const time_walk *walk, const dfl_body *body, double before, double stalled,
                               dfl_work_time *work, const char **bound)
{
    const dfl_body_time *own = &walk->plan->bodies[body->id];
    double *row = clear_row(walk);

    bool streams = false;

    for (uint32_t i = own->below; i < own->first + own->n; i++) {
        const dfl_transfer *t = &walk->plan->transfers[i];
        for (uint32_t u = 0; u < t->n_uses; u++)
            row[t->uses[u].resource] += t->uses[u].all / t->uses[u].peak;
        streams |= t->stream;
    }
    for (uint32_t i = 0; i < body->n_einsums; i++)
        add_operands(walk, body->einsums[i], row);
    for (uint32_t r = 0; r < walk->plan->n_resources && body->parent == NULL; r++) {
        double busy = link_seconds(walk, r); /* transfers may have different busiest links */
        row[r] = walk->plan->resources[r].memory == DFL_NONE && busy < row[r] ? busy : row[r];
    }
    double least = find_busiest(walk, before, row, bound);
    if (body->parent == NULL && !streams && !walk->nest->mapping->options.overlap_perfect)
        return least; /* the limit of the whole mapping includes first and last tiles, which may be beside other transfers */
    work->seconds = least > work->seconds + stalled ? least - stalled : work->seconds;
    work->full = work->seconds > work->full ? work->seconds : work->full;
    return least;
}

/* Seconds for which the unit of an einsum waits for the first operands of a pass. */
static double find_operand_latency(const time_walk *walk, uint32_t e)
{
    const dfl_einsum_time *t = &walk->plan->einsums[e];
    const uint32_t *of = walk->plan->crossings->of_operand;
    double longest = t->latency;

    for (uint32_t i = 0; i < t->n_ports && walk->plan->waits_for_links; i++) {
        const dfl_operand_port *p = &t->ports[i];
        double latency = p->latency + dfl_time_links_latency(walk->nest, walk->plan, of[p->operand], of[p->operand + 1], false);
        longest = !p->output && latency > longest ? latency : longest;
    }
    return longest;
}

/* Sets the work on all passes of the loops from step `end` on. `row`: seconds of the operands at all resources. Results that
   find no value are not read. If loops outside repeat the updates of a result, the first pass over its elements finds fewer
   values than the others. */
static void find_work(const time_walk *walk, uint32_t e, uint32_t end, double *row, const char **bound, dfl_work_time *work)
{
    const dfl_einsum_time *t = &walk->plan->einsums[e];
    const dfl_loop_sizes *sizes = &walk->nest->sizes[e];
    const dfl_operand_port *result = NULL;
    double first = 1;

    work->seconds = find_busiest(walk, walk->einsums[e].compute_seconds, row, bound);
    work->full = work->seconds / work->ratio;
    for (uint32_t i = 0; i < t->n_ports; i++)
        result = t->ports[i].output ? &t->ports[i] : result;
    uint64_t outside = walk->nest->mapping->options.overlap_perfect ? 0 : dfl_nest_steps_below(end);
    for (uint64_t left = t->repeats & sizes->moving & outside; left; left &= left - 1)
        first /= (double)sizes->trips[__builtin_ctzll(left)];
    if (!result || first >= 1 || result->seconds[DFL_READ] <= 0 || result->moved[DFL_READ] >= result->moved[DFL_WRITE])
        return;
    /* shares of the updates that read: of all, and of those in first passes */
    double share = result->moved[DFL_READ] / result->moved[DFL_WRITE], early = 1 - (1 - share) / first;
    uint32_t read = result->resource[DFL_READ];
    double all = result->seconds[DFL_READ] / share, others = row[read] - result->seconds[DFL_READ];
    const char *unused = NULL;
    if (early < 0) { /* some passes find no value for other reasons, too */
        first = 1 - share;
        early = 0;
    }
    row[read] = others + early * all;
    work->seconds = first * find_busiest(walk, walk->einsums[e].compute_seconds, row, &unused);
    row[read] = others + all;
    double late = find_busiest(walk, walk->einsums[e].compute_seconds, row, &unused);
    work->seconds += (1 - first) * late;
    work->full = late / work->ratio;
    work->ratio *= share;
}

/* Work of an einsum below its innermost keeps: the passes of the loops from step `end` on. Operands take their latency once per
   pass. `passes`: number of these passes. */
static dfl_work_time leaf_work(time_walk *walk, uint32_t e, uint32_t end, double passes, const char **bound)
{
    const dfl_nest *nest = walk->nest;
    const dfl_loop_sizes *sizes = &nest->sizes[e];
    double steps = dfl_i128_double(walk->sums->steps[e]), nominal = (double)sizes->steps[nest->paths->paths[e].n_steps];
    double *row = clear_row(walk);
    dfl_work_time work;

    *bound = dfl_sym_text(nest->names, nest->system->computes[nest->paths->paths[e].compute].name);
    find_operands(walk, e);
    if (passes > 1 && !nest->mapping->options.overlap_perfect && have_uneven_passes(nest, e, end))
        add_most_operands(walk, e, row);
    else
        add_operands(walk, e, row);
    work.ratio = steps > 0 && nominal > steps ? steps / nominal : 1;
    find_work(walk, e, end, row, bound, &work);
    work.even = work.ratio < 1 || (double)sizes->steps[end] != passes ? 0 : walk->einsums[e].compute_seconds;
    if (!nest->mapping->options.overlap_perfect) {
        double latency = passes * find_operand_latency(walk, e);
        work.seconds += latency;
        work.full += latency;
    }
    return work;
}

static double stalled_seconds(const dfl_body_time *own)
{
    double all = 0;

    for (uint64_t left = own->stalls.loops; left; left &= left - 1) {
        uint32_t j = (uint32_t)__builtin_ctzll(left);
        all += own->advances[j] * (own->stalls.seconds[DFL_OUT][j] + own->stalls.seconds[DFL_IN][j]);
    }
    return all;
}

/* Adds the stalls of a child of `fuse` at the loops around it to those of the body around. */
static void add_child_stalls(const dfl_stalls *child, dfl_stalls *to)
{
    for (uint64_t left = child->loops; left; left &= left - 1) {
        uint32_t j = (uint32_t)__builtin_ctzll(left);
        bool known = to->loops >> j & 1;
        for (uint32_t way = 0; way < 2; way++) {
            to->seconds[way][j] = (known ? to->seconds[way][j] : 0) + child->seconds[way][j];
            to->full[way][j] = (known ? to->full[way][j] : 0) + child->full[way][j];
        }
        to->part[j] = known && to->part[j] < child->part[j] ? to->part[j] : child->part[j];
        to->loops |= UINT64_C(1) << j;
    }
}

/* Time of a body without the stalls at the loops around its levels, which remain in the stalls of the body. `stopped`: the
   loops at which a keep around the body stops the work. `from`: first step below the levels of the bodies around. */
static dfl_work_time body_work(time_walk *walk, const dfl_body *body, uint64_t stopped, uint32_t from)
{
    dfl_body_time *own = &walk->plan->bodies[body->id];
    dfl_work_time work = { 0, 0, 1, 0 }, slowest = work, all = work;
    const char *bound = "nothing";
    uint64_t inside = stopped;

    own->stalls.loops = 0;
    own->ends[DFL_OUT] = own->ends[DFL_IN] = 0;
    if (!fill_transfers(walk, own, stopped)) {
        walk->ok = false;
        return work;
    }
    double iterations = set_loops(walk, own, walk->nest->numbers->step[body->id][body->n_lines]), most = 0;
    from = own->apart > from ? own->apart : from;
    uint32_t end = find_level_loops(walk, own, from);
    for (uint32_t i = own->first; i < own->first + own->n; i++)
        if (walk->plan->transfers[i].waited)
            inside |= walk->plan->transfers[i].stops;
    if (body->kind == DFL_BODY_LEAF)
        work = leaf_work(walk, body->einsums[0], end, own->positions[end], &bound);
    for (uint32_t i = 0; i < body->n_children; i++) {
        dfl_work_time child = body_work(walk, body->children[i], inside, end);
        dfl_body_time *theirs = &walk->plan->bodies[body->children[i]->id];
        if (body->kind == DFL_BODY_PIPELINE)
            dfl_keep_level_fold(theirs, 0, &child);
        else
            add_child_stalls(&theirs->stalls, &own->stalls);
        double seconds = child.seconds + stalled_seconds(theirs);
        all.seconds += child.seconds;
        all.full += child.full;
        all.ratio = child.ratio < all.ratio ? child.ratio : all.ratio;
        slowest.full = child.full > slowest.full ? child.full : slowest.full;
        if (seconds >= most) {
            most = slowest.seconds = seconds;
            bound = walk->plan->bound[body->children[i]->id];
        }
    }
    if (body->kind == DFL_BODY_FUSE)
        work = all;
    if (body->kind == DFL_BODY_PIPELINE) {
        work.seconds = slowest.seconds + (iterations > 0 ? (all.seconds - slowest.seconds) / iterations : 0);
        work.ratio = all.ratio;
        work.full = slowest.full + (iterations > 0 ? (all.full - slowest.full) / iterations : 0);
    }
    walk->work = work.seconds;
    add_levels(walk, own, from, &work, &bound);
    double stalled = stalled_seconds(own);
    double least = limit_by_resources(walk, body, walk->work, stalled, &work, &bound);
    walk->plan->bound[body->id] = bound;
    if (body->kind == DFL_BODY_LEAF) {
        walk->einsums[body->einsums[0]].seconds = work.seconds + stalled > least ? work.seconds + stalled : least;
        walk->einsums[body->einsums[0]].bound_by = bound;
    }
    return work;
}

/* Adds seconds of reads and writes at the memory of a keep. `busy`: [keep]: seconds at the instances of the first keep that
   stands there. */
static void add_seconds(const time_walk *walk, uint32_t keep, double read, double written, dfl_ports *busy, double *row)
{
    const uint32_t *ports = walk->plan->ports[keep];

    busy[walk->plan->beside[keep]] += (dfl_ports){ read, written };
    if (ports[DFL_READ] != DFL_NONE)
        row[ports[DFL_READ]] += read;
    if (ports[DFL_WRITE] != DFL_NONE)
        row[ports[DFL_WRITE]] += written;
}

/* Adds the seconds of a transfer at its memories with an efficiency. */
static void add_stretched(const time_walk *walk, const dfl_transfer *transfer, const dfl_moves *amounts, dfl_ports *busy,
                          double *row)
{
    for (uint32_t u = 0; u < transfer->first_link; u++) {
        const dfl_use *use = &transfer->uses[u];
        uint32_t keep = use->end == DFL_INNER ? transfer->keep : walk->keeps->at[transfer->keep].parent;
        double in = use->in * amounts->in[use->end], read = use->out_read * amounts->out[use->end];
        double written = (use->out - use->out_read) * amounts->out[use->end];
        if (transfer->share_of[use->end] != NULL)
            add_seconds(walk, keep, use->end == DFL_OUTER ? in + read : read, use->end == DFL_INNER ? in : written, busy, row);
    }
}

/* Adds the seconds at the memories with an efficiency. */
static void add_all_stretched(const time_walk *walk, dfl_ports *busy, double *row)
{
    const dfl_time_plan *plan = walk->plan;

    for (uint32_t i = 0; i < plan->n_transfers; i++) {
        if (plan->transfers[i].share_of[DFL_INNER] == NULL && plan->transfers[i].share_of[DFL_OUTER] == NULL)
            continue;
        add_stretched(walk, &plan->transfers[i], &plan->transfers[i].all, busy, row);
        if (!walk->nest->mapping->options.overlap_perfect)
            add_stretched(walk, &plan->transfers[i], &plan->transfers[i].ends, busy, row);
    }
    for (uint32_t e = 0; e < walk->nest->workload->n_einsums; e++)
        for (uint32_t i = 0; i < plan->einsums[e].n_ports; i++) {
            const dfl_operand_port *p = &plan->einsums[e].ports[i];
            if (has_efficiency(walk, plan->memory[p->keep]))
                add_seconds(walk, p->keep, p->seconds[DFL_READ], p->seconds[DFL_WRITE], busy, row);
        }
}

/* Raises the time of the whole mapping to the time of the busiest resource, and sets the port times of the memories. */
static void limit_whole_by_resources(const time_walk *walk, dfl_result *result, dfl_memory_cost *memories)
{
    const dfl_time_plan *plan = walk->plan;
    double *row = clear_row(walk);

    memset(plan->busy, 0, walk->keeps->n * sizeof *plan->busy);
    for (uint32_t m = 0; m < walk->nest->system->n_memories; m++)
        memories[m].read_seconds = memories[m].write_seconds = 0;
    for (uint32_t i = 0; i < walk->keeps->n; i++) {
        const dfl_counts *n = &walk->sums->busiest[i];
        uint32_t memory = plan->memory[i], read = plan->ports[i][DFL_READ], write = plan->ports[i][DFL_WRITE];
        if (plan->stretched && has_efficiency(walk, memory))
            continue;
        if (read != DFL_NONE) {
            dfl_i128 drains = walk->nest->system->memories[memory].free_drains ? 0 : n->drain;
            double reads = dfl_i128_double(n->serve + drains + n->accumulate) * plan->bits[i];
            double seconds = reads / plan->resources[read].rate[DFL_READ];
            plan->busy[plan->beside[i]][DFL_READ] += seconds;
            row[read] += seconds;
        }
        if (write != DFL_NONE) {
            double writes = dfl_i128_double(n->fill + n->update) * plan->bits[i];
            double seconds = writes / plan->resources[write].rate[DFL_WRITE];
            plan->busy[plan->beside[i]][DFL_WRITE] += seconds;
            row[write] += seconds;
        }
    }
    if (plan->stretched)
        add_all_stretched(walk, plan->busy, row);
    for (uint32_t i = 0; i < walk->keeps->n; i++) {
        dfl_memory_cost *memory = &memories[plan->memory[i]];
        memory->read_seconds = fmax(memory->read_seconds, plan->busy[i][DFL_READ]);
        memory->write_seconds = fmax(memory->write_seconds, plan->busy[i][DFL_WRITE]);
    }
    for (uint32_t r = 0; r < plan->n_resources; r++)
        if (plan->resources[r].memory == DFL_NONE)
            row[r] = link_seconds(walk, r);
    double total = result->seconds;
    result->seconds = find_busiest(walk, result->seconds, row, &result->bound_by);
    if (total > walk->work)
        find_busiest(walk, walk->work, row, &result->bound_by);
}

bool dfl_time_count(dfl_nest *nest, const dfl_keep_tree *keeps, const dfl_time_plan *plan, const dfl_traffic_sums *sums,
                    dfl_result *result, dfl_einsum_cost *einsums, dfl_memory_cost *memories)
{
    time_walk c = { .nest = nest, .keeps = keeps, .plan = plan, .sums = sums, .einsums = einsums, .ok = true };
    const dfl_body *root = nest->mapping->root;
    double work = 0;

    for (uint32_t e = 0; e < nest->workload->n_einsums; e++)
        einsums[e].compute_seconds = unit_seconds(&c, e);
    result->seconds = body_work(&c, root, 0, 0).seconds;
    result->bound_by = plan->bound[root->id];
    if (c.ok && !nest->mapping->options.overlap_perfect)
        add_ends(&c, result);
    limit_whole_by_resources(&c, result, memories);
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
