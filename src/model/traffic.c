/* Counting reads and writes. The rules are those of MODEL.md section 1; the bookkeeping of values is section 2. */
#include "model/traffic.h"

#include "support/vec.h"

typedef struct {
    dfl_setting *set;
    dfl_keeps *keeps;
    bool one;                 /* one instance instead of all */
    dfl_counts *counts;
    dfl_i128 *unfilled;       /* per keep: residencies of elements that start without a value */
    dfl_i128 *taken;          /* per keep: values that inner keeps take into their care */
    dfl_traffic_sums *out;
    dfl_point *const *ops;    /* per einsum: its inputs, its output, and no tensor at all; all its loops above */
    bool ok;
} counter;

static dfl_i128 flow_enter(counter *c, dfl_point *p, const dfl_sharing *how)
{
    dfl_flow f = { 0 };

    c->ok = c->ok && dfl_flow_of(c->set, p, how, &f);
    return c->ok ? f.enter : 0;
}

static dfl_i128 flow_leave(counter *c, dfl_point *p, const dfl_sharing *how)
{
    dfl_flow f = { 0 };

    c->ok = c->ok && dfl_flow_of(c->set, p, how, &f);
    return c->ok ? f.leave : 0;
}

static uint32_t element_of(const counter *c, const dfl_keep *k) { return c->set->s->memories[k->line->memory].element; }

static uint64_t around(const counter *c, const dfl_keep *of, const dfl_keep *k)
{
    return dfl_steps_around(c->set, of->point.einsum, of->step, element_of(c, k));
}

static uint64_t spatial_steps(const counter *c, uint32_t e, uint32_t n)
{
    const dfl_path *p = &c->set->paths->paths[e];
    uint64_t bits = 0;

    for (uint32_t i = 0; i < n; i++)
        if (p->steps[i].line->kind == DFL_LINE_SPATIAL)
            bits |= UINT64_C(1) << i;
    return bits;
}

/* The way instances of keep `k` share, seen from the instances of the memory of keep `from`. */
static dfl_sharing sharing(const counter *c, const dfl_keep *k, const dfl_keep *from, uint64_t united)
{
    dfl_sharing how = dfl_keep_sharing(c->set, k);

    how.united = united;
    how.first_only = c->one ? around(c, k, from) : 0;
    return how;
}

/* The spatial step on an axis between parent and keep over which neighbours forward, or DFL_NONE. */
static uint32_t forwarding(counter *c, const dfl_keep *k, uint64_t between)
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
        if (k->line->mode != DFL_KEEP_FRESH)
            continue;
        dfl_setting_refuse(c->set, k->line->span, "a `fresh` keep that neighbours forward into", "leave `fresh` out");
        c->ok = false;
    }
    return found;
}

static void count_read_only(counter *c, uint32_t at)
{
    dfl_keep *k = &c->keeps->at[at], *outer = &c->keeps->at[k->parent];
    uint64_t between = around(c, k, k) & ~around(c, k, outer);
    uint64_t united = dfl_steps_served(c->set, k->point.einsum, between, k->line->tensor, false);
    uint32_t forward = forwarding(c, k, between);
    dfl_sharing each = sharing(c, k, k, 0), shared = sharing(c, k, outer, united);
    dfl_i128 entered = flow_enter(c, &k->point, &each);

    c->counts[at].fill += entered;
    shared.forward = forward;
    dfl_i128 served = flow_enter(c, &k->point, &shared);
    c->counts[k->parent].serve += served;
    if (c->one)
        c->out->outer_busiest[at].serve += served;
    if (forward == DFL_NONE)
        return;
    each.forward = forward;
    dfl_i128 passed = entered - flow_enter(c, &k->point, &each);
    c->counts[at].serve += passed;
    if (!c->one)
        c->out->forwarded[c->set->paths->paths[k->point.einsum].steps[forward].line->axis] += passed;
}

/* How often a restricted producer starts to compute an element. */
static dfl_i128 starts(counter *c, const dfl_keep *k)
{
    const dfl_path *p = &c->set->paths->paths[k->producer];
    dfl_view *view = DFL_NEW(c->set->arena, dfl_view);
    dfl_flow f = { 0 };

    *view = (dfl_view){ k->producer, &c->set->w->einsums[k->producer].output };
    dfl_point point = { .einsum = k->producer, .n = p->n_above, .restart = p->n_above, .tensor = k->line->tensor,
                        .views = view, .n_views = 1, .span = k->line->span };
    dfl_sharing how = sharing(c, k, k, 0);
    c->ok = c->ok && dfl_flow_of(c->set, &point, &how, &f);
    return f.present;
}

