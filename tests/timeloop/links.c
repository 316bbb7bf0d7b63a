/* Neighbouring instances: whether they need equal elements, and whether an instance needs elements that a neighbour held. */
#include "tests/timeloop/peer.h"

/* The instances below one instance of a level. */
typedef struct {
    const peer_run *run;
    uint32_t tensor, level;
    int64_t used_x, used;
} mesh;

static mesh mesh_of(const peer_run *run, uint32_t tensor, uint32_t level)
{
    mesh m = { .run = run, .tensor = tensor, .level = level };

    dfl_tl_used(&run->f, level, &m.used_x, &m.used);
    return m;
}

/* Offset of the tile of instance `id` from the tile of the first instance. */
static peer_vector place(const mesh *m, int64_t id)
{
    const dfl_tl_tensor *t = &m->run->f.tensors[m->tensor];
    const dfl_tl_level *l = &m->run->f.levels[m->level];
    int64_t x = id % m->used_x, y = id / m->used_x;
    peer_vector at = { { 0 } };

    for (uint32_t i = 0; i < l->n_spatial; i++) {
        const dfl_tl_loop *loop = &l->spatial[i];
        int64_t *rest = loop->on_y ? &y : &x, index = *rest % loop->full;
        *rest /= loop->full;
        index *= dfl_tl_tile(&m->run->f, loop->dim, m->level, false);
        for (uint32_t r = 0; r < t->n_ranks; r++)
            for (uint32_t k = 0; k < t->ranks[r].n_terms; k++)
                at.at[r] += t->ranks[r].terms[k].dim == loop->dim ? index * t->ranks[r].terms[k].coef : 0;
    }
    return at;
}

static peer_vector between(const mesh *m, int64_t from, int64_t to)
{
    peer_vector a = place(m, from), b = place(m, to);

    for (uint32_t r = 0; r < PEER_RANKS; r++)
        b.at[r] -= a.at[r];
    return b;
}

/* Whether, after one of the moves, an instance needs elements that a neighbour held before. */
static bool found_near(const mesh *m, const peer_moves *moves, bool standing)
{
    const peer_vector still = { { 0 } };
    int64_t near[4];

    for (int64_t id = 0; id < m->used; id++)
        for (uint32_t i = dfl_tl_neighbours(&m->run->f, m->level, id, near); i-- > 0;) {
            peer_vector to = between(m, id, near[i]);
            if (peer_same(&to, &still)) {
                if (standing)
                    return true;
                continue;
            }
            for (uint32_t k = 0; k < moves->n; k++)
                if (peer_same(&to, &moves->shift[k]))
                    return true;
        }
    return false;
}

bool peer_passes(const peer_run *run, uint32_t tensor, uint32_t level)
{
    mesh m = mesh_of(run, tensor, level);
    bool refetches = level > 0 && run->f.levels[level - 1].no_temporal_reuse >> tensor & 1;
    peer_moves moves;

    if (m.used == 1 || run->f.levels[level].no_link >> tensor & 1)
        return false;
    peer_moves_of(run, tensor, level, false, &moves);
    if (found_near(&m, &moves, refetches))
        return true;
    peer_moves_of(run, tensor, level, true, &moves);
    return !run->every_step && found_near(&m, &moves, false);
}

bool peer_halos(const peer_run *run, uint32_t tensor, uint32_t level)
{
    const peer_vector still = { { 0 } };
    mesh m = mesh_of(run, tensor, level);
    peer_vector box;

    peer_box(run, tensor, level, &box);
    for (int64_t a = 0; a < m.used; a++)
        for (int64_t b = 0; b < a; b++) {
            peer_vector to = between(&m, b, a);
            if (!peer_same(&to, &still) && peer_overlap(&box, &to))
                return true;
        }
    return false;
}
