/* Loads of the links of one array. A load is a number of elements of one crossing on one link. */
#include "model/counts/link_loads.h"

#include <math.h>
#include <string.h>

#include "model/counts/link_places.h"

/* A link, or several links that share a class. */
typedef struct {
    enum { LINK_OUTER, LINK_PORT, LINK_ALONG } kind;
    uint32_t axis;  /* LINK_ALONG: position of the axis in the array */
    int64_t lo, hi; /* LINK_ALONG: the link leads to the coordinates lo <= c < hi of the axis */
} link;

/* A load that is not counted yet. */
#define UNKNOWN (-1)

typedef struct {
    dfl_nest *nest;
    const dfl_keep_tree *keeps;
    const dfl_traffic_sums *sums;
    dfl_crossings *all;
    const dfl_crossed_array *array;
    dfl_crossed_array instance; /* the crossings of the present instance of the network */
    uint32_t first_axis, n_axes;
    int64_t *place;          /* [axis of the array]: coordinate of the present instance */
    dfl_link_places *places; /* [axis of the array]: coordinates to visit */
    uint32_t *index;         /* [axis of the array]: index of the present coordinate in `places` */
    dfl_i128 **loads;        /* [crossing of the instance][class]: bits on the present link at the places of a class, UNKNOWN
                                until they are counted; NULL = no class has several places. `loads` is NULL if none is kept */
    uint64_t pinned;         /* mask: axes of the array whose classes `loads` distinguishes */
    bool enumerated;         /* `places` are in use; otherwise, coordinate 0 alone is visited */
    bool rough;              /* the load at hand is an estimate */
    dfl_i128 outer[2];       /* [direction; a bus: 0]: bits on the outer side of the busiest instance of the network so far */
    double *by_step;         /* gets the elements of the transfer at hand by step; NULL = not wanted */
    bool staged;             /* some stage of a pipeline does not begin at coordinate 0 */
    bool ok, over;
} load_walk;

/* ---- parts of an axis ---- */

/* Steps along which the instances of an even crossing add up: the others share the transfer. */
static uint64_t find_adding(const dfl_crossing *c)
{
    const dfl_footprint *footprint = c->footprint;

    return c->valued ? footprint->product.dims : footprint->spatial & (footprint->product.dims | ~c->shared);
}

static int64_t multiply_trips(const dfl_loop_sizes *sizes, uint64_t steps)
{
    int64_t n = 1;

    for (uint64_t left = steps & sizes->moving; left; left &= left - 1)
        n *= sizes->trips[__builtin_ctzll(left)];
    return n;
}

/* Number of different transfers of an even crossing to the coordinates lo <= c < hi of an axis: of the instances along steps
   that are not in `adding`, only the first takes part (`one`), or all take part in one transfer. */
static int64_t count_in_range(const dfl_loop_sizes *sizes, uint64_t steps, uint64_t adding, bool one, int64_t lo, int64_t hi)
{
    int64_t classes = multiply_trips(sizes, steps & adding), others = one ? 1 : multiply_trips(sizes, steps & ~adding), n = 0;

    steps &= sizes->moving;
    if (lo == 0 && hi == INT64_MAX)
        return classes;
    if (lo == 1 && hi == INT64_MAX)
        return others > 1 ? classes : classes - 1;
    for (int64_t of = 0; of < classes; of++)
        for (int64_t other = 0; other < others; other++) {
            int64_t at = 0, weight = 1, rest = of, rest_other = other;
            for (uint64_t left = steps; left;) {
                uint32_t i = 63 - (uint32_t)__builtin_clzll(left);
                left &= ~(UINT64_C(1) << i);
                if (adding >> i & 1) {
                    at += weight * (rest % sizes->trips[i]);
                    rest /= sizes->trips[i];
                } else if (!one) {
                    at += weight * (rest_other % sizes->trips[i]);
                    rest_other /= sizes->trips[i];
                }
                weight *= sizes->trips[i];
            }
            if (at >= lo && at < hi) {
                n++;
                break;
            }
        }
    return n;
}

/* Lowest coordinate of the instances of a crossing on an axis of the array. */
static int64_t find_first(const load_walk *walk, const dfl_crossing *c, uint32_t axis)
{
    return dfl_paths_place(walk->nest->paths, c->footprint->einsum, walk->first_axis + axis);
}

/* Tells whether the elements of a crossing with values all pass the outer side of the array in one instance of its network:
   no other array lies further out on the way. */
static bool is_outermost(const dfl_crossing *c) { return c->valued && !(c->outer & c->between); }

/* Elements of a crossing with values, in the instance of the outer keep at coordinate 0. */
static dfl_i128 find_whole(const load_walk *walk, const dfl_crossing *c)
{
    const dfl_counts *outer = &walk->sums->outer_busiest[c->at];

    return c->kind == DFL_CROSSING_FILL ? outer->serve : outer->update;
}

