/* Counting operations. */
#include "model/counts/operations.h"

#include "model/counts/padding.h"
#include "model/sets/rank_piece.h"
#include "support/vec.h"

dfl_work *dfl_work_make(dfl_setting *set)
{
    dfl_work *all = DFL_NEW_ARRAY(set->arena, dfl_work, set->w->n_einsums + 1);

    for (uint32_t e = 0; e < set->w->n_einsums; e++) {
        const dfl_einsum *einsum = &set->w->einsums[e];
        const dfl_path *p = &set->paths->paths[e];
        dfl_work *w = &all[e];
        dfl_i128 inside = 0;

        w->over = dfl_einsum_points(set->w, einsum, &w->points) ||
                  !dfl_points_inside(set->arena, set->w, einsum, &inside) ||
                  dfl_mul(w->points, einsum->flops_per_point, &w->flops);
        if (!dfl_budget_ok(dfl_arena_budget(set->arena))) {
            dfl_report_stop(set->sink, dfl_arena_budget(set->arena));
            return NULL;
        }
        w->padding = einsum->is_mac ? w->points - inside : 0;
        w->outputs = 1;
        for (uint32_t d = 0; d < einsum->output.n_dims; d++)
            w->over |= dfl_mul(w->outputs, set->w->tensors[einsum->output.tensor].extents[d], &w->outputs);
        for (uint32_t i = 0; i < p->n_steps; i++)
            w->online |= p->steps[i].line->kind == DFL_LINE_TEMPORAL && p->steps[i].line->online;
    }
    return all;
}

/* Iterations of the online loops over one rank, from step `i` on; tiles are full up to the last. */
static dfl_i128 online_blocks(const dfl_setting *set, uint32_t e, uint32_t rank, uint32_t i, int64_t *pos)
{
    const dfl_path *p = &set->paths->paths[e];

    while (i < p->n_steps && !(p->steps[i].line->kind == DFL_LINE_TEMPORAL && p->steps[i].line->online &&
                               p->steps[i].rank == rank))
        i++;
    if (i == p->n_steps)
        return 1;
    int64_t trips = dfl_place_trips(set, e, i, pos);
    pos[i] = 0;
    dfl_i128 full = online_blocks(set, e, rank, i + 1, pos);
    pos[i] = trips - 1;
    dfl_i128 last = online_blocks(set, e, rank, i + 1, pos);
    pos[i] = 0;
    return full * (trips - 1) + last;
}

/* Every iteration of the online loops but the first rescales the results that it adds to (MODEL.md, rule 12). True on
   overflow. */
static bool online_work(const dfl_setting *set, uint32_t e, dfl_i128 outputs, dfl_i128 *out)
{
    const dfl_einsum *einsum = &set->w->einsums[e];
    int64_t pos[DFL_MAX_STEPS] = { 0 };
    dfl_i128 blocks = 1;

    for (uint32_t k = 0; k < einsum->n_ranks; k++) {
        bool indexes = false;
        for (uint32_t d = 0; d < einsum->output.n_dims; d++)
            for (uint32_t t = 0; t < einsum->output.index[d].n_terms; t++)
                indexes |= einsum->output.index[d].terms[t].rank == einsum->ranks[k];
        if (!indexes)
            blocks *= online_blocks(set, e, einsum->ranks[k], 0, pos);
    }
    return dfl_mul(outputs, blocks - 1, out);
}

static bool too_many(dfl_setting *set, const dfl_einsum *einsum)
{
    dfl_diag *d = dfl_report(set->sink, DFL_EVAL_OVERFLOW, einsum->span, "einsum `%s` has more than 2^127 operations",
                             dfl_sym_text(set->names, einsum->name));

    dfl_diag_help(set->sink, d, "use smaller extents");
    return false;
}

bool dfl_work_count(dfl_setting *set, const dfl_work *work, const dfl_traffic_sums *sums, dfl_result *r,
                    dfl_einsum_cost *costs)
{
    r->macs = r->flops = r->padding = r->extra = 0;
    for (uint32_t e = 0; e < set->w->n_einsums; e++) {
        const dfl_einsum *einsum = &set->w->einsums[e];
        const dfl_work *w = &work[e];
        dfl_einsum_cost *c = &costs[e];
        dfl_i128 rescaled = 0;

        bool over = w->over || (w->online && online_work(set, e, w->outputs, &rescaled));
        if (w->points > 0 && sums->points[e] != w->points) { /* repeated work repeats its rescaling */
            over |= dfl_mul(rescaled, sums->points[e], &rescaled);
            rescaled /= w->points;
        }
        c->points = sums->points[e];
        c->steps = sums->steps[e];
        c->compute = set->paths->paths[e].compute;
        c->macs = einsum->is_mac ? w->points : 0;
        c->flops = einsum->is_mac ? 0 : w->flops;
        c->padding = w->padding;
        over |= dfl_add(sums->points[e] - w->points, rescaled, &c->extra);
        over |= dfl_add(r->macs, c->macs, &r->macs);
        over |= dfl_add(r->flops, c->flops, &r->flops);
        r->padding += c->padding; /* of the MACs */
        over |= dfl_add(r->extra, c->extra, &r->extra);
        if (over)
            return too_many(set, einsum);
    }
    return true;
}
