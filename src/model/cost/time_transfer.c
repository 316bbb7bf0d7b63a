/* Elements of transfers by loop, and the fractions of them that carry values. */
#include "model/cost/time_transfer.h"

#include <float.h>

#include "model/cost/time_links.h"

static inline double find_ratio(dfl_i128 part, dfl_i128 whole)
{
    if (part == whole) /* fast path for the most frequent case */
        return part > 0;
    return part != 0 && whole > 0 ? dfl_i128_double(part) / dfl_i128_double(whole) : 0;
}

/* Sets the seconds that an element takes at each resource. Only a fraction of the elements that enter and leave carry
   values. These fractions are unknown for single loops, so each loop gets the fraction of the keep's whole count. */
static void set_use_times(const dfl_time_plan *plan, const dfl_traffic_sums *sums, dfl_transfer *transfer)
{
    const dfl_counts *n = &sums->busiest[transfer->keep], *up = &sums->outer_busiest[transfer->keep];
    const dfl_delta *mine = transfer->mine, *theirs = transfer->theirs;
    double filled = find_ratio(n->fill, mine->enter), served = find_ratio(up->serve, theirs->enter);
    double drained = 0, added = 0, updated = 0;

    transfer->filled = transfer->in_part[DFL_INNER] = filled;
    transfer->in_part[DFL_OUTER] = served;
    transfer->fetches = filled > 0 || served > 0;

    if (transfer->written) {
        drained = transfer->free_drains ? 0 : find_ratio(n->drain, mine->leave);
        added = find_ratio(up->accumulate, theirs->leave);
        updated = find_ratio(up->update, theirs->leave);
    }
    transfer->out_part[DFL_INNER] = drained;
    transfer->out_part[DFL_OUTER] = added + updated;
    for (uint32_t u = transfer->first_link; u < transfer->n_uses; u++)
        dfl_time_links_set_use(plan, transfer, &transfer->uses[u]);
    for (uint32_t u = 0; u < transfer->first_link; u++) {
        dfl_use *use = &transfer->uses[u];
        const double *rate = plan->resources[use->resource].rate;
        double read = 0, written = 0;
        use->in = 0;
        if (use->what & DFL_USE_FILL)
            use->in = transfer->bits * filled / rate[DFL_WRITE];
        if (use->what & DFL_USE_SERVE)
            use->in += transfer->bits * served / rate[DFL_READ];
        use->out = use->out_read = 0;
        if (!transfer->written)
            continue;
        read += use->what & DFL_USE_DRAIN ? drained : 0;
        read += use->what & DFL_USE_ADD ? added : 0;
        written += use->what & DFL_USE_UPDATE ? updated : 0;
        use->out_read = transfer->bits * read / rate[DFL_READ];
        use->out = use->out_read + transfer->bits * written / rate[DFL_WRITE];
    }
}

static void add_amounts(dfl_moves *to, const dfl_moves *from, double times)
{
    for (uint32_t end = 0; end < 2; end++) {
        to->in[end] += times * from->in[end];
        to->out[end] += times * from->out[end];
    }
}

static dfl_moves both_ways(double inner, double outer) { return (dfl_moves){ { inner, outer }, { inner, outer } }; }

/* Sets the elements that enter and leave a tile at one end when loop `j` advances; for j = footprint->n, those of the
   first and of the last tile. */
static void read_change(const dfl_delta *delta, uint32_t j, uint32_t end, dfl_moves *out)
{
    bool moves = j == delta->footprint->n || delta->active >> j & 1;

    out->in[end] = moves ? dfl_i128_double(delta->entering_by_step[j]) : 0;
    out->out[end] = moves ? dfl_i128_double(delta->leaving_by_step[j]) : 0;
}

static bool takes_time(const dfl_transfer *transfer, const dfl_moves *amounts)
{
    return transfer->latency[DFL_IN] + transfer->latency[DFL_OUT] > 0 || dfl_transfer_seconds(transfer, amounts, DFL_IN) > 0 ||
           dfl_transfer_seconds(transfer, amounts, DFL_OUT) > 0;
}

