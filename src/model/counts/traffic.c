/* Counting reads and writes. The rules are those of MODEL.md section 1; the bookkeeping of values is section 2. */
#include "model/counts/traffic.h"

#include <string.h>

#include "model/counts/product_form.h"

typedef struct {
    dfl_setting *set;
    dfl_keeps *keeps;
    bool one;                 /* one instance instead of all */
    dfl_counts *counts;
    dfl_traffic_sums *out;
    bool ok;
    bool over;                /* a sum passed 2^127 */
} counter;

static void add(counter *c, dfl_i128 *to, dfl_i128 n) { c->over |= dfl_add(*to, n, to); }

static const dfl_moves *fill(counter *c, dfl_moves *m)
{
    static const dfl_moves nothing;

    c->ok = c->ok && dfl_moves_fill(c->set, m);
    return c->ok ? m : &nothing;
}

static void count_read_only(counter *c, uint32_t at)
{
    const dfl_keep *k = &c->keeps->at[at];
    const dfl_keep_moves *how = c->one ? &k->one : &k->all;
    dfl_i128 entered = fill(c, how->each)->enter, served = fill(c, how->shared)->enter;

    c->counts[at].fill = entered;
    add(c, &c->counts[k->parent].serve, served);
    if (c->one)
        c->out->outer_busiest[at] = (dfl_counts){ .serve = served };
    if (k->forward == DFL_NONE)
        return;
    dfl_i128 passed = entered - fill(c, how->passed)->enter;
    add(c, &c->counts[at].serve, passed);
    c->out->rough[at] = true; /* what one instance gets is not what it gives */
    if (!c->one)
        add(c, &c->out->forwarded[c->set->paths->paths[k->point.einsum].steps[k->forward].line->axis], passed);
}

static void needed_again(counter *c, const dfl_keep *k)
{
    const dfl_tensor *t = &c->set->w->tensors[k->line->tensor];
    const char *name = dfl_sym_text(c->set->names, t->name);
    dfl_diag *d = dfl_report(c->set->sink, DFL_MAP_NEEDED_AFTER_RELEASE, k->line->span,
                             "elements of `%s` are needed again after this keep has released them", name);
    dfl_diag_here(c->set->sink, d, "nothing outside holds them");
    dfl_diag_label(c->set->sink, d, t->span, "`%s` is declared here", name);
    if (k->all.starts)
        dfl_diag_help(c->set->sink, d, "move this keep above the loops that return to the elements, or keep `%s` in an outer "
                      "memory; `recompute` computes again what a loop outside of those returns to", name);
    else
        dfl_diag_help(c->set->sink, d, "move this keep above the loops that return to the elements, keep `%s` in an outer "
                      "memory, or say `recompute %s;`", name, name);
    c->ok = false;
}

static void check_home(counter *c, const dfl_keep *k)
{
    dfl_i128 once = fill(c, k->united)->enter;

    if (c->ok && fill(c, k->all.each)->enter != once) {
        dfl_setting_refuse(c->set, k->line->span, "a result whose home holds it in several instances",
                           "keep it in a memory outside the array first");
        c->ok = false;
    }
    if (c->set->w->tensors[k->line->tensor].role != DFL_ROLE_INTERMEDIATE)
        return; /* never released at home */
    if (c->ok && once > k->distinct)
        needed_again(c, k);
}

static void count_home(counter *c, uint32_t at)
{
    const dfl_keep *k = &c->keeps->at[at];
    const dfl_keep_moves *how = c->one ? &k->one : &k->all;
    dfl_i128 entered = fill(c, how->each)->enter, *unfilled = &c->out->unfilled[at];

    if (how->starts) {
        *unfilled = fill(c, how->starts)->present;
        /* a sum would not do: what is made again while it is still here makes up for nothing that comes back */
        if (!c->one && fill(c, how->supplied)->enter < entered && c->ok)
            needed_again(c, k);
        return;
    }
    if (!c->one)
        check_home(c, k);
    *unfilled = entered;
    if (entered > k->distinct && c->set->w->tensors[k->line->tensor].role != DFL_ROLE_INTERMEDIATE)
        *unfilled = k->distinct; /* an element that comes back is still there */
}

