/* Deltas: choice of the way to count, and the combination of group sums to counts of a tile. */
#include "model/counts/delta.h"

#include <string.h>

#include "model/counts/group_sums.h"
#include "model/counts/product_form.h"
#include "support/vec.h"

static bool is_same_sharing(const dfl_sharing *a, const dfl_sharing *b)
{
    return a->united == b->united && a->inside == b->inside && a->first_only == b->first_only && a->forward == b->forward &&
           a->anew == b->anew && a->box == b->box && a->made == b->made;
}

static uint64_t find_spatial_steps(const dfl_group *group)
{
    uint64_t steps = 0;

    for (uint32_t k = 0; k < group->n_spatial; k++)
        steps |= UINT64_C(1) << group->spatial[k];
    return steps;
}

/* Reduces a way of sharing to the parts that affect a group. */
static dfl_sharing reduce_sharing(const dfl_group *group, const dfl_sharing *how)
{
    uint64_t mine = find_spatial_steps(group);
    dfl_sharing part = *how;

    part.united &= mine;
    part.inside &= mine;
    part.first_only &= mine;
    if (part.forward != DFL_NONE && !(mine >> part.forward & 1)) {
        part.forward = DFL_NONE;
        part.anew = false;
    }
    return part;
}

/* The entry for the sums of a group under a way of sharing, found or new. */
static dfl_group_sums_entry *find_sums(dfl_nest *nest, dfl_group *group, const dfl_sharing *how)
{
    dfl_sharing part = reduce_sharing(group, how);

    for (dfl_group_sums_entry *k = group->kept; k; k = k->next)
        if (is_same_sharing(&k->how, &part))
            return k;
    dfl_group_sums_entry *fresh = DFL_NEW(nest->arena, dfl_group_sums_entry);
    *fresh = (dfl_group_sums_entry){ .how = part, .next = group->kept,
                                     .sums.hold = DFL_NEW_ARRAY(nest->arena, dfl_group_change, 2 * (group->n_lines + 1)) };
    fresh->sums.adv = fresh->sums.hold + group->n_lines + 1;
    group->kept = fresh;
    return fresh;
}

/* Computes the sums of a group at the present sizes. NULL after E0602 (the budget is spent). */
static const dfl_group_sums *fill_sums(dfl_nest *nest, const dfl_footprint *footprint, dfl_group *group, dfl_group_sums_entry *k)
{
    if (k->run == nest->run)
        return &k->sums;
    if (group->run != nest->run)
        dfl_footprint_resize_group(nest, footprint, group);
    if (!dfl_group_sums_take(nest, footprint, group, &k->how, NULL, &k->sums)) {
        dfl_report_stop(nest->sink, dfl_arena_budget(nest->arena));
        return NULL;
    }
    k->run = nest->run;
    return &k->sums;
}

dfl_delta *dfl_delta_of_size(dfl_nest *nest, dfl_footprint *footprint, const dfl_sharing *asked)
{
    dfl_delta *delta;
    dfl_sharing how = *asked;

    if (!footprint->groups) {
        if (!dfl_footprint_split(nest, footprint))
            return NULL;
        dfl_product_form_find(nest, footprint);
        footprint->next = nest->footprints;
        nest->footprints = footprint;
    }
    how.inside &= footprint->spatial;
    how.first_only &= footprint->spatial & ~how.inside;
    how.united &= footprint->spatial & ~(how.inside | how.first_only);
    if (footprint->product.possible && !how.box)
        how.united &= ~footprint->product.dims; /* instances along these steps share no element: their tiles are disjoint */
    for (delta = footprint->deltas; delta && !is_same_sharing(&delta->how, &how);)
        delta = delta->next;
    if (!delta) {
        delta = DFL_NEW(nest->arena, dfl_delta);
        *delta = (dfl_delta){ .footprint = footprint, .how = how, .next = footprint->deltas };
        footprint->deltas = delta;
        dfl_product_form_share(nest, delta);
        delta->parts = DFL_NEW_ARRAY(nest->arena, dfl_group_sums_entry *, footprint->n_groups + 1);
        for (uint32_t g = 0; g < footprint->n_groups; g++)
            delta->parts[g] = find_sums(nest, &footprint->groups[g], &how);
    }
    return delta;
}

