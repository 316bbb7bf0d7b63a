/*
 * What Timeloop charges for a mapping in another way than dflc does for the imported file: whole vectors of words, and old sums
 * that every instance of a group gets back. The amounts come from the counts of Timeloop, in closed form for factors that divide;
 * other mappings get a remark without amounts.
 */
#include "import/timeloop/timeloop_internal.h"

#include <math.h>
#include <stdlib.h>

#include "support/limits.h"

/* Counts of a tensor at a level, in words. */
typedef struct {
    double asked;     /* words that one instance of the level provides, or for a result, takes */
    double fetched;   /* words that the instances below one instance receive in total */
    double received;  /* words that one instance receives from outside */
    double partition; /* share of the tensor that belongs to one instance */
    double copies;    /* instances of the level that share what they receive, at least 1 */
    double common;    /* share of `asked` that instances of several levels have in common, but Timeloop sends to each */
    bool overlap;     /* parts of what instances receive are the same: the source sends them to each, the result once */
} flow;

/* Smallest difference that is reported, as a share of the energy of the run. */
static const double least_share = 0.001;

/* ---- tiles ---- */

/* Extent of a rank inside of a level's loops; `with_spatial` = also inside of its spatial loops. */
static double extent_of(const dfl_tl_file *f, const dfl_tl_rank *rank, uint32_t level, bool with_spatial)
{
    double extent = 1;

    for (uint32_t i = 0; i < rank->n_terms; i++)
        extent += (double)llabs(rank->terms[i].coef) * (double)(dfl_tl_tile(f, rank->terms[i].dim, level, with_spatial) - 1);
    return extent;
}

/* Elements of the tensor's bounding box inside of the temporal loops of a level. */
static double box_of(const dfl_tl_file *f, uint32_t tensor, uint32_t level, bool with_spatial)
{
    const dfl_tl_tensor *t = &f->tensors[tensor];
    double box = 1;

    for (uint32_t r = 0; r < t->n_ranks; r++)
        box *= extent_of(f, &t->ranks[r], level, with_spatial);
    return box;
}

/* Elements of a rank that one iteration of a loop of a level moves on. */
static double shift_of(const dfl_tl_file *f, const dfl_tl_rank *rank, uint32_t level, bool is_spatial, const dfl_tl_loop *loop)
{
    double shift = 0;

    for (uint32_t i = 0; i < rank->n_terms; i++) {
        if (rank->terms[i].dim == loop->dim)
            shift += (double)rank->terms[i].coef * (double)dfl_tl_tile(f, loop->dim, level, !is_spatial);
    }
    return shift;
}

/* Elements that a box has in common with itself, moved by `by[r]` along each rank. */
static double overlap_of(const dfl_tl_file *f, uint32_t tensor, uint32_t level, const double *by)
{
    const dfl_tl_tensor *t = &f->tensors[tensor];
    double common = 1;

    for (uint32_t r = 0; r < t->n_ranks; r++)
        common *= fmax(extent_of(f, &t->ranks[r], level, false) - fabs(by[r]), 0);
    return common;
}

/* ---- counts ---- */

/* The movement of a tile over the loops around it. */
typedef struct {
    double *sum;   /* by rank: the movement by one step of every loop so far */
    double *first; /* by rank: the movement by the innermost loop that moves the tile */
    double *by;    /* by rank: the movement at a step of the loop at hand */
    bool moved;    /* a loop moves the tile */
} movement;

/* Words of the tile that Timeloop fetches at a step of the loop. It keeps what stays while the tile moves by the same vector
   as in the innermost loop, or not at all, and else fetches everything. */
static double fetched_at(const dfl_tl_file *f, uint32_t tensor, uint32_t k, double tile, movement *m, uint32_t level,
                         const dfl_tl_loop *loop)
{
    const dfl_tl_tensor *t = &f->tensors[tensor];
    bool moves = false, still = true, same = true;

    for (uint32_t r = 0; r < t->n_ranks; r++) {
        double shift = shift_of(f, &t->ranks[r], level, false, loop);

        moves |= shift != 0;
        m->by[r] = shift - m->sum[r];
        m->sum[r] += shift;
        m->first[r] = m->moved ? m->first[r] : shift;
        still &= m->by[r] == 0;
        same &= m->by[r] == m->first[r];
    }
    m->moved |= moves;
    /* A multiplier holds no operand from step to step. */
    if (k == 0 || (f->levels[k - 1].no_temporal_reuse >> tensor & 1) != 0)
        return tile;
    return !m->moved || still ? 0 : same ? tile - overlap_of(f, tensor, k, m->by) : tile;
}

