/* The deltas that the counts of traffic need. The deltas depend on the lines of a mapping, not on the sizes of
   tiles. */
#include "model/counts/traffic_plan.h"

#include "model/counts/whole_access.h"
#include "support/vec.h"

/* One pass over the keep tree: the whole system, or one instance. */
typedef struct {
    dfl_nest *nest;
    dfl_keep_tree *keeps;
    bool one; /* plan one instance (coordinate 0 on every axis) instead of all */
    bool ok;
} planner;

static dfl_delta *plan_delta(planner *c, dfl_footprint *footprint, const dfl_sharing *how)
{
    dfl_delta *delta = c->ok ? dfl_delta_of(c->nest, footprint, how, false) : NULL;

    c->ok = delta != NULL;
    return delta;
}

static uint32_t find_element(const planner *c,
                             const dfl_keep *keep) { return c->nest->system->memories[keep->line->memory].element; }

static uint64_t find_steps_around(const planner *c, const dfl_keep *of, const dfl_keep *keep)
{
    return dfl_keep_tree_steps_around(c->nest, of->footprint.einsum, of->step, find_element(c, keep));
}

static dfl_delta *plan_size(planner *c, dfl_footprint *footprint, const dfl_sharing *how)
{
    dfl_delta *delta = c->ok ? dfl_delta_of_size(c->nest, footprint, how) : NULL;

    c->ok = delta != NULL;
    return delta;
}

/* The way of sharing of the instances of keep `keep` that counts per instance of the memory of keep `from`. */
static dfl_sharing make_sharing(const planner *c, const dfl_keep *keep, const dfl_keep *from, uint64_t united)
{
    dfl_sharing how = dfl_keep_tree_sharing(c->nest, keep);

    how.united = united;
    how.first_only = c->one ? find_steps_around(c, keep, from) : 0;
    return how;
}

/* The spatial step between a keep and the next outer one along which neighbours forward; DFL_NONE if there is none. */
static uint32_t find_forwarding(planner *c, const dfl_keep *keep, uint64_t between)
{
    const dfl_path *path = &c->nest->paths->paths[keep->footprint.einsum];
    uint32_t found = DFL_NONE;

    for (uint64_t left = keep->produced ? 0 : between; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        if (!c->nest->system->axes[path->steps[i].line->axis].forward)
            continue;
        if (found != DFL_NONE) {
            dfl_nest_refuse(c->nest, path->steps[i].line->span, "forwarding over several loops at once",
                            "map only one loop to the axis along which the network forwards");
            c->ok = false;
        }
        found = i;
    }
    return found;
}

static void plan_read_only(planner *c, dfl_keep *keep, dfl_keep_deltas *out)
{
    dfl_keep *outer = &c->keeps->at[keep->parent];
    uint64_t between = find_steps_around(c, keep, keep) & ~find_steps_around(c, keep, outer);
    uint64_t united = dfl_keep_tree_steps_shared(c->nest, keep->footprint.einsum, between, keep->line->tensor, false);
    dfl_sharing each = make_sharing(c, keep, keep, 0), shared = make_sharing(c, keep, outer, united);

    dfl_footprint *footprint = &keep->footprint;

    keep->forward = find_forwarding(c, keep, between);
    each.forward = shared.forward = keep->forward;
    if (keep->forward != DFL_NONE && keep->fresh) {
        footprint = dfl_keep_tree_footprint(c->nest, keep, c->nest->numbers->above[keep->body->id]);
        each.anew = shared.anew = true;
    }
    out->shared = plan_delta(c, footprint, &shared);
    if (keep->forward != DFL_NONE)
        out->passed = plan_delta(c, footprint, &each);
}

/* Delta of the tiles that the producer of a recomputed tensor makes, at the branch shared with its consumers. */
static dfl_delta *plan_starts(planner *c, const dfl_keep *keep, const dfl_sharing *how)
{
    const dfl_path *path = &c->nest->paths->paths[keep->producer];
    dfl_reference *reference = DFL_NEW(c->nest->arena, dfl_reference);
    dfl_footprint *footprint = DFL_NEW(c->nest->arena, dfl_footprint);

    *reference = (dfl_reference){ keep->producer, &c->nest->workload->einsums[keep->producer].output };
    *footprint = (dfl_footprint){ .einsum = keep->producer, .n = path->n_above, .restart = path->n_above,
                                  .tensor = keep->line->tensor,
                                  .references = reference, .n_references = 1, .span = keep->line->span };
    return plan_delta(c, footprint, how);
}