dfl_delta *dfl_delta_of(dfl_nest *nest, dfl_footprint *footprint, const dfl_sharing *how, bool by_loop)
{
    dfl_delta *delta = dfl_delta_of_size(nest, footprint, how);

    if (!delta)
        return NULL;
    delta->moving = true;
    if (by_loop && !delta->entering_by_step) {
        delta->entering_by_step = DFL_NEW_ARRAY(nest->arena, dfl_i128, 2 * (footprint->n + 1));
        delta->leaving_by_step = delta->entering_by_step + footprint->n + 1;
    }
    return delta;
}

typedef struct {
    dfl_i128 enter, kept, leave, left_kept;
    bool late, stays; /* an index of some group is late; an index of each group stays in some instance */
} product;

static void multiply_sums(product *p, const dfl_group_change *q, bool *over)
{
    *over |= dfl_mul(p->enter, q->enter, &p->enter);
    *over |= dfl_mul(p->kept, q->kept, &p->kept);
    *over |= dfl_mul(p->leave, q->leave, &p->leave);
    *over |= dfl_mul(p->left_kept, q->left_kept, &p->left_kept);
    p->late |= q->late;
    p->stays &= q->late || q->kept > 0;
}

/* The counts for the steps at which loop `j` advances: the product of one factor per group. The factor of the group of `j`
   is the sum over the advances of `j`; the factor of another group is its sum with the loops inside `j` wrapped. */
static product multiply_advance(const dfl_footprint *footprint, const dfl_group_sums *const *sums, uint32_t j, bool *over)
{
    product p = { 1, 1, 1, 1, false, true };

    for (uint32_t g = 0; g < footprint->n_groups; g++) {
        const dfl_group *group = &footprint->groups[g];
        uint32_t k = 0;
        while (k < group->n_lines && group->lines[k] <= j)
            k++;
        multiply_sums(&p, footprint->group_of_step[j] == g ? &sums[g]->adv[k] : &sums[g]->hold[k], over);
    }
    return p;
}

static bool combine_groups(dfl_nest *nest, dfl_delta *delta)
{
    dfl_footprint *footprint = delta->footprint;
    const dfl_path *path = &nest->paths->paths[footprint->einsum];
    const dfl_group_sums **sums = DFL_NEW_ARRAY(nest->arena, const dfl_group_sums *, footprint->n_groups + 1);
    product first = { 1, 1, 1, 1, false, true };
    uint64_t covering = UINT64_MAX;
    uint32_t unequal = 0;
    bool over = false;

    delta->present = delta->largest = 1;
    delta->active = delta->whole = 0;
    delta->late = delta->is_widened = delta->peaks_first = false;
    for (uint32_t g = 0; g < footprint->n_groups; g++) {
        if (delta->how.box && footprint->groups[g].n_dims > 1) {
            dfl_nest_refuse(nest, footprint->span, "a bounding box of a tensor with connected dimensions",
                            "leave `window` out of the keeps of this tensor");
            return false;
        }
        sums[g] = fill_sums(nest, footprint, &footprint->groups[g], delta->parts[g]);
        if (!sums[g])
            return false;
        covering &= sums[g]->covering;
        unequal += !sums[g]->equal;
        over |= sums[g]->overflow;
        delta->is_widened |= sums[g]->is_widened;
        multiply_sums(&first, &sums[g]->hold[0], &over);
        over |= dfl_mul(delta->present, sums[g]->present, &delta->present);
        over |= dfl_mul(delta->largest, sums[g]->largest, &delta->largest);
    }
    if (unequal > 1 && covering == 0) {
        dfl_nest_refuse(nest, footprint->span, "a tile that is not a product of intervals (its readers need different parts)",
                        "keep the tensor in the branches of its readers");
        return false;
    }
    delta->enter = first.enter;
    delta->leave = first.leave;
    for (uint32_t j = 0; j < footprint->n; j++) {
        if (path->steps[j].line->kind != DFL_LINE_TEMPORAL || footprint->group_of_step[j] == DFL_NONE)
            continue;
        product at = multiply_advance(footprint, sums, j, &over);
        bool anew = j < footprint->restart;
        dfl_i128 enter = at.enter - (anew ? 0 : at.kept), leave = at.leave - (anew ? 0 : at.left_kept);
        over |= dfl_add(delta->enter, enter, &delta->enter);
        over |= dfl_add(delta->leave, leave, &delta->leave);
        delta->late |= !anew && at.late && at.stays;
        delta->active |= enter != 0 || leave != 0 ? UINT64_C(1) << j : 0;
        delta->whole |= anew || at.kept == 0 ? UINT64_C(1) << j : 0;
        if (delta->entering_by_step) {
            delta->entering_by_step[j] = enter;
            delta->leaving_by_step[j] = leave;
        }
    }
    if (delta->entering_by_step) {
        delta->entering_by_step[footprint->n] = first.enter;
        delta->leaving_by_step[footprint->n] = first.leave;
    }
    return over ? dfl_nest_report_overflow(nest, footprint->span) : true;
}

