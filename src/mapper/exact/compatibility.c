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

/* Never 0. */
static uint64_t hash_words(const int64_t *words, size_t n)
{
    uint64_t h = dfl_hash(words, n * sizeof *words, 0);

    return h == 0 ? 1 : h;
}

static uint64_t hash_offer(const dfl_problem *problem, const dfl_way *way, uint32_t o)
{
    int64_t words[2 + 2 * DFL_ROW_LOOPS] = { way->memory[o], way->depth[o] };
    size_t n = 2;

    for (uint32_t k = 0; k < way->depth[o]; k++) {
        words[n++] = dfl_way_dimension(problem, way, o, k);
        words[n++] = way->trips[k];
    }
    return hash_words(words, n);
}

static uint64_t hash_loop(uint32_t memory, int8_t dimension, int64_t trips)
{
    const int64_t words[3] = { memory, dimension, trips };

    return hash_words(words, 3);
}

static uint64_t *slot_of(const dfl_hashes *set, uint64_t h)
{
    uint32_t at = (uint32_t)(h >> 20) & (set->n_slots - 1);

    while (set->slots[at] != 0 && set->slots[at] != h)
        at = (at + 1) & (set->n_slots - 1);
    return &set->slots[at];
}

static void add(dfl_arena *arena, dfl_hashes *set, uint64_t h)
{
    uint64_t *slot;

    if (2 * set->n >= set->n_slots) {
        dfl_hashes old = *set;
        set->n_slots = old.n_slots == 0 ? 64 : 2 * old.n_slots;
        set->slots = DFL_NEW_ARRAY(arena, uint64_t, set->n_slots);
        for (uint32_t i = 0; i < old.n_slots; i++)
            if (old.slots[i] != 0)
                *slot_of(set, old.slots[i]) = old.slots[i];
    }
    slot = slot_of(set, h);
    set->n += *slot == 0;
    *slot = h;
}

static bool has(const dfl_hashes *set, uint64_t h)
{
    return set->n_slots > 0 && *slot_of(set, h) == h;
}

void dfl_interfaces_offered_add(dfl_arena *arena, dfl_interfaces_offered *offers, const dfl_problem *problem, const dfl_way *way,
                                uint32_t o,
                                const dfl_criteria *more)
{
    dfl_interfaces_offered old = *offers;
    uint64_t h = hash_offer(problem, way, o);
    size_t at;

    add(arena, &offers->ways, h);
    if (offers->ways.n_slots != old.ways.n_slots) {
        offers->more = DFL_NEW_ARRAY(arena, dfl_criteria, offers->ways.n_slots);
        for (uint32_t i = 0; i < old.ways.n_slots; i++)
            if (old.ways.slots[i] != 0)
                offers->more[slot_of(&offers->ways, old.ways.slots[i]) - offers->ways.slots] = old.more[i];
    }
    at = (size_t)(slot_of(&offers->ways, h) - offers->ways.slots);
    if (offers->ways.n != old.ways.n)
        offers->more[at] = *more;
    else
        dfl_criteria_lower(&offers->more[at], more);
    for (uint32_t k = 0; k < way->depth[o]; k++)
        add(arena, &offers->loops, hash_loop(way->memory[o], dfl_way_dimension(problem, way, o, k), way->trips[k]));
}

const dfl_criteria *dfl_interfaces_offered_find(const dfl_interfaces_offered *offers, const dfl_problem *problem,
                                                const dfl_way *way, uint32_t o)
{
    uint64_t h = hash_offer(problem, way, o);

    return has(&offers->ways, h) ? &offers->more[slot_of(&offers->ways, h) - offers->ways.slots] : NULL;
}

bool dfl_interfaces_offered_loop(const dfl_interfaces_offered *offers, const dfl_problem *problem, uint32_t o, uint32_t memory,
                                 uint32_t rank, int64_t trips)
{
    return has(&offers->loops, hash_loop(memory, dimension(&problem->operand[o], rank), trips));
}
