/* Occupancy: bits of live tiles, the peak of each memory, and the check of its capacity. */
#include "model/cost/occupancy.h"

#include "model/cost/joint_peak.h"
#include "support/vec.h"

/* Search for the peak of one memory. */
typedef struct {
    dfl_nest *nest;
    dfl_keep_tree *keeps;
    const dfl_liveness *plan;
    const dfl_i128 *bits;    /* [keep]: bits of its largest tile in one instance */
    const dfl_i128 *largest; /* [keep]: elements of its largest tile in one instance */
    uint32_t where;          /* only tiles that stand in the first instance of this einsum count; DFL_NONE = all tiles */
    dfl_i128 best;           /* largest sum so far */
    dfl_span at;             /* innermost line of a tile in the largest sum */
    bool over;
} peak_search;

static dfl_i128 add_bits(peak_search *search, dfl_i128 a, dfl_i128 b)
{
    dfl_i128 sum = 0;

    search->over |= dfl_add(a, b, &sum);
    return sum;
}

/* Spatial steps with several instances on axis `a` around the memory that spread a keep. */
static uint64_t find_steps_on(const peak_search *search, uint32_t keep, uint32_t a)
{
    const dfl_keep *k = &search->keeps->at[keep];
    uint64_t bits = 0;

    for (uint64_t left = search->plan->keeps[keep].spread[a]; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left), driver = dfl_nest_driver(search->nest, k->footprint.einsum, i);
        if (driver != DFL_NONE)
            bits |= left & -left & search->nest->sizes[driver].moving;
    }
    return bits;
}

/* Finds the mixed axes: only some of the tiles are spread over a mixed axis, and the other tiles are at coordinate 0.
   Sets the steps of each axis. Returns the number of axes. */
static uint32_t find_mixed_axes(peak_search *search, const dfl_weighted_tile *tiles, uint32_t n, uint32_t *axes, uint64_t *steps)
{
    uint32_t found = 0;

    for (uint32_t a = 0; a < search->nest->system->n_axes && found < DFL_MIXED_AXES; a++) {
        uint64_t all = 0;
        bool without = false, unlike = false;
        for (uint32_t i = 0; i < n; i++)
            all |= find_steps_on(search, tiles[i].at, a);
        for (uint32_t i = 0; i < n; i++) {
            uint64_t mine = find_steps_on(search, tiles[i].at, a);
            without |= mine == 0;
            unlike |= mine != 0 && mine != all;
        }
        if (unlike)
            dfl_nest_refuse(search->nest, tiles[0].keep->line->span, "tiles that are spread over one axis in different ways",
                            "keep them below the same spatial lines");
        if (all == 0 || !without)
            continue;
        axes[found] = a;
        steps[found++] = all;
    }
    return found;
}

/* Largest sum of some tiles over all steps and instances. Instances at coordinate 0 of a mixed axis hold all tiles; the
   others hold only the tiles that are spread over the axis. */
static dfl_i128 find_joint_peak(peak_search *search, dfl_weighted_tile *tiles, uint32_t n)
{
    uint32_t axes[DFL_MIXED_AXES], n_axes;
    uint64_t steps[DFL_MIXED_AXES];
    dfl_i128 best = 0;

    n_axes = find_mixed_axes(search, tiles, n, axes, steps);
    for (uint32_t pick = 0; pick < 1u << n_axes && !search->nest->refused; pick++) {
        dfl_weighted_tile *some = DFL_NEW_ARRAY(search->nest->arena, dfl_weighted_tile, n + 1);
        uint64_t first = 0;
        uint32_t n_some = 0;
        dfl_i128 sum = 0;
        for (uint32_t x = 0; x < n_axes; x++)
            first |= pick >> x & 1 ? 0 : steps[x];
        for (uint32_t i = 0; i < n; i++) {
            bool held = true;
            for (uint32_t x = 0; x < n_axes; x++)
                held &= !(pick >> x & 1) || find_steps_on(search, tiles[i].at, axes[x]) != 0;
            if (held)
                some[n_some++] = tiles[i];
        }
        search->over |= n_some > 0 && !dfl_joint_peak_find(search->nest, some, n_some, first, &sum);
        best = sum > best ? sum : best;
    }
    return best;
}

/* Tells whether the tiles of a keep stand in the first instance of einsum `where` of the search. */
static bool stands_there(const peak_search *search, uint32_t keep)
{
    const dfl_nest *nest = search->nest;
    const dfl_keep *k = &search->keeps->at[keep];
    const uint32_t element = nest->system->memories[k->line->memory].element;

    for (uint32_t a = 0; a < nest->system->n_axes; a++) {
        if (!dfl_axis_encloses(nest->system, a, element))
            continue;
        const int64_t at = dfl_paths_place(nest->paths, search->where, a);
        int64_t most = 1;
        for (uint32_t v = 0; v < k->footprint.n_references; v++) {
            const uint32_t e = k->footprint.references[v].einsum;
            int64_t n = 1;
            for (uint64_t left = search->plan->keeps[keep].spread[a]; left; left &= left - 1) {
                uint32_t i = (uint32_t)__builtin_ctzll(left);
                n *= nest->paths->paths[e].steps[i].rank == DFL_NONE ? 1 : nest->sizes[e].trips[i];
            }
            most = n > most ? n : most;
        }
        int64_t first = dfl_paths_place(nest->paths, k->footprint.einsum, a);
        if (at < first || at >= first + most)
            return false;
    }
    return true;
}

