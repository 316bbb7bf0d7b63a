/* Sliding windows. The rule of the peer for sliding tiles: it treats a tile as a bounding box, compares the box with
   that of the step before, and keeps the overlap only while the box moves by the same vector as in the step before. */
#include <string.h>

#include "tests/timeloop/peer.h"

static int64_t size_of(int64_t coef) { return coef < 0 ? -coef : coef; }

void peer_box(const peer_run *run, uint32_t tensor, uint32_t inside, peer_vector *box)
{
    const dfl_tl_tensor *t = &run->f.tensors[tensor];

    for (uint32_t r = 0; r < PEER_RANKS; r++)
        box->at[r] = 1;
    for (uint32_t r = 0; r < t->n_ranks; r++)
        for (uint32_t i = 0; i < t->ranks[r].n_terms; i++)
            box->at[r] += size_of(t->ranks[r].terms[i].coef) *
                          (dfl_tl_extent(&run->f, t->ranks[r].terms[i].dim, inside) - 1);
}

/* ---- how a tile moves ---- */

/* The step of one loop with tiles of `stride`, as a vector over the ranks of the tensor. */
static peer_vector step_of(const dfl_tl_tensor *t, uint32_t dim, int64_t stride)
{
    peer_vector v = { { 0 } };

    for (uint32_t r = 0; r < t->n_ranks; r++)
        for (uint32_t i = 0; i < t->ranks[r].n_terms; i++)
            v.at[r] += t->ranks[r].terms[i].dim == dim ? t->ranks[r].terms[i].coef * stride : 0;
    return v;
}

bool peer_same(const peer_vector *a, const peer_vector *b) { return memcmp(a, b, sizeof *a) == 0; }

static peer_vector less(peer_vector a, const peer_vector *b, int64_t times)
{
    for (uint32_t r = 0; r < PEER_RANKS; r++)
        a.at[r] -= times * b->at[r];
    return a;
}

bool peer_overlap(const peer_vector *box, const peer_vector *shift)
{
    for (uint32_t r = 0; r < PEER_RANKS; r++)
        if (size_of(shift->at[r]) >= box->at[r])
            return false;
    return true;
}

static void add(peer_moves *m, peer_vector shift, uint32_t loop)
{
    for (uint32_t i = 0; i < m->n; i++)
        if (m->loop[i] == loop && peer_same(&m->shift[i], &shift))
            return;
    if (m->n == PEER_MOVES)
        return;
    m->loop[m->n] = loop;
    m->shift[m->n++] = shift;
}

void peer_moves_of(const peer_run *run, uint32_t tensor, uint32_t inside, bool at_second, peer_moves *out)
{
    peer_moves back = { .n = 1 }; /* distance by which the inner loops jump back when they start again */
    uint32_t number = 0;

    out->n = 0;
    for (uint32_t k = inside; k < run->f.n_levels; k++)
        for (uint32_t i = 0; i < run->f.levels[k].n_temporal; i++, number++) {
            const dfl_tl_loop *l = &run->f.levels[k].temporal[i];
            peer_vector v = step_of(&run->f.tensors[tensor], l->dim, dfl_tl_tile(&run->f, l->dim, k, true));
            int64_t full = at_second ? 1 : l->full - 1, last = at_second && l->last > 2 ? 1 : l->last - 1;
            peer_moves further = { .n = 0 };
            for (uint32_t b = 0; b < back.n; b++) {
                add(out, less(v, &back.shift[b], 1), number);
                add(&further, less(back.shift[b], &v, -full), 0);
                add(&further, less(back.shift[b], &v, -last), 0);
            }
            back = further;
        }
}

static uint32_t first_move(const peer_moves *moves)
{
    const peer_vector still = { { 0 } };
    uint32_t i = 0;

    while (i < moves->n && peer_same(&moves->shift[i], &still))
        i++;
    return i;
}

bool peer_turns(const peer_run *run, uint32_t tensor, uint32_t inside)
{
    const peer_vector still = { { 0 } };
    peer_moves moves;
    peer_vector box;
    uint32_t first;

    peer_box(run, tensor, inside, &box);
    peer_moves_of(run, tensor, inside, false, &moves);
    first = first_move(&moves);
    for (uint32_t i = first + 1; i < moves.n; i++)
        if (!peer_same(&moves.shift[i], &still) && !peer_same(&moves.shift[i], &moves.shift[first]) &&
            peer_overlap(&box, &moves.shift[i]))
            return true;
    return false;
}

/* The amounts that moves of a loop bring in, as a bit set: nothing, the amount of the first move, the whole box. */
static uint32_t brings(const peer_moves *moves, uint32_t loop, const peer_vector *box)
{
    const peer_vector still = { { 0 } };
    uint32_t first = first_move(moves), out = 0;

    for (uint32_t i = 0; i < moves->n; i++) {
        if (moves->loop[i] != loop)
            continue;
        if (peer_same(&moves->shift[i], &still))
            out |= 1u;
        else if (peer_same(&moves->shift[i], &moves->shift[first]) && peer_overlap(box, &moves->shift[first]))
            out |= 2u;
        else
            out |= 4u;
    }
    return out;
}

bool peer_extrapolates(const peer_run *run, uint32_t tensor, uint32_t inside)
{
    peer_moves moves, second;
    peer_vector box;

    if (run->every_step)
        return false;
    peer_box(run, tensor, inside, &box);
    peer_moves_of(run, tensor, inside, false, &moves);
    peer_moves_of(run, tensor, inside, true, &second);
    for (uint32_t loop = 0; loop < run->f.n_levels * PEER_DIMS; loop++)
        if (brings(&moves, loop, &box) != brings(&second, loop, &box))
            return true;
    return false;
}

bool peer_slides(const peer_run *run, uint32_t tensor)
{
    const dfl_tl_tensor *t = &run->f.tensors[tensor];

    for (uint32_t r = 0; r < t->n_ranks; r++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < t->ranks[r].n_terms; i++)
            n += run->f.dims[t->ranks[r].terms[i].dim].bound > 1;
        if (n > 1)
            return true;
    }
    return dfl_tl_gaps(&run->f, tensor, run->f.n_levels);
}
