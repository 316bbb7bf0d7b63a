/* Reading what is required, and the rooms that follow. */
#include "mapper/problem/requirements.h"

#include <math.h>
#include <string.h>

/* The side that is to be small, and the number on the other one; NULL if it has not that form. */
static const dfl_val *const *small_side(const dfl_check *c, dfl_quantity *most, bool *below)
{
    const dfl_val *e = c->expr;
    const bool less = e->kind == DFL_VAL_LT || e->kind == DFL_VAL_LE, more = e->kind == DFL_VAL_GT || e->kind == DFL_VAL_GE;
    const uint32_t small = less ? 0 : 1;

    if (c->exactly != NULL || c->within != NULL || (!less && !more) || e->args[1 - small]->kind != DFL_VAL_QUANTITY)
        return NULL;
    *most = e->args[1 - small]->quantity;
    *below = e->kind == DFL_VAL_LT || e->kind == DFL_VAL_GT;
    return &e->args[small];
}

dfl_required dfl_required_read(const dfl_intern *names, const dfl_mapping *m, const dfl_check *check)
{
    dfl_arena *work = dfl_arena_new(NULL);
    dfl_sink *quiet = dfl_sink_quiet(work);
    dfl_required out = { .kind = DFL_REQUIRED_OTHER, .span = check->span };
    dfl_mapping like = *m;
    dfl_objective o;
    bool below = false;

    like.minimize = small_side(check, &out.most, &below);
    like.n_minimize = 1;
    if (like.minimize != NULL && dfl_objective_make(quiet, names, &like, &o)) {
        double bits = below ? ceil(out.most.real) - 1 : floor(out.most.real);
        out.figure = like.minimize;
        out.memory = dfl_objective_memory(&o, m->system, *like.minimize);
        if (o.native) {
            out.kind = DFL_REQUIRED_FIGURE;
        } else if (out.memory != DFL_NONE && bits >= 0 && bits < 0x1p62) {
            out.kind = DFL_REQUIRED_ROOM;
            out.bits = (int64_t)bits;
        }
    }
    dfl_arena_free(work);
    return out;
}

const dfl_required_room *dfl_required_rooms(dfl_arena *arena, const dfl_system *s, const dfl_required *required, uint32_t n)
{
    dfl_required_room *rooms = DFL_NEW_ARRAY(arena, dfl_required_room, (size_t)s->n_memories + 1);
    bool any = false;

    for (uint32_t i = 0; i < s->n_memories; i++)
        rooms[i].declared = rooms[i].bits = s->memories[i].size_bits;
    for (uint32_t i = 0; i < n; i++) {
        dfl_required_room *room = &rooms[required[i].memory < s->n_memories ? required[i].memory : 0];
        if (required[i].kind != DFL_REQUIRED_ROOM || (room->bits >= 0 && required[i].bits >= room->bits))
            continue;
        room->at = required[i].span;
        room->bits = required[i].bits;
        any = true;
    }
    return any ? rooms : NULL;
}

const dfl_mapping *dfl_required_within(dfl_arena *arena, const dfl_mapping *m, const dfl_required_room *rooms)
{
    dfl_mapping *out = DFL_NEW(arena, dfl_mapping);
    dfl_system *s = DFL_NEW(arena, dfl_system);
    dfl_memory *memories = DFL_NEW_ARRAY(arena, dfl_memory, (size_t)m->system->n_memories + 1);

    if (rooms == NULL)
        return m;
    *out = *m;
    *s = *m->system;
    memcpy(memories, s->memories, s->n_memories * sizeof *memories);
    for (uint32_t i = 0; i < s->n_memories; i++)
        memories[i].size_bits = rooms[i].bits;
    s->memories = memories;
    out->system = s;
    return out;
}