/* Number of loads of a transfer whose tiles are all even, without the first load. Every loop outside of the innermost loop that
   moves the tile also moves the tile. So the number is the product of the iterations of all these loops and of that loop, less
   1. */
static double count_loads(const dfl_transfer *transfer, uint64_t loops)
{
    uint64_t positions = loops ? transfer->steps[64 - (uint32_t)__builtin_clzll(loops)] : 1;
    double loads = 0;

    if (positions < (UINT64_C(1) << DBL_MANT_DIG))
        return (double)(int64_t)(positions - 1);
    for (uint64_t left = loops; left; left &= left - 1) { /* not exact: rounded as the sum of the loops */
        uint32_t j = (uint32_t)__builtin_ctzll(left);
        loads += (double)(int64_t)(transfer->steps[j + 1] - transfer->steps[j]);
    }
    return loads;
}

static void fill_even(dfl_transfer *transfer)
{
    double loads = count_loads(transfer, transfer->mine->active | transfer->theirs->active);

    transfer->each = transfer->ends = both_ways((double)transfer->mine->size, (double)transfer->theirs->size);
    transfer->all = dfl_moves_scaled(&transfer->each, loads);
}

static void fill_uneven(dfl_transfer *transfer)
{
    const dfl_delta *mine = transfer->mine, *theirs = transfer->theirs;

    double first = dfl_i128_double(mine->entering_by_step[transfer->step]), largest = dfl_i128_double(mine->largest);
    double outer = dfl_i128_double(theirs->entering_by_step[transfer->step]);

    transfer->each = both_ways(largest, first > 0 && first < largest ? outer * largest / first : outer);
    transfer->lasting = 0;
    transfer->all = (dfl_moves){ { 0, 0 }, { 0, 0 } };
    for (uint64_t left = mine->active | theirs->active; left; left &= left - 1) {
        uint32_t j = (uint32_t)__builtin_ctzll(left);
        dfl_moves *a = &transfer->by_loop[j];
        read_change(mine, j, DFL_INNER, a);
        read_change(theirs, j, DFL_OUTER, a);
        transfer->lasting |= takes_time(transfer, a) ? UINT64_C(1) << j : 0;
        add_amounts(&transfer->all, a, 1);
    }
    read_change(mine, transfer->step, DFL_INNER, &transfer->ends);
    read_change(theirs, transfer->step, DFL_OUTER, &transfer->ends);
}

/* Finds the fraction of the entries at each loop that find a value: an element has one if an earlier iteration of a loop in
   `repeats` has added to it. The first entry of all finds none. The fractions are used only if they give the count of all
   fills. */
static void find_shares(dfl_transfer *transfer, const dfl_loop_sizes *sizes, dfl_i128 fills)
{
    uint64_t loops = transfer->mine->active | transfer->theirs->active, repeats = transfer->repeats & sizes->moving;
    double sum = 0, earlier = 1;

    transfer->again = transfer->share && transfer->filled > 0 && transfer->filled < 1 && !transfer->share_of[DFL_INNER] &&
                      !transfer->share_of[DFL_OUTER];
    if (!transfer->again)
        return;
    /* in a product, every temporal loop with more than one iteration moves the tile or repeats it */
    uint64_t which = transfer->even ? sizes->temporal & sizes->moving : UINT64_MAX;
    for (uint64_t left = which & dfl_nest_steps_below(transfer->step); left; left &= left - 1) {
        uint32_t j = (uint32_t)__builtin_ctzll(left);
        bool repeated = repeats >> j & 1;
        double share = repeated ? 1 : 1 - 1 / earlier;
        earlier *= repeated ? (double)sizes->trips[j] : 1;
        transfer->share[j] = share / transfer->filled;
        if (!(loops >> j & 1))
            continue;
        double times = (double)(int64_t)(transfer->steps[j + 1] - transfer->steps[j]);
        sum += share * (transfer->even ? times * transfer->each.in[DFL_INNER] : transfer->by_loop[j].in[DFL_INNER]);
    }
    double all = dfl_i128_double(fills);
    transfer->again = sum <= all * (1 + 1e-9) && sum >= all * (1 - 1e-9);
    if (!transfer->again)
        return;
    transfer->ends.in[DFL_INNER] = transfer->ends.in[DFL_OUTER] = 0;
    double more = all / transfer->filled / transfer->all.in[DFL_INNER]; /* all fills belong to loops */
    transfer->all.in[DFL_INNER] *= more;
    transfer->all.in[DFL_OUTER] *= more;
}

