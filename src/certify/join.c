/*
 * The best combination of rows with one row for each einsum: dynamic programming over the einsums in workload order.
 *
 * The key of a state describes the open loops and live tensors after an einsum:
 *   - the loops shared with the next einsum, each with its trip count and the rank that names it;
 *   - the live tensors. Each has its memory, the number of open loops above its keep, the dimension of the tensor that
 *     each open loop moves along, and the number of open loops around its producer.
 * The value of a state is energy, time, and the occupancy of each tracked memory. The occupancy consists of the bits
 * that stay while each open loop runs, and of the peak of all einsums that have finished below each open loop. A state
 * that another state with the same key dominates is dropped.
 *
 * Two adjacent einsums share the loops that stand above all tensors that are live between the two. A row matches the
 * open loops if
 *   - the shared loops have equal trip counts in the row, and move along the same dimension of every live tensor that
 *     the row's einsum accesses;
 *   - each of these tensors is in the same memory in the row and in the state, below equally many loops;
 *   - the einsum has a name for each shared loop: a rank of its own, or a rank that it reaches by following a tensor.
 * An einsum may lack an open loop. The einsum then runs in the first iteration of this loop, and its whole result is
 * read below the loop. A row may have loops above none of its exchanges if all of its loops are open. If a loop above a
 * tensor moves along none of the tensor's dimensions, the tensor is produced in the first iteration only, or fetched in
 * every iteration.
 */
#include "certify/join.h"

#include <math.h>
#include <string.h>

#include "certify/cost.h"
#include "support/limits.h"
#include "support/hash.h"
#include "support/hashmap.h"

/* Values of `live_tensor.dim` for a loop that moves along no dimension of the tensor. */
enum {
    WHOLE = -2,    /* complete after the first iteration, present in all iterations */
    FIRST = -3,    /* present in the first iteration only */
    AGAIN = -4,    /* fetched in every iteration */
};

typedef struct {
    uint32_t tensor, memory;
    int32_t depth;                     /* number of open loops above the tensor's keep */
    int32_t within;                    /* number of open loops around the producer; for an input, around its first reader */
    int32_t dim[DFL_CLAIM_LOOPS]; /* [open loop]: dimension of the tensor that the loop moves along, or WHOLE, FIRST, AGAIN */
    int32_t apart;                     /* 1: an input that its last reader did not read from a common keep; then `within` is the
                                          number of loops that have been open ever since */
    int32_t owes;                      /* mask of the open loops below which the tensor must still be read */
} live_tensor;

/* Key of a state. Keys are compared and hashed by their bytes, so unused bytes are 0. */
typedef struct {
    int64_t trips[DFL_CLAIM_LOOPS];    /* trip counts of the open loops, outermost first */
    uint32_t name[DFL_CLAIM_LOOPS];    /* [open loop]: rank of the workload that names it */
    uint32_t n_open, n_live;
    live_tensor live[DFL_CERTIFY_LIVE];
} dp_key;

typedef struct {
    double joules, seconds;
    double stays[DFL_CLAIM_TRACKS][DFL_CLAIM_LOOPS];     /* [tracked memory][d]: bits kept below d open loops, d < n_open */
    double most[DFL_CLAIM_TRACKS][DFL_CLAIM_LOOPS + 1];  /* [tracked memory][d]: peak of all einsums finished below d open
                                                            loops (in bits) */
    uint32_t next;                                       /* 1 + the index of the next state with the same key; 0 = none */
    bool dropped;                                        /* a later state dominates this state */
} dp_state;

/* A bucket: the list of the states with one key. `first`: 1 + the index of the first state of the list. */
typedef struct { dp_key key; uint32_t first; } dp_bucket;

/* A layer: all states after one einsum. */
typedef struct {
    DFL_VEC(dp_bucket) buckets;
    DFL_VEC(dp_state) states;
    dfl_hashmap by_key;                /* map from keys to buckets; the item number is 1 + index of the bucket */
} dp_layer;

typedef struct {
    dfl_certify_run *run;
    const dfl_workload *w;
    const dfl_claim_search *search;
    dfl_arena *arena;                   /* arena of the layer under construction */
    uint32_t einsum;                    /* einsum with the rows that the present step adds */
    const dfl_certify_problem *problem; /* problem of this einsum */
    double capacity[DFL_CLAIM_TRACKS];  /* [tracked memory]: capacity of the memory (in bits) */
    double *rest_joules, *rest_seconds; /* [einsum]: cost-to-go, a lower bound of the costs of this einsum and all later ones */
    double cutoff;                      /* objective value above which a state is pruned */
    bool too_many_live;                 /* some state had more than DFL_CERTIFY_LIVE live tensors */
} row_join;

