/*
 * Reads and writes of every keep. The rules are those of MODEL.md, section 1; section 2 derives the counts of values.
 */
#include "model/counts/traffic.h"

#include <string.h>

#include "model/counts/product_form.h"

typedef struct {
    dfl_nest *nest;
    dfl_keep_tree *keeps;
    bool one;  /* count one instance (coordinate 0 on every axis) instead of all */
    dfl_counts *counts;
    dfl_traffic_sums *out;
    bool ok;
    bool over; /* some sum passed 2^127 */
} traffic_pass;

static void add_count(traffic_pass *c, dfl_i128 *to, dfl_i128 n) { c->over |= dfl_add(*to, n, to); }

static const dfl_delta *fill_delta(traffic_pass *c, dfl_delta *m)
{
    static const dfl_delta nothing;

    c->ok = c->ok && dfl_delta_fill(c->nest, m);
    return c->ok ? m : &nothing;
}

static void count_read_only(traffic_pass *c, uint32_t at)
{
    const dfl_keep *k = &c->keeps->at[at];
    const dfl_keep_deltas *how = c->one ? &k->one : &k->all;
    dfl_i128 entered = fill_delta(c, how->each)->enter, served = fill_delta(c, how->shared)->enter;

    c->counts[at].fill = entered;
    add_count(c, &c->counts[k->parent].serve, served);
    if (c->one)
        c->out->outer_busiest[at] = (dfl_counts){ .serve = served };
    if (k->forward == DFL_NONE)
        return;
    dfl_i128 passed = entered - fill_delta(c, how->passed)->enter;
    add_count(c, &c->counts[at].serve, passed);
    c->out->rough[at] = true; /* an instance does not pass on the same number of elements that it gets */
    if (!c->one)
        add_count(c, &c->out->forwarded[c->nest->paths->paths[k->footprint.einsum].steps[k->forward].line->axis], passed);
}

static void report_needed_again(traffic_pass *c, const dfl_keep *k)
{
    const dfl_tensor *t = &c->nest->workload->tensors[k->line->tensor];
    const char *name = dfl_sym_text(c->nest->names, t->name);
    dfl_diag *d = dfl_report(c->nest->sink, DFL_MAP_NEEDED_AFTER_RELEASE, k->line->span,
                             "elements of `%s` are needed again after this keep has released them", name);
    dfl_diag_here(c->nest->sink, d, "nothing outside holds them");
    dfl_diag_label(c->nest->sink, d, t->span, "`%s` is declared here", name);
    if (k->all.starts)
        dfl_diag_help(c->nest->sink, d, "move this keep above the loops that return to the elements, or keep `%s` in an outer "
                      "memory; `recompute` computes again what a loop outside of those returns to", name);
    else
        dfl_diag_help(c->nest->sink, d, "move this keep above the loops that return to the elements, keep `%s` in an outer "
                      "memory, or say `recompute %s;`", name, name);
    c->ok = false;
}

static void check_home(traffic_pass *c, const dfl_keep *k)
{
    dfl_i128 once = fill_delta(c, k->united)->enter;

    if (c->ok && fill_delta(c, k->all.each)->enter != once) {
        dfl_nest_refuse(c->nest, k->line->span, "a result whose home holds it in several instances",
                        "keep it in a memory outside the array first");
        c->ok = false;
    }
    if (c->nest->workload->tensors[k->line->tensor].role != DFL_ROLE_INTERMEDIATE)
        return; /* a home of the interface of the workload never releases anything */
    if (c->ok && once > k->distinct)
        report_needed_again(c, k);
}

static void count_home(traffic_pass *c, uint32_t at)
{
    const dfl_keep *k = &c->keeps->at[at];
    const dfl_keep_deltas *how = c->one ? &k->one : &k->all;
    dfl_i128 entered = fill_delta(c, how->each)->enter, *unfilled = &c->out->unfilled[at];

    if (how->starts) {
        *unfilled = fill_delta(c, how->starts)->present;
        /* a sum would not do: elements that are made again while they are still here would hide elements that come back */
        if (!c->one && fill_delta(c, how->supplied)->enter < entered && c->ok)
            report_needed_again(c, k);
        return;
    }
    if (!c->one)
        check_home(c, k);
    *unfilled = entered;
    if (entered > k->distinct && c->nest->workload->tensors[k->line->tensor].role != DFL_ROLE_INTERMEDIATE)
        *unfilled = k->distinct; /* an element that comes back is still there */
}

