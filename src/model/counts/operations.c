/* Numbers of executed and additional operations. */
#include "model/counts/operations.h"

#include "model/counts/padding.h"
#include "model/sets/rank_piece.h"
#include "support/vec.h"

static bool has_index(const dfl_access *access, uint32_t rank)
{
    for (uint32_t d = 0; d < access->n_dims; d++)
        for (uint32_t t = 0; t < access->index[d].n_terms; t++)
            if (access->index[d].terms[t].rank == rank)
                return true;
    return false;
}

/* Plans the rescaling of an einsum with conditions: the elements of the result that each iteration of an `online` loop
   adds to, all instances united. False after E0609. */
static bool plan_rescaling(dfl_nest *nest, uint32_t e, dfl_operations *out)
{
    const dfl_path *path = &nest->paths->paths[e];
    const dfl_access *result = &nest->workload->einsums[e].output;
    uint32_t *steps = DFL_NEW_ARRAY(nest->arena, uint32_t, path->n_steps + 1);

    out->rescaled = DFL_NEW_ARRAY(nest->arena, dfl_delta *, path->n_steps + 1);
    for (uint32_t i = 0; i < path->n_steps; i++) {
        const dfl_path_step *step = &path->steps[i];
        if (step->line->kind != DFL_LINE_TEMPORAL || !step->line->online || step->rank == DFL_NONE ||
            has_index(result, step->rank))
            continue;
        dfl_reference *reference = DFL_NEW(nest->arena, dfl_reference);
        dfl_footprint *footprint = DFL_NEW(nest->arena, dfl_footprint);
        const dfl_sharing how = { .united = nest->spatial[e] & dfl_nest_steps_below(i + 1), .forward = DFL_NONE };
        *reference = (dfl_reference){ e, result };
        *footprint = (dfl_footprint){ .einsum = e, .n = i + 1, .restart = i + 1, .tensor = result->tensor,
                                      .references = reference, .n_references = 1, .span = step->line->span };
        /* split here, so that the footprint has no product form and its delta counts by steps */
        if (!dfl_footprint_split(nest, footprint))
            return false;
        out->rescaled[out->n_rescaled] = dfl_delta_of(nest, footprint, &how, true);
        if (!out->rescaled[out->n_rescaled])
            return false;
        steps[out->n_rescaled++] = i;
    }
    out->rescaling = steps;
    return true;
}

dfl_operations *dfl_operations_make(dfl_nest *nest)
{
    dfl_operations *all = DFL_NEW_ARRAY(nest->arena, dfl_operations, nest->workload->n_einsums + 1);

    for (uint32_t e = 0; e < nest->workload->n_einsums; e++) {
        const dfl_einsum *einsum = &nest->workload->einsums[e];
        const dfl_path *path = &nest->paths->paths[e];
        dfl_operations *operations = &all[e];
        dfl_i128 inside = 0;

        operations->over = dfl_einsum_work(nest->workload, einsum, &operations->points) ||
                  !dfl_padding_points_inside(nest->arena, nest->workload, einsum, &inside) ||
                  dfl_einsum_point_flops(nest->workload, einsum, &operations->flops) ||
                  dfl_mul(operations->points, operations->flops, &operations->flops);
        if (!dfl_budget_ok(dfl_arena_budget(nest->arena))) {
            dfl_report_stop(nest->sink, dfl_arena_budget(nest->arena));
            return NULL;
        }
        operations->padding = einsum->is_mac ? operations->points - inside : 0;
        operations->outputs = 1;
        for (uint32_t d = 0; d < einsum->output.n_dims; d++)
            operations->over |= dfl_mul(operations->outputs, nest->workload->tensors[einsum->output.tensor].extents[d],
                                        &operations->outputs);
        for (uint32_t i = 0; i < path->n_steps; i++)
            operations->online |= path->steps[i].line->kind == DFL_LINE_TEMPORAL && path->steps[i].line->online;
        if (operations->online && einsum->n_where > 0 && !plan_rescaling(nest, e, operations))
            return NULL;
    }
    return all;
}

/* Number of iterations of the online loops over one rank from step `i` on. All tiles of a loop except the last one are
   full. */
