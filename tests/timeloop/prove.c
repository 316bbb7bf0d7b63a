/* Comparison with the oracle: shrinks a design until the oracle can execute it, then compares every count with the model. */
#include <stdio.h>

#include "ir/shrink.h"
#include "oracle/oracle.h"
#include "tests/timeloop/judge.h"

static dfl_i128 points_of(const dfl_mapping *m, const int64_t *extents)
{
    dfl_i128 points = 1;

    for (uint32_t r = 0; r < m->workload->n_ranks; r++)
        points *= extents[r];
    return points;
}

/* Halves the longest rank until few enough points are left. */
static const dfl_mapping *cut_down(dfl_arena *arena, const dfl_mapping *m, int64_t most)
{
    uint32_t n = m->workload->n_ranks;
    int64_t *extents = DFL_NEW_ARRAY(arena, int64_t, n);
    unsigned *halvings = DFL_NEW_ARRAY(arena, unsigned, n);

    for (uint32_t r = 0; r < n; r++)
        extents[r] = m->workload->ranks[r].extent;
    if (points_of(m, extents) <= most)
        return m;
    while (points_of(m, extents) > most) {
        uint32_t longest = 0;
        for (uint32_t r = 1; r < n; r++)
            longest = extents[r] > extents[longest] ? r : longest;
        extents[longest] = extents[longest] / 2 + extents[longest] % 2;
        halvings[longest]++;
    }
    return dfl_mapping_shrink(arena, m, extents, halvings);
}

typedef struct {
    const dfl_oracle_result *oracle;
    const dfl_result *model;
    judge_text *why;
    bool same;
} comparison;

static void same(comparison *c, dfl_i128 oracle, dfl_i128 model, const char *what, uint32_t memory, uint32_t tensor)
{
    if (oracle == model || !c->same)
        return;
    c->same = false;
    snprintf(c->why->text, sizeof c->why->text, "%s of tensor %u in memory %u: the oracle counts %lld, the model %lld",
             what, tensor, memory, (long long)oracle, (long long)model);
}

static void compare(comparison *c, const dfl_system *s)
{
    const dfl_traffic none = { 0 };
    uint32_t k = 0;

    /* for a keep without transfers the oracle has a row of zeros, the model no row */
    for (uint32_t i = 0; i < c->oracle->n_traffic; i++) {
        const dfl_oracle_traffic *o = &c->oracle->traffic[i];
        const dfl_traffic *t = &none;
        if (k < c->model->n_traffic && c->model->traffic[k].memory == o->memory &&
            c->model->traffic[k].tensor == o->tensor)
            t = &c->model->traffic[k++];
        same(c, o->serve, t->counts.serve, "serve", o->memory, o->tensor);
        same(c, o->drain, t->counts.drain, "drain", o->memory, o->tensor);
        same(c, o->accumulate, t->counts.accumulate, "accumulate", o->memory, o->tensor);
        same(c, o->fill, t->counts.fill, "fill", o->memory, o->tensor);
        same(c, o->update, t->counts.update, "update", o->memory, o->tensor);
        same(c, o->peak_bits, t->peak_bits, "peak", o->memory, o->tensor);
    }
    same(c, k, c->model->n_traffic, "rows", 0, 0);
    same(c, c->oracle->points[0], c->model->einsums[0].points, "points", 0, 0);
    same(c, c->oracle->steps[0], c->model->einsums[0].steps, "steps", 0, 0);
    same(c, c->oracle->wrong, 0, "wrong results", 0, 0);
    for (uint32_t m = 0; m < s->n_memories; m++)
        same(c, c->oracle->peak_bits[m], c->model->memories[m].peak_bits, "peak", m, 0);
}

bool judge_proven(dfl_arena *arena, dfl_intern *names, const dfl_mapping *m, int64_t most, bool *whole,
                  judge_text *why)
{
    dfl_sink *sink = dfl_sink_new(arena, NULL);
    const dfl_mapping *small = cut_down(arena, m, most);
    const dfl_paths *paths = dfl_paths_resolve(arena, sink, names, small);
    comparison c = { .why = why, .same = true };

    *whole = small == m;
    c.oracle = paths ? dfl_oracle_run(arena, sink, names, paths) : NULL;
    c.model = paths ? dfl_model_eval(arena, sink, names, paths) : NULL;
    if (!c.oracle || !c.model) {
        snprintf(why->text, sizeof why->text, "cut down it is refused: %s",
                 dfl_sink_count(sink) > 0 ? dfl_sink_at(sink, 0)->message : "no message");
        return false;
    }
    compare(&c, small->system);
    return c.same;
}