/* ---- loads ---- */

static dfl_i128 load_even(const load_walk *walk, const dfl_crossing *c, link at)
{
    const dfl_loop_sizes *sizes = &walk->nest->sizes[c->footprint->product.einsum];
    uint64_t adding = find_adding(c), free_steps = 0;
    bool up = dfl_crossing_goes_up(c);

    if (at.kind == LINK_PORT)
        return c->unit;
    if (at.kind == LINK_OUTER)
        return c->unit * multiply_trips(sizes, c->own & adding);
    for (uint32_t a = 0; a < walk->n_axes; a++)
        if (up ? a < at.axis : a > at.axis)
            free_steps |= dfl_link_steps(walk->nest, c, walk->first_axis + a);
    return c->unit * multiply_trips(sizes, free_steps & adding) *
           count_in_range(sizes, dfl_link_steps(walk->nest, c, walk->first_axis + at.axis), adding, c->valued, at.lo, at.hi);
}

/* An estimate of the load of a crossing with values, from the counts of coordinate 0. */
static dfl_i128 load_roughly(const load_walk *walk, const dfl_crossing *c, link at)
{
    const dfl_counts *inside = &walk->sums->busiest[c->at], *outside = &walk->sums->outer_busiest[c->at];
    bool up = c->kind == DFL_CROSSING_DRAIN;
    dfl_i128 port = up ? inside->drain : inside->fill, outer = up ? outside->update : outside->serve;
    int64_t shared = 1;

    for (uint64_t left = c->outer & c->between; left; left &= left - 1)
        shared *= dfl_link_parts(walk->nest, c, (uint32_t)__builtin_ctzll(left));
    if (at.kind == LINK_PORT)
        return port;
    outer = outer / shared > port ? outer / shared : port;
    return at.kind == LINK_OUTER || at.lo == 0 ? outer : outer - port;
}

/* Counts the elements of a crossing at the coordinates that `only` leaves. */
static dfl_i128 count_restricted(load_walk *walk, const dfl_crossing *c, dfl_sharing how, const dfl_restriction *only)
{
    dfl_restricted_counts n = { 0 }, made = { 0 };

    if (c->valued)
        how.first_only |= c->still;
    how.united &= ~how.first_only;
    if (!c->valued || c->kind == DFL_CROSSING_FILL) {
        dfl_restriction with = *only;
        with.by_step = walk->by_step;
        with.leaving = c->kind == DFL_CROSSING_DRAIN;
        walk->ok = walk->ok && dfl_delta_restrict(walk->nest, c->footprint, &how, &with, &n);
    }
    if (!c->valued)
        return c->kind == DFL_CROSSING_DRAIN ? n.leave : c->kind == DFL_CROSSING_FILL || c->by_change ? n.enter : n.present;
    if (c->kind == DFL_CROSSING_FILL && walk->keeps->at[c->at].is_state)
        return n.enter; /* all elements have values from the start */
    walk->ok = walk->ok && dfl_delta_restrict(walk->nest, c->made, &how, only, &made);
    return c->kind == DFL_CROSSING_FILL ? n.enter - made.distinct : made.distinct;
}

/* Number of groups of the crossing's footprint that have some of the steps with several instances. */
static uint32_t count_groups(const load_walk *walk, const dfl_crossing *c, uint64_t steps)
{
    uint32_t n = 0;
    uint64_t seen = 0;

    for (uint64_t left = steps; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left), g = c->footprint->group_of_step[i];
        if (dfl_link_parts(walk->nest, c, i) == 1 || g == DFL_NONE)
            continue;
        n += !(seen >> (g & 63) & 1);
        seen |= UINT64_C(1) << (g & 63);
    }
    return n;
}

/* Tells whether the instances along an axis share tiles that their coordinate does not move, so that the first of several
   instances fetches what all of them fetch. Pieces at higher coordinates are never longer: whenever one of the instances
   works, the first of them works with the same tile. When an idle one works again, the tile of the first one is replaced, too
   (is_ordered). */
static bool is_nested(const load_walk *walk, const dfl_crossing *c, uint64_t steps)
{
    uint32_t n = 0;

    if (c->mode != DFL_CROSSING_ORDERED || c->valued)
        return false;
    for (uint64_t left = steps; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left), g = c->footprint->group_of_step[i];
        if (dfl_link_parts(walk->nest, c, i) == 1)
            continue;
        if (!(c->shared >> i & 1) || g == DFL_NONE || c->footprint->groups[g].dim != DFL_NO_DIM)
            return false;
        n++;
    }
    return n == 1;
}