static bool recomputed(const counter *c, const dfl_keep *k)
{
    const dfl_path *p = &c->set->paths->paths[k->producer];

    return p->has_exchange && p->exchange.recompute && p->exchange.restricts;
}

static void needed_again(counter *c, const dfl_keep *k)
{
    const dfl_tensor *t = &c->set->w->tensors[k->line->tensor];
    const char *name = dfl_sym_text(c->set->names, t->name);
    dfl_diag *d = dfl_report(c->set->sink, DFL_MAP_NEEDED_AFTER_RELEASE, k->line->span,
                             "elements of `%s` are needed again after this keep has released them", name);
    dfl_diag_here(c->set->sink, d, "nothing outside holds them");
    dfl_diag_label(c->set->sink, d, t->span, "`%s` is declared here", name);
    dfl_diag_help(c->set->sink, d, "move this keep above the loops that return to the elements, keep `%s` in an outer memory, "
                  "or say `recompute %s;`", name, name);
    c->ok = false;
}

static void check_home(counter *c, dfl_keep *k)
{
    dfl_i128 distinct = 0;
    dfl_sharing how = sharing(c, k, k, around(c, k, k));
    dfl_sharing each = sharing(c, k, k, 0);

    if (c->one || !c->ok)
        return;
    c->ok = dfl_flow_distinct(c->set, &c->set->w->einsums[k->producer].output, &distinct);
    dfl_i128 once = flow_enter(c, &k->point, &how);
    if (c->ok && flow_enter(c, &k->point, &each) != once) {
        dfl_setting_refuse(c->set, k->line->span, "a result whose home holds it in several instances",
                           "keep it in a memory outside the array first");
        c->ok = false;
    }
    if (c->set->w->tensors[k->line->tensor].role != DFL_ROLE_INTERMEDIATE)
        return; /* never released at home */
    if (!c->ok || once <= distinct)
        return;
    needed_again(c, k);
}

/* A joint entry finds the value that was drained before, unless some other instance holds the element at the time.
   Where single ranks index the result, that one has held it ever since the drain; windows may have come back to it. */
static void refuse_late(counter *c, dfl_keep *k, const dfl_sharing *joined)
{
    const dfl_access *out = &c->set->w->einsums[k->producer].output;
    bool windows = false;
    dfl_flow f = { 0 };

    for (uint32_t d = 0; d < out->n_dims; d++)
        windows |= out->index[d].n_terms > 1;
    if (!windows || !dfl_flow_of(c->set, &k->point, joined, &f) || !f.late)
        return;
    dfl_setting_refuse(c->set, k->line->span, "a result that enters one instance while another one holds it",
                       "keep it in a memory outside the array");
    c->ok = false;
}

/* Of `entered` entries into the first instance as many find a value as of all joint ones: where instances share an
   element the first one takes the value. */
static dfl_i128 share_of(dfl_i128 entered, dfl_i128 filled, dfl_i128 joint)
{
    dfl_i128 product;

    if (joint <= 0 || dfl_mul(entered, filled, &product))
        return filled < entered ? filled : entered;
    return product / joint;
}

static void count_written(counter *c, uint32_t at)
{
    dfl_keep *k = &c->keeps->at[at];
    dfl_sharing each = sharing(c, k, k, 0);

    if (k->parent == DFL_NONE) {
        if (recomputed(c, k) && k->exchanged) {
            c->unfilled[at] = starts(c, k);
            dfl_i128 entered = flow_enter(c, &k->point, &each);
            if (c->ok && !c->one && entered > c->unfilled[at])
                needed_again(c, k); /* something comes back and is not computed */
        } else {
            dfl_i128 distinct = 0;
            check_home(c, k);
            c->ok = c->ok && dfl_flow_distinct(c->set, &c->set->w->einsums[k->producer].output, &distinct);
            c->unfilled[at] = flow_enter(c, &k->point, &each);
            if (c->unfilled[at] > distinct && c->set->w->tensors[k->line->tensor].role != DFL_ROLE_INTERMEDIATE)
                c->unfilled[at] = distinct; /* an element that comes back is still there */
        }
        return;
    }
    dfl_keep *outer = &c->keeps->at[k->parent];
    if (recomputed(c, k) && k->exchanged) {
        dfl_setting_refuse(c->set, k->line->span, "a recomputed tensor that is kept in two memories above its branch",
                           "keep it in one memory above the branch");
        c->ok = false;
        return;
    }
    uint64_t between = around(c, k, k) & ~around(c, k, outer);
    uint64_t reduced = dfl_steps_served(c->set, k->point.einsum, between, k->line->tensor, true);
    dfl_sharing joined = sharing(c, k, outer, between), meeting = sharing(c, k, outer, reduced);
    dfl_i128 entered = flow_enter(c, &k->point, &each);
    /* one instance takes the value back; the first residency inside an unfilled outer one finds none */
    refuse_late(c, k, &joined);
    dfl_i128 joint = flow_enter(c, &k->point, &joined), filled = joint - c->unfilled[k->parent];
    dfl_i128 own = c->one ? share_of(entered, filled, joint) : filled;

    c->counts[at].fill += own;
    c->counts[k->parent].serve += filled;
    c->unfilled[at] = entered - own;
    if (c->one)
        c->out->outer_busiest[at].serve += filled;
    if (k->exchanged && !k->online) {
        /* made in one visit, read in others: only the residency in which an element is made is drained */
        dfl_i128 made = 0;
        c->ok = c->ok && dfl_flow_distinct(c->set, &c->set->w->einsums[k->producer].output, &made);
        if (c->one && made > entered)
            made = entered;
        c->counts[at].drain += made;
        c->counts[k->parent].update += made;
        if (c->one)
            c->out->outer_busiest[at].update += made;
        return;
    }
    c->taken[k->parent] += filled;
    c->counts[at].drain += flow_leave(c, &k->point, &each);
    dfl_i128 updates = flow_leave(c, &k->point, &meeting);
    c->counts[k->parent].update += updates;
    if (c->one) {
        c->out->outer_busiest[at].update += updates;
        /* what does not meet on the way is added at the outer keep */
        dfl_i128 added = updates - flow_enter(c, &k->point, &joined);
        c->out->outer_busiest[at].accumulate += added > 0 ? added : 0;
    }
}