/* Reports E0609 if an element may enter one instance while another one, which came back to it, holds it. A joint entry
   finds the drained value only if no instance holds the element at that time. If single ranks index the result, the
   other instance has held the element since the drain, and the count is right. */
static void refuse_late(traffic_pass *c, const dfl_keep *k, const dfl_delta *joined)
{
    if (!joined->late || !k->windows)
        return;
    dfl_nest_refuse(c->nest, k->line->span, "a result that enters one instance while another one holds it",
                    "keep it in a memory outside the array");
    c->ok = false;
}

/* Number of elements that the producer makes in the instances of delta `m`. Negative if it does not follow from the
   sizes of tiles: they may overlap, or elements are made again. */
static dfl_i128 count_made(traffic_pass *c, const dfl_keep *k, dfl_delta *m)
{
    dfl_i128 all = 0, some = 0;

    if (!k->all.made || k->windows)
        return -1;
    c->ok = c->ok && dfl_delta_disjoint(c->nest, k->all.made, &all) && dfl_delta_disjoint(c->nest, m, &some);
    return all == k->distinct ? some : -1;
}

/* Estimate of the entries that find a value: as large a share of `entered` as `filled` is of `joint`. */
static dfl_i128 estimate_share(dfl_i128 entered, dfl_i128 filled, dfl_i128 joint)
{
    dfl_i128 product;

    if (entered == joint || filled == 0)
        return filled < entered ? filled : entered;
    for (; joint > 0 && dfl_mul(entered, filled, &product); filled /= 2)
        joint /= 2;
    return joint > 0 ? product / joint : 0;
}

static void count_written(traffic_pass *c, uint32_t at)
{
    const dfl_keep *k = &c->keeps->at[at];
    const dfl_keep_deltas *how = c->one ? &k->one : &k->all;
    dfl_traffic_sums *out = c->out;

    if (!how->joined) {
        dfl_nest_refuse(c->nest, k->line->span, "a recomputed tensor that is kept in two memories above its branch",
                        "keep it in one memory above the branch");
        c->ok = false;
        return;
    }
    dfl_i128 entered = fill_delta(c, how->starts_each)->enter;
    /* one instance takes the value back; the first residency inside an outer residency without a value finds none */
    const dfl_delta *joined = fill_delta(c, how->joined);
    refuse_late(c, k, joined);
    dfl_i128 joint = joined->enter, filled = joint - out->unfilled[k->parent];
    for (uint32_t i = 0; i < how->n_stays; i++)
        filled -= fill_delta(c, how->stays[i].with)->enter - fill_delta(c, how->stays[i].without)->enter;
    /* coordinate 0 is the first to take a value, so only the first entry of each of its elements finds none */
    dfl_i128 made = !c->one ? k->distinct : how->anew ? -1 : count_made(c, k, how->made);
    dfl_i128 own = !c->one ? filled : made >= 0 ? entered - made : estimate_share(entered, filled, joint);
    /* ... unless an element stays there, flushed, and enters another instance, which then takes the value */
    bool passed_by = how->coming && fill_delta(c, how->coming)->enter != fill_delta(c, how->each)->enter;
    out->rough[at] = made < 0 && (entered != joint || passed_by || out->rough[k->parent] ||
                                  (k->windows && fill_delta(c, k->all.each)->enter != entered));

    c->counts[at].fill = own;
    add_count(c, &c->counts[k->parent].serve, filled);
    out->unfilled[at] = entered - own;
    if (c->one)
        out->outer_busiest[at] = (dfl_counts){ .serve = filled };
    if (k->exchanged && !(k->adding & c->nest->sizes[k->producer].moving)) {
        /* made in one visit and read in others: only the residency in which an element is made is drained */
        dfl_i128 given = c->one ? count_made(c, k, how->given) : k->distinct;
        if (given < 0 || made < 0) {
            out->rough[at] |= how->anew;
            out->rough[k->parent] |= how->anew;
            made = entered < k->distinct ? entered : k->distinct;
            given = k->distinct;
        }
        c->counts[at].drain = made;
        add_count(c, &c->counts[k->parent].update, given);
        if (c->one)
            out->outer_busiest[at].update = given;
        return;
    }
    if (how->supplied && fill_delta(c, how->supplied)->enter < entered && c->ok) {
        dfl_nest_refuse(c->nest, k->line->span, "a result that some of the visits to this keep add to and others only read",
                        "keep it further out only");
        c->ok = false;
        return;
    }
    add_count(c, &out->taken[k->parent], filled);
    c->counts[at].drain = how->starts_each->leave;
    dfl_i128 updates = fill_delta(c, how->meeting)->leave;
    add_count(c, &c->counts[k->parent].update, updates);
    if (c->one) {
        out->outer_busiest[at].update = updates;
        /* updates that do not meet on the way are added at the outer keep */
        dfl_i128 added = updates - joint;
        out->outer_busiest[at].accumulate = added > 0 ? added : 0;
    }
}

