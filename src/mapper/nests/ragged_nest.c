#include "mapper/nests/ragged_nest.h"

#include "support/vec.h"

/* Longest chain: a line for each length below the extent that a small rank may have. */
enum { CHAIN_LINES = 12 };

/* The lines over one rank, outermost first. */
typedef struct {
    uint32_t n;
    bool has_axis;
    struct { int8_t axis; int64_t parts, tile; } line[CHAIN_LINES]; /* axis: -1 = a loop */
} chain;

typedef struct {
    dfl_arena *arena;
    const dfl_problem *problem;
    dfl_nest_use *use;
    void *context;
    DFL_VEC(chain) chains[DFL_PROBLEM_RANKS];
    uint32_t order[DFL_PROBLEM_RANKS];        /* ranks in the order in which their chains are chosen */
    const chain *chosen[DFL_PROBLEM_RANKS];
    uint32_t at[DFL_PROBLEM_RANKS];           /* lines of the chosen chain that the nest has */
    bool is_long;                             /* some nest has too many lines */
    dfl_bare_nest nest;
} lister;

/* Adds all chains of a rank that continue `c`, whose full pieces have `left` elements. `room`: instances of each axis that are
   left. False if there are too many. */
static bool add_chains(lister *k, uint32_t rank, const chain *c, int64_t left, const int64_t *room)
{
    if (left == 1) {
        DFL_PUSH(k->arena, &k->chains[rank], *c);
        return k->chains[rank].n <= DFL_RAGGED_CHAINS;
    }
    if (c->n == CHAIN_LINES)
        return false;
    for (int64_t tile = 1; tile < left; tile++)
        for (int axis = -1; axis < (int)k->problem->n_axes; axis++) {
            const int64_t parts = dfl_divide_up(left, tile);
            int64_t rest[DFL_PROBLEM_AXES];
            chain next = *c;
            for (uint32_t a = 0; a < k->problem->n_axes; a++)
                rest[a] = room[a];
            if (axis >= 0 && (!(k->problem->axis[axis].ranks >> rank & 1) || parts > room[axis]))
                continue;
            if (axis >= 0) {
                rest[axis] /= parts;
                next.has_axis = true;
            }
            next.line[next.n].axis = (int8_t)axis;
            next.line[next.n].parts = parts;
            next.line[next.n++].tile = tile;
            if (!add_chains(k, rank, &next, tile, rest))
                return false;
        }
    return true;
}

static bool list_chains(lister *k)
{
    int64_t room[DFL_PROBLEM_AXES];

    for (uint32_t a = 0; a < k->problem->n_axes; a++)
        room[a] = k->problem->axis[a].size;
    for (uint32_t r = 0; r < k->problem->n_ranks; r++)
        if (!add_chains(k, r, &(chain){ .n = 0 }, k->problem->extent[r], room))
            return false;
    return true;
}

/* Adds to the nest the axes of the chain of a rank up to its next loop. False if the nest would have more than DFL_NEST_AXES. */
static bool add_axes(lister *k, uint32_t rank)
{
    const chain *c = k->chosen[rank];

    for (; k->at[rank] < c->n && c->line[k->at[rank]].axis >= 0; k->at[rank]++) {
        const uint32_t i = k->nest.n_axes;
        k->is_long |= i == DFL_NEST_AXES;
        if (k->is_long)
            return false;
        k->nest.axis[i].rank = rank;
        k->nest.axis[i].axis = (uint32_t)c->line[k->at[rank]].axis;
        k->nest.axis[i].after = k->nest.n;
        k->nest.axis[i].parts = c->line[k->at[rank]].parts;
        k->nest.axis[i].tile = c->line[k->at[rank]].tile;
        k->nest.n_axes++;
    }
    return true;
}