bool dfl_delta_count(dfl_nest *nest, dfl_delta *delta)
{
    delta->is_even = false;
    if (!dfl_product_form_fill_ragged(nest, delta) && !combine_groups(nest, delta))
        return false;
    delta->run = nest->run;
    return true;
}

/* The bucket of the sums of a group under a restriction. */
static dfl_restricted_sums **find_bucket(const dfl_group *group, const dfl_restricted_sums *sums)
{
    uint64_t h = sums->pinned ^ sums->ranged << 1 ^ (uint64_t)sums->lo * 31 ^ (uint64_t)sums->hi;

    for (uint32_t k = 0; k < group->n_spatial; k++)
        h = (h ^ (uint64_t)sums->at[k]) * UINT64_C(0x9e3779b97f4a7c15);
    return &group->restricted[(h ^ h >> 32) & (group->n_buckets - 1)];
}

/* Doubles the buckets of a group whose sums are as many as its buckets. */
static void grow_buckets(dfl_nest *nest, dfl_group *group)
{
    enum { FEWEST = 8 };
    dfl_restricted_sums **old = group->restricted;
    uint32_t n = group->n_buckets;

    if (group->n_restricted < n)
        return;
    group->n_buckets = n > 0 ? 2 * n : FEWEST;
    group->restricted = DFL_NEW_ARRAY(nest->arena, dfl_restricted_sums *, group->n_buckets);
    for (uint32_t b = 0; b < n; b++)
        for (dfl_restricted_sums *k = old[b], *next; k; k = next) {
            dfl_restricted_sums **to = find_bucket(group, k);
            next = k->next;
            k->next = *to;
            *to = k;
        }
}

/* The sums of a group under a restriction. NULL after E0602 (the budget is spent). */
static const dfl_group_sums *find_restricted(dfl_nest *nest, const dfl_footprint *footprint, dfl_group *group,
                                             const dfl_sharing *how, const dfl_restriction *only)
{
    uint64_t mine = find_spatial_steps(group);
    dfl_restricted_sums like = { .how = reduce_sharing(group, how), .pinned = only->pinned & mine,
                                 .ranged = only->ranged & mine };

    for (uint32_t k = 0; k < group->n_spatial; k++)
        like.at[k] = like.pinned >> group->spatial[k] & 1 ? only->at[group->spatial[k]] : 0;
    if (like.ranged) {
        like.lo = only->lo;
        like.hi = only->hi;
    }
    like.lower = only->lower && like.how.forward != DFL_NONE;
    if (group->run != nest->run)
        dfl_footprint_resize_group(nest, footprint, group);
    if (group->restricted_run != nest->run)
        group->n_buckets = group->n_restricted = 0;
    group->restricted_run = nest->run;
    grow_buckets(nest, group);
    dfl_restricted_sums **bucket = find_bucket(group, &like);
    for (dfl_restricted_sums *k = *bucket; k; k = k->next)
        if (is_same_sharing(&k->how, &like.how) && k->pinned == like.pinned && k->ranged == like.ranged && k->lo == like.lo &&
            k->hi == like.hi && k->lower == like.lower && memcmp(k->at, like.at, group->n_spatial * sizeof *k->at) == 0)
            return &k->sums;
    dfl_restricted_sums *fresh = DFL_NEW(nest->arena, dfl_restricted_sums);
    *fresh = like;
    fresh->next = *bucket;
    *bucket = fresh;
    group->n_restricted++;
    dfl_group_sums *sums = &fresh->sums;
    sums->hold = DFL_NEW_ARRAY(nest->arena, dfl_group_change, 2 * (group->n_lines + 1));
    sums->adv = sums->hold + group->n_lines + 1;
    if (dfl_group_sums_take(nest, footprint, group, &like.how, only, sums))
        return sums;
    dfl_report_stop(nest->sink, dfl_arena_budget(nest->arena));
    return NULL;
}

