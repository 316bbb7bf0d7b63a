/*
 * The steps of all paths. Lines between the root and the leaves are steps of many einsums, and a large mapping has the homes of
 * all its tensors at the root, of which an einsum touches a few. Keeps of different tensors with nothing between them are a
 * run: a path has those of its einsum, and as many others, the first ones, as make the run equally long on all paths.
 */
#include "ir/path/layout.h"

#include "support/vec.h"

/* A run, or a loop by itself. */
typedef struct {
    uint32_t first, n;         /* lines of the body */
    uint32_t steps;            /* of each path */
} segment;

typedef struct {
    segment *at;
    uint32_t n;
} segments;

typedef struct { uint32_t body, line; } place;

typedef struct {
    dfl_arena *arena;
    const dfl_mapping *m;
    dfl_paths *paths;
    segments *of;                /* by body */
    DFL_VEC(place) *touched;     /* by einsum: keeps of what it touches, from the root on */
    uint32_t *run, *n;           /* by einsum: the last run of which it touches something, and how much of it */
    uint32_t runs;
    uint32_t *kept;              /* by tensor: the run that it was last kept in */
} layer;

static void find_segments(layer *k, const dfl_body *b)
{
    segments *s = &k->of[b->id];
    bool open = false; /* the line before belongs to a run */

    s->at = DFL_NEW_ARRAY(k->arena, segment, (size_t)b->n_lines + 1);
    for (uint32_t i = 0; i < b->n_lines; i++) {
        const dfl_line *line = &b->lines[i];
        bool keep = line->kind == DFL_LINE_KEEP;
        if (!keep || !open || k->kept[line->tensor] == k->runs) {
            s->at[s->n++] = (segment){ .first = i, .steps = 1 };
            k->runs++;
        }
        if (keep)
            k->kept[line->tensor] = k->runs;
        s->at[s->n - 1].n++;
        open = keep;
    }
}

/* Einsum e touches what a line of the present run keeps. */
static void add_touched(layer *k, const dfl_body *b, segment *s, uint32_t line, uint32_t e)
{
    uint32_t *user = &k->paths->user[b->id][line];

    if (k->touched[e].n > 0 && k->touched[e].at[k->touched[e].n - 1].body == b->id &&
        k->touched[e].at[k->touched[e].n - 1].line == line)
        return;
    DFL_PUSH(k->arena, &k->touched[e], ((place){ b->id, line }));
    k->n[e] = k->run[e] == k->runs ? k->n[e] + 1 : 1;
    k->run[e] = k->runs;
    s->steps = k->n[e] > s->steps ? k->n[e] : s->steps;
    *user = e < *user ? e : *user;
}

static void find_touched(layer *k, const dfl_body *b, segment *s, uint32_t line)
{
    const dfl_workload *w = k->m->workload;
    uint32_t tensor = b->lines[line].tensor;
    const dfl_tensor *t = &w->tensors[tensor];

    if (b->n_einsums <= t->n_producers + t->n_consumers) {
        for (uint32_t i = 0; i < b->n_einsums; i++)
            if (dfl_einsum_touches(&w->einsums[b->einsums[i]], tensor))
                add_touched(k, b, s, line, b->einsums[i]);
        return;
    }
    for (uint32_t i = 0; i < t->n_producers + t->n_consumers; i++) {
        uint32_t e = i < t->n_producers ? t->producers[i] : t->consumers[i - t->n_producers];
        if (dfl_body_within(k->paths->paths[e].leaf, b))
            add_touched(k, b, s, line, e);
    }
}

/* Numbers the lines of a body; those of the bodies around it are numbered. */
static void number_lines(layer *k, const dfl_body *b)
{
    uint32_t *step = DFL_NEW_ARRAY(k->arena, uint32_t, (size_t)b->n_lines + 1);
    uint32_t at = b->parent ? k->paths->step[b->parent->id][b->parent->n_lines] : 0;

    k->paths->step[b->id] = step;
    k->paths->user[b->id] = DFL_NEW_ARRAY(k->arena, uint32_t, (size_t)b->n_lines + 1);
    for (uint32_t i = 0; i < b->n_lines; i++)
        k->paths->user[b->id][i] = DFL_NONE;
    for (uint32_t i = 0; i < k->of[b->id].n; i++) {
        segment *s = &k->of[b->id].at[i];
        k->runs++;
        for (uint32_t line = s->first; line < s->first + s->n; line++) {
            step[line] = at;
            if (b->lines[line].kind == DFL_LINE_KEEP)
                find_touched(k, b, s, line);
        }
        at += s->steps;
    }
    step[b->n_lines] = at;
}

