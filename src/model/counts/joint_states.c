#include "model/counts/joint_states.h"

#include <string.h>

#include "support/budget.h"
#include "support/hash.h"

/* Numbers of a source in a row: length of its piece now and at the step before; by how much the pieces of all coordinates of
   DFL_JOINT_KEPT steps together exceed it, now and before; distance of the low end of the piece from that at the step before;
   whether such a step cuts pieces of different lengths: then the numbers are those above this step, and all positions below it
   are marked. */
enum { LENGTH, REACH, OLD_LENGTH, OLD_REACH, DISTANCE, STUCK, SOURCE_NUMBERS };
/* Steps of the budget for a row. Measured on causal scores: a row takes as long as the visit of 8 elements of a set, which is one
   step of the budget each. */
enum { ROW_STEPS = 8 };
/* Values of a condition that holds, or fails, throughout. */
#define HOLDS INT64_MAX
#define FAILS INT64_MIN

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- sets of states ---- */

/* Adds `times` positions in the state of `row`, which is copied. */
static void add_row(dfl_joint_walk *walk, dfl_joint_states *set, const int64_t *row, dfl_i128 times)
{
    const size_t bytes = walk->key * sizeof *row;
    const uint64_t hash = dfl_hash(row, bytes, 0);
    uint32_t at, item = dfl_hashmap_first(&set->by_key, hash, &at);
    dfl_joint_state fresh = { .times = 0 };

    while (item != 0 && memcmp(set->all.at[item - 1].row, row, bytes) != 0)
        item = dfl_hashmap_next(&set->by_key, hash, &at);
    if (item == 0) {
        fresh.row = DFL_NEW_ARRAY(walk->arena, int64_t, walk->width);
        memcpy(fresh.row, row, walk->width * sizeof *row);
        DFL_PUSH(walk->arena, &set->all, fresh);
        item = (uint32_t)set->all.n;
        dfl_hashmap_add(walk->arena, &set->by_key, hash, item);
    }
    walk->overflow |= dfl_add(set->all.at[item - 1].times, times, &set->all.at[item - 1].times);
}

/* ---- rows ---- */

static int64_t *numbers_of(int64_t *row, uint32_t s) { return row + (size_t)s * SOURCE_NUMBERS; }

/* What a condition adds to its value at the low corner of the hull of the pieces, at least and at most. False if a piece is
   empty. */
static bool find_span(const dfl_joint_walk *walk, const int64_t *row, const dfl_joint_condition *c, bool old, dfl_i128 *least,
                      dfl_i128 *most)
{
    const dfl_joint_access *joint = &walk->group->references[c->reference].joint;

    *least = *most = 0;
    for (uint32_t k = 0; k < joint->n_ranks; k++) {
        const int64_t *at = row + (size_t)(c->first + k) * SOURCE_NUMBERS;
        const int64_t length = old ? at[OLD_LENGTH] : at[LENGTH], reach = old ? at[OLD_REACH] : at[REACH];
        const dfl_i128 span = (dfl_i128)joint->slopes[c->number * joint->n_ranks + k] * (length + reach - 1);
        if (length <= 0)
            return false;
        *least += span < 0 ? span : 0;
        *most += span > 0 ? span : 0;
    }
    return true;
}

/* The value of a condition over the hull of the pieces whose low corner has the value `v`. */
static int64_t settle(const dfl_joint_walk *walk, const int64_t *row, const dfl_joint_condition *c, int64_t v, bool old)
{
    dfl_i128 least, most;

    if (v == HOLDS || v == FAILS)
        return v;
    if (!find_span(walk, row, c, old, &least, &most))
        return FAILS;
    return v + least >= 0 ? HOLDS : v + most < 0 ? FAILS : v;
}

static void settle_all(const dfl_joint_walk *walk, int64_t *row)
{
    for (uint32_t c = 0; c < walk->n_conditions; c++) {
        int64_t *v = row + walk->values + (size_t)c * 2;
        v[0] = settle(walk, row, &walk->conditions[c], v[0], false);
        v[1] = walk->compare ? settle(walk, row, &walk->conditions[c], v[1], true) : FAILS;
    }
}

uint32_t dfl_joint_cut(const dfl_rank_source *r, uint32_t step)
{
    for (uint32_t k = 0; k < r->n_cuts; k++)
        if (r->step[k] == step)
            return k;
    return DFL_NONE;
}

