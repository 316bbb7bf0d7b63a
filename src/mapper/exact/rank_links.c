#include "mapper/exact/rank_links.h"

/* The least rank linked with a rank, as far as it is known. */
static uint32_t find_least(uint32_t *link, uint32_t rank)
{
    while (link[rank] != rank)
        rank = link[rank] = link[link[rank]];
    return rank;
}

/* Links the ranks of each dimension of an access with the ranks that the dimension had before; `first`: by dimension, DFL_NONE =
   none so far. */
static void link_access(uint32_t *link, const dfl_access *access, uint32_t *first)
{
    for (uint32_t d = 0; d < access->n_dims; d++)
        for (uint32_t i = 0; i < access->index[d].n_terms; i++) {
            const uint32_t rank = find_least(link, access->index[d].terms[i].rank);
            const uint32_t other = first[d] == DFL_NONE ? rank : find_least(link, first[d]);
            link[rank > other ? rank : other] = first[d] = rank < other ? rank : other;
        }
}

static void link_tensor(uint32_t *link, const dfl_workload *w, uint32_t tensor, uint32_t *first)
{
    const dfl_tensor *t = &w->tensors[tensor];

    for (uint32_t d = 0; d < t->n_dims; d++)
        first[d] = DFL_NONE;
    for (uint32_t i = 0; i < t->n_producers; i++)
        link_access(link, &w->einsums[t->producers[i]].output, first);
    for (uint32_t i = 0; i < t->n_consumers; i++) {
        const dfl_einsum *e = &w->einsums[t->consumers[i]];
        for (uint32_t k = 0; k < e->n_inputs; k++)
            if (e->inputs[k].tensor == tensor)
                link_access(link, &e->inputs[k], first);
    }
}

const uint32_t *dfl_rank_links(dfl_arena *arena, const dfl_workload *w)
{
    uint32_t *link = DFL_NEW_ARRAY(arena, uint32_t, w->n_ranks + 1), most = 1, *first;

    for (uint32_t r = 0; r < w->n_ranks; r++)
        link[r] = r;
    for (uint32_t t = 0; t < w->n_tensors; t++)
        most = w->tensors[t].n_dims > most ? w->tensors[t].n_dims : most;
    first = DFL_NEW_ARRAY(arena, uint32_t, most);
    for (uint32_t t = 0; t < w->n_tensors; t++)
        if (w->tensors[t].n_producers > 0)
            link_tensor(link, w, t, first);
    for (uint32_t r = 0; r < w->n_ranks; r++)
        link[r] = find_least(link, r);
    return link;
}
