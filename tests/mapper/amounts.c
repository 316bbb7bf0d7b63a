/* Enumeration of the open amounts of loops of a mapping. */
#include "tests/mapper/enumerate.h"

#include <math.h>

#include "model/model.h"

enum { MOST_HOLES = 64 };

typedef struct {
    dfl_arena *arena, *scratch;
    const dfl_intern *names;
    const enumerate_options *options;
    enumerate_result *out;
    dfl_mapping *mapping;      /* mapping whose lines are changed */
    dfl_line *line[MOST_HOLES];
    uint32_t n;
} enumerator;

/* Whether the search may choose the amount for a loop with `left` elements left. */
static bool is_offered(const enumerator *k, int64_t amount, int64_t left)
{
    int64_t times = (left + amount - 1) / amount;

    return amount <= left && (left % amount == 0 || (k->options->imperfect && amount == (left + times - 1) / times));
}

/* Whether every amount that is not one of a written set is offered to an einsum below. */
static bool are_offered(const enumerator *k, const dfl_paths *paths)
{
    for (uint32_t i = 0; i < k->n; i++) {
        const dfl_line *line = k->line[i];
        bool any = line->hole->choices != NULL, bound = false;
        for (uint32_t e = 0; e < k->mapping->workload->n_einsums && !any; e++)
            for (uint32_t s = 0; s < paths->paths[e].n_steps && !any; s++) {
                const dfl_path_step *step = &paths->paths[e].steps[s];
                if (step->line != line || step->rank == DFL_NONE)
                    continue;
                bound = true;
                any = is_offered(k, line->amount, step->nominal);
            }
        if (!any && (bound || !is_offered(k, line->amount, k->mapping->workload->ranks[line->rank].extent)))
            return false;
    }
    return true;
}

static void evaluate(enumerator *k)
{
    dfl_sink *sink = dfl_sink_new(k->scratch, NULL);
    const dfl_result *r = NULL;
    const dfl_paths *paths;
    double value;

    dfl_sink_limit(sink, 0);
    k->out->evaluated++;
    paths = dfl_paths_resolve(k->scratch, sink, k->names, k->mapping);
    if (paths && are_offered(k, paths))
        r = dfl_model_eval(k->scratch, sink, k->names, paths);
    if (r) {
        value = k->options->value(k->options->objective, r->joules, r->seconds);
        if (value < k->options->limit && value < k->out->value) {
            k->out->value = value;
            k->out->mapping = dfl_mapping_copy(k->arena, k->mapping);
        }
    }
    dfl_arena_reset(k->scratch);
}

static void fill(enumerator *k, uint32_t i)
{
    const dfl_hole *hole;
    int64_t most;

    if (k->out->evaluated >= k->options->most) {
        k->out->complete = false;
        return;
    }
    if (i == k->n) {
        evaluate(k);
        return;
    }
    hole = k->line[i]->hole;
    most = hole->choices ? hole->n_choices : k->mapping->workload->ranks[k->line[i]->rank].extent;
    for (int64_t c = 0; c < most; c++) {
        k->line[i]->amount = hole->choices ? hole->choices[c] : c + 1;
        fill(k, i + 1);
    }
}

void enumerate_amounts(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *open,
                       const enumerate_options *options, enumerate_result *out)
{
    enumerator k = { .arena = arena, .names = names, .options = options, .out = out,
                     .mapping = dfl_mapping_copy(arena, open) };

    *out = (enumerate_result){ .value = INFINITY, .complete = true };
    k.scratch = dfl_arena_new(NULL);
    k.mapping->has_holes = false;
    for (uint32_t b = 0; b < k.mapping->n_bodies; b++)
        for (uint32_t i = 0; i < k.mapping->bodies[b]->n_lines; i++) {
            dfl_line *line = &k.mapping->bodies[b]->lines[i];
            if (line->kind == DFL_LINE_KEEP || line->by != DFL_BY_HOLE)
                continue;
            out->complete &= k.n < MOST_HOLES;
            line->by = line->hole->by;
            line->amount = 1;
            if (k.n < MOST_HOLES)
                k.line[k.n++] = line;
        }
    fill(&k, 0);
    dfl_arena_free(k.scratch);
}
