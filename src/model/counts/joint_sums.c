#include "model/counts/joint_sums.h"

#include <string.h>

#include "model/sets/rank_piece.h"
#include "support/vec.h"

/* A rank of a reference, or, `at_zero`, the rank of a loop's driver, of which coordinate 0 decides the number of iterations. */
typedef struct {
    const dfl_rank_source *rank;
    bool at_zero;
    uint32_t reference; /* DFL_NONE: none */
    uint32_t k;         /* its number among the ranks of the reference's joint form; DFL_NONE: it only makes the reference idle */
} source;

/* A condition of a reference. */
typedef struct { uint32_t reference, number, first; } condition; /* `first`: the source of the reference's first rank */

typedef enum { IS_LOOP, IS_FREE, IS_FIXED, IS_KEPT, IS_FORWARD } step_kind;

/* A step of the group: a loop, or coordinates that are counted one by one (IS_FREE), of which one counts (IS_FIXED), which belong
   to one set (IS_KEPT), or along which neighbours forward, so that each counts with its neighbours (IS_FORWARD). */
typedef struct {
    uint32_t step;
    step_kind kind;
    uint32_t level;     /* IS_LOOP: its position in the group's lines */
    uint32_t driver;    /* IS_LOOP: the source that decides its iterations */
    int64_t parts;      /* coordinates */
    int64_t at;         /* IS_FIXED: the coordinate; IS_FORWARD: the only one that counts, -1 = all count */
    uint32_t mark;      /* its place in a row */
    bool gate, exact;
} group_step;

/* Numbers of a source in a row: length of its piece now and at the step before; what instances along IS_KEPT steps add to the
   hull of their pieces; distance of the low ends of the pieces; whether such a step has cut it unevenly. */
enum { LENGTH, REACH, OLD_LENGTH, OLD_REACH, DISTANCE, STUCK, SOURCE_NUMBERS };
/* Steps of the budget that a row takes: it is as much work as so many elements of a set. */
enum { ROW_STEPS = 8 };
/* Values of a condition that holds, or fails, throughout. */
#define HOLDS INT64_MAX
#define FAILS INT64_MIN

/* Rows of numbers, with how many positions each stands for. A row has the numbers of the sources, the values of the conditions
   now and before, the distances between references, the marks of the steps; and, beyond `key`, one position in that state. */
typedef struct {
    DFL_VEC(int64_t *) rows;
    dfl_i128 *times;
    size_t times_cap;
    uint32_t *slots; /* row + 1 by hash, 0 = none */
    uint32_t n_slots;
} state_set;

typedef struct {
    dfl_arena *arena;
    dfl_budget *budget;
    const dfl_footprint *footprint;
    const dfl_group *group;
    const dfl_restriction *only;
    source *sources;
    condition *conditions;
    group_step *steps;
    uint32_t n_sources, n_conditions, n_steps, n_apart; /* `n_apart`: distances between references */
    uint32_t values, apart, marks, key, width; /* places in a row */
    bool compare;
    uint32_t advancing;  /* level of the loop that advances; DFL_NONE: none */
    uint32_t level;      /* loops from this level on stand at their first iteration, and before at their last */
    int64_t *row;        /* room for one */
    uint64_t united;     /* steps whose instances share a transfer and may hold an element together */
    bool overflow;
} job;

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- sets of states ---- */

