/* Divisors, and the tiles that differ in their number. */
#include "mapper/hole_lattice.h"

#include "support/checked.h"
#include "support/vec.h"

enum { BUCKETS = 64 };

typedef struct known {
    int64_t n;
    dfl_amounts amounts;
    struct known *next;
} known;

struct dfl_lattice {
    dfl_arena *arena;
    bool imperfect;
    known *buckets[BUCKETS];
};

typedef DFL_VEC(int64_t) amounts;

dfl_lattice *dfl_lattice_new(dfl_arena *arena, bool imperfect)
{
    dfl_lattice *lattice = DFL_NEW(arena, dfl_lattice);

    lattice->arena = arena;
    lattice->imperfect = imperfect;
    return lattice;
}

static void divisors(dfl_arena *arena, int64_t n, amounts *out)
{
    int64_t d = 1;

    for (; d * d <= n; d++)
        if (n % d == 0)
            DFL_PUSH(arena, out, d);
    for (size_t i = out->n; i-- > 0;)
        if (out->at[i] * out->at[i] != n)
            DFL_PUSH(arena, out, n / out->at[i]);
}

/* The values of ceil(n / c) over all c. */
static void quotients(dfl_arena *arena, int64_t n, amounts *out)
{
    for (int64_t tile = n;; tile = dfl_ceil_div(n, dfl_ceil_div(n, tile - 1))) {
        DFL_PUSH(arena, out, tile);
        if (tile == 1)
            break;
    }
    for (size_t i = 0, j = out->n; i + 1 < j; i++) {
        int64_t swap = out->at[--j];
        out->at[j] = out->at[i];
        out->at[i] = swap;
    }
}

dfl_amounts dfl_lattice_amounts(dfl_lattice *lattice, int64_t n)
{
    known **bucket = &lattice->buckets[n % BUCKETS], *found = *bucket;
    amounts list = { 0 };

    while (found && found->n != n)
        found = found->next;
    if (found)
        return found->amounts;
    if (lattice->imperfect)
        quotients(lattice->arena, n, &list);
    else
        divisors(lattice->arena, n, &list);
    found = DFL_NEW(lattice->arena, known);
    *found = (known){ .n = n, .amounts = { list.at, (uint32_t)list.n }, .next = *bucket };
    *bucket = found;
    return found->amounts;
}
