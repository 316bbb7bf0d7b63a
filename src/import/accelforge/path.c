/* Makes the events of one einsum: where capacity is reserved, where tiles are fetched anew, and the order of loops. */
#include "import/accelforge/path.h"

#include <string.h>

typedef struct {
    enum { STORAGE, RESERVE, LOOP, POINT } kind;
    uint32_t step, of;     /* RESERVE: `of` is the storage item whose capacity is reserved */
    uint32_t tensor, node; /* STORAGE */
    bool home, toll;
    uint32_t var;          /* LOOP */
    bool spatial, slides;  /* LOOP: `spatial`; STORAGE: `slides` if a loop moves only a part of the tile */
} item;

typedef struct {
    const dfl_af_file *f;
    const dfl_af_plan *plan;
    const dfl_af_einsum *e;
    dfl_arena *arena;
    DFL_VEC(item) items;                /* nodes of the tree, with one item per tensor of a storage node */
    DFL_VEC(item) order;                /* items, with RESERVE where capacity is reserved */
    DFL_VEC(uint32_t) sliding;          /* numbers of storage items whose capacity is not reserved yet */
    DFL_VEC(dfl_af_event) events;
    DFL_VEC(uint32_t) loops;
    DFL_VEC(uint32_t) turning;          /* variables of loops since the last brace */
    DFL_VEC(uint32_t) outside;          /* variables of all loops so far */
    DFL_VEC(uint32_t) tolls;            /* numbers of toll items whose inner holder is not reached yet */
    bool *fresh;                        /* the keep must be fresh, by storage item */
    int64_t *left;                      /* extent of the present tile, by variable */
    uint32_t depth;
    bool ok;
} maker;

dfl_af_relevancy dfl_af_relevant(const dfl_af_access *access, uint32_t var)
{
    for (uint32_t d = 0; d < access->n_dims; d++) {
        for (uint32_t t = 0; t < access->dims[d].n_terms; t++) {
            if (access->dims[d].terms[t].var == var)
                return access->dims[d].n_terms == 1 ? DFL_AF_RELEVANT : DFL_AF_PARTLY;
        }
    }
    return DFL_AF_IRRELEVANT;
}

static bool wrong(maker *m, dfl_code code, dfl_span span, const char *what)
{
    if (m->ok)
        dfl_report(m->f->report->sink, code, span, "%s", what);
    m->ok = false;
    return false;
}

/* ---- the path with one item for each tensor of a storage node ---- */

static void add_storage(maker *m, uint32_t number, const dfl_af_step *step, dfl_af_set *seen)
{
    const dfl_af_node *node = &m->f->nodes.at[step->node];

    for (uint32_t i = 0; i < step->names->n; i++) {
        uint32_t t = dfl_af_find_tensor(m->f, step->names->items[i].text);
        item storage = { .kind = STORAGE, .step = number, .tensor = t, .node = step->node,
                         .toll = node->kind == DFL_AF_TOLL };

        if (dfl_af_access_of(m->e, t) == NULL)
            continue;
        storage.home = !dfl_af_has(seen, t);
        if (storage.home && storage.toll)
            wrong(m, DFL_FOREIGN_UNSUPPORTED, step->span, "this toll lies outside of every memory of the tensor");
        dfl_af_put(seen, t);
        DFL_PUSH(m->arena, &m->items, storage);
    }
}

static bool find_variable(maker *m, const dfl_af_step *step, uint32_t *out)
{
    const dfl_yaml *names = step->names;
    uint32_t n = names->kind == DFL_YAML_LIST ? names->n : 1;

    for (uint32_t i = 0; i < n; i++) {
        const dfl_yaml *name = names->kind == DFL_YAML_LIST ? &names->items[i] : names;

        for (*out = 0; *out < m->e->n_vars; (*out)++) {
            if (strcmp(m->e->vars[*out].name, name->text) == 0)
                return true;
        }
    }
    return wrong(m, DFL_FOREIGN_UNKNOWN_NAME, names->span,
                 dfl_arena_printf(m->arena, "einsum `%s` has no such rank variable", m->e->name));
}

/* Reports a copy inside of one memory as a loss: the source charges nothing for such a copy. */
static void look_at_copy(maker *m)
{
    const item *home = NULL;

    for (size_t i = 0; i < m->items.n; i++) {
        const item *it = &m->items.at[i];

        if (it->kind != STORAGE || !it->home)
            continue;
        if (home != NULL && home->node == it->node)
            dfl_lose(m->f->report, DFL_FOREIGN_LOST, m->plan->steps.at[it->step].span,
                     "a copy inside of `%s` is read and written here; in the source it is free",
                     m->f->nodes.at[it->node].name);
        home = it;
    }
}

