#include "mapper/improve/tree_draw.h"

#include "mapper/improve/tree_ranks.h"

/* Factors of a tile. */
static const double FACTORS[] = { 2, 0.5, 2, 0.5, 4, 0.25, 1.5, 0.67, 1.2, 0.83, 16, 0.0625 };
enum { N_FACTORS = sizeof FACTORS / sizeof *FACTORS, CUTS = 7 };

/* How often a change is drawn, of 64. */
static const struct { dfl_tree_change kind; uint32_t weight; } WEIGHTS[] = {
    { DFL_TREE_SCALE, 20 }, { DFL_TREE_SHIFT, 14 }, { DFL_TREE_ADD_KEEP, 7 }, { DFL_TREE_DROP, 5 }, { DFL_TREE_ADD_LOOP, 5 },
    { DFL_TREE_SWAP, 3 },   { DFL_TREE_REPLACE, 2 }, { DFL_TREE_SINK, 1 },    { DFL_TREE_TURN, 2 }, { DFL_TREE_ADD_AXIS, 2 },
    { DFL_TREE_MERGE, 2 },  { DFL_TREE_SPLIT, 1 },
};

uint32_t dfl_tree_draw(dfl_tree_random *random, uint32_t n)
{
    random->state = random->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((random->state >> 32) * n >> 32);
}

double dfl_tree_draw_share(dfl_tree_random *random) { return dfl_tree_draw(random, UINT32_MAX) / 4294967296.0; }

static dfl_tree_change draw_kind(dfl_tree_random *random)
{
    uint32_t n = dfl_tree_draw(random, 64), i = 0;

    while (n >= WEIGHTS[i].weight)
        n -= WEIGHTS[i++].weight;
    return WEIGHTS[i].kind;
}

/* A share 1/2 to 1/128. */
static double draw_cut(dfl_tree_random *random) { return 1.0 / (double)(UINT32_C(2) << dfl_tree_draw(random, CUTS)); }

/* Draws where a line goes: in a body around `from` or inside of it, or in the same body half of the time. */
static bool draw_target(dfl_tree_random *random, const dfl_mapping *m, const dfl_line *line, dfl_tree_move *v)
{
    const dfl_body *from = m->bodies[v->from.body];
    uint32_t body = v->from.body;

    if (dfl_tree_draw(random, 2) == 0 && line->kind == DFL_LINE_KEEP)
        body = dfl_tree_draw(random, m->n_bodies);
    v->to.body = body;
    v->to.at = dfl_tree_draw(random, m->bodies[body]->n_lines + 1);
    if (line->kind != DFL_LINE_KEEP)
        return v->to.at >= dfl_tree_after_homes(m, from) && v->to.at != v->from.at && v->to.at != v->from.at + 1;
    return (dfl_body_within(m->bodies[body], from) || dfl_body_within(from, m->bodies[body])) &&
           dfl_tree_touches(m, m->bodies[body], line->tensor) && dfl_tree_is_end(m->bodies[body], v->to.at) &&
           (body != v->from.body || (v->to.at != v->from.at && v->to.at != v->from.at + 1));
}

/* A rank of all einsums of a body; of the first and of the last one for two children. False if there is none. */
static bool draw_rank(dfl_tree_random *random, const dfl_mapping *m, const dfl_body *b, const dfl_body *other, dfl_tree_move *v)
{
    const uint32_t n = m->workload->n_ranks;

    v->rank = dfl_tree_draw(random, n);
    for (uint32_t i = 0; i < n; i++, v->rank = (v->rank + 1) % n)
        if (dfl_tree_has_rank(m, b, v->rank) && dfl_tree_has_rank(m, other, v->rank))
            return true;
    return false;
}

/* The changes of a line that is there. */
static bool draw_change(dfl_tree_random *random, const dfl_mapping *m, dfl_tree_move *v)
{
    const dfl_body *b = m->bodies[v->from.body];
    const dfl_line *line;

    if (b->n_lines == 0)
        return false;
    v->from.at = dfl_tree_draw(random, b->n_lines);
    line = &b->lines[v->from.at];
    if (line->kind == DFL_LINE_KEEP && !dfl_tree_is_free(m, b, v->from.at, line->tensor))
        return false;
    v->memory = dfl_tree_draw(random, m->system->n_memories);
    (void)draw_rank(random, m, b, b, v);
    v->factor = FACTORS[dfl_tree_draw(random, N_FACTORS)];
    switch (v->kind) {
    case DFL_TREE_SCALE:
        return line->kind != DFL_LINE_KEEP;
    case DFL_TREE_SWAP:
        return v->from.at + 1 < b->n_lines && (line->kind != DFL_LINE_KEEP || b->lines[v->from.at + 1].kind != DFL_LINE_KEEP);
    case DFL_TREE_DROP:
        return true;
    case DFL_TREE_SHIFT:
        return draw_target(random, m, line, v);
    case DFL_TREE_SINK:
        return line->kind == DFL_LINE_KEEP && b->n_children > 0;
    case DFL_TREE_REPLACE:
        return line->kind == DFL_LINE_KEEP && v->memory != line->memory && dfl_tree_may_hold(m, line->tensor, v->memory);
    case DFL_TREE_TURN:
        return line->kind != DFL_LINE_KEEP && v->rank != line->rank && dfl_tree_has_rank(m, b, v->rank);
    case DFL_TREE_ADD_KEEP:
    case DFL_TREE_ADD_LOOP:
    case DFL_TREE_ADD_AXIS:
    case DFL_TREE_MERGE:
    case DFL_TREE_SPLIT:
        break;
    }
    return false;
}

