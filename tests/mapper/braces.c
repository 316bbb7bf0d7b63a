/* Enumeration of the lines in open braces, one brace after another. */
#include <math.h>

#include "ir/path/path.h"
#include "model/model.h"
#include "tests/mapper/enumerate.h"

enum { RANKS = 12, ROUNDS = 2 };

typedef struct {
    dfl_arena *arena;
    const dfl_intern *names;
    const dfl_mapping *open;
    const enumerate_options *options;
    enumerate_result *out;
    dfl_mapping *chosen;        /* amounts above the braces are chosen */
} enumerator;

static bool has_holes(const dfl_body *b)
{
    for (uint32_t i = 0; i < b->n_lines; i++)
        if (b->lines[i].kind != DFL_LINE_KEEP && b->lines[i].by == DFL_BY_HOLE)
            return true;
    return b->open;
}

static bool is_open(const enumerator *k, uint32_t body)
{
    return k->open->bodies[body]->kind == DFL_BODY_LEAF && has_holes(k->open->bodies[body]);
}

/* Fills an open brace with loops only, and adds missing homes. */
static void make_bare(enumerator *k, dfl_mapping *m, dfl_body *leaf)
{
    const dfl_workload *w = m->workload;
    const dfl_einsum *e = &w->einsums[leaf->einsums[0]];
    dfl_line *lines = DFL_NEW_ARRAY(k->arena, dfl_line, (size_t)w->n_tensors + w->n_ranks);

    leaf->n_lines = 0;
    for (uint32_t t = 0; t < w->n_tensors; t++) {
        bool home = !dfl_einsum_touches(e, t);
        for (const dfl_body *b = leaf->parent; b != NULL; b = b->parent)
            for (uint32_t i = 0; i < b->n_lines; i++)
                home |= b->lines[i].kind == DFL_LINE_KEEP && b->lines[i].tensor == t;
        if (!home)
            lines[leaf->n_lines++] = (dfl_line){ .kind = DFL_LINE_KEEP, .tensor = t, .span = m->hole_span };
    }
    for (uint32_t r = 0; r < w->n_ranks; r++)
        if (dfl_einsum_has_rank(e, r))
            lines[leaf->n_lines++] = (dfl_line){ .kind = DFL_LINE_TEMPORAL, .rank = r, .by = DFL_BY_PARTS,
                                                 .amount = w->ranks[r].extent, .span = m->hole_span };
    leaf->lines = lines;
    leaf->open = false;
    leaf->n_opens = 0;
}

static dfl_sink *quiet(dfl_arena *arena)
{
    dfl_sink *sink = dfl_sink_new(arena, NULL);

    dfl_sink_limit(sink, 0);
    return sink;
}

static double value(enumerator *k, const dfl_mapping *m)
{
    const dfl_paths *paths = dfl_paths_resolve(k->arena, quiet(k->arena), k->names, m);
    const dfl_result *r = paths ? dfl_model_eval(k->arena, quiet(k->arena), k->names, paths) : NULL;

    k->out->evaluated++;
    return r ? k->options->value(k->options->objective, r->joules, r->seconds) : INFINITY;
}

/* The best lines of one brace, the others of `m` being what they are, in place of its own, whose value is `*now`; once it has
   some of these, only better ones. False if there are none. */
static bool improve(enumerator *k, dfl_mapping *m, uint32_t body, const dfl_paths *bare, bool first, double *now, bool *changed)
{
    enumerate_options options = *k->options;
    const dfl_body *written = k->chosen->bodies[body];
    const dfl_path *p = &bare->paths[written->einsums[0]];
    dfl_mapping *open = dfl_mapping_copy(k->arena, m);
    int64_t left[RANKS] = { 0 };
    enumerate_result r;
    dfl_body *b = open->bodies[body];

    for (uint32_t i = 0; i < p->n_steps; i++)
        if (p->steps[i].body == p->leaf && p->steps[i].line->kind != DFL_LINE_KEEP)
            left[p->steps[i].rank] = p->steps[i].nominal;
    b->lines = written->lines;
    b->n_lines = written->n_lines;
    b->open = true;
    b->opens = written->opens;
    b->n_opens = written->n_opens;
    open->has_holes = true;
    options.limit = INFINITY;
    enumerate_lines(k->arena, k->names, open, body, left, &options, &r);
    k->out->evaluated += r.evaluated;
    k->out->complete &= r.complete;
    *changed = r.mapping && (r.value < *now || (first && r.value > *now));
    if (*changed || (first && r.mapping)) {
        *m = *dfl_mapping_copy(k->arena, r.mapping);
        *now = r.value;
    }
    return r.mapping != NULL;
}