/* Reports E0609 if a bounding box of a produced tensor holds more than the touched elements: those are made elsewhere,
   or later. */
static void check_box(traffic_pass *c, const dfl_keep *k)
{
    if (!k->box || !k->produced || !fill_delta(c, c->one ? k->one.each : k->all.each)->is_widened)
        return;
    dfl_nest_refuse(c->nest, k->line->span, "a bounding box of a produced tensor that holds more than what is touched",
                    "leave `window` out of the keeps of this tensor");
    c->ok = false;
}

static void count_operand(traffic_pass *c, const dfl_operand *o, dfl_i128 *moved)
{
    const dfl_delta *m = fill_delta(c, c->one ? o->one : o->all);
    dfl_i128 read = o->reuse ? m->enter : m->present;

    *moved = o->output ? m->present : read;
    if (o->output) {
        add_count(c, &c->counts[o->inner].update, m->present);
        if (c->one)
            add_count(c, &c->out->ops_busiest[o->inner].update, m->present);
    } else {
        add_count(c, &c->counts[o->inner].serve, read);
    }
}

static void count_pass(traffic_pass *c, const dfl_traffic_plan *plan)
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
    /* each residency that starts without a value, and each value that an inner keep takes, leads to one update that
       finds no value to add to (MODEL.md, section 2) */
    for (uint32_t i = 0; i < plan->n_written; i++) {
        uint32_t at = plan->written[i];
        dfl_i128 found = c->counts[at].update - out->unfilled[at] - out->taken[at];
        c->counts[at].accumulate = found > 0 || !c->one ? found : 0;
        dfl_i128 own = out->ops_busiest[at].update - out->unfilled[at];
        out->ops_busiest[at].accumulate = c->one && own > 0 ? own : 0;
    }
}

bool dfl_traffic_count(dfl_nest *nest, dfl_keep_tree *keeps, const dfl_traffic_plan *plan, dfl_traffic_sums *out)
{
    traffic_pass c = { .nest = nest, .keeps = keeps, .counts = out->all, .out = out, .ok = true };

    dfl_product_form_fill_all(nest);
    memset(out->rough, 0, keeps->n * sizeof *out->rough);
    for (uint32_t a = 0; a < nest->system->n_axes; a++)
        out->forwarded[a] = 0;
    count_pass(&c, plan);
    for (uint32_t e = 0; e < nest->workload->n_einsums && c.ok; e++) {
        out->points[e] = fill_delta(&c, plan->points[e])->present;
        out->steps[e] = fill_delta(&c, plan->steps[e])->present;
    }
    for (uint32_t i = 0; i < keeps->n && c.ok; i++)
        out->largest[i] = fill_delta(&c, keeps->at[i].all.each)->largest;
    c.one = true;
    c.counts = out->busiest;
    if (c.ok)
        count_pass(&c, plan);
    return c.ok && c.over ? dfl_nest_report_overflow(nest, nest->mapping->span) : c.ok;
}
