/* Enumeration of the elements that an access touches under conditions. */
#include "model/counts/joint_set.h"

#include "support/limits.h"

/* An enumeration of the points of a box. */
typedef struct {
    dfl_arena *arena;
    const dfl_joint_access *access;
    const dfl_interval *box;
    dfl_interval_set *out;
    dfl_i128 *value;   /* [rank][condition]: value of the condition at the positions of the ranks before this one */
    dfl_i128 *rest;    /* [rank][condition]: largest sum of the terms of this rank and of the ranks behind it */
    int64_t *at;       /* [rank]: present position */
} enumeration;

void dfl_joint_access_range(const dfl_joint_access *a, uint32_t condition, const dfl_interval *box, dfl_i128 *least,
                            dfl_i128 *most)
{
    *least = *most = a->fixed[condition];
    for (uint32_t k = 0; k < a->n_ranks; k++) {
        dfl_i128 slope = a->slopes[condition * a->n_ranks + k], low = slope * box[k].lo, high = slope * (box[k].hi - 1);
        *least += slope > 0 ? low : high;
        *most += slope > 0 ? high : low;
    }
}

/* Values of rank `k` for which no condition fails at every position of the ranks behind it. Exact for the last rank. */
static dfl_interval find_allowed(const enumeration *job, uint32_t k)
{
    const dfl_joint_access *a = job->access;
    dfl_i128 lo = job->box[k].lo, hi = job->box[k].hi - 1;

    for (uint32_t c = 0; c < a->n_where; c++) {
        dfl_i128 slope = a->slopes[c * a->n_ranks + k];
        dfl_i128 spare = job->value[k * a->n_where + c] + job->rest[(k + 1) * a->n_where + c];
        if (slope == 0 && spare < 0)
            return (dfl_interval){ 0, 0 };
        if (slope > 0) { /* x >= -spare / slope, rounded up */
            dfl_i128 bound = -spare / slope + (-spare % slope > 0);
            lo = bound > lo ? bound : lo;
        } else if (slope < 0) { /* x <= spare / -slope, rounded down */
            dfl_i128 bound = spare / -slope - (spare % -slope < 0);
            hi = bound < hi ? bound : hi;
        }
    }
    return hi < lo ? (dfl_interval){ 0, 0 } : (dfl_interval){ (int64_t)lo, (int64_t)hi + 1 };
}

/* Adds the index vector at the present positions, unless it lies outside the shape. */
static void add_point(enumeration *job)
{
    const dfl_joint_access *a = job->access;
    int64_t number = 0;

    for (uint32_t d = 0; d < a->n_dims; d++) {
        dfl_i128 index = a->offsets[d];
        for (uint32_t k = 0; k < a->n_indexing; k++)
            index += (dfl_i128)a->coefs[d * a->n_ranks + k] * job->at[k];
        if (index < 0 || index >= a->extents[d])
            return;
        number = number * a->extents[d] + (int64_t)index;
    }
    dfl_interval_set_add(job->arena, job->out, number, number + 1);
}

/* Tells whether rank `k` moves only the last dimension, element by element, so that an interval of the rank gives an
   interval of numbers. */
static bool moves_along_rows(const dfl_joint_access *a, uint32_t k)
{
    for (uint32_t d = 0; d + 1 < a->n_dims; d++)
        if (a->coefs[d * a->n_ranks + k] != 0)
            return false;
    return a->n_dims > 0 && a->coefs[(a->n_dims - 1) * a->n_ranks + k] == 1;
}

/* Adds the index vectors for an interval of a rank that moves along rows. */
static void add_row(enumeration *job, uint32_t k, dfl_interval run)
{
    const dfl_joint_access *a = job->access;
    int64_t number = 0, last = a->extents[a->n_dims - 1];

    job->at[k] = 0;
    for (uint32_t d = 0; d < a->n_dims; d++) {
        dfl_i128 index = a->offsets[d];
        for (uint32_t i = 0; i < a->n_indexing; i++)
            index += (dfl_i128)a->coefs[d * a->n_ranks + i] * job->at[i];
        if (d + 1 == a->n_dims) {
            dfl_i128 lo = index + run.lo, hi = index + run.hi;
            lo = lo < 0 ? 0 : lo;
            hi = hi > last ? last : hi;
            if (hi > lo)
                dfl_interval_set_add(job->arena, job->out, number * last + (int64_t)lo, number * last + (int64_t)hi);
            return;
        }
        if (index < 0 || index >= a->extents[d])
            return;
        number = number * a->extents[d] + (int64_t)index;
    }
}

/* Enumerates the ranks from `k` on. True if some point satisfies all conditions. */
static bool enumerate(enumeration *job, uint32_t k)
{
    const dfl_joint_access *a = job->access;
    bool found = false;

    if (!dfl_budget_spend(dfl_arena_budget(job->arena), 1))
        return false;
    if (k == a->n_ranks) {
        add_point(job);
        return true;
    }
    dfl_interval allowed = find_allowed(job, k);
    if (allowed.hi <= allowed.lo)
        return false;
    if (k + 1 == a->n_ranks && k < a->n_indexing && moves_along_rows(a, k)) {
        add_row(job, k, allowed);
        return true;
    }
    /* a rank that indexes nothing only has to exist */
    for (int64_t x = allowed.lo; x < allowed.hi && !(found && k >= a->n_indexing); x++) {
        job->at[k] = x;
        for (uint32_t c = 0; c < a->n_where; c++)
            job->value[(k + 1) * a->n_where + c] =
                job->value[k * a->n_where + c] + (dfl_i128)a->slopes[c * a->n_ranks + k] * x;
        found |= enumerate(job, k + 1);
    }
    return found;
}

void dfl_joint_access_add(dfl_arena *arena, const dfl_joint_access *a, const dfl_interval *box, dfl_interval_set *out)
{
    enum { SMALL = 32 };
    dfl_i128 value[SMALL], rest[SMALL];
    int64_t at[SMALL];
    uint32_t n = (a->n_ranks + 1) * a->n_where;
    enumeration job = { .arena = arena, .access = a, .box = box, .out = out, .value = value, .rest = rest, .at = at };

    if (n > SMALL || a->n_ranks > SMALL) {
        job.value = DFL_NEW_ARRAY(arena, dfl_i128, n + 1);
        job.rest = DFL_NEW_ARRAY(arena, dfl_i128, n + 1);
        job.at = DFL_NEW_ARRAY(arena, int64_t, a->n_ranks + 1);
    }
    for (uint32_t c = 0; c < a->n_where; c++) {
        job.value[c] = a->fixed[c];
        job.rest[a->n_ranks * a->n_where + c] = 0;
        for (uint32_t k = a->n_ranks; k-- > 0;) {
            dfl_i128 slope = a->slopes[c * a->n_ranks + k];
            job.rest[k * a->n_where + c] =
                job.rest[(k + 1) * a->n_where + c] + slope * (slope > 0 ? box[k].hi - 1 : box[k].lo);
        }
    }
    enumerate(&job, 0);
}
