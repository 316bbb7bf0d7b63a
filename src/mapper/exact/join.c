/* The join, einsum by einsum. */
#include "mapper/exact/join.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "mapper/divisors/signature.h"
#include "mapper/exact/compatibility.h"
#include "mapper/exact/loop_match.h"
#include "mapper/exact/open_loops.h"
#include "mapper/exact/periodic.h"
#include "mapper/exact/shared_inputs.h"
#include "support/hash.h"

typedef dfl_join_alive operand_alive;
typedef dfl_join_way way;
typedef dfl_join_state state;
typedef dfl_join_bucket bucket;
typedef dfl_join_layer layer;
typedef dfl_join_choice choice;
typedef dfl_join_index row_index;
typedef dfl_joiner joiner;

/* Bytes of a way that have a meaning. */
static size_t length_of(const way *w) { return offsetof(way, live) + w->n_live * sizeof *w->live; }

static uint32_t bucket_of(joiner *j, layer *l, const way *w)
{
    const uint64_t hash = dfl_hash(w, length_of(w), 0);
    bucket fresh = { .first = 0 };
    uint32_t at;

    for (uint32_t i = dfl_hashmap_first(&l->map, hash, &at); i != 0; i = dfl_hashmap_next(&l->map, hash, &at)) {
        const way *other = &l->buckets.at[i - 1].way;
        if (other->n_live == w->n_live && memcmp(other, w, length_of(w)) == 0)
            return i - 1;
    }
    memcpy(&fresh.way, w, sizeof *w);
    DFL_PUSH(j->arena, &l->buckets, fresh);
    dfl_hashmap_add(j->arena, &l->map, hash, (uint32_t)l->buckets.n);
    return (uint32_t)l->buckets.n - 1;
}

/* Where operand o of the row is exchanged. */
static operand_alive exchanged(const joiner *j, const dfl_pmapping *row, const dfl_loop_match *a, uint32_t o)
{
    const dfl_problem *problem = j->step->problem;
    operand_alive live;

    memset(&live, 0, sizeof live);
    live.tensor = problem->operand[o].tensor;
    live.memory = row->way.memory[o];
    live.depth = (uint8_t)dfl_loop_match_depth(a, row->way.depth[o]);
    live.bits = problem->operand[o].elements * problem->operand[o].bits;
    for (uint32_t k = 0; k < row->way.depth[o]; k++)
        live.bits /= dfl_way_dimension(problem, &row->way, o, k) < 0 ? 1 : (double)row->way.trips[k];
    return live;
}

/* Inputs that the einsum reads and others after it: from a keep for several, but for those that end here. */
static void follow_inputs(const joiner *j, const dfl_pmapping *row, const dfl_loop_match *a, uint32_t ends, way *out)
{
    const dfl_problem *problem = j->step->problem;

    for (uint32_t o = 0; o < problem->n_operands; o++) {
        operand_alive live;
        uint32_t i = 0;
        if (problem->operand[o].common == 0 || dfl_join_is_last(j, problem->operand[o].tensor))
            continue;
        live = exchanged(j, row, a, o);
        live.kind = DFL_JOIN_APART;
        live.within = DFL_ROW_LOOPS;
        if (dfl_shared_input_served(row->problem, row->form, o) && !(ends >> o & 1)) {
            live.kind = DFL_JOIN_SERVED;
            live.within = live.depth;
            live.bits *= row->problem->place[row->form->exchange[o]].buffers;
            for (uint32_t k = 0; k < live.depth; k++)
                live.dim[k] = dfl_loop_match_dimension(problem, row, a, o, k, live.depth);
        } else {
            live.depth = 0;
            live.bits = 0;
        }
        while (i < out->n_live && out->live[i].tensor != live.tensor)
            i++;
        out->live[i] = live;
        out->n_live += i == out->n_live;
    }
}

/* What the row keeps of operands that are alive, for those that stand below the same loops. */
static void follow_keeps(const joiner *j, const way *w, const dfl_pmapping *row, const dfl_loop_match *a, way *out)
{
    for (uint32_t i = 0; i < out->n_live; i++) {
        operand_alive *live = &out->live[i];
        const operand_alive *before = dfl_join_find(w, live->tensor);
        uint32_t o = dfl_problem_find_operand(j->step->problem, live->tensor), touched = before != NULL ? before->since : 0;
        bool touches = o < j->step->problem->n_operands;
        live->since = (uint8_t)(touches || touched > out->n_open ? out->n_open : touched);
        for (uint32_t k = 0; k < DFL_ROW_LOOPS; k++) {
            uint32_t above = 0, kept = touches && k < live->since ? dfl_loop_match_kept(row, a, o, k, &above) : 0;
            if (k < touched && k < live->since) {
                kept = touches ? kept & before->kept[k] : before->kept[k];
                above |= before->above[k];
            }
            live->kept[k] = kept;
            live->above[k] = above;
        }
    }
}

