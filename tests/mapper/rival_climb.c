/* Mappings of the rival: drawing, changing, building and evaluating. */
#include "tests/mapper/rival.h"

#include <string.h>

#include "ir/path/path.h"
#include "model/model.h"

static uint32_t any(rival *k, uint32_t n) { return n > 0 ? rival_random(&k->random, n) : 0; }

uint32_t rival_home(const dfl_mapping *m, uint32_t tensor)
{
    const dfl_system *s = m->system;

    for (uint32_t i = 0; i < s->n_memories; i++)
        if (!s->memories[i].holds.on || dfl_selects(&s->memories[i].holds, &m->workload->tensors[tensor]))
            return i;
    return 0;
}

void rival_begin(rival *k, dfl_arena *scratch, const dfl_intern *names, const dfl_mapping *open, uint64_t seed)
{
    *k = (rival){ .scratch = scratch, .names = names, .open = open, .random = seed * UINT64_C(0x9e3779b97f4a7c15) + 77 };
    for (uint32_t t = 0; t < open->workload->n_tensors; t++) {
        bool inner = open->system->memories[rival_home(open, t)].element > 0;
        k->inner_home[t] = open->workload->tensors[t].role != DFL_ROLE_INTERMEDIATE && inner;
        k->fixed_home[t] = open->workload->tensors[t].role != DFL_ROLE_INTERMEDIATE && !inner;
    }
    k->fusion = open->workload->n_einsums > 1;
}

void rival_start(const rival *k, rival_mapping *out)
{
    const dfl_workload *w = k->open->workload;
    uint32_t n = w->n_einsums;

    memset(out, 0, sizeof *out);
    out->n = n == 1 ? 1 : n + 1;
    out->body[0] = (rival_body){ .parent = -1, .einsum = n == 1 ? 0 : -1 };
    for (uint32_t e = 0; n > 1 && e < n; e++)
        out->body[e + 1] = (rival_body){ .parent = 0, .einsum = (int32_t)e };
    for (uint32_t i = 0; i < 2 * w->n_tensors; i++)
        if (k->fixed_home[i % w->n_tensors] == (i < w->n_tensors))
            out->body[0].line[out->body[0].n++] = (rival_line){ .kind = DFL_LINE_KEEP, .what = (uint8_t)(i % w->n_tensors),
                                                                .where = (uint8_t)rival_home(k->open, i % w->n_tensors) };
}

void rival_bare(const rival *k, rival_mapping *out)
{
    rival_body *b = &out->body[0];

    rival_start(k, out);
    while (b->n > 0 && k->inner_home[b->line[b->n - 1].what])
        b->n--;
}

static rival_line take(rival_body *b, uint32_t at)
{
    rival_line line = b->line[at];

    memmove(b->line + at, b->line + at + 1, (b->n - at - 1) * sizeof *b->line);
    b->n--;
    return line;
}

/* ---- random mappings --------------------------------------------------------------------------------------------- */

static void put(rival_body *b, rival_line line)
{
    if (b->n < RIVAL_LINES)
        b->line[b->n++] = line;
}

static int32_t amount_for(rival *k, uint32_t rank)
{
    return (int32_t)(1 + any(k, (uint32_t)k->open->workload->ranks[rank].extent));
}

static void throw_loops(rival *k, const dfl_einsum *e, bool full, rival_body *b)
{
    uint32_t from = any(k, e->n_ranks);

    for (uint32_t i = 0; i < e->n_ranks; i++) {
        uint32_t rank = e->ranks[(from + i) % e->n_ranks];
        if (b->n + 8 < RIVAL_LINES && (full || any(k, 3) == 0))
            put(b, (rival_line){ .kind = DFL_LINE_TEMPORAL, .what = (uint8_t)rank, .amount = amount_for(k, rank) });
    }
}

static void throw_axes(rival *k, const dfl_einsum *e, uint32_t element, rival_body *b)
{
    const dfl_system *s = k->open->system;

    for (uint32_t a = 0; a < s->n_axes; a++) {
        int64_t size = s->axes[a].size;
        for (uint32_t i = any(k, 3); s->axes[a].element == element && i > 0 && size > 1 && e->n_ranks > 0; i--) {
            int32_t parts = (int32_t)(any(k, 2) == 0 ? size : 1 + any(k, (uint32_t)size));
            put(b, (rival_line){ .kind = DFL_LINE_SPATIAL, .what = (uint8_t)e->ranks[any(k, e->n_ranks)], .where = (uint8_t)a,
                                 .mode = any(k, 4) == 0, .amount = parts });
            size /= parts;
        }
    }
}