static uint32_t find_bucket(row_join *join, dp_layer *l, const dp_key *key)
{
    uint64_t hash = dfl_hash(key, sizeof *key, 0);
    uint32_t at;
    dp_bucket b;

    for (uint32_t item = dfl_hashmap_first(&l->by_key, hash, &at); item != 0; item = dfl_hashmap_next(&l->by_key, hash, &at))
        if (memcmp(&l->buckets.at[item - 1].key, key, sizeof *key) == 0)
            return item - 1;
    memset(&b, 0, sizeof b);
    memcpy(&b.key, key, sizeof *key);
    DFL_PUSH(join->arena, &l->buckets, b);
    dfl_hashmap_add(join->arena, &l->by_key, hash, (uint32_t)l->buckets.n);
    return (uint32_t)l->buckets.n - 1;
}

static bool covers(const row_join *join, uint32_t n_open, const dp_state *a, const dp_state *b)
{
    if (a->joules > b->joules || a->seconds > b->seconds)
        return false;
    for (uint32_t t = 0; t < join->search->n_tracks; t++)
        for (uint32_t d = 0; d <= n_open; d++)
            if (a->most[t][d] > b->most[t][d] || (d < n_open && a->stays[t][d] > b->stays[t][d]))
                return false;
    return true;
}

static void add_state(row_join *join, dp_layer *l, const dp_key *key, dp_state *s)
{
    uint32_t at = find_bucket(join, l, key);
    dp_bucket *b = &l->buckets.at[at];

    for (uint32_t i = b->first; i; i = l->states.at[i - 1].next)
        if (covers(join, key->n_open, &l->states.at[i - 1], s))
            return;
    for (uint32_t *link = &b->first; *link;) {
        dp_state *other = &l->states.at[*link - 1];
        other->dropped = covers(join, key->n_open, s, other);
        if (other->dropped)
            *link = other->next;
        else
            link = &other->next;
    }
    s->next = b->first;
    DFL_PUSH(join->arena, &l->states, *s);
    b->first = (uint32_t)l->states.n;
}

static const live_tensor *find_alive(const dp_key *key, uint32_t tensor)
{
    for (uint32_t i = 0; i < key->n_live; i++)
        if (key->live[i].tensor == tensor)
            return &key->live[i];
    return NULL;
}

static bool is_last(const row_join *join, uint32_t tensor)
{
    const dfl_tensor *t = &join->w->tensors[tensor];

    return t->consumers[t->n_consumers - 1] <= join->einsum;
}

/* Whether the row takes operand `o` from a common keep, one that may serve several einsums. */
static bool uses_common_keep(const row_join *join, const dfl_claim_interface *interface, uint32_t o)
{
    return join->problem->operand[o].common != 0 && interface->memory[o] != join->problem->memory[join->problem->operand[o].home];
}

/* Whether a common keep holds the tensor before the einsum runs. */
static bool has_common_keep(const dp_key *key, uint32_t tensor)
{
    const live_tensor *a = find_alive(key, tensor);

    return a && !a->apart;
}

/* The loops of a row among the loops around the einsum. The loops around the einsum are the open loops and, inside of
   these, the new loops of the row. */
typedef struct {
    uint32_t n;                        /* number of loops around the einsum */
    uint32_t bound;                    /* number of open loops that the row has */
    uint32_t skipped;                  /* mask: open loops that the row lacks */
    int32_t owes;                      /* mask: open loops below which the einsum's result must still be read */
    int32_t own[DFL_CLAIM_LOOPS];      /* [loop around the einsum]: the corresponding loop of the row, -1 if the row lacks it */
    uint32_t at[DFL_CLAIM_LOOPS];      /* [loop of the row]: the corresponding loop around the einsum */
} loop_placement;

/* Maps the loops of a row to the loops around the einsum. False if the row's loops do not match the open loops, or if a
   new loop stands above no exchange while some loop of the row is not open. */
