/* Divisors, and the tiles that differ in their number. */
#include "mapper/problem/factors.h"

#include "support/checked.h"
#include "support/vec.h"

enum { BUCKETS = 64 };

typedef struct known {
    int64_t n;
    dfl_amounts amounts;
    struct known *next;
} known;

struct dfl_factor_set {
    dfl_arena *arena;
    bool imperfect;
    known *buckets[BUCKETS];
};

dfl_factor_set *dfl_factor_set_new(dfl_arena *arena, bool imperfect)
{
    dfl_factor_set *lattice = DFL_NEW(arena, dfl_factor_set);

    lattice->arena = arena;
    lattice->imperfect = imperfect;
    return lattice;
}

dfl_amounts dfl_divisors(dfl_arena *arena, int64_t n)
{
    uint32_t count = 0, low = 0;
    int64_t *at;

    for (int64_t d = 1; d <= n / d; d++)
        low += n % d == 0;
    at = DFL_NEW_ARRAY(arena, int64_t, 2 * (size_t)low);
    for (int64_t d = 1; count < low; d++)
        if (n % d == 0)
            at[count++] = d;
    for (uint32_t i = low; i-- > 0;)
        if (at[i] != n / at[i])
            at[count++] = n / at[i];
    return (dfl_amounts){ at, count };
}

/* The values of ceil(n / c) over all c. */
static dfl_amounts quotients(dfl_arena *arena, int64_t n)
{
    DFL_VEC(int64_t) out = { 0 };

    for (int64_t tile = n;; tile = dfl_ceil_div(n, dfl_ceil_div(n, tile - 1))) {
        DFL_PUSH(arena, &out, tile);
        if (tile == 1)
            break;
    }
    for (size_t i = 0, j = out.n; i + 1 < j; i++) {
        int64_t swap = out.at[--j];
        out.at[j] = out.at[i];
        out.at[i] = swap;
    }
    return (dfl_amounts){ out.at, (uint32_t)out.n };
}

dfl_amounts dfl_factor_set_amounts(dfl_factor_set *lattice, int64_t n)
{
    known **bucket = &lattice->buckets[n % BUCKETS], *found = *bucket;

    while (found && found->n != n)
        found = found->next;
    if (found)
        return found->amounts;
    found = DFL_NEW(lattice->arena, known);
    *found = (known){ .n = n, .next = *bucket };
    found->amounts = lattice->imperfect ? quotients(lattice->arena, n) : dfl_divisors(lattice->arena, n);
    *bucket = found;
    return found->amounts;
}

int64_t dfl_even_tile(int64_t extent, double tile)
{
    const int64_t t = tile < 1 ? 1 : tile > (double)extent ? extent : (int64_t)tile;

    return dfl_divide_up(extent, dfl_divide_up(extent, t));
}