static bool is_live(const peak_search *search, const dfl_live_tile *t)
{
    return (!t->if_stays || search->plan->stays[t->at]) && (search->where == DFL_NONE || stands_there(search, t->at));
}

/* Largest number of bits of one live set. */
static dfl_i128 sum_live_tiles(peak_search *search, const dfl_live_set *live)
{
    dfl_i128 plain = 0;
    uint32_t n = 0;
    bool all_peak_first = true;

    for (uint32_t i = 0; i < live->n; i++) {
        uint32_t at = live->tiles[i].at;
        if (search->largest[at] == 0 || !is_live(search, &live->tiles[i]))
            continue;
        n++;
        plain = add_bits(search, plain, search->bits[at]);
        all_peak_first &= search->keeps->at[at].all.each->peaks_first;
    }
    /* the peak is at most the sum of the largest tiles, and equals it if all tiles are largest in the first step at
       coordinate 0; a sum below the present peak needs no search */
    if (n <= 1 || all_peak_first || plain <= search->best)
        return plain;
    dfl_weighted_tile *tiles = DFL_NEW_ARRAY(search->nest->arena, dfl_weighted_tile, n + 1);
    n = 0;
    for (uint32_t i = 0; i < live->n; i++) {
        uint32_t at = live->tiles[i].at;
        if (search->largest[at] > 0 && is_live(search, &live->tiles[i]))
            tiles[n++] = (dfl_weighted_tile){ at, &search->keeps->at[at], search->plan->keeps[at].each };
    }
    return find_joint_peak(search, tiles, n);
}

/* Records a sum if it is the largest so far. The line of the peak is `inner`, or else that of the innermost live
   tile. */
static void note_peak(peak_search *search, dfl_i128 sum, const dfl_live_set *live, dfl_span inner)
{
    uint32_t step = 0;

    if (sum <= search->best)
        return;
    search->best = sum;
    search->at = inner;
    for (uint32_t i = 0; i < live->n && !inner.end; i++) {
        const dfl_keep *keep = &search->keeps->at[live->tiles[i].at];
        if (keep->step < step || !is_live(search, &live->tiles[i]))
            continue;
        step = keep->step;
        search->at = keep->line->span;
    }
}

static void find_peak(peak_search *r, const dfl_live_sets *list);

/* Peak of a pipeline: the live set above its stages, plus the peak of each stage, since stages work on different
   iterations at once. A tile counts only where it stands. */
static void find_pipeline_peak(peak_search *search, const dfl_live_set *live)
{
    peak_search alone = *search;
    dfl_span at = { 0, 0 }; /* line of the stage with the largest peak */
    dfl_i128 most = 0;

    alone.best = -1;
    dfl_i128 sum = sum_live_tiles(&alone, live);
    for (uint32_t c = 0; c < live->n_stages; c++) {
        alone.best = 0;
        alone.at = (dfl_span){ 0, 0 };
        find_peak(&alone, &live->stages[c]);
        sum = add_bits(&alone, sum, alone.best);
        at = alone.best > most ? alone.at : at;
        most = alone.best > most ? alone.best : most;
    }
    search->over |= alone.over;
    note_peak(search, sum, live, at);
}

/* Tells whether some einsum before einsum `e` begins at the same coordinates. */
static bool begins_again(const dfl_paths *paths, uint32_t e)
{
    for (uint32_t other = 0; other < e; other++) {
        bool same = true;
        for (uint32_t a = 0; a < paths->mapping->system->n_axes; a++)
            same &= dfl_paths_place(paths, other, a) == dfl_paths_place(paths, e, a);
        if (same)
            return true;
    }
    return false;
}

/* Finds the peak of a memory in the first instance of each einsum: einsums begin at different coordinates if they are stages of
   a pipeline. */
static void find_all_peaks(peak_search *search, const dfl_live_sets *list)
{
    const dfl_nest *nest = search->nest;
    const bool staged = dfl_paths_staged(nest->paths);

    for (uint32_t e = 0; e < (staged ? nest->workload->n_einsums : 1); e++) {
        search->where = staged ? e : DFL_NONE;
        if (!staged || !begins_again(nest->paths, e))
            find_peak(search, list);
    }
    search->where = DFL_NONE;
}

static void find_peak(peak_search *search, const dfl_live_sets *list)
{
    for (size_t i = 0; i < list->n; i++) {
        if (list->at[i].n_stages > 0)
            find_pipeline_peak(search, &list->at[i]);
        else
            note_peak(search, sum_live_tiles(search, &list->at[i]), &list->at[i], (dfl_span){ 0, 0 });
    }
}