static void take_items(maker *m, const uint32_t *steps, uint32_t n)
{
    const dfl_af_step *point = &m->plan->steps.at[steps[n - 1]];
    dfl_af_set seen = { { 0 } };
    size_t last = 0, kept = 0;

    for (uint32_t i = 0; m->ok && i < n; i++) {
        const dfl_af_step *step = &m->plan->steps.at[steps[i]];
        item one = { .kind = step->kind == DFL_AF_POINT ? POINT : LOOP, .step = steps[i],
                     .spatial = step->kind == DFL_AF_SPATIAL, .node = step->node };

        if (step->kind != DFL_AF_TEMPORAL && !dfl_af_sees(m->f, point->node, step->node))
            wrong(m, DFL_FOREIGN_UNSUPPORTED, step->span,
                  dfl_arena_printf(m->arena, "`%s` is not on the way to `%s`", m->f->nodes.at[step->node].name,
                                   m->f->nodes.at[point->node].name));
        if (step->kind == DFL_AF_STORAGE) {
            add_storage(m, steps[i], step, &seen);
            continue;
        }
        if (one.kind == LOOP && find_variable(m, step, &one.var))
            DFL_PUSH(m->arena, &m->loops, steps[i]);
        DFL_PUSH(m->arena, &m->items, one);
    }
    for (uint32_t a = 0; m->ok && a < m->e->n_accesses; a++) {
        if (!dfl_af_has(&seen, m->e->accesses[a].tensor))
            wrong(m, DFL_FOREIGN_SYNTAX, point->span,
                  dfl_arena_printf(m->arena, "`%s` is stored nowhere above this einsum",
                                   m->f->tensors.at[m->e->accesses[a].tensor].name));
    }
    for (size_t i = 0; i < m->items.n; i++)
        last = m->items.at[i].kind == STORAGE && m->items.at[i].home ? i : last;
    if (m->e->copy && m->ok)
        look_at_copy(m);
    /* a copy uses nothing but the homes */
    for (size_t i = 0; i < m->items.n; i++) {
        if (!m->e->copy || i <= last || m->items.at[i].kind != STORAGE)
            m->items.at[kept++] = m->items.at[i];
    }
    m->items.n = kept;
}

/* ---- room ---- */

static void reserve(maker *m, uint32_t of)
{
    item room = m->items.at[of];

    room.kind = RESERVE;
    room.of = of;
    DFL_PUSH(m->arena, &m->order, room);
}

/* Reserves capacity for the storage that `loop` stops from sliding, or for all if `loop` is NULL; innermost storage first. */
static void stop_sliding(maker *m, const item *loop, bool partly)
{
    size_t kept = 0;

    for (size_t i = m->sliding.n; i-- > 0;) {
        uint32_t at = m->sliding.at[i];
        item *storage = &m->items.at[at];
        bool stops = loop == NULL;

        if (loop != NULL && loop->spatial) {
            stops = storage->node != loop->node;
        } else if (loop != NULL) {
            dfl_af_relevancy how = dfl_af_relevant(dfl_af_access_of(m->e, storage->tensor), loop->var);

            stops = how == (partly ? DFL_AF_PARTLY : DFL_AF_IRRELEVANT);
            storage->slides |= stops && partly;
        }
        if (!stops)
            continue;
        reserve(m, at);
        m->sliding.at[i] = DFL_AF_NONE;
    }
    for (size_t i = 0; i < m->sliding.n; i++) {
        if (m->sliding.at[i] != DFL_AF_NONE)
            m->sliding.at[kept++] = m->sliding.at[i];
    }
    m->sliding.n = kept;
}

static void place_room(maker *m)
{
    for (uint32_t i = 0; i < m->items.n; i++) {
        item *it = &m->items.at[i];

        if (it->kind == LOOP) {
            stop_sliding(m, it, false);
            DFL_PUSH(m->arena, &m->order, *it);
            if (!it->spatial)
                stop_sliding(m, it, true);
            continue;
        }
        stop_sliding(m, NULL, false);
        it->of = i;
        DFL_PUSH(m->arena, &m->order, *it);
        if (it->kind == STORAGE && (it->home || m->e->copy))
            reserve(m, i);
        else if (it->kind == STORAGE)
            DFL_PUSH(m->arena, &m->sliding, i);
    }
    /* `slides` of a storage item is final only when all loops are in the path */
    for (size_t i = 0; i < m->order.n; i++) {
        if (m->order.at[i].kind == STORAGE)
            m->order.at[i].slides = m->items.at[m->order.at[i].of].slides;
    }
}