/* Moves the values of the conditions, and the distances between references, when the low end of a source moves. */
static void shift_values(const dfl_joint_walk *walk, int64_t *row, uint32_t s, int64_t by, int64_t old_by)
{
    const dfl_joint_source *from = &walk->sources[s];

    for (uint32_t c = 0; c < walk->n_conditions; c++) {
        const dfl_joint_condition *at = &walk->conditions[c];
        const dfl_joint_access *joint = &walk->group->references[at->reference].joint;
        int64_t *v = row + walk->values + (size_t)c * 2, slope;
        if (at->reference != from->reference || from->k == DFL_NONE)
            continue;
        slope = joint->slopes[at->number * joint->n_ranks + from->k];
        v[0] += v[0] == HOLDS || v[0] == FAILS ? 0 : slope * by;
        v[1] += v[1] == HOLDS || v[1] == FAILS ? 0 : slope * old_by;
    }
    if (from->reference == DFL_NONE || from->k == DFL_NONE || from->k >= walk->group->references[0].joint.n_indexing)
        return;
    for (uint32_t v = 1; v < walk->footprint->n_references; v++)
        row[walk->apart + (v - 1) * walk->group->references[0].joint.n_indexing + from->k] +=
            from->reference == v ? by : from->reference == 0 ? -by : 0;
}

/* The piece of tile `q` of a piece of `length` elements. */
static int64_t cut_length(int64_t length, int64_t tile, int64_t q)
{
    return length <= 0 || q > (length - 1) / tile ? 0 : smaller(length - q * tile, tile);
}

/* Whether the distance of a source's pieces matters: the elements that stay depend on it. */
static bool has_distance(const dfl_joint_walk *walk, uint32_t s)
{
    const dfl_joint_source *at = &walk->sources[s];

    return at->k != DFL_NONE && at->k < walk->group->references[at->reference].joint.n_indexing;
}

/* Takes a step in a row: coordinate or iteration `q` now and `old` at the step before. */
static void take_step(const dfl_joint_walk *walk, int64_t *row, uint32_t i, int64_t q, int64_t old)
{
    const dfl_joint_step *step = &walk->steps[i];
    const bool is_loop = step->kind == DFL_JOINT_LOOP;
    bool exact = step->exact;

    row[walk->key + i] = q;
    row[walk->key + walk->n_steps + i] = old;
    for (uint32_t s = 0; s < walk->n_sources; s++) {
        const dfl_rank_source *r = walk->sources[s].rank;
        const uint32_t cut = dfl_joint_cut(r, step->step);
        int64_t *at = numbers_of(row, s), length, old_length, here = q, before = old;
        if (cut == DFL_NONE)
            continue;
        if (at[STUCK] != 0) {
            exact = true;
            continue;
        }
        if (walk->sources[s].at_zero && !is_loop)
            here = before = 0;
        length = cut_length(at[LENGTH], r->tile[cut], here);
        old_length = cut_length(at[OLD_LENGTH], r->tile[cut], before);
        if (!walk->sources[s].at_zero)
            shift_values(walk, row, s, length > 0 ? here * r->tile[cut] : 0, old_length > 0 ? before * r->tile[cut] : 0);
        if (has_distance(walk, s))
            at[DISTANCE] = length > 0 && old_length > 0 ? at[DISTANCE] + (here - before) * r->tile[cut] : 0;
        at[LENGTH] = is_loop && s == step->driver ? 0 : length; /* the loop has its iterations: no later step needs the length */
        at[OLD_LENGTH] = walk->compare && !(is_loop && s == step->driver) ? old_length : 0;
    }
    if (exact) {
        row[step->mark] = q;
        row[step->mark + 1] = old;
    } else if (step->gate) {
        row[step->mark] = q > 0;
        row[step->mark + 1] = old > 0;
    }
}

static bool is_cut_unevenly(int64_t length, int64_t tile) { return length > tile && length % tile != 0; }