static bool is_recomputed(const planner *c, const dfl_keep *keep)
{
    const dfl_path *path = &c->nest->paths->paths[keep->producer];

    return path->has_exchange && path->exchange.recompute && path->exchange.restricts;
}

static void plan_home(planner *c, dfl_keep *keep, dfl_keep_deltas *out)
{
    if (is_recomputed(c, keep) && keep->exchanged) {
        dfl_sharing each = make_sharing(c, keep, keep, 0);
        each.box = false; /* count the elements that are made, not the elements that are held */
        out->starts = plan_starts(c, keep, &each);
        if (c->one)
            return;
        each.made = true;
        out->supplied = plan_delta(c, &keep->footprint, &each);
    } else if (!c->one) {
        dfl_sharing united = make_sharing(c, keep, keep, find_steps_around(c, keep, keep));
        keep->united = plan_delta(c, &keep->footprint, &united);
    }
}

/* Plans the number of elements that are made below a keep. If consumers meet the producer below the keep, its tiles
   have further elements. This number excludes elements that are made again. */
static void plan_made(planner *c, const dfl_keep *keep, dfl_keep_deltas *out)
{
    dfl_sharing each = make_sharing(c, keep, keep, 0);

    if (!keep->exchanged) {
        out->made = is_recomputed(c, keep) ? NULL : out->each;
        return;
    }
    dfl_reference *reference = DFL_NEW(c->nest->arena, dfl_reference);
    dfl_footprint *footprint = DFL_NEW(c->nest->arena, dfl_footprint);
    *reference = (dfl_reference){ keep->producer, &c->nest->workload->einsums[keep->producer].output };
    *footprint = (dfl_footprint){ .einsum = keep->producer, .n = keep->step, .restart = keep->flushed->restart,
                                  .tensor = keep->line->tensor,
                                  .references = reference, .n_references = 1, .span = keep->line->span };
    out->made = plan_delta(c, footprint, &each);
    if (!c->one)
        return;
    each.first_only = find_steps_around(c, keep, &c->keeps->at[keep->parent]);
    out->given = plan_delta(c, footprint, &each);
}

/* Steps that do not index the result: of the instances along these steps that hold an element of the result, only the
   first is ever filled. False if windows of the result lie across instances. */
static bool find_unindexed(const planner *c, const dfl_keep *keep, uint64_t steps, uint64_t *out)
{
    const dfl_path *path = &c->nest->paths->paths[keep->producer];
    const dfl_access *result = &c->nest->workload->einsums[keep->producer].output;

    *out = steps;
    for (uint64_t left = steps; left; left &= left - 1)
        for (uint32_t d = 0; d < result->n_dims; d++)
            for (uint32_t t = 0; t < result->index[d].n_terms; t++) {
                if (result->index[d].terms[t].rank != path->steps[__builtin_ctzll(left)].rank)
                    continue;
                *out &= ~(left & -left);
                if (result->index[d].n_terms > 1)
                    return false;
            }
    return true;
}

static void add_stay(planner *c, dfl_keep *keep, const dfl_keep *valued, uint32_t from, uint32_t to, dfl_keep_deltas *out)
{
    const dfl_keep *outer = &c->keeps->at[keep->parent];
    dfl_sharing how = make_sharing(c, keep, outer, find_steps_around(c, keep, keep) & ~find_steps_around(c, keep, outer));
    uint64_t first;

    if (!find_unindexed(c, keep, find_steps_around(c, keep, outer) & ~find_steps_around(c, keep, valued), &first)) {
        dfl_nest_refuse(c->nest, keep->line->span, "a result that stays inside a `fresh` keep and has windows across an array",
                        "make this keep `fresh`, too");
        c->ok = false;
        return;
    }
    how.first_only |= first;
    dfl_refill_stay *stay = &out->stays[out->n_stays++];
    stay->with = plan_delta(c, dfl_keep_tree_footprint(c->nest, keep, to), &how);
    stay->without = plan_delta(c, dfl_keep_tree_footprint(c->nest, keep, from), &how);
}

/* Plans the refills by an outer `fresh` keep of elements that stay in this keep without a value, since they were
   flushed. One instance of the `fresh` keep gets such an element. It is the first instance inside of the innermost keep
   that is not refilled at that step. */