const dfl_group_sums *dfl_delta_group(dfl_nest *nest, dfl_footprint *footprint, uint32_t group, const dfl_sharing *how,
                                      const dfl_restriction *only)
{
    dfl_sharing part = *how;

    part.first_only |= only->pinned;
    part.united &= ~only->pinned;
    return find_restricted(nest, footprint, &footprint->groups[group], &part, only);
}

bool dfl_delta_restrict(dfl_nest *nest, dfl_footprint *footprint, const dfl_sharing *how, const dfl_restriction *only,
                        dfl_restricted_counts *out)
{
    const dfl_path *path = &nest->paths->paths[footprint->einsum];
    const dfl_group_sums **sums = DFL_NEW_ARRAY(nest->arena, const dfl_group_sums *, footprint->n_groups + 1);
    product first = { 1, 1, 1, 1, false, true };
    bool over = false;

    *out = (dfl_restricted_counts){ .present = 1, .distinct = 1 };
    for (uint32_t g = 0; g < footprint->n_groups; g++) {
        sums[g] = dfl_delta_group(nest, footprint, g, how, only);
        if (!sums[g])
            return false;
        over |= sums[g]->overflow;
        multiply_sums(&first, &sums[g]->hold[0], &over);
        over |= dfl_mul(out->present, sums[g]->present, &out->present);
        if (footprint->groups[g].dim != DFL_NO_DIM)
            over |= dfl_mul(out->distinct, sums[g]->present, &out->distinct);
    }
    out->enter = first.enter;
    out->leave = first.leave;
    if (only->by_step)
        only->by_step[footprint->n] += dfl_i128_double(only->leaving ? first.leave : first.enter);
    for (uint32_t j = 0; j < footprint->n; j++) {
        if (path->steps[j].line->kind != DFL_LINE_TEMPORAL || footprint->group_of_step[j] == DFL_NONE)
            continue;
        product at = multiply_advance(footprint, sums, j, &over);
        bool anew = j < footprint->restart;
        dfl_i128 entering = at.enter - (anew ? 0 : at.kept), leaving = at.leave - (anew ? 0 : at.left_kept);
        over |= dfl_add(out->enter, entering, &out->enter);
        over |= dfl_add(out->leave, leaving, &out->leave);
        if (only->by_step)
            only->by_step[j] += dfl_i128_double(only->leaving ? leaving : entering);
    }
    return over ? dfl_nest_report_overflow(nest, footprint->span) : true;
}

bool dfl_delta_has_stationary(const dfl_nest *nest, const dfl_delta *delta)
{
    const dfl_footprint *footprint = delta->footprint;
    uint64_t loops = 0;

    if (delta->has_product_form)
        loops = footprint->product.lines & nest->sizes[footprint->product.einsum].moving;
    for (uint32_t g = 0; g < footprint->n_groups && !delta->has_product_form; g++)
        for (uint32_t k = 0; k < footprint->groups[g].n_lines; k++)
            loops |= UINT64_C(1) << footprint->groups[g].lines[k];
    return (loops & ~delta->whole) != 0;
}

bool dfl_delta_disjoint(dfl_nest *nest, dfl_delta *delta, dfl_i128 *out)
{
    dfl_footprint *footprint = delta->footprint;
    bool over = false;

    if (!dfl_delta_fill(nest, delta))
        return false;
    if (dfl_product_form_disjoint(nest, delta, out))
        return true;
    *out = 1;
    for (uint32_t g = 0; g < footprint->n_groups; g++) {
        if (footprint->groups[g].dim == DFL_NO_DIM)
            continue;
        const dfl_group_sums *sums = fill_sums(nest, footprint, &footprint->groups[g], delta->parts[g]);
        if (!sums)
            return false;
        over |= dfl_mul(*out, sums->present, out);
    }
    return over ? dfl_nest_report_overflow(nest, footprint->span) : true;
}

int64_t dfl_delta_largest_factor(dfl_nest *nest, const dfl_delta *delta, uint32_t group)
{
    const dfl_group_sums *s = fill_sums(nest, delta->footprint, &delta->footprint->groups[group], delta->parts[group]);

    return s ? s->largest : 0;
}

