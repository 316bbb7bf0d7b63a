/* Loops of a mapping two by two. */
#include "mapper/improve/pair_search.h"

#include <math.h>

#include "mapper/problem/evaluate.h"
#include "mapper/sizes/size_search.h"
#include "support/vec.h"

enum {
    LOOPS = 64,         /* of larger mappings only neighbours are looked at */
    ROUNDS = 8,
    EVALUATIONS = 4000, /* of a pair */
    PLAN = 16,          /* evaluations that a plan for a pair is worth */
    MOST = 400000,      /* evaluations of an einsum in all */
};

typedef struct { dfl_line *line; dfl_body *body; } place;

typedef struct {
    const dfl_intern *names;
    const dfl_pair_search_options *options;
    dfl_mapping *m;              /* the best so far */
    DFL_VEC(place) loops;
    double value;
    uint64_t spent;              /* evaluations of an einsum */
} polisher;

static void find_loops(polisher *k, dfl_arena *arena)
{
    for (uint32_t b = 0; b < k->m->n_bodies; b++)
        for (uint32_t i = 0; i < k->m->bodies[b]->n_lines; i++)
            if (k->m->bodies[b]->lines[i].kind != DFL_LINE_KEEP && !k->m->bodies[b]->lines[i].given)
                DFL_PUSH(arena, &k->loops, ((place){ &k->m->bodies[b]->lines[i], k->m->bodies[b] }));
}

/* Searches the amounts of two loops; whether there are better ones. */
static bool improve(polisher *k, dfl_budget *budget, dfl_line *a, dfl_line *b)
{
    dfl_budget own = dfl_budget_fresh(budget); /* a pair stopped by its deadline leaves the caller's budget intact */
    dfl_arena *arena = dfl_arena_new(&own);
    dfl_sink *quiet = dfl_sink_new(arena, NULL);
    const dfl_search_request request = { .objective = k->options->objective, .space = k->options->space,
                                        .limits = { .evaluations = EVALUATIONS, .deadline = k->options->limits.deadline } };
    dfl_hole *open = DFL_NEW_ARRAY(arena, dfl_hole, 2);
    dfl_size_search_conflict nothing;
    const dfl_line before[2] = { *a, *b };
    const dfl_size_search_result *r;
    uint64_t spent;
    bool better;

    open[0].by = a->by;
    open[1].by = b->by;
    a->hole = &open[0];
    b->hole = &open[1];
    a->by = b->by = DFL_BY_HOLE;
    k->m->has_holes = true;
    dfl_sink_limit(quiet, 0);
    r = dfl_size_search_run(arena, quiet, k->names, k->m, &request, &nothing);
    spent = (PLAN + (r != NULL ? r->evaluated : EVALUATIONS)) * k->m->workload->n_einsums;
    k->spent += spent;
    dfl_pair_search_take(k->options, spent);
    *a = before[0];
    *b = before[1];
    k->m->has_holes = false;
    better = r != NULL && r->objective < k->value * (1 - 1e-12);
    if (better) {
        k->value = r->objective;
        for (uint32_t i = 0; i < r->mapping->n_bodies; i++)
            for (uint32_t l = 0; l < r->mapping->bodies[i]->n_lines; l++)
                k->m->bodies[i]->lines[l].amount = r->mapping->bodies[i]->lines[l].amount;
    }
    dfl_arena_free(arena);
    return better;
}

static bool related(const polisher *k, const place *a, const place *b)
{
    return k->loops.n <= LOOPS || a->body == b->body;
}

/* Elements of the tile of every rank along the lines; drops loops of one iteration. */
static void tidy(dfl_body *body, const int64_t *above, int64_t *tile, uint32_t n_ranks)
{
    uint32_t n = 0;

    for (uint32_t r = 0; r < n_ranks; r++)
        tile[r] = above[r];
    for (uint32_t i = 0; i < body->n_lines; i++) {
        dfl_line line = body->lines[i];
        if (line.kind != DFL_LINE_KEEP) {
            int64_t left = tile[line.rank];
            if (!line.given && (line.by == DFL_BY_SIZE ? line.amount >= left : line.amount == 1))
                continue;
            if (!line.given && line.by == DFL_BY_PARTS && line.amount > left)
                line.amount = left;
            tile[line.rank] = line.by == DFL_BY_SIZE ? line.amount : (left + line.amount - 1) / line.amount;
        }
        body->lines[n++] = line;
    }
    body->n_lines = n;
    for (uint32_t c = 0; c < body->n_children; c++)
        tidy(body->children[c], tile, tile + n_ranks, n_ranks);
}

static void tidy_all(dfl_arena *arena, dfl_mapping *m)
{
    uint32_t n = m->workload->n_ranks, depth = 0;
    int64_t *extents = DFL_NEW_ARRAY(arena, int64_t, (size_t)n + 1);

    for (uint32_t r = 0; r < n; r++)
        extents[r] = m->workload->ranks[r].extent;
    for (uint32_t b = 0; b < m->n_bodies; b++)
        depth = m->bodies[b]->depth > depth ? m->bodies[b]->depth : depth;
    tidy(m->root, extents, DFL_NEW_ARRAY(arena, int64_t, (size_t)(depth + 1) * n + 1), n);
}

dfl_mapping *dfl_pair_search(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *m,
                             const dfl_pair_search_options *options,
                             double *value)
{
    dfl_budget *budget = dfl_arena_budget(arena);
    dfl_deadline halt = { .budget = budget, .at = options->limits.deadline };
    polisher k = { .names = names, .options = options, .m = dfl_mapping_copy(arena, m) };
    bool better = true;

    tidy_all(arena, k.m);
    k.value = dfl_mapping_value(budget, names, k.m, options->objective);
    find_loops(&k, arena);
    for (uint32_t round = 0; round < ROUNDS && better && k.value < INFINITY; round++) {
        better = false;
        for (size_t i = 0; i < k.loops.n; i++)
            for (size_t j = i + 1; j < k.loops.n && halt.why == DFL_STOP_NONE && k.spent < MOST && !dfl_pair_search_over(options);
                 j++)
                if (related(&k, &k.loops.at[i], &k.loops.at[j])) {
                    halt.polls = 0; /* the next poll reads the clock: one pair takes long enough */
                    better |= !dfl_deadline_passed(&halt) && improve(&k, budget, k.loops.at[i].line, k.loops.at[j].line);
                }
    }
    tidy_all(arena, k.m);
    *value = k.value;
    return k.m;
}
