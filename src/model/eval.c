/* One evaluation: setting, keeps, counts, costs. */
#include "model/model.h"

#include "model/cost.h"
#include "model/padding.h"
#include "support/vec.h"

/* Sums the keeps into one row per memory and tensor. */
static dfl_traffic *gather_traffic(dfl_setting *set, const dfl_keeps *keeps, const dfl_traffic_sums *sums,
                                   const dfl_i128 *bits, uint32_t *n)
{
    dfl_traffic *rows = DFL_NEW_ARRAY(set->arena, dfl_traffic, keeps->n + 1);

    *n = 0;
    for (uint32_t m = 0; m < set->s->n_memories; m++)
        for (uint32_t t = 0; t < set->w->n_tensors; t++) {
            dfl_traffic *row = NULL;
            for (uint32_t i = 0; i < keeps->n; i++) {
                if (keeps->at[i].line->memory != m || keeps->at[i].line->tensor != t)
                    continue;
                if (!row) {
                    row = &rows[(*n)++];
                    *row = (dfl_traffic){ .memory = m, .tensor = t };
                }
                const dfl_counts *a = &sums->all[i];
                dfl_counts *x = &row->counts;
                *x = (dfl_counts){ x->serve + a->serve, x->drain + a->drain, x->accumulate + a->accumulate,
                                   x->fill + a->fill, x->update + a->update };
                row->peak_bits = bits[i] > row->peak_bits ? bits[i] : row->peak_bits;
            }
        }
    return rows;
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

/* Every iteration of the online loops but the first rescales the results that it adds to (MODEL.md, rule 12). */
static dfl_i128 online_work(const dfl_setting *set, uint32_t e)
{
    const dfl_einsum *einsum = &set->w->einsums[e];
    int64_t pos[DFL_MAX_STEPS] = { 0 };
    dfl_i128 outputs = 1, blocks = 1;

    for (uint32_t d = 0; d < einsum->output.n_dims; d++)
        outputs *= set->w->tensors[einsum->output.tensor].extents[d];
    for (uint32_t k = 0; k < einsum->n_ranks; k++) {
        bool indexes = false;
        for (uint32_t d = 0; d < einsum->output.n_dims; d++)
            for (uint32_t t = 0; t < einsum->output.index[d].n_terms; t++)
                indexes |= einsum->output.index[d].terms[t].rank == einsum->ranks[k];
        if (!indexes)
            blocks *= online_blocks(set, e, einsum->ranks[k], 0, pos);
    }
    return outputs * (blocks - 1);
}

static bool count_work(dfl_setting *set, const dfl_traffic_sums *sums, dfl_result *r, dfl_einsum_cost *costs)
{
    for (uint32_t e = 0; e < set->w->n_einsums; e++) {
        const dfl_einsum *einsum = &set->w->einsums[e];
        dfl_i128 points = 0, inside = 0, flops = 0;
        bool over = dfl_einsum_points(set->w, einsum, &points);
        over = over || !dfl_points_inside(set->arena, set->w, einsum, &inside);
        over = over || dfl_mul(points, einsum->flops_per_point, &flops);
        if (over) {
            if (!dfl_budget_ok(dfl_arena_budget(set->arena)))
                return dfl_report_stop(set->sink, dfl_arena_budget(set->arena));
            dfl_diag *d = dfl_report(set->sink, DFL_EVAL_OVERFLOW, einsum->span, "einsum `%s` has more than 2^127 points",
                                     dfl_sym_text(set->names, einsum->name));
            dfl_diag_help(set->sink, d, "use smaller extents");
            return false;
        }
        dfl_einsum_cost *c = &costs[e];
        c->points = sums->points[e];
        c->steps = sums->steps[e];
        c->compute = set->paths->paths[e].compute;
        c->macs = einsum->is_mac ? points : 0;
        c->flops = einsum->is_mac ? 0 : flops;
        c->padding = einsum->is_mac ? points - inside : 0;
        /* repeated work repeats its rescaling */
        c->extra = sums->points[e] - points + (points > 0 ? online_work(set, e) * sums->points[e] / points : 0);
        r->macs += c->macs;
        r->flops += c->flops;
        r->padding += c->padding;
        r->extra += c->extra;
    }
    return true;
}

const dfl_result *dfl_model_eval(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths)
{
    dfl_setting set;
    dfl_keeps keeps;
    dfl_traffic_sums sums;
    const dfl_system *s = paths->mapping->system;
    dfl_result *r = DFL_NEW(arena, dfl_result);
    dfl_einsum_cost *einsums = DFL_NEW_ARRAY(arena, dfl_einsum_cost, paths->mapping->workload->n_einsums + 1);
    dfl_memory_cost *memories = DFL_NEW_ARRAY(arena, dfl_memory_cost, s->n_memories + 1);
    dfl_link_cost *links = DFL_NEW_ARRAY(arena, dfl_link_cost, s->n_axes + 1);

    if (!dfl_setting_init(&set, arena, sink, names, paths) || !dfl_keeps_make(&set, &keeps) ||
        !dfl_traffic_count(&set, &keeps, &sums))
        return NULL;
    dfl_i128 *bits = DFL_NEW_ARRAY(arena, dfl_i128, keeps.n + 1);
    for (uint32_t m = 0; m < s->n_memories; m++)
        memories[m].memory = m;
    for (uint32_t a = 0; a < s->n_axes; a++)
        links[a] = (dfl_link_cost){ a, sums.forwarded[a] };
    bool fits = dfl_cost_room(&set, &keeps, &sums, memories, bits);
    if (!count_work(&set, &sums, r, einsums) || !fits)
        return NULL;
    dfl_traffic *traffic = gather_traffic(&set, &keeps, &sums, bits, &r->n_traffic);
    r->mapping = paths->mapping;
    r->traffic = traffic;
    r->einsums = einsums;
    r->memories = memories;
    r->links = links;
    if (!dfl_cost_time(&set, &keeps, &sums, r, einsums, memories))
        return NULL;
    dfl_cost_energy(&set, &keeps, &sums, r, traffic, einsums, memories);
    return r;
}