/* Adds the loops that are left, in all orders. */
static bool add_loops(lister *k)
{
    const uint32_t n = k->nest.n, n_axes = k->nest.n_axes;
    bool is_end = true, goes_on = true;

    for (uint32_t r = 0; r < k->problem->n_ranks && goes_on; r++) {
        const uint32_t at = k->at[r];
        if (at == k->chosen[r]->n)
            continue;
        is_end = false;
        k->is_long |= n == DFL_NEST_LOOPS;
        if (k->is_long)
            return false;
        k->nest.loop[n].rank = r;
        k->nest.loop[n].factor = k->chosen[r]->line[at].parts;
        k->nest.loop[n].tile = k->chosen[r]->line[at].tile;
        k->nest.n = n + 1;
        k->at[r]++;
        goes_on = add_axes(k, r) && add_loops(k);
        k->at[r] = at;
        k->nest.n = n;
        k->nest.n_axes = n_axes;
    }
    return goes_on && (!is_end || k->use(k->context, &k->nest));
}

/* The nests of the chosen chains. */
static bool use_chains(lister *k)
{
    k->nest.n = k->nest.n_axes = 0;
    for (uint32_t r = 0; r < k->problem->n_ranks; r++) {
        k->at[r] = 0;
        if (!add_axes(k, r))
            return false;
    }
    return add_loops(k);
}

/* Chooses the chains of the ranks from order[i] on: the first `n` have axes, the others have none. `room`: instances of each axis
   that are left. */
static bool choose(lister *k, uint32_t i, uint32_t n, const int64_t *room)
{
    if (i == n)
        k->nest.set++;
    if (i == k->problem->n_ranks)
        return use_chains(k);
    const uint32_t rank = k->order[i];
    for (size_t j = 0; j < k->chains[rank].n; j++) {
        const chain *c = &k->chains[rank].at[j];
        int64_t rest[DFL_PROBLEM_AXES];
        bool fits = c->has_axis == (i < n);
        for (uint32_t a = 0; a < k->problem->n_axes; a++)
            rest[a] = room[a];
        for (uint32_t l = 0; l < c->n && fits; l++) {
            const int axis = c->line[l].axis;
            if (axis < 0)
                continue;
            rest[axis] /= c->line[l].parts;
            fits = rest[axis] > 0;
        }
        k->chosen[rank] = c;
        if (fits && !choose(k, i + 1, n, rest))
            return false;
    }
    return true;
}

bool dfl_ragged_nests_each(dfl_arena *arena, const dfl_problem *problem, dfl_nest_use *use, void *context)
{
    lister *k = DFL_NEW(arena, lister);
    int64_t room[DFL_PROBLEM_AXES];
    bool is_listed, goes_on;

    *k = (lister){ .arena = arena, .problem = problem, .use = use, .context = context };
    for (uint32_t a = 0; a < problem->n_axes; a++)
        room[a] = problem->axis[a].size;
    is_listed = goes_on = list_chains(k);
    for (uint32_t mask = 0; mask < 1u << problem->n_ranks && goes_on; mask++) {
        uint32_t n = 0, i = 0;
        for (uint32_t r = 0; r < problem->n_ranks; r++)
            if (mask >> r & 1)
                k->order[n++] = r;
        i = n;
        for (uint32_t r = 0; r < problem->n_ranks; r++)
            if (!(mask >> r & 1))
                k->order[i++] = r;
        goes_on = choose(k, 0, n, room);
    }
    return is_listed && !k->is_long;
}

typedef struct { uint64_t n, most; } counter;

static bool count(void *context, const dfl_bare_nest *nest)
{
    counter *k = context;

    (void)nest;
    return ++k->n < k->most;
}

uint64_t dfl_ragged_nests_count(dfl_arena *arena, const dfl_problem *problem, uint64_t most)
{
    dfl_arena *work = dfl_arena_new(dfl_arena_budget(arena));
    counter k = { .most = most };
    const bool is_listed = dfl_ragged_nests_each(work, problem, count, &k);

    dfl_arena_free(work);
    return is_listed ? k.n : most;
}