/* What is alive behind the einsum, and the loops that stay open. False if there is no room for it, or if a keep for several
   that ends at the row stands below no loop that ends, too: it would serve others; or if a loop ends below which something is
   still to be read. */
static bool follow_way(joiner *j, const way *w, const dfl_pmapping *row, const dfl_loop_match *a, uint32_t ends, way *out)
{
    const dfl_problem *problem = j->step->problem;

    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < w->n_live; i++)
        if (!dfl_join_is_last(j, w->live[i].tensor)) {
            out->live[out->n_live] = w->live[i];
            for (uint32_t o = 0; o < problem->n_operands; o++)
                if (problem->operand[o].tensor == w->live[i].tensor)
                    out->live[out->n_live].owes = 0;
            out->n_live++;
        }
    follow_inputs(j, row, a, ends, out);
    for (uint32_t o = 0; o < problem->n_operands; o++) {
        const dfl_problem_operand *op = &problem->operand[o];
        operand_alive *live = &out->live[out->n_live];
        if (!op->output || !op->shared)
            continue;
        if (out->n_live == DFL_JOIN_LIVE) {
            j->full = true;
            return false;
        }
        out->n_live++;
        *live = exchanged(j, row, a, o);
        live->within = (uint8_t)a->n;
        live->owes = a->owes;
        for (uint32_t k = 0; k < a->n; k++)
            live->dim[k] = dfl_loop_match_dimension(problem, row, a, o, k, live->depth);
    }
    for (uint32_t i = 0; i < out->n_live; i++)
        if (out->live[i].depth > out->n_open)
            out->n_open = out->live[i].depth;
    for (uint32_t i = 0; i < out->n_live; i++) {
        operand_alive *live = &out->live[i];
        live->within = live->within < out->n_open ? live->within : (uint8_t)out->n_open;
        for (uint32_t k = live->within; k < DFL_ROW_LOOPS; k++)
            live->dim[k] = 0;
        if (live->owes >> out->n_open != 0)
            return false;
    }
    for (uint32_t k = 0; k < out->n_open; k++) {
        out->trips[k] = k < w->n_open ? w->trips[k] : row->way.trips[a->own[k]];
        out->name[k] = k < w->n_open ? w->name[k] : problem->rank[row->way.loop_rank[a->own[k]]];
    }
    follow_keeps(j, w, row, a, out);
    for (uint32_t bits = ends; bits != 0; bits &= bits - 1)
        if (dfl_loop_match_depth(a, row->way.depth[__builtin_ctz(bits)]) <= out->n_open)
            return false;
    return true;
}

/* Whether the tensor is exchanged in some memory already. */
static bool is_resident(const way *w, uint32_t tensor)
{
    const operand_alive *live = dfl_join_find(w, tensor);

    return live != NULL && live->kind != DFL_JOIN_APART;
}

