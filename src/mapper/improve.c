/* What follows the search over tiles that divide: polishing, and tiles that do not divide. */
#include <math.h>

#include "mapper/beyond.h"
#include "mapper/cost.h"
#include "mapper/given.h"
#include "mapper/infeasible.h"
#include "mapper/mapper.h"
#include "mapper/polish.h"
#include "mapper/ragged.h"
#include "mapper/tree.h"
#include "mapper/words.h"

enum {
    KINDS = 16,                  /* that are looked at besides */
    SHORT = 1 << 20,             /* nodes of a search that is short */
};

typedef struct {
    dfl_arena *arena;
    const dfl_intern *names;
    const dfl_mapping *given;
    dfl_polish_options options;
    double least;                /* value of the best so far */
    dfl_map_result *out;
} improver;

/* Takes a mapping, of the workload that is given or of one with longer ranks, if it is better by the model when polished. */
static void take_better(improver *k, const dfl_mapping *found)
{
    dfl_mapping m = *found;
    double value;

    m.workload = k->given->workload;
    found = dfl_polish(k->arena, k->names, &m, &k->options, &value);
    if (value >= k->least)
        return;
    k->least = value;
    k->out->mapping = dfl_mapping_copy(k->arena, found);
}

static void add_up(improver *k, const dfl_map_result *r)
{
    k->out->evaluated += r->evaluated;
    k->out->pruned += r->pruned;
    if (k->out->stopped == DFL_STOP_NONE)
        k->out->stopped = r->stopped;
}

/* Where the search counts less than a mapping costs, because transfers do not overlap with the work, the best of another kind may
   cost less. Only where the search itself was short. */
static void try_kinds(improver *k, const dfl_map_options *options)
{
    dfl_map_options several = *options;
    dfl_arena *work;
    const dfl_map_result *r;

    if (k->out->evaluated > SHORT || dfl_tree_is(k->given) || !dfl_given_nothing(k->given))
        return;
    several.top = KINDS;
    several.evaluations = dfl_map_left(options->evaluations, k->out->evaluated);
    several.certificate = false;
    work = dfl_arena_new(dfl_arena_budget(k->arena));
    r = dfl_mapper_perfect(work, dfl_sink_new(work, NULL), k->names, k->given, &several, k->options.deadline);
    for (uint32_t i = 0; r != NULL && i < r->n_front; i++)
        take_better(k, r->front[i].mapping);
    if (r != NULL)
        add_up(k, r);
    dfl_arena_free(work);
}

static void try_longer(improver *k, const dfl_map_options *options, uint32_t way)
{
    dfl_map_options left = *options;
    dfl_mapping *longer = dfl_ragged_longer(k->arena, k->given, way);
    dfl_arena *work = dfl_arena_new(dfl_arena_budget(k->arena));
    dfl_sink *quiet = dfl_sink_new(work, NULL);
    const dfl_map_result *r;

    dfl_sink_limit(quiet, 0);
    left.evaluations = dfl_map_left(options->evaluations, k->out->evaluated);
    r = longer ? dfl_mapper_perfect(work, quiet, k->names, longer, &left, k->options.deadline) : NULL;
    if (r) {
        take_better(k, r->mapping);
        add_up(k, r);
    }
    dfl_arena_free(work);
}

dfl_map_result *dfl_mapper_perfect(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                                   const dfl_map_options *options, double deadline)
{
    bool fits = true;
    dfl_map_result *out = dfl_tree_is(mapping) ? dfl_tree_search(arena, sink, names, mapping, options, deadline, &fits)
                                               : dfl_mapper_alone(arena, sink, names, mapping, options, deadline, &fits);

    if (!fits && !dfl_given_nothing(mapping))
        dfl_infeasible_between(sink, names, mapping, options, dfl_arena_budget(arena), deadline);
    else if (!fits)
        dfl_infeasible_lines(sink, names, mapping, options, dfl_arena_budget(arena), deadline);
    return out;
}

const dfl_map_result *dfl_mapper_run(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names,
                                     const dfl_mapping *mapping, const dfl_map_options *asked)
{
    static const double rounding = 1 + 1e-9;
    const double deadline = asked->time_limit > 0 ? dfl_halt_clock() + asked->time_limit : 0;
    improver k = { .arena = arena, .names = names, .given = mapping,
                   .options = { .objective = asked->objective, .imperfect = asked->imperfect, .deadline = deadline } };
    dfl_map_options options = *asked;
    dfl_map_result *out;

    options.beyond = dfl_given_nothing(mapping) ? dfl_beyond_kinds(mapping->workload, asked->beyond) : 0;
    out = k.out = dfl_mapper_perfect(arena, sink, names, mapping, &options, deadline);
    if (out == NULL || out->stopped != DFL_STOP_NONE || options.front || options.top > 0)
        return out;
    k.least = dfl_mapping_value(dfl_arena_budget(arena), names, out->mapping, options.objective);
    out->inside = out->optimal && k.least <= dfl_value_times(out->lower_bound, rounding);
    if (out->inside && !options.imperfect && options.beyond == 0)
        return out;
    take_better(&k, out->mapping);
    if (k.least > dfl_value_times(out->lower_bound, rounding))
        try_kinds(&k, &options);
    if (options.imperfect) {
        for (uint32_t way = 0; way < DFL_RAGGED_WAYS && out->stopped == DFL_STOP_NONE; way++)
            try_longer(&k, &options, way);
        out->lower_bound = out->floor;
    }
    if (options.beyond != 0)
        dfl_beyond_search(arena, names, mapping, &options, &k.options, out, &k.least);
    if (options.imperfect || options.beyond != 0)
        out->space = dfl_mapper_words(arena, mapping, options.imperfect, options.beyond);
    out->optimal = k.least <= dfl_value_times(out->lower_bound, rounding);
    return out;
}