static void plan_stays(planner *c, dfl_keep *keep, dfl_keep_deltas *out)
{
    const dfl_keep *fresh = &c->keeps->at[keep->parent];
    uint32_t brace = c->nest->numbers->above[keep->body->id];

    if (keep->fresh)
        return;
    out->stays = DFL_NEW_ARRAY(c->nest->arena, dfl_refill_stay, keep->step + 1);
    while (fresh->fresh && fresh->parent != DFL_NONE && fresh->step > brace) {
        const dfl_keep *next = &c->keeps->at[fresh->parent];
        uint32_t from = next->fresh ? next->step : next->flushed->restart;
        if (from < fresh->step)
            add_stay(c, keep, next, from > brace ? from : brace, fresh->step, out);
        fresh = next;
    }
}

/* Tells whether some outer keep of the tensor is `fresh`. */
static bool is_refilled_outside(const planner *c, const dfl_keep *keep)
{
    for (; keep->parent != DFL_NONE; keep = &c->keeps->at[keep->parent])
        if (c->keeps->at[keep->parent].fresh)
            return true;
    return false;
}

static void plan_written(planner *c, dfl_keep *keep, dfl_keep_deltas *out)
{
    const dfl_keep *outer = &c->keeps->at[keep->parent];

    if (is_recomputed(c, keep) && keep->exchanged)
        return; /* the count refuses the mapping, unless the home reports an error first */
    uint64_t between = find_steps_around(c, keep, keep) & ~find_steps_around(c, keep, outer);
    uint64_t reduced = dfl_keep_tree_steps_shared(c->nest, keep->footprint.einsum, between, keep->line->tensor, true);
    dfl_sharing joined = make_sharing(c, keep, outer, between), meeting = make_sharing(c, keep, outer, reduced);
    dfl_sharing each = make_sharing(c, keep, keep, 0);
    out->starts_each = plan_delta(c, keep->flushed, &each);
    out->joined = plan_delta(c, keep->flushed, &joined);
    if (c->one && keep->flushed != &keep->footprint)
        out->coming = plan_delta(c, &keep->footprint, &joined);
    out->meeting = plan_delta(c, keep->flushed, &meeting);
    if (keep->exchanged && keep->adding && !c->one) {
        each.made = true;
        out->supplied = plan_delta(c, keep->flushed, &each);
    }
    plan_stays(c, keep, out);
    plan_made(c, keep, out);
    out->anew = keep->flushed != &keep->footprint || out->n_stays > 0 || is_refilled_outside(c, keep);
}

/* The results of the producers of a tensor, in workload order. */
static const dfl_reference *list_producers(const planner *c, uint32_t tensor)
{
    const dfl_tensor *t = &c->nest->workload->tensors[tensor];
    dfl_reference *made = DFL_NEW_ARRAY(c->nest->arena, dfl_reference, t->n_producers + 1);

    for (uint32_t k = 0; k < t->n_producers; k++)
        made[k] = (dfl_reference){ t->producers[k], &c->nest->workload->einsums[t->producers[k]].output };
    return made;
}

/* Reports E0609 if a consumer reads elements that no einsum makes: such elements never have a value, so no keep is
   filled with them. */
static void refuse_unmade(planner *c, const dfl_keep *keep)
{
    const dfl_tensor *t = &c->nest->workload->tensors[keep->line->tensor];
    const dfl_reference *made = list_producers(c, keep->line->tensor);

    if (!keep->produced || keep->is_state || (keep->parent == DFL_NONE && t->role != DFL_ROLE_INTERMEDIATE))
        return; /* all elements have a value from the start, or the tensor is an input or output of the workload */
    for (uint32_t v = 0; v < keep->footprint.n_references && c->ok; v++) {
        if (dfl_whole_access_within(c->nest, &keep->footprint.references[v], made, t->n_producers))
            continue;
        dfl_nest_refuse(c->nest, keep->footprint.references[v].access->span, "a reader of elements that no einsum produces",
                        "read only what the producer writes, or give the tensor a shape that ends there");
        c->ok = false;
    }
}