static void throw_keeps(rival *k, const dfl_einsum *e, uint32_t memory, bool full, rival_body *b)
{
    uint32_t from = any(k, e->n_inputs + 1);

    for (uint32_t i = 0; i <= e->n_inputs; i++) {
        uint32_t at = (from + i) % (e->n_inputs + 1);
        const dfl_access *a = at < e->n_inputs ? &e->inputs[at] : &e->output;
        bool home = k->inner_home[a->tensor] && rival_home(k->open, a->tensor) == memory;
        if (!home && ((!full && any(k, 2) == 0) || memory == 0))
            continue;
        put(b, (rival_line){ .kind = DFL_LINE_KEEP, .what = (uint8_t)a->tensor, .where = (uint8_t)memory });
        if (any(k, 2) == 0)
            throw_loops(k, e, false, b);
    }
}

void rival_throw(rival *k, bool full, rival_mapping *out)
{
    const dfl_system *s = k->open->system;

    if (k->open->workload->n_einsums == 1)
        rival_bare(k, out);
    else
        rival_start(k, out);
    for (uint32_t i = 0; i < out->n; i++) {
        rival_body *b = &out->body[i];
        uint32_t element = 0;
        if (b->einsum < 0)
            continue;
        const dfl_einsum *e = &k->open->workload->einsums[b->einsum];
        for (uint32_t m = s->memories[0].element > 0 && out->n == 1 ? 0 : 1; m < s->n_memories; m++) {
            throw_loops(k, e, full, b);
            for (; element < s->memories[m].element; element++)
                throw_axes(k, e, element + 1, b);
            throw_keeps(k, e, m, full, b);
        }
        for (; element + 1 < s->n_elements; element++) {
            throw_loops(k, e, full, b);
            throw_axes(k, e, element + 1, b);
        }
        throw_loops(k, e, full, b);
    }
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Puts the homes that stay before all other lines. */
static bool sort_homes(const rival *k, rival_body *root)
{
    rival_line sorted[RIVAL_LINES] = { 0 };
    bool seen[64];
    uint32_t n = 0, fixed = 0;

    for (uint32_t pass = 0; pass < 2; pass++) {
        memset(seen, 0, sizeof seen);
        for (uint32_t i = 0; i < root->n; i++) {
            const rival_line *l = &root->line[i];
            bool home = l->kind == DFL_LINE_KEEP && k->fixed_home[l->what] && !seen[l->what];
            if (l->kind == DFL_LINE_KEEP)
                seen[l->what] = true;
            if (home == (pass == 0))
                sorted[n++] = *l;
        }
    }
    for (uint32_t t = 0; t < k->open->workload->n_tensors; t++)
        fixed += k->fixed_home[t];
    memcpy(root->line, sorted, n * sizeof *sorted);
    return fixed <= n && (fixed == 0 || root->line[fixed - 1].kind == DFL_LINE_KEEP);
}

static bool read_line(const dfl_line *l, rival_line *out)
{
    *out = (rival_line){ .kind = (uint8_t)l->kind };
    if (l->kind == DFL_LINE_KEEP) {
        out->what = (uint8_t)l->tensor;
        out->where = (uint8_t)l->memory;
        out->mode = (uint8_t)l->mode;
        return true;
    }
    out->what = (uint8_t)l->rank;
    out->where = (uint8_t)l->axis;
    out->amount = (int32_t)l->amount;
    out->mode = l->kind == DFL_LINE_SPATIAL && l->by == DFL_BY_SIZE;
    return !l->cyclic && !l->online && !l->rounds && l->n_only == 0 && (l->kind == DFL_LINE_SPATIAL || l->by == DFL_BY_SIZE);
}

bool rival_read(const rival *k, const dfl_mapping *from, rival_mapping *out)
{
    memset(out, 0, sizeof *out);
    if (from->n_bodies > RIVAL_BODIES)
        return false;
    out->n = from->n_bodies;
    for (uint32_t i = 0; i < from->n_bodies; i++) {
        const dfl_body *b = from->bodies[i];
        rival_body *to = &out->body[i];
        *to = (rival_body){ .parent = b->parent ? (int32_t)b->parent->id : -1,
                            .einsum = b->kind == DFL_BODY_LEAF ? (int32_t)b->einsums[0] : -1 };
        if (b->kind == DFL_BODY_PIPELINE || b->n_recompute > 0 || b->n_lines > RIVAL_LINES)
            return false;
        for (uint32_t n = 0; n < b->n_lines; n++)
            if (!read_line(&b->lines[n], &to->line[to->n++]))
                return false;
    }
    return sort_homes(k, &out->body[0]);
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

static bool is_fixed(const rival *k, const rival_mapping *m, uint32_t body, uint32_t at)
{
    const rival_line *l = &m->body[body].line[at];

    if (body != 0 || l->kind != DFL_LINE_KEEP || !k->fixed_home[l->what])
        return false;
    for (uint32_t i = 0; i < at; i++)
        if (m->body[0].line[i].kind == DFL_LINE_KEEP && m->body[0].line[i].what == l->what)
            return false;
    return true;
}

static void insert(rival_body *b, uint32_t at, rival_line line)
{
    if (b->n == RIVAL_LINES)
        return;
    memmove(b->line + at + 1, b->line + at, (b->n - at) * sizeof *b->line);
    b->line[at] = line;
    b->n++;
}

/* First place of a body behind the homes that stay. */
static uint32_t first_place(const rival *k, const rival_mapping *m, uint32_t body)
{
    uint32_t n = 0;

    while (body == 0 && n < m->body[0].n && is_fixed(k, m, 0, n))
        n++;
    return n;
}

/* An einsum below a body. */
static uint32_t einsum_below(rival *k, const rival_mapping *m, uint32_t body)
{
    uint32_t found[RIVAL_BODIES], n = 0;

    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t at = i;
        while (at != body && m->body[at].parent >= 0)
            at = (uint32_t)m->body[at].parent;
        if (at == body && m->body[i].einsum >= 0)
            found[n++] = (uint32_t)m->body[i].einsum;
    }
    return n > 0 ? found[any(k, n)] : 0;
}

static rival_line draw_line(rival *k, const rival_mapping *m, uint32_t body)
{
    const dfl_system *s = k->open->system;
    const dfl_einsum *e = &k->open->workload->einsums[einsum_below(k, m, body)];
    uint32_t what = e->n_ranks == 0 ? 3 : any(k, s->n_axes > 0 ? 5 : 4), rank = e->n_ranks > 0 ? e->ranks[any(k, e->n_ranks)] : 0,
             a = any(k, e->n_inputs + 1);
    rival_line line = { .kind = DFL_LINE_TEMPORAL, .what = (uint8_t)rank, .amount = amount_for(k, rank) };

    if (what == 4) {
        line.kind = DFL_LINE_SPATIAL;
        line.where = (uint8_t)any(k, s->n_axes);
        line.amount = (int32_t)(2 + any(k, (uint32_t)s->axes[line.where].size - 1));
        line.mode = any(k, 4) == 0;
    } else if (what >= 2) {
        line = (rival_line){ .kind = DFL_LINE_KEEP, .where = (uint8_t)any(k, s->n_memories),
                             .what = (uint8_t)(a < e->n_inputs ? &e->inputs[a] : &e->output)->tensor };
        if (k->modes && any(k, 8) == 0)
            line.mode = (uint8_t)(any(k, 2) == 0 ? DFL_KEEP_FRESH : DFL_KEEP_WINDOW);
    }
    return line;
}

static void resize(rival *k, rival_line *l)
{
    const dfl_workload *w = k->open->workload;

    if (l->kind == DFL_LINE_KEEP) {
        l->where = (uint8_t)any(k, k->open->system->n_memories);
        return;
    }
    int32_t most = (int32_t)(l->kind == DFL_LINE_SPATIAL ? k->open->system->axes[l->where].size : w->ranks[l->what].extent);
    if (l->kind == DFL_LINE_SPATIAL && any(k, 6) == 0)
        l->mode = !l->mode;
    switch (any(k, 4)) {
    case 0: l->amount++; break;
    case 1: l->amount--; break;
    case 2: l->amount = (int32_t)(1 + any(k, (uint32_t)most)); break;
    default:
        if (l->kind == DFL_LINE_SPATIAL)
            l->where = (uint8_t)any(k, k->open->system->n_axes);
        l->what = (uint8_t)any(k, w->n_ranks);
    }
    l->amount = l->amount < 1 ? 1 : l->amount;
}

/* Puts neighbouring children of a body into a brace of their own, or dissolves such a brace. */
static void regroup(rival *k, rival_mapping *m)
{
    rival_mapping out = { .n = 0 };
    uint32_t brace = any(k, m->n), children = 0, first = DFL_NONE;

    if (m->body[brace].einsum >= 0)
        return;
    if (brace > 0 && any(k, 2) == 0) {          /* dissolve: its lines move to its first child */
        for (uint32_t i = brace + 1; i < m->n; i++)
            if (m->body[i].parent == (int32_t)brace) {
                m->body[i].parent = m->body[brace].parent;
                for (uint32_t l = 0; first == DFL_NONE && l < m->body[brace].n; l++)
                    insert(&m->body[i], l, m->body[brace].line[l]);
                first = i;
            }
        for (uint32_t i = 0; i < m->n; i++) {
            if (i == brace)
                continue;
            out.body[out.n] = m->body[i];
            out.body[out.n].parent -= m->body[i].parent > (int32_t)brace;
            out.n++;
        }
        *m = out;
        return;
    }
    for (uint32_t i = brace + 1; i < m->n; i++)
        children += m->body[i].parent == (int32_t)brace;
    if (children < 3 || m->n == RIVAL_BODIES)
        return;
    uint32_t skip = any(k, children - 1), seen = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        rival_body b = m->body[i];
        if (first != DFL_NONE && b.parent >= (int32_t)first)
            b.parent++;
        if (i > brace && m->body[i].parent == (int32_t)brace) {
            if (seen == skip) {
                first = out.n;
                out.body[out.n++] = (rival_body){ .parent = (int32_t)brace, .einsum = -1 };
            }
            if (seen == skip || seen == skip + 1)
                b.parent = (int32_t)first;
            seen++;
        }
        out.body[out.n++] = b;
    }
    *m = out;
}