/* Rooms of one track behind the einsum; false beyond the capacity. */
static bool follow_room(const joiner *j, uint32_t t, const way *w, const state *s, const dfl_pmapping *row,
                        const dfl_loop_match *a, const way *after, state *out)
{
    uint32_t open = w->n_open, memory = j->goal->track[t];
    double at[DFL_ROW_LOOPS + 1] = { 0 }, deep = 0, below = 0, finished[DFL_ROW_LOOPS + 1] = { 0 };

    for (uint32_t k = 0; k < open; k++) {
        at[k] = s->resident[t][k];
        finished[k] = s->finished[t][k];
    }
    finished[open] = s->finished[t][open];
    for (uint32_t k = 0; k <= row->way.n_loops; k++) /* just above the next loop of the row */
        at[k < row->way.n_loops ? a->at[k] : a->n] += row->room[t][k];
    for (uint32_t i = 0; i < w->n_live; i++)
        if (w->live[i].memory == memory && w->live[i].depth == open)
            at[open] += w->live[i].bits;
    for (uint32_t i = 0; i < after->n_live; i++)
        if (after->live[i].memory == memory && !is_resident(w, after->live[i].tensor))
            at[after->live[i].depth] += after->live[i].bits;
    for (uint32_t k = open; k <= a->n; k++)
        deep += at[k];
    finished[open] = fmax(finished[open], deep);
    for (uint32_t k = 0; k <= open; k++) {
        if (below + finished[k] > j->capacity[t])
            return false;
        below += k < open ? at[k] : 0;
    }
    /* loops that close leave what they took; loops that open have nothing finished yet but this einsum */
    for (uint32_t k = open; k > after->n_open; k--)
        finished[k - 1] = fmax(finished[k - 1], at[k - 1] + finished[k]);
    if (after->n_open > open) {
        for (uint32_t k = open + 1; k <= after->n_open; k++)
            finished[k] = 0;
        finished[after->n_open] = 0;
        for (uint32_t k = after->n_open; k <= a->n; k++)
            finished[after->n_open] += at[k];
    }
    for (uint32_t k = 0; k < after->n_open; k++)
        out->resident[t][k] = at[k];
    for (uint32_t k = 0; k <= after->n_open; k++)
        out->finished[t][k] = after->n_open == 0 && j->goal->room != t + 1 ? 0 : finished[k];
    return true;
}

/* The inputs that are exchanged and alive. */
static uint32_t inputs_alive(const joiner *j, const way *w)
{
    uint32_t inputs = 0;

    for (uint32_t o = 0; o < j->step->problem->n_operands; o++) {
        const dfl_problem_operand *op = &j->step->problem->operand[o];
        inputs |= (uint32_t)(op->shared && !op->output && dfl_join_find(w, op->tensor) != NULL) << o;
    }
    return inputs;
}

/* Of the open loops' iterations, and where inputs are exchanged: what matches() looks at first. */
static uint64_t hash_ask(const int64_t *trips, uint32_t n_open, const uint32_t *memory, const uint32_t *depth, uint32_t inputs)
{
    int64_t words[DFL_ROW_LOOPS + 2 * DFL_PROBLEM_OPERANDS];
    size_t n = 0;

    for (uint32_t k = 0; k < n_open; k++)
        words[n++] = trips[k];
    for (; inputs != 0; inputs &= inputs - 1) {
        words[n++] = memory[__builtin_ctz(inputs)];
        words[n++] = depth[__builtin_ctz(inputs)];
    }
    return dfl_hash(words, n * sizeof *words, 0);
}

/* What a row gives, and what a way asks for the same. */
static uint64_t hash_row(const dfl_pmapping *row, uint32_t n_open, uint32_t inputs)
{
    uint32_t memory[DFL_PROBLEM_OPERANDS], depth[DFL_PROBLEM_OPERANDS];

    for (uint32_t o = 0; o < DFL_PROBLEM_OPERANDS; o++) {
        memory[o] = row->way.memory[o];
        depth[o] = row->way.depth[o];
    }
    return hash_ask(row->way.trips, n_open, memory, depth, inputs);
}

static uint64_t hash_way(const joiner *j, const way *w, uint32_t skipped, uint32_t inputs)
{
    uint32_t memory[DFL_PROBLEM_OPERANDS] = { 0 }, depth[DFL_PROBLEM_OPERANDS] = { 0 }, n = 0;
    int64_t trips[DFL_ROW_LOOPS];

    for (uint32_t o = 0; o < j->step->problem->n_operands; o++) {
        const operand_alive *live = inputs >> o & 1 ? dfl_join_find(w, j->step->problem->operand[o].tensor) : NULL;
        if (live == NULL)
            continue;
        memory[o] = live->memory;
        depth[o] = live->depth - (uint32_t)__builtin_popcount(skipped & ((1u << live->depth) - 1));
    }
    for (uint32_t k = 0; k < w->n_open; k++)
        if (!(skipped >> k & 1))
            trips[n++] = w->trips[k];
    return hash_ask(trips, n, memory, depth, inputs);
}

