/*
 * The best way to put rows together, einsum by einsum. What is open behind an einsum: the loops shared with the next one,
 * each with its iterations and the rank that names it; the tensors alive with their memory, the loops above it, the
 * dimension that each open loop goes along in them and how many of the open loops their producer ran in; and per track the
 * bits that stay while the open loops run, by the loops above, with the most that anything finished took besides.
 *
 * Two einsums share the loops above whatever is alive between them. A row goes with what is open if these loops have the
 * same iterations in it and go along the same dimension of every tensor that it takes over, the tensor stands in the same
 * memory below as many loops, and each loop has a name in it: its own rank, or one that follows a tensor.
 *
 * An einsum between others may lack an open loop, and then runs in its first iteration: what it makes is read, whole, below the
 * loop. It may have loops that stand above nothing that it exchanges if all its loops are open. What stands below a loop
 * that does not go along it is made in its first iteration only, or fetched in all.
 */
#include <math.h>
#include <string.h>

#include "certify/steps.h"
#include "support/hash.h"
#include "support/hashmap.h"

enum {
    LIVE = 16,
    WHOLE = -2,    /* dimension: made in the first iteration of the loop, there in all */
    FIRST = -3,    /* there in this one only */
    AGAIN = -4,    /* fetched in every one */
};

typedef struct {
    uint32_t tensor, memory;
    int32_t depth, within, dim[DFL_CLAIM_LOOPS];
    int32_t apart;                     /* an input that the last einsum with it did not take from a keep for others, too: since
                                          then `within` loops were open all the time */
    int32_t owes;                      /* mask of loops below which it must still be read */
} alive;

/* Bytes without meaning are 0. */
typedef struct {
    int64_t trips[DFL_CLAIM_LOOPS];
    uint32_t name[DFL_CLAIM_LOOPS];
    uint32_t n_open, n_live;
    alive live[LIVE];
} opened;

typedef struct {
    double joules, seconds;
    double stays[DFL_CLAIM_TRACKS][DFL_CLAIM_LOOPS];     /* below d open loops, d < n_open */
    double most[DFL_CLAIM_TRACKS][DFL_CLAIM_LOOPS + 1];  /* of what is finished, below d open loops */
    uint32_t next;                                       /* of the same opened: 1 + index */
    bool dropped;
} state;

typedef struct { opened key; uint32_t first; } bucket;

typedef struct {
    DFL_VEC(bucket) buckets;
    DFL_VEC(state) states;
    dfl_hashmap by_key;                /* item number - 1 is the index of the bucket */
} layer;

typedef struct {
    dfl_certify_run *run;
    const dfl_workload *w;
    const dfl_claim_search *s;
    dfl_arena *arena;                  /* of the layer that is filled */
    uint32_t einsum;
    const dfl_frame *f;
    double capacity[DFL_CLAIM_TRACKS];
    double *rest_joules, *rest_seconds; /* by einsum: it and those behind it, at least */
    double worth;                      /* what is certainly above this value is left out */
    bool full;
} joiner;

static uint32_t find_bucket(joiner *k, layer *l, const opened *key)
{
    uint64_t hash = dfl_hash(key, sizeof *key, 0);
    uint32_t at;
    bucket b;

    for (uint32_t item = dfl_hashmap_first(&l->by_key, hash, &at); item != 0; item = dfl_hashmap_next(&l->by_key, hash, &at))
        if (memcmp(&l->buckets.at[item - 1].key, key, sizeof *key) == 0)
            return item - 1;
    memset(&b, 0, sizeof b);
    memcpy(&b.key, key, sizeof *key);
    DFL_PUSH(k->arena, &l->buckets, b);
    dfl_hashmap_add(k->arena, &l->by_key, hash, (uint32_t)l->buckets.n);
    return (uint32_t)l->buckets.n - 1;
}

static bool covers(const joiner *k, uint32_t n_open, const state *a, const state *b)
{
    if (a->joules > b->joules || a->seconds > b->seconds)
        return false;
    for (uint32_t t = 0; t < k->s->n_tracks; t++)
        for (uint32_t d = 0; d <= n_open; d++)
            if (a->most[t][d] > b->most[t][d] || (d < n_open && a->stays[t][d] > b->stays[t][d]))
                return false;
    return true;
}