/* Adds the tensors that the memory holds at all times. A tensor with homes in several branches counts once. */
static void add_resident(peak_search *search, const dfl_resident_bits *fixed, const uint32_t *homes, uint32_t n)
{
    search->at = search->at.end ? search->at : fixed->at;
    search->best = add_bits(search, search->best, fixed->bits);
    for (uint32_t i = 0; i < n;) {
        uint32_t tensor = search->keeps->at[homes[i]].line->tensor;
        dfl_i128 bits = 0;
        dfl_span home = { 0, 0 };
        for (; i < n && search->keeps->at[homes[i]].line->tensor == tensor; i++)
            if (search->bits[homes[i]] >= bits) {
                bits = search->bits[homes[i]];
                home = search->keeps->at[homes[i]].line->span;
            }
        search->at = search->at.end ? search->at : home;
        search->best = add_bits(search, search->best, bits);
    }
}

static void report_too_full(dfl_nest *nest, uint32_t memory, const dfl_memory_cost *cost)
{
    const dfl_memory *m = &nest->system->memories[memory];
    char over[41], peak[41], size[41];
    dfl_i128 excess = cost->peak_bits - m->size_bits;
    bool bytes = excess % 8 == 0 && cost->peak_bits % 8 == 0 && m->size_bits % 8 == 0;

    dfl_i128_text(bytes ? excess / 8 : excess, over);
    dfl_i128_text(bytes ? cost->peak_bits / 8 : cost->peak_bits, peak);
    dfl_i128_text(bytes ? m->size_bits / 8 : m->size_bits, size);
    const char *name = dfl_sym_text(nest->names, m->name), *unit = bytes ? "bytes" : "bits";
    dfl_diag *d = dfl_report(nest->sink, DFL_MAP_CAPACITY, cost->peak_at, "memory `%s` is exceeded by %s %s", name, over, unit);
    dfl_diag_here(nest->sink, d, "%s %s are live at this line", peak, unit);
    dfl_diag_label(nest->sink, d, m->size_span, "`%s` holds %s %s", name, size, unit);
    dfl_diag_help(nest->sink, d, "use smaller tiles above this line, keep less in `%s`, or give it more room", name);
}

bool dfl_occupancy_count(dfl_nest *nest, dfl_keep_tree *keeps, const dfl_liveness *plan, const dfl_traffic_sums *sums,
                         dfl_memory_cost *memories, dfl_i128 *keep_bits)
{
    bool fits = true, over = plan->over;

    for (uint32_t i = 0; i < plan->n_unsure; i++)
        plan->stays[plan->unsure[i]] = dfl_delta_has_stationary(nest, keeps->at[plan->unsure[i]].all.each);
    for (uint32_t i = 0; i < keeps->n; i++) {
        keep_bits[i] = plan->keeps[i].fixed;
        if (keep_bits[i] < 0)
            over |= dfl_mul(sums->largest[i], plan->keeps[i].each, &keep_bits[i]);
    }
    for (uint32_t m = 0; m < nest->system->n_memories; m++) {
        peak_search r = { .nest = nest, .keeps = keeps, .plan = plan, .bits = keep_bits, .largest = sums->largest };
        find_all_peaks(&r, &plan->live[m]);
        add_resident(&r, &plan->lasting[m], plan->homes[m], plan->n_homes[m]);
        memories[m].peak_bits = r.best;
        memories[m].peak_at = r.at;
        memories[m].instances = plan->instances[m];
        over |= r.over;
        if (!over && nest->system->memories[m].size_bits >= 0 && memories[m].peak_bits > nest->system->memories[m].size_bits) {
            report_too_full(nest, m, &memories[m]);
            fits = false;
        }
    }
    if (over && dfl_budget_ok(dfl_arena_budget(nest->arena)) && !nest->refused) {
        dfl_diag *d = dfl_report(nest->sink, DFL_EVAL_OVERFLOW, nest->mapping->span,
                                 "this mapping needs more than 2^127 bits");
        dfl_diag_help(nest->sink, d, "use smaller extents");
    }
    return fits && !over && !nest->refused;
}

bool dfl_occupancy_during(dfl_nest *nest, dfl_keep_tree *keeps, const dfl_liveness *plan, const dfl_traffic_sums *sums,
                          const dfl_i128 *keep_bits, uint32_t memory, uint32_t leaf, const bool *without, dfl_i128 *out)
{
    peak_search r = { .nest = nest, .keeps = keeps, .plan = plan, .bits = keep_bits, .largest = sums->largest,
                      .where = DFL_NONE, .best = -1 };
    const dfl_live_set *all = &plan->live[memory].at[leaf];
    dfl_live_set some = { .tiles = DFL_NEW_ARRAY(nest->arena, dfl_live_tile, all->n + 1) };

    for (uint32_t i = 0; i < all->n; i++)
        if (!without[keeps->at[all->tiles[i].at].line->tensor])
            some.tiles[some.n++] = all->tiles[i];
    r.best = sum_live_tiles(&r, &some);
    add_resident(&r, &plan->lasting[memory], plan->homes[memory], plan->n_homes[memory]);
    *out = r.best;
    return !r.over && !nest->refused;
}

