/* Which ways of sharing the counts need: found once for a mapping, whatever its sizes. */
#include "model/counts/traffic_plan.h"

#include "model/sets/access_elements.h"
#include "support/vec.h"

typedef struct {
    dfl_setting *set;
    dfl_keeps *keeps;
    bool one; /* one instance instead of all */
    bool ok;
} maker;

static dfl_moves *moves(maker *c, dfl_point *p, const dfl_sharing *how)
{
    dfl_moves *m = c->ok ? dfl_moves_of(c->set, p, how, false) : NULL;

    c->ok = m != NULL;
    return m;
}

static uint32_t element_of(const maker *c, const dfl_keep *k) { return c->set->s->memories[k->line->memory].element; }

static uint64_t around(const maker *c, const dfl_keep *of, const dfl_keep *k)
{
    return dfl_steps_around(c->set, of->point.einsum, of->step, element_of(c, k));
}

static dfl_moves *present(maker *c, dfl_point *p, const dfl_sharing *how)
{
    dfl_moves *m = c->ok ? dfl_present_of(c->set, p, how) : NULL;

    c->ok = m != NULL;
    return m;
}

/* The way instances of keep `k` share, seen from the instances of the memory of keep `from`. */
static dfl_sharing sharing(const maker *c, const dfl_keep *k, const dfl_keep *from, uint64_t united)
{
    dfl_sharing how = dfl_keep_sharing(c->set, k);

    how.united = united;
    how.first_only = c->one ? around(c, k, from) : 0;
    return how;
}

/* The spatial step on an axis between parent and keep over which neighbours forward, or DFL_NONE. */
static uint32_t forwarding(maker *c, const dfl_keep *k, uint64_t between)
{
    const dfl_path *p = &c->set->paths->paths[k->point.einsum];
    uint32_t found = DFL_NONE;

    for (uint64_t left = k->produced ? 0 : between; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        if (!c->set->s->axes[p->steps[i].line->axis].forward)
            continue;
        if (found != DFL_NONE) {
            dfl_setting_refuse(c->set, p->steps[i].line->span, "forwarding over several loops at once",
                               "forward along one axis that one loop is spread over");
            c->ok = false;
        }
        found = i;
    }
    return found;
}

static void plan_read_only(maker *c, dfl_keep *k, dfl_keep_moves *out)
{
    dfl_keep *outer = &c->keeps->at[k->parent];
    uint64_t between = around(c, k, k) & ~around(c, k, outer);
    uint64_t united = dfl_steps_served(c->set, k->point.einsum, between, k->line->tensor, false);
    dfl_sharing each = sharing(c, k, k, 0), shared = sharing(c, k, outer, united);

    dfl_point *point = &k->point;

    k->forward = forwarding(c, k, between);
    each.forward = shared.forward = k->forward;
    if (k->forward != DFL_NONE && k->fresh) {
        point = dfl_keep_point(c->set, k, c->set->fold->above[k->body->id]);
        each.anew = shared.anew = true;
    }
    out->shared = moves(c, point, &shared);
    if (k->forward != DFL_NONE)
        out->passed = moves(c, point, &each);
}

/* Tiles of the producer of a recomputed tensor, at the branch where it meets its readers. */
static dfl_moves *plan_starts(maker *c, const dfl_keep *k, const dfl_sharing *how)
{
    const dfl_path *p = &c->set->paths->paths[k->producer];
    dfl_view *view = DFL_NEW(c->set->arena, dfl_view);
    dfl_point *point = DFL_NEW(c->set->arena, dfl_point);

    *view = (dfl_view){ k->producer, &c->set->w->einsums[k->producer].output };
    *point = (dfl_point){ .einsum = k->producer, .n = p->n_above, .restart = p->n_above, .tensor = k->line->tensor,
                          .views = view, .n_views = 1, .span = k->line->span };
    return moves(c, point, how);
}

static bool recomputed(const maker *c, const dfl_keep *k)
{
    const dfl_path *p = &c->set->paths->paths[k->producer];

    return p->has_exchange && p->exchange.recompute && p->exchange.restricts;
}