/* Moves a line between a brace and its children: a loop leaves all children or comes to all of them. */
static void change_brace(rival *k, rival_mapping *m)
{
    uint32_t leaf = any(k, m->n), brace;

    if (m->body[leaf].parent < 0)
        return;
    brace = (uint32_t)m->body[leaf].parent;
    if (any(k, 2) == 0 && m->body[leaf].n > 0) {
        rival_line line = take(&m->body[leaf], any(k, m->body[leaf].n));
        uint32_t from = first_place(k, m, brace);
        insert(&m->body[brace], from + any(k, m->body[brace].n - from + 1), line);
        for (uint32_t i = 1; i < m->n && line.kind != DFL_LINE_KEEP; i++)
            for (uint32_t l = 0; l < m->body[i].n && i != leaf && m->body[i].parent == (int32_t)brace; l++)
                if (m->body[i].line[l].kind == line.kind && m->body[i].line[l].what == line.what && any(k, 2) == 0) {
                    take(&m->body[i], l);
                    break;
                }
    } else {
        uint32_t from = first_place(k, m, brace);
        if (from == m->body[brace].n)
            return;
        rival_line line = take(&m->body[brace], from + any(k, m->body[brace].n - from));
        for (uint32_t i = 1; i < m->n; i++)
            if (m->body[i].parent == (int32_t)brace && (line.kind != DFL_LINE_KEEP || i == leaf))
                insert(&m->body[i], any(k, m->body[i].n + 1), line);
    }
}

