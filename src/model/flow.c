/* Combining the groups of a point. */
#include "model/flow.h"

#include "model/group.h"
#include "support/vec.h"

bool dfl_sharing_equal(const dfl_sharing *a, const dfl_sharing *b)
{
    return a->united == b->united && a->inside == b->inside && a->first_only == b->first_only && a->forward == b->forward &&
           a->box == b->box && a->fresh == b->fresh;
}

static const dfl_sums *sums_of(dfl_setting *set, const dfl_point *point, dfl_group *g, const dfl_sharing *how)
{
    uint64_t mine = 0;
    dfl_sharing part = *how;

    part.fresh = 0; /* matters when groups are combined, not inside one */
    for (uint32_t k = 0; k < g->n_spatial; k++)
        mine |= UINT64_C(1) << g->spatial[k];
    part.united &= mine;
    part.inside &= mine;
    part.first_only &= mine;
    if (part.forward != DFL_NONE && !(mine >> part.forward & 1))
        part.forward = DFL_NONE;
    for (const dfl_kept_sums *k = g->kept; k; k = k->next)
        if (dfl_sharing_equal(&k->how, &part))
            return &k->sums;
    dfl_kept_sums *fresh = DFL_NEW(set->arena, dfl_kept_sums);
    fresh->how = part;
    if (!dfl_group_sums(set, point, g, &part, &fresh->sums)) {
        dfl_report_stop(set->sink, dfl_arena_budget(set->arena));
        return NULL;
    }
    fresh->next = g->kept;
    g->kept = fresh;
    return &fresh->sums;
}

typedef struct { dfl_i128 enter, kept, leave, left_kept; } product;

static void times(product *p, const dfl_pair *q, bool *over)
{
    *over |= dfl_mul(p->enter, q->enter, &p->enter);
    *over |= dfl_mul(p->kept, q->kept, &p->kept);
    *over |= dfl_mul(p->leave, q->leave, &p->leave);
    *over |= dfl_mul(p->left_kept, q->left_kept, &p->left_kept);
}

static bool too_big(dfl_setting *set, dfl_span at)
{
    dfl_diag *d = dfl_report(set->sink, DFL_EVAL_OVERFLOW, at, "a count of this mapping passes 2^127");

    dfl_diag_help(set->sink, d, "use smaller extents");
    return false;
}

/* The steps of loop `j`: its group advances, the others hold. */
static product advance(const dfl_point *point, const dfl_sums *const *sums, uint32_t j, bool *over)
{
    product p = { 1, 1, 1, 1 };

    for (uint32_t g = 0; g < point->n_groups; g++) {
        const dfl_group *group = &point->groups[g];
        uint32_t k = 0;
        while (k < group->n_lines && group->lines[k] <= j)
            k++;
        times(&p, point->line_group[j] == g ? &sums[g]->adv[k] : &sums[g]->hold[k], over);
    }
    return p;
}

/* `loops` may be NULL. */
static bool compute_flow(dfl_setting *set, dfl_point *point, const dfl_sharing *how, dfl_flow *out, dfl_flow_loops *loops)
{
    const dfl_path *p = &set->paths->paths[point->einsum];
    uint64_t covering = UINT64_MAX;
    uint32_t unequal = 0;
    bool over = false;

    const dfl_sums **sums = DFL_NEW_ARRAY(set->arena, const dfl_sums *, point->n_groups + 1);
    product first = { 1, 1, 1, 1 };
    *out = (dfl_flow){ .present = 1, .most = 1 };
    for (uint32_t g = 0; g < point->n_groups; g++) {
        sums[g] = sums_of(set, point, &point->groups[g], how);
        if (!sums[g])
            return false;
        covering &= sums[g]->covering;
        unequal += !sums[g]->equal;
        over |= sums[g]->overflow;
        out->late |= sums[g]->late;
        times(&first, &sums[g]->hold[0], &over);
        over |= dfl_mul(out->present, sums[g]->present, &out->present);
        over |= dfl_mul(out->most, sums[g]->most, &out->most);
    }
    if (unequal > 1 && covering == 0) {
        dfl_setting_refuse(set, point->span, "a tile that is no product of intervals (its readers want different parts)",
                           "keep the tensor in the branches of its readers");
        return false;
    }
    out->enter = first.enter;
    out->leave = first.leave;
    for (uint32_t j = 0; j < point->n; j++) {
        if (p->steps[j].line->kind != DFL_LINE_TEMPORAL || point->line_group[j] == DFL_NONE)
            continue;
        product at = advance(point, sums, j, &over);
        bool anew = j < point->restart || j < how->fresh;
        over |= dfl_add(out->enter, at.enter - (anew ? 0 : at.kept), &out->enter);
        over |= dfl_add(out->leave, at.leave - (anew ? 0 : at.left_kept), &out->leave);
        if (loops) {
            loops->enter[j] = at.enter - (anew ? 0 : at.kept);
            loops->leave[j] = at.leave - (anew ? 0 : at.left_kept);
            loops->whole[j] = anew || at.kept == 0;
        }
    }
    if (loops) {
        loops->enter[point->n] = first.enter;
        loops->leave[point->n] = first.leave;
        loops->whole[point->n] = true;
    }
    return over ? too_big(set, point->span) : true;
}