/* From a mapping on; false if some brace has no lines. These are not tried again where no other lines have made a difference
   since. */
static bool descend(enumerator *k, const dfl_mapping *from, const dfl_paths *bare)
{
    dfl_mapping *m = dfl_mapping_copy(k->arena, from);
    double now = value(k, m);
    uint32_t same = 0; /* number of bodies since the last change */

    for (uint32_t round = 0; round < ROUNDS; round++)
        for (uint32_t b = 0; b < m->n_bodies && (round == 0 || same < m->n_bodies); b++) {
            bool changed = false;
            if (is_open(k, b) && !improve(k, m, b, bare, round == 0, &now, &changed))
                return false;
            same = changed ? 1 : same + 1;
        }
    if (now < k->options->limit && now < k->out->value) {
        k->out->value = now;
        k->out->mapping = m;
    }
    return true;
}

/* Whether the written amounts of `chosen` are those of the mapping to begin with. */
static bool is_start(const enumerator *k)
{
    const dfl_mapping *start = k->options->start;

    for (uint32_t b = 0; start != NULL && b < k->chosen->n_bodies; b++)
        for (uint32_t i = 0; i < k->chosen->bodies[b]->n_lines && k->chosen->bodies[b]->kind != DFL_BODY_LEAF; i++)
            if (k->chosen->bodies[b]->lines[i].amount != start->bodies[b]->lines[i].amount)
                return false;
    return start != NULL;
}

/* Whether amounts that are not written divide the remaining extents. */
static bool divides(const dfl_paths *paths)
{
    for (uint32_t e = 0; e < paths->mapping->workload->n_einsums; e++)
        for (uint32_t i = 0; i < paths->paths[e].n_steps; i++) {
            const dfl_path_step *s = &paths->paths[e].steps[i];
            if (s->body != paths->paths[e].leaf && s->line->kind != DFL_LINE_KEEP && s->rank != DFL_NONE &&
                s->nominal % s->tile != 0)
                return false;
        }
    return true;
}

static void enumerate_chosen(enumerator *k)
{
    dfl_mapping *bare = dfl_mapping_copy(k->arena, k->chosen);
    const dfl_paths *paths;

    for (uint32_t b = 0; b < bare->n_bodies; b++)
        if (is_open(k, b))
            make_bare(k, bare, bare->bodies[b]);
    bare->has_holes = false;
    paths = dfl_paths_resolve(k->arena, quiet(k->arena), k->names, bare);
    if (paths && divides(paths) && value(k, bare) < INFINITY && descend(k, bare, paths) && is_start(k))
        descend(k, k->options->start, paths);
}

/* Enumerates the amounts of the lines from line `i` of body `b` on. */
static void choose(enumerator *k, uint32_t b, uint32_t i)
{
    dfl_line *line;

    for (; b < k->chosen->n_bodies && (k->chosen->bodies[b]->kind == DFL_BODY_LEAF || i >= k->chosen->bodies[b]->n_lines); i = 0)
        b++;
    if (b == k->chosen->n_bodies) {
        enumerate_chosen(k);
        return;
    }
    line = &k->chosen->bodies[b]->lines[i];
    if (line->kind == DFL_LINE_KEEP || line->by != DFL_BY_HOLE) {
        choose(k, b, i + 1);
        return;
    }
    line->by = line->hole->by;
    for (int64_t a = 1; a <= k->open->workload->ranks[line->rank].extent; a++) {
        bool offered = line->hole->choices == NULL;
        for (uint32_t c = 0; c < line->hole->n_choices; c++)
            offered |= line->hole->choices[c] == a;
        line->amount = a;
        if (offered)
            choose(k, b, i + 1);
    }
    line->by = DFL_BY_HOLE;
}

void enumerate_braces(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *open, const enumerate_options *options,
                      enumerate_result *out)
{
    enumerator k = { .arena = arena, .names = names, .open = open, .options = options, .out = out,
                     .chosen = dfl_mapping_copy(arena, open) };

    *out = (enumerate_result){ .value = INFINITY, .complete = true };
    choose(&k, 0, 0);
}