/* Tells whether the sum over all coordinates along `steps` is a sum of products of sums of groups: no coordinate changes the
   number of products. */
static bool is_summed_by_groups(const load_walk *walk, const dfl_crossing *c, uint64_t steps)
{
    for (uint64_t left = steps; c->valued && left; left &= left - 1) {
        const uint32_t i = (uint32_t)__builtin_ctzll(left), g = c->made ? c->made->group_of_step[i] : DFL_NONE;
        if (dfl_link_parts(walk->nest, c, i) > 1 && !(c->still >> i & 1) &&
            (g == DFL_NONE || c->made->groups[g].dim == DFL_NO_DIM))
            return false;
    }
    return true;
}

/* The sum of the elements of a crossing at the single coordinates along an axis, all of them or all but the first. Each count
   is a sum of products with one factor per group, and each step belongs to one group, so the sum over all coordinates is the
   same with the sums of the factors. */
static dfl_i128 sum_coordinates(load_walk *walk, const dfl_crossing *c, dfl_sharing how, const dfl_restriction *only,
                                uint32_t axis, bool but_first)
{
    double first[DFL_MAX_STEPS + 1] = { 0 }, *by_step = walk->by_step;
    dfl_restriction one = *only;

    how.united &= ~dfl_link_steps(walk->nest, c, walk->first_axis + axis);
    dfl_i128 sum = count_restricted(walk, c, how, only);
    if (!but_first || !dfl_link_pin(walk->nest, c, walk->first_axis + axis, 0, &one))
        return sum;
    walk->by_step = by_step ? first : NULL;
    sum -= count_restricted(walk, c, how, &one);
    walk->by_step = by_step;
    for (uint32_t j = 0; by_step && j <= c->footprint->n; j++)
        by_step[j] -= first[j];
    return sum;
}

/* Counts the elements of a crossing that pass to the coordinates lo <= c < hi of an axis. If several groups decide the
   coordinate and instances share the transfer, the sum over the coordinates counts shared elements several times: the result
   is then an estimate. */
static dfl_i128 count_range(load_walk *walk, dfl_crossing *c, dfl_sharing how, dfl_restriction *only, uint32_t axis,
                            int64_t lo, int64_t hi)
{
    uint64_t steps = dfl_link_steps(walk->nest, c, walk->first_axis + axis);
    dfl_restriction all = *only;
    dfl_i128 sum = 0;
    int64_t parts = 1;

    for (uint64_t left = steps; left; left &= left - 1)
        parts *= dfl_link_parts(walk->nest, c, (uint32_t)__builtin_ctzll(left));
    hi = hi < parts ? hi : parts;
    if (hi <= lo)
        return 0;
    if (hi == parts && is_nested(walk, c, steps) && dfl_link_pin(walk->nest, c, walk->first_axis + axis, lo, only))
        return count_restricted(walk, c, how, only);
    if (count_groups(walk, c, steps) <= 1 && !(c->valued && (steps & c->still))) {
        for (uint64_t left = steps; left; left &= left - 1)
            if (dfl_link_parts(walk->nest, c, (uint32_t)__builtin_ctzll(left)) > 1)
                only->ranged |= left & -left;
        only->lo = lo;
        only->hi = hi;
        return count_restricted(walk, c, how, only);
    }
    if (lo <= 1 && hi == parts && is_summed_by_groups(walk, c, steps)) {
        sum = sum_coordinates(walk, c, how, only, axis, lo == 1);
    } else {
        for (int64_t at = lo; at < hi && walk->ok; at++) {
            dfl_restriction one = *only;
            if (dfl_link_pin(walk->nest, c, walk->first_axis + axis, at, &one))
                sum += count_restricted(walk, c, how, &one);
        }
    }
    if (!(steps & c->shared) || c->valued || hi - lo == 1)
        return sum;
    walk->rough = true;
    dfl_i128 most = count_restricted(walk, c, how, &all);
    return sum < most ? sum : most;
}

/* Tells whether a link along the only axis of an array carries all elements but those of coordinate 0, which are the unit of
   the crossing: each element goes to one instance. The elements by step, if wanted, are not known so. */
static bool is_rest(const load_walk *walk, const dfl_crossing *c, link at)
{
    if (walk->n_axes > 1 || walk->enumerated || walk->by_step || c->mode != DFL_CROSSING_ORDERED || at.lo != 1 ||
        at.hi != INT64_MAX)
        return false;
    return c->valued ? is_outermost(c) : !(c->own & c->shared & ~c->footprint->product.dims);
}