static void add_state(joiner *k, layer *l, const opened *key, state *s)
{
    uint32_t at = find_bucket(k, l, key);
    bucket *b = &l->buckets.at[at];

    for (uint32_t i = b->first; i; i = l->states.at[i - 1].next)
        if (covers(k, key->n_open, &l->states.at[i - 1], s))
            return;
    for (uint32_t *link = &b->first; *link;) {
        state *other = &l->states.at[*link - 1];
        other->dropped = covers(k, key->n_open, s, other);
        if (other->dropped)
            *link = other->next;
        else
            link = &other->next;
    }
    s->next = b->first;
    DFL_PUSH(k->arena, &l->states, *s);
    b->first = (uint32_t)l->states.n;
}

static const alive *find_alive(const opened *key, uint32_t tensor)
{
    for (uint32_t i = 0; i < key->n_live; i++)
        if (key->live[i].tensor == tensor)
            return &key->live[i];
    return NULL;
}

static bool is_last(const joiner *k, uint32_t tensor)
{
    const dfl_tensor *t = &k->w->tensors[tensor];

    return t->consumers[t->n_consumers - 1] <= k->einsum;
}

/* Whether the row takes an input from a keep that may serve other einsums, too. */
static bool is_served(const joiner *k, const dfl_claim_way *way, uint32_t o)
{
    return k->f->operand[o].common != 0 && way->memory[o] != k->f->memory[k->f->operand[o].home];
}

/* Whether such a keep stands there before the einsum. */
static bool is_there(const opened *key, uint32_t tensor)
{
    const alive *a = find_alive(key, tensor);

    return a && !a->apart;
}

/* How the loops of a row lie around the einsum: `at` by loop of the row, `own` by loop around, -1 = it lacks it. */
typedef struct { uint32_t n, bound, skipped; int32_t owes, own[DFL_CLAIM_LOOPS]; uint32_t at[DFL_CLAIM_LOOPS]; } placed;

static bool place(const joiner *k, const opened *key, const dfl_claim_way *way, uint32_t skipped, placed *out)
{
    uint32_t next = 0, deepest = 0;

    *out = (placed){ .skipped = skipped };
    for (; out->n < key->n_open || next < way->n_loops; out->n++) {
        bool open = out->n < key->n_open;
        if (out->n == DFL_CLAIM_LOOPS)
            return false;
        out->own[out->n] = -1;
        if (open && (skipped >> out->n & 1))
            continue;
        if (next == way->n_loops || (open && way->trips[next] != key->trips[out->n]))
            return false;
        out->bound += open;
        out->at[next] = out->n;
        out->own[out->n] = (int32_t)next++;
    }
    for (uint32_t o = 0; o < k->f->n_operands; o++)
        deepest = way->depth[o] > deepest ? way->depth[o] : deepest;
    return out->bound == way->n_loops || deepest == way->n_loops;
}

/* Loops around what stands below `depth` of the row, and the other way round. */
static uint32_t around(const placed *p, uint32_t depth) { return depth == 0 ? 0 : p->at[depth - 1] + 1; }
static uint32_t of_row(const placed *p, uint32_t depth)
{
    return depth - (uint32_t)__builtin_popcount(p->skipped & ((1u << depth) - 1));
}

static int32_t along(const joiner *k, const dfl_claim_way *way, const placed *p, uint32_t o, uint32_t i)
{
    return p->own[i] < 0 ? -1 : dfl_frame_dimension(k->f, o, way->rank[p->own[i]]);
}

/* Open loops that the einsum may lack: it has no rank of the name, and something that it does not touch stands below. */
static uint32_t lacks(const joiner *k, const opened *key)
{
    uint32_t loops = 0;
    bool made = false;

    for (uint32_t o = 0; o < k->f->n_operands; o++)
        made |= k->f->operand[o].output && k->f->operand[o].shared;
    for (uint32_t i = 0; i < key->n_live && made; i++)
        if (dfl_frame_operand_of(k->f, key->live[i].tensor) == k->f->n_operands)
            loops |= (1u << key->live[i].depth) - 1;
    for (uint32_t i = 0; i < key->n_open; i++)
        for (uint32_t r = 0; r < k->f->n_ranks; r++)
            loops &= ~((uint32_t)(k->f->rank[r] == key->name[i]) << i);
    return loops;
}

