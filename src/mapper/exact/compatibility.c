/* Hashes of ways and of loops. */
#include "mapper/exact/compatibility.h"

#include "support/hash.h"

/* The dimension of the operand that the rank alone indexes, -1 = none. */
static int8_t dimension(const dfl_problem_operand *op, uint32_t rank)
{
    if (!(op->plain >> rank & 1))
        return -1;
    for (uint32_t d = 0; d < op->n_dims; d++)
        if (op->dims[d].n == 1 && op->dims[d].rank[0] == rank)
            return (int8_t)d;
    return -1;
}

int8_t dfl_way_dimension(const dfl_problem *problem, const dfl_way *way, uint32_t o, uint32_t k)
{
    return dimension(&problem->operand[o], way->loop_rank[k]);
}

static uint64_t hash_offer(const dfl_problem *problem, const dfl_way *way, uint32_t o)
{
    int64_t words[2 + 2 * DFL_ROW_LOOPS] = { way->memory[o], way->depth[o] };
    size_t n = 2;

    for (uint32_t k = 0; k < way->depth[o]; k++) {
        words[n++] = dfl_way_dimension(problem, way, o, k);
        words[n++] = way->trips[k];
    }
    return dfl_hash(words, n * sizeof *words, 0);
}

static uint64_t hash_loop(uint32_t memory, int8_t dimension, int64_t trips)
{
    const int64_t words[3] = { memory, dimension, trips };

    return dfl_hash(words, sizeof words, 0);
}

/* 1 + the index of a hash in the set; 0 = it is not there. */
static uint32_t item_of(const dfl_hashes *set, uint64_t h)
{
    uint32_t at, item = dfl_hashmap_first(&set->map, h, &at);

    while (item != 0 && set->at.at[item - 1] != h)
        item = dfl_hashmap_next(&set->map, h, &at);
    return item;
}

/* The same of a hash that is added if it is not there. */
static uint32_t add(dfl_arena *arena, dfl_hashes *set, uint64_t h)
{
    const uint32_t item = item_of(set, h);

    if (item != 0)
        return item;
    DFL_PUSH(arena, &set->at, h);
    dfl_hashmap_add(arena, &set->map, h, (uint32_t)set->at.n);
    return (uint32_t)set->at.n;
}

void dfl_interfaces_offered_add(dfl_arena *arena, dfl_interfaces_offered *offers, const dfl_problem *problem, const dfl_way *way,
                                uint32_t o,
                                const dfl_criteria *more)
{
    const uint32_t item = add(arena, &offers->ways, hash_offer(problem, way, o));

    if (item > offers->more.n)
        DFL_PUSH(arena, &offers->more, *more);
    else
        dfl_criteria_lower(&offers->more.at[item - 1], more);
    for (uint32_t k = 0; k < way->depth[o]; k++)
        (void)add(arena, &offers->loops, hash_loop(way->memory[o], dfl_way_dimension(problem, way, o, k), way->trips[k]));
}

const dfl_criteria *dfl_interfaces_offered_find(const dfl_interfaces_offered *offers, const dfl_problem *problem,
                                                const dfl_way *way, uint32_t o)
{
    const uint32_t item = item_of(&offers->ways, hash_offer(problem, way, o));

    return item != 0 ? &offers->more.at[item - 1] : NULL;
}

bool dfl_interfaces_offered_loop(const dfl_interfaces_offered *offers, const dfl_problem *problem, uint32_t o, uint32_t memory,
                                 uint32_t rank, int64_t trips)
{
    return item_of(&offers->loops, hash_loop(memory, dimension(&problem->operand[o], rank), trips)) != 0;
}