/* The load of a crossing on a link, at the present place. */
static dfl_i128 load_any(load_walk *walk, dfl_crossing *c, link at)
{
    dfl_restriction only = { .pinned = 0 };
    dfl_sharing how = c->how;
    bool up = dfl_crossing_goes_up(c);

    how.first_only = c->outer;
    how.united = c->shared & (at.kind == LINK_PORT ? c->inner : c->own | c->inner);
    for (uint32_t a = 0; a < walk->n_axes; a++) {
        bool pinned = at.kind == LINK_PORT || (at.kind == LINK_ALONG && (up ? a > at.axis : a < at.axis));
        if (pinned && !dfl_link_pin_place(walk->nest, c, walk->first_axis + a, walk->place[a], &only))
            return 0;
    }
    if (at.kind == LINK_ALONG) {
        const int64_t first = find_first(walk, c, at.axis);
        at.lo = at.lo > first ? at.lo - first : 0;
        at.hi -= at.hi == INT64_MAX ? 0 : first;
        if (at.hi <= at.lo)
            return 0;
    }
    if (c->mode == DFL_CROSSING_EVEN)
        return load_even(walk, c, at);
    if (c->mode == DFL_CROSSING_ROUGH) {
        walk->rough = true;
        return load_roughly(walk, c, at);
    }
    if (at.kind == LINK_OUTER && !c->valued)
        return dfl_crossing_elements(c, c->outside_first);
    if (at.kind == LINK_ALONG && is_rest(walk, c, at))
        return (c->valued ? find_whole(walk, c) : dfl_crossing_elements(c, c->outside_first)) - c->unit;
    if (at.kind == LINK_ALONG)
        return count_range(walk, c, how, &only, at.axis, at.lo, at.hi);
    return count_restricted(walk, c, how, &only);
}

static dfl_i128 find_load(load_walk *walk, dfl_crossing *c, link at)
{
    if (at.kind == LINK_OUTER && is_outermost(c)) {
        walk->rough |= walk->sums->rough[walk->keeps->at[c->at].parent];
        return find_whole(walk, c);
    }
    if (!walk->enumerated && c->mode == DFL_CROSSING_EVEN)
        return load_even(walk, c, at);
    if (!walk->enumerated && c->mode == DFL_CROSSING_ORDERED && at.kind == LINK_PORT)
        return c->unit;
    return load_any(walk, c, at);
}

/* ---- the way of each crossing ---- */

/* Tells whether no instance carries more than that at coordinate 0, for sizes that are counted by chains: whenever an idle
   instance works again, the tile at coordinate 0 is replaced, too. */
static bool is_ordered(const dfl_nest *nest, const dfl_crossing *c)
{
    const dfl_footprint *footprint = c->footprint;
    const dfl_loop_sizes *sizes = &nest->sizes[footprint->product.einsum];

    if (!c->first->has_product_form || !footprint->product.bounded)
        return false;
    if (c->kind == DFL_CROSSING_RESULT || (c->kind == DFL_CROSSING_READ && !c->by_change))
        return true;
    for (uint32_t g = 0; g < footprint->n_groups; g++) {
        const dfl_group *group = &footprint->groups[g];
        uint64_t lines = 0, spatial = 0;
        for (uint32_t k = 0; k < group->n_lines; k++)
            lines |= UINT64_C(1) << group->lines[k];
        for (uint32_t k = 0; k < group->n_spatial; k++)
            spatial |= UINT64_C(1) << group->spatial[k];
        if (group->dim == DFL_NO_DIM && spatial && (sizes->ragged & (lines | spatial)) &&
            (lines & sizes->moving & ~c->first->whole))
            return false;
    }
    return true;
}

/* Tells whether the loads of a crossing with values are known: each element is made in one instance, and all values return to
   coordinate 0 of the steps that do not index the result. */
static bool are_values_known(load_walk *walk, dfl_crossing *c)
{
    const dfl_keep *keep = &walk->keeps->at[c->at];
    dfl_restriction none = { .pinned = 0 };
    dfl_sharing how = c->how;
    dfl_i128 all = 0;

    if (!c->made || keep->windows || keep->one.anew || walk->sums->rough[c->at] || walk->sums->rough[keep->parent])
        return false;
    walk->ok = walk->ok && dfl_delta_disjoint(walk->nest, keep->all.made, &all);
    if (!walk->ok || all != keep->distinct)
        return false;
    how.first_only = c->outer & ~c->between;
    return count_restricted(walk, c, how, &none) == find_whole(walk, c);
}

/* Part of the whole for each instance of an even crossing with values. False if the parts are unequal. */
static bool divide_whole(const load_walk *walk, dfl_crossing *c)
{
    const dfl_loop_sizes *sizes = &walk->nest->sizes[c->footprint->product.einsum];
    int64_t parts = multiply_trips(sizes, c->between & c->footprint->product.dims);
    dfl_i128 whole = find_whole(walk, c);

    if (whole >> 62 != 0 || (int64_t)whole % parts != 0)
        return false;
    c->unit = (int64_t)whole / parts * multiply_trips(sizes, c->inner & c->footprint->product.dims);
    return true;
}