/* Takes a step whose coordinates count together: the hull of the piece stays. */
static void keep_step(const dfl_joint_walk *walk, int64_t *row, uint32_t i)
{
    const dfl_joint_step *step = &walk->steps[i];
    uint32_t n = 0;

    for (uint32_t s = 0; s < walk->n_sources; s++) {
        const dfl_rank_source *r = walk->sources[s].rank;
        const uint32_t cut = dfl_joint_cut(r, step->step);
        int64_t *at = numbers_of(row, s);
        if (cut == DFL_NONE)
            continue;
        if (walk->sources[s].at_zero) {
            at[LENGTH] = cut_length(at[LENGTH], r->tile[cut], 0);
            at[OLD_LENGTH] = cut_length(at[OLD_LENGTH], r->tile[cut], 0);
            continue;
        }
        row[step->mark + n++] = at[LENGTH];
        row[step->mark + n++] = at[OLD_LENGTH];
        if (at[STUCK] == 0 && (is_cut_unevenly(at[LENGTH], r->tile[cut]) || is_cut_unevenly(at[OLD_LENGTH], r->tile[cut]))) {
            at[STUCK] = 1;
        } else if (at[STUCK] == 0) {
            at[REACH] += at[LENGTH] > r->tile[cut] ? at[LENGTH] - r->tile[cut] : 0;
            at[OLD_REACH] += at[OLD_LENGTH] > r->tile[cut] ? at[OLD_LENGTH] - r->tile[cut] : 0;
            at[LENGTH] = smaller(at[LENGTH], r->tile[cut]);
            at[OLD_LENGTH] = smaller(at[OLD_LENGTH], r->tile[cut]);
        }
    }
}

/* The row behind step `i` with `q` now and `old` before. */
static void make_row(const dfl_joint_walk *walk, const int64_t *from, uint32_t i, int64_t q, int64_t old, int64_t *out)
{
    memcpy(out, from, walk->width * sizeof *out);
    take_step(walk, out, i, q, old);
    settle_all(walk, out);
}

/* ---- steps ---- */

/* Whether the coordinates of the row, up to step `i`, are counted; the last step of a range decides. */
static bool is_in_range(const dfl_joint_walk *walk, const int64_t *row, uint32_t i)
{
    const uint64_t ranged = walk->only != NULL ? walk->only->ranged : 0;
    bool any = false;
    int64_t at = 0;

    for (uint32_t k = 0; k < walk->n_steps; k++) {
        const dfl_joint_step *step = &walk->steps[k];
        if (step->kind == DFL_JOINT_LOOP || !(ranged >> step->step & 1))
            continue;
        if ((step->kind != DFL_JOINT_FREE && step->kind != DFL_JOINT_FORWARD) || k > i)
            return true; /* the visit of the sets leaves out coordinates, or a later step decides */
        at = at * step->parts + row[walk->key + k];
        any = true;
    }
    return !any || (at >= walk->only->lo && at < walk->only->hi);
}

/* How far the value of a condition moves from one iteration or coordinate of step `i` to the next, in a row behind the step. */
static dfl_i128 find_shift(const dfl_joint_walk *walk, const int64_t *row, uint32_t i, const dfl_joint_condition *c, bool old)
{
    const dfl_joint_access *joint = &walk->group->references[c->reference].joint;
    dfl_i128 shift = 0;

    for (uint32_t k = 0; k < joint->n_ranks; k++) {
        const dfl_rank_source *r = walk->sources[c->first + k].rank;
        const uint32_t cut = dfl_joint_cut(r, walk->steps[i].step);
        if (cut != DFL_NONE && row[(size_t)(c->first + k) * SOURCE_NUMBERS + (old ? OLD_LENGTH : LENGTH)] > 0)
            shift += (dfl_i128)joint->slopes[c->number * joint->n_ranks + k] * r->tile[cut];
    }
    return shift;
}

/* The last iteration or coordinate up to which a condition stays as at `q`: it holds, or fails, throughout, or its value stays.
   `from`, `row`: before and behind step `i` at `q`. */
static int64_t find_last_value(const dfl_joint_walk *walk, const int64_t *from, const int64_t *row, uint32_t i, uint32_t c,
                               bool old, int64_t q)
{
    const dfl_joint_condition *at = &walk->conditions[c];
    const int64_t before = from[walk->values + (size_t)c * 2 + old], now = row[walk->values + (size_t)c * 2 + old];
    dfl_i128 least, most, shift, last = INT64_MAX;

    if (before == HOLDS || before == FAILS || !find_span(walk, row, at, old, &least, &most))
        return INT64_MAX;
    shift = find_shift(walk, row, i, at, old);
    if (now == HOLDS && shift < 0)
        last = (before + least) / -shift;
    else if (now == FAILS && shift > 0)
        last = (-(before + most) - 1) / shift;
    else if (now != HOLDS && now != FAILS && shift != 0)
        last = q;
    return last > INT64_MAX ? INT64_MAX : (int64_t)last;
}