double dfl_efficiency_stretch(dfl_nest *nest, const dfl_efficiency *e, double bits)
{
    double share = e != NULL && bits > 0 ? dfl_efficiency_share(e, bits) : 1;

    if (share > 0)
        return 1 / share;
    dfl_diag *d = dfl_report(nest->sink, DFL_SYS_EFFICIENCY_SMALL, e->span,
                             "a transfer has %.6g bit, less than the first point of this efficiency", bits);
    dfl_diag_help(nest->sink, d, "give the efficiency a first point at the smallest transfer, for example at 0");
    return 0;
}

/* Stretches the elements of `times` transfers to their shares of the bandwidths: they become those that move at full
   bandwidth in the same time. False after E0509. */
static bool stretch_amounts(dfl_nest *nest, const dfl_transfer *transfer, double times, dfl_moves *amounts)
{
    for (uint32_t end = 0; end < 2; end++) {
        double moved = amounts->in[end] * transfer->in_part[end] + amounts->out[end] * transfer->out_part[end];
        double stretch = dfl_efficiency_stretch(nest, transfer->share_of[end], moved * transfer->bits / times);
        if (stretch == 0)
            return false;
        amounts->in[end] *= stretch;
        amounts->out[end] *= stretch;
    }
    return true;
}

/* Stretches a transfer, and sums its loops anew. False after E0509. */
static bool stretch_transfer(dfl_nest *nest, dfl_transfer *transfer)
{
    uint64_t loops = transfer->mine->active | transfer->theirs->active;

    if (transfer->even)
        transfer->lasting = takes_time(transfer, &transfer->each) ? loops : 0;
    transfer->all = (dfl_moves){ { 0, 0 }, { 0, 0 } };
    for (uint64_t left = loops; left; left &= left - 1) {
        uint32_t j = (uint32_t)__builtin_ctzll(left);
        double times = (double)(int64_t)(transfer->steps[j + 1] - transfer->steps[j]);
        if (transfer->even)
            transfer->by_loop[j] = dfl_moves_scaled(&transfer->each, times);
        if (!stretch_amounts(nest, transfer, times, &transfer->by_loop[j]))
            return false;
        add_amounts(&transfer->all, &transfer->by_loop[j], 1);
    }
    transfer->even = false;
    /* smaller transfers reach smaller shares: an upper limit needs the largest stretch, which is not known */
    return stretch_amounts(nest, transfer, 1, &transfer->each) && stretch_amounts(nest, transfer, 1, &transfer->ends);
}

/* Number of tiles of a result between two visits of one tile: the iterations of the loops that move it, inside of the
   innermost loop that brings it back. */
static double count_between(const dfl_transfer *transfer, const dfl_loop_sizes *sizes)
{
    uint64_t loops = transfer->mine->active | transfer->theirs->active, repeats = transfer->repeats & sizes->moving;
    double tiles = 1;

    for (uint32_t j = transfer->step; j-- > 0;) {
        if (repeats >> j & 1 && tiles > 1)
            return tiles;
        if (loops >> j & 1 && !(repeats >> j & 1))
            tiles *= (double)sizes->trips[j];
    }
    return tiles;
}