/* A joint entry finds the value that was drained before, unless some other instance holds the element at the time.
   Where single ranks index the result, that one has held it ever since the drain; windows may have come back to it. */
static void refuse_late(counter *c, const dfl_keep *k, const dfl_moves *joined)
{
    if (!joined->late || !k->windows)
        return;
    dfl_setting_refuse(c->set, k->line->span, "a result that enters one instance while another one holds it",
                       "keep it in a memory outside the array");
    c->ok = false;
}

/* Elements of those that moves `m` are of, among all that are made; a negative number where tiles may overlap or are made
   again, so that this cannot be told from their sizes. */
static dfl_i128 made_in(counter *c, const dfl_keep *k, dfl_moves *m)
{
    dfl_i128 all = 0, some = 0;

    if (!k->all.made || k->windows)
        return -1;
    c->ok = c->ok && dfl_moves_apart(c->set, k->all.made, &all) && dfl_moves_apart(c->set, m, &some);
    return all == k->distinct ? some : -1;
}

/* Elsewhere as many of the `entered` entries into the first instance find a value as of all joint ones. */
static dfl_i128 share_of(dfl_i128 entered, dfl_i128 filled, dfl_i128 joint)
{
    dfl_i128 product;

    if (entered == joint || filled == 0)
        return filled < entered ? filled : entered;
    for (; joint > 0 && dfl_mul(entered, filled, &product); filled /= 2)
        joint /= 2;
    return joint > 0 ? product / joint : 0;
}

static void count_written(counter *c, uint32_t at)
{
    const dfl_keep *k = &c->keeps->at[at];
    const dfl_keep_moves *how = c->one ? &k->one : &k->all;
    dfl_traffic_sums *out = c->out;

    if (!how->joined) {
        dfl_setting_refuse(c->set, k->line->span, "a recomputed tensor that is kept in two memories above its branch",
                           "keep it in one memory above the branch");
        c->ok = false;
        return;
    }
    dfl_i128 entered = fill(c, how->starts_each)->enter;
    /* one instance takes the value back; the first residency inside an unfilled outer one finds none */
    const dfl_moves *joined = fill(c, how->joined);
    refuse_late(c, k, joined);
    dfl_i128 joint = joined->enter, filled = joint - out->unfilled[k->parent];
    for (uint32_t i = 0; i < how->n_stays; i++)
        filled -= fill(c, how->stays[i].with)->enter - fill(c, how->stays[i].without)->enter;
    /* coordinate 0 is the first to take a value, so of each of its elements only the first entry finds none */
    dfl_i128 made = !c->one ? k->distinct : how->anew ? -1 : made_in(c, k, how->made);
    dfl_i128 own = !c->one ? filled : made >= 0 ? entered - made : share_of(entered, filled, joint);
    /* ... unless an element stays there, flushed, when it enters another one, which then takes it */
    bool passed_by = how->coming && fill(c, how->coming)->enter != fill(c, how->each)->enter;
    out->rough[at] = made < 0 && (entered != joint || passed_by || out->rough[k->parent] ||
                                  (k->windows && fill(c, k->all.each)->enter != entered));

    c->counts[at].fill = own;
    add(c, &c->counts[k->parent].serve, filled);
    out->unfilled[at] = entered - own;
    if (c->one)
        out->outer_busiest[at] = (dfl_counts){ .serve = filled };
    if (k->exchanged && !(k->adding & c->set->sizes[k->producer].moving)) {
        /* made in one visit, read in others: only the residency in which an element is made is drained */
        dfl_i128 given = c->one ? made_in(c, k, how->given) : k->distinct;
        if (given < 0 || made < 0) {
            out->rough[at] |= how->anew;
            out->rough[k->parent] |= how->anew;
            made = entered < k->distinct ? entered : k->distinct;
            given = k->distinct;
        }
        c->counts[at].drain = made;
        add(c, &c->counts[k->parent].update, given);
        if (c->one)
            out->outer_busiest[at].update = given;
        return;
    }
    if (how->supplied && fill(c, how->supplied)->enter < entered && c->ok) {
        dfl_setting_refuse(c->set, k->line->span, "a result that some of the visits to this keep add to and others only read",
                           "keep it further out only");
        c->ok = false;
        return;
    }
    add(c, &out->taken[k->parent], filled);
    c->counts[at].drain = how->starts_each->leave;
    dfl_i128 updates = fill(c, how->meeting)->leave;
    add(c, &c->counts[k->parent].update, updates);
    if (c->one) {
        out->outer_busiest[at].update = updates;
        /* what does not meet on the way is added at the outer keep */
        dfl_i128 added = updates - joint;
        out->outer_busiest[at].accumulate = added > 0 ? added : 0;
    }
}