/* Counts the elements that the producers below a written keep make, and those that no earlier producer makes. */
static void count_distinct(planner *c, dfl_keep *keep)
{
    const dfl_tensor *t = &c->nest->workload->tensors[keep->line->tensor];
    const dfl_reference *made = list_producers(c, keep->line->tensor);
    dfl_i128 before = 0, all;
    uint32_t first = 0;

    while (made[first].einsum != keep->producer)
        first++;
    c->ok = c->ok && dfl_whole_access_count(c->nest, made + first, keep->n_makers, &keep->distinct);
    keep->first_made = keep->is_state ? 0 : keep->distinct;
    if (keep->is_state || first == 0 || !c->ok || t->n_producers == 1)
        return;
    c->ok = dfl_whole_access_count(c->nest, made, first, &before) &&
            dfl_whole_access_count(c->nest, made, first + keep->n_makers, &all);
    keep->first_made = c->ok ? all - before : 0;
}

/* Reports E0609 for several producers below a keep that has an outer keep, or whose memory lies in an array. */
static void refuse_makers(planner *c, const dfl_keep *keep)
{
    if (keep->n_makers < 2 || (keep->parent == DFL_NONE && find_steps_around(c, keep, keep) == 0))
        return;
    dfl_nest_refuse(c->nest, keep->line->span, "an inner keep, or one in an array, of a tensor with several producers below",
                    "keep the tensor in the branches of its producers");
    c->ok = false;
}

static void plan_keep(planner *c, dfl_keep *keep)
{
    dfl_keep_deltas *out = c->one ? &keep->one : &keep->all;
    dfl_sharing each = make_sharing(c, keep, keep, 0);

    if (!c->one)
        refuse_unmade(c, keep);
    out->each = plan_delta(c, &keep->footprint, &each);
    if (!keep->written) {
        if (keep->parent != DFL_NONE)
            plan_read_only(c, keep, out);
        return;
    }
    refuse_makers(c, keep);
    const dfl_access *result = &c->nest->workload->einsums[keep->producer].output;
    keep->windows = c->nest->workload->einsums[keep->producer].n_where > 0;
    for (uint32_t d = 0; d < result->n_dims; d++)
        keep->windows |= result->index[d].n_terms > 1;
    if (keep->parent == DFL_NONE)
        plan_home(c, keep, out);
    else
        plan_written(c, keep, out);
    if (!c->one)
        count_distinct(c, keep);
}

static dfl_footprint *make_operand_footprint(dfl_nest *nest, uint32_t e, const dfl_access *a, dfl_span span)
{
    const dfl_path *path = &nest->paths->paths[e];
    dfl_reference *reference = DFL_NEW(nest->arena, dfl_reference);
    dfl_footprint *footprint = DFL_NEW(nest->arena, dfl_footprint);

    *reference = (dfl_reference){ e, a };
    *footprint = (dfl_footprint){ .einsum = e, .n = path->n_steps, .restart = nest->numbers->above[path->leaf->id],
                                  .tensor = a->tensor,
                                  .references = reference, .n_references = 1, .span = span };
    return footprint;
}

static void plan_operand(planner *c, uint32_t e, const dfl_access *a, bool output, dfl_operand *out)
{
    const dfl_path *path = &c->nest->paths->paths[e];
    const dfl_compute *unit = &c->nest->system->computes[path->compute];
    dfl_footprint *footprint = make_operand_footprint(c->nest, e, a, a->span);
    dfl_sharing how = { .forward = DFL_NONE };

    *out = (dfl_operand){ .inner = dfl_keep_tree_innermost(c->nest, c->keeps, e, a->tensor), .output = output,
                          .defines = output && c->nest->workload->einsums[e].reduce == DFL_REDUCE_NONE,
                          .reuse = dfl_selects(&unit->operand_reuse, &c->nest->workload->tensors[a->tensor]) };
    uint64_t all = dfl_keep_tree_steps_around(c->nest, e, path->n_steps, unit->element);
    uint64_t mine = dfl_keep_tree_steps_around(c->nest, e, path->n_steps, find_element(c, &c->keeps->at[out->inner]));
    how.united = dfl_keep_tree_steps_shared(c->nest, e, all & ~mine, a->tensor, output);
    out->all = out->reuse ? plan_delta(c, footprint, &how) : plan_size(c, footprint, &how);
    how.first_only = mine;
    out->one = out->reuse ? plan_delta(c, footprint, &how) : plan_size(c, footprint, &how);
}

static uint64_t find_spatial_steps(const dfl_path *path)
{
    uint64_t bits = 0;

    for (uint32_t i = 0; i < path->n_steps; i++)
        if (path->steps[i].line->kind == DFL_LINE_SPATIAL)
            bits |= UINT64_C(1) << i;
    return bits;
}