static bool place_loops(const row_join *join, const dp_key *key, const dfl_claim_interface *interface, uint32_t skipped,
                        loop_placement *out)
{
    uint32_t next = 0, deepest = 0;

    *out = (loop_placement){ .skipped = skipped };
    for (; out->n < key->n_open || next < interface->n_loops; out->n++) {
        bool open = out->n < key->n_open;
        if (out->n == DFL_CLAIM_LOOPS)
            return false;
        out->own[out->n] = -1;
        if (open && (skipped >> out->n & 1))
            continue;
        if (next == interface->n_loops || (open && interface->trips[next] != key->trips[out->n]))
            return false;
        out->bound += open;
        out->at[next] = out->n;
        out->own[out->n] = (int32_t)next++;
    }
    for (uint32_t o = 0; o < join->problem->n_operands; o++)
        deepest = interface->depth[o] > deepest ? interface->depth[o] : deepest;
    return out->bound == interface->n_loops || deepest == interface->n_loops;
}

/* loops_around: the number of loops around the einsum down to loop number `depth` of the row. row_depth: the number of
   loops of the row among the first `depth` loops around the einsum. */
static uint32_t loops_around(const loop_placement *p, uint32_t depth) { return depth == 0 ? 0 : p->at[depth - 1] + 1; }
static uint32_t row_depth(const loop_placement *p, uint32_t depth)
{
    return depth - (uint32_t)__builtin_popcount(p->skipped & ((1u << depth) - 1));
}

static int32_t dimension_along(const row_join *join, const dfl_claim_interface *interface, const loop_placement *p, uint32_t o,
                               uint32_t i)
{
    return p->own[i] < 0 ? -1 : dfl_certify_dimension_of(join->problem, o, interface->rank[p->own[i]]);
}

/* Mask of the open loops that the einsum may lack. Three conditions hold for such a loop: the einsum has no rank with
   the loop's name, a live tensor that is no operand of the einsum stands below the loop, and other einsums read the
   result. */
static uint32_t find_skippable(const row_join *join, const dp_key *key)
{
    uint32_t loops = 0;
    bool made = false;

    for (uint32_t o = 0; o < join->problem->n_operands; o++)
        made |= join->problem->operand[o].output && join->problem->operand[o].shared;
    for (uint32_t i = 0; i < key->n_live && made; i++)
        if (dfl_certify_operand_of(join->problem, key->live[i].tensor) == join->problem->n_operands)
            loops |= (1u << key->live[i].depth) - 1;
    for (uint32_t i = 0; i < key->n_open; i++)
        for (uint32_t r = 0; r < join->problem->n_ranks; r++)
            loops &= ~((uint32_t)(join->problem->rank[r] == key->name[i]) << i);
    return loops;
}

/* Whether the row agrees with the live tensors that the einsum reads. Each of these tensors must be in the same memory
   and below the same loops, and every loop around its producer must move along the same dimension. */
static bool continues_live(const row_join *join, const dp_key *key, const dfl_claim_interface *interface, const loop_placement *p)
{
    for (uint32_t o = 0; o < join->problem->n_operands; o++) {
        const dfl_certify_operand *op = &join->problem->operand[o];
        const live_tensor *a = op->output ? NULL : find_alive(key, op->tensor);
        /* a new common keep must serve every reader below its loops: no reader below these loops came before, and a
           later reader exists */
        if (uses_common_keep(join, interface, o) && (!a || a->apart) &&
            (is_last(join, op->tensor) || (a && a->within >= (int32_t)loops_around(p, interface->depth[o]))))
            return false;
        if (!a || a->apart)
            continue;
        if (a->memory != interface->memory[o] || row_depth(p, (uint32_t)a->depth) != interface->depth[o])
            return false;
        for (int32_t i = 0; i < a->within; i++) {
            int32_t dim = dimension_along(join, interface, p, o, (uint32_t)i);
            bool fine = a->dim[i] == AGAIN || (a->dim[i] == FIRST && p->own[i] < 0) || (a->dim[i] == WHOLE && dim < 0) ||
                        (a->dim[i] >= 0 && dim == a->dim[i]);
            if (!fine)
                return false;
        }
    }
    return true;
}

/* Whether the open loop `i` has a name in this einsum: its own rank of that name, a rank that it reaches by following a
   tensor, or the need of a reader of its result. A need adds the loop to `owes`: the result must still be read below
   the loop. */