/* What a box adds to a produced tensor is made elsewhere, or later. */
static void check_box(counter *c, const dfl_keep *k)
{
    if (!k->box || !k->produced || !fill(c, c->one ? k->one.each : k->all.each)->widened)
        return;
    dfl_setting_refuse(c->set, k->line->span, "a bounding box of a produced tensor that holds more than what is touched",
                       "leave `window` out of the keeps of this tensor");
    c->ok = false;
}

static void count_operand(counter *c, const dfl_operand *o, dfl_i128 *moved)
{
    const dfl_moves *m = fill(c, c->one ? o->one : o->all);
    dfl_i128 read = o->reuse ? m->enter : m->present;

    *moved = o->output ? m->present : read;
    if (o->output) {
        add(c, &c->counts[o->inner].update, m->present);
        if (c->one)
            add(c, &c->out->ops_busiest[o->inner].update, m->present);
    } else {
        add(c, &c->counts[o->inner].serve, read);
    }
}

static void count_pass(counter *c, const dfl_traffic_plan *plan)
{
    dfl_traffic_sums *out = c->out;

    memset(c->counts, 0, c->keeps->n * sizeof *c->counts);
    for (uint32_t i = 0; i < plan->n_written; i++) {
        out->taken[plan->written[i]] = 0;
        out->ops_busiest[plan->written[i]].update = 0;
    }
    for (uint32_t i = 0; i < plan->n_visits && c->ok; i++) {
        uint32_t at = plan->visits[i];
        const dfl_keep *k = &c->keeps->at[at];
        check_box(c, k);
        if (!k->written)
            count_read_only(c, at);
        else if (k->parent == DFL_NONE)
            count_home(c, at);
        else
            count_written(c, at);
    }
    for (uint32_t i = 0; i < plan->n_operands && c->ok; i++)
        count_operand(c, &plan->operands[i], &out->moved[i]);
    /* every residency that starts without a value and every value in an inner keep's care makes one update that finds
       nothing to add to (MODEL.md, section 2) */
    for (uint32_t i = 0; i < plan->n_written; i++) {
        uint32_t at = plan->written[i];
        dfl_i128 found = c->counts[at].update - out->unfilled[at] - out->taken[at];
        c->counts[at].accumulate = found > 0 || !c->one ? found : 0;
        dfl_i128 own = out->ops_busiest[at].update - out->unfilled[at];
        out->ops_busiest[at].accumulate = c->one && own > 0 ? own : 0;
    }
}

bool dfl_traffic_count(dfl_setting *set, dfl_keeps *keeps, const dfl_traffic_plan *plan, dfl_traffic_sums *out)
{
    counter c = { .set = set, .keeps = keeps, .counts = out->all, .out = out, .ok = true };

    dfl_closed_fill(set);
    memset(out->rough, 0, keeps->n * sizeof *out->rough);
    for (uint32_t a = 0; a < set->s->n_axes; a++)
        out->forwarded[a] = 0;
    count_pass(&c, plan);
    for (uint32_t e = 0; e < set->w->n_einsums && c.ok; e++) {
        out->points[e] = fill(&c, plan->points[e])->present;
        out->steps[e] = fill(&c, plan->steps[e])->present;
    }
    for (uint32_t i = 0; i < keeps->n && c.ok; i++)
        out->most[i] = fill(&c, keeps->at[i].all.each)->most;
    c.one = true;
    c.counts = out->busiest;
    if (c.ok)
        count_pass(&c, plan);
    return c.ok && c.over ? dfl_flow_too_big(set, set->m->span) : c.ok;
}
