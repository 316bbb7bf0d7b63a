/* Rank chains: sums over the positions of the loops over one rank. */
#include "model/counts/rank_chain.h"

#include <string.h>

#include "support/vec.h"

/* Class of instances: `n` instances with a piece of length `cur` at the present step and of length `prev` at the
   previous step. */
typedef struct { int64_t cur, prev, n; } length_class;

/* Classes of all instances. The first class is that of coordinate 0, whose pieces are the longest. */
typedef struct { length_class at[DFL_LENGTH_CLASSES]; uint32_t n; } length_classes;

/* A walk over the positions of a chain. */
typedef struct {
    dfl_rank_chain *chain;
    const dfl_loop_sizes *sizes;
    dfl_budget *budget;
    uint64_t several; /* spatial steps with all coordinates visited; the other spatial steps stand at 0 */
    int64_t all;      /* number of equal instances, a factor of all sums */
    bool known;
} chain_walk;

dfl_rank_chain *dfl_rank_chain_of(dfl_nest *nest, const dfl_rank_chain *like)
{
    dfl_rank_chain **list = &nest->chains[like->einsum];

    for (dfl_rank_chain *chain = *list; chain; chain = chain->next)
        if (chain->kind == like->kind && chain->extent == like->extent &&
            chain->temporal == like->temporal && chain->spatial == like->spatial &&
            chain->counted == like->counted && chain->joined == like->joined && chain->united == like->united)
            return chain;
    dfl_rank_chain *chain = DFL_NEW(nest->arena, dfl_rank_chain);
    *chain = *like;
    chain->sums = DFL_NEW_ARRAY(nest->arena, dfl_rank_chain_sum, 2 * (size_t)__builtin_popcountll(chain->temporal) + 1);
    chain->next = *list;
    *list = chain;
    return chain;
}

/* Length of the tile with index `q` in a piece. */
static int64_t tile_length(int64_t length, int64_t tile, int64_t q)
{
    int64_t left = length - q * tile;

    return left > tile ? tile : left > 0 ? left : 0;
}

static void add_piece(chain_walk *walk, length_classes *classes, length_class more)
{
    for (uint32_t i = 0; i < classes->n; i++)
        if (classes->at[i].cur == more.cur && classes->at[i].prev == more.prev) {
            classes->at[i].n += more.n;
            return;
        }
    if (classes->n == DFL_LENGTH_CLASSES)
        walk->known = false;
    else
        classes->at[classes->n++] = more;
}