static dfl_i128 count_online_blocks(const dfl_nest *nest, uint32_t e, uint32_t rank, uint32_t i, int64_t *pos)
{
    const dfl_path *path = &nest->paths->paths[e];

    while (i < path->n_steps && !(path->steps[i].line->kind == DFL_LINE_TEMPORAL && path->steps[i].line->online &&
                                  path->steps[i].rank == rank))
        i++;
    if (i == path->n_steps)
        return 1;
    int64_t trips = dfl_rank_piece_trips(nest, e, i, pos);
    pos[i] = 0;
    dfl_i128 full = count_online_blocks(nest, e, rank, i + 1, pos);
    pos[i] = trips - 1;
    dfl_i128 last = count_online_blocks(nest, e, rank, i + 1, pos);
    pos[i] = 0;
    return full * (trips - 1) + last;
}

/* Rescaling of running results: each iteration of the online loops except the first costs one operation for each result
   that it adds to (MODEL.md, rule 12). True on overflow. */
static bool count_rescaling(const dfl_nest *nest, uint32_t e, dfl_i128 outputs, dfl_i128 *out)
{
    const dfl_einsum *einsum = &nest->workload->einsums[e];
    int64_t pos[DFL_MAX_STEPS] = { 0 };
    dfl_i128 blocks = 1;

    for (uint32_t k = 0; k < einsum->n_ranks; k++) {
        bool indexes = false;
        for (uint32_t d = 0; d < einsum->output.n_dims; d++)
            for (uint32_t t = 0; t < einsum->output.index[d].n_terms; t++)
                indexes |= einsum->output.index[d].terms[t].rank == einsum->ranks[k];
        if (!indexes)
            blocks *= count_online_blocks(nest, e, einsum->ranks[k], 0, pos);
    }
    return dfl_mul(outputs, blocks - 1, out);
}

static bool report_too_many(dfl_nest *nest, const dfl_einsum *einsum)
{
    dfl_diag *d = dfl_report(nest->sink, DFL_EVAL_OVERFLOW, einsum->span, "einsum `%s` has more than 2^127 operations",
                             dfl_sym_text(nest->names, einsum->name));

    dfl_diag_help(nest->sink, d, "use smaller extents");
    return false;
}

bool dfl_operations_count(dfl_nest *nest, const dfl_operations *work, const dfl_traffic_sums *sums, dfl_result *r,
                          dfl_einsum_cost *costs)
{
    r->macs = r->flops = r->padding = r->extra = 0;
    for (uint32_t e = 0; e < nest->workload->n_einsums; e++) {
        const dfl_einsum *einsum = &nest->workload->einsums[e];
        const dfl_operations *operations = &work[e];
        dfl_einsum_cost *c = &costs[e];
        dfl_i128 rescaled = 0;

        bool over = operations->over || (operations->online && einsum->n_where == 0 &&
                                         count_rescaling(nest, e, operations->outputs, &rescaled));
        for (uint32_t i = 0; i < operations->n_rescaled; i++) {
            dfl_delta *delta = operations->rescaled[i];
            if (!dfl_delta_fill(nest, delta))
                return false;
            over |= dfl_add(rescaled, delta->entering_by_step[operations->rescaling[i]], &rescaled);
        }
        if (operations->points > 0 && sums->points[e] != operations->points) { /* repeated points repeat the rescaling of their
                                                                                  results */
            over |= dfl_mul(rescaled, sums->points[e], &rescaled);
            rescaled /= operations->points;
        }
        c->points = sums->points[e];
        c->steps = sums->steps[e];
        c->compute = nest->paths->paths[e].compute;
        c->macs = einsum->is_mac ? operations->points : 0;
        c->flops = einsum->is_mac ? 0 : operations->flops;
        c->padding = operations->padding;
        over |= dfl_add(sums->points[e] - operations->points, rescaled, &c->extra);
        over |= dfl_add(r->macs, c->macs, &r->macs);
        over |= dfl_add(r->flops, c->flops, &r->flops);
        r->padding += c->padding; /* padding is a part of the MACs, so the sum cannot overflow */
        over |= dfl_add(r->extra, c->extra, &r->extra);
        if (over)
            return report_too_many(nest, einsum);
    }
    return true;
}

