#include "collective/algorithms.h"

/* ---- which algorithms exist -------------------------------------------------------------------------------------- */

static bool is_power_of_two(int64_t n)
{
    return (n & (n - 1)) == 0;
}

static uint32_t find_logarithm(int64_t n)
{
    uint32_t k = 0;

    while (INT64_C(1) << k < n)
        k++;
    return k;
}

static bool has_distinct_axes(const dfl_team *team)
{
    for (uint32_t k = 1; k < team->n; k++)
        for (uint32_t j = 0; j < k; j++)
            if (team->part[j].dim == team->part[k].dim)
                return false;
    return true;
}

/* The index of a part with an even count, else the number of parts. */
static uint32_t find_even(const dfl_team *team)
{
    uint32_t k = 0;

    while (k < team->n && team->part[k].count % 2 != 0)
        k++;
    return k;
}

/* Whether the ranks have an order in which neighbours, and the last and the first, are one stride of one part apart. On one
   axis the closing message takes the way back. */
static bool has_cycle(const dfl_fabric *f, const dfl_team *team)
{
    if (!dfl_fabric_is_grid(f) || team->n == 1)
        return true;
    if (!has_distinct_axes(team))
        return false;
    if (find_even(team) < team->n)
        return true;
    for (uint32_t k = 0; k < team->n; k++)
        if (!dfl_fabric_wraps(f) || team->part[k].stride * team->part[k].count != f->size[team->part[k].dim])
            return false;
    return true;
}

static bool has_equal_sides(const dfl_team *team)
{
    for (uint32_t k = 1; k < team->n; k++)
        if (team->part[k].count != team->part[0].count)
            return false;
    return team->n > 1 && has_distinct_axes(team);
}

bool dfl_algorithm_legal(const dfl_fabric *f, const dfl_team *team, dfl_collective_kind kind, dfl_algorithm algorithm)
{
    bool shared = kind == DFL_COLLECTIVE_ALL_REDUCE || kind == DFL_COLLECTIVE_REDUCE_SCATTER ||
                  kind == DFL_COLLECTIVE_ALL_GATHER || kind == DFL_COLLECTIVE_ALL_TO_ALL;

    switch (algorithm) {
    case DFL_ALGORITHM_RING: return shared && has_cycle(f, team);
    case DFL_ALGORITHM_TWO_RINGS: return shared && dfl_fabric_wraps(f) && has_cycle(f, team);
    case DFL_ALGORITHM_DIRECT: return shared;
    case DFL_ALGORITHM_HALVING_DOUBLING: return shared && is_power_of_two(team->ranks);
    case DFL_ALGORITHM_DOUBLE_TREE:
        return kind == DFL_COLLECTIVE_ALL_REDUCE && is_power_of_two(team->ranks) &&
               (f->kind == DFL_TOPOLOGY_SWITCH || f->kind == DFL_TOPOLOGY_FAT_TREE);
    case DFL_ALGORITHM_ROTATED: return shared && dfl_fabric_wraps(f) && has_equal_sides(team);
    case DFL_ALGORITHM_CHAIN: return kind == DFL_COLLECTIVE_BROADCAST && (!dfl_fabric_is_grid(f) || has_distinct_axes(team));
    case DFL_ALGORITHM_TREE: return kind == DFL_COLLECTIVE_BROADCAST;
    case DFL_ALGORITHM_MESSAGE: return kind == DFL_COLLECTIVE_POINT_TO_POINT;
    case DFL_ALGORITHM_PER_DIMENSION:
    case DFL_N_ALGORITHMS: break;
    }
    return false;
}

/* ---- order of ranks ---------------------------------------------------------------------------------------------- */

/* The combinations of all parts but `left_out` in an order in which neighbours differ by one in one part: the reflected Gray
   code. A digit runs backwards if the number before it is odd. */
