/* The loop nests of a mapping: allocation, the cuts of each rank, and the checks that need no sizes of tiles. */
#include "model/sets/nest.h"

#include "support/limits.h"
#include "support/vec.h"

void dfl_nest_refuse(dfl_nest *nest, dfl_span at, const char *what, const char *help)
{
    if (nest->refused)
        return;
    nest->refused = true;
    dfl_diag *d = dfl_report(nest->sink, DFL_EVAL_UNSUPPORTED, at, "%s is checked but not evaluated", what);
    dfl_diag_help(nest->sink, d, "%s", help);
}

bool dfl_nest_report_overflow(dfl_nest *nest, dfl_span at)
{
    dfl_diag *d = dfl_report(nest->sink, DFL_EVAL_OVERFLOW, at, "a count of this mapping exceeds 2^127");

    dfl_diag_help(nest->sink, d, "use smaller extents");
    return false;
}

uint32_t dfl_nest_driver(const dfl_nest *nest, uint32_t e, uint32_t i)
{
    const dfl_path *path = &nest->paths->paths[e];

    if (path->steps[i].rank != DFL_NONE)
        return e;
    for (uint32_t k = 0; k < path->steps[i].body->n_einsums; k++) {
        uint32_t f = path->steps[i].body->einsums[k];
        if (nest->paths->paths[f].steps[i].rank != DFL_NONE)
            return f;
    }
    return DFL_NONE;
}

static bool is_temporal(const dfl_path *path, uint32_t i) { return path->steps[i].line->kind == DFL_LINE_TEMPORAL; }

/* Tells whether another einsum under step `i` has another number of iterations (a spatial line `for` some of the
   einsums). All einsums bound to the loop have the same answer, so only the first of them compares. */
static bool differs_by_einsum(const dfl_nest *nest, const dfl_path *path, uint32_t i)
{
    const dfl_body *body = path->steps[i].body;
    bool differs = false;

    for (uint32_t k = 0; path->steps[i].rank != DFL_NONE && k < body->n_einsums && !differs; k++) {
        const dfl_path_step *s = &nest->paths->paths[body->einsums[k]].steps[i];
        if (s->rank != DFL_NONE && body->einsums[k] < path->einsum)
            return false;
        differs = s->rank != DFL_NONE && (s->nominal != path->steps[i].nominal || s->tile != path->steps[i].tile);
    }
    return differs;
}

static void refuse_differing(dfl_nest *nest, uint32_t e, uint32_t i)
{
    const dfl_path *path = &nest->paths->paths[e];

    if (is_temporal(path, i) && differs_by_einsum(nest, path, i))
        dfl_nest_refuse(nest, path->steps[i].line->span, "a loop with more iterations for one einsum than for another",
                        "move it into the branches of the einsums");
}

bool dfl_nest_sizes_are_countable(dfl_nest *nest)
{
    for (uint32_t e = 0; nest->workload->n_einsums > 1 && e < nest->workload->n_einsums; e++)
        for (uint32_t i = 0; i < nest->paths->paths[e].n_steps; i++)
            refuse_differing(nest, e, i);
    return !nest->refused;
}

static bool check_einsum(dfl_nest *nest, uint32_t e)
{
    const dfl_einsum *me = &nest->workload->einsums[e];
    const dfl_path *path = &nest->paths->paths[e];

    for (uint32_t c = 0; path->has_exchange && path->exchange.restricts && c < path->exchange.n_consumers; c++)
        if (me->n_where > 0 || nest->workload->einsums[path->exchange.consumers[c]].n_where > 0)
            dfl_nest_refuse(nest, me->span, "a restricted producer that has, or whose reader has, a `where` clause",
                            "give both a loop over a rank that the producer has");
    dfl_i128 points;
    if (!dfl_einsum_countable(nest->workload, me))
        dfl_nest_refuse(nest, me->span, "an einsum with a `where` over ranks that are too long to be visited one by one",
                        "write conditions with fewer ranks, or use smaller extents: all ranks of connected conditions but the "
                        "longest are visited, 2^22 positions at most");
    else if (me->n_where > 0 && !dfl_einsum_work(nest->workload, me, &points) && points == 0)
        dfl_nest_refuse(nest, me->span, "an einsum whose conditions no point satisfies",
                        "write conditions that some point satisfies, or remove the einsum");
    if (path->n_steps > DFL_MAX_STEPS)
        dfl_nest_refuse(nest, path->leaf->span, "a path of more than 64 loops and groups of keeps",
                        "write keeps of different tensors next to each other: they make one group");
    for (uint32_t i = 0; i < path->n_steps && i < DFL_MAX_STEPS; i++) {
        if (path->steps[i].line->kind != DFL_LINE_KEEP && path->steps[i].line->cyclic)
            dfl_nest_refuse(nest, path->steps[i].line->span, "a cyclic loop",
                            "write `spatial r:T cyclic on axis;` and `temporal r:T;` directly below it");
        refuse_differing(nest, e, i);
        for (uint32_t k = 0; k < i && is_temporal(path, i) && path->steps[i].line->online && path->steps[i].rank != DFL_NONE; k++)
            if (is_temporal(path, k) && !path->steps[k].line->online && path->steps[k].rank == path->steps[i].rank)
                dfl_nest_refuse(nest, path->steps[i].line->span, "an `online` loop inside a loop over the same rank that is not "
                            "`online`",
                                "write `online` on the outer loop, too");
    }
    for (uint32_t i = 0; i < me->n_inputs + 1; i++) {
        const dfl_access *a = i < me->n_inputs ? &me->inputs[i] : &me->output;
        for (uint32_t d = 0; d < a->n_dims; d++) {
            dfl_i128 reach = a->index[d].offset;
            for (uint32_t t = 0; t < a->index[d].n_terms; t++) {
                dfl_i128 part;
                if (dfl_mul(a->index[d].terms[t].coef, nest->workload->ranks[a->index[d].terms[t].rank].extent, &part))
                    part = (dfl_i128)1 << 100;
                reach += part < 0 ? -part : part;
            }
            if (reach > (dfl_i128)1 << DFL_INDEX_BITS)
                dfl_nest_refuse(nest, a->span, "an index beyond 2^61", "use smaller extents");
        }
    }
    return !nest->refused;
}