/* The last iteration or coordinate of tiles as long as that at `q`, of a piece of `length` elements: full ones, one that is
   shorter, or empty ones. */
static int64_t find_last_length(int64_t length, int64_t tile, int64_t q)
{
    return length <= 0 || q > (length - 1) / tile ? INT64_MAX : q < length / tile ? length / tile - 1 : q;
}

/* Whether a step moves references by different distances. */
static bool moves_apart(const dfl_joint_walk *walk, uint32_t step)
{
    for (uint32_t v = 1; v < walk->footprint->n_references; v++)
        for (uint32_t k = 0; k < walk->group->references[0].joint.n_indexing; k++)
            if (dfl_joint_cut(&walk->group->references[v].ranks[k], step) !=
                dfl_joint_cut(&walk->group->references[0].ranks[k], step))
                return true;
    return false;
}

/* The last iteration or coordinate up to which all are in the state of `row`, that behind step `i` at `q`. `from` is the state
   before the step; the step before is `lag` behind. */
static int64_t find_last(const dfl_joint_walk *walk, const int64_t *from, const int64_t *row, uint32_t i, int64_t q, int64_t lag)
{
    const dfl_joint_step *step = &walk->steps[i];
    const bool is_loop = step->kind == DFL_JOINT_LOOP;
    int64_t last = INT64_MAX;

    if (step->exact || (step->gate && q - lag <= 0) || moves_apart(walk, step->step))
        return q;
    for (uint32_t s = 0; s < walk->n_sources; s++) {
        const uint32_t cut = dfl_joint_cut(walk->sources[s].rank, step->step);
        const int64_t *at = from + (size_t)s * SOURCE_NUMBERS;
        if (cut == DFL_NONE || (is_loop ? s == step->driver : walk->sources[s].at_zero))
            continue;
        if (at[STUCK] != 0)
            return q;
        last = smaller(last, find_last_length(at[LENGTH], walk->sources[s].rank->tile[cut], q));
        if (walk->compare) {
            const int64_t old = find_last_length(at[OLD_LENGTH], walk->sources[s].rank->tile[cut], q - lag);
            last = smaller(last, old == INT64_MAX ? old : old + lag);
        }
    }
    for (uint32_t c = 0; c < walk->n_conditions; c++) {
        last = smaller(last, find_last_value(walk, from, row, i, c, false, q));
        if (walk->compare) {
            const int64_t old = find_last_value(walk, from, row, i, c, true, q - lag);
            last = smaller(last, old == INT64_MAX ? old : old + lag);
        }
    }
    return last;
}

/* Adds the rows of iterations or coordinates `first` <= q < `end`, each with `lag` less before. */
static void add_rows(dfl_joint_walk *walk, const int64_t *from, dfl_i128 times, uint32_t i, int64_t first, int64_t end,
                     int64_t lag, dfl_joint_states *out)
{
    int64_t *row = walk->row;

    for (int64_t q = first; q < end && dfl_budget_spend(walk->budget, ROW_STEPS); q++) {
        int64_t last;
        dfl_i128 part;
        make_row(walk, from, i, q, q - lag, row);
        last = q + 1 < end ? smaller(find_last(walk, from, row, i, q, lag), end - 1) : q;
        walk->overflow |= dfl_mul(times, last - q + 1, &part);
        add_row(walk, out, row, part);
        q = last;
    }
}

/* Adds the rows of coordinates along which neighbours forward. The state is that of all coordinates, and which one it is. */
static void add_neighbours(dfl_joint_walk *walk, const int64_t *from, dfl_i128 times, uint32_t i, dfl_joint_states *out)
{
    const dfl_joint_step *step = &walk->steps[i];
    int64_t *row = walk->row;

    for (int64_t q = 0; q < step->parts && dfl_budget_spend(walk->budget, ROW_STEPS); q++) {
        memcpy(row, from, walk->width * sizeof *row);
        row[walk->key + i] = row[walk->key + walk->n_steps + i] = row[step->mark + 2 * walk->n_sources] = q;
        keep_step(walk, row, i);
        settle_all(walk, row);
        if ((step->at < 0 || step->at == q) && is_in_range(walk, row, i))
            add_row(walk, out, row, times);
    }
}