static void plan_einsum(planner *c, uint32_t e, dfl_traffic_plan *out)
{
    const dfl_einsum *einsum = &c->nest->workload->einsums[e];
    dfl_access *none = DFL_NEW(c->nest->arena, dfl_access);

    for (uint32_t a = 0; a < einsum->n_inputs; a++)
        plan_operand(c, e, &einsum->inputs[a], false, &out->operands[out->n_operands++]);
    plan_operand(c, e, &einsum->output, true, &out->operands[out->n_operands++]);
    *none = (dfl_access){ .tensor = einsum->output.tensor };
    dfl_footprint *footprint = make_operand_footprint(c->nest, e, none, einsum->span);
    dfl_sharing each = { .forward = DFL_NONE };
    dfl_sharing together = { .forward = DFL_NONE, .united = find_spatial_steps(&c->nest->paths->paths[e]) };
    out->points[e] = plan_size(c, footprint, &each);
    out->steps[e] = plan_size(c, footprint, &together);
}

bool dfl_traffic_plan_make(dfl_nest *nest, dfl_keep_tree *keeps, dfl_traffic_plan *out)
{
    planner c = { .nest = nest, .keeps = keeps, .ok = true };
    uint32_t n = 0;

    for (uint32_t e = 0; e < nest->workload->n_einsums; e++)
        n += nest->workload->einsums[e].n_inputs + 1;
    *out = (dfl_traffic_plan){ .operands = DFL_NEW_ARRAY(nest->arena, dfl_operand, n + 1),
                               .points = DFL_NEW_ARRAY(nest->arena, dfl_delta *, nest->workload->n_einsums + 1),
                               .steps = DFL_NEW_ARRAY(nest->arena, dfl_delta *, nest->workload->n_einsums + 1) };
    out->visits = DFL_NEW_ARRAY(nest->arena, uint32_t, 2 * (size_t)keeps->n + 1);
    out->written = out->visits + keeps->n;
    for (uint32_t i = 0; i < keeps->n; i++) {
        if (keeps->at[i].written || keeps->at[i].parent != DFL_NONE)
            out->visits[out->n_visits++] = i;
        if (keeps->at[i].written)
            out->written[out->n_written++] = i;
    }
    for (int pass = 0; pass < 2; pass++) {
        c.one = pass == 1;
        for (uint32_t i = 0; i < keeps->n && c.ok; i++)
            plan_keep(&c, &keeps->at[i]);
    }
    for (uint32_t e = 0; e < nest->workload->n_einsums && c.ok; e++)
        plan_einsum(&c, e, out);
    return c.ok;
}

void dfl_traffic_plan_make_sums(const dfl_nest *nest, const dfl_keep_tree *keeps, dfl_traffic_sums *out)
{
    uint32_t n = keeps->n, n_operands = 0;

    for (uint32_t e = 0; e < nest->workload->n_einsums; e++)
        n_operands += nest->workload->einsums[e].n_inputs + 1;
    *out = (dfl_traffic_sums){ .all = DFL_NEW_ARRAY(nest->arena, dfl_counts, n + 1),
                               .busiest = DFL_NEW_ARRAY(nest->arena, dfl_counts, n + 1),
                               .outer_busiest = DFL_NEW_ARRAY(nest->arena, dfl_counts, n + 1),
                               .ops_busiest = DFL_NEW_ARRAY(nest->arena, dfl_counts, n + 1),
                               .rough = DFL_NEW_ARRAY(nest->arena, bool, n + 1),
                               .moved = DFL_NEW_ARRAY(nest->arena, dfl_i128, n_operands + 1),
                               .largest = DFL_NEW_ARRAY(nest->arena, dfl_i128, n + 1),
                               .points = DFL_NEW_ARRAY(nest->arena, dfl_i128, nest->workload->n_einsums + 1),
                               .steps = DFL_NEW_ARRAY(nest->arena, dfl_i128, nest->workload->n_einsums + 1),
                               .forwarded = DFL_NEW_ARRAY(nest->arena, dfl_i128, nest->system->n_axes + 1),
                               .unfilled = DFL_NEW_ARRAY(nest->arena, dfl_i128, n + 1),
                               .taken = DFL_NEW_ARRAY(nest->arena, dfl_i128, n + 1),
                               .defined = DFL_NEW_ARRAY(nest->arena, dfl_i128, n + 1) };
}