/* Finds the steps that cut each rank of an einsum, and the spatial steps of the einsum. */
static void find_cuts(dfl_nest *nest, uint32_t e)
{
    const dfl_einsum *me = &nest->workload->einsums[e];
    const dfl_path *path = &nest->paths->paths[e];

    nest->cuts[e] = DFL_NEW_ARRAY(nest->arena, uint64_t, me->n_ranks + 1);
    for (uint32_t i = 0; i < path->n_steps; i++) {
        if (path->steps[i].line->kind == DFL_LINE_SPATIAL)
            nest->spatial[e] |= UINT64_C(1) << i;
        for (uint32_t k = 0; path->steps[i].rank != DFL_NONE && k < me->n_ranks; k++)
            nest->cuts[e][k] |= me->ranks[k] == path->steps[i].rank ? UINT64_C(1) << i : 0;
    }
}

bool dfl_nest_init(dfl_nest *nest, dfl_arena *arena, dfl_sink *sink, const dfl_intern *names,
                   const dfl_paths *paths)
{
    const dfl_mapping *m = paths->mapping;
    uint32_t n = m->workload->n_einsums;

    *nest = (dfl_nest){ .arena = arena, .sink = sink, .names = names, .input_paths = paths, .mapping = m,
                        .workload = m->workload, .system = m->system };
    nest->numbers = dfl_step_numbers_make(arena, paths);
    nest->paths = &nest->numbers->paths;
    nest->demands = DFL_NEW_ARRAY(arena, dfl_demand *, n);
    nest->gates = DFL_NEW_ARRAY(arena, uint32_t *, n);
    nest->n_gates = DFL_NEW_ARRAY(arena, uint32_t, n);
    nest->cuts = DFL_NEW_ARRAY(arena, uint64_t *, n + 1);
    nest->spatial = DFL_NEW_ARRAY(arena, uint64_t, n + 1);
    nest->trigger = DFL_NEW_ARRAY(arena, uint32_t, n);
    nest->trigger_steps = DFL_NEW_ARRAY(arena, uint32_t, n);
    for (uint32_t e = 0; e < n; e++)
        nest->trigger[e] = DFL_NONE;
    if (m->refused)
        dfl_nest_refuse(nest, m->refused_span, m->refused, "remove it to evaluate the rest");
    for (uint32_t c = 0; c < nest->system->n_computes; c++)
        if (nest->system->computes[c].units > 0)
            dfl_nest_refuse(nest, nest->system->computes[c].span, "a unit with `units` outside of a plan over chips",
                            "declare an array of units");
    if (nest->workload->n_carries > 0)
        dfl_nest_refuse(nest, nest->workload->span, "a `repeat` that carries a tensor",
                        "evaluate one iteration as a workload of its own");
    for (uint32_t e = 0; e < nest->workload->n_einsums; e++)
        if (nest->workload->einsums[e].rows_span.start != 0)
            dfl_nest_refuse(nest, nest->workload->einsums[e].rows_span, "`reuse` or `load` outside of a plan over chips",
                            "leave it out: the rows of all positions count");
    for (uint32_t e = 0; e < n; e++)
        if (dfl_einsum_renews_any(nest->workload, &nest->workload->einsums[e]))
            dfl_nest_refuse(nest, nest->workload->einsums[e].span, "an optimizer that writes its moments back",
                            "evaluate the step as a plan over chips, or train with an optimizer without state: "
                            "`sgd` in the data type of the weights");
        else if (nest->workload->einsums[e].body->kind == DFL_EOP_SCATTER)
            dfl_nest_refuse(nest, nest->workload->einsums[e].span, "a gradient that is added to rows of a table",
                            "evaluate the step as a plan over chips");
    for (uint32_t e = 0; e < n; e++)
        if (paths->paths[e].has_exchange && paths->paths[e].exchange.restricts &&
            nest->workload->tensors[nest->workload->einsums[e].output.tensor].n_producers > 1)
            dfl_nest_refuse(nest, nest->workload->einsums[e].span,
                            "a restricted producer of a tensor that several einsums produce",
                            "give each result a name of its own, or give the loops ranks of the producers");
    for (uint32_t e = 0; e < n; e++)
        if (paths->paths[e].has_exchange && paths->paths[e].exchange.restricts && paths->paths[e].exchange.recompute &&
            dfl_tensor_is_updated(&nest->workload->tensors[nest->workload->einsums[e].output.tensor]))
            dfl_nest_refuse(nest, nest->workload->einsums[e].span, "an update of a state that `recompute` repeats",
                            "keep the state further out, and remove `recompute`");
    for (uint32_t e = 0; e < n && !nest->refused; e++)
        check_einsum(nest, e);
    for (uint32_t e = 0; e < n && !nest->refused; e++)
        find_cuts(nest, e);
    return !nest->refused;
}