/* ---- events ---- */

static dfl_af_event *add_keep(maker *m, const item *storage, bool fresh)
{
    dfl_af_event event = { .kind = DFL_AF_KEEP, .step = storage->step, .depth = m->depth, .tensor = storage->tensor,
                           .node = storage->node, .home = storage->home, .fresh = fresh };

    DFL_PUSH(m->arena, &m->events, event);
    return &m->events.at[m->events.n - 1];
}

/* Whether a tile of the tensor could survive the advance of one of the loops. */
static bool survives(const maker *m, const uint32_t *vars, size_t n, uint32_t tensor)
{
    const dfl_af_access *access = dfl_af_access_of(m->e, tensor);

    for (size_t i = 0; i < n; i++) {
        if (dfl_af_relevant(access, vars[i]) != DFL_AF_RELEVANT)
            return true;
    }
    return false;
}

/* Places the fetch of a tile, and starts a brace if the tile could survive a loop. Returns whether the keep must be
   fresh. */
static bool fetch(maker *m, uint32_t step, uint32_t tensor, bool slides)
{
    dfl_af_event brace = { .kind = DFL_AF_BRACE, .step = step, .depth = m->depth };

    if (!survives(m, m->turning.at, m->turning.n, tensor))
        return false;
    if (!slides && !dfl_af_access_of(m->e, tensor)->output)
        return true;
    DFL_PUSH(m->arena, &m->events, brace);
    m->turning.n = 0;
    return false;
}

/* Adds the keep of a toll, unless the toll charges nothing for the tensor: an output goes down only when it is visited again,
   and an input never goes up. */
static void place_toll(maker *m, const item *toll, bool fresh)
{
    const dfl_af_node *node = &m->f->nodes.at[toll->node];
    const dfl_af_step *step = &m->plan->steps.at[toll->step];
    bool output = dfl_af_access_of(m->e, toll->tensor)->output;
    bool goes_down = !output || survives(m, m->outside.at, m->outside.n, toll->tensor);
    bool down = goes_down && dfl_af_has(&node->down, toll->tensor), up = output && dfl_af_has(&node->up, toll->tensor);

    if (!down && !up)
        return;
    add_keep(m, toll, fresh)->one_way = goes_down && output && !(down && up);
    if (goes_down && output && !(down && up))
        dfl_lose(m->f->report, DFL_FOREIGN_LOST, step->span,
                 "`%s` is charged for `%s` both ways: the source charges what goes %s", node->name,
                 m->f->tensors.at[toll->tensor].name, down ? "down" : "up");
}

/* Places the pending tolls of the tensor of the storage item `inner`. NULL stands for the compute unit and places the
   tolls of all tensors. */
static void place_tolls(maker *m, const item *inner, bool fresh)
{
    size_t kept = 0;

    for (size_t i = 0; i < m->tolls.n; i++) {
        const item *toll = &m->items.at[m->tolls.at[i]];

        if (inner != NULL && inner->tensor != toll->tensor)
            m->tolls.at[kept++] = m->tolls.at[i];
        else
            place_toll(m, toll, inner != NULL ? fresh : fetch(m, toll->step, toll->tensor, false));
    }
    m->tolls.n = kept;
}

static void take_loop(maker *m, const item *it)
{
    const dfl_af_step *step = &m->plan->steps.at[it->step];
    dfl_af_event event = { .kind = DFL_AF_LOOP, .step = it->step, .depth = m->depth, .spatial = it->spatial,
                           .node = step->node, .axis = step->axis, .var = it->var, .tile = step->tile };
    int64_t *left = &m->left[it->var];

    if (step->tile > *left) {
        wrong(m, DFL_FOREIGN_RANGE, step->span,
              dfl_arena_printf(m->arena,
                      "the tile of %lld is larger than the %lld that are left of `%s`", (long long)step->tile,
                               (long long)*left, m->e->vars[it->var].name));
        return;
    }
    event.trips = dfl_ceil_div(*left, step->tile);
    event.ragged = *left % step->tile != 0;
    if (event.ragged)
        dfl_loss_remark(m->f->report, step->span,
                        "the last tile of `%s` is smaller: it is counted exactly; the source counts averages",
                        m->e->vars[it->var].name);
    *left = step->tile;
    m->depth++;
    if (event.trips > 1 && !it->spatial) {
        DFL_PUSH(m->arena, &m->turning, it->var);
        DFL_PUSH(m->arena, &m->outside, it->var);
    }
    DFL_PUSH(m->arena, &m->events, event);
}