static void change_once(rival *k, rival_mapping *m)
{
    uint32_t body = any(k, m->n), from = first_place(k, m, body), n = m->body[body].n, at;
    rival_body *b = &m->body[body];

    if (k->fusion && any(k, 4) == 0) {
        if (any(k, 3) == 0)
            regroup(k, m);
        else
            change_brace(k, m);
        return;
    }
    at = n > from ? from + any(k, n - from) : n;
    switch (n > from ? any(k, 10) : 9) {
    case 0: case 1: case 2: case 3:
        resize(k, &b->line[at]);
        break;
    case 4: case 5: {
        rival_line line = take(b, at);
        insert(b, from + any(k, b->n - from + 1), line);
        break;
    }
    case 6: {
        uint32_t with = from + any(k, n - from);
        rival_line line = b->line[at];
        b->line[at] = b->line[with];
        b->line[with] = line;
        break;
    }
    case 7:
        take(b, at);
        break;
    default:
        insert(b, from + any(k, n - from + 1), draw_line(k, m, body));
    }
}

void rival_change(rival *k, rival_mapping *m)
{
    static const uint32_t times[] = { 1, 1, 1, 2, 2, 3, 4 };

    for (uint32_t i = times[any(k, 7)]; i > 0; i--)
        change_once(k, m);
}