static void order_path(const dfl_team *team, uint32_t left_out, int64_t n, int64_t *order)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t below = n, rank = 0;
        for (uint32_t k = 0; k < team->n; k++) {
            int64_t count = team->part[k].count, digit;
            bool back = i / below % 2 != 0;
            rank *= count;
            if (k == left_out)
                continue;
            below /= count;
            digit = i / below % count;
            rank += back ? count - 1 - digit : digit;
        }
        order[i] = rank;
    }
}

/* A cycle through `even` rows, the instances of a part with an even count, and n columns, the path through the others: down and
   up in all columns but the first, which leads back. */
static void order_rows(const dfl_team *team, uint32_t even, const int64_t *path, int64_t n, int64_t *order)
{
    int64_t unit = 1, rows = team->part[even].count, at = 1;

    for (uint32_t k = even + 1; k < team->n; k++)
        unit *= team->part[k].count;
    order[0] = path[0];
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 1; c < n; c++)
            order[at++] = r * unit + path[r % 2 == 0 ? c : n - c];
    for (int64_t r = rows - 1; r > 0; r--)
        order[at++] = r * unit + path[0];
}

/* A cycle through the products of a cycle `a` of na ranks and the cycle 0 ... nb - 1, both odd. The longer one counts rows. A row
   runs forwards or backwards around all columns but the last one of it, below which the next row starts; so many rows run
   backwards that the last one ends at the start. */
static void order_odd(const int64_t *a, int64_t na, int64_t nb, int64_t *order)
{
    int64_t rows = na > nb ? na : nb, columns = na > nb ? nb : na, backwards = (rows - columns) / 2, column = 0, at = 0;

    for (int64_t r = 0; r < rows; r++) {
        int64_t step = r < backwards ? columns - 1 : 1;
        for (int64_t c = 0; c < columns; c++) {
            int64_t x = na > nb ? r : column, y = na > nb ? column : r;
            order[at++] = a[x] * nb + y;
            column = (column + (c + 1 < columns ? step : 0)) % columns;
        }
    }
}