static void find_mode(load_walk *walk, dfl_crossing *c)
{
    bool bus = walk->array->shape == DFL_NETWORK_BUS;

    c->mode = c->first->is_even ? DFL_CROSSING_EVEN : bus || is_ordered(walk->nest, c) ? DFL_CROSSING_ORDERED : DFL_CROSSING_ANY;
    c->unit = dfl_crossing_elements(c, c->first);
    if (!c->valued)
        return;
    const dfl_keep *keep = &walk->keeps->at[c->at];
    bool rough = walk->sums->rough[keep->parent];
    if (bus && is_outermost(c))
        return;
    rough |= keep->windows || walk->sums->rough[c->at];
    if (c->mode == DFL_CROSSING_EVEN && !rough && divide_whole(walk, c))
        return;
    c->mode = c->mode == DFL_CROSSING_EVEN ? DFL_CROSSING_ANY : c->mode;
    if (!are_values_known(walk, c)) {
        c->mode = DFL_CROSSING_ROUGH;
    } else if (c->mode == DFL_CROSSING_ORDERED) {
        c->unit = load_any(walk, c, (link){ .kind = LINK_PORT });
    }
}

/* ---- places ---- */

/* Sets the place to coordinate 0 of all axes. */
static void begin_places(load_walk *walk)
{
    memset(walk->place, 0, walk->n_axes * sizeof *walk->place);
    if (walk->enumerated)
        memset(walk->index, 0, walk->n_axes * sizeof *walk->index);
}

/* Moves to the next place along the axes in `axes`; the coordinates of the others stay. False after the last place. */
static bool advance_place(load_walk *walk, uint64_t axes)
{
    for (uint32_t a = walk->n_axes; a-- > 0;) {
        if (!walk->enumerated || !(axes >> a & 1))
            continue;
        bool more = ++walk->index[a] < walk->places[a].n;
        walk->index[a] = more ? walk->index[a] : 0;
        walk->place[a] = walk->places[a].at[walk->index[a]];
        if (more)
            return true;
    }
    return false;
}

/* Number of classes of the places of an axis for crossing `k` of the instance. */
static uint32_t count_classes(const load_walk *walk, uint32_t k, uint32_t axis)
{
    return walk->places[axis].class ? walk->places[axis].n_classes[k] : walk->places[axis].n;
}

/* Starts to keep the loads of one link by classes of places. `axes` is the mask of the axes on whose coordinates the link
   depends. */
static void keep_loads(load_walk *walk, uint64_t axes)
{
    bool classes = false;

    for (uint32_t a = 0; a < walk->n_axes && walk->enumerated; a++)
        classes |= (axes >> a & 1) && walk->places[a].class;
    if (!classes)
        return;
    walk->pinned = axes;
    walk->loads = dfl_arena_alloc(walk->nest->arena, walk->array->n + 1, sizeof *walk->loads, _Alignof(dfl_i128 *));
    for (uint32_t k = 0; k < walk->array->n; k++) {
        size_t n = 1, places = 1;
        for (uint32_t a = 0; a < walk->n_axes; a++)
            if (axes >> a & 1) {
                n *= count_classes(walk, k, a);
                places *= walk->places[a].n;
            }
        if (n >= places) /* no class has several places */
            continue;
        walk->loads[k] = DFL_NEW_ARRAY(walk->nest->arena, dfl_i128, n);
        for (size_t i = 0; i < n; i++)
            walk->loads[k][i] = UNKNOWN;
    }
}

/* The load of crossing `k` of the instance for the class of the present place; NULL if its loads are not kept. */
static dfl_i128 *find_kept(const load_walk *walk, uint32_t k)
{
    size_t at = 0;

    if (!walk->loads || !walk->loads[k])
        return NULL;
    for (uint32_t a = 0; a < walk->n_axes; a++)
        if (walk->pinned >> a & 1)
            at = at * count_classes(walk, k, a) +
                 (walk->places[a].class ? walk->places[a].class[k][walk->index[a]] : walk->index[a]);
    return &walk->loads[k][at];
}

/* ---- classes ---- */

/* The elements of a crossing by step on the links of a class, if the class limits the time and they may be out of proportion to
   those at the outer end. */