/* Adds the rows of coordinates along a step that counts them one by one, those of a range only. */
static void add_coordinates(dfl_joint_walk *walk, const int64_t *from, dfl_i128 times, uint32_t i, dfl_joint_states *out)
{
    const dfl_joint_step *step = &walk->steps[i];
    int64_t *row = walk->row;

    if (walk->only == NULL || !(walk->only->ranged >> step->step & 1)) {
        add_rows(walk, from, times, i, 0, step->parts, 0, out);
        return;
    }
    for (int64_t q = 0; q < step->parts && dfl_budget_spend(walk->budget, ROW_STEPS); q++) {
        make_row(walk, from, i, q, q, row);
        if (is_in_range(walk, row, i))
            add_row(walk, out, row, times);
    }
}

static int64_t count_trips(const dfl_joint_walk *walk, const int64_t *row, const dfl_joint_step *step, bool old)
{
    const dfl_joint_source *driver = &walk->sources[step->driver];
    const int64_t length = row[(size_t)step->driver * SOURCE_NUMBERS + (old ? OLD_LENGTH : LENGTH)];

    return length <= 0 ? 1 : dfl_ceil_div(length, driver->rank->tile[dfl_joint_cut(driver->rank, step->step)]);
}

dfl_joint_states dfl_joint_walk_pass(dfl_joint_walk *walk, const dfl_joint_states *from, uint32_t i)
{
    const dfl_joint_step *step = &walk->steps[i];
    dfl_joint_states out = { 0 };

    for (size_t n = 0; n < from->all.n && dfl_budget_ok(walk->budget); n++) {
        int64_t *row = from->all.at[n].row;
        const dfl_i128 times = from->all.at[n].times;
        if (step->kind == DFL_JOINT_KEPT) {
            keep_step(walk, row, i);
            settle_all(walk, row);
            add_row(walk, &out, row, times);
        } else if (step->kind == DFL_JOINT_FIXED) {
            add_rows(walk, row, times, i, step->at, step->at + 1, 0, &out);
        } else if (step->kind == DFL_JOINT_FORWARD) {
            add_neighbours(walk, row, times, i, &out);
        } else if (step->kind == DFL_JOINT_FREE) {
            add_coordinates(walk, row, times, i, &out);
        } else if (step->level >= walk->level) { /* the first iteration now, the last one before */
            const int64_t last = walk->compare ? count_trips(walk, row, step, true) - 1 : 0;
            add_rows(walk, row, times, i, 0, 1, -last, &out);
        } else if (step->level == walk->advancing) {
            add_rows(walk, row, times, i, 1, count_trips(walk, row, step, false), 1, &out);
        } else {
            add_rows(walk, row, times, i, 0, count_trips(walk, row, step, false), 0, &out);
        }
    }
    return out;
}

void dfl_joint_walk_layout(dfl_joint_walk *walk)
{
    walk->values = walk->n_sources * SOURCE_NUMBERS;
    walk->apart = walk->values + 2 * walk->n_conditions;
    walk->key = walk->apart + (walk->footprint->n_references - 1) * walk->group->references[0].joint.n_indexing;
    for (uint32_t i = 0; i < walk->n_steps; i++) {
        const dfl_joint_kind kind = walk->steps[i].kind;
        walk->steps[i].mark = walk->key;
        walk->key += kind == DFL_JOINT_KEPT || kind == DFL_JOINT_FORWARD ? 2 * walk->n_sources + 1 : 2;
    }
    walk->width = walk->key + 2 * walk->n_steps;
    walk->row = DFL_NEW_ARRAY(walk->arena, int64_t, walk->width);
}

dfl_joint_states dfl_joint_walk_start(dfl_joint_walk *walk)
{
    int64_t *row = DFL_NEW_ARRAY(walk->arena, int64_t, walk->width);
    dfl_joint_states out = { 0 };

    for (uint32_t s = 0; s < walk->n_sources; s++)
        numbers_of(row, s)[LENGTH] = numbers_of(row, s)[OLD_LENGTH] = walk->sources[s].rank->extent;
    for (uint32_t c = 0; c < walk->n_conditions; c++) {
        const int64_t fixed = walk->group->references[walk->conditions[c].reference].joint.fixed[walk->conditions[c].number];
        row[walk->values + (size_t)c * 2] = row[walk->values + (size_t)c * 2 + 1] = fixed;
    }
    settle_all(walk, row);
    add_row(walk, &out, row, 1);
    return out;
}