/* Loops that run whatever an operand is indexed by, down to its home: those of the row. */
static bool takes_over(const joiner *k, const opened *key, const dfl_claim_way *way, const placed *p)
{
    for (uint32_t o = 0; o < k->f->n_operands; o++) {
        const dfl_frame_operand *op = &k->f->operand[o];
        const alive *a = op->output ? NULL : find_alive(key, op->tensor);
        /* one that is not there yet serves all below the loops above it: none has been there by itself, and more come */
        if (is_served(k, way, o) && (!a || a->apart) &&
            (is_last(k, op->tensor) || (a && a->within >= (int32_t)around(p, way->depth[o]))))
            return false;
        if (!a || a->apart)
            continue;
        if (a->memory != way->memory[o] || of_row(p, (uint32_t)a->depth) != way->depth[o])
            return false;
        for (int32_t i = 0; i < a->within; i++) {
            int32_t dim = along(k, way, p, o, (uint32_t)i);
            bool fine = a->dim[i] == AGAIN || (a->dim[i] == FIRST && p->own[i] < 0) || (a->dim[i] == WHOLE && dim < 0) ||
                        (a->dim[i] >= 0 && dim == a->dim[i]);
            if (!fine)
                return false;
        }
    }
    return true;
}

/* Whether open loop `i` can be written for this einsum, too; what it makes may have to be read below it. */
static bool has_name(const joiner *k, const opened *key, const dfl_claim_way *way, placed *p, uint32_t i)
{
    bool own = false, reads = false, makes = false;

    if (p->own[i] >= 0 && k->f->rank[way->rank[p->own[i]]] == key->name[i])
        return true;
    for (uint32_t r = 0; r < k->f->n_ranks; r++)
        own |= k->f->rank[r] == key->name[i];
    for (uint32_t o = 0; o < k->f->n_operands; o++) {
        const alive *a = k->f->operand[o].output ? NULL : find_alive(key, k->f->operand[o].tensor);
        reads |= a && k->f->operand[o].shared && a->within > (int32_t)i && a->dim[i] >= 0 && !(a->owes >> i & 1);
        makes |= k->f->operand[o].output && k->f->operand[o].shared && along(k, way, p, o, i) >= 0;
    }
    if (p->own[i] >= 0 && (own || reads))
        return !own;
    p->owes |= 1 << i;
    return p->own[i] < 0 || makes;
}

static bool goes_with(const joiner *k, const opened *key, const dfl_claim_way *way, uint32_t skipped, placed *p)
{
    if (!place(k, key, way, skipped, p) || !takes_over(k, key, way, p))
        return false;
    for (uint32_t i = 0; i < key->n_open; i++)
        if (!has_name(k, key, way, p, i))
            return false;
    return true;
}

/* Inputs that einsums behind this one read, too. */
static void follow_inputs(const joiner *k, const dfl_claim_way *way, const placed *p, uint32_t ends, opened *out)
{
    for (uint32_t o = 0; o < k->f->n_operands; o++) {
        uint32_t i = 0;
        if (k->f->operand[o].common == 0 || is_last(k, k->f->operand[o].tensor))
            continue;
        while (i < out->n_live && out->live[i].tensor != k->f->operand[o].tensor)
            i++;
        out->n_live += i == out->n_live;
        out->live[i] = (alive){ .tensor = k->f->operand[o].tensor, .memory = way->memory[o], .within = DFL_CLAIM_LOOPS,
                                .apart = 1 };
        if (!is_served(k, way, o) || (ends >> o & 1))
            continue;
        out->live[i].apart = 0;
        out->live[i].depth = out->live[i].within = (int32_t)around(p, way->depth[o]);
        for (int32_t d = 0; d < out->live[i].depth; d++) {
            int32_t dim = along(k, way, p, o, (uint32_t)d);
            out->live[i].dim[d] = dim < 0 ? AGAIN : dim;
        }
    }
}

/* What is open behind the einsum, at which keeps for several end that stand below loops that end there, and no loop below which
   something must still be read. */