/* ---- building and evaluating ------------------------------------------------------------------------------------- */

void rival_trim(const rival *k, rival_mapping *m)
{
    enum { RANKS = 16 };
    const dfl_workload *w = k->open->workload;
    int64_t left[RIVAL_BODIES][RANKS];

    for (uint32_t i = 0; i < m->n; i++) {
        rival_body *b = &m->body[i];
        uint32_t n = 0;
        for (uint32_t r = 0; r < w->n_ranks && r < RANKS; r++)
            left[i][r] = b->parent < 0 ? w->ranks[r].extent : left[b->parent][r];
        for (uint32_t l = 0; l < b->n; l++) {
            rival_line x = b->line[l];
            int64_t *rest = &left[i][x.kind == DFL_LINE_KEEP ? 0 : x.what];
            if (x.kind == DFL_LINE_SPATIAL && !x.mode) {
                x.amount = (int32_t)(x.amount > *rest ? *rest : x.amount);
                if (x.amount <= 1)
                    continue;
                *rest = (*rest + x.amount - 1) / x.amount;
            } else if (x.kind != DFL_LINE_KEEP) {
                if (x.amount >= *rest)
                    continue;
                *rest = x.amount;
            }
            b->line[n++] = x;
        }
        b->n = n;
    }
}

/* The einsums of the leaves of a body. */
static void list_einsums(dfl_arena *arena, const rival *k, const rival_mapping *m, uint32_t body, dfl_body *out)
{
    uint32_t *list = DFL_NEW_ARRAY(arena, uint32_t, k->open->workload->n_einsums);

    for (uint32_t e = 0; e < k->open->workload->n_einsums; e++)
        for (uint32_t i = body; i < m->n; i++) {
            int32_t at = m->body[i].einsum == (int32_t)e ? (int32_t)i : -1;
            while (at > (int32_t)body)
                at = m->body[at].parent;
            if (at == (int32_t)body)
                list[out->n_einsums++] = e;
        }
    out->einsums = list;
}

static dfl_body *build_body(const rival *k, dfl_arena *arena, const rival_mapping *m, uint32_t i, dfl_body *const *bodies,
                            int64_t left[])
{
    const dfl_workload *w = k->open->workload;
    const rival_body *from = &m->body[i];
    dfl_body *b = DFL_NEW(arena, dfl_body);
    uint32_t children = 0;

    *b = (dfl_body){ .kind = from->einsum >= 0 ? DFL_BODY_LEAF : DFL_BODY_FUSE, .span = k->open->hole_span, .id = i,
                     .parent = from->parent >= 0 ? bodies[from->parent] : NULL, .compute = DFL_NONE,
                     .lines = DFL_NEW_ARRAY(arena, dfl_line, from->n + w->n_ranks) };
    b->depth = b->parent ? b->parent->depth + 1 : 0;
    for (uint32_t l = 0; l < from->n; l++) {
        const rival_line *x = &from->line[l];
        dfl_line *line = &b->lines[b->n_lines];
        *line = (dfl_line){ .kind = (dfl_line_kind)x->kind, .span = k->open->hole_span, .amount_span = k->open->hole_span };
        b->n_lines++;
        if (x->kind == DFL_LINE_KEEP) {
            line->tensor = x->what;
            line->memory = x->where;
            line->mode = (dfl_keep_mode)x->mode;
        } else {
            bool spatial = x->kind == DFL_LINE_SPATIAL;
            line->rank = x->what;
            line->axis = x->where;
            const bool by_parts = spatial && !x->mode;
            line->by = by_parts ? DFL_BY_PARTS : DFL_BY_SIZE;
            line->amount = x->amount;
            left[x->what] = by_parts ? (left[x->what] + x->amount - 1) / x->amount : x->amount;
        }
    }
    list_einsums(arena, k, m, i, b);
    for (uint32_t c = i + 1; c < m->n; c++)
        children += m->body[c].parent == (int32_t)i;
    b->children = DFL_NEW_ARRAY(arena, dfl_body *, children + 1);
    if (from->einsum < 0)
        return b;
    const dfl_einsum *e = &w->einsums[from->einsum];
    for (uint32_t r = 0; r < e->n_ranks; r++)
        if (left[e->ranks[r]] > 1)
            b->lines[b->n_lines++] = (dfl_line){ .kind = DFL_LINE_TEMPORAL, .span = k->open->hole_span, .rank = e->ranks[r],
                                                 .amount_span = k->open->hole_span, .by = DFL_BY_SIZE, .amount = 1 };
    return b;
}