static void make_events(maker *m)
{
    for (size_t i = 0; m->ok && i < m->order.n; i++) {
        const item *it = &m->order.at[i];

        switch (it->kind) {
        case LOOP:
            take_loop(m, it);
            break;
        case STORAGE:
            if (it->toll) {
                DFL_PUSH(m->arena, &m->tolls, it->of);
            } else if (!it->home) {
                m->fresh[it->of] = fetch(m, it->step, it->tensor, it->slides);
                place_tolls(m, it, m->fresh[it->of]);
            }
            break;
        case RESERVE:
            if (!it->toll)
                add_keep(m, it, m->fresh[it->of]);
            break;
        case POINT:
            place_tolls(m, NULL, false);
            break;
        }
    }
}

/* ---- spatial loops stand above what the instances hold ---- */

static bool is_inside(const maker *m, const dfl_af_event *what, const dfl_af_event *loop)
{
    return what->kind == DFL_AF_KEEP && dfl_af_sees(m->f, what->node, loop->node);
}

/* Moves the loop at `from` in front of `to`, and updates the tiles of the loops over its variable. */
static void raise_loop(maker *m, size_t from, size_t to)
{
    dfl_af_event loop = m->events.at[from];
    int64_t left = m->e->vars[loop.var].extent;
    bool passes = false;

    for (size_t i = to; i < from; i++)
        passes |= m->events.at[i].kind == DFL_AF_LOOP && m->events.at[i].var == loop.var;
    memmove(&m->events.at[to + 1], &m->events.at[to], (from - to) * sizeof loop);
    m->events.at[to] = loop;
    for (size_t i = 0; passes && i < m->events.n; i++) {
        dfl_af_event *e = &m->events.at[i];

        if (e->kind != DFL_AF_LOOP || e->var != loop.var)
            continue;
        if (left % e->trips != 0 || !m->e->vars[loop.var].simple) {
            wrong(m, DFL_FOREIGN_UNSUPPORTED, m->plan->steps.at[loop.step].span,
                  "this spatial loop is below a temporal one over the same variable, and instances hold tiles above that one");
            return;
        }
        left /= e->trips;
        e->tile = left;
    }
    if (passes)
        dfl_lose(m->f->report, DFL_FOREIGN_REARRANGED, m->plan->steps.at[loop.step].span,
                 "instances get other parts of `%s`, as many of them", m->e->vars[loop.var].name);
}

static void raise_spatial(maker *m)
{
    for (size_t i = 0; m->ok && i < m->events.n; i++) {
        size_t to = 0;

        if (m->events.at[i].kind != DFL_AF_LOOP || !m->events.at[i].spatial)
            continue;
        while (to < i && !is_inside(m, &m->events.at[to], &m->events.at[i]))
            to++;
        if (to < i)
            raise_loop(m, i, to);
    }
}

bool dfl_af_make_path(const dfl_af_file *f, const dfl_af_plan *plan, uint32_t einsum, const uint32_t *steps,
                      uint32_t n)
{
    dfl_arena *arena = f->report->arena;
    const dfl_af_step *point = &plan->steps.at[steps[n - 1]];
    maker m = { .f = f, .plan = plan, .e = &f->einsums.at[einsum], .arena = arena, .ok = true };
    dfl_af_path *path = &plan->paths[einsum];

    take_items(&m, steps, n);
    if (!m.ok)
        return false;
    m.fresh = DFL_NEW_ARRAY(arena, bool, m.items.n + 1);
    m.left = DFL_NEW_ARRAY(arena, int64_t, m.e->n_vars + 1);
    for (uint32_t v = 0; v < m.e->n_vars; v++)
        m.left[v] = m.e->vars[v].extent;
    place_room(&m);
    make_events(&m);
    for (uint32_t v = 0; m.ok && v < m.e->n_vars; v++) {
        if (m.left[v] > 1)
            wrong(&m, DFL_FOREIGN_RANGE, point->span,
                  dfl_arena_printf(arena,
                          "the loops of `%s` do not bring `%s` down to 1", m.e->name, m.e->vars[v].name));
    }
    raise_spatial(&m);
    *path = (dfl_af_path){ .present = m.ok, .compute = point->node, .span = point->span, .events = m.events.at,
                           .n_events = (uint32_t)m.events.n, .loops = m.loops.at, .n_loops = (uint32_t)m.loops.n };
    return m.ok;
}