/* Transfers between the operations of an einsum and the innermost keep of one of its accesses. */
static void count_operand(counter *c, uint32_t e, dfl_point *point, bool output)
{
    const dfl_access *a = point->views[0].access;
    const dfl_path *p = &c->set->paths->paths[e];
    const dfl_compute *unit = &c->set->s->computes[p->compute];
    uint32_t inner = dfl_keep_innermost(c->set, c->keeps, e, a->tensor);
    const dfl_keep *k = &c->keeps->at[inner];
    uint64_t all = dfl_steps_around(c->set, e, p->n_steps, unit->element);
    uint64_t mine = dfl_steps_around(c->set, e, p->n_steps, element_of(c, k));
    dfl_sharing how = { .united = dfl_steps_served(c->set, e, all & ~mine, a->tensor, output), .forward = DFL_NONE,
                        .first_only = c->one ? mine : 0 };
    dfl_flow f = { 0 };

    c->ok = c->ok && dfl_flow_of(c->set, point, &how, &f);
    dfl_counts *ops = &c->out->ops_busiest[inner];
    dfl_i128 read = dfl_selects(&unit->operand_reuse, &c->set->w->tensors[a->tensor]) ? f.enter : f.present;
    if (output) {
        c->counts[inner].update += f.present;
        ops->update += c->one ? f.present : 0;
    } else {
        c->counts[inner].serve += read;
        ops->serve += c->one ? read : 0;
    }
}

static void count_operations(counter *c, uint32_t e, dfl_point *point)
{
    dfl_sharing each = { .forward = DFL_NONE }, together = { .forward = DFL_NONE,
                                                             .united = spatial_steps(c, e, point->n) };
    dfl_flow f = { 0 };

    c->ok = c->ok && dfl_flow_of(c->set, point, &each, &f);
    c->out->points[e] = f.present;
    c->ok = c->ok && dfl_flow_of(c->set, point, &together, &f);
    c->out->steps[e] = f.present;
}

static dfl_point operand_point(dfl_setting *set, uint32_t e, const dfl_access *a, dfl_span span)
{
    const dfl_path *p = &set->paths->paths[e];
    dfl_view *view = DFL_NEW(set->arena, dfl_view);

    *view = (dfl_view){ e, a };
    return (dfl_point){ .einsum = e, .n = p->n_steps, .restart = dfl_steps_above(p->leaf), .tensor = a->tensor,
                        .views = view, .n_views = 1, .span = span };
}

/* The points of all operands, then of the output, then of the operations themselves. */
static dfl_point *const *operand_points(dfl_setting *set)
{
    dfl_point **all = DFL_NEW_ARRAY(set->arena, dfl_point *, set->w->n_einsums + 1);

    for (uint32_t e = 0; e < set->w->n_einsums; e++) {
        const dfl_einsum *einsum = &set->w->einsums[e];
        dfl_access *none = DFL_NEW(set->arena, dfl_access);
        all[e] = DFL_NEW_ARRAY(set->arena, dfl_point, einsum->n_inputs + 2);
        *none = (dfl_access){ .tensor = einsum->output.tensor };
        for (uint32_t a = 0; a < einsum->n_inputs; a++)
            all[e][a] = operand_point(set, e, &einsum->inputs[a], einsum->inputs[a].span);
        all[e][einsum->n_inputs] = operand_point(set, e, &einsum->output, einsum->output.span);
        all[e][einsum->n_inputs + 1] = operand_point(set, e, none, einsum->span);
    }
    return all;
}