static double *find_by_step(load_walk *walk, dfl_crossing *c, link at, uint32_t class)
{
    const double bandwidth = walk->nest->system->networks[c->network].bandwidth;
    const uint32_t n_classes = walk->all->networks[c->network].n_classes;

    if (at.kind != LINK_ALONG || !isfinite(bandwidth) || (c->kind != DFL_CROSSING_FILL && c->kind != DFL_CROSSING_DRAIN) ||
        c->direct || (c->valued && c->kind == DFL_CROSSING_DRAIN) || c->mode == DFL_CROSSING_EVEN ||
        c->mode == DFL_CROSSING_ROUGH)
        return NULL;
    if (!c->by_step)
        c->by_step = dfl_arena_alloc(walk->nest->arena, n_classes, sizeof *c->by_step, _Alignof(double *));
    if (!c->by_step[class])
        c->by_step[class] = DFL_NEW_ARRAY(walk->nest->arena, double, c->footprint->n + 1);
    return c->by_step[class];
}

/* Adds up the loads of the crossings of one direction on a link, and notes the most for the class. `more`: bits that come on
   top. */
static void add_load(load_walk *walk, link at, bool up, uint32_t class, dfl_i128 more, dfl_i128 *most)
{
    dfl_i128 sum = more;

    for (uint32_t k = 0; k < walk->array->n && walk->ok; k++) {
        dfl_crossing *c = &walk->all->at[walk->array->crossings[k]];
        if (dfl_crossing_goes_up(c) != up)
            continue;
        dfl_i128 *kept = find_kept(walk, k);
        if (kept && *kept != UNKNOWN) {
            walk->over |= dfl_add(sum, *kept, &sum);
            continue;
        }
        double here[DFL_MAX_STEPS + 1], *by_step = find_by_step(walk, c, at, class);
        if (by_step) {
            memset(here, 0, sizeof here);
            walk->by_step = here;
        }
        walk->rough = false;
        dfl_i128 bits = dfl_crossing_bits(c, find_load(walk, c, at), &walk->over);
        if (walk->rough)
            walk->all->networks[c->network].rough = walk->all->networks[c->network].classes[class].rough = true;
        for (uint32_t j = 0; by_step && j <= c->footprint->n; j++)
            by_step[j] = here[j] > by_step[j] ? here[j] : by_step[j];
        walk->by_step = NULL;
        walk->over |= dfl_add(sum, bits, &sum);
        c->bits[class] = bits > c->bits[class] ? bits : c->bits[class];
        if (kept)
            *kept = bits;
    }
    *most = sum > *most ? sum : *most;
}

/* Elements that the instance at the present place gets from a neighbour: the next lower one or the next higher one. */
static dfl_i128 count_forwarded(load_walk *walk, const dfl_crossing *c, bool lower)
{
    dfl_restriction only = { .pinned = 0 };
    dfl_sharing how = c->how, alone = c->how;
    dfl_restricted_counts most = { 0 }, least = { 0 };

    for (uint32_t a = 0; a < walk->n_axes; a++)
        if (!dfl_link_pin_place(walk->nest, c, walk->first_axis + a, walk->place[a], &only))
            return 0;
    how.first_only = alone.first_only = c->outer;
    alone.forward = DFL_NONE;
    alone.anew = false;
    only.lower = true;
    walk->ok = walk->ok && dfl_delta_restrict(walk->nest, c->footprint, &how, &only, &least);
    if (lower) {
        walk->ok = walk->ok && dfl_delta_restrict(walk->nest, c->direct, &alone, &only, &most);
        return most.enter - least.enter;
    }
    most = least;
    only.lower = false;
    walk->ok = walk->ok && dfl_delta_restrict(walk->nest, c->footprint, &how, &only, &least);
    return most.enter - least.enter;
}

/* Bits that neighbours forward to the instance at the present place along an axis. */
static dfl_i128 find_forwarded(load_walk *walk, uint32_t axis, bool lower, uint32_t class)
{
    dfl_i128 sum = 0;

    for (uint32_t k = 0; k < walk->array->n && walk->ok; k++) {
        dfl_crossing *c = &walk->all->at[walk->array->crossings[k]];
        if (!c->direct || !(dfl_link_steps(walk->nest, c, walk->first_axis + axis) >> c->how.forward & 1))
            continue;
        dfl_i128 bits = dfl_crossing_bits(c, count_forwarded(walk, c, lower), &walk->over);
        walk->over |= dfl_add(sum, bits, &sum);
        c->bits[class] = bits > c->bits[class] ? bits : c->bits[class];
    }
    return sum;
}

/* Tells whether some crossing of the array forwards along an axis. */
static bool is_forwarding(const load_walk *walk, uint32_t axis)
{
    for (uint32_t k = 0; k < walk->array->n; k++) {
        const dfl_crossing *c = &walk->all->at[walk->array->crossings[k]];
        if (c->direct && (dfl_link_steps(walk->nest, c, walk->first_axis + axis) >> c->how.forward & 1))
            return true;
    }
    return false;
}

/* Tells whether some crossing of the array forwards along one of its axes. */
static bool does_forward(const load_walk *walk)
{
    for (uint32_t a = 0; a < walk->n_axes; a++)
        if (is_forwarding(walk, a))
            return true;
    return false;
}