static uint64_t hash_row(const job *j, const int64_t *row)
{
    uint64_t lane[4] = { 1, 2, 3, 4 };

    for (uint32_t i = 0; i < j->key; i++)
        lane[i % 4] = (lane[i % 4] ^ (uint64_t)row[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return (lane[0] ^ lane[1] >> 7 ^ lane[2] >> 13 ^ lane[3] >> 19) * UINT64_C(0x9e3779b97f4a7c15);
}

static bool is_same(const job *j, const int64_t *a, const int64_t *b) { return memcmp(a, b, j->key * sizeof *a) == 0; }

/* The slot of a row, or the empty one where it belongs. */
static uint32_t *find_slot(const job *j, const state_set *set, const int64_t *row)
{
    uint32_t at = (uint32_t)(hash_row(j, row) >> 32) & (set->n_slots - 1);

    while (set->slots[at] != 0 && !is_same(j, set->rows.at[set->slots[at] - 1], row))
        at = (at + 1) & (set->n_slots - 1);
    return &set->slots[at];
}

static void grow_slots(const job *j, state_set *set)
{
    set->n_slots = set->n_slots == 0 ? 64 : set->n_slots * 4;
    set->slots = DFL_NEW_ARRAY(j->arena, uint32_t, set->n_slots);
    for (uint32_t i = 0; i < set->rows.n; i++)
        *find_slot(j, set, set->rows.at[i]) = i + 1;
}

/* Adds `times` positions in the state of `row`, which is copied. */
static void add_row(job *j, state_set *set, const int64_t *row, dfl_i128 times)
{
    uint32_t *slot;
    int64_t *own;

    if (set->rows.n * 2 >= set->n_slots)
        grow_slots(j, set);
    slot = find_slot(j, set, row);
    if (*slot == 0) {
        own = DFL_NEW_ARRAY(j->arena, int64_t, j->width);
        memcpy(own, row, j->width * sizeof *own);
        DFL_PUSH(j->arena, &set->rows, own);
        if (set->rows.n > set->times_cap) {
            dfl_i128 *more = DFL_NEW_ARRAY(j->arena, dfl_i128, set->rows.cap);
            if (set->times != NULL)
                memcpy(more, set->times, (set->rows.n - 1) * sizeof *more);
            set->times = more;
            set->times_cap = set->rows.cap;
        }
        *slot = (uint32_t)set->rows.n;
        set->times[*slot - 1] = 0;
    }
    j->overflow |= dfl_add(set->times[*slot - 1], times, &set->times[*slot - 1]);
}

/* ---- rows ---- */

static int64_t *numbers_of(int64_t *row, uint32_t s) { return row + (size_t)s * SOURCE_NUMBERS; }

/* What a condition adds to its value at the low corner of the hull of the pieces, at least and at most. False if a piece is
   empty. */
static bool find_span(const job *j, const int64_t *row, const condition *c, bool old, dfl_i128 *least, dfl_i128 *most)
{
    const dfl_joint_access *joint = &j->group->references[c->reference].joint;

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
static int64_t settle(const job *j, const int64_t *row, const condition *c, int64_t v, bool old)
{
    dfl_i128 least, most;

    if (v == HOLDS || v == FAILS)
        return v;
    if (!find_span(j, row, c, old, &least, &most))
        return FAILS;
    return v + least >= 0 ? HOLDS : v + most < 0 ? FAILS : v;
}

static void settle_all(const job *j, int64_t *row)
{
    for (uint32_t c = 0; c < j->n_conditions; c++) {
        int64_t *v = row + j->values + (size_t)c * 2;
        v[0] = settle(j, row, &j->conditions[c], v[0], false);
        v[1] = j->compare ? settle(j, row, &j->conditions[c], v[1], true) : FAILS;
    }
}

/* Number of the cut of a rank by a step; DFL_NONE if the step does not cut it. */
static uint32_t find_cut(const dfl_rank_source *r, uint32_t step)
{
    for (uint32_t k = 0; k < r->n_cuts; k++)
        if (r->step[k] == step)
            return k;
    return DFL_NONE;
}

/* Moves the values of the conditions, and the distances between references, when the low end of a source moves. */
static void shift_values(const job *j, int64_t *row, uint32_t s, int64_t by, int64_t old_by)
{
    const source *from = &j->sources[s];

    for (uint32_t c = 0; c < j->n_conditions; c++) {
        const condition *at = &j->conditions[c];
        const dfl_joint_access *joint = &j->group->references[at->reference].joint;
        int64_t *v = row + j->values + (size_t)c * 2, slope;
        if (at->reference != from->reference || from->k == DFL_NONE)
            continue;
        slope = joint->slopes[at->number * joint->n_ranks + from->k];
        v[0] += v[0] == HOLDS || v[0] == FAILS ? 0 : slope * by;
        v[1] += v[1] == HOLDS || v[1] == FAILS ? 0 : slope * old_by;
    }
    if (from->reference == DFL_NONE || from->k == DFL_NONE || from->k >= j->group->references[0].joint.n_indexing)
        return;
    for (uint32_t v = 1; v < j->footprint->n_references; v++)
        row[j->apart + (v - 1) * j->group->references[0].joint.n_indexing + from->k] +=
            from->reference == v ? by : from->reference == 0 ? -by : 0;
}

/* The piece of tile `q` of a piece of `length` elements. */
static int64_t cut_length(int64_t length, int64_t tile, int64_t q)
{
    return length <= 0 || q > (length - 1) / tile ? 0 : smaller(length - q * tile, tile);
}

/* Whether the distance of a source's pieces matters: the elements that stay depend on it. */
static bool has_distance(const job *j, uint32_t s)
{
    const source *at = &j->sources[s];

    return at->k != DFL_NONE && at->k < j->group->references[at->reference].joint.n_indexing;
}

/* Takes a step in a row: coordinate or iteration `q` now and `old` at the step before. */
static void take_step(const job *j, int64_t *row, uint32_t i, int64_t q, int64_t old)
{
    const group_step *step = &j->steps[i];
    const bool is_loop = step->kind == IS_LOOP;
    bool exact = step->exact;

    row[j->key + i] = q;
    row[j->key + j->n_steps + i] = old;
    for (uint32_t s = 0; s < j->n_sources; s++) {
        const dfl_rank_source *r = j->sources[s].rank;
        const uint32_t cut = find_cut(r, step->step);
        int64_t *at = numbers_of(row, s), length, old_length, here = q, before = old;
        if (cut == DFL_NONE)
            continue;
        if (at[STUCK] != 0) {
            exact = true;
            continue;
        }
        if (j->sources[s].at_zero && !is_loop)
            here = before = 0;
        length = cut_length(at[LENGTH], r->tile[cut], here);
        old_length = cut_length(at[OLD_LENGTH], r->tile[cut], before);
        if (!j->sources[s].at_zero)
            shift_values(j, row, s, length > 0 ? here * r->tile[cut] : 0, old_length > 0 ? before * r->tile[cut] : 0);
        if (has_distance(j, s))
            at[DISTANCE] = length > 0 && old_length > 0 ? at[DISTANCE] + (here - before) * r->tile[cut] : 0;
        at[LENGTH] = is_loop && s == step->driver ? 0 : length; /* of no further use there */
        at[OLD_LENGTH] = j->compare && !(is_loop && s == step->driver) ? old_length : 0;
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
static void keep_step(const job *j, int64_t *row, uint32_t i)
{
    const group_step *step = &j->steps[i];
    uint32_t n = 0;

    for (uint32_t s = 0; s < j->n_sources; s++) {
        const dfl_rank_source *r = j->sources[s].rank;
        const uint32_t cut = find_cut(r, step->step);
        int64_t *at = numbers_of(row, s);
        if (cut == DFL_NONE)
            continue;
        if (j->sources[s].at_zero) {
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
static void make_row(const job *j, const int64_t *from, uint32_t i, int64_t q, int64_t old, int64_t *out)
{
    memcpy(out, from, j->width * sizeof *out);
    take_step(j, out, i, q, old);
    settle_all(j, out);
}

/* ---- steps ---- */

/* Whether the coordinates of the row, up to step `i`, are counted; the last step of a range decides. */
static bool is_in_range(const job *j, const int64_t *row, uint32_t i)
{
    const uint64_t ranged = j->only != NULL ? j->only->ranged : 0;
    bool any = false;
    int64_t at = 0;

    for (uint32_t k = 0; k < j->n_steps; k++) {
        const group_step *step = &j->steps[k];
        if (step->kind == IS_LOOP || !(ranged >> step->step & 1))
            continue;
        if ((step->kind != IS_FREE && step->kind != IS_FORWARD) || k > i)
            return true; /* the visit of the sets leaves out coordinates, or a later step decides */
        at = at * step->parts + row[j->key + k];
        any = true;
    }
    return !any || (at >= j->only->lo && at < j->only->hi);
}

/* How far the value of a condition moves from one iteration or coordinate of step `i` to the next, in a row behind the step. */
static dfl_i128 find_shift(const job *j, const int64_t *row, uint32_t i, const condition *c, bool old)
{
    const dfl_joint_access *joint = &j->group->references[c->reference].joint;
    dfl_i128 shift = 0;

    for (uint32_t k = 0; k < joint->n_ranks; k++) {
        const dfl_rank_source *r = j->sources[c->first + k].rank;
        const uint32_t cut = find_cut(r, j->steps[i].step);
        if (cut != DFL_NONE && row[(size_t)(c->first + k) * SOURCE_NUMBERS + (old ? OLD_LENGTH : LENGTH)] > 0)
            shift += (dfl_i128)joint->slopes[c->number * joint->n_ranks + k] * r->tile[cut];
    }
    return shift;
}

/* The last iteration or coordinate up to which a condition stays as at `q`: it holds, or fails, throughout, or its value stays.
   `from`, `row`: before and behind step `i` at `q`. */
static int64_t find_last_value(const job *j, const int64_t *from, const int64_t *row, uint32_t i, uint32_t c, bool old, int64_t q)
{
    const condition *at = &j->conditions[c];
    const int64_t before = from[j->values + (size_t)c * 2 + old], now = row[j->values + (size_t)c * 2 + old];
    dfl_i128 least, most, shift, last = INT64_MAX;

    if (before == HOLDS || before == FAILS || !find_span(j, row, at, old, &least, &most))
        return INT64_MAX;
    shift = find_shift(j, row, i, at, old);
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
static bool moves_apart(const job *j, uint32_t step)
{
    for (uint32_t v = 1; v < j->footprint->n_references; v++)
        for (uint32_t k = 0; k < j->group->references[0].joint.n_indexing; k++)
            if (find_cut(&j->group->references[v].ranks[k], step) != find_cut(&j->group->references[0].ranks[k], step))
                return true;
    return false;
}

/* The last iteration or coordinate up to which all are in the state of `row`, that behind step `i` at `q`. `from` is the state
   before the step; the step before is `lag` behind. */
static int64_t find_last(const job *j, const int64_t *from, const int64_t *row, uint32_t i, int64_t q, int64_t lag)
{
    const group_step *step = &j->steps[i];
    int64_t last = INT64_MAX;

    if (step->exact || (step->gate && q - lag <= 0) || moves_apart(j, step->step))
        return q;
    for (uint32_t s = 0; s < j->n_sources; s++) {
        const uint32_t cut = find_cut(j->sources[s].rank, step->step);
        const int64_t *at = from + (size_t)s * SOURCE_NUMBERS;
        if (cut == DFL_NONE || (j->sources[s].at_zero && step->kind != IS_LOOP) || (step->kind == IS_LOOP && s == step->driver))
            continue;
        if (at[STUCK] != 0)
            return q;
        last = smaller(last, find_last_length(at[LENGTH], j->sources[s].rank->tile[cut], q));
        if (j->compare) {
            const int64_t old = find_last_length(at[OLD_LENGTH], j->sources[s].rank->tile[cut], q - lag);
            last = smaller(last, old == INT64_MAX ? old : old + lag);
        }
    }
    for (uint32_t c = 0; c < j->n_conditions; c++) {
        last = smaller(last, find_last_value(j, from, row, i, c, false, q));
        if (j->compare) {
            const int64_t old = find_last_value(j, from, row, i, c, true, q - lag);
            last = smaller(last, old == INT64_MAX ? old : old + lag);
        }
    }
    return last;
}

/* Adds the rows of iterations or coordinates `first` <= q < `end`, each with `lag` less before. */
static void add_rows(job *j, const int64_t *from, dfl_i128 times, uint32_t i, int64_t first, int64_t end, int64_t lag,
                     state_set *out)
{
    int64_t *row = j->row;

    for (int64_t q = first; q < end && dfl_budget_spend(j->budget, ROW_STEPS); q++) {
        int64_t last;
        dfl_i128 part;
        make_row(j, from, i, q, q - lag, row);
        last = q + 1 < end ? smaller(find_last(j, from, row, i, q, lag), end - 1) : q;
        j->overflow |= dfl_mul(times, last - q + 1, &part);
        add_row(j, out, row, part);
        q = last;
    }
}

/* Adds the rows of coordinates along which neighbours forward. The state is that of all coordinates, and which one it is. */
static void add_neighbours(job *j, const int64_t *from, dfl_i128 times, uint32_t i, state_set *out)
{
    const group_step *step = &j->steps[i];
    int64_t *row = j->row;

    for (int64_t q = 0; q < step->parts && dfl_budget_spend(j->budget, ROW_STEPS); q++) {
        memcpy(row, from, j->width * sizeof *row);
        row[j->key + i] = row[j->key + j->n_steps + i] = row[step->mark + 2 * j->n_sources] = q;
        keep_step(j, row, i);
        settle_all(j, row);
        if ((step->at < 0 || step->at == q) && is_in_range(j, row, i))
            add_row(j, out, row, times);
    }
}

/* Adds the rows of coordinates along a step that counts them one by one, those of a range only. */
static void add_coordinates(job *j, const int64_t *from, dfl_i128 times, uint32_t i, state_set *out)
{
    const group_step *step = &j->steps[i];
    int64_t *row = j->row;

    if (j->only == NULL || !(j->only->ranged >> step->step & 1)) {
        add_rows(j, from, times, i, 0, step->parts, 0, out);
        return;
    }
    for (int64_t q = 0; q < step->parts && dfl_budget_spend(j->budget, ROW_STEPS); q++) {
        make_row(j, from, i, q, q, row);
        if (is_in_range(j, row, i))
            add_row(j, out, row, times);
    }
}

static int64_t count_trips(const job *j, const int64_t *row, const group_step *step, bool old)
{
    const source *driver = &j->sources[step->driver];
    const int64_t length = row[(size_t)step->driver * SOURCE_NUMBERS + (old ? OLD_LENGTH : LENGTH)];

    return length <= 0 ? 1 : dfl_ceil_div(length, driver->rank->tile[find_cut(driver->rank, step->step)]);
}

/* The states behind step `i`. */
static state_set pass_step(job *j, const state_set *from, uint32_t i)
{
    const group_step *step = &j->steps[i];
    state_set out = { 0 };

    for (size_t n = 0; n < from->rows.n && dfl_budget_ok(j->budget); n++) {
        int64_t *row = from->rows.at[n];
        const dfl_i128 times = from->times[n];
        if (step->kind == IS_KEPT) {
            keep_step(j, row, i);
            settle_all(j, row);
            add_row(j, &out, row, times);
        } else if (step->kind == IS_FIXED) {
            add_rows(j, row, times, i, step->at, step->at + 1, 0, &out);
        } else if (step->kind == IS_FORWARD) {
            add_neighbours(j, row, times, i, &out);
        } else if (step->kind == IS_FREE) {
            add_coordinates(j, row, times, i, &out);
        } else if (step->level >= j->level) { /* the first iteration now, the last one before */
            const int64_t last = j->compare ? count_trips(j, row, step, true) - 1 : 0;
            add_rows(j, row, times, i, 0, 1, -last, &out);
        } else if (step->level == j->advancing) {
            add_rows(j, row, times, i, 1, count_trips(j, row, step, false), 1, &out);
        } else {
            add_rows(j, row, times, i, 0, count_trips(j, row, step, false), 0, &out);
        }
    }
    return out;
}

/* The state before all steps. */
static state_set start_states(job *j)
{
    int64_t *row = DFL_NEW_ARRAY(j->arena, int64_t, j->width);
    state_set out = { 0 };

    for (uint32_t s = 0; s < j->n_sources; s++)
        numbers_of(row, s)[LENGTH] = numbers_of(row, s)[OLD_LENGTH] = j->sources[s].rank->extent;
    for (uint32_t c = 0; c < j->n_conditions; c++) {
        const int64_t fixed = j->group->references[j->conditions[c].reference].joint.fixed[j->conditions[c].number];
        row[j->values + (size_t)c * 2] = row[j->values + (size_t)c * 2 + 1] = fixed;
    }
    settle_all(j, row);
    add_row(j, &out, row, 1);
    return out;
}

static void add_change(job *j, dfl_i128 *to, dfl_i128 part, dfl_i128 times)
{
    j->overflow |= dfl_mul(part, times, &part);
    j->overflow |= dfl_add(*to, part, to);
}

/* Adds the change in all states to `out`. */
static void add_states(job *j, const state_set *set, dfl_position_change *change, void *context, dfl_group_change *out)
{
    int64_t pos[DFL_MAX_STEPS] = { 0 }, prev[DFL_MAX_STEPS] = { 0 };

    for (size_t n = 0; n < set->rows.n && dfl_budget_ok(j->budget); n++) {
        dfl_group_change at = { 0 };
        for (uint32_t i = 0; i < j->n_steps; i++) {
            pos[j->steps[i].step] = set->rows.at[n][j->key + i];
            prev[j->steps[i].step] = set->rows.at[n][j->key + j->n_steps + i];
        }
        change(context, pos, prev, j->united, j->compare, &at);
        add_change(j, &out->enter, at.enter, set->times[n]);
        add_change(j, &out->kept, at.kept, set->times[n]);
        add_change(j, &out->leave, at.leave, set->times[n]);
        add_change(j, &out->left_kept, at.left_kept, set->times[n]);
    }
}

/* ---- the job ---- */

/* Tells whether all references of the group have equal indices inside the shape, so that a translation of the ranks moves
   all of them alike and no element leaves the shape. */
static bool moves_alike(const dfl_nest *nest, const dfl_footprint *footprint, const dfl_group *group)
{
    for (uint32_t d = 0; d < group->n_dims; d++) {
        const dfl_index *first = &footprint->references[0].access->index[group->dims[d]];
        dfl_i128 lo = first->offset, hi = first->offset;
        for (uint32_t t = 0; t < first->n_terms; t++) {
            dfl_i128 reach = (dfl_i128)first->terms[t].coef * (nest->workload->ranks[first->terms[t].rank].extent - 1);
            lo += reach < 0 ? reach : 0;
            hi += reach > 0 ? reach : 0;
        }
        if (lo < 0 || hi >= nest->workload->tensors[footprint->tensor].extents[group->dims[d]])
            return false;
        for (uint32_t v = 1; v < footprint->n_references; v++) {
            const dfl_index *index = &footprint->references[v].access->index[group->dims[d]];
            if (index->n_terms != first->n_terms || index->offset != first->offset)
                return false;
            for (uint32_t t = 0; t < index->n_terms; t++)
                if (index->terms[t].rank != first->terms[t].rank || index->terms[t].coef != first->terms[t].coef)
                    return false;
        }
    }
    return true;
}

/* Whether values of all conditions fit: the largest magnitude stays below 2^61. */
static bool has_small_values(const dfl_group *group, uint32_t n_references)
{
    for (uint32_t v = 0; v < n_references; v++) {
        const dfl_joint_access *joint = &group->references[v].joint;
        for (uint32_t c = 0; c < joint->n_where; c++) {
            dfl_i128 sum = joint->fixed[c] < 0 ? -(dfl_i128)joint->fixed[c] : joint->fixed[c];
            for (uint32_t k = 0; k < joint->n_ranks; k++) {
                const dfl_i128 reach = (dfl_i128)joint->slopes[c * joint->n_ranks + k] * group->references[v].ranks[k].extent;
                sum += reach < 0 ? -reach : reach;
            }
            if (sum >> 61)
                return false;
        }
    }
    return true;
}

/* The ranks that decide the sets, one after another for each reference, and the drivers of the loops behind them. */
static void collect_sources(job *j, const dfl_nest *nest)
{
    const dfl_group *group = j->group;
    uint32_t most = group->n_lines + 1, n_conditions = 0;

    for (uint32_t v = 0; v < j->footprint->n_references; v++) {
        most += group->references[v].joint.n_ranks + group->references[v].n_active;
        n_conditions += group->references[v].joint.n_where;
    }
    j->sources = DFL_NEW_ARRAY(j->arena, source, most);
    j->conditions = DFL_NEW_ARRAY(j->arena, condition, n_conditions + 1);
    for (uint32_t v = 0; v < j->footprint->n_references; v++) {
        const dfl_group_reference *r = &group->references[v];
        for (uint32_t c = 0; c < r->joint.n_where; c++)
            j->conditions[j->n_conditions++] = (condition){ v, c, j->n_sources };
        for (uint32_t k = 0; k < r->joint.n_ranks; k++)
            j->sources[j->n_sources++] = (source){ .rank = &r->ranks[k], .reference = v, .k = k };
        for (uint32_t k = 0; k < r->n_active; k++)
            j->sources[j->n_sources++] = (source){ .rank = &r->active[k], .reference = v, .k = DFL_NONE };
    }
    for (uint32_t k = 0; k < group->n_lines; k++) {
        const uint32_t e = group->driver[k], rank = nest->paths->paths[e].steps[group->lines[k]].rank;
        const uint64_t cuts = dfl_rank_piece_cuts(nest, e, rank, group->lines[k] + 1);
        dfl_rank_source *own = DFL_NEW(j->arena, dfl_rank_source);
        uint32_t *step = DFL_NEW_ARRAY(j->arena, uint32_t, (uint32_t)__builtin_popcountll(cuts) + 1);
        *own = (dfl_rank_source){ .einsum = e, .rank = rank, .extent = nest->workload->ranks[rank].extent, .step = step,
                                  .tile = DFL_NEW_ARRAY(j->arena, int64_t, (uint32_t)__builtin_popcountll(cuts) + 1) };
        for (uint64_t left = cuts; left; left &= left - 1) {
            step[own->n_cuts] = (uint32_t)__builtin_ctzll(left);
            own->tile[own->n_cuts] = nest->sizes[e].tile[step[own->n_cuts]];
            own->n_cuts++;
        }
        j->sources[j->n_sources++] = (source){ .rank = own, .at_zero = true, .reference = DFL_NONE, .k = DFL_NONE };
    }
}

static bool is_gate(const job *j, uint32_t step)
{
    for (uint32_t v = 0; v < j->footprint->n_references; v++)
        for (uint32_t k = 0; k < j->group->references[v].n_gates; k++)
            if (j->group->references[v].gates[k] == step)
                return true;
    return false;
}

/* Whether the sets at different coordinates of a step have no element in common: the step cuts a rank of the indices, and these
   tell the ranks of an element. Their union is then as large as their sum, and so are the unions of what enters and stays. */
static bool divides_sets(const job *j, const dfl_sharing *how, uint32_t step)
{
    bool divides = !how->box && how->forward == DFL_NONE;

    for (uint32_t d = 0; d < j->group->n_dims; d++)
        divides &= j->footprint->references[0].access->index[j->group->dims[d]].n_terms == 1;
    for (uint32_t v = 0; v < j->footprint->n_references; v++) {
        const dfl_group_reference *r = &j->group->references[v];
        bool cuts = false;
        for (uint32_t k = 0; k < r->joint.n_indexing; k++)
            cuts |= find_cut(&r->ranks[k], step) != DFL_NONE;
        divides &= cuts;
    }
    return divides;
}

/* A spatial step under a way of sharing and a restriction. */
static group_step make_spatial(const job *j, const dfl_sharing *how, uint32_t k)
{
    const uint32_t i = j->group->spatial[k];
    const uint64_t bit = UINT64_C(1) << i, ranged = j->only != NULL ? j->only->ranged : 0;
    group_step out = { .step = i, .parts = j->group->parts[k], .kind = IS_FREE };
    uint64_t kept = 0;

    for (uint32_t n = 0; n < j->group->n_spatial; n++)
        kept |= UINT64_C(1) << j->group->spatial[n];
    kept &= how->united | how->inside | how->first_only;
    if (how->inside & bit)
        out.kind = IS_KEPT;
    else if (how->first_only & bit)
        out.kind = IS_FIXED;
    else if ((how->united & bit) && !divides_sets(j, how, i))
        out.kind = IS_KEPT;
    if (out.kind == IS_FIXED)
        out.at = j->only != NULL && (j->only->pinned & bit) ? j->only->at[i] : 0;
    out.exact = out.kind == IS_FREE && (ranged & bit) && ((ranged & kept) || (ranged & (ranged - 1)));
    if (how->forward == i && (out.kind == IS_FREE || out.kind == IS_FIXED)) {
        out.at = out.kind == IS_FIXED ? out.at : -1;
        out.kind = IS_FORWARD;
    }
    return out;
}

/* The steps of the group, the outermost first, and the places of their marks. */
static void collect_steps(job *j, const dfl_sharing *how)
{
    const dfl_group *group = j->group;
    uint32_t line = 0, spatial = 0;

    j->steps = DFL_NEW_ARRAY(j->arena, group_step, group->n_lines + group->n_spatial + 1);
    while (line < group->n_lines || spatial < group->n_spatial) {
        const bool is_line = spatial == group->n_spatial ||
                             (line < group->n_lines && group->lines[line] < group->spatial[spatial]);
        group_step step = { .kind = IS_LOOP, .level = line, .driver = j->n_sources - group->n_lines + line };
        if (is_line)
            step.step = group->lines[line++];
        else
            step = make_spatial(j, how, spatial++);
        if (step.kind == IS_KEPT && !(how->inside >> step.step & 1))
            j->united |= UINT64_C(1) << step.step;
        step.gate = is_gate(j, step.step);
        j->steps[j->n_steps++] = step;
    }
    j->values = j->n_sources * SOURCE_NUMBERS;
    j->apart = j->values + 2 * j->n_conditions;
    j->n_apart = (j->footprint->n_references - 1) * group->references[0].joint.n_indexing;
    j->marks = j->key = j->apart + j->n_apart;
    for (uint32_t i = 0; i < j->n_steps; i++) {
        j->steps[i].mark = j->key;
        j->key += j->steps[i].kind == IS_KEPT || j->steps[i].kind == IS_FORWARD ? 2 * j->n_sources + 1 : 2;
    }
    j->width = j->key + 2 * j->n_steps;
    j->row = DFL_NEW_ARRAY(j->arena, int64_t, j->width);
}

/* The sums of one loop level: at the positions of the loops outside it, or, if loop `advancing` is not DFL_NONE, at its
   advances. */
static void take_level(job *j, uint32_t level, uint32_t advancing, bool compare, dfl_position_change *change, void *context,
                       dfl_group_change *out)
{
    state_set set;

    j->level = level;
    j->advancing = advancing;
    j->compare = compare;
    set = start_states(j);
    for (uint32_t i = 0; i < j->n_steps; i++)
        set = pass_step(j, &set, i);
    add_states(j, &set, change, context, out);
}

bool dfl_joint_sums_take(dfl_nest *nest, const dfl_footprint *footprint, const dfl_group *group, const dfl_sharing *how,
                         const dfl_restriction *only, dfl_position_change *change, void *context, dfl_group_sums *out)
{
    dfl_arena *arena = dfl_arena_new(dfl_arena_budget(nest->arena));
    job j = { .arena = arena, .budget = dfl_arena_budget(nest->arena), .footprint = footprint, .group = group, .only = only };

    if (!group->joint || !moves_alike(nest, footprint, group) || !has_small_values(group, footprint->n_references)) {
        dfl_arena_free(arena);
        return false;
    }
    collect_sources(&j, nest);
    collect_steps(&j, how);
    for (uint32_t level = 0; level <= group->n_lines; level++) {
        const bool compare = level < group->n_lines || how->anew;
        dfl_group_change *at = &out->hold[level];
        take_level(&j, level, DFL_NONE, compare, change, context, at);
        if (!compare) /* only a loop of another group advances, so the set of this group stays */
            at->kept = at->leave = at->left_kept = at->enter;
        if (level < group->n_lines)
            take_level(&j, level + 1, level, true, change, context, &out->adv[level + 1]);
    }
    out->present = out->hold[group->n_lines].enter;
    out->overflow |= j.overflow;
    dfl_arena_free(arena);
    return true;
}
