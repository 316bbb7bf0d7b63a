/* Instances side by side: who wants the same, who wants what a neighbour had. */
#include "tests/timeloop/peer.h"

void peer_fan_out(const peer_run *run, uint32_t k, int64_t out[2])
{
    const peer_level *l = &run->levels[k];
    int64_t instances = k ? l[-1].instances : run->macs, x = k ? l[-1].mesh_x : run->macs_x;

    out[0] = x / l->mesh_x;
    out[1] = instances / x / (l->instances / l->mesh_x);
}

/* The instances below one instance of a level. The peer numbers those that are used row by row, rows as long as the
   part of X that is used, and then takes these numbers for places in the whole mesh. */
typedef struct {
    const peer_run *run;
    uint32_t tensor, level;
    int64_t used_x, used, width;
} mesh;

static mesh mesh_of(const peer_run *run, uint32_t tensor, uint32_t level)
{
    mesh m = { .run = run, .tensor = tensor, .level = level, .used_x = 1, .used = 1 };
    int64_t fan[2];

    peer_fan_out(run, level, fan);
    m.width = fan[0];
    for (uint32_t i = 0; i < run->levels[level].n_spatial; i++) {
        m.used_x *= run->levels[level].spatial[i].on_y ? 1 : run->levels[level].spatial[i].full;
        m.used *= run->levels[level].spatial[i].full;
    }
    return m;
}

/* Where the tile of instance `id` lies, relative to that of the first. */
static peer_vector place(const mesh *m, int64_t id)
{
    const peer_tensor *t = &m->run->tensors[m->tensor];
    const peer_level *l = &m->run->levels[m->level];
    int64_t x = id % m->used_x, y = id / m->used_x;
    peer_vector at = { { 0 } };

    for (uint32_t i = 0; i < l->n_spatial; i++) {
        const peer_loop *loop = &l->spatial[i];
        int64_t *rest = loop->on_y ? &y : &x, index = *rest % loop->full;
        *rest /= loop->full;
        index *= peer_tile(m->run, loop->dim, m->level, false);
        for (uint32_t r = 0; r < t->n_ranks; r++)
            for (uint32_t k = 0; k < t->n_terms[r]; k++)
                at.at[r] += t->terms[r][k].dim == loop->dim ? index * t->terms[r][k].coef : 0;
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

/* The neighbours of an instance; their number. */
static uint32_t neighbours(const mesh *m, int64_t id, int64_t out[4])
{
    int64_t x = id % m->width, near[4] = { x > 0 ? id - 1 : -1, x + 1 < m->width ? id + 1 : -1, id - m->width,
                                           id + m->width };
    uint32_t n = 0;

    for (uint32_t i = 0; i < 4; i++)
        if (near[i] >= 0 && near[i] < m->used)
            out[n++] = near[i];
    return n;
}

peer_links peer_inner_links(const peer_run *run, uint32_t tensor)
{
    const peer_vector still = { { 0 } };
    mesh m = mesh_of(run, tensor, 0);
    int64_t near[4], n = 0;

    if (run->levels[0].no_link >> tensor & 1)
        return PEER_LINKS_NONE;
    for (int64_t id = 0; id < m.used; id++) {
        bool linked = false;
        for (uint32_t i = neighbours(&m, id, near); i-- > 0;) {
            peer_vector to = between(&m, id, near[i]);
            linked |= peer_same(&to, &still);
        }
        n += linked;
    }
    return n == 0 ? PEER_LINKS_NONE : n < m.used ? PEER_LINKS_SOME : PEER_LINKS_ALL;
}

/* Whether some instance finds at a neighbour, after one of the moves, what it wants. */
static bool found_near(const mesh *m, const peer_moves *moves, bool standing)
{
    const peer_vector still = { { 0 } };
    int64_t near[4];

    for (int64_t id = 0; id < m->used; id++)
        for (uint32_t i = neighbours(m, id, near); i-- > 0;) {
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
    bool refetches = level > 0 && run->levels[level - 1].no_temporal_reuse >> tensor & 1;
    peer_moves moves;

    if (m.used == 1 || run->levels[level].no_link >> tensor & 1)
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