/* Tells whether all coordinates of the place are 0 on the axes from `from` to `to` - 1. */
static bool is_at_first(const load_walk *walk, uint32_t from, uint32_t to)
{
    for (uint32_t a = from; a < to; a++)
        if (walk->place[a] != 0)
            return false;
    return true;
}

/* Counts the links along an axis, in one direction, without forwarding: the first links are the busiest. */
static void count_first_links(load_walk *walk, uint32_t axis, bool up, uint32_t class, dfl_i128 *most)
{
    uint64_t low = (UINT64_C(1) << axis) - 1, axes = up ? ~(low | UINT64_C(1) << axis) : low;

    keep_loads(walk, axes);
    do
        add_load(walk, (link){ LINK_ALONG, axis, 1, INT64_MAX }, up, class, 0, most);
    while (walk->ok && advance_place(walk, axes));
    walk->loads = NULL;
}

/* Counts the links along an axis with forwarding, one by one: the link between coordinates q and q + 1 carries what goes on
   beyond it, and what the neighbours pass to each other. */
static void count_all_links(load_walk *walk, uint32_t axis, bool up, uint32_t class, dfl_i128 *most)
{
    count_first_links(walk, axis, up, class, most);
    do {
        int64_t q = walk->place[axis];
        /* forwarded down to this place from q - 1, or up to this place from q + 1 */
        dfl_i128 bits = find_forwarded(walk, axis, !up, class);
        int64_t far = up ? q + 1 : q;
        bool routed = up ? is_at_first(walk, 0, axis) : is_at_first(walk, axis + 1, walk->n_axes);
        if (bits > *most)
            *most = bits;
        if (bits > 0 && routed)
            add_load(walk, (link){ LINK_ALONG, axis, far, INT64_MAX }, up, class, bits, most);
    } while (walk->ok && advance_place(walk, UINT64_MAX));
}

static void count_axis(load_walk *walk, uint32_t axis)
{
    dfl_network_cost *cost = &walk->all->networks[walk->array->network];
    uint32_t class = walk->all->axis_class[walk->first_axis + axis];
    bool along = walk->array->shape == DFL_NETWORK_LINES;
    bool forwards = is_forwarding(walk, axis);

    if (class == DFL_NONE)
        return;
    for (int up = 0; along && up < 2; up++) {
        if (forwards)
            count_all_links(walk, axis, up, class + (uint32_t)up, &cost->classes[class + (uint32_t)up].bits);
        else
            count_first_links(walk, axis, up, class + (uint32_t)up, &cost->classes[class + (uint32_t)up].bits);
    }
    if (along || !forwards)
        return;
    dfl_i128 *most = &cost->classes[class].bits;
    do
        for (int lower = 0; lower < 2; lower++) {
            dfl_i128 bits = find_forwarded(walk, axis, lower, class);
            *most = bits > *most ? bits : *most;
        }
    while (walk->ok && advance_place(walk, UINT64_MAX));
}

/* Counts the classes of a bus, or of a network of ports. */
static void count_ports(load_walk *walk)
{
    dfl_network_cost *cost = &walk->all->networks[walk->array->network];
    bool bus = walk->array->shape == DFL_NETWORK_BUS;
    dfl_i128 outside[2] = { 0, 0 };

    for (int up = 0; up < 2; up++) {
        uint32_t outer = bus ? DFL_CLASS_MEDIUM : up ? DFL_CLASS_OUTER_UP : DFL_CLASS_OUTER_DOWN;
        uint32_t inner = up ? DFL_CLASS_INNER_UP : DFL_CLASS_INNER_DOWN;
        dfl_i128 bits = 0;
        add_load(walk, (link){ .kind = LINK_OUTER }, up, outer, 0, &bits);
        walk->over |= dfl_add(outside[bus ? 0 : up], bits, &outside[bus ? 0 : up]);
        if (bus)
            continue;
        keep_loads(walk, UINT64_MAX);
        do
            add_load(walk, (link){ .kind = LINK_PORT }, up, inner, 0, &cost->classes[inner].bits);
        while (walk->ok && advance_place(walk, UINT64_MAX));
        walk->loads = NULL;
    }
    for (int up = 0; up < 2; up++)
        walk->outer[up] = outside[up] > walk->outer[up] ? outside[up] : walk->outer[up];
}

/* Tells whether two crossings of an array begin in the same instance of its network. */
static bool is_beside(const dfl_nest *nest, const dfl_crossing *a, const dfl_crossing *b)
{
    for (uint32_t i = 0; i < nest->system->n_axes; i++)
        if (dfl_axis_encloses(nest->system, i, a->element) && nest->system->axes[i].element != a->element &&
            dfl_paths_place(nest->paths, a->footprint->einsum, i) != dfl_paths_place(nest->paths, b->footprint->einsum, i))
            return false;
    return true;
}