/* The first index > q of a tile whose length differs from that of the tile with index `q`. */
static int64_t next_length(int64_t length, int64_t tile, int64_t q)
{
    int64_t full = length / tile;

    if (q < full)
        return full;
    return q == full && length % tile > 0 ? full + 1 : INT64_MAX;
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* Splits each class into the instances along spatial step `i`. */
static void split_instances(chain_walk *walk, length_classes *classes, uint32_t i)
{
    int64_t tile = walk->sizes->tile[i], count_instances = walk->several >> i & 1 ? walk->sizes->trips[i] : 1;
    length_classes from = { .n = classes->n };

    memcpy(from.at, classes->at, classes->n * sizeof from.at[0]);
    classes->n = 0;
    for (uint32_t k = 0; k < from.n; k++)
        for (int64_t q = 0, next; q < count_instances; q = next) {
            const length_class *of = &from.at[k];
            next = smaller(next_length(of->cur, tile, q), next_length(of->prev, tile, q));
            next = smaller(next, count_instances);
            add_piece(walk, classes, (length_class){ tile_length(of->cur, tile, q), tile_length(of->prev, tile, q),
                                                     of->n * (next - q) });
        }
}

/* Counts the instances that have a piece; instances along the steps of `chain->united` count as one. */
static dfl_rank_chain_sum count_working(chain_walk *walk, const length_classes *classes)
{
    int64_t now = 0, before = 0, both = 0;

    for (uint32_t k = 0; k < classes->n; k++) {
        const length_class *of = &classes->at[k];
        now += of->cur > 0 ? of->n : 0;
        before += of->prev > 0 ? of->n : 0;
        both += of->cur > 0 && of->prev > 0 ? of->n : 0;
    }
    if (!(walk->chain->united & walk->several))
        return (dfl_rank_chain_sum){ now, both, before, both };
    /* coordinate 0 always works; an element enters when the instance starts to work, and leaves when the instance
       stops */
    return (dfl_rank_chain_sum){ 1, now == both, 1, before == both };
}

/* Computes three sizes: those of the sets with the inner `steps` at their first iteration, those at the previous step
   with these steps at their last iteration, and those of the parts that stay. */
static dfl_rank_chain_sum measure_sets(chain_walk *walk, const length_classes *from, uint64_t steps, bool moved)
{
    dfl_rank_chain_sum sum = { 0 };
    length_classes p = { .n = from->n };

    if (walk->chain->kind == DFL_RANK_CHAIN_ALL)
        return (dfl_rank_chain_sum){ walk->all, walk->all, walk->all, walk->all };
    memcpy(p.at, from->at, from->n * sizeof p.at[0]);
    for (; steps; steps &= steps - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(steps);
        if (!(walk->chain->temporal >> i & 1)) {
            split_instances(walk, &p, i);
            continue;
        }
        int64_t tile = walk->sizes->tile[i], last = (p.at[0].prev - 1) / tile;
        moved |= last > 0;
        for (uint32_t k = 0; k < p.n; k++) {
            p.at[k].cur = smaller(p.at[k].cur, tile);
            p.at[k].prev = tile_length(p.at[k].prev, tile, last);
        }
    }
    if (walk->chain->kind == DFL_RANK_CHAIN_WORKING)
        return count_working(walk, &p);
    for (uint32_t k = 0; k < p.n; k++) {
        sum.enter += p.at[k].n * p.at[k].cur;
        sum.leave += p.at[k].n * p.at[k].prev;
    }
    sum.kept = sum.left_kept = moved ? 0 : sum.enter;
    return sum;
}

static void add_times(dfl_rank_chain_sum *to, dfl_rank_chain_sum sum, int64_t times)
{
    to->enter += times * sum.enter;
    to->kept += times * sum.kept;
    to->leave += times * sum.leave;
    to->left_kept += times * sum.left_kept;
}

/* Adds the sums over all positions of `steps`, which are below the first k loops. The present classes of instances
   occur `times` times. */
static void visit_positions(chain_walk *walk, length_classes *classes, uint64_t steps, uint32_t k, int64_t times)
{
    dfl_rank_chain *chain = walk->chain;
    dfl_rank_chain_sum hold = measure_sets(walk, classes, steps, false);
    length_classes now, next_to;

    add_times(&chain->sums[2 * k], hold, times);
    for (; steps && !(chain->temporal & steps & -steps); steps &= steps - 1)
        split_instances(walk, classes, (uint32_t)__builtin_ctzll(steps));
    if (!steps)
        chain->present += times * hold.enter;
    if (!steps || !dfl_budget_spend(walk->budget, 1 + classes->n))
        return;
    int64_t tile = walk->sizes->tile[__builtin_ctzll(steps)], trips = (classes->at[0].cur - 1) / tile + 1;
    steps &= steps - 1;
    for (int64_t q = 0, next = 0; q < trips && walk->known; q = next) {
        next = trips;
        now.n = next_to.n = classes->n;
        for (uint32_t i = 0; i < classes->n; i++) {
            int64_t length = classes->at[i].cur, own = tile_length(length, tile, q);
            next = smaller(next, next_length(length, tile, q));
            now.at[i] = (length_class){ own, own, classes->at[i].n };
            next_to.at[i] = (length_class){ own, q > 0 ? tile_length(length, tile, q - 1) : 0, classes->at[i].n };
        }
        if (q > 0)
            add_times(&chain->sums[2 * k + 1], measure_sets(walk, &next_to, steps, true), times);
        if (next - q > 1)
            add_times(&chain->sums[2 * k + 1], measure_sets(walk, &now, steps, true), times * (next - q - 1));
        visit_positions(walk, &now, steps, k + 1, times * (next - q));
    }
}

static int64_t count_instances(const dfl_loop_sizes *sizes, uint64_t steps)
{
    int64_t n = 1;

    for (; steps; steps &= steps - 1)
        n *= sizes->trips[__builtin_ctzll(steps)];
    return n;
}

/* Computes the sums of a chain in which every loop divides the piece that it cuts: all sets are equally large. */
static void count_even(chain_walk *walk, uint64_t steps, int64_t length)
{
    dfl_rank_chain *chain = walk->chain;
    bool moves = chain->kind == DFL_RANK_CHAIN_ELEMENTS;
    int64_t times = 1, size = length * count_instances(walk->sizes, steps & chain->counted);
    uint32_t k = 0;

    for (uint64_t left = steps & chain->temporal; left; left &= left - 1, k++) {
        int64_t trips = walk->sizes->trips[__builtin_ctzll(left)], held = times * size, stays = moves ? 0 : held;
        chain->sums[2 * k] = (dfl_rank_chain_sum){ held, stays, held, stays };
        chain->sums[2 * k + 1] = (dfl_rank_chain_sum){ held * (trips - 1), stays * (trips - 1), held * (trips - 1),
                                                       stays * (trips - 1) };
        times *= trips;
    }
    chain->present = times * size;
    chain->sums[2 * k] = (dfl_rank_chain_sum){ chain->present, chain->present, chain->present, chain->present };
}

bool dfl_rank_chain_count(dfl_nest *nest, dfl_rank_chain *chain)
{
    const dfl_loop_sizes *sizes = &nest->sizes[chain->einsum];
    uint64_t steps = (chain->temporal | chain->spatial) & sizes->moving;
    chain_walk a = { .chain = chain, .sizes = sizes, .budget = dfl_arena_budget(nest->arena),
                     .several = (chain->counted | chain->united) & sizes->moving,
                     .all = count_instances(sizes, chain->counted & sizes->moving), .known = true };
    length_classes whole = { .at = { { chain->extent, chain->extent, 1 } }, .n = 1 };
    bool elements = chain->kind == DFL_RANK_CHAIN_ELEMENTS;

    chain->run = nest->run;
    chain->n = (uint32_t)__builtin_popcountll(steps & chain->temporal);
    int64_t innermost = !elements ? 1 : steps ? sizes->tile[63 - __builtin_clzll(steps)] : chain->extent;
    chain->largest = innermost * count_instances(sizes, chain->joined & sizes->moving);
    if (!(steps & sizes->ragged)) {
        count_even(&a, steps, innermost);
        chain->known = true;
        return true;
    }
    if (chain->kind == DFL_RANK_CHAIN_ALL)
        a.several = 0;
    /* if some instances add up and others are united, the classes do not show which instances work */
    a.known = chain->kind != DFL_RANK_CHAIN_WORKING || !(chain->counted & a.several) || !(chain->united & a.several);
    chain->present = 0;
    for (uint32_t k = 0; k <= 2 * chain->n; k++)
        chain->sums[k] = (dfl_rank_chain_sum){ 0 };
    if (elements && (chain->joined & sizes->moving)) {
        a.several = chain->joined & sizes->moving;
        chain->largest = measure_sets(&a, &whole, steps, false).enter;
        a.several = chain->counted & sizes->moving;
    }
    visit_positions(&a, &whole, steps, 0, 1);
    chain->known = a.known && dfl_budget_ok(a.budget);
    return chain->known;
}

