/* All mappings of one einsum, and random ones of the same list. */
#include "support/checked.h"
#include "tests/mapper/rival.h"

enum { RANKS = 16, AXES = 8, KEEPS = 32, LOOPS = 960, OPTIONS = LOOPS + KEEPS };

typedef struct {
    rival *k;
    uint64_t most, found;
    rival_use *use;             /* NULL: the mappings are only counted */
    void *context;
    struct { uint8_t tensor, memory; } keep[KEEPS]; /* by memory, then by operand */
    uint32_t n_keeps, placed;   /* `placed`: a mask */
    int64_t left[RANKS];        /* by rank: elements of a full piece */
    int64_t room[AXES];         /* by axis: instances that are left */
    rival_mapping m;
} lister;

static const dfl_einsum *einsum_of(const lister *l) { return &l->k->open->workload->einsums[0]; }

static void begin(lister *l, rival *k)
{
    const dfl_workload *w = k->open->workload;
    const dfl_system *s = k->open->system;

    *l = (lister){ .k = k };
    rival_bare(k, &l->m);
    for (uint32_t r = 0; r < w->n_ranks; r++)
        l->left[r] = w->ranks[r].extent;
    for (uint32_t a = 0; a < s->n_axes; a++)
        l->room[a] = s->axes[a].size;
    for (uint32_t m = 0; m < s->n_memories; m++)
        for (uint32_t t = 0; t < w->n_tensors && l->n_keeps < KEEPS; t++) {
            const uint32_t home = rival_home(k->open, t);
            const bool can_hold = !s->memories[m].holds.on || dfl_selects(&s->memories[m].holds, &w->tensors[t]);
            if (can_hold && (home < m || (home == m && !k->fixed_home[t]))) {
                l->keep[l->n_keeps].tensor = (uint8_t)t;
                l->keep[l->n_keeps++].memory = (uint8_t)m;
            }
        }
}

/* Whether keeps `i` and `o` of two tensors cost the same in either order. A stream starts anew where a keep that stops the work
   outside of it is refilled. */
static bool is_alike(const lister *l, uint32_t i, uint32_t o)
{
    const dfl_memory *memories = l->k->open->system->memories;

    return memories[l->keep[i].memory].stream == memories[l->keep[o].memory].stream;
}

/* Whether keep `i` may be the next line: one tensor goes inwards, from its home; keeps that are alike, without a line between, stand
   in the order of the list. */
static bool may_keep(const lister *l, uint32_t i)
{
    const rival_body *b = &l->m.body[0];
    const rival_line *last = b->n > 0 ? &b->line[b->n - 1] : NULL;
    const uint8_t tensor = l->keep[i].tensor, memory = l->keep[i].memory;
    bool has_home = l->k->fixed_home[tensor] || rival_home(l->k->open, tensor) == memory;

    for (uint32_t o = 0; o < l->n_keeps; o++) {
        if (!(l->placed >> o & 1))
            continue;
        if ((l->keep[o].tensor == tensor && o >= i) ||
            (o > i && is_alike(l, i, o) && last->kind == DFL_LINE_KEEP && last->what == l->keep[o].tensor && last->where == l->keep[o].memory))
            return false;
        has_home |= l->keep[o].tensor == tensor;
    }
    return has_home;
}

/* Whether a keep inside of the axis stands already: then no line may use the axis. */
static bool is_sealed(const lister *l, uint32_t axis)
{
    const dfl_system *s = l->k->open->system;

    for (uint32_t o = 0; o < l->n_keeps; o++)
        if ((l->placed >> o & 1) && dfl_axis_encloses(s, axis, s->memories[l->keep[o].memory].element))
            return true;
    return false;
}

/* Elements of a full tile of a loop. */
static int64_t tile_of(const lister *l, const rival_line *line)
{
    return line->kind == DFL_LINE_SPATIAL && !line->mode ? dfl_ceil_div(l->left[line->what], line->amount) : line->amount;
}

/* Instances that a line of an axis takes. */
static int64_t parts_of(const lister *l, const rival_line *line)
{
    return line->mode ? dfl_ceil_div(l->left[line->what], line->amount) : line->amount;
}

/* The loops that may be the next line: each tile size in time and, where the axis has room, on an axis; and each number of parts
   that leaves instances idle. */