static void count_all(counter *c)
{
    const dfl_workload *w = c->set->w;

    for (uint32_t i = 0; i < c->keeps->n && c->ok; i++) {
        if (c->keeps->at[i].written)
            count_written(c, i);
        else if (c->keeps->at[i].parent != DFL_NONE)
            count_read_only(c, i);
    }
    for (uint32_t e = 0; e < w->n_einsums && c->ok; e++) {
        for (uint32_t a = 0; a < w->einsums[e].n_inputs; a++)
            count_operand(c, e, &c->ops[e][a], false);
        count_operand(c, e, &c->ops[e][w->einsums[e].n_inputs], true);
        if (!c->one)
            count_operations(c, e, &c->ops[e][w->einsums[e].n_inputs + 1]);
    }
    /* every residency that starts without a value and every value in an inner keep's care makes one update that finds
       nothing to add to (MODEL.md, section 2) */
    for (uint32_t i = 0; i < c->keeps->n; i++)
        if (c->keeps->at[i].written) {
            dfl_i128 found = c->counts[i].update - c->unfilled[i] - c->taken[i];
            c->counts[i].accumulate = found > 0 || !c->one ? found : 0;
            dfl_i128 own = c->out->ops_busiest[i].update - c->unfilled[i];
            c->out->ops_busiest[i].accumulate = c->one && own > 0 ? own : 0;
        }
}

/* Iterations of all temporal loops down to the end of each body's lines, nominally. */
static void count_visits(const dfl_setting *set, double *visits)
{
    for (uint32_t b = 0; b < set->m->n_bodies; b++) {
        const dfl_body *body = set->m->bodies[b];
        uint32_t e = body->einsums[0], n = dfl_steps_above(body) + body->n_lines;
        visits[b] = 1;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t d = set->paths->paths[e].steps[i].line->kind == DFL_LINE_TEMPORAL ? dfl_place_driver(set, e, i) : DFL_NONE;
            if (d != DFL_NONE) {
                const dfl_path_step *s = &set->paths->paths[d].steps[i];
                visits[b] *= (double)dfl_ceil_div(s->nominal, s->tile);
            }
        }
    }
}

bool dfl_traffic_count(dfl_setting *set, dfl_keeps *keeps, dfl_traffic_sums *out)
{
    uint32_t n = keeps->n;

    *out = (dfl_traffic_sums){ .all = DFL_NEW_ARRAY(set->arena, dfl_counts, n + 1),
                               .busiest = DFL_NEW_ARRAY(set->arena, dfl_counts, n + 1),
                               .outer_busiest = DFL_NEW_ARRAY(set->arena, dfl_counts, n + 1),
                               .ops_busiest = DFL_NEW_ARRAY(set->arena, dfl_counts, n + 1),
                               .visits = DFL_NEW_ARRAY(set->arena, double, set->m->n_bodies + 1),
                               .most = DFL_NEW_ARRAY(set->arena, dfl_i128, n + 1),
                               .points = DFL_NEW_ARRAY(set->arena, dfl_i128, set->w->n_einsums + 1),
                               .steps = DFL_NEW_ARRAY(set->arena, dfl_i128, set->w->n_einsums + 1),
                               .forwarded = DFL_NEW_ARRAY(set->arena, dfl_i128, set->s->n_axes + 1) };
    count_visits(set, out->visits);
    dfl_point *const *ops = operand_points(set);
    for (int pass = 0; pass < 2; pass++) {
        counter c = { .set = set, .keeps = keeps, .one = pass == 1, .counts = pass ? out->busiest : out->all,
                      .unfilled = DFL_NEW_ARRAY(set->arena, dfl_i128, n + 1),
                      .taken = DFL_NEW_ARRAY(set->arena, dfl_i128, n + 1), .out = out, .ops = ops, .ok = true };
        count_all(&c);
        for (uint32_t i = 0; pass == 0 && c.ok && i < n; i++) {
            dfl_flow f = { 0 };
            dfl_sharing each = sharing(&c, &keeps->at[i], &keeps->at[i], 0);
            c.ok = dfl_flow_of(set, &keeps->at[i].point, &each, &f);
            out->most[i] = f.most;
        }
        if (!c.ok)
            return false;
    }
    return true;
}