/* Words that one instance inside of level `k` receives over all steps. */
static double received_inside(const dfl_tl_file *f, uint32_t tensor, uint32_t k)
{
    uint32_t ranks = f->tensors[tensor].n_ranks + 1;
    movement m = { DFL_NEW_ARRAY(f->report->arena, double, ranks), DFL_NEW_ARRAY(f->report->arena, double, ranks),
                   DFL_NEW_ARRAY(f->report->arena, double, ranks), false };
    double tile = box_of(f, tensor, k, false), later = 0; /* words at all steps but the first */

    for (uint32_t level = k; level < f->n_levels; level++) {
        for (uint32_t i = 0; i < f->levels[level].n_temporal; i++) {
            const dfl_tl_loop *loop = &f->levels[level].temporal[i];

            later = later * (double)loop->full +
                    (double)(loop->full - 1) * fetched_at(f, tensor, k, tile, &m, level, loop);
        }
    }
    return tile + later;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* A number for the place of a tile that a step of the spatial loop of a level adds: places differ iff their numbers do. */
static double step_of(const dfl_tl_file *f, uint32_t tensor, uint32_t level, const dfl_tl_loop *loop, uint32_t outermost)
{
    const dfl_tl_tensor *t = &f->tensors[tensor];
    double step = 0;

    for (uint32_t r = 0; r < t->n_ranks; r++)
        step = step * (2 * extent_of(f, &t->ranks[r], outermost, true) + 1) + shift_of(f, &t->ranks[r], level, true, loop);
    return step;
}

/* Number of different tiles that the instances inside of the levels `from` to `to` hold at the same time, below one instance
   of level `to`; 0 = unknown. */
static int64_t count_tiles(const dfl_tl_file *f, uint32_t tensor, uint32_t from, uint32_t to)
{
    int64_t all = 1, different = 1, *place;

    for (uint32_t level = from; level <= to; level++) {
        int64_t row, used;

        dfl_tl_used(f, level, &row, &used);
        if (used > DFL_IMPORT_LINKED_UNITS / all)
            return 0;
        all *= used;
    }
    place = DFL_NEW_ARRAY(f->report->arena, int64_t, (size_t)all);
    all = 1;
    for (uint32_t level = from; level <= to; level++) {
        for (uint32_t i = 0; i < f->levels[level].n_spatial; i++) {
            const dfl_tl_loop *loop = &f->levels[level].spatial[i];
            double step = step_of(f, tensor, level, loop, to);

            if (!(fabs(step) * (double)loop->full < 0x1p50))
                return 0;
            for (int64_t id = all; id < all * loop->full; id++)
                place[id] = place[id - all] + (int64_t)step;
            all *= loop->full;
        }
    }
    qsort(place, (size_t)all, sizeof *place, by_size);
    for (int64_t id = 1; id < all; id++)
        different += place[id] != place[id - 1];
    return different;
}

/* The same below one instance of level `k` alone; without reuse every instance has a tile of its own. */
static int64_t tiles_below(const dfl_tl_file *f, uint32_t tensor, uint32_t k)
{
    int64_t row, all;

    dfl_tl_used(f, k, &row, &all);
    return (f->levels[k].no_reuse >> tensor & 1) != 0 ? all : count_tiles(f, tensor, k, k);
}

/* A level that does not hold the tensor passes everything on to the next one outside. */
static void pass_on(const dfl_tl_file *f, uint32_t tensor, flow *flows)
{
    for (uint32_t k = 0; k + 1 < f->n_levels; k++) {
        int64_t row, all;
        double share;

        if ((f->levels[k].bypass >> tensor & 1) == 0)
            continue;
        dfl_tl_used(f, k + 1, &row, &all);
        share = flows[k].asked * (double)all / flows[k + 1].fetched;
        flows[k + 1].asked *= share;
        flows[k + 1].fetched *= share;
    }
}

/* Whether the level or one between it and the next one inside that holds the tensor does not share what it sends. */
static bool shares(const dfl_tl_file *f, uint32_t tensor, uint32_t from, uint32_t to)
{
    for (uint32_t level = from; level <= to; level++) {
        if ((f->levels[level].no_reuse >> tensor & 1) != 0)
            return false;
    }
    return true;
}

/* Whether tiles of level `inside` side by side may have a part in common: a step of a spatial loop of the levels `from` to `to`
   moves a tile by less than its length. */
static bool reaches_beside(const dfl_tl_file *f, uint32_t tensor, uint32_t inside, uint32_t from, uint32_t to)
{
    const dfl_tl_tensor *t = &f->tensors[tensor];

    for (uint32_t level = from; level <= to; level++) {
        for (uint32_t i = 0; i < f->levels[level].n_spatial; i++) {
            bool moves = false, meets = true;

            for (uint32_t r = 0; r < t->n_ranks; r++) {
                double shift = fabs(shift_of(f, &t->ranks[r], level, true, &f->levels[level].spatial[i]));

                moves |= shift != 0;
                meets &= shift < extent_of(f, &t->ranks[r], inside, false);
            }
            if (moves && meets)
                return true;
        }
    }
    return false;
}

static bool overlaps(const dfl_tl_file *f, uint32_t tensor, uint32_t from, uint32_t to)
{
    return reaches_beside(f, tensor, from, from, to);
}

/* The tiles that the levels `from` to `to` send if each shares only within itself; 0 = unknown. */
static int64_t tiles_apart(const dfl_tl_file *f, uint32_t tensor, uint32_t from, uint32_t to)
{
    int64_t tiles = 1;

    for (uint32_t k = from; k <= to; k++)
        if (__builtin_mul_overflow(tiles, count_tiles(f, tensor, k, k), &tiles))
            return 0;
    return tiles;
}

/* Sets what depends on two levels that hold the tensor, one inside of the other: the copies of the inner one, and what the
   outer one sends in common. The outermost level receives nothing. `first` = what one multiplier receives. */
static void pair_levels(const dfl_tl_file *f, uint32_t tensor, double first, flow *flows)
{
    double instances = 1, received = first; /* of the inner level: those in one instance of level k, and words of each */
    flow *inner = NULL;

    for (uint32_t k = 0, from = 0; k < f->n_levels; k++) {
        int64_t row, all, tiles;

        dfl_tl_used(f, k, &row, &all);
        instances *= (double)all;
        if ((f->levels[k].bypass >> tensor & 1) != 0)
            continue;
        tiles = shares(f, tensor, from, k) ? count_tiles(f, tensor, from, k) : 0;
        flows[k].overlap = tiles > 0 && overlaps(f, tensor, from, k);
        if (tiles > 0)
            flows[k].common = fmax(1 - (double)tiles * received / flows[k].asked, 0);
        if (inner != NULL)
            inner->copies = fmax(received * instances / flows[k].asked, 1);
        inner = &flows[k];
        received = inner->received;
        instances = 1;
        from = k + 1;
    }
    if (inner != NULL)
        inner->received = 0;
}

/* The counts of a tensor at all levels, the innermost first; false if some are unknown. */
static bool find_flows(const dfl_tl_file *f, uint32_t tensor, flow *out)
{
    double partition = 0, first = 0;

    for (uint32_t k = 0; k < f->n_levels; k++) {
        int64_t row, all, different = tiles_below(f, tensor, k);
        double received = received_inside(f, tensor, k);

        if (different == 0)
            return false;
        dfl_tl_used(f, k, &row, &all);
        out[k] = (flow){ .asked = received * (double)different, .fetched = received * (double)all, .copies = 1 };
        *(k > 0 ? &out[k - 1].received : &first) = received;
    }
    for (uint32_t k = f->n_levels; k-- > 0;) {
        double tile = box_of(f, tensor, k + 1, false);

        partition = k + 1 == f->n_levels ? tile : floor(partition * tile / box_of(f, tensor, k + 1, true));
        out[k].partition = partition;
    }
    pass_on(f, tensor, out);
    pair_levels(f, tensor, first, out);
    return true;
}

/* ---- energies ---- */

/* Energies of a level in pJ, over all instances. */
typedef struct {
    double vectors;  /* words of vectors that nothing reads or writes */
    double returned; /* old sums that more than one instance of a group gets */
    double halos;    /* words that several instances use, and that are read for each */
    bool overlap;    /* tiles side by side have parts in common, which are read for each: the amount is unknown */
} charge;

/* The counts of the source: of a result, the first value of each element is not read, and not filled. */
static dfl_tl_counts words_of(const dfl_tl_file *f, uint32_t tensor, const flow *flow_of)
{
    bool written = f->tensors[tensor].written;

    return (dfl_tl_counts){
        .reads = round(written ? flow_of->asked - flow_of->partition : flow_of->asked),
        .fills = flow_of->received == 0 ? 0 : written ? round(flow_of->received - flow_of->partition) : trunc(flow_of->received),
        .updates = written ? round(flow_of->asked) : 0,
    };
}

bool dfl_tl_has_rows(const dfl_tl_file *f, uint32_t level)
{
    const dfl_tl_level *l = &f->levels[level];
    int64_t row, all = 1;

    for (uint32_t k = level + 1; k < f->n_levels && f->mapping != NULL && all == 1; k++)
        dfl_tl_used(f, k, &row, &all);
    return f->mapping != NULL && f->priced && all == 1 && l->vector > 1 && l->vector == floor(l->vector) && !l->shares_rows &&
           l->vector * (double)f->word_bits < DFL_SEMA_MAX_COUNT;
}

/* Adds what a tensor costs at a level, without the parts that are rounded up to vectors. Returns that cost. */
static double charge_tensor(const dfl_tl_file *f, uint32_t tensor, uint32_t k, const flow *flow_of, double instances, charge *out)
{
    const dfl_tl_level *l = &f->levels[k];
    const dfl_tl_counts words = words_of(f, tensor, flow_of);
    bool written = f->tensors[tensor].written;
    double idle_reads = ceil(words.reads / l->vector) * l->vector - words.reads;
    double idle_writes = ceil(words.fills / l->vector) * l->vector - words.fills +
                         ceil(words.updates / l->vector) * l->vector - words.updates;

    if (!dfl_tl_has_rows(f, k))
        out->vectors += instances * (idle_reads * l->read_energy + idle_writes * l->write_energy);
    out->overlap |= !written && flow_of->overlap;
    out->halos += written ? 0 : instances * words.reads * flow_of->common * l->read_energy;
    if (written && flow_of->received > 0)
        out->returned += instances * fmax(flow_of->received - flow_of->partition, 0) * (1 - 1 / flow_of->copies) *
                         (l->read_energy + l->write_energy);
    return instances * (words.reads * l->read_energy + (words.fills + words.updates) * l->write_energy);
}

/* The charges of all levels and the energy of the run without leakage, in pJ; false if they are unknown. */
static bool find_charges(const dfl_tl_file *f, charge *charges, double *energy)
{
    flow *flows = DFL_NEW_ARRAY(f->report->arena, flow, f->n_levels);

    *energy = f->mac_energy;
    for (uint32_t d = 0; d < f->n_dims; d++)
        *energy *= (double)f->dims[d].bound;
    for (uint32_t t = 0; t < f->n_tensors; t++) {
        double instances = 1;

        if (!find_flows(f, t, flows))
            return false;
        for (uint32_t k = f->n_levels; k-- > 0;) {
            int64_t row, all;

            if ((f->levels[k].bypass >> t & 1) == 0)
                *energy += charge_tensor(f, t, k, &flows[k], instances, &charges[k]);
            dfl_tl_used(f, k, &row, &all);
            instances *= (double)all;
        }
    }
    for (uint32_t k = 0; k < f->n_levels; k++)
        *energy += charges[k].vectors;
    return true;
}

/* Whether the counts of the source are those of find_flows: factors that divide, and no directive that changes counts. */
static bool is_plain(const dfl_tl_file *f)
{
    for (uint32_t k = 0; k < f->n_levels; k++) {
        const dfl_tl_level *l = &f->levels[k];

        for (uint32_t i = 0; i < l->n_temporal + l->n_spatial; i++) {
            const dfl_tl_loop *loop = i < l->n_temporal ? &l->temporal[i] : &l->spatial[i - l->n_temporal];

            if (loop->full != loop->last)
                return false;
        }
        if (l->distributes || l->rmw_first != 0 || l->shares_rows)
            return false;
    }
    return true;
}

bool dfl_tl_count_words(const dfl_tl_file *f, uint32_t tensor, dfl_tl_counts *out)
{
    flow *flows = DFL_NEW_ARRAY(f->report->arena, flow, f->n_levels);

    if (!is_plain(f) || !find_flows(f, tensor, flows))
        return false;
    for (uint32_t k = 0; k < f->n_levels; k++)
        out[k] = words_of(f, tensor, &flows[k]);
    return true;
}

/* ---- what instances share ---- */

/* Whether all that instances of the levels `from` to `to` have in common are whole tiles within one level, as Timeloop counts.
   Levels without reuse share nothing. */
static bool shares_whole_tiles(const dfl_tl_file *f, uint32_t tensor, uint32_t from, uint32_t to)
{
    uint32_t sharing = 0, last = from;

    for (uint32_t k = from; k <= to; k++) {
        int64_t row, all;

        dfl_tl_used(f, k, &row, &all);
        if (all == 1 || (f->levels[k].no_reuse >> tensor & 1) != 0)
            continue;
        sharing++;
        last = k;
    }
    return sharing == 0 || (sharing == 1 && !reaches_beside(f, tensor, from, last, last));
}

/* Timeloop sends a tile once to the instances of a level that need the same tile, and a part of a tile to each. Where no two
   instances of a level need the same tile, the result gets a network that sends the tensor to each instance. */
static void split_shares(dfl_tl_file *f, uint32_t tensor, uint32_t from, uint32_t to)
{
    uint64_t one = UINT64_C(1) << tensor;
    uint32_t k = to + 1;

    while (k-- > from && !shares_whole_tiles(f, tensor, from, to)) {
        int64_t row, all;

        dfl_tl_used(f, k, &row, &all);
        if (all > 1 && (f->levels[k].no_reuse & one) == 0 && count_tiles(f, tensor, k, k) == all)
            f->levels[k].no_reuse |= f->levels[k].apart |= one;
    }
    if (shares_whole_tiles(f, tensor, from, to))
        return;
    for (k = from; k <= to; k++) {
        f->levels[k].no_reuse &= ~(f->levels[k].apart & one);
        f->levels[k].apart &= ~one;
    }
}

void dfl_tl_split_shares(dfl_tl_file *f)
{
    for (uint32_t t = 0; t < f->n_tensors && is_plain(f); t++) {
        for (uint32_t k = 0, from = 0; k < f->n_levels && !f->tensors[t].written; k++) {
            if ((f->levels[k].bypass >> t & 1) != 0)
                continue;
            if (shares(f, t, from, k) && (overlaps(f, t, from, k) || count_tiles(f, t, from, k) < tiles_apart(f, t, from, k)))
                split_shares(f, t, from, k);
            from = k + 1;
        }
    }
}

/* ---- reports ---- */

static void report_charge(dfl_tl_file *f, uint32_t k, double more, double energy, const char *what)
{
    if (fabs(more) >= least_share * energy)
        dfl_lose(f->report, DFL_FOREIGN_LOST, f->levels[k].span, "%s: Timeloop counts %.4g pJ %s (%.1f %%)", what,
                 fabs(more), more > 0 ? "more" : "less", 100 * fabs(more) / energy);
}

void dfl_tl_compare_charges(dfl_tl_file *f)
{
    dfl_arena *arena = f->report->arena;
    charge *charges = DFL_NEW_ARRAY(arena, charge, f->n_levels);
    double energy;

    if (f->energies == NULL || !is_plain(f) || !find_charges(f, charges, &energy))
        return;
    f->compared = true;
    for (uint32_t k = f->n_levels; k-- > 0;) {
        const char *name = f->levels[k].name;

        report_charge(f, k, charges[k].vectors, energy,
                      dfl_arena_printf(arena, "`%s` is accessed in whole vectors of %g words", name, f->levels[k].vector));
        if (charges[k].overlap)
            dfl_lose(f->report, DFL_FOREIGN_LOST, f->levels[k].span,
                     "instances side by side read what they share from `%s` once each: Timeloop counts more", name);
        else
            report_charge(f, k, charges[k].halos, energy,
                          dfl_arena_printf(arena, "instances side by side read what they share from `%s` once each", name));
        report_charge(f, k, charges[k].returned, energy,
                      dfl_arena_printf(arena, "old sums return to each instance of `%s` that adds to them, not to one", name));
    }
}