static bool follow(joiner *k, const opened *key, const dfl_claim_way *way, const placed *p, uint32_t ends, opened *out)
{
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < key->n_live; i++) {
        const dfl_tensor *t = &k->w->tensors[key->live[i].tensor];
        if (t->consumers[t->n_consumers - 1] <= k->einsum)
            continue;
        out->live[out->n_live] = key->live[i];
        if (dfl_frame_operand_of(k->f, key->live[i].tensor) < k->f->n_operands)
            out->live[out->n_live].owes = 0;
        out->n_live++;
    }
    follow_inputs(k, way, p, ends, out);
    for (uint32_t o = 0; o < k->f->n_operands; o++) {
        if (!k->f->operand[o].output || !k->f->operand[o].shared)
            continue;
        if (out->n_live == LIVE) {
            k->full = true;
            return false;
        }
        alive *a = &out->live[out->n_live++];
        *a = (alive){ .tensor = k->f->operand[o].tensor, .memory = way->memory[o],
                      .depth = (int32_t)around(p, way->depth[o]), .within = (int32_t)p->n, .owes = p->owes };
        for (int32_t i = 0; i < a->within; i++)
            a->dim[i] = p->own[i] >= 0 ? along(k, way, p, o, (uint32_t)i) : i < a->depth ? FIRST : WHOLE;
    }
    for (uint32_t i = 0; i < out->n_live; i++)
        if ((uint32_t)out->live[i].depth > out->n_open)
            out->n_open = (uint32_t)out->live[i].depth;
    for (uint32_t i = 0; i < out->n_live; i++) {
        alive *a = &out->live[i];
        if (a->within > (int32_t)out->n_open)
            a->within = (int32_t)out->n_open;
        for (uint32_t d = (uint32_t)a->within; d < DFL_CLAIM_LOOPS; d++)
            a->dim[d] = 0;
        if (a->owes >> out->n_open)
            return false;
    }
    for (uint32_t i = 0; i < out->n_open; i++) {
        out->trips[i] = i < key->n_open ? key->trips[i] : way->trips[p->own[i]];
        out->name[i] = i < key->n_open ? key->name[i] : k->f->rank[way->rank[p->own[i]]];
    }
    for (uint32_t o = 0; o < k->f->n_operands; o++)
        if ((ends >> o & 1) && around(p, way->depth[o]) <= out->n_open)
            return false;
    return true;
}

/* Bits of the tile that a tensor exchanges in the place of a row; only for those of this einsum. */
static double tile_bits(const joiner *k, const dfl_claim_way *way, uint32_t tensor)
{
    for (uint32_t o = 0; o < k->f->n_operands; o++) {
        double bits = k->f->operand[o].bits;
        if (k->f->operand[o].tensor != tensor)
            continue;
        if (k->f->operand[o].common != 0)
            bits *= (double)k->run->s->asked->system->memories[way->memory[o]].buffers;
        for (uint32_t i = 0; i < way->depth[o]; i++)
            bits /= dfl_frame_dimension(k->f, o, way->rank[i]) < 0 ? 1 : (double)way->trips[i];
        return bits;
    }
    return 0;
}

/*
 * The room of one track while the einsum runs, and behind it; false beyond the capacity. At every depth d stand what stays
 * there from before, the row's keeps, and the tensors that appear with it. A tensor taken over stands there already: below
 * open loops as part of what stays, below the last of them in `held`.
 */
static bool follow_room(const joiner *k, uint32_t t, const opened *key, double held, const state *s, const dfl_claim_row *row,
                        const placed *p, const opened *after, state *out)
{
    uint32_t open = key->n_open, loops = p->n;
    double at[DFL_CLAIM_LOOPS + 1] = { 0 }, most[DFL_CLAIM_LOOPS + 2] = { 0 }, sum = 0, above = 0;

    for (uint32_t d = 0; d < open; d++)
        at[d] = s->stays[t][d];
    for (uint32_t d = 0; d <= row->way.n_loops; d++) /* just above the next loop of the row */
        at[d < row->way.n_loops ? p->at[d] : loops] += row->room[t][d];
    at[open] += held;
    for (uint32_t i = 0; i < after->n_live; i++)
        if (after->live[i].memory == k->s->track[t] && !after->live[i].apart && !is_there(key, after->live[i].tensor))
            at[after->live[i].depth] += tile_bits(k, &row->way, after->live[i].tensor);
    for (uint32_t d = 0; d <= open; d++)
        most[d] = s->most[t][d];
    for (uint32_t d = open; d <= loops; d++)
        sum += at[d];
    most[open] = fmax(most[open], sum);
    for (uint32_t d = 0; d <= open; d++) {
        if (above + most[d] > k->capacity[t])
            return false;
        above += at[d];
    }
    for (uint32_t d = open; d > after->n_open; d--)
        most[d - 1] = fmax(most[d - 1], at[d - 1] + most[d]);
    if (after->n_open > open) {
        sum = 0;
        for (uint32_t d = after->n_open; d <= loops; d++)
            sum += at[d];
        for (uint32_t d = open + 1; d < after->n_open; d++)
            most[d] = 0;
        most[after->n_open] = sum;
    }
    for (uint32_t d = 0; d < after->n_open; d++)
        out->stays[t][d] = at[d];
    for (uint32_t d = 0; d <= after->n_open && after->n_open > 0; d++)
        out->most[t][d] = most[d];
    return true;
}