static void plan_home(maker *c, dfl_keep *k, dfl_keep_moves *out)
{
    if (recomputed(c, k) && k->exchanged) {
        dfl_sharing each = sharing(c, k, k, 0);
        each.box = false; /* what is made, not what is held */
        out->starts = plan_starts(c, k, &each);
        if (c->one)
            return;
        each.made = true;
        out->supplied = moves(c, &k->point, &each);
    } else if (!c->one) {
        dfl_sharing united = sharing(c, k, k, around(c, k, k));
        k->united = moves(c, &k->point, &united);
    }
}

/* Where readers meet the producer below the keep, its tiles are more than what is made; what is made again is not
   counted so. */
static void plan_made(maker *c, const dfl_keep *k, dfl_keep_moves *out)
{
    dfl_sharing each = sharing(c, k, k, 0);

    if (!k->exchanged) {
        out->made = recomputed(c, k) ? NULL : out->each;
        return;
    }
    dfl_view *view = DFL_NEW(c->set->arena, dfl_view);
    dfl_point *point = DFL_NEW(c->set->arena, dfl_point);
    *view = (dfl_view){ k->producer, &c->set->w->einsums[k->producer].output };
    *point = (dfl_point){ .einsum = k->producer, .n = k->step, .restart = k->flushed->restart, .tensor = k->line->tensor,
                          .views = view, .n_views = 1, .span = k->line->span };
    out->made = moves(c, point, &each);
    if (!c->one)
        return;
    each.first_only = around(c, k, &c->keeps->at[k->parent]);
    out->given = moves(c, point, &each);
}

/* Steps on which only the first of the instances that hold an element of a result is ever filled: those that do not
   index it. False where windows of the result lie across instances. */
static bool without_index(const maker *c, const dfl_keep *k, uint64_t steps, uint64_t *out)
{
    const dfl_path *p = &c->set->paths->paths[k->producer];
    const dfl_access *result = &c->set->w->einsums[k->producer].output;

    *out = steps;
    for (uint64_t left = steps; left; left &= left - 1)
        for (uint32_t d = 0; d < result->n_dims; d++)
            for (uint32_t t = 0; t < result->index[d].n_terms; t++) {
                if (result->index[d].terms[t].rank != p->steps[__builtin_ctzll(left)].rank)
                    continue;
                *out &= ~(left & -left);
                if (result->index[d].n_terms > 1)
                    return false;
            }
    return true;
}

static void add_stay(maker *c, dfl_keep *k, const dfl_keep *valued, uint32_t from, uint32_t to, dfl_keep_moves *out)
{
    const dfl_keep *outer = &c->keeps->at[k->parent];
    dfl_sharing how = sharing(c, k, outer, around(c, k, k) & ~around(c, k, outer));
    uint64_t first;

    if (!without_index(c, k, around(c, k, outer) & ~around(c, k, valued), &first)) {
        dfl_setting_refuse(c->set, k->line->span, "a result that stays inside a `fresh` keep and has windows across an array",
                           "make this keep `fresh`, too");
        c->ok = false;
        return;
    }
    how.first_only |= first;
    dfl_stay *stay = &out->stays[out->n_stays++];
    stay->with = moves(c, dfl_keep_point(c->set, k, to), &how);
    stay->without = moves(c, dfl_keep_point(c->set, k, from), &how);
}

/* A `fresh` keep around this one fetches values of elements that stay here, without a value since they were flushed.
   One instance of it gets them: the first one inside the innermost keep that is not refilled at that step. */
static void plan_stays(maker *c, dfl_keep *k, dfl_keep_moves *out)
{
    const dfl_keep *fresh = &c->keeps->at[k->parent];
    uint32_t brace = c->set->fold->above[k->body->id];

    if (k->fresh)
        return;
    out->stays = DFL_NEW_ARRAY(c->set->arena, dfl_stay, k->step + 1);
    while (fresh->fresh && fresh->parent != DFL_NONE && fresh->step > brace) {
        const dfl_keep *next = &c->keeps->at[fresh->parent];
        uint32_t from = next->fresh ? next->step : next->flushed->restart;
        if (from < fresh->step)
            add_stay(c, k, next, from > brace ? from : brace, fresh->step, out);
        fresh = next;
    }
}

/* Whether some outer keep of the tensor is refilled whole. */
static bool refilled_further_out(const maker *c, const dfl_keep *k)
{
    for (; k->parent != DFL_NONE; k = &c->keeps->at[k->parent])
        if (c->keeps->at[k->parent].fresh)
            return true;
    return false;
}