static uint32_t list_loops(const lister *l, rival_line *out)
{
    const dfl_einsum *e = einsum_of(l);
    const dfl_system *s = l->k->open->system;
    uint32_t n = 0;

    for (uint32_t i = 0; i < e->n_ranks; i++) {
        const uint32_t r = e->ranks[i];
        for (int32_t tile = 1; tile < l->left[r] && n < LOOPS; tile++)
            out[n++] = (rival_line){ .kind = DFL_LINE_TEMPORAL, .what = (uint8_t)r, .amount = tile };
        for (uint32_t a = 0; a < s->n_axes && l->left[r] > 1; a++) {
            const rival_line line = { .kind = DFL_LINE_SPATIAL, .what = (uint8_t)r, .where = (uint8_t)a };
            if (is_sealed(l, a))
                continue;
            for (int32_t tile = 1; tile < l->left[r] && n < LOOPS; tile++) {
                out[n] = line;
                out[n].mode = 1;
                out[n].amount = tile;
                n += parts_of(l, &out[n]) <= l->room[a];
            }
            for (int32_t parts = 2; parts <= l->room[a] && parts <= l->left[r] && n < LOOPS; parts++) {
                out[n] = line;
                out[n].amount = parts;
                n += dfl_ceil_div(l->left[r], tile_of(l, &out[n])) < parts;
            }
        }
    }
    return n;
}

static uint32_t list_keeps(const lister *l, rival_line *out)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < l->n_keeps; i++)
        if (may_keep(l, i))
            out[n++] = (rival_line){ .kind = DFL_LINE_KEEP, .what = l->keep[i].tensor, .where = l->keep[i].memory };
    return n;
}

static void push(lister *l, const rival_line *line)
{
    l->m.body[0].line[l->m.body[0].n++] = *line;
    if (line->kind == DFL_LINE_SPATIAL)
        l->room[line->where] /= parts_of(l, line);
    if (line->kind != DFL_LINE_KEEP)
        l->left[line->what] = tile_of(l, line);
    for (uint32_t i = 0; i < l->n_keeps && line->kind == DFL_LINE_KEEP; i++)
        if (l->keep[i].tensor == line->what && l->keep[i].memory == line->where)
            l->placed |= 1u << i;
}

/* Whether every element is a piece, and every tensor has a home. */
static bool is_whole(const lister *l)
{
    const dfl_einsum *e = einsum_of(l);
    bool whole = true;

    for (uint32_t i = 0; i < e->n_ranks; i++)
        whole &= l->left[e->ranks[i]] == 1;
    for (uint32_t t = 0; t < l->k->open->workload->n_tensors; t++) {
        bool has_home = l->k->fixed_home[t];
        for (uint32_t i = 0; i < l->n_keeps; i++)
            has_home |= l->keep[i].tensor == t && (l->placed >> i & 1);
        whole &= has_home;
    }
    return whole;
}

/* All ways to go on; false if there are too many. */
static bool go_on(lister *l)
{
    rival_body *b = &l->m.body[0];
    rival_line next[OPTIONS];
    uint32_t n;

    if (is_whole(l)) {
        if (l->use != NULL)
            l->use(l->context, &l->m);
        if (++l->found > l->most)
            return false;
    }
    n = list_loops(l, next);
    if (n == LOOPS || l->n_keeps == KEEPS)
        return false;
    n += list_keeps(l, next + n);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t placed = l->placed;
        const int64_t left = l->left[next[i].what % RANKS], room = l->room[next[i].where % AXES];
        bool goes_on;
        if (b->n == RIVAL_LINES)
            return false;
        push(l, &next[i]);
        goes_on = go_on(l);
        b->n--;
        l->placed = placed;
        l->left[next[i].what % RANKS] = left;
        l->room[next[i].where % AXES] = room;
        if (!goes_on)
            return false;
    }
    return true;
}

bool rival_list(rival *k, uint64_t most, rival_use *use, void *context)
{
    lister l;

    begin(&l, k);
    l.most = most;
    if (!go_on(&l))
        return false;
    begin(&l, k);
    l.most = most;
    l.use = use;
    l.context = context;
    return go_on(&l);
}

void rival_wander(rival *k, rival_mapping *out)
{
    rival_line next[OPTIONS];
    lister l;

    begin(&l, k);
    while (l.m.body[0].n < RIVAL_LINES) {
        const uint32_t loops = list_loops(&l, next), keeps = list_keeps(&l, next + loops);
        const bool ends = is_whole(&l) && (keeps == 0 || rival_random(&k->random, 2) == 0);
        if (ends || loops + keeps == 0)
            break;
        if (keeps > 0 && (loops == 0 || rival_random(&k->random, 3) == 0))
            push(&l, &next[loops + rival_random(&k->random, keeps)]);
        else
            push(&l, &next[rival_random(&k->random, loops)]);
    }
    *out = l.m;
}