/* Bits by track of the tensors alive that stand below all open loops: they are not among what stays. */
static void find_held(const joiner *k, const opened *key, const double *bits, double *held)
{
    for (uint32_t t = 0; t < k->s->n_tracks; t++) {
        held[t] = 0;
        for (uint32_t i = 0; i < key->n_live; i++)
            if (key->live[i].memory == k->s->track[t] && !key->live[i].apart && (uint32_t)key->live[i].depth == key->n_open)
                held[t] += bits[i];
    }
}

static double bits_of(const joiner *k, const opened *key, const alive *a)
{
    const dfl_tensor *t = &k->w->tensors[a->tensor];
    const dfl_frame *f = k->s->frames[t->n_producers > 0 ? t->producers[0] : t->consumers[0]].at[0];
    double bits = f->operand[dfl_frame_operand_of(f, a->tensor)].bits;

    if (t->n_producers == 0)
        bits *= (double)k->run->s->asked->system->memories[a->memory].buffers;

    for (int32_t d = 0; d < a->depth; d++)
        bits /= a->dim[d] < 0 ? 1 : (double)key->trips[d];
    return bits;
}

/* Times that an input is fetched: in every iteration of the loops above that do not go along it. */
static double times(const joiner *k, const opened *key, const dfl_claim_way *way, const placed *p, uint32_t o)
{
    double n = 1;

    for (uint32_t i = 0; i < around(p, way->depth[o]); i++)
        if (along(k, way, p, o, i) < 0)
            n *= (double)(p->own[i] < 0 ? key->trips[i] : way->trips[p->own[i]]);
    return n;
}

/* A row after what is open, with the keeps for several that end at it; `held`: see find_held. */
static void join_row(joiner *k, const layer *from, const bucket *b, const dfl_claim_row *row, const placed *p, uint32_t ends,
                     const double *held, layer *to)
{
    double joules = row->joules;
    opened after;

    if (!follow(k, &b->key, &row->way, p, ends, &after))
        return;
    for (uint32_t o = 0; o < k->f->n_operands; o++)
        if (is_served(k, &row->way, o) && !is_there(&b->key, k->f->operand[o].tensor))
            joules += dfl_certify_fetch(k->run, k->f, o, row->way.memory[o]) * times(k, &b->key, &row->way, p, o);
    for (uint32_t i = b->first; i; i = from->states.at[i - 1].next) {
        const state *s = &from->states.at[i - 1];
        state out = { .joules = s->joules + joules, .seconds = s->seconds + row->seconds };
        bool fits = dfl_certify_value(k->run, out.joules + k->rest_joules[k->einsum + 1],
                                      out.seconds + k->rest_seconds[k->einsum + 1]) <= k->worth;
        for (uint32_t t = 0; t < k->s->n_tracks && fits; t++)
            fits = follow_room(k, t, &b->key, held[t], s, row, p, &after, &out);
        if (fits)
            add_state(k, to, &after, &out);
    }
}

/* The rows of the einsum that lack these open loops. */
static bool join_rows(joiner *k, const layer *from, const bucket *b, uint32_t skipped, layer *to)
{
    const dfl_claim_class *c = &k->s->classes.at[k->s->of[k->einsum]];
    double bits[LIVE], held[DFL_CLAIM_TRACKS];
    placed p;

    for (uint32_t i = 0; i < b->key.n_live; i++)
        bits[i] = bits_of(k, &b->key, &b->key.live[i]);
    find_held(k, &b->key, bits, held);
    for (size_t r = 0; r < c->rows.n; r++) {
        const dfl_claim_row *row = &c->rows.at[r];
        if (!dfl_budget_ok(dfl_arena_budget(k->run->arena)))
            return dfl_report_stop(k->run->sink, dfl_arena_budget(k->run->arena));
        if (!goes_with(k, &b->key, &row->way, skipped, &p))
            continue;
        for (uint32_t ends = 0; ends < 1u << k->f->n_operands; ends++) {
            bool possible = true;
            for (uint32_t o = 0; o < k->f->n_operands && possible; o++)
                possible = !(ends >> o & 1) || (is_served(k, &row->way, o) && !is_last(k, k->f->operand[o].tensor) &&
                                                is_there(&b->key, k->f->operand[o].tensor));
            if (possible)
                join_row(k, from, b, row, &p, ends, held, to);
        }
    }
    return true;
}