/* Counts the classes of the instance of the network of an array in which crossing `with` begins. */
static void count_instance(load_walk *walk, const dfl_crossed_array *whole, uint32_t with)
{
    const dfl_nest *nest = walk->nest;
    dfl_crossed_array *array = &walk->instance;
    bool enumerated = false;

    *array = *whole;
    if (walk->staged)
        array->crossings = DFL_NEW_ARRAY(nest->arena, uint32_t, whole->n + 1);
    array->n = 0;
    walk->array = array;
    walk->enumerated = false;
    for (uint32_t k = 0; k < whole->n; k++) {
        dfl_crossing *c = &walk->all->at[whole->crossings[k]];
        if (walk->staged && !is_beside(nest, &walk->all->at[whole->crossings[with]], c))
            continue;
        array->crossings[array->n++] = whole->crossings[k];
        enumerated |= c->mode == DFL_CROSSING_ANY || c->direct;
        for (uint32_t a = 0; a < walk->n_axes && walk->staged; a++)
            enumerated |= find_first(walk, c, a) > 0;
    }
    if (enumerated && walk->ok && (array->shape != DFL_NETWORK_BUS || does_forward(walk))) {
        walk->places = DFL_NEW_ARRAY(nest->arena, dfl_link_places, walk->n_axes + 1);
        walk->index = DFL_NEW_ARRAY(nest->arena, uint32_t, walk->n_axes + 1);
        for (uint32_t a = 0; a < walk->n_axes && walk->ok; a++)
            walk->ok = dfl_link_places_find(walk->nest, walk->all, array, walk->first_axis + a, &walk->places[a]);
        walk->enumerated = walk->ok;
    }
    begin_places(walk);
    if (array->shape == DFL_NETWORK_BUS || array->shape == DFL_NETWORK_PORTS)
        count_ports(walk);
    for (uint32_t a = 0; a < walk->n_axes && walk->ok; a++) {
        begin_places(walk);
        count_axis(walk, a);
    }
    walk->array = whole;
}

/* Counts the classes of one array. */
static bool count_array(dfl_nest *nest, const dfl_keep_tree *keeps, const dfl_traffic_sums *sums, dfl_crossings *all,
                        const dfl_crossed_array *array)
{
    const dfl_element *element = &nest->system->elements[array->element];
    load_walk walk = { .nest = nest, .keeps = keeps, .sums = sums, .all = all, .array = array, .ok = true,
                       .first_axis = element->first_axis, .n_axes = element->n_axes };
    dfl_network_cost *cost = &all->networks[array->network];
    int64_t origin[DFL_NETWORK_AXES] = { 0 };

    walk.place = element->n_axes <= DFL_NETWORK_AXES ? origin : DFL_NEW_ARRAY(nest->arena, int64_t, element->n_axes);
    for (uint32_t k = 0; k < array->n; k++) {
        dfl_crossing *c = &all->at[array->crossings[k]];
        memset(c->bits, 0, cost->n_classes * sizeof *c->bits);
        c->by_step = NULL;
        for (uint32_t a = 0; a < element->n_axes; a++)
            walk.place[a] = find_first(&walk, c, a);
        find_mode(&walk, c);
    }
    walk.staged = dfl_paths_staged(nest->paths);
    for (uint32_t k = 0; k < (walk.staged ? array->n : 1) && walk.ok; k++) {
        bool counted = false;
        for (uint32_t before = 0; before < k; before++)
            counted |= is_beside(nest, &all->at[array->crossings[before]], &all->at[array->crossings[k]]);
        if (!counted)
            count_instance(&walk, array, k);
    }
    for (uint32_t up = 0; up < 2 && array->shape != DFL_NETWORK_LINES; up++) /* a bus has no bits in the second part */
        walk.over |= walk.outer[up] > 0 && dfl_add(cost->classes[up].bits, walk.outer[up], &cost->classes[up].bits);
    if (!walk.ok) {
        if (!dfl_budget_ok(dfl_arena_budget(nest->arena)))
            dfl_report_stop(nest->sink, dfl_arena_budget(nest->arena));
        return false;
    }
    return walk.over ? dfl_nest_report_overflow(nest, nest->mapping->span) : true;
}

bool dfl_link_loads_count(dfl_nest *nest, const dfl_keep_tree *keeps, const dfl_traffic_sums *sums, dfl_crossings *all)
{
    for (uint32_t i = 0; i < all->n_arrays; i++)
        if (!count_array(nest, keeps, sums, all, &all->arrays[i]))
            return false;
    return true;
}