static const row_index *index_of(joiner *j, uint32_t n_open, uint32_t inputs)
{
    row_index *x = &j->rows[n_open];

    if (x->n_slots > 0 && x->inputs == inputs)
        return x;
    x->inputs = inputs;
    for (x->n_slots = 1; x->n_slots < j->step->n;)
        x->n_slots *= 2;
    x->first = DFL_NEW_ARRAY(j->scratch, uint32_t, x->n_slots);
    x->next = DFL_NEW_ARRAY(j->scratch, uint32_t, (size_t)j->step->n + 1);
    for (uint32_t r = j->step->n; r-- > 0;) {
        const dfl_pmapping *row = j->step->rows[r];
        uint32_t at;
        if (row->way.n_loops < n_open)
            continue;
        at = (uint32_t)hash_row(row, n_open, inputs) & (x->n_slots - 1);
        x->next[r] = x->first[at];
        x->first[at] = r + 1;
    }
    return x;
}

/* Joules of the row, and to fetch what it is the first to take from a keep for several; adds to the seconds. */
static double joules_with(const joiner *j, const way *w, const dfl_pmapping *row, const dfl_loop_match *a, double *seconds)
{
    const dfl_problem *problem = j->step->problem;
    double joules = row->joules;

    for (uint32_t o = 0; o < problem->n_operands; o++) {
        const operand_alive *live = problem->operand[o].common != 0 ? dfl_join_find(w, problem->operand[o].tensor) : NULL;
        double times = 1;
        if (live != NULL && live->kind != DFL_JOIN_APART)
            continue;
        for (uint32_t k = 0, depth = dfl_loop_match_depth(a, row->way.depth[o]); k < depth; k++)
            if (dfl_loop_match_dimension(problem, row, a, o, k, depth) < 0)
                times *= (double)(a->own[k] < 0 ? w->trips[k] : row->way.trips[a->own[k]]);
        joules += dfl_shared_input_joules(row->problem, row->form, o) * times;
        *seconds += j->goal->alone ? dfl_shared_input_seconds(row->problem, row->form, o) * times : 0;
    }
    return joules;
}

/* The row after all states of a bucket, with the keeps for several that end there. */
static void join_row(joiner *j, const layer *from, const bucket *b, const dfl_pmapping *row, const dfl_loop_match *a,
                     uint32_t ends,
                     layer *to)
{
    double joules, seconds = row->seconds;
    uint32_t place = DFL_NONE;
    dfl_criteria rest;
    way after;

    if (!follow_way(j, &b->way, row, a, ends, &after))
        return;
    for (uint32_t i = 0; i < after.n_live; i++)
        j->memory[after.live[i].tensor] = after.live[i].memory;
    rest = dfl_cost_to_go_behind(j->bounds, j->einsum + 1, j->memory);
    joules = joules_with(j, &b->way, row, a, &seconds);
    for (uint32_t i = b->first; i != 0; i = from->states.at[i - 1].next) {
        const state *s = &from->states.at[i - 1];
        state out = { .joules = s->joules + joules, .seconds = s->seconds + seconds, .row = row, .ends = ends,
                      .skipped = a->skipped, .before = s->choice,
                      .kind = j->goal->top > 0 ? dfl_kind_join(s->kind, row->kind) : 0 };
        dfl_criteria all;
        bool fits = true;
        for (uint32_t p = 0; p < DFL_PORTS; p++)
            out.busy[p] = s->busy[p] + row->busy[p];
        if (after.n_open == 0) { /* a brace ends, and lasts as long as any of its ports is busy */
            out.seconds = dfl_state_seconds(&out);
            for (uint32_t p = 0; p < j->goal->n_ports; p++)
                out.busy[p] = out.seconds;
        }
        all = dfl_criteria_with(&j->goal->of, &rest, out.joules, out.seconds);
        for (uint32_t p = 0; p < DFL_PORTS; p++)
            all.at[DFL_COST_BUSY + p] += out.busy[p];
        out.least = j->few ? dfl_goal_least(&j->goal->of, &all) : 0;
        if (!dfl_goal_within(&j->goal->of, &all, j->goal->limit))
            continue;
        for (uint32_t t = 0; t < j->goal->n_tracks && fits; t++)
            fits = follow_room(j, t, &b->way, s, row, a, &after, &out);
        if (!fits)
            continue;
        for (uint32_t k = 0; k < a->n; k++)
            out.names[k] = k < b->way.n_open ? b->way.name[k] : j->step->problem->rank[row->way.loop_rank[a->own[k]]];
        if (place == DFL_NONE)
            place = bucket_of(j, to, &after);
        dfl_dp_states_add(j, to, place, &out);
    }
}