/* Sets the seconds of the uses of a transfer: of all loops, and for an even transfer, of one load. */
static void set_seconds(dfl_transfer *transfer)
{
    dfl_moves load = transfer->each;
    bool lasts = transfer->latency[DFL_IN] + transfer->latency[DFL_OUT] > 0;
    double longest = 0;

    for (uint32_t end = 0; end < 2 && transfer->again; end++)
        load.in[end] *= 1 / transfer->filled;
    for (uint32_t u = 0; u < transfer->n_uses; u++) {
        dfl_use *use = &transfer->uses[u];
        double in = use->in * load.in[use->end], out = use->out * load.out[use->end];
        use->all = use->out * transfer->all.out[use->end] + use->in * transfer->all.in[use->end];
        longest = use->all > longest ? use->all : longest;
        transfer->load[DFL_IN][use->local] = in;
        transfer->load[DFL_OUT][use->local] = out;
        transfer->load[DFL_BOTH][use->local] = in + out;
        lasts |= in + out > 0;
    }
    transfer->seconds = longest;
    if (transfer->even)
        transfer->lasting = lasts ? transfer->mine->active | transfer->theirs->active : 0;
}

/* Tells whether all advances of one loop move equally many elements. Instances with smaller pieces of a rank differ from the
   others, but not from step to step unless a temporal loop cuts these pieces. */
static bool is_uniform(const dfl_nest *nest, uint32_t e, uint64_t ragged_at)
{
    const dfl_loop_sizes *sizes = &nest->sizes[e];
    uint64_t ragged = sizes->ragged & ragged_at;

    if (ragged == 0 || ragged_at == UINT64_MAX)
        return ragged_at != UINT64_MAX;
    for (uint32_t i = 0; i < nest->workload->einsums[e].n_ranks; i++) {
        uint64_t cuts = nest->cuts[e][i], short_cuts = cuts & ragged;
        uint64_t from = short_cuts ? ~((short_cuts & (~short_cuts + 1)) - 1) : 0;
        if (cuts & from & ragged_at & sizes->temporal & sizes->moving)
            return false;
    }
    return true;
}

static inline bool fill_transfer(dfl_nest *nest, const dfl_time_plan *plan, const dfl_traffic_sums *sums, dfl_transfer *transfer)
{
    const dfl_delta *mine = transfer->mine, *theirs = transfer->theirs;
    const dfl_loop_sizes *sizes = &nest->sizes[mine->footprint->product.einsum];

    if (!dfl_delta_fill(nest, transfer->mine) || !dfl_delta_fill(nest, transfer->theirs))
        return false;
    set_use_times(plan, sums, transfer);
    for (uint32_t way = 0; plan->waits_for_links && way < 2; way++)
        transfer->latency[way] = transfer->memory_latency +
                                 dfl_time_links_latency(nest, plan, plan->crossings->of_keep[transfer->keep],
                                                        plan->crossings->of_keep[transfer->keep + 1], way == DFL_OUT);
    transfer->even = mine->is_even && theirs->is_even;
    transfer->uniform = transfer->even || is_uniform(nest, mine->footprint->einsum, transfer->ragged_at);
    transfer->spread = !transfer->uniform && !is_uniform(nest, mine->footprint->einsum, transfer->spread_at);
    if (transfer->even)
        fill_even(transfer);
    else
        fill_uneven(transfer);
    if ((transfer->share_of[DFL_INNER] || transfer->share_of[DFL_OUTER]) && !stretch_transfer(nest, transfer))
        return false;
    find_shares(transfer, sizes, sums->busiest[transfer->keep].fill);
    transfer->close = transfer->written && transfer->filled > 0 &&
                      (transfer->repeats == 0 || count_between(transfer, sizes) <= 2);
    if (nest->mapping->options.overlap_perfect)
        add_amounts(&transfer->all, &transfer->ends, 1);
    set_seconds(transfer);
    transfer->stops = 0;
    return true;
}

bool dfl_transfers_fill(dfl_nest *nest, const dfl_time_plan *plan, const dfl_traffic_sums *sums, dfl_transfer *transfers,
                        uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!fill_transfer(nest, plan, sums, &transfers[i]))
            return false;
    return true;
}
