/*
 * The steps of all paths. A line between the root and a leaf is a step of many einsums. The root of a large mapping has
 * the homes of all tensors, but one einsum touches few of these. A run is a maximal list of adjacent keeps of different
 * tensors. A path contains the keeps of a run that its einsum touches, then the first of the other keeps, so that the
 * run has equal length on all paths.
 */
#include "ir/path/layout.h"

#include "support/vec.h"

/* An item of a body: a run of keeps, or a single loop. */
typedef struct {
    uint32_t first, n;         /* lines of the body in the run */
    uint32_t steps;            /* number of steps of the run on every path */
} line_run;

typedef struct {
    line_run *at;
    uint32_t n;
} line_runs;

typedef struct { uint32_t body, line; } place;

typedef struct {
    dfl_arena *arena;
    const dfl_mapping *m;
    dfl_paths *paths;
    line_runs *of;                /* [body]: runs of the body */
    DFL_VEC(place) *touched;     /* [einsum]: keeps of the tensors that the einsum touches, from the root on */
    uint32_t *run, *n;           /* `run` [einsum]: serial number of the last run with a keep of a tensor that the einsum touches;
                                    `n` [einsum]: number of such keeps in that run */
    uint32_t runs;
    uint32_t *kept;              /* [tensor]: serial number of the last run with a keep of the tensor */
} layer;

static void find_segments(layer *layout, const dfl_body *b)
{
    line_runs *s = &layout->of[b->id];
    bool open = false; /* the line above belongs to a run */

    s->at = DFL_NEW_ARRAY(layout->arena, line_run, (size_t)b->n_lines + 1);
    for (uint32_t i = 0; i < b->n_lines; i++) {
        const dfl_line *line = &b->lines[i];
        bool keep = line->kind == DFL_LINE_KEEP;
        if (!keep || !open || layout->kept[line->tensor] == layout->runs) {
            s->at[s->n++] = (line_run){ .first = i, .steps = 1 };
            layout->runs++;
        }
        if (keep)
            layout->kept[line->tensor] = layout->runs;
        s->at[s->n - 1].n++;
        open = keep;
    }
}

/* Records that einsum `e` touches the tensor of a keep of the present run. */
static void add_touched(layer *layout, const dfl_body *b, line_run *s, uint32_t line, uint32_t e)
{
    uint32_t *user = &layout->paths->user[b->id][line];

    if (layout->touched[e].n > 0 && layout->touched[e].at[layout->touched[e].n - 1].body == b->id &&
        layout->touched[e].at[layout->touched[e].n - 1].line == line)
        return;
    DFL_PUSH(layout->arena, &layout->touched[e], ((place){ b->id, line }));
    layout->n[e] = layout->run[e] == layout->runs ? layout->n[e] + 1 : 1;
    layout->run[e] = layout->runs;
    s->steps = layout->n[e] > s->steps ? layout->n[e] : s->steps;
    *user = e < *user ? e : *user;
}

static void find_touched(layer *layout, const dfl_body *b, line_run *s, uint32_t line)
{
    const dfl_workload *w = layout->m->workload;
    uint32_t tensor = b->lines[line].tensor;
    const dfl_tensor *t = &w->tensors[tensor];

    if (b->n_einsums <= t->n_producers + t->n_consumers) {
        for (uint32_t i = 0; i < b->n_einsums; i++)
            if (dfl_einsum_touches(&w->einsums[b->einsums[i]], tensor))
                add_touched(layout, b, s, line, b->einsums[i]);
        return;
    }
    for (uint32_t i = 0; i < t->n_producers + t->n_consumers; i++) {
        uint32_t e = i < t->n_producers ? t->producers[i] : t->consumers[i - t->n_producers];
        if (dfl_body_within(layout->paths->paths[e].leaf, b))
            add_touched(layout, b, s, line, e);
    }
}

/* Numbers the lines of a body; the enclosing bodies already have their numbers. */
static void number_lines(layer *layout, const dfl_body *b)
{
    uint32_t *step = DFL_NEW_ARRAY(layout->arena, uint32_t, (size_t)b->n_lines + 1);
    uint32_t at = b->parent ? layout->paths->step[b->parent->id][b->parent->n_lines] : 0;

    layout->paths->step[b->id] = step;
    layout->paths->user[b->id] = DFL_NEW_ARRAY(layout->arena, uint32_t, (size_t)b->n_lines + 1);
    for (uint32_t i = 0; i < b->n_lines; i++)
        layout->paths->user[b->id][i] = DFL_NONE;
    for (uint32_t i = 0; i < layout->of[b->id].n; i++) {
        line_run *s = &layout->of[b->id].at[i];
        layout->runs++;
        for (uint32_t line = s->first; line < s->first + s->n; line++) {
            step[line] = at;
            if (b->lines[line].kind == DFL_LINE_KEEP)
                find_touched(layout, b, s, line);
        }
        at += s->steps;
    }
    step[b->n_lines] = at;
}

/* Fills the steps of a run or a loop: first the keeps that the einsum touches, from `*touched` on, then others up to
   the run's length. */
static void fill_segment(const layer *layout, dfl_path *p, const dfl_body *b, const line_run *s, uint32_t *touched)
{
    const place *mine = layout->touched[p->einsum].at;
    uint32_t n = (uint32_t)layout->touched[p->einsum].n, at = layout->paths->step[b->id][s->first], others = s->steps;

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

static void fill_path(const layer *layout, dfl_path *p)
{
    uint32_t touched = 0;
    const dfl_body **way = DFL_NEW_ARRAY(layout->arena, const dfl_body *, (size_t)p->leaf->depth + 1);

    p->n_steps = layout->paths->step[p->leaf->id][p->leaf->n_lines];
    p->steps = DFL_NEW_ARRAY(layout->arena, dfl_path_step, (size_t)p->n_steps + 1);
    for (const dfl_body *b = p->leaf; b; b = b->parent)
        way[b->depth] = b;
    for (uint32_t d = 0; d <= p->leaf->depth; d++)
        for (uint32_t i = 0; i < layout->of[way[d]->id].n; i++)
            fill_segment(layout, p, way[d], &layout->of[way[d]->id].at[i], &touched);
}

bool dfl_paths_lay(dfl_arena *arena, dfl_paths *paths)
{
    const dfl_mapping *m = paths->mapping;
    uint32_t n = m->workload->n_einsums, n_tensors = m->workload->n_tensors;
    layer layout = { .arena = arena, .m = m, .paths = paths, .of = DFL_NEW_ARRAY(arena, line_runs, (size_t)m->n_bodies + 1),
                .touched = dfl_arena_alloc(arena, (size_t)n + 1, sizeof *layout.touched, _Alignof(void *)),
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
        find_segments(&layout, m->bodies[b]);
    }
    layout.runs = 0;
    for (uint32_t b = 0; b < m->n_bodies; b++)
        number_lines(&layout, m->bodies[b]);
    for (uint32_t e = 0; e < n; e++) {
        fill_path(&layout, &paths->paths[e]);
        if (!dfl_budget_spend(budget, 1 + paths->paths[e].n_steps))
            return false;
    }
    return true;
}