/* Only what makes a difference at the point. */
static bool plain_sharing(dfl_setting *set, dfl_point *point, const dfl_sharing *how, dfl_sharing *out)
{
    if (!point->groups && !dfl_groups_make(set, point))
        return false;
    *out = *how;
    out->united &= point->spatial;
    out->inside &= point->spatial;
    out->first_only &= point->spatial;
    return true;
}

bool dfl_flow_of(dfl_setting *set, dfl_point *point, const dfl_sharing *asked, dfl_flow *out)
{
    dfl_sharing how;

    if (!plain_sharing(set, point, asked, &how))
        return false;
    for (const dfl_kept_flow *k = point->flows; k; k = k->next)
        if (dfl_sharing_equal(&k->how, &how)) {
            *out = k->flow;
            return true;
        }
    if (!compute_flow(set, point, &how, out, NULL))
        return false;
    dfl_kept_flow *kept = DFL_NEW(set->arena, dfl_kept_flow);
    *kept = (dfl_kept_flow){ how, *out, point->flows };
    point->flows = kept;
    return true;
}

bool dfl_flow_by_loop(dfl_setting *set, dfl_point *point, const dfl_sharing *how, dfl_flow_loops *out)
{
    dfl_flow unused;
    dfl_sharing plain;

    *out = (dfl_flow_loops){ 0 };
    return plain_sharing(set, point, how, &plain) && compute_flow(set, point, &plain, &unused, out);
}

int64_t dfl_flow_most(dfl_setting *set, dfl_point *point, uint32_t group, const dfl_sharing *how)
{
    const dfl_sums *s = sums_of(set, point, &point->groups[group], how);

    return s ? s->most : 0;
}

bool dfl_flow_distinct(dfl_setting *set, const dfl_access *a, dfl_i128 *out)
{
    const dfl_tensor *t = &set->w->tensors[a->tensor];
    bool over = false;

    *out = 1;
    for (uint32_t d = 0; d < a->n_dims; d++) {
        dfl_runs set_of = { 0 }, next = { 0 };
        dfl_runs_clear(&set_of);
        dfl_runs_add(set->arena, &set_of, a->index[d].offset, a->index[d].offset + 1);
        for (uint32_t k = 0; k < a->index[d].n_terms; k++) {
            int64_t coef = a->index[d].terms[k].coef, extent = set->w->ranks[a->index[d].terms[k].rank].extent;
            dfl_runs_clear(&next);
            if (coef == 1 && set_of.n == 1) {
                dfl_runs_add(set->arena, &next, set_of.at[0].lo, set_of.at[0].hi + extent - 1);
            } else {
                for (int64_t i = 0; i < extent && dfl_budget_spend(dfl_arena_budget(set->arena), 4 * set_of.n); i++)
                    for (size_t r = 0; r < set_of.n; r++)
                        dfl_runs_add(set->arena, &next, set_of.at[r].lo + coef * i, set_of.at[r].hi + coef * i);
                dfl_runs_normalise(&next);
            }
            dfl_runs swap = set_of;
            set_of = next;
            next = swap;
        }
        int64_t n = 0;
        for (size_t r = 0; r < set_of.n; r++) {
            int64_t lo = set_of.at[r].lo < 0 ? 0 : set_of.at[r].lo;
            int64_t hi = set_of.at[r].hi > t->extents[d] ? t->extents[d] : set_of.at[r].hi;
            n += hi > lo ? hi - lo : 0;
        }
        over |= dfl_mul(*out, n, out);
    }
    if (!dfl_budget_ok(dfl_arena_budget(set->arena)))
        return dfl_report_stop(set->sink, dfl_arena_budget(set->arena));
    return over ? too_big(set, a->span) : true;
}