static void plan_written(maker *c, dfl_keep *k, dfl_keep_moves *out)
{
    const dfl_keep *outer = &c->keeps->at[k->parent];

    if (recomputed(c, k) && k->exchanged)
        return; /* refused unless the home finds fault first */
    uint64_t between = around(c, k, k) & ~around(c, k, outer);
    uint64_t reduced = dfl_steps_served(c->set, k->point.einsum, between, k->line->tensor, true);
    dfl_sharing joined = sharing(c, k, outer, between), meeting = sharing(c, k, outer, reduced);
    dfl_sharing each = sharing(c, k, k, 0);
    out->starts_each = moves(c, k->flushed, &each);
    out->joined = moves(c, k->flushed, &joined);
    if (c->one && k->flushed != &k->point)
        out->coming = moves(c, &k->point, &joined);
    out->meeting = moves(c, k->flushed, &meeting);
    if (k->exchanged && k->adding && !c->one) {
        each.made = true;
        out->supplied = moves(c, k->flushed, &each);
    }
    plan_stays(c, k, out);
    plan_made(c, k, out);
    out->anew = k->flushed != &k->point || out->n_stays > 0 || refilled_further_out(c, k);
}

/* Elements that no einsum makes have no value, so that nothing fills a keep with them and a home waits in vain. */
static void refuse_unmade(maker *c, const dfl_keep *k)
{
    const dfl_tensor *t = &c->set->w->tensors[k->line->tensor];
    const dfl_access *made = k->produced ? &c->set->w->einsums[k->producer].output : NULL;

    if (!made || (k->parent == DFL_NONE && t->role != DFL_ROLE_INTERMEDIATE))
        return; /* all there from the start, or the interface's */
    for (uint32_t v = 0; v < k->point.n_views && c->ok; v++) {
        if (dfl_flow_within(c->set, k->point.views[v].access, made))
            continue;
        dfl_setting_refuse(c->set, k->point.views[v].access->span, "a reader of elements that nothing makes",
                           "read only what the producer writes, or give the tensor a shape that ends there");
        c->ok = false;
    }
}

static void plan_keep(maker *c, dfl_keep *k)
{
    dfl_keep_moves *out = c->one ? &k->one : &k->all;
    dfl_sharing each = sharing(c, k, k, 0);

    if (!c->one)
        refuse_unmade(c, k);
    out->each = moves(c, &k->point, &each);
    if (!k->written) {
        if (k->parent != DFL_NONE)
            plan_read_only(c, k, out);
        return;
    }
    const dfl_access *result = &c->set->w->einsums[k->producer].output;
    for (uint32_t d = 0; d < result->n_dims; d++)
        k->windows |= result->index[d].n_terms > 1;
    if (k->parent == DFL_NONE)
        plan_home(c, k, out);
    else
        plan_written(c, k, out);
    if (c->ok && !c->one)
        c->ok = dfl_flow_distinct(c->set, &c->set->w->einsums[k->producer].output, &k->distinct);
}

static dfl_point *operand_point(dfl_setting *set, uint32_t e, const dfl_access *a, dfl_span span)
{
    const dfl_path *p = &set->paths->paths[e];
    dfl_view *view = DFL_NEW(set->arena, dfl_view);
    dfl_point *point = DFL_NEW(set->arena, dfl_point);

    *view = (dfl_view){ e, a };
    *point = (dfl_point){ .einsum = e, .n = p->n_steps, .restart = set->fold->above[p->leaf->id], .tensor = a->tensor,
                          .views = view, .n_views = 1, .span = span };
    return point;
}

static void plan_operand(maker *c, uint32_t e, const dfl_access *a, bool output, dfl_operand *out)
{
    const dfl_path *p = &c->set->paths->paths[e];
    const dfl_compute *unit = &c->set->s->computes[p->compute];
    dfl_point *point = operand_point(c->set, e, a, a->span);
    dfl_sharing how = { .forward = DFL_NONE };

    *out = (dfl_operand){ .inner = dfl_keep_innermost(c->set, c->keeps, e, a->tensor), .output = output,
                          .reuse = dfl_selects(&unit->operand_reuse, &c->set->w->tensors[a->tensor]) };
    uint64_t all = dfl_steps_around(c->set, e, p->n_steps, unit->element);
    uint64_t mine = dfl_steps_around(c->set, e, p->n_steps, element_of(c, &c->keeps->at[out->inner]));
    how.united = dfl_steps_served(c->set, e, all & ~mine, a->tensor, output);
    out->all = out->reuse ? moves(c, point, &how) : present(c, point, &how);
    how.first_only = mine;
    out->one = out->reuse ? moves(c, point, &how) : present(c, point, &how);
}