/* The steps of a segment; of a run what the einsum touches, from `*touched` on, and others. */
static void fill_segment(const layer *k, dfl_path *p, const dfl_body *b, const segment *s, uint32_t *touched)
{
    const place *mine = k->touched[p->einsum].at;
    uint32_t n = (uint32_t)k->touched[p->einsum].n, at = k->paths->step[b->id][s->first], others = s->steps;

    for (uint32_t i = *touched; i < n && mine[i].body == b->id && mine[i].line < s->first + s->n; i++)
        others--;
    for (uint32_t line = s->first, end = at + s->steps; at < end; line++) {
        bool is_mine = *touched < n && mine[*touched].body == b->id && (others == 0 || mine[*touched].line == line);
        line = is_mine ? mine[*touched].line : line;
        *touched += is_mine;
        others -= !is_mine;
        p->steps[at++] = (dfl_path_step){ .line = &b->lines[line], .body = b, .bind = DFL_BIND_NEED, .rank = DFL_NONE };
    }
}

static void fill_path(const layer *k, dfl_path *p)
{
    uint32_t touched = 0;
    const dfl_body **way = DFL_NEW_ARRAY(k->arena, const dfl_body *, (size_t)p->leaf->depth + 1);

    p->n_steps = k->paths->step[p->leaf->id][p->leaf->n_lines];
    p->steps = DFL_NEW_ARRAY(k->arena, dfl_path_step, (size_t)p->n_steps + 1);
    for (const dfl_body *b = p->leaf; b; b = b->parent)
        way[b->depth] = b;
    for (uint32_t d = 0; d <= p->leaf->depth; d++)
        for (uint32_t i = 0; i < k->of[way[d]->id].n; i++)
            fill_segment(k, p, way[d], &k->of[way[d]->id].at[i], &touched);
}

bool dfl_paths_lay(dfl_arena *arena, dfl_paths *paths)
{
    const dfl_mapping *m = paths->mapping;
    uint32_t n = m->workload->n_einsums, n_tensors = m->workload->n_tensors;
    layer k = { .arena = arena, .m = m, .paths = paths, .of = DFL_NEW_ARRAY(arena, segments, (size_t)m->n_bodies + 1),
                .touched = dfl_arena_alloc(arena, (size_t)n + 1, sizeof *k.touched, _Alignof(void *)),
                .run = DFL_NEW_ARRAY(arena, uint32_t, (size_t)n + 1), .n = DFL_NEW_ARRAY(arena, uint32_t, (size_t)n + 1),
                .kept = DFL_NEW_ARRAY(arena, uint32_t, (size_t)n_tensors + 1) };
    dfl_budget *budget = dfl_arena_budget(arena);

    paths->step = DFL_NEW_ARRAY(arena, uint32_t *, (size_t)m->n_bodies + 1);
    paths->user = DFL_NEW_ARRAY(arena, uint32_t *, (size_t)m->n_bodies + 1);
    for (uint32_t b = 0; b < m->n_bodies; b++) {
        if (m->bodies[b]->kind == DFL_BODY_LEAF && m->bodies[b]->n_einsums == 1) {
            dfl_path *p = &paths->paths[m->bodies[b]->einsums[0]];
            p->einsum = m->bodies[b]->einsums[0];
            p->leaf = m->bodies[b];
        }
        find_segments(&k, m->bodies[b]);
    }
    k.runs = 0;
    for (uint32_t b = 0; b < m->n_bodies; b++)
        number_lines(&k, m->bodies[b]);
    for (uint32_t e = 0; e < n; e++) {
        fill_path(&k, &paths->paths[e]);
        if (!dfl_budget_spend(budget, 1 + paths->paths[e].n_steps))
            return false;
    }
    return true;
}