/* Rows that skip these open loops. */
static void join_rows(joiner *j, const layer *from, const bucket *b, uint32_t skipped, layer *to)
{
    const dfl_problem *problem = j->step->problem;
    uint32_t bound = b->way.n_open - (uint32_t)__builtin_popcount(skipped);
    const row_index *x = index_of(j, bound, inputs_alive(j, &b->way));
    uint32_t at = (uint32_t)hash_way(j, &b->way, skipped, x->inputs) & (x->n_slots - 1);

    for (uint32_t r = x->first[at]; r != 0 && !dfl_deadline_passed(j->goal->halt); r = x->next[r - 1]) {
        const dfl_pmapping *row = j->step->rows[r - 1];
        uint32_t may_end = 0, ends;
        dfl_loop_match a;
        if (!dfl_loop_match_set(&b->way, row, skipped, &a) || !dfl_loop_match_fits(j, &b->way, row, &a))
            continue;
        for (uint32_t o = 0; o < problem->n_operands; o++)
            if (problem->operand[o].common != 0 && row->way.depth[o] > 0 && !dfl_join_is_last(j, problem->operand[o].tensor) &&
                is_resident(&b->way, problem->operand[o].tensor))
                may_end |= 1u << o;
        for (ends = may_end;; ends = (ends - 1) & may_end) {
            join_row(j, from, b, row, &a, ends, to);
            if (ends == 0)
                break;
        }
    }
}

static void join_bucket(joiner *j, const layer *from, const bucket *b, layer *to)
{
    uint32_t may_skip = dfl_loop_match_may_skip(j->step->problem, &b->way);

    for (uint32_t skipped = may_skip;; skipped = (skipped - 1) & may_skip) {
        join_rows(j, from, b, skipped, to);
        if (skipped == 0)
            break;
    }
}

static dfl_criteria least_before(const joiner *j, const layer *from, const bucket *b)
{
    const dfl_criteria zero = dfl_criteria_zero();
    dfl_criteria least = dfl_criteria_none();

    for (uint32_t i = b->first; i != 0; i = from->states.at[i - 1].next) {
        const state *s = &from->states.at[i - 1];
        dfl_criteria all = dfl_criteria_with(&j->goal->of, &zero, s->joules, s->seconds);
        for (uint32_t p = 0; p < DFL_PORTS; p++)
            all.at[DFL_COST_BUSY + p] += s->busy[p];
        dfl_criteria_lower(&least, &all);
    }
    return least;
}

/* With the rows that have loops which are open now. */
static dfl_join_step step_between(joiner *j, const dfl_join_step *of, const layer *from)
{
    const dfl_join_between *between = j->goal->between;
    dfl_join_step step = *of;
    const dfl_pmapping *const *more;
    dfl_join_before *before;
    const dfl_pmapping **rows;
    uint32_t n = 0, n_more;

    if (between == NULL)
        return step;
    before = DFL_NEW_ARRAY(j->scratch, dfl_join_before, from->buckets.n + 1);
    for (size_t b = 0; b < from->buckets.n; b++)
        if (from->buckets.at[b].first != 0)
            before[n++] = (dfl_join_before){ &from->buckets.at[b].way, least_before(j, from, &from->buckets.at[b]) };
    more = between->rows(between->context, j->einsum, before, n, &n_more);
    if (n_more == 0)
        return step;
    rows = DFL_NEW_ARRAY(j->scratch, const dfl_pmapping *, (size_t)of->n + n_more);
    if (of->n > 0)
        memcpy(rows, of->rows, of->n * sizeof *rows);
    memcpy(rows + of->n, more, n_more * sizeof *rows);
    step.rows = rows;
    step.n += n_more;
    return step;
}