static bool join_bucket(joiner *k, const layer *from, const bucket *b, layer *to)
{
    uint32_t lacking = lacks(k, &b->key);

    for (uint32_t skipped = lacking;; skipped = (skipped - 1) & lacking) {
        if (!join_rows(k, from, b, skipped, to))
            return false;
        if (skipped == 0)
            return true;
    }
}

/* The least that the rows of an einsum cost is enough of a bound for what is behind. */
static void find_rest(joiner *k)
{
    uint32_t n = k->w->n_einsums;

    k->rest_joules = DFL_NEW_ARRAY(k->run->arena, double, (size_t)n + 1);
    k->rest_seconds = DFL_NEW_ARRAY(k->run->arena, double, (size_t)n + 1);
    for (uint32_t e = n; e-- > 0;) {
        const dfl_claim_class *c = &k->s->classes.at[k->s->of[e]];
        double joules = INFINITY, seconds = INFINITY;
        for (size_t r = 0; r < c->rows.n; r++) {
            joules = fmin(joules, c->rows.at[r].joules);
            seconds = fmin(seconds, c->rows.at[r].seconds);
        }
        k->rest_joules[e] = k->rest_joules[e + 1] + joules;
        k->rest_seconds[e] = k->rest_seconds[e + 1] + seconds;
    }
}

static bool check_value(const joiner *k, double least)
{
    const dfl_claims *head = k->s->head;

    if (k->full) {
        dfl_report(k->run->sink, DFL_CERT_SUMS, k->s->asked->span, "more than %d tensors are alive at once", LIVE);
        return false;
    }
    if (k->s->limit < k->s->joined * (1 - k->run->task->rounding) ||
        k->s->joined < head->lower_bound * (1 - k->run->task->rounding)) {
        dfl_report(k->run->sink, DFL_CERT_SUMS, k->s->asked->span,
                   "the rows in `%s` are complete up to %.12g and go together for %.12g, and its lower bound is %.12g",
                   head->file, k->s->limit, k->s->joined, head->lower_bound);
        return false;
    }
    if (least < INFINITY && dfl_certify_same(k->run, least, k->s->joined))
        return true;
    if (least < INFINITY)
        dfl_report(k->run->sink, DFL_CERT_SUMS, k->s->asked->span,
                   "the rows in `%s` go together for %.12g, which is less than the %.12g that it says", head->file, least,
                   k->s->joined);
    else
        dfl_report(k->run->sink, DFL_CERT_SUMS, k->s->asked->span, "no rows in `%s` go together for %.12g", head->file,
                   k->s->joined);
    return false;
}

bool dfl_certify_join(dfl_certify_run *run)
{
    joiner k = { .run = run, .w = run->s->asked->workload, .s = run->s };
    dfl_arena *arenas[2] = { dfl_arena_new(dfl_arena_budget(run->arena)), dfl_arena_new(dfl_arena_budget(run->arena)) };
    layer layers[2] = { { .by_key = { 0 } } };
    double least = INFINITY;
    bool fine = true;
    opened none;
    state start = { .joules = 0 };

    if (!run->s->rows)
        goto end;
    k.worth = run->s->joined * (1 + run->task->rounding);
    for (uint32_t t = 0; t < run->s->n_tracks; t++)
        k.capacity[t] = run->free_bits[run->s->track[t]];
    find_rest(&k);
    memset(&none, 0, sizeof none);
    k.arena = arenas[0];
    add_state(&k, &layers[0], &none, &start);
    for (k.einsum = 0; k.einsum < k.w->n_einsums && fine; k.einsum++) {
        layer *from = &layers[k.einsum % 2], *to = &layers[(k.einsum + 1) % 2];
        k.arena = arenas[(k.einsum + 1) % 2];
        dfl_arena_reset(k.arena);
        *to = (layer){ .by_key = { 0 } };
        k.f = run->s->frames[k.einsum].at[0];
        for (size_t b = 0; b < from->buckets.n && fine; b++)
            fine = join_bucket(&k, from, &from->buckets.at[b], to);
    }
    if (fine) {
        const layer *last = &layers[k.w->n_einsums % 2];
        for (size_t i = 0; i < last->states.n; i++)
            if (!last->states.at[i].dropped)
                least = fmin(least, dfl_certify_value(run, last->states.at[i].joules, last->states.at[i].seconds));
        fine = check_value(&k, least);
    }
end:
    dfl_arena_free(arenas[0]);
    dfl_arena_free(arenas[1]);
    return fine;
}