static bool has_name(const row_join *join, const dp_key *key, const dfl_claim_interface *interface, loop_placement *p, uint32_t i)
{
    bool own = false, reads = false, makes = false;

    if (p->own[i] >= 0 && join->problem->rank[interface->rank[p->own[i]]] == key->name[i])
        return true;
    for (uint32_t r = 0; r < join->problem->n_ranks; r++)
        own |= join->problem->rank[r] == key->name[i];
    for (uint32_t o = 0; o < join->problem->n_operands; o++) {
        const live_tensor *a = join->problem->operand[o].output ? NULL : find_alive(key, join->problem->operand[o].tensor);
        reads |= a && join->problem->operand[o].shared && a->within > (int32_t)i && a->dim[i] >= 0 && !(a->owes >> i & 1);
        makes |= join->problem->operand[o].output && join->problem->operand[o].shared &&
                 dimension_along(join, interface, p, o, i) >= 0;
    }
    if (p->own[i] >= 0 && (own || reads))
        return !own;
    p->owes |= 1 << i;
    return p->own[i] < 0 || makes;
}

static bool matches(const row_join *join, const dp_key *key, const dfl_claim_interface *interface, uint32_t skipped,
                    loop_placement *p)
{
    if (!place_loops(join, key, interface, skipped, p) || !continues_live(join, key, interface, p))
        return false;
    for (uint32_t i = 0; i < key->n_open; i++)
        if (!has_name(join, key, interface, p, i))
            return false;
    return true;
}

/* Adds the inputs that later einsums also read to the key after the einsum. */
static void advance_inputs(const row_join *join, const dfl_claim_interface *interface, const loop_placement *p, uint32_t ends,
                           dp_key *out)
{
    for (uint32_t o = 0; o < join->problem->n_operands; o++) {
        uint32_t i = 0;
        if (join->problem->operand[o].common == 0 || is_last(join, join->problem->operand[o].tensor))
            continue;
        while (i < out->n_live && out->live[i].tensor != join->problem->operand[o].tensor)
            i++;
        out->n_live += i == out->n_live;
        out->live[i] = (live_tensor){
            .tensor = join->problem->operand[o].tensor, .memory = interface->memory[o], .within = DFL_CLAIM_LOOPS, .apart = 1
        };
        if (!uses_common_keep(join, interface, o) || (ends >> o & 1))
            continue;
        out->live[i].apart = 0;
        out->live[i].depth = out->live[i].within = (int32_t)loops_around(p, interface->depth[o]);
        for (int32_t d = 0; d < out->live[i].depth; d++) {
            int32_t dim = dimension_along(join, interface, p, o, (uint32_t)d);
            out->live[i].dim[d] = dim < 0 ? AGAIN : dim;
        }
    }
}

/* Builds the key after the einsum. `ends`: mask of the operands whose common keep ends after this einsum, since a loop
   above the keep ends. False if no such loop ends, or if a loop ends although a tensor must still be read below it. */
static bool advance(row_join *join, const dp_key *key, const dfl_claim_interface *interface, const loop_placement *p,
                    uint32_t ends, dp_key *out)
{
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < key->n_live; i++) {
        const dfl_tensor *t = &join->w->tensors[key->live[i].tensor];
        if (t->consumers[t->n_consumers - 1] <= join->einsum)
            continue;
        out->live[out->n_live] = key->live[i];
        if (dfl_certify_operand_of(join->problem, key->live[i].tensor) < join->problem->n_operands)
            out->live[out->n_live].owes = 0;
        out->n_live++;
    }
    advance_inputs(join, interface, p, ends, out);
    for (uint32_t o = 0; o < join->problem->n_operands; o++) {
        if (!join->problem->operand[o].output || !join->problem->operand[o].shared)
            continue;
        if (out->n_live == DFL_CERTIFY_LIVE) {
            join->too_many_live = true;
            return false;
        }
        live_tensor *a = &out->live[out->n_live++];
        *a = (live_tensor){ .tensor = join->problem->operand[o].tensor, .memory = interface->memory[o],
                      .depth = (int32_t)loops_around(p, interface->depth[o]), .within = (int32_t)p->n, .owes = p->owes };
        for (int32_t i = 0; i < a->within; i++)
            a->dim[i] = p->own[i] >= 0 ? dimension_along(join, interface, p, o, (uint32_t)i) : i < a->depth ? FIRST : WHOLE;
    }
    for (uint32_t i = 0; i < out->n_live; i++)
        if ((uint32_t)out->live[i].depth > out->n_open)
            out->n_open = (uint32_t)out->live[i].depth;
    for (uint32_t i = 0; i < out->n_live; i++) {
        live_tensor *a = &out->live[i];
        if (a->within > (int32_t)out->n_open)
            a->within = (int32_t)out->n_open;
        for (uint32_t d = (uint32_t)a->within; d < DFL_CLAIM_LOOPS; d++)
            a->dim[d] = 0;
        if (a->owes >> out->n_open)
            return false;
    }
    for (uint32_t i = 0; i < out->n_open; i++) {
        out->trips[i] = i < key->n_open ? key->trips[i] : interface->trips[p->own[i]];
        out->name[i] = i < key->n_open ? key->name[i] : join->problem->rank[interface->rank[p->own[i]]];
    }
    for (uint32_t o = 0; o < join->problem->n_operands; o++)
        if ((ends >> o & 1) && loops_around(p, interface->depth[o]) <= out->n_open)
            return false;
    return true;
}