/* A tensor that the body touches, and a memory for it. */
static bool draw_keep(dfl_tree_random *random, const dfl_mapping *m, const dfl_body *b, dfl_tree_move *v)
{
    v->from.at = dfl_tree_draw(random, b->n_lines + 1);
    v->memory = dfl_tree_draw(random, m->system->n_memories);
    v->tensor = dfl_tree_draw(random, m->workload->n_tensors);
    for (uint32_t i = 0; i < m->workload->n_tensors && !dfl_tree_touches(m, b, v->tensor); i++)
        v->tensor = (v->tensor + 1) % m->workload->n_tensors;
    return dfl_tree_may_hold(m, v->tensor, v->memory) && dfl_tree_is_end(b, v->from.at) &&
           dfl_tree_is_free(m, b, v->from.at, v->tensor);
}

/* Two neighbours of a branch. */
static bool draw_merge(dfl_tree_random *random, const dfl_mapping *m, dfl_tree_move *v)
{
    const dfl_body *b = m->bodies[v->from.body];

    while (b->parent != NULL && b->n_children < 3)
        b = b->parent;
    if (b->n_children < 3)
        return false;
    v->from = (dfl_tree_place){ b->id, dfl_tree_draw(random, b->n_children - 1) };
    v->memory = dfl_tree_draw(random, m->system->n_memories);
    return !dfl_memory_is_in_array(m->system, v->memory) &&
           draw_rank(random, m, b->children[v->from.at], b->children[v->from.at + 1], v);
}

bool dfl_tree_draw_move(dfl_tree_random *random, const dfl_mapping *m, bool may_share, dfl_tree_move *v)
{
    const dfl_body *b;

    *v = (dfl_tree_move){ .kind = draw_kind(random), .from.body = dfl_tree_draw(random, m->n_bodies) };
    b = m->bodies[v->from.body];
    v->factor = draw_cut(random);
    switch (v->kind) {
    case DFL_TREE_ADD_KEEP:
        return draw_keep(random, m, b, v);
    case DFL_TREE_MERGE:
        return may_share && draw_merge(random, m, v);
    case DFL_TREE_SPLIT:
        return b->kind == DFL_BODY_FUSE && b->parent != NULL;
    case DFL_TREE_ADD_LOOP:
    case DFL_TREE_ADD_AXIS:
        if (v->kind == DFL_TREE_ADD_AXIS && m->system->n_axes == 0)
            return false;
        v->axis = m->system->n_axes > 0 ? dfl_tree_draw(random, m->system->n_axes) : 0;
        v->from.at = dfl_tree_draw(random, b->n_lines + 1);
        return (b->kind == DFL_BODY_LEAF || may_share) && v->from.at >= dfl_tree_after_homes(m, b) &&
               draw_rank(random, m, b, b, v);
    case DFL_TREE_SCALE:
    case DFL_TREE_SWAP:
    case DFL_TREE_DROP:
    case DFL_TREE_SHIFT:
    case DFL_TREE_SINK:
    case DFL_TREE_REPLACE:
    case DFL_TREE_TURN:
        return draw_change(random, m, v);
    }
    return false;
}

bool dfl_tree_draw_finer(dfl_tree_random *random, const dfl_mapping *m, uint32_t body, dfl_tree_move *v)
{
    const uint32_t other = dfl_tree_draw(random, m->n_bodies);
    const dfl_body *b = m->bodies[other];

    if (body >= m->n_bodies || b->n_lines == 0 || (!dfl_body_within(b, m->bodies[body]) && !dfl_body_within(m->bodies[body], b)))
        return false;
    *v = (dfl_tree_move){ .kind = DFL_TREE_SCALE, .from = { other, dfl_tree_draw(random, b->n_lines) },
                          .factor = dfl_tree_draw(random, 2) ? 0.5 : 0.25 };
    return b->lines[v->from.at].kind == DFL_LINE_TEMPORAL;
}