void dfl_team_order(dfl_arena *arena, const dfl_fabric *f, const dfl_team *team, bool closed, int64_t *order)
{
    uint32_t even = find_even(team);

    if (!dfl_fabric_is_grid(f) || team->n == 1) {
        for (int64_t r = 0; r < team->ranks; r++)
            order[r] = r;
    } else if (!closed) {
        order_path(team, team->n, team->ranks, order);
    } else if (even < team->n) {
        int64_t n = team->ranks / team->part[even].count;
        int64_t *path = DFL_NEW_ARRAY(arena, int64_t, (size_t)n);
        order_path(team, even, n, path);
        order_rows(team, even, path, n, order);
    } else {
        int64_t *before = DFL_NEW_ARRAY(arena, int64_t, (size_t)team->ranks), n = team->part[0].count;
        for (int64_t r = 0; r < n; r++)
            order[r] = r;
        for (uint32_t k = 1; k < team->n; k++) {
            for (int64_t r = 0; r < n; r++)
                before[r] = order[r];
            order_odd(before, n, team->part[k].count, order);
            n *= team->part[k].count;
        }
    }
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static bool reduces(dfl_collective_kind kind)
{
    return kind == DFL_COLLECTIVE_ALL_REDUCE || kind == DFL_COLLECTIVE_REDUCE_SCATTER;
}

static bool gathers(dfl_collective_kind kind)
{
    return kind == DFL_COLLECTIVE_ALL_REDUCE || kind == DFL_COLLECTIVE_ALL_GATHER;
}

/* Adds the messages as a step that happens `times` times for an exchange without sums, and once for the sums and once for what
   is gathered otherwise. */
static void add_halves(dfl_arena *arena, dfl_collective_kind kind, const dfl_message *messages, size_t n, int64_t times,
                       dfl_steps *out)
{
    dfl_step step = { .messages = messages, .n = n, .times = times, .reduces = false };

    if (kind == DFL_COLLECTIVE_ALL_TO_ALL || gathers(kind))
        DFL_PUSH(arena, out, step);
    step.reduces = true;
    if (reduces(kind))
        DFL_PUSH(arena, out, step);
}

/* One ring, or two that run against each other with half of the bits each. */
static void add_rings(dfl_arena *arena, const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e, dfl_steps *out)
{
    int64_t p = team->ranks, times = e->kind == DFL_COLLECTIVE_ALL_TO_ALL ? p * (p - 1) / 2 : p - 1;
    size_t rings = e->algorithm == DFL_ALGORITHM_TWO_RINGS ? 2 : 1;
    int64_t *order = DFL_NEW_ARRAY(arena, int64_t, (size_t)p);
    dfl_message *m = DFL_NEW_ARRAY(arena, dfl_message, rings * (size_t)p);

    dfl_team_order(arena, f, team, true, order);
    for (int64_t i = 0; i < p; i++) {
        int64_t next = order[(i + 1) % p];
        m[i] = (dfl_message){ order[i], next, e->bits / (double)p / (double)rings };
        if (rings == 2)
            m[p + i] = (dfl_message){ next, order[i], m[i].bits };
    }
    add_halves(arena, e->kind, m, rings * (size_t)p, times, out);
}

static void add_direct(dfl_arena *arena, const dfl_team *team, const dfl_team_exchange *e, dfl_steps *out)
{
    int64_t p = team->ranks;
    dfl_message *m = DFL_NEW_ARRAY(arena, dfl_message, (size_t)(p * (p - 1)));
    size_t n = 0;

    for (int64_t i = 0; i < p; i++)
        for (int64_t j = 0; j < p; j++)
            if (i != j)
                m[n++] = (dfl_message){ i, j, e->bits / (double)p };
    add_halves(arena, e->kind, m, n, 1, out);
}

static void add_swap(dfl_arena *arena, int64_t ranks, int64_t distance, double bits, bool sum, dfl_steps *out)
{
    dfl_message *m = DFL_NEW_ARRAY(arena, dfl_message, (size_t)ranks);

    for (int64_t i = 0; i < ranks; i++)
        m[i] = (dfl_message){ i, i ^ distance, bits };
    DFL_PUSH(arena, out, ((dfl_step){ .messages = m, .n = (size_t)ranks, .times = 1, .reduces = sum }));
}

/* Sums: half of the bits at distance 1, a quarter at 2, ...; what is gathered: backwards. All-to-all: half in every step. */
static void add_halving(dfl_arena *arena, const dfl_team *team, const dfl_team_exchange *e, dfl_steps *out)
{
    int64_t p = team->ranks;

    for (int64_t d = 1; d < p; d *= 2) {
        if (e->kind == DFL_COLLECTIVE_ALL_TO_ALL)
            add_swap(arena, p, d, e->bits / 2, false, out);
        else if (reduces(e->kind))
            add_swap(arena, p, d, e->bits / (double)(2 * d), true, out);
    }
    for (int64_t d = p / 2; d >= 1; d /= 2)
        if (gathers(e->kind))
            add_swap(arena, p, d, e->bits / (double)(2 * d), false, out);
}

int64_t dfl_tree_parent(int64_t rank, int64_t p)
{
    int64_t low = rank & -rank, parent = (rank ^ low) | (low << 1);

    return parent < p ? parent : (rank ^ low);
}

/* Both trees at once, with half of the bits each. The second tree is the first one with all ranks one further, so that the
   leaves of one are inside of the other. Piece t - h leaves the ranks of height h in step t. */
static void add_double_tree(dfl_arena *arena, const dfl_team *team, const dfl_team_exchange *e, dfl_steps *out)
{
    int64_t p = team->ranks, height = (int64_t)find_logarithm(p), steps = height + e->pieces - 1;

    for (int64_t i = 0; i < 2 * steps; i++) {
        bool up = i < steps;
        int64_t t = up ? i : 2 * steps - 1 - i;
        dfl_message *m = DFL_NEW_ARRAY(arena, dfl_message, (size_t)(2 * p));
        size_t n = 0;
        for (int64_t r = 1; r < p; r++) {
            int64_t parent = dfl_tree_parent(r, p);
            int64_t h = (int64_t)__builtin_ctzll((unsigned long long)r);
            for (int64_t shift = 0; shift < 2 && t >= h && t - h < e->pieces; shift++) {
                int64_t from = (r + shift) % p, to = (parent + shift) % p;
                m[n++] = (dfl_message){ up ? from : to, up ? to : from, e->bits / (double)(2 * e->pieces) };
            }
        }
        DFL_PUSH(arena, out, ((dfl_step){ .messages = m, .n = n, .times = 1, .reduces = up }));
    }
}

/* Piece t - i leaves the rank at place i of the chain in step t. */
static void add_chain(dfl_arena *arena, const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e, dfl_steps *out)
{
    int64_t p = team->ranks;
    int64_t *order = DFL_NEW_ARRAY(arena, int64_t, (size_t)p);

    dfl_team_order(arena, f, team, false, order);
    for (int64_t t = 0; t < p - 1 + e->pieces - 1; t++) {
        dfl_message *m = DFL_NEW_ARRAY(arena, dfl_message, (size_t)p);
        size_t n = 0;
        for (int64_t i = 0; i < p - 1; i++)
            if (t >= i && t - i < e->pieces)
                m[n++] = (dfl_message){ order[i], order[i + 1], e->bits / (double)e->pieces };
        DFL_PUSH(arena, out, ((dfl_step){ .messages = m, .n = n, .times = 1, .reduces = false }));
    }
}

static void add_tree(dfl_arena *arena, const dfl_team *team, const dfl_team_exchange *e, dfl_steps *out)
{
    for (int64_t d = 1; d < team->ranks; d *= 2) {
        dfl_message *m = DFL_NEW_ARRAY(arena, dfl_message, (size_t)d);
        size_t n = 0;
        for (int64_t i = 0; i < d && i + d < team->ranks; i++)
            m[n++] = (dfl_message){ i, i + d, e->bits };
        DFL_PUSH(arena, out, ((dfl_step){ .messages = m, .n = n, .times = 1, .reduces = false }));
    }
}

/* Every rank but the last one to the next one. */
static void add_message(dfl_arena *arena, const dfl_team *team, const dfl_team_exchange *e, dfl_steps *out)
{
    dfl_message *m = DFL_NEW_ARRAY(arena, dfl_message, (size_t)team->ranks);

    for (int64_t i = 0; i + 1 < team->ranks; i++)
        m[i] = (dfl_message){ i, i + 1, e->bits };
    DFL_PUSH(arena, out, ((dfl_step){ .messages = m, .n = (size_t)team->ranks - 1, .times = 1, .reduces = false }));
}

/* ---- rotated dimensions ------------------------------------------------------------------------------------------ */

/* The steps of one phase: in each dimension k the messages of `inner[k]`, the steps of this dimension alone, between all ranks
   that differ only there. All have equally many steps. */
static void add_phase(dfl_arena *arena, const dfl_team *team, const dfl_steps *inner, dfl_steps *out)
{
    for (size_t s = 0; s < inner[0].n; s++) {
        size_t total = 0, n = 0;
        dfl_message *m;
        for (uint32_t k = 0; k < team->n; k++)
            total += inner[k].at[s].n * (size_t)(team->ranks / team->part[k].count);
        m = DFL_NEW_ARRAY(arena, dfl_message, total);
        for (uint32_t k = 0; k < team->n; k++) {
            int64_t unit = 1, count = team->part[k].count;
            for (uint32_t j = k + 1; j < team->n; j++)
                unit *= team->part[j].count;
            for (size_t i = 0; i < inner[k].at[s].n; i++) {
                const dfl_message *from = &inner[k].at[s].messages[i];
                for (int64_t r = 0; r < team->ranks; r++)
                    if (r / unit % count == from->from)
                        m[n++] = (dfl_message){ r, r + (from->to - from->from) * unit, from->bits };
            }
        }
        DFL_PUSH(arena, out, ((dfl_step){ .messages = m, .n = n, .times = inner[0].at[s].times,
                                          .reduces = inner[0].at[s].reduces }));
    }
}

static void add_phases(dfl_arena *arena, const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e,
                       dfl_collective_kind kind, dfl_steps *out)
{
    double bits = e->bits / (double)team->n;

    for (uint32_t phase = 0; phase < team->n; phase++) {
        uint32_t before = kind == DFL_COLLECTIVE_ALL_GATHER ? team->n - 1 - phase : phase;
        dfl_steps inner[DFL_FABRIC_AXES] = { 0 };
        dfl_team_exchange part = *e;
        part.kind = kind;
        part.algorithm = e->inner;
        part.bits = bits;
        for (uint32_t j = 0; kind != DFL_COLLECTIVE_ALL_TO_ALL && j < before; j++)
            part.bits /= (double)team->part[0].count;
        for (uint32_t k = 0; k < team->n; k++) {
            dfl_team line = { .n = 1, .part = { team->part[k] }, .ranks = team->part[k].count };
            dfl_algorithm_steps(arena, f, &line, &part, &inner[k]);
        }
        add_phase(arena, team, inner, out);
    }
}

/* Each of d parts of the data starts with another dimension, so that all dimensions are in use. */
static void add_rotated(dfl_arena *arena, const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e, dfl_steps *out)
{
    if (e->kind == DFL_COLLECTIVE_ALL_TO_ALL)
        add_phases(arena, f, team, e, e->kind, out);
    if (reduces(e->kind))
        add_phases(arena, f, team, e, DFL_COLLECTIVE_REDUCE_SCATTER, out);
    if (gathers(e->kind))
        add_phases(arena, f, team, e, DFL_COLLECTIVE_ALL_GATHER, out);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

double dfl_algorithm_messages(const dfl_team *team, const dfl_team_exchange *e)
{
    double p = (double)team->ranks, height = (double)find_logarithm(team->ranks);
    dfl_team_exchange part = *e;
    dfl_team line = { .n = 1, .part = { team->part[0] }, .ranks = team->part[0].count };

    switch (e->algorithm) {
    case DFL_ALGORITHM_RING: return 2 * p;
    case DFL_ALGORITHM_TWO_RINGS: return 4 * p;
    case DFL_ALGORITHM_DIRECT: return 2 * p * (p - 1);
    case DFL_ALGORITHM_HALVING_DOUBLING: return 2 * p * height;
    case DFL_ALGORITHM_DOUBLE_TREE: return 4 * p * (height + (double)e->pieces);
    case DFL_ALGORITHM_CHAIN: return p * (p + (double)e->pieces);
    case DFL_ALGORITHM_ROTATED:
        part.algorithm = e->inner;
        return (double)(team->n * team->n) * p * dfl_algorithm_messages(&line, &part) / (double)line.ranks;
    case DFL_ALGORITHM_TREE:
    case DFL_ALGORITHM_MESSAGE:
    case DFL_ALGORITHM_PER_DIMENSION:
    case DFL_N_ALGORITHMS: break;
    }
    return p;
}

void dfl_algorithm_steps(dfl_arena *arena, const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e, dfl_steps *out)
{
    switch (e->algorithm) {
    case DFL_ALGORITHM_RING:
    case DFL_ALGORITHM_TWO_RINGS: add_rings(arena, f, team, e, out); break;
    case DFL_ALGORITHM_DIRECT: add_direct(arena, team, e, out); break;
    case DFL_ALGORITHM_HALVING_DOUBLING: add_halving(arena, team, e, out); break;
    case DFL_ALGORITHM_DOUBLE_TREE: add_double_tree(arena, team, e, out); break;
    case DFL_ALGORITHM_ROTATED: add_rotated(arena, f, team, e, out); break;
    case DFL_ALGORITHM_CHAIN: add_chain(arena, f, team, e, out); break;
    case DFL_ALGORITHM_TREE: add_tree(arena, team, e, out); break;
    case DFL_ALGORITHM_MESSAGE: add_message(arena, team, e, out); break;
    case DFL_ALGORITHM_PER_DIMENSION:
    case DFL_N_ALGORITHMS: break;
    }
}