/* Bits of the tile that an operand of this einsum has in the memory of its exchange; 0 for a tensor that is no operand. */
static double tile_bits(const row_join *join, const dfl_claim_interface *interface, uint32_t tensor)
{
    for (uint32_t o = 0; o < join->problem->n_operands; o++) {
        double bits = join->problem->operand[o].bits;
        if (join->problem->operand[o].tensor != tensor)
            continue;
        if (join->problem->operand[o].common != 0)
            bits *= (double)join->run->search->asked->system->memories[interface->memory[o]].buffers;
        for (uint32_t i = 0; i < interface->depth[o]; i++)
            bits /= dfl_certify_dimension_of(join->problem, o, interface->rank[i]) < 0 ? 1 : (double)interface->trips[i];
        return bits;
    }
    return 0;
}

/*
 * Occupancy of tracked memory `t` while the einsum runs, and after it; false if the occupancy exceeds the capacity. The
 * occupancy at depth d has three parts: the bits that stay from earlier einsums, the row's keeps, and the tensors that
 * become live with this row. A tensor that was live before is counted already: in `stays` above the last open loop, in
 * `held` below it.
 */
static bool advance_occupancy(const row_join *join, uint32_t t, const dp_key *key, double held, const dp_state *s,
                              const dfl_claim_row *row, const loop_placement *p, const dp_key *after, dp_state *out)
{
    uint32_t open = key->n_open, loops = p->n;
    double at[DFL_CLAIM_LOOPS + 1] = { 0 }, most[DFL_CLAIM_LOOPS + 2] = { 0 }, sum = 0, above = 0;

    for (uint32_t d = 0; d < open; d++)
        at[d] = s->stays[t][d];
    for (uint32_t d = 0; d <= row->interface.n_loops; d++) /* room[t][d]: bits of keeps just above the row's loop number d */
        at[d < row->interface.n_loops ? p->at[d] : loops] += row->room[t][d];
    at[open] += held;
    for (uint32_t i = 0; i < after->n_live; i++)
        if (after->live[i].memory == join->search->track[t] && !after->live[i].apart &&
            !has_common_keep(key, after->live[i].tensor))
            at[after->live[i].depth] += tile_bits(join, &row->interface, after->live[i].tensor);
    for (uint32_t d = 0; d <= open; d++)
        most[d] = s->most[t][d];
    for (uint32_t d = open; d <= loops; d++)
        sum += at[d];
    most[open] = fmax(most[open], sum);
    for (uint32_t d = 0; d <= open; d++) {
        if (above + most[d] > join->capacity[t])
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

/* Bits of the live tensors below all open loops, by tracked memory; `stays` does not include them. */
static void find_held(const row_join *join, const dp_key *key, const double *bits, double *held)
{
    for (uint32_t t = 0; t < join->search->n_tracks; t++) {
        held[t] = 0;
        for (uint32_t i = 0; i < key->n_live; i++)
            if (key->live[i].memory == join->search->track[t] && !key->live[i].apart &&
                (uint32_t)key->live[i].depth == key->n_open)
                held[t] += bits[i];
    }
}

static double bits_of(const row_join *join, const dp_key *key, const live_tensor *a)
{
    const dfl_tensor *t = &join->w->tensors[a->tensor];
    const dfl_certify_problem *problem = join->search->problems[t->n_producers > 0 ? t->producers[0] : t->consumers[0]].at[0];
    double bits = problem->operand[dfl_certify_operand_of(problem, a->tensor)].bits;

    if (t->n_producers == 0)
        bits *= (double)join->run->search->asked->system->memories[a->memory].buffers;

    for (int32_t d = 0; d < a->depth; d++)
        bits /= a->dim[d] < 0 ? 1 : (double)key->trips[d];
    return bits;
}

/* Number of times that an input is fetched whole: once per iteration of the loops above its keep that move along none
   of its dimensions. */
static double count_fetches(const row_join *join, const dp_key *key, const dfl_claim_interface *interface,
                            const loop_placement *p, uint32_t o)
{
    double n = 1;

    for (uint32_t i = 0; i < loops_around(p, interface->depth[o]); i++)
        if (dimension_along(join, interface, p, o, i) < 0)
            n *= (double)(p->own[i] < 0 ? key->trips[i] : interface->trips[p->own[i]]);
    return n;
}

/* Extends all states of bucket `b` by one row. `ends`: mask of the operands whose common keep ends after this einsum;
   `held`: see find_held. */
static void join_row(row_join *join, const dp_layer *from, const dp_bucket *b, const dfl_claim_row *row, const loop_placement *p,
                     uint32_t ends, const double *held, dp_layer *to)
{
    double joules = row->joules;
    dp_key after;

    if (!advance(join, &b->key, &row->interface, p, ends, &after))
        return;
    for (uint32_t o = 0; o < join->problem->n_operands; o++)
        if (uses_common_keep(join, &row->interface, o) && !has_common_keep(&b->key, join->problem->operand[o].tensor))
            joules += dfl_certify_fetch_joules(join->run, join->problem, o, row->interface.memory[o]) *
                      count_fetches(join, &b->key, &row->interface, p, o);
    for (uint32_t i = b->first; i; i = from->states.at[i - 1].next) {
        const dp_state *s = &from->states.at[i - 1];
        dp_state out = { .joules = s->joules + joules, .seconds = s->seconds + row->seconds };
        bool fits = dfl_certify_value(join->run, out.joules + join->rest_joules[join->einsum + 1],
                                      out.seconds + join->rest_seconds[join->einsum + 1]) <= join->cutoff;
        for (uint32_t t = 0; t < join->search->n_tracks && fits; t++)
            fits = advance_occupancy(join, t, &b->key, held[t], s, row, p, &after, &out);
        if (fits)
            add_state(join, to, &after, &out);
    }
}

/* Extends all states of bucket `b` by the rows that lack the open loops in the mask `skipped`. */
static bool join_rows(row_join *join, const dp_layer *from, const dp_bucket *b, uint32_t skipped, dp_layer *to)
{
    const dfl_claim_class *c = &join->search->classes.at[join->search->class_of[join->einsum]];
    double bits[DFL_CERTIFY_LIVE], held[DFL_CLAIM_TRACKS];
    loop_placement p;

    for (uint32_t i = 0; i < b->key.n_live; i++)
        bits[i] = bits_of(join, &b->key, &b->key.live[i]);
    find_held(join, &b->key, bits, held);
    for (size_t r = 0; r < c->rows.n; r++) {
        const dfl_claim_row *row = &c->rows.at[r];
        if (!dfl_budget_ok(dfl_arena_budget(join->run->arena)))
            return dfl_report_stop(join->run->sink, dfl_arena_budget(join->run->arena));
        if (!matches(join, &b->key, &row->interface, skipped, &p))
            continue;
        for (uint32_t ends = 0; ends < 1u << join->problem->n_operands; ends++) {
            bool possible = true;
            for (uint32_t o = 0; o < join->problem->n_operands && possible; o++)
                possible = !(ends >> o & 1) ||
                           (uses_common_keep(join, &row->interface, o) && !is_last(join, join->problem->operand[o].tensor) &&
                            has_common_keep(&b->key, join->problem->operand[o].tensor));
            if (possible)
                join_row(join, from, b, row, &p, ends, held, to);
        }
    }
    return true;
}

static bool join_bucket(row_join *join, const dp_layer *from, const dp_bucket *b, dp_layer *to)
{
    uint32_t lacking = find_skippable(join, &b->key);

    for (uint32_t skipped = lacking;; skipped = (skipped - 1) & lacking) {
        if (!join_rows(join, from, b, skipped, to))
            return false;
        if (skipped == 0)
            return true;
    }
}

/* Sets the cost-to-go of each einsum: the sums of the least energy and of the least time over the rows of this einsum
   and all later ones. The cost-to-go is a weak bound, but prunes enough. */
static void find_rest(row_join *join)
{
    uint32_t n = join->w->n_einsums;

    join->rest_joules = DFL_NEW_ARRAY(join->run->arena, double, (size_t)n + 1);
    join->rest_seconds = DFL_NEW_ARRAY(join->run->arena, double, (size_t)n + 1);
    for (uint32_t e = n; e-- > 0;) {
        const dfl_claim_class *c = &join->search->classes.at[join->search->class_of[e]];
        double joules = INFINITY, seconds = INFINITY;
        for (size_t r = 0; r < c->rows.n; r++) {
            joules = fmin(joules, c->rows.at[r].joules);
            seconds = fmin(seconds, c->rows.at[r].seconds);
        }
        join->rest_joules[e] = join->rest_joules[e + 1] + joules;
        join->rest_seconds[e] = join->rest_seconds[e + 1] + seconds;
    }
}

static bool check_value(const row_join *join, double least)
{
    const dfl_claims *head = join->search->head;

    if (join->too_many_live) {
        dfl_report(join->run->sink, DFL_CERT_SUMS, join->search->asked->span, "more than %d tensors are alive at once",
                   DFL_CERTIFY_LIVE);
        return false;
    }
    if (join->search->cutoff < join->search->joined * (1 - join->run->task->rounding) ||
        join->search->joined < head->lower_bound * (1 - join->run->task->rounding)) {
        dfl_report(join->run->sink, DFL_CERT_SUMS, join->search->asked->span,
                   "the rows in `%s` are complete up to %.12g and combine to %.12g, and its lower bound is %.12g",
                   head->file, join->search->cutoff, join->search->joined, head->lower_bound);
        return false;
    }
    if (least < INFINITY && dfl_certify_is_same(join->run, least, join->search->joined))
        return true;
    if (least < INFINITY)
        dfl_report(join->run->sink, DFL_CERT_SUMS, join->search->asked->span,
                   "the rows in `%s` combine to %.12g, which is less than the stated %.12g", head->file, least,
                   join->search->joined);
    else
        dfl_report(join->run->sink, DFL_CERT_SUMS, join->search->asked->span, "no rows in `%s` combine to %.12g", head->file,
                   join->search->joined);
    return false;
}

bool dfl_certify_join(dfl_certify_run *run)
{
    row_join join = { .run = run, .w = run->search->asked->workload, .search = run->search };
    dfl_arena *arenas[2] = { dfl_arena_new(dfl_arena_budget(run->arena)), dfl_arena_new(dfl_arena_budget(run->arena)) };
    dp_layer layers[2] = { { .by_key = { 0 } } };
    double least = INFINITY;
    bool fine = true;
    dp_key none;
    dp_state start = { .joules = 0 };

    if (!run->search->has_rows)
        goto end;
    join.cutoff = run->search->joined * (1 + run->task->rounding);
    for (uint32_t t = 0; t < run->search->n_tracks; t++)
        join.capacity[t] = run->left_bits[run->search->track[t]];
    find_rest(&join);
    memset(&none, 0, sizeof none);
    join.arena = arenas[0];
    add_state(&join, &layers[0], &none, &start);
    for (join.einsum = 0; join.einsum < join.w->n_einsums && fine; join.einsum++) {
        dp_layer *from = &layers[join.einsum % 2], *to = &layers[(join.einsum + 1) % 2];
        join.arena = arenas[(join.einsum + 1) % 2];
        dfl_arena_reset(join.arena);
        *to = (dp_layer){ .by_key = { 0 } };
        join.problem = run->search->problems[join.einsum].at[0];
        for (size_t b = 0; b < from->buckets.n && fine; b++)
            fine = join_bucket(&join, from, &from->buckets.at[b], to);
    }
    if (fine) {
        const dp_layer *last = &layers[join.w->n_einsums % 2];
        for (size_t i = 0; i < last->states.n; i++)
            if (!last->states.at[i].dropped)
                least = fmin(least, dfl_certify_value(run, last->states.at[i].joules, last->states.at[i].seconds));
        fine = check_value(&join, least);
    }
end:
    dfl_arena_free(arenas[0]);
    dfl_arena_free(arenas[1]);
    return fine;
}