dfl_mapping *rival_build(const rival *k, dfl_arena *arena, const rival_mapping *from)
{
    enum { RANKS = 16 };
    const dfl_workload *w = k->open->workload;
    rival_mapping trimmed = *from, *m = &trimmed;
    dfl_mapping *out = DFL_NEW(arena, dfl_mapping);
    dfl_body **bodies = DFL_NEW_ARRAY(arena, dfl_body *, m->n);
    int64_t left[RIVAL_BODIES][RANKS];

    rival_trim(k, m);
    *out = *k->open;
    for (uint32_t i = 0; i < m->n; i++) {
        for (uint32_t r = 0; r < w->n_ranks && r < RANKS; r++)
            left[i][r] = m->body[i].parent < 0 ? w->ranks[r].extent : left[m->body[i].parent][r];
        bodies[i] = build_body(k, arena, m, i, bodies, left[i]);
        if (bodies[i]->parent)
            bodies[i]->parent->children[bodies[i]->parent->n_children++] = bodies[i];
    }
    out->root = bodies[0];
    out->bodies = bodies;
    out->n_bodies = m->n;
    out->has_holes = false;
    return out;
}

static bool divides(const dfl_paths *paths)
{
    for (uint32_t e = 0; e < paths->mapping->workload->n_einsums; e++)
        for (uint32_t i = 0; i < paths->paths[e].n_steps; i++) {
            const dfl_path_step *s = &paths->paths[e].steps[i];
            if (s->line->kind != DFL_LINE_KEEP && s->rank != DFL_NONE &&
                (s->nominal % s->tile != 0 || (s->line->by == DFL_BY_PARTS && s->nominal % s->line->amount != 0)))
                return false;
        }
    return true;
}

/* Whether the first keep of each tensor with a home inside of an array is the home, on the path of each einsum. */
static bool has_homes(const rival *k, const dfl_paths *paths)
{
    for (uint32_t e = 0; e < paths->mapping->workload->n_einsums; e++) {
        bool seen[64] = { false };
        for (uint32_t i = 0; i < paths->paths[e].n_steps; i++) {
            const dfl_line *l = paths->paths[e].steps[i].line;
            if (l->kind != DFL_LINE_KEEP || seen[l->tensor])
                continue;
            seen[l->tensor] = true;
            if (k->inner_home[l->tensor] && l->memory != rival_home(k->open, l->tensor))
                return false;
        }
    }
    return true;
}

rival_value rival_evaluate(rival *k, const rival_mapping *m)
{
    dfl_sink *sink = dfl_sink_new(k->scratch, NULL);
    rival_value out = { .legal = false };
    const dfl_result *r = NULL;
    const dfl_paths *paths;

    k->evaluated++;
    dfl_sink_limit(sink, 0);
    paths = dfl_paths_resolve(k->scratch, sink, k->names, rival_build(k, k->scratch, m));
    if (paths && has_homes(k, paths))
        r = dfl_model_eval(k->scratch, sink, k->names, paths);
    if (r)
        out = (rival_value){ true, divides(paths), r->joules, r->seconds };
    dfl_arena_reset(k->scratch);
    return out;
}