static uint64_t spatial_steps(const dfl_path *p)
{
    uint64_t bits = 0;

    for (uint32_t i = 0; i < p->n_steps; i++)
        if (p->steps[i].line->kind == DFL_LINE_SPATIAL)
            bits |= UINT64_C(1) << i;
    return bits;
}

static void plan_einsum(maker *c, uint32_t e, dfl_traffic_plan *out)
{
    const dfl_einsum *einsum = &c->set->w->einsums[e];
    dfl_access *none = DFL_NEW(c->set->arena, dfl_access);

    for (uint32_t a = 0; a < einsum->n_inputs; a++)
        plan_operand(c, e, &einsum->inputs[a], false, &out->operands[out->n_operands++]);
    plan_operand(c, e, &einsum->output, true, &out->operands[out->n_operands++]);
    *none = (dfl_access){ .tensor = einsum->output.tensor };
    dfl_point *point = operand_point(c->set, e, none, einsum->span);
    dfl_sharing each = { .forward = DFL_NONE };
    dfl_sharing together = { .forward = DFL_NONE, .united = spatial_steps(&c->set->paths->paths[e]) };
    out->points[e] = present(c, point, &each);
    out->steps[e] = present(c, point, &together);
}

bool dfl_traffic_plan_make(dfl_setting *set, dfl_keeps *keeps, dfl_traffic_plan *out)
{
    maker c = { .set = set, .keeps = keeps, .ok = true };
    uint32_t n = 0;

    for (uint32_t e = 0; e < set->w->n_einsums; e++)
        n += set->w->einsums[e].n_inputs + 1;
    *out = (dfl_traffic_plan){ .operands = DFL_NEW_ARRAY(set->arena, dfl_operand, n + 1),
                               .points = DFL_NEW_ARRAY(set->arena, dfl_moves *, set->w->n_einsums + 1),
                               .steps = DFL_NEW_ARRAY(set->arena, dfl_moves *, set->w->n_einsums + 1) };
    out->visits = DFL_NEW_ARRAY(set->arena, uint32_t, 2 * (size_t)keeps->n + 1);
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
    for (uint32_t e = 0; e < set->w->n_einsums && c.ok; e++)
        plan_einsum(&c, e, out);
    return c.ok;
}

void dfl_traffic_sums_make(const dfl_setting *set, const dfl_keeps *keeps, dfl_traffic_sums *out)
{
    uint32_t n = keeps->n, n_operands = 0;

    for (uint32_t e = 0; e < set->w->n_einsums; e++)
        n_operands += set->w->einsums[e].n_inputs + 1;
    *out = (dfl_traffic_sums){ .all = DFL_NEW_ARRAY(set->arena, dfl_counts, n + 1),
                               .busiest = DFL_NEW_ARRAY(set->arena, dfl_counts, n + 1),
                               .outer_busiest = DFL_NEW_ARRAY(set->arena, dfl_counts, n + 1),
                               .ops_busiest = DFL_NEW_ARRAY(set->arena, dfl_counts, n + 1),
                               .rough = DFL_NEW_ARRAY(set->arena, bool, n + 1),
                               .moved = DFL_NEW_ARRAY(set->arena, dfl_i128, n_operands + 1),
                               .most = DFL_NEW_ARRAY(set->arena, dfl_i128, n + 1),
                               .points = DFL_NEW_ARRAY(set->arena, dfl_i128, set->w->n_einsums + 1),
                               .steps = DFL_NEW_ARRAY(set->arena, dfl_i128, set->w->n_einsums + 1),
                               .forwarded = DFL_NEW_ARRAY(set->arena, dfl_i128, set->s->n_axes + 1),
                               .unfilled = DFL_NEW_ARRAY(set->arena, dfl_i128, n + 1),
                               .taken = DFL_NEW_ARRAY(set->arena, dfl_i128, n + 1) };
}
