/* Sets of hashes: one that is there by chance only costs time. */
#include "mapper/filter.h"

#include "support/hash.h"

int8_t dfl_way_dimension(const dfl_job *job, const dfl_way *way, uint32_t o, uint32_t k)
{
    const dfl_job_operand *op = &job->operand[o];
    uint32_t rank = way->loop_rank[k];

    if (!(op->plain >> rank & 1))
        return -1;
    for (uint32_t d = 0; d < op->n_dims; d++)
        if (op->dims[d].n == 1 && op->dims[d].rank[0] == rank)
            return (int8_t)d;
    return -1;
}

static uint64_t hash_offer(const dfl_job *job, const dfl_way *way, uint32_t o)
{
    int64_t words[2 + 2 * DFL_ROW_LOOPS] = { way->memory[o], way->depth[o] };
    size_t n = 2;
    uint64_t h;

    for (uint32_t k = 0; k < way->depth[o]; k++) {
        words[n++] = dfl_way_dimension(job, way, o, k);
        words[n++] = way->trips[k];
    }
    h = dfl_hash(words, n * sizeof *words, 0);
    return h == 0 ? 1 : h;
}

static uint64_t *slot_of(const dfl_offers *offers, uint64_t h)
{
    uint32_t at = (uint32_t)(h >> 20) & (offers->n_slots - 1);

    while (offers->slots[at] != 0 && offers->slots[at] != h)
        at = (at + 1) & (offers->n_slots - 1);
    return &offers->slots[at];
}

void dfl_offers_add(dfl_arena *arena, dfl_offers *offers, const dfl_job *job, const dfl_way *way, uint32_t o)
{
    uint64_t h = hash_offer(job, way, o), *slot;

    if (2 * offers->n >= offers->n_slots) {
        dfl_offers old = *offers;
        offers->n_slots = old.n_slots == 0 ? 64 : 2 * old.n_slots;
        offers->slots = DFL_NEW_ARRAY(arena, uint64_t, offers->n_slots);
        for (uint32_t i = 0; i < old.n_slots; i++)
            if (old.slots[i] != 0)
                *slot_of(offers, old.slots[i]) = old.slots[i];
    }
    slot = slot_of(offers, h);
    offers->n += *slot == 0;
    *slot = h;
}

bool dfl_offers_has(const dfl_offers *offers, const dfl_job *job, const dfl_way *way, uint32_t o)
{
    uint64_t h = hash_offer(job, way, o);

    return offers->n_slots > 0 && *slot_of(offers, h) == h;
}