static dfl_join_result *trace(dfl_arena *arena, const joiner *j, const dfl_periods *repeats, choice *const *choices,
                              const state *last)
{
    uint32_t n = j->w->n_einsums, at = last->choice;
    dfl_join_result *out = DFL_NEW(arena, dfl_join_result);
    uint32_t (*names)[DFL_ROW_LOOPS] = dfl_arena_alloc(arena, (size_t)n + 1, sizeof *names, _Alignof(uint32_t));
    uint32_t *ends = DFL_NEW_ARRAY(arena, uint32_t, (size_t)n + 1);
    uint32_t *skipped = DFL_NEW_ARRAY(arena, uint32_t, (size_t)n + 1);

    out->ends = ends;
    out->skipped = skipped;
    out->joules = dfl_state_joules(j, last);
    out->seconds = dfl_state_seconds(last);
    out->room = j->goal->room > 0 ? last->finished[j->goal->room - 1][0] : 0;
    out->value = dfl_state_value(j, last);
    out->rows = DFL_NEW_ARRAY(arena, const dfl_pmapping *, (size_t)n + 1);
    out->open = DFL_NEW_ARRAY(arena, uint32_t, (size_t)n + 1);
    out->names = (const uint32_t (*)[DFL_ROW_LOOPS])names;
    for (uint32_t e = n; e-- > 0;) {
        const choice *c = &choices[dfl_periods_base(repeats, e)][at];
        out->rows[e] = c->row;
        ends[e] = c->ends;
        skipped[e] = c->skipped;
        for (uint32_t k = 0; k < c->row->way.n_loops + (uint32_t)__builtin_popcount(c->skipped); k++)
            names[e][k] = dfl_periods_rank(repeats, e, c->names[k]);
        at = c->before;
    }
    return out;
}

/* Empty, with the memory that it has. */
static void clear(layer *l)
{
    l->states.n = l->buckets.n = l->map.n = 0;
    if (l->map.n_slots > 0)
        memset(l->map.slots, 0, l->map.n_slots * sizeof *l->map.slots);
}

/* Joins all einsums; the last layer. */
static const layer *join_all(joiner *j, const dfl_join_step *steps, dfl_periods *repeats, uint32_t most, layer layers[2],
                             dfl_arena *of_choices, choice **choices)
{
    layer *from = &layers[0], *to = &layers[1];
    state start = { .joules = 0 };
    way none;

    memset(&none, 0, sizeof none);
    dfl_dp_states_add(j, from, bucket_of(j, from, &none), &start);
    for (uint32_t e = 0; from->states.n > 0 && (e += dfl_periods_skip(repeats, j, from, e)) < j->w->n_einsums; e++) {
        layer *before = from;
        dfl_join_step step;
        dfl_arena_reset(j->scratch);
        clear(to);
        j->einsum = e;
        step = step_between(j, &steps[e], from);
        j->step = &step;
        memset(j->rows, 0, sizeof j->rows);
        for (size_t b = 0; b < from->buckets.n; b++)
            if (from->buckets.at[b].first != 0)
                join_bucket(j, from, &from->buckets.at[b], to);
        if (most > 0)
            dfl_dp_states_thin_out(j, to, most);
        choices[e] = dfl_dp_states_remember(of_choices, to);
        from = to;
        to = before;
    }
    return from;
}

const dfl_join_result *dfl_join(dfl_arena *arena, const dfl_workload *w, const dfl_join_step *steps,
                                const dfl_tile_goal *goal, const dfl_cost_to_go *bounds, const double *capacity,
                                bool front, uint32_t most, uint32_t *n, bool *full)
{
    dfl_budget *budget = goal->halt->budget;
    dfl_arena *of_layers = dfl_arena_new(budget), *of_step = dfl_arena_new(budget), *of_choices = dfl_arena_new(budget);
    layer layers[2] = { { .map = { .n = 0 } } };
    choice **choices = DFL_NEW_ARRAY(of_choices, choice *, (size_t)w->n_einsums + 1);
    dfl_periods *repeats = dfl_periods_new(of_choices, w, steps);
    joiner j = { .arena = of_layers, .scratch = of_step, .w = w, .goal = goal, .bounds = bounds, .capacity = capacity,
                 .few = most > 0 };
    const layer *last;
    const state **all;
    const dfl_join_result *list = NULL;

    j.memory = DFL_NEW_ARRAY(of_choices, uint32_t, (size_t)w->n_tensors + 1);
    last = join_all(&j, steps, repeats, most, layers, of_choices, choices);
    *full = j.full;
    all = dfl_dp_states_choose(&j, last, front, n);
    if (goal->halt->why != DFL_STOP_NONE)
        *n = 0;
    if (*n > 0) {
        dfl_join_result *out = DFL_NEW_ARRAY(arena, dfl_join_result, *n);
        for (uint32_t i = 0; i < *n; i++) {
            out[i] = *trace(arena, &j, repeats, choices, all[i]);
            dfl_join_find_open(w, steps, &out[i]);
        }
        list = out;
    }
    dfl_periods_free(repeats);
    dfl_arena_free(of_layers);
    dfl_arena_free(of_step);
    dfl_arena_free(of_choices);
    return list;
}
